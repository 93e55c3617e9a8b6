//! How the driver describes arrays, resources and textures, and both ways between that and the runtime's
//! descriptions. No device is asked anything here.

use std::ffi::c_void;

use crate::array::*;
use crate::error::{CudaError, Result};

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverResource {
    kind: u32,
    of: DriverUnion,
    flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
union DriverUnion {
    array: *mut c_void,
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
#[derive(Clone, Copy, Default)]
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

/// The runtime's description of a driver's format.
fn channel_format(format: u32, channels: u32) -> Result<ChannelFormat> {
    let (kind, bits) = match format {
        1..=3 => (KIND_UNSIGNED, 8 << (format - 1)),
        8..=10 => (KIND_SIGNED, 8 << (format - 8)),
        0x10 => (KIND_FLOAT, 16),
        0x20 => (KIND_FLOAT, 32),
        _ => return Err(CudaError::NOT_SUPPORTED.into()),
    };
    if !matches!(channels, 1 | 2 | 4) {
        return Err(CudaError::INVALID_VALUE.into());
    }
    let mut all = [0; 4];
    all.iter_mut().take(channels as usize).for_each(|one| *one = bits);
    Ok(ChannelFormat { bits: all, kind })
}

impl ArrayDescriptor {
    /// The driver's description of an array.
    pub fn new(info: &ArrayInfo) -> Result<ArrayDescriptor> {
        let (format, channels) = format(&info.format)?;
        let [width, height, depth] = info.size.map(|count| count as usize);
        Ok(ArrayDescriptor { width, height, depth, format, channels, flags: info.flags })
    }

    /// The runtime's.
    pub fn info(&self) -> Result<ArrayInfo> {
        Ok(ArrayInfo {
            format: channel_format(self.format, self.channels)?,
            size: [self.width, self.height, self.depth].map(|count| count as u64),
            flags: self.flags,
        })
    }
}

impl DriverResource {
    /// The driver's description of a resource.
    pub fn new(resource: &Resource) -> Result<DriverResource> {
        let mut described =
            DriverResource { kind: 0, of: DriverUnion { reserved: [0; 32] }, flags: 0 };
        match *resource {
            Resource::Array(array) => described.of.array = array.0 as *mut c_void,
            Resource::Mipmap(mipmap) => {
                described.kind = 1;
                described.of.array = mipmap.0 as *mut c_void;
            }
            Resource::Linear { address, format: elements, bytes } => {
                let (format, channels) = format(&elements)?;
                described.kind = 2;
                described.of.linear =
                    DriverLinear { address, format, channels, bytes: bytes as usize };
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
            }
        }
        Ok(described)
    }

    /// The resource described.
    pub fn resource(&self) -> Result<Resource> {
        // SAFETY: every member is plain data, and the kind says which one host code has set.
        unsafe {
            match self.kind {
                0 => Ok(Resource::Array(ArrayHandle(self.of.array as u64))),
                1 => Ok(Resource::Mipmap(MipmapHandle(self.of.array as u64))),
                2 => {
                    let DriverLinear { address, format, channels, bytes } = self.of.linear;
                    let format = channel_format(format, channels)?;
                    Ok(Resource::Linear { address, format, bytes: bytes as u64 })
                }
                3 => {
                    let part = self.of.pitch_2d;
                    Ok(Resource::Pitch2D {
                        address: part.address,
                        format: channel_format(part.format, part.channels)?,
                        size: [part.width as u64, part.height as u64],
                        pitch_bytes: part.pitch_bytes as u64,
                    })
                }
                _ => Err(CudaError::INVALID_VALUE.into()),
            }
        }
    }
}

impl DriverTexture {
    /// The driver's description of how elements are read.
    pub fn new(texture: &TextureDesc, elements: &ChannelFormat) -> DriverTexture {
        let mut flags = 0;
        let mut set = |on: bool, flag: u32| flags |= if on { flag } else { 0 };
        set(texture.read_mode == 0 && elements.kind != KIND_FLOAT, READ_AS_INTEGER);
        set(texture.normalized_coords != 0, NORMALIZED_COORDINATES);
        set(texture.srgb != 0, SRGB);
        set(texture.disable_trilinear_optimization != 0, DISABLE_TRILINEAR_OPTIMIZATION);
        set(texture.seamless_cubemap != 0, SEAMLESS_CUBEMAP);
        DriverTexture {
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
        }
    }

    /// The runtime's. Without a flag integers are read as numbers, but for those of 32 bits, which never are.
    pub fn texture(&self, elements: &ChannelFormat) -> TextureDesc {
        let is = |flag: u32| self.flags & flag != 0;
        let as_elements = elements.kind == KIND_FLOAT || elements.bits[0] == 32;
        TextureDesc {
            address_mode: self.address_mode,
            filter_mode: self.filter_mode,
            read_mode: u32::from(!as_elements && !is(READ_AS_INTEGER)),
            srgb: is(SRGB).into(),
            border_color: self.border_color,
            normalized_coords: is(NORMALIZED_COORDINATES).into(),
            max_anisotropy: self.max_anisotropy,
            mipmap_filter_mode: self.mipmap_filter_mode,
            mipmap_level_bias: self.mipmap_level_bias,
            min_mipmap_level_clamp: self.min_mipmap_level_clamp,
            max_mipmap_level_clamp: self.max_mipmap_level_clamp,
            disable_trilinear_optimization: is(DISABLE_TRILINEAR_OPTIMIZATION).into(),
            seamless_cubemap: is(SEAMLESS_CUBEMAP).into(),
        }
    }
}
