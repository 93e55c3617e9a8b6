//! What can be chosen about the CPU device: sizes, checks, schedule, bounds on the run.
//!
//! Nothing here changes while kernels run; [`Limits`] may be changed between runs.

use std::time::Duration;

use crate::native::Native;

/// What happens when a check finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CheckAction {
    /// Not looked for.
    Off,
    /// Reported as a warning, where a right program does no such thing; the program goes on.
    Warn,
    /// Reported; the program goes on.
    Tell,
    /// Reported; the program ends there, as after any fault.
    #[default]
    Stop,
}

/// The checks that can be switched. Those that the emulator needs for its own safety (bounds,
/// null, alignment, use after free, foreign local and shared addresses) always stop the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// A read of shared memory none of whose bytes was written by this block.
    pub uninitialized_shared: CheckAction,
    /// `__syncthreads` reached by some threads of a block and not by others, or at two places.
    pub barrier_divergence: CheckAction,
    /// Device `free` of an address that is not, or is no longer, allocated.
    pub invalid_free: CheckAction,
    /// Accesses that conflict and that nothing orders.
    pub races: bool,
    /// Conflicts between grids that one block launched into one stream.
    pub siblings: bool,
    /// Reads of global, shared and local memory that was never written. To be chosen before modules are
    /// loaded.
    pub uninitialized: bool,
    /// Accesses that run from one variable or allocation into another. To be chosen before modules are
    /// loaded.
    pub bounds: bool,
    /// Memory that is still allocated in the end.
    pub leaks: bool,
    /// Integer divisions by zero, whose result a device makes up. To be chosen before modules are loaded.
    pub divisions: bool,
    /// Exchanges between lanes of a warp that PTX leaves open: masks that do not fit, values of lanes that do not take
    /// part. To be chosen before modules are loaded.
    pub exchanges: bool,
}

impl Checks {
    /// Of the checks that follow every access only those of order are on.
    pub fn look_at_order_alone(&self) -> bool {
        (self.races || self.siblings) && !self.uninitialized && !self.bounds
    }

    /// True if a check is on that looks at what memory is touched.
    pub fn follow_memory(&self) -> bool {
        self.races || self.siblings || self.uninitialized || self.bounds
    }

    /// True if a check is on that follows every access.
    pub fn watches(&self) -> bool {
        self.follow_memory() || self.divisions || self.exchanges
    }
}

impl Default for Checks {
    fn default() -> Checks {
        Checks {
            uninitialized_shared: CheckAction::Stop,
            barrier_divergence: CheckAction::Stop,
            invalid_free: CheckAction::Stop,
            races: false,
            siblings: false,
            uninitialized: false,
            bounds: false,
            leaks: false,
            divisions: false,
            exchanges: false,
        }
    }
}

/// How the lanes of a warp share the instruction stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WarpScheduling {
    /// Diverged lanes each make progress (Volta and later).
    #[default]
    Independent,
    /// Diverged lanes wait at the reconvergence point whatever happens (before Volta). A spin lock
    /// between lanes of a warp never ends; it is reported as a deadlock.
    Lockstep,
    /// Diverged lanes go on by themselves from there on, and wait for each other at instructions that say so alone: no
    /// more is promised since Volta. What counts on lanes that meet behind a branch shows.
    Apart,
}

/// Device limits, as `cudaDeviceSetLimit` sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `cudaLimitStackSize`: bytes of stack a thread.
    pub stack_bytes: u64,
    /// `cudaLimitPrintfFifoSize`: bytes of output kept between flushes.
    pub printf_fifo_bytes: u64,
    /// `cudaLimitMallocHeapSize`: bytes of device `malloc`.
    pub malloc_heap_bytes: u64,
    /// `cudaLimitDevRuntimeSyncDepth`: deepest level that may call `cudaDeviceSynchronize`.
    pub sync_depth: u32,
    /// `cudaLimitDevRuntimePendingLaunchCount`.
    pub pending_launches: u32,
}

/// `cudaLimitMaxL2FetchGranularity` in bytes: a hint about a cache that is not there.
pub const MAX_L2_FETCH_BYTES: u64 = 64;
/// `cudaLimitPersistingL2CacheSize` in bytes: likewise.
pub const PERSISTING_L2_BYTES: u64 = 0;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            stack_bytes: 1024,
            // What an H200 has; older guides say 1 MB.
            printf_fifo_bytes: 8_650_752,
            malloc_heap_bytes: 8 << 20,
            sync_depth: 2,
            pending_launches: 2048,
        }
    }
}

/// Everything that is fixed when an [`crate::Emulator`] is made.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address space reserved for global memory. Costs nothing until used.
    pub reserve_bytes: u64,
    /// What the device claims as its memory, and the most that can be allocated.
    pub memory_bytes: u64,
    /// First values of the limits.
    pub limits: Limits,
    /// Checks.
    pub checks: Checks,
    /// How lanes of a warp are scheduled.
    pub warp_scheduling: WarpScheduling,
    /// `None`: the default schedule. `Some(n)`: another legal order of blocks, warps, lanes and
    /// grids for each `n`, the same every time.
    pub schedule_seed: Option<u64>,
    /// Host threads that may run independent blocks; 0 for as many as the machine has.
    pub host_threads: usize,
    /// Thread-instructions after which a run is stopped with a report. Looked at where lanes branch
    /// backwards, call or wait, so that a run goes past the bound by the straight-line code that
    /// each warp in execution has before the next such place, and by no more.
    pub max_instructions: Option<u64>,
    /// Wall-clock time after which a run is stopped with a report.
    pub timeout: Option<Duration>,
    /// Record the launch tree (see [`crate::TraceGrid`]).
    pub trace: bool,
    /// Compute capability that the device claims, 90 for 9.0.
    pub compute_capability: u32,
    /// Who makes machine code of what runs often. `None`: everything is interpreted.
    pub native: Option<Native>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            reserve_bytes: 64 << 30,
            memory_bytes: 16 << 30,
            limits: Limits::default(),
            checks: Checks::default(),
            warp_scheduling: WarpScheduling::default(),
            schedule_seed: None,
            host_threads: 0,
            max_instructions: None,
            timeout: None,
            trace: false,
            compute_capability: 90,
            native: None,
        }
    }
}
