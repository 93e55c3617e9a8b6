//! Memory: allocated, described, advised and filled. Copies are in [`super::copies`].

use std::ffi::c_void;

use super::*;
use crate::device::{Location, MemoryType, StreamHandle};
use crate::graph::{Op, Set, capture};

type Address = *mut u64;
type Memory = *mut *mut c_void;
type Stream = *mut c_void;

/// `CU_DEVICE_CPU`
const HOST_DEVICE: i32 = -1;

/// The place that calls before CUDA 12.2 say by a device's number.
fn location(device: i32) -> Location {
    if device == HOST_DEVICE {
        return Location { kind: Location::HOST, id: 0 };
    }
    Location { kind: Location::DEVICE, id: device }
}

/// Fills `height` rows of `width` elements, in the order of a stream, or at once as NULL's stream would.
fn fill(
    dst: u64,
    pitch: usize,
    (value, element_bytes): (u32, u32),
    (width, height): (usize, usize),
    stream: Option<Stream>,
) -> u32 {
    call(|| {
        let aligned = dst.is_multiple_of(u64::from(element_bytes))
            && pitch.is_multiple_of(element_bytes as usize);
        if !aligned {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if width == 0 || height == 0 {
            return Ok(());
        }
        let set = Set { dst: dst as *mut c_void, pitch, value, element_bytes, width, height };
        let handle = stream.map(|stream| StreamHandle(stream as u64));
        if capture::recorded(handle, || Ok(Op::Set(set)))? {
            return Ok(());
        }
        set.run(handle.unwrap_or(StreamHandle::NULL))?;
        match handle {
            Some(_) => Ok(()),
            None => process::current()?.device.synchronize_stream(StreamHandle::NULL),
        }
    })
}

/// `CU_POINTER_ATTRIBUTE_*`
mod pointer_attribute {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const IS_MANAGED: u32 = 8;
    pub const ORDINAL: u32 = 9;
    pub const IS_IPC_CAPABLE: u32 = 10;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_BYTES: u32 = 12;
    pub const IS_MAPPED: u32 = 13;
    pub const IS_RDMA_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const IS_DECOMPRESS_CAPABLE: u32 = 21;
}

/// Writes an attribute of an address.
///
/// # Safety
/// `data` has room for the attribute's type.
unsafe fn attribute(data: *mut c_void, attribute: u32, address: u64) -> Result<()> {
    use pointer_attribute::*;
    given(data)?;
    let device = &process::current()?.device;
    let info = device.pointer_info(address)?;
    let known = info.memory != MemoryType::Unregistered;
    let of_host = info.memory == MemoryType::Host;
    let needs = match attribute {
        CONTEXT | MEMORY_TYPE | ORDINAL | RANGE_START | RANGE_BYTES | IS_MAPPED => known,
        DEVICE_POINTER => info.device_address != 0,
        HOST_POINTER => info.host_address != 0,
        IS_MANAGED => true,
        _ => return Err(CudaError::NOT_SUPPORTED.into()),
    };
    if !needs {
        return Err(CudaError::INVALID_VALUE.into());
    }
    // SAFETY: the caller's promise; the manual says each attribute's type.
    unsafe {
        match attribute {
            CONTEXT => offer(data.cast::<u64>(), context::primary()),
            // CU_MEMORYTYPE_HOST and CU_MEMORYTYPE_DEVICE
            MEMORY_TYPE => offer(data.cast::<u32>(), if of_host { 1 } else { 2 }),
            DEVICE_POINTER => offer(data.cast::<u64>(), info.device_address),
            HOST_POINTER => offer(data.cast::<u64>(), info.host_address),
            RANGE_START => offer(data.cast::<u64>(), device.reservation_of(address)?.0),
            RANGE_BYTES => offer(data.cast::<u64>(), device.reservation_of(address)?.1),
            IS_MAPPED => offer(data.cast::<u8>(), 1),
            IS_MANAGED => offer(data.cast::<u32>(), u32::from(info.memory == MemoryType::Managed)),
            _ => offer(data.cast::<i32>(), process::current_ordinal()),
        }
    }
    Ok(())
}

/// Writes what an attribute is of an address that has it not.
///
/// # Safety
/// `data` has room for the attribute's type.
unsafe fn empty(data: *mut c_void, attribute: u32) {
    use pointer_attribute::*;
    /// No device's number.
    const NO_DEVICE: i32 = -2;
    // SAFETY: the caller's promise.
    unsafe {
        match attribute {
            ORDINAL => offer(data.cast::<i32>(), NO_DEVICE),
            // How wide these truths are the manual does not say.
            IS_IPC_CAPABLE | IS_MAPPED | IS_RDMA_CAPABLE | IS_DECOMPRESS_CAPABLE => {
                offer(data.cast::<u8>(), 0)
            }
            MEMORY_TYPE | SYNC_MEMOPS | IS_MANAGED | ACCESS_FLAGS => offer(data.cast::<u32>(), 0),
            _ => offer(data.cast::<u64>(), 0),
        }
    }
}

driver_functions! {
    Context fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { cudaMemGetInfo(free, total) }
    Context fn cuMemAlloc_v2(address: Address, bytes: usize) {
        // The runtime gives a null pointer for nothing.
        if bytes == 0 { CudaError::INVALID_VALUE.0 } else { cudaMalloc(address.cast(), bytes) }
    }
    Context fn cuMemAllocPitch_v2(address: Address, pitch: *mut usize, width: usize, height: usize, element_bytes: u32) {
        match element_bytes {
            4 | 8 | 16 => cudaMallocPitch(address.cast(), pitch, width, height),
            _ => CudaError::INVALID_VALUE.0,
        }
    }
    Context fn cuMemAllocManaged(address: Address, bytes: usize, flags: u32) {
        if bytes == 0 { CudaError::INVALID_VALUE.0 } else { cudaMallocManaged(address.cast(), bytes, flags) }
    }
    Context fn cuMemFree_v2(address: u64) { cudaFree(address as *mut c_void) }
    Context fn cuMemAllocHost_v2(address: Memory, bytes: usize) { cudaMallocHost(address, bytes) }
    Context fn cuMemHostAlloc(address: Memory, bytes: usize, flags: u32) { cudaHostAlloc(address, bytes, flags) }
    Context fn cuMemFreeHost(address: *mut c_void) { cudaFreeHost(address) }
    Context fn cuMemHostGetDevicePointer_v2(address: Address, host: *mut c_void, flags: u32) {
        cudaHostGetDevicePointer(address.cast(), host, flags)
    }
    Context fn cuMemHostGetFlags(flags: *mut u32, host: *mut c_void) { cudaHostGetFlags(flags, host) }
    Context fn cuMemHostRegister_v2(host: *mut c_void, bytes: usize, flags: u32) { cudaHostRegister(host, bytes, flags) }
    Context fn cuMemHostUnregister(host: *mut c_void) { cudaHostUnregister(host) }
    Context fn cuMemAdvise(address: u64, bytes: usize, advice: u32, device: i32) {
        cudaMemAdvise(address as *const c_void, bytes, advice, location(device))
    }
    Context fn cuMemAdvise_v2(address: u64, bytes: usize, advice: u32, location: Location) {
        cudaMemAdvise(address as *const c_void, bytes, advice, location)
    }
    Context fn cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: Stream) {
        cudaMemPrefetchAsync(address as *const c_void, bytes, location(device), 0, stream)
    }
    Context fn cuMemPrefetchAsync_v2(address: u64, bytes: usize, location: Location, flags: u32, stream: Stream) {
        cudaMemPrefetchAsync(address as *const c_void, bytes, location, flags, stream)
    }
    Context fn cuMemRangeGetAttribute(data: *mut c_void, data_bytes: usize, attribute: u32, address: u64, bytes: usize) {
        cudaMemRangeGetAttribute(data, data_bytes, attribute, address as *const c_void, bytes)
    }
    Context fn cuPointerGetAttribute(data: *mut c_void, number: u32, address: u64) {
        call(|| attribute(data, number, address))
    }
    Context fn cuPointerGetAttributes(count: u32, numbers: *const u32, data: *mut *mut c_void, address: u64) {
        call(|| {
            given(numbers.cast_mut())?;
            given(data)?;
            // What an address has not is left 0, for memory that CUDA does not know all of it.
            for index in 0..count as usize {
                let (target, number) = (*data.add(index), *numbers.add(index));
                given(target)?;
                if attribute(target, number, address).is_err() {
                    empty(target, number);
                }
            }
            Ok(())
        })
    }
    Context fn cuPointerSetAttribute(value: *const u32, number: u32, address: u64) {
        call(|| {
            given(value.cast_mut())?;
            let known = process::current()?.device.pointer_info(address)?.memory != MemoryType::Unregistered;
            // Nothing is left to do for copies that wait: all of this device do.
            match number {
                pointer_attribute::SYNC_MEMOPS if known => Ok(()),
                _ => Err(CudaError::INVALID_VALUE.into()),
            }
        })
    }
    Context fn cuMemRangeGetAttributes(
        data: *mut *mut c_void, data_bytes: *mut usize, attributes: *mut u32, count: usize, address: u64, bytes: usize,
    ) {
        cudaMemRangeGetAttributes(data, data_bytes, attributes, count, address as *const c_void, bytes)
    }
    Start fn cuMemGetDefaultMemPool(pool: Memory, location: *const Location, kind: u32) {
        cudaMemGetDefaultMemPool(pool, location, kind)
    }
    Context fn cuMemAllocAsync(address: Address, bytes: usize, stream: Stream) {
        cudaMallocAsync(address.cast(), bytes, stream)
    }
    Context fn cuMemAllocFromPoolAsync(address: Address, bytes: usize, pool: *mut c_void, stream: Stream) {
        cudaMallocFromPoolAsync(address.cast(), bytes, pool, stream)
    }
    Context fn cuMemFreeAsync(address: u64, stream: Stream) { cudaFreeAsync(address as *mut c_void, stream) }
    Start fn cuMemPoolCreate(pool: Memory, props: *const PoolProps) { cudaMemPoolCreate(pool, props) }
    Start fn cuMemPoolDestroy(pool: *mut c_void) { cudaMemPoolDestroy(pool) }
    Start fn cuMemPoolTrimTo(pool: *mut c_void, bytes: usize) { cudaMemPoolTrimTo(pool, bytes) }
    Start fn cuMemPoolSetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        cudaMemPoolSetAttribute(pool, attribute, value)
    }
    Start fn cuMemPoolGetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        cudaMemPoolGetAttribute(pool, attribute, value)
    }
    Start fn cuMemPoolSetAccess(pool: *mut c_void, access: *const AccessDesc, count: usize) {
        cudaMemPoolSetAccess(pool, access, count)
    }
    Start fn cuMemPoolGetAccess(flags: *mut u32, pool: *mut c_void, location: *const Location) {
        cudaMemPoolGetAccess(flags, pool, location)
    }
    Start fn cuDeviceGetDefaultMemPool(pool: Memory, device: i32) { cudaDeviceGetDefaultMemPool(pool, device) }
    Start fn cuDeviceGetMemPool(pool: Memory, device: i32) { cudaDeviceGetMemPool(pool, device) }
    Start fn cuDeviceSetMemPool(device: i32, pool: *mut c_void) { cudaDeviceSetMemPool(device, pool) }
    Context fn cuMemsetD8_v2(dst: u64, value: u8, count: usize) {
        fill(dst, count, (value.into(), 1), (count, 1), None)
    }
    Context fn cuMemsetD16_v2(dst: u64, value: u16, count: usize) {
        fill(dst, 0, (value.into(), 2), (count, 1), None)
    }
    Context fn cuMemsetD32_v2(dst: u64, value: u32, count: usize) {
        fill(dst, 0, (value, 4), (count, 1), None)
    }
    Context fn cuMemsetD2D8_v2(dst: u64, pitch: usize, value: u8, width: usize, height: usize) {
        fill(dst, pitch, (value.into(), 1), (width, height), None)
    }
    Context fn cuMemsetD2D16_v2(dst: u64, pitch: usize, value: u16, width: usize, height: usize) {
        fill(dst, pitch, (value.into(), 2), (width, height), None)
    }
    Context fn cuMemsetD2D32_v2(dst: u64, pitch: usize, value: u32, width: usize, height: usize) {
        fill(dst, pitch, (value, 4), (width, height), None)
    }
    Context fn cuMemsetD8Async(dst: u64, value: u8, count: usize, stream: Stream) {
        fill(dst, 0, (value.into(), 1), (count, 1), Some(stream))
    }
    Context fn cuMemsetD16Async(dst: u64, value: u16, count: usize, stream: Stream) {
        fill(dst, 0, (value.into(), 2), (count, 1), Some(stream))
    }
    Context fn cuMemsetD32Async(dst: u64, value: u32, count: usize, stream: Stream) {
        fill(dst, 0, (value, 4), (count, 1), Some(stream))
    }
    Context fn cuMemsetD2D8Async(dst: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Stream) {
        fill(dst, pitch, (value.into(), 1), (width, height), Some(stream))
    }
    Context fn cuMemsetD2D16Async(dst: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Stream) {
        fill(dst, pitch, (value.into(), 2), (width, height), Some(stream))
    }
    Context fn cuMemsetD2D32Async(dst: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Stream) {
        fill(dst, pitch, (value, 4), (width, height), Some(stream))
    }
}

