//! Links what the module calls of libdevice, and nothing else.
//!
//! libdevice's functions are made `linkonce_odr` in a lazily read copy, so that LLVM's linker fetches
//! only those that are referenced; afterwards they are internal. Its choices between kinds of arithmetic are
//! calls of `__nvvm_reflect`: LLVM answers those about denormals, from a module flag, and about the
//! architecture. To any other it answers 0, which for square roots is the approximate one, so that is answered here.

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicValueEnum, FastMathFlags, FunctionValue, InstructionOpcode, PointerValue,
};

use crate::error::{LowerError, Result};
use crate::options::LowerOptions;
use crate::raw;

const PREFIX: &str = "__nv_";
const REFLECT: &str = "__nvvm_reflect";

/// What libdevice is asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    /// Flush single-precision denormals to zero, where the module does not say it.
    pub ftz: bool,
    /// Square roots of single precision are rounded to nearest.
    pub prec_sqrt: bool,
    /// Multiplications and additions may become one operation, those of libdevice with what calls it too. What
    /// must stay two there says so by itself.
    pub fmad: bool,
}

/// Links libdevice into a device module if the module calls it.
pub(crate) fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
    arithmetic: Arithmetic,
) -> Result<()> {
    let wanted = undefined(module);
    let Some(first) = wanted.first() else { return Ok(()) };
    let Some(bytes) = options.libdevice.bytes() else {
        return Err(LowerError::LibdeviceMissing { function: first.clone() });
    };
    let unreadable = || LowerError::Libdevice { message: "it is no LLVM bitcode".into() };
    let library = raw::parse_bitcode_lazily(context, &bytes).ok_or_else(unreadable)?;
    for function in library.get_functions() {
        if !raw::is_declaration(function) {
            function.set_linkage(Linkage::LinkOnceODR);
        }
    }
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    module
        .link_in_module(library)
        .map_err(|message| LowerError::Libdevice { message: message.to_string() })?;
    if let Some(missing) = undefined(module).first() {
        let message = format!("it has no function `{missing}`");
        return Err(LowerError::Libdevice { message });
    }
    for function in module.get_functions() {
        if function.get_linkage() == Linkage::LinkOnceODR && is_libdevice(function) {
            function.set_linkage(Linkage::Internal);
            keep_in_memory(context, function)?;
            if arithmetic.fmad {
                contract(function);
            }
        }
    }
    // clang says it by itself.
    if module.get_flag("nvvm-reflect-ftz").is_none() {
        raw::add_module_flag(context, module, "nvvm-reflect-ftz", u32::from(arithmetic.ftz));
    }
    answer(module, b"__CUDA_PREC_SQRT", arithmetic.prec_sqrt);
    Ok(())
}

/// Makes a function's arrays too long for ptxas, which makes registers of short ones (up to 96 bytes have been seen) and of each access to
/// a place that is not known comparisons with all places. libdevice's are for angles so large that hardly any program has them, and
/// the registers are taken from what it does with the others. No longer than that takes: functions that call themselves have it in
/// each of their frames.
fn keep_in_memory<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<()> {
    const BYTES: u32 = 104;
    let Some(entry) = function.get_first_basic_block() else { return Ok(()) };
    let builder = context.create_builder();
    let arrays = entry.get_instructions().filter(|instruction| {
        let Ok(BasicTypeEnum::ArrayType(array)) = instruction.get_allocated_type() else {
            return false;
        };
        let BasicTypeEnum::IntType(element) = array.get_element_type() else { return false };
        array.len() * element.get_bit_width() / 8 < BYTES
    });
    for array in arrays.collect::<Vec<_>>() {
        builder.position_before(&array);
        let longer = builder.build_alloca(context.i64_type().array_type(BYTES / 8), "")?;
        raw::replace_instruction(array, longer.into());
    }
    Ok(())
}

/// Lets a function's sums and products fuse.
fn contract(function: FunctionValue<'_>) {
    let instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
    for instruction in instructions {
        let opcode = instruction.get_opcode();
        if matches!(
            opcode,
            InstructionOpcode::FAdd | InstructionOpcode::FSub | InstructionOpcode::FMul
        ) {
            // These operations take the flag.
            let _ = instruction.set_fast_math_flags(FastMathFlags::AllowContract);
        }
    }
}

/// Puts the answer in the place of every call that asks `question`.
fn answer(module: &Module<'_>, question: &[u8], value: bool) {
    let Some(reflect) = module.get_function(REFLECT) else { return };
    let texts: Vec<PointerValue<'_>> = module
        .get_globals()
        .filter(|global| match global.get_initializer() {
            Some(BasicValueEnum::ArrayValue(text)) if raw::is_data_array(text) => text
                .as_const_string()
                .is_some_and(|text| text.strip_suffix(b"\0") == Some(question)),
            _ => false,
        })
        .map(|global| global.as_pointer_value())
        .collect();
    let int = module.get_context().i32_type();
    for call in raw::users(reflect) {
        let asked = call.get_operand(0).and_then(|operand| operand.value());
        if matches!(asked, Some(BasicValueEnum::PointerValue(text)) if texts.contains(&text)) {
            raw::replace_instruction(call, int.const_int(u64::from(value), false).into());
        }
    }
}

fn is_libdevice(function: FunctionValue<'_>) -> bool {
    let name = function.get_name().to_bytes();
    name.starts_with(PREFIX.as_bytes()) || name.starts_with(b"__internal_")
}

/// Functions of libdevice that are called and not there.
fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .get_functions()
        .filter(|function| raw::is_declaration(*function))
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(PREFIX))
        .collect()
}
