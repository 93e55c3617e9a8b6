// Texture fetches through texture objects.
//
// Each function has the form that stores through a pointer, whose type says what to fetch, and the
// form `tex2D<float4>(texture, x, y)`, where the type is written. The instruction always yields
// four 32-bit values; an internal function takes what the type wants of them. The forms that ask
// for residency (sparse textures) are left out.

// Types fetched as floating values, signed integers and unsigned integers.
types FLOATS = float, float1, float2, float4;
types SIGNED = char, signed char, short, int, char1, char2, char4, short1, short2, short4, int1, int2, int4;
types UNSIGNED = unsigned char, unsigned short, unsigned int, uchar1, uchar2, uchar4, ushort1, ushort2,
    ushort4, uint1, uint2, uint4;

types FLOAT = float;
types FLOAT1 = float1;
types FLOAT2 = float2;
types FLOAT4 = float4;
types INT = char, signed char, short, int;
types INT1 = char1, short1, int1;
types INT2 = char2, short2, int2;
types INT4 = char4, short4, int4;
types UINT = unsigned char, unsigned short, unsigned int;
types UINT1 = uchar1, ushort1, uint1;
types UINT2 = uchar2, ushort2, uint2;
types UINT4 = uchar4, ushort4, uint4;

/// What a type wants of four values.
each $QUAD | $TYPES {
    float4 | FLOAT
    int4 | INT
    uint4 | UINT
} {
    [for $TYPES] void __cdp_take(T* result, $QUAD v) { *result = (T)v.x; }
    [for $TYPES1] void __cdp_take(T* result, $QUAD v) { result->x = v.x; }
    [for $TYPES2] void __cdp_take(T* result, $QUAD v) { result->x = v.x; result->y = v.y; }
    [for $TYPES4] void __cdp_take(T* result, $QUAD v)
        { result->x = v.x; result->y = v.y; result->z = v.z; result->w = v.w; }
}

