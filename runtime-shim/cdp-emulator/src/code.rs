//! The decoded form of PTX: what the interpreter runs.
//!
//! A function's frame is one flat array of 32-bit words. A 32-bit (or narrower) register is a row
//! of 32 words, one a lane; a 64-bit register is a row of 64 words; a predicate is one word with a
//! bit a lane. Constants are rows too, filled when the frame is made, so that every operand is an
//! offset into the frame. Made by `decode`, never changed afterwards.

use cdp_ptx::inst::{LoadOrder, StoreOrder};
use cdp_ptx::inst::{VideoMad, VideoSimd};
use cdp_ptx::{
    AtomOp, AtomOrder, BoolOp, MatchMode, ReduxOp, ScalarType, Scope, ShflMode, VoteMode,
};

use crate::decode::demand::Demand;
use crate::hash::IntMap;
use crate::services::Service;
use crate::texture::{SurfaceAccess, TextureFetch, TextureQuery};

/// Computes all active lanes of one instruction: frame, instruction, active lanes.
pub type AluFn = unsafe fn(*mut u32, &Inst, u32);

/// What an operand of an operation is in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The operation does not look at it.
    Unused,
    /// A word with a bit a lane.
    Pred,
    /// A row of 32-bit values.
    Narrow,
    /// A row of 64-bit values.
    Wide,
}

impl Shape {
    /// A row of values of this width.
    pub fn row(wide: bool) -> Shape {
        if wide { Shape::Wide } else { Shape::Narrow }
    }

    /// Words of the frame.
    pub fn words(self) -> u32 {
        match self {
            Shape::Unused => 0,
            Shape::Pred => 1,
            Shape::Narrow => 32,
            Shape::Wide => 64,
        }
    }
}

/// An arithmetic operation, with what it takes its operands for.
#[derive(Clone, Copy, Debug)]
pub struct Alu {
    /// Computes it.
    pub run: AluFn,
    /// Shapes of destination and sources: `d`, `a`, `b`, `c` of the instruction.
    pub shapes: [Shape; 4],
}

/// "No such place" for program counters and offsets.
pub const NONE: u32 = u32::MAX;
/// As a reconvergence point: the return from the function.
pub const JOIN_RETURN: u32 = u32::MAX - 1;

/// One decoded instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Does the work if `op` is [`Op::Alu`].
    pub alu: AluFn,
    /// Frame offset of the destination.
    pub d: u32,
    /// Frame offset of the first source.
    pub a: u32,
    /// Frame offset of the second source.
    pub b: u32,
    /// Frame offset of the third source.
    pub c: u32,
    /// Frame offset of the guard predicate.
    pub guard: u32,
    /// All ones if the guard is negated.
    pub guard_not: u32,
    /// A number the operation needs.
    pub imm: u32,
    /// Index of the PTX instruction it comes from.
    pub origin: u32,
    /// What it is.
    pub op: Op,
}

/// A state space as the interpreter distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Any, told by the address.
    Generic,
    /// Global or constant memory.
    Global,
    /// Constant memory.
    Const,
    /// Shared memory by offset.
    Shared,
    /// Shared memory of the cluster (`.shared::cluster`), by rank and offset.
    Cluster,
    /// Local memory by offset.
    Local,
    /// Kernel parameters by offset.
    Param,
    /// The function's own frame of local memory at a fixed offset (`imm`).
    Frame,
}

impl Place {
    /// Memory of a block or thread, which other blocks (but those of the cluster, which runs as one) do
    /// not see.
    pub fn is_near(self) -> bool {
        matches!(self, Place::Shared | Place::Cluster | Place::Local | Place::Frame)
    }
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// State space.
    pub place: Place,
    /// log2 of the bytes of one element.
    pub size_log2: u8,
    /// Elements: 1, 2, 4 or 8. For more than one, the rows are in [`Function::vectors`].
    pub count: u8,
    /// The address row has 64-bit values.
    pub wide_address: bool,
    /// The registers have 64 bits.
    pub wide_register: bool,
    /// Loads: sign-extend to the register.
    pub signed: bool,
    /// Order and scope. What is not weak is ordered or volatile: other threads may be waited for
    /// through it.
    pub order: Order,
}

