// Host code sets a byte beside that of a kernel.
struct Flags { unsigned char ready, full; };
__global__ void fill(Flags *f) { f->full = 1; }
int main()
{
    Flags *f;
    cudaMallocManaged(&f, sizeof(Flags));
    *f = {};
    fill<<<1, 1>>>(f);
    f->ready = 1;
    return cudaDeviceSynchronize() != cudaSuccess;
}
