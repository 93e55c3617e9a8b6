//! The tokens of the parser, made from those of the preprocessor: brackets that match, so that the parser
//! can jump from each to its partner (unbalanced ones are reported here and nowhere else), operators
//! spelled as words, and nothing that may stand anywhere: `__extension__`, stray `#`, and pragmas that
//! begin no statement.

use super::words::{Word, Words};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind};
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

fn spelling(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::LParen => "(",
        TokenKind::LBracket => "[",
        TokenKind::LBrace => "{",
        TokenKind::RParen => ")",
        TokenKind::RBracket => "]",
        _ => "}",
    }
}

/// Matches brackets, dropping closing ones without an opening one and adding those that are
/// missing. `end` is where the file ends.
pub fn balance(
    tokens: Vec<Token>,
    end: Span,
    words: &Words,
    session: &mut Session,
    out: &mut Diagnostics,
) -> Balanced {
    let mut state = Balancer {
        done: Vec::with_capacity(tokens.len() + 8),
        partner: Vec::with_capacity(tokens.len() + 8),
        open: Vec::new(),
        session,
        out,
        reported_depth: false,
    };
    let mut at = 0;
    while at < tokens.len() {
        let mut token = tokens[at];
        if let Some(joined) = spaced_launch(&tokens[at..], state.session) {
            token = joined;
            at += 1;
        }
        if let Some(length) = state.left_out(&mut token, &tokens[at..], words) {
            at += length;
            continue;
        }
        if closer(token.kind).is_some() {
            if state.open.len() >= MAX_NESTING {
                at = state.too_deep(&tokens, at);
                continue;
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

/// `<< <` and `>> >` as nvcc takes them, when both are on one line: no other meaning is possible.
fn spaced_launch(tokens: &[Token], session: &mut Session) -> Option<Token> {
    let [first, second, ..] = tokens else { return None };
    let (kind, text) = match (first.kind, second.kind) {
        (TokenKind::Shl, TokenKind::Lt) => (TokenKind::LaunchOpen, "<<<"),
        (TokenKind::Shr, TokenKind::Gt) => (TokenKind::LaunchClose, ">>>"),
        _ => return None,
    };
    if second.flags.has(Flags::LINE_START) {
        return None;
    }
    let symbol = session.names.intern(text);
    let span = session.sources.join(first.span, second.span);
    Some(Token { kind, symbol, span, ..*first })
}

struct Balancer<'a> {
    done: Vec<Token>,
    partner: Vec<u32>,
    /// Places of open brackets in `done`.
    open: Vec<u32>,
    session: &'a mut Session,
    out: &'a mut Diagnostics,
    reported_depth: bool,
}

impl Balancer<'_> {
    /// The number of tokens that the parser does not see, `token` the first. A word that is an operator
    /// becomes one.
    fn left_out(&mut self, token: &mut Token, rest: &[Token], words: &Words) -> Option<usize> {
        match token.kind {
            TokenKind::Ident => match words.get(token.symbol) {
                Word::Skip => return Some(1),
                Word::Spelled(kind) => token.kind = kind,
                Word::OnlyC(right) => return self.only_c(token, right),
                _ => {}
            },
            TokenKind::Hash | TokenKind::HashHash => {
                self.out.push(Diagnostic::new(
                    Code::E0201,
                    token.span,
                    "a stray `#` in the program",
                ));
                return Some(1);
            }
            TokenKind::PragmaUnroll if !self.ends_statement(words) => {
                let end = rest.iter().position(|token| token.kind == TokenKind::PragmaEnd);
                return Some(end.map_or(1, |end| end + 1));
            }
            TokenKind::PragmaNoUnroll | TokenKind::PragmaCdp if !self.ends_statement(words) => {
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
        let found = Diagnostic::new(Code::E0239, token.span, message);
        self.out.push(found.suggest("write", token.span, right));
        token.symbol = self.session.names.intern(right);
        right.starts_with('[').then_some(1)
    }

    /// Whether a statement or declaration may begin after what there is.
    fn ends_statement(&self, words: &Words) -> bool {
        use TokenKind as T;
        self.done.last().is_none_or(|last| match last.kind {
            T::Ident => matches!(words.get(last.symbol), Word::Do | Word::Else),
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
                let text = spelling(token.kind);
                let mut found = Diagnostic::new(
                    Code::E0202,
                    token.span,
                    format!("this `{text}` closes nothing"),
                );
                if let Some(open) = self.open.last() {
                    let open = self.done[*open as usize];
                    let opener = spelling(open.kind);
                    found = found.secondary(
                        open.span,
                        format!("this `{opener}` is the bracket that is open here"),
                    );
                }
                self.out.push(found.suggest("remove it", token.span, ""));
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
        let kind = closer(open.kind).unwrap_or(TokenKind::RBrace);
        let (opener, missing) = (spelling(open.kind), spelling(kind));
        let mut found =
            Diagnostic::new(Code::E0202, open.span, format!("this `{opener}` is never closed"));
        if let Some(instead) = instead {
            found = found.secondary(instead.span, format!("expected `{missing}` before this"));
        }
        self.out.push(found.help(format!("add `{missing}`")));
        let symbol = self.session.names.intern(missing);
        self.pair(Token { kind, flags: Flags::default(), symbol, span: place });
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
            let kind = closer(self.done[open as usize].kind).unwrap_or(TokenKind::RBrace);
            let symbol = self.session.names.intern(spelling(kind));
            self.pair(Token { kind, flags: Flags::default(), symbol, span: end });
        }
    }

    /// Reports an open `{` and closes it before token `suspect`. All other open brackets are
    /// further out, so only partners move.
    fn close_before(&mut self, open: u32, suspect: usize) {
        let at = self.done[suspect].span;
        let brace = self.done[open as usize].span;
        let found = Diagnostic::new(Code::E0202, brace, "this `{` is never closed")
            .secondary(at, "this line begins no further right than the one with the open bracket")
            .help("add `}` before it");
        self.out.push(found);
        self.open.pop();
        let symbol = self.session.names.intern("}");
        let closing =
            Token { kind: TokenKind::RBrace, flags: Flags::default(), symbol, span: at.before() };
        for partner in &mut self.partner {
            if *partner != NONE && *partner as usize >= suspect {
                *partner += 1;
            }
        }
        self.done.insert(suspect, closing);
        self.partner.insert(suspect, open);
        self.partner[open as usize] = suspect as u32;
    }

    /// Drops a group that nests too deep; gives the place after it.
    fn too_deep(&mut self, tokens: &[Token], at: usize) -> usize {
        if !self.reported_depth {
            self.reported_depth = true;
            let message = format!("brackets are nested more than {MAX_NESTING} deep");
            self.out.push(Diagnostic::new(Code::E0205, tokens[at].span, message));
        }
        let mut depth = 0usize;
        let mut place = at;
        while place < tokens.len() {
            if closer(tokens[place].kind).is_some() {
                depth += 1;
            } else if is_closer(tokens[place].kind) {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            place += 1;
        }
        // Braces can be left out; so can a call's or an index's brackets. Elsewhere a number
        // stands for it, which is valid wherever an expression is.
        let after_operand = at.checked_sub(1).is_some_and(|before| {
            matches!(
                tokens[before].kind,
                TokenKind::Ident | TokenKind::RParen | TokenKind::RBracket | TokenKind::Number
            )
        });
        if after_operand || tokens[at].kind == TokenKind::LBrace {
            return place + 1;
        }
        let zero: Symbol = self.session.names.intern("0");
        let stand_in = Token {
            kind: TokenKind::Number,
            flags: Flags::default(),
            symbol: zero,
            span: tokens[at].span,
        };
        self.push(stand_in);
        place + 1
    }
}
