//! What programs become.

use super::tree;

/// The tree of a function's body, unindented.
fn body(statements: &str) -> String {
    let text =
        format!("typedef int T; struct S {{ int a; float b[3]; }};\nvoid f() {{\n{statements}\n}}");
    let tree = tree(&text);
    let start = tree.find("function f").expect("the function is there");
    tree[start..].lines().skip(1).map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// The cases of `trees.txt`.
#[test]
fn statements_become_trees() {
    let lines = include_str!("trees.txt").lines();
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).peekable();
    let mut count = 0;
    while lines.peek().is_some() {
        let mut statements = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with(' ')) {
            statements.push(line);
        }
        let mut wanted = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            wanted.push(line.trim_start());
        }
        assert_eq!(body(&statements.join("\n")), wanted.join("\n"), "{statements:?}");
        count += 1;
    }
    assert!(count > 90, "the file shrank to {count} cases");
}

#[test]
fn a_name_is_a_type_only_where_it_is_declared_as_one() {
    assert!(tree("typedef int T; void f(int T) { T = 1; T * 3; } T x;").contains("(* T 3)"));
    assert!(tree("struct stat { int a; }; int stat(struct stat *s); void f() { struct stat s; stat(&s); }").contains("stat((& s))"));
}

#[test]
fn records_and_enums() {
    let text = "struct A { int x, *y; unsigned a : 3, : 0, b : 2; union { int i; float f; }; struct B { int c; } b2; A *next; int (*fn)(A *); B bs[2]; };\nA::B g;";
    assert_eq!(
        tree(text).lines().map(str::trim).collect::<Vec<_>>(),
        [
            "declare struct A",
            "declare x: int",
            "declare y: ptr(int)",
            "declare a: uint : 3",
            "declare _: uint : 0",
            "declare b: uint : 2",
            "declare union <anonymous>",
            "declare i: int",
            "declare f: float",
            "declare b2: struct B",
            "declare c: int",
            "declare next: ptr(A)",
            "declare fn: ptr(fn(_: ptr(A)) -> int)",
            "declare bs: array(B, 2)",
            "declare g: A::B",
        ]
    );
    assert_eq!(tree("enum E { A, B = A + 2, }; enum class F : short; E e = A;").lines().count(), 5);
    assert_eq!(tree("typedef enum { X, Y } Z; Z z = Y;").lines().count(), 4);
    assert_eq!(tree("class P { int a; }; P p;").lines().next(), Some("declare class P"));
}

#[test]
fn attributes() {
    let line = |text: &str| tree(text).lines().next().unwrap_or_default().to_owned();
    assert_eq!(line("struct __align__(16) S { int a; };"), "declare struct align(16) S");
    assert_eq!(line("struct alignas(8) S { int a; };"), "declare struct align(8) S");
    assert_eq!(
        line("struct S { int a; } __attribute__((aligned(32), packed));"),
        "declare align(32) [packed] struct S"
    );
    assert_eq!(
        line("__device__ int x __attribute__((unused)) = 3;"),
        "declare x: __device__ int [unused] = 3"
    );
    assert_eq!(line("alignas(float4) char c[4];"), "declare c: array(align(float4) char, 4)");
    assert_eq!(
        line("__global__ void __launch_bounds__(256, 4) k(int);"),
        "declare k: fn(_: int) -> __global__ __launch_bounds__(256, 4) void"
    );
    assert_eq!(
        line("[[nodiscard]] static inline int f(void);"),
        "declare f: fn() -> static inline [[nodiscard]] int"
    );
    assert_eq!(
        line("__global__ void k(const __grid_constant__ int p);"),
        "declare k: fn(p: __grid_constant__ const int) -> __global__ void"
    );
    assert_eq!(
        line("static __forceinline__ __device__ __host__ int f() { return 1; }"),
        "function f: fn() -> static __forceinline__ __device__ __host__ int"
    );
}

