//! Programs that nvcc has compiled, host code and device code both, linked with this crate instead of
//! CUDA's runtime: every sample prints what it must on the CPU device. Skipped, with a word, where
//! there is no nvcc.

mod link;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A toolkit: named by the environment, or fetched by `cargo xtask setup`.
fn toolkit() -> Option<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    let fetched = repository().join(".toolchain/cuda-13.0");
    let candidates = named.map(PathBuf::from).chain([fetched, "/usr/local/cuda".into()]);
    candidates.into_iter().find(|folder| folder.join("bin/nvcc").is_file())
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate is two folders down").to_owned()
}

/// `nvcc` for a program in `folder`.
fn nvcc(toolkit: &Path, folder: &Path) -> Command {
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.current_dir(folder).arg("-arch=sm_90");
    command
}

/// Where a toolkit has its device runtime.
fn libraries(toolkit: &Path) -> PathBuf {
    ["lib", "lib64", "targets/x86_64-linux/lib"]
        .map(|name| toolkit.join(name))
        .into_iter()
        .find(|folder| folder.join("libcudadevrt.a").is_file())
        .expect("a toolkit has libcudadevrt.a")
}

/// Compiles a program with nvcc and links it with the library.
fn build(toolkit: &Path, source: &Path, folder: &Path) -> PathBuf {
    std::fs::copy(source, folder.join("program.cu")).expect("a scratch file");
    let include = source.parent().expect("a file is in a folder");
    let mut compile = nvcc(toolkit, folder);
    compile.args(["-dc", "program.cu", "-o", "program.o", "-I"]).arg(include);
    link::succeed(&mut compile);
    let library = libraries(toolkit);
    let mut device_link = nvcc(toolkit, folder);
    device_link.args(["-dlink", "program.o", "-o", "device_link.o", "-lcudadevrt", "-L"]);
    link::succeed(device_link.arg(&library));
    let mut command = Command::new("c++");
    command.current_dir(folder).args(["-o", "program", "program.o", "device_link.o"]);
    command.arg(link::static_library()).arg(library.join("libcudadevrt.a"));
    link::succeed(command.args(["-lpthread", "-ldl", "-lm"]));
    folder.join("program")
}

/// Runs a program on the CPU device: its exit code, standard output and standard error.
fn run(program: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(program).env("CDP_DEVICE", "cpu").output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn programs_compiled_by_nvcc_run_on_this_runtime() {
    let Some(toolkit) = toolkit() else {
        eprintln!("skipped: no nvcc; `cargo xtask setup` fetches one");
        return;
    };
    let samples = std::fs::read_dir(repository().join("samples")).expect("the samples");
    let mut programs: Vec<PathBuf> = samples.flatten().map(|entry| entry.path()).collect();
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "cdp"));
    programs.push(repository().join("tests/cases/run/runtime_host.cdp"));
    programs.sort();
    // nvcc takes seconds for each and one core.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for share in programs.chunks(programs.len().div_ceil(workers)) {
            let toolkit = &toolkit;
            scope.spawn(move || share.iter().for_each(|source| check(toolkit, source)));
        }
    });
}

fn check(toolkit: &Path, source: &Path) {
    let Ok(expected) = std::fs::read_to_string(source.with_extension("out")) else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = build(toolkit, source, folder.path());
    let (code, found, said) = run(&program);
    assert_eq!(found, expected, "{}\n{said}", source.display());
    assert_eq!(code, Some(0), "{}\n{said}", source.display());
}

/// A whole program of one file, linked without a device link, with these options.
fn plain(toolkit: &Path, folder: &Path, source: &str, options: &[&str]) -> PathBuf {
    std::fs::write(folder.join("plain.cu"), source).expect("a scratch file");
    let mut command = nvcc(toolkit, folder);
    command.args(["-cudart", "none", "plain.cu", "-o", "plain"]).args(options);
    link::succeed(command.arg(link::static_library()).args(["-lpthread", "-ldl", "-lm"]));
    folder.join("plain")
}

const PLAIN: &str = r#"
#include <cstdio>
__managed__ int total = 4;
__constant__ int factor[2];
static __global__ void add(char shift, double scale, int *out)
{
    atomicAdd(&total, (int)(scale * factor[1]) << shift);
    *out = threadIdx.x;
}
int main()
{
    int host[2] = {1, 5}, *out;
    printf("%d %d\n", (int)cudaMemcpyToSymbol(factor, host, sizeof host), (int)cudaMalloc(&out, 4));
    add<<<1, 2>>>(1, 2.5, out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d\n", total);
    return cudaGetLastError();
}
"#;

#[test]
fn fat_binaries_are_read_however_they_are_compressed() {
    let Some(toolkit) = toolkit() else { return };
    for options in [
        &["-Xfatbin", "-compress-all"],
        &["--compress-mode", "speed"],
        &["--compress-mode", "none"],
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (code, found, said) = run(&plain(&toolkit, folder.path(), PLAIN, options));
        assert_eq!(
            (code, found.as_str()),
            (Some(0), "0 0\ncudaSuccess\n52\n"),
            "{options:?}: {said}"
        );
    }
}

#[test]
fn a_program_without_ptx_says_what_is_missing() {
    let Some(toolkit) = toolkit() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let options = ["-gencode", "arch=compute_90,code=sm_90"];
    let source = "#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); \
                  return cudaGetLastError(); }\n";
    std::fs::write(folder.path().join("plain.cu"), source).expect("a scratch file");
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.current_dir(&folder).args(["-cudart", "none", "plain.cu", "-o", "plain"]).args(options);
    link::succeed(command.arg(link::static_library()).args(["-lpthread", "-ldl", "-lm"]));
    let (code, _, said) = run(&folder.path().join("plain"));
    assert_eq!(code, Some(209), "{said}");
    assert!(said.contains("carries machine code for sm_90 and no PTX"), "{said}");
    assert!(said.contains("-gencode arch=compute_90,code=compute_90"), "{said}");
}
