//! The inside of the CPU device's lock: the emulator, and what CUDA's handles and rules need beside
//! it. Checks here are those of CUDA's API; those of memory and launches are the emulator's.

mod graph;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::ThreadId;

use cdp_emulator::{
    Completion, Emulator, EventId, KernelId, KernelInfo, Launch, ModuleId, Report, Source, StreamId,
};

use super::progress::ProgressLine;
use super::summary::Past;
use super::{CpuOptions, Sinks, completion, convert};
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};

/// Launches and copies that may wait before they are run though nobody asked. Bounds the memory of a
/// program that never synchronises; a GPU's queue is bounded too.
const MAX_QUEUED: usize = 4096;
/// Handles are numbered from here in steps, so that no two kinds or small integers collide.
const FIRST_HANDLE: u64 = 0x1000;

struct Stream {
    id: StreamId,
    flags: u32,
    priority: i32,
}

struct Event {
    id: EventId,
    timing: bool,
    recorded: bool,
}

#[derive(Default)]
struct KernelSettings {
    max_dynamic_shared_bytes: Option<u64>,
    carveout: Option<i32>,
    large_clusters: bool,
}

/// What is waited for.
#[derive(Clone, Copy)]
pub enum Work {
    /// Everything.
    All,
    /// What is in a stream.
    Stream(StreamId),
    /// An event.
    Event(EventId),
}

type EmulatorResult = std::result::Result<Completion, cdp_emulator::Error>;

impl Work {
    fn finish(self, emulator: &mut Emulator) -> EmulatorResult {
        match self {
            Work::All => emulator.synchronize(),
            Work::Stream(stream) => emulator.synchronize_stream(stream),
            Work::Event(event) => emulator.synchronize_event(event),
        }
    }

    /// The same turn by turn. The order of what happens is the emulator's either way.
    fn finish_showing(self, emulator: &mut Emulator, mut line: ProgressLine) -> EmulatorResult {
        loop {
            let before = emulator.progress();
            let done = match self {
                Work::All => emulator.query_stream(StreamId::NULL)?,
                Work::Stream(stream) => emulator.query_stream(stream)?,
                Work::Event(event) => emulator.query_event(event)?,
            };
            let now = emulator.progress();
            let all_done = !matches!(self, Work::All) || now.pending == 0;
            // What does not move on is for the emulator to explain.
            let ended = !matches!(done, Completion::Pending) && all_done;
            if ended || now == before {
                return self.finish(emulator);
            }
            line.turn(|| now);
        }
    }
}

pub struct State {
    pub emulator: Emulator,
    pub cache_config: u32,
    sinks: Sinks,
    next_handle: u64,
    modules: HashMap<u64, ModuleId>,
    kernels: HashMap<u64, (KernelId, ModuleHandle)>,
    kernels_by_name: HashMap<(ModuleHandle, String), KernelHandle>,
    settings: HashMap<u64, KernelSettings>,
    streams: HashMap<u64, Stream>,
    per_thread: HashMap<ThreadId, StreamId>,
    events: HashMap<u64, Event>,
    /// Allocations that host code uses too.
    shared: HashMap<u64, MemoryType>,
    queued: usize,
    pub(super) past: Past,
}

impl State {
    pub fn new(emulator: Emulator, sinks: Sinks) -> State {
        State {
            emulator,
            cache_config: 0,
            sinks,
            next_handle: FIRST_HANDLE,
            modules: HashMap::new(),
            kernels: HashMap::new(),
            kernels_by_name: HashMap::new(),
            settings: HashMap::new(),
            streams: HashMap::new(),
            per_thread: HashMap::new(),
            events: HashMap::new(),
            shared: HashMap::new(),
            queued: 0,
            past: Past::default(),
        }
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 16;
        self.next_handle
    }

    /// Hands out what kernels have printed and what was found about them.
    fn drain(&mut self) {
        let output = self.emulator.take_output();
        if !output.is_empty() {
            (self.sinks.output)(&output);
        }
        for report in self.emulator.take_reports() {
            self.past.tell(&report);
            (self.sinks.report)(&report);
        }
    }

