//! Symbol names, compared with those that nvcc 13.0 gives the same declarations.

use super::{accept, accept_with, function, host};

#[test]
fn functions_mangle_as_in_nvcc() {
    let module = accept(
        "namespace ns { struct S { int a; }; __device__ int g; __device__ void f(S s, S *p, const S &r, int x) {}
           namespace in { __device__ void h(S a, int (*fp)(S, S)) {} } }
         struct T { float x; };
         __global__ void k(const float *__restrict__ a, float4 b, dim3 c, const volatile int *d, T t, T *tp, T **tpp,
                           const T *ct, cudaStream_t s, int (*fp)(int, float)) {}
         enum class E { A }; enum E2 { B };
         __device__ void en(E a, E2 b, unsigned long long c, signed char d, size_t e, bool f, char g, wchar_t h, long i, double j) {}
         __device__ void arr(int (&a)[4], int (*b)[5], const char *const *c, decltype(nullptr) n) {}
         __device__ float2 operator+(float2 a, float2 b) { return a; }
         __device__ float2 operator-(float2 a) { return a; }
         extern \"C\" __global__ void ck(int x) {}",
    );
    let symbol = |name: &str| function(&module, name).symbol.clone();
    assert_eq!(symbol("k"), "_Z1kPKf6float44dim3PVKi1TPS5_PS6_PKS5_P11CUstream_stPFiifE");
    assert_eq!(symbol("en"), "_Z2en1E2E2yambcwld");
    assert_eq!(symbol("arr"), "_Z3arrRA4_iPA5_iPKPKcDn");
    assert_eq!(symbol("operator+"), "_Zpl6float2S_");
    assert_eq!(symbol("operator-"), "_Zng6float2");
    assert_eq!(symbol("ns::in::h"), "_ZN2ns2in1hENS_1SEPFiS1_S1_E");
    assert_eq!(symbol("ns::f"), "_ZN2ns1fENS_1SEPS0_RKS0_i");
    assert_eq!(symbol("ck"), "ck");
    assert!(module.globals.iter().any(|global| global.symbol == "_ZN2ns1gE"));
}

#[test]
fn variable_arguments() {
    let module = accept_with(
        "#include <stdarg.h>\n\
         void var(int x, ...) {}\n\
         void list(va_list l, va_list *p, const va_list *c) {}",
        &host(),
    );
    assert_eq!(function(&module, "var").symbol, "_Z3variz");
    let list = "_Z4listP13__va_list_tagPA1_S_PA1_KS_";
    assert_eq!(function(&module, "list").symbol, list);
}

#[test]
fn static_variables_of_functions() {
    let module = accept(
        "__global__ void k(float4 *p) { static int cnt; { static int cnt; cnt++; } cnt++; }",
    );
    let symbols: Vec<&str> = module.globals.iter().map(|global| global.symbol.as_str()).collect();
    assert_eq!(symbols, ["_ZZ1kP6float4E3cnt", "_ZZ1kP6float4E3cnt_0"]);
}

#[test]
fn a_block_names_the_variable_of_the_file() {
    let module = accept(
        "__global__ void k1() { extern __device__ int x; x = 1; }
         __align__(16) __device__ int x = 5;
         __global__ void k2() { extern __device__ int x; x = 2; }
         __global__ void k3(int *p) { extern __shared__ int s[]; extern __constant__ int c[]; s[0] = c[1]; }
         extern __shared__ int s[];
         __constant__ int c[4];
         __global__ void k4(int *p) { s[0] = c[2]; }
         extern \"C\" { __global__ void k5() { extern __device__ int late; late = 1; } __device__ int late; }
         namespace { __global__ void k6() { extern __device__ int inner; inner = 1; } __device__ int inner; }
         __global__ void k7() { extern __device__ int elsewhere; elsewhere = inner; k6<<<1, 1>>>(); }",
    );
    let mut globals: Vec<_> = module
        .globals
        .iter()
        .map(|global| (global.symbol.as_str(), global.defined, global.align))
        .collect();
    globals.sort();
    assert_eq!(
        globals,
        [
            ("_ZN12_GLOBAL__N_15innerE", true, 4),
            ("c", true, 4),
            ("elsewhere", false, 4),
            ("late", true, 4),
            ("s", false, 4),
            ("x", true, 16),
        ]
    );
}
