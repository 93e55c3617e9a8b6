//! From specifiers and declarators to types.
//!
//! What this is not: members of records and enumerators (`record`), what a declaration does with
//! the type (`decl`).

use super::ctype::{Basic, CType, FnType, QualType, Quals};
use super::scope::{Entity, ParamInfo};
use super::state::Checker;
use crate::ast::{self, AttrKind, CudaWord, DeclaratorPart, TypeSpecKind};
use crate::diagnostics::{Code, NAME_IT_CU};
use crate::source::Span;

/// The largest object, in bytes, that a declaration may make: what PTX can address statically.
const MAX_OBJECT_BYTES: u64 = 1 << 40;

/// Qualifiers as bits.
pub fn quals_of(quals: &ast::Qualifiers) -> Quals {
    let mut bits = Quals::NONE;
    if quals.const_.is_some() {
        bits = bits.union(Quals::CONST);
    }
    if quals.volatile.is_some() {
        bits = bits.union(Quals::VOLATILE);
    }
    if quals.restrict.is_some() {
        bits = bits.union(Quals::RESTRICT);
    }
    bits
}

impl<'a> Checker<'a> {
    /// The type that declaration specifiers name, defining the record or enumeration they may
    /// hold. `auto` gives [`Basic::Auto`].
    pub fn spec_type(&mut self, specs: &'a ast::DeclSpecs) -> QualType {
        let ty = self.type_spec(&specs.ty, specs);
        let mut quals = quals_of(&specs.quals);
        if quals.has(Quals::RESTRICT) && !self.types.is_pointer(ty) && !self.types.is_error(ty) {
            if self.types.referent(ty).is_none() {
                let span = specs.quals.restrict.unwrap_or(specs.span);
                self.error(Code::E0316, span, "`__restrict__` on a type that is no pointer");
            }
            quals = quals.without(Quals::RESTRICT);
        }
        self.qualify(ty, quals)
    }

    /// Adds qualifiers; those of an array go to its elements, those of a reference or function
    /// vanish.
    pub fn qualify(&mut self, ty: QualType, quals: Quals) -> QualType {
        if quals == Quals::NONE {
            return ty;
        }
        match self.types.get(ty.id).clone() {
            CType::Array { elem, len } => {
                let elem = self.qualify(elem, quals);
                self.types.array_of(elem, len)
            }
            CType::Reference { .. } | CType::Function(_) => ty,
            _ => ty.with(quals),
        }
    }

    fn type_spec(&mut self, spec: &'a ast::TypeSpec, specs: &'a ast::DeclSpecs) -> QualType {
        match &spec.kind {
            TypeSpecKind::Error => Basic::Error.into(),
            TypeSpecKind::Builtin(basic) => (*basic).into(),
            TypeSpecKind::Auto => Basic::Auto.into(),
            TypeSpecKind::Named(name) => self.named_type(name),
            TypeSpecKind::Record(record) => self.record_spec(record, specs),
            TypeSpecKind::Enum(spec) => self.enum_spec(spec, specs),
            TypeSpecKind::TypeofExpr(expr) => self.decltype(expr),
            TypeSpecKind::TypeofType(name) => {
                let ty = self.type_name(name);
                if !self.has_auto(ty) {
                    return ty;
                }
                let cure = "write the type, or `auto` for a value and `auto &` for a reference";
                self.outside(Code::E0240, name.span, "`decltype(auto)` is", cure);
                Basic::Error.into()
            }
        }
    }

    /// `decltype(expr)`: the declared type of a name, otherwise by value category
    /// (C++ [dcl.type.decltype]).
    fn decltype(&mut self, expr: &'a ast::Expr) -> QualType {
        self.around.unevaluated += 1;
        let value = self.expr(expr);
        self.around.unevaluated -= 1;
        if let Some(name) = expr.as_name()
            && let Some(Entity::Var(var)) = self.find_name(&name).and_then(|slot| slot.entity())
        {
            return self.names.var(var).ty;
        }
        if matches!(expr.kind, ast::ExprKind::Member(_)) || !value.is_lvalue() {
            return value.ty;
        }
        match value.expiring {
            true => self.types.rvalue_ref_to(value.ty),
            false => self.types.lvalue_ref_to(value.ty),
        }
    }

