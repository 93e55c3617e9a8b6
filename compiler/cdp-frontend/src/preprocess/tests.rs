//! Tests of the preprocessor: expansion by the standard's own examples, directives, files, limits.

use std::path::Path;

use super::predefined::{Target, macros};
use super::{MacroOption, MemoryLoader, PreprocessOptions, Preprocessed, preprocess};
use crate::case_table::assert_table;
use crate::diagnostics::Code;
use crate::lex::{Token, TokenKind};
use crate::session::Session;

fn run(loader: &MemoryLoader, options: &PreprocessOptions) -> (Session, Preprocessed) {
    let mut session = Session::new();
    let done = preprocess(&mut session, Path::new("main.cdp"), loader, options)
        .expect("main.cdp is there");
    (session, done)
}

/// The tokens that are left, one space between; no findings allowed.
fn expand_with(loader: &MemoryLoader, options: &PreprocessOptions) -> String {
    let (session, done) = run(loader, options);
    let found: Vec<_> =
        done.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect();
    assert!(found.is_empty(), "{found:?}");
    spellings(&done, &session)
}

/// The tokens, one space between.
fn spellings(done: &Preprocessed, session: &Session) -> String {
    let spelling = |token: &Token| match token.kind {
        TokenKind::PragmaUnroll => "#pragma unroll",
        _ => &session.names[token.symbol],
    };
    let seen = done.tokens.iter().filter(|token| token.kind != TokenKind::PragmaEnd);
    seen.map(spelling).collect::<Vec<_>>().join(" ")
}

fn expand(text: &str) -> String {
    expand_with(&MemoryLoader::single("main.cdp", text), &PreprocessOptions::default())
}

/// `line:code` of each finding.
fn findings_with(loader: &MemoryLoader) -> Vec<String> {
    let (session, done) = run(loader, &PreprocessOptions::default());
    let line =
        |span| session.sources.location(session.sources.call_site(span)).map_or(0, |at| at.line);
    done.diagnostics
        .iter()
        .map(|found| format!("{}:{}", line(found.primary.span), found.code))
        .collect()
}

fn findings(text: &str) -> Vec<String> {
    findings_with(&MemoryLoader::single("main.cdp", text))
}

#[test]
fn programs_become_tokens() {
    let outcome = |text: &str| match findings(text) {
        none if none.is_empty() => expand(text),
        found => found.join(" "),
    };
    assert_table(include_str!("tests.txt"), 49, outcome);
}

#[test]
fn conditions_nest_as_deep_as_one_likes() {
    for (before, after) in [("(", ")"), ("!", ""), ("1 ? ", " : 0")] {
        let (before, after) = (before.repeat(10_000), after.repeat(10_000));
        assert_eq!(expand(&format!("#if {before}1{after}\nx\n#endif")), "x");
    }
}

#[test]
fn dates_follow_the_given_epoch() {
    let loader = MemoryLoader::single("main.cdp", "__DATE__ __TIME__ __TIMESTAMP__");
    for (epoch, wanted) in [
        (1_709_164_799, "\"Feb 28 2024\" \"23:59:59\" \"Wed Feb 28 23:59:59 2024\""),
        (1_709_164_800, "\"Feb 29 2024\" \"00:00:00\" \"Thu Feb 29 00:00:00 2024\""),
        (1_735_689_600, "\"Jan  1 2025\" \"00:00:00\" \"Wed Jan  1 00:00:00 2025\""),
    ] {
        let options = PreprocessOptions { source_date_epoch: Some(epoch), ..Default::default() };
        assert_eq!(expand_with(&loader, &options), wanted);
    }
}

#[test]
fn comments_and_line_splices() {
    assert_eq!(expand("a/* x\n y */b // c \\\n still a comment\nd"), "a b d");
    assert_eq!(expand("fo\\\no b\\\r\nar 1\\\n2"), "foo bar 12");
    assert_eq!(expand("#define A \\\n  1 \\\n  + 2\nA"), "1 + 2");
    assert_eq!(expand("\"a\\\nb\" /**/ // \"\n'/*'"), "\"ab\" '/*'");
    assert_eq!(expand("a //"), "a");
}

#[test]
fn included_files() {
    let loader = MemoryLoader::single("main.cdp", "#include \"a.h\"\n#include <b.h>\n#include \"sub/c.h\"\n#define H <b.h>\n#include H\nmain")
        .with("a.h", "#pragma once\na\n#include \"a.h\"\n")
        .with("inc/b.h", "b __INCLUDE_LEVEL__\n")
        .with("sub/c.h", "#ifndef C_H\n#define C_H\n#include \"d.h\"\n#include \"../a.h\"\n#include \"c.h\"\nc\n#endif\n")
        .with("sub/d.h", "d\n");
    let options = PreprocessOptions { include_dirs: vec!["inc".into()], ..Default::default() };
    assert_eq!(expand_with(&loader, &options), "a b 1 d c b 1 main");
    let (_, done) = run(&loader, &options);
    let names: Vec<String> =
        done.dependencies.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["main.cdp", "a.h", "inc/b.h", "sub/c.h", "sub/d.h"]);
}

