//! `cdpc link`, what goes in: inputs that hold nothing for the link, in each of the ways that people
//! meet; libraries of everything; and kernels declared as functions, which `--fix` mends.

use std::process::Command;

use crate::linking::{Bench, CLANG_PTX, FAR, OTHER, PARENT, clang, contains, equal};
use crate::oracle;
use crate::support::Outcome;

/// Launches the kernel that `PARENT` defines.
const GRAND: &str = "__global__ void parent(int *p);\n\
    __global__ void grand(int *p) { parent<<<1, 1>>>(p); }\n";

/// Name, whether it cannot run here, and the test.
type Test = (&'static str, bool, fn() -> Outcome);

pub fn tests() -> Vec<Test> {
    let (no_nvcc, no_clang) = (!oracle::has_nvcc(), !oracle::has_clang());
    vec![
        ("files_that_are_no_objects", false, no_objects),
        ("libraries_of_device_objects", false, libraries),
        ("other_architectures", no_nvcc, other_archs),
        ("libraries_without_what_is_wanted", no_nvcc, poor_libraries),
        ("kernels_that_no_host_code_launches", no_nvcc, host_references),
        ("whole_program_fat_binaries", no_nvcc, whole_fatbins),
        ("ptx_for_a_newer_architecture", false, newer_ptx),
        ("mended_objects", false, mended_objects),
        ("mended_ptx_in_host_objects", no_nvcc, mended_ptx_members),
        ("mended_objects_of_clang", no_clang, mended_clang),
    ]
}

fn fails(bench: &Bench, inputs: &[&str], parts: &[&str]) -> Outcome {
    let args = [&["link", "-o", "out.cubin"], inputs].concat();
    contains(&bench.cdpc(&args, 3)?.1, parts)
}

fn links(
    bench: &Bench,
    inputs: &[&str],
    kernels: &[&str],
) -> Result<String, libtest_mimic::Failed> {
    let args = [&["link", "-o", "out.cubin"], inputs].concat();
    let (_, stderr) = bench.cdpc(&args, 0)?;
    equal(bench.kernels("out.cubin")?, kernels.iter().map(ToString::to_string).collect())?;
    Ok(stderr)
}

fn archive(bench: &Bench, args: &[&str]) -> Outcome {
    let (code, _, stderr) = bench.run(Command::new("ar").args(args))?;
    if code == 0 { Ok(()) } else { Err(stderr.into()) }
}

fn no_objects() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    archive(&bench, &["rcs", "libfar.a", "far.o"])?;
    archive(&bench, &["rcsT", "libthin.a", "far.o"])?;
    archive(&bench, &["rcs", "libempty.a"])?;
    let bytes = |name: &str| std::fs::read(bench.path(name)).map_err(|error| error.to_string());
    let write = |name: &str, bytes: &[u8]| std::fs::write(bench.path(name), bytes);
    let (object, library) = (bytes("far.o")?, bytes("libfar.a")?);
    let files: [(&str, &[u8], &[&str]); 8] = [
        ("nothing.o", b"", &["`nothing.o`", "it is empty"]),
        ("bitcode.o", b"BC\xc0\xde....", &["LLVM bitcode", "without -flto"]),
        ("text.o", CLANG_PTX.as_bytes(), &["PTX text", ".ptx"]),
        ("packed.o", b"\x1f\x8b\x08", &["compressed"]),
        ("other.o", b"what is this?", &["neither an object nor a library"]),
        ("cut.o", &object[..object.len() / 2], &["`cut.o`", "not a usable device object"]),
        ("cut.a", &library[..library.len() / 2], &["`cut.a`", "the library is cut off"]),
        ("table.a", &library[..100], &["`table.a`", "the library is cut off"]),
    ];
    for (name, contents, parts) in files {
        write(name, contents).map_err(|error| error.to_string())?;
        fails(&bench, &["far.o", name], parts)?;
    }
    fails(&bench, &["far.o", "libthin.a"], &["thin library", "`ar rcs`"])?;
    fails(
        &bench,
        &["libempty.a"],
        &["no input can be linked", "`libempty.a` holds no device code"],
    )?;
    // The device link does not care for the extension.
    std::fs::copy(bench.path("far.o"), bench.path("far.obj")).map_err(|error| error.to_string())?;
    links(&bench, &["far.obj"], &["_Z3farPii"]).map(|_| ())
}

