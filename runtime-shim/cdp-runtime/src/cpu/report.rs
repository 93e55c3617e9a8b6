//! Writing the emulator's reports: text for people, one JSON object a line for machines.

use cdp_emulator::Report;
use cdp_emulator::report::{AllocationInfo, GridStep, Site, SourceLine};
use serde_json::{Value, json};

use crate::error::CudaError;

/// A report as text, several lines, ending with a line break.
pub fn human(report: &Report) -> String {
    let severity = if report.warning { "warning" } else { "error" };
    format!("device {severity}: {report}\n")
}

/// A report as one line of JSON.
pub fn json_line(report: &Report) -> String {
    let code = CudaError(report.cuda_code());
    let waiters = report.waiters.iter().map(
        |waiter| json!({ "site": site(&waiter.site), "lanes": waiter.lanes, "what": waiter.what }),
    );
    let object = json!({
        "reason": "device-report",
        "severity": if report.warning { "warning" } else { "error" },
        "kind": report.kind.name(),
        "message": report.message,
        "help": report.help,
        "cuda_error": { "code": code.0, "name": code.name().to_string_lossy() },
        "site": report.site.as_ref().map(site),
        "grid_path": report.grid_path.iter().map(step).collect::<Vec<_>>(),
        "address": report.address.map(hex),
        "allocation": report.allocation.as_ref().map(allocation),
        "waiters": waiters.collect::<Vec<_>>(),
        "rendered": human(report),
    });
    format!("{object}\n")
}

/// Addresses as text: JSON numbers lose bits past 2^53 in many readers.
fn hex(address: u64) -> String {
    format!("{address:#x}")
}

fn source(line: &SourceLine) -> Value {
    json!({ "file": line.file, "line": line.line, "column": line.column })
}

fn site(site: &Site) -> Value {
    json!({
        "kernel": site.kernel,
        "grid": site.grid,
        "block": site.block,
        "thread": site.thread,
        "function": site.function,
        "ptx_file": site.ptx_file,
        "ptx_line": site.ptx_line,
        "source": site.source.as_ref().map(source),
    })
}

fn step(step: &GridStep) -> Value {
    json!({
        "kernel": step.kernel,
        "grid": step.grid,
        "launched_by": step.launched_by.map(|(block, thread)| json!({ "block": block, "thread": thread })),
        "launched_at": step.launched_at.as_ref().map(source),
    })
}

fn allocation(info: &AllocationInfo) -> Value {
    json!({
        "base": hex(info.base),
        "size_bytes": info.size_bytes,
        "what": info.what,
        "allocated_at": info.allocated_at.as_ref().map(site),
        "freed": info.freed,
        "freed_at": info.freed_at.as_ref().map(site),
    })
}
