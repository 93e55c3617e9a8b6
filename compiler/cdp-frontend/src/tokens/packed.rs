//! Tokens as the parser holds them: twelve bytes each instead of twenty-four, since a large program's tokens
//! and its tree are in memory together. What few tokens need stands beside them.

use std::cell::Cell;

use crate::intern::{FastMap, Symbol};
use crate::lex::{Flags, Spellings, Token, TokenKind as T};
use crate::source::{ExpansionId, Span};

/// No partner.
const NONE: u32 = u32::MAX;

/// A token without what few have.
struct Small {
    /// The spelling; of a bracket the place of its partner, because its kind says the spelling.
    word: u32,
    lo: u32,
    /// Bytes, unless `Packed::long` knows better.
    length: u16,
    kind: T,
    flags: Flags,
}

const _: () = assert!(size_of::<Small>() == 12);

/// Tokens with balanced brackets.
pub struct Packed {
    tokens: Vec<Small>,
    /// The ends of tokens with more than 65,535 bytes, by place.
    long: FastMap<u32, u32>,
    /// Where another expansion begins than that of the token before, ascending.
    expansions: Vec<(u32, ExpansionId)>,
    /// Which of them was asked for last: mostly it is asked for again.
    last: Cell<usize>,
    spellings: Spellings,
}

fn is_bracket(kind: T) -> bool {
    kind.is_closer() || kind.closer().is_some()
}

impl Packed {
    /// Of tokens whose brackets match.
    pub fn new(tokens: Vec<Token>, spellings: Spellings) -> Self {
        let mut packed = Packed {
            tokens: Vec::with_capacity(tokens.len()),
            long: FastMap::default(),
            expansions: vec![(0, ExpansionId::NONE)],
            last: Cell::new(0),
            spellings,
        };
        let (mut expansion, mut open) = (ExpansionId::NONE, Vec::new());
        for (at, token) in (0u32..).zip(tokens) {
            let Token { kind, flags, symbol, span } = token;
            if span.expansion != expansion {
                expansion = span.expansion;
                packed.expansions.push((at, expansion));
            }
            let length = u16::try_from(span.hi - span.lo).unwrap_or_else(|_| {
                packed.long.insert(at, span.hi);
                u16::MAX
            });
            let mut word = symbol.0;
            if kind.closer().is_some() {
                word = NONE;
                open.push(at);
            } else if kind.is_closer() {
                word = open.pop().unwrap_or(NONE);
                if let Some(opener) = packed.tokens.get_mut(word as usize) {
                    opener.word = at;
                }
            }
            packed.tokens.push(Small { word, lo: span.lo, length, kind, flags });
        }
        packed
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
        let token = self.tokens.get(at)?;
        let key = at as u32;
        let hi = match token.length {
            u16::MAX => self.long.get(&key).copied(),
            _ => None,
        };
        let hi = hi.unwrap_or(token.lo + u32::from(token.length));
        Some(Span { lo: token.lo, hi, expansion: self.expansion(key) })
    }

    fn expansion(&self, key: u32) -> ExpansionId {
        let begins = |run: usize| self.expansions.get(run).is_some_and(|(start, _)| *start <= key);
        if !begins(self.last.get()) || begins(self.last.get() + 1) {
            self.last.set(self.expansions.partition_point(|(start, _)| *start <= key) - 1);
        }
        self.expansions[self.last.get()].1
    }
}
