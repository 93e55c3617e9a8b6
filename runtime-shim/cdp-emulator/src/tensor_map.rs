//! Tensor maps: what `cuTensorMapEncodeTiled` makes, and where the elements of a box lie.
//!
//! A map is 128 bytes that only its maker reads, so those of the CPU device are its own. The copies are in
//! `exec/bulk_tensor.rs`. Not here, and refused when a map is made: interleaved layouts, maps of
//! convolutions, packed elements, types whose values change on the way, fills with NaN, atoms of more than
//! 16 bytes, and swizzled boxes that are narrower than their pattern.
//! Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors".

use cdp_ptx::ScalarType;

/// Bytes of a map.
pub const MAP_BYTES: usize = 128;
/// Most dimensions.
const MOST_DIMS: usize = 5;
/// Tells a map from other bytes.
const MARK: u64 = u64::from_le_bytes(*b"cdp map\x01");
/// Bytes of the chunks that a swizzle moves; rows and strides are of multiples of this.
const CHUNK: u64 = 16;
/// Elements by their number in `CUtensorMapDataType`.
const ELEMENTS: [ScalarType; 10] = [
    ScalarType::U8,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::S32,
    ScalarType::U64,
    ScalarType::S64,
    ScalarType::F16,
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::BF16,
];

/// A tensor in global memory, and a box of it. The dimension whose elements are next to one another is the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Number of the element's type in `CUtensorMapDataType`.
    pub element: u32,
    /// Of the first element; a multiple of 16.
    pub address: u64,
    /// Elements of the tensor, 1 to 2^32 in each of 1 to 5 dimensions.
    pub size: Vec<u64>,
    /// Bytes from element to element in all dimensions but the first: multiples of 16 below 2^40.
    pub stride_bytes: Vec<u64>,
    /// Elements that the box reaches over, 1 to 256 in each dimension.
    pub reach: Vec<u32>,
    /// Every how manyeth of these is copied, 1 to 8; of the first dimension all are.
    pub step: Vec<u32>,
    /// `CUtensorMapSwizzle`: 0, or 1 to 3 for chunks of 16 bytes within 32, 64 or 128.
    pub swizzle: u32,
}

/// Why there is no such map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapRefusal {
    /// CUDA has none.
    Invalid,
    /// The CPU device has none.
    Unsupported,
}

/// A row of a box: elements next to one another in the tensor and, but for the swizzle, in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxRow {
    /// Bytes from the box's begin in shared memory.
    pub offset: u64,
    /// Where the row begins in global memory, as far as it is in the tensor.
    pub address: u64,
    /// Bytes of the row before what is in the tensor.
    pub skipped: u64,
    /// Bytes of the row in the tensor.
    pub bytes: u64,
}

impl TensorMap {
    /// # Errors
    /// What CUDA refuses, and what the CPU device does not have.
    pub fn check(&self) -> Result<(), MapRefusal> {
        let rank = self.size.len();
        let ensure = |valid: bool| valid.then_some(()).ok_or(MapRefusal::Invalid);
        ensure((1..=MOST_DIMS).contains(&rank) && self.stride_bytes.len() == rank - 1)?;
        ensure(self.reach.len() == rank && self.step.len() == rank)?;
        ensure(self.address.is_multiple_of(CHUNK))?;
        ensure(self.size.iter().all(|&size| (1..=1 << 32).contains(&size)))?;
        let stride = |&bytes: &u64| bytes.is_multiple_of(CHUNK) && bytes < 1 << 40;
        ensure(self.stride_bytes.iter().all(stride))?;
        ensure(self.reach.iter().all(|reach| (1..=256).contains(reach)))?;
        ensure(self.step.iter().all(|step| (1..=8).contains(step)))?;
        ensure(self.element <= 15 && self.swizzle <= 6)?;
        if self.element as usize >= ELEMENTS.len() || self.swizzle > 3 {
            return Err(MapRefusal::Unsupported);
        }
        ensure(self.row_bytes().is_multiple_of(CHUNK))?;
        if self.swizzle != 0 {
            let span = CHUNK << self.swizzle;
            ensure(self.row_bytes() <= span)?;
            if self.row_bytes() < span {
                return Err(MapRefusal::Unsupported);
            }
        }
        Ok(())
    }

