//! Declarations: functions, variables, namespaces, and what stands beside them at file level. Types and
//! declarators are in `types`.

use super::*;
use crate::intern::Symbol;
use crate::source::Span;

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
    /// `using ns::name, ns::other;`
    UsingNames(Box<[QualName]>),
    /// `using namespace ns;`
    UsingNamespace(Box<QualName>),
    /// `namespace a::b { ... }`
    Namespace(Box<NamespaceDecl>),
    /// `namespace short = long::name;`
    NamespaceAlias(Box<NamespaceAliasDecl>),
    /// `extern "C" { ... }` and `extern "C" declaration`.
    Linkage(Box<LinkageDecl>),
    /// `static_assert(condition, "message");`
    StaticAssert { condition: Box<Expr>, message: Option<Box<StringLit>> },
    /// `#pragma cdp ...` outside any function.
    Pragma(Box<Pragma>),
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
    pub bit_width: Option<Box<Expr>>,
    pub init: Option<Box<Initializer>>,
    pub span: Span,
}

/// An initialiser.
#[derive(Debug)]
pub struct Initializer {
    pub kind: InitializerKind,
    /// From `=`, `{` or `(` to the end.
    pub span: Span,
}

impl Initializer {
    /// Nothing stands between its brackets.
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            InitializerKind::Assign(_) => false,
            InitializerKind::Brace(list) => list.items.is_empty(),
            InitializerKind::Paren(args) => args.is_empty(),
        }
    }
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

/// `namespace name = target;`
#[derive(Debug)]
pub struct NamespaceAliasDecl {
    pub name: Ident,
    pub target: QualName,
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
