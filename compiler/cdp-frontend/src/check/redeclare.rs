//! Functions in their scopes: what a further declaration adds to a known function, and where the
//! name is seen.

use cdp_ir as ir;

use super::ctype::FnType;
use super::scope::{Entity, ExecutionSpace, FnId, Func, SetId, Slot};
use super::signatures::Accepts;
use super::state::Checker;
use crate::ast;
use crate::diagnostics::Code;
use crate::scopes::ScopeId;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Whether a prototype at file scope says again what CUDA's headers declare: the function stays
    /// theirs, as the C one that its name is linked to.
    pub fn redeclares_builtin(&mut self, name: &'a ast::QualName, function: &FnType) -> bool {
        let Some(symbol) = name.as_plain() else { return false };
        if self.names.scopes.here() != ScopeId::GLOBAL
            || self.names.scopes.member(ScopeId::GLOBAL, symbol).is_some()
        {
            return false;
        }
        let rows = self.visible_builtins(self.text(symbol), false);
        rows.into_iter().any(|row| {
            let known = self.builtin_candidate(row);
            known.variadic == function.variadic
                && known.params.len() == function.params.len()
                && known
                    .params
                    .iter()
                    .zip(&function.params)
                    .all(|(known, ty)| matches!(known, Accepts::Type(known) if known.id == ty.id))
        })
    }

    /// Puts a declaration into its scope: a new function, an overload, or one seen before. A
    /// prototype in a block names a function of the namespace around, but only for the block.
    pub fn enter_function(
        &mut self,
        func: Func,
        name: &'a ast::QualName,
        defines: bool,
    ) -> Option<FnId> {
        let (ns, symbol) = (self.names.scopes.here(), name.base.name);
        let in_block = self.names.scopes.depth() > 0;
        let slot = self.names.scopes.member(ns, symbol).copied().unwrap_or_default();
        let mut seen = match slot.other {
            Some(Entity::Fns(set)) => self.names.set(set).to_vec(),
            Some(_) => {
                self.redefinition(name.base, slot.span);
                return None;
            }
            None => Vec::new(),
        };
        seen.extend(self.linkage.block_functions.get(&(ns, symbol)).into_iter().flatten());
        let params =
            |checker: &Self, ty| checker.types.fn_type(ty).map(|f| (f.params.clone(), f.variadic));
        let wanted = params(self, func.ty);
        let known = seen.iter().copied().find(|&id| params(self, self.names.func(id).ty) == wanted);
        if known.is_none()
            && func.extern_c
            && let Some(&other) = seen.iter().find(|&&id| self.names.func(id).extern_c)
        {
            let first = self.names.func(other).span;
            let message = format!("`{}` with C linkage cannot be overloaded", func.display);
            self.error(Code::E0302, func.span, message).secondary(first, "first declared here");
            return None;
        }
        if let Some(other) =
            known.map(|id| self.names.func(id)).filter(|known| known.ns != ns && !known.extern_c)
        {
            // A using-declaration made it one of this scope.
            self.redefinition(name.base, other.span);
            return None;
        }
        let id = known.unwrap_or(FnId(self.names.funcs.len() as u32));
        if in_block {
            self.bind_in_block(id, name, known.is_none());
        } else {
            self.bind_in_namespace(id, name);
        }
        if known.is_some() {
            return self.merge_function(id, func, defines).then_some(id);
        }
        let mut func = func;
        func.defined = defines;
        self.names.funcs.push(func);
        Some(id)
    }

    /// Makes a function one of its name in the open namespace.
    fn bind_in_namespace(&mut self, id: FnId, name: &'a ast::QualName) {
        let slot = self.names.scopes.member_mut(self.names.scopes.here(), name.base.name);
        add_overload(slot, &mut self.names.sets, id, name.span);
    }

    /// Makes a function one of its name in the open block, where it hides those of scopes around.
    fn bind_in_block(&mut self, id: FnId, name: &'a ast::QualName, new: bool) {
        if new {
            let key = (self.names.scopes.here(), name.base.name);
            self.linkage.block_functions.entry(key).or_default().push(id);
        }
        let slot = self.names.scopes.declare(name.base.name);
        match slot.other {
            Some(Entity::Fns(_)) | None => add_overload(slot, &mut self.names.sets, id, name.span),
            Some(_) => {
                let first = slot.span;
                self.redefinition(name.base, first);
            }
        }
    }

    /// A further declaration of a known function. False when it contradicts the first.
    fn merge_function(&mut self, id: FnId, new: Func, defines: bool) -> bool {
        let old = self.names.func(id).clone();
        if old.ret != new.ret
            && !old.auto_ret
            && !self.types.is_error(new.ret)
            && !self.types.is_error(old.ret)
        {
            let message = format!(
                "`{}` returns {} here and {} before",
                new.display,
                self.show(new.ret),
                self.show(old.ret)
            );
            self.error(Code::E0302, new.span, message).secondary(old.span, "first declared here");
            return false;
        }
        if old.space != new.space && !self.merge_spaces(id, &old, &new) {
            return false;
        }
        if defines && old.defined {
            let message = format!("`{}` is already defined", new.display);
            self.error(Code::E0302, new.span, message).secondary(old.span, "first defined here");
            return false;
        }
        if new.linkage == ir::Linkage::Internal && old.linkage != ir::Linkage::Internal {
            let message = format!("`{}` is `static` here but not before", new.display);
            self.error(Code::E0302, new.span, message).secondary(old.span, "first declared here");
            return false;
        }
        let mut repeated = None;
        let arena = self.arena;
        let func = self.names.func_mut(id);
        for (param, fresh) in func.params.iter_mut().zip(&new.params) {
            if let (Some(_), Some(again)) = (param.default, fresh.default) {
                repeated = Some(arena.kept(again).span);
            }
            let default = param.default.or(fresh.default);
            if defines || param.name.is_none() {
                *param = *fresh;
            }
            param.default = default;
        }
        let attrs = &mut func.attrs;
        if attrs.inline == ir::Inline::Default {
            attrs.inline = new.attrs.inline;
        }
        if new.attrs.launch_bounds != ir::LaunchBounds::default() {
            attrs.launch_bounds = new.attrs.launch_bounds;
        }
        if new.attrs.max_registers != 0 {
            attrs.max_registers = new.attrs.max_registers;
        }
        if new.attrs.cluster_dims != [0; 3] {
            attrs.cluster_dims = new.attrs.cluster_dims;
        }
        attrs.noreturn |= new.attrs.noreturn;
        if func.linkage == ir::Linkage::External && new.linkage == ir::Linkage::LinkOnce {
            func.linkage = ir::Linkage::LinkOnce;
        }
        if defines {
            func.defined = true;
            func.span = new.span;
            func.space_span = new.space_span;
        }
        if let Some(span) = repeated {
            self.error(Code::E0302, span, "the default argument is given twice");
        }
        true
    }

    /// Declarations that name different sides: CUDA takes the function for one of both, unless one
    /// of them makes it a kernel.
    fn merge_spaces(&mut self, id: FnId, old: &Func, new: &Func) -> bool {
        let span = if new.space_span.is_none() { new.span } else { new.space_span };
        let message = format!(
            "`{}` is declared `{}` here and `{}` before",
            new.display,
            new.space.word(),
            old.space.word()
        );
        let kernel = new.space == ExecutionSpace::Global || old.space == ExecutionSpace::Global;
        let code = if kernel { Code::E0508 } else { Code::W0723 };
        let found = self
            .error(code, span, message)
            .secondary(old.span, "first declared here")
            .help("write the same words on every declaration");
        if !kernel {
            found.note("it is compiled as `__host__ __device__`");
            self.names.func_mut(id).space = ExecutionSpace::HostDevice;
            if let Some(made) = self.names.func(id).ir {
                self.module.functions[made.0 as usize].kind = ir::FunctionKind::HostDevice;
            }
        }
        !kernel
    }
}

/// Makes a function one of those that a name means.
fn add_overload(slot: &mut Slot, sets: &mut Vec<Vec<FnId>>, id: FnId, span: Span) {
    let Some(Entity::Fns(set)) = slot.other else {
        sets.push(vec![id]);
        slot.other = Some(Entity::Fns(SetId(sets.len() as u32 - 1)));
        slot.span = span;
        return;
    };
    let set = &mut sets[set.0 as usize];
    if !set.contains(&id) {
        set.push(id);
    }
}
