//! Names in expressions: variables, functions, enumerators, builtin names; and the nearest name when
//! there is none.

use cdp_ir::{Const, Expr, ExprKind};

use super::builtins;
use super::ctype::{Basic, QualType};
use super::scope::{Entity, FnId, Memory, VarId};
use super::state::Checker;
use super::value::{FnRef, Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::intern::Symbol;
use crate::near::{nearest, nearest_type};
use crate::scopes::{Found, ScopeId};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn name(&mut self, name: &ast::QualName) -> Value<'a> {
        let span = name.span;
        let (found, part) = self.walk(name, |_| true);
        if let Found::Ambiguous(list) = &found {
            self.report_ambiguous(part, list);
            return self.error_value(span);
        }
        if let Some(slot) = found.first() {
            return match slot.entity() {
                Some(Entity::Var(var)) => self.var_value(var, span),
                Some(Entity::Fns(_)) => self.functions_value(name, self.functions_of(&found)),
                Some(Entity::Enumerator(id, index)) => self.enumerator_value(id, index, span),
                Some(Entity::Type(_)) => {
                    let text = self.text(name.base.name);
                    let message = format!("`{text}` is a type, where a value is expected");
                    self.error(Code::E0207, span, message);
                    self.error_value(span)
                }
                Some(Entity::Namespace(_)) | None => {
                    let text = self.text(name.base.name);
                    let message = format!("`{text}` is a namespace, where a value is expected");
                    self.error(Code::E0207, span, message);
                    self.error_value(span)
                }
            };
        }
        if let Some(value) = self.builtin_name(name) {
            return value;
        }
        if let Some(Entity::Fns(set)) = self.std_entity(name) {
            return self.functions_value(name, self.names.set(set).to_vec());
        }
        self.undeclared(name);
        self.error_value(span)
    }

    /// Whether a part of a record was refused that goes by the record's name: a base or a constructor.
    pub fn has_lost(&self, ty: QualType) -> bool {
        let record = self.types.record_id(ty).map(|id| &self.types.record(id).name);
        let symbol = record.and_then(|name| self.session.names.lookup(name));
        symbol.is_some_and(|symbol| self.quiet.lost.contains(&symbol))
    }

    fn enumerator_value(&mut self, id: super::ctype::CEnumId, index: u32, span: Span) -> Value<'a> {
        let info = self.types.enumeration(id);
        let value = info.enumerators[index as usize].value;
        let ty = if info.complete {
            self.types.enum_type(id)
        } else if info.fixed {
            info.underlying.into()
        } else if value > i128::from(i32::MAX) || value < i128::from(i32::MIN) {
            Basic::LongLong.into()
        } else {
            Basic::Int.into()
        };
        self.int_value(value, ty, span)
    }

    /// `std::rand`, `std::FILE`: what one of the C headers declares.
    pub fn std_entity(&self, name: &ast::QualName) -> Option<Entity> {
        let [scope] = name.scopes.as_slice() else { return None };
        if self.text(scope.name) != "std" {
            return None;
        }
        let slot = self.names.scopes.member(ScopeId::GLOBAL, name.base.name)?;
        let sources = &self.session.sources;
        // The only system headers are the compiler's own.
        if !sources.file(sources.file_of(slot.span.lo)?).system {
            return None;
        }
        slot.entity()
    }

    /// What the name means when the program does not declare it.
    fn builtin_name(&mut self, name: &ast::QualName) -> Option<Value<'a>> {
        let text = self.text(name.base.name);
        let span = name.span;
        let in_std = match name.scopes.as_slice() {
            [] => false,
            [scope] if self.text(scope.name) == "std" => true,
            _ => return None,
        };
        if !in_std {
            if let Some(variable) = builtins::lookup_variable(text) {
                return Some(self.builtin_variable(variable, span));
            }
            if let Some(constant) = self.builtin_constant(text, span) {
                return Some(constant);
            }
            if matches!(text, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__")
                && let Some(func) = self.f.func
            {
                return Some(self.function_name(func, text == "__PRETTY_FUNCTION__", span));
            }
        }
        let builtin = self.visible_builtins(text, in_std);
        if builtin.is_empty() {
            return None;
        }
        let kind = Kind::Fns(FnRef { name: text.to_owned(), user: Vec::new(), builtin });
        Some(Value::new(kind, Basic::Error.into(), span))
    }

    /// `__func__`, and with `pretty` the function's type around its qualified name.
    fn function_name(&mut self, func: FnId, pretty: bool, span: Span) -> Value<'a> {
        let info = self.names.func(func);
        let mut bytes = match pretty {
            true => self.types.show_around(info.ty, info.display.clone()).into_bytes(),
            false => self.text(info.name).as_bytes().to_vec(),
        };
        bytes.push(0);
        let elem = QualType::from(Basic::Char).as_const();
        let ty = self.types.array_of(elem, Some(bytes.len() as u64));
        let ir_ty = self.types.ir_type(ty);
        let addr = self.string_global(Const::Bytes(bytes), ir_ty, span);
        Value::lvalue(addr, ty, span)
    }

    /// A function name: the program's overloads, with the builtin ones of the same name where those of
    /// file scope are seen, as if a header had declared them there.
    fn functions_value(&mut self, name: &ast::QualName, user: Vec<FnId>) -> Value<'a> {
        let text = self.text(name.base.name);
        let global = user.iter().any(|&id| self.names.func(id).ns == ScopeId::GLOBAL)
            || name.as_plain().is_some_and(|symbol| self.names.scopes.reaches_global(symbol));
        let builtin = if global { self.visible_builtins(text, false) } else { Vec::new() };
        let ty = match user.as_slice() {
            [one] if builtin.is_empty() => self.names.func(*one).ty,
            _ => Basic::Error.into(),
        };
        let kind = Kind::Fns(FnRef { name: text.to_owned(), user, builtin });
        Value::new(kind, ty, name.span)
    }

    /// E0301 with the nearest name, the first time that the function at hand uses it.
    fn undeclared(&mut self, name: &ast::QualName) {
        let mut parts = name.scopes.iter().chain([&name.base]);
        if parts.any(|part| self.quiet.lost.contains(&part.name)) {
            return;
        }
        if name.as_plain().is_some_and(|symbol| !self.f.refused.insert((None, symbol))) {
            return;
        }
        let text = self.text(name.base.name);
        let shown = match name.scopes.as_slice() {
            [] => text.to_owned(),
            scopes => {
                let scopes: Vec<&str> = scopes.iter().map(|scope| self.text(scope.name)).collect();
                format!("{}::{text}", scopes.join("::"))
            }
        };
        let first = name.scopes.first().map_or(name.base.name, |scope| scope.name);
        if let Some(left) = builtins::outside(self.text(first), !name.scopes.is_empty()) {
            if self.quiet.unread && left.is_of_c() {
                return;
            }
            self.quiet.lost.extend(name.scopes.first().map(|scope| scope.name));
            self.left_out(left, first, name.span);
            return;
        }
        let word = ["true", "false", "nullptr"].into_iter();
        let word = word.filter(|word| word.eq_ignore_ascii_case(text)).map(str::to_owned).next();
        let near = word.or_else(|| self.near_name(text, false));
        let scopes = name.scopes.as_slice();
        let streams = matches!(text, "cin" | "cout" | "cerr" | "clog" | "endl") && near.is_none();
        let in_std = matches!(scopes, [scope] if self.text(scope.name) == "std");
        if streams || near.is_none() && in_std {
            let message = format!(
                "`{shown}` is part of the C++ standard library, which is outside the `.cdp` subset"
            );
            let cure = if streams { "read with `scanf`, print with `printf`" } else { "" };
            self.error(Code::E0243, name.span, message).help(cure);
            return;
        }
        let header = match scopes {
            [] => crate::headers::declaring(text),
            _ => None,
        };
        if let Some(header) = header {
            self.error(Code::E0301, name.span, format!("`{shown}` is not declared"))
                .help(format!("`#include <{header}>` declares it"));
            return;
        }
        if self.quiet.unread && near.is_none() {
            return;
        }
        let found = self.error(Code::E0301, name.span, format!("`{shown}` is not declared"));
        if let Some(near) = near {
            found.suggest(format!("a similar name exists: `{near}`"), name.base.span, near);
        }
    }

    /// E0603 for a name of CUDA's or the C library's.
    pub fn left_out(&mut self, left: builtins::Outside, name: Symbol, span: Span) {
        let found = left.report(self.text(name), span, self.on_device());
        self.report(found);
    }

    /// Of a name before `::`, or of a namespace by itself.
    pub fn no_namespace(&mut self, name: Symbol, span: Span) {
        if self.quiet.lost.contains(&name) {
            return;
        }
        let text = self.text(name);
        if let Some(left) = builtins::outside(text, true) {
            self.quiet.lost.insert(name);
            self.left_out(left, name, span);
        } else if !self.quiet.unread {
            self.error(Code::E0301, span, format!("there is no namespace `{text}`"));
        }
    }

    /// A variable's value, with the judgement of whether this side may use it.
    pub fn var_value(&mut self, id: VarId, span: Span) -> Value<'a> {
        self.names.var_mut(id).uses += 1;
        let var = self.names.var(id);
        let ty = var.ty;
        if self.types.is_error(ty) {
            return self.error_value(span);
        }
        let referent = self.types.referent(ty);
        if referent.is_none()
            && let Some(constant) = &var.value
            && self.types.is_scalar(ty)
        {
            let kind = Kind::ConstVar(id, constant.clone());
            return Value::new(kind, ty, span);
        }
        if let Some(lent) = self.lent(id, span) {
            return lent;
        }
        if !self.check_var_side(id, span) {
            return self.error_value(span);
        }
        let addr = self.var_address(id, span);
        match referent {
            Some(referent) => {
                let loc = self.loc(span);
                let pointer = self.load_from(addr, false, loc);
                if self.types.is_function(referent) {
                    return Value::rvalue(pointer, self.types.pointer_to(referent), span);
                }
                Value::lvalue(pointer, referent, span)
            }
            None => Value::lvalue(addr, ty, span),
        }
    }

    /// The address of a variable's own storage.
    pub fn var_address(&mut self, id: VarId, span: Span) -> Expr {
        let loc = self.loc(span);
        if let Some(local) = self.names.var(id).local {
            if (local.0 as usize) < self.f.locals.len() {
                return self.local_addr(local, loc);
            }
            return self.dummy(Basic::Nullptr.into());
        }
        if self.names.var(id).memory == Memory::Host && self.on_device() {
            self.check_var_side(id, span);
        }
        let global = self.ir_global(id);
        let ty = self.names.var(id).ty;
        let ty = self.types.ir_type(ty);
        let ty = self.types.ir.pointer_to(ty);
        Expr::new(ExprKind::GlobalAddr(global), ty, loc)
    }

    /// The address of a function.
    pub fn function_address(&mut self, id: FnId, span: Span) -> Expr {
        let host = self.names.func(id).space == super::scope::ExecutionSpace::Host;
        if host && self.f.space.device_only() {
            self.check_call_side(id, span);
        }
        let function = self.ir_func(id);
        let ty = self.names.func(id).ty;
        let ty = self.types.pointer_to(ty);
        let ty = self.types.ir_type(ty);
        let loc = self.loc(span);
        Expr::new(ExprKind::FunctionAddr(function), ty, loc)
    }

    /// The name in sight that is most like `text`, if one is like it at all.
    pub fn near_name(&self, text: &str, types: bool) -> Option<String> {
        let fits = |entity: Option<Entity>| match entity {
            Some(Entity::Type(_)) => types,
            Some(Entity::Namespace(_)) | None => false,
            Some(_) => !types,
        };
        let mut names: Vec<&str> = Vec::new();
        let fitting = self.names.scopes.visible().filter(|(_, slot)| fits(slot.entity()));
        names.extend(fitting.map(|(name, _)| self.text(name)));
        if !types {
            names.extend(self.session.unused.iter().map(|(name, _)| self.text(*name)));
        }
        if types {
            names.extend(builtins::types::all_types().map(|def| def.name));
            return nearest_type(text, names.into_iter()).map(str::to_owned);
        }
        names.sort_unstable();
        let functions = builtins::all_functions().filter(|row| !row.flags.internal);
        let builtin = functions
            .map(|row| row.name)
            .chain(builtins::constants::all_constants().map(|constant| constant.name))
            .chain(builtins::variables::VARIABLES.iter().map(|variable| variable.name));
        nearest(text, names.into_iter().chain(builtin)).map(str::to_owned)
    }
}
