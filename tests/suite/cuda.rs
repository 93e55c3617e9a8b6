//! `.cu` files: programs of `cases/cuda` in the manner of NVIDIA's samples, each run on the CPU device as
//! compiled by us, and as compiled by nvcc, with the same output; and what the commands say of `.cu` files.
//!
//! Without clang (or nvcc) its trials are ignored.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cdp::CdpVersion;
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::run::{execute, execute_in_orders, execute_with, runtime_archive, runtime_library};
use crate::support::{Outcome, cases, cdpc, compiler, files, read, run_limited, same, stem, trial};
use crate::{cuda_objects, cuda_precompiled, cuda_toolkit_12, oracle};

pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(120);

pub fn trials() -> Vec<Trial> {
    let without = !has_clang();
    let mut trials = Vec::new();
    for path in files(&cases("cuda"), "cu") {
        let (a, b) = (path.clone(), path.clone());
        let name = format!("cuda::{}", stem(&path));
        let lacks = lacks_headers(&path);
        let ours = trial(format!("{name}::cpu"), move || with_cdpc(&a));
        trials.push(ours.with_ignored_flag(without || lacks));
        let theirs = trial(format!("{name}::nvcc"), move || with_nvcc(&b));
        trials.push(theirs.with_ignored_flag(!oracle::has_nvcc() || lacks));
    }
    let others: [(&str, fn() -> Outcome); 25] = [
        ("messages", messages),
        ("watched_in_other_orders", watched_in_other_orders),
        ("graph_and_layout", graph_and_layout),
        ("several_inputs", several_inputs),
        ("names", names),
        ("runs", runs),
        ("outputs", outputs),
        ("register_limits", register_limits),
        ("places", places),
        ("own_alignments", own_alignments),
        ("dependencies_and_keys", dependencies_and_keys),
        ("no_clang", no_clang),
        ("precompiled_headers", cuda_precompiled::headers),
        ("precompiled_templates", cuda_precompiled::templates),
        ("objects", cuda_objects::objects),
        ("objects_alone", cuda_objects::objects_alone),
        ("managed_objects", cuda_objects::managed_objects),
        ("static_names", cuda_objects::static_names),
        ("own_names", cuda_objects::own_names),
        ("host_files", cuda_objects::host_files),
        ("libraries", cuda_objects::libraries),
        ("read_once", read_once),
        ("included_sources", included_sources),
        ("host_compiler_options", host_compiler_options),
        ("own_headers", own_headers),
    ];
    for (name, test) in others {
        trials.push(trial(format!("cuda::{name}"), test).with_ignored_flag(without));
    }
    let older = trial("cuda::toolkit_12".to_string(), cuda_toolkit_12::calls);
    trials.push(older.with_ignored_flag(without || !cuda_toolkit_12::is_there()));
    trials
}

/// Whether there is a clang that reads `.cu` files.
pub fn has_clang() -> bool {
    compiler().is_ok_and(|compiler| compiler.toolchain().clang().is_ok())
}

/// Whether the toolkit has not all headers that a case needs.
fn lacks_headers(path: &Path) -> bool {
    let lacks = || -> Result<bool, Failed> {
        let compiler = compiler()?;
        let root = compiler.toolchain().headers().map_err(|e| e.to_string())?.root.join("include");
        Ok(Directives::of(path)?.words("needs").iter().any(|name| !root.join(name).is_file()))
    };
    lacks().unwrap_or(true)
}

fn expected(path: &Path) -> Result<String, Failed> {
    read(&path.with_extension("out"))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command in a folder; what it printed on both streams.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> Result<(i32, String, String), Failed> {
    let mut command = cdpc();
    command.args(args).current_dir(folder).env_remove("CDP_CACHE_DIR");
    if let Some(library) = runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    let output = run_limited(&mut command, TIME_LIMIT)?;
    Ok((output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr)))
}

pub(crate) fn succeed(folder: &Path, args: &[&str]) -> Result<String, Failed> {
    match run_in(folder, args)? {
        (0, stdout, _) => Ok(stdout),
        (code, stdout, stderr) => Err(format!("{args:?}: exit {code}\n{stdout}{stderr}").into()),
    }
}

