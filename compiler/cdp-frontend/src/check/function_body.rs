//! Bodies of functions: parameters, statements, what is missing at the end.

use cdp_ir as ir;

use super::ctype::{Basic, QualType};
use super::scope::{Entity, ExecutionSpace, FnId, Memory, Var, VarId};
use super::state::{Checker, FnState, LocalFacts};
use crate::ast::{self};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    pub(super) fn body(&mut self, id: FnId, def: &'a ast::FunctionDef) {
        let space = self.names.func(id).space;
        let device_pass = self.device_pass();
        let lowered = if device_pass { space.on_device() } else { space.on_host() };
        self.note_symbol(id);
        if !device_pass && space.device_only() {
            // The host knows a kernel by its handle.
            if space == ExecutionSpace::Global {
                self.make_ir_func(id);
            }
            // Assertions and other constants outside functions may want its value; what is wrong is said by the other pass.
            if self.names.func(id).constexpr {
                self.unheard(|checker| checker.check_body(id, false, &def.body));
            }
            return;
        }
        self.check_body(id, lowered, &def.body);
    }

    pub(super) fn note_symbol(&mut self, id: FnId) {
        let func = self.names.func(id);
        let relevant = if self.device_pass() { func.space.on_device() } else { true };
        if relevant {
            let (symbol, span) = (func.symbol.clone(), func.span);
            self.claim(symbol, span);
        }
    }

    /// Checks a body and, when it is lowered, puts it into the module.
    pub fn check_body(&mut self, id: FnId, lowered: bool, block: &'a ast::Block) {
        let func = self.names.func(id);
        let (space, ret, auto_ret, ns) = (func.space, func.ret, func.auto_ret, func.ns);
        let state = FnState {
            func: Some(id),
            space,
            lowered,
            ret,
            ret_auto: auto_ret,
            builtin_body: func.builtin,
            lints: self.body_lints(id, lowered),
            errors_before: self.diags.error_count(),
            ..FnState::default()
        };
        let outer = std::mem::replace(&mut self.f, state);
        let outer_scope = self.names.scopes.open(ns);
        if lowered && !auto_ret {
            self.make_ir_func(id);
        }
        self.names.scopes.enter();
        self.bind_params(id);
        let mut body = self.block(|checker| checker.stmts(&block.stmts));
        self.names.scopes.leave();
        if self.f.ret_auto {
            self.finish_auto(id, Basic::Void.into());
        }
        self.finish_labels();
        self.check_missing_return(id, &mut body, block.close_span);
        self.check_shared_bytes();
        self.check_lent();
        self.finish_body_lints(&body);
        let state = std::mem::replace(&mut self.f, outer);
        self.alone.clear();
        self.names.scopes.open(outer_scope);
        if self.names.func(id).constexpr {
            let types = state.locals.iter().map(|local| local.ty).collect();
            let kept = std::rc::Rc::new(ir::evaluate::Body { types, block: body.clone() });
            if let Some(made) = self.names.func(id).ir {
                self.constants.bodies.insert(made.0, kept.clone());
            }
            self.constants.bodies.insert(super::state::PSEUDO_ID | id.0, kept);
        }
        if lowered {
            let made = self.make_ir_func(id);
            let attrs = self.names.func(id).attrs;
            let linkage = self.names.func(id).linkage;
            let loc = self.loc(self.names.func(id).span);
            let end = self.loc(block.close_span);
            let function = &mut self.module.functions[made.0 as usize];
            if self.options.module {
                function.locals = state.locals;
                function.locals.shrink_to_fit();
                function.body = Some(body);
            }
            function.attrs = attrs;
            function.linkage = linkage;
            function.loc = loc;
            function.end = end;
        }
    }

    pub(super) fn bind_params(&mut self, id: FnId) {
        let params = self.names.func(id).params.clone();
        for param in &params {
            let local = self.param_local(param);
            self.f.locals.push(local);
            self.f.facts.push(LocalFacts::default());
            let Some(name) = param.name else { continue };
            let local = ir::LocalId(self.f.locals.len() as u32 - 1);
            self.names.vars.push(Var {
                local: Some(local),
                linkage: ir::Linkage::Internal,
                defined: true,
                in_function: true,
                is_param: true,
                ..Var::new(name, param.ty, Memory::Auto)
            });
            let var = VarId(self.names.vars.len() as u32 - 1);
            self.f.facts[local.0 as usize].var = Some(var);
            let slot = self.names.scopes.declare(name.name);
            let first = slot.span;
            if slot.other.is_some() {
                self.redefinition(name, first);
                continue;
            }
            slot.other = Some(Entity::Var(var));
            slot.span = name.span;
            if !self.types.is_complete(param.ty) && !self.types.is_error(param.ty) {
                let message = format!("a parameter of the incomplete type {}", self.show(param.ty));
                self.error(Code::E0308, param.span, message);
                self.names.var_mut(var).ty = Basic::Error.into();
            }
        }
        let ret = self.names.func(id).ret;
        let complete = self.types.is_void(ret) || self.has_auto(ret) || self.types.is_complete(ret);
        if !complete && !self.types.is_error(ret) {
            let span = self.names.func(id).span;
            let message = format!("the function returns the incomplete type {}", self.show(ret));
            self.error(Code::E0308, span, message);
        }
    }

    /// Settles the type of a function declared `auto`.
    pub fn finish_auto(&mut self, id: FnId, ty: QualType) {
        let pattern = self.names.func(id).ret;
        let ret = match self.replace_auto(pattern, ty) {
            Some(ret) => ret,
            None => ty,
        };
        let fn_ty = self.names.func(id).ty;
        let fn_ty = self.replace_auto(fn_ty, ty).unwrap_or(fn_ty);
        let func = self.names.func_mut(id);
        func.ret = ret;
        func.ty = fn_ty;
        func.auto_ret = false;
        self.f.ret = ret;
        self.f.ret_auto = false;
    }

    /// Falling off the end of a function that returns a value.
    pub(super) fn check_missing_return(&mut self, id: FnId, body: &mut ir::Block, close: Span) {
        let func = self.names.func(id);
        let is_main = func.symbol == "main" && func.space == ExecutionSpace::Host;
        let ret = func.ret;
        if self.types.is_void(ret) || self.types.is_error(ret) {
            return;
        }
        if !ir::flow::falls_through(body, &self.module) {
            return;
        }
        let loc = self.loc(close);
        if is_main {
            let zero = self.const_int(0, ret, loc);
            body.stmts.push(ir::Stmt { kind: ir::StmtKind::Return(Some(zero)), loc });
            return;
        }
        let func = self.names.func(id);
        let (name, noreturn) = (func.display.clone(), func.attrs.noreturn);
        if noreturn || self.f.gaps {
            return;
        }
        let message = format!("`{name}` ends without returning a value");
        let label = format!("a value of type {} is expected", self.show(ret));
        self.error(Code::W0706, close, message).label(label);
    }
}
