//! Memory: allocation, copies, fills, and what an address is.

use std::ffi::c_void;

use super::copies::{Extent, Memcpy3DParms, PitchedPtr, Pos, copy_kind, line, rectangles};
use super::{call, given, put};
use crate::device::{Copy2D, Device, MemoryType, StreamHandle};
use crate::error::{CudaError, Result};
use crate::graph::{Op, Set, capture};
use crate::process;

/// `cudaMalloc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMalloc(address: *mut *mut c_void, bytes: usize) -> u32 {
    call(|| {
        given(address)?;
        let allocated = process::current()?.device.allocate(bytes as u64)?;
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaMallocPitch`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocPitch(
    address: *mut *mut c_void,
    pitch: *mut usize,
    width_bytes: usize,
    height: usize,
) -> u32 {
    call(|| {
        given(address)?;
        given(pitch)?;
        let device = process::current()?;
        let (allocated, row) = device.device.allocate_pitched(width_bytes as u64, height as u64)?;
        unsafe { put(pitch, row as usize)? };
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaMallocManaged`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocManaged(
    address: *mut *mut c_void,
    bytes: usize,
    flags: u32,
) -> u32 {
    call(|| {
        given(address)?;
        let device = process::current()?;
        // The driver refuses zero bytes, the runtime does not.
        let allocated = match bytes {
            0 => 0,
            bytes => device.device.allocate_managed(bytes as u64, flags)?,
        };
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaHostAlloc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaHostAlloc(address: *mut *mut c_void, bytes: usize, flags: u32) -> u32 {
    call(|| {
        given(address)?;
        let allocated = process::current()?.device.allocate_host(bytes as u64, flags)?;
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaMallocHost`. C++ has a third parameter, flags, whose default is 0; C callers pass two, so it
/// is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocHost(address: *mut *mut c_void, bytes: usize) -> u32 {
    unsafe { cudaHostAlloc(address, bytes, 0) }
}

/// `cudaFree`
#[unsafe(no_mangle)]
pub extern "C" fn cudaFree(address: *mut c_void) -> u32 {
    call(|| {
        process::current()?.device.free(address as u64)?;
        super::pool::returned(address as u64);
        Ok(())
    })
}

/// `cudaFreeHost`
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeHost(address: *mut c_void) -> u32 {
    call(|| process::current()?.device.free_host(address as u64))
}

/// `cudaMemGetInfo`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> u32 {
    call(|| {
        let (free_bytes, total_bytes) = process::current()?.device.memory_bytes()?;
        unsafe { put(free, free_bytes as usize)? };
        unsafe { put(total, total_bytes as usize) }
    })
}

pub(super) unsafe fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: u32,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let device = process::current()?;
    // Even with a kind that is none.
    if bytes == 0 {
        return Ok(());
    }
    let kind = copy_kind(kind)?;
    if capture::recorded(stream, || Ok(line(dst as u64, src as u64, bytes, kind)))? {
        return Ok(());
    }
    // SAFETY: host sides are valid, as CUDA demands of the caller.
    unsafe { device.device.copy(dst as u64, src as u64, bytes as u64, kind, stream) }
}

/// `cudaMemcpy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: u32,
) -> u32 {
    call(|| unsafe { copy(dst, src, bytes, kind, None) })
}

/// `cudaMemcpyAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    call(|| unsafe { copy(dst, src, bytes, kind, Some(StreamHandle(stream as u64))) })
}

/// `cudaMemcpy2D`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2D(
    dst: *mut c_void,
    dst_pitch_bytes: usize,
    src: *const c_void,
    src_pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
) -> u32 {
    let (dst, src) = (dst as u64, src as u64);
    let rectangle = Copy2D { dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, height };
    call(|| {
        let kind = copy_kind(kind)?;
        unsafe { process::current()?.device.copy_2d(&rectangle, kind, None) }
    })
}

/// `cudaMemcpy2DAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DAsync(
    dst: *mut c_void,
    dst_pitch_bytes: usize,
    src: *const c_void,
    src_pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let (dst, src) = (dst as u64, src as u64);
    let rectangle = Copy2D { dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, height };
    call(|| {
        let kind = copy_kind(kind)?;
        let stream = Some(StreamHandle(stream as u64));
        if capture::recorded(stream, || Ok(Op::Rectangle(rectangle, kind)))? {
            return Ok(());
        }
        unsafe { process::current()?.device.copy_2d(&rectangle, kind, stream) }
    })
}

pub(crate) unsafe fn copy_3d(
    parameters: *const Memcpy3DParms,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let Some(p) = (unsafe { parameters.as_ref() }) else {
        return Err(CudaError::INVALID_VALUE.into());
    };
    let kind = copy_kind(p.kind)?;
    let device = process::current()?;
    let outside = |array: *mut c_void, pos: Pos, ptr: &PitchedPtr| {
        array.is_null() && p.extent.depth > 1 && pos.y.saturating_add(p.extent.height) > ptr.ysize
    };
    if outside(p.src_array, p.src_pos, &p.src_ptr) || outside(p.dst_array, p.dst_pos, &p.dst_ptr) {
        return Err(CudaError::INVALID_VALUE.into());
    }
    if !p.src_array.is_null() || !p.dst_array.is_null() {
        return unsafe { super::array::copy_parameters(p, kind, stream) };
    }
    for rectangle in rectangles(p).into_iter().flatten() {
        unsafe { device.device.copy_2d(&rectangle, kind, stream)? };
    }
    Ok(())
}

/// `cudaMemcpy3D`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy3D(parameters: *const Memcpy3DParms) -> u32 {
    call(|| unsafe { copy_3d(parameters, None) })
}

/// `cudaMemcpy3DAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy3DAsync(
    parameters: *const Memcpy3DParms,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        let stream = Some(StreamHandle(stream as u64));
        // SAFETY: null or valid, as CUDA demands of the caller.
        let given = unsafe { parameters.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        if capture::recorded(stream, || Ok(Op::Described(*given)))? {
            return Ok(());
        }
        unsafe { copy_3d(given, stream) }
    })
}

/// `cudaMemset`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset(dst: *mut c_void, value: i32, bytes: usize) -> u32 {
    call(|| unsafe { process::current()?.device.fill(dst as u64, value as u8, bytes as u64, None) })
}

