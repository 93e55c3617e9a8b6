//! What lies beneath the last write of words where that is an atomic one: two more planes of a page ([`super::shadow`]),
//! which a page has from the first time on that something is to be kept there. What is to be kept, [`super::cover`] finds.
//!
//! What is absent: words whose bytes are kept apart, which have the same beside their other records.

use super::plane::Plane;
use super::record::{Record, Strength};

/// The write that the atomics began with, which is not atomic, or atomic for fewer threads.
pub const FIRST: usize = 0;
/// An atomic write that who wrote after it does not know of.
pub const OTHER: usize = 1;

/// What is beneath the last write of one word or byte: [`FIRST`] and [`OTHER`].
pub type Covered = [Record; 2];

/// Both kinds, of the words of a page.
#[derive(Debug, Default)]
pub struct Beneath([Option<Box<Plane>>; 2]);

impl Beneath {
    /// What is covered at a word.
    pub fn get(&self, word: usize) -> Covered {
        let record = |plane: &Option<Box<Plane>>| plane.as_ref().map(|plane| plane.get(word));
        [FIRST, OTHER].map(|kind| record(&self.0[kind]).unwrap_or_default())
    }

    /// Something is covered at a word.
    pub fn put(&mut self, kind: usize, word: usize, covered: Record) {
        self.0[kind].get_or_insert_default().put(word, covered);
    }

    /// Nothing is covered from one word to before another.
    pub fn clear(&mut self, from: usize, to: usize) {
        self.0.iter_mut().flatten().for_each(|plane| plane.fill(from, to, Record(0)));
    }

    /// A plain access that meets this write must be told of what may lie beneath it.
    #[inline(always)]
    pub fn is_asked_by_plain(&self, write: Record) -> bool {
        self.0[OTHER].is_some() && write.strength() != Strength::Weak
    }
}
