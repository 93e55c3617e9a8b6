//! Texture fetches through texture objects.
//!
//! Each function has the form that stores through a pointer, whose type says what to fetch, and the
//! form `tex2D<float4>(texture, x, y)`, where the type is written. The instruction always yields
//! four 32-bit values; an internal function takes what the type wants of them. The forms that ask
//! for residency (sparse textures) are left out.

use super::{BuiltinFn, Lower, device};

/// Types fetched as floating values, signed integers and unsigned integers.
const FLOATS: &[&str] = &["float", "float1", "float2", "float4"];
const SIGNED: &[&str] = &[
    "char",
    "signed char",
    "short",
    "int",
    "char1",
    "char2",
    "char4",
    "short1",
    "short2",
    "short4",
    "int1",
    "int2",
    "int4",
];
const UNSIGNED: &[&str] = &[
    "unsigned char",
    "unsigned short",
    "unsigned int",
    "uchar1",
    "uchar2",
    "uchar4",
    "ushort1",
    "ushort2",
    "ushort4",
    "uint1",
    "uint2",
    "uint4",
];

/// The part of a fetched quadruple that a type wants: its type, and one type list a count.
macro_rules! takers {
    ($($quad:literal $scalars:expr, $ones:expr, $twos:expr, $fours:expr;)*) => {
        &[$(
            take(concat!("void(T* result,", $quad, " v)"), "{ *result = (T)v.x; }").family($scalars),
            take(concat!("void(T* result,", $quad, " v)"), "{ result->x = v.x; }").family($ones),
            take(concat!("void(T* result,", $quad, " v)"), "{ result->x = v.x; result->y = v.y; }")
                .family($twos),
            take(concat!("void(T* result,", $quad, " v)"),
                "{ result->x = v.x; result->y = v.y; result->z = v.z; result->w = v.w; }")
                .family($fours),
        )*]
    };
}

const fn take(signature: &'static str, body: &'static str) -> BuiltinFn {
    device("__cdp_take", signature, Lower::Inline(body), "What a type wants of four values.")
}

pub(super) const TAKERS: &[BuiltinFn] = takers! {
    "float4" &["float"], &["float1"], &["float2"], &["float4"];
    "int4" &["char", "signed char", "short", "int"], &["char1", "short1", "int1"],
        &["char2", "short2", "int2"], &["char4", "short4", "int4"];
    "uint4" &["unsigned char", "unsigned short", "unsigned int"], &["uchar1", "ushort1", "uint1"],
        &["uchar2", "ushort2", "uint2"], &["uchar4", "ushort4", "uint4"];
};

const SUMMARY: &str = "Fetches from a texture object.";

/// The rows of one fetch: instruction, coordinate type, operands after the object (from `%5` on),
/// their asm inputs, and the parameters.
macro_rules! fetches {
    ($($name:literal $op:literal $coordinate:literal $operands:literal $inputs:literal
        ($params:literal);)*) => {{
        const GROUPS: &[[BuiltinFn; 6]] = &[$([
            fetches!(@store $name $op $coordinate $operands $inputs $params "float4" "f32" "=f" FLOATS),
            fetches!(@store $name $op $coordinate $operands $inputs $params "int4" "s32" "=r" SIGNED),
            fetches!(@store $name $op $coordinate $operands $inputs $params "uint4" "u32" "=r" UNSIGNED),
            fetches!(@value $name $op $coordinate $operands $inputs $params "float4" "f32" "=f" FLOATS),
            fetches!(@value $name $op $coordinate $operands $inputs $params "int4" "s32" "=r" SIGNED),
            fetches!(@value $name $op $coordinate $operands $inputs $params "uint4" "u32" "=r" UNSIGNED),
        ],)*];
        GROUPS.as_flattened()
    }};
    (@asm $op:literal $coordinate:literal $operands:literal $inputs:literal $quad:literal
        $type:literal $letter:literal) => {
        concat!($quad, " v; asm(\"", $op, ".v4.", $type, ".", $coordinate,
            " {%0, %1, %2, %3}, [%4, ", $operands, ";\" : \"", $letter, "\"(v.x), \"", $letter,
            "\"(v.y), \"", $letter, "\"(v.z), \"", $letter, "\"(v.w) : \"l\"(texture), ", $inputs,
            ");")
    };
    (@store $name:literal $op:literal $coordinate:literal $operands:literal $inputs:literal
        $params:literal $quad:literal $type:literal $letter:literal $types:ident) => {
        device($name, concat!("void(T* result,cudaTextureObject_t texture,", $params, ")"),
            Lower::Inline(concat!("{ ",
                fetches!(@asm $op $coordinate $operands $inputs $quad $type $letter),
                " __cdp_take(result, v); }")),
            SUMMARY).family($types).template()
    };
    (@value $name:literal $op:literal $coordinate:literal $operands:literal $inputs:literal
        $params:literal $quad:literal $type:literal $letter:literal $types:ident) => {
        device($name, concat!("T(cudaTextureObject_t texture,", $params, ")"),
            Lower::Inline(concat!("{ ",
                fetches!(@asm $op $coordinate $operands $inputs $quad $type $letter),
                " T r; __cdp_take(&r, v); return r; }")),
            SUMMARY).family($types).explicit()
    };
}

