//! Decoding of control flow, calls and special registers.

use cdp_ptx::inst::{CallArg, CallTarget};
use cdp_ptx::{BranchTableId, Dim, LabelId, Operand, SpecialReg, Symbol};

use super::{Decoded, Decoder, RegPlace, Target, meeting};
use crate::code::{Call, Callee, NONE, Op, Slot, Special};
use crate::load::resolve_alias;
use crate::services::Service;

fn dim(d: Dim) -> Option<u8> {
    match d {
        Dim::X => Some(0),
        Dim::Y => Some(1),
        Dim::Z => Some(2),
        Dim::W => None,
    }
}

/// What the device gives for a special register.
pub(super) fn special(register: SpecialReg) -> Special {
    use SpecialReg as R;
    match register {
        R::Tid(d) => dim(d).map_or(Special::Fixed(0), Special::Tid),
        R::Ntid(d) => dim(d).map_or(Special::Fixed(1), Special::Ntid),
        R::Ctaid(d) => dim(d).map_or(Special::Fixed(0), Special::Ctaid),
        R::Nctaid(d) => dim(d).map_or(Special::Fixed(1), Special::Nctaid),
        R::Clusterid(d) => dim(d).map_or(Special::Fixed(0), Special::ClusterId),
        R::Nclusterid(d) => dim(d).map_or(Special::Fixed(1), Special::Clusters),
        R::ClusterCtaid(d) => dim(d).map_or(Special::Fixed(0), Special::InCluster),
        R::ClusterNctaid(d) => dim(d).map_or(Special::Fixed(1), Special::ClusterSize),
        R::ClusterCtarank => Special::ClusterRank,
        R::ClusterNctarank => Special::ClusterBlocks,
        R::IsExplicitCluster => Special::IsExplicitCluster,
        R::Laneid => Special::Lane,
        R::Warpid => Special::Warp,
        R::Nwarpid => Special::Warps,
        R::Smid => Special::Sm,
        R::Nsmid => Special::Sms,
        R::Gridid => Special::Grid,
        R::LanemaskEq => Special::MaskEq,
        R::LanemaskLe => Special::MaskLe,
        R::LanemaskLt => Special::MaskLt,
        R::LanemaskGe => Special::MaskGe,
        R::LanemaskGt => Special::MaskGt,
        R::Clock => Special::ClockLo,
        R::ClockHi => Special::ClockHi,
        R::Clock64 => Special::Clock64,
        R::Globaltimer => Special::Timer,
        R::GlobaltimerLo => Special::TimerLo,
        R::GlobaltimerHi => Special::TimerHi,
        R::Envreg(1) => Special::GridBarrierHi,
        R::Envreg(2) => Special::GridBarrierLo,
        R::Pm(_) | R::Envreg(_) => Special::Fixed(0),
        R::CurrentGraphExec => Special::GraphExec,
        R::Pm64(_) => Special::Fixed64(0),
        // Addresses in the block's shared memory, which the decoder looks up.
        R::ReservedSmemOffsetBegin
        | R::ReservedSmemOffsetEnd
        | R::ReservedSmemOffsetCap
        | R::ReservedSmemOffset(_) => Special::Fixed(0),
        R::TotalSmemSize | R::AggrSmemSize => Special::TotalShared,
        R::DynamicSmemSize => Special::DynamicShared,
    }
}

impl Decoder<'_> {
    fn join(&self) -> u32 {
        self.meeting.join_of[self.origin as usize].unwrap_or(meeting::EXIT)
    }

    pub(super) fn bra(&mut self, target: LabelId) -> Decoded {
        // A position in the PTX for now; `finish` makes it one in the code.
        let target = self.body.labels[target.index()].position;
        let join = self.join();
        self.simple(Op::Bra { target, join })
    }

    pub(super) fn brx(&mut self, index: Operand, table: BranchTableId) -> Decoded {
        let a = self.narrow(index)?;
        let targets = &self.body.branch_tables[table.index()].targets;
        let targets =
            targets.iter().map(|label| self.body.labels[label.index()].position).collect();
        let number = self.out.branch_tables.len() as u32;
        self.out.branch_tables.push(targets);
        let op = Op::Brx { table: number, join: self.join() };
        let inst = crate::code::Inst { a, ..self.blank(op) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn ret(&mut self) -> Decoded {
        let guarded = self.meeting.join_of[self.origin as usize].is_some();
        let join = if guarded { self.join() } else { NONE };
        self.simple(Op::Ret { join })
    }

    fn slot(&mut self, symbol: Symbol, size_bytes: u64) -> Result<Slot, String> {
        let offset_bytes = self
            .frame_offset(symbol)
            .ok_or("a kernel parameter handed on as a whole; copy it into a .param variable")?;
        Ok(Slot::Memory { offset_bytes, size_bytes: size_bytes as u32 })
    }

    fn argument(&mut self, arg: &CallArg) -> Result<Slot, String> {
        match *arg {
            CallArg::Memory(symbol) => {
                let size = self.source.param_bytes(self.body, symbol);
                self.slot(symbol, size.ok_or("an argument that is no parameter")?)
            }
            CallArg::Value(Operand::Reg(reg)) => Ok(match self.reg(reg) {
                RegPlace::Narrow(row) => Slot::Row { row, wide: false },
                RegPlace::Wide(row) => Slot::Row { row, wide: true },
                RegPlace::Pred(word) => Slot::Pred { word },
                RegPlace::Quad(_) => return Err("an argument in a 128-bit register".to_string()),
            }),
            CallArg::Value(operand) => {
                let row = self.row(operand, true)?;
                Ok(Slot::Row { row, wide: true })
            }
            CallArg::Sink => Ok(Slot::Sink),
        }
    }

    pub(super) fn call(
        &mut self,
        target: &CallTarget,
        returns: &[CallArg],
        args: &[CallArg],
    ) -> Decoded {
        let callee = match target {
            CallTarget::Direct(id) => {
                let name = &self.module.functions[resolve_alias(self.module, *id).index()].name;
                match self.target(Symbol::Function(*id)) {
                    Ok(Target::Function(number)) => Callee::Function(number),
                    Ok(Target::Service(service)) => Callee::Service(service),
                    Ok(_) | Err(_) => {
                        return Err(format!("call of `{name}`, which is defined nowhere"));
                    }
                }
            }
            CallTarget::Indirect { address, signature: _ } => {
                self.out.calls_indirect = true;
                match self.reg(*address) {
                    RegPlace::Wide(row) => Callee::Indirect { row, wide: true },
                    RegPlace::Narrow(row) => Callee::Indirect { row, wide: false },
                    RegPlace::Pred(_) | RegPlace::Quad(_) => {
                        return Err("call through a register that holds no address".to_string());
                    }
                }
            }
        };
        if let Callee::Service(service) = callee {
            self.out.independent &= service.keeps_independence();
            self.out.launches |= service.launches();
            self.out.uses_runtime |= service.is_of_runtime();
            self.out.calls_runtime |= matches!(service, Service::Device { .. });
        }
        let args = args.iter().map(|arg| self.argument(arg)).collect::<Result<_, _>>()?;
        let returns = returns.iter().map(|arg| self.argument(arg)).collect::<Result<_, _>>()?;
        let imm = self.out.calls.len() as u32;
        self.out.calls.push(Call { callee, args, returns });
        let inst = crate::code::Inst { imm, ..self.blank(Op::Call) };
        self.emit(inst);
        Ok(())
    }
}
