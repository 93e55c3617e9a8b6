//! Definitions of records and enumerations.
//!
//! Layout itself is `cdp_ir::types`'; this module collects the members and judges them.

use cdp_ir::Packing;

use super::ctype::{Basic, CField, CRecordId, CRecordKind, QualType, Quals};
use super::defaults::MemberInit;
use super::scope::Entity;
use super::state::Checker;
use crate::ast::{self, AttrKind, DeclKind, RecordKind, StorageKind, TypeSpecKind};
use crate::attributes::{Known, known};
use crate::diagnostics::{Code, NAME_IT_CU};
use crate::source::Span;

/// The largest record, in bytes.
const MAX_RECORD_BYTES: u64 = 1 << 32;

impl<'a> Checker<'a> {
    /// `struct Tag`, `struct Tag { ... }`, `struct { ... }`.
    pub fn record_spec(
        &mut self,
        spec: &'a ast::RecordSpec,
        specs: &'a ast::DeclSpecs,
    ) -> QualType {
        let kind = match spec.kind {
            RecordKind::Union => CRecordKind::Union,
            RecordKind::Struct | RecordKind::Class => CRecordKind::Struct,
        };
        let Some(members) = &spec.members else {
            return self.record_named(spec, kind);
        };
        let id = match self.record_to_define(spec, kind) {
            Some(id) => id,
            None => return Basic::Error.into(),
        };
        self.define_record(id, members, spec, specs);
        self.types.record_type(id)
    }

    /// `struct Tag` without members: the visible one, else a new incomplete one.
    fn record_named(&mut self, spec: &'a ast::RecordSpec, kind: CRecordKind) -> QualType {
        let Some(tag) = &spec.tag else { return Basic::Error.into() };
        let Ok(found) = self.visible_tag(tag, spec.kind.word()) else {
            return Basic::Error.into();
        };
        if let Some(ty) = found.or_else(|| self.builtin_type(self.text(tag.base.name))) {
            let same =
                self.types.record_id(ty).is_some_and(|id| self.types.record(id).kind == kind);
            if !same {
                let message = format!("{} is no `{}`", self.show(ty), spec.kind.word());
                self.error(Code::E0302, tag.span, message);
            }
            return ty;
        }
        if tag.global || !tag.scopes.is_empty() {
            let name = self.session.sources.text(tag.span).to_owned();
            self.error(Code::E0204, tag.span, format!("`{name}` is not a type"));
            return Basic::Error.into();
        }
        if self.quiet.unread {
            // What it is made of may stand in the header.
            self.quiet.lost.insert(tag.base.name);
            return Basic::Error.into();
        }
        let id = self.new_record(kind, Some(tag.base));
        self.types.record_type(id)
    }

    /// The type that a tag after its keyword names, whatever variable or function hides the name.
    /// `Err` when it is a typedef, about which an error is given.
    pub(super) fn visible_tag(
        &mut self,
        tag: &ast::QualName,
        keyword: &str,
    ) -> Result<Option<QualType>, ()> {
        let Some(slot) = self.find_tag(tag)? else { return Ok(None) };
        if slot.tag.is_some() {
            return Ok(slot.tag);
        }
        let text = self.text(tag.base.name);
        let message = format!("`{text}` is a typedef here, which goes with no `{keyword}`");
        self.error(Code::E0302, tag.span, message)
            .secondary(slot.span, "declared here")
            .help("write the name alone");
        Err(())
    }

    /// Declares `struct Tag;` in the open scope, even when an outer one has the tag.
    pub fn forward_record(&mut self, spec: &'a ast::RecordSpec) -> bool {
        let Some(tag) = spec.tag.as_ref().filter(|tag| tag.as_plain().is_some()) else {
            return false;
        };
        if spec.members.is_some() || self.names.scopes.declare(tag.base.name).tag.is_some() {
            return false;
        }
        let kind = match spec.kind {
            RecordKind::Union => CRecordKind::Union,
            _ => CRecordKind::Struct,
        };
        self.new_record(kind, Some(tag.base));
        true
    }

    fn new_record(&mut self, kind: CRecordKind, tag: Option<ast::Ident>) -> CRecordId {
        let name = tag.map_or("", |tag| self.text(tag.name));
        let span = tag.map_or(Span::NONE, |tag| tag.span);
        let id = self.types.declare_record(kind, name, self.names.scopes.here(), span);
        self.types.records[id.0 as usize].local_in = self.local_context();
        if let Some(tag) = tag {
            let ty = self.types.record_type(id);
            let slot = self.names.scopes.declare(tag.name);
            slot.tag = Some(ty);
            slot.span = tag.span;
        }
        id
    }

