//! What build systems rely on: cache keys that are the same for the same output and no other, and the
//! CMake module, with the project of `samples/cmake` configured, built, tested and changed.
//!
//! The Cargo helper's example is a package of the workspace, with a test of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::run::runtime_archive;
use crate::support::{Outcome, cdpc, compiler, root, run_limited, trial};

const TIME_LIMIT: Duration = Duration::from_secs(300);

pub fn trials() -> Vec<Trial> {
    vec![
        trial("build_systems::key_of_the_same".into(), same_keys),
        trial("build_systems::key_of_what_differs".into(), other_keys),
        trial("build_systems::key_of_names_that_programs_see".into(), visible_names),
        trial("build_systems::key_of_dates".into(), dates),
        trial("build_systems::key_of_programs_with_errors".into(), no_key),
        trial("build_systems::key_of_each_input".into(), one_key_each),
        trial("build_systems::cmake".into(), cmake),
        trial("build_systems::cmake_of_cu".into(), cmake_of_cu)
            .with_ignored_flag(!crate::cuda::has_clang()),
        trial("build_systems::cmake_of_cuda".into(), cmake_of_cuda)
            .with_ignored_flag(!crate::cuda::has_clang()),
    ]
}

const SOURCE: &str = "#include \"shape.h\"\n\
    __global__ void child(int *p, int n) { p[threadIdx.x] = n; }\n\
    __global__ void parent(int *p) { child<<<1, N>>>(p, M); }\n";

/// A checkout: a source, a header beside it and one in an include folder.
struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    fn new(include: &str) -> Result<Checkout, Failed> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let made = Checkout { folder };
        made.write("src/a.cdp", SOURCE)?;
        made.write("src/shape.h", "#include <more.h>\n#define N 32\n")?;
        made.write(&format!("{include}/more.h"), "#ifndef M\n#define M 7\n#endif\n")?;
        Ok(made)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Outcome {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        std::fs::write(&path, text).map_err(|error| error.to_string().into())
    }

    /// The key printed by `cdpc build ARGS --cache-key`, run in a folder of the checkout.
    fn key(&self, within: &str, args: &[&str]) -> Result<String, Failed> {
        let (code, stdout, stderr) = self.run(within, args)?;
        let key = stdout.trim_end();
        let good = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if code == 0 && good {
            return Ok(key.to_owned());
        }
        Err(format!("cdpc build {args:?} --cache-key: {code}\n{stdout}\n{stderr}").into())
    }

    fn run(&self, within: &str, args: &[&str]) -> Result<(i32, String, String), Failed> {
        let mut command = cdpc();
        if let Some(kit) = compiler()?.toolchain().toolkits().first() {
            command.env("CUDA_HOME", &kit.root);
        }
        if let Some(library) = runtime_archive() {
            command.env("CDP_RUNTIME_LIB", library);
        }
        command.env_remove("SOURCE_DATE_EPOCH").current_dir(self.path(within));
        let output = run_limited(command.arg("build").args(args).arg("--cache-key"), TIME_LIMIT)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr)))
    }
}

fn same_keys() -> Outcome {
    let one = Checkout::new("include")?;
    let key = one.key(".", &["src/a.cdp", "-Iinclude", "-o", "a.cubin"])?;
    // Another folder, another place for headers, another current folder, another output.
    let two = Checkout::new("deep/er/headers")?;
    let folder = two.path("deep/er/headers").display().to_string();
    let same = [
        two.key("src", &["a.cdp", "-I../deep/er/headers", "-o", "../elsewhere/other.cubin"])?,
        two.key(".", &["./src/a.cdp", "-I", &folder, "--emit", "cubin"])?,
        two.key(".", &["src/a.cdp", "-I", &folder, "-v", "--keep", "kept"])?,
        // nvcc's spellings.
        two.key(".", &["-arch=sm_90", "-cubin", "src/a.cdp", "-I", &folder])?,
    ];
    // Files of the same contents, written later.
    two.write("src/shape.h", "#include <more.h>\n#define N 32\n")?;
    let again = two.key("src", &["a.cdp", "-I../deep/er/headers"])?;
    match same.iter().chain([&again]).position(|other| *other != key) {
        None => Ok(()),
        Some(index) => Err(format!("key {index} differs").into()),
    }
}

