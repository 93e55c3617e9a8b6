//! Memory of the GPU device: allocation, copies, fills, pointer queries.

use std::ffi::c_void;

use cudarc::driver::sys;

use super::GpuDevice;
use super::driver::{Handle, check};
use crate::device::{Copy2D, CopyKind, MemoryType, PointerInfo, StreamHandle};
use crate::error::{CudaError, Result};

/// Element size that gives rows the alignment every access needs (driver manual,
/// `cuMemAllocPitch`: 4, 8 or 16).
const PITCH_ELEMENT_BYTES: u32 = 16;

pub fn allocate(device: &GpuDevice, bytes: u64) -> Result<u64> {
    let driver = device.bind()?;
    let mut address = 0;
    if bytes > 0 {
        // SAFETY: target valid.
        check(unsafe { (driver.cuMemAlloc_v2)(&mut address, bytes as usize) })?;
    }
    Ok(address)
}

pub fn allocate_pitched(device: &GpuDevice, width_bytes: u64, height: u64) -> Result<(u64, u64)> {
    let driver = device.bind()?;
    if width_bytes == 0 || height == 0 {
        return Ok((0, 0));
    }
    let (mut address, mut pitch) = (0, 0usize);
    // SAFETY: targets valid.
    check(unsafe {
        (driver.cuMemAllocPitch_v2)(
            &mut address,
            &mut pitch,
            width_bytes as usize,
            height as usize,
            PITCH_ELEMENT_BYTES,
        )
    })?;
    Ok((address, pitch as u64))
}

pub fn allocate_managed(device: &GpuDevice, bytes: u64, flags: u32) -> Result<u64> {
    let driver = device.bind()?;
    let mut address = 0;
    // SAFETY: target valid; the driver checks size and flags.
    check(unsafe { (driver.cuMemAllocManaged)(&mut address, bytes as usize, flags) })?;
    Ok(address)
}

pub fn allocate_host(device: &GpuDevice, bytes: u64, flags: u32) -> Result<u64> {
    let driver = device.bind()?;
    let mut address: *mut c_void = std::ptr::null_mut();
    if bytes > 0 {
        // SAFETY: target valid; the driver checks the flags.
        check(unsafe { (driver.cuMemHostAlloc)(&mut address, bytes as usize, flags) })?;
    }
    Ok(address as u64)
}

pub fn free(device: &GpuDevice, address: u64) -> Result<()> {
    let driver = device.bind()?;
    if address == 0 {
        return Ok(());
    }
    // SAFETY: the driver looks the address up in its own tables.
    check(unsafe { (driver.cuMemFree_v2)(address) })
}

pub fn free_host(device: &GpuDevice, address: u64) -> Result<()> {
    let driver = device.bind()?;
    if address == 0 {
        return Ok(());
    }
    // SAFETY: the driver looks the address up in its own tables.
    check(unsafe { (driver.cuMemFreeHost)(address as *mut c_void) })
}

/// `CUpointer_attribute`, driver manual.
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const IS_MANAGED: u32 = 8;

pub fn pointer_info(device: &GpuDevice, address: u64) -> Result<PointerInfo> {
    let driver = device.bind()?;
    // Every attribute asked for here is at most 8 bytes (an address).
    let get = |attribute| -> Option<u64> {
        let mut value = 0u64;
        // SAFETY: the attribute's size is at most that of the target; the address is only looked up.
        let status =
            unsafe { (driver.cuPointerGetAttribute)((&raw mut value).cast(), attribute, address) };
        (status == 0).then_some(value)
    };
    let memory = match (get(MEMORY_TYPE), get(IS_MANAGED)) {
        (Some(_), Some(managed)) if managed != 0 => MemoryType::Managed,
        (Some(1), _) => MemoryType::Host,
        (Some(_), _) => MemoryType::Device,
        (None, _) => {
            let unregistered = MemoryType::Unregistered;
            return Ok(PointerInfo {
                memory: unregistered,
                device_address: 0,
                host_address: address,
            });
        }
    };
    Ok(PointerInfo {
        memory,
        device_address: get(DEVICE_POINTER).unwrap_or(0),
        host_address: get(HOST_POINTER).unwrap_or(0),
    })
}

