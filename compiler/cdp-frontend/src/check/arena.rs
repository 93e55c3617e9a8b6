//! What is kept of trees for as long as the check lasts: the parsed texts of builtin functions that have one, and the default
//! arguments of functions, of whose declarations nothing else is needed later.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::ast;
use crate::session::Session;

/// Appended to only, so that what is lent from it stays.
#[derive(Default)]
pub struct Arena {
    texts: List<(Session, ast::TranslationUnit)>,
    expressions: List<Arc<ast::Expr>>,
}

/// An expression that is kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept(u32);

impl Arena {
    /// Keeps a text.
    pub fn add(
        &self,
        session: Session,
        unit: ast::TranslationUnit,
    ) -> (&Session, &ast::TranslationUnit) {
        let (session, unit) = self.texts.at(self.texts.add((session, unit)));
        (session, unit)
    }

    /// Keeps an expression.
    pub fn keep(&self, expr: Arc<ast::Expr>) -> Kept {
        Kept(self.expressions.add(expr))
    }

    pub fn kept(&self, expr: Kept) -> &ast::Expr {
        self.expressions.at(expr.0)
    }
}

/// A list whose elements never move: each of its pieces is twice as long as the one before.
struct List<T> {
    pieces: [OnceCell<Box<[OnceCell<T>]>>; u32::BITS as usize],
    length: Cell<u32>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { pieces: [const { OnceCell::new() }; _], length: Cell::new(0) }
    }
}

impl<T> List<T> {
    fn add(&self, value: T) -> u32 {
        let at = self.length.replace(self.length.get() + 1);
        let (piece, place) = place(at);
        let new = || (0..1usize << piece).map(|_| OnceCell::new()).collect();
        let is_new = self.pieces[piece].get_or_init(new)[place].set(value).is_ok();
        debug_assert!(is_new);
        at
    }

    fn at(&self, at: u32) -> &T {
        let (piece, place) = place(at);
        let piece = self.pieces[piece].get();
        piece.and_then(|piece| piece[place].get()).expect("a number that `add` gave")
    }
}

/// The piece of an element, and where in it.
fn place(at: u32) -> (usize, usize) {
    let piece = (at + 1).ilog2();
    (piece as usize, (at + 1 - (1 << piece)) as usize)
}
