// Surface reads and writes through surface objects. Horizontal coordinates count bytes.
//
// A surface access moves bytes: types of one size are one access, whatever their elements.

types BYTES1 = char, signed char, unsigned char, char1, uchar1;
types BYTES2 = short, unsigned short, short1, ushort1, char2, uchar2;
types BYTES4 = int, unsigned int, float, int1, uint1, float1, char4, uchar4, short2, ushort2;
types BYTES8 = long long, unsigned long long, longlong1, ulonglong1, int2, uint2, float2, short4, ushort4;
types BYTES16 = int4, uint4, float4, longlong2, ulonglong2;

// Name, parameters, the instruction's geometry, inputs, and the coordinates, whose operand numbers
// depend on how many registers of the value come before them.
each $NAME | $PARAMS | $GEOMETRY | $INPUTS | $FOUR | $TWO | $ONE {
    1D | int x | 1d | "r"(x) | {%5} | {%3} | {%2}
    2D | int x, int y | 2d | "r"(x), "r"(y) | {%5, %6} | {%3, %4} | {%2, %3}
    3D | int x, int y, int z | 3d | "r"(x), "r"(y), "r"(z) | {%5, %6, %7, %7} | {%3, %4, %5, %5} | {%2, %3, %4, %4}
    1DLayered | int x, int layer | a1d | "r"(layer), "r"(x) | {%5, %6} | {%3, %4} | {%2, %3}
    2DLayered | int x, int y, int layer | a2d | "r"(layer), "r"(x), "r"(y) \
        | {%5, %6, %7, %7} | {%3, %4, %5, %5} | {%2, %3, %4, %4}
    Cubemap | int x, int y, int face | a2d | "r"(face), "r"(x), "r"(y) \
        | {%5, %6, %7, %7} | {%3, %4, %5, %5} | {%2, %3, %4, %4}
    CubemapLayered | int x, int y, int layer_face | a2d | "r"(layer_face), "r"(x), "r"(y) \
        | {%5, %6, %7, %7} | {%3, %4, %5, %5} | {%2, %3, %4, %4}
} {
    // Types, the value's registers in the instruction and in C, and how the value is seen in memory: a
    // byte travels in a 16-bit register.
    each $TYPES | $SHAPE | $REGISTERS | $AT | $OUT | $IN | $V | $SEEN | $NARROW | $N {
        BYTES1 | b8 | {%0} | %1, $ONE | "=h"(v) | "h"(v) | unsigned short | unsigned char \
            | unsigned char b = (unsigned char)v; | b
        BYTES2 | b16 | {%0} | %1, $ONE | "=h"(v) | "h"(v) | unsigned short | unsigned short | | v
        BYTES4 | b32 | {%0} | %1, $ONE | "=r"(v) | "r"(v) | unsigned | unsigned | | v
        BYTES8 | v2.b32 | {%0, %1} | %2, $TWO | "=r"(v.x), "=r"(v.y) | "r"(v.x), "r"(v.y) | uint2 | uint2 | | v
        BYTES16 | v4.b32 | {%0, %1, %2, %3} | %4, $FOUR | "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) \
            | "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) | uint4 | uint4 | | v
    } {
        // What happens outside the surface is a constant in practice: two of the three branches go away.
        /// Reads from a surface object.
        [for $TYPES, template] void surf$NAMEread(T* result, cudaSurfaceObject_t surface, $PARAMS,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
            $V v; if (mode == cudaBoundaryModeZero)
            asm volatile("suld.b.$GEOMETRY.$SHAPE.zero $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            else if (mode == cudaBoundaryModeClamp)
            asm volatile("suld.b.$GEOMETRY.$SHAPE.clamp $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            else
            asm volatile("suld.b.$GEOMETRY.$SHAPE.trap $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            $NARROW *result = *(T*)&$N;
        }
        [for $TYPES, explicit] T surf$NAMEread(cudaSurfaceObject_t surface, $PARAMS,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
            $V v; if (mode == cudaBoundaryModeZero)
            asm volatile("suld.b.$GEOMETRY.$SHAPE.zero $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            else if (mode == cudaBoundaryModeClamp)
            asm volatile("suld.b.$GEOMETRY.$SHAPE.clamp $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            else
            asm volatile("suld.b.$GEOMETRY.$SHAPE.trap $REGISTERS, [$AT];" : $OUT : "l"(surface), $INPUTS : "memory");
            $NARROW return *(T*)&$N;
        }
        /// Writes to a surface object.
        [for $TYPES, template] void surf$NAMEwrite(T value, cudaSurfaceObject_t surface, $PARAMS,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
            $V v = *($SEEN*)&value; if (mode == cudaBoundaryModeZero)
            asm volatile("sust.b.$GEOMETRY.$SHAPE.zero [$AT], $REGISTERS;" : : $IN, "l"(surface), $INPUTS : "memory");
            else if (mode == cudaBoundaryModeClamp)
            asm volatile("sust.b.$GEOMETRY.$SHAPE.clamp [$AT], $REGISTERS;" : : $IN, "l"(surface), $INPUTS : "memory");
            else
            asm volatile("sust.b.$GEOMETRY.$SHAPE.trap [$AT], $REGISTERS;" : : $IN, "l"(surface), $INPUTS : "memory");
        }
    }
}
