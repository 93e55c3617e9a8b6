//! Clocks that stand still while everybody waits.
//!
//! Loops that wait look at a clock too: to sleep longer the longer they wait (`cuda::barrier`, `cuda::atomic` and
//! what is made of them), or to give up. So when nothing is done but to wait, time is all that could change
//! anything: it stands still until the state of all blocks has come again, and leaps then. The first leaps
//! are what people wait for, from a millisecond to minutes. If the state has come again after all of them, the
//! last two tell whether anything but the time differs behind them. If not, no time ends the waiting.

use std::sync::atomic::Ordering;

use super::Core;
use crate::exec::Block;

/// Nanoseconds by which clocks leap, one leap after another.
const LEAPS: [u64; 8] = [
    1 << 20,
    1 << 24,
    1 << 28,
    1 << 32,
    1 << 36,
    1 << 40,
    // Half a day, and two weeks: words that differ by just that are times.
    0x2b67_9e37_79b9,
    0x5_1d2b_8e4f_a6c3,
];
/// Those after which the state is compared with that before.
const COMPARED: usize = 2;
/// Rounds of all blocks until clocks leap although the state has not come again.
const LONG: u64 = 64;

/// Bytes of memory, or of blocks, that are looked through.
pub const MOST_BYTES: u64 = 64 << 20;

/// Clocks that stand still.
#[derive(Debug)]
pub struct Standstill {
    /// What the clock of that warp showed that had executed least.
    least: u64,
    /// Leaps so far.
    leaps: usize,
    /// The round of the last one.
    since: u64,
    /// The state before the last leap, where that is compared.
    picture: Option<Picture>,
}

/// The state of all blocks.
#[derive(Debug)]
struct Picture {
    /// Registers and local memory.
    words: Vec<u32>,
    /// All else.
    rest: u64,
    /// Stores and atomics so far.
    traffic: u64,
    /// What is in memory, if that is not too much.
    memory: Option<u64>,
}

/// What is to be done about blocks that all wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Wait,
    /// Nothing but to forget states: the clocks have leapt.
    Leap,
    /// It cannot be told what time would change.
    GiveUp,
    /// Nothing will end it.
    Fail,
}

impl Core {
    /// Stops the clocks, if they go.
    pub(super) fn stop_clocks(&mut self, round: u64) {
        if self.stall.still.is_some() {
            return;
        }
        let times = self.blocks.iter().filter_map(|entry| entry.block.as_deref());
        let times = times.flat_map(Block::members).flat_map(|block| {
            let running = block.warps.iter().filter(|warp| warp.live != 0);
            running.map(|warp| block.grid.start_clock + warp.clock)
        });
        let (mut least, mut most) = (u64::MAX, 0);
        for time in times {
            (least, most) = (least.min(time), most.max(time));
        }
        let clocks = &mut self.machine_mut().clocks;
        clocks.standing = Some(most + clocks.ahead);
        *clocks.read.get_mut() = false;
        let still = Standstill { least, leaps: 0, since: round, picture: None };
        self.stall.still = Some(Box::new(still));
    }

    /// Lets them go on, if they stand: none goes back.
    pub(super) fn let_clocks_go_on(&mut self) {
        let Some(still) = self.stall.still.take() else { return };
        let clocks = &mut self.machine_mut().clocks;
        if let Some(time) = clocks.standing.take() {
            clocks.ahead = clocks.ahead.max(time.saturating_sub(still.least));
        }
        clocks.forget();
    }

    pub(super) fn has_picture(&self) -> bool {
        self.stall.still.as_ref().is_some_and(|still| still.picture.is_some())
    }

    /// The state has come again while the clocks stood.
    pub(super) fn comes_again(&mut self, round: u64) -> Next {
        if !self.machine.clocks.read.load(Ordering::Relaxed) {
            return Next::Fail;
        }
        let before = LEAPS.len() - COMPARED;
        if self.stall.still.as_ref().is_some_and(|still| still.leaps >= before) {
            let Some(picture) = self.picture() else { return Next::GiveUp };
            if let Some(still) = &mut self.stall.still {
                still.picture = Some(picture);
            }
        }
        self.leap(round)
    }

