//! The command line: what nvcc's users type, versions of PTX, tools that do not work, completions, manual
//! pages, and the page of all options.

use std::path::Path;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::cli::{HELLO, contains, expect, folder, path, text, write};
use crate::cli_streams::with_input;
use crate::support::{Outcome, blessing, cases, cdpc, read, root, run_limited, same, trial};

pub fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, fn() -> Outcome)> = vec![
        ("command_line_page", page),
        ("completions", completions),
        ("manual_pages", manual),
        ("help_of_a_verb", help),
        ("extensions_of_outputs", extensions),
        ("preprocess", preprocess),
        ("warnings_by_group_and_number", warnings),
        ("resource_usage", usage),
        ("print_after_a_pass", print_after),
        ("shared_library", shared),
        ("ptx_versions", ptx_versions),
        ("addresses_of_32_bits", addresses),
        ("colours_and_frames", colours),
        ("output_directory", directory),
        ("kernels_chosen_at_run_time", chosen),
        ("ptx_that_no_ptxas_reads", newer_ptx),
        ("the_machines_own_architecture", native),
        ("stack_of_a_kernel", stack),
        ("code_is_offered_to_the_cpu_device", offered),
        ("what_no_gpu_does", no_gpu_does),
        ("lines_of_other_compilers", other_lines),
        ("programs_that_do_not_begin", no_beginning),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("cli::{name}"), test)).collect()
}

/// The launch optimiser's steps can be looked at, also of a program in which it changes nothing.
fn print_after() -> Outcome {
    let case = |name: &str| cases("launches").join(name).display().to_string();
    let (rows, kept) = (case("rows_fast.cdp"), case("kept.cdp"));
    let build = |file: &str, pass: &str, level: &str, code| {
        let level = format!("-flaunch-opt={level}");
        expect(&["build", file, "--emit", "ptx", "-o", "-", &level, "--print-after", pass], code)
    };
    contains(&build(&rows, "sites", "fast", 0)?.1, &["call i32 @__cdp_site_0(", "@_Z4rows"])?;
    let prepared = build(&rows, "prepare", "fast", 0)?.1;
    contains(&prepared, &["@cdp.launch(", "@_Z4rows"])?;
    if prepared.contains("__cdp_site_0") {
        return Err("a later pass was printed".into());
    }
    contains(&build(&kept, "streams", "safe", 0)?.1, &["@cdp.launch("])?;
    contains(&build(&rows, "nothing", "fast", 2)?.1, &["prepare, streams, sites, inline"])
}

/// The page is what the code says, and names every environment variable that the code reads.
fn page() -> Outcome {
    let file = root().join("compiler/docs/command-line.md");
    let made = cdpc::manual::reference();
    if blessing() {
        return std::fs::write(&file, made).map_err(|error| error.to_string().into());
    }
    same("compiler/docs/command-line.md", &read(&file)?, &made)?;
    let mut rows: Vec<&str> =
        made.lines().filter_map(|line| line.strip_prefix("| `CDP_")?.split('`').next()).collect();
    rows.sort_unstable();
    if let Some(pair) = rows.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("CDP_{} has two rows", pair[0]).into());
    }
    let mut sources = Vec::new();
    let folders = [
        "compiler/cdpc/src",
        "compiler/cdp-toolchain/src",
        "runtime-shim/cdp-runtime/src",
        "runtime-shim/cdp-run/src",
    ];
    folders.iter().try_for_each(|folder| rust_files(&root().join(folder), &mut sources))?;
    for source in sources {
        let text = read(&source)?;
        for word in text.split('"').skip(1).step_by(2) {
            let is_variable = word.starts_with("CDP_")
                && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            if is_variable && !made.contains(&format!("`{word}`")) && !text.contains("env!") {
                return Err(
                    format!("{} reads {word}, which the page has not", source.display()).into()
                );
            }
        }
    }
    Ok(())
}

fn rust_files(folder: &Path, out: &mut Vec<std::path::PathBuf>) -> Outcome {
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out)?;
        } else if path.extension() == Some("rs".as_ref()) {
            out.push(path);
        }
    }
    Ok(())
}

