// What the header below needs is defined for nvcc here.
#ifdef __NVCC__
#define quadrupled(x) (2 * twice(x))
#endif
#include "nvcc_conditions_below.h"
