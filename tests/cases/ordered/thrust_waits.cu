// Thrust has waited for what it writes before the host reads it.
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
struct Write {
    int *p;
    __device__ void operator()(int i) const { p[i] = 7; }
};
int main()
{
    int *p;
    cudaMallocManaged(&p, 4096);
    p[0] = 1;
    cudaStream_t s;
    cudaStreamCreate(&s);
    auto first = thrust::make_counting_iterator(0);
    thrust::for_each_n(thrust::cuda::par.on(s), first, 1024, Write{p});
    int seen = p[1000];
    return seen != 7;
}
