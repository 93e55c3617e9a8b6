//! Report cases: programs of `cases/reports` that do something wrong. What `cdpc run` says of them on
//! the CPU device, both streams and the exit code, is the expectation beside the file.
//!
//! Those in `.cu` files want clang.
//!
//! Lines of the PTX are left out, since they change with the code generator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::support::{
    Outcome, blessing, cases, cdpc, files, read, root, run_limited, same, stem, trial,
};

const TIME_LIMIT: Duration = Duration::from_secs(120);

pub fn trials() -> Vec<Trial> {
    let report = |path: PathBuf| trial(format!("reports::{}", stem(&path)), move || check(&path));
    let mut trials: Vec<Trial> = files(&cases("reports"), "cdp").into_iter().map(report).collect();
    let of_clang = files(&cases("reports"), "cu").into_iter().map(report);
    trials.extend(of_clang.map(|trial| trial.with_ignored_flag(!crate::cuda::has_clang())));
    trials.push(trial("reports::as_json".into(), as_json));
    trials
}

/// Runs a case with further arguments; what it printed, and its exit code.
fn said(path: &Path, args: &[&str]) -> Result<(String, String, i32), Failed> {
    let directives = Directives::of(path)?;
    let mut command = cdpc();
    if let Some(library) = crate::run::runtime_library() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    // As a user in the repository's root would name it: reports show the name.
    let name = path.strip_prefix(root()).unwrap_or(path);
    command.args(["run", "--device", "cpu"]).args(directives.words("flags")).args(args).arg(name);
    let output = run_limited(&mut command, TIME_LIMIT)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    match output.status.code().unwrap_or(-1) {
        // Something that the machine lacks is nothing that a program did, and no expectation.
        3 => Err(format!("cdpc could not run it: {stderr}").into()),
        code => Ok((stdout, stderr, code)),
    }
}

fn check(path: &Path) -> Outcome {
    let (stdout, stderr, code) = said(path, &[])?;
    let found =
        format!("{stdout}--- standard error\n{}--- exit code {code}\n", without_ptx_lines(&stderr));
    let expectation = path.with_extension("out");
    if blessing() {
        return std::fs::write(&expectation, found).map_err(|error| error.to_string().into());
    }
    same("what was said", &found, &read(&expectation)?)
}

/// `[program.ptx:41]` as `[program.ptx]`.
fn without_ptx_lines(text: &str) -> String {
    let mut parts = text.split(".ptx:");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str(".ptx");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// The same facts for machines: one object, whose text is what people read.
fn as_json() -> Outcome {
    let path = cases("reports").join("use_after_free.cdp");
    let (_, human, _) = said(&path, &[])?;
    let (_, line, _) = said(&path, &["--message-format", "json"])?;
    let report: serde_json::Value =
        serde_json::from_str(line.trim()).map_err(|error| format!("{error}\n{line}"))?;
    same("the text", report["rendered"].as_str().unwrap_or(""), &human)?;
    let facts = [
        (&report["kind"], "\"use-after-free\""),
        (&report["cuda_error"]["code"], "700"),
        (&report["site"]["kernel_name"], "\"use\""),
        (&report["site"]["source"]["line"], "15"),
        (&report["site"]["thread"], "[0,0,0]"),
        (&report["allocation"]["size_bytes"], "40"),
        (&report["allocation"]["freed_at"]["source"]["line"], "10"),
        (&report["grid_path"][0]["kernel_name"], "\"use\""),
    ];
    for (found, expected) in facts {
        same("a fact", &found.to_string(), expected)?;
    }
    Ok(())
}
