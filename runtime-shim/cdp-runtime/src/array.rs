//! CUDA arrays, texture and surface objects: what host code says of them, for both devices.
//!
//! Layouts and numbers are CUDA 13.0's (`driver_types.h`, `texture_types.h`; sizes and offsets were
//! printed by a program). What this is not: the texels and how they are fetched, which is each device's own
//! affair.

use std::ffi::c_void;

use crate::error::{CudaError, Result};

/// `cudaChannelFormatDesc`: bits of each component, and `cudaChannelFormatKind`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelFormat {
    /// Bits of x, y, z, w; 0 for components that do not exist.
    pub bits: [i32; 4],
    /// 0 signed, 1 unsigned, 2 float, 3 none.
    pub kind: u32,
}

/// `cudaChannelFormatKind`
pub const KIND_SIGNED: u32 = 0;
/// `cudaChannelFormatKind`
pub const KIND_UNSIGNED: u32 = 1;
/// `cudaChannelFormatKind`
pub const KIND_FLOAT: u32 = 2;

impl ChannelFormat {
    /// Number of components and bits of each. They must be alike: 1, 2 or 4 of 8, 16 or 32 bits.
    pub fn channels(&self) -> Result<(u32, u32)> {
        let bits = self.bits[0];
        let count = self.bits.iter().take_while(|&&one| one > 0).count();
        let alike = self.bits[..count].iter().all(|&one| one == bits)
            && self.bits[count..].iter().all(|&one| one == 0);
        let floats = self.kind != KIND_FLOAT || bits != 8;
        if alike
            && matches!(count, 1 | 2 | 4)
            && matches!(bits, 8 | 16 | 32)
            && self.kind <= KIND_FLOAT
            && floats
        {
            Ok((count as u32, bits as u32))
        } else {
            Err(CudaError::INVALID_CHANNEL_DESCRIPTOR.into())
        }
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> Result<u64> {
        let (count, bits) = self.channels()?;
        Ok(u64::from(count * bits / 8))
    }
}

/// A `cudaArray_t` as host code holds it; null is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayHandle(pub u64);

/// A `cudaMipmappedArray_t` as host code holds it; null is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MipmapHandle(pub u64);

/// What an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// Its elements.
    pub format: ChannelFormat,
    /// Elements in x, y, z (or layers); 0 for dimensions that do not exist.
    pub size: [u64; 3],
    /// `cudaArrayDefault`, or `cudaArrayLayered`, `cudaArrayCubemap` and others.
    pub flags: u32,
}

/// `cudaArrayLayered`
pub const LAYERED: u32 = 1;
/// `cudaArraySurfaceLoadStore`
pub const SURFACE_LOAD_STORE: u32 = 2;
/// `cudaArrayCubemap`: the layers are faces, six a cube.
pub const CUBEMAP: u32 = 4;
/// `cudaArrayTextureGather`
pub const TEXTURE_GATHER: u32 = 8;

impl ArrayInfo {
    /// Refuses what no array can be, and the kinds of array that are not supported.
    pub fn check(&self) -> Result<()> {
        self.format.channels()?;
        let layered = self.flags & LAYERED != 0;
        let gap = match layered {
            true => self.size[0] == 0 || self.size[2] == 0,
            false => self.size[0] == 0 || (self.size[1] == 0 && self.size[2] > 0),
        };
        let [width, height, layers] = self.size;
        let no_cube = self.flags & CUBEMAP != 0
            && (width != height || layers % 6 != 0 || layers != 6 && !layered);
        if gap || no_cube || self.size.iter().any(|&one| one > 1 << 20) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if self.flags & !(LAYERED | SURFACE_LOAD_STORE | CUBEMAP | TEXTURE_GATHER) != 0 {
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        Ok(())
    }

    /// The most levels that an array whose first level is this one can have.
    pub fn most_levels(&self) -> u32 {
        self.halved().into_iter().max().map_or(1, |size| size.max(1).ilog2() + 1)
    }

    /// A level of a mipmapped array whose first one is this: half as large by each.
    pub fn level(&self, number: u32) -> ArrayInfo {
        let mut info = *self;
        for (size, halved) in info.size.iter_mut().zip(self.halved()) {
            if halved > 0 {
                *size = (halved >> number).max(1);
            }
        }
        info
    }

    /// Sizes that become half from level to level; 0 for those that do not, as the number of layers.
    fn halved(&self) -> [u64; 3] {
        let [x, y, z] = self.size;
        [x, y, if self.flags & (LAYERED | CUBEMAP) != 0 { 0 } else { z }]
    }
}

/// One side of a [`Copy3D`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySide {
    /// Elements of an array from a position on.
    Array {
        /// The array.
        array: ArrayHandle,
        /// Bytes from the left.
        x_bytes: u64,
        /// Row.
        y: u64,
        /// Slice.
        z: u64,
    },
    /// Bytes of memory.
    Linear {
        /// The first byte.
        address: u64,
        /// Bytes from row to row.
        pitch_bytes: u64,
        /// Rows from slice to slice.
        rows: u64,
    },
}

/// A box of bytes to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy3D {
    /// Where to.
    pub dst: CopySide,
    /// Where from.
    pub src: CopySide,
    /// Bytes of a row.
    pub width_bytes: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
}

/// `cudaResourceDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDesc {
    /// `cudaResourceType`
    pub kind: u32,
    /// By kind.
    pub of: ResourceUnion,
    /// Must be 0.
    pub flags: u32,
}

/// The union of `cudaResourceDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceUnion {
    /// `cudaResourceTypeArray`: the array; `cudaResourceTypeMipmappedArray`: all its levels.
    pub array: *mut c_void,
    /// `cudaResourceTypeLinear`
    pub linear: LinearResource,
    /// `cudaResourceTypePitch2D`
    pub pitch_2d: PitchResource,
    /// Room for more.
    pub reserved: [i32; 32],
}

