//! `printf` formats against their arguments, and against what a GPU's `printf` knows.
//!
//! The CUDA C++ Programming Guide ("Formatted Output") lists flags `#`, space, `0`, `+` and `-`, a
//! width that may be `*`, a precision in digits, and the sizes `h`, `l` and `ll`. What the host's C
//! library has beyond that spoils the conversion or the arguments after it on a GPU; the CPU device
//! prints it as C does.

use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::Value;
use crate::diagnostics::Code;
use crate::diagnostics::render::counted;
use crate::source::Span;

/// What a conversion wants, after C's default argument promotions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// An integer of so many bytes.
    Int(u64),
    Double,
    String,
    Pointer,
}

/// One conversion of a format.
struct Spec {
    text: String,
    wants: Wants,
    /// What a GPU's `printf` does not have of it.
    outside: Option<Outside>,
}

/// What the C library has and device `printf` has not.
enum Outside {
    /// The length at this place of the conversion.
    Length { start: usize, end: usize },
    /// A precision that is an argument.
    Precision,
    /// The flag `'`.
    Grouping,
}

/// A format taken apart; `Err` names what is wrong with it.
fn parse(format: &str, long_bytes: u64, device: bool) -> Result<Vec<Spec>, String> {
    let mut specs = Vec::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let mut text = String::from("%");
        if chars.peek() == Some(&'%') {
            chars.next();
            continue;
        }
        let mut take = |text: &mut String, set: &str| {
            while let Some(&c) = chars.peek()
                && set.contains(c)
            {
                text.push(c);
                chars.next();
            }
        };
        take(&mut text, "-+ #0'");
        let mut outside = text.contains('\'').then_some(Outside::Grouping);
        let mut stars = 0;
        for part in 0..2 {
            if part == 1 {
                let before = text.len();
                take(&mut text, ".");
                if text.len() == before {
                    break;
                }
            }
            let before = text.len();
            take(&mut text, "*");
            stars += text.len() - before;
            if part == 1 && text.len() > before {
                outside = Some(Outside::Precision);
            }
            take(&mut text, "0123456789");
        }
        let start = text.len();
        take(&mut text, "hlLzjtq");
        let length = text[start..].to_owned();
        for _ in 0..stars {
            specs.push(Spec { text: "*".into(), wants: Wants::Int(4), outside: None });
        }
        if !matches!(length.as_str(), "" | "h" | "l" | "ll") {
            outside = Some(Outside::Length { start, end: text.len() });
        }
        let Some(conversion) = chars.next() else {
            return Err(format!("`{text}` at the end has no conversion letter"));
        };
        text.push(conversion);
        let bytes = match length.as_str() {
            "" | "h" | "hh" => 4,
            "l" | "z" | "t" => long_bytes,
            "ll" | "j" | "q" => 8,
            "L" => 16,
            _ => return Err(format!("`{text}` has an unknown length")),
        };
        let wants = match conversion {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => Wants::Int(bytes),
            'c' => Wants::Int(4),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => Wants::Double,
            's' => Wants::String,
            'p' => Wants::Pointer,
            'n' if !device => Wants::Pointer,
            _ => return Err(format!("`{text}` is no conversion")),
        };
        specs.push(Spec { text, wants, outside: outside.filter(|_| device) });
    }
    Ok(specs)
}

