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
use crate::types::TypeId;

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: TypeId,
    pub loc: Loc,
}

impl Expr {
    pub fn new(kind: ExprKind, ty: TypeId, loc: Loc) -> Self {
        Expr { kind, ty, loc }
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
        global: GlobalId,
        offset: i64,
    },
    FunctionAddr(FuncId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// Two's complement for integers, sign flip for floats.
    Neg,
    BitNot,
    /// `Bool` to `Bool`.
    Not,
}

/// Operands and result have one type, but for shifts, whose right operand may be any integer.
/// Signedness and floatness come from the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Operands have one type (integer, float or pointer); the result is `Bool`. Floats compare
/// ordered, except `Ne`, which is unordered, as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

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
    PointerToInt,
    IntToPointer,
    /// Between pointers: no code.
    PointerToPointer,
    /// Same size, same bits (`__float_as_int`).
    Bitcast,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
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
    pub kernel: Callee,
    /// The kernel's parameter types, which `args` have exactly.
    pub params: Vec<TypeId>,
    pub grid: Dim,
    pub block: Dim,
    /// An unsigned integer of 32 bits (device) or of the address size (host).
    pub shared_bytes: Expr,
    /// A pointer.
    pub stream: Expr,
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
}

impl LaunchHints {
    /// One word a hint, as the pragma spells them but for `=`.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.independent.then(|| "independent".to_string()));
        words.extend(self.keep.then(|| "keep".to_string()));
        words.extend(self.threshold.map(|threads| format!("threshold={threads}")));
        words
    }
}

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
    pub outputs: Vec<AsmOutput>,
    pub inputs: Vec<AsmOperand>,
    pub clobbers: Vec<String>,
    pub volatile: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AsmOutput {
    /// The constraint without `=` or `+` ("r").
    pub constraint: String,
    /// Where the result goes.
    pub addr: Expr,
    /// `+`: the old value is an input too.
    pub read_write: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AsmOperand {
    pub constraint: String,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Const(Const),
    /// Address of a parameter or local.
    LocalAddr(LocalId),
    /// Generic address of a variable.
    GlobalAddr(GlobalId),
    FunctionAddr(FuncId),
    /// Reads the value at an address. Records and arrays may be loaded whole.
    Load {
        addr: Box<Expr>,
        volatile: bool,
    },
    /// Writes `value` to `addr`: the value is evaluated first, then the address. Type `Void`. An
    /// aggregate that is a `Load` is read last, after the address, as C++'s class assignment, which
    /// takes it by reference, reads it.
    Store {
        addr: Box<Expr>,
        value: Box<Expr>,
        volatile: bool,
    },
    /// Address of a field that is no bit-field.
    FieldAddr {
        base: Box<Expr>,
        field: u32,
    },
    /// Reads a bit-field of the record at `base`; the type is the field's.
    LoadBits {
        base: Box<Expr>,
        field: u32,
        volatile: bool,
    },
    /// Writes a bit-field, the value evaluated before `base`; yields the stored value, read back
    /// (truncated, sign-extended).
    StoreBits {
        base: Box<Expr>,
        field: u32,
        value: Box<Expr>,
        volatile: bool,
    },
    /// `base + index * size of the pointee`. The index is an integer of the address size, signed.
    IndexAddr {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `(lhs - rhs) / size of the pointee`: a signed integer of the address size.
    PointerDiff {
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// A field of a record value (no bit-field).
    Extract {
        record: Box<Expr>,
        field: u32,
    },
    /// A record value from the given fields (ascending); the rest is zero.
    MakeRecord(Vec<(u32, Expr)>),
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    Compare {
        op: CompareOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// Short-circuit `&&` (or `||`) of two `Bool`s.
    Logical {
        and: bool,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `?:`; only the chosen operand is evaluated.
    Select {
        cond: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Cast {
        kind: CastKind,
        operand: Box<Expr>,
    },
    /// Evaluates the effects in order, then yields `value`.
    Sequence {
        effects: Vec<Expr>,
        value: Box<Expr>,
    },
    /// `*addr = (T)((U)*addr op rhs)` with the address evaluated once: `compute` is U (C's usual
    /// arithmetic conversions), `ty` of the whole is T, the type at `addr`. For a pointer T the op
    /// is `Add` or `Sub` and `rhs` an element count of the address size. The order is `rhs`, `addr`,
    /// read, write.
    Update {
        addr: Box<Expr>,
        op: BinaryOp,
        rhs: Box<Expr>,
        compute: TypeId,
        yields: UpdateYield,
        volatile: bool,
    },
    /// Arguments are evaluated left to right.
    Call {
        callee: Callee,
        args: Vec<Expr>,
    },
    Intrinsic {
        op: Intrinsic,
        args: Vec<Expr>,
    },
    /// A call of the device runtime, whose symbol the launch ABI chooses.
    RuntimeCall {
        func: RuntimeFn,
        args: Vec<Expr>,
    },
    /// Device `printf`: `args[0]` is the format; the rest have had C's default promotions. Yields a
    /// signed 32-bit count as CUDA's does. On the host `printf` is an ordinary variadic call.
    Printf {
        args: Vec<Expr>,
    },
    /// Type `Void`.
    Launch(Box<Launch>),
    /// Type `Void`.
    Asm(Box<InlineAsm>),
}
