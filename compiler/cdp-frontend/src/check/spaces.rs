//! Execution spaces and memory spaces: who may call what, and who may name and write what.

use cdp_ir as ir;
use cdp_ir::{Expr, ExprKind};

use super::ctype::QualType;
use super::scope::{ExecutionSpace, FnId, Memory, VarId};
use super::state::{Checker, PSEUDO_ID};
use super::value::{Kind, Value};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    // --- execution spaces ------------------------------------------------------------------------

    /// Whether the function at hand may call (or take the address of) another.
    pub fn check_call_side(&mut self, id: FnId, span: Span) -> bool {
        if self.around.unevaluated > 0 || !self.f.in_function() {
            return true;
        }
        // nvcc takes this of functions of both sides alone.
        if self.f.space == ExecutionSpace::HostDevice
            && self.device_pass()
            && self.names.func(id).space == ExecutionSpace::Host
            && self.borrows(self.names.func(id).constexpr)
        {
            return true;
        }
        let func = self.names.func(id);
        let (caller, callee) = (self.f.space, func.space);
        let (name, declared, constexpr) = (func.display.clone(), func.span, func.constexpr);
        let from = self.f.func.map_or(String::new(), |id| self.names.func(id).display.clone());
        match (caller, callee) {
            (ExecutionSpace::Device | ExecutionSpace::Global, ExecutionSpace::Host) => {
                let word = caller.word();
                let message = format!(
                    "the host function `{name}` is called from the `{word}` function `{from}`"
                );
                let cure = match constexpr {
                    true => "declare it `__host__ __device__`".to_owned(),
                    // Nobody declares a function of the C library anew.
                    _ if self.is_system(declared) => match name.as_str() {
                        "fprintf" | "puts" | "putchar" | "fputs" => {
                            "device code has `printf`".to_owned()
                        }
                        _ => "call it in host code, before the launch or after it".to_owned(),
                    },
                    false => format!(
                        "declare `{name}` as `__device__`, or `__host__ __device__` to use it on both sides"
                    ),
                };
                self.error(Code::E0501, span, message)
                    .secondary(declared, "declared without `__device__`, so it runs on the host")
                    .help(cure);
                false
            }
            (ExecutionSpace::Host, ExecutionSpace::Device) => {
                let message = format!(
                    "the device function `{name}` is called from the host function `{from}`"
                );
                self.error(Code::E0502, span, message)
                    .secondary(declared, "declared `__device__`, so it runs on the device")
                    .help("launch a kernel that calls it, or declare it `__host__ __device__`");
                false
            }
            (ExecutionSpace::HostDevice, ExecutionSpace::Host) if self.device_pass() => {
                self.warn_one_sided(&name, declared, span, "host");
                true
            }
            (ExecutionSpace::HostDevice, ExecutionSpace::Device) if !self.device_pass() => {
                let message = format!(
                    "the device function `{name}` is called from `{from}`, which also runs on the host"
                );
                self.error(Code::E0502, span, message)
                    .secondary(declared, "declared `__device__`, so it runs on the device")
                    .help("guard the call with `#ifdef __CUDA_ARCH__`");
                false
            }
            _ => true,
        }
    }

    /// Whether a place is in a header of the compiler.
    fn is_system(&self, place: Span) -> bool {
        let sources = &self.session.sources;
        sources.file_of(place.lo).is_some_and(|file| sources.file(file).system)
    }

    /// A `__host__ __device__` function that calls a function of one side: an error on the side
    /// where the function is not.
    fn warn_one_sided(&mut self, name: &str, declared: Span, span: Span, side: &str) {
        let message =
            format!("the {side} function `{name}` is called from a `__host__ __device__` function");
        self.error(Code::E0501, span, message)
                .secondary(declared, "declared without `__device__`")
                .help("guard the call with `#ifndef __CUDA_ARCH__`, or declare the function `__host__ __device__`");
    }

    /// Whether the function at hand may name a variable.
    pub fn check_var_side(&mut self, id: VarId, span: Span) -> bool {
        let var = self.names.var(id);
        if var.memory == Memory::Auto || self.around.unevaluated > 0 {
            return true;
        }
        if self.names.scopes.depth() == 0
            && !self.f.in_function()
            && self.f.space == ExecutionSpace::Host
        {
            // Initialisers of host variables may take the address of managed variables only;
            // anything else shows when the value is read.
            return true;
        }
        let constexpr = var.constexpr;
        let (memory, declared) = (var.memory, var.span);
        let name = self.text(var.name);
        let caller = self.f.space;
        if memory == Memory::Host {
            let on_device = caller.device_only()
                || (caller == ExecutionSpace::HostDevice && self.device_pass());
            if !on_device || self.borrows(constexpr) {
                return true;
            }
            self.report_host_variable(id, span);
            return false;
        }
        if memory == Memory::Managed || caller.on_device() || self.around.symbol_context {
            return true;
        }
        if self.borrows(constexpr) {
            return true;
        }
        let word = memory.word();
        let message = format!("the `{word}` variable `{name}` is used in host code");
        let cure = match memory {
            Memory::Shared => "shared memory exists only while a block of threads runs",
            _ => {
                "copy it with `cudaMemcpyFromSymbol` and `cudaMemcpyToSymbol`, or declare it `__managed__`"
            }
        };
        self.error(Code::E0504, span, message)
            .secondary(declared, "this is in device memory")
            .help(cure);
        false
    }

    /// E0503: device code needs a variable of the host's as an object in memory.
    fn report_host_variable(&mut self, id: VarId, span: Span) {
        let var = self.names.var(id);
        let (constexpr, declared) = (var.constexpr, var.span);
        let name = self.text(var.name);
        let message = format!("the host variable `{name}` is used in device code");
        let cure = match self.is_system(declared) {
            true => "use it in host code, before the launch or after it".to_owned(),
            false if constexpr => format!(
                "read it into a `constexpr` variable of this function, or declare `{name}` as `__device__` or `__constant__`"
            ),
            false => format!(
                "declare `{name}` as `__device__`, `__constant__` or `__managed__`, or pass its value as a parameter"
            ),
        };
        self.error(Code::E0503, span, message)
            .secondary(declared, "this is in the memory of the host program")
            .help(cure);
    }

    // --- `constexpr` objects of the host in device code ---------------------------------------------

    /// The object that device code names by a `constexpr` array or record of the host's. Values are taken from it by
    /// [`Self::taken`]; where none is, [`Self::check_lent`] says that device code has no such object.
    pub fn lent(&mut self, id: VarId, span: Span) -> Option<Value<'a>> {
        let var = self.names.var(id);
        let known = var.memory == Memory::Host
            && var.constexpr
            && self.on_device()
            && self.around.unevaluated == 0
            && self.around.constant == 0
            && self.constants.values.contains_key(&(PSEUDO_ID | id.0));
        if !known {
            return None;
        }
        let ty = var.ty;
        self.f.lent.push((id, span));
        let loc = self.loc(span);
        let pointee = self.types.ir_type(ty);
        let pointer = self.types.ir.pointer_to(pointee);
        let addr = Expr::new(ExprKind::GlobalAddr(ir::GlobalId(PSEUDO_ID | id.0)), pointer, loc);
        Some(Value::lvalue(addr, ty, span))
    }

    /// What is read, as a constant if it is a part of a lent object. nvcc takes elements of arrays in initialisers alone.
    pub fn taken(&mut self, read: Expr) -> Expr {
        if self.f.lent.is_empty() {
            return read;
        }
        let addr = match &read.kind {
            ExprKind::Load { addr, .. } => addr,
            ExprKind::LoadBits { base, .. } => base,
            _ => return read,
        };
        let Some(ExprKind::GlobalAddr(root)) = addr.root().map(|root| &root.kind) else {
            return read;
        };
        let lent = |(id, _): &(VarId, Span)| PSEUDO_ID | id.0 == root.0;
        let Some(at) = self.f.lent.iter().rposition(lent) else { return read };
        let element = matches!(addr.kind, ExprKind::IndexAddr { .. });
        if element && !self.types.ir.is_aggregate(read.ty) && !self.f.initialising {
            return read;
        }
        let Some(value) = self.taken_value(&read) else { return read };
        let value = self.placed_texts(value);
        if !self.may_stand(&value) {
            return read;
        }
        self.f.lent.remove(at);
        Expr { kind: ExprKind::Const(value), ..read }
    }

    /// The value of a load from a lent object; a bit-field's is that of a member of its record.
    fn taken_value(&mut self, read: &Expr) -> Option<ir::Const> {
        let ExprKind::LoadBits { base, field, .. } = &read.kind else {
            return self.evaluator().value(read);
        };
        let record = self.load_from((**base).clone(), false, read.loc);
        match self.evaluator().value(&record)? {
            ir::Const::Record(fields) => {
                let found = fields.into_iter().find(|(at, _)| at == field);
                Some(found.map_or(ir::Const::Zero, |(_, value)| value))
            }
            _ => None,
        }
    }

    /// E0503 where lent objects are used for more than their values. Behind an error nothing is sure.
    pub fn check_lent(&mut self) {
        let lent = std::mem::take(&mut self.f.lent);
        if self.diags.error_count() > self.f.errors_before {
            return;
        }
        for (id, span) in lent {
            self.report_host_variable(id, span);
        }
    }

    // --- writing -----------------------------------------------------------------------------------

    /// E0507: device code writes constant memory.
    pub fn check_constant_memory(&mut self, value: &Value<'a>) -> Option<()> {
        if !self.on_device() || self.around.unevaluated > 0 {
            return Some(());
        }
        let base = match &value.kind {
            Kind::LValue(addr) => addr.root(),
            Kind::BitField { base, .. } => base.root(),
            _ => return Some(()),
        };
        self.check_constant_place(base, value.span)
    }

    /// E0507: a function of CUDA that writes where a parameter points to is given constant memory.
    pub fn check_constant_argument(&mut self, arg: &Expr, param: QualType, span: Span) {
        let written = self.types.pointee(param).is_some_and(|to| !to.is_const());
        if written && self.on_device() && self.around.unevaluated == 0 {
            self.check_constant_place(arg.root(), span);
        }
    }

    /// `base` is the variable, or a part of one, that something of device code writes to.
    fn check_constant_place(&mut self, base: Option<&Expr>, span: Span) -> Option<()> {
        let Some(ExprKind::GlobalAddr(global)) = base.map(|base| &base.kind) else {
            return Some(());
        };
        let Some(info) = self.module.globals.get(global.0 as usize) else { return Some(()) };
        if info.space != ir::AddressSpace::Constant {
            return Some(());
        }
        let name = info.name.clone();
        let declared = self
            .names
            .vars
            .iter()
            .find(|var| var.global == Some(*global))
            .map_or(Span::NONE, |v| v.span);
        let message = format!("device code cannot write `{name}`, which is in constant memory");
        self.error(Code::E0507, span, message)
            .secondary(declared, "declared `__constant__` here")
            .note("constant memory is set by the host before the launch, with `cudaMemcpyToSymbol`")
            .help("declare it `__device__` if kernels write it");
        None
    }
}
