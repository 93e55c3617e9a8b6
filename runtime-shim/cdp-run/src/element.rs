//! Element types of buffers and scalars: names, sizes, reading from text and writing as text.

use std::fmt;
use std::str::FromStr;

use cdp_ir::evaluate::float16::{f64_to_half, half_to_f64};

/// The type of a scalar argument or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Element {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

use Element::*;

/// Every type with its names, the first being the one that is written: short, NumPy's, C's.
const NAMES: &[(Element, &[&str])] = &[
    (Bool, &["bool"]),
    (I8, &["i8", "int8", "char"]),
    (U8, &["u8", "uint8", "byte", "uchar"]),
    (I16, &["i16", "int16", "short"]),
    (U16, &["u16", "uint16", "ushort"]),
    (I32, &["i32", "int32", "int"]),
    (U32, &["u32", "uint32", "uint", "unsigned"]),
    (I64, &["i64", "int64", "long"]),
    (U64, &["u64", "uint64", "ulong", "size_t"]),
    (F16, &["f16", "float16", "half"]),
    (F32, &["f32", "float32", "float"]),
    (F64, &["f64", "float64", "double"]),
];

impl Element {
    /// Size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }

    /// Reads a number of this type; little-endian bytes.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse_value(self, text: &str) -> Result<Vec<u8>, String> {
        let problem = |_| format!("`{text}` is not a value of type {self}");
        match self {
            F16 => {
                Ok(f64_to_half(parse_float(text).ok_or(()).map_err(problem)?).to_le_bytes().into())
            }
            F32 => {
                // Through f32's own reading: going by way of f64 would round twice.
                let value: f32 = text.parse().map_err(|_| ()).map_err(problem)?;
                Ok(value.to_le_bytes().into())
            }
            F64 => {
                let value: f64 = text.parse().map_err(|_| ()).map_err(problem)?;
                Ok(value.to_le_bytes().into())
            }
            Bool => match text {
                "true" | "1" => Ok(vec![1]),
                "false" | "0" => Ok(vec![0]),
                _ => Err(format!("`{text}` is not a bool: true or false")),
            },
            _ => {
                let value = parse_integer(text).ok_or(()).map_err(problem)?;
                let (least, most) = self.integer_range();
                if value < least || value > most {
                    return Err(format!("{text} does not fit {self} ({least} to {most})"));
                }
                Ok(value.to_le_bytes()[..self.bytes()].to_vec())
            }
        }
    }

    fn integer_range(self) -> (i128, i128) {
        let bits = self.bytes() as u32 * 8;
        match self {
            I8 | I16 | I32 | I64 => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        }
    }

    /// Writes one element as text. `bytes` must be [`Element::bytes`] long.
    pub fn format_value(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let raw = u64::from_le_bytes(wide);
        match self {
            Bool => (raw != 0).to_string(),
            U8 | U16 | U32 | U64 => raw.to_string(),
            I8 => (raw as i8).to_string(),
            I16 => (raw as i16).to_string(),
            I32 => (raw as i32).to_string(),
            I64 => (raw as i64).to_string(),
            F16 => (half_to_f64(raw as u16) as f32).to_string(),
            F32 => f32::from_bits(raw as u32).to_string(),
            F64 => f64::from_bits(raw).to_string(),
        }
    }

    /// NumPy's type string, little-endian.
    pub fn numpy(self) -> &'static str {
        match self {
            Bool => "|b1",
            I8 => "|i1",
            U8 => "|u1",
            I16 => "<i2",
            U16 => "<u2",
            I32 => "<i4",
            U32 => "<u4",
            I64 => "<i8",
            U64 => "<u8",
            F16 => "<f2",
            F32 => "<f4",
            F64 => "<f8",
        }
    }

    /// From NumPy's type string without the byte order: `f4`.
    pub fn from_numpy(code: &str) -> Option<Element> {
        NAMES.iter().map(|row| row.0).find(|element| &element.numpy()[1..] == code)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = NAMES.iter().find(|row| row.0 == *self);
        f.write_str(row.map_or("", |row| row.1[0]))
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        let row = NAMES.iter().find(|row| row.1.contains(&text));
        row.map(|row| row.0).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|row| row.1[0]).collect();
            format!("`{text}` is not an element type: {}", known.join(", "))
        })
    }
}

/// An integer in decimal, `0x`, `0o` or `0b` form, with `_` between digits if wanted.
pub fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "").to_ascii_lowercase();
    if digits.starts_with(['-', '+']) {
        return None;
    }
    let magnitude = match digits.get(..2) {
        Some("0x") => i128::from_str_radix(&digits[2..], 16),
        Some("0o") => i128::from_str_radix(&digits[2..], 8),
        Some("0b") => i128::from_str_radix(&digits[2..], 2),
        _ => digits.parse(),
    };
    // One more than 64 bits is more than any type here; it keeps the negation below safe.
    let magnitude = magnitude.ok().filter(|&value| (0..=1 << 64).contains(&value))?;
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_float(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_form_and_range() {
        assert_eq!(I32.parse_value("-1").unwrap(), [0xff; 4]);
        assert_eq!(U16.parse_value("0xFF_FF").unwrap(), [0xff; 2]);
        assert_eq!(I8.parse_value("-128").unwrap(), [0x80]);
        assert_eq!(U64.parse_value("18446744073709551615").unwrap(), [0xff; 8]);
        assert!(U8.parse_value("256").unwrap_err().contains("0 to 255"));
        assert!(U8.parse_value("-1").is_err() && I32.parse_value("--1").is_err());
        assert!(I64.parse_value("99999999999999999999999999999999999999999").is_err());
    }

    #[test]
    fn names_read_back() {
        for (element, names) in NAMES {
            for name in *names {
                assert_eq!(name.parse(), Ok(*element));
            }
            assert_eq!(element.to_string(), names[0]);
            assert_eq!(Element::from_numpy(&element.numpy()[1..]), Some(*element));
        }
        assert!("int128".parse::<Element>().is_err());
    }
}