fn other_keys() -> Outcome {
    let checkout = Checkout::new("include")?;
    let base = ["src/a.cdp", "-Iinclude", "-o", "a.cubin"];
    let mut keys = vec![("nothing".to_string(), checkout.key(".", &base)?)];
    let options: [&[&str]; 21] = [
        &["--arch", "sm_80"],
        &["--arch", "sm_80,sm_90", "--emit", "fatbin"],
        &["--emit", "ptx"],
        &["--emit", "obj"],
        &["--emit", "device-obj"],
        &["--emit", "fatbin"],
        &["-O2"],
        &["-DM=8"],
        &["-DUNUSED"],
        &["--launch-abi", "documented"],
        &["--launch-abi", "cdp2"],
        &["--default-stream", "per-thread"],
        &["--use-fast-math"],
        &["--fmad", "false"],
        &["--ftz", "true"],
        &["--lineinfo"],
        &["-G"],
        &["--maxrregcount", "32"],
        &["-Xptxas", "-v"],
        &["-Xnvlink", "--verbose"],
        &["--cudadevrt", "always"],
    ];
    for option in options {
        let what = option.join(" ");
        let key = checkout.key(".", &[&base[..], option].concat())?;
        keys.push((what, key));
    }
    keys.push((
        "cdp 1".into(),
        checkout.key(".", &[&base[..], &["--arch", "sm_80", "--cdp", "1"]].concat())?,
    ));
    checkout.write("src/b.cdp", "__global__ void second(int *p) {}\n")?;
    keys.push(("a second input".into(), checkout.key(".", &[&base[..], &["src/b.cdp"]].concat())?));
    let swapped = ["src/b.cdp", "src/a.cdp", "-Iinclude", "-o", "a.cubin"];
    keys.push(("the order of inputs".into(), checkout.key(".", &swapped)?));
    checkout.write("include/more.h", "#define M 9\n")?;
    keys.push(("a header".into(), checkout.key(".", &base)?));
    checkout.write("src/a.cdp", &SOURCE.replace("1, N", "2, N"))?;
    keys.push(("the source".into(), checkout.key(".", &base)?));
    for (index, (what, key)) in keys.iter().enumerate() {
        if let Some((other, _)) = keys[..index].iter().find(|(_, known)| known == key) {
            return Err(format!("`{what}` and `{other}` have the same key").into());
        }
    }
    Ok(())
}

fn visible_names() -> Outcome {
    let (one, two) = (Checkout::new("include")?, Checkout::new("include")?);
    let text = "__global__ void k(const char **p) { *p = __FILE__; }\n";
    for checkout in [&one, &two] {
        checkout.write("src/a.cdp", text)?;
    }
    let differ = |args: [&str; 2]| -> Result<bool, Failed> {
        Ok(one.key("src", &[args[0]])? != two.key(".", &[args[1]])?)
    };
    if !differ(["a.cdp", "src/a.cdp"])? {
        return Err("`__FILE__` is another text, and the key is the same".into());
    }
    // By the same name from two checkouts it is the same program.
    let keys = [one.key(".", &["src/a.cdp"])?, two.key(".", &["src/a.cdp"])?];
    if keys[0] == keys[1] { Ok(()) } else { Err("two checkouts differ".into()) }
}

fn dates() -> Outcome {
    let checkout = Checkout::new("include")?;
    checkout.write("src/a.cdp", "__global__ void k(const char **p) { *p = __TIME__; }\n")?;
    let first = checkout.key(".", &["src/a.cdp"])?;
    std::thread::sleep(Duration::from_millis(1100));
    if checkout.key(".", &["src/a.cdp"])? == first {
        return Err("a second later `__TIME__` is another text, and the key is the same".into());
    }
    Ok(())
}

fn no_key() -> Outcome {
    let checkout = Checkout::new("include")?;
    checkout.write("src/a.cdp", "__global__ void k() { x = 1; }\n")?;
    let (code, stdout, stderr) = checkout.run(".", &["src/a.cdp"])?;
    if code == 1 && stdout.is_empty() && stderr.contains("error[E") {
        return Ok(());
    }
    Err(format!("{code}\n{stdout}\n{stderr}").into())
}

