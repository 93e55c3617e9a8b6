//! Moves, conversions, comparison and selection.

use super::body::FunctionState;
use super::inst::INTS;
use super::inst_memory::vector_len;
use super::lexer::Tok;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::types::*;

use ScalarType::*;

const CVT_TYPES: &[ScalarType] =
    &[U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F16x2, BF16x2, F32, F64, TF32];
const SELECT_TYPES: &[ScalarType] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
const COMPARE_TYPES: &[ScalarType] =
    &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, F16, F16x2, BF16, BF16x2];

/// The state space modifier of a memory instruction.
pub(super) fn space_word(word: &str) -> Option<Space> {
    match word {
        "shared::cta" => Some(Space::Shared),
        "" => None,
        word => Space::from_str(word),
    }
}

/// Comparisons, with the names that are for unsigned types only.
fn comparison(word: &str) -> Option<(CmpOp, bool)> {
    match word {
        "lo" => Some((CmpOp::Lt, true)),
        "ls" => Some((CmpOp::Le, true)),
        "hi" => Some((CmpOp::Gt, true)),
        "hs" => Some((CmpOp::Ge, true)),
        _ => CmpOp::from_str(word).map(|cmp| (cmp, false)),
    }
}

impl<'a> Parser<'a> {
    /// `mov`, with its packing and unpacking forms.
    pub fn mov(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let lanes = vector_len(&mut mods);
        let ty = mods.ty(&[Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64])?;
        mods.finish()?;
        if lanes > 1 {
            mods.require(lanes <= 4 && ty != Pred, "vectors are `.v2` and `.v4`")?;
            return self.mov_vector(st, ty, lanes);
        }
        if let Some(elements) = self.vector_register(st) {
            self.next()?;
            let part = elements.first().map_or(0, |reg| st.body.registers[reg.index()].ty.bits());
            let whole = part * elements.len() as u32 == ty.bits();
            mods.require(whole, "the vector and the type have different sizes")?;
            self.comma()?;
            let dsts = elements.into_iter().map(Some).collect();
            return Ok(Inst::MovUnpack { ty, dsts, src: self.operand(st, ty)? });
        }
        if self.at(b'{') {
            let (part, count) = self.peek_parts(ty, &mods)?;
            let dsts = self.dsts(st, part, count, Width::Exact)?;
            self.comma()?;
            let src = self.operand(st, ty)?;
            return Ok(Inst::MovUnpack { ty, dsts, src });
        }
        let dst = self.register(st, ty)?;
        self.comma()?;
        if !self.at(b'{') {
            let src = self.operand_or_special(st, ty, Width::Exact)?;
            return Ok(Inst::Mov { ty, dst, src });
        }
        let (part, count) = self.peek_parts(ty, &mods)?;
        let srcs = self.srcs(st, part, count, Width::Exact)?;
        Ok(Inst::MovPack { ty, dst, srcs })
    }

    /// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`, or from `%tid` as a whole.
    fn mov_vector(
        &mut self,
        st: &mut FunctionState<'a>,
        ty: ScalarType,
        lanes: usize,
    ) -> Result<Inst> {
        let dsts = self.dsts(st, ty, lanes, Width::Exact)?;
        self.comma()?;
        let dims = ["x", "y", "z", "w"].map(|dim| format!("{}.{dim}", self.peek.text));
        let special = dims.map(|name| SpecialReg::from_name(&name));
        if let (4, U32 | B32, [Some(x), Some(y), Some(z), Some(w)]) = (lanes, ty, special)
            && self.peek.tok == Tok::Ident
        {
            self.next()?;
            let srcs = [x, y, z, w].map(Operand::Special).into();
            return Ok(Inst::MovVector { ty, dsts, srcs });
        }
        let srcs = self.srcs(st, ty, lanes, Width::Exact)?;
        Ok(Inst::MovVector { ty, dsts, srcs })
    }

