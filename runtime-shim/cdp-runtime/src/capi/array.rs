//! CUDA arrays, and copies that arrays take part in. Texture and surface objects are in [`super::textures`].

use std::ffi::c_void;

use super::copies::{Extent, Memcpy3DParms, PitchedPtr, Pos, copy_kind};
use super::{call, given, offer, put};
use crate::array::*;
use crate::device::{CopyKind, StreamHandle};
use crate::error::{CudaError, Result};
use crate::graph::{Op, capture};
use crate::process;

/// `cudaCreateChannelDesc`
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    kind: u32,
) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

/// A reference for a pointer of the caller; null is `cudaErrorInvalidValue`.
///
/// # Safety
/// `pointer` is null or valid for reads.
pub(super) unsafe fn read<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| CudaError::INVALID_VALUE.into())
}

pub(super) fn handle(array: *const c_void) -> Result<ArrayHandle> {
    if array.is_null() {
        return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
    }
    Ok(ArrayHandle(array as u64))
}

unsafe fn make(
    array: *mut *mut c_void,
    format: *const ChannelFormat,
    size: [usize; 3],
    flags: u32,
) -> u32 {
    call(|| {
        given(array)?;
        let format = unsafe { *read(format)? };
        let info = ArrayInfo { format, size: size.map(|count| count as u64), flags };
        let made = process::current()?.device.create_array(&info)?;
        unsafe { put(array, made.0 as *mut c_void) }
    })
}

/// `cudaMallocArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocArray(
    array: *mut *mut c_void,
    format: *const ChannelFormat,
    width: usize,
    height: usize,
    flags: u32,
) -> u32 {
    unsafe { make(array, format, [width, height, 0], flags) }
}

/// `cudaMalloc3DArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMalloc3DArray(
    array: *mut *mut c_void,
    format: *const ChannelFormat,
    extent: Extent,
    flags: u32,
) -> u32 {
    unsafe { make(array, format, [extent.width, extent.height, extent.depth], flags) }
}

/// `cudaFreeArray`
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeArray(array: *mut c_void) -> u32 {
    if array.is_null() {
        return 0;
    }
    call(|| process::current()?.device.destroy_array(handle(array)?))
}

fn mipmap(mipmap: *const c_void) -> Result<MipmapHandle> {
    if mipmap.is_null() {
        return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
    }
    Ok(MipmapHandle(mipmap as u64))
}

/// `cudaMallocMipmappedArray`; more levels than there can be are all that there can be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocMipmappedArray(
    made: *mut *mut c_void,
    format: *const ChannelFormat,
    extent: Extent,
    levels: u32,
    flags: u32,
) -> u32 {
    call(|| {
        given(made)?;
        let format = unsafe { *read(format)? };
        let size = [extent.width, extent.height, extent.depth].map(|count| count as u64);
        let info = ArrayInfo { format, size, flags };
        let levels = levels.clamp(1, info.most_levels());
        let mipmap = process::current()?.device.create_mipmap(&info, levels)?;
        unsafe { put(made, mipmap.0 as *mut c_void) }
    })
}

/// `cudaFreeMipmappedArray`
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeMipmappedArray(array: *mut c_void) -> u32 {
    if array.is_null() {
        return 0;
    }
    call(|| process::current()?.device.destroy_mipmap(mipmap(array)?))
}

/// `cudaGetMipmappedArrayLevel`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetMipmappedArrayLevel(
    array: *mut *mut c_void,
    mipmapped: *const c_void,
    level: u32,
) -> u32 {
    call(|| {
        given(array)?;
        let found = process::current()?.device.mipmap_level(mipmap(mipmapped)?, level)?;
        unsafe { put(array, found.0 as *mut c_void) }
    })
}

/// `cudaArrayGetInfo`; each result may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaArrayGetInfo(
    format: *mut ChannelFormat,
    extent: *mut Extent,
    flags: *mut u32,
    array: *mut c_void,
) -> u32 {
    call(|| {
        let info = process::current()?.device.array_info(handle(array)?)?;
        let [width, height, depth] = info.size.map(|count| count as usize);
        unsafe { offer(format, info.format) };
        unsafe { offer(extent, Extent { width, height, depth }) };
        unsafe { offer(flags, info.flags) };
        Ok(())
    })
}

/// `cudaGetChannelDesc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetChannelDesc(
    format: *mut ChannelFormat,
    array: *const c_void,
) -> u32 {
    call(|| {
        let info = process::current()?.device.array_info(handle(array)?)?;
        unsafe { put(format, info.format) }
    })
}

