//! Arrays of a device, and the texture and surface objects through which kernels see them.

use super::memory::CopyKind;
use super::streams::StreamHandle;
use crate::array::{
    ArrayHandle, ArrayInfo, ChannelFormat, Copy3D, MipmapHandle, Resource, TextureDesc,
};
use crate::error::Result;

/// Arrays, textures and surfaces of a device.
pub trait Arrays {
    /// Makes a CUDA array.
    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle>;
    /// Frees an array.
    fn destroy_array(&self, array: ArrayHandle) -> Result<()>;
    /// What the array was made as.
    fn array_info(&self, array: ArrayHandle) -> Result<ArrayInfo>;
    /// Makes a mipmapped array, whose first level is so, of so many levels, at least one and at most all.
    fn create_mipmap(&self, info: &ArrayInfo, levels: u32) -> Result<MipmapHandle>;
    /// Frees a mipmapped array with its levels.
    fn destroy_mipmap(&self, mipmap: MipmapHandle) -> Result<()>;
    /// A level as an array, which lives as long as the mipmapped array.
    fn mipmap_level(&self, mipmap: MipmapHandle, level: u32) -> Result<ArrayHandle>;
    /// Copies a box of which a side may lie in an array.
    ///
    /// # Safety
    /// As for [`super::Memory::copy`].
    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// The format of what is read of a resource.
    fn elements(&self, resource: &Resource) -> Result<ChannelFormat> {
        Ok(match *resource {
            Resource::Array(array) => self.array_info(array)?.format,
            Resource::Mipmap(mipmap) => self.array_info(self.mipmap_level(mipmap, 0)?)?.format,
            Resource::Linear { format, .. } | Resource::Pitch2D { format, .. } => format,
        })
    }
    /// Makes a texture object; what kernels get.
    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64>;
    /// Destroys a texture object.
    fn destroy_texture(&self, object: u64) -> Result<()>;
    /// Makes a surface object of an array with `cudaArraySurfaceLoadStore`.
    fn create_surface(&self, array: ArrayHandle) -> Result<u64>;
    /// Destroys a surface object.
    fn destroy_surface(&self, object: u64) -> Result<()>;
}
