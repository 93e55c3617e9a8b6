//! Texture and surface objects: what they describe, and how a coordinate becomes texels.
//!
//! An object is a handle (1, 2, ...) to a descriptor that the host made. Texels are read straight from device memory.
//! The faces of cube maps are layers. Multisampling is refused when the module loads.
//! Source: CUDA Programming Guide, appendix "Texture Fetching".

mod filter;
mod levels;
mod srgb;

pub use levels::{Level, Levels, Mipmap, TextureLod, gradient_on_face, mixed};

use cdp_ptx::{ScalarType, SurfaceClamp, TexGeometry, TexQuery};

use crate::float::soft;

/// How the bits of a channel are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// `.f32` (32 bits) or `.f16` (16 bits).
    Float,
}

/// What happens to coordinates outside of the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AddressMode {
    /// Repeats (normalised coordinates only).
    Wrap,
    /// The edge texel.
    #[default]
    Clamp,
    /// Repeats mirrored (normalised coordinates only).
    Mirror,
    /// The colour of the border.
    Border,
}

/// A texture or surface object.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureDescriptor {
    /// Device address of the first texel.
    pub address: u64,
    /// Texels in x, y, z; 0 for dimensions that do not exist.
    pub size: [u32; 3],
    /// Layers of such a size, one behind the other; 0 if the object has none.
    pub layers: u32,
    /// Bytes from row to row.
    pub pitch_bytes: u64,
    /// 1, 2 or 4.
    pub channels: u32,
    /// Bits of a channel: 8, 16 or 32.
    pub channel_bits: u32,
    /// How they are read.
    pub channel_kind: ChannelKind,
    /// Address mode by dimension.
    pub address_mode: [AddressMode; 3],
    /// Linear interpolation and not the nearest texel.
    pub linear: bool,
    /// Coordinates run from 0 to 1.
    pub normalized_coords: bool,
    /// Integers are read as 0.0 .. 1.0 or -1.0 .. 1.0.
    pub normalized_float: bool,
    /// Numbers of the first three channels are sRGB's, and are read as the brightness that they stand for.
    pub srgb: bool,
    /// What [`AddressMode::Border`] reads, by channel: the bits of what a fetch returns, numbers or integers.
    pub border: [u32; 4],
    /// The levels, if there are several.
    pub mipmap: Option<Mipmap>,
}

/// A decoded `tex` or `tld4`.
#[derive(Clone, Debug)]
pub struct TextureFetch {
    /// Shape.
    pub geometry: TexGeometry,
    /// Type of the results.
    pub dst_ty: ScalarType,
    /// Type of the coordinates.
    pub coord_ty: ScalarType,
    /// Wide row of the handle.
    pub texture: u32,
    /// Row of the layer's number, if the shape has layers.
    pub layer: Option<u32>,
    /// Rows of the other coordinates.
    pub coords: Vec<u32>,
    /// Rows of the results ([`crate::code::NONE`] for the sink).
    pub dsts: Vec<u32>,
    /// Rows of what is added to the coordinates, in texels.
    pub offsets: Vec<u32>,
    /// `tld4`: which component.
    pub gather: Option<u8>,
    /// Which level of a mipmapped texture.
    pub lod: TextureLod,
}

/// A decoded `suld` or `sust`.
#[derive(Clone, Debug)]
pub struct SurfaceAccess {
    /// Shape.
    pub geometry: TexGeometry,
    /// Element type.
    pub ty: ScalarType,
    /// Out of bounds.
    pub clamp: SurfaceClamp,
    /// `.p`
    pub formatted: bool,
    /// Wide row of the handle.
    pub surface: u32,
    /// Row of the layer's number, if the shape has layers.
    pub layer: Option<u32>,
    /// Rows of the other coordinates.
    pub coords: Vec<u32>,
    /// Rows of the values.
    pub rows: Vec<u32>,
    /// The rows have 64 bits.
    pub wide: bool,
    /// Store and not load.
    pub store: bool,
}

