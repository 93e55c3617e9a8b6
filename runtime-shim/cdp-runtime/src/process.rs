//! The CUDA runtime's idea of a process: registered kernels, variables and device code; the chosen
//! devices; which one is current on a thread; each thread's last error. The C functions in
//! [`crate::capi`] are thin over this.
//!
//! Registration only records. The device is chosen at the first call that needs one.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::abi::{ImageRecord, KernelRecord, VariableRecord};
use crate::choice::{DeviceChoice, gpu_for, ptx_capability};
use crate::cpu::{CpuDevice, CpuOptions, Sinks};
use crate::device::{Device, DeviceKind, KernelHandle, ModuleHandle, ModuleImage};
use crate::error::{CudaError, DeviceError, Result};
use crate::gpu::{self, GpuDevice};

/// What compiled code has registered.
#[derive(Default)]
struct Registry {
    images: Vec<ImageRecord>,
    kernels: HashMap<usize, KernelRecord>,
    variables: HashMap<usize, VariableRecord>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);
static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();

thread_local! {
    static LAST_ERROR: Cell<u32> = const { Cell::new(0) };
    static CURRENT_DEVICE: Cell<i32> = const { Cell::new(0) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes of this module guard is never left half-changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_registry<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    work(lock(&REGISTRY).get_or_insert_with(Registry::default))
}

/// Records kernels and variables of a translation unit.
pub fn register_unit(
    kernels: impl Iterator<Item = (usize, KernelRecord)>,
    variables: impl Iterator<Item = (usize, VariableRecord)>,
) {
    with_registry(|registry| {
        registry.kernels.extend(kernels);
        registry.variables.extend(variables);
    });
}

/// Records device code.
pub fn register_image(image: ImageRecord) {
    with_registry(|registry| registry.images.push(image));
}

/// The devices of the process.
pub struct Runtime {
    kind: DeviceKind,
    count: i32,
    devices: Mutex<HashMap<i32, Arc<DeviceState>>>,
}

/// A device and what this process has loaded on it.
pub struct DeviceState {
    /// The device.
    pub device: Box<dyn Device>,
    code: Mutex<Code>,
    /// Reset after a fault.
    lost: AtomicBool,
}

#[derive(Default)]
struct Code {
    /// One for each image of the registry, in its order.
    modules: Vec<Result<ModuleHandle>>,
    kernels: HashMap<usize, KernelEntry>,
    variables: HashMap<usize, (u64, u64)>,
}

/// A kernel on a device.
#[derive(Clone, Copy)]
pub struct KernelEntry {
    /// The device's kernel.
    pub kernel: KernelHandle,
    /// Bytes of each parameter.
    pub param_sizes: &'static [u32],
}

/// Says something about the environment or a refused launch on standard error, in the form that
/// `CDP_MESSAGE_FORMAT` asks for.
pub fn complain(message: &str) {
    crate::stdio::flush_stdout();
    if std::env::var_os("CDP_MESSAGE_FORMAT").is_some_and(|format| format == "json") {
        let object = serde_json::json!({
            "reason": "device-message", "severity": "warning", "message": message,
        });
        eprintln!("{object}");
    } else {
        eprintln!("cdp: {message}");
    }
}

fn choose() -> Result<Runtime> {
    let choice = match std::env::var("CDP_DEVICE") {
        Err(_) => DeviceChoice::Auto,
        Ok(text) if text.is_empty() => DeviceChoice::Auto,
        Ok(text) => text.parse().unwrap_or_else(|error| {
            complain(&format!("CDP_DEVICE is ignored: {error}"));
            DeviceChoice::Auto
        }),
    };
    let images = with_registry(|registry| registry.images.clone());
    let cubins: Vec<&[u8]> = images.iter().map(|image| image.cubin).collect();
    let gpu = match choice {
        DeviceChoice::Cpu => None,
        DeviceChoice::Gpu => Some(gpu::device_count()),
        DeviceChoice::Auto => gpu_for(&cubins).map(Ok),
    };
    let (kind, count) = match gpu {
        Some(count) => (
            DeviceKind::Gpu,
            count.inspect_err(|error| {
                complain(&format!("CDP_DEVICE=gpu: {error}"));
            })?,
        ),
        None => (DeviceKind::Cpu, 1),
    };
    crate::stdio::at_exit(finish);
    Ok(Runtime { kind, count, devices: Mutex::default() })
}

/// The process's devices, chosen now if they have not been.
pub fn runtime() -> Result<&'static Runtime> {
    RUNTIME.get_or_init(choose).as_ref().map_err(Clone::clone)
}

