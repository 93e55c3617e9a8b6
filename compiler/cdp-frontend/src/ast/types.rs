//! Types as they are written: specifiers, records and enumerations, declarators, attributes.

use std::sync::Arc;

use super::*;
use crate::source::Span;
use crate::spelled::spelled;

/// Declaration specifiers: everything before the declarators.
#[derive(Default, Debug)]
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

spelled! {
    StorageKind,
    /// How the word is mostly written.
    word {
        Typedef = "typedef", Extern = "extern", Static = "static", Register = "register", Inline = "inline",
        Constexpr = "constexpr",
        /// On a record member.
        Mutable = "mutable",
    }
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
#[derive(Default, Debug)]
pub struct TypeSpec {
    pub kind: TypeSpecKind,
    pub span: Span,
}

#[derive(Default, Debug)]
pub enum TypeSpecKind {
    /// Refused or unparsable; already reported.
    #[default]
    Error,
    /// Words of C++, after folding `unsigned long int` and the like.
    Builtin(Basic),
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

spelled! {
    RecordKind,
    /// The keyword.
    word {
        Struct = "struct", Union = "union",
        /// Which the parser lets through only without access specifiers.
        Class = "class",
    }
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
    /// The default argument, which calls need when the rest of the declaration is gone.
    pub default: Option<Arc<Expr>>,
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

spelled! {
    CudaWord,
    /// As CUDA spells it.
    word {
        Global = "__global__", Device = "__device__", Host = "__host__", Constant = "__constant__",
        Shared = "__shared__", Managed = "__managed__", GridConstant = "__grid_constant__",
        ForceInline = "__forceinline__", NoInline = "__noinline__",
    }
}

#[derive(Debug)]
pub enum AttrKind {
    /// A word without arguments.
    Cuda(CudaWord),
    /// `__launch_bounds__(threads, blocks, cluster)`: one to three arguments.
    LaunchBounds(Vec<Expr>),
    /// `__maxnreg__(n)`
    MaxNReg(Vec<Expr>),
    /// `__cluster_dims__(x, y, z)`
    ClusterDims(Vec<Expr>),
    /// `__align__(n)`, `alignas(n)`, `__attribute__((aligned(n)))`; without an argument only in the
    /// last form.
    Align(Option<Expr>),
    /// `alignas(type)`
    AlignType(Box<TypeName>),
    /// `__attribute__((name(args)))` and `__declspec(name(args))`, names without their underscores.
    Gnu { name: Ident, args: Vec<Expr> },
    /// `[[ns::name(...)]]`; arguments are not kept.
    Std { scope: Option<Ident>, name: Ident },
}
