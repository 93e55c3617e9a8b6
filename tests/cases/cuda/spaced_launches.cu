// Launches with spaces before the last of their brackets, as old samples and formatters of other languages write them.
#include <cstdio>
#include <vector>

template <typename T>
__global__ void add(T *place, T value)
{
    atomicAdd(place, value);
}

__global__ void parent(int *place, int count)
{
    void *bytes = place; // a step of it is refused in a file that was written anew already
    add << <1, 32 >> > ((int *)(bytes + 0), 1); // not a launch: k << <1, 1>> >()
    add<int><< <dim3(count >> 1), 32>> >(place, 2);
    add << <(count << 1), 1, 0, cudaStreamTailLaunch>>>(place, 100);
}

int main()
{
    int *place;
    cudaMallocManaged(&place, sizeof *place);
    *place = 0;
    std::vector<std::vector<std::vector<int> > > none(3);
    parent << <1, 1 >> > (place, 4);
    cudaDeviceSynchronize();
    printf("%d %zu %s\n", *place, none.size(), "k << <1, 1>> >()");
}
