//! What host code tells of its own accesses: the compiler puts a call of [`__cdp_host_access`] beside each (`cdp-llvm`,
//! `watched.cpp`). It is dropped at once where no check listens, or where it is none of the device's memory; else it is
//! noted (`cdp_emulator::HostLog`) and heard when host code comes to the device next.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use cdp_emulator::report::SourceLine;
use cdp_emulator::{HostDeed, HostLog, HostOrder};

/// A place in the source, as the compiler lays it out.
#[repr(C)]
pub struct SourcePlace {
    file: *const c_char,
    line: u32,
    column: u32,
}

/// Where the device's memory begins, and how much there is; 0 while no check listens.
static FIRST: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Memory of the host's own that kernels may use, and how many pieces there are.
static REGISTERED: RwLock<Vec<Range<u64>>> = RwLock::new(Vec::new());
static PIECES: AtomicU64 = AtomicU64::new(0);
thread_local! {
    /// The place at which this thread called into headers last.
    static ENTERED: Cell<*const SourcePlace> = const { Cell::new(std::ptr::null()) };
}

/// Set where the program has host code that tells nothing.
const PART: &str = "CDP_HOST_CODE_IN_PART";

static LOG: OnceLock<Arc<HostLog>> = OnceLock::new();
/// Who hears what was noted, if the device has time.
static HEARS: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();
/// So much is noted at most while it has.
const MOST: usize = 1 << 16;

/// What host code tells. There is one for the process, as there is one device.
pub fn log() -> Arc<HostLog> {
    LOG.get_or_init(Arc::default).clone()
}

/// From now on accesses to these addresses are noted. `hears` is called when they are many.
pub fn listen(addresses: Range<u64>, hears: impl Fn() + Send + Sync + 'static) {
    // There is one device in a process that runs host code.
    let _ = HEARS.set(Box::new(hears));
    FIRST.store(addresses.start, Ordering::Relaxed);
    BYTES.store(addresses.end - addresses.start, Ordering::Release);
}

/// So are those to memory that the program registers.
pub fn register(address: u64, bytes: u64) {
    let mut known = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    known.push(address..address.saturating_add(bytes));
    PIECES.store(known.len() as u64, Ordering::Release);
}

/// No longer.
pub fn unregister(address: u64) {
    let mut known = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    known.retain(|range| range.start != address);
    PIECES.store(known.len() as u64, Ordering::Release);
}

fn is_registered(address: u64) -> bool {
    let known = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().any(|range| range.contains(&address))
}

/// Some of the program's host code tells of its accesses.
#[unsafe(no_mangle)]
pub extern "C" fn __cdp_host_watched() {
    log().begin(std::env::var_os(PART).is_none());
}

/// Host code calls a function of a header, whose accesses have no place of their own.
///
/// # Safety
/// `place` is null, or a constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_host_enters(place: *const SourcePlace) {
    // A thread that ends has no place any more.
    let _ = ENTERED.try_with(|entered| entered.set(place));
}

/// Host code touches `bytes` bytes at `address`; `how` says what it does, and from bit 8 on with which order.
///
/// # Safety
/// `place` is null, or a constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_host_access(
    address: u64,
    bytes: u64,
    how: u32,
    place: *const SourcePlace,
) {
    let all = BYTES.load(Ordering::Acquire);
    let is_apart = address.wrapping_sub(FIRST.load(Ordering::Relaxed)) >= all;
    if is_apart && (all == 0 || how <= 2 && PIECES.load(Ordering::Acquire) == 0) {
        return;
    }
    let place = match place.is_null() {
        true => ENTERED.try_with(Cell::get).unwrap_or(place),
        false => place,
    };
    // SAFETY: the caller's promise.
    let waits = unsafe { note((address, bytes), understood(how), place, is_apart) };
    if waits > 0
        && waits.is_multiple_of(MOST)
        && let Some(hears) = HEARS.get()
    {
        hears();
    }
}

/// What a word of the compiler's says.
fn understood(how: u32) -> (HostDeed, HostOrder) {
    let order = match how >> 8 {
        0 => HostOrder::Weak,
        1 => HostOrder::Relaxed,
        2 => HostOrder::Acquire,
        3 => HostOrder::Release,
        4 => HostOrder::Both,
        _ => HostOrder::Volatile,
    };
    let deed = match how & 0xff {
        1 => HostDeed::Read,
        2 => HostDeed::Write,
        3 => HostDeed::Update,
        4 => HostDeed::Fence,
        8 => HostDeed::Escape,
        _ => HostDeed::Meet,
    };
    (deed, order)
}

/// A call of this library has written a result of it, which the program asked for at that address.
pub fn wrote<T>(target: *const T) {
    let (address, all) = (target as u64, BYTES.load(Ordering::Acquire));
    let is_of_device = address.wrapping_sub(FIRST.load(Ordering::Relaxed)) < all;
    if is_of_device || all > 0 && is_registered(address) {
        let bytes = size_of::<T>() as u64;
        let deed = (HostDeed::Write, HostOrder::Weak);
        // SAFETY: no place is told of.
        unsafe { note((address, bytes), deed, std::ptr::null(), !is_of_device) };
    }
}

/// Notes an access; how many wait to be heard, 0 if it was not noted.
///
/// # Safety
/// `place` is null, or a constant of the program.
#[cold]
#[inline(never)]
unsafe fn note(
    (address, bytes): (u64, u64),
    (mut deed, order): (HostDeed, HostOrder),
    place: *const SourcePlace,
    is_apart: bool,
) -> usize {
    let is_access = !matches!(deed, HostDeed::Fence | HostDeed::Meet);
    if is_access && is_apart && !is_registered(address) {
        if order == HostOrder::Weak || deed == HostDeed::Write {
            return 0;
        }
        // A flag between threads of the host.
        deed = HostDeed::Meet;
    }
    if is_access && bytes == 0 && deed != HostDeed::Escape && deed != HostDeed::Meet {
        return 0;
    }
    let line = || {
        // SAFETY: null or a constant, by the promise of who calls.
        let place = unsafe { place.as_ref() }?;
        // SAFETY: the compiler ends the name with a zero.
        let file = unsafe { CStr::from_ptr(place.file) };
        let file = file.to_string_lossy().into_owned();
        Some(SourceLine { file, line: place.line, column: place.column })
    };
    let by_function = super::host::is_in_a_function();
    log().note((address, bytes), (deed, order), (place as u64, line), by_function)
}
