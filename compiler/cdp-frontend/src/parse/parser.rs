//! The state of the parser, and what every production uses: looking at tokens, spans, the error of an
//! unexpected token, and going on after one.
//!
//! Each production is one function with its rule written above it. It returns [`Parsed`]; a [`Fault`]
//! has been reported, and ends productions outwards up to the next one that recovers: brackets
//! ([`Parser::group`]), which always end at their partner, and statements, members and external
//! declarations, which pass over the rest of themselves.

use super::symbols::Symbols;
use super::*;
use crate::diagnostics::Diagnostic;
use crate::lex::Flags;
use crate::tokens::Packed;

/// Why a production ended early; it has been reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The program is no C++ here; what follows is still read for its errors.
    Syntax,
    /// The construct is outside the subset; the rest of it is passed over.
    Refused,
}

/// What a production gives.
pub(super) type Parsed<X> = Result<X, Fault>;

/// A production, perhaps with what it needs from around it.
pub(super) trait Rule<'a, X>: FnOnce(&mut Parser<'a>) -> Parsed<X> {}

impl<'a, X, F: FnOnce(&mut Parser<'a>) -> Parsed<X>> Rule<'a, X> for F {}

/// A production of which a list is made.
pub(super) type Item<'a, X> = fn(&mut Parser<'a>) -> Parsed<X>;

/// The state.
pub(super) struct Parser<'a> {
    pub session: &'a mut Session,
    pub diagnostics: &'a mut Diagnostics,
    pub vocabulary: &'a Vocabulary,
    pub symbols: Symbols,
    pub tokens: &'a Packed,
    /// The next token.
    pub at: usize,
    /// Where the file ends.
    pub end: Span,
    /// Names that were reported as unknown types, each once, and those of declarations that were given up.
    pub lost: FastSet<Symbol>,
    /// A header was not read.
    pub unread: bool,
    /// The tag of the record whose members are read.
    pub record: Option<Symbol>,
    /// Productions of expressions and statements inside each other.
    pub depth: u32,
    /// The open `<<<`, innermost last.
    pub launches: Vec<usize>,
    /// Inside a `(` or `[` whose partner was put in: nobody knows what belongs inside, and the bracket has had its
    /// report.
    pub unclosed: bool,
}

impl<'a> Parser<'a> {
    // ---- Tokens ----------------------------------------------------------------------------------

    pub fn kind_at(&self, at: usize) -> Option<T> {
        self.tokens.kind(at)
    }

    pub fn kind(&self) -> Option<T> {
        self.kind_at(self.at)
    }

    pub fn is(&self, kind: T) -> bool {
        self.kind() == Some(kind)
    }

    /// Passes a token of this kind, if it is next.
    pub fn eat(&mut self, kind: T) -> bool {
        let found = self.is(kind);
        self.at += usize::from(found);
        found
    }

    /// The word at a place; [`Word::Name`] also for what is no word.
    pub fn word_at(&self, at: usize) -> Word {
        match self.tokens.kind(at) {
            Some(T::Ident) => self.vocabulary.words.get(self.tokens.symbol(at)),
            _ => Word::Name,
        }
    }

    pub fn word(&self) -> Word {
        self.word_at(self.at)
    }

    /// True for an identifier that is no keyword.
    pub fn is_name_at(&self, at: usize) -> bool {
        self.kind_at(at) == Some(T::Ident) && self.word_at(at) == Word::Name
    }

    pub fn is_name(&self) -> bool {
        self.is_name_at(self.at)
    }

    pub fn symbol_at(&self, at: usize) -> Symbol {
        self.tokens.symbol(at)
    }

    pub fn text_at(&self, at: usize) -> &str {
        self.session.names.resolve(self.symbol_at(at))
    }

    pub fn is_text(&self, at: usize, text: &str) -> bool {
        self.text_at(at) == text
    }

    pub fn is_closer_at(&self, at: usize) -> bool {
        self.kind_at(at).is_some_and(T::is_closer)
    }

    pub fn starts_line(&self, at: usize) -> bool {
        self.tokens.flags(at).has(Flags::LINE_START)
    }

    /// The place after the group that begins at `at`, or after the token there.
    pub fn group_end(&self, at: usize) -> usize {
        match self.tokens.partner(at) {
            Some(close) if close > at => close + 1,
            _ => at + 1,
        }
    }

    // ---- Spans -----------------------------------------------------------------------------------

    pub fn span_at(&self, at: usize) -> Span {
        self.tokens.span(at).unwrap_or(self.end)
    }