    /// Runs something that may run kernels, then hands out what they said.
    pub fn wait(&mut self, run: impl FnOnce(&mut Emulator) -> EmulatorResult) -> Result<()> {
        let done = run(&mut self.emulator);
        self.drain();
        let done = match done {
            Ok(done) => completion(done),
            Err(error) => Err(self.or_fault(error)),
        };
        if done.is_ok() {
            self.queued = 0;
        }
        done
    }

    /// Waits for work; on a terminal, shows how far it is.
    pub fn wait_for(&mut self, work: Work) -> Result<()> {
        self.wait(|emulator| match ProgressLine::new() {
            None => work.finish(emulator),
            Some(line) => work.finish_showing(emulator, line),
        })
    }

    /// An error of the emulator; after a fault, the fault's own code whatever was asked.
    fn or_fault(&self, error: cdp_emulator::Error) -> DeviceError {
        match self.emulator.fault() {
            Some(report) => CudaError(report.cuda_code()).into(),
            None => convert(error),
        }
    }

    /// `Err` with the fault's code if an earlier fault ended the program.
    fn alive(&self) -> Result<()> {
        match self.emulator.fault() {
            Some(report) => Err(CudaError(report.cuda_code()).into()),
            None => Ok(()),
        }
    }

    fn enqueued(&mut self) -> Result<()> {
        self.queued += 1;
        if self.queued >= MAX_QUEUED { self.wait_for(Work::All) } else { Ok(()) }
    }

    // Modules.

    pub fn load(&mut self, image: &ModuleImage<'_>) -> Result<ModuleHandle> {
        self.alive()?;
        if image.ptx.is_empty() {
            return Err(DeviceError::new(
                CudaError::NO_KERNEL_IMAGE_FOR_DEVICE,
                "the program carries no PTX, which is what the CPU device runs",
            ));
        }
        let mut sources = Vec::with_capacity(image.ptx.len());
        for &(name, bytes) in image.ptx {
            let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            let text = std::str::from_utf8(bytes).map_err(|error| {
                let detail = format!("{name}: not UTF-8 at byte {}", error.valid_up_to());
                DeviceError::new(CudaError::INVALID_PTX, detail)
            })?;
            sources.push(Source { name, text });
        }
        let module = self.emulator.load(&sources).map_err(convert)?;
        let handle = self.handle();
        self.modules.insert(handle, module);
        Ok(ModuleHandle(handle))
    }

