//! Execution of blocks: warps of 32 lanes that diverge and reconverge, block barriers, memory.
//!
//! A [`Block`] is a state machine: [`block::run`] executes it until it ends, waits for the device
//! runtime, used up its slice, or did something wrong. It only reads the [`Machine`]; everything
//! that changes the device (launches, device malloc) is asked for through [`BlockStop::Service`] and
//! done by the scheduler. So blocks that ask for nothing can run on several host threads.

mod absent;
mod address;
pub mod atomics;
pub mod barrier;
pub mod block;
pub mod bulk;
pub mod bulk_tensor;
pub mod calls;
pub mod checks;
pub mod cluster;
pub mod collective;
mod dispatch;
pub mod diverge;
pub mod door;
mod extent;
pub mod fault;
pub mod hold;
pub mod mbarrier;
pub mod memory;
#[cfg(target_arch = "x86_64")]
mod native;
mod order;
pub mod path;
mod preempt;
pub mod print;
pub mod rows;
mod run;
mod shared;
pub mod special;
pub mod straight;
mod stray;
pub mod surface;
pub mod tensor;
#[cfg(target_arch = "x86_64")]
mod together;
mod turns;
mod warpgroup;

use std::sync::Arc;

pub use self::extent::CachedExtent;
pub use self::shared::{SharedLayout, SharedPlace};
use crate::code::{Function, NONE};
use crate::config::{Checks, WarpScheduling};
use crate::memory::Table;
use crate::report::ReportKind;
use crate::texture::TextureDescriptor;

/// What all blocks share and none changes.
#[derive(Debug)]
pub struct Machine {
    /// All functions of all modules; [`crate::memory::space::function_address`] numbers them.
    pub functions: Vec<Arc<Function>>,
    /// Where the shared variables of each kernel lie, by the kernel's number. Grids look here: what all threads of
    /// the device count the owners of is a place that they wait for each other at.
    pub shared: Vec<SharedLayout>,
    /// Global memory.
    pub memory: Table,
    /// Texture and surface objects; handle n is entry n - 1.
    pub textures: Vec<Option<TextureDescriptor>>,
    /// Checks.
    pub checks: Checks,
    /// Lane scheduling.
    pub warp_scheduling: WarpScheduling,
    /// Explore another order.
    pub schedule_seed: Option<u64>,
    /// The processor has AVX2 and FMA.
    pub avx2: bool,
    /// `cudaLimitStackSize`.
    pub stack_bytes: u64,
    /// What clocks of device code show.
    pub clocks: special::Clocks,
    /// The checks that this run asked for. With them blocks run one after another.
    pub watch: Option<std::sync::Mutex<crate::check::Watch>>,
    /// What host code tells of itself, to these checks.
    pub host: Option<Arc<crate::host_code::HostLog>>,
    /// Makes machine code of what runs often.
    pub native: Option<crate::native::Workshop>,
}

/// What the blocks of one grid share.
#[derive(Debug)]
pub struct GridInfo {
    /// Serial number, from 1.
    pub serial: u64,
    /// Number of the kernel's function.
    pub function: u32,
    /// Number of the kernel.
    pub kernel: u32,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Blocks a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// The launch or the kernel asked for clusters.
    pub explicit_cluster: bool,
    /// Dynamic shared memory in bytes.
    pub dynamic_bytes: u32,
    /// Static and dynamic shared memory in bytes, with the gaps.
    pub shared_bytes: u32,
    /// Bytes between shared variables that belong to nobody, for the check of bounds.
    pub shared_gaps: u32,
    /// Bytes of stack a thread may use beyond the kernel's own frame.
    pub stack_bytes: u64,
    /// Bytes of shared memory that are the system's: written before the block begins.
    pub reserved_shared: std::ops::Range<u32>,
    /// Parameter buffer.
    pub params: Arc<[u8]>,
    /// Device clock when the grid began.
    pub start_clock: u64,
    /// Serial number of the grid's first block.
    pub first_block_serial: u64,
    /// The grid's number among the checks.
    pub watched: u32,
    /// Address of the barrier of a cooperative grid, 0 for others.
    pub barrier: u64,
    /// The graph that it is a step of.
    pub of_graph: OfGraph,
}

/// A graph that kernels may launch, and a run of it; both 0 outside of one.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfGraph {
    /// What kernels know it by.
    pub graph: u64,
    /// The run's number.
    pub run: u64,
}

