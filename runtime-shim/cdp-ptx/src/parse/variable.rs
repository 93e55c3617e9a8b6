//! Variables: alignment, type, dimensions and initial contents, at module scope and in functions.

use super::constant::Constant;
use super::{Parser, Result, added};
use crate::lexer::{Tok, Token};
use crate::module::*;
use crate::types::*;

/// Largest variable or parameter, in bytes.
const MAX_SIZE_BYTES: u64 = 1 << 40;
/// How far into a variable the nested initialisers of a short text may reach, in bytes.
const MAX_SPARSE_INIT_BYTES: u64 = 1 << 26;

/// What stands before the names of a declaration: `.align 8 .v2 .f32`.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredType {
    /// `.align`, else the natural alignment.
    pub align_bytes: u32,
    /// 1, 2 or 4.
    pub vector_len: u32,
    /// Element type.
    pub ty: ScalarType,
}

/// Attributes of `.attribute(...)`.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `.managed`
    pub managed: bool,
    /// `.unified(uuid1, uuid2)`
    pub unified: Option<(u64, u64)>,
}

impl<'a> Parser<'a> {
    /// `.align N`, a power of two up to 2^31.
    pub fn alignment(&mut self) -> Result<u32> {
        let token = self.peek;
        let align = self.number_u32("the alignment")?;
        if !align.is_power_of_two() {
            fail!(self, token, Limit, "the alignment {align} is not a power of two");
        }
        Ok(align)
    }

    /// `.attribute(.managed, .unified(a, b))`, if it is next.
    pub fn attributes(&mut self) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        while self.eat_dot("attribute")? {
            self.between(b"()", |parser| parser.list(|parser| parser.attribute(&mut attributes)))?;
        }
        Ok(attributes)
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> Result<()> {
        if self.eat_dot("managed")? {
            attributes.managed = true;
            return Ok(());
        }
        if !self.eat_dot("unified")? {
            return self.expected("`.managed` or `.unified`");
        }
        attributes.unified = Some(self.between(b"()", |parser| {
            let high = parser.number("a half of the identifier")?;
            parser.expect(b',')?;
            Ok((high, parser.number("a half of the identifier")?))
        })?);
        Ok(())
    }

    /// `.align`, `.v2` and the type, in any order that PTX allows.
    pub fn declared_type(&mut self) -> Result<DeclaredType> {
        let mut align_bytes = None;
        let mut vector_len = 1;
        loop {
            if self.peek.tok != Tok::Dot {
                return self.expected("a type");
            }
            match self.peek.text {
                "align" => {
                    self.next()?;
                    align_bytes = Some(self.alignment()?);
                }
                "v2" | "v4" => {
                    vector_len = u32::from(self.next()?.text.as_bytes()[1] - b'0');
                }
                "texref" | "samplerref" | "surfref" => {
                    return self.unsupported_item("texture references (use texture objects)");
                }
                word => {
                    let ty = ScalarType::from_str(word).filter(|ty| *ty != ScalarType::TF32);
                    let Some(ty) = ty else {
                        fail!(self, self.peek, Syntax, "{} is not a type", self.peek);
                    };
                    self.next()?;
                    let align_bytes = align_bytes.unwrap_or((ty.bytes() * vector_len).max(1));
                    return Ok(DeclaredType { align_bytes, vector_len, ty });
                }
            }
        }
    }

    /// `[4][8]`, `[]`: the dimensions after a name.
    pub fn dimensions(&mut self) -> Result<Vec<u64>> {
        let mut dims = Vec::new();
        while self.at(b'[') {
            let token = self.next()?;
            if self.eat(b']')? {
                if !dims.is_empty() {
                    fail!(self, token, Syntax, "only the first dimension may be left out");
                }
                dims.push(0);
                continue;
            }
            let size = self.integer("the dimension")?;
            self.expect(b']')?;
            let possible = |size: &u64| *size <= MAX_SIZE_BYTES && (*size > 0 || dims.is_empty());
            match u64::try_from(size).ok().filter(possible) {
                Some(size) if dims.len() < 8 => dims.push(size),
                _ => fail!(self, token, Limit, "{size} is not a possible dimension here"),
            }
        }
        Ok(dims)
    }

