//! Arrays, texture and surface objects of a GPU, by the driver.

use std::ffi::c_void;

use super::GpuDevice;
use super::driver::{Handle, check};
use crate::array::*;
use crate::device::{Arrays, CopyKind, StreamHandle};
use crate::error::{CudaError, Result};

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ArrayDescriptor {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
pub struct DriverResource {
    kind: u32,
    of: DriverUnion,
    flags: u32,
}

#[repr(C)]
union DriverUnion {
    array: Handle,
    linear: DriverLinear,
    pitch_2d: DriverPitch,
    reserved: [i32; 32],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DriverLinear {
    address: u64,
    format: u32,
    channels: u32,
    bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DriverPitch {
    address: u64,
    format: u32,
    channels: u32,
    width: usize,
    height: usize,
    pitch_bytes: usize,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Default)]
pub struct DriverTexture {
    address_mode: [u32; 3],
    filter_mode: u32,
    flags: u32,
    max_anisotropy: u32,
    mipmap_filter_mode: u32,
    mipmap_level_bias: f32,
    min_mipmap_level_clamp: f32,
    max_mipmap_level_clamp: f32,
    border_color: [f32; 4],
    reserved: [i32; 12],
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
struct DriverPlace {
    x_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory: u32,
    host: *mut c_void,
    device: u64,
    array: Handle,
    reserved: *mut c_void,
    pitch_bytes: usize,
    rows: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
pub struct DriverCopy {
    src: DriverPlace,
    dst: DriverPlace,
    width_bytes: usize,
    height: usize,
    depth: usize,
}

impl DriverCopy {
    /// A rectangle in device memory: addresses with their pitch in bytes, then bytes of a row and rows.
    pub fn rectangle(dst: (u64, usize), src: (u64, usize), size: (usize, usize)) -> DriverCopy {
        let place = |(address, pitch_bytes): (u64, usize)| DriverPlace {
            device: address,
            pitch_bytes,
            rows: size.1,
            ..DriverPlace::nowhere(DEVICE)
        };
        DriverCopy {
            src: place(src),
            dst: place(dst),
            width_bytes: size.0,
            height: size.1,
            depth: 1,
        }
    }

    /// The same, each side in the host's memory (true), the device's (false) or wherever its address is.
    pub fn between(mut self, dst_is_host: Option<bool>, src_is_host: Option<bool>) -> DriverCopy {
        for (place, is_host) in [(&mut self.dst, dst_is_host), (&mut self.src, src_is_host)] {
            place.memory = match is_host {
                Some(true) => HOST,
                Some(false) => DEVICE,
                None => UNIFIED,
            };
            if is_host == Some(true) {
                (place.host, place.device) = (place.device as *mut c_void, 0);
            }
        }
        self
    }
}

impl DriverPlace {
    fn nowhere(memory: u32) -> DriverPlace {
        let null = std::ptr::null_mut();
        DriverPlace {
            x_bytes: 0,
            y: 0,
            z: 0,
            level: 0,
            memory,
            host: null,
            device: 0,
            array: null,
            reserved: null,
            pitch_bytes: 0,
            rows: 0,
        }
    }
}

/// `CUmemorytype`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// `CU_TRSF_*`
const READ_AS_INTEGER: u32 = 0x01;
const NORMALIZED_COORDINATES: u32 = 0x02;
const SRGB: u32 = 0x10;
const DISABLE_TRILINEAR_OPTIMIZATION: u32 = 0x20;
const SEAMLESS_CUBEMAP: u32 = 0x40;

/// `CUarray_format` and the number of components.
fn format(format: &ChannelFormat) -> Result<(u32, u32)> {
    let (channels, bits) = format.channels()?;
    let size = bits.trailing_zeros() - 3;
    let format = match (format.kind, bits) {
        (KIND_UNSIGNED, _) => 1 + size,
        (KIND_SIGNED, _) => 8 + size,
        (_, 16) => 0x10,
        _ => 0x20,
    };
    Ok((format, channels))
}

fn descriptor(info: &ArrayInfo) -> Result<ArrayDescriptor> {
    let (format, channels) = format(&info.format)?;
    let [width, height, depth] = info.size.map(|count| count as usize);
    Ok(ArrayDescriptor { width, height, depth, format, channels, flags: info.flags })
}

/// The runtime's description of a driver's format.
fn channel_format(format: u32, channels: u32) -> Result<ChannelFormat> {
    let (kind, bits) = match format {
        1..=3 => (KIND_UNSIGNED, 8 << (format - 1)),
        8..=10 => (KIND_SIGNED, 8 << (format - 8)),
        0x10 => (KIND_FLOAT, 16),
        0x20 => (KIND_FLOAT, 32),
        _ => return Err(CudaError::NOT_SUPPORTED.into()),
    };
    let mut all = [0; 4];
    all.iter_mut().take(channels as usize).for_each(|one| *one = bits);
    Ok(ChannelFormat { bits: all, kind })
}

fn place(device: &GpuDevice, place: CopySide, linear: u32) -> Result<DriverPlace> {
    let mut found = DriverPlace::nowhere(linear);
    match place {
        CopySide::Array { array, x_bytes, y, z } => {
            found.memory = ARRAY;
            found.array = device.array(array)?;
            (found.x_bytes, found.y, found.z) = (x_bytes as usize, y as usize, z as usize);
        }
        CopySide::Linear { address, pitch_bytes, rows } => {
            (found.host, found.device) = (address as *mut c_void, address);
            (found.pitch_bytes, found.rows) = (pitch_bytes as usize, rows as usize);
        }
    }
    Ok(found)
}

/// The driver's description, and the elements' format.
fn driver_resource(
    device: &GpuDevice,
    resource: &Resource,
) -> Result<(DriverResource, ChannelFormat)> {
    let mut described = DriverResource { kind: 0, of: DriverUnion { reserved: [0; 32] }, flags: 0 };
    let elements = match *resource {
        Resource::Array(array) => {
            described.of.array = device.array(array)?;
            device.array_info(array)?.format
        }
        Resource::Mipmap(mipmap) => {
            described.kind = 1;
            described.of.array = mipmap.0 as Handle;
            device.array_info(device.mipmap_level(mipmap, 0)?)?.format
        }
        Resource::Linear { address, format: elements, bytes } => {
            let (format, channels) = format(&elements)?;
            described.kind = 2;
            described.of.linear = DriverLinear { address, format, channels, bytes: bytes as usize };
            elements
        }
        Resource::Pitch2D { address, format: elements, size, pitch_bytes } => {
            let (format, channels) = format(&elements)?;
            described.kind = 3;
            described.of.pitch_2d = DriverPitch {
                address,
                format,
                channels,
                width: size[0] as usize,
                height: size[1] as usize,
                pitch_bytes: pitch_bytes as usize,
            };
            elements
        }
    };
    Ok((described, elements))
}

impl Arrays for GpuDevice {
    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle> {
        info.check()?;
        let driver = self.bind()?;
        let descriptor = descriptor(info)?;
        let mut array: Handle = std::ptr::null_mut();
        // SAFETY: target and description valid; the driver checks the description.
        check(unsafe { (driver.cuArray3DCreate_v2)(&mut array, &descriptor) })?;
        self.handles().arrays.insert(array as u64);
        Ok(ArrayHandle(array as u64))
    }

    fn destroy_array(&self, array: ArrayHandle) -> Result<()> {
        let handle = self.array(array)?;
        let driver = self.bind()?;
        self.handles().arrays.remove(&array.0);
        // SAFETY: the array is alive.
        check(unsafe { (driver.cuArrayDestroy)(handle) })
    }

    fn create_mipmap(&self, info: &ArrayInfo, levels: u32) -> Result<MipmapHandle> {
        info.check()?;
        let driver = self.bind()?;
        let descriptor = descriptor(info)?;
        let mut mipmap: Handle = std::ptr::null_mut();
        // SAFETY: target and description valid; the driver checks the description.
        check(unsafe { (driver.cuMipmappedArrayCreate)(&mut mipmap, &descriptor, levels) })?;
        self.handles().mipmaps.insert(mipmap as u64, Vec::new());
        Ok(MipmapHandle(mipmap as u64))
    }

    fn destroy_mipmap(&self, mipmap: MipmapHandle) -> Result<()> {
        let driver = self.bind()?;
        let mut handles = self.handles();
        let levels = handles.mipmaps.remove(&mipmap.0);
        for level in levels.ok_or(CudaError::INVALID_RESOURCE_HANDLE)? {
            handles.arrays.remove(&level);
        }
        drop(handles);
        // SAFETY: the mipmapped array is alive.
        check(unsafe { (driver.cuMipmappedArrayDestroy)(mipmap.0 as Handle) })
    }

    fn mipmap_level(&self, mipmap: MipmapHandle, level: u32) -> Result<ArrayHandle> {
        let driver = self.bind()?;
        if !self.handles().mipmaps.contains_key(&mipmap.0) {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        let mut array: Handle = std::ptr::null_mut();
        // SAFETY: target valid, the mipmapped array is alive.
        check(unsafe { (driver.cuMipmappedArrayGetLevel)(&mut array, mipmap.0 as Handle, level) })?;
        let mut handles = self.handles();
        if handles.arrays.insert(array as u64)
            && let Some(levels) = handles.mipmaps.get_mut(&mipmap.0)
        {
            levels.push(array as u64);
        }
        Ok(ArrayHandle(array as u64))
    }

    fn array_info(&self, array: ArrayHandle) -> Result<ArrayInfo> {
        let handle = self.array(array)?;
        let driver = self.bind()?;
        let mut found = ArrayDescriptor::default();
        // SAFETY: target valid, the array is alive.
        check(unsafe { (driver.cuArray3DGetDescriptor_v2)(&mut found, handle) })?;
        Ok(ArrayInfo {
            format: channel_format(found.format, found.channels)?,
            size: [found.width, found.height, found.depth].map(|count| count as u64),
            flags: found.flags,
        })
    }

    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let stream = stream.map(|stream| self.stream(stream)).transpose()?;
        let driver = self.bind()?;
        if copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0 {
            return Ok(());
        }
        let (src, dst) = match kind {
            CopyKind::HostToHost => (HOST, HOST),
            CopyKind::HostToDevice => (HOST, DEVICE),
            CopyKind::DeviceToHost => (DEVICE, HOST),
            CopyKind::DeviceToDevice => (DEVICE, DEVICE),
            CopyKind::Default => (UNIFIED, UNIFIED),
        };
        let description = DriverCopy {
            src: place(self, copy.src, src)?,
            dst: place(self, copy.dst, dst)?,
            width_bytes: copy.width_bytes as usize,
            height: copy.height as usize,
            depth: copy.depth as usize,
        };
        // SAFETY: host sides are valid by the caller's promise; the driver checks the others.
        check(unsafe {
            match stream {
                None => (driver.cuMemcpy3D_v2)(&description),
                Some(stream) => (driver.cuMemcpy3DAsync_v2)(&description, stream),
            }
        })
    }

    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64> {
        let driver = self.bind()?;
        let (described, elements) = driver_resource(self, resource)?;
        texture.check(resource, &elements)?;
        let mut flags = 0;
        let mut set = |on: bool, flag: u32| flags |= if on { flag } else { 0 };
        set(texture.read_mode == 0 && elements.kind != KIND_FLOAT, READ_AS_INTEGER);
        set(texture.normalized_coords != 0, NORMALIZED_COORDINATES);
        set(texture.srgb != 0, SRGB);
        set(texture.disable_trilinear_optimization != 0, DISABLE_TRILINEAR_OPTIMIZATION);
        set(texture.seamless_cubemap != 0, SEAMLESS_CUBEMAP);
        let sampler = DriverTexture {
            address_mode: texture.address_mode,
            filter_mode: texture.filter_mode,
            flags,
            max_anisotropy: texture.max_anisotropy,
            mipmap_filter_mode: texture.mipmap_filter_mode,
            mipmap_level_bias: texture.mipmap_level_bias,
            min_mipmap_level_clamp: texture.min_mipmap_level_clamp,
            max_mipmap_level_clamp: texture.max_mipmap_level_clamp,
            border_color: texture.border_color,
            reserved: [0; 12],
        };
        let mut object = 0;
        // SAFETY: target and descriptions valid; the driver checks what they say.
        check(unsafe {
            (driver.cuTexObjectCreate)(&mut object, &described, &sampler, std::ptr::null())
        })?;
        Ok(object)
    }

    fn destroy_texture(&self, object: u64) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: a handle of `make_texture`, as CUDA demands of the caller.
        check(unsafe { (driver.cuTexObjectDestroy)(object) })
    }

    fn create_surface(&self, array: ArrayHandle) -> Result<u64> {
        let driver = self.bind()?;
        let (described, _) = driver_resource(self, &Resource::Array(array))?;
        let mut object = 0;
        // SAFETY: target and description valid; the driver checks what it says.
        check(unsafe { (driver.cuSurfObjectCreate)(&mut object, &described) })?;
        Ok(object)
    }

    fn destroy_surface(&self, object: u64) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: a handle of `make_surface`, as CUDA demands of the caller.
        check(unsafe { (driver.cuSurfObjectDestroy)(object) })
    }
}
