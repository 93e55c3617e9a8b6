// Says what a call returned if it is not success.
#pragma once
#include <cstdio>
#include <cuda_runtime.h>
#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t error_ = (call);                                                     \
        if (error_ != cudaSuccess)                                                       \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error_));      \
    } while (0)
