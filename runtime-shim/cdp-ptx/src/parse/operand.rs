//! Operands: registers, constants, addresses, vectors, predicates.

use super::body::Name;
use super::mods::Mods;
use super::{Parser, Result};
use crate::inst::*;
use crate::lexer::{Tok, Token, shorten};
use crate::module::*;
use crate::types::*;

/// Which registers an operand may be in.
pub(crate) trait Needed: Copy {
    /// The type that they hold.
    fn ty(self) -> ScalarType;
    /// Wider ones too (`ld`, `st`, `cvt`).
    fn or_wider(self) -> bool {
        false
    }
}

impl Needed for ScalarType {
    fn ty(self) -> ScalarType {
        self
    }
}

/// Do a register's type and an instruction's belong together, widths apart? Bits go with
/// everything but predicates, integers with integers, anything else only with itself.
fn types_agree(declared: ScalarType, ty: ScalarType) -> bool {
    let bits = |ty: ScalarType| ty.class() == TypeClass::Bits;
    let pred = |ty: ScalarType| ty == ScalarType::Pred;
    match (declared, ty) {
        _ if pred(declared) || pred(ty) => declared == ty,
        _ if bits(declared) || bits(ty) => true,
        _ => declared == ty || (declared.is_int() && ty.is_int()),
    }
}

impl<'a> Parser<'a> {
    /// What separates an operand from the one before it.
    pub fn separate(&mut self) -> Result<()> {
        if std::mem::take(&mut self.at_start) { Ok(()) } else { self.expect(b',') }
    }

    /// Is there one more operand? Takes the comma before it.
    pub fn more(&mut self) -> Result<bool> {
        self.at_start = self.at_start || self.eat(b',')?;
        Ok(self.at_start)
    }

    /// A bracket around some operands.
    pub fn bracket(&mut self, bracket: &str) -> Result<()> {
        if bracket == "]" {
            return self.expect(b']');
        }
        self.separate()?;
        self.at_start = true;
        self.expect(b'[')
    }

    fn unknown_name<T>(&self, token: &Token) -> Result<T> {
        fail!(self, token, UnknownName, "{token} is not declared")
    }

    fn check_width(&self, name: &Token, reg: Reg, needed: impl Needed) -> Result<()> {
        let (declared, ty) = (self.st.body.registers[reg.index()].ty, needed.ty());
        let wider = needed.or_wider() && declared.bits() > ty.bits();
        if types_agree(declared, ty) && (wider || declared.bits() == ty.bits()) {
            return Ok(());
        }
        fail!(self, name, Operand, "{name} is a `.{declared}` register where a `.{ty}` is needed")
    }

