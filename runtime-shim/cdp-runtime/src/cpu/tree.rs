//! The launch tree of a run by launch site: what is launched where, how often, how deep, how small.
//!
//! Made of the trace, which has an entry for each grid. A site is a kernel with the line of its launch below
//! the site that launched it; a kernel that comes to launch itself at the same line is one site. How it
//! is shown is elsewhere: as text here at the end, as a page in [`super::page`].

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use cdp_emulator::TraceGrid;
use serde_json::{Value, json};

use crate::names::kernel_base_name;

/// Mean cycles of a child's own threads below which a launch costs more than it brings.
const SMALL_CYCLES: u64 = 4000;
/// Launches of a site from which on their smallness is worth a word.
const MANY: u64 = 8;

/// A launch site below another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteNode {
    /// The kernel's name in the source.
    pub kernel: String,
    /// `file:line`, or who launched it.
    pub place: String,
    /// The site above, by number.
    pub above: Option<usize>,
    /// Sites in a row above it.
    pub level: usize,
    /// Grids launched here.
    pub grids: u64,
    /// Their threads.
    pub threads: u64,
    /// Instructions of their threads.
    pub instructions: u64,
    /// Most warp-instructions of a grid's warps one after another, summed: cycles of its own threads.
    pub busy_cycles: u64,
    /// Cycles from launch to start, summed.
    pub waiting_cycles: u64,
    /// Cycles from launch to completion, summed.
    pub whole_cycles: u64,
    /// Smallest and largest nesting depth.
    pub depths: (u32, u32),
    /// Streams used.
    pub streams: Vec<String>,
}

/// The launches of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchTree {
    /// Sites, each behind the one above it.
    pub sites: Vec<SiteNode>,
    /// Number of the site of each grid of the trace.
    pub site_of: Vec<usize>,
    /// Grids by nesting depth.
    pub depths: BTreeMap<u32, u64>,
    /// Most pending launches at once, and how many there may be.
    pub pending: (u32, u32),
}

fn size(of: [u32; 3]) -> u64 {
    of.iter().map(|&n| u64::from(n)).product()
}

impl LaunchTree {
    /// The tree of a trace.
    pub fn new(trace: &[TraceGrid], pending: (u32, u32)) -> LaunchTree {
        let mut tree = LaunchTree { pending, ..LaunchTree::default() };
        let mut by_serial: HashMap<u64, usize> = HashMap::new();
        let mut known: HashMap<(Option<usize>, String, String), usize> = HashMap::new();
        for grid in trace {
            let above = by_serial.get(&grid.parent).copied();
            let kernel = kernel_base_name(&grid.kernel);
            let place = match (&grid.launched_at, above) {
                (Some(line), _) => format!("{}:{}", line.file, line.line),
                (None, None) => "the host".to_owned(),
                (None, Some(above)) => tree.sites[above].kernel.clone(),
            };
            let key = (above, kernel, place);
            let site = match known.get(&key) {
                Some(&site) => site,
                None => {
                    let site = tree.find_above(&key).unwrap_or_else(|| tree.add(&key));
                    known.insert(key, site);
                    site
                }
            };
            by_serial.insert(grid.grid, site);
            tree.site_of.push(site);
            tree.sites[site].count(grid);
            *tree.depths.entry(grid.depth).or_default() += 1;
        }
        tree
    }

    /// The same site further up: recursion.
    fn find_above(
        &self,
        (above, kernel, place): &(Option<usize>, String, String),
    ) -> Option<usize> {
        let mut at = *above;
        while let Some(number) = at {
            let site = &self.sites[number];
            if site.kernel == *kernel && site.place == *place {
                return Some(number);
            }
            at = site.above;
        }
        None
    }

    fn add(&mut self, (above, kernel, place): &(Option<usize>, String, String)) -> usize {
        self.sites.push(SiteNode {
            kernel: kernel.clone(),
            place: place.clone(),
            above: *above,
            level: above.map_or(0, |above| self.sites[above].level + 1),
            depths: (u32::MAX, 0),
            ..SiteNode::default()
        });
        self.sites.len() - 1
    }

