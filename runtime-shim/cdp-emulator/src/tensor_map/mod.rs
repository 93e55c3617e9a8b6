//! Tensor maps: what `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` make, and where the elements of a box or
//! of a column of pixels lie.
//!
//! A map is 128 bytes that only its maker reads, so those of the CPU device are its own. The copies are in
//! `exec/bulk_tensor.rs`. An interleaved tensor consists of slices of 16 or 32 bytes of channels: on an H200 its
//! first dimension counts slices next to one another, its last but one says which slice of the channels they are,
//! and a box has one of those. Refused as by an H200: packed elements, swizzles of more than 16 bytes at a time.
//! Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors"; facts.md, "Run time".

mod columns;

use cdp_ptx::ScalarType;

pub use columns::Columns;

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
    /// `CUtensorMapInterleave`: 0, or 1 and 2 for slices of 16 and 32 bytes.
    pub interleave: u32,
    /// Columns of pixels are copied, not boxes; `reach` says their channels.
    pub columns: Option<Columns>,
}

/// CUDA has no such map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchMap;

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
    /// What CUDA refuses.
    pub fn check(&self) -> Result<(), NoSuchMap> {
        let rank = self.size.len();
        let ensure = |valid: bool| valid.then_some(()).ok_or(NoSuchMap);
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
        ensure((u64::from(self.reach[0]) * self.width()).is_multiple_of(CHUNK))?;
        ensure(self.row_bytes() <= self.pitch())?;
        self.check_slices().and_then(|()| self.check_columns())?;
        ensure(self.box_bytes() <= MOST_BOX_BYTES)
    }

    fn check_slices(&self) -> Result<(), NoSuchMap> {
        let Some(slice) = self.slice() else { return Ok(()) };
        let aligned =
            [self.address].iter().chain(&self.stride_bytes).all(|at| at.is_multiple_of(slice));
        let valid = self.interleave <= 2 && self.size.len() >= 3 && aligned;
        valid.then_some(()).ok_or(NoSuchMap)
    }

    /// Bytes of a slice of an interleaved tensor.
    fn slice(&self) -> Option<u64> {
        match self.interleave {
            0 => None,
            1 => Some(CHUNK),
            _ => Some(2 * CHUNK),
        }
    }

    /// The map as bytes.
    ///
    /// # Errors
    /// As [`TensorMap::check`].
    pub fn encode(&self) -> Result<[u8; MAP_BYTES], NoSuchMap> {
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
        bytes.push(self.interleave as u8);
        if let Some(columns) = &self.columns {
            bytes.extend((columns.pixels as u16).to_le_bytes());
            for corner in columns.lower.iter().chain(&columns.upper) {
                bytes.extend((*corner as i16).to_le_bytes());
            }
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
        let mut tensor = TensorMap {
            element,
            address,
            size: Vec::new(),
            stride_bytes: Vec::new(),
            reach: Vec::new(),
            step: Vec::new(),
            swizzle,
            fill_nan,
            interleave: 0,
            columns: None,
        };
        for dim in 0..rank {
            tensor.size.push(take(4) + 1);
            let stride = take(8);
            if dim + 1 < rank {
                tensor.stride_bytes.push(stride);
            }
            tensor.reach.push(take(1) as u32 + 1);
            tensor.step.push(take(1) as u32);
        }
        tensor.interleave = take(1) as u32;
        let pixels = take(2) as u32;
        if pixels > 0 {
            let mut corners = || (2..rank).map(|_| i32::from(take(2) as i16)).collect();
            let (lower, upper) = (corners(), corners());
            tensor.columns = Some(Columns { lower, upper, pixels });
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
        self.slice().unwrap_or(u64::from(self.reach[0]) * self.width())
    }

    /// Bytes from row to row of the box in shared memory: a swizzled row has the room of its pattern, but for slices.
    pub fn pitch(&self) -> u64 {
        let whole = self.swizzle == 0 || self.interleave != 0;
        if whole { self.row_bytes() } else { CHUNK << self.swizzle }
    }

    /// Rows of the box in a dimension.
    fn count(&self, dim: usize) -> u64 {
        let interleaved = self.interleave != 0;
        if !interleaved && dim == 0 || interleaved && dim + 2 == self.size.len() {
            return 1;
        }
        u64::from(self.reach[dim].div_ceil(self.step[dim]))
    }

    fn row_count(&self) -> u64 {
        match &self.columns {
            Some(columns) => columns.pixels.into(),
            None => (0..self.size.len()).map(|dim| self.count(dim)).product(),
        }
    }

    /// Bytes of the box, with what is outside of the tensor: what an object is told of.
    pub fn box_bytes(&self) -> u64 {
        self.row_count() * self.row_bytes()
    }

    /// Bytes from the first to the last of the box in shared memory.
    pub fn shared_bytes(&self) -> u64 {
        (self.row_count() - 1) * self.pitch() + self.row_bytes()
    }

    /// Bytes of what the first dimension counts.
    fn unit(&self) -> u64 {
        self.slice().unwrap_or(self.width())
    }

    /// Bytes from the tensor's begin to the box's in the first dimension. No box begins inside a chunk.
    pub fn begin_bytes(&self, first: i32) -> i64 {
        i64::from(first) * self.unit() as i64
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
    /// dimension. Of a column its pixels, to whose coordinates the offsets are added.
    pub fn rows<'a>(
        &'a self,
        first: &'a [i32],
        offsets: &'a [u32],
    ) -> Box<dyn Iterator<Item = BoxRow> + 'a> {
        let mut place: Vec<i64> = first.iter().map(|&at| at.into()).collect();
        if self.columns.is_none() {
            return Box::new((0..self.row_count()).map(move |number| {
                let mut rest = number;
                for (dim, &begin) in first.iter().enumerate() {
                    let index = rest % self.count(dim);
                    rest /= self.count(dim);
                    place[dim] = i64::from(begin) + index as i64 * i64::from(self.step[dim]);
                }
                self.row(number, &place)
            }));
        }
        Box::new((0..self.row_count()).map(move |number| {
            let mut moved = place.clone();
            for (at, offset) in moved[self.pixel_dims()].iter_mut().zip(offsets) {
                *at += i64::from(*offset);
            }
            self.next_pixel(&mut place);
            self.row(number, &moved)
        }))
    }

    /// A row that begins at a place.
    fn row(&self, number: u64, place: &[i64]) -> BoxRow {
        let (begin, size, unit) = (place[0], self.size[0] as i64, self.unit());
        let from = begin.clamp(0, size);
        let to = (begin + (self.row_bytes() / unit) as i64).clamp(0, size);
        let mut address = self.address.wrapping_add(from as u64 * unit);
        let mut inside = from < to;
        for (dim, &at) in place.iter().enumerate().skip(1) {
            inside &= (0..self.size[dim] as i64).contains(&at);
            address = address.wrapping_add((at as u64).wrapping_mul(self.stride_bytes[dim - 1]));
        }
        let bytes = if inside { (to - from) as u64 * unit } else { 0 };
        let skipped = if inside { (from - begin) as u64 * unit } else { 0 };
        BoxRow { offset: number * self.pitch(), address, skipped, bytes }
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
            interleave: 0,
            columns: None,
        }
    }

    fn slices() -> TensorMap {
        TensorMap {
            element: 1,
            size: vec![24, 8, 6, 2],
            stride_bytes: vec![128, 768, 2304],
            reach: vec![16, 3, 2, 2],
            step: vec![1; 4],
            interleave: 1,
            ..matrix()
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
        assert_eq!(TensorMap::decode(&slices().encode().unwrap()), Some(slices()));
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
        assert_eq!(refused(|map| map.size[1] = 0), Err(NoSuchMap));
        assert_eq!(refused(|map| map.address += 8), Err(NoSuchMap));
        assert_eq!(refused(|map| map.stride_bytes[0] = 120), Err(NoSuchMap));
        assert_eq!(refused(|map| map.reach[0] = 5), Err(NoSuchMap));
        assert_eq!(refused(|map| map.reach[1] = 257), Err(NoSuchMap));
        assert_eq!(refused(|map| map.step[1] = 9), Err(NoSuchMap));
        assert_eq!(refused(|map| (map.reach[0], map.swizzle) = (16, 1)), Err(NoSuchMap));
        assert_eq!(refused(|map| map.swizzle = 3), Ok(()));
        assert_eq!(refused(|map| map.swizzle = 4), Err(NoSuchMap));
        assert_eq!(refused(|map| map.element = 12), Ok(()));
        assert_eq!(refused(|map| map.element = 13), Err(NoSuchMap));
        assert_eq!(refused(|map| map.fill_nan = true), Err(NoSuchMap));
        assert_eq!(refused(|map| (map.element, map.fill_nan) = (7, true)), Ok(()));
        assert_eq!(refused(|map| (map.reach, map.step[1]) = (vec![256, 228], 1)), Ok(()));
        let large = refused(|map| (map.reach, map.step[1]) = (vec![256, 229], 1));
        assert_eq!(large, Err(NoSuchMap));
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
        assert_eq!(map.rows(&[0, 0], &[]).map(|row| row.offset).collect::<Vec<_>>(), [0, 128, 256]);
    }

    #[test]
    fn rows_are_cut_at_the_edges() {
        let map = matrix();
        assert_eq!(map.box_bytes(), 96);
        let rows: Vec<_> = map.rows(&[-3, 20], &[]).collect();
        let row = |offset, address, skipped, bytes| BoxRow { offset, address, skipped, bytes };
        assert_eq!(rows[0], row(0, 0x1000 + 20 * 128, 12, 20));
        assert_eq!(rows[1], row(32, 0x1000 + 22 * 128, 12, 20));
        assert_eq!((rows[2].offset, rows[2].bytes), (64, 0));
        assert!(map.rows(&[i32::MAX, i32::MIN], &[]).all(|row| row.bytes == 0));
        assert!(map.rows(&[28, 0], &[]).all(|row| row.bytes == 8));
    }

    /// As an H200 reads them.
    #[test]
    fn slices_count_in_the_first_dimension() {
        let rows: Vec<_> = slices().rows(&[1, 2, 3, 1], &[]).collect();
        assert_eq!(rows.len(), 16 * 3 * 2);
        let row = |number: usize| {
            (rows[number].offset, rows[number].address - 0x1000, rows[number].bytes)
        };
        assert_eq!(row(0), (0, 2 * 2440, 16));
        assert_eq!(row(16), (256, 2 * 2504, 16));
        assert_eq!(row(48).2, 0);
        let wide = |stride| TensorMap { interleave: 2, stride_bytes: vec![stride; 3], ..slices() };
        assert_eq!((wide(96).check(), wide(48).check()), (Ok(()), Err(NoSuchMap)));
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
