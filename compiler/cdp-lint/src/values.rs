//! What is noted of local variables: where the pointers in them come from, whether they change, and what
//! all threads agree about. Control flow is not followed: a variable is what any assignment gave it.

use cdp_ir as ir;
use cdp_ir::{Const, Expr, ExprKind, GlobalId, LocalId};

use crate::Body;
use crate::source::Source;

/// What is known of a local variable.
pub struct LocalFacts {
    /// Of a pointer: where the values that it was given came from.
    pub origins: Vec<Origin>,
    /// Assigned, or changed otherwise, after its first value.
    pub changed: bool,
    /// Its address went somewhere, so that it may change in ways that are not seen.
    pub escaped: bool,
    /// Of an aggregate: its first value, when that is constant.
    pub initial: Option<Const>,
    /// It has had a first value.
    begun: bool,
    /// No value it was given depends on which thread of the block runs.
    pub uniform: bool,
    /// Its value depends on the thread for certain.
    pub varies: bool,
}

/// Of a variable that nothing was noted of.
static NOTHING: LocalFacts = LocalFacts::new();

impl LocalFacts {
    const fn new() -> Self {
        LocalFacts {
            origins: Vec::new(),
            changed: false,
            escaped: false,
            initial: None,
            begun: false,
            uniform: true,
            varies: false,
        }
    }
}

/// Where a pointer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The address of a local variable, or of a part of it.
    Local(LocalId),
    /// The address of a variable of the module.
    Global(GlobalId),
    /// The value of a local pointer variable.
    Variable(LocalId),
    Other,
}

impl Body {
    pub(crate) fn facts(&self, local: LocalId) -> &LocalFacts {
        self.locals.get(local.0 as usize).unwrap_or(&NOTHING)
    }

    pub(crate) fn facts_mut(&mut self, local: LocalId) -> &mut LocalFacts {
        let at = local.0 as usize;
        if self.locals.len() <= at {
            self.locals.resize_with(at + 1, LocalFacts::new);
        }
        &mut self.locals[at]
    }

    pub(crate) fn is_param(&self, local: LocalId) -> bool {
        local.0 < self.function.param_count
    }

    /// A variable, or a part of it, gets its first value.
    pub(crate) fn initialised(&mut self, addr: &Expr, value: &Expr, source: &dyn Source) {
        let Some(local) = root_local(addr) else { return };
        let whole = matches!(addr.kind, ExprKind::LocalAddr(_));
        let first = !std::mem::replace(&mut self.facts_mut(local).begun, true);
        let constant = whole && first && source.types().is_aggregate(value.ty);
        self.facts_mut(local).initial = if constant { source.constant(value) } else { None };
        if whole {
            self.note_origins(local, value, source);
            self.facts_mut(local).varies = self.is_varying(value);
        }
        let agreed = self.is_agreed(value);
        self.facts_mut(local).uniform &= agreed;
    }

    /// `object = value`.
    pub(crate) fn assigned(&mut self, addr: &Expr, value: &Expr, source: &dyn Source) {
        self.changed(addr, Some(value));
        let Some(local) = root_local(addr) else { return };
        if matches!(addr.kind, ExprKind::LocalAddr(_)) {
            self.note_origins(local, value, source);
        }
        // The value may be the same for all threads again.
        self.facts_mut(local).varies = false;
    }

    /// An object changes, by a value or by something that nobody sees.
    pub(crate) fn changed(&mut self, addr: &Expr, by: Option<&Expr>) {
        let Some(local) = root_local(addr) else { return };
        let agreed = by.is_some_and(|value| self.is_agreed(value));
        let facts = self.facts_mut(local);
        facts.changed = true;
        facts.uniform &= agreed;
    }

    /// Whether all threads of a block get this value here.
    fn is_agreed(&self, value: &Expr) -> bool {
        self.function.on_device && !self.conditions.divergent() && self.is_uniform(value)
    }

    fn note_origins(&mut self, local: LocalId, value: &Expr, source: &dyn Source) {
        if !source.types().is_pointer(value.ty) {
            return;
        }
        let facts = self.facts_mut(local);
        for origin in origins(value, source) {
            if origin != Origin::Variable(local) && !facts.origins.contains(&origin) {
                facts.origins.push(origin);
            }
        }
    }
}

/// Where a pointer value, or the pointers in a record value, come from.
pub fn origins(expr: &Expr, source: &dyn Source) -> Vec<Origin> {
    let mut found = Vec::new();
    collect_origins(expr, source, &mut found);
    found
}

fn collect_origins(expr: &Expr, source: &dyn Source, found: &mut Vec<Origin>) {
    match &expr.kind {
        ExprKind::LocalAddr(local) => found.push(Origin::Local(*local)),
        ExprKind::GlobalAddr(global) | ExprKind::Const(Const::GlobalAddr { global, .. }) => {
            found.push(Origin::Global(*global))
        }
        ExprKind::FieldAddr { base: inner, .. }
        | ExprKind::IndexAddr { base: inner, .. }
        | ExprKind::Cast { kind: ir::CastKind::PointerToPointer, operand: inner }
        | ExprKind::Sequence { value: inner, .. } => collect_origins(inner, source, found),
        ExprKind::Select { then, otherwise, .. } => {
            collect_origins(then, source, found);
            collect_origins(otherwise, source, found);
        }
        ExprKind::Load { addr, .. } => found.push(match &addr.kind {
            ExprKind::LocalAddr(local) if source.types().is_pointer(expr.ty) => {
                Origin::Variable(*local)
            }
            _ => Origin::Other,
        }),
        ExprKind::MakeRecord(fields) => {
            let pointers = fields.iter().filter(|(_, field)| source.types().is_pointer(field.ty));
            pointers.for_each(|(_, field)| collect_origins(field, source, found));
        }
        _ => found.push(Origin::Other),
    }
}

/// The local variable that an address is part of, when no pointer is followed.
pub fn root_local(addr: &Expr) -> Option<LocalId> {
    match &addr.root()?.kind {
        ExprKind::LocalAddr(local) => Some(*local),
        _ => None,
    }
}