impl Access {
    /// No other thread sees it.
    #[inline(always)]
    pub fn is_private(self) -> bool {
        matches!(self.place, Place::Local | Place::Frame | Place::Param)
    }
}

/// What an access or fence says about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sem {
    /// A plain access: two of them that conflict and are not ordered are a data race.
    Weak,
    /// As relaxed for the memory; for people it says nothing of other threads.
    Volatile,
    /// Atomic with respect to others, and no more.
    Relaxed,
    /// What the writer released is visible afterwards.
    Acquire,
    /// What came before is visible to who acquires.
    Release,
    /// Both.
    AcqRel,
}

/// Among which threads an order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// `.cta`
    Block,
    /// `.cluster`, `.gpu`, `.sys`
    Device,
}

/// Order and scope of an access or fence, as the PTX has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Order.
    pub sem: Sem,
    /// Scope.
    pub reach: Reach,
}

impl Order {
    /// That of plain accesses.
    pub const WEAK: Order = Order { sem: Sem::Weak, reach: Reach::Device };

    /// Not a plain access.
    pub fn is_strong(self) -> bool {
        self.sem != Sem::Weak
    }

    /// The part for reads takes over what was released.
    pub fn acquires(self) -> bool {
        matches!(self.sem, Sem::Acquire | Sem::AcqRel)
    }

    /// The part for writes releases.
    pub fn releases(self) -> bool {
        matches!(self.sem, Sem::Release | Sem::AcqRel)
    }
}

impl From<Scope> for Reach {
    fn from(scope: Scope) -> Reach {
        match scope {
            Scope::Cta => Reach::Block,
            Scope::Cluster | Scope::Gpu | Scope::Sys => Reach::Device,
        }
    }
}

impl From<LoadOrder> for Order {
    fn from(order: LoadOrder) -> Order {
        let (sem, reach) = match order {
            LoadOrder::Weak => return Order::WEAK,
            LoadOrder::Volatile => (Sem::Volatile, Reach::Device),
            LoadOrder::Relaxed(scope) | LoadOrder::Mmio(scope) => (Sem::Relaxed, scope.into()),
            LoadOrder::Acquire(scope) => (Sem::Acquire, scope.into()),
        };
        Order { sem, reach }
    }
}

impl From<StoreOrder> for Order {
    fn from(order: StoreOrder) -> Order {
        let (sem, reach) = match order {
            StoreOrder::Weak => return Order::WEAK,
            StoreOrder::Volatile => (Sem::Volatile, Reach::Device),
            StoreOrder::Relaxed(scope) | StoreOrder::Mmio(scope) => (Sem::Relaxed, scope.into()),
            StoreOrder::Release(scope) => (Sem::Release, scope.into()),
        };
        Order { sem, reach }
    }
}

impl Order {
    /// That of an atomic; PTX leaves out `.relaxed` and `.gpu`.
    pub fn of_atomic(order: Option<AtomOrder>, scope: Option<Scope>) -> Order {
        let sem = match order {
            None | Some(AtomOrder::Relaxed) => Sem::Relaxed,
            Some(AtomOrder::Acquire) => Sem::Acquire,
            Some(AtomOrder::Release) => Sem::Release,
            Some(AtomOrder::AcqRel) => Sem::AcqRel,
        };
        Order { sem, reach: scope.map_or(Reach::Device, Reach::from) }
    }
}

