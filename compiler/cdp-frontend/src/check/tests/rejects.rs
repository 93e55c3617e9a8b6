//! Programs that must be refused, with which code and which cures.

use super::super::{CheckOptions, check};
use super::codes;
use crate::case_table::assert_table;
use crate::diagnostics::{Help, NAME_IT_CU, WarningOptions};
use crate::parse::parse_text;
use crate::preprocess::PreprocessOptions;
use crate::session::Session;

#[test]
fn programs_are_refused_with_a_code() {
    assert_table(include_str!("rejects.txt"), 16, |text| codes(text).join(" "));
}

#[test]
fn the_first_of_many_errors_are_kept() {
    let syntax = "int x = ;\n".repeat(250);
    let names = "__device__ int f() { return missing; }\n".repeat(250);
    let found = codes(&(syntax + &names));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|code| code == "E0207"), "{found:?}");
}

/// What the findings of a text say against them.
fn helps(text: &str) -> Vec<String> {
    helps_of(text).into_iter().map(|(help, _)| help).collect()
}

/// What they would write instead, or say where that is nothing.
fn cures(text: &str) -> Vec<String> {
    helps_of(text).into_iter().map(|(help, written)| written.unwrap_or(help)).collect()
}

fn helps_of(text: &str) -> Vec<(String, Option<String>)> {
    let mut session = Session::new();
    let parsed = parse_text(&mut session, "a.cdp", text, &PreprocessOptions::default());
    let mut all = parsed.diagnostics;
    all.extend(check(&parsed.unit, &session, &CheckOptions::default()).diagnostics);
    let all = all.finish(&WarningOptions::default(), &session.sources);
    let written = |help: &Help| Some(help.suggestion.as_ref()?.replacement.to_string());
    let helps = all.iter().flat_map(|found| &found.helps);
    helps.map(|help| (help.text.to_string(), written(help))).collect()
}

/// Of names as near as each other the program's own comes first.
#[test]
fn the_nearest_name_is_suggested() {
    let own = "#include <stdio.h>\n__device__ int minn(int a) { return a; } __device__ void f() { ";
    for (wrong, right) in [
        ("pritnf(\"x\");", "printf"),
        ("Printf(\"x\");", "printf"),
        ("mins(1);", "minn"),
        ("__synctreads();", "__syncthreads"),
    ] {
        let text = format!("{own}{wrong} }}");
        assert_eq!(helps(&text), [format!("a similar name exists: `{right}`")], "{text}");
    }
}

/// The cures of common mistakes are what a person would write.
#[test]
fn cures_are_what_was_meant() {
    let own = "#include <stdio.h>\nstruct V { int n; }; enum E { A, B };";
    for (wrong, cure) in [
        ("int *d; cudaMalloc(d, 4);", "(void **)&d"),
        ("int n, *d; cudaMemcpy(d, n, 4, cudaMemcpyHostToDevice);", "&n"),
        ("int n; int *p = n;", "&n"),
        ("V v; V *p = v;", "&v"),
        ("char c = \"h\";", "'h'"),
        ("printf('%d', 1);", "\"%d\""),
        ("E e = A + 1;", "(E)(A + 1)"),
        ("E e = 1;", "(E)1"),
        ("V v, w; v += w;", "define a function `operator+=` for these types"),
        ("bool b = TRUE;", "true"),
        ("flaot3 v;", "float3"),
    ] {
        let text = format!("{own} void f() {{ {wrong} }}");
        assert_eq!(cures(&text), [cure], "{text}");
    }
    let device = |body: &str| format!("__device__ void f(int *p, int i, V *v) {{ {body} }}");
    for (wrong, cure) in [
        ("atomicAdd(p[i], 1);", "&p[i]"),
        ("atomicMax(v->n, i);", "&v->n"),
        ("double d; int e; frexp(d, e);", "&e"),
    ] {
        let text = format!("{own} {}", device(wrong));
        assert_eq!(cures(&text), [cure], "{text}");
    }
    assert_eq!(
        helps("void k(int *p) { p[threadIdx.x] = 1; }"),
        ["declare `k` as `__global__` if it is to be launched, or `__device__`"]
    );
}

/// Headers declare functions, macros and types, not what is inside of those.
#[test]
fn the_header_that_declares_a_name_is_suggested() {
    for (name, header) in [
        ("qsort", "stdlib.h"),
        ("EOF", "stdio.h"),
        ("make_cuComplex", "cuComplex.h"),
        ("M_PI", "math.h"),
    ] {
        let text = format!("int f() {{ return {name}; }}");
        assert_eq!(helps(&text), [format!("`#include <{header}>` declares it")], "{text}");
    }
    for name in ["d", "k", "x", "re", "large", "tm_sec", "compare"] {
        let all = helps(&format!("int f() {{ return {name}; }}"));
        assert!(all.iter().all(|help| !help.contains("#include")), "{name}: {all:?}");
    }
}

/// What clang would take is refused with the file's other name as a cure, said once.
#[test]
fn the_other_name_of_the_file_is_a_cure() {
    let cures = |text: &str| helps(text).iter().filter(|help| *help == NAME_IT_CU).count();
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
        "int f() { return cudaGraphCreate(0, 0); }",
        "int f() { return cuInit(0); }",
        "int f() { return fork(); }",
        "cudaLaunchAttribute a[1];",
        "enum cudaLaunchAttributeID id;",
        "int a = cudaLaunchAttributeCooperative;",
        "__device__ int f(const CUtensorMap *map) { return 0; }",
        "__device__ int f(__nv_fp8_e4m3 x) { return 0; }",
    ] {
        assert_eq!(cures(text), 1, "{text}");
    }
    // clang refuses these too.
    for text in [
        "__device__ int f() { throw 1; }",
        "__device__ int f(int n, ...) { return n; }",
        "__device__ int f() { return cudaGraphCreate(0, 0); }",
        "int f() { return cudaThreadSynchronize(); }",
    ] {
        assert_eq!(cures(text), 0, "{text}");
    }
}