    /// Fails if an object is larger than anything can be.
    pub fn check_size(&self, token: &Token, size_bytes: u64) -> Result<()> {
        if size_bytes <= MAX_SIZE_BYTES {
            return Ok(());
        }
        fail!(self, token, Limit, "{token} is larger than {MAX_SIZE_BYTES} bytes")
    }

    /// One variable of a declaration, after its type: name, dimensions, initialiser.
    pub fn variable(
        &mut self,
        space: Space,
        linkage: Linkage,
        attributes: &Attributes,
        declared: DeclaredType,
    ) -> Result<(Token<'a>, Variable)> {
        let name = self.ident("a variable's name")?;
        if declared.ty == ScalarType::Pred {
            fail!(self, name, Operand, "{name} cannot be a predicate in memory");
        }
        let mut variable = Variable {
            name: name.text.to_string(),
            space,
            linkage,
            align_bytes: declared.align_bytes,
            vector_len: declared.vector_len,
            ty: declared.ty,
            dims: self.dimensions()?,
            init: None,
            managed: attributes.managed,
            unified: attributes.unified,
            line: PtxLine(name.line),
        };
        self.check_size(&name, variable.size_bytes())?;
        if self.at(b'=') {
            let equals = self.next()?;
            if !matches!(space, Space::Global | Space::Const) || linkage == Linkage::Extern {
                let which = "only defined `.global` and `.const` variables";
                fail!(self, equals, Syntax, "{which} have initial values");
            }
            let mut filler = Filler { ty: variable.ty, init: Initializer::default(), count: 0 };
            let mut dims = variable.levels();
            if variable.is_unsized() {
                dims[0] = MAX_SIZE_BYTES;
            }
            let rows = self.init_level(&dims, 0, &mut filler)?;
            if variable.is_unsized() {
                variable.dims[0] = rows;
            }
            filler.init.relocations.sort_by_key(|relocation| relocation.offset_bytes);
            self.check_size(&name, variable.size_bytes())?;
            trim_zeros(&mut filler.init);
            variable.init = Some(filler.init);
        }
        Ok((name, variable))
    }

    /// `{ ... }` for the dimensions `dims`, a value if there are none; returns how many rows of the first it fills.
    fn init_level(&mut self, dims: &[u64], offset: u64, filler: &mut Filler) -> Result<u64> {
        let [rows, inner @ ..] = dims else { return self.init_value(offset, filler).map(|()| 1) };
        let row_bytes =
            inner.iter().fold(u64::from(filler.ty.bytes()), |a, b| a.saturating_mul(*b));
        let mut row = 0u64;
        self.expect(b'{')?;
        while !self.at(b'}') {
            if row >= *rows {
                let message = "more initial values than the variable has elements";
                fail!(self, self.peek, Limit, "{message}");
            }
            let at = offset.saturating_add(row.saturating_mul(row_bytes));
            self.init_level(inner, at, filler)?;
            row += 1;
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b'}')?;
        Ok(row)
    }

    /// One value: a constant, `symbol + n`, `generic(symbol) + n`, or `0xFF00(...)` of these.
    fn init_value(&mut self, offset: u64, filler: &mut Filler) -> Result<()> {
        let (token, ty) = (self.peek, filler.ty);
        let dense = filler.count.saturating_mul(u64::from(ty.bytes()));
        if offset > dense.saturating_add(MAX_SPARSE_INIT_BYTES) {
            fail!(self, token, Limit, "an initial value this far into a variable");
        }
        filler.count += 1;
        if self.peek.tok == Tok::Ident && self.peek.text != "WARP_SZ" {
            let width = ty.bytes();
            if width < 4 {
                fail!(self, token, Operand, "an address does not fit a `.{ty}`; write a mask");
            }
            return self.init_address(offset, width, 0, filler);
        }
        let value = self.constant()?;
        if self.at(b'(') {
            let Some(shift_bits) = mask_shift(value) else {
                fail!(self, token, Operand, "a mask must be 0xFF shifted left by a multiple of 8");
            };
            let address = |parser: &mut Self| parser.init_address(offset, 1, shift_bits, filler);
            return self.between(b"()", address);
        }
        let Some(bits) = value.bits_as(ty) else {
            fail!(self, token, Operand, "the constant {token} is not a `.{ty}`");
        };
        filler.write(offset, &bits.to_le_bytes()[..ty.bytes().min(8) as usize]);
        Ok(())
    }

