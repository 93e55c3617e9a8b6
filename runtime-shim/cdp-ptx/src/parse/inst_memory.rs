//! Loads, stores, atomics, cache management, asynchronous copies, stack memory.

use super::body::FunctionState;
use super::inst_data::space_word;
use super::lexer::{Token, shorten};
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::module::Symbol;
use crate::types::*;

use ScalarType::*;

const MEMORY_TYPES: &[ScalarType] =
    &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

/// `.v2`, `.v4`, `.v8`; 1 if there is none.
pub(super) fn vector_len(mods: &mut Mods) -> usize {
    mods.take(|word| match word {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    })
    .unwrap_or(1)
}

/// Cache modifiers of a load or store; the policy operand comes last in the text. The second
/// value says that there is one.
fn cache_hints(mods: &mut Mods, ops: &[CacheOp]) -> (CacheHints, bool) {
    let op = mods.take(|word| CacheOp::from_str(word).filter(|op| ops.contains(op)));
    let hints = CacheHints {
        op,
        l1: mods.take(L1Eviction::from_str),
        l2: mods.take(L2Eviction::from_str),
        prefetch: mods.take(L2Prefetch::from_str),
        policy: None,
    };
    (hints, mods.flag("L2::cache_hint"))
}

fn boxed(hints: CacheHints) -> Option<Box<CacheHints>> {
    (hints != CacheHints::default()).then(|| Box::new(hints))
}

impl<'a> Parser<'a> {
    /// Fails if an instruction of `space` names a variable of another space.
    pub fn check_space(
        &self,
        st: &FunctionState<'a>,
        token: &Token<'a>,
        space: Space,
        address: &Address,
    ) -> Result<()> {
        let AddressBase::Symbol(symbol) = address.base else { return Ok(()) };
        let own = &self.module.functions[st.id.index()];
        let (name, actual) = match symbol {
            Symbol::Global(id) => {
                let variable = &self.module.variables[id.index()];
                (&variable.name, variable.space)
            }
            Symbol::Local(id) => {
                let variable = &st.body.variables[id.index()];
                (&variable.name, variable.space)
            }
            Symbol::Param(index) => (&own.params[index as usize].name, Space::Param),
            Symbol::Return(index) => (&own.returns[index as usize].name, Space::Param),
            Symbol::Function(id) => {
                let name = &self.module.functions[id.index()].name;
                let message = format!("`{}` is a function, not memory", shorten(name));
                return Err(self.error_at(token, ErrorKind::Operand, message));
            }
        };
        let agrees = match space {
            Space::Generic => actual != Space::Param,
            Space::Shared | Space::SharedCluster => actual == Space::Shared,
            Space::Param | Space::ParamEntry | Space::ParamFunc => actual == Space::Param,
            other => other == actual,
        };
        if agrees {
            return Ok(());
        }
        let name = shorten(name);
        let message = format!("`{name}` is a `.{actual}` variable, accessed as `.{space}`");
        Err(self.error_at(token, ErrorKind::Operand, message))
    }

    /// `[address]` of a variable in `space`.
    pub fn space_address(&mut self, st: &mut FunctionState<'a>, space: Space) -> Result<Address> {
        let token = self.peek;
        let address = self.address(st)?;
        self.check_space(st, &token, space, &address)?;
        Ok(address)
    }

    /// `, policy` if the modifiers announce one.
    fn policy(&mut self, st: &mut FunctionState<'a>, announced: bool) -> Result<Option<Operand>> {
        if announced { self.next_operand(st, B64).map(Some) } else { Ok(None) }
    }

