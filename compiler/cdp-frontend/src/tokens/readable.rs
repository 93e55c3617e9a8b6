//! What a parser need not see is left out: `__extension__`, stray `#`, and pragmas that begin no statement. Operators
//! spelled as words become operators, and words of C those of C++.

use crate::diagnostics::{Code, Diagnostics};
use crate::lex::{Flags, Spellings, Token, TokenKind as T};
use crate::session::Session;
use crate::words::{Word, Words};

/// Makes tokens ready, in place.
pub fn make_readable(
    tokens: &mut Vec<Token>,
    words: &Words,
    spellings: &Spellings,
    session: &mut Session,
    out: &mut Diagnostics,
) {
    // The end of a pragma is passed with it.
    let (mut kept, mut in_pragma) = (0_usize, false);
    for at in 0..tokens.len() {
        let mut token = tokens[at];
        let last = kept.checked_sub(1).map(|last| tokens[last]);
        let passed = match token.kind {
            _ if in_pragma => {
                in_pragma = token.kind != T::PragmaEnd;
                true
            }
            T::Ident => match words.get(token.symbol) {
                Word::Skip => true,
                Word::Spelled(kind) => {
                    token.kind = kind;
                    false
                }
                Word::OnlyC(right) => only_c(&mut token, right, session, out),
                // C's qualifier behind a pointer's `*` or another one; elsewhere it is a name like others.
                Word::Name
                    if last.is_some_and(|last| {
                        last.kind == T::Star || words.get(last.symbol) == Word::Qualifier
                    }) && tokens.get(at + 1).is_some_and(|next| next.kind == T::Ident)
                        && &session.names[token.symbol] == "restrict" =>
                {
                    only_c(&mut token, "__restrict__", session, out)
                }
                _ => false,
            },
            T::Hash | T::HashHash => {
                out.add(Code::E0201, token.span, "a stray `#` in the program");
                true
            }
            T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp => {
                let stays = last.is_none_or(|last| ends_statement(&last, words));
                in_pragma = !stays && token.kind == T::PragmaUnroll;
                !stays
            }
            // `<< <` and `>> >` as nvcc takes them, when both are on one line: no other meaning is possible.
            T::Lt | T::Gt if !token.flags.has(Flags::LINE_START) => {
                let joined = match (last.map(|last| last.kind), token.kind) {
                    (Some(T::Shl), T::Lt) => Some(T::LaunchOpen),
                    (Some(T::Shr), T::Gt) => Some(T::LaunchClose),
                    _ => None,
                };
                if let (Some(kind), Some(first)) = (joined, last) {
                    let span = session.sources.join(first.span, token.span);
                    tokens[kept - 1] = Token { kind, symbol: spellings.of(kind), span, ..first };
                }
                joined.is_some()
            }
            _ => false,
        };
        if !passed {
            tokens[kept] = token;
            kept += 1;
        }
    }
    tokens.truncate(kept);
}

/// A word of C, read as C++'s `right`; an attribute in its place means nothing and is left out.
fn only_c(token: &mut Token, right: &str, session: &mut Session, out: &mut Diagnostics) -> bool {
    let message = format!("`{}` is C, not C++", &session.names[token.symbol]);
    out.add(Code::E0239, token.span, message).suggest("write", token.span, right);
    token.symbol = session.names.intern(right);
    right.starts_with('[')
}

/// Whether a statement or declaration may begin behind a token.
fn ends_statement(last: &Token, words: &Words) -> bool {
    match last.kind {
        T::Ident => matches!(words.get(last.symbol), Word::Do | Word::Else),
        T::Semi | T::LBrace | T::RBrace | T::RParen | T::Colon => true,
        kind => matches!(kind, T::PragmaNoUnroll | T::PragmaCdp | T::PragmaEnd),
    }
}
