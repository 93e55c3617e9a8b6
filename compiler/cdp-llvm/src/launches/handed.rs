//! Structs that a kernel takes and hands on to its children as they are: a launch takes the kernel's own, not a copy of it. Then
//! all lanes of a warp have the same, which need not go from one to another.
//!
//! Legality. Nothing but loads happens to the kernel's struct ([`Function::is_unchanged`]), and nothing to the copy but that
//! it is made, as a whole. So both are the same at the launch, unless the copy was not made before, and holds nothing yet.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;
use inkwell::types::BasicType;
use inkwell::values::FunctionValue;

use super::access::Function;
use super::parent::{LaunchSite, sites_of};
use crate::kernel::LAUNCH;
use crate::raw;
use crate::raw::view::View;

/// Has the launches of a kernel take its own structs.
pub(super) fn hand_on(kernel: FunctionValue<'_>, data: &TargetData) {
    for site in sites_of(kernel) {
        for (index, operand) in site.operands.iter().enumerate().skip(9) {
            let Some(ty) = raw::call_byval_type(site.call, index as u32) else { continue };
            let bytes = data.get_abi_size(&ty.as_basic_type_enum());
            let Some(own) = copied(View::value(*operand), kernel, bytes) else { continue };
            let parameter = kernel.get_nth_param(own);
            if let Some(parameter) = parameter.filter(|_| is_as_aligned(kernel, own, &site, index))
            {
                raw::instruction(site.call).set_operand(index as u32, parameter);
            }
        }
    }
}

/// The struct of the kernel that a variable is a copy of, of so many bytes, if nothing else happens to the variable.
fn copied(variable: View<'_>, kernel: FunctionValue<'_>, bytes: u64) -> Option<u32> {
    (variable.opcode() == Some(LLVMOpcode::LLVMAlloca)).then_some(())?;
    let mut from = None;
    for user in variable.users() {
        let name = user.callee().map(View::name)?;
        if name.starts_with("llvm.memcpy.") {
            let index = user.operand(1)?.parameter_index()?;
            let whole = user.operand(2)?.constant_int() == i64::try_from(bytes).ok();
            let again = from.is_some_and(|from| from != index);
            (user.operand(0) == Some(variable) && whole && !again).then_some(())?;
            from = Some(index);
        } else if name != LAUNCH && !name.starts_with("llvm.lifetime.") {
            return None;
        }
    }
    let byval = Attribute::get_named_enum_kind_id("byval");
    let is_struct = |index| kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some();
    from.filter(|index| {
        is_struct(*index) && Function::parent(View::function(kernel)).is_unchanged(*index)
    })
}

/// Whether a struct of the kernel lies at as good a place as the launch says of what it takes.
fn is_as_aligned(
    kernel: FunctionValue<'_>,
    parameter: u32,
    site: &LaunchSite<'_>,
    operand: usize,
) -> bool {
    let align = Attribute::get_named_enum_kind_id("align");
    let stated = kernel.get_enum_attribute(AttributeLoc::Param(parameter), align);
    let wanted = site.call.get_enum_attribute(AttributeLoc::Param(operand as u32), align);
    let number = |attribute: Option<Attribute>| attribute.map_or(1, |a| a.get_enum_value());
    number(stated) >= number(wanted)
}
