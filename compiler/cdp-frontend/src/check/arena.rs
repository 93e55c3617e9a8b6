//! The parsed texts of builtin functions that have one, for as long as the check lasts.

use std::cell::OnceCell;

use crate::ast;
use crate::session::Session;

/// Owns the parsed texts; appended to only, so that what is lent from it stays.
#[derive(Default)]
pub struct Arena {
    first: OnceCell<Box<Node>>,
}

struct Node {
    session: Session,
    unit: ast::TranslationUnit,
    next: OnceCell<Box<Node>>,
}

impl Arena {
    /// Keeps a text.
    pub fn add(
        &self,
        session: Session,
        unit: ast::TranslationUnit,
    ) -> (&Session, &ast::TranslationUnit) {
        let mut node = Box::new(Node { session, unit, next: OnceCell::new() });
        let mut place = &self.first;
        loop {
            match place.set(node) {
                Ok(()) => {
                    let kept = place.get().expect("just set");
                    return (&kept.session, &kept.unit);
                }
                Err(back) => {
                    node = back;
                    place = &place.get().expect("it is set").next;
                }
            }
        }
    }
}
