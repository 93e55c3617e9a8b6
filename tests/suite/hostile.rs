//! Hostile input: an error in bounded time and memory, never a crash.

use std::fmt::Write;
use std::time::{Duration, Instant};

use cdp::{Arch, CompileOptions, Pass, SourceInput, analyse};
use libtest_mimic::Trial;

use crate::support::{Outcome, trial};

/// Far above what any of them takes, far below what would be a hang.
const LIMIT: Duration = Duration::from_secs(60);

pub fn trials() -> Vec<Trial> {
    let inputs: Vec<(&str, fn() -> Vec<u8>)> = vec![
        ("nested_parentheses", || nested("int x = ", "(", "1", ")", ";")),
        ("nested_blocks", || nested("void f() ", "{", "", "}", "")),
        ("nested_structs", || nested("", "struct { ", "int x; ", "} y;", "")),
        ("nested_initialisers", || nested("int x[] = ", "{", "1", "}", ";")),
        ("nested_unary", || [b"int x = ".as_slice(), &b"-".repeat(200_000), b"1;"].concat()),
        ("nested_pointers", || [b"int ".as_slice(), &b"*".repeat(200_000), b"x;"].concat()),
        ("nested_else", || {
            format!("void f(int a) {{ {} ; }}", "if (a) ; else ".repeat(100_000)).into()
        }),
        ("nested_conditionals", || "#if 1\n".repeat(100_000).into()),
        ("long_sum", || format!("int x = 1{};", " + 1".repeat(200_000)).into()),
        ("long_comma", || format!("void f() {{ 1{}; }}", ", 1".repeat(200_000)).into()),
        ("long_identifier", || format!("int {};", "a".repeat(4_000_000)).into()),
        ("long_number", || format!("int x = {};", "9".repeat(4_000_000)).into()),
        ("long_string", || format!("const char *x = \"{}\";", "a".repeat(4_000_000)).into()),
        ("invalid_utf8", || b"int x\xff\xfe = 1;\nint \xc0\xaf;".to_vec()),
        ("nul_bytes", || b"int x\0y = 1;\0\0\0".to_vec()),
        ("binary", || {
            (0..60_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
        }),
        ("macro_bomb", macro_bomb),
        ("macro_recursion", || b"#define f(x) f(f(x))\nint x = f(f(f(f(f(1)))));".to_vec()),
        ("unterminated_comment", || format!("/*{}", "*".repeat(1_000_000)).into()),
        ("unterminated_string", || format!("const char *x = \"{}", "a".repeat(1_000_000)).into()),
        ("unterminated_macro_call", || {
            format!("#define f(x) x\nint y = f({}", "(".repeat(100_000)).into()
        }),
        ("open_braces", || "void f() { if (1) {".repeat(50_000).into()),
        ("close_braces", || "}".repeat(500_000).into()),
        ("close_braces_behind", || {
            format!("{}{}", "void f() {\n  int x;\n}\n".repeat(5_000), "    }\n".repeat(20_000))
                .into()
        }),
        ("open_head", || format!("void f() {{ if ({}\n}}", ";".repeat(200_000)).into()),
        ("nested_lists", || {
            let text = "int f(const int &x); int g(int x); int g(double x); int x = ";
            format!("{text}{}1{};", "f({g({".repeat(60), "})})".repeat(60)).into()
        }),
        ("labels_past_variables", || {
            let variables: String = (0..8_000).map(|n| format!("int v{n} = {n}; ")).collect();
            let labels: String = (0..8_000).map(|n| format!("case {n}: v{n}++; ")).collect();
            format!("void f(int n) {{ {variables} switch (n) {{ {labels} }} }}").into()
        }),
        ("unknown_types", || {
            let known: String =
                (0..4_000).map(|n| format!("struct S{n} {{ int a; }};\n")).collect();
            let unknown: String = (0..4_000).map(|n| format!("Z{n} v{n};\n")).collect();
            (known + &unknown).into()
        }),
        ("huge_array", || b"int x[0x7fffffffffffffff]; int y[1ull << 62][1ull << 62];".to_vec()),
        ("huge_enum", || b"enum E { a = 0x7fffffffffffffff, b, c };".to_vec()),
        ("self_include", || b"#include \"hostile.cdp\"\nint x;".to_vec()),
        ("launch_soup", || "k<<<<<<1,1>>>>>>(); ".repeat(20_000).into()),
        ("many_errors", || "int x = undeclared_name;\n".repeat(50_000).into()),
        ("empty", Vec::new),
    ];
    inputs
        .into_iter()
        .map(|(name, make)| trial(format!("hostile::{name}"), move || survives(make())))
        .collect()
}

fn nested(before: &str, open: &str, inner: &str, close: &str, after: &str) -> Vec<u8> {
    let depth = 50_000;
    format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth)).into()
}

fn macro_bomb() -> Vec<u8> {
    let mut text = String::from("#define a0 1,1,1,1,1,1,1,1,1,1\n");
    for level in 1..20 {
        let uses = vec![format!("a{}", level - 1); 10].join(",");
        let _ = writeln!(text, "#define a{level} {uses}");
    }
    text += "int x[] = { a19 };\n";
    text.into()
}

fn survives(bytes: Vec<u8>) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("hostile.cdp");
    std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
    let started = Instant::now();
    for pass in [Pass::Device(Arch::SM_90), Pass::Host] {
        let source = SourceInput::File(path.clone());
        let analysis = analyse(&source, pass, &CompileOptions::default())
            .map_err(|error| format!("{pass:?}: {error}"))?;
        // Rendering must survive too.
        let _ = format!("{:?}", analysis.report);
    }
    let elapsed = started.elapsed();
    if elapsed > LIMIT { Err(format!("took {elapsed:?}").into()) } else { Ok(()) }
}
