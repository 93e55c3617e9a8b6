//! `goto` and the labels it jumps to.

use cdp_ir as ir;
use cdp_ir::StmtKind;

use super::facts::JumpTarget;
use super::scope::{Entity, VarId};
use super::state::Checker;
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    fn target(&mut self, name: ast::Ident) -> &mut JumpTarget {
        if !self.f.labels.contains_key(&name.name) {
            let id = self.new_label();
            self.f.labels.insert(name.name, JumpTarget { id, placed: None, jumps: Vec::new() });
        }
        self.f.labels.get_mut(&name.name).expect("just inserted")
    }

    /// `goto name;`
    pub fn goto_stmt(&mut self, name: ast::Ident, loc: ir::Loc) {
        let seen = self.initialised_in_scope();
        let target = self.target(name);
        target.jumps.push((name.span, seen));
        let id = target.id;
        self.emit(StmtKind::Goto(id), loc);
    }

    /// `name:`
    pub fn named_label(&mut self, name: ast::Ident, loc: ir::Loc) {
        let seen = self.initialised_in_scope();
        let target = self.target(name);
        let id = target.id;
        if let Some((first, _)) = target.placed {
            self.redefinition(name, first);
            return;
        }
        target.placed = Some((name.span, seen));
        self.emit(StmtKind::Label(id), loc);
    }

    /// A label of the innermost `switch` that is reached past an initialisation: an error of host code, a warning of
    /// device code, as with nvcc.
    pub fn check_switch_label(&mut self, label: Span) {
        let on_device = self.f.space.on_device();
        let lenient = on_device && (self.f.space.device_only() || self.device_pass());
        let code = if lenient { Code::W0736 } else { Code::E0314 };
        let Some(state) = self.f.switches.last() else { return };
        let Some(passed) = self.initialised_since(state.bound).next() else { return };
        let var = self.names.var(passed);
        let (at, text) = (var.span, self.text(var.name));
        let message = format!("the jump to this label passes the initialisation of `{text}`");
        self.error(code, label, message)
            .secondary(at, "initialised here")
            .help("put the statements of each `case` into a block of its own");
    }

    fn initialised_in_scope(&self) -> Vec<VarId> {
        let mut seen: Vec<VarId> = self.initialised_since(0).collect();
        seen.sort_unstable();
        seen
    }

    /// The initialised variables among the names in scope behind the first `bound`.
    fn initialised_since(&self, bound: usize) -> impl Iterator<Item = VarId> {
        self.names.scopes.bound_since(bound).filter_map(|(_, slot)| match slot.other {
            Some(Entity::Var(var)) => (self.names.var(var).initialised
                && self.names.var(var).local.is_some())
            .then_some(var),
            _ => None,
        })
    }

    /// At the end of a function: every jump has its label, and passes no initialisation
    /// (C++ [stmt.dcl]).
    pub fn finish_labels(&mut self) {
        let mut labels: Vec<_> = std::mem::take(&mut self.f.labels).into_iter().collect();
        labels.sort_by_key(|(_, target)| target.id);
        for (name, target) in labels {
            let name = self.text(name).to_owned();
            for (jump, seen) in &target.jumps {
                let Some((place, there)) = &target.placed else {
                    let message = format!("the function has no label `{name}`");
                    self.error(Code::E0314, *jump, message);
                    continue;
                };
                let Some(passed) = there.iter().find(|var| !seen.contains(var)) else { continue };
                let var = self.names.var(*passed);
                let (at, text) = (var.span, self.text(var.name));
                let message = format!("the jump to `{name}` passes the initialisation of `{text}`");
                self.error(Code::E0314, *jump, message)
                    .secondary(at, "initialised here")
                    .secondary(*place, "the label")
                    .help(
                        "declare the variable before the `goto`, or put it into a block of its own",
                    );
            }
        }
    }
}