/// nvlink does not look for device objects in libraries; what is wanted of them is linked all the same.
fn libraries() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", PARENT, &[])?;
    bench.device_object("grand", GRAND, &[])?;
    bench.device_object("far", FAR, &[])?;
    bench.device_object("other", OTHER, &[])?;
    archive(&bench, &["rcs", "libkernels.a", "other.o", "far.o", "parent.o"])?;
    links(&bench, &["parent.o", "libkernels.a"], &["_Z3farPii", "_Z6parentPi"])?;
    // What a member wants is wanted, too.
    let all = ["_Z3farPii", "_Z5grandPi", "_Z6parentPi"];
    links(&bench, &["libkernels.a", "grand.o"], &all)?;
    bench.write("other.cdp", OTHER)?;
    bench.cdpc(&["build", "other.cdp", "-o", "linked.cubin"], 0)?;
    archive(&bench, &["rcs", "liblinked.a", "linked.cubin"])?;
    let parts = ["no input defines", "`liblinked.a(linked.cubin)` is linked already"];
    fails(&bench, &["parent.o", "liblinked.a"], &parts)
}

fn other_archs() -> Outcome {
    let bench = Bench::new()?;
    bench.write("far.cu", FAR)?;
    bench.write("parent.cu", PARENT)?;
    let only = |arch: &str| format!("-gencode=arch=compute_{arch},code=sm_{arch}");
    bench.nvcc(&[&only("80"), "-dc", "far.cu", "-o", "far.o"])?;
    bench.nvcc(&[&only("80"), "-dc", "parent.cu", "-o", "parent.o"])?;
    bench.nvcc(&[&only("80"), "-rdc=true", "-fatbin", "far.cu", "-o", "far.fatbin"])?;
    for input in ["far.o", "far.fatbin"] {
        fails(&bench, &[input], &[input, "device code for sm_80 and not sm_90", "--arch"])?;
    }
    // Machine code of sm_80 runs on sm_86, launches and all.
    let both = ["_Z3farPii", "_Z6parentPi"];
    links(&bench, &["--arch", "sm_86", "parent.o", "far.o"], &both)?;
    bench.nvcc(&["-gencode=arch=compute_90,code=compute_90", "-dc", "far.cu", "-o", "ptx.o"])?;
    let parts = ["ptx.o", "device code for compute_90 and not sm_75"];
    fails(&bench, &["--arch", "sm_75", "ptx.o"], &parts)?;
    links(&bench, &["--arch", "sm_100", "ptx.o"], &["_Z3farPii"])?;
    bench.device_object("ours", FAR, &["--arch", "sm_80"])?;
    fails(&bench, &["ours.o"], &["another architecture than sm_90", "`ours.o` is for sm_80"])
}

fn poor_libraries() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("parent", PARENT, &[])?;
    bench.write("far.cu", FAR)?;
    bench.nvcc(&["-gencode=arch=compute_80,code=sm_80", "-dc", "far.cu", "-o", "far80.o"])?;
    bench.nvcc(&["-arch=sm_90", "-c", "far.cu", "-o", "whole.o"])?;
    archive(&bench, &["rcs", "libfar.a", "far80.o", "whole.o"])?;
    let parts = [
        "no input defines `_Z3farPii`",
        "`libfar.a(far80.o)` holds device code for sm_80, not sm_90",
        "`libfar.a(whole.o)` is compiled as a whole program",
    ];
    fails(&bench, &["parent.o", "libfar.a"], &parts)
}

fn host_references() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    let main = "int main() { parent<<<1, 1>>>(0); }\n";
    bench.write("main.cu", &format!("{PARENT}{OTHER}{main}"))?;
    bench.nvcc(&["-arch=sm_90", "-dc", "main.cu", "-o", "main.o"])?;
    let all = ["_Z3farPii", "_Z5otherPi", "_Z6parentPi"];
    links(&bench, &["main.o", "far.o"], &all).map(|_| ())
}

fn whole_fatbins() -> Outcome {
    let bench = Bench::new()?;
    bench.write("far.cu", FAR)?;
    bench.nvcc(&["-arch=sm_90", "-fatbin", "far.cu", "-o", "far.fatbin"])?;
    fails(&bench, &["far.fatbin"], &["`far.fatbin` is linked already", "nvcc -dc"])
}

fn newer_ptx() -> Outcome {
    let bench = Bench::new()?;
    bench.write("far.cdp", FAR)?;
    bench.cdpc(&["build", "far.cdp", "--arch", "sm_100", "-o", "far.ptx"], 0)?;
    fails(
        &bench,
        &["far.ptx"],
        &["the PTX of `far` is for sm_100", "not for sm_90", "raise --arch"],
    )
}

