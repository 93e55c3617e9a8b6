//! Surface reads and writes through surface objects. Horizontal coordinates count bytes.
//!
//! A surface access moves bytes: types of one size are one access, whatever their elements.

use super::{BuiltinFn, Lower, device};

const BYTES1: &[&str] = &["char", "signed char", "unsigned char", "char1", "uchar1"];
const BYTES2: &[&str] = &["short", "unsigned short", "short1", "ushort1", "char2", "uchar2"];
const BYTES4: &[&str] = &[
    "int",
    "unsigned int",
    "float",
    "int1",
    "uint1",
    "float1",
    "char4",
    "uchar4",
    "short2",
    "ushort2",
];
const BYTES8: &[&str] = &[
    "long long",
    "unsigned long long",
    "longlong1",
    "ulonglong1",
    "int2",
    "uint2",
    "float2",
    "short4",
    "ushort4",
];
const BYTES16: &[&str] = &["int4", "uint4", "float4", "longlong2", "ulonglong2"];

const READ: &str = "Reads from a surface object.";
const WRITE: &str = "Writes to a surface object.";

/// What happens outside the surface is a constant in practice: two of the three branches go away.
macro_rules! by_mode {
    ($zero:expr, $clamp:expr, $trap:expr) => {
        concat!(
            "if (mode == cudaBoundaryModeZero) ",
            $zero,
            " else if (mode == cudaBoundaryModeClamp) ",
            $clamp,
            " else ",
            $trap
        )
    };
}