    /// The type of one part and the number of parts of a `{...}` that is next: counted by its
    /// commas, without taking it.
    fn peek_parts(&self, ty: ScalarType, mods: &Mods<'a>) -> Result<(ScalarType, usize)> {
        let rest = &self.source()[self.peek.start as usize..];
        // No legal list is longer than this many bytes.
        let rest = &rest.as_bytes()[..rest.len().min(4096)];
        let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len());
        let count = rest[..end].iter().filter(|byte| **byte == b',').count() + 1;
        let part = match (ty.bits() as usize / count, count) {
            (8, 2 | 4) => B8,
            (16, 2 | 4) => B16,
            (32, 2 | 4) => B32,
            (64, 2) => B64,
            _ => {
                let why = format!("a `.{ty}` has no {count} parts");
                return Err(mods.bad(&why));
            }
        };
        Ok((part, count))
    }

    /// `cvta`
    pub fn cvta(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let from_generic = mods.flag("to");
        let space = mods.need("a state space", space_word)?;
        let ty = mods.ty(if self.module.address_bits == 64 { &[U64] } else { &[U32] })?;
        mods.finish()?;
        let dst = self.register(st, ty)?;
        self.comma()?;
        let token = self.peek;
        let src = self.operand(st, ty)?;
        if let Operand::Address(SymbolAddress { symbol, offset }) = src {
            let address = Address { base: AddressBase::Symbol(symbol), offset };
            self.check_space(st, &token, space, &address)?;
        }
        Ok(match from_generic {
            true => Inst::CvtaFromGeneric { space, ty, dst, src },
            false => Inst::CvtaToGeneric { space, ty, dst, src },
        })
    }

    /// `isspacep`, `istypep`
    pub fn is_kind(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let address_ty = if self.module.address_bits == 64 { U64 } else { U32 };
        if mods.opcode.text == "isspacep" {
            let space = mods.need("a state space", space_word)?;
            mods.finish()?;
            let (dst, src) = self.d_a(st, Pred, address_ty)?;
            return Ok(Inst::Isspacep { space, dst, src });
        }
        let ty = mods.need("`.texref`, `.samplerref` or `.surfref`", OpaqueType::from_str)?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, Pred, address_ty)?;
        Ok(Inst::Istypep { ty, dst, src })
    }

    /// `cvt`
    pub fn cvt(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.flag("pack") {
            return self.cvt_pack(st, mods);
        }
        if mods.has("rs") {
            let message = format!(
                "`{}`: stochastic rounding, which devices of sm_100a have, is not supported",
                mods.full_name()
            );
            return Err(self.error_at(&mods.opcode, ErrorKind::Unsupported, message));
        }
        if let Some(pair) = mods.take(TinyPair::from_str) {
            return self.cvt_tiny(st, mods, pair);
        }
        let rounding = mods.take(CvtRounding::from_str);
        let dst_ty = mods.ty(CVT_TYPES)?;
        let src_ty = mods.ty(CVT_TYPES)?;
        let relu = mods.flag("relu");
        let satfinite = mods.flag("satfinite");
        if matches!(dst_ty, F16x2 | BF16x2) {
            mods.require(src_ty == F32, "pairs are made of `.f32`")?;
            let Some(rounding @ (CvtRounding::Rn | CvtRounding::Rz)) = rounding else {
                return Err(mods.bad("`.rn` or `.rz` is needed"));
            };
            mods.finish()?;
            let (dst, a) = self.d_a(st, dst_ty, F32)?;
            let b = self.next_operand(st, F32)?;
            return Ok(Inst::CvtPackHalf { dst_ty, rounding, relu, satfinite, dst, a, b });
        }
        let ftz = mods.flag("ftz");
        let sat = mods.flag("sat");
        let tf32 = dst_ty == TF32;
        let flushes = !tf32 && (dst_ty == F32 || src_ty == F32);
        mods.require(!ftz || flushes, "`.ftz` is for `.f32`")?;
        check_cvt_clamps(&mods, dst_ty, src_ty, rounding, sat, relu, satfinite)?;
        check_cvt_rounding(&mods, dst_ty, src_ty, rounding)?;
        mods.finish()?;
        let dst = self.register_of(st, dst_ty, Width::AtLeast)?;
        self.comma()?;
        let integers = dst_ty.is_int() && src_ty.is_int();
        let src = if integers {
            self.operand_or_special(st, src_ty, Width::AtLeast)?
        } else {
            self.operand_of(st, src_ty, Width::AtLeast)?
        };
        Ok(Inst::Cvt { dst_ty, src_ty, rounding, ftz, sat, relu, satfinite, dst, src })
    }

    /// `cvt` to and from pairs of floats of 8 bits and fewer.
    fn cvt_tiny(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
        pair: TinyPair,
    ) -> Result<Inst> {
        let rounding =
            mods.need("`.rn`, `.rz` or `.rp`", |word| match CvtRounding::from_str(word) {
                Some(known @ (CvtRounding::Rn | CvtRounding::Rz | CvtRounding::Rp)) => Some(known),
                _ => None,
            })?;
        let (relu, satfinite) = (mods.flag("relu"), mods.flag("satfinite"));
        let exponents = pair == TinyPair::Ue8m0x2;
        mods.require(!(relu && exponents), "powers of two have no sign")?;
        let near = rounding == CvtRounding::Rn;
        if mods.first_is(TinyPair::from_str) {
            let types: &[_] = if exponents { &[F32, BF16x2] } else { &[F32, F16x2] };
            let src_ty = mods.ty(types)?;
            mods.require(
                near != exponents,
                "`.ue8m0x2` has `.rz` or `.rp`, the others have `.rn`",
            )?;
            mods.require(satfinite || exponents, "`.satfinite` is needed")?;
            mods.finish()?;
            let (dst, a) = self.d_a(st, pair.register(), src_ty)?;
            let b = if src_ty == F32 { Some(self.next_operand(st, F32)?) } else { None };
            return Ok(Inst::CvtToTiny { pair, src_ty, rounding, relu, satfinite, dst, a, b });
        }
        let dst_ty = mods.ty(if exponents { &[BF16x2] } else { &[F16x2] })?;
        mods.require(near && !satfinite, "it is exact: `.rn`, without `.satfinite`")?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, dst_ty, pair.register())?;
        Ok(Inst::CvtFromTiny { dst_ty, pair, relu, dst, src })
    }

    /// `cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}`
    fn cvt_pack(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.need("`.sat`", |word| (word == "sat").then_some(()))?;
        let (dst_signed, dst_bits) = mods.need("a type to convert to", |word| {
            let bits = word.get(1..)?.parse().ok().filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
            match word.as_bytes()[0] {
                b's' => Some((true, bits)),
                b'u' => Some((false, bits)),
                _ => None,
            }
        })?;
        let src_ty = mods.ty(&[S32])?;
        let third = mods.peek_ty().is_some();
        if third {
            mods.ty(&[B32])?;
        }
        mods.require(
            third == (dst_bits < 16),
            "8 bits and fewer go with `.b32` and a third source",
        )?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, B32)?;
        let c = if third { Some(self.next_operand(st, B32)?) } else { None };
        Ok(Inst::CvtPackSat { dst_bits, dst_signed, src_ty, dst, a, b, c })
    }

    /// `prmt`
    pub fn prmt(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        mods.ty(&[B32])?;
        let mode = mods
            .take(|word| PrmtMode::from_str(word).filter(|mode| *mode != PrmtMode::Generic))
            .unwrap_or(PrmtMode::Generic);
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, B32)?;
        let c = self.next_operand(st, B32)?;
        Ok(Inst::Prmt { mode, dst, a, b, c })
    }

    /// The comparison of `set` and `setp`, and whether its name is for unsigned types only.
    fn comparison(&self, mods: &mut Mods<'a>) -> Result<(CmpOp, bool)> {
        mods.need("a comparison such as `.lt`", comparison)
    }

    /// `setp`
    pub fn setp(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let (cmp, unsigned) = self.comparison(&mut mods)?;
        let bool_op = mods.take(BoolOp::from_str);
        let ty = mods.ty(COMPARE_TYPES)?;
        check_comparison(&mods, cmp, unsigned, ty)?;
        let ftz = matches!(ty, F32 | F16 | F16x2) && mods.flag("ftz");
        mods.finish()?;
        let (dst, dst2) = self.dst_pair(st, Pred, Pred)?;
        let single = matches!(ty, F16 | BF16) && dst2.is_some();
        mods.require(!single, "scalar half types have one result")?;
        let a = self.next_operand(st, ty)?;
        let b = self.next_operand(st, ty)?;
        let combine = self.combine(st, bool_op)?;
        Ok(Inst::Setp { cmp, ty, ftz, dst, dst2, a, b, combine })
    }

    fn combine(
        &mut self,
        st: &mut FunctionState<'a>,
        op: Option<BoolOp>,
    ) -> Result<Option<Combine>> {
        let Some(op) = op else { return Ok(None) };
        self.comma()?;
        Ok(Some(Combine { op, with: self.pred_operand(st)? }))
    }

    /// `set`
    pub fn set(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let (cmp, unsigned) = self.comparison(&mut mods)?;
        let bool_op = mods.take(BoolOp::from_str);
        let dst_ty = mods.ty(&[U32, S32, F32, U16, S16, F16, F16x2, BF16, BF16x2])?;
        let src_ty = mods.ty(COMPARE_TYPES)?;
        check_comparison(&mods, cmp, unsigned, src_ty)?;
        let packed = matches!(src_ty, F16x2 | BF16x2);
        let exists = match dst_ty {
            U32 | S32 => true,
            U16 | S16 => matches!(src_ty, F16 | BF16),
            F32 => !packed && !matches!(src_ty, F16 | BF16),
            F16 => !packed && src_ty != BF16,
            BF16 => !packed,
            _ => dst_ty == src_ty,
        };
        mods.require(exists, "there is no such pair of types")?;
        let ftz = matches!(src_ty, F32 | F16 | F16x2) && mods.flag("ftz");
        mods.finish()?;
        let (dst, a) = self.d_a(st, dst_ty, src_ty)?;
        let b = self.next_operand(st, src_ty)?;
        let combine = self.combine(st, bool_op)?;
        Ok(Inst::Set { cmp, dst_ty, src_ty, ftz, dst, a, b, combine })
    }

    /// `selp`
    pub fn selp(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(SELECT_TYPES)?;
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        self.comma()?;
        let pred = self.pred_operand(st)?;
        Ok(Inst::Selp { ty, dst, a, b, pred })
    }

    /// `slct`
    pub fn slct(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let ty = mods.ty(SELECT_TYPES)?;
        let c_ty = mods.ty(&[S32, F32])?;
        let ftz = c_ty == F32 && mods.flag("ftz");
        mods.finish()?;
        let (dst, a, b) = self.d_a_b(st, ty)?;
        let c = self.next_operand(st, c_ty)?;
        Ok(Inst::Slct { ty, c_ty, ftz, dst, a, b, c })
    }
}

