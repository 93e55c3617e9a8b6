//! Bytes of files that are no UTF-8, as text: old files have them in comments and strings. Each such byte
//! becomes a character of its own at the end of the last private-use plane; a character there that a file
//! really holds is taken apart into such bytes, so that nothing is lost.

/// The character of byte 0; those of 0x80 to 0xff are used.
const BASE: u32 = 0x10_ff00;
/// Bytes of such a character as UTF-8.
pub const LENGTH: u32 = 4;

/// The byte that a character stands for, if it stands for one.
pub fn byte(character: char) -> Option<u8> {
    let byte = (character as u32).checked_sub(BASE)?;
    (0x80..=0xff).contains(&byte).then_some(byte as u8)
}

fn push(out: &mut String, byte: u8) {
    out.extend(char::from_u32(BASE + u32::from(byte)));
}

/// A file's bytes as text.
pub fn text(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        // Only these characters begin so.
        Ok(text) if !text.as_bytes().contains(&0xf4) => return text,
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut out = String::with_capacity(bytes.len() + 64);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte(character) {
                Some(_) => {
                    let mut buffer = [0; 4];
                    character.encode_utf8(&mut buffer).bytes().for_each(|b| push(&mut out, b));
                }
                None => out.push(character),
            }
        }
        chunk.invalid().iter().for_each(|byte| push(&mut out, *byte));
    }
    out
}

/// Text for people, in which such a byte is shown as what it is: no character.
pub fn shown(text: String) -> String {
    if !text.as_bytes().contains(&0xf4) {
        return text;
    }
    text.chars().map(|c| if byte(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for character in text.chars() {
            match byte(character) {
                Some(byte) => out.push(byte),
                None => out.extend(character.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        out
    }

    #[test]
    fn nothing_is_lost() {
        let private = "a\u{10ffe9}b\u{10ff7f}\u{10ffff}".as_bytes();
        for bytes in [b"caf\xe9 \xff\x80".as_slice(), "é\u{1f600}".as_bytes(), private, b"\xf4\x8f"]
        {
            assert_eq!(bytes_of(&text(bytes.to_vec())), bytes);
        }
        assert_eq!(shown(text(b"caf\xe9".to_vec())), "caf\u{fffd}");
    }
}
