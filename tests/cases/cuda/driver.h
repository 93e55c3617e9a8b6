// What programs of the driver's calls begin with: a check of each call, which prints what it did not expect, and a context.
#include <cstdio>
#include <cuda.h>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        CUresult code = (call);                                                          \
        if (code != CUDA_SUCCESS) {                                                      \
            const char *name = "?";                                                      \
            cuGetErrorName(code, &name);                                                 \
            printf("line %d: %s\n", __LINE__, name);                                     \
        }                                                                                \
    } while (0)

// The first device, with its primary context in use.
inline CUdevice begin(CUcontext *target = nullptr)
{
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    if (target)
        *target = context;
    return device;
}
