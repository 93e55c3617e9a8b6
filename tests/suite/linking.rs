//! `cdpc link`: objects of every compiler, the device runtime only when it is needed, and failures
//! that people meet, explained.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cdp_toolchain::Cubin;
use libtest_mimic::{Failed, Trial};

use crate::oracle;
use crate::support::{Outcome, cdpc, compiler, run_limited, trial};

const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A parent whose child is elsewhere, and children.
pub const PARENT: &str = "__global__ void far(int *p, int n);\n\
    __global__ void parent(int *p) { far<<<1, 32>>>(p, 7); }\n";
pub const FAR: &str = "__global__ void far(int *p, int n) { p[threadIdx.x] = n; }\n";
pub const OTHER: &str = "__global__ void other(int *p) { *p = 1; }\n";

/// What clang makes of `PARENT`, as far as it matters: the kernel is declared as a function.
pub const CLANG_PTX: &str = ".version 9.0\n.target sm_90\n.address_size 64\n\
    .extern .func _Z3farPii\n(\n.param .b64 _Z3farPii_param_0,\n.param .b32 _Z3farPii_param_1\n)\n;\n\
    .visible .global .align 8 .u64 table[1] = {_Z3farPii};\n\
    .visible .entry taker(.param .u64 out)\n{\n.reg .b64 %a, %o;\n\
    ld.param.u64 %o, [out];\ncvta.to.global.u64 %o, %o;\nmov.u64 %a, _Z3farPii;\n\
    st.global.u64 [%o], %a;\nret;\n}\n";

pub fn trials() -> Vec<Trial> {
    let (no_nvcc, no_clang) = (!oracle::has_nvcc(), !oracle::has_clang());
    let tests: Vec<(&str, bool, fn() -> Outcome)> = vec![
        ("cudadevrt_only_when_needed", false, cudadevrt),
        ("linked_cubins_are_refused", false, linked_cubins),
        ("objects_without_device_code", false, empty_objects),
        ("extern_func_kernels", false, extern_func),
        ("cdp1_with_cdp2", no_nvcc, mixed),
        ("names_that_begin_like_the_runtimes", false, similar_names),
        ("sm_87_has_no_device_runtime", false, sm_87),
        ("missing_kernels", false, missing),
        ("objects_of_nvcc", no_nvcc, by_nvcc),
        ("whole_program_objects_of_nvcc", no_nvcc, whole_program),
        ("objects_of_clang", no_clang, by_clang),
    ];
    tests
        .into_iter()
        .chain(crate::link_inputs::tests())
        .map(|(name, ignored, test)| {
            trial(format!("link::{name}"), test).with_ignored_flag(ignored)
        })
        .collect()
}

/// A folder with files, and the commands that work in it.
pub struct Bench {
    pub folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Result<Bench, Failed> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Bench { folder })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failed> {
        std::fs::write(self.path(name), text).map_err(|error| error.to_string())?;
        Ok(self.path(name))
    }

    /// Exit code, standard output, standard error.
    pub fn run(&self, command: &mut Command) -> Result<(i32, String, String), Failed> {
        let output = run_limited(command.current_dir(self.folder.path()), TIME_LIMIT)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ok((code, text(&output.stdout), text(&output.stderr)))
    }

    pub fn cdpc(&self, args: &[&str], code: i32) -> Result<(String, String), Failed> {
        let mut command = cdpc();
        // The tools of the repository, which the test's folder is not in.
        if let Some(kit) = compiler()?.toolchain().toolkits().first() {
            command.env("CUDA_HOME", &kit.root);
        }
        let (found, stdout, stderr) = self.run(command.args(args))?;
        if found == code {
            return Ok((stdout, stderr));
        }
        Err(format!("cdpc {args:?}: exit code {found}, not {code}\n{stdout}\n{stderr}").into())
    }

    /// A device object of ours.
    pub fn device_object(&self, name: &str, text: &str, more: &[&str]) -> Outcome {
        self.write(&format!("{name}.cdp"), text)?;
        let (source, object) = (format!("{name}.cdp"), format!("{name}.o"));
        let mut args = vec!["build", "--emit", "device-obj", &source, "-o", &object];
        args.extend(more);
        self.cdpc(&args, 0).map(|_| ())
    }

    pub fn nvcc(&self, args: &[&str]) -> Outcome {
        let nvcc = compiler()?.toolchain().nvcc().ok_or("no nvcc")?;
        let (code, _, stderr) = self.run(Command::new(nvcc).arg("-w").args(args))?;
        if code == 0 { Ok(()) } else { Err(format!("nvcc {args:?}: {code}\n{stderr}").into()) }
    }

    /// Runs a tool of the toolkit.
    pub fn tool(&self, name: &str, args: &[&str]) -> Outcome {
        let nvcc = compiler()?.toolchain().nvcc().ok_or("no toolkit")?;
        let (code, _, stderr) = self.run(Command::new(nvcc.with_file_name(name)).args(args))?;
        if code == 0 { Ok(()) } else { Err(format!("{name} {args:?}: {code}\n{stderr}").into()) }
    }

    /// The kernels of the program in a cubin.
    pub fn kernels(&self, name: &str) -> Result<Vec<String>, Failed> {
        let bytes = std::fs::read(self.path(name)).map_err(|error| error.to_string())?;
        let cubin = Cubin::read(&bytes).map_err(|error| error.to_string())?;
        let names = cubin.kernels.into_iter().map(|kernel| kernel.name);
        Ok(names.filter(|name| name.starts_with("_Z")).collect())
    }
}

