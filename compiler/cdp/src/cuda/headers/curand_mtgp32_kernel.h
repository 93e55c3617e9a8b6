/* clang's wrapper of CUDA's headers includes this part of cuRAND in every file. It belongs to a library
   that a program asks for by itself, and then gets.

   What stands here instead is what clang lacks for clusters of blocks: it forgets `__cluster_dims__` where it
   makes code for NVIDIA's devices, and cooperative groups want to be told that it has the functions. */
#ifdef __CDP_BEGUN
#include_next <curand_mtgp32_kernel.h>
#else
#undef __cluster_dims__
#define __cluster_dims__(...) __attribute__((annotate("cdp.cluster_dims", __VA_ARGS__)))
#define _CG_CLUSTER_INTRINSICS_AVAILABLE
#endif
