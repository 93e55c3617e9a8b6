//! Names in namespaces, records and blocks.

use super::{accept, codes};
use crate::case_table::assert_table;

#[test]
fn names_are_in_sight_hidden_or_ambiguous() {
    assert_table(include_str!("names.txt"), 20, |text| codes(text).join(" "));
}

#[test]
fn using_declarations_join_functions() {
    let module = accept(
        "namespace a { __device__ int x; __device__ int g(int v) { return v; } }
         namespace b { __device__ int g(double v) { return 2; } }
         using a::x; using a::x; using a::g; using b::g;
         __device__ int f() { return g(1) + g(1.0) + x; }",
    );
    let text = cdp_ir::print::print_module(&module);
    assert!(text.contains("_ZN1a1gEi(") && text.contains("_ZN1b1gEd("), "{text}");
}
