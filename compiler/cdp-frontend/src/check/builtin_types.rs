//! The types of the builtin tables as the checker's.

use super::builtins::{self, BuiltinTypeDef, BuiltinTypeKind, SigBase, SigType};
use super::ctype::{Basic, CEnum, CEnumerator, CField, CRecordKind, QualType, Quals};
use super::state::Checker;
use crate::scopes::ScopeId;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// A builtin type by name.
    pub fn builtin_type(&mut self, name: &str) -> Option<QualType> {
        if let Some(&found) = self.builtins.types.get(name) {
            return Some(found);
        }
        let def = builtins::lookup_type(name, self.options.pointer_bytes)?;
        let ty = self.make_builtin_type(def);
        self.builtins.types.insert(def.name.to_owned(), ty);
        Some(ty)
    }

    pub(super) fn make_builtin_type(&mut self, def: BuiltinTypeDef) -> QualType {
        match def.kind {
            BuiltinTypeKind::Vector { elem, len } => {
                let elem: QualType = elem.into();
                let fields = &builtins::types::VECTOR_FIELDS[..usize::from(len)];
                let fields = fields.iter().map(|name| field(name, elem)).collect();
                self.builtin_record(&def, Some(fields))
            }
            BuiltinTypeKind::Dim3 => {
                let uint: QualType = Basic::UInt.into();
                let fields = ["x", "y", "z"].iter().map(|name| field(name, uint)).collect();
                self.builtin_record(&def, Some(fields))
            }
            BuiltinTypeKind::HalfPair { elem } => {
                let elem = self.sig_type(SigType::parse(elem, None));
                let fields = ["x", "y"].iter().map(|name| field(name, elem)).collect();
                self.builtin_record(&def, Some(fields))
            }
            BuiltinTypeKind::Record { fields } | BuiltinTypeKind::Union { fields } => {
                // Known by its name first: a field may point back to it.
                let ty = self.builtin_record(&def, None);
                self.builtins.types.insert(def.name.to_owned(), ty);
                let fields = fields
                    .iter()
                    .map(|(text, name)| {
                        let ty = self.sig_type(SigType::parse(text, None));
                        field(name, ty)
                    })
                    .collect();
                if let Some(id) = self.types.record_id(ty) {
                    let min_align = u64::from(def.align);
                    let packing = cdp_ir::Packing { min_align, ..Default::default() };
                    self.types.complete_record(id, fields, packing);
                }
                ty
            }
            BuiltinTypeKind::Opaque => self.builtin_record(&def, None),
            BuiltinTypeKind::Enum { underlying } => {
                let enumerators: Vec<CEnumerator> = builtins::constants::enumerators(def.name)
                    .map(|item| CEnumerator { name: item.name.to_owned(), value: item.value })
                    .collect();
                let id = self.types.add_enum(CEnum {
                    name: def.name.to_owned(),
                    ns: ScopeId::GLOBAL,
                    local_in: None,
                    scoped: false,
                    underlying,
                    fixed: false,
                    promotes_to: Basic::Int,
                    enumerators,
                    complete: true,
                    span: Span::NONE,
                });
                self.types.enum_type(id)
            }
            BuiltinTypeKind::Alias(text) => self.sig_type(SigType::parse(text, None)),
            BuiltinTypeKind::Half => Basic::Half.into(),
            BuiltinTypeKind::BFloat16 => Basic::BFloat16.into(),
        }
    }

    pub(super) fn builtin_record(
        &mut self,
        def: &BuiltinTypeDef,
        fields: Option<Vec<CField>>,
    ) -> QualType {
        let kind = match def.kind {
            BuiltinTypeKind::Union { .. } => CRecordKind::Union,
            _ => CRecordKind::Struct,
        };
        let id = self.types.declare_record(kind, def.name, ScopeId::GLOBAL, Span::NONE);
        self.types.records[id.0 as usize].builtin = true;
        if let Some(fields) = fields {
            let min_align = u64::from(def.align);
            let packing = cdp_ir::Packing { min_align, ..Default::default() };
            self.types.complete_record(id, fields, packing);
        }
        self.types.record_type(id)
    }

    /// The type a signature names; `any`, `kernel` and `symbol` give `void`.
    pub fn sig_type(&mut self, sig: SigType) -> QualType {
        let mut ty: QualType = match sig.base {
            SigBase::Builtin(basic) => basic.into(),
            SigBase::Named(name) => self.builtin_type(name).unwrap_or(Basic::Error.into()),
            SigBase::Any | SigBase::Kernel | SigBase::Symbol => Basic::Void.into(),
        };
        if sig.is_const {
            ty = ty.as_const();
        }
        if sig.is_volatile {
            ty = ty.with(Quals::VOLATILE);
        }
        for _ in 0..sig.pointers {
            ty = self.types.pointer_to(ty);
        }
        if sig.reference {
            ty = self.types.lvalue_ref_to(ty);
        }
        if let Some(len) = sig.array {
            ty = self.types.array_of(ty, Some(u64::from(len)));
        }
        ty
    }
}

fn field(name: &str, ty: QualType) -> CField {
    CField::new(name, ty, Span::NONE)
}
