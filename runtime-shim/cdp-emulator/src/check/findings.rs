//! What was found, gathered by pairs of places.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::bounds::Stray;
use super::host::Trespass;
use super::record::Strength;
use super::{Origin, Stamp, Watch};
use crate::code::Async;
use crate::memory::SiteRef;
use crate::services::Unset;

/// One of the two accesses.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Which thread, and which instruction.
    pub site: SiteRef,
    /// The instruction, or what the runtime did.
    pub origin: Origin,
    /// It wrote.
    pub writes: bool,
    /// It read and wrote in one.
    pub updates: bool,
    /// Plain or atomic.
    pub strength: Strength,
    /// Its grid, as the checks number them.
    pub grid: u32,
    /// It is done asynchronously.
    pub later: Option<Async>,
    /// It is the end of the memory.
    pub releases: bool,
}

/// How two accesses that conflict are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Nothing orders them.
    Race,
    /// Only the order of the stream that one block launched both grids into.
    Siblings,
}

/// Two accesses that conflict.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// Race or not.
    pub kind: Relation,
    /// The one that was found.
    pub now: Side,
    /// The one before it.
    pub before: Side,
    /// In shared memory.
    pub shared: bool,
    /// First byte: an address, or an offset in shared memory.
    pub address: u64,
    /// Threads of one block.
    pub same_block: bool,
    /// They come one after the other, and yet the later one need not see the earlier one.
    pub unseen: Option<Unseen>,
}

/// Why an access need not see a write that comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// It goes by the asynchronous proxy, and there is no fence between the two.
    Unfenced,
    /// It is of a texture, or of what is read as if it did not change, and the same grid wrote there.
    OwnGrid,
}

impl Conflict {
    /// Lanes of a warp, threads of a block, of a grid, of two grids.
    fn distance(&self) -> u32 {
        let warp = |side: &Side| side.site.thread / 32;
        match (self.same_block, self.now.grid == self.before.grid) {
            (true, _) => u32::from(warp(&self.now) != warp(&self.before)),
            (false, true) => 2,
            (false, false) => 3,
        }
    }
}

/// A pair of places, and how often.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The first time.
    pub conflict: Conflict,
    /// How often.
    pub count: u64,
}

/// A rule that an access breaks by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// Shared memory of another block of the cluster is touched, and nothing tells that the block has begun.
    NotBegun {
        /// It is written.
        writes: bool,
    },
    /// A lane comes to an exchange with a mask that does not name it.
    Unnamed,
    /// Lanes meet whose masks are alike only as far as lanes have not ended.
    Unlike,
    /// An instruction on matrices, which is the whole warp's, with lanes missing.
    Incomplete,
}

/// Something comes of a value that a shuffle took from a lane which did not take part.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    /// Which thread took it, by which shuffle.
    pub taken: SiteRef,
    /// The lane it was taken from, and where that one was.
    pub source: u32,
    /// See `source`.
    pub whereabouts: Whereabouts,
    /// What comes of it, and where.
    pub effect: Unset,
    /// See `effect`.
    pub at: SiteRef,
    /// How often.
    pub count: u64,
}

/// Where a lane is that does not take part.
#[derive(Clone, Copy, Debug)]
pub enum Whereabouts {
    /// The block has no such thread.
    NoThread,
    /// It has ended.
    Ended,
    /// At this instruction.
    At(SiteRef),
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    by_pair: FxHashMap<u64, Vec<usize>>,
    all: Vec<Finding>,
    /// Plain reads that conflict with atomic updates, by block, thread and word.
    held: HashMap<(u32, u32, u64), Vec<Conflict>>,
    /// Instructions that read what a compare-and-swap of the same thread then checked.
    checked: HashSet<Origin>,
    /// Reads of memory that was never written, by instruction: the first, and how many.
    unwritten: Vec<Unwritten>,
    /// Accesses between variables, by instruction.
    strays: Vec<Stray>,
    /// Divisions by zero, by instruction: the first, and how many.
    divisions: Vec<(SiteRef, u64)>,
    lapses: Vec<(Lapse, SiteRef, u64)>,
    /// Values of lanes that did not take part, by shuffle and by what came of them.
    absent: Vec<Absent>,
    /// Accesses of host code to what is not its, by place and kind.
    trespasses: Vec<Trespass>,
}