pub(crate) fn folder() -> Result<tempfile::TempDir, Failed> {
    tempfile::tempdir().map_err(|error| error.to_string().into())
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Outcome {
    std::fs::write(folder.join(name), text).map_err(|error| error.to_string().into())
}

/// Plainly, and once more with the checks of races and contents unless the case says `skip: race: REASON`.
fn checks(path: &Path) -> Result<&'static [&'static str], Failed> {
    Ok(if Directives::of(path)?.skips("race") { &[""] } else { &["", "race,init"] })
}

/// Words for cdpc and nvcc alike.
fn flags(path: &Path) -> Result<Vec<String>, Failed> {
    let directives = Directives::of(path)?;
    Ok(directives.words("flags").into_iter().map(str::to_owned).collect())
}

/// Whether a program's kernels wait for their children (`cdp: 1`), which they can do below sm_90 only.
fn is_cdp1(path: &Path) -> Result<bool, Failed> {
    Ok(Directives::of(path)?.cdp() == Some(CdpVersion::Cdp1))
}

fn with_cdpc(path: &Path) -> Outcome {
    execute_with(&by_cdpc(path)?, &[], checks(path)?, "output", &expected(path)?)
}

/// A host that makes no call while it watches memory gets what kernels write there, whatever the order of execution.
fn watched_in_other_orders() -> Outcome {
    let path = cases("cuda").join("watched_memory.cu");
    execute_in_orders(&by_cdpc(&path)?, &[], &["1"], "output", &expected(&path)?)
}

/// A case as a program.
fn by_cdpc(path: &Path) -> Result<Vec<u8>, Failed> {
    let folder = folder()?;
    let source = path.display().to_string();
    // As `cdpc run` does it, and with the cubin that a GPU would get.
    let flags = flags(path)?;
    let mut args = vec!["build", &source, "-o", "program"];
    args.extend(flags.iter().map(String::as_str));
    if is_cdp1(path)? {
        args.extend(["--cdp", "1"]);
    }
    succeed(folder.path(), &args)?;
    std::fs::read(folder.path().join("program")).map_err(|error| error.to_string().into())
}

/// The same file by nvcc, linked with our runtime, on the CPU device.
fn with_nvcc(path: &Path) -> Outcome {
    let folder = folder()?;
    let nvcc = oracle::nvcc_toolkit()?.nvcc.clone().ok_or("no nvcc")?;
    // PTX beside the machine code is what the CPU device runs.
    let mut arch = COMPUTE_90;
    let mut compile = Command::new(&nvcc);
    compile.current_dir(folder.path());
    if is_cdp1(path)? {
        arch = "-gencode=arch=compute_75,code=[sm_75,compute_75]";
        compile.arg("-DCUDA_FORCE_CDP1_IF_SUPPORTED");
    }
    let flags = flags(path)?;
    if !flags.iter().any(|flag| flag.starts_with("-std=")) {
        compile.arg("-std=c++17");
    }
    compile.args([arch, "--extended-lambda", "-dc", "-o", "program.o"]).args(flags).arg("-I");
    // The helpers of NVIDIA's samples, which nvcc has not either.
    compile.arg(crate::support::root().join("compiler/cdp/src/cuda/headers"));
    finish(compile.arg(path))?;
    link_by_nvcc(folder.path(), arch, &["program.o"])?;
    let program = std::fs::read(folder.path().join("program")).map_err(|e| e.to_string())?;
    execute_with(&program, &[], checks(path)?, "output", &expected(path)?)
}

pub(crate) const COMPUTE_90: &str = "-gencode=arch=compute_90,code=[sm_90,compute_90]";

pub(crate) fn finish(command: &mut Command) -> Outcome {
    let output = run_limited(command, TIME_LIMIT)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}\n{}", text(&output.stderr)).into()),
    }
}

/// nvcc's device link of objects, and the system's link of the whole with our runtime, into `program`.
pub(crate) fn link_by_nvcc(folder: &Path, arch: &str, objects: &[&str]) -> Outcome {
    let toolkit = oracle::nvcc_toolkit()?;
    let library = runtime_library().ok_or("libcdp_runtime.a is missing")?;
    let cudadevrt = toolkit.cudadevrt().ok_or("no libcudadevrt.a")?.path.clone();
    let libraries = cudadevrt.parent().ok_or("a library in no folder")?;
    let mut link = Command::new(toolkit.nvcc.clone().ok_or("no nvcc")?);
    link.args([arch, "-dlink", "-o", "link.o", "-lcudadevrt", "-L"]).arg(libraries);
    finish(link.args(objects).current_dir(folder))?;
    let mut link = Command::new("c++");
    link.args(["-o", "program", "link.o"]).args(objects).arg(library).arg(&cudadevrt);
    finish(link.args(["-lpthread", "-ldl", "-lm"]).current_dir(folder))
}

