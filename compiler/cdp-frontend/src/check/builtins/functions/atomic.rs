//! Atomic read-modify-write functions: relaxed, at device scope, with `_block` and `_system` forms.

use cdp_ir::{Atomic, AtomicOp, Intrinsic, Scope};

use super::{BuiltinFn, Lower, device, intrinsic};

const INT32: &[&str] = &["int", "unsigned int"];
const INTS: &[&str] = &["int", "unsigned int", "long long", "unsigned long long"];
const ADDED: &[&str] = &["int", "unsigned int", "unsigned long long", "float"];
const EXCHANGED: &[&str] = &["int", "unsigned int", "unsigned long long", "float"];
const COMPARED: &[&str] = &["int", "unsigned int", "unsigned long long"];

const BINARY: &str = "T(T* address,T value)";
const UNSIGNED: &str = "unsigned(unsigned* address,unsigned value)";

const fn op(op: AtomicOp, scope: Scope) -> Intrinsic {
    Intrinsic::Atomic(Atomic { op, scope })
}

/// Rows of one scope: the names are the function's with the scope's suffix.
macro_rules! scope_rows {
    ($suffix:literal, $scope:ident, $where:literal) => {
        [
            intrinsic(
                concat!("atomicAdd", $suffix),
                BINARY,
                op(AtomicOp::Add, Scope::$scope),
                concat!("Adds; yields the old value. Atomic in ", $where, "."),
            )
            .family(ADDED),
            intrinsic(
                concat!("atomicAdd", $suffix),
                "double(double* address,double value)",
                op(AtomicOp::Add, Scope::$scope),
                concat!("Adds; yields the old value. Atomic in ", $where, "."),
            )
            .since(60),
            device(
                concat!("atomicSub", $suffix),
                BINARY,
                Lower::Inline(concat!(
                    "{ return atomicAdd",
                    $suffix,
                    "(address, (T)(0u - (unsigned)value)); }"
                )),
                concat!("Subtracts; yields the old value. Atomic in ", $where, "."),
            )
            .family(INT32),
            intrinsic(
                concat!("atomicExch", $suffix),
                BINARY,
                op(AtomicOp::Exchange, Scope::$scope),
                concat!("Stores; yields the old value. Atomic in ", $where, "."),
            )
            .family(EXCHANGED),
            intrinsic(
                concat!("atomicMin", $suffix),
                BINARY,
                op(AtomicOp::Min, Scope::$scope),
                concat!("Keeps the smaller value; yields the old one. Atomic in ", $where, "."),
            )
            .family(INTS),
            intrinsic(
                concat!("atomicMax", $suffix),
                BINARY,
                op(AtomicOp::Max, Scope::$scope),
                concat!("Keeps the larger value; yields the old one. Atomic in ", $where, "."),
            )
            .family(INTS),
            intrinsic(
                concat!("atomicInc", $suffix),
                UNSIGNED,
                op(AtomicOp::Inc, Scope::$scope),
                concat!(
                    "Adds 1, or wraps to 0 past the value; yields the old. Atomic in ",
                    $where,
                    "."
                ),
            ),
            intrinsic(
                concat!("atomicDec", $suffix),
                UNSIGNED,
                op(AtomicOp::Dec, Scope::$scope),
                concat!(
                    "Subtracts 1, or wraps to the value; yields the old. Atomic in ",
                    $where,
                    "."
                ),
            ),
            intrinsic(
                concat!("atomicAnd", $suffix),
                BINARY,
                op(AtomicOp::And, Scope::$scope),
                concat!("Bitwise and; yields the old value. Atomic in ", $where, "."),
            )
            .family(INTS),
            intrinsic(
                concat!("atomicOr", $suffix),
                BINARY,
                op(AtomicOp::Or, Scope::$scope),
                concat!("Bitwise or; yields the old value. Atomic in ", $where, "."),
            )
            .family(INTS),
            intrinsic(
                concat!("atomicXor", $suffix),
                BINARY,
                op(AtomicOp::Xor, Scope::$scope),
                concat!("Bitwise exclusive or; yields the old value. Atomic in ", $where, "."),
            )
            .family(INTS),
            intrinsic(
                concat!("atomicCAS", $suffix),
                "T(T* address,T compare,T value)",
                op(AtomicOp::CompareExchange, Scope::$scope),
                concat!(
                    "Stores if the old value equals `compare`; yields it. Atomic in ",
                    $where,
                    "."
                ),
            )
            .family(COMPARED),
        ]
    };
}

