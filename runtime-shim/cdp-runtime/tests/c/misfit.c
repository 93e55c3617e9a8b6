/* Host and device code that do not belong together, and tables of another release. */
#include "cdp_abi.h"
#include <stdio.h>

static char hello, nowhere;
static const unsigned offsets[] = {0}, sizes[] = {8};
static const struct CdpKernel kernels[] = {
    {&hello, "hello", 1, 0, offsets, sizes},
    {&nowhere, "nowhere", 0, 0, 0, 0},
};
static const struct CdpUnit unit = {1, 2, kernels, 0, 0, 0};
static const struct CdpUnit newer = {2, 2, kernels, 0, 0, 0};

__attribute__((constructor)) static void enroll(void)
{
    __cdp_register_unit(&newer);
    __cdp_register_unit(&unit);
    cdp_register_image();
}

int main(void)
{
    long number = 42;
    void *args[] = {&number};
    unsigned one[3] = {1, 1, 1};
    printf("hello %d\n", __cdp_launch(&hello, one, one, 0, 0, args));
    printf("nowhere %d\n", __cdp_launch(&nowhere, one, one, 0, 0, 0));
    printf("last %d\n", cudaGetLastError());
    return 0;
}