fn check_comparison(mods: &Mods, cmp: CmpOp, unsigned: bool, ty: ScalarType) -> Result<()> {
    use CmpOp::*;
    let unordered = matches!(cmp, Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan);
    mods.require(!unordered || ty.is_float(), "this comparison is for floating types")?;
    let unsigned_ty = INTS.contains(&ty) && !ty.is_signed();
    mods.require(!unsigned || unsigned_ty, "this comparison is for unsigned types")?;
    let equality = matches!(cmp, Eq | Ne);
    let bits = ty.class() == TypeClass::Bits;
    mods.require(!bits || equality, "bits are only equal or not")
}

/// `.sat` stands where a value can be out of range, `.relu` and `.satfinite` where `.f32` is
/// narrowed.
fn check_cvt_clamps(
    mods: &Mods,
    dst_ty: ScalarType,
    src_ty: ScalarType,
    rounding: Option<CvtRounding>,
    sat: bool,
    relu: bool,
    satfinite: bool,
) -> Result<()> {
    use CvtRounding::*;
    let contained = match (dst_ty.is_signed(), src_ty.is_signed()) {
        (true, false) => dst_ty.bits() > src_ty.bits(),
        (false, true) => false,
        _ => dst_ty.bits() >= src_ty.bits(),
    };
    let integers = dst_ty.is_int() && src_ty.is_int();
    let no_sat = matches!(dst_ty, BF16 | TF32) || src_ty == BF16 || (integers && contained);
    mods.require(!sat || !no_sat, "`.sat` has nothing to do, or is not for this type")?;
    let narrows = src_ty == F32 && matches!(dst_ty, F16 | BF16 | TF32);
    mods.require(narrows || !(relu || satfinite), "`.relu` and `.satfinite` narrow `.f32`")?;
    let near = matches!(rounding, Some(Rn | Rz));
    mods.require(near || !relu, "`.relu` needs `.rn` or `.rz`")?;
    let clamps = near || rounding == Some(Rna);
    mods.require(clamps || !satfinite, "`.satfinite` needs `.rn`, `.rz` or `.rna`")
}

