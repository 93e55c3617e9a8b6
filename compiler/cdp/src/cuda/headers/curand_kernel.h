/* cuRAND's part for kernels, in the toolkit's own place. For host passes it declares `blockDim` and `threadIdx` again;
   the declarations are to have the types that clang gives them. Nothing else there has these types. */
#pragma once
#ifdef __clang__
#pragma push_macro("dim3")
#pragma push_macro("uint3")
#define dim3 __cuda_builtin_blockDim_t
#define uint3 __cuda_builtin_threadIdx_t
#include_next <curand_mtgp32_kernel.h>
#pragma pop_macro("dim3")
#pragma pop_macro("uint3")
#endif
#include_next <curand_kernel.h>
