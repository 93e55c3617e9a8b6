// The host takes a copy of a managed structure while a kernel changes it.
struct State { int step; float values[15]; };
__global__ void next(State *s) { s->values[threadIdx.x] += 1; if (threadIdx.x == 0) s->step++; } //~ race
int main()
{
    State *s;
    cudaMallocManaged(&s, sizeof(State));
    *s = State{};
    next<<<1, 15>>>(s);
    State kept = *s; //~ race
    next<<<1, 15>>>(s);
    return cudaDeviceSynchronize() != cudaSuccess || kept.step > 1;
}
