//! The arguments of a launch, as the functions of its site take them.
//!
//! What is absent: where they lie in memory ([`super::records`]).

use inkwell::builder::Builder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;

use super::child::scalar_bits;
use super::parent::LaunchSite;
use crate::error::Result;
use crate::kernel::LAUNCH;
use crate::raw;
use crate::raw::view::View;

/// An argument of the launched kernel.
pub(super) struct Argument {
    /// The type of the kernel's parameter as LLVM writes it.
    pub ty: String,
    /// Size and alignment of a struct that goes by address.
    pub by_value: Option<(u64, u64)>,
    /// Every lane has the same.
    pub uniform: bool,
}

/// Bytes and alignment in a record or a parameter buffer.
pub(super) fn size(argument: &Argument) -> (u64, u64) {
    match argument.by_value {
        Some((bytes, align)) => (bytes, align.clamp(1, 16)),
        None => {
            let bytes = u64::from(scalar_bits(&argument.ty).unwrap_or(64)).div_ceil(8);
            (bytes, bytes)
        }
    }
}

/// The words that a struct is taken apart into: where each begins, and its bits.
pub(super) fn words(bytes: u64, align: u64) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes {
        let mut word = align.clamp(1, 8);
        while word > bytes - at {
            word /= 2;
        }
        found.push((at, 8 * word));
        at += word;
    }
    found
}

/// Writes zeros to structs of a launch that nobody wrote, such as function objects without members, whose one byte has no
/// contents: a function that copies it to a record does not know that, and would read what is not there.
pub(super) fn fill_unwritten<'ctx>(
    builder: &Builder<'ctx>,
    site: &LaunchSite<'ctx>,
    data: &TargetData,
) -> Result<()> {
    let parent = raw::owner(raw::instruction(site.call));
    let Some(parent) = parent.map(View::function) else { return Ok(()) };
    for (index, operand) in site.operands.iter().enumerate().skip(9) {
        let Some(ty) = raw::call_byval_type(site.call, index as u32) else { continue };
        if is_unwritten(parent, View::value(*operand), data.get_abi_size(&ty)) {
            builder.build_store(operand.into_pointer_value(), ty.const_zero())?;
        }
    }
    Ok(())
}

/// Whether nobody writes to so many bytes at a place in a variable of a function.
fn is_unwritten<'ctx>(function: View<'ctx>, place: View<'ctx>, bytes: u64) -> bool {
    let Some(base) = place.variable() else { return false };
    let offset = |mut at: View<'ctx>| {
        let mut sum = 0;
        while at != base {
            let (step, terms) = at.offset(function)?;
            sum += terms.is_empty().then_some(step)?;
            at = at.operand(0)?;
        }
        Some(sum)
    };
    let Some(begin) = offset(place) else { return false };
    let apart = |at: View<'ctx>, size: u64| {
        let found = offset(at);
        found.is_some_and(|at| at + size as i64 <= begin || at >= begin + bytes as i64)
    };
    let mut work = vec![base];
    while let Some(at) = work.pop() {
        for user in at.users() {
            let first = user.operand(0) == Some(at);
            let name = user.callee().map(View::name).unwrap_or_default();
            let good = match user.opcode() {
                Some(LLVMOpcode::LLVMGetElementPtr) if first => {
                    work.push(user);
                    true
                }
                Some(LLVMOpcode::LLVMLoad) => true,
                Some(LLVMOpcode::LLVMStore) => !first && apart(at, user.touched_bytes()),
                _ if name.starts_with("llvm.memcpy.") => {
                    let size = user.operand(2).and_then(View::constant_int);
                    !first || size.is_some_and(|size| apart(at, size as u64))
                }
                _ => {
                    let takes = ["__cdp_site_", "llvm.lifetime."];
                    name == LAUNCH || takes.iter().any(|start| name.starts_with(start))
                }
            };
            if !good {
                return false;
            }
        }
    }
    true
}
