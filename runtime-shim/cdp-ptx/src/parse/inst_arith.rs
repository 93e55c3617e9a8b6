//! Arithmetic, bit and logic instructions.

use super::body::FunctionState;
use super::inst::{BITS, HALVES, INTS};
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::inst::*;
use crate::types::*;

use ScalarType::*;

/// Types of `add` and `sub`.
const ADD_TYPES: &[ScalarType] =
    &[U16, U32, U64, S16, S32, S64, U16x2, S16x2, F32, F64, F16, F16x2, BF16, BF16x2, F32x2];
const ABS_TYPES: &[ScalarType] = &[S16, S32, S64, F32, F64, F16, F16x2, BF16, BF16x2];
const MIN_TYPES: &[ScalarType] =
    &[U16, U32, U64, S16, S32, S64, U16x2, S16x2, F32, F64, F16, F16x2, BF16, BF16x2];
const CARRY_TYPES: &[ScalarType] = &[U32, S32, U64, S64];
const B32_64: &[ScalarType] = &[B32, B64];
const INT32_64: &[ScalarType] = &[U32, U64, S32, S64];
const INT32: &[ScalarType] = &[U32, S32];

/// `.rn`, `.ftz`, `.sat` as far as the floating type `ty` has them.
fn float_mode(mods: &mut Mods, ty: ScalarType) -> Result<FloatMode> {
    let rounding = mods.take(Rounding::from_str);
    let mode = FloatMode { rounding, ftz: mods.flag("ftz"), sat: mods.flag("sat") };
    let half = HALVES.contains(&ty);
    mods.require(
        !half || matches!(rounding, None | Some(Rounding::Rn)),
        "half types have only `.rn`",
    )?;
    let ftz = matches!(ty, F32 | F32x2 | F16 | F16x2);
    mods.require(ftz || !mode.ftz, "this type has no `.ftz`")?;
    let sat = matches!(ty, F32 | F16 | F16x2);
    mods.require(sat || !mode.sat, "this type has no `.sat`")?;
    Ok(mode)
}

impl<'a> Parser<'a> {
    /// `add`, `sub`, `addc`, `subc`
    pub fn add_sub(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let subtract = mods.opcode.text.starts_with("sub");
        let carry_in = mods.opcode.text.len() == 4;
        let carry_out = mods.flag("cc");
        if carry_in || carry_out {
            let ty = mods.ty(CARRY_TYPES)?;
            mods.finish()?;
            let (dst, a, b) = self.d_a_b(st, ty)?;
            return Ok(match subtract {
                false => Inst::AddCarry { ty, carry_in, carry_out, dst, a, b },
                true => Inst::SubCarry { ty, carry_in, carry_out, dst, a, b },
            });
        }
        let ty = mods.ty(ADD_TYPES)?;
        let pair = matches!(ty, U16x2 | S16x2);
        mods.require(!(subtract && pair), "integer pairs are added only")?;
        if ty == F32 && mods.peek_ty().is_some() {
            let src_ty = mods.ty(&[F16, BF16])?;
            let mode = float_mode(&mut mods, F32)?;
            mods.require(!mode.ftz, "mixed types have no `.ftz`")?;
            mods.finish()?;
            let (dst, a) = self.d_a(st, F32, src_ty)?;
            let b = self.next_operand(st, F32)?;
            return Ok(match subtract {
                false => Inst::AddMixed { src_ty, mode, dst, a, b },
                true => Inst::SubMixed { src_ty, mode, dst, a, b },
            });
        }
        let mut mode = FloatMode::default();
        let mut sat_int = false;
        if ty.is_float() {
            mode = float_mode(&mut mods, ty)?;
        } else {
            sat_int = mods.flag("sat");
            mods.require(!sat_int || ty == S32, "of the integers only `.s32` has `.sat`")?;
        }
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        Ok(match subtract {
            false => Inst::Add { ty, mode, sat_int, dst, a, b },
            true => Inst::Sub { ty, mode, sat_int, dst, a, b },
        })
    }

