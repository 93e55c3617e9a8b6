//! Which bytes of global memory were never written since they were allocated.
//!
//! A bit a byte, by page, for pages of which a part was allocated without contents. Memory that host
//! code sees too is not followed: nobody tells what it writes there.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// Which of the bytes that a read found fresh are to be told of. `demand`: the bytes that are computed
/// with, and whether the rest is copied as it is; `updates`: it is an atomic.
pub fn missing(fresh: u64, bytes: u64, demand: Option<(u64, bool)>, updates: bool) -> u64 {
    let all = if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 };
    match demand {
        _ if fresh == 0 => 0,
        None if updates || fresh == all => fresh,
        None => 0,
        Some((strict, _)) if fresh & strict != 0 => fresh & strict,
        Some((_, copied)) if copied && fresh == all => fresh,
        Some(_) => 0,
    }
}

const PAGE_BYTES: u64 = 4096;
type Bits = Box<[u64; 64]>;

/// Bytes that were never written.
#[derive(Debug, Default)]
pub struct Fresh {
    /// Runs of whole pages, first and end, that nobody has touched.
    whole: BTreeMap<u64, u64>,
    /// A bit for each byte that was never written.
    pages: FxHashMap<u64, Bits>,
}

impl Fresh {
    /// Memory was allocated without contents.
    pub fn begin(&mut self, address: u64, size_bytes: u64) {
        let end = address + size_bytes;
        let (first, last) = (address.div_ceil(PAGE_BYTES), end / PAGE_BYTES);
        if first < last {
            self.pages.retain(|page, _| !(first..last).contains(page));
            self.cut(first, last);
            self.whole.insert(first, last);
            self.mark(address, first * PAGE_BYTES - address, true);
            self.mark(last * PAGE_BYTES, end - last * PAGE_BYTES, true);
        } else {
            self.mark(address, size_bytes, true);
        }
    }

    /// Takes pages out of the runs of whole ones.
    fn cut(&mut self, first: u64, last: u64) {
        let touching: Vec<(u64, u64)> =
            self.whole.range(..last).map(|(&a, &b)| (a, b)).filter(|run| run.1 > first).collect();
        for (from, to) in touching {
            self.whole.remove(&from);
            for (from, to) in [(from, first.min(to)), (last.max(from), to)] {
                if from < to {
                    self.whole.insert(from, to);
                }
            }
        }
    }

    /// Memory has contents from now on.
    pub fn write(&mut self, address: u64, size_bytes: u64) {
        self.mark(address, size_bytes, false);
    }

    /// Which of (at most 64) bytes were never written, a bit each.
    pub fn fresh_of(&mut self, address: u64, size_bytes: u64) -> u64 {
        let fresh = |at: &u64| self.is_fresh_byte(address + at);
        (0..size_bytes.min(64)).filter(fresh).fold(0, |bits, at| bits | 1 << at)
    }

    fn is_fresh_byte(&mut self, address: u64) -> bool {
        let at = (address % PAGE_BYTES) as usize;
        self.page(address / PAGE_BYTES).is_some_and(|bits| bits[at / 64] >> (at % 64) & 1 != 0)
    }

    /// Bytes are copied, and whether they were ever written with them.
    pub fn copy(&mut self, to: u64, from: u64, size_bytes: u64) {
        for at in 0..size_bytes {
            let fresh = self.is_fresh_byte(from + at);
            self.mark(to + at, 1, fresh);
        }
    }

    /// The bits of a page, if any of it may be fresh.
    fn page(&mut self, page: u64) -> Option<&mut Bits> {
        if !self.pages.contains_key(&page) {
            let (&first, &end) = self.whole.range(..=page).next_back()?;
            if page >= end {
                return None;
            }
            self.whole.remove(&first);
            for (first, end) in [(first, page), (page + 1, end)] {
                if first < end {
                    self.whole.insert(first, end);
                }
            }
            self.pages.insert(page, Box::new([u64::MAX; 64]));
        }
        self.pages.get_mut(&page)
    }

    fn mark(&mut self, address: u64, size_bytes: u64, fresh: bool) {
        let (mut at, end) = (address, address + size_bytes);
        while at < end {
            let page = at / PAGE_BYTES;
            let stop = end.min((page + 1) * PAGE_BYTES);
            if fresh && self.page(page).is_none() {
                self.pages.insert(page, Box::new([0; 64]));
            }
            if let Some(bits) = self.page(page) {
                for byte in at..stop {
                    let byte = (byte % PAGE_BYTES) as usize;
                    let bit = 1 << (byte % 64);
                    if fresh {
                        bits[byte / 64] |= bit;
                    } else {
                        bits[byte / 64] &= !bit;
                    }
                }
            }
            at = stop;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fresh(fresh: &mut Fresh, at: u64, bytes: u64) -> bool {
        (at..at + bytes).all(|byte| fresh.is_fresh_byte(byte))
    }

    #[test]
    fn what_is_missing_is_judged_by_what_is_made_of_it() {
        let demand = |strict, copied| Some((strict, copied));
        // A whole word: any use of it; the neighbours of a bit-field: none.
        assert_eq!(missing(0b1111, 4, demand(0b0001, false), false), 0b0001);
        assert_eq!(missing(0b1111, 4, demand(0, true), false), 0b1111);
        assert_eq!(missing(0b1111, 4, demand(0, false), false), 0);
        // A part of it.
        assert_eq!(missing(0b1110, 4, demand(0b1111, false), false), 0b1110);
        assert_eq!(missing(0b1110, 4, demand(0b0001, true), false), 0);
        // Atomics compute with all of it; of other reads nothing is known.
        assert_eq!((missing(0b10, 4, None, true), missing(0b10, 4, None, false)), (0b10, 0));
    }

    #[test]
    fn bytes_are_fresh_until_written() {
        let mut fresh = Fresh::default();
        fresh.begin(0x10ff0, 0x3020);
        assert!(is_fresh(&mut fresh, 0x10ff0, 0x3020) && !is_fresh(&mut fresh, 0x10fef, 1));
        fresh.write(0x12004, 4);
        assert!(!is_fresh(&mut fresh, 0x12004, 4) && is_fresh(&mut fresh, 0x12008, 8));
        assert!(is_fresh(&mut fresh, 0x12000, 4) && !is_fresh(&mut fresh, 0x12000, 8));
        fresh.copy(0x20000, 0x12000, 8);
        assert!(is_fresh(&mut fresh, 0x20000, 4) && !is_fresh(&mut fresh, 0x20004, 1));
        fresh.begin(0x11000, 0x2000);
        assert!(is_fresh(&mut fresh, 0x12004, 4));
        assert!(!is_fresh(&mut fresh, 0x30000, 4));
    }
}