/// PTX demands a rounding where one is needed, and none where the result is exact.
fn check_cvt_rounding(
    mods: &Mods,
    dst_ty: ScalarType,
    src_ty: ScalarType,
    rounding: Option<CvtRounding>,
) -> Result<()> {
    use CvtRounding::*;
    let none = rounding.is_none();
    let integral = matches!(rounding, Some(Rni | Rzi | Rmi | Rpi));
    let ieee = matches!(rounding, Some(Rn | Rz | Rm | Rp));
    let byte_bf16 =
        (dst_ty == BF16 && src_ty.bits() == 8) || (src_ty == BF16 && dst_ty.bits() == 8);
    let exists = match (dst_ty.is_float(), src_ty.is_float()) {
        (false, false) => none,
        (false, true) => integral && !byte_bf16,
        (true, false) => ieee && dst_ty != TF32 && !byte_bf16,
        (true, true) if dst_ty == TF32 => src_ty == F32 && matches!(rounding, Some(Rn | Rz | Rna)),
        (true, true) if dst_ty == src_ty => none || integral,
        (true, true) if dst_ty.bits() < src_ty.bits() => ieee,
        // `.f16` and `.bf16` do not hold each other's values; widening `.bf16` may name a rounding.
        (true, true) if dst_ty.bits() == src_ty.bits() || src_ty == BF16 => none || ieee,
        (true, true) => none,
    };
    mods.require(exists && src_ty != TF32, "a rounding is missing, or out of place")
}
