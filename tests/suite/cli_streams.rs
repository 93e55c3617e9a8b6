//! The command line: arguments that are no UTF-8, files that are never overwritten, and what goes to
//! which stream.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::cli::{HELLO, contains, expect, folder, path, run, text, write};
use crate::support::{Outcome, cdpc, root, run_limited, trial};

pub fn trials() -> Vec<Trial> {
    let mut tests: Vec<(&str, fn() -> Outcome)> = vec![
        ("inputs_are_never_overwritten", inputs_stay),
        ("two_outputs_of_one_name", two_outputs),
        ("json_beside_a_product", json_beside),
        ("standard_input_everywhere", stdin),
        ("llvm_ir_and_ptx_are_looked_at", foreign),
        ("objects_beside_sources", objects),
        ("options_for_kernels_alone", kernel_options),
        ("keep_spares_the_inputs", keep_spares),
    ];
    if cfg!(unix) {
        tests.push(("words_need_not_be_utf8", odd_words));
        tests.push(("progress_after_two_seconds", progress));
        tests.push(("sources_in_latin1", latin1));
    }
    if Path::new("/dev/full").exists() {
        tests.push(("a_full_disk_is_exit_3", full));
    }
    tests.into_iter().map(|(name, test)| trial(format!("cli::{name}"), test)).collect()
}

#[cfg(unix)]
fn word(bytes: &[u8]) -> OsString {
    let word: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    word.to_os_string()
}

#[cfg(unix)]
fn odd_words() -> Outcome {
    let folder = folder()?;
    let at = |name: &[u8]| folder.path().join(word(name)).into_os_string();
    let source = at(b"caf\xe9.cdp");
    let program = "#include \"n\u{e9}.h\"\n__global__ void k(int *p) { *p = N; }\n\
        #include <stdio.h>\nint main(int argc, char **argv) { printf(\"%s|\\n\", argv[1]); return 0; }\n";
    std::fs::write(&source, program).map_err(|e| e.to_string())?;
    let headers = at(b"inc\xff");
    std::fs::create_dir(&headers).map_err(|e| e.to_string())?;
    std::fs::write(Path::new(&headers).join("n\u{e9}.h"), "#define N 3\n")
        .map_err(|e| e.to_string())?;
    let output = at(b"out\xfe.ptx");
    let include = [OsStr::new("-I"), &headers].join(OsStr::new(""));
    let go = |args: &[&OsStr], code: i32| -> Result<String, Failed> {
        let mut command = cdpc();
        if let Some(library) = crate::run::runtime_archive() {
            command.env("CDP_RUNTIME_LIB", library);
        }
        let done = run_limited(command.args(args), Duration::from_secs(120))?;
        match done.status.code() == Some(code) {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned() + &text(&done.stderr)),
            false => Err(format!("{args:?}: {}\n{}", done.status, text(&done.stderr)).into()),
        }
    };
    let [build, o, md, run] = ["build", "-o", "-MD", "run"].map(OsStr::new);
    go(&[build, &include, &source, o, &output, md], 0)?;
    let rule = std::fs::read(Path::new(&output).with_extension("d")).map_err(|e| e.to_string())?;
    let wanted = [Path::new(&source).as_os_str().as_encoded_bytes(), b"\n".as_slice()].concat();
    if !rule.windows(wanted.len() - 1).any(|part| part == &wanted[..wanted.len() - 1]) {
        return Err(format!("the rule does not name the source: {}", text(&rule)).into());
    }
    let argument = word(b"\xe4");
    let [device, cpu, end] = ["--device", "cpu", "--"].map(OsStr::new);
    go(&[run, device, cpu, &include, &source, end, &argument], 0)?;
    // Where text is wanted, it is a wrong request and no crash.
    let macro_ = word(b"-DN=\xff");
    contains(&go(&[build, &macro_, &source], 2)?, &["UTF-8"]).map(|_| ())
}

#[cfg(not(unix))]
fn odd_words() -> Outcome {
    Ok(())
}