impl Runtime {
    /// Number of devices.
    pub fn count(&self) -> i32 {
        self.count
    }

    /// Device number `ordinal`, opened now if it has not been.
    pub fn device(&self, ordinal: i32) -> Result<Arc<DeviceState>> {
        if ordinal < 0 || ordinal >= self.count {
            return Err(CudaError::INVALID_DEVICE.into());
        }
        let mut devices = lock(&self.devices);
        if let Some(state) = devices.get(&ordinal) {
            return Ok(state.clone());
        }
        let device: Box<dyn Device> = match self.kind {
            DeviceKind::Gpu => Box::new(GpuDevice::open(ordinal)?),
            DeviceKind::Cpu => Box::new(open_cpu()?),
        };
        let state =
            Arc::new(DeviceState { device, code: Mutex::default(), lost: AtomicBool::new(false) });
        devices.insert(ordinal, state.clone());
        Ok(state)
    }
}

fn open_cpu() -> Result<CpuDevice> {
    let (options, complaints) = CpuOptions::from_env();
    for complaint in complaints {
        complain(&complaint);
    }
    let images = with_registry(|registry| registry.images.clone());
    let texts = images.iter().flat_map(|image| image.ptx).map(|text| text.bytes());
    let capability = ptx_capability(texts);
    let sinks = Sinks::standard(options.message_format);
    CpuDevice::new(options, capability, sinks)
}

/// The calling thread's device.
///
/// # Errors
/// `cudaErrorDevicesUnavailable` if it was reset after a fault.
pub fn current() -> Result<Arc<DeviceState>> {
    let state = runtime()?.device(CURRENT_DEVICE.get())?;
    if state.lost.load(Ordering::Relaxed) {
        return Err(CudaError::DEVICES_UNAVAILABLE.into());
    }
    Ok(state)
}

/// Resets the calling thread's device.
pub fn reset_current() -> Result<()> {
    let state = runtime()?.device(CURRENT_DEVICE.get())?;
    if state.lost.load(Ordering::Relaxed) {
        return Ok(());
    }
    state.reset()
}

/// Number of the calling thread's device.
pub fn current_ordinal() -> i32 {
    CURRENT_DEVICE.get()
}

/// Makes a device the calling thread's.
pub fn set_current(ordinal: i32) -> Result<()> {
    if ordinal < 0 || ordinal >= runtime()?.count() {
        return Err(CudaError::INVALID_DEVICE.into());
    }
    CURRENT_DEVICE.set(ordinal);
    Ok(())
}

/// Keeps `code` as the calling thread's last error.
pub fn set_last_error(code: CudaError) {
    LAST_ERROR.set(code.0);
}

/// The calling thread's last error.
pub fn last_error() -> CudaError {
    CudaError(LAST_ERROR.get())
}

impl DeviceState {
    /// Loads images that have been registered since the last time.
    fn load(&self, code: &mut Code) {
        let images = with_registry(|registry| registry.images.clone());
        for (index, image) in images.iter().enumerate().skip(code.modules.len()) {
            let names: Vec<String> = (1..=image.ptx.len()).map(|n| ptx_name(index, n)).collect();
            let texts: Vec<(&str, &[u8])> = names
                .iter()
                .map(String::as_str)
                .zip(image.ptx.iter().map(|text| text.bytes()))
                .collect();
            let module = self.device.load_module(&ModuleImage { cubin: image.cubin, ptx: &texts });
            if let Err(error) = &module {
                complain(&format!("the program's device code does not load: {error}"));
            }
            code.modules.push(module);
        }
    }

