//! Names and where they are in sight: the blocks that are open, and the scopes that `::` can look into, which
//! are namespaces, records and enumerations. The parser and the checker look names up here, each with what it
//! wants to know of a name ([`Declared`]).
//!
//! Not here: what a name stands for; the functions that only their arguments find.

use crate::intern::{FastMap, Symbol};

/// A scope that `::` can look into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ScopeId(pub u32);

impl ScopeId {
    /// The global namespace.
    pub const GLOBAL: ScopeId = ScopeId(0);
    /// No scope: nothing is found in it.
    pub const NONE: ScopeId = ScopeId(u32::MAX);
}

/// What a name stands for in one scope. The default is a name that nothing has declared.
pub trait Declared: Copy + Default + PartialEq {
    fn is_declared(&self) -> bool {
        *self != Self::default()
    }

    /// Whether it is no matter which of the two is found.
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    /// Functions, which overload those of other scopes.
    fn overloads(&self) -> bool {
        false
    }
}

/// What look-up finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<M> {
    None,
    One(M),
    /// Functions of several namespaces.
    Overloads(Vec<M>),
    /// Different things of several namespaces.
    Ambiguous(Vec<M>),
}

impl<M: Declared> Found<M> {
    /// Adds what another namespace has.
    fn add(&mut self, meaning: M) {
        match self {
            Found::None => *self = Found::One(meaning),
            Found::One(first) if first.is_same(&meaning) => {}
            Found::One(first) => *self = Found::Overloads(vec![*first, meaning]),
            Found::Overloads(list) | Found::Ambiguous(list) => {
                if !list.iter().any(|other| other.is_same(&meaning)) {
                    list.push(meaning);
                }
            }
        }
        if let Found::Overloads(list) = self
            && !list.iter().all(M::overloads)
        {
            *self = Found::Ambiguous(std::mem::take(list));
        }
    }

    /// One of the meanings, if there is any.
    pub fn first(&self) -> Option<M> {
        match self {
            Found::None => None,
            Found::One(meaning) => Some(*meaning),
            Found::Overloads(list) | Found::Ambiguous(list) => list.first().copied(),
        }
    }
}

/// A namespace, record or enumeration.
#[derive(Clone, Debug)]
struct Scope<M> {
    /// As symbols spell it.
    name: String,
    parent: Option<ScopeId>,
    members: FastMap<Symbol, M>,
    /// Targets of `using namespace`, inline and anonymous members included.
    usings: Vec<ScopeId>,
    anonymous: bool,
}

impl<M> Scope<M> {
    fn new(name: String, parent: Option<ScopeId>, anonymous: bool) -> Self {
        Scope { name, parent, members: FastMap::default(), usings: Vec::new(), anonymous }
    }
}

/// A name bound in a block.
#[derive(Clone, Copy, Debug)]
struct Binding<M> {
    name: Symbol,
    meaning: M,
    /// The binding of an outer block that it hides, counted from 1.
    hidden: u32,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    /// Where its bindings and its directives begin.
    bindings: u32,
    usings: u32,
    /// The scope that was open around it.
    here: ScopeId,
    /// It is the head of a `for`, `if`, `while` or `switch`.
    head: bool,
}

/// Open blocks and what they bind.
#[derive(Clone, Debug)]
struct Blocks<M> {
    /// By symbol: its innermost binding, counted from 1.
    innermost: Vec<u32>,
    bindings: Vec<Binding<M>>,
    open: Vec<OpenBlock>,
    /// `using namespace` in blocks.
    usings: Vec<ScopeId>,
}

impl<M> Default for Blocks<M> {
    fn default() -> Self {
        let (innermost, bindings, open) = (Vec::new(), Vec::new(), Vec::new());
        Blocks { innermost, bindings, open, usings: Vec::new() }
    }
}

/// All scopes, and which of them are open.
#[derive(Clone, Debug)]
pub struct Scopes<M> {
    list: Vec<Scope<M>>,
    /// The innermost open scope that is no block.
    here: ScopeId,
    blocks: Blocks<M>,
    /// What `using namespace` shows here: the target, and the namespace among whose names its own are.
    shown: Vec<(ScopeId, ScopeId)>,
    is_shown: FastMap<(ScopeId, ScopeId), ()>,
    /// Some scope has a directive.
    has_usings: bool,
}

