//! Advice about managed memory, prefetches, and what was said of a range.

use std::ffi::c_void;

use super::{call, given};
use crate::device::{Location, StreamHandle};
use crate::error::{CudaError, Result};
use crate::process;

/// `cudaMemAdvise`
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemAdvise(
    address: *const c_void,
    bytes: usize,
    advice: u32,
    location: Location,
) -> u32 {
    call(|| {
        let device = process::current()?;
        device.device.advise(address as u64, bytes as u64, advice, location)
    })
}

/// `cudaMemPrefetchAsync`
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPrefetchAsync(
    address: *const c_void,
    bytes: usize,
    location: Location,
    flags: u32,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let stream = StreamHandle(stream as u64);
        let device = process::current()?;
        device.device.prefetch(address as u64, bytes as u64, location, stream)
    })
}

unsafe fn range_attribute(
    data: *mut c_void,
    data_bytes: usize,
    attribute: u32,
    address: *const c_void,
    bytes: usize,
) -> Result<()> {
    given(data)?;
    // SAFETY: as many bytes as the caller says.
    let data = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), data_bytes) };
    process::current()?.device.range_attribute(attribute, address as u64, bytes as u64, data)
}

/// `cudaMemRangeGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemRangeGetAttribute(
    data: *mut c_void,
    data_bytes: usize,
    attribute: u32,
    address: *const c_void,
    bytes: usize,
) -> u32 {
    call(|| unsafe { range_attribute(data, data_bytes, attribute, address, bytes) })
}

/// `cudaMemRangeGetAttributes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemRangeGetAttributes(
    data: *mut *mut c_void,
    data_bytes: *mut usize,
    attributes: *mut u32,
    count: usize,
    address: *const c_void,
    bytes: usize,
) -> u32 {
    call(|| {
        given(data)?;
        given(data_bytes)?;
        given(attributes)?;
        for index in 0..count {
            // SAFETY: arrays of `count` elements, as CUDA demands of the caller.
            unsafe {
                let (target, size) = (*data.add(index), *data_bytes.add(index));
                range_attribute(target, size, *attributes.add(index), address, bytes)?;
            }
        }
        Ok(())
    })
}
