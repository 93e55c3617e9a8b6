//! What a run is summed up in when the process ends: the launch tree as a trace file, the tables of the
//! kernels and launches, the page. All outlive a reset of the device.

use std::path::Path;

use cdp_emulator::Report;
use cdp_emulator::{Emulator, KernelProfile, TraceEvent, TraceGrid, chrome_json};
use serde_json::json;

use super::MessageFormat;
use super::page::Page;
use super::tree::LaunchTree;
use crate::names::kernel_base_name;

/// Reports that the page shows.
const MOST_REPORTS: usize = 100;

/// What earlier lives of the device have left, before its resets.
#[derive(Default)]
pub struct Past {
    trace: Vec<TraceGrid>,
    events: Vec<TraceEvent>,
    pending_peak: u32,
    /// What the device reported, as text.
    pub reports: Vec<String>,
    profile: Vec<KernelProfile>,
}

impl Past {
    /// Keeps a report for the page.
    pub fn tell(&mut self, report: &Report) {
        if self.reports.len() < MOST_REPORTS {
            self.reports.push(super::report::human(report));
        }
    }

    /// Keeps what the emulator has gathered.
    pub fn keep(&mut self, emulator: &Emulator) {
        // The times of the events go on where those of the grids so far end.
        self.events = self.whole_events(emulator);
        self.trace = self.whole_trace(emulator);
        self.pending_peak = self.pending_peak.max(emulator.pending_peak());
        self.profile = self.whole_profile(emulator);
    }

    /// The trace of all lives: serial numbers and times go on where the last life ended.
    fn whole_trace(&self, emulator: &Emulator) -> Vec<TraceGrid> {
        let grids = self.trace.iter().map(|entry| entry.grid).max().unwrap_or(0);
        let clock = self.trace.iter().map(|entry| entry.end_clock).max().unwrap_or(0);
        let mut all = self.trace.clone();
        all.extend(emulator.trace().iter().cloned().map(|mut entry| {
            entry.grid += grids;
            if entry.parent > 0 {
                entry.parent += grids;
            }
            entry.launched_clock += clock;
            entry.start_clock += clock;
            entry.end_clock += clock;
            entry
        }));
        all
    }

    fn whole_events(&self, emulator: &Emulator) -> Vec<TraceEvent> {
        let clock = self.trace.iter().map(|entry| entry.end_clock).max().unwrap_or(0);
        let later = emulator.trace_events().iter().cloned();
        let later = later.map(|event| TraceEvent { clock: event.clock + clock, ..event });
        self.events.iter().cloned().chain(later).collect()
    }

    fn launch_tree(&self, emulator: &Emulator, trace: &[TraceGrid]) -> LaunchTree {
        let peak = self.pending_peak.max(emulator.pending_peak());
        LaunchTree::new(trace, (peak, emulator.limits().pending_launches))
    }

    fn whole_profile(&self, emulator: &Emulator) -> Vec<KernelProfile> {
        let mut all = self.profile.clone();
        for entry in emulator.profile() {
            match all.iter_mut().find(|known| known.kernel == entry.kernel) {
                Some(known) => {
                    known.launches += entry.launches;
                    known.blocks += entry.blocks;
                    known.threads += entry.threads;
                    known.child_launches += entry.child_launches;
                    known.counters.add(&entry.counters);
                }
                None => all.push(entry),
            }
        }
        all.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        all
    }

