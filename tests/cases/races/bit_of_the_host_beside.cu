// Host code sets a bit of the word of which a kernel sets another one.
struct Flags { unsigned ready : 1, full : 1; };
__global__ void fill(Flags *f) { f->full = 1; } //~ race
int main()
{
    Flags *f;
    cudaMallocManaged(&f, sizeof(Flags));
    *f = {};
    fill<<<1, 1>>>(f);
    f->ready = 1; //~ race
    return cudaDeviceSynchronize() != cudaSuccess;
}
