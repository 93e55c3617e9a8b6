//! [`Emulator`]: the public face of the CPU device. Checks arguments and hands over to the parts
//! that do the work; contains no execution.

mod graphs;
mod host;
mod memory;
mod modules;

use std::sync::Arc;
use std::time::Duration;

use crate::api::*;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::memory::AllocKind;
use crate::report::Report;
use crate::sched::{Action, Core, KernelProfile, LaunchRequest, TraceEvent, TraceGrid};
use crate::work::NodeId;

/// A device that is a program. Owns its memory, modules, streams and everything that runs.
///
/// Not thread-safe by itself (`Send`, not shared): host code with several threads wraps it in a
/// lock. It uses several threads inside.
#[derive(Debug)]
pub struct Emulator {
    core: Core,
    /// The run that launches belong to now.
    replay: Option<ReplayRun>,
}

impl Emulator {
    /// A device with nothing loaded.
    ///
    /// # Errors
    /// [`Error::HostMemory`] if not even a small address range can be reserved.
    pub fn new(config: Config) -> Result<Emulator, Error> {
        Ok(Emulator { core: Core::new(config)?, replay: None })
    }

    /// What it was made with.
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.core.limits
    }

    /// Says that host code waits for the device from now on (`None`: no longer). The function tells whether nothing else
    /// of it could write to managed and pinned memory now, as [`crate::host_is_alone`] does; blocks that wait for such
    /// memory are a deadlock then.
    pub fn set_host_waits(&mut self, alone: Option<fn() -> bool>) {
        self.core.host_waits = alone;
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
        let mut request = self.request(launch)?;
        request.of_graph.run = self.replay.map_or(0, |run| run.0);
        if launch.cooperative {
            request.barrier = self.grid_barrier(launch.stream)?;
        }
        // An invalid stream is found before the grid is made.
        self.core.stream_ends(launch.stream)?;
        let key = self.core.add_grid(request, None, None, self.core.clock, false);
        if launch.programmatic {
            self.core.edge_begins_early(key);
        }
        let name = || format!("stream {}", launch.stream.0);
        self.core.trace_stream(key, name);
        self.core.trace_event("launch", name, 0);
        self.core.enqueue_host(launch.stream, Action::Grid(key)).map(|_| ())
    }

    /// A launch, checked.
    fn request(&self, launch: &Launch<'_>) -> Result<LaunchRequest, Error> {
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
        let request = LaunchRequest {
            kernel: launch.kernel.0,
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.shared_bytes,
            params: launch.params.into(),
            barrier: 0,
            cluster: launch.cluster,
            of_graph: Default::default(),
        };
        self.core
            .check_configuration(&request)
            .map_err(|message| Error::InvalidConfiguration { message })?;
        self.core.check_cluster(&request).map_err(|message| Error::InvalidCluster { message })?;
        Ok(request)
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

    /// Runs until work that is queued in `stream` now would begin: a stream that blocks waits for the NULL stream's
    /// work too.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn await_turn(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let nodes = self.core.stream_turn(stream)?;
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
        if done {
            self.core.edge_host_waited(nodes);
        }
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

    /// Runs a little, then tells whether [`Emulator::await_turn`] has nothing to wait for.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn query_turn(&mut self, stream: StreamId) -> Result<Completion, Error> {
        let nodes = self.core.stream_turn(stream)?;
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
        let log = self.core.machine.host.clone();
        // The old arena goes first, so that the new one gets its addresses.
        let placeholder = Config { reserve_bytes: 64 << 20, ..config.clone() };
        self.core = Core::new(placeholder)?;
        self.core = Core::new(config)?;
        if let Some(log) = log {
            self.listen(log);
        }
        Ok(())
    }
}