    /// `mul`
    pub fn mul(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty =
            mods.ty(&[U16, U32, U64, S16, S32, S64, F32, F64, F16, F16x2, BF16, BF16x2, F32x2])?;
        if ty.is_float() {
            let mode = float_mode(&mut mods, ty)?;
            mods.finish()?;
            let (dst, a, b) = self.d_a_b(st, ty)?;
            return Ok(Inst::Mul { ty, mode, dst, a, b });
        }
        let part = mods.need("`.lo`, `.hi` or `.wide`", MulPart::from_str)?;
        let dst_ty = if part == MulPart::Wide { widened(ty) } else { ty };
        let wide = part != MulPart::Wide || ty.bits() < 64;
        mods.require(wide, "there is no 128-bit product")?;
        mods.finish()?;
        let (dst, a) = self.d_a(st, dst_ty, ty)?;
        let b = self.next_operand(st, ty)?;
        Ok(Inst::MulInt { ty, part, dst, a, b })
    }

    /// `mad`, `madc`
    pub fn mad(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let carry_in = mods.opcode.text == "madc";
        let carry_out = mods.flag("cc");
        if !carry_in && !carry_out && mods.peek_ty().is_some_and(ScalarType::is_float) {
            return self.fma(st, mods);
        }
        let ty = mods.ty(INTS)?;
        let part = mods.need("`.lo`, `.hi` or `.wide`", MulPart::from_str)?;
        let sat = mods.flag("sat");
        let sat_exists = part == MulPart::Hi && ty == S32 && !carry_in && !carry_out;
        mods.require(!sat || sat_exists, "`.sat` is for `mad.hi.sat.s32` only")?;
        mods.finish()?;
        if carry_in || carry_out {
            let exists = part != MulPart::Wide && CARRY_TYPES.contains(&ty);
            mods.require(exists, "carries are for `.lo` and `.hi` of 32 and 64 bits")?;
            let (dst, a, b) = self.d_a_b(st, ty)?;
            let c = self.next_operand(st, ty)?;
            return Ok(Inst::MadCarry { ty, part, carry_in, carry_out, dst, a, b, c });
        }
        let wide = part == MulPart::Wide;
        mods.require(!wide || ty.bits() < 64, "there is no 128-bit product")?;
        let dst_ty = if wide { widened(ty) } else { ty };
        let (dst, a) = self.d_a(st, dst_ty, ty)?;
        let b = self.next_operand(st, ty)?;
        let c = self.next_operand(st, dst_ty)?;
        Ok(Inst::MadInt { ty, part, sat, dst, a, b, c })
    }

    /// `mul24`, `mad24`
    pub fn mul24(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let part = mods.need("`.lo` or `.hi`", MulPart::from_str)?;
        mods.require(part != MulPart::Wide, "only `.lo` and `.hi` do")?;
        let ty = mods.ty(INT32)?;
        let add = mods.opcode.text == "mad24";
        let sat = add && mods.flag("sat");
        let sat_exists = part == MulPart::Hi && ty == S32;
        mods.require(!sat || sat_exists, "`.sat` is for `mad24.hi.sat.s32` only")?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        if add {
            let c = self.next_operand(st, ty)?;
            return Ok(Inst::Mad24 { ty, part, sat, dst, a, b, c });
        }
        Ok(Inst::Mul24 { ty, part, dst, a, b })
    }

    /// `fma`, and `mad` of floating types.
    pub fn fma(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(match mods.opcode.text {
            "mad" => &[F32, F64],
            _ => &[F32, F64, F16, F16x2, BF16, BF16x2, F32x2],
        })?;
        let relu = HALVES.contains(&ty) && mods.flag("relu");
        let mixed =
            if ty == F32 && mods.peek_ty().is_some() { Some(mods.ty(&[F16, BF16])?) } else { None };
        let mode = float_mode(&mut mods, ty)?;
        mods.require(mode.rounding.is_some(), "a rounding such as `.rn` is needed")?;
        mods.require(!(relu && mode.sat), "`.relu` and `.sat` do not go together")?;
        mods.require(mixed.is_none() || !mode.ftz, "mixed types have no `.ftz`")?;
        mods.finish()?;
        let src_ty = mixed.unwrap_or(ty);
        let (dst, a) = self.d_a(st, ty, src_ty)?;
        let b = self.next_operand(st, src_ty)?;
        let c = self.next_operand(st, ty)?;
        Ok(match mixed {
            Some(src_ty) => Inst::FmaMixed { src_ty, mode, dst, a, b, c },
            None => Inst::Fma { ty, mode, relu, dst, a, b, c },
        })
    }

