//! `#if` expressions: integer arithmetic in 64 bits, signed unless an operand is unsigned. The grammar,
//! which is context-free, is `condition.lalrpop`, and computes as it reads; here are the words of its errors
//! and the arithmetic.

use super::Preprocessor;
use crate::diagnostics::Code;
use crate::lex::{Flags, OPERATORS, Token, TokenKind};
use crate::literal;
use crate::source::Span;

#[allow(clippy::all, unused, missing_docs)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/preprocess/condition.rs"));
}

use grammar::ConditionParser;
use lalrpop_util::ParseError;

/// A terminal of the grammar.
#[derive(Clone, Copy, Debug)]
enum Terminal {
    /// A number or character.
    Value(Value),
    /// What a name is, and what it is after `defined`.
    Name(Value, Value),
    /// The word `defined`, out of a macro.
    Defined,
    /// A punctuator, or what fits nowhere.
    Sign(TokenKind),
}

/// A value; `unsigned` as in `uintmax_t`.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: u64,
    unsigned: bool,
    /// A division by zero that it is made of: an error where the value counts.
    failed: Option<Span>,
}

impl Value {
    fn signed(value: i64) -> Self {
        Value { bits: value as u64, unsigned: false, failed: None }
    }

    fn truth(value: bool) -> Self {
        Value::signed(i64::from(value))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }

    fn unary(self, operator: Token) -> Value {
        match operator.kind {
            TokenKind::Bang => Value { failed: self.failed, ..Value::truth(!self.is_true()) },
            TokenKind::Minus => Value { bits: self.bits.wrapping_neg(), ..self },
            TokenKind::Tilde => Value { bits: !self.bits, ..self },
            _ => self,
        }
    }

    fn binary(self, operator: Token, right: Value) -> Value {
        let right_counts = match operator.kind {
            TokenKind::AndAnd => self.is_true(),
            TokenKind::OrOr => !self.is_true(),
            _ => true,
        };
        let failed = self.failed.or(right.failed.filter(|_| right_counts));
        match apply(operator.kind, self, right) {
            Some(value) => Value { failed, ..value },
            None => Value { failed: failed.or(Some(operator.span)), ..self },
        }
    }

    fn conditional(self, then: Value, otherwise: Value) -> Value {
        let chosen = if self.is_true() { then } else { otherwise };
        let unsigned = then.unsigned || otherwise.unsigned;
        Value { unsigned, failed: self.failed.or(chosen.failed), ..chosen }
    }
}

/// What went wrong, and where.
#[derive(Debug)]
struct Problem {
    span: Span,
    message: String,
}

impl Preprocessor<'_> {
    /// The value of an `#if` line; false after a report.
    pub(super) fn evaluate(&mut self, line: &[Token], directive: Span) -> bool {
        let line = self.replace_defined(line);
        let mut line = self.expand_list(line);
        for token in line.iter_mut().filter(|token| token.kind == TokenKind::Ident) {
            let text = &self.session.names[token.symbol];
            if let Some((_, sign)) = OPERATORS.iter().find(|(word, _)| *word == text) {
                token.kind = *sign;
            }
        }
        if self.stopped {
            return false;
        }
        let end = line.last().map_or(directive.after(), |token| token.span.after());
        let problem = match self.read(&line, end) {
            Ok(Value { failed: Some(span), .. }) => {
                Problem { span, message: "division by zero".to_owned() }
            }
            Ok(value) => return value.is_true(),
            Err(problem) => problem,
        };
        self.error(Code::E0110, problem.span, problem.message)
            .note("the condition counts as false");
        false
    }

    /// Puts 0 or 1 in place of `defined X`, `defined(X)`, `__has_include(...)`.
    fn replace_defined(&mut self, line: &[Token]) -> Vec<Token> {
        let mut out = Vec::with_capacity(line.len());
        let mut at = 0;
        while at < line.len() {
            let token = line[at];
            let next = self.words.has_include_next;
            let (value, length) = if token.symbol == self.words.defined {
                match &line[at + 1..] {
                    [name, ..] if name.kind == TokenKind::Ident => (self.is_defined(*name), 2),
                    [open, name, close, ..]
                        if open.kind == TokenKind::LParen
                            && name.kind == TokenKind::Ident
                            && close.kind == TokenKind::RParen =>
                    {
                        (self.is_defined(*name), 4)
                    }
                    _ => {
                        self.error(Code::E0110, token.span, "`defined` takes the name of a macro");
                        (false, line.len() - at)
                    }
                }
            } else if token.symbol == self.words.has_include || token.symbol == next {
                match self.has_include(&line[at + 1..], token.symbol == next) {
                    Some((found, length)) => (found, length + 1),
                    None => {
                        let message = "`__has_include` takes a file name: (<file>) or (\"file\")";
                        self.error(Code::E0110, token.span, message);
                        (false, line.len() - at)
                    }
                }
            } else {
                out.push(token);
                at += 1;
                continue;
            };
            let symbol = if value { self.words.one } else { self.words.zero };
            out.push(Token {
                kind: TokenKind::Number,
                flags: Flags::SPACE,
                symbol,
                span: token.span,
            });
            at += length;
        }
        out
    }
}