/// `-isystem /usr/include`, as builds for nvcc have it, does not hide the compiler's own headers, nor make of what is refused by
/// name something that is read; a folder with some headers of such names does.
#[test]
fn folders_of_a_c_library_are_searched_last() {
    let text = "#include <limits.h>\n#include <z.h>\n#include <own.h>\nmain CHAR_BIT";
    let loader = MemoryLoader::single("main.cdp", text)
        .with("libc/features.h", "")
        .with("libc/stdio.h", "")
        .with("libc/limits.h", "hidden\n")
        .with("libc/z.h", "#include_next <z.h>\n")
        .with("libc/vector", "hidden\n")
        .with("later/z.h", "z\n")
        .with("later/features.h", "")
        .with("later/stdio.h", "")
        .with("mine/own.h", "own\n#include_next <stdio.h>\n")
        .with("mine/stdio.h", "hidden\n");
    let options = PreprocessOptions {
        include_dirs: ["libc", "mine", "later"].map(Into::into).into(),
        ..Default::default()
    };
    let text = expand_with(&loader, &options);
    assert!(text.contains("z own ") && text.ends_with(" main 8") && !text.contains("hidden"));
    let (_, done) = run(&loader.with("main.cdp", "#include <vector>\n#include <no.h>"), &options);
    let found: Vec<_> = done.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(found, [Code::E0243, Code::E0106]);
    let places = &done.diagnostics.iter().last().unwrap().notes[0];
    assert_eq!(places, "looked in `mine`, the compiler's own headers, `libc`, `later`");
}

#[test]
fn include_next_and_forced_includes() {
    let loader = MemoryLoader::single("main.cdp", "#include <x.h>\nmain A")
        .with("one/x.h", "one\n#include_next <x.h>\n")
        .with("two/x.h", "two\n")
        .with("first.h", "#define A 7\nfirst\n");
    let options = PreprocessOptions {
        include_dirs: vec!["one".into(), "two".into()],
        forced_includes: vec!["first.h".into()],
        macros: vec![
            MacroOption::Define("B".into()),
            MacroOption::Define("F(x)=x x".into()),
            MacroOption::Undefine("B".into()),
        ],
        ..Default::default()
    };
    assert_eq!(expand_with(&loader, &options), "first one two main 7");
}

#[test]
fn files_that_cannot_be_included() {
    assert_eq!(
        findings("#include \"nothing.h\"\n#include <nothing.h>\n#include\n#include 3"),
        ["1:E0106", "2:E0106", "3:E0108", "4:E0108"]
    );
    let cycle = MemoryLoader::single("main.cdp", "#include \"main.cdp\"\n");
    assert_eq!(findings_with(&cycle), ["1:E0107"]);
    let pair = MemoryLoader::single("main.cdp", "#include \"a.h\"\nx")
        .with("a.h", "#include \"b.h\"\n#include \"b.h\"\n")
        .with("b.h", "#include \"a.h\"\n#include \"a.h\"\n");
    assert_eq!(findings_with(&pair), ["1:E0107"]);
    let bad = MemoryLoader::single("main.cdp", b"int x;\nint \xff;\n".to_vec());
    assert_eq!(findings_with(&bad), ["2:E0101"]);
}