    /// `sad`
    pub fn sad(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(INTS)?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        let c = self.next_operand(st, ty)?;
        Ok(Inst::Sad { ty, dst, a, b, c })
    }

    /// `div`
    pub fn div(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(&[U16, U32, U64, S16, S32, S64, F32, F64])?;
        if !ty.is_float() {
            mods.finish()?;
            let (dst, a, b) = self.d_a_b(st, ty)?;
            return Ok(Inst::DivInt { ty, dst, a, b });
        }
        let full = ty == F32 && mods.flag("full");
        let mode = if full { DivMode::Full } else { div_mode(&mut mods)? };
        mods.require(ty == F32 || mode != DivMode::Approx, "`.f64` has no `.approx` here")?;
        let ftz = ty == F32 && mods.flag("ftz");
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        Ok(Inst::Div { ty, mode, ftz, dst, a, b })
    }

    /// `rem`
    pub fn rem(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(INTS)?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        Ok(Inst::Rem { ty, dst, a, b })
    }

    /// `abs`, `neg`
    pub fn abs_neg(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(ABS_TYPES)?;
        let ftz = matches!(ty, F32 | F16 | F16x2) && mods.flag("ftz");
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        Ok(match mods.opcode.text {
            "abs" => Inst::Abs { ty, ftz, dst, src },
            _ => Inst::Neg { ty, ftz, dst, src },
        })
    }

    /// `min`, `max`
    pub fn min_max(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(MIN_TYPES)?;
        let narrow_float = ty.is_float() && ty != F64;
        let ftz = matches!(ty, F32 | F16 | F16x2) && mods.flag("ftz");
        let nan = narrow_float && mods.flag("NaN");
        let xorsign_abs = narrow_float && mods.flag("xorsign");
        if xorsign_abs {
            mods.need("`.abs` after `.xorsign`", |word| (word == "abs").then_some(()))?;
        }
        let abs = ty == F32 && !xorsign_abs && mods.flag("abs");
        let relu = matches!(ty, S32 | S16x2) && mods.flag("relu");
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        let c = if ty == F32 && self.at(b',') { Some(self.next_operand(st, ty)?) } else { None };
        mods.require(c.is_some() || !abs, "`.abs` alone is for three inputs")?;
        mods.require(c.is_none() || !xorsign_abs, "`.xorsign` is for two inputs")?;
        let operands = MinMax { ty, ftz, nan, xorsign_abs, abs, relu, dst, a, b, c };
        Ok(if mods.opcode.text == "min" { Inst::Min(operands) } else { Inst::Max(operands) })
    }

    /// `popc`, `clz`, `brev`, `bfind`
    pub fn bit_count(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let opcode = mods.opcode.text;
        let ty = mods.ty(if opcode == "bfind" { INT32_64 } else { B32_64 })?;
        let shift_amount = opcode == "bfind" && mods.flag("shiftamt");
        mods.finish()?;
        let dst_ty = if opcode == "brev" { ty } else { U32 };
        let (dst, src) = self.d_a(st, dst_ty, ty)?;
        Ok(match opcode {
            "popc" => Inst::Popc { ty, dst, src },
            "clz" => Inst::Clz { ty, dst, src },
            "brev" => Inst::Brev { ty, dst, src },
            _ => Inst::Bfind { ty, shift_amount, dst, src },
        })
    }

    /// `bfe`
    pub fn bfe(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(INT32_64)?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        let pos = self.next_operand(st, U32)?;
        let len = self.next_operand(st, U32)?;
        Ok(Inst::Bfe { ty, dst, src, pos, len })
    }

