// Children of a parent in a .cdp file.

struct Small {
    float x, y;
};

struct Large {
    double weights[5];
    short flags[3];
};

__device__ int launches;

__device__ int rank_of(Small value, int low)
{
    return low + (int)(value.x * value.y);
}

__global__ void scale(float *values, Small factor, Large large, bool negate)
{
    double sum = 0;
    for (int index = 0; index < 5; ++index)
        sum += large.weights[index];
    for (int index = 0; index < 3; ++index)
        sum += large.flags[index];
    float value = values[threadIdx.x] * factor.x + factor.y + (float)sum;
    values[threadIdx.x] = negate ? -value : value;
}
