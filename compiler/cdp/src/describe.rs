//! What a compilation knows about its kernels and launches, as data: for listings, for embedders,
//! and for the comparison with what ptxas made of it.

use cdp_ir as ir;
use cdp_launch::{BufferLayout, LayoutError, MAX_PARAM_ALIGN, ParamSize, buffer_layout};
use cdp_llvm::{ForeignKernel, ForeignParam};
use cdp_toolchain::{Cubin, KernelInfo};
use serde::Serialize;

/// A parameter in the parameter buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ParamDescription {
    /// Position in the parameter list, from 0.
    pub ordinal: u32,
    /// As in the source; empty where it has none.
    pub name: String,
    /// The machine type (`i32`, `ptr<f32>`, a record's name).
    #[serde(rename = "type")]
    pub ty: String,
    /// Bytes from the beginning of the buffer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The alignment used in the buffer, at most 16.
    pub align: u64,
    /// The type's own alignment, which may be larger.
    pub declared_align: u64,
}

/// A kernel that the source defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KernelDescription {
    /// The name in the source.
    pub name: String,
    /// The symbol in PTX and cubin.
    pub symbol: String,
    /// In order.
    pub params: Vec<ParamDescription>,
    /// Size of the whole parameter buffer.
    pub buffer_bytes: u64,
    /// Alignment of the whole parameter buffer.
    pub buffer_align: u64,
    /// What ptxas and nvlink made of it; `None` before the link.
    pub registers: Option<u32>,
    /// Static shared memory a block, as the cubin counts it.
    pub shared_bytes: Option<u64>,
}

/// Descriptions of all kernels with a body.
pub fn describe_kernels(module: &ir::Module) -> Vec<KernelDescription> {
    module
        .functions
        .iter()
        .filter(|function| function.is_kernel() && function.body.is_some())
        .map(|kernel| describe_kernel(module, kernel))
        .collect()
}

/// One kernel's description, from the layout that the lowering uses.
pub fn describe_kernel(module: &ir::Module, kernel: &ir::Function) -> KernelDescription {
    let buffer = buffer_of(module, kernel);
    let params = kernel
        .params()
        .iter()
        .zip(&buffer.slots)
        .enumerate()
        .map(|(ordinal, (param, slot))| ParamDescription {
            ordinal: ordinal as u32,
            name: param.name.clone(),
            ty: ir::print::type_name(&module.types, param.ty),
            offset: slot.offset_bytes,
            size: slot.size_bytes,
            align: slot.align_bytes,
            declared_align: module.types.layout(param.ty).align,
        })
        .collect();
    KernelDescription {
        name: kernel.name.clone(),
        symbol: kernel.symbol.clone(),
        params,
        buffer_bytes: buffer.size_bytes,
        buffer_align: buffer.align_bytes,
        registers: None,
        shared_bytes: None,
    }
}

/// A kernel of another compiler's LLVM IR. Its name is its symbol.
pub fn describe_foreign_kernel(kernel: &ForeignKernel) -> KernelDescription {
    let size_of = |param: &ForeignParam| ParamSize {
        size_bytes: param.size_bytes,
        align_bytes: param.align_bytes,
    };
    let buffer = laid_out(&kernel.params.iter().map(size_of).collect::<Vec<_>>());
    let params = kernel.params.iter().zip(&buffer.slots).enumerate();
    let params = params.map(|(ordinal, (param, slot))| ParamDescription {
        ordinal: ordinal as u32,
        name: param.name.clone(),
        ty: param.ty.clone(),
        offset: slot.offset_bytes,
        size: slot.size_bytes,
        align: slot.align_bytes,
        declared_align: param.align_bytes,
    });
    KernelDescription {
        name: kernel.symbol.clone(),
        symbol: kernel.symbol.clone(),
        params: params.collect(),
        buffer_bytes: buffer.size_bytes,
        buffer_align: buffer.align_bytes,
        registers: None,
        shared_bytes: None,
    }
}

/// A kernel that came as PTX or as an object, as the linked cubin tells of it: without names and types of
/// parameters, which stand as bits or bytes. Alignments are the largest that their places have.
pub fn describe_linked_kernel(info: &KernelInfo) -> KernelDescription {
    let params = info.params.iter().map(|param| {
        let (offset, size) = (u64::from(param.offset_bytes), u64::from(param.size_bytes));
        let align = 1 << (offset | size | MAX_PARAM_ALIGN).trailing_zeros();
        let ty = match size {
            1 | 2 | 4 | 8 => format!("b{}", size * 8),
            _ => format!("b8[{size}]"),
        };
        ParamDescription {
            ordinal: param.ordinal,
            name: String::new(),
            ty,
            offset,
            size,
            align,
            declared_align: align,
        }
    });
    let params: Vec<_> = params.collect();
    KernelDescription {
        name: info.name.clone(),
        symbol: info.name.clone(),
        buffer_bytes: params.iter().map(|param| param.offset + param.size).max().unwrap_or(0),
        buffer_align: params.iter().map(|param| param.align).max().unwrap_or(1),
        params,
        registers: info.registers,
        shared_bytes: Some(info.shared_bytes),
    }
}

fn buffer_of(module: &ir::Module, kernel: &ir::Function) -> BufferLayout {
    let size_of = |param: &ir::Local| {
        let layout = module.types.layout(param.ty);
        ParamSize { size_bytes: layout.size, align_bytes: layout.align }
    };
    laid_out(&kernel.params().iter().map(size_of).collect::<Vec<_>>())
}