    /// Sites from the top down, each followed by those below it.
    pub fn in_order(&self) -> Vec<usize> {
        let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (number, site) in self.sites.iter().enumerate() {
            below.entry(site.above).or_default().push(number);
        }
        let mut order = Vec::new();
        let mut open: Vec<usize> = below.get(&None).into_iter().flatten().rev().copied().collect();
        while let Some(number) = open.pop() {
            order.push(number);
            open.extend(below.get(&Some(number)).into_iter().flatten().rev());
        }
        order
    }

    /// Launches of device code.
    pub fn device_launches(&self) -> u64 {
        self.of_device().map(|site| site.grids).sum()
    }

    fn of_device(&self) -> impl Iterator<Item = &SiteNode> {
        self.sites.iter().filter(|site| site.above.is_some())
    }

    /// Share of the time from launch to completion that children of device code wait to start.
    pub fn waiting_share(&self) -> Option<f64> {
        let whole: u64 = self.of_device().map(|site| site.whole_cycles).sum();
        let waiting: u64 = self.of_device().map(|site| site.waiting_cycles).sum();
        (whole > 0).then(|| waiting as f64 / whole as f64)
    }

    /// Numbers of the sites whose children are so small that launching takes longer than they do.
    pub fn too_small(&self) -> Vec<usize> {
        let small = |site: &SiteNode| {
            site.above.is_some()
                && site.grids >= MANY
                && site.busy_cycles / site.grids < SMALL_CYCLES
        };
        (0..self.sites.len()).filter(|&number| small(&self.sites[number])).collect()
    }

    /// What is worth a word, as sentences with the site that each is about.
    pub fn findings(&self) -> Vec<(Option<usize>, String)> {
        let mut found = Vec::new();
        for number in self.too_small() {
            let site = &self.sites[number];
            found.push((
                Some(number),
                format!(
                    "{} children of `{}` launched at {} run {} cycles each, {} thread(s) in the mean; a launch \
                     takes {SMALL_CYCLES}. Larger children, or -flaunch-opt=fast.",
                    site.grids,
                    site.kernel,
                    site.place,
                    site.busy_cycles / site.grids,
                    site.threads / site.grids
                ),
            ));
        }
        let (most, limit) = self.pending;
        if limit > 0 && u64::from(most) * 2 > u64::from(limit) {
            found.push((
                None,
                format!(
                    "{most} launches were pending at once, of {limit} that may be: launches beyond that fail. \
                     cudaDeviceSetLimit with cudaLimitDevRuntimePendingLaunchCount makes room."
                ),
            ));
        }
        found
    }

    /// The tree, the depths and what is worth a word, for people.
    pub fn text(&self) -> String {
        let mut rows = vec![
            ["launch tree", "launched at", "grids", "threads", "instructions", "cycles", "streams"]
                .map(str::to_owned),
        ];
        for number in self.in_order() {
            let site = &self.sites[number];
            rows.push([
                format!("{}{}", "  ".repeat(site.level), site.kernel),
                site.place.clone(),
                site.grids.to_string(),
                site.threads.to_string(),
                site.instructions.to_string(),
                (site.busy_cycles / site.grids.max(1)).to_string(),
                site.streams.join(", "),
            ]);
        }
        let mut text = columns(&rows);
        text.push_str("grids by depth:");
        for (depth, count) in &self.depths {
            let _ = write!(text, " {depth}: {count}");
        }
        let _ =
            writeln!(text, "\npending launches: at most {} of {}", self.pending.0, self.pending.1);
        if let Some(share) = self.waiting_share() {
            let _ = writeln!(
                text,
                "waiting to start: {:.1} % of the time from launch to completion of {} device launches",
                100.0 * share,
                self.device_launches()
            );
        }
        for (_, sentence) in self.findings() {
            let _ = writeln!(text, "note: {sentence}");
        }
        text
    }

