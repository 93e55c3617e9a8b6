//! Declarations at file scope, in namespaces and in blocks: what they add to the scopes. Variables
//! are in `variable` and `local`, functions in `function`, records and enumerations in `record`.

use super::ctype::QualType;
use super::scope::{Entity, FnId, SetId, Slot};
use super::state::Checker;
use crate::ast::{self, DeclKind, StorageKind, TypeSpecKind};
use crate::diagnostics::Code;
use crate::scopes::{Found, ScopeId};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks external declarations.
    pub fn decls(&mut self, decls: &'a [ast::Decl]) {
        for decl in decls {
            if self.diags.is_full() {
                break;
            }
            self.decl(decl);
        }
    }

    /// One declaration, in the open scope.
    pub fn decl(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::Empty | DeclKind::Error => {}
            DeclKind::Pragma(pragma) => self.pragma(pragma),
            DeclKind::Function(def) => self.function_def(def),
            DeclKind::Simple(simple) => self.simple(simple),
            DeclKind::Alias(alias) => self.alias(alias),
            DeclKind::UsingNames(names) => names.iter().for_each(|name| self.using_name(name)),
            DeclKind::UsingNamespace(name) => {
                if let Some(scope) = self.namespace_of(name) {
                    self.names.scopes.use_namespace(scope);
                }
            }
            DeclKind::Namespace(namespace) => self.namespace(namespace),
            DeclKind::NamespaceAlias(alias) => {
                let ast::NamespaceAliasDecl { name, target } = &**alias;
                if let Some(scope) = self.namespace_of(target) {
                    let slot = self.names.scopes.declare(name.name);
                    slot.other = Some(Entity::Namespace(scope));
                    slot.span = name.span;
                }
            }
            DeclKind::Linkage(linkage) => self.linkage(linkage),
            DeclKind::StaticAssert { condition, message } => {
                self.static_assert(condition, message.as_deref());
            }
        }
    }

    fn linkage(&mut self, linkage: &'a ast::LinkageDecl) {
        let language = linkage.language.to_text();
        if language != "C" && language != "C++" {
            let message = format!("there is no language linkage \"{language}\"");
            self.error(Code::E0335, linkage.language.span, message);
        }
        let outer = std::mem::replace(&mut self.linkage.extern_c, language == "C");
        let implied = std::mem::replace(&mut self.linkage.implied_extern, !linkage.braces);
        for decl in &linkage.decls {
            self.decl(decl);
        }
        self.linkage.extern_c = outer;
        self.linkage.implied_extern = implied;
    }

    /// Adds a namespace or a record with types of its own.
    pub fn add_scope(&mut self, parent: ScopeId, name: &str) -> ScopeId {
        let id = self.names.scopes.add(parent, name);
        self.name_scope(parent, name);
        id
    }

    /// What messages call the scope that was added last.
    fn name_scope(&mut self, parent: ScopeId, name: &str) {
        let outer = &self.types.ns_names[parent.0 as usize];
        let own = if name.is_empty() { "(anonymous)" } else { name };
        let shown = if outer.is_empty() { own.into() } else { format!("{outer}::{own}") };
        self.types.ns_names.push(shown);
    }

    fn namespace(&mut self, namespace: &'a ast::NamespaceDecl) {
        let outer = self.names.scopes.here();
        if namespace.names.is_empty() {
            let (scope, new) = self.names.scopes.anonymous_in(outer);
            if new {
                self.name_scope(outer, "");
            }
            self.names.scopes.open(scope);
        }
        let last = namespace.names.len().saturating_sub(1);
        for (index, name) in namespace.names.iter().enumerate() {
            let parent = self.names.scopes.here();
            let slot = self.names.scopes.member(parent, name.name).copied();
            let scope = match slot.and_then(|slot| slot.entity()) {
                Some(Entity::Namespace(scope)) => scope,
                Some(_) => {
                    self.redefinition(*name, slot.map_or(Span::NONE, |slot| slot.span));
                    self.names.scopes.open(outer);
                    return;
                }
                None => {
                    let scope = self.add_scope(parent, self.text(name.name));
                    let other = Some(Entity::Namespace(scope));
                    let slot = Slot { tag: None, other, span: name.span };
                    *self.names.scopes.member_mut(parent, name.name) = slot;
                    scope
                }
            };
            if namespace.inline && index == last {
                self.names.scopes.show(parent, scope);
            }
            self.names.scopes.open(scope);
        }
        for decl in &namespace.decls {
            self.decl(decl);
        }
        self.names.scopes.open(outer);
    }

    fn namespace_of(&mut self, name: &'a ast::QualName) -> Option<ScopeId> {
        let found = self.find_namespace(name).ok()?;
        if let Some(Entity::Namespace(scope)) = found.and_then(|slot| slot.other) {
            return Some(scope);
        }
        // `std` holds the builtins that it has in C++.
        if name.as_plain().is_some_and(|symbol| self.text(symbol) == "std") {
            return None;
        }
        self.no_namespace(name.scopes.first().unwrap_or(&name.base).name, name.span);
        None
    }

    fn using_name(&mut self, name: &'a ast::QualName) {
        let (found, part) = self.walk(name, |_| true);
        if let Found::Ambiguous(list) = &found {
            return self.report_ambiguous(part, list);
        }
        let Some(slot) = found.first() else {
            let text = self.text(name.base.name);
            let std = name.scopes.first().is_some_and(|scope| self.text(scope.name) == "std");
            if std
                && (!self.visible_builtins(text, true).is_empty()
                    || self.builtin_type(text).is_some())
            {
                return;
            }
            if self.quiet.lost.contains(&name.base.name) {
                return;
            }
            let shown = self.source_text(name.span);
            self.error(Code::E0301, name.span, format!("`{shown}` is not declared"));
            return;
        };
        let functions = self.functions_of(&found);
        self.import(name.base, slot, functions);
    }

    /// Declares here what another scope has; functions join those that are here (C++ [namespace.udecl]).
    fn import(&mut self, name: ast::Ident, slot: Slot, functions: Vec<FnId>) {
        let here = *self.names.scopes.declare(name.name);
        let ty = |slot: Slot| {
            slot.tag.or(match slot.other {
                Some(Entity::Type(ty)) => Some(ty),
                _ => None,
            })
        };
        let fns = |slot: Slot| matches!(slot.other, Some(Entity::Fns(_)));
        let others = here.other.zip(slot.other).is_some_and(|(a, b)| a != b);
        if ty(here).zip(ty(slot)).is_some_and(|(a, b)| a != b)
            || (others && !(fns(here) && fns(slot)))
            || functions.iter().any(|&id| self.declares_again(name, id))
        {
            return self.redefinition(name, here.span);
        }
        let mut other = here.other.or(slot.other);
        if fns(slot) {
            // A set of its own, so that functions declared here later stay here.
            let mut set = self.functions_of(&Found::One(here));
            set.extend(functions.into_iter().filter(|id| !set.contains(id)).collect::<Vec<_>>());
            self.names.sets.push(set);
            other = Some(Entity::Fns(SetId(self.names.sets.len() as u32 - 1)));
        }
        let tag = here.tag.or(slot.tag);
        *self.names.scopes.declare(name.name) = Slot { tag, other, span: name.span };
    }

    /// Whether the open namespace itself declares another function of the name with the parameters of this one.
    fn declares_again(&self, name: ast::Ident, id: FnId) -> bool {
        if self.names.scopes.depth() > 0 {
            return false;
        }
        let here = self.names.scopes.here();
        let Some(slot) = self.names.scopes.member(here, name.name) else { return false };
        let params = |id: FnId| {
            self.types.fn_type(self.names.func(id).ty).map(|ty| (&ty.params, ty.variadic))
        };
        let own = self.functions_of(&Found::One(*slot));
        own.into_iter()
            .any(|own| own != id && self.names.func(own).ns == here && params(own) == params(id))
    }

    /// `using Name = type;`
    pub fn alias(&mut self, alias: &'a ast::AliasDecl) {
        let ty = self.type_name(&alias.ty);
        if self.has_auto(ty) {
            self.error(Code::E0331, alias.ty.span, "a name for `auto`");
            return;
        }
        for attr in &alias.attrs {
            let asked = self.align_attrs(&[std::slice::from_ref(attr)]);
            if asked != 0 && asked != self.types.layout(ty).align {
                self.refuse_typedef_alignment(attr.span);
            }
        }
        self.bind_type(alias.name, ty);
    }

    /// Binds a typedef name; saying the same twice is fine.
    fn bind_type(&mut self, name: ast::Ident, ty: QualType) {
        let slot = self.names.scopes.declare(name.name);
        let before = *slot;
        match before.other {
            Some(Entity::Type(first)) if first == ty => {}
            Some(_) => self.redefinition(name, before.span),
            None => {
                if before.tag.is_some_and(|tag| tag != ty) {
                    self.redefinition(name, before.span);
                    return;
                }
                let slot = self.names.scopes.declare(name.name);
                slot.other = Some(Entity::Type(ty));
                slot.span = name.span;
            }
        }
    }

    /// An alignment that a typedef asks for. Types that differ in nothing else are one type here, so
    /// only two kinds are carried out: what the type has anyway, and the name of a record that has
    /// no other.
    pub fn typedef_alignment(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::Declarator,
        ty: QualType,
    ) {
        let defined = match &specs.ty.kind {
            TypeSpecKind::Record(spec) if spec.members.is_some() => Some(&**spec),
            _ => None,
        };
        // Attributes behind the members belong to the record.
        let own = specs
            .attrs
            .iter()
            .filter(|attr| defined.is_none_or(|spec| attr.span.lo < spec.keyword_span.lo));
        for attr in own.chain(&declarator.attrs) {
            let asked = self.align_attrs(&[std::slice::from_ref(attr)]);
            if asked == 0 || self.types.is_error(ty) {
                continue;
            }
            let layout = self.types.layout(ty);
            let unnamed = defined.is_some_and(|spec| spec.tag.is_none());
            let alone = unnamed && declarator.parts.is_empty();
            if asked == layout.align {
                continue;
            }
            if let (true, Some(id)) = (alone, self.types.record_id(ty))
                && asked > layout.align
                && layout.size.is_multiple_of(asked)
            {
                let ir = self.types.record(id).ir;
                self.types.ir.raise_alignment(ir, asked);
                continue;
            }
            self.refuse_typedef_alignment(attr.span);
        }
    }

    pub fn refuse_typedef_alignment(&mut self, span: Span) {
        let cure = "put it on the definition of the struct, or on each variable and member";
        self.outside(Code::E0239, span, "an alignment on the name of a typedef is", cure)
            .note("it would make a type that differs from the one behind the name in nothing else");
    }

    /// `typedef ... name;`
    pub fn declare_typedef(&mut self, declarator: &'a ast::Declarator, ty: QualType) {
        let Some(name) = &declarator.name else { return };
        if self.has_auto(ty) {
            self.error(Code::E0331, declarator.span, "a typedef of `auto`");
            return;
        }
        let text = self.text(name.base.name);
        self.name_unnamed(ty, text);
        self.bind_type(name.base, ty);
    }

    /// `specifiers declarators;`
    fn simple(&mut self, simple: &'a ast::SimpleDecl) {
        let specs = &simple.specs;
        if simple.declarators.is_empty() {
            if let TypeSpecKind::Record(spec) = &specs.ty.kind
                && self.forward_record(spec)
            {
                return;
            }
            let base = self.spec_type(specs);
            let declares = matches!(specs.ty.kind, TypeSpecKind::Record(_) | TypeSpecKind::Enum(_));
            if !declares && !self.types.is_error(base) {
                self.error(Code::E0316, specs.span, "a declaration without a name");
            }
            self.spread_anonymous(simple, base);
            return;
        }
        let base = self.spec_type(specs);
        self.around.auto_type = None;
        for declarator in &simple.declarators {
            let ty = self.declarator_type(base, &declarator.declarator);
            if specs.has(StorageKind::Typedef) {
                self.typedef_alignment(specs, &declarator.declarator, ty);
                self.declare_typedef(&declarator.declarator, ty);
            } else if self.types.is_function(ty) {
                self.prototype(specs, declarator, ty);
            } else {
                self.variable(specs, declarator, ty);
            }
        }
    }

    /// `union { ... };` as a statement or at file scope: outside the subset, by name.
    fn spread_anonymous(&mut self, simple: &'a ast::SimpleDecl, ty: QualType) {
        let TypeSpecKind::Record(spec) = &simple.specs.ty.kind else { return };
        if spec.tag.is_some() || spec.members.is_none() || self.types.is_error(ty) {
            return;
        }
        let (span, cure) = (simple.specs.span, "give it a name, after the closing brace");
        if spec.kind == ast::RecordKind::Union {
            let what = "an anonymous union that is no member is";
            self.outside(Code::E0316, span, what, cure);
        } else {
            let message = "an unnamed record without a variable declares nothing here";
            self.error(Code::E0316, span, message).help(cure);
        }
    }
}
