//! Constants: scalars for expressions, and whole initialisers.
//!
//! An initialiser's LLVM type is made to fit its value (a union holding one member, bit-fields as
//! bytes), so it may differ from the storage type; its size never does.

use cdp_ir::{Const, FloatKind, Record, Type, TypeId};
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};

use super::Unit;
use crate::error::{Result, bug};
use crate::raw;

/// Arrays with at most this many trailing zero elements list them; longer tails are one piece.
const LISTED_ZEROS: u64 = 16;
/// The same for bytes, of which strings are made; optimisations know strings that are one piece.
const LISTED_ZERO_BYTES: u64 = 4096;

impl<'ctx> Unit<'_, 'ctx> {
    /// A scalar constant in a register.
    pub fn scalar_const(&self, value: &Const, ty: TypeId) -> Result<BasicValueEnum<'ctx>> {
        if let (Type::Bool, Const::Int(bits)) = (self.ir.types.get(ty), value) {
            return Ok(self.context.bool_type().const_int(u64::from(*bits & 1 != 0), false).into());
        }
        if let (Type::Bool, Const::Zero) = (self.ir.types.get(ty), value) {
            return Ok(self.context.bool_type().const_zero().into());
        }
        self.storage_const(value, ty)
    }

    /// A constant as it lies in memory.
    pub fn storage_const(&self, value: &Const, ty: TypeId) -> Result<BasicValueEnum<'ctx>> {
        let storage = self.storage_type(ty)?;
        match (value, self.ir.types.get(ty)) {
            (Const::Zero, _) => Ok(zero(storage)),
            (Const::Int(bits), Type::Bool) => {
                Ok(self.context.i8_type().const_int(u64::from(*bits & 1 != 0), false).into())
            }
            (Const::Int(bits), Type::Int { .. }) => {
                Ok(raw::const_int(type_ref(storage), *bits).into())
            }
            (Const::Int(bits), Type::Pointer(_)) => {
                if *bits == 0 {
                    return Ok(self.ptr.const_null().into());
                }
                let int = self.size.const_int(*bits as u64, false);
                Ok(int.const_to_pointer(self.ptr).into())
            }
            (Const::Float(bits), Type::Float(kind)) => Ok(self.float_const(*bits, *kind)),
            (Const::Bytes(bytes), Type::Array { len, .. }) => {
                let tail = len.saturating_sub(bytes.len() as u64);
                if tail > LISTED_ZERO_BYTES {
                    let zeros = zero(self.context.i8_type().array_type(tail as u32).into());
                    let text = self.context.const_string(bytes, false).into();
                    return Ok(self.context.const_struct(&[text, zeros], true).into());
                }
                let mut bytes = bytes.clone();
                bytes.resize(*len as usize, 0);
                Ok(self.context.const_string(&bytes, false).into())
            }
            (Const::Array(items), Type::Array { elem, len }) => {
                self.array_const(items, *elem, *len)
            }
            (Const::Record(items), Type::Record(record)) => {
                self.record_const(items, self.ir.types.record(*record))
            }
            (Const::GlobalAddr { global, offset }, kind) => {
                let address = self.offset_address(self.global_address(*global)?, *offset);
                Ok(self.address_const(address, kind, storage))
            }
            (Const::FunctionAddr(function), kind) => {
                let address = self.function(*function)?.as_global_value().as_pointer_value();
                Ok(self.address_const(address, kind, storage))
            }
            _ => Err(bug("lower", format!("{value:?} for a type it does not fit"))),
        }
    }

    fn address_const(
        &self,
        address: PointerValue<'ctx>,
        kind: &Type,
        storage: BasicTypeEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        match (kind, storage) {
            (Type::Int { .. }, BasicTypeEnum::IntType(int)) => address.const_to_int(int).into(),
            _ => address.into(),
        }
    }

    fn offset_address(&self, address: PointerValue<'ctx>, offset: i64) -> PointerValue<'ctx> {
        if offset == 0 {
            return address;
        }
        let index = self.size.const_int(offset as u64, true);
        // SAFETY: a constant address expression; the offset is the program's own.
        unsafe { address.const_gep(self.context.i8_type(), &[index]) }
    }

    fn float_const(&self, bits: u64, kind: FloatKind) -> BasicValueEnum<'ctx> {
        let (int, float) = match kind {
            FloatKind::F16 => (self.context.i16_type(), self.context.f16_type()),
            FloatKind::BF16 => (self.context.i16_type(), self.context.bf16_type()),
            FloatKind::F32 => (self.context.i32_type(), self.context.f32_type()),
            FloatKind::F64 => (self.context.i64_type(), self.context.f64_type()),
        };
        raw::const_bitcast(int.const_int(bits, false).into(), type_ref(float.into()))
    }

    fn array_const(&self, items: &[Const], elem: TypeId, len: u64) -> Result<BasicValueEnum<'ctx>> {
        let storage = self.storage_type(elem)?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.storage_const(item, elem)?);
        }
        let uniform = values.iter().all(|value| value.get_type() == storage);
        let tail = len.saturating_sub(items.len() as u64);
        if uniform && tail <= LISTED_ZEROS {
            values.resize(len as usize, zero(storage));
            return Ok(raw::const_array(type_ref(storage), &values));
        }
        let mut parts =
            if uniform { vec![raw::const_array(type_ref(storage), &values)] } else { values };
        if tail > 0 {
            parts.push(zero(storage.array_type(tail as u32).into()));
        }
        Ok(self.context.const_struct(&parts, true).into())
    }

    fn record_const(
        &self,
        items: &[(u32, Const)],
        record: &Record,
    ) -> Result<BasicValueEnum<'ctx>> {
        let mut parts = Parts { unit: self, values: Vec::new(), next: 0, bits: Vec::new() };
        for (index, item) in items {
            let field = record
                .fields
                .get(*index as usize)
                .ok_or_else(|| bug("lower", "a constant of a field that is not there"))?;
            match (&field.bits, item) {
                (None, item) => {
                    let value = self.storage_const(item, field.ty)?;
                    parts.place(field.offset, value, self.ir.types.layout(field.ty).size);
                }
                (Some(range), Const::Int(value)) => {
                    let first_bit = field.offset * 8 + u64::from(range.offset);
                    parts.set_bits(first_bit, u32::from(range.width), *value as u128);
                }
                (Some(_), _) => {}
            }
        }
        Ok(parts.finish(record.layout.size))
    }
}

