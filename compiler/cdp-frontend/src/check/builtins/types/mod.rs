//! Builtin types by name: vector types, 16-bit floating types, and the runtime API's enumerations,
//! structures and handles. Only descriptions; the checker makes its own types from them.
//!
//! Layouts are CUDA 13.0's (a program compiled by nvcc printed sizes, alignments and offsets).

use crate::ast::Basic;

use super::Header;

/// A builtin type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BuiltinTypeDef {
    /// The tag, which symbol names hold; for an alias the alias itself.
    pub name: &'static str,
    pub kind: BuiltinTypeKind,
    /// In bytes; 0 for the natural one.
    pub align: u32,
    pub header: Header,
}

/// What kind of type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum BuiltinTypeKind {
    /// `float4`: a struct of `len` (1 to 4) fields `x`, `y`, `z`, `w`.
    Vector { elem: Basic, len: u8 },
    /// A structure: type text ([`super::SigType::parse`]) and name of each field. A type text may
    /// end in `[n]`.
    Record { fields: &'static [(&'static str, &'static str)] },
    /// A union, its members as in [`Self::Record`].
    Union { fields: &'static [(&'static str, &'static str)] },
    /// `dim3`: a structure of three `unsigned` fields that default to 1, with conversions from and
    /// to `uint3`; a single integer converts to it.
    Dim3,
    /// `__half2`, `__nv_bfloat162`: a structure of two fields `x`, `y` of the given type, which can
    /// be made from two values of that type.
    HalfPair { elem: &'static str },
    /// A structure that is only declared (behind handles).
    Opaque,
    /// An unscoped enumeration; enumerators are in [`super::lookup_constant`].
    Enum { underlying: Basic },
    /// A typedef for the type of this text, which may end in `[n]`.
    Alias(&'static str),
    /// `__half`.
    Half,
    /// `__nv_bfloat16`.
    BFloat16,
}

/// `x`, `y`, `z`, `w`.
pub const VECTOR_FIELDS: [&str; 4] = ["x", "y", "z", "w"];

/// Vector types of one element type: names for one to four elements, and their alignments in bytes.
struct VectorFamily {
    elem: Basic,
    names: [&'static str; 4],
    aligns: [u32; 4],
}

const fn family(elem: Basic, names: [&'static str; 4], aligns: [u32; 4]) -> VectorFamily {
    VectorFamily { elem, names, aligns }
}

/// Two and four elements are aligned to their whole size up to 16 bytes, one and three to the
/// element. `long` vectors are those of a 64-bit `long`; [`lookup_type`] corrects 32-bit ones.
static VECTORS: [VectorFamily; 12] = [
    family(Basic::SChar, ["char1", "char2", "char3", "char4"], [1, 2, 1, 4]),
    family(Basic::UChar, ["uchar1", "uchar2", "uchar3", "uchar4"], [1, 2, 1, 4]),
    family(Basic::Short, ["short1", "short2", "short3", "short4"], [2, 4, 2, 8]),
    family(Basic::UShort, ["ushort1", "ushort2", "ushort3", "ushort4"], [2, 4, 2, 8]),
    family(Basic::Int, ["int1", "int2", "int3", "int4"], [4, 8, 4, 16]),
    family(Basic::UInt, ["uint1", "uint2", "uint3", "uint4"], [4, 8, 4, 16]),
    family(Basic::Long, ["long1", "long2", "long3", "long4"], [0, 0, 0, 16]),
    family(Basic::ULong, ["ulong1", "ulong2", "ulong3", "ulong4"], [0, 0, 0, 16]),
    family(Basic::LongLong, ["longlong1", "longlong2", "longlong3", "longlong4"], [8, 16, 8, 16]),
    family(
        Basic::ULongLong,
        ["ulonglong1", "ulonglong2", "ulonglong3", "ulonglong4"],
        [8, 16, 8, 16],
    ),
    family(Basic::Float, ["float1", "float2", "float3", "float4"], [4, 8, 4, 16]),
    family(Basic::Double, ["double1", "double2", "double3", "double4"], [8, 16, 8, 16]),
];

/// The four-element types whose alignment is in their name (CUDA 13).
static WIDE_VECTORS: [(&str, Basic, u32); 10] = [
    ("long4_16a", Basic::Long, 16),
    ("long4_32a", Basic::Long, 32),
    ("ulong4_16a", Basic::ULong, 16),
    ("ulong4_32a", Basic::ULong, 32),
    ("longlong4_16a", Basic::LongLong, 16),
    ("longlong4_32a", Basic::LongLong, 32),
    ("ulonglong4_16a", Basic::ULongLong, 16),
    ("ulonglong4_32a", Basic::ULongLong, 32),
    ("double4_16a", Basic::Double, 16),
    ("double4_32a", Basic::Double, 32),
];

/// The types that C++ cannot declare as they are.
static SPECIAL: [BuiltinTypeDef; 5] = [
    special("dim3", BuiltinTypeKind::Dim3, 0, Header::None),
    special("__half", BuiltinTypeKind::Half, 2, Header::Fp16),
    special("__half2", BuiltinTypeKind::HalfPair { elem: "__half" }, 4, Header::Fp16),
    special("__nv_bfloat16", BuiltinTypeKind::BFloat16, 2, Header::Bf16),
    special("__nv_bfloat162", BuiltinTypeKind::HalfPair { elem: "__nv_bfloat16" }, 4, Header::Bf16),
];

const fn special(
    name: &'static str,
    kind: BuiltinTypeKind,
    align: u32,
    header: Header,
) -> BuiltinTypeDef {
    BuiltinTypeDef { name, kind, align, header }
}

/// What `*.cuh` declares, in the language of `build/declarations/types.rs`.
static DECLARED: &[BuiltinTypeDef] = include!(concat!(env!("OUT_DIR"), "/types.rs"));

/// All types but the vectors.
fn others() -> impl Iterator<Item = BuiltinTypeDef> {
    SPECIAL.iter().chain(DECLARED).copied()
}

/// Looks up a type name. `pointer_bytes` (4 or 8) is also the size of `long`.
pub fn lookup_type(name: &str, pointer_bytes: u64) -> Option<BuiltinTypeDef> {
    let first = *name.as_bytes().first()?;
    if name.as_bytes().last().is_some_and(|last| matches!(last, b'1'..=b'4' | b'a'))
        && let Some(vector) = lookup_vector(name, pointer_bytes)
    {
        return Some(vector);
    }
    if !matches!(first, b'c' | b'C' | b'd' | b'h' | b's' | b't' | b'_' | b'n' | b'u' | b'p' | b'i')
    {
        return None;
    }
    let mut def = others().find(|def| def.name == name)?;
    if name == "int64_t" && pointer_bytes == 4 {
        def.kind = BuiltinTypeKind::Alias("long long");
    }
    Some(def)
}

/// Whether a program may use `name` as a type without declaring it. Types of other headers count:
/// the checker says which header is missing.
pub fn is_type_name(name: &str) -> bool {
    lookup_type(name, 8).is_some()
}

/// Every builtin type, as for 64-bit addresses.
pub fn all_types() -> impl Iterator<Item = BuiltinTypeDef> {
    let small = VECTORS.iter().flat_map(|family| family.names);
    let wide = WIDE_VECTORS.iter().map(|(name, ..)| *name);
    small.chain(wide).filter_map(|name| lookup_type(name, 8)).chain(others())
}

fn lookup_vector(name: &str, pointer_bytes: u64) -> Option<BuiltinTypeDef> {
    let def = |name, elem, len, align| BuiltinTypeDef {
        name,
        kind: BuiltinTypeKind::Vector { elem, len },
        align,
        header: Header::None,
    };
    if name.ends_with('a') {
        let found = WIDE_VECTORS.iter().find(|(wide, ..)| *wide == name);
        return found.map(|(name, elem, align)| def(*name, *elem, 4, *align));
    }
    let len = usize::from(name.as_bytes().last()? - b'0');
    let family = VECTORS.iter().find(|family| family.names[len - 1] == name)?;
    let align = match (family.aligns[len - 1], len) {
        (0, 2) => 2 * pointer_bytes as u32,
        (0, _) => pointer_bytes as u32,
        (align, _) => align,
    };
    Some(def(family.names[len - 1], family.elem, len as u8, align))
}

#[cfg(test)]
mod tests {
    use super::super::{SigBase, SigType};
    use super::*;

    #[test]
    fn names_are_found_once_and_refer_to_known_types() {
        let mut seen = std::collections::HashSet::new();
        for def in all_types() {
            assert!(seen.insert(def.name), "{} twice", def.name);
            assert_eq!(lookup_type(def.name, 8), Some(def), "{}", def.name);
            let mut refers: Vec<&'static str> = Vec::new();
            match def.kind {
                BuiltinTypeKind::Record { fields } | BuiltinTypeKind::Union { fields } => {
                    refers.extend(fields.iter().map(|f| f.0));
                }
                BuiltinTypeKind::Alias(text) => refers.push(text),
                BuiltinTypeKind::HalfPair { elem } => refers.push(elem),
                _ => {}
            }
            for text in refers {
                if let SigBase::Named(name) = SigType::parse(text, None).base {
                    assert!(is_type_name(name), "{} refers to {name}", def.name);
                }
            }
        }
    }

    #[test]
    fn vector_alignments() {
        let align = |name, bytes| lookup_type(name, bytes).unwrap().align;
        assert_eq!(align("float3", 8), 4);
        assert_eq!(align("float4", 8), 16);
        assert_eq!((align("long2", 8), align("long2", 4)), (16, 8));
        assert_eq!((align("double4_32a", 8), align("double4", 8)), (32, 16));
        assert_eq!(lookup_type("float5", 8), None);
        assert_eq!(lookup_type("a", 8), None);
    }
}
