//! What is noted while a unit is checked, by what it is for. Who notes and who judges is elsewhere.

use std::rc::Rc;

use cdp_ir as ir;

use super::ctype::QualType;
use super::scope::{FnId, VarId};
use super::{CallFact, LaunchFact};
use crate::diagnostics::{Code, Level};
use crate::intern::{FastMap, FastSet, Symbol};
use crate::scopes::ScopeId;
use crate::source::Span;

/// What is around the expression or declaration at hand.
#[derive(Default)]
pub struct Around {
    /// Greater than zero inside `sizeof` and its like: nothing is evaluated.
    pub unevaluated: u32,
    /// Inside expressions whose value is needed when compiling: those of `constexpr` variables, array bounds, cases and
    /// assertions. What is `constexpr` may be of the other side there, as far as nvcc lets it.
    pub constant: u32,
    /// Something of the other side has been used so.
    pub borrowed: bool,
    /// Checking an argument that names a device variable.
    pub symbol_context: bool,
    /// The initialiser at hand is that of a variable of host code, at file scope.
    pub host_variable: bool,
    /// What `auto` stands for in the declaration at hand.
    pub auto_type: Option<QualType>,
}

/// What constant expressions are computed with.
#[derive(Default)]
pub struct Constants {
    /// String literals: their globals, and these among the module's.
    pub strings: FastMap<(Vec<u8>, ir::TypeId), ir::GlobalId>,
    pub texts: FastSet<u32>,
    /// There are default member initialisers with texts, which no module has yet.
    pub default_texts: bool,
    /// Values and types of `constexpr` variables, under their numbers with [`PSEUDO_ID`](super::state::PSEUDO_ID) and as
    /// the module has them, and of texts with [`TEXT_ID`](super::state::TEXT_ID).
    pub values: FastMap<u32, Rc<(ir::Const, ir::TypeId)>>,
    /// Bodies of `constexpr` functions by [`ir::FuncId`], real or [`PSEUDO_ID`](super::state::PSEUDO_ID).
    pub bodies: FastMap<u32, Rc<ir::evaluate::Body>>,
}

/// What pragmas say from here on.
#[derive(Default)]
pub struct Pragmas {
    /// The levels of lints, the newest last.
    pub levels: Vec<(Code, Level)>,
    /// What `#pragma pack` says: the limit in force (0 for none), and those saved by `push`.
    pub pack_limit: u64,
    pack_saved: Vec<u64>,
}

impl Pragmas {
    /// `pack()`, `pack(n)`, `pack(push)`, `pack(push, n)`, `pack(pop)`; nothing for another.
    pub fn pack(&mut self, words: &[&str]) -> Option<()> {
        let (saved, limit) = match words {
            ["(", "push", ")"] => (true, self.pack_limit),
            ["(", "push", ",", number, ")"] => (true, number.parse().ok()?),
            ["(", "pop", ")"] => (false, self.pack_saved.pop().unwrap_or(0)),
            ["(", ")"] => (false, 0),
            ["(", number, ")"] => (false, number.parse().ok()?),
            _ => return None,
        };
        if !matches!(limit, 0 | 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        self.pack_saved.extend(saved.then_some(self.pack_limit));
        self.pack_limit = limit;
        Some(())
    }
}

/// What decides of names in the object file, and which of them are taken.
#[derive(Default)]
pub struct Linkage {
    /// Inside `extern "C"`, and inside one of a declaration without braces.
    pub extern_c: bool,
    pub implied_extern: bool,
    /// Where a symbol was defined.
    pub symbols: FastMap<String, Span>,
    /// `extern` variables declared in blocks only.
    pub block_externs: FastMap<(ScopeId, Symbol), VarId>,
    /// Functions declared in blocks only.
    pub block_functions: FastMap<(ScopeId, Symbol), Vec<FnId>>,
    /// Static variables of one name in one function, counted.
    pub static_numbers: FastMap<(String, String), u32>,
    /// How many names the compiler has made.
    made: u32,
}

impl Linkage {
    /// A unique number for names that the compiler makes.
    pub fn unique(&mut self) -> u32 {
        self.made += 1;
        self.made
    }
}

/// Who launches and calls whom, for `cdpc graph`.
#[derive(Default)]
pub struct Graph {
    pub launches: Vec<LaunchFact>,
    pub calls: Vec<CallFact>,
    /// Pairs of caller and callee that are there already.
    pub called: FastMap<(u32, u32), ()>,
}

/// What nothing more is said of.
#[derive(Default)]
pub struct Quiet {
    /// Names that are not declared because the parser refused or could not read their declarations.
    pub lost: FastSet<Symbol>,
    /// A header was not read, and what nothing declares may be its.
    pub unread: bool,
    /// The constant in braces about which W0721 was given last.
    pub narrowed: Option<Span>,
}

/// A label of the function at hand, which a `goto` may name before it stands anywhere.
pub struct JumpTarget {
    pub id: ir::LabelId,
    /// Where it stands, and the initialised variables in scope there.
    pub placed: Option<(Span, Vec<VarId>)>,
    /// The jumps to it, each with the initialised variables in scope.
    pub jumps: Vec<(Span, Vec<VarId>)>,
}
