//! Programs of several `.cu` files and of objects made of them, linked by `cdpc` and by nvcc: what is `static` in several
//! files, and managed variables of all.

use std::path::Path;
use std::process::Command;

use crate::cuda::{COMPUTE_90, contains, finish, folder, link_by_nvcc, run_in, succeed, write};
use crate::oracle;
use crate::run::{execute, runtime_library};
use crate::support::Outcome;

/// A file of the program of [`objects`] and [`static_names`]: both have `static` things of the same names.
fn part(letter: char) -> String {
    format!(
        "static __device__ int x = '{letter}';
static __device__ int helper() {{ return x; }}
namespace {{
__device__ int y = 1;
__global__ void anonymous(int *p) {{ *p += y + helper(); }}
}}
static __global__ void k(int *p) {{ *p = helper(); anonymous<<<1, 1>>>(p); }}
int run_{letter}() {{
    int *p, h;
    cudaMallocManaged(&p, sizeof *p);
    k<<<1, 1>>>(p);
    if (cudaDeviceSynchronize() != cudaSuccess) return -1;
    cudaMemcpyFromSymbol(&h, x, sizeof h);
    return *p + 1000 * h;
}}\n"
    )
}

fn write_parts(dir: &Path) -> Outcome {
    let main = "#include <cstdio>\nint run_b();\n\
                int main() { std::printf(\"%d %d\\n\", run_a(), run_b()); }\n";
    write(dir, "a.cu", &(part('a') + main))?;
    std::fs::create_dir(dir.join("sub")).map_err(|error| error.to_string())?;
    // The same name in another folder.
    write(&dir.join("sub"), "a.cu", &part('b'))
}

const PARTS_SAY: &str = "97195 98197\n";

/// What is `static` in several files stays apart.
pub fn static_names() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write_parts(dir)?;
    succeed(dir, &["build", "a.cu", "sub/a.cu", "-o", "program"])?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output", PARTS_SAY)
}

/// A file of the program of [`own_names`]: both define variables and functions of the same names.
fn own_part(letter: char) -> String {
    format!(
        "#include <cstdio>
__constant__ int size;
__device__ int counter, from_{letter} = 1;
static __managed__ int shown;
__device__ int step(int n) {{ return n * size + '{letter}'; }}
static __global__ void child(int n) {{ atomicAdd(&counter, step(n)); shown += from_{letter}; }}
__global__ void parent_{letter}(int n) {{ child<<<1, 1>>>(n); }}
int run_{letter}(int value) {{
    cudaMemcpyToSymbol(size, &value, sizeof value);
    parent_{letter}<<<1, 1>>>(10);
    if (cudaDeviceSynchronize() != cudaSuccess) return -1;
    int sum;
    cudaMemcpyFromSymbol(&sum, counter, sizeof sum);
    return sum * 10 + shown;
}}\n"
    )
}

/// Without `-rdc=true` files may define variables and functions of device code of the same names, as for nvcc.
pub fn own_names() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let main = "int run_b(int);\nint main() { std::printf(\"%d %d %d\\n\", run_a(2), run_b(5), run_a(3)); }\n";
    write(dir, "a.cu", &(own_part('a') + main))?;
    write(dir, "b.cu", &own_part('b'))?;
    // The sums of both: 20 + 97, 50 + 98, and 30 + 97 more.
    let says = "1171 1481 2442\n";
    for how in ["-O3", "-rdc=false"] {
        let build = ["build", how, "a.cu", "b.cu", "-o", "program"];
        succeed(dir, &build)?;
        let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
        execute(&program, "output", says)?;
    }
    let (code, _, stderr) = run_in(dir, &["build", "-rdc=true", "a.cu", "b.cu", "-o", "program"])?;
    if code == 0 {
        return Err("-rdc=true links variables of one name".into());
    }
    contains("the message", &stderr, "is defined in more than one input")
}

/// `-c` makes an object that cdpc, and nvcc's device link with the system's linker, make programs of; the
/// same object every time, and an error for what it cannot hold.
pub fn objects() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write_parts(dir)?;
    succeed(dir, &["build", "-c", "a.cu", "-o", "a.o", "--arch", "sm_80,sm_90"])?;
    let sub = dir.join("sub");
    succeed(&sub, &["build", "--emit", "obj", "a.cu", "-o", "a.o", "-MMD"])?;
    let read_object = || std::fs::read(dir.join("sub/a.o")).map_err(|error| error.to_string());
    let first = read_object()?;
    succeed(&sub, &["build", "-dc", "a.cu", "-o", "a.o"])?;
    if read_object()? != first {
        return Err("the object is another one the second time".into());
    }
    succeed(dir, &["build", "a.o", "sub/a.o", "--emit", "exe", "-o", "program"])?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output of what cdpc linked", PARTS_SAY)?;
    if oracle::has_nvcc() {
        link_by_nvcc(dir, COMPUTE_90, &["a.o", "sub/a.o"])?;
        let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
        execute(&program, "output of what nvcc linked", PARTS_SAY)?;
    }
    Ok(())
}

