//! From an opcode to the family that reads it, and what the families share.

use super::body::FunctionState;
use super::lexer::Token;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::module::Reg;
use crate::types::*;

use ScalarType::*;

/// All integers of 16 bits and more.
pub(super) const INTS: &[ScalarType] = &[U16, U32, U64, S16, S32, S64];
/// Bit types of logic instructions.
pub(super) const BITS: &[ScalarType] = &[B16, B32, B64];
/// Half-precision types and pairs.
pub(super) const HALVES: &[ScalarType] = &[F16, F16x2, BF16, BF16x2];

impl<'a> Parser<'a> {
    /// Reads an instruction after its opcode, up to its semicolon.
    pub fn parse_inst(&mut self, st: &mut FunctionState<'a>, word: Token<'a>) -> Result<Inst> {
        let mods = self.mods(word)?;
        match word.text {
            "mov" => self.mov(st, mods),
            "ld" | "ldu" => self.ld(st, mods),
            "st" => self.st(st, mods),
            "cvta" => self.cvta(st, mods),
            "isspacep" | "istypep" => self.is_kind(st, mods),
            "cvt" => self.cvt(st, mods),
            "prmt" => self.prmt(st, mods),
            "add" | "sub" | "addc" | "subc" => self.add_sub(st, mods),
            "mul" => self.mul(st, mods),
            "mad" | "madc" => self.mad(st, mods),
            "mul24" | "mad24" => self.mul24(st, mods),
            "fma" => self.fma(st, mods),
            "sad" => self.sad(st, mods),
            "div" => self.div(st, mods),
            "rem" => self.rem(st, mods),
            "abs" | "neg" => self.abs_neg(st, mods),
            "min" | "max" => self.min_max(st, mods),
            "popc" | "clz" | "brev" | "bfind" => self.bit_count(st, mods),
            "bfe" => self.bfe(st, mods),
            "bfi" => self.bfi(st, mods),
            "bmsk" | "szext" => self.bmsk_szext(st, mods),
            "fns" => self.fns(st, mods),
            "dp4a" | "dp2a" => self.dot_product(st, mods),
            "sqrt" | "rcp" => self.sqrt_rcp(st, mods),
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => self.transcendental(st, mods),
            "copysign" => self.copysign(st, mods),
            "testp" => self.testp(st, mods),
            "and" | "or" | "xor" | "not" | "cnot" => self.logic(st, mods),
            "lop3" => self.lop3(st, mods),
            "shl" | "shr" => self.shift(st, mods),
            "shf" => self.shf(st, mods),
            "setp" => self.setp(st, mods),
            "set" => self.set(st, mods),
            "selp" => self.selp(st, mods),
            "slct" => self.slct(st, mods),
            "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vset" => {
                self.video(st, mods)
            }
            "vmad" => self.video_mad(st, mods),
            "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4"
            | "vsub4" | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => {
                self.video_simd(st, mods)
            }
            "bra" => self.bra(st, mods),
            "brx" => self.brx(st, mods),
            "call" => self.call(st, mods),
            "ret" | "exit" | "trap" | "brkpt" => self.leave(mods),
            "bar" | "barrier" => self.barrier(st, mods),
            "membar" | "fence" => self.fence(mods),
            "atom" | "red" => self.atom(st, mods),
            "vote" => self.vote(st, mods),
            "match" => self.match_sync(st, mods),
            "activemask" => self.activemask(st, mods),
            "redux" => self.redux(st, mods),
            "shfl" => self.shfl(st, mods),
            "elect" => self.elect(st, mods),
            "mapa" => self.mapa(st, mods),
            "getctarank" => self.getctarank(st, mods),
            "setmaxnreg" => self.setmaxnreg(mods),
            "griddepcontrol" => self.griddepcontrol(mods),
            "mma" => self.mma(st, mods),
            "wmma" => self.wmma(st, mods),
            "ldmatrix" | "stmatrix" => self.matrix_memory(st, mods),
            "movmatrix" => self.movmatrix(st, mods),
            "mbarrier" => self.mbarrier(st, mods),
            "cp" => self.cp_async(st, mods),
            "prefetch" | "prefetchu" => self.prefetch(st, mods),
            "applypriority" | "discard" => self.cache_line(st, mods),
            "createpolicy" => self.createpolicy(st, mods),
            "tex" | "tld4" => self.tex(st, mods),
            "suld" | "sust" => self.surface(st, mods),
            "txq" | "suq" => self.texture_query(st, mods),
            "alloca" => self.alloca(st, mods),
            "stacksave" | "stackrestore" => self.stack_pointer(st, mods),
            "nanosleep" => self.nanosleep(st, mods),
            "pmevent" => self.pmevent(mods),
            _ => self.unknown_instruction(&mods),
        }
    }

    /// The error for an instruction that is not known, or known and not supported.
    pub fn unknown_instruction<T>(&self, mods: &Mods) -> Result<T> {
        let message =
            format!("unknown instruction `{}`: the CPU device does not run it", mods.full_name());
        Err(self.error_at(&mods.opcode, ErrorKind::UnknownInstruction, message))
    }

    /// `d, a`
    pub fn d_a(
        &mut self,
        st: &mut FunctionState<'a>,
        d: ScalarType,
        a: ScalarType,
    ) -> Result<(Reg, Operand)> {
        let dst = self.register(st, d)?;
        Ok((dst, self.next_operand(st, a)?))
    }

    /// `d, a, b`, all of one type.
    pub fn d_a_b(
        &mut self,
        st: &mut FunctionState<'a>,
        ty: ScalarType,
    ) -> Result<(Reg, Operand, Operand)> {
        let (dst, a) = self.d_a(st, ty, ty)?;
        Ok((dst, a, self.next_operand(st, ty)?))
    }

    /// `d|p`: two destinations, the second optional.
    pub fn dst_pair(
        &mut self,
        st: &mut FunctionState<'a>,
        first: ScalarType,
        second: ScalarType,
    ) -> Result<(Dst, Dst)> {
        let dst = self.dst(st, first, Width::Exact)?;
        let pair = if self.eat(b'|')? { self.dst(st, second, Width::Exact)? } else { None };
        Ok((dst, pair))
    }
}
