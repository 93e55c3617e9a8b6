//! Which device runs a program: what the user asks for, what the machine has, what the program's code
//! is made for.

use crate::cpu::{CpuDevice, CpuOptions, Sinks};
use crate::device::{Device, ModuleImage};
use crate::error::Result;
use crate::gpu::{self, GpuDevice};
use crate::image;

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

/// The number of GPUs, if there is one and it runs all of this machine code.
pub fn gpu_for(cubins: &[&[u8]]) -> Option<i32> {
    let count = gpu::device_count().ok()?;
    let capability = gpu::compute_capability(0).ok()?;
    cubins.iter().all(|cubin| image::runs_on(cubin, capability)).then_some(count)
}

/// What the CPU device claims to be for a program without PTX.
pub const DEFAULT_CAPABILITY: u32 = 90;

/// The highest architecture that PTX texts are made for (90 for sm_90); [`DEFAULT_CAPABILITY`] without any.
pub fn ptx_capability<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let targets = texts.into_iter().filter_map(|text| {
        let at = text.windows(7).position(|window| window == b".target")?;
        let rest = &text[at + 7..];
        let sm = rest.windows(3).take(64).position(|window| window == b"sm_")?;
        let digits: Vec<u8> =
            rest[sm + 3..].iter().copied().take_while(u8::is_ascii_digit).take(4).collect();
        std::str::from_utf8(&digits).ok()?.parse().ok()
    });
    targets.max().unwrap_or(DEFAULT_CAPABILITY)
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
    let on_gpu = match choice {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_target_counts() {
        let texts: [&[u8]; 3] =
            [b".version 8.0\n.target sm_75\n", b".target\tsm_90a, debug", b"no target"];
        assert_eq!(ptx_capability(texts), 90);
        assert_eq!(ptx_capability([texts[0]]), 75);
        assert_eq!(ptx_capability([]), 90);
    }
}
