//! What a program did wrong, as data: one [`Report`] per fault. The emulator itself is fine when
//! it makes one; for its own errors see [`crate::Error`].

use std::fmt;

/// A number of bytes, in words: `1 byte`, `4 bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// What was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// An access outside of every allocation.
    OutOfBounds,
    /// An access at or near address zero.
    NullAccess,
    /// An address that is not a multiple of the access size.
    Misaligned,
    /// An access to an allocation that was released.
    UseAfterFree,
    /// A store to constant memory or to another read-only object.
    ReadOnlyWrite,
    /// `free` of an address that was already released.
    DoubleFree,
    /// `free` of an address at which no device allocation begins.
    InvalidFree,
    /// A read of shared memory that was never written.
    UninitializedShared,
    /// A local or shared address of another grid, block or thread.
    ForeignAddress,
    /// `__syncthreads` not reached by all threads of the block, or at different places.
    BarrierDivergence,
    /// Every live warp waits.
    Deadlock,
    /// More stack than `cudaLimitStackSize`.
    StackOverflow,
    /// A call through a pointer that is not a function.
    InvalidCall,
    /// A branch-table index out of range, or another instruction used outside of its definition.
    InvalidInstruction,
    /// `assert` failed.
    AssertFailed,
    /// `trap`, or an `unreachable` of the compiler.
    Trap,
    /// `brkpt`.
    Breakpoint,
    /// The bound on executed instructions was reached.
    InstructionLimit,
    /// The bound on wall-clock time was reached.
    Timeout,
    /// A texture or surface handle or coordinate that is not valid.
    InvalidTexture,
    /// A wrong use of the device runtime that has no error code.
    DeviceRuntime,
    /// Two accesses to the same memory, of which one writes, and nothing orders them.
    Race,
    /// The same, but for the order of the stream that one block launched both grids into.
    SiblingConflict,
    /// A read of bytes that nobody has written and that matter.
    Uninitialized,
    /// Memory that is never released.
    Leak,
    /// An integer divided by zero.
    DivisionByZero,
    /// Something came of what a shuffle took from a lane that does not take part.
    AbsentLane,
    /// Lanes came to an exchange, or to an instruction of a whole warp, that leaves open what happens then.
    UndefinedExchange,
}

impl ReportKind {
    /// Short name, stable, for machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            ReportKind::OutOfBounds => "out-of-bounds",
            ReportKind::NullAccess => "null-access",
            ReportKind::Misaligned => "misaligned",
            ReportKind::UseAfterFree => "use-after-free",
            ReportKind::ReadOnlyWrite => "read-only-write",
            ReportKind::DoubleFree => "double-free",
            ReportKind::InvalidFree => "invalid-free",
            ReportKind::UninitializedShared => "uninitialized-shared",
            ReportKind::ForeignAddress => "foreign-address",
            ReportKind::BarrierDivergence => "barrier-divergence",
            ReportKind::Deadlock => "deadlock",
            ReportKind::StackOverflow => "stack-overflow",
            ReportKind::InvalidCall => "invalid-call",
            ReportKind::InvalidInstruction => "invalid-instruction",
            ReportKind::AssertFailed => "assert-failed",
            ReportKind::Trap => "trap",
            ReportKind::Breakpoint => "breakpoint",
            ReportKind::InstructionLimit => "instruction-limit",
            ReportKind::Timeout => "timeout",
            ReportKind::InvalidTexture => "invalid-texture",
            ReportKind::DeviceRuntime => "device-runtime",
            ReportKind::Race => "race",
            ReportKind::SiblingConflict => "sibling-conflict",
            ReportKind::Uninitialized => "uninitialized",
            ReportKind::Leak => "leak",
            ReportKind::DivisionByZero => "division-by-zero",
            ReportKind::AbsentLane => "absent-lane",
            ReportKind::UndefinedExchange => "undefined-exchange",
        }
    }

    /// The `cudaError_t` that host code sees afterwards, as measured on an H200 where a GPU notices
    /// the fault at all.
    pub fn cuda_code(self) -> u32 {
        match self {
            ReportKind::OutOfBounds
            | ReportKind::NullAccess
            | ReportKind::UseAfterFree
            | ReportKind::InvalidFree
            | ReportKind::InvalidCall
            | ReportKind::UninitializedShared
            | ReportKind::ForeignAddress
            | ReportKind::StackOverflow
            | ReportKind::DeviceRuntime => 700,
            ReportKind::Misaligned => 716,
            ReportKind::InvalidInstruction | ReportKind::InvalidTexture => 715,
            ReportKind::AssertFailed => 710,
            ReportKind::Deadlock
            | ReportKind::BarrierDivergence
            | ReportKind::InstructionLimit
            | ReportKind::Timeout => 702,
            ReportKind::DoubleFree
            | ReportKind::ReadOnlyWrite
            | ReportKind::Trap
            | ReportKind::Breakpoint => 719,
            // Nobody but this device notices.
            ReportKind::Race
            | ReportKind::SiblingConflict
            | ReportKind::Uninitialized
            | ReportKind::Leak
            | ReportKind::DivisionByZero
            | ReportKind::AbsentLane
            | ReportKind::UndefinedExchange => 0,
        }
    }
}