/// `cudaMemsetAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemsetAsync(
    dst: *mut c_void,
    value: i32,
    bytes: usize,
    stream: *mut c_void,
) -> u32 {
    let stream = Some(StreamHandle(stream as u64));
    call(|| {
        if capture::recorded(stream, || Ok(Op::Set(set(dst, bytes, value, (bytes, 1)))))? {
            return Ok(());
        }
        unsafe { process::current()?.device.fill(dst as u64, value as u8, bytes as u64, stream) }
    })
}

/// A fill as a node.
fn set(dst: *mut c_void, pitch: usize, value: i32, (width, height): (usize, usize)) -> Set {
    Set { dst, pitch, value: value as u8 as u32, element_bytes: 1, width, height }
}

fn fill_2d(
    device: &dyn Device,
    dst: u64,
    pitch: usize,
    value: i32,
    size: (usize, usize),
    stream: Option<StreamHandle>,
) -> Result<()> {
    if capture::recorded(stream, || Ok(Op::Set(set(dst as *mut c_void, pitch, value, size))))? {
        return Ok(());
    }
    let (width, height) = (size.0 as u64, size.1 as u64);
    // SAFETY: device addresses are the device's to check, managed ones the caller's.
    unsafe { device.fill_2d(dst, pitch as u64, value as u8, width, height, stream) }
}

