//! A launch at the position of an inkwell builder: the finished call sequence, in two halves, for a compiler
//! that has a back end of its own or evaluates a launch's arguments between the halves, as CUDA does.
//! (Who needs neither builds a call with `cdp_llvm::LaunchCall`.)
//!
//! `cargo run -p cdp-llvm --example builder` prints the PTX.

use cdp_launch::{LaunchAbi, ParamSize, buffer_layout};
use cdp_llvm::inkwell::AddressSpace;
use cdp_llvm::inkwell::context::Context;
use cdp_llvm::{
    LaunchArg, LaunchConfig, LaunchSite, LowerError, LowerOptions, PTX_KERNEL, begin_launch,
    finish_launch, lower_foreign,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", ptx(LaunchAbi::Cdp2V2)?);
    Ok(())
}

/// `parent(out)`, which launches `child<<<1, 8>>>(5, out)`.
pub fn ptx(abi: LaunchAbi) -> Result<String, Box<dyn std::error::Error>> {
    let context = Context::create();
    let module = context.create_module("builder");
    let (void, i32) = (context.void_type(), context.i32_type());
    let ptr = context.ptr_type(AddressSpace::default());
    let kernel = |name, parameters: &[_]| {
        let kernel = module.add_function(name, void.fn_type(parameters, false), None);
        kernel.set_call_conventions(PTX_KERNEL);
        kernel
    };
    let child = kernel("child", &[i32.into(), ptr.into()]);
    let parent = kernel("parent", &[ptr.into()]);
    let builder = context.create_builder();

    // The launch.
    builder.position_at_end(context.append_basic_block(parent, "entry"));
    let site = LaunchSite::new(&module, abi);
    let layout = buffer_layout(&[ParamSize::scalar(4), ParamSize::scalar(8)])?;
    let one = i32.const_int(1, false);
    let config = LaunchConfig {
        kernel: child.as_global_value().as_pointer_value(),
        grid: [one; 3],
        block: [i32.const_int(8, false), one, one],
        shared_bytes: i32.const_zero(),
        stream: ptr.const_null(),
    };
    let pending = begin_launch(&builder, &site, config, &layout)?;
    // The buffer is there; now the arguments are evaluated.
    let out = parent.get_nth_param(0).ok_or("parent has a parameter")?;
    let arguments = [LaunchArg::Value(i32.const_int(5, false).into()), LaunchArg::Value(out)];
    let _error = finish_launch(&builder, &site, pending, &layout, &arguments)?;
    builder.build_return(None)?;

    // The child: out[tid] = tid * step.
    builder.position_at_end(context.append_basic_block(child, "entry"));
    let tid = module.add_function("llvm.nvvm.read.ptx.sreg.tid.x", i32.fn_type(&[], false), None);
    let tid = builder.build_call(tid, &[], "tid")?.try_as_basic_value().basic();
    let (Some(tid), [step, out]) = (tid, &child.get_params()[..]) else {
        return Err("child has two parameters".into());
    };
    let (tid, step, out) = (tid.into_int_value(), step.into_int_value(), out.into_pointer_value());
    let product = builder.build_int_mul(tid, step, "product")?;
    // SAFETY: the launch has as many threads as `out` has elements.
    let element = unsafe { builder.build_gep(i32, out, &[tid], "element")? };
    builder.build_store(element, product)?;
    builder.build_return(None)?;

    to_ptx(module.write_bitcode_to_memory().as_slice(), abi).map_err(Into::into)
}

/// Any back end takes the module from here; this is cdp's.
fn to_ptx(bitcode: &[u8], abi: LaunchAbi) -> Result<String, LowerError> {
    let options = LowerOptions::new("sm_90", 80, abi);
    let (lowered, _facts) = lower_foreign("builder", bitcode, 64, &options)?;
    lowered.optimize()?;
    lowered.emit_ptx()
}
