//! Programs that nvcc has compiled, host code and device code both, linked with this crate instead of
//! CUDA's runtime: every sample prints what it must on the CPU device. Skipped, with a word, where
//! there is no nvcc.

mod link;

use std::fmt::Write;
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

/// The sizes of every kernel's parameters as a C table.
fn sizes(ptx: &str) -> String {
    let module = cdp_ptx::parse(ptx).expect("nvcc's PTX");
    let kernels = module.functions.iter().filter(|function| {
        function.kind == cdp_ptx::FunctionKind::Kernel && function.body.is_some()
    });
    let mut text =
        "struct CdpSizes { const char *name; unsigned count; const unsigned *sizes; };\n\
                    const struct CdpSizes cdp_sizes[] = {\n"
            .to_owned();
    for kernel in kernels {
        let sizes: Vec<String> =
            kernel.params.iter().map(|param| param.size_bytes().to_string()).collect();
        let (name, count) = (&kernel.name, sizes.len());
        let list = sizes.join(", ");
        writeln!(
            text,
            "{{\"{name}\", {count}, (const unsigned[]){{{list}{}0}}}},",
            ", ".repeat(count.min(1))
        )
        .expect("a string takes it");
    }
    text + "{0, 0, 0}};\n"
}

/// Compiles a program with nvcc and links it with the library.
fn build(toolkit: &Path, source: &Path, folder: &Path) -> PathBuf {
    let nvcc = || {
        let mut command = Command::new(toolkit.join("bin/nvcc"));
        command.current_dir(folder).arg("-arch=sm_90");
        command
    };
    std::fs::copy(source, folder.join("program.cu")).expect("a scratch file");
    let include = source.parent().expect("a file is in a folder");
    let mut compile = nvcc();
    compile.args(["-dc", "--keep", "program.cu", "-o", "program.o", "-I"]).arg(include);
    link::succeed(&mut compile);
    let library = ["lib", "lib64", "targets/x86_64-linux/lib"]
        .map(|name| toolkit.join(name))
        .into_iter()
        .find(|folder| folder.join("libcudadevrt.a").is_file())
        .expect("a toolkit has libcudadevrt.a");
    let mut device_link = nvcc();
    device_link.args(["-dlink", "program.o", "-o", "device_link.o", "-lcudadevrt", "-L"]);
    link::succeed(device_link.arg(&library));
    let ptx = folder.join("program.ptx");
    let text = std::fs::read_to_string(&ptx).expect("nvcc keeps its PTX");
    std::fs::write(folder.join("sizes.c"), sizes(&text)).expect("a scratch file");
    let shim = link::sources().join("nvcc_shim.c");
    let mut compile = Command::new("cc");
    compile.current_dir(folder).args(["-w", "-c", "sizes.c"]).arg(shim);
    link::succeed(compile.arg(link::device_code(&ptx, folder)));
    let mut command = Command::new("c++");
    command.current_dir(folder).args(["-o", "program", "program.o", "device_link.o", "sizes.o"]);
    command.args(["nvcc_shim.o", "device.o"]).arg(link::static_library());
    command.arg(library.join("libcudadevrt.a")).args(["-lpthread", "-ldl", "-lm"]);
    link::succeed(&mut command);
    folder.join("program")
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
    let output = Command::new(program).env("CDP_DEVICE", "cpu").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(found, expected, "{}\n{said}", source.display());
    assert!(output.status.success(), "{}: {}\n{said}", source.display(), output.status);
}
