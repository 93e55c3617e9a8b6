//! The inside of the CPU device's lock: the emulator, and what CUDA's handles and rules need beside
//! it. Checks here are those of CUDA's API; those of memory and launches are the emulator's.

mod graph;
mod memory;
mod modules;
mod streams;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::ThreadId;

use cdp_emulator::{
    Completion, Emulator, EventId, KernelId, ModuleId, Report, StreamId, host_is_alone,
};

use super::progress::ProgressLine;
use super::summary::Past;
use super::unasked::Unasked;
use super::{CpuOptions, Sinks, completion, convert};
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};

/// Launches and copies that may wait before they are run though nobody asked. Bounds the memory of a
/// program that never synchronises; a GPU's queue is bounded too.
const MAX_QUEUED: usize = 4096;
/// Lowest limit of pending launches: an H200 makes this of what is lower, and says so when asked.
const LEAST_PENDING: u32 = 32;
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
    /// What work of the host's in a stream waits for.
    Turn(StreamId),
    /// An event.
    Event(EventId),
}

type EmulatorResult = std::result::Result<Completion, cdp_emulator::Error>;

impl Work {
    fn finish(self, emulator: &mut Emulator) -> EmulatorResult {
        match self {
            Work::All => emulator.synchronize(),
            Work::Stream(stream) => emulator.synchronize_stream(stream),
            Work::Turn(stream) => emulator.await_turn(stream),
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
                Work::Turn(stream) => emulator.query_turn(stream)?,
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
    /// Of a module that was loaded some launches are a part of who launched.
    launches_optimised: bool,
    pub(super) past: Past,
    /// Who does what is queued while the host is silent.
    unasked: Unasked,
}

impl State {
    pub fn new(emulator: Emulator, sinks: Sinks, unasked: Unasked) -> State {
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
            launches_optimised: false,
            past: Past::default(),
            unasked,
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

    /// Waits for something that may run kernels, then hands out what they said.
    pub fn wait(&mut self, run: impl FnOnce(&mut Emulator) -> EmulatorResult) -> Result<()> {
        self.emulator.set_host_waits(Some(host_is_alone));
        let done = self.ask(run);
        self.emulator.set_host_waits(None);
        done
    }

    /// The same without waiting for the end of it.
    pub fn ask(&mut self, run: impl FnOnce(&mut Emulator) -> EmulatorResult) -> Result<()> {
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
        if !self.shared.is_empty() {
            self.unasked.arm();
        }
        if self.queued >= MAX_QUEUED { self.wait_for(Work::All) } else { Ok(()) }
    }

    /// A turn of the work that is queued, for nobody in particular. False if there is none.
    pub fn turn_unasked(&mut self) -> bool {
        super::streams::arrive(&mut self.emulator);
        if self.emulator.fault().is_some() || self.emulator.progress().pending == 0 {
            return false;
        }
        // An event that was never recorded: whoever asks after it has waited for nothing.
        let event = self.emulator.create_event();
        let turn = self.emulator.query_event(event);
        let _ = self.emulator.destroy_event(event);
        turn.is_ok()
    }

    pub fn limit(&self, limit: Limit) -> u64 {
        let limits = self.emulator.limits();
        match limit {
            Limit::StackBytes => limits.stack_bytes,
            Limit::PrintfFifoBytes => limits.printf_fifo_bytes,
            Limit::MallocHeapBytes => limits.malloc_heap_bytes,
            Limit::SyncDepth => u64::from(limits.sync_depth),
            Limit::PendingLaunches => u64::from(limits.pending_launches),
            // Hints about a cache that is not there.
            Limit::MaxL2FetchGranularity => cdp_emulator::MAX_L2_FETCH_BYTES,
            Limit::PersistingL2Bytes => cdp_emulator::PERSISTING_L2_BYTES,
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
            Limit::PendingLaunches => limits.pending_launches = small()?.max(LEAST_PENDING),
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
            super::note_finding();
            (self.sinks.report)(&report);
        }
    }

    /// The last words of a process.
    pub fn finish(&mut self, options: &CpuOptions) {
        self.unasked.end();
        self.drain();
        self.tell_findings();
        if (options.checks.races || options.checks.siblings) && self.launches_optimised {
            crate::stdio::complain(
                "the launch optimiser has made some launches a part of the kernels that launch: races of such \
                 children are not seen. Compile with -flaunch-opt=off to see them",
            );
        }
        let lost = self.emulator.lost_output();
        if lost > 0 {
            crate::stdio::complain(&format!(
                "{lost} printf calls of kernels are lost: the buffer was full (cudaDeviceSetLimit with \
                 cudaLimitPrintfFifoSize makes it larger)"
            ));
        }
        if let Some(path) = &options.trace
            && let Err(error) = self.past.write_trace(&self.emulator, path)
        {
            crate::stdio::complain(&format!("the trace is not written: {error}"));
        }
        if let Some(path) = &options.report
            && let Err(error) = self.past.write_page(&self.emulator, path)
        {
            crate::stdio::complain(&format!("the report is not written: {error}"));
        }
        if options.profile {
            let text = self.past.profile_text(&self.emulator, options.message_format);
            crate::stdio::flush_stdout();
            eprint!("{text}");
        }
    }
}
