//! Programs that must be refused, and with which code. (Each code's page has an example too, which
//! the suite runs.)

use cdp_ir as ir;

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
fn pointers_that_a_child_cannot_reach() {
    let with = |body: &str| {
        format!(
            "__global__ void child(int *p) {{ *p = 1; }} __device__ int g; __global__ void parent(int *data, int n) {{ {body} }}"
        )
    };
    refuse(&["E0403"], &with("int x = 1; child<<<1, 1>>>(&x);"));
    refuse(&["E0403"], &with("int x[4]; child<<<1, 1>>>(x);"));
    refuse(&["E0403"], &with("int x[4]; child<<<1, 1>>>(x + 2);"));
    refuse(&["E0403"], &with("int x[4]; child<<<1, 1>>>(&x[n]);"));
    refuse(&["E0403"], &with("int x; int *p = &x; int *q = p; child<<<1, 1>>>(q);"));
    refuse(&["E0403"], &with("child<<<1, 1>>>(&n);"));
    refuse(&["E0403"], &with("struct S { int v[2]; } s; child<<<1, 1>>>(s.v);"));
    refuse(&["E0404"], &with("__shared__ int x[4]; child<<<1, 1>>>(x);"));
    refuse(&["E0404"], &with("extern __shared__ int x[]; int *p = x; child<<<1, 1>>>(p);"));
    refuse(&["W0710"], &with("int x; int *p = &x; if (n) p = data; child<<<1, 1>>>(p);"));
    refuse(&["W0710"], &with("__shared__ int x; child<<<1, 1>>>(n ? &x : data);"));
    refuse(
        &[],
        &with("child<<<1, 1>>>(data); child<<<1, 1>>>(&g); int *p = data + n; child<<<1, 1>>>(p);"),
    );
    refuse(&[], &with("int *p; cudaMalloc(&p, 4); child<<<1, 1>>>(p); child<<<1, 1>>>(new int);"));
}

#[test]
fn launch_configurations() {
    let with = |config: &str| {
        format!(
            "__global__ void child() {{}} __global__ void parent(int n) {{ dim3 big(32, 64); dim3 fine(8, 8); child<<<{config}>>>(); }}"
        )
    };
    refuse(&["E0406"], &with("1, 1025"));
    refuse(&["E0406"], &with("1, 0"));
    refuse(&["E0406"], &with("1, dim3(1, 1, 65)"));
    refuse(&["E0406"], &with("1, dim3(32, 33)"));
    refuse(&["E0406"], &with("1, big"));
    refuse(&["E0407"], &with("0, 1"));
    refuse(&["E0407"], &with("dim3(1, 65536), 1"));
    refuse(&["E0408"], &with("1, 1, 1 << 20"));
    refuse(&["E0413"], &with("1"));
    refuse(&["E0413"], &with("1, 1, 0, 0, 0"));
    refuse(&["E0413"], &with("1, 1, 0, n"));
    refuse(&["E0413"], &with("\"x\", 1"));
    refuse(&[], &with("fine, fine"));
    refuse(&[], &with("n, n, n, 0"));
}

#[test]
fn versions_of_the_device_runtime() {
    let text = "__global__ void child() {}
                __global__ void parent() { child<<<1, 1, 0, cudaStreamTailLaunch>>>(); }";
    let cdp1 = CheckOptions {
        target: ir::Target::Device { cdp: ir::CdpVersion::Cdp1 },
        arch: 80,
        ..CheckOptions::default()
    };
    assert_eq!(check_with(text, &cdp1).2, ["E0414"]);
    let v1 = CheckOptions { v1_launch_abi: true, ..CheckOptions::default() };
    assert_eq!(check_with(text, &v1).2, ["E0415"]);
    let sync = "__global__ void child() {}
                __global__ void parent() { child<<<1, 1>>>(); cudaDeviceSynchronize(); }";
    assert!(check_with(sync, &cdp1).2.is_empty());
    assert_eq!(check_with(sync, &CheckOptions::default()).2, ["E0601"]);
    let late = CheckOptions { arch: 90, ..cdp1 };
    assert_eq!(check_with(sync, &late).2, ["E0416", "E0416"]);
}

#[test]
fn constant_memory_and_sides() {
    refuse(&["E0507"], "__constant__ int c[4]; __global__ void k() { c[1] = 2; }");
    refuse(&["E0507"], "struct S { int a; }; __constant__ S s; __global__ void k() { s.a++; }");
    refuse(&["E0507"], "__global__ void k() { threadIdx.x = 2; }");
    refuse(&["E0501"], "void h(); __global__ void k() { h(); }");
    refuse(&["E0502"], "__device__ void d(); void h() { d(); }");
    refuse(&["E0503"], "int g; __global__ void k() { g = 1; }");
    refuse(&["E0504"], "__device__ int g; void h() { g = 1; }");
    refuse(&[], "__device__ int g; void h(int *p) { cudaMemcpyToSymbol(g, p, 4); }");
    refuse(&["E0410"], "__global__ void c(); __global__ void k() { c(); }");
    refuse(&["E0411"], "__device__ void c(); __global__ void k() { c<<<1, 1>>>(); }");
    refuse(&["E0409"], "__global__ void c(); __host__ __device__ void k() { c<<<1, 1>>>(); }");
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
