//! What a name means where the checker stands.

use super::ctype::QualType;
use super::scope::{Entity, FnId, Slot};
use super::state::Checker;
use crate::ast::{Ident, QualName};
use crate::diagnostics::Code;
use crate::scopes::{Found, ScopeId};

impl Checker<'_> {
    /// The meaning of a possibly qualified name declared by the program.
    pub fn lookup(&self, name: &QualName) -> Found<Slot> {
        self.walk(name, |_| true).0
    }

    /// One meaning of a name, also when there are others.
    pub fn find_name(&self, name: &QualName) -> Option<Slot> {
        self.lookup(name).first()
    }

    /// The one meaning of a name. `Err` when it is ambiguous, about which an error is given.
    pub fn find_one(&mut self, name: &QualName) -> Result<Option<Slot>, ()> {
        self.settle(self.walk(name, |_| true))
    }

    /// As [`Checker::find_one`], what a tag after `struct` or `enum` can mean: variables, functions and
    /// enumerators do not hide it (C++ [basic.lookup.elab]).
    pub fn find_tag(&mut self, name: &QualName) -> Result<Option<Slot>, ()> {
        self.settle(self.walk(name, Slot::names_type))
    }

    /// As [`Checker::find_one`], of namespaces alone.
    pub fn find_namespace(&mut self, name: &QualName) -> Result<Option<Slot>, ()> {
        self.settle(self.walk(name, |slot| matches!(slot.other, Some(Entity::Namespace(_)))))
    }

    /// The scope of a qualified name that is declared again or defined; without it an error is given.
    pub fn declared_scope(&mut self, name: &QualName) -> Option<ScopeId> {
        let (found, part) = match self.scope_of(name) {
            Ok(scope) => return Some(scope.unwrap_or(ScopeId::GLOBAL)),
            Err(failed) => failed,
        };
        if self.settle((found, part)).is_ok() {
            self.no_namespace(part.name, part.span);
        }
        None
    }

    /// All functions that were found.
    pub fn functions_of(&self, found: &Found<Slot>) -> Vec<FnId> {
        let slots = match found {
            Found::None | Found::Ambiguous(_) => &[],
            Found::One(slot) => std::slice::from_ref(slot),
            Found::Overloads(slots) => &slots[..],
        };
        let mut functions = Vec::new();
        for slot in slots {
            let Some(Entity::Fns(set)) = slot.entity() else { continue };
            for id in self.names.set(set) {
                if !functions.contains(id) {
                    functions.push(*id);
                }
            }
        }
        functions
    }

    /// E0307 for a name, or the part of one, with several meanings.
    pub fn report_ambiguous(&mut self, name: Ident, found: &[Slot]) {
        let text = self.text(name.name);
        let message = format!("`{text}` is declared in several namespaces in use here");
        let report =
            self.error(Code::E0307, name.span, message).help("write the namespace before the name");
        found.iter().fold(report, |report, slot| report.secondary(slot.span, "one of them"));
    }

    fn settle(&mut self, (found, part): (Found<Slot>, Ident)) -> Result<Option<Slot>, ()> {
        if let Found::Ambiguous(list) = &found {
            self.report_ambiguous(part, list);
            return Err(());
        }
        Ok(found.first())
    }

    /// What fits of the meanings of a name, and the part of the name that the answer is about.
    pub fn walk(&self, name: &QualName, fits: impl Fn(&Slot) -> bool) -> (Found<Slot>, Ident) {
        let found = match self.scope_of(name) {
            Ok(None) => self.names.scopes.lookup(name.base.name, fits),
            Ok(Some(scope)) => self.names.scopes.lookup_in(scope, name.base.name, fits),
            Err((Found::One(slot), last))
                if name.scopes.last().is_some_and(|at| at.span == last.span) =>
            {
                self.enumerator_in(slot, name.base)
            }
            Err(failed) => return failed,
        };
        (found, name.base)
    }

    /// The scope that the parts of a name before the last lead to, if there are any. `Err` holds the part that
    /// leads nowhere, and what it means: it may be an enumeration.
    fn scope_of(&self, name: &QualName) -> Result<Option<ScopeId>, (Found<Slot>, Ident)> {
        let mut at = name.global.then_some(ScopeId::GLOBAL);
        for part in &name.scopes {
            let fits = |slot: &Slot| slot.before_scope().is_some();
            let found = match at {
                None => self.names.scopes.lookup(part.name, fits),
                Some(scope) => self.names.scopes.lookup_in(scope, part.name, fits),
            };
            let scope = match &found {
                Found::One(slot) => match slot.before_scope() {
                    Some(Entity::Namespace(scope)) => Some(scope),
                    Some(Entity::Type(ty)) => self.types.scope_of(ty),
                    _ => None,
                },
                _ => None,
            };
            let Some(scope) = scope else { return Err((found, *part)) };
            at = Some(scope);
        }
        Ok(at)
    }

    /// `Color::Red`
    fn enumerator_in(&self, slot: Slot, name: Ident) -> Found<Slot> {
        let enumerator = |ty: QualType| {
            let id = self.types.enum_id(ty)?;
            let text = self.text(name.name);
            let list = &self.types.enumeration(id).enumerators;
            let index = list.iter().position(|item| item.name == text)?;
            Some(Entity::Enumerator(id, index as u32))
        };
        let Some(Entity::Type(ty)) = slot.before_scope() else { return Found::None };
        let Some(other) = enumerator(ty) else { return Found::None };
        Found::One(Slot { tag: None, other: Some(other), span: slot.span })
    }
}
