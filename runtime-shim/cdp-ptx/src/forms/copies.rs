//! Asynchronous copies: `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`.

use crate::bulk::BulkCopy;
use crate::forms::memory::cache_hints;
use crate::inst::*;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `cp.async`
    pub fn cp_async(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("async")?;
        let (mut hints, has_policy) = cache_hints(mods, &[CacheOp::Ca, CacheOp::Cg]);
        mods.require(hints.op.is_some(), "`.ca` or `.cg` is needed")?;
        let to = mods.take(Space::of);
        let from = mods.take(Space::of);
        let spaces = to == Some(Space::Shared) && from == Some(Space::Global);
        mods.require(spaces, "it copies from `.global` to `.shared`")?;
        mods.finish()?;
        let dst = self.space_address(Space::Shared)?;
        self.comma()?;
        let src = self.space_address(Space::Global)?;
        self.comma()?;
        let token = self.peek;
        let size_bytes = self.number_u32("the number of bytes")?;
        let only_16 = hints.op == Some(CacheOp::Cg);
        if !matches!(size_bytes, 4 | 8 | 16) || (only_16 && size_bytes != 16) {
            fail!(self, token, Operand, "{size_bytes} bytes cannot be copied by this instruction");
        }
        let (mut src_size, mut ignore_src) = (None, None);
        // What follows is a predicate, a size, or the policy that the modifiers announce.
        let more = self.at(b',');
        if more {
            self.comma()?;
            if self.at_predicate() {
                ignore_src = Some(self.pred_operand()?);
            } else if has_policy && self.at_64_bit_register() {
                hints.policy = Some(self.operand(B64)?);
            } else {
                src_size = Some(self.operand(U32)?);
            }
        }
        if has_policy && hints.policy.is_none() {
            hints.policy = self.policy(true)?;
        }
        let cache = Box::new(hints);
        Ok(Inst::CpAsync { dst, src, size_bytes, src_size, ignore_src, cache })
    }
    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    pub fn cp_bulk(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let reduces = mods.flag("reduce");
        mods.word("async")?;
        mods.word("bulk")?;
        let has_policy = mods.flag("L2::cache_hint");
        let dst_space = mods.need("a state space to copy to", Space::of)?;
        let src_space = mods.need("a state space to copy from", Space::of)?;
        let told = mods.flag("mbarrier::complete_tx::bytes");
        let grouped = mods.flag("bulk_group");
        mods.require(told != grouped, "it completes by an object or by a group")?;
        let multicast = mods.flag("multicast::cluster");
        use Space::{Global, Shared, SharedCluster};
        let known = match (dst_space, src_space) {
            (Shared, Global) => told && !reduces && !multicast,
            (SharedCluster, Global) => told && !reduces,
            (SharedCluster, Shared) => told && !multicast,
            (Global, Shared) => grouped && !multicast,
            _ => false,
        };
        mods.require(known, "these state spaces and ways of completing do not go together")?;
        let reduce = if reduces {
            let op = mods.need("an operation such as `.add`", AtomOp::from_str)?;
            let ty = mods.ty(bulk_types(op, dst_space))?;
            let half = matches!(ty, F16 | BF16);
            let noftz = mods.flag("noftz");
            let adds = half && op == AtomOp::Add;
            mods.require(noftz == adds, "additions of halves, and nothing else, have `.noftz`")?;
            Some((op, ty))
        } else {
            None
        };
        mods.finish()?;
        let dst = self.space_address(dst_space)?;
        self.comma()?;
        let src = self.space_address(src_space)?;
        let size = self.next_operand(U32)?;
        let mut object = None;
        if told {
            self.comma()?;
            object = Some(self.space_address(Space::Shared)?);
        }
        let multicast = if multicast { Some(self.next_operand(B16)?) } else { None };
        let policy = if has_policy { Some(self.next_operand(B64)?) } else { None };
        let copy =
            BulkCopy { reduce, dst_space, src_space, dst, src, size, object, multicast, policy };
        Ok(Inst::BulkCopy(Box::new(copy)))
    }
}

impl Printer<'_> {
    /// `cp.async`
    pub fn cp_async(&mut self, inst: &Inst) {
        fields!(inst, Inst::CpAsync { dst, src, size_bytes, src_size, ignore_src, cache });
        self.mnemonic("cp.async");
        self.cache(&CacheHints { op: cache.op, ..CacheHints::default() });
        self.words(&["shared", "global"]);
        self.cache(&CacheHints { op: None, ..**cache });
        let mut args = vec![A(dst), A(src), N(i64::from(*size_bytes))];
        args.extend(ignore_src.iter().map(P));
        args.extend([SOpt(src_size, U32), SOpt(&cache.policy, B64)]);
        self.args(&args);
    }

    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    pub fn cp_bulk(&mut self, inst: &Inst) {
        fields!(inst, Inst::BulkCopy(copy));
        self.mnemonic(if copy.reduce.is_some() { "cp.reduce" } else { "cp" });
        self.words(&["async", "bulk"]);
        for space in [copy.dst_space, copy.src_space] {
            // Alone, `.shared` would be that of the cluster here.
            self.word(if space == Space::Shared { "shared::cta" } else { space.as_str() });
        }
        let told = copy.object.is_some();
        self.word(if told { "mbarrier::complete_tx::bytes" } else { "bulk_group" });
        self.flag(copy.multicast.is_some(), "multicast::cluster");
        self.flag(copy.policy.is_some(), "L2::cache_hint");
        if let Some((op, ty)) = copy.reduce {
            self.word(op.as_str());
            self.flag(matches!(ty, F16 | BF16) && op == AtomOp::Add, "noftz");
            self.word(ty.as_str());
        }
        let mut args = vec![A(&copy.dst), A(&copy.src), S(&copy.size, U32)];
        args.extend(copy.object.iter().map(A));
        args.extend([SOpt(&copy.multicast, B16), SOpt(&copy.policy, B64)]);
        self.args(&args);
    }
}
/// The types that a reduction has.
fn bulk_types(op: AtomOp, to: Space) -> &'static [ScalarType] {
    match (op, to) {
        (AtomOp::And | AtomOp::Or | AtomOp::Xor, Space::Global) => &[B32, B64],
        (AtomOp::And | AtomOp::Or | AtomOp::Xor, _) => &[B32],
        (AtomOp::Add, Space::Global) => &[U32, S32, U64, F16, BF16, F32, F64],
        (AtomOp::Add, _) => &[U32, S32, U64],
        (AtomOp::Min | AtomOp::Max, Space::Global) => &[U32, S32, U64, S64, F16, BF16],
        (AtomOp::Min | AtomOp::Max, _) => &[U32, S32],
        (AtomOp::Inc | AtomOp::Dec, _) => &[U32],
        _ => &[],
    }
}
