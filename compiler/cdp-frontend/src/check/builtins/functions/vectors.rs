//! `make_float4` and its like, for every vector type, on both sides.

use super::{BuiltinFn, Lower, row};

/// Rows for the types of one element type with one to four elements.
macro_rules! makers {
    ($($elem:literal $one:literal $two:literal $three:literal $four:literal;)*) => {
        &[$(
            make(concat!("make_", $one), concat!($one, "(", $elem, " x)"),
                concat!("{ ", $one, " v; v.x = x; return v; }")),
            make(concat!("make_", $two), concat!($two, "(", $elem, " x,", $elem, " y)"),
                concat!("{ ", $two, " v; v.x = x; v.y = y; return v; }")),
            make(concat!("make_", $three),
                concat!($three, "(", $elem, " x,", $elem, " y,", $elem, " z)"),
                concat!("{ ", $three, " v; v.x = x; v.y = y; v.z = z; return v; }")),
            makers!(@four $elem $four),
        )*]
    };
    (@four $elem:literal $four:literal) => {
        make(concat!("make_", $four),
            concat!($four, "(", $elem, " x,", $elem, " y,", $elem, " z,", $elem, " w)"),
            concat!("{ ", $four, " v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }"))
    };
}

/// The four-element types whose alignment is in their name.
macro_rules! wide_makers {
    ($($elem:literal $four:literal;)*) => { &[$(makers!(@four $elem $four),)*] };
}

const fn make(name: &'static str, signature: &'static str, body: &'static str) -> BuiltinFn {
    row(name, signature, Lower::Inline(body), Lower::Inline(body), "A vector from its elements.")
}

pub(super) const MAKERS: &[BuiltinFn] = makers! {
    "signed char" "char1" "char2" "char3" "char4";
    "unsigned char" "uchar1" "uchar2" "uchar3" "uchar4";
    "short" "short1" "short2" "short3" "short4";
    "unsigned short" "ushort1" "ushort2" "ushort3" "ushort4";
    "int" "int1" "int2" "int3" "int4";
    "unsigned" "uint1" "uint2" "uint3" "uint4";
    "long" "long1" "long2" "long3" "long4";
    "unsigned long" "ulong1" "ulong2" "ulong3" "ulong4";
    "long long" "longlong1" "longlong2" "longlong3" "longlong4";
    "unsigned long long" "ulonglong1" "ulonglong2" "ulonglong3" "ulonglong4";
    "float" "float1" "float2" "float3" "float4";
    "double" "double1" "double2" "double3" "double4";
};

pub(super) const WIDE_MAKERS: &[BuiltinFn] = wide_makers! {
    "long" "long4_16a";
    "long" "long4_32a";
    "unsigned long" "ulong4_16a";
    "unsigned long" "ulong4_32a";
    "long long" "longlong4_16a";
    "long long" "longlong4_32a";
    "unsigned long long" "ulonglong4_16a";
    "unsigned long long" "ulonglong4_32a";
    "double" "double4_16a";
    "double" "double4_32a";
};
