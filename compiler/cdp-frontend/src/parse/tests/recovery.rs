//! Syntax errors: all of them, where they are, and nothing that follows from them.

use super::{findings, parse, tree};
use crate::case_table::assert_table;

#[test]
fn all_errors_are_found_and_no_others() {
    let all = |text: &str| findings(text).join("\n");
    assert_table(include_str!("recovery.txt"), 40, all);
}

#[test]
fn the_indentation_says_where_a_brace_is_missing() {
    assert_eq!(
        findings("void f() {\n  if (1) {\n    g();\n}\nvoid h() { }\n"),
        ["1:E0202: this `{` is never closed"]
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
fn errors_in_one_function_leave_the_next_alone() {
    let (session, output) =
        parse("void f() { 1 2; } void g() { return; } int h(int x y) { z w; } int i;");
    let tree = crate::ast_print::print(&output.unit, &session);
    assert!(tree.contains("Function Void (name=g parts=[Function])\n  Return"), "{tree}");
    assert!(tree.contains("Simple Int declarators=[i]"), "{tree}");
    // The body of a function whose header is wrong is still read.
    let found = findings("int h(int x y) {\nint a = 1 2;\n}");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("2:E0201"), "{found:?}");
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
