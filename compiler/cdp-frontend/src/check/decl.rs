//! Declarations at file scope, in namespaces and in blocks: what they add to the scopes, and
//! variables. Functions are in `function`, records and enumerations in `record`.

use cdp_ir as ir;

use super::ctype::{Basic, NsId, QualType};
use super::init::{Node, scalar_const};
use super::mangle;
use super::scope::{Entity, Memory, Slot, Space, Var, VarId};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast::{self, AttrKind, DeclKind, StorageKind, TypeSpecKind};
use crate::diagnostics::{Code, Diagnostic};
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
            DeclKind::Empty | DeclKind::Error | DeclKind::Pragma(_) => {}
            DeclKind::Function(def) => self.function_def(def),
            DeclKind::Simple(simple) => self.simple(simple),
            DeclKind::Alias(alias) => self.alias(alias),
            DeclKind::UsingName(name) => self.using_name(name),
            DeclKind::UsingNamespace(name) => self.using_namespace(name),
            DeclKind::Namespace(namespace) => self.namespace(namespace),
            DeclKind::NamespaceAlias { name, target } => {
                if let Some(ns) = self.namespace_of(target) {
                    let slot = self.slot_here(name.name);
                    slot.other = Some(Entity::Namespace(ns));
                    slot.span = name.span;
                }
            }
            DeclKind::Linkage(linkage) => self.linkage(linkage),
            DeclKind::StaticAssert { condition, message } => {
                self.static_assert(condition, message.as_ref(), decl.span);
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
            let message = "an unnamed record without a variable declares nothing here";
            self.error(Code::E0316, simple.specs.span, message);
        }
    }

    // --- variables ---------------------------------------------------------------------------

    /// The memory-space words of a declaration.
    fn memory_of(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::Declarator,
    ) -> (Memory, Span) {
        let mut memory = Memory::Auto;
        let mut place = Span::NONE;
        for attr in specs.attrs.iter().chain(&declarator.attrs) {
            let next = match &attr.kind {
                AttrKind::Device => Memory::Device,
                AttrKind::Constant => Memory::Constant,
                AttrKind::Shared => Memory::Shared,
                AttrKind::Managed => Memory::Managed,
                AttrKind::Global | AttrKind::Host | AttrKind::LaunchBounds(_) => {
                    let message = "this word belongs to functions, not to variables";
                    self.error(Code::E0505, attr.span, message);
                    continue;
                }
                AttrKind::GridConstant => {
                    let message = "`__grid_constant__` belongs to kernel parameters";
                    self.error(Code::E0505, attr.span, message);
                    continue;
                }
                _ => continue,
            };
            let combined = match (memory, next) {
                (Memory::Auto, next) => Some(next),
                (a, Memory::Device) => Some(a),
                (Memory::Device, next) => Some(next),
                (a, b) if a == b => Some(a),
                _ => None,
            };
            match combined {
                Some(combined) => memory = combined,
                None => {
                    let message =
                        format!("a variable cannot be both {} and {}", memory.word(), next.word());
                    let diagnostic = Diagnostic::new(Code::E0505, attr.span, message)
                        .secondary(place, "the other memory space");
                    self.report(diagnostic);
                }
            }
            place = attr.span;
        }
        (memory, place)
    }

    fn variable(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::InitDeclarator,
        ty: QualType,
    ) {
        let Some(name) = &declarator.declarator.name else {
            self.error(Code::E0316, declarator.span, "a variable without a name");
            return;
        };
        if name.operator.is_some() {
            self.error(Code::E0333, name.span, "an operator is a function");
            return;
        }
        let (memory, memory_span) = self.memory_of(specs, &declarator.declarator);
        let align = self.align_attrs(&[&specs.attrs, &declarator.declarator.attrs]);
        if let Some(span) = specs.storage_span(StorageKind::ThreadLocal) {
            self.error(Code::E0240, span, "thread-local variables are outside the `.cdp` subset");
        }
        if let Some(span) = specs.storage_span(StorageKind::Inline)
            && self.f.blocks.depth() > 0
        {
            self.error(Code::E0316, span, "`inline` on a variable of a function");
        }
        let constexpr = specs.has(StorageKind::Constexpr);
        let ty = if constexpr { self.qualify(ty, super::ctype::Quals::CONST) } else { ty };
        let ty = self.object_type(ty, name.span);
        let local = self.f.blocks.depth() > 0;
        let request =
            VarRequest { specs, declarator, name, ty, memory, memory_span, align, constexpr };
        if !local {
            self.file_variable(request);
        } else if specs.has(StorageKind::Extern) {
            self.extern_in_block(request);
        } else if specs.has(StorageKind::Static) || memory != Memory::Auto {
            self.static_in_block(request);
        } else {
            self.local_variable(request);
        }
    }

    /// Refuses types that no variable has.
    fn object_type(&mut self, ty: QualType, span: Span) -> QualType {
        if self.types.is_void(ty) {
            self.error(Code::E0316, span, "a variable of type `void`");
            return Basic::Error.into();
        }
        ty
    }

    /// A `Var` as its declaration describes it.
    fn new_var(&mut self, request: &VarRequest<'a>, memory: Memory) -> VarId {
        let symbol = String::new();
        self.vars.push(Var {
            name: request.name.base.name,
            ty: request.ty,
            memory,
            local: None,
            global: None,
            value: None,
            constexpr: request.constexpr,
            linkage: ir::Linkage::External,
            defined: false,
            symbol,
            align: request.align,
            in_function: false,
            is_param: false,
            span: request.name.base.span,
        });
        VarId(self.vars.len() as u32 - 1)
    }

    /// Binds a variable's name in the open scope; reports a clash.
    fn bind_var(&mut self, name: ast::Ident, id: VarId) {
        let slot = self.slot_here(name.name);
        let before = *slot;
        slot.other = Some(Entity::Var(id));
        slot.span = name.span;
        if before.other.is_some() {
            self.redefinition(name, before.span);
        } else if let Some(first) = self.f.blocks.in_head(name.name) {
            self.redefinition(name, first);
        }
    }

    fn file_variable(&mut self, request: VarRequest<'a>) {
        let name = request.name;
        let memory = if request.memory == Memory::Auto { Memory::Host } else { request.memory };
        let is_extern = request.specs.has(StorageKind::Extern) || self.facts.implied_extern;
        let outer = self.ns;
        if name.as_plain().is_none() {
            match self.find_scope(name) {
                Ok(ns) => self.ns = ns,
                Err(scope) => {
                    let text = self.text(scope.name);
                    self.error(Code::E0301, scope.span, format!("there is no namespace `{text}`"));
                    return;
                }
            }
        }
        self.check_shared_bound(&request, memory, is_extern);
        let existing = self.spaces.get(self.ns).members.get(&name.base.name).copied();
        let id = match existing.and_then(|slot| slot.other) {
            Some(Entity::Var(id)) => {
                self.redeclare(id, &request, memory, existing.map_or(Span::NONE, |slot| slot.span));
                id
            }
            Some(_) => {
                self.redefinition(name.base, existing.map_or(Span::NONE, |slot| slot.span));
                self.ns = outer;
                return;
            }
            None => {
                let id = self.new_var(&request, memory);
                let slot = self.slot_here(name.base.name);
                slot.other = Some(Entity::Var(id));
                slot.span = name.base.span;
                let internal_const =
                    self.is_const_object(request.ty) && !is_extern && !self.extern_c;
                let inline = request.specs.has(StorageKind::Inline);
                let internal = request.specs.has(StorageKind::Static)
                    || (internal_const && !inline)
                    || self.spaces.is_internal(self.ns);
                let text = self.text(name.base.name);
                let symbol = if self.extern_c && !internal {
                    text.to_owned()
                } else {
                    let (types, spaces) = (&self.types, &self.spaces);
                    mangle::variable(types, spaces, self.ns, text, internal)
                };
                let var = self.var_mut(id);
                var.symbol = symbol;
                var.linkage = if internal {
                    ir::Linkage::Internal
                } else if inline {
                    ir::Linkage::LinkOnce
                } else {
                    ir::Linkage::External
                };
                id
            }
        };
        let defines = !is_extern || request.declarator.init.is_some();
        if defines {
            self.define_static(id, &request, memory);
        } else if !self.types.is_error(request.ty) && request.constexpr {
            let message = "a `constexpr` variable needs an initialiser";
            self.error(Code::E0313, name.span, message);
        }
        self.ns = outer;
    }

    /// `extern __shared__` arrays have no bound; other shared variables have one.
    fn check_shared_bound(&mut self, request: &VarRequest<'a>, memory: Memory, is_extern: bool) {
        if memory != Memory::Shared || !is_extern {
            return;
        }
        let unbounded = self.types.array(request.ty).is_some_and(|(_, len)| len.is_none());
        if !unbounded && !self.types.is_error(request.ty) {
            let message = "an `extern __shared__` variable is an array without a bound";
            let text = self.text(request.name.base.name);
            self.report(
                Diagnostic::new(Code::E0505, request.name.span, message)
                    .note("its size is the launch's third configuration argument")
                    .help(format!("write `extern __shared__ int {text}[];`")),
            );
        }
    }

    fn redeclare(&mut self, id: VarId, request: &VarRequest<'a>, memory: Memory, first: Span) {
        let var = self.var(id);
        let (old_ty, old_memory) = (var.ty, var.memory);
        if self.types.is_error(old_ty) || self.types.is_error(request.ty) {
            return;
        }
        let completes = match (self.types.array(old_ty), self.types.array(request.ty)) {
            (Some((a, None)), Some((b, _))) => a == b,
            (Some((a, Some(_))), Some((b, None))) => a == b,
            _ => false,
        };
        if old_ty != request.ty && !completes {
            let text = self.text(request.name.base.name);
            let message = format!(
                "`{text}` is declared as {} and as {}",
                self.show(old_ty),
                self.show(request.ty)
            );
            let diagnostic = Diagnostic::new(Code::E0302, request.name.span, message)
                .secondary(first, "first declared here");
            self.report(diagnostic);
            return;
        }
        if old_memory != memory {
            let text = self.text(request.name.base.name);
            let message = format!(
                "`{text}` is declared in {} and in {} memory",
                old_memory.word(),
                memory.word()
            );
            let diagnostic = Diagnostic::new(Code::E0302, request.name.span, message)
                .secondary(first, "first declared here");
            self.report(diagnostic);
        }
        if completes && self.types.is_complete(request.ty) {
            self.var_mut(id).ty = request.ty;
        }
    }

    /// Gives a static variable its storage and initial value.
    fn define_static(&mut self, id: VarId, request: &VarRequest<'a>, memory: Memory) {
        let name = request.name;
        let text = self.text(name.base.name);
        if self.var(id).defined {
            let first = self.var(id).span;
            self.redefinition(name.base, first);
            return;
        }
        self.var_mut(id).defined = true;
        let device = !matches!(memory, Memory::Host);
        let constant = match &request.declarator.init {
            Some(init) if memory == Memory::Shared => {
                self.report(
                    Diagnostic::new(
                        Code::E0506,
                        init.span,
                        "a `__shared__` variable cannot have an initialiser",
                    )
                    .help("let one thread assign it, then call `__syncthreads()`"),
                );
                None
            }
            Some(init) => {
                let ty = self.deduced(request.ty, init, text);
                let side = if device { Space::Device } else { Space::Host };
                let outer = std::mem::replace(&mut self.f.space, side);
                let skipped = device != self.device_pass();
                let before = std::mem::replace(&mut self.f.discard_ir, skipped);
                let constant = self.static_initial(id, ty, init, text, device);
                self.f.discard_ir = before;
                self.f.space = outer;
                constant
            }
            None => {
                self.check_uninitialised(request);
                let ty = self.var(id).ty;
                let ones = memory != Memory::Shared && self.has_dim3(ty);
                ones.then(|| self.default_const(ty))
            }
        };
        self.check_complete(id, name.span);
        self.remember_constant(id, constant.as_ref());
        let belongs = if self.device_pass() { device } else { memory != Memory::Shared };
        let ty = self.var(id).ty;
        if !belongs || self.types.is_error(ty) || !self.types.is_complete(ty) {
            return;
        }
        let global = self.make_ir_global(id);
        let ir_ty = self.types.ir_type(ty);
        let on_device = self.device_pass();
        if let Some(value) = &constant
            && self.is_const_object(ty)
            && self.var(id).constexpr
        {
            self.const_globals.insert(global.0, value.clone());
        }
        let entry = &mut self.module.globals[global.0 as usize];
        entry.ty = ir_ty;
        entry.defined = true;
        // The shadow of a device variable on the host holds no value.
        entry.init = if on_device || !device { constant } else { None };
        self.claim_symbol(id);
    }

    /// `const`, or an array of `const` elements.
    pub fn is_const_object(&self, ty: QualType) -> bool {
        match self.types.array(ty) {
            Some((elem, _)) => self.is_const_object(elem),
            None => ty.is_const(),
        }
    }

    /// Two definitions of one symbol.
    fn claim_symbol(&mut self, id: VarId) {
        let (symbol, span) = (self.var(id).symbol.clone(), self.var(id).span);
        self.claim(symbol, span);
    }

    /// Records a symbol's definition; E0302 when another definition has it.
    pub fn claim(&mut self, symbol: String, span: Span) {
        if let Some(&first) = self.symbols.get(&symbol) {
            let message = format!("the symbol `{symbol}` is defined twice");
            let diagnostic = Diagnostic::new(Code::E0302, span, message)
                .secondary(first, "the other definition");
            self.report(diagnostic);
            return;
        }
        self.symbols.insert(symbol, span);
    }

    fn static_initial(
        &mut self,
        id: VarId,
        ty: QualType,
        init: &'a ast::Initializer,
        text: &str,
        device: bool,
    ) -> Option<ir::Const> {
        self.var_mut(id).ty = ty;
        if self.types.referent(ty).is_some() {
            let node = match &init.kind {
                ast::InitializerKind::Assign(expr) => {
                    let value = self.expr(expr);
                    Node::Value(self.convert(value, ty, super::convert::Purpose::Init(text)))
                }
                _ => Node::Default,
            };
            return self.static_const(&node, ty, init.span, device);
        }
        let (ty, node) = self.initializer(ty, init, text);
        self.var_mut(id).ty = ty;
        if self.types.is_error(ty) {
            return None;
        }
        self.static_const(&node, ty, init.span, device)
    }

    /// The type of a variable whose declaration says `auto`.
    fn deduced(&mut self, ty: QualType, init: &'a ast::Initializer, name: &str) -> QualType {
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
    fn check_same_auto(&mut self, pattern: QualType, deduced: QualType, name: &str, span: Span) {
        let Some(hole) = self.hole_of(pattern, deduced) else { return };
        let first = *self.facts.auto_type.get_or_insert(hole);
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
        let by_reference = self.types.referent(pattern);
        let actual = match &value.kind {
            Kind::Fns(functions) => match functions.user.as_slice() {
                [one] => {
                    let ty = self.func(*one).ty;
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
        let hole = self.hole(by_reference.unwrap_or(pattern), actual);
        match hole {
            Some(hole) => self.replace_auto(pattern, hole).unwrap_or(pattern),
            None => {
                let message = format!(
                    "{} does not fit a value of type {}",
                    self.show(pattern),
                    self.show(actual)
                );
                self.error(Code::E0331, span, message);
                Basic::Error.into()
            }
        }
    }

    /// What `auto` stands for when the pattern is to be the actual type.
    fn hole(&self, pattern: QualType, actual: QualType) -> Option<QualType> {
        if self.types.basic(pattern) == Some(Basic::Auto) {
            let quals = actual.quals.without(pattern.quals);
            return Some(QualType { id: actual.id, quals });
        }
        match (self.types.pointee(pattern), self.types.pointee(actual)) {
            (Some(pattern), Some(actual)) => self.hole(pattern, actual),
            _ => None,
        }
    }

    fn check_uninitialised(&mut self, request: &VarRequest<'a>) {
        let (ty, name) = (request.ty, request.name);
        let text = self.text(name.base.name);
        if self.types.is_error(ty) {
            return;
        }
        if self.types.referent(ty).is_some() {
            let message = format!("the reference `{text}` needs an initialiser");
            self.error(Code::E0313, name.span, message);
        } else if self.has_auto(ty) {
            let message = format!("`{text}` needs an initialiser to deduce its type from");
            self.error(Code::E0331, name.span, message);
        } else if request.constexpr
            || (self.is_const_object(ty) && !self.is_dim3(ty) && !self.given_from_outside(request))
        {
            let message = format!("`{text}` is `const` and needs an initialiser");
            self.error(Code::E0313, name.span, message);
        }
    }

    /// `__constant__ const` variables may be set by the host.
    fn given_from_outside(&self, request: &VarRequest<'a>) -> bool {
        matches!(request.memory, Memory::Constant | Memory::Shared)
    }

    fn check_complete(&mut self, id: VarId, span: Span) {
        let ty = self.var(id).ty;
        if self.types.is_error(ty) || self.has_auto(ty) {
            self.var_mut(id).ty = if self.types.is_error(ty) { ty } else { Basic::Error.into() };
            return;
        }
        if !self.types.is_complete(ty) {
            let message = match self.types.array(ty) {
                Some((_, None)) => "an array without a bound needs an initialiser".to_owned(),
                _ => format!("a variable of the incomplete type {}", self.show(ty)),
            };
            self.error(Code::E0308, span, message);
            self.var_mut(id).ty = Basic::Error.into();
        }
    }

    /// Keeps the value of a constant, for constant expressions.
    fn remember_constant(&mut self, id: VarId, constant: Option<&ir::Const>) {
        let var = self.var(id);
        let (ty, constexpr) = (var.ty, var.constexpr);
        let Some(constant) = constant else { return };
        if !ty.is_const() || ty.is_volatile() {
            return;
        }
        // A `const` variable counts as constant if it is an integer or enumeration
        // (C++ [expr.const]); floating ones may be read from device code as well.
        let integral = self.types.is_integer(ty) || self.types.enum_id(ty).is_some();
        let takes = constexpr || integral || self.types.is_floating(ty);
        if takes && scalar_const(constant) && self.types.is_scalar(ty) {
            self.var_mut(id).value = Some(constant.clone());
        }
    }

    /// `extern int x;` in a block: the variable of the namespace around.
    fn extern_in_block(&mut self, request: VarRequest<'a>) {
        let name = request.name;
        let memory = if request.memory == Memory::Auto { Memory::Host } else { request.memory };
        if let Some(init) = &request.declarator.init {
            self.error(
                Code::E0313,
                init.span,
                "an `extern` variable of a block is initialised elsewhere",
            );
        }
        self.check_shared_bound(&request, memory, true);
        if memory == Memory::Shared && self.f.space == Space::Host {
            self.shared_on_host(request.memory_span);
        }
        let existing = self.spaces.get(self.ns).members.get(&name.base.name).copied();
        let hidden = self.facts.block_externs.get(&(self.ns, name.base.name)).copied();
        let found = match existing.and_then(|slot| slot.other) {
            Some(Entity::Var(id)) => Some(id),
            _ => hidden,
        };
        let id = match found {
            Some(id) => {
                let first = self.var(id).span;
                self.redeclare(id, &request, memory, first);
                id
            }
            None => {
                let id = self.new_var(&request, memory);
                let text = self.text(name.base.name);
                let symbol = mangle::variable(&self.types, &self.spaces, self.ns, text, false);
                self.var_mut(id).symbol = symbol;
                self.facts.block_externs.insert((self.ns, name.base.name), id);
                id
            }
        };
        self.bind_var(name.base, id);
    }

    fn shared_on_host(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::E0505, span, "a `__shared__` variable in a host function")
                .note("shared memory belongs to a block of device threads"),
        );
    }

    /// `static` and `__shared__` variables of a function.
    fn static_in_block(&mut self, request: VarRequest<'a>) {
        let on_device = self.f.space.on_device();
        let memory = match request.memory {
            Memory::Auto if self.f.space.device_only() => Memory::Device,
            Memory::Auto if on_device && self.device_pass() => Memory::Device,
            Memory::Auto => Memory::Host,
            memory => memory,
        };
        let is_static = request.specs.has(StorageKind::Static);
        if memory == Memory::Shared && self.f.space == Space::Host {
            self.shared_on_host(request.memory_span);
        }
        if matches!(request.memory, Memory::Device | Memory::Constant | Memory::Managed)
            && !is_static
        {
            let word = request.memory.word();
            let message = format!("a `{word}` variable inside a function must be `static`");
            self.report(
                Diagnostic::new(Code::E0505, request.memory_span, message)
                    .help("declare it at file scope"),
            );
        }
        let id = self.new_var(&request, memory);
        let function = self.f.func.map(|func| self.func(func).symbol.clone()).unwrap_or_default();
        let text = self.text(request.name.base.name);
        let number = {
            let entry =
                self.facts.static_numbers.entry((function.clone(), text.to_owned())).or_insert(0);
            *entry += 1;
            *entry - 1
        };
        let symbol = mangle::local_variable(&function, text, number);
        let var = self.var_mut(id);
        var.symbol = symbol;
        var.linkage = ir::Linkage::Internal;
        var.in_function = true;
        self.bind_var(request.name.base, id);
        if !self.f.lowered {
            // Only checked: nothing goes into the module.
            self.check_only_static(id, &request, memory);
            return;
        }
        self.define_static(id, &request, memory);
    }

    fn check_only_static(&mut self, id: VarId, request: &VarRequest<'a>, memory: Memory) {
        let text = self.text(request.name.base.name);
        match &request.declarator.init {
            Some(init) if memory == Memory::Shared => {
                self.error(
                    Code::E0506,
                    init.span,
                    "a `__shared__` variable cannot have an initialiser",
                );
            }
            Some(init) => {
                let ty = self.deduced(request.ty, init, text);
                let constant = self.static_initial(id, ty, init, text, memory != Memory::Host);
                self.remember_constant(id, constant.as_ref());
            }
            None => self.check_uninitialised(request),
        }
        self.check_complete(id, request.name.span);
    }

    /// An automatic variable.
    fn local_variable(&mut self, request: VarRequest<'a>) {
        let name = request.name.base;
        let text = self.text(name.name);
        let ty = match &request.declarator.init {
            Some(init) => self.deduced(request.ty, init, text),
            None => {
                self.check_uninitialised(&request);
                if self.has_auto(request.ty) { Basic::Error.into() } else { request.ty }
            }
        };
        let id = self.new_var(&VarRequest { ty, ..request }, Memory::Auto);
        // The bound of an array may come from the initialiser, so the storage is made after it;
        // its name is in scope before.
        let completes = self.types.is_array(ty) && !self.types.is_complete(ty);
        if !completes {
            self.check_complete(id, name.span);
            self.make_local(id);
        }
        self.bind_var(name, id);
        let Some(init) = &request.declarator.init else {
            if completes {
                self.check_complete(id, name.span);
                self.make_local(id);
            }
            self.default_local(id);
            return;
        };
        if self.types.referent(ty).is_some() {
            self.init_reference(id, init);
            return;
        }
        let (ty, node) = self.initializer(ty, init, text);
        self.var_mut(id).ty = ty;
        if completes {
            self.check_complete(id, name.span);
            self.make_local(id);
        }
        self.init_local(id, node, init.span, request.constexpr);
    }

    /// Gives an automatic variable its storage.
    fn make_local(&mut self, id: VarId) {
        let var = self.var(id);
        let (name, ty, align, span) = (var.name, var.ty, var.align, var.span);
        let text = self.text(name).to_owned();
        let local = self.new_local(text, ty, align, span);
        self.f.facts[local.0 as usize].var = Some(id);
        self.var_mut(id).local = Some(local);
        let loc = self.loc(span);
        self.emit(ir::StmtKind::Declare(local), loc);
    }

    /// What a variable without initialiser starts with: nothing, but for `dim3`.
    fn default_local(&mut self, id: VarId) {
        let ty = self.var(id).ty;
        if !self.has_dim3(ty) {
            return;
        }
        let span = self.var(id).span;
        let constant = self.default_const(ty);
        let addr = self.var_address(id, span);
        let (ir_ty, loc) = (self.types.ir_type(ty), self.loc(span));
        let value = ir::Expr::new(ir::ExprKind::Const(constant), ir_ty, loc);
        let store = self.store(addr, value, false, loc);
        self.emit(ir::StmtKind::Expr(store), loc);
    }

    fn init_reference(&mut self, id: VarId, init: &'a ast::Initializer) {
        let (ty, span) = (self.var(id).ty, self.var(id).span);
        let text = self.text(self.var(id).name);
        let expr = match &init.kind {
            ast::InitializerKind::Assign(expr) => expr,
            ast::InitializerKind::Paren(args) if args.len() == 1 => &args[0],
            ast::InitializerKind::Brace(list) if list.items.len() == 1 => &list.items[0].value,
            _ => {
                self.error(Code::E0313, init.span, "a reference is bound to one object");
                return;
            }
        };
        let value = self.expr(expr);
        let pointer = self.convert(value, ty, super::convert::Purpose::Init(text));
        let addr = self.var_address(id, span);
        let loc = self.loc(span);
        let store = self.store(addr, pointer, false, loc);
        self.emit(ir::StmtKind::Expr(store), loc);
    }

    fn init_local(&mut self, id: VarId, node: Node, init_span: Span, constexpr: bool) {
        let (ty, span) = (self.var(id).ty, self.var(id).span);
        if self.types.is_error(ty) {
            return;
        }
        let constant = if self.is_const_object(ty) { self.node_const(&node, ty) } else { None };
        if constexpr && constant.is_none() && !self.node_poisoned(&node) {
            let text = self.text(self.var(id).name);
            let message =
                format!("the initialiser of the `constexpr` variable `{text}` is not constant");
            let mut diagnostic = Diagnostic::new(Code::E0310, init_span, message);
            if let Some(reason) = self.node_not_const(&node) {
                diagnostic = diagnostic.note(reason);
            }
            self.report(diagnostic);
        }
        self.remember_constant(id, constant.as_ref());
        if let Some(local) = self.var(id).local {
            if constexpr {
                self.f.facts[local.0 as usize].value = constant;
            }
            self.note_initialised(local, &node);
        }
        let addr = self.var_address(id, span);
        let mut stores = Vec::new();
        self.node_stores(addr, node, ty, &mut stores);
        let loc = self.loc(span);
        for store in stores {
            self.emit(ir::StmtKind::Expr(store), loc);
        }
    }

    /// A variable declared in a condition; gives its value for the test.
    pub fn condition_decl(&mut self, decl: &'a ast::Decl) -> Value<'a> {
        let before = self.vars.len();
        self.decl(decl);
        if self.vars.len() == before {
            return self.error_value(decl.span);
        }
        let id = VarId(self.vars.len() as u32 - 1);
        let span = self.var(id).span;
        self.var_value(id, span)
    }
}

/// A variable's declaration, taken apart.
#[derive(Clone, Copy)]
struct VarRequest<'a> {
    specs: &'a ast::DeclSpecs,
    declarator: &'a ast::InitDeclarator,
    name: &'a ast::QualName,
    ty: QualType,
    memory: Memory,
    memory_span: Span,
    align: u64,
    constexpr: bool,
}