    /// The map as bytes.
    ///
    /// # Errors
    /// As [`TensorMap::check`].
    pub fn encode(&self) -> Result<[u8; MAP_BYTES], MapRefusal> {
        self.check()?;
        let mut bytes = Vec::with_capacity(MAP_BYTES);
        bytes.extend(MARK.to_le_bytes());
        bytes.extend(self.address.to_le_bytes());
        bytes.extend([self.element as u8, self.swizzle as u8, self.size.len() as u8, 0]);
        for dim in 0..self.size.len() {
            // 2^32 does not fit into four bytes, 0 is no size.
            bytes.extend(((self.size[dim] - 1) as u32).to_le_bytes());
            bytes.extend(self.stride_bytes.get(dim).unwrap_or(&0).to_le_bytes());
            bytes.extend([(self.reach[dim] - 1) as u8, self.step[dim] as u8]);
        }
        let mut map = [0; MAP_BYTES];
        map[..bytes.len()].copy_from_slice(&bytes);
        Ok(map)
    }

    /// What the bytes of a map say; `None` for those that are no map of the CPU device.
    pub fn decode(map: &[u8; MAP_BYTES]) -> Option<TensorMap> {
        let mut at = 0;
        let mut take = |count: usize| {
            let mut word = [0; 8];
            word[..count].copy_from_slice(&map[at..at + count]);
            at += count;
            u64::from_le_bytes(word)
        };
        if take(8) != MARK {
            return None;
        }
        let address = take(8);
        let (element, swizzle, rank) = (take(1) as u32, take(1) as u32, take(1) as usize);
        take(1);
        if rank > MOST_DIMS {
            return None;
        }
        let (size, stride_bytes, reach, step) = Default::default();
        let mut tensor = TensorMap { element, address, size, stride_bytes, reach, step, swizzle };
        for dim in 0..rank {
            tensor.size.push(take(4) + 1);
            let stride = take(8);
            if dim + 1 < rank {
                tensor.stride_bytes.push(stride);
            }
            tensor.reach.push(take(1) as u32 + 1);
            tensor.step.push(take(1) as u32);
        }
        tensor.check().ok().map(|()| tensor)
    }

    /// The type of an element of a map that was checked.
    pub fn element_type(&self) -> ScalarType {
        ELEMENTS[self.element as usize]
    }

    fn width(&self) -> u64 {
        u64::from(self.element_type().bytes())
    }

