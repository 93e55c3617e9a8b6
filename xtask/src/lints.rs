//! What clippy and rustdoc say of the workspace; either's warning is a failure of the suite.
//!
//! Which lints there are is decided in the root's `Cargo.toml`, under `[workspace.lints]`.

use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Runs both; what they complain of is shown, and a word for the closing line is returned for each.
///
/// # Errors
/// When cargo cannot be started.
pub fn lints(ui: &Ui) -> Outcome<Vec<&'static str>> {
    let mut complaints = Vec::new();
    let mut clippy = cargo();
    clippy.args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    if !is_clean(ui, "clippy", &mut clippy)? {
        complaints.push("clippy has complaints");
    }
    let mut doc = cargo();
    // Modules name their private parts: their documentation is read in the source.
    let flags = "-D warnings -A rustdoc::private_intra_doc_links";
    doc.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", flags);
    if !is_clean(ui, "rustdoc", &mut doc)? {
        complaints.push("rustdoc has complaints");
    }
    Ok(complaints)
}

fn is_clean(ui: &Ui, what: &str, command: &mut Command) -> Outcome<bool> {
    let step = ui.step(what);
    let output = command.env("CARGO_TERM_COLOR", "never").stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("could not start cargo: {error}")))?;
    step.done();
    if !output.status.success() {
        ui.note(String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(output.status.success())
}