/// What an instruction is.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// [`Inst::alu`].
    Alu,
    /// Read a special register into row `d`.
    Special(Special),
    /// Address `imm` of the function's own local frame into row `d`.
    FrameAddress {
        /// The row has 64 bits.
        wide: bool,
    },
    /// Address of shared variable number `imm`, plus the value of row `a`, into row `d`.
    SharedAddress {
        /// The rows have 64 bits.
        wide: bool,
    },
    /// `cvta`: to a generic address, from row `a` to row `d`.
    ToGeneric(Place),
    /// `cvta.to`: from a generic address.
    FromGeneric(Place),
    /// `isspacep` into predicate `d`.
    IsSpace(Place),
    /// Predicate logic: `d = (a op b)`, with `imm` bit 0, 1: negate a, b.
    PredLogic(PredLogic),
    /// Row `d` from predicate `a`: `imm` if true, else 0.
    RowFromPred,
    /// `lop3` predicate: `d = (row a != 0)`.
    PredNonzero,
    /// Branch in lanes of the guard.
    Bra {
        /// Where to.
        target: u32,
        /// Where diverged lanes meet.
        join: u32,
    },
    /// Indexed branch: row `a` into branch table `table`.
    Brx {
        /// Index into [`Function::branch_tables`].
        table: u32,
        /// Where diverged lanes meet.
        join: u32,
    },
    /// A place where diverged lanes meet.
    Join,
    /// Call number `imm` of [`Function::calls`].
    Call,
    /// Return from the function (in a kernel: exit).
    Ret {
        /// For a guarded return: where diverged lanes meet.
        join: u32,
    },
    /// End of the thread.
    Exit,
    /// `trap`
    Trap,
    /// `brkpt`
    Brkpt,
    /// Load from row `a` plus `imm`.
    Load(Access),
    /// Store of row `d` (or vector `d`) to row `a` plus `imm`.
    Store(Access),
    /// Atomic number `imm` of [`Function::atomics`].
    Atomic,
    /// Barrier number `imm` of [`Function::barriers`].
    Barrier,
    /// `barrier.cluster.arrive`
    ClusterArrive {
        /// What came before is visible to those who wait.
        releases: bool,
    },
    /// `barrier.cluster.wait`
    ClusterWait,
    /// `mapa` of row `a` to rank `b`, to row `d`; `imm`: the address rows have 64 bits.
    Mapa(Place),
    /// `getctarank` of row `a` to row `d`; `imm`: the address row has 64 bits.
    ClusterRank(Place),
    /// `st.async`, `red.async`, number `imm` of [`Function::remotes`].
    Remote,
    /// `bar.warp.sync` with mask row `a`.
    WarpSync,
    /// Instruction on a barrier object, number `imm` of [`Function::objects`].
    BarrierObject,
    /// Warp-wide exchange number `imm` of [`Function::collectives`].
    Collective,
    /// Row `a` divides, in its low `imm` bits: a check.
    Divisor {
        /// The row has 64 bits.
        wide: bool,
    },
    /// `activemask` into row `d`.
    ActiveMask,
    /// Asynchronous copies are committed or waited for: an order for the checks, since they are done
    /// at once.
    Copies(CopyOrder),
    /// `membar`, `fence`: no effect on values here, but ends the independence of blocks.
    Fence(Order),
    /// `nanosleep` for row `a`.
    Sleep,
    /// Bulk copy number `imm` of [`Function::bulk_copies`].
    BulkCopy,
    /// `cp.async` number `imm` of [`Function::async_copies`].
    AsyncCopy,
    /// Video instruction number `imm` of [`Function::videos`].
    Video,
    /// Texture fetch number `imm` of [`Function::textures`].
    Texture,
    /// Surface access number `imm` of [`Function::surfaces`].
    Surface,
    /// Query number `imm` of [`Function::queries`].
    TextureQuery,
    /// `alloca`: row `a` bytes aligned to `imm`, address to row `d`.
    Alloca {
        /// The rows have 64 bits.
        wide: bool,
    },
    /// `stacksave` into row `d`.
    StackSave {
        /// The row has 64 bits.
        wide: bool,
    },
    /// `stackrestore` from row `a`.
    StackRestore {
        /// The row has 64 bits.
        wide: bool,
    },
    /// Product of matrices, number `imm` of [`Function::tensors`].
    Mma,
    /// Transpose of the matrix in row `a` to row `d`.
    Movmatrix,
    /// Addresses of parts of a matrix, number `imm` of [`Function::matrix_addresses`], to row `d`.
    MatrixAddress,
    /// Nothing.
    Nop,
    /// An instruction that the device does not run: [`Function::refusal`] says why.
    Refused,
}

