//! Barriers that are objects in shared memory: `mbarrier` and `cp.async.mbarrier.arrive`.

use super::body::FunctionState;
use super::inst_data::space_word;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::inst::*;
use crate::mbarrier::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `mbarrier`
    pub fn mbarrier(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        const KINDS: [&str; 9] = [
            "init",
            "inval",
            "arrive",
            "arrive_drop",
            "test_wait",
            "try_wait",
            "pending_count",
            "expect_tx",
            "complete_tx",
        ];
        let kind = mods.need("an operation such as `.arrive`", |word| {
            KINDS.iter().position(|known| *known == word)
        })?;
        let expect_tx = matches!(kind, 2 | 3) && mods.flag("expect_tx");
        let no_complete = matches!(kind, 2 | 3) && mods.flag("noComplete");
        let parity = matches!(kind, 4 | 5) && mods.flag("parity");
        let order = if matches!(kind, 2..=5 | 7..=8) {
            self.mbarrier_order(&mut mods, kind >= 4)?
        } else {
            None
        };
        let space = if kind == 6 { None } else { mods.take(space_word) };
        let elsewhere = space == Some(Space::SharedCluster) && matches!(kind, 2 | 3 | 7 | 8);
        let in_shared = elsewhere || space.is_none_or(|space| space == Space::Shared);
        mods.require(in_shared, "a barrier object is in `.shared` memory of the block")?;
        let space = space.unwrap_or(Space::Generic);
        mods.ty(&[B64])?;
        mods.finish()?;
        if kind == 6 {
            let dst = self.register(st, B32)?;
            return Ok(Inst::MbarrierPendingCount { dst, state: self.next_operand(st, B64)? });
        }
        let mut result = None;
        match kind {
            2 | 3 => {
                result = Some(self.dst(st, B64, Width::Exact)?);
                self.comma()?;
            }
            4 | 5 => {
                let pred = self.register(st, Pred)?;
                self.comma()?;
                let addr = self.space_address(st, space)?;
                let phase = if parity {
                    MbarrierPhase::Parity(self.next_operand(st, U32)?)
                } else {
                    MbarrierPhase::State(self.next_operand(st, B64)?)
                };
                let waits = kind == 5;
                let limit =
                    if waits && self.at(b',') { Some(self.next_operand(st, U32)?) } else { None };
                let op = MbarrierOp::Wait { pred, phase, waits, limit };
                return Ok(Inst::Mbarrier(Box::new(Mbarrier { op, space, addr, order })));
            }
            _ => {}
        }
        let addr = self.space_address(st, space)?;
        let mut count = None;
        if matches!(kind, 0 | 7 | 8)
            || no_complete
            || expect_tx
            || (matches!(kind, 2 | 3) && self.at(b','))
        {
            count = Some(self.next_operand(st, U32)?);
        }
        let op = match (kind, count, result) {
            (0, Some(count), _) => MbarrierOp::Init { count },
            (7, Some(bytes), _) => MbarrierOp::ExpectTx { bytes },
            (8, Some(bytes), _) => MbarrierOp::CompleteTx { bytes },
            (2 | 3, count, Some(dst)) => {
                MbarrierOp::Arrive { dst, count, expect_tx, drop: kind == 3, no_complete }
            }
            _ => MbarrierOp::Inval,
        };
        Ok(Inst::Mbarrier(Box::new(Mbarrier { op, space, addr, order })))
    }

    /// `.release.cta` and its kin: both or neither.
    fn mbarrier_order(
        &mut self,
        mods: &mut Mods<'a>,
        waits: bool,
    ) -> Result<Option<(AtomOrder, Scope)>> {
        let Some(order) = mods.take(AtomOrder::from_str) else { return Ok(None) };
        let full = if waits { AtomOrder::Acquire } else { AtomOrder::Release };
        let known = order == full || order == AtomOrder::Relaxed;
        mods.require(known, "arrivals release, waits acquire")?;
        let scope = mods.need("a scope such as `.cta`", Scope::from_str)?;
        mods.require(
            matches!(scope, Scope::Cta | Scope::Cluster),
            "the scope is `.cta` or `.cluster`",
        )?;
        Ok(Some((order, scope)))
    }

    /// `cp.async.mbarrier.arrive`, after `cp.async`.
    pub fn cp_async_mbarrier(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
    ) -> Result<Inst> {
        mods.need("`.mbarrier`", |word| (word == "mbarrier").then_some(()))?;
        mods.need("`.arrive`", |word| (word == "arrive").then_some(()))?;
        let noinc = mods.flag("noinc");
        let space = mods.take(space_word);
        let in_shared = space.is_none_or(|space| space == Space::Shared);
        mods.require(in_shared, "a barrier object is in `.shared` memory of the block")?;
        let space = space.unwrap_or(Space::Generic);
        mods.ty(&[B64])?;
        mods.finish()?;
        let addr = self.space_address(st, space)?;
        let op = MbarrierOp::CpAsyncArrive { noinc };
        Ok(Inst::Mbarrier(Box::new(Mbarrier { op, space, addr, order: None })))
    }
}
