//! How small is small: the constants of the launch optimiser, one default for all programs.
//!
//! A launch takes the launching thread about 12,600 cycles, and the whole device takes about a million of
//! them a second (H200, CDP2). Instead of it, a warp of which `lanes` are there runs a child of n threads
//! in n / lanes steps, each of some hundred cycles while the device has little else to do, and of far less
//! when it is full, which the size of the parent's grid tells.

/// Constants; all of them can be set, for measurements and for tests that want every path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Threads of a child that one lane runs by itself, at the same time as other lanes theirs.
    pub own: u32,
    /// Threads of a child above which they are dealt to all lanes of a warp, with those of other small children.
    pub dealt: u32,
    /// Steps of all lanes that such a child takes at most.
    pub dealt_steps: u32,
    /// The most threads of a child that is not launched; by the model when `None`.
    pub threshold: Option<u32>,
    /// Steps that are always worth it.
    pub least_steps: u32,
    /// The same when a stream orders launches, so that they are made one by one, where many threads launch.
    pub least_steps_ordered: u32,
    /// The same where few do.
    pub few_steps_ordered: u32,
    /// Steps that never are, when children are independent.
    pub most_steps: u32,
    /// The same when they go one after another, where a launch has all later ones of the block launched, and all lanes
    /// of a warp launch.
    pub most_steps_in_order: u32,
    /// Threads of the parent's grid for each further step, as a power of two.
    pub parents_shift: u32,
    /// The same when children go one after another, and all lanes of a warp launch.
    pub parents_shift_in_order: u32,
    /// Threads that each lane runs of a child of its own before others help it, where one that did something is enough
    /// ([`super::once`]); 0 for no such children.
    pub first: u32,
    /// Whether launches move to the end of their kernel, where all lanes of a warp are there; 0 for never.
    pub late: u32,
    /// Whether what children add up is added up in registers first; 0 for never.
    pub sums: u32,
    /// Whether lanes that take ranges of one counter take them together ([`super::ranges`]); 0 for never.
    pub ranges: u32,
    /// Lanes of a warp whose launches are made one; 0 for never.
    pub gather: u32,
    /// Children of a warp that its lanes run one after another where the launches of a grid are gathered.
    pub crowd: u32,
    /// Steps up to which a child without loops does not count among them.
    pub crowd_steps: u32,
    /// Buckets in which the launches of a whole grid are gathered; 0 for none.
    pub queue: u32,
    /// Records of a bucket.
    pub queue_records: u32,
    /// Records of each of two large ones, for what a bucket has no room for; 0 for none.
    pub queue_large: u32,
    /// Threads of a grid that keeps much of a device busy.
    pub large_parents: u32,
    /// Whether blocks that add up are run as threads that do ([`super::added`]); 0 for never.
    pub added: u32,
    /// Steps of a warp for each warp of a grid, up to which all of its warps run children together ([`super::pool`]); 0 for
    /// none.
    pub pool: u32,
    /// Steps of a warp above which a child is run so.
    pub pool_steps: u32,
    /// Threads of it that a warp takes at a time.
    pub pool_part: u32,
    /// Whether kernels have twins that run all their children ([`super::inside`]); 0 for never, 2 for such kernels alone.
    pub inside: u32,
    /// How often whoever opened a bucket looks, half a microsecond apart, and finds that no record came, before it is
    /// launched.
    pub quiet: u32,
    /// How often at most.
    pub patience: u32,
    /// Blocks of such a launch, as many times as the device can run at a time, above which a block does the work of
    /// several; 0 for never.
    pub waves: u32,
    /// The same of children that launch nothing.
    pub waves_of_leaves: u32,
    /// Threads of a block of such a launch in which blocks of less than a warp stand beside each other; 0 for never.
    pub pack: u32,
    /// Chunks of 32 records for launches that keep their order ([`super::sequence`]); 0 for none.
    pub sequence: u32,
    /// Blocks of a child that one block does the work of in its turn.
    pub turn_blocks: u32,
    /// Cycles in which a warp's launches are made, for each other warp that launches too.
    pub pace: u32,
    /// Children that wait on the stack of a thread that runs them itself ([`super::stack`]); 0 for none.
    pub stack: u32,
    /// Cycles after which such a thread launches children as long as others wait.
    pub stack_cycles: u32,
    /// Children that wait on the stack of a warp whose lanes run them ([`super::stack`]); 0 for none.
    pub stack_warp: u32,
    /// Children that such a warp keeps of one that took longer than `stack_cycles`.
    pub stack_warp_long: u32,
    /// Cycles after which it keeps no more than it has lanes.
    pub stack_warp_cycles: u32,
    /// The most children that wait on the stack of a thread that runs them in their order; 0 for none.
    pub stack_in_order: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            own: 16,
            dealt: 4,
            dealt_steps: 2,
            threshold: None,
            least_steps: 8,
            least_steps_ordered: 256,
            few_steps_ordered: 64,
            most_steps: 64,
            most_steps_in_order: 512,
            parents_shift: 10,
            parents_shift_in_order: 3,
            first: 8,
            late: 1,
            sums: 1,
            ranges: 1,
            gather: 2,
            crowd: 8,
            crowd_steps: 2,
            queue: 64,
            queue_records: 1024,
            queue_large: 32_768,
            large_parents: 32_768,
            added: 1,
            pool: 2,
            pool_steps: 8,
            pool_part: 256,
            inside: 1,
            quiet: 4,
            patience: 16,
            waves: 0,
            waves_of_leaves: 1,
            pack: 128,
            sequence: 4096,
            turn_blocks: 8,
            pace: 32_768,
            stack: 8,
            stack_cycles: 65_536,
            stack_warp: 256,
            stack_warp_long: 1,
            stack_warp_cycles: 262_144,
            stack_in_order: 64,
        }
    }
}

/// How many steps a child may take.
pub(super) struct Steps {
    pub shift: u32,
    pub least: u32,
    pub least_ordered: u32,
    pub few_ordered: u32,
    /// Steps for each thread that launches, between these two: of so many threads, as a power of two, and how many.
    pub shift_ordered: u32,
    pub each_ordered: u32,
    pub most: u32,
    pub shift_in_order: u32,
    pub most_in_order: u32,
}

impl Tuning {
    /// A loop in the child makes its threads long.
    pub(super) fn steps(&self, loops: bool) -> Steps {
        let (less, part) = if loops { (2, 4) } else { (0, 1) };
        // How long a child of such threads is nobody knows, and all others of the block wait for it.
        let less_in_order = if loops { 5 } else { 0 };
        Steps {
            shift: self.parents_shift + less,
            least: (self.least_steps / part).max(1),
            least_ordered: (self.least_steps_ordered / part).max(1),
            // A step of a loop takes as long as some thirty others: it goes to memory again and again.
            few_ordered: (self.few_steps_ordered / if loops { 32 } else { 1 }).max(1),
            shift_ordered: if loops { 2 } else { 0 },
            each_ordered: if loops { 1 } else { 8 },
            most: (self.most_steps / part).max(1),
            shift_in_order: self.parents_shift_in_order + less_in_order,
            most_in_order: (self.most_steps_in_order / part).max(1),
        }
    }
}
