//! The CUDA runtime's idea of a process: the chosen devices and what is loaded on them of the code that
//! has been registered (`registry.rs`); which device is current on a thread; each thread's last
//! error. The C functions in [`crate::capi`] are thin over this.
//!
//! The device is chosen at the first call that needs one.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::choice::{DeviceChoice, gpu_for};
use crate::cpu::{CheckSet, CpuDevice, CpuOptions, Sinks};
use crate::device::{Device, DeviceKind, KernelHandle, ModuleHandle, ModuleImage};
use crate::driver_state::context;
use crate::error::{CudaError, DeviceError, Result};
use crate::gpu::{self, GpuDevice};
use crate::image::DEFAULT_CAPABILITY;
use crate::registry::{self, Home, ImageRecord, KernelRecord};
use crate::stdio::complain;

static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();
static DEVICE_FLAGS: AtomicU32 = AtomicU32::new(0);
/// Set by [`finish`].
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LAST_ERROR: Cell<u32> = const { Cell::new(0) };
    static CURRENT_DEVICE: Cell<i32> = const { Cell::new(0) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes of this module guard is never left half-changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// By the number of their image; what has not been needed is not loaded.
    modules: HashMap<usize, Result<ModuleHandle>>,
    kernels: HashMap<usize, KernelEntry>,
    variables: HashMap<usize, (u64, u64)>,
}

