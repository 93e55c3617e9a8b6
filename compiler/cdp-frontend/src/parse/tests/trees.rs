//! What programs become.

use super::tree;

/// The tree of a function's body, unindented.
fn body(statements: &str) -> String {
    let text =
        format!("typedef int T; struct S {{ int a; float b[3]; }};\nvoid f() {{\n{statements}\n}}");
    let tree = tree(&text);
    let start = tree.find("function f").expect("the function is there");
    tree[start..]
        .lines()
        .skip(1)
        .map(|line| line.trim_start().to_owned())
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn precedence_and_associativity() {
    assert_eq!(body("a = b + c * d - e;"), "(= a (- (+ b (* c d)) e))");
    assert_eq!(
        body("a = b << 1 + 2 & 3 == 4 | 5 ^ 6;"),
        "(= a (| (& (<< b (+ 1 2)) (== 3 4)) (^ 5 6)))"
    );
    assert_eq!(body("a = b = c;"), "(= a (= b c))");
    assert_eq!(body("a || b && c || d;"), "(|| (|| a (&& b c)) d)");
    assert_eq!(body("x = a ? b : c ? d : e;"), "(= x (? a b (? c d e)))");
    assert_eq!(body("a ? b : c = d;"), "(? a b (= c d))");
    assert_eq!(body("-a * !b + ~*p++;"), "(+ (* (- a) (! b)) (~ (* (post++ p))))");
    assert_eq!(body("a, b, c;"), "(, (, a b) c)");
    assert_eq!(body("a -= b <<= 2;"), "(-= a (<<= b 2))");
    assert_eq!(body("a and not b or c bitand d;"), "(|| (&& a (! b)) (& c d))");
}

#[test]
fn casts_and_constructions() {
    assert_eq!(body("x = (T)y + (T)-1;"), "(= x (+ (CCast T y) (CCast T (- 1))))");
    assert_eq!(body("x = (y) - 1;"), "(= x (- y 1))");
    assert_eq!(body("x = float(y) * T(2);"), "(= x (* new-value float(y) new-value T(2)))");
    assert_eq!(body("x = float(*p);"), "(= x new-value float((* p)))");
    assert_eq!(body("x = T{3};"), "(= x new-value T{3})");
    assert_eq!(body("x = (S){1, {2}};"), "(= x (S){1, {2}})");
    assert_eq!(body("x = static_cast<T *>(p);"), "(= x (StaticCast ptr(T) p))");
    assert_eq!(
        body("x = reinterpret_cast<float (&)[3]>(p);"),
        "(= x (ReinterpretCast ref(array(float, 3)) p))"
    );
    assert_eq!(body("x = (int (*)(float, T))p;"), "(= x (CCast ptr(fn(_: float, _: T) -> int) p))");
    assert_eq!(
        body("x = sizeof(T) * sizeof x + alignof(S);"),
        "(= x (+ (* (sizeof-type T) (sizeof x)) (alignof-type S)))"
    );
    assert_eq!(body("x = (unsigned long long)p;"), "(= x (CCast ulonglong p))");
    assert_eq!(body("x = __builtin_offsetof(S, b[2]);"), "(= x (offsetof S .b[2]))");
    assert_eq!(
        body("x = __builtin_va_arg(x + 1, unsigned *);"),
        "(= x (va-arg (+ x 1) ptr(uint)))"
    );
    assert_eq!(body("T(x);"), "declare x: T");
    assert_eq!(body("T(x + 1);"), "new-value T((+ x 1))");
}

#[test]
fn declarators() {
    assert_eq!(body("int *(*f[3])(float);"), "declare f: array(ptr(fn(_: float) -> ptr(int)), 3)");
    assert_eq!(
        body("int (*p)[3], q[2][4], &r = q[0][0];"),
        "declare p: ptr(array(int, 3)); declare q: array(array(int, 4), 2); declare r: ref(int) = q[0][0]"
    );
    assert_eq!(
        body("void (*(*g)(int))(float) = 0;"),
        "declare g: ptr(fn(_: int) -> ptr(fn(_: float) -> void)) = 0"
    );
    assert_eq!(body("const char *const s = \"a\";"), "declare s: const ptr(const char) = \"a\"");
    assert_eq!(
        body("unsigned char long_name, c = 'c';"),
        "declare long_name: uchar; declare c: uchar = '99'"
    );
    assert_eq!(body("T &&r = T();"), "declare r: rref(T) = new-value T()");
}

#[test]
fn direct_initialisation_or_function() {
    assert_eq!(body("dim3 a(1, 2);"), "declare a: dim3 (1, 2)");
    assert_eq!(body("dim3 a(n);"), "declare a: dim3 (n)");
    assert_eq!(body("dim3 a(int(n), 2);"), "declare a: dim3 (new-value int(n), 2)");
    assert_eq!(body("dim3 a(int(n / 2));"), "declare a: dim3 (new-value int((/ n 2)))");
    assert_eq!(body("T f2(T a, int);"), "declare f2: fn(a: T, _: int) -> T");
    assert_eq!(body("T f2(T);"), "declare f2: fn(_: T) -> T");
    assert_eq!(body("T f2();"), "declare f2: fn() -> T");
    assert_eq!(body("T v{3}, w = {4};"), "declare v: T {3}; declare w: T = {4}");
    assert_eq!(body("int x(3), y(x);"), "declare x: int (3); declare y: int (x)");
}

#[test]
fn a_name_is_a_type_only_where_it_is_declared_as_one() {
    assert_eq!(
        body("{ T T; T = 3; T * 2; } T x;"),
        "block; declare T: T; (= T 3); (* T 2); declare x: T"
    );
    assert_eq!(
        body("for (int T = 0; T < 3; T++) { T * 2; } T *p;"),
        "for (< T 3); init; declare T: int = 0; step (post++ T); block; (* T 2); declare p: ptr(T)"
    );
    assert_eq!(
        body("{ typedef float T; T x; } T y;"),
        "block; declare T: typedef float; declare x: T; declare y: T"
    );
    assert_eq!(body("s.T = p->T + T(1);"), "(= s.T (+ p->T new-value T(1)))");
    assert!(tree("typedef int T; void f(int T) { T = 1; T * 3; } T x;").contains("(* T 3)"));
    assert!(tree("struct stat { int a; }; int stat(struct stat *s); void f() { struct stat s; stat(&s); }").contains("stat((& s))"));
}

#[test]
fn launches() {
    assert_eq!(body("k<<<1, 2>>>();"), "k<<<1, 2>>>()");
    assert_eq!(
        body("k<<<g >> 1, dim3(2), 0, s>>>(a, {1, 2});"),
        "k<<<(>> g 1), new-value dim3(2), 0, s>>>(a, {1, 2})"
    );
    assert_eq!(body("ns::k<<<1, 2>>>(T(1));"), "ns::k<<<1, 2>>>(new-value T(1))");
    assert_eq!(body("table[i]<<<1, 2>>>(x);"), "table[i]<<<1, 2>>>(x)");
    assert_eq!(body("(*fp)<<<1, 2>>>(x);"), "(* fp)<<<1, 2>>>(x)");
    assert_eq!(body("k<<<>>>(x);"), "k<<<>>>(x)");
}

#[test]
fn statements() {
    assert_eq!(body("if (a) if (b) x; else y;"), "if a; if b; x; else; y");
    assert_eq!(body("while (a) if (b) x; else y;"), "while a; if b; x; else; y");
    assert_eq!(body("if (int z = g()) x; else y;"), "if; declare z: int = g(); x; else; y");
    assert_eq!(body("if (int z = 3; z > 2) x;"), "if (> z 2); init; declare z: int = 3; x");
    assert_eq!(body("do x; while (y);"), "do; x; while y");
    assert_eq!(body("switch (x) case 1: y;"), "switch x; case 1; y");
    assert_eq!(
        body("switch (x) { case 0: do { case 1: y; } while (z); default: {} }"),
        "switch x; block; case 0; do; block; case 1; y; while z; default; block"
    );
    assert_eq!(body("case a ? 1 : 2: x;"), "case (? a 1 2); x");
    assert_eq!(body("for (;;) ;"), "for; init; empty; empty");
    assert_eq!(
        body("for (x = 1, y = 2; ; x++) ;"),
        "for; init; (, (= x 1) (= y 2)); step (post++ x); empty"
    );
    assert_eq!(body("return {1, 2};"), "return {1, 2}");
    assert_eq!(body("#pragma unroll\nfor (;;) ;"), "#unroll; for; init; empty; empty");
    assert_eq!(body("#pragma unroll (2 * 4)\nwhile (x) ;"), "#unroll (* 2 4); while x; empty");
    assert_eq!(body("_Pragma(\"unroll 3\") for (;;) ;"), "#unroll 3; for; init; empty; empty");
    assert_eq!(
        body("#pragma cdp launch(serial)\nx;\n#pragma nv_diag_suppress 177\ny;"),
        "#cdp launch ( serial ); x; y"
    );
    assert_eq!(body("x;\n#pragma unroll\n"), "x");
    assert_eq!(body(";;"), "empty; empty");
}

#[test]
fn inline_assembly() {
    assert_eq!(body("asm(\"nop;\");"), "asm \"nop;\"");
    assert_eq!(
        body(
            "asm volatile (\"a %0, %1;\" : \"=r\"(x), \"+f\"(y) : \"n\"(3) : \"memory\", \"cc\");"
        ),
        "asm volatile \"a %0, %1;\"; out \"=r\" x; out \"+f\" y; in \"n\" 3; clobber \"memory\"; clobber \"cc\""
    );
    assert_eq!(body("asm(\"a\" :: \"r\"(x));"), "asm \"a\"; in \"r\" x");
    assert_eq!(body("asm(\"a\" ::: \"memory\");"), "asm \"a\"; clobber \"memory\"");
    assert_eq!(
        body("__asm__ __volatile__(\"a\" \"b\" : [out] \"=l\"(p[1]) :);"),
        "asm volatile \"ab\"; out [out] \"=l\" p[1]"
    );
}

#[test]
fn initialisers() {
    assert_eq!(
        body("S s = {.a = 1, .b = {[1] = 2, 3}};"),
        "declare s: S = {.a = 1, .b = {[1] = 2, 3}}"
    );
    assert_eq!(body("S s = {.b[2] = 1, };"), "declare s: S = {.b[2] = 1}");
    assert_eq!(body("int a[] = {};"), "declare a: array(int) = {}");
    assert_eq!(body("x = {1, 2}; f({3}, {});"), "(= x {1, 2}); f({3}, {})");
}

#[test]
fn memory_expressions() {
    assert_eq!(body("p = new T[n]; delete[] p;"), "(= p (new array(T, n))); (delete[] p)");
    assert_eq!(body("p = new T(3); delete p;"), "(= p (new T (3))); (delete p)");
    assert_eq!(body("p = new (q) T *[2][3];"), "(= p (new (q) array(array(ptr(T), 3), 2)))");
    assert_eq!(
        body("p = new int[n[1]][2]{{1, 2}, {}};"),
        "(= p (new array(array(int, 2), n[1]) {{1, 2}, {}}))"
    );
    assert_eq!(body("p = new S{1};"), "(= p (new S {1}))");
    assert_eq!(body("p = ::new unsigned int;"), "(= p (new uint))");
}

#[test]
fn literals() {
    assert_eq!(body("x = 0x1.8p3f + 1e-3 + .5L + 1.f;"), "(= x (+ (+ (+ 12.0f 0.001) 0.5L) 1.0f))");
    assert_eq!(
        body("x = 1'000'000 + 0xFFull + 0b1010 + 0777 + 5uz;"),
        "(= x (+ (+ (+ (+ 1000000 255ull) 10) 511) 5uz))"
    );
    assert_eq!(
        body(r"x = '\n' + '\x41' + '\101' + '\0' + '\\';"),
        "(= x (+ (+ (+ (+ '10' '65') '65') '0') '92'))"
    );
    assert_eq!(body(r#"x = "a\tb" "\x41" "é";"#), "(= x \"a\\tbAé\")");
    assert_eq!(body("x = R\"(a\\n\"b)\";"), "(= x \"a\\\\n\\\"b\")");
    assert_eq!(body("x = '\\377';"), "(= x '-1')");
    assert_eq!(body("x = nullptr == true;"), "(= x (== nullptr true))");
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
}

#[test]
fn forms_that_look_like_others() {
    assert_eq!(body("int q(int(x) + 1);"), "declare q: int ((+ new-value int(x) 1))");
    assert_eq!(body("int q(int(x));"), "declare q: fn(x: int) -> int");
    assert_eq!(body("x = decltype(a)(b);"), "(= x new-value typeof(a)(b))");
    assert_eq!(body("x = (decltype(a))b;"), "(= x (CCast typeof(a) b))");
    assert_eq!(body("decltype(a)(b + 1);"), "new-value typeof(a)((+ b 1))");
    assert_eq!(body("decltype(a)(b);"), "declare b: typeof(a)");
    assert_eq!(tree("int (&ref())[4];"), "declare ref: fn() -> ref(array(int, 4))\n");
    assert_eq!(body("a ?: b ?: c;"), "(? a (? b c))");
}

/// A tag hides no variable of its own scope, but one of an outer scope.
#[test]
fn variables_and_tags_of_one_name() {
    assert_eq!(
        body("int V = 3; struct V { int a; }; struct V x; V * 2;"),
        "declare V: int = 3; declare struct V; declare a: int; declare x: struct V; (* V 2)"
    );
    assert_eq!(
        body("int V; { struct V { int a; }; V *p; }"),
        "declare V: int; block; declare struct V; declare a: int; declare p: ptr(V)"
    );
    assert_eq!(
        body("struct V { int a; }; int V; V * 2; struct V x;"),
        "declare struct V; declare a: int; declare V: int; (* V 2); declare x: struct V"
    );
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
