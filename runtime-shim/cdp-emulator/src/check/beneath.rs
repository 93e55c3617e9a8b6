//! Writes that lie beneath atomic ones, as they are kept: which they are, [`super::cover`] finds.
//!
//! What is absent: what a write is ([`super::record`]).

use super::record::Record;
use crate::hash::IntMap;

/// Covered writes, by the address of their word; of a word whose bytes are kept apart by that of the byte.
#[derive(Debug, Default)]
pub struct Beneath(IntMap<u64, Record>);

impl Beneath {
    /// Nothing is covered.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What is covered at a place.
    pub(super) fn get(&self, place: u64) -> Option<Record> {
        self.0.get(&place).copied()
    }

    /// Something is covered at a place.
    pub(super) fn insert(&mut self, place: u64, covered: Record) {
        self.0.insert(place, covered);
    }

    /// Memory has a new owner.
    pub fn forget(&mut self, address: u64, size_bytes: u64) {
        if !self.0.is_empty() {
            let end = address + size_bytes;
            self.0.retain(|&at, _| at < address & !3 || at >= end);
        }
    }
}
