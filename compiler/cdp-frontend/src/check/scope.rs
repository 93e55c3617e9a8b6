//! Names: namespaces, block scopes, and what a name can stand for.
//!
//! What this is not: the rules of which declaration may follow which (`decl`), or which overload a
//! call takes (`overload`).

use cdp_ir as ir;

use super::ctype::{CEnumId, CTypes, NsId, QualType};
use crate::ast;
use crate::intern::{FastMap, Symbol};
use crate::source::Span;

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
    Namespace(NsId),
}

/// The meanings of one name in one scope: C++ lets a function or variable hide a tag.
#[derive(Clone, Copy, Debug, Default)]
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
}

/// A namespace.
#[derive(Debug)]
pub struct Namespace {
    /// For mangling; empty when anonymous.
    pub text: String,
    pub parent: Option<NsId>,
    pub members: FastMap<Symbol, Slot>,
    /// Targets of `using namespace`, inline and anonymous members included.
    pub usings: Vec<NsId>,
    pub anonymous: bool,
}

/// Where code may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Host,
    Device,
    HostDevice,
    Global,
}

impl Space {
    /// Device or kernel code only.
    pub fn device_only(self) -> bool {
        matches!(self, Space::Device | Space::Global)
    }
    pub fn on_device(self) -> bool {
        self != Space::Host
    }
    pub fn on_host(self) -> bool {
        matches!(self, Space::Host | Space::HostDevice)
    }
    /// As CUDA spells it.
    pub fn word(self) -> &'static str {
        match self {
            Space::Host => "__host__",
            Space::Device => "__device__",
            Space::HostDevice => "__host__ __device__",
            Space::Global => "__global__",
        }
    }
    pub fn kind(self) -> ir::FunctionKind {
        match self {
            Space::Host => ir::FunctionKind::Host,
            Space::Device => ir::FunctionKind::Device,
            Space::HostDevice => ir::FunctionKind::HostDevice,
            Space::Global => ir::FunctionKind::Kernel,
        }
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A parameter or local.
    Auto,
    /// Static storage of the host program.
    Host,
    Device,
    Constant,
    Shared,
    Managed,
}

impl Memory {
    pub fn word(self) -> &'static str {
        match self {
            Memory::Auto => "local",
            Memory::Host => "host",
            Memory::Device => "__device__",
            Memory::Constant => "__constant__",
            Memory::Shared => "__shared__",
            Memory::Managed => "__managed__",
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
    /// Some expression names it.
    pub used: bool,
    /// Its declaration gives a value, which no jump may pass.
    pub initialised: bool,
    pub span: Span,
}

/// A parameter as a declaration gives it.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo<'a> {
    pub name: Option<ast::Ident>,
    /// With its own qualifiers, decayed.
    pub ty: QualType,
    pub default: Option<&'a ast::Expr>,
    pub grid_constant: bool,
    pub span: Span,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func<'a> {
    pub name: Symbol,
    /// Qualified, for messages and listings.
    pub display: String,
    pub ns: NsId,
    pub ty: QualType,
    pub ret: QualType,
    pub params: Vec<ParamInfo<'a>>,
    pub variadic: bool,
    pub space: Space,
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

/// A name bound in a block.
#[derive(Clone, Copy, Debug)]
struct LocalName {
    depth: u32,
    slot: Slot,
}

/// The block scopes of the function being checked.
#[derive(Debug, Default)]
pub struct Blocks {
    names: FastMap<Symbol, Vec<LocalName>>,
    /// Per open scope: the names bound in it.
    bound: Vec<Vec<Symbol>>,
    /// Depths of scopes that are the head of a `for`, `if`, `while` or `switch`.
    heads: Vec<u32>,
    /// `using namespace` in blocks: depth and target.
    pub usings: Vec<(u32, NsId)>,
}

impl Blocks {
    pub fn push(&mut self) {
        self.bound.push(Vec::new());
    }

