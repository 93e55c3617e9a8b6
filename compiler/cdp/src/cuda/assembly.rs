//! Registers with one percent sign in inline assembly with operands (`asm("mov.u32 %0, %laneid;" : "=r"(x))`), as
//! nvcc takes them and clang does not: the same text with two. The space before goes where there is one, so that
//! most places stay what they are. Not a reader of assembly: letters after `%` that are no operand are a register.

use super::spelling::skipped;

/// The text with each such register written as clang takes it; `None` if there is none.
pub(super) fn doubled(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut kept, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let over = skipped(bytes, at);
        if over > 0 {
            at += over;
            continue;
        }
        let word = word_at(bytes, at);
        if word.is_empty() {
            at += 1;
            continue;
        }
        at += word.len();
        if !matches!(word, b"asm" | b"__asm__" | b"__asm") {
            continue;
        }
        let Some((start, end)) = template(bytes, at) else { continue };
        for sign in single_signs(&bytes[start..end]) {
            let sign = start + sign;
            let space = usize::from(matches!(bytes[sign - 1], b' ' | b'\t'));
            out.extend_from_slice(&bytes[kept..sign - space]);
            out.push(b'%');
            kept = sign;
        }
        at = end;
    }
    if kept == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[kept..]);
    String::from_utf8(out).ok()
}

/// The letters, digits and underscores that begin here.
fn word_at(bytes: &[u8], at: usize) -> &[u8] {
    let end = bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    &bytes[at..end.map_or(bytes.len(), |end| at + end)]
}

/// From the parenthesis behind `asm` to the colon before its operands; `None` if it has none, for then a percent
/// sign is one.
fn template(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut start = None;
    while at < bytes.len() {
        let over = skipped(bytes, at);
        if over > 0 {
            at += over;
            continue;
        }
        match (bytes[at], start) {
            (b'(', None) => start = Some(at),
            (b':', Some(start)) => return Some((start, at)),
            (byte, None) if byte.is_ascii_whitespace() => {}
            (byte, None) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let word = word_at(bytes, at);
                if !matches!(word, b"volatile" | b"__volatile__" | b"__volatile") {
                    return None;
                }
                at += word.len() - 1;
            }
            // A macro may hold operands: what it says is not known here.
            (b')' | b';' | b'{' | b'}', _) | (_, None) => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where `%` stands alone before a name: an operand has a digit, or one letter and a digit or a bracket, behind it.
fn single_signs(template: &[u8]) -> Vec<usize> {
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
    let is_name = |at: usize| template.get(at).is_some_and(begins);
    let is_operand =
        |at: usize| template.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'[');
    let mut signs = Vec::new();
    let mut at = 0;
    while at < template.len() {
        if template[at] != b'%' {
            at += 1;
        } else if template.get(at + 1) == Some(&b'%') {
            at += 2;
        } else {
            if is_name(at + 1) && !is_operand(at + 2) {
                signs.push(at);
            }
            at += 1;
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::doubled;

    #[test]
    fn registers_get_their_second_sign() {
        let of = |text: &str| doubled(text);
        assert_eq!(
            of(r#"asm("mov.u32 %0, %laneid;" : "=r"(x));"#).unwrap(),
            r#"asm("mov.u32 %0,%%laneid;" : "=r"(x));"#
        );
        assert_eq!(
            of(r#"int é; asm volatile ("mov.u64 %0,%globaltimer;" "\n" "mov.u32 %1, %tid.x;" :: "l"(t), "r"(u));"#).unwrap(),
            r#"int é; asm volatile ("mov.u64 %0,%%globaltimer;" "\n" "mov.u32 %1,%%tid.x;" :: "l"(t), "r"(u));"#
        );
        assert_eq!(
            of("asm(R\"(mov.u32 %0, %smid;)\" : \"=r\"(x));").unwrap(),
            "asm(R\"(mov.u32 %0,%%smid;)\" : \"=r\"(x));"
        );
        // Registers of the program's own.
        assert_eq!(
            of(r#"asm("@%p sub.u32 %0, %0, %1;" : "+r"(x) : "r"(y)); asm("setp.eq.u32 %p, %[of], 0;" :: [of] "r"(x));"#)
                .unwrap(),
            r#"asm("@%%p sub.u32 %0, %0, %1;" : "+r"(x) : "r"(y)); asm("setp.eq.u32%%p, %[of], 0;" :: [of] "r"(x));"#
        );
        for same in [
            r#"asm("mov.u32 %0, %%laneid;" : "=r"(x));"#,
            // Without operands a sign is a sign.
            r#"asm("{ .reg .u32 a; mov.u32 a, %laneid; }");"#,
            r#"asm("add.u32 %0, %1, %r2;" : "=r"(x) : "r"(y), "r"(z));"#,
            r#"printf("%lanes %d", n ? 1 : 2);"#,
            r#"// asm("mov.u32 %0, %laneid;" : "=r"(x));"#,
            r#"int asm_count = a % bb; f(x ? "%laneid" : "");"#,
            "asm",
            "asm(",
        ] {
            assert_eq!(of(same), None, "{same}");
        }
    }
}
