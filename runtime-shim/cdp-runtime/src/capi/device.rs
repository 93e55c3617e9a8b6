//! Devices, limits, versions, and errors.

use std::ffi::c_char;

use super::{call, given, put};
use crate::device::Limit;
use crate::error::{CudaError, Result};
use crate::properties::DeviceProp;
use crate::{RUNTIME_VERSION, process};

/// `cudaGetLastError`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> u32 {
    // A device that has faulted says so again at the next call, not here.
    let code = process::last_error();
    process::set_last_error(CudaError::SUCCESS);
    code.0
}

/// `cudaPeekAtLastError`
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    process::last_error().0
}

/// `cudaGetErrorName`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    CudaError(code).name().as_ptr()
}

/// `cudaGetErrorString`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    CudaError(code).text().as_ptr()
}

/// `cudaDeviceSynchronize`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSynchronize() -> u32 {
    call(|| process::current()?.device.synchronize())
}

/// `cudaDeviceReset`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> u32 {
    // The thread's last error outlives the device (seen on an H200).
    call(process::reset_current)
}

fn limit(number: u32) -> Result<Limit> {
    Limit::from_raw(number).ok_or_else(|| CudaError::INVALID_VALUE.into())
}

/// `cudaDeviceSetLimit`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetLimit(number: u32, value: usize) -> u32 {
    call(|| process::current()?.device.set_limit(limit(number)?, value as u64))
}

/// `cudaDeviceGetLimit`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetLimit(value: *mut usize, number: u32) -> u32 {
    call(|| {
        given(value)?;
        let found = process::current()?.device.limit(limit(number)?)?;
        unsafe { put(value, found as usize) }
    })
}

/// `cudaDeviceSetCacheConfig`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetCacheConfig(config: u32) -> u32 {
    call(|| process::current()?.device.set_cache_config(config))
}

/// `cudaDeviceGetCacheConfig`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetCacheConfig(config: *mut u32) -> u32 {
    call(|| unsafe { put(config, process::current()?.device.cache_config()?) })
}

/// `cudaDeviceGetSharedMemConfig`: four-byte banks, which every device of today has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetSharedMemConfig(config: *mut u32) -> u32 {
    const FOUR_BYTE_BANKS: u32 = 1;
    call(|| unsafe {
        process::current()?;
        put(config, FOUR_BYTE_BANKS)
    })
}

/// `cudaGetDeviceCount`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceCount(count: *mut i32) -> u32 {
    call(|| {
        unsafe { put(count, 0)? };
        unsafe { put(count, process::runtime()?.count()) }
    })
}

/// `cudaSetDevice`
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDevice(ordinal: i32) -> u32 {
    call(|| process::set_current(ordinal))
}

/// `cudaGetDevice`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDevice(ordinal: *mut i32) -> u32 {
    call(|| {
        process::runtime()?;
        unsafe { put(ordinal, process::current_ordinal()) }
    })
}

/// `cudaGetDeviceProperties`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties(properties: *mut DeviceProp, ordinal: i32) -> u32 {
    call(|| {
        given(properties)?;
        let found = process::runtime()?.device(ordinal)?.device.properties()?;
        unsafe { put(properties, found) }
    })
}

/// `cudaDeviceGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetAttribute(
    value: *mut i32,
    attribute: u32,
    ordinal: i32,
) -> u32 {
    call(|| {
        given(value)?;
        let found = process::runtime()?.device(ordinal)?.device.attribute(attribute)?;
        unsafe { put(value, found) }
    })
}

/// `cudaRuntimeGetVersion`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaRuntimeGetVersion(version: *mut i32) -> u32 {
    call(|| unsafe { put(version, RUNTIME_VERSION) })
}

/// `cudaDriverGetVersion`; the CPU device counts as a driver of this runtime's version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDriverGetVersion(version: *mut i32) -> u32 {
    call(|| {
        given(version)?;
        let found = process::current()?.device.driver_version()?;
        unsafe { put(version, found) }
    })
}
