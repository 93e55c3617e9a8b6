//! Intrinsics, by family. LLVM's NVPTX intrinsics where there are such, PTX text where not.

mod atomic;
mod float;
mod integer;
mod memory;
mod warp;

use cdp_ir::{Axis, BuiltinVar, Expr, Intrinsic, Scope, TypeId};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum};

use super::body::{Body, Value};
use crate::error::{Result, bug};

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn intrinsic(&mut self, op: Intrinsic, args: &[Expr], ty: TypeId) -> Result<Value<'ctx>> {
        match op {
            Intrinsic::Builtin(var) => Ok(Value::Scalar(self.builtin(var, ty)?)),
            Intrinsic::SyncThreads => {
                let zero = self.unit.context.i32_type().const_zero();
                self.llvm_effect("llvm.nvvm.barrier.cta.sync.aligned.all", &[], &[zero.into()])?;
                Ok(Value::Void)
            }
            Intrinsic::SyncThreadsCount => self.sync_red("popc", args),
            Intrinsic::SyncThreadsAnd => self.sync_red("and", args),
            Intrinsic::SyncThreadsOr => self.sync_red("or", args),
            Intrinsic::SyncWarp => {
                let mask = self.scalar_of(arg(args, 0)?)?;
                self.llvm_effect("llvm.nvvm.bar.warp.sync", &[], &[mask.into()])?;
                Ok(Value::Void)
            }
            Intrinsic::Fence(scope) => self.fence(scope),
            Intrinsic::Shuffle(mode) => self.shuffle(mode, args),
            Intrinsic::Vote(mode) => self.vote(mode, args),
            Intrinsic::Ballot => self.ballot(args),
            Intrinsic::ActiveMask => self.llvm_value("llvm.nvvm.activemask", &[]),
            Intrinsic::MatchAny => self.match_any(args),
            Intrinsic::MatchAll => self.match_all(args),
            Intrinsic::Reduce(_) | Intrinsic::ReduceMin | Intrinsic::ReduceMax => {
                self.reduce(op, args, ty)
            }
            Intrinsic::Atomic(atomic) => self.atomic(atomic, args, ty),
            Intrinsic::CacheLoad(cache) => self.cache_load(cache, args, ty),
            Intrinsic::CacheStore(cache) => self.cache_store(cache, args),
            Intrinsic::MemCopy { overlap } => self.mem_copy(overlap, args),
            Intrinsic::MemSet => self.mem_set(args),
            Intrinsic::IsSpace(space) => self.is_space(space, args),
            Intrinsic::GenericToSpace(space) => self.generic_to_space(space, args),
            Intrinsic::SpaceToGeneric(space) => self.space_to_generic(space, args),
            Intrinsic::PopCount
            | Intrinsic::LeadingZeros
            | Intrinsic::FindFirstSet
            | Intrinsic::ReverseBits
            | Intrinsic::MulHigh
            | Intrinsic::AbsInt
            | Intrinsic::MinInt
            | Intrinsic::MaxInt
            | Intrinsic::BytePermute
            | Intrinsic::FunnelShiftLeft
            | Intrinsic::FunnelShiftRight => self.integer_intrinsic(op, args, ty),
            Intrinsic::Fma
            | Intrinsic::Sqrt
            | Intrinsic::AbsFloat
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::RoundEven
            | Intrinsic::MinFloat
            | Intrinsic::MaxFloat
            | Intrinsic::CopySign
            | Intrinsic::IsNan
            | Intrinsic::IsInf
            | Intrinsic::IsFinite
            | Intrinsic::SignBit => self.float_intrinsic(op, args, ty),
            Intrinsic::Assume => {
                let condition = self.condition(arg(args, 0)?)?;
                self.llvm_effect("llvm.assume", &[], &[condition.into()])?;
                Ok(Value::Void)
            }
            Intrinsic::Expect => self.expect(args),
            Intrinsic::Unreachable => {
                self.builder.build_unreachable()?;
                self.start_dead();
                Ok(Value::Void)
            }
            Intrinsic::Trap => self.effect_only("llvm.trap"),
            Intrinsic::Breakpoint => self.effect_only("llvm.debugtrap"),
            Intrinsic::NanoSleep => {
                let nanoseconds = self.scalar_of(arg(args, 0)?)?;
                if self.unit.options.arch_sm() < 70 {
                    return Err(self.unsupported("__nanosleep exists from sm_70 on"));
                }
                self.llvm_effect("llvm.nvvm.nanosleep", &[], &[nanoseconds.into()])?;
                Ok(Value::Void)
            }
            Intrinsic::VaStart => self.va_list_call("llvm.va_start", args),
            Intrinsic::VaCopy => self.va_list_call("llvm.va_copy", args),
            Intrinsic::VaEnd => self.va_list_call("llvm.va_end", args),
            Intrinsic::VaArg => self.va_arg(args, ty),
            Intrinsic::Libdevice(name) => self.libdevice(name, args, ty),
            Intrinsic::Ptx(template) => self.ptx_template(template, args, ty),
        }
    }

    fn effect_only(&self, name: &str) -> Result<Value<'ctx>> {
        self.llvm_effect(name, &[], &[])?;
        Ok(Value::Void)
    }

    fn llvm_value(&self, name: &str, args: &[BasicMetadataValueEnum<'ctx>]) -> Result<Value<'ctx>> {
        Ok(Value::Scalar(self.llvm_intrinsic(name, &[], args)?))
    }

    fn builtin(&self, var: BuiltinVar, ty: TypeId) -> Result<BasicValueEnum<'ctx>> {
        let axis = |axis| match axis {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        };
        let name = match var {
            BuiltinVar::ThreadIdx(a) => format!("tid.{}", axis(a)),
            BuiltinVar::BlockIdx(a) => format!("ctaid.{}", axis(a)),
            BuiltinVar::BlockDim(a) => format!("ntid.{}", axis(a)),
            BuiltinVar::GridDim(a) => format!("nctaid.{}", axis(a)),
            BuiltinVar::WarpSize => {
                return Ok(self.unit.context.i32_type().const_int(32, false).into());
            }
            BuiltinVar::LaneId => "laneid".into(),
            BuiltinVar::WarpId => "warpid".into(),
            BuiltinVar::SmId => "smid".into(),
            // LLVM's intrinsic reads 32 bits of it.
            BuiltinVar::GridId => {
                let ty = self.unit.storage_type(ty)?;
                let read = self.inline_ptx("mov.u64 $0, %gridid;", "=l", Some(ty), &[], false)?;
                return read.ok_or_else(|| bug("lower", "no grid id"));
            }
            BuiltinVar::LaneMaskEq => "lanemask.eq".into(),
            BuiltinVar::LaneMaskLe => "lanemask.le".into(),
            BuiltinVar::LaneMaskLt => "lanemask.lt".into(),
            BuiltinVar::LaneMaskGe => "lanemask.ge".into(),
            BuiltinVar::LaneMaskGt => "lanemask.gt".into(),
            BuiltinVar::DynamicSharedBytes => "dynamic_smem_size".into(),
            BuiltinVar::TotalSharedBytes => "total_smem_size".into(),
            BuiltinVar::Clock => "clock".into(),
            BuiltinVar::Clock64 => "clock64".into(),
            BuiltinVar::GlobalTimer => "globaltimer".into(),
        };
        self.llvm_intrinsic(&format!("llvm.nvvm.read.ptx.sreg.{name}"), &[], &[])
    }

    fn sync_red(&mut self, op: &str, args: &[Expr]) -> Result<Value<'ctx>> {
        let predicate = self.scalar_of(arg(args, 0)?)?;
        let predicate = self.to_bool(predicate)?;
        let word = self.unit.context.i32_type();
        let name = format!("llvm.nvvm.barrier.cta.red.{op}.aligned.all");
        let zero = word.const_zero();
        let value = self.llvm_intrinsic(&name, &[], &[zero.into(), predicate.into()])?;
        let value = value.into_int_value();
        Ok(Value::Scalar(self.builder.build_int_cast_sign_flag(value, word, false, "")?.into()))
    }

    /// CUDA's fences are sequentially consistent: `membar` on every architecture.
    fn fence(&self, scope: Scope) -> Result<Value<'ctx>> {
        let name = match scope {
            Scope::Block => "llvm.nvvm.membar.cta",
            Scope::Device => "llvm.nvvm.membar.gl",
            Scope::System => "llvm.nvvm.membar.sys",
            Scope::Cluster if self.unit.options.arch_sm() < 90 => {
                return Err(self.unsupported("cluster scope exists from sm_90 on"));
            }
            Scope::Cluster => "llvm.nvvm.fence.sc.cluster",
        };
        self.effect_only(name)
    }

    fn expect(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        let value = self.scalar_of(arg(args, 0)?)?;
        let expected = self.scalar_of(arg(args, 1)?)?;
        let ty = value.get_type();
        let value = self.llvm_intrinsic("llvm.expect", &[ty], &[value.into(), expected.into()])?;
        Ok(Value::Scalar(value))
    }
}

pub(super) fn arg(args: &[Expr], index: usize) -> Result<&Expr> {
    args.get(index).ok_or_else(|| bug("lower", "an intrinsic with too few operands"))
}
