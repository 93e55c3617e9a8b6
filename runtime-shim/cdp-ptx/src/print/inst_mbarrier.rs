//! Barriers that are objects in shared memory, as text.

use super::Printer;
use super::operand::Arg::*;
use crate::mbarrier::*;
use crate::types::*;

use ScalarType::{B64, U32};

impl Printer<'_> {
    /// `mbarrier` and `cp.async.mbarrier.arrive`
    pub fn mbarrier(&mut self, barrier: &Mbarrier) {
        let Mbarrier { op, space, addr, order } = barrier;
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
        if *space != Space::Generic {
            self.word(space.as_str());
        }
        self.word("b64");
        match op {
            MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => {
                self.args(&[A(addr), S(bytes, U32)]);
            }
            MbarrierOp::Init { count } => self.args(&[A(addr), S(count, U32)]),
            MbarrierOp::Inval | MbarrierOp::CpAsyncArrive { .. } => self.args(&[A(addr)]),
            MbarrierOp::Arrive { dst, count, .. } => {
                self.args(&[Pair(*dst, None), A(addr), SOpt(count, U32)]);
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
