//! Arrays, texture and surface objects of a GPU, by the driver.

use std::ffi::c_void;

use super::GpuDevice;
use super::driver::{Handle, check};
use crate::array::*;
use crate::device::{Arrays, CopyKind, StreamHandle};
use crate::driver_array::{ArrayDescriptor, DriverResource, DriverTexture};
use crate::error::{CudaError, Result};

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
    let elements = match *resource {
        Resource::Array(array) => device.array_info(array)?.format,
        Resource::Mipmap(mipmap) => device.array_info(device.mipmap_level(mipmap, 0)?)?.format,
        Resource::Linear { format, .. } | Resource::Pitch2D { format, .. } => format,
    };
    Ok((DriverResource::new(resource)?, elements))
}

impl Arrays for GpuDevice {
    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle> {
        info.check()?;
        let driver = self.bind()?;
        let descriptor = ArrayDescriptor::new(info)?;
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
        let descriptor = ArrayDescriptor::new(info)?;
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
        found.info()
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
        let sampler = DriverTexture::new(texture, &elements);
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
