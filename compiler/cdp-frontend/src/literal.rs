//! The values of numbers, character constants and strings. Types are the checker's business.

use std::num::IntErrorKind;

use crate::ast::{CharLit, Encoding, FloatLit, FloatSuffix, IntLit, IntSuffix};
use crate::source::raw;

/// A number's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    Int(IntLit),
    Float(FloatLit),
}

/// What is wrong with a literal, and where in its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiteralError {
    pub message: String,
    /// Byte range in the literal's spelling.
    pub range: std::ops::Range<usize>,
    /// True when the text after the number is a user-defined suffix.
    pub user_suffix: bool,
}

fn error(message: impl Into<String>, range: std::ops::Range<usize>) -> LiteralError {
    LiteralError { message: message.into(), range, user_suffix: false }
}

/// The value of a preprocessing number.
///
/// # Errors
/// It is not a valid integer or floating literal, or does not fit.
pub fn number(text: &str) -> Result<Number, LiteralError> {
    let bytes = text.as_bytes();
    let (radix, prefix) = match bytes {
        [b'0', b'x' | b'X', ..] => (16, 2),
        [b'0', b'b' | b'B', ..] => (2, 2),
        _ => (10, 0),
    };
    let is_float = match radix {
        16 => text.contains(['.', 'p', 'P']),
        2 => false,
        _ => text.contains(['.', 'e', 'E']),
    };
    if is_float { float(text, radix == 16) } else { integer(text, radix, prefix) }
}

fn integer(text: &str, radix: u32, prefix: usize) -> Result<Number, LiteralError> {
    let bytes = text.as_bytes();
    let octal = radix == 10 && bytes[0] == b'0' && bytes.len() > 1;
    let radix = if octal { 8 } else { radix };
    let digit = |byte: u8| (byte as char).to_digit(if radix == 16 { 16 } else { 10 });
    let mut value: u64 = 0;
    let mut overflow = false;
    let mut at = prefix;
    let mut digits = 0;
    while at < bytes.len() {
        if bytes[at] == b'\'' && digits > 0 {
            at += 1;
            continue;
        }
        let Some(next) = digit(bytes[at]) else { break };
        if next >= radix {
            let kind = if radix == 8 { "an octal" } else { "a binary" };
            return Err(error(
                format!("`{}` is no digit of {kind} number", bytes[at] as char),
                at..at + 1,
            ));
        }
        overflow |= value
            .checked_mul(u64::from(radix))
            .and_then(|v| v.checked_add(u64::from(next)))
            .is_none();
        value = value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(next));
        digits += 1;
        at += 1;
    }
    if digits == 0 {
        return Err(error(format!("`{text}` has no digits"), 0..text.len()));
    }
    if overflow {
        return Err(error("this integer does not fit in 64 bits", 0..text.len()));
    }
    let (unsigned, size) = integer_suffix(text, at)?;
    Ok(Number::Int(IntLit { value, based: radix != 10, unsigned, size }))
}

fn integer_suffix(text: &str, at: usize) -> Result<(bool, IntSuffix), LiteralError> {
    let suffix = &text[at..];
    let unsigned = suffix.contains(['u', 'U']);
    let rest = suffix.trim_start_matches(['u', 'U']).trim_end_matches(['u', 'U']);
    let known = suffix.len() - rest.len() <= 1;
    let size = match rest {
        "" => IntSuffix::None,
        "l" | "L" => IntSuffix::Long,
        "ll" | "LL" => IntSuffix::LongLong,
        "z" | "Z" => IntSuffix::Size,
        _ => return Err(bad_suffix(text, at, "an integer")),
    };
    if known { Ok((unsigned, size)) } else { Err(bad_suffix(text, at, "an integer")) }
}

fn bad_suffix(text: &str, at: usize, kind: &str) -> LiteralError {
    let suffix = &text[at..];
    LiteralError {
        message: format!("`{suffix}` is no suffix of {kind} literal"),
        range: at..text.len(),
        user_suffix: suffix.starts_with('_'),
    }
}

fn float(text: &str, hex: bool) -> Result<Number, LiteralError> {
    let end = float_end(text, hex);
    let suffix = match &text[end..] {
        "" => FloatSuffix::None,
        "f" | "F" => FloatSuffix::F,
        "l" | "L" => FloatSuffix::L,
        _ => return Err(bad_suffix(text, end, "a floating")),
    };
    let digits: String = text[..end].chars().filter(|c| *c != '\'').collect();
    let single = suffix == FloatSuffix::F;
    let value = if hex { hex_float(&digits, single) } else { decimal_float(&digits, single) };
    match value {
        Some(value) => Ok(Number::Float(FloatLit { value, suffix })),
        None => Err(error(format!("`{text}` is no valid floating literal"), 0..text.len())),
    }
}

