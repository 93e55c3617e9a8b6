//! Warp primitives: shuffles, votes, matches, reductions.

use cdp_ir::{BinaryOp, Expr, Intrinsic, ShuffleMode, TypeId, VoteMode};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, IntValue};

use super::arg;
use crate::error::{Result, bug};
use crate::lower::body::{Body, Value};

impl<'ctx> Body<'_, '_, 'ctx> {
    /// Shuffles move 32-bit registers: smaller values are widened, 64-bit ones go in two halves.
    pub(super) fn shuffle(&mut self, mode: ShuffleMode, args: &[Expr]) -> Result<Value<'ctx>> {
        let mask = self.int_of(arg(args, 0)?)?;
        let value = self.scalar_of(arg(args, 1)?)?;
        let lane = self.int_of(arg(args, 2)?)?;
        let width = self.int_of(arg(args, 3)?)?;
        let word = self.unit.context.i32_type();
        let number = |n| word.const_int(n, false);
        let b = &self.builder;
        // PTX's c operand: the segment mask above the clamp (PTX ISA, shfl.sync).
        let segment = b.build_int_sub(number(32), width, "")?;
        let segment = b.build_left_shift(segment, number(8), "")?;
        let clamp = if mode == ShuffleMode::Up { 0 } else { 31 };
        let control = b.build_or(segment, number(clamp), "")?;
        let name = match mode {
            ShuffleMode::Index => "llvm.nvvm.shfl.sync.idx.i32",
            ShuffleMode::Up => "llvm.nvvm.shfl.sync.up.i32",
            ShuffleMode::Down => "llvm.nvvm.shfl.sync.down.i32",
            ShuffleMode::Xor => "llvm.nvvm.shfl.sync.bfly.i32",
        };
        let one = |half: IntValue<'ctx>| -> Result<IntValue<'ctx>> {
            let args = [mask.into(), half.into(), lane.into(), control.into()];
            Ok(self.llvm_intrinsic(name, &[], &args)?.into_int_value())
        };
        let bits = self.as_bits(value)?;
        let moved = match bits.get_type().get_bit_width() {
            64 => {
                let wide = self.unit.context.i64_type();
                let shift = wide.const_int(32, false);
                let low = one(b.build_int_truncate(bits, word, "")?)?;
                let high = b.build_right_shift(bits, shift, false, "")?;
                let high = one(b.build_int_truncate(high, word, "")?)?;
                let low = b.build_int_z_extend(low, wide, "")?;
                let high = b.build_int_z_extend(high, wide, "")?;
                b.build_or(b.build_left_shift(high, shift, "")?, low, "")?
            }
            32 => one(bits)?,
            _ => {
                let moved = one(b.build_int_z_extend(bits, word, "")?)?;
                b.build_int_truncate(moved, bits.get_type(), "")?
            }
        };
        Ok(Value::Scalar(self.value_of_bits(moved, value.get_type())?))
    }

    /// A scalar's bits as an integer.
    pub(in crate::lower) fn as_bits(&self, value: BasicValueEnum<'ctx>) -> Result<IntValue<'ctx>> {
        Ok(match value {
            BasicValueEnum::IntValue(value) => value,
            BasicValueEnum::FloatValue(value) => {
                let int = self.unit.int_type(value.get_type().get_bit_width());
                self.builder.build_bit_cast(value, int, "")?.into_int_value()
            }
            BasicValueEnum::PointerValue(value) => {
                self.builder.build_ptr_to_int(value, self.unit.size, "")?
            }
            _ => return Err(bug("lower", "the bits of an aggregate")),
        })
    }

    pub(super) fn value_of_bits(
        &self,
        bits: IntValue<'ctx>,
        ty: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        Ok(match ty {
            BasicTypeEnum::PointerType(ty) => self.builder.build_int_to_ptr(bits, ty, "")?.into(),
            BasicTypeEnum::IntType(_) => bits.into(),
            _ => self.builder.build_bit_cast(bits, ty, "")?,
        })
    }

    pub(super) fn vote(&mut self, mode: VoteMode, args: &[Expr]) -> Result<Value<'ctx>> {
        let mask = self.scalar_of(arg(args, 0)?)?;
        let predicate = self.scalar_of(arg(args, 1)?)?;
        let predicate = self.to_bool(predicate)?;
        let name = match mode {
            VoteMode::All => "llvm.nvvm.vote.all.sync",
            VoteMode::Any => "llvm.nvvm.vote.any.sync",
            VoteMode::Uni => "llvm.nvvm.vote.uni.sync",
        };
        let vote = self.llvm_intrinsic(name, &[], &[mask.into(), predicate.into()])?;
        let word = self.unit.context.i32_type();
        let vote = self.builder.build_int_z_extend(vote.into_int_value(), word, "")?;
        Ok(Value::Scalar(vote.into()))
    }

    pub(super) fn ballot(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        let mask = self.scalar_of(arg(args, 0)?)?;
        let predicate = self.scalar_of(arg(args, 1)?)?;
        let predicate = self.to_bool(predicate)?;
        let operands = [mask.into(), predicate.into()];
        self.llvm_value("llvm.nvvm.vote.ballot.sync", &operands)
    }

    pub(super) fn match_any(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        self.needs_sm(70, "__match_any_sync")?;
        let mask = self.scalar_of(arg(args, 0)?)?;
        let value = self.scalar_of(arg(args, 1)?)?;
        let bits = self.as_bits(value)?;
        let width = bits.get_type().get_bit_width();
        let name = format!("llvm.nvvm.match.any.sync.i{width}");
        self.llvm_value(&name, &[mask.into(), bits.into()])
    }

    pub(super) fn match_all(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        self.needs_sm(70, "__match_all_sync")?;
        let mask = self.scalar_of(arg(args, 0)?)?;
        let value = self.scalar_of(arg(args, 1)?)?;
        let place = self.place_of(arg(args, 2)?)?;
        let bits = self.as_bits(value)?;
        let width = bits.get_type().get_bit_width();
        let name = format!("llvm.nvvm.match.all.sync.i{width}p");
        let pair = self.llvm_intrinsic(&name, &[], &[mask.into(), bits.into()])?;
        let pair = pair.into_struct_value();
        let found = self.builder.build_extract_value(pair, 0, "")?;
        let all = self.builder.build_extract_value(pair, 1, "")?.into_int_value();
        let word = self.unit.context.i32_type();
        let all = self.builder.build_int_z_extend(all, word, "")?;
        let store = self.builder.build_store(place.address, all)?;
        self.align_access(store, place.align)?;
        Ok(Value::Scalar(found))
    }

    pub(super) fn reduce(
        &mut self,
        op: Intrinsic,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        self.needs_sm(80, "__reduce_*_sync")?;
        let mask = self.scalar_of(arg(args, 0)?)?;
        let value = self.scalar_of(arg(args, 1)?)?;
        let name = match (op, self.is_signed(ty)) {
            (Intrinsic::Reduce(BinaryOp::Add), _) => "add",
            (Intrinsic::Reduce(BinaryOp::And), _) => "and",
            (Intrinsic::Reduce(BinaryOp::Or), _) => "or",
            (Intrinsic::Reduce(BinaryOp::Xor), _) => "xor",
            (Intrinsic::ReduceMin, true) => "min",
            (Intrinsic::ReduceMin, false) => "umin",
            (Intrinsic::ReduceMax, true) => "max",
            (Intrinsic::ReduceMax, false) => "umax",
            _ => return Err(bug("lower", "no such reduction")),
        };
        let name = format!("llvm.nvvm.redux.sync.{name}");
        self.llvm_value(&name, &[value.into(), mask.into()])
    }

    pub(in crate::lower) fn needs_sm(&self, sm: u32, what: &str) -> Result<()> {
        if self.unit.options.arch_sm() < sm {
            return Err(self.unsupported(format!("{what} exists from sm_{sm} on")));
        }
        Ok(())
    }
}
