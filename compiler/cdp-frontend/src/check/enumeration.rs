//! Enumerations: their types, enumerators, and what these fit into.

use super::builtins::outside;
use super::ctype::{Basic, CEnum, CEnumerator, QualType};
use super::scope::{Entity, Slot};
use super::state::Checker;
use crate::ast::{self, AttrKind};
use crate::attributes::Known;
use crate::diagnostics::Code;

impl<'a> Checker<'a> {
    pub fn enum_spec(&mut self, spec: &'a ast::EnumSpec, specs: &'a ast::DeclSpecs) -> QualType {
        self.refuse_enum_layout(spec, specs);
        let underlying = spec.underlying.as_ref().map(|name| {
            let ty = self.type_name(name);
            match self.types.basic(ty).filter(|basic| basic.is_integer()) {
                Some(basic) => basic,
                None => {
                    if !self.types.is_error(ty) {
                        let message = format!("an enumeration over {}", self.show(ty));
                        self.error(Code::E0324, name.span, message);
                    }
                    Basic::Int
                }
            }
        });
        let Some(enumerators) = &spec.enumerators else {
            return self.enum_named(spec, underlying);
        };
        let existing = match &spec.tag {
            Some(tag) => {
                let slot: Slot = *self.names.scopes.declare(tag.base.name);
                match slot.tag.map(|ty| self.types.enum_id(ty)) {
                    Some(Some(id)) if !self.types.enumeration(id).complete => Some(id),
                    Some(_) => {
                        self.redefinition(tag.base, slot.span);
                        return Basic::Error.into();
                    }
                    None => None,
                }
            }
            None => None,
        };
        let id = existing.unwrap_or_else(|| self.new_enum(spec, underlying));
        self.enumerators(id, spec, enumerators);
        self.types.enum_type(id)
    }

    pub(super) fn new_enum(
        &mut self,
        spec: &'a ast::EnumSpec,
        underlying: Option<Basic>,
    ) -> super::ctype::CEnumId {
        let name = spec.tag.as_ref().map_or("", |tag| self.text(tag.base.name)).to_owned();
        let local_in = self.local_context();
        let fixed = underlying.is_some() || spec.scoped;
        let basic = underlying.unwrap_or(Basic::Int);
        let id = self.types.add_enum(CEnum {
            name,
            ns: self.names.scopes.here(),
            local_in,
            scoped: spec.scoped,
            underlying: basic,
            fixed,
            promotes_to: basic.promoted(),
            enumerators: Vec::new(),
            complete: false,
            span: spec.keyword_span,
        });
        if let Some(tag) = &spec.tag {
            let ty = self.types.enum_type(id);
            let slot = self.names.scopes.declare(tag.base.name);
            slot.tag = Some(ty);
            slot.span = tag.base.span;
        }
        id
    }

    /// Attributes that would change an enumeration's size or alignment.
    pub(super) fn refuse_enum_layout(
        &mut self,
        spec: &'a ast::EnumSpec,
        specs: &'a ast::DeclSpecs,
    ) {
        if spec.enumerators.is_none() {
            return;
        }
        let behind = specs.attrs.iter().filter(|attr| attr.span.lo > spec.keyword_span.lo);
        for attr in spec.attrs.iter().chain(behind) {
            let aligned = matches!(attr.kind, AttrKind::Align(_) | AttrKind::AlignType(_));
            if aligned || self.is_attribute(attr, Known::Packed) {
                let what = "an enumeration with a layout of its own is";
                let cure = "name its type: `enum E : unsigned char { ... }`";
                self.outside(Code::E0239, attr.span, what, cure);
            }
        }
    }

