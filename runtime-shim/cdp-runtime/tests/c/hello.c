/* A program whose main ends without waiting for what it launched. */
#include "cdp_abi.h"
#include <stdio.h>

static char hello;
static const unsigned offsets[] = {0}, sizes[] = {4};
static const struct CdpKernel kernels[] = {{&hello, "hello", 1, 0, offsets, sizes}};
static const struct CdpUnit unit = {1, 1, kernels, 0, 0, 0};

__attribute__((constructor)) static void enroll(void)
{
    __cdp_register_unit(&unit);
    cdp_register_image();
}

int main(void)
{
    int number = 42;
    void *args[] = {&number};
    unsigned grid[3] = {1, 1, 1}, block[3] = {2, 1, 1};
    printf("host\n");
    return __cdp_launch(&hello, grid, block, 0, 0, args) ? 1 : 3;
}
