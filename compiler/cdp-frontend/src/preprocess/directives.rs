//! Directives: `#define` to `#pragma`. Finding included files is in `include`, `#if` arithmetic in
//! `condition`.

use std::sync::Arc;

use super::Preprocessor;
use super::macros::parse_definition;
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind};
use crate::near::is_near;
use crate::source::Span;

/// An open `#if`.
pub struct Conditional {
    /// The directive's name.
    pub span: Span,
    /// A group was taken already.
    taken: bool,
    /// `#else` was seen.
    else_seen: Option<Span>,
}

/// What a pragma does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pragma {
    Once,
    Unroll,
    NoUnroll,
    Cdp,
    Pack,
    /// `push_macro`, `pop_macro`
    SavedMacro,
}

/// The first word of each pragma that does something, what it does, and one sentence for the documentation.
pub const PRAGMAS: &[(&str, Pragma, &str)] = &[
    ("once", Pragma::Once, "The file is included once."),
    ("unroll", Pragma::Unroll, "Unrolls the next loop: in full, or this many times."),
    ("nounroll", Pragma::NoUnroll, "Keeps the next loop from being unrolled."),
    ("push_macro", Pragma::SavedMacro, "Saves a macro's meaning: `push_macro(\"NAME\")`."),
    ("pop_macro", Pragma::SavedMacro, "Restores a macro's saved meaning."),
    (
        "pack",
        Pragma::Pack,
        "Limits the alignment of members: `pack(1)`, `pack(push, 2)`, `pack(pop)`.",
    ),
    (
        "cdp",
        Pragma::Cdp,
        "Of the launches of the next statement: `independent`, `keep`, `threshold(N)`, `aggregate(warp|block|grid)`, `coarsen(N)` (see launch-optimiser.md). Of lints from here on: `allow(name)`, `warn(name)`, `deny(name)`.",
    ),
];

/// Other compilers' pragmas, which change nothing here and are no reason to warn, by their first words.
pub const IGNORED_PRAGMAS: &str = "\
    message STDC GCC clang nv_diag_suppress nv_diag_default nv_diag_error \
    nv_diag_warning nv_diag_remark nv_diag_once nv_diagnostic diag_suppress diag_default \
    diag_error diag_warning nv_exec_check_disable hd_warning_disable omp warning region \
    endregion mark ivdep nv_abi";

