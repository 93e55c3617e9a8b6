//! Relaxed atomics.
//!
//! LLVM 22's NVPTX back end emits `atomicrmw` at device scope whatever its scope says. Block scope is written
//! when the module is emitted (`scope.cpp`), where the optimiser has seen it; system scope is PTX text from here on.

use cdp_ir::{Atomic, AtomicOp, Expr, Scope, Type, TypeId};
use inkwell::llvm_sys::LLVMAtomicRMWBinOp as Rmw;
use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;

use super::arg;
use crate::error::{Result, bug};
use crate::lower::body::{Body, Value};
use crate::raw;

impl<'ctx> Body<'_, '_, 'ctx> {
    pub(super) fn atomic(
        &mut self,
        atomic: Atomic,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let address = self.pointer_of(arg(args, 0)?)?;
        let mut operands = Vec::new();
        for operand in &args[1..] {
            let value = self.scalar_of(operand)?;
            operands.push(self.stored(value)?);
        }
        let old = match (atomic.scope, operands.as_slice()) {
            (scope, values)
                if self.unit.on_device()
                    && (matches!(scope, Scope::System | Scope::Cluster)
                        || self.unit.ir.types.layout(ty).size == 16) =>
            {
                self.scoped_atomic(atomic, address.into(), values, ty)?
            }
            (_, [compare, value]) if atomic.op == AtomicOp::CompareExchange => {
                self.compare_exchange(atomic.scope, address, *compare, *value)?
            }
            (_, [value]) => {
                let op = self.rmw_op(atomic.op, ty)?;
                let value = self.rmw_operand(op, *value)?;
                let scope = self.scope_id(atomic.scope);
                let builder = self.builder.as_mut_ptr();
                // SAFETY: the builder stands in the current block.
                let old = unsafe { raw::atomic_rmw(builder, op, address, value, scope) };
                let storage = self.unit.storage_type(ty)?;
                if let (BasicValueEnum::IntValue(bits), false) = (old, old.get_type() == storage) {
                    self.value_of_bits(bits, storage)?
                } else {
                    old
                }
            }
            _ => return Err(bug("lower", "an atomic with another number of operands")),
        };
        Ok(Value::Scalar(self.storage_value(old, ty)?))
    }

    fn scope_id(&self, scope: Scope) -> u32 {
        let name = match scope {
            Scope::Block => "block",
            Scope::Cluster => "cluster",
            Scope::Device => "device",
            Scope::System => "",
        };
        raw::sync_scope(self.unit.context, if self.unit.on_device() { name } else { "" })
    }

    fn rmw_op(&self, op: AtomicOp, ty: TypeId) -> Result<Rmw> {
        let float = self.unit.ir.types.is_float(ty);
        let signed = self.is_signed(ty);
        Ok(match (op, float) {
            (AtomicOp::Add, true) => Rmw::LLVMAtomicRMWBinOpFAdd,
            (AtomicOp::Add, false) => Rmw::LLVMAtomicRMWBinOpAdd,
            (AtomicOp::Exchange, _) => Rmw::LLVMAtomicRMWBinOpXchg,
            (AtomicOp::Min, true) => Rmw::LLVMAtomicRMWBinOpFMin,
            (AtomicOp::Max, true) => Rmw::LLVMAtomicRMWBinOpFMax,
            (AtomicOp::Min, false) if signed => Rmw::LLVMAtomicRMWBinOpMin,
            (AtomicOp::Min, false) => Rmw::LLVMAtomicRMWBinOpUMin,
            (AtomicOp::Max, false) if signed => Rmw::LLVMAtomicRMWBinOpMax,
            (AtomicOp::Max, false) => Rmw::LLVMAtomicRMWBinOpUMax,
            (AtomicOp::Inc, false) => Rmw::LLVMAtomicRMWBinOpUIncWrap,
            (AtomicOp::Dec, false) => Rmw::LLVMAtomicRMWBinOpUDecWrap,
            (AtomicOp::And, false) => Rmw::LLVMAtomicRMWBinOpAnd,
            (AtomicOp::Or, false) => Rmw::LLVMAtomicRMWBinOpOr,
            (AtomicOp::Xor, false) => Rmw::LLVMAtomicRMWBinOpXor,
            _ => return Err(bug("lower", "no such atomic on the type")),
        })
    }

    /// Exchanges move bits; the back end does not take floats or pointers there.
    fn rmw_operand(&self, op: Rmw, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        if op == Rmw::LLVMAtomicRMWBinOpXchg {
            return Ok(self.as_bits(value)?.into());
        }
        Ok(value)
    }

