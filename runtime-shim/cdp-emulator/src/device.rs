//! [`Emulator`]: the public face of the CPU device. Checks arguments and hands over to the parts
//! that do the work; contains no execution.

use std::sync::Arc;
use std::time::Duration;

use crate::api::*;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::link;
use crate::memory::{AllocKind, FreeError};
use crate::report::Report;
use crate::sched::{Action, Core, KernelProfile, LaunchRequest, NodeId, TraceEvent, TraceGrid};
use crate::texture::TextureDescriptor;

/// A device that is a program. Owns its memory, modules, streams and everything that runs.
///
/// Not thread-safe by itself (`Send`, not shared): host code with several threads wraps it in a
/// lock. It uses several threads inside.
#[derive(Debug)]
pub struct Emulator {
    core: Core,
}

impl Emulator {
    /// A device with nothing loaded.
    ///
    /// # Errors
    /// [`Error::HostMemory`] if not even a small address range can be reserved.
    pub fn new(config: Config) -> Result<Emulator, Error> {
        Ok(Emulator { core: Core::new(config)? })
    }

    /// What it was made with.
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.core.limits
    }

    /// Stops the program with a report when it runs longer than this from the next work on;
    /// `None` for no bound. The time that earlier work took does not count, so a caller can bound each
    /// of its calls.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.core.set_timeout(timeout);
    }

    /// Whether grids are recorded from now on ([`Emulator::trace`]); what was recorded stays.
    pub fn set_trace(&mut self, on: bool) {
        self.core.config.trace = on;
    }

    /// Changes the limits for launches from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.core.limits = limits;
    }

    // Modules.

    /// Parses, links and loads PTX texts as one module.
    ///
    /// # Errors
    /// With file and line: text that does not parse, names undefined or defined twice,
    /// instructions that the device does not run.
    pub fn load(&mut self, sources: &[Source<'_>]) -> Result<ModuleId, Error> {
        let (machine, program) = self.core.loaded_mut();
        link::load(machine, program, sources)
    }

    /// Unloads a module after everything queued is done; its variables are released.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if it is not loaded.
    pub fn unload(&mut self, module: ModuleId) -> Result<(), Error> {
        self.module(module)?;
        self.core.run_all();
        let (machine, program) = self.core.loaded_mut();
        if let Some(gone) = program.modules[module.0 as usize].take() {
            for address in gone.allocations {
                // Symbols are released by nobody else.
                let _ = machine.memory.free(address, None, |_| true);
            }
            for kernel in gone.kernels {
                let function = program.kernels[kernel as usize].function;
                program.kernel_of_function.remove(&function);
            }
        }
        Ok(())
    }

    fn module(&self, module: ModuleId) -> Result<&link::Module, Error> {
        let entry = self.core.program.modules.get(module.0 as usize);
        entry.and_then(Option::as_ref).ok_or(Error::InvalidHandle { what: "module" })
    }

    fn kernel_entry(&self, kernel: KernelId) -> Result<&link::Kernel, Error> {
        let entry = self.core.program.kernels.get(kernel.0 as usize);
        let entry = entry.ok_or(Error::InvalidHandle { what: "kernel" })?;
        self.module(entry.info.module).map_err(|_| Error::InvalidHandle { what: "kernel" })?;
        Ok(entry)
    }

    /// The kernel with this (mangled) name.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] with the names that there are.
    pub fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Error> {
        let kernels = &self.module(module)?.kernels;
        let name_of = |&k: &u32| self.core.program.kernels[k as usize].info.name.clone();
        match kernels.iter().find(|k| name_of(k) == name) {
            Some(&kernel) => Ok(KernelId(kernel)),
            None => {
                let known = kernels.iter().map(name_of).collect();
                Err(Error::NoSuchKernel { name: name.to_string(), known })
            }
        }
    }

    /// All kernels of a module, in the order of the PTX.
    pub fn kernels(&self, module: ModuleId) -> Vec<KernelId> {
        self.module(module)
            .map_or_else(|_| Vec::new(), |m| m.kernels.iter().map(|&k| KernelId(k)).collect())
    }

    /// What is known about a kernel.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if its module is gone.
    pub fn kernel_info(&self, kernel: KernelId) -> Result<&KernelInfo, Error> {
        Ok(&self.kernel_entry(kernel)?.info)
    }

    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`: lets launches of a kernel, from the host or
    /// the device, have more dynamic shared memory than 48 KB less the static size.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] above what a block can have.
    pub fn set_max_dynamic_shared(&mut self, kernel: KernelId, bytes: u32) -> Result<(), Error> {
        let static_bytes = self.kernel_entry(kernel)?.info.shared_bytes;
        let most =
            crate::sched::MAX_SHARED_BYTES - static_bytes.min(crate::sched::MAX_SHARED_BYTES);
        if u64::from(bytes) > most {
            let message =
                format!("{bytes} bytes of dynamic shared memory; the kernel can have {most}");
            return Err(Error::InvalidValue { message });
        }
        let (_, program) = self.core.loaded_mut();
        program.kernels[kernel.0 as usize].max_dynamic_bytes = Some(bytes);
        Ok(())
    }

    /// Whether clusters of a kernel may be larger than 8 blocks, which not every device with clusters
    /// can have.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn allow_large_clusters(&mut self, kernel: KernelId, allow: bool) -> Result<(), Error> {
        self.kernel_entry(kernel)?;
        self.core.loaded_mut().1.kernels[kernel.0 as usize].large_clusters = allow;
        Ok(())
    }

    /// Blocks of a kernel that fit on a multiprocessor at once.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if its module is gone.
    pub fn occupancy(
        &self,
        kernel: KernelId,
        threads: u32,
        dynamic_bytes: u64,
    ) -> Result<u32, Error> {
        self.kernel_entry(kernel)?;
        Ok(self.core.occupancy_of(kernel.0, threads, dynamic_bytes))
    }

    /// The value of a `cudaDeviceAttr`, `None` for numbers that are no attribute.
    pub fn device_attribute(&self, attribute: u32) -> Option<u32> {
        crate::runtime::device_attribute(attribute, self.core.config.compute_capability)
    }

    /// The module-scope variable with this (mangled) name.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`]
    pub fn variable(&self, module: ModuleId, name: &str) -> Result<Variable, Error> {
        let found = self.module(module)?.variables.iter().find(|(n, _)| n == name);
        found.map(|(_, v)| *v).ok_or_else(|| Error::NoSuchVariable { name: name.to_string() })
    }

    /// All variables of a module in memory: names and places.
    pub fn variables(&self, module: ModuleId) -> Vec<(String, Variable)> {
        self.module(module).map_or_else(|_| Vec::new(), |m| m.variables.clone())
    }

    // Memory.

    /// Allocates `size_bytes` of zeroed device memory, aligned to 256 at least (`cudaMalloc`).
    /// Returns 0 for no bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]
    pub fn alloc(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Host)
    }

    /// As [`Emulator::alloc`], for memory that host code uses through the same address
    /// (`cudaMallocManaged`, `cudaMallocHost`). The address is one of this process.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]
    pub fn alloc_managed(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Managed)
    }

    fn allocate(&mut self, size_bytes: u64, kind: AllocKind) -> Result<u64, Error> {
        if size_bytes == 0 {
            return Ok(0);
        }
        let fresh = kind == AllocKind::Host;
        let memory = &mut self.core.machine_mut().memory;
        let address = memory.allocate(size_bytes, 256, kind, true, None).ok_or_else(|| {
            let free_bytes = memory.limit_bytes() - memory.live_bytes();
            Error::OutOfMemory { asked_bytes: size_bytes, free_bytes }
        })?;
        self.core.memory_begins(address, size_bytes, fresh);
        self.core.trace_event("allocate", String::new, size_bytes);
        Ok(address)
    }

    /// Releases what [`Emulator::alloc`] or [`Emulator::alloc_managed`] returned, after everything
    /// queued is done; 0 is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the host allocated nothing there.
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        if address == 0 {
            return Ok(());
        }
        // As cudaFree does: what is queued may still use the memory.
        self.core.run_all();
        let host = |kind: &AllocKind| matches!(kind, AllocKind::Host | AllocKind::Managed);
        self.core.machine_mut().memory.free(address, None, host).map_err(|error| {
            Error::InvalidAddress {
                address,
                size_bytes: 0,
                message: match error {
                    FreeError::NotAllocated => "no allocation begins there".to_string(),
                    FreeError::AlreadyFree => "already released".to_string(),
                    FreeError::WrongKind => "not allocated by the host".to_string(),
                },
            }
        })
    }

    /// Device memory in use.
    pub fn memory_info(&self) -> MemoryInfo {
        let memory = &self.core.machine.memory;
        let total_bytes = memory.limit_bytes();
        MemoryInfo { free_bytes: total_bytes - memory.live_bytes(), total_bytes }
    }

    /// What lies at a device address; `None` if nothing is allocated there.
    pub fn pointer_info(&self, address: u64) -> Option<PointerInfo> {
        let record = self
            .core
            .machine
            .memory
            .record_at(address)
            .filter(|record| record.live && address - record.base < record.size_bytes)?;
        Some(PointerInfo {
            base: record.base,
            size_bytes: record.size_bytes,
            managed: record.kind == AllocKind::Managed,
            variable: match &record.kind {
                AllocKind::Symbol(name) => Some(name.clone()),
                _ => None,
            },
        })
    }

    /// Whether a range lies within one allocation; an empty one always does. The error says what
    /// lies there.
    pub fn check_range(&self, address: u64, size_bytes: u64) -> Result<(), Error> {
        if size_bytes == 0 || self.core.machine.memory.contains(address, size_bytes) {
            return Ok(());
        }
        let message = match self.core.machine.memory.record_at(address) {
            Some(record) if !record.live => "the memory was released".to_string(),
            Some(record) => {
                format!("the allocation at {:#x} has {} bytes", record.base, record.size_bytes)
            }
            None => "nothing is allocated there".to_string(),
        };
        Err(Error::InvalidAddress { address, size_bytes, message })
    }

    fn check_rows(&self, address: u64, pitch: u64, width: u64, rows: u64) -> Result<(), Error> {
        if rows == 0 || width == 0 {
            return Ok(());
        }
        if rows > 1 && pitch < width {
            return Err(Error::InvalidValue {
                message: format!("pitch {pitch} below the width {width}"),
            });
        }
        let span = pitch.checked_mul(rows - 1).and_then(|n| n.checked_add(width));
        self.check_range(address, span.unwrap_or(u64::MAX))
    }

    /// Copies host bytes to the device after everything already in `stream`; waits for it.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the range is not allocated.
    pub fn copy_to_device(
        &mut self,
        dst: u64,
        src: &[u8],
        stream: StreamId,
    ) -> Result<Completion, Error> {
        self.check_range(dst, src.len() as u64)?;
        let completion = self.synchronize_stream(stream)?;
        if matches!(completion, Completion::Done) {
            let after = self.core.stream_ends(stream)?;
            self.core.host_touches(&after, dst, src.len() as u64, true);
            let name = || format!("stream {}", stream.0);
            self.core.trace_event("copy to the device", name, src.len() as u64);
            // SAFETY: the range lies in a live allocation, and nothing runs.
            unsafe { (dst as *mut u8).copy_from(src.as_ptr(), src.len()) };
            self.core.pass_host_copy(src.len() as u64);
        }
        Ok(completion)
    }

    /// Copies device bytes to the host after everything already in `stream`; waits for it.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the range is not allocated.
    pub fn copy_from_device(
        &mut self,
        dst: &mut [u8],
        src: u64,
        stream: StreamId,
    ) -> Result<Completion, Error> {
        self.check_range(src, dst.len() as u64)?;
        let completion = self.synchronize_stream(stream)?;
        if matches!(completion, Completion::Done) {
            let after = self.core.stream_ends(stream)?;
            self.core.host_touches(&after, src, dst.len() as u64, false);
            let name = || format!("stream {}", stream.0);
            self.core.trace_event("copy to the host", name, dst.len() as u64);
            // SAFETY: the range lies in a live allocation, and nothing runs.
            unsafe { dst.as_mut_ptr().copy_from(src as *const u8, dst.len()) };
            self.core.pass_host_copy(dst.len() as u64);
        }
        Ok(completion)
    }

    /// Queues a copy of `rows` rows of `width_bytes` within device memory (`rows` 1 for a plain
    /// copy). Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if a row is not allocated.
    #[allow(clippy::too_many_arguments)]
    pub fn copy_in_device(
        &mut self,
        dst: u64,
        dst_pitch_bytes: u64,
        src: u64,
        src_pitch_bytes: u64,
        width_bytes: u64,
        rows: u64,
        stream: StreamId,
    ) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.check_rows(dst, dst_pitch_bytes, width_bytes, rows)?;
        self.check_rows(src, src_pitch_bytes, width_bytes, rows)?;
        let action = Action::Copy {
            dst,
            dst_pitch: dst_pitch_bytes,
            src,
            src_pitch: src_pitch_bytes,
            width: width_bytes,
            rows,
        };
        self.core.enqueue_host(stream, action).map(|_| ())
    }

    /// Queues setting `rows` rows of `width_bytes` to the repeated `pattern` (1, 2 or 4 bytes).
    /// Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if a row is not allocated.
    pub fn set_memory(
        &mut self,
        dst: u64,
        pitch_bytes: u64,
        pattern: &[u8],
        width_bytes: u64,
        rows: u64,
        stream: StreamId,
    ) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.check_rows(dst, pitch_bytes, width_bytes, rows)?;
        if !matches!(pattern.len(), 1 | 2 | 4) {
            let message = format!("a pattern of {} bytes; it has 1, 2 or 4", pattern.len());
            return Err(Error::InvalidValue { message });
        }
        let mut bytes = [0; 4];
        bytes[..pattern.len()].copy_from_slice(pattern);
        let action = Action::Set {
            dst,
            pitch: pitch_bytes,
            pattern: bytes,
            pattern_bytes: pattern.len() as u8,
            width: width_bytes,
            rows,
        };
        self.core.enqueue_host(stream, action).map(|_| ())
    }

    // Textures and surfaces.

    /// A texture or surface object; the handle is what device code gets.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if its memory is not allocated, [`Error::InvalidValue`] for
    /// descriptors that make no sense.
    pub fn create_texture(&mut self, descriptor: TextureDescriptor) -> Result<u64, Error> {
        let sane = matches!(descriptor.channels, 1 | 2 | 4)
            && matches!(descriptor.channel_bits, 8 | 16 | 32)
            && descriptor.size[0] > 0
            && descriptor.size.iter().all(|&n| n <= 1 << 27)
            && (descriptor.size[2] == 0 || descriptor.size[1] > 0)
            && descriptor.pitch_bytes < 1 << 32;
        if !sane {
            return Err(Error::InvalidValue {
                message: "a texture descriptor that is not valid".to_string(),
            });
        }
        self.check_range(descriptor.address, descriptor.span_bytes())?;
        self.core.machine_mut().textures.push(Some(descriptor));
        Ok(self.core.machine.textures.len() as u64)
    }

    /// Forgets a texture or surface object.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_texture(&mut self, handle: u64) -> Result<(), Error> {
        let entry = handle
            .checked_sub(1)
            .and_then(|n| self.core.machine_mut().textures.get_mut(n as usize));
        let taken = entry.and_then(Option::take);
        taken.map(|_| ()).ok_or(Error::InvalidHandle { what: "texture object" })
    }

    // Running.

    fn refuse_after_fault(&self) -> Result<(), Error> {
        if self.core.fault().is_some() { Err(Error::Faulted) } else { Ok(()) }
    }

    /// Queues a kernel. Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidCluster`] for clusters that the device, the kernel or the grid refuses,
    /// [`Error::InvalidConfiguration`] for dimensions or shared memory that the device or the
    /// kernel refuses, [`Error::InvalidValue`] for a parameter buffer of the wrong size,
    /// [`Error::Unsupported`] for a kernel with an instruction that the device does not run.
    pub fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Error> {
        self.refuse_after_fault()?;
        let kernel = self.kernel_entry(launch.kernel)?;
        if let Some(refusal) = &kernel.refusal {
            return Err(refusal.clone());
        }
        let info = &kernel.info;
        if launch.params.len() as u64 != info.param_bytes {
            let message = format!(
                "{} bytes of parameters for `{}`, which takes {}",
                launch.params.len(),
                info.name,
                info.param_bytes
            );
            return Err(Error::InvalidValue { message });
        }
        let barrier = match launch.cooperative {
            true => self.grid_barrier(launch.stream)?,
            false => 0,
        };
        let request = LaunchRequest {
            kernel: launch.kernel.0,
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.shared_bytes,
            params: launch.params.into(),
            barrier,
            cluster: launch.cluster,
        };
        self.core
            .check_configuration(&request)
            .map_err(|message| Error::InvalidConfiguration { message })?;
        self.core.check_cluster(&request).map_err(|message| Error::InvalidCluster { message })?;
        // An invalid stream is found before the grid is made.
        self.core.stream_ends(launch.stream)?;
        let key = self.core.add_grid(request, None, None, self.core.clock, false);
        let name = || format!("stream {}", launch.stream.0);
        self.core.trace_stream(key, name);
        self.core.trace_event("launch", name, 0);
        self.core.enqueue_host(launch.stream, Action::Grid(key)).map(|_| ())
    }

    /// Where the blocks of a cooperative grid count each other: a size and a counter that each grid leaves
    /// as it wants to find it. One for each stream, whose grids follow each other.
    fn grid_barrier(&mut self, stream: StreamId) -> Result<u64, Error> {
        const BARRIER_BYTES: u64 = 16;
        if let Some(known) = self.core.grid_barriers.get(&stream) {
            return Ok(*known);
        }
        let kind = AllocKind::Symbol("the barrier of a cooperative grid".to_string());
        let address = self.allocate(BARRIER_BYTES, kind)?;
        self.core.grid_barriers.insert(stream, address);
        Ok(address)
    }

    /// A new stream. `non_blocking` as in `cudaStreamNonBlocking`.
    pub fn create_stream(&mut self, non_blocking: bool) -> StreamId {
        self.core.create_stream(non_blocking)
    }

    /// Forgets a stream; what is queued in it still runs.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_stream(&mut self, stream: StreamId) -> Result<(), Error> {
        self.core.destroy_stream(stream)
    }

    /// A new event.
    pub fn create_event(&mut self) -> EventId {
        self.core.create_event()
    }

    /// Forgets an event.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), Error> {
        self.core.destroy_event(event)
    }

    /// Marks the present end of `stream`.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn record_event(&mut self, event: EventId, stream: StreamId) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.core.record_event(event, stream)
    }

    /// Makes later work in `stream` wait for the last record of `event`.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn wait_event(&mut self, stream: StreamId, event: EventId) -> Result<(), Error> {
        self.core.wait_event(stream, event)
    }

    /// Device time between two recorded and completed events, in milliseconds of the device's
    /// virtual clock.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if one of them is not reached.
    pub fn elapsed_ms(&mut self, start: EventId, end: EventId) -> Result<f64, Error> {
        let (start, end) = (self.core.event_clock(start)?, self.core.event_clock(end)?);
        match (start, end) {
            (Some(start), Some(end)) => Ok((end as f64 - start as f64) / 1e6),
            _ => Err(Error::InvalidValue {
                message: "an event that was not recorded or reached".to_string(),
            }),
        }
    }

    fn completion(&self, done: bool) -> Completion {
        match self.core.fault() {
            Some(report) => Completion::Faulted(report.clone()),
            None if done => Completion::Done,
            None => Completion::Pending,
        }
    }

    fn run_until(&mut self, nodes: &[NodeId]) -> Completion {
        let done = self.core.run_until_done(nodes);
        self.completion(done)
    }

    /// Runs until everything queued is done.
    ///
    /// # Errors
    /// None at present; the program's faults are in the [`Completion`].
    pub fn synchronize(&mut self) -> Result<Completion, Error> {
        let done = self.core.run_all();
        self.core.trace_event("synchronize", String::new, 0);
        self.core.edge_host_waited_for_all();
        Ok(self.completion(done))
    }

    /// Runs until everything queued in `stream` is done.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn synchronize_stream(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let nodes = self.core.stream_ends(stream)?;
        Ok(self.run_until(&nodes))
    }

    /// Runs until the last record of `event` is reached.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn synchronize_event(&mut self, event: EventId) -> Result<Completion, Error> {
        let node = self.core.event_node(event)?;
        Ok(self.run_until(node.as_slice()))
    }

    fn query(&mut self, nodes: &[NodeId]) -> Completion {
        self.core.run_a_little();
        let done = !nodes.iter().any(|&node| self.core.is_pending(node));
        self.completion(done)
    }

    /// Runs a little, then tells whether everything in `stream` is done.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn query_stream(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let nodes = self.core.stream_ends(stream)?;
        Ok(self.query(&nodes))
    }

    /// Runs a little, then tells whether the last record of `event` is reached.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn query_event(&mut self, event: EventId) -> Result<Completion, Error> {
        let node = self.core.event_node(event)?;
        Ok(self.query(node.as_slice()))
    }

    // What came out.

    /// Device `printf` output since the last call, in order.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.core.take_output()
    }

    /// How many `printf` calls were lost because the buffer (`cudaLimitPrintfFifoSize`) was full.
    pub fn lost_output(&self) -> u64 {
        self.core.lost_output()
    }

    /// All reports since the last call, warnings included, in order.
    pub fn take_reports(&mut self) -> Vec<Arc<Report>> {
        self.core.take_reports()
    }

    /// What the checks of [`Config::checks`] that follow every access have found since the last
    /// call: one report for each pair of source places, with a count. The program went on.
    pub fn take_findings(&mut self) -> Vec<Arc<Report>> {
        self.core.take_findings()
    }

    /// Memory that is still allocated, if [`crate::Checks::leaks`] is on; to be asked when the program
    /// ends. One report for each place in device code, one for the host.
    pub fn leaks(&self) -> Vec<Arc<Report>> {
        self.core.leaks()
    }

    /// The report that ended the program, if one did.
    pub fn fault(&self) -> Option<&Arc<Report>> {
        self.core.fault()
    }

    /// Counters by kernel since the device was made, in order of name.
    pub fn profile(&self) -> Vec<KernelProfile> {
        let mut entries: Vec<KernelProfile> = self.core.profile.values().cloned().collect();
        entries.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        entries
    }

    /// The launch tree so far, if [`Config::trace`] is set.
    pub fn trace(&self) -> &[TraceGrid] {
        self.core.trace()
    }

    /// Calls of the host, copies and sets so far, if [`Config::trace`] is set.
    pub fn trace_events(&self) -> &[TraceEvent] {
        self.core.trace_events()
    }

    /// The most launches of device code that were pending at once.
    pub fn pending_peak(&self) -> u32 {
        self.core.pending_peak
    }

    /// How far the run is: grids done, grids pending or running, thread-instructions.
    pub fn progress(&self) -> Progress {
        self.core.progress()
    }

    /// Throws away modules, memory, streams and the fault (`cudaDeviceReset`). The limits return to
    /// those of the configuration.
    ///
    /// # Errors
    /// As [`Emulator::new`].
    pub fn reset(&mut self) -> Result<(), Error> {
        let config = self.core.config.clone();
        // The old arena goes first, so that the new one gets its addresses.
        let placeholder = Config { reserve_bytes: 64 << 20, ..config.clone() };
        self.core = Core::new(placeholder)?;
        self.core = Core::new(config)?;
        Ok(())
    }
}
