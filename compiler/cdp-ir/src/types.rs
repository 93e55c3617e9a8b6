//! Machine types and their layout.
//!
//! What this is not: C's type system. `char` and `signed char`, enumerations, qualifiers,
//! references and typedef names live in the checker, which maps each C type to one type here.

use std::collections::HashMap;

/// A type in a [`TypeTable`]. Equal ids are equal types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A struct or union in a [`TypeTable`]. Each definition is a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u32);

/// Floating-point formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// IEEE 754 binary16 (`__half`).
    F16,
    /// The upper half of an `F32` (`__nv_bfloat16`).
    BF16,
    /// IEEE 754 binary32 (`float`).
    F32,
    /// IEEE 754 binary64 (`double`).
    F64,
}

impl FloatKind {
    /// Size in bytes, which is also the alignment.
    pub fn bytes(self) -> u64 {
        match self {
            FloatKind::F16 | FloatKind::BF16 => 2,
            FloatKind::F32 => 4,
            FloatKind::F64 => 8,
        }
    }
}

/// A machine type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value; behind a pointer, memory of any type.
    Void,
    /// One byte in memory holding 0 or 1; one bit as a value.
    Bool,
    /// An integer of 8, 16, 32, 64 or 128 bits, aligned to its size.
    Int {
        /// 8, 16, 32, 64 or 128.
        bits: u8,
        /// Two's complement; decides how it is extended, divided, compared and shifted.
        signed: bool,
    },
    /// A floating-point number.
    Float(FloatKind),
    /// A generic-address pointer, of the module's address size. The pointee may be `Void`.
    Pointer(TypeId),
    /// Elements without padding between them.
    Array {
        /// The type of an element.
        elem: TypeId,
        /// Elements; 0 where the bound is not known here (`extern int a[]`).
        len: u64,
    },
    /// A struct or union of the table.
    Record(RecordId),
    /// A function's type; only ever behind a pointer or as a callee.
    Function {
        /// The result's type.
        ret: TypeId,
        /// The parameters' types, arrays and functions as pointers.
        params: Vec<TypeId>,
        /// Takes more arguments than these.
        variadic: bool,
    },
}

/// Size and alignment in bytes. The alignment is a power of two; the size is a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In bytes.
    pub size: u64,
    /// In bytes.
    pub align: u64,
}

/// Whether the members of a record follow each other or share their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Each member after the one before.
    Struct,
    /// All members at offset 0.
    Union,
}

/// The bits that a bit-field takes within its storage unit, least significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRange {
    /// The lowest bit's place in the storage unit.
    pub offset: u8,
    /// Bits; at least 1.
    pub width: u8,
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Empty for an anonymous member.
    pub name: String,
    /// The type of the member, or of a bit-field's storage unit.
    pub ty: TypeId,
    /// Byte offset of the member, or of the storage unit of type `ty` that holds a bit-field.
    pub offset: u64,
    /// Which bits of the unit, for a bit-field.
    pub bits: Option<BitRange>,
}

/// A struct or union with its layout decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// As the source qualifies it; for listings and debug information.
    pub name: String,
    /// Struct or union.
    pub kind: RecordKind,
    /// Members in order; empty until the record is complete.
    pub fields: Vec<Field>,
    /// Size and alignment, padding included.
    pub layout: Layout,
    /// False while only the tag is known; such a record may stand only behind a pointer.
    pub complete: bool,
}

/// What a member asks for, before layout.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    /// Empty for an anonymous member.
    pub name: String,
    /// The declared type.
    pub ty: TypeId,
    /// Extra alignment from an attribute, in bytes; 0 when none.
    pub align: u64,
    /// The width of a bit-field; `Some(0)` closes the current storage unit.
    pub bits: Option<u8>,
    /// Drops this member's natural alignment.
    pub packed: bool,
}

/// How a whole record is laid out, beside what its members ask for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packing {
    /// Raises the record's alignment, in bytes; 0 for none.
    pub min_align: u64,
    /// Drops every member's natural alignment.
    pub packed: bool,
    /// Limits every member's alignment (`#pragma pack`), in bytes; 0 for no limit.
    pub limit: u64,
}