    fn compare_exchange(
        &self,
        scope: Scope,
        address: inkwell::values::PointerValue<'ctx>,
        compare: BasicValueEnum<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let ty = compare.get_type();
        let (compare, value) = (self.as_bits(compare)?, self.as_bits(value)?);
        let scope = self.scope_id(scope);
        let builder = self.builder.as_mut_ptr();
        // SAFETY: the builder stands in the current block.
        let pair =
            unsafe { raw::compare_exchange(builder, address, compare.into(), value.into(), scope) };
        let old = self.builder.build_extract_value(pair.into_struct_value(), 0, "")?;
        self.value_of_bits(old.into_int_value(), ty)
    }

    /// An atomic as text: system and cluster scope, and 128 bits, which the back end does not have.
    fn scoped_atomic(
        &self,
        atomic: Atomic,
        address: BasicValueEnum<'ctx>,
        values: &[BasicValueEnum<'ctx>],
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let (scope, since) = match atomic.scope {
            Scope::Block => ("cta", 60),
            Scope::Device => ("gpu", 60),
            Scope::Cluster => ("cluster", 90),
            Scope::System => ("sys", 60),
        };
        self.needs_sm(since, "an atomic of this scope")?;
        if self.unit.ir.types.layout(ty).size == 16 {
            self.needs_sm(90, "a 128-bit atomic")?;
        }
        let storage = self.unit.storage_type(ty)?;
        let kind = self.unit.ir.types.get(ty);
        let (op, suffix) = atomic_suffix(atomic.op, kind, self.unit.ir.types.layout(ty).size)
            .ok_or_else(|| self.unsupported("no such atomic on the type"))?;
        let letter = match self.unit.ir.types.layout(ty).size {
            2 => "h",
            4 => "r",
            8 => "l",
            16 => "q",
            _ => return Err(self.unsupported("an atomic of this size")),
        };
        let pointer = if self.unit.address_bits() == 32 { "r" } else { "l" };
        let mut constraints = format!("={letter},{pointer}");
        let mut operands = vec![address];
        let mut text = format!("atom.{scope}.{op}.{suffix} $0, [$1]");
        for (index, value) in values.iter().enumerate() {
            constraints.push_str(&format!(",{letter}"));
            text.push_str(&format!(", ${}", index + 2));
            operands.push(self.as_bits(*value)?.into());
        }
        text.push(';');
        constraints.push_str(",~{memory}");
        let bits: BasicTypeEnum<'ctx> =
            self.unit.int_type(self.unit.ir.types.layout(ty).size as u32 * 8).into();
        let old = self.inline_ptx(&text, &constraints, Some(bits), &operands, true)?;
        let old = old.ok_or_else(|| bug("lower", "an atomic without result"))?;
        self.value_of_bits(old.into_int_value(), storage)
    }
}

/// PTX's operation and type of an atomic (PTX ISA, `atom`).
fn atomic_suffix(op: AtomicOp, ty: &Type, bytes: u64) -> Option<(&'static str, String)> {
    let bits = bytes * 8;
    let signed = matches!(ty, Type::Int { signed: true, .. });
    let number = if signed { format!("s{bits}") } else { format!("u{bits}") };
    Some(match (op, ty) {
        (AtomicOp::Add, Type::Float(kind)) => match kind {
            cdp_ir::FloatKind::F16 => ("add.noftz", "f16".into()),
            cdp_ir::FloatKind::BF16 => ("add.noftz", "bf16".into()),
            cdp_ir::FloatKind::F32 => ("add", "f32".into()),
            cdp_ir::FloatKind::F64 => ("add", "f64".into()),
        },
        // 64-bit addition has one type; it is the same for signed numbers.
        (AtomicOp::Add, _) if bits == 64 => ("add", "u64".into()),
        (AtomicOp::Add, _) => ("add", number),
        (AtomicOp::Min, Type::Int { .. }) => ("min", number),
        (AtomicOp::Max, Type::Int { .. }) => ("max", number),
        (AtomicOp::Inc, _) if bits == 32 => ("inc", "u32".into()),
        (AtomicOp::Dec, _) if bits == 32 => ("dec", "u32".into()),
        (AtomicOp::Exchange, _) => ("exch", format!("b{bits}")),
        (AtomicOp::CompareExchange, _) => ("cas", format!("b{bits}")),
        (AtomicOp::And, _) => ("and", format!("b{bits}")),
        (AtomicOp::Or, _) => ("or", format!("b{bits}")),
        (AtomicOp::Xor, _) => ("xor", format!("b{bits}")),
        _ => return None,
    })
}
