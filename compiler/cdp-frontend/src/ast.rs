//! The syntax tree of a translation unit, after preprocessing: what the user wrote, not what it
//! means. Names are not resolved, types are not computed, and constants are not folded here; the
//! checker (`check`) does that.
//!
//! Reading order: files and declarations, types and declarators, statements, expressions.
//! Every node carries the span of its text; operators and punctuation that a diagnostic may want
//! to point at carry their own.
//!
//! `Error` variants stand where something was refused or could not be parsed. A diagnostic has
//! been given for each; later stages stay silent about them.
//!
//! Depth: the parser refuses programs whose [`Expr::depth`] or [`Stmt::depth`] would pass
//! [`MAX_DEPTH`], so a recursive walk of any tree is safe on a 64 MB stack.

use crate::intern::Symbol;
use crate::source::Span;

/// The deepest nesting of expressions in expressions, and of statements in statements, that the
/// parser lets through. Brackets of all kinds nest at most 256 deep.
pub const MAX_DEPTH: u32 = 4096;

/// A whole translation unit.
#[derive(Debug, Default)]
pub struct TranslationUnit {
    /// External declarations in order.
    pub decls: Vec<Decl>,
}

/// A name as written once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    pub name: Symbol,
    pub span: Span,
}

/// A possibly qualified name: `x`, `ns::x`, `::ns::x`, `Color::Red`, `operator+`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QualName {
    /// Starts with `::`.
    pub global: bool,
    /// The names before each `::`, outermost first: namespaces, or at the end a scoped enum.
    pub scopes: Vec<Ident>,
    /// The name itself; for an operator function the symbol is `operator+` and so on, as spelled
    /// by [`OverloadedOp::symbol`].
    pub base: Ident,
    /// Set for an operator function's name.
    pub operator: Option<OverloadedOp>,
    pub span: Span,
}

impl QualName {
    /// The symbol when the name is a single unqualified identifier.
    pub fn as_plain(&self) -> Option<Symbol> {
        (!self.global && self.scopes.is_empty()).then_some(self.base.name)
    }
}

// ---------------------------------------------------------------------------------------------
// Declarations
// ---------------------------------------------------------------------------------------------

