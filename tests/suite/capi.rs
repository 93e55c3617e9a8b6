//! The C door: the programs of `samples/capi`, built with the C compiler against `libcdp.so` and
//! `libcdp.a`, and run by Python.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, root, run_limited, same, trial};

/// The library may have to be built first.
const BUILD_LIMIT: Duration = Duration::from_secs(900);
const RUN_LIMIT: Duration = Duration::from_secs(60);

const SQUARES: &str = "0 1 4 9 16 25 36 49 \n";

/// What linking the static library takes, as embedding.md says: sections without use go, since parts of
/// inkwell that cdp does not call want all of LLVM's targets; then what LLVM wants of the system.
const STATIC_FLAGS: [&str; 7] =
    ["-Wl,--gc-sections", "-lstdc++", "-lffi", "-lz", "-lzstd", "-lm", "-ldl"];

pub fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, fn() -> Outcome)> = vec![
        ("spawn_shared", || spawn(Link::Shared)),
        ("spawn_static", || spawn(Link::Static)),
        ("spawn_python", python),
        ("python_package", python_package),
        ("check", check),
        ("races", races),
        ("processes_and_unloading", processes_and_unloading),
        ("header_is_cplusplus", cplusplus),
        ("only_cdp_is_exported", exports),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("capi::{name}"), test)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Link {
    Shared,
    Static,
}

/// The folder of `libcdp.so` and `libcdp.a`, built by cargo in this build's own folder.
fn library() -> Result<&'static Path, Failed> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOLDER.get_or_init(build_library).as_deref().map_err(|message| message.clone().into())
}

fn build_library() -> Result<PathBuf, String> {
    // target/PROFILE/deps/suite-...
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = executable.ancestors().nth(2).ok_or("the test stands in no target folder")?;
    let target = folder.parent().ok_or("the profile's folder stands in no target folder")?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["build", "--quiet", "--package", "cdp-capi"]).current_dir(root());
    command.arg("--target-dir").arg(target).env_remove("CDP_BLESS");
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let output = run_limited(&mut command, BUILD_LIMIT)
        .map_err(|failed| failed.message().unwrap_or_default().to_string())?;
    match output.status.success() {
        true => Ok(folder.to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn samples() -> PathBuf {
    root().join("samples/capi")
}

/// The Python package's own tests, with this build's library; NumPy is used if it is there.
fn python_package() -> Outcome {
    let package = root().join("compiler/cdp-python");
    let mut command = Command::new("python3");
    command.args(["-m", "unittest", "discover", "-s"]).arg(package.join("tests"));
    command.env("PYTHONPATH", &package).env("LIBCDP", library()?.join("libcdp.so"));
    // No compiled files beside the sources.
    run(command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(root())).map(|_| ())
}

fn folder() -> Result<tempfile::TempDir, Failed> {
    tempfile::tempdir().map_err(|error| error.to_string().into())
}

/// Runs and wants success; standard output.
fn run(command: &mut Command) -> Result<String, Failed> {
    let output = run_limited(command, RUN_LIMIT)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => {
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            Err(format!("{command:?}: {}\n{out}\n{err}", output.status).into())
        }
    }
}

/// Builds a sample as a strict C compiler sees it.
fn build(name: &str, link: Link, folder: &Path) -> Result<PathBuf, Failed> {
    let (library, program) = (library()?, folder.join(name));
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]);
    cc.arg(root().join("compiler/cdp-capi/include")).arg("-o").arg(&program);
    cc.arg(samples().join(name).with_extension("c"));
    match link {
        Link::Shared => {
            cc.arg("-L").arg(library).arg("-lcdp").arg(format!("-Wl,-rpath,{}", library.display()))
        }
        Link::Static => cc.arg(library.join("libcdp.a")).args(STATIC_FLAGS),
    };
    run(&mut cc)?;
    Ok(program)
}

fn spawn(link: Link) -> Outcome {
    let folder = folder()?;
    let program = build("spawn", link, folder.path())?;
    same("output", &run(&mut Command::new(program))?, SQUARES)
}

/// What the race checker finds is told by the library alone.
fn races() -> Outcome {
    let folder = folder()?;
    let program = build("races", Link::Shared, folder.path())?;
    same("output", &run(&mut Command::new(program))?, "races.cdp:1: race\n")
}

fn python() -> Outcome {
    let mut python = Command::new("python3");
    python.arg("-B").arg(samples().join("spawn.py")).env("LIBCDP", library()?.join("libcdp.so"));
    let output = run(&mut python)?;
    let numbers = output.split_once(": ").map(|(_, numbers)| numbers).unwrap_or_default();
    same("output", numbers, "[0, 1, 4, 9, 16, 25, 36, 49]\n")
}