impl GridInfo {
    /// Threads a block.
    pub fn threads(&self) -> u32 {
        self.block[0] * self.block[1] * self.block[2]
    }

    /// Blocks a cluster.
    pub fn cluster_blocks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)))
    }

    /// `blockIdx` of a block by its linear index.
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        index_in(self.grid, linear)
    }

    /// `threadIdx` of a thread by its linear index.
    pub fn thread_index(&self, linear: u32) -> [u32; 3] {
        index_in(self.block, u64::from(linear))
    }
}

fn index_in(size: [u32; 3], linear: u64) -> [u32; 3] {
    let (x, y) = (u64::from(size[0].max(1)), u64::from(size[1].max(1)));
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}

/// Counters of one block, added up by kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions of warps.
    pub warp_instructions: u64,
    /// Instructions of threads.
    pub thread_instructions: u64,
    /// 128-byte segments of global memory read.
    pub load_transactions: u64,
    /// 128-byte segments of global memory written.
    pub store_transactions: u64,
    /// Accesses to shared memory by warps.
    pub shared_accesses: u64,
    /// Atomic operations of threads.
    pub atomics: u64,
    /// Branches at which lanes diverged.
    pub divergent_branches: u64,
    /// Branches executed by warps.
    pub branches: u64,
    /// Barrier arrivals of warps.
    pub barriers: u64,
}

impl Counters {
    /// Adds another block's counters.
    pub fn add(&mut self, other: &Counters) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.load_transactions += other.load_transactions;
        self.store_transactions += other.store_transactions;
        self.shared_accesses += other.shared_accesses;
        self.atomics += other.atomics;
        self.divergent_branches += other.divergent_branches;
        self.branches += other.branches;
        self.barriers += other.barriers;
    }
}

/// An activation of a function by some lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Number of the function.
    pub function: u32,
    /// First word in the warp's registers.
    pub base: u32,
    /// One past the last word.
    pub end: u32,
    /// First word (a lane) in the warp's local memory.
    pub local: u32,
    /// First word after the frame's own local memory and what `alloca` added.
    pub local_end: u32,
    /// The caller's frame, or [`NONE`].
    pub parent: u32,
    /// Call instruction in the caller.
    pub call_pc: u32,
    /// Bytes of stack in use, callers included.
    pub stack_bytes: u32,
    /// Callers above it.
    pub depth: u32,
    /// One past the last word of registers of it and its callers.
    pub top: u32,
    /// Paths, groups and callees that refer to it.
    pub refs: u32,
}

/// Lanes that diverged and will meet again.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Where: an instruction of the frame's function or [`crate::code::JOIN_RETURN`].
    pub join: u32,
    /// In which activation.
    pub frame: u32,
    /// Lanes that will come.
    pub expected: u32,
    /// Lanes that are there.
    pub arrived: u32,
    /// The group around it, or [`NONE`].
    pub parent: u32,
}

/// Why some lanes do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// They could run.
    Ready,
    /// They wait at this block barrier.
    Barrier(u8),
    /// They wait at the barrier of the cluster.
    Cluster,
    /// They wait for other lanes of the warp named in a member mask.
    Collective,
    /// They wait for the device runtime (`cudaDeviceSynchronize`).
    Runtime,
    /// They could run, and are held back ([`hold`]).
    Held,
}

/// Lanes of a warp at the same instruction.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Next instruction.
    pub pc: u32,
    /// Lanes.
    pub mask: u32,
    /// Activation.
    pub frame: u32,
    /// Innermost group, or [`NONE`].
    pub group: u32,
    /// Runs or waits.
    pub state: PathState,
}

/// Sum of the costs after which lanes that go round in loops let others run.
pub const SPIN_LIMIT: u32 = 1 << 20;