fn completions() -> Outcome {
    let folder = folder()?;
    for shell in ["bash", "elvish", "fish", "zsh"] {
        let (script, _) = expect(&["completions", shell], 0)?;
        contains(
            &script,
            &["cdpc", "message-format", "layout", "--ptx-version"].map(|word| {
                // fish names options without dashes.
                if shell == "fish" { word.trim_start_matches('-') } else { word }
            }),
        )?;
        if let "bash" | "zsh" = shell {
            let file = write(&folder, shell, &script)?;
            // A shell that is not installed says nothing about the script.
            if let Ok(done) = std::process::Command::new(shell).args(["-n", &file]).output()
                && !done.status.success()
            {
                return Err(format!("{shell}: {}", text(&done.stderr)).into());
            }
        }
    }
    expect(&["completions", "tcsh"], 2).map(|_| ())
}

fn manual() -> Outcome {
    let folder = folder()?;
    let man = path(&folder, "man");
    expect(&["man", &man], 0)?;
    let page = read(&Path::new(&man).join("cdpc-build.1"))?;
    contains(&page, &[".TH", "maxrregcount", "cdpc\\-build"])?;
    contains(&read(&Path::new(&man).join("cdpc.1"))?, &["cdpc", "layout"])
}

fn help() -> Outcome {
    for args in [["help", "layout"], ["layout", "--help"]] {
        contains(&expect(&args, 0)?.0, &["parameter buffer", "Usage: cdpc layout"])?;
    }
    // Suggestions are said once.
    let (_, stderr) = expect(&["build", HELLO, "--emti", "ptx"], 2)?;
    contains(&stderr, &["'--emit'"])?;
    let folder = folder()?;
    let text = "__global__ void k(int *p) { int counter = 1; *p = countr; }\n";
    let file = write(&folder, "a.cdp", text)?;
    let (_, stderr) = expect(&["check", &file], 1)?;
    match stderr.matches("`counter`").count() {
        1 => Ok(()),
        count => Err(format!("`counter` stands {count} times in\n{stderr}").into()),
    }
}

fn extensions() -> Outcome {
    let folder = folder()?;
    for name in ["a.foo", "a.ptxx", "b.txt"] {
        let out = path(&folder, name);
        contains(
            &expect(&["build", HELLO, "-o", &out], 2)?.1,
            &[".ptx", ".cubin", ".exe", "--emit"],
        )?;
        if Path::new(&out).exists() {
            return Err("something was written".into());
        }
        expect(&["build", HELLO, "-o", &out, "--emit", "ptx"], 0)?;
    }
    for name in ["p.exe", "p", "a.out", "p.x", "p-1.2"] {
        let out = path(&folder, name);
        expect(&["build", HELLO, "-o", &out], 0)?;
        let mut program = std::process::Command::new(&out);
        let output = run_limited(program.env("CDP_DEVICE", "cpu"), Duration::from_secs(60))?;
        contains(&text(&output.stdout), &["Hello World!"])?;
    }
    Ok(())
}

fn preprocess() -> Outcome {
    let folder = folder()?;
    write(&folder, "n.h", "#define N(x) x##_1\nint in_header;\n")?;
    let source = "#include \"n.h\"\n#ifdef __CUDA_ARCH__\nint arch = __CUDA_ARCH__;\n#endif\n\
        int N(a) = __LINE__; // gone\n#define MINUS -\nint b = -MINUS 1;\n#pragma unroll 4\n";
    let file = write(&folder, "a.cdp", source)?;
    let (out, _) = expect(&["build", "-E", &file, "--arch", "sm_80"], 0)?;
    contains(
        &out,
        &["int arch = 800;", "int a_1 = 5;", "int in_header;", "int b = - - 1;", "n.h\"\n"],
    )?;
    if out.contains("gone") || out.contains("define") {
        return Err(format!("not preprocessed:\n{out}").into());
    }
    // What comes out goes in again, places included.
    let second = write(&folder, "b.cdp", &(out + "int wrong = missing;\n"))?;
    contains(&expect(&["check", &second], 1)?.1, &["missing"])?;
    let to = path(&folder, "a.i");
    expect(&["build", "-E", &file, "-o", &to], 0)?;
    contains(&read(Path::new(&to))?, &["int a_1 = 5;"])?;
    let bad = write(&folder, "bad.cdp", "#include \"nowhere.h\"\n")?;
    expect(&["build", "-E", &bad], 1)?;
    // Builds for nvcc name the system's own folder too.
    let headers =
        "#include <limits.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n";
    let plain = write(&folder, "plain.cdp", headers)?;
    expect(&["check", &plain, "-isystem", "/usr/include", "-I/usr/include"], 0).map(|_| ())
}

