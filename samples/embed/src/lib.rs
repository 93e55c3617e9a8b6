//! `calc`, a tiny data-parallel calculator language: how to embed cdp in the compiler of another
//! language.
//!
//! All values are double-precision numbers; a parameter `x[]` is an array of them in device memory.
//!
//! ```text
//! kernel name(array[], number) {     # every thread of it runs the body
//!     let x = array[index] * 2;      # `index` is the thread's number
//!     array[index] = x - number;
//!     if x > 1 { ... }
//!     spawn other[n](array, x);      # launches n threads of a kernel, after those spawned before
//!     finally other[n](array, x);    # the same when this kernel and all it spawned are done
//! }
//! ```
//!
//! The compiler is [`compile::compile`]. Its `spawn` is one call of cdp's [`LaunchCall`]: parameter
//! buffers, their alignment, entry points and the device link are not its business.
//!
//! [`LaunchCall`]: cdp::llvm::LaunchCall

pub mod compile;

use std::error::Error;

use cdp::llvm::inkwell::context::Context;
use cdp::{Arch, CompileOptions, Compiler, Goal, Input};
use cdp_run::{KernelRun, run_kernel};
use cdp_runtime::cpu::{CpuOptions, MessageFormat, Sinks};
use cdp_runtime::{DeviceChoice, ModuleImage, gpu_for, open_device};

/// PTX of a program.
pub fn to_ptx(compiler: &Compiler, text: &str) -> Result<String, Box<dyn Error>> {
    let context = Context::create();
    let module = compile::compile(&context, text).map_err(|wrong| wrong.0)?;
    Ok(compiler.emit_module(&module, Arch::SM_90, &CompileOptions::default())?.ptx)
}

/// A linked cubin of a program, for a GPU. Takes ptxas and nvlink.
pub fn to_cubin(compiler: &Compiler, text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let input = [Input::ptx("calc.ptx", to_ptx(compiler, text)?)];
    Ok(compiler.compile(&input, Goal::Cubin, &CompileOptions::default())?.bytes)
}

/// Runs one thread of `main` with an array of `count` zeros, on a GPU if there is one, else on the CPU
/// device; gives the array back.
pub fn run(compiler: &Compiler, text: &str, count: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let ptx = to_ptx(compiler, text)?;
    let cubin = if gpu_for(&[]).is_some() { to_cubin(compiler, text)? } else { Vec::new() };
    let image = ModuleImage { cubin: &cubin, ptx: &[("calc.ptx", ptx.as_bytes())] };
    let sinks = Sinks::standard(MessageFormat::Human);
    let device = open_device(DeviceChoice::Auto, &image, CpuOptions::default(), sinks)?;
    let args = ["i32 1".parse()?, format!("zeros f64[{count}]").parse()?];
    let launch =
        KernelRun { kernel: "main", grid: [1; 3], block: [1; 3], shared_bytes: 0, args: &args };
    let buffers = run_kernel(device.as_ref(), &image, &launch)?;
    let words = buffers[0].array.bytes.as_chunks().0;
    Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
}
