//! Variables that no device has room for: said here, with a place, before other tools take long to say it
//! without one.

use cdp_ir as ir;
use cdp_launch::limits::MAX_STATIC_SHARED_BYTES;

use super::scope::{Memory, VarId};
use super::state::Checker;
use crate::diagnostics::Code;
use crate::source::Span;

/// Constant memory of a program (CUDA guide, table of compute capabilities).
const CONSTANT_BYTES: u64 = 64 << 10;
/// The largest variable whose initial values are written out: addresses in an object file of this size and more do
/// not fit into its relocations.
const INITIAL_BYTES: u64 = i32::MAX as u64;

impl<'a> Checker<'a> {
    /// Judges the size of a variable that is being defined. `init` is the place of its initial value.
    pub fn check_variable_size(
        &mut self,
        id: VarId,
        memory: Memory,
        constant: Option<&ir::Const>,
        init: Span,
    ) {
        let ty = self.names.var(id).ty;
        let size = self.types.layout(ty).size;
        if size > INITIAL_BYTES && constant.is_some_and(|constant| !is_zero(constant)) {
            let message = format!("the object takes {size} bytes, too many for initial values");
            self.error(Code::E0312, init, message)
                .help("leave the initialiser out, and write the values when the program runs");
        }
        match memory {
            Memory::Constant if self.device_pass() => self.check_constant_bytes(id, size),
            Memory::Shared if self.device_pass() => self.f.shared.push(id),
            _ => {}
        }
    }

    /// E0312: more constant memory than there is.
    fn check_constant_bytes(&mut self, id: VarId, size: u64) {
        let before = self.constant_bytes;
        self.constant_bytes = before.saturating_add(size);
        // The first one that passes the limit is named.
        if before > CONSTANT_BYTES || self.constant_bytes <= CONSTANT_BYTES {
            return;
        }
        let (span, name) = (self.names.var(id).span, self.text(self.names.var(id).name));
        let message = match before {
            0 => format!("`{name}` takes {size} bytes of constant memory"),
            _ => {
                let total = self.constant_bytes;
                format!(
                    "with `{name}` the variables of this file take {total} bytes of constant memory"
                )
            }
        };
        let message = format!("{message}; at most {CONSTANT_BYTES} are possible");
        self.error(Code::E0312, span, message)
            .help("declare it `__device__ const`, which is in global memory");
    }

    /// E0408: more shared memory in the variables of a function than a block has.
    pub fn check_shared_bytes(&mut self) {
        let mut total = 0u64;
        for id in std::mem::take(&mut self.f.shared) {
            let var = self.names.var(id);
            if var.uses == 0 || self.types.is_error(var.ty) {
                continue;
            }
            let (span, ty) = (var.span, var.ty);
            let before = total;
            total = total.saturating_add(self.types.layout(ty).size);
            if before > MAX_STATIC_SHARED_BYTES || total <= MAX_STATIC_SHARED_BYTES {
                continue;
            }
            let message = format!(
                "with this one the `__shared__` variables of the function take {total} bytes; at most {MAX_STATIC_SHARED_BYTES} \
                 are possible"
            );
            self.error(Code::E0408, span, message).help(
                "declare `extern __shared__ T name[];`, give its size to the launch, and allow it with \
                 `cudaFuncSetAttribute` (`cudaFuncAttributeMaxDynamicSharedMemorySize`)",
            );
        }
    }
}

/// Whether nothing but zeros would be written out.
fn is_zero(constant: &ir::Const) -> bool {
    match constant {
        ir::Const::Zero => true,
        ir::Const::Int(value) => *value == 0,
        ir::Const::Float(bits) => *bits == 0,
        ir::Const::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        ir::Const::Array(items) => items.iter().all(is_zero),
        ir::Const::Record(items) => items.iter().all(|(_, item)| is_zero(item)),
        ir::Const::GlobalAddr { .. } | ir::Const::FunctionAddr(_) => false,
    }
}
