//! Arrays, texture and surface objects of a GPU, by the driver.

use super::GpuDevice;
use super::driver::{Handle, check};
use crate::array::*;
use crate::device::{Arrays, CopyKind, StreamHandle};
use crate::driver_array::{ArrayDescriptor, DriverResource, DriverTexture};
use crate::driver_copy::Cuboid;
use crate::error::{CudaError, Result};

/// Whether a side is memory, or an array that there is.
fn check_side(device: &GpuDevice, side: CopySide) -> Result<()> {
    if let CopySide::Array { array, .. } = side {
        device.array(array)?;
    }
    Ok(())
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
        check_side(self, copy.src)?;
        check_side(self, copy.dst)?;
        let description = Cuboid::new(copy, kind);
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
        let (described, elements) = (DriverResource::new(resource)?, self.elements(resource)?);
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
        self.array(array)?;
        let described = DriverResource::new(&Resource::Array(array))?;
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
