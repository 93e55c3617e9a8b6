//! LLVM types for storage. A value in a register has the same type but for `Bool`, which is one bit
//! there and a byte in memory. Aggregates are never in registers here: they are moved by address.

use cdp_ir::types::round_up;
use cdp_ir::{FloatKind, Record, RecordKind, Type, TypeId};
use inkwell::types::{BasicTypeEnum, IntType};

use super::Unit;
use crate::error::{Result, bug};
use crate::raw;

/// How a record's layout is said in LLVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordForm {
    /// A struct whose natural layout, with explicit padding here and there, is the IR's.
    Plain,
    /// A packed struct with all padding explicit.
    Packed,
    /// Integers without structure: unions and bit-fields.
    Chunks,
}

impl<'ctx> Unit<'_, 'ctx> {
    /// The type of an object in memory; its allocation size is the IR's size exactly. Its LLVM
    /// alignment may be lower than the IR's, so accesses always state theirs.
    pub fn storage_type(&self, id: TypeId) -> Result<BasicTypeEnum<'ctx>> {
        if let Some(ty) = self.types.borrow().get(&id) {
            return Ok(*ty);
        }
        let ty = self.make_storage_type(id)?;
        self.types.borrow_mut().insert(id, ty);
        Ok(ty)
    }

    fn make_storage_type(&self, id: TypeId) -> Result<BasicTypeEnum<'ctx>> {
        Ok(match self.ir.types.get(id) {
            Type::Void | Type::Function { .. } => {
                return Err(bug("lower", "an object of void or function type"));
            }
            Type::Bool => self.context.i8_type().into(),
            Type::Int { bits, .. } => self.int_type(u32::from(*bits)).into(),
            Type::Float(kind) => match kind {
                FloatKind::F16 => self.context.f16_type().into(),
                FloatKind::BF16 => self.context.bf16_type().into(),
                FloatKind::F32 => self.context.f32_type().into(),
                FloatKind::F64 => self.context.f64_type().into(),
            },
            Type::Pointer(_) => self.ptr.into(),
            Type::Array { elem, len } => raw::array_type(self.storage_type(*elem)?, *len).into(),
            Type::Record(record) => self.record_type(self.ir.types.record(*record))?,
        })
    }

    /// The type of a scalar in a register.
    pub fn register_type(&self, id: TypeId) -> Result<BasicTypeEnum<'ctx>> {
        match self.ir.types.get(id) {
            Type::Bool => Ok(self.context.bool_type().into()),
            _ => self.storage_type(id),
        }
    }

    pub fn int_type(&self, bits: u32) -> IntType<'ctx> {
        match bits {
            1 => self.context.bool_type(),
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            32 => self.context.i32_type(),
            64 => self.context.i64_type(),
            128 => self.context.i128_type(),
            bits => {
                let bits = std::num::NonZeroU32::new(bits).unwrap_or(std::num::NonZeroU32::MIN);
                // Widths up to 2^23 exist; ours stay below 128.
                self.context.custom_width_int_type(bits).unwrap_or_else(|_| self.context.i64_type())
            }
        }
    }

    fn record_type(&self, record: &Record) -> Result<BasicTypeEnum<'ctx>> {
        let shape = self.record_shape(record);
        if shape == RecordForm::Chunks {
            return Ok(self.chunks(record.layout.size, record.layout.align).into());
        }
        let packed = shape == RecordForm::Packed;
        let mut fields = Vec::new();
        let mut next = 0;
        for field in &record.fields {
            let align = if packed { 1 } else { self.llvm_align(field.ty) };
            if field.offset > round_up(next, align) {
                fields.push(self.bytes(field.offset - next));
            }
            fields.push(self.storage_type(field.ty)?);
            next = field.offset + self.ir.types.layout(field.ty).size;
        }
        let align = if packed { 1 } else { self.struct_align(record) };
        if round_up(next, align) != record.layout.size {
            fields.push(self.bytes(record.layout.size - next));
        }
        Ok(self.context.struct_type(&fields, packed).into())
    }

    /// Which LLVM type can say a record's layout.
    fn record_shape(&self, record: &Record) -> RecordForm {
        if record.kind == RecordKind::Union || record.fields.iter().any(|f| f.bits.is_some()) {
            return RecordForm::Chunks;
        }
        let mut next = 0;
        let mut packed = !record.layout.size.is_multiple_of(self.struct_align(record));
        for field in &record.fields {
            if field.offset < next {
                // Members share bytes: no struct type says that.
                return RecordForm::Chunks;
            }
            packed |= !field.offset.is_multiple_of(self.llvm_align(field.ty));
            next = field.offset + self.ir.types.layout(field.ty).size;
        }
        if packed { RecordForm::Packed } else { RecordForm::Plain }
    }

    fn struct_align(&self, record: &Record) -> u64 {
        record.fields.iter().map(|field| self.llvm_align(field.ty)).max().unwrap_or(1)
    }

    /// The alignment that LLVM gives the storage type of `id` inside a struct.
    fn llvm_align(&self, id: TypeId) -> u64 {
        match self.ir.types.get(id) {
            Type::Array { elem, .. } => self.llvm_align(*elem),
            Type::Record(record) => {
                let record = self.ir.types.record(*record);
                match self.record_shape(record) {
                    RecordForm::Chunks => record.layout.align.min(8),
                    RecordForm::Packed => 1,
                    RecordForm::Plain => self.struct_align(record),
                }
            }
            _ => self.ir.types.layout(id).align,
        }
    }

    /// `bytes` bytes.
    pub fn bytes(&self, bytes: u64) -> BasicTypeEnum<'ctx> {
        self.context.i8_type().array_type(bytes as u32).into()
    }

    /// Storage without structure: integers as wide as the alignment allows.
    fn chunks(&self, size: u64, align: u64) -> inkwell::types::ArrayType<'ctx> {
        let chunk = align.min(8);
        self.int_type(chunk as u32 * 8).array_type((size / chunk) as u32)
    }
}
