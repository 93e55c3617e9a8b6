//! Brackets that match, so that the parser can jump from each to its partner. Unbalanced ones are reported here and
//! nowhere else.
//!
//! A file whose brackets match is gone through once and never judged. Any other one is gone through up to the first
//! place that shows that something is wrong; one bracket is put in or left out there, and all begins again, with
//! text like any other. Where a missing one belongs is told by what cannot stand in brackets of its kind (`;`, `>>>`,
//! other closing brackets), by words with a head, and by the columns in which lines begin.

use crate::diagnostics::{Code, Diagnostics};
use crate::lex::{Flags, Spellings, Token, TokenKind as T};
use crate::session::Session;
use crate::source::Span;
use crate::words::{Word, Words};

/// Brackets nest at most this deep.
const MAX_NESTING: usize = 256;
/// How many brackets are mended; what follows is left out, since nobody reads on behind as many.
const MOST_MENDED: usize = 100;
/// How many brackets are reported that nothing closes up to the end of the file.
const MOST_OPEN: usize = 3;
/// How many tokens are searched for the place of a missing bracket.
const FAR: usize = 20_000;
/// How many tokens of a line the end of parentheses is looked for.
const NEAR: usize = 256;

/// Matches the brackets of a file. `end` is where it ends, `cut` says that something before that was not read.
/// Of a file whose brackets nest too deep nothing is left.
pub fn balance(
    tokens: &mut Vec<Token>,
    end: Span,
    cut: bool,
    words: &Words,
    spellings: &Spellings,
    session: &Session,
    out: &mut Diagnostics,
) {
    let (open, at_end) = (Vec::new(), if cut { 0 } else { MOST_OPEN });
    let mut state = Balancer { tokens, open, end, at_end, words, spellings, session, out };
    if state.scan(false).is_none() {
        return;
    }
    for _ in 0..MOST_MENDED {
        let Some(at) = state.scan(true) else { return };
        state.mend(at);
    }
    if let Some(at) = state.scan(true) {
        state.tokens.truncate(at);
        state.at_end = 0;
        state.mend(at);
    }
}

struct Balancer<'a> {
    tokens: &'a mut Vec<Token>,
    /// Places of the brackets that are open where a scan has come.
    open: Vec<usize>,
    end: Span,
    /// How many brackets may still be reported that are open at the end of the file.
    at_end: usize,
    words: &'a Words,
    spellings: &'a Spellings,
    session: &'a Session,
    out: &'a mut Diagnostics,
}

