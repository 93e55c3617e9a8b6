//! The arguments of a launch, as the functions of its site take them.
//!
//! What is absent: where they lie in memory ([`super::records`]).

use super::child::scalar_bits;

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
