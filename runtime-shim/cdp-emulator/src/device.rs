//! [`Emulator`]: the public face of the CPU device. Checks arguments and hands over to the parts
//! that do the work; contains no execution.

use std::sync::Arc;

use crate::api::*;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::memory::{AllocKind, Arena, FreeError, Table};
use crate::report::Report;

/// A device that is a program. Owns its memory, modules, streams and everything that runs.
///
/// Not thread-safe by itself (`Send`, not shared): host code with several threads wraps it in a
/// lock. It uses several threads inside.
#[derive(Debug)]
pub struct Emulator {
    config: Config,
    limits: Limits,
    memory: Table,
    fault: Option<Arc<Report>>,
}

impl Emulator {
    /// A device with nothing loaded.
    ///
    /// # Errors
    /// [`Error::HostMemory`] if not even a small address range can be reserved.
    pub fn new(config: Config) -> Result<Emulator, Error> {
        let arena = Arena::reserve(config.reserve_bytes)
            .ok_or(Error::HostMemory { asked_bytes: config.reserve_bytes })?;
        let limits = config.limits;
        let memory = Table::new(arena, config.memory_bytes);
        Ok(Emulator { config, limits, memory, fault: None })
    }

    /// What it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Changes the limits for launches from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Parses, links and loads PTX texts as one module.
    ///
    /// # Errors
    /// With file and line: text that does not parse, names undefined or defined twice,
    /// instructions that the device does not run.
    pub fn load(&mut self, sources: &[Source<'_>]) -> Result<ModuleId, Error> {
        let _ = sources;
        Err(Error::Faulted)
    }

    /// Unloads a module; its variables are released.
    pub fn unload(&mut self, module: ModuleId) -> Result<(), Error> {
        let _ = module;
        Err(Error::InvalidHandle { what: "module" })
    }

    /// The kernel with this (mangled) name.
    pub fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Error> {
        let _ = module;
        Err(Error::NoSuchKernel { name: name.to_string(), known: Vec::new() })
    }

    /// All kernels of a module, in the order of the PTX.
    pub fn kernels(&self, module: ModuleId) -> Vec<KernelId> {
        let _ = module;
        Vec::new()
    }

    /// What is known about a kernel.
    pub fn kernel_info(&self, kernel: KernelId) -> Result<&KernelInfo, Error> {
        let _ = kernel;
        Err(Error::InvalidHandle { what: "kernel" })
    }

    /// The module-scope variable with this (mangled) name.
    pub fn variable(&self, module: ModuleId, name: &str) -> Result<Variable, Error> {
        let _ = module;
        Err(Error::NoSuchVariable { name: name.to_string() })
    }

    /// All variables of a module: names and places.
    pub fn variables(&self, module: ModuleId) -> Vec<(String, Variable)> {
        let _ = module;
        Vec::new()
    }

    /// Allocates `size_bytes` of zeroed device memory, aligned to 256 at least (`cudaMalloc`).
    pub fn alloc(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Host)
    }

