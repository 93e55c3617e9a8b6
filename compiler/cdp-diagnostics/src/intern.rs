//! Interned names: every identifier and token spelling is stored once and handled as a [`Symbol`].
//!
//! Not a global: the [`Interner`] belongs to a session of the front end, so an embedder that
//! compiles many files gives the memory back when it drops the session.

use std::hash::{BuildHasher, RandomState};

/// A spelling stored in an [`Interner`]. Two symbols of one interner are equal exactly when their
/// texts are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The empty text.
    pub const EMPTY: Symbol = Symbol(0);
}

/// A hash map with a cheap hasher, for names and for keys the user cannot choose freely enough to matter (symbols,
/// small integers): the standard library's costs more than the look-up it serves.
pub use rustc_hash::FxHashMap as FastMap;
/// The same of a set.
pub use rustc_hash::FxHashSet as FastSet;

/// Owns the texts behind [`Symbol`]s.
#[derive(Clone)]
pub struct Interner {
    /// All texts one after another; `ends[i]` is where text `i` stops.
    text: String,
    ends: Vec<u32>,
    /// Open addressing over a power of two: symbol number plus one, or 0 for a free place.
    table: Vec<u32>,
    /// Seeded at random, so that names cannot be chosen to collide.
    hasher: RandomState,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// An interner that knows only [`Symbol::EMPTY`].
    pub fn new() -> Self {
        let mut interner = Interner {
            text: String::new(),
            ends: Vec::new(),
            table: vec![0; 4096],
            hasher: RandomState::new(),
        };
        interner.intern("");
        interner
    }

    /// The place of `text` in the table, or the free place where it belongs.
    fn place(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(text) as usize & mask;
        while self.table[place] != 0 && self.resolve(Symbol(self.table[place] - 1)) != text {
            place = (place + 1) & mask;
        }
        place
    }

    /// The symbol of `text`, stored now if it is new.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let place = self.place(text);
        if self.table[place] != 0 {
            return Symbol(self.table[place] - 1);
        }
        let symbol = Symbol(self.ends.len() as u32);
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.table[place] = symbol.0 + 1;
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        symbol
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for index in 0..self.ends.len() as u32 {
            let place = self.place(self.resolve(Symbol(index)));
            self.table[place] = index + 1;
        }
    }

    /// Number of symbols; every [`Symbol`] of this interner is below it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// False: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The symbol of `text` if it was ever interned.
    pub fn lookup(&self, text: &str) -> Option<Symbol> {
        self.table[self.place(text)].checked_sub(1).map(Symbol)
    }

    /// The text of `symbol`, which must come from this interner.
    #[inline]
    pub fn resolve(&self, symbol: Symbol) -> &str {
        let index = symbol.0 as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }
}

impl std::ops::Index<Symbol> for Interner {
    type Output = str;

    fn index(&self, symbol: Symbol) -> &str {
        self.resolve(symbol)
    }
}
