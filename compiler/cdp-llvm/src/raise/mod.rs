//! Raising: launches that another compiler has already written as calls of the device runtime become
//! `@cdp.launch` again, so that the lowering chooses their entry points and knows their arguments.
//!
//! What compilers write for a launch (clang, at every optimisation level):
//!
//! ```text
//! %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 <size>)
//! if (%b != null) { stores to %b;  call i32 @__cudaCDP2LaunchDevice(@child, %b, <dims>, <shared>, <stream>) }
//! ```
//!
//! or the same with the entry points of version 2, which take the configuration with the buffer. The
//! stores are not looked at: the buffer becomes a variable of the function, and the arguments are read
//! from it where the kernel's parameters lie in the compiler's layout. Optimisation makes values of them.
//! A launch of a kernel that is only known at run time becomes a launch with the variable's bytes as its
//! buffer, which is the same for every kernel.
//!
//! The one difference that a program could see: when there is no buffer left, its arguments are
//! evaluated all the same.
//!
//! What is absent: functions around the entry points, which CUDA's headers have, are inlined first
//! ([`helpers`]); a sequence of version 1 that is not understood is told of, one of version 2 stays as it
//! is, since nothing is wrong with it.

use cdp_launch::{EntryPoint, LaunchAbi, MAX_BUFFER_BYTES, ParamSize, buffer_layout};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{
    AnyValue, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue,
    IntValue, PointerValue,
};

use crate::error::LaunchCallError;
use crate::error::{LowerError, Result, bug};
use crate::kernel::{KernelParam, PTX_KERNEL, kernel_param};
use crate::options::LowerOptions;
use crate::raw;

mod emit;
mod helpers;
pub(crate) mod place;

/// Alignment of the variable that stands for a buffer: what compilers take a buffer's to be, in bytes.
const VARIABLE_ALIGN: u32 = 64;

/// A call of an entry point.
#[derive(Clone, Copy)]
struct Call<'ctx> {
    at: InstructionValue<'ctx>,
    entry: EntryPoint,
    v2: bool,
}

impl<'ctx> Call<'ctx> {
    /// An operand by its place among the arguments.
    fn operand(&self, index: u32) -> Option<BasicValueEnum<'ctx>> {
        self.at.get_operand(index).and_then(|operand| operand.value())
    }

    /// The buffer that a launch hands over.
    fn buffer(&self) -> Option<BasicValueEnum<'ctx>> {
        self.operand(if self.v2 { 0 } else { 1 })
    }

    fn function(&self) -> Option<FunctionValue<'ctx>> {
        raw::owner(self.at)
    }
}

/// Raises every launch of a module. Yields what was not understood, for the caller to judge.
pub(crate) fn raise<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
    address_bits: u32,
    options: &LowerOptions,
) -> Result<Vec<LaunchCallError>> {
    if entry_calls(module, options).is_empty() {
        return Ok(Vec::new());
    }
    helpers::inline(module, options);
    let mut raising = Raising { context, module, data, address_bits, options, indirect: 0 };
    let calls = entry_calls(module, options);
    let mut problems = Vec::new();
    let (buffers, launches): (Vec<_>, Vec<_>) =
        calls.into_iter().partition(|call| call.entry == EntryPoint::GetParameterBuffer);
    let mut left = launches.clone();
    for buffer in buffers {
        match raising.raise_buffer(buffer, &launches)? {
            Ok(raised) => left.retain(|launch| !raised.contains(&launch.at)),
            Err(_) if buffer.v2 => left.retain(|launch| !launch.v2 || !uses(*launch, buffer)),
            Err(message) => {
                left.retain(|launch| !uses(*launch, buffer));
                problems.push(problem(buffer, &message));
            }
        }
    }
    for launch in left {
        let without = launch.buffer().and_then(raw::constant_address) == Some(0);
        let message = match without && !launch.v2 {
            true => raising.raise_bare(launch)?.err(),
            false => Some("it is not seen where its parameter buffer comes from".into()),
        };
        if let Some(message) = message.filter(|_| !launch.v2) {
            problems.push(problem(launch, &message));
        }
    }
    drop_unused_entry_points(module);
    Ok(problems)
}

