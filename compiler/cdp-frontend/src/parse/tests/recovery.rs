//! Syntax errors: all of them, where they are, and nothing that follows from them.

use super::{findings, parse, tree};

#[test]
fn missing_semicolons() {
    assert_eq!(
        findings("void f() {\nint x = 1\nx = 2\nreturn\n}"),
        [
            "2:E0203: expected `;` after the declaration of `x`, found `x`",
            "3:E0203: expected `;` after this expression, found `return`",
            "4:E0203: expected `;` after `return`, found `}`",
        ]
    );
    assert_eq!(findings("int a\nint b;"), ["1:E0203: expected `;` after the declaration of `a`"]);
    assert_eq!(
        findings("struct S { int a; }\nint b;"),
        ["1:E0203: expected `;` after the definition of the type"]
    );
    assert_eq!(
        findings("struct S { int a; int b };"),
        ["1:E0203: expected `;` after the declaration of `b`, found `}`"]
    );
    assert_eq!(
        findings("int last = 3"),
        ["1:E0203: expected `;` after the declaration of `last`, found the end of the file"]
    );
}

#[test]
fn the_span_is_where_the_semicolon_belongs() {
    let text = "void f() {\n    int x = 1   // comment\n}";
    let (session, output) = parse(text);
    let found = output.diagnostics.iter().next().expect("one error");
    let at = session.sources.location(found.primary.span).expect("a place");
    assert_eq!((at.line, at.column), (2, 14));
    assert_eq!(found.helps[0].suggestion.as_ref().map(|s| s.replacement.as_str()), Some(";"));
}

#[test]
fn every_error_of_a_function() {
    let text = "__global__ void k(int *p) {\n\
                int x = ;\n\
                x = (1 + ;\n\
                if (x > ) { x = 3 4; }\n\
                for (int i = 0; i < ; ++i) { y y; }\n\
                foo(1, , 2);\n\
                k<<<1>>>;\n\
                p[0] = 1;\n\
                }";
    let lines: Vec<String> = findings(text)
        .iter()
        .map(|found| found.split(':').take(2).collect::<Vec<_>>().join(":"))
        .collect();
    assert_eq!(
        lines,
        ["2:E0207", "3:E0202", "4:E0207", "4:E0201", "5:E0207", "5:E0204", "6:E0207", "7:E0201"]
    );
}

#[test]
fn errors_in_one_function_leave_the_next_alone() {
    let (session, output) =
        parse("void f() { 1 2; } void g() { return; } int h(int x y) { z w; } int i;");
    let tree = crate::ast_print::print(&output.unit, &session);
    assert!(tree.contains("function g: fn() -> void\n  return"), "{tree}");
    assert!(tree.contains("declare i: int"), "{tree}");
    // The body of a function whose header is wrong is still read.
    let found = findings("int h(int x y) {\nint a = 1 2;\n}");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("2:E0201"), "{found:?}");
}

#[test]
fn brackets() {
    assert_eq!(findings("void f() { g(1; g(2); }\nint x;"), ["1:E0202: this `(` is never closed"]);
    assert_eq!(findings("int a[2 = {1, 2};\nint b;"), ["1:E0202: this `[` is never closed"]);
    assert_eq!(
        findings("void f() { int a[2] = {1, 2; }\nint x;"),
        ["1:E0202: this `{` is never closed"]
    );
    assert_eq!(
        findings("void f() {\n  if (1) {\n    g();\n}\nvoid h() { }\n"),
        ["1:E0202: this `{` is never closed"]
    );
    assert_eq!(findings("void f() { }\n}\nint x;"), ["2:E0202: this `}` closes nothing"]);
    assert_eq!(findings("void f() { g(1)); }"), ["1:E0202: this `)` closes nothing"]);
    assert_eq!(findings("void f() {"), ["1:E0202: this `{` is never closed"]);
}

#[test]
fn types() {
    assert_eq!(
        findings("foo_t f(bar_t x); foo_t g;"),
        ["1:E0204: unknown type name `foo_t`", "1:E0204: unknown type name `bar_t`"]
    );
    assert_eq!(findings("void f() { foo *p = 0; foo q; }"), ["1:E0204: unknown type name `foo`"]);
    assert_eq!(
        findings("int x = (foo)3; int *p = (bar *)x; int y = static_cast<baz>(x);"),
        [
            "1:E0204: unknown type name `foo`",
            "1:E0204: unknown type name `bar`",
            "1:E0204: unknown type name `baz`",
        ]
    );
    assert_eq!(findings("void f() { (foo)3; }"), ["1:E0204: unknown type name `foo`"]);
    assert_eq!(findings("int y = 1; int x = (y) 3;").len(), 1);
    for innocent in [
        "int x = (y)[3], z = (y)(3), w = f(y * 2), v = (y) - 3;",
        "int x = 3 *\nint(4);\nint y = (int)\nfloat(3);",
    ] {
        assert_eq!(findings(innocent), Vec::<String>::new());
    }
    assert_eq!(findings("main() { return 0; }"), ["1:E0204: `main` has no return type"]);
    assert_eq!(findings("long float x;"), ["1:E0206: `long float` is not a type"]);
    assert_eq!(findings("unsigned unsigned x;"), ["1:E0206: `unsigned unsigned` is not a type"]);
    assert_eq!(findings("static x = 3;"), ["1:E0204: `x` has no type"]);
}

