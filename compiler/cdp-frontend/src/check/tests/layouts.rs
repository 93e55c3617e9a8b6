//! Layouts of records, compared with what a program compiled by nvcc 13.0 printed.

use super::accept;

#[test]
fn sizes_alignments_and_offsets() {
    accept(
        "#include <stddef.h>
         struct A { char c; double d; short s; };
         static_assert(sizeof(A) == 24 && offsetof(A, d) == 8 && offsetof(A, s) == 16, \"\");
         struct __align__(16) B { int x; };
         static_assert(sizeof(B) == 16 && alignof(B) == 16, \"\");
         struct C { char c; B b; float4 f[2]; };
         static_assert(sizeof(C) == 64 && offsetof(C, b) == 16 && offsetof(C, f[1].y) == 52, \"\");
         struct D { unsigned a : 3; unsigned b : 30; char c : 2; long long d : 40; };
         static_assert(sizeof(D) == 16, \"\");
         struct __attribute__((packed)) E { char c; int i; };
         static_assert(sizeof(E) == 5 && offsetof(E, i) == 1, \"\");
         union U { char c[9]; double d; };
         static_assert(sizeof(U) == 16, \"\");
         struct Empty {};
         static_assert(sizeof(Empty) == 1, \"\");
         struct F { char c; alignas(32) int i; char d; };
         static_assert(sizeof(F) == 64 && offsetof(F, i) == 32 && alignof(F) == 32, \"\");
         struct G { float3 p; char c; uchar3 u; double2 d; };
         static_assert(sizeof(G) == 32 && offsetof(G, u) == 13 && offsetof(G, d) == 16, \"\");",
    );
}