pub(super) const FETCHES: &[BuiltinFn] = fetches! {
    "tex1Dfetch" "tex.1d" "s32" "{%5}]" "\"r\"(x)" ("int x");
    "tex1D" "tex.1d" "f32" "{%5}]" "\"f\"(x)" ("float x");
    "tex2D" "tex.2d" "f32" "{%5, %6}]" "\"f\"(x), \"f\"(y)" ("float x,float y");
    "tex3D" "tex.3d" "f32" "{%5, %6, %7, %7}]" "\"f\"(x), \"f\"(y), \"f\"(z)"
        ("float x,float y,float z");
    "tex1DLayered" "tex.a1d" "f32" "{%5, %6}]" "\"r\"(layer), \"f\"(x)" ("float x,int layer");
    "tex2DLayered" "tex.a2d" "f32" "{%5, %6, %7, %7}]" "\"r\"(layer), \"f\"(x), \"f\"(y)"
        ("float x,float y,int layer");
    "texCubemap" "tex.cube" "f32" "{%5, %6, %7, %7}]" "\"f\"(x), \"f\"(y), \"f\"(z)"
        ("float x,float y,float z");
    "texCubemapLayered" "tex.acube" "f32" "{%5, %6, %7, %8}]"
        "\"r\"(layer), \"f\"(x), \"f\"(y), \"f\"(z)" ("float x,float y,float z,int layer");
    "tex1DLod" "tex.level.1d" "f32" "{%5}], %6" "\"f\"(x), \"f\"(level)" ("float x,float level");
    "tex2DLod" "tex.level.2d" "f32" "{%5, %6}], %7" "\"f\"(x), \"f\"(y), \"f\"(level)"
        ("float x,float y,float level");
    "tex3DLod" "tex.level.3d" "f32" "{%5, %6, %7, %7}], %8"
        "\"f\"(x), \"f\"(y), \"f\"(z), \"f\"(level)" ("float x,float y,float z,float level");
    "tex1DLayeredLod" "tex.level.a1d" "f32" "{%5, %6}], %7" "\"r\"(layer), \"f\"(x), \"f\"(level)"
        ("float x,int layer,float level");
    "tex2DLayeredLod" "tex.level.a2d" "f32" "{%5, %6, %7, %7}], %8"
        "\"r\"(layer), \"f\"(x), \"f\"(y), \"f\"(level)" ("float x,float y,int layer,float level");
    "texCubemapLod" "tex.level.cube" "f32" "{%5, %6, %7, %7}], %8"
        "\"f\"(x), \"f\"(y), \"f\"(z), \"f\"(level)" ("float x,float y,float z,float level");
    "texCubemapLayeredLod" "tex.level.acube" "f32" "{%5, %6, %7, %8}], %9"
        "\"r\"(layer), \"f\"(x), \"f\"(y), \"f\"(z), \"f\"(level)"
        ("float x,float y,float z,int layer,float level");
    "tex1DGrad" "tex.grad.1d" "f32" "{%5}], {%6}, {%7}" "\"f\"(x), \"f\"(dx), \"f\"(dy)"
        ("float x,float dx,float dy");
    "tex2DGrad" "tex.grad.2d" "f32" "{%5, %6}], {%7, %8}, {%9, %10}"
        "\"f\"(x), \"f\"(y), \"f\"(dx.x), \"f\"(dx.y), \"f\"(dy.x), \"f\"(dy.y)"
        ("float x,float y,float2 dx,float2 dy");
    "tex3DGrad" "tex.grad.3d" "f32" "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}"
        "\"f\"(x), \"f\"(y), \"f\"(z), \"f\"(dx.x), \"f\"(dx.y), \"f\"(dx.z), \"f\"(dy.x), \"f\"(dy.y), \"f\"(dy.z)"
        ("float x,float y,float z,float4 dx,float4 dy");
    "tex1DLayeredGrad" "tex.grad.a1d" "f32" "{%5, %6}], {%7}, {%8}"
        "\"r\"(layer), \"f\"(x), \"f\"(dx), \"f\"(dy)" ("float x,int layer,float dx,float dy");
    "tex2DLayeredGrad" "tex.grad.a2d" "f32" "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}"
        "\"r\"(layer), \"f\"(x), \"f\"(y), \"f\"(dx.x), \"f\"(dx.y), \"f\"(dy.x), \"f\"(dy.y)"
        ("float x,float y,int layer,float2 dx,float2 dy");
    "texCubemapGrad" "tex.grad.cube" "f32"
        "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}"
        "\"f\"(x), \"f\"(y), \"f\"(z), \"f\"(dx.x), \"f\"(dx.y), \"f\"(dx.z), \"f\"(dy.x), \"f\"(dy.y), \"f\"(dy.z)"
        ("float x,float y,float z,float4 dx,float4 dy");
    "texCubemapLayeredGrad" "tex.grad.acube" "f32"
        "{%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14}"
        "\"r\"(layer), \"f\"(x), \"f\"(y), \"f\"(z), \"f\"(dx.x), \"f\"(dx.y), \"f\"(dx.z), \"f\"(dy.x), \"f\"(dy.y), \"f\"(dy.z)"
        ("float x,float y,float z,int layer,float4 dx,float4 dy");
    "__cdp_tex2Dgather_r" "tld4.r.2d" "f32" "{%5, %6}]" "\"f\"(x), \"f\"(y)" ("float x,float y");
    "__cdp_tex2Dgather_g" "tld4.g.2d" "f32" "{%5, %6}]" "\"f\"(x), \"f\"(y)" ("float x,float y");
    "__cdp_tex2Dgather_b" "tld4.b.2d" "f32" "{%5, %6}]" "\"f\"(x), \"f\"(y)" ("float x,float y");
    "__cdp_tex2Dgather_a" "tld4.a.2d" "f32" "{%5, %6}]" "\"f\"(x), \"f\"(y)" ("float x,float y");
};