/// Nothing of a launch that was taken over is left, not even a declaration.
fn drop_unused_entry_points(module: &Module<'_>) {
    for abi in LaunchAbi::ALL {
        for entry in [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice] {
            for per_thread in [false, true] {
                let function = module.get_function(abi.symbol(entry, per_thread));
                let unused = function.filter(|f| raw::is_declaration(*f) && !raw::has_uses(*f));
                if let Some(function) = unused {
                    // SAFETY: nothing uses it.
                    unsafe { function.delete() };
                }
            }
        }
    }
}

/// Whether a launch hands over the buffer of a call.
fn uses(launch: Call<'_>, buffer: Call<'_>) -> bool {
    let given = launch.buffer().and_then(|value| value.as_instruction_value());
    given == Some(buffer.at)
}

fn problem(call: Call<'_>, message: &str) -> LaunchCallError {
    LaunchCallError {
        function: call.function().map(name_of).unwrap_or_default(),
        call: call.at.print_to_string().to_string(),
        argument: None,
        message: format!(
            "{message}, so this launch cannot be taken over: write it with <<<...>>>, or with the \
             entry points of version 2"
        ),
        place: place::of(call.at),
    }
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

/// The calls of all entry points, in no particular order of the module, but always in the same.
fn entry_calls<'ctx>(module: &Module<'ctx>, options: &LowerOptions) -> Vec<Call<'ctx>> {
    let mut calls: Vec<Call<'ctx>> = Vec::new();
    // Version 2 does all that can be asked for: from a front end without promises it stays.
    for abi in LaunchAbi::ALL.into_iter().filter(|abi| !abi.is_v2() || options.strict_launches) {
        for entry in [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice] {
            // With the option, launches go to the thread's stream whatever they are spelt like.
            for per_thread in
                [false, true].into_iter().filter(|on| !on || options.per_thread_stream)
            {
                let function = module.get_function(abi.symbol(entry, per_thread));
                let Some(function) = function.filter(|f| raw::is_declaration(*f)) else { continue };
                let callee = Some(function.as_global_value().as_pointer_value());
                let mut users = raw::users(function);
                users.reverse();
                for at in users.into_iter().filter(|at| raw::called(*at) == callee) {
                    if !calls.iter().any(|call| call.at == at) {
                        calls.push(Call { at, entry, v2: abi.is_v2() });
                    }
                }
            }
        }
    }
    calls
}

struct Raising<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    data: &'a TargetData,
    address_bits: u32,
    options: &'a LowerOptions,
    /// Launches of kernels chosen at run time so far, for names.
    indirect: u32,
}

/// What is not understood, as the end of a sentence.
type Understood<T> = std::result::Result<T, String>;

/// A kernel and its configuration.
struct Configuration<'ctx> {
    kernel: PointerValue<'ctx>,
    /// The grid's and the block's dimensions.
    dims: [IntValue<'ctx>; 6],
    shared_bytes: IntValue<'ctx>,
}

/// Where a kernel's parameters lie in the buffer of the compiler that wrote the launch.
struct Parameters<'ctx> {
    kernel: FunctionValue<'ctx>,
    params: Vec<KernelParam<'ctx>>,
    offsets: Vec<u64>,
    /// The end of the last.
    bytes: u64,
    align: u64,
}