    /// The state has not come again yet.
    pub(super) fn does_not_come_again(&mut self, round: u64) -> Next {
        let since = self.stall.still.as_ref().map_or(round, |still| still.since);
        match self.machine.clocks.read.load(Ordering::Relaxed) && round - since > LONG {
            true => self.leap(round),
            false => Next::Wait,
        }
    }

    /// Looks whether all is as it was before the last leap, but for times.
    pub(super) fn compare_pictures(&mut self, round: u64) -> Next {
        let now = self.picture();
        let Some(still) = self.stall.still.as_mut() else { return Next::GiveUp };
        let (Some(now), Some(then)) = (now, &still.picture) else { return Next::GiveUp };
        if !now.is_later(then, LEAPS[still.leaps - 1]) {
            return if round - still.since > LONG { Next::GiveUp } else { Next::Wait };
        }
        if still.leaps == LEAPS.len() {
            return Next::Fail;
        }
        still.picture = Some(now);
        self.leap(round)
    }

    fn leap(&mut self, round: u64) -> Next {
        let Some(still) = &mut self.stall.still else { return Next::GiveUp };
        let compares = still.leaps >= LEAPS.len() - COMPARED;
        let Some(by) = LEAPS.get(still.leaps).filter(|_| !compares || still.picture.is_some())
        else {
            return Next::GiveUp;
        };
        (still.leaps, still.since) = (still.leaps + 1, round);
        let clocks = &mut self.machine_mut().clocks;
        clocks.standing = clocks.standing.map(|time| time + by);
        clocks.forget();
        Next::Leap
    }

    /// `None` if that is too much to look at.
    fn picture(&self) -> Option<Picture> {
        let mut words = Vec::new();
        let most = MOST_BYTES as usize / 4;
        let (rest, traffic) = self.walk_blocks(|of_warp, _| {
            if words.len() <= most {
                words.extend_from_slice(of_warp);
            }
        });
        if words.len() > most {
            return None;
        }
        Some(Picture { words, rest, traffic, memory: self.state_of_memory() })
    }
}

impl Picture {
    /// The same as `then` but for words that are times, which are later by `leap`.
    fn is_later(&self, then: &Picture, leap: u64) -> bool {
        let memory =
            self.traffic == then.traffic || self.memory.is_some() && self.memory == then.memory;
        let (low, high) = (leap as u32, (leap >> 32) as u32);
        // A carry of the low word, and what is taken from a fixed time.
        let is_time = |by: u32| by == low || by == high || by == high.wrapping_add(1);
        let same = |(now, then): (&u32, &u32)| {
            now == then || is_time(now.wrapping_sub(*then)) || is_time(then.wrapping_sub(*now))
        };
        memory
            && self.rest == then.rest
            && self.words.len() == then.words.len()
            && self.words.iter().zip(&then.words).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAPS, Picture};

    fn words(words: &[u64]) -> Picture {
        let halves = words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]);
        Picture { words: halves.collect(), rest: 1, traffic: 2, memory: Some(3) }
    }

    #[test]
    fn times_are_told_from_counters() {
        let leap = LEAPS[LEAPS.len() - 1];
        // A counter, a time, what is left until one, a time near a carry.
        let (past, end) = (1 << 20, 1 << 60);
        let before = words(&[7, past, end - past, u64::from(u32::MAX)]);
        let later = |count| {
            let now = past + leap;
            words(&[count, now, end - now, u64::from(u32::MAX) + leap])
        };
        assert!(later(7).is_later(&before, leap));
        assert!(!later(8).is_later(&before, leap), "the counter went on");
        assert!(!later(7).is_later(&before, LEAPS[0]), "another leap");
        let written = Picture { traffic: 9, memory: Some(4), ..later(7) };
        assert!(!written.is_later(&before, leap), "memory has changed");
        let same = Picture { traffic: 9, ..later(7) };
        assert!(same.is_later(&before, leap), "the same was written");
    }
}
