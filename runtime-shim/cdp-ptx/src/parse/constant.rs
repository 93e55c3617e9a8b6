//! Constants: literals and constant expressions, and the bits they have as a given type.

use std::cmp::Ordering;

use super::{Parser, Result};
use crate::lexer::{Tok, Token};
use crate::types::ScalarType;

/// The value of a constant expression. PTX computes integers in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// The bits of an integer. Unsigned is a literal with `U`, or one that does not fit `i64`.
    Int { bits: u64, unsigned: bool },
    /// `0f...`
    Single(f32),
    /// `0d...` or decimal.
    Double(f64),
}

/// Deepest nesting of constant expressions.
const MAX_DEPTH: u32 = 32;

impl Constant {
    /// The two's complement bits of an integer.
    pub fn as_bits(self) -> Option<u64> {
        match self {
            Constant::Int { bits, .. } => Some(bits),
            _ => None,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Constant::Int { bits, unsigned: false } => bits as i64 as f64,
            Constant::Int { bits, unsigned: true } => bits as f64,
            Constant::Single(value) => f64::from(value),
            Constant::Double(value) => value,
        }
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Constant::Int { unsigned: true, .. })
    }

    fn truth(value: bool) -> Constant {
        Constant::Int { bits: u64::from(value), unsigned: false }
    }

    /// The bits that the constant has as `ty`, or `None` if it cannot be of that type.
    pub fn bits_as(self, ty: ScalarType) -> Option<u64> {
        match (ty, self) {
            (ScalarType::F32, Constant::Single(value)) => Some(u64::from(value.to_bits())),
            (ScalarType::F32, Constant::Double(value)) => Some(u64::from((value as f32).to_bits())),
            (ScalarType::F64, Constant::Single(_) | Constant::Double(_)) => {
                Some(self.as_f64().to_bits())
            }
            // A bit pattern of the right width may be written as a float.
            (_, Constant::Single(value)) if ty.bits() == 32 => Some(u64::from(value.to_bits())),
            (_, Constant::Double(value)) if ty.bits() == 64 => Some(value.to_bits()),
            (_, Constant::Single(_) | Constant::Double(_)) => None,
            (ScalarType::Pred, _) => Some(u64::from(self.as_bits()? != 0)),
            // There are no literals of these.
            (ScalarType::B128 | ScalarType::F32x2, _) => None,
            _ if ty.is_float() => None,
            _ => {
                let bits = self.as_bits()?;
                Some(if ty.bits() >= 64 { bits } else { bits & ((1 << ty.bits()) - 1) })
            }
        }
    }
}

impl<'a> Parser<'a> {
    /// Could the next token begin a constant?
    pub fn at_constant(&self) -> bool {
        matches!(
            self.peek.tok,
            Tok::Int | Tok::Float | Tok::Punct(b'-' | b'+' | b'~' | b'!' | b'(')
        )
    }

    /// The value of an integer literal.
    pub fn integer_literal(&self, token: &Token) -> Result<u64> {
        let text = token.text.strip_suffix(['U', 'u']).unwrap_or(token.text);
        let parsed = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16),
            [b'0', b'b' | b'B', ..] => u64::from_str_radix(&text[2..], 2),
            [b'0', _, ..] => u64::from_str_radix(&text[1..], 8),
            _ => text.parse(),
        };
        let Ok(value) = parsed else {
            fail!(self, token, Limit, "{token} is not an integer of at most 64 bits");
        };
        Ok(value)
    }

    fn float_literal(&self, token: &Token) -> Result<Constant> {
        let text = token.text;
        let hex = |digits: usize| {
            let body = text.get(2..).unwrap_or("");
            if body.len() == digits { u64::from_str_radix(body, 16).ok() } else { None }
        };
        let value = match text.as_bytes() {
            [b'0', b'f' | b'F', ..] => {
                hex(8).map(|bits| Constant::Single(f32::from_bits(bits as u32)))
            }
            [b'0', b'd' | b'D', ..] => hex(16).map(|bits| Constant::Double(f64::from_bits(bits))),
            _ => text.parse().ok().map(Constant::Double),
        };
        let Some(value) = value else {
            fail!(self, token, Syntax, "{token} is not a number");
        };
        Ok(value)
    }

    /// A constant expression.
    pub fn constant(&mut self) -> Result<Constant> {
        self.ternary(0)
    }

    /// A constant expression that is an integer, as a signed number.
    pub fn integer(&mut self, what: &str) -> Result<i64> {
        let token = self.peek;
        match self.constant()?.as_bits() {
            Some(bits) => Ok(bits as i64),
            None => fail!(self, token, Operand, "{what} must be an integer"),
        }
    }

    /// A constant expression as the bits of a type.
    pub fn constant_bits(&mut self, ty: ScalarType) -> Result<u64> {
        let token = self.peek;
        let value = self.constant()?;
        let Some(bits) = value.bits_as(ty) else {
            fail!(self, token, Operand, "the constant {token} is not a `.{ty}`");
        };
        Ok(bits)
    }

    fn ternary(&mut self, depth: u32) -> Result<Constant> {
        let condition = self.binary(0, depth)?;
        if !self.at(b'?') {
            return Ok(condition);
        }
        self.check_depth(depth)?;
        self.next()?;
        let yes = self.ternary(depth + 1)?;
        self.expect(b':')?;
        let no = self.ternary(depth + 1)?;
        Ok(if condition.as_f64() != 0.0 { yes } else { no })
    }

    fn check_depth(&self, depth: u32) -> Result<()> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        fail!(self, self.peek, Limit, "a constant expression nested deeper than {MAX_DEPTH}")
    }

    /// Left-associative binary operators of at least the given precedence.
    fn binary(&mut self, least: u32, depth: u32) -> Result<Constant> {
        let mut left = self.unary(depth)?;
        loop {
            let operator = self.peek;
            let Some(level) = precedence(&operator).filter(|level| *level >= least) else {
                return Ok(left);
            };
            self.check_depth(depth)?;
            self.next()?;
            let right = self.binary(level + 1, depth + 1)?;
            let Some(value) = apply(operator.text, left, right) else {
                fail!(self, operator, Operand, "{operator} cannot be computed here");
            };
            left = value;
        }
    }

    fn unary(&mut self, depth: u32) -> Result<Constant> {
        let token = self.peek;
        match token.tok {
            Tok::Int => {
                self.next()?;
                let bits = self.integer_literal(&token)?;
                let unsigned = token.text.ends_with(['U', 'u']) || i64::try_from(bits).is_err();
                Ok(Constant::Int { bits, unsigned })
            }
            Tok::Float => {
                self.next()?;
                self.float_literal(&token)
            }
            Tok::Ident if token.text == "WARP_SZ" => {
                self.next()?;
                Ok(Constant::Int { bits: 32, unsigned: false })
            }
            Tok::Punct(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.check_depth(depth)?;
                self.next()?;
                let value = self.unary(depth + 1)?;
                let Some(value) = apply_unary(operator, value) else {
                    fail!(self, token, Operand, "{token} needs an integer");
                };
                Ok(value)
            }
            Tok::Punct(b'(') => {
                self.check_depth(depth)?;
                self.next()?;
                if matches!(self.peek.tok, Tok::Dot) && matches!(self.peek.text, "s64" | "u64") {
                    let unsigned = self.next()?.text == "u64";
                    self.expect(b')')?;
                    let value = self.unary(depth + 1)?;
                    let bits = value.as_bits().unwrap_or(value.as_f64() as i64 as u64);
                    return Ok(Constant::Int { bits, unsigned });
                }
                let value = self.ternary(depth + 1)?;
                self.expect(b')')?;
                Ok(value)
            }
            _ => self.expected("a constant"),
        }
    }
}

