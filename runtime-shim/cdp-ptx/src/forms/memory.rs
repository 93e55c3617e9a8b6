//! Loads and stores with their orders and hints; asynchronous stores, and policies of caches.

use crate::cluster::RemoteAccess;
use crate::inst::*;
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::*;
use crate::types::*;

use ScalarType::*;

/// Cache modifiers of a load or store; the policy operand comes last in the text. The second
/// value says that there is one.
pub(super) fn cache_hints(mods: &mut Mods, ops: &[CacheOp]) -> (CacheHints, bool) {
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

const MEMORY_TYPES: &[ScalarType] =
    &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

impl<'a> Parser<'a> {
    /// `, policy` if the modifiers announce one.
    pub fn policy(&mut self, announced: bool) -> Result<Option<Operand>> {
        if announced { self.next_operand(B64).map(Some) } else { Ok(None) }
    }

    /// `ld`, `ldu`
    pub fn ld(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let order = self.load_order(mods)?;
        let space = mods.space();
        let uniform = mods.opcode.text == "ldu";
        // A generic `ldu` is an ordinary load.
        let non_coherent = mods.flag("nc") || (uniform && space == Space::Global);
        mods.require(!non_coherent || space == Space::Global, "only `.global` is non-coherent")?;
        let far = matches!(space, Space::Generic | Space::Global);
        mods.require(!uniform || far, "`ldu` is for `.global` memory")?;
        let ops = [CacheOp::Ca, CacheOp::Cg, CacheOp::Cs, CacheOp::Lu, CacheOp::Cv];
        let (mut hints, has_policy) = cache_hints(mods, &ops);
        let count = mods.lanes();
        let ty = mods.ty(MEMORY_TYPES)?;
        check_vector(mods, count, ty, space)?;
        check_hints(mods, &hints, has_policy, count as u32 * ty.bits(), space)?;
        let weak = matches!(order, LoadOrder::Weak);
        check_order(mods, weak, matches!(order, LoadOrder::Mmio(_)), space)?;
        mods.finish()?;
        let dsts = self.dsts(ty, count, Width::AtLeast)?;
        self.comma()?;
        let addr = self.space_address(space)?;
        self.eat_dot("unified")?;
        hints.policy = self.policy(has_policy)?;
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
    pub fn st(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let order = self.store_order(mods)?;
        let space = mods.space();
        mods.require(space != Space::Const, "constant memory is not written")?;
        let ops = [CacheOp::Wb, CacheOp::Cg, CacheOp::Cs, CacheOp::Wt];
        let (mut hints, has_policy) = cache_hints(mods, &ops);
        let count = mods.lanes();
        let ty = mods.ty(MEMORY_TYPES)?;
        check_vector(mods, count, ty, space)?;
        check_hints(mods, &hints, has_policy, count as u32 * ty.bits(), space)?;
        mods.require(hints.prefetch.is_none(), "a store fetches nothing")?;
        let weak = matches!(order, StoreOrder::Weak);
        check_order(mods, weak, matches!(order, StoreOrder::Mmio(_)), space)?;
        mods.finish()?;
        let addr = self.space_address(space)?;
        self.comma()?;
        let srcs = self.srcs(ty, count, Width::AtLeast)?;
        hints.policy = self.policy(has_policy)?;
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
    /// `st.async`, `red.async`
    pub fn remote_access(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("async")?;
        let reduces = mods.opcode.text == "red";
        if reduces {
            mods.word("relaxed")?;
            mods.word("cluster")?;
        } else {
            mods.flag("weak");
        }
        let space = mods.space();
        let known = matches!(space, Space::Generic | Space::SharedCluster);
        mods.require(known, "the address is generic or of `.shared::cluster`")?;
        mods.word("mbarrier::complete_tx::bytes")?;
        let mut reduce = None;
        let mut count = 1;
        let ty = if reduces {
            let op = mods.need("an operation such as `.add`", AtomOp::from_str)?;
            reduce = Some(op);
            mods.ty(match op {
                AtomOp::And | AtomOp::Or | AtomOp::Xor => &[B32],
                AtomOp::Add => &[U32, S32, U64],
                AtomOp::Min | AtomOp::Max => &[U32, S32],
                AtomOp::Inc | AtomOp::Dec => &[U32],
                AtomOp::Cas | AtomOp::Exch => &[],
            })?
        } else {
            count = mods.lanes();
            mods.require(count <= 4, "a vector has 2 or 4 elements")?;
            mods.ty(&[B32, B64, U32, U64, S32, S64, F32, F64])?
        };
        mods.finish()?;
        let addr = self.space_address(Space::SharedCluster)?;
        self.comma()?;
        let srcs = self.srcs(ty, count, Width::Exact)?;
        self.comma()?;
        let object = self.space_address(Space::SharedCluster)?;
        Ok(Inst::RemoteAccess(Box::new(RemoteAccess { reduce, ty, addr, srcs, object })))
    }
    /// `createpolicy`
    pub fn create_policy(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let kind = mods.need("`.fractional`, `.range` or `.cvt`", |word| match word {
            "fractional" | "range" | "cvt" => Some(word.as_bytes()[0]),
            _ => None,
        })?;
        let space = mods.space();
        if kind == b'c' {
            mods.word("L2")?;
            mods.ty(&[B64])?;
            mods.finish()?;
            let (dst, property) = self.d_a(B64, B64)?;
            let policy = Box::new(CreatePolicy::Convert(property));
            return Ok(Inst::CreatePolicy { dst, policy });
        }
        let first = mods.need("a priority such as `.L2::evict_last`", L2Eviction::from_str)?;
        let second = mods.take(L2Eviction::from_str);
        mods.ty(&[B64])?;
        mods.finish()?;
        let dst = self.register(B64)?;
        if kind == b'f' {
            let fraction = if self.at(b',') { Some(self.next_operand(F32)?) } else { None };
            let policy = Box::new(CreatePolicy::Fractional(first, second, fraction));
            return Ok(Inst::CreatePolicy { dst, policy });
        }
        self.comma()?;
        let addr = self.space_address(space)?;
        let primary = self.next_operand(U32)?;
        let total = self.next_operand(U32)?;
        let policy = Box::new(CreatePolicy::Range(first, second, space, addr, primary, total));
        Ok(Inst::CreatePolicy { dst, policy })
    }
}

impl Printer<'_> {
    /// `ld`
    pub fn ld(&mut self, inst: &Inst) {
        fields!(inst, Inst::Ld { space, order, non_coherent, ty, dsts, addr, cache });
        let hints = cache.as_deref().copied().unwrap_or_default();
        self.mnemonic("ld");
        self.load_order(*order);
        self.space(*space);
        // Cache operators come before `.nc`, other hints after it.
        self.cache(&CacheHints { op: hints.op, ..CacheHints::default() });
        self.flag(*non_coherent, "nc");
        self.cache(&CacheHints { op: None, ..hints });
        self.vector(dsts.len());
        self.word(ty.as_str());
        self.args(&[Ds(dsts), A(addr), SOpt(&hints.policy, B64)]);
    }

    /// `st`
    pub fn st(&mut self, inst: &Inst) {
        fields!(inst, Inst::St { space, order, ty, addr, srcs, cache });
        let hints = cache.as_deref().copied().unwrap_or_default();
        self.mnemonic("st");
        self.store_order(*order);
        self.space(*space);
        self.cache(&hints);
        self.vector(srcs.len());
        self.word(ty.as_str());
        self.args(&[A(addr), Ss(srcs, *ty), SOpt(&hints.policy, B64)]);
    }

    pub(super) fn cache(&mut self, hints: &CacheHints) {
        self.maybe(hints.op);
        self.maybe(hints.l1);
        self.maybe(hints.l2);
        self.flag(hints.policy.is_some(), "L2::cache_hint");
        self.maybe(hints.prefetch);
    }

    fn load_order(&mut self, order: LoadOrder) {
        match order {
            LoadOrder::Weak => {}
            LoadOrder::Volatile => self.word("volatile"),
            LoadOrder::Relaxed(scope) => self.words(&["relaxed", scope.as_str()]),
            LoadOrder::Acquire(scope) => self.words(&["acquire", scope.as_str()]),
            LoadOrder::Mmio(scope) => self.words(&["mmio", "relaxed", scope.as_str()]),
        }
    }

    fn store_order(&mut self, order: StoreOrder) {
        match order {
            StoreOrder::Weak => {}
            StoreOrder::Volatile => self.word("volatile"),
            StoreOrder::Relaxed(scope) => self.words(&["relaxed", scope.as_str()]),
            StoreOrder::Release(scope) => self.words(&["release", scope.as_str()]),
            StoreOrder::Mmio(scope) => self.words(&["mmio", "relaxed", scope.as_str()]),
        }
    }

    /// `createpolicy`
    pub fn create_policy(&mut self, inst: &Inst) {
        fields!(inst, Inst::CreatePolicy { dst, policy });
        let dst = *dst;
        match policy.as_ref() {
            CreatePolicy::Fractional(first, second, fraction) => {
                self.mnemonic("createpolicy.fractional");
                self.word(first.as_str());
                self.maybe(*second);
                self.word("b64");
                self.args(&[D(dst), SOpt(fraction, F32)]);
            }
            CreatePolicy::Range(first, second, space, addr, primary, total) => {
                self.mnemonic("createpolicy.range");
                self.space(*space);
                self.word(first.as_str());
                self.maybe(*second);
                self.word("b64");
                self.args(&[D(dst), A(addr), S(primary, U32), S(total, U32)]);
            }
            CreatePolicy::Convert(property) => {
                self.mnemonic("createpolicy.cvt.L2.b64");
                self.args(&[D(dst), S(property, B64)]);
            }
        }
    }
    /// `st.async`, `red.async`
    pub fn remote_access(&mut self, inst: &Inst) {
        fields!(inst, Inst::RemoteAccess(access));
        let RemoteAccess { reduce, ty, addr, srcs, object } = access.as_ref();
        match reduce {
            Some(_) => self.mnemonic("red.async.relaxed.cluster"),
            None => self.mnemonic("st.async"),
        }
        self.words(&["shared::cluster", "mbarrier::complete_tx::bytes"]);
        self.maybe(*reduce);
        self.vector(srcs.len());
        self.word(ty.as_str());
        self.args(&[A(addr), Ss(srcs, *ty), A(object)]);
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