/// Open scopes that were put aside.
pub struct Aside<M>(Blocks<M>, ScopeId);

impl<M: Declared> Default for Scopes<M> {
    fn default() -> Self {
        Scopes {
            list: vec![Scope::new(String::new(), None, false)],
            here: ScopeId::GLOBAL,
            blocks: Blocks::default(),
            shown: Vec::new(),
            is_shown: FastMap::default(),
            has_usings: false,
        }
    }
}

impl<M: Declared> Scopes<M> {
    // ---- Scopes that `::` can look into ------------------------------------------------------------------

    /// Adds a scope.
    pub fn add(&mut self, parent: ScopeId, name: &str) -> ScopeId {
        self.list.push(Scope::new(name.to_owned(), Some(parent), false));
        ScopeId(self.list.len() as u32 - 1)
    }

    /// The anonymous namespace of a namespace, and whether it is new.
    pub fn anonymous_in(&mut self, parent: ScopeId) -> (ScopeId, bool) {
        let usings = &self.list[parent.0 as usize].usings;
        if let Some(id) = usings.iter().find(|id| {
            let scope = &self.list[id.0 as usize];
            scope.anonymous && scope.parent == Some(parent)
        }) {
            return (*id, false);
        }
        let id = self.add(parent, "");
        self.list[id.0 as usize].anonymous = true;
        self.show(parent, id);
        (id, true)
    }

    /// As symbols spell it; empty when it has no name.
    pub fn name(&self, scope: ScopeId) -> &str {
        &self.list[scope.0 as usize].name
    }

