/*
 * Compiles a program from memory and runs it, all through libcdp: on a GPU if there is one (and CUDA's
 * ptxas and nvlink for it), else on the CPU device.
 *
 *     cargo build -p cdp-capi
 *     cc spawn.c -I../../compiler/cdp-capi/include -L../../target/debug -lcdp -o spawn
 *     LD_LIBRARY_PATH=../../target/debug ./spawn
 */
#include <cdp.h>
#include <stdio.h>
#include <string.h>

static const char source[] =
    "__global__ void square(int *out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }\n"
    "__global__ void parent(int *out, int n) { square<<<1, n>>>(out); }\n";

int main(void)
{
    cdp_compiler *compiler = cdp_compiler_new();
    cdp_compiler_find_tools(compiler, NULL);
    cdp_result *made = cdp_compile(compiler, CDP_KIND_SOURCE, "spawn.cdp", source, strlen(source),
                                   CDP_GOAL_PTX);
    if (cdp_result_status(made) != CDP_OK) {
        fprintf(stderr, "%s\n", cdp_result_error(made));
        return 1;
    }

    int squares[8], n = 8;
    uint64_t out;
    const void *params[] = {&out, &n};
    const uint32_t one[3] = {1, 1, 1};
    cdp_program *program = cdp_program_load(compiler, made, CDP_DEVICE_AUTO);
    if (cdp_program_allocate(program, sizeof squares, &out) != CDP_OK ||
        cdp_program_launch(program, "parent", one, one, 0, params, 2) != CDP_OK ||
        cdp_program_read(program, squares, out, sizeof squares) != CDP_OK) {
        fprintf(stderr, "%s\n", cdp_last_error());
        return 1;
    }
    for (int i = 0; i < n; ++i)
        printf("%d ", squares[i]);
    printf("\n");

    cdp_program_close(program);
    cdp_result_free(made);
    cdp_compiler_free(compiler);
    return 0;
}