    /// The type behind a name that the parser took for a type.
    pub fn named_type(&mut self, name: &'a ast::QualName) -> QualType {
        let Ok(found) = self.find_one(name) else { return Basic::Error.into() };
        if let Some(slot) = found {
            match slot.other {
                Some(Entity::Type(ty)) => return ty,
                None if slot.tag.is_some() => return slot.tag.unwrap_or(Basic::Error.into()),
                _ => {}
            }
        }
        if self.quiet.lost.contains(&name.base.name) {
            return Basic::Error.into();
        }
        let text = self.text(name.base.name);
        let scope = name.scopes.last().map(|scope| self.text(scope.name));
        if matches!(scope, None | Some("std"))
            && let Some(ty) = self.builtin_type(text)
        {
            return ty;
        }
        if let Some(Entity::Type(ty)) = self.std_entity(name) {
            return ty;
        }
        let shown = self.session.sources.text(name.span);
        let message = format!("`{}` is not a type", if shown.is_empty() { text } else { shown });
        let near = self.near_name(text, true);
        let found = self.error(Code::E0204, name.span, message);
        if let Some(near) = near {
            let text = format!("a type with a similar name exists: `{near}`");
            found.suggest(text, name.base.span, near);
        }
        Basic::Error.into()
    }

    /// A type by itself.
    pub fn type_name(&mut self, name: &'a ast::TypeName) -> QualType {
        let base = self.spec_type(&name.specs);
        self.declarator_type(base, &name.declarator)
    }

    /// Applies a declarator to the specifiers' type.
    pub fn declarator_type(&mut self, base: QualType, declarator: &'a ast::Declarator) -> QualType {
        let mut ty = base;
        for part in declarator.parts.iter().rev() {
            ty = self.apply_part(ty, part);
        }
        ty
    }

    /// The type that one part of a declarator makes of another.
    pub fn apply_part(&mut self, ty: QualType, part: &'a DeclaratorPart) -> QualType {
        let span = part.span();
        if self.types.is_error(ty) && !matches!(part, DeclaratorPart::Function(_)) {
            return ty;
        }
        match part {
            DeclaratorPart::Pointer { quals, .. } => {
                if self.types.referent(ty).is_some() {
                    self.error(Code::E0316, span, "a pointer to a reference");
                    return Basic::Error.into();
                }
                self.types.pointer_to(ty).with(quals_of(quals))
            }
            DeclaratorPart::Reference { rvalue, .. } => {
                if self.types.is_void(ty) {
                    self.error(Code::E0316, span, "a reference to `void`");
                    return Basic::Error.into();
                }
                if self.types.referent(ty).is_some() {
                    return ty;
                }
                QualType::new(self.types.intern(CType::Reference { to: ty, rvalue: *rvalue }))
            }
            DeclaratorPart::Array { size, .. } => {
                let len = match size {
                    None => None,
                    Some(size) => match self.array_bound(size) {
                        Some(len) => Some(len),
                        None => return Basic::Error.into(),
                    },
                };
                self.make_array(ty, len, span)
            }
            DeclaratorPart::Function(part) => self.function_part(ty, part),
        }
    }

    fn make_array(&mut self, elem: QualType, len: Option<u64>, span: Span) -> QualType {
        let what = match self.types.get(elem.id) {
            CType::Basic(Basic::Void) => Some("an array of `void`"),
            CType::Function(_) => Some("an array of functions"),
            CType::Reference { .. } => Some("an array of references"),
            CType::Array { len: None, .. } => Some("an array whose elements have no known bound"),
            _ => None,
        };
        if let Some(what) = what {
            self.error(Code::E0312, span, what);
            return Basic::Error.into();
        }
        if !self.types.is_complete(elem) {
            let message = format!("an array of the incomplete type {}", self.show(elem));
            self.error(Code::E0308, span, message);
            return Basic::Error.into();
        }
        let elem_bytes = self.types.layout(elem).size.max(1);
        if len.is_some_and(|len| len.saturating_mul(elem_bytes) > MAX_OBJECT_BYTES) {
            self.error(Code::E0312, span, "the array is too large");
            return Basic::Error.into();
        }
        self.types.array_of(elem, len)
    }

    /// A constant array bound; reports what is wrong with it.
    fn array_bound(&mut self, size: &'a ast::Expr) -> Option<u64> {
        let (value, _) = self.const_integer(size, "an array bound")?;
        if value < 0 {
            self.error(Code::E0312, size.span, format!("the array bound is negative: {value}"));
            return None;
        }
        if value == 0 {
            self.error(Code::E0312, size.span, "an array of no elements")
                .help("an array has at least one element")
                .help(NAME_IT_CU);
            return None;
        }
        u64::try_from(value).ok()
    }