/// A decoded `txq` or `suq`.
#[derive(Clone, Debug)]
pub struct TextureQuery {
    /// What is asked.
    pub query: TexQuery,
    /// Wide row of the handle.
    pub object: u32,
    /// Row of the answer.
    pub dst: u32,
}

/// Whether the first coordinate of a geometry is the number of a layer.
pub fn has_layers(geometry: TexGeometry) -> bool {
    matches!(geometry, TexGeometry::A1 | TexGeometry::A2 | TexGeometry::ACube)
}

/// Whether coordinates are a direction.
pub fn is_cube(geometry: TexGeometry) -> bool {
    matches!(geometry, TexGeometry::Cube | TexGeometry::ACube)
}

/// Faces of a cube map.
pub const FACES: u32 = 6;

/// The face of a cube map in a direction, and the coordinates there, from 0 to 1 (CUDA C++ Programming Guide,
/// "Cubemap Textures"). Of equal components z comes first and x last (seen on an H200).
pub fn face_in(direction: [f32; 3]) -> (u32, [f32; 3]) {
    let [x, y, z] = direction;
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let face = if az >= ax && az >= ay {
        4 + u32::from(z < 0.0)
    } else if ay >= ax {
        2 + u32::from(y < 0.0)
    } else {
        u32::from(x < 0.0)
    };
    let [s, t, m] = on_face(face, direction);
    (face, [(s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0, 0.0])
}

/// A direction as a face sees it: along its two coordinates, and away from the cube's middle.
fn on_face(face: u32, [x, y, z]: [f32; 3]) -> [f32; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

/// Dimensions of a geometry without its layers, if it is supported.
fn dimensions(geometry: TexGeometry) -> Result<usize, String> {
    match geometry {
        TexGeometry::D1 | TexGeometry::A1 => Ok(1),
        TexGeometry::D2 | TexGeometry::A2 => Ok(2),
        TexGeometry::D3 | TexGeometry::Cube | TexGeometry::ACube => Ok(3),
        TexGeometry::D2Ms | TexGeometry::A2Ms => {
            Err(format!("textures and surfaces of geometry .{geometry}"))
        }
    }
}

impl TextureFetch {
    /// Refuses what the device does not do.
    pub fn check(&self) -> Result<(), String> {
        if self.coords.len() < dimensions(self.geometry)? {
            return Err("a texture fetch with too few coordinates".to_string());
        }
        match (self.dst_ty, self.gather.is_some(), self.geometry) {
            (
                ScalarType::F32 | ScalarType::S32 | ScalarType::U32,
                true,
                TexGeometry::D2 | TexGeometry::A2 | TexGeometry::Cube | TexGeometry::ACube,
            ) => Ok(()),
            (_, true, _) => Err("`tld4` on this geometry or type".to_string()),
            (ScalarType::F32 | ScalarType::S32 | ScalarType::U32 | ScalarType::F16x2, false, _) => {
                Ok(())
            }
            _ => Err(format!("texture fetches of .{}", self.dst_ty)),
        }
    }

    /// What is added to a coordinate, of an operand: as many bits as an H200 takes.
    pub fn offset(&self, value: u32) -> i64 {
        let unused = 32 - if self.gather.is_some() { 6 } else { 4 };
        i64::from((value << unused) as i32 >> unused)
    }
}

impl SurfaceAccess {
    /// Refuses what the device does not do.
    pub fn check(&self) -> Result<(), String> {
        if self.coords.len() < dimensions(self.geometry)? {
            return Err("a surface access with too few coordinates".to_string());
        }
        Ok(())
    }
}

impl TextureDescriptor {
    /// Bytes of one texel.
    pub fn texel_bytes(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.channel_bits / 8)
    }

    fn dims(&self) -> usize {
        1 + usize::from(self.size[1] > 0) + usize::from(self.size[2] > 0)
    }

    /// Bytes that the object spans in memory.
    pub fn span_bytes(&self) -> u64 {
        let slices = u64::from(self.size[2].max(1)) * u64::from(self.layers.max(1));
        let rows = u64::from(self.size[1].max(1)) * slices;
        (rows - 1) * self.pitch_bytes + u64::from(self.size[0]) * self.texel_bytes()
    }

    /// The object of one layer; the number is clamped to those that there are.
    pub fn layer(&self, number: u32) -> TextureDescriptor {
        let number = number.min(self.layers.saturating_sub(1));
        let layer_bytes = u64::from(self.size[1].max(1)) * self.pitch_bytes;
        let address = self.address + u64::from(number) * layer_bytes;
        TextureDescriptor { address, layers: 0, ..self.clone() }
    }

    /// Address of a texel, which must be inside.
    fn texel_address(&self, at: [i64; 3]) -> u64 {
        let row = at[2] as u64 * u64::from(self.size[1].max(1)) + at[1] as u64;
        self.address + row * self.pitch_bytes + at[0] as u64 * self.texel_bytes()
    }

    /// The integer coordinate after the address mode; `None` for the border.
    fn resolve(&self, at: i64, dim: usize) -> Option<i64> {
        let size = i64::from(self.size[dim].max(1));
        if (0..size).contains(&at) {
            return Some(at);
        }
        match self.address_mode[dim] {
            AddressMode::Border => None,
            AddressMode::Wrap if self.normalized_coords => Some(at.rem_euclid(size)),
            AddressMode::Mirror if self.normalized_coords => {
                let folded = at.rem_euclid(2 * size);
                Some(if folded < size { folded } else { 2 * size - 1 - folded })
            }
            _ => Some(at.clamp(0, size - 1)),
        }
    }

    /// The raw bits of the channels of a texel; `None` for the border. `read` reads bytes of device memory.
    fn raw(&self, at: [i64; 3], read: &impl Fn(u64, u32) -> u32) -> Option<[u32; 4]> {
        let mut out = [0; 4];
        let mut place = [0; 3];
        for (dim, slot) in place.iter_mut().enumerate().take(self.dims()) {
            *slot = self.resolve(at[dim], dim)?;
        }
        let base = self.texel_address(place);
        for (channel, slot) in out.iter_mut().enumerate().take(self.channels as usize) {
            let bytes = self.channel_bits / 8;
            let bits = read(base + u64::from(bytes) * channel as u64, bytes);
            *slot = match (self.channel_kind, self.channel_bits) {
                (ChannelKind::Signed, 8) => bits as u8 as i8 as i32 as u32,
                (ChannelKind::Signed, 16) => bits as u16 as i16 as i32 as u32,
                _ => bits,
            };
        }
        Some(out)
    }

    /// A texel as a fetch returns it: numbers for float and normalised reads, else integers.
    fn texel(&self, at: [i64; 3], read: &impl Fn(u64, u32) -> u32) -> [u32; 4] {
        match self.raw(at, read) {
            Some(raw) if self.channel_kind == ChannelKind::Float || self.normalized_float => {
                let mut numbers = raw.map(|bits| self.number(bits));
                if self.srgb {
                    for (number, bits) in numbers.iter_mut().zip(raw).take(3) {
                        *number = half(srgb::brightness(bits));
                    }
                }
                numbers.map(f32::to_bits)
            }
            Some(raw) => raw,
            None => self.border_texel(),
        }
    }

    /// The border as a fetch returns it: like texels it has no more than the texture's channels, and no more of a number
    /// than a texel can hold.
    fn border_texel(&self) -> [u32; 4] {
        let is_half = (self.channel_kind, self.channel_bits) == (ChannelKind::Float, 16);
        let is_number = is_half || self.normalized_float && self.channel_bits <= 16;
        let raw = self.border_raw();
        std::array::from_fn(|channel| match channel < self.channels as usize {
            true if is_number => self.number(raw[channel]).to_bits(),
            true => self.border[channel],
            false => 0,
        })
    }

    /// The bits of a texel that would be the border. An H200 cuts a colour off four bits below what the texel can hold, and
    /// takes the nearest one then, of two the lower.
    fn border_raw(&self) -> [u32; 4] {
        self.border.map(|bits| {
            let bits_of_most = match (self.channel_kind, self.channel_bits) {
                (ChannelKind::Float, 16) => return cut_off_half(bits),
                (ChannelKind::Float, _) => return bits,
                (_, wide) if wide > 16 => return bits,
                (ChannelKind::Unsigned, all) => all,
                (ChannelKind::Signed, all) => all - 1,
            };
            let number = f64::from(f32::from_bits(bits));
            let (most, kept) = ((1u64 << bits_of_most) - 1, bits_of_most + 4);
            let steps = (number.abs().min(1.0) * (1u64 << kept) as f64) as u64;
            let size = ((2 * steps * most + (1 << kept) - 1) >> (kept + 1)) as u32;
            match (number < 0.0, self.channel_kind) {
                (true, ChannelKind::Unsigned) => 0,
                (true, _) => size.wrapping_neg(),
                (false, _) => size,
            }
        })
    }

    fn number(&self, bits: u32) -> f32 {
        match (self.channel_kind, self.channel_bits) {
            (ChannelKind::Float, 16) => half(bits),
            (ChannelKind::Float, _) => f32::from_bits(bits),
            (ChannelKind::Unsigned, n) => bits as f32 / (((1u64 << n) - 1) as f32),
            (ChannelKind::Signed, n) => {
                (bits as i32 as f32 / (((1u64 << (n - 1)) - 1) as f32)).max(-1.0)
            }
        }
    }

    /// `tex` with integer coordinates: no filtering, no address mode but zero outside.
    pub fn fetch(&self, at: [i64; 3], read: impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let inside = (0..self.dims()).all(|d| (0..i64::from(self.size[d])).contains(&at[d]));
        if !inside {
            return [0; 4];
        }
        self.texel(at, &read)
    }

    /// A texel in the surface's format, and zeros behind: integers are clamped, halves cut off, as by an H200.
    pub fn formatted(&self, values: [u32; 4]) -> [u8; 16] {
        let mut texel = [0; 16];
        let bytes = (self.channel_bits / 8) as usize;
        for (channel, value) in values.into_iter().enumerate().take(self.channels as usize) {
            let bits = match (self.channel_kind, self.channel_bits) {
                (_, 32..) => value,
                (ChannelKind::Float, _) => cut_off_half(value),
                (ChannelKind::Unsigned, bits) => value.min((1 << bits) - 1),
                (ChannelKind::Signed, bits) => {
                    let most = (1 << (bits - 1)) - 1;
                    (value as i32).clamp(-most - 1, most) as u32
                }
            };
            texel[channel * bytes..][..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
        }
        texel
    }

    /// Address of `bytes` of surface data at a byte coordinate in x; `None` outside.
    pub fn surface_address(&self, at: [i64; 3], bytes: u32, clamp: bool) -> Option<u64> {
        let row_bytes = i64::from(self.size[0]) * self.texel_bytes() as i64;
        let mut place = [0i64; 3];
        for dim in 0..self.dims() {
            let limit =
                if dim == 0 { row_bytes - i64::from(bytes) } else { i64::from(self.size[dim]) - 1 };
            let value = at[dim];
            place[dim] = if (0..=limit).contains(&value) {
                value
            } else if clamp && limit >= 0 {
                value.clamp(0, limit)
            } else {
                return None;
            };
        }
        let row = place[2] as u64 * u64::from(self.size[1].max(1)) + place[1] as u64;
        Some(self.address + row * self.pitch_bytes + place[0] as u64)
    }

    /// The answer to `txq` or `suq`.
    pub fn answer(&self, query: TexQuery) -> u32 {
        match query {
            TexQuery::Width => self.size[0],
            TexQuery::Height => self.size[1],
            TexQuery::Depth => self.size[2],
            TexQuery::NormalizedCoords => u32::from(self.normalized_coords),
            TexQuery::ForceUnnormalizedCoords => 0,
            TexQuery::FilterMode => u32::from(self.linear),
            TexQuery::AddrMode0 => self.address_mode[0] as u32,
            TexQuery::AddrMode1 => self.address_mode[1] as u32,
            TexQuery::AddrMode2 => self.address_mode[2] as u32,
            TexQuery::ArraySize => self.layers,
            TexQuery::NumMipmapLevels => {
                self.mipmap.as_ref().map_or(1, |mipmap| mipmap.levels.len() as u32)
            }
            TexQuery::NumSamples => 1,
            TexQuery::MemoryLayout => 0,
            TexQuery::ChannelOrder => match self.channels {
                1 => 0x10b0,
                2 => 0x10b2,
                _ => 0x10b5,
            },
            TexQuery::ChannelDataType => {
                let kind = match self.channel_kind {
                    ChannelKind::Signed => 0x10d7,
                    ChannelKind::Unsigned => 0x10da,
                    ChannelKind::Float => {
                        return if self.channel_bits == 16 { 0x10dd } else { 0x10de };
                    }
                };
                kind + (self.channel_bits / 16).min(2)
            }
        }
    }
}

/// The number that the bits of a half stand for.
fn half(bits: u32) -> f32 {
    let wide = soft::convert(soft::F16, soft::F32, soft::Mode::NearestEven, u64::from(bits));
    f32::from_bits(wide as u32)
}

/// A `.f32` as half, with the bits that do not fit cut off.
fn cut_off_half(value: u32) -> u32 {
    if f32::from_bits(value).is_nan() {
        return value >> 16 & 0x8000 | 0x7c00 | value >> 13 & 0x3ff;
    }
    soft::convert(soft::F32, soft::F16, soft::Mode::Zero, value.into()) as u32
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn ramp(linear: bool, normalized: bool) -> TextureDescriptor {
        TextureDescriptor {
            address: 0,
            size: [4, 2, 0],
            layers: 0,
            pitch_bytes: 16,
            channels: 1,
            channel_bits: 32,
            channel_kind: ChannelKind::Float,
            address_mode: [AddressMode::Clamp; 3],
            linear,
            normalized_coords: normalized,
            normalized_float: false,
            srgb: false,
            border: [0; 4],
            mipmap: None,
        }
    }

    pub fn read(address: u64, _: u32) -> u32 {
        ((address / 4) as f32).to_bits()
    }

    #[test]
    fn layers_lie_behind_each_other() {
        let layers = TextureDescriptor { layers: 3, ..ramp(false, false) };
        assert_eq!(layers.span_bytes(), 96);
        let at = |layer: u32, x: f32, y: f32| {
            f32::from_bits(layers.layer(layer).sample([x, y, 0.0], [0; 3], read)[0])
        };
        assert_eq!((at(0, 1.0, 0.0), at(2, 1.0, 0.0), at(2, 9.0, 9.0)), (1.0, 17.0, 23.0));
        assert_eq!(at(7, 1.0, 0.0), 17.0, "the last layer");
        assert_eq!(layers.answer(TexQuery::ArraySize), 3);
        assert_eq!(layers.layer(1).surface_address([12, 1, 0], 4, false), Some(60));
    }

    /// Three channels; the fourth, how far a texel covers, is no brightness.
    #[test]
    fn srgb_is_brightness() {
        let texture = TextureDescriptor {
            channels: 4,
            channel_bits: 8,
            channel_kind: ChannelKind::Unsigned,
            normalized_float: true,
            srgb: true,
            ..ramp(false, false)
        };
        let texel = texture.fetch([0; 3], |address, _| [0, 10, 188, 188][address as usize]);
        let texel = texel.map(|bits| (f32::from_bits(bits) * 1e4).round());
        assert_eq!(texel, [0.0, 31.0, 5039.0, 7373.0]);
    }

    #[test]
    fn directions_meet_faces() {
        let at = |direction| {
            let (face, [s, t, _]) = face_in(direction);
            (face, s, t)
        };
        assert_eq!(at([2.0, 1.0, -1.0]), (0, 0.75, 0.25));
        assert_eq!(at([-2.0, 1.0, -1.0]), (1, 0.25, 0.25));
        assert_eq!(at([1.0, 2.0, -1.0]), (2, 0.75, 0.25));
        assert_eq!(at([1.0, -2.0, -1.0]), (3, 0.75, 0.75));
        assert_eq!(at([1.0, -1.0, 2.0]), (4, 0.75, 0.75));
        assert_eq!(at([1.0, -1.0, -2.0]), (5, 0.25, 0.75));
        let of_equals = [[1.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 1.0], [-1.0, -1.0, -1.0]];
        assert_eq!(of_equals.map(|direction| face_in(direction).0), [2, 5, 4, 5]);
    }

    #[test]
    fn stores_by_format_are_an_h200s() {
        let format = |channels, bits, kind, values| {
            let (channel_bits, channel_kind) = (bits, kind);
            let surface =
                TextureDescriptor { channels, channel_bits, channel_kind, ..ramp(false, false) };
            let texel = surface.formatted(values);
            texel[..surface.texel_bytes() as usize].to_vec()
        };
        let numbers = [200, 0xffff_ffff, 0x8000_0000, 70000];
        assert_eq!(format(4, 8, ChannelKind::Unsigned, numbers), [200, 255, 255, 255]);
        assert_eq!(format(4, 8, ChannelKind::Signed, numbers), [127, 255, 128, 127]);
        assert_eq!(format(2, 16, ChannelKind::Signed, numbers), [200, 0, 255, 255]);
        assert_eq!(format(1, 32, ChannelKind::Unsigned, numbers), [200, 0, 0, 0]);
        let reals = [1e-7f32.to_bits(), 1e6f32.to_bits(), 0x7fc1_2345, (-2.75f32).to_bits()];
        let halves = [0x01, 0x00, 0xff, 0x7b, 0x09, 0x7e, 0x80, 0xc1];
        assert_eq!(format(4, 16, ChannelKind::Float, reals), halves);
    }

    #[test]
    fn surfaces_count_bytes() {
        let surface = ramp(false, false);
        assert_eq!(surface.surface_address([12, 1, 0], 4, false), Some(28));
        assert_eq!(surface.surface_address([16, 1, 0], 4, false), None);
        assert_eq!(surface.surface_address([16, 1, 0], 4, true), Some(28));
    }

    /// Colours of a border that an H200 makes of what is asked for, by the bits of a texel.
    #[test]
    fn borders_are_what_texels_can_hold() {
        use ChannelKind::{Float, Signed, Unsigned};
        let cases = [
            (Unsigned, 8, 0.5, 127.0 / 255.0),
            (Unsigned, 8, 0.1, 25.0 / 255.0),
            (Unsigned, 8, 0.2495, 64.0 / 255.0),
            (Unsigned, 8, -0.5, 0.0),
            (Unsigned, 8, 1.5, 1.0),
            (Signed, 8, 0.25, 32.0 / 127.0),
            (Signed, 8, -0.5, -63.0 / 127.0),
            (Unsigned, 16, 0.001, 65.0 / 65535.0),
            (Unsigned, 16, 0.25, 16384.0 / 65535.0),
            (Signed, 16, 0.00197, 64.0 / 32767.0),
            (Float, 16, 0.3, 307.0 / 1024.0),
            (Float, 32, -2.0, -2.0),
        ];
        for (channel_kind, channel_bits, asked, expected) in cases {
            let texture = TextureDescriptor {
                channel_kind,
                channel_bits,
                normalized_float: channel_kind != Float,
                address_mode: [AddressMode::Border; 3],
                border: [f32::to_bits(asked); 4],
                ..ramp(false, false)
            };
            let found = f32::from_bits(texture.sample([-3.0, -3.0, 0.0], [0; 3], read)[0]);
            assert_eq!(found, expected, "{channel_kind:?} {channel_bits} {asked}");
        }
    }
}
