#pragma once
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

__host__ __device__ static __inline__ float cuCrealf(cuFloatComplex x) { return x.x; }
__host__ __device__ static __inline__ float cuCimagf(cuFloatComplex x) { return x.y; }
__host__ __device__ static __inline__ cuFloatComplex make_cuFloatComplex(float r, float i) { cuFloatComplex z; z.x = r; z.y = i; return z; }
__host__ __device__ static __inline__ cuFloatComplex cuConjf(cuFloatComplex x) { return make_cuFloatComplex(x.x, -x.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x + y.x, x.y + y.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x - y.x, x.y - y.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y)
{
    return make_cuFloatComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* The divisor is scaled by the sum of its parts, so that its square stays in range. */
__host__ __device__ static __inline__ cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y)
{
    float s = fabsf(y.x) + fabsf(y.y), k = 1.0f / s;
    float a = x.x * k, b = x.y * k, c = y.x * k, d = y.y * k;
    k = 1.0f / (c * c + d * d);
    return make_cuFloatComplex((a * c + b * d) * k, (b * c - a * d) * k);
}
/* Divided by the larger part first, so that no square leaves the range. */
__host__ __device__ static __inline__ float cuCabsf(cuFloatComplex x)
{
    float a = fabsf(x.x), b = fabsf(x.y), large = a > b ? a : b, small = a > b ? b : a;
    if (large == 0.0f || large > 3.402823466e38f || small > 3.402823466e38f)
        return large + small;
    float t = small / large;
    return large * sqrtf(1.0f + t * t);
}
__host__ __device__ static __inline__ cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex d)
{
    float re = x.x * y.x + d.x, im = x.x * y.y + d.y;
    return make_cuFloatComplex(-(x.y * y.y) + re, x.y * y.x + im);
}

__host__ __device__ static __inline__ double cuCreal(cuDoubleComplex x) { return x.x; }
__host__ __device__ static __inline__ double cuCimag(cuDoubleComplex x) { return x.y; }
__host__ __device__ static __inline__ cuDoubleComplex make_cuDoubleComplex(double r, double i) { cuDoubleComplex z; z.x = r; z.y = i; return z; }
__host__ __device__ static __inline__ cuDoubleComplex cuConj(cuDoubleComplex x) { return make_cuDoubleComplex(x.x, -x.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x + y.x, x.y + y.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x - y.x, x.y - y.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y)
{
    return make_cuDoubleComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* The divisor is scaled by the sum of its parts, so that its square stays in range. */
__host__ __device__ static __inline__ cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y)
{
    double s = fabs(y.x) + fabs(y.y), k = 1.0 / s;
    double a = x.x * k, b = x.y * k, c = y.x * k, d = y.y * k;
    k = 1.0 / (c * c + d * d);
    return make_cuDoubleComplex((a * c + b * d) * k, (b * c - a * d) * k);
}
/* Divided by the larger part first, so that no square leaves the range. */
__host__ __device__ static __inline__ double cuCabs(cuDoubleComplex x)
{
    double a = fabs(x.x), b = fabs(x.y), large = a > b ? a : b, small = a > b ? b : a;
    if (large == 0.0 || large > 1.79769313486231570e+308 || small > 1.79769313486231570e+308)
        return large + small;
    double t = small / large;
    return large * sqrt(1.0 + t * t);
}
__host__ __device__ static __inline__ cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d)
{
    double re = x.x * y.x + d.x, im = x.x * y.y + d.y;
    return make_cuDoubleComplex(-(x.y * y.y) + re, x.y * y.x + im);
}

__host__ __device__ static __inline__ cuComplex make_cuComplex(float r, float i)
{
    return make_cuFloatComplex(r, i);
}
__host__ __device__ static __inline__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x)
{
    return make_cuDoubleComplex(x.x, x.y);
}
__host__ __device__ static __inline__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x)
{
    return make_cuFloatComplex((float)x.x, (float)x.y);
}
