//! `wgmma.mma_async`.

use crate::inst::*;
use crate::matrix::{MatrixShape, MatrixType};
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::{self, *};
use crate::types::ScalarType::{B32, B64};
use crate::warpgroup::{LeftFactor, Wgmma};

impl<'a> Parser<'a> {
    /// `wgmma.mma_async`
    pub fn wgmma(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        mods.word("mma_async")?;
        mods.word("sync")?;
        mods.word("aligned")?;
        let shape = mods.need("a shape such as `.m64n8k16`", MatrixShape::from_word)?;
        let satfinite = mods.flag("satfinite");
        let d_ty = mods.need("a type", MatrixType::from_str)?;
        let a_ty = mods.need("the type of A", MatrixType::from_str)?;
        let b_ty = mods.need("the type of B", MatrixType::from_str)?;
        let unknown = Operand::Imm(0);
        let mut wgmma = Wgmma {
            shape,
            d_ty,
            a_ty,
            b_ty,
            satfinite,
            d: Vec::new().into(),
            a: LeftFactor::Shared(unknown),
            b: unknown,
            adds: PredOperand { value: unknown, negated: false },
            negated: [false; 2],
            turned: [false; 2],
        };
        mods.require(wgmma.exists(), "these types and sizes do not go together")?;
        mods.finish()?;
        wgmma.d = self.dsts(d_ty.register(), wgmma.registers(), Width::Exact)?;
        self.comma()?;
        if self.at(b'{') {
            wgmma.a = LeftFactor::Registers(self.srcs(B32, 4, Width::Exact)?);
        } else {
            wgmma.a = LeftFactor::Shared(self.operand(B64)?);
        }
        wgmma.b = self.next_operand(B64)?;
        self.comma()?;
        wgmma.adds = self.pred_operand()?;
        if d_ty != MatrixType::S32 {
            for negated in &mut wgmma.negated {
                *negated = self.one_of("1 or -1", [1, -1])? == -1;
            }
        }
        if wgmma.may_turn() {
            let first = usize::from(matches!(wgmma.a, LeftFactor::Registers(_)));
            for turned in &mut wgmma.turned[first..] {
                *turned = self.one_of("0 or 1", [0, 1])? == 1;
            }
        }
        Ok(Inst::Wgmma(Box::new(wgmma)))
    }

    /// `, number`
    fn one_of(&mut self, what: &str, allowed: [i64; 2]) -> Result<i64> {
        self.comma()?;
        let token = self.peek;
        let number = self.integer(what)?;
        match allowed.contains(&number) {
            true => Ok(number),
            false => {
                fail!(self, token, Limit, "{number} where {what} is expected")
            }
        }
    }
}

impl Printer<'_> {
    /// `wgmma.mma_async`
    pub fn wgmma(&mut self, inst: &Inst) {
        fields!(inst, Inst::Wgmma(wgmma));
        self.mnemonic("wgmma.mma_async");
        self.words(&["sync", "aligned", &wgmma.shape.to_string()]);
        self.flag(wgmma.satfinite, "satfinite");
        self.words(&[wgmma.d_ty.as_str(), wgmma.a_ty.as_str(), wgmma.b_ty.as_str()]);
        let (a, in_registers) = match &wgmma.a {
            LeftFactor::Shared(a) => (S(a, B64), false),
            LeftFactor::Registers(a) => (Ss(a, B32), true),
        };
        let mut args: Vec<Arg<'_>> = vec![Ds(&wgmma.d), a, S(&wgmma.b, B64), P(&wgmma.adds)];
        if wgmma.d_ty != MatrixType::S32 {
            args.extend(wgmma.negated.map(|negated| N(if negated { -1 } else { 1 })));
        }
        if wgmma.may_turn() {
            let turned = &wgmma.turned[usize::from(in_registers)..];
            args.extend(turned.iter().map(|&turned| N(i64::from(turned))));
        }
        self.args(&args);
    }
}
