//! Modules and launches of the GPU device.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::Ordering;

use super::driver::{self, DriverLaunch, Handle, check};
use super::inside::{TWIN, Words};
use super::{GpuDevice, Handles, Kernel};
use crate::device::*;
use crate::driver_state::is_mixed;
use crate::error::{CudaError, DeviceError, Result};
use crate::image::device_runtime_symbol;

/// Bytes of the buffer for what the driver says about a module that it refuses.
const LOG_BYTES: usize = 16 * 1024;
const CU_JIT_ERROR_LOG_BUFFER: u32 = 5;
const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;

impl GpuDevice {
    /// A launch as the driver takes it; the attributes stay where they are.
    fn driver_launch(&self, config: &LaunchConfig<'_>) -> Result<DriverLaunch> {
        let shared_bytes = u32::try_from(config.shared_bytes)
            .map_err(|_| DeviceError::from(CudaError::INVALID_VALUE))?;
        Ok(DriverLaunch {
            grid: config.grid,
            block: config.block,
            shared_bytes,
            stream: self.stream(config.stream)?,
            attributes: config.attributes.as_ptr(),
            attribute_count: config.attributes.len() as u32,
        })
    }

    /// The kernel's twin, where the grid is to be of that ([`super::inside`]).
    fn twin_to_launch(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Option<Handle> {
        let mut handles = self.handles();
        let twin = handles.twins.get_mut(&kernel.0)?;
        let plain = config.attributes.is_empty() && !is_mixed();
        let taken = plain && twin.is_taken(self.waits.load(Ordering::Relaxed));
        taken.then_some(twin.function as Handle)
    }

    /// Loads machine code or PTX. `image` must end with a NUL byte if it is PTX.
    fn load_bytes(&self, image: &[u8]) -> Result<ModuleHandle> {
        let driver = self.bind()?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut keys = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let mut module: Handle = std::ptr::null_mut();
        // SAFETY: the image is whole (its own headers say how long it is; the caller checked that),
        // the options describe `log`, which outlives the call.
        let status = unsafe {
            (driver.cuModuleLoadDataEx)(
                &mut module,
                image.as_ptr().cast(),
                2,
                keys.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if status != 0 {
            let text = CStr::from_bytes_until_nul(&log).unwrap_or(c"").to_string_lossy();
            let code = driver::runtime_error(status);
            let mut detail = format!("the CUDA driver refuses the module: {code}");
            if !text.trim().is_empty() {
                detail += &format!("\n{}", text.trim());
            }
            return Err(DeviceError::new(code, detail));
        }
        let counts = crate::image::param_counts(image);
        let words = Words::give(driver, module, counts.keys());
        let mut handles = self.handles();
        handles.words.extend(words.map(|words| (module as u64, words)));
        handles.modules.insert(module as u64, counts);
        Ok(ModuleHandle(module as u64))
    }
}

impl Modules for GpuDevice {
    fn load_module(&self, image: &ModuleImage<'_>) -> Result<ModuleHandle> {
        if !image.cubin.is_empty() {
            crate::image::check_extent(image.cubin)?;
            return self.load_bytes(image.cubin);
        }
        match image.ptx {
            [(_, text)] => {
                let mut text = text.to_vec();
                text.push(0);
                self.load_bytes(&text).map_err(|error| match device_runtime_symbol(&text) {
                    // The driver says 218 (H200, driver 580.159), and nothing of the reason.
                    Some(symbol) if error.code == CudaError::INVALID_PTX => DeviceError::new(
                        error.code,
                        format!(
                            "this PTX uses the device runtime (`{symbol}`), which a device link brings in: link it \
                             to a cubin first (`cdpc link a.ptx -o a.cubin`)\n{}",
                            error.detail.unwrap_or_default()
                        ),
                    ),
                    _ => error,
                })
            }
            _ => Err(DeviceError::new(
                CudaError::NO_KERNEL_IMAGE_FOR_DEVICE,
                "there is no cubin, and several PTX texts need a linker before a GPU can run them",
            )),
        }
    }

    fn unload_module(&self, module: ModuleHandle) -> Result<()> {
        let handle = self.module(module)?;
        let driver = self.bind()?;
        let words = {
            let mut handles = self.handles();
            let Handles { kernels, twins, .. } = &mut *handles;
            twins.retain(|kernel, _| kernels.get(kernel).is_some_and(|of| of.module != module));
            handles.modules.remove(&module.0);
            handles.kernels.retain(|_, kernel| kernel.module != module);
            handles.kernels_by_name.retain(|(of, _), _| *of != module);
            handles.words.remove(&module.0)
        };
        // SAFETY: alive until here, and forgotten.
        let unloaded = check(unsafe { (driver.cuModuleUnload)(handle) });
        if let Some(words) = words {
            words.free(driver);
        }
        unloaded
    }

    fn kernel(&self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle> {
        let handle = self.module(module)?;
        let key = (module, symbol.to_owned());
        if let Some(&known) = self.handles().kernels_by_name.get(&key) {
            return Ok(known);
        }
        let driver = self.bind()?;
        let name = CString::new(symbol).map_err(|_| CudaError::SYMBOL_NOT_FOUND)?;
        let mut function: Handle = std::ptr::null_mut();
        // SAFETY: the module is alive, the name NUL-terminated.
        check(unsafe { (driver.cuModuleGetFunction)(&mut function, handle, name.as_ptr()) })?;
        let kernel = KernelHandle(function as u64);
        let mut handles = self.handles();
        let counts = handles.modules.get(&module.0);
        let param_count = counts.and_then(|counts| counts.get(symbol).copied());
        let known = Kernel { function: function as u64, module, param_count };
        handles.kernels.insert(kernel.0, known);
        let words = handles.words.get(&module.0);
        let twin = words.and_then(|words| words.twin(driver, handle, symbol, function));
        handles.twins.extend(twin.map(|twin| (kernel.0, twin)));
        handles.kernels_by_name.insert(key, kernel);
        Ok(kernel)
    }

    fn kernel_names(&self, module: ModuleHandle) -> Result<Vec<String>> {
        type Count = unsafe extern "C" fn(*mut u32, Handle) -> u32;
        type Enumerate = unsafe extern "C" fn(*mut Handle, u32, Handle) -> u32;
        type Name = unsafe extern "C" fn(*mut *const c_char, Handle) -> u32;
        let handle = self.module(module)?;
        self.bind()?;
        // A driver before CUDA 12.4 has none of these.
        let function = |name| -> Result<*mut c_void> {
            driver::driver_symbol(name)?.ok_or_else(|| CudaError::NOT_SUPPORTED.into())
        };
        let count = function(c"cuModuleGetFunctionCount")?;
        let enumerate = function(c"cuModuleEnumerateFunctions")?;
        let name_of = function(c"cuFuncGetName")?;
        // SAFETY: functions of these names have these types, and what they are given is as they say.
        unsafe {
            let count: Count = std::mem::transmute(count);
            let enumerate: Enumerate = std::mem::transmute(enumerate);
            let name_of: Name = std::mem::transmute(name_of);
            let mut number = 0;
            check(count(&mut number, handle))?;
            let mut functions = vec![std::ptr::null_mut(); number as usize];
            check(enumerate(functions.as_mut_ptr(), number, handle))?;
            let names = functions.into_iter().map(|function: Handle| {
                let mut name = std::ptr::null();
                check(name_of(&mut name, function))?;
                Ok(CStr::from_ptr(name).to_string_lossy().into_owned())
            });
            // Twins are the runtime's affair.
            names.filter(|name| !name.as_ref().is_ok_and(|name| name.ends_with(TWIN))).collect()
        }
    }

    fn variable(&self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)> {
        let handle = self.module(module)?;
        let driver = self.bind()?;
        let name = CString::new(symbol).map_err(|_| CudaError::SYMBOL_NOT_FOUND)?;
        let (mut address, mut bytes) = (0u64, 0usize);
        // SAFETY: the module is alive, the name NUL-terminated, the targets valid.
        check(unsafe {
            (driver.cuModuleGetGlobal_v2)(&mut address, &mut bytes, handle, name.as_ptr())
        })?;
        Ok((address, bytes as u64))
    }

    fn driver_kernel(&self, kernel: KernelHandle) -> Result<u64> {
        Ok(self.function(kernel)? as u64)
    }

    fn kernel_params(&self, kernel: KernelHandle) -> Result<Vec<(u64, u64)>> {
        let function = self.function(kernel)?;
        let driver = self.bind()?;
        let known = self.handles().kernels.get(&kernel.0).and_then(|kernel| kernel.param_count);
        let mut params = Vec::new();
        loop {
            if known == Some(params.len()) {
                return Ok(params);
            }
            let (mut offset, mut size) = (0usize, 0usize);
            // SAFETY: the function is alive, the targets valid. Past the last parameter the driver
            // returns CUDA_ERROR_INVALID_VALUE; compute-sanitizer reports that as an error of the
            // program, and cuFuncGetParamCount came with CUDA 13.2 only, so that the count is read
            // from the image where that is machine code.
            let status = unsafe {
                (driver.cuFuncGetParamInfo)(function, params.len(), &mut offset, &mut size)
            };
            match status {
                0 => params.push((offset as u64, size as u64)),
                1 => return Ok(params),
                status => return Err(driver::runtime_error(status).into()),
            }
        }
    }

    fn kernel_attributes(&self, kernel: KernelHandle) -> Result<KernelAttributes> {
        let function = self.function(kernel)?;
        let get = |attribute| self.function_attribute(function, attribute);
        // CUfunction_attribute, driver manual. Those past 9 came with clusters (11.8).
        let newer = |attribute| get(attribute).unwrap_or(0);
        Ok(KernelAttributes {
            max_block_threads: get(0)?,
            shared_bytes: get(1)? as u64,
            constant_bytes: get(2)? as u64,
            local_bytes: get(3)? as u64,
            registers: get(4)?,
            ptx_version: get(5)?,
            binary_version: get(6)?,
            cache_mode_ca: get(7)?,
            max_dynamic_shared_bytes: get(8)?,
            preferred_carveout: get(9)?,
            cluster_must_be_set: newer(10),
            required_cluster: [newer(11), newer(12), newer(13)],
            non_portable_cluster: newer(14),
            cluster_scheduling_policy: newer(15),
        })
    }

    fn set_kernel_attribute(&self, kernel: KernelHandle, attribute: u32, value: i32) -> Result<()> {
        let function = self.function(kernel)?;
        let driver = self.bind()?;
        // It is the kernel's alone.
        self.handles().twins.remove(&kernel.0);
        // SAFETY: the function is alive; the driver checks attribute and value.
        check(unsafe { (driver.cuFuncSetAttribute)(function, attribute, value) })
    }
}

impl Launches for GpuDevice {
    fn max_active_blocks(
        &self,
        kernel: KernelHandle,
        block_threads: i32,
        shared_bytes: u64,
        flags: u32,
    ) -> Result<i32> {
        let function = self.function(kernel)?;
        let driver = self.bind()?;
        let mut blocks = 0;
        // SAFETY: the function is alive, the target valid.
        check(unsafe {
            (driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
                &mut blocks,
                function,
                block_threads,
                shared_bytes as usize,
                flags,
            )
        })?;
        Ok(blocks)
    }

    fn max_active_clusters(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        let (function, launch) = (self.function(kernel)?, self.driver_launch(config)?);
        let driver = self.bind()?;
        let mut found = 0;
        // SAFETY: the function is alive, the target valid; the driver checks the attributes.
        check(unsafe { (driver.cuOccupancyMaxActiveClusters)(&mut found, function, &launch) })?;
        Ok(found)
    }

    fn max_cluster_blocks(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        let (function, launch) = (self.function(kernel)?, self.driver_launch(config)?);
        let driver = self.bind()?;
        let mut found = 0;
        // SAFETY: as above.
        check(unsafe {
            (driver.cuOccupancyMaxPotentialClusterSize)(&mut found, function, &launch)
        })?;
        Ok(found)
    }

    unsafe fn launch(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()> {
        let function = self.function(kernel)?;
        let twin = self.twin_to_launch(kernel, config);
        let launch = self.driver_launch(config)?;
        let driver = self.bind()?;
        let mut pointers: Vec<*mut c_void> =
            params.iter().map(|param| param.as_ptr().cast_mut().cast()).collect();
        // SAFETY: the function and stream are alive; attributes are the driver's to check. The driver
        // reads each parameter's bytes, whose number the caller has from the same module, and is the twin's too; it
        // copies them before it returns.
        let mut launched = |function| unsafe {
            (driver.cuLaunchKernelEx)(
                &launch,
                function,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        match twin.map(&mut launched) {
            Some(0) => Ok(()),
            // What is wrong is said of the kernel.
            _ => check(launched(function)),
        }
    }
}
