//! The launch tree of a run, and its form for trace viewers.

use std::collections::HashMap;
use std::fmt::Write;

/// One grid of the launch tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceGrid {
    /// Serial number, from 1.
    pub grid: u64,
    /// Mangled kernel name.
    pub kernel: String,
    /// Serial number of the grid that launched it; 0 for the host.
    pub parent: u64,
    /// Block and thread that launched it.
    pub launched_by: Option<([u32; 3], [u32; 3])>,
    /// Nesting depth; 0 for grids of the host.
    pub depth: u32,
    /// Blocks.
    pub grid_size: [u32; 3],
    /// Threads a block.
    pub block_size: [u32; 3],
    /// Virtual time when it was launched, in cycles.
    pub launched_clock: u64,
    /// Virtual time when its first block began, in cycles.
    pub start_clock: u64,
    /// Virtual time when it and all its descendants were done, in cycles.
    pub end_clock: u64,
}

/// The launch tree in the Chrome trace event format (opens in Perfetto and `chrome://tracing`).
/// One row a nesting depth; times are cycles of the virtual clock, shown as microseconds; flow
/// arrows lead from a grid to its children.
pub fn chrome_json(trace: &[TraceGrid]) -> String {
    let mut out = String::from("{\"traceEvents\":[\n");
    let mut first = true;
    let mut line = |text: String| {
        if !std::mem::take(&mut first) {
            out.push_str(",\n");
        }
        out.push_str(&text);
    };
    let lanes = lanes(trace);
    let by_serial: HashMap<u64, usize> =
        trace.iter().enumerate().map(|(i, g)| (g.grid, i)).collect();
    for (entry, &lane) in trace.iter().zip(&lanes) {
        let mut text = String::new();
        let [gx, gy, gz] = entry.grid_size;
        let [bx, by, bz] = entry.block_size;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{{\"name\":\"{}\",\"cat\":\"grid\",\"ph\":\"X\",\"pid\":{},\"tid\":{lane},\"ts\":{},\"dur\":{},\"args\":{{\"grid\":{},\"parent\":{},\"depth\":{},\"blocks\":\"{gx}x{gy}x{gz}\",\"threads\":\"{bx}x{by}x{bz}\"}}}}",
            escape(&entry.kernel),
            entry.depth,
            entry.start_clock,
            entry.end_clock.saturating_sub(entry.start_clock).max(1),
            entry.grid,
            entry.parent,
            entry.depth,
        );
        line(text);
        let Some(&at) = by_serial.get(&entry.parent) else { continue };
        line(format!(
            "{{\"name\":\"launch\",\"cat\":\"launch\",\"ph\":\"s\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
            entry.grid, trace[at].depth, lanes[at], entry.launched_clock
        ));
        line(format!(
            "{{\"name\":\"launch\",\"cat\":\"launch\",\"ph\":\"f\",\"bp\":\"e\",\"id\":{},\"pid\":{},\"tid\":{lane},\"ts\":{}}}",
            entry.grid, entry.depth, entry.start_clock
        ));
    }
    out.push_str("\n]}\n");
    out
}

/// A row for each grid so that grids of one depth that overlap are under each other.
fn lanes(trace: &[TraceGrid]) -> Vec<u32> {
    let mut busy_until: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut order: Vec<usize> = (0..trace.len()).collect();
    order.sort_by_key(|&i| (trace[i].start_clock, trace[i].grid));
    let mut lanes = vec![0; trace.len()];
    for i in order {
        let rows = busy_until.entry(trace[i].depth).or_default();
        let free = rows.iter().position(|&end| end <= trace[i].start_clock);
        let row = free.unwrap_or_else(|| {
            rows.push(0);
            rows.len() - 1
        });
        rows[row] = trace[i].end_clock.max(trace[i].start_clock + 1);
        lanes[i] = row as u32;
    }
    lanes
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_grids_get_rows_of_their_own() {
        let grid = |grid, parent, depth, start, end| TraceGrid {
            grid,
            kernel: "k\"1".to_string(),
            parent,
            launched_by: None,
            depth,
            grid_size: [1; 3],
            block_size: [1; 3],
            launched_clock: start,
            start_clock: start,
            end_clock: end,
        };
        let trace = vec![
            grid(1, 0, 0, 0, 100),
            grid(2, 1, 1, 10, 50),
            grid(3, 1, 1, 20, 60),
            grid(4, 1, 1, 55, 70),
        ];
        assert_eq!(lanes(&trace), [0, 0, 1, 0]);
        let json = chrome_json(&trace);
        assert!(json.contains("\"name\":\"k\\\"1\"") && json.contains("\"ph\":\"s\""));
        assert_eq!(json.matches("\"ph\":\"X\"").count(), 4);
    }
}
