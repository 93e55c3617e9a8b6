//! Execution spaces and memory spaces: who may call what, who may name what, and where pointers
//! point.
//!
//! Where a pointer points is judged without following control flow: a local pointer variable points
//! to what any assignment in its function gave it. All local or shared: certain, an error. Some:
//! possible, a warning. Anything that came through memory or a call is unknown, and silent.

use cdp_ir as ir;
use cdp_ir::{Expr, ExprKind};

use super::ctype::QualType;
use super::facts::{Deferred, Source, Use};
use super::scope::{ExecutionSpace, FnId, Memory, VarId};
use super::state::{Checker, NO_ID};
use super::value::{Kind, Value};
use crate::diagnostics::Code;
use crate::source::Span;

/// A place that a pointer may point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pointee {
    Local(ir::LocalId),
    Shared(ir::GlobalId),
    Elsewhere,
}

impl<'a> Checker<'a> {
    // --- execution spaces ------------------------------------------------------------------------

    /// Whether the function at hand may call (or take the address of) another.
    pub fn check_call_side(&mut self, id: FnId, span: Span) -> bool {
        if self.unevaluated > 0 || !self.f.in_function() {
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
        let (memory, declared) = (var.memory, var.span);
        let name = self.text(var.name);
        let caller = self.f.space;
        if memory == Memory::Host {
            let on_device = caller.device_only()
                || (caller == ExecutionSpace::HostDevice && self.device_pass());
            if !on_device {
                return true;
            }
            let message = format!("the host variable `{name}` is used in device code");
            let cure = match self.is_system(declared) {
                true => "use it in host code, before the launch or after it".to_owned(),
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
            Kind::LValue(addr) => root(addr),
            Kind::BitField { base, .. } => root(base),
            _ => return Some(()),
        };
        self.check_constant_place(base, value.span)
    }

    /// E0507: a function of CUDA that writes where a parameter points to is given constant memory.
    pub fn check_constant_argument(&mut self, arg: &Expr, param: QualType, span: Span) {
        let written = self.types.pointee(param).is_some_and(|to| !to.is_const());
        if written && self.on_device() && self.unevaluated == 0 {
            self.check_constant_place(root(arg), span);
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

    // --- where pointers point ------------------------------------------------------------------------

    /// Where a pointer value (or the pointers in a record value) came from.
    pub fn sources_of(&self, expr: &Expr) -> Vec<Source> {
        let mut found = Vec::new();
        self.collect_sources(expr, &mut found);
        found
    }

    fn collect_sources(&self, expr: &Expr, found: &mut Vec<Source>) {
        match &expr.kind {
            ExprKind::LocalAddr(local) => found.push(Source::Local(*local)),
            ExprKind::GlobalAddr(global) => {
                let memory = self.memory_of_global(*global);
                found.push(Source::Static(*global, memory));
            }
            ExprKind::FieldAddr { base, .. } | ExprKind::IndexAddr { base, .. } => {
                self.collect_sources(base, found);
            }
            ExprKind::Cast { kind: ir::CastKind::PointerToPointer, operand } => {
                self.collect_sources(operand, found);
            }
            ExprKind::Select { then, otherwise, .. } => {
                self.collect_sources(then, found);
                self.collect_sources(otherwise, found);
            }
            ExprKind::Sequence { value, .. } => self.collect_sources(value, found),
            ExprKind::Load { addr, .. } => match &addr.kind {
                ExprKind::LocalAddr(local) if self.types.ir.is_pointer(expr.ty) => {
                    found.push(Source::Variable(*local));
                }
                _ => found.push(Source::Other),
            },
            ExprKind::MakeRecord(fields) => {
                for (_, field) in fields {
                    if self.types.ir.is_pointer(field.ty) {
                        self.collect_sources(field, found);
                    }
                }
            }
            _ => found.push(Source::Other),
        }
    }

    fn memory_of_global(&self, global: ir::GlobalId) -> Memory {
        if global.0 == NO_ID {
            return Memory::Device;
        }
        match self.module.globals.get(global.0 as usize).map(|global| global.space) {
            Some(ir::AddressSpace::Shared) => Memory::Shared,
            Some(ir::AddressSpace::Constant) => Memory::Constant,
            _ => Memory::Device,
        }
    }

    /// A local gets its first value.
    pub fn note_initialised(&mut self, local: ir::LocalId, node: &super::init::Node) {
        let super::init::Node::Value(expr) = node else {
            if let Some(var) = self.f.facts[local.0 as usize].var
                && let Some(constant) = self.node_const(node, self.var(var).ty)
            {
                self.f.facts[local.0 as usize].initial = Some(constant);
            }
            self.note_uniform_node(local, node);
            return;
        };
        let initial = match self.types.ir.is_aggregate(expr.ty) {
            true => self.const_eval(expr),
            false => None,
        };
        self.note_value(local, expr);
        self.f.facts[local.0 as usize].initial = initial;
    }

    /// A local gets a value.
    fn note_value(&mut self, local: ir::LocalId, expr: &Expr) {
        if self.types.ir.is_pointer(expr.ty) {
            let mut sources = self.sources_of(expr);
            sources.retain(|source| *source != Source::Variable(local));
            let facts = &mut self.f.facts[local.0 as usize];
            for source in sources {
                if !facts.sources.contains(&source) {
                    facts.sources.push(source);
                }
            }
        }
        self.note_uniform(local, expr);
    }

    /// An object changes by assignment, increment or as an asm output; the value is not known.
    pub fn note_changed(&mut self, value: &Value<'a>) {
        let addr = match &value.kind {
            Kind::LValue(addr) => addr,
            Kind::BitField { base, .. } => base,
            _ => return,
        };
        if let Some(ExprKind::LocalAddr(local)) = root(addr).map(|base| &base.kind) {
            let local = *local;
            self.f.facts[local.0 as usize].changed = true;
            let divergent = self.f.conditions.divergent();
            if divergent {
                self.f.facts[local.0 as usize].uniform = false;
            }
        }
    }

    /// `object = value`.
    pub fn note_assigned(&mut self, target: &Value<'a>, value: &Expr) {
        self.note_changed(target);
        let Kind::LValue(addr) = &target.kind else { return };
        match &addr.kind {
            ExprKind::LocalAddr(local) => self.note_value(*local, value),
            _ => {
                if let Some(ExprKind::LocalAddr(local)) = root(addr).map(|base| &base.kind) {
                    self.note_uniform(*local, value);
                }
            }
        }
    }

    /// The address of an object leaves the expression: it may change in ways that are not seen.
    pub fn note_address_taken(&mut self, value: &Value<'a>) {
        let addr = match &value.kind {
            Kind::LValue(addr) => addr,
            _ => return,
        };
        if let Some(ExprKind::LocalAddr(local)) = root(addr).map(|base| &base.kind) {
            self.f.facts[local.0 as usize].escaped = true;
        }
    }

    /// Keeps a pointer argument of a copy for the end of the function.
    pub fn defer_copy(&mut self, value: &Expr, function: &'static str, span: Span) {
        let sources = self.sources_of(value);
        if sources.iter().any(|source| source.matters()) {
            self.f.deferred.push(Deferred { sources, span, purpose: Use::Copy { function } });
        }
    }

    /// All places that the sources may be, variables followed.
    fn places(&self, sources: &[Source]) -> Vec<Pointee> {
        let mut places = Vec::new();
        let mut seen = Vec::new();
        let mut queue = sources.to_vec();
        while let Some(source) = queue.pop() {
            let place = match source {
                Source::Local(local) => Pointee::Local(local),
                Source::Static(global, Memory::Shared) => Pointee::Shared(global),
                Source::Static(..) | Source::Other => Pointee::Elsewhere,
                Source::Variable(local) => {
                    if seen.contains(&local) {
                        continue;
                    }
                    seen.push(local);
                    let facts = &self.f.facts[local.0 as usize];
                    let param = facts.var.is_some_and(|var| self.var(var).is_param);
                    if facts.escaped || param || facts.sources.is_empty() {
                        places.push(Pointee::Elsewhere);
                    }
                    queue.extend(&facts.sources);
                    continue;
                }
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Judges the pointers that were kept while the body was checked.
    pub fn judge_deferred(&mut self) {
        for deferred in std::mem::take(&mut self.f.deferred) {
            let places = self.places(&deferred.sources);
            let bad: Vec<Pointee> =
                places.iter().copied().filter(|place| *place != Pointee::Elsewhere).collect();
            let Some(&first) = bad.first() else { continue };
            let certain = bad.len() == places.len();
            self.report_pointer(&deferred, first, certain);
        }
    }

    fn report_pointer(&mut self, deferred: &Deferred, place: Pointee, certain: bool) {
        let (name, where_, declared, local) = match place {
            Pointee::Local(local) => {
                let info = &self.f.locals[local.0 as usize];
                let var = self.f.facts[local.0 as usize].var;
                let span = var.map_or(Span::NONE, |var| self.var(var).span);
                (info.name.clone(), "local memory of the launching thread", span, true)
            }
            Pointee::Shared(global) => {
                let info = &self.module.globals[global.0 as usize];
                let var = self.vars.iter().find(|var| var.global == Some(global));
                let span = var.map_or(Span::NONE, |var| var.span);
                (info.name.clone(), "shared memory of the launching block", span, false)
            }
            Pointee::Elsewhere => return,
        };
        let kind = if local { "local" } else { "shared" };
        let may = if certain { "points" } else { "may point" };
        let subject = if name.is_empty() {
            format!("a temporary in {kind} memory")
        } else {
            format!("`{name}`")
        };
        let (code, message, cure) = match (&deferred.purpose, certain, local) {
            (Use::LaunchArgument { kernel, number }, certain, local) => {
                let code = match (certain, local) {
                    (true, true) => Code::E0403,
                    (true, false) => Code::E0404,
                    (false, _) => Code::W0710,
                };
                let message = format!(
                    "argument {number} of the launch of `{kernel}` {may} to {subject}, in {kind} memory"
                );
                (
                    code,
                    message,
                    if local {
                        "let it point to global memory: `cudaMalloc`, `new`, or a `__device__` variable"
                    } else {
                        "copy the data to global memory before the launch"
                    },
                )
            }
            (Use::Copy { function }, certain, _) => {
                let code = if certain { Code::E0605 } else { Code::W0711 };
                let message =
                    format!("an argument of `{function}` {may} to {subject}, in {kind} memory");
                (code, message, "copy between places in global memory, or assign in a loop")
            }
        };
        let reason = match deferred.purpose {
            Use::LaunchArgument { .. } => {
                "a child grid cannot reach its parent's local and shared memory"
            }
            Use::Copy { .. } => {
                "the copy may run as a grid of its own, which cannot reach local and shared memory"
            }
        };
        self.error(code, deferred.span, message)
            .secondary(declared, format!("`{name}` lives in {where_}"))
            .note(reason)
            .help(cure);
    }
}

/// The variable that an address is part of, when no pointer is followed.
pub fn root(addr: &Expr) -> Option<&Expr> {
    match &addr.kind {
        ExprKind::LocalAddr(_) | ExprKind::GlobalAddr(_) => Some(addr),
        ExprKind::FieldAddr { base, .. } | ExprKind::IndexAddr { base, .. } => root(base),
        ExprKind::Cast { kind: ir::CastKind::PointerToPointer, operand } => root(operand),
        ExprKind::Sequence { value, .. } => root(value),
        _ => None,
    }
}
