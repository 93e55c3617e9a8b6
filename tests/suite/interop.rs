//! Programs of two compilers: some files by us, some by nvcc, in one device link. Each folder of
//! `cases/interop` with a `main.out` is a program of `.cdp` files (ours) and `.cu` files (nvcc's).
//!
//! - `cpu`: nvcc's PTX of the one and ours of the other, linked by the emulator and run; and the
//!   other way round, nvcc compiling the `.cdp` files and we the `.cu` files;
//! - `link`: objects of both through `cdpc link`, for CDP2 and for CDP1;
//! - `nvcc`: `nvcc main.cu ours.o -o program`, as a user would.
//!
//! The host side is judged without a GPU by `host_abi`: a cudart that prints stands behind a program
//! of both compilers, which must say the same as one made by nvcc alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cdp::HostLinkOptions;
use cdp::{Arch, CdpVersion, CompileOptions, Goal, Pass, SourceInput, analyse};
use cdp_toolchain::{Cubin, host_link};
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::compile::build;
use crate::oracle;
use crate::run::{execute, runtime_library};
use crate::support::{Outcome, cases, cdpc, compiler, job, read, run_limited, same, stem, trial};

const TIME_LIMIT: Duration = Duration::from_secs(300);

pub fn trials() -> Vec<Trial> {
    let no_nvcc = !oracle::has_nvcc();
    let mut trials = Vec::new();
    for folder in programs() {
        let name = format!("interop::{}", stem(&folder));
        let mut add = |what: &str, test: fn(&Path) -> Outcome| {
            let folder = folder.clone();
            let test = trial(format!("{name}::{what}"), move || test(&folder));
            trials.push(test.with_ignored_flag(no_nvcc));
        };
        add("cpu", on_the_cpu_device);
        add("link", device_link);
        add("nvcc", nvcc_link);
    }
    trials.push(trial("interop::per_thread_streams".into(), per_thread_streams));
    let host = trial("interop::host_abi".into(), host_abi);
    trials.push(host.with_ignored_flag(no_nvcc));
    trials
}

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cases("interop")).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.join("main.out").is_file()).collect();
    folders.sort();
    folders
}

/// The sources of a program, sorted; whether each is nvcc's.
fn sources(folder: &Path) -> Vec<(PathBuf, bool)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let extension = path.extension()?.to_str()?.to_owned();
            matches!(&*extension, "cu" | "cdp").then_some((path, extension == "cu"))
        })
        .collect();
    files.sort();
    files
}

fn on_the_cpu_device(folder: &Path) -> Outcome {
    let main = sources(folder).into_iter().find(|(path, _)| stem(path) == "main");
    let directives = Directives::of(&main.ok_or("no main")?.0)?;
    for swapped in [false, true] {
        if swapped && directives.skips("swap") {
            continue;
        }
        let what = if swapped { "output of the swapped program" } else { "output" };
        execute(&mixed(folder, swapped)?, what, &read(&folder.join("main.out"))?)?;
    }
    Ok(())
}

/// Device code of both compilers behind our host code; `swapped` lets each compile the other's files.
fn mixed(folder: &Path, swapped: bool) -> Result<Vec<u8>, Failed> {
    let options = CompileOptions::default();
    let compiler = compiler()?;
    let text = |error: cdp::Error| Failed::from(error.to_string());
    let (mut ptx, mut objects) = (Vec::new(), Vec::new());
    for (path, nvcc) in sources(folder) {
        ptx.push(match nvcc != swapped {
            true => oracle::nvcc_ptx(&path, &options)?,
            false => String::from_utf8_lossy(&build(&path, &options, Goal::Ptx)?).into_owned(),
        });
        let source = SourceInput::File(path.clone());
        let analysis = analyse(&source, Pass::Host, &options).map_err(text)?;
        let object = compiler.emit_host(&analysis, &options).map_err(text)?;
        objects.push((format!("{}.o", stem(&path)), object));
    }
    objects.push(("image.o".into(), compiler.emit_image(&[], &ptx).map_err(text)?));
    let link = HostLinkOptions {
        files: runtime_library().into_iter().collect(),
        libraries: ["m", "dl", "pthread"].map(String::from).to_vec(),
        ..HostLinkOptions::default()
    };
    let program = host_link(&job()?, "mixed", &objects, &link);
    program.map_err(|error| error.to_string().into())
}

