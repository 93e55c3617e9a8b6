//! Barriers of blocks, barrier objects in shared memory, and fences between proxies.

use crate::inst::*;
use crate::mbarrier::*;
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `bar`, `barrier`
    pub fn barrier(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let short = mods.opcode.text == "bar";
        mods.flag("cta");
        // `bar` is `barrier.aligned`.
        let aligned = short || mods.flag("aligned");
        let kind = mods.need("`.sync`, `.arrive` or `.red`", |word| match word {
            "sync" | "arrive" | "red" => Some(word.as_bytes()[0]),
            _ => None,
        })?;
        if kind == b'r' {
            return self.barrier_reduce(mods, aligned);
        }
        mods.finish()?;
        let id = self.operand(U32)?;
        let mut threads = None;
        if self.at(b',') {
            threads = Some(self.next_operand(U32)?);
        }
        if kind == b'a' && threads.is_none() {
            return self.expected("`,` and the number of threads");
        }
        let op = if kind == b'a' { BarrierOp::Arrive } else { BarrierOp::Sync };
        Ok(Inst::Barrier { op, aligned, id, threads })
    }

    fn barrier_reduce(&mut self, mods: &mut Mods<'a>, aligned: bool) -> Result<Inst> {
        let popc = mods.flag("popc");
        let bool_op = if popc {
            None
        } else {
            Some(mods.need("`.popc`, `.and` or `.or`", BoolOp::from_str)?)
        };
        mods.require(bool_op != Some(BoolOp::Xor), "only `.popc`, `.and` and `.or` do")?;
        let ty = mods.ty(if popc { &[U32] } else { &[Pred] })?;
        mods.finish()?;
        let dst = self.register(ty)?;
        let id = self.next_operand(U32)?;
        self.comma()?;
        let mut threads = None;
        if !self.at_predicate() {
            threads = Some(self.operand(U32)?);
            self.comma()?;
        }
        let pred = self.pred_operand()?;
        let op = match bool_op {
            None => BarrierOp::RedPopc { dst, pred },
            Some(op) => BarrierOp::RedPred { op, dst, pred },
        };
        Ok(Inst::Barrier { op, aligned, id, threads })
    }

    /// `fence.proxy`, `membar.proxy`
    pub fn fence_proxy(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("proxy")?;
        let first = mods.need("a proxy such as `.alias`", ProxyKind::from_str)?;
        let old = mods.opcode.text == "membar";
        mods.require(!old || first == ProxyKind::Alias, "`membar` knows only `.alias`")?;
        let mut kind = first;
        if first == ProxyKind::Async {
            kind = mods.take(|word| ProxyKind::from_str(&format!("async.{word}"))).unwrap_or(first);
        }
        mods.finish()?;
        Ok(Inst::FenceProxy { kind })
    }

    /// `mbarrier`
    pub fn mbarrier(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        if mods.is("cp") {
            return self.cp_async_mbarrier(mods);
        }
        const KINDS: [&str; 8] = [
            "init",
            "inval",
            "arrive",
            "arrive_drop",
            "test_wait",
            "try_wait",
            "expect_tx",
            "complete_tx",
        ];
        let kind = mods.need("an operation such as `.arrive`", |word| {
            KINDS.iter().position(|known| *known == word)
        })?;
        let expect_tx = matches!(kind, 2 | 3) && mods.flag("expect_tx");
        let no_complete = matches!(kind, 2 | 3) && mods.flag("noComplete");
        let parity = matches!(kind, 4 | 5) && mods.flag("parity");
        let order =
            if matches!(kind, 2..=7) { self.mbarrier_order(mods, kind >= 4)? } else { None };
        let space = mods.take(Space::of);
        let elsewhere = space == Some(Space::SharedCluster) && matches!(kind, 2 | 3 | 6 | 7);
        let in_shared = elsewhere || space.is_none_or(|space| space == Space::Shared);
        mods.require(in_shared, "a barrier object is in `.shared` memory of the block")?;
        let space = space.unwrap_or(Space::Generic);
        mods.ty(&[B64])?;
        mods.finish()?;
        let mut result = None;
        match kind {
            2 | 3 => {
                result = Some(self.dst(B64, Width::Exact)?);
                self.comma()?;
            }
            4 | 5 => {
                let pred = self.register(Pred)?;
                self.comma()?;
                let addr = self.space_address(space)?;
                let phase = if parity {
                    MbarrierPhase::Parity(self.next_operand(U32)?)
                } else {
                    MbarrierPhase::State(self.next_operand(B64)?)
                };
                let waits = kind == 5;
                let limit =
                    if waits && self.at(b',') { Some(self.next_operand(U32)?) } else { None };
                let op = MbarrierOp::Wait { pred, phase, waits, limit };
                return Ok(Inst::Mbarrier(Box::new(Mbarrier { op, space, addr, order })));
            }
            _ => {}
        }
        let addr = self.space_address(space)?;
        let mut count = None;
        if matches!(kind, 0 | 6 | 7)
            || no_complete
            || expect_tx
            || (matches!(kind, 2 | 3) && self.at(b','))
        {
            count = Some(self.next_operand(U32)?);
        }
        let op = match (kind, count, result) {
            (0, Some(count), _) => MbarrierOp::Init { count },
            (6, Some(bytes), _) => MbarrierOp::ExpectTx { bytes },
            (7, Some(bytes), _) => MbarrierOp::CompleteTx { bytes },
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

    /// `cp.async.mbarrier.arrive`
    fn cp_async_mbarrier(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("async")?;
        mods.word("mbarrier")?;
        mods.word("arrive")?;
        let noinc = mods.flag("noinc");
        let space = mods.take(Space::of);
        let in_shared = space.is_none_or(|space| space == Space::Shared);
        mods.require(in_shared, "a barrier object is in `.shared` memory of the block")?;
        let space = space.unwrap_or(Space::Generic);
        mods.ty(&[B64])?;
        mods.finish()?;
        let addr = self.space_address(space)?;
        let op = MbarrierOp::CpAsyncArrive { noinc };
        Ok(Inst::Mbarrier(Box::new(Mbarrier { op, space, addr, order: None })))
    }
}

impl Printer<'_> {
    /// `fence.proxy`
    pub fn fence_proxy(&mut self, inst: &Inst) {
        fields!(inst, Inst::FenceProxy { kind });
        self.mnemonic("fence.proxy");
        self.word(kind.as_str());
        self.args(&[]);
    }

    /// `bar`, `barrier`
    pub fn barrier(&mut self, inst: &Inst) {
        fields!(inst, Inst::Barrier { op, aligned, id, threads });
        // `bar` and `barrier.aligned` are the same; `bar` is the older spelling.
        self.mnemonic(if *aligned { "bar" } else { "barrier" });
        let (dst, pred) = match op {
            BarrierOp::Sync | BarrierOp::Arrive => {
                self.word(if matches!(op, BarrierOp::Sync) { "sync" } else { "arrive" });
                return self.args(&[S(id, U32), SOpt(threads, U32)]);
            }
            BarrierOp::RedPopc { dst, pred } => {
                self.words(&["red", "popc", "u32"]);
                (dst, pred)
            }
            BarrierOp::RedPred { op, dst, pred } => {
                self.words(&["red", op.as_str(), "pred"]);
                (dst, pred)
            }
        };
        self.args(&[D(*dst), S(id, U32), SOpt(threads, U32), P(pred)]);
    }
    /// `mbarrier` and `cp.async.mbarrier.arrive`
    pub fn mbarrier(&mut self, inst: &Inst) {
        fields!(inst, Inst::Mbarrier(barrier));
        let Mbarrier { op, space, addr, order } = barrier.as_ref();
        self.mnemonic(match op {
            MbarrierOp::Init { .. } => "mbarrier.init",
            MbarrierOp::Inval => "mbarrier.inval",
            MbarrierOp::Arrive { drop: false, .. } => "mbarrier.arrive",
            MbarrierOp::Arrive { drop: true, .. } => "mbarrier.arrive_drop",
            MbarrierOp::Wait { waits: false, .. } => "mbarrier.test_wait",
            MbarrierOp::Wait { waits: true, .. } => "mbarrier.try_wait",
            MbarrierOp::CpAsyncArrive { .. } => "cp.async.mbarrier.arrive",
            MbarrierOp::ExpectTx { .. } => "mbarrier.expect_tx",
            MbarrierOp::CompleteTx { .. } => "mbarrier.complete_tx",
        });
        self.flag(matches!(op, MbarrierOp::CpAsyncArrive { noinc: true }), "noinc");
        self.flag(matches!(op, MbarrierOp::Arrive { expect_tx: true, .. }), "expect_tx");
        self.flag(matches!(op, MbarrierOp::Arrive { no_complete: true, .. }), "noComplete");
        let parity = matches!(op, MbarrierOp::Wait { phase: MbarrierPhase::Parity(_), .. });
        self.flag(parity, "parity");
        if let Some((order, scope)) = order {
            self.words(&[order.as_str(), scope.as_str()]);
        }
        self.space(*space);
        self.word("b64");
        match op {
            MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => {
                self.args(&[A(addr), S(bytes, U32)]);
            }
            MbarrierOp::Init { count } => self.args(&[A(addr), S(count, U32)]),
            MbarrierOp::Inval | MbarrierOp::CpAsyncArrive { .. } => self.args(&[A(addr)]),
            MbarrierOp::Arrive { dst, count, .. } => {
                self.args(&[O(*dst), A(addr), SOpt(count, U32)]);
            }
            MbarrierOp::Wait { pred, phase, limit, .. } => {
                let phase = match phase {
                    MbarrierPhase::State(state) => S(state, B64),
                    MbarrierPhase::Parity(parity) => S(parity, U32),
                };
                self.args(&[D(*pred), A(addr), phase, SOpt(limit, U32)]);
            }
        }
    }
}
