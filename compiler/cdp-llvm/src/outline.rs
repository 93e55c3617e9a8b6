//! PTX text as the items of its module, without a word on what their instructions are: where each is, its
//! name, and the names that it mentions.
//!
//! It works on tokens, so that instructions no reader knows pass, and keeps none: whoever wants those of an item reads
//! them again, which is cheap beside forty bytes of memory for each.

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
    /// `.extern`: what it names is defined elsewhere.
    pub is_extern: bool,
    /// Ends before the text does.
    pub is_complete: bool,
    /// The bytes of the text that it takes, with its linkage and its semicolon or body.
    pub place: Range<usize>,
    /// The text there.
    pub text: &'a str,
}

impl<'a> Item<'a> {
    /// Is it a kernel or a device function, defined or declared?
    pub fn is_function(&self) -> bool {
        matches!(self.kind, ItemKind::Kernel | ItemKind::Function)
    }

    /// Its tokens, without those of `.loc` and `.file`; their places count from where the item begins.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        // They were read before.
        Tokens::new(self.text).map_while(Result::ok)
    }

    /// The names in it: its own, and those of registers, parameters and labels too.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.tokens().filter(|token| token.tok == Tok::Ident).map(|token| token.text)
    }
}

/// The module's items in order. Not in them: `.loc` and `.file`.
///
/// # Errors
/// For text whose tokens cannot be read.
pub fn items(text: &str) -> Result<Vec<Item<'_>>, ParseError> {
    let mut items = Vec::new();
    let mut begun: Option<Begun<'_>> = None;
    for token in Tokens::new(text) {
        let token = token?;
        let is_next =
            |item: &mut Begun<'_>| item.kind == ItemKind::Header && item.line != token.line;
        items.extend(begun.take_if(is_next).map(|item| item.end(text, true)));
        let item = begun.get_or_insert_with(|| Begun::new(&token));
        if item.takes(&token) {
            items.extend(begun.take().map(|item| item.end(text, true)));
        }
    }
    items.extend(begun.map(|item| {
        let is_header = item.kind == ItemKind::Header;
        item.end(text, is_header)
    }));
    Ok(items)
}

/// An item of which only the beginning was read.
struct Begun<'a> {
    kind: ItemKind,
    name: &'a str,
    is_extern: bool,
    is_initialised: bool,
    /// Of the first token.
    line: u32,
    place: Range<usize>,
    braces: u32,
    /// The results of a function stand in parentheses before its name.
    parentheses: u32,
    last: Tok,
}

impl<'a> Begun<'a> {
    fn new(first: &Token<'a>) -> Begun<'a> {
        let kind = match first.text {
            _ if first.tok != Tok::Dot => ItemKind::Other,
            "version" | "target" | "address_size" => ItemKind::Header,
            "section" => ItemKind::Section,
            _ => ItemKind::Other,
        };
        let place = first.start as usize..first.end as usize;
        Begun {
            kind,
            name: "",
            is_extern: false,
            is_initialised: false,
            line: first.line,
            place,
            braces: 0,
            parentheses: 0,
            last: first.tok,
        }
    }

    /// Whether the item ends with this token.
    fn takes(&mut self, token: &Token<'a>) -> bool {
        self.place.end = token.end as usize;
        self.last = token.tok;
        if self.kind == ItemKind::Header {
            return false;
        }
        match token.tok {
            Tok::Dot if self.braces == 0 => self.takes_directive(token.text),
            Tok::Ident if self.name.is_empty() && self.parentheses == 0 => self.name = token.text,
            Tok::Punct(b'(') => self.parentheses += 1,
            Tok::Punct(b')') => self.parentheses = self.parentheses.saturating_sub(1),
            Tok::Punct(b'{') => self.braces += 1,
            Tok::Punct(b'}') => {
                self.braces = self.braces.saturating_sub(1);
                return self.braces == 0 && !self.is_initialised;
            }
            Tok::Punct(b'=') if self.braces == 0 => self.is_initialised = true,
            Tok::Punct(b';') => return self.braces == 0,
            _ => {}
        }
        false
    }

    fn takes_directive(&mut self, word: &str) {
        match word {
            "entry" if self.kind == ItemKind::Other => self.kind = ItemKind::Kernel,
            "func" if self.kind == ItemKind::Other => self.kind = ItemKind::Function,
            "extern" => self.is_extern = true,
            _ => {}
        }
    }

    fn end(self, text: &'a str, is_complete: bool) -> Item<'a> {
        let Begun { kind, name, is_extern, place, .. } = self;
        let is_function = matches!(kind, ItemKind::Kernel | ItemKind::Function);
        let has_body = is_function && self.last == Tok::Punct(b'}');
        let text = &text[place.clone()];
        Item { kind, name, has_body, is_extern, is_complete, place, text }
    }
}

/// The tokens of a text but those of `.loc` and `.file`, which end with their line.
struct Tokens<'a> {
    lexer: Lexer<'a>,
    /// The line of the last token and whether a statement may begin after it.
    before: Option<(u32, bool)>,
    left_out: Option<u32>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Tokens<'a> {
        Tokens { lexer: Lexer::new(text), before: None, left_out: None }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let token = match self.lexer.next_token() {
                Ok(token) if token.tok == Tok::Eof => return None,
                Ok(token) => token,
                Err(error) => return Some(Err(error)),
            };
            let begins = self.before.is_none_or(|(line, ends)| ends || line != token.line);
            if begins && token.tok == Tok::Dot && matches!(token.text, "loc" | "file") {
                self.left_out = Some(token.line);
            }
            if self.left_out != Some(token.line) {
                self.before = Some((token.line, ends(&token)));
                return Some(Ok(token));
            }
        }
    }
}

/// Whether a statement may begin after this token.
pub fn ends(token: &Token<'_>) -> bool {
    matches!(token.tok, Tok::Punct(b';' | b'{' | b'}' | b':'))
}
