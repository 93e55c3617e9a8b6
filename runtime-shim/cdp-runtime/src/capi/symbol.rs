//! Device variables by their host shadows.

use std::ffi::c_void;

use super::copies::{copy_kind, line};
use super::{call, put};
use crate::device::{CopyKind, StreamHandle};
use crate::error::{CudaError, Result};
use crate::graph::capture;
use crate::process;

/// `cudaGetSymbolAddress`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetSymbolAddress(
    address: *mut *mut c_void,
    symbol: *const c_void,
) -> u32 {
    call(|| {
        let (place, _) = process::current()?.variable(symbol as usize)?;
        unsafe { put(address, place as *mut c_void) }
    })
}

/// `cudaGetSymbolSize`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> u32 {
    call(|| {
        let (_, size) = process::current()?.variable(symbol as usize)?;
        unsafe { put(bytes, size as usize) }
    })
}

/// Address of `count` bytes at `offset` of a variable.
pub(super) fn part_of(symbol: *const c_void, count: usize, offset: usize) -> Result<u64> {
    let (place, size) = process::current()?.variable(symbol as usize)?;
    match (offset as u64).checked_add(count as u64) {
        Some(end) if end <= size => Ok(place + offset as u64),
        _ => Err(CudaError::INVALID_VALUE.into()),
    }
}

unsafe fn copy_to(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let kind = copy_kind(kind)?;
    if matches!(kind, CopyKind::HostToHost | CopyKind::DeviceToHost) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION.into());
    }
    let dst = part_of(symbol, count, offset)?;
    if capture::recorded(stream, || Ok(line(dst, src as u64, count, kind)))? {
        return Ok(());
    }
    // SAFETY: the host side is valid, as CUDA demands of the caller.
    unsafe { process::current()?.device.copy(dst, src as u64, count as u64, kind, stream) }
}

unsafe fn copy_from(
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let kind = copy_kind(kind)?;
    if matches!(kind, CopyKind::HostToHost | CopyKind::HostToDevice) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION.into());
    }
    let src = part_of(symbol, count, offset)?;
    if capture::recorded(stream, || Ok(line(dst as u64, src, count, kind)))? {
        return Ok(());
    }
    // SAFETY: the host side is valid, as CUDA demands of the caller.
    unsafe { process::current()?.device.copy(dst as u64, src, count as u64, kind, stream) }
}

/// `cudaMemcpyToSymbol`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyToSymbol(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
) -> u32 {
    call(|| unsafe { copy_to(symbol, src, count, offset, kind, None) })
}

/// `cudaMemcpyToSymbolAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyToSymbolAsync(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let stream = Some(StreamHandle(stream as u64));
    call(|| unsafe { copy_to(symbol, src, count, offset, kind, stream) })
}

/// `cudaMemcpyFromSymbol`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyFromSymbol(
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
) -> u32 {
    call(|| unsafe { copy_from(dst, symbol, count, offset, kind, None) })
}

/// `cudaMemcpyFromSymbolAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyFromSymbolAsync(
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let stream = Some(StreamHandle(stream as u64));
    call(|| unsafe { copy_from(dst, symbol, count, offset, kind, stream) })
}
