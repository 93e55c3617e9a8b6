//! Expressions. An lvalue is an expression of pointer type (an address); reading it is
//! [`ExprKind::Load`].
//!
//! Order of evaluation: children in the order in which a variant lists them, arguments and fields
//! from left to right. What changes memory is the exception, as in C++17 [expr.ass]: `Store`,
//! `StoreBits` and `Update` evaluate what is assigned first, then where to, and `Update` reads the
//! old value last. A launch has an order of its own ([`Launch`]).

use crate::intrinsic::Intrinsic;
use crate::module::{FuncId, GlobalId, Loc, LocalId};
use crate::runtime::RuntimeFn;
use crate::types::{Type, TypeId, TypeTable};

/// An expression: what it does, the type of what it yields, and where it stands in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The operation with its operands.
    pub kind: ExprKind,
    /// The type of the value; `Void` where an operation yields none.
    pub ty: TypeId,
    /// For messages and debug information; for what a macro expands to, the macro's use.
    pub loc: Loc,
}

impl Expr {
    /// An expression; the caller answers for the type, which the verifier checks against the
    /// operation.
    pub fn new(kind: ExprKind, ty: TypeId, loc: Loc) -> Self {
        Expr { kind, ty, loc }
    }

    /// Of an address: that of the variable that it is part of, when no pointer is followed.
    pub fn root(&self) -> Option<&Expr> {
        match &self.kind {
            ExprKind::LocalAddr(_) | ExprKind::GlobalAddr(_) => Some(self),
            ExprKind::FieldAddr { base, .. } | ExprKind::IndexAddr { base, .. } => base.root(),
            ExprKind::Cast { kind: CastKind::PointerToPointer, operand } => operand.root(),
            ExprKind::Sequence { value, .. } => value.root(),
            _ => None,
        }
    }
}

/// A constant, given meaning by the type it is used at.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// An integer, `Bool` or pointer value: the low bits, the type's width of them.
    Int(i128),
    /// A floating value as the bits of its own format (F16 in the low 16 bits, and so on), so that
    /// NaN payloads and signed zeros survive.
    Float(u64),
    /// All bytes zero, for any type.
    Zero,
    /// The leading bytes of an array of 8-bit integers (any terminator included); the rest is zero.
    Bytes(Vec<u8>),
    /// Leading elements; the rest is zero.
    Array(Vec<Const>),
    /// Values for some fields by index, ascending; the rest is zero. A union has at most one.
    Record(Vec<(u32, Const)>),
    /// A generic address of a variable plus a byte offset.
    GlobalAddr {
        /// The variable.
        global: GlobalId,
        /// Bytes added to its address; may point one past its end, as C allows.
        offset: i64,
    },
    /// The address of a function as programs compare and call it; on the host that of a kernel is
    /// its handle.
    FunctionAddr(FuncId),
}

impl Const {
    /// Whether a test holds of all that it consists of: itself if it is no aggregate.
    pub fn all(&self, test: &impl Fn(&Const) -> bool) -> bool {
        match self {
            Const::Array(items) => items.iter().all(|item| item.all(test)),
            Const::Record(fields) => fields.iter().all(|(_, value)| value.all(test)),
            scalar => test(scalar),
        }
    }
}

/// Operations of one operand, whose type is the result's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// Two's complement for integers, sign flip for floats.
    Neg,
    /// Every bit inverted; integers only.
    BitNot,
    /// `Bool` to `Bool`.
    Not,
}

/// Operands and result have one type, but for shifts, whose right operand may be any integer.
/// Signedness and floatness come from the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Unsigned integers wrap; signed overflow is undefined, as in C.
    Add,
    /// Unsigned integers wrap; signed overflow is undefined, as in C.
    Sub,
    /// Unsigned integers wrap; signed overflow is undefined, as in C.
    Mul,
    /// Toward zero for integers, of which a zero divisor is undefined.
    Div,
    /// The remainder of `Div`, with the sign of the left operand; integers only.
    Rem,
    /// Bit by bit; integers and `Bool`.
    And,
    /// Bit by bit; integers and `Bool`.
    Or,
    /// Bit by bit; integers and `Bool`.
    Xor,
    /// Undefined for amounts that are negative or not below the width.
    Shl,
    /// Copies of the sign come in for signed types; an amount of the width or more shifts
    /// everything out.
    Shr,
}

