//! Objects of relocatable device code beside sources: their kernels are launched by their own host code and
//! by that of the sources, whoever compiled them, with machine code for a GPU inside and without.

use std::process::Command;

use libtest_mimic::Trial;

use crate::linking::{Bench, clang, contains, equal};
use crate::oracle;
use crate::run::runtime_library;
use crate::support::{Outcome, trial};

/// A kernel, variables of each kind, and host code that launches and sets them.
const THEIRS: &str = r#"
__device__ int counter = 5;
__constant__ int factor = 1;
__managed__ int shift = 1;
__global__ void far(int *p, int n) { p[threadIdx.x] = (n + counter) * factor + shift + threadIdx.x; }
void set_factor(int n) { cudaMemcpyToSymbol(factor, &n, sizeof n); shift = 1000; }
void launch_far(int *p, int n) { far<<<1, 4>>>(p, n); }
"#;

/// As `THEIRS`, for compilers that leave managed variables to nvcc.
fn without_managed() -> String {
    THEIRS
        .replace("__managed__ int shift = 1", "static int shift")
        .replace(" + shift +", " + 1000 +")
}

/// Launches the kernel itself, from a kernel of its own, and through the other file's host code.
const MAIN: &str = r#"
#include <stdio.h>
__global__ void far(int *p, int n);
void launch_far(int *p, int n);
void set_factor(int n);
__global__ void parent(int *p) { far<<<1, 4>>>(p, 7); }
void show(const char *name, int *p) {
    printf("%s %d:", name, (int)cudaDeviceSynchronize());
    for (int i = 0; i < 4; ++i) { printf(" %d", p[i]); p[i] = 0; }
    printf("\n");
}
int main() {
    int *p;
    cudaMallocManaged((void **)&p, 16);
    set_factor(10);
    launch_far(p, 1);
    show("theirs", p);
    parent<<<1, 1>>>(p);
    show("child", p);
    far<<<1, 4>>>(p, 3);
    show("ours", p);
    return 0;
}
"#;
const SHOWN: &str =
    "theirs 0: 1060 1061 1062 1063\nchild 0: 1120 1121 1122 1123\nours 0: 1080 1081 1082 1083\n";

pub fn trials() -> Vec<Trial> {
    let (no_nvcc, no_clang) = (!oracle::has_nvcc(), !oracle::has_clang());
    let tests: Vec<(&str, bool, fn() -> Outcome)> = vec![
        ("of_nvcc", no_nvcc, of_nvcc),
        ("of_nvcc_in_a_library", no_nvcc, library),
        ("of_nvcc_linked_by_nvcc", no_nvcc, linked_by_nvcc),
        ("of_nvcc_without_ptx", no_nvcc, without_ptx),
        ("virtual_tables_beside_nvcc", no_nvcc || no_clang, virtual_tables),
        ("of_clang", no_clang, of_clang),
        ("of_ours", false, of_ours),
        ("linked_as_for_nvcc", no_clang, linked_as_for_nvcc),
        ("kernels_of_another_compiler", no_clang, both_ways),
        ("fat_binaries", no_nvcc, fat_binaries),
    ];
    tests
        .into_iter()
        .map(|(name, ignored, test)| {
            trial(format!("objects::{name}"), test).with_ignored_flag(ignored)
        })
        .collect()
}

fn bench(theirs: &str) -> Result<Bench, libtest_mimic::Failed> {
    let bench = Bench::new()?;
    bench.write("far.cu", theirs)?;
    for name in ["main.cdp", "main.cu"] {
        bench.write(name, MAIN)?;
    }
    Ok(bench)
}

/// Builds a program for GPUs as well, and runs it on the CPU device.
fn shows(bench: &Bench, inputs: &[&str]) -> Outcome {
    bench.cdpc(&[&["build", "-o", "program"], inputs].concat(), 0)?;
    let mut program = Command::new(bench.path("program"));
    let (code, stdout, stderr) = bench.run(program.env("CDP_DEVICE", "cpu"))?;
    equal((code, stdout.as_str(), stderr.as_str()), (0, SHOWN, ""))?;
    // Without machine code.
    let (stdout, _) = bench.cdpc(&[&["run", "--device", "cpu"], inputs].concat(), 0)?;
    equal(stdout.as_str(), SHOWN)
}

fn of_nvcc() -> Outcome {
    let bench = bench(THEIRS)?;
    bench.nvcc(&["-arch=sm_90", "-dc", "far.cu", "-o", "far.o"])?;
    shows(&bench, &["main.cdp", "far.o"])?;
    shows(&bench, &["far.o", "main.cdp"])?;
    if oracle::has_clang() { shows(&bench, &["main.cu", "far.o"]) } else { Ok(()) }
}

