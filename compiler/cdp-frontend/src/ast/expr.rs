//! Expressions, initialiser lists and literals.

use std::fmt;

use super::*;
use crate::source::Span;

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// One more than the deepest expression directly inside; see [`MAX_DEPTH`].
    pub depth: u32,
}

/// Small, because a program of a million operations has two million of them: a leaf is here, an operation
/// is in one box with its operands.
#[derive(Debug)]
pub enum ExprKind {
    /// Refused or unparsable; already reported.
    Error,
    Int(IntLit),
    Float(FloatLit),
    Char(CharLit),
    String(Box<StringLit>),
    Bool(bool),
    Nullptr,
    /// A plain name, whose span is the expression's.
    Name(Symbol),
    /// Any other name: `a::b`, `::a`, `operator+`.
    Qualified(Box<QualName>),
    /// `tex2D<float4>`: a function template of CUDA's headers with its types written.
    TemplateName(Box<TemplateName>),
    Paren(Box<Expr>),
    Unary(Box<UnaryExpr>),
    Postfix(Box<PostfixExpr>),
    Binary(Box<BinaryExpr>),
    Assign(Box<AssignExpr>),
    /// `a, b`
    Comma(Box<[Expr; 2]>),
    Conditional(Box<ConditionalExpr>),
    Call(Box<CallExpr>),
    /// A launch site.
    Launch(Box<LaunchExpr>),
    /// `base[index]`
    Index(Box<[Expr; 2]>),
    Member(Box<MemberExpr>),
    Cast(Box<CastExpr>),
    Construct(Box<ConstructExpr>),
    /// GNU `(T){ ... }`
    CompoundLiteral(Box<CompoundLiteral>),
    SizeofExpr(Box<Expr>),
    SizeofType(Box<TypeName>),
    AlignofExpr(Box<Expr>),
    AlignofType(Box<TypeName>),
    /// `offsetof(type, a.b[2])`; the first designator is a field.
    Offsetof(Box<OffsetofExpr>),
    /// `__builtin_va_arg(list, type)`, as `va_arg` of `<stdarg.h>` expands to.
    VaArg(Box<VaArgExpr>),
    New(Box<NewExpr>),
    /// `delete p`, and `delete[] p` when `array`.
    Delete {
        array: bool,
        operand: Box<Expr>,
    },
    /// `{ ... }` as the right side of `=`, an argument, a `return` value or a nested initialiser.
    InitList(Box<InitList>),
}

const _: () = assert!(size_of::<Expr>() == 32);

impl Expr {
    /// The name that the expression is.
    pub fn as_name(&self) -> Option<QualName> {
        match &self.kind {
            ExprKind::Name(name) => Some(QualName::plain(Ident { name: *name, span: self.span })),
            ExprKind::Qualified(name) => Some((**name).clone()),
            _ => None,
        }
    }
}

/// `-x`
#[derive(Debug)]
pub struct UnaryExpr {
    pub op: UnaryOp,
    pub op_span: Span,
    pub operand: Expr,
}

/// `x++`, `x--`
#[derive(Debug)]
pub struct PostfixExpr {
    pub op: PostfixOp,
    pub op_span: Span,
    pub operand: Expr,
}

/// `lhs op rhs`
#[derive(Debug)]
pub struct BinaryExpr {
    pub op: BinaryOp,
    pub op_span: Span,
    pub lhs: Expr,
    pub rhs: Expr,
}

/// `lhs = rhs`, and `lhs op= rhs` with `op`. The right side may be an init list.
#[derive(Debug)]
pub struct AssignExpr {
    pub op: Option<BinaryOp>,
    pub op_span: Span,
    pub lhs: Expr,
    pub rhs: Expr,
}

/// `condition ? then : otherwise`
#[derive(Debug)]
pub struct ConditionalExpr {
    pub condition: Expr,
    pub question_span: Span,
    /// `None` in GNU's `a ?: b`, which is `a ? a : b` with `a` evaluated once.
    pub then: Option<Expr>,
    pub otherwise: Expr,
}

/// `callee(args)`
#[derive(Debug)]
pub struct CallExpr {
    pub callee: Expr,
    pub args: Vec<Expr>,
    /// The parentheses and what is between them.
    pub args_span: Span,
}

/// `base.member`, or `base->member` when `arrow`.
#[derive(Debug)]
pub struct MemberExpr {
    pub base: Expr,
    pub arrow: bool,
    pub op_span: Span,
    pub member: Ident,
}

/// `(T)x` and the named casts.
#[derive(Debug)]
pub struct CastExpr {
    pub style: CastStyle,
    pub ty: TypeName,
    pub operand: Expr,
}

/// `float(x)`, `dim3(1, 2)`, and `T{...}` when `braces`; then `args` is the one init list.
#[derive(Debug)]
pub struct ConstructExpr {
    pub ty: TypeName,
    pub args: Vec<Expr>,
    pub braces: bool,
    pub args_span: Span,
}

/// GNU `(T){ ... }`
#[derive(Debug)]
pub struct CompoundLiteral {
    pub ty: TypeName,
    pub init: InitList,
}

/// `offsetof(type, path)`
#[derive(Debug)]
pub struct OffsetofExpr {
    pub ty: TypeName,
    pub path: Vec<Designator>,
}

/// `__builtin_va_arg(list, type)`
#[derive(Debug)]
pub struct VaArgExpr {
    pub list: Expr,
    pub ty: TypeName,
}

/// A function template with its types written.
#[derive(Debug)]
pub struct TemplateName {
    pub name: QualName,
    pub types: Vec<TypeName>,
}

