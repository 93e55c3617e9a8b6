//! The child process of a case with launches: makes them one after another and writes a line of JSON
//! for each into the results file, so that those before a crash are kept.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::bundle::{Case, Expected, Launch, Manifest};
use crate::cpu::{CpuDevice, CpuOptions, MessageFormat, Sinks};
use crate::device::{Device, DeviceKind, ModuleImage};
use crate::gpu::GpuDevice;
use crate::process::ptx_capability;
use crate::single::{Arg, BufferResult, KernelRun, RunError, read_npy, run_kernel};

/// The result of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckResult {
    /// The launch.
    pub title: String,
    /// What is wrong; `None` if nothing.
    pub problem: Option<String>,
}

/// Makes the launches of case number `index`.
pub(crate) fn child(manifest: &Path, index: usize, device: DeviceKind, results: &Path) -> ExitCode {
    match make_all(manifest, index, device, results) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn make_all(manifest: &Path, index: usize, kind: DeviceKind, results: &Path) -> Result<(), String> {
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let cases = Manifest::read(manifest)?.cases;
    let case = cases.get(index).ok_or("the manifest has no such case")?;
    let read = |name: &String| {
        std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let cubin = match (kind, &case.cubin) {
        (DeviceKind::Gpu, Some(name)) => read(name)?,
        _ => Vec::new(),
    };
    let texts = case.ptx.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let ptx: Vec<(&str, &[u8])> =
        case.ptx.iter().map(String::as_str).zip(texts.iter().map(Vec::as_slice)).collect();
    let device: Box<dyn Device> = match kind {
        DeviceKind::Gpu => Box::new(GpuDevice::open(0).map_err(|error| error.to_string())?),
        DeviceKind::Cpu => {
            let capability = ptx_capability(texts.iter().map(Vec::as_slice));
            let sinks = Sinks::standard(MessageFormat::Human);
            let made = CpuDevice::new(CpuOptions::default(), capability, sinks);
            Box::new(made.map_err(|error| error.to_string())?)
        }
    };
    let image = ModuleImage { cubin: &cubin, ptx: &ptx };
    make_launches(&*device, &image, case, folder, results)
}

fn make_launches(
    device: &dyn Device,
    image: &ModuleImage<'_>,
    case: &Case,
    folder: &Path,
    results: &Path,
) -> Result<(), String> {
    let mut file = std::fs::File::create(results).map_err(|error| error.to_string())?;
    for launch in &case.launches {
        let (problem, device_lost) = match make(device, image, launch, folder) {
            Ok(()) => (None, false),
            Err((problem, lost)) => (Some(problem), lost),
        };
        let result = CheckResult { title: launch.title().to_owned(), problem };
        let line = serde_json::to_string(&result).map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| error.to_string())?;
        if device_lost {
            // A fault leaves the device unusable until it is reset.
            device.reset().map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// What is wrong with a launch, and whether the device was lost by it.
fn make(
    device: &dyn Device,
    image: &ModuleImage<'_>,
    launch: &Launch,
    folder: &Path,
) -> Result<(), (String, bool)> {
    let wrong = |message: String| (message, false);
    let args = launch
        .args
        .iter()
        .map(|text| text.parse::<Arg>().map(|arg| arg.relative_to(folder)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    let run = KernelRun {
        kernel: &launch.kernel,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: launch.shared_bytes,
        args: &args,
    };
    let found = match run_kernel(device, image, &run) {
        Ok(buffers) => Ok(buffers),
        Err(RunError::Device { error, .. }) if error.code.0 == launch.expected_error => {
            let lost = error.code.is_sticky();
            return if lost { device.reset().map_err(|e| wrong(e.to_string())) } else { Ok(()) };
        }
        Err(error) => {
            let lost = matches!(&error, RunError::Device { error, .. } if error.code.is_sticky());
            Err((error.to_string(), lost))
        }
    }?;
    if launch.expected_error != 0 {
        return Err(wrong(format!("error {} is expected; there was none", launch.expected_error)));
    }
    for expected in &launch.expected {
        compare(expected, &found, folder).map_err(wrong)?;
    }
    Ok(())
}

fn compare(expected: &Expected, found: &[BufferResult], folder: &Path) -> Result<(), String> {
    let wanted = match (&expected.hex, &expected.file) {
        (Some(hex), _) => crate::single::parse_hex(hex)?,
        (None, Some(name)) => {
            let bytes =
                std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
            if name.ends_with(".npy") {
                read_npy(&bytes).map_err(|error| format!("{name}: {error}"))?.bytes
            } else {
                bytes
            }
        }
        (None, None) => return Err("neither `hex` nor `file` is given to compare with".to_owned()),
    };
    let buffer = found.iter().find(|buffer| buffer.arg == expected.arg);
    let buffer = buffer.ok_or_else(|| format!("argument {} is no buffer", expected.arg))?;
    let bytes = &buffer.array.bytes;
    if bytes.len() < wanted.len() {
        return Err(format!("the buffer has {} bytes, {} wanted", bytes.len(), wanted.len()));
    }
    match wanted.iter().zip(bytes).position(|(wanted, found)| wanted != found) {
        None => Ok(()),
        Some(at) => {
            let show = |bytes: &[u8]| {
                let part = &bytes[at..bytes.len().min(at + 16)];
                part.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            };
            let arg = expected.arg;
            let (wanted, found) = (show(&wanted), show(&bytes[..wanted.len()]));
            Err(format!("argument {arg}, byte {at}: expected {wanted}, found {found}"))
        }
    }
}
