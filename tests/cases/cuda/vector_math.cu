// Vector types with the operators and functions that NVIDIA's samples have in helper_math.h: every pair of conversions,
// bounds that are vectors, least and greatest of integers, in a kernel that device code launches and on the host.
#include <cstdio>

#include "helper_math.h"

__global__ void leaf(float *out, int3 c, uint4 u, float3 f)
{
    int3 k = clamp(c, make_int3(0), make_int3(3, 4, 5));
    k += min(c, make_int3(2)) * max(make_int3(1, 2, 3), abs(c));
    k -= make_int3(make_uint3(u));
    float3 g = clamp(f, make_float3(0.25f), make_float3(0.5f, 0.75f, 1.0f)) + make_float3(k);
    g += make_float3(make_uint3(7, 8, 9));
    float4 h = smoothstep(make_float4(0), make_float4(1), make_float4(f, 0.3f)) + make_float4(u);
    uint2 w = make_uint2(make_int2(f.x * 10, 3)) + max(make_uint2(1, 9), make_uint2(u.z, u.w));
    g = lerp(g, reflect(f, normalize(g)), 0.5f);
    h /= 2.0f;
    h = fmodf(h, make_float4(3.0f)) - fracf(h);
    int2 d = -make_int2(make_float2(h.x * 4, h.y));
    out[0] = dot(g, f);
    out[1] = length(cross(g, f));
    out[2] = h.x + h.y * 2 + h.z * 3 + h.w * 4;
    out[3] = w.x + w.y;
    out[4] = d.x + d.y;
    out[5] = dot(k, make_int3(1, 10, 100));
}

__global__ void root(float *out)
{
    leaf<<<1, 1>>>(out, make_int3(-2, 9, 1), make_uint4(1, 2, 3, 4), make_float3(0.1f, 0.9f, 0.6f));
}

int main()
{
    float *out;
    cudaMallocManaged(&out, 6 * sizeof *out);
    root<<<1, 1>>>(out);
    cudaError_t code = cudaDeviceSynchronize();
    printf("%s\n%.4f %.4f %.4f %g %g %g\n", cudaGetErrorName(code), out[0], out[1], out[2], out[3], out[4], out[5]);
    uint3 least = min(make_uint3(5), make_uint3(make_int3(3, 9, 4)));
    printf("%u %u %u\n", least.x, least.y, least.z);
    return code != cudaSuccess;
}
