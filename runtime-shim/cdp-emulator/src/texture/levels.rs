//! The levels of a mipmapped texture: which of them a fetch reads, and how two of them are mixed.
//!
//! The level of detail is a number: what a program says or what the gradients of its coordinates give, with the texture's bias
//! and between its limits. Without either it is 0. Filtering along the greater gradient (anisotropy) is left out.
//! Source: CUDA Programming Guide, appendix "Texture Fetching"; `cudaTextureDesc` in the runtime's reference.

use std::sync::Arc;

use super::{TextureDescriptor, on_face};

/// Into how many steps the way from level to level is divided.
const STEPS: f32 = 256.0;

/// One level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Device address of the first texel.
    pub address: u64,
    /// Texels in x, y, z; 0 for dimensions that do not exist.
    pub size: [u32; 3],
    /// Bytes from row to row.
    pub pitch_bytes: u64,
}

/// What a mipmapped texture has beside its first level.
#[derive(Clone, Debug, PartialEq)]
pub struct Mipmap {
    /// All levels, the first one, which is the object's own, among them.
    pub levels: Arc<[Level]>,
    /// A mean of two levels and not the nearest one.
    pub linear: bool,
    /// What is added to the level of detail.
    pub bias: f32,
    /// The least and the greatest level of detail.
    pub limits: [f32; 2],
}

/// How a fetch says which level it reads.
#[derive(Clone, Debug)]
pub enum TextureLod {
    /// The first one, unless the limits of the texture say otherwise.
    Base,
    /// Row of the level of detail, a number of the coordinates' type.
    Level(u32),
    /// Rows of what the coordinates change by from pixel to pixel, in x and in y.
    Gradient([Vec<u32>; 2]),
}

/// The levels that a fetch reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// The finer one.
    pub first: usize,
    /// Share of the next one; 0 if only the finer one is read.
    pub share: f32,
}

impl TextureDescriptor {
    /// A level as an object of its own.
    pub fn level(&self, number: usize) -> TextureDescriptor {
        let whole = TextureDescriptor { mipmap: None, ..self.clone() };
        match self.mipmap.as_ref().and_then(|mipmap| mipmap.levels.get(number)) {
            Some(&Level { address, size, pitch_bytes }) => {
                TextureDescriptor { address, size, pitch_bytes, ..whole }
            }
            None => whole,
        }
    }

    /// Address and bytes of each piece of memory that the object shows.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let levels = self.mipmap.as_ref().map_or(1, |mipmap| mipmap.levels.len());
        (0..levels).map(|number| match number {
            0 => (self.address, self.span_bytes()),
            _ => {
                let level = self.level(number);
                (level.address, level.span_bytes())
            }
        })
    }

    /// The levels for a level of detail.
    pub fn levels_at(&self, detail: f32) -> Levels {
        let Some(mipmap) = &self.mipmap else { return Levels { first: 0, share: 0.0 } };
        let last = (mipmap.levels.len() - 1) as f32;
        let [least, greatest] = mipmap.limits;
        // `max` and `min` give the limit for what is no number.
        let detail = (detail + mipmap.bias).max(least).min(greatest).max(0.0).min(last);
        if !mipmap.linear {
            return Levels { first: (detail + 0.5).floor().min(last) as usize, share: 0.0 };
        }
        let steps = (detail * STEPS).round();
        let first = (steps / STEPS).floor();
        Levels { first: first as usize, share: steps / STEPS - first }
    }

    /// The level of detail for gradients of coordinates, which run from 0 to 1: texels of the first level from pixel to pixel,
    /// as a power of two.
    pub fn detail_of(&self, gradients: [[f32; 3]; 2]) -> f32 {
        let texels = gradients.map(|gradient| {
            let squares = (0..3).map(|dim| (gradient[dim] * self.size[dim].max(1) as f32).powi(2));
            squares.take(self.dims()).sum::<f32>().sqrt()
        });
        texels[0].max(texels[1]).log2()
    }
}

/// What the coordinates on a face of a cube map change by where the direction changes by a gradient.
pub fn gradient_on_face(face: u32, direction: [f32; 3], gradient: [f32; 3]) -> [f32; 3] {
    let [s, t, m] = on_face(face, direction);
    let [ds, dt, dm] = on_face(face, gradient);
    let change = |value: f32, by: f32| (by * m - value * dm) / (2.0 * m * m);
    [change(s, ds), change(t, dt), 0.0]
}

/// Two fetches of numbers, mixed.
pub fn mixed(first: [u32; 4], next: [u32; 4], share: f32) -> [u32; 4] {
    let mix = |(a, b): (u32, u32)| {
        (f32::from_bits(a) * (1.0 - share) + f32::from_bits(b) * share).to_bits()
    };
    std::array::from_fn(|channel| mix((first[channel], next[channel])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::tests::ramp;

    fn mipmapped(linear: bool, bias: f32, limits: [f32; 2]) -> TextureDescriptor {
        let level = |address, width, height| {
            let size = [width, height, 0];
            Level { address, size, pitch_bytes: 16 }
        };
        let levels = [level(0, 4, 2), level(256, 2, 1), level(512, 1, 1)].into();
        let mipmap = Some(Mipmap { levels, linear, bias, limits });
        TextureDescriptor { mipmap, ..ramp(false, true) }
    }

    #[test]
    fn the_nearest_level_or_a_mean_of_two() {
        let at = |linear, bias, limits, detail: f32| {
            let Levels { first, share } = mipmapped(linear, bias, limits).levels_at(detail);
            (first, share)
        };
        assert_eq!(at(false, 0.0, [0.0, 9.0], 0.4), (0, 0.0));
        assert_eq!(at(false, 0.0, [0.0, 9.0], 0.5), (1, 0.0));
        assert_eq!(at(false, 0.0, [0.0, 9.0], 7.0), (2, 0.0));
        assert_eq!(at(true, 0.0, [0.0, 9.0], 1.25), (1, 0.25));
        assert_eq!(at(true, 0.5, [0.0, 9.0], 1.0), (1, 0.5));
        assert_eq!(at(true, 0.0, [0.75, 1.5], 0.0), (0, 0.75));
        assert_eq!(at(true, 0.0, [0.0, 1.5], 2.0), (1, 0.5));
        assert_eq!(at(true, 0.0, [0.0, 9.0], f32::NEG_INFINITY), (0, 0.0));
        assert_eq!(at(true, 0.0, [0.0, 9.0], f32::NAN), (0, 0.0));
    }

    #[test]
    fn gradients_count_texels() {
        let texture = mipmapped(true, 0.0, [0.0, 9.0]);
        assert_eq!(texture.detail_of([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]), 1.0);
        assert_eq!(texture.detail_of([[0.0; 3], [0.0; 3]]), f32::NEG_INFINITY);
        // On the face of +x: s is -z/x.
        assert_eq!(gradient_on_face(0, [2.0, 0.0, 0.0], [0.0, 0.0, -1.0]), [0.25, 0.0, 0.0]);
    }

    #[test]
    fn levels_have_their_own_memory() {
        let pieces: Vec<_> = mipmapped(false, 0.0, [0.0, 9.0]).pieces().collect();
        assert_eq!(pieces, [(0, 32), (256, 8), (512, 4)]);
        assert_eq!(ramp(false, false).pieces().collect::<Vec<_>>(), [(0, 32)]);
        let half = mixed([2f32.to_bits(); 4], [4f32.to_bits(); 4], 0.25);
        assert_eq!(half.map(f32::from_bits), [2.5; 4]);
    }
}