#[test]
fn macro_bombs_end() {
    let doubling: String =
        (1..64).map(|n| format!("#define B{n} B{} B{}\n", n - 1, n - 1)).collect();
    assert_eq!(findings(&format!("#define B0 x\n{doubling}B63\nint y;")), ["65:E0115"]);
    let arguments: String = (1..64).map(|n| format!("#define F{n}(x) F{}(x x)\n", n - 1)).collect();
    assert_eq!(findings(&format!("#define F0(x) x\n{arguments}F63(1)")).len(), 1);
    let deep = format!("#define F(x) x\nint a = {}1{};", "F(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(findings(&deep), ["2:E0115"]);
    let strings: String = (1..64).map(|n| format!("#define S{n}(x) S{}(#x #x)\n", n - 1)).collect();
    let found = findings(&format!("#define S0(x) #x\n{strings}S63(\"\\\"\")"));
    assert_eq!(found.len(), 1, "{found:?}");
    let empty: String = (1..64).map(|n| format!("#define E{n} E{} E{}\n", n - 1, n - 1)).collect();
    assert_eq!(findings(&format!("#define E0\n{empty}E63")).len(), 1);
}

#[test]
fn nvcc_macros() {
    let of = |target: &Target, text: &str| {
        let options = PreprocessOptions { predefined: macros(target), ..Default::default() };
        let text = format!("main_file\n{text}");
        let all = expand_with(&MemoryLoader::single("main.cdp", text), &options);
        all.split_once("main_file ").expect("the main file is there").1.to_owned()
    };
    let device = Target::device(90);
    assert_eq!(
        of(&device, "__CUDA_ARCH__ __CUDACC__ __NVCC__ __cplusplus __CUDACC_RDC__"),
        "900 1 1 201703L 1"
    );
    assert_eq!(of(&Target::host(8), "#ifdef __CUDA_ARCH__\ndevice\n#else\nhost\n#endif"), "host");
    let specific = Target { arch_suffix: Some('a'), ..device };
    assert_eq!(of(&specific, "__CUDA_ARCH_FEAT_SM90_ALL __CUDA_ARCH_SPECIFIC__"), "1 900");
    assert_eq!(of(&Target::host(4), "__SIZEOF_POINTER__ __SIZE_TYPE__"), "4 unsigned int");
}

/// What is kept of the predefined macros and headers is what reading them gives, which a folder for
/// includes, even one that is not there, makes happen.
#[test]
fn the_kept_prelude_changes_nothing() {
    let program = "\
#include <stdlib.h>
#include <stdio.h>
#pragma push_macro(\"INT_MAX\")
#undef INT_MAX
#define INT_MAX 5
int a = INT_MAX, b = __COUNTER__, c = __LINE__;
#pragma pop_macro(\"INT_MAX\")
int d = INT_MAX, e = __COUNTER__, f = __INCLUDE_LEVEL__;
#define RAND_MAX 7
#define NULL NULL
void *p = NULL;
size_t g = __CUDA_ARCH__ + RAND_MAX;
char bad = '
";
    let loader = MemoryLoader::single("main.cdp", program);
    let all = |target: Target, dirs: &[&str]| {
        let options = PreprocessOptions {
            predefined: macros(&target),
            include_dirs: dirs.iter().map(Into::into).collect(),
            macros: vec![MacroOption::Define("__linux__=2".into())],
            ..Default::default()
        };
        let (session, done) = run(&loader, &options);
        let findings: Vec<String> = done
            .diagnostics
            .iter()
            .map(|found| {
                crate::diagnostics::render::human(found, &session.sources, &session.names, false)
            })
            .collect();
        let files: Vec<_> = session.sources.files().map(|(_, file)| file.name.clone()).collect();
        (spellings(&done, &session), findings, files, done.dependencies, done.end)
    };
    for target in [Target::device(90), Target::device(75), Target::host(8)] {
        let read = all(target.clone(), &["nowhere"]);
        assert!(read.1.len() >= 4, "{:?}", read.1);
        for _ in 0..3 {
            assert_eq!(all(target.clone(), &[]), read);
        }
    }
    let own = loader.with("own/stddef.h", "int own;\n").with("main.cdp", "int x;\n");
    let options = PreprocessOptions {
        predefined: macros(&Target::host(8)),
        include_dirs: vec!["own".into()],
        ..Default::default()
    };
    assert!(expand_with(&own, &options).contains("int own ;"));
}

/// Every embedded header can be read alone, twice, and after all the others.
#[test]
fn embedded_headers() {
    for name in crate::headers::NAMES {
        let text = format!("#include <{name}>\n#include <{name}>\n");
        let options =
            PreprocessOptions { predefined: macros(&Target::device(90)), ..Default::default() };
        expand_with(&MemoryLoader::single("main.cdp", text), &options);
    }
    let all: String =
        crate::headers::NAMES.iter().map(|name| format!("#include <{name}>\n")).collect();
    let options = PreprocessOptions { predefined: macros(&Target::host(8)), ..Default::default() };
    expand_with(&MemoryLoader::single("main.cdp", all), &options);
}

#[test]
fn a_missing_source_is_told_as_the_system_tells_it() {
    let mut session = Session::new();
    let options = PreprocessOptions::default();
    let path = Path::new("nothing.cdp");
    let error =
        preprocess(&mut session, path, &MemoryLoader::default(), &options).map(|_| ()).unwrap_err();
    let wanted = std::fs::read("no such folder/nothing.cdp").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), wanted.to_string());
}

#[test]
fn a_program_that_memory_is_too_small_for() {
    let text = "int a;\n".repeat(1000);
    let codes = |memory_bytes| {
        let mut session = Session::new();
        let options = PreprocessOptions { memory_bytes, ..PreprocessOptions::default() };
        let loader = MemoryLoader::single("a.cdp", text.as_str());
        let made = preprocess(&mut session, Path::new("a.cdp"), &loader, &options).unwrap();
        let codes: Vec<_> = made.diagnostics.iter().map(|found| found.code).collect();
        (codes, made.tokens.is_empty())
    };
    assert_eq!(codes(None), (vec![], false));
    assert_eq!(codes(Some(10_000_000)), (vec![], false));
    assert_eq!(codes(Some(100_000)), (vec![Code::E0116], true));
}
