/* Checks of the driver's results and the choice of a device by its calls, as NVIDIA's samples use them. The calls want
   `cuda.h` before this header. Own writing. */
#ifndef CDP_SAMPLES_HELPER_CUDA_DRVAPI_H
#define CDP_SAMPLES_HELPER_CUDA_DRVAPI_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#ifndef CDP_SAMPLES_HELPER_CUDA_H
inline int ftoi(float value) { return value >= 0 ? static_cast<int>(value + 0.5) : static_cast<int>(value - 0.5); }
#endif

/* Cores of a multiprocessor, by architecture. */
inline int _ConvertSMVer2CoresDRV(int major, int minor) {
    if (major == 3)
        return 192;
    return major == 7 || (major == 6 && minor == 0) || (major == 8 && minor == 0) ? 64 : 128;
}

#ifdef __cuda_cuda_h__
#ifndef checkCudaErrors
#define checkCudaErrors(call) __checkCudaErrors(call, __FILE__, __LINE__)

inline void __checkCudaErrors(CUresult error, const char *file, const int line) {
    if (error == CUDA_SUCCESS)
        return;
    const char *text = NULL;
    cuGetErrorString(error, &text);
    fprintf(stderr, "checkCudaErrors() Driver API error = %04d \"%s\" from file <%s>, line %i.\n",
            static_cast<int>(error), text ? text : "", file, line);
    exit(EXIT_FAILURE);
}
#endif

template <class T>
inline void getCudaAttribute(T *value, CUdevice_attribute attribute, int device) {
    checkCudaErrors(cuDeviceGetAttribute(value, attribute, device));
}

inline int cdpDeviceCountDRV() {
    int count = 0;
    checkCudaErrors(cuInit(0));
    checkCudaErrors(cuDeviceGetCount(&count));
    if (count == 0) {
        fprintf(stderr, "CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    return count;
}

inline int gpuDeviceInitDRV(int argc, const char **argv) {
    int count = cdpDeviceCountDRV();
    int device = getCmdLineArgumentInt(argc, argv, "device");
    if (device < 0)
        device = 0;
    if (device > count - 1) {
        fprintf(stderr, ">> cudaDeviceInit (-device=%d) is not a valid GPU device. <<\n", device);
        return -device;
    }
    char name[100];
    checkCudaErrors(cuDeviceGetName(name, sizeof name, device));
    if (!checkCmdLineFlag(argc, argv, "quiet"))
        printf("gpuDeviceInitDRV() Using CUDA Device [%d]: %s\n", device, name);
    return device;
}

/* The device with the most cores. */
inline int gpuGetMaxGflopsDeviceIdDRV() {
    int count = cdpDeviceCountDRV(), best = 0, most = -1;
    for (int device = 0; device < count; device++) {
        int multiprocessors = 0, major = 0, minor = 0;
        getCudaAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
        getCudaAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        getCudaAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        int cores = multiprocessors * _ConvertSMVer2CoresDRV(major, minor);
        if (cores > most) {
            most = cores;
            best = device;
        }
    }
    return best;
}

/* The device that `-device=N` names, else the best. */
inline CUdevice findCudaDeviceDRV(int argc, const char **argv) {
    CUdevice device = 0;
    if (checkCmdLineFlag(argc, argv, "device")) {
        int wanted = gpuDeviceInitDRV(argc, argv);
        if (wanted < 0) {
            printf("exiting...\n");
            exit(EXIT_SUCCESS);
        }
        checkCudaErrors(cuDeviceGet(&device, wanted));
        return device;
    }
    checkCudaErrors(cuDeviceGet(&device, gpuGetMaxGflopsDeviceIdDRV()));
    char name[100];
    checkCudaErrors(cuDeviceGetName(name, sizeof name, device));
    printf("> Using CUDA Device [%d]: %s\n", static_cast<int>(device), name);
    return device;
}

inline CUdevice findIntegratedGPUDrv() {
    int count = cdpDeviceCountDRV();
    for (int device = 0; device < count; device++) {
        int integrated = 0;
        getCudaAttribute(&integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED, device);
        if (integrated)
            return device;
    }
    fprintf(stderr, "CUDA error: No Integrated CUDA capable GPU found.\n");
    exit(EXIT_FAILURE);
}

inline bool checkCudaCapabilitiesDRV(int wanted_major, int wanted_minor, int device) {
    int major = 0, minor = 0;
    char name[100];
    checkCudaErrors(cuDeviceGetName(name, sizeof name, device));
    getCudaAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    getCudaAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (major > wanted_major || (major == wanted_major && minor >= wanted_minor)) {
        printf("> Device %d: <%16s >, Compute SM %d.%d detected\n", device, name, major, minor);
        return true;
    }
    printf("No GPU device was found that can support CUDA compute capability %d.%d.\n", wanted_major, wanted_minor);
    return false;
}
#endif

/* Where a file with device code is, and what it holds if its name says that it is a fat binary. */
inline bool findFatbinPath(const char *file, std::string &path, char **argv, std::ostringstream &contents) {
    char *found = sdkFindFilePath(file, argv[0]);
    if (!found) {
        printf("> findModulePath file not found: <%s> \n", file);
        return false;
    }
    path = found;
    free(found);
    printf("> findModulePath found file at <%s>\n", path.c_str());
    if (path.rfind("fatbin") != std::string::npos)
        contents << std::ifstream(path.c_str(), std::ios::binary).rdbuf();
    return true;
}

#endif
