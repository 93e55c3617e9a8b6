//! Statements: structured control flow.

use crate::expr::Expr;
use crate::module::{Loc, LocalId};

/// A sequence of statements. Scoping is resolved: all locals live in the function's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

/// A place in a function: the target of `case` values of the nearest enclosing
/// [`StmtKind::Switch`] that lists it, or else of any [`StmtKind::Goto`] of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

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

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Evaluates an expression for its effects.
    Expr(Expr),
    Block(Block),
    /// The point where a local comes into scope: its storage is undefined from here on until the
    /// first store (a loop body starts each turn afresh).
    Declare(LocalId),
    If {
        cond: Expr,
        then: Block,
        otherwise: Block,
    },
    /// `while`, `for` (with `step`) and, when `test_first` is false, `do`.
    /// `continue` goes to `step`; a missing condition is true. Conditions are `Bool`.
    Loop {
        cond: Option<Expr>,
        body: Block,
        step: Option<Expr>,
        test_first: bool,
        unroll: Option<Unroll>,
    },
    /// Control enters `body` at the label of the matching case, else at `default`, else leaves.
    /// Labels stand in `body` as [`StmtKind::Label`], at any depth (Duff's device included).
    Switch {
        value: Expr,
        cases: Vec<SwitchLabel>,
        default: Option<LabelId>,
        body: Block,
    },
    Label(LabelId),
    /// Goes to a label that no switch lists, anywhere in the function.
    Goto(LabelId),
    /// Leaves the nearest enclosing loop or switch.
    Break,
    Continue,
    Return(Option<Expr>),
}
