//! Programs that nvcc has compiled and linked with CUDA's shared runtime, on which nothing is changed: with
//! this library in its place they print on the CPU device what they must. The programs are those of
//! `programs/`, samples and run cases renamed to `.cu`, and cases of `.cu` files. Skipped, with a word, where there is no nvcc.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cdp_runtime::capi::calls::{CALLS, State};
use cdp_runtime::capi::driver;

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate is two folders down").to_owned()
}

/// A toolkit: fetched by `cargo xtask setup`, or named by the environment.
fn toolkit() -> Option<PathBuf> {
    let fetched = repository().join(".toolchain/cuda-13.0");
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    let mut candidates = [fetched].into_iter().chain(named.map(PathBuf::from));
    candidates.find(|folder| folder.join("bin/nvcc").is_file())
}

/// CUDA's own shared library of a toolkit.
fn real_library(toolkit: &Path) -> PathBuf {
    ["lib", "lib64", "targets/x86_64-linux/lib"]
        .map(|name| toolkit.join(name).join("libcudart.so.13"))
        .into_iter()
        .find(|path| path.exists())
        .expect("a toolkit has libcudart.so.13")
}

/// The library of this build.
fn our_library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    test.parent().expect("a file is in a folder").join("libcudart.so")
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

/// The options that a program asks for in its first line.
fn options(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("a program");
    let first = text.lines().next().and_then(|line| line.strip_prefix("// nvcc:"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    match (first, source.starts_with(own)) {
        (Some(options), _) => options.split_whitespace().map(str::to_owned).collect(),
        (None, true) => Vec::new(),
        (None, false) => ["-rdc=true", "-lcudadevrt"].map(str::to_owned).to_vec(),
    }
}

/// Makes a library with the driver's name and functions, as toolkits have one to link with.
fn driver_to_link_with(folder: &Path) {
    let labels: String =
        driver::functions().map(|(name, ..)| format!(".globl {name}\n{name}:\n")).collect();
    let text = format!("{labels}ud2\n.section .note.GNU-stack,\"\",@progbits\n");
    std::fs::write(folder.join("stub.s"), text).expect("a scratch file");
    let mut link = Command::new("cc");
    link.current_dir(folder).args(["-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1"]);
    succeed(link.args(["stub.s", "-o", "libcuda.so"]));
}

/// Compiles and links a program as anyone would, runs it with this library and compares its output.
///
/// # Errors
/// What is different.
fn check(toolkit: &Path, source: &Path) -> Result<(), String> {
    let expected = std::fs::read_to_string(source.with_extension("out")).expect("its output");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let real = real_library(toolkit);
    // The linker wants the name without the version.
    std::os::unix::fs::symlink(&real, folder.join("libcudart.so")).expect("a link");
    std::fs::copy(source, folder.join("program.cu")).expect("a scratch file");
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.current_dir(folder).args(["-arch=sm_90", "-cudart", "shared", "-o", "program"]);
    nvcc.arg("program.cu").args(options(source)).arg("-I").arg(source.parent().expect("a folder"));
    nvcc.arg("-L.").arg("-L").arg(real.parent().expect("a folder"));
    let text = std::fs::read_to_string(source).expect("a program");
    if text.contains("<cuda.h>") {
        driver_to_link_with(folder);
        nvcc.arg("-lcuda");
    }
    succeed(&mut nvcc);
    let ours = folder.join("ours");
    std::fs::create_dir(&ours).expect("a scratch folder");
    for name in ["libcudart.so.13", "libcuda.so.1"] {
        std::os::unix::fs::symlink(our_library(), ours.join(name)).expect("a link");
    }
    let mut command = Command::new(folder.join("program"));
    command.env("LD_LIBRARY_PATH", &ours).env("CDP_DEVICE", "cpu");
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    if found == expected && output.status.success() {
        return Ok(());
    }
    let name = source.display();
    Err(format!("{name}: {}\n{said}--- expected\n{expected}--- found\n{found}", output.status))
}

/// Those of `tests/cases/cuda` that ask most of the runtime and that nvcc compiles quickly.
const CUDA_CASES: [&str; 17] = [
    "conditional_nodes",
    "device_graphs",
    "driver_arrays",
    "driver_calls",
    "driver_graphs",
    "driver_memory",
    "graph_memory",
    "launch_forms",
    "layered_arrays",
    "lu_recursive",
    "managed_symbols",
    "new_delete",
    "quadtree",
    "registered_memory",
    "stream_memory",
    "streams_and_events",
    "warp_functions",
];

fn programs() -> Vec<PathBuf> {
    let repository = repository();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut all = Vec::new();
    for (folder, extension) in [(own, "cu"), (repository.join("samples"), "cdp")] {
        let files = std::fs::read_dir(folder).expect("a folder of programs");
        let paths = files.map(|entry| entry.expect("an entry").path());
        all.extend(paths.filter(|path| {
            path.extension().is_some_and(|found| found == extension)
                && path.with_extension("out").is_file()
        }));
    }
    let cases = ["host_api", "runtime_host", "runtime_mixed", "launch_streams", "port_host"];
    let more = ["texture_fetch", "texture_surface", "launch_errors", "port_quicksort"];
    let case = |name: &&str| repository.join(format!("tests/cases/run/{name}.cdp"));
    all.extend(cases.iter().chain(&more).map(case));
    let case = |name: &str| repository.join(format!("tests/cases/cuda/{name}.cu"));
    all.extend(CUDA_CASES.map(case));
    all.sort();
    all
}

#[test]
fn programs_of_nvcc_run_unchanged() {
    let Some(toolkit) = toolkit() else {
        eprintln!("skipped: no nvcc; `cargo xtask setup` fetches one");
        return;
    };
    let wanted = std::env::var("CDP_PROGRAM").unwrap_or_default();
    let mut programs = programs();
    assert!(programs.len() >= 44, "{} programs", programs.len());
    programs.retain(|path| path.to_string_lossy().contains(&wanted));
    // nvcc takes seconds for each and one core.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(source) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed = check(&toolkit, source).err();
                    failures.lock().expect("no test panics with it").extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("the threads have ended");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Names that a shared library exports under a version.
fn exported(library: &Path) -> Vec<String> {
    let output = succeed(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let text = String::from_utf8(output.stdout).expect("names");
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    let ours = names.filter_map(|name| name.split_once("@@"));
    ours.filter(|(_, version)| *version == "libcudart.so.13").map(|(name, _)| name.into()).collect()
}

/// Not in a header, not a function that programs call.
const INTERNAL: [&str; 2] = ["__cudaGetProcAddress", "__cudaRegisterUnifiedTable"];

#[test]
fn everything_that_cudas_library_exports_is_there() {
    let Some(toolkit) = toolkit() else { return };
    let ours = exported(&our_library());
    for name in exported(&real_library(&toolkit)) {
        let is_internal = INTERNAL.contains(&name.as_str());
        assert_eq!(ours.contains(&name), !is_internal, "{name}");
        let known = CALLS.iter().any(|call| call.name == name);
        assert!(known || name.starts_with("__"), "{name} is not in the table");
    }
}

#[test]
fn the_table_has_every_call_of_the_header_once() {
    let Some(toolkit) = toolkit() else { return };
    let header = toolkit.join("include/cuda_runtime_api.h");
    let text = std::fs::read_to_string(header).expect("CUDA's header");
    let mut count = 0;
    for (at, _) in text.match_indices("CUDARTAPI") {
        let rest = text[at..].trim_start_matches("CUDARTAPI").trim_start_matches("_CDECL");
        let rest = rest.trim_start().trim_start_matches('*');
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        if name.starts_with("cuda") && rest[name.len()..].trim_start().starts_with('(') {
            count += 1;
            let rows = CALLS.iter().filter(|call| call.name == name).count();
            assert_eq!(rows, 1, "{name}");
        }
    }
    assert!(count > 300, "{count} declarations");
}

/// What CUDA's header declares of the driver, with every version of a function and every variant.
#[test]
fn every_function_of_the_drivers_header_is_there_once() {
    let Some(toolkit) = toolkit() else { return };
    let header = toolkit.join("include/cuda.h");
    let mut count = 0;
    for define in ["NONE", "CUDA_API_PER_THREAD_DEFAULT_STREAM", "__CUDA_API_VERSION_INTERNAL"] {
        let mut read = Command::new("cpp");
        let text = succeed(read.args(["-P", "-D", define]).arg(&header)).stdout;
        let text = String::from_utf8(text).expect("a header");
        for (at, _) in text.match_indices("CUresult") {
            let rest = text[at..].trim_start_matches("CUresult").trim_start();
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let is_call = rest[name.len()..].trim_start().starts_with('(');
            if is_call && name.starts_with("cu") {
                count += 1;
                assert_eq!(driver::functions().filter(|row| row.0 == name).count(), 1, "{name}");
            }
        }
    }
    assert!(count > 1000, "{count} declarations");
}

/// The functions of the driver, without versions and variants of one name.
fn drivers(done: bool) -> (usize, String) {
    let base = |name: &'static str| {
        let name = name.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        match name.rsplit_once("_v") {
            Some((base, number)) if number.parse::<u32>().is_ok() => base,
            _ => name,
        }
    };
    let of = |wanted: bool| {
        let rows = driver::functions().filter(move |row| row.1 == wanted);
        rows.map(move |row| base(row.0)).collect::<std::collections::BTreeSet<_>>()
    };
    let mut names = of(done);
    if !done {
        // Old versions of what is done.
        names.retain(|name| !of(true).contains(name));
    }
    let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (list.len(), list.join(", "))
}

/// The documentation's page of the calls.
fn page() -> String {
    let base = |name: &str| !name.contains("_pt") && !name.starts_with("__");
    let calls: Vec<_> = CALLS.iter().filter(|call| base(call.name)).collect();
    let list = |state: State| {
        let mut names: Vec<String> = calls
            .iter()
            .filter(|call| call.state == state)
            .map(|call| format!("`{}`", call.name))
            .collect();
        names.sort();
        (names.len(), names.join(", "))
    };
    let (done, done_names) = list(State::Done);
    let (not_yet, not_yet_names) = list(State::NotYet);
    let mut text = format!(
        "# Calls of the CUDA runtime\n\n\
         Made from `cdp-runtime/src/capi/calls.rs` by `CDP_BLESS=1 cargo test -p cdp-cudart`. Every call of \
         CUDA 13.0's runtime has a function in `libcdp_runtime.a` and in `libcudart.so` (soname \
         `libcudart.so.13`), so that every program links and loads. Files compiled with a default stream for \
         each thread call the variants `_ptsz` and `_ptds`, which are there for each of these.\n\n\
         ## A program of nvcc without a GPU\n\n\
         `cargo build --release -p cdp-cudart` makes `target/release/libcudart.so`. A program that was linked \
         with `nvcc -cudart shared` runs unchanged with it:\n\n\
         ```sh\nmkdir lib\nln -s $PWD/target/release/libcudart.so lib/libcudart.so.13\n\
         LD_LIBRARY_PATH=$PWD/lib CDP_DEVICE=cpu ./program\n```\n\n\
         Without `CDP_DEVICE` it takes the GPU if there is one that the program's code is for. The CPU device \
         runs PTX, so that every file must be compiled with PTX too: `nvcc -arch=sm_90` does that, \
         `-gencode arch=compute_90,code=sm_90` alone does not. Objects link with `libcdp_runtime.a` as well: \
         `nvcc -cudart none`, or `nvcc -dlink` and `c++`, with the library and `-lpthread -ldl -lm`.\n\n\
         ## Done ({done})\n\n{done_names}\n"
    );
    let mut reasons: Vec<&str> = calls
        .iter()
        .filter_map(|call| match call.state {
            State::Refused(why) => Some(why),
            _ => None,
        })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    text += "\n## Refused\n\nThey say so on standard error and return `cudaErrorNotSupported`.\n";
    for why in reasons {
        let (count, names) = list(State::Refused(why));
        text += &format!("\n### {} ({count})\n\n{names}\n", capital(why));
    }
    text += &format!(
        "\n## Not yet ({not_yet})\n\nThey say so on standard error and return \
         `cudaErrorNotYetImplemented`.\n\n{not_yet_names}\n"
    );
    let ((done, done_names), (others, other_names)) = (drivers(true), drivers(false));
    text += &format!(
        "\n## Calls of the driver\n\nPrograms that call `cuInit`, `cuModuleLoadData`, `cuLaunchKernel` and their kin beside \
         the runtime, or alone, link with `-lcuda` or without; neither needs the driver to be there. On a GPU each call \
         goes on to the driver's own function, in all its versions, and the runtime's calls use the context that is current. \
         Streams, events and memory of both kinds of calls are the same there and on the CPU device; graphs and memory \
         pools of the two are the same on the CPU device only. Kernels of the program itself are in the context in which \
         the first of them was used. None of this has been run on a GPU yet.\n\n\
         On the CPU device modules are loaded from PTX and fat binaries with PTX, linked ones (`cuLinkCreate`) too; there \
         is one device, and every context sees its memory. `cudaGetDriverEntryPoint` and `cuGetProcAddress` find all \
         functions. For a program that nvcc linked with `-lcuda`, the shared library takes the driver's place as well: \
         `ln -s $PWD/target/release/libcudart.so lib/libcuda.so.1`, on a machine without a driver.\n\n\
         ### Done on the CPU device ({done})\n\n{done_names}\n\n\
         ### Not on the CPU device ({others})\n\nThey say so on standard error and return \
         `CUDA_ERROR_NOT_SUPPORTED`.\n\n{other_names}\n"
    );
    text
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

#[test]
fn the_page_of_the_calls_is_true() {
    let path = repository().join("compiler/docs/runtime-calls.md");
    let page = page();
    if std::env::var_os("CDP_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &page).expect("the page is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "{} is old: CDP_BLESS=1 cargo test -p cdp-cudart", path.display());
}
