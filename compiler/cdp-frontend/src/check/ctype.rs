//! C++ types as the checker sees them, and their map to machine types.
//!
//! A type is a [`CTypeId`] in a [`CTypes`] table plus qualifiers ([`QualType`]); equal ids are equal
//! types, so typedef names are gone here. What this is not: scopes and names (`scope`), conversions
//! (`convert`), symbol names (`mangle`).

pub use crate::ast::Basic;
use cdp_ir::{FieldSpec, FloatKind, Layout, Packing, RecordId, Type, TypeId, TypeTable};

use crate::intern::FastMap;
use crate::scopes::ScopeId;
use crate::source::Span;

/// An unqualified type in a [`CTypes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CTypeId(pub u32);

/// A struct, union or class in a [`CTypes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CRecordId(pub u32);

/// An enumeration in a [`CTypes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CEnumId(pub u32);

/// `const`, `volatile`, `__restrict__`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Quals(pub u8);

impl Quals {
    pub const NONE: Quals = Quals(0);
    pub const CONST: Quals = Quals(1);
    pub const VOLATILE: Quals = Quals(2);
    pub const RESTRICT: Quals = Quals(4);

    pub fn has(self, other: Quals) -> bool {
        self.0 & other.0 == other.0
    }
    pub fn union(self, other: Quals) -> Quals {
        Quals(self.0 | other.0)
    }
    pub fn without(self, other: Quals) -> Quals {
        Quals(self.0 & !other.0)
    }
    /// `const` and `volatile` only.
    pub fn cv(self) -> Quals {
        Quals(self.0 & 3)
    }
    /// How many there are.
    pub fn count(self) -> u8 {
        self.0.count_ones() as u8
    }
    pub fn is_const(self) -> bool {
        self.has(Quals::CONST)
    }
    pub fn is_volatile(self) -> bool {
        self.has(Quals::VOLATILE)
    }
}

/// A type with its outermost qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QualType {
    pub id: CTypeId,
    pub quals: Quals,
}

impl QualType {
    pub const fn new(id: CTypeId) -> Self {
        QualType { id, quals: Quals::NONE }
    }
    pub fn with(self, quals: Quals) -> Self {
        QualType { id: self.id, quals: self.quals.union(quals) }
    }
    pub fn as_const(self) -> Self {
        self.with(Quals::CONST)
    }
    pub fn unqualified(self) -> Self {
        QualType::new(self.id)
    }
    pub fn is_const(self) -> bool {
        self.quals.is_const()
    }
    pub fn is_volatile(self) -> bool {
        self.quals.is_volatile()
    }
}

/// What a function without a result returns.
impl Default for QualType {
    fn default() -> Self {
        Basic::Void.into()
    }
}

impl From<Basic> for QualType {
    fn from(basic: Basic) -> QualType {
        QualType::new(CTypeId(basic as u32))
    }
}

/// A function's type. Parameters have lost their top-level qualifiers and have decayed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FnType {
    pub ret: QualType,
    pub params: Vec<QualType>,
    pub variadic: bool,
}

/// The shape of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CType {
    Basic(Basic),
    Enum(CEnumId),
    Record(CRecordId),
    Pointer(QualType),
    Reference {
        to: QualType,
        rvalue: bool,
    },
    /// `None`: unknown bound.
    Array {
        elem: QualType,
        len: Option<u64>,
    },
    Function(FnType),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CRecordKind {
    Struct,
    Union,
}

/// A member of a record; the index in [`CRecord::fields`] is that of the IR record's field.
#[derive(Clone, Debug)]
pub struct CField {
    /// Empty for an anonymous member.
    pub name: String,
    pub ty: QualType,
    pub bit_width: Option<u8>,
    /// Extra alignment in bytes from an attribute; 0 for none.
    pub align: u64,
    /// `__attribute__((packed))` on the member alone.
    pub packed: bool,
    /// The value of `int a = 3;`, which an object starts with that gives the member none.
    pub default: Option<cdp_ir::Const>,
    pub span: Span,
}

impl CField {
    /// A member with nothing special about it.
    pub fn new(name: &str, ty: QualType, span: Span) -> Self {
        let name = name.to_owned();
        CField { name, ty, bit_width: None, align: 0, packed: false, default: None, span }
    }
}

