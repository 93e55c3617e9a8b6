//! Machine code in memory: written first, then executable, never both.

use std::ffi::c_void;

use super::run::Entry;

unsafe extern "C" {
    fn mmap(
        addr: *mut c_void,
        length: usize,
        prot: i32,
        flags: i32,
        fd: i32,
        offset: i64,
    ) -> *mut c_void;
    fn mprotect(addr: *mut c_void, length: usize, prot: i32) -> i32;
    fn munmap(addr: *mut c_void, length: usize) -> i32;
}

const READ_WRITE: i32 = 3;
const READ_EXECUTE: i32 = 5;
#[cfg(target_os = "linux")]
const PRIVATE_ANONYMOUS: i32 = 0x22;
#[cfg(not(target_os = "linux"))]
const PRIVATE_ANONYMOUS: i32 = 0x1002;

/// Code that can be called.
#[derive(Debug)]
pub struct Mapped {
    at: *mut c_void,
    bytes: usize,
}

// SAFETY: nobody writes there any more; the mapping is this value's.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Puts code into memory. `None` if the system does not let it.
    pub fn new(code: &[u8]) -> Option<Mapped> {
        if code.is_empty() {
            return None;
        }
        // SAFETY: a new anonymous mapping, as long as what is copied to it.
        unsafe {
            let null = std::ptr::null_mut();
            let at = mmap(null, code.len(), READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
            if at as isize == -1 {
                return None;
            }
            let mapped = Mapped { at, bytes: code.len() };
            at.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
            (mprotect(at, code.len(), READ_EXECUTE) == 0).then_some(mapped)
        }
    }

    /// Its first instruction.
    #[inline(always)]
    pub fn entry(&self) -> Entry {
        // SAFETY: the maker's code begins with a function of this type (`Maker::make`).
        unsafe { std::mem::transmute::<*mut c_void, Entry>(self.at) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: ours; who could call it borrows the run that owns it.
        unsafe { munmap(self.at, self.bytes) };
    }
}