/// A declaration: at file scope, in a namespace, as a statement, or as a member of a record.
#[derive(Debug)]
pub struct Decl {
    pub kind: DeclKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum DeclKind {
    /// A lone `;`.
    Empty,
    /// Refused or unparsable; already reported.
    Error,
    /// A function with its body.
    Function(Box<FunctionDef>),
    /// Everything of the form `specifiers declarator, declarator;`: variables, function
    /// prototypes, typedefs, record members, and (with no declarator) records, enums and anonymous
    /// members.
    Simple(Box<SimpleDecl>),
    /// `using Name = type;`
    Alias(Box<AliasDecl>),
    /// `using ns::name;`
    UsingName(QualName),
    /// `using namespace ns;`
    UsingNamespace(QualName),
    /// `namespace a::b { ... }`
    Namespace(NamespaceDecl),
    /// `namespace short = long::name;`
    NamespaceAlias { name: Ident, target: QualName },
    /// `extern "C" { ... }` and `extern "C" declaration`.
    Linkage(LinkageDecl),
    /// `static_assert(condition, "message");`
    StaticAssert { condition: Expr, message: Option<StringLit> },
    /// `#pragma cdp ...` outside any function.
    Pragma(Pragma),
}

/// A function definition.
#[derive(Debug)]
pub struct FunctionDef {
    pub specs: DeclSpecs,
    /// Its innermost part is a [`DeclaratorPart::Function`].
    pub declarator: Declarator,
    pub body: Block,
}

/// `specifiers declarators;`
#[derive(Debug)]
pub struct SimpleDecl {
    pub specs: DeclSpecs,
    /// Empty for `struct S { ... };`, `enum E {...};` and anonymous members.
    pub declarators: Vec<InitDeclarator>,
}

/// One declarator with its initialiser.
#[derive(Debug)]
pub struct InitDeclarator {
    /// Abstract only for an unnamed bit-field.
    pub declarator: Declarator,
    /// `: width`, in records only.
    pub bit_width: Option<Expr>,
    pub init: Option<Initializer>,
    pub span: Span,
}

/// An initialiser.
#[derive(Debug)]
pub struct Initializer {
    pub kind: InitializerKind,
    /// From `=`, `{` or `(` to the end.
    pub span: Span,
}

#[derive(Debug)]
pub enum InitializerKind {
    /// `= expression`; the expression may be an [`ExprKind::InitList`].
    Assign(Expr),
    /// `{ ... }` without `=`.
    Brace(InitList),
    /// `( ... )`: constructor arguments, as in `dim3 grid(1, 2);`. Never empty.
    Paren(Vec<Expr>),
}

/// `using name = type;`
#[derive(Debug)]
pub struct AliasDecl {
    pub name: Ident,
    pub attrs: Vec<Attr>,
    pub ty: TypeName,
}

/// `namespace a::b { ... }`; an anonymous namespace has no names.
#[derive(Debug)]
pub struct NamespaceDecl {
    pub inline: bool,
    pub names: Vec<Ident>,
    pub decls: Vec<Decl>,
}

/// `extern "C"`.
#[derive(Debug)]
pub struct LinkageDecl {
    pub language: StringLit,
    pub decls: Vec<Decl>,
    /// False for `extern "C" declaration`, which counts as if declared `extern`.
    pub braces: bool,
}

/// A pragma this compiler acts on. Others are dropped by the parser.
#[derive(Debug)]
pub struct Pragma {
    pub kind: PragmaKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum PragmaKind {
    /// `#pragma unroll`, `#pragma unroll N`, `#pragma unroll(N)`, before a loop.
    Unroll(Option<Expr>),
    /// `#pragma nounroll`, before a loop.
    NoUnroll,
    /// `#pragma cdp ...`: the text after `cdp`, one space between tokens.
    Cdp(Symbol),
}

// ---------------------------------------------------------------------------------------------
// Types and declarators
// ---------------------------------------------------------------------------------------------

/// Declaration specifiers: everything before the declarators.
#[derive(Debug)]
pub struct DeclSpecs {
    /// `static`, `extern`, `typedef`, `inline`, `constexpr`, ..., in order.
    pub storage: Vec<Storage>,
    /// Qualifiers of the type itself.
    pub quals: Qualifiers,
    pub ty: TypeSpec,
    /// Execution spaces, memory spaces, alignment, launch bounds, `__attribute__`, in order.
    pub attrs: Vec<Attr>,
    pub span: Span,
}

impl DeclSpecs {
    /// True if a storage word is there.
    pub fn has(&self, kind: StorageKind) -> bool {
        self.storage.iter().any(|storage| storage.kind == kind)
    }

    /// The span of a storage word, if it is there.
    pub fn storage_span(&self, kind: StorageKind) -> Option<Span> {
        self.storage.iter().find(|storage| storage.kind == kind).map(|storage| storage.span)
    }
}

/// A storage class or function specifier.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    pub kind: StorageKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StorageKind {
    Typedef,
    Extern,
    Static,
    Register,
    ThreadLocal,
    Inline,
    Constexpr,
    /// `mutable`, on a record member.
    Mutable,
}

/// `const`, `volatile` and `__restrict__`, each with the place it was written.
#[derive(Clone, Copy, Default, Debug)]
pub struct Qualifiers {
    pub const_: Option<Span>,
    pub volatile: Option<Span>,
    pub restrict: Option<Span>,
}

impl Qualifiers {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.const_.is_none() && self.volatile.is_none() && self.restrict.is_none()
    }
}