pub fn contains(text: &str, parts: &[&str]) -> Outcome {
    match parts.iter().find(|part| !text.contains(**part)) {
        Some(part) => Err(format!("no `{part}` in:\n{text}").into()),
        None => Ok(()),
    }
}

pub fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, not {expected:?}").into()) }
}

fn cudadevrt() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", PARENT, &[])?;
    bench.device_object("far", FAR, &[])?;
    let linked = |args: &[&str]| -> Result<bool, Failed> {
        let args = [&["link", "-o", "out.cubin", "--report", "json"], args].concat();
        let (report, _) = bench.cdpc(&args, 0)?;
        let report: serde_json::Value =
            serde_json::from_str(&report).map_err(|error| error.to_string())?;
        report["cudadevrt_linked"].as_bool().ok_or_else(|| "no such entry".into())
    };
    equal(linked(&["far.o"])?, false)?;
    equal(linked(&["parent.o", "far.o"])?, true)?;
    equal(linked(&["far.o", "--cudadevrt", "always"])?, true)?;
    let args = ["link", "parent.o", "far.o", "-o", "x.cubin", "--cudadevrt", "never"];
    contains(&bench.cdpc(&args, 3)?.1, &["belong to the device runtime", "--cudadevrt auto"])
}

fn linked_cubins() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("other.cdp", OTHER)?;
    bench.cdpc(&["build", "other.cdp", "-o", "other.cubin"], 0)?;
    let (_, message) = bench.cdpc(&["link", "far.o", "other.cubin", "-o", "out.cubin"], 3)?;
    contains(&message, &["other.cubin", "linked already", "ptxas -c"])
}

fn empty_objects() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("host.c", "int host;\n")?;
    bench.run(Command::new("cc").args(["-c", "host.c"]))?;
    let (_, message) = bench.cdpc(&["link", "far.o", "host.o", "-o", "out.cubin"], 0)?;
    contains(&message, &["host.o", "holds no device code"])
}

fn extern_func() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("taker.ptx", CLANG_PTX)?;
    let args = ["link", "taker.ptx", "far.o", "-o", "out.cubin"];
    let (_, message) = bench.cdpc(&args, 3)?;
    contains(&message, &["is a kernel where it is defined", "--fix", "not declared __global__"])?;
    bench.cdpc(&[&args[..], &["--fix"]].concat(), 0)?;
    equal(bench.kernels("out.cubin")?, vec!["_Z3farPii".to_string()])
}

fn mixed() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", PARENT, &["--arch", "sm_75", "--cdp", "1"])?;
    let theirs = format!("{FAR}__global__ void own(int *p) {{ far<<<1, 1>>>(p, 2); }}\n");
    bench.write("theirs.cu", &theirs)?;
    bench.nvcc(&["-arch=sm_75", "-dc", "theirs.cu", "-o", "theirs.o"])?;
    let args = ["link", "--arch", "sm_75", "parent.o", "theirs.o", "-o", "out.cubin"];
    let (_, message) = bench.cdpc(&args, 3)?;
    contains(
        &message,
        &["parent.o", "CDP1", "theirs.o", "CDP2", "compile all inputs", "FORCE_CDP1"],
    )?;
    // The same version on both sides.
    let force = "-DCUDA_FORCE_CDP1_IF_SUPPORTED";
    bench.nvcc(&["-arch=sm_75", force, "-dc", "theirs.cu", "-o", "theirs.o"])?;
    bench.cdpc(&args, 0).map(|_| ())
}

/// A program's own function that is named like the device runtime's is no sign of CDP1.
fn similar_names() -> Outcome {
    let bench = Bench::new()?;
    let text = format!(
        "extern \"C\" __device__ int cudaHelper(int);\n{PARENT}{FAR}\
         __global__ void user(int *p) {{ *p = cudaHelper(3); }}\n"
    );
    bench.device_object("user", &text, &["--arch", "sm_75"])?;
    let helper = "extern \"C\" __device__ int cudaHelper(int n) { return n + 1; }\n";
    bench.device_object("helper", helper, &["--arch", "sm_75"])?;
    bench.cdpc(&["link", "--arch", "sm_75", "user.o", "helper.o", "-o", "out.cubin"], 0).map(|_| ())
}

fn sm_87() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", &format!("{PARENT}{FAR}"), &["--arch", "sm_87"])?;
    let args = ["link", "--arch", "sm_87", "parent.o", "-o", "out.cubin"];
    let (_, message) = bench.cdpc(&args, 3)?;
    contains(&message, &["no device runtime for sm_87", "sm_86", "sm_90"])?;
    // Without launches nothing is missing.
    bench.device_object("far", FAR, &["--arch", "sm_87"])?;
    bench.cdpc(&["link", "--arch", "sm_87", "far.o", "-o", "out.cubin"], 0).map(|_| ())
}