/// # Safety
/// As for [`crate::Device::copy`].
pub unsafe fn copy(
    device: &GpuDevice,
    dst: u64,
    src: u64,
    bytes: u64,
    kind: CopyKind,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let stream = stream.map(|stream| device.stream(stream)).transpose()?;
    let driver = device.bind()?;
    let count = bytes as usize;
    let (to_host, from_host) = (dst as *mut c_void, src as *const c_void);
    // SAFETY: host sides are valid by the caller's promise; the driver checks device sides.
    check(unsafe {
        match (kind, stream) {
            (CopyKind::HostToDevice, None) => (driver.cuMemcpyHtoD_v2)(dst, from_host, count),
            (CopyKind::HostToDevice, Some(s)) => {
                (driver.cuMemcpyHtoDAsync_v2)(dst, from_host, count, s)
            }
            (CopyKind::DeviceToHost, None) => (driver.cuMemcpyDtoH_v2)(to_host, src, count),
            (CopyKind::DeviceToHost, Some(s)) => {
                (driver.cuMemcpyDtoHAsync_v2)(to_host, src, count, s)
            }
            (CopyKind::DeviceToDevice, None) => (driver.cuMemcpyDtoD_v2)(dst, src, count),
            (CopyKind::DeviceToDevice, Some(s)) => {
                (driver.cuMemcpyDtoDAsync_v2)(dst, src, count, s)
            }
            (CopyKind::HostToHost | CopyKind::Default, None) => (driver.cuMemcpy)(dst, src, count),
            (CopyKind::HostToHost | CopyKind::Default, Some(s)) => {
                (driver.cuMemcpyAsync)(dst, src, count, s)
            }
        }
    })
}

/// # Safety
/// As for [`crate::Device::copy`].
pub unsafe fn copy_2d(
    device: &GpuDevice,
    copy: &Copy2D,
    kind: CopyKind,
    stream: Option<StreamHandle>,
) -> Result<()> {
    use sys::CUmemorytype::{
        CU_MEMORYTYPE_DEVICE as DEVICE, CU_MEMORYTYPE_HOST as HOST,
        CU_MEMORYTYPE_UNIFIED as UNIFIED,
    };
    if copy.width_bytes > copy.dst_pitch_bytes || copy.width_bytes > copy.src_pitch_bytes {
        return Err(CudaError::INVALID_PITCH_VALUE.into());
    }
    let stream = stream.map(|stream| device.stream(stream)).transpose()?;
    let driver = device.bind()?;
    if copy.width_bytes == 0 || copy.height == 0 {
        return Ok(());
    }
    let (src_type, dst_type) = match kind {
        CopyKind::HostToHost => (HOST, HOST),
        CopyKind::HostToDevice => (HOST, DEVICE),
        CopyKind::DeviceToHost => (DEVICE, HOST),
        CopyKind::DeviceToDevice => (DEVICE, DEVICE),
        CopyKind::Default => (UNIFIED, UNIFIED),
    };
    let description = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: src_type,
        srcHost: copy.src as *const c_void,
        srcDevice: copy.src,
        srcArray: std::ptr::null_mut(),
        srcPitch: copy.src_pitch_bytes,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: dst_type,
        dstHost: copy.dst as *mut c_void,
        dstDevice: copy.dst,
        dstArray: std::ptr::null_mut(),
        dstPitch: copy.dst_pitch_bytes,
        WidthInBytes: copy.width_bytes,
        Height: copy.height,
    };
    // SAFETY: host sides are valid by the caller's promise; the driver checks device sides.
    check(unsafe {
        match stream {
            None => (driver.cuMemcpy2DUnaligned_v2)(&description),
            Some(stream) => (driver.cuMemcpy2DAsync_v2)(&description, stream),
        }
    })
}

/// # Safety
/// As for [`crate::Device::fill`].
pub unsafe fn fill(
    device: &GpuDevice,
    dst: u64,
    value: u8,
    bytes: u64,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let stream: Option<Handle> = stream.map(|stream| device.stream(stream)).transpose()?;
    let driver = device.bind()?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the driver checks device addresses; others are the caller's promise.
    check(unsafe {
        match stream {
            None => (driver.cuMemsetD8_v2)(dst, value, bytes as usize),
            Some(stream) => (driver.cuMemsetD8Async)(dst, value, bytes as usize, stream),
        }
    })
}

/// # Safety
/// As for [`crate::Device::fill`].
pub unsafe fn fill_2d(
    device: &GpuDevice,
    dst: u64,
    pitch_bytes: u64,
    value: u8,
    width_bytes: u64,
    height: u64,
    stream: Option<StreamHandle>,
) -> Result<()> {
    if width_bytes > pitch_bytes {
        return Err(CudaError::INVALID_VALUE.into());
    }
    let stream: Option<Handle> = stream.map(|stream| device.stream(stream)).transpose()?;
    let driver = device.bind()?;
    if width_bytes == 0 || height == 0 {
        return Ok(());
    }
    let (pitch, width, rows) = (pitch_bytes as usize, width_bytes as usize, height as usize);
    // SAFETY: the driver checks device addresses; others are the caller's promise.
    check(unsafe {
        match stream {
            None => (driver.cuMemsetD2D8_v2)(dst, pitch, value, width, rows),
            Some(stream) => (driver.cuMemsetD2D8Async)(dst, pitch, value, width, rows, stream),
        }
    })
}
