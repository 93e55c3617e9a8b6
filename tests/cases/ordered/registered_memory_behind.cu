// Host code adds up registered memory once a kernel has changed it.
#include <vector>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main()
{
    std::vector<int> values(64, 3);
    cudaHostRegister(values.data(), 256, cudaHostRegisterDefault);
    twice<<<1, 64>>>(values.data());
    cudaDeviceSynchronize();
    int sum = 0;
    const int *p = values.data();
    for (int i = 0; i < 64; i++)
        sum += p[i];
    cudaHostUnregister(values.data());
    return sum != 6 * 64;
}
