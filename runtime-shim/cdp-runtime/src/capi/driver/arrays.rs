//! Arrays, mipmapped ones, copies between an array and memory of one dimension, texture and surface objects.
//! Rectangles and boxes of arrays are copied in [`super::copies`].

use std::ffi::c_void;

use super::super::array::{handle, read};
use super::super::textures::{self, make_surface, make_texture};
use super::*;
use crate::array::{ArrayInfo, Copy3D, CopySide, MipmapHandle};
use crate::device::{CopyKind, StreamHandle};
use crate::driver_array::{ArrayDescriptor, DriverResource, DriverTexture};
use crate::graph::{Op, capture};

type Made = *mut *mut c_void;
type Array = *mut c_void;
type Host = *mut c_void;
type Stream = *mut c_void;

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FlatDescriptor {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// # Safety
/// `array` is null or valid.
unsafe fn make(array: Made, described: ArrayDescriptor) -> Result<()> {
    given(array)?;
    let made = process::current()?.device.create_array(&described.info()?)?;
    unsafe { put(array, made.0 as *mut c_void) }
}

fn description(array: Array) -> Result<ArrayDescriptor> {
    ArrayDescriptor::new(&process::current()?.device.array_info(handle(array)?)?)
}

/// Where a copy of one row begins.
enum RowStart {
    Array(Array, usize),
    Memory(u64),
}

impl RowStart {
    fn side(&self, bytes: usize) -> Result<CopySide> {
        Ok(match *self {
            RowStart::Array(array, offset) => {
                CopySide::Array { array: handle(array)?, x_bytes: offset as u64, y: 0, z: 0 }
            }
            RowStart::Memory(address) => {
                CopySide::Linear { address, pitch_bytes: bytes as u64, rows: 1 }
            }
        })
    }
}

/// Copies bytes of one row.
///
/// # Safety
/// Host sides are valid, as CUDA demands of the caller.
unsafe fn row(
    dst: RowStart,
    src: RowStart,
    bytes: usize,
    kind: CopyKind,
    stream: Option<Stream>,
) -> u32 {
    call(|| {
        let stream = stream.map(|stream| StreamHandle(stream as u64));
        let width_bytes = bytes as u64;
        let (dst, src) = (dst.side(bytes)?, src.side(bytes)?);
        let copy = Copy3D { dst, src, width_bytes, height: 1, depth: 1 };
        if capture::recorded(stream, || Ok(Op::Box(copy, kind)))? {
            return Ok(());
        }
        unsafe { process::current()?.device.copy_3d(&copy, kind, stream) }
    })
}

driver_functions! {
    Context fn cuArrayCreate_v2(array: Made, described: *const FlatDescriptor) {
        call(|| {
            let FlatDescriptor { width, height, format, channels } = *read(described)?;
            make(array, ArrayDescriptor { width, height, depth: 0, format, channels, flags: 0 })
        })
    }
    Context fn cuArrayGetDescriptor_v2(described: *mut FlatDescriptor, array: Array) {
        call(|| {
            let ArrayDescriptor { width, height, format, channels, .. } = description(array)?;
            put(described, FlatDescriptor { width, height, format, channels })
        })
    }
    Context fn cuArray3DCreate_v2(array: Made, described: *const ArrayDescriptor) {
        call(|| make(array, *read(described)?))
    }
    Context fn cuArray3DGetDescriptor_v2(described: *mut ArrayDescriptor, array: Array) {
        call(|| put(described, description(array)?))
    }
    Context fn cuArrayDestroy(array: Array) {
        call(|| process::current()?.device.destroy_array(handle(array)?))
    }
    Context fn cuMipmappedArrayCreate(mipmap: Made, described: *const ArrayDescriptor, levels: u32) {
        call(|| {
            given(mipmap)?;
            let info: ArrayInfo = read(described)?.info()?;
            let levels = levels.clamp(1, info.most_levels());
            let made = process::current()?.device.create_mipmap(&info, levels)?;
            put(mipmap, made.0 as *mut c_void)
        })
    }
    Context fn cuMipmappedArrayGetLevel(array: Made, mipmap: Array, level: u32) {
        call(|| {
            given(array)?;
            let found = process::current()?.device.mipmap_level(MipmapHandle(mipmap as u64), level)?;
            put(array, found.0 as *mut c_void)
        })
    }
    Context fn cuMipmappedArrayDestroy(mipmap: Array) {
        call(|| process::current()?.device.destroy_mipmap(MipmapHandle(mipmap as u64)))
    }
    Context fn cuMemcpyDtoA_v2(dst: Array, offset: usize, src: u64, bytes: usize) {
        row(RowStart::Array(dst, offset), RowStart::Memory(src), bytes, CopyKind::DeviceToDevice, None)
    }
    Context fn cuMemcpyAtoD_v2(dst: u64, src: Array, offset: usize, bytes: usize) {
        row(RowStart::Memory(dst), RowStart::Array(src, offset), bytes, CopyKind::DeviceToDevice, None)
    }
    Context fn cuMemcpyHtoA_v2(dst: Array, offset: usize, src: *const c_void, bytes: usize) {
        row(RowStart::Array(dst, offset), RowStart::Memory(src as u64), bytes, CopyKind::HostToDevice, None)
    }
    Context fn cuMemcpyAtoH_v2(dst: Host, src: Array, offset: usize, bytes: usize) {
        row(RowStart::Memory(dst as u64), RowStart::Array(src, offset), bytes, CopyKind::DeviceToHost, None)
    }
    Context fn cuMemcpyAtoA_v2(dst: Array, to: usize, src: Array, from: usize, bytes: usize) {
        row(RowStart::Array(dst, to), RowStart::Array(src, from), bytes, CopyKind::DeviceToDevice, None)
    }
    Context fn cuMemcpyHtoAAsync_v2(dst: Array, offset: usize, src: *const c_void, bytes: usize, stream: Stream) {
        row(RowStart::Array(dst, offset), RowStart::Memory(src as u64), bytes, CopyKind::HostToDevice, Some(stream))
    }
    Context fn cuMemcpyAtoHAsync_v2(dst: Host, src: Array, offset: usize, bytes: usize, stream: Stream) {
        row(RowStart::Memory(dst as u64), RowStart::Array(src, offset), bytes, CopyKind::DeviceToHost, Some(stream))
    }
    Context fn cuTexObjectCreate(
        object: *mut u64, resource: *const DriverResource, texture: *const DriverTexture, view: *const c_void,
    ) {
        call(|| {
            given(object)?;
            if !view.is_null() {
                return Err(CudaError::NOT_SUPPORTED.into());
            }
            let resource = read(resource)?.resource()?;
            let texture = read(texture)?.texture(&process::current()?.device.elements(&resource)?);
            put(object, make_texture(&resource, &texture)?)
        })
    }
    Context fn cuTexObjectDestroy(object: u64) { cudaDestroyTextureObject(object) }
    Context fn cuTexObjectGetResourceDesc(resource: *mut DriverResource, object: u64) {
        call(|| put(resource, DriverResource::new(&textures::made_of(object)?.resource)?))
    }
    Context fn cuTexObjectGetTextureDesc(texture: *mut DriverTexture, object: u64) {
        call(|| {
            let found = textures::made_of(object)?;
            let known = found.texture.ok_or(CudaError::INVALID_VALUE)?;
            let elements = process::current()?.device.elements(&found.resource)?;
            put(texture, DriverTexture::new(&known, &elements))
        })
    }
    Context fn cuSurfObjectCreate(object: *mut u64, resource: *const DriverResource) {
        call(|| {
            given(object)?;
            put(object, make_surface(&read(resource)?.resource()?)?)
        })
    }
    Context fn cuSurfObjectDestroy(object: u64) { cudaDestroySurfaceObject(object) }
    Context fn cuSurfObjectGetResourceDesc(resource: *mut DriverResource, object: u64) {
        call(|| put(resource, DriverResource::new(&textures::made_of(object)?.resource)?))
    }
}

per_thread_variants! {
    cuMemcpyHtoAAsync_v2_ptsz = cuMemcpyHtoAAsync_v2(dst: Array, offset: usize, src: *const c_void, bytes: usize, stream: Stream) in stream;
    cuMemcpyAtoHAsync_v2_ptsz = cuMemcpyAtoHAsync_v2(dst: Host, src: Array, offset: usize, bytes: usize, stream: Stream) in stream;
}

waiting_variants! {
    cuMemcpyDtoA_v2_ptds = cuMemcpyDtoA_v2(dst: Array, offset: usize, src: u64, bytes: usize);
    cuMemcpyAtoD_v2_ptds = cuMemcpyAtoD_v2(dst: u64, src: Array, offset: usize, bytes: usize);
    cuMemcpyHtoA_v2_ptds = cuMemcpyHtoA_v2(dst: Array, offset: usize, src: *const c_void, bytes: usize);
    cuMemcpyAtoH_v2_ptds = cuMemcpyAtoH_v2(dst: Host, src: Array, offset: usize, bytes: usize);
    cuMemcpyAtoA_v2_ptds = cuMemcpyAtoA_v2(dst: Array, to: usize, src: Array, from: usize, bytes: usize);
}
