// Loads and stores with cache operators, of every size of type; a hyperbolic tangent; a launch with braces.
#include <cstdio>

__nv_pure__ __device__ int square(int x) { return x * x; }

template <typename T>
static inline __device__ void through(T *p, const T &value)
{
    __stcg(p, value);
    __stcs(p + 1, __ldca(p));
    __stwb(p + 2, __ldlu(p + 1));
}

struct fields {
    char c[4];
    short s[4];
    float f[4];
    double d[4];
    uchar2 c2[4];
    short4 s4[4];
    int4 i4[4];
    unsigned long u[4];
};

static inline __global__ void leaf(fields *a, int add)
{
    through(a->c, (char)-3);
    through(a->s, (short)-300);
    through(a->f, 1.5f);
    through(a->d, -2.25);
    through(a->c2, make_uchar2(200, 7));
    through(a->s4, make_short4(1, -2, 3, -4));
    through(a->i4, make_int4(5, 6, -7, square(add)));
    __stwt(a->u, 9ul);
    a->u[1] = __ldcg(a->u);
    a->u[2] = __ldcs(a->u + 1) + __ldcv(a->u + 1);
    a->f[3] = __tanhf(0.0f);
}

__global__ void root(fields *a) { leaf<<<{1}, {1, 1, 1}, 0, {}>>>(a, 4); }

int main()
{
    fields *a;
    cudaMallocManaged(&a, sizeof(fields));
    root<<<{1, 1}, {1}>>>(a);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%d %d %g %g %d %d\n", a->c[2], a->s[2], a->f[2], a->d[2], a->c2[2].x, a->c2[2].y);
    printf("%d %d %d %d %d %d %d %d\n", a->s4[2].x, a->s4[2].y, a->s4[2].z, a->s4[2].w, a->i4[2].x, a->i4[2].y,
           a->i4[2].z, a->i4[2].w);
    printf("%lu %lu %lu %g %d\n", a->u[0], a->u[1], a->u[2], a->f[3], (int)((float)rand() / RAND_MAX > 2));
}