/// A line of the program's source, from `.loc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// File as written in `.file`.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", self.file, self.line),
            column => write!(f, "{}:{}:{column}", self.file, self.line),
        }
    }
}

/// One grid on the way from the host to the grid of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridStep {
    /// Mangled kernel name.
    pub kernel: String,
    /// Serial number of the grid in this device's life, from 1.
    pub grid: u64,
    /// Block and thread of the grid before it that launched it; `None` for the host.
    pub launched_by: Option<([u32; 3], [u32; 3])>,
    /// Line of the launch, if known.
    pub launched_at: Option<SourceLine>,
}

/// A thread at an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Mangled name of the kernel.
    pub kernel: String,
    /// Serial number of the grid, from 1.
    pub grid: u64,
    /// `blockIdx`
    pub block: [u32; 3],
    /// `threadIdx`
    pub thread: [u32; 3],
    /// Mangled name of the function in which the instruction is.
    pub function: String,
    /// Name of the PTX text.
    pub ptx_file: String,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
    /// Source line, when the PTX has `.loc`.
    pub source: Option<SourceLine>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(f, "`{}`, block ({bx},{by},{bz}), thread ({tx},{ty},{tz})", self.kernel)?;
        if self.function != self.kernel {
            write!(f, ", in `{}`", self.function)?;
        }
        if let Some(source) = &self.source {
            write!(f, ", {source}")?;
        }
        write!(f, " [{}:{}]", self.ptx_file, self.ptx_line)
    }
}

/// An allocation that a report names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// First address.
    pub base: u64,
    /// Bytes asked for.
    pub size_bytes: u64,
    /// What it is: `cudaMalloc of the host`, `variable \`table\``, ...
    pub what: String,
    /// Device thread that allocated it.
    pub allocated_at: Option<Site>,
    /// It has been released.
    pub freed: bool,
    /// Device thread that released it.
    pub freed_at: Option<Site>,
}

/// A thread, or several of a warp, that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// First of the waiting threads, and where it waits.
    pub site: Site,
    /// Lanes of the warp that wait here.
    pub lanes: u32,
    /// What for, in words.
    pub what: String,
}

/// Another thread that a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// What it did, in words.
    pub what: String,
    /// Which thread, where; `None` for the host, and for copies and sets.
    pub site: Option<Site>,
    /// Where in host code, if it was that.
    pub host: Option<SourceLine>,
    /// From the host to the grid of `site`.
    pub grid_path: Vec<GridStep>,
}