/// A type specifier.
#[derive(Debug)]
pub struct TypeSpec {
    pub kind: TypeSpecKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum TypeSpecKind {
    /// Refused or unparsable; already reported.
    Error,
    Builtin(BuiltinType),
    /// `auto`.
    Auto,
    /// A typedef, alias, or a record or enum named without its keyword.
    Named(QualName),
    /// `struct`, `union` or `class`.
    Record(Box<RecordSpec>),
    Enum(Box<EnumSpec>),
    /// `decltype(expr)`, `__typeof__(expr)`.
    TypeofExpr(Box<Expr>),
    /// `__typeof__(type)`.
    TypeofType(Box<TypeName>),
}

/// The arithmetic types and `void`, after folding `unsigned long int` and the like.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BuiltinType {
    Void,
    Bool,
    /// Plain `char`, a type of its own.
    Char,
    SChar,
    UChar,
    WChar,
    Char8,
    Char16,
    Char32,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
    Float,
    Double,
    LongDouble,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordKind {
    Struct,
    Union,
    /// `class`, which the parser lets through only without access specifiers.
    Class,
}

/// `struct Tag { members }`, `struct Tag`, `union { members }`.
#[derive(Debug)]
pub struct RecordSpec {
    pub kind: RecordKind,
    /// The keyword.
    pub keyword_span: Span,
    pub attrs: Vec<Attr>,
    pub tag: Option<QualName>,
    /// `None` when the record is only named.
    pub members: Option<Vec<Decl>>,
}

/// `enum E : type { A, B = 2 }`, `enum class E`.
#[derive(Debug)]
pub struct EnumSpec {
    pub keyword_span: Span,
    /// `enum class` or `enum struct`.
    pub scoped: bool,
    pub attrs: Vec<Attr>,
    pub tag: Option<QualName>,
    /// The underlying type after `:`.
    pub underlying: Option<TypeName>,
    /// `None` when the enum is only named.
    pub enumerators: Option<Vec<Enumerator>>,
}

#[derive(Debug)]
pub struct Enumerator {
    pub name: Ident,
    pub value: Option<Expr>,
}

/// A declarator, flattened: [`parts`](Self::parts) reads outwards from the name, so the declared
/// type is built by applying the parts to the specifiers' type from the last to the first.
///
/// `int *(*f[3])(float)` has the parts array of 3, pointer, function of (float), pointer.
#[derive(Debug)]
pub struct Declarator {
    /// `None` for an abstract declarator.
    pub name: Option<QualName>,
    pub parts: Vec<DeclaratorPart>,
    /// Attributes written among or after the declarator.
    pub attrs: Vec<Attr>,
    /// The whole declarator; empty for an abstract one without parts.
    pub span: Span,
}

#[derive(Debug)]
pub enum DeclaratorPart {
    Pointer {
        quals: Qualifiers,
        span: Span,
    },
    /// `&`, or `&&` when `rvalue`.
    Reference {
        rvalue: bool,
        quals: Qualifiers,
        span: Span,
    },
    Array {
        size: Option<Expr>,
        span: Span,
    },
    Function(FunctionPart),
}

impl DeclaratorPart {
    /// The part's own text: `*const`, `[3]`, `(int a)`.
    pub fn span(&self) -> Span {
        match self {
            DeclaratorPart::Pointer { span, .. }
            | DeclaratorPart::Reference { span, .. }
            | DeclaratorPart::Array { span, .. } => *span,
            DeclaratorPart::Function(part) => part.span,
        }
    }
}

/// The parameter list of a function declarator.
#[derive(Debug)]
pub struct FunctionPart {
    /// `(void)` gives an empty list.
    pub params: Vec<Param>,
    /// The `...`.
    pub variadic: Option<Span>,
    /// `noexcept` or `throw()`.
    pub noexcept: Option<Span>,
    /// `-> type` after the list; the specifiers' type is then `auto`.
    pub trailing_return: Option<Box<TypeName>>,
    /// The parentheses and what is between them.
    pub span: Span,
}

#[derive(Debug)]
pub struct Param {
    pub specs: DeclSpecs,
    pub declarator: Declarator,
    /// The default argument.
    pub default: Option<Expr>,
    pub span: Span,
}

/// A type by itself, as in a cast.
#[derive(Debug)]
pub struct TypeName {
    pub specs: DeclSpecs,
    /// Abstract.
    pub declarator: Declarator,
    pub span: Span,
}

/// An attribute or CUDA specifier.
#[derive(Debug)]
pub struct Attr {
    pub kind: AttrKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum AttrKind {
    Global,
    Device,
    Host,
    Constant,
    Shared,
    Managed,
    GridConstant,
    ForceInline,
    NoInline,
    /// `__launch_bounds__(threads, blocks, cluster)`: one to three arguments.
    LaunchBounds(Vec<Expr>),
    /// `__maxnreg__(n)`
    MaxNReg(Vec<Expr>),
    /// `__block_size__(dim3, dim3)`
    BlockSize(Vec<Expr>),
    /// `__cluster_dims__(x, y, z)`
    ClusterDims(Vec<Expr>),
    /// `__align__(n)`, `alignas(n)`, `__attribute__((aligned(n)))`; without an argument only in the
    /// last form.
    Align(Option<Expr>),
    /// `alignas(type)`
    AlignType(Box<TypeName>),
    /// `__attribute__((name(args)))` and `__declspec(name(args))`, names without their underscores.
    Gnu {
        name: Ident,
        args: Vec<Expr>,
    },
    /// `[[ns::name(...)]]`; arguments are not kept.
    Std {
        scope: Option<Ident>,
        name: Ident,
    },
}

/// The operators a free function can overload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OverloadedOp {
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Amp,
    Pipe,
    Tilde,
    Not,
    Assign,
    Lt,
    Gt,
    PlusAssign,
    MinusAssign,
    StarAssign,
    SlashAssign,
    PercentAssign,
    CaretAssign,
    AmpAssign,
    PipeAssign,
    Shl,
    Shr,
    ShlAssign,
    ShrAssign,
    EqEq,
    NotEq,
    Le,
    Ge,
    AndAnd,
    OrOr,
    PlusPlus,
    MinusMinus,
    Comma,
    Arrow,
    ArrowStar,
    Call,
    Index,
    New,
    Delete,
}

// ---------------------------------------------------------------------------------------------
// Statements
// ---------------------------------------------------------------------------------------------

/// A statement with the labels and pragmas in front of it.
#[derive(Debug)]
pub struct Stmt {
    /// `case` and `default` labels, in order. They may stand on any statement inside a `switch`,
    /// however deep.
    pub labels: Vec<Label>,
    /// `#pragma unroll` and `#pragma cdp`.
    pub pragmas: Vec<Pragma>,
    pub kind: StmtKind,
    pub span: Span,
    /// One more than the deepest statement inside; see [`MAX_DEPTH`].
    pub depth: u32,
}

/// A `case` or `default` label.
#[derive(Debug)]
pub struct Label {
    pub kind: LabelKind,
    /// From the keyword to the colon.
    pub span: Span,
}

#[derive(Debug)]
pub enum LabelKind {
    Case(Expr),
    /// GNU `case low ... high:`.
    CaseRange(Expr, Expr),
    Default,
}

#[derive(Debug)]
pub enum StmtKind {
    /// A lone `;`.
    Empty,
    /// Refused or unparsable; already reported.
    Error,
    Expr(Expr),
    Decl(Decl),
    Block(Block),
    If(Box<IfStmt>),
    Switch(Box<SwitchStmt>),
    While {
        keyword_span: Span,
        condition: Box<Condition>,
        body: Box<Stmt>,
    },
    DoWhile {
        keyword_span: Span,
        body: Box<Stmt>,
        condition: Box<Expr>,
    },
    For(Box<ForStmt>),
    Break,
    Continue,
    /// `return;`, `return expression;`, `return { ... };`
    Return(Option<Expr>),
    Asm(Box<AsmStmt>),
}

/// `{ statements }`
#[derive(Debug)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub span: Span,
    /// The `}`.
    pub close_span: Span,
}

