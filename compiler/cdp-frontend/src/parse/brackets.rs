//! The tokens of the parser, made from those of the preprocessor: brackets that match, so that the parser
//! can jump from each to its partner (unbalanced ones are reported here and nowhere else), operators
//! spelled as words, and nothing that may stand anywhere: `__extension__`, stray `#`, and pragmas that
//! begin no statement.

use super::words::{Word, Words};
use crate::diagnostics::{Code, Diagnostics};
use crate::lex::{Flags, Spellings, Token, TokenKind};
use crate::session::Session;
use crate::source::Span;

/// Brackets nest at most this deep.
pub const MAX_NESTING: usize = 256;

/// No partner.
pub const NONE: u32 = u32::MAX;

/// Tokens with balanced brackets, and for each bracket the place of its partner.
pub struct Balanced {
    pub tokens: Vec<Token>,
    pub partner: Vec<u32>,
}

/// The closing kind for an opening one.
fn closer(kind: TokenKind) -> Option<TokenKind> {
    match kind {
        TokenKind::LParen => Some(TokenKind::RParen),
        TokenKind::LBracket => Some(TokenKind::RBracket),
        TokenKind::LBrace => Some(TokenKind::RBrace),
        _ => None,
    }
}

fn is_closer(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace)
}

/// Matches brackets, dropping closing ones without an opening one and adding those that are
/// missing. `end` is where the file ends. Of a file whose brackets nest too deep nothing is left.
pub fn balance(
    tokens: Vec<Token>,
    end: Span,
    words: &Words,
    spellings: &Spellings,
    session: &mut Session,
    out: &mut Diagnostics,
) -> Balanced {
    let mut state = Balancer {
        done: Vec::with_capacity(tokens.len() + 8),
        partner: Vec::with_capacity(tokens.len() + 8),
        open: Vec::new(),
        words,
        spellings,
        session,
        out,
    };
    let mut at = 0;
    while at < tokens.len() {
        let mut token = tokens[at];
        if let Some(joined) = state.spaced_launch(&tokens[at..]) {
            token = joined;
            at += 1;
        }
        if let Some(length) = state.left_out(&mut token, &tokens[at..]) {
            at += length;
            continue;
        }
        if closer(token.kind).is_some() {
            if token.kind == TokenKind::LBrace && state.begins_body(&tokens[at..]) {
                state.report_open(token.span.before(), Some(token));
            }
            if state.open.len() >= MAX_NESTING {
                let message = format!("brackets are nested more than {MAX_NESTING} deep");
                state
                    .out
                    .add(Code::E0205, token.span, message)
                    .note("nothing of the file was read");
                return Balanced { tokens: Vec::new(), partner: Vec::new() };
            }
            state.open.push(state.done.len() as u32);
            state.push(token);
        } else if is_closer(token.kind) {
            state.close(token);
        } else {
            if token.kind == TokenKind::Semi {
                state.end_of_statement(token);
            }
            state.push(token);
        }
        at += 1;
    }
    state.finish(end);
    Balanced { tokens: state.done, partner: state.partner }
}

struct Balancer<'a> {
    done: Vec<Token>,
    partner: Vec<u32>,
    /// Places of open brackets in `done`.
    open: Vec<u32>,
    session: &'a mut Session,
    out: &'a mut Diagnostics,
    words: &'a Words,
    spellings: &'a Spellings,
}