/// What wants `taker` of `CLANG_PTX`.
fn user_ptx() -> String {
    let renamed = [("_Z3farPii", "taker"), ("entry taker", "entry user"), ("table", "takers")];
    renamed.iter().fold(CLANG_PTX.to_string(), |text, (from, to)| text.replace(from, to))
}

/// A device object of ptxas, made of PTX as clang writes it.
fn mended_objects() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("taker.ptx", CLANG_PTX)?;
    bench.tool("ptxas", &["-arch=sm_90", "-c", "taker.ptx", "-o", "taker.o"])?;
    let parts = ["`taker.o` declares it so", "link with --fix"];
    fails(&bench, &["taker.o", "far.o"], &parts)?;
    let stderr = links(&bench, &["--fix", "taker.o", "far.o"], &["_Z3farPii"])?;
    contains(&stderr, &["`taker.o` declares `_Z3farPii` as a function", "linked with"])?;
    archive(&bench, &["rcs", "libtaker.a", "taker.o"])?;
    bench.write("user.ptx", &user_ptx())?;
    links(&bench, &["--fix", "user.ptx", "libtaker.a", "far.o"], &["_Z3farPii"])?;
    // One that is called is no kernel, whatever the other file says.
    let call = ".version 9.0\n.target sm_90\n.address_size 64\n\
        .extern .func _Z3farPii (.param .b64 p, .param .b32 n);\n\
        .visible .entry caller() { .param .b64 p; .param .b32 n; call.uni _Z3farPii, (p, n); ret; }\n";
    bench.write("call.ptx", call)?;
    let parts = ["`_Z3farPii` as a function, which cannot be mended", "it is used as a function"];
    fails(&bench, &["--fix", "call.ptx", "far.o"], &parts)
}

/// Host objects and fat binaries that have only PTX for the architecture.
fn mended_ptx_members() -> Outcome {
    let bench = Bench::new()?;
    bench.device_object("far", FAR, &[])?;
    bench.write("taker.ptx", CLANG_PTX)?;
    let image = "--image3=kind=ptx,sm=90,file=taker.ptx";
    bench.tool(
        "fatbinary",
        &["--create=taker.fatbin", "-64", "--device-c", "--compress=true", image],
    )?;
    // A host object is one for nvlink by its segment.
    let text = ".section __nv_relfatbin,\"a\"\nimage:\n.incbin \"taker.fatbin\"\n\
        .section .nvFatBinSegment,\"aw\"\n.int 0x466243b1, 1\n.quad image\n.quad 0\n";
    bench.write("taker.s", text)?;
    bench.run(Command::new("cc").args(["-c", "taker.s"]))?;
    archive(&bench, &["rcs", "libtaker.a", "taker.o"])?;
    bench.write("user.ptx", &user_ptx())?;
    for inputs in [&["taker.fatbin"][..], &["taker.o"], &["user.ptx", "libtaker.a"]] {
        let inputs = [inputs, &["far.o"]].concat();
        fails(&bench, &inputs, &["is a kernel where it is defined"])?;
        let stderr = links(&bench, &[&["--fix"], &inputs[..]].concat(), &["_Z3farPii"])?;
        contains(&stderr, &["declares `_Z3farPii` as a function"])?;
    }
    Ok(())
}

/// Both drivers of clang, alone and in a library.
fn mended_clang() -> Outcome {
    let bench = Bench::new()?;
    bench.write("user.cu", PARENT)?;
    bench.write("curand_mtgp32_kernel.h", "")?;
    bench.device_object("far", FAR, &[])?;
    bench.device_object("grand", GRAND, &[])?;
    for driver in ["--offload-new-driver", "--no-offload-new-driver"] {
        clang(&bench, &[driver, "--cuda-gpu-arch=sm_90"])?;
        archive(&bench, &["rcs", "libuser.a", "user.o"])?;
        fails(&bench, &["user.o", "far.o"], &["`user.o` declares it so", "--fix"])?;
        links(&bench, &["--fix", "user.o", "far.o"], &["_Z3farPii", "_Z6parentPi"])?;
        let all = ["_Z3farPii", "_Z5grandPi", "_Z6parentPi"];
        links(&bench, &["--fix", "grand.o", "libuser.a", "far.o"], &all)?;
        std::fs::remove_file(bench.path("libuser.a")).map_err(|error| error.to_string())?;
    }
    Ok(())
}
