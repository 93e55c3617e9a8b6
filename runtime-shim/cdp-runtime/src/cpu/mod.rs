//! The CPU device: [`Device`] over the emulator. One lock around it, because the emulator is one
//! machine; host threads take turns.
//!
//! Launches and asynchronous copies within device memory wait in their streams until something waits
//! for them, as [`cdp_emulator`] has it, or until the host has been silent for a while (`unasked`). Copies to
//! and from host memory are made before the call returns, which CUDA permits for every one of them.

mod array;
mod clusters;
mod host;
pub mod host_code;
mod memory;
mod modules;
#[cfg(unix)]
pub mod native;
mod options;
mod page;
mod progress;
mod report;
mod state;
mod streams;
mod summary;
mod tree;
mod unasked;
mod virtual_memory;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cdp_emulator::Completion;
pub use cdp_emulator::{Report, WarpScheduling};

use self::host::{Hints, HostFunctions, HostMemory};
pub use self::options::{CheckSet, CpuOptions, MessageFormat, NativeCode};
use self::state::{State, Work};
use self::unasked::{Calls, Unasked};
use self::virtual_memory::Mapped;
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};

/// Something was found in a program that checks were asked of.
static FOUND: AtomicBool = AtomicBool::new(false);

/// Checks have found something in this process, or a kernel that they watched has failed: such a program is not fine,
/// whatever it returns.
pub fn has_findings() -> bool {
    FOUND.load(Ordering::Relaxed)
}

/// From now on there are findings.
pub fn note_finding() {
    FOUND.store(true, Ordering::Relaxed);
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
    calls: Calls,
    arrays: Mutex<array::ByHandle>,
    host_functions: HostFunctions,
    host_memory: Mutex<HostMemory>,
    hints: Mutex<Hints>,
    mapped: Mutex<Mapped>,
    options: CpuOptions,
    /// 90 for 9.0.
    capability: u32,
}

impl CpuDevice {
    /// A device that claims compute capability `capability` (90 for 9.0).
    pub fn new(options: CpuOptions, capability: u32, sinks: Sinks) -> Result<CpuDevice> {
        let mut emulator =
            cdp_emulator::Emulator::new(options.config(capability)).map_err(convert)?;
        if options.checks.follow_memory() {
            emulator.listen(host_code::log());
        }
        let addresses = emulator.addresses();
        let calls = Calls::default();
        let state = Arc::new_cyclic(|state| {
            let seeded = options.schedule_seed.is_some();
            let unasked = Unasked::new(state.clone(), calls.clone(), seeded);
            Mutex::new(State::new(emulator, sinks, unasked))
        });
        if options.checks.follow_memory() {
            let state = Arc::downgrade(&state);
            host_code::listen(addresses, move || {
                if let Some(state) = state.upgrade()
                    && let Ok(mut state) = state.try_lock()
                {
                    state.emulator.hear_host_code();
                }
            });
        }
        let (arrays, host_memory, hints, mapped) = <_>::default();
        let host_functions = HostFunctions::default();
        Ok(CpuDevice {
            state,
            calls,
            arrays,
            host_functions,
            host_memory,
            hints,
            mapped,
            options,
            capability,
        })
    }

    /// The state, once no function of the host is due: what comes after it waits for it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.host_functions.settle();
        self.state_now()
    }

    fn state_now(&self) -> MutexGuard<'_, State> {
        self.calls.count();
        // A panic in the emulator is a bug of ours; the next call sees the state it left.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        streams::arrive(&mut state.emulator);
        state.emulator.hear_host_code();
        state
    }

    fn arrays(&self) -> MutexGuard<'_, array::ByHandle> {
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

impl Graphs for CpuDevice {
    fn create_graph(&self, steps: &[GraphStep], _by_kernels: bool) -> Result<u64> {
        self.state().create_graph(steps)
    }

    fn change_graph(&self, graph: u64, _home: Option<u64>, steps: &[GraphStep]) -> Result<()> {
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

    fn begin_replay(&self) {
        streams::set_run(self.state().emulator.begin_replay());
    }

    fn end_replay(&self, stream: StreamHandle) -> Result<()> {
        let Some(run) = streams::set_run(None) else { return Ok(()) };
        self.state().end_replay(run, stream)
    }

    fn create_condition(
        &self,
        home: Option<u64>,
        first: u32,
        flags: u32,
    ) -> Result<(Option<u64>, u64)> {
        // Without a first value, it is 0 on an H200.
        Ok((home, self.state().create_condition(if flags == 0 { 0 } else { first })))
    }

    fn condition(&self, condition: u64) -> Result<u32> {
        self.state().condition(condition)
    }

    fn open_condition(&self, condition: u64, first: Option<u32>) -> Result<()> {
        self.state().open_condition(condition, first)
    }

    fn close_condition(&self, condition: u64) -> Result<()> {
        self.state().close_condition(condition)
    }

    fn destroy_condition(&self, condition: u64) -> Result<()> {
        self.state().destroy_condition(condition)
    }
}

impl Watching for CpuDevice {
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
        let mapped_bytes = locked(&self.mapped).created_bytes();
        let info = self.state().emulator.memory_info();
        Ok((info.free_bytes.saturating_sub(mapped_bytes), info.total_bytes))
    }

    fn uuid(&self) -> [u8; 16] {
        *b"cdp CPU device 0"
    }

    fn synchronize(&self) -> Result<()> {
        self.state().wait_for(Work::All)
    }

    fn reset(&self) -> Result<()> {
        self.arrays().clear();
        *locked(&self.host_memory) = HostMemory::default();
        *locked(&self.hints) = Hints::default();
        self.state().reset()?;
        *locked(&self.mapped) = Mapped::default();
        Ok(())
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