/// A struct or union.
#[derive(Clone, Debug)]
pub struct CRecord {
    pub kind: CRecordKind,
    /// Without its namespace; empty while unnamed.
    pub name: String,
    pub ns: ScopeId,
    /// For a type declared in a function: that function's mangled encoding and the discriminator
    /// (Itanium ABI, local names).
    pub local_in: Option<(String, u32)>,
    pub fields: Vec<CField>,
    pub complete: bool,
    pub ir: RecordId,
    /// One of CUDA's own types (vector types, `dim3`, runtime structures).
    pub builtin: bool,
    /// The scope of types declared among the members, when there are any.
    pub scope: Option<ScopeId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct CEnumerator {
    pub name: String,
    pub value: i128,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct CEnum {
    pub name: String,
    pub ns: ScopeId,
    pub local_in: Option<(String, u32)>,
    /// `enum class`.
    pub scoped: bool,
    /// Always an integer type.
    pub underlying: Basic,
    /// Whether the underlying type was written.
    pub fixed: bool,
    /// What an unscoped enumeration without a fixed type promotes to (C++ [conv.prom]).
    pub promotes_to: Basic,
    pub enumerators: Vec<CEnumerator>,
    pub complete: bool,
    pub span: Span,
}

/// All C++ types of one check, together with the IR's table that they map to.
pub struct CTypes {
    types: Vec<CType>,
    ids: FastMap<CType, CTypeId>,
    /// Per type: the IR type, once asked for.
    mapped: Vec<Option<TypeId>>,
    pub records: Vec<CRecord>,
    pub enums: Vec<CEnum>,
    /// The IR types; moved into the module at the end.
    pub ir: TypeTable,
    /// Qualified names of namespaces and records by [`ScopeId`], for messages.
    pub ns_names: Vec<String>,
}

impl CTypes {
    /// A table for addresses of `pointer_bytes` (4 or 8) bytes, which is also the size of `long`.
    pub fn new(pointer_bytes: u64) -> Self {
        let mut types = CTypes {
            types: Vec::new(),
            ids: FastMap::default(),
            mapped: Vec::new(),
            records: Vec::new(),
            enums: Vec::new(),
            ir: TypeTable::new(pointer_bytes),
            ns_names: vec![String::new()],
        };
        for basic in Basic::ALL {
            types.intern(CType::Basic(basic));
        }
        types
    }

    pub fn intern(&mut self, ty: CType) -> CTypeId {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = CTypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.mapped.push(None);
        self.ids.insert(ty, id);
        id
    }

    pub fn get(&self, id: CTypeId) -> &CType {
        &self.types[id.0 as usize]
    }

    pub fn pointer_bytes(&self) -> u64 {
        self.ir.pointer_bytes()
    }

    /// `size_t`: `unsigned long`, which has the address size.
    pub fn size_t(&self) -> QualType {
        Basic::ULong.into()
    }

    /// `ptrdiff_t`: `long`.
    pub fn ptrdiff_t(&self) -> QualType {
        Basic::Long.into()
    }

    pub fn pointer_to(&mut self, to: QualType) -> QualType {
        QualType::new(self.intern(CType::Pointer(to)))
    }

    pub fn lvalue_ref_to(&mut self, to: QualType) -> QualType {
        QualType::new(self.intern(CType::Reference { to, rvalue: false }))
    }

    pub fn rvalue_ref_to(&mut self, to: QualType) -> QualType {
        QualType::new(self.intern(CType::Reference { to, rvalue: true }))
    }

    pub fn array_of(&mut self, elem: QualType, len: Option<u64>) -> QualType {
        QualType::new(self.intern(CType::Array { elem, len }))
    }

    pub fn function(&mut self, ret: QualType, params: Vec<QualType>, variadic: bool) -> QualType {
        QualType::new(self.intern(CType::Function(FnType { ret, params, variadic })))
    }

    pub fn record_type(&mut self, id: CRecordId) -> QualType {
        QualType::new(self.intern(CType::Record(id)))
    }

    pub fn enum_type(&mut self, id: CEnumId) -> QualType {
        QualType::new(self.intern(CType::Enum(id)))
    }

    pub fn record(&self, id: CRecordId) -> &CRecord {
        &self.records[id.0 as usize]
    }

    pub fn enumeration(&self, id: CEnumId) -> &CEnum {
        &self.enums[id.0 as usize]
    }

    /// Declares a record whose members come later.
    pub fn declare_record(
        &mut self,
        kind: CRecordKind,
        name: impl Into<String>,
        ns: ScopeId,
        span: Span,
    ) -> CRecordId {
        let name = name.into();
        let ir_kind = match kind {
            CRecordKind::Struct => cdp_ir::RecordKind::Struct,
            CRecordKind::Union => cdp_ir::RecordKind::Union,
        };
        let ir = self.ir.declare_record(name.clone(), ir_kind);
        let id = CRecordId(self.records.len() as u32);
        self.records.push(CRecord {
            kind,
            name,
            ns,
            local_in: None,
            fields: Vec::new(),
            complete: false,
            ir,
            builtin: false,
            scope: None,
            span,
        });
        id
    }

    /// Gives a record its members and lays it out. Unnamed bit-fields take part in the layout and
    /// are then dropped, as in the IR. `min_align` in bytes, 0 for none. Field types must be
    /// complete (or error types, which must be replaced before).
    pub fn complete_record(&mut self, id: CRecordId, fields: Vec<CField>, packing: Packing) {
        let mut specs = Vec::with_capacity(fields.len());
        for field in &fields {
            specs.push(FieldSpec {
                name: field.name.clone(),
                ty: self.ir_type(field.ty),
                align: field.align,
                bits: field.bit_width,
                packed: field.packed,
            });
        }
        let ir = self.record(id).ir;
        self.ir.complete_record(ir, &specs, packing);
        let record = &mut self.records[id.0 as usize];
        record.fields = fields
            .into_iter()
            .filter(|field| !(field.bit_width.is_some() && field.name.is_empty()))
            .collect();
        record.complete = true;
    }

    /// Declares a complete enumeration.
    pub fn add_enum(&mut self, info: CEnum) -> CEnumId {
        self.enums.push(info);
        CEnumId(self.enums.len() as u32 - 1)
    }

    // --- questions -------------------------------------------------------------------------

    /// The basic type, if it is one.
    pub fn basic(&self, ty: QualType) -> Option<Basic> {
        Basic::ALL.get(ty.id.0 as usize).copied()
    }

    pub fn is_error(&self, ty: QualType) -> bool {
        ty.id.0 == Basic::Error as u32
    }
    pub fn is_void(&self, ty: QualType) -> bool {
        ty.id.0 == Basic::Void as u32
    }
    pub fn is_bool(&self, ty: QualType) -> bool {
        ty.id.0 == Basic::Bool as u32
    }
    pub fn is_nullptr(&self, ty: QualType) -> bool {
        ty.id.0 == Basic::Nullptr as u32
    }
    /// Integer types, enumerations not included.
    pub fn is_integer(&self, ty: QualType) -> bool {
        self.basic(ty).is_some_and(Basic::is_integer)
    }
    pub fn is_floating(&self, ty: QualType) -> bool {
        self.basic(ty).is_some_and(Basic::is_floating)
    }
    pub fn is_half(&self, ty: QualType) -> bool {
        self.basic(ty).is_some_and(Basic::is_half)
    }
    /// Integer or floating; neither enumerations nor CUDA's 16-bit classes.
    pub fn is_arithmetic(&self, ty: QualType) -> bool {
        self.basic(ty).is_some_and(Basic::is_arithmetic)
    }
    pub fn enum_id(&self, ty: QualType) -> Option<CEnumId> {
        match self.get(ty.id) {
            CType::Enum(id) => Some(*id),
            _ => None,
        }
    }
    pub fn is_scoped_enum(&self, ty: QualType) -> bool {
        self.enum_id(ty).is_some_and(|id| self.enumeration(id).scoped)
    }
    pub fn is_unscoped_enum(&self, ty: QualType) -> bool {
        self.enum_id(ty).is_some_and(|id| !self.enumeration(id).scoped)
    }
    pub fn record_id(&self, ty: QualType) -> Option<CRecordId> {
        match self.get(ty.id) {
            CType::Record(id) => Some(*id),
            _ => None,
        }
    }
    /// The scope of a record's member types.
    pub fn scope_of(&self, ty: QualType) -> Option<ScopeId> {
        self.record_id(ty).and_then(|id| self.record(id).scope)
    }
    /// What a pointer points to.
    pub fn pointee(&self, ty: QualType) -> Option<QualType> {
        match self.get(ty.id) {
            CType::Pointer(to) => Some(*to),
            _ => None,
        }
    }
    pub fn is_pointer(&self, ty: QualType) -> bool {
        self.pointee(ty).is_some()
    }
    /// What a reference refers to.
    pub fn referent(&self, ty: QualType) -> Option<QualType> {
        match self.get(ty.id) {
            CType::Reference { to, .. } => Some(*to),
            _ => None,
        }
    }
    /// The type without a reference around it.
    pub fn strip_ref(&self, ty: QualType) -> QualType {
        self.referent(ty).unwrap_or(ty)
    }
    /// Element type and bound of an array. Qualifiers of the array are on its elements.
    pub fn array(&self, ty: QualType) -> Option<(QualType, Option<u64>)> {
        match self.get(ty.id) {
            CType::Array { elem, len } => Some((elem.with(ty.quals.cv()), *len)),
            _ => None,
        }
    }
    pub fn is_array(&self, ty: QualType) -> bool {
        matches!(self.get(ty.id), CType::Array { .. })
    }
    pub fn fn_type(&self, ty: QualType) -> Option<&FnType> {
        match self.get(ty.id) {
            CType::Function(function) => Some(function),
            _ => None,
        }
    }
    pub fn is_function(&self, ty: QualType) -> bool {
        self.fn_type(ty).is_some()
    }
    /// Arithmetic, enumeration, pointer, `nullptr_t` or 16-bit float: held in a register.
    pub fn is_scalar(&self, ty: QualType) -> bool {
        match self.get(ty.id) {
            CType::Basic(basic) => !matches!(basic, Basic::Error | Basic::Void),
            CType::Enum(_) | CType::Pointer(_) => true,
            _ => false,
        }
    }

    /// Whether an object of the type can be made and its size taken.
    pub fn is_complete(&self, ty: QualType) -> bool {
        match self.get(ty.id) {
            CType::Basic(basic) => *basic != Basic::Void,
            CType::Enum(id) => self.enumeration(*id).complete || self.enumeration(*id).fixed,
            CType::Record(id) => self.record(*id).complete,
            CType::Array { elem, len } => len.is_some() && self.is_complete(*elem),
            CType::Pointer(_) | CType::Reference { .. } => true,
            CType::Function(_) => false,
        }
    }

    /// Size and alignment in bytes; those of the referent for a reference (as `sizeof` wants).
    pub fn layout(&mut self, ty: QualType) -> Layout {
        let ir = self.ir_type(self.strip_ref(ty));
        self.ir.layout(ir)
    }

    /// Bits and signedness of a basic integer type.
    pub fn int_bits(&self, basic: Basic) -> (u8, bool) {
        let bits = match basic {
            Basic::Bool | Basic::Char | Basic::SChar | Basic::UChar | Basic::Char8 => 8,
            Basic::Short | Basic::UShort | Basic::Char16 => 16,
            Basic::Int | Basic::UInt | Basic::WChar | Basic::Char32 => 32,
            Basic::Long | Basic::ULong => (self.pointer_bytes() * 8) as u8,
            Basic::LongLong | Basic::ULongLong => 64,
            Basic::Int128 | Basic::UInt128 => 128,
            _ => 32,
        };
        (bits, basic.is_signed())
    }

    /// The machine type. An error type maps to a 32-bit integer, an array of unknown bound to an
    /// array of no elements, a reference to a pointer.
    pub fn ir_type(&mut self, ty: QualType) -> TypeId {
        if let Some(mapped) = self.mapped[ty.id.0 as usize] {
            return mapped;
        }
        let mapped = match self.get(ty.id).clone() {
            CType::Basic(basic) => self.ir_basic(basic),
            CType::Enum(id) => {
                let info = self.enumeration(id);
                let (underlying, known) = (info.underlying, info.complete || info.fixed);
                let mapped = self.ir_basic(underlying);
                if !known {
                    return mapped;
                }
                mapped
            }
            CType::Record(id) => {
                let ir = self.record(id).ir;
                self.ir.record_type(ir)
            }
            CType::Pointer(to) | CType::Reference { to, .. } => {
                let to = self.ir_type(to);
                self.ir.pointer_to(to)
            }
            CType::Array { elem, len } => {
                let elem = self.ir_type(elem);
                self.ir.array_of(elem, len.unwrap_or(0))
            }
            CType::Function(function) => {
                let ret = self.ir_type(function.ret);
                let params = function.params.iter().map(|&param| self.ir_type(param)).collect();
                let variadic = function.variadic;
                self.ir.intern(Type::Function { ret, params, variadic })
            }
        };
        self.mapped[ty.id.0 as usize] = Some(mapped);
        mapped
    }

    fn ir_basic(&mut self, basic: Basic) -> TypeId {
        match basic {
            Basic::Error | Basic::Auto => self.ir.int(32, true),
            Basic::Void => self.ir.void(),
            Basic::Nullptr => {
                let void = self.ir.void();
                self.ir.pointer_to(void)
            }
            Basic::Bool => self.ir.bool(),
            Basic::Half => self.ir.float(FloatKind::F16),
            Basic::BFloat16 => self.ir.float(FloatKind::BF16),
            Basic::Float => self.ir.float(FloatKind::F32),
            Basic::Double => self.ir.float(FloatKind::F64),
            integer => {
                let (bits, signed) = self.int_bits(integer);
                self.ir.int(bits, signed)
            }
        }
    }

    /// A field by name, looking into anonymous members: the path of field indices, outermost
    /// first.
    pub fn find_field(&self, record: CRecordId, name: &str) -> Option<Vec<u32>> {
        let fields = &self.record(record).fields;
        if let Some(index) = fields.iter().position(|field| field.name == name) {
            return Some(vec![index as u32]);
        }
        for (index, field) in fields.iter().enumerate() {
            if field.name.is_empty()
                && let Some(inner) = self.record_id(field.ty)
                && let Some(mut path) = self.find_field(inner, name)
            {
                path.insert(0, index as u32);
                return Some(path);
            }
        }
        None
    }
}
