//! The reserved range of host addresses that backs the device's global memory.
//!
//! Device addresses are host addresses inside this range, so that managed and pinned memory can be
//! used by host code through the very pointer that kernels use. Pages cost nothing until they are
//! touched. What is allocated where is not known here (see [`super::table`]).

use crate::pages::Pages;

/// Bytes of a page. The arena hands out and takes back whole pages.
pub const PAGE_BYTES: u64 = 4096;

/// Preferred places for the arena, so that addresses are the same in every run of a process that
/// makes its emulators in the same order.
const FIRST_BASE: u64 = 0x0200_0000_0000;
const BASE_STRIDE: u64 = 0x0020_0000_0000;
const BASE_CANDIDATES: u64 = 64;

/// A reserved, lazily committed, zero-filled range of addresses. Access to its bytes goes through raw pointers whose
/// callers order their accesses (see `exec`).
#[derive(Debug)]
pub struct Arena {
    pages: Pages,
}

impl Arena {
    /// Reserves `wanted_bytes`, or less (never less than 64 MiB) if the system refuses so much.
    /// `None` if even that is refused.
    pub fn reserve(wanted_bytes: u64) -> Option<Arena> {
        let mut size_bytes = wanted_bytes.next_multiple_of(PAGE_BYTES).max(64 << 20);
        loop {
            if let Some(arena) = Arena::reserve_exactly(size_bytes) {
                return Some(arena);
            }
            size_bytes /= 2;
            if size_bytes < (64 << 20) {
                return None;
            }
        }
    }

    fn reserve_exactly(size_bytes: u64) -> Option<Arena> {
        let bytes = size_bytes as usize;
        let mut candidates = (0..BASE_CANDIDATES)
            .map(|i| FIRST_BASE + i * BASE_STRIDE)
            .filter(|_| size_bytes <= BASE_STRIDE);
        let pages =
            candidates.find_map(|base| Pages::at(base, bytes)).or_else(|| Pages::new(bytes));
        pages.map(|pages| Arena { pages })
    }

    /// First address.
    pub fn base(&self) -> u64 {
        self.pages.start() as u64
    }

    /// Reserved bytes.
    pub fn size_bytes(&self) -> u64 {
        self.pages.bytes() as u64
    }

    /// Gives the pages of `[start, start + length)` back to the system; they read as zero again.
    /// Both must be multiples of [`PAGE_BYTES`] and lie in the arena.
    pub fn discard(&self, start: u64, length_bytes: u64) {
        let offset = start.checked_sub(self.base()).expect("a place in the arena");
        assert!(start.is_multiple_of(PAGE_BYTES) && length_bytes.is_multiple_of(PAGE_BYTES));
        if length_bytes > 0 {
            self.pages.discard(offset as usize, length_bytes as usize);
        }
    }
}

impl super::Table {
    /// The addresses of all memory that is given out here.
    pub fn addresses(&self) -> std::ops::Range<u64> {
        self.arena.base()..self.arena.base() + self.arena.size_bytes()
    }
}
