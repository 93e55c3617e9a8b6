//! `printf` formats against their arguments, and against what a GPU's `printf` knows.
//!
//! The CUDA C++ Programming Guide ("Formatted Output") lists flags `#`, space, `0`, `+` and `-`, a
//! width that may be `*`, a precision in digits, and the sizes `h`, `l` and `ll`. What the host's C
//! library has beyond that spoils the conversion or the arguments after it on a GPU; the CPU device
//! prints it as C does.

use super::ctype::Basic;
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
struct Spec<'t> {
    text: &'t str,
    length: &'t str,
    wants: Wants,
    /// What a GPU's `printf` does not have of it.
    outside: Option<Outside>,
}

/// What the C library has and device `printf` has not.
#[derive(Clone, Copy)]
enum Outside {
    Length,
    /// A precision that is an argument.
    Precision,
    /// The flag `'`.
    Grouping,
}

/// A conversion of a format, as it is written.
pub(super) struct Written<'t> {
    pub text: &'t str,
    /// `scanf`'s `*`.
    pub flags: &'t str,
    width: &'t str,
    precision: &'t str,
    pub length: &'t str,
    pub letter: char,
}

/// The conversions of a format of `printf` or `scanf`; `Err` names what is wrong with it.
pub(super) fn conversions(format: &str, scan: bool) -> Result<Vec<Written<'_>>, String> {
    const NUMBER: &str = "*0123456789";
    let (flags_set, width_set, point, lengths) = match scan {
        true => ("*", &NUMBER[1..], "", "hlLzjtqm"),
        false => ("-+ #0'", NUMBER, ".", "hlLzjtq"),
    };
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let spec = &rest[at..];
        let after = |count: usize, set: &str| {
            let tail = spec.get(count..).unwrap_or_default();
            count + tail.len() - tail.trim_start_matches(|c| set.contains(c)).len()
        };
        let flags = after(1, flags_set);
        let width = after(flags, width_set);
        let dot = after(width, point);
        let precision = if dot > width { after(dot, NUMBER) } else { dot };
        let length = after(precision, lengths);
        let Some(letter) = spec[length..].chars().next() else {
            return Err(format!("`{spec}` at the end has no conversion letter"));
        };
        let mut end = length + letter.len_utf8();
        if scan && letter == '[' {
            // A `]` at the start of the set is a part of it.
            let body = after(end, "^");
            let body = body + usize::from(spec[body..].starts_with(']'));
            let Some(close) = spec[body..].find(']') else {
                return Err(format!("the set `{spec}` has no closing `]`"));
            };
            end = body + close + 1;
        }
        rest = &spec[end..];
        if letter == '%' && (scan || end == 2) {
            continue;
        }
        found.push(Written {
            text: &spec[..end],
            flags: &spec[1..flags],
            width: &spec[flags..width],
            precision: &spec[width..precision],
            length: &spec[precision..length],
            letter,
        });
    }
    Ok(found)
}

/// What a format of `printf` wants; `Err` names what is wrong with it.
fn parse(format: &str, long_bytes: u64, device: bool) -> Result<Vec<Spec<'_>>, String> {
    let mut specs = Vec::new();
    for written in conversions(format, false)? {
        let Written { text, flags, width, precision, length, letter } = written;
        let outside = if !matches!(length, "" | "h" | "l" | "ll") {
            Some(Outside::Length)
        } else if precision.contains('*') {
            Some(Outside::Precision)
        } else {
            flags.contains('\'').then_some(Outside::Grouping)
        };
        for _ in width.matches('*').chain(precision.matches('*')) {
            specs.push(Spec { text: "*", length, wants: Wants::Int(4), outside: None });
        }
        let bytes = match length {
            "" | "h" | "hh" => 4,
            "l" | "z" | "t" => long_bytes,
            "ll" | "j" | "q" => 8,
            "L" => 16,
            _ => return Err(format!("`{text}` has an unknown length")),
        };
        let wants = match letter {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => Wants::Int(bytes),
            'c' => Wants::Int(4),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => Wants::Double,
            's' => Wants::String,
            'p' => Wants::Pointer,
            'n' if !device => Wants::Pointer,
            _ => return Err(format!("`{text}` is no conversion")),
        };
        specs.push(Spec { text, length, wants, outside: outside.filter(|_| device) });
    }
    Ok(specs)
}

/// The conversion for an object that `scanf` stores, or a promoted value that `printf` prints, `double` aside.
pub(super) fn right_conversion(basic: Basic) -> Option<&'static str> {
    Some(match basic {
        Basic::Char => "%c",
        Basic::SChar => "%hhd",
        Basic::UChar => "%hhu",
        Basic::Short => "%hd",
        Basic::UShort => "%hu",
        Basic::Int => "%d",
        Basic::UInt => "%u",
        Basic::Long => "%ld",
        Basic::ULong => "%lu",
        Basic::LongLong => "%lld",
        Basic::ULongLong => "%llu",
        Basic::Float => "%f",
        _ => return None,
    })
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
            if let Some(outside) = spec.outside {
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
        spec: &Spec<'_>,
        outside: Outside,
        value: Option<&Value<'a>>,
        span: Span,
    ) {
        let text = spec.text;
        let (what, cure) = match outside {
            Outside::Length => {
                let known = "a GPU's `printf` knows the lengths `h`, `l` and `ll` only";
                (known, self.known_length(text, spec.length, value))
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

    fn check_conversion(&mut self, spec: &Spec<'_>, value: &Value<'a>) {
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
        let cure = match self.types.basic(ty) {
            Some(Basic::Double) => Some("%f"),
            Some(basic) => right_conversion(basic),
            None => self.types.is_pointer(ty).then_some("%p"),
        };
        let cure = cure.map(|right| format!("use `{right}`"));
        self.error(Code::W0709, value.span, message).help(cure.unwrap_or_default());
    }
}
