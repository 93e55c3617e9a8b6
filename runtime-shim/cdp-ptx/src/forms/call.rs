//! `call`.

use crate::inst::*;
use crate::lexer::Token;
use crate::module::*;
use crate::parse::body::Name;
use crate::parse::constant::Constant;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::types::*;

use ScalarType::B64;

/// An argument whose constant waits for its parameter's type.
enum Argument {
    Known(CallArg),
    Constant(Constant),
}

impl<'a> Parser<'a> {
    /// `call`
    pub fn call(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let uniform = mods.flag("uni");
        mods.finish()?;
        let mut returns = Vec::new();
        if self.at(b'(') {
            returns = self.call_list()?;
            self.expect(b',')?;
        }
        let callee = self.ident("a function, or a register with its address")?;
        let indirect = match self.st.lookup(callee.text) {
            Some(Name::Reg(reg)) => Some(reg),
            _ => None,
        };
        let mut args = Vec::new();
        let mut more = self.eat(b',')?;
        if more && self.at(b'(') {
            args = self.call_list()?;
            more = self.eat(b',')?;
        }
        let signature_name = if more { Some(self.ident("a prototype")?) } else { None };
        let target = match indirect {
            Some(address) => self.indirect_target(&callee, address, signature_name)?,
            None => CallTarget::Direct(self.function_of(&callee)?),
        };
        let (results, params) = self.module.signature(&self.st.body, &target);
        let returns = self.check_args(&callee, results, returns, "results")?;
        let args = self.check_args(&callee, params, args, "arguments")?;
        Ok(Inst::Call { target, returns, args, uniform })
    }

    fn indirect_target(
        &mut self,
        callee: &Token<'a>,
        address: Reg,
        signature: Option<Token<'a>>,
    ) -> Result<CallTarget> {
        let Some(name) = signature else {
            fail!(self, callee, Operand, "an indirect call needs a prototype or a list of targets");
        };
        let ty = self.st.body.registers[address.index()].ty;
        if !matches!(ty.bits(), 32 | 64) {
            fail!(self, callee, Operand, "{callee} is a `.{ty}`, not an address");
        }
        let signature = match self.st.lookup(name.text) {
            Some(Name::Prototype(id)) => CallSignature::Prototype(id),
            Some(Name::Calls(id)) => CallSignature::Targets(id),
            _ => fail!(self, name, UnknownName, "{name} is not a prototype"),
        };
        Ok(CallTarget::Indirect { address, signature })
    }

    /// `(a, b, _)`
    fn call_list(&mut self) -> Result<Vec<(Token<'a>, Argument)>> {
        let mut list = Vec::new();
        self.parenthesised(|parser| {
            let token = parser.peek;
            match parser.vector_register() {
                Some(elements) => {
                    parser.next()?;
                    let value = |reg| Argument::Known(CallArg::Value(Operand::Reg(reg)));
                    list.extend(elements.into_iter().map(|reg| (token, value(reg))));
                }
                None => list.push((token, parser.call_arg()?)),
            }
            Ok(())
        })?;
        Ok(list)
    }

    fn call_arg(&mut self) -> Result<Argument> {
        if self.at_constant() {
            return Ok(Argument::Constant(self.constant()?));
        }
        if self.eat_word("_")? {
            return Ok(Argument::Known(CallArg::Sink));
        }
        let token = self.ident("an argument")?;
        let arg = match self.st.lookup(token.text) {
            Some(Name::Reg(reg)) => CallArg::Value(Operand::Reg(reg)),
            Some(Name::Symbol(symbol)) => CallArg::Memory(symbol),
            _ => fail!(self, token, Operand, "{token} is not a parameter or register"),
        };
        Ok(Argument::Known(arg))
    }

    /// Checks arguments (or results) against the signature and types their constants.
    fn check_args(
        &self,
        callee: &Token<'a>,
        params: &[Param],
        list: Vec<(Token<'a>, Argument)>,
        what: &str,
    ) -> Result<Box<[CallArg]>> {
        // An array without a size at the end stands for what a variadic function is given.
        let variadic = params.last().is_some_and(|param| param.array_len == Some(0));
        let optional = usize::from(variadic);
        if list.len() > params.len() || list.len() + optional < params.len() {
            let (wanted, given) = (params.len(), list.len());
            fail!(self, callee, Operand, "{callee} takes {wanted} {what}, {given} are given");
        }
        let pairs = list.into_iter().zip(params);
        pairs.map(|((token, arg), param)| self.check_arg(&token, arg, param)).collect()
    }

    fn check_arg(&self, token: &Token<'a>, arg: Argument, param: &Param) -> Result<CallArg> {
        let own = &self.module.functions[self.st.id.index()];
        let arg = match arg {
            Argument::Known(arg) => arg,
            Argument::Constant(constant) => match constant.bits_as(param.ty) {
                Some(bits) => CallArg::Value(Operand::Imm(bits)),
                None => fail!(self, token, Operand, "the constant is not a `.{}`", param.ty),
            },
        };
        let size_bytes = match arg {
            CallArg::Memory(symbol) => match own.param_bytes(&self.st.body, symbol) {
                Some(size_bytes) => size_bytes,
                None => fail!(self, token, Operand, "{token} is not a `.param` variable"),
            },
            CallArg::Value(Operand::Reg(reg)) => {
                u64::from(self.st.body.registers[reg.index()].ty.bytes())
            }
            CallArg::Value(_) | CallArg::Sink => param.size_bytes(),
        };
        let wanted = param.size_bytes();
        if size_bytes != wanted && param.array_len != Some(0) {
            let given = format!("{token} has {size_bytes} bytes");
            fail!(self, token, Operand, "{given}, the callee's parameter {wanted}");
        }
        Ok(arg)
    }
}

impl Printer<'_> {
    /// `call`
    pub fn call(&mut self, inst: &Inst) {
        let Inst::Call { target, returns, args, uniform } = inst else { return };
        self.mnemonic("call");
        self.flag(*uniform, "uni");
        self.out.push(' ');
        let (results, params) = self.module.signature(self.body(), target);
        if !returns.is_empty() {
            self.call_list(returns, results);
            self.out.push_str(", ");
        }
        match target {
            CallTarget::Direct(id) => self.symbol(Symbol::Function(*id)),
            CallTarget::Indirect { address, .. } => self.reg(*address),
        }
        if !args.is_empty() || !matches!(target, CallTarget::Direct(_)) {
            self.out.push_str(", ");
            self.call_list(args, params);
        }
        if let CallTarget::Indirect { signature, .. } = target {
            let body = self.body();
            self.out.push_str(", ");
            self.out.push_str(match signature {
                CallSignature::Prototype(id) => &body.prototypes[id.index()].name,
                CallSignature::Targets(id) => &body.call_tables[id.index()].name,
            });
        }
    }

    fn call_list(&mut self, list: &[CallArg], params: &[Param]) {
        self.out.push('(');
        for (position, arg) in list.iter().enumerate() {
            self.out.push_str(if position > 0 { ", " } else { "" });
            match arg {
                CallArg::Memory(symbol) => self.symbol(*symbol),
                CallArg::Value(operand) => {
                    let ty = params.get(position).map_or(B64, |param| param.ty);
                    self.operand(operand, ty);
                }
                CallArg::Sink => self.out.push('_'),
            }
        }
        self.out.push(')');
    }
}
