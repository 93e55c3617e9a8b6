//! Symbol names: the Itanium C++ ABI's mangling (section 5.1), with substitutions.

use super::ctype::{CType, CTypes, QualType, Quals};
use super::scope::Slot;
use crate::ast::Overloadable;
use crate::scopes::{ScopeId, Scopes};

/// What has been written and may be referred back to.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Component {
    Namespace(ScopeId),
    Type(QualType),
}

struct Mangler<'t> {
    types: &'t CTypes,
    scopes: &'t Scopes<Slot>,
    out: String,
    seen: Vec<Component>,
}

/// A function's symbol. `internal` is for `static` functions, whose names get an `L`.
pub fn function(
    types: &CTypes,
    scopes: &Scopes<Slot>,
    ns: ScopeId,
    name: &str,
    ty: QualType,
    internal: bool,
) -> String {
    let mut mangler = Mangler { types, scopes, out: "_Z".into(), seen: Vec::new() };
    let params = types.fn_type(ty).map_or(0, |function| function.params.len());
    let coded = match Overloadable::of(name) {
        Some(operator) => operator.letters(params).to_owned(),
        None => source_name(name),
    };
    mangler.declared_name(ns, &coded, internal);
    mangler.parameters(ty);
    mangler.out
}

/// A variable's symbol: the name itself at global scope, unless it is `static`.
pub fn variable(
    types: &CTypes,
    scopes: &Scopes<Slot>,
    ns: ScopeId,
    name: &str,
    internal: bool,
) -> String {
    if ns == ScopeId::GLOBAL && !internal {
        return name.to_owned();
    }
    let mut mangler = Mangler { types, scopes, out: "_Z".into(), seen: Vec::new() };
    mangler.declared_name(ns, &source_name(name), internal);
    mangler.out
}

/// The symbol of a static variable of a function; `number` tells apart those of one name.
pub fn local_variable(function_symbol: &str, name: &str, number: u32) -> String {
    let encoding = match function_symbol.strip_prefix("_Z") {
        Some(encoding) => encoding.to_owned(),
        None => source_name(function_symbol),
    };
    let discriminator = match number {
        0 => String::new(),
        n @ 1..=10 => format!("_{}", n - 1),
        n => format!("__{}_", n - 1),
    };
    format!("_ZZ{encoding}E{}{discriminator}", source_name(name))
}

fn source_name(name: &str) -> String {
    format!("{}{name}", name.len())
}

impl Mangler<'_> {
    fn declared_name(&mut self, ns: ScopeId, coded: &str, internal: bool) {
        if ns == ScopeId::GLOBAL {
            if internal {
                self.out.push('L');
            }
            self.out.push_str(coded);
            return;
        }
        self.out.push('N');
        self.prefix(ns);
        if internal && !self.scopes.is_internal(ns) {
            self.out.push('L');
        }
        self.out.push_str(coded);
        self.out.push('E');
    }

    /// The enclosing namespaces, each a candidate for substitution.
    fn prefix(&mut self, ns: ScopeId) {
        if ns == ScopeId::GLOBAL || self.substitute(&Component::Namespace(ns)) {
            return;
        }
        self.prefix(self.scopes.parent(ns).unwrap_or(ScopeId::GLOBAL));
        let name = if self.scopes.is_anonymous(ns) { "_GLOBAL__N_1" } else { self.scopes.name(ns) };
        self.out.push_str(&source_name(name));
        self.seen.push(Component::Namespace(ns));
    }

    fn parameters(&mut self, ty: QualType) {
        let Some(function) = self.types.fn_type(ty).cloned() else { return };
        if function.params.is_empty() && !function.variadic {
            self.out.push('v');
        }
        for param in function.params {
            self.ty(param);
        }
        if function.variadic {
            self.out.push('z');
        }
    }

    /// Writes a back reference if the component stands already.
    fn substitute(&mut self, component: &Component) -> bool {
        let Some(index) = self.seen.iter().position(|seen| seen == component) else {
            return false;
        };
        self.out.push('S');
        if index > 0 {
            let mut number = index - 1;
            let mut digits = Vec::new();
            loop {
                digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
                number /= 36;
                if number == 0 {
                    break;
                }
            }
            self.out.extend(digits.iter().rev().map(|&digit| digit as char));
        }
        self.out.push('_');
        true
    }

    fn ty(&mut self, ty: QualType) {
        if ty.quals != Quals::NONE && !matches!(self.types.get(ty.id), CType::Array { .. }) {
            if self.substitute(&Component::Type(ty)) {
                return;
            }
            for (bit, code) in [(Quals::RESTRICT, 'r'), (Quals::VOLATILE, 'V'), (Quals::CONST, 'K')]
            {
                if ty.quals.has(bit) {
                    self.out.push(code);
                }
            }
            self.ty(ty.unqualified());
            self.seen.push(Component::Type(ty));
            return;
        }
        if let CType::Basic(basic) = self.types.get(ty.id)
            && let Some(code) = basic.letters()
        {
            self.out.push_str(code);
            return;
        }
        if self.substitute(&Component::Type(ty)) {
            return;
        }
        match self.types.get(ty.id).clone() {
            CType::Basic(basic) => self.out.push_str(&source_name(basic.name())),
            CType::Record(id) => {
                let record = self.types.record(id);
                let (ns, name, local) = (record.ns, record.name.clone(), record.local_in.clone());
                self.named(ns, &name, local);
            }
            CType::Enum(id) => {
                let info = self.types.enumeration(id);
                let (ns, name, local) = (info.ns, info.name.clone(), info.local_in.clone());
                self.named(ns, &name, local);
            }
            CType::Pointer(to) => {
                self.out.push('P');
                self.ty(to);
            }
            CType::Reference { to, rvalue } => {
                self.out.push(if rvalue { 'O' } else { 'R' });
                self.ty(to);
            }
            CType::Array { elem, len } => {
                let bound = len.map_or(String::new(), |len| len.to_string());
                self.out.push_str(&format!("A{bound}_"));
                self.ty(elem.with(ty.quals.cv()));
            }
            CType::Function(function) => {
                self.out.push('F');
                self.ty(function.ret);
                self.parameters(ty.unqualified());
                self.out.push('E');
            }
        }
        self.seen.push(Component::Type(ty));
    }

    fn named(&mut self, ns: ScopeId, name: &str, local: Option<(String, u32)>) {
        let own = if name.is_empty() { "Ut_".to_owned() } else { source_name(name) };
        if let Some((function, _)) = local {
            self.out.push_str(&format!("Z{function}E{own}"));
        } else if ns == ScopeId::GLOBAL {
            self.out.push_str(&own);
        } else {
            self.out.push('N');
            self.prefix(ns);
            self.out.push_str(&own);
            self.out.push('E');
        }
    }
}