    /// Opens the scope of a statement's head, whose names the outermost block of the statement
    /// cannot declare again (C++ [basic.scope.block]).
    pub fn push_head(&mut self) {
        self.push();
        self.heads.push(self.depth());
    }

    /// Where the head around the current block declares a name.
    pub fn in_head(&self, name: Symbol) -> Option<Span> {
        let depth = self.depth().checked_sub(1)?;
        if self.heads.last() != Some(&depth) {
            return None;
        }
        let stack = self.names.get(&name)?;
        stack.iter().rev().find(|found| found.depth == depth).map(|found| found.slot.span)
    }

    pub fn pop(&mut self) {
        if self.heads.last() == Some(&self.depth()) {
            self.heads.pop();
        }
        for name in self.bound.pop().unwrap_or_default() {
            if let Some(stack) = self.names.get_mut(&name) {
                stack.pop();
            }
        }
        let depth = self.bound.len() as u32;
        while self.usings.last().is_some_and(|(at, _)| *at > depth) {
            self.usings.pop();
        }
    }

    pub fn depth(&self) -> u32 {
        self.bound.len() as u32
    }

    /// The innermost meaning of a name.
    pub fn find(&self, name: Symbol) -> Option<&Slot> {
        self.names.get(&name)?.last().map(|found| &found.slot)
    }

    /// The innermost meaning of a name that passes a test.
    pub fn find_where(&self, name: Symbol, test: impl Fn(&Slot) -> bool) -> Option<&Slot> {
        let stack = self.names.get(&name)?;
        stack.iter().rev().map(|found| &found.slot).find(|slot| test(slot))
    }

    /// The slot of a name in the current scope, made when it is not there.
    pub fn slot(&mut self, name: Symbol) -> &mut Slot {
        let depth = self.depth();
        let stack = self.names.entry(name).or_default();
        if stack.last().is_none_or(|found| found.depth != depth) {
            stack.push(LocalName { depth, slot: Slot::default() });
            if let Some(bound) = self.bound.last_mut() {
                bound.push(name);
            }
        }
        &mut stack.last_mut().expect("just pushed").slot
    }

    /// What the innermost open scope binds.
    pub fn innermost(&self) -> impl Iterator<Item = &Slot> + '_ {
        let bound = self.bound.last().into_iter().flatten();
        bound.filter_map(|name| self.names.get(name)?.last()).map(|found| &found.slot)
    }

    /// Everything that the open scopes bind, also what inner scopes hide.
    pub fn open(&self) -> impl Iterator<Item = &Slot> + '_ {
        self.names.values().flatten().map(|found| &found.slot)
    }

    /// All names in sight, for suggestions.
    pub fn all(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.names.iter().filter(|(_, stack)| !stack.is_empty()).map(|(name, _)| *name)
    }
}

/// All namespaces.
#[derive(Debug)]
pub struct Namespaces {
    pub list: Vec<Namespace>,
}

impl Namespaces {
    pub fn new() -> Self {
        let global = Namespace {
            text: String::new(),
            parent: None,
            members: FastMap::default(),
            usings: Vec::new(),
            anonymous: false,
        };
        Namespaces { list: vec![global] }
    }

    pub fn get(&self, ns: NsId) -> &Namespace {
        &self.list[ns.0 as usize]
    }

    pub fn get_mut(&mut self, ns: NsId) -> &mut Namespace {
        &mut self.list[ns.0 as usize]
    }

    /// Adds a namespace and its qualified name.
    pub fn add(
        &mut self,
        parent: NsId,
        name: Option<Symbol>,
        text: &str,
        inline: bool,
        types: &mut CTypes,
    ) -> NsId {
        let id = NsId(self.list.len() as u32);
        let anonymous = name.is_none();
        self.list.push(Namespace {
            text: text.to_owned(),
            parent: Some(parent),
            members: FastMap::default(),
            usings: Vec::new(),
            anonymous,
        });
        let outer = types.ns_names[parent.0 as usize].clone();
        let own = if anonymous { "(anonymous)" } else { text };
        types.ns_names.push(if outer.is_empty() { own.into() } else { format!("{outer}::{own}") });
        if inline || anonymous {
            self.get_mut(parent).usings.push(id);
        }
        id
    }