pub(crate) fn contains(what: &str, text: &str, part: &str) -> Outcome {
    if text.contains(part) {
        return Ok(());
    }
    Err(format!("{what} has no `{part}`:\n{text}").into())
}

const WRONG: &str = "template <class T> __device__ int size(T x) { return x.length; }
__global__ void k(int *p) { *p = size(3); }
int main() { k<<<1, 1>>>(nullptr) }
";

/// clang's findings in every format, each once, with the exit code of a wrong program.
fn messages() -> Outcome {
    let folder = folder()?;
    write(folder.path(), "wrong.cu", WRONG)?;
    let (code, _, human) = run_in(folder.path(), &["check", "wrong.cu"])?;
    same("exit code", &code.to_string(), "1")?;
    contains("the human form", &human, "error[E0901]: member reference base type")?;
    contains("the human form", &human, "wrong.cu:1:55")?;
    contains("the human form", &human, "requested here")?;
    contains("the human form", &human, "2 errors")?;
    let (_, _, short) = run_in(folder.path(), &["check", "wrong.cu", "--message-format", "short"])?;
    contains("the short form", &short, "wrong.cu:3:34: error[E0901]: expected ';'")?;
    let (_, json, _) = run_in(folder.path(), &["check", "wrong.cu", "--message-format", "json"])?;
    let first = json.lines().next().unwrap_or_default();
    let value: serde_json::Value =
        serde_json::from_str(first).map_err(|error| format!("{error}: {first}"))?;
    same("the code", value["code"].as_str().unwrap_or_default(), "E0901")?;
    // nvcc says nothing of the space, which older headers have.
    let old = "constexpr int operator \"\" _m(unsigned long long x) { return int(x); }\n__device__ int y = 3_m;\n";
    write(folder.path(), "old.cu", old)?;
    let (code, _, said) = run_in(folder.path(), &["check", "old.cu", "-Werror"])?;
    same(&format!("exit code of what is old: {said}"), &code.to_string(), "0")?;
    let impossible = "__global__ void child() {}
__global__ void parent() { child<<<1, 2048>>>(); }\n";
    write(folder.path(), "limit.cu", impossible)?;
    let (code, _, human) = run_in(folder.path(), &["check", "limit.cu", "-Werror"])?;
    same("exit code", &code.to_string(), "1")?;
    contains("the warning", &human, "limit.cu:2:28")
}

const TREE: &str = "struct pair { double x; char c; };
template <class T> __global__ void down(T *out, int n, pair p) {
    if (n > 0)
        down<T><<<1, dim3(2, 1), 0, cudaStreamTailLaunch>>>(out, n - 1, p);
}
__device__ void helper(int *out) { down<<<1, 1>>>(out, 3, pair{}); }
__global__ void root(int *out) { helper(out); }
__global__ void both(int *out) { down<<<4, 1>>>(out, 1, pair{}); down<<<5, 1>>>(out, 2, pair{}); }
int main() { root<<<2, 1>>>(nullptr); root<<<3, 1>>>(nullptr); }
";

fn graph_and_layout() -> Outcome {
    let folder = folder()?;
    write(folder.path(), "tree.cu", TREE)?;
    let graph = succeed(folder.path(), &["graph", "tree.cu"])?;
    for part in [
        "launches down<int> <<<1, dim3(2, 1), 0, cudaStreamTailLaunch>>>  (line 4)",
        "launches down<int> <<<1, 1>>>  (line 6)",
        "calls helper",
        "launches down<int> <<<4, 1>>>  (line 8)\n  launches down<int> <<<5, 1>>>  (line 8)",
        "main (host)\n  launches root <<<2, 1>>>  (line 9)\n  launches root <<<3, 1>>>  (line 9)",
    ] {
        contains("the graph", &graph, part)?;
    }
    let layout = succeed(folder.path(), &["layout", "tree.cu"])?;
    contains("the layout", &layout, "down<int> (_Z4downIiEvPT_i4pair): 32 bytes, alignment 8")
}

