//! Builtin functions whose rows hold their body as text: parsed and checked when first called, and
//! put into the module as internal functions.

use cdp_ir as ir;

use super::builtins::{Lower, Overload};
use super::scope::ExecutionSpace;
use super::state::{Checker, NO_ID};
use crate::ast::{self, DeclKind};
use crate::parse::parse_text;
use crate::preprocess::PreprocessOptions;
use crate::session::Session;

impl<'a> Checker<'a> {
    /// The function of a row with a body, compiled now if it was not before.
    pub fn inline_function(&mut self, overload: Overload, body: &'static str) -> ir::FuncId {
        if self.f.skips() {
            return ir::FuncId(NO_ID);
        }
        if let Some(&found) = self.builtins.inlines.get(&overload.key()) {
            return found;
        }
        let made = self.compile_text(overload.func.name, &overload.source(body), true);
        self.builtins.inlines.insert(overload.key(), made);
        made
    }

    /// A function that a pointer can point to and that does what a row does; `None` for a row that
    /// is no function in this pass, or that takes more than plain values.
    pub fn builtin_as_function(&mut self, overload: Overload) -> Option<ir::FuncId> {
        if self.f.skips() {
            return Some(ir::FuncId(NO_ID));
        }
        if let Some(&found) = self.builtins.pointed.get(&overload.key()) {
            return Some(found);
        }
        let sig = self.builtin_sig(overload);
        let made = match self.builtin_lowering(overload) {
            Lower::Refuse(_) | Lower::Printf | Lower::Runtime(_) => return None,
            Lower::Extern(symbol) => self.extern_function(symbol, overload, &sig),
            _ => {
                let text = overload.wrapper("__cdp_pointed")?;
                self.compile_text(overload.func.name, &text, false)
            }
        };
        self.builtins.pointed.insert(overload.key(), made);
        Some(made)
    }

    /// Compiles the text of one function of the builtins as an internal function.
    fn compile_text(&mut self, name: &'static str, text: &str, inline: bool) -> ir::FuncId {
        let mut session = Session::new();
        let Some(unit) = parse(&mut session, text) else {
            panic!("the builtin function `{name}` does not parse: {text}");
        };
        let (session, unit) = self.arena.add(session, unit);
        let outer_diags = std::mem::take(&mut self.diags);
        let outer_locs = std::mem::replace(&mut self.lines.silent, true);
        let outer_session = std::mem::replace(&mut self.session, session);
        let outer = std::mem::take(&mut self.f);
        let outer_c = std::mem::replace(&mut self.linkage.extern_c, false);
        // The names of the text are numbered on their own, so no scope of the program may be seen.
        let scopes = std::mem::take(&mut self.names.scopes);
        let made = self.compile_inline(name, unit, inline);
        self.names.scopes = scopes;
        self.linkage.extern_c = outer_c;
        self.f = outer;
        self.session = outer_session;
        self.lines.silent = outer_locs;
        self.diags = outer_diags;
        made
    }

    fn compile_inline(
        &mut self,
        name: &'static str,
        unit: &'a ast::TranslationUnit,
        inline: bool,
    ) -> ir::FuncId {
        let Some(DeclKind::Function(def)) = unit.decls.first().map(|decl| &decl.kind) else {
            panic!("the builtin `{name}` is no function");
        };
        let base = self.spec_type(&def.specs);
        let ty = self.declarator_type(base, &def.declarator);
        let Some(id) = self.declare_function(&def.specs, &def.declarator, ty, true) else {
            panic!("the builtin `{name}` cannot be declared");
        };
        let number = self.linkage.unique();
        let space = if self.device_pass() { ExecutionSpace::Device } else { ExecutionSpace::Host };
        let func = self.names.func_mut(id);
        func.space = space;
        func.linkage = ir::Linkage::Internal;
        func.builtin = true;
        if inline {
            func.attrs.inline = ir::Inline::Always;
        }
        func.symbol = format!(
            "__cdp_{}_{number}",
            name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_")
        );
        let made = self.make_ir_func(id);
        self.check_body(id, true, &def.body);
        if self.diags.has_errors() {
            let messages: Vec<String> =
                self.diags.iter().map(|diagnostic| diagnostic.message.clone()).collect();
            panic!("the builtin function `{name}` is wrong: {}", messages.join("; "));
        }
        made
    }
}

/// Parses one function definition.
fn parse(session: &mut Session, text: &str) -> Option<ast::TranslationUnit> {
    let output = parse_text(session, "builtin", text, &PreprocessOptions::default());
    (!output.diagnostics.has_errors()).then_some(output.unit)
}