/// Host code of two kinds with device code of its own, each complete in itself.
const ALONE: [(&str, &str); 2] = [
    (
        "main.cu",
        "#include <cstdio>
__managed__ int level = 3;
__device__ int own = 4;
template <class T> __global__ void add(T *to) { *to += own + threadIdx.x; level *= 2; }
int of_cdp();
int main() {
    int *p, h = 0;
    cudaMalloc(&p, sizeof *p);
    cudaMemset(p, 0, sizeof *p);
    add<<<1, 1>>>(p);
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    std::printf(\"%d %d %d\\n\", h, level, of_cdp());
}
",
    ),
    (
        "part.cdp",
        "static __device__ int own = 50;
__global__ void get(int *to) { *to = own; }
int of_cdp() {
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    get<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p;
}
",
    ),
];
const ALONE_SAY: &str = "4 6 50\n";

/// What `-c` makes of a file whose device code needs nothing of others the system's linker completes with a runtime, as what
/// nvcc makes of it; a device link takes it in all the same. With `-rdc=true` it is left to a device link.
pub fn objects_alone() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let runtime = runtime_library().ok_or("libcdp_runtime.a is missing")?;
    let link = |objects: &[&str]| {
        let mut link = Command::new("c++");
        link.args(["-o", "program"]).args(objects).arg(&runtime);
        finish(link.args(["-lpthread", "-ldl", "-lm"]).current_dir(dir))
    };
    let says = |what: &str| {
        let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
        execute(&program, what, ALONE_SAY)
    };
    for (name, text) in ALONE {
        write(dir, name, text)?;
    }
    for more in ["-rdc=false", "-G"] {
        succeed(dir, &["build", "-c", more, "main.cu", "-o", "main.o"])?;
        succeed(dir, &["build", "-c", more, "part.cdp", "-o", "part.o", "-arch=sm_80,sm_90"])?;
        link(&["main.o", "part.o"])?;
        says("output of what c++ linked")?;
    }
    succeed(dir, &["build", "main.o", "part.o", "-o", "program"])?;
    says("output of what cdpc linked")?;
    succeed(dir, &["build", "-dlink", "main.o", "part.o", "-o", "link.o"])?;
    link(&["main.o", "part.o", "link.o"])?;
    says("output with a device link by cdpc")?;
    if oracle::has_nvcc() {
        link_by_nvcc(dir, COMPUTE_90, &["main.o", "part.o"])?;
        says("output with a device link by nvcc")?;
    }
    succeed(dir, &["build", "-c", "-rdc=true", "part.cdp", "-o", "part.o"])?;
    match link(&["main.o", "part.o"]) {
        Ok(()) => Err("relocatable code is linked without a device link".into()),
        Err(error) => contains(
            "the linker's error",
            error.message().unwrap_or_default(),
            "__cudaRegisterLinkedBinary_cdp_",
        ),
    }
}

