//! Statements: structured control flow.

use crate::expr::Expr;
use crate::module::{Loc, LocalId};

/// A sequence of statements. Scoping is resolved: all locals live in the function's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In the order in which control passes them.
    pub stmts: Vec<Stmt>,
}

/// A statement and its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The line of a debugger's step.
    pub loc: Loc,
}

/// A long program has millions, and all of them are there at once: what few statements have is behind a box.
const _: () = assert!(size_of::<Stmt>() <= 96);

/// A place in a function: the target of `case` values of the nearest enclosing
/// [`StmtKind::Switch`] that lists it, or else of any [`StmtKind::Goto`] of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// A `case` of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchLabel {
    /// The case value, sign- or zero-extended from the switch value's type.
    pub value: i128,
    /// Where control goes.
    pub label: LabelId,
}

/// `#pragma unroll`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    /// Without a count: as much as possible.
    Full,
    /// With a count; 1 forbids unrolling.
    Count(u32),
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Evaluates an expression for its effects.
    Expr(Expr),
    /// A group without a meaning of its own; scoping has been resolved.
    Block(Block),
    /// The point where a local comes into scope: its storage is undefined from here on until the
    /// first store (a loop body starts each turn afresh).
    Declare(LocalId),
    /// Two ways.
    If {
        /// A `Bool`.
        cond: Box<Expr>,
        /// Taken if the condition is true.
        then: Block,
        /// Taken if it is false; empty without an `else`.
        otherwise: Block,
    },
    /// `while`, `for` (with `step`) and, when `test_first` is false, `do`.
    /// `continue` goes to `step`; a missing condition is true. Conditions are `Bool`.
    Loop {
        /// Tested before each turn, or after it.
        cond: Option<Box<Expr>>,
        /// A turn.
        body: Block,
        /// Evaluated between a turn and the next test, also after `continue`.
        step: Option<Box<Expr>>,
        /// Whether the first turn is tested for as well.
        test_first: bool,
        /// What `#pragma unroll` asks for.
        unroll: Option<Unroll>,
    },
    /// Control enters `body` at the label of the matching case, else at `default`, else leaves.
    /// Labels stand in `body` as [`StmtKind::Label`], at any depth (Duff's device included).
    Switch {
        /// An integer.
        value: Box<Expr>,
        /// Values without repetition.
        cases: Vec<SwitchLabel>,
        /// Where other values go; out of the switch without one.
        default: Option<LabelId>,
        /// Holds every label that the cases and `default` name.
        body: Block,
    },
    /// A place that control can come to.
    Label(LabelId),
    /// Goes to a label that no switch lists, anywhere in the function.
    Goto(LabelId),
    /// Leaves the nearest enclosing loop or switch.
    Break,
    /// Ends the turn of the nearest enclosing loop.
    Continue,
    /// Leaves the function, with a value unless it yields `Void`.
    Return(Option<Expr>),
}

impl StmtKind {
    /// The expressions that the statement itself evaluates, in the order in which they are written in [`StmtKind`].
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => (Some(expr), None),
            StmtKind::If { cond: expr, .. } | StmtKind::Switch { value: expr, .. } => {
                (Some(&**expr), None)
            }
            StmtKind::Loop { cond, step, .. } => (cond.as_deref(), step.as_deref()),
            StmtKind::Block(_)
            | StmtKind::Declare(_)
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks directly inside.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match self {
            StmtKind::Block(block)
            | StmtKind::Loop { body: block, .. }
            | StmtKind::Switch { body: block, .. } => (Some(block), None),
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StmtKind::Expr(_)
            | StmtKind::Declare(_)
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}
