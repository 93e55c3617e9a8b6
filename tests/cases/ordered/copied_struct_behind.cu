// The host takes a copy of a managed structure between two kernels.
struct State { int step; float values[15]; };
__global__ void next(State *s) { s->values[threadIdx.x] += 1; if (threadIdx.x == 0) s->step++; }
int main()
{
    State *s;
    cudaMallocManaged(&s, sizeof(State));
    *s = State{};
    next<<<1, 15>>>(s);
    cudaDeviceSynchronize();
    State kept = *s;
    next<<<1, 15>>>(s);
    return cudaDeviceSynchronize() != cudaSuccess || kept.step > 1;
}
