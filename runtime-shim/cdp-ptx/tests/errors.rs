//! Errors: their place, what they say was found, and their kind.

use cdp_ptx::{ErrorKind, parse};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// The error for a function's body, which begins on line 6.
fn body_error(body: &str) -> cdp_ptx::ParseError {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p)\n{{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n{body}\n}}\n"
    );
    match parse(&text) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {body}"),
    }
}

#[track_caller]
fn expect(error: cdp_ptx::ParseError, kind: ErrorKind, place: (u32, u32), words: &[&str]) {
    assert_eq!(error.kind, kind, "{error}");
    assert_eq!((error.line, error.column), place, "{error}");
    for word in words {
        assert!(error.message.contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn unknown_instruction_names_it_and_its_line() {
    let error = body_error("  add.u32 %r1, %r2, %r3;\n  tcgen05.mma %r1;");
    assert_eq!(error.message, "unknown instruction `tcgen05.mma`: the CPU device does not run it");
    expect(error, ErrorKind::UnknownInstruction, (7, 3), &[]);
}

#[test]
fn modifiers() {
    let error = body_error("add.u32.foo %r1, %r2, %r3;");
    expect(error, ErrorKind::UnknownModifier, (6, 1), &["`.foo`", "`add.u32.foo`"]);
    let error = body_error("\tadd.b32 %r1, %r2, %r3;");
    expect(error, ErrorKind::UnknownModifier, (6, 2), &["`.b32`", "known: .u16 .u32"]);
    let error = body_error("barrier.cluster.arrive.acquire;");
    expect(error, ErrorKind::UnknownModifier, (6, 1), &["`.acquire`"]);
}

#[test]
fn operands() {
    let error = body_error("add.u32 %r1, %rd2, %r3;");
    expect(error, ErrorKind::Operand, (6, 14), &["`%rd2`", "`.b64`", "`.u32`"]);
    let error = body_error("add.u32 %r1, %r9, %r3;");
    expect(error, ErrorKind::UnknownName, (6, 14), &["`%r9`", "not declared"]);
    let error = body_error("add.u32 %r1, %r2;");
    expect(error, ErrorKind::Syntax, (6, 17), &["expected `,`", "found `;`"]);
    let error = body_error("bra nowhere;");
    expect(error, ErrorKind::UnknownName, (6, 5), &["`nowhere`", "not defined"]);
    let error = body_error("ld.global.u32 %r1, [p];");
    expect(error, ErrorKind::Operand, (6, 20), &["`p`", "`.param`", "`.global`"]);
    let error = body_error("mov.u32 %r1, 0x1FFFFFFFFFFFFFFFF;");
    expect(error, ErrorKind::Limit, (6, 14), &["64 bits"]);
}

#[test]
fn declarations() {
    let cases: &[(&str, ErrorKind, u32, &str)] = &[
        (".global .u32 a; .global .u32 a;", ErrorKind::Redefinition, 4, "defined twice"),
        (".global .u32 a; .shared .u32 a;", ErrorKind::Redefinition, 4, "state spaces differ"),
        (".func f() {} .func f() {}", ErrorKind::Redefinition, 4, "defined twice"),
        (".func f(.param .b32 x); .func f(.param .b64 x) {}", ErrorKind::Redefinition, 4, "differ"),
        (".entry f(); .func f() {}", ErrorKind::Redefinition, 4, "kernel"),
        (".global .u32 f; .func f() {}", ErrorKind::Redefinition, 4, "variable"),
        (".global .align 3 .u32 a;", ErrorKind::Limit, 4, "power of two"),
        (".global .u32 a[2] = {1, 2, 3};", ErrorKind::Limit, 4, "more initial values"),
        (".global .u32 a[2][2] = {1, 2};", ErrorKind::Syntax, 4, "expected `{`"),
        (".global .u32 a = b;", ErrorKind::UnknownName, 4, "`b`"),
        (".global .u16 a = 0f3F800000;", ErrorKind::Operand, 4, "not a `.u16`"),
        (".global .f32 a = 1;", ErrorKind::Operand, 4, "not a `.f32`"),
        (".shared .u32 a = 1;", ErrorKind::Syntax, 4, "initial values"),
        (".global .texref t;", ErrorKind::Unsupported, 4, "texture"),
        (".global .b8 a[1099511627777];", ErrorKind::Limit, 4, "dimension"),
        (".global .b64 a[1099511627776];", ErrorKind::Limit, 4, "larger"),
        (".extern .func f() {}", ErrorKind::Redefinition, 4, "`.extern`"),
        (".entry k() .maxntid 1;", ErrorKind::Syntax, 4, "definitions only"),
        (".alias a, b;", ErrorKind::UnknownName, 4, "`a`"),
        (".nonsense", ErrorKind::Syntax, 4, "`.nonsense`"),
        ("nonsense", ErrorKind::Syntax, 4, "expected a directive"),
        (".func f() { .reg .b32 x; .reg .b64 x; }", ErrorKind::Redefinition, 4, "twice"),
        (".func f() {\n x: ret;\n x: ret; }", ErrorKind::Redefinition, 6, "label"),
        (".func f() { ret;", ErrorKind::Syntax, 5, "the end of the text"),
        (".func f() { .loc 1 2 3\n ret; }", ErrorKind::UnknownName, 4, "`.file`"),
        ("/* open", ErrorKind::Syntax, 4, "comment"),
        (".file 1 \"open", ErrorKind::Syntax, 4, "string"),
        ("\u{e9}", ErrorKind::Syntax, 4, "unexpected character"),
    ];
    for (text, kind, line, word) in cases {
        let error = match parse(&format!("{HEADER}{text}\n")) {
            Err(error) => error,
            Ok(_) => panic!("accepted: {text}"),
        };
        assert_eq!((error.kind, error.line), (*kind, *line), "{text}: {error}");
        assert!(error.message.contains(word), "{text}: `{word}` is not in: {error}");
    }
}

#[test]
fn headers() {
    for (text, kind) in [
        ("", ErrorKind::Syntax),
        (".target sm_80", ErrorKind::Syntax),
        (".version 8.0", ErrorKind::Syntax),
        (".version eight\n.target sm_80", ErrorKind::Syntax),
        (".version 10.0\n.target sm_80", ErrorKind::Unsupported),
        (".version 8.0\n.target gfx90a", ErrorKind::Unsupported),
        (".version 8.0\n.target sm_", ErrorKind::Unsupported),
        (".version 8.0\n.target sm_90aa", ErrorKind::Unsupported),
        (".version 8.0\n.target sm_80\n.address_size 16", ErrorKind::Limit),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.kind, kind, "{text:?}: {error}");
    }
}
