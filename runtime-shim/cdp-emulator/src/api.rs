//! The types that callers of the CPU device hand over and get back. No behaviour.

use std::sync::Arc;

use cdp_ptx::ScalarType;

use crate::report::Report;

/// A PTX text to load.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name for messages, usually a file name.
    pub name: &'a str,
    /// The PTX.
    pub text: &'a str,
}

/// One or several PTX texts loaded and linked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub(crate) u32);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelId(pub(crate) u32);

/// A host stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub(crate) u32);

impl StreamId {
    /// The legacy default stream: waits for, and is waited for by, all streams that were not
    /// created as non-blocking.
    pub const NULL: StreamId = StreamId(0);
}

/// A host event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub(crate) u32);

/// What host code knew at some time of what the device had done, as the checks follow it.
#[derive(Clone, Debug)]
pub struct HostView(pub(crate) crate::check::HostView);

/// A run of a graph that host code replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayRun(pub(crate) u64);

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name in the PTX.
    pub name: String,
    /// Offset in the parameter buffer, in bytes.
    pub offset_bytes: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Alignment in bytes.
    pub align_bytes: u64,
    /// Element type (`.b8` for structs).
    pub ty: ScalarType,
}

/// What is known about a kernel without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Mangled name.
    pub name: String,
    /// Module that holds it.
    pub module: ModuleId,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Size of the parameter buffer in bytes.
    pub param_bytes: u64,
    /// Static shared memory in bytes.
    pub shared_bytes: u64,
    /// Local memory of the kernel's own frame, in bytes a thread.
    pub local_bytes: u64,
    /// Constant memory of its module in bytes.
    pub const_bytes: u64,
    /// Virtual registers, in 32-bit units a thread. No allocator has run, so this is an upper bound.
    pub registers: u32,
    /// Most threads a block (`.maxntid`, `.reqntid`, else 1024).
    pub max_threads: u32,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// `.explicitcluster`
    pub cluster_must_be_set: bool,
    /// `.version` times ten: 90 for 9.0.
    pub ptx_version: u32,
    /// `.target`: 90 for sm_90.
    pub target_sm: u32,
    /// It, or a function that it comes to by calls of names, calls the device runtime by name.
    pub calls_runtime: bool,
}

/// A kernel launch from the host.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Which kernel.
    pub kernel: KernelId,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Stream.
    pub stream: StreamId,
    /// The parameter buffer: each parameter at its [`ParamInfo::offset_bytes`].
    pub params: &'a [u8],
    /// All blocks are resident at once and may wait for each other (cooperative groups' grid).
    pub cooperative: bool,
    /// The grid may begin before the one that it follows in its stream is done, and waits for that by
    /// `griddepcontrol.wait`. Here it does not begin early; the race checker takes it at its word.
    pub programmatic: bool,
    /// Blocks a cluster in x, y, z; if nothing is said, those that the kernel itself asks for, or one.
    pub cluster: Option<[u32; 3]>,
}

/// A step of a graph that kernels may launch.
#[derive(Clone, Debug)]
pub struct GraphStep<'a> {
    /// What is done.
    pub work: GraphWork<'a>,
    /// The steps, by place, that are done before; all of them come earlier.
    pub after: Vec<usize>,
}

/// What a step of a graph does.
#[derive(Clone, Copy, Debug)]
pub enum GraphWork<'a> {
    /// Nothing: others meet here.
    Nothing,
    /// Runs a grid. The stream is not looked at.
    Launch(Launch<'a>),
    /// Copies `rows` rows of `width_bytes` within device memory.
    #[allow(missing_docs)]
    Copy {
        dst: u64,
        dst_pitch_bytes: u64,
        src: u64,
        src_pitch_bytes: u64,
        width_bytes: u64,
        rows: u64,
    },
    /// Sets `rows` rows of `width_bytes` to the first `pattern_bytes` (1, 2 or 4) bytes of a pattern.
    #[allow(missing_docs)]
    Set {
        dst: u64,
        pitch_bytes: u64,
        pattern: [u8; 4],
        pattern_bytes: u8,
        width_bytes: u64,
        rows: u64,
    },
}

/// A module-scope variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Generic address.
    pub address: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// In `.const` (host code may still write it).
    pub constant: bool,
    /// Declared `__managed__`: host code may use the address itself.
    pub managed: bool,
}

/// What a run came to.
#[derive(Clone, Debug)]
#[must_use]
pub enum Completion {
    /// Everything asked for is done.
    Done,
    /// Not yet (queries only).
    Pending,
    /// The program misbehaved; nothing more runs until [`crate::Emulator::reset`].
    Faulted(Arc<Report>),
}

/// What an address is, for `cudaPointerGetAttributes` and for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// First address of the allocation.
    pub base: u64,
    /// Size of the allocation in bytes.
    pub size_bytes: u64,
    /// Host code may use the address.
    pub managed: bool,
    /// Lies in a module variable of this name.
    pub variable: Option<String>,
}

/// Device memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Not allocated.
    pub free_bytes: u64,
    /// Claimed by the device.
    pub total_bytes: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Grids begun since the device was made.
    pub grids_started: u64,
    /// Grids, copies and records that are queued or running.
    pub pending: u64,
    /// Thread-instructions executed since the device was made.
    pub thread_instructions: u64,
}
