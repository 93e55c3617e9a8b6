//! Loads, stores, copies, bit-fields, record values.

use cdp_ir::{Const, Expr, ExprKind, Field, Record, Type, TypeId};
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};

use super::body::{AlignedAddress, Body, Value, instruction_of};
use super::expr::low_bit;
use crate::error::{Result, bug};

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn record_of(&self, ty: TypeId) -> Result<&Record> {
        match self.unit.ir.types.get(ty) {
            Type::Record(record) => Ok(self.unit.ir.types.record(*record)),
            _ => Err(bug("lower", "a field of something that is no record")),
        }
    }

    /// A register value as it lies in memory: one bit becomes a byte.
    pub fn stored(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        match value {
            BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1 => {
                let byte = self.unit.context.i8_type();
                Ok(self.builder.build_int_z_extend(bit, byte, "")?.into())
            }
            other => Ok(other),
        }
    }

    /// A value from memory as a register value.
    pub fn storage_value(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        match (value, self.unit.ir.types.get(ty)) {
            (BasicValueEnum::IntValue(byte), Type::Bool) => {
                let zero = byte.get_type().const_zero();
                let not_zero = inkwell::IntPredicate::NE;
                Ok(self.builder.build_int_compare(not_zero, byte, zero, "")?.into())
            }
            _ => Ok(value),
        }
    }

    /// Reads an object. An aggregate is copied, since the original may change before the value is
    /// used; SROA drops the copy where it does not.
    pub fn load(
        &mut self,
        place: AlignedAddress<'ctx>,
        ty: TypeId,
        volatile: bool,
    ) -> Result<Value<'ctx>> {
        match self.unit.ir.types.get(ty) {
            Type::Void => return Ok(Value::Void),
            Type::Function { .. } => return Ok(Value::Scalar(place.address.into())),
            _ => {}
        }
        if self.unit.ir.types.is_aggregate(ty) {
            let copy = self.temporary(ty)?;
            self.copy_object(copy, place, ty, volatile)?;
            return Ok(Value::Memory(copy));
        }
        if let Some(held) = self.held.value(place.address, ty, &self.builder) {
            return Ok(Value::Scalar(held));
        }
        let storage = self.unit.storage_type(ty)?;
        let value = self.builder.build_load(storage, place.address, "")?;
        self.mark_access(value, place.align, volatile)?;
        let value = self.storage_value(value, ty)?;
        self.held.was_read(place.address, value, ty, &self.builder);
        Ok(Value::Scalar(value))
    }

    fn mark_access(&self, value: BasicValueEnum<'ctx>, align: u32, volatile: bool) -> Result<()> {
        let Some(instruction) = instruction_of(value) else { return Ok(()) };
        self.align_access(instruction, align)?;
        if volatile {
            instruction.set_volatile(true).map_err(|error| bug("lower", error.to_string()))?;
        }
        Ok(())
    }

    /// Writes an object.
    pub fn store(
        &mut self,
        place: AlignedAddress<'ctx>,
        value: Value<'ctx>,
        ty: TypeId,
        volatile: bool,
    ) -> Result<()> {
        match value {
            Value::Void => Ok(()),
            Value::Memory(source) => self.copy_object(place, source, ty, volatile),
            Value::Scalar(scalar) => {
                let stored = self.stored(scalar)?;
                let store = self.builder.build_store(place.address, stored)?;
                self.align_access(store, place.align)?;
                if volatile {
                    store.set_volatile(true).map_err(|error| bug("lower", error.to_string()))?;
                }
                self.held.was_written(place.address, scalar, ty, store, &self.builder);
                Ok(())
            }
        }
    }

    /// A store: the value is evaluated first, then the address. An aggregate that is read from
    /// memory is copied once both places are known.
    pub fn store_expr(&mut self, addr: &Expr, value: &Expr, volatile: bool) -> Result<Value<'ctx>> {
        let aggregate = self.unit.ir.types.is_aggregate(value.ty);
        if let (true, ExprKind::Load { addr: source, volatile: from }) = (aggregate, &value.kind) {
            let source = self.place_of(source)?;
            let place = self.place_of(addr)?;
            self.copy_object(place, source, value.ty, volatile || *from)?;
        } else {
            let result = self.value_of(value)?;
            let place = self.place_of(addr)?;
            self.store(place, result, value.ty, volatile)?;
        }
        Ok(Value::Void)
    }

    fn copy_object(
        &mut self,
        to: AlignedAddress<'ctx>,
        from: AlignedAddress<'ctx>,
        ty: TypeId,
        volatile: bool,
    ) -> Result<()> {
        if volatile {
            return self.copy_leaves(to, from, ty);
        }
        self.copy(to, from, self.unit.ir.types.layout(ty).size)
    }

    /// Copies bytes that do not overlap (or are the same).
    pub fn copy(
        &self,
        to: AlignedAddress<'ctx>,
        from: AlignedAddress<'ctx>,
        bytes: u64,
    ) -> Result<()> {
        let size = self.unit.size.const_int(bytes, false);
        self.builder.build_memcpy(to.address, to.align, from.address, from.align, size)?;
        Ok(())
    }

    /// Copies a volatile aggregate scalar by scalar, so that each access is an access.
    fn copy_leaves(
        &mut self,
        to: AlignedAddress<'ctx>,
        from: AlignedAddress<'ctx>,
        ty: TypeId,
    ) -> Result<()> {
        match self.unit.ir.types.get(ty).clone() {
            Type::Array { elem, len } => {
                let size = self.unit.ir.types.layout(elem).size;
                for index in 0..len {
                    let (to, from) =
                        (self.place_at(to, index * size)?, self.place_at(from, index * size)?);
                    self.copy_leaves(to, from, elem)?;
                }
                Ok(())
            }
            Type::Record(record) => {
                let record = self.unit.ir.types.record(record).clone();
                let plain = record.kind == cdp_ir::RecordKind::Struct
                    && record.fields.iter().all(|field| field.bits.is_none());
                if !plain {
                    return self.copy(to, from, record.layout.size);
                }
                for field in &record.fields {
                    let (to, from) =
                        (self.place_at(to, field.offset)?, self.place_at(from, field.offset)?);
                    self.copy_leaves(to, from, field.ty)?;
                }
                Ok(())
            }
            _ => {
                let value = self.load(from, ty, true)?;
                self.store(to, value, ty, true)
            }
        }
    }

    /// An aggregate constant: a private constant variable.
    pub fn aggregate_const(&mut self, value: &Const, ty: TypeId) -> Result<Value<'ctx>> {
        let layout = self.unit.ir.types.layout(ty);
        let place = self.temporary(ty)?;
        let size = self.unit.size.const_int(layout.size, false);
        if *value == Const::Zero {
            let zero = self.unit.context.i8_type().const_zero();
            self.builder.build_memset(place.address, place.align, zero, size)?;
            return Ok(Value::Memory(place));
        }
        let constant = self.unit.storage_const(value, ty)?;
        let space = self.unit.on_device().then(|| inkwell::AddressSpace::from(1u16));
        let global = self.unit.llvm.add_global(constant.get_type(), space, "__cdp_const");
        global.set_initializer(&constant);
        global.set_constant(true);
        global.set_linkage(inkwell::module::Linkage::Private);
        global.set_unnamed_address(inkwell::values::UnnamedAddress::Global);
        global.set_alignment(layout.align as u32);
        let mut address = global.as_pointer_value();
        if space.is_some() {
            address = address.const_address_space_cast(self.unit.ptr);
        }
        self.copy(place, AlignedAddress { address, align: layout.align as u32 }, layout.size)?;
        Ok(Value::Memory(place))
    }

    /// A record built field by field; the rest is zero.
    pub fn make_record(&mut self, fields: &[(u32, Expr)], ty: TypeId) -> Result<Value<'ctx>> {
        let place = self.temporary(ty)?;
        let record = self.record_of(ty)?.clone();
        if fields.len() < record.fields.len() || record.kind == cdp_ir::RecordKind::Union {
            let zero = self.unit.context.i8_type().const_zero();
            let size = self.unit.size.const_int(record.layout.size, false);
            self.builder.build_memset(place.address, place.align, zero, size)?;
        }
        for (index, expr) in fields {
            let field =
                record.fields.get(*index as usize).ok_or_else(|| bug("lower", "no such field"))?;
            let value = self.value_of(expr)?;
            let target = self.place_at(place, field.offset)?;
            self.store(target, value, field.ty, false)?;
        }
        Ok(Value::Memory(place))
    }

    /// A field of a record value.
    pub fn extract(&mut self, record: &Expr, field: u32, ty: TypeId) -> Result<Value<'ctx>> {
        // Reading one field of an object in memory needs no copy of the whole.
        let place = match &record.kind {
            ExprKind::Load { addr, volatile: false } => self.place_of(addr)?,
            _ => self.memory_of(record)?,
        };
        let fields = &self.record_of(record.ty)?.fields;
        let offset =
            fields.get(field as usize).ok_or_else(|| bug("lower", "no such field"))?.offset;
        let place = self.place_at(place, offset)?;
        self.load(place, ty, false)
    }

    /// The address of a variable; a managed one on the host is known to the runtime only.
    pub fn variable_address(&mut self, id: cdp_ir::GlobalId) -> Result<PointerValue<'ctx>> {
        let global = self.unit.ir.global(id);
        if !self.unit.on_device() && global.managed {
            return self.managed_address(id);
        }
        self.unit.global_address(id)
    }

    /// Reads a bit-field.
    pub fn load_bits(
        &mut self,
        base: AlignedAddress<'ctx>,
        record: TypeId,
        field: u32,
        volatile: bool,
    ) -> Result<Value<'ctx>> {
        let (unit, field) = self.bit_unit(base, record, field)?;
        let word = self.load_unit(&unit, volatile)?;
        Ok(Value::Scalar(self.decode_bits(word, &unit, &field)?))
    }

    /// Writes a bit-field and yields what a read would give.
    pub fn store_bits(
        &mut self,
        base: AlignedAddress<'ctx>,
        record: TypeId,
        field: u32,
        value: BasicValueEnum<'ctx>,
        volatile: bool,
    ) -> Result<Value<'ctx>> {
        let (unit, field) = self.bit_unit(base, record, field)?;
        let ty = unit.ty;
        let BasicValueEnum::IntValue(value) = value else {
            return Err(bug("lower", "a bit-field of something that is no integer"));
        };
        let wide = self.builder.build_int_cast_sign_flag(value, ty, false, "")?;
        let ones = (1u128 << unit.width) - 1;
        let mask = self.int_const(ty, ones);
        let shift = self.int_const(ty, u128::from(unit.shift));
        let bits = self.builder.build_and(wide, mask, "")?;
        let placed = self.builder.build_left_shift(bits, shift, "")?;
        let all = u128::MAX >> (128 - ty.get_bit_width());
        let keep = self.int_const(ty, !(ones << unit.shift) & all);
        let old = self.load_unit(&unit, volatile)?;
        let kept = self.builder.build_and(old, keep, "")?;
        let new = self.builder.build_or(kept, placed, "")?;
        let store = self.builder.build_store(unit.place.address, new)?;
        self.align_access(store, unit.place.align)?;
        if volatile {
            store.set_volatile(true).map_err(|error| bug("lower", error.to_string()))?;
        }
        Ok(Value::Scalar(self.decode_bits(placed, &unit, &field)?))
    }

    fn int_const(&self, ty: inkwell::types::IntType<'ctx>, value: u128) -> IntValue<'ctx> {
        use inkwell::types::AsTypeRef;
        crate::raw::const_int(ty.as_type_ref(), value as i128)
    }

    fn load_unit(&self, unit: &BitUnit<'ctx>, volatile: bool) -> Result<IntValue<'ctx>> {
        let word = self.builder.build_load(unit.ty, unit.place.address, "")?;
        self.mark_access(word, unit.place.align, volatile)?;
        Ok(word.into_int_value())
    }

    fn decode_bits(
        &self,
        word: IntValue<'ctx>,
        unit: &BitUnit<'ctx>,
        field: &Field,
    ) -> Result<BasicValueEnum<'ctx>> {
        let total = unit.ty.get_bit_width();
        let ir_type = self.unit.ir.types.get(field.ty);
        let signed = matches!(ir_type, Type::Int { signed: true, .. });
        let left = self.int_const(unit.ty, u128::from(total - unit.shift - unit.width));
        let right = self.int_const(unit.ty, u128::from(total - unit.width));
        let top = self.builder.build_left_shift(word, left, "")?;
        let value = self.builder.build_right_shift(top, right, signed, "")?;
        let target = match ir_type {
            Type::Int { bits, .. } => self.unit.int_type(u32::from(*bits)),
            Type::Bool => self.unit.context.bool_type(),
            _ => return Err(bug("lower", "a bit-field of something that is no integer")),
        };
        Ok(self.builder.build_int_cast_sign_flag(value, target, signed, "")?.into())
    }

    /// The memory to touch for a bit-field: its storage unit, or only the bytes that hold it when
    /// the unit also holds another member or reaches past the record (another thread may be writing
    /// those), or when a packed field reaches past its unit.
    fn bit_unit(
        &self,
        base: AlignedAddress<'ctx>,
        record: TypeId,
        field: u32,
    ) -> Result<(BitUnit<'ctx>, Field)> {
        let record = self.record_of(record)?;
        let field =
            record.fields.get(field as usize).ok_or_else(|| bug("lower", "no such field"))?.clone();
        let range = field.bits.ok_or_else(|| bug("lower", "no bit-field"))?;
        let types = &self.unit.ir.types;
        let size = types.layout(field.ty).size;
        let end = field.offset + size;
        let shared = record.fields.iter().any(|other| {
            let other_end = other.offset + types.layout(other.ty).size;
            other.bits.is_none() && other.offset < end && field.offset < other_end
        });
        let (offset, width) = (u64::from(range.offset), u32::from(range.width));
        let crosses = offset + u64::from(width) > size * 8;
        let (first, bytes) = if shared || crosses || end > record.layout.size {
            let first = offset / 8;
            (first, (offset + u64::from(width)).div_ceil(8) - first)
        } else {
            (0, size)
        };
        let ty = self.unit.int_type(bytes as u32 * 8);
        let mut place = self.place_at(base, field.offset + first)?;
        place.align = place.align.min(low_bit(bytes)).max(1);
        let shift = (offset - first * 8) as u32;
        Ok((BitUnit { place, ty, shift, width }, field))
    }
}

/// Where a bit-field lies: an integer in memory, and the field's bits in it.
struct BitUnit<'ctx> {
    place: AlignedAddress<'ctx>,
    ty: inkwell::types::IntType<'ctx>,
    shift: u32,
    width: u32,
}
