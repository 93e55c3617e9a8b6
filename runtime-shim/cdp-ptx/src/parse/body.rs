//! The inside of a function: nested scopes, declarations, labels, statements.
//!
//! Scopes are flattened: names that clash with one of another scope get a `$1`, `$2`, ... appended.
//! Registers and call parameters of scopes that lie side by side are shared when name and type
//! agree, since their lives do not overlap.

use std::collections::{HashMap, HashSet};

use super::{Parser, Result, added};
use crate::error::ErrorKind;
use crate::inst::Inst;
use crate::lexer::{Tok, Token};
use crate::module::*;
use crate::types::*;

/// Deepest nesting of `{ }` in a function.
const MAX_SCOPES: usize = 64;
/// Most registers that one function may use.
const MAX_REGISTERS: usize = 1 << 24;

/// What a name means inside a function.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    /// Declared, not yet used.
    Unused(ScalarType),
    /// A register.
    Reg(Reg),
    /// A vector register: element type and number. Its elements are registers of their own; see
    /// [`FunctionState::element`].
    Vector(ScalarType, usize),
    /// Memory of the function's own.
    Symbol(Symbol),
    /// `.callprototype`
    Prototype(PrototypeId),
    /// `.branchtargets`
    Branches(BranchTableId),
    /// `.calltargets`
    Calls(CallTableId),
}

/// The labels of a scope, open or closed, and the position of the scope around it.
#[derive(Default)]
struct Labels<'a> {
    defined: HashMap<&'a str, LabelId>,
    outer: Option<u32>,
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    /// `%r<100>`: prefix to count and type.
    ranges: HashMap<&'a str, (u32, ScalarType)>,
    /// The position of its labels in the function's list.
    labels: u32,
    /// Elements of vector registers that have been used.
    elements: HashMap<(&'a str, usize), Reg>,
}

/// A call parameter's name in the text, type, alignment and dimensions.
type ParamShape<'a> = (&'a str, ScalarType, u32, Vec<u64>);

/// The state of the function that is being read.
#[derive(Default)]
pub(crate) struct FunctionState<'a> {
    /// The function's own entry.
    pub id: FunctionId,
    /// What has been read so far.
    pub body: Body,
    scopes: Vec<Scope<'a>>,
    /// Names in use by live scopes, or by closed ones and not to be used again.
    used: HashSet<String>,
    /// Registers and call parameters of closed scopes that may be used again, by name and shape.
    retired_regs: HashMap<(&'a str, ScalarType), Vec<Reg>>,
    retired_params: HashMap<ParamShape<'a>, Vec<LocalId>>,
    /// The number that the last clashing name got. Never goes back, so that a text full of
    /// clashes costs no more than its length.
    next_suffix: u32,
    /// The labels of all scopes, those inside behind those around them.
    labels: Vec<Labels<'a>>,
    /// Mentions of labels, each with the position of its scope's labels; [`LabelId`]s in instructions and tables are
    /// positions in this list until the end of the function.
    mentions: Vec<(u32, Token<'a>)>,
    location: Option<LocationId>,
    /// The last location with a file, line and column.
    places: HashMap<(u32, u32, u32), LocationId>,
}

/// May an instruction with such an error stand for itself in a lenient parse?
fn may_be_kept(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnknownInstruction | ErrorKind::Unsupported)
}