/// What `if`, `switch`, `while` and `for` test.
#[derive(Debug)]
pub enum Condition {
    Expr(Expr),
    /// `int x = f()`: one declarator with an initialiser.
    Decl(Decl),
}

#[derive(Debug)]
pub struct IfStmt {
    pub keyword_span: Span,
    /// `if constexpr`
    pub constexpr: Option<Span>,
    /// `if (init; condition)`
    pub init: Option<Stmt>,
    pub condition: Condition,
    pub then: Stmt,
    pub otherwise: Option<Stmt>,
}

#[derive(Debug)]
pub struct SwitchStmt {
    pub keyword_span: Span,
    pub init: Option<Stmt>,
    pub condition: Condition,
    pub body: Stmt,
}

#[derive(Debug)]
pub struct ForStmt {
    pub keyword_span: Span,
    /// An expression, declaration or empty statement; its span includes the `;`.
    pub init: Stmt,
    pub condition: Option<Condition>,
    pub step: Option<Expr>,
    pub body: Stmt,
}

/// `asm volatile ("template" : outputs : inputs : clobbers);`
#[derive(Debug)]
pub struct AsmStmt {
    pub volatile: Option<Span>,
    pub template: StringLit,
    pub outputs: Vec<AsmOperand>,
    pub inputs: Vec<AsmOperand>,
    pub clobbers: Vec<StringLit>,
    /// True for a bare `asm("...");`, in whose template `%` stands for itself.
    pub basic: bool,
}

