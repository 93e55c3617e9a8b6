// Host code adds up registered memory while a kernel changes it.
#include <vector>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; } //~ race
int main()
{
    std::vector<int> values(64, 3);
    cudaHostRegister(values.data(), 256, cudaHostRegisterDefault);
    twice<<<1, 64>>>(values.data());
    int sum = 0;
    const int *p = values.data();
    for (int i = 0; i < 64; i++)
        sum += p[i]; //~ race
    cudaDeviceSynchronize();
    cudaHostUnregister(values.data());
    return sum < 0;
}