    /// `ld`, `ldu`
    pub fn ld(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let order = self.load_order(&mut mods)?;
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let uniform = mods.opcode.text == "ldu";
        // A generic `ldu` is an ordinary load.
        let non_coherent = mods.flag("nc") || (uniform && space == Space::Global);
        mods.require(!non_coherent || space == Space::Global, "only `.global` is non-coherent")?;
        let far = matches!(space, Space::Generic | Space::Global);
        mods.require(!uniform || far, "`ldu` is for `.global` memory")?;
        let ops = [CacheOp::Ca, CacheOp::Cg, CacheOp::Cs, CacheOp::Lu, CacheOp::Cv];
        let (mut hints, has_policy) = cache_hints(&mut mods, &ops);
        let count = vector_len(&mut mods);
        let ty = mods.ty(MEMORY_TYPES)?;
        check_vector(&mods, count, ty, space)?;
        check_hints(&mods, &hints, has_policy, count as u32 * ty.bits(), space)?;
        let weak = matches!(order, LoadOrder::Weak);
        check_order(&mods, weak, matches!(order, LoadOrder::Mmio(_)), space)?;
        mods.finish()?;
        let dsts = self.dsts(st, ty, count, Width::AtLeast)?;
        self.comma()?;
        let addr = self.space_address(st, space)?;
        self.eat_dot("unified")?;
        hints.policy = self.policy(st, has_policy)?;
        let cache = boxed(hints);
        Ok(Inst::Ld { space, order, non_coherent, ty, dsts, addr, cache })
    }

    fn load_order(&self, mods: &mut Mods<'a>) -> Result<LoadOrder> {
        if mods.flag("weak") {
            return Ok(LoadOrder::Weak);
        }
        if mods.flag("volatile") {
            return Ok(LoadOrder::Volatile);
        }
        let mmio = mods.flag("mmio");
        if mods.flag("relaxed") {
            let scope = mods.need("a scope such as `.gpu`", Scope::from_str)?;
            return Ok(if mmio { LoadOrder::Mmio(scope) } else { LoadOrder::Relaxed(scope) });
        }
        if !mmio && mods.flag("acquire") {
            return mods.need("a scope such as `.gpu`", Scope::from_str).map(LoadOrder::Acquire);
        }
        mods.require(!mmio, "`.mmio` goes with `.relaxed`")?;
        Ok(LoadOrder::Weak)
    }

    /// `st`
    pub fn st(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.has("async") {
            return self.remote_access(st, mods);
        }
        if mods.has("bulk") {
            return self.unknown_instruction(&mods);
        }
        let order = self.store_order(&mut mods)?;
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        mods.require(space != Space::Const, "constant memory is not written")?;
        let ops = [CacheOp::Wb, CacheOp::Cg, CacheOp::Cs, CacheOp::Wt];
        let (mut hints, has_policy) = cache_hints(&mut mods, &ops);
        let count = vector_len(&mut mods);
        let ty = mods.ty(MEMORY_TYPES)?;
        check_vector(&mods, count, ty, space)?;
        check_hints(&mods, &hints, has_policy, count as u32 * ty.bits(), space)?;
        mods.require(hints.prefetch.is_none(), "a store fetches nothing")?;
        let weak = matches!(order, StoreOrder::Weak);
        check_order(&mods, weak, matches!(order, StoreOrder::Mmio(_)), space)?;
        mods.finish()?;
        let addr = self.space_address(st, space)?;
        self.comma()?;
        let srcs = self.srcs(st, ty, count, Width::AtLeast)?;
        hints.policy = self.policy(st, has_policy)?;
        Ok(Inst::St { space, order, ty, addr, srcs, cache: boxed(hints) })
    }

    fn store_order(&self, mods: &mut Mods<'a>) -> Result<StoreOrder> {
        if mods.flag("weak") {
            return Ok(StoreOrder::Weak);
        }
        if mods.flag("volatile") {
            return Ok(StoreOrder::Volatile);
        }
        let mmio = mods.flag("mmio");
        if mods.flag("relaxed") {
            let scope = mods.need("a scope such as `.gpu`", Scope::from_str)?;
            return Ok(if mmio { StoreOrder::Mmio(scope) } else { StoreOrder::Relaxed(scope) });
        }
        if !mmio && mods.flag("release") {
            return mods.need("a scope such as `.gpu`", Scope::from_str).map(StoreOrder::Release);
        }
        mods.require(!mmio, "`.mmio` goes with `.relaxed`")?;
        Ok(StoreOrder::Weak)
    }

