//! The GPU device: [`Device`] over the CUDA driver. The driver is loaded at run time; a machine
//! without it gets an error from [`GpuDevice::open`], and nothing else changes.
//!
//! Handles that host code hands in are looked up before the driver sees them, because the driver
//! reads through them.

mod array;
mod condition;
mod driver;
mod graph;
mod inside;
mod memory;
mod modules;
mod nodes;
mod streams;

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use self::driver::driver_symbol;
use self::driver::{Driver, Handle, check, driver};

use crate::array::ArrayHandle;
use crate::device::*;
use crate::driver_state::is_mixed;
use crate::error::{CudaError, DeviceError, Result};

/// Number of GPUs that the driver shows.
pub fn device_count() -> Result<i32> {
    let driver = driver()?;
    let mut count = 0;
    // SAFETY: `count` is valid for the write.
    check(unsafe { (driver.cuDeviceGetCount)(&mut count) })?;
    match count {
        0 => Err(DeviceError::new(CudaError::NO_DEVICE, "the CUDA driver shows no GPU")),
        count => Ok(count),
    }
}

/// Version of the installed driver as 1000 * major + 10 * minor.
pub fn driver_version() -> Result<i32> {
    let driver = driver()?;
    let mut version = 0;
    // SAFETY: `version` is valid for the write.
    check(unsafe { (driver.cuDriverGetVersion)(&mut version) })?;
    Ok(version)
}

/// Compute capability of a GPU, 90 for 9.0.
pub fn compute_capability(ordinal: i32) -> Result<u32> {
    let driver = driver()?;
    let (mut device, mut major, mut minor) = (0, 0, 0);
    // SAFETY: the targets are valid for the writes; the driver checks the ordinal.
    unsafe {
        check((driver.cuDeviceGet)(&mut device, ordinal))?;
        check((driver.cuDeviceGetAttribute)(&mut major, 75, device))?;
        check((driver.cuDeviceGetAttribute)(&mut minor, 76, device))?;
    }
    Ok((major * 10 + minor) as u32)
}

#[derive(Clone, Copy)]
struct Kernel {
    function: u64,
    module: ModuleHandle,
    /// Where the image tells.
    param_count: Option<usize>,
}

/// What has been given out and not taken back. Driver pointers as numbers.
#[derive(Default)]
struct Handles {
    /// With the number of parameters of their kernels, as far as it is known.
    modules: HashMap<u64, HashMap<String, usize>>,
    kernels: HashMap<u64, Kernel>,
    kernels_by_name: HashMap<(ModuleHandle, String), KernelHandle>,
    /// Of modules whose kernels have twins.
    words: HashMap<u64, inside::Words>,
    /// By the kernel's handle.
    twins: HashMap<u64, inside::Twin>,
    streams: HashSet<u64>,
    /// Executables.
    graphs: HashMap<u64, graph::Executable>,
    /// Of the driver's graphs.
    nodes: HashMap<u64, Vec<nodes::Placed>>,
    events: HashSet<u64>,
    arrays: HashSet<u64>,
    /// Mipmapped arrays, and which of their levels are in `arrays`.
    mipmaps: HashMap<u64, Vec<u64>>,
}

/// One GPU, used through its primary context.
pub struct GpuDevice {
    driver: &'static Driver,
    ordinal: i32,
    /// The primary context, null after a reset until the next use.
    context: Mutex<u64>,
    handles: Mutex<Handles>,
    /// How often the host has waited for what it had launched.
    waits: AtomicU64,
}

impl GpuDevice {
    /// Opens GPU number `ordinal`.
    pub fn open(ordinal: i32) -> Result<GpuDevice> {
        if ordinal < 0 || ordinal >= device_count()? {
            return Err(CudaError::INVALID_DEVICE.into());
        }
        let driver = driver()?;
        let mut device = 0;
        // SAFETY: the target is valid for the write; the ordinal is in range.
        check(unsafe { (driver.cuDeviceGet)(&mut device, ordinal) })?;
        let opened = GpuDevice {
            driver,
            ordinal: device,
            context: Mutex::new(0),
            handles: Mutex::new(Handles::default()),
            waits: AtomicU64::new(0),
        };
        opened.bind()?;
        Ok(opened)
    }