fn warnings() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.cdp", "#warning \"said aloud\"\nint main() { return 0; }\n")?;
    for group in ["-Wall", "-Wextra", "-Wpedantic"] {
        contains(&expect(&["check", group, &file], 0)?.1, &["said aloud"])?;
    }
    let (_, said) = expect(&["check", &file], 0)?;
    let code = said.split(['[', ']']).nth(1).ok_or("no code")?.to_owned();
    let silent = expect(&["check", "-diag-suppress", &code, &file], 0)?.1;
    if silent.contains("said aloud") {
        return Err(format!("-diag-suppress {code} has no effect").into());
    }
    expect(&["check", &format!("-diag-error={code}"), &file], 1)?;
    expect(&["check", "-diag-suppress=177,20012", &file], 0)?;
    expect(&["check", "-diag-suppress=E9999", &file], 2)?;
    expect(&["check", "-Werror", "all-warnings", &file], 1)?;
    expect(&["check", "-Wno-deprecated-gpu-targets", "-Werror=reorder", &file], 0).map(|_| ())
}

fn usage() -> Outcome {
    let folder = folder()?;
    let out = path(&folder, "a.cubin");
    let (stdout, stderr) = expect(&["build", HELLO, "-o", &out, "-res-usage"], 0)?;
    contains(&stderr, &["ptxas info", "registers", "parentKernel"])?;
    if stdout.is_empty() { Ok(()) } else { Err(stdout.into()) }
}

fn shared() -> Outcome {
    let folder = folder()?;
    let file = write(
        &folder,
        "lib.cdp",
        "__global__ void set(int *p) { *p = 42; }\nextern \"C\" int answer() { int *p, n; \
         cudaMalloc((void **)&p, 4); set<<<1, 1>>>(p); cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost); \
         return n; }\n",
    )?;
    let library = path(&folder, "libanswer.so");
    expect(&["build", "-shared", &file, "-o", &library], 0)?;
    let main = write(&folder, "main.c", "int answer(void); int main(void) { return answer(); }\n")?;
    let program = path(&folder, "main");
    let dir = folder.path().display().to_string();
    let rpath = format!("-Wl,-rpath,{dir}");
    let mut cc = std::process::Command::new("cc");
    let linked =
        run_limited(cc.args([&main, &library, &rpath, "-o", &program]), Duration::from_secs(60))?;
    if !linked.status.success() {
        return Err(text(&linked.stderr).into());
    }
    let mut run = std::process::Command::new(&program);
    let done = run_limited(run.env("CDP_DEVICE", "cpu"), Duration::from_secs(60))?;
    match done.status.code() {
        Some(42) => Ok(()),
        _ => Err(format!("{}\n{}", done.status, text(&done.stderr)).into()),
    }
}

fn version_of(args: &[&str]) -> Result<String, Failed> {
    let (ptx, _) = expect(&[&["build", "--emit", "ptx", "-o", "-"], args].concat(), 0)?;
    let line = ptx.lines().find_map(|line| line.strip_prefix(".version ")).ok_or("no .version")?;
    Ok(line.to_owned())
}