/// `cudaMemset2D`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset2D(
    dst: *mut c_void,
    pitch_bytes: usize,
    value: i32,
    width_bytes: usize,
    height: usize,
) -> u32 {
    call(|| {
        let device = process::current()?;
        fill_2d(&*device.device, dst as u64, pitch_bytes, value, (width_bytes, height), None)
    })
}

/// `cudaMemset2DAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset2DAsync(
    dst: *mut c_void,
    pitch_bytes: usize,
    value: i32,
    width_bytes: usize,
    height: usize,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        let device = process::current()?;
        let stream = Some(StreamHandle(stream as u64));
        fill_2d(&*device.device, dst as u64, pitch_bytes, value, (width_bytes, height), stream)
    })
}

fn fill_3d(
    dst: &PitchedPtr,
    value: i32,
    extent: Extent,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let device = process::current()?;
    for slice in 0..extent.depth {
        let at = dst.at(Pos { x: 0, y: 0, z: slice });
        fill_2d(&*device.device, at, dst.pitch, value, (extent.width, extent.height), stream)?;
    }
    Ok(())
}

/// `cudaMemset3D`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset3D(dst: PitchedPtr, value: i32, extent: Extent) -> u32 {
    call(|| fill_3d(&dst, value, extent, None))
}

/// `cudaMemset3DAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset3DAsync(
    dst: PitchedPtr,
    value: i32,
    extent: Extent,
    stream: *mut c_void,
) -> u32 {
    call(|| fill_3d(&dst, value, extent, Some(StreamHandle(stream as u64))))
}

/// `cudaMalloc3D`: slices of rows, each row aligned as [`cudaMallocPitch`] has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMalloc3D(memory: *mut PitchedPtr, extent: Extent) -> u32 {
    call(|| {
        given(memory)?;
        let rows = (extent.height as u64).checked_mul(extent.depth as u64);
        let rows = rows.ok_or(CudaError::MEMORY_ALLOCATION)?;
        let device = process::current()?;
        let (address, pitch) = device.device.allocate_pitched(extent.width as u64, rows)?;
        let made = PitchedPtr {
            ptr: address as *mut c_void,
            pitch: pitch as usize,
            xsize: extent.width,
            ysize: extent.height,
        };
        unsafe { put(memory, made) }
    })
}

/// `cudaHostGetDevicePointer`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaHostGetDevicePointer(
    address: *mut *mut c_void,
    host: *mut c_void,
    flags: u32,
) -> u32 {
    call(|| {
        given(address)?;
        let info = process::current()?.device.pointer_info(host as u64)?;
        if flags != 0 || info.memory != MemoryType::Host {
            return Err(CudaError::INVALID_VALUE.into());
        }
        unsafe { put(address, info.device_address as *mut c_void) }
    })
}

/// `cudaHostGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) -> u32 {
    call(|| {
        given(flags)?;
        given(host)?;
        let found = process::current()?.device.host_flags(host as u64)?;
        unsafe { put(flags, found) }
    })
}

/// `cudaPointerAttributes`, CUDA 13.0.
#[repr(C)]
#[allow(missing_docs)]
pub struct PointerAttributes {
    pub memory_type: u32,
    pub device: i32,
    pub device_pointer: *mut c_void,
    pub host_pointer: *mut c_void,
    pub reserved: [std::ffi::c_long; 8],
}

/// `cudaPointerGetAttributes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaPointerGetAttributes(
    attributes: *mut PointerAttributes,
    address: *const c_void,
) -> u32 {
    /// `cudaInvalidDeviceId`
    const NO_DEVICE: i32 = -2;
    call(|| {
        let info = process::current()?.device.pointer_info(address as u64)?;
        let registered = info.memory as u32 != 0;
        let device = if registered { process::current_ordinal() } else { NO_DEVICE };
        let value = PointerAttributes {
            memory_type: info.memory as u32,
            device,
            device_pointer: info.device_address as *mut c_void,
            host_pointer: info.host_address as *mut c_void,
            reserved: [0; 8],
        };
        unsafe { put(attributes, value) }
    })
}
