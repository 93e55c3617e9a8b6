#if defined(__NVCC__)
#define HEADER_BOTH __host__ __device__
#else
#define HEADER_BOTH
#endif

HEADER_BOTH inline int twice(int x) { return 2 * x; }
