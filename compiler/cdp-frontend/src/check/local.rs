//! Variables of functions: automatic ones, `static` and `__shared__` ones, and `extern` ones of
//! blocks.

use cdp_ir as ir;

use super::ctype::Basic;
use super::init::Node;
use super::mangle;
use super::scope::{Entity, ExecutionSpace, Memory, VarId};
use super::state::Checker;
use super::value::{Kind, Value};
use super::variable::VarRequest;
use crate::ast::{self, StorageKind};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// `extern int x;` in a block: the variable of the namespace around.
    pub fn extern_in_block(&mut self, request: VarRequest<'a>) {
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
        if memory == Memory::Shared && self.f.space == ExecutionSpace::Host {
            self.shared_on_host(request.memory_span);
        }
        let existing = self.names.scopes.member(self.names.scopes.here(), name.base.name).copied();
        let hidden =
            self.linkage.block_externs.get(&(self.names.scopes.here(), name.base.name)).copied();
        let found = match existing.and_then(|slot| slot.other) {
            Some(Entity::Var(id)) => Some(id),
            _ => hidden,
        };
        let id = match found {
            Some(id) => {
                let first = self.names.var(id).span;
                self.redeclare(id, &request, memory, first);
                id
            }
            None => {
                let id = self.new_var(&request, memory);
                self.name_symbol(id, false);
                self.linkage.block_externs.insert((self.names.scopes.here(), name.base.name), id);
                id
            }
        };
        self.bind_var(name.base, id);
    }

    pub fn shared_on_host(&mut self, span: Span) {
        self.error(Code::E0505, span, "a `__shared__` variable in a host function")
            .note("shared memory belongs to a block of device threads");
    }

    /// `static` and `__shared__` variables of a function.
    pub fn static_in_block(&mut self, request: VarRequest<'a>) {
        let on_device = self.f.space.on_device();
        let memory = match request.memory {
            Memory::Auto if self.f.space.device_only() => Memory::Device,
            Memory::Auto if on_device && self.device_pass() => Memory::Device,
            Memory::Auto => Memory::Host,
            memory => memory,
        };
        let is_static = request.specs.has(StorageKind::Static);
        if memory == Memory::Shared && self.f.space == ExecutionSpace::Host {
            self.shared_on_host(request.memory_span);
        }
        if matches!(request.memory, Memory::Device | Memory::Constant | Memory::Managed)
            && !is_static
        {
            let word = request.memory.word();
            let message = format!("a `{word}` variable inside a function must be `static`");
            self.error(Code::E0505, request.memory_span, message).help("declare it at file scope");
        }
        let id = self.new_var(&request, memory);
        let function =
            self.f.func.map(|func| self.names.func(func).symbol.clone()).unwrap_or_default();
        let text = self.text(request.name.base.name);
        let number = {
            let entry =
                self.linkage.static_numbers.entry((function.clone(), text.to_owned())).or_insert(0);
            *entry += 1;
            *entry - 1
        };
        let symbol = mangle::local_variable(&function, text, number);
        let var = self.names.var_mut(id);
        var.symbol = symbol;
        var.linkage = ir::Linkage::Internal;
        var.in_function = true;
        self.bind_var(request.name.base, id);
        self.define_static(id, &request, memory);
    }

    /// An automatic variable.
    pub fn local_variable(&mut self, request: VarRequest<'a>) {
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
        let outer = std::mem::take(&mut self.around.borrowed);
        let initialising = std::mem::replace(&mut self.f.initialising, true);
        let (ty, node) =
            self.constant_if(request.constexpr, |checker| checker.initializer(ty, init, text));
        self.f.initialising = initialising;
        if !self.types.is_error(self.names.var(id).ty) {
            self.names.var_mut(id).ty = ty;
        }
        if completes {
            self.check_complete(id, name.span);
            self.make_local(id);
        }
        self.init_local(id, node, init.span, request.constexpr);
        self.around.borrowed = outer;
    }

    /// Gives an automatic variable its storage.
    pub fn make_local(&mut self, id: VarId) {
        let var = self.names.var(id);
        let (name, ty, align, span) = (var.name, var.ty, var.align, var.span);
        let text = self.text(name).to_owned();
        let local = self.new_local(text, ty, align, span);
        self.f.facts[local.0 as usize].var = Some(id);
        self.names.var_mut(id).local = Some(local);
        let loc = self.loc(span);
        self.emit(ir::StmtKind::Declare(local), loc);
    }

    /// What a variable without initialiser starts with: nothing, but for `dim3`.
    pub fn default_local(&mut self, id: VarId) {
        let ty = self.names.var(id).ty;
        if !self.has_defaults(ty) {
            return;
        }
        let span = self.names.var(id).span;
        let constant = self.default_const(ty);
        if let Some(local) = self.names.var(id).local.filter(|_| self.names.var(id).constexpr) {
            self.f.facts[local.0 as usize].value = Some(constant.clone());
        }
        let addr = self.var_address(id, span);
        let loc = self.loc(span);
        let value = self.const_expr(constant, ty, loc);
        self.emit_store(addr, value, loc);
    }

    /// What the initialiser of a reference binds it to.
    pub fn bound_value(&mut self, init: &'a ast::Initializer) -> Option<Value<'a>> {
        match &init.kind {
            ast::InitializerKind::Assign(expr) => Some(self.expr(expr)),
            ast::InitializerKind::Paren(args) if args.len() == 1 => Some(self.expr(&args[0])),
            ast::InitializerKind::Brace(list) => {
                Some(Value::new(Kind::Braces(list), Basic::Error.into(), init.span))
            }
            ast::InitializerKind::Paren(_) => {
                self.error(Code::E0313, init.span, "a reference is bound to one object");
                None
            }
        }
    }

    pub fn init_reference(&mut self, id: VarId, init: &'a ast::Initializer) {
        let (ty, span) = (self.names.var(id).ty, self.names.var(id).span);
        let text = self.text(self.names.var(id).name);
        let Some(value) = self.bound_value(init) else { return };
        let pointer = self.convert(value, ty, super::convert::Purpose::Init(text));
        let addr = self.var_address(id, span);
        let loc = self.loc(span);
        self.emit_store(addr, pointer, loc);
    }

    pub fn init_local(&mut self, id: VarId, node: Node, init_span: Span, constexpr: bool) {
        let (ty, span) = (self.names.var(id).ty, self.names.var(id).span);
        if self.types.is_error(ty) {
            return;
        }
        let borrowed = constexpr && self.around.borrowed;
        let constant = match self.is_const_object(ty) {
            true => self.constant_if(borrowed, |checker| checker.node_const(&node, ty)),
            false => None,
        };
        let constant = constant.map(|value| self.placed_texts(value));
        if constant.as_ref().is_some_and(|value| !self.is_placed(id, value, init_span)) {
            return;
        }
        if constexpr && constant.is_none() && !self.node_poisoned(&node) {
            let text = self.text(self.names.var(id).name);
            let message =
                format!("the initialiser of the `constexpr` variable `{text}` is not constant");
            let reason = self.node_not_const(&node).unwrap_or_default();
            self.error(Code::E0310, init_span, message).note(reason);
        }
        self.remember_constant(id, constant.as_ref());
        if let Some(local) = self.names.var(id).local.filter(|_| constexpr) {
            self.f.facts[local.0 as usize].value = constant.clone();
        }
        // Of the other side's functions and variables only the value is taken.
        let node = match (&constant, borrowed) {
            (Some(value), true) => {
                let loc = self.loc(init_span);
                Node::Value(self.const_expr(value.clone(), ty, loc))
            }
            _ => node,
        };
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
        let before = self.names.vars.len();
        self.decl(decl);
        if self.names.vars.len() == before {
            return self.error_value(decl.span);
        }
        let id = VarId(self.names.vars.len() as u32 - 1);
        let span = self.names.var(id).span;
        self.var_value(id, span)
    }
}
