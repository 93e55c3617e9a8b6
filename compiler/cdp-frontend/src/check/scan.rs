//! `scanf` formats against their arguments, as C17 7.21.6.2 has them, with `m` of POSIX. `printf`'s are
//! `format`'s matter.

use super::ctype::{Basic, QualType};
use super::format::{Written, conversions, right_conversion};
use super::state::Checker;
use super::value::Value;
use crate::diagnostics::Code;

/// What the argument of a conversion points to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// An integer of so many bytes.
    Int(u64),
    Float,
    Double,
    /// `long double`, which is refused where it is declared.
    LongDouble,
    Bytes,
    /// A pointer, in which one is stored.
    Pointer,
}

impl Wants {
    /// The type, as a message names it.
    fn pointee(self) -> &'static str {
        match self {
            Wants::Int(1) => "a `char`",
            Wants::Int(2) => "a `short`",
            Wants::Int(4) => "an `int`",
            Wants::Int(_) => "a `long` or `long long`",
            Wants::Float => "a `float`",
            Wants::Double => "a `double`",
            Wants::LongDouble => "a `long double`",
            Wants::Bytes => "an array of `char`",
            Wants::Pointer => "a pointer",
        }
    }
}

/// The conversions of a format that store something, each with its text; `Err` names what is wrong.
fn parse(format: &str, long_bytes: u64) -> Result<Vec<(&str, Wants)>, String> {
    let mut found = Vec::new();
    for Written { text, flags, length, letter, .. } in conversions(format, true)? {
        let wants = wanted(length, letter, long_bytes)
            .ok_or_else(|| format!("`{text}` is no conversion of `scanf`"))?;
        if flags.is_empty() {
            found.push((text, wants));
        }
    }
    Ok(found)
}

fn wanted(length: &str, letter: char, long_bytes: u64) -> Option<Wants> {
    Some(match (letter, length) {
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'n', _) => Wants::Int(match length {
            "" => 4,
            "hh" => 1,
            "h" => 2,
            "l" | "z" | "t" => long_bytes,
            "ll" | "j" | "q" | "L" => 8,
            _ => return None,
        }),
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', "") => Wants::Float,
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', "l") => Wants::Double,
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', "L") => Wants::LongDouble,
        ('s' | 'c' | '[', "") => Wants::Bytes,
        // Wide characters: `wchar_t` is four bytes.
        ('s' | 'c' | '[', "l") => Wants::Int(4),
        ('s' | 'c' | '[', "m") => Wants::Pointer,
        ('p', "") => Wants::Pointer,
        _ => return None,
    })
}

impl<'a> Checker<'a> {
    /// Checks the arguments after `at`, where the format stands.
    pub fn check_scanf(&mut self, args: &[Value<'a>], at: usize) {
        let Some(format) = args.get(at) else { return };
        let Some(literal) = format.string else { return };
        let text = literal.to_text();
        let specs = match parse(&text, self.types.pointer_bytes()) {
            Ok(specs) => specs,
            Err(message) => {
                self.error(Code::W0709, format.span, message);
                return;
            }
        };
        let values = &args[at + 1..];
        if specs.len() != values.len() {
            self.report_count(specs.len(), values, format.span);
            return;
        }
        for ((text, wants), value) in specs.iter().zip(values) {
            self.check_stored(text, *wants, value);
        }
    }

    fn check_stored(&mut self, text: &str, wants: Wants, value: &Value<'a>) {
        if self.is_error(value) || value.is_braces() || value.null || self.types.is_error(value.ty)
        {
            return;
        }
        let ty = self.decay(value.ty);
        let pointee = self.types.pointee(ty);
        if pointee.is_some_and(|to| !to.is_const() && self.stores(wants, to)) {
            return;
        }
        let shown = self.show(value.ty);
        let message = format!("`{text}` wants the address of {}, not {shown}", wants.pointee());
        let source = self.source_text(value.span);
        let cure = pointee.and_then(|to| match self.types.basic(to)? {
            Basic::Double => Some("%lf"),
            basic => right_conversion(basic),
        });
        let fits = self.stores(wants, value.ty);
        let found = self.error(Code::W0709, value.span, message);
        match (pointee, cure) {
            (None, _) if value.is_lvalue() && fits => {
                found.suggest("take the address", value.span, format!("&{source}"));
            }
            (Some(to), _) if to.is_const() => {
                found.note("what it points to is `const`");
            }
            (_, Some(right)) => {
                found.help(format!("use `{right}`"));
            }
            _ => {}
        }
    }

    /// Whether a conversion stores such an object.
    fn stores(&mut self, wants: Wants, to: QualType) -> bool {
        match wants {
            Wants::Int(bytes) => {
                let integer = self.types.is_integer(to) || self.types.enum_id(to).is_some();
                integer && !self.types.is_bool(to) && self.types.layout(to).size == bytes
            }
            Wants::Float => self.types.basic(to) == Some(Basic::Float),
            Wants::Double => self.types.basic(to) == Some(Basic::Double),
            Wants::LongDouble => false,
            Wants::Bytes => matches!(
                self.types.basic(to),
                Some(Basic::Char | Basic::SChar | Basic::UChar | Basic::Void)
            ),
            Wants::Pointer => self.types.is_pointer(to),
        }
    }
}