/// `kernel<<<grid, block, shared_bytes, stream>>>(args)`
#[derive(Debug)]
pub struct LaunchExpr {
    /// The kernel: a name, or any expression that yields a pointer to a kernel.
    pub kernel: Expr,
    /// Grid, block, dynamic shared memory in bytes, stream, in this order. The grammar takes any
    /// number; two to four are right.
    pub config: Vec<Expr>,
    /// From `<<<` to `>>>`.
    pub config_span: Span,
    pub args: Vec<Expr>,
    /// The parentheses and what is between them.
    pub args_span: Span,
}

/// `new (placement) T[n]{...}`
#[derive(Debug)]
pub struct NewExpr {
    pub placement: Vec<Expr>,
    /// An array bound is an [`DeclaratorPart::Array`] of the type, innermost first.
    pub ty: TypeName,
    /// `(args)`, possibly empty, or `{...}`.
    pub init: Option<Initializer>,
}

/// `{ items }`
#[derive(Debug)]
pub struct InitList {
    pub items: Vec<InitItem>,
    pub span: Span,
}

/// One element of an initialiser list.
#[derive(Debug)]
pub struct InitItem {
    /// `.field`, `[index]`, possibly several; none for a positional element.
    pub path: Option<Box<Designation>>,
    pub value: Expr,
}

impl InitItem {
    /// The designators.
    pub fn designators(&self) -> &[Designator] {
        self.path.as_ref().map_or(&[], |path| &path.designators)
    }
}

/// Where an element of a list goes.
#[derive(Debug)]
pub struct Designation {
    pub designators: Vec<Designator>,
}

#[derive(Debug)]
pub enum Designator {
    Field(Ident),
    Index(Expr),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PostfixOp {
    Inc,
    Dec,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CastStyle {
    /// `(T)x`
    C,
    Static,
    Reinterpret,
    Const,
}

/// An integer literal. Literals are packed so that [`ExprKind`] has room for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed(4))]
pub struct IntLit {
    /// The value; one that passes 64 bits has been refused.
    pub value: u64,
    /// Written in another base than ten, so that an unsigned type may be chosen (C++ [lex.icon]).
    pub based: bool,
    pub unsigned: bool,
    pub size: IntSuffix,
}

/// The size part of an integer suffix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntSuffix {
    None,
    Long,
    LongLong,
    /// `z`, the C++23 suffix for `size_t`.
    Size,
}

/// A floating literal.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(Rust, packed(4))]
pub struct FloatLit {
    /// The value rounded to the literal's own type: to `float` for an `f` suffix.
    pub value: f64,
    pub suffix: FloatSuffix,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatSuffix {
    None,
    F,
    L,
}

/// The prefix of a character constant or string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// None: `char`.
    Plain,
    /// `u8`
    Utf8,
    /// `u`: `char16_t`
    Utf16,
    /// `U`: `char32_t`
    Utf32,
    /// `L`: `wchar_t`
    Wide,
}

/// A character constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed(4))]
pub struct CharLit {
    /// The value as the literal's type has it: plain `char` is signed.
    pub value: i64,
    pub encoding: Encoding,
    /// `'ab'`, of type `int`.
    pub multi: bool,
}

/// A string literal, adjacent pieces joined.
#[derive(Clone, PartialEq, Eq)]
pub struct StringLit {
    pub encoding: Encoding,
    /// Code units without the terminating zero: bytes for `Plain` and `Utf8`, otherwise UTF-16 or
    /// UTF-32 units.
    pub units: Vec<u32>,
    pub span: Span,
}

impl StringLit {
    /// The bytes of a `Plain` or `Utf8` literal (other units truncated).
    pub fn bytes(&self) -> Vec<u8> {
        self.units.iter().map(|&unit| unit as u8).collect()
    }

    /// The text, replacing what is not UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl fmt::Debug for StringLit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_text().fmt(f)
    }
}

impl ExprKind {
    /// The deepest expression directly inside.
    pub fn depth(&self) -> u32 {
        let list = |exprs: &[Expr]| exprs.iter().map(|expr| expr.depth).max().unwrap_or(0);
        let items =
            |init: &InitList| init.items.iter().map(|item| item.value.depth).max().unwrap_or(0);
        match self {
            ExprKind::Paren(inner) | ExprKind::SizeofExpr(inner) | ExprKind::AlignofExpr(inner) => {
                inner.depth
            }
            ExprKind::Unary(unary) => unary.operand.depth,
            ExprKind::Postfix(postfix) => postfix.operand.depth,
            ExprKind::Cast(cast) => cast.operand.depth,
            ExprKind::Delete { operand, .. } => operand.depth,
            ExprKind::Binary(binary) => binary.lhs.depth.max(binary.rhs.depth),
            ExprKind::Assign(assign) => assign.lhs.depth.max(assign.rhs.depth),
            ExprKind::Comma(parts) | ExprKind::Index(parts) => list(&**parts),
            ExprKind::Conditional(whole) => {
                let then = whole.then.as_ref().map_or(0, |then| then.depth);
                whole.condition.depth.max(then).max(whole.otherwise.depth)
            }
            ExprKind::Call(call) => call.callee.depth.max(list(&call.args)),
            ExprKind::Launch(launch) => {
                launch.kernel.depth.max(list(&launch.config)).max(list(&launch.args))
            }
            ExprKind::Member(access) => access.base.depth,
            ExprKind::VaArg(arg) => arg.list.depth,
            ExprKind::Construct(made) => list(&made.args),
            ExprKind::New(parts) => list(&parts.placement),
            ExprKind::InitList(init) => items(init),
            ExprKind::CompoundLiteral(literal) => items(&literal.init),
            _ => 0,
        }
    }
}
