//! `auto`: the type that an initialiser or a `return` gives.

use super::ctype::{Basic, CType, QualType};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// The type of a variable whose declaration says `auto`.
    pub fn deduced(&mut self, ty: QualType, init: &'a ast::Initializer, name: &str) -> QualType {
        if !self.has_auto(ty) {
            return ty;
        }
        let expr = match &init.kind {
            ast::InitializerKind::Assign(expr) => Some(expr),
            ast::InitializerKind::Paren(args) if args.len() == 1 => args.first(),
            ast::InitializerKind::Brace(list) => match list.items.as_slice() {
                [one] => Some(&one.value),
                _ => None,
            },
            ast::InitializerKind::Paren(_) => None,
        };
        let value = expr.map(|expr| self.quiet(|checker| checker.expr(expr)));
        match value {
            Some(value) if !value.is_braces() => {
                let deduced = self.deduce(ty, value, name, init.span);
                self.check_same_auto(ty, deduced, name, init.span);
                deduced
            }
            _ => {
                let message = format!("the type of `{name}` cannot be deduced from this");
                self.error(Code::E0331, init.span, message);
                Basic::Error.into()
            }
        }
    }

    /// All declarators of one declaration deduce the same type for `auto`.
    pub fn check_same_auto(
        &mut self,
        pattern: QualType,
        deduced: QualType,
        name: &str,
        span: Span,
    ) {
        let Some(hole) = self.hole(pattern, deduced) else { return };
        let first = *self.around.auto_type.get_or_insert(hole);
        if first.id != hole.id && !self.types.is_error(hole) {
            let message = format!(
                "`auto` is {} for `{name}` and {} before in the same declaration",
                self.show(hole),
                self.show(first)
            );
            self.error(Code::E0331, span, message);
        }
    }

    /// Replaces `auto` by what a value has in its place (C++ [dcl.type.auto.deduct]).
    pub fn deduce(
        &mut self,
        pattern: QualType,
        value: Value<'a>,
        name: &str,
        span: Span,
    ) -> QualType {
        if self.is_error(&value) {
            return Basic::Error.into();
        }
        // `auto &&` takes objects too: a reference to one collapses to `auto &`.
        if let CType::Reference { to, rvalue: true } = *self.types.get(pattern.id)
            && self.types.basic(to) == Some(Basic::Auto)
            && to == to.unqualified()
            && value.is_lvalue()
            && !value.expiring
            && !matches!(value.kind, Kind::Fns(_))
        {
            return self.types.lvalue_ref_to(value.ty);
        }
        let by_reference = self.types.referent(pattern);
        let actual = match &value.kind {
            Kind::Fns(functions) => match functions.user.as_slice() {
                [one] => {
                    let ty = self.names.func(*one).ty;
                    if by_reference.is_some() { ty } else { self.types.pointer_to(ty) }
                }
                _ => {
                    let message = format!("`{}` is overloaded", functions.name);
                    self.error(Code::E0331, span, message);
                    return Basic::Error.into();
                }
            },
            _ if by_reference.is_some() => value.ty,
            _ => {
                let decayed = self.decay(value.ty);
                decayed.unqualified()
            }
        };
        if self.types.is_void(actual) {
            self.error(Code::E0331, span, format!("`{name}` would have the type `void`"));
            return Basic::Error.into();
        }
        match self.hole(by_reference.unwrap_or(pattern), actual) {
            Some(hole) => self.replace_auto(pattern, hole).unwrap_or(pattern),
            None => {
                let (wanted, found) = (self.show(pattern), self.show(actual));
                let message = format!("{wanted} does not fit a value of type {found}");
                self.error(Code::E0331, span, message);
                Basic::Error.into()
            }
        }
    }

    /// What `auto` stands for where the pattern is the actual type.
    pub fn hole(&self, pattern: QualType, actual: QualType) -> Option<QualType> {
        match (self.types.get(pattern.id), self.types.get(actual.id)) {
            (CType::Basic(Basic::Auto), _) => {
                Some(QualType { id: actual.id, quals: actual.quals.without(pattern.quals) })
            }
            (CType::Pointer(a), CType::Pointer(b))
            | (CType::Reference { to: a, .. }, CType::Reference { to: b, .. }) => self.hole(*a, *b),
            _ => None,
        }
    }
}
