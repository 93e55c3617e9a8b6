//! Texels that a floating coordinate stands for: the nearest one, or a mean of those around it.

use super::{AddressMode, ChannelKind, TextureDescriptor, half};
use crate::float::soft;

/// Into how many steps linear filtering divides the way from texel to texel.
const STEPS: i64 = 256;

/// Weights in [`STEPS`] of the corners, of which bit `d` says that it is the upper one in dimension `d`. An H200's are whole
/// steps: the way along z is shared first, each part along x, and each of these along y. The upper part is rounded, and a
/// half goes to the upper x, and to the y on the same side.
fn weights(dims: usize, fraction: [i64; 3]) -> [i64; 8] {
    let share = |whole: i64, steps: i64, up: bool| {
        (whole * steps + STEPS / 2 - i64::from(!up)).div_euclid(STEPS)
    };
    let mut weights = [0; 8];
    weights[0] = STEPS;
    if dims == 3 {
        weights[4] = fraction[2];
        weights[0] -= fraction[2];
    }
    for z in [0, 4] {
        let upper = share(weights[z], fraction[0], true);
        weights[z | 1] = upper;
        weights[z] -= upper;
        for x in [z, z | 1] {
            let upper = if dims == 1 { 0 } else { share(weights[x], fraction[1], x & 1 == 1) };
            weights[x | 2] = upper;
            weights[x] -= upper;
        }
    }
    weights
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
        let mut fraction = [0i64; 3];
        for dim in 0..dims {
            let shifted = scaled[dim] - 0.5;
            // The hardware keeps eight bits of the fraction.
            let steps = ((shifted - shifted.floor()) * STEPS as f32).round() as i64;
            base[dim] = texel(dim, shifted) + steps / STEPS;
            fraction[dim] = steps % STEPS;
        }
        let weights = weights(dims, fraction);
        let corners = (0..1usize << dims).map(|corner| {
            let at = std::array::from_fn(|dim| base[dim] + (corner >> dim & 1) as i64);
            (weights[corner], at, edge && at[1] != 0)
        });
        if let Some(most) = self.most_of_sixteen_bits() {
            return self.mean_of_integers(corners, most, &read);
        }
        let mut out = [0f64; 4];
        for (weight, at, is_beside) in corners {
            let texel = if is_beside { self.border_texel() } else { self.texel(at, &read) };
            for channel in 0..4 {
                let part = f64::from(f32::from_bits(texel[channel]));
                // What has no weight is not there, also if it is no number.
                if weight != 0 {
                    out[channel] += weight as f64 * part;
                }
            }
        }
        let mut mean = out.map(|sum| self.mean_of_numbers((sum / STEPS as f64) as f32).to_bits());
        if self.srgb {
            // How far a texel covers is no brightness.
            let covers = (out[3] / STEPS as f64 * 65535.0 + 0.5).floor() as f32;
            mean[3] = (covers / 65535.0).to_bits();
        }
        mean
    }

    /// A mean as the texture yields it: of halves, and of brightness that stands in bytes, it is a half.
    fn mean_of_numbers(&self, mean: f32) -> f32 {
        match self.channel_bits {
            8 | 16 => half(soft::convert(
                soft::F32,
                soft::F16,
                soft::Mode::NearestEven,
                mean.to_bits().into(),
            ) as u32),
            _ => mean,
        }
    }

    /// The mean of texels that are read as fractions: of integers of 16 bits, rounded to such a one.
    fn mean_of_integers(
        &self,
        corners: impl Iterator<Item = (i64, [i64; 3], bool)>,
        most: f32,
        read: &impl Fn(u64, u32) -> u32,
    ) -> [u32; 4] {
        let mut sums = [0i64; 4];
        // Of bytes with a sign the sum is made wide, not they.
        let is_narrow = (self.channel_kind, self.channel_bits) == (ChannelKind::Signed, 8);
        let whole = if is_narrow { STEPS * 127 } else { STEPS * most as i64 };
        for (weight, at, is_beside) in corners {
            let raw = if is_beside { None } else { self.raw(at, read) };
            let raw = raw.unwrap_or_else(|| self.border_raw());
            for (sum, bits) in sums.iter_mut().zip(raw) {
                *sum += weight * self.integer(bits);
            }
        }
        let mean = |sum: i64| (sum * most as i64 + whole / 2).div_euclid(whole) as f32 / most;
        sums.map(|sum| mean(sum).to_bits())
    }

    /// What stands for 1 among the integers that are mixed; `None` where numbers are mixed.
    fn most_of_sixteen_bits(&self) -> Option<f32> {
        match self.channel_kind {
            _ if !self.normalized_float || self.srgb || self.channel_bits > 16 => None,
            ChannelKind::Unsigned => Some(65535.0),
            ChannelKind::Signed => Some(32767.0),
            ChannelKind::Float => None,
        }
    }

    /// An integer of a texel for [`TextureDescriptor::mean_of_integers`]: of a byte without a sign the bits come twice.
    fn integer(&self, bits: u32) -> i64 {
        match (self.channel_kind, self.channel_bits) {
            (ChannelKind::Unsigned, 8) => i64::from(bits) * 257,
            (ChannelKind::Signed, 8) => i64::from((bits as i32).max(-127)),
            (ChannelKind::Signed, _) => i64::from((bits as i32).max(-32767)),
            _ => i64::from(bits),
        }
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

    /// Weights that an H200 gave, among them halves, which go to one side; and bytes, whose mean has 16 bits.
    #[test]
    fn weights_are_an_h200s() {
        let measured = [
            ([66, 122, 28], [99, 35, 91, 31, 0, 0, 0, 0], 2),
            ([66, 122, 28], [88, 31, 81, 28, 11, 4, 10, 3], 3),
            ([193, 228, 52], [5, 17, 45, 137, 1, 4, 12, 35], 3),
            ([47, 241, 214], [2, 0, 32, 8, 10, 2, 165, 37], 3),
            ([62, 128, 147], [42, 13, 41, 13, 56, 18, 55, 18], 3),
        ];
        for (fraction, expected, dims) in measured {
            assert_eq!(weights(dims, fraction), expected, "{fraction:?}");
        }
        let bytes = TextureDescriptor {
            size: [2, 2, 2],
            pitch_bytes: 2,
            channel_bits: 8,
            channel_kind: ChannelKind::Unsigned,
            normalized_float: true,
            ..ramp(true, false)
        };
        let texels = [238, 140, 3, 64, 229, 72, 101, 57];
        let at = |fraction: [f32; 3]| {
            let place = fraction.map(|steps| 0.5 + steps / 256.0);
            let found = bytes.sample(place, [0; 3], |at, _| texels[at as usize]);
            (f32::from_bits(found[0]) * 65535.0).round()
        };
        assert_eq!(at([66.0, 122.0, 28.0]), 31429.0);
        assert_eq!(at([73.0, 177.0, 18.0]), 20899.0);
        assert_eq!(at([4.0, 151.0, 155.0]), 33914.0);
        // What has no weight counts for nothing, also if it is no number.
        let last = |address: u64, _: u32| if address == 4 { f32::NAN.to_bits() } else { 0 };
        assert_eq!(ramp(true, false).sample([0.5, 0.5, 0.0], [0; 3], last)[0], 0);
    }
}
