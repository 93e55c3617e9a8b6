//! PTX text as the items of its module, without a word on what their instructions are: where each is, its
//! name, and the names that it mentions.
//!
//! It works on tokens, so that instructions no reader knows pass.

use std::ops::Range;

use cdp_ptx::ParseError;
use cdp_ptx::lexer::{Lexer, Tok, Token};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// `.version`, `.target`, `.address_size`.
    Header,
    /// `.entry`
    Kernel,
    /// `.func`
    Function,
    /// `.section`, which debuggers alone read.
    Section,
    /// Anything else that ends with a semicolon: mostly variables.
    Other,
}

/// Something at the top of a module.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// What it is.
    pub kind: ItemKind,
    /// Its symbol; empty for the header.
    pub name: &'a str,
    /// Defines its function.
    pub has_body: bool,
    /// Ends before the text does.
    pub is_complete: bool,
    pub(crate) tokens: Vec<Token<'a>>,
}

impl<'a> Item<'a> {
    /// Is it a kernel or a device function, defined or declared?
    pub fn is_function(&self) -> bool {
        matches!(self.kind, ItemKind::Kernel | ItemKind::Function)
    }

    /// The bytes of the text that it takes, with its linkage and its semicolon or body.
    pub fn place(&self) -> Range<usize> {
        let (first, last) = (self.tokens.first(), self.tokens.last());
        first.map_or(0, |token| token.start as usize)..last.map_or(0, |token| token.end as usize)
    }

    /// The names in it: its own, and those of registers, parameters and labels too.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        let names = self.tokens.iter().filter(|token| token.tok == Tok::Ident);
        names.map(|token| token.text)
    }
}

/// The module's items in order. Not in them: `.loc` and `.file`.
///
/// # Errors
/// For text whose tokens cannot be read.
pub fn items(text: &str) -> Result<Vec<Item<'_>>, ParseError> {
    let tokens = tokens(text)?;
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let word = if first.tok == Tok::Dot { first.text } else { "" };
        let is_header = matches!(word, "version" | "target" | "address_size");
        let (end, is_complete) =
            if is_header { (end_of_line(&tokens, at), true) } else { end_of_item(&tokens, at) };
        let tokens = &tokens[at..end];
        at = end;
        let has = |word| tokens.iter().any(|token| token.tok == Tok::Dot && token.text == word);
        let kind = match word {
            _ if is_header => ItemKind::Header,
            "section" => ItemKind::Section,
            _ if has("entry") => ItemKind::Kernel,
            _ if has("func") => ItemKind::Function,
            _ => ItemKind::Other,
        };
        let name = if is_header { "" } else { name(tokens) };
        let ends_body = tokens.last().is_some_and(|token| token.tok == Tok::Punct(b'}'));
        let mut item = Item { kind, name, has_body: false, is_complete, tokens: tokens.to_vec() };
        item.has_body = ends_body && item.is_function();
        items.push(item);
    }
    Ok(items)
}

/// The first name; the results of a function stand in parentheses before it.
fn name<'a>(tokens: &[Token<'a>]) -> &'a str {
    let mut depth = 0_u32;
    for token in tokens {
        match token.tok {
            Tok::Punct(b'(') => depth += 1,
            Tok::Punct(b')') => depth = depth.saturating_sub(1),
            Tok::Ident if depth == 0 => return token.text,
            _ => {}
        }
    }
    ""
}

/// All tokens but those of `.loc` and `.file`, which end with their line.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer::new(text);
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut left_out = None;
    loop {
        let token = lexer.next_token()?;
        if token.tok == Tok::Eof {
            return Ok(tokens);
        }
        let begins = tokens.last().is_none_or(|last| last.line != token.line || ends(last));
        if begins && token.tok == Tok::Dot && matches!(token.text, "loc" | "file") {
            left_out = Some(token.line);
        }
        if left_out != Some(token.line) {
            tokens.push(token);
        }
    }
}

/// Whether a statement may begin after this token.
pub(crate) fn ends(token: &Token<'_>) -> bool {
    matches!(token.tok, Tok::Punct(b';' | b'{' | b'}' | b':'))
}

fn end_of_line(tokens: &[Token<'_>], at: usize) -> usize {
    let line = tokens[at].line;
    at + tokens[at..].iter().take_while(|token| token.line == line).count()
}

/// Past the semicolon or the body of the item that begins here, and whether there is one.
fn end_of_item(tokens: &[Token<'_>], begun: usize) -> (usize, bool) {
    let mut depth = 0_u32;
    let mut is_initialised = false;
    for (at, token) in tokens.iter().enumerate().skip(begun) {
        match token.tok {
            Tok::Punct(b'{') => depth += 1,
            Tok::Punct(b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !is_initialised {
                    return (at + 1, true);
                }
            }
            Tok::Punct(b'=') if depth == 0 => is_initialised = true,
            Tok::Punct(b';') if depth == 0 => return (at + 1, true),
            _ => {}
        }
    }
    (tokens.len(), false)
}
