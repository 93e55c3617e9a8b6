//! The reserved range of host addresses that backs the device's global memory.
//!
//! Device addresses are host addresses inside this range, so that managed and pinned memory can be
//! used by host code through the very pointer that kernels use. Pages cost nothing until they are
//! touched. What is allocated where is not known here (see [`super::table`]).

use std::ffi::c_void;

/// Bytes of a page. The arena hands out and takes back whole pages.
pub const PAGE_BYTES: u64 = 4096;

/// Preferred places for the arena, so that addresses are the same in every run of a process that
/// makes its emulators in the same order.
const FIRST_BASE: u64 = 0x0200_0000_0000;
const BASE_STRIDE: u64 = 0x0020_0000_0000;
const BASE_CANDIDATES: u64 = 64;

/// A reserved, lazily committed, zero-filled range of addresses.
#[derive(Debug)]
pub struct Arena {
    base: *mut u8,
    size_bytes: u64,
}

// SAFETY: the arena is plain memory owned by this value; access to its bytes goes through raw
// pointers whose callers order their accesses (see `exec`).
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

unsafe extern "C" {
    fn mmap(
        addr: *mut c_void,
        length: usize,
        prot: i32,
        flags: i32,
        fd: i32,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(addr: *mut c_void, length: usize) -> i32;
    fn madvise(addr: *mut c_void, length: usize, advice: i32) -> i32;
}

const PROT_READ_WRITE: i32 = 3;
const MAP_PRIVATE: i32 = 2;
#[cfg(target_os = "linux")]
const MAP_ANONYMOUS: i32 = 0x20;
#[cfg(not(target_os = "linux"))]
const MAP_ANONYMOUS: i32 = 0x1000;
#[cfg(target_os = "linux")]
const MAP_NORESERVE: i32 = 0x4000;
#[cfg(not(target_os = "linux"))]
const MAP_NORESERVE: i32 = 0x40;
#[cfg(target_os = "linux")]
const MAP_FIXED_NOREPLACE: i32 = 0x10_0000;
#[cfg(not(target_os = "linux"))]
const MAP_FIXED_NOREPLACE: i32 = 0;
const MADV_DONTNEED: i32 = 4;

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
        let candidates = (0..BASE_CANDIDATES).map(|i| FIRST_BASE + i * BASE_STRIDE);
        for (hint, fixed) in candidates.map(|base| (base, true)).chain([(0, false)]) {
            if size_bytes > BASE_STRIDE && fixed {
                continue;
            }
            let extra = if fixed { MAP_FIXED_NOREPLACE } else { 0 };
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra;
            // SAFETY: an anonymous private mapping that replaces no other (NOREPLACE, or no hint).
            let base = unsafe {
                mmap(hint as *mut c_void, size_bytes as usize, PROT_READ_WRITE, flags, -1, 0)
            };
            if base as isize == -1 {
                continue;
            }
            if fixed && base as u64 != hint {
                // An old kernel took the address as a hint only: give the mapping back.
                // SAFETY: just mapped, not used by anybody.
                unsafe { munmap(base, size_bytes as usize) };
                continue;
            }
            return Some(Arena { base: base.cast(), size_bytes });
        }
        None
    }

    /// First address.
    pub fn base(&self) -> u64 {
        self.base as u64
    }

    /// Reserved bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Gives the pages of `[start, start + length)` back to the system; they read as zero again.
    /// Both must be multiples of [`PAGE_BYTES`] and lie in the arena.
    pub fn discard(&self, start: u64, length_bytes: u64) {
        assert!(start >= self.base() && start + length_bytes <= self.base() + self.size_bytes);
        assert!(start.is_multiple_of(PAGE_BYTES) && length_bytes.is_multiple_of(PAGE_BYTES));
        if length_bytes == 0 {
            return;
        }
        // SAFETY: the range is ours (asserted) and anonymous, so that it reads as zero afterwards.
        let status = unsafe { madvise(start as *mut c_void, length_bytes as usize, MADV_DONTNEED) };
        if status != 0 || !cfg!(target_os = "linux") {
            // SAFETY: the range is ours and mapped read-write.
            unsafe { std::ptr::write_bytes(start as *mut u8, 0, length_bytes as usize) };
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: mapped by `reserve_exactly`, not used after this.
        unsafe { munmap(self.base.cast(), self.size_bytes as usize) };
    }
}