/// One access: for reads, outputs come first in the operand numbers.
macro_rules! read_asm {
    ($geometry:literal $mode:literal $at:literal $inputs:literal "v4.b32") => {
        concat!(
            "asm volatile(\"suld.b.",
            $geometry,
            ".v4.b32.",
            $mode,
            " {%0, %1, %2, %3}, [%4, ",
            $at,
            "];\" : \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z), \"=r\"(v.w) : \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal "v2.b32") => {
        concat!(
            "asm volatile(\"suld.b.",
            $geometry,
            ".v2.b32.",
            $mode,
            " {%0, %1}, [%2, ",
            $at,
            "];\" : \"=r\"(v.x), \"=r\"(v.y) : \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal "b32") => {
        concat!(
            "asm volatile(\"suld.b.",
            $geometry,
            ".b32.",
            $mode,
            " {%0}, [%1, ",
            $at,
            "];\" : \"=r\"(v) : \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal $small:literal) => {
        concat!(
            "asm volatile(\"suld.b.",
            $geometry,
            ".",
            $small,
            ".",
            $mode,
            " {%0}, [%1, ",
            $at,
            "];\" : \"=h\"(v) : \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
}

macro_rules! write_asm {
    ($geometry:literal $mode:literal $at:literal $inputs:literal "v4.b32") => {
        concat!(
            "asm volatile(\"sust.b.",
            $geometry,
            ".v4.b32.",
            $mode,
            " [%4, ",
            $at,
            "], {%0, %1, %2, %3};\" : : \"r\"(v.x), \"r\"(v.y), \"r\"(v.z), \"r\"(v.w),",
            " \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal "v2.b32") => {
        concat!(
            "asm volatile(\"sust.b.",
            $geometry,
            ".v2.b32.",
            $mode,
            " [%2, ",
            $at,
            "], {%0, %1};\" : : \"r\"(v.x), \"r\"(v.y), \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal "b32") => {
        concat!(
            "asm volatile(\"sust.b.",
            $geometry,
            ".b32.",
            $mode,
            " [%1, ",
            $at,
            "], {%0};\" : : \"r\"(v), \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
    ($geometry:literal $mode:literal $at:literal $inputs:literal $small:literal) => {
        concat!(
            "asm volatile(\"sust.b.",
            $geometry,
            ".",
            $small,
            ".",
            $mode,
            " [%1, ",
            $at,
            "], {%0};\" : : \"h\"(v), \"l\"(surface), ",
            $inputs,
            " : \"memory\");"
        )
    };
}

/// The three rows of one size: stored read, written-type read, write. `$v` is the register type.
macro_rules! sized {
    ($suffix:literal $params:literal $geometry:literal $at:literal $inputs:literal, $shape:tt
        $v:literal $types:ident) => {
        [
            device(concat!("surf", $suffix, "read"),
                concat!("void(T* result,cudaSurfaceObject_t surface,", $params,
                    ",cudaSurfaceBoundaryMode mode=cudaBoundaryModeTrap)"),
                Lower::Inline(concat!("{ ", $v, " v; ",
                    by_mode!(read_asm!($geometry "zero" $at $inputs $shape),
                        read_asm!($geometry "clamp" $at $inputs $shape),
                        read_asm!($geometry "trap" $at $inputs $shape)),
                    sized!(@store $shape), " }")),
                READ).family($types).template(),
            device(concat!("surf", $suffix, "read"),
                concat!("T(cudaSurfaceObject_t surface,", $params,
                    ",cudaSurfaceBoundaryMode mode=cudaBoundaryModeTrap)"),
                Lower::Inline(concat!("{ ", $v, " v; ",
                    by_mode!(read_asm!($geometry "zero" $at $inputs $shape),
                        read_asm!($geometry "clamp" $at $inputs $shape),
                        read_asm!($geometry "trap" $at $inputs $shape)),
                    sized!(@load $shape), " }")),
                READ).family($types).explicit(),
            device(concat!("surf", $suffix, "write"),
                concat!("void(T value,cudaSurfaceObject_t surface,", $params,
                    ",cudaSurfaceBoundaryMode mode=cudaBoundaryModeTrap)"),
                Lower::Inline(concat!("{ ", sized!(@take $shape $v), " ",
                    by_mode!(write_asm!($geometry "zero" $at $inputs $shape),
                        write_asm!($geometry "clamp" $at $inputs $shape),
                        write_asm!($geometry "trap" $at $inputs $shape)),
                    " }")),
                WRITE).family($types).template(),
        ]
    };
    // A byte travels in a 16-bit register.
    (@store "b8") => { " unsigned char b = (unsigned char)v; *result = *(T*)&b;" };
    (@store $shape:tt) => { " *result = *(T*)&v;" };
    (@load "b8") => { " unsigned char b = (unsigned char)v; return *(T*)&b;" };
    (@load $shape:tt) => { " return *(T*)&v;" };
    (@take "b8" $v:literal) => { "unsigned short v = *(unsigned char*)&value;" };
    (@take $shape:tt $v:literal) => { concat!($v, " v = *(", $v, "*)&value;") };
}

/// All sizes of one geometry: name, parameters, instruction's geometry, coordinates, inputs. The
/// coordinates' operand numbers depend on how many registers come before them.
macro_rules! surfaces {
    ($($suffix:literal ($params:literal) $geometry:literal $inputs:literal
        $at4:literal $at2:literal $at1:literal;)*) => {{
        const GROUPS: &[[[BuiltinFn; 3]; 5]] = &[$([
            sized!($suffix $params $geometry $at1 $inputs, "b8" "unsigned short" BYTES1),
            sized!($suffix $params $geometry $at1 $inputs, "b16" "unsigned short" BYTES2),
            sized!($suffix $params $geometry $at1 $inputs, "b32" "unsigned" BYTES4),
            sized!($suffix $params $geometry $at2 $inputs, "v2.b32" "uint2" BYTES8),
            sized!($suffix $params $geometry $at4 $inputs, "v4.b32" "uint4" BYTES16),
        ],)*];
        GROUPS.as_flattened().as_flattened()
    }};
}

pub(super) const ROWS: &[BuiltinFn] = surfaces! {
    "1D" ("int x") "1d" "\"r\"(x)" "{%5}" "{%3}" "{%2}";
    "2D" ("int x,int y") "2d" "\"r\"(x), \"r\"(y)" "{%5, %6}" "{%3, %4}" "{%2, %3}";
    "3D" ("int x,int y,int z") "3d" "\"r\"(x), \"r\"(y), \"r\"(z)"
        "{%5, %6, %7, %7}" "{%3, %4, %5, %5}" "{%2, %3, %4, %4}";
    "1DLayered" ("int x,int layer") "a1d" "\"r\"(layer), \"r\"(x)"
        "{%5, %6}" "{%3, %4}" "{%2, %3}";
    "2DLayered" ("int x,int y,int layer") "a2d" "\"r\"(layer), \"r\"(x), \"r\"(y)"
        "{%5, %6, %7, %7}" "{%3, %4, %5, %5}" "{%2, %3, %4, %4}";
    "Cubemap" ("int x,int y,int face") "a2d" "\"r\"(face), \"r\"(x), \"r\"(y)"
        "{%5, %6, %7, %7}" "{%3, %4, %5, %5}" "{%2, %3, %4, %4}";
    "CubemapLayered" ("int x,int y,int layer_face") "a2d" "\"r\"(layer_face), \"r\"(x), \"r\"(y)"
        "{%5, %6, %7, %7}" "{%3, %4, %5, %5}" "{%2, %3, %4, %4}";
};