const GATHER: &str = "One component of the four texels that a bilinear fetch would mix.";

/// The component is a constant in practice: three of the four branches go away.
macro_rules! gather {
    ($result:literal) => {
        concat!(
            "if (component == 1) __cdp_tex2Dgather_g(",
            $result,
            ", texture, x, y);",
            " else if (component == 2) __cdp_tex2Dgather_b(",
            $result,
            ", texture, x, y);",
            " else if (component == 3) __cdp_tex2Dgather_a(",
            $result,
            ", texture, x, y);",
            " else __cdp_tex2Dgather_r(",
            $result,
            ", texture, x, y);"
        )
    };
}

const fn gather(signature: &'static str, body: &'static str) -> BuiltinFn {
    device("tex2Dgather", signature, Lower::Inline(body), GATHER)
}

const GATHER_STORE: &str =
    "void(T* result,cudaTextureObject_t texture,float x,float y,int component=0)";
const GATHER_VALUE: &str = "T(cudaTextureObject_t texture,float x,float y,int component=0)";
const STORE_BODY: &str = concat!("{ ", gather!("result"), " }");
const VALUE_BODY: &str = concat!("{ T r; ", gather!("&r"), " return r; }");

pub(super) const GATHERS: &[BuiltinFn] = &[
    gather(GATHER_STORE, STORE_BODY).family(FLOATS).template(),
    gather(GATHER_STORE, STORE_BODY).family(SIGNED).template(),
    gather(GATHER_STORE, STORE_BODY).family(UNSIGNED).template(),
    gather(GATHER_VALUE, VALUE_BODY).family(FLOATS).explicit(),
    gather(GATHER_VALUE, VALUE_BODY).family(SIGNED).explicit(),
    gather(GATHER_VALUE, VALUE_BODY).family(UNSIGNED).explicit(),
];