/// `cdpc run`, which compiles with line tables.
/// `-x` says what a file is to every command, and a program of a `.cu` file may have any name.
fn names() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write(dir, "tree.txt", TREE)?;
    let graph = succeed(dir, &["graph", "-x", "cu", "tree.txt"])?;
    contains("the graph", &graph, "launches down<int> <<<1, 1>>>  (line 6)")?;
    let layout = succeed(dir, &["layout", "-x", "cu", "tree.txt"])?;
    contains("the layout", &layout, "down<int> (_Z4downIiEvPT_i4pair): 32 bytes")?;
    succeed(dir, &["check", "-x", "cu", "tree.txt"])?;
    succeed(dir, &["run", "--device", "cpu", "-x", "cu", "tree.txt"])?;
    succeed(dir, &["build", "-x", "cu", "tree.txt", "-o", "tree.gpu"])?;
    finish(Command::new(dir.join("tree.gpu")).env("CDP_DEVICE", "cpu"))
}

fn runs() -> Outcome {
    let folder = folder()?;
    let text = "#include <cstdio>\n\
        template <class T> __global__ void child(T n) { printf(\"child %d\\n\", n); }\n\
        __global__ void parent(int n) { child<int><<<1, 1>>>(n + 1); }\n\
        int main() { parent<<<1, 1>>>(3); return cudaDeviceSynchronize(); }\n";
    write(folder.path(), "k.cu", text)?;
    let found = succeed(folder.path(), &["run", "--device", "cpu", "k.cu"])?;
    same("output", &found, "child 4\n")
}

/// `.cu`, `.cdp`, LLVM IR, a host object and a library become one program.
fn several_inputs() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write(
        dir,
        "main.cu",
        "#include <iostream>
extern \"C\" int from_object(int);
extern \"C\" int from_library(int);
__global__ void in_cdp(int *out);
__global__ void start(int *out) { in_cdp<<<1, 1>>>(out); }
__device__ int shared_count = 40;
int main() {
    int *out, value = 0;
    cudaMallocManaged(&out, sizeof(int));
    start<<<1, 1>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaMemcpyFromSymbol(&value, shared_count, sizeof value);
    std::cout << *out << \" \" << value << \" \" << from_object(1) << \" \" << from_library(2) << \"\\n\";
}\n",
    )?;
    write(
        dir,
        "kernels.cdp",
        "extern __device__ int shared_count;\n__device__ int of_ir();\n__global__ void in_cdp(int *out) { *out = ++shared_count + of_ir(); }\n",
    )?;
    write(
        dir,
        "ir.ll",
        "target triple = \"nvptx64-nvidia-cuda\"\ndefine i32 @_Z5of_irv() { ret i32 100 }\n",
    )?;
    for (name, factor) in [("object", 10), ("library", 100)] {
        write(
            dir,
            &format!("{name}.c"),
            &format!("int from_{name}(int x) {{ return {factor} * x; }}\n"),
        )?;
        let mut cc = Command::new("cc");
        cc.current_dir(dir).args(["-c", &format!("{name}.c")]);
        run_limited(&mut cc, TIME_LIMIT)?;
    }
    let mut ar = Command::new("ar");
    run_limited(ar.current_dir(dir).args(["rc", "libmine.a", "library.o"]), TIME_LIMIT)?;
    let inputs = ["build", "main.cu", "kernels.cdp", "ir.ll", "object.o"];
    succeed(dir, &[&inputs[..], &["-L.", "-lmine", "-o", "program"]].concat())?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output", "141 41 10 200\n")?;
    succeed(dir, &[&inputs[..], &["libmine.a", "-o", "program"]].concat())?;
    let program = std::fs::read(dir.join("program")).map_err(|error| error.to_string())?;
    execute(&program, "output", "141 41 10 200\n")
}

