//! Declarations at file scope, in namespaces and in blocks: what they add to the scopes. Variables
//! are in `variable` and `local`, functions in `function`, records and enumerations in `record`.

use super::ctype::{NsId, QualType};
use super::scope::{Entity, Slot};
use super::state::Checker;
use crate::ast::{self, DeclKind, StorageKind, TypeSpecKind};
use crate::diagnostics::{Code, Diagnostic, NAME_IT_CU};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks a whole unit.
    pub fn unit(&mut self, unit: &'a ast::TranslationUnit) {
        for decl in &unit.decls {
            if self.diags.is_full() {
                break;
            }
            self.decl(decl);
        }
        self.finish_unit();
    }

    /// One declaration, in the open scope.
    pub fn decl(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::Empty | DeclKind::Error => {}
            DeclKind::Pragma(pragma) => self.pragma(pragma),
            DeclKind::Function(def) => self.function_def(def),
            DeclKind::Simple(simple) => self.simple(simple),
            DeclKind::Alias(alias) => self.alias(alias),
            DeclKind::UsingName(name) => self.using_name(name),
            DeclKind::UsingNamespace(name) => self.using_namespace(name),
            DeclKind::Namespace(namespace) => self.namespace(namespace),
            DeclKind::NamespaceAlias(alias) => {
                let ast::NamespaceAliasDecl { name, target } = &**alias;
                if let Some(ns) = self.namespace_of(target) {
                    let slot = self.slot_here(name.name);
                    slot.other = Some(Entity::Namespace(ns));
                    slot.span = name.span;
                }
            }
            DeclKind::Linkage(linkage) => self.linkage(linkage),
            DeclKind::StaticAssert { condition, message } => {
                self.static_assert(condition, message.as_deref(), decl.span);
            }
        }
    }

    fn linkage(&mut self, linkage: &'a ast::LinkageDecl) {
        let language = linkage.language.to_text();
        if language != "C" && language != "C++" {
            let message = format!("there is no language linkage \"{language}\"");
            self.error(Code::E0335, linkage.language.span, message);
        }
        let outer = std::mem::replace(&mut self.extern_c, language == "C");
        let implied = std::mem::replace(&mut self.facts.implied_extern, !linkage.braces);
        for decl in &linkage.decls {
            self.decl(decl);
        }
        self.extern_c = outer;
        self.facts.implied_extern = implied;
    }

    fn namespace(&mut self, namespace: &'a ast::NamespaceDecl) {
        let outer = self.ns;
        if namespace.names.is_empty() {
            let found =
                self.spaces.list.iter().position(|ns| ns.parent == Some(outer) && ns.anonymous);
            self.ns = match found {
                Some(index) => NsId(index as u32),
                None => self.spaces.add(outer, None, "", namespace.inline, &mut self.types),
            };
        }
        let last = namespace.names.len().saturating_sub(1);
        for (index, name) in namespace.names.iter().enumerate() {
            let parent = self.ns;
            let inline = namespace.inline && index == last;
            let slot = self.spaces.get(parent).members.get(&name.name).copied();
            self.ns = match slot.and_then(|slot| slot.entity()) {
                Some(Entity::Namespace(ns)) => ns,
                Some(_) => {
                    self.redefinition(*name, slot.map_or(Span::NONE, |slot| slot.span));
                    self.ns = outer;
                    return;
                }
                None => {
                    let text = self.text(name.name);
                    let ns =
                        self.spaces.add(parent, Some(name.name), text, inline, &mut self.types);
                    let other = Some(Entity::Namespace(ns));
                    let slot = Slot { tag: None, other, span: name.span };
                    self.spaces.get_mut(parent).members.insert(name.name, slot);
                    ns
                }
            };
        }
        for decl in &namespace.decls {
            self.decl(decl);
        }
        self.ns = outer;
    }

    fn namespace_of(&mut self, name: &'a ast::QualName) -> Option<NsId> {
        if let Some(Entity::Namespace(ns)) = self.find_name(name).and_then(|slot| slot.entity()) {
            return Some(ns);
        }
        // `std` holds the builtins that it has in C++.
        if name.as_plain().is_some_and(|symbol| self.text(symbol) == "std") {
            return None;
        }
        let text = self.source_text(name.span);
        self.error(Code::E0301, name.span, format!("there is no namespace `{text}`"));
        None
    }

    fn using_namespace(&mut self, name: &'a ast::QualName) {
        let Some(ns) = self.namespace_of(name) else { return };
        let depth = self.f.blocks.depth();
        if depth > 0 {
            self.f.blocks.usings.push((depth, ns));
        } else {
            let here = self.ns;
            self.spaces.get_mut(here).usings.push(ns);
        }
    }

    fn using_name(&mut self, name: &'a ast::QualName) {
        let Some(mut slot) = self.find_name(name) else {
            let text = self.text(name.base.name);
            let std = name.scopes.first().is_some_and(|scope| self.text(scope.name) == "std");
            if std
                && (!self.visible_builtins(text, true).is_empty()
                    || self.builtin_type(text).is_some())
            {
                return;
            }
            let shown = self.source_text(name.span);
            self.error(Code::E0301, name.span, format!("`{shown}` is not declared"));
            return;
        };
        if let Some(Entity::Fns(set)) = slot.other {
            // A set of its own, so that functions declared here later stay here.
            let copy = self.set(set).to_vec();
            self.sets.push(copy);
            slot.other = Some(Entity::Fns(super::scope::SetId(self.sets.len() as u32 - 1)));
        }
        slot.span = name.span;
        *self.slot_here(name.base.name) = slot;
    }

    /// `using Name = type;`
    pub fn alias(&mut self, alias: &'a ast::AliasDecl) {
        let ty = self.type_name(&alias.ty);
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
        let slot = self.slot_here(name.name);
        let before = *slot;
        match before.other {
            Some(Entity::Type(first)) if first == ty => {}
            Some(_) => self.redefinition(name, before.span),
            None => {
                if before.tag.is_some_and(|tag| tag != ty) {
                    self.redefinition(name, before.span);
                    return;
                }
                let slot = self.slot_here(name.name);
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
        let message = "an alignment on the name of a typedef is outside the `.cdp` subset";
        self.report(
            Diagnostic::new(Code::E0239, span, message)
                .note("it would make a type that differs from the one behind the name in nothing else")
                .help("put it on the definition of the struct, or on each variable and member")
                .help(NAME_IT_CU),
        );
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
                self.report(Diagnostic::new(
                    Code::E0316,
                    specs.span,
                    "a declaration without a name",
                ));
            }
            self.spread_anonymous(simple, base);
            return;
        }
        let base = self.spec_type(specs);
        self.facts.auto_type = None;
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
        let unnamed = matches!(&simple.specs.ty.kind,
            TypeSpecKind::Record(spec) if spec.tag.is_none() && spec.members.is_some());
        if unnamed && !self.types.is_error(ty) {
            let is_union = matches!(&simple.specs.ty.kind,
                TypeSpecKind::Record(spec) if spec.kind == ast::RecordKind::Union);
            let message = if is_union {
                "an anonymous union that is no member is outside the `.cdp` subset"
            } else {
                "an unnamed record without a variable declares nothing here"
            };
            let found = Diagnostic::new(Code::E0316, simple.specs.span, message)
                .help("give it a name, after the closing brace");
            self.report(if is_union { found.help(NAME_IT_CU) } else { found });
        }
    }
}