    /// `bfi`
    pub fn bfi(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(B32_64)?;
        mods.finish()?;
        let (dst, field, base) = self.d_a_b(st, ty)?;
        let pos = self.next_operand(st, U32)?;
        let len = self.next_operand(st, U32)?;
        Ok(Inst::Bfi { ty, dst, field, base, pos, len })
    }

    /// `bmsk`, `szext`
    pub fn bmsk_szext(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let mode = mods.need("`.clamp` or `.wrap`", ShiftMode::from_str)?;
        let mask = mods.opcode.text == "bmsk";
        let ty = mods.ty(if mask { &[B32] } else { INT32 })?;
        mods.finish()?;
        let (dst, a) = self.d_a(st, ty, ty)?;
        let len = self.next_operand(st, U32)?;
        Ok(match mask {
            true => Inst::Bmsk { mode, dst, pos: a, len },
            false => Inst::Szext { mode, ty, dst, src: a, len },
        })
    }

    /// `fns`
    pub fn fns(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.ty(&[B32])?;
        mods.finish()?;
        let (dst, mask) = self.d_a(st, B32, B32)?;
        let base = self.next_operand(st, U32)?;
        let offset = self.next_operand(st, S32)?;
        Ok(Inst::Fns { dst, mask, base, offset })
    }

