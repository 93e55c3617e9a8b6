// Host code's CUDA arrays, texture and surface objects, and what is made for pitched memory.
// Mipmaps, layers and cube maps are left out, as the devices leave them out.

// By the types of one element type with one, two and four elements.
types CHAR1 = char, signed char, char1;
types CHAR2 = char2;
types CHAR4 = char4;
types UCHAR1 = unsigned char, uchar1;
types UCHAR2 = uchar2;
types UCHAR4 = uchar4;
types SHORT1 = short, short1;
types SHORT2 = short2;
types SHORT4 = short4;
types USHORT1 = unsigned short, ushort1;
types USHORT2 = ushort2;
types USHORT4 = ushort4;
types INT1 = int, int1;
types INT2 = int2;
types INT4 = int4;
types UINT1 = unsigned int, uint1;
types UINT2 = uint2;
types UINT4 = uint4;
types FLOAT1 = float, float1;
types FLOAT2 = float2;
types FLOAT4 = float4;

each $ON {
    = refuse "arrays and the objects that read them are made by host code: pass the object to the kernel"
} {
    /// The channel description of a type.
    each $TYPES | $BITS | $KIND {
        CHAR | 8 | Signed
        UCHAR | 8 | Unsigned
        SHORT | 16 | Signed
        USHORT | 16 | Unsigned
        INT | 32 | Signed
        UINT | 32 | Unsigned
        FLOAT | 32 | Float
    } {
        [explicit] {
            [for $TYPES1] cudaChannelFormatDesc cudaCreateChannelDesc() $ON
                host { cudaChannelFormatDesc d = { $BITS, 0, 0, 0, cudaChannelFormatKind$KIND }; return d; }
            [for $TYPES2] cudaChannelFormatDesc cudaCreateChannelDesc() $ON
                host { cudaChannelFormatDesc d = { $BITS, $BITS, 0, 0, cudaChannelFormatKind$KIND }; return d; }
            [for $TYPES4] cudaChannelFormatDesc cudaCreateChannelDesc() $ON
                host { cudaChannelFormatDesc d = { $BITS, $BITS, $BITS, $BITS, cudaChannelFormatKind$KIND }; return d; }
        }
    }
    /// A channel description: bits of each component, and what they are.
    cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind)
        $ON host { cudaChannelFormatDesc d = { x, y, z, w, kind }; return d; }
    /// A box's size.
    [both] cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
        { cudaExtent e = { width, height, depth }; return e; }
    /// A position in a box.
    [both] cudaPos make_cudaPos(size_t x, size_t y, size_t z)
        { cudaPos p = { x, y, z }; return p; }
    /// Pitched memory.
    [both] cudaPitchedPtr make_cudaPitchedPtr(void* memory, size_t pitch, size_t width, size_t height)
        { cudaPitchedPtr p = { memory, pitch, width, height }; return p; }
    /// Allocates an array of one or two dimensions.
    [c] cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
        size_t height = 0, unsigned flags = 0)
        $ON;
    /// Allocates an array of up to three dimensions.
    [c] cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
        cudaExtent extent, unsigned flags = 0)
        $ON;
    /// Frees an array.
    [c] cudaError_t cudaFreeArray(cudaArray_t array) $ON;
    /// What an array was made as.
    [c] cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
        cudaArray_t array)
        $ON;
    /// The channel description of an array.
    [c] cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) $ON;
    /// Copies bytes into the rows of an array.
    [c] cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x_bytes, size_t y, const void* source,
        size_t count, cudaMemcpyKind kind)
        $ON;
    /// Copies bytes from the rows of an array.
    [c] cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t array, size_t x_bytes,
        size_t y, size_t count, cudaMemcpyKind kind)
        $ON;
    /// Copies rows into an array.
    [c] cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x_bytes, size_t y, const void* source,
        size_t pitch, size_t width, size_t height, cudaMemcpyKind kind)
        $ON;
    /// Copies rows into an array in stream order.
    [c] cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x_bytes, size_t y,
        const void* source, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
        cudaStream_t stream = 0)
        $ON;
    /// Copies rows from an array.
    [c] cudaError_t cudaMemcpy2DFromArray(void* destination, size_t pitch, cudaArray_const_t array,
        size_t x_bytes, size_t y, size_t width, size_t height, cudaMemcpyKind kind)
        $ON;
    /// Copies rows from an array in stream order.
    [c] cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t pitch, cudaArray_const_t array,
        size_t x_bytes, size_t y, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0)
        $ON;
    /// Makes a texture object of an array or of memory.
    [c] cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
        const cudaTextureDesc* texture, const cudaResourceViewDesc* view)
        $ON;
    /// Destroys a texture object.
    [c] cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) $ON;
    /// Makes a surface object of an array with `cudaArraySurfaceLoadStore`.
    [c] cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) $ON;
    /// Destroys a surface object.
    [c] cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) $ON;
}
