//! Memory apart from its addresses, on the CPU device: memory is a file that has no name, mapped into this process at the
//! addresses that the program reserved. So it keeps what it holds wherever it is mapped, twice at once too, and another
//! process can have it.

mod pages;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;

use self::pages::Reserved;
use super::{CpuDevice, convert, locked};
use crate::device::{Location, MemoryProps, VirtualMemory, access};
use crate::error::{CudaError, DeviceError, Result};

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
const PINNED: u32 = 1;

/// Memory that was created or imported.
struct Created {
    file: File,
    bytes: u64,
    props: MemoryProps,
    /// Handles that the program has not given up.
    references: usize,
}

// SAFETY: the pointer in the properties is never followed.
unsafe impl Send for Created {}

#[derive(Clone, Copy)]
struct Mapping {
    bytes: u64,
    handle: u64,
    access: u32,
}

/// What is reserved, created and mapped.
#[derive(Default)]
pub struct Mapped {
    reserved: BTreeMap<u64, Reserved>,
    mappings: BTreeMap<u64, Mapping>,
    created: HashMap<u64, Created>,
    /// Ranges that kernels may use, as the emulator knows them: bytes, and whether they may be written.
    shown: BTreeMap<u64, (u64, bool)>,
    handles: u64,
}

fn invalid<T>() -> Result<T> {
    Err(CudaError::INVALID_VALUE.into())
}

impl Mapped {
    /// Bytes of all memory that there is.
    pub fn created_bytes(&self) -> u64 {
        self.created.values().map(|created| created.bytes).sum()
    }

    /// The reservation that a range lies in.
    fn around(&self, address: u64, bytes: u64) -> Option<&Reserved> {
        let (base, reserved) = self.reserved.range(..=address).next_back()?;
        let offset = address - base;
        (offset.checked_add(bytes)? <= reserved.bytes()).then_some(reserved)
    }

    /// The mapping around an address.
    fn at(&self, address: u64) -> Option<(u64, Mapping)> {
        let (base, mapping) = self.mappings.range(..=address).next_back()?;
        (address - base < mapping.bytes).then_some((*base, *mapping))
    }

    /// The mappings that a range consists of; an error if it has a gap or a part of a mapping.
    fn whole(&self, address: u64, bytes: u64) -> Result<Vec<u64>> {
        let Some(end) = address.checked_add(bytes).filter(|end| *end > address) else {
            return invalid();
        };
        let (mut at, mut found) = (address, Vec::new());
        while at < end {
            let Some(mapping) = self.mappings.get(&at) else { return invalid() };
            found.push(at);
            at += mapping.bytes;
        }
        if at == end { Ok(found) } else { invalid() }
    }

    /// The ranges that kernels may use: mappings that touch each other and are used alike are one.
    fn usable(&self) -> BTreeMap<u64, (u64, bool)> {
        let mut ranges: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
        for (base, mapping) in &self.mappings {
            if mapping.access == access::NONE {
                continue;
            }
            let writable = mapping.access == access::READ_WRITE;
            match ranges.last_entry() {
                Some(mut last)
                    if last.key() + last.get().0 == *base && last.get().1 == writable =>
                {
                    last.get_mut().0 += mapping.bytes;
                }
                _ => drop(ranges.insert(*base, (mapping.bytes, writable))),
            }
        }
        ranges
    }

