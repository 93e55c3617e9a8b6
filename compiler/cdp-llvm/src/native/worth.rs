//! Whether native code of a run is sooner done than the interpreter does it: an estimate in processor cycles,
//! rough, and meant to leave out what is slower for certain. Short runs lose by the call, and long chains of
//! operations of which each waits for the one before: native code goes along such a chain once for each vector
//! of lanes, the interpreter once for all of them.
//!
//! The numbers are those of the kernels of `cargo xtask bench run` on an AMD EPYC and beside an H200.

use super::arith;
use super::graph::{Part, Source, Stretch, Value};
use super::memory::Group;
use super::read::{Alu, Line, Run};

/// What the interpreter takes for arithmetic, for an access, and for a branch, behind which it begins anew.
const INTERPRETED: [u32; 3] = [20, 60, 40];
/// What a call costs, and what it costs to look at the addresses of a group of accesses.
const CALL: u32 = 120;
const GROUP: u32 = 25;

/// See the module. A vector has so many lanes of 32 bits.
pub fn is_worth(run: &Run, parts: &[Part], lanes: usize) -> bool {
    let interpreted: u32 = run.lines.iter().map(cost).sum();
    let native: u32 = parts.iter().map(|part| part_cost(run, part, lanes)).sum();
    CALL + native < interpreted
}

fn cost(line: &Line) -> u32 {
    INTERPRETED[match line {
        Line::Access(_) => 1,
        Line::Branch(..) => 2,
        _ => 0,
    }]
}

fn part_cost(run: &Run, part: &Part, lanes: usize) -> u32 {
    // A chain is gone along once for each vector.
    let times = 32 / lanes as u32;
    match part {
        // A call as well.
        Part::Interpreted(index) => run.lines.get(*index).map_or(0, cost) + 10,
        Part::Native(stretch) => {
            GROUP * Group::of(stretch).len() as u32 + times * longest_chain(stretch)
        }
    }
}

fn longest_chain(stretch: &Stretch) -> u32 {
    let mut ready: Vec<u32> = Vec::with_capacity(stretch.values.len());
    for value in &stretch.values {
        let operands = match &value.source {
            Source::Alu(_, args) => args.iter().map(|&arg| ready[arg]).max().unwrap_or(0),
            // Addresses were looked at before.
            _ => 0,
        };
        ready.push(operands + latency(value));
    }
    ready.into_iter().max().unwrap_or(0)
}

fn latency(value: &Value) -> u32 {
    if value.uniform {
        return 0;
    }
    match &value.source {
        Source::Alu(alu, _) if arith::makes_nans(alu) && !is_slow(alu) => 4,
        // With what follows for NaNs.
        Source::Alu(alu, _) if alu.name.contains("F32") || alu.name.contains("F64") => {
            if is_slow(alu) { 25 } else { 11 }
        }
        Source::Alu(alu, _) if alu.name.starts_with('M') && alu.name != "Merge32" => 8,
        Source::Alu(..) => 2,
        _ => 5,
    }
}

fn is_slow(alu: &Alu) -> bool {
    ["Div", "Sqrt", "Rcp"].iter().any(|slow| alu.name.starts_with(slow))
}

#[cfg(test)]
mod tests {
    use super::super::{graph, read};
    use super::*;

    /// So many instructions of a kind, `%` in which is the number of a row that the one before wrote.
    fn judged(count: usize, line: &str) -> bool {
        let mut text = format!("run 3 {count}\n");
        for number in 0..count {
            let (before, row) = (number * 32, number * 32 + 32);
            text += &line.replace('%', &before.to_string()).replace('#', &row.to_string());
            text.push('\n');
        }
        let run = read::read(&text).expect("a run");
        is_worth(&run, &graph::parts(&run), 8)
    }

    #[test]
    fn short_runs_and_long_chains_are_left_to_the_interpreter() {
        let (chain, apart) =
            ("alu DivF32 0 nnn- # % % 0 0", "alu FmaF32 0 nnnn # 9984 9984 9984 0");
        assert!(!judged(3, apart));
        assert!(judged(30, apart));
        assert!(!judged(200, chain));
        assert!(judged(200, "alu FmaF32 0 nnnn # % % % 0"));
        // Integers are quick.
        assert!(judged(200, "alu Add32 0 nnn- # % % 0 0"));
        assert!(judged(8, "load global 4 # 9984 0 1"));
    }
}
