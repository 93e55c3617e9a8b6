//! What the subset leaves out: one code for each construct, and nothing else from the rest.

use super::{codes, findings};
use crate::case_table::assert_table;

/// The codes of a text, or of statements in braces; the declaration after it is still read without complaint.
fn refused(text: &str) -> String {
    let body = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let text = body.map_or(text.to_owned(), |statements| {
        let head = "struct B { int a; };\n__device__ int f(int n, B *p) {";
        format!("{head}\n{statements}\nreturn n;\n}}")
    });
    codes(&format!("{text}\n__global__ void after(int *p) {{ p[0] = 1; }}\n")).join(" ")
}

#[test]
fn what_is_outside_is_refused() {
    assert_table(include_str!("refusals.txt"), 95, refused);
}

#[test]
fn refusals_name_what_they_refuse() {
    assert_eq!(
        findings("void f() { auto g = [](int x) { return x; }; }"),
        ["1:E0221: lambda expressions are outside the `.cdp` subset"]
    );
    assert_eq!(
        findings("struct A { int get(); };"),
        ["1:E0222: member functions (`get`) are outside the `.cdp` subset"]
    );
}
