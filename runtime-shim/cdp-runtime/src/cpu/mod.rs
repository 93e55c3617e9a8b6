//! The CPU device: [`Device`] over the emulator. One lock around it, because the emulator is one
//! machine; host threads take turns.
//!
//! Launches and asynchronous copies within device memory wait in their streams until something waits
//! for them, as [`cdp_emulator`] has it. Copies to and from host memory are made before the call
//! returns, which CUDA permits for every one of them.

mod array;
mod clusters;
mod host;
mod options;
mod page;
mod progress;
mod report;
mod state;
mod summary;
mod tree;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cdp_emulator::Completion;
pub use cdp_emulator::Report;

use self::host::{Hints, HostFunctions, HostMemory};
pub use self::options::{CheckSet, CpuOptions, MessageFormat};
use self::state::{State, Work};
use crate::array::{ArrayHandle, ArrayInfo, Copy3D, Resource, TextureDesc};
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};

/// Reports of checks in this process so far.
static FINDINGS: AtomicU64 = AtomicU64::new(0);

/// How many reports checks have made in this process: such a program is not fine, whatever it
/// returns.
pub fn findings() -> u64 {
    FINDINGS.load(Ordering::Relaxed)
}

/// Takes what kernels print.
pub type OutputSink = Box<dyn FnMut(&[u8]) + Send>;
/// Takes a report about the program.
pub type ReportSink = Box<dyn FnMut(&Report) + Send>;

/// Where a CPU device's output goes.
pub struct Sinks {
    /// Takes what kernels print.
    pub output: OutputSink,
    /// Takes reports about the program.
    pub report: ReportSink,
}

impl Sinks {
    /// Standard output by way of C's `stdout`, reports to standard error.
    pub fn standard(format: MessageFormat) -> Sinks {
        Sinks {
            output: Box::new(crate::stdio::write_stdout),
            report: Box::new(move |report| {
                crate::stdio::flush_stdout();
                match format {
                    MessageFormat::Human => eprint!("{}", report::human(report)),
                    MessageFormat::Json => eprint!("{}", report::json_line(report)),
                }
            }),
        }
    }
}

/// A report as text for people, ending with a line break.
pub fn render_report(report: &Report) -> String {
    report::human(report)
}

/// A report as one line of JSON, ending with a line break.
pub fn render_report_json(report: &Report) -> String {
    report::json_line(report)
}

/// The CPU device.
pub struct CpuDevice {
    state: Arc<Mutex<State>>,
    arrays: Mutex<array::Arrays>,
    host_functions: HostFunctions,
    host_memory: Mutex<HostMemory>,
    hints: Mutex<Hints>,
    options: CpuOptions,
    /// 90 for 9.0.
    capability: u32,
}

impl CpuDevice {
    /// A device that claims compute capability `capability` (90 for 9.0).
    pub fn new(options: CpuOptions, capability: u32, sinks: Sinks) -> Result<CpuDevice> {
        let emulator = cdp_emulator::Emulator::new(options.config(capability)).map_err(convert)?;
        let state = Arc::new(Mutex::new(State::new(emulator, sinks)));
        let (arrays, host_memory, hints) = <_>::default();
        let host_functions = HostFunctions::default();
        Ok(CpuDevice { state, arrays, host_functions, host_memory, hints, options, capability })
    }