/// Where the digits, point and exponent end and the suffix begins.
fn float_end(text: &str, hex: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = if hex { 2 } else { 0 };
    let is_digit = |byte: u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    while at < bytes.len() && (is_digit(bytes[at]) || bytes[at] == b'.' || bytes[at] == b'\'') {
        at += 1;
    }
    let exponent = if hex { b"pP" } else { b"eE" };
    if bytes.get(at).is_some_and(|byte| exponent.contains(byte)) {
        at += 1;
        if bytes.get(at).is_some_and(|byte| b"+-".contains(byte)) {
            at += 1;
        }
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'\'') {
            at += 1;
        }
    }
    at
}

/// An `f` literal is rounded once, to `float`. Values too large are infinite, as in nvcc.
fn decimal_float(digits: &str, single: bool) -> Option<f64> {
    // Rust accepts `1.` and `.5` and `1e5`, and refuses `1e`, `1..2` and `.`.
    if single { digits.parse::<f32>().ok().map(f64::from) } else { digits.parse().ok() }
}

/// Exponents of which every number is infinite or zero, however many digits it has.
const MAX_EXPONENT: i64 = 1 << 40;

/// `0x1.8p3`: exact up to the one rounding at the end.
fn hex_float(digits: &str, single: bool) -> Option<f64> {
    let (mantissa, exponent) = digits[2..].split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 || fraction.contains('.') {
        return None;
    }
    let exponent = match exponent.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => MAX_EXPONENT,
        Err(error) if *error.kind() == IntErrorKind::NegOverflow => -MAX_EXPONENT,
        Err(_) => return None,
    };
    let mut power = exponent - 4 * fraction.len() as i64;
    let mut bits: u128 = 0;
    let mut sticky = false;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u128::from(digit.to_digit(16)?);
        if bits >> 120 != 0 {
            sticky |= digit != 0;
            power += 4;
        } else {
            bits = bits << 4 | digit;
        }
    }
    Some(round_to(bits, power, sticky, single))
}

/// `bits * 2^power`, plus a little if `sticky`, rounded to nearest even in `float` or `double`. Of `bits` the
/// highest four are 0.
fn round_to(bits: u128, power: i64, sticky: bool, single: bool) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let (precision, least) = if single { (24, -149) } else { (53, -1074) };
    let size = 128 - i64::from(bits.leading_zeros());
    // The exponent of the last place kept.
    let last = (size - precision + power).max(least).max(power);
    let drop = (last - power).min(127);
    let kept = bits >> drop;
    let (lost, half) = (bits - (kept << drop), (1u128 << drop) >> 1);
    let up = drop > 0 && (lost > half || lost == half && (sticky || kept & 1 == 1));
    // In two steps, which are exact unless the value is infinite.
    let last = last.min(2 * 1100) as i32;
    let value = (kept + u128::from(up)) as f64 * 2f64.powi(last / 2) * 2f64.powi(last - last / 2);
    if single && value > f64::from(f32::MAX) { f64::INFINITY } else { value }
}

/// The prefix of a character constant or string, and its length.
pub fn encoding(text: &str) -> (Encoding, usize) {
    match text.as_bytes() {
        [b'u', b'8', ..] => (Encoding::Utf8, 2),
        [b'u', ..] => (Encoding::Utf16, 1),
        [b'U', ..] => (Encoding::Utf32, 1),
        [b'L', ..] => (Encoding::Wide, 1),
        _ => (Encoding::Plain, 0),
    }
}

/// The value of a character constant with its quotes.
///
/// # Errors
/// It is empty, has an invalid escape, or does not fit.
pub fn character(text: &str) -> Result<CharLit, LiteralError> {
    let (encoding, prefix) = encoding(text);
    let mut units = Vec::new();
    let body = prefix + 1..text.len() - 1;
    unescape(text, body, encoding, &mut units)?;
    match (units.as_slice(), encoding) {
        ([], _) => Err(error("a character constant cannot be empty", 0..text.len())),
        ([one], Encoding::Plain) => {
            Ok(CharLit { value: i64::from(*one as u8 as i8), encoding, multi: false })
        }
        ([one], _) => Ok(CharLit { value: i64::from(*one), encoding, multi: false }),
        (many, Encoding::Plain) if many.len() <= 4 => {
            let value = many.iter().fold(0u32, |value, unit| value << 8 | (unit & 0xff));
            Ok(CharLit { value: i64::from(value as i32), encoding, multi: true })
        }
        _ => Err(error("this character constant holds too many characters", 0..text.len())),
    }
}