    /// `atom`, `red`
    pub fn atom(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.has("async") {
            return self.remote_access(st, mods);
        }
        let reduce = mods.opcode.text == "red";
        let order = mods.take(AtomOrder::from_str);
        let scope = mods.take(Scope::from_str);
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let memory =
            matches!(space, Space::Generic | Space::Global | Space::Shared | Space::SharedCluster);
        mods.require(memory, "atomics are for generic, `.global` and `.shared` memory")?;
        let op = mods.need("an operation such as `.add`", AtomOp::from_str)?;
        let swaps = matches!(op, AtomOp::Cas | AtomOp::Exch);
        mods.require(!(reduce && swaps), "`red` throws the old value away")?;
        let noftz = mods.flag("noftz");
        let has_policy = mods.flag("L2::cache_hint");
        let count = vector_len(&mut mods);
        let ty = mods.ty(atom_types(op, count))?;
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        mods.require(noftz == half, "half types, and no others, have `.noftz`")?;
        let acquires = matches!(order, Some(AtomOrder::Acquire | AtomOrder::AcqRel));
        mods.require(!(reduce && acquires), "`red` reads nothing that it could acquire")?;
        if count > 1 {
            let exists = matches!(space, Space::Generic | Space::Global)
                && count * ty.bits() as usize <= 128;
            mods.require(exists, "vectors are `.global` and at most 16 bytes")?;
        }
        mods.finish()?;
        if count > 1 {
            let mut dsts: Dsts = Box::new([]);
            if !reduce {
                dsts = self.dsts(st, ty, count, Width::Exact)?;
                self.comma()?;
            }
            let addr = self.space_address(st, space)?;
            self.comma()?;
            let srcs = self.srcs(st, ty, count, Width::Exact)?;
            let policy = self.policy(st, has_policy)?;
            let atom = AtomVector { op, ty, space, order, scope, noftz, dsts, addr, srcs, policy };
            return Ok(match reduce {
                true => Inst::RedVector(Box::new(atom)),
                false => Inst::AtomVector(Box::new(atom)),
            });
        }
        let mut dst = None;
        if !reduce {
            dst = self.dst(st, ty, Width::Exact)?;
            self.comma()?;
        }
        let addr = self.space_address(st, space)?;
        let b = self.next_operand(st, ty)?;
        let c = if op == AtomOp::Cas { Some(self.next_operand(st, ty)?) } else { None };
        let policy = self.policy(st, has_policy)?;
        let atom = Atom { op, ty, space, order, scope, noftz, dst, addr, b, c, policy };
        Ok(if reduce { Inst::Red(Box::new(atom)) } else { Inst::Atom(Box::new(atom)) })
    }