/// Bytes of an element of an array.
fn element_bytes(array: *const c_void) -> Result<u64> {
    process::current()?.device.array_info(handle(array)?)?.format.element_bytes()
}

/// Rows between memory and an array.
struct Rows {
    array: *const c_void,
    x_bytes: usize,
    y: usize,
    memory: u64,
    pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
}

impl Rows {
    unsafe fn copy(&self, to_array: bool, kind: u32, stream: Option<StreamHandle>) -> Result<()> {
        let kind = copy_kind(kind)?;
        let (x_bytes, y) = (self.x_bytes as u64, self.y as u64);
        let array = CopySide::Array { array: handle(self.array)?, x_bytes, y, z: 0 };
        let rows = self.height as u64;
        let pitch_bytes = self.pitch_bytes as u64;
        let memory = CopySide::Linear { address: self.memory, pitch_bytes, rows };
        let (dst, src) = if to_array { (array, memory) } else { (memory, array) };
        let copy =
            Copy3D { dst, src, width_bytes: self.width_bytes as u64, height: rows, depth: 1 };
        if capture::recorded(stream, || Ok(Op::Box(copy, kind)))? {
            return Ok(());
        }
        // SAFETY: host sides are valid, as CUDA demands of the caller.
        unsafe { process::current()?.device.copy_3d(&copy, kind, stream) }
    }

    /// `bytes` bytes that fill an array's rows one after another (`cudaMemcpyToArray`).
    unsafe fn copy_bytes(
        &self,
        to_array: bool,
        kind: u32,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let info = process::current()?.device.array_info(handle(self.array)?)?;
        let row_bytes = (info.size[0] * info.format.element_bytes()?) as usize;
        let (mut x_bytes, mut y, mut memory, mut left) =
            (self.x_bytes, self.y, self.memory, self.width_bytes);
        while left > 0 {
            let room = row_bytes.checked_sub(x_bytes).filter(|&room| room > 0);
            let width_bytes = room.ok_or(CudaError::INVALID_VALUE)?.min(left);
            let pitch_bytes = width_bytes;
            let row =
                Rows { array: self.array, x_bytes, y, memory, pitch_bytes, width_bytes, height: 1 };
            // SAFETY: a part of what the caller promises.
            unsafe { row.copy(to_array, kind, stream)? };
            memory += width_bytes as u64;
            left -= width_bytes;
            (x_bytes, y) = (0, y + 1);
        }
        Ok(())
    }
}

fn in_order(stream: *mut c_void) -> Option<StreamHandle> {
    Some(StreamHandle(stream as u64))
}

/// `cudaMemcpy2DToArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DToArray(
    array: *mut c_void,
    x_bytes: usize,
    y: usize,
    src: *const c_void,
    pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
) -> u32 {
    let rows = Rows { array, x_bytes, y, memory: src as u64, pitch_bytes, width_bytes, height };
    call(|| unsafe { rows.copy(true, kind, None) })
}

/// `cudaMemcpy2DToArrayAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DToArrayAsync(
    array: *mut c_void,
    x_bytes: usize,
    y: usize,
    src: *const c_void,
    pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let rows = Rows { array, x_bytes, y, memory: src as u64, pitch_bytes, width_bytes, height };
    call(|| unsafe { rows.copy(true, kind, in_order(stream)) })
}

/// `cudaMemcpy2DFromArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DFromArray(
    dst: *mut c_void,
    pitch_bytes: usize,
    array: *const c_void,
    x_bytes: usize,
    y: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
) -> u32 {
    let rows = Rows { array, x_bytes, y, memory: dst as u64, pitch_bytes, width_bytes, height };
    call(|| unsafe { rows.copy(false, kind, None) })
}

/// `cudaMemcpy2DFromArrayAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DFromArrayAsync(
    dst: *mut c_void,
    pitch_bytes: usize,
    array: *const c_void,
    x_bytes: usize,
    y: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let rows = Rows { array, x_bytes, y, memory: dst as u64, pitch_bytes, width_bytes, height };
    call(|| unsafe { rows.copy(false, kind, in_order(stream)) })
}

/// `cudaMemcpyToArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyToArray(
    array: *mut c_void,
    x_bytes: usize,
    y: usize,
    src: *const c_void,
    bytes: usize,
    kind: u32,
) -> u32 {
    let memory = src as u64;
    let rows =
        Rows { array, x_bytes, y, memory, pitch_bytes: bytes, width_bytes: bytes, height: 1 };
    call(|| unsafe { rows.copy_bytes(true, kind, None) })
}