impl<'ctx> Raising<'_, 'ctx> {
    /// Raises the launches that hand over one buffer; yields these.
    fn raise_buffer(
        &mut self,
        buffer: Call<'ctx>,
        launches: &[Call<'ctx>],
    ) -> Result<Understood<Vec<InstructionValue<'ctx>>>> {
        let users = match self.users_of_buffer(buffer, launches) {
            Ok(users) => users,
            Err(message) => return Ok(Err(message)),
        };
        // A program may ask for a buffer and launch nothing.
        if users.launches.is_empty() && !users.is_handed_on {
            return Ok(Ok(Vec::new()));
        }
        let planned = match self.plan(buffer, &users.launches) {
            Ok(planned) => planned,
            Err(message) => return Ok(Err(message)),
        };
        let builder = self.context.create_builder();
        let variable = self.variable(buffer, planned.bytes)?;
        let early = if buffer.v2 { Some(self.configuration(&builder, buffer, 0)?) } else { None };
        self.replace_buffer(buffer, &users, variable);
        let mut raised = Vec::new();
        for (launch, parameters) in users.launches.iter().zip(planned.kernels) {
            let (config, stream) = match &early {
                Some(config) => (config, 1),
                None => (&self.configuration(&builder, *launch, 1)?, 5),
            };
            builder.position_before(&launch.at);
            let stream = self.pointer(&builder, launch.operand(stream))?;
            let error = match parameters {
                Some(parameters) => {
                    self.call(&builder, config, stream, &parameters, Some(variable))?
                }
                None => {
                    let args = match planned.is_computed {
                        true => Bytes::Computed(buffer),
                        false => Bytes::Known(planned.bytes),
                    };
                    self.indirect(&builder, config, stream, variable, args)?
                }
            };
            replace(*launch, error);
            raised.push(launch.at);
        }
        Ok(Ok(raised))
    }

    /// A launch of a kernel without parameters that hands over no buffer.
    fn raise_bare(&mut self, launch: Call<'ctx>) -> Result<Understood<()>> {
        let parameters = match self.check_launch(launch).and_then(|()| {
            let kernel = launch.operand(0).and_then(raw::as_function);
            let kernel = kernel.ok_or("its kernel is chosen at run time, and has no buffer")?;
            self.parameters(kernel, 0)
        }) {
            Ok(parameters) => parameters,
            Err(message) => return Ok(Err(message)),
        };
        let builder = self.context.create_builder();
        let config = self.configuration(&builder, launch, 1)?;
        let stream = self.pointer(&builder, launch.operand(5))?;
        let error = self.call(&builder, &config, stream, &parameters, None)?;
        replace(launch, error);
        Ok(Ok(()))
    }

    /// What the program does with a buffer.
    fn users_of_buffer(
        &self,
        buffer: Call<'ctx>,
        launches: &[Call<'ctx>],
    ) -> Understood<BufferUsers<'ctx>> {
        let mut users = BufferUsers::default();
        for at in raw::users_of(buffer.at) {
            if let Some(launch) = launches.iter().find(|launch| launch.at == at) {
                users.launches.push(*launch);
                continue;
            }
            match at.get_opcode() {
                InstructionOpcode::ICmp => {
                    let null = |index| {
                        let operand = at.get_operand(index).and_then(|operand| operand.value());
                        operand.and_then(raw::constant_address) == Some(0)
                    };
                    if !null(0) && !null(1) {
                        return Err("its parameter buffer is compared with another address".into());
                    }
                    users.tests.push(at);
                }
                InstructionOpcode::Store if raw::operand_is(at, 0, buffer.at) => {
                    return Err("the address of its parameter buffer is stored".into());
                }
                InstructionOpcode::Phi | InstructionOpcode::Select => {
                    return Err("its parameter buffer is one of several".into());
                }
                InstructionOpcode::Return => {
                    return Err("its parameter buffer is handed to another function".into());
                }
                InstructionOpcode::PtrToInt => {
                    return Err("its parameter buffer is used as a number".into());
                }
                InstructionOpcode::Call => users.is_handed_on = true,
                // Addresses in it, stores, loads: it is memory.
                _ => {}
            }
        }
        users.launches.reverse();
        Ok(users)
    }

    /// What is to be done for the launches of a buffer; nothing is changed yet.
    fn plan(&self, buffer: Call<'ctx>, launches: &[Call<'ctx>]) -> Understood<Planned<'ctx>> {
        if launches.is_empty() {
            return Err("nothing is launched with its parameter buffer".into());
        }
        let size = if buffer.v2 {
            check_configuration(buffer, 0)?;
            None
        } else {
            match buffer.operand(1) {
                Some(BasicValueEnum::IntValue(size)) => size.get_zero_extended_constant(),
                _ => None,
            }
        };
        // A size that is computed is that of the kernel's parameters, and whatever it is the buffer holds it.
        let any = if buffer.v2 { 0 } else { MAX_BUFFER_BYTES };
        let (mut kernels, mut bytes) = (Vec::new(), size.unwrap_or(any));
        for launch in launches {
            if launch.v2 != buffer.v2 {
                return Err("it mixes entry points of two versions".into());
            }
            self.check_launch(*launch)?;
            let kernel = if buffer.v2 { buffer.operand(0) } else { launch.operand(0) };
            let Some(kernel) = kernel.and_then(raw::as_function) else {
                buffer_layout(&[ParamSize { size_bytes: bytes, align_bytes: 1 }])
                    .map_err(|error| error.to_string())?;
                kernels.push(None);
                continue;
            };
            let parameters = match size {
                Some(size) => self.parameters(kernel, size)?,
                None => self.natural(kernel)?,
            };
            bytes = bytes.max(parameters.bytes);
            kernels.push(Some(parameters));
        }
        Ok(Planned { kernels, bytes, is_computed: !buffer.v2 && size.is_none() })
    }

    /// That a launch has the operands of its entry point.
    fn check_launch(&self, launch: Call<'ctx>) -> Understood<()> {
        let stream = if launch.v2 {
            launch.operand(1)
        } else {
            check_configuration(launch, 1)?;
            launch.operand(5)
        };
        match stream {
            Some(BasicValueEnum::PointerValue(_) | BasicValueEnum::IntValue(_)) => Ok(()),
            _ => Err("its stream is no address".into()),
        }
    }

    /// The parameters of a kernel whose launch asks for a buffer of `size` bytes.
    fn parameters(&self, kernel: FunctionValue<'ctx>, size: u64) -> Understood<Parameters<'ctx>> {
        let parameters = self.natural(kernel)?;
        // Up to the end of the last, or that of a struct of all of them.
        let most = parameters.bytes.next_multiple_of(parameters.align);
        if (parameters.bytes..=most).contains(&size) {
            return Ok(parameters);
        }
        Err(format!(
            "its parameter buffer has {size} bytes, and the parameters of kernel `{}` take {}",
            name_of(kernel),
            parameters.bytes
        ))
    }

    /// Every parameter at the next multiple of its own alignment, as every compiler lays them out.
    fn natural(&self, kernel: FunctionValue<'ctx>) -> Understood<Parameters<'ctx>> {
        if kernel.get_call_conventions() != PTX_KERNEL && !raw::is_declaration(kernel) {
            return Err(format!("`{}` is a function and no kernel", name_of(kernel)));
        }
        if raw::odd_param(kernel).is_some() {
            return Err(format!("kernel `{}` has a parameter of an odd type", name_of(kernel)));
        }
        let mut out =
            Parameters { kernel, params: Vec::new(), offsets: Vec::new(), bytes: 0, align: 1 };
        for index in 0..kernel.count_params() {
            let param = kernel_param(self.context, self.data, kernel, index);
            let align = param.size.align_bytes;
            if !align.is_power_of_two() {
                return Err(format!("parameter {index} has alignment {align}"));
            }
            let offset = out.bytes.next_multiple_of(align);
            out.bytes = offset.saturating_add(param.size.size_bytes);
            out.align = out.align.max(align);
            out.offsets.push(offset);
            out.params.push(param);
        }
        Ok(out)
    }

    /// The variable that takes a buffer's place.
    fn variable(&self, buffer: Call<'ctx>, bytes: u64) -> Result<PointerValue<'ctx>> {
        let entry = buffer.function().and_then(|function| function.get_first_basic_block());
        let first = entry.and_then(|block| block.get_first_instruction());
        let first = first.ok_or_else(|| bug("raise", "a call outside of every function"))?;
        let builder = self.context.create_builder();
        builder.position_before(&first);
        builder.unset_current_debug_location();
        // An empty buffer is an address too.
        let bytes = u32::try_from(bytes.max(1)).unwrap_or(u32::MAX);
        let variable = builder.build_alloca(self.context.i8_type().array_type(bytes), "args")?;
        if let Some(instruction) = variable.as_instruction() {
            let set = instruction.set_alignment(VARIABLE_ALIGN);
            set.map_err(|error| bug("raise", error.to_string()))?;
        }
        Ok(variable)
    }

    fn replace_buffer(
        &self,
        buffer: Call<'ctx>,
        users: &BufferUsers<'ctx>,
        variable: PointerValue<'ctx>,
    ) {
        for test in &users.tests {
            // Variables have addresses.
            let is_null = test.get_icmp_predicate() == Some(inkwell::IntPredicate::EQ);
            let bit = self.context.bool_type().const_int(u64::from(!is_null), false);
            raw::replace_instruction(*test, bit.into());
        }
        raw::replace_instruction(buffer.at, variable.into());
    }
}

#[derive(Default)]
struct BufferUsers<'ctx> {
    /// Whether a call gets its address, or a part's, that launches nothing.
    is_handed_on: bool,
    /// In the order of the module.
    launches: Vec<Call<'ctx>>,
    /// Comparisons with NULL.
    tests: Vec<InstructionValue<'ctx>>,
}

struct Planned<'ctx> {
    /// For each launch; `None` for a kernel that is chosen at run time.
    kernels: Vec<Option<Parameters<'ctx>>>,
    /// Size of the variable.
    bytes: u64,
    /// Whether the size of the buffer is computed at run time.
    is_computed: bool,
}

