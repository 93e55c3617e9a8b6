//! The command line: exit codes, outputs, and what goes to which stream.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, cdpc, root, run_limited, trial};

pub const HELLO: &str = "samples/hello.cdp";

pub fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, fn() -> Outcome)> = vec![
        ("version", version),
        ("usage_is_exit_2", usage),
        ("errors_are_exit_1", errors),
        ("missing_tools_are_exit_3", missing_tools),
        ("unknown_architecture_lists_them", unknown_arch),
        ("check_json", check_json),
        ("explain", explain),
        ("graph", graph),
        ("layout", layout),
        ("doctor", doctor),
        ("build_is_reproducible", reproducible),
        ("failed_build_leaves_nothing", nothing_left),
        ("dry_run_can_be_pasted", dry_run),
        ("nvcc_line", nvcc_line),
        ("separate_compilation", separate),
        ("dependencies", dependencies),
        ("dependencies_as_gcc_writes_them", gcc_dependencies),
        ("outputs_through_links", links),
        ("outputs_that_cannot_be", bad_outputs),
        ("run_passes_the_exit_code", run_exit_code),
        ("standard_input", standard_input),
        ("blocks_of_many_instructions", long_blocks),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("cli::{name}"), test)).collect()
}

pub fn run(args: &[&str]) -> Result<Output, Failed> {
    let mut command = cdpc();
    if let Some(library) = crate::run::runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    run_limited(command.args(args), Duration::from_secs(120))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs, wants an exit code, and gives both streams.
pub fn expect(args: &[&str], code: i32) -> Result<(String, String), Failed> {
    let output = run(args)?;
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if output.status.code() == Some(code) {
        return Ok((stdout, stderr));
    }
    Err(format!("cdpc {args:?}: {}, not {code}\n{stdout}\n{stderr}", output.status).into())
}

pub fn contains(text: &str, parts: &[&str]) -> Outcome {
    match parts.iter().find(|part| !text.contains(**part)) {
        Some(part) => Err(format!("no `{part}` in:\n{text}").into()),
        None => Ok(()),
    }
}

pub fn folder() -> Result<tempfile::TempDir, Failed> {
    tempfile::tempdir().map_err(|error| error.to_string().into())
}

pub fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

pub fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> Result<String, Failed> {
    let path = path(folder, name);
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok(path)
}

fn version() -> Outcome {
    contains(&expect(&["--version"], 0)?.0, &["cdpc ", env!("CARGO_PKG_VERSION")])
}

fn usage() -> Outcome {
    expect(&["build", "--no-such-option"], 2)?;
    expect(&["build", HELLO, "-Ox"], 2)?;
    expect(&["build", HELLO, "--cdp", "3"], 2)?;
    expect(&["build", HELLO, "--launch-abi", "nonsense"], 2)?;
    expect(&["explain", "E9999"], 2)?;
    expect(&[], 2).map(|_| ())
}

fn errors() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "bad.cdp", "__global__ int k() { return x; }\n")?;
    let (_, stderr) = expect(&["check", &file], 1)?;
    contains(&stderr, &["error[E", "bad.cdp:1"])?;
    for emit in ["ptx", "obj", "device-obj", "cubin", "exe"] {
        let out = path(&folder, "bad.out");
        let (_, stderr) = expect(&["build", &file, "--emit", emit, "-o", &out], 1)?;
        contains(&stderr, &["error[E", "bad.cdp:1"])?;
    }
    Ok(())
}

fn missing_tools() -> Outcome {
    let folder = folder()?;
    let empty = path(&folder, "empty");
    std::fs::create_dir(&empty).map_err(|error| error.to_string())?;
    let out = path(&folder, "x.cubin");
    let (_, stderr) = expect(&["build", HELLO, "-o", &out, "--cuda-path", &empty], 3)?;
    contains(&stderr, &["not found", &empty])?;
    if Path::new(&out).exists() { Err("an output was left".into()) } else { Ok(()) }
}

fn unknown_arch() -> Outcome {
    let (_, stderr) = expect(&["check", HELLO, "--arch", "sm_91"], 2)?;
    contains(&stderr, &["sm_91", "sm_90", "sm_120"])
}

fn check_json() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "bad.cdp", "__global__ void k() { x = 1; y = 2; }\n")?;
    let (stdout, _) = expect(&["check", &file, "--message-format", "json"], 1)?;
    let mut count = 0;
    for line in stdout.lines() {
        let value: serde_json::Value =
            serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        if value["code"].as_str().is_none_or(|code| !code.starts_with('E')) {
            return Err(format!("no code in {line}").into());
        }
        count += 1;
    }
    if count == 2 { Ok(()) } else { Err(format!("{count} diagnostics, not 2:\n{stdout}").into()) }
}