    /// Looks a name up in one namespace and in those it takes in with `using namespace`.
    pub fn find_in(&self, ns: NsId, name: Symbol) -> Option<&Slot> {
        let space = self.get(ns);
        if let Some(slot) = space.members.get(&name) {
            return Some(slot);
        }
        if space.usings.is_empty() {
            return None;
        }
        let mut seen = vec![ns];
        let mut queue: Vec<NsId> = space.usings.clone();
        while let Some(next) = queue.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            let space = self.get(next);
            if let Some(slot) = space.members.get(&name) {
                return Some(slot);
            }
            queue.extend(&space.usings);
        }
        None
    }

    /// What an unqualified name means outside blocks, as seen from namespace `start`: every meaning
    /// of the innermost level that has one. A namespace taken in with `using namespace` (in a block,
    /// those of `directives`) shows its names where it and the directive have their nearest common
    /// namespace (C++ [namespace.udir]); more than one meaning may be ambiguous.
    pub fn find_around(&self, start: NsId, directives: &[(u32, NsId)], name: Symbol) -> Vec<Slot> {
        let mut shown: Vec<(NsId, NsId)> = Vec::new();
        for (_, target) in directives {
            self.show_from(start, *target, &mut shown);
        }
        for level in self.chain(start) {
            for target in &self.get(level).usings {
                self.show_from(level, *target, &mut shown);
            }
        }
        for level in self.chain(start) {
            let own = self.get(level).members.get(&name);
            let mut found: Vec<Slot> = own.into_iter().copied().collect();
            for (at, target) in &shown {
                if *at == level
                    && let Some(slot) = self.get(*target).members.get(&name)
                    && !found.iter().any(|other| other.entity() == slot.entity())
                {
                    found.push(*slot);
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// A namespace and those around it, the innermost first.
    fn chain(&self, start: NsId) -> impl Iterator<Item = NsId> + '_ {
        std::iter::successors(Some(start), |ns| self.get(*ns).parent)
    }

    /// Notes that a directive in `from` shows `target`, and what `target` takes in, and where.
    fn show_from(&self, from: NsId, target: NsId, shown: &mut Vec<(NsId, NsId)>) {
        let level = self.chain(from).find(|&outer| self.chain(target).any(|ns| ns == outer));
        let entry = (level.unwrap_or(NsId::GLOBAL), target);
        if shown.contains(&entry) {
            return;
        }
        shown.push(entry);
        for next in &self.get(target).usings {
            self.show_from(from, *next, shown);
        }
    }

    /// All meanings that namespaces taken in with `using namespace` give a name that the namespace
    /// itself does not declare.
    pub fn find_through_usings(&self, ns: NsId, name: Symbol) -> Vec<Slot> {
        let mut found: Vec<Slot> = Vec::new();
        let mut seen = vec![ns];
        let mut queue: Vec<NsId> = self.get(ns).usings.clone();
        while let Some(next) = queue.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            let space = self.get(next);
            match space.members.get(&name) {
                Some(slot) => {
                    if !found.iter().any(|other| other.entity() == slot.entity()) {
                        found.push(*slot);
                    }
                }
                None => queue.extend(&space.usings),
            }
        }
        found
    }

    /// Whether the namespace or one around it is anonymous, which makes its members internal.
    pub fn is_internal(&self, mut ns: NsId) -> bool {
        loop {
            let space = self.get(ns);
            if space.anonymous {
                return true;
            }
            let Some(parent) = space.parent else { return false };
            ns = parent;
        }
    }
}
