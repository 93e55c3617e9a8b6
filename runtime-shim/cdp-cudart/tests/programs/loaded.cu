// Device code that a program loads while it runs.
#include "check.h"
#include <cstring>

static const char *text = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry add(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<5>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    cvta.to.global.u64 %d2, %d1;
    ld.param.u32 %r1, [value];
    ld.global.u32 %r2, [step];
    ld.global.u32 %r3, [%d2];
    mad.lo.u32 %r4, %r1, %r2, %r3;
    st.global.u32 [%d2], %r4;
    ret;
}
)";

__global__ void own() {}

int main()
{
    cudaLibrary_t library, broken;
    CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    cudaKernel_t kernel, again;
    CHECK(cudaLibraryGetKernel(&kernel, library, "add"));
    CHECK(cudaLibraryGetKernel(&again, library, "add"));
    int *out, host = 10, value = 4;
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemcpy(out, &host, 4, cudaMemcpyHostToDevice));
    void *args[] = {&out, &value};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    CHECK(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
    printf("%d, one handle: %d\n", host, kernel == again);
    void *step;
    size_t bytes;
    CHECK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
    value = 100;
    CHECK(cudaMemcpy(step, &value, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    CHECK(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
    printf("%d, variable of %zu bytes\n", host, bytes);
    printf("%s\n", cudaGetErrorName(cudaLibraryGetKernel(&again, library, "_Z3ownv")));
    printf("%s\n", cudaGetErrorName(cudaLibraryGetGlobal(&step, &bytes, library, "none")));
    printf("%d\n", cudaLibraryLoadData(&broken, ".version 8.0\nwrong", nullptr, nullptr, 0, nullptr,
                                       nullptr, 0) != cudaSuccess);
    CHECK(cudaLibraryUnload(library));
    own<<<1, 1>>>();
    cudaGetLastError();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