/// One key for each output.
fn one_key_each() -> Outcome {
    let checkout = Checkout::new("include")?;
    checkout.write("src/b.cdp", "__global__ void second(int *p) {}\n")?;
    let args = ["-c", "src/a.cdp", "src/b.cdp", "-Iinclude"];
    let (code, stdout, stderr) = checkout.run(".", &args)?;
    let keys: Vec<_> = stdout.lines().collect();
    match keys[..] {
        [a, b] if code == 0 && a != b => Ok(()),
        _ => Err(format!("{code}\n{stdout}\n{stderr}").into()),
    }
}

/// The folder with cmake: what the set-up fetched, else `PATH`.
fn cmake_folder() -> Option<PathBuf> {
    let entries = std::fs::read_dir(root().join(".toolchain")).into_iter().flatten().flatten();
    let fetched = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("cmake-"))
        .map(|entry| entry.path().join("bin"))
        .find(|folder| folder.join("cmake").is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    fetched.or_else(|| std::env::split_paths(&path).find(|folder| folder.join("cmake").is_file()))
}

/// Its folder: a name that wants quoting.
const PROJECT: &str = "the project";

/// A build folder for a copy of the sample.
struct Project {
    checkout: Checkout,
    tools: PathBuf,
}

impl Project {
    fn run(&self, tool: &str, args: &[&str]) -> Result<String, Failed> {
        let mut command = Command::new(self.tools.join(tool));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.tools.clone()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(|error| error.to_string())?;
        command
            .env("PATH", path)
            .env("PWD", self.checkout.path(PROJECT))
            .env("CDP_TESTS_AS_CDPC", "1")
            .env("CDP_DEVICE", "cpu");
        if let Some(kit) = compiler()?.toolchain().toolkits().first() {
            command.env("CUDA_HOME", &kit.root);
        }
        if let Some(library) = runtime_archive() {
            command.env("CDP_RUNTIME_LIB", library);
        }
        let output =
            run_limited(command.args(args).current_dir(self.checkout.path(PROJECT)), TIME_LIMIT)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("{tool} {args:?}: {}\n{text}\n{stderr}", output.status).into())
    }

    /// What a build of everything made.
    fn build(&self) -> Result<Vec<String>, Failed> {
        let said = self.run("cmake", &["--build", "build", "--parallel", "4"])?;
        let made = said.lines().filter_map(|line| line.split_once("Building "));
        let mut made: Vec<_> = made
            .filter_map(|(_, what)| what.split_whitespace().last().map(str::to_owned))
            .collect();
        made.sort();
        Ok(made)
    }
}

/// CMake's folder, and the generators whose tools are there.
fn cmake_tools() -> Result<(PathBuf, Vec<&'static str>), Failed> {
    let tools = cmake_folder().ok_or("no cmake: `cargo xtask setup` fetches it")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |tool: &str| {
        tools.join(tool).is_file() || std::env::split_paths(&path).any(|p| p.join(tool).is_file())
    };
    let known = [("Ninja", "ninja"), ("Unix Makefiles", "make")];
    let generators: Vec<_> =
        known.into_iter().filter(|(_, tool)| has(tool)).map(|(name, _)| name).collect();
    if generators.is_empty() {
        return Err("neither ninja nor make: `cargo xtask setup` fetches ninja".into());
    }
    Ok((tools, generators))
}

fn cmake() -> Outcome {
    let (tools, generators) = cmake_tools()?;
    for generator in generators {
        with_generator(&tools, generator)
            .map_err(|failed| format!("{generator}: {}", failed.message().unwrap_or("")))?;
    }
    Ok(())
}