/// One warp.
#[derive(Debug, Default)]
pub struct Warp {
    /// What the constants in `regs`, and `tid`, are those of.
    pub made_for: Option<block::MadeFor>,
    /// Register frames, one after another.
    pub regs: Vec<u32>,
    /// Local memory: word w of lane l at `32 * w + l`.
    pub local: Vec<u32>,
    /// Which bytes of each word of it were never written, a bit each, if that is checked.
    pub fresh: Vec<u8>,
    /// Activations.
    pub frames: Vec<Frame>,
    /// Free entries of `frames`.
    pub free_frames: Vec<u32>,
    /// Reconvergence groups.
    pub groups: Vec<Group>,
    /// Free entries of `groups`.
    pub free_groups: Vec<u32>,
    /// Lanes that part do not meet again.
    pub apart: bool,
    /// All paths; the running one is taken out while it runs.
    pub paths: Vec<Path>,
    /// Lanes that have not ended.
    pub live: u32,
    /// Lanes that exist.
    pub initial: u32,
    /// Index in the block.
    pub index: u32,
    /// Threads in x, y, z of each lane. No array, because warps are moved out of their block to run.
    pub tid: Vec<[u32; 32]>,
    /// The lanes count the threads one by one along x.
    pub in_step: bool,
    /// [`Table::epoch`] for which `cache` holds.
    pub cache_epoch: u64,
    /// Allocations hit lately.
    pub cache: [CachedExtent; 8],
    /// Instructions of this warp since the grid began: its clock.
    pub clock: u64,
    /// Cost of loops since the running path was chosen.
    pub spins: u32,
    /// Lanes that have gone round loops for long since others were last let go on.
    pub spun: u32,
    /// In lockstep: a hash of the warp's state when it last went round for long, and how often that
    /// was since it last ran freely.
    pub rounds: (u64, u32),
    /// Predicate votes of lanes waiting at a reducing barrier, by lane.
    pub votes: u32,
    /// In lockstep: the warp's lanes go round a loop that nothing in this warp can end.
    pub spinning: bool,
    /// Random state for seeded schedules.
    pub random: u64,
    /// By lane, what it had of a lane that did not take part in a shuffle, once there is such a thing.
    pub absences: Vec<Option<absent::Absence>>,
    /// Which of its lanes to hold, where races are looked for.
    pub hold: hold::Hold,
    /// Lanes that arrived at the barrier of the cluster and have not waited.
    pub arrived: u32,
    /// Those of them that arrived in an odd phase.
    pub arrived_in: u32,
}

/// A block barrier.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierState {
    /// Threads counted so far.
    pub arrived: u32,
    /// Threads it waits for, if the program said; else all live threads.
    pub threads: Option<u32>,
    /// What those who come know is collected, because others go on or do not come at all.
    pub collects: bool,
    /// Votes that are true.
    pub true_votes: u32,
    /// Threads that voted.
    pub votes: u32,
}

/// One block in execution.
#[derive(Debug)]
pub struct Block {
    /// Its grid.
    pub grid: Arc<GridInfo>,
    /// Linear index in the grid.
    pub linear: u64,
    /// `blockIdx`
    pub index: [u32; 3],
    /// Serial number, for addresses.
    pub serial: u64,
    /// Rank in its cluster.
    pub rank: u32,
    /// The others of its cluster, and what they share.
    pub cluster: Option<Box<cluster::Cluster>>,
    /// Serial number of the block whose memory `shared` is: its own, but while it reaches into another's.
    pub memory_serial: u64,
    /// Warps. Each in a box, since the one that runs is taken out.
    #[allow(clippy::vec_box)]
    pub warps: Vec<Box<Warp>>,
    /// What stands in the place of the warp that runs, when none does.
    pub spare_warp: Option<Box<Warp>>,
    /// Shared memory.
    pub shared: Vec<u8>,
    /// 0xff for each byte of `shared` that was written.
    pub written: Vec<u8>,
    /// Every byte of `shared` was written, so that `written` need not be looked at any more.
    pub all_written: bool,
    /// Loads until `written` is looked through again, and how many the last interval had.
    pub written_checks: (u32, u32),
    /// Block barriers.
    pub barriers: [BarrierState; 16],
    /// Last device-runtime error of each thread (empty until one occurs).
    pub last_errors: Vec<u32>,
    /// `printf` output of this block not yet handed to the device.
    pub output: Vec<PrintEntry>,
    /// Reports that did not stop the program.
    pub warnings: Vec<fault::Fault>,
    /// Counters.
    pub counters: Counters,
    /// Next warp to run.
    pub next_warp: usize,
    /// Instructions left in this slice.
    pub budget: i64,
    /// Launches of this block into its default stream, and other state of the device runtime.
    pub runtime: crate::work::BlockRuntime,
    /// What the checks know of it.
    pub state: Option<Box<crate::check::block::BlockState>>,
    /// Warps of it of which lanes are held ([`hold`]).
    pub held: u32,
}

