//! Which device runs a program: what the user asks for, what the machine has, what the program's code
//! is made for.

use crate::cpu::{CpuDevice, CpuOptions, Sinks};
use crate::device::{Device, ModuleImage};
use crate::error::Result;
use crate::gpu::{self, GpuDevice};
use crate::image::{self, ptx_capability};

/// Which device was asked for: `CDP_DEVICE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The GPU if there is one that runs the program's machine code, else the CPU device.
    #[default]
    Auto,
    /// The CPU device.
    Cpu,
    /// A GPU, or an error.
    Gpu,
}

impl std::str::FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<DeviceChoice, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "gpu" => Ok(DeviceChoice::Gpu),
            other => Err(format!("`{other}` is not a device: auto, cpu or gpu")),
        }
    }
}

impl DeviceChoice {
    /// The choice where these options count: what the CPU device alone does wants it.
    pub fn settled(self, options: &CpuOptions) -> DeviceChoice {
        match self {
            DeviceChoice::Auto if options.ask_for_cpu() => DeviceChoice::Cpu,
            choice => choice,
        }
    }
}

/// The number of GPUs, if there is one and it runs all of this machine code.
pub fn gpu_for(cubins: &[&[u8]]) -> Option<i32> {
    let count = gpu::device_count().ok()?;
    let capability = gpu::compute_capability(0).ok()?;
    cubins.iter().all(|cubin| image::runs_on(cubin, capability)).then_some(count)
}

/// Opens a device for one image: GPU 0 or the CPU device, with these options and sinks.
///
/// # Errors
/// With [`DeviceChoice::Gpu`], why there is none.
pub fn open_device(
    choice: DeviceChoice,
    image: &ModuleImage<'_>,
    options: CpuOptions,
    sinks: Sinks,
) -> Result<Box<dyn Device>> {
    let on_gpu = match choice.settled(&options) {
        DeviceChoice::Gpu => true,
        DeviceChoice::Cpu => false,
        DeviceChoice::Auto => gpu_for(&[image.cubin]).is_some(),
    };
    if on_gpu {
        return Ok(Box::new(GpuDevice::open(0)?));
    }
    let capability = ptx_capability(image.ptx.iter().map(|(_, text)| *text));
    Ok(Box::new(CpuDevice::new(options, capability, sinks)?))
}
