// nvcc's built-in atomic functions on numbers, small types and structs, with orders and scopes, which may be left out.
#include <cstdio>
template <class T> __global__ void k(T *a, T *b, int *f) {
  T e = 5, d = 7;
  a[0] = 10;
  b[0] = __nv_atomic_fetch_sub(a, (T)3, __NV_ATOMIC_ACQ_REL);         
  b[1] = __nv_atomic_fetch_add(a, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_store(a + 1, &e, __NV_ATOMIC_RELEASE);
  __nv_atomic_exchange(a + 1, &d, b + 2, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE); // 5
  f[0] = __nv_atomic_compare_exchange(a + 1, &e, &d, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // 0, e 7
  f[1] = __nv_atomic_compare_exchange_n(a + 1, &e, T(9), false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_CLUSTER); // 1
  b[3] = e;
  b[4] = __nv_atomic_exchange_n(a + 1, 4, __NV_ATOMIC_RELAXED); // 9
  __nv_atomic_load(a + 1, b + 5, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_THREAD);
  b[6] = __nv_atomic_load_n(a, __NV_ATOMIC_SEQ_CST);
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_add(a, T(2), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
  b[7] = *a;
}
template <class T> __global__ void ints(T *a, int *f) {
  a[0] = (T)-4;
  f[0] = (int)__nv_atomic_fetch_min(a, 3, __NV_ATOMIC_RELAXED); f[1] = (int)a[0];
  f[2] = (int)__nv_atomic_fetch_max(a, 6, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); f[3] = (int)a[0];
  __nv_atomic_and(a, 14, __NV_ATOMIC_RELAXED); f[4] = (int)a[0];
  __nv_atomic_or(a, 33, __NV_ATOMIC_RELAXED); f[5] = (int)a[0];
  f[6] = (int)__nv_atomic_fetch_xor(a, 40, __NV_ATOMIC_ACQUIRE); f[7] = (int)a[0];
}
template <class T> __global__ void floats(T *a, T *b, int *f) {
  T e = 5, d = 7;
  a[0] = 10;
  b[0] = __nv_atomic_fetch_sub(a, (T)3, __NV_ATOMIC_ACQ_REL);
  b[1] = __nv_atomic_fetch_add(a, (T)1.5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_store(a + 1, &e, __NV_ATOMIC_RELEASE);
  __nv_atomic_exchange(a + 1, &d, b + 2, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  f[0] = __nv_atomic_compare_exchange(a + 1, &e, &d, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED);
  b[3] = e;
  f[1] = __nv_atomic_compare_exchange(a + 1, &e, &d, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
  __nv_atomic_load(a + 1, b + 4, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_CLUSTER);
  b[5] = b[6] = 0;
  b[7] = *a;
}
struct pair { short a, b; };
__global__ void small(unsigned char *c, short *s, pair *p, unsigned *v) {
  __nv_atomic_store_n(c, 200, __NV_ATOMIC_RELAXED); c[1] = __nv_atomic_load_n(c, __NV_ATOMIC_RELAXED);
  __nv_atomic_store_n(s, -5, __NV_ATOMIC_RELAXED); s[1] = __nv_atomic_load_n(s, __NV_ATOMIC_RELAXED);
  pair w = {3, -4}; __nv_atomic_store(p, &w, __NV_ATOMIC_RELAXED); __nv_atomic_load(p, p + 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_add(v, 1u, __NV_ATOMIC_RELAXED);
}
template <class T> void go(const char *n, void (*kernel)(T *, T *, int *)) {
  T *a, *b; int *f; cudaMallocManaged(&a, 64); cudaMallocManaged(&b, 64); cudaMallocManaged(&f, 64);
  kernel<<<1, 1>>>(a, b, f); cudaError_t e = cudaDeviceSynchronize();
  printf("%s %d:", n, e); for (int i = 0; i < 8; i++) printf(" %g", (double)b[i]); printf(" %d %d\n", f[0], f[1]);
}
template <class T> void goi(const char *n) {
  T *a; int *f; cudaMallocManaged(&a, 64); cudaMallocManaged(&f, 64);
  ints<<<1, 1>>>(a, f); cudaError_t e = cudaDeviceSynchronize();
  printf("%s %d:", n, e); for (int i = 0; i < 8; i++) printf(" %d", f[i]); printf("\n");
}
int main() {
  go<int>("int", k<int>); go<unsigned>("unsigned", k<unsigned>); go<unsigned long long>("ull", k<unsigned long long>);
  go<float>("float", floats<float>); go<double>("double", floats<double>);
  goi<int>("int"); goi<unsigned>("unsigned"); goi<long long>("ll"); goi<unsigned long>("ul");
  unsigned char *c; short *s; pair *p; unsigned *v; cudaMallocManaged(&c, 4); cudaMallocManaged(&s, 8); cudaMallocManaged(&p, 8); cudaMallocManaged(&v, 8);
  *v = 1; small<<<1, 1>>>(c, s, p, v); int e = cudaDeviceSynchronize(); printf("%d %d %d %d %d %u\n", e, c[1], s[1], p[1].a, p[1].b, *v);
}