    /// `dp4a`, `dp2a`
    pub fn dot_product(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let bytes = mods.opcode.text == "dp4a";
        let part =
            if bytes { MulPart::Lo } else { mods.need("`.lo` or `.hi`", MulPart::from_str)? };
        mods.require(part != MulPart::Wide, "only `.lo` and `.hi` do")?;
        let a_ty = mods.ty(INT32)?;
        let b_ty = mods.ty(INT32)?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, B32)?;
        let c = self.next_operand(st, if a_ty == S32 || b_ty == S32 { S32 } else { U32 })?;
        Ok(match bytes {
            true => Inst::Dp4a { a_ty, b_ty, dst, a, b, c },
            false => {
                let high = part == MulPart::Hi;
                Inst::Dp2a { a_ty, b_ty, high, dst, a, b, c }
            }
        })
    }

    /// `sqrt`, `rcp`
    pub fn sqrt_rcp(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let root = mods.opcode.text == "sqrt";
        let ty = mods.ty(&[F32, F64])?;
        let mode = div_mode(&mut mods)?;
        let ftz = mods.flag("ftz");
        let exists = match (ty, mode) {
            (F32, _) => true,
            // Only the fast 64-bit reciprocal exists, and it flushes.
            (_, DivMode::Approx) => !root && ftz,
            _ => !ftz,
        };
        mods.require(exists, "`.f64` has IEEE roundings, and `rcp.approx.ftz.f64`")?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        Ok(match root {
            true => Inst::Sqrt { ty, mode, ftz, dst, src },
            false => Inst::Rcp { ty, mode, ftz, dst, src },
        })
    }

    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`
    pub fn transcendental(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
    ) -> Result<Inst> {
        let opcode = mods.opcode.text;
        let ty = mods.ty(match opcode {
            "rsqrt" => &[F32, F64],
            "ex2" | "tanh" => &[F32, F16, F16x2, BF16, BF16x2],
            _ => &[F32],
        })?;
        mods.need("`.approx`", |word| (word == "approx").then_some(()))?;
        let ftz = opcode != "tanh" && mods.flag("ftz");
        let bf16 = matches!(ty, BF16 | BF16x2);
        mods.require(!bf16 || ftz || opcode == "tanh", "`.bf16` needs `.ftz` here")?;
        mods.require(!(ftz && matches!(ty, F16 | F16x2)), "`.f16` has no `.ftz` here")?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        Ok(match opcode {
            "rsqrt" => Inst::Rsqrt { ty, ftz, dst, src },
            "sin" => Inst::Sin { ftz, dst, src },
            "cos" => Inst::Cos { ftz, dst, src },
            "lg2" => Inst::Lg2 { ftz, dst, src },
            "ex2" => Inst::Ex2 { ty, ftz, dst, src },
            _ => Inst::Tanh { ty, dst, src },
        })
    }

    /// `copysign`
    pub fn copysign(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(&[F32, F64])?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        Ok(Inst::Copysign { ty, dst, a, b })
    }

    /// `testp`
    pub fn testp(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let op = mods.need("a property such as `.finite`", TestpOp::from_str)?;
        let ty = mods.ty(&[F32, F64])?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, Pred, ty)?;
        Ok(Inst::Testp { op, ty, dst, src })
    }

    /// `and`, `or`, `xor`, `not`, `cnot`
    pub fn logic(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let opcode = mods.opcode.text;
        let ty = mods.ty(if opcode == "cnot" { BITS } else { &[Pred, B16, B32, B64] })?;
        mods.finish()?;
        if matches!(opcode, "not" | "cnot") {
            let (dst, src) = self.d_a(st, ty, ty)?;
            return Ok(match opcode {
                "not" => Inst::Not { ty, dst, src },
                _ => Inst::Cnot { ty, dst, src },
            });
        }
        let (dst, a, b) = self.d_a_b(st, ty)?;
        Ok(match opcode {
            "and" => Inst::And { ty, dst, a, b },
            "or" => Inst::Or { ty, dst, a, b },
            _ => Inst::Xor { ty, dst, a, b },
        })
    }

    /// `lop3`
    pub fn lop3(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let op = mods.take(BoolOp::from_str);
        mods.require(op != Some(BoolOp::Xor), "only `.and` and `.or` do")?;
        mods.ty(&[B32])?;
        mods.finish()?;
        let (dst, pred_dst) = match op {
            Some(_) => {
                let dst = self.dst(st, B32, Width::Exact)?;
                self.expect(b'|')?;
                (dst, self.dst(st, Pred, Width::Exact)?)
            }
            None => (Some(self.register(st, B32)?), None),
        };
        let a = self.next_operand(st, B32)?;
        let b = self.next_operand(st, B32)?;
        let c = self.next_operand(st, B32)?;
        self.comma()?;
        let token = self.peek;
        let table = self.integer("the look-up table")?;
        let Ok(table) = u8::try_from(table) else {
            let message = format!("the look-up table {table} is not 0 to 255");
            return Err(self.error_at(&token, crate::error::ErrorKind::Limit, message));
        };
        let mut pred = None;
        if let Some(op) = op {
            self.comma()?;
            pred = Some(Lop3Pred { op, dst: pred_dst, with: self.pred_operand(st)? });
        }
        Ok(Inst::Lop3 { table, dst, a, b, c, pred })
    }

    /// `shl`, `shr`
    pub fn shift(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let left = mods.opcode.text == "shl";
        let ty =
            mods.ty(if left { BITS } else { &[B16, B32, B64, U16, U32, U64, S16, S32, S64] })?;
        mods.finish()?;
        let (dst, a) = self.d_a(st, ty, ty)?;
        let amount = self.next_operand(st, U32)?;
        Ok(match left {
            true => Inst::Shl { ty, dst, a, amount },
            false => Inst::Shr { ty, dst, a, amount },
        })
    }

    /// `shf`
    pub fn shf(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let left = mods.flag("l");
        if !left {
            mods.need("`.l` or `.r`", |word| (word == "r").then_some(()))?;
        }
        let mode = mods.need("`.clamp` or `.wrap`", ShiftMode::from_str)?;
        mods.ty(&[B32])?;
        mods.finish()?;
        let (dst, lo, hi) = self.d_a_b(st, B32)?;
        let amount = self.next_operand(st, U32)?;
        Ok(Inst::Shf { left, mode, dst, lo, hi, amount })
    }
}

/// `.approx` or an IEEE rounding.
fn div_mode(mods: &mut Mods) -> Result<DivMode> {
    if mods.flag("approx") {
        return Ok(DivMode::Approx);
    }
    mods.need("`.approx` or a rounding such as `.rn`", Rounding::from_str).map(DivMode::Ieee)
}