/// Old files: bytes that are no UTF-8 in comments and strings, as they stand; elsewhere an error.
fn latin1() -> Outcome {
    let folder = folder()?;
    let file = path(&folder, "old.cdp");
    let source = b"// Andr\xe9\n#if 0\n\xff\n#endif\n#include <stdio.h>\n#define S(x) #x\n/* \xfc */\n\
        int main() { const char *s = \"\\t\xe9\", *t = S(\"\xe8\"); printf(\"%d %d %d %s\\n\", s[1] & 255, t[1] & 255, \
        '\xe9' & 255, \"\xf6\"); return 0; }\n";
    std::fs::write(&file, source).map_err(|error| error.to_string())?;
    let output = run(&["run", "--device", "cpu", &file])?;
    if output.stdout != b"233 232 233 \xf6\n" {
        let said = text(&output.stdout) + &text(&output.stderr);
        return Err(format!("{}: {:?}\n{said}", output.status, output.stdout).into());
    }
    std::fs::write(&file, b"int a;\nint b\xe9;\n").map_err(|error| error.to_string())?;
    contains(&expect(&["check", &file], 1)?.1, &["E0101", ":2:6", "0xe9", "UTF-8"])
}

fn same(file: &str, before: &[u8]) -> Outcome {
    match std::fs::read(file) {
        Ok(now) if now == before => Ok(()),
        Ok(_) => Err(format!("{file} was overwritten").into()),
        Err(error) => Err(format!("{file}: {error}").into()),
    }
}

fn inputs_stay() -> Outcome {
    let folder = folder()?;
    let header = write(&folder, "shape.h", "#define N 3\n")?;
    let text = "#include \"shape.h\"\n__global__ void k(int *p) { *p = N; }\n";
    let source = write(&folder, "a.cdp", text)?;
    let ptx = path(&folder, "a.ptx");
    expect(&["build", &source, "-o", &ptx], 0)?;
    let made = std::fs::read(&ptx).map_err(|error| error.to_string())?;
    let ir = write(&folder, "a.ll", "define void @f() { ret void }\n")?;
    let detour = format!("{}/./a.cdp", folder.path().display());
    let (link, hard) = (path(&folder, "link"), path(&folder, "hard"));
    #[cfg(unix)]
    std::os::unix::fs::symlink(&source, &link).map_err(|error| error.to_string())?;
    std::fs::hard_link(&source, &hard).map_err(|error| error.to_string())?;
    let other = path(&folder, "other.ptx");
    let d = write(&folder, "b.d", text)?;
    let b = path(&folder, "b.ptx");
    let mut wrong: Vec<Vec<&str>> = vec![
        vec!["build", &source, "--emit", "ptx", "-o", &source],
        vec!["build", &source, "--emit", "ptx", "-o", &detour],
        vec!["build", &source, "--emit", "ptx", "-o", &hard],
        vec!["build", &ptx, "--emit", "cubin", "-o", &ptx],
        vec!["build", &source, "-o", &other, "-MF", &source],
        vec!["build", &source, "-o", &other, "-M", "-MF", &source],
        vec!["build", &source, "-o", &other, "-MD", "-MF", &header],
        vec!["build", &source, "--emit", "ptx", "-o", &header],
        vec!["build", "-x", "cdp", &d, "-o", &b, "-MD"],
        vec!["graph", &source, "-o", &source],
        vec!["lower", &ir, "-o", &ir],
        vec!["run", "--device", "cpu", &source, "--trace", &source],
    ];
    if cfg!(unix) {
        wrong.push(vec!["build", &source, "--emit", "ptx", "-o", &link]);
    }
    for args in &wrong {
        contains(&expect(args, 2)?.1, &["overwrite", "help:"])?;
    }
    same(&source, text.as_bytes())?;
    same(&d, text.as_bytes())?;
    same(&header, b"#define N 3\n")?;
    same(&ir, b"define void @f() { ret void }\n")?;
    same(&ptx, &made)
}

/// An input that is called as an intermediate file would be.
fn keep_spares() -> Outcome {
    let folder = folder()?;
    let source = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let other = write(&folder, "b.cdp", "__global__ void l(int *p) { *p = 1; }\n")?;
    let [ptx, keep, out] = ["a.sm_90.ptx", "", "a.cubin"].map(|name| path(&folder, name));
    expect(&["build", &other, "--emit", "ptx", "-o", &ptx], 0)?;
    let before = std::fs::read(&ptx).map_err(|error| error.to_string())?;
    expect(&["build", &source, &ptx, "-o", &out, "--keep", &keep], 0)?;
    same(&ptx, &before)
}

