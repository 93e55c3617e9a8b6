//! Tokens as the parser holds them: twelve bytes each instead of twenty-four, since a large program's tokens
//! and its tree are in memory together. What few tokens need stands beside them.

use crate::intern::Symbol;
use crate::lex::{Flags, Spellings, Token, TokenKind as T};
use crate::source::{ExpansionId, Span};

/// No partner.
const NONE: u32 = u32::MAX;
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

fn is_bracket(kind: T) -> bool {
    kind.nesting() != 0
}

impl Packed {
    /// Of tokens whose brackets match.
    pub fn new(list: Vec<Token>, spellings: Spellings) -> Self {
        let mut tokens: Vec<Small> = Vec::with_capacity(list.len());
        let (mut odd, mut open) = (Vec::new(), Vec::new());
        for (at, Token { kind, flags, symbol, span }) in (0u32..).zip(list) {
            let (place, length) = match u16::try_from(span.hi - span.lo) {
                Ok(length) if length != ODD && span.expansion == ExpansionId::NONE => {
                    (span.lo, length)
                }
                _ => {
                    odd.push(span);
                    (odd.len() as u32 - 1, ODD)
                }
            };
            let mut word = symbol.0;
            if kind.closer().is_some() {
                word = NONE;
                open.push(at);
            } else if kind.is_closer() {
                word = open.pop().unwrap_or(NONE);
                if let Some(opener) = tokens.get_mut(word as usize) {
                    opener.word = at;
                }
            }
            tokens.push(Small { word, place, length, kind, flags });
        }
        Packed { tokens, odd, spellings }
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
        if is_bracket(token.kind) { self.spellings.of(token.kind) } else { Symbol(token.word) }
    }

    /// The place of a bracket's partner.
    pub fn partner(&self, at: usize) -> Option<usize> {
        let token = self.tokens.get(at)?;
        (is_bracket(token.kind) && token.word != NONE).then_some(token.word as usize)
    }

    pub fn span(&self, at: usize) -> Option<Span> {
        let Small { place: lo, length, .. } = *self.tokens.get(at)?;
        Some(match length {
            ODD => self.odd[lo as usize],
            _ => Span { lo, hi: lo + u32::from(length), expansion: ExpansionId::NONE },
        })
    }
}
