// Forms of texture and surface instructions that only PTX has names for: offsets in texels, comparison with a depth,
// residency, halves, gathering from cubes and with offsets, formatted surface stores.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>

#define CHECK(call)                                                \
    do {                                                           \
        cudaError_t status = (call);                               \
        if (status != cudaSuccess) {                               \
            printf("%s: %s\n", #call, cudaGetErrorString(status)); \
            exit(1);                                               \
        }                                                          \
    } while (0)

struct Spot {
    float x, y, z;
    int layer;
};

#define FETCH4(HOW, PLACE, REST)                                                                            \
    asm volatile(HOW " {%0, %1, %2, %3}, [%4, " PLACE "]" REST ";"                                           \
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)                                                \
                 : "l"(map), "f"(s.x), "f"(s.y), "f"(s.z), "r"(s.layer), "r"(s.layer - 2), "r"(1 - s.layer), \
                   "f"(0.3f))

template <int FORM> __device__ float4 fetch(unsigned long long map, Spot s)
{
    float4 v = {-1, -1, -1, -1};
    if (FORM == 0) FETCH4("tex.1d.v4.f32.f32", "{%5}", ", {3}");
    if (FORM == 1) FETCH4("tex.1d.v4.f32.f32", "{%5}", ", {%8}");
    if (FORM == 2) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", {1, -2}");
    if (FORM == 3) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", {%9, %10}");
    if (FORM == 4) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", {7, -8}");
    if (FORM == 5) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", {9, -9}");
    if (FORM == 6) FETCH4("tex.3d.v4.f32.f32", "{%5, %6, %7, %7}", ", {1, -1, 2, 0}");
    if (FORM == 7) FETCH4("tex.a2d.v4.f32.f32", "{%8, %5, %6, %6}", ", {2, 1}");
    if (FORM == 8) FETCH4("tex.level.2d.v4.f32.f32", "{%5, %6}", ", %11, {1, -2}");
    if (FORM == 9) FETCH4("tex.grad.2d.v4.f32.f32", "{%5, %6}", ", {%11, %11}, {%11, %11}, {1, -2}");
    if (FORM == 10) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", %11");
    if (FORM == 11) FETCH4("tex.2d.v4.f32.f32", "{%5, %6}", ", {1, -2}, %11");
    if (FORM == 12) FETCH4("tex.a2d.v4.f32.f32", "{%8, %5, %6, %6}", ", %11");
    if (FORM == 13) FETCH4("tex.cube.v4.f32.f32", "{%5, %6, %7, %7}", ", %11");
    if (FORM == 14) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", ", {1, -2}");
    if (FORM == 15) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", ", {%9, %10}");
    if (FORM == 16) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", ", {31, -32}");
    if (FORM == 17) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", ", %11");
    if (FORM == 18) FETCH4("tld4.r.cube.v4.f32.f32", "{%5, %6, %7, %7}", "");
    if (FORM == 19) FETCH4("tld4.r.acube.v4.f32.f32", "{%8, %5, %6, %7}", "");
    if (FORM == 20) FETCH4("tld4.r.a2d.v4.f32.f32", "{%8, %5, %6, %6}", "");
    if (FORM == 21) FETCH4("tex.1d.v4.f32.f32", "{%5}", ", %11");
    if (FORM == 22) FETCH4("tex.cube.v4.f32.f32", "{%5, %6, %7, %7}", "");
    if (FORM == 23) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", "");
    if (FORM == 24) FETCH4("tld4.r.2d.v4.f32.f32", "{%5, %6}", ", {33, -33}");
    if (FORM == 25) FETCH4("tex.level.2d.v4.f32.f32", "{%5, %6}", ", %11, {%9, %10}, %11");
    if (FORM == 26) FETCH4("tex.grad.2d.v4.f32.f32", "{%5, %6}", ", {%11, %11}, {%11, %11}");
    if (FORM == 27 || FORM == 28) {
        unsigned resident = 7;
        if (FORM == 27)
            asm volatile("{ .reg .pred p; tex.2d.v4.f32.f32 {%0, %1, %2, %3}|p, [%5, {%6, %7}]; selp.u32 %4, 1, 0, p; }"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w), "=r"(resident)
                         : "l"(map), "f"(s.x), "f"(s.y));
        else
            asm volatile("{ .reg .pred p; tld4.r.2d.v4.f32.f32 {%0, %1, %2, %3}|p, [%5, {%6, %7}]; selp.u32 %4, 1, 0, p; }"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w), "=r"(resident)
                         : "l"(map), "f"(s.x), "f"(s.y));
        v.w = resident;
    }
    if (FORM == 29 || FORM == 30) {
        unsigned low, high;
        if (FORM == 29)
            asm volatile("tex.2d.v2.f16x2.f32 {%0, %1}, [%2, {%3, %4}];" : "=r"(low), "=r"(high) : "l"(map), "f"(s.x), "f"(s.y));
        else
            asm volatile("tex.2d.v2.f16x2.s32 {%0, %1}, [%2, {%3, %4}];"
                         : "=r"(low), "=r"(high)
                         : "l"(map), "r"((int)s.x), "r"((int)s.y));
        v = {__half2float(__ushort_as_half((unsigned short)low)), __half2float(__ushort_as_half((unsigned short)(low >> 16))),
             __half2float(__ushort_as_half((unsigned short)high)), __half2float(__ushort_as_half((unsigned short)(high >> 16)))};
    }
    if (FORM == 31)
        asm volatile("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}], {1, -2};"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                     : "l"(map), "r"((int)s.x), "r"((int)s.y));
    if (FORM == 32)
        asm volatile("tex.3d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], {1, -1, 2, 0};"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                     : "l"(map), "r"((int)s.x), "r"((int)s.y), "r"((int)s.z));
    return v;
}

