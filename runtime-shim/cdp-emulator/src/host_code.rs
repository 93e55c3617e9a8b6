//! What host code reads and writes of memory that kernels use too (managed, pinned, registered), as it tells of itself: the
//! compiler puts a call before each access (`cdp-llvm`, `watched.cpp`), the runtime brings what concerns the device here.
//!
//! A log, because host code does not stop for the device: what was noted is heard when host code comes to the device next,
//! before that call can order anything, and by device code that looks at a flag. Between two such moments host code learns
//! and lets know nothing, so that neighbouring plain accesses of one place may be noted as one.
//!
//! Not here: what the checks make of it (`check::host`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::report::SourceLine;

/// What host code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDeed {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Reads and writes in one.
    Update,
    /// A fence.
    Fence,
    /// Hands a pointer to code that tells nothing, which may write what lies behind it.
    Escape,
    /// May know what another of its threads did: it has met one, or read what that one wrote.
    Meet,
}

/// With which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOrder {
    /// None.
    Weak,
    /// Atomic, no more.
    Relaxed,
    /// Acquires.
    Acquire,
    /// Releases.
    Release,
    /// Both.
    Both,
    /// Volatile: on the host's processors loads acquire, and stores release.
    Volatile,
}

/// A thing that host code did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAccess {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// What.
    pub deed: HostDeed,
    /// Order.
    pub order: HostOrder,
    /// Where, by its number in the log.
    pub place: u32,
}

/// What host code did and nobody has heard of.
#[derive(Debug, Default)]
pub struct HostLog {
    noted: Mutex<Noted>,
    waits: AtomicBool,
    tells: AtomicBool,
    tells_all: AtomicBool,
}

#[derive(Debug, Default)]
struct Noted {
    by_code: Vec<HostAccess>,
    /// By functions in streams, on a thread of their own.
    by_functions: Vec<HostAccess>,
    /// The last plain access of each place among the first ones.
    last: FxHashMap<u32, usize>,
    /// The last strong read of each address among the first ones, since another deed that orders.
    read: FxHashMap<u64, usize>,
    places: Vec<Option<SourceLine>>,
    numbers: FxHashMap<u64, u32>,
}

impl HostLog {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a thing at a place, which `at` stands for and `line` tells of when it comes the first time. A function in a
    /// stream did it if `by_function`. How much waits to be heard.
    pub fn note(
        &self,
        (address, bytes): (u64, u64),
        (deed, order): (HostDeed, HostOrder),
        (at, line): (u64, impl FnOnce() -> Option<SourceLine>),
        by_function: bool,
    ) -> usize {
        let mut noted = self.noted();
        let noted = &mut *noted;
        let place = *noted.numbers.entry(at).or_insert_with(|| {
            noted.places.push(line());
            noted.places.len() as u32 - 1
        });
        let access = HostAccess { address, bytes, deed, order, place };
        let is_plain = order == HostOrder::Weak && matches!(deed, HostDeed::Read | HostDeed::Write);
        if by_function {
            let last = noted.by_functions.last_mut();
            let same = last.filter(|last| is_plain && (last.place, last.order) == (place, order));
            if !same.is_some_and(|last| last.takes(&access)) {
                noted.by_functions.push(access);
            }
            return 0;
        }
        if !is_plain {
            match noted.read.get(&address) {
                _ if deed != HostDeed::Read => noted.read.clear(),
                // Host code that waits reads its flags for ever. The device has done nothing since that orders anything: it
                // hears the log before it does.
                Some(&at) if noted.by_code[at] == access => return 0,
                _ => _ = noted.read.insert(address, noted.by_code.len()),
            }
            noted.last.clear();
        } else if let Some(&at) = noted.last.get(&place)
            && noted.by_code[at].takes(&access)
        {
            return noted.by_code.len();
        } else {
            noted.last.insert(place, noted.by_code.len());
        }
        noted.by_code.push(access);
        self.waits.store(true, Ordering::Release);
        noted.by_code.len()
    }

    /// Host code of this program tells of what it does, and all of it if `whole`.
    pub fn begin(&self, whole: bool) {
        self.tells.store(true, Ordering::Relaxed);
        self.tells_all.store(whole, Ordering::Relaxed);
    }

    /// Whether all of it does.
    pub fn tells_all(&self) -> bool {
        self.tells_all.load(Ordering::Relaxed)
    }

    /// Whether it does.
    pub fn tells(&self) -> bool {
        self.tells.load(Ordering::Relaxed)
    }

    /// Whether something waits to be heard.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waits.load(Ordering::Acquire)
    }

    /// Takes what waits.
    pub fn take(&self) -> Vec<HostAccess> {
        let mut noted = self.noted();
        noted.last.clear();
        noted.read.clear();
        self.waits.store(false, Ordering::Release);
        std::mem::take(&mut noted.by_code)
    }

    /// Takes what functions in streams did.
    pub fn take_of_functions(&self) -> Vec<HostAccess> {
        std::mem::take(&mut self.noted().by_functions)
    }

    /// Where a place is in the source, if that is known.
    pub fn line(&self, place: u32) -> Option<SourceLine> {
        self.noted().places.get(place as usize).cloned().flatten()
    }
}

impl HostAccess {
    /// Makes this one tell of a later one too that touches or repeats it. False if it cannot.
    fn takes(&mut self, next: &HostAccess) -> bool {
        if self.deed != next.deed {
            return false;
        }
        let (end, next_end) = (self.address + self.bytes, next.address + next.bytes);
        if next.address > end || next_end < self.address {
            return false;
        }
        let first = self.address.min(next.address);
        (self.address, self.bytes) = (first, end.max(next_end) - first);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(log: &HostLog, address: u64, what: (HostDeed, HostOrder), at: u64) {
        let line = || Some(SourceLine { file: "a.cu".into(), line: at as u32, column: 1 });
        log.note((address, 4), what, (at, line), false);
    }

    #[test]
    fn neighbours_of_a_place_are_one_until_something_orders() {
        let log = HostLog::default();
        let (reads, writes) =
            ((HostDeed::Read, HostOrder::Weak), (HostDeed::Write, HostOrder::Weak));
        for at in [100, 104, 96, 104] {
            note(&log, at, reads, 1);
            note(&log, at + 400, writes, 2);
        }
        note(&log, 200, reads, 1);
        note(&log, 50, (HostDeed::Write, HostOrder::Release), 3);
        note(&log, 204, reads, 1);
        let ranges: Vec<_> =
            log.take().iter().map(|access| (access.address, access.bytes, access.place)).collect();
        assert_eq!(ranges, [(96, 12, 0), (496, 12, 1), (200, 4, 0), (50, 4, 2), (204, 4, 0)]);
        assert!(!log.waits());
        assert_eq!(log.line(1).unwrap().line, 2);
    }

    #[test]
    fn flags_that_are_read_for_ever_are_read_once() {
        let (log, polls) = (HostLog::default(), (HostDeed::Read, HostOrder::Volatile));
        for at in [300, 304, 300, 304, 300] {
            note(&log, at, polls, 4);
        }
        note(&log, 50, (HostDeed::Write, HostOrder::Release), 3);
        note(&log, 300, polls, 4);
        let addresses: Vec<_> = log.take().iter().map(|access| access.address).collect();
        assert_eq!(addresses, [300, 304, 50, 300]);
        note(&log, 300, polls, 4);
        assert!(log.waits());
    }
}
