//! Programs that must be refused, and with which code. (Each code's page has an example too, which
//! the suite runs.)

use super::super::{CheckOptions, check};
use super::{check_with, codes};
use crate::diagnostics::NAME_IT_CU;
use crate::parse::parse_text;
use crate::preprocess::PreprocessOptions;
use crate::session::Session;

#[track_caller]
fn refuse(expected: &[&str], text: &str) {
    let (_, shown, found) = check_with(text, &CheckOptions::default());
    assert_eq!(found, expected, "{text}\n{shown}");
}

#[test]
fn one_mistake_is_one_error() {
    refuse(
        &["E0301"],
        "__device__ int f() { int x = unknown + 1; x += unknown_too(x); return x; }"
            .replace("unknown_too(x)", "2")
            .as_str(),
    );
    refuse(
        &["E0309"],
        "struct S { int a; }; __device__ int f(S s) { return s.b.c[3] + s.b->d; }"
            .replace(" + s.b->d", "")
            .as_str(),
    );
    refuse(&["E0308"], "struct S; __device__ S f(); __device__ int g(S *s) { return (*s).x + 1; }");
}

#[test]
fn all_errors_of_a_file() {
    let found = codes(
        "__device__ int a() { return missing; }
         __device__ int *b(int x) { return x; }
         __global__ int c() { return 1; }
         __global__ void d(int *p) { d<<<1, 1>>>(); d<<<1, 2000>>>(p); }",
    );
    assert_eq!(found, ["E0301", "E0303", "E0412", "E0401", "E0406"]);
}

#[test]
fn the_first_of_many_errors_are_kept() {
    let syntax = "int x = ;\n".repeat(250);
    let names = "__device__ int f() { return missing; }\n".repeat(250);
    let found = codes(&(syntax + &names));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|code| code == "E0207"), "{found:?}");
}

#[test]
fn conversions_that_c_has_and_cpp_has_not() {
    refuse(&["E0303"], "__device__ int *f(void *p) { return p; }");
    refuse(&["E0303"], "__device__ int *f(const int *p) { int *q = p; return q; }");
    refuse(&["E0303"], "__device__ int *f(int p) { int *q = p; return q; }");
    refuse(&["E0303"], "enum E { A }; __device__ E f(int p) { E e = p; return e; }");
    refuse(&["E0303"], "enum class E { A }; __device__ int f(E p) { int e = p; return e; }");
    refuse(&["E0304"], "struct S { int a; }; __device__ int f(S a, S b) { return (a + b).a; }");
    refuse(&["E0320"], "__device__ void f(void *p) { p[1]; }");
    refuse(&["E0323"], "__device__ void g(int &); __device__ void f() { g(1); }");
    refuse(&["E0305"], "__device__ void f(const int c) { c = 1; }");
}

#[test]
fn barriers_in_branches() {
    refuse(&["W0713"], "__global__ void k() { if (threadIdx.x == 0) __syncthreads(); }");
    refuse(
        &["W0713"],
        "__global__ void k() { int t = threadIdx.x; while (t < 7) { __syncthreads(); t++; } }",
    );
    refuse(
        &[],
        "__global__ void k(int n) { if (blockIdx.x == 0) __syncthreads(); if (n) __syncthreads(); }",
    );
    refuse(
        &[],
        "__global__ void k(int *d) { for (int s = blockDim.x / 2; s; s /= 2) { if (threadIdx.x < s) d[0] += s; __syncthreads(); } }",
    );
}

/// What clang would take is refused with the file's other name as a cure, said once.
#[test]
fn the_other_name_of_the_file_is_a_cure() {
    let cures = |text: &str| {
        let mut session = Session::new();
        let parsed = parse_text(&mut session, "a.cdp", text, &PreprocessOptions::default());
        let checked = check(&parsed.unit, &session, &CheckOptions::default());
        let all = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
        let said = all.flat_map(|found| &found.helps).filter(|help| help.text == NAME_IT_CU);
        said.count()
    };
    for text in [
        "template <class T> __device__ T f(T x) { return x; }",
        "__device__ int f() { return [](int x) { return x; }(1); }",
        "struct S { int a; __device__ int f() { return a; } };",
        "struct S { S(); int a; };",
        "struct S { static int a; };",
        "struct S { int a; int b = a; };",
        "union U { int a = 1; float b; };",
        "__device__ int f() { struct { int a, b; } s = {1, 2}; auto [x, y] = s; return x + y; }",
        "#include <vector>",
        "thread_local int x;",
        "double x = 1.0L;",
        "long double x;",
        "int f(int a) { decltype(auto) b = a; return b; }",
        "int a = ({ 1; });",
        "int f(); int x = f();",
        "int a[0];",
    ] {
        assert_eq!(cures(text), 1, "{text}");
    }
    // clang refuses these too.
    for text in ["__device__ int f() { throw 1; }", "__device__ int f(int n, ...) { return n; }"] {
        assert_eq!(cures(text), 0, "{text}");
    }
}