fn check() -> Outcome {
    let folder = folder()?;
    let program = build("check", Link::Shared, folder.path())?;
    let mut good = Command::new(&program);
    good.arg(root().join("samples/quicksort.cdp")).args(["arch", "sm_80", "opt-level", "1"]);
    let listed = run(&mut good)?;
    let launches = "quicksort launches quicksort";
    if !listed.contains(launches) || !listed.contains("ptr<i32> data at 0 i32 left at 8") {
        return Err(format!("no `{launches}` in\n{listed}").into());
    }
    let case = |arguments: &[&str], source: &str, status: i32, wanted: &str| -> Outcome {
        let path = folder.path().join("case.cdp");
        std::fs::write(&path, source).map_err(|error| error.to_string())?;
        let output = run_limited(Command::new(&program).arg(path).args(arguments), RUN_LIMIT)?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        match output.status.code() == Some(status) && text.contains(wanted) {
            true => Ok(()),
            false => Err(format!("{}, no `{wanted}` in\n{text}", output.status).into()),
        }
    };
    case(&[], "\n__global__ void k() { m<<<1, 1>>>(); }\n", 1, "2:23 E")?;
    case(&["arch", "sm_1"], "__global__ void k() { }\n", 2, "`sm_1` is no value for option `arch`")
}

/// A forked process, which has none of the threads that the library keeps once it was given LLVM IR,
/// compiles; and the library may be closed while they wait.
const FORK: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cdp.h"

static int compiles(void *library) {
    const char *const texts[] = {"__global__ void k(int *p) { *p = 1; }",
                                 "define ptx_kernel void @k() { ret void }",
                                 "__global__ void k(int *p) { *p = 2; }"};
    const cdp_kind kinds[] = {CDP_KIND_SOURCE, CDP_KIND_LLVM, CDP_KIND_SOURCE};
    cdp_compiler *(*new)(void);
    cdp_result *(*compile)(const cdp_compiler *, cdp_kind, const char *, const char *, size_t, cdp_goal);
    cdp_status (*status)(const cdp_result *);
    void (*result_free)(cdp_result *);
    void (*compiler_free)(cdp_compiler *);
    *(void **)&new = dlsym(library, "cdp_compiler_new");
    *(void **)&compile = dlsym(library, "cdp_compile");
    *(void **)&status = dlsym(library, "cdp_result_status");
    *(void **)&result_free = dlsym(library, "cdp_result_free");
    *(void **)&compiler_free = dlsym(library, "cdp_compiler_free");
    cdp_compiler *compiler = new();
    int good = 1;
    for (int i = 0; i < 3; i++) {
        cdp_result *made =
            compile(compiler, kinds[i], "k", texts[i], strlen(texts[i]), CDP_GOAL_PTX);
        good = good && status(made) == CDP_OK;
        result_free(made);
    }
    compiler_free(compiler);
    return good;
}

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library || !compiles(library)) return 1;
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(compiles(library) ? 0 : 2);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 3;
    if (!compiles(library) || dlclose(library) != 0) return 4;
    /* Longer than a thread waits. */
    sleep(3);
    puts("fine");
    return 0;
}
"#;

fn processes_and_unloading() -> Outcome {
    let folder = folder()?;
    let (source, program) = (folder.path().join("fork.c"), folder.path().join("fork"));
    std::fs::write(&source, FORK).map_err(|error| error.to_string())?;
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(root().join("compiler/cdp-capi/include")).arg("-o").arg(&program);
    run(cc.arg(&source).arg("-ldl"))?;
    same("output", &run(Command::new(&program).arg(library()?.join("libcdp.so")))?, "fine\n")
}

/// The header is C++ as well, with C's linkage.
fn cplusplus() -> Outcome {
    let folder = folder()?;
    let source = folder.path().join("version.cpp");
    let text = "#include <cdp.h>\nint main() { return cdp_api_version() != CDP_API_VERSION; }\n";
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let (library, program) = (library()?, folder.path().join("version"));
    let mut cc = Command::new("c++");
    cc.args(["-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("compiler/cdp-capi/include"));
    cc.arg(source).arg("-o").arg(&program).arg("-L").arg(library).arg("-lcdp");
    run(cc.arg(format!("-Wl,-rpath,{}", library.display())))?;
    run(&mut Command::new(program)).map(|_| ())
}

/// `libcdp.so` brings neither LLVM's symbols nor CUDA's into a process that may have its own.
fn exports() -> Outcome {
    let mut nm = Command::new("nm");
    let listed = run(nm.args(["-D", "--defined-only"]).arg(library()?.join("libcdp.so")))?;
    let names: Vec<_> = listed.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let header = std::fs::read_to_string(root().join("compiler/cdp-capi/include/cdp.h"))
        .map_err(|error| error.to_string())?;
    let declared = |name: &str| header.contains(&format!("{name}("));
    let foreign: Vec<_> = names.iter().filter(|name| !declared(name)).collect();
    match foreign.is_empty() && names.len() > 20 {
        true => Ok(()),
        false => {
            Err(format!("{} symbols are exported, among them {foreign:?}", names.len()).into())
        }
    }
}