    fn created(&self, handle: u64) -> Result<&Created> {
        self.created.get(&handle).ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    /// Forgets memory without handles and mappings.
    fn drop_unused(&mut self, handle: u64) {
        let mapped = self.mappings.values().any(|mapping| mapping.handle == handle);
        if !mapped && self.created.get(&handle).is_some_and(|created| created.references == 0) {
            self.created.remove(&handle);
        }
    }

    fn add(&mut self, file: File, bytes: u64, props: MemoryProps) -> u64 {
        self.handles += 16;
        let handle = 0x3000_0000 + self.handles;
        self.created.insert(handle, Created { file, bytes, props, references: 1 });
        handle
    }
}

impl CpuDevice {
    /// Tells the emulator what has changed.
    fn show(&self, mapped: &mut Mapped) -> Result<()> {
        let wanted = mapped.usable();
        let mut state = self.state();
        for (base, known) in &mapped.shown {
            if wanted.get(base) != Some(known) {
                state.emulator.unregister(*base);
            }
        }
        for (base, new) in &wanted {
            if mapped.shown.get(base) != Some(new) {
                // SAFETY: what is unmapped is not shown any more before that.
                unsafe { state.emulator.lend(*base, new.0, new.1).map_err(convert)? };
            }
        }
        mapped.shown = wanted;
        Ok(())
    }
}

impl VirtualMemory for CpuDevice {
    fn reserve_range(&self, bytes: u64, align_bytes: u64, wanted: u64) -> Result<u64> {
        let granularity = self.granularity();
        let align_bytes = align_bytes.max(granularity);
        if bytes == 0 || !bytes.is_multiple_of(granularity) || !align_bytes.is_power_of_two() {
            return invalid();
        }
        let mut mapped = locked(&self.mapped);
        let reserved =
            Reserved::new(bytes, align_bytes, wanted).ok_or(CudaError::MEMORY_ALLOCATION)?;
        let base = reserved.base();
        mapped.reserved.insert(base, reserved);
        Ok(base)
    }

    fn free_range(&self, address: u64, bytes: u64) -> Result<()> {
        let mut mapped = locked(&self.mapped);
        let whole = mapped.reserved.get(&address).is_some_and(|known| known.bytes() == bytes);
        if !whole || mapped.mappings.range(address..address + bytes).next().is_some() {
            return invalid();
        }
        mapped.reserved.remove(&address);
        Ok(())
    }

    fn create_memory(&self, bytes: u64, props: &MemoryProps) -> Result<u64> {
        let places =
            props.kind == PINNED && props.handle_types & !MemoryProps::FILE_DESCRIPTOR == 0;
        if bytes == 0 || !bytes.is_multiple_of(self.granularity()) || !places {
            return invalid();
        }
        props.location.expect_device()?;
        let mut mapped = locked(&self.mapped);
        let free_bytes = self.state().emulator.memory_info().free_bytes;
        let out_of_memory = || DeviceError::from(CudaError::MEMORY_ALLOCATION);
        if bytes > free_bytes.saturating_sub(mapped.created_bytes()) {
            return Err(out_of_memory());
        }
        let file = pages::unnamed_file().map_err(|_| out_of_memory())?;
        file.set_len(bytes).map_err(|_| out_of_memory())?;
        Ok(mapped.add(file, bytes, *props))
    }

    fn release_memory(&self, handle: u64) -> Result<()> {
        let mut mapped = locked(&self.mapped);
        let known = mapped.created.get_mut(&handle).filter(|created| created.references > 0);
        known.ok_or(CudaError::INVALID_VALUE)?.references -= 1;
        mapped.drop_unused(handle);
        Ok(())
    }

    fn map_memory(&self, address: u64, bytes: u64, handle: u64) -> Result<()> {
        let granularity = self.granularity();
        let mut mapped = locked(&self.mapped);
        let created = mapped.created(handle)?;
        let fits = bytes > 0 && bytes <= created.bytes && created.references > 0;
        if !fits || !bytes.is_multiple_of(granularity) || !address.is_multiple_of(granularity) {
            return invalid();
        }
        let Some(reserved) = mapped.around(address, bytes) else { return invalid() };
        let before = mapped.mappings.range(..address + bytes).next_back();
        if before.is_some_and(|(base, known)| base + known.bytes > address) {
            return Err(CudaError::ALREADY_MAPPED.into());
        }
        if !reserved.map(address, bytes, &created.file) {
            return Err(CudaError::MEMORY_ALLOCATION.into());
        }
        self.state().emulator.remapped(address, bytes);
        mapped.mappings.insert(address, Mapping { bytes, handle, access: access::NONE });
        Ok(())
    }

