//! Addresses of this process that are reserved, files that are memory, and the ones mapped to the others.

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};

use crate::error::{CudaError, Result};

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        bytes: usize,
        protection: i32,
        flags: i32,
        descriptor: i32,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, bytes: usize) -> i32;
}

const NO_ACCESS: i32 = 0;
const READ_WRITE: i32 = 3;
const SHARED: i32 = 1;
const PRIVATE: i32 = 2;
const FIXED: i32 = 0x10;
#[cfg(target_os = "linux")]
const ANONYMOUS: i32 = 0x20;
#[cfg(not(target_os = "linux"))]
const ANONYMOUS: i32 = 0x1000;
#[cfg(target_os = "linux")]
const WITHOUT_BACKING: i32 = 0x4000;
#[cfg(not(target_os = "linux"))]
const WITHOUT_BACKING: i32 = 0x40;

/// Where reservations begin if nothing is there, so that addresses are the same in every run.
const FIRST_BASE: u64 = 0x0B00_0000_0000;
const BASE_STRIDE: u64 = 0x0010_0000_0000;
const BASE_CANDIDATES: u64 = 64;

/// Addresses that nothing else of this process gets.
pub struct Reserved {
    /// What the system gave, which may be more for the sake of alignment.
    whole: (u64, u64),
    base: u64,
    bytes: u64,
}

/// Reserves addresses, at `wanted` or anywhere.
fn reserve(wanted: u64, bytes: u64) -> Option<u64> {
    let flags = PRIVATE | ANONYMOUS | WITHOUT_BACKING;
    // SAFETY: without FIXED the mapping replaces no other.
    let at = unsafe { mmap(wanted as *mut c_void, bytes as usize, NO_ACCESS, flags, -1, 0) };
    (at as isize != -1).then_some(at as u64)
}

/// Gives reserved addresses back.
fn give_back((base, bytes): (u64, u64)) {
    // SAFETY: of `reserve`, and nobody uses them any more.
    unsafe { munmap(base as *mut c_void, bytes as usize) };
}

impl Reserved {
    /// Reserves addresses. `None` if the system refuses.
    pub fn new(bytes: u64, align_bytes: u64, wanted: u64) -> Option<Reserved> {
        let numbers = 0..BASE_CANDIDATES;
        let usual = numbers.map(|number| FIRST_BASE + number * BASE_STRIDE);
        let aligned = |base: &u64| *base != 0 && base.is_multiple_of(align_bytes);
        for place in std::iter::once(wanted).chain(usual).filter(aligned) {
            let base = reserve(place, bytes)?;
            if base == place {
                return Some(Reserved { whole: (base, bytes), base, bytes });
            }
            give_back((base, bytes));
        }
        let room = bytes.checked_add(align_bytes)?;
        let whole = reserve(0, room)?;
        let base = whole.next_multiple_of(align_bytes);
        Some(Reserved { whole: (whole, room), base, bytes })
    }

    /// The first address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// As many as were asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn replace(&self, address: u64, bytes: u64, protection: i32, flags: i32, file: i32) -> bool {
        assert!(address >= self.base && address + bytes <= self.base + self.bytes);
        // SAFETY: within the reservation (asserted), which is ours.
        let at = unsafe {
            mmap(address as *mut c_void, bytes as usize, protection, flags | FIXED, file, 0)
        };
        at as u64 == address
    }

    /// Has the first bytes of a file at these addresses. False if the system refuses.
    pub fn map(&self, address: u64, bytes: u64, file: &File) -> bool {
        self.replace(address, bytes, READ_WRITE, SHARED, file.as_raw_fd())
    }

    /// Has nothing at these addresses.
    pub fn unmap(&self, address: u64, bytes: u64) {
        self.replace(address, bytes, NO_ACCESS, PRIVATE | ANONYMOUS | WITHOUT_BACKING, -1);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        give_back(self.whole);
    }
}

/// A file in memory that no folder knows.
#[cfg(target_os = "linux")]
pub fn unnamed_file() -> std::io::Result<File> {
    use std::os::fd::FromRawFd;
    unsafe extern "C" {
        fn memfd_create(name: *const std::ffi::c_char, flags: u32) -> i32;
    }
    const CLOSE_ON_EXEC: u32 = 1;
    // SAFETY: a name that ends with NUL.
    let descriptor = unsafe { memfd_create(c"cdp-device-memory".as_ptr(), CLOSE_ON_EXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// A file that no folder knows any more.
#[cfg(not(target_os = "linux"))]
pub fn unnamed_file() -> std::io::Result<File> {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("cdp-device-memory-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// A descriptor of the file for the program, which closes it.
pub fn descriptor(file: &File) -> Result<i32> {
    let copy = file.try_clone().map_err(|_| CudaError::OPERATING_SYSTEM)?;
    Ok(copy.into_raw_fd())
}

/// The file of a descriptor of the program's, by a descriptor of our own. `None` if there is none.
pub fn file_of(descriptor: i32) -> Option<File> {
    if descriptor < 0 {
        return None;
    }
    // SAFETY: what the descriptor is of is found out by copying it; the program keeps it open meanwhile, as CUDA demands.
    let given = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Some(File::from(given.try_clone_to_owned().ok()?))
}
