//! Types as C++ writes them, for messages and listings.

use super::ctype::{CRecordKind, CType, CTypes, QualType, Quals};
use crate::scopes::ScopeId;

impl CTypes {
    /// The type as C++ writes it.
    pub fn show(&self, ty: QualType) -> String {
        self.show_around(ty, String::new())
    }

    /// The type around a declarator: `int (*name)[3]`.
    pub fn show_around(&self, ty: QualType, inner: String) -> String {
        let quals = show_quals(ty.quals);
        let join = |base: String, inner: String| match inner.chars().next() {
            None => base,
            Some('[') => base + &inner,
            Some('*' | '&') if base.ends_with(['*', '&']) => base + &inner,
            Some(_) if base.ends_with(['*', '&']) => base + &inner,
            Some(_) => format!("{base} {inner}"),
        };
        match self.get(ty.id) {
            CType::Basic(basic) => join(format!("{quals}{}", basic.name()), inner),
            CType::Enum(id) => {
                let info = self.enumeration(*id);
                join(format!("{quals}{}", self.qualified(info.ns, &info.name, "enum")), inner)
            }
            CType::Record(id) => {
                let info = self.record(*id);
                let what = match info.kind {
                    CRecordKind::Struct => "struct",
                    CRecordKind::Union => "union",
                };
                join(format!("{quals}{}", self.qualified(info.ns, &info.name, what)), inner)
            }
            CType::Pointer(to) => {
                let quals = quals.trim_end();
                let gap = if quals.is_empty() || inner.is_empty() { "" } else { " " };
                let star = format!("*{quals}{gap}{inner}");
                self.show_around(*to, self.parenthesize(*to, star))
            }
            CType::Reference { to, rvalue } => {
                let mark = if *rvalue { "&&" } else { "&" };
                self.show_around(*to, self.parenthesize(*to, format!("{mark}{inner}")))
            }
            CType::Array { elem, len } => {
                let bound = len.map_or(String::new(), |len| len.to_string());
                self.show_around(elem.with(ty.quals.cv()), format!("{inner}[{bound}]"))
            }
            CType::Function(function) => {
                let mut params: Vec<String> =
                    function.params.iter().map(|&param| self.show(param)).collect();
                if function.variadic {
                    params.push("...".into());
                }
                self.show_around(function.ret, format!("{inner}({})", params.join(", ")))
            }
        }
    }

    fn parenthesize(&self, to: QualType, declarator: String) -> String {
        match self.get(to.id) {
            CType::Array { .. } | CType::Function(_) => format!("({declarator})"),
            _ => declarator,
        }
    }

    fn qualified(&self, ns: ScopeId, name: &str, what: &str) -> String {
        let name = if name.is_empty() { format!("(unnamed {what})") } else { name.to_owned() };
        match self.ns_names.get(ns.0 as usize) {
            Some(scope) if !scope.is_empty() => format!("{scope}::{name}"),
            _ => name,
        }
    }
}

fn show_quals(quals: Quals) -> String {
    let mut text = String::new();
    for (bit, word) in [
        (Quals::CONST, "const "),
        (Quals::VOLATILE, "volatile "),
        (Quals::RESTRICT, "__restrict__ "),
    ] {
        if quals.has(bit) {
            text.push_str(word);
        }
    }
    text
}
