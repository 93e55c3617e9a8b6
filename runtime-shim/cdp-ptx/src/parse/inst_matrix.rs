//! Matrices in the registers of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::body::FunctionState;
use super::inst_data::space_word;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::matrix::*;
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
        mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
        mods.need("`.aligned`", |word| (word == "aligned").then_some(()))
    }

    /// A product without its registers yet.
    fn product(&self, mods: &mut Mods<'a>, wmma: bool) -> Result<Mma> {
        let bits = mods.take(|word| match word {
            "xor" => Some(BitProduct::Xor),
            "and" => Some(BitProduct::And),
            _ => None,
        });
        if bits.is_some() {
            mods.need("`.popc`", |word| (word == "popc").then_some(()))?;
        }
        self.sync_aligned(mods)?;
        let a_col = mods.need("`.row` or `.col`", layout)?;
        let b_col = mods.need("`.row` or `.col` for the second matrix", layout)?;
        let shape = mods.need("a shape such as `.m16n8k16`", MatrixShape::from_word)?;
        let satfinite = mods.flag("satfinite");
        let first = mods.need("a type", MatrixType::from_word)?;
        let second = mods.need("a second type", MatrixType::from_word)?;
        let third = mods.take(MatrixType::from_word);
        let fourth = mods.take(MatrixType::from_word);
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

    /// `mma`
    pub fn mma(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        if mods.has("kind::f8f6f4") || mods.has("block_scale") {
            let message = format!("`{}` is for sm_120a and is not supported", mods.full_name());
            return Err(self.error_at(&mods.opcode, ErrorKind::Unsupported, message));
        }
        let sparse = mods.take(|word| match word {
            "sp" => Some(false),
            "sp::ordered_metadata" => Some(true),
            _ => None,
        });
        let mut mma = self.product(&mut mods, false)?;
        // Known only with the operands; `exists` and the number of registers look at it.
        let unknown = |ordered| Sparsity { ordered, metadata: Operand::Imm(0), selector: 0 };
        mma.sparsity = sparse.map(unknown);
        self.mma_operands(st, &mods, &mut mma)?;
        if let Some(sparsity) = &mut mma.sparsity {
            sparsity.metadata = self.next_operand(st, B32)?;
            self.comma()?;
            let token = self.peek;
            let selector = self.number_u32("the sparsity selector")?;
            if selector > 3 {
                let message = format!("{selector} is not a sparsity selector");
                return Err(self.error_at(&token, ErrorKind::Limit, message));
            }
            sparsity.selector = selector as u8;
        }
        Ok(Inst::Mma(Box::new(mma)))
    }

    fn mma_operands(
        &mut self,
        st: &mut FunctionState<'a>,
        mods: &Mods<'a>,
        mma: &mut Mma,
    ) -> Result<()> {
        mods.require(mma.exists(), "these types, layouts and sizes do not go together")?;
        mods.finish()?;
        let register = |part| mma.ty(part).register();
        let count = |part| mma.registers(part);
        let d = self.dsts(st, register(Part::D), count(Part::D), Width::Exact)?;
        self.comma()?;
        let a = self.srcs(st, register(Part::A), count(Part::A), Width::Exact)?;
        self.comma()?;
        let b = self.srcs(st, register(Part::B), count(Part::B), Width::Exact)?;
        self.comma()?;
        let c = self.srcs(st, register(Part::C), count(Part::C), Width::Exact)?;
        (mma.d, mma.a, mma.b, mma.c) = (d, a, b, c);
        Ok(())
    }

    /// `wmma.load`, `wmma.store`, `wmma.mma`
    pub fn wmma(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let what = mods.need("`.load`, `.store` or `.mma`", |word| {
            matches!(word, "load" | "store" | "mma").then_some(word.as_bytes()[0])
        })?;
        if what == b'm' {
            let mut mma = self.product(&mut mods, true)?;
            self.mma_operands(st, &mods, &mut mma)?;
            return Ok(Inst::Mma(Box::new(mma)));
        }
        let load = what == b'l';
        let operand = mods.need("which matrix", |word| match (word, load) {
            ("a", true) => Some(Part::A),
            ("b", true) => Some(Part::B),
            ("c", true) => Some(Part::C),
            ("d", false) => Some(Part::D),
            _ => None,
        })?;
        self.sync_aligned(&mut mods)?;
        let col = mods.need("`.row` or `.col`", layout)?;
        let shape = mods.need("a shape such as `.m16n16k16`", MatrixShape::from_word)?;
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let in_memory = matches!(space, Space::Generic | Space::Global | Space::Shared);
        mods.require(in_memory, "matrices are in `.global` or `.shared` memory")?;
        let ty = mods.need("a type", MatrixType::from_word)?;
        mods.require(fragment_exists(operand, shape, ty), "this type has no such shape")?;
        mods.finish()?;
        let count = registers(true, shape, operand, ty, false);
        let (mut dsts, mut srcs) = (nothing(), nothing());
        let addr;
        if load {
            dsts = self.dsts(st, ty.register(), count, Width::Exact)?;
            self.comma()?;
            addr = self.space_address(st, space)?;
        } else {
            addr = self.space_address(st, space)?;
            self.comma()?;
            srcs = self.srcs(st, ty.register(), count, Width::Exact)?;
        }
        let stride = if self.at(b',') { Some(self.next_operand(st, U32)?) } else { None };
        let memory = WmmaMemory { operand, col, shape, space, ty, addr, stride, dsts, srcs };
        Ok(Inst::WmmaMemory(Box::new(memory)))
    }

    /// `ldmatrix`, `stmatrix`
    pub fn matrix_memory(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
    ) -> Result<Inst> {
        let load = mods.opcode.text == "ldmatrix";
        self.sync_aligned(&mut mods)?;
        if mods.has("m16n16") || mods.has("m8n16") || mods.has("m16n8") {
            let message = format!("`{}` is for sm_100a and is not supported", mods.full_name());
            return Err(self.error_at(&mods.opcode, ErrorKind::Unsupported, message));
        }
        mods.need("`.m8n8`", |word| (word == "m8n8").then_some(()))?;
        let count = mods.need("`.x1`, `.x2` or `.x4`", |word| match word {
            "x1" => Some(1),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        let transposed = mods.flag("trans");
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let shared = matches!(space, Space::Generic | Space::Shared);
        mods.require(shared, "the matrices are in `.shared` memory")?;
        mods.ty(&[B16])?;
        mods.finish()?;
        let (mut dsts, mut srcs) = (nothing(), nothing());
        let addr;
        if load {
            dsts = self.dsts(st, B32, count, Width::Exact)?;
            self.comma()?;
            addr = self.space_address(st, space)?;
        } else {
            addr = self.space_address(st, space)?;
            self.comma()?;
            srcs = self.srcs(st, B32, count, Width::Exact)?;
        }
        let memory = MatrixMemory { transposed, space, addr, dsts, srcs };
        Ok(Inst::MatrixMemory(Box::new(memory)))
    }

    /// `movmatrix`
    pub fn movmatrix(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        self.sync_aligned(&mut mods)?;
        mods.need("`.m8n8`", |word| (word == "m8n8").then_some(()))?;
        mods.need("`.trans`", |word| (word == "trans").then_some(()))?;
        mods.ty(&[B16])?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, B32, B32)?;
        Ok(Inst::Movmatrix(Box::new(MoveMatrix { dst, src })))
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