fn explain() -> Outcome {
    let (list, _) = expect(&["explain"], 0)?;
    let code = list.split_whitespace().next().ok_or("no codes")?;
    contains(&expect(&["explain", code], 0)?.0, &[code, "```cdp"])
}

fn graph() -> Outcome {
    contains(&expect(&["graph", HELLO], 0)?.0, &["parentKernel", "childKernel", "<<<1, 1>>>"])?;
    contains(&expect(&["graph", HELLO, "--format", "dot"], 0)?.0, &["digraph", "->"])?;
    contains(&expect(&["graph", HELLO, "--format", "svg"], 0)?.0, &["<svg", "tailKernel"])
}

fn layout() -> Outcome {
    let file = "samples/quicksort.cdp";
    contains(&expect(&["layout", file], 0)?.0, &["quicksort", "offset", "20 bytes"])?;
    let folder = folder()?;
    let one = write(&folder, "one.cdp", "__global__ void k(char c) { }\n")?;
    contains(&expect(&["layout", &one], 0)?.0, &["k (_Z1kc): 1 byte, alignment 1"])?;
    let (stdout, _) = expect(&["layout", file, "--json"], 0)?;
    let value: serde_json::Value = serde_json::from_str(&stdout).map_err(|e| e.to_string())?;
    let offsets: Vec<_> = value[0]["params"]
        .as_array()
        .ok_or("no parameters")?
        .iter()
        .filter_map(|param| param["offset"].as_u64())
        .collect();
    if offsets == [0, 8, 12, 16] { Ok(()) } else { Err(format!("{offsets:?}").into()) }
}

fn doctor() -> Outcome {
    contains(&expect(&["doctor"], 0)?.0, &["CUDA toolkits", "sm_90", "GPU"])?;
    let (stdout, _) = expect(&["doctor", "--json"], 0)?;
    serde_json::from_str::<serde_json::Value>(&stdout).map(|_| ()).map_err(|e| e.to_string().into())
}

fn reproducible() -> Outcome {
    let folder = folder()?;
    for extension in ["ptx", "o", "cubin", "fatbin"] {
        let (one, two) = (path(&folder, "one"), path(&folder, "two"));
        let emit = if extension == "o" { "obj" } else { extension };
        for out in [&one, &two] {
            expect(&["build", HELLO, "--emit", emit, "-o", out], 0)?;
        }
        let read =
            |path: &str| std::fs::read(path).map_err(|error| Failed::from(error.to_string()));
        if read(&one)? != read(&two)? {
            return Err(format!("two builds of the {extension} differ").into());
        }
    }
    Ok(())
}

fn nothing_left() -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "bad.cdp", "__global__ void k() { x = 1; }\n")?;
    expect(&["build", &file, "-o", &path(&folder, "bad.cubin")], 1)?;
    let left = std::fs::read_dir(folder.path()).map_err(|error| error.to_string())?.count();
    if left == 1 { Ok(()) } else { Err(format!("{} files were left", left - 1).into()) }
}

fn dry_run() -> Outcome {
    let folder = folder()?;
    let out = path(&folder, "hello.cubin");
    let (stdout, _) = expect(&["build", HELLO, "-o", &out, "--dry-run"], 0)?;
    contains(&stdout, &["ptxas", "nvlink", "-arch=sm_90", "cudadevrt"])?;
    if Path::new(&out).exists() {
        return Err("a dry run made an output".into());
    }
    if !crate::oracle::has_clang() {
        return Ok(());
    }
    let source = "tests/cases/cuda/simple_print.cu";
    let (stdout, _) = expect(&["build", source, "-o", &path(&folder, "program"), "--dry-run"], 0)?;
    contains(&stdout, &["--cuda-device-only", "--cuda-host-only", "-finished.o", "ptxas", "cc "])
}

