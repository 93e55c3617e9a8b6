#include <stdio.h>
__global__ void childKernel(){ printf("Hello "); }
__global__ void tailKernel(){ printf("World!\n"); }
__global__ void parentKernel(){
    childKernel<<<1,1>>>();
    if (cudaSuccess != cudaGetLastError()) return;
    tailKernel<<<1,1,0,cudaStreamTailLaunch>>>();
}
