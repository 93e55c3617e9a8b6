//! Brackets that match, so that the parser can jump from each to its partner. Unbalanced ones are reported here and
//! nowhere else.
//!
//! Only files come here in which one does not match. Such a file is gone through up to the first place that shows
//! that something is wrong; one bracket is put in or left out there, and all begins again, with text like any other.
//! Where a missing one belongs is told by what cannot stand in brackets of its kind (`;`, `>>>`, other closing
//! brackets), by words with a head, and by the columns in which lines begin.

use super::Raw;
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind as T};
use crate::source::Span;
use crate::words::Word;

/// Brackets nest at most this deep.
pub const MAX_NESTING: usize = 256;
/// How many brackets are mended; what follows is left out, since nobody reads on behind as many.
const MOST_MENDED: usize = 100;
/// How many brackets are reported that nothing closes up to the end of the file.
const MOST_OPEN: usize = 3;
/// How many tokens or lines are looked at from a place that may show that a bracket is missing.
const NEAR: usize = 256;

/// An open bracket, or the file around all of them.
#[derive(Default)]
struct Open {
    at: usize,
    /// What closes it; nothing closes the file.
    closer: Option<T>,
    /// The first token of its line.
    line: usize,
    /// The word before a parenthesis, if this is the head of a statement.
    head: Option<Word>,
    /// It is an initialiser's brace: it follows `=`, or stands in such a one.
    is_list: bool,
    /// What stands in it and in no bracket inside: an open `<<<`, semicolons, the first tokens of lines.
    launch: bool,
    semicolons: Vec<usize>,
    lines: Vec<usize>,
}

impl Raw<'_> {
    /// Makes brackets match. Of a file whose brackets nest too deep nothing is left.
    pub fn mend_brackets(&mut self) {
        let at_end = if self.cut { 0 } else { MOST_OPEN };
        let (mut mender, mut last) = (Mender { raw: self, open: Vec::new(), at_end }, 0);
        for _ in 0..MOST_MENDED {
            let Some(at) = mender.mend_first() else { return };
            last = at;
        }
        mender.raw.tokens.truncate(last);
        mender.at_end = 0;
        mender.mend_first();
    }
}

struct Mender<'r, 'a> {
    raw: &'r mut Raw<'a>,
    /// The file, and the brackets that are open where the search for a fault has come.
    open: Vec<Open>,
    /// How many brackets may still be reported that are open at the end of the file.
    at_end: usize,
}

impl Mender<'_, '_> {
    /// Mends the first place that shows that something is wrong, and says where it is.
    fn mend_first(&mut self) -> Option<usize> {
        self.open = vec![Open::default()];
        let mut line = 0;
        for at in 0..self.raw.tokens.len() {
            if let Some(place) = self.missing_closer(at) {
                self.close(place);
                return Some(at);
            }
            let Token { kind, flags, span, .. } = self.raw.tokens[at];
            if kind.is_closer() {
                if let Some(head) = self.missing_brace(at) {
                    self.open_behind(head, T::LBrace, at);
                    return Some(at);
                }
                if self.inner().closer != Some(kind) {
                    match self.missing_parenthesis(at) {
                        Some(word) => self.open_behind(word, T::LParen, at),
                        None => self.closes_nothing(at),
                    }
                    return Some(at);
                }
                self.open.pop();
            }
            let inner = self.open.len() - 1;
            let around = &mut self.open[inner];
            use T::{PragmaCdp, PragmaEnd, PragmaNoUnroll, PragmaUnroll};
            let is_pragma = matches!(kind, PragmaUnroll | PragmaNoUnroll | PragmaCdp | PragmaEnd);
            if flags.has(Flags::LINE_START) && !is_pragma {
                line = at;
                around.lines.push(at);
            }
            match kind {
                T::Semi => {
                    around.semicolons.push(at);
                    around.launch = false;
                }
                T::LaunchOpen | T::LaunchClose => around.launch = kind == T::LaunchOpen,
                _ if kind.closer().is_some() => {
                    let before = self.raw.kind(at.wrapping_sub(1));
                    let in_list = matches!(before, Some(T::Comma | T::LBrace)) && around.is_list;
                    let is_list = before == Some(T::Eq) || in_list;
                    let word = self.raw.word(at.wrapping_sub(1));
                    let head = (kind == T::LParen && word.has_head()).then_some(word);
                    let closer = kind.closer();
                    self.open.push(Open { at, closer, line, head, is_list, ..Open::default() });
                }
                _ => {}
            }
            if self.open.len() > MAX_NESTING + 1 {
                let message = format!("brackets are nested more than {MAX_NESTING} deep");
                let found = self.raw.out.add(Code::E0205, span, message);
                found.note("nothing of the file was read");
                self.raw.tokens.clear();
                return Some(0);
            }
        }
        (self.open.len() > 1).then(|| self.close_at_end())
    }