fn nvcc_line() -> Outcome {
    let folder = folder()?;
    let out = path(&folder, "hello");
    expect(&["build", "-arch=sm_75", "-rdc=true", HELLO, "-o", &out, "-lcudadevrt"], 0)?;
    let mut program = std::process::Command::new(&out);
    let output = run_limited(program.env("CDP_DEVICE", "cpu"), Duration::from_secs(60))?;
    contains(&text(&output.stdout), &["Hello World!"])?;
    let mut command = crate::support::cdpc();
    if let Some(library) = crate::run::runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    let source = crate::support::root().join(HELLO);
    command.current_dir(&folder).arg("-rdc=true").arg(source).arg("-lcudadevrt");
    let output = run_limited(&mut command, Duration::from_secs(60))?;
    if output.status.success() && folder.path().join("a.out").is_file() {
        return Ok(());
    }
    Err(format!("no a.out: {}", text(&output.stderr)).into())
}

fn separate() -> Outcome {
    let folder = folder()?;
    let parent = write(
        &folder,
        "parent.cdp",
        "__global__ void child(int *p, int n);\n\
         __global__ void parent(int *p) { child<<<1, 32>>>(p, 7); }\n",
    )?;
    let child = write(
        &folder,
        "child.cdp",
        "__global__ void child(int *p, int n) { p[threadIdx.x] = n; }\n",
    )?;
    let (a, b, out) = (path(&folder, "a.o"), path(&folder, "b.o"), path(&folder, "out.cubin"));
    expect(&["build", "-dc", &parent, "-o", &a], 0)?;
    expect(&["build", "-dc", &child, "-o", &b], 0)?;
    expect(&["link", &a, &b, "-o", &out], 0)?;
    expect(&["build", &parent, &child, "-o", &out], 0)?;
    let (_, stderr) = expect(&["link", &a, "-o", &out], 3)?;
    contains(&stderr, &["child"])
}

fn dependencies() -> Outcome {
    let folder = folder()?;
    write(&folder, "shape.h", "#define N 3\n")?;
    let file =
        write(&folder, "a.cdp", "#include \"shape.h\"\n__global__ void k(int *p) { *p = N; }\n")?;
    let out = path(&folder, "a.ptx");
    expect(&["build", &file, "-o", &out, "-MD"], 0)?;
    let rule = std::fs::read_to_string(path(&folder, "a.d")).map_err(|error| error.to_string())?;
    contains(&rule, &["a.ptx:", "a.cdp", "shape.h"])?;
    let other = path(&folder, "other.d");
    expect(&["build", &file, "-o", &out, "-MD", "-MF", &other, "-MT", "b.stamp"], 0)?;
    let rule = std::fs::read_to_string(other).map_err(|error| error.to_string())?;
    contains(&rule, &["b.stamp:", "shape.h"])?;
    contains(&expect(&["build", &file, "-o", &out, "-M"], 0)?.0, &["a.ptx:", "shape.h"])
}

/// Names with the letters that make knows, `-MP`, and `-M` into a file.
fn gcc_dependencies() -> Outcome {
    let folder = folder()?;
    let inner = folder.path().join("a #b$c");
    std::fs::create_dir(&inner).map_err(|error| error.to_string())?;
    write(&folder, "a #b$c/n.h", "#define N 3\n")?;
    let text = "#include \"n.h\"\n__global__ void k(int *p) { *p = N; }\n";
    let source = write(&folder, "a #b$c/s.cdp", text)?;
    let (rule, output) = (path(&folder, "s.d"), path(&folder, "s.ptx"));
    let wanted = [
        "\\\n  ".to_string() + &format!("{}/a\\ \\#b$$c/s.cdp", folder.path().display()),
        format!("\n{}/a\\ \\#b$$c/n.h:\n", folder.path().display()),
    ];
    let wanted = [wanted[0].as_str(), wanted[1].as_str()];
    expect(&["build", &source, "-o", &output, "-MMD", "-MP", "-MF", &rule], 0)?;
    let read = || std::fs::read_to_string(&rule).map_err(|error| error.to_string());
    contains(&read()?, &wanted)?;
    let (make, makefile) = (path(&folder, "all"), path(&folder, "Makefile"));
    let text = format!("{make}: {output}\n\t@echo made\ninclude {rule}\n");
    std::fs::write(&makefile, text).map_err(|error| error.to_string())?;
    if let Ok(said) =
        std::process::Command::new("make").args(["-s", "-f", &makefile, &make]).output()
        && !text_of(&said).contains("made")
    {
        return Err(format!("make: {}\n{}", text_of(&said), read()?).into());
    }
    std::fs::remove_file(&output).map_err(|error| error.to_string())?;
    let file = format!("-MF{rule}");
    let (stdout, _) = expect(&["build", &source, "-o", &output, "-M", &file], 0)?;
    contains(&read()?, &wanted[..1])?;
    match stdout.is_empty() && !Path::new(&output).exists() {
        true => Ok(()),
        false => Err(format!("-M with -MF makes more than the file\n{stdout}").into()),
    }
}