    /// The same for machines.
    pub fn json(&self) -> Value {
        let site = |site: &SiteNode| {
            json!({
                "kernel": site.kernel,
                "launched_at": site.place,
                "above": site.above,
                "grids": site.grids,
                "threads": site.threads,
                "thread_instructions": site.instructions,
                "busy_cycles": site.busy_cycles,
                "waiting_cycles": site.waiting_cycles,
                "whole_cycles": site.whole_cycles,
                "streams": site.streams,
            })
        };
        json!({
            "sites": self.sites.iter().map(site).collect::<Vec<_>>(),
            "grids_by_depth": self.depths.values().collect::<Vec<_>>(),
            "pending_peak": self.pending.0,
            "pending_limit": self.pending.1,
            "waiting_share": self.waiting_share(),
            "too_small": self.too_small(),
        })
    }
}

impl SiteNode {
    fn count(&mut self, grid: &TraceGrid) {
        let threads = size(grid.grid_size) * size(grid.block_size);
        let warps = size(grid.grid_size) * size(grid.block_size).div_ceil(32);
        self.grids += 1;
        self.threads += threads;
        self.instructions += grid.counters.thread_instructions;
        // Warps run side by side on a GPU; the mean warp stands for the grid.
        self.busy_cycles += grid.counters.warp_instructions / warps.max(1);
        self.waiting_cycles += grid.start_clock.saturating_sub(grid.launched_clock);
        self.whole_cycles += grid.end_clock.saturating_sub(grid.launched_clock);
        self.depths = (self.depths.0.min(grid.depth), self.depths.1.max(grid.depth));
        if !self.streams.contains(&grid.stream) {
            self.streams.push(grid.stream.clone());
        }
    }
}

/// Rows in columns: texts to the left, numbers to the right.
fn columns(rows: &[[String; 7]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:width$}"),
                1 | 6 => write!(line, "  {cell:width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use cdp_emulator::Counters;
    use cdp_emulator::report::SourceLine;

    /// A grid of a made-up trace.
    pub fn grid(
        serial: u64,
        parent: u64,
        depth: u32,
        kernel: &str,
        start: u64,
        end: u64,
    ) -> TraceGrid {
        let line = SourceLine { file: "a<b>.cdp".to_owned(), line: 7, column: 3 };
        TraceGrid {
            grid: serial,
            kernel: kernel.to_owned(),
            parent,
            launched_by: None,
            launched_at: (parent > 0).then_some(line),
            stream: "NULL".to_owned(),
            depth,
            grid_size: [2, 1, 1],
            block_size: [32, 1, 1],
            launched_clock: start.saturating_sub(10),
            start_clock: start,
            end_clock: end,
            counters: Counters {
                warp_instructions: 100,
                thread_instructions: 3200,
                ..Counters::default()
            },
        }
    }

    #[test]
    fn recursion_is_one_site() {
        let mut trace = vec![grid(1, 0, 0, "_Z6parenti", 0, 900)];
        for n in 2..20 {
            trace.push(grid(n, n - 1, n as u32 - 1, "_Z6parenti", n * 20, 900));
        }
        trace.push(grid(20, 1, 1, "leaf", 40, 50));
        let tree = LaunchTree::new(&trace, (3, 2048));
        let sites: Vec<(&str, u64, Option<usize>)> =
            tree.sites.iter().map(|s| (s.kernel.as_str(), s.grids, s.above)).collect();
        assert_eq!(sites, [("parent", 1, None), ("parent", 18, Some(0)), ("leaf", 1, Some(0))]);
        assert_eq!(tree.in_order(), [0, 1, 2]);
        assert_eq!(tree.depths[&1], 2);
        assert_eq!(tree.too_small(), [1]);
        let text = tree.text();
        assert!(text.contains("  parent     a<b>.cdp:7"), "{text}");
        assert!(text.contains("pending launches: at most 3 of 2048"), "{text}");
        assert!(
            text.contains("note: 18 children of `parent` launched at a<b>.cdp:7 run 50 cycles"),
            "{text}"
        );
    }
}
