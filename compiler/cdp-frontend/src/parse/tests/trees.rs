//! What programs become.

use super::tree;
use crate::case_table::assert_table;

/// The tree of a function's body, unindented.
fn body(statements: &str) -> String {
    let text =
        format!("typedef int T; struct S {{ int a; float b[3]; }};\nvoid f() {{\n{statements}\n}}");
    let tree = tree(&text);
    let lines = tree.lines().skip_while(|line| !line.starts_with("Function")).skip(1);
    lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_become_trees() {
    assert_table(include_str!("trees.txt"), 90, body);
    assert_table(include_str!("declarations.txt"), 25, tree);
}

#[test]
fn a_name_is_a_type_only_where_it_is_declared_as_one() {
    assert!(tree("typedef int T; void f(int T) { T = 1; T * 3; } T x;").contains("Binary Mul T 3"));
    assert!(tree("struct stat { int a; }; int stat(struct stat *s); void f() { struct stat s; stat(&s); }").contains("Call stat args=[(Unary AddrOf s)]"));
}

/// Most of the front end's memory is these nodes, so what is rare stands in boxes.
#[test]
fn nodes_are_small() {
    use crate::ast::{Decl, Expr, InitDeclarator, Stmt};
    assert!(size_of::<Expr>() <= 88, "{}", size_of::<Expr>());
    assert!(size_of::<Decl>() <= 104, "{}", size_of::<Decl>());
    assert!(size_of::<Stmt>() <= 176, "{}", size_of::<Stmt>());
    assert!(size_of::<InitDeclarator>() <= 168, "{}", size_of::<InitDeclarator>());
}
