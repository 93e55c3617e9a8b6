//! The decoded form of PTX: what the interpreter runs.
//!
//! A function's frame is one flat array of 32-bit words. A 32-bit (or narrower) register is a row
//! of 32 words, one a lane; a 64-bit register is a row of 64 words; a predicate is one word with a
//! bit a lane. Constants are rows too, filled when the frame is made, so that every operand is an
//! offset into the frame. Made by `decode`, never changed afterwards.

mod access;
mod map;
mod run;
mod special;
mod tables;

use std::sync::Arc;

use cdp_ptx::BoolOp;
use rustc_hash::FxHashMap;

pub use self::access::*;
pub use self::run::{Context, Entry, Run};
pub use self::special::Special;
pub use self::tables::*;
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
    /// What it is called.
    pub name: Name,
}

/// What an arithmetic operation is called, for those who compute it by other means than [`AluFn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The type of `alu` that computes it; empty for one that only the interpreter knows.
    pub operation: &'static str,
    /// What that type was told at compile time: `.ftz` in bit 0 and `.sat` in bit 1 of arithmetic, the
    /// relation in the low byte and `.ftz` in bit 8 of comparisons.
    pub flags: u32,
}

impl Name {
    /// That of an operation which only the interpreter knows.
    pub const NONE: Name = Name::plain("");

    /// Without flags.
    pub const fn plain(operation: &'static str) -> Name {
        Name::with(operation, 0)
    }

    /// With flags.
    pub const fn with(operation: &'static str, flags: u32) -> Name {
        Name { operation, flags }
    }
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
    /// How many instructions from here on, this one included, `exec::straight` may run one after another; 0
    /// if not even this one.
    pub ahead: u32,
    /// Number of the run that begins here, from 1, in [`Function::runs`]; 0 for none.
    pub run: u32,
    /// What it is.
    pub op: Op,
}

impl Inst {
    /// Without a guard, `exec::straight` may run it.
    pub fn is_straight(&self) -> bool {
        use Special::{Ctaid, Nctaid, Ntid, Tid};
        match self.op {
            Op::Alu | Op::Special(Tid(_) | Ctaid(_) | Ntid(_) | Nctaid(_)) => true,
            Op::Load(access) | Op::Store(access) => !access.order.is_strong(),
            _ => false,
        }
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
    ToGeneric(StateSpace),
    /// `cvta.to`: from a generic address.
    FromGeneric(StateSpace),
    /// `isspacep` into predicate `d`.
    IsSpace(StateSpace),
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
    Mapa(StateSpace),
    /// `getctarank` of row `a` to row `d`; `imm`: the address row has 64 bits.
    ClusterRank(StateSpace),
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
    /// Product number `imm` of [`Function::group_products`].
    GroupProduct,
    /// Bulk copy number `imm` of [`Function::bulk_copies`].
    BulkCopy,
    /// Copy of a box number `imm` of [`Function::tensor_copies`].
    TensorCopy,
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
    /// What the arithmetic among them is, by instruction.
    pub names: Vec<(Name, [Shape; 4])>,
    /// Runs that may become machine code.
    pub runs: Vec<Arc<Run>>,
    /// Rows of registers, each with the first and the last PTX instruction that may read who has it, or for a
    /// register that shares its row the first that names it; in order.
    pub tenants: Vec<(u32, u32, u32)>,
    /// Words of a frame.
    pub frame_words: u32,
    /// Words at its beginning that are zero when a kernel begins. The others are constants, and what is
    /// written before it is read.
    pub zeroed_words: u32,
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
    pub demands: FxHashMap<u32, Demand>,
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
    /// Copies of boxes of tensors.
    pub tensor_copies: Vec<TensorCopy>,
    /// Stores and reductions that a barrier object is told of.
    pub remotes: Vec<Remote>,
    /// Products of matrices.
    pub tensors: Vec<Tensor>,
    /// Products of matrices by four warps.
    pub group_products: Vec<GroupProduct>,
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
    /// It calls the device runtime, but for what launches graphs and sets conditions.
    pub uses_runtime: bool,
    /// It calls functions of the device runtime by their names.
    pub calls_runtime: bool,
    /// Blocks of a kernel that only does this cannot see each other.
    pub independent: bool,
    /// It reads memory strongly, by loads or by updates that change nothing.
    pub looks: bool,
    /// Line of the first instruction that the device does not run, and what is not supported.
    pub refusal: Option<(u32, String)>,
}
