//! `#if` expressions: integer arithmetic in 64 bits, signed unless an operand is unsigned.

use super::Preprocessor;
use crate::diagnostics::{Code, Diagnostic};
use crate::lex::{Flags, Token, TokenKind};
use crate::literal;
use crate::source::Span;

/// Nesting of parentheses, unary operators and `?:`.
const MAX_DEPTH: u32 = 256;

/// A value; `unsigned` as in `uintmax_t`.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Self {
        Value { bits: value as u64, unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// What went wrong, and where.
struct Problem {
    span: Span,
    message: String,
}

impl Preprocessor<'_> {
    /// The value of an `#if` line; false after a report.
    pub(super) fn evaluate(&mut self, line: &[Token], directive: Span) -> bool {
        let line = self.replace_defined(line);
        let line = self.expand_list(line);
        if self.stopped {
            return false;
        }
        let end = line.last().map_or(directive.after(), |token| token.span.after());
        let mut parser = Parser { preprocessor: self, tokens: &line, at: 0, end, depth: 0 };
        let result = parser.conditional(true).and_then(|value| match parser.peek() {
            None => Ok(value),
            Some(token) => Err(parser.unexpected(token, "an operator")),
        });
        match result {
            Ok(value) => value.is_true(),
            Err(problem) => {
                let found = Diagnostic::new(Code::E0110, problem.span, problem.message);
                self.diagnostics.push(found.note("the condition counts as false"));
                false
            }
        }
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

/// A recursive-descent reader of one line, with its depth bounded.
struct Parser<'p, 'a, 't> {
    preprocessor: &'p mut Preprocessor<'a>,
    tokens: &'t [Token],
    at: usize,
    end: Span,
    depth: u32,
}

impl Parser<'_, '_, '_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == kind);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&self, token: Token, expected: &str) -> Problem {
        let text = &self.preprocessor.session.names[token.symbol];
        Problem {
            span: token.span,
            message: format!("expected {expected} in the `#if` expression, found `{text}`"),
        }
    }

    /// `or ('?' conditional ':' conditional)?`. `live` is false in operands that do not count.
    fn conditional(&mut self, live: bool) -> Result<Value, Problem> {
        self.deeper()?;
        let condition = self.binary(0, live)?;
        let result = if self.take(TokenKind::Question) {
            let then = self.conditional(live && condition.is_true())?;
            if !self.take(TokenKind::Colon) {
                let span = self.peek().map_or(self.end, |token| token.span);
                return Err(Problem {
                    span,
                    message: "expected `:` after `?` in the `#if` expression".to_owned(),
                });
            }
            let otherwise = self.conditional(live && !condition.is_true())?;
            let chosen = if condition.is_true() { then } else { otherwise };
            Value { unsigned: then.unsigned || otherwise.unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(result)
    }

    fn deeper(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.peek().map_or(self.end, |token| token.span);
            return Err(Problem { span, message: format!("nested more than {MAX_DEPTH} deep") });
        }
        Ok(())
    }

    /// Binary operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8, live: bool) -> Result<Value, Problem> {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.peek() {
            let Some(own) = precedence(operator.kind).filter(|own| *own >= level) else { break };
            self.at += 1;
            let right_live = live
                && match operator.kind {
                    TokenKind::AndAnd => left.is_true(),
                    TokenKind::OrOr => !left.is_true(),
                    _ => true,
                };
            let right = self.binary(own + 1, right_live)?;
            left = match apply(operator.kind, left, right) {
                Some(value) => value,
                None if !right_live => left,
                None => {
                    return Err(Problem {
                        span: operator.span,
                        message: "division by zero".to_owned(),
                    });
                }
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Problem> {
        let Some(token) = self.peek() else {
            return Err(Problem {
                span: self.end,
                message: "the `#if` expression ends too early".to_owned(),
            });
        };
        self.at += 1;
        match token.kind {
            TokenKind::Bang | TokenKind::Minus | TokenKind::Plus | TokenKind::Tilde => {
                self.deeper()?;
                let value = self.unary(live)?;
                self.depth -= 1;
                Ok(match token.kind {
                    TokenKind::Bang => Value::signed(i64::from(!value.is_true())),
                    TokenKind::Minus => Value { bits: value.bits.wrapping_neg(), ..value },
                    TokenKind::Tilde => Value { bits: !value.bits, ..value },
                    _ => value,
                })
            }
            TokenKind::LParen => {
                let value = self.conditional(live)?;
                if !self.take(TokenKind::RParen) {
                    return Err(Problem {
                        span: token.span,
                        message: "this `(` has no `)`".to_owned(),
                    });
                }
                Ok(value)
            }
            TokenKind::Ident => self.name(token),
            TokenKind::Number | TokenKind::Char => self.constant(token),
            _ => Err(self.unexpected(token, "a value")),
        }
    }

    /// A name that is no macro is 0; `true` is 1; `defined` may come out of a macro.
    fn name(&mut self, token: Token) -> Result<Value, Problem> {
        let words = &self.preprocessor.words;
        if token.symbol == words.true_ {
            return Ok(Value::signed(1));
        }
        if token.symbol == words.defined {
            let parenthesised = self.take(TokenKind::LParen);
            if let Some(name) = self.peek().filter(|name| name.kind == TokenKind::Ident) {
                self.at += 1;
                if !parenthesised || self.take(TokenKind::RParen) {
                    return Ok(Value::signed(i64::from(self.preprocessor.is_defined(name))));
                }
            }
            return Err(Problem {
                span: token.span,
                message: "`defined` takes the name of a macro".to_owned(),
            });
        }
        if token.symbol != words.false_
            && self.peek().is_some_and(|next| next.kind == TokenKind::LParen)
        {
            let text = &self.preprocessor.session.names[token.symbol];
            let message =
                format!("`{text}` is not a macro, so it cannot be used with arguments here");
            return Err(Problem { span: token.span, message });
        }
        Ok(Value::signed(0))
    }

    fn constant(&mut self, token: Token) -> Result<Value, Problem> {
        let text = &self.preprocessor.session.names[token.symbol];
        let problem = |message: String| Problem { span: token.span, message };
        if token.kind == TokenKind::Char {
            let value = literal::character(text).map_err(|error| problem(error.message))?;
            return Ok(Value::signed(value.value));
        }
        match literal::number(text).map_err(|error| problem(error.message))? {
            literal::Number::Int(int) => {
                let unsigned = int.unsigned || int.value > i64::MAX as u64;
                Ok(Value { bits: int.value, unsigned })
            }
            literal::Number::Float(_) => Err(problem("`#if` takes integers only".to_owned())),
        }
    }
}

fn precedence(kind: TokenKind) -> Option<u8> {
    use TokenKind::*;
    Some(match kind {
        OrOr => 1,
        AndAnd => 2,
        Pipe => 3,
        Caret => 4,
        Amp => 5,
        EqEq | Ne => 6,
        Lt | Gt | Le | Ge => 7,
        Shl | Shr => 8,
        Plus | Minus => 9,
        Star | Slash | Percent => 10,
        _ => return None,
    })
}

/// `None` for a division by zero.
fn apply(operator: TokenKind, left: Value, right: Value) -> Option<Value> {
    use TokenKind::*;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let truth = |value: bool| Some(Value::signed(i64::from(value)));
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
            return Some(Value { bits, unsigned: left.unsigned });
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
    Some(Value { bits, unsigned })
}
