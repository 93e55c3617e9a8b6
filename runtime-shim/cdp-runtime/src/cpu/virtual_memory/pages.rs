//! Addresses of this process that are reserved, and files that are memory, which are mapped to them.

use std::fs::File;
use std::os::fd::{BorrowedFd, IntoRawFd};

use cdp_emulator::Pages;

use crate::error::{CudaError, Result};

/// Where reservations begin if nothing is there, so that addresses are the same in every run.
const FIRST_BASE: u64 = 0x0B00_0000_0000;
const BASE_STRIDE: u64 = 0x0010_0000_0000;
const BASE_CANDIDATES: u64 = 64;

/// Addresses that nothing else of this process gets.
pub struct Reserved {
    /// May be more, for the sake of alignment.
    pages: Pages,
    base: u64,
    bytes: u64,
}

impl Reserved {
    /// Reserves addresses, at `wanted` or anywhere. `None` if the system refuses.
    pub fn new(bytes: u64, align_bytes: u64, wanted: u64) -> Option<Reserved> {
        let usual = (0..BASE_CANDIDATES).map(|number| FIRST_BASE + number * BASE_STRIDE);
        let aligned = |base: &u64| *base != 0 && base.is_multiple_of(align_bytes);
        let mut places = std::iter::once(wanted).chain(usual).filter(aligned);
        let placed = places.find_map(|place| Pages::reserved_at(place, bytes as usize));
        let pages = match placed {
            Some(pages) => pages,
            None => Pages::reserved(bytes.checked_add(align_bytes)? as usize)?,
        };
        let base = (pages.start() as u64).next_multiple_of(align_bytes);
        Some(Reserved { pages, base, bytes })
    }

    /// The first address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// As many as were asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn offset(&self, address: u64) -> usize {
        (address - self.pages.start() as u64) as usize
    }

    /// Has the first bytes of a file at these addresses. False if the system refuses.
    pub fn map(&self, address: u64, bytes: u64, file: &File) -> bool {
        self.pages.map_file(self.offset(address), bytes as usize, file)
    }

    /// Has nothing at these addresses.
    pub fn unmap(&self, address: u64, bytes: u64) {
        self.pages.vacate(self.offset(address), bytes as usize);
    }
}

/// A file in memory that no folder knows.
#[cfg(target_os = "linux")]
pub fn unnamed_file() -> std::io::Result<File> {
    use std::os::fd::FromRawFd;
    const NAME: &std::ffi::CStr = c"cdp-device-memory";
    // SAFETY: a name that ends with NUL.
    let descriptor = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
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
