//! Arrays, texture and surface objects of the CPU device: an array is pitched device memory, whose
//! address is its handle, a mipmapped array is an array for each level, with the first one's handle, and an object
//! is a descriptor that the emulator keeps.

use std::collections::HashMap;

use cdp_emulator::{AddressMode, ChannelKind, Level, Mipmap, TextureDescriptor};

use super::CpuDevice;
use crate::array::*;
use crate::device::{Arrays, Copy2D, CopyKind, Memory, StreamHandle};
use crate::error::{CudaError, Result};

/// An array.
#[derive(Clone, Copy)]
pub struct CpuArray {
    info: ArrayInfo,
    address: u64,
    pitch_bytes: u64,
    /// It is freed with the mipmapped array that it belongs to.
    is_level: bool,
}

/// Arrays, and the levels of mipmapped ones, by handle.
#[derive(Default)]
pub struct ByHandle {
    arrays: HashMap<u64, CpuArray>,
    mipmaps: HashMap<u64, Vec<CpuArray>>,
}

impl ByHandle {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.arrays.clear();
        self.mipmaps.clear();
    }
}

impl CpuDevice {
    fn array(&self, handle: ArrayHandle) -> Result<CpuArray> {
        let found = self.arrays().arrays.get(&handle.0).copied();
        found.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn levels(&self, handle: MipmapHandle) -> Result<Vec<CpuArray>> {
        let found = self.arrays().mipmaps.get(&handle.0).cloned();
        found.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    /// An array in new memory.
    fn allocate_array(&self, info: &ArrayInfo, is_level: bool) -> Result<CpuArray> {
        let width_bytes = info.size[0] * info.format.element_bytes()?;
        let rows = info.size[1].max(1) * info.size[2].max(1);
        let (address, pitch_bytes) = self.allocate_pitched(width_bytes, rows)?;
        let array = CpuArray { info: *info, address, pitch_bytes, is_level };
        self.arrays().arrays.insert(address, array);
        Ok(array)
    }

    fn free_array(&self, array: &CpuArray) -> Result<()> {
        self.arrays().arrays.remove(&array.address);
        self.free(array.address)
    }

    /// The levels of a mipmapped array as a fetch finds them.
    fn mipmap(&self, handle: MipmapHandle, texture: &TextureDesc) -> Result<Mipmap> {
        let levels = self.levels(handle)?.into_iter().map(|level| {
            let mut size = texels(level.info.size)?;
            if layers(&level.info) > 0 {
                size[2] = 0;
            }
            Ok(Level { address: level.address, size, pitch_bytes: level.pitch_bytes })
        });
        Ok(Mipmap {
            levels: levels.collect::<Result<_>>()?,
            linear: texture.mipmap_filter_mode == 1,
            bias: texture.mipmap_level_bias,
            limits: [texture.min_mipmap_level_clamp, texture.max_mipmap_level_clamp],
        })
    }

    /// Address, pitch and rows of a slice of one side of a copy.
    fn linear(&self, place: CopySide, copy: &Copy3D) -> Result<(u64, u64, u64)> {
        match place {
            CopySide::Linear { address, pitch_bytes, rows } => Ok((address, pitch_bytes, rows)),
            CopySide::Array { array, x_bytes, y, z } => {
                let array = self.array(array)?;
                let [width, rows, slices] = array.info.size;
                let row_bytes = width * array.info.format.element_bytes()?;
                let (rows, slices) = (rows.max(1), slices.max(1));
                let inside = |at: u64, count: u64, limit: u64| {
                    at.checked_add(count).is_some_and(|end| end <= limit)
                };
                if !inside(x_bytes, copy.width_bytes, row_bytes)
                    || !inside(y, copy.height, rows)
                    || !inside(z, copy.depth, slices)
                {
                    return Err(CudaError::INVALID_VALUE.into());
                }
                let first = array.address + (z * rows + y) * array.pitch_bytes + x_bytes;
                Ok((first, array.pitch_bytes, rows))
            }
        }
    }

    /// The emulator's description of a resource, read as plain elements.
    fn described(&self, resource: &Resource) -> Result<(TextureDescriptor, ChannelFormat)> {
        let array = self.array_of(resource)?;
        let layers = array.map_or(0, |array| layers(&array.info));
        let (address, format, mut size, pitch_bytes) = match *resource {
            Resource::Array(_) | Resource::Mipmap(_) => {
                let array = array.ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
                (array.address, array.info.format, array.info.size, array.pitch_bytes)
            }
            Resource::Linear { address, format, bytes } => {
                (address, format, [bytes / format.element_bytes()?, 0, 0], bytes)
            }
            Resource::Pitch2D { address, format, size, pitch_bytes } => {
                if pitch_bytes < size[0] * format.element_bytes()? {
                    return Err(CudaError::INVALID_PITCH_VALUE.into());
                }
                (address, format, [size[0], size[1], 0], pitch_bytes)
            }
        };
        if layers > 0 {
            size[2] = 0;
        }
        let (channels, channel_bits) = format.channels()?;
        let texels = texels(size)?;
        let descriptor = TextureDescriptor {
            address,
            size: texels,
            layers,
            pitch_bytes,
            channels,
            channel_bits,
            channel_kind: match format.kind {
                KIND_SIGNED => ChannelKind::Signed,
                KIND_UNSIGNED => ChannelKind::Unsigned,
                _ => ChannelKind::Float,
            },
            address_mode: [AddressMode::Clamp; 3],
            linear: false,
            normalized_coords: false,
            normalized_float: false,
            srgb: false,
            border: [0; 4],
            mipmap: None,
        };
        Ok((descriptor, format))
    }

    /// The array, or first level, that a resource is.
    fn array_of(&self, resource: &Resource) -> Result<Option<CpuArray>> {
        Ok(match *resource {
            Resource::Array(handle) => Some(self.array(handle)?),
            Resource::Mipmap(handle) => self.levels(handle)?.first().copied(),
            Resource::Linear { .. } | Resource::Pitch2D { .. } => None,
        })
    }

    fn drop_object(&self, object: u64) -> Result<()> {
        self.state().destroy_object(object)
    }
}

/// Layers of an array, faces of a cube map among them.
fn layers(info: &ArrayInfo) -> u32 {
    if info.flags & (LAYERED | CUBEMAP) != 0 { info.size[2] as u32 } else { 0 }
}

fn texels(size: [u64; 3]) -> Result<[u32; 3]> {
    let mut texels = [0; 3];
    for (slot, count) in texels.iter_mut().zip(size) {
        *slot = u32::try_from(count).map_err(|_| CudaError::INVALID_VALUE)?;
    }
    Ok(texels)
}

impl Arrays for CpuDevice {
    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle> {
        info.check()?;
        Ok(ArrayHandle(self.allocate_array(info, false)?.address))
    }

    fn destroy_array(&self, handle: ArrayHandle) -> Result<()> {
        let array = self.array(handle)?;
        if array.is_level {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        self.free_array(&array)
    }

    fn create_mipmap(&self, info: &ArrayInfo, levels: u32) -> Result<MipmapHandle> {
        info.check()?;
        let mut made = Vec::new();
        for number in 0..levels {
            match self.allocate_array(&info.level(number), true) {
                Ok(level) => made.push(level),
                Err(error) => {
                    for level in &made {
                        self.free_array(level)?;
                    }
                    return Err(error);
                }
            }
        }
        let first = made.first().ok_or(CudaError::INVALID_VALUE)?.address;
        self.arrays().mipmaps.insert(first, made);
        Ok(MipmapHandle(first))
    }

    fn destroy_mipmap(&self, handle: MipmapHandle) -> Result<()> {
        let levels = self.levels(handle)?;
        self.arrays().mipmaps.remove(&handle.0);
        levels.iter().try_for_each(|level| self.free_array(level))
    }

    fn mipmap_level(&self, handle: MipmapHandle, level: u32) -> Result<ArrayHandle> {
        let levels = self.levels(handle)?;
        let found = levels.get(level as usize).ok_or(CudaError::INVALID_VALUE)?;
        Ok(ArrayHandle(found.address))
    }

    fn array_info(&self, handle: ArrayHandle) -> Result<ArrayInfo> {
        Ok(self.array(handle)?.info)
    }

    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let (dst, dst_pitch, dst_rows) = self.linear(copy.dst, copy)?;
        let (src, src_pitch, src_rows) = self.linear(copy.src, copy)?;
        for slice in 0..copy.depth {
            let rectangle = Copy2D {
                dst: dst.wrapping_add(slice * dst_rows * dst_pitch),
                dst_pitch_bytes: dst_pitch as usize,
                src: src.wrapping_add(slice * src_rows * src_pitch),
                src_pitch_bytes: src_pitch as usize,
                width_bytes: copy.width_bytes as usize,
                height: copy.height as usize,
            };
            // SAFETY: the caller's promise; array sides lie in the array.
            unsafe { self.copy_2d(&rectangle, kind, stream)? };
        }
        Ok(())
    }

    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64> {
        let (mut descriptor, format) = self.described(resource)?;
        texture.check(resource, &format)?;
        let cube = self.array_of(resource)?.is_some_and(|array| array.info.flags & CUBEMAP != 0);
        if cube && texture.seamless_cubemap != 0 && texture.filter_mode == 1 {
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        if let Resource::Mipmap(handle) = *resource {
            descriptor.mipmap = Some(self.mipmap(handle, texture)?);
        }
        descriptor.srgb = texture.srgb != 0;
        descriptor.address_mode = texture.address_mode.map(|mode| match mode {
            0 => AddressMode::Wrap,
            1 => AddressMode::Clamp,
            2 => AddressMode::Mirror,
            _ => AddressMode::Border,
        });
        descriptor.linear = texture.filter_mode == 1;
        descriptor.normalized_coords = texture.normalized_coords != 0;
        descriptor.normalized_float = texture.read_mode == 1;
        // Of a texture of integers these are integers, which programs write as numbers of the same bits.
        descriptor.border = texture.border_color.map(f32::to_bits);
        self.state().emulator.create_texture(descriptor).map_err(super::convert)
    }

    fn destroy_texture(&self, object: u64) -> Result<()> {
        self.drop_object(object)
    }

    fn create_surface(&self, array: ArrayHandle) -> Result<u64> {
        // As the driver: also of an array that was not made for it (cudaArraySurfaceLoadStore).
        self.array_info(array)?;
        let (descriptor, _) = self.described(&Resource::Array(array))?;
        self.state().emulator.create_texture(descriptor).map_err(super::convert)
    }

    fn destroy_surface(&self, object: u64) -> Result<()> {
        self.drop_object(object)
    }
}