/// A function of target, address size and features; the tools at hand change nothing.
fn ptx_versions() -> Outcome {
    let folder = folder()?;
    let kernel = "__global__ void k(int *p) { *p = 1; }\n";
    let plain = write(&folder, "a.cdp", kernel)?;
    let assembly = write(
        &folder,
        "b.cdp",
        "__global__ void k(unsigned *p) { unsigned r; asm volatile(\"{ .reg .pred q; \
         elect.sync %0|q, 0xffffffff; }\" : \"=r\"(r)); *p = r; }\n",
    )?;
    let empty = path(&folder, "empty");
    std::fs::create_dir(&empty).map_err(|error| error.to_string())?;
    let old = root().join(".toolchain/cuda-11.8").display().to_string();
    for (args, wanted) in [
        (vec![plain.as_str()], "7.8"),
        (vec![&plain, "--arch", "sm_50"], "7.8"),
        (vec![&plain, "--arch", "sm_90a"], "8.0"),
        (vec![&plain, "--arch", "sm_100"], "8.7"),
        (vec![&plain, "--arch", "sm_110"], "9.0"),
        (vec![&plain, "--arch", "sm_75", "-m32"], "7.8"),
        (vec![&plain, "--ptx-version", "8.4"], "8.4"),
        (vec![&plain, "--cuda-path", &old], "7.8"),
        (vec![&assembly], "8.0"),
    ] {
        let found = version_of(&args)?;
        if found != wanted {
            return Err(format!("{args:?}: {found}, not {wanted}").into());
        }
    }
    for (args, said) in [
        (vec![assembly.as_str(), "--ptx-version", "7.8"], "`elect.sync` needs PTX 8.0"),
        (vec![&plain, "--arch", "sm_100", "--ptx-version", "8.0"], "sm_100 needs PTX 8.7"),
        (vec![&plain, "--ptx-version", "9.9"], "6.3 to 9.0"),
        (vec![&plain, "--arch", "sm_75", "-m32", "--ptx-version", "8.0"], "7.8"),
    ] {
        let args = [&["build", "--emit", "ptx", "-o", "-"], args.as_slice()].concat();
        contains(
            &expect(&args, 2)?.1,
            &[said, "help:"].map(|part| if said.contains(" to ") { said } else { part }),
        )?;
    }
    // Every version that is written is one that ptxas reads.
    let out = path(&folder, "a.o");
    for arch in ["sm_50", "sm_90", "sm_90a", "sm_100", "sm_103", "sm_110", "sm_121"] {
        expect(&["build", &plain, "--emit", "device-obj", "--arch", arch, "-o", &out], 0)?;
    }
    Ok(())
}

fn addresses() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let ir = write(&folder, "a.ll", "define void @f() { ret void }\n")?;
    for args in [
        vec!["check", "-m32", "--arch", "sm_90", &file],
        vec!["graph", "-m32", &file],
        vec!["layout", "-m32", &file],
        vec!["lower", "-m32", &ir],
        vec!["build", "-m32", "--arch", "sm_100", "--emit", "ptx", &file],
        vec!["build", "-m32", "--emit", "llvm-ir", &file],
        vec!["build", "-m32", "--emit", "ptx", &ir],
    ] {
        contains(&expect(&args, 2)?.1, &["32-bit addresses ended with sm_89", "-m64"])?;
    }
    expect(&["check", "-m32", "--arch", "sm_89", &file], 0).map(|_| ())
}

fn colours() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.cdp", "int a = b;\n")?;
    let said = |variables: &[(&str, &str)]| -> Result<String, Failed> {
        let mut command = cdpc();
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG", "TERM"]
        {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied()).args(["check", &file]);
        Ok(text(&run_limited(&mut command, Duration::from_secs(60))?.stderr))
    };
    let utf8 = ("LANG", "C.UTF-8");
    let plain = said(&[utf8])?;
    contains(&plain, &["┌─", "│"])?;
    contains(&said(&[utf8, ("CLICOLOR_FORCE", "1")])?, &["\u{1b}["])?;
    for variables in [
        &[utf8, ("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")][..],
        &[utf8, ("CLICOLOR_FORCE", "0")],
        &[utf8, ("TERM", "dumb")],
    ] {
        if said(variables)? != plain {
            return Err(format!("{variables:?} change something").into());
        }
    }
    let ascii = said(&[("LC_ALL", "C"), utf8])?;
    match ascii.is_ascii() && ascii.contains("-->") {
        true => Ok(()),
        false => Err(format!("frames are not ASCII:\n{ascii}").into()),
    }
}