    fn init_address(
        &mut self,
        offset_bytes: u64,
        size_bytes: u32,
        shift_bits: u32,
        filler: &mut Filler,
    ) -> Result<()> {
        let mut name = self.ident("a variable or function")?;
        let generic = name.text == "generic" && self.at(b'(');
        let mut addend = 0i64;
        if generic {
            self.next()?;
            name = self.ident("a variable or function")?;
            addend = self.offset()?;
            self.expect(b')')?;
        }
        addend = addend.wrapping_add(self.offset()?);
        let Some(symbol) = self.symbols.get(name.text).copied() else {
            fail!(self, name, UnknownName, "{name} is not declared");
        };
        let relocation =
            Relocation { offset_bytes, size_bytes, shift_bits, symbol, addend, generic };
        filler.init.relocations.push(relocation);
        filler.write(offset_bytes, &[0; 8][..size_bytes as usize]);
        Ok(())
    }

    /// `.global .align 4 .b8 a[4], b[4];`
    pub fn variables(
        &mut self,
        linkage: Linkage,
        mut add: impl FnMut(&mut Self, Token<'a>, Variable) -> Result<()>,
    ) -> Result<()> {
        let space = Space::from_str(self.next()?.text).unwrap_or(Space::Generic);
        let attributes = self.attributes()?;
        let declared = self.declared_type()?;
        self.list(|parser| {
            let (name, variable) = parser.variable(space, linkage, &attributes, declared)?;
            add(parser, name, variable)
        })?;
        self.expect(b';')
    }

    /// Declares a variable at module scope.
    pub fn add_variable(&mut self, name: Token<'a>, variable: Variable) -> Result<()> {
        let Some(symbol) = self.symbols.get(name.text).copied() else {
            let id = GlobalId(added(&mut self.module.variables, variable));
            self.symbols.insert(name.text, Symbol::Global(id));
            return Ok(());
        };
        let id = match symbol {
            Symbol::Global(id) => id,
            _ => return self.redefinition(&name, "it is also a function"),
        };
        let old = &mut self.module.variables[id.index()];
        if old.space != variable.space {
            return self.redefinition(&name, "the state spaces differ");
        }
        if variable.linkage == Linkage::Extern {
            return Ok(());
        }
        if old.linkage != Linkage::Extern {
            return self.redefinition(&name, "it is defined twice");
        }
        *old = variable;
        Ok(())
    }

    /// The error for a name declared twice.
    pub fn redefinition<T>(&self, name: &Token, why: &str) -> Result<T> {
        fail!(self, name, Redefinition, "{name} is already declared: {why}")
    }
}

/// 16 for `0xFF0000`.
fn mask_shift(value: Constant) -> Option<u32> {
    let bits = value.as_bits()?;
    let shift = bits.checked_ilog2()?.checked_sub(7)?;
    (shift % 8 == 0 && bits == 0xff << shift).then_some(shift)
}

/// Trailing zeros say nothing, so texts that differ only in them give equal modules.
fn trim_zeros(init: &mut Initializer) {
    let length = init.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    init.bytes.truncate(length);
}

/// Collects the bytes of an initialiser.
struct Filler {
    /// Type of an element.
    ty: ScalarType,
    init: Initializer,
    /// Values written so far.
    count: u64,
}

impl Filler {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        // The caller has checked that `offset` is near what the text has filled already.
        let start = offset as usize;
        let end = start + bytes.len();
        if self.init.bytes.len() < end {
            self.init.bytes.resize(end, 0);
        }
        self.init.bytes[start..end].copy_from_slice(bytes);
    }
}