    /// A name and, if it stands right after, `.x`, `.y`, `.z` or `.w`.
    fn component(&mut self, name: &Token<'a>) -> Result<Option<Token<'a>>> {
        if self.peek.tok == Tok::Dot && self.peek.start == name.end {
            return self.next().map(Some);
        }
        Ok(None)
    }

    /// The register that a name, which stands for `found`, and a component mean.
    fn named_register(
        &mut self,
        name: &Token<'a>,
        component: Option<Token<'a>>,
        found: Option<Name>,
    ) -> Result<Reg> {
        if self.st.too_many_registers() {
            fail!(self, name, Limit, "this function uses too many registers");
        }
        match (found, component) {
            (Some(Name::Reg(reg)), None) => Ok(reg),
            (Some(Name::Vector(..)), Some(component)) => {
                let lane = match component.text {
                    "x" | "r" => 0,
                    "y" | "g" => 1,
                    "z" | "b" => 2,
                    "w" | "a" => 3,
                    _ => usize::MAX,
                };
                match self.st.element(name.text, lane) {
                    Some(reg) => Ok(reg),
                    None => self.unknown_name(&component),
                }
            }
            (Some(_), _) => fail!(self, name, Operand, "{name} is not a register"),
            (None, _) => self.unknown_name(name),
        }
    }

    /// A register.
    pub fn register(&mut self, needed: impl Needed) -> Result<Reg> {
        let name = self.ident("a register")?;
        let component = self.component(&name)?;
        let found = self.st.lookup(name.text);
        let reg = self.named_register(&name, component, found)?;
        self.check_width(&name, reg, needed)?;
        Ok(reg)
    }

    /// A register or `_`.
    pub fn dst(&mut self, needed: impl Needed) -> Result<Dst> {
        if self.eat_word("_")? { Ok(None) } else { self.register(needed).map(Some) }
    }

    /// A source operand.
    pub fn operand(&mut self, needed: impl Needed) -> Result<Operand> {
        let name = self.peek;
        match self.operand_or_special(needed)? {
            Operand::Special(special) => {
                let where_to = "can only be moved or converted to a register";
                fail!(self, name, Operand, "the special register `{special}` {where_to}")
            }
            operand => Ok(operand),
        }
    }

    /// A source operand of `mov` or `cvt`, which may be a special register.
    pub fn operand_or_special(&mut self, needed: impl Needed) -> Result<Operand> {
        let ty = needed.ty();
        if self.at_constant() || self.at_word("WARP_SZ") {
            return Ok(Operand::Imm(self.constant_bits(ty)?));
        }
        let name = self.ident("a register or a constant")?;
        let component = self.component(&name)?;
        match self.st.lookup(name.text) {
            found @ Some(Name::Reg(_) | Name::Vector(..)) => {
                let reg = self.named_register(&name, component, found)?;
                self.check_width(&name, reg, needed)?;
                Ok(Operand::Reg(reg))
            }
            None if name.text.starts_with('%') => {
                let of =
                    component.map_or(String::new(), |component| format!(".{}", component.text));
                let found = SpecialReg::from_name(&format!("{}{of}", name.text));
                let Some(found) = found else { return self.unknown_name(&name) };
                self.check_special(&name, found, ty)?;
                Ok(Operand::Special(found))
            }
            _ => self.symbol_operand(&name, ty),
        }
    }

    fn check_special(&self, name: &Token<'a>, special: SpecialReg, ty: ScalarType) -> Result<()> {
        let own = special.ty();
        // `%gridid` had 32 bits once.
        let fits = match (own.bits(), ty.bits()) {
            (64, 32) => special == SpecialReg::Gridid,
            (own, needed) => own == needed || (own, needed) == (32, 16),
        };
        if !types_agree(own, ty) || !fits {
            fail!(self, name, Operand, "`{special}` is a `.{own}`, where a `.{ty}` is needed");
        }
        Ok(())
    }

    fn symbol_operand(&mut self, name: &Token<'a>, ty: ScalarType) -> Result<Operand> {
        let symbol = self.symbol(name)?;
        if !matches!(ty.bits(), 32 | 64) || ty.is_float() {
            fail!(self, name, Operand, "an address is not a `.{ty}`");
        }
        let offset = self.symbol_offset(symbol)?;
        Ok(Operand::Address { symbol, offset })
    }

    /// What a name means as a symbol.
    fn symbol(&mut self, name: &Token<'a>) -> Result<Symbol> {
        match self.st.lookup(name.text) {
            Some(Name::Symbol(symbol)) => Ok(symbol),
            Some(_) => fail!(self, name, Operand, "{name} has no address"),
            None => match self.symbols.get(name.text) {
                Some(symbol) => Ok(*symbol),
                None => self.unknown_name(name),
            },
        }
    }

    /// `[3]` (elements), or `+ 8`, `- 8` (bytes), after a symbol. In bytes.
    fn symbol_offset(&mut self, symbol: Symbol) -> Result<i64> {
        if !self.at(b'[') {
            return self.offset();
        }
        let memory = self.memory_of(symbol).filter(|_| !matches!(symbol, Symbol::Return(_)));
        let Some((.., element)) = memory else { return self.expected("an offset") };
        let index = self.between(b"[]", |parser| parser.integer("the index"))?;
        Ok(index.wrapping_mul(i64::from(element.bytes())))
    }

    /// `+ n` and `- n` after a symbol or register, any number of times, in bytes.
    pub fn offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        while self.at(b'+') || self.at(b'-') {
            // The sign is the constant's own, so that `- 4 + 8` is 4.
            let minus = self.next()?.text == "-";
            let token = self.peek;
            let value = match self.at(b'(') {
                true => self.integer("the offset")?,
                // `+-8` is what LLVM prints for a negative offset.
                false if self.eat(b'-')? => (self.number("an offset")? as i64).wrapping_neg(),
                false => self.number("an offset")? as i64,
            };
            let sum = if minus { offset.checked_sub(value) } else { offset.checked_add(value) };
            let Some(sum) = sum else {
                fail!(self, token, Limit, "this offset is out of range");
            };
            offset = sum;
        }
        Ok(offset)
    }

    /// `[register + n]`, `[symbol + n]`, `[n]`, or an array's element as `symbol[n]`.
    pub fn address(&mut self) -> Result<Address> {
        if self.peek.tok == Tok::Ident {
            let name = self.next()?;
            let symbol = self.symbol(&name)?;
            if !self.at(b'[') {
                return self.expected("`[`");
            }
            let offset = self.symbol_offset(symbol)?;
            return Ok(Address { base: AddressBase::Symbol(symbol), offset });
        }
        self.between(b"[]", Self::bare_address)
    }

    /// An address without its brackets.
    pub fn bare_address(&mut self) -> Result<Address> {
        if self.at_constant() {
            let offset = self.integer("the address")?;
            return Ok(Address { base: AddressBase::Absolute, offset });
        }
        let name = self.ident("a register, a variable or a constant")?;
        let component = self.component(&name)?;
        let found = self.st.lookup(name.text);
        if let Some(Name::Reg(_) | Name::Vector(..)) = found {
            let reg = self.named_register(&name, component, found)?;
            let declared = self.st.body.registers[reg.index()].ty;
            if !matches!(declared.bits(), 32 | 64) {
                fail!(self, name, Operand, "{name} is a `.{declared}`, not an address");
            }
            return Ok(Address { base: AddressBase::Reg(reg), offset: self.offset()? });
        }
        let symbol = self.symbol(&name)?;
        Ok(Address { base: AddressBase::Symbol(symbol), offset: self.offset()? })
    }

