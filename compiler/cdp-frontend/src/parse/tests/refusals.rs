//! What the subset leaves out: one code for each construct, and nothing else from the rest.

use super::{codes, findings};

/// Exactly this code, and the declaration after it is still read without complaint.
fn refused(code: &str, text: &str) {
    let whole = format!("{text}\n__global__ void after(int *p) {{ p[0] = 1; }}\n");
    assert_eq!(codes(&whole), [code], "{:?}", findings(&whole));
}

fn refused_in_body(code: &str, statements: &str) {
    refused(
        code,
        &format!(
            "struct B {{ int a; }};\n__device__ int f(int n, B *p) {{\n{statements}\nreturn n;\n}}"
        ),
    );
}

#[test]
fn templates() {
    refused("E0220", "template <typename T> __global__ void k(T *p) { *p = T(); }");
    refused("E0220", "template <int N, typename T = float> struct A { T v[N]; };");
    refused("E0220", "template <typename... Ts> int f(Ts... ts);");
    refused("E0220", "template <typename T> using V = T *;");
    assert_eq!(
        codes(
            "template <typename T> T f(T x) { return x; }\nint a = f<int>(3); int b = f<float>(2) > 1;"
        ),
        ["E0220", "E0220", "E0220"]
    );
    assert_eq!(
        codes(
            "template <typename T> struct V { T x; };\nV<int> v; void g(V<float> *p, const V<V<int>> &q);"
        ),
        ["E0220", "E0220", "E0220", "E0220"]
    );
}

#[test]
fn classes() {
    refused("E0222", "struct A { int a; int get() const { return a; } };");
    refused("E0222", "struct A { __device__ void set(int v); int a; };");
    refused("E0223", "struct A { A() : a(1) {} int a; };");
    refused("E0223", "struct A { int a; __device__ A(int x) { a = x; } };");
    refused("E0223", "struct A { int a; ~A() {} };");
    refused("E0223", "struct A { explicit A(int); };");
    refused("E0224", "class A { public: int a; };");
    refused("E0225", "struct A { int a; }; struct B : public A { int b; };");
    refused("E0226", "struct A { virtual void f() = 0; };");
    refused("E0236", "struct A { int a; A operator+(A b) { return b; } };");
    refused("E0236", "struct A { int a; operator int() { return a; } };");
    refused("E0239", "struct A { static int n; };");
    refused("E0239", "struct A { int a; friend void f(A); };");
    refused_in_body("E0222", "n = this->a;");
    refused_in_body("E0237", "n = p->*n;");
    refused("E0237", "struct A { int a; }; int A::*member;");
}

#[test]
fn functions_and_control() {
    refused_in_body("E0221", "auto g = [=](int x) { return x + n; };");
    refused_in_body("E0221", "n = [&] __device__ (int x) -> int { return x; }(3);");
    refused_in_body("E0221", "apply(n, [](int x) { return x; });");
    refused_in_body("E0227", "throw n;");
    refused_in_body("E0227", "try { n = 1; } catch (int e) { n = 2; } catch (...) { n = 3; }");
    refused_in_body("E0228", "goto *table[n];");
    refused_in_body("E0238", "switch (n) { case 1 ... 3: n = 2; break; default: n = 1; }");
    refused_in_body("E0239", "n = _Generic(n, int: 1, float: 2);");
    refused_in_body("E0239", "n = _Alignof(int) + 1;");
    refused_in_body("E0239", "n = sizeof(_Bool);");
    refused_in_body("E0230", "co_await n;");
    refused_in_body("E0230", "co_return n;");
    refused_in_body("E0231", "n = dynamic_cast<B *>(p)->a;");
    refused_in_body(
        "E0231",
        "n = typeid(n) == typeid(int);".replace("== typeid(int)", "").as_str(),
    );
    refused_in_body("E0232", "auto [a, b] = pair;");
    refused_in_body("E0232", "const auto &[a, b] = pair;");
    refused_in_body("E0232", "for (auto [a, b] : pairs) n++;");
    refused_in_body("E0232", "for (const auto &[a, b] : pairs) { n++; }");
    refused_in_body("E0232", "if (auto [a, b] = pair; n) n++;");
    refused_in_body("E0238", "n = ({ int z = n; z + 1; });");
    refused_in_body("E0238", "void *q = &&end;");
}

