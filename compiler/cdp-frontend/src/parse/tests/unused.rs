//! Functions of the compiler's headers are in the tree exactly when the program names them.

use super::parse;
use crate::ast::{Decl, DeclKind, Declarator};
use crate::session::Session;

/// Whether the tree of a text, headers included, declares a name.
fn declares(text: &str, name: &str) -> bool {
    let (session, output) = parse(text);
    assert!(!output.diagnostics.has_errors(), "{text}");
    any_declares(&output.unit.decls, name, &session)
}

fn any_declares(decls: &[Decl], wanted: &str, session: &Session) -> bool {
    let is = |declarator: &Declarator| {
        let name = declarator.name.as_ref();
        name.is_some_and(|name| session.name(name.base.name) == wanted)
    };
    decls.iter().any(|decl| match &decl.kind {
        DeclKind::Linkage(block) => any_declares(&block.decls, wanted, session),
        DeclKind::Function(function) => is(&function.declarator),
        DeclKind::Simple(simple) => simple.declarators.iter().any(|each| is(&each.declarator)),
        _ => false,
    })
}

#[test]
fn what_nobody_names_is_left_out() {
    let text = "__global__ void k(int *p) { *p = 1; }";
    let (session, output) = parse(text);
    assert!(!output.diagnostics.has_errors());
    let unused: Vec<&str> = session.unused.iter().map(|(name, _)| session.name(*name)).collect();
    assert!(unused.contains(&"strlen") && unused.contains(&"qsort"), "{unused:?}");
    assert!(!declares(text, "strlen"));
    // Types stay: others are made of them.
    assert!(declares(text, "div_t"));
}

#[test]
fn a_name_anywhere_keeps_the_function() {
    for text in [
        "int f(const char *t) { return atoi(t); }",
        "int (*f)(const char *) = atoi;",
        "#define READ atoi\nint f(const char *t) { return READ(t); }",
        "#define CAT(a, b) a##b\nint f(const char *t) { return CAT(at, oi)(t); }",
        "extern \"C\" int atoi(const char *text);",
        "int f(const char *t) { return std::atoi(t); }",
    ] {
        assert!(declares(text, "atoi"), "{text}");
    }
    // A name in a macro that is not used, a string or a comment is none.
    let text = "#define READ atoi\n// atoi\nconst char *s = \"atoi\";";
    assert!(!declares(text, "atoi"));
}

#[test]
fn prototypes_of_the_program_stay() {
    assert!(declares("__host__ void mine(int x);", "mine"));
    assert!(declares("#include <stdlib.h>\n__host__ void mine(int x);", "mine"));
}
