//! Expressions: values, addresses, conditions.

use cdp_ir::{CastKind, CompareOp, Expr, ExprKind, Type, TypeId, UnaryOp, UpdateYield};
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};
use inkwell::{FloatPredicate, IntPredicate};

use super::body::{AlignedAddress, Body, Value};
use crate::error::{Result, bug};

impl<'ctx> Body<'_, '_, 'ctx> {
    /// Evaluates for effects only.
    pub fn effect(&mut self, expr: &Expr) -> Result<()> {
        match &expr.kind {
            // Reading an aggregate and dropping it needs no copy, unless it is volatile.
            ExprKind::Load { addr, volatile: false } => self.effect(addr),
            _ => self.value_of(expr).map(|_| ()),
        }
    }

    pub fn value_of(&mut self, expr: &Expr) -> Result<Value<'ctx>> {
        let outer = self.loc;
        self.set_loc(expr.loc);
        let value = self.value_here(expr)?;
        self.set_loc(outer);
        Ok(value)
    }

    fn value_here(&mut self, expr: &Expr) -> Result<Value<'ctx>> {
        match &expr.kind {
            ExprKind::Const(value) if self.unit.ir.types.is_aggregate(expr.ty) => {
                self.aggregate_const(value, expr.ty)
            }
            ExprKind::Const(_) if matches!(self.unit.ir.types.get(expr.ty), Type::Void) => {
                Ok(Value::Void)
            }
            ExprKind::Const(value) => Ok(Value::Scalar(self.unit.scalar_const(value, expr.ty)?)),
            ExprKind::LocalAddr(id) => self.address(self.local(*id)?.address),
            ExprKind::GlobalAddr(id) => {
                let address = self.variable_address(*id)?;
                self.address(address)
            }
            ExprKind::FunctionAddr(id) => {
                let function = self.unit.function(*id)?;
                self.address(function.as_global_value().as_pointer_value())
            }
            ExprKind::FieldAddr { .. } | ExprKind::IndexAddr { .. } => {
                let place = self.place_of(expr)?;
                self.address(place.address)
            }
            ExprKind::Load { addr, volatile } => {
                let place = self.place_of(addr)?;
                self.load(place, expr.ty, *volatile)
            }
            ExprKind::Store { addr, value, volatile } => self.store_expr(addr, value, *volatile),
            ExprKind::LoadBits { base, field, volatile } => {
                let place = self.place_of(base)?;
                self.load_bits(place, self.pointee(base)?, *field, *volatile)
            }
            ExprKind::StoreBits { base, field, value, volatile } => {
                let value = self.scalar_of(value)?;
                let place = self.place_of(base)?;
                self.store_bits(place, self.pointee(base)?, *field, value, *volatile)
            }
            ExprKind::PointerDiff { lhs, rhs } => self.pointer_diff(lhs, rhs),
            ExprKind::Extract { record, field } => self.extract(record, *field, expr.ty),
            ExprKind::MakeRecord(fields) => self.make_record(fields, expr.ty),
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, lhs, rhs } => {
                let left = self.scalar_of(lhs)?;
                let right = self.scalar_of(rhs)?;
                let value = self.binary(*op, left, right, lhs.ty, rhs.ty)?;
                Ok(Value::Scalar(value))
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let left = self.scalar_of(lhs)?;
                let right = self.scalar_of(rhs)?;
                Ok(Value::Scalar(self.compare(*op, left, right, lhs.ty)?.into()))
            }
            ExprKind::Logical { and, lhs, rhs } => self.logical(*and, lhs, rhs),
            ExprKind::Select { cond, then, otherwise } => {
                self.select(cond, then, otherwise, expr.ty)
            }
            ExprKind::Cast { kind, operand } => self.cast_expr(*kind, operand, expr.ty),
            ExprKind::Sequence { effects, value } => {
                effects.iter().try_for_each(|effect| self.effect(effect))?;
                self.value_of(value)
            }
            ExprKind::Update { .. } => self.update(expr),
            ExprKind::Call { callee, args } => self.call(callee, args, expr.ty),
            ExprKind::Intrinsic { op, args } => self.intrinsic(*op, args, expr.ty),
            ExprKind::RuntimeCall { func, args } => self.runtime_call(*func, args, expr.ty),
            ExprKind::Printf { args } => self.printf(args, expr.ty),
            ExprKind::Launch(launch) => self.launch(launch),
            ExprKind::Asm(asm) => self.asm(asm),
        }
    }

    fn address(&self, address: PointerValue<'ctx>) -> Result<Value<'ctx>> {
        Ok(Value::Scalar(address.into()))
    }

    pub fn scalar_of(&mut self, expr: &Expr) -> Result<BasicValueEnum<'ctx>> {
        match self.value_of(expr)? {
            Value::Scalar(value) => Ok(value),
            _ => Err(bug("lower", format!("a scalar was wanted of {:?}", short(expr)))),
        }
    }

    pub fn int_of(&mut self, expr: &Expr) -> Result<IntValue<'ctx>> {
        match self.scalar_of(expr)? {
            BasicValueEnum::IntValue(value) => Ok(value),
            _ => Err(bug("lower", format!("an integer was wanted of {:?}", short(expr)))),
        }
    }

    pub fn pointer_of(&mut self, expr: &Expr) -> Result<PointerValue<'ctx>> {
        match self.scalar_of(expr)? {
            BasicValueEnum::PointerValue(value) => Ok(value),
            _ => Err(bug("lower", format!("a pointer was wanted of {:?}", short(expr)))),
        }
    }

    pub fn memory_of(&mut self, expr: &Expr) -> Result<AlignedAddress<'ctx>> {
        match self.value_of(expr)? {
            Value::Memory(place) => Ok(place),
            _ => Err(bug("lower", format!("an aggregate was wanted of {:?}", short(expr)))),
        }
    }

    pub fn condition(&mut self, expr: &Expr) -> Result<IntValue<'ctx>> {
        self.int_of(expr)
    }

    pub fn pointee(&self, expr: &Expr) -> Result<TypeId> {
        let pointee = self.unit.ir.types.pointee(expr.ty);
        pointee.ok_or_else(|| bug("lower", "an address that is no pointer"))
    }

    /// An address with the best alignment that the expression tells.
    pub fn place_of(&mut self, expr: &Expr) -> Result<AlignedAddress<'ctx>> {
        Ok(AlignedAddress { address: self.address_of(expr)?, align: self.alignment_of(expr)? })
    }

    fn address_of(&mut self, expr: &Expr) -> Result<PointerValue<'ctx>> {
        match &expr.kind {
            ExprKind::LocalAddr(id) => Ok(self.local(*id)?.address),
            ExprKind::GlobalAddr(id) => self.variable_address(*id),
            ExprKind::FieldAddr { base, field } => {
                let address = self.address_of(base)?;
                self.byte_at(address, self.field_offset(base, *field)?)
            }
            ExprKind::IndexAddr { base, index } => {
                let address = self.address_of(base)?;
                let size = self.unit.ir.types.layout(self.pointee(base)?).size;
                let index = self.int_of(index)?;
                let elem = self.unit.bytes(size);
                // SAFETY: the index is the program's own.
                Ok(unsafe { self.builder.build_in_bounds_gep(elem, address, &[index], "")? })
            }
            ExprKind::Cast { kind: CastKind::PointerToPointer, operand }
                if self.is_decay(operand, expr) =>
            {
                self.address_of(operand)
            }
            _ => self.pointer_of(expr),
        }
    }

    /// The best alignment that an expression tells of the address that it is, in bytes.
    ///
    /// A pointer from anywhere has its pointee's alignment; one that was derived from an object has
    /// what the object and the offset give, which is less in packed records.
    fn alignment_of(&self, expr: &Expr) -> Result<u32> {
        Ok(match &expr.kind {
            ExprKind::LocalAddr(id) => self.local(*id)?.align,
            ExprKind::GlobalAddr(id) => self.unit.ir.global(*id).align as u32,
            ExprKind::FieldAddr { base, field } => {
                self.alignment_of(base)?.min(low_bit(self.field_offset(base, *field)?))
            }
            ExprKind::IndexAddr { base, .. } => {
                let size = self.unit.ir.types.layout(self.pointee(base)?).size;
                self.alignment_of(base)?.min(low_bit(size))
            }
            ExprKind::Cast { kind: CastKind::PointerToPointer, operand }
                if self.is_decay(operand, expr) =>
            {
                self.alignment_of(operand)?
            }
            ExprKind::Select { then, otherwise, .. } => {
                self.alignment_of(then)?.min(self.alignment_of(otherwise)?)
            }
            ExprKind::Sequence { value, .. } => self.alignment_of(value)?,
            _ => match self.unit.ir.types.pointee(expr.ty) {
                Some(pointee) => self.unit.ir.types.layout(pointee).align.max(1) as u32,
                None => 1,
            },
        })
    }

    fn field_offset(&self, base: &Expr, field: u32) -> Result<u64> {
        let record = self.record_of(self.pointee(base)?)?;
        let field = record.fields.get(field as usize);
        Ok(field.ok_or_else(|| bug("lower", "no such field"))?.offset)
    }

    /// Whether a cast turns the address of an array into that of its first element.
    fn is_decay(&self, operand: &Expr, cast: &Expr) -> bool {
        let types = &self.unit.ir.types;
        match (types.pointee(operand.ty), types.pointee(cast.ty)) {
            (Some(from), Some(to)) => {
                matches!(types.get(from), Type::Array { elem, .. } if *elem == to)
            }
            _ => false,
        }
    }

    /// A place at a constant byte offset.
    pub fn place_at(
        &self,
        place: AlignedAddress<'ctx>,
        offset: u64,
    ) -> Result<AlignedAddress<'ctx>> {
        let address = self.byte_at(place.address, offset)?;
        Ok(AlignedAddress { address, align: place.align.min(low_bit(offset)) })
    }

    /// The address at a constant byte offset.
    fn byte_at(&self, address: PointerValue<'ctx>, offset: u64) -> Result<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(address);
        }
        let byte = self.unit.context.i8_type();
        let index = self.unit.size.const_int(offset, false);
        // SAFETY: the offset lies within the object.
        Ok(unsafe { self.builder.build_in_bounds_gep(byte, address, &[index], "")? })
    }

    fn pointer_diff(&mut self, lhs: &Expr, rhs: &Expr) -> Result<Value<'ctx>> {
        let size = self.unit.ir.types.layout(self.pointee(lhs)?).size.max(1);
        let left = self.pointer_of(lhs)?;
        let right = self.pointer_of(rhs)?;
        let int = self.unit.size;
        let left = self.builder.build_ptr_to_int(left, int, "")?;
        let right = self.builder.build_ptr_to_int(right, int, "")?;
        let bytes = self.builder.build_int_sub(left, right, "")?;
        let size = int.const_int(size, false);
        Ok(Value::Scalar(self.builder.build_int_exact_signed_div(bytes, size, "")?.into()))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Result<Value<'ctx>> {
        let value = self.scalar_of(operand)?;
        let signed = matches!(self.unit.ir.types.get(operand.ty), Type::Int { signed: true, .. });
        Ok(Value::Scalar(match (op, value) {
            (UnaryOp::Neg, BasicValueEnum::FloatValue(value)) => {
                self.builder.build_float_neg(value, "")?.into()
            }
            (UnaryOp::Neg, BasicValueEnum::IntValue(value)) if signed => {
                let zero = value.get_type().const_zero();
                self.builder.build_int_nsw_sub(zero, value, "")?.into()
            }
            (UnaryOp::Neg, BasicValueEnum::IntValue(value)) => {
                self.builder.build_int_neg(value, "")?.into()
            }
            (UnaryOp::BitNot | UnaryOp::Not, BasicValueEnum::IntValue(value)) => {
                self.builder.build_not(value, "")?.into()
            }
            _ => return Err(bug("lower", "an operation on a type it does not have")),
        }))
    }

    pub fn compare(
        &self,
        op: CompareOp,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
        ty: TypeId,
    ) -> Result<IntValue<'ctx>> {
        let signed = matches!(self.unit.ir.types.get(ty), Type::Int { signed: true, .. });
        match (left, right) {
            (BasicValueEnum::FloatValue(left), BasicValueEnum::FloatValue(right)) => {
                if let Some(result) = self.compare_bfloat(op, left, right)? {
                    return Ok(result);
                }
                let predicate = match op {
                    CompareOp::Eq => FloatPredicate::OEQ,
                    CompareOp::Ne => FloatPredicate::UNE,
                    CompareOp::Lt => FloatPredicate::OLT,
                    CompareOp::Le => FloatPredicate::OLE,
                    CompareOp::Gt => FloatPredicate::OGT,
                    CompareOp::Ge => FloatPredicate::OGE,
                };
                Ok(self.builder.build_float_compare(predicate, left, right, "")?)
            }
            (BasicValueEnum::IntValue(left), BasicValueEnum::IntValue(right)) => {
                Ok(self.builder.build_int_compare(int_predicate(op, signed), left, right, "")?)
            }
            (BasicValueEnum::PointerValue(left), BasicValueEnum::PointerValue(right)) => {
                Ok(self.builder.build_int_compare(int_predicate(op, false), left, right, "")?)
            }
            _ => Err(bug("lower", "a comparison of two kinds")),
        }
    }

    fn logical(&mut self, and: bool, lhs: &Expr, rhs: &Expr) -> Result<Value<'ctx>> {
        let left = self.condition(lhs)?;
        let more = self.new_block("more");
        let join = self.new_block("join");
        let (yes, no) = if and { (more, join) } else { (join, more) };
        let from = self.current()?;
        self.builder.build_conditional_branch(left, yes, no)?;
        self.start(more);
        let right = self.condition(rhs)?;
        let last = self.current()?;
        self.branch(join)?;
        self.start(join);
        let bool_type = self.unit.context.bool_type();
        let short = bool_type.const_int(u64::from(!and), false);
        let phi = self.builder.build_phi(bool_type, "")?;
        phi.add_incoming(&[(&short, from), (&right, last)]);
        Ok(Value::Scalar(phi.as_basic_value()))
    }

    pub fn current(&self) -> Result<inkwell::basic_block::BasicBlock<'ctx>> {
        self.builder.get_insert_block().ok_or_else(|| bug("lower", "no current block"))
    }

    fn select(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let cond = self.condition(cond)?;
        let yes = self.new_block("then");
        let no = self.new_block("else");
        let join = self.new_block("join");
        let aggregate = self.unit.ir.types.is_aggregate(ty);
        let target = if aggregate { Some(self.temporary(ty)?) } else { None };
        self.builder.build_conditional_branch(cond, yes, no)?;
        let mut results = Vec::new();
        for (block, expr) in [(yes, then), (no, otherwise)] {
            self.start(block);
            match (self.value_of(expr)?, target) {
                (Value::Memory(place), Some(target)) => {
                    self.copy(target, place, self.unit.ir.types.layout(ty).size)?;
                }
                (Value::Scalar(value), _) => results.push((value, self.current()?)),
                _ => {}
            }
            self.branch(join)?;
        }
        self.start(join);
        match (target, results.as_slice()) {
            (Some(target), _) => Ok(Value::Memory(target)),
            (None, [(first, from), (second, other)]) => {
                let phi = self.builder.build_phi(first.get_type(), "")?;
                phi.add_incoming(&[(first, *from), (second, *other)]);
                Ok(Value::Scalar(phi.as_basic_value()))
            }
            _ => Ok(Value::Void),
        }
    }

    /// `*addr = (T)((U)*addr op rhs)`: right side, address, read, write.
    fn update(&mut self, expr: &Expr) -> Result<Value<'ctx>> {
        let ExprKind::Update { addr, op, rhs, compute, yields, volatile } = &expr.kind else {
            return Err(bug("lower", "an update was wanted"));
        };
        let right = self.scalar_of(rhs)?;
        let place = self.place_of(addr)?;
        let Value::Scalar(before) = self.load(place, expr.ty, *volatile)? else {
            return Err(bug("lower", "an update of an aggregate"));
        };
        let after = if let BasicValueEnum::PointerValue(pointer) = before {
            let size = self.unit.ir.types.layout(self.pointee(expr)?).size;
            let mut index = right.into_int_value();
            if *op == cdp_ir::BinaryOp::Sub {
                index = self.builder.build_int_neg(index, "")?;
            }
            let elem = self.unit.bytes(size);
            // SAFETY: the index is the program's own.
            unsafe { self.builder.build_in_bounds_gep(elem, pointer, &[index], "")?.into() }
        } else {
            let left = self.convert(before, expr.ty, *compute)?;
            let result = self.binary(*op, left, right, *compute, rhs.ty)?;
            self.convert(result, *compute, expr.ty)?
        };
        self.store(place, Value::Scalar(after), expr.ty, *volatile)?;
        Ok(Value::Scalar(match yields {
            UpdateYield::Before => before,
            UpdateYield::After => after,
        }))
    }
}

fn int_predicate(op: CompareOp, signed: bool) -> IntPredicate {
    match (op, signed) {
        (CompareOp::Eq, _) => IntPredicate::EQ,
        (CompareOp::Ne, _) => IntPredicate::NE,
        (CompareOp::Lt, true) => IntPredicate::SLT,
        (CompareOp::Lt, false) => IntPredicate::ULT,
        (CompareOp::Le, true) => IntPredicate::SLE,
        (CompareOp::Le, false) => IntPredicate::ULE,
        (CompareOp::Gt, true) => IntPredicate::SGT,
        (CompareOp::Gt, false) => IntPredicate::UGT,
        (CompareOp::Ge, true) => IntPredicate::SGE,
        (CompareOp::Ge, false) => IntPredicate::UGE,
    }
}

/// The largest power of two that divides `value`, up to 2^16; that for 0.
pub(super) fn low_bit(value: u64) -> u32 {
    1 << value.trailing_zeros().min(16)
}

/// The head of an expression's listing, for messages about bugs.
fn short(expr: &Expr) -> String {
    format!("{:?}", expr.kind).chars().take(80).collect()
}
