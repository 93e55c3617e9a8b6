//! Tokens as the parser holds them: twelve bytes each instead of twenty-four, since a large program's tokens
//! and its tree are in memory together. What few tokens need stands beside them.

use super::brackets::MAX_NESTING;
use crate::intern::Symbol;
use crate::lex::{Flags, Spellings, Token, TokenKind as T};
use crate::source::{ExpansionId, Span};

/// The length of a token whose place stands in `Packed::odd`.
const ODD: u16 = u16::MAX;

/// A token without what few have.
struct Small {
    /// The spelling; of a bracket the place of its partner, because its kind says the spelling.
    word: u32,
    /// Where it begins; or which of `Packed::odd` is its place.
    place: u32,
    /// Bytes, or [`ODD`].
    length: u16,
    kind: T,
    flags: Flags,
}

const _: () = assert!(size_of::<Small>() == 12);

/// Tokens with balanced brackets.
pub struct Packed {
    tokens: Vec<Small>,
    /// The places of tokens that are very long or come of macros.
    odd: Vec<Span>,
    spellings: Spellings,
}

impl Packed {
    /// Of tokens, up to the first bracket that does not match or is nested too deep; and whether there is none.
    pub fn new(list: &[Token], spellings: Spellings) -> (Self, bool) {
        let tokens = Vec::with_capacity(list.len());
        let (mut packed, mut open) = (Packed { tokens, odd: Vec::new(), spellings }, Vec::new());
        for (at, &Token { kind, flags, symbol, span }) in (0u32..).zip(list) {
            let (place, length) = match u16::try_from(span.hi - span.lo) {
                Ok(length) if length != ODD && span.expansion == ExpansionId::NONE => {
                    (span.lo, length)
                }
                _ => {
                    packed.odd.push(span);
                    (packed.odd.len() as u32 - 1, ODD)
                }
            };
            let mut word = symbol.0;
            if kind.closer().is_some() {
                open.push(at);
                if open.len() > MAX_NESTING {
                    return (packed, false);
                }
            } else if kind.is_closer() {
                let opener = open.pop().map(|open| (open, &mut packed.tokens[open as usize]));
                let Some((open, opener)) = opener.filter(|it| it.1.kind.closer() == Some(kind))
                else {
                    return (packed, false);
                };
                opener.word = at;
                word = open;
            }
            packed.tokens.push(Small { word, place, length, kind, flags });
        }
        (packed, open.is_empty())
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn kind(&self, at: usize) -> Option<T> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub fn flags(&self, at: usize) -> Flags {
        self.tokens.get(at).map_or(Flags::default(), |token| token.flags)
    }

    /// The spelling; empty behind the end.
    pub fn symbol(&self, at: usize) -> Symbol {
        let Some(token) = self.tokens.get(at) else { return Symbol::EMPTY };
        let is_bracket = token.kind.nesting() != 0;
        if is_bracket { self.spellings.of(token.kind) } else { Symbol(token.word) }
    }

    /// The place of a bracket's partner.
    pub fn partner(&self, at: usize) -> Option<usize> {
        let token = self.tokens.get(at).filter(|token| token.kind.nesting() != 0)?;
        Some(token.word as usize)
    }

    pub fn span(&self, at: usize) -> Option<Span> {
        let Small { place: lo, length, .. } = *self.tokens.get(at)?;
        Some(match length {
            ODD => self.odd[lo as usize],
            _ => Span { lo, hi: lo + u32::from(length), expansion: ExpansionId::NONE },
        })
    }
}
