//! Columns of pixels, which maps for convolutions have copied (im2col): channels of pixels, one after another.

use std::ops::{Range, RangeInclusive};

use super::{NoSuchMap, TensorMap};

/// The pixels of a column: those of a box in the dimensions between the channels and the pictures, one after
/// another from wherever the column begins, then those of the next picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The box's first pixel, by dimension, from the tensor's first.
    pub lower: Vec<i32>,
    /// The box's last pixel, by dimension, from the tensor's last.
    pub upper: Vec<i32>,
    /// Pixels of a column, 1 to 1024.
    pub pixels: u32,
}

impl TensorMap {
    /// What CUDA refuses of the columns.
    pub(super) fn check_columns(&self) -> Result<(), NoSuchMap> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let rank = self.size.len();
        let most = match rank {
            3 => i32::from(i16::MAX),
            4 => i32::from(i8::MAX),
            _ => 15,
        };
        let corners = || columns.lower.iter().chain(&columns.upper);
        let filled = || self.pixel_box().all(|(_, pixels)| !pixels.is_empty());
        let valid = rank >= 3
            && [columns.lower.len(), columns.upper.len()] == [rank - 2; 2]
            && corners().all(|corner| (-most - 1..=most).contains(corner))
            && (1..=1024).contains(&columns.pixels)
            && filled();
        valid.then_some(()).ok_or(NoSuchMap)
    }

    /// The dimensions of the pixels: those between channels and pictures, of an interleaved tensor those before both.
    pub(super) fn pixel_dims(&self) -> Range<usize> {
        let first = usize::from(self.interleave == 0);
        first..first + self.size.len() - 2
    }

    /// These dimensions, with the pixels that a column goes through before any offset.
    fn pixel_box(&self) -> impl Iterator<Item = (usize, RangeInclusive<i64>)> {
        let corners =
            self.columns.iter().flat_map(|columns| columns.lower.iter().zip(&columns.upper));
        self.pixel_dims().zip(corners).map(|(dim, (&lower, &upper))| {
            (dim, i64::from(lower)..=self.size[dim] as i64 - 1 + i64::from(upper))
        })
    }

    /// The dimension in which a column would begin outside of its box of pixels.
    pub fn begins_outside(&self, first: &[i32]) -> Option<usize> {
        let outside = |(dim, pixels): &(usize, RangeInclusive<i64>)| {
            !pixels.contains(&i64::from(first[*dim]))
        };
        self.pixel_box().find(outside).map(|(dim, _)| dim)
    }

    /// Whether the pixels' box is in the tensor, as it has to be for a store.
    pub fn box_is_inside(&self) -> bool {
        self.columns.as_ref().is_none_or(|columns| {
            columns.lower.iter().all(|&corner| corner >= 0)
                && columns.upper.iter().all(|&corner| corner <= 0)
        })
    }

    /// What of an offset of pixels counts.
    pub fn offset_mask(&self) -> u32 {
        match self.size.len() {
            3 => 0xffff,
            4 => 0xff,
            _ => 0x1f,
        }
    }

    /// Goes on to the pixel that follows one.
    pub(super) fn next_pixel(&self, place: &mut [i64]) {
        for (dim, pixels) in self.pixel_box() {
            place[dim] += i64::from(self.step[dim]);
            if place[dim] <= *pixels.end() {
                return;
            }
            place[dim] = *pixels.start();
        }
        let pictures = place.len() - 1;
        place[pictures] += i64::from(self.step[pictures]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::BoxRow;

    /// Four channels, 5 by 4 pixels, 3 pictures.
    fn pictures() -> TensorMap {
        TensorMap {
            size: vec![4, 5, 4, 3],
            stride_bytes: vec![16, 80, 320],
            reach: vec![4, 1, 1, 1],
            step: vec![1; 4],
            columns: Some(Columns { lower: vec![-1, 0], upper: vec![-1, -2], pixels: 12 }),
            swizzle: 0,
            fill_nan: false,
            element: 2,
            address: 0x1000,
            interleave: 0,
        }
    }

    #[test]
    fn columns_go_through_their_box_of_pixels() {
        let map = pictures();
        assert_eq!(TensorMap::decode(&map.encode().unwrap()), Some(map.clone()));
        let place = |row: &BoxRow| match row.bytes {
            0 => None,
            _ => Some((row.address - 0x1000) / 16),
        };
        let places = |first: &[i32], offsets: &[u32]| {
            map.rows(first, offsets).map(|row| place(&row)).collect::<Vec<_>>()
        };
        let from = |start: u64, count: u64| (start..start + count).map(Some);
        let rows: Vec<_> =
            [None].into_iter().chain(from(0, 4)).chain([None]).chain(from(5, 4)).collect();
        let next: Vec<_> = [None].into_iter().chain(from(20, 1)).collect();
        assert_eq!(places(&[0, -1, 0, 0], &[]), [rows, next].concat());
        assert_eq!(places(&[0, 3, 1, 2], &[1, 2])[..2], [Some(59), None]);
        assert_eq!(map.box_bytes(), 12 * 16);
        assert_eq!(map.begins_outside(&[0, -1, 1, 9]), None);
        assert_eq!(map.begins_outside(&[0, 4, 0, 0]), Some(1));
        assert_eq!(map.begins_outside(&[0, 0, 2, 0]), Some(2));
        assert!(!map.box_is_inside());
        let refused = |change: fn(&mut Columns)| {
            let mut map = pictures();
            change(map.columns.as_mut().unwrap());
            map.check()
        };
        assert_eq!(refused(|_| ()), Ok(()));
        assert_eq!(refused(|columns| columns.upper[0] = -5), Ok(()));
        assert_eq!(refused(|columns| columns.lower[1] = -129), Err(NoSuchMap));
        assert_eq!(refused(|columns| columns.pixels = 1025), Err(NoSuchMap));
        assert_eq!(refused(|columns| columns.upper[0] = -6), Err(NoSuchMap));
    }

    /// As an H200 reads them.
    #[test]
    fn columns_of_slices_begin_with_the_first_dimension() {
        let map = TensorMap {
            element: 1,
            size: vec![24, 8, 6, 2],
            stride_bytes: vec![128, 768, 2304],
            reach: vec![8, 1, 1, 1],
            interleave: 1,
            columns: Some(Columns { lower: vec![-1, -1], upper: vec![-1, -1], pixels: 30 }),
            ..pictures()
        };
        assert_eq!(map.check(), Ok(()));
        let rows: Vec<BoxRow> = map.rows(&[0, 0, 0, 0], &[1, 2]).collect();
        let word = |number: usize| (rows[number].address - 0x1000) / 2;
        assert_eq!([word(0), word(22), word(23), word(29)], [136, 312, 192, 240]);
        assert_eq!(map.begins_outside(&[23, 0, 0, 0]), Some(0));
    }
}
