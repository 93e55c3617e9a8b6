//! Variables with static storage: memory spaces, linkage, redeclarations, constant initial values.
//! Automatic variables and those of functions are in `local`.

use cdp_ir as ir;

use super::ctype::{Basic, QualType, Quals};
use super::init::Node;
use super::init_value::scalar_const;
use super::mangle;
use super::scope::{Entity, ExecutionSpace, Memory, Var, VarId};
use super::state::Checker;
use crate::ast::{self, AttrKind, CudaWord, StorageKind};
use crate::diagnostics::Code;
use crate::source::Span;

/// The largest object with `dim3` parts that an initialiser is made for.
pub const MAX_DEFAULT_BYTES: u64 = 1 << 24;

/// A variable's declaration, taken apart.
#[derive(Clone, Copy)]
pub struct VarRequest<'a> {
    pub specs: &'a ast::DeclSpecs,
    pub declarator: &'a ast::InitDeclarator,
    pub name: &'a ast::QualName,
    pub ty: QualType,
    pub memory: Memory,
    pub memory_span: Span,
    pub align: u64,
    pub constexpr: bool,
}

impl<'a> Checker<'a> {
    /// The memory-space words of a declaration.
    pub fn memory_of(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::Declarator,
    ) -> (Memory, Span) {
        let mut memory = Memory::Auto;
        let mut place = Span::NONE;
        for attr in specs.attrs.iter().chain(&declarator.attrs) {
            let next = match &attr.kind {
                AttrKind::Cuda(CudaWord::Device) => Memory::Device,
                AttrKind::Cuda(CudaWord::Constant) => Memory::Constant,
                AttrKind::Cuda(CudaWord::Shared) => Memory::Shared,
                AttrKind::Cuda(CudaWord::Managed) => Memory::Managed,
                AttrKind::Cuda(CudaWord::Global)
                | AttrKind::Cuda(CudaWord::Host)
                | AttrKind::LaunchBounds(_) => {
                    let message = "this word belongs to functions, not to variables";
                    self.error(Code::E0505, attr.span, message);
                    continue;
                }
                AttrKind::Cuda(CudaWord::GridConstant) => {
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
                    self.error(Code::E0505, attr.span, message)
                        .secondary(place, "the other memory space");
                }
            }
            place = attr.span;
        }
        (memory, place)
    }