#[test]
fn launches() {
    assert_eq!(
        findings("void f() { k<<<1, 2>>>; }"),
        ["1:E0201: expected `(` and the kernel's arguments after `>>>`, found `;`"]
    );
    assert_eq!(findings("void f() { k<<<1, 2>>(x); }").len(), 1);
    assert_eq!(findings("void f() { k 1, 2>>>(x); }").len(), 1);
}

#[test]
fn stray_words() {
    assert_eq!(findings("void f() { else x; }"), ["1:E0201: this `else` belongs to no `if`"]);
    assert_eq!(
        findings("void f() { if (1) else x; }"),
        ["1:E0201: expected a statement, found `else`"]
    );
    assert_eq!(
        findings("void f() { switch (1) { default: } }"),
        ["1:E0201: expected a statement, found `}`"]
    );
    assert_eq!(
        findings("void f() { while x > 3 { x; } y; }"),
        ["1:E0201: expected `(`, found `x`"]
    );
    assert_eq!(findings("enum E { A, B C };").len(), 1);
    assert_eq!(findings("void f() { asm(\"x\" : \"=r\"); }"), ["1:E0201: expected `(`, found `)`"]);
    assert_eq!(
        findings("void f() { asm(\"x\" :::: \"m\"); }"),
        ["1:E0201: expected a clobber or `)`, found `::`"]
    );
}

#[test]
fn literals() {
    assert_eq!(
        findings("int a = 0x; int b = 1.2.3; int c = 08;"),
        [
            "1:E0104: `0x` has no digits",
            "1:E0104: `1.2.3` is no valid floating literal",
            "1:E0104: `8` is no digit of an octal number",
        ]
    );
    assert_eq!(findings("int a = 99999999999999999999; int b = 1ux;").len(), 2);
    assert_eq!(
        findings("char c = ''; const char *s = \"\\q\"; char d = 'ab';"),
        [
            "1:E0105: a character constant cannot be empty",
            "1:E0105: `\\q` is no escape sequence",
            "1:W0153: a character constant with several characters has an implementation-defined value",
        ]
    );
    assert_eq!(
        findings("const char *s = \"abc;\nint x;")[0],
        "1:E0103: this string literal has no closing `\"`"
    );
    assert_eq!(findings("int x; /* abc\nint y;"), ["1:E0103: this comment is never closed"]);
    assert_eq!(findings("int x = 1 @ 2;")[0], "1:E0102: `@` cannot be part of a program");
    assert_eq!(
        findings("auto s = L\"a\" u\"b\";"),
        ["1:E0208: strings with different prefixes cannot stand side by side"]
    );
}

/// Spans inside macros: the primary place is the use, and both are known.
#[test]
fn spans_in_macros() {
    let (session, output) = parse("#define BAD(x) ((x) + )\nint a = BAD(1);\n");
    let found = output.diagnostics.iter().next().expect("one error");
    let site = session.sources.call_site(found.primary.span);
    assert_eq!(session.sources.text(site), "BAD(1)");
    let spelled = session.sources.location(found.primary.span).expect("a place");
    assert_eq!((spelled.line, spelled.column), (1, 23));
}

#[test]
fn at_most_a_hundred_errors() {
    let text = "void f() {\n".to_owned() + &"x y z;\n".repeat(500) + "}\n";
    let (_, output) = parse(&text);
    assert_eq!(
        output.diagnostics.iter().filter(|found| found.code.to_string() == "E0204").count(),
        1
    );
    let text = "void f() {\n".to_owned() + &"1 2;\n".repeat(500) + "}\n";
    let (_, output) = parse(&text);
    assert!(output.diagnostics.iter().count() <= 100);
    assert!(output.diagnostics.has_errors());
}

#[test]
fn an_empty_file_is_an_empty_unit() {
    assert_eq!(tree(""), "");
    assert_eq!(tree("// only a comment"), "");
}
