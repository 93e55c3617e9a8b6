//! The call of `@cdp.launch` at a builder's position, for compilers that build their module with
//! inkwell: all they have to say is which kernel, how many blocks and threads, and the arguments.
//!
//! What is absent: what becomes of the call. It is checked and lowered when the module is handed over
//! ([`crate::foreign`]).

use cdp_launch::StreamConst;
use inkwell::AddressSpace;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, PointerValue,
};

use crate::kernel::LAUNCH;

/// Dimensions of a grid or block: numbers, or 32-bit values of the program; y and z are 1 when only x
/// is given.
#[derive(Clone, Copy, Debug)]
pub enum Dimensions<'ctx> {
    /// x, y and z as numbers.
    Constant([u32; 3]),
    /// x, y and z as 32-bit values.
    Value([IntValue<'ctx>; 3]),
    /// x alone.
    X(IntValue<'ctx>),
}

impl From<u32> for Dimensions<'_> {
    fn from(x: u32) -> Self {
        Dimensions::Constant([x, 1, 1])
    }
}

impl From<[u32; 3]> for Dimensions<'_> {
    fn from(axes: [u32; 3]) -> Self {
        Dimensions::Constant(axes)
    }
}

impl<'ctx> From<IntValue<'ctx>> for Dimensions<'ctx> {
    fn from(x: IntValue<'ctx>) -> Self {
        Dimensions::X(x)
    }
}

impl<'ctx> From<[IntValue<'ctx>; 3]> for Dimensions<'ctx> {
    fn from(axes: [IntValue<'ctx>; 3]) -> Self {
        Dimensions::Value(axes)
    }
}

/// The stream that a launch goes into.
#[derive(Clone, Copy, Debug, Default)]
pub enum LaunchStream<'ctx> {
    /// The NULL stream: after the launches before it by the same block.
    #[default]
    Null,
    /// `cudaStreamTailLaunch`: when the launching kernel and all its other launches are done.
    TailLaunch,
    /// `cudaStreamFireAndForget`: at once, alongside everything else.
    FireAndForget,
    /// A stream that the program made on the device.
    Value(PointerValue<'ctx>),
}

/// A launch that is to be called for. One block of one thread, without dynamic shared memory, in the
/// NULL stream, unless told otherwise.
///
/// ```
/// # use cdp_llvm::inkwell::{AddressSpace, context::Context};
/// # use cdp_llvm::{LaunchCall, LaunchStream, PTX_KERNEL};
/// # let context = Context::create();
/// # let module = context.create_module("example");
/// # let ptr = context.ptr_type(AddressSpace::default());
/// # let ty = context.void_type().fn_type(&[ptr.into()], false);
/// # let child = module.add_function("child", ty, None);
/// # child.set_call_conventions(PTX_KERNEL);
/// # let parent = module.add_function("parent", ty, None);
/// # parent.set_call_conventions(PTX_KERNEL);
/// # let builder = context.create_builder();
/// # builder.position_at_end(context.append_basic_block(parent, "entry"));
/// # let out = parent.get_nth_param(0).unwrap();
/// let launch = LaunchCall::new(child).grid(16).block([8, 8, 1]).stream(LaunchStream::TailLaunch);
/// let error = launch.build(&builder, &module, &[out])?; // the cudaError_t, an i32
/// # builder.build_return(None)?;
/// # assert!(module.verify().is_ok() && error.get_type().get_bit_width() == 32);
/// # Ok::<(), cdp_llvm::inkwell::builder::BuilderError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "`build` makes the call"]
pub struct LaunchCall<'ctx> {
    kernel: FunctionValue<'ctx>,
    grid: Dimensions<'ctx>,
    block: Dimensions<'ctx>,
    shared_bytes: Option<IntValue<'ctx>>,
    stream: LaunchStream<'ctx>,
}

impl<'ctx> LaunchCall<'ctx> {
    /// A launch of a kernel of the module, which has calling convention
    /// [`PTX_KERNEL`](crate::PTX_KERNEL) and may be a declaration.
    pub fn new(kernel: FunctionValue<'ctx>) -> Self {
        let one = Dimensions::from(1);
        LaunchCall {
            kernel,
            grid: one,
            block: one,
            shared_bytes: None,
            stream: LaunchStream::default(),
        }
    }

    /// Blocks of the grid.
    pub fn grid(mut self, blocks: impl Into<Dimensions<'ctx>>) -> Self {
        self.grid = blocks.into();
        self
    }

    /// Threads of a block.
    pub fn block(mut self, threads: impl Into<Dimensions<'ctx>>) -> Self {
        self.block = threads.into();
        self
    }

    /// Dynamic shared memory of a block in bytes, an `i32`.
    pub fn shared_bytes(mut self, bytes: IntValue<'ctx>) -> Self {
        self.shared_bytes = Some(bytes);
        self
    }

    /// The stream.
    pub fn stream(mut self, stream: LaunchStream<'ctx>) -> Self {
        self.stream = stream;
        self
    }

    /// Builds the call where `builder` stands, in a function of `module`, with an argument of exactly
    /// the parameter's type for each parameter of the kernel (for a `byval` pointer the aggregate
    /// itself). Yields the `cudaError_t`, an `i32`, 0 for success.
    ///
    /// What is wrong with the call (another number of arguments, another type) is reported when the
    /// module is compiled.
    ///
    /// # Errors
    /// inkwell's, when the builder has no position.
    pub fn build(
        &self,
        builder: &Builder<'ctx>,
        module: &Module<'ctx>,
        args: &[BasicValueEnum<'ctx>],
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let context = module.get_context();
        let word = context.i32_type();
        let axes = |dimensions| match dimensions {
            Dimensions::Constant(axes) => axes.map(|axis| word.const_int(u64::from(axis), false)),
            Dimensions::Value(axes) => axes,
            Dimensions::X(x) => [x, word.const_int(1, false), word.const_int(1, false)],
        };
        let ptr = context.ptr_type(AddressSpace::default());
        let constant = |stream: StreamConst| {
            context.i64_type().const_int(stream.value(), false).const_to_pointer(ptr)
        };
        let stream = match self.stream {
            LaunchStream::Null => ptr.const_null(),
            LaunchStream::TailLaunch => constant(StreamConst::TailLaunch),
            LaunchStream::FireAndForget => constant(StreamConst::FireAndForget),
            LaunchStream::Value(stream) => stream,
        };
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> =
            vec![self.kernel.as_global_value().as_pointer_value().into()];
        for value in axes(self.grid).into_iter().chain(axes(self.block)) {
            operands.push(value.into());
        }
        operands.push(self.shared_bytes.unwrap_or_else(|| word.const_zero()).into());
        operands.push(stream.into());
        operands.extend(args.iter().map(|arg| BasicMetadataValueEnum::from(*arg)));
        let ty = word.fn_type(&[], true);
        let launch = module.get_function(LAUNCH);
        let launch = launch.unwrap_or_else(|| module.add_function(LAUNCH, ty, None));
        // A module may have declared the name with a type of its own; only the call counts.
        let callee = launch.as_global_value().as_pointer_value();
        let call = builder.build_indirect_call(ty, callee, &operands, "launch_error")?;
        Ok(call.try_as_basic_value().basic().map_or(word.get_poison(), |v| v.into_int_value()))
    }
}