    pub fn variable(
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
        if let Some(span) = specs.storage_span(StorageKind::Inline)
            && self.names.scopes.depth() > 0
        {
            self.error(Code::E0316, span, "`inline` on a variable of a function");
        }
        let constexpr = specs.has(StorageKind::Constexpr);
        let ty = if constexpr { self.qualify(ty, Quals::CONST) } else { ty };
        let ty = self.object_type(ty, name.span);
        let local = self.names.scopes.depth() > 0;
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
    pub fn object_type(&mut self, ty: QualType, span: Span) -> QualType {
        if self.types.is_void(ty) {
            self.error(Code::E0316, span, "a variable of type `void`");
            return Basic::Error.into();
        }
        ty
    }

    /// A `Var` as its declaration describes it.
    pub fn new_var(&mut self, request: &VarRequest<'a>, memory: Memory) -> VarId {
        self.names.vars.push(Var {
            constexpr: request.constexpr,
            align: request.align,
            uses: u32::from(self.is_maybe_unused(request)),
            around: (self.f.loop_depth, self.f.branch_depth),
            initialised: request.declarator.init.is_some(),
            ..Var::new(request.name.base, request.ty, memory)
        });
        VarId(self.names.vars.len() as u32 - 1)
    }

    fn is_maybe_unused(&self, request: &VarRequest<'a>) -> bool {
        let attrs = request.specs.attrs.iter().chain(&request.declarator.declarator.attrs);
        attrs.into_iter().any(|attr| match &attr.kind {
            ast::AttrKind::Gnu { name, .. } => self.text(name.name) == "unused",
            ast::AttrKind::Std { name, .. } => {
                matches!(self.text(name.name), "maybe_unused" | "unused")
            }
            _ => false,
        })
    }

    /// Binds a variable's name in the open scope; reports a clash.
    pub fn bind_var(&mut self, name: ast::Ident, id: VarId) {
        let slot = self.names.scopes.declare(name.name);
        let before = *slot;
        slot.other = Some(Entity::Var(id));
        slot.span = name.span;
        if let Some(first) = before.other {
            self.redefinition(name, before.span);
            let same = matches!(first, Entity::Var(first) if self.names.var(first).ty == self.names.var(id).ty);
            if !same {
                // Nobody knows which of the two is meant from here on.
                self.names.var_mut(id).ty = Basic::Error.into();
            }
        } else if let Some(first) = self.names.scopes.in_head(name.name) {
            self.redefinition(name, first.span);
        }
    }

    pub fn file_variable(&mut self, request: VarRequest<'a>) {
        let name = request.name;
        let memory = if request.memory == Memory::Auto { Memory::Host } else { request.memory };
        let is_extern = request.specs.has(StorageKind::Extern) || self.linkage.implied_extern;
        let outer = self.names.scopes.here();
        if name.as_plain().is_none() {
            let Some(scope) = self.declared_scope(name) else { return };
            self.names.scopes.open(scope);
        }
        self.check_shared_bound(&request, memory, is_extern);
        let existing = self.names.scopes.member(self.names.scopes.here(), name.base.name).copied();
        let id = match existing.and_then(|slot| slot.other) {
            Some(Entity::Var(id)) => {
                let first = existing.map_or(Span::NONE, |slot| slot.span);
                if !self.redeclare(id, &request, memory, first) {
                    self.names.scopes.open(outer);
                    return;
                }
                id
            }
            Some(_) => {
                self.redefinition(name.base, existing.map_or(Span::NONE, |slot| slot.span));
                self.names.scopes.open(outer);
                return;
            }
            None => {
                let id = match self
                    .linkage
                    .block_externs
                    .get(&(self.names.scopes.here(), name.base.name))
                    .copied()
                {
                    Some(id) => self.declared_in_block(id, &request, memory),
                    None => {
                        let id = self.new_var(&request, memory);
                        let constant = self.is_const_object(request.ty)
                            && !is_extern
                            && !self.linkage.extern_c;
                        let inline = request.specs.has(StorageKind::Inline);
                        let internal =
                            request.specs.has(StorageKind::Static) || (constant && !inline);
                        self.name_symbol(id, internal);
                        if inline && self.names.var(id).linkage == ir::Linkage::External {
                            self.names.var_mut(id).linkage = ir::Linkage::LinkOnce;
                        }
                        id
                    }
                };
                let slot = self.names.scopes.declare(name.base.name);
                slot.other = Some(Entity::Var(id));
                slot.span = name.base.span;
                id
            }
        };
        let defines = !is_extern || request.declarator.init.is_some();
        if defines {
            self.around.host_variable = memory == Memory::Host;
            self.define_static(id, &request, memory);
            self.around.host_variable = false;
        } else if !self.types.is_error(request.ty) && request.constexpr {
            let message = "a `constexpr` variable needs an initialiser";
            self.error(Code::E0313, name.span, message);
        }
        self.names.scopes.open(outer);
    }

    /// Gives a variable of the open namespace its symbol and its linkage.
    pub fn name_symbol(&mut self, id: VarId, internal: bool) {
        let internal = internal || self.names.scopes.is_internal(self.names.scopes.here());
        let text = self.text(self.names.var(id).name);
        let symbol = if self.linkage.extern_c && !internal {
            text.to_owned()
        } else {
            mangle::variable(
                &self.types,
                &self.names.scopes,
                self.names.scopes.here(),
                text,
                internal,
            )
        };
        let var = self.names.var_mut(id);
        var.symbol = symbol;
        var.linkage = if internal { ir::Linkage::Internal } else { ir::Linkage::External };
    }

    /// A declaration of the namespace for a variable that an `extern` of a block declared before:
    /// one variable, with the linkage that it had there.
    fn declared_in_block(&mut self, id: VarId, request: &VarRequest<'a>, memory: Memory) -> VarId {
        let first = self.names.var(id).span;
        self.redeclare(id, request, memory, first);
        let external = self.names.var(id).linkage != ir::Linkage::Internal;
        if external && request.specs.has(StorageKind::Static) {
            let text = self.text(request.name.base.name);
            let message = format!("`{text}` is `static` here but not before");
            self.error(Code::E0302, request.name.span, message)
                .secondary(first, "first declared here");
        } else if external && request.specs.has(StorageKind::Inline) {
            self.names.var_mut(id).linkage = ir::Linkage::LinkOnce;
        }
        id
    }

    /// `extern __shared__` arrays have no bound; other shared variables have one.
    pub fn check_shared_bound(
        &mut self,
        request: &VarRequest<'a>,
        memory: Memory,
        is_extern: bool,
    ) {
        if memory != Memory::Shared || !is_extern {
            return;
        }
        let unbounded = self.types.array(request.ty).is_some_and(|(_, len)| len.is_none());
        if !unbounded && !self.types.is_error(request.ty) {
            let message = "an `extern __shared__` variable is an array without a bound";
            let text = self.text(request.name.base.name);
            self.error(Code::E0505, request.name.span, message)
                .note("its size is the launch's third configuration argument")
                .help(format!("write `extern __shared__ int {text}[];`"));
        }
    }

    /// Whether a further declaration is of the same variable as the first; an error if not.
    pub fn redeclare(
        &mut self,
        id: VarId,
        request: &VarRequest<'a>,
        memory: Memory,
        first: Span,
    ) -> bool {
        let var = self.names.var(id);
        let (old_ty, old_memory) = (var.ty, var.memory);
        if self.types.is_error(old_ty) || self.types.is_error(request.ty) {
            return true;
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
            self.error(Code::E0302, request.name.span, message)
                .secondary(first, "first declared here");
            return false;
        }
        if old_memory != memory {
            let text = self.text(request.name.base.name);
            let message = format!(
                "`{text}` is declared in {} and in {} memory",
                old_memory.word(),
                memory.word()
            );
            self.error(Code::E0302, request.name.span, message)
                .secondary(first, "first declared here");
            return false;
        }
        if completes && self.types.is_complete(request.ty) {
            self.names.var_mut(id).ty = request.ty;
        }
        true
    }

    /// Gives a static variable its storage and initial value.
    pub fn define_static(&mut self, id: VarId, request: &VarRequest<'a>, memory: Memory) {
        let name = request.name;
        let text = self.text(name.base.name);
        if self.names.var(id).defined {
            let first = self.names.var(id).span;
            self.redefinition(name.base, first);
            return;
        }
        self.names.var_mut(id).defined = true;
        let device = !matches!(memory, Memory::Host);
        let constant = match &request.declarator.init {
            Some(init) if memory == Memory::Shared => {
                self.error(
                    Code::E0506,
                    init.span,
                    "a `__shared__` variable cannot have an initialiser",
                )
                .help("let one thread assign it, then call `__syncthreads()`");
                None
            }
            Some(init) => {
                let ty = self.deduced(request.ty, init, text);
                let side = if device { ExecutionSpace::Device } else { ExecutionSpace::Host };
                let outer = std::mem::replace(&mut self.f.space, side);
                let skipped = device != self.device_pass();
                let before = std::mem::replace(&mut self.f.discard_ir, skipped);
                let constant = self.constant_if(self.names.var(id).constexpr, |checker| {
                    checker.static_initial(id, ty, init, text, device)
                });
                let constant = constant.map(|value| self.placed_texts(value));
                let constant = constant.filter(|value| self.is_placed(id, value, init.span));
                self.f.discard_ir = before;
                self.f.space = outer;
                constant
            }
            None => {
                self.check_uninitialised(request);
                self.check_default_initialised(request, memory);
                self.check_complete(id, name.span);
                let ty = self.names.var(id).ty;
                let ones = memory != Memory::Shared && self.has_defaults(ty);
                let constant = ones.then(|| self.default_const(ty));
                let own = device == self.device_pass();
                constant.map(|value| if own { self.placed_texts(value) } else { value })
            }
        };
        self.check_complete(id, name.span);
        self.remember_constant(id, constant.as_ref());
        let known = self.known_aggregate(id, constant.as_ref());
        let belongs = if self.device_pass() { device } else { memory != Memory::Shared };
        let ty = self.names.var(id).ty;
        // Of a body that is only checked nothing goes into the module.
        if self.f.skips() || !belongs || self.types.is_error(ty) || !self.types.is_complete(ty) {
            return;
        }
        let init = request.declarator.init.as_ref().map_or(name.span, |init| init.span);
        self.check_variable_size(id, memory, constant.as_ref(), init);
        let global = self.make_ir_global(id);
        let ir_ty = self.types.ir_type(ty);
        let on_device = self.device_pass();
        if let Some(known) = known {
            self.constants.values.insert(global.0, known);
        }
        let (linkage, align) =
            (self.names.var(id).linkage, self.names.var(id).align.max(request.align));
        let natural = self.types.ir.layout(ir_ty).align;
        let entry = &mut self.module.globals[global.0 as usize];
        entry.ty = ir_ty;
        entry.defined = true;
        // A use may have come before the definition, which says more.
        entry.linkage = linkage;
        entry.align = entry.align.max(align).max(natural);
        // The shadow of a device variable on the host holds no value.
        entry.init = if on_device || !device { constant } else { None };
        self.claim_symbol(id);
    }

    /// Keeps what a `constexpr` variable holds, whichever side it is on, for constant expressions.
    fn known_aggregate(
        &mut self,
        id: VarId,
        constant: Option<&ir::Const>,
    ) -> Option<std::rc::Rc<(ir::Const, ir::TypeId)>> {
        let ty = self.names.var(id).ty;
        if !self.names.var(id).constexpr || !self.is_const_object(ty) {
            return None;
        }
        let known = std::rc::Rc::new((constant?.clone(), self.types.ir_type(ty)));
        self.constants.values.insert(super::state::PSEUDO_ID | id.0, known.clone());
        Some(known)
    }

    /// Whether the module at hand has what the value of a `constexpr` variable names; E0310 if not.
    pub fn is_placed(&mut self, id: VarId, value: &ir::Const, span: Span) -> bool {
        let placed = self.may_stand(value);
        if !placed {
            let text = self.text(self.names.var(id).name);
            let message = format!("`{text}` would hold an address of the other side's memory");
            self.error(Code::E0310, span, message)
                .help("declare what it points to on the side where it is used");
        }
        placed
    }

    /// `const`, or an array of `const` elements.
    pub fn is_const_object(&self, ty: QualType) -> bool {
        match self.types.array(ty) {
            Some((elem, _)) => self.is_const_object(elem),
            None => ty.is_const(),
        }
    }

    /// Two definitions of one symbol.
    pub fn claim_symbol(&mut self, id: VarId) {
        let (symbol, span) = (self.names.var(id).symbol.clone(), self.names.var(id).span);
        self.claim(symbol, span);
    }

    /// Records a symbol's definition; E0302 when another definition has it.
    pub fn claim(&mut self, symbol: String, span: Span) {
        if let Some(&first) = self.linkage.symbols.get(&symbol) {
            let message = format!("the symbol `{symbol}` is defined twice");
            self.error(Code::E0302, span, message).secondary(first, "the other definition");
            return;
        }
        self.linkage.symbols.insert(symbol, span);
    }

    pub fn static_initial(
        &mut self,
        id: VarId,
        ty: QualType,
        init: &'a ast::Initializer,
        text: &str,
        device: bool,
    ) -> Option<ir::Const> {
        self.names.var_mut(id).ty = ty;
        if self.types.referent(ty).is_some() {
            let value = self.bound_value(init)?;
            let node = Node::Value(self.convert(value, ty, super::convert::Purpose::Init(text)));
            return self.static_const(&node, ty, init.span, device);
        }
        let (ty, node) = self.initializer(ty, init, text);
        self.names.var_mut(id).ty = ty;
        if self.types.is_error(ty) {
            return None;
        }
        if self.names.var(id).constexpr
            && self.node_const(&node, ty).is_none()
            && !self.node_poisoned(&node)
        {
            let message =
                format!("`{text}` is `constexpr`, but its value is not known when compiling");
            let reason = self.node_not_const(&node).unwrap_or_default();
            self.error(Code::E0310, init.span, message).note(reason);
            return None;
        }
        self.static_const(&node, ty, init.span, device)
    }

    pub fn check_uninitialised(&mut self, request: &VarRequest<'a>) {
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
        } else if self.is_const_object(ty)
            && !self.all_defaulted(ty)
            && (request.constexpr || !self.given_from_outside(request))
        {
            let message = format!("`{text}` is `const` and needs an initialiser");
            self.error(Code::E0313, name.span, message);
        }
    }