/// Memory that reads are looked at of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Global memory.
    Global,
    /// Shared memory of a block.
    Shared,
    /// Local memory of a thread.
    Local,
    /// None: a value in a register.
    Register(Unset),
}

/// A read of memory that was never written.
#[derive(Clone, Copy, Debug)]
pub struct Unwritten {
    /// Which thread, and which instruction.
    pub site: SiteRef,
    /// Which memory.
    pub home: Home,
    /// First byte: an address, or an offset.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Which of them were never written, a bit each.
    pub missing: u64,
    /// How often.
    pub count: u64,
}

/// The side that only reads.
fn reader_of(conflict: &Conflict) -> &Side {
    if conflict.now.writes { &conflict.before } else { &conflict.now }
}

/// Conflicts that are held back at once.
const MOST_HELD: usize = 100_000;
/// Pairs of instructions that are told apart.
const MOST: usize = 10_000;

impl Findings {
    /// Notes a conflict.
    pub fn add(&mut self, conflict: Conflict) {
        let key = |side: &Side| {
            u64::from(side.origin.function) << 32 | u64::from(side.origin.instruction)
        };
        let (a, b) = (key(&conflict.now), key(&conflict.before));
        let pair = (a.min(b), a.max(b), conflict.kind == Relation::Siblings);
        let slot = self.by_pair.entry(pair.0.rotate_left(17) ^ pair.1).or_default();
        let same = |finding: &Finding| {
            let (c, d) = (key(&finding.conflict.now), key(&finding.conflict.before));
            (c.min(d), c.max(d), finding.conflict.kind == Relation::Siblings) == pair
        };
        match slot.iter().find(|&&at| same(&self.all[at])) {
            Some(&at) => {
                let finding = &mut self.all[at];
                finding.count += 1;
                // Of several the farthest apart says most about what is missing.
                if conflict.distance() > finding.conflict.distance() {
                    finding.conflict = conflict;
                }
            }
            None if self.all.len() < MOST => {
                slot.push(self.all.len());
                self.all.push(Finding { conflict, count: 1 });
            }
            None => {}
        }
    }

    /// Notes a plain read that conflicts with an atomic update. If the reader goes on to a
    /// compare-and-swap of the same word, that looks whether what it read still holds.
    pub fn hold(&mut self, reader: (u32, u32, u64), conflict: Conflict) {
        if self.held.len() >= MOST_HELD {
            self.release_held();
        }
        self.held.entry(reader).or_default().push(conflict);
    }

    /// A thread executes a compare-and-swap on a word.
    pub fn swapped(&mut self, block: u32, thread: u32, word: u64) {
        if self.held.is_empty() {
            return;
        }
        for conflict in self.held.remove(&(block, thread, word)).into_iter().flatten() {
            self.checked.insert(reader_of(&conflict).origin);
        }
    }

    fn release_held(&mut self) {
        let mut held: Vec<_> = std::mem::take(&mut self.held).into_iter().collect();
        held.sort_by_key(|(reader, _)| *reader);
        for conflict in held.into_iter().flat_map(|(_, conflicts)| conflicts) {
            if !self.checked.contains(&reader_of(&conflict).origin) {
                self.add(conflict);
            }
        }
    }

    /// Notes a read of memory that was never written.
    pub fn add_unwritten(&mut self, read: Unwritten) {
        let place = |read: &Unwritten| (read.site.function, read.site.instruction);
        match self.unwritten.iter_mut().find(|known| place(known) == place(&read)) {
            Some(known) => known.count += read.count,
            None => self.unwritten.push(read),
        }
    }

    /// Takes the reads of memory that was never written.
    pub fn take_unwritten(&mut self) -> Vec<Unwritten> {
        std::mem::take(&mut self.unwritten)
    }

