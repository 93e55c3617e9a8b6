/* The parts of NVIDIA's samples that are no CUDA: options, timers, pictures. Own writing. */
#ifndef CDP_SAMPLES_HELPER_FUNCTIONS_H
#define CDP_SAMPLES_HELPER_FUNCTIONS_H

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "exception.h"
#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"

#endif