/// Every form of output, debug information, standard input, and `-x`.
fn outputs() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write(dir, "tree.cu", TREE)?;
    let ptx = succeed(dir, &["build", "tree.cu", "--emit", "ptx", "-o", "-"])?;
    contains("PTX", &ptx, "__cudaCDP2LaunchDeviceV2")?;
    if ptx.contains(".loc") || ptx.contains("cdp.launch") {
        return Err(format!("PTX has what nobody asked for:\n{ptx}").into());
    }
    let lines = succeed(dir, &["build", "tree.cu", "-lineinfo", "--emit", "ptx", "-o", "-"])?;
    contains("PTX with lines", &lines, ".loc")?;
    contains("PTX with lines", &lines, "\t.file\t1 ")?;
    let ir = succeed(dir, &["build", "tree.cu", "--emit", "llvm-ir", "-o", "-"])?;
    contains("LLVM IR", &ir, "ptx_kernel void @_Z4rootPi")?;
    succeed(dir, &["build", "tree.cu", "-o", "tree.cubin"])?;
    succeed(dir, &["build", "tree.cu", "-G", "-g", "-o", "debug.cubin"])?;
    succeed(dir, &["build", "tree.cu", "--arch", "sm_80,sm_90", "-o", "tree.fatbin"])?;
    succeed(dir, &["build", "tree.cu", "--emit", "device-obj", "-o", "tree.o"])?;
    let cubin = std::fs::read(dir.join("tree.cubin")).map_err(|error| error.to_string())?;
    let cubin = cdp_toolchain::Cubin::read(&cubin).map_err(|error| error.to_string())?;
    let kernels: Vec<&str> = cubin.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    if !kernels.contains(&"_Z4downIiEvPT_i4pair") || !kernels.contains(&"_Z4rootPi") {
        return Err(format!("the cubin has {kernels:?}").into());
    }
    Ok(())
}

/// `__maxnreg__`, which clang does not know, is in the code.
fn register_limits() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let text = "__global__ void __maxnreg__(40) limited(int *p) { *p = 1; }\n\
                template <int N> __global__ __maxnreg__(N * 8) void by_template(int *p) { *p = N; }\n\
                template __global__ void by_template<6>(int *);\n\
                __global__ void plain(int *p) { *p = 2; }\n";
    write(dir, "k.cu", text)?;
    let (code, _, said) = run_in(dir, &["build", "k.cu", "-o", "k.ptx"])?;
    same("what is said of it", &format!("{code} {said}"), "0 ")?;
    let ptx = read(&dir.join("k.ptx"))?;
    let limits: Vec<&str> = ptx.lines().filter(|line| line.starts_with(".maxnreg")).collect();
    same("the limits", &limits.join(", "), ".maxnreg 40, .maxnreg 48")
}

/// A parameter whose address counts keeps its alignment where host code alone launches the kernel, in PTX and, by its
/// place in the constant bank of sm_90, in the cubin.
fn own_alignments() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let text = "struct alignas(128) W { int v[32]; };\n\
                __global__ void child(const __grid_constant__ W w, int *p) { *p = w.v[1]; }\n\
                __global__ void parent(const __grid_constant__ W w, int *p) { child<<<1, 1>>>(w, p); }\n";
    write(dir, "k.cu", text)?;
    succeed(dir, &["build", "k.cu", "--arch", "sm_90", "-o", "k.ptx"])?;
    let ptx = read(&dir.join("k.ptx"))?;
    contains("the launched kernel", &ptx, ".param .align 16 .b8 _Z5child1WPi_param_0[128]")?;
    contains("the host's kernel", &ptx, ".param .align 128 .b8 _Z6parent1WPi_param_0[128]")?;
    succeed(dir, &["build", "k.cu", "--arch", "sm_90", "-o", "k.cubin"])?;
    let bytes = std::fs::read(dir.join("k.cubin")).map_err(|error| error.to_string())?;
    let cubin = cdp_toolchain::Cubin::read(&bytes).map_err(|error| error.to_string())?;
    let place = |name: &str| cubin.kernel(name).map(|kernel| kernel.params[0].offset_bytes);
    const BANK: u32 = 0x210;
    same("the child's", &format!("{:?}", place("_Z5child1WPi")), "Some(0)")?;
    let own = place("_Z6parent1WPi").map(|offset| (offset + BANK) % 128);
    same("the parent's", &format!("{own:?}"), "Some(0)")
}

