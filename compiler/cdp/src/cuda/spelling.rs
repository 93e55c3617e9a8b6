//! Launches that are written with spaces before the last of their brackets (`k << <1, 1>> >()`), as nvcc takes
//! them and clang does not: the same text with the spaces elsewhere. And nvcc's own name in conditions. Nothing else moves,
//! so that places stay what they are.

/// The text with each such launch written as clang takes it; `None` if there is none. Headers are left alone.
pub(super) fn joined(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    let mut at = 0;
    while at < bytes.len() {
        match skipped(&bytes, at) {
            0 => {}
            skipped => {
                at += skipped;
                continue;
            }
        }
        let Some(open) = run_of(&bytes, at, b'<') else {
            at += 1;
            continue;
        };
        // No expression has an operand that begins so: it is a launch.
        if open > 3 {
            put(&mut bytes, at, open, b'<', false);
            changed = true;
        }
        at += open;
        if let Some((close, length)) = close_of(&bytes, at).filter(|(_, length)| *length > 3) {
            put(&mut bytes, close, length, b'>', true);
            changed = true;
        }
    }
    changed.then(|| String::from_utf8(bytes).ok()).flatten()
}

/// What nvcc defines, and what `headers/__cdp_cuda.h` defines: CUDA's headers must not take clang for nvcc.
const NVCC: [&str; 2] = ["__NVCC__", "__CDPC__"];

/// The text of a program's own file with conditions that ask for nvcc asking for us; `None` if there are none.
pub(super) fn for_nvcc(text: &str) -> Option<String> {
    if !text.contains(NVCC[0]) {
        return None;
    }
    let line = |line: &str| {
        let condition = line.trim_start().strip_prefix('#').map(str::trim_start);
        let asks =
            condition.is_some_and(|words| words.starts_with("if") || words.starts_with("elif"));
        if asks { line.replace(NVCC[0], NVCC[1]) } else { line.to_owned() }
    };
    let made: String = text.split_inclusive('\n').map(line).collect();
    (made != text).then_some(made)
}

/// Three brackets and spaces in `length` bytes: the brackets at the beginning or at the end.
fn put(bytes: &mut [u8], at: usize, length: usize, bracket: u8, first: bool) {
    let place = &mut bytes[at..at + length];
    place.fill(b' ');
    let start = if first { 0 } else { length - 3 };
    place[start..start + 3].fill(bracket);
}

/// The bytes from the first to the third of three brackets, with spaces at most before the third.
fn run_of(bytes: &[u8], at: usize, bracket: u8) -> Option<usize> {
    let (mut seen, mut end) = (0, at);
    while seen < 3 {
        match *bytes.get(end)? {
            byte if byte == bracket => seen += 1,
            b' ' | b'\t' if seen == 2 => {}
            _ => return None,
        }
        end += 1;
    }
    Some(end - at)
}

/// Where the brackets of a launch that is open at `at` close, and in how many bytes.
fn close_of(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut depth = 0;
    while at < bytes.len() {
        let over = skipped(bytes, at);
        if over > 0 {
            at += over;
            continue;
        }
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return None,
            b')' | b']' | b'}' => depth -= 1,
            b';' => return None,
            b'>' if depth == 0 => {
                if let Some(length) = run_of(bytes, at, b'>') {
                    let rest = &bytes[at + length..];
                    // The arguments follow; templates of templates close before something else.
                    if rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(') {
                        return Some((at, length));
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a byte may be part of a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where a word stands for itself.
pub(super) fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let is_end =
        move |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_none_or(|b| !is_word(*b));
    let whole =
        move |&(at, _): &(usize, &str)| is_end(at.checked_sub(1)) && is_end(Some(at + word.len()));
    text.match_indices(word).filter(whole).map(|(at, _)| at)
}

/// Bytes of a comment or a literal that begins here; 0 if none does.
pub(super) fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let to = |end: &[u8], from: usize| {
        let found = rest[from..].windows(end.len()).position(|part| part == end);
        found.map_or(rest.len(), |place| from + place + end.len())
    };
    match rest {
        [b'/', b'/', ..] => to(b"\n", 2),
        [b'/', b'*', ..] => to(b"*/", 2),
        [b'R', b'"', ..] => {
            // A raw string ends with its own word.
            let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return 0 };
            let mut end = vec![b')'];
            end.extend_from_slice(&rest[2..open]);
            end.push(b'"');
            to(&end, open)
        }
        [quote @ (b'"' | b'\''), ..] => {
            // A digit separator is no literal.
            if *quote == b'\'' && at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
                return 0;
            }
            let mut length = 1;
            while let Some(byte) = rest.get(length) {
                length += 1;
                match byte {
                    b'\\' => length += 1,
                    b'\n' => break,
                    byte if byte == quote => break,
                    _ => {}
                }
            }
            length.min(rest.len())
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{for_nvcc, joined};

    #[test]
    fn conditions_that_ask_for_nvcc_ask_for_us() {
        let text = "# ifdef __NVCC__\n#elif defined(X) && !defined(__NVCC__)\r\nint a; // __NVCC__\n#if __NVCC__";
        let made = for_nvcc(text).unwrap();
        assert_eq!(
            made,
            "# ifdef __CDPC__\n#elif defined(X) && !defined(__CDPC__)\r\nint a; // __NVCC__\n#if __CDPC__"
        );
        assert_eq!(for_nvcc("int a; // __NVCC__\n#define A __NVCC__\n"), None);
    }

    #[test]
    fn brackets_come_together_where_a_launch_is() {
        let of = |text: &str| joined(text);
        assert_eq!(of("k << <1, 2>> >(a);").unwrap(), "k  <<<1, 2>>> (a);");
        assert_eq!(of("k<< <f(a >> 1), 2>>  > (a)").unwrap(), "k <<<f(a >> 1), 2>>>   (a)");
        assert_eq!(of("k<t<u<v>>> << <g, b>>>(a)").unwrap(), "k<t<u<v>>>  <<<g, b>>>(a)");
        for same in [
            "k<<<1, 2>>>(a);",
            "std::vector<std::vector<std::vector<int> > > v(3);",
            "// k << <1, 1>> >()",
            "\"k << <1, 1>> >()\"",
            "R\"x(k << <1, 1>> >())x\"",
            "a << b; c >> d;",
            "k < <<1, 1>>>();",
            "1'000 << 2",
        ] {
            assert_eq!(of(same), None, "{same}");
        }
    }
}