#[test]
fn the_rest() {
    refused_in_body("E0233", "n = 12_km;");
    refused_in_body("E0233", "const char *s = \"text\"_s;");
    refused("E0234", "concept Small = true;");
    refused("E0235", "export int x;");
    refused("E0239", "_Bool flag;");
    refused("E0239", "_Static_assert(1, \"x\");");
    refused("E0239", "consteval int f() { return 1; }");
    refused("E0240", "bool b = 1 <=> 2;");
    refused("E0241", "asm(\".global .u32 x;\");");
    refused("E0243", "#include <vector>");
    refused("E0243", "#include <cooperative_groups.h>");
    refused("E0243", "void f(const std::vector<int> &v);");
    refused("E0243", "std::string s;");
    refused("E0244", "_Float16 h;");
    refused("E0244", "const long double h = 1;");
}

#[test]
fn declarations_outside() {
    refused("E0239", "void f(int) = delete;");
    refused("E0239", "struct S { int a; }; bool operator==(S, S) = default;");
    refused("E0239", "void f(const float *restrict const b);");
    refused("E0239", "enum class E { A }; using enum E;");
    refused("E0239", "struct S { using A::a; int b; };");
    refused("E0239", "int x __attribute__((vector_size(16)));");
    refused("E0239", "[[gnu::weak]] int x;");
    refused("E0235", "import std;");
    refused("E0240", "auto f(int a) -> decltype(a) { return a; }");
    refused("E0240", "auto f(int a) -> const decltype(a + 1) &;");
    refused("E0240", "bool b = noexcept(1 + 1);");
    refused("E0238", "int a[9] = {[2 ... 5] = 1, 2};");
    refused("E0238", "struct P { int a, b; } p = { a: 1, 2 };");
    refused("E0221", "auto l = []<class T>(T a) { return a; };");
    refused("E0232", "struct P { int a, b; } p; auto [x, y] = p; int z = x + y;");
    refused_in_body("E0232", "const auto &[x, y] = p[0]; n = x + y;");
    refused_in_body("E0238", "int g(int a) { if (a) { return 1; } return a; } n = g(n);");
    refused_in_body("E0228", "__label__ out;");
    refused_in_body("E0239", "__auto_type x = n;");
    assert_eq!(
        codes(
            "int operator\"\"_k(unsigned long long a) { return 1; } int operator \"\" _m(long double);"
        ),
        ["E0233", "E0233", "E0244"]
    );
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

/// What looks like something refused and is not.
#[test]
fn innocent_look_alikes() {
    for text in [
        "void f() { int a[3]; a[0] = (a[1]) < a[2]; bool b = a[0] < 3 && a[1] > 4; }",
        "void f(int a, int b) { g(a < b, b > a); }",
        "void f(int i) { int x = i ? 1 : 2; switch (i) { case 1: x = 2; default: x = 3; } }",
        "int final; void g() { final = 1; int override = final; }",
        "int a[] = {[0] = 1, [2] = 3};",
        "void f(int *p) { delete[] p; int x = p[0]; }",
        "void f() { for (int i = c ? 1 : 2; i < 3; ++i) { } }",
        "void f(int n) { int y = n && n; bool z = !n && (n || n); }",
        "namespace n { void f(); int g; struct S { int a; }; } using n::f, n::g, n::S; S s;",
        "void h() { using n::f, n::g; f(); }",
        "void f([[maybe_unused]] int a, [[maybe_unused]] float b) { [[maybe_unused]] int c = 1; }",
        "int restrict; void f(int *p, int restrict) { int x[3]; x[restrict] = restrict; }",
        "void f(int n) { for (int x : list) n += x; for (auto &x : list) { n += x ? 1 : 2; } }",
        "void f(int n) { for (int i = c ? 1 : 2; const auto x : a[i ? 2 : 3]) for (;;) n += x; }",
        "void f(int n) { if (n) for (unsigned x : s.list) if (x) n++; else n--; }",
        "dim3 g(n); int x(a); struct T { int b; } y(c);",
        "void f() noexcept(true); void (*g)(int) noexcept; int h() noexcept { return 1; }",
        "void f() { int g(int); int h(3), k = 2; { g(h); } }",
        "struct S { int (*get)(struct S *); int x; }; int call(S *s) { return s->get(s); }",
    ] {
        assert_eq!(findings(text), Vec::<String>::new(), "{text}");
    }
}
