//! Calls of `@cdp.launch`: each is checked, and becomes a call of a function with the launch sequence.

use cdp_ir::CdpVersion;
use cdp_launch::{BufferLayout, MAX_PARAM_ALIGN, StreamConst, buffer_layout};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    AnyValue, BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue,
    InstructionValue, IntValue, PointerValue,
};

use crate::error::{LaunchCallError, LowerError, Result, bug};
use crate::kernel::{KernelParam, LAUNCH, LAUNCH_AS, PREFIX, PTX_KERNEL, kernel_params, type_text};
use crate::launch_calls::{
    LaunchArg, LaunchConfig, LaunchSite, begin_launch, finish_launch, peek_symbol,
};
use crate::options::LowerOptions;
use crate::raise::place;
use crate::raw;
use crate::raw::view::View;

/// Operands before the kernel's own: kernel, six dimensions, shared bytes, stream.
pub(super) const FIXED_OPERANDS: u32 = 9;

/// Lowers every `@cdp.launch` of a module in place.
pub fn lower_launches<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<()> {
    let mut errors = unknown_pseudo_functions(module);
    let mut lowering = Lowering { context, module, data, address_bits, options, count: 0 };
    for pseudo in [LAUNCH, LAUNCH_AS].into_iter().filter_map(|name| module.get_function(name)) {
        let before = errors.len();
        let (calls, others) = uses_of(pseudo);
        errors.extend(others);
        for call in calls {
            match lowering.lower_call(call) {
                Ok(()) => {}
                Err(Failure::Call(error)) => errors.push(error),
                Err(Failure::Lower(error)) => return Err(error),
            }
        }
        if errors.len() == before && raw::has_uses(pseudo) {
            errors.push(misused(None, "can only be called; its address cannot be taken"));
        }
        if errors.len() == before {
            // SAFETY: nothing uses the pseudo-function any more.
            unsafe { pseudo.delete() };
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(LowerError::Launches(errors)) }
}

/// That every `@cdp.launch` of a module can be lowered, so that errors show calls as they were written.
pub(crate) fn check_launches<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<()> {
    let mut errors = unknown_pseudo_functions(module);
    if let Some(pseudo) = module.get_function(LAUNCH) {
        let lowering = Lowering { context, module, data, address_bits, options, count: 0 };
        let (calls, others) = uses_of(pseudo);
        errors.extend(others);
        errors.extend(calls.into_iter().filter_map(|call| lowering.refusal(call)));
    }
    if errors.is_empty() { Ok(()) } else { Err(LowerError::Launches(errors)) }
}

/// Pseudo-functions that this version does not know.
fn unknown_pseudo_functions(module: &Module<'_>) -> Vec<LaunchCallError> {
    module
        .get_functions()
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(PREFIX) && name != LAUNCH && name != LAUNCH_AS)
        .map(|name| LaunchCallError {
            function: String::new(),
            call: format!("@{name}"),
            argument: None,
            message: format!(
                "is not known; this is version 1, whose names are @{LAUNCH} and @{LAUNCH_AS}"
            ),
            place: None,
        })
        .collect()
}

/// A use of the pseudo-function that is no call.
fn misused(instruction: Option<InstructionValue<'_>>, message: &str) -> LaunchCallError {
    LaunchCallError {
        function: instruction.map(function_name).unwrap_or_default(),
        call: instruction.map_or(format!("@{LAUNCH}"), |i| i.print_to_string().to_string()),
        argument: None,
        message: message.into(),
        place: instruction.and_then(place::of),
    }
}

/// The calls of the pseudo-function, in the order of the module, and errors for instructions that
/// use it otherwise.
pub(super) fn uses_of<'ctx>(
    function: FunctionValue<'ctx>,
) -> (Vec<CallSiteValue<'ctx>>, Vec<LaunchCallError>) {
    let (mut calls, mut errors) = (Vec::new(), Vec::new());
    let callee = Some(function.as_global_value().as_pointer_value());
    for user in raw::users(function) {
        match CallSiteValue::try_from(user) {
            Ok(call) if raw::called(user) == callee => calls.push(call),
            _ if user.get_opcode() == inkwell::values::InstructionOpcode::Invoke => {
                errors.push(misused(Some(user), "a launch does not unwind: use call, not invoke"));
            }
            _ => {
                let message = "@cdp.launch can only be called; its address cannot be taken";
                errors.push(misused(Some(user), message));
            }
        }
    }
    // LLVM lists the newest use first.
    calls.reverse();
    (calls, errors)
}