impl<'a> Checker<'a> {
    /// Checks the arguments after `at`, where the format stands.
    pub fn check_printf(&mut self, args: &[Value<'a>], at: usize) {
        let Some(format) = args.get(at) else { return };
        let Some(literal) = format.string else { return };
        // One that the line cut off has had its report, and took the arguments along.
        let written = self.session.sources.text(format.span);
        if written.starts_with('"') && !written[1..].ends_with('"') {
            return;
        }
        let text = literal.to_text();
        let long_bytes = self.types.pointer_bytes();
        let specs = match parse(&text, long_bytes, self.on_device()) {
            Ok(specs) => specs,
            Err(message) => {
                self.error(Code::W0709, format.span, message);
                return;
            }
        };
        let values = &args[at + 1..];
        for (index, spec) in specs.iter().enumerate() {
            if let Some(outside) = &spec.outside {
                self.report_outside(spec, outside, values.get(index), format.span);
            }
        }
        if self.on_device() && values.len() > 32 {
            let message = "`printf` in device code takes at most 32 arguments after the format";
            self.error(Code::W0709, values[32].span, message);
        }
        if specs.len() != values.len() {
            self.report_count(specs.len(), values, format.span);
            return;
        }
        for (spec, value) in specs.iter().zip(values).filter(|(spec, _)| spec.outside.is_none()) {
            self.check_conversion(spec, value);
        }
    }

    /// Another number of arguments than the format at `format` has conversions.
    pub(super) fn report_count(&mut self, specs: usize, values: &[Value<'a>], format: Span) {
        let (wanted, given) = (counted(specs, "conversion"), counted(values.len(), "argument"));
        let verb = if values.len() == 1 { "follows" } else { "follow" };
        let message = format!("the format has {wanted}, but {given} {verb} it");
        let place = values.get(specs).map_or(format, |extra| extra.span);
        self.error(Code::W0709, place, message);
    }

    /// A conversion that only the host's `printf` has, and what to write for a GPU.
    fn report_outside(
        &mut self,
        spec: &Spec,
        outside: &Outside,
        value: Option<&Value<'a>>,
        span: Span,
    ) {
        let text = &spec.text;
        let (what, cure) = match outside {
            Outside::Length { start, end } => {
                let known = "a GPU's `printf` knows the lengths `h`, `l` and `ll` only";
                (known, self.known_length(text, &text[*start..*end], value))
            }
            Outside::Precision => {
                let known = "a GPU's `printf` does not take a precision from the arguments";
                (known, "write the precision in digits, as in `%.3f`".to_owned())
            }
            Outside::Grouping => {
                let cure = format!("use `{}`", text.replace('\'', ""));
                ("a GPU's `printf` does not group digits", cure)
            }
        };
        let message = format!("`{text}` is for the host: {what}");
        self.error(Code::W0709, span, message)
            .note("on a GPU it spoils this value or those that are printed after it")
            .help(cure);
    }

    /// The conversion with a length that device `printf` has, for the argument that is there.
    fn known_length(&mut self, text: &str, length: &str, value: Option<&Value<'a>>) -> String {
        let promoted = value.map(|value| {
            let ty = self.decay(value.ty);
            self.promoted_type(ty)
        });
        let right = match promoted.and_then(|ty| self.types.basic(ty)) {
            Some(Basic::Int | Basic::UInt | Basic::Float | Basic::Double) => "",
            Some(Basic::LongLong | Basic::ULongLong) => "ll",
            Some(Basic::Long | Basic::ULong) => "l",
            _ if matches!(length, "hh" | "L") => "",
            _ if length == "q" => "ll",
            _ => "l",
        };
        let letter = &text[text.len() - 1..];
        let head = &text[..text.len() - 1 - length.len()];
        let mut cure = format!("use `{head}{right}{letter}`");
        let bytes = value.map(|value| self.types.layout(value.ty).size);
        if length == "hh" && "diuoxX".contains(letter) && bytes != Some(1) {
            let byte = if "di".contains(letter) { "signed char" } else { "unsigned char" };
            cure.push_str(&format!(" and cast the argument to `{byte}`"));
        }
        cure
    }

    fn check_conversion(&mut self, spec: &Spec, value: &Value<'a>) {
        if self.is_error(value) || value.is_braces() || self.types.is_error(value.ty) {
            return;
        }
        let ty = self.decay(value.ty);
        let ty = self.promoted_type(ty);
        let fits = match spec.wants {
            Wants::Int(bytes) => {
                let integer = self.types.is_integer(ty) || self.types.enum_id(ty).is_some();
                integer && self.types.layout(ty).size.max(4) == bytes
            }
            Wants::Double => self.types.is_floating(ty),
            Wants::String => self.types.pointee(ty).is_some_and(|to| {
                matches!(
                    self.types.basic(to),
                    Some(Basic::Char | Basic::SChar | Basic::UChar | Basic::WChar)
                )
            }),
            Wants::Pointer => self.types.is_pointer(ty) || self.types.is_nullptr(ty),
        };
        if fits {
            return;
        }
        let message =
            format!("`{}` does not fit an argument of type {}", spec.text, self.show(value.ty));
        let cure = self.right_conversion(ty).map(|right| format!("use `{right}`"));
        self.error(Code::W0709, value.span, message).help(cure.unwrap_or_default());
    }

    /// The conversion for a promoted type.
    fn right_conversion(&self, ty: QualType) -> Option<&'static str> {
        Some(match self.types.basic(ty) {
            Some(Basic::Int) => "%d",
            Some(Basic::UInt) => "%u",
            Some(Basic::Long) => "%ld",
            Some(Basic::ULong) => "%lu",
            Some(Basic::LongLong) => "%lld",
            Some(Basic::ULongLong) => "%llu",
            Some(Basic::Float | Basic::Double) => "%f",
            _ if self.types.is_pointer(ty) => "%p",
            _ => return None,
        })
    }
}