/// All types of a module, interned.
#[derive(Clone, Debug)]
pub struct TypeTable {
    types: Vec<Type>,
    ids: HashMap<Type, TypeId>,
    records: Vec<Record>,
    pointer_bytes: u64,
}

impl TypeTable {
    /// An empty table for addresses of `pointer_bytes` (4 or 8) bytes.
    pub fn new(pointer_bytes: u64) -> Self {
        TypeTable { types: Vec::new(), ids: HashMap::new(), records: Vec::new(), pointer_bytes }
    }

    /// Bytes of an address, 4 or 8.
    pub fn pointer_bytes(&self) -> u64 {
        self.pointer_bytes
    }

    /// The id of a type, which is added if it is new.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The type; panics on another table's id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The id of a type if it is already in the table.
    pub fn find(&self, ty: &Type) -> Option<TypeId> {
        self.ids.get(ty).copied()
    }

    /// How many types there are: ids are below.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether no type was interned yet.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// `Void`, interned.
    pub fn void(&mut self) -> TypeId {
        self.intern(Type::Void)
    }
    /// `Bool`, interned.
    pub fn bool(&mut self) -> TypeId {
        self.intern(Type::Bool)
    }
    /// An integer type of 8 to 128 bits, interned.
    pub fn int(&mut self, bits: u8, signed: bool) -> TypeId {
        self.intern(Type::Int { bits, signed })
    }
    /// A floating type, interned.
    pub fn float(&mut self, kind: FloatKind) -> TypeId {
        self.intern(Type::Float(kind))
    }
    /// A pointer type, interned.
    pub fn pointer_to(&mut self, pointee: TypeId) -> TypeId {
        self.intern(Type::Pointer(pointee))
    }
    /// An array type of `len` elements, interned.
    pub fn array_of(&mut self, elem: TypeId, len: u64) -> TypeId {
        self.intern(Type::Array { elem, len })
    }
    /// A record as a type, interned.
    pub fn record_type(&mut self, record: RecordId) -> TypeId {
        self.intern(Type::Record(record))
    }

    /// The record; panics on another table's id.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// All records in the order of their declaration, incomplete ones included.
    pub fn records(&self) -> impl Iterator<Item = (RecordId, &Record)> {
        self.records.iter().enumerate().map(|(i, r)| (RecordId(i as u32), r))
    }

    /// Raises a complete record's alignment to one that divides its size.
    pub fn raise_alignment(&mut self, id: RecordId, align: u64) {
        let layout = &mut self.records[id.0 as usize].layout;
        debug_assert!(layout.size.is_multiple_of(align));
        layout.align = layout.align.max(align);
    }

    /// Gives a record another name, as a typedef does for an unnamed one.
    pub fn rename_record(&mut self, id: RecordId, name: &str) {
        self.records[id.0 as usize].name = name.to_owned();
    }

    /// Declares a record whose members come later, with [`TypeTable::complete_record`].
    pub fn declare_record(&mut self, name: impl Into<String>, kind: RecordKind) -> RecordId {
        let id = RecordId(self.records.len() as u32);
        self.records.push(Record {
            name: name.into(),
            kind,
            fields: Vec::new(),
            layout: Layout { size: 0, align: 1 },
            complete: false,
        });
        id
    }

    /// Lays the members out by C++'s rules on this target (Itanium ABI, System V bit-fields: a
    /// bit-field never crosses a storage unit of its own type, unless it is packed or a limit holds).
    /// An empty record has size 1, as in C++.
    pub fn complete_record(&mut self, id: RecordId, specs: &[FieldSpec], packing: Packing) {
        let kind = self.record(id).kind;
        let mut cursor = LayoutCursor::default();
        let mut fields = Vec::with_capacity(specs.len());
        for spec in specs {
            if let Some(field) = cursor.place(self, kind, spec, packing) {
                fields.push(field);
            }
        }
        let align = cursor.align.max(packing.min_align).max(1);
        let size = round_up(cursor.end_bits.div_ceil(8).max(1), align);
        let record = &mut self.records[id.0 as usize];
        record.fields = fields;
        record.layout = Layout { size, align };
        record.complete = true;
    }