    /// The function that a type declared now is local to.
    pub(super) fn local_context(&mut self) -> Option<(String, u32)> {
        let func = self.f.func?;
        if self.names.scopes.depth() == 0 {
            return None;
        }
        let number = self.f.local_types;
        self.f.local_types += 1;
        let symbol = self.names.func(func).symbol.clone();
        let encoding = symbol
            .strip_prefix("_Z")
            .map_or_else(|| format!("{}{symbol}", symbol.len()), |encoding| encoding.to_owned());
        Some((encoding, number))
    }

    fn record_to_define(
        &mut self,
        spec: &'a ast::RecordSpec,
        kind: CRecordKind,
    ) -> Option<CRecordId> {
        let Some(tag) = &spec.tag else {
            let id = self.new_record(kind, None);
            self.types.records[id.0 as usize].span = spec.keyword_span;
            return Some(id);
        };
        let slot = if tag.as_plain().is_some() {
            let slot = self.names.scopes.declare(tag.base.name);
            *slot
        } else {
            let Ok(Some(slot)) = self.find_one(tag) else {
                let message = "a member type is defined that its scope does not declare";
                self.error(Code::E0301, tag.span, message);
                return None;
            };
            slot
        };
        // `typedef struct s s; struct s { ... };`
        let named = |ty| slot.tag == Some(ty);
        if matches!(slot.other, Some(Entity::Type(ty)) if !named(ty))
            || matches!(slot.other, Some(Entity::Namespace(_)))
        {
            self.redefinition(tag.base, slot.span);
            return None;
        }
        let Some(ty) = slot.tag else { return Some(self.new_record(kind, Some(tag.base))) };
        let Some(id) = self.types.record_id(ty) else {
            self.redefinition(tag.base, slot.span);
            return None;
        };
        let record = self.types.record(id);
        if record.complete {
            self.redefinition(tag.base, slot.span);
            return None;
        }
        if record.kind != kind {
            let message = format!("`{}` was declared as another kind", record.name);
            self.error(Code::E0302, spec.keyword_span, message)
                .secondary(slot.span, "declared here");
            return None;
        }
        self.types.records[id.0 as usize].span = tag.base.span;
        Some(id)
    }

    /// E0302 with the place of the first definition.
    pub fn redefinition(&mut self, name: ast::Ident, first: Span) {
        let message = format!("`{}` is already defined", self.text(name.name));
        self.error(Code::E0302, name.span, message).secondary(first, "first defined here");
    }

    fn define_record(
        &mut self,
        id: CRecordId,
        members: &'a [ast::Decl],
        spec: &'a ast::RecordSpec,
        specs: &'a ast::DeclSpecs,
    ) {
        // Types declared among the members belong to the record's own scope.
        let outer_ns = self.names.scopes.here();
        if self.names.scopes.depth() == 0 && declares_types(members) {
            let name = spec.tag.as_ref().map(|tag| tag.base.name);
            let text = self.types.record(id).name.clone();
            let ns = self.add_scope(outer_ns, &text);
            if name.is_none() {
                // The members of an unnamed record are visible around it.
                self.names.scopes.show(outer_ns, ns);
            }
            self.types.records[id.0 as usize].scope = Some(ns);
            self.names.scopes.open(ns);
        }
        let mut fields: Vec<CField> = Vec::new();
        for member in members {
            self.member(member, id, &mut fields);
        }
        self.names.scopes.open(outer_ns);
        let packed = self.has_packed(&spec.attrs)
            || specs.attrs.iter().any(|attr| {
                attr.span.lo > spec.keyword_span.lo && self.is_attribute(attr, Known::Packed)
            });
        let mut align = self.align_attrs(&[&spec.attrs]);
        // `struct S { ... } __attribute__((aligned(16)))`: words behind the members are the type's.
        for attr in &specs.attrs {
            if attr.span.lo > spec.keyword_span.lo {
                align = align.max(self.align_attrs(&[std::slice::from_ref(attr)]));
            }
        }
        let natural = fields.iter().map(|field| field.ty).collect::<Vec<_>>();
        let total = natural
            .iter()
            .fold(0u64, |total, &ty| total.saturating_add(self.types.layout(ty).size));
        if total > MAX_RECORD_BYTES {
            let span = spec.tag.as_ref().map_or(spec.keyword_span, |tag| tag.span);
            self.error(Code::E0312, span, "the record is too large");
            // The members stay known by name, so that their uses are not errors too.
            for field in &mut fields {
                field.ty = Basic::Error.into();
                field.bit_width = None;
            }
        }
        let packing = Packing { min_align: align, packed, limit: self.pragmas.pack_limit };
        self.types.complete_record(id, fields, packing);
    }