fn two_outputs() -> Outcome {
    let folder = folder()?;
    let source = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let second = write(&folder, "b.cdp", "__global__ void l(int *p) { *p = 1; }\n")?;
    let one = path(&folder, "x.d");
    let args: [&[&str]; 3] = [
        &["build", &source, "--emit", "ptx", "-o", &one, "-MD"],
        &["build", &source, "--emit", "ptx", "-o", &one, "-MF", &one],
        &["build", "-c", &source, &second, "-MD", "-MF", &one],
    ];
    for args in args {
        contains(&expect(args, 2)?.1, &["both", "x.d", "help:"])?;
        if Path::new(&one).exists() {
            return Err(format!("{args:?} wrote something").into());
        }
    }
    Ok(())
}

/// A warning as JSON does not stand among what was asked for.
fn json_beside() -> Outcome {
    let folder = folder()?;
    let text = "__global__ void k(int *p) { *p = 1; }\n\
        __global__ void up(int *p) { if (threadIdx.x > 5) { int x[2]; x[5] = 1; *p = x[0]; } \
        k<<<1, 32>>>(p); }\n#warning \"said aloud\"\n";
    let source = write(&folder, "a.cdp", text)?;
    let json = ["--message-format", "json"];
    let cases: [(&[&str], &str); 5] = [
        (&["build", &source, "--emit", "ptx", "-o", "-"], "//"),
        (&["build", &source, "--emit", "ptx", "-o", "-", "--report", "json"], "//"),
        (&["graph", &source], "up\n"),
        (&["layout", &source], "k ("),
        (&["build", &source, "-M"], "a"),
    ];
    for (args, begins) in cases {
        let (stdout, stderr) = expect(&[args, &json].concat(), 0)?;
        if !stdout.starts_with(begins) || stdout.contains("said aloud") {
            return Err(format!("{args:?}: standard output begins\n{stdout}").into());
        }
        for line in stderr.lines() {
            serde_json::from_str::<serde_json::Value>(line)
                .map_err(|error| format!("{args:?}: {error}: {line}"))?;
        }
        contains(&stderr, &["said aloud"])?;
    }
    Ok(())
}

fn full() -> Outcome {
    let folder = folder()?;
    let source = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let wrong = write(&folder, "b.cdp", "__global__ void k(int *p) { *q = 1; }\n")?;
    let ir = write(&folder, "a.ll", "define void @f() { ret void }\n")?;
    let out = path(&folder, "a.ptx");
    let cases: &[&[&str]] = &[
        &["--version"],
        &["--help"],
        &["build", "--help"],
        &["explain"],
        &["explain", "E0412"],
        &["doctor"],
        &["doctor", "--json"],
        &["check", &wrong, "--message-format", "json"],
        &["graph", HELLO],
        &["layout", &source],
        &["lower", &ir],
        &["build", &source, "--emit", "ptx", "-o", "-"],
        &["build", &source, "--emit", "ptx", "-o", "/dev/full"],
        &["build", &source, "-M"],
        &["build", &source, "--cache-key"],
        &["build", &source, "-o", &out, "--report", "json"],
        &["build", &source, "--dry-run", "--emit", "device-obj"],
        &["run", "--device", "cpu", "--kernel", "k", "--arg", "zeros i32[1]", &source],
    ];
    for args in cases {
        let full = File::options().write(true).open("/dev/full").map_err(|e| e.to_string())?;
        let child =
            cdpc().args(*args).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).spawn();
        let done = child.and_then(|child| child.wait_with_output()).map_err(|e| e.to_string())?;
        if done.status.code() != Some(3) || !text(&done.stderr).contains("No space left") {
            return Err(format!("{args:?}: {}\n{}", done.status, text(&done.stderr)).into());
        }
    }
    Ok(())
}

/// Runs with a text as standard input.
pub fn with_input(args: &[&str], input: &[u8], code: i32) -> Result<(String, String), Failed> {
    use std::io::Write;
    let mut command = cdpc();
    if let Some(library) = crate::run::runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).map_err(|error| error.to_string())?;
    }
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    let (stdout, stderr) = (text(&done.stdout), text(&done.stderr));
    match done.status.code() == Some(code) {
        true => Ok((stdout, stderr)),
        false => Err(format!("{args:?}: {}, not {code}\n{stdout}\n{stderr}", done.status).into()),
    }
}