/// What headers define as if it were built in is said to be where the program uses it; kernels have their names.
fn places() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    let text = "#include <cassert>\n\
                namespace deep { template <int N> __global__ void add(int *p) {\n\
                atomicAdd(p + 1000000 * N, 1);\n} }\n\
                __global__ void check(int *p) {\n    assert(p[0] == 7);\n}\n\
                int main(int count, char **) {\n    int *p;\n    cudaMallocManaged(&p, 4);\n\
                if (count > 1) check<<<1, 1>>>(p); else deep::add<5><<<1, 1>>>(p);\n\
                return cudaDeviceSynchronize() == cudaSuccess;\n}\n";
    write(dir, "k.cu", text)?;
    let said = |args: &[&str]| Ok::<_, Failed>(run_in(dir, &[&["run", "k.cu"], args].concat())?.2);
    let (added, checked) = (said(&[])?, said(&["--", "check"])?);
    contains("an access", &added, "at `deep::add`")?;
    contains("an access", &added, "k.cu:3:1 ")?;
    contains("an assertion", &checked, "at `check`")?;
    contains("an assertion", &checked, "k.cu:6:5 ")?;
    contains("an assertion", &checked, "    assert(p[0] == 7);")
}

fn dependencies_and_keys() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write(dir, "n.h", "#define N 3\n")?;
    write(dir, "a.cu", "#include \"n.h\"\n__global__ void k(int *p) { *p = N; }\n")?;
    succeed(dir, &["build", "a.cu", "-MMD", "-o", "a.cubin"])?;
    let rule = read(&dir.join("a.d"))?;
    same("the rule", &rule, "a.cubin: \\\n  a.cu \\\n  n.h\n")?;
    let alone = succeed(dir, &["build", "-MM", "a.cu"])?;
    same("the rule alone", &alone, "a.o: \\\n  a.cu \\\n  n.h\n")?;
    let shown = succeed(dir, &["build", "-E", "a.cu"])?;
    if !shown.contains("__attribute__((global)) void k(int *p) { *p = 3; }")
        || !shown.contains("n.h\" 1\n")
    {
        return Err(format!(
            "-E shows something else:\n{}",
            &shown[shown.len().saturating_sub(300)..]
        )
        .into());
    }
    let key = || succeed(dir, &["build", "a.cu", "--cache-key", "-o", "a.cubin"]);
    let (first, second) = (key()?, key()?);
    same("the key", &second, &first)?;
    write(dir, "n.h", "#define N 4\n")?;
    if key()? == first {
        return Err("the key is the same with another header".into());
    }
    Ok(())
}

/// What nvcc takes and clang does not is seen before clang reads the file.
fn read_once() -> Outcome {
    let folder = folder()?;
    let source = cases("cuda").join("shared_objects.cu").display().to_string();
    let mut command = cdpc();
    command.args(["build", "-v", &source, "--emit", "ptx", "-o", "k.ptx"]);
    let output =
        run_limited(command.current_dir(folder.path()).env("CDP_CACHE_DIR", ""), TIME_LIMIT)?;
    let runs = text(&output.stderr).lines().filter(|line| line.contains("-x cuda")).count();
    same("runs of clang", &runs.to_string(), "1")
}

/// A source that another one includes may be spelt as nvcc takes it too.
fn included_sources() -> Outcome {
    let folder = folder()?;
    let kernels = "struct Sum { int v; __device__ Sum() : v(0) {} };
__device__ int lane() { int l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); return l; }
__global__ void child(int *p) {
    __shared__ Sum sum;
    if (threadIdx.x == 0) sum.v = 0;
    __syncthreads();
    atomicAdd(&sum.v, lane());
    __syncthreads();
    *p = sum.v;
}
__global__ void parent(int *p) { child << <1, 4 >> >(p); }\n";
    write(folder.path(), "kernels.cu", kernels)?;
    let main = "#include <cstdio>\n#include \"kernels.cu\"
