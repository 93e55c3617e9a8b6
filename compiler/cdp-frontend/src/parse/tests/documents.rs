//! The shapes of device code that the programming guides print.

use super::tree;

#[test]
fn hello_world_with_tail_launch() {
    let tree = tree(
        "#include <stdio.h>\n\
         __global__ void childKernel() { printf(\"Hello \"); }\n\
         __global__ void tailKernel() { printf(\"World!\\n\"); }\n\
         __global__ void parentKernel()\n{\n\
         childKernel<<<1,1>>>();\n\
         if (cudaSuccess != cudaGetLastError()) { return; }\n\
         tailKernel<<<1,1,0,cudaStreamTailLaunch>>>();\n}\n\
         int main(int argc, char *argv[])\n{\n\
         parentKernel<<<1,1>>>();\n\
         if (cudaSuccess != cudaGetLastError()) { return 1; }\n\
         if (cudaSuccess != cudaDeviceSynchronize()) { return 2; }\n\
         return 0;\n}\n",
    );
    assert!(tree.contains("tailKernel<<<1, 1, 0, cudaStreamTailLaunch>>>()"), "{tree}");
}

#[test]
fn recursive_launch_with_dynamic_shared_memory() {
    let tree = tree(
        "__global__ void permute(int n, int *data) {\n\
         extern __shared__ int smem[];\n\
         if (n <= 1) return;\n\
         smem[threadIdx.x] = data[threadIdx.x];\n\
         __syncthreads();\n\
         if (threadIdx.x == 0) {\n\
         permute<<< 1, 256, n/2*sizeof(int) >>>(n/2, data);\n\
         permute<<< 1, 256, n/2*sizeof(int) >>>(n/2, data+n/2);\n\
         }\n}\n\
         void host_launch(int *data) { permute<<< 1, 256, 256*sizeof(int) >>>(256, data); }\n",
    );
    assert!(
        tree.contains("permute<<<1, 256, (* (/ n 2) (sizeof-type int))>>>((/ n 2), data)"),
        "{tree}"
    );
}

#[test]
fn grid_size_from_ceil() {
    let tree = tree(
        "__global__ void c(float *p, int n);\n__global__ void k(float *p, int n) { c<<< ceil(n/256.0), 256 >>>(p, n); }",
    );
    assert!(tree.contains("c<<<ceil((/ n 256.0)), 256>>>(p, n)"), "{tree}");
}

#[test]
fn globals_addresses_and_locks() {
    tree(
        "__device__ int value; __constant__ int limits[4];\n\
         __device__ volatile int lock = 0;\n\
         __global__ void set() { int *p = &value; *p = limits[0]; while (atomicCAS((int *)&lock, 0, 1) != 0); __threadfence(); lock = 0; }\n\
         __global__ void x() { unsigned int ns = 8; while (atomicCAS((int *)&lock, 0, 1) == 1) { __nanosleep(ns); if (ns < 256) { ns *= 2; } } }\n\
         __device__ int atomicAggInc(int *ptr) { int mask = __match_any_sync(__activemask(), (unsigned long long)ptr);\n\
         int leader = __ffs(mask) - 1; int res; unsigned lane = threadIdx.x % 32;\n\
         if (lane == leader) res = atomicAdd(ptr, __popc(mask)); res = __shfl_sync(mask, res, leader);\n\
         return res + __popc(mask & ((1 << lane) - 1)); }\n",
    );
}

#[test]
fn stream_and_event_calls() {
    tree(
        "__global__ void k(int *p) { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n\
         cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming);\n\
         k<<<1, 1, 0, s>>>(p); cudaEventRecord(e, s); cudaStreamWaitEvent(s, e, 0); cudaStreamDestroy(s); }",
    );
}