per_thread_variants! {
    cuMemAllocAsync_ptsz = cuMemAllocAsync(address: Address, bytes: usize, stream: Stream) in stream;
    cuMemAllocFromPoolAsync_ptsz = cuMemAllocFromPoolAsync(address: Address, bytes: usize, pool: *mut c_void, stream: Stream) in stream;
    cuMemFreeAsync_ptsz = cuMemFreeAsync(address: u64, stream: Stream) in stream;
    cuMemPrefetchAsync_ptsz = cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: Stream) in stream;
    cuMemPrefetchAsync_v2_ptsz = cuMemPrefetchAsync_v2(address: u64, bytes: usize, location: Location, flags: u32, stream: Stream) in stream;
    cuMemsetD8Async_ptsz = cuMemsetD8Async(dst: u64, value: u8, count: usize, stream: Stream) in stream;
    cuMemsetD16Async_ptsz = cuMemsetD16Async(dst: u64, value: u16, count: usize, stream: Stream) in stream;
    cuMemsetD32Async_ptsz = cuMemsetD32Async(dst: u64, value: u32, count: usize, stream: Stream) in stream;
    cuMemsetD2D8Async_ptsz = cuMemsetD2D8Async(dst: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Stream) in stream;
    cuMemsetD2D16Async_ptsz = cuMemsetD2D16Async(dst: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Stream) in stream;
    cuMemsetD2D32Async_ptsz = cuMemsetD2D32Async(dst: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Stream) in stream;
}

waiting_variants! {
    cuMemsetD8_v2_ptds = cuMemsetD8_v2(dst: u64, value: u8, count: usize);
    cuMemsetD16_v2_ptds = cuMemsetD16_v2(dst: u64, value: u16, count: usize);
    cuMemsetD32_v2_ptds = cuMemsetD32_v2(dst: u64, value: u32, count: usize);
    cuMemsetD2D8_v2_ptds = cuMemsetD2D8_v2(dst: u64, pitch: usize, value: u8, width: usize, height: usize);
    cuMemsetD2D16_v2_ptds = cuMemsetD2D16_v2(dst: u64, pitch: usize, value: u16, width: usize, height: usize);
    cuMemsetD2D32_v2_ptds = cuMemsetD2D32_v2(dst: u64, pitch: usize, value: u32, width: usize, height: usize);
}
