//! C's `printf` formatting, as the CUDA driver does it on the host for device output.
//!
//! The text and the argument values come through a [`Source`]; nothing here knows about device
//! memory. Source: ISO C 7.21.6.1; CUDA Programming Guide, "Formatted Output". Lengths and precisions
//! that C has and the guide has not (`%zu`, `%hhd`, `%.*f`) print what C says: a GPU prints garbage for
//! them, which nobody can rely on, and the compiler warns of them (W0709).

/// Where the format and the arguments come from.
pub trait Source {
    /// What goes wrong when reading.
    type Error;
    /// The next argument of this many bytes (4 or 8), naturally aligned in the argument buffer.
    fn argument(&mut self, bytes: u32) -> Result<u64, Self::Error>;
    /// The C string at a device address; `None` for NULL.
    fn string(&mut self, address: u64) -> Result<Option<Vec<u8>>, Self::Error>;
}

/// A parsed conversion specification.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer argument: 1, 2, 4 or 8.
    bytes: u32,
}

/// Most arguments that device `printf` takes besides the format.
const MAX_ARGUMENTS: u32 = 32;
/// Widths and precisions beyond this are cut, so that a program cannot exhaust the host's memory.
const MAX_WIDTH: usize = 4096;

/// Formats. The second value is the number of arguments used.
pub fn format<S: Source>(format: &[u8], source: &mut S) -> Result<(Vec<u8>, u32), S::Error> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut used = 0;
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        if byte != b'%' {
            out.push(byte);
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let mut counter = Counted { source, used: &mut used };
        let spec = parse(format, &mut at, &mut counter)?;
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        if conversion == b'%' && at == start + 2 {
            out.push(b'%');
            continue;
        }
        if *counter.used >= MAX_ARGUMENTS || !convert(conversion, spec, &mut counter, &mut out)? {
            // Unknown conversions are printed as they are.
            out.extend_from_slice(&format[start..at]);
        }
    }
    Ok((out, used))
}

struct Counted<'a, S: Source> {
    source: &'a mut S,
    used: &'a mut u32,
}

impl<S: Source> Counted<'_, S> {
    fn take(&mut self, bytes: u32) -> Result<u64, S::Error> {
        *self.used += 1;
        self.source.argument(bytes)
    }
}

fn parse<S: Source>(
    format: &[u8],
    at: &mut usize,
    args: &mut Counted<'_, S>,
) -> Result<Spec, S::Error> {
    let mut spec = Spec { bytes: 4, ..Spec::default() };
    while let Some(&flag) = format.get(*at) {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        *at += 1;
    }
    if format.get(*at) == Some(&b'*') {
        *at += 1;
        let width = args.take(4)? as u32 as i32;
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
    } else {
        spec.width = number(format, at);
    }
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        spec.precision = if format.get(*at) == Some(&b'*') {
            *at += 1;
            let precision = args.take(4)? as u32 as i32;
            usize::try_from(precision).ok().map(|p| p.min(MAX_WIDTH))
        } else {
            Some(number(format, at))
        };
    }
    loop {
        match (format.get(*at), format.get(*at + 1)) {
            (Some(b'h'), Some(b'h')) => {
                spec.bytes = 1;
                *at += 2;
            }
            (Some(b'h'), _) => {
                spec.bytes = 2;
                *at += 1;
            }
            (Some(b'l' | b'j' | b'z' | b't' | b'L' | b'q'), _) => {
                spec.bytes = 8;
                *at += 1;
            }
            _ => return Ok(spec),
        }
    }
}

fn number(format: &[u8], at: &mut usize) -> usize {
    let mut value = 0usize;
    while let Some(digit) = format.get(*at).filter(|b| b.is_ascii_digit()) {
        value = (value * 10 + usize::from(digit - b'0')).min(MAX_WIDTH);
        *at += 1;
    }
    value
}