    fn has_packed(&self, attrs: &[ast::Attr]) -> bool {
        attrs.iter().any(|attr| self.is_attribute(attr, Known::Packed))
    }

    pub(super) fn is_attribute(&self, attr: &ast::Attr, wanted: Known) -> bool {
        match &attr.kind {
            AttrKind::Gnu { name, .. } => known(self.text(name.name)) == Some(wanted),
            AttrKind::Std { scope: Some(scope), name } => {
                self.text(scope.name) == "gnu" && known(self.text(name.name)) == Some(wanted)
            }
            _ => false,
        }
    }

    fn member(&mut self, member: &'a ast::Decl, record: CRecordId, fields: &mut Vec<CField>) {
        match &member.kind {
            DeclKind::Empty | DeclKind::Error => {}
            DeclKind::StaticAssert { condition, message } => {
                self.static_assert(condition, message.as_deref());
            }
            DeclKind::Simple(simple) => self.member_decl(simple, record, fields),
            DeclKind::Alias(alias) => self.alias(alias),
            _ => {
                let message = "this declaration cannot be a member in the `.cdp` subset";
                self.error(Code::E0239, member.span, message);
            }
        }
    }

    fn member_decl(
        &mut self,
        simple: &'a ast::SimpleDecl,
        record: CRecordId,
        fields: &mut Vec<CField>,
    ) {
        let base = self.spec_type(&simple.specs);
        if simple.declarators.is_empty() {
            let untagged = matches!(&simple.specs.ty.kind,
                TypeSpecKind::Record(spec) if spec.tag.is_none() && spec.members.is_some());
            if untagged && !self.types.is_error(base) {
                let span = simple.specs.span;
                let align = self.align_attrs(&[&simple.specs.attrs]);
                self.check_anonymous(base, fields, span);
                let packed = self.has_packed(&simple.specs.attrs);
                fields.push(CField { align, packed, ..CField::new("", base, span) });
            }
            return;
        }
        for kind in [StorageKind::Static, StorageKind::Extern] {
            if let Some(span) = simple.specs.storage_span(kind) {
                let cure = "declare a variable of the file or namespace";
                self.outside(Code::E0239, span, "static members are", cure);
                return;
            }
        }
        if simple.specs.has(StorageKind::Typedef) {
            for declarator in &simple.declarators {
                let ty = self.declarator_type(base, &declarator.declarator);
                self.typedef_alignment(&simple.specs, &declarator.declarator, ty);
                self.declare_typedef(&declarator.declarator, ty);
            }
            return;
        }
        let spec_align = self.align_attrs(&[&simple.specs.attrs]);
        for declarator in &simple.declarators {
            self.member_declarator(declarator, &simple.specs, (base, spec_align), record, fields);
        }
    }

    fn check_anonymous(&mut self, ty: QualType, fields: &[CField], span: Span) {
        let Some(inner) = self.types.record_id(ty) else { return };
        for field in self.types.record(inner).fields.clone() {
            if !field.name.is_empty() && fields.iter().any(|other| other.name == field.name) {
                let message = format!("the anonymous member repeats the member `{}`", field.name);
                self.error(Code::E0302, span, message);
            }
        }
    }

    fn member_declarator(
        &mut self,
        declarator: &'a ast::InitDeclarator,
        specs: &'a ast::DeclSpecs,
        (base, spec_align): (QualType, u64),
        record: CRecordId,
        fields: &mut Vec<CField>,
    ) {
        let mut ty = self.declarator_type(base, &declarator.declarator);
        let name = declarator.declarator.name.as_ref();
        let span = name.map_or(declarator.span, |name| name.span);
        let text = name.map_or("", |name| self.text(name.base.name));
        if !text.is_empty()
            && let Some(first) = fields.iter().find(|field| field.name == text)
        {
            let message = format!("the member `{text}` is declared twice");
            let first = first.span;
            self.error(Code::E0302, span, message).secondary(first, "first declared here");
            return;
        }
        // `int a : 3 = 1;`
        let width = declarator.bit_width.as_deref();
        let (width, bit_value) = match width.map(|width| &width.kind) {
            Some(ast::ExprKind::Assign(assign)) if assign.op.is_none() => {
                (Some(&assign.lhs), Some(&assign.rhs))
            }
            _ => (width, None),
        };
        let bit_width = match width {
            Some(width) => match self.bit_width(width, ty, text.is_empty()) {
                Some(width) => Some(width),
                None => return,
            },
            None => None,
        };
        if let Some(message) = self.bad_member_type(ty, record) {
            let code = if self.types.is_complete(ty) { Code::E0316 } else { Code::E0308 };
            let flexible = matches!(self.types.array(ty), Some((_, None)));
            let found = self.error(code, span, message);
            if flexible {
                found
                    .help("write the bound, or a pointer to elements allocated on their own")
                    .help(NAME_IT_CU);
            }
            ty = Basic::Error.into();
        }
        let align = self.align_attrs(&[&declarator.declarator.attrs]).max(spec_align);
        let default = match (&declarator.init, bit_value) {
            (Some(init), _) => {
                self.member_default(ty, MemberInit::Whole(init), text, record, fields)
            }
            (None, Some(value)) => {
                self.member_default(ty, MemberInit::Value(value), text, record, fields)
            }
            (None, None) => None,
        };
        let packed = self.has_packed(&declarator.declarator.attrs) || self.has_packed(&specs.attrs);
        let field = CField::new(text, ty, span);
        fields.push(CField { bit_width, align, packed, default, ..field });
    }