/// Runs a command, which must succeed.
fn succeed(command: &mut Command) -> Outcome {
    let output = run_limited(command, TIME_LIMIT)?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{text}", output.status).into())
}

fn nvcc(arch: Arch) -> Result<Command, Failed> {
    let nvcc = compiler()?.toolchain().nvcc().ok_or("no nvcc")?;
    let mut command = Command::new(nvcc);
    command.arg("-w").arg(format!("-arch={arch}"));
    Ok(command)
}

/// Objects of all files, each by the compiler whose it is: nvcc's `-dc` and ours.
fn objects(folder: &Path, out: &Path, arch: Arch, cdp: CdpVersion) -> Result<Vec<PathBuf>, Failed> {
    let mut objects = Vec::new();
    for (path, by_nvcc) in sources(folder) {
        let object = out.join(format!("{}.o", stem(&path)));
        let mut command = if by_nvcc {
            let mut command = nvcc(arch)?;
            if cdp == CdpVersion::Cdp1 {
                command.arg("-DCUDA_FORCE_CDP1_IF_SUPPORTED");
            }
            command.arg("-dc");
            command
        } else {
            let mut command = cdpc();
            let version = if cdp == CdpVersion::Cdp1 { "1" } else { "2" };
            command.args(["build", "-dc", "--cdp", version]).arg(format!("--arch={arch}"));
            command
        };
        succeed(command.arg(&path).arg("-o").arg(&object))?;
        objects.push(object);
    }
    Ok(objects)
}

fn tempdir() -> Result<tempfile::TempDir, Failed> {
    tempfile::tempdir().map_err(|error| error.to_string().into())
}

fn device_link(folder: &Path) -> Outcome {
    let kernels = |path: &Path| -> Result<Vec<String>, Failed> {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let cubin = Cubin::read(&bytes).map_err(|error| error.to_string())?;
        // What the driver defines stays undefined.
        let ours = |name: &&String| name.starts_with("_Z") || name.contains("cuda");
        let driver = |name: &&String| name.starts_with("__cuda_syscall");
        if let Some(name) = cubin.undefined_symbols.iter().find(|n| ours(n) && !driver(n)) {
            return Err(format!("{name} is undefined").into());
        }
        let own = cubin.kernels.into_iter().map(|kernel| kernel.name);
        Ok(own.filter(|name| name.starts_with("_Z")).collect())
    };
    for (arch, cdp) in
        [("sm_90", CdpVersion::Cdp2), ("sm_75", CdpVersion::Cdp2), ("sm_75", CdpVersion::Cdp1)]
    {
        // The tail stream is CDP2's.
        let tails = sources(folder).iter().any(|(path, _)| {
            std::fs::read_to_string(path).is_ok_and(|text| text.contains("cudaStreamTailLaunch"))
        });
        if cdp == CdpVersion::Cdp1 && tails {
            continue;
        }
        let out = tempdir()?;
        let arch = Arch::parse(arch).map_err(|error| error.to_string())?;
        let cubin = out.path().join("out.cubin");
        let mut link = cdpc();
        link.arg("link").args(objects(folder, out.path(), arch, cdp)?);
        succeed(link.arg(format!("--arch={arch}")).arg("-o").arg(&cubin))?;
        let linked = kernels(&cubin)?;
        for (path, _) in sources(folder) {
            let options = CompileOptions::default().with(|options| {
                options.archs = vec![arch];
                options.cdp = Some(cdp);
            });
            let source = SourceInput::File(path.clone());
            let analysis = analyse(&source, Pass::Device(arch), &options);
            for kernel in analysis.map_err(|error| error.to_string())?.kernels {
                // Static kernels have names of their own in objects.
                if kernel.symbol.starts_with("_ZL") || linked.contains(&kernel.symbol) {
                    continue;
                }
                return Err(format!("{} is not in the cubin: {linked:?}", kernel.symbol).into());
            }
        }
    }
    Ok(())
}