/// One `printf`.
#[derive(Clone, Debug)]
pub struct PrintEntry {
    /// Formatted text.
    pub text: Vec<u8>,
    /// Bytes it takes in the device's buffer.
    pub cost_bytes: u64,
}

/// Why a block stopped running.
#[derive(Debug)]
pub enum BlockStop {
    /// All threads have ended.
    Done,
    /// Used up its slice.
    Slice,
    /// Its warps only spin: others should run.
    Spin,
    /// Lanes of a path call the device: warp and index of the path in it.
    Service {
        /// Warp.
        warp: usize,
        /// Path in the warp.
        path: usize,
        /// Lanes that call.
        lanes: u32,
    },
    /// Every live lane waits for the device runtime (or for lanes that do).
    Waiting,
    /// Every live lane waits for other blocks of the cluster (or for lanes that do).
    Together,
    /// The program did something wrong.
    Fault(Box<fault::Fault>),
}

/// Result of a step that may find a fault of the program.
pub type Step<T> = Result<T, Box<fault::Fault>>;

impl Warp {
    /// The frame of a path.
    pub fn frame(&self, path: &Path) -> &Frame {
        &self.frames[path.frame as usize]
    }

    /// A new frame entry.
    pub fn add_frame(&mut self, frame: Frame) -> u32 {
        match self.free_frames.pop() {
            Some(index) => {
                self.frames[index as usize] = frame;
                index
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// Where registers of a callee of `caller` may begin: after those of all its callers, or, while
    /// other paths are in functions of their own, where no live frame is. Frames of paths that live at
    /// once must not share words, since one function's row is another one's predicates.
    pub fn free_registers(&self, caller: &Frame, words: u32) -> u32 {
        let live = (self.frames.len() - self.free_frames.len()) as u32;
        if live == caller.depth + 1 {
            return caller.top;
        }
        let live = self.frames.iter().filter(|frame| frame.refs > 0);
        let mut taken: Vec<(u32, u32)> = live.map(|frame| (frame.base, frame.end)).collect();
        taken.sort_unstable();
        let mut at = 0;
        for (base, end) in taken {
            if at + words <= base {
                break;
            }
            at = at.max(end);
        }
        at
    }

    /// One more reference to a frame.
    pub fn hold_frame(&mut self, frame: u32) {
        self.frames[frame as usize].refs += 1;
    }

    /// One reference fewer; frees the frame, and its callers, when nobody refers to it.
    pub fn release_frame(&mut self, mut frame: u32) {
        while frame != NONE {
            let entry = &mut self.frames[frame as usize];
            entry.refs -= 1;
            if entry.refs > 0 {
                return;
            }
            let parent = entry.parent;
            self.free_frames.push(frame);
            frame = parent;
        }
    }

    /// A new group entry; holds its frame.
    pub fn add_group(&mut self, group: Group) -> u32 {
        self.hold_frame(group.frame);
        match self.free_groups.pop() {
            Some(index) => {
                self.groups[index as usize] = group;
                index
            }
            None => {
                self.groups.push(group);
                self.groups.len() as u32 - 1
            }
        }
    }

    /// Frees a group entry and its hold on the frame.
    pub fn drop_group(&mut self, group: u32) {
        let frame = self.groups[group as usize].frame;
        self.groups[group as usize].expected = 0;
        self.groups[group as usize].arrived = 0;
        self.free_groups.push(group);
        self.release_frame(frame);
    }

    /// Adds a path; it holds its frame.
    pub fn add_path(&mut self, path: Path) {
        self.hold_frame(path.frame);
        self.paths.push(path);
    }

    /// The next pseudo-random number.
    pub fn next_random(&mut self) -> u64 {
        next_random(&mut self.random)
    }
}

/// SplitMix64.
pub fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Kinds that [`Checks`] can switch.
pub fn action(checks: &Checks, kind: ReportKind) -> crate::config::CheckAction {
    match kind {
        ReportKind::UninitializedShared => checks.uninitialized_shared,
        ReportKind::BarrierDivergence => checks.barrier_divergence,
        ReportKind::DoubleFree | ReportKind::InvalidFree => checks.invalid_free,
        _ => crate::config::CheckAction::Stop,
    }
}
