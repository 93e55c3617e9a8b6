//! The replacement of one macro use: parameters, `#`, `##`, `__VA_OPT__`.

use super::Preprocessor;
use super::expand::Argument;
use super::macros::{BodyToken, NO_PARAM, va_opt_end};
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind};
use crate::source::{ExpansionId, Span};

impl Preprocessor<'_> {
    /// The replacement list of macro `index` with its arguments put in.
    pub(super) fn substitute(
        &mut self,
        index: u32,
        arguments: &mut [Argument],
        expansion: ExpansionId,
    ) -> Vec<Token> {
        let macro_ = self.macros.macro_at(index);
        if macro_.params.is_none()
            && !macro_.body.iter().any(|entry| entry.token.kind == TokenKind::HashHash)
        {
            return macro_.body.iter().map(|entry| placed(entry.token, expansion)).collect();
        }
        let body = macro_.body.clone();
        let function_like = macro_.params.is_some();
        let variadic = macro_.variadic.then(|| arguments.len() - 1);
        let mut replacement =
            Replacement { expansion, function_like, variadic, marked: false, out: Vec::new() };
        self.substitute_body(&body, arguments, &mut replacement);
        replacement.out
    }

    fn substitute_body(
        &mut self,
        body: &[BodyToken],
        arguments: &mut [Argument],
        to: &mut Replacement,
    ) {
        let mut at = 0;
        // Space before operands that are nothing, which stands before the next.
        let mut spaced = false;
        while at < body.len() && !self.stopped {
            let pasted = body.get(at + self.operand_length(body, at, to)).is_some_and(is_paste);
            if pasted {
                at = self.paste_chain(body, at, arguments, to);
                continue;
            }
            let entry = body[at];
            let length = self.operand_length(body, at, to);
            let mut tokens = self.operand(body, at, arguments, to, true);
            spaced |= entry.token.spaced();
            if let Some(first) = tokens.first_mut() {
                first.flags = first.flags.set(Flags::SPACE, spaced).set(Flags::LINE_START, false);
                spaced = false;
            } else if to.marked {
                tokens.push(self.placemarker(entry.token));
            }
            self.spend(tokens.len(), entry.token.span);
            to.out.extend(tokens);
            at += length;
        }
    }

    /// How many body tokens the operand at `at` takes: two for `# param`, more for `__VA_OPT__(...)`.
    fn operand_length(&self, body: &[BodyToken], at: usize, to: &Replacement) -> usize {
        let entry = &body[at];
        if entry.token.symbol == self.words.va_opt && to.variadic.is_some() {
            return va_opt_end(body, at).map_or(1, |end| end + 1 - at);
        }
        if entry.token.kind == TokenKind::Hash && to.function_like && at + 1 < body.len() {
            return 1 + self.operand_length(body, at + 1, to);
        }
        1
    }

    /// The tokens an operand stands for; parameters expanded or, beside `##`, as written.
    fn operand(
        &mut self,
        body: &[BodyToken],
        at: usize,
        arguments: &mut [Argument],
        to: &Replacement,
        expanded: bool,
    ) -> Vec<Token> {
        let entry = body[at];
        if entry.token.kind == TokenKind::Hash && to.function_like {
            let next = &body[at + 1];
            let tokens = match next.param {
                NO_PARAM => self.operand(body, at + 1, arguments, to, true),
                param => arguments[param as usize].raw.clone(),
            };
            return vec![self.stringize(&tokens, placed(entry.token, to.expansion))];
        }
        if entry.token.symbol == self.words.va_opt && to.variadic.is_some() {
            return self.va_opt(body, at, arguments, to, !expanded);
        }
        match entry.param {
            NO_PARAM => vec![placed(entry.token, to.expansion)],
            param if expanded => self.expanded_argument(&mut arguments[param as usize]),
            param => arguments[param as usize].raw.clone(),
        }
    }

    /// `__VA_OPT__(tokens)`: the tokens if the variable arguments are not empty. Beside `##` placemarkers stand for what is
    /// nothing in it.
    fn va_opt(
        &mut self,
        body: &[BodyToken],
        at: usize,
        arguments: &mut [Argument],
        to: &Replacement,
        marked: bool,
    ) -> Vec<Token> {
        let Some(variadic) = to.variadic else { return Vec::new() };
        if self.expanded_argument(&mut arguments[variadic]).is_empty() {
            return Vec::new();
        }
        let end = va_opt_end(body, at).unwrap_or(at + 1);
        let mut inner = Replacement { out: Vec::new(), marked: marked || to.marked, ..*to };
        self.substitute_body(&body[at + 2..end], arguments, &mut inner);
        inner.out
    }

    /// A token without text in the place of `entry`, as [cpp.concat] has it; pasting it changes nothing.
    fn placemarker(&mut self, entry: Token) -> Token {
        Token { kind: TokenKind::Ident, symbol: self.session.names.intern(""), ..entry }
    }

    fn expanded_argument(&mut self, argument: &mut Argument) -> Vec<Token> {
        if argument.expanded.is_none() {
            argument.expanded = Some(self.expand_list(argument.raw.clone()));
        }
        argument.expanded.clone().unwrap_or_default()
    }

    /// `a ## b ## c` from `at` on; gives the index after it.
    fn paste_chain(
        &mut self,
        body: &[BodyToken],
        mut at: usize,
        arguments: &mut [Argument],
        to: &mut Replacement,
    ) -> usize {
        let mut joined = self.operand(body, at, arguments, to, false);
        if let Some(first) = joined.first_mut() {
            first.flags = first
                .flags
                .set(Flags::SPACE, body[at].token.spaced())
                .set(Flags::LINE_START, false);
        }
        let first_entry = body[at];
        let mut left_entry = first_entry;
        at += self.operand_length(body, at, to);
        while body.get(at).is_some_and(is_paste) && at + 1 < body.len() {
            let operator = body[at].token;
            let right_entry = body[at + 1];
            // GNU: `, ## __VA_ARGS__` drops the comma when there are no variable arguments.
            let comma = left_entry.token.kind == TokenKind::Comma && left_entry.param == NO_PARAM;
            let variadic = to.variadic.is_some_and(|last| right_entry.param as usize == last);
            if comma && variadic {
                let tokens = self.expanded_argument(&mut arguments[right_entry.param as usize]);
                if tokens.is_empty() {
                    joined.pop();
                }
                joined.extend(tokens);
            } else {
                let right = self.operand(body, at + 1, arguments, to, false);
                self.paste(&mut joined, right, placed(operator, to.expansion));
            }
            at += 1;
            at += self.operand_length(body, at, to);
            left_entry = right_entry;
        }
        if to.marked && joined.is_empty() {
            joined.push(self.placemarker(first_entry.token));
        } else if !to.marked {
            joined.retain(|token| !self.text(token).is_empty());
        }
        self.spend(joined.len(), left_entry.token.span);
        to.out.extend(joined);
        at
    }

    /// Joins the last token of `left` and the first of `right`.
    fn paste(&mut self, left: &mut Vec<Token>, right: Vec<Token>, operator: Token) {
        let Some(&last) = left.last() else {
            left.extend(right);
            return;
        };
        let Some(&first) = right.first() else { return };
        let text = format!("{}{}", self.text(&last), self.text(&first));
        if text.is_empty() {
            left.extend(&right[1..]);
            return;
        }
        let made = crate::lex::lex(&text, 0, &mut self.session.names, &self.spellings);
        left.pop();
        match made.as_slice() {
            [token] if !text.starts_with("//") && token.kind != TokenKind::BadComment => {
                let flags = last.flags.set(Flags::NO_EXPAND, false);
                left.push(Token { flags, span: Span { ..operator.span }, ..*token });
            }
            _ => {
                let message = format!(
                    "pasting `{}` and `{}` does not give a token",
                    self.text(&last),
                    self.text(&first)
                );
                self.error(Code::E0113, operator.span, message)
                    .label(format!("`{text}` is not one token"))
                    .help("remove the `##`, and write the two side by side");
                left.push(last);
                left.push(first);
            }
        }
        left.extend(&right[1..]);
    }

    /// `#`: the spelling of tokens as a string literal.
    fn stringize(&mut self, tokens: &[Token], hash: Token) -> Token {
        let mut text = String::from("\"");
        for (index, token) in tokens.iter().enumerate() {
            if index > 0 && token.spaced() {
                text.push(' ');
            }
            let spelling = &self.session.names[token.symbol];
            match token.kind {
                TokenKind::String
                | TokenKind::Char
                | TokenKind::RawString
                | TokenKind::BadRawString
                | TokenKind::BadString => {
                    for character in spelling.chars() {
                        if matches!(character, '"' | '\\') {
                            text.push('\\');
                        }
                        match character {
                            '\n' => text.push_str("\\n"),
                            other => text.push(other),
                        }
                    }
                }
                _ => text.push_str(spelling),
            }
        }
        self.spend(text.len() / 16, hash.span);
        text.push('"');
        let symbol = self.session.names.intern(&text);
        Token { kind: TokenKind::String, symbol, ..hash }
    }
}

/// A replacement being built.
struct Replacement {
    expansion: ExpansionId,
    function_like: bool,
    /// Index of the parameter that takes the rest.
    variadic: Option<usize>,
    /// What is nothing leaves a placemarker: an operand of `##` is being made.
    marked: bool,
    out: Vec<Token>,
}

/// A body token as part of one expansion.
fn placed(token: Token, expansion: ExpansionId) -> Token {
    Token {
        flags: token.flags.set(Flags::LINE_START, false),
        span: Span { expansion, ..token.span },
        ..token
    }
}

fn is_paste(entry: &BodyToken) -> bool {
    entry.token.kind == TokenKind::HashHash
}