    /// `p` or `!p`, or a constant.
    pub fn pred_operand(&mut self) -> Result<PredOperand> {
        let negated = self.eat(b'!')?;
        let value = self.operand(ScalarType::Pred)?;
        Ok(PredOperand { value, negated })
    }

    /// `count` destinations: a register, a vector register, or `{a, b, _, d}`; none is no operand.
    pub fn dsts(&mut self, needed: impl Needed, count: usize) -> Result<Dsts> {
        self.elements(count, |parser| parser.dst(needed), Some)
    }

    /// `count` sources; see [`Parser::dsts`].
    pub fn srcs(&mut self, needed: impl Needed, count: usize) -> Result<Srcs> {
        self.elements(count, |parser| parser.operand(needed), Operand::Reg)
    }

    fn elements<T>(
        &mut self,
        count: usize,
        mut item: impl FnMut(&mut Self) -> Result<T>,
        of: impl Fn(Reg) -> T,
    ) -> Result<Box<[T]>> {
        if count == 0 {
            return Ok(Box::default());
        }
        self.separate()?;
        let start = self.peek;
        let list = if self.at(b'{') {
            self.braced(item)?
        } else if count > 1
            && let Some(elements) = self.vector_register()
        {
            self.next()?;
            elements.into_iter().map(of).collect()
        } else {
            vec![item(self)?]
        };
        let given = list.len();
        if given != count {
            fail!(self, start, Operand, "{count} elements are needed here, {given} are given");
        }
        Ok(list.into())
    }

    /// The elements of the vector register that is next, if one is.
    pub fn vector_register(&mut self) -> Option<Vec<Reg>> {
        // `v.x` is one element.
        let whole = self.source().as_bytes().get(self.peek.end as usize) != Some(&b'.');
        match self.st.lookup(self.peek.text) {
            Some(Name::Vector(_, lanes)) if whole => {
                (0..lanes).map(|lane| self.st.element(self.peek.text, lane)).collect()
            }
            _ => None,
        }
    }

    /// `"{" item { "," item } "}"`
    pub fn braced<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.between(b"{}", |parser| parser.list(item))
    }

    /// `"(" [ item { "," item } ] ")"`
    pub fn parenthesised(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(b'(')?;
        while !self.at(b')') {
            item(self)?;
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b')')
    }

    /// Name, state space and element type of a variable or parameter; `None` for a function.
    fn memory_of(&self, symbol: Symbol) -> Option<(&str, Space, ScalarType)> {
        let own = &self.module.functions[self.st.id.index()];
        let variable = match symbol {
            Symbol::Function(_) => return None,
            Symbol::Global(id) => &self.module.variables[id.index()],
            Symbol::Local(id) => &self.st.body.variables[id.index()],
            Symbol::Param(index) | Symbol::Return(index) => {
                let list = if symbol == Symbol::Param(index) { &own.params } else { &own.returns };
                let param = &list[index as usize];
                return Some((&param.name, Space::Param, param.ty));
            }
        };
        Some((&variable.name, variable.space, variable.ty))
    }

    /// Fails if an instruction of `space` names a variable of another space.
    pub fn check_space(&self, token: &Token<'a>, space: Space, address: &Address) -> Result<()> {
        let AddressBase::Symbol(symbol) = address.base else { return Ok(()) };
        let Some((name, actual, _)) = self.memory_of(symbol) else {
            fail!(self, token, Operand, "{token} is a function, not memory");
        };
        let agrees = match space {
            Space::Generic => actual != Space::Param,
            Space::Shared | Space::SharedCluster => actual == Space::Shared,
            Space::Param | Space::ParamEntry | Space::ParamFunc => actual == Space::Param,
            other => other == actual,
        };
        if agrees {
            return Ok(());
        }
        let name = shorten(name);
        fail!(self, token, Operand, "`{name}` is a `.{actual}` variable, accessed as `.{space}`")
    }

    /// `[address]` of a variable in `space`.
    pub fn space_address(&mut self, space: Space) -> Result<Address> {
        let token = self.peek;
        let address = self.address()?;
        self.check_space(&token, space, &address)?;
        Ok(address)
    }

    /// The error for an instruction that is not known, or known and not supported.
    pub fn unknown_instruction<T>(&self, mods: &Mods<'a>) -> Result<T> {
        let message = format!("unknown instruction `{}`", mods.full_name());
        fail!(self, mods.opcode, UnknownInstruction, "{message}: the CPU device does not run it")
    }

    /// Is the next operand `!p` or a predicate register?
    pub fn at_predicate(&mut self) -> bool {
        self.at(b'!') || self.peek_register_ty() == Some(ScalarType::Pred)
    }

    pub fn at_64_bit_register(&mut self) -> bool {
        self.peek_register_ty().is_some_and(|ty| ty.bits() == 64)
    }

    /// The declared type of the register that is next.
    pub fn peek_register_ty(&mut self) -> Option<ScalarType> {
        match self.st.lookup(self.peek.text) {
            Some(Name::Reg(reg)) => Some(self.st.body.registers[reg.index()].ty),
            _ => None,
        }
    }
}