/// A kernel on a device.
#[derive(Clone)]
pub struct KernelEntry {
    /// The device's kernel.
    pub kernel: KernelHandle,
    /// Bytes of each parameter.
    pub param_sizes: Arc<[u32]>,
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
    // What is wrong with the variables is said when the device is opened.
    let choice = choice.settled(&CpuOptions::from_env().0);
    let images = registry::images();
    let cubins: Vec<&[u8]> = images.iter().map(|image| image.machine_code).collect();
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
    /// What the devices are.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

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
    let made_for = registry::images().iter().filter_map(ImageRecord::ptx_architecture).max();
    let capability = made_for.unwrap_or(DEFAULT_CAPABILITY);
    let mut sinks = Sinks::standard(options.message_format);
    if options.checks != CheckSet::default() {
        // Who asks for checks wants to know of what ends a kernel as well, also where the program asks for no error.
        let mut tell = sinks.report;
        sinks.report = Box::new(move |report| {
            if !report.warning {
                crate::cpu::note_finding();
            }
            tell(report);
        });
    }
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
    context::used_by_the_runtime();
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

/// The flags of `cudaSetDeviceFlags`.
pub fn device_flags() -> u32 {
    DEVICE_FLAGS.load(Ordering::Relaxed)
}

/// Keeps the flags of `cudaSetDeviceFlags`, which are hints.
pub fn set_device_flags(flags: u32) {
    DEVICE_FLAGS.store(flags, Ordering::Relaxed);
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
    /// The module of an image, loaded now if it has not been.
    fn module(&self, code: &mut Code, number: usize) -> Result<ModuleHandle> {
        if let Some(known) = code.modules.get(&number) {
            return known.clone();
        }
        let image = registry::with(|registry| registry.images.get(number).cloned().flatten());
        let Some(image) = image else { return Err(CudaError::SYMBOL_NOT_FOUND.into()) };
        let module = self.load(number, &image);
        if let Err(error) = &module {
            complain(&format!("the program's device code does not load: {error}"));
        }
        code.modules.insert(number, module.clone());
        module
    }

    fn load(&self, number: usize, image: &ImageRecord) -> Result<ModuleHandle> {
        let cubin = image.machine_code;
        if self.device.kind() == DeviceKind::Gpu && !cubin.is_empty() {
            return self.device.load_module(&ModuleImage { cubin, ptx: &[] });
        }
        let texts = image.texts()?;
        let names: Vec<String> = (1..=texts.len()).map(|n| ptx_name(number, n)).collect();
        let texts: Vec<(&str, &[u8])> =
            names.iter().map(String::as_str).zip(texts.iter().map(|text| &**text)).collect();
        self.device.load_module(&ModuleImage { cubin, ptx: &texts })
    }

    /// Loads an image.
    pub fn load_image(&self, number: usize) -> Result<()> {
        self.module(&mut lock(&self.code), number).map(|_| ())
    }

    /// Address and size of an image's variable.
    pub fn variable_in(&self, number: usize, symbol: &str) -> Result<(u64, u64)> {
        let module = self.module(&mut lock(&self.code), number)?;
        self.device.variable(module, symbol)
    }

    /// Names of an image's kernels.
    pub fn kernel_names_in(&self, number: usize) -> Result<Vec<String>> {
        let module = self.module(&mut lock(&self.code), number)?;
        self.device.kernel_names(module)
    }

    /// Looks a symbol up. `missing` if no image has it; an image's own error if it could not be loaded.
    fn find<T>(
        &self,
        code: &mut Code,
        home: Home,
        missing: CudaError,
        find: impl Fn(ModuleHandle) -> Result<T>,
    ) -> Result<T> {
        let count = registry::with(|registry| registry.images.len());
        let own = home.image();
        let (others, missing) = match home {
            Home::Only(_) => (0..0, CudaError::SYMBOL_NOT_FOUND),
            _ => (0..count, missing),
        };
        let others = others.filter(|number| Some(*number) != own);
        let mut failure = None;
        for number in own.into_iter().chain(others) {
            match self.module(code, number).and_then(&find) {
                Err(error) if error.code == CudaError::SYMBOL_NOT_FOUND => {}
                Err(error) => drop(failure.get_or_insert(error)),
                Ok(found) => return Ok(found),
            }
        }
        Err(failure.unwrap_or_else(|| missing.into()))
    }

    /// The kernel that host code knows by `handle`.
    pub fn kernel(&self, handle: usize) -> Result<KernelEntry> {
        let mut code = lock(&self.code);
        if let Some(entry) = code.kernels.get(&handle) {
            return Ok(entry.clone());
        }
        let record = registry::with(|registry| registry.kernels.get(&handle).copied())
            .ok_or_else(|| DeviceError::from(CudaError::INVALID_RESOURCE_HANDLE))?;
        let missing = CudaError::INVALID_DEVICE_FUNCTION;
        let kernel = self.find(&mut code, record.home, missing, |module| {
            self.device.kernel(module, record.symbol)
        })?;
        let param_sizes = self.param_sizes(kernel, &record)?;
        let entry = KernelEntry { kernel, param_sizes };
        code.kernels.insert(handle, entry.clone());
        Ok(entry)
    }

    /// Bytes of each parameter. The device reads as many as its own code says: where host code says too,
    /// the two must agree.
    fn param_sizes(&self, kernel: KernelHandle, record: &KernelRecord) -> Result<Arc<[u32]>> {
        let device = self.device.kernel_params(kernel)?;
        let device: Arc<[u32]> = device.iter().map(|param| param.1 as u32).collect();
        let Some(host) = record.param_sizes.filter(|host| **host != *device) else {
            return Ok(device);
        };
        let detail = format!(
            "`{}` has parameters of {device:?} bytes in the device code and of {host:?} bytes in host \
             code: the two were not compiled from the same source",
            record.symbol
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
        let record = registry::with(|registry| registry.variables.get(&shadow).copied());
        let Some(record) = record else {
            return managed_at(&code, shadow).ok_or_else(|| CudaError::INVALID_SYMBOL.into());
        };
        let place = self.find(&mut code, record.home, CudaError::INVALID_SYMBOL, |module| {
            self.device.variable(module, record.symbol)
        })?;
        code.variables.insert(shadow, place);
        Ok(place)
    }

    /// Unloads an image whose library is going away, once its work is done.
    fn forget(&self, number: usize, kernels: &[usize], variables: &[usize]) {
        let mut code = lock(&self.code);
        code.kernels.retain(|handle, _| !kernels.contains(handle));
        code.variables.retain(|shadow, _| !variables.contains(shadow));
        if let Some(Ok(module)) = code.modules.remove(&number) {
            // There is nobody to tell: the library is on its way out.
            let _ = self.device.synchronize();
            let _ = self.device.unload_module(module);
        }
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

/// Place and size of the managed variable that begins at an address. Host code names such a variable by the
/// memory itself, which it has from [`DeviceState::variable`].
fn managed_at(code: &Code, address: usize) -> Option<(u64, u64)> {
    let known = code.variables.iter().filter(|(_, place)| place.0 == address as u64);
    let is_managed = |shadow: &usize| {
        registry::with(|registry| registry.variables.get(shadow).is_some_and(|known| known.managed))
    };
    known.into_iter().find(|(shadow, _)| is_managed(shadow)).map(|(_, place)| *place)
}

/// A name for a PTX text that the program carries: the host code that made it is not on this machine.
fn ptx_name(image: usize, number: usize) -> String {
    match (image, number) {
        (0, 1) => "program.ptx".to_owned(),
        (0, number) => format!("program-{number}.ptx"),
        (image, number) => format!("program-{}-{number}.ptx", image + 1),
    }
}

/// Forgets an image, its kernels and its variables. When the process ends there is nothing to do: its
/// memory goes with it.
pub fn unregister_image(number: usize) {
    if ENDING.load(Ordering::Relaxed) {
        return;
    }
    let (kernels, variables) = registry::remove_image(number);
    let Some(Ok(runtime)) = RUNTIME.get() else { return };
    let devices: Vec<Arc<DeviceState>> = lock(&runtime.devices).values().cloned().collect();
    devices.iter().for_each(|state| state.forget(number, &kernels, &variables));
}

/// When the process ends: waits for what was launched, so that its output is not lost.
extern "C" fn finish() {
    let work = || {
        ENDING.store(true, Ordering::Relaxed);
        let Some(Ok(runtime)) = RUNTIME.get() else { return };
        let devices: Vec<Arc<DeviceState>> = lock(&runtime.devices).values().cloned().collect();
        for state in devices {
            // A fault has been reported where it was found; the exit code is the program's own.
            let _ = state.device.synchronize();
            state.device.finish();
        }
    };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    // Keeps the linker from leaving the entry out.
    std::hint::black_box(&LAST);
    if cfg!(not(target_os = "linux")) {
        last();
    }
}

/// Called after all that runs when a process ends.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".fini_array"))]
static LAST: extern "C" fn() = last;

/// A program in which checks found something, or saw a kernel fail, fails, whatever its own code is.
extern "C" fn last() {
    if crate::cpu::has_findings() {
        crate::stdio::leave(1);
    }
}