/// Two files of managed variables: one declares the other's, both have a `static` one of one name.
const MANAGED: [(&str, &str); 2] = [
    (
        "m.cu",
        "#include <cstdio>
__managed__ int level = 3;
static __managed__ int own = 10;
namespace deep { __managed__ double ratio[2] = {0.5, 0.25}; }
__global__ void child(int n) { atomicAdd(&level, n); own += n; deep::ratio[1] *= 2; }
void other();
void first() { child<<<1, 1>>>(4); other(); cudaDeviceSynchronize();
    int copied; cudaMemcpyFromSymbol(&copied, level, sizeof copied);
    printf(\"%d %d %d %g\\n\", level, copied, own, deep::ratio[1]); }
",
    ),
    (
        "n.cu",
        "#include <cstdio>
extern __managed__ int level;
static __managed__ int own = 20;
__global__ void child(int n);
__global__ void parent(int n) { child<<<1, 1>>>(n); own += 1; }
void other() { cudaDeviceSynchronize(); level += 100; parent<<<1, 1>>>(own); cudaDeviceSynchronize(); printf(\"%d\\n\", own); }
void first();
int main() { first(); return 0; }
",
    ),
];
const MANAGED_SAY: &str = "21\n127 127 34 1\n";

/// Objects of files with managed variables register themselves with NVIDIA's runtime too.
pub fn managed_objects() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    for (name, text) in MANAGED {
        write(dir, name, text)?;
    }
    for name in ["m", "n"] {
        let (source, object) = (format!("{name}.cu"), format!("{name}.o"));
        succeed(dir, &["build", "-c", &source, "-o", &object, "--arch", "sm_90"])?;
    }
    let run = |who: &str| {
        let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
        execute(&program, &format!("output of what {who} linked"), MANAGED_SAY)
    };
    succeed(dir, &["build", "m.o", "n.o", "--emit", "exe", "-o", "program"])?;
    run("cdpc")?;
    succeed(dir, &["build", "m.cu", "n.o", "-o", "program"])?;
    run("cdpc of a source and an object")?;
    if !oracle::has_nvcc() {
        return Ok(());
    }
    link_by_nvcc(dir, COMPUTE_90, &["m.o", "n.o"])?;
    run("nvcc")?;
    // Either file by nvcc, which declares and defines a variable of the other.
    for (theirs, ours) in [("m", "n"), ("n", "m")] {
        let (source, object) = (format!("{theirs}.cu"), format!("{theirs}.nvcc.o"));
        let mut compile =
            std::process::Command::new(oracle::nvcc_toolkit()?.nvcc.clone().ok_or("no nvcc")?);
        compile.current_dir(dir).args([COMPUTE_90, "-dc", &source, "-o", &object]);
        finish(&mut compile)?;
        for beside in [format!("{ours}.o"), format!("{ours}.cu")] {
            succeed(dir, &["build", &beside, &object, "--emit", "exe", "-o", "program"])?;
            run(&format!("cdpc of {object} and {beside}"))?;
        }
        link_by_nvcc(dir, COMPUTE_90, &[&object, &format!("{ours}.o")])?;
        run(&format!("nvcc of {object}"))?;
    }
    Ok(())
}

/// Files of C and C++ without device code are compiled as nvcc has them compiled: for the host, with CUDA's headers, and
/// C as C. They go with `.cu` and `.cdp`, may have the name of another input, and `-c` makes objects of them.
pub fn host_files() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let main = "#include <cuda_runtime.h>
#include <iostream>
#include \"parts.h\"
#ifdef __CUDACC__
#error \"not CUDA\"
#endif
int main() {
    auto print = [](const char *what, int value) { std::cout << what << ' ' << value << std::endl; };
    int *p = nullptr;
    if (cudaMallocManaged(&p, sizeof *p) != cudaSuccess) return 1;
    *p = class_of(SEVEN);
    print(\"C\", *p);
    run_cuda(p);
    print(\"CUDA\", *p);
    run_own(p);
    print(\"cdp\", *p);
    return cudaFree(p);
}\n";
    write(dir, "main.cpp", main)?;
    let parts = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint class_of(int);\nvoid run_cuda(int *);\n\
                 void run_own(int *);\n#ifdef __cplusplus\n}\n#endif\n";
    write(dir, "parts.h", parts)?;
    write(
        dir,
        "parts.c",
        "#include \"parts.h\"\nint class_of(int new) { int class = new; return class * SEVEN; }\n",
    )?;
    let kernel = |name: &str, amount: u32| {
        format!(
            "#include \"parts.h\"\n__global__ void {name}_child(int *p) {{ *p += {amount}; }}\n\
             __global__ void {name}(int *p) {{ {name}_child<<<1, 1>>>(p); }}\n\
             extern \"C\" void run_{name}(int *p) {{ {name}<<<1, 1>>>(p); cudaDeviceSynchronize(); }}\n"
        )
    };
    // One name for three inputs.
    write(dir, "main.cu", &kernel("cuda", 100))?;
    write(dir, "main.cdp", &kernel("own", 1000))?;
    let says = "C 49\nCUDA 149\ncdp 1149\n";
    succeed(
        dir,
        &["build", "main.cpp", "parts.c", "main.cu", "main.cdp", "-DSEVEN=7", "-o", "program"],
    )?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output", says)?;

    succeed(dir, &["build", "-c", "main.cpp", "-DSEVEN=7", "-o", "main.o"])?;
    succeed(dir, &["check", "parts.c", "main.cpp", "-DSEVEN=7"])?;
    succeed(
        dir,
        &["build", "main.o", "parts.c", "main.cu", "main.cdp", "-DSEVEN=7", "-o", "program"],
    )?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output with an object", says)
}

/// Libraries of `-l` are looked into for device code, which the host's linker knows nothing of.
pub fn libraries() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let declared = "__device__ int tripled(int x);\n__global__ void child(int *p);\n";
    let part = "__device__ int count = 5;\n__device__ int tripled(int x) { return 3 * x + count; }\n\
                __global__ void child(int *p) { *p = tripled(*p); }\n";
    write(dir, "part.cu", &format!("{declared}{part}"))?;
    let main = "#include <cstdio>
__global__ void parent(int *p) { child<<<1, 1>>>(p); }
int main() {
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    *p = 2;
    parent<<<1, 1>>>(p);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf(\"%d\\n\", *p);
}\n";
    write(dir, "main.cu", &format!("{declared}{main}"))?;
    succeed(dir, &["build", "-dc", "part.cu", "-o", "part.o"])?;
    std::fs::create_dir(dir.join("lib")).map_err(|error| error.to_string())?;
    let made = std::process::Command::new("ar")
        .args(["rcs", "lib/libpart.a", "part.o"])
        .current_dir(dir)
        .status()
        .map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("ar failed".into());
    }
    succeed(dir, &["build", "main.cu", "-L", "lib", "-lpart", "-lm", "-o", "program"])?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output", "11\n")?;
    let found = succeed(dir, &["run", "--device", "cpu", "main.cu", "-Llib", "-lpart"])?;
    crate::support::same("output of run", &found, "11\n")
}