    pub(super) fn enum_named(
        &mut self,
        spec: &'a ast::EnumSpec,
        underlying: Option<Basic>,
    ) -> QualType {
        let Some(tag) = &spec.tag else { return Basic::Error.into() };
        let Ok(found) = self.visible_tag(tag, "enum") else { return Basic::Error.into() };
        if let Some(ty) = found.or_else(|| self.builtin_type(self.text(tag.base.name))) {
            if self.types.enum_id(ty).is_none() {
                let message = format!("{} is not an enumeration", self.show(ty));
                self.error(Code::E0302, tag.span, message);
            }
            return ty;
        }
        if !spec.scoped && underlying.is_none() {
            let name = self.text(tag.base.name);
            if let Some(left) = outside(name, false) {
                self.left_out(left, tag.base.name, tag.span);
                return Basic::Error.into();
            }
            let message = format!("the enumeration `{name}` is not defined");
            self.error(Code::E0308, tag.span, message);
            return Basic::Error.into();
        }
        let id = self.new_enum(spec, underlying);
        self.types.enum_type(id)
    }

    pub(super) fn enumerators(
        &mut self,
        id: super::ctype::CEnumId,
        spec: &'a ast::EnumSpec,
        list: &'a [ast::Enumerator],
    ) {
        let mut next: i128 = 0;
        for item in list {
            if let Some(value) = &item.value
                && let Some((value, _)) = self.const_integer(value, "an enumerator's value")
            {
                next = value;
            }
            self.check_enumerator_fits(id, next, item);
            let name = self.text(item.name.name).to_owned();
            let info = &mut self.types.enums[id.0 as usize];
            if info.enumerators.iter().any(|other| other.name == name) {
                let first = list.iter().find(|other| other.name.name == item.name.name);
                let first = first.map_or(item.name.span, |first| first.name.span);
                self.error(Code::E0302, item.name.span, format!("`{name}` is declared twice"))
                    .secondary(first, "first declared here");
                continue;
            }
            info.enumerators.push(CEnumerator { name, value: next });
            let index = info.enumerators.len() as u32 - 1;
            if !spec.scoped {
                let slot = self.names.scopes.declare(item.name.name);
                let (taken, first) = (slot.other.is_some(), slot.span);
                slot.other = Some(Entity::Enumerator(id, index));
                slot.span = item.name.span;
                if taken {
                    self.redefinition(item.name, first);
                }
            }
            next += 1;
        }
        self.complete_enum(id);
    }

    pub(super) fn check_enumerator_fits(
        &mut self,
        id: super::ctype::CEnumId,
        value: i128,
        item: &'a ast::Enumerator,
    ) {
        let info = self.types.enumeration(id);
        let (min, max) = if info.fixed {
            self.int_range(info.underlying)
        } else {
            (i128::from(i64::MIN), i128::from(u64::MAX))
        };
        if value < min || value > max {
            let span = item.value.as_ref().map_or(item.name.span, |value| value.span);
            let message = format!("the value {value} does not fit the enumeration's type");
            self.error(Code::E0324, span, message);
        }
    }

    /// Chooses the underlying and promoted types of an enumeration without a fixed one, as gcc
    /// does: unsigned when nothing is negative.
    pub(super) fn complete_enum(&mut self, id: super::ctype::CEnumId) {
        let info = self.types.enumeration(id);
        if !info.fixed {
            let min = info.enumerators.iter().map(|item| item.value).min().unwrap_or(0);
            let max = info.enumerators.iter().map(|item| item.value).max().unwrap_or(0);
            let fits = |basic: Basic| {
                let (low, high) = self.int_range(basic);
                min >= low && max <= high
            };
            let order = [Basic::Int, Basic::UInt, Basic::Long, Basic::ULong, Basic::LongLong];
            let promotes_to =
                order.into_iter().find(|&basic| fits(basic)).unwrap_or(Basic::ULongLong);
            let underlying = if min >= 0 { promotes_to.to_unsigned() } else { promotes_to };
            let info = &mut self.types.enums[id.0 as usize];
            info.underlying = underlying;
            info.promotes_to = promotes_to;
        }
        self.types.enums[id.0 as usize].complete = true;
    }

    /// The values of an integer type.
    pub fn int_range(&self, basic: Basic) -> (i128, i128) {
        if basic == Basic::Bool {
            return (0, 1);
        }
        match self.types.int_bits(basic) {
            (128, true) => (i128::MIN, i128::MAX),
            (128, false) => (0, i128::MAX),
            (bits, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (bits, false) => (0, (1 << bits) - 1),
        }
    }
}
