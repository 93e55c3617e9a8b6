//! Texels that a floating coordinate stands for: the nearest one, or a mean of those around it.

use super::{AddressMode, TextureDescriptor};

/// Into how many steps linear filtering divides the way from texel to texel.
const STEPS: f32 = 256.0;

/// Weight of a corner, of which bit `d` says that it is the upper one in dimension `d`; fractions in
/// [`STEPS`]. In two dimensions the weights are whole steps themselves, as an H200 has them.
fn weight(dims: usize, corner: usize, fraction: [f32; 3]) -> f32 {
    if dims == 2 {
        let [x, y, _] = fraction;
        let both = (x * y / STEPS).round();
        let steps = match corner {
            0 => STEPS - x - y + both,
            1 => x - both,
            2 => y - both,
            _ => both,
        };
        return steps / STEPS;
    }
    let share = |dim: usize| {
        let upper = fraction[dim] / STEPS;
        if corner >> dim & 1 == 1 { upper } else { 1.0 - upper }
    };
    (0..dims).map(share).product()
}

impl TextureDescriptor {
    fn scale(&self, coords: [f32; 3]) -> [f32; 3] {
        let mut out = coords;
        if self.normalized_coords {
            for dim in 0..3 {
                out[dim] = coords[dim] * self.size[dim].max(1) as f32;
            }
        }
        out
    }

    /// `tex` with floating coordinates, and texels that are added to them.
    pub fn sample(
        &self,
        coords: [f32; 3],
        offset: [i64; 3],
        read: impl Fn(u64, u32) -> u32,
    ) -> [u32; 4] {
        let scaled = self.scale(coords);
        let texel = |dim: usize, at: f32| at.floor() as i64 + offset[dim];
        if !self.linear {
            let at = std::array::from_fn(|dim| texel(dim, scaled[dim]));
            return self.texel(at, &read);
        }
        // A line with a border is the upper edge of a picture, of which the border takes half.
        let edge = self.dims() == 1 && self.address_mode[1] == AddressMode::Border;
        let dims = self.dims() + usize::from(edge);
        let mut base = [0i64; 3];
        let mut fraction = [0f32; 3];
        for dim in 0..dims {
            let shifted = scaled[dim] - 0.5;
            base[dim] = texel(dim, shifted);
            // The hardware keeps eight bits of the fraction.
            fraction[dim] = ((shifted - shifted.floor()) * STEPS).round();
        }
        let mut out = [0f32; 4];
        for corner in 0..1usize << dims {
            let at = std::array::from_fn(|dim| base[dim] + (corner >> dim & 1) as i64);
            let weight = weight(dims, corner, fraction);
            let is_beside = edge && at[1] != 0;
            let texel = if is_beside { self.border_texel() } else { self.texel(at, &read) };
            for channel in 0..4 {
                out[channel] += weight * f32::from_bits(texel[channel]);
            }
        }
        out.map(f32::to_bits)
    }

    /// `tld4`: one component of the four texels that linear filtering would use.
    pub fn gather(
        &self,
        coords: [f32; 3],
        offset: [i64; 3],
        component: u8,
        read: impl Fn(u64, u32) -> u32,
    ) -> [u32; 4] {
        let scaled = self.scale(coords);
        let x = (scaled[0] - 0.5).floor() as i64 + offset[0];
        let y = (scaled[1] - 0.5).floor() as i64 + offset[1];
        [(0, 1), (1, 1), (1, 0), (0, 0)]
            .map(|(dx, dy)| self.texel([x + dx, y + dy, 0], &read)[usize::from(component & 3)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::tests::{ramp, read};

    #[test]
    fn points_and_lines() {
        let at = |t: &TextureDescriptor, x: f32, y: f32| {
            f32::from_bits(t.sample([x, y, 0.0], [0; 3], read)[0])
        };
        assert_eq!(at(&ramp(false, false), 2.9, 0.0), 2.0);
        assert_eq!(at(&ramp(false, false), 9.0, 1.0), 7.0);
        assert_eq!(at(&ramp(true, false), 2.0, 0.5), 1.5);
        assert_eq!(at(&ramp(true, false), 2.0, 1.0), 3.5);
        assert_eq!(at(&ramp(false, true), 0.5, 0.75), 6.0);
        assert_eq!(f32::from_bits(ramp(false, false).fetch([3, 1, 0], read)[0]), 7.0);
        assert_eq!(ramp(false, false).fetch([4, 1, 0], read)[0], 0);
    }

    /// The colour is what the fetch returns, of as many channels as the texture has; filtering mixes it in.
    #[test]
    fn borders_have_a_colour() {
        let border = [10f32.to_bits(), 20f32.to_bits(), 0, 0];
        let address_mode = [AddressMode::Border; 3];
        let at = |t: &TextureDescriptor, x: f32, y: f32| {
            t.sample([x, y, 0.0], [0; 3], read).map(f32::from_bits)
        };
        let nearest = TextureDescriptor { border, address_mode, ..ramp(false, false) };
        assert_eq!(at(&nearest, -0.5, 0.0), [10.0, 0.0, 0.0, 0.0]);
        assert_eq!(at(&nearest, 3.5, 1.5)[0], 7.0);
        let linear = TextureDescriptor { linear: true, ..nearest };
        assert_eq!(
            at(&linear, 0.0, 0.5)[0],
            5.0,
            "half of the first texel, which is 0, half of the border"
        );
        assert_eq!(at(&linear, 4.0, 2.0)[0], 7.0 / 4.0 + 30.0 / 4.0);
        let gathered = linear.gather([0.0, 0.0, 0.0], [0; 3], 0, read).map(f32::from_bits);
        assert_eq!(gathered, [10.0, 0.0, 10.0, 10.0]);
    }

    /// What an H200 gave where the product of two fractions is no whole step.
    #[test]
    fn linear_filtering_is_an_h200s() {
        let texture = TextureDescriptor {
            size: [16, 8, 0],
            pitch_bytes: 64,
            address_mode: [AddressMode::Mirror, AddressMode::Wrap, AddressMode::Clamp],
            ..ramp(true, true)
        };
        let squares = |address: u64, _: u32| {
            let index = address / 4;
            ((index * index % 37) as f32).to_bits()
        };
        let found: Vec<String> = (0..8u8)
            .map(|i| {
                let i = f32::from(i);
                let at = [i.mul_add(0.21, -0.3), i * 0.13, 0.0];
                format!("{:.5}", f32::from_bits(texture.sample(at, [0; 3], squares)[0]))
            })
            .collect();
        let measured = "23.51172 16.73047 19.85156 16.96094 11.96875 21.01953 8.86328 11.42188";
        assert_eq!(found.join(" "), measured);
    }
}