    /// The driver, with this device's context current on the calling thread.
    fn bind(&self) -> Result<&'static Driver> {
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if *context == 0 {
            let mut retained: Handle = std::ptr::null_mut();
            // SAFETY: the target is valid for the write.
            let status =
                unsafe { (self.driver.cuDevicePrimaryCtxRetain)(&mut retained, self.ordinal) };
            if driver::runtime_error(status).is_sticky() {
                // After a fault and a reset; the process has lost the GPU.
                return Err(CudaError::DEVICES_UNAVAILABLE.into());
            }
            check(status)?;
            *context = retained as u64;
        }
        if is_mixed() && self.is_current()? {
            return Ok(self.driver);
        }
        // SAFETY: a retained primary context. Setting the same one again costs nanoseconds.
        check(unsafe { (self.driver.cuCtxSetCurrent)(*context as Handle) })?;
        Ok(self.driver)
    }

    /// Whether a context of this device is current on the calling thread: of a program that makes contexts
    /// itself, the runtime's calls use that one.
    fn is_current(&self) -> Result<bool> {
        let (mut current, mut ordinal) = (std::ptr::null_mut(), 0);
        // SAFETY: targets valid.
        check(unsafe { (self.driver.cuCtxGetCurrent)(&mut current) })?;
        if current.is_null() {
            return Ok(false);
        }
        // SAFETY: target valid, a context is current.
        check(unsafe { (self.driver.cuCtxGetDevice)(&mut ordinal) })?;
        Ok(ordinal == self.ordinal)
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The driver's stream: a predefined one or one that is alive.
    fn stream(&self, stream: StreamHandle) -> Result<Handle> {
        let known = stream.0 <= StreamHandle::PER_THREAD.0 || is_mixed();
        if known || self.handles().streams.contains(&stream.0) {
            return Ok(stream.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn event(&self, event: EventHandle) -> Result<Handle> {
        if is_mixed() || self.handles().events.contains(&event.0) {
            return Ok(event.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn array(&self, array: ArrayHandle) -> Result<Handle> {
        if is_mixed() || self.handles().arrays.contains(&array.0) {
            return Ok(array.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn module(&self, module: ModuleHandle) -> Result<Handle> {
        if self.handles().modules.contains_key(&module.0) {
            return Ok(module.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn function(&self, kernel: KernelHandle) -> Result<Handle> {
        match self.handles().kernels.get(&kernel.0) {
            Some(known) => Ok(known.function as Handle),
            None => Err(CudaError::INVALID_DEVICE_FUNCTION.into()),
        }
    }

    /// The host has waited: what grids told until then is known ([`inside`]).
    fn waited(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    fn function_attribute(&self, function: Handle, attribute: u32) -> Result<i32> {
        let driver = self.bind()?;
        let mut value = 0;
        // SAFETY: `function` is alive, `value` valid for the write.
        check(unsafe { (driver.cuFuncGetAttribute)(&mut value, attribute, function) })?;
        Ok(value)
    }
}

impl Watching for GpuDevice {}

impl VirtualMemory for GpuDevice {}

impl Device for GpuDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Gpu
    }

    fn name(&self) -> String {
        let mut buffer = [0u8; 256];
        // SAFETY: the driver writes at most the given length, NUL included.
        let status =
            unsafe { (self.driver.cuDeviceGetName)(buffer.as_mut_ptr().cast(), 256, self.ordinal) };
        let name = CStr::from_bytes_until_nul(&buffer).unwrap_or(c"");
        if status == 0 { name.to_string_lossy().into_owned() } else { String::new() }
    }

    fn attribute(&self, attribute: u32) -> Result<i32> {
        let mut value = 0;
        // SAFETY: `value` is valid for the write; the driver checks the number.
        check(unsafe { (self.driver.cuDeviceGetAttribute)(&mut value, attribute, self.ordinal) })?;
        Ok(value)
    }

    fn memory_bytes(&self) -> Result<(u64, u64)> {
        let driver = self.bind()?;
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: both are valid for the writes.
        check(unsafe { (driver.cuMemGetInfo_v2)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    fn uuid(&self) -> [u8; 16] {
        let mut uuid = [0u8; 16];
        // SAFETY: `CUuuid` is 16 bytes.
        let status = unsafe { (self.driver.cuDeviceGetUuid_v2)(&mut uuid, self.ordinal) };
        if status == 0 { uuid } else { [0; 16] }
    }

    fn synchronize(&self) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the context is current.
        check(unsafe { (driver.cuCtxSynchronize)() })?;
        self.waited();
        Ok(())
    }

    fn reset(&self) -> Result<()> {
        *self.handles() = Handles::default();
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        *context = 0;
        // SAFETY: the device is valid; what lived in its context has been forgotten.
        check(unsafe { (self.driver.cuDevicePrimaryCtxReset_v2)(self.ordinal) })
    }

    fn limit(&self, limit: Limit) -> Result<u64> {
        let driver = self.bind()?;
        let mut value = 0usize;
        // SAFETY: target valid.
        check(unsafe { (driver.cuCtxGetLimit)(&mut value, limit as u32) })?;
        Ok(value as u64)
    }

    fn set_limit(&self, limit: Limit, value: u64) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver checks both.
        check(unsafe { (driver.cuCtxSetLimit)(limit as u32, value as usize) })
    }

    fn cache_config(&self) -> Result<u32> {
        let driver = self.bind()?;
        let mut config = 0;
        // SAFETY: target valid.
        check(unsafe { (driver.cuCtxGetCacheConfig)(&mut config) })?;
        Ok(config)
    }

    fn set_cache_config(&self, config: u32) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver checks it.
        check(unsafe { (driver.cuCtxSetCacheConfig)(config) })
    }

    fn driver_version(&self) -> Result<i32> {
        driver_version()
    }

    fn driver_function(&self, name: &CStr, version: i32, flags: u64) -> Result<u64> {
        let driver = self.bind()?;
        let (mut found, mut status) = (std::ptr::null_mut(), 0);
        // SAFETY: a string and valid targets.
        check(unsafe {
            (driver.cuGetProcAddress_v2)(name.as_ptr(), &mut found, version, flags, &mut status)
        })?;
        Ok(found as u64)
    }
}
