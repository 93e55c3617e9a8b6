//! Preprocessed tokens as text, for `-E`: what a compiler that reads it again would see, with the lines
//! that tell where each stood (`# 12 "file"`, as gcc writes them).

use std::fmt::Write;

use crate::lex::{Flags, Token, TokenKind};
use crate::session::Session;
use crate::source::raw;

/// Further lines forward than this, a marker says where it goes on.
const MAX_EMPTY_LINES: u32 = 8;

/// The text of a preprocessed program, with markers as gcc has them. Bytes, since old files hold some that are
/// no UTF-8.
pub fn text(tokens: &[Token], session: &Session) -> Vec<u8> {
    let mut out = Text { out: String::new(), file: String::new(), line: 0 };
    let mut previous: Option<&Token> = None;
    for token in tokens {
        let pragma = match token.kind {
            TokenKind::PragmaUnroll => Some("#pragma unroll"),
            TokenKind::PragmaNoUnroll => Some("#pragma nounroll"),
            TokenKind::PragmaCdp => Some("#pragma cdp"),
            _ => None,
        };
        let starts_line = token.flags.has(Flags::LINE_START) || pragma.is_some();
        if starts_line || previous.is_some_and(|last| last.kind == TokenKind::PragmaEnd) {
            out.go_to(token, session);
        } else if previous.is_some_and(|last| token.spaced() || would_join(last, token, session)) {
            out.out.push(' ');
        }
        match pragma {
            Some(words) => out.out.push_str(words),
            None if token.kind == TokenKind::PragmaEnd => {}
            None => out.out.push_str(&session.names[token.symbol]),
        }
        previous = Some(token);
    }
    if !out.out.is_empty() {
        out.out.push('\n');
    }
    bytes(out.out)
}

struct Text {
    out: String,
    file: String,
    /// The line that is being written, of `file`.
    line: u32,
}

impl Text {
    /// Begins the line that a token stands on.
    fn go_to(&mut self, token: &Token, session: &Session) {
        let site = session.sources.call_site(token.span);
        let Some(at) = session.sources.location(site) else { return };
        let name: &str = &at.name;
        let near =
            name == self.file && at.line >= self.line && at.line - self.line <= MAX_EMPTY_LINES;
        if near {
            (self.line..at.line).for_each(|_| self.out.push('\n'));
        } else {
            if !self.out.is_empty() {
                self.out.push('\n');
            }
            let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(self.out, "# {} \"{quoted}\"", at.line);
            self.file = name.to_owned();
        }
        self.line = at.line;
        if let Some(file) = session.sources.file_of(site.lo) {
            let start = site.lo - session.sources.file(file).base;
            let text = &session.sources.file(file).text[..start as usize];
            let line = &text[text.rfind('\n').map_or(0, |at| at + 1)..];
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            self.out.push_str(&line[..indent]);
        }
    }
}

/// Whether two tokens that macros brought together would be read as one.
fn would_join(left: &Token, right: &Token, session: &Session) -> bool {
    if left.span.hi == right.span.lo && left.span.expansion == right.span.expansion {
        return false;
    }
    let last = session.names[left.symbol].chars().next_back().unwrap_or(' ');
    let first = session.names[right.symbol].chars().next().unwrap_or(' ');
    let is_word = |c: char| c.is_alphanumeric() || "_.$".contains(c);
    let alone = |c: char| "()[]{};,".contains(c);
    match (is_word(last), is_word(first)) {
        (true, true) => true,
        (true, false) => first == '"' || first == '\'',
        (false, true) => last == '.',
        (false, false) => !alone(last) && !alone(first),
    }
}

fn bytes(text: String) -> Vec<u8> {
    if !text.as_bytes().contains(&0xf4) {
        return text.into_bytes();
    }
    let mut out = Vec::with_capacity(text.len());
    for character in text.chars() {
        match raw::byte(character) {
            Some(byte) => out.push(byte),
            None => out.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    out
}