    /// Size and alignment of a type; a function or `Void` has size 1 and alignment 1 (as pointer
    /// arithmetic in CUDA C++ takes them), an incomplete record size 0.
    pub fn layout(&self, id: TypeId) -> Layout {
        match self.get(id) {
            Type::Void | Type::Bool | Type::Function { .. } => Layout { size: 1, align: 1 },
            Type::Int { bits, .. } => {
                let bytes = u64::from(*bits) / 8;
                Layout { size: bytes, align: bytes }
            }
            Type::Float(kind) => Layout { size: kind.bytes(), align: kind.bytes() },
            Type::Pointer(_) => Layout { size: self.pointer_bytes, align: self.pointer_bytes },
            Type::Array { elem, len } => {
                let elem = self.layout(*elem);
                Layout { size: elem.size.saturating_mul(*len), align: elem.align }
            }
            Type::Record(record) => self.record(*record).layout,
        }
    }

    /// What a pointer points to; `None` for every other type.
    pub fn pointee(&self, id: TypeId) -> Option<TypeId> {
        match self.get(id) {
            Type::Pointer(pointee) => Some(*pointee),
            _ => None,
        }
    }

    /// Whether values of the type are floating-point numbers of any format.
    pub fn is_float(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Float(_))
    }

    /// Whether values of the type are integers, `Bool` included.
    pub fn is_integer(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Bool | Type::Int { .. })
    }

    /// Whether values of the type are addresses.
    pub fn is_pointer(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Pointer(_))
    }

    /// Whether the type is an array or record: held in memory, never in one register.
    pub fn is_aggregate(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Array { .. } | Type::Record(_))
    }
}

/// The next multiple of `align` (a power of two) at or above `value`.
pub fn round_up(value: u64, align: u64) -> u64 {
    debug_assert!(align.is_power_of_two());
    value.saturating_add(align - 1) & !(align - 1)
}

#[derive(Default)]
struct LayoutCursor {
    next_bits: u64,
    end_bits: u64,
    align: u64,
}

impl LayoutCursor {
    fn place(
        &mut self,
        types: &TypeTable,
        kind: RecordKind,
        spec: &FieldSpec,
        packing: Packing,
    ) -> Option<Field> {
        let natural = types.layout(spec.ty);
        let packed = packing.packed || spec.packed;
        let mut align = if packed { 1 } else { natural.align }.max(spec.align).max(1);
        if packing.limit > 0 {
            // As in GCC and clang, a limit gives packed bit-fields their type's alignment back.
            let wanted = if packed && spec.bits.is_some() { natural.align } else { align };
            align = wanted.min(packing.limit);
        }
        // Bit-fields that may lie across the units of their type.
        let dense = packed || packing.limit > 0;
        let start = if kind == RecordKind::Union { 0 } else { self.next_bits };
        let Some(width) = spec.bits else {
            let offset = round_up(start.div_ceil(8), align);
            self.advance((offset + natural.size) * 8, align);
            let bits = None;
            return Some(Field { name: spec.name.clone(), ty: spec.ty, offset, bits });
        };
        let unit_bits = natural.size * 8;
        if width == 0 {
            // Also the record ends no sooner.
            self.advance(round_up(start, unit_bits), 1);
            return None;
        }
        let width_bits = u64::from(width);
        let mut at = start;
        if spec.align > 0 {
            let asked = if packing.limit > 0 { spec.align.min(packing.limit) } else { spec.align };
            at = round_up(at.div_ceil(8), asked) * 8;
        }
        if !dense && at / unit_bits != (at + width_bits - 1) / unit_bits {
            at = round_up(at, unit_bits);
        }
        let unit = if dense && at / unit_bits != (at + width_bits - 1) / unit_bits {
            at / 8 * 8
        } else {
            at / unit_bits * unit_bits
        };
        // An unnamed bit-field does not raise the record's alignment (Itanium C++ ABI 2.4).
        let align = if spec.name.is_empty() { 1 } else { align };
        self.advance(at + width_bits, align);
        if spec.name.is_empty() {
            return None;
        }
        let bits = Some(BitRange { offset: (at - unit) as u8, width });
        Some(Field { name: spec.name.clone(), ty: spec.ty, offset: unit / 8, bits })
    }