/// `cudaMemcpyFromArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyFromArray(
    dst: *mut c_void,
    array: *const c_void,
    x_bytes: usize,
    y: usize,
    bytes: usize,
    kind: u32,
) -> u32 {
    let memory = dst as u64;
    let rows =
        Rows { array, x_bytes, y, memory, pitch_bytes: bytes, width_bytes: bytes, height: 1 };
    call(|| unsafe { rows.copy_bytes(false, kind, None) })
}

/// `cudaMemcpyToArrayAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyToArrayAsync(
    array: *mut c_void,
    x_bytes: usize,
    y: usize,
    src: *const c_void,
    bytes: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let memory = src as u64;
    let rows =
        Rows { array, x_bytes, y, memory, pitch_bytes: bytes, width_bytes: bytes, height: 1 };
    call(|| unsafe { rows.copy_bytes(true, kind, in_order(stream)) })
}

/// `cudaMemcpyFromArrayAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyFromArrayAsync(
    dst: *mut c_void,
    array: *const c_void,
    x_bytes: usize,
    y: usize,
    bytes: usize,
    kind: u32,
    stream: *mut c_void,
) -> u32 {
    let memory = dst as u64;
    let rows =
        Rows { array, x_bytes, y, memory, pitch_bytes: bytes, width_bytes: bytes, height: 1 };
    call(|| unsafe { rows.copy_bytes(false, kind, in_order(stream)) })
}

/// `cudaMemcpy2DArrayToArray`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DArrayToArray(
    dst: *mut c_void,
    dst_x_bytes: usize,
    dst_y: usize,
    src: *const c_void,
    src_x_bytes: usize,
    src_y: usize,
    width_bytes: usize,
    height: usize,
    kind: u32,
) -> u32 {
    call(|| {
        let place = |array: *const c_void, x_bytes: usize, y: usize| -> Result<CopySide> {
            let (x_bytes, y) = (x_bytes as u64, y as u64);
            Ok(CopySide::Array { array: handle(array)?, x_bytes, y, z: 0 })
        };
        let copy = Copy3D {
            dst: place(dst, dst_x_bytes, dst_y)?,
            src: place(src, src_x_bytes, src_y)?,
            width_bytes: width_bytes as u64,
            height: height as u64,
            depth: 1,
        };
        let kind = copy_kind(kind)?;
        // SAFETY: both sides are arrays, which the device checks.
        unsafe { process::current()?.device.copy_3d(&copy, kind, None) }
    })
}

/// One side of `cudaMemcpy3D`. Positions count the array's elements if there is one, else bytes.
fn side(array: *const c_void, pos: Pos, memory: &PitchedPtr, unit_bytes: u64) -> Result<CopySide> {
    let x_bytes = (pos.x as u64).wrapping_mul(unit_bytes);
    Ok(match array.is_null() {
        true => CopySide::Linear {
            address: memory.at(Pos { x: pos.x.wrapping_mul(unit_bytes as usize), ..pos }),
            pitch_bytes: memory.pitch as u64,
            rows: memory.ysize as u64,
        },
        false => {
            CopySide::Array { array: handle(array)?, x_bytes, y: pos.y as u64, z: pos.z as u64 }
        }
    })
}

/// What `cudaMemcpy3D` and its kin describe when an array takes part.
pub(crate) fn box_of(p: &Memcpy3DParms) -> Result<Copy3D> {
    let unit_bytes = match (p.src_array.is_null(), p.dst_array.is_null()) {
        (true, true) => 1,
        (false, _) => element_bytes(p.src_array)?,
        (true, false) => element_bytes(p.dst_array)?,
    };
    // The element of memory beside an array is a byte.
    let unit_of = |array: *mut c_void| if array.is_null() { 1 } else { unit_bytes };
    Ok(Copy3D {
        src: side(p.src_array, p.src_pos, &p.src_ptr, unit_of(p.src_array))?,
        dst: side(p.dst_array, p.dst_pos, &p.dst_ptr, unit_of(p.dst_array))?,
        width_bytes: (p.extent.width as u64).wrapping_mul(unit_bytes),
        height: p.extent.height as u64,
        depth: p.extent.depth as u64,
    })
}

/// `cudaMemcpy3D` and `cudaMemcpy3DAsync` when an array takes part.
///
/// # Safety
/// Host sides are valid, as CUDA demands of the caller.
pub(super) unsafe fn copy_parameters(
    p: &Memcpy3DParms,
    kind: CopyKind,
    stream: Option<StreamHandle>,
) -> Result<()> {
    unsafe { process::current()?.device.copy_3d(&box_of(p)?, kind, stream) }
}
