//! What is noted while a function or the unit is checked, and judged later. Who notes and who judges is
//! elsewhere.

use cdp_ir as ir;

use super::ctype::QualType;
use super::scope::{FnId, VarId};
use crate::diagnostics::Code;
use crate::intern::{FastMap, FastSet, Symbol};
use crate::scopes::ScopeId;
use crate::source::Span;

/// Facts about the whole unit.
#[derive(Default)]
pub struct Facts {
    /// Inside expressions whose value is needed when compiling: those of `constexpr` variables, array bounds, cases and
    /// assertions. What is `constexpr` may be of the other side there, as far as nvcc lets it.
    pub constant: u32,
    /// Something of the other side has been used so.
    pub borrowed: bool,
    /// String literals among the module's globals.
    pub texts: FastSet<u32>,
    /// There are default member initialisers with texts, which no module has yet.
    pub default_texts: bool,
    /// Names that are not declared because the parser refused or could not read their declarations.
    pub lost: FastSet<Symbol>,
    /// Checking an argument that names a device variable.
    pub symbol_context: bool,
    /// What pragmas say about lints from here on, the newest last.
    pub levels: Vec<(Code, crate::diagnostics::Level)>,
    /// The initialiser at hand is that of a variable of host code, at file scope.
    pub host_variable: bool,
    /// The constant in braces about which W0721 was given last.
    pub narrowed: Option<Span>,
    /// What `#pragma pack` says: the limit in force (0 for none), and those saved by `push`.
    pub pack_limit: u64,
    pub pack_saved: Vec<u64>,
    /// Inside `extern "C" declaration` without braces.
    pub implied_extern: bool,
    /// What `auto` stands for in the declaration at hand.
    pub auto_type: Option<QualType>,
    /// `extern` variables declared in blocks only.
    pub block_externs: FastMap<(ScopeId, Symbol), VarId>,
    /// Functions declared in blocks only.
    pub block_functions: FastMap<(ScopeId, Symbol), Vec<FnId>>,
    /// Static variables of one name in one function, counted.
    pub static_numbers: FastMap<(String, String), u32>,
    /// Bytes of the `__constant__` variables defined so far.
    pub constant_bytes: u64,
    /// Pairs of caller and callee that are in the output already.
    pub called: FastMap<(u32, u32), ()>,
}

/// A label of the function at hand, which a `goto` may name before it stands anywhere.
pub struct JumpTarget {
    pub id: ir::LabelId,
    /// Where it stands, and the initialised variables in scope there.
    pub placed: Option<(Span, Vec<VarId>)>,
    /// The jumps to it, each with the initialised variables in scope.
    pub jumps: Vec<(Span, Vec<VarId>)>,
}
