// For toolkits without NVIDIA's header of this name.
#pragma once

#include "driver_types.h"

extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);