/// Appends the code units of a string literal with its quotes (a raw one too) to `units`; of one without a prefix
/// as those of the pieces beside it are.
///
/// # Errors
/// An invalid escape.
pub fn string(text: &str, beside: Encoding, units: &mut Vec<u32>) -> Result<(), LiteralError> {
    let (own, prefix) = encoding(text);
    let encoding = if own == Encoding::Plain { beside } else { own };
    if text.as_bytes().get(prefix) != Some(&b'R') {
        return unescape(text, prefix + 1..text.len() - 1, encoding, units);
    }
    let open = text.find('(').unwrap_or(prefix);
    let delimiter = open - prefix - 2;
    let body = &text[open + 1..text.len() - delimiter - 2];
    body.chars().for_each(|character| encode(character, encoding, units));
    Ok(())
}

/// The code units of a character.
fn encode(character: char, encoding: Encoding, units: &mut Vec<u32>) {
    // A byte of a file that is no UTF-8 stays what it is, as with other compilers.
    if let (Some(byte), Encoding::Plain | Encoding::Utf8) = (raw::byte(character), encoding) {
        units.push(u32::from(byte));
        return;
    }
    match encoding {
        Encoding::Plain | Encoding::Utf8 => {
            let mut buffer = [0; 4];
            units.extend(character.encode_utf8(&mut buffer).bytes().map(u32::from));
        }
        Encoding::Utf16 => {
            let mut buffer = [0; 2];
            units.extend(character.encode_utf16(&mut buffer).iter().map(|unit| u32::from(*unit)));
        }
        Encoding::Utf32 | Encoding::Wide => units.push(character as u32),
    }
}

fn unescape(
    text: &str,
    body: std::ops::Range<usize>,
    encoding: Encoding,
    units: &mut Vec<u32>,
) -> Result<(), LiteralError> {
    let (mut at, end) = (body.start, body.end);
    while at < end {
        let character = text[at..end].chars().next().unwrap_or('\0');
        if character != '\\' {
            encode(character, encoding, units);
            at += character.len_utf8();
            continue;
        }
        let start = at;
        let escape = text[at + 1..end].chars().next().unwrap_or('\0');
        at += 1 + escape.len_utf8();
        let simple = match escape {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' | 'E' => 27,
            '\\' | '\'' | '"' | '?' => escape as u32,
            '0'..='7' | 'x' => {
                units.push(numeric_escape(text, start, &mut at, end, escape, encoding)?);
                continue;
            }
            'u' | 'U' => {
                encode(universal(text, start, &mut at, end, escape)?, encoding, units);
                continue;
            }
            _ => {
                return Err(error(
                    format!("`\\{escape}` is no escape sequence"),
                    start..at.min(end),
                ));
            }
        };
        units.push(simple);
    }
    Ok(())
}

fn numeric_escape(
    text: &str,
    start: usize,
    at: &mut usize,
    end: usize,
    escape: char,
    encoding: Encoding,
) -> Result<u32, LiteralError> {
    let bytes = text.as_bytes();
    let (radix, most) = if escape == 'x' { (16, usize::MAX) } else { (8, 3) };
    let first = if escape == 'x' { *at } else { *at - 1 };
    *at = first;
    let mut value: u64 = 0;
    while *at < end && *at - first < most {
        let Some(digit) = (bytes[*at] as char).to_digit(radix) else { break };
        value = (value * u64::from(radix) + u64::from(digit)).min(1 << 40);
        *at += 1;
    }
    if *at == first {
        return Err(error("`\\x` needs hexadecimal digits", start..*at));
    }
    let largest = match encoding {
        Encoding::Plain | Encoding::Utf8 => 0xff,
        Encoding::Utf16 => 0xffff,
        Encoding::Utf32 | Encoding::Wide => 0xffff_ffff,
    };
    if value > largest {
        return Err(error("this escape sequence does not fit the character type", start..*at));
    }
    Ok(value as u32)
}

/// `\u1234`, `\U00012345`
fn universal(
    text: &str,
    start: usize,
    at: &mut usize,
    end: usize,
    escape: char,
) -> Result<char, LiteralError> {
    let length = if escape == 'u' { 4 } else { 8 };
    let digits = text.get(*at..(*at + length).min(end)).unwrap_or("");
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == length);
    let character = value.and_then(char::from_u32);
    *at += digits.len();
    character.ok_or_else(|| {
        error(
            format!("`\\{escape}` needs {length} hexadecimal digits that name a character"),
            start..*at,
        )
    })
}
