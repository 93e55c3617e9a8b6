//! What the lanes of a warp access as words that follow each other: where parts of it begin, and who touches them.
//!
//! That is the same for all accesses through a row of addresses, which differ by what each adds and by their records.

use super::neighbours::Neighbours;
use super::plane::{MOST_OF_A_THREAD, ONE, Series, Steps};
use super::record::{NEXT_THREAD, OTHER_THREAD, Record};

/// Words that follow each other, touched by threads that do, or all by the same one or two.
#[derive(Clone, Copy)]
pub struct Run {
    /// Of the first word.
    pub address: u64,
    /// How many.
    pub words: usize,
    /// Their records.
    pub series: Series,
}

/// A run, but for what an access adds to its address, and but for what records of the access have in common.
#[derive(Clone, Copy, Default)]
pub struct Part {
    address: u64,
    words: u32,
    steps: Steps,
    /// What the record of the first word has more than that of the warp's first thread.
    ahead: u64,
}

impl Part {
    /// The part of an access that adds `added`, of which this would be the record of the warp's first thread.
    #[inline(always)]
    pub fn run(&self, first: Record, added: u64) -> Run {
        Run {
            address: self.address.wrapping_add(added),
            words: self.words as usize,
            series: Series::new(Record(first.0.wrapping_add(self.ahead)), self.steps),
        }
    }
}

/// What is accessed by lanes, before something is added to their addresses.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    /// Addresses by lane.
    pub at: &'a [u64; 32],
    /// Lanes.
    pub lanes: u32,
    /// Bytes by each.
    pub bytes: u64,
    /// They write.
    pub writes: bool,
    /// How they lie.
    pub neighbours: Neighbours,
}

impl Lanes<'_> {
    /// The part that begins with a lane, and its last lane.
    #[inline(always)]
    pub fn part_from(&self, lane: u32) -> (Part, u32) {
        let words = self.bytes as u32 / 4;
        let address = self.at[lane as usize & 31];
        let mut part =
            Part { address, words, steps: ONE, ahead: u64::from(lane).wrapping_mul(NEXT_THREAD) };
        let other = |lane: u32| u64::from(lane).wrapping_mul(NEXT_THREAD) & OTHER_THREAD;
        let of_first = part.ahead & !OTHER_THREAD;
        let same = if self.writes { 0 } else { self.neighbours.same(lane) };
        if same > 0 {
            // Of those that read the same the first and the last are remembered.
            part.ahead = of_first | other(lane + same);
            return (part, lane + same);
        }
        let follow = self.neighbours.follow(lane);
        if follow == 0 || words as usize > MOST_OF_A_THREAD || !words.is_power_of_two() {
            return (part, lane);
        }
        part.words = words * (follow + 1);
        part.steps = words.trailing_zeros();
        let mut last = lane + follow;
        // So are those of rows of lanes that read the same.
        let again = |next: u32| {
            next < 32
                && self.lanes >> next & 1 != 0
                && self.at[next as usize] == address
                && self.neighbours.follow(next) == follow
        };
        while !self.writes && again(last + 1) {
            part.ahead = of_first | other(last + 1);
            last += follow + 1;
        }
        (part, last)
    }

    /// All parts.
    #[inline(always)]
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let mut rest = self.lanes;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let (part, last) = self.part_from(rest.trailing_zeros());
                rest &= u32::MAX.checked_shl(last + 1).unwrap_or(0);
                part
            })
        })
    }
}

/// Parts that are remembered of a row of addresses.
const MOST: usize = 4;

/// The parts of an access by all lanes, if there are few.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    parts: [Part; MOST],
    /// How many; 0 if there are more.
    count: usize,
}

impl Parts {
    /// Of these lanes.
    #[inline(always)]
    pub fn of(lanes: &Lanes<'_>) -> Parts {
        let mut found = Parts::default();
        for part in lanes.parts() {
            if found.count == MOST {
                return Parts::default();
            }
            found.parts[found.count] = part;
            found.count += 1;
        }
        found
    }

    /// The parts, if there are few.
    #[inline(always)]
    pub fn few(&self) -> Option<&[Part]> {
        (self.count > 0).then(|| &self.parts[..self.count.min(MOST)])
    }
}
