//! Writing the emulator's reports: text for people, one JSON object a line for machines.

use std::path::Path;

use cdp_emulator::report::{AllocationInfo, GridStep, Site, SourceLine};
use cdp_emulator::{Related, Report};
use serde_json::{Value, json};

use crate::error::CudaError;
use crate::names::kernel_base_name;

/// A report as text, several lines, ending with a line break: with the names of the source, and the
/// guilty line of it where its file is at hand. What CUDA itself would have said comes first.
pub fn human(report: &Report) -> String {
    let severity = if report.warning { "warning" } else { "error" };
    let named = with_source_names(report);
    let text = named.to_string();
    let source = report.site.as_ref().and_then(|site| site.source.as_ref());
    let source = source.or(report.host.as_ref());
    let first = format!("{}: {}", named.kind.name(), named.message);
    let rest = text.strip_prefix(&first).unwrap_or("").trim_start_matches('\n');
    // The first line after the sentence is where it was.
    let (place, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut out = format!("{}device {severity}: {first}\n", report.said);
    let mut push = |text: &str| {
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
    };
    push(place);
    push(&source.and_then(snippet).unwrap_or_default());
    push(rest);
    if report.site.is_some() && source.is_none() {
        push("  note: source lines are known when the program is compiled with -lineinfo");
    }
    out
}

/// The report with names as in the source.
fn with_source_names(report: &Report) -> Report {
    let mut named = report.clone();
    let allocation = named.allocation.as_mut();
    let allocation_sites = allocation.map(|a| [a.allocated_at.as_mut(), a.freed_at.as_mut()]);
    let waiting = named.waiters.iter_mut().map(|waiter| &mut waiter.site);
    let related = named.related.iter_mut().filter_map(|related| related.site.as_mut());
    let of_allocation = allocation_sites.into_iter().flatten().flatten();
    for site in named.site.iter_mut().chain(of_allocation).chain(waiting).chain(related) {
        site.kernel = kernel_base_name(&site.kernel);
        site.function = kernel_base_name(&site.function);
    }
    let paths = named.related.iter_mut().map(|related| &mut related.grid_path);
    for step in paths.chain([&mut named.grid_path]).flatten() {
        step.kernel = kernel_base_name(&step.kernel);
    }
    named
}

/// A source line with a mark under its column, without a line break at the end. `None` if the file
/// is not there, or has changed since this program was made.
fn snippet(source: &SourceLine) -> Option<String> {
    const LONGEST: u64 = 8 << 20;
    let path = Path::new(&source.file);
    let about = path.metadata().ok()?;
    let made = std::env::current_exe().and_then(|program| program.metadata()?.modified()).ok()?;
    if about.len() > LONGEST || about.modified().ok()? > made {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let line = text.split(|&byte| byte == b'\n').nth(source.line.checked_sub(1)? as usize)?;
    marked(&String::from_utf8_lossy(line), source)
}

fn marked(line: &str, source: &SourceLine) -> Option<String> {
    let line = line.trim_end();
    if line.trim_start().is_empty() {
        return None;
    }
    let number = source.line.to_string();
    let mut out = format!("    {number} | {line}");
    // Columns count bytes; tabs stay tabs, so that the mark stands below them.
    if let Some(before) = line.as_bytes().get(..(source.column as usize).saturating_sub(1))
        && source.column > 0
    {
        let before = String::from_utf8_lossy(before);
        let blank: String = before.chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
        out.push_str(&format!("\n    {} | {blank}^", " ".repeat(number.len())));
    }
    Some(out)
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
        "host": report.host.as_ref().map(source),
        "grid_path": report.grid_path.iter().map(step).collect::<Vec<_>>(),
        "address": report.address.map(hex),
        "allocation": report.allocation.as_ref().map(allocation),
        "waiters": waiters.collect::<Vec<_>>(),
        "related": report.related.iter().map(related).collect::<Vec<_>>(),
        "count": report.count,
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
        "kernel_name": kernel_base_name(&site.kernel),
        "grid": site.grid,
        "block": site.block,
        "thread": site.thread,
        "function": site.function,
        "function_name": kernel_base_name(&site.function),
        "ptx_file": site.ptx_file,
        "ptx_line": site.ptx_line,
        "source": site.source.as_ref().map(source),
    })
}

fn related(related: &Related) -> Value {
    json!({
        "what": related.what,
        "site": related.site.as_ref().map(site),
        "host": related.host.as_ref().map(source),
        "grid_path": related.grid_path.iter().map(step).collect::<Vec<_>>(),
    })
}

fn step(step: &GridStep) -> Value {
    json!({
        "kernel": step.kernel,
        "kernel_name": kernel_base_name(&step.kernel),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> SourceLine {
        SourceLine { file: "a.cdp".into(), line, column }
    }

    #[test]
    fn the_mark_stands_below_the_column() {
        let line = "\tdata[i] *= 2;  ";
        assert_eq!(
            marked(line, &at(12, 10)).unwrap(),
            "    12 | \tdata[i] *= 2;\n       | \t        ^"
        );
        assert_eq!(marked("x = 1;", &at(3, 0)).unwrap(), "    3 | x = 1;");
        assert_eq!(marked("x = 1;", &at(3, 99)).unwrap(), "    3 | x = 1;");
        assert_eq!(marked("   ", &at(3, 1)), None);
        assert_eq!(snippet(&at(1, 1)), None);
    }
}
