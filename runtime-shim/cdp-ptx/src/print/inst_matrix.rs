//! Matrices in the registers of a warp, as text.

use super::Printer;
use super::operand::Arg::*;
use crate::matrix::*;
use crate::types::*;

use ScalarType::{B32, U32};

fn layout(col: bool) -> &'static str {
    if col { "col" } else { "row" }
}

impl Printer<'_> {
    /// `mma`, `wmma.mma`
    pub fn mma(&mut self, mma: &Mma) {
        self.mnemonic(if mma.wmma { "wmma.mma" } else { "mma" });
        if let Some(sparsity) = &mma.sparsity {
            self.word(if sparsity.ordered { "sp::ordered_metadata" } else { "sp" });
        }
        let bits = mma.bits.map(|bits| match bits {
            BitProduct::Xor => "xor",
            BitProduct::And => "and",
        });
        if let (Some(word), true) = (bits, mma.wmma) {
            self.words(&[word, "popc"]);
        }
        self.words(&["sync", "aligned"]);
        let shape = mma.shape.to_string();
        let layouts = [layout(mma.a_col), layout(mma.b_col)];
        if mma.wmma {
            self.words(&layouts);
            self.word(&shape);
        } else {
            self.word(&shape);
            self.words(&layouts);
            self.flag(mma.satfinite, "satfinite");
        }
        self.word(mma.d_ty.as_str());
        if !(mma.wmma && mma.a_ty == MatrixType::F16) {
            self.words(&[mma.a_ty.as_str(), mma.b_ty.as_str()]);
        }
        self.word(mma.c_ty.as_str());
        if mma.wmma {
            self.flag(mma.satfinite, "satfinite");
        } else if let Some(word) = bits {
            self.words(&[word, "popc"]);
        }
        let ty = |operand| mma.ty(operand).register();
        let (a, b) = (ty(MatrixOperand::A), ty(MatrixOperand::B));
        let c = ty(MatrixOperand::C);
        match &mma.sparsity {
            None => self.args(&[Ds(&mma.d), Ss(&mma.a, a), Ss(&mma.b, b), Ss(&mma.c, c)]),
            Some(sparsity) => self.args(&[
                Ds(&mma.d),
                Ss(&mma.a, a),
                Ss(&mma.b, b),
                Ss(&mma.c, c),
                S(&sparsity.metadata, B32),
                N(i64::from(sparsity.selector)),
            ]),
        }
    }

    /// `wmma.load`, `wmma.store`
    pub fn wmma_memory(&mut self, memory: &WmmaMemory) {
        self.mnemonic(match memory.operand {
            MatrixOperand::A => "wmma.load.a",
            MatrixOperand::B => "wmma.load.b",
            MatrixOperand::C => "wmma.load.c",
            MatrixOperand::D => "wmma.store.d",
        });
        self.words(&["sync", "aligned", layout(memory.col), &memory.shape.to_string()]);
        if memory.space != Space::Generic {
            self.word(memory.space.as_str());
        }
        self.word(memory.ty.as_str());
        let registers = Ss(&memory.srcs, memory.ty.register());
        let stride = SOpt(&memory.stride, U32);
        match memory.operand {
            MatrixOperand::D => self.args(&[A(&memory.addr), registers, stride]),
            _ => self.args(&[Ds(&memory.dsts), A(&memory.addr), stride]),
        }
    }

    /// `ldmatrix`, `stmatrix`
    pub fn matrix_memory(&mut self, memory: &MatrixMemory) {
        let load = memory.srcs.is_empty();
        self.mnemonic(if load { "ldmatrix" } else { "stmatrix" });
        let count = memory.dsts.len().max(memory.srcs.len());
        self.words(&["sync", "aligned", "m8n8", &format!("x{count}")]);
        self.flag(memory.transposed, "trans");
        self.flag(memory.space == Space::Shared, "shared");
        self.word("b16");
        if load {
            self.args(&[Ds(&memory.dsts), A(&memory.addr)]);
        } else {
            self.args(&[A(&memory.addr), Ss(&memory.srcs, B32)]);
        }
    }

    /// `movmatrix`
    pub fn movmatrix(&mut self, matrix: &MoveMatrix) {
        self.mnemonic("movmatrix.sync.aligned.m8n8.trans.b16");
        self.args(&[D(matrix.dst), S(&matrix.src, B32)]);
    }
}
