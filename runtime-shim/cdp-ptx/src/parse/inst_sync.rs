//! Barriers, fences, warp-level instructions, and small ones that concern a thread's scheduling.

use super::body::FunctionState;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `bar`, `barrier`
    pub fn barrier(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.opcode.text == "barrier" && mods.has("cluster") {
            return self.cluster_barrier(mods);
        }
        let short = mods.opcode.text == "bar";
        if short && mods.flag("warp") {
            mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
            mods.finish()?;
            return Ok(Inst::BarWarpSync { mask: self.operand(st, B32)? });
        }
        mods.flag("cta");
        // `bar` is `barrier.aligned`.
        let aligned = short || mods.flag("aligned");
        let kind = mods.need("`.sync`, `.arrive` or `.red`", |word| match word {
            "sync" | "arrive" | "red" => Some(word.as_bytes()[0]),
            _ => None,
        })?;
        if kind == b'r' {
            return self.barrier_reduce(st, mods, aligned);
        }
        mods.finish()?;
        let id = self.operand(st, U32)?;
        let mut threads = None;
        if self.at(b',') {
            threads = Some(self.next_operand(st, U32)?);
        }
        if kind == b'a' && threads.is_none() {
            return self.expected("`,` and the number of threads");
        }
        let op = if kind == b'a' { BarrierOp::Arrive } else { BarrierOp::Sync };
        Ok(Inst::Barrier { op, aligned, id, threads })
    }

    fn barrier_reduce(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
        aligned: bool,
    ) -> Result<Inst> {
        let popc = mods.flag("popc");
        let bool_op = if popc {
            None
        } else {
            Some(mods.need("`.popc`, `.and` or `.or`", BoolOp::from_str)?)
        };
        mods.require(bool_op != Some(BoolOp::Xor), "only `.popc`, `.and` and `.or` do")?;
        let ty = mods.ty(if popc { &[U32] } else { &[Pred] })?;
        mods.finish()?;
        let dst = self.register(st, ty)?;
        let id = self.next_operand(st, U32)?;
        self.comma()?;
        let mut threads = None;
        if !self.at_predicate(st) {
            threads = Some(self.operand(st, U32)?);
            self.comma()?;
        }
        let pred = self.pred_operand(st)?;
        let op = match bool_op {
            None => BarrierOp::RedPopc { dst, pred },
            Some(op) => BarrierOp::RedPred { op, dst, pred },
        };
        Ok(Inst::Barrier { op, aligned, id, threads })
    }

    /// `membar`, `fence`
    pub fn fence(&mut self, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.flag("proxy") {
            let first = mods.need("a proxy such as `.alias`", ProxyKind::from_str)?;
            let old = mods.opcode.text == "membar";
            mods.require(!old || first == ProxyKind::Alias, "`membar` knows only `.alias`")?;
            let mut kind = first;
            if first == ProxyKind::Async {
                kind = mods
                    .take(|word| ProxyKind::from_str(&format!("async.{word}")))
                    .unwrap_or(first);
            }
            mods.finish()?;
            return Ok(Inst::FenceProxy { kind });
        }
        if mods.opcode.text == "membar" {
            let level = mods.need("`.cta`, `.gl` or `.sys`", MembarLevel::from_str)?;
            mods.finish()?;
            return Ok(Inst::Membar { level });
        }
        // New objects seen by the cluster: a release, made cheaper.
        let objects = mods.flag("mbarrier_init");
        let order = mods.take(FenceOrder::from_str).unwrap_or(FenceOrder::AcqRel);
        let scope = mods.need("a scope such as `.gpu`", Scope::from_str)?;
        let fits = order == FenceOrder::Release && scope == Scope::Cluster;
        mods.require(!objects || fits, "`.mbarrier_init` goes with `.release.cluster`")?;
        mods.finish()?;
        Ok(Inst::Fence { order, scope })
    }

    /// Exchanges without a member mask end with sm_70 and PTX 6.4.
    fn needs_sync(&self, sync: bool, mods: &Mods<'a>) -> Result<()> {
        let gone = self.module.target.sm >= 70 && self.module.version >= (6, 4);
        mods.require(
            sync || !gone,
            "from sm_70 and PTX 6.4 on, `.sync` and a member mask are needed",
        )
    }

    /// `vote`
    pub fn vote(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let sync = mods.flag("sync");
        self.needs_sync(sync, &mods)?;
        let mode = mods.need("`.all`, `.any`, `.uni` or `.ballot`", VoteMode::from_str)?;
        let ty = mods.ty(if mode == VoteMode::Ballot { &[B32] } else { &[Pred] })?;
        mods.finish()?;
        let dst = self.register(st, ty)?;
        self.comma()?;
        let pred = self.pred_operand(st)?;
        let mask = if sync { Some(self.next_operand(st, B32)?) } else { None };
        Ok(Inst::Vote { mode, dst, pred, mask })
    }

    /// `match.sync`
    pub fn match_sync(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let mode = mods.need("`.any` or `.all`", MatchMode::from_str)?;
        mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
        let ty = mods.ty(&[B32, B64])?;
        mods.finish()?;
        let (dst, pred) = if mode == MatchMode::All {
            self.dst_pair(st, B32, Pred)?
        } else {
            (self.dst(st, B32, Width::Exact)?, None)
        };
        let src = self.next_operand(st, ty)?;
        let mask = self.next_operand(st, B32)?;
        Ok(Inst::Match { mode, ty, dst, pred, src, mask })
    }

    /// `activemask`
    pub fn activemask(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.ty(&[B32])?;
        mods.finish()?;
        Ok(Inst::Activemask { dst: self.register(st, B32)? })
    }

    /// `redux.sync`
    pub fn redux(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
        let op = mods.need("an operation such as `.add`", ReduxOp::from_str)?;
        let ty = mods.ty(match op {
            ReduxOp::Add => &[U32, S32],
            ReduxOp::Min | ReduxOp::Max => &[U32, S32, F32],
            _ => &[B32],
        })?;
        let abs = ty == F32 && mods.flag("abs");
        let nan = ty == F32 && mods.flag("NaN");
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        let mask = self.next_operand(st, B32)?;
        Ok(Inst::Redux { op, ty, abs, nan, dst, src, mask })
    }

    /// `shfl`
    pub fn shfl(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let sync = mods.flag("sync");
        self.needs_sync(sync, &mods)?;
        let mode = mods.need("`.up`, `.down`, `.bfly` or `.idx`", ShflMode::from_str)?;
        mods.ty(&[B32])?;
        mods.finish()?;
        let (dst, pred) = self.dst_pair(st, B32, Pred)?;
        let src = self.next_operand(st, B32)?;
        let b = self.next_operand(st, B32)?;
        let c = self.next_operand(st, B32)?;
        let mask = if sync { Some(self.next_operand(st, B32)?) } else { None };
        Ok(Inst::Shfl(Box::new(Shfl { mode, dst, pred, src, b, c, mask })))
    }

    /// `elect.sync`
    pub fn elect(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
        mods.finish()?;
        let dst = self.dst(st, B32, Width::Exact)?;
        self.expect(b'|')?;
        let pred = self.register(st, Pred)?;
        let mask = self.next_operand(st, B32)?;
        Ok(Inst::Elect { dst, pred, mask })
    }

    /// `griddepcontrol`
    pub fn griddepcontrol(&mut self, mut mods: Mods<'a>) -> Result<Inst> {
        let action = mods.need("`.launch_dependents` or `.wait`", GriddepAction::from_str)?;
        mods.finish()?;
        Ok(Inst::Griddepcontrol { action })
    }

    /// `nanosleep`
    pub fn nanosleep(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.ty(&[U32])?;
        mods.finish()?;
        Ok(Inst::Nanosleep { duration: self.operand(st, U32)? })
    }

    /// `pmevent`
    pub fn pmevent(&mut self, mut mods: Mods<'a>) -> Result<Inst> {
        let mask = mods.flag("mask");
        mods.finish()?;
        let token = self.peek;
        let event = self.number_u32("the event")?;
        if event > if mask { 0xffff } else { 15 } {
            let message = format!("{event} is not a performance monitor event");
            return Err(self.error_at(&token, ErrorKind::Limit, message));
        }
        Ok(Inst::Pmevent { mask, event })
    }
}
