//! Parameter buffers of the device runtime: slots of two sizes at the end of the arena.
//!
//! A launch takes a slot and gives it back, without a lock and while other host threads look addresses
//! up; that is what sets these buffers apart from the allocations of [`super::table`]. Every thread that
//! serves launches keeps free slots of its own ([`Slots`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::arena::Arena;
use super::table::{AllocKind, Extent, Record};

/// Bytes of a slot and number of slots, the small ones first.
const CLASSES: [(u64, usize); 2] = [(256, 4096), (32_768, 512)];
/// Unallocated bytes behind each buffer, so that running over its end is seen.
const RED_ZONE_BYTES: u64 = 4;
/// Slots that a thread takes at a time.
const CHUNK: usize = 32;

/// Slots of one size.
#[derive(Debug)]
struct Class {
    base: u64,
    slot_bytes: u64,
    /// Bytes asked for, by slot; 0 for free ones.
    sizes: Box<[AtomicU32]>,
    /// Slots that no thread keeps.
    free: Mutex<VecDeque<u64>>,
}

/// All slots of a device.
#[derive(Debug)]
pub struct Params {
    classes: [Class; 2],
}

/// Free slots that a thread keeps, by class. Used in turn, so that a released buffer is not the next one.
#[derive(Debug, Default)]
pub struct Slots([VecDeque<u64>; 2]);

impl Params {
    /// Bytes that all slots take.
    pub const BYTES: u64 = CLASSES[0].0 * CLASSES[0].1 as u64 + CLASSES[1].0 * CLASSES[1].1 as u64;

    /// Slots in the last bytes of an arena.
    pub fn new(arena: &Arena) -> Params {
        let mut base = arena.base() + arena.size_bytes() - Params::BYTES;
        let classes = CLASSES.map(|(slot_bytes, count)| {
            let class = Class {
                base,
                slot_bytes,
                sizes: (0..count).map(|_| AtomicU32::new(0)).collect(),
                free: Mutex::new((0..count as u64).map(|slot| base + slot * slot_bytes).collect()),
            };
            base += slot_bytes * count as u64;
            class
        });
        Params { classes }
    }

    /// The class that an address lies in, and its slot.
    fn slot(&self, address: u64) -> Option<(&Class, usize)> {
        let inside = |class: &&Class| {
            let offset = address.wrapping_sub(class.base);
            offset < class.slot_bytes * class.sizes.len() as u64
        };
        let class = self.classes.iter().find(inside)?;
        Some((class, ((address - class.base) / class.slot_bytes) as usize))
    }

    /// A zeroed buffer of at least a byte. `None` if it is too large or all slots are in use.
    pub fn take(&self, own: &mut Slots, size_bytes: u64) -> Option<u64> {
        let fits = |class: &Class| size_bytes + RED_ZONE_BYTES <= class.slot_bytes;
        let number = self.classes.iter().position(fits)?;
        let (class, own) = (&self.classes[number], &mut own.0[number]);
        if own.is_empty() {
            let mut free = class.free.lock().unwrap_or_else(PoisonError::into_inner);
            let count = free.len().min(CHUNK);
            own.extend(free.drain(..count));
        }
        let address = own.pop_front()?;
        // SAFETY: a slot inside the arena that nobody else holds.
        unsafe { std::ptr::write_bytes(address as *mut u8, 0, size_bytes as usize) };
        let slot = ((address - class.base) / class.slot_bytes) as usize;
        class.sizes[slot].store(size_bytes as u32, Ordering::Relaxed);
        Some(address)
    }

    /// Gives a buffer back. False if none is in use at this address.
    pub fn release(&self, own: &mut Slots, address: u64) -> bool {
        let Some((class, slot)) = self.slot(address) else { return false };
        let begins = (address - class.base).is_multiple_of(class.slot_bytes);
        if !begins || class.sizes[slot].swap(0, Ordering::Relaxed) == 0 {
            return false;
        }
        let number = usize::from(class.slot_bytes != CLASSES[0].0);
        own.0[number].push_back(address);
        true
    }

    /// Gives back the slots that a thread keeps.
    pub fn give_back(&self, own: &mut Slots) {
        for (class, own) in self.classes.iter().zip(&mut own.0) {
            if !own.is_empty() {
                class.free.lock().unwrap_or_else(PoisonError::into_inner).append(own);
            }
        }
    }

    /// The buffer in use that an address lies in.
    pub fn find(&self, address: u64) -> Option<Extent> {
        let (class, slot) = self.slot(address)?;
        let lo = class.base + slot as u64 * class.slot_bytes;
        let hi = lo + u64::from(class.sizes[slot].load(Ordering::Relaxed));
        (address < hi).then_some(Extent { lo, hi, writable: true, lasting: false })
    }

    /// The buffer, in use or released, whose slot an address lies in.
    pub fn record_at(&self, address: u64) -> Option<Record> {
        let (class, slot) = self.slot(address)?;
        let size_bytes = u64::from(class.sizes[slot].load(Ordering::Relaxed));
        Some(Record {
            base: class.base + slot as u64 * class.slot_bytes,
            // What a released buffer had is not kept.
            size_bytes: if size_bytes == 0 { class.slot_bytes } else { size_bytes },
            kind: AllocKind::ParameterBuffer,
            writable: true,
            allocated_at: None,
            live: size_bytes > 0,
            freed_at: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_exact_and_not_used_again_at_once() {
        let arena = Arena::reserve(64 << 20).unwrap();
        let params = Params::new(&arena);
        let mut own = Slots::default();
        for size in [1u64, 24, 252, 253, 4096, 32_764] {
            let a = params.take(&mut own, size).unwrap();
            let extent = params.find(a + size - 1).unwrap();
            assert_eq!((extent.lo, extent.hi), (a, a + size));
            assert!(params.find(a + size).is_none(), "one past the end of {size}");
            assert!(!params.release(&mut own, a + 1));
            assert!(params.release(&mut own, a) && !params.release(&mut own, a));
            assert!(params.find(a).is_none() && !params.record_at(a).unwrap().live);
            assert_ne!(params.take(&mut own, size), Some(a));
        }
        assert!(params.take(&mut own, 32_765).is_none());
    }

    #[test]
    fn slots_end_and_come_back() {
        let arena = Arena::reserve(64 << 20).unwrap();
        let params = Params::new(&arena);
        let (mut one, mut other) = (Slots::default(), Slots::default());
        let held: Vec<u64> = std::iter::from_fn(|| params.take(&mut one, 8)).collect();
        assert_eq!(held.len(), CLASSES[0].1);
        assert!(params.take(&mut other, 8).is_none());
        for address in held {
            assert!(params.release(&mut one, address));
        }
        params.give_back(&mut one);
        assert!(params.take(&mut other, 8).is_some());
    }
}
