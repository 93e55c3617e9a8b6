//! The door for compilers that have an inkwell builder in hand: a launch at the builder's position.

mod common;

use cdp_launch::{LaunchAbi, ParamSize, buffer_layout};
use cdp_llvm::inkwell::context::Context;
use cdp_llvm::inkwell::{AddressSpace, values::BasicValueEnum};
use cdp_llvm::{LaunchArg, LaunchConfig, LaunchSite, begin_launch, finish_launch, lower_foreign};

/// LLVM's number of the calling convention `ptx_kernel`.
const PTX_KERNEL: u32 = 71;

#[test]
fn a_launch_at_a_builder() {
    for abi in LaunchAbi::ALL {
        let context = Context::create();
        let module = context.create_module("embedder");
        let (void, word) = (context.void_type(), context.i32_type());
        let ptr = context.ptr_type(AddressSpace::default());
        let child =
            module.add_function("child", void.fn_type(&[ptr.into(), word.into()], false), None);
        child.set_call_conventions(PTX_KERNEL);
        let parent = module.add_function("parent", void.fn_type(&[ptr.into()], false), None);
        parent.set_call_conventions(PTX_KERNEL);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(parent, "entry"));

        let sizes = [
            ParamSize { size_bytes: 8, align_bytes: 8 },
            ParamSize { size_bytes: 4, align_bytes: 4 },
        ];
        let layout = buffer_layout(&sizes).unwrap();
        let site = LaunchSite {
            module: &module,
            abi,
            address_bits: 64,
            per_thread_stream: false,
            null_error: None,
        };
        let one = word.const_int(1, false);
        let config = LaunchConfig {
            kernel: child.as_global_value().as_pointer_value(),
            grid: [one; 3],
            block: [word.const_int(32, false), one, one],
            shared_bytes: word.const_zero(),
            stream: ptr.const_null(),
        };
        let pending = begin_launch(&builder, &site, config, &layout).unwrap();
        let pointer = parent.get_nth_param(0).unwrap();
        let args = [
            LaunchArg::Value(pointer),
            LaunchArg::Value(BasicValueEnum::IntValue(word.const_int(5, false))),
        ];
        let error = finish_launch(&builder, &site, pending, &layout, &args).unwrap();
        let BasicValueEnum::PointerValue(pointer) = pointer else { panic!("a pointer") };
        builder.build_store(pointer, error).unwrap();
        builder.build_return(None).unwrap();
        module.verify().unwrap();

        let options = common::options("sm_90", abi);
        let text = module.print_to_string().to_string();
        let (lowered, _) = lower_foreign("embedder", text.as_bytes(), 64, &options).unwrap();
        let ptx = lowered.emit_ptx().unwrap();
        assert!(ptx.contains(".extern .entry child"), "{ptx}");
        common::assemble(&ptx, "sm_90", 64);
    }
}
