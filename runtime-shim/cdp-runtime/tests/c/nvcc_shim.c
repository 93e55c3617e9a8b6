/* Lets host code that nvcc has compiled run on this crate: what its start-up code and launch stubs
   call, in terms of the tables that our own compiler emits. For tests; the parameters' sizes, which
   nvcc's tables lack, come from the PTX (cdp_sizes, made by the test). */
#include <stdlib.h>
#include <string.h>

#include "cdp_abi.h"

struct CdpSizes {
    const char *name;
    unsigned count;
    const unsigned *sizes;
};
extern const struct CdpSizes cdp_sizes[];

static void *binary;
static unsigned offsets[256];
static void **managed[64];
static int managed_count;

void **__cudaRegisterFatBinary(void *ignored)
{
    (void)ignored;
    if (!binary)
        cdp_register_image();
    binary = &binary;
    return &binary;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *a, void *b, void *c, void *d, int *e)
{
    struct CdpKernel *kernel = calloc(1, sizeof *kernel);
    struct CdpUnit *unit = calloc(1, sizeof *unit);
    const struct CdpSizes *entry;
    (void)handle, (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
    kernel->handle = host;
    kernel->symbol = name;
    kernel->param_offsets = offsets;
    for (entry = cdp_sizes; entry->name; entry++)
        if (!strcmp(entry->name, name)) {
            kernel->param_count = entry->count;
            kernel->param_sizes = entry->sizes;
        }
    unit->version = 1;
    unit->kernel_count = 1;
    unit->kernels = kernel;
    __cdp_register_unit(unit);
}

static void variable(void *host, const char *name, size_t bytes, unsigned flags)
{
    struct CdpVariable *entry = calloc(1, sizeof *entry);
    struct CdpUnit *unit = calloc(1, sizeof *unit);
    entry->host_shadow = host;
    entry->symbol = name;
    entry->bytes = bytes;
    entry->flags = flags;
    unit->version = 1;
    unit->variable_count = 1;
    unit->variables = entry;
    __cdp_register_unit(unit);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int constant, int global)
{
    (void)handle, (void)device, (void)is_extern, (void)global;
    variable(host, name, bytes, constant != 0);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int is_extern,
                              size_t bytes, int constant, int global)
{
    (void)handle, (void)device, (void)is_extern, (void)constant, (void)global;
    variable(host, name, bytes, 2);
    managed[managed_count++] = host;
}

/* Before the first use of a managed variable. */
char __cudaInitModule(void **handle)
{
    int i;
    (void)handle;
    for (i = 0; i < managed_count; i++)
        *managed[i] = __cdp_managed_address(managed[i]);
    return 1;
}

static struct {
    dim3 grid, block;
    size_t shared_bytes;
    void *stream;
} configurations[16];
static int depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream)
{
    configurations[depth].grid = grid;
    configurations[depth].block = block;
    configurations[depth].shared_bytes = shared_bytes;
    configurations[depth].stream = stream;
    depth++;
    return 0;
}

int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    depth--;
    *grid = configurations[depth].grid;
    *block = configurations[depth].block;
    *shared_bytes = configurations[depth].shared_bytes;
    *(void **)stream = configurations[depth].stream;
    return 0;
}

int __cudaGetKernel(void **kernel, const void *host)
{
    *kernel = (void *)host;
    return 0;
}

int __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes, void *stream)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}
