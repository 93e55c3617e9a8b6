//! Statements.

use super::*;
use crate::source::Span;

/// A statement with the labels and pragmas in front of it.
#[derive(Debug)]
pub struct Stmt {
    /// What stands in front of it, if anything does.
    pub front: Option<Box<Front>>,
    pub kind: StmtKind,
    pub span: Span,
}

impl Stmt {
    /// A statement with nothing in front of it.
    pub fn new(kind: StmtKind, span: Span) -> Self {
        Stmt { front: None, kind, span }
    }

    /// `case` and `default` labels, in order, which may stand on any statement inside a `switch`,
    /// however deep; and those for `goto`.
    pub fn labels(&self) -> &[Label] {
        self.front.as_ref().map_or(&[], |front| &front.labels)
    }

    /// `#pragma unroll` and `#pragma cdp`.
    pub fn pragmas(&self) -> &[Pragma] {
        self.front.as_ref().map_or(&[], |front| &front.pragmas)
    }
}

/// What stands in front of a statement.
#[derive(Debug)]
pub struct Front {
    pub labels: Vec<Label>,
    pub pragmas: Vec<Pragma>,
}

/// A label.
#[derive(Debug)]
pub struct Label {
    pub kind: LabelKind,
    /// From the keyword to the colon.
    pub span: Span,
}

#[derive(Debug)]
pub enum LabelKind {
    Case(Expr),
    /// GNU's `case first ... last:`
    CaseRange(Expr, Expr),
    Default,
    /// `name:`, which a `goto` jumps to.
    Named(Ident),
}

#[derive(Debug)]
pub enum StmtKind {
    /// A lone `;`.
    Empty,
    /// Refused or unparsable; already reported.
    Error,
    Expr(Expr),
    Decl(Decl),
    Block(Box<Block>),
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
    RangeFor(Box<RangeForStmt>),
    Break,
    Goto(Ident),
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

/// `for (declaration : range)`, `for (init; declaration : range)`
#[derive(Debug)]
pub struct RangeForStmt {
    pub keyword_span: Span,
    pub init: Option<Stmt>,
    /// One declarator without an initialiser.
    pub variable: SimpleDecl,
    pub range: Expr,
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

const _: () = assert!(size_of::<Stmt>() <= 64);
