// A cudart without a GPU: prints what the program registers and launches. The entry points are those
// that nvcc's host code calls.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dim3 {
    unsigned x, y, z;
};
struct kernel {
    const void *host;
    const char *name;
} kernels[64];
struct variable {
    const void *host;
    const char *name;
} variables[64];
static int kernel_count, variable_count, binaries;

void show_arguments(const char *kernel, void **args);

// Names of static things hold a module's own name; what follows it counts.
static const char *bare(const char *name)
{
    const char *last = strstr(name, "_static") ? strrchr(name, '_') + 1 : name;
    return last + strspn(last, "ZL0123456789");
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    static void *handle;
    ++binaries;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { printf("registered %d binary\n", binaries); }
void __cudaUnregisterFatBinary(void **handle) {}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *a,
                            void *b, void *c, void *d, int *e)
{
    kernels[kernel_count].host = host;
    kernels[kernel_count++].name = name;
}
static void variable(const char *kind, const void *host, const char *name, int ext, size_t size, int constant)
{
    variables[variable_count].host = host;
    variables[variable_count++].name = name;
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global)
{
    variable(constant ? "constant" : "variable", host, name, ext, size, constant);
    if (strstr(name, "table") && (size != 32 || !constant))
        printf("table has %d bytes\n", (int)size);
}
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                              int constant, int global)
{
    *host = NULL;
    variable("managed", host, name, ext, size, constant);
}
char __cudaInitModule(void **handle)
{
    for (int i = 0; i < variable_count; ++i)
        if (strcmp(variables[i].name, "managed") == 0 && !*(void **)variables[i].host) {
            *(void **)variables[i].host = calloc(1, 8);
            printf("managed memory is there\n");
        }
    return 1;
}

static struct dim3 grid, block;
static size_t shared;
static void *stream;
unsigned __cudaPushCallConfiguration(struct dim3 g, struct dim3 b, size_t s, void *t)
{
    grid = g, block = b, shared = s, stream = t;
    return 0;
}
int __cudaPopCallConfiguration(struct dim3 *g, struct dim3 *b, size_t *s, void *t)
{
    *g = grid, *b = block, *s = shared, *(void **)t = stream;
    return 0;
}
int cudaLaunchKernel(const void *host, struct dim3 g, struct dim3 b, void **args, size_t s, void *t)
{
    for (int i = 0; i < kernel_count; ++i)
        if (kernels[i].host == host) {
            printf("%s<<<%u %u %u, %u %u %u, %d>>>\n", bare(kernels[i].name), g.x, g.y, g.z, b.x, b.y, b.z,
                   (int)s);
            show_arguments(kernels[i].name, args);
            return 0;
        }
    printf("a launch of nothing known\n");
    return 98;
}
int __cudaGetKernel(void **kernel, const void *host)
{
    *kernel = (void *)host;
    return 0;
}
int __cudaLaunchKernel(void *kernel, struct dim3 g, struct dim3 b, void **args, size_t s, void *t)
{
    return cudaLaunchKernel(kernel, g, b, args, s, t);
}
static int copied(const char *what, const void *symbol, size_t count)
{
    for (int i = 0; i < variable_count; ++i)
        if (variables[i].host == symbol) {
            printf("%s %s, %d bytes\n", what, bare(variables[i].name), (int)count);
            return 0;
        }
    printf("%s nothing known\n", what);
    return 13;
}
int cudaMemcpyToSymbol(const void *symbol, const void *source, size_t count, size_t offset, int kind)
{
    return copied("to", symbol, count);
}
int cudaMemcpyFromSymbol(void *target, const void *symbol, size_t count, size_t offset, int kind)
{
    return copied("from", symbol, count);
}