int main() { int *p; cudaMallocManaged(&p, 4); parent << <1, 1>> >(p);
    cudaDeviceSynchronize(); printf(\"%d\\n\", *p); }\n";
    write(folder.path(), "main.cu", main)?;
    let found = succeed(folder.path(), &["run", "--device", "cpu", "main.cu"])?;
    same("output", &found, "6\n")
}

/// A program may have a header of its own by the name of CUDA's, and macros that are a device function in device code alone,
/// also in functions of the host's.
fn own_headers() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    std::fs::create_dir(dir.join("include")).map_err(|e| e.to_string())?;
    let own = "#pragma once\n#include <cstdio>
#ifdef __CUDA_ARCH__\n#define STOP() __trap()\n#else\n#define STOP() throw 5\n#endif
namespace { template <class T> __global__ void last(T *p) { extern __shared__ int s[]; s[0] = *p + 1; *p = s[0]; } }\n";
    write(&dir.join("include"), "cuda.h", own)?;
    let main = "#include <cuda.h>
static int checked(int x) { if (x > 6) STOP(); return x; }
int main() { int *p; cudaMallocManaged(&p, 4); *p = checked(5); last<<<1, 1, 4>>>(p); cudaDeviceSynchronize();
    try { checked(*p + 1); } catch (int i) { printf(\"%d %d\\n\", *p, i); } }\n";
    write(dir, "main.cu", main)?;
    let found = succeed(dir, &["run", "--device", "cpu", "-Werror", "-I", "include", "main.cu"])?;
    same("output", &found, "6 5\n")?;
    // A whole toolkit's folder has what clang's wrapper includes and cannot take; a program that asks for it gets it.
    std::fs::create_dir(dir.join("toolkit")).map_err(|e| e.to_string())?;
    let curand = "#pragma once\n#ifndef __CUDA_ARCH__\nextern const dim3 blockDim;\nextern const uint3 threadIdx;\n#endif
static __device__ int of_curand() { return blockDim.x + threadIdx.x; }\n";
    write(&dir.join("toolkit"), "curand_mtgp32_kernel.h", curand)?;
    for (name, include, value) in [
        ("without.cu", "", "blockDim.x"),
        ("with.cu", "#include <curand_mtgp32_kernel.h>\n", "of_curand()"),
    ] {
        let text = format!(
            "{include}#include <cstdio>\n__global__ void k() {{ printf(\"%d\\n\", {value}); }}\nint main() {{ k<<<1, 1>>>(); cudaDeviceSynchronize(); }}\n"
        );
        write(dir, name, &text)?;
        let found = succeed(dir, &["run", "--device", "cpu", "-I", "toolkit", name])?;
        same(name, &found, "1\n")?;
    }
    Ok(())
}

const OPENMP: &str = "#include <cstdio>
#ifdef _OPENMP
#include <omp.h>
#endif
__global__ void k(int *p) { *p = VALUE; }
int main() {
    int *p, threads = 0;
    cudaMallocManaged(&p, sizeof *p);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
#pragma omp parallel num_threads(3) reduction(+ : threads)
    threads += 1;
    printf(\"%d %d %d\\n\", *p, threads, __CUDACC_VER_MAJOR__ >= 11);
}\n";

/// `-Xcompiler` reaches clang, and libraries of the host link can be given to `cdpc run` too.
fn host_compiler_options() -> Outcome {
    let folder = folder()?;
    let dir = folder.path();
    write(dir, "a.cu", OPENMP)?;
    let run = ["run", "--device", "cpu", "a.cu", "-lm", "-L."];
    let found = succeed(
        dir,
        &[&run[..], &["-Xcompiler", "-DVALUE=3 -Wall", "-Xcudafe", "--diag_suppress=1"]].concat(),
    )?;
    same("without OpenMP", &found, "3 1 1\n")?;
    let (code, found, message) =
        run_in(dir, &[&run[..], &["-Xcompiler", "-DVALUE=4,-fopenmp"]].concat())?;
    match message.contains("libomp-22-dev") || message.contains("'omp.h' file not found") {
        // It is not installed.
        true if code != 0 => Ok(()),
        _ => same("with OpenMP", &found, "4 3 1\n"),
    }
}

/// Without clang there is one sentence, and the exit code of a missing tool.
fn no_clang() -> Outcome {
    let folder = folder()?;
    write(folder.path(), "a.cu", "__global__ void k() {}\n")?;
    let args = ["build", "a.cu", "--clang", "/nowhere/clang", "-o", "a.cubin"];
    let (code, _, message) = run_in(folder.path(), &args)?;
    same("exit code", &code.to_string(), "3")?;
    contains("the message", &message, "--clang names `/nowhere/clang`")
}
