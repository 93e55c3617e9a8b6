// The built-in variables as nvcc declares them. clang's wrapper of CUDA's headers has classes for them that cannot be copied;
// its variables get other names. What reads these reads the registers (crate cdp-llvm, builtins.rs); host code that comes to
// one has none.
#pragma once

#define threadIdx __cdp_clangs_threadIdx
#define blockIdx __cdp_clangs_blockIdx
#define blockDim __cdp_clangs_blockDim
#define gridDim __cdp_clangs_gridDim
#include <__clang_cuda_builtin_vars.h>
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

extern const __attribute__((device)) __attribute__((__weak__)) uint3 threadIdx;
extern const __attribute__((device)) __attribute__((__weak__)) uint3 blockIdx;
extern const __attribute__((device)) __attribute__((__weak__)) dim3 blockDim;
extern const __attribute__((device)) __attribute__((__weak__)) dim3 gridDim;
