//! What a name means where the checker stands.

use super::ctype::NsId;
use super::scope::{Entity, Slot};
use super::state::Checker;
use crate::ast;
use crate::intern::Symbol;

impl<'a> Checker<'a> {
    /// The meaning of an unqualified name declared by the program.
    pub fn find_plain(&self, name: Symbol) -> Option<Slot> {
        if let Some(slot) = self.f.blocks.find(name) {
            return Some(*slot);
        }
        self.spaces.find_around(self.ns, &self.f.blocks.usings, name).first().copied()
    }

    /// The innermost slot of a name that a tag after `struct` or `enum` can mean: variables,
    /// functions and enumerators do not hide it (C++ [basic.lookup.elab]).
    pub fn find_tag(&self, name: &ast::QualName) -> Option<Slot> {
        let names_type =
            |slot: &Slot| slot.tag.is_some() || matches!(slot.other, Some(Entity::Type(_)));
        let Some(symbol) = name.as_plain() else {
            return self.find_name(name).filter(names_type);
        };
        if let Some(slot) = self.f.blocks.find_where(symbol, names_type) {
            return Some(*slot);
        }
        let mut ns = Some(self.ns);
        while let Some(id) = ns {
            let found = self.spaces.get(id).members.get(&symbol).filter(|slot| names_type(slot));
            if found.is_some() {
                return found.copied();
            }
            ns = self.spaces.get(id).parent;
        }
        self.find_plain(symbol).filter(names_type)
    }

    /// The namespace that the scopes of a qualified name lead to. `Err` holds the scope that is no
    /// namespace; it may be an enumeration.
    pub fn find_scope(&self, name: &ast::QualName) -> Result<NsId, ast::Ident> {
        let mut at = name.global.then_some(NsId::GLOBAL);
        for scope in &name.scopes {
            let slot = match at {
                None => self.find_plain(scope.name),
                Some(ns) => self.spaces.find_in(ns, scope.name).copied(),
            };
            match slot.and_then(|slot| slot.entity()) {
                Some(Entity::Namespace(ns)) => at = Some(ns),
                Some(Entity::Type(ty)) if self.types.scope_of(ty).is_some() => {
                    at = self.types.scope_of(ty);
                }
                _ => return Err(*scope),
            }
        }
        Ok(at.unwrap_or(NsId::GLOBAL))
    }

    /// The slot of a possibly qualified name declared by the program.
    pub fn find_name(&self, name: &ast::QualName) -> Option<Slot> {
        if !name.global && name.scopes.is_empty() {
            return self.find_plain(name.base.name);
        }
        match self.find_scope(name) {
            Ok(ns) => self.spaces.find_in(ns, name.base.name).copied(),
            Err(scope) => {
                // The last scope may be an enumeration: `Color::Red`.
                let last = name.scopes.last()?;
                if last.span != scope.span {
                    return None;
                }
                let outer = ast::QualName {
                    global: name.global,
                    scopes: name.scopes[..name.scopes.len() - 1].to_vec(),
                    base: *last,
                    operator: None,
                    span: last.span,
                };
                let slot = self.find_name(&outer)?;
                let Some(Entity::Type(ty)) = slot.entity() else { return None };
                let id = self.types.enum_id(ty)?;
                let text = self.text(name.base.name);
                let list = &self.types.enumeration(id).enumerators;
                let index = list.iter().position(|item| item.name == text)?;
                let other = Some(Entity::Enumerator(id, index as u32));
                Some(Slot { tag: None, other, span: slot.span })
            }
        }
    }

    /// The slot for a name being declared here: in the open block, or else the open namespace.
    pub fn slot_here(&mut self, name: Symbol) -> &mut Slot {
        if self.f.blocks.depth() > 0 {
            self.f.blocks.slot(name)
        } else {
            let ns = self.ns;
            self.spaces.get_mut(ns).members.entry(name).or_default()
        }
    }

    // --- IR --------------------------------------------------------------------------------
}
