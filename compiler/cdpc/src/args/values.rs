//! Values of nvcc's options that are several in one word.

use std::ffi::{OsStr, OsString};

use clap_lex::OsStrExt;

/// Words with quotes and backslashes, as in gcc's response files.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut out, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                word.get_or_insert_default().extend(letters.next());
            }
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => out.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    out.extend(word);
    out
}

pub(super) fn list(value: &OsStr) -> Vec<OsString> {
    OsStrExt::split(value, ",").map(OsStr::to_owned).collect()
}

/// The architectures of `arch=compute_90,code=sm_90` and of `arch=compute_90,code=[sm_90,compute_90]`.
pub(super) fn gencode(value: &OsStr) -> Vec<OsString> {
    let text = value.to_string_lossy().replace(['[', ']', '"', '\''], "");
    let mut archs = Vec::new();
    let mut code = Vec::new();
    let mut in_code = false;
    for part in text.split(',') {
        match (part.strip_prefix("arch="), part.strip_prefix("code=")) {
            (Some(arch), _) => archs.push(arch),
            (_, Some(name)) => {
                in_code = true;
                code.push(name);
            }
            _ if in_code => code.push(part),
            _ => archs.push(part),
        }
    }
    let real: Vec<_> = code.iter().copied().filter(|name| name.starts_with("sm_")).collect();
    let chosen = match (real.is_empty(), code.is_empty()) {
        (false, _) => real,
        (true, false) => code,
        (true, true) => archs,
    };
    chosen.iter().map(|name| name.replace("compute_", "sm_").into()).collect()
}
