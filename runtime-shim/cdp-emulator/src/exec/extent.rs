//! Allocations that a warp remembers.

use crate::memory::Extent;

/// An allocation that accesses may go to without another lookup. Native code reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CachedExtent {
    /// First address.
    pub lo: u64,
    /// One past the last readable address.
    pub hi: u64,
    /// One past the last writable address (`lo` if read-only).
    pub write_hi: u64,
}

impl Default for CachedExtent {
    fn default() -> CachedExtent {
        CachedExtent { lo: 1, hi: 0, write_hi: 0 }
    }
}

impl From<Extent> for CachedExtent {
    fn from(e: Extent) -> CachedExtent {
        CachedExtent { lo: e.lo, hi: e.hi, write_hi: if e.writable { e.hi } else { 0 } }
    }
}
