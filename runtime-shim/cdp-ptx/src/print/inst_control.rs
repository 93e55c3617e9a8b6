//! Control flow, calls, synchronisation and warp instructions as text.

use super::Printer;
use super::operand::Arg::*;
use crate::inst::*;
use crate::module::*;
use crate::types::*;

use ScalarType::{B32, B64, U32};

impl Printer<'_> {
    /// Control flow, synchronisation, and the small ones.
    pub fn control(&mut self, inst: &Inst) {
        match inst {
            Inst::Bra { target, uniform } => {
                self.mnemonic("bra");
                self.flag(*uniform, "uni");
                self.args(&[L(*target)]);
            }
            Inst::BrxIdx { index, table, uniform } => {
                self.mnemonic("brx.idx");
                self.flag(*uniform, "uni");
                let name = &self.body().branch_tables[table.index()].name;
                self.args(&[S(index, U32), T(name)]);
            }
            Inst::Call { target, returns, args, uniform } => {
                self.call(target, returns, args, *uniform);
            }
            Inst::Ret { uniform } => {
                self.mnemonic("ret");
                self.flag(*uniform, "uni");
                self.args(&[]);
            }
            Inst::Exit => self.mnemonic("exit;"),
            Inst::Trap => self.mnemonic("trap;"),
            Inst::Brkpt => self.mnemonic("brkpt;"),
            Inst::Barrier { op, aligned, id, threads } => {
                self.barrier(op, *aligned, id, threads);
            }
            Inst::BarWarpSync { mask } => {
                self.mnemonic("bar.warp.sync");
                self.args(&[S(mask, B32)]);
            }
            Inst::Membar { level } => {
                self.mnemonic("membar");
                self.word(level.as_str());
                self.args(&[]);
            }
            Inst::Fence { order, scope } => {
                self.mnemonic("fence");
                self.words(&[order.as_str(), scope.as_str()]);
                self.args(&[]);
            }
            Inst::FenceProxy { kind } => {
                self.mnemonic("fence.proxy");
                self.word(kind.as_str());
                self.args(&[]);
            }
            Inst::BulkCommitGroup => self.mnemonic("cp.async.bulk.commit_group;"),
            Inst::BulkWaitGroup { pending, read } => {
                self.mnemonic("cp.async.bulk.wait_group");
                self.flag(*read, "read");
                self.args(&[N(i64::from(*pending))]);
            }
            Inst::CpAsyncCommitGroup => self.mnemonic("cp.async.commit_group;"),
            Inst::CpAsyncWaitAll => self.mnemonic("cp.async.wait_all;"),
            Inst::CpAsyncWaitGroup { pending } => {
                self.mnemonic("cp.async.wait_group");
                self.args(&[N(i64::from(*pending))]);
            }
            Inst::CreatePolicy { dst, policy } => self.create_policy(*dst, policy),
            Inst::Txq { query, dst, object, level } => {
                self.mnemonic(if level.is_some() { "txq.level" } else { "txq" });
                self.words(&[query.as_str(), "b32"]);
                self.query(*dst, object);
                if let Some(level) = level {
                    self.out.push_str(", ");
                    self.operand(level, B32);
                }
                self.out.push(';');
            }
            Inst::Suq { query, dst, object } => {
                self.mnemonic("suq");
                self.words(&[query.as_str(), "b32"]);
                self.query(*dst, object);
                self.out.push(';');
            }
            Inst::Alloca { ty, dst, size, align_bytes } => {
                self.mnemonic("alloca");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(size, *ty), N(i64::from(*align_bytes))]);
            }
            Inst::Stacksave { ty, dst } => {
                self.mnemonic("stacksave");
                self.word(ty.as_str());
                self.args(&[D(*dst)]);
            }
            Inst::Stackrestore { ty, src } => {
                self.mnemonic("stackrestore");
                self.word(ty.as_str());
                self.args(&[S(src, *ty)]);
            }
            Inst::Griddepcontrol { action } => {
                self.mnemonic("griddepcontrol");
                self.word(action.as_str());
                self.args(&[]);
            }
            Inst::Nanosleep { duration } => {
                self.mnemonic("nanosleep.u32");
                self.args(&[S(duration, U32)]);
            }
            Inst::Pmevent { mask, event } => {
                self.mnemonic(if *mask { "pmevent.mask" } else { "pmevent" });
                self.args(&[N(i64::from(*event))]);
            }
            Inst::BarrierCluster { .. }
            | Inst::Mapa(_)
            | Inst::Getctarank { .. }
            | Inst::RemoteAccess(_)
            | Inst::Setmaxnreg { .. } => self.cluster(inst),
            _ => self.warp(inst),
        }
    }

    fn query(&mut self, dst: Reg, object: &Operand) {
        self.out.push(' ');
        self.reg(dst);
        self.out.push_str(", [");
        self.operand(object, B64);
        self.out.push(']');
    }

    /// Instructions in which the lanes of a warp talk.
    fn warp(&mut self, inst: &Inst) {
        match inst {
            Inst::Vote { mode, dst, pred, mask } => {
                self.mnemonic(if mask.is_some() { "vote.sync" } else { "vote" });
                let ballot = *mode == VoteMode::Ballot;
                self.words(&[mode.as_str(), if ballot { "b32" } else { "pred" }]);
                self.args(&[D(*dst), P(pred), SOpt(mask, B32)]);
            }
            Inst::Match { mode, ty, dst, pred, src, mask } => {
                self.mnemonic("match");
                self.words(&[mode.as_str(), "sync", ty.as_str()]);
                self.args(&[Pair(*dst, *pred), S(src, *ty), S(mask, B32)]);
            }
            Inst::Activemask { dst } => {
                self.mnemonic("activemask.b32");
                self.args(&[D(*dst)]);
            }
            Inst::Redux { op, ty, abs, nan, dst, src, mask } => {
                self.mnemonic("redux.sync");
                self.word(op.as_str());
                self.flag(*abs, "abs");
                self.flag(*nan, "NaN");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(src, *ty), S(mask, B32)]);
            }
            Inst::Shfl(shfl) => {
                self.mnemonic(if shfl.mask.is_some() { "shfl.sync" } else { "shfl" });
                self.words(&[shfl.mode.as_str(), "b32"]);
                let Shfl { dst, pred, src, b, c, mask, .. } = shfl.as_ref();
                self.args(&[Pair(*dst, *pred), S(src, B32), S(b, B32), S(c, B32), SOpt(mask, B32)]);
            }
            Inst::Elect { dst, pred, mask } => {
                self.mnemonic("elect.sync");
                self.args(&[Pair(*dst, Some(*pred)), S(mask, B32)]);
            }
            Inst::Mma(mma) => self.mma(mma),
            Inst::WmmaMemory(memory) => self.wmma_memory(memory),
            Inst::MatrixMemory(memory) => self.matrix_memory(memory),
            Inst::Movmatrix(matrix) => self.movmatrix(matrix),
            Inst::Mbarrier(barrier) => self.mbarrier(barrier),
            Inst::MbarrierPendingCount { dst, state } => {
                self.mnemonic("mbarrier.pending_count.b64");
                self.args(&[D(*dst), S(state, B64)]);
            }
            _ => unreachable!("`inst` sends only control and warp instructions here"),
        }
    }

    fn barrier(&mut self, op: &BarrierOp, aligned: bool, id: &Operand, threads: &Option<Operand>) {
        // `bar` and `barrier.aligned` are the same; `bar` is the older spelling.
        self.mnemonic(if aligned { "bar" } else { "barrier" });
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

    fn call(&mut self, target: &CallTarget, returns: &[CallArg], args: &[CallArg], uniform: bool) {
        self.mnemonic("call");
        self.flag(uniform, "uni");
        self.out.push(' ');
        let signature = match target {
            CallTarget::Direct(id) => CallParams::Function(*id),
            CallTarget::Indirect { signature: CallSignature::Prototype(id), .. } => {
                CallParams::Prototype(*id)
            }
            CallTarget::Indirect { signature: CallSignature::Targets(id), .. } => {
                CallParams::Function(self.body().call_tables[id.index()].functions[0])
            }
        };
        if !returns.is_empty() {
            self.call_list(returns, signature, true);
            self.out.push_str(", ");
        }
        match target {
            CallTarget::Direct(id) => self.symbol(Symbol::Function(*id)),
            CallTarget::Indirect { address, .. } => self.reg(*address),
        }
        if !args.is_empty() || !matches!(target, CallTarget::Direct(_)) {
            self.out.push_str(", ");
            self.call_list(args, signature, false);
        }
        if let CallTarget::Indirect { signature, .. } = target {
            let body = self.body();
            self.out.push_str(", ");
            self.out.push_str(match signature {
                CallSignature::Prototype(id) => &body.prototypes[id.index()].name,
                CallSignature::Targets(id) => &body.call_tables[id.index()].name,
            });
        }
        self.out.push(';');
    }

    fn call_list(&mut self, list: &[CallArg], signature: CallParams, results: bool) {
        let module = self.module;
        let params = match signature {
            CallParams::Function(id) => {
                let function = &module.functions[id.index()];
                if results { &function.returns } else { &function.params }
            }
            CallParams::Prototype(id) => {
                let prototype = &self.body().prototypes[id.index()];
                if results { &prototype.returns } else { &prototype.params }
            }
        };
        self.out.push('(');
        for (position, arg) in list.iter().enumerate() {
            self.out.push_str(if position > 0 { ", " } else { "" });
            match arg {
                CallArg::Param(id) => self.symbol(Symbol::Local(*id)),
                CallArg::OwnParam(index) => self.symbol(Symbol::Param(*index)),
                CallArg::OwnReturn(index) => self.symbol(Symbol::Return(*index)),
                CallArg::Value(operand) => {
                    let ty = params.get(position).map_or(B64, |param| param.ty);
                    self.operand(operand, ty);
                }
                CallArg::Sink => self.out.push('_'),
            }
        }
        self.out.push(')');
    }
}

/// Whose parameters a call's arguments are.
#[derive(Clone, Copy)]
enum CallParams {
    Function(FunctionId),
    Prototype(PrototypeId),
}
