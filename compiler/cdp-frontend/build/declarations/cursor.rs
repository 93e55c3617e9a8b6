//! A place in a file of declarations, and what is read there.

use super::{Mistake, Result};

/// A place in a text.
#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    text: &'t str,
    pub at: usize,
    /// The first line's number in the file.
    line: usize,
}

impl<'t> Cursor<'t> {
    /// The begin of a text whose first line has this number.
    pub fn new(text: &'t str, line: usize) -> Self {
        Cursor { text, at: 0, line }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Whether a block ends before this place.
    pub fn ends_block(&self) -> bool {
        self.text[..self.at].ends_with('}')
    }

    pub fn line(&self) -> usize {
        self.line + self.text[..self.at].matches('\n').count()
    }

    pub fn mistake(&self, text: String) -> Mistake {
        Mistake { line: self.line(), text }
    }

    /// Passes over white space and comments that are no summary.
    pub fn skip_space(&mut self) {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with("//") || self.rest().starts_with("///") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// The word that begins here; empty for something else.
    pub fn word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &rest[..end.unwrap_or(rest.len())]
    }

    pub fn take_word(&mut self) -> &'t str {
        let word = self.word();
        self.at += word.len();
        self.skip_space();
        word
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// What stands before the next such character, which is passed over.
    pub fn until(&mut self, end: char) -> Result<&'t str> {
        let (found, _) = (self.rest().split_once(end))
            .ok_or_else(|| self.mistake(format!("no {end:?} after this")))?;
        self.at += found.len() + 1;
        Ok(found)
    }

    /// Lines of `///`, joined.
    pub fn summary(&mut self) -> String {
        let mut lines = Vec::new();
        while self.eat("///") {
            let line = self.rest().lines().next().unwrap_or_default();
            lines.push(line.trim());
            self.at += line.len();
            self.skip_space();
        }
        lines.join(" ")
    }

    /// What stands within the braces here.
    pub fn block(&mut self) -> Result<&'t str> {
        if !self.eat("{") {
            return Err(self.mistake("no `{` here".to_owned()));
        }
        let inside = self.rest();
        let (mut depth, mut previous, mut quoted, mut comment) = (1, ' ', false, false);
        for (at, c) in inside.char_indices() {
            comment &= c != '\n';
            comment |= !quoted && c == '/' && previous == '/';
            quoted ^= !comment && c == '"' && previous != '\\';
            match c {
                '{' if !quoted && !comment => depth += 1,
                '}' if !quoted && !comment => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += at + 1;
                return Ok(&inside[..at]);
            }
            previous = c;
        }
        Err(self.mistake("the `{` before this has no `}`".to_owned()))
    }

    pub fn string(&mut self) -> Result<&'t str> {
        self.skip_space();
        if !self.eat("\"") {
            return Err(self.mistake("no string here".to_owned()));
        }
        self.until('"')
    }

    /// Rust up to what ends a lowering: `;`, `:` between spaces, or `host`.
    pub fn expression(&mut self) -> &'t str {
        let rest = self.rest();
        let ends = [";", " :", " host ", "\n"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim()
    }
}