    fn bad_member_type(&self, ty: QualType, record: CRecordId) -> Option<String> {
        if self.types.is_error(ty) {
            None
        } else if self.types.basic(ty) == Some(Basic::Auto) {
            Some("a member of type `auto`".into())
        } else if self.types.is_function(ty) {
            Some("member functions are outside the `.cdp` subset".into())
        } else if self.types.referent(ty).is_some() {
            Some("members of reference type are outside the `.cdp` subset".into())
        } else if self.types.record_id(ty) == Some(record) {
            Some("a record cannot hold itself; use a pointer".into())
        } else if self.types.array(ty).is_some_and(|(_, len)| len.is_none()) {
            Some("a member array needs a bound: flexible ones are outside the `.cdp` subset".into())
        } else if !self.types.is_complete(ty) {
            Some(format!("the member has the incomplete type {}", self.show(ty)))
        } else {
            None
        }
    }

    fn bit_width(&mut self, width: &'a ast::Expr, ty: QualType, unnamed: bool) -> Option<u8> {
        let (value, _) = self.const_integer(width, "the width of a bit-field")?;
        let basic = match self.types.enum_id(ty) {
            Some(id) => Some(self.types.enumeration(id).underlying),
            None => self.types.basic(ty),
        };
        if self.types.is_error(ty) {
            return None;
        }
        let Some(basic) = basic.filter(|basic| basic.is_integer()) else {
            let message = format!("a bit-field of type {}", self.show(ty));
            self.error(Code::E0324, width.span, message)
                .help("bit-fields have an integer or enumeration type");
            return None;
        };
        let (bits, _) = self.types.int_bits(basic);
        let most = if basic == Basic::Bool { 1 } else { i128::from(bits) };
        if value < 0 || value > most {
            let message = format!("the width {value} is not between 0 and {most}");
            self.error(Code::E0324, width.span, message);
            return None;
        }
        if value == 0 && !unnamed {
            self.error(Code::E0324, width.span, "a named bit-field has a width of at least 1");
            return None;
        }
        Some(value as u8)
    }

    /// A typedef gives an unnamed record or enumeration its name (C++ [dcl.typedef]).
    pub fn name_unnamed(&mut self, ty: QualType, name: &str) {
        if let Some(id) = self.types.record_id(ty) {
            let record = &mut self.types.records[id.0 as usize];
            if record.name.is_empty() {
                record.name = name.to_owned();
                let ir = record.ir;
                self.types.ir.rename_record(ir, name);
            }
        } else if let Some(id) = self.types.enum_id(ty) {
            let info = &mut self.types.enums[id.0 as usize];
            if info.name.is_empty() {
                info.name = name.to_owned();
            }
        }
    }

    /// Whether an object of the type may be left without an initialiser although it is `const`.
    pub fn has_const_member(&self, ty: QualType) -> bool {
        if ty.quals.has(Quals::CONST) {
            return true;
        }
        if let Some((elem, _)) = self.types.array(ty) {
            return self.has_const_member(elem);
        }
        self.types.record_id(ty).is_some_and(|id| {
            self.types.record(id).fields.iter().any(|field| self.has_const_member(field.ty))
        })
    }
}

/// Whether members declare named types of their own.
fn declares_types(members: &[ast::Decl]) -> bool {
    members.iter().any(|member| match &member.kind {
        DeclKind::Alias(_) => true,
        DeclKind::Simple(simple) => {
            simple.specs.has(StorageKind::Typedef)
                || match &simple.specs.ty.kind {
                    TypeSpecKind::Record(record) => record.members.is_some(),
                    TypeSpecKind::Enum(spec) => spec.enumerators.is_some(),
                    _ => false,
                }
        }
        _ => false,
    })
}