/// One fault of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was observed.
    pub kind: ReportKind,
    /// What was observed, in a sentence with the numbers.
    pub message: String,
    /// What CUDA itself writes of it to standard error: whole lines, or nothing.
    pub said: String,
    /// What to do about it, if there is a common cure.
    pub help: Option<String>,
    /// Which thread, where. `None` when the report is about no thread in particular.
    pub site: Option<Site>,
    /// Where in host code, if it was that.
    pub host: Option<SourceLine>,
    /// From the host to the grid of `site`.
    pub grid_path: Vec<GridStep>,
    /// The address of the access.
    pub address: Option<u64>,
    /// The allocation hit or nearest to `address`.
    pub allocation: Option<AllocationInfo>,
    /// Deadlocks: who waits where.
    pub waiters: Vec<Waiter>,
    /// The other access of a race.
    pub related: Vec<Related>,
    /// How often it was seen.
    pub count: u64,
    /// Nothing needs to be wrong, and the program went on ([`crate::CheckAction::Warn`]).
    pub warning: bool,
}

impl Report {
    /// The `cudaError_t` that host code sees afterwards.
    pub fn cuda_code(&self) -> u32 {
        self.kind.cuda_code()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)?;
        if let Some(site) = &self.site {
            write!(f, "\n  at {site}")?;
        }
        if let Some(host) = &self.host {
            write!(f, "\n  at host code, {host}")?;
        }
        if let Some(allocation) = &self.allocation {
            write!(f, "\n  {allocation}")?;
        }
        for waiter in &self.waiters {
            let (who, s) = match waiter.lanes.count_ones() {
                1 => ("1 lane".to_string(), "s"),
                lanes => (format!("{lanes} lanes"), ""),
            };
            match waiter.what.as_str() {
                "running" => write!(f, "\n  {who} run{s}\n    at {}", waiter.site)?,
                what => write!(f, "\n  {who} wait{s}: {what}\n    at {}", waiter.site)?,
            }
        }
        write_path(f, &self.grid_path, "  ")?;
        for related in &self.related {
            write!(f, "\n  {}", related.what)?;
            if let Some(site) = &related.site {
                write!(f, "\n    at {site}")?;
            }
            if let Some(host) = &related.host {
                write!(f, "\n    at host code, {host}")?;
            }
            // The same way from the host need not be told twice.
            if related.grid_path != self.grid_path {
                write_path(f, &related.grid_path, "    ")?;
            }
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// The way from the host to a grid, the last step first; the middle of a long one is left out.
fn write_path(f: &mut fmt::Formatter<'_>, path: &[GridStep], indent: &str) -> fmt::Result {
    const ENDS: usize = 8;
    for (at, step) in path.iter().rev().enumerate() {
        if path.len() > 2 * ENDS + 1 && (ENDS..path.len() - ENDS).contains(&at) {
            if at == ENDS {
                write!(f, "\n{indent}... ({} more launches) ...", path.len() - 2 * ENDS)?;
            }
            continue;
        }
        write!(f, "\n{indent}{step}")?;
    }
    Ok(())
}

impl fmt::Display for GridStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(([bx, by, bz], [tx, ty, tz])) = &self.launched_by else {
            return write!(f, "grid {} `{}` was launched by the host", self.grid, self.kernel);
        };
        write!(f, "grid {} `{}` was launched", self.grid, self.kernel)?;
        if let Some(source) = &self.launched_at {
            write!(f, " at {source}")?;
        }
        write!(f, " by block ({bx},{by},{bz}), thread ({tx},{ty},{tz}) of")
    }
}

impl fmt::Display for AllocationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}: {}", Bytes(self.size_bytes), self.base, self.what)?;
        if let Some(site) = &self.allocated_at {
            write!(f, "\n    allocated at {site}")?;
        }
        match (&self.freed_at, self.freed) {
            (Some(site), _) => write!(f, "\n    released at {site}"),
            (None, true) => write!(f, "\n    released by the host"),
            (None, false) => Ok(()),
        }
    }
}