fn library() -> Outcome {
    let bench = bench(THEIRS)?;
    bench.nvcc(&["-arch=sm_90", "-dc", "far.cu", "-o", "far.o"])?;
    // A member that nobody names registers itself as well, as with nvcc.
    bench.write("other.cu", "__global__ void other() {}\n")?;
    bench.nvcc(&["-arch=sm_90", "-dc", "other.cu", "-o", "other.o"])?;
    bench.run(Command::new("ar").args(["rcs", "libfar.a", "far.o", "other.o"]))?;
    shows(&bench, &["libfar.a", "main.cdp"])
}

/// What nvcc's device link registers is nvcc's, and comes with an image of its own.
fn linked_by_nvcc() -> Outcome {
    let bench = bench("")?;
    bench.write("own.cu", &THEIRS.replace("counter", "tally"))?;
    bench.nvcc(&["-arch=sm_90", "-dc", "own.cu", "-o", "own.o"])?;
    bench.nvcc(&["-arch=sm_90", "-dlink", "own.o", "-o", "link.o"])?;
    let near = "__global__ void near(int *p) { *p = 6; }\n\
        void launch_near(int *p) { near<<<1, 1>>>(p); }\n";
    bench.write("near.cu", near)?;
    bench.nvcc(&["-arch=sm_90", "-dc", "near.cu", "-o", "near.o"])?;
    let (before, _) = MAIN.split_once("    parent<<<").unwrap_or_default();
    let main = before.replace("parent(int *p)", "parent(int *p, int)").replace("far<<<", "// <<<");
    let main = main.replace("); }\nvoid show", ");\n}\nvoid launch_near(int *p);\nvoid show");
    let rest = "    launch_near(p);\n    show(\"near\", p);\n    return 0;\n}\n";
    bench.write("main.cdp", &format!("{main}{rest}"))?;
    bench.cdpc(&["build", "-o", "program", "main.cdp", "near.o", "own.o", "link.o"], 0)?;
    let (code, stdout, stderr) =
        bench.run(Command::new(bench.path("program")).env("CDP_DEVICE", "cpu"))?;
    let shown = "theirs 0: 1060 1061 1062 1063\nnear 0: 6 0 0 0\n";
    equal((code, stdout.as_str(), stderr.as_str()), (0, shown, ""))
}

/// Classes whose first virtual function that is not inline is in one file, and which another one makes: nvcc has no
/// table in the first, and clang none in the second.
const CLASSES: &str = "\
struct Tone { int base; __device__ Tone(int b) : base(b) {} __device__ virtual int at(int n) const;
  __device__ virtual int twice(int n) const { return 2 * at(n); } };