#[test]
fn namespaces() {
    let text = "namespace a { namespace b { struct T { int x; }; int f(T); } }\n\
                namespace c = a::b;\n\
                a::b::T t1; c::T t2;\n\
                using namespace a; b::T t3;\n\
                namespace a { b::T t4; }\n\
                void g() { using a::b::T; T t5; a::b::f(t5); ::g(); }\n\
                namespace { int hidden; } inline namespace v1 { typedef int I; } I i;\n\
                int a::b::f(T x) { return x.x; }\n\
                namespace x::y { typedef int U; } x::y::U u;";
    let tree = tree(text);
    for wanted in [
        "declare t1: a::b::T",
        "declare t2: c::T",
        "declare t3: b::T",
        "declare t5: T",
        "declare i: I",
        "declare u: x::y::U",
    ] {
        assert!(tree.contains(wanted), "{wanted} in {tree}");
    }
    assert!(tree.contains("function a::b::f: fn(x: T) -> int"), "{tree}");
}

#[test]
fn linkage_and_operators() {
    assert_eq!(
        tree("extern \"C\" int f(); extern \"C\" { int g(); }\nint h();"),
        "extern \"C\"\n  declare f: fn() -> int\nextern \"C\"\n  declare g: fn() -> int\ndeclare h: fn() -> int\n"
    );
    let text = "float2 operator+(float2 a, float2 b); bool operator==(int2, int2); float2 &operator+=(float2 &a, float b); void f() { operator+(x, y); }";
    let tree = tree(text);
    assert!(tree.contains("declare operator+: fn(a: float2, b: float2) -> float2"), "{tree}");
    assert!(
        tree.contains("declare operator+=: fn(a: ref(float2), b: float) -> ref(float2)"),
        "{tree}"
    );
    assert!(tree.contains("operator+(x, y)"), "{tree}");
}

#[test]
fn other_declarations() {
    assert_eq!(
        tree("using A = int (*)(float); A a;"),
        "using A = ptr(fn(_: float) -> int)\ndeclare a: A\n"
    );
    assert_eq!(
        tree("static_assert(sizeof(int) == 4); static_assert(1, \"m\");"),
        "static_assert (== (sizeof-type int) 4)\nstatic_assert 1 \"m\"\n"
    );
    assert_eq!(
        tree("typedef int V[4], *W; V v; W w;"),
        "declare V: array(typedef int, 4)\ndeclare W: ptr(typedef int)\ndeclare v: V\ndeclare w: W\n"
    );
    assert_eq!(tree("auto f(int a) -> float;"), "declare f: fn(a: int) -> float\n");
    assert_eq!(
        tree("int printf2(const char *, ...); int f(int a = 3, float = 2.f);"),
        "declare printf2: fn(_: ptr(const char), ...) -> int\ndeclare f: fn(a: int = 3, _: float = 2.0f) -> int\n"
    );
    assert_eq!(
        tree("decltype(1 + 2) x; __typeof__(int) y;"),
        "declare x: typeof((+ 1 2))\ndeclare y: typeof(int)\n"
    );
    assert_eq!(
        tree("constexpr int N = 3; extern __shared__ float s[];"),
        "declare N: constexpr int = 3\ndeclare s: array(extern __shared__ float)\n"
    );
    assert_eq!(
        tree("int f() noexcept; void g() throw();"),
        "declare f: fn() -> int noexcept\ndeclare g: fn() -> void noexcept\n"
    );
}

#[test]
fn result_types_after_the_parameters() {
    let names = "namespace n { typedef int T; } struct S { int a; };\n";
    let last = |text: &str| tree(&format!("{names}{text}")).lines().last().map(str::to_owned);
    assert_eq!(last("auto f() -> n::T;").as_deref(), Some("declare f: fn() -> n::T"));
    assert_eq!(
        last("auto f() -> const struct S *;").as_deref(),
        Some("declare f: fn() -> ptr(const struct S)")
    );
    assert_eq!(
        last("auto f() -> int __attribute__((noinline));").as_deref(),
        Some("declare f: fn() -> int [noinline]")
    );
    assert_eq!(
        last("auto f() -> int (*)(S);").as_deref(),
        Some("declare f: fn() -> ptr(fn(_: S) -> int)")
    );
}

#[test]
fn references_to_arrays() {
    assert_eq!(tree("int (&ref())[4];"), "declare ref: fn() -> ref(array(int, 4))\n");
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
