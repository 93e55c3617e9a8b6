//! The tokens of the parser, made from those of the preprocessor: brackets that match, so that the parser
//! can jump from each to its partner (unbalanced ones are reported here and nowhere else), operators
//! spelled as words, and nothing that may stand anywhere: `__extension__`, stray `#`, and pragmas that
//! begin no statement.

use crate::diagnostics::{Code, Diagnostics};
use crate::lex::{Flags, Spellings, Token, TokenKind};
use crate::session::Session;
use crate::source::Span;
use crate::words::{Word, Words};

/// Brackets nest at most this deep.
pub const MAX_NESTING: usize = 256;

/// How many tokens are searched for the place of a missing bracket.
pub(super) const FAR: usize = 20_000;
/// How many closing brackets of a file are looked at so: nobody reads on behind as many.
pub(super) const MOST_SEARCHES: u32 = 32;
/// How many tokens of a line a `)` is looked for behind a `;` in its parentheses.
const NEAR: usize = 256;

/// Matches brackets, dropping closing ones without an opening one and adding those that are
/// missing. `end` is where the file ends, `cut` says that something before it was not read. Of a file whose brackets
/// nest too deep nothing is left.
pub fn balance(
    tokens: Vec<Token>,
    end: Span,
    cut: bool,
    words: &Words,
    spellings: &Spellings,
    session: &mut Session,
    out: &mut Diagnostics,
) -> Vec<Token> {
    let mut state = Balancer {
        done: Vec::with_capacity(tokens.len() + 8),
        open: Vec::new(),
        launch: None,
        searches: 0,
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
        if token.kind.closer().is_some() {
            if token.kind == TokenKind::LBrace && state.begins_body(&tokens[at..]) {
                state.report_open(token.span.before(), Some(token));
            }
            if state.open.len() >= MAX_NESTING {
                let message = format!("brackets are nested more than {MAX_NESTING} deep");
                state
                    .out
                    .add(Code::E0205, token.span, message)
                    .note("nothing of the file was read");
                return Vec::new();
            }
            state.open.push(state.done.len() as u32);
            state.done.push(token);
        } else if token.kind.is_closer() {
            state.close(token);
        } else {
            match token.kind {
                TokenKind::Semi if !state.is_inside(&tokens[at + 1..]) => {
                    state.end_of_statement(token);
                }
                TokenKind::LaunchOpen => state.launch = Some(state.open.len()),
                TokenKind::LaunchClose => state.end_of_launch(token),
                _ => {}
            }
            state.done.push(token);
        }
        at += 1;
    }
    state.finish(end, cut);
    state.done
}

