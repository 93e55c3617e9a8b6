//! The GPU runner's whole way, on the CPU device: a bundle, child processes, table, report, exit code.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn run(folder: &Path, cases: Value, args: &[&str]) -> Output {
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cdp-runtime/tests/c/kernels.ptx");
    std::fs::copy(ptx, folder.join("kernels.ptx")).expect("a scratch file");
    let manifest = json!({ "format": 1, "arch": "sm_90", "commit": "abc", "cases": cases });
    std::fs::write(folder.join("manifest.json"), manifest.to_string()).expect("a scratch file");
    Command::new(env!("CARGO_BIN_EXE_cdp-gpu-runner"))
        .current_dir(folder)
        .args(["--device", "cpu", "--report", "report.md"])
        .args(args)
        .output()
        .expect("the runner runs")
}

/// A case with launches; a cubin is asked for even where it is not used.
fn launches(name: &str, launches: Value) -> Value {
    json!({ "name": name, "cubin": "no.cubin", "ptx": ["kernels.ptx"], "launches": launches })
}

fn words(values: &[i32]) -> String {
    values.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn good_bundles_pass_and_are_reported() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let scale = json!({
        "kernel": "scale", "block": [32, 1, 1], "args": ["i32[4] 1,2,3,4", "4", "7"],
        "expected": [{ "arg": 0, "hex": words(&[7, 14, 21, 28]) }],
    });
    let parent = json!({
        "name": "nested", "kernel": "parent", "args": ["zeros i32[4]"],
        "expected": [{ "arg": 0, "hex": words(&[100, 101, 102, 103]) }],
    });
    let wild = json!({ "kernel": "wild", "args": ["u64 16"], "expected_error": 700 });
    let program = json!({
        "name": "program", "executable": "/bin/echo", "args": ["a", "b"],
        "expected_stdout": "echo.out",
    });
    std::fs::write(folder.path().join("echo.out"), "a b\n").expect("a scratch file");
    let cases = json!([launches("kernels", json!([scale, wild, parent, wild, scale])), program]);
    let output = run(folder.path(), cases, &[]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{table}\n{said}");
    assert!(table.contains("pass 5/5") && table.contains("2 cases, 2 passed, 0 failed"), "{table}");
    let report = std::fs::read_to_string(folder.path().join("report.md")).expect("the report");
    assert!(report.contains("| kernels | pass 5/5 |"), "{report}");
    assert!(report.contains("- Launches checked: 5 of 5 as expected"), "{report}");
}

#[test]
fn bad_results_are_told_apart() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let wrong = json!({
        "name": "wrong", "kernel": "scale", "block": [32, 1, 1], "args": ["i32[2] 1,2", "2", "7"],
        "expected": [{ "arg": 0, "hex": words(&[7, 15]) }],
    });
    let unknown = json!({ "kernel": "nobody" });
    let count = json!({ "kernel": "scale", "args": ["1"] });
    let spared = json!({ "kernel": "hello", "args": ["1"], "expected_error": 700 });
    let fault = json!({ "name": "fault", "kernel": "wild", "args": ["u64 16"] });
    let slow = json!({
        "name": "slow", "executable": "/bin/sleep", "args": ["60"], "time_limit_ms": 100,
    });
    let exit = json!({ "name": "exit", "executable": "/bin/false" });
    let missing = json!({ "name": "missing", "executable": "not-there" });
    let all = json!([wrong, unknown, count, spared, fault]);
    let cases = json!([launches("kernels", all), slow, exit, missing]);
    let output = run(folder.path(), cases, &["--jobs", "1"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{table}");
    for problem in [
        "FAIL 0/5",
        "wrong: argument 0, byte 4: expected 0f000000, found 0e000000",
        "nobody: there is no kernel `nobody`",
        "scale: `scale` has 3 parameters",
        "hello: error 700 is expected; there was none",
        "fault: running the kernel",
        "stopped after 100 ms",
        "exit code 0 is expected",
        "not-there",
        "4 cases, 0 passed, 4 failed",
    ] {
        assert!(table.contains(problem), "{problem} in\n{table}");
    }
}

#[test]
fn misuse_has_an_exit_code_of_its_own() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = run(folder.path(), json!([]), &["--speed", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`--speed` is not an option"));
    let output = run(folder.path(), json!([{ "name": "empty" }]), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("neither an executable nor a cubin"));
}