/// Fetches from a texture object.
each $NAME | $OP | $COORDINATE | $AT | $INPUTS | $PARAMS {
    tex1Dfetch | tex.1d | s32 | {%5}] | "r"(x) | int x
    tex1D | tex.1d | f32 | {%5}] | "f"(x) | float x
    tex2D | tex.2d | f32 | {%5, %6}] | "f"(x), "f"(y) | float x, float y
    tex3D | tex.3d | f32 | {%5, %6, %7, %7}] | "f"(x), "f"(y), "f"(z) \
        | float x, float y, float z
    tex1DLayered | tex.a1d | f32 | {%5, %6}] | "r"(layer), "f"(x) | float x, int layer
    tex2DLayered | tex.a2d | f32 | {%5, %6, %7, %7}] | "r"(layer), "f"(x), "f"(y) \
        | float x, float y, int layer
    texCubemap | tex.cube | f32 | {%5, %6, %7, %7}] | "f"(x), "f"(y), "f"(z) \
        | float x, float y, float z
    texCubemapLayered | tex.acube | f32 | {%5, %6, %7, %8}] \
        | "r"(layer), "f"(x), "f"(y), "f"(z) | float x, float y, float z, int layer
    tex1DLod | tex.level.1d | f32 | {%5}], %6 | "f"(x), "f"(level) | float x, float level
    tex2DLod | tex.level.2d | f32 | {%5, %6}], %7 | "f"(x), "f"(y), "f"(level) \
        | float x, float y, float level
    tex3DLod | tex.level.3d | f32 | {%5, %6, %7, %7}], %8 \
        | "f"(x), "f"(y), "f"(z), "f"(level) | float x, float y, float z, float level
    tex1DLayeredLod | tex.level.a1d | f32 | {%5, %6}], %7 \
        | "r"(layer), "f"(x), "f"(level) | float x, int layer, float level
    tex2DLayeredLod | tex.level.a2d | f32 | {%5, %6, %7, %7}], %8 \
        | "r"(layer), "f"(x), "f"(y), "f"(level) | float x, float y, int layer, float level
    texCubemapLod | tex.level.cube | f32 | {%5, %6, %7, %7}], %8 \
        | "f"(x), "f"(y), "f"(z), "f"(level) | float x, float y, float z, float level
    texCubemapLayeredLod | tex.level.acube | f32 | {%5, %6, %7, %8}], %9 \
        | "r"(layer), "f"(x), "f"(y), "f"(z), "f"(level) | float x, float y, float z, int layer, float level
    tex1DGrad | tex.grad.1d | f32 | {%5}], {%6}, {%7} | "f"(x), "f"(dx), "f"(dy) \
        | float x, float dx, float dy
    tex2DGrad | tex.grad.2d | f32 | {%5, %6}], {%7, %8}, {%9, %10} \
        | "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y) | float x, float y, float2 dx, float2 dy
    tex3DGrad | tex.grad.3d \
        | f32 | {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13} \
        | "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z) \
        | float x, float y, float z, float4 dx, float4 dy
    tex1DLayeredGrad | tex.grad.a1d | f32 | {%5, %6}], {%7}, {%8} \
        | "r"(layer), "f"(x), "f"(dx), "f"(dy) | float x, int layer, float dx, float dy
    tex2DLayeredGrad | tex.grad.a2d | f32 | {%5, %6, %7, %7}], {%8, %9}, {%10, %11} \
        | "r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y) \
        | float x, float y, int layer, float2 dx, float2 dy
    texCubemapGrad | tex.grad.cube \
        | f32 | {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13} \
        | "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z) \
        | float x, float y, float z, float4 dx, float4 dy
    texCubemapLayeredGrad | tex.grad.acube \
        | f32 | {%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14} \
        | "r"(layer), "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z) \
        | float x, float y, float z, int layer, float4 dx, float4 dy
    __cdp_tex2Dgather_r | tld4.r.2d | f32 | {%5, %6}] | "f"(x), "f"(y) | float x, float y
    __cdp_tex2Dgather_g | tld4.g.2d | f32 | {%5, %6}] | "f"(x), "f"(y) | float x, float y
    __cdp_tex2Dgather_b | tld4.b.2d | f32 | {%5, %6}] | "f"(x), "f"(y) | float x, float y
    __cdp_tex2Dgather_a | tld4.a.2d | f32 | {%5, %6}] | "f"(x), "f"(y) | float x, float y
} {
    each $QUAD | $TYPE | $LETTER | $TYPES {
        float4 | f32 | =f | FLOATS
        int4 | s32 | =r | SIGNED
        uint4 | u32 | =r | UNSIGNED
    } {
        [for $TYPES, template] void $NAME(T* result, cudaTextureObject_t texture, $PARAMS) {
            $QUAD v; asm("$OP.v4.$TYPE.$COORDINATE {%0, %1, %2, %3}, [%4, $AT;"
            : "$LETTER"(v.x), "$LETTER"(v.y), "$LETTER"(v.z), "$LETTER"(v.w) : "l"(texture), $INPUTS);
            __cdp_take(result, v);
        }
        [for $TYPES, explicit] T $NAME(cudaTextureObject_t texture, $PARAMS) {
            $QUAD v; asm("$OP.v4.$TYPE.$COORDINATE {%0, %1, %2, %3}, [%4, $AT;"
            : "$LETTER"(v.x), "$LETTER"(v.y), "$LETTER"(v.z), "$LETTER"(v.w) : "l"(texture), $INPUTS);
            T r; __cdp_take(&r, v); return r;
        }
    }
}

// The component is a constant in practice: three of the four branches go away.
/// One component of the four texels that a bilinear fetch would mix.
each $TYPES {
    FLOATS
    SIGNED
    UNSIGNED
} {
    [for $TYPES, template] void tex2Dgather(T* result, cudaTextureObject_t texture, float x, float y, int component = 0) {
        if (component == 1) __cdp_tex2Dgather_g(result, texture, x, y);
        else if (component == 2) __cdp_tex2Dgather_b(result, texture, x, y);
        else if (component == 3) __cdp_tex2Dgather_a(result, texture, x, y);
        else __cdp_tex2Dgather_r(result, texture, x, y);
    }
    [for $TYPES, explicit] T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
        T r;
        if (component == 1) __cdp_tex2Dgather_g(&r, texture, x, y);
        else if (component == 2) __cdp_tex2Dgather_b(&r, texture, x, y);
        else if (component == 3) __cdp_tex2Dgather_a(&r, texture, x, y);
        else __cdp_tex2Dgather_r(&r, texture, x, y);
        return r;
    }
}
