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
//! Depth: the parser nests productions, and with them statements, no deeper than [`MAX_DEPTH`], and refuses an
//! [`Expr::depth`] beyond it, so a recursive walk of any tree is safe on a 64 MB stack.

mod basic;
mod decl;
mod expr;
mod operators;
mod stmt;
mod types;

pub use basic::Basic;
pub use decl::*;
pub use expr::*;
pub use operators::{BinaryOp, Overloadable, UnaryOp};
pub use stmt::*;
pub use types::*;

/// Kinds of nodes that hold their parts in a box are made of these.
macro_rules! boxed {
    ($($kind:ident: $($variant:ident $part:ident),*;)*) => {$($(
        impl From<$part> for $kind {
            fn from(part: $part) -> Self {
                $kind::$variant(Box::new(part))
            }
        }
    )*)*};
}

boxed! {
    ExprKind: String StringLit, Qualified QualName, TemplateName TemplateName, Unary UnaryExpr, Postfix PostfixExpr,
        Binary BinaryExpr, Assign AssignExpr, Conditional ConditionalExpr, Call CallExpr, Launch LaunchExpr,
        Member MemberExpr, Cast CastExpr, Construct ConstructExpr, CompoundLiteral CompoundLiteral,
        Offsetof OffsetofExpr, VaArg VaArgExpr, New NewExpr, InitList InitList;
    StmtKind: Block Block, If IfStmt, Switch SwitchStmt, For ForStmt, RangeFor RangeForStmt, Asm AsmStmt;
    DeclKind: Function FunctionDef, Simple SimpleDecl, Alias AliasDecl, UsingNamespace QualName,
        Namespace NamespaceDecl, NamespaceAlias NamespaceAliasDecl, Linkage LinkageDecl, Pragma Pragma;
    TypeSpecKind: Record RecordSpec, Enum EnumSpec;
}

use crate::intern::{FastSet, Symbol};
use crate::source::Span;

/// The deepest nesting of expressions in expressions, and of statements in statements, that the
/// parser lets through. Brackets of all kinds nest at most 256 deep.
pub const MAX_DEPTH: u32 = 4096;

/// A whole translation unit.
#[derive(Debug, Default)]
pub struct TranslationUnit {
    /// External declarations in order.
    pub decls: Vec<Decl>,
    /// Names whose declarations were refused or could not be read, and unknown types. That has been reported, and
    /// nothing is to be said of their uses.
    pub lost: FastSet<Symbol>,
    /// A header was refused or not found, which has been reported: names that nothing declares may be its.
    pub unread: bool,
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
    /// by [`Overloadable::text`].
    pub base: Ident,
    /// Set for an operator function's name.
    pub operator: Option<Overloadable>,
    pub span: Span,
}

impl QualName {
    /// An unqualified name.
    pub fn plain(base: Ident) -> Self {
        QualName { global: false, scopes: Vec::new(), base, operator: None, span: base.span }
    }

    /// The symbol when the name is a single unqualified identifier.
    pub fn as_plain(&self) -> Option<Symbol> {
        (!self.global && self.scopes.is_empty()).then_some(self.base.name)
    }
}
