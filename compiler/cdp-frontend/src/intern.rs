//! Interned names: every identifier and token spelling is stored once and handled as a [`Symbol`].
//!
//! Not a global: the [`Interner`] belongs to a [`Session`](crate::Session), so an embedder that
//! compiles many files gives the memory back when it drops the session.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A spelling stored in an [`Interner`]. Two symbols of one interner are equal exactly when their
/// texts are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The empty text.
    pub const EMPTY: Symbol = Symbol(0);
}

/// The FNV-1a hash, folded over words: names are short, and the default hasher costs more than
/// the look-up it serves.
#[derive(Clone, Copy)]
pub struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        NameHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl NameHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.mix(u64::from_le_bytes(chunk.try_into().expect("chunk of eight")));
        }
        let mut last = [0u8; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// A hash map with the cheap hasher of this module, for keys the user cannot choose freely enough
/// to matter (symbols, small integers) and for names.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// Owns the texts behind [`Symbol`]s.
pub struct Interner {
    /// All texts one after another; `ends[i]` is where text `i` stops.
    text: String,
    ends: Vec<u32>,
    /// From hash to the symbols that have it.
    index: FastMap<u64, Vec<u32>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// An interner that knows only [`Symbol::EMPTY`].
    pub fn new() -> Self {
        let mut interner =
            Interner { text: String::new(), ends: Vec::new(), index: FastMap::default() };
        interner.intern("");
        interner
    }

    fn hash(text: &str) -> u64 {
        let mut hasher = NameHasher::default();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    /// The symbol of `text`, stored now if it is new.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = Self::hash(text);
        if let Some(found) = self.find(hash, text) {
            return found;
        }
        let symbol = Symbol(self.ends.len() as u32);
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.index.entry(hash).or_default().push(symbol.0);
        symbol
    }

    /// The symbol of `text` if it was ever interned.
    pub fn lookup(&self, text: &str) -> Option<Symbol> {
        self.find(Self::hash(text), text)
    }

    fn find(&self, hash: u64, text: &str) -> Option<Symbol> {
        let candidates = self.index.get(&hash)?;
        candidates.iter().map(|&index| Symbol(index)).find(|&symbol| self.resolve(symbol) == text)
    }

    /// The text of `symbol`, which must come from this interner.
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
