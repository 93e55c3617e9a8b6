//! Pages of memory that the system gives to this process alone: anonymous, zero at first, costing nothing until they are
//! touched; or addresses alone, to which files are mapped. What they are for is not known here.

use std::fs::File;
use std::os::fd::AsRawFd;

use libc::{
    MAP_ANON, MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED, PROT_EXEC, PROT_NONE,
    PROT_READ, PROT_WRITE,
};

const READ_WRITE: i32 = PROT_READ | PROT_WRITE;
const READ_EXECUTE: i32 = PROT_READ | PROT_EXEC;
#[cfg(target_os = "linux")]
const MAP_FIXED_NOREPLACE: i32 = libc::MAP_FIXED_NOREPLACE;
#[cfg(not(target_os = "linux"))]
const MAP_FIXED_NOREPLACE: i32 = 0;

/// Some pages, which go back to the system with this.
#[derive(Debug)]
pub struct Pages {
    at: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory owned by this value; who reads and writes there orders it.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Pages for so many bytes, to read and write, anywhere. `None` if the system refuses.
    pub fn new(bytes: usize) -> Option<Pages> {
        Pages::map(0, bytes, READ_WRITE)
    }

    /// As [`Pages::new`], at an address where nothing else is.
    pub fn at(address: u64, bytes: usize) -> Option<Pages> {
        Pages::map(address, bytes, READ_WRITE)
    }

    /// So many bytes of addresses, anywhere, which nobody may use until something is mapped to them.
    pub fn reserved(bytes: usize) -> Option<Pages> {
        Pages::map(0, bytes, PROT_NONE)
    }

    /// As [`Pages::reserved`], at an address where nothing else is.
    pub fn reserved_at(address: u64, bytes: usize) -> Option<Pages> {
        Pages::map(address, bytes, PROT_NONE)
    }

    /// Anywhere for the address 0.
    fn map(address: u64, bytes: usize, protection: i32) -> Option<Pages> {
        let place = if address == 0 { 0 } else { MAP_FIXED_NOREPLACE };
        let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | place;
        // SAFETY: an anonymous private mapping that replaces no other (NOREPLACE, or no address).
        let at = unsafe { libc::mmap(address as *mut _, bytes, protection, flags, -1, 0) };
        let pages = (at != MAP_FAILED).then_some(Pages { at: at.cast(), bytes })?;
        // An old kernel takes the address as a hint only.
        (address == 0 || at as u64 == address).then_some(pages)
    }

    /// Has the first bytes of a file from `offset` on, to read and write; whole pages of these. False if the system
    /// refuses.
    pub fn map_file(&self, offset: usize, bytes: usize, file: &File) -> bool {
        self.replace((offset, bytes), READ_WRITE, MAP_SHARED, file.as_raw_fd())
    }

    /// Has addresses alone there again.
    pub fn vacate(&self, offset: usize, bytes: usize) {
        self.replace((offset, bytes), PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1);
    }

    fn replace(&self, part: (usize, usize), protection: i32, flags: i32, file: i32) -> bool {
        let (offset, bytes) = part;
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        // SAFETY: within the mapping (asserted), which is ours.
        unsafe {
            let start = self.at.add(offset).cast();
            libc::mmap(start, bytes, protection, flags | MAP_FIXED, file, 0) == start
        }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.at
    }

    /// As many as were asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives `bytes` from `offset` on back to the system; they read as zero again. Whole pages of these.
    pub fn discard(&self, offset: usize, bytes: usize) {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        // SAFETY: within the mapping (asserted), which is anonymous, so that it reads as zero afterwards; what does
        // not is written.
        unsafe {
            let start = self.at.add(offset);
            let status = libc::madvise(start.cast(), bytes, libc::MADV_DONTNEED);
            if status != 0 || !cfg!(target_os = "linux") {
                start.write_bytes(0, bytes);
            }
        }
    }

    /// Makes code of what was written there, which cannot be written any more. False if the system does not let it.
    pub fn make_executable(&self) -> bool {
        // SAFETY: a mapping of ours.
        unsafe { libc::mprotect(self.at.cast(), self.bytes, READ_EXECUTE) == 0 }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, not used after this.
        unsafe { libc::munmap(self.at.cast(), self.bytes) };
    }
}
