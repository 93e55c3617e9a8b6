//! Input made to break a compiler: an error, or a tree, in bounded time and memory.

use super::{codes, on_large_stack, parse};

/// Parses on a large stack; the codes must be exactly these, or none.
fn survives(text: String, expected: &'static [&'static str]) {
    on_large_stack(move || {
        let mut found = codes(&text);
        found.dedup();
        assert_eq!(found, expected, "{} bytes", text.len());
    });
}

#[test]
fn deep_brackets() {
    for (open, close) in [("(", ")"), ("f(", ")"), ("a[", "]"), ("-(", ")")] {
        survives(
            format!("int x = {}1{};", open.repeat(100_000), close.repeat(100_000)),
            &["E0205"],
        );
    }
    survives(format!("int x[] = {}1{};", "{".repeat(100_000), "}".repeat(100_000)), &["E0205"]);
    survives(format!("void f() {}{}", "{".repeat(100_000), "}".repeat(100_000)), &["E0205"]);
    survives(format!("int x = {}1{};", "(".repeat(200), ")".repeat(200)), &[]);
    survives(format!("int x = {};", "(".repeat(100_000)), &["E0205"]);
}

#[test]
fn long_chains() {
    survives(format!("int x = 1{};", " + 1".repeat(4_000)), &[]);
    survives(format!("int x = 1{};", " + 1".repeat(100_000)), &["E0205"]);
    survives(format!("int x = {}1;", "-".repeat(4_000).replace("--", "- ")), &[]);
    for unit in ["- ", "!", "~", "*", "(int)", "sizeof "] {
        survives(format!("int x = {}1;", unit.repeat(100_000)), &["E0205"]);
    }
    survives(format!("int x = a{};", ".b".repeat(100_000)), &["E0205"]);
    survives(format!("int x = a{};", "[0]".repeat(100_000)), &["E0205"]);
    survives(format!("int x = a{};", "()".repeat(100_000)), &["E0205"]);
    survives(format!("int x = {}1;", "a ? b : ".repeat(100_000)), &["E0205"]);
    survives(format!("int x = {}1;", "a = ".repeat(100_000)), &["E0205"]);
    survives(format!("void f() {{ a{}; }}", ", a".repeat(100_000)), &["E0205"]);
}

#[test]
fn long_statements() {
    survives(format!("void f() {{ {} x; }}", "if (a) ".repeat(100_000)), &["E0205"]);
    survives(format!("void f() {{ {} x; }}", "if (a) y; else ".repeat(100_000)), &["E0205"]);
    survives(format!("void f() {{ {} x; }}", "while (a) ".repeat(100_000)), &["E0205"]);
    survives(format!("void f() {{ switch (a) {{ {} x; }} }}", "case 1: ".repeat(100_000)), &[]);
    survives(format!("void f() {{ {} }}", "x; ".repeat(100_000)), &[]);
    survives(format!("int {}p;", "*".repeat(100_000)), &["E0205"]);
    survives(format!("int a{};", "[1]".repeat(100_000)), &["E0205"]);
    survives(
        format!("int {};", (0..50_000).map(|n| format!("v{n}")).collect::<Vec<_>>().join(", ")),
        &[],
    );
}

#[test]
fn large_tokens() {
    survives(format!("int {};", "x".repeat(4 << 20)), &[]);
    survives(format!("const char *s = \"{}\";", "x".repeat(4 << 20)), &[]);
    survives(format!("int x = {};", "1".repeat(4 << 20)), &["E0104"]);
    survives(format!("double x = 0.{};", "1".repeat(1 << 20)), &[]);
    survives(format!("double x = 0x{}p-5;", "1".repeat(1 << 20)), &[]);
    survives(format!("/*{}*/ int x;", "*".repeat(4 << 20)), &[]);
    survives(format!("int x = '{}';", "a".repeat(1 << 20)), &["E0105"]);
}

#[test]
fn odd_bytes() {
    survives("int x;\0int y;".to_owned(), &["E0102"]);
    survives("\u{feff}int x;".to_owned(), &[]);
    survives("int é = 3, naïve = é + 1; int “x”;".to_owned(), &["E0102"]);
    survives("\x01\x02\x03".to_owned(), &["E0102"]);
    survives("int x;\r\nint y; // c\r\n#define A 1\r\nint z = A;\r\n".to_owned(), &[]);
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