    fn module(&self, module: ModuleHandle) -> Result<ModuleId> {
        let known = self.modules.get(&module.0).copied();
        known.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    pub fn unload(&mut self, module: ModuleHandle) -> Result<()> {
        let id = self.module(module)?;
        self.wait_for(Work::All)?;
        self.modules.remove(&module.0);
        self.kernels.retain(|_, (_, of)| *of != module);
        self.kernels_by_name.retain(|(of, _), _| *of != module);
        self.emulator.unload(id).map_err(convert)
    }

    pub fn kernel(&mut self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle> {
        let key = (module, symbol.to_owned());
        if let Some(&known) = self.kernels_by_name.get(&key) {
            return Ok(known);
        }
        let id = self
            .emulator
            .kernel(self.module(module)?, symbol)
            .map_err(|error| DeviceError::new(CudaError::SYMBOL_NOT_FOUND, error.to_string()))?;
        let handle = KernelHandle(self.handle());
        self.kernels.insert(handle.0, (id, module));
        self.kernels_by_name.insert(key, handle);
        Ok(handle)
    }

    pub fn variable(&mut self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)> {
        let variable = self
            .emulator
            .variable(self.module(module)?, symbol)
            .map_err(|error| DeviceError::new(CudaError::SYMBOL_NOT_FOUND, error.to_string()))?;
        if variable.managed {
            self.shared.insert(variable.address, MemoryType::Managed);
        }
        Ok((variable.address, variable.size_bytes))
    }

    // Kernels.

    pub fn kernel_info(&self, kernel: KernelHandle) -> Result<&KernelInfo> {
        let (id, _) = self
            .kernels
            .get(&kernel.0)
            .ok_or_else(|| DeviceError::from(CudaError::INVALID_DEVICE_FUNCTION))?;
        self.emulator.kernel_info(*id).map_err(convert)
    }

    /// Most dynamic shared memory that a launch of this kernel may ask for.
    pub fn max_dynamic_shared_bytes(&self, kernel: KernelHandle) -> Result<u64> {
        const SHARED_BYTES_PER_BLOCK: u32 = 8;
        let chosen = self.settings.get(&kernel.0).and_then(|s| s.max_dynamic_shared_bytes);
        let static_bytes = self.kernel_info(kernel)?.shared_bytes;
        let usual = u64::from(self.emulator.device_attribute(SHARED_BYTES_PER_BLOCK).unwrap_or(0));
        Ok(chosen.unwrap_or(usual.saturating_sub(static_bytes)))
    }

    /// Blocks of the kernel that fit on a multiprocessor.
    pub fn occupancy(
        &self,
        kernel: KernelHandle,
        block_threads: u32,
        shared_bytes: u64,
    ) -> Result<i32> {
        self.kernel_info(kernel)?;
        let (id, _) = self.kernels[&kernel.0];
        let blocks = self.emulator.occupancy(id, block_threads, shared_bytes).map_err(convert)?;
        Ok(blocks as i32)
    }

    pub fn carveout(&self, kernel: KernelHandle) -> i32 {
        self.settings.get(&kernel.0).and_then(|settings| settings.carveout).unwrap_or(-1)
    }

    pub fn set_kernel_attribute(
        &mut self,
        kernel: KernelHandle,
        attribute: u32,
        value: i32,
    ) -> Result<()> {
        const MAX_DYNAMIC_SHARED: u32 = 8;
        const CARVEOUT: u32 = 9;
        const LARGE_CLUSTERS: u32 = 14;
        self.kernel_info(kernel)?;
        let (id, _) = self.kernels[&kernel.0];
        let settings = self.settings.entry(kernel.0).or_default();
        match (attribute, value) {
            (MAX_DYNAMIC_SHARED, 0..) => {
                self.emulator.set_max_dynamic_shared(id, value as u32).map_err(convert)?;
                settings.max_dynamic_shared_bytes = Some(value as u64);
                Ok(())
            }
            (CARVEOUT, -1..=100) => {
                settings.carveout = Some(value);
                Ok(())
            }
            (LARGE_CLUSTERS, 0 | 1) => {
                self.emulator.allow_large_clusters(id, value != 0).map_err(convert)?;
                settings.large_clusters = value != 0;
                Ok(())
            }
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    }

    /// The kernel's clusters may be larger than every device can have them.
    pub fn large_clusters(&self, kernel: KernelHandle) -> bool {
        self.settings.get(&kernel.0).is_some_and(|settings| settings.large_clusters)
    }

    pub fn launch(
        &mut self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()> {
        self.alive()?;
        let stream = self.stream(config.stream)?;
        let (kernel, buffer) = self.prepare(kernel, config, params)?;
        let launch = launch_of(kernel, config, stream, &buffer);
        self.emulator.launch(&launch).map_err(|error| self.refused(error))?;
        self.enqueued()
    }

    /// Why the emulator refuses a launch.
    fn refused(&self, error: cdp_emulator::Error) -> DeviceError {
        let mut refused = self.or_fault(error);
        // What the CUDA 13 runtime says of a configuration that does not fit (seen on an H200).
        if refused.code == CudaError::INVALID_CONFIGURATION {
            refused.code = CudaError::INVALID_VALUE;
        }
        refused
    }

    /// The emulator's kernel and its parameter buffer, if the launch may be.
    fn prepare(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<(KernelId, Vec<u8>)> {
        let most_shared_bytes = self.max_dynamic_shared_bytes(kernel)?;
        let info = self.kernel_info(kernel)?;
        if config.shared_bytes > most_shared_bytes {
            return Err(DeviceError::new(
                CudaError::INVALID_VALUE,
                format!(
                    "`{}` is launched with {} bytes of dynamic shared memory; {most_shared_bytes} are \
                     allowed (cudaFuncSetAttribute raises that)",
                    info.name, config.shared_bytes
                ),
            ));
        }
        if config.is_cooperative() {
            self.check_cooperative(kernel, config)?;
        }
        let mut buffer = vec![0u8; info.param_bytes as usize];
        let sizes_agree = info.params.len() == params.len()
            && info.params.iter().zip(params).all(|(p, given)| p.size_bytes == given.len() as u64);
        if !sizes_agree {
            let wanted: Vec<u64> = info.params.iter().map(|param| param.size_bytes).collect();
            let given: Vec<usize> = params.iter().map(|param| param.len()).collect();
            return Err(DeviceError::new(
                CudaError::INVALID_VALUE,
                format!(
                    "`{}` has parameters of {wanted:?} bytes and is given {given:?}",
                    info.name
                ),
            ));
        }
        for (param, bytes) in info.params.iter().zip(params) {
            let at = param.offset_bytes as usize;
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok((self.kernels[&kernel.0].0, buffer))
    }

    /// The blocks of a cooperative launch must all be resident at once.
    fn check_cooperative(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<()> {
        const MULTIPROCESSORS: u32 = 16;
        let threads = config.block.iter().fold(1u32, |all, n| all.saturating_mul(*n));
        let each = self.occupancy(kernel, threads, config.shared_bytes)? as u64;
        let most = each * u64::from(self.emulator.device_attribute(MULTIPROCESSORS).unwrap_or(1));
        let blocks = config.grid.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        if blocks > most {
            let detail = format!(
                "`{}` is launched cooperatively with {blocks} blocks; {most} can run at once",
                self.kernel_info(kernel)?.name
            );
            return Err(DeviceError::new(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE, detail));
        }
        Ok(())
    }

    // Memory.

    pub fn allocate(&mut self, bytes: u64) -> Result<u64> {
        self.alive()?;
        self.emulator.alloc(bytes).map_err(convert)
    }

    pub fn allocate_shared(&mut self, bytes: u64, memory: MemoryType) -> Result<u64> {
        self.alive()?;
        let address = self.emulator.alloc_managed(bytes).map_err(convert)?;
        self.shared.insert(address, memory);
        Ok(address)
    }

    /// Lets kernels use memory of the host.
    ///
    /// # Safety
    /// The memory stays until [`State::unregister`].
    pub unsafe fn register(&mut self, address: u64, bytes: u64) -> Result<()> {
        self.alive()?;
        // SAFETY: the caller's promise.
        let known = unsafe { self.emulator.register(address, bytes) };
        known.map_err(|_| CudaError::HOST_MEMORY_ALREADY_REGISTERED)?;
        self.shared.insert(address, MemoryType::Host);
        Ok(())
    }

    /// Forgets memory of [`State::register`] after all work.
    pub fn unregister(&mut self, address: u64) -> Result<()> {
        self.wait_for(Work::All)?;
        self.emulator.unregister(address);
        self.shared.remove(&address);
        Ok(())
    }

    /// Frees after all work, as `cudaFree` waits too.
    pub fn free(&mut self, address: u64, from_host: bool) -> Result<()> {
        self.alive()?;
        if address == 0 {
            return Ok(());
        }
        let begins = self.emulator.pointer_info(address).is_some_and(|info| info.base == address);
        let is_host = self.shared.get(&address) == Some(&MemoryType::Host);
        if !begins || is_host != from_host {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.wait_for(Work::All)?;
        self.emulator.free(address).map_err(convert)?;
        self.shared.remove(&address);
        Ok(())
    }

    pub fn pointer_info(&self, address: u64) -> PointerInfo {
        let Some(info) = self.emulator.pointer_info(address) else {
            return PointerInfo {
                memory: MemoryType::Unregistered,
                device_address: 0,
                host_address: address,
            };
        };
        let memory = self.shared.get(&info.base).copied().unwrap_or(MemoryType::Device);
        let host_address = if memory == MemoryType::Device { 0 } else { address };
        PointerInfo { memory, device_address: address, host_address }
    }

    fn is_device(&self, address: u64) -> bool {
        self.emulator.pointer_info(address).is_some()
    }

    /// # Safety
    /// Host sides of the copy must be valid.
    pub unsafe fn copy(
        &mut self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream.unwrap_or(StreamHandle::NULL))?;
        if copy.width_bytes == 0 || copy.height == 0 {
            return Ok(());
        }
        if copy.dst == 0 || copy.src == 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        // An address that the kind calls the host's may be the device's all the same (unified
        // addressing); the reverse is an error, which the emulator finds.
        let (src_claimed, dst_claimed) = match kind {
            CopyKind::HostToHost | CopyKind::Default => (false, false),
            CopyKind::HostToDevice => (false, true),
            CopyKind::DeviceToHost => (true, false),
            CopyKind::DeviceToDevice => (true, true),
        };
        let from_device = src_claimed || self.is_device(copy.src);
        let to_device = dst_claimed || self.is_device(copy.dst);
        match (from_device, to_device) {
            (true, true) => self.copy_in_device(copy, id, stream.is_none()),
            // SAFETY: the caller's promise.
            _ => unsafe { self.copy_with_host(copy, from_device, to_device, id) },
        }
    }

    fn copy_in_device(&mut self, copy: &Copy2D, stream: StreamId, wait: bool) -> Result<()> {
        let queued = self.emulator.copy_in_device(
            copy.dst,
            copy.dst_pitch_bytes as u64,
            copy.src,
            copy.src_pitch_bytes as u64,
            copy.width_bytes as u64,
            copy.height as u64,
            stream,
        );
        queued.map_err(|error| self.or_fault(error))?;
        if wait { self.wait_for(Work::Stream(stream)) } else { self.enqueued() }
    }

    /// # Safety
    /// Host sides of the copy must be valid.
    unsafe fn copy_with_host(
        &mut self,
        copy: &Copy2D,
        from_device: bool,
        to_device: bool,
        stream: StreamId,
    ) -> Result<()> {
        if !from_device && !to_device {
            self.wait_for(Work::Stream(stream))?;
        }
        // One copy if the rows touch each other.
        let dense =
            copy.width_bytes == copy.dst_pitch_bytes && copy.width_bytes == copy.src_pitch_bytes;
        let (rows, bytes) = match (dense, copy.width_bytes.checked_mul(copy.height)) {
            (true, Some(total)) => (1, total),
            _ => (copy.height, copy.width_bytes),
        };
        for row in 0..rows {
            let dst = copy.dst.wrapping_add(row.wrapping_mul(copy.dst_pitch_bytes) as u64);
            let src = copy.src.wrapping_add(row.wrapping_mul(copy.src_pitch_bytes) as u64);
            // Only as much host memory is looked at as the device has: a wrong size is an error.
            for (on_device, address) in [(from_device, src), (to_device, dst)] {
                if on_device {
                    let checked = self.emulator.check_range(address, bytes as u64);
                    checked.map_err(|error| self.or_fault(error))?;
                }
            }
            match (from_device, to_device) {
                (false, true) => {
                    // SAFETY: host memory valid by the caller's promise.
                    let host = unsafe { std::slice::from_raw_parts(src as *const u8, bytes) };
                    self.wait(|emulator| emulator.copy_to_device(dst, host, stream))?;
                }
                (true, false) => {
                    // SAFETY: host memory valid by the caller's promise.
                    let host = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes) };
                    self.wait(|emulator| emulator.copy_from_device(host, src, stream))?;
                }
                // SAFETY: both sides valid by the caller's promise; they may overlap.
                _ => unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes) },
            }
        }
        Ok(())
    }

    pub fn fill(
        &mut self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream.unwrap_or(StreamHandle::NULL))?;
        if width_bytes == 0 || height == 0 {
            return Ok(());
        }
        let queued = self.emulator.set_memory(dst, pitch_bytes, &[value], width_bytes, height, id);
        queued.map_err(|error| self.or_fault(error))?;
        match stream {
            // Host code may look at managed memory right after a cudaMemset.
            None => self.wait_for(Work::Stream(id)),
            Some(_) => self.enqueued(),
        }
    }

    // Streams.

    /// The emulator's stream for a handle.
    pub fn stream(&mut self, stream: StreamHandle) -> Result<StreamId> {
        match stream {
            StreamHandle::NULL | StreamHandle::LEGACY => Ok(StreamId::NULL),
            StreamHandle::PER_THREAD => {
                let thread = std::thread::current().id();
                if let Some(&id) = self.per_thread.get(&thread) {
                    return Ok(id);
                }
                let id = self.emulator.create_stream(false);
                self.per_thread.insert(thread, id);
                Ok(id)
            }
            StreamHandle(handle) => match self.streams.get(&handle) {
                Some(stream) => Ok(stream.id),
                None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
            },
        }
    }

    pub fn create_stream(&mut self, flags: u32, priority: i32) -> StreamHandle {
        let id = self.emulator.create_stream(flags & 1 != 0);
        let handle = self.handle();
        self.streams.insert(handle, Stream { id, flags, priority });
        StreamHandle(handle)
    }

    pub fn destroy_stream(&mut self, stream: StreamHandle) -> Result<()> {
        match self.streams.remove(&stream.0) {
            Some(stream) => self.emulator.destroy_stream(stream.id).map_err(convert),
            None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
        }
    }

    /// Flags and priority.
    pub fn stream_info(&self, stream: StreamHandle) -> Result<(u32, i32)> {
        if stream.0 <= StreamHandle::PER_THREAD.0 {
            return Ok((0, 0));
        }
        match self.streams.get(&stream.0) {
            Some(stream) => Ok((stream.flags, stream.priority)),
            None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
        }
    }

    // Events.

    pub fn create_event(&mut self, flags: u32) -> EventHandle {
        const DISABLE_TIMING: u32 = 2;
        let id = self.emulator.create_event();
        let handle = self.handle();
        let timing = flags & DISABLE_TIMING == 0;
        self.events.insert(handle, Event { id, timing, recorded: false });
        EventHandle(handle)
    }

    fn event(&self, event: EventHandle) -> Result<&Event> {
        let known = self.events.get(&event.0);
        known.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    pub fn destroy_event(&mut self, event: EventHandle) -> Result<()> {
        let id = self.event(event)?.id;
        self.events.remove(&event.0);
        self.emulator.destroy_event(id).map_err(convert)
    }

    pub fn record_event(&mut self, event: EventHandle, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let stream = self.stream(stream)?;
        let id = self.event(event)?.id;
        self.emulator.record_event(id, stream).map_err(convert)?;
        if let Some(event) = self.events.get_mut(&event.0) {
            event.recorded = true;
        }
        Ok(())
    }

    pub fn stream_wait_event(&mut self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.alive()?;
        let stream = self.stream(stream)?;
        let event = self.event(event)?;
        if !event.recorded {
            return Ok(());
        }
        self.emulator.wait_event(stream, event.id).map_err(convert)
    }

    /// Waits for an event or asks after it. One that was never recorded has happened.
    pub fn wait_event(&mut self, event: EventHandle, wait: bool) -> Result<()> {
        self.alive()?;
        let event = self.event(event)?;
        let id = event.id;
        match (event.recorded, wait) {
            (false, _) => Ok(()),
            (true, true) => self.wait_for(Work::Event(id)),
            (true, false) => self.wait(|emulator| emulator.query_event(id)),
        }
    }

    pub fn elapsed_ms(&mut self, start: EventHandle, end: EventHandle) -> Result<f32> {
        for event in [start, end] {
            let event = self.event(event)?;
            if !event.timing || !event.recorded {
                return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
            }
        }
        self.wait_event(start, false)?;
        self.wait_event(end, false)?;
        let (start, end) = (self.event(start)?.id, self.event(end)?.id);
        Ok(self.emulator.elapsed_ms(start, end).map_err(convert)? as f32)
    }

    // The device.

    pub fn limit(&self, limit: Limit) -> u64 {
        let limits = self.emulator.limits();
        match limit {
            Limit::StackBytes => limits.stack_bytes,
            Limit::PrintfFifoBytes => limits.printf_fifo_bytes,
            Limit::MallocHeapBytes => limits.malloc_heap_bytes,
            Limit::SyncDepth => u64::from(limits.sync_depth),
            Limit::PendingLaunches => u64::from(limits.pending_launches),
            // Hints about a cache that is not there.
            Limit::MaxL2FetchGranularity => 64,
            Limit::PersistingL2Bytes => 0,
        }
    }

    pub fn set_limit(&mut self, limit: Limit, value: u64) -> Result<()> {
        let mut limits = self.emulator.limits();
        let small =
            || u32::try_from(value).map_err(|_| DeviceError::from(CudaError::INVALID_VALUE));
        match limit {
            Limit::StackBytes => limits.stack_bytes = value,
            Limit::PrintfFifoBytes => limits.printf_fifo_bytes = value,
            Limit::MallocHeapBytes => limits.malloc_heap_bytes = value,
            Limit::SyncDepth => limits.sync_depth = small()?,
            Limit::PendingLaunches => limits.pending_launches = small()?,
            Limit::MaxL2FetchGranularity if value <= 128 => return Ok(()),
            Limit::MaxL2FetchGranularity => return Err(CudaError::INVALID_VALUE.into()),
            Limit::PersistingL2Bytes => return Ok(()),
        }
        // Launches made so far run under the limits they were made under.
        self.wait_for(Work::All)?;
        self.emulator.set_limits(limits);
        Ok(())
    }

    pub fn reset(&mut self) -> Result<()> {
        // Work that was queued is done first, as the driver waits for it; a fault ends here.
        let _ = self.wait_for(Work::All);
        self.tell_findings();
        self.past.keep(&self.emulator);
        self.emulator.reset().map_err(convert)?;
        self.modules.clear();
        self.kernels.clear();
        self.kernels_by_name.clear();
        self.settings.clear();
        self.streams.clear();
        self.per_thread.clear();
        self.events.clear();
        self.shared.clear();
        self.cache_config = 0;
        self.queued = 0;
        Ok(())
    }

    /// What the checks found.
    pub fn findings(&mut self) -> Vec<Arc<Report>> {
        let mut reports = self.emulator.take_findings();
        reports.extend(self.emulator.leaks());
        reports.iter().for_each(|report| self.past.tell(report));
        reports
    }

    /// Tells them; who has asked for them itself decides what they are worth.
    fn tell_findings(&mut self) {
        for report in self.findings() {
            super::FINDINGS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (self.sinks.report)(&report);
        }
    }

    /// The last words of a process.
    pub fn finish(&mut self, options: &CpuOptions) {
        self.drain();
        self.tell_findings();
        let lost = self.emulator.lost_output();
        if lost > 0 {
            crate::process::complain(&format!(
                "{lost} printf calls of kernels are lost: the buffer was full (cudaDeviceSetLimit with \
                 cudaLimitPrintfFifoSize makes it larger)"
            ));
        }
        if let Some(path) = &options.trace
            && let Err(error) = self.past.write_trace(&self.emulator, path)
        {
            crate::process::complain(&format!("the trace is not written: {error}"));
        }
        if let Some(path) = &options.report
            && let Err(error) = self.past.write_page(&self.emulator, path)
        {
            crate::process::complain(&format!("the report is not written: {error}"));
        }
        if options.profile {
            let text = self.past.profile_text(&self.emulator, options.message_format);
            crate::stdio::flush_stdout();
            eprint!("{text}");
        }
    }
}

/// A launch as the emulator has it.
fn launch_of<'a>(
    kernel: KernelId,
    config: &LaunchConfig<'_>,
    stream: StreamId,
    params: &'a [u8],
) -> Launch<'a> {
    Launch {
        kernel,
        grid: config.grid,
        block: config.block,
        shared_bytes: config.shared_bytes as u32,
        stream,
        params,
        cooperative: config.is_cooperative(),
        cluster: config.cluster(),
    }
}
