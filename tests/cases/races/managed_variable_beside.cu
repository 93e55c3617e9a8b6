// Host code adds to a managed variable while a kernel does.
__managed__ int total;
__global__ void add() { atomicAdd(&total, 1); } //~ race
int main()
{
    total = 10;
    add<<<1, 64>>>();
    total += 5; //~ race
    return cudaDeviceSynchronize() != cudaSuccess;
}
