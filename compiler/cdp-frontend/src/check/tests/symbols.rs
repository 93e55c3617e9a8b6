//! Symbol names, compared with those that nvcc 13.0 gives the same declarations.

use super::{accept, function};

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
         __device__ void var(int x, ...) {}
         extern \"C\" __global__ void ck(int x) {}",
    );
    let symbol = |name: &str| function(&module, name).symbol.clone();
    assert_eq!(symbol("k"), "_Z1kPKf6float44dim3PVKi1TPS5_PS6_PKS5_P11CUstream_stPFiifE");
    assert_eq!(symbol("en"), "_Z2en1E2E2yambcwld");
    assert_eq!(symbol("arr"), "_Z3arrRA4_iPA5_iPKPKcDn");
    assert_eq!(symbol("operator+"), "_Zpl6float2S_");
    assert_eq!(symbol("operator-"), "_Zng6float2");
    assert_eq!(symbol("var"), "_Z3variz");
    assert_eq!(symbol("ns::in::h"), "_ZN2ns2in1hENS_1SEPFiS1_S1_E");
    assert_eq!(symbol("ns::f"), "_ZN2ns1fENS_1SEPS0_RKS0_i");
    assert_eq!(symbol("ck"), "ck");
    assert!(module.globals.iter().any(|global| global.symbol == "_ZN2ns1gE"));
}

#[test]
fn static_variables_of_functions() {
    let module = accept(
        "__global__ void k(float4 *p) { static int cnt; { static int cnt; cnt++; } cnt++; }",
    );
    let symbols: Vec<&str> = module.globals.iter().map(|global| global.symbol.as_str()).collect();
    assert_eq!(symbols, ["_ZZ1kP6float4E3cnt", "_ZZ1kP6float4E3cnt_0"]);
}