    // ---- What is missing -----------------------------------------------------------------------------

    /// Where the innermost open bracket must have ended, if the token at a place shows that it has.
    fn missing_closer(&self, at: usize) -> Option<usize> {
        let [outer @ .., inner] = &self.open[..] else { return None };
        let is_brace = inner.closer? == T::RBrace;
        let here = match self.raw.tokens[at].kind {
            T::Semi if is_brace => inner.is_list,
            T::Semi if self.is_inside(inner.at, at) => false,
            // The body has begun on a line behind as many `;` as the head can have. Nobody writes the parts of an `if`
            // on several lines.
            T::Semi if matches!(inner.head, Some(Word::For | Word::If | Word::Switch)) => {
                let is_for = inner.head == Some(Word::For);
                let end = if is_for { *inner.semicolons.get(1..)?.last()? } else { inner.at };
                return inner.lines.iter().copied().find(|line| *line > end);
            }
            T::Semi => true,
            // Its `<<<` stands before the bracket.
            T::LaunchClose => {
                let is_end = |open: &&Open| open.launch || open.closer == Some(T::RBrace);
                let around = outer.iter().rev().find(is_end);
                !is_brace && !inner.launch && around.is_some_and(|open| open.launch)
            }
            T::LBrace => inner.head.is_some() && !self.is_list_at(at),
            kind if kind.is_closer() && inner.closer != Some(kind) => {
                // A `}` closes what is open inside its braces; a `)` or `]` does not reach past a `{`.
                let ends = [Some(kind), Some(T::RBrace)];
                let end = outer.iter().rev().find(|open| ends.contains(&open.closer));
                end.is_some_and(|open| open.closer == Some(kind)) && !is_brace
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
        let line = self.raw.tokens[at + 1..].iter().take_while(|token| !ends(token));
        let mut depth = 1;
        self.raw.tokens[open].kind == T::LParen
            && line.take(NEAR).any(|token| {
                depth += token.kind.nesting();
                depth == 0
            })
    }

    /// Whether the `{` at a place, in parentheses, begins a list and no body.
    fn is_list_at(&self, at: usize) -> bool {
        let next = self.raw.tokens.get(at + 1);
        match self.raw.tokens[at - 1].kind {
            T::Ident => !next.is_some_and(|next| next.flags.has(Flags::LINE_START)),
            kind => matches!(kind, T::LParen | T::Comma | T::Colon | T::Eq | T::LBrace),
        }
    }

    /// The end of the head whose body lacks its `{`, for a `}` that is further right than the line of the `{` that it
    /// would close, and of which there are too many: the last line before it that begins in its column is that of a
    /// head, and what follows is further right.
    fn missing_brace(&self, at: usize) -> Option<usize> {
        let Token { kind, flags, .. } = self.raw.tokens[at];
        let column =
            self.column(at).filter(|_| kind == T::RBrace && flags.has(Flags::LINE_START))?;
        let inner = &self.open[self.open.len() - 1];
        if inner.closer.is_some() && column <= self.column(inner.line)? {
            return None;
        }
        let mut next = at;
        for &line in inner.lines.iter().rev().take(NEAR) {
            let is_case = matches!(self.raw.word(line), Word::Case | Word::Default);
            let begins = self.column(line)?;
            if begins < column || begins == column && !is_case {
                let is_further =
                    self.column(next) > Some(column) || self.raw.word(next) == Word::Case;
                let is_head = begins == column && next < at && self.is_head(line, next - 1);
                return (is_head && is_further).then(|| next - 1);
            }
            next = line;
        }
        None
    }

    /// Whether the `{` of a body can stand behind the token that ends a line: `name (...)`, `else`, `do`, `struct S`.
    fn is_head(&self, line: usize, end: usize) -> bool {
        let tokens = &self.raw.tokens;
        match tokens[end].kind {
            T::RParen => tokens[line..end]
                .windows(2)
                .any(|two| two[0].kind == T::Ident && two[1].kind == T::LParen),
            T::Ident => {
                matches!(self.raw.word(end), Word::Else | Word::Do)
                    || end > line && matches!(self.raw.word(end - 1), Word::Record | Word::Enum)
            }
            _ => false,
        }
    }

    /// The word whose head lacks its `(`, for a `)` with nothing to close: the statement begins with it.
    fn missing_parenthesis(&self, at: usize) -> Option<usize> {
        let tokens = &self.raw.tokens;
        let ends =
            |token: &Token| matches!(token.kind, T::Semi | T::LBrace | T::RBrace | T::RParen);
        let first = tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
        let is_one = tokens[at].kind == T::RParen && self.raw.word(first).has_head();
        is_one.then_some(first)
    }

    fn column(&self, at: usize) -> Option<u32> {
        let sources = &self.raw.session.sources;
        sources.location(sources.call_site(self.raw.tokens[at].span)).map(|at| at.column)
    }

    // ---- Mending -------------------------------------------------------------------------------------

    /// How a bracket is spelled.
    fn text(&self, kind: T) -> &str {
        &self.raw.session.names[self.raw.spellings.of(kind)]
    }

    fn put_in(&mut self, at: usize, kind: T, span: Span) {
        let symbol = self.raw.spellings.of(kind);
        self.raw.tokens.insert(at, Token { kind, flags: Flags::default(), symbol, span });
    }

    fn inner(&self) -> &Open {
        &self.open[self.open.len() - 1]
    }

    /// Reports that the innermost open bracket is never closed, and closes it before a place.
    fn close(&mut self, place: usize) {
        let open = self.inner().at;
        let closer = self.inner().closer.map_or("", |kind| self.text(kind));
        let Token { kind, span, .. } = self.raw.tokens[open];
        let message = format!("this `{}` is never closed", self.text(kind));
        let next = self.raw.tokens.get(place).map(|token| token.span);
        let cure = format!("add `{closer}`{}", if next.is_some() { " before it" } else { "" });
        let label = format!("expected `{closer}` before this");
        let found = self.raw.out.add(Code::E0202, span, message);
        found.secondary(next.unwrap_or(Span::NONE), label).help(cure);
        self.close_before(open, place);
    }

    /// Closes a bracket before a place, and what is open there inside of it, so that what closed that closes nothing
    /// any more.
    fn close_before(&mut self, open: usize, place: usize) {
        let mut inside = Vec::new();
        for token in &self.raw.tokens[open..place] {
            match token.kind.closer() {
                Some(closer) => inside.push(closer),
                None if token.kind.is_closer() => _ = inside.pop(),
                None => {}
            }
        }
        let (mut depth, mut stray) = (0, inside.len().saturating_sub(1));
        let mut rest = self.raw.tokens.split_off(place);
        let span = rest.first().map_or(self.raw.end, |next| next.span.before());
        rest.retain(|token| {
            let goes = token.kind.is_closer() && depth == 0 && stray > 0;
            stray -= usize::from(goes);
            depth += if goes { 0 } else { token.kind.nesting() };
            !goes
        });
        inside.into_iter().rev().for_each(|kind| self.put_in(self.raw.tokens.len(), kind, span));
        self.raw.tokens.append(&mut rest);
    }

    /// Closes the innermost bracket that is open at the end of the file: where the indentation says so, or there.
    fn close_at_end(&mut self) -> usize {
        let end = self.raw.tokens.len();
        if self.at_end > 0 {
            self.at_end -= 1;
            self.close(self.indentation_suspect().unwrap_or(end));
        } else {
            // Nothing is open where a file was cut off behind a bracket that closes nothing.
            self.close_before(self.open[1].at, end);
        }
        end
    }

    /// For an open `{`: a later line that begins at or left of the column of its own line, which
    /// is where the missing `}` probably belongs.
    fn indentation_suspect(&self) -> Option<usize> {
        let inner = self.inner();
        let limit = self.column(inner.line).filter(|_| inner.closer == Some(T::RBrace))?;
        (inner.at + 1..self.raw.tokens.len()).find(|&at| {
            let Token { kind, flags, .. } = self.raw.tokens[at];
            let begins = flags.has(Flags::LINE_START) && kind != T::RBrace;
            begins && self.column(at).is_some_and(|at| at <= limit)
        })
    }

    /// Puts in an opening bracket behind a head, which the closing one at a place closes.
    fn open_behind(&mut self, head: usize, kind: T, close: usize) {
        let Token { kind: closer, span: close, .. } = self.raw.tokens[close];
        let [opener, closer] = [kind, closer].map(|kind| self.text(kind).to_owned());
        let Token { symbol, span, .. } = self.raw.tokens[head];
        let message = format!("expected `{opener}` after `{}`", &self.raw.session.names[symbol]);
        let place = span.after();
        let found = self.raw.out.add(Code::E0202, place, message);
        found.secondary(close, format!("this `{closer}` closes it"));
        found.suggest("add", place, format!(" {opener}"));
        self.put_in(head + 1, kind, place);
    }

    /// Reports a closing bracket that closes nothing, and leaves it out.
    fn closes_nothing(&mut self, at: usize) {
        let Token { kind, span, .. } = self.raw.tokens.remove(at);
        let message = format!("this `{}` closes nothing", self.text(kind));
        let open = self.inner().closer.map(|_| self.raw.tokens[self.inner().at]);
        let label = open.map(|open| {
            (open.span, format!("this `{}` is the bracket that is open here", self.text(open.kind)))
        });
        let found = self.raw.out.add(Code::E0202, span, message);
        if let Some((open, label)) = label {
            found.secondary(open, label);
        }
        found.suggest("remove it", span, "");
    }
}
