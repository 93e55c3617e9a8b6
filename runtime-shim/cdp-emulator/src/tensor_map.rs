//! Tensor maps: what `cuTensorMapEncodeTiled` makes, and where the elements of a box lie.
//!
//! A map is 128 bytes that only its maker reads, so those of the CPU device are its own. The copies are in
//! `exec/bulk_tensor.rs`. Not here, and refused when a map is made: interleaved layouts and maps of
//! convolutions; and what an H200 refuses as well: packed elements, swizzles of more than 16 bytes at a time.
//! Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors"; facts.md, "Run time".

use cdp_ptx::ScalarType;

/// Bytes of a map.
pub const MAP_BYTES: usize = 128;
/// Most dimensions.
const MOST_DIMS: usize = 5;
/// Tells a map from other bytes.
const MARK: u64 = u64::from_le_bytes(*b"cdp map\x01");
/// Bytes of the chunks that a swizzle moves. Rows and strides are multiples of it, and a box begins at one.
pub const CHUNK: u64 = 16;
/// Most bytes of a box: the shared memory of a multiprocessor.
const MOST_BOX_BYTES: u64 = 228 << 10;
/// Two bytes of the NaN that elements outside of the tensor are filled with, whatever their type.
const NAN: [u8; 2] = 0x7ff7_u16.to_le_bytes();
/// Elements by their number in `CUtensorMapDataType`.
const ELEMENTS: [ScalarType; 13] = [
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
    ScalarType::F32,
    ScalarType::F32,
    ScalarType::F32,
];
/// `CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ`
const FLOAT32_FTZ: u32 = 10;
/// `CU_TENSOR_MAP_DATA_TYPE_TFLOAT32`
const TFLOAT32: u32 = 11;
/// `CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ`
const TFLOAT32_FTZ: u32 = 12;

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
    /// What is outside of the tensor becomes NaN and not zero; of floating-point types only.
    pub fill_nan: bool,
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
        ensure((self.element as usize) < ELEMENTS.len() && self.swizzle <= 3)?;
        ensure(!self.fill_nan || self.element_type().is_float())?;
        ensure(self.row_bytes().is_multiple_of(CHUNK) && self.row_bytes() <= self.pitch())?;
        ensure(self.box_bytes() <= MOST_BOX_BYTES)
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
        let rank = self.size.len() as u8;
        bytes.extend([self.element as u8, self.swizzle as u8, rank, self.fill_nan.into()]);
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
        let fill_nan = take(1) != 0;
        if rank > MOST_DIMS {
            return None;
        }
        let (size, stride_bytes, reach, step) = Default::default();
        let mut tensor =
            TensorMap { element, address, size, stride_bytes, reach, step, swizzle, fill_nan };
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

    /// Bytes from row to row of the box in shared memory: a swizzled row has the room of its pattern.
    pub fn pitch(&self) -> u64 {
        if self.swizzle == 0 { self.row_bytes() } else { CHUNK << self.swizzle }
    }

    /// Rows of the box in a dimension other than the first.
    fn count(&self, dim: usize) -> u64 {
        u64::from(self.reach[dim].div_ceil(self.step[dim]))
    }

    fn row_count(&self) -> u64 {
        (1..self.size.len()).map(|dim| self.count(dim)).product()
    }

    /// Bytes of the box, with what is outside of the tensor: what an object is told of.
    pub fn box_bytes(&self) -> u64 {
        self.row_count() * self.row_bytes()
    }

    /// Bytes from the first to the last of the box in shared memory.
    pub fn shared_bytes(&self) -> u64 {
        (self.row_count() - 1) * self.pitch() + self.row_bytes()
    }

    /// Bytes from the tensor's begin to the box's in the first dimension. No box begins inside a chunk.
    pub fn begin_bytes(&self, first: i32) -> i64 {
        i64::from(first) * self.width() as i64
    }

    /// A row of the box that is outside of the tensor.
    pub fn outside(&self) -> Vec<u8> {
        let unit = if self.fill_nan { NAN } else { [0; 2] };
        unit.repeat(self.row_bytes() as usize / unit.len())
    }

    /// What becomes of elements on their way to shared memory: those of TF32 lose bits.
    pub fn narrow(&self, data: &mut [u8]) {
        if matches!(self.element, TFLOAT32 | TFLOAT32_FTZ) {
            for element in data.as_chunks_mut().0 {
                *element = nearest_tf32(u32::from_le_bytes(*element)).to_le_bytes();
            }
        }
    }

    /// Sums take subnormal values as zeros, and give none.
    pub fn flushes(&self) -> bool {
        matches!(self.element, FLOAT32_FTZ | TFLOAT32_FTZ)
    }

    /// The rows of the box that begins at an element, which may be outside of the tensor: a coordinate for each
    /// dimension.
    pub fn rows<'a>(&'a self, first: &'a [i32]) -> impl Iterator<Item = BoxRow> + 'a {
        let (pitch, width) = (self.pitch(), self.width());
        let (begin, size) = (i64::from(first[0]), self.size[0] as i64);
        let from = begin.clamp(0, size);
        let to = (begin + i64::from(self.reach[0])).clamp(0, size);
        (0..self.row_count()).map(move |number| {
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
            BoxRow { offset: number * pitch, address, skipped, bytes }
        })
    }

    /// Where a byte of shared memory is found by the pattern: bits of the address from 4 on change with as many
    /// from 7 on.
    pub fn swizzled(&self, address: u64) -> u64 {
        let mask = ((1 << self.swizzle) - 1) << 4;
        address ^ (address >> 3 & mask)
    }
}