impl Balancer<'_> {
    /// `<< <` and `>> >` as nvcc takes them, when both are on one line: no other meaning is possible.
    fn spaced_launch(&mut self, tokens: &[Token]) -> Option<Token> {
        let [first, second, ..] = tokens else { return None };
        let kind = match (first.kind, second.kind) {
            (TokenKind::Shl, TokenKind::Lt) => TokenKind::LaunchOpen,
            (TokenKind::Shr, TokenKind::Gt) => TokenKind::LaunchClose,
            _ => return None,
        };
        if second.flags.has(Flags::LINE_START) {
            return None;
        }
        let symbol = self.spellings.of(kind);
        let span = self.session.sources.join(first.span, second.span);
        Some(Token { kind, symbol, span, ..*first })
    }

    /// How a bracket is spelled.
    fn text(&self, kind: TokenKind) -> &str {
        &self.session.names[self.spellings.of(kind)]
    }

    /// The closing kind for the open bracket at a place.
    fn closer_of(&self, open: u32) -> TokenKind {
        closer(self.done[open as usize].kind).unwrap_or(TokenKind::RBrace)
    }

    /// A bracket that is put in.
    fn added(&self, kind: TokenKind, span: Span) -> Token {
        let symbol = self.spellings.of(kind);
        Token { kind, flags: Flags::default(), symbol, span }
    }

    /// The number of tokens that the parser does not see, `token` the first. A word that is an operator
    /// becomes one.
    fn left_out(&mut self, token: &mut Token, rest: &[Token]) -> Option<usize> {
        match token.kind {
            TokenKind::Ident => match self.words.get(token.symbol) {
                Word::Skip => return Some(1),
                Word::Spelled(kind) => token.kind = kind,
                Word::OnlyC(right) => return self.only_c(token, right),
                _ => {}
            },
            TokenKind::Hash | TokenKind::HashHash => {
                self.out.add(Code::E0201, token.span, "a stray `#` in the program");
                return Some(1);
            }
            TokenKind::PragmaUnroll if !self.ends_statement() => {
                let end = rest.iter().position(|token| token.kind == TokenKind::PragmaEnd);
                return Some(end.map_or(1, |end| end + 1));
            }
            TokenKind::PragmaNoUnroll | TokenKind::PragmaCdp if !self.ends_statement() => {
                return Some(1);
            }
            _ => {}
        }
        None
    }

    /// A word of C, read as C++'s `right`; an attribute in its place means nothing and is left out.
    fn only_c(&mut self, token: &mut Token, right: &str) -> Option<usize> {
        let word = &self.session.names[token.symbol];
        let message = format!("`{word}` is C, not C++");
        self.out.add(Code::E0239, token.span, message).suggest("write", token.span, right);
        token.symbol = self.session.names.intern(right);
        right.starts_with('[').then_some(1)
    }

    /// Whether a statement or declaration may begin after what there is.
    fn ends_statement(&self) -> bool {
        use TokenKind as T;
        self.done.last().is_none_or(|last| match last.kind {
            T::Ident => matches!(self.words.get(last.symbol), Word::Do | Word::Else),
            kind => matches!(
                kind,
                T::Semi
                    | T::LBrace
                    | T::RBrace
                    | T::RParen
                    | T::Colon
                    | T::PragmaNoUnroll
                    | T::PragmaCdp
                    | T::PragmaEnd
            ),
        })
    }

    fn push(&mut self, token: Token) {
        self.done.push(token);
        self.partner.push(NONE);
    }

    /// A `;` ends every parenthesis that is not the head of a statement.
    fn end_of_statement(&mut self, semicolon: Token) {
        while let Some(&open) = self.open.last() {
            let is_brace = self.done[open as usize].kind == TokenKind::LBrace
                && !self.is_list(self.open.len() - 1);
            let head = open.checked_sub(1).map(|before| self.done[before as usize].symbol);
            if is_brace
                || head.is_some_and(|word| {
                    matches!(&self.session.names[word], "for" | "if" | "switch")
                })
            {
                return;
            }
            self.report_open(semicolon.span.before(), Some(semicolon));
        }
    }

    /// Whether the `{` that is next, in an open head of a statement, is that of its body, so that the head's `)` is
    /// missing: nothing follows its `}` that could follow a list in the head.
    fn begins_body(&self, rest: &[Token]) -> bool {
        let Some(&open) = self.open.last() else { return false };
        let head = open
            .checked_sub(1)
            .map(|before| &self.session.names[self.done[before as usize].symbol]);
        let is_head = matches!(head, Some("for" | "if" | "switch" | "while"));
        if !is_head || self.done[open as usize].kind != TokenKind::LParen {
            return false;
        }
        let mut depth = 0;
        let close = rest.iter().position(|token| {
            depth += i32::from(token.kind == TokenKind::LBrace)
                - i32::from(token.kind == TokenKind::RBrace);
            depth == 0
        });
        use TokenKind as T;
        close.and_then(|close| rest.get(close + 1)).is_none_or(|next| {
            matches!(
                next.kind,
                T::Ident | T::Number | T::RBrace | T::LBrace | T::PlusPlus | T::MinusMinus
            ) && !matches!(self.words.get(next.symbol), Word::Spelled(_))
        })
    }

    /// The open brace at this depth is an initialiser's: it follows `=`, or stands in such a one.
    fn is_list(&self, depth: usize) -> bool {
        let open = self.open[depth] as usize;
        match open.checked_sub(1).map(|before| self.done[before].kind) {
            Some(TokenKind::Eq) => true,
            Some(TokenKind::Comma | TokenKind::LBrace) => depth > 0 && self.is_list(depth - 1),
            _ => false,
        }
    }

    /// Pairs the innermost open bracket with a closing token.
    fn pair(&mut self, closing: Token) {
        if let Some(open) = self.open.pop() {
            self.partner[open as usize] = self.done.len() as u32;
            self.push(closing);
            if let Some(last) = self.partner.last_mut() {
                *last = open;
            }
        }
    }

    fn close(&mut self, token: Token) {
        let matches = |open: &u32| closer(self.done[*open as usize].kind) == Some(token.kind);
        match self.open.iter().rposition(matches) {
            Some(place) if place + 1 == self.open.len() => self.pair(token),
            // A `}` closes what is open inside its braces; a `)` or `]` does not reach past a `{`.
            Some(place) if token.kind == TokenKind::RBrace || !self.brace_inside(place) => {
                while self.open.len() > place + 1 {
                    self.report_open(token.span.before(), Some(token));
                }
                self.pair(token);
            }
            _ => {
                let message = format!("this `{}` closes nothing", self.text(token.kind));
                let open = self.open.last().map(|open| self.done[*open as usize]);
                let opener = open.map(|open| self.text(open.kind).to_owned());
                let found = self.out.add(Code::E0202, token.span, message);
                if let (Some(open), Some(opener)) = (open, opener) {
                    let label = format!("this `{opener}` is the bracket that is open here");
                    found.secondary(open.span, label);
                }
                found.suggest("remove it", token.span, "");
            }
        }
    }

    fn brace_inside(&self, place: usize) -> bool {
        self.open[place + 1..]
            .iter()
            .any(|open| self.done[*open as usize].kind == TokenKind::LBrace)
    }

    /// Reports the innermost open bracket as never closed, and closes it at `place`.
    fn report_open(&mut self, place: Span, instead: Option<Token>) {
        let Some(&index) = self.open.last() else { return };
        let open = self.done[index as usize];
        let kind = self.closer_of(index);
        let message = format!("this `{}` is never closed", self.text(open.kind));
        let missing = self.text(kind).to_owned();
        let instead = instead.map_or(Span::NONE, |instead| instead.span);
        self.out
            .add(Code::E0202, open.span, message)
            .secondary(instead, format!("expected `{missing}` before this"))
            .help(format!("add `{missing}`"));
        self.pair(self.added(kind, place));
    }

    /// For an open `{`: a later line that begins at or left of the column of its own line, which
    /// is where the missing `}` probably belongs.
    fn indentation_suspect(&self, open: u32) -> Option<usize> {
        let open = open as usize;
        if self.done[open].kind != TokenKind::LBrace {
            return None;
        }
        let sources = &self.session.sources;
        let column =
            |token: &Token| sources.location(sources.call_site(token.span)).map(|at| at.column);
        let starts_line = |token: &Token| token.flags.has(Flags::LINE_START);
        let first = self.done[..=open].iter().rev().find(|token| starts_line(token))?;
        let limit = column(first)?;
        let last = self.done.len().min(open + 20_000);
        (open + 1..last).find(|&at| {
            let token = &self.done[at];
            starts_line(token)
                && token.kind != TokenKind::RBrace
                && column(token).is_some_and(|at| at <= limit)
        })
    }

    /// Closes what is still open: where the indentation says so, or at the end of the file.
    fn finish(&mut self, end: Span) {
        let mut reported = 0;
        while let Some(&open) = self.open.last() {
            if reported < 3 {
                reported += 1;
                match self.indentation_suspect(open) {
                    Some(suspect) => self.close_before(open, suspect),
                    None => self.report_open(end, None),
                }
                continue;
            }
            self.pair(self.added(self.closer_of(open), end));
        }
    }

    /// Reports an open `{` and closes it before token `suspect`. All other open brackets are
    /// further out, so only partners move.
    fn close_before(&mut self, open: u32, suspect: usize) {
        let at = self.done[suspect].span;
        let brace = self.done[open as usize].span;
        self.out
            .add(Code::E0202, brace, "this `{` is never closed")
            .secondary(at, "this line begins no further right than the one with the open bracket")
            .help("add `}` before it");
        self.open.pop();
        let closing = self.added(TokenKind::RBrace, at.before());
        for partner in &mut self.partner {
            if *partner != NONE && *partner as usize >= suspect {
                *partner += 1;
            }
        }
        self.done.insert(suspect, closing);
        self.partner.insert(suspect, open);
        self.partner[open as usize] = suspect as u32;
    }
}
