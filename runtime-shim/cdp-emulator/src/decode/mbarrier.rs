//! Decoding of barriers that are objects in shared memory.

use cdp_ptx::inst::Address;
use cdp_ptx::mbarrier::{Mbarrier, MbarrierOp, MbarrierPhase};
use cdp_ptx::{Operand, Reg, Space};

use super::{Decoded, Decoder};
use crate::alu::bits;
use crate::code::{BarrierObject, NONE, ObjectOp, Op, Order, Place, Reach, Sem};

impl Decoder<'_> {
    pub(super) fn mbarrier(&mut self, barrier: &Mbarrier) -> Decoded {
        let (place, row, wide, offset) = self.object_address(barrier.space, &barrier.addr)?;
        let one = Operand::Imm(1);
        let (op, operand, dst) = match barrier.op {
            MbarrierOp::Init { count } => (ObjectOp::Init, self.narrow(count)?, NONE),
            MbarrierOp::Inval => (ObjectOp::Invalidate, NONE, NONE),
            MbarrierOp::Arrive { dst, count, drop, no_complete: _ } => {
                let dst = dst.map(|reg| self.wide_dst(reg)).transpose()?.unwrap_or(NONE);
                let count = self.narrow(count.unwrap_or(one))?;
                (if drop { ObjectOp::ArriveAndDrop } else { ObjectOp::Arrive }, count, dst)
            }
            MbarrierOp::Wait { pred, phase, waits: _, limit: _ } => {
                let dst = self.pred_dst(pred)?;
                match phase {
                    MbarrierPhase::State(state) => (ObjectOp::TestState, self.wide(state)?, dst),
                    MbarrierPhase::Parity(odd) => (ObjectOp::TestParity, self.narrow(odd)?, dst),
                }
            }
            // Copies are done at once. Without `.noinc` the arrival takes back what it adds.
            MbarrierOp::CpAsyncArrive { noinc: false } => return self.simple(Op::Nop),
            MbarrierOp::CpAsyncArrive { noinc: true } => {
                (ObjectOp::Arrive, self.narrow(one)?, NONE)
            }
        };
        let imm = self.out.objects.len() as u32;
        let order = match barrier.order {
            Some((order, scope)) => Order::of_atomic(Some(order), Some(scope)),
            // PTX ISA: arrivals release and waits acquire, within the block.
            None => Order { sem: Sem::AcqRel, reach: Reach::Block },
        };
        self.out.objects.push(BarrierObject { op, place, wide, offset, order, operand, dst });
        let inst = crate::code::Inst { a: row, imm, ..self.blank(Op::BarrierObject) };
        self.emit(inst);
        Ok(())
    }

    fn object_address(
        &mut self,
        space: Space,
        address: &Address,
    ) -> Result<(Place, u32, bool, i32), String> {
        let parts = self.address(space, address)?;
        if !matches!(parts.place, Place::Shared | Place::Generic) || parts.row == NONE {
            return Err("a barrier object outside of shared memory".to_string());
        }
        Ok((parts.place, parts.row, parts.wide, parts.offset))
    }

    /// `mbarrier.pending_count`: a field of the state.
    pub(super) fn pending_count(&mut self, dst: Reg, state: Operand) -> Decoded {
        let (d, a) = (self.narrow_dst(dst)?, self.wide(state)?);
        let field = crate::exec::mbarrier::COUNT_BITS << 8 | crate::exec::mbarrier::PENDING_SHIFT;
        self.alu::<bits::Extract64>(d, [a, 0, 0], field);
        Ok(())
    }
}
