// What a module that a program loads consists of: its kernels in number, one after the other, and the module of each, by the
// runtime's calls and the driver's. The order is nobody's promise, so that they are sorted by name.
#include "driver.h"

#include <algorithm>
#include <cuda.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

static const char *two_kernels = R"(
.version 7.0
.target sm_50
.address_size 64
.func (.param .b32 r) helper (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry second(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    { .param .b32 x; .param .b32 r;
      st.param.b32 [x], %r1; call.uni (r), helper, (x); ld.param.b32 %r2, [r]; }
    st.u32 [%rd1], %r2;
    ret;
}
.visible .entry first(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.u32 [%rd1], 7;
    ret;
}
)";

static void by_the_driver()
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, two_kernels));
    unsigned count = 0;
    CHECK(cuModuleGetFunctionCount(&count, module));
    std::vector<CUfunction> functions(count);
    CHECK(cuModuleEnumerateFunctions(functions.data(), count, module));
    std::vector<std::string> names;
    int of_module = 0, the_same = 0;
    for (CUfunction function : functions) {
        const char *name = "?";
        CHECK(cuFuncGetName(&name, function));
        names.push_back(name);
        CUmodule found = nullptr;
        CHECK(cuFuncGetModule(&found, function));
        of_module += found == module;
        CUfunction by_name = nullptr;
        CHECK(cuModuleGetFunction(&by_name, module, name));
        the_same += by_name == function;
        CHECK(cuFuncLoad(function));
        CUfunctionLoadingState state;
        CHECK(cuFuncIsLoaded(&state, function));
        printf("loaded: %d\n", state == CU_FUNCTION_LOADING_STATE_LOADED);
    }
    std::sort(names.begin(), names.end());
    printf("%u: %s %s, of the module %d, the same %d\n", count, names[0].c_str(), names[1].c_str(), of_module, the_same);
    CUfunction one = nullptr;
    CHECK(cuModuleEnumerateFunctions(&one, 1, module));
    printf("one: %d\n", one != nullptr);
    CHECK(cuModuleUnload(module));
    printf("unloaded: %d\n", cuModuleGetFunctionCount(&count, (CUmodule) nullptr) != CUDA_SUCCESS);
}

static void by_the_runtime()
{
    cudaLibrary_t library;
    printf("load: %d\n", cudaLibraryLoadData(&library, two_kernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    printf("count: %d", cudaLibraryGetKernelCount(&count, library));
    printf(" %u\n", count);
    std::vector<cudaKernel_t> kernels(count);
    printf("all: %d\n", cudaLibraryEnumerateKernels(kernels.data(), count, library));
    unsigned *out;
    cudaMallocManaged(&out, 4);
    unsigned n = 40, sum = 0;
    for (cudaKernel_t kernel : kernels) {
        void *args[] = {&out, &n};
        printf("launch: %d", cudaLaunchKernel((const void *)kernel, 1, 1, args, 0, 0));
        printf(" %d\n", cudaDeviceSynchronize());
        sum += *out;
    }
    printf("sum: %u\n", sum);
    cudaFree(out);
    printf("unload: %d\n", cudaLibraryUnload(library));
}

int main()
{
    begin();
    by_the_driver();
    by_the_runtime();
}
