//! PTX text to tokens, one at a time, by logos. Knows no directive and no instruction.

use logos::Logos;

use crate::error::{ErrorKind, ParseError};

/// What a token is.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
// Counts lines. A NUL counts as white space: some producers end the text with one.
#[logos(extras = u32, error = &'static str)]
#[logos(skip r"[ \t\r\x0b\x0c\x00]+")]
#[logos(skip(r"\n", |lexer| lexer.extras += 1))]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip(r"/\*", block_comment))]
#[logos(skip("\"", open_string))]
pub enum Tok {
    /// A name, `%` and `$` included.
    #[regex(r"([A-Za-z_$]|%[A-Za-z0-9_$])[A-Za-z0-9_$]*")]
    Ident,
    /// A dot and the word after it: `.global`, `.L2::cache_hint`. The text has no dot.
    #[regex(r"\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*")]
    Dot,
    /// An integer literal, suffix included.
    #[regex(r"[0-9][A-Za-z0-9_$]*", priority = 1)]
    Int,
    /// `1.5`, `0f3F800000`, `0d...`
    #[regex(r"0[fFdD][A-Za-z0-9_$]*", priority = 4)]
    #[regex(r"[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+", priority = 3)]
    #[regex(r"[0-9]+\.[0-9]*", priority = 3)]
    Float,
    /// A string; the text has no quotes.
    #[regex("\"[^\"\n]*\"")]
    Str,
    /// A single character that is no other token.
    #[regex(r"[,;:()\[\]{}<>=+\-*/%!~&|^?@]", |lexer| lexer.slice().as_bytes()[0])]
    Punct(u8),
    /// A two-character operator of constant expressions.
    #[regex("<<|>>|==|!=|<=|>=|&&|[|][|]")]
    Op2,
    /// The end of the text.
    Eof,
}

/// Passes the rest of a comment.
fn block_comment(lexer: &mut logos::Lexer<Tok>) -> Result<(), &'static str> {
    let length = lexer.remainder().find("*/").ok_or("this comment has no end")?;
    lexer.extras += lexer.remainder()[..length].matches('\n').count() as u32;
    lexer.bump(length + 2);
    Ok(())
}

/// A quote without a partner in its line.
fn open_string(_: &mut logos::Lexer<Tok>) -> Result<(), &'static str> {
    Err("this string has no end")
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
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

impl ParseError {
    /// An error at a token of `text`.
    pub(crate) fn at(text: &str, token: &Token, kind: ErrorKind, message: String) -> ParseError {
        let before = &text.as_bytes()[..text.len().min(token.start as usize)];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = (before.len() - line_start) as u32 + 1;
        ParseError { line: token.line, column, kind, message }
    }
}

/// The position in the text.
pub struct Lexer<'a>(logos::Lexer<'a, Tok>);

impl<'a> Lexer<'a> {
    /// At the start of `text`, which must be shorter than 4 GiB.
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer(Tok::lexer_with_extras(text, 1))
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.0.source()
    }

    /// The next token.
    pub fn next_token(&mut self) -> Result<Token<'a>, ParseError> {
        let found = self.0.next().unwrap_or(Ok(Tok::Eof));
        let (text, span) = (self.0.slice(), self.0.span());
        let (start, end) = (span.start as u32, span.end as u32);
        let line = self.0.extras;
        let tok = found.map_err(|message| {
            let unexpected =
                || format!("unexpected character {:?}", text.chars().next().unwrap_or('?'));
            let message = if message.is_empty() { unexpected() } else { message.to_string() };
            let token = Token { tok: Tok::Eof, text, start, end, line };
            ParseError::at(self.text(), &token, ErrorKind::Syntax, message)
        })?;
        let text = match tok {
            Tok::Dot => &text[1..],
            Tok::Str => &text[1..text.len() - 1],
            _ => text,
        };
        Ok(Token { tok, text, start, end, line })
    }
}