/// Logic on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredLogic {
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a`
    Copy,
}

impl From<BoolOp> for PredLogic {
    fn from(op: BoolOp) -> PredLogic {
        match op {
            BoolOp::And => PredLogic::And,
            BoolOp::Or => PredLogic::Or,
            BoolOp::Xor => PredLogic::Xor,
        }
    }
}

/// Special registers, reduced to what the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid`, dimension 0 to 2
    Tid(u8),
    /// `%ntid`
    Ntid(u8),
    /// `%ctaid`
    Ctaid(u8),
    /// `%nctaid`
    Nctaid(u8),
    /// `%clusterid`
    ClusterId(u8),
    /// `%nclusterid`
    Clusters(u8),
    /// `%cluster_ctaid`
    InCluster(u8),
    /// `%cluster_nctaid`
    ClusterSize(u8),
    /// `%cluster_ctarank`
    ClusterRank,
    /// `%cluster_nctarank`
    ClusterBlocks,
    /// `%is_explicit_cluster`, as 0 or 1
    IsExplicitCluster,
    /// `%laneid`
    Lane,
    /// `%warpid`
    Warp,
    /// `%nwarpid`
    Warps,
    /// `%smid`
    Sm,
    /// `%nsmid`
    Sms,
    /// `%gridid`
    Grid,
    /// `%lanemask_eq`
    MaskEq,
    /// `%lanemask_le`
    MaskLe,
    /// `%lanemask_lt`
    MaskLt,
    /// `%lanemask_ge`
    MaskGe,
    /// `%lanemask_gt`
    MaskGt,
    /// `%clock`
    ClockLo,
    /// `%clock_hi`
    ClockHi,
    /// `%clock64`
    Clock64,
    /// `%globaltimer`
    Timer,
    /// `%globaltimer_lo`
    TimerLo,
    /// `%globaltimer_hi`
    TimerHi,
    /// `%dynamic_smem_size`
    DynamicShared,
    /// `%total_smem_size`, `%aggr_smem_size`
    TotalShared,
    /// `%envreg1`: the high half of the address of a cooperative grid's barrier
    /// (`cooperative_groups/details/helpers.h`)
    GridBarrierHi,
    /// `%envreg2`: the low half.
    GridBarrierLo,
    /// A fixed 32-bit value.
    Fixed(u32),
    /// A fixed 64-bit value.
    Fixed64(u32),
}

impl Special {
    /// It has 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self, Special::Grid | Special::Clock64 | Special::Timer | Special::Fixed64(_))
    }
}

/// Where an argument is in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Bytes of the function's local frame.
    Memory {
        /// Offset in the local frame.
        offset_bytes: u32,
        /// Size.
        size_bytes: u32,
    },
    /// A register row.
    Row {
        /// Frame offset.
        row: u32,
        /// 64 bits a lane.
        wide: bool,
    },
    /// A predicate.
    Pred {
        /// Frame offset.
        word: u32,
    },
    /// Thrown away.
    Sink,
}

/// What a call reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the program.
    Function(u32),
    /// The device runtime or library.
    Service(Service),
    /// By address in the 64-bit row (32-bit if not wide).
    Indirect {
        /// Frame offset of the address.
        row: u32,
        /// 64 bits a lane.
        wide: bool,
    },
}

/// A call site.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it reaches.
    pub callee: Callee,
    /// Arguments in the caller's frame.
    pub args: Vec<Slot>,
    /// Results in the caller's frame.
    pub returns: Vec<Slot>,
}