fn precedence(token: &Token) -> Option<u32> {
    if !matches!(token.tok, Tok::Punct(_) | Tok::Op2) {
        return None;
    }
    Some(match token.text {
        "||" => 0,
        "&&" => 1,
        "|" => 2,
        "^" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}

fn apply_unary(operator: u8, value: Constant) -> Option<Constant> {
    Some(match (operator, value) {
        (b'+', value) => value,
        (b'-', Constant::Int { bits, unsigned }) => {
            Constant::Int { bits: bits.wrapping_neg(), unsigned }
        }
        (b'-', Constant::Single(v)) => Constant::Single(-v),
        (b'-', Constant::Double(v)) => Constant::Double(-v),
        (b'~', Constant::Int { bits, unsigned }) => Constant::Int { bits: !bits, unsigned },
        (b'!', v) => Constant::truth(v.as_bits()? == 0),
        _ => return None,
    })
}

fn apply(operator: &str, left: Constant, right: Constant) -> Option<Constant> {
    let unsigned = left.is_unsigned() || right.is_unsigned();
    // The numbers that the bits are: no operator but shifts leaves 128 bits.
    let value = |bits: u64| if unsigned { i128::from(bits) } else { i128::from(bits as i64) };
    let integers = left.as_bits().zip(right.as_bits()).map(|(a, b)| (value(a), value(b)));
    let order = match integers {
        Some((a, b)) => Some(a.cmp(&b)),
        None => left.as_f64().partial_cmp(&right.as_f64()),
    };
    let truth = |holds| Some(Constant::truth(holds));
    match (operator, integers) {
        ("<", _) => return truth(order.is_some_and(Ordering::is_lt)),
        (">", _) => return truth(order.is_some_and(Ordering::is_gt)),
        ("<=", _) => return truth(order.is_some_and(Ordering::is_le)),
        (">=", _) => return truth(order.is_some_and(Ordering::is_ge)),
        ("==", _) => return truth(order.is_some_and(Ordering::is_eq)),
        ("!=", _) => return truth(!order.is_some_and(Ordering::is_eq)),
        ("&&", Some((a, b))) => return truth(a != 0 && b != 0),
        ("||", Some((a, b))) => return truth(a != 0 || b != 0),
        _ => {}
    }
    let Some((a, b)) = integers else {
        let (a, b) = (left.as_f64(), right.as_f64());
        return Some(Constant::Double(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            _ => return None,
        }));
    };
    let own = left.is_unsigned();
    let shifted = if own { i128::from(a as u64) } else { i128::from(a as i64) };
    let shift = u32::try_from(b).unwrap_or(64).min(64);
    // The type of a shift is that of its left operand.
    let (value, unsigned) = match operator {
        "+" => (a + b, unsigned),
        "-" => (a - b, unsigned),
        "*" => (a.wrapping_mul(b), unsigned),
        "/" => (a.checked_div(b)?, unsigned),
        "%" => (a.checked_rem(b)?, unsigned),
        "&" => (a & b, unsigned),
        "|" => (a | b, unsigned),
        "^" => (a ^ b, unsigned),
        "<<" => (shifted << shift, own),
        ">>" => (shifted >> shift, own),
        _ => return None,
    };
    Some(Constant::Int { bits: value as u64, unsigned })
}