    /// Notes an access between variables.
    pub fn add_stray(&mut self, stray: Stray) {
        let place = |stray: &Stray| (stray.site.function, stray.site.instruction);
        match self.strays.iter_mut().find(|known| place(known) == place(&stray)) {
            Some(known) => known.count += stray.count,
            None => self.strays.push(stray),
        }
    }

    /// Takes the accesses between variables.
    pub fn take_strays(&mut self) -> Vec<Stray> {
        std::mem::take(&mut self.strays)
    }

    /// Notes divisions by zero of one instruction.
    pub fn add_division(&mut self, site: SiteRef, count: u64) {
        let place = |site: &SiteRef| (site.function, site.instruction);
        match self.divisions.iter_mut().find(|known| place(&known.0) == place(&site)) {
            Some(known) => known.1 += count,
            None => self.divisions.push((site, count)),
        }
    }

    /// Takes the divisions by zero.
    pub fn take_divisions(&mut self) -> Vec<(SiteRef, u64)> {
        std::mem::take(&mut self.divisions)
    }

    /// Notes that lanes break a rule at an instruction.
    pub fn add_lapse(&mut self, lapse: Lapse, site: SiteRef, count: u32) {
        let place = |site: &SiteRef| (site.function, site.instruction);
        let mut known = self.lapses.iter_mut();
        match known.find(|known| known.0 == lapse && place(&known.1) == place(&site)) {
            Some(known) => known.2 += u64::from(count),
            None => self.lapses.push((lapse, site, u64::from(count))),
        }
    }

    /// Takes the broken rules, with places and counts.
    pub fn take_lapses(&mut self) -> Vec<(Lapse, SiteRef, u64)> {
        std::mem::take(&mut self.lapses)
    }

    /// Notes that something comes of a value of a lane that did not take part.
    pub fn add_absent(&mut self, found: Absent) {
        let place = |site: &SiteRef| (site.function, site.instruction);
        let places = |found: &Absent| (place(&found.taken), place(&found.at));
        match self.absent.iter_mut().find(|known| places(known) == places(&found)) {
            Some(known) => known.count += found.count,
            None => self.absent.push(found),
        }
    }

    /// Takes them.
    pub fn take_absent(&mut self) -> Vec<Absent> {
        std::mem::take(&mut self.absent)
    }

    /// Notes an access of host code to what is not its.
    pub fn add_trespass(&mut self, found: Trespass) {
        let same = |known: &&mut Trespass| (known.place, known.kind) == (found.place, found.kind);
        match self.trespasses.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.trespasses.push(found),
        }
    }

    /// Takes them.
    pub fn take_trespasses(&mut self) -> Vec<Trespass> {
        std::mem::take(&mut self.trespasses)
    }

    /// Takes what there is.
    pub fn take(&mut self) -> Vec<Finding> {
        self.release_held();
        self.by_pair.clear();
        std::mem::take(&mut self.all)
    }
}

impl Watch {
    /// What two accesses that no edge orders are to be called; `None` if that is not looked for.
    pub fn kind_of(&self, before: &Stamp, now: &Stamp) -> Option<Relation> {
        if self.checks.siblings {
            let grids = [before, now].map(|stamp| self.blocks[stamp.block as usize].grid);
            if self.are_siblings(grids[0], grids[1]) {
                return Some(Relation::Siblings);
            }
        }
        self.checks.races.then_some(Relation::Race)
    }

    /// True if the two grids, or the grids that launched them, ..., were launched by one block into
    /// one stream.
    fn are_siblings(&self, a: u32, b: u32) -> bool {
        let mut ancestors = Vec::new();
        let mut at = a;
        while at != 0 {
            ancestors.push(at);
            at = self.grids[at as usize].parent;
        }
        let (mut at, mut below) = (b, 0);
        while at != 0 {
            if let Some(meeting) = ancestors.iter().position(|&grid| grid == at) {
                if meeting == 0 || below == 0 {
                    return false;
                }
                let streams =
                    [ancestors[meeting - 1], below].map(|g| self.grids[g as usize].stream);
                return streams[0] != 0 && streams[0] == streams[1];
            }
            below = at;
            at = self.grids[at as usize].parent;
        }
        false
    }
}