impl<'a> Parser<'a> {
    /// The body after its `{`. The names are those of the parameters and return parameters.
    pub fn body(
        &mut self,
        id: FunctionId,
        params: &[Token<'a>],
        returns: &[Token<'a>],
    ) -> Result<()> {
        self.st = FunctionState { id, ..FunctionState::default() };
        self.st.open_scope();
        self.bind_params(params, returns)?;
        while !self.st.scopes.is_empty() {
            self.statement()?;
        }
        self.bind_labels()?;
        self.module.functions[id.index()].body = Some(std::mem::take(&mut self.st).body);
        Ok(())
    }

    fn bind_params(&mut self, params: &[Token<'a>], returns: &[Token<'a>]) -> Result<()> {
        for (list, is_return) in [(returns, true), (params, false)] {
            for (position, token) in list.iter().enumerate() {
                let function = &mut self.module.functions[self.st.id.index()];
                let table = if is_return { &mut function.returns } else { &mut function.params };
                let param = &mut table[position];
                let symbol = if is_return { Symbol::Return } else { Symbol::Param };
                let mut name = Name::Symbol(symbol(position as u32));
                if let ParamStorage::Register(slot) = &mut param.storage {
                    let register = Register { name: param.name.clone(), ty: param.ty };
                    let reg = Reg(added(&mut self.st.body.registers, register));
                    *slot = Some(reg);
                    name = Name::Reg(reg);
                    if param.name != token.text {
                        // An element of a vector, which is a parameter of its own.
                        let before = list[..position].iter().rev();
                        let lane = before.take_while(|before| before.start == token.start).count();
                        let vector = Name::Vector(param.ty, lane + 1);
                        self.st.used.insert(param.name.clone());
                        self.st.scopes[0].elements.insert((token.text, lane), reg);
                        self.st.scopes[0].names.insert(token.text, vector);
                        continue;
                    }
                }
                if token.text == "_" {
                    continue;
                }
                if !self.st.used.insert(token.text.to_string()) {
                    return self.redefinition(token, "two parameters have this name");
                }
                self.st.scopes[0].names.insert(token.text, name);
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        match self.peek.tok {
            Tok::Punct(b'{') => {
                if self.st.scopes.len() >= MAX_SCOPES {
                    fail!(self, self.peek, Limit, "blocks nested deeper than {MAX_SCOPES}");
                }
                self.next()?;
                self.st.open_scope();
                Ok(())
            }
            Tok::Punct(b'}') => {
                self.next()?;
                self.st.close_scope();
                Ok(())
            }
            Tok::Punct(b';') => self.next().map(|_| ()),
            Tok::Punct(b'@') => {
                let at = self.next()?;
                let negated = self.eat(b'!')?;
                let reg = self.register(ScalarType::Pred)?;
                let word = self.ident("an instruction")?;
                self.instruction(word, Some(Guard { reg, negated }), at.line)
            }
            Tok::Dot => self.body_directive(),
            Tok::Ident => {
                let word = self.next()?;
                if self.eat(b':')? {
                    return self.label(word);
                }
                self.instruction(word, None, word.line)
            }
            _ => self.expected("an instruction, a label or a declaration"),
        }
    }

    fn instruction(&mut self, word: Token<'a>, guard: Option<Guard>, line: u32) -> Result<()> {
        let inst = match self.parse_inst(word) {
            Ok(inst) => inst,
            Err(error) if self.lenient && may_be_kept(error.kind) => {
                while !self.at(b';') && self.peek.tok != Tok::Eof {
                    self.next()?;
                }
                let text = &self.source()[word.start as usize..self.peek.start as usize];
                Inst::Unknown { text: text.trim_end().into(), why: error.message.into() }
            }
            Err(error) => return Err(error),
        };
        self.expect(b';')?;
        let location = self.st.location;
        self.st.body.instructions.push(Instruction { guard, inst, location, line: PtxLine(line) });
        Ok(())
    }

    fn body_directive(&mut self) -> Result<()> {
        match self.peek.text {
            "reg" => self.reg_declaration(),
            "param" | "local" | "shared" | "global" | "const" => self.local_variables(),
            "loc" => {
                let (mut location, function) = self.loc()?;
                self.st.link_inlined(&mut location);
                let place = (location.file, location.line, location.column);
                let id = LocationId(added(&mut self.st.body.locations, location));
                self.st.places.insert(place, id);
                self.st.location = Some(id);
                if let Some((label, offset)) = function {
                    self.inlined_names.push((self.st.id, id, label, offset));
                }
                // A semicolon is optional.
                self.eat(b';').map(|_| ())
            }
            "pragma" => {
                let text = self.pragma()?;
                self.module.functions[self.st.id.index()].limits.pragmas.push(text);
                Ok(())
            }
            "file" => self.file(),
            "section" => self.section(),
            _ => fail!(self, self.peek, Syntax, "unknown directive {}", self.peek),
        }
    }

    /// `.reg .b32 %r<10>, %x;`
    fn reg_declaration(&mut self) -> Result<()> {
        self.next()?;
        let declared = self.declared_type()?;
        self.list(|parser| {
            let name = parser.ident("a register's name")?;
            if name.text == "_" {
                return parser.redefinition(&name, "it is the name of no register");
            }
            if parser.at(b'<') {
                parser.next()?;
                let count = parser.number_u32("the number of registers")?;
                parser.expect(b'>')?;
                if declared.vector_len != 1 {
                    return parser.expected("a single vector register");
                }
                let ranges = &mut parser.st.scope().ranges;
                let old = ranges.insert(name.text, (count, declared.ty)).is_some();
                return parser.first(&name, !old);
            }
            let fresh = match declared.vector_len {
                1 => Name::Unused(declared.ty),
                lanes => Name::Vector(declared.ty, lanes as usize),
            };
            parser.declare(&name, fresh)
        })?;
        self.expect(b';')
    }

    fn local_variables(&mut self) -> Result<()> {
        self.variables(Linkage::Internal, |parser, name, mut variable| {
            let st = &mut parser.st;
            let id = st.take_retired_param(name.text, &variable).unwrap_or_else(|| {
                variable.name = st.unique_name(name.text);
                LocalId(added(&mut st.body.variables, variable))
            });
            parser.declare(&name, Name::Symbol(Symbol::Local(id)))
        })
    }

    /// What follows `name:`.
    fn label(&mut self, name: Token<'a>) -> Result<()> {
        let directive = if self.peek.tok == Tok::Dot { self.peek.text } else { "" };
        let meaning = match directive {
            "callprototype" => {
                self.next()?;
                let mut prototype = self.prototype(name.text)?;
                prototype.name = self.st.unique_name(name.text);
                Name::Prototype(PrototypeId(added(&mut self.st.body.prototypes, prototype)))
            }
            "branchtargets" => {
                let table = self.table(&name, Self::label_name)?;
                Name::Branches(BranchTableId(added(&mut self.st.body.branch_tables, table)))
            }
            "calltargets" => {
                let table = self.table(&name, Self::function_name)?;
                Name::Calls(CallTableId(added(&mut self.st.body.call_tables, table)))
            }
            _ => {
                let position = self.st.body.instructions.len() as u32;
                let label = Label { name: name.text.to_string(), position };
                let id = LabelId(added(&mut self.st.body.labels, label));
                let labels = self.st.scope().labels;
                let defined = &mut self.st.labels[labels as usize].defined;
                return match defined.insert(name.text, id) {
                    None => Ok(()),
                    Some(_) => self.redefinition(&name, "the label is defined twice"),
                };
            }
        };
        self.declare(&name, meaning)
    }

    /// From a directive's word to its semicolon.
    fn table<T>(
        &mut self,
        name: &Token<'a>,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Table<T>> {
        self.next()?;
        let targets = self.list(item)?;
        self.expect(b';')?;
        Ok(Table { name: self.st.unique_name(name.text), targets })
    }

    /// Gives a name its meaning in the innermost block.
    fn declare(&mut self, name: &Token<'a>, meaning: Name) -> Result<()> {
        let old = self.st.scope().names.insert(name.text, meaning).is_some();
        self.first(name, !old)
    }

    fn first(&self, name: &Token<'a>, is_first: bool) -> Result<()> {
        match is_first {
            true => Ok(()),
            false => self.redefinition(name, "it is declared twice in this block"),
        }
    }

    /// The name of a label of this function.
    pub fn label_name(&mut self) -> Result<LabelId> {
        let name = self.ident("a label")?;
        let scope = self.st.scope().labels;
        Ok(LabelId(added(&mut self.st.mentions, (scope, name))))
    }

    /// The name of a declared function.
    pub fn function_name(&mut self) -> Result<FunctionId> {
        let token = self.ident("a function")?;
        self.function_of(&token)
    }

    /// The declared function that a token names.
    pub fn function_of(&self, token: &Token<'a>) -> Result<FunctionId> {
        match self.symbols.get(token.text) {
            Some(Symbol::Function(id)) => Ok(*id),
            _ => fail!(self, token, UnknownName, "{token} is not a declared function"),
        }
    }

    /// Finds what mentions of labels mean: the innermost label of the name around them.
    fn bind_labels(&mut self) -> Result<()> {
        let mut bound = Vec::with_capacity(self.st.mentions.len());
        for (scope, token) in &self.st.mentions {
            let outer = |at: &u32| self.st.labels[*at as usize].outer;
            let mut outward = std::iter::successors(Some(*scope), outer);
            let defined = |at: u32| self.st.labels[at as usize].defined.get(token.text);
            match outward.find_map(defined) {
                Some(label) => bound.push(*label),
                None => fail!(self, token, UnknownName, "the label {token} is not defined"),
            }
        }
        // Named in the order of the text, so that a printed text gives the same names again.
        for index in 0..self.st.body.labels.len() {
            let name = std::mem::take(&mut self.st.body.labels[index].name);
            self.st.body.labels[index].name = self.st.unique_name(&name);
        }
        let bind = |label: &mut LabelId| *label = bound[label.index()];
        for table in &mut self.st.body.branch_tables {
            table.targets.iter_mut().for_each(bind);
        }
        for instruction in &mut self.st.body.instructions {
            if let Inst::Bra { target, .. } = &mut instruction.inst {
                bind(target);
            }
        }
        Ok(())
    }
}

impl<'a> FunctionState<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes.last_mut().expect("the body's own scope is open while statements are read")
    }

    /// What `name` means here: innermost scope first.
    pub fn lookup(&mut self, name: &'a str) -> Option<Name> {
        for depth in (0..self.scopes.len()).rev() {
            if let Some(found) = self.scopes[depth].names.get(name) {
                let Name::Unused(ty) = *found else { return Some(found.clone()) };
                return Some(self.first_use(depth, name, ty));
            }
            if let Some(ty) = self.scopes[depth].range_type(name) {
                return Some(self.first_use(depth, name, ty));
            }
        }
        None
    }

    fn first_use(&mut self, depth: usize, name: &'a str, ty: ScalarType) -> Name {
        let retired = self.retired_regs.get_mut(&(name, ty)).and_then(Vec::pop);
        let reg = retired.unwrap_or_else(|| self.new_register(name, ty));
        self.scopes[depth].names.insert(name, Name::Reg(reg));
        Name::Reg(reg)
    }

    fn new_register(&mut self, name: &str, ty: ScalarType) -> Reg {
        let name = self.unique_name(name);
        Reg(added(&mut self.body.registers, Register { name, ty }))
    }

    /// An element of the vector register `name`, if it is one and has that many.
    pub fn element(&mut self, name: &'a str, lane: usize) -> Option<Reg> {
        let depth = self.scopes.iter().rposition(|scope| scope.names.contains_key(name))?;
        let Some(Name::Vector(ty, lanes)) = self.scopes[depth].names.get(name) else { return None };
        let (ty, lanes) = (*ty, *lanes);
        if lane >= lanes {
            return None;
        }
        if let Some(reg) = self.scopes[depth].elements.get(&(name, lane)) {
            return Some(*reg);
        }
        let reg = self.new_register(&format!("{name}_{}", ["x", "y", "z", "w"][lane % 4]), ty);
        self.scopes[depth].elements.insert((name, lane), reg);
        Some(reg)
    }

    fn take_retired_param(&mut self, name: &'a str, variable: &Variable) -> Option<LocalId> {
        self.retired_params.get_mut(&param_shape(name, variable)?)?.pop()
    }

    /// `name`, or with a free `$N` appended.
    pub fn unique_name(&mut self, name: &str) -> String {
        let mut candidate = name.to_string();
        while !self.used.insert(candidate.clone()) {
            self.next_suffix += 1;
            candidate = format!("{name}${}", self.next_suffix);
        }
        candidate
    }

    /// Have more registers been used than can be kept?
    pub fn too_many_registers(&self) -> bool {
        self.body.registers.len() > MAX_REGISTERS
    }

    fn link_inlined(&self, location: &mut Location) {
        if let Some(inlined) = &mut location.inlined_at {
            let place = (inlined.file, inlined.line, inlined.column);
            inlined.parent = self.places.get(&place).copied();
        }
    }

    fn open_scope(&mut self) {
        let outer = self.scopes.last().map(|scope| scope.labels);
        let labels = added(&mut self.labels, Labels { outer, ..Labels::default() });
        self.scopes.push(Scope { labels, ..Scope::default() });
    }

    fn close_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for (name, meaning) in scope.names {
            match meaning {
                Name::Reg(reg) => {
                    let ty = self.body.registers[reg.index()].ty;
                    self.retired_regs.entry((name, ty)).or_default().push(reg);
                }
                Name::Symbol(Symbol::Local(id)) => {
                    if let Some(shape) = param_shape(name, &self.body.variables[id.index()]) {
                        self.retired_params.entry(shape).or_default().push(id);
                    }
                }
                _ => {}
            }
        }
    }
}

/// What must agree for two call parameters to share their memory; `None` for other variables.
fn param_shape<'a>(name: &'a str, variable: &Variable) -> Option<ParamShape<'a>> {
    let shape = (name, variable.ty, variable.align_bytes, variable.dims.clone());
    (variable.space == Space::Param && variable.vector_len == 1).then_some(shape)
}

impl Scope<'_> {
    /// The type of `name` if a range such as `%r<10>` declares it.
    fn range_type(&self, name: &str) -> Option<ScalarType> {
        if self.ranges.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // `%r1<10>` declares `%r10` to `%r19`, so every split of the digits counts.
        for length in 1..=digits.min(10) {
            let (prefix, number) = name.split_at(name.len() - length);
            if let Some((count, ty)) = self.ranges.get(prefix)
                && (length == 1 || !number.starts_with('0'))
                && number.parse::<u32>().is_ok_and(|number| number < *count)
            {
                return Some(*ty);
            }
        }
        None
    }
}