enum Failure {
    Call(LaunchCallError),
    Lower(LowerError),
}

impl From<LowerError> for Failure {
    fn from(error: LowerError) -> Self {
        Failure::Lower(error)
    }
}

impl From<inkwell::builder::BuilderError> for Failure {
    fn from(error: inkwell::builder::BuilderError) -> Self {
        Failure::Lower(error.into())
    }
}

/// What a call is checked to be: the kernel's parameters, whether each argument is an address to copy
/// from, and the layout of the buffer.
type Checked<'ctx> = (Vec<KernelParam<'ctx>>, Vec<bool>, BufferLayout);

struct Lowering<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    data: &'a TargetData,
    address_bits: u32,
    options: &'a LowerOptions,
    /// Launches lowered so far, for names.
    count: u32,
}

impl<'ctx> Lowering<'_, 'ctx> {
    fn lower_call(&mut self, call: CallSiteValue<'ctx>) -> std::result::Result<(), Failure> {
        if let Some(error) = self.refusal(call) {
            return Err(Failure::Call(error));
        }
        let instruction = raw::instruction(call);
        let operands = raw::call_arguments(call);
        let (params, by_address, layout) =
            self.checked(call, &operands).map_err(|(_, message)| bug("lower launches", message))?;
        let operands = &operands[self.leading(call)..];
        let wanted = !View::instruction(instruction).users().is_empty();
        let wrapper = self.wrapper(operands, &by_address, &params, &layout, wanted)?;
        let builder = self.context.create_builder();
        builder.position_before(&instruction);
        if let Some(location) = instruction.get_debug_location() {
            builder.set_current_debug_location(location);
        }
        let args: Vec<BasicMetadataValueEnum<'ctx>> =
            operands.iter().map(|operand| (*operand).into()).collect();
        let new = builder.build_direct_call(wrapper, &args, "")?;
        if let (Some(old), Some(new)) = (result_of(call), result_of(new)) {
            raw::replace_uses(old, new);
        }
        instruction.erase_from_basic_block();
        Ok(())
    }

    /// Operands before those of `@cdp.launch`: one, the prototype, where the kernel is chosen at run time.
    fn leading(&self, call: CallSiteValue<'ctx>) -> usize {
        let called = raw::called(raw::instruction(call));
        let typed = self.module.get_function(LAUNCH_AS);
        usize::from(typed.is_some_and(|f| called == Some(f.as_global_value().as_pointer_value())))
    }

    /// Why a call cannot be lowered.
    fn refusal(&self, call: CallSiteValue<'ctx>) -> Option<LaunchCallError> {
        let instruction = raw::instruction(call);
        let refused = |(argument, message): (Option<u32>, String)| LaunchCallError {
            function: function_name(instruction),
            call: instruction.print_to_string().to_string(),
            argument,
            message,
            place: place::of(instruction),
        };
        if !raw::has_basic_arguments(call) {
            return Some(refused((None, "an argument has a type that no kernel can take".into())));
        }
        self.checked(call, &raw::call_arguments(call)).err().map(refused)
    }

    /// The kernel's parameters, which arguments are addresses to copy from, and the layout; or the
    /// guilty argument (`None` for the call as a whole) and what is wrong.
    fn checked(
        &self,
        call: CallSiteValue<'ctx>,
        operands: &[BasicValueEnum<'ctx>],
    ) -> std::result::Result<Checked<'ctx>, (Option<u32>, String)> {
        let whole = |message: String| (None, message);
        let kernel = self.check_configuration(call, operands).map_err(whole)?;
        let params = kernel_params(self.context, self.data, kernel);
        let first = FIXED_OPERANDS as usize + self.leading(call);
        let args = &operands[first..];
        if args.len() != params.len() {
            let count = params.len();
            let message = format!("the kernel has {count} parameters, {} are given", args.len());
            return Err(whole(message));
        }
        let mut by_address = Vec::new();
        for (index, (param, operand)) in params.iter().zip(args).enumerate() {
            let index = index as u32;
            let address = self
                .check_argument(call, index, param, *operand)
                .map_err(|message| (Some(index), message))?;
            by_address.push(address);
        }
        let sizes: Vec<_> = params.iter().map(|param| param.size).collect();
        let layout = buffer_layout(&sizes).map_err(|error| whole(error.to_string()))?;
        Ok((params, by_address, layout))
    }

    /// Everything before the kernel's own arguments; yields the kernel.
    fn check_configuration(
        &self,
        call: CallSiteValue<'ctx>,
        operands: &[BasicValueEnum<'ctx>],
    ) -> std::result::Result<FunctionValue<'ctx>, String> {
        let result = result_of(call).map(|value| value.get_type());
        if let Some(ty) = result.filter(|ty| *ty != self.context.i32_type().into()) {
            return Err(format!(
                "yields {}, and the error code of a launch is an i32",
                type_text(ty)
            ));
        }
        let leading = self.leading(call);
        if operands.len() < FIXED_OPERANDS as usize + leading {
            return Err(format!(
                "takes {}a kernel, six dimensions, shared bytes and a stream before the kernel's \
                 arguments; {} operands are given",
                if leading > 0 { "a kernel as prototype, " } else { "" },
                operands.len()
            ));
        }
        let kernel = raw::as_function(operands[0]).ok_or_else(|| {
            "the first operand is not a function: the parameters of a kernel that is chosen at run \
             time are not known, so launch each kernel by its name, or give a kernel with the same \
             parameters to @cdp.launch.as"
                .to_string()
        })?;
        if kernel.get_call_conventions() != PTX_KERNEL {
            let name = kernel.get_name().to_string_lossy();
            return Err(format!(
                "`{name}` is not a kernel: declare it with calling convention ptx_kernel"
            ));
        }
        let operands = &operands[leading..];
        for (operand, (ty, what)) in operands.iter().zip(self.fixed_types()) {
            if operand.get_type() != ty {
                let (given, wanted) = (operand.get_type(), ty);
                return Err(format!(
                    "{what} has type {}, not {}",
                    type_text(given),
                    type_text(wanted)
                ));
            }
        }
        let stream = raw::constant_address(operands[8]).and_then(StreamConst::from_value);
        if let Some(stream) = stream {
            // CDP2, since a CDP1 program has a v1 ABI, which is refused all the same.
            stream
                .check(self.options.abi, CdpVersion::Cdp2)
                .map_err(|refusal| format!("the stream is {}: {refusal}", stream.name()))?;
        }
        Ok(kernel)
    }

    fn fixed_types(&self) -> [(BasicTypeEnum<'ctx>, &'static str); FIXED_OPERANDS as usize] {
        let ptr = self.context.ptr_type(inkwell::AddressSpace::default()).into();
        let word = self.context.i32_type().into();
        [
            (ptr, "the kernel"),
            (word, "the grid's x"),
            (word, "the grid's y"),
            (word, "the grid's z"),
            (word, "the block's x"),
            (word, "the block's y"),
            (word, "the block's z"),
            (word, "the shared memory size"),
            (ptr, "the stream"),
        ]
    }

    /// Whether the argument is an address that is to be copied from; an error text when its type
    /// does not fit.
    fn check_argument(
        &self,
        call: CallSiteValue<'ctx>,
        index: u32,
        param: &KernelParam<'ctx>,
        operand: BasicValueEnum<'ctx>,
    ) -> std::result::Result<bool, String> {
        let position = FIXED_OPERANDS + self.leading(call) as u32 + index;
        let at = AttributeLoc::Param(position);
        let byval = Attribute::get_named_enum_kind_id("byval");
        let given = operand.get_type();
        if !param.by_value {
            if param.size.align_bytes > MAX_PARAM_ALIGN {
                // ptxas would place it by its own alignment, the parent by at most 16.
                return Err(format!(
                    "is {}, which as a direct parameter is aligned to {}, and parameters align to \
                     {MAX_PARAM_ALIGN} at most: take it as `ptr byval(...) align {MAX_PARAM_ALIGN}`",
                    type_text(param.ty),
                    param.size.align_bytes
                ));
            }
            if given == param.ty {
                return Ok(false);
            }
            return Err(format!(
                "has type {}, the kernel's parameter {}",
                type_text(given),
                type_text(param.ty)
            ));
        }
        if given.is_pointer_type() {
            if call.get_enum_attribute(at, byval).is_some() {
                let copied = raw::call_byval_type(call, position);
                let bytes = copied.map_or(0, |ty| self.data.get_abi_size(&ty));
                if bytes == param.size.size_bytes {
                    return Ok(true);
                }
                return Err(format!(
                    "is a byval pointer to {bytes} bytes, the kernel's parameter has {}",
                    param.size.size_bytes
                ));
            }
            return Err(format!(
                "is a pointer, and the kernel takes {} by value: pass the value, or a pointer with \
                 the attribute byval",
                type_text(param.ty)
            ));
        }
        if self.data.get_abi_size(&given) != param.size.size_bytes {
            return Err(format!(
                "has {} bytes, the kernel's parameter {}",
                self.data.get_abi_size(&given),
                param.size.size_bytes
            ));
        }
        Ok(false)
    }

    /// A function with the call's operands as parameters and the launch sequence as its body; `wanted` says
    /// whether anybody reads the error.
    fn wrapper(
        &mut self,
        operands: &[BasicValueEnum<'ctx>],
        by_address: &[bool],
        params: &[KernelParam<'ctx>],
        layout: &BufferLayout,
        wanted: bool,
    ) -> std::result::Result<FunctionValue<'ctx>, Failure> {
        let types: Vec<BasicMetadataTypeEnum<'ctx>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        let ty = self.context.i32_type().fn_type(&types, false);
        let name = format!("__cdp_launch_{}", self.count);
        self.count += 1;
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        for flag in ["alwaysinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(flag);
            let attribute = self.context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        let entry = self.context.append_basic_block(function, "entry");
        let builder = self.context.create_builder();
        builder.position_at_end(entry);
        let values = function.get_params();
        let word = |index: usize| -> std::result::Result<IntValue<'ctx>, LowerError> {
            match values[index] {
                BasicValueEnum::IntValue(value) => Ok(value),
                _ => Err(bug("lower launches", "an operand that is no integer")),
            }
        };
        let pointer = |index: usize| -> std::result::Result<PointerValue<'ctx>, LowerError> {
            match values[index] {
                BasicValueEnum::PointerValue(value) => Ok(value),
                _ => Err(bug("lower launches", "an operand that is no pointer")),
            }
        };
        let peek = peek_symbol(self.options)?;
        let site = LaunchSite {
            module: self.module,
            abi: self.options.abi,
            address_bits: self.address_bits,
            per_thread_stream: self.options.per_thread_stream,
            null_error: wanted.then_some(&*peek),
        };
        let config = LaunchConfig {
            kernel: pointer(0)?,
            grid: [word(1)?, word(2)?, word(3)?],
            block: [word(4)?, word(5)?, word(6)?],
            shared_bytes: word(7)?,
            stream: pointer(8)?,
        };
        let pending = begin_launch(&builder, &site, config, layout)?;
        let mut args = Vec::new();
        for (index, (param, by_address)) in params.iter().zip(by_address).enumerate() {
            let value = values[FIXED_OPERANDS as usize + index];
            args.push(match (value, by_address) {
                (BasicValueEnum::PointerValue(address), true) => {
                    let align = cdp_launch::param_align(param.size.align_bytes) as u32;
                    LaunchArg::Memory { address, align }
                }
                (BasicValueEnum::IntValue(bit), _) if bit.get_type().get_bit_width() == 1 => {
                    let byte = self.context.i8_type();
                    LaunchArg::Value(builder.build_int_z_extend(bit, byte, "")?.into())
                }
                (value, _) => LaunchArg::Value(value),
            });
        }
        let result = finish_launch(&builder, &site, pending, layout, &args)?;
        builder.build_return(Some(&result))?;
        Ok(function)
    }
}

fn result_of<'ctx>(call: CallSiteValue<'ctx>) -> Option<BasicValueEnum<'ctx>> {
    call.try_as_basic_value().basic()
}

pub(super) fn function_name(instruction: InstructionValue<'_>) -> String {
    instruction
        .get_parent()
        .and_then(|block| block.get_parent())
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .unwrap_or_default()
}