fn directory() -> Outcome {
    let folder = folder()?;
    let one = write(&folder, "one.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let two = write(&folder, "two.v1.cdp", "__global__ void l(int *p) { *p = 1; }\n")?;
    let to = path(&folder, "to");
    std::fs::create_dir(&to).map_err(|error| error.to_string())?;
    expect(&["build", "--emit", "ptx", "-odir", &to, &one, &two], 0)?;
    for name in ["one.ptx", "two.v1.ptx"] {
        read(&Path::new(&to).join(name))?;
    }
    Ok(())
}

const CHOSEN: &str = "target triple = \"unknown-unknown-unknown\"\ntarget datalayout = \"\"\n\
    declare i32 @cdp.launch.as(...)\ndeclare ptx_kernel void @shape(ptr, i8, i64)\n\
    define ptx_kernel void @set(ptr %p, i8 %c, i64 %n) {\n  store i64 %n, ptr %p\n  ret void\n}\n\
    define ptx_kernel void @negate(ptr %p, i8 %c, i64 %n) {\n  %m = sub i64 0, %n\n  store i64 %m, ptr %p\n  ret void\n}\n\
    define ptx_kernel void @parent(ptr %p, i32 %which) {\n  %c = icmp eq i32 %which, 0\n\
    %k = select i1 %c, ptr @set, ptr @negate\n  %e = call i32 (...) @cdp.launch.as(ptr @shape, ptr %k, i32 1, i32 1, \
    i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %p, i8 1, i64 70000000000)\n  ret void\n}\n";

fn chosen() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.ll", CHOSEN)?;
    for (which, wanted) in [("0", "argument 0: 70000000000"), ("1", "argument 0: -70000000000")] {
        let args = [
            "run",
            "--device",
            "cpu",
            "--kernel",
            "parent",
            "--arg",
            "zeros i64[1]",
            "--arg",
            which,
            &file,
        ];
        contains(&expect(&args, 0)?.0, &[wanted])?;
    }
    contains(&expect(&["graph", &file], 0)?.0, &["launches *%k <<<1, 1>>>"])?;
    let cubin = path(&folder, "a.cubin");
    expect(&["build", &file, "-o", &cubin], 0)?;
    for (from, to, said) in [
        ("i64 70000000000)", "i32 7)", "argument 2"),
        ("ptr @shape, ptr %k", "ptr %p, ptr %k", "not a function"),
    ] {
        let wrong = write(&folder, "b.ll", &CHOSEN.replace(from, to))?;
        contains(&expect(&["check", &wrong], 1)?.1, &[said, "@cdp.launch.as"])?;
    }
    Ok(())
}

/// The tools are asked what they read before they are given it.
fn newer_ptx() -> Outcome {
    let folder = folder()?;
    let text = ".version 42.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    let file = write(&folder, "a.ptx", text)?;
    let out = path(&folder, "a.cubin");
    let said = [
        "the PTX of `a` is in version 42.0, which no ptxas here reads",
        "reads up to",
        "--ptx-version",
    ];
    contains(&expect(&["build", &file, "-o", &out], 3)?.1, &said)
}

/// What nvcc's and gcc's users type.
fn other_lines() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let out = path(&folder, "a.o");
    expect(&["build", "-G", "-O2", "-dc", &file, "-o", &out], 0)?;
    let line = ["build", "-arch=all-major", "--dry-run", "--emit", "fatbin", &file, "-o", &out];
    let (said, _) = expect(&line, 0)?;
    contains(&said, &["sm_80", "sm_90", "sm_100"])?;
    if said.contains("sm_86") {
        return Err(format!("`all-major` takes more:\n{said}").into());
    }
    for (word, cure) in [("-Wl,-rpath,/x", "-Xlinker=-rpath,/x"), ("-fPIC", "-Xcompiler=-fPIC")] {
        contains(&expect(&["build", word, &file], 2)?.1, &["host compiler", cure])?;
    }
    let wrong = b"int a = b;\n";
    if crate::cuda::has_clang() {
        let (_, said) = with_input(&["check", "-", "--stdin-filename", "a.cu"], wrong, 1)?;
        contains(&said, &["a.cu:1:9"])?;
    }
    Ok(())
}