/// A record's initialiser while it grows: values at ascending offsets, and bytes for bit-fields.
struct Parts<'p, 'u, 'ctx> {
    unit: &'p Unit<'u, 'ctx>,
    values: Vec<BasicValueEnum<'ctx>>,
    /// Where the next value may start, in bytes.
    next: u64,
    /// Bytes of bit-fields at and after `next`.
    bits: Vec<u8>,
}

impl<'ctx> Parts<'_, '_, 'ctx> {
    fn place(&mut self, offset: u64, value: BasicValueEnum<'ctx>, size: u64) {
        self.fill_to(offset);
        self.values.push(value);
        self.next = offset + size;
    }

    fn set_bits(&mut self, first_bit: u64, width: u32, value: u128) {
        for bit in 0..u64::from(width) {
            if value >> bit & 1 == 0 {
                continue;
            }
            let at = first_bit + bit;
            let Some(byte) = (at / 8).checked_sub(self.next) else { continue };
            let byte = byte as usize;
            if self.bits.len() <= byte {
                self.bits.resize(byte + 1, 0);
            }
            self.bits[byte] |= 1 << (at % 8);
        }
    }

    /// Emits bit-field bytes and padding up to an offset.
    fn fill_to(&mut self, offset: u64) {
        if offset <= self.next {
            return;
        }
        let mut bytes = std::mem::take(&mut self.bits);
        bytes.resize((offset - self.next) as usize, 0);
        if bytes.iter().all(|byte| *byte == 0) {
            self.values.push(zero(self.unit.bytes(bytes.len() as u64)));
        } else {
            self.values.push(self.unit.context.const_string(&bytes, false).into());
        }
        self.next = offset;
    }

    fn finish(mut self, size: u64) -> BasicValueEnum<'ctx> {
        self.fill_to(size);
        self.unit.context.const_struct(&self.values, true).into()
    }
}

fn zero(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    ty.const_zero().as_basic_value_enum()
}

fn type_ref(ty: BasicTypeEnum<'_>) -> inkwell::llvm_sys::prelude::LLVMTypeRef {
    use inkwell::types::AsTypeRef;
    ty.as_type_ref()
}
