//! The GPU device: [`Device`] over the CUDA driver. The driver is loaded at run time; a machine
//! without it gets an error from [`GpuDevice::open`], and nothing else changes.
//!
//! Handles that host code hands in are looked up before the driver sees them, because the driver
//! reads through them.

mod array;
mod driver;
mod graph;
mod memory;

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::driver::{Driver, DriverLaunch, Handle, check, driver};

use crate::array::{ArrayHandle, ArrayInfo, Copy3D, Resource, TextureDesc};
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};
use crate::image::device_runtime_symbol;

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
    streams: HashSet<u64>,
    graphs: HashSet<u64>,
    events: HashSet<u64>,
    arrays: HashSet<u64>,
}

/// One GPU, used through its primary context.
pub struct GpuDevice {
    driver: &'static Driver,
    ordinal: i32,
    /// The primary context, null after a reset until the next use.
    context: Mutex<u64>,
    handles: Mutex<Handles>,
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
        // SAFETY: a retained primary context. Setting the same one again costs nanoseconds.
        check(unsafe { (self.driver.cuCtxSetCurrent)(*context as Handle) })?;
        Ok(self.driver)
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The driver's stream: a predefined one or one that is alive.
    fn stream(&self, stream: StreamHandle) -> Result<Handle> {
        if stream.0 <= StreamHandle::PER_THREAD.0 || self.handles().streams.contains(&stream.0) {
            return Ok(stream.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn event(&self, event: EventHandle) -> Result<Handle> {
        if self.handles().events.contains(&event.0) {
            return Ok(event.0 as Handle);
        }
        Err(CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    fn array(&self, array: ArrayHandle) -> Result<Handle> {
        if self.handles().arrays.contains(&array.0) {
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

    fn function_attribute(&self, function: Handle, attribute: u32) -> Result<i32> {
        let driver = self.bind()?;
        let mut value = 0;
        // SAFETY: `function` is alive, `value` valid for the write.
        check(unsafe { (driver.cuFuncGetAttribute)(&mut value, attribute, function) })?;
        Ok(value)
    }
}

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
        self.handles().modules.insert(module as u64, crate::image::param_counts(image));
        Ok(ModuleHandle(module as u64))
    }
}

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
        {
            let mut handles = self.handles();
            handles.modules.remove(&module.0);
            handles.kernels.retain(|_, kernel| kernel.module != module);
            handles.kernels_by_name.retain(|(of, _), _| *of != module);
        }
        // SAFETY: alive until here, and forgotten.
        check(unsafe { (driver.cuModuleUnload)(handle) })
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
        handles.kernels_by_name.insert(key, kernel);
        Ok(kernel)
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
        // SAFETY: the function is alive; the driver checks attribute and value.
        check(unsafe { (driver.cuFuncSetAttribute)(function, attribute, value) })
    }

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
        let launch = self.driver_launch(config)?;
        let driver = self.bind()?;
        let mut pointers: Vec<*mut c_void> =
            params.iter().map(|param| param.as_ptr().cast_mut().cast()).collect();
        // SAFETY: the function and stream are alive; attributes are the driver's to check. The driver
        // reads each parameter's bytes, whose number the caller has from the same module; it copies
        // them before it returns.
        check(unsafe {
            (driver.cuLaunchKernelEx)(
                &launch,
                function,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        memory::allocate(self, bytes)
    }

    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)> {
        memory::allocate_pitched(self, width_bytes, height)
    }

    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64> {
        memory::allocate_managed(self, bytes, flags)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64> {
        memory::allocate_host(self, bytes, flags)
    }

    fn host_flags(&self, address: u64) -> Result<u32> {
        let driver = self.bind()?;
        let mut flags = 0;
        // SAFETY: the target is valid; the driver looks the address up in its own tables.
        check(unsafe { (driver.cuMemHostGetFlags)(&mut flags, address as *mut c_void) })?;
        Ok(flags)
    }

    fn free(&self, address: u64) -> Result<()> {
        memory::free(self, address)
    }

    fn free_host(&self, address: u64) -> Result<()> {
        memory::free_host(self, address)
    }

    fn pointer_info(&self, address: u64) -> Result<PointerInfo> {
        memory::pointer_info(self, address)
    }

    fn register_host(&self, address: u64, bytes: u64, flags: u32) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver checks that the memory is there.
        check(unsafe {
            (driver.cuMemHostRegister_v2)(address as *mut c_void, bytes as usize, flags)
        })
    }

    fn unregister_host(&self, address: u64) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver knows what is registered.
        check(unsafe { (driver.cuMemHostUnregister)(address as *mut c_void) })
    }

    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: numbers only, which the driver checks.
        check(unsafe { (driver.cuMemAdvise_v2)(address, bytes as usize, advice, location) })
    }

    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()> {
        let stream = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: the stream is alive; the driver checks the numbers.
        check(unsafe {
            (driver.cuMemPrefetchAsync_v2)(address, bytes as usize, location, 0, stream)
        })
    }

    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: as many bytes as are told.
        check(unsafe {
            (driver.cuMemRangeGetAttribute)(
                data.as_mut_ptr().cast(),
                data.len(),
                attribute,
                address,
                bytes as usize,
            )
        })
    }

    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise is passed on.
        unsafe { memory::copy(self, dst, src, bytes, kind, stream) }
    }

    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise is passed on.
        unsafe { memory::copy_2d(self, copy, kind, stream) }
    }

    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise is passed on.
        unsafe { memory::fill(self, dst, value, bytes, stream) }
    }

    unsafe fn fill_2d(
        &self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise is passed on.
        unsafe { memory::fill_2d(self, dst, pitch_bytes, value, width_bytes, height, stream) }
    }

    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle> {
        array::make_array(self, info)
    }

    fn destroy_array(&self, array: ArrayHandle) -> Result<()> {
        array::drop_array(self, array)
    }

    fn array_info(&self, array: ArrayHandle) -> Result<ArrayInfo> {
        array::info_of(self, array)
    }

    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { array::copy_box(self, copy, kind, stream) }
    }

    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64> {
        array::make_texture(self, resource, texture)
    }

    fn destroy_texture(&self, object: u64) -> Result<()> {
        array::drop_texture(self, object)
    }

    fn create_surface(&self, array: ArrayHandle) -> Result<u64> {
        array::make_surface(self, array)
    }

    fn destroy_surface(&self, object: u64) -> Result<()> {
        array::drop_surface(self, object)
    }

    fn create_graph(&self, steps: &[GraphStep]) -> Result<u64> {
        graph::create(self, steps)
    }

    fn change_graph(&self, graph: u64, steps: &[GraphStep]) -> Result<()> {
        graph::change(self, graph, steps)
    }

    fn destroy_graph(&self, graph: u64) -> Result<()> {
        graph::destroy(self, graph)
    }

    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        graph::upload(self, graph, stream)
    }

    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        graph::launch(self, graph, stream)
    }

    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle> {
        let driver = self.bind()?;
        let mut stream: Handle = std::ptr::null_mut();
        // SAFETY: the target is valid for the write.
        check(unsafe { (driver.cuStreamCreateWithPriority)(&mut stream, flags, priority) })?;
        self.handles().streams.insert(stream as u64);
        Ok(StreamHandle(stream as u64))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        let driver = self.bind()?;
        if !self.handles().streams.remove(&stream.0) {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        // SAFETY: it was alive and is forgotten.
        check(unsafe { (driver.cuStreamDestroy_v2)(stream.0 as Handle) })
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuStreamSynchronize)(handle) })
    }

    fn query_stream(&self, stream: StreamHandle) -> Result<()> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuStreamQuery)(handle) })
    }

    fn stream_wait_event(
        &self,
        stream: StreamHandle,
        event: EventHandle,
        flags: u32,
    ) -> Result<()> {
        let (stream, event) = (self.stream(stream)?, self.event(event)?);
        let driver = self.bind()?;
        // SAFETY: both alive.
        check(unsafe { (driver.cuStreamWaitEvent)(stream, event, flags) })
    }

    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()> {
        unsafe extern "C" fn run(_stream: Handle, status: driver::CUresult, data: *mut c_void) {
            // SAFETY: the box below, once.
            let work = unsafe { Box::from_raw(data.cast::<HostWork>()) };
            work(driver::runtime_error(status));
        }
        let stream = self.stream(stream)?;
        let driver = self.bind()?;
        let data = Box::into_raw(Box::new(work));
        // SAFETY: the driver calls `run` once with the box, on a thread of its own.
        let status = unsafe { (driver.cuStreamAddCallback)(stream, run, data.cast(), 0) };
        if status != 0 {
            // SAFETY: the driver has not taken it.
            drop(unsafe { Box::from_raw(data) });
        }
        check(status)
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

    fn stream_flags(&self, stream: StreamHandle) -> Result<u32> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        let mut flags = 0;
        // SAFETY: alive, target valid.
        check(unsafe { (driver.cuStreamGetFlags)(handle, &mut flags) })?;
        Ok(flags)
    }

    fn stream_priority(&self, stream: StreamHandle) -> Result<i32> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        let mut priority = 0;
        // SAFETY: alive, target valid.
        check(unsafe { (driver.cuStreamGetPriority)(handle, &mut priority) })?;
        Ok(priority)
    }

    fn stream_priority_range(&self) -> Result<(i32, i32)> {
        let driver = self.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: targets valid.
        check(unsafe { (driver.cuCtxGetStreamPriorityRange)(&mut least, &mut greatest) })?;
        Ok((least, greatest))
    }

    fn create_event(&self, flags: u32) -> Result<EventHandle> {
        let driver = self.bind()?;
        let mut event: Handle = std::ptr::null_mut();
        // SAFETY: target valid.
        check(unsafe { (driver.cuEventCreate)(&mut event, flags) })?;
        self.handles().events.insert(event as u64);
        Ok(EventHandle(event as u64))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        let driver = self.bind()?;
        if !self.handles().events.remove(&event.0) {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        // SAFETY: it was alive and is forgotten.
        check(unsafe { (driver.cuEventDestroy_v2)(event.0 as Handle) })
    }

    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()> {
        let (event, stream) = (self.event(event)?, self.stream(stream)?);
        let driver = self.bind()?;
        // SAFETY: both alive.
        check(unsafe { (driver.cuEventRecordWithFlags)(event, stream, flags) })
    }

    fn synchronize_event(&self, event: EventHandle) -> Result<()> {
        let event = self.event(event)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuEventSynchronize)(event) })
    }

    fn query_event(&self, event: EventHandle) -> Result<()> {
        let event = self.event(event)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuEventQuery)(event) })
    }

    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        let driver = self.bind()?;
        let mut elapsed_ms = 0.0;
        // SAFETY: both alive, target valid.
        check(unsafe { (driver.cuEventElapsedTime_v2)(&mut elapsed_ms, start, end) })?;
        Ok(elapsed_ms)
    }

    fn synchronize(&self) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the context is current.
        check(unsafe { (driver.cuCtxSynchronize)() })
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
}
