// `make_float4` and its like, for every vector type.

/// A vector from its elements.
[both] {
    each $E | $V {
        signed char | char
        unsigned char | uchar
        short | short
        unsigned short | ushort
        int | int
        unsigned | uint
        long | long
        unsigned long | ulong
        long long | longlong
        unsigned long long | ulonglong
        float | float
        double | double
    } {
        $V1 make_$V1($E x) { $V1 v; v.x = x; return v; }
        $V2 make_$V2($E x, $E y) { $V2 v; v.x = x; v.y = y; return v; }
        $V3 make_$V3($E x, $E y, $E z) { $V3 v; v.x = x; v.y = y; v.z = z; return v; }
        $V4 make_$V4($E x, $E y, $E z, $E w) { $V4 v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
    }
    // The four-element types whose alignment is in their name.
    each $E | $V {
        long | long4
        unsigned long | ulong4
        long long | longlong4
        unsigned long long | ulonglong4
        double | double4
    } {
        $V_16a make_$V_16a($E x, $E y, $E z, $E w) { $V_16a v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
        $V_32a make_$V_32a($E x, $E y, $E z, $E w) { $V_32a v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
    }
}
