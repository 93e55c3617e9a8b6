/*
 * Lists the errors, warnings, kernels and launches of a program: what an editor or another compiler's
 * front end asks of libcdp.
 *
 *     ./check FILE.cdp [OPTION VALUE]...
 */
#include <cdp.h>
#include <stdio.h>

int main(int count, char **args)
{
    static char text[1 << 20];
    FILE *file = count > 1 ? fopen(args[1], "rb") : NULL;
    if (!file || cdp_api_version() != CDP_API_VERSION)
        return 2;
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);

    cdp_compiler *compiler = cdp_compiler_new();
    for (int i = 2; i + 1 < count; i += 2) {
        if (cdp_compiler_set(compiler, args[i], args[i + 1]) != CDP_OK) {
            fprintf(stderr, "%s\n", cdp_last_error());
            return 2;
        }
    }
    cdp_result *made = cdp_compile(compiler, CDP_KIND_SOURCE, args[1], text, size, CDP_GOAL_PTX);
    const cdp_message *message;
    for (size_t i = 0; (message = cdp_result_message(made, i)); ++i)
        printf("%u:%u %s %s\n", message->line, message->column, message->code, message->text);
    const cdp_kernel *kernel;
    for (size_t i = 0; (kernel = cdp_result_kernel(made, i)); ++i) {
        printf("%s (%s):", kernel->name, kernel->symbol);
        for (size_t j = 0; j < kernel->param_count; ++j)
            printf(" %s %s at %d", kernel->params[j].type_name, kernel->params[j].name,
                   (int)kernel->params[j].offset);
        printf("\n");
    }
    const cdp_launch *launch;
    for (size_t i = 0; (launch = cdp_result_launch(made, i)); ++i)
        printf("%u: %s launches %s\n", launch->line, launch->parent, launch->child);

    int status = (int)cdp_result_status(made);
    cdp_result_free(made);
    cdp_compiler_free(compiler);
    return status;
}