    /// Looks a symbol up in every image. `missing` if none has it; the first image's own error if it
    /// could not be loaded.
    fn find<T>(
        &self,
        code: &mut Code,
        missing: CudaError,
        find: impl Fn(ModuleHandle) -> Result<T>,
    ) -> Result<T> {
        self.load(code);
        let mut failure = DeviceError::from(missing);
        for module in &code.modules {
            match module {
                Ok(module) => match find(*module) {
                    Err(error) if error.code == CudaError::SYMBOL_NOT_FOUND => {}
                    found => return found,
                },
                Err(error) => failure = error.clone(),
            }
        }
        Err(failure)
    }

    /// The kernel that host code knows by `handle`.
    pub fn kernel(&self, handle: usize) -> Result<KernelEntry> {
        let mut code = lock(&self.code);
        if let Some(entry) = code.kernels.get(&handle) {
            return Ok(*entry);
        }
        let record = with_registry(|registry| registry.kernels.get(&handle).copied())
            .ok_or_else(|| DeviceError::from(CudaError::INVALID_RESOURCE_HANDLE))?;
        let missing = CudaError::INVALID_DEVICE_FUNCTION;
        let kernel =
            self.find(&mut code, missing, |module| self.device.kernel(module, record.symbol))?;
        self.compare_params(kernel, &record)?;
        let entry = KernelEntry { kernel, param_sizes: record.param_sizes };
        code.kernels.insert(handle, entry);
        Ok(entry)
    }

    /// The device reads as many parameter bytes as its own code says: they must be what host code
    /// brings.
    fn compare_params(&self, kernel: KernelHandle, record: &KernelRecord) -> Result<()> {
        let device = self.device.kernel_params(kernel)?;
        let sizes = device.iter().map(|param| param.1);
        if sizes.eq(record.param_sizes.iter().map(|&bytes| u64::from(bytes))) {
            return Ok(());
        }
        let device: Vec<u64> = device.iter().map(|param| param.1).collect();
        let detail = format!(
            "`{}` has parameters of {device:?} bytes in the device code and of {:?} bytes in host \
             code: the two were not compiled from the same source",
            record.symbol, record.param_sizes
        );
        complain(&detail);
        Err(DeviceError::new(CudaError::INVALID_DEVICE_FUNCTION, detail))
    }

    /// Address and size of the variable that host code knows by `shadow`.
    pub fn variable(&self, shadow: usize) -> Result<(u64, u64)> {
        let mut code = lock(&self.code);
        if let Some(place) = code.variables.get(&shadow) {
            return Ok(*place);
        }
        let record = with_registry(|registry| registry.variables.get(&shadow).copied())
            .ok_or_else(|| DeviceError::from(CudaError::INVALID_SYMBOL))?;
        let place = self.find(&mut code, CudaError::INVALID_SYMBOL, |module| {
            self.device.variable(module, record.symbol)
        })?;
        code.variables.insert(shadow, place);
        Ok(place)
    }

    /// `cudaDeviceReset`. A GPU that has faulted is lost to the process even so (seen on an H200), and
    /// the CPU device does as GPUs do.
    pub fn reset(&self) -> Result<()> {
        let mut code = lock(&self.code);
        let faulted = self.device.synchronize().is_err_and(|error| error.code.is_sticky());
        self.device.reset()?;
        *code = Code::default();
        if faulted {
            self.lost.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A name for a PTX text that the program carries: the host code that made it is not on this machine.
fn ptx_name(image: usize, number: usize) -> String {
    match (image, number) {
        (0, 1) => "program.ptx".to_owned(),
        (0, number) => format!("program-{number}.ptx"),
        (image, number) => format!("program-{}-{number}.ptx", image + 1),
    }
}

/// When the process ends: waits for what was launched, so that its output is not lost.
extern "C" fn finish() {
    let work = || {
        let Some(Ok(runtime)) = RUNTIME.get() else { return };
        let devices: Vec<Arc<DeviceState>> = lock(&runtime.devices).values().cloned().collect();
        for state in devices {
            // A fault has been reported where it was found; the exit code is the program's own.
            let _ = state.device.synchronize();
            state.device.finish();
        }
    };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
}