    /// `__constant__ const` variables may be set by the host.
    pub fn given_from_outside(&self, request: &VarRequest<'a>) -> bool {
        matches!(request.memory, Memory::Constant | Memory::Shared)
    }

    pub fn check_complete(&mut self, id: VarId, span: Span) {
        let ty = self.names.var(id).ty;
        if self.types.is_error(ty) || self.has_auto(ty) {
            self.names.var_mut(id).ty =
                if self.types.is_error(ty) { ty } else { Basic::Error.into() };
            return;
        }
        if !self.types.is_complete(ty) {
            let message = match self.types.array(ty) {
                Some((_, None)) => "an array without a bound needs an initialiser".to_owned(),
                _ => format!("a variable of the incomplete type {}", self.show(ty)),
            };
            self.error(Code::E0308, span, message);
            self.names.var_mut(id).ty = Basic::Error.into();
            return;
        }
        // The ones that `dim3` starts with are written out.
        if self.has_defaults(ty) && self.types.layout(ty).size > MAX_DEFAULT_BYTES {
            self.error(Code::E0312, span, "the object is too large for its initial values");
            self.names.var_mut(id).ty = Basic::Error.into();
        }
    }

    /// Keeps the value of a constant, for constant expressions.
    pub fn remember_constant(&mut self, id: VarId, constant: Option<&ir::Const>) {
        let var = self.names.var(id);
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
            self.names.var_mut(id).value = Some(constant.clone());
        }
    }
}