/// `nvcc main.cu ours.o -o program -rdc=true -lcudadevrt`.
fn nvcc_link(folder: &Path) -> Outcome {
    let out = tempdir()?;
    let mut command = nvcc(Arch::SM_90)?;
    for (path, by_nvcc) in sources(folder) {
        if by_nvcc {
            command.arg(&path);
            continue;
        }
        let object = out.path().join(format!("{}.o", stem(&path)));
        succeed(cdpc().args(["build", "--emit", "obj"]).arg(&path).arg("-o").arg(&object))?;
        command.arg(object);
    }
    let program = out.path().join("program");
    succeed(command.args(["-rdc=true", "-lcudadevrt", "-o"]).arg(&program).current_dir(&out))?;
    // It starts: whether there is a GPU or not, it says something and ends by itself.
    let output = run_limited(&mut Command::new(&program), TIME_LIMIT)?;
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return same("output", &found, &read(&folder.join("main.out"))?);
    }
    same("output without a GPU", &found, "no device memory\n")
}

fn host_abi() -> Outcome {
    let folder = cases("interop").join("host_abi");
    let out = tempdir()?;
    let path = |name: &str| out.path().join(name);
    let main = path("main.o");
    succeed(nvcc(Arch::SM_90)?.arg("-dc").arg(folder.join("main.cu")).arg("-o").arg(&main))?;
    let shim = path("cudart.o");
    succeed(
        Command::new("cc").args(["-c", "-w"]).arg(folder.join("cudart.c")).arg("-o").arg(&shim),
    )?;
    let theirs = path("theirs.o");
    let kernels = folder.join("kernels.cdp");
    let mut command = nvcc(Arch::SM_90)?;
    succeed(command.args(["-dc", "-x", "cu"]).arg(&kernels).arg("-o").arg(&theirs))?;
    let mut outputs = vec![link_and_run(&[&main, &theirs, &shim], false, out.path())?];
    for (level, by_us) in [("-O0", false), ("-O3", false), ("-O3", true)] {
        let ours = path("ours.o");
        succeed(cdpc().args(["build", "-dc", level]).arg(&kernels).arg("-o").arg(&ours))?;
        outputs.push(link_and_run(&[&main, &ours, &shim], by_us, out.path())?);
    }
    if !outputs[0].contains("own5Mixed5Large<<<1 2 3, 32 1 1, 64>>>") {
        return Err(format!("nvcc's program says:\n{}", outputs[0]).into());
    }
    same("what a program with our object says at -O0", &outputs[1], &outputs[0])?;
    same("what a program with our object says at -O3", &outputs[2], &outputs[0])?;
    same("what a program says whose device code we linked", &outputs[3], &outputs[0])
}

/// The device link by nvcc or by cdpc, the host link without cudart.
fn link_and_run(objects: &[&PathBuf], by_us: bool, out: &Path) -> Result<String, Failed> {
    let (linked, program) = (out.join("linked.o"), out.join("program"));
    let device = &objects[..objects.len() - 1];
    let mut command = if by_us { cdpc() } else { nvcc(Arch::SM_90)? };
    if by_us {
        command.args(["build", "-arch=sm_90"]);
    }
    succeed(command.arg("-dlink").args(device).args(["-lcudadevrt", "-o"]).arg(&linked))?;
    succeed(Command::new("c++").args(objects).arg(&linked).arg("-o").arg(&program))?;
    let output = run_limited(&mut Command::new(&program), TIME_LIMIT)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{}\n{text}", output.status).into())
    }
}

/// With per-thread default streams the object calls those entry points of cudart, as nvcc's do.
fn per_thread_streams() -> Outcome {
    let out = tempdir()?;
    let file = out.path().join("a.cdp");
    let text = "__global__ void k(int *p) {}\n\
                void f(int *p) { k<<<1, 1>>>(p); cudaMemset(p, 0, 4); cudaFree(p); }\n";
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let object = out.path().join("a.o");
    let mut command = cdpc();
    command.args(["build", "-dc", "--default-stream", "per-thread"]).arg(&file);
    succeed(command.arg("-o").arg(&object))?;
    let bytes = std::fs::read(&object).map_err(|error| error.to_string())?;
    let has = |name: &str| {
        let whole = [b"\0", name.as_bytes(), b"\0"].concat();
        bytes.windows(whole.len()).any(|window| window == whole)
    };
    for name in ["cudaLaunchKernel_ptsz", "cudaMemset_ptds", "cudaFree"] {
        if !has(name) {
            return Err(format!("{name} is not called").into());
        }
    }
    if has("cudaLaunchKernel") { Err("the common stream is launched into".into()) } else { Ok(()) }
}
