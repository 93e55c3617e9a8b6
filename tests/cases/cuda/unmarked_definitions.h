// Declarations whose definitions in the file that includes this lack their marks.
#ifndef UNMARKED_DEFINITIONS_H
#define UNMARKED_DEFINITIONS_H

__device__ int lane_squared(int more);
template <class T> __device__ T lane_doubled(T more);
namespace lanes {
__device__ int last(int *of);
}

#endif