/// Operands have one type (integer, float or pointer); the result is `Bool`. Floats compare
/// ordered, except `Ne`, which is unordered, as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// False when an operand is a NaN.
    Eq,
    /// True when an operand is a NaN.
    Ne,
    /// By the signedness of the type; false when an operand is a NaN.
    Lt,
    /// By the signedness of the type; false when an operand is a NaN.
    Le,
    /// By the signedness of the type; false when an operand is a NaN.
    Gt,
    /// By the signedness of the type; false when an operand is a NaN.
    Ge,
}

/// How a value of one type becomes one of another; the operand's and the whole's types say the
/// rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// Between integers (`Bool` as source counts as unsigned): truncate, or extend by the source's
    /// signedness.
    IntToInt,
    /// By the source's signedness, round to nearest even.
    IntToFloat,
    /// Toward zero, by the destination's signedness. Out of range saturates on the device (PTX
    /// cvt), as nvcc's code does.
    FloatToInt,
    /// Round to nearest even when narrowing.
    FloatToFloat,
    /// Comparison with zero or null.
    ToBool,
    /// The address as a number: truncated, or extended with zeros.
    PointerToInt,
    /// A number as an address: truncated, or extended with zeros.
    IntToPointer,
    /// Between pointers: no code.
    PointerToPointer,
    /// Same size, same bits (`__float_as_int`).
    Bitcast,
}

impl CastKind {
    /// The cast that makes a value of one type one of another, if there is one.
    pub fn between(types: &TypeTable, from: TypeId, to: TypeId) -> Option<CastKind> {
        Some(match (types.get(from), types.get(to)) {
            (_, Type::Bool) => CastKind::ToBool,
            (Type::Bool | Type::Int { .. }, Type::Int { .. }) => CastKind::IntToInt,
            (Type::Bool | Type::Int { .. }, Type::Float(_)) => CastKind::IntToFloat,
            (Type::Float(_), Type::Int { .. }) => CastKind::FloatToInt,
            (Type::Float(_), Type::Float(_)) => CastKind::FloatToFloat,
            (Type::Pointer(_), Type::Int { .. }) => CastKind::PointerToInt,
            (Type::Bool | Type::Int { .. }, Type::Pointer(_)) => CastKind::IntToPointer,
            (Type::Pointer(_), Type::Pointer(_)) => CastKind::PointerToPointer,
            _ => return None,
        })
    }
}

/// What a call calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function of the module, defined here or elsewhere.
    Direct(FuncId),
    /// A pointer to a function type.
    Indirect(Box<Expr>),
}

/// One launch dimension argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// Unsigned 32-bit x, y, z.
    Xyz(Box<[Expr; 3]>),
    /// A value of a record type with three unsigned 32-bit fields (`dim3`).
    Record(Box<Expr>),
}

/// `kernel<<<grid, block, shared_bytes, stream>>>(args)`.
///
/// Order, as in nvcc (FACTS.md): configuration, buffer, NULL test, then arguments, stores, launch.
/// With a NULL buffer the arguments are not evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// A kernel of the module, or a pointer to one.
    pub kernel: Callee,
    /// The kernel's parameter types, which `args` have exactly.
    pub params: Vec<TypeId>,
    /// Blocks.
    pub grid: Dim,
    /// Threads of a block.
    pub block: Dim,
    /// An unsigned integer of 32 bits (device) or of the address size (host).
    pub shared_bytes: Expr,
    /// A pointer.
    pub stream: Expr,
    /// One value a parameter, converted to the parameter's type.
    pub args: Vec<Expr>,
    /// What the program says of it beside CUDA; changes no meaning.
    pub hints: LaunchHints,
}

/// What `#pragma cdp` says of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchHints {
    /// Children that different threads launch here may overlap, whatever the stream says.
    pub independent: bool,
    /// Launched as it stands.
    pub keep: bool,
    /// The most threads of a child that is run without a launch.
    pub threshold: Option<u32>,
    /// Whose launches are to be made together.
    pub aggregate: Option<Aggregate>,
    /// Blocks of children whose work a block does, where launches are made together.
    pub coarsen: Option<u32>,
}

/// Whose launches become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// A warp's.
    Warp,
    /// A block's.
    Block,
    /// A whole grid's.
    Grid,
}