    /// As [`Emulator::alloc`], for memory that host code uses through the same address
    /// (`cudaMallocManaged`, `cudaMallocHost`).
    pub fn alloc_managed(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Managed)
    }

    fn allocate(&mut self, size_bytes: u64, kind: AllocKind) -> Result<u64, Error> {
        if size_bytes == 0 {
            return Ok(0);
        }
        self.memory.allocate(size_bytes, 256, kind, true, None).ok_or_else(|| {
            let free_bytes = self.memory.limit_bytes() - self.memory.live_bytes();
            Error::OutOfMemory { asked_bytes: size_bytes, free_bytes }
        })
    }

    /// Releases what [`Emulator::alloc`] or [`Emulator::alloc_managed`] returned; 0 is ignored.
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        if address == 0 {
            return Ok(());
        }
        let host = |kind: &AllocKind| matches!(kind, AllocKind::Host | AllocKind::Managed);
        self.memory.free(address, None, host).map_err(|error| Error::InvalidAddress {
            address,
            size_bytes: 0,
            message: match error {
                FreeError::NotAllocated => "no allocation begins there".to_string(),
                FreeError::AlreadyFree(_) => "already released".to_string(),
                FreeError::WrongKind(_) => "not allocated by the host".to_string(),
            },
        })
    }

    /// Device memory in use.
    pub fn memory_info(&self) -> MemoryInfo {
        let total_bytes = self.memory.limit_bytes();
        MemoryInfo { free_bytes: total_bytes - self.memory.live_bytes(), total_bytes }
    }

    /// What lies at a device address; `None` if nothing is allocated there.
    pub fn pointer_info(&self, address: u64) -> Option<PointerInfo> {
        let record = self.memory.record_at(address).filter(|record| record.live)?;
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

    /// Copies host bytes to the device after everything already in `stream`; waits for it.
    pub fn copy_to_device(
        &mut self,
        dst: u64,
        src: &[u8],
        stream: StreamId,
    ) -> Result<Completion, Error> {
        let _ = (dst, src, stream);
        Err(Error::Faulted)
    }

    /// Copies device bytes to the host after everything already in `stream`; waits for it.
    pub fn copy_from_device(
        &mut self,
        dst: &mut [u8],
        src: u64,
        stream: StreamId,
    ) -> Result<Completion, Error> {
        let _ = (dst, src, stream);
        Err(Error::Faulted)
    }

    /// Queues a copy of `rows` rows of `width_bytes` within device memory (`rows` 1 for a plain
    /// copy). Does not wait.
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
        let _ = (dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, rows, stream);
        Err(Error::Faulted)
    }

    /// Queues setting `rows` rows of `width_bytes` to the repeated `pattern` (1, 2 or 4 bytes).
    /// Does not wait.
    pub fn set_memory(
        &mut self,
        dst: u64,
        pitch_bytes: u64,
        pattern: &[u8],
        width_bytes: u64,
        rows: u64,
        stream: StreamId,
    ) -> Result<(), Error> {
        let _ = (dst, pitch_bytes, pattern, width_bytes, rows, stream);
        Err(Error::Faulted)
    }

    /// Queues a kernel. Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidConfiguration`] for dimensions, shared memory or parameter sizes that the
    /// device or the kernel refuses.
    pub fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Error> {
        let _ = launch;
        Err(Error::Faulted)
    }

    /// A new stream. `non_blocking` as in `cudaStreamNonBlocking`.
    pub fn create_stream(&mut self, non_blocking: bool) -> StreamId {
        let _ = non_blocking;
        StreamId(1)
    }

    /// Forgets a stream; what is queued in it still runs.
    pub fn destroy_stream(&mut self, stream: StreamId) -> Result<(), Error> {
        let _ = stream;
        Err(Error::InvalidHandle { what: "stream" })
    }

    /// A new event.
    pub fn create_event(&mut self) -> EventId {
        EventId(0)
    }

    /// Forgets an event.
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), Error> {
        let _ = event;
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Marks the present end of `stream`.
    pub fn record_event(&mut self, event: EventId, stream: StreamId) -> Result<(), Error> {
        let _ = (event, stream);
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Makes later work in `stream` wait for the last record of `event`.
    pub fn wait_event(&mut self, stream: StreamId, event: EventId) -> Result<(), Error> {
        let _ = (event, stream);
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Device time between two recorded and completed events, in milliseconds of the device's
    /// virtual clock.
    pub fn elapsed_ms(&self, start: EventId, end: EventId) -> Result<f64, Error> {
        let _ = (start, end);
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Runs until everything queued is done.
    pub fn synchronize(&mut self) -> Result<Completion, Error> {
        Err(Error::Faulted)
    }

    /// Runs until everything queued in `stream` is done.
    pub fn synchronize_stream(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let _ = stream;
        Err(Error::InvalidHandle { what: "stream" })
    }

    /// Runs until the last record of `event` is reached.
    pub fn synchronize_event(&mut self, event: EventId) -> Result<Completion, Error> {
        let _ = event;
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Runs a little, then tells whether everything in `stream` is done.
    pub fn query_stream(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let _ = stream;
        Err(Error::InvalidHandle { what: "stream" })
    }

    /// Runs a little, then tells whether the last record of `event` is reached.
    pub fn query_event(&mut self, event: EventId) -> Result<Completion, Error> {
        let _ = event;
        Err(Error::InvalidHandle { what: "event" })
    }

    /// Device `printf` output since the last call, in order.
    pub fn take_output(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// All reports since the last call, warnings included, in order.
    pub fn take_reports(&mut self) -> Vec<Arc<Report>> {
        Vec::new()
    }

    /// The report that ended the program, if one did.
    pub fn fault(&self) -> Option<&Arc<Report>> {
        self.fault.as_ref()
    }

    /// Throws away modules, memory, streams and the fault (`cudaDeviceReset`).
    ///
    /// # Errors
    /// As [`Emulator::new`].
    pub fn reset(&mut self) -> Result<(), Error> {
        *self = Emulator::new(self.config.clone())?;
        Ok(())
    }
}
