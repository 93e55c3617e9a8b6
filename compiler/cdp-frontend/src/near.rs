//! Which of several names was meant by one that does not exist, for cures. Where the names come from is the
//! caller's matter.

use strsim::osa_distance;

use crate::words::{KEYWORDS, Word};

/// Types, and foreign names that probably mean them.
const FOREIGN: &[(&str, &str)] = &[
    ("bool", "boolean BOOL Bool"),
    ("unsigned char", "byte BYTE u8 uint8"),
    ("unsigned short", "u16 uint16 WORD"),
    ("unsigned int", "u32 uint32 DWORD"),
    ("unsigned long long", "u64 uint64"),
    ("signed char", "i8 int8"),
    ("short", "i16 int16"),
    ("int", "i32 int32"),
    ("long long", "i64 int64"),
    ("__half", "float16 fp16 f16 __fp16"),
    ("float", "f32"),
    ("double", "f64"),
    ("const char *", "string"),
];

/// The words of C++'s types.
const WORDS: &str = "void int char float double unsigned short long bool";

/// The candidate within a third of the text's length in edits, the nearest, and of those the first. Nobody
/// misspells a very long name, and comparing two of them would take long.
pub fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (text.len() / 3).clamp(1, 3);
    if !(2..=100).contains(&text.len()) {
        return None;
    }
    names
        .filter(|name| name.len().abs_diff(text.len()) <= limit && !name.is_empty())
        .map(|name| (osa_distance(text, name), name))
        .filter(|(distance, _)| (1..=limit).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// True if one word becomes the other by changing, adding, dropping or swapping one letter.
pub fn is_near(a: &str, b: &str) -> bool {
    a.len().abs_diff(b.len()) <= 1 && osa_distance(a, b) == 1
}

/// The word of CUDA that a misspelled one probably means, with its underscores or without them.
pub fn space(name: &str) -> Option<&'static str> {
    let name = name.trim_matches('_');
    let is_meant = |right: &&str| {
        let right = right.trim_matches('_');
        name == right || is_near(name, right) || right == "global" && name == "kernel"
    };
    let spelled = KEYWORDS.iter().filter(|(_, word, _)| *word == Word::Attribute);
    spelled.flat_map(|(words, ..)| words.split_whitespace()).find(is_meant)
}

/// The type that a misspelled or foreign name probably means, among those of C++ and the given ones.
pub fn nearest_type<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let known = FOREIGN.iter().find(|(_, names)| names.split(' ').any(|other| other == text));
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    known.map(|(right, _)| *right).or_else(|| nearest(text, WORDS.split(' ').chain(names)))
}
