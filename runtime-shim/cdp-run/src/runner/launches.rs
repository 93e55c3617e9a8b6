//! The child process of a case with launches: makes them one after another and writes a line of JSON
//! for each into the results file, so that those before a crash are kept.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::bundle::{Expected, Launch, Manifest};
use crate::{Arg, BufferResult, KernelRun, RunError, read_npy, run_kernel};
use cdp_runtime::cpu::{CpuOptions, MessageFormat, Sinks};
use cdp_runtime::{CudaError, Device, DeviceChoice, DeviceKind, ModuleImage, open_device};

/// The result of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckResult {
    /// The launch.
    pub title: String,
    /// What is wrong; `None` if nothing.
    pub problem: Option<String>,
}

/// What a child process is to do.
pub(crate) struct Child {
    /// The bundle.
    pub manifest: PathBuf,
    /// The case's number.
    pub case: usize,
    /// The first launch to make.
    pub first: usize,
    /// Where.
    pub device: DeviceKind,
    /// File that results are appended to.
    pub results: PathBuf,
}

/// Exit code of a child that has lost its device to a fault and leaves the rest to another: a GPU that
/// has faulted is lost to the process.
pub(crate) const DEVICE_LOST: u8 = 75;

impl Child {
    /// Makes the launches.
    pub fn run(&self) -> ExitCode {
        match self.make_all() {
            Ok(false) => ExitCode::SUCCESS,
            Ok(true) => ExitCode::from(DEVICE_LOST),
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(3)
            }
        }
    }

    /// `true` if the device was lost on the way.
    fn make_all(&self) -> Result<bool, String> {
        let folder = self.manifest.parent().unwrap_or(Path::new(""));
        let cases = Manifest::read(&self.manifest)?.cases;
        let case = cases.get(self.case).ok_or("the manifest has no such case")?;
        let read = |name: &String| {
            std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))
        };
        let cubin = match (self.device, &case.cubin) {
            (DeviceKind::Gpu, Some(name)) => read(name)?,
            _ => Vec::new(),
        };
        let texts = case.ptx.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let ptx: Vec<(&str, &[u8])> =
            case.ptx.iter().map(String::as_str).zip(texts.iter().map(Vec::as_slice)).collect();
        let image = ModuleImage { cubin: &cubin, ptx: &ptx };
        let choice = match self.device {
            DeviceKind::Gpu => DeviceChoice::Gpu,
            DeviceKind::Cpu => DeviceChoice::Cpu,
        };
        let sinks = Sinks::standard(MessageFormat::Human);
        let device = open_device(choice, &image, CpuOptions::default(), sinks)
            .map_err(|error| error.to_string())?;
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.results)
            .map_err(|error| format!("{}: {error}", self.results.display()))?;
        for launch in case.launches.iter().skip(self.first) {
            let made = make(&*device, &image, launch, folder);
            let result = CheckResult { title: launch.title().to_owned(), problem: made.problem };
            let line = serde_json::to_string(&result).map_err(|error| error.to_string())?;
            writeln!(file, "{line}").map_err(|error| error.to_string())?;
            if made.device_lost {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What came of a launch.
struct Made {
    problem: Option<String>,
    device_lost: bool,
}

fn make(device: &dyn Device, image: &ModuleImage<'_>, launch: &Launch, folder: &Path) -> Made {
    match attempt(device, image, launch, folder) {
        Ok(code) => Made { problem: None, device_lost: code.is_sticky() },
        Err((problem, code)) => Made { problem: Some(problem), device_lost: code.is_sticky() },
    }
}

/// The launch's error code if all is as expected, else what is wrong and the error code.
fn attempt(
    device: &dyn Device,
    image: &ModuleImage<'_>,
    launch: &Launch,
    folder: &Path,
) -> Result<CudaError, (String, CudaError)> {
    let wrong = |message: String| (message, CudaError::SUCCESS);
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
        Ok(_) if launch.expected_error != 0 => {
            let expected = launch.expected_error;
            return Err(wrong(format!("error {expected} is expected; there was none")));
        }
        Ok(buffers) => buffers,
        Err(RunError::Device { error, .. }) if error.code.0 == launch.expected_error => {
            return Ok(error.code);
        }
        Err(RunError::Device { doing, error }) => {
            return Err((format!("{doing}: {error}"), error.code));
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    for expected in &launch.expected {
        compare(expected, &found, folder).map_err(wrong)?;
    }
    Ok(CudaError::SUCCESS)
}

fn compare(expected: &Expected, found: &[BufferResult], folder: &Path) -> Result<(), String> {
    let wanted = match (&expected.hex, &expected.file) {
        (Some(hex), _) => crate::arg::hex(hex)?,
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