    /// Bytes of a row of the box.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.reach[0]) * self.width()
    }

    /// Rows of the box in a dimension other than the first.
    fn count(&self, dim: usize) -> u64 {
        u64::from(self.reach[dim].div_ceil(self.step[dim]))
    }

    /// Bytes of the box in shared memory, with what is outside of the tensor.
    pub fn box_bytes(&self) -> u64 {
        (1..self.size.len()).map(|dim| self.count(dim)).product::<u64>() * self.row_bytes()
    }

    /// The rows of the box that begins at an element, which may be outside of the tensor: a coordinate for each
    /// dimension.
    pub fn rows<'a>(&'a self, first: &'a [i32]) -> impl Iterator<Item = BoxRow> + 'a {
        let (row_bytes, width) = (self.row_bytes(), self.width());
        let (begin, size) = (i64::from(first[0]), self.size[0] as i64);
        let from = begin.clamp(0, size);
        let to = (begin + i64::from(self.reach[0])).clamp(0, size);
        (0..self.box_bytes() / row_bytes).map(move |number| {
            let mut rest = number;
            let mut address = self.address.wrapping_add(from as u64 * width);
            let mut inside = from < to;
            for (dim, &begin) in first.iter().enumerate().skip(1) {
                let index = rest % self.count(dim);
                rest /= self.count(dim);
                let place = i64::from(begin) + index as i64 * i64::from(self.step[dim]);
                inside &= (0..self.size[dim] as i64).contains(&place);
                let offset = (place as u64).wrapping_mul(self.stride_bytes[dim - 1]);
                address = address.wrapping_add(offset);
            }
            let bytes = if inside { (to - from) as u64 * width } else { 0 };
            let skipped = if inside { (from - begin) as u64 * width } else { 0 };
            BoxRow { offset: number * row_bytes, address, skipped, bytes }
        })
    }

    /// Where a byte of shared memory is found by the pattern: bits of the address from 4 on change with as many
    /// from 7 on.
    pub fn swizzled(&self, address: u64) -> u64 {
        let mask = ((1 << self.swizzle) - 1) << 4;
        address ^ (address >> 3 & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> TensorMap {
        TensorMap {
            element: 2,
            address: 0x1000,
            size: vec![30, 24],
            stride_bytes: vec![128],
            reach: vec![8, 6],
            step: vec![1, 2],
            swizzle: 0,
        }
    }

    #[test]
    fn bytes_say_what_the_map_says() {
        let map = matrix();
        assert_eq!(TensorMap::decode(&map.encode().unwrap()), Some(map.clone()));
        let five = TensorMap {
            size: vec![1 << 32, 1, 2, 3, 4],
            stride_bytes: vec![(1 << 40) - 16, 0, 16, 32],
            reach: vec![256, 1, 1, 256, 2],
            step: vec![1, 8, 1, 2, 3],
            ..map
        };
        assert_eq!(TensorMap::decode(&five.encode().unwrap()), Some(five));
    }

    #[test]
    fn other_bytes_are_no_map() {
        let good = matrix().encode().unwrap();
        assert_eq!(TensorMap::decode(&[0; MAP_BYTES]), None);
        // A rank, a step, and a type that do not exist.
        for (at, value) in [(18, 6), (18, 0), (33, 0), (16, 99), (17, 5), (0, 1)] {
            let mut bytes = good;
            bytes[at] = value;
            assert_eq!(TensorMap::decode(&bytes), None, "byte {at}");
        }
    }

    #[test]
    fn what_cuda_refuses_is_invalid() {
        let refused = |change: fn(&mut TensorMap)| {
            let mut map = matrix();
            change(&mut map);
            map.check()
        };
        assert_eq!(refused(|_| ()), Ok(()));
        assert_eq!(refused(|map| map.size[1] = 0), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.address += 8), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.stride_bytes[0] = 120), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.reach[0] = 5), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.reach[1] = 257), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.step[1] = 9), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| (map.reach[0], map.swizzle) = (16, 1)), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.swizzle = 3), Err(MapRefusal::Unsupported));
        assert_eq!(refused(|map| map.element = 11), Err(MapRefusal::Unsupported));
        assert_eq!(refused(|map| map.element = 16), Err(MapRefusal::Invalid));
    }

    #[test]
    fn rows_are_cut_at_the_edges() {
        let map = matrix();
        assert_eq!(map.box_bytes(), 96);
        let rows: Vec<_> = map.rows(&[-3, 20]).collect();
        let row = |offset, address, skipped, bytes| BoxRow { offset, address, skipped, bytes };
        assert_eq!(rows[0], row(0, 0x1000 + 20 * 128, 12, 20));
        assert_eq!(rows[1], row(32, 0x1000 + 22 * 128, 12, 20));
        assert_eq!((rows[2].offset, rows[2].bytes), (64, 0));
        assert!(map.rows(&[i32::MAX, i32::MIN]).all(|row| row.bytes == 0));
        assert!(map.rows(&[28, 0]).all(|row| row.bytes == 8));
    }

    #[test]
    fn a_pattern_moves_chunks_by_the_row() {
        let map = |swizzle| TensorMap { swizzle, ..matrix() };
        assert_eq!(map(0).swizzled(0x3ff), 0x3ff);
        assert_eq!(map(1).swizzled(0x080), 0x090);
        assert_eq!(map(1).swizzled(0x100), 0x100);
        assert_eq!(map(2).swizzled(0x185), 0x1b5);
        assert_eq!(map(3).swizzled(0x380), 0x3f0);
        assert_eq!(map(3).swizzled(map(3).swizzled(0x7a3)), 0x7a3);
    }
}
