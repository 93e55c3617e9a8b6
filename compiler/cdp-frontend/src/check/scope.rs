//! What a name of the program can stand for, and the tables of what it declares.
//!
//! What this is not: where it is in sight ([`crate::scopes`]), the rules of which declaration may follow which
//! (`decl`), or which overload a call takes (`overload`).

use cdp_ir as ir;

use super::arena::Kept;
use super::ctype::{CEnumId, QualType};
use crate::ast;
use crate::intern::Symbol;
use crate::scopes::{self, ScopeId, Scopes};
use crate::source::Span;
use crate::spelled::spelled;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    };
}

index!(/// A variable, parameter or reference.
    VarId);
index!(/// One function (one signature).
    FnId);
index!(/// All functions of one name in one scope.
    SetId);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Var(VarId),
    Fns(SetId),
    /// A typedef or alias, or a record or enumeration seen through its tag.
    Type(QualType),
    Enumerator(CEnumId, u32),
    Namespace(ScopeId),
}

/// The meanings of one name in one scope: C++ lets a function or variable hide a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slot {
    pub tag: Option<QualType>,
    pub other: Option<Entity>,
    pub span: Span,
}

impl Slot {
    /// The meaning of the name by itself.
    pub fn entity(&self) -> Option<Entity> {
        self.other.or(self.tag.map(Entity::Type))
    }

    /// The meaning of the name before `::` (C++ [basic.lookup.qual]).
    pub fn before_scope(&self) -> Option<Entity> {
        let named = |entity: &Entity| matches!(entity, Entity::Namespace(_) | Entity::Type(_));
        self.other.filter(named).or(self.tag.map(Entity::Type))
    }

    /// Whether a tag after `struct` or `enum` can mean it.
    pub fn names_type(&self) -> bool {
        self.tag.is_some() || matches!(self.other, Some(Entity::Type(_)))
    }
}

impl scopes::Declared for Slot {
    fn is_declared(&self) -> bool {
        self.tag.is_some() || self.other.is_some()
    }

    fn is_same(&self, other: &Slot) -> bool {
        self.entity() == other.entity()
    }

    fn overloads(&self) -> bool {
        matches!(self.other, Some(Entity::Fns(_)))
    }
}

spelled! {
    /// Where code may run.
    #[derive(Default)]
    ExecutionSpace,
    /// As CUDA spells it.
    word {
        #[default]
        Host = "__host__",
        Device = "__device__",
        HostDevice = "__host__ __device__",
        Global = "__global__",
    }

    /// Where a variable lives.
    Memory,
    /// As CUDA spells it, or in a word.
    word {
        /// A parameter or local.
        Auto = "local",
        /// Static storage of the host program.
        Host = "host",
        Device = "__device__", Constant = "__constant__", Shared = "__shared__", Managed = "__managed__",
    }
}

impl ExecutionSpace {
    /// Device or kernel code only.
    pub fn device_only(self) -> bool {
        matches!(self, ExecutionSpace::Device | ExecutionSpace::Global)
    }
    pub fn on_device(self) -> bool {
        self != ExecutionSpace::Host
    }
    pub fn on_host(self) -> bool {
        matches!(self, ExecutionSpace::Host | ExecutionSpace::HostDevice)
    }
    pub fn kind(self) -> ir::FunctionKind {
        match self {
            ExecutionSpace::Host => ir::FunctionKind::Host,
            ExecutionSpace::Device => ir::FunctionKind::Device,
            ExecutionSpace::HostDevice => ir::FunctionKind::HostDevice,
            ExecutionSpace::Global => ir::FunctionKind::Kernel,
        }
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    pub name: Symbol,
    /// As declared, references included; the bound of an array is completed by the initialiser.
    pub ty: QualType,
    pub memory: Memory,
    /// Of an automatic variable.
    pub local: Option<ir::LocalId>,
    /// Of a static one, once the IR has it.
    pub global: Option<ir::GlobalId>,
    /// The value of a `const` or `constexpr` variable with a constant initialiser.
    pub value: Option<ir::Const>,
    pub constexpr: bool,
    pub linkage: ir::Linkage,
    /// Has storage here (not only `extern`).
    pub defined: bool,
    pub symbol: String,
    /// Extra alignment in bytes; 0 for none.
    pub align: u64,
    /// Declared in a function, with static storage.
    pub in_function: bool,
    pub is_param: bool,
    /// How many expressions name it; one that needs none counts one.
    pub uses: u32,
    /// Loops around its declaration, and branches.
    pub around: (u32, u32),
    /// Its declaration gives a value, which no jump may pass.
    pub initialised: bool,
    pub span: Span,
}

impl Var {
    /// A variable of which nothing more is known than what is given.
    pub fn new(name: ast::Ident, ty: QualType, memory: Memory) -> Self {
        Var {
            name: name.name,
            ty,
            memory,
            local: None,
            global: None,
            value: None,
            constexpr: false,
            linkage: ir::Linkage::External,
            defined: false,
            symbol: String::new(),
            align: 0,
            in_function: false,
            is_param: false,
            uses: 0,
            around: (0, 0),
            initialised: false,
            span: name.span,
        }
    }
}

/// A parameter as a declaration gives it.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    pub name: Option<ast::Ident>,
    /// With its own qualifiers, decayed.
    pub ty: QualType,
    pub default: Option<Kept>,
    pub grid_constant: bool,
    pub span: Span,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func {
    pub name: Symbol,
    /// Qualified, for messages and listings.
    pub display: String,
    pub ns: ScopeId,
    pub ty: QualType,
    pub ret: QualType,
    pub params: Vec<ParamInfo>,
    pub variadic: bool,
    pub space: ExecutionSpace,
    pub linkage: ir::Linkage,
    pub extern_c: bool,
    pub attrs: ir::FnAttrs,
    pub constexpr: bool,
    pub symbol: String,
    pub ir: Option<ir::FuncId>,
    pub defined: bool,
    /// The declared name.
    pub span: Span,
    /// Spans of the execution-space words, for messages.
    pub space_span: Span,
    /// `auto` whose type a `return` decides.
    pub auto_ret: bool,
    /// The table row behind a function made from one.
    pub builtin: bool,
}

impl Func {
    /// How many arguments a call must give.
    pub fn required(&self) -> usize {
        self.params.iter().rposition(|param| param.default.is_none()).map_or(0, |at| at + 1)
    }
}

/// All that the program declares, and where its names are in sight.
#[derive(Default)]
pub struct Names {
    pub scopes: Scopes<Slot>,
    pub vars: Vec<Var>,
    pub funcs: Vec<Func>,
    pub sets: Vec<Vec<FnId>>,
}

impl Names {
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }

    pub fn var_mut(&mut self, id: VarId) -> &mut Var {
        &mut self.vars[id.0 as usize]
    }

    pub fn func(&self, id: FnId) -> &Func {
        &self.funcs[id.0 as usize]
    }

    pub fn func_mut(&mut self, id: FnId) -> &mut Func {
        &mut self.funcs[id.0 as usize]
    }

    pub fn set(&self, id: SetId) -> &[FnId] {
        &self.sets[id.0 as usize]
    }
}
