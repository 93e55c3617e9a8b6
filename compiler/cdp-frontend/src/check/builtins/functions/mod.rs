//! The function tables, one module a family. Each row is one call of a builder below.

use cdp_ir::Intrinsic;

use super::{BuiltinFn, Flags, Header, Lower};

mod arrays;
mod atomic;
mod convert;
mod device_runtime;
mod gnu;
mod half;
mod half_compare;
mod half_convert;
mod host_api;
mod integer;
mod math;
mod memory;
mod occupancy;
mod rounding;
mod simd;
mod surface;
mod sync;
mod texture;
mod vectors;
mod warp;

/// The tables of one family, for the documentation.
pub struct Group {
    /// What the family is, as a heading.
    pub title: &'static str,
    pub tables: &'static [&'static [BuiltinFn]],
}

/// All tables, in the order that look-ups follow, and the same in families.
macro_rules! tables {
    ($($title:literal { $($table:expr),* $(,)? })*) => {
        pub(super) const TABLE_LIST: &[&[BuiltinFn]] = &[$($($table,)*)*];

        /// The tables by family.
        pub static GROUPS: &[Group] = &[$(Group { title: $title, tables: &[$($table,)*] },)*];
    };
}

tables! {
    "Barriers, fences, clocks, traps and hints" { sync::ROWS }
    "Warp primitives" { warp::ROWS }
    "Atomic functions" {
        atomic::DEVICE,
        atomic::DEVICE_ONLY_FORMS,
        atomic::BLOCK,
        atomic::SYSTEM,
        atomic::WIDE_DEVICE,
        atomic::WIDE_BLOCK,
        atomic::WIDE_SYSTEM,
    }
    "Memory, address spaces and bytes" { memory::ROWS, memory::C_LIBRARY }
    "Vector makers" { vectors::MAKERS, vectors::WIDE_MAKERS }
    "Mathematical functions" {
        math::UNARY,
        math::UNARY_MACHINE,
        math::BINARY,
        math::BINARY_MACHINE,
        math::POW,
        math::FMA,
        math::WITH_INT,
        math::WITH_POINTER,
        math::REMQUO,
        math::BESSEL,
        math::NAMED,
        math::NORMS,
        math::SINGLES,
        math::EXACT,
        math::FAST,
    }
    "Arithmetic with a chosen rounding" { rounding::SINGLE, rounding::DOUBLE }
    "Conversions and reinterpretation of bits" {
        convert::TO_INT,
        convert::FROM_INT,
        convert::NARROW,
        convert::BITS,
    }
    "Integer functions" {
        integer::EXTREMES,
        integer::MIXED_EXTREMES,
        integer::ROWS,
        integer::DOTS,
        integer::VECTOR_DOTS,
    }
    "SIMD within a word, and DPX" {
        simd::HALVES,
        simd::BYTES,
        simd::DPX_S32,
        simd::DPX_U32,
        simd::DPX_S16,
        simd::DPX_U16,
        simd::DPX_RELU_S32,
        simd::DPX_RELU_S16,
        simd::DPX_CHOICE,
    }
    "16-bit floating values: arithmetic and mathematics" {
        half::HALF,
        half::HALF_PAIR_OPS,
        half::HALF_SCALAR_PTX,
        half::HALF_MATH,
        half::BF16,
        half::BF16_PAIR_OPS,
        half::BF16_SATURATED,
        half::BF16_SCALAR_PTX,
        half::BF16_MATH,
    }
    "16-bit floating values: comparisons" { half_compare::HALF, half_compare::BF16 }
    "16-bit floating values: conversions, moves and atomics" {
        half_convert::SCALARS,
        half_convert::HALF_INTS,
        half_convert::BF16_INTS,
        half_convert::BF16_SHORTS,
        half_convert::CHARS,
        half_convert::HALF_PAIRS,
        half_convert::BF16_PAIRS,
        half_convert::HALF_MOVES,
        half_convert::BF16_MOVES,
        half_convert::ATOMICS,
    }
    "Texture objects" { texture::TAKERS, texture::FETCHES, texture::GATHERS }
    "Surface objects" { surface::ROWS }
    "GNU's functions of host compilers" { gnu::LIBRARY, gnu::SHORT }
    "Runtime functions of device code" {
        device_runtime::TABLE,
        device_runtime::ROWS,
        occupancy::ROWS,
    }
    "Runtime functions of host code" { host_api::ROWS }
    "Arrays and pitched memory" { arrays::CHANNELS, arrays::ROWS }
}

