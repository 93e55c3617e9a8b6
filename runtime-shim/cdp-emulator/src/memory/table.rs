//! What is allocated where in global memory: allocation, release, and the lookup that every
//! checked access goes through.
//!
//! Allocations of up to [`SLAB_LIMIT_BYTES`] live in slabs of equal slots, larger ones in page
//! runs of their own; a table by page leads from an address to either in constant time. Between two
//! allocations there are always unallocated bytes, so that running over the end is seen. Released
//! memory waits in a quarantine before it is used again, so that use after free is seen.
//! The bytes themselves are not touched here except to clear them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::arena::{Arena, PAGE_BYTES};
use super::foreign::Foreign;
use super::params::Params;

/// Largest allocation that shares pages with others.
pub const SLAB_LIMIT_BYTES: u64 = 1008;
/// Unallocated bytes after every slab allocation.
const RED_ZONE_BYTES: u64 = 16;
/// The same where allocations are to lie far apart, at least.
const SPREAD_ZONE_BYTES: u64 = 240;
/// Unallocated pages behind other allocations there: at least, at most.
const SPREAD_PAGES: (u64, u64) = (256, 16_384);
/// Pages of a slab.
const SLAB_PAGES: u64 = 16;
/// Released bytes that are kept from being used again.
const QUARANTINE_BYTES: u64 = 32 << 20;
/// Released allocations that are kept from being used again.
const QUARANTINE_COUNT: usize = 32_768;

/// Who asked for an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocKind {
    /// `cudaMalloc` on the host.
    Host,
    /// `cudaMallocManaged` or `cudaMallocHost`: also used by host code.
    Managed,
    /// Device `malloc`, `new` or `cudaMalloc`.
    DeviceHeap,
    /// A parameter buffer of the device runtime.
    ParameterBuffer,
    /// A module-scope variable.
    Symbol(String),
    /// Text that the device runtime hands out (`cudaGetErrorString`).
    RuntimeText,
}

/// A place in the running program, kept small because every device allocation holds one. The
/// emulator turns it into a [`crate::report::Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRef {
    /// Serial number of the grid.
    pub grid: u64,
    /// Kernel of that grid.
    pub kernel: u32,
    /// Linear index of the block in the grid.
    pub block: u64,
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// Function in which the instruction is.
    pub function: u32,
    /// Index of the instruction in that function.
    pub instruction: u32,
}

/// One allocation, live or released.
#[derive(Clone, Debug)]
pub struct Record {
    /// First address.
    pub base: u64,
    /// Bytes asked for.
    pub size_bytes: u64,
    /// Who asked.
    pub kind: AllocKind,
    /// Kernels may write.
    pub writable: bool,
    /// The device thread that asked, if it was one.
    pub allocated_at: Option<SiteRef>,
    /// False once released.
    pub live: bool,
    /// The device thread that released it, if it was one.
    pub freed_at: Option<SiteRef>,
}

#[derive(Debug)]
enum Region {
    /// One allocation in a run of pages, and one unallocated page after it.
    Run { pages: u64, record: Record },
    /// Equal slots; `slots[i]` is `None` if never used since the slab or slot was recycled.
    Slab { base: u64, slot_bytes: u64, slots: Vec<Option<Record>> },
    /// A freed region number, to be used again.
    Vacant,
}

impl Region {
    /// The allocations in it, live or released.
    fn records(&self) -> Vec<&Record> {
        match self {
            Region::Run { record, .. } => vec![record],
            Region::Slab { slots, .. } => slots.iter().flatten().collect(),
            Region::Vacant => Vec::new(),
        }
    }
}

/// A live allocation as the access checks see it: `lo..hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First address.
    pub lo: u64,
    /// One past the last address.
    pub hi: u64,
    /// Kernels may write.
    pub writable: bool,
    /// It holds until [`Table::epoch`] changes. False for parameter buffers, which come and go at launches.
    pub lasting: bool,
}

/// Why an allocation was not released.
#[derive(Clone, Debug)]
pub enum FreeError {
    /// No allocation begins there.
    NotAllocated,
    /// An allocation that is already released begins there.
    AlreadyFree,
    /// The allocation is of another kind (device `free` of a host allocation, or the reverse).
    WrongKind,
}