fn stdin() -> Outcome {
    let folder = folder()?;
    let hello = crate::support::read(&crate::support::root().join(HELLO))?;
    let hello = hello.as_bytes();
    let (out, _) = with_input(&["run", "-", "--device", "cpu"], hello, 0)?;
    contains(&out, &["Hello World!"])?;
    let program = path(&folder, "program");
    with_input(&["build", "-", "--emit", "exe", "-o", &program], hello, 0)?;
    let mut run = std::process::Command::new(&program);
    let done = run_limited(run.env("CDP_DEVICE", "cpu"), Duration::from_secs(60))?;
    contains(&text(&done.stdout), &["Hello World!"])?;
    contains(&with_input(&["graph", "-"], hello, 0)?.0, &["parentKernel", "launches childKernel"])?;
    contains(&with_input(&["layout", "-"], hello, 0)?.0, &["childKernel"])?;
    let named = ["check", "-", "--stdin-filename", "dir/the name.cdp"];
    contains(&with_input(&named, b"int a = b;\n", 1)?.1, &["dir/the name.cdp:1:9"])?;
    let named = ["build", "-", "--emit", "ptx", "-o", "-", "--stdin-filename", "x.ll"];
    contains(&with_input(&named, IR.as_bytes(), 0)?.0, &[".entry parent"])?;
    contains(&with_input(&["check", "-", "-"], b"int a;\n", 2)?.1, &["only once"])
}

const IR: &str = "declare i32 @cdp.launch(...)\n\
    define ptx_kernel void @child(ptr %p, i32 %n) {\n  ret void\n}\n\
    define void @helper(ptr %p, i32 %blocks) {\n  %e = call i32 (...) @cdp.launch(ptr @child, i32 %blocks, \
    i32 1, i32 1, i32 128, i32 2, i32 1, i32 64, ptr inttoptr (i64 3 to ptr), ptr %p, i32 7)\n  ret void\n}\n\
    define ptx_kernel void @parent(ptr %p) {\n  call void @helper(ptr %p, i32 3)\n  ret void\n}\n";

fn foreign() -> Outcome {
    let folder = folder()?;
    let ir = write(&folder, "a.ll", IR)?;
    let (graph, _) = expect(&["graph", &ir], 0)?;
    let launch = "launches child <<<%blocks, dim3(128, 2), 64, cudaStreamTailLaunch>>>";
    contains(&graph, &["helper", launch, "parent", "calls helper"])?;
    contains(&expect(&["layout", &ir], 0)?.0, &["child (child): 12 bytes", "i32"])?;
    expect(&["check", &ir], 0)?;
    let out = path(&folder, "a.ptx");
    let (report, _) = expect(&["build", &ir, "-o", &out, "--report", "json"], 0)?;
    let report: serde_json::Value = serde_json::from_str(&report).map_err(|e| e.to_string())?;
    if report["launches"][0]["child"] != "child" || report["launches"][0]["block"] != "dim3(128, 2)"
    {
        return Err(format!("{report}").into());
    }
    let wrong = write(&folder, "b.ll", &IR.replace("ptr %p, i32 7)", "ptr %p)"))?;
    contains(&expect(&["check", &wrong], 1)?.1, &["@cdp.launch"])?;
    // PTX, ours and nvcc's way of launching.
    contains(&expect(&["graph", &out], 0)?.0, &["launches child"])?;
    contains(&expect(&["layout", &out], 0)?.0, &["child (child): 12 bytes"])?;
    expect(&["check", &out], 0)?;
    let damaged =
        write(&folder, "c.ptx", ".version 7.8\n.target sm_90\n.address_size 64\nnonsense\n")?;
    contains(&expect(&["check", &damaged], 1)?.1, &["c.ptx", "4"])?;
    let cubin = path(&folder, "a.cubin");
    expect(&["build", &ir, "-o", &cubin], 0)?;
    contains(&expect(&["graph", &cubin], 2)?.1, &["neither a source nor LLVM IR nor PTX"])
}