template <int FORM> __global__ void forms(unsigned long long map, const Spot *spots, float4 *out)
{
    out[threadIdx.x] = fetch<FORM>(map, spots[threadIdx.x]);
}

const int SPOTS = 10;
static Spot *spots;
static float4 *out;

template <int FORM> static void show(const char *what, cudaTextureObject_t map, int channels)
{
    forms<FORM><<<1, SPOTS>>>(map, spots, out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%d %s:", FORM, what);
    if (error != cudaSuccess) {
        printf(" %s\n", cudaGetErrorString(error));
        exit(1);
    }
    for (int i = 0; i < SPOTS; i++) {
        const float *v = &out[i].x;
        for (int channel = 0; channel < channels; channel++)
            printf("%c%g", channel == 0 ? ' ' : ',', v[channel]);
    }
    printf("\n");
}

template <typename E> static cudaArray_t array(cudaExtent size, unsigned flags, E (*texel)(int))
{
    cudaArray_t made;
    auto format = cudaCreateChannelDesc<E>();
    CHECK(cudaMalloc3DArray(&made, &format, size, flags));
    size_t rows = size.height ? size.height : 1, slices = size.depth ? size.depth : 1, count = size.width * rows * slices;
    E *texels = new E[count];
    for (size_t i = 0; i < count; i++)
        texels[i] = texel((int)i);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels, size.width * sizeof(E), size.width, rows);
    copy.dstArray = made;
    copy.extent = make_cudaExtent(size.width, rows, slices);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    delete[] texels;
    return made;
}

static cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode mode, bool normalized)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
    return object;
}

static void put(float scale)
{
    const float places[SPOTS][3] = {{0.1f, 0.2f, 0.3f}, {0.5f, 0.5f, 0.5f}, {0.9f, 0.1f, 0.6f}, {0.33f, 0.77f, 0.21f}, {0, 0, 0},
                                    {1, 1, 1},          {-0.4f, 1.3f, 0.5f}, {0.6f, 0.45f, 0.9f}, {0.72f, 0.68f, 0.1f}, {0.05f, 0.95f, 0.4f}};
    for (int i = 0; i < SPOTS; i++)
        spots[i] = {places[i][0] * scale, places[i][1] * scale, places[i][2] * scale, i % 4};
}

static void turn()
{
    const float ways[SPOTS][3] = {{1, 0.2f, 0.3f}, {-1, 0.5f, 0.45f}, {0.9f, 1, 0.6f}, {0.33f, -1, 0.21f}, {0.1f, 0.2f, 1},
                                  {0.4f, 0.3f, -1}, {-0.4f, 0.3f, 0.5f}, {1, 1, 1}, {0.72f, 0.72f, 0.1f}, {-0.95f, 0.95f, -0.95f}};
    for (int i = 0; i < SPOTS; i++)
        spots[i] = {ways[i][0], ways[i][1], ways[i][2], i % 2};
}

template <int CHANNELS, int FORM> __global__ void formatted(unsigned long long surface, const uint4 *values, int count)
{
    uint4 v = values[threadIdx.x];
    int x = (int)threadIdx.x, y = 1;
    if (FORM == 0)
        asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surface), "r"(x), "r"(y), "r"(v.x) : "memory");
    if (FORM == 1)
        asm volatile("sust.p.2d.v2.b32.clamp [%0, {%1, %2}], {%3, %4};" ::"l"(surface), "r"(x), "r"(y), "r"(v.x), "r"(v.y) : "memory");
    if (FORM == 2)
        asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(surface), "r"(x), "r"(y), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w)
                     : "memory");
    if (FORM == 3)
        asm volatile("sust.p.2d.v4.b32.clamp [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(surface), "r"(x), "r"(y + 5), "r"(v.x),
                     "r"(v.y), "r"(v.z), "r"(v.w)
                     : "memory");
    if (FORM == 4)
        asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(surface), "r"(x - 3), "r"(y), "r"(v.x),
                     "r"(v.y), "r"(v.z), "r"(v.w)
                     : "memory");
}