fn missing() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", PARENT, &[])?;
    let (_, message) = bench.cdpc(&["link", "parent.o", "-o", "out.cubin"], 3)?;
    contains(&message, &["no input defines", "far"])
}

/// Everything at once: PTX, a cubin, host objects of two compilers, a library.
fn by_nvcc() -> Outcome {
    let bench = Bench::new()?;
    bench.write("parent.cu", PARENT)?;
    bench.nvcc(&["-arch=sm_90", "-dc", "parent.cu", "-o", "parent.o"])?;
    bench.write("third.cu", "__global__ void third(int *p) { *p = 3; }\n")?;
    bench.nvcc(&["-arch=sm_90", "-dc", "-cubin", "third.cu", "-o", "third.cubin"])?;
    bench.write("far.cdp", FAR)?;
    bench.cdpc(&["build", "-c", "far.cdp", "-o", "far.o"], 0)?;
    bench.run(Command::new("ar").args(["rcs", "libfar.a", "far.o"]))?;
    bench.write("other.cdp", OTHER)?;
    bench.cdpc(&["build", "other.cdp", "-o", "other.ptx"], 0)?;
    let inputs = ["parent.o", "third.cubin", "other.ptx", "libfar.a"];
    bench.cdpc(&[&["link", "-o", "out.cubin"], &inputs[..]].concat(), 0)?;
    let wanted = ["_Z3farPii", "_Z5otherPi", "_Z5thirdPi", "_Z6parentPi"];
    equal(bench.kernels("out.cubin")?, wanted.map(String::from).to_vec())
}

fn whole_program() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("other.cu", OTHER)?;
    bench.nvcc(&["-arch=sm_90", "-c", "other.cu", "-o", "other.o"])?;
    let (_, message) = bench.cdpc(&["link", "far.o", "other.o", "-o", "out.cubin"], 3)?;
    contains(&message, &["other.o", "linked already", "nvcc -dc"])
}

/// Objects of clang's two drivers.
fn by_clang() -> Outcome {
    let bench = Bench::new()?;
    bench.write(
        "user.cu",
        &format!("{OTHER}__global__ void user(int *p) {{ other<<<1, 1>>>(p); }}\n"),
    )?;
    // Clang's CUDA wrapper includes a header that the wheels lack.
    bench.write("curand_mtgp32_kernel.h", "")?;
    bench.device_object("far", FAR, &[])?;
    for driver in ["--offload-new-driver", "--no-offload-new-driver"] {
        clang(&bench, &[driver, "--cuda-gpu-arch=sm_90"])?;
        bench.run(Command::new("ar").args(["rcs", "libuser.a", "user.o"]))?;
        for input in ["user.o", "libuser.a"] {
            bench.cdpc(&["link", "far.o", input, "-o", "out.cubin"], 0)?;
            // nvlink takes only what is wanted from a library that it reads itself.
            if input == "user.o" {
                let wanted = ["_Z3farPii", "_Z4userPi", "_Z5otherPi"];
                equal(bench.kernels("out.cubin")?, wanted.map(String::from).to_vec())?;
            }
        }
    }
    clang(&bench, &["--offload-new-driver", "--cuda-gpu-arch=sm_80"])?;
    let (_, message) = bench.cdpc(&["link", "far.o", "user.o", "-o", "out.cubin"], 3)?;
    contains(&message, &["user.o", "device code for sm_80 and not sm_90"])?;
    // Code that runs on the architecture all the same.
    bench.cdpc(&["link", "--arch", "sm_86", "user.o", "-o", "out.cubin"], 0)?;
    let kernels = ["_Z4userPi", "_Z5otherPi"].map(String::from).to_vec();
    equal(bench.kernels("out.cubin")?, kernels.clone())?;
    clang(&bench, &["--offload-new-driver", "--cuda-gpu-arch=sm_90"])?;
    bench.cdpc(&["link", "--arch", "sm_90a", "user.o", "-o", "out.cubin"], 0)?;
    equal(bench.kernels("out.cubin")?, kernels)
}

/// Compiles `user.cu` to `user.o`.
pub fn clang(bench: &Bench, args: &[&str]) -> Outcome {
    let nvcc = compiler()?.toolchain().nvcc().ok_or("no toolkit")?;
    let toolkit = nvcc.parent().and_then(Path::parent).ok_or("no toolkit")?;
    let mut command = Command::new("clang-22");
    command.args(["-x", "cuda", "-O2", "-fgpu-rdc", "-w", "-I.", "-c", "user.cu", "-o", "user.o"]);
    command.arg(format!("--cuda-path={}", toolkit.display())).args(args);
    let (code, _, stderr) = bench.run(&mut command)?;
    if code == 0 { Ok(()) } else { Err(format!("clang {args:?}: {code}\n{stderr}").into()) }
}