/// The layout, also of kernels that only the host may launch because their parameters are larger
/// than a parameter buffer.
fn laid_out(sizes: &[ParamSize]) -> BufferLayout {
    match buffer_layout(sizes) {
        Ok(layout) | Err(LayoutError::TooLarge { layout, .. }) => layout,
        Err(LayoutError::BadAlignment { .. }) => BufferLayout::default(),
    }
}

/// A disagreement between the parameter buffer that a parent fills and the one that the child
/// reads: always a mistake of the compiler, never of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutMismatch {
    /// Its symbol.
    pub kernel: String,
    /// Both layouts, in words.
    pub message: String,
}

/// Compares every kernel's layout with what the linked cubin says (EIATTR_KPARAM_INFO), and fills in
/// registers and shared memory.
pub fn check_against_cubin(
    kernels: &mut [KernelDescription],
    cubin: &Cubin,
) -> Result<(), LayoutMismatch> {
    for kernel in kernels {
        let Some(info) = cubin.kernel(&kernel.symbol) else {
            let message = "the cubin has no such kernel".to_string();
            return Err(LayoutMismatch { kernel: kernel.name.clone(), message });
        };
        let expected: Vec<_> =
            kernel.params.iter().map(|p| (p.ordinal, p.offset, p.size)).collect();
        let found: Vec<_> = info
            .params
            .iter()
            .map(|p| (p.ordinal, u64::from(p.offset_bytes), u64::from(p.size_bytes)))
            .collect();
        // Kernels that host code alone launches may have such parameters where their own alignment puts them.
        if expected != found && !has_own_places(kernel, &found) {
            let message = format!(
                "(ordinal, offset, size) of the parameters are {expected:?} in the parent's \
                 stores and {found:?} in the child's code"
            );
            return Err(LayoutMismatch { kernel: kernel.name.clone(), message });
        }
        kernel.registers = info.registers;
        kernel.shared_bytes = Some(info.shared_bytes);
    }
    Ok(())
}

/// Whether ordinals, offsets and sizes are those of parameters that stand where their types' own alignment puts them.
/// ptxas aligns addresses of the constant bank, in which the first parameter's place is the architecture's: the same
/// for all parameters, and a multiple of 16.
fn has_own_places(kernel: &KernelDescription, found: &[(u32, u64, u64)]) -> bool {
    let largest = kernel.params.iter().map(|param| param.declared_align).max().unwrap_or(0);
    let own = |base: u64| {
        let mut end = base;
        let place = |param: &ParamDescription| {
            let start = end.next_multiple_of(param.declared_align.max(1));
            end = start + param.size;
            (param.ordinal, start - base, param.size)
        };
        kernel.params.iter().map(place).eq(found.iter().copied())
    };
    (0..largest).step_by(MAX_PARAM_ALIGN as usize).any(own)
}

/// The parameter buffers of some kernels as text tables.
pub fn layout_table(kernels: &[KernelDescription]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for (index, kernel) in kernels.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "{} ({}): {} byte{}, alignment {}",
            kernel.name,
            kernel.symbol,
            kernel.buffer_bytes,
            if kernel.buffer_bytes == 1 { "" } else { "s" },
            kernel.buffer_align
        );
        if kernel.params.is_empty() {
            continue;
        }
        let width = |f: &dyn Fn(&ParamDescription) -> usize, least: usize| {
            kernel.params.iter().map(f).max().unwrap_or(0).max(least)
        };
        let (names, types) = (width(&|p| p.name.len(), 4), width(&|p| p.ty.len(), 4));
        let _ = writeln!(
            out,
            "  offset   size  align  padding  {:<names$}  {:<types$}",
            "name", "type"
        );
        let mut end = 0;
        for param in &kernel.params {
            let clamped = if param.align < param.declared_align {
                format!(
                    "  (declared {}; parameter buffers align to 16 at most)",
                    param.declared_align
                )
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "  {:>6} {:>6} {:>6} {:>8}  {:<names$}  {}{clamped}",
                param.offset,
                param.size,
                param.align,
                param.offset - end,
                param.name,
                param.ty,
            );
            end = param.offset + param.size;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(char, alignas(64) struct of 128 bytes, int)`, where host code alone launches the kernel.
    #[test]
    fn over_aligned_parameters_have_their_own_places() {
        let param = |(ordinal, size, declared_align): (u32, u64, u64)| ParamDescription {
            ordinal,
            name: String::new(),
            ty: String::new(),
            offset: 0,
            size,
            align: declared_align.min(MAX_PARAM_ALIGN),
            declared_align,
        };
        let kernel = KernelDescription {
            name: "k".into(),
            symbol: "k".into(),
            params: [(0, 1, 1), (1, 128, 64), (2, 4, 4)].into_iter().map(param).collect(),
            buffer_bytes: 0,
            buffer_align: 0,
            registers: None,
            shared_bytes: None,
        };
        assert!(has_own_places(&kernel, &[(0, 0, 1), (1, 64, 128), (2, 192, 4)]));
        // From 0x210 on.
        assert!(has_own_places(&kernel, &[(0, 0, 1), (1, 48, 128), (2, 176, 4)]));
        assert!(!has_own_places(&kernel, &[(0, 0, 1), (1, 16, 128), (2, 160, 4)]));
        assert!(!has_own_places(&kernel, &[(0, 0, 1), (1, 64, 128), (2, 196, 4)]));
    }
}