/// The tables, at one address.
pub static TABLES: &[&[BuiltinFn]] = TABLE_LIST;

/// The advice for host code that calls a device function, when there is nothing better to say.
const DEVICE_ONLY: Lower = Lower::Refuse("");

const fn row(
    name: &'static str,
    signature: &'static str,
    device: Lower,
    host: Lower,
    summary: &'static str,
) -> BuiltinFn {
    BuiltinFn {
        name,
        signature,
        types: &[],
        header: Header::None,
        min_sm: 0,
        device,
        host,
        flags: Flags { internal: is_internal(name), ..Flags::NONE },
        summary,
    }
}

/// Names that begin with `__cdp_` are for [`Lower::Inline`] bodies.
const fn is_internal(name: &str) -> bool {
    matches!(name.as_bytes(), [b'_', b'_', b'c', b'd', b'p', b'_', ..])
}

/// A function of device code.
const fn device(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, lower, DEVICE_ONLY, summary)
}

/// A function of device code that is one intrinsic.
const fn intrinsic(
    name: &'static str,
    signature: &'static str,
    op: Intrinsic,
    summary: &'static str,
) -> BuiltinFn {
    device(name, signature, Lower::Intrinsic(op), summary)
}

impl BuiltinFn {
    /// One overload for each type that `T` stands for.
    const fn family(mut self, types: &'static [&'static str]) -> Self {
        self.types = types;
        self
    }

    /// Only from this architecture on.
    const fn since(mut self, sm: u16) -> Self {
        self.min_sm = sm;
        self
    }

    /// In the host pass: this.
    const fn hosted(mut self, lower: Lower) -> Self {
        self.host = lower;
        self
    }

    /// In the host pass: as in the device pass.
    const fn on_both_sides(mut self) -> Self {
        self.host = self.device;
        self
    }

    const fn in_header(mut self, header: Header) -> Self {
        self.header = header;
        self
    }

    const fn noreturn(mut self) -> Self {
        self.flags.noreturn = true;
        self
    }

    /// The family's type is written at the call: `name<T>(...)`.
    const fn explicit(mut self) -> Self {
        self.flags.explicit_type = true;
        self
    }

    /// The family's type may be written at the call as well as deduced.
    const fn template(mut self) -> Self {
        self.flags.template = true;
        self
    }

    /// Also `std::name`.
    const fn in_std(mut self) -> Self {
        self.flags.std = true;
        self
    }

    /// As `promoting`, in device code too.
    const fn promoting_everywhere(mut self) -> Self {
        self.flags.promote_on_device = true;
        self.promoting()
    }

    /// Also takes integer and mixed arguments; see [`Flags::promote`].
    const fn promoting(mut self) -> Self {
        self.flags.promote = true;
        self
    }
}

/// `ptx!(kind "text", "results", "arguments")`: a lowering to a few PTX instructions. Kinds: `pure`;
/// `effect` (kept and in order); `memory` (an effect that touches memory); `warp` (an effect that
/// all named lanes must reach together).
macro_rules! ptx {
    (pure $text:expr, $results:expr, $args:expr) => {
        ptx!(@ $text, $results, $args, false, false, false)
    };
    (effect $text:expr, $results:expr, $args:expr) => {
        ptx!(@ $text, $results, $args, true, false, false)
    };
    (memory $text:expr, $results:expr, $args:expr) => {
        ptx!(@ $text, $results, $args, true, false, true)
    };
    (warp $text:expr, $results:expr, $args:expr) => {
        ptx!(@ $text, $results, $args, true, true, true)
    };
    (@ $text:expr, $results:expr, $args:expr, $effect:expr, $convergent:expr, $memory:expr) => {
        $crate::check::builtins::Lower::Intrinsic(cdp_ir::Intrinsic::Ptx(&cdp_ir::PtxTemplate {
            name: $text,
            text: $text,
            results: $results,
            args: $args,
            side_effects: $effect,
            convergent: $convergent,
            memory: $memory,
        }))
    };
}
use ptx;

#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod tests;
