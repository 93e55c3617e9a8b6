//! From declarations of CUDA's types and constants (`src/check/builtins/types/*.cuh`) to tables of
//! `BuiltinTypeDef` and `ConstTable`. A file is a list of
//! - `typedef char* name;`, also of an array;
//! - `struct name;`, `struct name { int a, b[2]; void* c; };`, and `union`;
//! - `enum name { A, B = 4, C };`, whose values go on from the last; of a negative one the type is `int`;
//! - `const type A = 1, B = 2;`: what CUDA's headers define as macros without arguments.
//!
//! The attributes of a type are `fp16` and `bf16` (the header) and `align N`, in bytes.

use std::fmt::Write;

use super::Result;
use super::cursor::Cursor;

/// What a file declares, each as Rust expressions with a comma after each.
#[derive(Default)]
pub struct Types {
    pub types: String,
    pub constants: String,
}

/// Reads a file.
pub fn types(text: &str) -> Result<Types> {
    let mut cursor = Cursor::new(text, 1);
    let mut out = Types::default();
    loop {
        cursor.skip_space();
        if cursor.rest().is_empty() {
            return Ok(out);
        }
        let (mut header, mut align) = ("None", "0");
        if cursor.eat("[") {
            for word in cursor.until(']')?.split(',').map(str::trim) {
                match word.strip_prefix("align ") {
                    Some(bytes) => align = bytes,
                    None if word == "fp16" => header = "Fp16",
                    None if word == "bf16" => header = "Bf16",
                    None => return Err(cursor.mistake(format!("`{word}` is no attribute"))),
                }
            }
            cursor.skip_space();
        }
        let start = cursor;
        let (name, kind) = match cursor.take_word() {
            "typedef" => {
                let (name, ty) = one_name(cursor.until(';')?.trim(), &start)?;
                (name, format!("Alias({ty:?})"))
            }
            "enum" => {
                let name = cursor.take_word();
                let (values, signed) = values(cursor.block()?, &start)?;
                out.table(name, &values);
                let underlying = if signed { "Int" } else { "UInt" };
                (name, format!("Enum {{ underlying: Basic::{underlying} }}"))
            }
            word @ ("struct" | "union") => {
                let name = cursor.take_word();
                if cursor.rest().starts_with('{') {
                    let fields = fields(cursor.block()?, &start)?;
                    let kind = if word == "struct" { "Record" } else { "Union" };
                    (name, format!("{kind} {{ fields: &[{fields}] }}"))
                } else {
                    (name, "Opaque".to_owned())
                }
            }
            "const" => {
                let name = cursor.take_word();
                let (values, _) = values(cursor.until(';')?, &start)?;
                out.table(name, &values);
                continue;
            }
            word => return Err(start.mistake(format!("`{word}` begins no declaration"))),
        };
        cursor.eat(";");
        let _ = writeln!(
            out.types,
            "BuiltinTypeDef {{ name: {name:?}, kind: BuiltinTypeKind::{kind}, align: {align}, \
             header: Header::{header} }},"
        );
    }
}

impl Types {
    fn table(&mut self, ty: &str, values: &str) {
        let _ = writeln!(self.constants, "ConstTable {{ ty: {ty:?}, rows: &[{values}] }},");
    }
}

/// The name that a declaration without `;` ends in, and its type as text, an array's length included.
fn one_name<'t>(declared: &'t str, at: &Cursor) -> Result<(&'t str, String)> {
    let (declared, array) = match declared.find('[') {
        Some(bracket) => declared.split_at(bracket),
        None => (declared, ""),
    };
    match declared.rfind([' ', '*']).map(|end| declared.split_at(end + 1)) {
        Some((ty, name)) if !name.is_empty() => Ok((name, format!("{}{array}", ty.trim_end()))),
        _ => Err(at.mistake(format!("`{declared}` has no name"))),
    }
}

/// Fields as pairs of type and name.
fn fields(block: &str, at: &Cursor) -> Result<String> {
    let mut out = String::new();
    for line in block.split(';').map(str::trim).filter(|line| !line.is_empty()) {
        let mut names = line.split(',').map(str::trim);
        let (name, ty) = one_name(names.next().unwrap_or_default(), at)?;
        let _ = write!(out, "({ty:?}, {name:?}), ");
        let element = ty.split('[').next().unwrap_or_default();
        for name in names {
            if element.ends_with('*') {
                return Err(at.mistake(format!("`{name}` is no pointer: a declaration of its own")));
            }
            let (name, ty) = one_name(&format!("{element} {name}"), at)
                .map(|(name, ty)| (name.to_owned(), ty))?;
            let _ = write!(out, "({ty:?}, {name:?}), ");
        }
    }
    Ok(out)
}

/// Names with their values, and whether one is negative.
fn values(list: &str, at: &Cursor) -> Result<(String, bool)> {
    let mut out = String::new();
    let (mut next, mut signed) = (0, false);
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (name, value) = match item.split_once('=') {
            None => (item, next),
            Some((name, text)) => {
                let text = text.trim().replace('_', "");
                let value = match text.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => text.parse(),
                };
                let value = value.map_err(|_| at.mistake(format!("`{text}` is no number")))?;
                (name.trim_end(), value)
            }
        };
        let _ = write!(out, "({name:?}, {value}), ");
        next = value + 1;
        signed |= value < 0;
    }
    Ok((out, signed))
}
