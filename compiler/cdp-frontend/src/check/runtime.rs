//! The device runtime and CUDA's API: what of it a call may use here, and its rules that a compiler
//! can see.

use cdp_ir as ir;
use cdp_ir::RuntimeFn;

use super::builtins::{Header, Lower, Overload};
use super::scope::{ExecutionSpace, FnId};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::diagnostics::Code;
use crate::source::Span;

/// `cudaStreamNonBlocking` and `cudaEventDisableTiming`.
const STREAM_NON_BLOCKING: i128 = 1;
const EVENT_DISABLE_TIMING: i128 = 2;

impl<'a> Checker<'a> {
    /// Whether a row can be used at all: its header is included, the architecture has it.
    pub fn builtin_available(&mut self, overload: &Overload, span: Span) -> bool {
        if self.f.builtin_body {
            return true;
        }
        let row = overload.func;
        if !self.header_included(row.header) {
            let file = row.header.file().unwrap_or_default();
            let message = format!("`{}` is declared in <{file}>, which is not included", row.name);
            self.error(Code::E0301, span, message).help(format!("add `#include <{file}>`"));
            return false;
        }
        let arch = self.options.arch;
        if self.on_device() && self.device_pass() && u32::from(row.min_sm) > arch {
            let message = format!("`{}` needs sm_{}; this is sm_{arch}", row.name, row.min_sm);
            self.error(Code::E0608, span, message)
                .help(format!("compile with `--arch sm_{}` or later", row.min_sm));
            return false;
        }
        true
    }