    /// Writes the trace file.
    ///
    /// # Errors
    /// A sentence with the file and what is wrong.
    pub fn write_trace(&self, emulator: &Emulator, path: &Path) -> Result<(), String> {
        let text = self.trace_json(emulator);
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The trace as Chrome's JSON, with names as in the source.
    pub fn trace_json(&self, emulator: &Emulator) -> String {
        let mut trace = self.whole_trace(emulator);
        for entry in &mut trace {
            entry.kernel = kernel_base_name(&entry.kernel);
        }
        chrome_json(&trace, &self.whole_events(emulator))
    }

    /// Writes the page.
    ///
    /// # Errors
    /// A sentence with the file and what is wrong.
    pub fn write_page(&self, emulator: &Emulator, path: &Path) -> Result<(), String> {
        let (trace, events) = (self.whole_trace(emulator), self.whole_events(emulator));
        let (profile, tree) = (self.whole_profile(emulator), self.launch_tree(emulator, &trace));
        let (trace, events, profile, tree) = (&trace, &events, &profile, &tree);
        let page = Page { trace, events, profile, tree, reports: &self.reports };
        std::fs::write(path, page.html()).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The tables of the kernels and of the launches.
    pub fn profile_text(&self, emulator: &Emulator, format: MessageFormat) -> String {
        let profile = self.whole_profile(emulator);
        let launches = self.launch_tree(emulator, &self.whole_trace(emulator));
        match format {
            MessageFormat::Human => format!("{}\n{}", table(&profile), launches.text()),
            MessageFormat::Json => json_line(&profile, &launches),
        }
    }
}

const COLUMNS: [&str; 12] = [
    "kernel",
    "launches",
    "blocks",
    "threads",
    "instructions",
    "loads",
    "stores",
    "shared",
    "atomics",
    "divergent",
    "barriers",
    "children",
];

fn cells(entry: &KernelProfile) -> [String; 12] {
    let c = &entry.counters;
    let share = match c.branches {
        0 => "-".to_owned(),
        branches => format!("{:.1} %", 100.0 * c.divergent_branches as f64 / branches as f64),
    };
    [
        kernel_base_name(&entry.kernel),
        entry.launches.to_string(),
        entry.blocks.to_string(),
        entry.threads.to_string(),
        c.thread_instructions.to_string(),
        c.load_transactions.to_string(),
        c.store_transactions.to_string(),
        c.shared_accesses.to_string(),
        c.atomics.to_string(),
        share,
        c.barriers.to_string(),
        entry.child_launches.to_string(),
    ]
}

/// Instructions of threads; loads and stores in 128-byte transactions of global memory; shared
/// accesses and barrier arrivals of warps; the share of branches that diverged.
fn table(profile: &[KernelProfile]) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(profile.iter().map(cells));
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = match column {
                0 => format!("{cell:width$}"),
                _ => format!("  {cell:>width$}"),
            };
            text.push_str(&cell);
        }
        text.push('\n');
    }
    text
}

fn json_line(profile: &[KernelProfile], launches: &LaunchTree) -> String {
    let kernels = profile.iter().map(|entry| {
        let c = &entry.counters;
        json!({
            "kernel": entry.kernel,
            "launches": entry.launches,
            "blocks": entry.blocks,
            "threads": entry.threads,
            "child_launches": entry.child_launches,
            "warp_instructions": c.warp_instructions,
            "thread_instructions": c.thread_instructions,
            "load_transactions": c.load_transactions,
            "store_transactions": c.store_transactions,
            "shared_accesses": c.shared_accesses,
            "atomics": c.atomics,
            "branches": c.branches,
            "divergent_branches": c.divergent_branches,
            "barriers": c.barriers,
        })
    });
    let object = json!({
        "reason": "device-profile",
        "kernels": kernels.collect::<Vec<_>>(),
        "launches": launches.json(),
    });
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdp_emulator::Counters;

    #[test]
    fn the_table_is_aligned() {
        let counters = Counters { branches: 3, divergent_branches: 1, ..Counters::default() };
        let entry = KernelProfile {
            kernel: "_Z6parentPi".to_owned(),
            launches: 1000,
            blocks: 2,
            threads: 64,
            child_launches: 7,
            counters,
        };
        let other = KernelProfile { kernel: "k".to_owned(), ..KernelProfile::default() };
        let text = table(&[entry.clone(), other]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("kernel  launches  blocks"));
        assert!(lines[1].starts_with("parent      1000       2"), "{text}");
        assert!(lines[1].contains("33.3 %") && lines[2].contains("-"));
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        let object: serde_json::Value =
            serde_json::from_str(&json_line(&[entry], &LaunchTree::default())).unwrap();
        assert_eq!(object["kernels"][0]["child_launches"], 7);
    }
}
