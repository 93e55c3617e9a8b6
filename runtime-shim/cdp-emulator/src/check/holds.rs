//! Which lanes are held before a step ([`crate::exec::hold`]): at each place the first few times, and then ever more seldom.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ahead::Ahead;
use super::block::BlockState;
use super::race::current;
use super::{Origin, Watch};
use crate::code::Function;

/// Times in a row that lanes are held at a place.
const FIRST: u32 = 8;

/// Who is held, and how often lanes have come to each place.
#[derive(Debug, Default)]
pub struct Holds {
    came: FxHashMap<Origin, u32>,
    held: u32,
    awaited: FxHashSet<u64>,
    ahead: FxHashMap<u32, Arc<Ahead>>,
}

/// What a word is awaited by: of global memory its address, of shared memory its offset and the block.
pub fn key(block: u32, shared: bool, place: u64) -> u64 {
    if shared { 1 << 63 | u64::from(block) << 32 | place } else { place }
}

impl Holds {
    /// Lanes come to a place: true if they are held there.
    pub fn take(&mut self, at: Origin) -> bool {
        let came = self.came.entry(at).or_default();
        *came = came.saturating_add(1);
        let is_held = *came <= FIRST || came.is_power_of_two();
        self.held += u32::from(is_held);
        is_held
    }

    /// Nobody is held, and nothing awaited.
    pub fn clear(&mut self) {
        self.held = 0;
        self.awaited.clear();
    }

    /// No lanes were held at a place.
    pub fn is_new(&self, at: Origin) -> bool {
        !self.came.contains_key(&at)
    }

    /// Lanes that come to a place may be held there.
    pub fn may(&self, at: Origin) -> bool {
        self.came.get(&at).is_none_or(|came| *came < FIRST)
    }

    /// Some lanes are held.
    pub fn is_taken(&self) -> bool {
        self.held > 0
    }

    /// Lanes that were held go on.
    pub fn release(&mut self) {
        self.held = self.held.saturating_sub(1);
    }

    /// Somebody waits for a word to be written: false if another one does already.
    pub fn awaits(&mut self, key: u64) -> bool {
        self.awaited.insert(key)
    }

    /// Nobody has written a word that is awaited.
    pub fn is_awaited(&self, key: u64) -> bool {
        self.awaited.contains(&key)
    }

    /// A word was written, or is awaited no longer.
    pub fn came(&mut self, key: u64) {
        self.awaited.remove(&key);
    }

    /// Some word is awaited.
    pub fn awaits_any(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// What lies ahead in a function.
    pub fn ahead(&mut self, number: u32, function: &Function) -> Arc<Ahead> {
        self.ahead.entry(number).or_insert_with(|| Arc::new(Ahead::of(function))).clone()
    }
}

impl Watch {
    /// Nobody of the block's grid has written the word at a place.
    pub fn is_bare(&mut self, state: &mut BlockState, shared: bool, place: u64) -> bool {
        let floor = if shared { state.floor } else { self.first_stamp };
        let (page, word) = self.page(state, shared, place & !3);
        let write = current(page.get(word), floor).write;
        if write.is_split() {
            return false;
        }
        let grid = |stamp: u32| self.blocks[self.stamp(stamp).block as usize].grid;
        write.is_none() || grid(write.stamp()) != state.grid
    }
}
