/* A kernel that writes to an address nobody has allocated. */
#include "cdp_abi.h"
#include <stdio.h>

static char wild;
static const unsigned offsets[] = {0}, sizes[] = {8};
static const struct CdpKernel kernels[] = {{&wild, "wild", 1, 0, offsets, sizes}};
static const struct CdpUnit unit = {1, 1, kernels, 0, 0, 0};

__attribute__((constructor)) static void enroll(void)
{
    __cdp_register_unit(&unit);
    cdp_register_image();
}

int main(void)
{
    void *address = (void *)16, *args[] = {&address};
    unsigned one[3] = {1, 1, 1};
    printf("launch %d\n", __cdp_launch(&wild, one, one, 0, 0, args));
    printf("synchronize %d\n", cudaDeviceSynchronize());
    return 0;
}
