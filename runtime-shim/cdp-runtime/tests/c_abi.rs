//! C programs linked with the static library, as compiled programs are: their device code is
//! `c/kernels.ptx`, their tables are written by hand. Needs a C compiler called `cc`.

mod link;

use cdp_image::pieces;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// `tests/c`
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c")
}

/// Assembly in `folder` that holds a PTX text as the program's device code.
fn device_code(ptx: &Path, folder: &Path) -> PathBuf {
    let (path, code) = (folder.join("device.s"), folder.join("device.code"));
    let ptx = std::fs::read(ptx).expect("it lies beside the sources");
    std::fs::write(&code, pieces::join([&[][..], &ptx])).expect("a scratch file");
    let text = format!(
        ".section .rodata\n.globl cdp_device_code\n.balign {}\ncdp_device_code: .incbin \"{}\"\n\
         .section .note.GNU-stack,\"\",@progbits\n",
        pieces::ALIGN,
        code.display()
    );
    std::fs::write(&path, text).expect("a scratch file");
    path
}

/// Builds `c/NAME.c` with its device code and the library.
fn build(name: &str, folder: &Path) -> PathBuf {
    let sources = sources();
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wno-unused-function", "-o"]).arg(&program);
    command.arg(sources.join(name).with_extension("c"));
    command.arg(device_code(&sources.join("kernels.ptx"), folder));
    command.arg(link::static_library()).args(["-lpthread", "-ldl", "-lm"]);
    link::succeed(&mut command);
    program
}

/// The built program; each is built once.
fn program(name: &'static str) -> PathBuf {
    static BUILT: Mutex<Vec<(&str, PathBuf)>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, path)) = built.iter().find(|known| known.0 == name) {
        return path.clone();
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests");
    let path = build(name, &folder);
    built.push((name, path.clone()));
    path
}

fn run(name: &'static str, env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program(name));
    command.env("CDP_DEVICE", "cpu").envs(env.iter().copied());
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_call_returns_what_cudas_runtime_returns() {
    let output = run("semantics", &[]);
    let expected = include_str!("c/semantics.out");
    let found = text(&output.stdout);
    for (number, (wanted, got)) in expected.lines().zip(found.lines()).enumerate() {
        let said = text(&output.stderr);
        assert_eq!(wanted, got, "line {}; standard error:\n{said}", number + 1);
    }
    assert_eq!(expected.len(), found.len());
    assert!(output.status.success());
}

#[test]
fn what_was_launched_is_done_before_the_process_ends() {
    let output = run("hello", &[]);
    assert_eq!(text(&output.stdout), "host\ndevice 42\ndevice 42\n");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(3), ""));
}

#[test]
fn code_that_does_not_belong_together_is_refused() {
    let output = run("misfit", &[]);
    let said = text(&output.stderr);
    assert_eq!(text(&output.stdout), "hello 98\nnowhere 98\nlast 98\n", "{said}");
    assert!(said.contains("version 2"), "{said}");
    assert!(
        said.contains("`hello` has parameters of [4] bytes in the device code and of [8]"),
        "{said}"
    );
}

#[test]
fn a_fault_is_reported_for_people_and_for_machines() {
    let output = run("fault", &[]);
    let said = text(&output.stderr);
    assert_eq!(text(&output.stdout), "launch 0\nsynchronize 700\n", "{said}");
    assert!(said.starts_with("device error: ") && said.contains("`wild`"), "{said}");
    let output = run("fault", &[("CDP_MESSAGE_FORMAT", "json")]);
    let line = text(&output.stderr);
    let report: serde_json::Value = serde_json::from_str(&line).expect("one line of JSON");
    assert_eq!(report["reason"], "device-report");
    assert_eq!(report["severity"], "error");
    assert_eq!(report["cuda_error"]["code"], 700);
    assert_eq!(report["site"]["kernel"], "wild");
    assert_eq!(report["address"], "0x10");
}

#[test]
fn host_threads_share_the_device() {
    let output = run("managed", &[]);
    // 0 + 1 + ... + 63, times 3 to the tenth, in 32 bits.
    let sum: i64 = (0..64i64).map(|i| i64::from((i * 59049) as i32)).sum();
    assert_eq!(text(&output.stdout), format!("{sum}\n").repeat(4), "{}", text(&output.stderr));
}

#[test]
fn a_choice_that_is_none_is_said_and_ignored() {
    let output = run("hello", &[("CDP_TIMEOUT", "soon")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("CDP_TIMEOUT=soon is ignored"));
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_not_a_crash() {
    if cdp_runtime::gpu::device_count().is_ok() {
        return; // There is one here; the runner's own tests use it.
    }
    let output = run("hello", &[("CDP_DEVICE", "gpu")]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), "host\n"));
    assert!(text(&output.stderr).starts_with("cdp: CDP_DEVICE=gpu: "));
}

#[test]
fn a_run_is_traced_and_profiled() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let trace = folder.path().join("trace.json");
    let name = trace.to_str().expect("a scratch folder's name is text");
    let output = run("semantics", &[("CDP_TRACE", name), ("CDP_PROFILE", "1")]);
    // The lives of the device before and after its reset are both in them.
    let table = text(&output.stderr);
    let row = table.lines().find(|line| line.starts_with("parent ")).expect("a row for `parent`");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((cells[1], cells.last()), ("1", Some(&"1")), "{table}");
    let trace = std::fs::read_to_string(trace).expect("the trace");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!((named("parent"), named("child")), (1, 1));
    let output = run("hello", &[("CDP_PROFILE", "1"), ("CDP_MESSAGE_FORMAT", "json")]);
    let object: serde_json::Value = serde_json::from_str(&text(&output.stderr)).expect("JSON");
    assert_eq!(object["reason"], "device-profile");
    assert_eq!(object["kernels"][0]["threads"], 2);
}

#[test]
fn a_run_is_bounded_and_its_order_chosen() {
    let output = run("semantics", &[("CDP_MAX_INSTRUCTIONS", "10000")]);
    assert_eq!(output.status.code(), Some(0), "the exit code is the program's own");
    assert!(text(&output.stderr).contains("instruction-limit"), "{}", text(&output.stderr));
    for seed in ["1", "2", "3"] {
        let output = run("semantics", &[("CDP_SCHEDULE_SEED", seed), ("CDP_THREADS", "2")]);
        assert_eq!(text(&output.stdout), include_str!("c/semantics.out"), "seed {seed}");
    }
}