pub(super) struct Balancer<'a> {
    pub(super) done: Vec<Token>,
    /// Places of open brackets in `done`.
    pub(super) open: Vec<u32>,
    /// How many brackets were open at the last `<<<` of the statement at hand.
    launch: Option<usize>,
    /// How many closing brackets a missing opening one was looked for.
    pub(super) searches: u32,
    pub(super) session: &'a mut Session,
    pub(super) out: &'a mut Diagnostics,
    pub(super) words: &'a Words,
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
    pub(super) fn text(&self, kind: TokenKind) -> &str {
        &self.session.names[self.spellings.of(kind)]
    }

    /// The closing kind for the open bracket at a place.
    fn closer_of(&self, open: u32) -> TokenKind {
        self.done[open as usize].kind.closer().unwrap_or(TokenKind::RBrace)
    }

    /// The word before the open bracket at a place.
    fn word_before(&self, open: u32) -> Word {
        let before = open.checked_sub(1).map(|at| self.done[at as usize].symbol);
        before.map_or(Word::Name, |symbol| self.words.get(symbol))
    }

    /// A bracket that is put in.
    pub(super) fn added(&self, kind: TokenKind, span: Span) -> Token {
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
        use TokenKind::{
            Colon, LBrace, PragmaCdp, PragmaEnd, PragmaNoUnroll, RBrace, RParen, Semi,
        };
        self.done.last().is_none_or(|last| match last.kind {
            TokenKind::Ident => matches!(self.words.get(last.symbol), Word::Do | Word::Else),
            Semi | LBrace | RBrace | RParen | Colon => true,
            kind => matches!(kind, PragmaNoUnroll | PragmaCdp | PragmaEnd),
        })
    }

    /// Where the open head of a statement ends that has at most so many parts with a `;`, when another `;` shows that
    /// its body has begun: at the first new line after them. Nobody writes the parts of an `if` on several lines.
    fn end_of_head(&self, open: usize, parts: usize) -> Option<usize> {
        if self.done.len() - open > FAR {
            return None;
        }
        let (mut depth, mut semicolons, mut line) = (0, 0, None);
        for at in open + 1..self.done.len() {
            let Token { kind, flags, .. } = self.done[at];
            if depth == 0 {
                line = line.or(flags.has(Flags::LINE_START).then_some(at));
                if kind == TokenKind::Semi {
                    semicolons += 1;
                    line = line.filter(|_| parts == 1);
                }
            }
            depth += kind.nesting();
        }
        line.filter(|_| parts == 1 || semicolons >= parts)
    }

    /// A `>>>` ends every parenthesis that is open since its `<<<`.
    fn end_of_launch(&mut self, close: Token) {
        let Some(depth) = self.launch.take() else { return };
        let is_brace = |open: &u32| self.done[*open as usize].kind == TokenKind::LBrace;
        if self.open.get(depth..).is_none_or(|inside| inside.iter().any(is_brace)) {
            return;
        }
        while self.open.len() > depth {
            self.report_open(close.span.before(), Some(close));
        }
    }

    /// A `;` that stands in place of a comma: the `)` of the innermost open parenthesis follows on its line.
    fn is_inside(&self, rest: &[Token]) -> bool {
        let Some(&open) = self.open.last() else { return false };
        if self.done[open as usize].kind != TokenKind::LParen {
            return false;
        }
        let mut depth = 0;
        let line = rest.iter().take_while(|token| !token.flags.has(Flags::LINE_START));
        for token in line.take(NEAR) {
            match token.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => return true,
                TokenKind::RParen => depth -= 1,
                TokenKind::LBrace | TokenKind::RBrace => return false,
                _ => {}
            }
        }
        false
    }

    /// A `;` ends every parenthesis that is not the head of a statement.
    fn end_of_statement(&mut self, semicolon: Token) {
        self.launch = None;
        while let Some(&open) = self.open.last() {
            let is_brace = self.done[open as usize].kind == TokenKind::LBrace;
            if is_brace && !self.is_list(self.open.len() - 1) {
                return;
            }
            let parts = match self.word_before(open) {
                Word::For => 2,
                Word::If | Word::Switch => 1,
                _ => {
                    self.report_open(semicolon.span.before(), Some(semicolon));
                    continue;
                }
            };
            match self.end_of_head(open as usize, parts) {
                Some(end) => self.close_before(open, end, "expected `)` before this"),
                None => return,
            }
        }
    }

    /// Whether the `{` that is next, in an open head of a statement, is that of its body, so that the head's `)` is
    /// missing: nothing follows its `}` that could follow a list in the head.
    fn begins_body(&self, rest: &[Token]) -> bool {
        use TokenKind as T;
        let is_head = |open: &u32| {
            self.done[*open as usize].kind == T::LParen && self.word_before(*open).has_head()
        };
        if !self.open.last().is_some_and(is_head) {
            return false;
        }
        let mut depth = 0;
        let close = rest.iter().position(|token| {
            depth += i32::from(token.kind == T::LBrace) - i32::from(token.kind == T::RBrace);
            depth == 0
        });
        close.and_then(|close| rest.get(close + 1)).is_none_or(|next| match next.kind {
            T::Ident => !matches!(self.words.get(next.symbol), Word::Spelled(_)),
            kind => {
                matches!(kind, T::Number | T::RBrace | T::LBrace | T::PlusPlus | T::MinusMinus)
            }
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

    /// Closes the innermost open bracket.
    pub(super) fn pair(&mut self, closing: Token) {
        if self.open.pop().is_some() {
            self.done.push(closing);
        }
    }

    fn close(&mut self, token: Token) {
        let matches = |open: &u32| self.done[*open as usize].kind.closer() == Some(token.kind);
        match self.open.iter().rposition(matches) {
            Some(place) if place + 1 == self.open.len() => self.pair(token),
            // A `}` closes what is open inside its braces; a `)` or `]` does not reach past a `{`.
            Some(place) if token.kind == TokenKind::RBrace || !self.brace_inside(place) => {
                while self.open.len() > place + 1 {
                    self.report_open(token.span.before(), Some(token));
                }
                self.pair(token);
            }
            _ if self.opens_before(token) => {}
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
        let Some(&open) = self.open.last() else { return };
        let missing = self.closer_of(open);
        let label = format!("expected `{}` before this", self.text(missing));
        let instead = instead.map_or(Span::NONE, |instead| instead.span);
        self.never_closed(open, instead, &label, "");
        self.pair(self.added(missing, place));
    }

    /// The error of an open bracket; `label` says why at another place, `before` where what is missing belongs.
    fn never_closed(&mut self, open: u32, at: Span, label: &str, before: &str) {
        let bracket = self.done[open as usize];
        let message = format!("this `{}` is never closed", self.text(bracket.kind));
        let cure = format!("add `{}`{before}", self.text(self.closer_of(open)));
        self.out.add(Code::E0202, bracket.span, message).secondary(at, label).help(cure);
    }

    /// The first token of the line on which a token stands.
    pub(super) fn line_start(&self, at: usize) -> Option<usize> {
        self.done[..=at].iter().rposition(|token| token.flags.has(Flags::LINE_START))
    }

    pub(super) fn column(&self, token: &Token) -> Option<u32> {
        let sources = &self.session.sources;
        sources.location(sources.call_site(token.span)).map(|at| at.column)
    }

    /// Finds out again which brackets are open.
    pub(super) fn match_again(&mut self) {
        self.open.clear();
        for (at, token) in (0..).zip(&self.done) {
            match token.kind.nesting() {
                1 => self.open.push(at),
                -1 => _ = self.open.pop(),
                _ => {}
            }
        }
    }

    /// For an open `{`: a later line that begins at or left of the column of its own line, which
    /// is where the missing `}` probably belongs.
    fn indentation_suspect(&self, open: u32) -> Option<usize> {
        let open = open as usize;
        if self.done[open].kind != TokenKind::LBrace {
            return None;
        }
        let limit = self.column(&self.done[self.line_start(open)?])?;
        let last = self.done.len().min(open + FAR);
        (open + 1..last).find(|&at| {
            let token = &self.done[at];
            token.flags.has(Flags::LINE_START)
                && token.kind != TokenKind::RBrace
                && self.column(token).is_some_and(|at| at <= limit)
        })
    }

    /// Closes what is still open: where the indentation says so, or at the end of the file.
    fn finish(&mut self, end: Span, cut: bool) {
        let mut reports = if cut { 0 } else { 3 };
        while let Some(&open) = self.open.last() {
            if reports == 0 {
                self.pair(self.added(self.closer_of(open), end));
                continue;
            }
            reports -= 1;
            let label = "this line begins no further right than the one with the open bracket";
            match self.indentation_suspect(open) {
                Some(suspect) => self.close_before(open, suspect, label),
                None => self.report_open(end, None),
            }
        }
    }

    /// Reports an open bracket and closes it before token `suspect`, of which `label` says why; also what is open
    /// there inside of it, so that what closed that closes nothing any more.
    fn close_before(&mut self, open: u32, suspect: usize, label: &str) {
        let at = self.done[suspect].span;
        self.never_closed(open, at, label, " before it");
        let rest = self.done.split_off(suspect);
        self.match_again();
        let inside = self.open.iter().filter(|inner| **inner > open).count();
        for _ in 0..=inside {
            let innermost = self.open.last().map_or(TokenKind::RBrace, |it| self.closer_of(*it));
            self.pair(self.added(innermost, at.before()));
        }
        let (mut depth, mut stray) = (0, inside);
        for token in rest {
            if token.kind.is_closer() && depth == 0 && stray > 0 {
                stray -= 1;
                continue;
            }
            depth += token.kind.nesting();
            self.done.push(token);
        }
        self.match_again();
    }
}
