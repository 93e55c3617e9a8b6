//! Host code's CUDA arrays, texture and surface objects, and what is made for pitched memory.
//! Mipmaps, layers and cube maps are left out, as the devices leave them out.

use super::{BuiltinFn, Lower, row};

const ON_HOST: &str =
    "arrays and the objects that read them are made by host code: pass the object to the kernel";

/// A function of host code that device code lacks.
const fn host(name: &'static str, signature: &'static str, summary: &'static str) -> BuiltinFn {
    row(name, signature, Lower::Refuse(ON_HOST), Lower::Extern(name), summary)
}

/// A function of one expression, on both sides.
const fn both(
    name: &'static str,
    signature: &'static str,
    body: &'static str,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Inline(body), Lower::Inline(body), summary)
}

/// `cudaCreateChannelDesc<T>()`, one row for the types of one element type: bits and kind, and the
/// types with one, two and four elements.
macro_rules! channels {
    ($($bits:literal $kind:literal $ones:expr, $twos:expr, $fours:expr;)*) => {
        &[$(
            channels!(@ concat!($bits, ", 0, 0, 0"), $kind).family($ones).explicit(),
            channels!(@ concat!($bits, ", ", $bits, ", 0, 0"), $kind).family($twos).explicit(),
            channels!(@ concat!($bits, ", ", $bits, ", ", $bits, ", ", $bits), $kind)
                .family($fours).explicit(),
        )*]
    };
    (@ $bits:expr, $kind:literal) => {
        row(
            "cudaCreateChannelDesc",
            "cudaChannelFormatDesc()",
            Lower::Refuse(ON_HOST),
            Lower::Inline(concat!("{ cudaChannelFormatDesc d = { ", $bits,
                ", cudaChannelFormatKind", $kind, " }; return d; }")),
            "The channel description of a type.",
        )
    };
}

pub(super) const CHANNELS: &[BuiltinFn] = channels! {
    "8" "Signed" &["char", "signed char", "char1"], &["char2"], &["char4"];
    "8" "Unsigned" &["unsigned char", "uchar1"], &["uchar2"], &["uchar4"];
    "16" "Signed" &["short", "short1"], &["short2"], &["short4"];
    "16" "Unsigned" &["unsigned short", "ushort1"], &["ushort2"], &["ushort4"];
    "32" "Signed" &["int", "int1"], &["int2"], &["int4"];
    "32" "Unsigned" &["unsigned int", "uint1"], &["uint2"], &["uint4"];
    "32" "Float" &["float", "float1"], &["float2"], &["float4"];
};

pub(super) const ROWS: &[BuiltinFn] = &[
    row(
        "cudaCreateChannelDesc",
        "cudaChannelFormatDesc(int x,int y,int z,int w,cudaChannelFormatKind kind)",
        Lower::Refuse(ON_HOST),
        Lower::Inline("{ cudaChannelFormatDesc d = { x, y, z, w, kind }; return d; }"),
        "A channel description: bits of each component, and what they are.",
    ),
    both(
        "make_cudaExtent",
        "cudaExtent(size_t width,size_t height,size_t depth)",
        "{ cudaExtent e = { width, height, depth }; return e; }",
        "A box's size.",
    ),
    both(
        "make_cudaPos",
        "cudaPos(size_t x,size_t y,size_t z)",
        "{ cudaPos p = { x, y, z }; return p; }",
        "A position in a box.",
    ),
    both(
        "make_cudaPitchedPtr",
        "cudaPitchedPtr(void* memory,size_t pitch,size_t width,size_t height)",
        "{ cudaPitchedPtr p = { memory, pitch, width, height }; return p; }",
        "Pitched memory.",
    ),
    host(
        "cudaMallocArray",
        "cudaError_t(cudaArray_t* array,const cudaChannelFormatDesc* format,size_t width,\
         size_t height=0,unsigned flags=0)",
        "Allocates an array of one or two dimensions.",
    ),
    host(
        "cudaMalloc3DArray",
        "cudaError_t(cudaArray_t* array,const cudaChannelFormatDesc* format,cudaExtent extent,\
         unsigned flags=0)",
        "Allocates an array of up to three dimensions.",
    ),
    host("cudaFreeArray", "cudaError_t(cudaArray_t array)", "Frees an array."),
    host(
        "cudaArrayGetInfo",
        "cudaError_t(cudaChannelFormatDesc* format,cudaExtent* extent,unsigned* flags,cudaArray_t array)",
        "What an array was made as.",
    ),
    host(
        "cudaGetChannelDesc",
        "cudaError_t(cudaChannelFormatDesc* format,cudaArray_const_t array)",
        "The channel description of an array.",
    ),
    host(
        "cudaMemcpyToArray",
        "cudaError_t(cudaArray_t array,size_t x_bytes,size_t y,const void* source,size_t count,\
         cudaMemcpyKind kind)",
        "Copies bytes into the rows of an array.",
    ),
    host(
        "cudaMemcpyFromArray",
        "cudaError_t(void* destination,cudaArray_const_t array,size_t x_bytes,size_t y,size_t count,\
         cudaMemcpyKind kind)",
        "Copies bytes from the rows of an array.",
    ),
    host(
        "cudaMemcpy2DToArray",
        "cudaError_t(cudaArray_t array,size_t x_bytes,size_t y,const void* source,size_t pitch,\
         size_t width,size_t height,cudaMemcpyKind kind)",
        "Copies rows into an array.",
    ),
    host(
        "cudaMemcpy2DToArrayAsync",
        "cudaError_t(cudaArray_t array,size_t x_bytes,size_t y,const void* source,size_t pitch,\
         size_t width,size_t height,cudaMemcpyKind kind,cudaStream_t stream=0)",
        "Copies rows into an array in stream order.",
    ),
    host(
        "cudaMemcpy2DFromArray",
        "cudaError_t(void* destination,size_t pitch,cudaArray_const_t array,size_t x_bytes,size_t y,\
         size_t width,size_t height,cudaMemcpyKind kind)",
        "Copies rows from an array.",
    ),
    host(
        "cudaMemcpy2DFromArrayAsync",
        "cudaError_t(void* destination,size_t pitch,cudaArray_const_t array,size_t x_bytes,size_t y,\
         size_t width,size_t height,cudaMemcpyKind kind,cudaStream_t stream=0)",
        "Copies rows from an array in stream order.",
    ),
    host(
        "cudaCreateTextureObject",
        "cudaError_t(cudaTextureObject_t* object,const cudaResourceDesc* resource,\
         const cudaTextureDesc* texture,const cudaResourceViewDesc* view)",
        "Makes a texture object of an array or of memory.",
    ),
    host(
        "cudaDestroyTextureObject",
        "cudaError_t(cudaTextureObject_t object)",
        "Destroys a texture object.",
    ),
    host(
        "cudaCreateSurfaceObject",
        "cudaError_t(cudaSurfaceObject_t* object,const cudaResourceDesc* resource)",
        "Makes a surface object of an array with `cudaArraySurfaceLoadStore`.",
    ),
    host(
        "cudaDestroySurfaceObject",
        "cudaError_t(cudaSurfaceObject_t object)",
        "Destroys a surface object.",
    ),
];