// Stores values by form and shows the surface.
template <int FORM> static void store(const char *what, cudaChannelFormatDesc format, const uint4 *values, int count)
{
    const int WIDE = 8, HIGH = 3;
    cudaArray_t made;
    CHECK(cudaMallocArray(&made, &format, WIDE, HIGH, cudaArraySurfaceLoadStore));
    int bytes = (format.x + format.y + format.z + format.w) / 8;
    unsigned char *data = (unsigned char *)calloc(WIDE * HIGH, bytes);
    CHECK(cudaMemcpy2DToArray(made, 0, 0, data, WIDE * bytes, WIDE * bytes, HIGH, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = made;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    formatted<4, FORM><<<1, count>>>(surface, values, count);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%d %s:", FORM, what);
    if (error != cudaSuccess) {
        printf(" %s\n", cudaGetErrorString(error));
        exit(1);
    }
    CHECK(cudaMemcpy2DFromArray(data, WIDE * bytes, made, 0, 0, WIDE * bytes, HIGH, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDE * HIGH * bytes; i++)
        printf("%s%02x", i % bytes == 0 ? i % (WIDE * bytes) == 0 ? " | " : " " : "", data[i]);
    printf("\n");
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(made));
    free(data);
}

static void textures()
{
    auto square = [](int i) { return (float)(i * i % 37) / 37; };
    auto pair = [](int i) { return float4{(float)(i * i % 37), (float)i, (float)(i * 7 % 11), (float)-i}; };
    auto wide = array<float>(make_cudaExtent(16, 8, 0), cudaArrayTextureGather, square);
    auto four = array<float4>(make_cudaExtent(16, 8, 0), cudaArrayTextureGather, pair);
    auto line = array<float>(make_cudaExtent(16, 0, 0), 0, square);
    auto deep = array<float>(make_cudaExtent(8, 4, 4), 0, square);
    auto layers = array<float>(make_cudaExtent(8, 6, 4), cudaArrayLayered, square);
    auto cube = array<float>(make_cudaExtent(8, 8, 6), cudaArrayCubemap, square);
    auto cubes = array<float>(make_cudaExtent(8, 8, 12), cudaArrayCubemap | cudaArrayLayered, square);
    const cudaTextureFilterMode filters[] = {cudaFilterModePoint, cudaFilterModeLinear};
    for (auto filter : filters) {
        printf("filter %d\n", filter);
        put(1);
        for (auto mode : {cudaAddressModeClamp, cudaAddressModeWrap, cudaAddressModeMirror, cudaAddressModeBorder}) {
            printf("mode %d\n", mode);
            auto plain = texture(wide, filter, mode, true), row = texture(line, filter, mode, true);
            show<0>("1d", row, 1);
            show<1>("1d", row, 1);
            show<2>("2d", plain, 1);
            show<3>("2d", plain, 1);
            show<4>("2d", plain, 1);
            show<5>("2d", plain, 1);
            if (filter == cudaFilterModePoint)
                show<6>("3d", texture(deep, filter, mode, true), 1);
            show<7>("layers", texture(layers, filter, mode, true), 1);
            show<14>("gather", plain, 4);
            show<15>("gather", plain, 4);
        }
        auto plain = texture(wide, filter, cudaAddressModeClamp, true), texels = texture(wide, filter, cudaAddressModeClamp, false);
        show<8>("level", plain, 1);
        show<9>("gradient", plain, 1);
        show<26>("gradient", plain, 1);
        show<10>("depth", plain, 4);
        show<11>("depth", plain, 4);
        show<25>("depth", plain, 4);
        show<12>("depth of layers", texture(layers, filter, cudaAddressModeClamp, true), 4);
        show<21>("depth of a line", texture(line, filter, cudaAddressModeClamp, true), 4);
        show<16>("gather", plain, 4);
        show<24>("gather", plain, 4);
        show<17>("gather depth", plain, 4);
        show<23>("gather", plain, 4);
        show<20>("gather", texture(layers, filter, cudaAddressModeClamp, true), 4);
        show<27>("resident", plain, 4);
        show<28>("resident", plain, 4);
        show<29>("halves", texture(four, filter, cudaAddressModeClamp, true), 4);
        put(8);
        show<29>("halves", texture(four, filter, cudaAddressModeClamp, false), 4);
        show<2>("texels", texels, 1);
        show<14>("gather", texels, 4);
        turn();
        auto faces = texture(cube, filter, cudaAddressModeClamp, true);
        show<22>("cube", faces, 4);
        show<13>("depth of cube", faces, 4);
        show<18>("gather", faces, 4);
        show<19>("gather", texture(cubes, filter, cudaAddressModeClamp, true), 4);
        show<18>("gather, border", texture(cube, filter, cudaAddressModeBorder, true), 4);
        show<18>("gather, wrap", texture(cube, filter, cudaAddressModeWrap, true), 4);
    }
    put(8);
    show<30>("halves", texture(four, cudaFilterModePoint, cudaAddressModeClamp, false), 4);
    show<31>("fetch", texture(wide, cudaFilterModePoint, cudaAddressModeClamp, false), 1);
    show<32>("fetch", texture(deep, cudaFilterModePoint, cudaAddressModeClamp, false), 1);
}

static void surfaces()
{
    auto f = [](float value) { return __builtin_bit_cast(unsigned, value); };
    uint4 *values;
    CHECK(cudaMallocManaged(&values, 8 * sizeof(uint4)));
    auto kind = [](int x, int y, int z, int w, cudaChannelFormatKind k) { return cudaChannelFormatDesc{x, y, z, w, k}; };
    const cudaChannelFormatKind U = cudaChannelFormatKindUnsigned, S = cudaChannelFormatKindSigned, F = cudaChannelFormatKindFloat;
    const unsigned numbers[8] = {0, 1, 200, 300, 0xffffffff, 0x80000000, 70000, 0xffffff00};
    for (int i = 0; i < 8; i++)
        values[i] = {numbers[i], numbers[(i + 1) % 8], numbers[(i + 2) % 8], numbers[(i + 3) % 8]};
    store<0>("u8", kind(8, 0, 0, 0, U), values, 8);
    store<0>("s8", kind(8, 0, 0, 0, S), values, 8);
    store<0>("u16", kind(16, 0, 0, 0, U), values, 8);
    store<0>("s16", kind(16, 0, 0, 0, S), values, 8);
    store<0>("u32", kind(32, 0, 0, 0, U), values, 8);
    store<1>("u8x2", kind(8, 8, 0, 0, U), values, 8);
    store<1>("s16x2", kind(16, 16, 0, 0, S), values, 8);
    store<1>("s32x2", kind(32, 32, 0, 0, S), values, 8);
    store<2>("u8x4", kind(8, 8, 8, 8, U), values, 8);
    store<2>("s8x4", kind(8, 8, 8, 8, S), values, 8);
    store<2>("u16x4", kind(16, 16, 16, 16, U), values, 8);
    store<2>("u32x4", kind(32, 32, 32, 32, U), values, 8);
    store<2>("four for one", kind(8, 0, 0, 0, U), values, 8);
    store<2>("four for two", kind(16, 16, 0, 0, U), values, 8);
    store<0>("one for four", kind(8, 8, 8, 8, U), values, 8);
    store<1>("two for four", kind(16, 16, 16, 16, U), values, 8);
    store<3>("clamped", kind(8, 8, 8, 8, U), values, 8);
    store<4>("outside", kind(8, 8, 8, 8, U), values, 8);
    const float reals[8] = {0, 1.5f, -2.75f, 1e6f, 1e-7f, 0.1f, 65519, -1e-30f};
    for (int i = 0; i < 8; i++)
        values[i] = {f(reals[i]), f(reals[(i + 1) % 8]), f(reals[(i + 2) % 8]), f(reals[(i + 3) % 8])};
    values[7].y = 0x7fc12345, values[7].z = 0x7f800000, values[7].w = 0xff812345;
    store<0>("f32", kind(32, 0, 0, 0, F), values, 8);
    store<2>("f32x4", kind(32, 32, 32, 32, F), values, 8);
    store<0>("f16", kind(16, 0, 0, 0, F), values, 8);
    store<1>("f16x2", kind(16, 16, 0, 0, F), values, 8);
    store<2>("f16x4", kind(16, 16, 16, 16, F), values, 8);
    store<0>("one for four halves", kind(16, 16, 16, 16, F), values, 8);
}

int main()
{
    CHECK(cudaMallocManaged(&spots, SPOTS * sizeof(Spot)));
    CHECK(cudaMallocManaged(&out, SPOTS * sizeof(float4)));
    textures();
    surfaces();
    return 0;
}