/// `[name] "constraint" (expression)`
#[derive(Debug)]
pub struct AsmOperand {
    pub name: Option<Ident>,
    pub constraint: StringLit,
    pub expr: Expr,
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------
// Expressions
// ---------------------------------------------------------------------------------------------

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// One more than the deepest expression directly inside; see [`MAX_DEPTH`].
    pub depth: u32,
}

#[derive(Debug)]
pub enum ExprKind {
    /// Refused or unparsable; already reported.
    Error,
    Int(IntLit),
    Float(FloatLit),
    Char(CharLit),
    String(StringLit),
    Bool(bool),
    Nullptr,
    Name(QualName),
    /// `tex2D<float4>`: a function template of CUDA's headers with its types written.
    TemplateName {
        name: QualName,
        types: Vec<TypeName>,
    },
    Paren(Box<Expr>),
    Unary {
        op: UnaryOp,
        op_span: Span,
        operand: Box<Expr>,
    },
    /// `x++`, `x--`.
    Postfix {
        op: PostfixOp,
        op_span: Span,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `lhs = rhs`, and `lhs op= rhs` with `op`. The right side may be an init list.
    Assign {
        op: Option<BinaryOp>,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `a, b`
    Comma {
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    Conditional {
        condition: Box<Expr>,
        question_span: Span,
        then: Box<Expr>,
        colon_span: Span,
        otherwise: Box<Expr>,
    },
    /// A call; `args_span` is the parentheses and what is between them.
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
        args_span: Span,
    },
    /// A launch site.
    Launch(Box<LaunchExpr>),
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `base.member`, or `base->member` when `arrow`.
    Member {
        base: Box<Expr>,
        arrow: bool,
        op_span: Span,
        member: Ident,
    },
    Cast {
        style: CastStyle,
        ty: Box<TypeName>,
        operand: Box<Expr>,
    },
    /// `float(x)`, `dim3(1, 2)`, and `T{...}` when `braces`; then `args` is the one init list.
    Construct {
        ty: Box<TypeName>,
        args: Vec<Expr>,
        braces: bool,
        args_span: Span,
    },
    /// GNU `(T){ ... }`
    CompoundLiteral {
        ty: Box<TypeName>,
        init: InitList,
    },
    SizeofExpr(Box<Expr>),
    SizeofType(Box<TypeName>),
    AlignofExpr(Box<Expr>),
    AlignofType(Box<TypeName>),
    /// `offsetof(type, a.b[2])`; the first designator is a field.
    Offsetof {
        ty: Box<TypeName>,
        path: Vec<Designator>,
    },
    New(Box<NewExpr>),
    /// `delete p`, and `delete[] p` when `array`.
    Delete {
        array: bool,
        operand: Box<Expr>,
    },
    /// `{ ... }` as the right side of `=`, an argument, a `return` value or a nested initialiser.
    InitList(InitList),
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
    /// `::new`
    pub global: bool,
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
    /// `.field`, `[index]`, possibly several; empty for a positional element.
    pub designators: Vec<Designator>,
    pub value: Expr,
}

#[derive(Debug)]
pub enum Designator {
    Field(Ident),
    Index(Expr),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddrOf,
    PreInc,
    PreDec,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PostfixOp {
    Inc,
    Dec,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    LogAnd,
    LogOr,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CastStyle {
    /// `(T)x`
    C,
    Static,
    Reinterpret,
    Const,
}

/// An integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLit {
    /// The value; one that passes 64 bits has been refused.
    pub value: u64,
    /// Written in decimal; otherwise an unsigned type may be chosen (C++ [lex.icon]).
    pub decimal: bool,
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
pub struct CharLit {
    /// The value as the literal's type has it: plain `char` is signed.
    pub value: i64,
    pub encoding: Encoding,
    /// `'ab'`, of type `int`.
    pub multi: bool,
}

/// A string literal, adjacent pieces joined.
#[derive(Clone, PartialEq, Eq, Debug)]
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

impl OverloadedOp {
    /// The operator's spelling after the word `operator`, as in [`QualName::base`].
    pub fn symbol(self) -> &'static str {
        OPERATORS.iter().find(|(op, _)| *op == self).map_or("", |(_, text)| text)
    }

    /// The operator with this spelling.
    pub fn from_symbol(text: &str) -> Option<Self> {
        let text = text.trim_start();
        OPERATORS.iter().find(|(_, symbol)| *symbol == text).map(|(op, _)| *op)
    }
}

/// Every operator with its spelling.
const OPERATORS: &[(OverloadedOp, &str)] = &[
    (OverloadedOp::Plus, "+"),
    (OverloadedOp::Minus, "-"),
    (OverloadedOp::Star, "*"),
    (OverloadedOp::Slash, "/"),
    (OverloadedOp::Percent, "%"),
    (OverloadedOp::Caret, "^"),
    (OverloadedOp::Amp, "&"),
    (OverloadedOp::Pipe, "|"),
    (OverloadedOp::Tilde, "~"),
    (OverloadedOp::Not, "!"),
    (OverloadedOp::Assign, "="),
    (OverloadedOp::Lt, "<"),
    (OverloadedOp::Gt, ">"),
    (OverloadedOp::PlusAssign, "+="),
    (OverloadedOp::MinusAssign, "-="),
    (OverloadedOp::StarAssign, "*="),
    (OverloadedOp::SlashAssign, "/="),
    (OverloadedOp::PercentAssign, "%="),
    (OverloadedOp::CaretAssign, "^="),
    (OverloadedOp::AmpAssign, "&="),
    (OverloadedOp::PipeAssign, "|="),
    (OverloadedOp::Shl, "<<"),
    (OverloadedOp::Shr, ">>"),
    (OverloadedOp::ShlAssign, "<<="),
    (OverloadedOp::ShrAssign, ">>="),
    (OverloadedOp::EqEq, "=="),
    (OverloadedOp::NotEq, "!="),
    (OverloadedOp::Le, "<="),
    (OverloadedOp::Ge, ">="),
    (OverloadedOp::AndAnd, "&&"),
    (OverloadedOp::OrOr, "||"),
    (OverloadedOp::PlusPlus, "++"),
    (OverloadedOp::MinusMinus, "--"),
    (OverloadedOp::Comma, ","),
    (OverloadedOp::Arrow, "->"),
    (OverloadedOp::ArrowStar, "->*"),
    (OverloadedOp::Call, "()"),
    (OverloadedOp::Index, "[]"),
    (OverloadedOp::New, "new"),
    (OverloadedOp::Delete, "delete"),
];