    pub fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.list[scope.0 as usize].parent
    }

    pub fn is_anonymous(&self, scope: ScopeId) -> bool {
        self.list[scope.0 as usize].anonymous
    }

    /// Whether the namespace or one around it is anonymous, which makes its members internal.
    pub fn is_internal(&self, scope: ScopeId) -> bool {
        self.chain(scope).any(|scope| self.is_anonymous(scope))
    }

    /// Is there more than the global namespace?
    pub fn has_several(&self) -> bool {
        self.list.len() > 1
    }

    /// What a scope itself declares.
    pub fn member(&self, scope: ScopeId, name: Symbol) -> Option<&M> {
        let found = self.list.get(scope.0 as usize)?.members.get(&name);
        found.filter(|meaning| meaning.is_declared())
    }

    /// What a scope itself declares, to be changed.
    pub fn member_mut(&mut self, scope: ScopeId, name: Symbol) -> &mut M {
        self.list[scope.0 as usize].members.entry(name).or_default()
    }

    /// All that a scope itself declares.
    pub fn members(&self, scope: ScopeId) -> impl Iterator<Item = (Symbol, &M)> {
        let members = self.list[scope.0 as usize].members.iter();
        members.map(|(name, meaning)| (*name, meaning)).filter(|(_, meaning)| meaning.is_declared())
    }

    /// The open namespace or record.
    pub fn here(&self) -> ScopeId {
        self.here
    }

    /// Opens a namespace or record in the place of the one that is open, which is returned.
    pub fn open(&mut self, scope: ScopeId) -> ScopeId {
        let outer = std::mem::replace(&mut self.here, scope);
        if outer != scope {
            self.show_again();
        }
        outer
    }

    /// A scope and those around it, the innermost first.
    pub fn chain(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        std::iter::successors(Some(scope), |scope| self.parent(*scope))
    }

    // ---- Blocks -------------------------------------------------------------------------------------

    /// Opens a block.
    pub fn enter(&mut self) {
        let blocks = &mut self.blocks;
        let (bindings, usings) = (blocks.bindings.len() as u32, blocks.usings.len() as u32);
        blocks.open.push(OpenBlock { bindings, usings, here: self.here, head: false });
    }

    /// Opens the scope of a statement's head, whose names the outermost block of the statement
    /// cannot declare again (C++ [basic.scope.block]).
    pub fn enter_head(&mut self) {
        self.enter();
        if let Some(block) = self.blocks.open.last_mut() {
            block.head = true;
        }
    }

    /// Closes the innermost block, with the scope that was opened in it.
    pub fn leave(&mut self) {
        let Some(block) = self.blocks.open.pop() else { return };
        for binding in self.blocks.bindings.drain(block.bindings as usize..).rev() {
            self.blocks.innermost[binding.name.0 as usize] = binding.hidden;
        }
        let same = self.blocks.usings.len() == block.usings as usize && self.here == block.here;
        self.blocks.usings.truncate(block.usings as usize);
        self.here = block.here;
        if !same {
            self.show_again();
        }
    }

    /// Closes the innermost block and keeps what it binds as the names inside `scope`.
    pub fn leave_into(&mut self, scope: ScopeId) {
        let first = self.blocks.open.last().map_or(0, |block| block.bindings);
        if let Some(scope) = self.list.get_mut(scope.0 as usize) {
            let bound = &self.blocks.bindings[first as usize..];
            scope.members.extend(bound.iter().map(|binding| (binding.name, binding.meaning)));
        }
        self.leave();
    }

    /// How many blocks are open.
    pub fn depth(&self) -> usize {
        self.blocks.open.len()
    }

    /// Closes all blocks for a while and opens a namespace.
    pub fn set_aside(&mut self, scope: ScopeId) -> Aside<M> {
        let aside = Aside(std::mem::take(&mut self.blocks), self.here);
        self.here = scope;
        self.show_again();
        aside
    }

    /// Opens again what was put aside.
    pub fn take_back(&mut self, aside: Aside<M>) {
        self.blocks = aside.0;
        self.here = aside.1;
        self.show_again();
    }

    /// What the innermost block binds.
    pub fn innermost(&self) -> impl Iterator<Item = &M> {
        let first = self.blocks.open.last().map_or(0, |block| block.bindings);
        self.blocks.bindings[first as usize..].iter().map(|binding| &binding.meaning)
    }

    /// What open blocks bind, in the order of declaration and also what inner ones hide, behind the first `count`.
    pub fn bound_since(&self, count: usize) -> impl ExactSizeIterator<Item = (Symbol, &M)> {
        let bindings = self.blocks.bindings.get(count..).unwrap_or_default();
        bindings.iter().map(|binding| (binding.name, &binding.meaning))
    }

    /// All that open blocks bind, and that the open namespace or record and those around it declare.
    pub fn visible(&self) -> impl Iterator<Item = (Symbol, &M)> {
        self.bound_since(0).chain(self.chain(self.here()).flat_map(|id| self.members(id)))
    }

    /// What the head around the innermost block binds a name to.
    pub fn in_head(&self, name: Symbol) -> Option<&M> {
        let [.., head, body] = &self.blocks.open[..] else { return None };
        let mut bound = self.bindings_of(name).filter(|(at, _)| *at < body.bindings);
        let (at, meaning) = bound.next()?;
        (head.head && at >= head.bindings).then_some(meaning)
    }

    /// The bindings of a name by number, the innermost first.
    fn bindings_of(&self, name: Symbol) -> impl Iterator<Item = (u32, &M)> {
        let first = self.blocks.innermost.get(name.0 as usize).copied().unwrap_or(0);
        std::iter::successors(first.checked_sub(1), |at| {
            self.blocks.bindings[*at as usize].hidden.checked_sub(1)
        })
        .map(|at| (at, &self.blocks.bindings[at as usize].meaning))
    }

    // ---- Declaring ------------------------------------------------------------------------------------

    /// What a name stands for where something is declared now, to be changed: in the innermost block, or else
    /// in the open namespace or record.
    pub fn declare(&mut self, name: Symbol) -> &mut M {
        let Some(block) = self.blocks.open.last().copied() else {
            return self.member_mut(self.here, name);
        };
        let blocks = &mut self.blocks;
        let place = name.0 as usize;
        if blocks.innermost.len() <= place {
            blocks.innermost.resize(place + 256, 0);
        }
        let hidden = blocks.innermost[place];
        if hidden <= block.bindings {
            blocks.bindings.push(Binding { name, meaning: M::default(), hidden });
            blocks.innermost[place] = blocks.bindings.len() as u32;
        }
        let at = blocks.innermost[place] as usize - 1;
        &mut blocks.bindings[at].meaning
    }

    /// `using namespace`, in the innermost block or in the open namespace.
    pub fn use_namespace(&mut self, target: ScopeId) {
        if self.depth() == 0 {
            return self.show(self.here, target);
        }
        self.blocks.usings.push(target);
        self.has_usings = true;
        self.show_from(self.here, target);
    }

    /// The names of `target` are shown in `scope`: `using namespace`, inline and anonymous namespaces.
    pub fn show(&mut self, scope: ScopeId, target: ScopeId) {
        let usings = &mut self.list[scope.0 as usize].usings;
        if !usings.contains(&target) {
            usings.push(target);
            self.has_usings = true;
            self.show_from(scope, target);
        }
    }

    /// Works out what directives show here. A namespace shows its names where it and the directive have their
    /// nearest common namespace (C++ [namespace.udir]).
    fn show_again(&mut self) {
        if !self.has_usings {
            return;
        }
        self.shown.clear();
        self.is_shown.clear();
        let usings = |scope: ScopeId| &self.list[scope.0 as usize].usings;
        let inner = self.blocks.usings.iter().map(|target| (self.here, *target));
        let outer =
            self.chain(self.here).flat_map(|from| usings(from).iter().map(move |to| (from, *to)));
        for (from, target) in inner.chain(outer).collect::<Vec<_>>() {
            self.show_from(from, target);
        }
    }

    /// Notes that a directive in `from`, an open namespace, shows `target` and what `target` takes in, and where.
    fn show_from(&mut self, from: ScopeId, target: ScopeId) {
        let mut waiting = vec![target];
        while let Some(target) = waiting.pop() {
            let common = |outer: &ScopeId| self.chain(target).any(|scope| scope == *outer);
            let level = self.chain(from).find(common).unwrap_or(ScopeId::GLOBAL);
            if self.is_shown.insert((target, level), ()).is_none() {
                self.shown.push((target, level));
                waiting.extend(self.list[target.0 as usize].usings.iter().rev());
            }
        }
    }

    // ---- Look-up --------------------------------------------------------------------------------------

    /// What an unqualified name means here, of what fits: the innermost block that binds it, or all of the
    /// innermost namespace that has it, with what directives show there.
    pub fn lookup(&self, name: Symbol, fits: impl Fn(&M) -> bool) -> Found<M> {
        let fits = |meaning: &&M| meaning.is_declared() && fits(meaning);
        if let Some(meaning) = self.bindings_of(name).map(|(_, meaning)| meaning).find(fits) {
            return Found::One(*meaning);
        }
        let mut found = Found::None;
        for level in self.chain(self.here) {
            if let Some(meaning) = self.member(level, name).filter(fits) {
                found.add(*meaning);
            }
            for (target, _) in self.shown.iter().filter(|(_, at)| *at == level) {
                if let Some(meaning) = self.member(*target, name).filter(fits) {
                    found.add(*meaning);
                }
            }
            if !matches!(found, Found::None) {
                break;
            }
        }
        found
    }

    /// Whether the look-up of an unqualified name gets as far as the global namespace.
    pub fn reaches_global(&self, name: Symbol) -> bool {
        let mut inner = self.chain(self.here).take_while(|level| *level != ScopeId::GLOBAL);
        let shown = |level: ScopeId| self.shown.iter().filter(move |(_, at)| *at == level);
        let has = |scope: ScopeId| self.member(scope, name).is_some();
        self.bindings_of(name).next().is_none()
            && !inner.any(|level| has(level) || shown(level).any(|(target, _)| has(*target)))
    }

    /// What a name means after `scope::`, of what fits: what the scope declares, or else all that it takes in
    /// with `using namespace` (C++ [namespace.qual]).
    pub fn lookup_in(&self, scope: ScopeId, name: Symbol, fits: impl Fn(&M) -> bool) -> Found<M> {
        let mut found = Found::None;
        let mut seen = vec![scope];
        let mut at = 0;
        while let Some(&scope) = seen.get(at) {
            at += 1;
            if let Some(meaning) = self.member(scope, name).filter(|meaning| fits(meaning)) {
                found.add(*meaning);
                if at == 1 {
                    break;
                }
            } else if let Some(scope) = self.list.get(scope.0 as usize) {
                for next in &scope.usings {
                    if !seen.contains(next) {
                        seen.push(*next);
                    }
                }
            }
        }
        found
    }
}