    fn function_part(&mut self, ret: QualType, part: &'a ast::FunctionPart) -> QualType {
        let mut ret = ret;
        if let Some(trailing) = &part.trailing_return {
            ret = self.type_name(trailing);
        }
        let what = match self.types.get(ret.id) {
            CType::Array { .. } => Some("an array"),
            CType::Function(_) => Some("a function"),
            _ => None,
        };
        if let Some(what) = what {
            self.error(Code::E0317, part.span, format!("a function cannot return {what}"));
            ret = Basic::Error.into();
        }
        let params = self.params(part);
        let types = params.iter().map(|param| param.ty.unqualified()).collect();
        // Qualifiers of a scalar result mean nothing.
        let ret = if self.types.is_scalar(ret) { ret.unqualified() } else { ret };
        QualType::new(self.types.intern(CType::Function(FnType {
            ret,
            params: types,
            variadic: part.variadic.is_some(),
        })))
    }

    /// The parameters of a function declarator, decayed.
    pub fn params(&mut self, part: &'a ast::FunctionPart) -> Vec<ParamInfo> {
        let mut params = Vec::with_capacity(part.params.len());
        for param in &part.params {
            let base = self.spec_type(&param.specs);
            let mut ty = self.declarator_type(base, &param.declarator);
            let span = param.declarator.name.as_ref().map_or(param.span, |name| name.span);
            if self.types.is_void(ty) {
                self.error(Code::E0317, param.span, "a parameter of type `void`");
                ty = Basic::Error.into();
            }
            if self.types.basic(ty) == Some(Basic::Auto) {
                self.error(Code::E0220, param.specs.ty.span, "`auto` parameters are templates");
                ty = Basic::Error.into();
            }
            ty = self.decay(ty);
            let grid_constant = param
                .specs
                .attrs
                .iter()
                .chain(&param.declarator.attrs)
                .any(|attr| matches!(attr.kind, AttrKind::Cuda(CudaWord::GridConstant)));
            params.push(ParamInfo {
                name: param.declarator.name.as_ref().map(|name| name.base),
                ty,
                default: param.default.as_ref().map(|default| self.arena.keep(default.clone())),
                grid_constant,
                span,
            });
        }
        params
    }

    /// Arrays to pointers, functions to function pointers.
    pub fn decay(&mut self, ty: QualType) -> QualType {
        match self.types.get(ty.id).clone() {
            CType::Array { elem, .. } => self.types.pointer_to(elem.with(ty.quals.cv())),
            CType::Function(_) => self.types.pointer_to(ty),
            _ => ty,
        }
    }

    /// Replaces [`Basic::Auto`] within a type; `None` when there is none.
    pub fn replace_auto(&mut self, ty: QualType, with: QualType) -> Option<QualType> {
        match self.types.get(ty.id).clone() {
            CType::Basic(Basic::Auto) => Some(with.with(ty.quals)),
            CType::Pointer(to) => {
                let to = self.replace_auto(to, with)?;
                Some(self.types.pointer_to(to).with(ty.quals))
            }
            CType::Reference { to, rvalue } => {
                let to = self.replace_auto(to, with)?;
                Some(QualType::new(self.types.intern(CType::Reference { to, rvalue })))
            }
            CType::Array { elem, len } => {
                let elem = self.replace_auto(elem, with)?;
                Some(self.types.array_of(elem, len))
            }
            CType::Function(function) => {
                let ret = self.replace_auto(function.ret, with)?;
                Some(self.types.function(ret, function.params, function.variadic))
            }
            _ => None,
        }
    }

    /// Whether `auto` stands somewhere in the type.
    pub fn has_auto(&self, ty: QualType) -> bool {
        match self.types.get(ty.id) {
            CType::Basic(Basic::Auto) => true,
            CType::Pointer(to) | CType::Reference { to, .. } => self.has_auto(*to),
            CType::Array { elem, .. } => self.has_auto(*elem),
            CType::Function(function) => self.has_auto(function.ret),
            _ => false,
        }
    }

    /// Alignment that attributes ask for, in bytes; 0 when none does. Reports bad values.
    pub fn align_attrs(&mut self, lists: &[&'a [ast::Attr]]) -> u64 {
        let mut align = 0;
        for attr in lists.iter().copied().flatten() {
            let asked = match &attr.kind {
                AttrKind::Align(Some(expr)) => match self.const_integer(expr, "an alignment") {
                    Some((value, _)) => value,
                    None => continue,
                },
                AttrKind::Align(None) => 16,
                AttrKind::AlignType(name) => {
                    let ty = self.type_name(name);
                    i128::from(self.types.layout(ty).align)
                }
                _ => continue,
            };
            if asked == 0 {
                continue;
            }
            if !(1..=1 << 20).contains(&asked) || !(asked as u64).is_power_of_two() {
                let message = format!("the alignment {asked} is not a power of two");
                self.error(Code::E0326, attr.span, message);
                continue;
            }
            align = align.max(asked as u64);
        }
        align
    }
}
