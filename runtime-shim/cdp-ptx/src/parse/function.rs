//! Headers of kernels and device functions, parameter lists, directives, prototypes.

use super::{Parser, Result, added, begins_declaration, is_memory};
use crate::lexer::{Tok, Token};
use crate::limits::Limits;
use crate::module::*;
use crate::types::*;

/// Names and parameters.
type Params<'a> = (Vec<Token<'a>>, Vec<Param>);

impl<'a> Parser<'a> {
    /// `.entry` or `.func` with everything after it. `start` is where the linkage stands.
    pub fn function(&mut self, linkage: Linkage, start: Token<'a>) -> Result<()> {
        let kind = FunctionKind::from_str(self.next()?.text).unwrap_or(FunctionKind::Func);
        let unified = self.attributes()?.unified;
        let (return_names, returns) = match kind {
            FunctionKind::Kernel => Params::default(),
            FunctionKind::Func => self.params(kind)?,
        };
        let name = self.ident("the function's name")?;
        let (param_names, params) = self.params(kind)?;
        let limits = Limits { unified, ..self.directives()? };
        let defined = self.at(b'{');
        if !defined && limits.has_launch_limits() {
            return self.expected("`{` (launch limits stand on definitions only)");
        }
        let function = Function {
            name: name.text.to_string(),
            kind,
            linkage,
            returns,
            params,
            limits,
            alias_of: None,
            body: None,
            line: PtxLine(start.line),
        };
        let id = self.add_function(&name, function, defined)?;
        if !defined {
            // Compilers leave the semicolon out after some declarations.
            self.eat(b';')?;
            return Ok(());
        }
        if linkage == Linkage::Extern {
            fail!(self, name, Redefinition, "{name} is `.extern` and has a body");
        }
        self.next()?;
        self.body(id, &param_names, &return_names)
    }

    fn add_function(
        &mut self,
        name: &Token<'a>,
        function: Function,
        defined: bool,
    ) -> Result<FunctionId> {
        let id = match self.symbols.get(name.text) {
            None => {
                let id = FunctionId(added(&mut self.module.functions, function));
                self.symbols.insert(name.text, Symbol::Function(id));
                return Ok(id);
            }
            Some(Symbol::Function(id)) => *id,
            Some(_) => return self.redefinition(name, "it is also a variable"),
        };
        let old = &self.module.functions[id.index()];
        if old.kind != function.kind {
            return self.redefinition(name, "one is a kernel, the other a function");
        }
        if !same_shape(&old.params, &function.params)
            || !same_shape(&old.returns, &function.returns)
        {
            return self.redefinition(name, "the parameters differ");
        }
        if defined {
            if old.body.is_some() || old.alias_of.is_some() {
                return self.redefinition(name, "it is defined twice");
            }
            self.module.functions[id.index()] = function;
        }
        Ok(id)
    }

    /// A list of parameters, if one is next.
    fn params(&mut self, of: FunctionKind) -> Result<Params<'a>> {
        let mut params = Params::default();
        if self.at(b'(') {
            self.parenthesised(|parser| parser.param(of, &mut params))?;
        }
        Ok(params)
    }

    /// One parameter, or the elements of a vector in registers.
    fn param(&mut self, of: FunctionKind, params: &mut Params<'a>) -> Result<()> {
        let storage = if self.eat_dot("param")? {
            ParamStorage::Memory
        } else if of != FunctionKind::Kernel && self.eat_dot("reg")? {
            ParamStorage::Register(None)
        } else {
            return self.expected("`.param`");
        };
        let declared = self.declared_type()?;
        let mut align_bytes = declared.align_bytes;
        let pointer = if of == FunctionKind::Kernel { self.pointer_attribute()? } else { None };
        if self.eat_dot("align")? {
            align_bytes = self.alignment()?;
        }
        let name = self.ident("the parameter's name")?;
        if declared.ty == ScalarType::Pred && storage == ParamStorage::Memory {
            fail!(self, name, Operand, "{name} cannot be a predicate in memory");
        }
        let dims = self.dimensions()?;
        let in_register = storage != ParamStorage::Memory;
        let array_len = match (&dims[..], declared.vector_len) {
            ([], 1) => None,
            ([], _) if in_register => None,
            (dims, lanes) => {
                Some(dims.iter().fold(u64::from(lanes), |len, dim| len.saturating_mul(*dim)))
            }
        };
        if array_len.is_some() && storage != ParamStorage::Memory {
            return self.expected("a scalar (registers are not arrays)");
        }
        let param = Param {
            name: name.text.to_string(),
            ty: declared.ty,
            align_bytes,
            array_len,
            storage,
            pointer,
        };
        let size_bytes = array_len.unwrap_or(1).saturating_mul(u64::from(declared.ty.bytes()));
        self.check_size(&name, size_bytes)?;
        let lanes = if in_register { declared.vector_len as usize } else { 1 };
        for lane in ["x", "y", "z", "w"].into_iter().take(lanes) {
            let mut element = param.clone();
            if lanes > 1 {
                element.name = format!("{}_{lane}", param.name);
                element.align_bytes = declared.ty.bytes().max(1);
            }
            params.0.push(name);
            params.1.push(element);
        }
        Ok(())
    }

    /// `.ptr .space .align N`
    fn pointer_attribute(&mut self) -> Result<Option<PointerAttribute>> {
        if !self.eat_dot("ptr")? {
            return Ok(None);
        }
        let mut pointer = PointerAttribute { space: Space::Generic, align_bytes: 4 };
        if self.peek.tok == Tok::Dot && is_memory(self.peek.text) {
            let word = self.next()?.text;
            pointer.space = Space::from_str(word).unwrap_or(Space::Generic);
        }
        if self.eat_dot("align")? {
            pointer.align_bytes = self.alignment()?;
        }
        Ok(Some(pointer))
    }

    /// Everything between the parameter list and the body or semicolon.
    fn directives(&mut self) -> Result<Limits> {
        let mut limits = Limits::default();
        while self.peek.tok == Tok::Dot {
            let directive = self.peek;
            match directive.text {
                "pragma" => limits.pragmas.push(self.pragma()?),
                // The next declaration begins: this one had no semicolon.
                "file" | "section" | "alias" | "loc" => break,
                word if begins_declaration(word) => break,
                word => {
                    self.next()?;
                    let numbers = match self.peek.tok {
                        Tok::Int => self.list(|parser| parser.number_u32("a number"))?,
                        _ => Vec::new(),
                    };
                    if let Err(why) = limits.set(word, &numbers) {
                        fail!(self, directive, Syntax, "the directive {directive} {why}");
                    }
                }
            }
        }
        Ok(limits)
    }

    /// What follows `.callprototype`: `(returns) _ (params) .noreturn;`
    pub fn prototype(&mut self, name: &str) -> Result<Prototype> {
        let (_, returns) = self.params(FunctionKind::Func)?;
        self.ident("`_`")?;
        let (_, params) = self.params(FunctionKind::Func)?;
        let limits = self.directives()?;
        self.expect(b';')?;
        Ok(Prototype { name: name.to_string(), returns, params, limits })
    }
}

/// Do two parameter lists describe the same memory? Names and types of the same width may differ.
fn same_shape(a: &[Param], b: &[Param]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.size_bytes() == b.size_bytes()
                && matches!(a.storage, ParamStorage::Memory)
                    == matches!(b.storage, ParamStorage::Memory)
        })
}
