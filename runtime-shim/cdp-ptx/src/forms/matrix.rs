//! Matrices in the registers of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`.

use crate::inst::*;
use crate::matrix::*;
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::*;
use crate::types::*;

use MatrixOperand as Part;
use ScalarType::{B16, B32, U32};

/// `.row` or `.col`.
fn layout(word: &str) -> Option<bool> {
    match word {
        "row" => Some(false),
        "col" => Some(true),
        _ => None,
    }
}

fn nothing<T>() -> Box<[T]> {
    Vec::new().into()
}

impl<'a> Parser<'a> {
    /// The words that every one of these instructions has.
    fn sync_aligned(&self, mods: &mut Mods<'a>) -> Result<()> {
        mods.word("sync")?;
        mods.word("aligned")
    }

    /// A product without its registers yet.
    fn product(&self, mods: &mut Mods<'a>, wmma: bool) -> Result<Mma> {
        let bits = mods.take(|word| match word {
            "xor" => Some(BitProduct::Xor),
            "and" => Some(BitProduct::And),
            _ => None,
        });
        if bits.is_some() {
            mods.word("popc")?;
        }
        self.sync_aligned(mods)?;
        let a_col = mods.need("`.row` or `.col`", layout)?;
        let b_col = mods.need("`.row` or `.col` for the second matrix", layout)?;
        let shape = mods.need("a shape such as `.m16n8k16`", MatrixShape::from_word)?;
        let satfinite = mods.flag("satfinite");
        let first = mods.need("a type", MatrixType::from_str)?;
        let second = mods.need("a second type", MatrixType::from_str)?;
        let third = mods.take(MatrixType::from_str);
        let fourth = mods.take(MatrixType::from_str);
        let (d_ty, a_ty, b_ty, c_ty) = match (third, fourth) {
            (Some(third), Some(fourth)) => (first, second, third, fourth),
            // `wmma` on halves leaves their types out.
            (None, None) if wmma => (first, MatrixType::F16, MatrixType::F16, second),
            _ => return Err(mods.bad("it has the types of D, A, B and C")),
        };
        Ok(Mma {
            wmma,
            shape,
            a_col,
            b_col,
            a_ty,
            b_ty,
            c_ty,
            d_ty,
            satfinite,
            bits,
            sparsity: None,
            d: nothing(),
            a: nothing(),
            b: nothing(),
            c: nothing(),
        })
    }

    /// `mma`, `wmma.mma`
    pub fn mma(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        if mods.is("wmma") {
            mods.word("mma")?;
            let mut mma = self.product(mods, true)?;
            self.mma_operands(mods, &mut mma)?;
            return Ok(Inst::Mma(Box::new(mma)));
        }
        let sparse = mods.take(|word| match word {
            "sp" => Some(false),
            "sp::ordered_metadata" => Some(true),
            _ => None,
        });
        let mut mma = self.product(mods, false)?;
        // Known only with the operands; `exists` and the number of registers look at it.
        let unknown = |ordered| Sparsity { ordered, metadata: Operand::Imm(0), selector: 0 };
        mma.sparsity = sparse.map(unknown);
        self.mma_operands(mods, &mut mma)?;
        if let Some(sparsity) = &mut mma.sparsity {
            sparsity.metadata = self.next_operand(B32)?;
            self.comma()?;
            let token = self.peek;
            let selector = self.number_u32("the sparsity selector")?;
            if selector > 3 {
                fail!(self, token, Limit, "{selector} is not a sparsity selector");
            }
            sparsity.selector = selector as u8;
        }
        Ok(Inst::Mma(Box::new(mma)))
    }

    fn mma_operands(&mut self, mods: &mut Mods<'a>, mma: &mut Mma) -> Result<()> {
        mods.require(mma.exists(), "these types, layouts and sizes do not go together")?;
        mods.finish()?;
        let register = |part| mma.ty(part).register();
        let count = |part| mma.registers(part);
        let d = self.dsts(register(Part::D), count(Part::D), Width::Exact)?;
        self.comma()?;
        let a = self.srcs(register(Part::A), count(Part::A), Width::Exact)?;
        self.comma()?;
        let b = self.srcs(register(Part::B), count(Part::B), Width::Exact)?;
        self.comma()?;
        let c = self.srcs(register(Part::C), count(Part::C), Width::Exact)?;
        (mma.d, mma.a, mma.b, mma.c) = (d, a, b, c);
        Ok(())
    }

