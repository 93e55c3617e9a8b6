//! Ranges of addresses, memory that is created apart from them, and what of it is mapped where.

use std::ffi::c_void;

use super::super::array::read;
use super::*;
use crate::device::{Device, Location, MemoryProps};

fn on_device(work: impl FnOnce(&dyn Device) -> Result<()>) -> u32 {
    call(|| work(&*process::current()?.device))
}

driver_functions! {
    Context fn cuMemAddressReserve(address: *mut u64, bytes: usize, align_bytes: usize, wanted: u64, flags: u64) {
        on_device(|device| {
            given(address)?;
            if flags != 0 {
                return Err(CudaError::INVALID_VALUE.into());
            }
            put(address, device.reserve_range(bytes as u64, align_bytes as u64, wanted)?)
        })
    }
    Context fn cuMemAddressFree(address: u64, bytes: usize) {
        on_device(|device| device.free_range(address, bytes as u64))
    }
    Context fn cuMemCreate(handle: *mut u64, bytes: usize, props: *const MemoryProps, flags: u64) {
        on_device(|device| {
            given(handle)?;
            if flags != 0 {
                return Err(CudaError::INVALID_VALUE.into());
            }
            put(handle, device.create_memory(bytes as u64, read(props)?)?)
        })
    }
    Context fn cuMemRelease(handle: u64) { on_device(|device| device.release_memory(handle)) }
    Context fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        on_device(|device| match (offset, flags) {
            (0, 0) => device.map_memory(address, bytes as u64, handle),
            _ => Err(CudaError::INVALID_VALUE.into()),
        })
    }
    Context fn cuMemUnmap(address: u64, bytes: usize) {
        on_device(|device| device.unmap_memory(address, bytes as u64))
    }
    Context fn cuMemSetAccess(address: u64, bytes: usize, wanted: *const AccessDesc, count: usize) {
        on_device(|device| {
            given(wanted.cast_mut())?;
            let wanted = std::slice::from_raw_parts(wanted, count);
            wanted.iter().try_for_each(|one| one.location.expect_device())?;
            wanted.iter().try_for_each(|one| device.set_access(address, bytes as u64, one.flags))
        })
    }
    Context fn cuMemGetAccess(flags: *mut u64, location: *const Location, address: u64) {
        on_device(|device| {
            read(location)?.expect_device()?;
            put(flags, u64::from(device.access(address)?))
        })
    }
    Context fn cuMemGetAllocationGranularity(bytes: *mut usize, props: *const MemoryProps, _option: u32) {
        on_device(|device| {
            read(props)?;
            put(bytes, device.granularity() as usize)
        })
    }
    Context fn cuMemGetAllocationPropertiesFromHandle(props: *mut MemoryProps, handle: u64) {
        on_device(|device| put(props, device.memory_props(handle)?))
    }
    Context fn cuMemRetainAllocationHandle(handle: *mut u64, address: *mut c_void) {
        on_device(|device| {
            given(handle)?;
            put(handle, device.memory_at(address as u64)?)
        })
    }
    Context fn cuMemExportToShareableHandle(target: *mut c_void, handle: u64, kind: u32, flags: u64) {
        on_device(|device| {
            given(target)?;
            match (kind, flags) {
                (MemoryProps::FILE_DESCRIPTOR, 0) => put(target.cast::<i32>(), device.export_memory(handle)?),
                (_, 0) => Err(CudaError::NOT_SUPPORTED.into()),
                _ => Err(CudaError::INVALID_VALUE.into()),
            }
        })
    }
    Context fn cuMemImportFromShareableHandle(handle: *mut u64, given_handle: *mut c_void, kind: u32) {
        on_device(|device| {
            given(handle)?;
            match kind {
                MemoryProps::FILE_DESCRIPTOR => put(handle, device.import_memory(given_handle as isize as i32)?),
                _ => Err(CudaError::NOT_SUPPORTED.into()),
            }
        })
    }
    Context fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, address: u64) {
        on_device(|device| {
            // So a GPU's driver answers for what is reserved and has no memory.
            let (found, known) = match device.range_of(address) {
                Ok(found) => (found, Ok(())),
                Err(_) => ((0, 0), Err(CudaError::SYMBOL_NOT_FOUND.into())),
            };
            offer(base, found.0);
            offer(bytes, found.1 as usize);
            known
        })
    }
}
