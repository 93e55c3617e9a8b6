//! Reading variable arguments in host code, by the System V ABI for x86-64, section 3.5.7.
//!
//! LLVM's `va_arg` knows scalars only. A list must be readable by the C library's `vprintf` and by
//! functions that nvcc's host compiler made, and the other way round, so the classes of aggregates are
//! those of calls ([`super::sysv`]).

use cdp_ir::{Expr, TypeId};
use inkwell::IntPredicate;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{IntValue, PointerValue};

use super::abi::ParamAbi;
use super::body::{AlignedAddress, Body, Value};
use super::sysv::{Part, Registers, is_float};
use crate::error::{Result, bug};

/// Where the members of a list are, in bytes.
const INTEGERS_AT: u64 = 0;
const FLOATS_AT: u64 = 4;
const MEMORY_AT: u64 = 8;
const SAVED_AT: u64 = 16;
/// The saved registers: 6 of 8 bytes, then 8 of 16 bytes.
const INTEGER_BYTES: u64 = 8;
const INTEGERS_END: u64 = 48;
const FLOAT_BYTES: u64 = 16;
const FLOATS_END: u64 = 176;

impl<'ctx> Body<'_, '_, 'ctx> {
    /// One of LLVM's intrinsics on lists, which are right for this ABI.
    pub(super) fn va_list_call(&mut self, name: &str, lists: &[Expr]) -> Result<Value<'ctx>> {
        let mut addresses = Vec::new();
        for list in lists {
            addresses.push(self.pointer_of(list)?.into());
        }
        self.llvm_effect(name, &[self.unit.ptr.into()], &addresses)?;
        Ok(Value::Void)
    }

    /// The next argument of a list.
    pub(super) fn va_arg(&mut self, args: &[Expr], ty: TypeId) -> Result<Value<'ctx>> {
        let [list] = args else { return Err(bug("lower", "va_arg of another number of lists")) };
        let list = AlignedAddress { address: self.pointer_of(list)?, align: 8 };
        let target = self.temporary(ty)?;
        match self.argument_parts(ty)? {
            // A struct without members is passed nowhere.
            Some(parts) if parts.is_empty() => {}
            Some(parts) => {
                let (saved, memory) = (self.new_block("va.saved"), self.new_block("va.memory"));
                let done = self.new_block("va.done");
                let offsets = self.saved_offsets(list, &parts)?;
                let fits = self.fits_in_registers(offsets, &parts)?;
                self.builder.build_conditional_branch(fits, saved, memory)?;
                self.start(saved);
                self.read_registers(list, offsets, &parts, target)?;
                self.branch(done)?;
                self.start(memory);
                self.read_memory(list, ty, target)?;
                self.branch(done)?;
                self.start(done);
            }
            None => self.read_memory(list, ty, target)?,
        }
        if self.unit.ir.types.is_aggregate(ty) {
            return Ok(Value::Memory(target));
        }
        self.load(target, ty, false)
    }

    /// The registers in which an argument of a type comes while there are any; `None` for memory.
    fn argument_parts(&self, ty: TypeId) -> Result<Option<Vec<Part<'ctx>>>> {
        let part = |offset_bytes, ty| Part { offset_bytes, ty };
        Ok(match self.unit.param_abi(ty, false, &mut Registers::new(false))? {
            ParamAbi::Parts { parts } => Some(parts.into_iter().flatten().collect()),
            ParamAbi::Direct { ty: BasicTypeEnum::IntType(int), .. }
                if int.get_bit_width() > 64 =>
            {
                let half = self.unit.context.i64_type().as_basic_type_enum();
                Some(vec![part(0, half), part(8, half)])
            }
            ParamAbi::Direct { ty, .. } => Some(vec![part(0, ty)]),
            ParamAbi::ByVal { .. } => None,
            ParamAbi::Address { .. } => {
                return Err(bug("lower", "va_arg of a type with a copy constructor"));
            }
        })
    }

    /// How far the integer and the floating-point registers have been read; `None` for a kind that is
    /// not wanted.
    fn saved_offsets(
        &self,
        list: AlignedAddress<'ctx>,
        parts: &[Part<'ctx>],
    ) -> Result<[Option<IntValue<'ctx>>; 2]> {
        let mut offsets = [None; 2];
        for (index, at) in [INTEGERS_AT, FLOATS_AT].into_iter().enumerate() {
            if count(parts, index == 1) > 0 {
                let place = self.place_at(list, at)?;
                let word = self.unit.context.i32_type();
                offsets[index] =
                    Some(self.builder.build_load(word, place.address, "")?.into_int_value());
            }
        }
        Ok(offsets)
    }

    /// Whether registers for all parts are left: an argument is never split.
    fn fits_in_registers(
        &self,
        offsets: [Option<IntValue<'ctx>>; 2],
        parts: &[Part<'ctx>],
    ) -> Result<IntValue<'ctx>> {
        let mut fits = self.unit.context.bool_type().const_all_ones();
        let kinds = [(INTEGERS_END, INTEGER_BYTES, false), (FLOATS_END, FLOAT_BYTES, true)];
        for (offset, (end, bytes, float)) in offsets.into_iter().zip(kinds) {
            let Some(offset) = offset else { continue };
            let last = end - bytes * count(parts, float);
            let last = offset.get_type().const_int(last, false);
            let here = self.builder.build_int_compare(IntPredicate::ULE, offset, last, "")?;
            fits = self.builder.build_and(fits, here, "")?;
        }
        Ok(fits)
    }

    fn read_registers(
        &self,
        list: AlignedAddress<'ctx>,
        offsets: [Option<IntValue<'ctx>>; 2],
        parts: &[Part<'ctx>],
        target: AlignedAddress<'ctx>,
    ) -> Result<()> {
        let saved = self.list_pointer(list, SAVED_AT)?;
        let kinds = [(INTEGERS_AT, INTEGER_BYTES, false, 8), (FLOATS_AT, FLOAT_BYTES, true, 16)];
        for (offset, (at, bytes, float, align)) in offsets.into_iter().zip(kinds) {
            let Some(offset) = offset else { continue };
            let base = AlignedAddress { address: self.stepped(saved, offset)?, align };
            let mine = parts.iter().filter(|part| is_float(part.ty) == float);
            for (index, part) in mine.enumerate() {
                let from = self.place_at(base, index as u64 * bytes)?;
                let value = self.builder.build_load(part.ty, from.address, "")?;
                let to = self.place_at(target, part.offset_bytes)?;
                let store = self.builder.build_store(to.address, value)?;
                self.align_access(store, to.align)?;
            }
            let step = offset.get_type().const_int(bytes * count(parts, float), false);
            let next = self.builder.build_int_add(offset, step, "")?;
            let member = self.place_at(list, at)?;
            self.builder.build_store(member.address, next)?;
        }
        Ok(())
    }

    /// Arguments in memory follow each other, each at a multiple of 8 bytes and of its own alignment.
    fn read_memory(
        &self,
        list: AlignedAddress<'ctx>,
        ty: TypeId,
        target: AlignedAddress<'ctx>,
    ) -> Result<()> {
        let layout = self.unit.ir.types.layout(ty);
        let mut address = self.list_pointer(list, MEMORY_AT)?;
        if layout.align > 8 {
            let size = self.unit.size;
            let past = self.stepped(address, size.const_int(layout.align - 1, false))?;
            let number = self.builder.build_ptr_to_int(past, size, "")?;
            let mask = size.const_int(layout.align.wrapping_neg(), false);
            let number = self.builder.build_and(number, mask, "")?;
            address = self.builder.build_int_to_ptr(number, self.unit.ptr, "")?;
        }
        let from = AlignedAddress { address, align: layout.align.max(8) as u32 };
        self.copy(target, from, layout.size)?;
        let bytes = self.unit.size.const_int(cdp_ir::types::round_up(layout.size, 8), false);
        let next = self.stepped(address, bytes)?;
        let member = self.place_at(list, MEMORY_AT)?;
        self.builder.build_store(member.address, next)?;
        Ok(())
    }

    fn list_pointer(&self, list: AlignedAddress<'ctx>, at: u64) -> Result<PointerValue<'ctx>> {
        let member = self.place_at(list, at)?;
        let value = self.builder.build_load(self.unit.ptr, member.address, "")?;
        Ok(value.into_pointer_value())
    }

    fn stepped(
        &self,
        address: PointerValue<'ctx>,
        bytes: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        let byte = self.unit.context.i8_type();
        // SAFETY: nothing is promised about the object (no `inbounds`), so any offset is defined.
        Ok(unsafe { self.builder.build_gep(byte, address, &[bytes], "")? })
    }
}

/// How many registers of a kind an argument takes.
fn count(parts: &[Part<'_>], float: bool) -> u64 {
    parts.iter().filter(|part| is_float(part.ty) == float).count() as u64
}