    fn advance(&mut self, end_bits: u64, align: u64) {
        self.next_bits = end_bits;
        self.end_bits = self.end_bits.max(end_bits);
        self.align = self.align.max(align);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, ty: TypeId) -> FieldSpec {
        FieldSpec { name: name.into(), ty, align: 0, bits: None, packed: false }
    }

    #[test]
    fn padding_follows_alignment_not_size() {
        let mut t = TypeTable::new(8);
        let (c, d) = (t.int(8, true), t.float(FloatKind::F64));
        let three = t.array_of(c, 3);
        let id = t.declare_record("S", RecordKind::Struct);
        t.complete_record(id, &[spec("a", c), spec("b", three), spec("d", d)], Packing::default());
        let r = t.record(id);
        assert_eq!(r.fields.iter().map(|f| f.offset).collect::<Vec<_>>(), [0, 1, 8]);
        assert_eq!(r.layout, Layout { size: 16, align: 8 });
    }

    #[test]
    fn attribute_raises_alignment_and_size() {
        let mut t = TypeTable::new(8);
        let i = t.int(32, true);
        let id = t.declare_record("S", RecordKind::Struct);
        t.complete_record(id, &[spec("a", i)], Packing { min_align: 64, ..Packing::default() });
        assert_eq!(t.record(id).layout, Layout { size: 64, align: 64 });
    }

    #[test]
    fn bit_fields_share_a_unit_and_never_cross_it() {
        let mut t = TypeTable::new(8);
        let u = t.int(32, false);
        let bits = |n: &str, w| FieldSpec { bits: Some(w), ..spec(n, u) };
        let id = t.declare_record("B", RecordKind::Struct);
        t.complete_record(id, &[bits("a", 20), bits("b", 10), bits("c", 5)], Packing::default());
        let r = t.record(id);
        assert_eq!(r.fields[1].bits, Some(BitRange { offset: 20, width: 10 }));
        assert_eq!(r.fields[2].offset, 4);
        assert_eq!(r.layout.size, 8);
    }

    #[test]
    fn a_bit_field_of_no_width_ends_its_unit_and_the_record() {
        let mut t = TypeTable::new(8);
        let (c, i) = (t.int(8, true), t.int(32, true));
        let end = FieldSpec { bits: Some(0), ..spec("", i) };
        for (packed, fields) in [
            (false, vec![spec("c", c), end.clone()]),
            (true, vec![FieldSpec { bits: Some(9), ..spec("i", i) }, end.clone()]),
            (true, vec![end.clone(), spec("c", c), end]),
        ] {
            let id = t.declare_record("Z", RecordKind::Struct);
            t.complete_record(id, &fields, Packing { packed, ..Packing::default() });
            assert_eq!(t.record(id).layout.size, 4, "{fields:?}");
        }
    }

    #[test]
    fn packed_members_and_limits() {
        let mut t = TypeTable::new(8);
        let (c, i) = (t.int(8, true), t.int(32, true));
        let id = t.declare_record("P", RecordKind::Struct);
        let tight = FieldSpec { packed: true, ..spec("i", i) };
        t.complete_record(id, &[spec("c", c), tight], Packing::default());
        assert_eq!(t.record(id).fields[1].offset, 1);
        assert_eq!(t.record(id).layout, Layout { size: 5, align: 1 });
        let id = t.declare_record("L", RecordKind::Struct);
        let limit = Packing { limit: 2, ..Packing::default() };
        t.complete_record(id, &[spec("c", c), spec("i", i)], limit);
        assert_eq!(t.record(id).layout, Layout { size: 6, align: 2 });
    }

    #[test]
    fn union_takes_the_largest() {
        let mut t = TypeTable::new(4);
        let (c, d) = (t.int(8, true), t.float(FloatKind::F64));
        let id = t.declare_record("U", RecordKind::Union);
        t.complete_record(id, &[spec("c", c), spec("d", d)], Packing::default());
        assert_eq!(t.record(id).layout, Layout { size: 8, align: 8 });
        assert!(t.record(id).fields.iter().all(|f| f.offset == 0));
    }
}
