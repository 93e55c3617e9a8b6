//! Where the classifier is: what the open brackets hold, and how far the declaration or statement in
//! each of them has come.

use super::scopes::{Mark, NO_SCOPE, ScopeId};
use crate::intern::Symbol;

/// What the innermost open bracket holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextKind {
    /// The file itself.
    File,
    Namespace,
    /// `extern "C" { }`
    Linkage,
    /// Statements.
    Block,
    /// The members of a record.
    Record,
    Enumerators,
    /// The parameters of a function declarator.
    Params,
    /// A parenthesised declarator.
    DeclaratorGroup,
    /// The parentheses after `if`, `while`, `for`, `switch`.
    Head,
    /// Any other parentheses or square brackets.
    Expr,
    /// The parentheses of an `asm` statement.
    Asm,
    /// An initialiser's braces.
    Init,
}

/// Where in a declaration or statement we are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// At its beginning.
    Start,
    /// Among or after declaration specifiers, before a declarator's name.
    Specs,
    /// After a declarator's name.
    Named,
    /// In an expression.
    Expr,
}

/// The state of one open bracket.
pub struct Context {
    pub kind: ContextKind,
    pub mode: Mode,
    /// Where the current statement or declaration begins in the output.
    pub item_start: usize,
    /// A type was among the specifiers.
    pub typed: bool,
    /// The current item is a declaration.
    pub decl: bool,
    pub typedef: bool,
    /// `void`, or an execution space, is among the specifiers: a function is declared.
    pub function_like: bool,
    /// `auto` is among the specifiers.
    pub auto: bool,
    /// The declarator has a parameter list.
    pub function: bool,
    /// A record's or enum's tag or body may come next.
    pub tag: Option<TagState>,
    /// The last token closed a record's or enum's body.
    pub after_body: bool,
    /// Open `?`.
    pub questions: u32,
    /// A `case` or `default` waits for its colon.
    pub label: bool,
    /// The head of a range-based `for`, whose colon is still to come.
    pub range: bool,
    /// `new` waits for its type.
    pub new_type: bool,
    /// `using NAME =`
    pub alias: Option<Symbol>,
    /// Scope to restore at the closing bracket.
    pub mark: Option<Mark>,
    /// Scope of parameters or of a statement's head that the next braces continue.
    pub pending: Option<Mark>,
    /// A record's tag, or the scope that a namespace's or record's names are kept in.
    pub name: Option<Symbol>,
    pub scope: ScopeId,
    /// Further namespaces that end with this one's brace: `namespace a::b {`.
    pub outer: Vec<(Mark, ScopeId)>,
}

/// Between `struct` or `enum` and the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TagState {
    pub is_enum: bool,
    /// The tag was seen.
    pub name: Option<Symbol>,
}

impl Context {
    pub fn new(kind: ContextKind, mode: Mode, item_start: usize) -> Self {
        Context {
            kind,
            mode,
            item_start,
            typed: false,
            decl: false,
            typedef: false,
            function_like: false,
            auto: false,
            function: false,
            tag: None,
            after_body: false,
            questions: 0,
            label: false,
            range: false,
            new_type: false,
            alias: None,
            mark: None,
            pending: None,
            name: None,
            scope: NO_SCOPE,
            outer: Vec::new(),
        }
    }

    /// Holds declarations, one after another.
    pub fn is_file_like(&self) -> bool {
        matches!(self.kind, ContextKind::File | ContextKind::Namespace | ContextKind::Linkage)
    }
}