impl Aggregate {
    /// All of them, the smallest first.
    pub const ALL: [Aggregate; 3] = [Aggregate::Warp, Aggregate::Block, Aggregate::Grid];

    /// As the pragma spells it.
    pub fn word(self) -> &'static str {
        match self {
            Aggregate::Warp => "warp",
            Aggregate::Block => "block",
            Aggregate::Grid => "grid",
        }
    }

    /// The one that is spelt so.
    pub fn from_word(word: &str) -> Option<Aggregate> {
        Aggregate::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl LaunchHints {
    /// One word a hint, as the pragma spells them but for `=`.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.independent.then(|| "independent".to_string()));
        words.extend(self.keep.then(|| "keep".to_string()));
        words.extend(self.threshold.map(|threads| format!("threshold={threads}")));
        words.extend(self.aggregate.map(|kind| format!("aggregate={}", kind.word())));
        words.extend(self.coarsen.map(|blocks| format!("coarsen={blocks}")));
        words
    }
}

/// Which value of the object an [`ExprKind::Update`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateYield {
    /// The value before (`x++`).
    Before,
    /// The value after (`x += 1`, `++x`).
    After,
}

/// Inline PTX (or host assembly).
#[derive(Clone, Debug, PartialEq)]
pub struct InlineAsm {
    /// The template as the user wrote it, with `%0`, `%%`.
    pub template: String,
    /// Written when the assembly is over, in this order; they are numbered first.
    pub outputs: Vec<AsmOutput>,
    /// Evaluated before the assembly, numbered after the outputs.
    pub inputs: Vec<AsmOperand>,
    /// Registers that the text changes, or `memory`; without the `%`.
    pub clobbers: Vec<String>,
    /// Kept where it stands even if no output is used.
    pub volatile: bool,
}

/// Where a result of inline assembly goes.
#[derive(Clone, Debug, PartialEq)]
pub struct AsmOutput {
    /// The constraint without `=` or `+` ("r").
    pub constraint: String,
    /// Where the result goes.
    pub addr: Expr,
    /// `+`: the old value is an input too.
    pub read_write: bool,
}

/// A value that inline assembly reads.
#[derive(Clone, Debug, PartialEq)]
pub struct AsmOperand {
    /// The letter ("r", "n"), or an output's number for the same register.
    pub constraint: String,
    /// Evaluated once, before the assembly.
    pub value: Expr,
}