    /// `wmma.load`, `wmma.store`
    pub fn wmma_memory(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let load = mods.need("`.load`, `.store` or `.mma`", |word| match word {
            "load" => Some(true),
            "store" => Some(false),
            _ => None,
        })?;
        let operand = mods.need("which matrix", |word| match (word, load) {
            ("a", true) => Some(Part::A),
            ("b", true) => Some(Part::B),
            ("c", true) => Some(Part::C),
            ("d", false) => Some(Part::D),
            _ => None,
        })?;
        self.sync_aligned(mods)?;
        let col = mods.need("`.row` or `.col`", layout)?;
        let shape = mods.need("a shape such as `.m16n16k16`", MatrixShape::from_word)?;
        let space = mods.space();
        let in_memory = matches!(space, Space::Generic | Space::Global | Space::Shared);
        mods.require(in_memory, "matrices are in `.global` or `.shared` memory")?;
        let ty = mods.need("a type", MatrixType::from_str)?;
        mods.require(fragment_exists(operand, shape, ty), "this type has no such shape")?;
        mods.finish()?;
        let count = registers(true, shape, operand, ty, false);
        let (mut dsts, mut srcs) = (nothing(), nothing());
        let addr;
        if load {
            dsts = self.dsts(ty.register(), count, Width::Exact)?;
            self.comma()?;
            addr = self.space_address(space)?;
        } else {
            addr = self.space_address(space)?;
            self.comma()?;
            srcs = self.srcs(ty.register(), count, Width::Exact)?;
        }
        let stride = if self.at(b',') { Some(self.next_operand(U32)?) } else { None };
        let memory = WmmaMemory { operand, col, shape, space, ty, addr, stride, dsts, srcs };
        Ok(Inst::WmmaMemory(Box::new(memory)))
    }

    /// `ldmatrix`, `stmatrix`
    pub fn matrix_memory(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let load = mods.opcode.text == "ldmatrix";
        self.sync_aligned(mods)?;
        mods.word("m8n8")?;
        let count = mods.need("`.x1`, `.x2` or `.x4`", |word| match word {
            "x1" => Some(1),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        let transposed = mods.flag("trans");
        let space = mods.space();
        let shared = matches!(space, Space::Generic | Space::Shared);
        mods.require(shared, "the matrices are in `.shared` memory")?;
        mods.ty(&[B16])?;
        mods.finish()?;
        let (mut dsts, mut srcs) = (nothing(), nothing());
        let addr;
        if load {
            dsts = self.dsts(B32, count, Width::Exact)?;
            self.comma()?;
            addr = self.space_address(space)?;
        } else {
            addr = self.space_address(space)?;
            self.comma()?;
            srcs = self.srcs(B32, count, Width::Exact)?;
        }
        let memory = MatrixMemory { transposed, space, addr, dsts, srcs };
        Ok(Inst::MatrixMemory(Box::new(memory)))
    }
}

impl Printer<'_> {
    /// `mma`, `wmma.mma`
    pub fn mma(&mut self, inst: &Inst) {
        fields!(inst, Inst::Mma(mma));
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
        let layouts = [layout_word(mma.a_col), layout_word(mma.b_col)];
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
    pub fn wmma_memory(&mut self, inst: &Inst) {
        fields!(inst, Inst::WmmaMemory(memory));
        self.mnemonic(match memory.operand {
            MatrixOperand::A => "wmma.load.a",
            MatrixOperand::B => "wmma.load.b",
            MatrixOperand::C => "wmma.load.c",
            MatrixOperand::D => "wmma.store.d",
        });
        self.words(&["sync", "aligned", layout_word(memory.col), &memory.shape.to_string()]);
        self.space(memory.space);
        self.word(memory.ty.as_str());
        let registers = Ss(&memory.srcs, memory.ty.register());
        let stride = SOpt(&memory.stride, U32);
        match memory.operand {
            MatrixOperand::D => self.args(&[A(&memory.addr), registers, stride]),
            _ => self.args(&[Ds(&memory.dsts), A(&memory.addr), stride]),
        }
    }

    /// `ldmatrix`, `stmatrix`
    pub fn matrix_memory(&mut self, inst: &Inst) {
        fields!(inst, Inst::MatrixMemory(memory));
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
}
/// Does some product have a matrix of this type and shape?
fn fragment_exists(operand: MatrixOperand, shape: MatrixShape, ty: MatrixType) -> bool {
    use MatrixType as T;
    let sizes = (shape.m, shape.n, shape.k);
    let tile = matches!(sizes, (16, 16, 16) | (8, 32, 16) | (32, 8, 16));
    let factor = matches!(operand, Part::A | Part::B);
    match ty {
        T::F16 => tile,
        T::BF16 | T::S8 | T::U8 => factor && tile,
        T::TF32 => factor && sizes == (16, 16, 8),
        T::F32 => !factor && (tile || sizes == (16, 16, 8)),
        T::F64 => sizes == (8, 8, 4),
        T::S4 | T::U4 => factor && sizes == (8, 8, 32),
        T::B1 => factor && sizes == (8, 8, 128),
        T::S32 => !factor && (tile || matches!(sizes, (8, 8, 32) | (8, 8, 128))),
        T::E4M3 | T::E5M2 => false,
    }
}

fn layout_word(col: bool) -> &'static str {
    if col { "col" } else { "row" }
}
