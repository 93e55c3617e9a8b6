/*
 * Runs a program on the CPU device with the race checker and prints what it found: the parent reads what
 * its child writes, and nothing orders the two.
 *
 *     cargo build -p cdp-capi
 *     cc races.c -I../../compiler/cdp-capi/include -L../../target/debug -lcdp -o races
 *     LD_LIBRARY_PATH=../../target/debug ./races
 */
#include <cdp.h>
#include <stdio.h>
#include <string.h>

static const char source[] =
    "__global__ void child(int *p) { p[0] = 7; }\n"
    "__global__ void parent(int *p) {\n"
    "    child<<<1, 1>>>(p);\n"
    "    p[1] = p[0];\n"
    "}\n";

int main(void)
{
    /* Findings name source lines if the PTX does, and are about launches as they are written. */
    cdp_compiler *compiler = cdp_compiler_new();
    cdp_compiler_set(compiler, "debug", "lines");
    cdp_compiler_set(compiler, "launch-opt", "off");
    cdp_result *made = cdp_compile(compiler, CDP_KIND_SOURCE, "races.cdp", source, strlen(source),
                                   CDP_GOAL_PTX);
    if (cdp_result_status(made) != CDP_OK) {
        fprintf(stderr, "%s\n", cdp_result_error(made));
        return 1;
    }

    size_t size;
    const unsigned char *ptx = cdp_result_bytes(made, &size);
    int numbers[2] = {0, 0};
    uint64_t memory;
    const void *params[] = {&memory};
    const uint32_t one[3] = {1, 1, 1};
    cdp_program *program = cdp_program_open_checked(ptx, size, "race,init");
    if (cdp_program_allocate(program, sizeof numbers, &memory) != CDP_OK ||
        cdp_program_write(program, memory, numbers, sizeof numbers) != CDP_OK ||
        cdp_program_launch(program, "parent", one, one, 0, params, 1) != CDP_OK) {
        fprintf(stderr, "%s\n", cdp_last_error());
        return 1;
    }

    cdp_result *found = cdp_program_findings(program);
    const cdp_message *finding;
    for (size_t i = 0; (finding = cdp_result_message(found, i)) != NULL; ++i) {
        printf("%s:%u: %s\n", finding->file, finding->line, finding->code);
        fputs(finding->rendered, stderr);
    }

    cdp_result_free(found);
    cdp_program_close(program);
    cdp_result_free(made);
    cdp_compiler_free(compiler);
    return 0;
}
