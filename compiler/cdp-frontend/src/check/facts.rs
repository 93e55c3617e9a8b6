//! What is noted while a function or the unit is checked, and judged later: by lints, by the rules of memory
//! spaces, by jumps. Who notes and who judges is elsewhere.

use cdp_ir as ir;
use cdp_ir::{Loc, LocalId};

use super::ctype::QualType;
use super::scope::{FnId, Memory, VarId};
use crate::diagnostics::Code;
use crate::intern::{FastMap, Symbol};
use crate::scopes::ScopeId;
use crate::source::Span;

/// Facts about the whole unit.
#[derive(Default)]
pub struct Facts {
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
    /// Launches that every thread of a block makes alike.
    pub repeated: Vec<Repeated>,
    /// Per kernel: the threads a block of each launch of it, where known.
    pub block_threads: FastMap<FnId, Vec<Option<i128>>>,
    /// Reads of what children may write.
    pub results: Vec<Pending>,
    /// Pairs of caller and callee that are in the output already.
    pub called: FastMap<(u32, u32), ()>,
}

/// A launch that does not depend on the thread.
pub struct Repeated {
    pub parent: FnId,
    pub child: Option<FnId>,
    pub name: String,
    pub span: Span,
}

/// The conditions around the statement at hand.
#[derive(Default)]
pub struct Conditions {
    /// Conditions that depend on the thread for certain.
    pub varying: u32,
    /// Conditions that are not certainly uniform.
    pub not_uniform: u32,
    /// Some threads have left the function.
    pub some_left: bool,
}

impl Conditions {
    /// Whether only some threads may be here.
    pub fn divergent(&self) -> bool {
        self.not_uniform > 0 || self.some_left
    }
}

/// What entering a condition changed.
#[derive(Default)]
pub struct Entered {
    pub varying: bool,
    pub not_uniform: bool,
}

/// Where a pointer value came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The address of a local (or of a part of it).
    Local(ir::LocalId),
    /// The address of a variable of this memory.
    Static(ir::GlobalId, Memory),
    /// The value of a local pointer variable.
    Variable(ir::LocalId),
    Other,
}

impl Source {
    /// Whether it can turn out to be local or shared memory.
    pub fn matters(self) -> bool {
        match self {
            Source::Local(_) | Source::Variable(_) => true,
            Source::Static(_, memory) => memory == Memory::Shared,
            Source::Other => false,
        }
    }
}

/// What a pointer is used for that local and shared memory are not good for.
#[derive(Clone, Debug)]
pub enum Use {
    LaunchArgument {
        kernel: String,
        number: usize,
    },
    /// `cudaMemcpyAsync` and its like.
    Copy {
        function: &'static str,
    },
}

/// A pointer to judge at the end of the function.
#[derive(Clone, Debug)]
pub struct Deferred {
    pub sources: Vec<Source>,
    pub span: Span,
    pub purpose: Use,
}

/// A launch of the function at hand with pointer variables as arguments.
#[derive(Clone, Debug)]
pub struct Site {
    pub child: FnId,
    pub loc: Loc,
    /// Parameter number, variable, and the argument's place.
    pub pointers: Vec<(usize, LocalId, Span)>,
}

/// A read after a launch, to be reported if the child writes.
pub struct Pending {
    pub child: FnId,
    pub param: usize,
    pub name: String,
    pub span: Span,
    pub read: Loc,
}

/// A label of the function at hand, which a `goto` may name before it stands anywhere.
pub struct JumpTarget {
    pub id: ir::LabelId,
    /// Where it stands, and the initialised variables in scope there.
    pub placed: Option<(Span, Vec<VarId>)>,
    /// The jumps to it, each with the initialised variables in scope.
    pub jumps: Vec<(Span, Vec<VarId>)>,
}

/// What the kept statements of a function answer already.
#[derive(Default)]
pub struct Witnesses {
    pub counts: bool,
    pub written: Vec<ir::LocalId>,
}
