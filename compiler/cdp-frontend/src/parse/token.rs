//! The tokens of the grammar. The classifier makes them from preprocessing tokens; it settles what
//! a context-free grammar cannot: whether a name is a type, whether a parenthesis opens parameters
//! or constructor arguments, and whether a brace opens a body or an initialiser.

use crate::intern::Symbol;
use crate::source::Span;

/// A terminal of the grammar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    Identifier,
    /// A name that is a type here.
    TypeName,
    /// A name that was used as a type and is none; reported.
    ErrorType,
    /// A function template of CUDA's headers whose `<type>` follows.
    TemplateName,
    /// A name before `::`.
    ScopeName,
    /// A name before `::` in the name that a declarator declares; stands for both tokens.
    DeclScope,
    Number,
    Char,
    String,
    Bool,
    Nullptr,
    TypeWord,
    Auto,
    Storage,
    Qualifier,
    Attribute,
    AttributeCall,
    Alignas,
    GnuAttribute,
    /// A whole `[[...]]`.
    StdAttribute,
    Record,
    Enum,
    /// The `:` before an enum's underlying type.
    EnumColon,
    /// The colon of a range-based `for`.
    RangeColon,
    Typeof,
    Using,
    Namespace,
    StaticAssert,
    If,
    /// `constexpr` after `if`.
    IfConstexpr,
    Else,
    Switch,
    Case,
    Default,
    While,
    Do,
    For,
    Break,
    Goto,
    /// The name before a label's `:`.
    LabelName,
    Continue,
    Return,
    Asm,
    Sizeof,
    Alignof,
    Offsetof,
    New,
    /// A `*` in the type after `new`.
    NewStar,
    Delete,
    NamedCast,
    Noexcept,
    /// Stands before the type of `float(x)` and `T{x}`; has no text.
    Functional,
    ErrorExpr,
    /// A statement, declaration or member that was refused or could not be parsed.
    ErrorItem,
    Unroll,
    NoUnroll,
    PragmaCdp,
    PragmaEnd,
    LParen,
    /// The `(` of constructor arguments in a declaration.
    LParenInit,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    /// The `{` of an initialiser.
    LBraceInit,
    RBrace,
    Semi,
    Comma,
    Ellipsis,
    Dot,
    Arrow,
    Colon,
    ColonColon,
    Question,
    Tilde,
    Bang,
    Plus,
    Minus,
    Star,
    Amp,
    AndAnd,
    PlusPlus,
    MinusMinus,
    Lt,
    Gt,
    /// Binary operators that have no other use.
    Binary,
    Assign,
    /// `+=` and the like.
    OpAssign,
    LaunchOpen,
    LaunchClose,
}

/// A token of the grammar; its number is its place in the classified list.
#[derive(Clone, Copy, Debug)]
pub struct Tok {
    pub kind: Kind,
    /// First on its line.
    pub line_start: bool,
    pub symbol: Symbol,
    pub span: Span,
}
