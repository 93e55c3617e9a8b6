//! The launch tree of a run, and its form for trace viewers.

use std::collections::HashMap;
use std::fmt::Write;

use super::Core;
use crate::exec::Counters;
use crate::report::SourceLine;
use crate::work::GridKey;

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
    /// Line of the launch, if known.
    pub launched_at: Option<SourceLine>,
    /// The stream that it was launched into: `stream 0` of the host; of device code `NULL`, `per thread`,
    /// `tail`, `fire and forget`, `created`.
    pub stream: String,
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
    /// What its own threads did.
    pub counters: Counters,
}

/// A call of the host, or a copy or set of memory, at a moment of virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// What it was.
    pub what: &'static str,
    /// The stream, as in [`TraceGrid`]; empty if it has none.
    pub stream: String,
    /// Bytes that were copied, set, allocated.
    pub bytes: u64,
    /// Virtual time in cycles.
    pub clock: u64,
}

/// Cycles of the virtual clock in a microsecond, the unit of trace files.
pub const CYCLES_A_MICROSECOND: u64 = 1000;

/// A time of the virtual clock in microseconds, exactly.
fn microseconds(cycles: u64) -> String {
    format!("{}.{:03}", cycles / CYCLES_A_MICROSECOND, cycles % CYCLES_A_MICROSECOND)
}

/// The launch tree in the Chrome trace event format (opens in Perfetto and `chrome://tracing`). A process
/// a nesting depth, with a thread for each of the grids that are there at once; one more process for what
/// the host does, a thread a stream. Flow arrows lead from the moment of a launch to the child.
pub fn chrome_json(trace: &[TraceGrid], events: &[TraceEvent]) -> String {
    let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    let mut first = true;
    let mut line = |text: String| {
        if !std::mem::take(&mut first) {
            out.push_str(",\n");
        }
        out.push_str(&text);
    };
    let lanes = lanes(trace);
    name_tracks(trace, &lanes, events, &mut line);
    for event in events {
        let (name, stream) = (escape(event.what), escape(&event.stream));
        line(format!(
            "{{\"name\":\"{name}\",\"cat\":\"host\",\"ph\":\"i\",\"s\":\"t\",\"pid\":{HOST},\"tid\":{},\"ts\":{},\"args\":{{\"bytes\":{},\"stream\":\"{stream}\"}}}}",
            track(events, &event.stream),
            microseconds(event.clock),
            event.bytes,
        ));
    }
    let by_serial: HashMap<u64, usize> =
        trace.iter().enumerate().map(|(i, g)| (g.grid, i)).collect();
    for (entry, &lane) in trace.iter().zip(&lanes) {
        line(slice(entry, lane));
        let Some(&at) = by_serial.get(&entry.parent) else { continue };
        line(format!(
            "{{\"name\":\"launch\",\"cat\":\"launch\",\"ph\":\"s\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
            entry.grid,
            process(trace[at].depth),
            lanes[at],
            microseconds(entry.launched_clock)
        ));
        line(format!(
            "{{\"name\":\"launch\",\"cat\":\"launch\",\"ph\":\"f\",\"bp\":\"e\",\"id\":{},\"pid\":{},\"tid\":{lane},\"ts\":{}}}",
            entry.grid,
            process(entry.depth),
            microseconds(entry.start_clock)
        ));
    }
    out.push_str("\n]}\n");
    out
}

/// Process of what the host does.
const HOST: u32 = 1;

/// Process of the grids of a depth.
fn process(depth: u32) -> u32 {
    HOST + 1 + depth
}

/// Thread of a stream of the host: streams in the order of their first event.
fn track(events: &[TraceEvent], stream: &str) -> usize {
    let mut streams: Vec<&str> = Vec::new();
    for event in events {
        if !streams.contains(&event.stream.as_str()) {
            streams.push(&event.stream);
        }
        if event.stream == stream {
            break;
        }
    }
    streams.iter().position(|known| *known == stream).unwrap_or(0)
}