/// Without a GPU it is the default, with a warning.
fn native() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let (ptx, stderr) =
        expect(&["build", "--emit", "ptx", "-o", "-", "--arch", "native", &file], 0)?;
    contains(&ptx, &[".target sm_"])?;
    let has_gpu = Path::new("/dev/nvidiactl").exists();
    match stderr.contains("there is no GPU for --arch native, so that sm_90 is taken") {
        warned if warned != has_gpu => Ok(()),
        _ => Err(format!("GPU {has_gpu}: {stderr}").into()),
    }
}

/// A program for a GPU finds nobody who would make machine code for the CPU device.
fn offered() -> Outcome {
    let folder = folder()?;
    let text = "#include <stdio.h>\n#include <stdlib.h>\n__global__ void k() {}\n\
        int main() { printf(\"%d\\n\", getenv(\"CDP_NATIVE_SOCKET\") != NULL); return 0; }\n";
    let file = write(&folder, "a.cdp", text)?;
    for (device, said) in [("cpu", "1\n"), ("gpu", "0\n")] {
        same(device, &expect(&["run", "--device", device, &file], 0)?.0, said)?;
    }
    Ok(())
}

fn stack() -> Outcome {
    let folder = folder()?;
    let text = "__device__ int deep(int n) { volatile int a[64]; a[n & 63] = n;\n\
        return n == 0 ? 0 : deep(n - 1) + a[n & 63] * 0 + 1; }\n\
        __global__ void k(int *p, int n) { *p = deep(n); }\n";
    let file = write(&folder, "a.cdp", text)?;
    let kernel =
        ["run", "--device", "cpu", &file, "--kernel", "k", "--arg", "zeros i32[1]", "--arg", "20"];
    contains(&expect(&kernel, 1)?.1, &["stack-overflow"])?;
    let enough = [&kernel[..], &["--stack", "65536"]].concat();
    contains(&expect(&enough, 0)?.0, &["argument 0: 20"])?;
    contains(
        &expect(&["run", &file, "--stack", "65536"], 2)?.1,
        &["--stack counts only with --kernel"],
    )
}

/// What a GPU would pass over in silence is refused where it is asked for by name.
fn no_gpu_does() -> Outcome {
    for option in [&["--check", "race"][..], &["--schedules", "3"], &["--profile"]] {
        let args = [&["run", "--device", "gpu", HELLO], option].concat();
        contains(&expect(&args, 2)?.1, &["are the CPU device's", "leave out --device gpu"])?;
    }
    contains(&expect(&["run", "--device", "cpu", "--profile", HELLO], 0)?.1, &["instructions"])?;
    contains(&expect(&["build", "--profile", HELLO], 2)?.1, &["there is no code for gprof"])
}

/// A program without `main`, one whose arguments stand among the inputs, and a kernel without its argument.
fn no_beginning() -> Outcome {
    let folder = folder()?;
    let file = write(
        &folder,
        "a.cdp",
        "__global__ void k(int *p) { *p = 1; }\nint mian() { return 0; }\n",
    )?;
    contains(&expect(&["run", &file], 2)?.1, &["function `main`", "--kernel"])?;
    let program = path(&folder, "a");
    contains(&expect(&["build", &file, "-o", &program], 2)?.1, &["function `main`"])?;
    contains(&expect(&["run", &file, "100"], 2)?.1, &["`100`", "after `--`"])?;
    contains(
        &expect(&["run", "--kernel", "k", &file], 2)?.1,
        &["1 parameter (bytes: 8)", "0 arguments are given"],
    )
}
