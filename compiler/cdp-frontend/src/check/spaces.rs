//! Execution spaces and memory spaces: who may call what, and who may name and write what.

use cdp_ir as ir;
use cdp_ir::{Expr, ExprKind};

use super::ctype::QualType;
use super::scope::{ExecutionSpace, FnId, Memory, VarId};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    // --- execution spaces ------------------------------------------------------------------------

    /// Whether the function at hand may call (or take the address of) another.
    pub fn check_call_side(&mut self, id: FnId, span: Span) -> bool {
        if self.unevaluated > 0 || !self.f.in_function() {
            return true;
        }
        // nvcc takes this of functions of both sides alone.
        if self.f.space == ExecutionSpace::HostDevice
            && self.device_pass()
            && self.func(id).space == ExecutionSpace::Host
            && self.borrows(self.func(id).constexpr)
        {
            return true;
        }
        let func = self.func(id);
        let (caller, callee) = (self.f.space, func.space);
        let (name, declared, constexpr) = (func.display.clone(), func.span, func.constexpr);
        let from = self.f.func.map_or(String::new(), |id| self.func(id).display.clone());
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
        let var = self.var(id);
        if var.memory == Memory::Auto || self.unevaluated > 0 {
            return true;
        }
        if self.scopes.depth() == 0 && !self.f.in_function() && self.f.space == ExecutionSpace::Host
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
            return false;
        }
        if memory == Memory::Managed || caller.on_device() || self.facts.symbol_context {
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

    // --- writing -----------------------------------------------------------------------------------

    /// E0507: device code writes constant memory.
    pub fn check_constant_memory(&mut self, value: &Value<'a>) -> Option<()> {
        if !self.on_device() || self.unevaluated > 0 {
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
        if written && self.on_device() && self.unevaluated == 0 {
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
        let declared =
            self.vars.iter().find(|var| var.global == Some(*global)).map_or(Span::NONE, |v| v.span);
        let message = format!("device code cannot write `{name}`, which is in constant memory");
        self.error(Code::E0507, span, message)
            .secondary(declared, "declared `__constant__` here")
            .note("constant memory is set by the host before the launch, with `cudaMemcpyToSymbol`")
            .help("declare it `__device__` if kernels write it");
        None
    }
}
