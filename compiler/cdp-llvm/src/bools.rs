//! Truth values in memory, in code of clang's. C++ leaves open what a `bool` is whose byte is neither 0 nor 1; clang takes
//! its lowest bit. For nvcc and g++ it is the byte: true is what is not 0, and a copy and an integer made of it are the
//! byte's value. Programs count on it that set such bytes, or read numbers as truth values.

use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::IntType;
use inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue, IntValue};

use crate::error::{Result, bug};
use crate::raw;

type Built<T> = std::result::Result<T, BuilderError>;

const BYTE_BITS: u32 = 8;

/// What integers are made of a truth value's byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    /// As g++ does it.
    Zero,
    /// As nvcc does it in device code.
    Sign,
}

/// Has every truth value that comes from memory be its whole byte. The module is as clang wrote it, not optimised: no other
/// value of 8 bits is cut to one.
pub(crate) fn take_whole_bytes<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    extension: Extension,
) -> Result<()> {
    let builder = context.create_builder();
    let cuts: Vec<_> = module
        .get_functions()
        .flat_map(|function| function.get_basic_blocks())
        .flat_map(|block| block.get_instructions())
        .filter_map(Cut::of)
        .collect();
    for cut in cuts {
        cut.replace(context, &builder, extension)
            .map_err(|error| bug("truth values", error.to_string()))?;
    }
    Ok(())
}

/// A byte that is cut to one bit.
struct Cut<'ctx> {
    instruction: InstructionValue<'ctx>,
    byte: IntValue<'ctx>,
}

impl<'ctx> Cut<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Cut<'ctx>> {
        let is_cut = instruction.get_opcode() == InstructionOpcode::Trunc && {
            let ty = instruction.get_type();
            ty.is_int_type() && ty.into_int_type().get_bit_width() == 1
        };
        let byte = instruction.get_operand(0).filter(|_| is_cut)?.value()?;
        let is_byte =
            byte.is_int_value() && byte.into_int_value().get_type().get_bit_width() == BYTE_BITS;
        is_byte.then(|| Cut { instruction, byte: byte.into_int_value() })
    }

    fn replace(
        self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        extension: Extension,
    ) -> Built<()> {
        if let Some(load) = self.byte.as_instruction() {
            // clang says that there are but 0 and 1.
            raw::forget_range(context, load);
        }
        for user in raw::users_of(self.instruction) {
            if let Some(new) = self.number(builder, user, extension)? {
                raw::replace_instruction(user, new);
            }
        }
        builder.position_before(&self.instruction);
        let zero = self.byte.get_type().const_zero();
        let truth = builder.build_int_compare(IntPredicate::NE, self.byte, zero, "")?;
        raw::replace_instruction(self.instruction, truth.into());
        Ok(())
    }

    /// The number that a user makes of the byte; `None` for other users.
    fn number(
        &self,
        builder: &Builder<'ctx>,
        user: InstructionValue<'ctx>,
        extension: Extension,
    ) -> Built<Option<BasicValueEnum<'ctx>>> {
        builder.position_before(&user);
        Ok(match user.get_opcode() {
            InstructionOpcode::ZExt if user.get_type().is_int_type() => {
                let to = user.get_type().into_int_type();
                Some(self.extended(builder, to, extension)?.into())
            }
            InstructionOpcode::UIToFP if user.get_type().is_float_type() => {
                let to = user.get_type().into_float_type();
                Some(
                    match extension {
                        Extension::Zero => {
                            builder.build_unsigned_int_to_float(self.byte, to, "")?
                        }
                        Extension::Sign => builder.build_signed_int_to_float(self.byte, to, "")?,
                    }
                    .into(),
                )
            }
            _ => None,
        })
    }

    fn extended(
        &self,
        builder: &Builder<'ctx>,
        to: IntType<'ctx>,
        extension: Extension,
    ) -> Built<IntValue<'ctx>> {
        match extension {
            _ if to.get_bit_width() == BYTE_BITS => Ok(self.byte),
            Extension::Zero => builder.build_int_z_extend(self.byte, to, ""),
            Extension::Sign => builder.build_int_s_extend(self.byte, to, ""),
        }
    }
}
