//! Functions with a value that end without `return`. nvcc and g++ let them return; so does clang when it is asked
//! (`-fno-strict-return`), but for those that yield a reference, or an object for which the caller has made room:
//! their ends stay marked as ones that nobody reaches, and LLVM lets them run into what comes behind.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode, PointerValue};

use crate::error::{Result, bug};

/// Lets the functions of a module of clang's return where they end.
///
/// A mark behind a call that never returns, or that the program wrote itself, is not told apart: nobody reaches that either.
pub(crate) fn return_at_ends(context: &Context, module: &Module<'_>) -> Result<()> {
    let builder = context.create_builder();
    for function in module.get_functions() {
        let Some(value) = value_of(function) else { continue };
        for block in function.get_basic_blocks() {
            let end = block.get_terminator();
            let Some(end) = end.filter(|end| end.get_opcode() == InstructionOpcode::Unreachable)
            else {
                continue;
            };
            end.erase_from_basic_block();
            builder.position_at_end(block);
            let value = value.as_ref().map(|value| value as &dyn BasicValue);
            builder.build_return(value).map_err(|error| bug("returns", error.to_string()))?;
        }
    }
    Ok(())
}

/// What a function that clang keeps strict may return; the inner `None` where the caller has the object. For a reference it
/// is the first one given, such as the object of `operator=` or the stream of `operator<<`.
fn value_of(function: FunctionValue<'_>) -> Option<Option<PointerValue<'_>>> {
    let has = |place, name| {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.get_enum_attribute(place, kind).is_some()
    };
    let Some(returned) = function.get_type().get_return_type() else {
        return has(AttributeLoc::Param(0), "sret").then_some(None);
    };
    // `nonnull` is not there where null may be an address.
    let is_reference =
        ["nonnull", "dereferenceable"].iter().any(|name| has(AttributeLoc::Return, name));
    if !returned.is_pointer_type() || !is_reference {
        return None;
    }
    let first = function.get_param_iter().find(|param| param.get_type() == returned)?;
    Some(Some(first.into_pointer_value()))
}