/// Both streams.
fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// A link stays a link, and what it leads to is written.
#[cfg(unix)]
fn links() -> Outcome {
    let folder = folder()?;
    let (link, file) = (path(&folder, "link.ptx"), path(&folder, "file.ptx"));
    std::os::unix::fs::symlink(&file, &link).map_err(|error| error.to_string())?;
    for _ in 0..2 {
        expect(&["build", HELLO, "-o", &link], 0)?;
        let about = std::fs::symlink_metadata(&link).map_err(|error| error.to_string())?;
        let written = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        if !about.is_symlink() || !written.contains(".visible .entry") {
            return Err("the link is replaced, or what it leads to is not written".into());
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn links() -> Outcome {
    Ok(())
}

fn bad_outputs() -> Outcome {
    let folder = folder()?;
    let output = path(&folder, "nowhere/a.ptx");
    let (_, stderr) = expect(&["build", HELLO, "-o", &output], 3)?;
    contains(&stderr, &["cannot write", "there is no folder", "nowhere"])?;
    let output = folder.path().display().to_string();
    let (_, stderr) = expect(&["build", HELLO, "--emit", "ptx", "-o", &output], 3)?;
    contains(&stderr, &["cannot write", "directory"])?;
    let other = folder.path().join("other");
    std::fs::create_dir(&other).map_err(|error| error.to_string())?;
    let text = "__global__ void k() { }\n";
    let inputs = [write(&folder, "s.cdp", text)?, write(&folder, "other/s.cdp", text)?];
    let (_, stderr) = expect(&["build", "--emit", "ptx", &inputs[0], &inputs[1]], 2)?;
    contains(&stderr, &["would both become `s.ptx`", "-o"])
}

fn run_exit_code() -> Outcome {
    let folder = folder()?;
    let file = write(
        &folder,
        "code.cdp",
        "#include <stdio.h>\nint main(int argc, char **argv) { printf(\"%s\\n\", argv[1]); \
         return 40 + argc; }\n",
    )?;
    let (stdout, _) = expect(&["run", "--device", "cpu", &file, "--", "word"], 42)?;
    contains(&stdout, &["word"])
}

fn standard_input() -> Outcome {
    use std::io::Write;
    let mut child = cdpc()
        .args(["build", "-", "-x", "cdp", "--emit", "ptx", "-o", "-"])
        .current_dir(root())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(b"__global__ void k(int *p) { *p = 1; }\n")
            .map_err(|error| error.to_string())?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    contains(&text(&output.stdout), &[".visible .entry _Z1kPi"])
}

/// Blocks are cut before code generation, whose time would grow with their square; what they compute, and
/// the frame of variables with addresses, stay.
fn long_blocks() -> Outcome {
    const STATEMENTS: u32 = 1500;
    let folder = folder()?;
    let mut source = String::from(
        "#include <stdio.h>\n__global__ void k(unsigned *p, unsigned n)\n{\n\
         unsigned i = threadIdx.x, x = p[0], kept[2] = {1, 2};\n",
    );
    let mut x = 7u32;
    let mut kept = [1u32, 2];
    for index in 0..STATEMENTS {
        let (factor, place, odd) = (index % 7 + 3, index % 5, index % 2);
        source += &format!("x = x * {factor}u + p[(i + {place}) % n]; kept[{odd}] ^= x;\n");
        x = x.wrapping_mul(factor).wrapping_add(7 + place % 4);
        kept[odd as usize] ^= x;
    }
    source += "p[4] = x; p[5] = kept[0]; p[6] = kept[1];\n}\nint main() { unsigned *p; \
               cudaMallocManaged(&p, 28); for (int i = 0; i < 4; i++) p[i] = 7 + i; k<<<1, 1>>>(p, 4); \
               cudaDeviceSynchronize(); printf(\"%u %u %u\\n\", p[4], p[5], p[6]); return 0; }\n";
    let file = write(&folder, "long.cdp", &source)?;
    for level in ["-O3", "-O0"] {
        let (said, _) = expect(&["run", "--device", "cpu", level, &file], 0)?;
        if said != format!("{x} {} {}\n", kept[0], kept[1]) {
            return Err(format!("{level}: {said}, not {x} {kept:?}").into());
        }
    }
    Ok(())
}
