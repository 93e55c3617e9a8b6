//! Runs the kernel that the build script compiled, on a GPU if there is one, else on the CPU device.

use cdp_run::{Arg, KernelRun, run_kernel};
use cdp_runtime::cpu::{CpuOptions, MessageFormat, Sinks};
use cdp_runtime::{DeviceChoice, ModuleImage, open_device};

mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

fn run() -> Result<Vec<i32>, Box<dyn std::error::Error>> {
    let texts = kernels::PTX.map(|text| ("kernels.ptx", text.as_bytes()));
    let image = ModuleImage { cubin: kernels::CUBIN, ptx: &texts };
    let sinks = Sinks::standard(MessageFormat::Human);
    let device = open_device(DeviceChoice::Auto, &image, CpuOptions::default(), sinks)?;
    let args: [Arg; 2] = ["i32[5] 1,2,3,4,5".parse()?, "5".parse()?];
    let run = KernelRun {
        kernel: kernels::START,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        args: &args,
    };
    let results = run_kernel(device.as_ref(), &image, &run)?;
    let bytes = results.first().map(|result| result.array.bytes.as_slice()).unwrap_or_default();
    Ok(bytes.chunks_exact(4).filter_map(|c| c.try_into().ok()).map(i32::from_le_bytes).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", run()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernels_of_the_build_script_run() {
        assert_eq!(super::run().expect("the kernel runs"), [2, 4, 6, 8, 10]);
    }
}