/// An atomic or reduction.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Operation.
    pub op: AtomOp,
    /// Element type.
    pub ty: ScalarType,
    /// State space.
    pub place: Place,
    /// The address row has 64-bit values.
    pub wide_address: bool,
    /// Added to the address.
    pub offset: i32,
    /// Order and scope.
    pub order: Order,
    /// Rows of old values; empty if not wanted.
    pub dsts: Vec<u32>,
    /// Rows of operands, one an element.
    pub srcs: Vec<u32>,
    /// `cas`: row of the new value.
    pub swap: u32,
}

/// What a barrier computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Wait.
    Sync,
    /// Count and go on.
    Arrive,
    /// Count predicates into a row.
    RedPopc,
    /// All.
    RedAnd,
    /// Any.
    RedOr,
}

/// A block barrier.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// What it computes.
    pub kind: BarrierKind,
    /// All threads of the warp come together.
    pub aligned: bool,
    /// Row of the barrier's number.
    pub id: u32,
    /// Row of the number of threads, or [`NONE`].
    pub threads: u32,
    /// Predicate voted with, and all ones if negated.
    pub pred: (u32, u32),
    /// Row or predicate of the result.
    pub dst: u32,
}

/// What is done with a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectOp {
    /// Make it, for as many arrivals as the operand says.
    Init,
    /// Make it other memory again.
    Invalidate,
    /// As many arrivals as the operand says.
    Arrive,
    /// The same, and later phases expect as many fewer.
    ArriveAndDrop,
    /// Expect as many more bytes as the operand says, then one arrival.
    ArriveExpecting,
    /// The same, and later phases expect one arrival fewer.
    ArriveExpectingAndDrop,
    /// Expect as many more bytes.
    Expect,
    /// As many bytes have come.
    Complete,
    /// The thread's `cp.async` so far arrive when they are done, and do not count.
    CopiesArrive,
    /// The same, and count as one arrival.
    CopiesArriveCounted,
    /// Has the phase of the state in the operand ended?
    TestState,
    /// Has the phase of the parity in the operand ended?
    TestParity,
}

/// An instruction on a barrier object in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct BarrierObject {
    /// What it does.
    pub op: ObjectOp,
    /// Shared memory, or any by generic address.
    pub place: Place,
    /// The address row has 64-bit values.
    pub wide: bool,
    /// Added to the address.
    pub offset: i32,
    /// Order and scope of an arrival or wait.
    pub order: Order,
    /// Row of the operand, or [`NONE`].
    pub operand: u32,
    /// Row of the old state, predicate of a test, or [`NONE`].
    pub dst: u32,
}

/// A warp-wide exchange.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// Row of the member mask, or [`NONE`] for the forms without.
    pub mask: u32,
    /// Source row (or predicate for votes, with `negate`).
    pub a: u32,
    /// Second source row.
    pub b: u32,
    /// Third source row.
    pub c: u32,
    /// Destination row or predicate, or [`NONE`].
    pub d: u32,
    /// Destination predicate, or [`NONE`].
    pub p: u32,
    /// All ones if the source predicate is negated.
    pub negate: u32,
    /// Sources have 64 bits.
    pub wide: bool,
}

/// Which exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// `shfl`
    Shfl(ShflMode),
    /// `vote`
    Vote(VoteMode),
    /// `match`
    Match(MatchMode),
    /// `redux`
    Redux {
        /// Operation.
        op: ReduxOp,
        /// Type.
        ty: ScalarType,
        /// `.abs`
        abs: bool,
        /// `.NaN`
        nan: bool,
    },
    /// `elect`
    Elect,
}

/// What a thread does about its asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOrder {
    /// Those since the last commit are a group: `cp.async.commit_group`, or that of bulk copies.
    Commit {
        /// Of bulk copies.
        bulk: bool,
    },
    /// Waits for all groups but the last `pending`.
    Wait {
        /// Of bulk copies.
        bulk: bool,
        /// Groups that may go on.
        pending: u32,
        /// Only until the sources have been read.
        read: bool,
    },
    /// `cp.async.wait_all`
    WaitAll,
}

