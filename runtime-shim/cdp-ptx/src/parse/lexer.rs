//! PTX text to tokens, one at a time. Knows no directive and no instruction.

use crate::error::{ErrorKind, ParseError};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tok {
    /// A name, `%` and `$` included.
    Ident,
    /// A dot and the word after it: `.global`, `.L2::cache_hint`. The text has no dot.
    Dot,
    /// An integer literal, suffix included.
    Int,
    /// `1.5`, `0f3F800000`, `0d...`
    Float,
    /// A string; the text has no quotes.
    Str,
    /// A single character, `<<`, `>>`, `==` and the like excepted (see [`Tok::Op2`]).
    Punct(u8),
    /// A two-character operator of constant expressions.
    Op2,
    /// The end of the text.
    Eof,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub tok: Tok,
    /// Its text.
    pub text: &'a str,
    /// Byte offset of its first character (the dot or quote, if any).
    pub start: u32,
    /// Byte offset after its last character.
    pub end: u32,
    /// Line, from 1.
    pub line: u32,
}

/// How the token is named in a message.
impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tok {
            Tok::Eof => f.write_str("the end of the text"),
            Tok::Dot => write!(f, "`.{}`", shorten(self.text)),
            Tok::Str => write!(f, "the string \"{}\"", shorten(self.text)),
            _ => write!(f, "`{}`", shorten(self.text)),
        }
    }
}

/// At most 60 characters of a name, so that a hostile text cannot make a huge message.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// Column in bytes, from 1, of a byte offset into `text`.
pub fn column(text: &str, offset: u32) -> u32 {
    let before = &text.as_bytes()[..(offset as usize).min(text.len())];
    let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
    (before.len() - line_start) as u32 + 1
}

/// The position in the text.
#[derive(Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    position: usize,
    line: u32,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    /// At the start of `text`, which must be shorter than 4 GiB.
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, position: 0, line: 1 }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    fn error(&self, offset: usize, message: String) -> ParseError {
        ParseError {
            line: self.line,
            column: column(self.text, offset as u32),
            kind: ErrorKind::Syntax,
            message,
        }
    }

    /// Passes white space and comments. A NUL counts as white space: some producers end the text
    /// with one.
    fn skip_blank(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.position) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.position += 1;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | 0 => self.position += 1,
                b'/' if self.byte(1) == b'/' => {
                    let rest = &bytes[self.position..];
                    let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                    self.position += length;
                }
                b'/' if self.byte(1) == b'*' => self.skip_block_comment()?,
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_block_comment(&mut self) -> Result<(), ParseError> {
        let start = self.position;
        let rest = &self.text.as_bytes()[start + 2..];
        let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
            return Err(self.error(start, "this comment has no end".to_string()));
        };
        self.line += rest[..length].iter().filter(|b| **b == b'\n').count() as u32;
        self.position = start + 2 + length + 2;
        Ok(())
    }

    fn word_end(&self, mut end: usize) -> usize {
        let bytes = self.text.as_bytes();
        while bytes.get(end).is_some_and(|b| is_word(*b)) {
            end += 1;
        }
        end
    }

    /// The next token.
    pub fn next_token(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank()?;
        let start = self.position;
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(start) else {
            return Ok(self.token(Tok::Eof, start, start, start));
        };
        if first.is_ascii_alphabetic()
            || matches!(first, b'_' | b'$')
            || (first == b'%' && is_word(self.byte(1)))
        {
            let end = self.word_end(start + 1);
            return Ok(self.token(Tok::Ident, start, start, end));
        }
        match first {
            b'.' if is_word(self.byte(1)) => {
                let mut end = self.word_end(start + 1);
                while bytes.get(end..end + 2) == Some(b"::")
                    && bytes.get(end + 2).is_some_and(|b| is_word(*b))
                {
                    end = self.word_end(end + 2);
                }
                Ok(self.token(Tok::Dot, start, start + 1, end))
            }
            b'0'..=b'9' => Ok(self.number(start)),
            b'"' => self.string(start),
            b'<' | b'>' | b'=' | b'!' | b'&' | b'|'
                if matches!(
                    &bytes[start..(start + 2).min(bytes.len())],
                    b"<<" | b">>" | b"==" | b"!=" | b"<=" | b">=" | b"&&" | b"||"
                ) =>
            {
                Ok(self.token(Tok::Op2, start, start, start + 2))
            }
            b',' | b';' | b':' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'='
            | b'+' | b'-' | b'*' | b'/' | b'%' | b'!' | b'~' | b'&' | b'|' | b'^' | b'?' | b'@' => {
                Ok(self.token(Tok::Punct(first), start, start, start + 1))
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('?');
                Err(self.error(start, format!("unexpected character {found:?}")))
            }
        }
    }

    fn token(&mut self, tok: Tok, start: usize, text_start: usize, end: usize) -> Token<'a> {
        self.position = end;
        Token {
            tok,
            text: &self.text[text_start..end],
            start: start as u32,
            end: end as u32,
            line: self.line,
        }
    }

    fn number(&mut self, start: usize) -> Token<'a> {
        let bytes = self.text.as_bytes();
        let mut end = self.word_end(start);
        let prefix = bytes.get(start..start + 2).unwrap_or(b"");
        match prefix {
            b"0f" | b"0F" | b"0d" | b"0D" => return self.token(Tok::Float, start, start, end),
            b"0x" | b"0X" => return self.token(Tok::Int, start, start, end),
            _ => {}
        }
        let mut float = bytes[start..end].iter().any(|b| matches!(b, b'e' | b'E'));
        let digits_only = bytes[start..end].iter().all(u8::is_ascii_digit);
        if digits_only && bytes.get(end) == Some(&b'.') {
            let next = bytes.get(end + 1).copied().unwrap_or(b' ');
            if next.is_ascii_digit() || !is_word(next) {
                float = true;
                end = self.word_end(end + 1);
            }
        }
        if float
            && matches!(bytes[end - 1], b'e' | b'E')
            && bytes.get(end).is_some_and(|b| matches!(b, b'+' | b'-'))
        {
            end = self.word_end(end + 1);
        }
        self.token(if float { Tok::Float } else { Tok::Int }, start, start, end)
    }

    fn string(&mut self, start: usize) -> Result<Token<'a>, ParseError> {
        let rest = &self.text.as_bytes()[start + 1..];
        let length = rest.iter().position(|b| matches!(b, b'"' | b'\n'));
        match length {
            Some(length) if rest[length] == b'"' => {
                let mut token = self.token(Tok::Str, start, start + 1, start + 1 + length);
                self.position += 1;
                token.end += 1;
                Ok(token)
            }
            _ => Err(self.error(start, "this string has no end".to_string())),
        }
    }

    /// Passes everything up to and including the `}` that closes an already opened block, without
    /// looking at what is inside (debug sections).
    pub fn skip_block(&mut self) -> Result<(), ParseError> {
        let start = self.position;
        let mut depth = 1u32;
        loop {
            let token = self.next_token()?;
            match token.tok {
                Tok::Punct(b'{') => depth += 1,
                Tok::Punct(b'}') => depth -= 1,
                Tok::Eof => {
                    return Err(self.error(start, "this block has no closing `}`".to_string()));
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