impl Preprocessor<'_> {
    /// Carries out the directive at the current place of the innermost file.
    pub(super) fn directive(&mut self) {
        let Some(file) = self.files.last_mut() else { return };
        let tokens = Arc::clone(&file.tokens);
        let hash = tokens[file.at];
        let start = file.at + 1;
        let end = line_end(&tokens, start);
        file.at = end;
        let line = &tokens[start..end];
        let Some(&name) = line.first() else { return };
        let rest = &line[1..];
        let word = self.session.names[name.symbol].to_owned();
        match word.as_str() {
            "define" => self.define(name, rest),
            "undef" => self.undef(name, rest),
            "include" | "include_next" | "import" if self.collecting => {
                self.error(
                    Code::E0108,
                    name.span,
                    "a file cannot be included among the arguments of a macro",
                );
            }
            "include" | "import" => self.include(name, rest, false),
            "include_next" => self.include(name, rest, true),
            "if" => {
                let value = self.evaluate(rest, name.span);
                self.open_conditional(name.span, value);
            }
            "ifdef" | "ifndef" => {
                let defined = self.defined_operand(rest, name);
                self.open_conditional(name.span, defined == (word == "ifdef"));
            }
            "elif" | "elifdef" | "elifndef" | "else" => self.later_group(name, &word, rest),
            "endif" => self.endif(name, rest),
            "line" => self.line_directive(name.span, rest),
            "error" => {
                let message = format!("#error {}", self.line_text(rest));
                let span = self.span_of(line);
                self.error(Code::E0114, span, message.trim_end().to_owned());
            }
            "warning" => {
                let message = format!("#warning {}", self.line_text(rest));
                let span = self.span_of(line);
                self.error(Code::W0150, span, message.trim_end().to_owned());
            }
            "pragma" => {
                let span = self.session.sources.join(hash.span, self.span_of(line));
                self.pragma(rest, span);
            }
            "ident" | "sccs" => {}
            _ if name.kind == TokenKind::Number => self.line_directive(name.span, line),
            _ => {
                let message = format!("`#{word}` is not a preprocessor directive");
                const NAMES: [&str; 12] = [
                    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif",
                    "error", "warning", "pragma",
                ];
                let found = self.error(Code::E0108, name.span, message);
                if let Some(close) = NAMES.iter().find(|known| is_near(known, &word)) {
                    found.suggest("a directive with a similar name exists", name.span, *close);
                }
            }
        }
    }

    /// The source text of a directive's tokens.
    fn line_text(&self, tokens: &[Token]) -> String {
        let span = self.span_of(tokens);
        self.session.sources.text(span).replace("\\\n", "").trim().to_owned()
    }

    /// From the first to the last token.
    pub(super) fn span_of(&self, tokens: &[Token]) -> Span {
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => self.session.sources.join(first.span, last.span),
            _ => Span::NONE,
        }
    }

    fn define(&mut self, directive: Token, line: &[Token]) {
        let Some(&name) = line.first().filter(|name| name.kind == TokenKind::Ident) else {
            let span = line.first().map_or(directive.span.after(), |token| token.span);
            self.error(Code::E0111, span, "expected the name of a macro after `#define`");
            return;
        };
        if self.refuse_reserved(name, "defined") {
            return;
        }
        let rest = &line[1..];
        if let Some(bad) = rest.iter().find(|token| {
            matches!(
                token.kind,
                TokenKind::BadString | TokenKind::BadRawString | TokenKind::BadComment
            )
        }) {
            self.malformed(*bad);
        }
        let (va_args, va_opt) = (self.words.va_args, self.words.va_opt);
        let macro_ = match parse_definition(name, rest, &self.session.names, va_args, va_opt) {
            Ok(macro_) => macro_,
            Err(error) => {
                self.error(Code::E0111, error.span, error.message);
                return;
            }
        };
        if let Some(index) = self.macros.get(name.symbol) {
            let old = self.macros.macro_at(index);
            if old.builtin.is_none() && !old.same_as(&macro_) {
                let message =
                    format!("`{}` is defined again with another meaning", self.text(&name));
                let cure = format!("write `#undef {}` before the new definition", self.text(&name));
                let first = old.name_span;
                self.error(Code::W0151, name.span, message)
                    .secondary(first, "first defined here")
                    .help(cure);
            }
        }
        self.macros.define(macro_);
    }

    fn undef(&mut self, directive: Token, line: &[Token]) {
        let Some(&name) = line.first().filter(|name| name.kind == TokenKind::Ident) else {
            let span = line.first().map_or(directive.span.after(), |token| token.span);
            self.error(Code::E0111, span, "expected the name of a macro after `#undef`");
            return;
        };
        if !self.refuse_reserved(name, "undefined") {
            self.macros.undefine(name.symbol);
            self.no_tail("undef", &line[1..]);
        }
    }

    fn refuse_reserved(&mut self, name: Token, verb: &str) -> bool {
        let words = &self.words;
        let reserved =
            [words.defined, words.va_args, words.va_opt, words.has_include].contains(&name.symbol);
        if reserved {
            let message = format!("`{}` cannot be {verb}", self.text(&name));
            self.error(Code::E0111, name.span, message);
        }
        reserved
    }

    fn no_tail(&mut self, directive: &str, tail: &[Token]) {
        if !tail.is_empty() {
            let span = self.span_of(tail);
            self.error(Code::W0152, span, format!("extra text after `#{directive}` is ignored"));
        }
    }

    /// The name after `#ifdef`; false after a report.
    fn defined_operand(&mut self, line: &[Token], directive: Token) -> bool {
        let Some(name) = line.first().filter(|name| name.kind == TokenKind::Ident) else {
            let span = line.first().map_or(directive.span.after(), |token| token.span);
            let message =
                format!("expected the name of a macro after `#{}`", self.text(&directive));
            self.error(Code::E0110, span, message);
            return false;
        };
        let directive = self.text(&directive).to_owned();
        self.no_tail(&directive, &line[1..]);
        self.is_defined(*name)
    }

    pub(super) fn is_defined(&self, name: Token) -> bool {
        let words = &self.words;
        self.macros.get(name.symbol).is_some()
            || name.symbol == words.has_include
            || name.symbol == words.has_include_next
    }

    fn open_conditional(&mut self, span: Span, value: bool) {
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(Conditional { span, taken: value, else_seen: None });
        }
        if !value {
            self.skip_groups();
        }
    }

    /// `#elif...` or `#else` after a group that was taken.
    fn later_group(&mut self, name: Token, word: &str, rest: &[Token]) {
        if self.check_later_group(name, word, rest) {
            self.skip_groups();
        }
    }

    /// False, after a report, if no `#if` is open.
    fn check_later_group(&mut self, name: Token, word: &str, rest: &[Token]) -> bool {
        let open = self.files.last_mut().and_then(|file| file.conditionals.last_mut());
        let Some(open) = open else {
            self.error(Code::E0109, name.span, format!("`#{word}` without an `#if` before it"));
            return false;
        };
        if let Some(earlier) = open.else_seen {
            self.error(Code::E0109, name.span, format!("`#{word}` after `#else`"))
                .secondary(earlier, "the `#else`");
        } else if word == "else" {
            open.else_seen = Some(name.span);
            self.no_tail("else", rest);
        }
        true
    }

    fn endif(&mut self, name: Token, rest: &[Token]) {
        let closed = self.files.last_mut().and_then(|file| file.conditionals.pop());
        if closed.is_none() {
            self.error(Code::E0109, name.span, "`#endif` without an `#if` before it");
        }
        self.no_tail("endif", rest);
    }

    /// Skips to the group to take, or past the `#endif`.
    fn skip_groups(&mut self) {
        let Some(file) = self.files.last() else { return };
        let tokens = Arc::clone(&file.tokens);
        let mut at = file.at;
        let mut depth = 0u32;
        while at < tokens.len() {
            let token = tokens[at];
            if token.kind != TokenKind::Hash || !token.flags.has(Flags::LINE_START) {
                if token.kind == TokenKind::BadComment {
                    self.malformed(token);
                }
                at += 1;
                continue;
            }
            let end = line_end(&tokens, at + 1);
            let line = &tokens[at + 1..end];
            at = end;
            let Some(&name) = line.first() else { continue };
            let word = self.session.names[name.symbol].to_owned();
            match word.as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" => {
                    self.set_position(at);
                    self.endif(name, &line[1..]);
                    return;
                }
                "else" | "elif" | "elifdef" | "elifndef" if depth == 0 => {
                    self.set_position(at);
                    self.check_later_group(name, &word, &line[1..]);
                    if self.take_group(&word, name, &line[1..]) {
                        return;
                    }
                }
                _ => {}
            }
        }
        self.set_position(at);
    }

    fn take_group(&mut self, word: &str, name: Token, rest: &[Token]) -> bool {
        let taken = self
            .files
            .last()
            .and_then(|file| file.conditionals.last())
            .is_none_or(|open| open.taken);
        if taken {
            return false;
        }
        let value = match word {
            "elif" => self.evaluate(rest, name.span),
            "elifdef" => self.defined_operand(rest, name),
            "elifndef" => !self.defined_operand(rest, name),
            _ => true,
        };
        if let Some(open) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) {
            open.taken = value;
        }
        value
    }

    fn set_position(&mut self, at: usize) {
        if let Some(file) = self.files.last_mut() {
            file.at = at;
        }
    }

    /// `#line 12 "name"`, and GNU `# 12 "name" flags`. `line` begins with the number.
    fn line_directive(&mut self, directive: Span, line: &[Token]) {
        let line = self.expand_list(line.to_vec());
        let number = line.first().and_then(|token| self.text(token).parse::<u32>().ok());
        let Some(number) = number.filter(|number| *number <= 2_147_483_647) else {
            let span = line.first().map_or(directive, |token| token.span);
            self.error(Code::E0108, span, "expected a line number up to 2147483647");
            return;
        };
        let name = match line.get(1) {
            Some(token) if token.kind == TokenKind::String => {
                let text = self.text(token);
                Some(text[1..text.len() - 1].replace("\\\\", "\\").replace("\\\"", "\""))
            }
            Some(token) => {
                let span = token.span;
                self.error(Code::E0108, span, "expected a file name in quotation marks");
                return;
            }
            None => None,
        };
        let Some(file) = self.files.last() else { return };
        let id = file.id;
        let sources = &mut self.session.sources;
        let base = sources.file(id).base;
        let next = sources.file(id).line_index(directive.lo.saturating_sub(base)) + 1;
        sources.file_mut(id).add_line_mark(next, number, name);
    }

    /// A pragma; `line` is what follows the word.
    pub(super) fn pragma(&mut self, line: &[Token], span: Span) {
        let Some(&first) = line.first() else { return };
        let word = self.text(&first).to_owned();
        let rest = &line[1..];
        let marker = |kind, symbol| Token { kind, flags: Flags::LINE_START, symbol, span };
        let known = PRAGMAS.iter().find(|(name, ..)| *name == word);
        let Some((_, pragma, _)) = known else {
            if !IGNORED_PRAGMAS.split(' ').any(|name| name == word) {
                let message =
                    format!("`#pragma {word}` is not known to this compiler and has no effect");
                self.error(Code::W0154, first.span, message);
            }
            return;
        };
        match pragma {
            Pragma::Once => self.pragma_once(),
            Pragma::Unroll => {
                self.out.push(marker(TokenKind::PragmaUnroll, first.symbol));
                let expression = self.expand_list(rest.to_vec());
                self.out.extend(expression);
                self.out.push(marker(TokenKind::PragmaEnd, crate::intern::Symbol::EMPTY));
            }
            Pragma::NoUnroll => self.out.push(marker(TokenKind::PragmaNoUnroll, first.symbol)),
            Pragma::Cdp | Pragma::Pack => {
                // The checker tells `pack` from this compiler's own words.
                let rest = if word == "pack" { line } else { rest };
                let words: Vec<&str> = rest.iter().map(|token| self.text(token)).collect();
                let text = words.join(" ");
                let symbol = self.session.names.intern(&text);
                self.out.push(marker(TokenKind::PragmaCdp, symbol));
            }
            Pragma::SavedMacro => self.saved_macro(&word, rest, span),
        }
    }

    /// `#pragma push_macro("NAME")` and `pop_macro`.
    fn saved_macro(&mut self, word: &str, rest: &[Token], span: Span) {
        let name = match rest {
            [open, string, close]
                if open.kind == TokenKind::LParen
                    && string.kind == TokenKind::String
                    && close.kind == TokenKind::RParen =>
            {
                self.text(string).trim_matches('"').to_owned()
            }
            _ => {
                let message = format!("`{word}` takes a macro's name as a string: (\"NAME\")");
                self.error(Code::E0108, span, message);
                return;
            }
        };
        let name = self.session.names.intern(&name);
        if word == "push_macro" {
            let meaning = self.macros.get(name);
            self.cache.pushed_macros.push((name, meaning));
        } else if let Some(place) =
            self.cache.pushed_macros.iter().rposition(|(pushed, _)| *pushed == name)
        {
            let (_, meaning) = self.cache.pushed_macros.remove(place);
            self.macros.restore(name, meaning);
        }
    }
}

/// Index of the first token of the next line.
fn line_end(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while at < tokens.len() && !tokens[at].flags.has(Flags::LINE_START) {
        at += 1;
    }
    at
}