/// Names of processes and threads, and their order.
fn name_tracks(
    trace: &[TraceGrid],
    lanes: &[u32],
    events: &[TraceEvent],
    line: &mut impl FnMut(String),
) {
    let mut name = |what: &str, pid: u32, tid: usize, name: &str| {
        let name = escape(name);
        line(format!(
            "{{\"name\":\"{what}\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":\"{name}\"}}}}"
        ));
    };
    let mut streams: Vec<&str> = Vec::new();
    for event in events {
        if !streams.contains(&event.stream.as_str()) {
            name(
                "thread_name",
                HOST,
                streams.len(),
                match event.stream.as_str() {
                    "" => "calls",
                    stream => stream,
                },
            );
            streams.push(&event.stream);
        }
    }
    if !events.is_empty() {
        name("process_name", HOST, 0, "host");
    }
    let mut rows: Vec<u32> = Vec::new();
    for (entry, &lane) in trace.iter().zip(lanes) {
        let depth = entry.depth as usize;
        rows.resize(rows.len().max(depth + 1), 0);
        rows[depth] = rows[depth].max(lane + 1);
    }
    for (depth, &count) in rows.iter().enumerate() {
        let pid = process(depth as u32);
        let whose = match depth {
            0 => "depth 0: grids of the host".to_string(),
            depth => format!("depth {depth}: grids launched at depth {}", depth - 1),
        };
        name("process_name", pid, 0, &whose);
        for lane in 0..count {
            name("thread_name", pid, lane as usize, &format!("grids {}", lane + 1));
        }
    }
    for pid in HOST..process(rows.len() as u32) {
        line(format!(
            "{{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":{pid},\"tid\":0,\"args\":{{\"sort_index\":{pid}}}}}"
        ));
    }
}

/// A grid from its first block to the end of all that it launched.
fn slice(entry: &TraceGrid, lane: u32) -> String {
    let [gx, gy, gz] = entry.grid_size;
    let [bx, by, bz] = entry.block_size;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "{{\"name\":\"{}\",\"cat\":\"grid\",\"ph\":\"X\",\"pid\":{},\"tid\":{lane},\"ts\":{},\"dur\":{},\"args\":{{\"grid\":{},\"parent\":{},\"depth\":{},\"blocks\":\"{gx}x{gy}x{gz}\",\"threads\":\"{bx}x{by}x{bz}\",\"stream\":\"{}\",\"thread-instructions\":{}",
        escape(&entry.kernel),
        process(entry.depth),
        microseconds(entry.start_clock),
        microseconds(entry.end_clock.saturating_sub(entry.start_clock).max(1)),
        entry.grid,
        entry.parent,
        entry.depth,
        escape(&entry.stream),
        entry.counters.thread_instructions,
    );
    if let Some(place) = &entry.launched_at {
        let _ = write!(text, ",\"launched at\":\"{}\"", escape(&place.to_string()));
    }
    if let Some(([x, y, z], [u, v, w])) = entry.launched_by {
        let _ = write!(text, ",\"launched by\":\"block ({x},{y},{z}), thread ({u},{v},{w})\"");
    }
    text.push_str("}}");
    text
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

impl Core {
    /// The launch tree.
    pub fn trace(&self) -> &[TraceGrid] {
        &self.trace
    }

    /// What the host did, and copies and sets.
    pub fn trace_events(&self) -> &[TraceEvent] {
        &self.events_traced
    }

    /// Notes a call, copy or set, if there is a trace.
    pub fn trace_event(&mut self, what: &'static str, stream: impl FnOnce() -> String, bytes: u64) {
        if self.config.trace {
            let clock = self.clock;
            self.events_traced.push(TraceEvent { what, stream: stream(), bytes, clock });
        }
    }

    /// Notes the stream that a grid was launched into, if there is a trace.
    pub fn trace_stream(&mut self, key: GridKey, name: impl FnOnce() -> String) {
        if let Some(at) = self.grid(key).and_then(|grid| grid.trace) {
            self.trace[at].stream = name();
        }
    }
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
            launched_at: None,
            stream: "stream 0".to_string(),
            depth,
            grid_size: [1; 3],
            block_size: [1; 3],
            launched_clock: start,
            start_clock: start,
            end_clock: end,
            counters: Counters::default(),
        };
        let trace = vec![
            grid(1, 0, 0, 0, 100),
            grid(2, 1, 1, 10, 50),
            grid(3, 1, 1, 20, 60),
            grid(4, 1, 1, 55, 70),
        ];
        assert_eq!(lanes(&trace), [0, 0, 1, 0]);
        let event =
            TraceEvent { what: "launch", stream: "stream 0".to_string(), bytes: 0, clock: 1500 };
        let json = chrome_json(&trace, &[event]);
        assert!(json.contains("\"ts\":1.500,") && json.contains("\"name\":\"grids 2\""), "{json}");
        assert!(json.contains("\"name\":\"k\\\"1\"") && json.contains("\"ph\":\"s\""));
        assert_eq!(json.matches("\"ph\":\"X\"").count(), 4);
    }
}