/// `cudaResourceDesc::res.linear`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LinearResource {
    /// Device address.
    pub address: *mut c_void,
    /// Elements.
    pub format: ChannelFormat,
    /// Bytes.
    pub bytes: usize,
}

/// `cudaResourceDesc::res.pitch2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchResource {
    /// Device address.
    pub address: *mut c_void,
    /// Elements.
    pub format: ChannelFormat,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row.
    pub pitch_bytes: usize,
}

/// What a texture or surface object reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An array.
    Array(ArrayHandle),
    /// All levels of a mipmapped array.
    Mipmap(MipmapHandle),
    /// Elements one after another.
    Linear {
        /// Device address.
        address: u64,
        /// Elements.
        format: ChannelFormat,
        /// Bytes.
        bytes: u64,
    },
    /// Rows of elements.
    Pitch2D {
        /// Device address.
        address: u64,
        /// Elements.
        format: ChannelFormat,
        /// Elements of a row, rows.
        size: [u64; 2],
        /// Bytes from row to row.
        pitch_bytes: u64,
    },
}

impl ResourceDesc {
    /// The description of a resource.
    pub fn new(resource: &Resource) -> ResourceDesc {
        let of = ResourceUnion { reserved: [0; 32] };
        let mut described = ResourceDesc { kind: 0, of, flags: 0 };
        match *resource {
            Resource::Array(array) => described.of.array = array.0 as *mut c_void,
            Resource::Mipmap(mipmap) => {
                described.kind = 1;
                described.of.array = mipmap.0 as *mut c_void;
            }
            Resource::Linear { address, format, bytes } => {
                let (address, bytes) = (address as *mut c_void, bytes as usize);
                described.kind = 2;
                described.of.linear = LinearResource { address, format, bytes };
            }
            Resource::Pitch2D { address, format, size, pitch_bytes } => {
                described.kind = 3;
                described.of.pitch_2d = PitchResource {
                    address: address as *mut c_void,
                    format,
                    width: size[0] as usize,
                    height: size[1] as usize,
                    pitch_bytes: pitch_bytes as usize,
                };
            }
        }
        described
    }

    /// The resource described.
    pub fn resource(&self) -> Result<Resource> {
        // SAFETY: every member is plain data, and the kind says which one host code has set.
        unsafe {
            match self.kind {
                0 => Ok(Resource::Array(ArrayHandle(self.of.array as u64))),
                2 => {
                    let LinearResource { address, format, bytes } = self.of.linear;
                    Ok(Resource::Linear { address: address as u64, format, bytes: bytes as u64 })
                }
                3 => {
                    let part = self.of.pitch_2d;
                    Ok(Resource::Pitch2D {
                        address: part.address as u64,
                        format: part.format,
                        size: [part.width as u64, part.height as u64],
                        pitch_bytes: part.pitch_bytes as u64,
                    })
                }
                1 => Ok(Resource::Mipmap(MipmapHandle(self.of.array as u64))),
                _ => Err(CudaError::INVALID_VALUE.into()),
            }
        }
    }
}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureDesc {
    /// `cudaTextureAddressMode` by dimension: 0 wrap, 1 clamp, 2 mirror, 3 border.
    pub address_mode: [u32; 3],
    /// `cudaTextureFilterMode`: 0 point, 1 linear.
    pub filter_mode: u32,
    /// `cudaTextureReadMode`: 0 element type, 1 normalised float.
    pub read_mode: u32,
    /// sRGB to linear on reading.
    pub srgb: i32,
    /// What `cudaAddressModeBorder` reads.
    pub border_color: [f32; 4],
    /// Coordinates run from 0 to 1.
    pub normalized_coords: i32,
    /// Anisotropic filtering.
    pub max_anisotropy: u32,
    /// Filter between levels.
    pub mipmap_filter_mode: u32,
    /// Added to the level.
    pub mipmap_level_bias: f32,
    /// Least level.
    pub min_mipmap_level_clamp: f32,
    /// Greatest level.
    pub max_mipmap_level_clamp: f32,
    /// Turns off a trilinear optimisation.
    pub disable_trilinear_optimization: i32,
    /// Filters across the faces of a cube map.
    pub seamless_cubemap: i32,
}

impl TextureDesc {
    /// Refuses combinations that CUDA refuses, for a texture of such elements (CUDA Programming
    /// Guide, "Texture Object API": reading as a number is for 8- and 16-bit integers, linear
    /// filtering for textures that yield floating values).
    pub fn check(&self, resource: &Resource, format: &ChannelFormat) -> Result<()> {
        let known = self.address_mode.iter().all(|&mode| mode < 4)
            && self.filter_mode < 2
            && self.read_mode < 2
            && self.mipmap_filter_mode < 2;
        // Levels differ in size, so that only a part of it is a place in all of them.
        let is_mipmap = matches!(resource, Resource::Mipmap(_));
        if !known || is_mipmap && self.normalized_coords == 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let (_, bits) = format.channels()?;
        let integers = format.kind != KIND_FLOAT;
        if self.read_mode == 1 && integers && bits == 32 {
            return Err(CudaError::INVALID_NORM_SETTING.into());
        }
        let is_mean = self.filter_mode == 1 || is_mipmap && self.mipmap_filter_mode == 1;
        if is_mean && self.read_mode == 0 && integers {
            return Err(CudaError::INVALID_FILTER_SETTING.into());
        }
        // sRGB has eight bits, read as numbers.
        if self.srgb != 0 && (format.kind != KIND_UNSIGNED || bits != 8 || self.read_mode == 0) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        Ok(())
    }
}