/// How many bytes of the variable are the arguments of a kernel that is chosen at run time.
#[derive(Clone, Copy)]
enum Bytes<'ctx> {
    Known(u64),
    /// As many as this call asks for.
    Computed(Call<'ctx>),
}

/// That the kernel, dimensions and shared memory of a call have forms that are known.
fn check_configuration(call: Call<'_>, at: u32) -> Understood<()> {
    let address = |value: &BasicValueEnum<'_>| value.is_pointer_value() || value.is_int_value();
    if !call.operand(0).as_ref().is_some_and(address) {
        return Err("its kernel is no address".into());
    }
    for index in [at + 1, at + 2] {
        let known = match call.operand(index) {
            Some(BasicValueEnum::PointerValue(_)) => true,
            Some(BasicValueEnum::ArrayValue(value)) => {
                let ty = value.get_type();
                ty.len() == 3 && is_word(ty.get_element_type())
            }
            Some(BasicValueEnum::StructValue(value)) => {
                let fields = value.get_type().get_field_types();
                fields.len() == 3 && fields.into_iter().all(is_word)
            }
            _ => false,
        };
        if !known {
            return Err("its dimensions have a form of their own".into());
        }
    }
    match call.operand(at + 3) {
        Some(BasicValueEnum::IntValue(bytes)) if bytes.get_type().get_bit_width() == 32 => Ok(()),
        _ => Err("its shared memory size is no 32-bit number".into()),
    }
}

fn is_word(ty: inkwell::types::BasicTypeEnum<'_>) -> bool {
    ty.is_int_type() && ty.into_int_type().get_bit_width() == 32
}

/// Puts a launch's error in the place of the call that is raised.
fn replace<'ctx>(launch: Call<'ctx>, error: BasicValueEnum<'ctx>) {
    raw::replace_instruction(launch.at, error);
}

/// For callers that take no other launches.
pub(crate) fn refuse(problems: Vec<LaunchCallError>) -> Result<()> {
    if problems.is_empty() { Ok(()) } else { Err(LowerError::Launches(problems)) }
}