impl Preprocessor<'_> {
    /// The value of a line.
    fn read(&self, line: &[Token], end: Span) -> Result<Value, Problem> {
        let input = line.iter().enumerate().map(|(at, token)| {
            let terminal = match token.kind {
                TokenKind::Ident if token.symbol == self.words.defined => Terminal::Defined,
                // A name that is no macro is 0.
                TokenKind::Ident => Terminal::Name(
                    Value::truth(token.symbol == self.words.true_),
                    Value::truth(self.is_defined(*token)),
                ),
                TokenKind::Number | TokenKind::Char => Terminal::Value(self.constant(*token)?),
                kind => Terminal::Sign(kind),
            };
            Ok((at, terminal, at + 1))
        });
        let (at, expected) = match ConditionParser::new().parse(line, input) {
            Ok(value) => return Ok(value),
            Err(ParseError::User { error }) => return Err(error),
            Err(ParseError::UnrecognizedToken { token: (at, ..), expected }) => (at, expected),
            Err(ParseError::UnrecognizedEof { expected, .. }) => (line.len(), expected),
            Err(ParseError::ExtraToken { token: (at, ..) }) => (at, Vec::new()),
            Err(ParseError::InvalidToken { location }) => (location, Vec::new()),
        };
        Err(self.problem(line, at, &expected, end))
    }

    /// The words for a line that the grammar does not take at token `at`.
    fn problem(&self, line: &[Token], at: usize, expected: &[String], end: Span) -> Problem {
        let takes = |terminal: &str| expected.iter().any(|one| one.trim_matches('"') == terminal);
        let text = |token: &Token| &self.session.names[token.symbol];
        let before = at.checked_sub(1).map(|before| line[before]);
        let is_defined = |token: &Token| token.symbol == self.words.defined;
        let may_call =
            |name: &Token| name.kind == TokenKind::Ident && name.symbol != self.words.false_;
        let defined = match before {
            Some(open) if open.kind == TokenKind::LParen => {
                at.checked_sub(2).map(|before| line[before]).filter(is_defined)
            }
            other => other.filter(is_defined),
        };
        let (span, message) = if let Some(word) = defined {
            (word.span, "`defined` takes the name of a macro".to_owned())
        } else if let (Some(name), Some(TokenKind::LParen)) =
            (before.filter(may_call), line.get(at).map(|token| token.kind))
        {
            let message = format!(
                "`{}` is not a macro, so it cannot be used with arguments here",
                text(&name)
            );
            (name.span, message)
        } else if takes("value") {
            match line.get(at) {
                Some(token) => {
                    let found = text(token);
                    let message =
                        format!("expected a value in the `#if` expression, found `{found}`");
                    (token.span, message)
                }
                None => (end, "the `#if` expression ends too early".to_owned()),
            }
        } else if let Some(open) = open_parenthesis(&line[..at]).filter(|_| takes(")")) {
            (open.span, "this `(` has no `)`".to_owned())
        } else if takes(":") {
            let span = line.get(at).map_or(end, |token| token.span);
            (span, "expected `:` after `?` in the `#if` expression".to_owned())
        } else {
            let found = line.get(at).map_or("", text);
            let span = line.get(at).map_or(end, |token| token.span);
            (span, format!("expected an operator in the `#if` expression, found `{found}`"))
        };
        Problem { span, message }
    }

    fn constant(&self, token: Token) -> Result<Value, Problem> {
        let text = &self.session.names[token.symbol];
        let problem = |message: String| Problem { span: token.span, message };
        if token.kind == TokenKind::Char {
            let value = literal::character(text).map_err(|error| problem(error.message))?;
            return Ok(Value::signed(value.value));
        }
        match literal::number(text).map_err(|error| problem(error.message))? {
            literal::Number::Int(int) => {
                let unsigned = int.unsigned || int.value > i64::MAX as u64;
                Ok(Value { bits: int.value, unsigned, failed: None })
            }
            literal::Number::Float(_) => Err(problem("`#if` takes integers only".to_owned())),
        }
    }
}

/// The innermost `(` that is not closed.
fn open_parenthesis(line: &[Token]) -> Option<Token> {
    let mut closed = 0;
    line.iter().rev().copied().find(|token| match token.kind {
        TokenKind::RParen => {
            closed += 1;
            false
        }
        TokenKind::LParen if closed == 0 => true,
        TokenKind::LParen => {
            closed -= 1;
            false
        }
        _ => false,
    })
}

/// `None` for a division by zero.
fn apply(operator: TokenKind, left: Value, right: Value) -> Option<Value> {
    use TokenKind::*;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let truth = |value: bool| Some(Value::truth(value));
    let bits = match operator {
        OrOr => return truth(left.is_true() || right.is_true()),
        AndAnd => return truth(left.is_true() && right.is_true()),
        EqEq => return truth(a == b),
        Ne => return truth(a != b),
        Lt => return truth(if unsigned { a < b } else { sa < sb }),
        Gt => return truth(if unsigned { a > b } else { sa > sb }),
        Le => return truth(if unsigned { a <= b } else { sa <= sb }),
        Ge => return truth(if unsigned { a >= b } else { sa >= sb }),
        Shl | Shr => {
            let left_shift = (operator == Shl) != (!right.unsigned && sb < 0);
            let count = if right.unsigned { b } else { sb.unsigned_abs() };
            let fill = if !left_shift && !left.unsigned && sa < 0 { u64::MAX } else { 0 };
            let bits = match (count, left_shift, left.unsigned) {
                (64.., _, _) => fill,
                (_, true, _) => a << count,
                (_, false, true) => a >> count,
                (_, false, false) => (sa >> count) as u64,
            };
            return Some(Value { bits, ..left });
        }
        Pipe => a | b,
        Caret => a ^ b,
        Amp => a & b,
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Slash if b == 0 => return None,
        Percent if b == 0 => return None,
        Slash if unsigned => a / b,
        Slash => sa.wrapping_div(sb) as u64,
        Percent if unsigned => a % b,
        _ => sa.wrapping_rem(sb) as u64,
    };
    Some(Value { bits, unsigned, failed: None })
}