/// What has no `_block` and `_system` form.
pub(super) const DEVICE_ONLY_FORMS: &[BuiltinFn] = &[intrinsic(
    "atomicCAS",
    "unsigned short(unsigned short* address,unsigned short compare,unsigned short value)",
    op(AtomicOp::CompareExchange, Scope::Device),
    "Stores if the old value equals `compare`; yields it. Atomic in the device.",
)
.since(70)];

pub(super) const DEVICE: &[BuiltinFn] = &scope_rows!("", Device, "the device");
pub(super) const BLOCK: &[BuiltinFn] = &scope_rows!("_block", Block, "the block");
pub(super) const SYSTEM: &[BuiltinFn] = &scope_rows!("_system", System, "the system");

/// Sixteen bytes at once.
const WIDE: &[&str] = &[
    "__int128",
    "unsigned __int128",
    "int4",
    "uint4",
    "float4",
    "long2",
    "ulong2",
    "longlong2",
    "ulonglong2",
    "double2",
];

/// What only sm_90 has: compare-and-swap and exchange of 16 bytes, and sums of float vectors (each
/// element for itself, in global memory).
macro_rules! wide_rows {
    ($suffix:literal, $scope:literal, $where:literal) => {
        [
            device(
                concat!("atomicCAS", $suffix),
                "T(T* address,T compare,T value)",
                Lower::Inline(concat!(
                    "{ ulonglong2 c = *(ulonglong2*)&compare, v = *(ulonglong2*)&value, old;",
                    " asm volatile(\"{ .reg .b128 c, v, old; mov.b128 c, {%3, %4};",
                    " mov.b128 v, {%5, %6}; atom",
                    $scope,
                    ".cas.b128 old, [%2], c, v;",
                    " mov.b128 {%0, %1}, old; }\" : \"=l\"(old.x), \"=l\"(old.y) : \"l\"((unsigned long long)address),",
                    " \"l\"(c.x), \"l\"(c.y), \"l\"(v.x), \"l\"(v.y) : \"memory\");",
                    " return *(T*)&old; }"
                )),
                concat!(
                    "Stores if the old value equals `compare`; yields it. Atomic in ",
                    $where,
                    "."
                ),
            )
            .family(WIDE)
            .since(90),
            device(
                concat!("atomicExch", $suffix),
                BINARY,
                Lower::Inline(concat!(
                    "{ ulonglong2 v = *(ulonglong2*)&value, old;",
                    " asm volatile(\"{ .reg .b128 v, old; mov.b128 v, {%3, %4}; atom",
                    $scope,
                    ".exch.b128 old, [%2], v; mov.b128 {%0, %1}, old; }\" : \"=l\"(old.x),",
                    " \"=l\"(old.y) : \"l\"((unsigned long long)address), \"l\"(v.x), \"l\"(v.y) : \"memory\");",
                    " return *(T*)&old; }"
                )),
                concat!("Stores; yields the old value. Atomic in ", $where, "."),
            )
            .family(WIDE)
            .since(90),
            device(
                concat!("atomicAdd", $suffix),
                "float2(float2* address,float2 value)",
                Lower::Inline(concat!(
                    "{ float2 old; asm volatile(\"atom.global",
                    $scope,
                    ".add.v2.f32 {%0, %1}, [%2], {%3, %4};\" : \"=f\"(old.x), \"=f\"(old.y)",
                    " : \"l\"((unsigned long long)__cvta_generic_to_global(address)), \"f\"(value.x), \"f\"(value.y)",
                    " : \"memory\"); return old; }"
                )),
                concat!("Adds each element; yields the old values. Atomic in ", $where, "."),
            )
            .since(90),
            device(
                concat!("atomicAdd", $suffix),
                "float4(float4* address,float4 value)",
                Lower::Inline(concat!(
                    "{ float4 old; asm volatile(\"atom.global",
                    $scope,
                    ".add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};\" : \"=f\"(old.x),",
                    " \"=f\"(old.y), \"=f\"(old.z), \"=f\"(old.w)",
                    " : \"l\"((unsigned long long)__cvta_generic_to_global(address)), \"f\"(value.x), \"f\"(value.y),",
                    " \"f\"(value.z), \"f\"(value.w) : \"memory\"); return old; }"
                )),
                concat!("Adds each element; yields the old values. Atomic in ", $where, "."),
            )
            .since(90),
        ]
    };
}

pub(super) const WIDE_DEVICE: &[BuiltinFn] = &wide_rows!("", "", "the device");
pub(super) const WIDE_BLOCK: &[BuiltinFn] = &wide_rows!("_block", ".cta", "the block");
pub(super) const WIDE_SYSTEM: &[BuiltinFn] = &wide_rows!("_system", ".sys", "the system");