/// A program and an object of `.cu` files, made again when a header of theirs changes.
fn cmake_of_cu() -> Outcome {
    let (tools, generators) = cmake_tools()?;
    let project = Project { checkout: Checkout::new("include")?, tools };
    let put = |name: &str, text: &str| project.checkout.write(&format!("{PROJECT}/{name}"), text);
    put(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)
project(cu LANGUAGES NONE)
find_package(Cdp REQUIRED)
add_cdp_object(part part.cu OUTPUT part.o)
add_cdp_executable(program main.cu part.cu DEFINITIONS PLUS=1)\n",
    )?;
    put("n.h", "#pragma once\n#define N 3\n")?;
    put(
        "part.cu",
        "#include \"n.h\"\n__global__ void child(int *p) { *p = N; }\n\
         void start(int *p);\n",
    )?;
    put(
        "main.cu",
        "#include <cstdio>\n__global__ void child(int *p);\n\
         template <class T> __global__ void parent(T *p) { child<<<1, 1>>>(p); }\n\
         int main() { int *p; cudaMallocManaged(&p, 4); parent<<<1, 1>>>(p);\n\
         cudaDeviceSynchronize(); printf(\"%d\\n\", *p + PLUS); }\n",
    )?;
    let module = format!("-DCMAKE_PREFIX_PATH={}", root().join("compiler/cmake").display());
    let compiler = std::env::current_exe().map_err(|error| error.to_string())?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(compiler, project.checkout.path("cdpc"))
        .map_err(|error| error.to_string())?;
    let compiler = "-DCDP_COMPILER=../cdpc";
    project.run("cmake", &["-G", generators[0], "-B", "build", &module, compiler])?;
    let all = ["part.o", "program"];
    for (number, wanted, text) in [(3, &all[..], "4\n"), (3, &[], "4\n"), (8, &all, "9\n")] {
        if number == 8 {
            // Dates of files have whole seconds for make.
            std::thread::sleep(Duration::from_millis(1100));
            put("n.h", "#define N 8\n")?;
        }
        let made = project.build()?;
        if made != wanted {
            return Err(format!("with {number} the build made {made:?}").into());
        }
        let program = project.checkout.path(&format!("{PROJECT}/build/program"));
        let output = run_limited(Command::new(program).env("CDP_DEVICE", "cpu"), TIME_LIMIT)?;
        crate::support::same("output", &String::from_utf8_lossy(&output.stdout), text)?;
    }
    Ok(())
}

