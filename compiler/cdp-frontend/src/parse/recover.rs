//! Parsing one external declaration, and going on after a syntax error: the message, and a repair
//! of the tokens after which the declaration is parsed again.
//!
//! Repairs, mildest first: a missing `;` is put in; the contents of a parenthesis become an error
//! expression; a statement or member becomes an error item; the whole declaration becomes an error.
//! Each makes the token list simpler or ends the loop.

use lalrpop_util::ParseError;

use super::build::Builder;
use super::grammar::ExternalDeclParser;
use super::token::{Kind, Tok};
use crate::ast::{Decl, DeclKind};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::session::Session;
use crate::source::Span;

/// Repairs of one declaration at most.
const MAX_REPAIRS: usize = 200;

/// Parses the tokens of one external declaration. `end` is where the file ends.
pub fn parse_decl(
    tokens: &[Tok],
    session: &Session,
    end: Span,
    diagnostics: &mut Diagnostics,
) -> Decl {
    let error = match attempt(tokens, session) {
        Ok((decl, found)) => {
            diagnostics.extend(found);
            return decl;
        }
        Err(error) => error,
    };
    let mut recovery = Recovery {
        work: tokens.to_vec(),
        session,
        end,
        diagnostics,
        silent: false,
        body_only: false,
    };
    recovery.run(error)
}

/// Where the grammar got stuck, and what it would have taken.
struct Stuck {
    /// The token, or the length of the list at its end.
    at: usize,
    expected: Vec<String>,
}

impl Stuck {
    fn takes(&self, terminal: &str) -> bool {
        self.expected.iter().any(|expected| expected.trim_matches('"') == terminal)
    }
}

fn attempt(tokens: &[Tok], session: &Session) -> Result<(Decl, Diagnostics), Stuck> {
    let builder = Builder::new(tokens, session);
    let input = tokens.iter().enumerate().map(|(at, token)| Ok((at, token.kind, at + 1)));
    match parser(|parser| parser.parse(&builder, input)) {
        Ok(decl) => Ok((decl, builder.diagnostics.into_inner())),
        Err(ParseError::UnrecognizedToken { token: (at, ..), expected }) => {
            Err(Stuck { at, expected })
        }
        Err(ParseError::ExtraToken { token: (at, ..) }) => Err(Stuck { at, expected: Vec::new() }),
        Err(ParseError::UnrecognizedEof { expected, .. }) => {
            Err(Stuck { at: tokens.len(), expected })
        }
        Err(ParseError::InvalidToken { location }) => {
            Err(Stuck { at: location, expected: Vec::new() })
        }
        Err(ParseError::User { .. }) => Err(Stuck { at: tokens.len(), expected: Vec::new() }),
    }
}

/// The generated parser holds no state; one per thread is enough.
fn parser<R>(use_it: impl FnOnce(&ExternalDeclParser) -> R) -> R {
    thread_local! {
        static PARSER: ExternalDeclParser = ExternalDeclParser::new();
    }
    PARSER.with(use_it)
}

struct Recovery<'r> {
    work: Vec<Tok>,
    session: &'r Session,
    end: Span,
    diagnostics: &'r mut Diagnostics,
    /// The next error follows from a repair.
    silent: bool,
    /// The header was given up; the body is parsed for its errors only.
    body_only: bool,
}

