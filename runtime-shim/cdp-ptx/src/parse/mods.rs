//! The modifiers of one instruction: `.rn.ftz.f32` taken apart and ticked off.

use std::fmt::Display;

use super::{Parser, Result};
use crate::conditions::{Check, ensure};
use crate::error::{ErrorKind, ParseError};
use crate::lexer::{Tok, Token, shorten};
use crate::types::*;

/// Most modifiers that one instruction can have.
const MAX_MODS: usize = 16;

/// The words after the opcode. What an instruction does not take is an error at the end.
pub(crate) struct Mods<'a> {
    words: [&'a str; MAX_MODS],
    count: usize,
    /// Bit `i`: word `i` has been taken.
    taken: u32,
    /// The opcode.
    pub opcode: Token<'a>,
    /// The whole text, to tell the column in an error.
    source: &'a str,
}

impl<'a> Parser<'a> {
    /// Reads the modifiers that follow an opcode.
    pub fn mods(&mut self, opcode: Token<'a>) -> Result<Mods<'a>> {
        let source = self.source();
        let mut mods = Mods { words: [""; MAX_MODS], count: 0, taken: 0, opcode, source };
        while self.peek.tok == Tok::Dot {
            let token = self.next()?;
            if mods.count == MAX_MODS {
                fail!(self, token, Limit, "more than {MAX_MODS} modifiers");
            }
            mods.words[mods.count] = token.text;
            mods.count += 1;
        }
        Ok(mods)
    }
}

impl<'a> Mods<'a> {
    fn untaken(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        let taken = self.taken;
        let words = self.words.iter().take(self.count).enumerate();
        words.filter(move |(i, _)| taken & (1 << i) == 0).map(|(i, word)| (i, *word))
    }

    /// Takes the first word that `read` understands.
    pub fn take<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (index, value) = self.untaken().find_map(|(i, word)| Some((i, read(word)?)))?;
        self.taken |= 1 << index;
        Some(value)
    }

    /// Takes the word if it is there.
    pub fn flag(&mut self, word: &str) -> bool {
        self.take(|found| (found == word).then_some(())).is_some()
    }

    /// Takes a word that must be there.
    pub fn word(&mut self, word: &str) -> Result<()> {
        self.need(format_args!("`.{word}`"), |found| (found == word).then_some(()))
    }

    /// Is the word there, taken or not?
    pub fn mentions(&self, word: &str) -> bool {
        self.words[..self.count].contains(&word)
    }

    /// Are the words there, not yet taken?
    pub fn all(&self, words: &[&str]) -> bool {
        words.iter().all(|word| self.has(word))
    }

    /// How many words of this kind are there, not yet taken?
    pub fn count_of<T>(&self, read: impl Fn(&str) -> Option<T>) -> usize {
        self.untaken().filter(|(_, word)| read(word).is_some()).count()
    }

    /// The scalar types that are not taken yet.
    pub fn types(&self) -> impl Iterator<Item = ScalarType> + '_ {
        self.untaken().filter_map(|(_, word)| ScalarType::from_str(word))
    }

    /// Is the word there, not yet taken?
    pub fn has(&self, word: &str) -> bool {
        self.untaken().any(|(_, found)| found == word)
    }

    /// Is a word of this kind, taken or not, before the first scalar type?
    pub fn first_is<T>(&self, read: impl Fn(&str) -> Option<T>) -> bool {
        let words = &self.words[..self.count];
        let kind = words.iter().position(|word| read(word).is_some());
        let scalar = words.iter().position(|word| ScalarType::from_str(word).is_some());
        kind.is_some_and(|kind| scalar.is_none_or(|scalar| kind < scalar))
    }

    /// Takes the first word of a kind, which must be one of `allowed`, as what no word means must.
    pub fn one_of<W: Word>(&mut self, allowed: &[W]) -> Result<W> {
        let found = self.take(W::of);
        if let Some(known) = found.or_else(W::unwritten).filter(|word| allowed.contains(word)) {
            return Ok(known);
        }
        let words: Vec<String> = allowed.iter().map(|word| format!(".{}", word.word())).collect();
        let (name, known, opcode) = (self.full_name(), words.join(" "), self.opcode.text);
        Err(self.error(match found.map(W::word) {
            Some(word) => {
                format!("`{name}`: `.{word}` does not go with `{opcode}`; known: {known}")
            }
            None => format!("`{name}` needs one of {known}"),
        }))
    }

    /// Takes what must be there.
    pub fn need<T>(&mut self, what: impl Display, read: impl Fn(&str) -> Option<T>) -> Result<T> {
        let found = self.take(read);
        found.ok_or_else(|| self.error(format!("`{}` needs {what}", self.full_name())))
    }

    /// Fails if a modifier is left.
    pub fn finish(&self) -> Result<()> {
        let Some((_, word)) = self.untaken().next() else { return Ok(()) };
        Err(self.error(format!("unknown modifier `.{word}` on `{}`", self.full_name())))
    }

    /// The error "this combination of modifiers does not exist".
    pub fn bad(&self, why: &str) -> ParseError {
        self.error(format!("`{}` does not exist: {why}", self.full_name()))
    }

    /// Fails with [`Mods::bad`] unless `ok`.
    pub fn require(&self, ok: bool, why: &'static str) -> Result<()> {
        self.check(ensure(ok, why))
    }

    /// Fails with [`Mods::bad`] if something is wrong.
    pub fn check(&self, result: Check) -> Result<()> {
        result.map_err(|why| self.bad(why))
    }

    fn error(&self, message: String) -> ParseError {
        ParseError::at(self.source, &self.opcode, ErrorKind::UnknownModifier, message)
    }

    /// Opcode and modifiers as written.
    pub fn full_name(&self) -> String {
        let words = [&[self.opcode.text], &self.words[..self.count]].concat();
        shorten(&words.join("."))
    }
}

/// The length of a vector.
pub(crate) fn vector(word: &str) -> Option<usize> {
    word.strip_prefix('v')?.parse().ok().filter(|count| matches!(count, 2 | 4 | 8))
}
