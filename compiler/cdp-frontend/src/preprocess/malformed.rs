//! Tokens that the lexer could not make sense of: each is reported, and something that makes sense takes its
//! place. Not here: literals with their quotes whose text is wrong, which are the parser's matter.

use super::{Frame, Preprocessor};
use crate::diagnostics::Code;
use crate::lex::{Token, TokenKind, raw_delimiter};
use crate::source::{Span, raw};

impl Preprocessor<'_> {
    /// Reports the token, and gives what stands for it.
    pub(super) fn malformed(&mut self, token: Token) -> Option<Token> {
        match token.kind {
            TokenKind::BadString => {
                Some(self.unclosed(token, "string literal", '"', TokenKind::String))
            }
            TokenKind::BadChar => {
                Some(self.unclosed(token, "character constant", '\'', TokenKind::Char))
            }
            TokenKind::BadRawString => Some(self.bad_raw_string(token)),
            TokenKind::BadComment => {
                self.cut = true;
                let span = Span { hi: token.span.lo + 2, ..token.span };
                self.error(Code::E0103, span, "this comment is never closed")
                    .label("no `*/` follows");
                None
            }
            _ => self.stray(token),
        }
    }

    /// A literal without its second quote, which is put in.
    fn unclosed(&mut self, token: Token, what: &str, quote: char, kind: TokenKind) -> Token {
        let body = self.before_the_ending(token);
        let closed = format!("{}{quote}", body.trim_end_matches('\\'));
        let text = if closed.ends_with("''") { "'?'".to_owned() } else { closed };
        self.error(Code::E0103, first(token), format!("this {what} has no closing `{quote}`"))
            .label("it begins here and the line ends first")
            .help(format!("close it with `{quote}` on the same line"));
        let symbol = self.session.names.intern(&text);
        Token { kind, symbol, ..token }
    }

    /// `R"` that begins no raw string, or one without an end; an empty string takes its place.
    fn bad_raw_string(&mut self, token: Token) -> Token {
        let body = self.before_the_ending(token);
        let opened = body.split_once('"').map_or("", |(_, behind)| behind);
        let (message, help) = match raw_delimiter(opened) {
            Some(delimiter) => (
                format!("this raw string has no closing `){delimiter}\"`"),
                format!("end it with `){delimiter}\"`"),
            ),
            None => (
                "this raw string has no `(` after its delimiter".to_owned(),
                "write `R\"(text)\"`; what stands before the `(` has at most 16 characters, no blanks, \
                 backslashes or parentheses"
                    .to_owned(),
            ),
        };
        self.error(Code::E0103, first(token), message).label("it begins here").help(help);
        Token { kind: TokenKind::String, symbol: self.session.names.intern("\"\""), ..token }
    }

    /// The text of a literal that the end of its line cuts off. What ends the statement there was probably
    /// meant to stand after the quote, and is read next.
    fn before_the_ending(&mut self, token: Token) -> String {
        let text = &self.session.names[token.symbol];
        let body = text.trim_end().trim_end_matches([';', ')', ',']).to_owned();
        let ending = text[body.len()..].trim_end().to_owned();
        let at = token.span.lo + body.len() as u32;
        let tokens = crate::lex::lex(&ending, at, &mut self.session.names, &self.spellings);
        self.frames.push(Frame { tokens, at: 0, owner: None });
        body
    }

    /// A character that begins no token. It is read on as if it were a name where it can be one, so that
    /// nothing follows from it.
    fn stray(&mut self, token: Token) -> Option<Token> {
        let text = &self.session.names[token.symbol];
        let name = Token { kind: TokenKind::Ident, ..token };
        let mut characters = text.char_indices();
        let invalid = characters.find_map(|(at, c)| Some((at, raw::byte(c)?)));
        if let Some((at, byte)) = invalid {
            let lo = token.span.lo + at as u32;
            let span = Span { lo, hi: lo + raw::LENGTH, ..token.span };
            self.error(Code::E0101, span, "the source is not valid UTF-8 here")
                .label(format!("the byte 0x{byte:02x} begins no character"))
                .note("such bytes may stand in comments and strings, as old files have them")
                .help("save the file as UTF-8");
            return Some(name);
        }
        let character = text.chars().next().unwrap_or(' ');
        let shown = match character {
            '\0' => "a NUL byte".to_owned(),
            control if control.is_control() => {
                format!("the control character U+{:04X}", control as u32)
            }
            other => format!("`{other}`"),
        };
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let message = format!("{shown} cannot be part of a program");
        let found = self.error(Code::E0102, token.span, message);
        if character.is_alphanumeric() {
            found.note("names are made of the letters a-z and A-Z, digits and `_`");
        } else if "“”„‟«»".contains(character) {
            found.help("write plain quotation marks: `\"`");
        }
        is_name.then_some(name)
    }
}

/// Where a token begins.
fn first(token: Token) -> Span {
    Span { hi: token.span.lo + 1, ..token.span }
}