impl Recovery<'_> {
    fn run(&mut self, mut stuck: Stuck) -> Decl {
        let whole = self.span(0, self.work.len());
        for _ in 0..MAX_REPAIRS {
            if self.diagnostics.is_full() {
                break;
            }
            if !self.repair(&stuck) {
                break;
            }
            match attempt(&self.work, self.session) {
                Ok((decl, found)) => {
                    self.diagnostics.extend(found);
                    if self.body_only {
                        break;
                    }
                    return decl;
                }
                Err(next) => stuck = next,
            }
        }
        Decl { kind: DeclKind::Error, span: whole }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        match (self.work.get(start), end.checked_sub(1).and_then(|last| self.work.get(last))) {
            (Some(first), Some(last)) if end > start => {
                self.session.sources.join(first.span, last.span)
            }
            _ => self.end,
        }
    }

    fn text(&self, at: usize) -> &str {
        self.work.get(at).map_or("", |token| self.session.names.resolve(token.symbol))
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.work.get(at).map(|token| token.kind)
    }

    /// Reports, and repairs the tokens; false when nothing is left to repair.
    fn repair(&mut self, stuck: &Stuck) -> bool {
        let at = stuck.at;
        if std::mem::take(&mut self.silent)
            || matches!(self.kind(at), Some(Kind::ErrorItem | Kind::ErrorExpr))
        {
            return self.widen(at);
        }
        if stuck.takes(";") && !stuck.takes("return") && self.belongs_before(at) {
            self.report_semicolon(at);
            let symbol = self.session.names.lookup(";").unwrap_or_default();
            let span = self.before(at);
            self.work.insert(at, Tok { kind: Kind::Semi, line_start: false, symbol, span });
            return true;
        }
        // A bracket that was put in has had its report.
        let made_up = self
            .work
            .get(at)
            .is_some_and(|token| Self::is_close(token.kind) && token.span.lo == token.span.hi);
        if !made_up {
            let found = self.describe(stuck);
            self.diagnostics.push(found);
        }
        let after_statement = matches!(
            at.checked_sub(1).and_then(|last| self.kind(last)),
            Some(Kind::LBrace | Kind::RBrace | Kind::Semi)
        );
        if after_statement && self.kind(at) == Some(Kind::Else) {
            self.work.remove(at);
            return true;
        }
        if stuck.takes("return") && matches!(self.kind(at), Some(Kind::Else | Kind::RBrace)) {
            self.put_error_item(at, at);
            return true;
        }
        match self.innermost_group(at) {
            Some((open, close)) if self.kind(open) != Some(Kind::LBrace) => {
                self.replace_contents(open, close);
                true
            }
            _ => self.replace_item(at),
        }
    }

    /// The place just after the token before `at`.
    fn before(&self, at: usize) -> Span {
        match at.checked_sub(1).and_then(|last| self.work.get(last)) {
            Some(last) => last.span.after(),
            None => self.end,
        }
    }

    /// True if a `;` is likely to be missing before token `at`: the rest of the line is empty, or
    /// what follows begins a statement or ends the block.
    fn belongs_before(&self, at: usize) -> bool {
        if at == 0 || self.kind(at - 1) == Some(Kind::Semi) {
            return false;
        }
        match self.work.get(at) {
            None => true,
            Some(token) => {
                token.line_start
                    || matches!(
                        token.kind,
                        Kind::RBrace
                            | Kind::Return
                            | Kind::If
                            | Kind::For
                            | Kind::While
                            | Kind::Do
                            | Kind::Break
                            | Kind::Continue
                            | Kind::Switch
                            | Kind::Case
                            | Kind::Else
                    )
            }
        }
    }

    fn report_semicolon(&mut self, at: usize) {
        let place = self.before(at);
        let message =
            format!("expected `;` after {}, found {}", self.what_ends(at), self.found(at));
        let mut found = Diagnostic::new(Code::E0203, place, message);
        if let Some(token) = self.work.get(at).filter(|token| token.line_start) {
            found = found.secondary(token.span, "unexpected here");
        }
        self.diagnostics.push(found.suggest("add", place, ";"));
    }

    /// What the tokens before `at` are, for "expected `;` after ...".
    fn what_ends(&self, at: usize) -> String {
        let start = self.item_start(at.saturating_sub(1));
        let mut first = start;
        while matches!(self.kind(first), Some(Kind::Colon | Kind::ErrorItem)) {
            first += 1;
        }
        match self.kind(first) {
            Some(Kind::Return) => "`return`".to_owned(),
            Some(Kind::Break | Kind::Continue) => format!("`{}`", self.text(first)),
            Some(Kind::Do) => "`do ... while (...)`".to_owned(),
            Some(Kind::Using | Kind::Namespace | Kind::StaticAssert | Kind::Asm) => {
                format!("this `{}`", self.text(first))
            }
            Some(
                Kind::Identifier
                | Kind::LParen
                | Kind::Functional
                | Kind::ScopeName
                | Kind::Number
                | Kind::String,
            ) => "this expression".to_owned(),
            Some(
                Kind::TypeName
                | Kind::TypeWord
                | Kind::Auto
                | Kind::Storage
                | Kind::Qualifier
                | Kind::Attribute
                | Kind::Record
                | Kind::Enum
                | Kind::ErrorType
                | Kind::AttributeCall
                | Kind::Typeof,
            ) => match self.declared_name(first, at) {
                Some(name) => format!("the declaration of `{name}`"),
                None => "this declaration".to_owned(),
            },
            _ => "this statement".to_owned(),
        }
    }

    /// The last name declared between two tokens: the name after the specifiers or after a comma.
    fn declared_name(&self, start: usize, end: usize) -> Option<&str> {
        let mut depth = 0;
        let mut wanted = true;
        let mut name = None;
        for at in start..end {
            match self.work[at].kind {
                Kind::LParen
                | Kind::LBracket
                | Kind::LBrace
                | Kind::LBraceInit
                | Kind::LParenInit => depth += 1,
                Kind::RParen | Kind::RBracket | Kind::RBrace => depth -= 1,
                Kind::Identifier if depth == 0 && wanted => {
                    name = Some(self.text(at));
                    wanted = false;
                }
                Kind::Comma if depth == 0 => wanted = true,
                Kind::Assign if depth == 0 => wanted = false,
                _ => {}
            }
        }
        name
    }

    /// A token as a message names it.
    fn found(&self, at: usize) -> String {
        let Some(token) = self.work.get(at) else { return "the end of the file".to_owned() };
        let text = self.session.names.resolve(token.symbol);
        let text: String = text.chars().take(60).collect();
        match token.kind {
            Kind::Functional => format!("`{}`", self.text(at + 1)),
            Kind::String => "a string literal".to_owned(),
            Kind::TypeWord | Kind::TypeName => format!("the type `{text}`"),
            Kind::Unroll | Kind::NoUnroll | Kind::PragmaCdp => "a `#pragma`".to_owned(),
            Kind::PragmaEnd => "the end of the line".to_owned(),
            _ => format!("`{text}`"),
        }
    }

    fn describe(&self, stuck: &Stuck) -> Diagnostic {
        let at = stuck.at;
        let found = self.found(at);
        let span = self.work.get(at).map_or(self.end, |token| token.span);
        let error = |code: Code, message: String| Diagnostic::new(code, span, message);
        match self.kind(at) {
            Some(Kind::Else)
                if !stuck.takes("return")
                    || matches!(
                        at.checked_sub(1).and_then(|last| self.kind(last)),
                        Some(Kind::LBrace | Kind::RBrace | Kind::Semi)
                    ) =>
            {
                return error(Code::E0201, "this `else` belongs to no `if`".to_owned())
                    .help("an `if` with several statements needs braces around them");
            }
            Some(Kind::LaunchClose) if !self.launch_is_open(at) => {
                return error(Code::E0201, "`>>>` without `<<<`".to_owned());
            }
            _ => {}
        }
        if at > 0 && self.kind(at - 1) == Some(Kind::LaunchClose) {
            let place = self.before(at);
            let message =
                format!("expected `(` and the kernel's arguments after `>>>`, found {found}");
            return Diagnostic::new(Code::E0201, place, message)
                .help("a kernel without parameters is launched with empty parentheses: `kernel<<<grid, block>>>()`");
        }
        let mut result = if stuck.takes("return") {
            error(Code::E0201, format!("expected a statement, found {found}"))
        } else if stuck.takes("number") {
            error(Code::E0207, format!("expected an expression, found {found}"))
        } else if stuck.takes("type word") && !stuck.takes(";") && !stuck.takes(",") {
            error(Code::E0201, format!("expected a type, found {found}"))
        } else {
            match self.expectation(stuck) {
                Some(wanted) => error(Code::E0201, format!("expected {wanted}, found {found}")),
                None => error(Code::E0201, format!("{found} is not expected here")),
            }
        };
        if self.launch_is_open(at) {
            result = result.note("`<<<` was opened before and has no `>>>` yet");
        }
        result
    }

    /// "`)` or `,`", naming punctuation only.
    fn expectation(&self, stuck: &Stuck) -> Option<String> {
        const NAMED: [&str; 12] =
            [";", ",", ")", "]", "}", "(", "{", ":", "=", ">>>", "<", "while"];
        let mut wanted: Vec<String> = NAMED
            .into_iter()
            .filter(|terminal| stuck.takes(terminal))
            .map(|terminal| format!("`{terminal}`"))
            .collect();
        // Where something may go on or end, its end is what is missing.
        if wanted.iter().any(|terminal| matches!(terminal.as_str(), "`;`" | "`)`" | "`]`" | "`}`"))
        {
            wanted.retain(|terminal| {
                !matches!(terminal.as_str(), "`(`" | "`=`" | "`<`" | "`:`" | "`{`")
            });
        }
        if wanted.is_empty() && stuck.takes("identifier") {
            wanted.push("a name".to_owned());
        }
        if wanted.is_empty() && stuck.takes("string") {
            wanted.push("a string".to_owned());
        }
        match wanted.as_slice() {
            [one] => Some(one.clone()),
            [many @ .., last] if !many.is_empty() && many.len() < 4 => {
                Some(format!("{} or {last}", many.join(", ")))
            }
            _ => None,
        }
    }

    /// A `<<<` of the same statement has no `>>>` before `at`.
    fn launch_is_open(&self, at: usize) -> bool {
        let start = self.item_start(at.saturating_sub(1)).min(at);
        let tokens = &self.work[start..at.min(self.work.len())];
        let count = |kind: Kind| tokens.iter().filter(|token| token.kind == kind).count();
        count(Kind::LaunchOpen) > count(Kind::LaunchClose)
    }

    // ---- Groups and items ------------------------------------------------------------------------

    fn is_open(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::LParen | Kind::LParenInit | Kind::LBracket | Kind::LBrace | Kind::LBraceInit
        )
    }

    fn is_close(kind: Kind) -> bool {
        matches!(kind, Kind::RParen | Kind::RBracket | Kind::RBrace)
    }

    /// The bracket pair that holds token `at`: the nearest opening bracket before it that is not
    /// closed before it.
    fn innermost_group(&self, at: usize) -> Option<(usize, usize)> {
        let mut depth = 0;
        for open in (0..at.min(self.work.len())).rev() {
            if Self::is_close(self.work[open].kind) {
                depth += 1;
            } else if Self::is_open(self.work[open].kind) {
                if depth == 0 {
                    return Some((open, self.close_of(open)));
                }
                depth -= 1;
            }
        }
        None
    }

    /// The partner of an opening bracket; the end of the list if it has none.
    fn close_of(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.work.len() {
            if Self::is_open(self.work[at].kind) {
                depth += 1;
            } else if Self::is_close(self.work[at].kind) {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
        }
        self.work.len()
    }

    /// Puts an error expression in place of what is between brackets.
    fn replace_contents(&mut self, open: usize, close: usize) {
        let span = self.span(open + 1, close.max(open + 1));
        let error =
            Tok { kind: Kind::ErrorExpr, line_start: false, symbol: Default::default(), span };
        let mut tokens = vec![error];
        if open > 0 && self.kind(open - 1) == Some(Kind::For) {
            let symbol = self.session.names.lookup(";").unwrap_or_default();
            let semi = Tok { kind: Kind::Semi, symbol, ..error };
            tokens.extend([semi, semi]);
        }
        let close = close.min(self.work.len());
        self.work.splice(open + 1..close, tokens);
    }

    /// Where the statement or member that holds token `at` begins.
    fn item_start(&self, at: usize) -> usize {
        let mut depth = 0;
        let mut place = at.min(self.work.len());
        while place > 0 {
            let before = self.work[place - 1].kind;
            if Self::is_close(before) {
                // A block before ends the statement before.
                if depth == 0 && before == Kind::RBrace && self.opens_block(place - 1) {
                    return place;
                }
                depth += 1;
            } else if Self::is_open(before) {
                if depth == 0 && before == Kind::LBrace {
                    return place;
                }
                depth -= i32::from(depth > 0);
            } else if before == Kind::Semi && depth == 0 && !self.in_for_head(place - 1) {
                return place;
            }
            place -= 1;
        }
        0
    }

    /// The `}` at `close` belongs to a `{` that is no initialiser.
    fn opens_block(&self, close: usize) -> bool {
        let mut depth = 0;
        for at in (0..=close).rev() {
            if Self::is_close(self.work[at].kind) {
                depth += 1;
            } else if Self::is_open(self.work[at].kind) {
                depth -= 1;
                if depth == 0 {
                    return self.work[at].kind == Kind::LBrace;
                }
            }
        }
        false
    }

    fn in_for_head(&self, at: usize) -> bool {
        self.innermost_group(at).is_some_and(|(open, _)| self.kind(open) == Some(Kind::LParen))
    }

    /// Where the statement or member that holds token `at` ends.
    fn item_end(&self, at: usize) -> usize {
        let mut place = at;
        while place < self.work.len() {
            let kind = self.work[place].kind;
            if kind == Kind::Semi {
                return place + 1;
            }
            if kind == Kind::RBrace {
                return place;
            }
            if Self::is_open(kind) {
                let close = self.close_of(place);
                place = (close + 1).min(self.work.len());
                if kind == Kind::LBrace {
                    return place;
                }
                continue;
            }
            place += 1;
        }
        place
    }

    /// Replaces the statement or member around `at`; at the top level, gives the declaration up.
    fn replace_item(&mut self, at: usize) -> bool {
        let mut around = at;
        // Inside parentheses of a statement, the statement is what is replaced.
        while let Some((open, _)) = self.innermost_group(around) {
            if self.kind(open) == Some(Kind::LBrace) {
                let start = self.item_start(at).max(open + 1);
                let end = self.item_end(at).max(start);
                self.put_error_item(start, end);
                return true;
            }
            around = open;
        }
        self.give_header_up()
    }

    fn put_error_item(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        let item =
            Tok { kind: Kind::ErrorItem, line_start: false, symbol: Default::default(), span };
        self.work.splice(start..end, [item]);
    }

    /// After a repair that did not help: takes in more around it.
    fn widen(&mut self, at: usize) -> bool {
        if self.kind(at) == Some(Kind::ErrorExpr) {
            return self.replace_item(at);
        }
        // An error item where none can stand: merge it with the item before, or with its block.
        let start = self.item_start(at);
        let before = match start.checked_sub(1).and_then(|before| self.kind(before)) {
            Some(Kind::Semi | Kind::RBrace) if start == at => {
                self.item_start(start - 1).min(start - 1)
            }
            _ if start < at => start,
            _ => {
                return match self.innermost_group(at) {
                    Some((open, _)) => {
                        self.silent = false;
                        self.replace_item(open)
                    }
                    None => self.give_header_up(),
                };
            }
        };
        match self.innermost_group(at) {
            Some((open, _)) => {
                self.put_error_item(before.max(open + 1), self.item_end(at).max(at + 1));
                true
            }
            None => self.give_header_up(),
        }
    }

    /// The declaration is lost. If it ends in a body, that is still parsed under a made-up header,
    /// for the errors in it.
    fn give_header_up(&mut self) -> bool {
        if self.body_only {
            return false;
        }
        self.body_only = true;
        let body = (0..self.work.len()).find(|&at| {
            self.work[at].kind == Kind::LBrace
                && self.innermost_group(at).is_none()
                && at > 0
                && !matches!(self.work[at - 1].kind, Kind::Record | Kind::TypeName | Kind::Enum)
        });
        let Some(body) = body else { return false };
        let names = &self.session.names;
        let (Some(void), Some(open), Some(close)) =
            (names.lookup("void"), names.lookup("("), names.lookup(")"))
        else {
            return false;
        };
        let span = self.work[body].span.before();
        let made = |kind, symbol| Tok { kind, line_start: false, symbol, span };
        let header = [
            made(Kind::TypeWord, void),
            made(Kind::Identifier, void),
            made(Kind::LParen, open),
            made(Kind::RParen, close),
        ];
        let end = self.close_of(body);
        self.work.truncate((end + 1).min(self.work.len()));
        self.work.splice(..body, header);
        true
    }
}
