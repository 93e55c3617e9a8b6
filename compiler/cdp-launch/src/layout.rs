//! The parameter buffer's layout: one function, used by the parent's stores and by the child's
//! `.param` list. What is absent: types; callers bring sizes and alignments.

use std::fmt;

/// No parameter is aligned higher than this, on either side of the call, in bytes.
///
/// ptxas aligns a parameter of higher alignment by its absolute address in the constant bank, where
/// parameters do not start at a multiple of more than 16, so the child would read elsewhere than
/// the parent wrote (FACTS.md, "Parameter buffer").
pub const MAX_PARAM_ALIGN: u64 = 16;

/// The documented size limit of a parameter buffer, in bytes (guide 4.18.6.2).
pub const MAX_BUFFER_BYTES: u64 = 4096;

/// What a kernel takes that only host code launches, in bytes (CUDA 12.1 and later, sm_70 and later).
pub const MAX_PARAMETER_BYTES: u64 = 32_764;

/// A kernel parameter's type, as far as layout cares. In bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSize {
    /// What it takes, padding at its own end included.
    pub size_bytes: u64,
    /// A power of two: the type's own alignment.
    pub align_bytes: u64,
}

impl ParamSize {
    /// A number or a pointer: as aligned as it is large.
    pub fn scalar(bytes: u64) -> ParamSize {
        ParamSize { size_bytes: bytes, align_bytes: bytes }
    }
}

/// Where a parameter lies in the buffer. In bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSlot {
    /// From the beginning of the buffer.
    pub offset_bytes: u64,
    /// What the parameter takes.
    pub size_bytes: u64,
    /// At most [`MAX_PARAM_ALIGN`]; the alignment of the child's `.param`.
    pub align_bytes: u64,
}

/// The layout of a kernel's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferLayout {
    /// Of each parameter, in order.
    pub slots: Vec<ParamSlot>,
    /// The end of the last parameter; 0 for a kernel without parameters.
    pub size_bytes: u64,
    /// The largest alignment of any parameter, at least 1: what `GetParameterBuffer` is asked for.
    pub align_bytes: u64,
}

/// Why parameters cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The buffer would be larger than [`MAX_BUFFER_BYTES`].
    TooLarge {
        /// What it would be.
        size_bytes: u64,
        /// The layout all the same, for messages.
        layout: BufferLayout,
    },
    /// The alignment of parameter `index` is no power of two.
    BadAlignment {
        /// From 0.
        index: usize,
        /// What was given.
        align_bytes: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::TooLarge { size_bytes, .. } => write!(
                f,
                "the parameters take {size_bytes} bytes, and a parameter buffer holds \
                 {MAX_BUFFER_BYTES}"
            ),
            LayoutError::BadAlignment { index, align_bytes } => {
                write!(f, "parameter {index} has alignment {align_bytes}, no power of two")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

/// The alignment that a parameter of a natural alignment has in the buffer and in `.param`.
pub fn param_align(natural_align_bytes: u64) -> u64 {
    natural_align_bytes.min(MAX_PARAM_ALIGN)
}

/// Lays parameters out in order: each at the next multiple of its alignment (not of its size: the
/// guides' wording holds for scalars only), no alignment above [`MAX_PARAM_ALIGN`].
pub fn buffer_layout(params: &[ParamSize]) -> Result<BufferLayout, LayoutError> {
    let mut layout = BufferLayout { slots: Vec::new(), size_bytes: 0, align_bytes: 1 };
    for (index, param) in params.iter().enumerate() {
        if !param.align_bytes.is_power_of_two() {
            return Err(LayoutError::BadAlignment { index, align_bytes: param.align_bytes });
        }
        let align_bytes = param_align(param.align_bytes);
        let offset_bytes = layout.size_bytes.saturating_add(align_bytes - 1) & !(align_bytes - 1);
        layout.slots.push(ParamSlot { offset_bytes, size_bytes: param.size_bytes, align_bytes });
        layout.size_bytes = offset_bytes.saturating_add(param.size_bytes);
        layout.align_bytes = layout.align_bytes.max(align_bytes);
    }
    if layout.size_bytes > MAX_BUFFER_BYTES {
        return Err(LayoutError::TooLarge { size_bytes: layout.size_bytes, layout });
    }
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(params: &[(u64, u64)]) -> Vec<u64> {
        let params: Vec<_> = params
            .iter()
            .map(|&(size_bytes, align_bytes)| ParamSize { size_bytes, align_bytes })
            .collect();
        buffer_layout(&params).unwrap().slots.iter().map(|slot| slot.offset_bytes).collect()
    }

    #[test]
    fn alignment_decides_and_not_size() {
        // A 24-byte struct aligned to 8 after a char goes to 8, not to 24.
        assert_eq!(offsets(&[(1, 1), (24, 8), (1, 1), (2, 2)]), [0, 8, 32, 34]);
    }

    #[test]
    fn alignment_is_clamped_to_16() {
        assert_eq!(offsets(&[(8, 8), (16, 16), (8, 8), (64, 64)]), [0, 16, 32, 48]);
    }

    #[test]
    fn the_documented_limit_is_inclusive() {
        let big = |size_bytes| buffer_layout(&[ParamSize { size_bytes, align_bytes: 4 }]);
        assert_eq!(ParamSize::scalar(8), ParamSize { size_bytes: 8, align_bytes: 8 });
        assert_eq!(big(4096).unwrap().size_bytes, 4096);
        assert!(matches!(big(4100), Err(LayoutError::TooLarge { size_bytes: 4100, .. })));
        assert!(matches!(big(u64::MAX), Err(LayoutError::TooLarge { .. })));
    }

    #[test]
    fn odd_alignment_is_refused() {
        let params = [ParamSize { size_bytes: 4, align_bytes: 3 }];
        let error = LayoutError::BadAlignment { index: 0, align_bytes: 3 };
        assert_eq!(buffer_layout(&params), Err(error));
    }
}
