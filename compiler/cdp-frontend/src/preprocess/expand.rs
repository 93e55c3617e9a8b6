//! A use of a macro: collecting its arguments, computed macros, `_Pragma`. Building the
//! replacement is in `substitute`.

use super::macros::Builtin;
use super::{Frame, MAX_ARGUMENT_DEPTH, Preprocessor};
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind};
use crate::source::Span;

/// One argument of a macro use.
pub struct Argument {
    /// As written.
    pub raw: Vec<Token>,
    /// With its own macros expanded; made when first needed.
    pub expanded: Option<Vec<Token>>,
}

/// What stands between the parentheses of a macro use.
struct Collected {
    /// At least one, possibly empty.
    arguments: Vec<Vec<Token>>,
    /// Between the arguments.
    commas: Vec<Token>,
    /// The closing parenthesis.
    close: Span,
}

impl Preprocessor<'_> {
    /// Expands the use of macro `index` that `name` begins; false if it is no use after all (a
    /// function-like macro without parentheses).
    pub(super) fn expand(&mut self, name: Token, index: u32) -> bool {
        if let Some(builtin) = self.macros.macro_at(index).builtin {
            return self.expand_builtin(name, builtin);
        }
        let mut call = name.span;
        let mut arguments = Vec::new();
        if self.macros.macro_at(index).params.is_some() {
            if !self.next_is_open_paren() {
                return false;
            }
            if self.argument_depth >= MAX_ARGUMENT_DEPTH {
                self.stopped = true;
                let message = "macro uses are nested too deeply in macro arguments";
                self.error(Code::E0115, name.span, message);
                return true;
            }
            let Some(Collected { arguments: found, commas, close }) = self.collect_arguments(name)
            else {
                return true;
            };
            call = self.session.sources.join(name.span, close);
            match self.fit_arguments(index, found, &commas, name, call) {
                Some(fitting) => arguments = fitting,
                None => {
                    // A number stands for the use: it is valid wherever an expression is.
                    let (kind, symbol) = (TokenKind::Number, self.words.zero);
                    self.out.push(Token { kind, symbol, span: call, ..name });
                    return true;
                }
            }
        }
        let definition = self.macros.macro_at(index).name_span;
        let expansion = self.session.sources.add_expansion(name.symbol, call, definition);
        self.argument_depth += 1;
        let mut tokens = self.substitute(index, &mut arguments, expansion);
        self.argument_depth -= 1;
        if !self.spend(tokens.len(), call) {
            return true;
        }
        match tokens.first_mut() {
            Some(first) => {
                first.flags = first
                    .flags
                    .set(Flags::SPACE, name.flags.has(Flags::SPACE))
                    .set(Flags::LINE_START, name.flags.has(Flags::LINE_START));
            }
            None if name.spaced() => self.space_next(),
            None => {}
        }
        self.macros.set_active(index, true);
        self.frames.push(Frame { tokens, at: 0, owner: Some(index) });
        true
    }

    /// The space before a use that leaves nothing stands before what follows in the replacements at hand.
    fn space_next(&mut self) {
        for frame in self.frames[self.floor..].iter_mut().rev() {
            if let Some(token) = frame.tokens.get_mut(frame.at) {
                token.flags = token.flags.set(Flags::SPACE, true);
                return;
            }
        }
    }

    /// Looks past the ends of finished replacements, without leaving them.
    fn next_is_open_paren(&self) -> bool {
        for frame in self.frames[self.floor..].iter().rev() {
            if let Some(token) = frame.tokens.get(frame.at) {
                return token.kind == TokenKind::LParen;
            }
        }
        let file = self.files.last().filter(|_| self.from_file);
        file.and_then(|file| file.tokens.get(file.at))
            .is_some_and(|token| token.kind == TokenKind::LParen)
    }

    /// Reads `( ... )`; the arguments and the closing parenthesis. `None` after a report.
    fn collect_arguments(&mut self, name: Token) -> Option<Collected> {
        let open = self.next_raw()?;
        let was_collecting = std::mem::replace(&mut self.collecting, true);
        let mut arguments = vec![Vec::new()];
        let mut commas = Vec::new();
        let mut depth = 0u32;
        let close = loop {
            let Some(token) = self.next_raw() else {
                if self.from_file && self.at_directive() && !self.stopped {
                    self.directive();
                    continue;
                }
                break None;
            };
            match token.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => break Some(token.span),
                TokenKind::RParen => depth -= 1,
                TokenKind::Comma if depth == 0 => {
                    arguments.push(Vec::new());
                    commas.push(token);
                    continue;
                }
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        };
        self.collecting = was_collecting;
        if close.is_none() && !self.stopped {
            let message = format!("the arguments of macro `{}` have no `)`", self.text(&name));
            self.error(Code::E0112, name.span, message).secondary(open.span, "opened here");
        }
        close.map(|close| Collected { arguments, commas, close })
    }

    /// Matches arguments to parameters; `None` after a report.
    fn fit_arguments(
        &mut self,
        index: u32,
        mut found: Vec<Vec<Token>>,
        commas: &[Token],
        name: Token,
        call: Span,
    ) -> Option<Vec<Argument>> {
        let macro_ = self.macros.macro_at(index);
        let wanted = macro_.params.as_ref().map_or(0, Vec::len);
        if wanted == 0 && found.len() == 1 && found[0].is_empty() {
            found.clear();
        }
        if macro_.variadic {
            if found.len() > wanted {
                let rest = found.split_off(wanted);
                if let Some(last) = found.last_mut() {
                    for (comma, more) in commas[wanted - 1..].iter().zip(rest) {
                        last.push(*comma);
                        last.extend(more);
                    }
                }
            } else if found.len() + 1 == wanted {
                found.push(Vec::new());
            }
        }
        if found.len() != wanted {
            let definition = macro_.name_span;
            let plural = if wanted == 1 { "" } else { "s" };
            let least = if macro_.variadic { "at least " } else { "" };
            let needed = if macro_.variadic { wanted.saturating_sub(1) } else { wanted };
            let message = format!(
                "macro `{}` takes {least}{needed} argument{plural}, but {} {} given",
                self.text(&name),
                found.len(),
                if found.len() == 1 { "is" } else { "are" }
            );
            self.error(Code::E0112, call, message).secondary(definition, "defined here");
            return None;
        }
        Some(found.into_iter().map(|raw| Argument { raw, expanded: None }).collect())
    }

    fn expand_builtin(&mut self, name: Token, builtin: Builtin) -> bool {
        let site = self.session.sources.call_site(name.span);
        let sources = &self.session.sources;
        let file = sources.file_of(site.lo);
        let presumed = file.map(|id| {
            let file = sources.file(id);
            let (line, name) = file.presumed(file.line_index(site.lo - file.base));
            (line, name.to_owned())
        });
        let (line, file_name) = presumed.unwrap_or((1, String::new()));
        let (kind, text) = match builtin {
            Builtin::Line => (TokenKind::Number, line.to_string()),
            Builtin::File => (TokenKind::String, quote(&file_name)),
            Builtin::BaseFile => {
                let main =
                    self.files.first().map(|file| self.session.sources.file(file.id).name.clone());
                (TokenKind::String, quote(&main.unwrap_or_default()))
            }
            Builtin::Counter => {
                self.counter += 1;
                (TokenKind::Number, (self.counter - 1).to_string())
            }
            Builtin::Date => (TokenKind::String, quote(&self.date().0)),
            Builtin::Time => (TokenKind::String, quote(&self.date().1)),
            Builtin::Timestamp => {
                let (date, time) = self.date();
                let (month, rest) = date.split_at(3);
                let year = &rest[rest.len() - 4..];
                let day = &rest[..rest.len() - 5];
                (
                    TokenKind::String,
                    quote(&format!("{} {month}{day} {time} {year}", self.weekday())),
                )
            }
            Builtin::IncludeLevel => {
                (TokenKind::Number, (self.files.len().saturating_sub(1)).to_string())
            }
            Builtin::Pragma => return self.pragma_operator(name),
        };
        let symbol = self.session.names.intern(&text);
        let expansion = self.session.sources.add_expansion(name.symbol, name.span, Span::NONE);
        let span = Span { expansion, ..name.span };
        self.out.push(Token { kind, flags: name.flags, symbol, span });
        true
    }

    fn epoch_days(&self) -> u64 {
        self.options.source_date_epoch.unwrap_or(0) / 86_400
    }

    fn weekday(&self) -> &'static str {
        ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(self.epoch_days() % 7) as usize]
    }

    /// `__DATE__` and `__TIME__` in UTC.
    fn date(&self) -> (String, String) {
        let seconds = self.options.source_date_epoch.unwrap_or(0) % 86_400;
        // Days to a calendar date, by counting eras of 400 years that begin on 1 March.
        let days = self.epoch_days().min(100_000_000) + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 2 } else { shifted_month - 10 };
        let year = year_of_era + era * 400 + u64::from(month < 2);
        let names =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        (format!("{} {day:2} {year}", names[month as usize]), time)
    }

    /// `_Pragma("text")`
    fn pragma_operator(&mut self, name: Token) -> bool {
        if !self.next_is_open_paren() {
            self.error(Code::E0108, name.span, "expected `(` after `_Pragma`");
            return true;
        }
        let Some(Collected { arguments, close, .. }) = self.collect_arguments(name) else {
            return true;
        };
        let call = self.session.sources.join(name.span, close);
        let text = match arguments.as_slice() {
            [argument] => match argument.as_slice() {
                [string] if string.kind == TokenKind::String => Some(self.text(string).to_owned()),
                _ => None,
            },
            _ => None,
        };
        let Some(text) = text else {
            self.error(Code::E0108, call, "`_Pragma` takes one string literal");
            return true;
        };
        let text = text.trim_start_matches(['L', 'u', 'U', '8']);
        let text = text[1..text.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\");
        let mut tokens = crate::lex::lex(&text, 0, &mut self.session.names, &self.spellings);
        for token in &mut tokens {
            token.span = call;
        }
        // Inside an argument list the pragma waits until the list is put back into the text.
        if self.from_file {
            self.pragma(&tokens, call);
        } else {
            let string = self.session.names.intern(&quote(&text));
            let again = [
                (TokenKind::LParen, self.spellings.of(TokenKind::LParen)),
                (TokenKind::String, string),
                (TokenKind::RParen, self.spellings.of(TokenKind::RParen)),
            ];
            let flags = Flags::default();
            self.out.push(Token { flags, ..name });
            self.out.extend(again.map(|(kind, symbol)| Token { kind, flags, symbol, span: call }));
        }
        true
    }
}

/// A string literal with this text.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
