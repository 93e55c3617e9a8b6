//! From the text of one file to preprocessing tokens, by logos.
//!
//! Keywords are identifiers here and numbers are not yet values: both wait until macros are
//! expanded. Nothing is reported here either, since a token in a skipped `#if` group may be
//! anything; malformed tokens have kinds of their own and are reported when they are used.

use logos::{Filter, Lexer, Logos, Skip};

use crate::intern::{Interner, Symbol};
use crate::source::{ExpansionId, Span};

/// Declares the kinds: each with its punctuators, if it has some.
macro_rules! kinds {
    ($($(#[$($attribute:tt)*])* $kind:ident $(= $($punctuator:tt)|+)?,)*) => {
        /// What a preprocessing token is.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[logos(skip r"[ \t\r\x0B\x0C]+")]
        #[logos(skip r"\\[ \t]*\r?\n")]
        #[repr(u8)]
        pub enum TokenKind {
            $($(#[$($attribute)*])* $($(#[token($punctuator)])+)? $kind,)*
        }
    };
}

kinds! {
    #[regex(r"[A-Za-z_$](?:[A-Za-z0-9_$]|\\\r?\n)*")]
    Ident,
    /// A preprocessing number: integer or floating literal, valid or not.
    #[regex(r"\.?[0-9](?:[eEpP][+\-]|'[0-9A-Za-z_]|[0-9A-Za-z_.]|\\\r?\n)*")]
    Number,
    /// A string literal with its prefix.
    #[regex(r#"(?:u8|u|U|L)?""#, |lexer| quoted(lexer, b'"'))]
    String,
    /// A string literal that the end of the line cuts off.
    BadString,
    /// `R"x(...)x"`
    #[regex(r#"(?:u8|u|U|L)?R""#, raw_string)]
    RawString,
    /// `R"` with a delimiter that is none, like a string; or without its end, up to the end of the line.
    BadRawString,
    /// A character constant with its prefix.
    #[regex(r"(?:u8|u|U|L)?'", |lexer| quoted(lexer, b'\''))]
    Char,
    /// A character constant that the end of the line cuts off.
    BadChar,
    /// A line end outside comments; never leaves this module.
    #[token("\n")]
    Newline,
    #[token("//", line_comment)]
    #[token("/*", block_comment)]
    // The two characters of the opener on lines that a backslash joins.
    #[regex(r"/(?:\\\r?\n)+/", line_comment)]
    #[regex(r"/(?:\\\r?\n)+\*", block_comment)]
    /// A `/*` without its `*/`, up to the end of the file.
    BadComment,
    /// A character that begins no token.
    Stray,

    LParen = "(", RParen = ")", LBracket = "[" | "<:", RBracket = "]" | ":>", LBrace = "{" | "<%",
    RBrace = "}" | "%>", Semi = ";", Comma = ",", Ellipsis = "...", Dot = ".", DotStar = ".*",
    Arrow = "->", ArrowStar = "->*", Colon = ":", ColonColon = "::", Question = "?",
    Hash = "#" | "%:", HashHash = "##" | "%:%:",
    Tilde = "~", Bang = "!", Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%",
    Caret = "^", Amp = "&", Pipe = "|",
    Eq = "=", PlusEq = "+=", MinusEq = "-=", StarEq = "*=", SlashEq = "/=", PercentEq = "%=",
    CaretEq = "^=", AmpEq = "&=", PipeEq = "|=",
    EqEq = "==", Ne = "!=", Lt = "<", Gt = ">", Le = "<=", Ge = ">=", Spaceship = "<=>",
    AndAnd = "&&", OrOr = "||", Shl = "<<", Shr = ">>", ShlEq = "<<=", ShrEq = ">>=",
    PlusPlus = "++", MinusMinus = "--", LaunchOpen = "<<<", LaunchClose = ">>>",

    /// `#pragma unroll`; its expression's tokens and a [`PragmaEnd`](Self::PragmaEnd) follow.
    PragmaUnroll,
    /// `#pragma nounroll`, complete.
    PragmaNoUnroll,
    /// `#pragma cdp`, complete; the token's text is what follows `cdp`.
    PragmaCdp,
    /// The end of the line of [`PragmaUnroll`](Self::PragmaUnroll).
    PragmaEnd,
}

impl TokenKind {
    /// The bracket that closes what this one opens.
    pub fn closer(self) -> Option<TokenKind> {
        match self {
            TokenKind::LParen => Some(TokenKind::RParen),
            TokenKind::LBracket => Some(TokenKind::RBracket),
            TokenKind::LBrace => Some(TokenKind::RBrace),
            _ => None,
        }
    }

    /// Whether it is a bracket that closes.
    pub fn is_closer(self) -> bool {
        matches!(self, TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace)
    }

    /// How much deeper brackets are nested behind it: 1, 0 or -1.
    pub fn nesting(self) -> i32 {
        i32::from(self.closer().is_some()) - i32::from(self.is_closer())
    }
}

/// Number of [`TokenKind`]s.
const KINDS: usize = TokenKind::PragmaEnd as usize + 1;

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub flags: Flags,
    /// The spelling, line splices removed.
    pub symbol: Symbol,
    pub span: Span,
}

/// What else is known of a token.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    /// First on its line.
    pub const LINE_START: Flags = Flags(1);
    /// White space or a comment stands before it.
    pub const SPACE: Flags = Flags(2);
    /// An identifier that must not be expanded again.
    pub const NO_EXPAND: Flags = Flags(4);

    /// True if all of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// White space or a line start stands before the token.
    pub fn spaced(self) -> bool {
        self.0 & (Flags::LINE_START.0 | Flags::SPACE.0) != 0
    }

    /// With `other` set or not.
    pub fn set(self, other: Flags, on: bool) -> Flags {
        if on { Flags(self.0 | other.0) } else { Flags(self.0 & !other.0) }
    }
}

impl Token {
    /// True if white space or a line start stands before it.
    pub fn spaced(&self) -> bool {
        self.flags.spaced()
    }
}

/// The text after the token's start, from just past what logos matched so far.
fn rest<'s>(lexer: &Lexer<'s, TokenKind>) -> &'s [u8] {
    lexer.remainder().as_bytes()
}