struct Low : virtual Tone { __device__ Low(int b = 3) : Tone(b) {} __device__ int at(int n) const override; };
struct Both : Low { int more; __device__ Both() : Tone(5), Low(5), more(100) {} __device__ virtual int extra() const; };
";
const FUNCTIONS: &str = "#include \"tone.h\"
__device__ int Tone::at(int n) const { return base + n; }
__device__ int Low::at(int n) const { return base * n; }
__device__ int Both::extra() const { return more + twice(1); }
";
const MAKES: &str = "#include \"tone.h\"
#include <stdio.h>
__device__ int ask(const Tone &tone) { return tone.twice(10); }
__global__ void make(int *p) {
  Tone tone(1); Low low; Both both;
  p[0] = ask(tone); p[1] = ask(low); p[2] = ask(both); p[3] = both.extra();
}
int main() {
  int *p;
  cudaMallocManaged((void **)&p, 16);
  make<<<1, 1>>>(p);
  printf(\"%d:\", (int)cudaDeviceSynchronize());
  printf(\" %d %d %d %d\\n\", p[0], p[1], p[2], p[3]);
  return 0;
}
";

fn virtual_tables() -> Outcome {
    let bench = Bench::new()?;
    bench.write("tone.h", CLASSES)?;
    bench.write("functions.cu", FUNCTIONS)?;
    bench.write("makes.cu", MAKES)?;
    for source in ["functions", "makes"] {
        let (file, object) = (format!("{source}.cu"), format!("{source}.o"));
        bench.nvcc(&["-arch=sm_90", "-dc", &file, "-o", &object])?;
    }
    for inputs in
        [["makes.cu", "functions.cu"], ["makes.cu", "functions.o"], ["functions.cu", "makes.o"]]
    {
        bench.cdpc(&[&["build", "-arch=sm_90", "-o", "program"], &inputs[..]].concat(), 0)?;
        let (code, stdout, stderr) =
            bench.run(Command::new(bench.path("program")).env("CDP_DEVICE", "cpu"))?;
        equal((code, stdout.as_str(), stderr.as_str()), (0, "0: 22 60 100 110\n", ""))?;
    }
    Ok(())
}

const FIRST: &str = r#"
#include "second.h"
#include <cstdio>
int main()
{
    int *out;
    cudaMallocManaged(&out, 4);
    root<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    return *out - 6;
}
"#;
const SECOND: &str = r#"
#include "second.h"
__global__ void leaf(int *out) { *out = 6; }
__global__ void root(int *out) { leaf<<<1, 1>>>(out); }
"#;

/// Objects become programs as in the lines that people have for nvcc: by the compiler, and by the host's linker behind a
/// device link for two architectures.
fn linked_as_for_nvcc() -> Outcome {
    const TWO: [&str; 2] =
        ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"];
    let bench = Bench::new()?;
    bench.write("second.h", "__global__ void root(int *out);\n")?;
    bench.write("first.cu", FIRST)?;
    bench.write("second.cu", SECOND)?;
    let build = |words: &[&str]| bench.cdpc(&[&["build"], &TWO[..], words].concat(), 0);
    build(&["-dc", "first.cu", "-o", "first.o"])?;
    build(&["-dc", "second.cu", "-o", "second.o"])?;
    build(&["first.o", "second.o", "-o", "by_us"])?;
    build(&["-dlink", "first.o", "second.o"])?;
    let library = runtime_library().ok_or("libcdp_runtime.a is missing")?;
    let mut link = Command::new("c++");
    link.args(["first.o", "second.o", "a_dlink.o", "-o", "by_linker"]).arg(library);
    let (code, _, stderr) = bench.run(link.args(["-lpthread", "-ldl", "-lm"]))?;
    equal((code, stderr.as_str()), (0, ""))?;
    for program in ["by_us", "by_linker"] {
        let mut program = Command::new(bench.path(program));
        let (code, _, stderr) = bench.run(program.env("CDP_DEVICE", "cpu"))?;
        equal((code, stderr.as_str()), (0, ""))?;
    }
    Ok(())
}

fn without_ptx() -> Outcome {
    let bench = bench(THEIRS)?;
    bench.nvcc(&["-gencode=arch=compute_90,code=sm_90", "-dc", "far.cu", "-o", "far.o"])?;
    let (_, stderr) = bench.cdpc(&["run", "--device", "cpu", "main.cdp", "far.o"], 2)?;
    contains(&stderr, &["far.o holds machine code and no PTX", "nvcc -dc -arch=sm_90"])?;
    // For a GPU it is enough.
    bench.cdpc(&["build", "-o", "program", "main.cdp", "far.o"], 0)?;
    let (_, _, stderr) = bench.run(Command::new(bench.path("program")).env("CDP_DEVICE", "cpu"))?;
    contains(&stderr, &["the program carries machine code for sm_90 and no PTX"])
}

fn of_clang() -> Outcome {
    let bench = bench(&without_managed())?;
    bench.write("user.cu", &without_managed())?;
    bench.write("curand_mtgp32_kernel.h", "")?;
    let args = ["--cuda-gpu-arch=sm_90", "--cuda-include-ptx=all"];
    clang(&bench, &[&["--no-offload-new-driver"][..], &args].concat())?;
    shows(&bench, &["main.cdp", "user.o"])?;
    // The new driver puts no PTX into objects: they are for GPUs.
    clang(&bench, &[&["--offload-new-driver"][..], &args].concat())?;
    bench.cdpc(&["build", "-o", "program", "main.cdp", "user.o"], 0)?;
    let (_, stderr) = bench.cdpc(&["run", "--device", "cpu", "main.cdp", "user.o"], 2)?;
    contains(&stderr, &["user.o holds machine code and no PTX", "--no-offload-new-driver"])
}

/// What `cdpc build -c` makes for nvcc.
fn of_ours() -> Outcome {
    let bench = bench("")?;
    bench.write("far.cdp", THEIRS)?;
    bench.cdpc(&["build", "-c", "far.cdp", "-o", "far.o"], 0)?;
    shows(&bench, &["main.cdp", "far.o"])
}

/// Host code of each front end launches the other's kernels.
fn both_ways() -> Outcome {
    let bench = bench("")?;
    bench.write("far.cdp", &without_managed())?;
    bench.write("theirs.cu", &without_managed())?;
    shows(&bench, &["main.cu", "far.cdp"])?;
    shows(&bench, &["main.cdp", "theirs.cu"])
}

/// They have no host half: the source has it all.
fn fat_binaries() -> Outcome {
    let bench = Bench::new()?;
    bench.write("far.cu", "__global__ void far(int *p, int n) { *p = 3 * n; }\n")?;
    let args = ["-arch=sm_90", "-rdc=true", "-fatbin", "far.cu", "-o", "far.fatbin"];
    bench.nvcc(&args)?;
    let main = "#include <stdio.h>\n__global__ void far(int *p, int n);\n\
        __global__ void parent(int *p) { far<<<1, 1>>>(p, 14); }\n\
        int main() {\n  int *p;\n  cudaMallocManaged((void **)&p, 4);\n  parent<<<1, 1>>>(p);\n  \
        printf(\"%d %d\\n\", (int)cudaDeviceSynchronize(), *p);\n  return 0;\n}\n";
    bench.write("main.cdp", main)?;
    let (stdout, _) = bench.cdpc(&["run", "--device", "cpu", "main.cdp", "far.fatbin"], 0)?;
    equal(stdout.as_str(), "0 42\n")
}