/// `cp.async`
#[derive(Clone, Copy, Debug)]
pub struct AsyncCopy {
    /// Row of the shared address, and whether it has 64 bits.
    pub dst: (u32, bool),
    /// Added to it.
    pub dst_offset: i32,
    /// Row of the global address, and whether it has 64 bits.
    pub src: (u32, bool),
    /// Added to it.
    pub src_offset: i32,
    /// 4, 8 or 16.
    pub size_bytes: u32,
    /// Row of the number of bytes that are copied, or [`NONE`].
    pub src_size: u32,
    /// Predicate that zeroes everything, or [`NONE`], and its negation.
    pub ignore: (u32, u32),
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`
#[derive(Clone, Copy, Debug)]
pub struct BulkCopy {
    /// What is done with what is there.
    pub reduce: Option<(AtomOp, ScalarType)>,
    /// The destination is shared memory, and not global.
    pub to_shared: bool,
    /// Destination and barrier object may be of another block of the cluster.
    pub to_cluster: bool,
    /// Row of the blocks of the cluster that get the bytes, or [`NONE`].
    pub multicast: u32,
    /// The source is shared memory, and not global.
    pub from_shared: bool,
    /// Row of the destination, whether it has 64 bits, and what is added.
    pub dst: (u32, bool, i32),
    /// The same of the source.
    pub src: (u32, bool, i32),
    /// Row of the number of bytes.
    pub size: u32,
    /// The barrier object, or [`NONE`] for its row.
    pub object: (u32, bool, i32),
}

/// `st.async`, `red.async`
#[derive(Clone, Debug)]
pub struct Remote {
    /// The operation of a reduction.
    pub reduce: Option<AtomOp>,
    /// Type of an element.
    pub ty: ScalarType,
    /// Row of the address, whether it has 64 bits, and what is added.
    pub addr: (u32, bool, i32),
    /// The same of the barrier object.
    pub object: (u32, bool, i32),
    /// Rows of the elements.
    pub srcs: Vec<u32>,
}

/// A product of matrices.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Types, shape, layouts.
    pub facts: cdp_ptx::matrix::Mma,
    /// Rows of A; wide for `.f64`.
    pub a: Vec<u32>,
    /// Rows of B.
    pub b: Vec<u32>,
    /// Rows of C.
    pub c: Vec<u32>,
    /// Rows of D ([`NONE`] for the sink).
    pub d: Vec<u32>,
    /// Row of the metadata of a sparse A, and its selector.
    pub sparsity: Option<(u32, u32)>,
}

/// Addresses of elements of a matrix, one for each lane: a lane's base address plus so many lines and
/// elements within.
#[derive(Clone, Debug)]
pub struct MatrixAddress {
    /// Row of the base addresses.
    pub base: u32,
    /// It has 64-bit values.
    pub wide: bool,
    /// Added to them.
    pub offset: i32,
    /// Whose base address each lane takes.
    pub from: [u8; 32],
    /// Lines before each lane's element.
    pub lines: [u32; 32],
    /// Elements before it in its line.
    pub within: [u32; 32],
    /// Row of the elements from line to line, or [`NONE`].
    pub stride: u32,
    /// As many if there is no row.
    pub default_stride: u32,
    /// Bits of an element.
    pub bits: u32,
}

/// A video instruction: rows are in the [`Inst`].
#[derive(Clone, Debug)]
pub enum VideoInst {
    /// `vadd`, ...
    Scalar(Box<cdp_ptx::inst::Video>),
    /// `vmad`
    Mad(Box<VideoMad>),
    /// `vadd2`, ...
    Simd(Box<VideoSimd>),
}

/// The source lines of an instruction.
#[derive(Clone, Debug)]
pub struct SourceLines {
    /// Where the code is written (but not in a header of the toolkit).
    pub written: crate::report::SourceLine,
    /// Where the function is called that it was inlined from, outermost; else as `written`.
    pub outermost: crate::report::SourceLine,
}

/// A constant row of the frame.
#[derive(Clone, Copy, Debug)]
pub struct ConstRow {
    /// Frame offset.
    pub row: u32,
    /// Value of every lane.
    pub value: u64,
    /// 64 bits a lane.
    pub wide: bool,
}

/// A decoded function or kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name as in the PTX.
    pub name: String,
    /// Number of the PTX text it comes from, in the program's list.
    pub unit: u32,
    /// It is a kernel.
    pub is_kernel: bool,
    /// Instructions. The last one never falls through.
    pub code: Vec<Inst>,
    /// Words of a frame.
    pub frame_words: u32,
    /// Constant rows.
    pub consts: Vec<ConstRow>,
    /// Predicates that are always true; their words are filled like constants.
    pub true_pred: u32,
    /// Constant rows that hold addresses of shared variables: index into `consts`, number of the
    /// variable, added bytes. Filled in when the kernel's shared memory is laid out.
    pub shared_consts: Vec<(u32, u32, i64)>,
    /// Where the parameters are in the function's own frame (device functions).
    pub params: Vec<Slot>,
    /// Where the results are in the function's own frame.
    pub returns: Vec<Slot>,
    /// Words of local memory of a frame: parameters, call parameters, variables.
    pub local_words: u32,
    /// Offset and size of each parameter and variable in them, if bounds are checked.
    pub locals: Vec<(u32, u32)>,
    /// Offset and size of those that have no contents when the function begins, if that is checked.
    pub unwritten_locals: Vec<(u32, u32)>,
    /// What becomes of what loads bring, by instruction, if that is looked at.
    pub demands: IntMap<u32, Demand>,
    /// Bytes of `.local` variables among them: what counts as stack.
    pub stack_bytes: u32,
    /// Call sites.
    pub calls: Vec<Call>,
    /// Targets of indexed branches.
    pub branch_tables: Vec<Vec<u32>>,
    /// Rows of vector loads and stores ([`NONE`] for the sink).
    pub vectors: Vec<[u32; 8]>,
    /// Atomics.
    pub atomics: Vec<Atomic>,
    /// Barriers.
    pub barriers: Vec<Barrier>,
    /// Instructions on barrier objects.
    pub objects: Vec<BarrierObject>,
    /// Exchanges.
    pub collectives: Vec<Collective>,
    /// Asynchronous copies.
    pub async_copies: Vec<AsyncCopy>,
    /// Video instructions.
    pub videos: Vec<VideoInst>,
    /// Bulk copies.
    pub bulk_copies: Vec<BulkCopy>,
    /// Stores and reductions that a barrier object is told of.
    pub remotes: Vec<Remote>,
    /// Products of matrices.
    pub tensors: Vec<Tensor>,
    /// Addresses in matrices.
    pub matrix_addresses: Vec<MatrixAddress>,
    /// Texture fetches.
    pub textures: Vec<TextureFetch>,
    /// Surface accesses.
    pub surfaces: Vec<SurfaceAccess>,
    /// Texture and surface queries.
    pub queries: Vec<TextureQuery>,
    /// For each PTX instruction its line and source line (index into the unit's locations + 1).
    pub lines: Vec<(u32, u32)>,
    /// Source lines.
    pub locations: Vec<SourceLines>,
    /// Shared variables it names.
    pub shared_used: Vec<u32>,
    /// Functions it calls by name.
    pub callees: Vec<u32>,
    /// It calls through pointers.
    pub calls_indirect: bool,
    /// Functions whose address it takes.
    pub named: Vec<u32>,
    /// It launches grids.
    pub launches: bool,
    /// Blocks of a kernel that only does this cannot see each other.
    pub independent: bool,
    /// Line of the first instruction that the device does not run, and what is not supported.
    pub refusal: Option<(u32, String)>,
}
