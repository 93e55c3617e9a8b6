/* Checks of CUDA's results and the choice of a device, as NVIDIA's samples use them. Own writing. */
#ifndef CDP_SAMPLES_HELPER_CUDA_H
#define CDP_SAMPLES_HELPER_CUDA_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#include "helper_string.h"

inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

template <class T>
void check(T result, const char *function, const char *file, int line) {
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line,
                static_cast<unsigned>(result), _cudaGetErrorEnum(static_cast<cudaError_t>(result)), function);
        exit(EXIT_FAILURE);
    }
}

#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(text) __getLastCudaError(text, __FILE__, __LINE__)
#define printLastCudaError(text) __printLastCudaError(text, __FILE__, __LINE__)

inline void __printLastCudaError(const char *text, const char *file, int line) {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, text,
                static_cast<int>(error), cudaGetErrorString(error));
}

inline void __getLastCudaError(const char *text, const char *file, int line) {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, text,
                static_cast<int>(error), cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline int ftoi(float value) { return value >= 0 ? static_cast<int>(value + 0.5) : static_cast<int>(value - 0.5); }

/* Cores of a multiprocessor, by architecture. */
inline int _ConvertSMVer2Cores(int major, int minor) {
    switch (major) {
    case 3:
        return 192;
    case 6:
        return minor == 0 ? 64 : 128;
    case 7:
        return 64;
    case 8:
        return minor == 0 ? 64 : 128;
    default:
        return 128;
    }
}

inline const char *_ConvertSMVer2ArchName(int major, int minor) {
    switch (major) {
    case 5:
        return "Maxwell";
    case 6:
        return "Pascal";
    case 7:
        return minor >= 5 ? "Turing" : "Volta";
    case 8:
        return minor == 9 ? "Ada" : "Ampere";
    case 9:
        return "Hopper";
    case 10:
    case 11:
    case 12:
        return "Blackwell";
    default:
        return "Graphics Device";
    }
}

inline int gpuDeviceInit(int device) {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count == 0) {
        fprintf(stderr, "gpuDeviceInit() CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    if (device < 0)
        device = 0;
    if (device > count - 1) {
        fprintf(stderr, ">> gpuDeviceInit (-device=%d) is not a valid GPU device. <<\n", device);
        return -device;
    }
    checkCudaErrors(cudaSetDevice(device));
    return device;
}

/* The device with the most multiprocessors. */
inline int gpuGetMaxGflopsDeviceId() {
    int count = 0, best = 0, most = -1;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count == 0) {
        fprintf(stderr, "gpuGetMaxGflopsDeviceId() CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    for (int device = 0; device < count; device++) {
        int multiprocessors = 0, major = 0, minor = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
        int cores = multiprocessors * _ConvertSMVer2Cores(major, minor);
        if (cores > most) {
            most = cores;
            best = device;
        }
    }
    return best;
}

/* The device that `-device=N` names, else the best. */
inline int findCudaDevice(int argc, const char **argv) {
    int device = 0;
    if (checkCmdLineFlag(argc, argv, "device")) {
        device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
        if (device < 0) {
            printf("exiting...\n");
            exit(EXIT_FAILURE);
        }
        return device;
    }
    device = gpuGetMaxGflopsDeviceId();
    checkCudaErrors(cudaSetDevice(device));
    int major = 0, minor = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device,
           _ConvertSMVer2ArchName(major, minor), major, minor);
    return device;
}

inline int findIntegratedGPU() {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++) {
        int integrated = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device));
        if (integrated) {
            checkCudaErrors(cudaSetDevice(device));
            return device;
        }
    }
    fprintf(stderr, "CUDA error: No Integrated GPU found\n");
    exit(EXIT_FAILURE);
}

inline bool checkCudaCapabilities(int wanted_major, int wanted_minor) {
    int device = 0, major = 0, minor = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (major > wanted_major || (major == wanted_major && minor >= wanted_minor)) {
        printf("  Device %d: compute capability %d.%d\n", device, major, minor);
        return true;
    }
    printf("  No GPU device was found that can support CUDA compute capability %d.%d.\n", wanted_major,
           wanted_minor);
    return false;
}

#endif
