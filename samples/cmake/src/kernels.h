// What both files know of the kernels.

#define DEFAULT_FACTOR 2

__global__ void scale(int *matrix, int rows, int columns);