    fn unmap_memory(&self, address: u64, bytes: u64) -> Result<()> {
        let mut mapped = locked(&self.mapped);
        let whole = mapped.whole(address, bytes)?;
        if mapped.around(address, bytes).is_none() {
            return invalid();
        }
        let gone: Vec<u64> =
            whole.iter().filter_map(|base| Some(mapped.mappings.remove(base)?.handle)).collect();
        // Waits for what is queued, which may use the memory.
        self.show(&mut mapped)?;
        if let Some(reserved) = mapped.around(address, bytes) {
            reserved.unmap(address, bytes);
        }
        self.state().emulator.remapped(address, bytes);
        gone.into_iter().for_each(|handle| mapped.drop_unused(handle));
        Ok(())
    }

    fn set_access(&self, address: u64, bytes: u64, access: u32) -> Result<()> {
        if !matches!(access, access::NONE | access::READ | access::READ_WRITE) {
            return invalid();
        }
        let mut mapped = locked(&self.mapped);
        for base in mapped.whole(address, bytes)? {
            if let Some(mapping) = mapped.mappings.get_mut(&base) {
                mapping.access = access;
            }
        }
        self.show(&mut mapped)
    }

    fn access(&self, address: u64) -> Result<u32> {
        let found = locked(&self.mapped).at(address);
        found.map(|(_, mapping)| mapping.access).ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    fn memory_at(&self, address: u64) -> Result<u64> {
        let mut mapped = locked(&self.mapped);
        let (_, mapping) = mapped.at(address).ok_or(CudaError::INVALID_VALUE)?;
        if let Some(created) = mapped.created.get_mut(&mapping.handle) {
            created.references += 1;
        }
        Ok(mapping.handle)
    }

    fn memory_props(&self, handle: u64) -> Result<MemoryProps> {
        Ok(locked(&self.mapped).created(handle)?.props)
    }

    fn export_memory(&self, handle: u64) -> Result<i32> {
        let mapped = locked(&self.mapped);
        let created = mapped.created(handle)?;
        if created.props.handle_types & MemoryProps::FILE_DESCRIPTOR == 0 {
            return invalid();
        }
        pages::descriptor(&created.file)
    }

    fn import_memory(&self, descriptor: i32) -> Result<u64> {
        let file = pages::file_of(descriptor).ok_or(CudaError::INVALID_VALUE)?;
        let bytes = file.metadata().map_err(|_| CudaError::INVALID_VALUE)?.len();
        if bytes == 0 || !bytes.is_multiple_of(self.granularity()) {
            return invalid();
        }
        let props = MemoryProps {
            kind: PINNED,
            handle_types: MemoryProps::FILE_DESCRIPTOR,
            location: Location { kind: Location::DEVICE, id: 0 },
            security: std::ptr::null(),
            flags: [0; 8],
        };
        Ok(locked(&self.mapped).add(file, bytes, props))
    }

    fn range_of(&self, address: u64) -> Result<(u64, u64)> {
        if let Some((base, mapping)) = locked(&self.mapped).at(address) {
            return Ok((base, mapping.bytes));
        }
        let found = self.state_now().emulator.pointer_info(address);
        let found = found.ok_or(CudaError::INVALID_VALUE)?;
        Ok((found.base, found.size_bytes))
    }

    fn reservation_of(&self, address: u64) -> Result<(u64, u64)> {
        let mapped = locked(&self.mapped);
        let reserved = mapped.at(address).and_then(|_| mapped.around(address, 1));
        if let Some(reserved) = reserved {
            return Ok((reserved.base(), reserved.bytes()));
        }
        drop(mapped);
        self.range_of(address)
    }
}
