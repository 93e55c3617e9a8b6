//! Leaves out the functions of the compiler's own headers that a program never names.
//!
//! nvcc reads the C library's headers before every file, and so do we, but a program names few of
//! their functions and a small one none. Declarations that nobody names are dropped as tokens,
//! before anything is made of them. Their names stay known to the suggestions of misspelled ones
//! ([`Session::unused`]). What is not a plain prototype (types, variables, functions with a body)
//! stays.

use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind};
use crate::session::Session;

/// A prototype of a header: its tokens up to the `;`, and the function.
struct Prototype {
    start: usize,
    end: usize,
    name: Symbol,
}

/// The tokens without the prototypes that are not named outside of prototypes.
pub fn leave_out(mut tokens: Vec<Token>, session: &mut Session) -> Vec<Token> {
    let Some(host) = session.names.lookup("__host__") else { return tokens };
    let mut named = vec![false; session.names.len()];
    let mut prototypes: Vec<Prototype> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.symbol == host
            && let Some(prototype) = prototype(&tokens, at, session)
        {
            at = prototype.end;
            prototypes.push(prototype);
            continue;
        }
        if token.kind == TokenKind::Ident {
            named[token.symbol.0 as usize] = true;
        }
        at += 1;
    }
    prototypes.retain(|prototype| !named[prototype.name.0 as usize]);
    if prototypes.is_empty() {
        return tokens;
    }
    // In place, since the tokens of a large program are most of the memory at this point.
    let (mut to, mut from) = (0, 0);
    for Prototype { start, end, name } in prototypes {
        session.unused.push((name, tokens[start].span));
        tokens.copy_within(from..start, to);
        to += start - from;
        from = end;
    }
    tokens.copy_within(from.., to);
    tokens.truncate(to + tokens.len() - from);
    tokens
}

/// The prototype at a `__host__` that begins a line of a header of the compiler.
fn prototype(tokens: &[Token], start: usize, session: &Session) -> Option<Prototype> {
    let first = tokens.get(start).filter(|first| first.flags.has(Flags::LINE_START))?;
    let file = session.sources.file_of(first.span.lo)?;
    if !session.sources.file(file).system {
        return None;
    }
    let mut name = None;
    let mut last = Symbol::EMPTY;
    for (at, token) in tokens.iter().enumerate().skip(start + 1) {
        match token.kind {
            TokenKind::LParen if name.is_none() => name = Some(last),
            TokenKind::LBrace => return None,
            TokenKind::Semi => return Some(Prototype { start, end: at + 1, name: name? }),
            _ => last = token.symbol,
        }
    }
    None
}
