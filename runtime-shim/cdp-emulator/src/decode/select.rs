//! Decoding of comparisons, selection and predicate logic.

use cdp_ptx::inst::{Combine, PredOperand};
use cdp_ptx::{Inst, Operand, Reg, ScalarType, TestpOp};

use super::{Decoded, Decoder};
use crate::alu::{bits, compare, int, select, select_cmp};
use crate::code::{Op, PredLogic};

type T = ScalarType;

impl Decoder<'_> {
    /// Emits a comparison into a predicate word.
    #[allow(clippy::too_many_arguments)]
    fn compare_into(
        &mut self,
        cmp: cdp_ptx::CmpOp,
        ty: T,
        ftz: bool,
        high: bool,
        d: u32,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let (alu, imm) = compare::compare(cmp, ty, ftz, high)
            .ok_or_else(|| format!("comparison .{cmp} on .{ty}"))?;
        let wide = ty.bits() == 64;
        let (a, b) = (self.row(a, wide)?, self.row(b, wide)?);
        self.alu_with(alu, d, [a, b, 0], imm);
        Ok(())
    }

    fn combine(&mut self, d: u32, value: (u32, u32), combine: Option<Combine>) -> Decoded {
        match combine {
            None => self.pred_logic(PredLogic::Copy, d, value, value),
            Some(Combine { op, with }) => {
                let with = self.pred(with)?;
                self.pred_logic(op.into(), d, value, with);
            }
        }
        Ok(())
    }

    pub(super) fn setp(&mut self, inst: &Inst) -> Decoded {
        let Inst::Setp { cmp, ty, ftz, dst, dst2, a, b, combine } = inst else { return Ok(()) };
        let packed = matches!(ty, T::F16x2 | T::BF16x2);
        if let (Some(dst), None, None, false) = (dst, dst2, combine, packed) {
            let d = self.pred_dst(*dst)?;
            return self.compare_into(*cmp, *ty, *ftz, false, d, *a, *b);
        }
        let low = self.pred_temp();
        self.compare_into(*cmp, *ty, *ftz, false, low, *a, *b)?;
        let second = if packed {
            let high = self.pred_temp();
            self.compare_into(*cmp, *ty, *ftz, true, high, *a, *b)?;
            (high, 0)
        } else {
            (low, u32::MAX)
        };
        // The combining predicate may be one of the destinations, so it is read before either is
        // written.
        let combine = match combine {
            None => None,
            Some(Combine { op, with }) => {
                let copy = self.pred_temp();
                let with = self.pred(*with)?;
                self.pred_logic(PredLogic::Copy, copy, with, with);
                Some((*op, copy))
            }
        };
        for (target, value) in [(dst, (low, 0)), (dst2, second)] {
            if let Some(reg) = target {
                let d = self.pred_dst(*reg)?;
                match combine {
                    None => self.pred_logic(PredLogic::Copy, d, value, value),
                    Some((op, with)) => self.pred_logic(op.into(), d, value, (with, 0)),
                }
            }
        }
        Ok(())
    }

    pub(super) fn set(&mut self, inst: &Inst) -> Decoded {
        let Inst::Set { cmp, dst_ty, src_ty, ftz, dst, a, b, combine } = inst else {
            return Ok(());
        };
        let d = self.narrow_dst(*dst)?;
        let one = match dst_ty {
            T::F32 => 0x3f80_0000,
            T::F16 => 0x3c00,
            T::BF16 => 0x3f80,
            T::F16x2 => 0x3c00,
            T::BF16x2 => 0x3f80,
            ty if ty.bits() == 16 => 0xffff,
            _ => u32::MAX,
        };
        let packed = matches!(src_ty, T::F16x2 | T::BF16x2);
        let low = self.pred_temp();
        self.compare_into(*cmp, *src_ty, *ftz, false, low, *a, *b)?;
        self.combine(low, (low, 0), *combine)?;
        if !packed {
            let inst = crate::code::Inst { d, a: low, imm: one, ..self.blank(Op::RowFromPred) };
            self.emit(inst);
            return Ok(());
        }
        let high = self.pred_temp();
        self.compare_into(*cmp, *src_ty, *ftz, true, high, *a, *b)?;
        self.combine(high, (high, 0), *combine)?;
        let part = if one == u32::MAX { 0xffff } else { one };
        let (x, y) = (self.narrow_temp(), self.narrow_temp());
        for (row, pred) in [(x, low), (y, high)] {
            let inst =
                crate::code::Inst { d: row, a: pred, imm: part, ..self.blank(Op::RowFromPred) };
            self.emit(inst);
        }
        self.alu::<bits::Pack32>(d, [x, y, 0], 0);
        Ok(())
    }

    pub(super) fn selp(
        &mut self,
        ty: T,
        dst: Reg,
        a: Operand,
        b: Operand,
        pred: PredOperand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let (d, a, b) = (self.dst(dst, wide)?, self.row(a, wide)?, self.row(b, wide)?);
        let (c, imm) = self.pred(pred)?;
        let alu = if wide { compare::selp64() } else { compare::selp32() };
        self.alu_with(alu, d, [a, b, c], imm);
        Ok(())
    }

    pub(super) fn slct(
        &mut self,
        ty: T,
        c_ty: T,
        ftz: bool,
        dst: Reg,
        sources: [Operand; 3],
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let [a, b, c] = sources;
        let (d, a, b) = (self.dst(dst, wide)?, self.row(a, wide)?, self.row(b, wide)?);
        let c = self.narrow(c)?;
        let alu = match (c_ty, wide) {
            (T::F32, false) => select::<int::SlctF32>(),
            (T::F32, true) => select::<int::SlctF32W64>(),
            (_, false) => select::<int::SlctS32>(),
            (_, true) => select::<int::SlctS32W64>(),
        };
        self.alu_with(alu, d, [a, b, c], u32::from(ftz));
        Ok(())
    }

    pub(super) fn testp(&mut self, op: TestpOp, ty: T, dst: Reg, src: Operand) -> Decoded {
        let imm = match op {
            TestpOp::Finite => 0,
            TestpOp::Infinite => 1,
            TestpOp::Number => 2,
            TestpOp::NotANumber => 3,
            TestpOp::Normal => 4,
            TestpOp::Subnormal => 5,
        };
        let d = self.pred_dst(dst)?;
        let wide = ty == T::F64;
        let a = self.row(src, wide)?;
        let alu =
            if wide { select_cmp::<compare::Testp64>() } else { select_cmp::<compare::Testp32>() };
        self.alu_with(alu, d, [a, a, 0], imm);
        Ok(())
    }

    fn plain_pred(&mut self, operand: Operand) -> Result<(u32, u32), String> {
        self.pred(PredOperand { value: operand, negated: false })
    }

    pub(super) fn pred_binary(
        &mut self,
        op: PredLogic,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Decoded {
        let d = self.pred_dst(dst)?;
        let (a, b) = (self.plain_pred(a)?, self.plain_pred(b)?);
        self.pred_logic(op, d, a, b);
        Ok(())
    }

    pub(super) fn pred_not(&mut self, dst: Reg, src: Operand) -> Decoded {
        let d = self.pred_dst(dst)?;
        let (word, flip) = self.plain_pred(src)?;
        self.pred_logic(PredLogic::Copy, d, (word, !flip), (word, !flip));
        Ok(())
    }
}