/// The allocations of one device.
#[derive(Debug)]
pub struct Table {
    pub(super) arena: Arena,
    /// Parameter buffers, in the last bytes of the arena.
    pub params: Params,
    /// Memory of the host outside of the arena that kernels may use, by its first address.
    foreign: Foreign,
    limit_bytes: u64,
    /// Region number + 1 for each page from the arena's start; grows with use.
    pages: Vec<u32>,
    regions: Vec<Region>,
    vacant_regions: Vec<u32>,
    /// Slots ready for use, by log2 of the slot size. Ordered, so that addresses are reproducible.
    free_slots: Vec<BTreeSet<u64>>,
    /// Page runs ready for use: pages -> bases.
    free_runs: BTreeMap<u64, BTreeSet<u64>>,
    quarantine: VecDeque<(u64, u64)>,
    quarantine_bytes: u64,
    live_bytes: u64,
    heap_bytes: u64,
    /// Allocations lie far from each other.
    spread: bool,
    /// Changes whenever an extent that was handed out may have become invalid.
    epoch: u64,
}

impl Table {
    /// An empty device memory. `limit_bytes` bounds the bytes in live allocations.
    pub fn new(arena: Arena, limit_bytes: u64) -> Table {
        Table {
            params: Params::new(&arena),
            foreign: Foreign::default(),
            arena,
            limit_bytes,
            pages: Vec::new(),
            regions: Vec::new(),
            vacant_regions: Vec::new(),
            free_slots: vec![BTreeSet::new(); 16],
            free_runs: BTreeMap::new(),
            quarantine: VecDeque::new(),
            quarantine_bytes: 0,
            live_bytes: 0,
            heap_bytes: 0,
            spread: false,
            epoch: 1,
        }
    }

    /// From now on allocations lie so far from each other that what runs out of one is not in another.
    pub fn spread(&mut self) {
        self.spread = true;
    }

    /// Changes whenever an [`Extent`] that was handed out may have become invalid.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Bytes in live allocations.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Bytes in live allocations of [`AllocKind::DeviceHeap`].
    pub fn heap_bytes(&self) -> u64 {
        self.heap_bytes
    }