fn objects() -> Outcome {
    let folder = folder()?;
    let main = write(
        &folder,
        "main.cdp",
        "#include <stdio.h>\nextern \"C\" int one(); extern \"C\" int two();\n\
         __global__ void k() { printf(\"kernel\\n\"); }\n\
         int main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); return one() + two(); }\n",
    )?;
    let cc = |args: &[&str]| -> Outcome {
        let mut command = std::process::Command::new(args[0]);
        let done = run_limited(command.args(&args[1..]), Duration::from_secs(60))?;
        if done.status.success() { Ok(()) } else { Err(text(&done.stderr).into()) }
    };
    let (one, two) = (
        write(&folder, "one.c", "int one(void) { return 30; }\n")?,
        write(&folder, "two.c", "int two(void) { return 12; }\n")?,
    );
    let [one_o, two_o, library] = ["one.o", "two.o", "libtwo.a"].map(|name| path(&folder, name));
    cc(&["cc", "-c", &one, "-o", &one_o])?;
    cc(&["cc", "-c", &two, "-o", &two_o])?;
    cc(&["ar", "rcs", &library, &two_o])?;
    for args in [vec![], vec!["--device-first"]] {
        let program = path(&folder, "program");
        let order = match args.is_empty() {
            true => [&main, &one_o, &library],
            false => [&library, &one_o, &main],
        };
        expect(&["build", order[0], order[1], order[2], "-o", &program], 0)?;
        let mut run = std::process::Command::new(&program);
        let done = run_limited(run.env("CDP_DEVICE", "cpu"), Duration::from_secs(60))?;
        if done.status.code() != Some(42) || done.stdout != b"kernel\n" {
            return Err(format!("{}\n{}", done.status, text(&done.stderr)).into());
        }
    }
    let done = run(&["run", "--device", "cpu", &main, &one_o, &library])?;
    if done.status.code() == Some(42) { Ok(()) } else { Err(text(&done.stderr).into()) }
}

fn kernel_options() -> Outcome {
    for option in [["--grid", "2"], ["--block", "2"], ["--shared", "16"], ["--arg", "7"]] {
        let args = ["run", "--device", "cpu", HELLO, option[0], option[1]];
        contains(&expect(&args, 2)?.1, &[option[0], "--kernel"])?;
    }
    let args = ["run", "--device", "cpu", HELLO, "--kernel", "childKernel", "--", "word"];
    contains(&expect(&args, 2)?.1, &["--arg"])
}

/// A line on the terminal, and nowhere else, says what takes so long; it is gone before an error is said.
#[cfg(unix)]
fn progress() -> Outcome {
    let folder = folder()?;
    let kit = folder.path().join("kit");
    std::fs::create_dir_all(kit.join("bin")).map_err(|error| error.to_string())?;
    let ptxas = kit.join("bin/ptxas");
    let script = "#!/bin/sh\ncase \"$*\" in *--version*) echo 'release 13.0, V13.0.88'; exit 0;; esac\n\
                  sleep 3.5\necho 'the slow one failed' >&2\nexit 1\n";
    std::fs::write(&ptxas, script).map_err(|error| error.to_string())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&ptxas, mode).map_err(|error| error.to_string())?;
    let (out, kit) = (path(&folder, "a.cubin"), kit.display().to_string());
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let line = format!("{} build {HELLO} -o {out} --cuda-path {kit}", executable.display());
    let said = |terminal: bool, term: &str| -> Result<String, Failed> {
        let mut command = if terminal {
            let mut command = std::process::Command::new("script");
            command.args(["-qec", &line, "/dev/null"]);
            command
        } else {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &line]);
            command
        };
        command.env("CDP_TESTS_AS_CDPC", "1").env("TERM", term).current_dir(root());
        let done = run_limited(&mut command, Duration::from_secs(60))?;
        Ok(text(&done.stdout) + &text(&done.stderr))
    };
    let shown = said(true, "xterm")?;
    let parts = ["making ", "a.cubin: 2 s", "a.cubin: 3 s", "the slow one failed"];
    contains(&shown, &parts)?;
    let (before, error) = shown.split_once("the slow one failed").unwrap_or_default();
    let last = before.rsplit("3 s").next().unwrap_or_default();
    if !last.starts_with("\r\u{1b}[K") || error.contains(" s\r") || shown.contains("1 s\r") {
        return Err(format!("the line is not taken away in time:\n{shown:?}").into());
    }
    for (terminal, term) in [(true, "dumb"), (false, "xterm")] {
        let shown = said(terminal, term)?;
        contains(&shown, &["the slow one failed"])?;
        if shown.contains("2 s") {
            return Err(format!("a line of progress with TERM={term}:\n{shown:?}").into());
        }
    }
    Ok(())
}