    /// `cp.async` and its groups.
    pub fn cp_async(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let reduce = mods.flag("reduce");
        let known = mods.flag("async");
        if known && mods.flag("bulk") {
            return self.cp_bulk(st, mods, reduce);
        }
        if !known || reduce {
            return self.unknown_instruction(&mods);
        }
        if mods.has("mbarrier") {
            return self.cp_async_mbarrier(st, mods);
        }
        if mods.flag("commit_group") {
            mods.finish()?;
            return Ok(Inst::CpAsyncCommitGroup);
        }
        if mods.flag("wait_all") {
            mods.finish()?;
            return Ok(Inst::CpAsyncWaitAll);
        }
        if mods.flag("wait_group") {
            mods.finish()?;
            return Ok(Inst::CpAsyncWaitGroup {
                pending: self.number_u32("the number of groups")?,
            });
        }
        let (mut hints, has_policy) = cache_hints(&mut mods, &[CacheOp::Ca, CacheOp::Cg]);
        mods.require(hints.op.is_some(), "`.ca` or `.cg` is needed")?;
        let to = mods.take(space_word);
        let from = mods.take(space_word);
        let spaces = to == Some(Space::Shared) && from == Some(Space::Global);
        mods.require(spaces, "it copies from `.global` to `.shared`")?;
        mods.finish()?;
        let dst = self.space_address(st, Space::Shared)?;
        self.comma()?;
        let src = self.space_address(st, Space::Global)?;
        self.comma()?;
        let token = self.peek;
        let size_bytes = self.number_u32("the number of bytes")?;
        let only_16 = hints.op == Some(CacheOp::Cg);
        if !matches!(size_bytes, 4 | 8 | 16) || (only_16 && size_bytes != 16) {
            let message = format!("{size_bytes} bytes cannot be copied by this instruction");
            return Err(self.error_at(&token, ErrorKind::Operand, message));
        }
        let (mut src_size, mut ignore_src) = (None, None);
        // What follows is a predicate, a size, or the policy that the modifiers announce.
        let more = self.at(b',');
        if more {
            self.comma()?;
            if self.at_predicate(st) {
                ignore_src = Some(self.pred_operand(st)?);
            } else if has_policy && self.at_64_bit_register(st) {
                hints.policy = Some(self.operand(st, B64)?);
            } else {
                src_size = Some(self.operand(st, U32)?);
            }
        }
        if has_policy && hints.policy.is_none() {
            hints.policy = self.policy(st, true)?;
        }
        let cache = Box::new(hints);
        Ok(Inst::CpAsync { dst, src, size_bytes, src_size, ignore_src, cache })
    }

    /// Is the next operand `!p` or a predicate register?
    pub fn at_predicate(&mut self, st: &mut FunctionState<'a>) -> bool {
        self.at(b'!') || self.peek_register_ty(st) == Some(Pred)
    }

    fn at_64_bit_register(&mut self, st: &mut FunctionState<'a>) -> bool {
        self.peek_register_ty(st).is_some_and(|ty| ty.bits() == 64)
    }

    /// The declared type of the register that is next.
    pub fn peek_register_ty(&mut self, st: &mut FunctionState<'a>) -> Option<ScalarType> {
        match st.lookup(self.peek.text) {
            Some(super::body::Name::Reg(reg)) => Some(st.body.registers[reg.index()].ty),
            _ => None,
        }
    }

    /// `prefetch`, `prefetchu`
    pub fn prefetch(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.opcode.text == "prefetchu" {
            mods.need("`.L1`", |word| (word == "L1").then_some(()))?;
            mods.finish()?;
            return Ok(Inst::PrefetchUniform { addr: self.address(st)? });
        }
        if mods.has("tensormap") {
            return self.unknown_instruction(&mods);
        }
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let level = mods.need("`.L1` or `.L2`", PrefetchLevel::from_str)?;
        mods.finish()?;
        let addr = self.space_address(st, space)?;
        Ok(Inst::Prefetch { space, level, addr })
    }

    /// `applypriority`, `discard`
    pub fn cache_line(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let discard = mods.opcode.text == "discard";
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let word = if discard { "L2" } else { "L2::evict_normal" };
        mods.need("its cache level", |found| (found == word).then_some(()))?;
        mods.finish()?;
        let addr = self.space_address(st, space)?;
        self.comma()?;
        let size_bytes = self.number_u32("the number of bytes")?;
        Ok(match discard {
            true => Inst::Discard { space, addr, size_bytes },
            false => Inst::ApplyPriority { space, addr, size_bytes },
        })
    }

    /// `createpolicy`
    pub fn createpolicy(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let kind = mods.need("`.fractional`, `.range` or `.cvt`", |word| match word {
            "fractional" | "range" | "cvt" => Some(word.as_bytes()[0]),
            _ => None,
        })?;
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        if kind == b'c' {
            mods.need("`.L2`", |word| (word == "L2").then_some(()))?;
            mods.ty(&[B64])?;
            mods.finish()?;
            let (dst, property) = self.d_a(st, B64, B64)?;
            let policy = Box::new(CreatePolicy::Convert(property));
            return Ok(Inst::CreatePolicy { dst, policy });
        }
        let first = mods.need("a priority such as `.L2::evict_last`", L2Eviction::from_str)?;
        let second = mods.take(L2Eviction::from_str);
        mods.ty(&[B64])?;
        mods.finish()?;
        let dst = self.register(st, B64)?;
        if kind == b'f' {
            let fraction = if self.at(b',') { Some(self.next_operand(st, F32)?) } else { None };
            let policy = Box::new(CreatePolicy::Fractional(first, second, fraction));
            return Ok(Inst::CreatePolicy { dst, policy });
        }
        self.comma()?;
        let addr = self.space_address(st, space)?;
        let primary = self.next_operand(st, U32)?;
        let total = self.next_operand(st, U32)?;
        let policy = Box::new(CreatePolicy::Range(first, second, space, addr, primary, total));
        Ok(Inst::CreatePolicy { dst, policy })
    }

