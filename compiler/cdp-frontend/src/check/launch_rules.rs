//! What CUDA forbids about launches: places, parameter buffers that are too large, handles of the parent. What
//! can be seen of a launch in IR is `cdp-lint`'s matter.

use cdp_ir as ir;
use cdp_launch::{MAX_BUFFER_BYTES, MAX_PARAMETER_BYTES, param_align};

use super::ctype::QualType;
use super::scope::{ExecutionSpace, FnId, Func};
use super::state::Checker;
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    // --- where and how ---------------------------------------------------------------------------

    /// Launches that the function at hand, or the options, cannot make.
    pub fn check_launch_place(&mut self, launch: &'a ast::LaunchExpr) {
        if self.f.space == ExecutionSpace::HostDevice {
            let (name, place) = match self.f.func {
                Some(id) => (self.names.func(id).display.clone(), self.names.func(id).space_span),
                None => (String::new(), Span::NONE),
            };
            let message = "a launch in a `__host__ __device__` function";
            self.error(Code::E0409, launch.config_span, message)
                .secondary(place, format!("`{name}` runs on both sides"))
                .note("launches work differently on the two sides, so CUDA allows neither here")
                .help("make two functions, one `__host__` and one `__device__`");
        }
        if !self.f.in_function() {
            self.error(Code::E0413, launch.config_span, "a launch outside a function");
        }
        if self.f.space.device_only() {
            self.check_cdp_arch(launch.config_span);
        }
    }

    /// E0416: CDP1 where it is gone.
    pub fn check_cdp_arch(&mut self, span: Span) {
        if self.cdp() == Some(ir::CdpVersion::Cdp1) && self.options.arch >= 90 {
            let arch = self.options.arch;
            let message = format!("CDP1 is not available on sm_{arch}");
            self.error(Code::E0416, span, message)
                .note("from sm_90 on there is only CDP2, whatever the program was compiled for")
                .help("compile without `--cdp 1`, or for an older architecture");
        }
    }

    /// E0414, E0415: `cudaStreamTailLaunch` and `cudaStreamFireAndForget` where they do not work.
    pub fn check_stream_constant(&mut self, name: &str, span: Span) {
        let named = matches!(name, "cudaStreamTailLaunch" | "cudaStreamFireAndForget");
        if !named || !self.f.space.device_only() || self.around.unevaluated > 0 {
            return;
        }
        if self.cdp() == Some(ir::CdpVersion::Cdp1) {
            let message = format!("`{name}` does not exist in CDP1");
            self.error(Code::E0414, span, message)
                .help("compile with `--cdp 2`, or wait with `cudaDeviceSynchronize()`");
        } else if self.options.v1_launch_abi {
            let message = format!("the chosen launch ABI cannot launch into `{name}`");
            self.error(Code::E0415, span, message)
                .note(
                    "launches of the v1 ABI into it fail with cudaErrorInvalidValue (1) \
                         and the child never runs",
                )
                .help("compile with `--launch-abi cdp2-v2` (the default for CDP2)");
        }
    }

    // --- parameter buffers -------------------------------------------------------------------------

    /// Offset, size of each parameter in the buffer, and the total.
    pub fn buffer_layout(&mut self, params: &[QualType]) -> (Vec<(u64, u64)>, u64) {
        let mut end = 0u64;
        let mut places = Vec::with_capacity(params.len());
        for &param in params {
            let ty = self.types.ir_type(param);
            let layout = self.types.ir.layout(ty);
            let align = param_align(layout.align.max(1));
            let offset = ir::types::round_up(end, align);
            places.push((offset, layout.size));
            end = offset.saturating_add(layout.size);
        }
        (places, end)
    }

    /// A kernel that cannot be launched from anywhere.
    pub fn check_parameter_bytes(&mut self, func: &Func, params: &[QualType]) {
        if !params.iter().all(|&ty| self.types.is_complete(ty) && !self.types.is_error(ty)) {
            return;
        }
        let (places, total) = self.buffer_layout(params);
        if total <= MAX_PARAMETER_BYTES {
            return;
        }
        let message = format!(
            "the parameters of `{}` take {total} bytes; at most {MAX_PARAMETER_BYTES} are possible",
            func.display
        );
        let table = self.parameter_table(func, params, &places);
        self.error(Code::E0405, func.span, message)
            .note(table)
            .help("pass a pointer to global memory");
    }

    /// E0405: a device-side launch with more than 4,096 bytes of parameters.
    pub fn check_device_bytes(
        &mut self,
        name: &str,
        target: Option<FnId>,
        params: &[QualType],
        launch: &'a ast::LaunchExpr,
    ) {
        let (places, total) = self.buffer_layout(params);
        if !(MAX_BUFFER_BYTES + 1..=MAX_PARAMETER_BYTES).contains(&total) {
            return;
        }
        let message = format!(
            "the parameters of `{name}` take {total} bytes; a launch from the device has room for \
             {MAX_BUFFER_BYTES}"
        );
        let (mut kernel, mut table) = (Span::NONE, String::new());
        if let Some(id) = target {
            let func = self.names.func(id).clone();
            kernel = func.span;
            table = self.parameter_table(&func, params, &places);
        }
        self.error(Code::E0405, launch.args_span, message)
            .secondary(kernel, "the kernel")
            .note(table)
            .help("pass a pointer to global memory");
    }

    pub fn parameter_table(
        &self,
        func: &Func,
        params: &[QualType],
        places: &[(u64, u64)],
    ) -> String {
        let mut table = String::from("the parameter buffer:\noffset    size  parameter");
        for (index, (offset, size)) in places.iter().enumerate() {
            let name = func.params.get(index).and_then(|param| param.name);
            let name = name.map_or(String::new(), |name| self.text(name.name).to_owned());
            let ty = self.types.show_around(params[index], name);
            table.push_str(&format!("\n{offset:>6}  {size:>6}  {ty}"));
        }
        table
    }

    // --- warnings --------------------------------------------------------------------------------

    /// Streams and events of the parent, given to the child.
    pub fn warn_handles(&mut self, params: &[QualType], launch: &'a ast::LaunchExpr) {
        for (&param, arg) in params.iter().zip(&launch.args) {
            let Some(pointee) = self.types.pointee(param) else { continue };
            let Some(id) = self.types.record_id(pointee) else { continue };
            let what = match (self.types.record(id).builtin, self.types.record(id).name.as_str()) {
                (true, "CUstream_st") => "stream",
                (true, "CUevent_st") => "event",
                _ => continue,
            };
            let message = format!("a {what} of this grid is passed to a child");
            self.error(Code::W0716, arg.span, message)
                .note("a handle is valid in the grid that created it only");
        }
    }
}