/// A string or character constant: up to the closing quote, or cut off at the line's end.
fn quoted(lexer: &mut Lexer<TokenKind>, quote: u8) -> Filter<TokenKind> {
    let (good, bad) = match quote {
        b'"' => (TokenKind::String, TokenKind::BadString),
        _ => (TokenKind::Char, TokenKind::BadChar),
    };
    let text = rest(lexer);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' if text[at + 1..].starts_with(b"\r\n") => at += 3,
            b'\\' => at += 2,
            b'\n' => break,
            byte if byte == quote => {
                lexer.bump(at + 1);
                return Filter::Emit(good);
            }
            _ => at += 1,
        }
    }
    bump_to_boundary(lexer, at);
    Filter::Emit(bad)
}

/// Advances by at least `length` bytes, to the next character boundary or the end.
fn bump_to_boundary(lexer: &mut Lexer<TokenKind>, length: usize) {
    let remainder = lexer.remainder();
    let mut end = length.min(remainder.len());
    while !remainder.is_char_boundary(end) {
        end += 1;
    }
    lexer.bump(end);
}

fn raw_string(lexer: &mut Lexer<TokenKind>) -> Filter<TokenKind> {
    let text = lexer.remainder();
    let Some(delimiter) = raw_delimiter(text) else {
        let _ = quoted(lexer, b'"');
        return Filter::Emit(TokenKind::BadRawString);
    };
    let close = format!("){delimiter}\"");
    if let Some(end) = text.find(&close) {
        lexer.bump(end + close.len());
        return Filter::Emit(TokenKind::RawString);
    }
    lexer.bump(text.find('\n').unwrap_or(text.len()));
    Filter::Emit(TokenKind::BadRawString)
}

/// What stands before the `(` of a raw string, of which this is the text after `R"` (C++ [lex.string]).
pub fn raw_delimiter(text: &str) -> Option<&str> {
    let end = text.find(|c| " ()\\\t\x0B\x0C\r\n".contains(c))?;
    (end <= 16 && text[end..].starts_with('(')).then_some(&text[..end])
}

/// Up to the end of the line, which a backslash continues.
fn line_comment(lexer: &mut Lexer<TokenKind>) -> Skip {
    let text = rest(lexer);
    let mut at = 0;
    while let Some(newline) = text[at..].iter().position(|&byte| byte == b'\n') {
        let before = text[at..at + newline].trim_ascii_end();
        if !before.ends_with(b"\\") {
            lexer.bump(at + newline);
            return Skip;
        }
        at += newline + 1;
    }
    lexer.bump(text.len());
    Skip
}

fn block_comment(lexer: &mut Lexer<TokenKind>) -> Filter<TokenKind> {
    match comment_end(lexer.remainder()) {
        Some(end) => {
            lexer.bump(end);
            Filter::Skip
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Filter::Emit(TokenKind::BadComment)
        }
    }
}

/// Where a comment ends: after its `*/`, whose two characters a backslash may put on two lines.
fn comment_end(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let star = from + text[from..].find('*')?;
        let mut rest = &text[star + 1..];
        while let Some(joined) = rest.strip_prefix("\\\n").or(rest.strip_prefix("\\\r\n")) {
            rest = joined;
        }
        if rest.starts_with('/') {
            return Some(text.len() - rest.len() + 1);
        }
        from = star + 1;
    }
}

/// Spellings of the kinds that have only one.
#[derive(Clone, Copy)]
pub struct Spellings([Symbol; KINDS]);

