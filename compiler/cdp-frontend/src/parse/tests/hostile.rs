//! Input made to break a compiler: an error, or a tree, in bounded time and memory.

use super::{codes, on_large_stack, parse};
use crate::case_table::assert_table;

/// Parses on a large stack; the codes, each once where it stands several times on end.
fn survives(text: String) -> String {
    on_large_stack(move || {
        let mut found = codes(&text);
        found.dedup();
        found.join(" ")
    })
}

/// `{{text|3}}` is the text three times, a `#` in it the number from 0.
fn repeated(text: &str) -> String {
    let mut out = String::new();
    for part in text.split("{{") {
        let (unit, rest) = part.split_once("}}").unwrap_or(("|0", part));
        let (unit, count) = unit.rsplit_once('|').expect("a text and how often it stands");
        let count: usize = count.parse().expect("a number");
        (0..count).for_each(|at| out.push_str(&unit.replace('#', &at.to_string())));
        out.push_str(rest);
    }
    out
}

#[test]
fn what_is_deep_long_or_large_ends() {
    assert_table(include_str!("hostile.txt"), 36, |text| survives(repeated(text)));
}

#[test]
fn odd_bytes() {
    for (text, wanted) in [
        ("int x;\0int y;", "E0102"),
        ("\u{feff}int x;", ""),
        ("int é = 3, naïve = é + 1; int “x”;", "E0102"),
        ("\x01\x02\x03", "E0102"),
        ("int x;\r\nint y; // c\r\n#define A 1\r\nint z = A;\r\n", ""),
    ] {
        assert_eq!(survives(text.to_owned()), wanted, "{text}");
    }
}

/// The cases of `halves.txt`.
#[test]
fn half_programs() {
    for text in include_str!("halves.txt").lines() {
        let text = text.replace("\\n", "\n");
        for suffix in ["", "\n", " int y;", " }", " ;"] {
            let (_, output) = parse(&format!("{text}{suffix}"));
            drop(output);
        }
    }
}

/// Every prefix of a real program, and the program with each token left out or doubled.
#[test]
fn mutilated_programs() {
    const TEXT: &str = "typedef struct { int a : 3; float b[2]; } S; namespace n { enum class E : int { A, B = 2 }; }\n\
        __constant__ float t[2] = {1.f, [1] = 2}; extern \"C\" __global__ void k(S s, int *p);\n\
        __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y); }\n\
        __global__ void __launch_bounds__(256) f(int *p, int n = 3) { for (int i = 0; i < n; ++i) { if (p[i] > 2) continue; else p[i] = (int)2.5f; }\n\
        switch (n) { case 1: break; default: do n--; while (n); } dim3 g(n, 2); k<<<g, dim3{1}, 0, 0>>>(S{1}, p); asm volatile(\"x\" : \"=r\"(n) :: \"memory\"); }";
    let mut ends: Vec<usize> =
        TEXT.char_indices().map(|(at, _)| at).filter(|at| at % 3 == 0).collect();
    ends.push(TEXT.len());
    for end in ends {
        let (_, output) = parse(&TEXT[..end]);
        drop(output);
    }
    let words: Vec<&str> = TEXT.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for skip in 0..words.len() {
        let without: String =
            words.iter().enumerate().filter(|(at, _)| *at != skip).map(|(_, word)| *word).collect();
        let doubled: String = words
            .iter()
            .enumerate()
            .map(|(at, word)| word.repeat(1 + usize::from(at == skip)))
            .collect();
        drop(parse(&without));
        drop(parse(&doubled));
    }
}