/// A `float` with ten bits after its leading one: the nearest, of two the even one; subnormal values are kept.
fn nearest_tf32(bits: u32) -> u32 {
    const LOST: u32 = 13;
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    let half = (1 << (LOST - 1)) - 1 + (bits >> LOST & 1);
    // Past the largest is infinity, which has no bits to lose.
    (bits + half) & !((1 << LOST) - 1)
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
            fill_nan: false,
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
        assert_eq!(refused(|map| map.swizzle = 3), Ok(()));
        assert_eq!(refused(|map| map.swizzle = 4), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.element = 12), Ok(()));
        assert_eq!(refused(|map| map.element = 13), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| map.fill_nan = true), Err(MapRefusal::Invalid));
        assert_eq!(refused(|map| (map.element, map.fill_nan) = (7, true)), Ok(()));
        assert_eq!(refused(|map| (map.reach, map.step[1]) = (vec![256, 228], 1)), Ok(()));
        let large = refused(|map| (map.reach, map.step[1]) = (vec![256, 229], 1));
        assert_eq!(large, Err(MapRefusal::Invalid));
    }

    #[test]
    fn tf32_is_the_nearest() {
        for (from, to) in [
            (0x8042_6c40, 0x8042_6000),
            (0x3fa9_bfff, 0x3fa9_c000),
            (0xbf93_7000, 0xbf93_8000),
            (0x3fe3_1000, 0x3fe3_0000),
            (0x7f7f_f8b0, 0x7f80_0000),
            (0xff80_0000, 0xff80_0000),
            (0xffbc_e183, 0x7fff_e000),
            (0x8000_1b9f, 0x8000_2000),
        ] {
            assert_eq!(nearest_tf32(from), to, "{from:#x}");
        }
    }

    #[test]
    fn narrow_rows_have_the_room_of_their_pattern() {
        let map = TensorMap { swizzle: 3, ..matrix() };
        assert_eq!((map.box_bytes(), map.shared_bytes()), (96, 2 * 128 + 32));
        assert_eq!(map.rows(&[0, 0]).map(|row| row.offset).collect::<Vec<_>>(), [0, 128, 256]);
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