    /// The state, once no function of the host is due: what comes after it waits for it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.host_functions.settle();
        self.state_now()
    }

    fn state_now(&self) -> MutexGuard<'_, State> {
        // A panic in the emulator is a bug of ours; the next call sees the state it left.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrays(&self) -> MutexGuard<'_, array::Arrays> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runtime manual, cudaDeviceSetLimit: the synchronisation depth is for compute capabilities
    /// below 9.0 only.
    fn has_limit(&self, limit: Limit) -> Result<()> {
        match limit {
            Limit::SyncDepth if self.capability >= 90 => Err(CudaError::UNSUPPORTED_LIMIT.into()),
            _ => Ok(()),
        }
    }

    /// The report that ended the program, if one did.
    pub fn fault(&self) -> Option<Arc<Report>> {
        self.state().emulator.fault().cloned()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An emulator's error as CUDA's runtime would give it.
fn convert(error: cdp_emulator::Error) -> DeviceError {
    DeviceError::new(CudaError(error.cuda_code()), error.to_string())
}

impl Device for CpuDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn name(&self) -> String {
        format!("cdp CPU device (sm_{})", self.capability)
    }

    fn attribute(&self, attribute: u32) -> Result<i32> {
        let value = self.state().emulator.device_attribute(attribute);
        value.map(|value| value as i32).ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    fn memory_bytes(&self) -> Result<(u64, u64)> {
        let info = self.state().emulator.memory_info();
        Ok((info.free_bytes, info.total_bytes))
    }

    fn uuid(&self) -> [u8; 16] {
        *b"cdp CPU device 0"
    }

    fn load_module(&self, image: &ModuleImage<'_>) -> Result<ModuleHandle> {
        self.state().load(image)
    }

    fn unload_module(&self, module: ModuleHandle) -> Result<()> {
        self.state().unload(module)
    }

    fn kernel(&self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle> {
        self.state().kernel(module, symbol)
    }

    fn variable(&self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)> {
        self.state().variable(module, symbol)
    }

    fn kernel_params(&self, kernel: KernelHandle) -> Result<Vec<(u64, u64)>> {
        let state = self.state();
        let info = state.kernel_info(kernel)?;
        Ok(info.params.iter().map(|param| (param.offset_bytes, param.size_bytes)).collect())
    }

    fn kernel_attributes(&self, kernel: KernelHandle) -> Result<KernelAttributes> {
        let state = self.state();
        let info = state.kernel_info(kernel)?;
        Ok(KernelAttributes {
            shared_bytes: info.shared_bytes,
            constant_bytes: info.const_bytes,
            local_bytes: info.local_bytes,
            max_block_threads: info.max_threads as i32,
            // A thread of a GPU has 255 at most; what does not fit would be spilled.
            registers: info.registers.min(255) as i32,
            ptx_version: info.target_sm as i32,
            binary_version: self.capability as i32,
            max_dynamic_shared_bytes: state.max_dynamic_shared_bytes(kernel)? as i32,
            preferred_carveout: state.carveout(kernel),
            cluster_must_be_set: i32::from(info.cluster_must_be_set),
            required_cluster: info.cluster.unwrap_or([0; 3]).map(|blocks| blocks as i32),
            non_portable_cluster: i32::from(state.large_clusters(kernel)),
            ..KernelAttributes::default()
        })
    }

    fn set_kernel_attribute(&self, kernel: KernelHandle, attribute: u32, value: i32) -> Result<()> {
        self.state().set_kernel_attribute(kernel, attribute, value)
    }

    fn max_active_blocks(
        &self,
        kernel: KernelHandle,
        block_threads: i32,
        shared_bytes: u64,
        flags: u32,
    ) -> Result<i32> {
        let state = self.state();
        if block_threads <= 0 || flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        state.occupancy(kernel, block_threads as u32, shared_bytes)
    }

    fn max_active_clusters(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        clusters::active(self, kernel, config)
    }

    fn max_cluster_blocks(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        clusters::most_blocks(self, kernel, config)
    }

    unsafe fn launch(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()> {
        self.state().launch(kernel, config, params)
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.state().allocate(bytes)
    }

    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)> {
        const PITCH_ALIGN_BYTES: u64 = 512;
        if width_bytes == 0 || height == 0 {
            return Ok((0, 0));
        }
        let out_of_memory = DeviceError::from(CudaError::MEMORY_ALLOCATION);
        let pitch = width_bytes.checked_next_multiple_of(PITCH_ALIGN_BYTES);
        let total = pitch.and_then(|pitch| pitch.checked_mul(height));
        let (Some(pitch), Some(total)) = (pitch, total) else { return Err(out_of_memory) };
        Ok((self.state().allocate(total)?, pitch))
    }

    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64> {
        // cudaMemAttachGlobal or cudaMemAttachHost.
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().allocate_shared(bytes, MemoryType::Managed)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64> {
        // cudaHostAllocPortable, Mapped, WriteCombined.
        if flags > 7 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if bytes == 0 {
            return Ok(0);
        }
        let address = self.state().allocate_shared(bytes, MemoryType::Host)?;
        locked(&self.host_memory).flags.insert(address, flags);
        Ok(address)
    }

    fn host_flags(&self, address: u64) -> Result<u32> {
        let info = self.state_now().emulator.pointer_info(address);
        let known = info.and_then(|info| locked(&self.host_memory).flags.get(&info.base).copied());
        known.ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    fn free(&self, address: u64) -> Result<()> {
        self.state().free(address, false)
    }

    fn free_host(&self, address: u64) -> Result<()> {
        self.state().free(address, true)?;
        locked(&self.host_memory).flags.remove(&address);
        Ok(())
    }

    fn pointer_info(&self, address: u64) -> Result<PointerInfo> {
        Ok(self.state_now().pointer_info(address))
    }

    fn register_host(&self, address: u64, bytes: u64, _flags: u32) -> Result<()> {
        // SAFETY: the memory is there until it is unregistered, as CUDA demands of the caller.
        unsafe { self.state().register(address, bytes)? };
        locked(&self.host_memory).registered.insert(address);
        Ok(())
    }

    fn unregister_host(&self, address: u64) -> Result<()> {
        if !locked(&self.host_memory).registered.remove(&address) {
            return Err(CudaError::HOST_MEMORY_NOT_REGISTERED.into());
        }
        self.state().unregister(address)
    }

    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()> {
        let mut hints = locked(&self.hints);
        hints.advise(&self.state_now(), (address, bytes), advice, location)
    }

    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()> {
        let mut hints = locked(&self.hints);
        let mut state = self.state_now();
        state.stream(stream)?;
        hints.prefetch(&state, (address, bytes), location)
    }

    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()> {
        let mut hints = locked(&self.hints);
        hints.attribute(&self.state_now(), (address, bytes), attribute, data)
    }

    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let copy = Copy2D {
            dst,
            dst_pitch_bytes: bytes as usize,
            src,
            src_pitch_bytes: bytes as usize,
            width_bytes: bytes as usize,
            height: 1,
        };
        // SAFETY: one row of what the caller promises.
        unsafe { self.state().copy(&copy, kind, stream) }
    }

    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        if copy.width_bytes > copy.dst_pitch_bytes || copy.width_bytes > copy.src_pitch_bytes {
            return Err(CudaError::INVALID_PITCH_VALUE.into());
        }
        // SAFETY: the caller's promise.
        unsafe { self.state().copy(copy, kind, stream) }
    }

    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.state().fill(dst, bytes, value, bytes, 1, stream)
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
        if width_bytes > pitch_bytes {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().fill(dst, pitch_bytes, value, width_bytes, height, stream)
    }

    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle> {
        self.make_array(info)
    }

    fn destroy_array(&self, array: ArrayHandle) -> Result<()> {
        self.drop_array(array)
    }

    fn array_info(&self, array: ArrayHandle) -> Result<ArrayInfo> {
        self.info_of(array)
    }

    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_box(copy, kind, stream) }
    }

    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64> {
        self.make_texture(resource, texture)
    }

    fn destroy_texture(&self, object: u64) -> Result<()> {
        self.drop_object(object)
    }

    fn create_surface(&self, array: ArrayHandle) -> Result<u64> {
        self.make_surface(array)
    }

    fn destroy_surface(&self, object: u64) -> Result<()> {
        self.drop_object(object)
    }

    fn create_graph(&self, steps: &[GraphStep]) -> Result<u64> {
        self.state().create_graph(steps)
    }

    fn change_graph(&self, graph: u64, steps: &[GraphStep]) -> Result<()> {
        self.state().change_graph(graph, steps)
    }

    fn destroy_graph(&self, graph: u64) -> Result<()> {
        self.state().destroy_graph(graph)
    }

    fn upload_graph(&self, _graph: u64, stream: StreamHandle) -> Result<()> {
        self.stream_flags(stream).map(|_| ())
    }

    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        self.state().launch_graph(graph, stream)
    }

    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let (least, greatest) = self.stream_priority_range()?;
        Ok(self.state().create_stream(flags, priority.clamp(greatest, least)))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        self.state().destroy_stream(stream)
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()> {
        let mut state = self.state();
        let id = state.stream(stream)?;
        state.wait_for(Work::Stream(id))
    }

    fn query_stream(&self, stream: StreamHandle) -> Result<()> {
        if self.host_functions.are_due() {
            return Err(CudaError::NOT_READY.into());
        }
        let mut state = self.state();
        let id = state.stream(stream)?;
        state.wait(|emulator| emulator.query_stream(id))
    }

    fn stream_wait_event(
        &self,
        stream: StreamHandle,
        event: EventHandle,
        flags: u32,
    ) -> Result<()> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().stream_wait_event(stream, event)
    }

    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()> {
        let id = self.state_now().stream(stream)?;
        self.host_functions.queue(&self.state, id, work);
        Ok(())
    }

    fn stream_flags(&self, stream: StreamHandle) -> Result<u32> {
        Ok(self.state().stream_info(stream)?.0)
    }

    fn stream_priority(&self, stream: StreamHandle) -> Result<i32> {
        Ok(self.state().stream_info(stream)?.1)
    }

    fn stream_priority_range(&self) -> Result<(i32, i32)> {
        // As GPUs have it. Priorities are hints; this device does not follow them.
        Ok((0, -5))
    }

    fn create_event(&self, flags: u32) -> Result<EventHandle> {
        const DISABLE_TIMING: u32 = 2;
        const INTERPROCESS: u32 = 4;
        if flags > 7 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        Ok(self.state().create_event(flags))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.state().destroy_event(event)
    }

    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().record_event(event, stream)
    }

    fn synchronize_event(&self, event: EventHandle) -> Result<()> {
        self.state().wait_event(event, true)
    }

    fn query_event(&self, event: EventHandle) -> Result<()> {
        if self.host_functions.are_due() {
            return Err(CudaError::NOT_READY.into());
        }
        self.state().wait_event(event, false)
    }

    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        self.state().elapsed_ms(start, end)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.state().emulator.set_timeout(timeout);
        Ok(())
    }

    fn set_trace(&self, on: bool) -> Result<()> {
        self.state().emulator.set_trace(on);
        Ok(())
    }

    fn trace_json(&self) -> Result<String> {
        let mut state = self.state();
        state.wait_for(Work::All)?;
        Ok(state.past.trace_json(&state.emulator))
    }

    fn profile_json(&self) -> Result<String> {
        let mut state = self.state();
        state.wait_for(Work::All)?;
        Ok(state.past.profile_text(&state.emulator, MessageFormat::Json))
    }

    fn findings(&self) -> Result<Vec<Arc<Report>>> {
        let mut state = self.state();
        // What ended the program says nothing about what was found before.
        let _ = state.wait_for(Work::All);
        Ok(state.findings())
    }

    fn synchronize(&self) -> Result<()> {
        self.state().wait_for(Work::All)
    }

    fn reset(&self) -> Result<()> {
        self.arrays().clear();
        *locked(&self.host_memory) = HostMemory::default();
        *locked(&self.hints) = Hints::default();
        self.state().reset()
    }

    fn limit(&self, limit: Limit) -> Result<u64> {
        self.has_limit(limit)?;
        Ok(self.state().limit(limit))
    }

    fn set_limit(&self, limit: Limit, value: u64) -> Result<()> {
        self.has_limit(limit)?;
        self.state().set_limit(limit, value)
    }

    fn cache_config(&self) -> Result<u32> {
        Ok(self.state().cache_config)
    }

    fn set_cache_config(&self, config: u32) -> Result<()> {
        if config > 3 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().cache_config = config;
        Ok(())
    }

    fn driver_version(&self) -> Result<i32> {
        Ok(crate::RUNTIME_VERSION)
    }

    fn finish(&self) {
        self.state().finish(&self.options);
    }
}

/// What a wait came to, as CUDA's runtime says it.
fn completion(done: Completion) -> Result<()> {
    match done {
        Completion::Done => Ok(()),
        Completion::Pending => Err(CudaError::NOT_READY.into()),
        Completion::Faulted(report) => {
            Err(DeviceError::new(CudaError(report.cuda_code()), report.message.clone()))
        }
    }
}