    /// Whether the program includes the header that nvcc wants for a name.
    pub fn header_included(&mut self, header: Header) -> bool {
        let Some(file) = header.file() else { return true };
        if let Some(&known) = self.builtins.headers.get(file) {
            return known;
        }
        let found = self.session.sources.files().any(|(_, source)| {
            source
                .name
                .strip_suffix(file)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '<', '"', ' ']))
                || source.name.strip_suffix('>').is_some_and(|name| name.ends_with(file))
        });
        self.builtins.headers.insert(file, found);
        found
    }

    /// A row that this side does not have.
    pub fn refuse_builtin(&mut self, overload: &Overload, cure: &str, span: Span) {
        if self.around.unevaluated > 0 {
            return;
        }
        let name = overload.func.name;
        let on_device = self.on_device();
        let (code, message) = match (on_device, name.starts_with("cuda")) {
            (true, true) => (Code::E0602, format!("`{name}` cannot be called in device code")),
            (true, false) => (Code::E0501, format!("`{name}` is a function of the host")),
            (false, _) => (Code::E0509, format!("`{name}` can be called in device code only")),
        };
        let part = "the device runtime has only a part of CUDA's runtime API";
        let note = if code == Code::E0602 { part } else { "" };
        self.error(code, span, message).note(note).help(cure);
    }

    /// The rules of single functions. False when the call cannot be made.
    pub fn check_builtin_call(
        &mut self,
        overload: &Overload,
        lower: Lower,
        args: &[Value<'a>],
        span: Span,
    ) -> bool {
        let name = overload.func.name;
        if !self.on_device() {
            if matches!(name, "printf" | "fprintf" | "snprintf" | "sprintf") {
                let at = usize::from(matches!(name, "fprintf" | "sprintf"))
                    + 2 * usize::from(name == "snprintf");
                self.check_printf(args, at);
            }
            return true;
        }
        match lower {
            Lower::Printf => self.check_printf(args, 0),
            Lower::Runtime(func) => return self.check_runtime(func, overload, args, span),
            _ => {}
        }
        true
    }

    fn check_runtime(
        &mut self,
        func: RuntimeFn,
        overload: &Overload,
        args: &[Value<'a>],
        span: Span,
    ) -> bool {
        match func {
            RuntimeFn::DeviceSynchronize => return self.check_synchronize(span),
            RuntimeFn::StreamCreateWithFlags => {
                if let Some(flags) = self.flag_argument(args)
                    && flags != STREAM_NON_BLOCKING
                {
                    let message = "a stream created on the device must be non-blocking";
                    let place = args[1].span;
                    self.error(Code::W0714, place, message).suggest(
                        "pass the flag",
                        place,
                        "cudaStreamNonBlocking",
                    );
                }
            }
            RuntimeFn::EventCreateWithFlags => {
                if let Some(flags) = self.flag_argument(args)
                    && flags & EVENT_DISABLE_TIMING == 0
                {
                    let message = "an event created on the device must not record times";
                    let place = args[1].span;
                    self.error(Code::W0715, place, message)
                        .note("the call fails with cudaErrorInvalidValue (1) otherwise")
                        .suggest("pass the flag", place, "cudaEventDisableTiming");
                }
            }
            RuntimeFn::MemcpyAsync
            | RuntimeFn::Memcpy2DAsync
            | RuntimeFn::MemsetAsync
            | RuntimeFn::Memset2DAsync => self.check_copy_kind(overload, args),
            _ => {}
        }
        true
    }

    fn flag_argument(&mut self, args: &[Value<'a>]) -> Option<i128> {
        match &args.get(1)?.kind {
            Kind::RValue(expr) => self.const_int_value(expr),
            Kind::ConstVar(_, value) => ir::evaluate::int_of(value),
            _ => None,
        }
    }

    /// `cudaDeviceSynchronize` in device code exists in CDP1 alone.
    fn check_synchronize(&mut self, span: Span) -> bool {
        if self.cdp() != Some(ir::CdpVersion::Cdp2) {
            if self.f.space.device_only() {
                self.check_cdp_arch(span);
            }
            return true;
        }
        let message = "device code cannot wait for its children with `cudaDeviceSynchronize`";
        let old = self.options.arch < 90;
        let other = "or compile with `--cdp 1`, which sm_90 and later do not have";
        self.error(Code::E0601, span, message)
            .note("CUDA 12 removed it from device code (CDP2)")
            .help(
                "put what comes after the wait into a kernel of its own and launch that last into \
                 `cudaStreamTailLaunch`: it runs when all children have finished",
            )
            .help(if old { other } else { "" });
        false
    }

    /// Copies by the device runtime stay on the device.
    fn check_copy_kind(&mut self, overload: &Overload, args: &[Value<'a>]) {
        const HOST_KINDS: [(i128, &str); 3] = [
            (0, "cudaMemcpyHostToHost"),
            (1, "cudaMemcpyHostToDevice"),
            (2, "cudaMemcpyDeviceToHost"),
        ];
        let name = overload.func.name;
        for arg in args {
            let kind = self.types.enum_id(arg.ty).map(|id| &self.types.enumeration(id).name);
            if kind.is_none_or(|kind| kind != "cudaMemcpyKind") {
                continue;
            }
            let Kind::RValue(expr) = &arg.kind else { continue };
            let value = self.const_int_value(expr);
            if let Some((_, word)) = HOST_KINDS.iter().find(|(kind, _)| Some(*kind) == value) {
                let message = format!("`{name}` in device code cannot copy with `{word}`");
                let span = arg.span;
                self.error(Code::W0724, span, message)
                    .note("the device runtime copies within device memory only")
                    .suggest("say so", span, "cudaMemcpyDeviceToDevice");
            }
        }
    }

    /// Formats of the program's own variadic functions are not judged.
    pub fn check_format(&mut self, name: &str, id: FnId, args: &[Value<'a>]) {
        let func = self.names.func(id);
        if !func.extern_c || !func.variadic || func.space != ExecutionSpace::Host {
            return;
        }
        match name {
            "printf" => self.check_printf(args, 0),
            "fprintf" | "sprintf" | "dprintf" => self.check_printf(args, 1),
            "snprintf" => self.check_printf(args, 2),
            "scanf" => self.check_scanf(args, 0),
            "fscanf" | "sscanf" => self.check_scanf(args, 1),
            _ => {}
        }
    }
}