impl Spellings {
    /// Interns them.
    pub fn new(names: &mut Interner) -> Self {
        let mut symbols = [Symbol::EMPTY; KINDS];
        const ALL: &str = "( ) [ ] { } ; , ... . .* -> ->* : :: ? # ## ~ ! + - * / % ^ & | = += -= *= /= %= ^= &= |= \
                           == != < > <= >= <=> && || << >> <<= >>= ++ -- <<< >>>";
        for text in ALL.split_whitespace() {
            if let Some(Ok(kind)) = TokenKind::lexer(text).next() {
                symbols[kind as usize] = names.intern(text);
            }
        }
        Spellings(symbols)
    }

    /// The spelling of a punctuator; empty for other kinds.
    pub fn of(&self, kind: TokenKind) -> Symbol {
        self.0[kind as usize]
    }
}

/// Every token of `text`, whose first byte has the position `base`. The end of the text is not a
/// token.
pub fn lex(text: &str, base: u32, names: &mut Interner, spellings: &Spellings) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 4);
    let mut lexer = TokenKind::lexer(text);
    let mut line_start = true;
    let mut previous_end = 0;
    while let Some(result) = lexer.next() {
        if result.is_err() {
            // A name with letters outside ASCII is one malformed token, not several.
            let after = lexer.remainder();
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            if lexer.slice().chars().all(is_part) {
                lexer.bump(after.find(|c: char| !is_part(c)).unwrap_or(after.len()));
            }
        }
        let mut range = lexer.span();
        let kind = match result {
            Ok(TokenKind::Newline) => {
                line_start = true;
                previous_end = range.end;
                continue;
            }
            Ok(kind) => kind,
            Err(()) => TokenKind::Stray,
        };
        if kind == TokenKind::Stray && range.len() > 1 {
            let joins = |last: &&mut Token| {
                last.kind == TokenKind::Ident && last.span.hi == base + range.start as u32
            };
            if let Some(last) = tokens.last_mut().filter(joins) {
                range.start = (last.span.lo - base) as usize;
                let whole = names.intern(&text[range.clone()]);
                *last = Token {
                    kind,
                    symbol: whole,
                    span: Span { hi: base + range.end as u32, ..last.span },
                    ..*last
                };
                previous_end = range.end;
                continue;
            }
        }
        let flags = Flags::default()
            .set(Flags::LINE_START, line_start)
            .set(Flags::SPACE, range.start > previous_end);
        let place = |range: std::ops::Range<usize>| {
            let (lo, hi) = (base + range.start as u32, base + range.end as u32);
            Span { lo, hi, expansion: ExpansionId::NONE }
        };
        line_start = false;
        if kind == TokenKind::LBracket && before_scope(&lexer) {
            // `<::` is `<` and `::`, not the digraph `<:` and `:` (C++ [lex.pptoken]).
            let middle = range.start + 1;
            lexer.bump(1);
            previous_end = middle + 2;
            let (kind, span) = (TokenKind::Lt, place(range.start..middle));
            tokens.push(Token { kind, flags, symbol: spellings.of(kind), span });
            let (kind, span) = (TokenKind::ColonColon, place(middle..previous_end));
            let flags = Flags::default();
            tokens.push(Token { kind, flags, symbol: spellings.of(kind), span });
            continue;
        }
        let mut symbol = spellings.of(kind);
        // A digraph keeps its own spelling, which `#` shows.
        let digraph = matches!(lexer.slice(), "<:" | ":>" | "<%" | "%>" | "%:" | "%:%:");
        if symbol == Symbol::EMPTY || digraph {
            symbol = intern_unspliced(lexer.slice(), names, kind);
        }
        previous_end = range.end;
        tokens.push(Token { kind, flags, symbol, span: place(range) });
    }
    tokens
}

/// After `<:`: a `:` follows that begins a `::`, as in `f<::g>`.
fn before_scope(lexer: &Lexer<TokenKind>) -> bool {
    let rest = lexer.remainder().as_bytes();
    lexer.slice() == "<:"
        && rest.first() == Some(&b':')
        && !matches!(rest.get(1), Some(b':' | b'>'))
}

/// The spelling without backslash-newline pairs, which a raw string alone keeps.
fn intern_unspliced(slice: &str, names: &mut Interner, kind: TokenKind) -> Symbol {
    let spliced = slice.contains('\\') && slice.contains('\n') && kind != TokenKind::RawString;
    if spliced {
        names.intern(&slice.replace("\\\r\n", "").replace("\\\n", ""))
    } else {
        names.intern(slice)
    }
}

/// Operators spelled as words.
pub const OPERATORS: &[(&str, TokenKind)] = &[
    ("and", TokenKind::AndAnd),
    ("or", TokenKind::OrOr),
    ("xor", TokenKind::Caret),
    ("bitor", TokenKind::Pipe),
    ("not_eq", TokenKind::Ne),
    ("not", TokenKind::Bang),
    ("compl", TokenKind::Tilde),
    ("bitand", TokenKind::Amp),
    ("and_eq", TokenKind::AmpEq),
    ("or_eq", TokenKind::PipeEq),
    ("xor_eq", TokenKind::CaretEq),
];
