//! What does not fit into an instruction: it has the number of an entry here.

use cdp_ptx::inst::{VideoMad, VideoSimd};
use cdp_ptx::{AtomOp, MatchMode, ReduxOp, ScalarType, ShflMode, VoteMode};

use super::access::{Order, StateSpace};
use crate::services::Service;

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
    pub space: StateSpace,
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

/// True if an operand keeps whatever is there: programs read so.
pub fn is_nothing(op: AtomOp, ty: ScalarType, b: u64) -> bool {
    let all = u64::MAX >> (64 - ty.bits().min(64));
    match op {
        AtomOp::Add | AtomOp::Or | AtomOp::Xor => b & all == 0,
        AtomOp::And => b & all == all,
        _ => false,
    }
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
    /// Row of the number of threads, or [`super::NONE`].
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
    pub space: StateSpace,
    /// The address row has 64-bit values.
    pub wide: bool,
    /// Added to the address.
    pub offset: i32,
    /// Order and scope of an arrival or wait.
    pub order: Order,
    /// Row of the operand, or [`super::NONE`].
    pub operand: u32,
    /// Row of the old state, predicate of a test, or [`super::NONE`].
    pub dst: u32,
}

/// A warp-wide exchange.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// Row of the member mask, or [`super::NONE`] for the forms without.
    pub mask: u32,
    /// Source row (or predicate for votes, with `negate`).
    pub a: u32,
    /// Second source row.
    pub b: u32,
    /// Third source row.
    pub c: u32,
    /// Destination row or predicate, or [`super::NONE`].
    pub d: u32,
    /// Destination predicate, or [`super::NONE`].
    pub p: u32,
    /// All ones if the source predicate is negated.
    pub negate: u32,
    /// Sources have 64 bits.
    pub wide: bool,
    /// Predicate of whether the source has contents, and then of whether the result has, or [`super::NONE`].
    pub given: u32,
}

impl Collective {
    /// One that reads and writes nothing yet.
    pub fn of(kind: CollectiveKind, mask: u32) -> Collective {
        let [a, b, c, d, p, given] = [super::NONE; 6];
        Collective { kind, mask, a, b, c, d, p, negate: 0, wide: false, given }
    }
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
    /// What comes before an instruction on matrices: they wait for each other, and exchange nothing.
    Matrix,
}

/// What is done asynchronously, by how threads come to know that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Async {
    /// `cp.async`: its thread waits for groups, or a barrier object is told of all of them so far.
    Copies,
    /// Bulk copies out of shared memory: their thread waits for groups.
    Bulk,
    /// `wgmma`: their warp waits for groups.
    Products,
    /// Bulk copies that a barrier object is told of, by its offset in shared memory.
    Object(u64),
}

impl Async {
    /// What is done through the asynchronous proxy, which knows of other accesses by `fence.proxy.async` alone.
    pub fn by_proxy(self) -> bool {
        self != Async::Copies
    }
}

/// What threads do about what is asynchronous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOrder {
    /// Those since the last commit are a group.
    Commit {
        /// Which.
        of: Async,
    },
    /// Waits for all groups but the last `pending`.
    Wait {
        /// Of which.
        of: Async,
        /// Groups that may go on.
        pending: u32,
        /// Only until the sources have been read.
        read: bool,
    },
    /// `cp.async.wait_all`
    WaitAll,
    /// `fence.proxy.async`: what is known now, the asynchronous proxy knows.
    Proxy,
    /// `griddepcontrol.wait`: the grids that this one depends on are done.
    Dependencies,
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
    /// Row of the number of bytes that are copied, or [`super::NONE`].
    pub src_size: u32,
    /// Predicate that zeroes everything, or [`super::NONE`], and its negation.
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
    /// Row of the blocks of the cluster that get the bytes, or [`super::NONE`].
    pub multicast: u32,
    /// The source is shared memory, and not global.
    pub from_shared: bool,
    /// Row of the destination, whether it has 64 bits, and what is added.
    pub dst: (u32, bool, i32),
    /// The same of the source.
    pub src: (u32, bool, i32),
    /// Row of the number of bytes.
    pub size: u32,
    /// The barrier object, or [`super::NONE`] for its row.
    pub object: (u32, bool, i32),
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`
#[derive(Clone, Debug)]
pub struct TensorCopy {
    /// From global to shared memory, and not back.
    pub load: bool,
    /// What is done with what is there.
    pub reduce: Option<AtomOp>,
    /// Row of the map's generic address, of 64 bits.
    pub map: u32,
    /// Rows of the first element's coordinates.
    pub coords: Box<[u32]>,
    /// A column of pixels and not a box.
    pub columns: bool,
    /// Rows of what is added to the pixels' coordinates.
    pub offsets: Box<[u32]>,
    /// Row of the box in shared memory, whether it has 64 bits, and what is added.
    pub shared: (u32, bool, i32),
    /// Box and barrier object may be of another block of the cluster.
    pub to_cluster: bool,
    /// Row of the blocks of the cluster that get the bytes, or [`super::NONE`].
    pub multicast: u32,
    /// The barrier object, or [`super::NONE`] for its row.
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
    pub facts: cdp_ptx::matrix::Product,
    /// Rows of A; wide for `.f64`.
    pub a: Vec<u32>,
    /// Rows of B.
    pub b: Vec<u32>,
    /// Rows of C.
    pub c: Vec<u32>,
    /// Rows of D ([`super::NONE`] for the sink).
    pub d: Vec<u32>,
    /// Row of the metadata of a sparse A, and its selector.
    pub sparsity: Option<(u32, u32)>,
}

/// A product of matrices by four warps.
#[derive(Clone, Debug)]
pub struct GroupProduct {
    /// Types, shape, layouts.
    pub facts: cdp_ptx::warpgroup::Wgmma,
    /// Rows of A, or the wide row of its descriptor.
    pub a: Vec<u32>,
    /// Wide row of the descriptor of B.
    pub b: u32,
    /// Row of the metadata of a sparse A, and its selector.
    pub sparsity: Option<(u32, u32)>,
    /// Predicate that says whether D is added to, and what it is combined with.
    pub adds: (u32, u32),
    /// Rows of D.
    pub d: Vec<u32>,
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
    /// Row of the elements from line to line, or [`super::NONE`].
    pub stride: u32,
    /// As many if there is no row.
    pub default_stride: u32,
    /// Bits of an element.
    pub bits: u32,
}

/// A video instruction: rows are in the [`super::Inst`].
#[derive(Clone, Debug)]
pub enum VideoInst {
    /// `vadd`, ...
    Scalar(Box<cdp_ptx::inst::Video>),
    /// `vmad`
    Mad(Box<VideoMad>),
    /// `vadd2`, ...
    Simd(Box<VideoSimd>),
}
