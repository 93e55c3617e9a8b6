//! What says in LLVM IR that a function is a kernel, what its parameters are, and the pseudo-functions that
//! launch it.

use cdp_launch::ParamSize;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue};

use crate::raw;

/// LLVM's number of the calling convention of kernels, `ptx_kernel`.
pub const PTX_KERNEL: u32 = 71;
/// The pseudo-function of version 1, the only one. A later version would have another name, so that
/// a module says by itself which it wants.
pub const LAUNCH: &str = "cdp.launch";
/// The same for a kernel that is chosen at run time: a kernel whose parameters it has comes first, and is
/// only looked at.
///
/// ```text
/// call i32 (...) @cdp.launch.as(ptr @prototype, ptr %kernel, i32 gx, ...)
/// ```
pub const LAUNCH_AS: &str = "cdp.launch.as";
/// What names of pseudo-functions begin with; an unknown one is refused.
pub(crate) const PREFIX: &str = "cdp.";
/// A kernel parameter, as its declaration tells.
pub(crate) struct KernelParam<'ctx> {
    /// The type in memory.
    pub(crate) ty: BasicTypeEnum<'ctx>,
    pub(crate) by_value: bool,
    pub(crate) size: ParamSize,
}

/// The kernel's parameters; an alignment above 16 is lowered on the kernel itself, so that both
/// sides agree (FACTS.md).
pub(crate) fn kernel_params<'ctx>(
    context: &'ctx Context,
    data: &TargetData,
    kernel: FunctionValue<'ctx>,
) -> Vec<KernelParam<'ctx>> {
    let align_kind = Attribute::get_named_enum_kind_id("align");
    (0..kernel.count_params())
        .map(|index| {
            let param = kernel_param(context, data, kernel, index);
            let clamped = cdp_launch::param_align(param.size.align_bytes);
            if param.by_value && clamped != param.size.align_bytes {
                let at = AttributeLoc::Param(index);
                kernel.remove_enum_attribute(at, align_kind);
                let attribute = context.create_enum_attribute(align_kind, clamped);
                kernel.add_attribute(at, attribute);
            }
            param
        })
        .collect()
}

/// A kernel's parameter, as its declaration tells.
pub(crate) fn kernel_param<'ctx>(
    context: &'ctx Context,
    data: &TargetData,
    kernel: FunctionValue<'ctx>,
    index: u32,
) -> KernelParam<'ctx> {
    let at = AttributeLoc::Param(index);
    let enum_attribute =
        |name: &str| kernel.get_enum_attribute(at, Attribute::get_named_enum_kind_id(name));
    let by_value = enum_attribute("byval").is_some();
    let stored = if by_value { raw::byval_type(kernel, index) } else { None };
    let declared = || kernel.get_nth_param(index).map(|param| param.get_type());
    let ty = stored.or_else(declared).unwrap_or_else(|| context.i8_type().into());
    let mut align_bytes = u64::from(data.get_abi_alignment(&ty));
    if let (true, Some(stated)) = (by_value, enum_attribute("align")) {
        align_bytes = stated.get_enum_value();
    }
    let size = ParamSize { size_bytes: data.get_abi_size(&ty), align_bytes };
    KernelParam { ty, by_value, size }
}

/// A type as LLVM writes it where it is used: a struct with a name by its name alone.
pub(crate) fn type_text(ty: BasicTypeEnum<'_>) -> String {
    let text = ty.print_to_string();
    let text = text.to_string_lossy();
    text.split(" = type ").next().unwrap_or_default().to_string()
}

/// A parameter's name; empty without one.
pub(crate) fn name_of(value: BasicValueEnum<'_>) -> String {
    value.get_name().to_string_lossy().into_owned()
}
