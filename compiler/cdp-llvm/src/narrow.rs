//! Conversions of floating-point values to integers of 8 and 16 bits in code of clang's. C++ leaves open what becomes of a
//! value that is too large; in nvcc's code it comes to an integer of 32 bits, whose lower bits are taken, and programs
//! count on it (`(unsigned char)300.0f` is 44). LLVM may as well keep all bits.

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{InstructionOpcode, InstructionValue};

use crate::error::{Result, bug};
use crate::raw;

/// The width to which nvcc converts.
const CONVERTED_BITS: u32 = 32;

/// Has every such conversion go by 32 bits.
pub(crate) fn convert_by_words(context: &Context, module: &Module<'_>) -> Result<()> {
    let builder = context.create_builder();
    let wide = context.i32_type();
    let conversions: Vec<_> = module
        .get_functions()
        .flat_map(|function| function.get_basic_blocks())
        .flat_map(|block| block.get_instructions())
        .filter(|instruction| is_narrow(*instruction))
        .collect();
    for narrow in conversions {
        let Some(value) = narrow.get_operand(0).and_then(|operand| operand.value()) else {
            continue;
        };
        let value = value.into_float_value();
        let ty = narrow.get_type().into_int_type();
        builder.position_before(&narrow);
        let signed = narrow.get_opcode() == InstructionOpcode::FPToSI;
        let converted = match signed {
            true => builder.build_float_to_signed_int(value, wide, ""),
            false => builder.build_float_to_unsigned_int(value, wide, ""),
        };
        let taken = converted.and_then(|word| builder.build_int_truncate(word, ty, ""));
        let taken = taken.map_err(|error| bug("narrow conversions", error.to_string()))?;
        let Ok(old) = inkwell::values::IntValue::try_from(narrow) else { continue };
        raw::replace_uses(old.into(), taken.into());
        narrow.erase_from_basic_block();
    }
    Ok(())
}

/// Whether an instruction converts one value to an integer that is narrower than nvcc converts to.
fn is_narrow(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{FPToSI, FPToUI};
    let ty = instruction.get_type();
    // A truth value is made by comparing.
    matches!(instruction.get_opcode(), FPToSI | FPToUI)
        && ty.is_int_type()
        && (8..CONVERTED_BITS).contains(&ty.into_int_type().get_bit_width())
}