    /// The most bytes that may be live.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes.min(self.arena.size_bytes() - Params::BYTES)
    }

    /// Allocates zeroed memory aligned to at least `align_bytes` (a power of two; 256 at least for
    /// host allocations, 16 for the rest). `None` if the memory is exhausted.
    pub fn allocate(
        &mut self,
        size_bytes: u64,
        align_bytes: u64,
        kind: AllocKind,
        writable: bool,
        at: Option<SiteRef>,
    ) -> Option<u64> {
        if size_bytes > self.limit_bytes() || self.live_bytes + size_bytes > self.limit_bytes() {
            return None;
        }
        let shared_pages = match kind {
            AllocKind::Host | AllocKind::Managed => false,
            AllocKind::Symbol(_) if self.spread => false,
            _ => size_bytes <= SLAB_LIMIT_BYTES && align_bytes <= PAGE_BYTES / 4,
        };
        let mut record = Record {
            base: 0,
            size_bytes,
            kind,
            writable,
            allocated_at: at,
            live: true,
            freed_at: None,
        };
        let base = if shared_pages {
            let zone = if self.spread { size_bytes.max(SPREAD_ZONE_BYTES) } else { RED_ZONE_BYTES };
            let slot_bytes = (size_bytes + zone).next_power_of_two().max(align_bytes).max(32);
            self.take_slot(slot_bytes, &mut record)?
        } else {
            self.take_run(size_bytes, align_bytes, &mut record)?
        };
        self.live_bytes += size_bytes;
        if record.kind == AllocKind::DeviceHeap {
            self.heap_bytes += size_bytes;
        }
        let region = self.region_number(base)?;
        match &mut self.regions[region] {
            Region::Run { record: place, .. } => *place = record,
            Region::Slab { base: slab, slot_bytes, slots } => {
                let slot = ((base - *slab) / *slot_bytes) as usize;
                slots[slot] = Some(record);
            }
            Region::Vacant => return None,
        }
        Some(base)
    }

    fn take_slot(&mut self, slot_bytes: u64, record: &mut Record) -> Option<u64> {
        let class = slot_bytes.trailing_zeros() as usize;
        if self.free_slots[class].is_empty() {
            let base = self.take_pages(SLAB_PAGES, PAGE_BYTES)?;
            let count = SLAB_PAGES * PAGE_BYTES / slot_bytes;
            let slots = (0..count).map(|_| None).collect();
            self.put_region(base, SLAB_PAGES, Region::Slab { base, slot_bytes, slots });
            self.free_slots[class].extend((0..count).map(|i| base + i * slot_bytes));
        }
        let base = self.free_slots[class].pop_first()?;
        record.base = base;
        // SAFETY: a slot of a slab inside the arena; nobody holds it.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0, slot_bytes as usize) };
        Some(base)
    }

    fn take_run(&mut self, size_bytes: u64, align_bytes: u64, record: &mut Record) -> Option<u64> {
        // One more page stays unallocated, so that two runs never touch.
        let own = size_bytes.div_ceil(PAGE_BYTES).max(1);
        let align = align_bytes.max(PAGE_BYTES);
        let apart = own + own.clamp(SPREAD_PAGES.0, SPREAD_PAGES.1);
        let spread = self.spread.then(|| self.take_idle_pages(apart, align)).flatten();
        let (base, pages) = match spread {
            Some(base) => (base, apart),
            None => (self.take_pages(own + 1, align)?, own + 1),
        };
        record.base = base;
        self.put_region(base, pages, Region::Run { pages, record: record.clone() });
        Some(base)
    }

    /// A run of pages that nobody uses; cuts the quarantine short if there is no other.
    fn take_pages(&mut self, pages: u64, align_bytes: u64) -> Option<u64> {
        loop {
            if let Some(base) = self.take_idle_pages(pages, align_bytes) {
                return Some(base);
            }
            if self.quarantine.is_empty() {
                return None;
            }
            self.recycle_oldest();
        }
    }

    /// A run of pages that nobody uses, from the released ones (smallest that fits) or from the
    /// untouched end of the arena.
    fn take_idle_pages(&mut self, pages: u64, align_bytes: u64) -> Option<u64> {
        let found = self.free_runs.range(pages..).find_map(|(&length, bases)| {
            bases.iter().find(|base| base.is_multiple_of(align_bytes)).map(|&base| (length, base))
        });
        if let Some((length, base)) = found {
            self.drop_free_run(length, base);
            if length > pages {
                self.free_runs.entry(length - pages).or_default().insert(base + pages * PAGE_BYTES);
            }
            return Some(base);
        }
        let end = self.arena.base() + self.pages.len() as u64 * PAGE_BYTES;
        let base = end.checked_next_multiple_of(align_bytes)?;
        let last = base.checked_add(pages.checked_mul(PAGE_BYTES)?)?;
        if last > self.arena.base() + self.arena.size_bytes() - Params::BYTES {
            return None;
        }
        self.pages.resize(((last - self.arena.base()) / PAGE_BYTES) as usize, 0);
        Some(base)
    }

    fn drop_free_run(&mut self, length: u64, base: u64) {
        if let Some(bases) = self.free_runs.get_mut(&length) {
            bases.remove(&base);
            if bases.is_empty() {
                self.free_runs.remove(&length);
            }
        }
    }

    fn put_region(&mut self, base: u64, pages: u64, region: Region) {
        let number = match self.vacant_regions.pop() {
            Some(number) => {
                self.regions[number as usize] = region;
                number
            }
            None => {
                self.regions.push(region);
                self.regions.len() as u32 - 1
            }
        };
        let first = ((base - self.arena.base()) / PAGE_BYTES) as usize;
        self.pages[first..first + pages as usize].fill(number + 1);
    }

    /// Position in `regions` of the region around `address`.
    #[inline]
    fn region_number(&self, address: u64) -> Option<usize> {
        let page = address.wrapping_sub(self.arena.base()) / PAGE_BYTES;
        match self.pages.get(page as usize) {
            Some(&number) if number != 0 => Some(number as usize - 1),
            _ => None,
        }
    }

    /// The live allocation that `address` lies in.
    #[inline]
    pub fn find(&self, address: u64) -> Option<Extent> {
        let entry = self.entry_at(address).or_else(|| self.foreign.at(address));
        let Some(record) = entry else { return self.params.find(address) };
        let inside = record.live && address - record.base < record.size_bytes;
        inside.then(|| Extent {
            lo: record.base,
            hi: record.base + record.size_bytes,
            writable: record.writable,
            lasting: true,
        })
    }

    /// The allocation, live or released, whose slot or pages `address` lies in; the address may be
    /// past its end.
    pub fn record_at(&self, address: u64) -> Option<Cow<'_, Record>> {
        let entry = self.entry_at(address).or_else(|| self.foreign.at(address)).map(Cow::Borrowed);
        entry.or_else(|| self.params.record_at(address).map(Cow::Owned))
    }

    /// Lets kernels use memory outside of the arena, by its own address. False if a part of it is known already.
    pub fn add_foreign(
        &mut self,
        address: u64,
        size_bytes: u64,
        kind: AllocKind,
        writable: bool,
    ) -> bool {
        let arena_end = self.arena.base() + self.arena.size_bytes();
        let apart = address >= arena_end || address.saturating_add(size_bytes) <= self.arena.base();
        apart && self.foreign.add(address, size_bytes, kind, writable)
    }

    /// Forgets memory outside of the arena that begins at `address`.
    pub fn remove_foreign(&mut self, address: u64) {
        self.foreign.remove(address);
        self.epoch += 1;
    }

    #[inline]
    fn entry_at(&self, address: u64) -> Option<&Record> {
        match &self.regions[self.region_number(address)?] {
            Region::Run { record, .. } => Some(record),
            Region::Slab { base, slot_bytes, slots } => {
                slots[((address - base) / slot_bytes) as usize].as_ref()
            }
            Region::Vacant => None,
        }
    }

    /// True if all of `[address, address + length)` lies in one live allocation.
    pub fn contains(&self, address: u64, length_bytes: u64) -> bool {
        self.find(address).is_some_and(|extent| length_bytes <= extent.hi - address)
    }

    /// The allocation nearest to `address`, live or released, for messages.
    pub fn nearest(&self, address: u64) -> Option<Cow<'_, Record>> {
        let entry = self.nearest_entry(address).or_else(|| self.foreign.at(address));
        let entry = entry.map(Cow::Borrowed);
        entry.or_else(|| self.params.record_at(address).map(Cow::Owned))
    }

    fn nearest_entry(&self, address: u64) -> Option<&Record> {
        const REACH_PAGES: u64 = 1 << 16;
        let distance = |record: &&Record| {
            let end = record.base + record.size_bytes;
            if address < record.base { record.base - address } else { address.saturating_sub(end) }
        };
        if let Some(number) = self.region_number(address) {
            return self.regions[number].records().into_iter().min_by_key(distance);
        }
        let steps = (0..REACH_PAGES).map(|step| step * PAGE_BYTES);
        let below = steps.clone().find_map(|step| self.region_number(address.checked_sub(step)?));
        let above = steps.clone().find_map(|step| self.region_number(address.checked_add(step)?));
        let regions = below.into_iter().chain(above).map(|number| &self.regions[number]);
        regions.flat_map(Region::records).min_by_key(distance)
    }

    /// The live allocations, in order of their regions.
    pub fn live(&self) -> impl Iterator<Item = &Record> {
        self.regions
            .iter()
            .flat_map(Region::records)
            .chain(self.foreign.records())
            .filter(|record| record.live)
    }

    /// Whether there is memory of the host outside of the arena.
    pub fn has_foreign(&self) -> bool {
        self.foreign.records().any(|record| record.kind == AllocKind::Managed)
    }

    /// Releases the allocation that begins at `address`, if `allowed` agrees with its kind.
    pub fn free(
        &mut self,
        address: u64,
        at: Option<SiteRef>,
        allowed: impl Fn(&AllocKind) -> bool,
    ) -> Result<(), FreeError> {
        let number = self.region_number(address).ok_or(FreeError::NotAllocated)?;
        let (record, run_pages) = match &mut self.regions[number] {
            Region::Run { record, pages } => (record, Some(*pages)),
            Region::Slab { base, slot_bytes, slots } => {
                let slot = ((address - *base) / *slot_bytes) as usize;
                (slots[slot].as_mut().ok_or(FreeError::NotAllocated)?, None)
            }
            Region::Vacant => return Err(FreeError::NotAllocated),
        };
        if record.base != address {
            return Err(FreeError::NotAllocated);
        }
        if !record.live {
            return Err(FreeError::AlreadyFree);
        }
        if !allowed(&record.kind) {
            return Err(FreeError::WrongKind);
        }
        record.live = false;
        record.freed_at = at;
        self.live_bytes -= record.size_bytes;
        if record.kind == AllocKind::DeviceHeap {
            self.heap_bytes -= record.size_bytes;
        }
        let held_bytes = match run_pages {
            Some(pages) => {
                self.arena.discard(address, pages * PAGE_BYTES);
                PAGE_BYTES
            }
            None => record.size_bytes,
        };
        self.epoch += 1;
        self.quarantine.push_back((address, held_bytes));
        self.quarantine_bytes += held_bytes;
        while self.quarantine_bytes > QUARANTINE_BYTES || self.quarantine.len() > QUARANTINE_COUNT {
            self.recycle_oldest();
        }
        Ok(())
    }

    /// Makes the allocation that was released longest ago available again.
    fn recycle_oldest(&mut self) {
        let Some((address, held_bytes)) = self.quarantine.pop_front() else { return };
        self.quarantine_bytes -= held_bytes;
        let Some(number) = self.region_number(address) else { return };
        match &mut self.regions[number] {
            Region::Run { pages, .. } => {
                let pages = *pages;
                let first = ((address - self.arena.base()) / PAGE_BYTES) as usize;
                self.pages[first..first + pages as usize].fill(0);
                self.regions[number] = Region::Vacant;
                self.vacant_regions.push(number as u32);
                self.put_free_run(address, pages);
            }
            Region::Slab { base, slot_bytes, slots } => {
                slots[((address - *base) / *slot_bytes) as usize] = None;
                self.free_slots[slot_bytes.trailing_zeros() as usize].insert(address);
            }
            Region::Vacant => {}
        }
    }

    /// Adds a run to the free ones, joined with a free run that begins where it ends.
    fn put_free_run(&mut self, base: u64, pages: u64) {
        let end = base + pages * PAGE_BYTES;
        let next = self.free_runs.iter().find(|(_, bases)| bases.contains(&end)).map(|(&n, _)| n);
        let total = pages + next.unwrap_or(0);
        if let Some(length) = next {
            self.drop_free_run(length, end);
        }
        self.free_runs.entry(total).or_default().insert(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new(Arena::reserve(256 << 20).unwrap(), 256 << 20)
    }

    fn heap(table: &mut Table, size: u64) -> u64 {
        table.allocate(size, 16, AllocKind::DeviceHeap, true, None).unwrap()
    }

    #[test]
    fn bounds_are_exact_for_small_and_large() {
        let mut t = table();
        for size in [1, 16, 33, 1008, 1009, 4096, 5000, 1 << 20] {
            let a = heap(&mut t, size);
            assert_eq!(
                t.find(a),
                Some(Extent { lo: a, hi: a + size, writable: true, lasting: true })
            );
            assert!(t.find(a + size - 1).is_some());
            assert!(t.find(a + size).is_none(), "one past the end of {size}");
            assert!(t.contains(a, size) && !t.contains(a, size + 1));
            assert_eq!(t.nearest(a + size).unwrap().base, a);
        }
    }

    #[test]
    fn a_released_allocation_is_remembered() {
        let mut t = table();
        let a = heap(&mut t, 100);
        t.free(a, None, |_| true).unwrap();
        assert!(t.find(a).is_none());
        assert!(!t.record_at(a).unwrap().live);
        assert!(matches!(t.free(a, None, |_| true), Err(FreeError::AlreadyFree)));
        assert!(matches!(t.free(a + 8, None, |_| true), Err(FreeError::NotAllocated)));
        assert_ne!(heap(&mut t, 100), a, "not used again at once");
    }

    #[test]
    fn memory_is_used_again_after_the_quarantine_and_reads_zero() {
        let mut t = table();
        let mut highest = 0;
        for _ in 0..200_000 {
            let a = heap(&mut t, 64);
            // SAFETY: just allocated.
            unsafe {
                assert_eq!(*(a as *const u64), 0);
                *(a as *mut u64) = 1;
            }
            highest = highest.max(a);
            t.free(a, None, |_| true).unwrap();
        }
        assert!(highest - t.arena.base() < 16 << 20);
        for _ in 0..100_000 {
            let a = t.allocate(1 << 20, 256, AllocKind::Host, true, None).unwrap();
            t.free(a, None, |_| true).unwrap();
        }
        assert_eq!(t.live_bytes(), 0);
    }

    #[test]
    fn the_limit_holds() {
        let mut t = table();
        assert!(t.allocate(1 << 40, 256, AllocKind::Host, true, None).is_none());
        assert!(t.allocate(u64::MAX, 256, AllocKind::Host, true, None).is_none());
        assert!(t.allocate(200 << 20, 256, AllocKind::Host, true, None).is_some());
        assert!(t.allocate(100 << 20, 256, AllocKind::Host, true, None).is_none());
    }
}