    /// `alloca`
    pub fn alloca(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(&[U32, U64])?;
        mods.finish()?;
        let (dst, size) = self.d_a(st, ty, ty)?;
        let align_bytes = if self.eat(b',')? { self.alignment()? } else { 8 };
        Ok(Inst::Alloca { ty, dst, size, align_bytes })
    }

    /// `stacksave`, `stackrestore`
    pub fn stack_pointer(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
    ) -> Result<Inst> {
        let ty = mods.ty(&[U32, U64])?;
        mods.finish()?;
        Ok(match mods.opcode.text {
            "stacksave" => Inst::Stacksave { ty, dst: self.register(st, ty)? },
            _ => Inst::Stackrestore { ty, src: self.operand(st, ty)? },
        })
    }
}

fn check_vector(mods: &Mods, count: usize, ty: ScalarType, space: Space) -> Result<()> {
    let bits = count as u32 * ty.bits();
    let wide = matches!((count, ty.bits()), (8, 32) | (4, 64));
    let far = matches!(space, Space::Generic | Space::Global);
    mods.require(
        bits <= 128 || (wide && far),
        "a vector has at most 16 bytes (`.global` `.v8.b32` and `.v4.b64`: 32)",
    )
}

/// Eviction priorities and policies are for `.global` memory.
fn check_hints(
    mods: &Mods,
    hints: &CacheHints,
    has_policy: bool,
    bits: u32,
    space: Space,
) -> Result<()> {
    let far = matches!(space, Space::Generic | Space::Global);
    let special =
        has_policy || hints.l1.is_some() || hints.l2.is_some() || hints.prefetch.is_some();
    mods.require(far || !special, "these cache hints are for `.global` memory")?;
    let both = hints.op.is_some() && hints.l1.is_some();
    mods.require(!both, "a cache operator and an `.L1` priority do not go together")?;
    mods.require(bits == 256 || hints.l2.is_none(), "`.L2` priorities are for 32-byte vectors")
}

/// Orderings are for memory that other threads see.
fn check_order(mods: &Mods, weak: bool, mmio: bool, space: Space) -> Result<()> {
    let global = matches!(space, Space::Generic | Space::Global);
    let shared = global || matches!(space, Space::Shared | Space::SharedCluster);
    mods.require(weak || shared, "only shared and global memory has an order")?;
    mods.require(!mmio || global, "`.mmio` is for `.global` memory")
}

/// The types that an operation has.
fn atom_types(op: AtomOp, count: usize) -> &'static [ScalarType] {
    if count > 1 {
        return match op {
            AtomOp::Add => &[F32, F16, F16x2, BF16, BF16x2],
            AtomOp::Min | AtomOp::Max => &[F16, F16x2, BF16, BF16x2],
            _ => &[],
        };
    }
    match op {
        AtomOp::And | AtomOp::Or | AtomOp::Xor => &[B32, B64],
        AtomOp::Cas => &[B16, B32, B64, B128],
        AtomOp::Exch => &[B32, B64, B128],
        AtomOp::Add => &[U32, S32, U64, F32, F64, F16, F16x2, BF16, BF16x2],
        AtomOp::Inc | AtomOp::Dec => &[U32],
        AtomOp::Min | AtomOp::Max => &[U32, S32, U64, S64],
    }
}
