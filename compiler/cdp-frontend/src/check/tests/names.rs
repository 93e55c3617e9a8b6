//! Names in namespaces, records and blocks: which of them are in sight, and which are ambiguous. nvcc judged each
//! text.

use super::{accept, codes};

const TWO: &str =
    "namespace a { struct S { int q; }; enum E { p }; namespace n { __device__ int x; } }
    namespace b { struct S { int z; }; enum E { r }; namespace n { __device__ int x; } }
    using namespace a; using namespace b;";

#[test]
fn what_two_directives_show_is_ambiguous_wherever_it_is_named() {
    for use_of_it in [
        "S s;",
        "__device__ struct S *s;",
        "__device__ int f() { struct S s; return sizeof s; }",
        "__device__ enum E e;",
        "__device__ int f() { return E::p; }",
        "__device__ int f() { return n::x; }",
        "namespace m = n;",
        "using namespace n;",
        "using Q = S;",
        "__device__ int n::g() { return 1; }",
        "__device__ int f() { return (S{1}).q; }",
    ] {
        assert_eq!(codes(&format!("{TWO}\n{use_of_it}")), ["E0307"], "{use_of_it}");
    }
    accept(&format!("{TWO} __device__ int f(a::S s, b::E e) {{ return s.q + a::n::x + b::r; }}"));
    // What stands in the global namespace itself is no other's.
    accept(&format!(
        "{TWO} namespace n {{ __device__ int y; }} __device__ int f() {{ return ::n::y; }}"
    ));
}

#[test]
fn directives_show_what_is_declared_later() {
    accept(
        "namespace a {} using namespace a; namespace a { struct S { int x; }; } __device__ S s;",
    );
    accept(
        "namespace a {} namespace b { using namespace a; } namespace a { typedef int T; }
         __device__ b::T y;",
    );
    accept(
        "namespace a { typedef int T; } namespace b {} using namespace b;
         namespace b { using namespace a; } __device__ T y;",
    );
    accept("namespace a { namespace a { struct T { int x; }; } } __device__ a::a::T y;");
}

#[test]
fn blocks_hide_what_directives_show() {
    accept(
        "namespace a { typedef int T; }
         __device__ int f() { int T = 3, x = 2; { using namespace a; return T * x; } }",
    );
    accept(
        "namespace a { struct S { int q; }; }
         __device__ int f() { using namespace a; int S = 1; struct S s = { 2 }; return s.q + S; }",
    );
    accept("typedef int T; __device__ int f(int T) { return ::T(2) * T; }");
}

#[test]
fn what_is_the_same_is_not_ambiguous() {
    accept(
        "namespace a { struct S { int x; }; namespace n { __device__ int y; } __device__ int g(int v) { return v; } }
         namespace b { typedef a::S S; namespace n = a::n; using a::g; }
         using namespace a; using namespace b;
         __device__ int f(S s) { return s.x + n::y + g(1); }",
    );
}

#[test]
fn functions_that_directives_show_join_those_of_cuda() {
    let own = "namespace v { __device__ float3 min(float3 a, float3 b) { return a; } }";
    for shows in ["using namespace v;", "using v::min;"] {
        accept(&format!(
            "{own} {shows}
             __device__ void f(float3 *p, int *q) {{ p[0] = min(p[0], p[1]); q[0] = min(q[0], q[1]); }}"
        ));
    }
    // In its own namespace a function hides them.
    let inside =
        format!("{own} namespace v {{ __device__ int f(int *q) {{ return min(q[0], q[1]); }} }}");
    assert_ne!(codes(&inside), [""; 0], "nvcc refuses it");
}

#[test]
fn using_declarations_join_functions_and_clash_with_the_rest() {
    let two = "namespace a { __device__ int x; __device__ int g(int v) { return v; } struct S { int y; }; }
         namespace b { __device__ int x; __device__ int g(double v) { return 2; } struct S { int z; }; }";
    for clash in [
        "using a::x; using b::x;",
        "using a::S; using b::S;",
        "__device__ int x; using a::x;",
        "using a::x; __device__ int x;",
        "__device__ int g(int v) { return 3; } using a::g;",
        "using a::g; __device__ int g(int v) { return 3; }",
        "using a::S; typedef int S;",
    ] {
        assert_eq!(codes(&format!("{two}\n{clash}")), ["E0302"], "{clash}");
    }
    let module = accept(&format!(
        "{two} using a::x; using a::x; using a::g; using b::g;
         __device__ int f() {{ return g(1) + g(1.0) + x; }}"
    ));
    let text = cdp_ir::print::print_module(&module);
    assert!(text.contains("_ZN1a1gEi(") && text.contains("_ZN1b1gEd("), "{text}");
}