    /// The span of tokens `start..end`; the empty span before `start` when there are none.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let first = self.span_at(start);
        if end <= start {
            return first.before();
        }
        self.session.sources.join(first, self.span_at(end - 1))
    }

    /// From a token to the last one that was passed.
    pub fn since(&self, start: usize) -> Span {
        self.span(start, self.at)
    }

    /// Just after the last token that was passed.
    pub fn behind(&self) -> Span {
        self.at.checked_sub(1).map_or(self.end, |last| self.span_at(last).after())
    }

    // ---- Errors ----------------------------------------------------------------------------------

    /// An error, of which more can be said.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.add(code, span, message)
    }

    /// A token as a message names it.
    pub fn found(&self) -> String {
        let Some(kind) = self.kind() else { return "the end of the file".to_owned() };
        let text: String = self.text_at(self.at).chars().take(60).collect();
        match kind {
            T::String | T::RawString => "a string literal".to_owned(),
            T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp => "a `#pragma`".to_owned(),
            T::PragmaEnd => "the end of the line".to_owned(),
            T::Ident if self.type_end(self.at).is_some() && self.word() != Word::Qualifier => {
                format!("the type `{text}`")
            }
            _ => format!("`{text}`"),
        }
    }

    /// The error of a token that fits nowhere: "expected `)`, found `;`".
    pub fn expected(&mut self, wanted: &str) -> Fault {
        self.unexpected(Code::E0201, wanted)
    }

    pub fn unexpected(&mut self, code: Code, wanted: &str) -> Fault {
        // A bracket that was put in has had its report.
        let span = self.span_at(self.at);
        if self.unclosed || self.is_put_in(self.at) {
            return Fault::Syntax;
        }
        if let Some(fault) = self.refuse_here(wanted) {
            return fault;
        }
        let launch = self.launches.last().map(|open| self.span_at(*open));
        if self.is(T::LaunchClose) && launch.is_none() {
            self.error(Code::E0201, span, "`>>>` without `<<<`");
            return Fault::Syntax;
        }
        let message = format!("expected {wanted}, found {}", self.found());
        let found = self.error(code, span, message);
        if let Some(launch) = launch {
            found.secondary(launch, "this `<<<` has no `>>>` yet");
        }
        Fault::Syntax
    }

    /// True for a closing bracket that was put in.
    fn is_put_in(&self, at: usize) -> bool {
        let span = self.span_at(at);
        self.is_closer_at(at) && span.lo == span.hi
    }

    /// Passes a token, and gives its span.
    pub fn pass(&mut self) -> Span {
        self.at += 1;
        self.span_at(self.at - 1)
    }

    // [ token production ]
    pub fn after<X>(&mut self, token: T, production: impl Rule<'a, X>) -> Parsed<Option<X>> {
        if self.eat(token) { production(self).map(Some) } else { Ok(None) }
    }

    /// `[ production ]` before a token that cannot begin it.
    pub fn unless<X>(&mut self, token: T, production: impl Rule<'a, X>) -> Parsed<Option<X>> {
        if self.is(token) { Ok(None) } else { production(self).map(Some) }
    }

    /// Passes a token that must be here.
    pub fn expect(&mut self, kind: T, wanted: &str) -> Parsed<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.expected(wanted)) }
    }

    /// A `;` that may be missing: where it clearly belongs, its absence is reported and nothing else.
    /// `what` ends here; `wanted` is all that may follow.
    pub fn semicolon(&mut self, what: &str, wanted: &str) -> Parsed<()> {
        if self.eat(T::Semi) {
            return Ok(());
        }
        if !self.semicolon_belongs_here() {
            return Err(self.expected(wanted));
        }
        let (place, declares) = (self.behind(), self.begins_next_declaration());
        let is_new = declares || self.is_put_in(self.at);
        let found = if is_new { String::new() } else { format!(", found {}", self.found()) };
        let next = if self.starts_line(self.at) { self.span_at(self.at) } else { Span::NONE };
        let label = if declares { "the next declaration begins here" } else { "unexpected here" };
        self.error(Code::E0203, place, format!("expected `;` after {what}{found}"))
            .suggest("add", place, ";")
            .secondary(next, label);
        Ok(())
    }

    /// The rest of the line is empty, or what follows begins a statement or ends the block.
    pub fn semicolon_belongs_here(&self) -> bool {
        let Some(kind) = self.kind() else { return true };
        self.starts_line(self.at) || kind == T::RBrace || self.word().begins_statement()
    }

    // ---- Groups, lists, depth ----------------------------------------------------------------------

    /// What stands between the bracket here and its partner. Afterwards the parser is behind the
    /// partner, whatever was found between them; `wanted` is what may follow the contents. Where a `)` or `]` had to
    /// be put in nobody knows what belongs inside, so that nothing is said of it.
    pub fn group<X>(&mut self, wanted: &str, contents: impl Rule<'a, X>) -> Parsed<X> {
        let close = self.group_end(self.at) - 1;
        let launches = std::mem::take(&mut self.launches);
        let (unclosed, around) = (self.is_put_in(close) && !self.is(T::LBrace), self.unclosed);
        self.unclosed |= unclosed;
        self.at += 1;
        let result = match contents(self) {
            Ok(_) if self.at != close || unclosed => Err(self.expected(wanted)),
            result => result,
        };
        self.at = close + 1;
        self.launches = launches;
        self.unclosed = around;
        result
    }

    /// What stands between the parentheses that must be here.
    pub fn parenthesised<X>(&mut self, wanted: &str, contents: impl Rule<'a, X>) -> Parsed<X> {
        if self.is(T::LParen) { self.group(wanted, contents) } else { Err(self.expected("`(`")) }
    }

    /// `items = { item "," } [ item ]`, up to a bracket; after an error, what could be read.
    pub fn items<X>(&mut self, wanted: &str, item: Item<'a, X>) -> (Vec<X>, Parsed<()>) {
        let close = self.group_end(self.at) - 1;
        let mut items = Vec::new();
        let result = self.group(wanted, |p| {
            while p.at < close {
                items.push(item(p)?);
                if !p.eat(T::Comma) {
                    break;
                }
            }
            Ok(())
        });
        items.shrink_to_fit();
        (items, result)
    }

    // list = item { "," item }
    pub fn list<X>(&mut self, item: Item<'a, X>) -> Parsed<Vec<X>> {
        let mut list = vec![item(self)?];
        while self.eat(T::Comma) {
            list.push(item(self)?);
        }
        list.shrink_to_fit();
        Ok(list)
    }

    /// `[ list ]` before a token that cannot begin an item.
    pub fn list_before<X>(&mut self, end: T, item: Item<'a, X>) -> Parsed<Vec<X>> {
        if self.is(end) { Ok(Vec::new()) } else { self.list(item) }
    }

    /// A production in a scope of its own.
    pub fn scoped<X>(&mut self, production: impl FnOnce(&mut Self) -> X) -> X {
        self.symbols.enter();
        let result = production(self);
        self.symbols.leave();
        result
    }

    /// A production inside another of its kind, refused where the tree would become too deep to walk.
    pub fn nested<X>(&mut self, what: &str, production: impl Rule<'a, X>) -> Parsed<X> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(what, self.span_at(self.at)));
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    /// The error of a tree that would become too deep to walk; `what` is nested there, with its verb.
    pub fn too_deep(&mut self, what: &str, span: Span) -> Fault {
        let message = format!("{what} nested more than {MAX_DEPTH} deep");
        let found = self.error(Code::E0205, span.before(), message);
        if what == "an expression is" {
            found.help("compute parts of it into variables");
        }
        Fault::Syntax
    }

    // ---- Going on after an error -------------------------------------------------------------------

    /// The first place from `at` on whose token is wanted, outside of brackets that open on the way; or where the
    /// brackets around `at` close, or the end of the file.
    pub fn find(&self, mut at: usize, mut is_wanted: impl FnMut(T) -> bool) -> usize {
        while let Some(kind) = self.kind_at(at)
            && !kind.is_closer()
            && !is_wanted(kind)
        {
            at = self.group_end(at);
        }
        at
    }

    /// Passes a statement or declaration: to its `;`, or past a function's body.
    pub fn skip_item(&mut self) {
        loop {
            self.at = self.find(self.at, |kind| matches!(kind, T::Semi | T::LBrace));
            if !self.is(T::LBrace) {
                break;
            }
            self.at = self.group_end(self.at);
            // `struct S { } x;` and `T x{};` go on to their `;`, a function's body does not.
            if !matches!(self.kind(), Some(T::Comma | T::LBrace)) {
                break;
            }
        }
        self.eat(T::Semi);
    }

    /// Passes the parentheses that may be here.
    pub fn skip_parentheses(&mut self) {
        if self.is(T::LParen) {
            self.at = self.group_end(self.at);
        }
    }
}