/// Formats one conversion; false if the letter is not one.
fn convert<S: Source>(
    letter: u8,
    spec: Spec,
    args: &mut Counted<'_, S>,
    out: &mut Vec<u8>,
) -> Result<bool, S::Error> {
    match letter {
        b'd' | b'i' => {
            let raw = args.take(spec.bytes.max(4))?;
            let value = match spec.bytes {
                1 => i64::from(raw as i8),
                2 => i64::from(raw as i16),
                4 => i64::from(raw as i32),
                _ => raw as i64,
            };
            let sign = sign_text(value < 0, spec);
            integer(out, spec, sign, "", value.unsigned_abs().to_string());
        }
        b'u' | b'o' | b'x' | b'X' => {
            let raw = args.take(spec.bytes.max(4))?;
            let value = match spec.bytes {
                1 => raw & 0xff,
                2 => raw & 0xffff,
                4 => raw & 0xffff_ffff,
                _ => raw,
            };
            unsigned(out, spec, letter, value);
        }
        b'c' => {
            let value = args.take(4)? as u8;
            pad(out, spec, vec![value]);
        }
        b's' => {
            let address = args.take(8)?;
            let mut text = args.source.string(address)?.unwrap_or_else(|| b"(null)".to_vec());
            if let Some(precision) = spec.precision {
                text.truncate(precision);
            }
            pad(out, spec, text);
        }
        b'p' => {
            let address = args.take(8)?;
            let text = if address == 0 { "(nil)".to_string() } else { format!("{address:#x}") };
            pad(out, spec, text.into_bytes());
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(args.take(8)?);
            float(out, spec, letter, value);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn sign_text(negative: bool, spec: Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn unsigned(out: &mut Vec<u8>, spec: Spec, letter: u8, value: u64) {
    let mut digits = match letter {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let mut prefix = "";
    if spec.alternate {
        match letter {
            b'x' if value != 0 => prefix = "0x",
            b'X' if value != 0 => prefix = "0X",
            b'o' if !digits.starts_with('0')
                && spec.precision.is_none_or(|p| p <= digits.len()) =>
            {
                digits.insert(0, '0');
            }
            _ => {}
        }
    }
    integer(out, spec, "", prefix, digits);
}

fn integer(out: &mut Vec<u8>, spec: Spec, sign: &str, prefix: &str, digits: String) {
    let digits = if digits == "0" && spec.precision == Some(0) { String::new() } else { digits };
    let mut zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    let length = sign.len() + prefix.len() + digits.len();
    if spec.zero && !spec.left && spec.precision.is_none() {
        zeros = spec.width.saturating_sub(length);
    }
    let text = format!("{sign}{prefix}{}{digits}", "0".repeat(zeros));
    pad(out, spec, text.into_bytes());
}

fn pad(out: &mut Vec<u8>, spec: Spec, text: Vec<u8>) {
    let fill = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
    out.extend_from_slice(&text);
    if spec.left {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
}

fn float(out: &mut Vec<u8>, spec: Spec, letter: u8, value: f64) {
    let sign = sign_text(value.is_sign_negative(), spec);
    let magnitude = value.abs();
    let upper = letter.is_ascii_uppercase();
    let body = if value.is_nan() {
        "nan".to_string()
    } else if value.is_infinite() {
        "inf".to_string()
    } else {
        match letter.to_ascii_lowercase() {
            b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            b'e' => exponential(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            b'g' => general(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            _ => hexadecimal(magnitude, spec.precision, spec.alternate),
        }
    };
    let body = if upper { body.to_ascii_uppercase() } else { body };
    let mut text = format!("{sign}{body}");
    if spec.zero && !spec.left && value.is_finite() {
        let fill = "0".repeat(spec.width.saturating_sub(text.len()));
        // Zeros go behind the sign and the 0x.
        let at = sign.len() + if letter.eq_ignore_ascii_case(&b'a') { 2 } else { 0 };
        text.insert_str(at, &fill);
    }
    pad(out, spec, text.into_bytes());
}

fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

fn exponential(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if alternate && precision == 0 { "." } else { "" };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let probe = format!("{value:.*e}", precision - 1);
    let exponent: i32 = probe.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: String| {
        if alternate || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = exponential(value, precision - 1, alternate);
        let (mantissa, tail) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{tail}", trim(mantissa.to_string()));
    }
    trim(fixed(value, (precision as i32 - 1 - exponent) as usize, alternate))
}

fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    let bits = value.to_bits();
    let mut fraction = bits & ((1 << 52) - 1);
    let raw = (bits >> 52) as i32;
    let (mut lead, exponent) = match (raw, fraction) {
        (0, 0) => (0u64, 0),
        (0, _) => (0, -1022),
        _ => (1, raw - 1023),
    };
    let digits = match precision {
        Some(p) if p < 13 => {
            let drop = 4 * (13 - p as u32);
            let full = lead << 52 | fraction;
            let (kept, rest, half) = (full >> drop, full & ((1 << drop) - 1), 1u64 << (drop - 1));
            let kept = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
            let rounded = kept << drop;
            lead = rounded >> 52;
            fraction = rounded & ((1 << 52) - 1);
            format!("{fraction:013x}")[..p].to_string()
        }
        Some(p) => format!("{fraction:013x}{}", "0".repeat(p - 13)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_string(),
    };
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("0x{lead}{point}{digits}p{sign}{}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake(Vec<u64>);
    impl Source for Fake {
        type Error = ();
        fn argument(&mut self, _: u32) -> Result<u64, ()> {
            Ok(if self.0.is_empty() { 0 } else { self.0.remove(0) })
        }
        fn string(&mut self, address: u64) -> Result<Option<Vec<u8>>, ()> {
            Ok((address != 0).then(|| b"text".to_vec()))
        }
    }

    fn run(pattern: &str, args: &[u64]) -> String {
        let (out, _) = format(pattern.as_bytes(), &mut Fake(args.to_vec())).unwrap();
        String::from_utf8(out).unwrap()
    }
    fn float(pattern: &str, value: f64) -> String {
        run(pattern, &[value.to_bits()])
    }

    #[test]
    fn integers() {
        assert_eq!(
            run("%d|%5d|%-5d|%05d|%+d", &[0xffff_fffd, 42, 42, 42, 7]),
            "-3|   42|42   |00042|+7"
        );
        assert_eq!(
            run("%u %x %X %#x %o %#o", &[4294967295, 255, 255, 255, 8, 8]),
            "4294967295 ff FF 0xff 10 010"
        );
        assert_eq!(
            run("%lld %llu %zu %hhd %hd", &[u64::MAX, u64::MAX, 5, 0x1ff, 0x1ffff]),
            "-1 18446744073709551615 5 -1 -1"
        );
        assert_eq!(run("%.3d|%8.3d|%-8.3d|%.0d|", &[5, 5, 5, 0]), "005|     005|005     ||");
        assert_eq!(run("%*d|%-*d|%.*f", &[4, 7, 4, 7, 1, 2.55f64.to_bits()]), "   7|7   |2.5");
        assert_eq!(run("% d %c%c %%", &[3, 104, 105]), " 3 hi %");
        assert_eq!(run("%s|%6s|%-6s|%.2s|%s", &[1, 1, 1, 1, 0]), "text|  text|text  |te|(null)");
        assert_eq!(run("%p %p", &[0, 0x1000]), "(nil) 0x1000");
    }

    #[test]
    fn floats() {
        assert_eq!(float("%f", 1.23456789), "1.234568");
        assert_eq!(float("%.0f", 2.5), "2");
        assert_eq!(float("%10.3f|", -1.5), "    -1.500|");
        assert_eq!(float("%010.3f", -1.5), "-00001.500");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.0e", 0.00015), "1e-04");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%g", 1000000.0), "1e+06");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 0.00001), "1e-05");
        assert_eq!(float("%g", 0.1), "0.1");
        assert_eq!(float("%#g", 1.0), "1.00000");
        assert_eq!(float("%a", 1.0), "0x1p+0");
        assert_eq!(float("%a", 0.5), "0x1p-1");
        assert_eq!(float("%.2a", 1.999), "0x2.00p+0");
        assert_eq!(float("%a", 3.0), "0x1.8p+1");
        assert_eq!(float("%f %f", f64::INFINITY), "inf 0.000000");
        assert_eq!(float("%F", f64::NEG_INFINITY), "-INF");
        assert_eq!(float("%08f", f64::NAN), "     nan");
    }

    #[test]
    fn odd_formats_do_no_harm() {
        assert_eq!(run("100%", &[]), "100%");
        assert_eq!(run("%y", &[]), "%y");
        assert_eq!(run("%99999999999d", &[1]).len(), MAX_WIDTH);
    }
}
