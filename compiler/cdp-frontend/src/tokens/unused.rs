//! Leaves out the functions of the compiler's own headers that a program never names.
//!
//! nvcc reads the C library's headers before every file, and so do we, but a program names few of
//! their functions and a small one none. Declarations that nobody names are dropped as tokens,
//! before anything is made of them. Their names stay known to the suggestions of misspelled ones
//! ([`Session::unused`]). What is not a plain prototype (types, variables, functions with a body)
//! stays, and so do overloads.

use super::Raw;
use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind as T};

impl Raw<'_> {
    /// Leaves out the prototypes whose names stand nowhere else.
    pub fn leave_out_unused(&mut self) {
        let Some(host) = self.session.names.lookup("__host__") else { return };
        let mut uses = vec![0_u32; self.session.names.len()];
        self.tokens.iter().for_each(|token| uses[token.symbol.0 as usize] += 1);
        // In place, since the tokens of a large program are most of the memory at this point.
        let (mut kept, mut at) = (0, 0);
        while let Some(&first) = self.tokens.get(at) {
            if first.symbol == host
                && let Some((name, end)) = self.prototype(at)
                && uses[name.0 as usize] == 1
            {
                self.session.unused.push((name, first.span));
                at = end;
            } else {
                self.tokens[kept] = first;
                kept += 1;
                at += 1;
            }
        }
        self.tokens.truncate(kept);
    }

    /// The prototype that begins a line of a header of the compiler: its name, and the place behind it.
    fn prototype(&self, at: usize) -> Option<(Symbol, usize)> {
        let Token { flags, span, .. } = self.tokens[at];
        let file = self.session.sources.file_of(span.lo)?;
        if !flags.has(Flags::LINE_START) || !self.session.sources.file(file).system {
            return None;
        }
        let find = |is: fn(T) -> bool| (at..self.tokens.len()).find(|at| is(self.tokens[*at].kind));
        let end = find(|kind| matches!(kind, T::Semi | T::LBrace))?;
        let open = find(|kind| kind == T::LParen).filter(|open| *open < end)?;
        (self.tokens[end].kind == T::Semi).then(|| (self.tokens[open - 1].symbol, end + 1))
    }
}
