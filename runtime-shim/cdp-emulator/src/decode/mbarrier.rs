//! Decoding of barriers that are objects in shared memory, and of the bulk copies that tell them.

use cdp_ptx::inst::{Address, BulkCopy as BulkCopyInst, TensorLoad};
use cdp_ptx::{AtomOp, AtomOrder, Inst, Operand, Reg, Space};

use super::{Decoded, Decoder};
use crate::alu::bits;
use crate::code::{
    BarrierObject, BulkCopy, NONE, ObjectOp, Op, Order, Reach, Sem, StateSpace, TensorCopy,
};

impl Decoder<'_> {
    pub(super) fn mbarrier(&mut self, inst: &Inst) -> Decoded {
        let one = Operand::Imm(1);
        // PTX ISA: arrivals release and waits acquire, within the block.
        let within = |order: Option<AtomOrder>, scope| match order {
            Some(_) => Order::of_atomic(order, scope),
            None => Order { sem: Sem::AcqRel, reach: Reach::Block },
        };
        let usual = within(None, None);
        let (space, addr, order, op, operand, dst) = match *inst {
            Inst::MbarrierInit { space, addr, count } => {
                (space, addr, usual, ObjectOp::Init, self.narrow(count)?, NONE)
            }
            Inst::MbarrierInvalidate { space, addr } => {
                (space, addr, usual, ObjectOp::Invalidate, NONE, NONE)
            }
            Inst::MbarrierTransactions { complete, order, scope, space, addr, bytes } => {
                let op = if complete { ObjectOp::Complete } else { ObjectOp::Expect };
                (space, addr, within(order, scope), op, self.narrow(bytes)?, NONE)
            }
            Inst::MbarrierArrive {
                drop,
                expect_tx,
                no_complete: _,
                order,
                scope,
                space,
                dst,
                addr,
                count,
            } => {
                let dst = dst.map(|reg| self.wide_dst(reg)).transpose()?.unwrap_or(NONE);
                let count = self.narrow(count.unwrap_or(one))?;
                let op = match (expect_tx, drop) {
                    (false, false) => ObjectOp::Arrive,
                    (false, true) => ObjectOp::ArriveAndDrop,
                    (true, false) => ObjectOp::ArriveExpecting,
                    (true, true) => ObjectOp::ArriveExpectingAndDrop,
                };
                (space, addr, within(order, scope), op, count, dst)
            }
            Inst::MbarrierWait { parity, order, scope, space, pred, addr, phase, .. } => {
                let dst = self.pred_dst(pred)?;
                let (op, phase) = match parity {
                    false => (ObjectOp::TestState, self.wide(phase)?),
                    true => (ObjectOp::TestParity, self.narrow(phase)?),
                };
                (space, addr, within(order, scope), op, phase, dst)
            }
            // Without `.noinc` the arrival takes back what it adds.
            Inst::CpAsyncArrive { noinc: false, space, addr } => {
                (space, addr, usual, ObjectOp::CopiesArrive, NONE, NONE)
            }
            Inst::CpAsyncArrive { noinc: true, space, addr } => {
                (space, addr, usual, ObjectOp::CopiesArriveCounted, self.narrow(one)?, NONE)
            }
            _ => return Err("no instruction on a barrier object".to_string()),
        };
        let (space, row, wide, offset) = self.object_address(space, &addr)?;
        let imm = self.out.objects.len() as u32;
        self.out.objects.push(BarrierObject { op, space, wide, offset, order, operand, dst });
        let inst = crate::code::Inst { a: row, imm, ..self.blank(Op::BarrierObject) };
        self.emit(inst);
        Ok(())
    }

    /// A side of a bulk copy: row, whether it has 64 bits, what is added.
    fn side(&mut self, space: Space, address: &Address) -> Result<(u32, bool, i32), String> {
        let parts = self.address(space, address)?;
        match parts.row {
            NONE => Err("a bulk copy of parameters or local variables".to_string()),
            row => Ok((row, parts.wide, parts.offset)),
        }
    }

    pub(super) fn tensor_load(&mut self, load: &TensorLoad) -> Decoded {
        let copy = TensorCopy {
            load: true,
            reduce: None,
            map: self.wide(load.map)?,
            coords: self.narrow_list(&load.coords)?,
            columns: !load.offsets.is_empty(),
            offsets: self.narrow_list(&load.offsets)?,
            shared: self.side(load.dst_space, &load.dst)?,
            to_cluster: load.dst_space == Space::SharedCluster,
            multicast: load.multicast.map(|m| self.narrow(m)).transpose()?.unwrap_or(NONE),
            object: self.side(load.dst_space, &load.object)?,
        };
        self.tensor_copy(copy)
    }

    pub(super) fn tensor_store(
        &mut self,
        reduce: Option<AtomOp>,
        columns: bool,
        map: Operand,
        coords: &[Operand],
        src: &Address,
    ) -> Decoded {
        self.out.independent &= reduce.is_none();
        let copy = TensorCopy {
            load: false,
            reduce,
            map: self.wide(map)?,
            coords: self.narrow_list(coords)?,
            columns,
            offsets: Box::new([]),
            shared: self.side(Space::Shared, src)?,
            to_cluster: false,
            multicast: NONE,
            object: (NONE, false, 0),
        };
        self.tensor_copy(copy)
    }

    fn narrow_list(&mut self, operands: &[Operand]) -> Result<Box<[u32]>, String> {
        operands.iter().map(|&operand| self.narrow(operand)).collect()
    }

    fn tensor_copy(&mut self, copy: TensorCopy) -> Decoded {
        let imm = self.out.tensor_copies.len() as u32;
        self.out.tensor_copies.push(copy);
        let inst = crate::code::Inst { imm, ..self.blank(Op::TensorCopy) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn bulk_copy(&mut self, copy: &BulkCopyInst) -> Decoded {
        let dst = self.side(copy.dst_space, &copy.dst)?;
        let src = self.side(copy.src_space, &copy.src)?;
        let object = match &copy.object {
            Some(object) => self.side(copy.dst_space, object)?,
            None => (NONE, false, 0),
        };
        let size = self.narrow(copy.size)?;
        let multicast = copy.multicast.map(|m| self.narrow(m)).transpose()?.unwrap_or(NONE);
        if copy.dst_space == Space::Global {
            // As atomics whose order shows, except that plain copies are plain stores.
            self.out.independent &= copy.reduce.is_none();
        }
        let imm = self.out.bulk_copies.len() as u32;
        self.out.bulk_copies.push(BulkCopy {
            reduce: copy.reduce,
            to_shared: copy.dst_space != Space::Global,
            to_cluster: copy.dst_space == Space::SharedCluster,
            multicast,
            from_shared: copy.src_space != Space::Global,
            dst,
            src,
            size,
            object,
        });
        let inst = crate::code::Inst { imm, ..self.blank(Op::BulkCopy) };
        self.emit(inst);
        Ok(())
    }

    fn object_address(
        &mut self,
        space: Space,
        address: &Address,
    ) -> Result<(StateSpace, u32, bool, i32), String> {
        let parts = self.address(space, address)?;
        let near =
            matches!(parts.space, StateSpace::Shared | StateSpace::Cluster | StateSpace::Generic);
        if !near || parts.row == NONE {
            return Err("a barrier object outside of shared memory".to_string());
        }
        Ok((parts.space, parts.row, parts.wide, parts.offset))
    }

    /// `mbarrier.pending_count`: a field of the state.
    pub(super) fn pending_count(&mut self, dst: Reg, state: Operand) -> Decoded {
        let (d, a) = (self.narrow_dst(dst)?, self.wide(state)?);
        let field = crate::exec::mbarrier::COUNT_BITS << 8 | crate::exec::mbarrier::PENDING_SHIFT;
        self.alu::<bits::Extract64>(d, [a, 0, 0], field);
        Ok(())
    }
}