impl Balancer<'_> {
    /// The first place where a bracket does not match, or also, if this is to be judged, where one is missing.
    fn scan(&mut self, judge: bool) -> Option<usize> {
        self.open.clear();
        for at in 0..self.tokens.len() {
            let kind = self.tokens[at].kind;
            if judge && self.missing_closer(at).is_some() {
                return Some(at);
            }
            if kind.closer().is_some() {
                if self.open.len() == MAX_NESTING {
                    return Some(at);
                }
                self.open.push(at);
            } else if kind.is_closer() {
                if self.open.last().is_none_or(|open| self.closer_of(*open) != kind)
                    || judge && self.missing_brace(at).is_some()
                {
                    return Some(at);
                }
                self.open.pop();
            }
        }
        (!self.open.is_empty()).then_some(self.tokens.len())
    }

    /// Mends the place where a scan has ended.
    fn mend(&mut self, at: usize) {
        if at == self.tokens.len() {
            self.close_at_end();
        } else if let Some(place) = self.missing_closer(at) {
            self.close(place, at, "");
        } else if self.tokens[at].kind.closer().is_some() {
            let message = format!("brackets are nested more than {MAX_NESTING} deep");
            let found = self.out.add(Code::E0205, self.tokens[at].span, message);
            found.note("nothing of the file was read");
            self.tokens.clear();
        } else if let Some(head) = self.missing_brace(at) {
            self.open_behind(head, T::LBrace, at);
        } else if let Some(word) = self.missing_parenthesis(at) {
            self.open_behind(word, T::LParen, at);
        } else {
            self.closes_nothing(at);
        }
    }

    // ---- What is missing -----------------------------------------------------------------------------

    /// Where the innermost open bracket must have ended, if the token at a place shows that it has.
    fn missing_closer(&self, at: usize) -> Option<usize> {
        let &open = self.open.last()?;
        let is_brace = self.tokens[open].kind == T::LBrace;
        let here = match self.tokens[at].kind {
            T::Semi if is_brace => self.is_list(self.open.len() - 1),
            T::Semi if self.is_inside(open, at) => false,
            T::Semi => match self.head_word(open) {
                Some(Word::For) => return self.end_of_head(open, at, 2),
                Some(Word::If | Word::Switch) => return self.end_of_head(open, at, 1),
                _ => true,
            },
            T::LaunchClose => !is_brace && self.began_before(open, at),
            T::LBrace => self.head_word(open).is_some() && !self.is_list_at(at),
            kind if kind.is_closer() && self.closer_of(open) != kind => {
                // A `}` closes what is open inside its braces; a `)` or `]` does not reach past a `{`.
                let mut around = self.open.iter().rev();
                let is_one = |open: &&usize| self.closer_of(**open) == kind;
                let is_end = |open: &&usize| {
                    is_one(open) || kind != T::RBrace && self.tokens[**open].kind == T::LBrace
                };
                around.find(is_end).as_ref().is_some_and(is_one)
            }
            _ => false,
        };
        here.then_some(at)
    }

    /// Whether a `;` stands in place of a comma: the end of the parentheses around it follows on its line.
    fn is_inside(&self, open: usize, at: usize) -> bool {
        let ends = |token: &&Token| {
            token.flags.has(Flags::LINE_START) || matches!(token.kind, T::LBrace | T::RBrace)
        };
        let line = self.tokens[at + 1..].iter().take_while(|token| !ends(token));
        let mut depth = 1;
        self.tokens[open].kind == T::LParen
            && line.take(NEAR).any(|token| {
                depth += token.kind.nesting();
                depth == 0
            })
    }

    /// The word before a parenthesis at a place, if this is the head of a statement.
    fn head_word(&self, open: usize) -> Option<Word> {
        let before = open.checked_sub(1).filter(|_| self.tokens[open].kind == T::LParen)?;
        Some(self.word(before)).filter(|word| word.has_head())
    }

    /// Where the open head of a statement ends that has at most so many parts with a `;`, when the `;` at a place
    /// shows that its body has begun: at the first new line after them. Nobody writes the parts of an `if` on
    /// several lines.
    fn end_of_head(&self, open: usize, at: usize, parts: usize) -> Option<usize> {
        if at - open > FAR {
            return None;
        }
        let (mut depth, mut semicolons, mut line) = (0, 0, None);
        for inside in open + 1..at {
            let Token { kind, flags, .. } = self.tokens[inside];
            if depth == 0 {
                line = line.or(flags.has(Flags::LINE_START).then_some(inside));
                if kind == T::Semi {
                    semicolons += 1;
                    line = line.filter(|_| parts == 1);
                }
            }
            depth += kind.nesting();
        }
        line.filter(|_| parts == 1 || semicolons >= parts)
    }

    /// Whether the `<<<` that the `>>>` at a place ends stands before an open bracket.
    fn began_before(&self, open: usize, at: usize) -> bool {
        let ends = |token: &Token| {
            matches!(token.kind, T::LaunchOpen | T::LaunchClose | T::Semi | T::LBrace)
        };
        let last = self.tokens[..at].iter().rposition(ends);
        last.is_some_and(|last| last < open && self.tokens[last].kind == T::LaunchOpen)
    }

    /// Whether the `{` at a place, in parentheses, begins a list and no body.
    fn is_list_at(&self, at: usize) -> bool {
        let ends_line = self.tokens.get(at + 1).is_some_and(|it| it.flags.has(Flags::LINE_START));
        match self.tokens[at - 1].kind {
            T::Ident => !ends_line,
            kind => matches!(kind, T::LParen | T::Comma | T::Colon | T::Eq | T::LBrace),
        }
    }

    /// The open brace at this depth is an initialiser's: it follows `=`, or stands in such a one.
    fn is_list(&self, depth: usize) -> bool {
        match self.open[depth].checked_sub(1).map(|before| self.tokens[before].kind) {
            Some(T::Eq) => true,
            Some(T::Comma | T::LBrace) => depth > 0 && self.is_list(depth - 1),
            _ => false,
        }
    }

    /// The end of the head whose body lacks its `{`, for a `}` that is further right than the line of the `{` that it
    /// would close, and of which there are too many: the last line before it that begins in its column is that of a
    /// head, and what follows is further right.
    fn missing_brace(&self, at: usize) -> Option<usize> {
        let Token { kind, flags, .. } = self.tokens[at];
        let column =
            self.column(at).filter(|_| kind == T::RBrace && flags.has(Flags::LINE_START))?;
        let from = match self.open.last() {
            Some(&open) if column <= self.column(self.line_start(open)?)? => return None,
            open => open.map_or(0, |open| open + 1),
        };
        let (mut next, mut back) = (at, at);
        while back > from.max(at.saturating_sub(FAR)) {
            let group = self.opener(back - 1);
            for place in [back - 1, group] {
                let Token { kind, flags, .. } = self.tokens[place];
                let is_pragma = matches!(kind, T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp);
                if !flags.has(Flags::LINE_START) || is_pragma || kind == T::PragmaEnd {
                    continue;
                }
                let is_case = matches!(self.word(place), Word::Case | Word::Default);
                let begins = self.column(place)?;
                if begins < column || begins == column && !is_case {
                    let further = self.column(next) > Some(column) || self.word(next) == Word::Case;
                    let is_head = begins == column && next < at && self.ends_head(next - 1);
                    return (is_head && further).then(|| next - 1);
                }
                next = place;
            }
            back = group;
        }
        None
    }

    /// Whether the `{` of a body can stand behind a token: `name (...)`, `else`, `do`, `struct S`.
    fn ends_head(&self, end: usize) -> bool {
        let before = self.opener(end).checked_sub(1);
        match self.tokens[end].kind {
            T::RParen => before.is_some_and(|at| self.tokens[at].kind == T::Ident),
            T::Ident => {
                matches!(self.word(end), Word::Else | Word::Do)
                    || before.is_some_and(|at| matches!(self.word(at), Word::Record | Word::Enum))
            }
            _ => false,
        }
    }

    /// The word whose head lacks its `(`, for a `)` with nothing to close: the statement begins with it.
    fn missing_parenthesis(&self, at: usize) -> Option<usize> {
        let ends =
            |token: &Token| matches!(token.kind, T::Semi | T::LBrace | T::RBrace | T::RParen);
        let first = self.tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
        let is_one = self.tokens[at].kind == T::RParen && self.word(first).has_head();
        is_one.then_some(first)
    }

    // ---- Tokens --------------------------------------------------------------------------------------

    fn word(&self, at: usize) -> Word {
        self.words.get(self.tokens[at].symbol)
    }

    fn column(&self, at: usize) -> Option<u32> {
        let sources = &self.session.sources;
        sources.location(sources.call_site(self.tokens[at].span)).map(|at| at.column)
    }

    /// The first token of the line on which a token stands.
    fn line_start(&self, at: usize) -> Option<usize> {
        self.tokens[..=at].iter().rposition(|token| token.flags.has(Flags::LINE_START))
    }

    /// Where the group begins that ends at a place; this place itself, if none does.
    fn opener(&self, end: usize) -> usize {
        let mut depth = 0;
        let begins = |at: &usize| {
            depth -= self.tokens[*at].kind.nesting();
            depth <= 0
        };
        (0..=end).rev().find(begins).unwrap_or(end)
    }

    /// How a bracket is spelled.
    fn text(&self, kind: T) -> &str {
        &self.session.names[self.spellings.of(kind)]
    }

    fn closer_of(&self, open: usize) -> T {
        self.tokens[open].kind.closer().unwrap_or(T::RBrace)
    }

    fn put_in(&mut self, at: usize, kind: T, span: Span) {
        let symbol = self.spellings.of(kind);
        self.tokens.insert(at, Token { kind, flags: Flags::default(), symbol, span });
    }

    // ---- Mending -------------------------------------------------------------------------------------

    /// Reports that the innermost open bracket is never closed, and closes it at `place`, before what shows that at `at`;
    /// `why` says why there, if that is not all that fits.
    fn close(&mut self, place: usize, at: usize, why: &str) {
        let open = self.open[self.open.len() - 1];
        let (bracket, closer) = (self.tokens[open], self.text(self.closer_of(open)));
        let message = format!("this `{}` is never closed", self.text(bracket.kind));
        let cure = format!("add `{closer}`{}", if place < at { " before it" } else { "" });
        let expected = format!("expected `{closer}` before this");
        let label = if why.is_empty() { expected } else { why.to_owned() };
        let span = self.tokens.get(place).map_or(Span::NONE, |token| token.span);
        self.out.add(Code::E0202, bracket.span, message).secondary(span, label).help(cure);
        self.close_before(open, place);
    }

    /// Closes a bracket before a place, and what is open there inside of it, so that what closed that closes nothing
    /// any more.
    fn close_before(&mut self, open: usize, place: usize) {
        let mut inside = Vec::new();
        for at in open..place {
            match self.tokens[at].kind.nesting() {
                1 => inside.push(self.closer_of(at)),
                -1 => _ = inside.pop(),
                _ => {}
            }
        }
        let (mut depth, mut stray) = (0, inside.len().saturating_sub(1));
        let mut rest = self.tokens.split_off(place);
        let span = rest.first().map_or(self.end, |next| next.span.before());
        rest.retain(|token| {
            let goes = token.kind.is_closer() && depth == 0 && stray > 0;
            stray -= usize::from(goes);
            depth += if goes { 0 } else { token.kind.nesting() };
            !goes
        });
        inside.into_iter().rev().for_each(|kind| self.put_in(self.tokens.len(), kind, span));
        self.tokens.append(&mut rest);
    }

    /// Closes the innermost bracket that is open at the end of the file: where the indentation says so, or there.
    fn close_at_end(&mut self) {
        if self.at_end == 0 {
            // Nothing is open where a file was cut off behind a bracket that closes nothing.
            if let Some(&open) = self.open.first() {
                self.close_before(open, self.tokens.len());
            }
            return;
        }
        self.at_end -= 1;
        let (end, open) = (self.tokens.len(), self.open[self.open.len() - 1]);
        let why = "this line begins no further right than the one with the open bracket";
        match self.indentation_suspect(open) {
            Some(place) => self.close(place, end, why),
            None => self.close(end, end, ""),
        }
    }

    /// For an open `{`: a later line that begins at or left of the column of its own line, which
    /// is where the missing `}` probably belongs.
    fn indentation_suspect(&self, open: usize) -> Option<usize> {
        let line = self.line_start(open).filter(|_| self.tokens[open].kind == T::LBrace)?;
        let limit = self.column(line)?;
        (open + 1..self.tokens.len()).take(FAR).find(|&at| {
            let Token { kind, flags, .. } = self.tokens[at];
            let begins = flags.has(Flags::LINE_START) && kind != T::RBrace;
            begins && self.column(at).is_some_and(|at| at <= limit)
        })
    }

    /// Puts in an opening bracket behind a head, which the closing one at a place closes.
    fn open_behind(&mut self, head: usize, kind: T, close: usize) {
        let Token { kind: closer, span: close, .. } = self.tokens[close];
        let [opener, closer] = [kind, closer].map(|kind| self.text(kind).to_owned());
        let Token { symbol, span, .. } = self.tokens[head];
        let message = format!("expected `{opener}` after `{}`", &self.session.names[symbol]);
        let place = span.after();
        self.out
            .add(Code::E0202, place, message)
            .secondary(close, format!("this `{closer}` closes it"))
            .suggest("add", place, format!(" {opener}"));
        self.put_in(head + 1, kind, place);
    }

    /// Reports a closing bracket that closes nothing, and leaves it out.
    fn closes_nothing(&mut self, at: usize) {
        let Token { kind, span, .. } = self.tokens[at];
        let message = format!("this `{}` closes nothing", self.text(kind));
        let open = self.open.last().map(|open| {
            let Token { kind, span, .. } = self.tokens[*open];
            (span, format!("this `{}` is the bracket that is open here", self.text(kind)))
        });
        let found = self.out.add(Code::E0202, span, message);
        if let Some((open, label)) = open {
            found.secondary(open, label);
        }
        found.suggest("remove it", span, "");
        self.tokens.remove(at);
    }
}
