//! Which aggregates travel in registers between host functions, and as what.
//!
//! System V ABI for x86-64, section 3.2.3. Host objects are linked with objects of other compilers
//! (the C library, nvcc's host code), so this must be right and not only consistent. Our types have
//! neither x87 nor vector members, which leaves the classes integer, SSE and memory.

use cdp_ir::{FloatKind, Type, TypeId, TypeTable};
use inkwell::types::BasicTypeEnum;

use super::Unit;

/// An aggregate of more bytes goes through memory.
const MOST_REGISTER_BYTES: u64 = 16;
/// Registers for integer and for floating-point arguments of one call.
const INTEGER_REGISTERS: u32 = 6;
const FLOAT_REGISTERS: u32 = 8;

/// What stands in one register: bytes of the aggregate from an offset on, as an LLVM type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'ctx> {
    pub offset_bytes: u64,
    pub ty: BasicTypeEnum<'ctx>,
}

/// An aggregate in at most two registers; a struct without members is in none.
pub(crate) type Parts<'ctx> = [Option<Part<'ctx>>; 2];

/// Registers that are still free for the arguments of a call.
pub(crate) struct Registers {
    integers: u32,
    floats: u32,
}

impl Registers {
    /// `hidden`: the address of the result takes one.
    pub fn new(hidden: bool) -> Registers {
        Registers { integers: INTEGER_REGISTERS - u32::from(hidden), floats: FLOAT_REGISTERS }
    }

    /// Counts a scalar.
    pub fn take_scalar(&mut self, ty: BasicTypeEnum<'_>) {
        let (integers, floats) = match ty {
            BasicTypeEnum::FloatType(_) => (0, 1),
            BasicTypeEnum::IntType(ty) if ty.get_bit_width() > 64 => (2, 0),
            _ => (1, 0),
        };
        self.integers = self.integers.saturating_sub(integers);
        self.floats = self.floats.saturating_sub(floats);
    }

    /// Takes registers for all parts, or none when one is missing: then the aggregate is passed in
    /// memory.
    pub fn take_all(&mut self, parts: &Parts<'_>) -> bool {
        let count = |float: bool| {
            let parts = parts.iter().flatten();
            parts.filter(|part| is_float(part.ty) == float).count() as u32
        };
        let (integers, floats) = (count(false), count(true));
        if integers > self.integers || floats > self.floats {
            return false;
        }
        self.integers -= integers;
        self.floats -= floats;
        true
    }
}

pub(super) fn is_float(ty: BasicTypeEnum<'_>) -> bool {
    matches!(ty, BasicTypeEnum::FloatType(_) | BasicTypeEnum::VectorType(_))
}

/// A scalar somewhere in an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leaf {
    offset: u64,
    size: u64,
    float: bool,
}

/// Collects the scalars of a type of at most [`MOST_REGISTER_BYTES`].
fn leaves(types: &TypeTable, id: TypeId, offset: u64, out: &mut Vec<Leaf>) {
    match types.get(id) {
        Type::Array { elem, len } => {
            let stride = types.layout(*elem).size;
            for index in 0..*len {
                leaves(types, *elem, offset + index * stride, out);
            }
        }
        Type::Record(record) => {
            for field in &types.record(*record).fields {
                match field.bits {
                    // The bytes that the bits touch; the unit itself may reach past the record.
                    Some(bits) if bits.width > 0 => {
                        let first = u64::from(bits.offset / 8);
                        let last = u64::from((bits.offset + bits.width - 1) / 8);
                        for byte in first..=last {
                            out.push(Leaf {
                                offset: offset + field.offset + byte,
                                size: 1,
                                float: false,
                            });
                        }
                    }
                    Some(_) => {}
                    None => leaves(types, field.ty, offset + field.offset, out),
                }
            }
        }
        scalar => {
            // The half types are structs of an integer in CUDA's headers for the host.
            let float = matches!(scalar, Type::Float(FloatKind::F32 | FloatKind::F64));
            out.push(Leaf { offset, size: types.layout(id).size, float });
        }
    }
}

/// Structs of CUDA's headers that have a copy constructor.
const COPIED_BY_CONSTRUCTOR: [&str; 2] = ["__half2", "__nv_bfloat162"];

/// Whether C++ passes a struct by the address of a copy, whatever its size: it or a member has a copy
/// constructor (Itanium C++ ABI, section 3.1.2.3).
pub(super) fn goes_by_address(types: &TypeTable, id: TypeId) -> bool {
    match types.get(id) {
        Type::Array { elem, .. } => goes_by_address(types, *elem),
        Type::Record(record) => {
            let record = types.record(*record);
            COPIED_BY_CONSTRUCTOR.contains(&record.name.as_str())
                || record.fields.iter().any(|field| goes_by_address(types, field.ty))
        }
        _ => false,
    }
}

impl<'ctx> Unit<'_, 'ctx> {
    /// The registers that an aggregate would travel in; `None` when it goes through memory.
    pub(super) fn register_parts(&self, id: TypeId) -> Option<Parts<'ctx>> {
        let types = &self.ir.types;
        let layout = types.layout(id);
        if layout.size > MOST_REGISTER_BYTES || goes_by_address(types, id) {
            return None;
        }
        let mut scalars = Vec::new();
        leaves(types, id, 0, &mut scalars);
        if scalars.iter().any(|leaf| !leaf.offset.is_multiple_of(leaf.size.max(1))) {
            return None;
        }
        let mut parts = [None; 2];
        for (index, part) in parts.iter_mut().enumerate() {
            let begin = index as u64 * 8;
            let inside = |leaf: &&Leaf| leaf.offset < begin + 8 && leaf.offset + leaf.size > begin;
            let here: Vec<_> = scalars.iter().filter(inside).copied().collect();
            if !here.is_empty() {
                let ty = self.part_type(&here, begin, (layout.size - begin).min(8));
                *part = Some(Part { offset_bytes: begin, ty });
            }
        }
        Some(parts)
    }

    fn part_type(&self, scalars: &[Leaf], begin: u64, bytes: u64) -> BasicTypeEnum<'ctx> {
        if scalars.iter().any(|leaf| !leaf.float) {
            return self.int_type(bytes as u32 * 8).into();
        }
        match scalars {
            [leaf] if leaf.size == 8 => self.context.f64_type().into(),
            [leaf] if leaf.offset == begin => self.context.f32_type().into(),
            _ => self.context.f32_type().vec_type(2).into(),
        }
    }
}
