//! Bulk copies: `cp.async.bulk`, `cp.reduce.async.bulk` and what belongs to them.

use super::body::FunctionState;
use super::inst_data::space_word;
use super::mods::Mods;
use super::{Parser, Result};
use crate::bulk::BulkCopy;
use crate::error::ErrorKind;
use crate::inst::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// After `cp.async.bulk` or `cp.reduce.async.bulk`.
    pub fn cp_bulk(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
        reduces: bool,
    ) -> Result<Inst> {
        if mods.has("tensor") {
            let message = format!("`{}`: tensor maps are not supported", mods.full_name());
            return Err(self.error_at(&mods.opcode, ErrorKind::Unsupported, message));
        }
        if mods.flag("commit_group") {
            mods.finish()?;
            return Ok(Inst::BulkCommitGroup);
        }
        if mods.flag("wait_group") {
            let read = mods.flag("read");
            mods.finish()?;
            let pending = self.number_u32("the number of groups")?;
            return Ok(Inst::BulkWaitGroup { pending, read });
        }
        let has_policy = mods.flag("L2::cache_hint");
        if mods.flag("prefetch") {
            mods.need("`.L2`", |word| (word == "L2").then_some(()))?;
            mods.need("`.global`", |word| (word == "global").then_some(()))?;
            mods.finish()?;
            let addr = self.space_address(st, Space::Global)?;
            let size = self.next_operand(st, U32)?;
            let policy = if has_policy { Some(self.next_operand(st, B64)?) } else { None };
            return Ok(Inst::BulkPrefetch { addr, size, policy });
        }
        let dst_space = mods.need("a state space to copy to", space_word)?;
        let src_space = mods.need("a state space to copy from", space_word)?;
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
        let dst = self.space_address(st, dst_space)?;
        self.comma()?;
        let src = self.space_address(st, src_space)?;
        let size = self.next_operand(st, U32)?;
        let mut object = None;
        if told {
            self.comma()?;
            object = Some(self.space_address(st, Space::Shared)?);
        }
        let multicast = if multicast { Some(self.next_operand(st, B16)?) } else { None };
        let policy = if has_policy { Some(self.next_operand(st, B64)?) } else { None };
        let copy =
            BulkCopy { reduce, dst_space, src_space, dst, src, size, object, multicast, policy };
        Ok(Inst::BulkCopy(Box::new(copy)))
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