/// What an expression does. Operands come in the order of evaluation unless the module's header
/// says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant, at the expression's type.
    Const(Const),
    /// Address of a parameter or local.
    LocalAddr(LocalId),
    /// Generic address of a variable.
    GlobalAddr(GlobalId),
    /// Generic address of a function.
    FunctionAddr(FuncId),
    /// Reads the value at an address. Records and arrays may be loaded whole.
    Load {
        /// Where; its pointee type is the one that is read.
        addr: Box<Expr>,
        /// Each evaluation is one access, in program order with other volatile ones.
        volatile: bool,
    },
    /// Writes `value` to `addr`: the value is evaluated first, then the address. Type `Void`. An
    /// aggregate that is a `Load` is read last, after the address, as C++'s class assignment, which
    /// takes it by reference, reads it.
    Store {
        /// Where; its pointee type is the value's.
        addr: Box<Expr>,
        /// What is written.
        value: Box<Expr>,
        /// Each evaluation is one access, in program order with other volatile ones.
        volatile: bool,
    },
    /// Address of a field that is no bit-field.
    FieldAddr {
        /// A pointer to the record.
        base: Box<Expr>,
        /// Index into the record's fields.
        field: u32,
    },
    /// Reads a bit-field of the record at `base`; the type is the field's.
    LoadBits {
        /// A pointer to the record.
        base: Box<Expr>,
        /// Index into the record's fields, of one with a [`crate::BitRange`].
        field: u32,
        /// The storage unit is read in one access.
        volatile: bool,
    },
    /// Writes a bit-field, the value evaluated before `base`; yields the stored value, read back
    /// (truncated, sign-extended).
    StoreBits {
        /// A pointer to the record.
        base: Box<Expr>,
        /// Index into the record's fields, of one with a [`crate::BitRange`].
        field: u32,
        /// Of the field's type; bits above its width are dropped.
        value: Box<Expr>,
        /// The storage unit is read and written in one access each.
        volatile: bool,
    },
    /// `base + index * size of the pointee`. The index is an integer of the address size, signed.
    IndexAddr {
        /// A pointer; the result has its type.
        base: Box<Expr>,
        /// Counts elements, and may be negative.
        index: Box<Expr>,
    },
    /// `(lhs - rhs) / size of the pointee`: a signed integer of the address size.
    PointerDiff {
        /// A pointer into the same array as `rhs`.
        lhs: Box<Expr>,
        /// A pointer of the type of `lhs`.
        rhs: Box<Expr>,
    },
    /// A field of a record value (no bit-field).
    Extract {
        /// The record value.
        record: Box<Expr>,
        /// Index into the record's fields.
        field: u32,
    },
    /// A record value from the given fields (ascending); the rest is zero.
    MakeRecord(Vec<(u32, Expr)>),
    /// An operation on one value.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// Of the result's type.
        operand: Box<Expr>,
    },
    /// An operation on two values.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// Of the result's type.
        lhs: Box<Expr>,
        /// Of the result's type; for a shift any integer.
        rhs: Box<Expr>,
    },
    /// A comparison of two values of one type.
    Compare {
        /// The relation.
        op: CompareOp,
        /// The left operand, which decides how the relation is meant.
        lhs: Box<Expr>,
        /// Of the type of `lhs`.
        rhs: Box<Expr>,
    },
    /// Short-circuit `&&` (or `||`) of two `Bool`s.
    Logical {
        /// `&&` and not `||`.
        and: bool,
        /// Always evaluated.
        lhs: Box<Expr>,
        /// Evaluated if `lhs` has not decided.
        rhs: Box<Expr>,
    },
    /// `?:`; only the chosen operand is evaluated.
    Select {
        /// A `Bool`.
        cond: Box<Expr>,
        /// The value if the condition is true; of the whole's type.
        then: Box<Expr>,
        /// The value if it is false; of the whole's type.
        otherwise: Box<Expr>,
    },
    /// A conversion from the operand's type to the expression's.
    Cast {
        /// How.
        kind: CastKind,
        /// What is converted.
        operand: Box<Expr>,
    },
    /// Evaluates the effects in order, then yields `value`.
    Sequence {
        /// Evaluated first; what they yield is dropped.
        effects: Vec<Expr>,
        /// What the whole yields, evaluated last.
        value: Box<Expr>,
    },
    /// `*addr = (T)((U)*addr op rhs)` with the address evaluated once: `compute` is U (C's usual
    /// arithmetic conversions), `ty` of the whole is T, the type at `addr`. For a pointer T the op
    /// is `Add` or `Sub` and `rhs` an element count of the address size. The order is `rhs`, `addr`,
    /// read, write.
    Update {
        /// Where the object is.
        addr: Box<Expr>,
        /// The operation on the old value and `rhs`.
        op: BinaryOp,
        /// The right operand, of type `compute` (a count for pointers, an integer for shifts).
        rhs: Box<Expr>,
        /// The type of the operation; `ty` for a pointer.
        compute: TypeId,
        /// The old value or the new one.
        yields: UpdateYield,
        /// One read and one write, each an access.
        volatile: bool,
    },
    /// Arguments are evaluated left to right.
    Call {
        /// What is called.
        callee: Callee,
        /// The parameters' types exactly; more only for a variadic callee.
        args: Vec<Expr>,
    },
    /// An operation of the hardware or of the compiler, by name.
    Intrinsic {
        /// Which; its variant says the arguments.
        op: Intrinsic,
        /// In the order that the variant names them.
        args: Vec<Expr>,
    },
    /// A call of the device runtime, whose symbol the launch ABI chooses.
    RuntimeCall {
        /// The function; its row has the prototype.
        func: RuntimeFn,
        /// Of the prototype's types.
        args: Vec<Expr>,
    },
    /// Device `printf`: `args[0]` is the format; the rest have had C's default promotions. Yields a
    /// signed 32-bit count as CUDA's does. On the host `printf` is an ordinary variadic call.
    Printf {
        /// The format, then what it formats.
        args: Vec<Expr>,
    },
    /// Type `Void`.
    Launch(Box<Launch>),
    /// Type `Void`.
    Asm(Box<InlineAsm>),
}
