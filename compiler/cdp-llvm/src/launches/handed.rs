//! Structs that a kernel takes and hands on to its children as they are: a launch takes the kernel's own, not a copy of it. Then
//! all lanes of a warp have the same, which need not go from one to another.
//!
//! Legality. Nothing but loads happens to the kernel's struct ([`Function::is_unchanged`]), and nothing to the copy but that
//! it is made, as a whole; it may be a part of a variable, of which the rest does not matter, as where clang puts all arguments
//! of a launch into one. So both are the same at the launch, unless the copy was not made before, and holds nothing yet.

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

/// The most copies of copies that are gone through.
const MOST_COPIES: usize = 4;

/// The struct of the kernel that these bytes of a variable are a copy of, or a copy of a copy, if nothing else happens to
/// them.
fn copied(place: View<'_>, kernel: FunctionValue<'_>, bytes: u64) -> Option<u32> {
    let (view, byval) = (View::function(kernel), Attribute::get_named_enum_kind_id("byval"));
    let mut place = place;
    for _ in 0..MOST_COPIES {
        place = source(place, view, bytes)?;
        if let Some(index) = place.parameter_index() {
            let is_struct = kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some();
            return (is_struct && Function::parent(view).is_unchanged(index)).then_some(index);
        }
    }
    None
}

/// What these bytes of a variable are copied from, as a whole, if nothing else is written to them, and nobody else can.
fn source<'ctx>(place: View<'ctx>, kernel: View<'ctx>, bytes: u64) -> Option<View<'ctx>> {
    let variable = place.variable()?;
    let (begin, end) = match place == variable {
        true => (0, bytes as i64),
        false => fixed(place, kernel).map(|begin| (begin, begin + bytes as i64))?,
    };
    let mut from = None;
    let mut work = vec![(variable, 0)];
    while let Some((address, at)) = work.pop() {
        for user in address.users() {
            let apart = |size: Option<i64>| size.is_some_and(|n| at + n <= begin || end <= at);
            match user.opcode() {
                Some(LLVMOpcode::LLVMGetElementPtr) => work.push((user, at + fixed(user, kernel)?)),
                Some(LLVMOpcode::LLVMLoad) => {}
                Some(LLVMOpcode::LLVMStore) => {
                    let size = i64::try_from(user.touched_bytes()).ok().filter(|size| *size > 0);
                    (user.operand(0) != Some(address) && apart(size)).then_some(())?;
                }
                Some(LLVMOpcode::LLVMCall) => {
                    let name = user.callee().map(View::name)?;
                    let copies = name.starts_with("llvm.memcpy.");
                    if copies && user.operand(0) == Some(address) {
                        let size = user.operand(2)?.constant_int();
                        if at == begin && size == Some(end - begin) {
                            let again = user.operand(1)?;
                            from.is_none_or(|from| from == again).then_some(())?;
                            from = Some(again);
                        } else {
                            apart(size).then_some(())?;
                        }
                    } else if !copies && name != LAUNCH && !name.starts_with("llvm.lifetime.") {
                        return None;
                    }
                }
                _ => return None,
            }
        }
    }
    from
}

/// How far behind its first operand a computed address lies, where that is a constant.
fn fixed(address: View<'_>, kernel: View<'_>) -> Option<i64> {
    let (constant, parts) = address.offset(kernel)?;
    parts.is_empty().then_some(constant)
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
