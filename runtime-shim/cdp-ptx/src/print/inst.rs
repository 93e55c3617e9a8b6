//! Instructions as text: which group prints each variant, then arithmetic and data movement.

use super::Printer;
use super::operand::Arg::*;
use crate::inst::*;
use crate::module::*;
use crate::types::*;

use ScalarType::{B32, B64, F32, Pred, S32, U32};

impl Printer<'_> {
    pub fn mnemonic(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub fn word(&mut self, word: &str) {
        self.out.push('.');
        self.out.push_str(word);
    }

    pub fn words(&mut self, words: &[&str]) {
        for word in words {
            self.word(word);
        }
    }

    pub fn flag(&mut self, on: bool, word: &str) {
        if on {
            self.word(word);
        }
    }

    fn float_mode(&mut self, mode: FloatMode) {
        if let Some(rounding) = mode.rounding {
            self.word(rounding.as_str());
        }
        self.flag(mode.ftz, "ftz");
        self.flag(mode.sat, "sat");
    }

    fn div_mode(&mut self, mode: DivMode) {
        match mode {
            DivMode::Approx => self.word("approx"),
            DivMode::Full => self.word("full"),
            DivMode::Ieee(rounding) => self.word(rounding.as_str()),
        }
    }

    /// A line with one instruction.
    pub fn instruction(&mut self, instruction: &Instruction) {
        self.out.push('\t');
        if let Some(guard) = instruction.guard {
            self.out.push_str(if guard.negated { "@!" } else { "@" });
            self.reg(guard.reg);
            self.out.push(' ');
        }
        self.inst(&instruction.inst);
        self.out.push('\n');
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Unknown { text, why: _ } => {
                self.out.push_str(text);
                self.out.push(';');
            }
            Inst::Mov { .. }
            | Inst::MovVector { .. }
            | Inst::MovPack { .. }
            | Inst::MovUnpack { .. }
            | Inst::CvtaToGeneric { .. }
            | Inst::CvtaFromGeneric { .. }
            | Inst::Isspacep { .. }
            | Inst::Istypep { .. }
            | Inst::Cvt { .. }
            | Inst::CvtPackHalf { .. }
            | Inst::CvtToTiny { .. }
            | Inst::CvtFromTiny { .. }
            | Inst::CvtPackSat { .. }
            | Inst::Prmt { .. }
            | Inst::Setp { .. }
            | Inst::Set { .. }
            | Inst::Selp { .. }
            | Inst::Slct { .. } => self.data(inst),

            Inst::Ld { .. }
            | Inst::St { .. }
            | Inst::Atom(_)
            | Inst::Red(_)
            | Inst::AtomVector(_)
            | Inst::RedVector(_)
            | Inst::CpAsync { .. }
            | Inst::BulkCopy(_)
            | Inst::BulkPrefetch { .. }
            | Inst::Prefetch { .. }
            | Inst::PrefetchUniform { .. }
            | Inst::ApplyPriority { .. }
            | Inst::Discard { .. }
            | Inst::Tex(_)
            | Inst::Tld4(_)
            | Inst::Suld { .. }
            | Inst::Sust { .. } => self.memory(inst),

            Inst::Bra { .. }
            | Inst::BrxIdx { .. }
            | Inst::Call { .. }
            | Inst::Ret { .. }
            | Inst::Exit
            | Inst::Trap
            | Inst::Brkpt
            | Inst::Barrier { .. }
            | Inst::BarWarpSync { .. }
            | Inst::BarrierCluster { .. }
            | Inst::Mapa(_)
            | Inst::Getctarank { .. }
            | Inst::RemoteAccess(_)
            | Inst::Setmaxnreg { .. }
            | Inst::Membar { .. }
            | Inst::Fence { .. }
            | Inst::FenceProxy { .. }
            | Inst::Vote { .. }
            | Inst::Match { .. }
            | Inst::Activemask { .. }
            | Inst::Redux { .. }
            | Inst::Shfl(_)
            | Inst::Elect { .. }
            | Inst::Mma(_)
            | Inst::WmmaMemory(_)
            | Inst::MatrixMemory(_)
            | Inst::Movmatrix(_)
            | Inst::Mbarrier(_)
            | Inst::MbarrierPendingCount { .. }
            | Inst::Griddepcontrol { .. }
            | Inst::CpAsyncCommitGroup
            | Inst::BulkCommitGroup
            | Inst::BulkWaitGroup { .. }
            | Inst::CpAsyncWaitGroup { .. }
            | Inst::CpAsyncWaitAll
            | Inst::CreatePolicy { .. }
            | Inst::Txq { .. }
            | Inst::Suq { .. }
            | Inst::Alloca { .. }
            | Inst::Stacksave { .. }
            | Inst::Stackrestore { .. }
            | Inst::Nanosleep { .. }
            | Inst::Pmevent { .. } => self.control(inst),

            Inst::Video(_) | Inst::VideoMad(_) | Inst::VideoSimd(_) => self.video(inst),

            _ => self.arithmetic(inst),
        }
    }

    /// `name.mods.ty d, a, b`
    fn binary(&mut self, ty: ScalarType, dst: Reg, a: &Operand, b: &Operand) {
        self.word(ty.as_str());
        self.args(&[D(dst), S(a, ty), S(b, ty)]);
    }

    /// `name.mods.ty d, a`
    fn unary(&mut self, ty: ScalarType, dst: Reg, src: &Operand) {
        self.word(ty.as_str());
        self.args(&[D(dst), S(src, ty)]);
    }

    fn min_max(&mut self, name: &str, m: &MinMax) {
        self.mnemonic(name);
        self.flag(m.ftz, "ftz");
        self.flag(m.nan, "NaN");
        self.flag(m.xorsign_abs, "xorsign.abs");
        self.flag(m.abs, "abs");
        self.flag(m.relu, "relu");
        self.word(m.ty.as_str());
        self.args(&[D(m.dst), S(&m.a, m.ty), S(&m.b, m.ty), SOpt(&m.c, m.ty)]);
    }

    fn arithmetic(&mut self, inst: &Inst) {
        match inst {
            Inst::Add { ty, mode, sat_int, dst, a, b } => {
                self.mnemonic("add");
                self.float_mode(*mode);
                self.flag(*sat_int, "sat");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Sub { ty, mode, sat_int, dst, a, b } => {
                self.mnemonic("sub");
                self.float_mode(*mode);
                self.flag(*sat_int, "sat");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Mul { ty, mode, dst, a, b } => {
                self.mnemonic("mul");
                self.float_mode(*mode);
                self.binary(*ty, *dst, a, b);
            }
            Inst::MulInt { ty, part, dst, a, b } => {
                self.mnemonic("mul");
                self.word(part.as_str());
                self.binary(*ty, *dst, a, b);
            }
            Inst::MadInt { ty, part, sat, dst, a, b, c } => {
                self.mnemonic("mad");
                self.word(part.as_str());
                self.flag(*sat, "sat");
                self.word(ty.as_str());
                let wide = *part == MulPart::Wide;
                let c_ty = if wide { crate::inst::widened(*ty) } else { *ty };
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, c_ty)]);
            }
            Inst::Mul24 { ty, part, dst, a, b } => {
                self.mnemonic("mul24");
                self.word(part.as_str());
                self.binary(*ty, *dst, a, b);
            }
            Inst::Mad24 { ty, part, sat, dst, a, b, c } => {
                self.mnemonic("mad24");
                self.word(part.as_str());
                self.flag(*sat, "sat");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, *ty)]);
            }
            Inst::Fma { ty, mode, relu, dst, a, b, c } => {
                self.mnemonic("fma");
                self.float_mode(*mode);
                self.flag(*relu, "relu");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, *ty)]);
            }
            Inst::AddMixed { src_ty, mode, dst, a, b } => {
                self.mnemonic("add");
                self.float_mode(*mode);
                self.words(&["f32", src_ty.as_str()]);
                self.args(&[D(*dst), S(a, *src_ty), S(b, F32)]);
            }
            Inst::SubMixed { src_ty, mode, dst, a, b } => {
                self.mnemonic("sub");
                self.float_mode(*mode);
                self.words(&["f32", src_ty.as_str()]);
                self.args(&[D(*dst), S(a, *src_ty), S(b, F32)]);
            }
            Inst::FmaMixed { src_ty, mode, dst, a, b, c } => {
                self.mnemonic("fma");
                self.float_mode(*mode);
                self.words(&["f32", src_ty.as_str()]);
                self.args(&[D(*dst), S(a, *src_ty), S(b, *src_ty), S(c, F32)]);
            }
            Inst::Sad { ty, dst, a, b, c } => {
                self.mnemonic("sad");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, *ty)]);
            }
            Inst::DivInt { ty, dst, a, b } => {
                self.mnemonic("div");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Div { ty, mode, ftz, dst, a, b } => {
                self.mnemonic("div");
                self.div_mode(*mode);
                self.flag(*ftz, "ftz");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Rem { ty, dst, a, b } => {
                self.mnemonic("rem");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Abs { ty, ftz, dst, src } => {
                self.mnemonic("abs");
                self.flag(*ftz, "ftz");
                self.unary(*ty, *dst, src);
            }
            Inst::Neg { ty, ftz, dst, src } => {
                self.mnemonic("neg");
                self.flag(*ftz, "ftz");
                self.unary(*ty, *dst, src);
            }
            Inst::Min(m) => self.min_max("min", m),
            Inst::Max(m) => self.min_max("max", m),
            Inst::AddCarry { ty, carry_in, carry_out, dst, a, b } => {
                self.mnemonic(if *carry_in { "addc" } else { "add" });
                self.flag(*carry_out, "cc");
                self.binary(*ty, *dst, a, b);
            }
            Inst::SubCarry { ty, carry_in, carry_out, dst, a, b } => {
                self.mnemonic(if *carry_in { "subc" } else { "sub" });
                self.flag(*carry_out, "cc");
                self.binary(*ty, *dst, a, b);
            }
            Inst::MadCarry { ty, part, carry_in, carry_out, dst, a, b, c } => {
                self.mnemonic(if *carry_in { "madc" } else { "mad" });
                self.word(part.as_str());
                self.flag(*carry_out, "cc");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, *ty)]);
            }
            _ => self.bits(inst),
        }
    }

    /// Bit fields, logic, and the functions of one operand.
    fn bits(&mut self, inst: &Inst) {
        match inst {
            Inst::Popc { ty, dst, src } => {
                self.mnemonic("popc");
                self.unary(*ty, *dst, src);
            }
            Inst::Clz { ty, dst, src } => {
                self.mnemonic("clz");
                self.unary(*ty, *dst, src);
            }
            Inst::Bfind { ty, shift_amount, dst, src } => {
                self.mnemonic("bfind");
                self.flag(*shift_amount, "shiftamt");
                self.unary(*ty, *dst, src);
            }
            Inst::Brev { ty, dst, src } => {
                self.mnemonic("brev");
                self.unary(*ty, *dst, src);
            }
            Inst::Bfe { ty, dst, src, pos, len } => {
                self.mnemonic("bfe");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(src, *ty), S(pos, U32), S(len, U32)]);
            }
            Inst::Bfi { ty, dst, field, base, pos, len } => {
                self.mnemonic("bfi");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(field, *ty), S(base, *ty), S(pos, U32), S(len, U32)]);
            }
            Inst::Bmsk { mode, dst, pos, len } => {
                self.mnemonic("bmsk");
                self.words(&[mode.as_str(), "b32"]);
                self.args(&[D(*dst), S(pos, B32), S(len, U32)]);
            }
            Inst::Szext { mode, ty, dst, src, len } => {
                self.mnemonic("szext");
                self.words(&[mode.as_str(), ty.as_str()]);
                self.args(&[D(*dst), S(src, *ty), S(len, U32)]);
            }
            Inst::Fns { dst, mask, base, offset } => {
                self.mnemonic("fns.b32");
                self.args(&[D(*dst), S(mask, B32), S(base, U32), S(offset, S32)]);
            }
            Inst::Dp4a { a_ty, b_ty, dst, a, b, c } => {
                self.mnemonic("dp4a");
                self.words(&[a_ty.as_str(), b_ty.as_str()]);
                self.args(&[D(*dst), S(a, B32), S(b, B32), S(c, B32)]);
            }
            Inst::Dp2a { a_ty, b_ty, high, dst, a, b, c } => {
                self.mnemonic(if *high { "dp2a.hi" } else { "dp2a.lo" });
                self.words(&[a_ty.as_str(), b_ty.as_str()]);
                self.args(&[D(*dst), S(a, B32), S(b, B32), S(c, B32)]);
            }
            Inst::And { ty, dst, a, b } => {
                self.mnemonic("and");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Or { ty, dst, a, b } => {
                self.mnemonic("or");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Xor { ty, dst, a, b } => {
                self.mnemonic("xor");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Not { ty, dst, src } => {
                self.mnemonic("not");
                self.unary(*ty, *dst, src);
            }
            Inst::Cnot { ty, dst, src } => {
                self.mnemonic("cnot");
                self.unary(*ty, *dst, src);
            }
            Inst::Lop3 { table, dst, a, b, c, pred } => {
                self.mnemonic("lop3");
                let table = N(i64::from(*table));
                let sources = [S(a, B32), S(b, B32), S(c, B32), table];
                match pred {
                    None => {
                        self.word("b32");
                        self.args(&[&[O(*dst)], &sources[..]].concat());
                    }
                    Some(pred) => {
                        self.words(&[pred.op.as_str(), "b32"]);
                        self.out.push(' ');
                        self.arg(O(*dst));
                        self.out.push('|');
                        let with = [P(&pred.with)];
                        let rest = [&[O(pred.dst)], &sources[..], &with].concat();
                        for (position, arg) in rest.into_iter().enumerate() {
                            self.out.push_str(if position > 0 { ", " } else { "" });
                            self.arg(arg);
                        }
                        self.out.push(';');
                    }
                }
            }
            Inst::Shl { ty, dst, a, amount } => {
                self.mnemonic("shl");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(amount, U32)]);
            }
            Inst::Shr { ty, dst, a, amount } => {
                self.mnemonic("shr");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(amount, U32)]);
            }
            Inst::Shf { left, mode, dst, lo, hi, amount } => {
                self.mnemonic(if *left { "shf.l" } else { "shf.r" });
                self.words(&[mode.as_str(), "b32"]);
                self.args(&[D(*dst), S(lo, B32), S(hi, B32), S(amount, U32)]);
            }
            _ => self.functions(inst),
        }
    }

    /// Square roots, transcendental functions and tests.
    fn functions(&mut self, inst: &Inst) {
        let mut approx = |name: &str, ty: ScalarType, ftz: bool, dst: Reg, src: &Operand| {
            self.mnemonic(name);
            self.word("approx");
            self.flag(ftz, "ftz");
            self.unary(ty, dst, src);
        };
        match inst {
            Inst::Rsqrt { ty, ftz, dst, src } => approx("rsqrt", *ty, *ftz, *dst, src),
            Inst::Sin { ftz, dst, src } => approx("sin", F32, *ftz, *dst, src),
            Inst::Cos { ftz, dst, src } => approx("cos", F32, *ftz, *dst, src),
            Inst::Lg2 { ftz, dst, src } => approx("lg2", F32, *ftz, *dst, src),
            Inst::Ex2 { ty, ftz, dst, src } => approx("ex2", *ty, *ftz, *dst, src),
            Inst::Tanh { ty, dst, src } => approx("tanh", *ty, false, *dst, src),
            Inst::Sqrt { ty, mode, ftz, dst, src } => {
                self.mnemonic("sqrt");
                self.div_mode(*mode);
                self.flag(*ftz, "ftz");
                self.unary(*ty, *dst, src);
            }
            Inst::Rcp { ty, mode, ftz, dst, src } => {
                self.mnemonic("rcp");
                self.div_mode(*mode);
                self.flag(*ftz, "ftz");
                self.unary(*ty, *dst, src);
            }
            Inst::Copysign { ty, dst, a, b } => {
                self.mnemonic("copysign");
                self.binary(*ty, *dst, a, b);
            }
            Inst::Testp { op, ty, dst, src } => {
                self.mnemonic("testp");
                self.word(op.as_str());
                self.unary(*ty, *dst, src);
            }
            _ => unreachable!("`inst` names every other variant"),
        }
    }

    fn combine_word(&mut self, combine: &Option<Combine>) {
        if let Some(combine) = combine {
            self.word(combine.op.as_str());
        }
    }

    /// Moves, conversions, comparisons, selection.
    fn data(&mut self, inst: &Inst) {
        match inst {
            Inst::Mov { ty, dst, src } => {
                self.mnemonic("mov");
                self.unary(*ty, *dst, src);
            }
            Inst::MovVector { ty, dsts, srcs } => {
                self.mnemonic("mov");
                self.words(&[if dsts.len() == 2 { "v2" } else { "v4" }, ty.as_str()]);
                match srcs.first() {
                    Some(Operand::Special(special)) => {
                        // All four components of one.
                        let name = special.to_string();
                        self.args(&[Ds(dsts), T(name.trim_end_matches(".x"))]);
                    }
                    _ => self.args(&[Ds(dsts), Braced(srcs, *ty)]),
                }
            }
            Inst::MovPack { ty, dst, srcs } => {
                self.mnemonic("mov");
                self.word(ty.as_str());
                let part = bits_type(ty.bits() / srcs.len().max(1) as u32);
                self.args(&[D(*dst), Braced(srcs, part)]);
            }
            Inst::MovUnpack { ty, dsts, src } => {
                self.mnemonic("mov");
                self.word(ty.as_str());
                self.args(&[Ds(dsts), S(src, *ty)]);
            }
            Inst::CvtaToGeneric { space, ty, dst, src } => {
                self.mnemonic("cvta");
                self.word(space.as_str());
                self.unary(*ty, *dst, src);
            }
            Inst::CvtaFromGeneric { space, ty, dst, src } => {
                self.mnemonic("cvta.to");
                self.word(space.as_str());
                self.unary(*ty, *dst, src);
            }
            Inst::Isspacep { space, dst, src } => {
                self.mnemonic("isspacep");
                self.word(space.as_str());
                self.args(&[D(*dst), S(src, B64)]);
            }
            Inst::Istypep { ty, dst, src } => {
                self.mnemonic("istypep");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(src, B64)]);
            }
            Inst::Cvt { dst_ty, src_ty, rounding, ftz, sat, relu, satfinite, dst, src } => {
                self.mnemonic("cvt");
                if let Some(rounding) = rounding {
                    self.word(rounding.as_str());
                }
                self.flag(*ftz, "ftz");
                self.flag(*sat, "sat");
                self.flag(*satfinite, "satfinite");
                self.flag(*relu, "relu");
                self.words(&[dst_ty.as_str(), src_ty.as_str()]);
                self.args(&[D(*dst), S(src, *src_ty)]);
            }
            Inst::CvtPackHalf { dst_ty, rounding, relu, satfinite, dst, a, b } => {
                self.mnemonic("cvt");
                self.word(rounding.as_str());
                self.flag(*satfinite, "satfinite");
                self.flag(*relu, "relu");
                self.words(&[dst_ty.as_str(), "f32"]);
                self.args(&[D(*dst), S(a, F32), S(b, F32)]);
            }
            Inst::CvtToTiny { pair, src_ty, rounding, relu, satfinite, dst, a, b } => {
                self.mnemonic("cvt");
                self.word(rounding.as_str());
                self.flag(*satfinite, "satfinite");
                self.flag(*relu, "relu");
                self.words(&[pair.as_str(), src_ty.as_str()]);
                self.args(&[D(*dst), S(a, *src_ty), SOpt(b, F32)]);
            }
            Inst::CvtFromTiny { dst_ty, pair, relu, dst, src } => {
                self.mnemonic("cvt.rn");
                self.flag(*relu, "relu");
                self.words(&[dst_ty.as_str(), pair.as_str()]);
                self.args(&[D(*dst), S(src, pair.register())]);
            }
            Inst::CvtPackSat { dst_bits, dst_signed, src_ty, dst, a, b, c } => {
                let letter = if *dst_signed { "s" } else { "u" };
                self.mnemonic("cvt.pack.sat");
                self.word(&format!("{letter}{dst_bits}"));
                self.word(src_ty.as_str());
                self.flag(c.is_some(), "b32");
                self.args(&[D(*dst), S(a, S32), S(b, S32), SOpt(c, B32)]);
            }
            Inst::Prmt { mode, dst, a, b, c } => {
                self.mnemonic("prmt.b32");
                self.flag(*mode != PrmtMode::Generic, mode.as_str());
                self.args(&[D(*dst), S(a, B32), S(b, B32), S(c, B32)]);
            }
            Inst::Setp { cmp, ty, ftz, dst, dst2, a, b, combine } => {
                self.mnemonic("setp");
                self.word(cmp.as_str());
                self.combine_word(combine);
                self.flag(*ftz, "ftz");
                self.word(ty.as_str());
                let mut args = vec![Pair(*dst, *dst2), S(a, *ty), S(b, *ty)];
                args.extend(combine.iter().map(|combine| P(&combine.with)));
                self.args(&args);
            }
            Inst::Set { cmp, dst_ty, src_ty, ftz, dst, a, b, combine } => {
                self.mnemonic("set");
                self.word(cmp.as_str());
                self.combine_word(combine);
                self.flag(*ftz, "ftz");
                self.words(&[dst_ty.as_str(), src_ty.as_str()]);
                let mut args = vec![D(*dst), S(a, *src_ty), S(b, *src_ty)];
                args.extend(combine.iter().map(|combine| P(&combine.with)));
                self.args(&args);
            }
            Inst::Selp { ty, dst, a, b, pred } => {
                self.mnemonic("selp");
                self.word(ty.as_str());
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), P(pred)]);
            }
            Inst::Slct { ty, c_ty, ftz, dst, a, b, c } => {
                self.mnemonic("slct");
                self.flag(*ftz, "ftz");
                self.words(&[ty.as_str(), c_ty.as_str()]);
                self.args(&[D(*dst), S(a, *ty), S(b, *ty), S(c, *c_ty)]);
            }
            _ => unreachable!("`inst` sends only data instructions here"),
        }
    }
}

/// The bit type of a width; `.pred` for anything that has none.
fn bits_type(bits: u32) -> ScalarType {
    match bits {
        8 => ScalarType::B8,
        16 => ScalarType::B16,
        32 => ScalarType::B32,
        64 => ScalarType::B64,
        _ => Pred,
    }
}
