//! Leaves out the functions of the compiler's own headers that a program never names.
//!
//! nvcc reads the C library's headers before every file, and so do we, but a program names few of
//! their functions and a small one none. Declarations that nobody names are dropped as tokens,
//! before anything is made of them. Their names stay known to the suggestions of misspelled ones
//! ([`Session::unused`]). What is not a plain prototype (types, variables, functions with a body)
//! stays, and so do overloads.

use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind as T};
use crate::session::Session;

/// Leaves out the prototypes whose names stand nowhere else.
pub fn leave_out(tokens: &mut Vec<Token>, session: &mut Session) {
    let Some(host) = session.names.lookup("__host__") else { return };
    let mut uses = vec![0_u32; session.names.len()];
    tokens.iter().for_each(|token| uses[token.symbol.0 as usize] += 1);
    // In place, since the tokens of a large program are most of the memory at this point.
    let (mut kept, mut at) = (0, 0);
    while at < tokens.len() {
        let first = tokens[at];
        if first.symbol == host
            && let Some((name, length)) = prototype(&tokens[at..], session)
            && uses[name.0 as usize] == 1
        {
            session.unused.push((name, first.span));
            at += length;
        } else {
            tokens[kept] = first;
            kept += 1;
            at += 1;
        }
    }
    tokens.truncate(kept);
}

/// The prototype that begins a line of a header of the compiler: its name, and how many tokens it has.
fn prototype(tokens: &[Token], session: &Session) -> Option<(Symbol, usize)> {
    let first = tokens.first().filter(|first| first.flags.has(Flags::LINE_START))?;
    let file = session.sources.file_of(first.span.lo)?;
    let ends = |token: &Token| matches!(token.kind, T::Semi | T::LBrace);
    let end = tokens.iter().position(ends).filter(|_| session.sources.file(file).system)?;
    let open = tokens[..end].iter().position(|token| token.kind == T::LParen)?;
    (tokens[end].kind == T::Semi).then(|| (tokens[open - 1].symbol, end + 1))
}