/// Programs of projects that know nothing of `cdpc`, which is CMake's CUDA compiler: one whose device code is linked as a
/// whole, with a library in it, and one whose files stand alone.
fn cmake_of_cuda() -> Outcome {
    let (tools, generators) = cmake_tools()?;
    let project = Project { checkout: Checkout::new("include")?, tools };
    let put = |name: &str, text: &str| project.checkout.write(&format!("{PROJECT}/{name}"), text);
    put(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)
project(tree VERSION 0.1 LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 17)
find_package(CUDAToolkit REQUIRED)
add_library(leaf STATIC leaf.cu)
set_target_properties(leaf PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(tree main.cpp tree.cu)
set_target_properties(tree PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_compile_options(tree PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -Xcompiler=-Wall>)
target_link_libraries(tree PRIVATE leaf)
add_executable(alone alone.cu)\n",
    )?;
    put("leaf.cu", "__global__ void leaf(int *p, int n) { atomicAdd(p, n); }\n")?;
    put(
        "tree.cu",
        "__global__ void leaf(int *p, int n);\n\
         __global__ void parent(int *p) { leaf<<<1, 4>>>(p, threadIdx.x); }\n\
         int grow() { int *p, n = 0; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); parent<<<1, 3>>>(p);\n\
         cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost); return n; }\n",
    )?;
    put(
        "main.cpp",
        "#include <iostream>\nint grow();\nint main() { std::cout << grow() << std::endl; }\n",
    )?;
    put(
        "alone.cu",
        "#include <cstdio>\n__global__ void k() { printf(\"alone\\n\"); }\n\
         int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n",
    )?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = project.checkout.path("cdpc");
    #[cfg(unix)]
    std::os::unix::fs::symlink(program, &path).map_err(|error| error.to_string())?;
    let kit = compiler()?.toolchain().toolkits().first().map(|kit| kit.root.clone());
    let kit = kit.ok_or("no toolkit")?;
    let names = [("CMAKE_CUDA_COMPILER", path), ("CUDAToolkit_ROOT", kit)];
    let [found, kit] = names.map(|(name, path)| format!("-D{name}={}", path.display()));
    let arch = "-DCMAKE_CUDA_ARCHITECTURES=90";
    project.run("cmake", &["-G", generators[0], "-B", "build", &found, &kit, arch])?;
    project.run("cmake", &["--build", "build"])?;
    for (program, text) in [("tree", "12\n"), ("alone", "alone\n")] {
        let program = project.checkout.path(&format!("{PROJECT}/build/{program}"));
        let output = run_limited(Command::new(program).env("CDP_DEVICE", "cpu"), TIME_LIMIT)?;
        crate::support::same("output", &String::from_utf8_lossy(&output.stdout), text)?;
    }
    Ok(())
}

fn with_generator(tools: &Path, generator: &str) -> Outcome {
    let tools = tools.to_owned();
    let project = Project { checkout: Checkout::new("include")?, tools };
    let sample = root().join("samples/cmake");
    for name in ["CMakeLists.txt", "src/kernels.cdp", "src/kernels.h", "src/main.cdp"] {
        let text = std::fs::read_to_string(sample.join(name)).map_err(|error| error.to_string())?;
        project.checkout.write(&format!("{PROJECT}/{name}"), &text)?;
    }
    // A second target of one source, in a folder that is not there yet, with other options.
    let more = "add_cdp_cubin(second src/kernels.cdp OUTPUT deep/er/second.cubin OPTIONS -O1)\n";
    let lists = format!("{PROJECT}/CMakeLists.txt");
    let text = std::fs::read_to_string(project.checkout.path(&lists));
    project.checkout.write(&lists, &(text.map_err(|error| error.to_string())? + more))?;
    let module = format!("-DCMAKE_PREFIX_PATH={}", root().join("compiler/cmake").display());
    let compiler = std::env::current_exe().map_err(|error| error.to_string())?;
    let configure = |compiler: &str| {
        let compiler = format!("-DCDP_COMPILER={compiler}");
        project.run("cmake", &["-G", generator, "-B", "build", &module, &compiler])
    };
    let missing = configure("nowhere/cdpc").err();
    if !missing
        .is_some_and(|said| said.message().unwrap_or("").contains("CDP_COMPILER is nowhere/cdpc"))
    {
        return Err("a compiler that is not there is not said to be missing".into());
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(compiler, project.checkout.path("cdpc"))
        .map_err(|error| error.to_string())?;
    configure("../cdpc")?;
    let wanted = |found: Vec<String>, wanted: &[&str], when: &str| -> Outcome {
        if found == wanted { Ok(()) } else { Err(format!("{when}: {found:?}").into()) }
    };
    let all = ["deep/er/second.cubin", "kernels.cubin", "portable.fatbin", "scale"];
    wanted(project.build()?, &all, "the first build")?;
    for name in all {
        if !project.checkout.path(&format!("{PROJECT}/build")).join(name).is_file() {
            return Err(format!("{name} is not there").into());
        }
    }
    wanted(project.build()?, &[], "a build after nothing changed")?;
    project.run("ctest", &["--test-dir", "build", "--output-on-failure"])?;
    // The header is known from the dependency file alone.
    std::thread::sleep(Duration::from_millis(1100));
    let header = std::fs::read_to_string(sample.join("src/kernels.h"));
    let header = header.map_err(|error| error.to_string())?;
    let header = header.replace("DEFAULT_FACTOR 2", "DEFAULT_FACTOR 5");
    project.checkout.write(&format!("{PROJECT}/src/kernels.h"), &header)?;
    wanted(project.build()?, &all, "a build after the header changed")?;
    let program = project.checkout.path(&format!("{PROJECT}/build/scale"));
    let output = run_limited(Command::new(program).env("CDP_DEVICE", "cpu"), TIME_LIMIT)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text != "5 10 15 20\n" {
        return Err(format!("the program with the new header says {text}").into());
    }
    project.checkout.write(&format!("{PROJECT}/src/main.cdp"), "int main() { return 0; }\n")?;
    wanted(project.build()?, &["scale"], "a build after the program changed")
}
