//! What is written in the place of a launch: reads of the configuration and of the arguments, and
//! the call.

use cdp_launch::{MAX_BUFFER_BYTES, ParamSize, ParamSlot, buffer_layout};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{AnyType, BasicMetadataTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, PointerValue,
};
use inkwell::{AddressSpace, IntPredicate};

use super::{Bytes, Call, Configuration, Parameters, Raising, VARIABLE_ALIGN};
use crate::error::{Result, bug};
use crate::kernel::{KernelParam, LAUNCH, PTX_KERNEL};
use crate::launch_calls::peek_symbol;
use crate::launch_calls::{
    BUFFER_ALIGN, LaunchArg, LaunchConfig, LaunchSite, begin_launch, finish_launch,
};

impl<'ctx> Raising<'_, 'ctx> {
    /// The kernel and configuration of a call whose dimensions are at `at` and `at + 1` plus one.
    pub(super) fn configuration(
        &self,
        builder: &Builder<'ctx>,
        call: Call<'ctx>,
        at: u32,
    ) -> Result<Configuration<'ctx>> {
        builder.position_before(&call.at);
        let kernel = self.pointer(builder, call.operand(0))?;
        let [gx, gy, gz] = self.dimensions(builder, call.operand(at + 1))?;
        let [bx, by, bz] = self.dimensions(builder, call.operand(at + 2))?;
        match call.operand(at + 3) {
            Some(BasicValueEnum::IntValue(shared_bytes)) => {
                Ok(Configuration { kernel, dims: [gx, gy, gz, bx, by, bz], shared_bytes })
            }
            _ => Err(bug("raise", "a shared memory size that is no integer")),
        }
    }

    /// The three numbers of a `dim3`, which comes as an address or by value.
    fn dimensions(
        &self,
        builder: &Builder<'ctx>,
        operand: Option<BasicValueEnum<'ctx>>,
    ) -> Result<[IntValue<'ctx>; 3]> {
        let word = self.context.i32_type();
        let mut axes = [word.const_zero(); 3];
        for (index, axis) in (0u32..).zip(&mut axes) {
            let value = match operand {
                Some(BasicValueEnum::PointerValue(address)) => {
                    let offset = word.const_int(4 * u64::from(index), false);
                    // SAFETY: the address is that of a `dim3`.
                    let at = unsafe {
                        builder.build_in_bounds_gep(self.context.i8_type(), address, &[offset], "")
                    }?;
                    builder.build_load(word, at, "")?
                }
                Some(BasicValueEnum::ArrayValue(value)) => {
                    builder.build_extract_value(value, index, "")?
                }
                Some(BasicValueEnum::StructValue(value)) => {
                    builder.build_extract_value(value, index, "")?
                }
                _ => return Err(bug("raise", "dimensions of an unknown form")),
            };
            *axis = value.into_int_value();
        }
        Ok(axes)
    }

    /// An address, which may come as a number.
    pub(super) fn pointer(
        &self,
        builder: &Builder<'ctx>,
        operand: Option<BasicValueEnum<'ctx>>,
    ) -> Result<PointerValue<'ctx>> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        match operand {
            Some(BasicValueEnum::PointerValue(value)) => Ok(value),
            Some(BasicValueEnum::IntValue(value)) => Ok(builder.build_int_to_ptr(value, ptr, "")?),
            _ => Err(bug("raise", "an operand that is no address")),
        }
    }

    /// The call of `@cdp.launch`.
    pub(super) fn call(
        &self,
        builder: &Builder<'ctx>,
        config: &Configuration<'ctx>,
        stream: PointerValue<'ctx>,
        parameters: &Parameters<'ctx>,
        variable: Option<PointerValue<'ctx>>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let kernel = parameters.kernel;
        // A kernel of another file, which compilers declare like any function.
        kernel.set_call_conventions(PTX_KERNEL);
        let kernel = kernel.as_global_value().as_pointer_value();
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> = vec![kernel.into()];
        operands.extend(config.dims.iter().map(|dim| BasicMetadataValueEnum::from(*dim)));
        operands.push(config.shared_bytes.into());
        operands.push(stream.into());
        let first = operands.len() as u32;
        for (param, offset) in parameters.params.iter().zip(&parameters.offsets) {
            let variable = variable.ok_or_else(|| bug("raise", "parameters without a buffer"))?;
            operands.push(self.argument(builder, param, *offset, variable)?.into());
        }
        let ty = self.context.i32_type().fn_type(&[], true);
        let launch = self.module.get_function(LAUNCH);
        let launch = launch.unwrap_or_else(|| self.module.add_function(LAUNCH, ty, None));
        let callee = launch.as_global_value().as_pointer_value();
        let call = builder.build_indirect_call(ty, callee, &operands, "launch_error")?;
        for (index, param) in (first..).zip(&parameters.params).filter(|(_, param)| param.by_value)
        {
            let byval = Attribute::get_named_enum_kind_id("byval");
            let byval = self.context.create_type_attribute(byval, param.ty.as_any_type_enum());
            call.add_attribute(AttributeLoc::Param(index), byval);
        }
        let error = call.try_as_basic_value().basic();
        error.ok_or_else(|| bug("raise", "a launch without a result"))
    }

    /// The argument at an offset: its value, or its address for what is passed by one.
    fn argument(
        &self,
        builder: &Builder<'ctx>,
        param: &KernelParam<'ctx>,
        offset: u64,
        variable: PointerValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let byte = self.context.i8_type();
        let index = self.context.i64_type().const_int(offset, false);
        // SAFETY: the variable is as large as the parameters together.
        let address = unsafe { builder.build_in_bounds_gep(byte, variable, &[index], "") }?;
        if param.by_value {
            return Ok(address.into());
        }
        let bit = self.context.bool_type();
        if param.ty == bit.into() {
            let value = builder.build_load(byte, address, "")?.into_int_value();
            return Ok(builder.build_int_truncate(value, bit, "")?.into());
        }
        Ok(builder.build_load(param.ty, address, "")?)
    }

    /// The launch of a kernel that is chosen at run time. It goes into a function of its own, which is always
    /// inlined.
    pub(super) fn indirect(
        &mut self,
        builder: &Builder<'ctx>,
        config: &Configuration<'ctx>,
        stream: PointerValue<'ctx>,
        variable: PointerValue<'ctx>,
        bytes: Bytes<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        let word = self.context.i32_type();
        let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = vec![ptr.into()];
        types.extend([word; 7].map(BasicMetadataTypeEnum::from));
        types.extend([ptr; 2].map(BasicMetadataTypeEnum::from));
        let computed = match bytes {
            Bytes::Known(_) => None,
            Bytes::Computed(call) => call.operand(1).map(BasicValueEnum::into_int_value),
        };
        types.extend(computed.map(|size| BasicMetadataTypeEnum::from(size.get_type())));
        let name = format!("__cdp_launch_indirect_{}", self.indirect);
        self.indirect += 1;
        let ty = word.fn_type(&types, false);
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        for flag in ["alwaysinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(flag);
            let attribute = self.context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        self.indirect_body(function, bytes)?;
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> = vec![config.kernel.into()];
        operands.extend(config.dims.iter().map(|dim| BasicMetadataValueEnum::from(*dim)));
        operands.push(config.shared_bytes.into());
        operands.extend([stream, variable].map(BasicMetadataValueEnum::from));
        operands.extend(computed.map(BasicMetadataValueEnum::from));
        let call = builder.build_direct_call(function, &operands, "launch_error")?;
        let error = call.try_as_basic_value().basic();
        error.ok_or_else(|| bug("raise", "a launch without a result"))
    }

    /// A number, or `most` where it is greater.
    fn up_to(
        &self,
        builder: &Builder<'ctx>,
        number: IntValue<'ctx>,
        most: u64,
    ) -> Result<IntValue<'ctx>> {
        let most = number.get_type().const_int(most, false);
        let is_more = builder.build_int_compare(IntPredicate::UGT, number, most, "")?;
        Ok(builder.build_select(is_more, most, number, "")?.into_int_value())
    }

    fn indirect_body(&self, function: FunctionValue<'ctx>, bytes: Bytes<'ctx>) -> Result<()> {
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, "entry"));
        let values = function.get_params();
        let word = |index: usize| values[index].into_int_value();
        let config = LaunchConfig {
            kernel: values[0].into_pointer_value(),
            grid: [word(1), word(2), word(3)],
            block: [word(4), word(5), word(6)],
            shared_bytes: word(7),
            stream: values[8].into_pointer_value(),
        };
        let bytes = match bytes {
            Bytes::Known(bytes) => bytes,
            Bytes::Computed(_) => MAX_BUFFER_BYTES,
        };
        let size = ParamSize { size_bytes: bytes, align_bytes: u64::from(VARIABLE_ALIGN) };
        let mut layout = buffer_layout(if bytes == 0 { &[] } else { std::slice::from_ref(&size) })
            .map_err(|error| bug("raise", error.to_string()))?;
        let peek = peek_symbol(self.options)?;
        let site = LaunchSite {
            module: self.module,
            abi: self.options.abi,
            address_bits: self.address_bits,
            per_thread_stream: self.options.per_thread_stream,
            null_error: Some(&peek),
        };
        let pending = begin_launch(&builder, &site, config, &layout)?;
        let address = values[9].into_pointer_value();
        if let Some(size) = values.get(10) {
            // The buffer is the kernel's, which may be smaller than the greatest.
            let (size, buffer) =
                (self.up_to(&builder, size.into_int_value(), bytes)?, pending.buffer);
            builder.build_memcpy(buffer, BUFFER_ALIGN, address, VARIABLE_ALIGN, size)?;
            layout.slots.clear();
        }
        let args: Vec<_> = layout
            .slots
            .iter()
            .map(|slot: &ParamSlot| LaunchArg::Memory { address, align: slot.align_bytes as u32 })
            .collect();
        let error = finish_launch(&builder, &site, pending, &layout, &args)?;
        builder.build_return(Some(&error))?;
        Ok(())
    }
}
