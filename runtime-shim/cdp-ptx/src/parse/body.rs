//! The inside of a function: nested scopes, declarations, labels, statements.
//!
//! Scopes are flattened: names that clash with one of another scope get a `$1`, `$2`, ... appended.
//! Registers and call parameters of scopes that lie side by side are shared when name and type
//! agree, since their lives do not overlap.

use std::collections::{HashMap, HashSet};

use super::lexer::{Tok, Token};
use super::{Parser, Result, added};
use crate::error::ErrorKind;
use crate::inst::Inst;
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
    /// A variable.
    Local(LocalId),
    /// The function's parameter.
    Param(u32),
    /// The function's return parameter.
    Return(u32),
    /// `.callprototype`
    Prototype(PrototypeId),
    /// `.branchtargets`
    Branches(BranchTableId),
    /// `.calltargets`
    Calls(CallTableId),
}

/// A label that has been mentioned or defined in some scope.
#[derive(Clone, Debug)]
struct LabelSlot<'a> {
    name: &'a str,
    /// Where it is, once known.
    position: Option<u32>,
    /// The slot of an outer scope that this mention turned out to mean.
    outer: Option<u32>,
    /// First mention.
    token: Token<'a>,
    /// Order of definition.
    order: u32,
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    /// `%r<100>`: prefix to count and type.
    ranges: HashMap<&'a str, (u32, ScalarType)>,
    labels: HashMap<&'a str, u32>,
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
    slots: Vec<LabelSlot<'a>>,
    labels_defined: u32,
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
        let scopes = vec![Scope::default()];
        self.st = FunctionState { id, scopes, ..FunctionState::default() };
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
                let name = if let ParamStorage::Register(slot) = &mut param.storage {
                    let register = Register { name: param.name.clone(), ty: param.ty };
                    let reg = Reg(added(&mut self.st.body.registers, register));
                    *slot = Some(reg);
                    let lanes = list.iter().filter(|other| other.start == token.start).count();
                    if lanes > 1 {
                        // A vector: its elements are parameters of their own.
                        let lane =
                            list[..position].iter().filter(|t| t.start == token.start).count();
                        let ty = param.ty;
                        self.st.used.insert(param.name.clone());
                        self.st.scopes[0].elements.insert((token.text, lane), reg);
                        self.st.scopes[0].names.insert(token.text, Name::Vector(ty, lanes));
                        continue;
                    }
                    Name::Reg(reg)
                } else if is_return {
                    Name::Return(position as u32)
                } else {
                    Name::Param(position as u32)
                };
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
                self.st.scopes.push(Scope::default());
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
            parser.declare(&name, Name::Local(id))
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
                let targets = self.after_word(Self::label_name)?;
                let table = BranchTable { name: self.st.unique_name(name.text), targets };
                Name::Branches(BranchTableId(added(&mut self.st.body.branch_tables, table)))
            }
            "calltargets" => {
                let functions = self.after_word(Self::function_name)?;
                let table = CallTable { name: self.st.unique_name(name.text), functions };
                Name::Calls(CallTableId(added(&mut self.st.body.call_tables, table)))
            }
            _ => {
                let slot = self.st.label_slot(name);
                let position = self.st.body.instructions.len() as u32;
                let order = self.st.labels_defined;
                let entry = &mut self.st.slots[slot as usize];
                if entry.position.is_some() {
                    return self.redefinition(&name, "the label is defined twice");
                }
                entry.position = Some(position);
                entry.order = order;
                self.st.labels_defined += 1;
                return Ok(());
            }
        };
        self.declare(&name, meaning)
    }

    /// The list between a directive's word and its semicolon.
    fn after_word<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.next()?;
        let list = self.list(item)?;
        self.expect(b';')?;
        Ok(list)
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
        Ok(self.st.mention_label(name))
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

    /// Turns label slots into the final table, numbered in the order of the text.
    fn bind_labels(&mut self) -> Result<()> {
        let mut table: Vec<Option<Label>> = vec![None; self.st.labels_defined as usize];
        for index in 0..self.st.slots.len() {
            let slot = &self.st.slots[index];
            if slot.outer.is_some() {
                continue;
            }
            let Some(position) = slot.position else {
                fail!(self, slot.token, UnknownName, "the label {} is not defined", slot.token);
            };
            let (order, source_name) = (slot.order as usize, slot.name);
            table[order] = Some(Label { name: source_name.to_string(), position });
        }
        // Named in the order of the text, so that a printed text gives the same names again.
        self.st.body.labels = table.into_iter().flatten().collect();
        for index in 0..self.st.body.labels.len() {
            let name = std::mem::take(&mut self.st.body.labels[index].name);
            self.st.body.labels[index].name = self.st.unique_name(&name);
        }
        let slots = &self.st.slots;
        let resolve = |label: &mut LabelId| {
            let mut slot = label.0;
            while let Some(outer) = slots[slot as usize].outer {
                slot = outer;
            }
            label.0 = slots[slot as usize].order;
        };
        for table in &mut self.st.body.branch_tables {
            table.targets.iter_mut().for_each(resolve);
        }
        for instruction in &mut self.st.body.instructions {
            if let Inst::Bra { target, .. } = &mut instruction.inst {
                resolve(target);
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

    /// A use of a label: a slot of this scope, bound when the scope ends.
    pub fn mention_label(&mut self, token: Token<'a>) -> LabelId {
        LabelId(self.label_slot(token))
    }

    fn label_slot(&mut self, token: Token<'a>) -> u32 {
        let fresh = self.slots.len() as u32;
        let slot = *self.scope().labels.entry(token.text).or_insert(fresh);
        if slot == fresh {
            let entry =
                LabelSlot { name: token.text, position: None, outer: None, token, order: 0 };
            self.slots.push(entry);
        }
        slot
    }

    fn close_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for (name, meaning) in scope.names {
            match meaning {
                Name::Reg(reg) => {
                    let ty = self.body.registers[reg.index()].ty;
                    self.retired_regs.entry((name, ty)).or_default().push(reg);
                }
                Name::Local(id) => {
                    if let Some(shape) = param_shape(name, &self.body.variables[id.index()]) {
                        self.retired_params.entry(shape).or_default().push(id);
                    }
                }
                _ => {}
            }
        }
        if self.scopes.is_empty() {
            return;
        }
        let mut open: Vec<(&str, u32)> = scope
            .labels
            .into_iter()
            .filter(|(_, slot)| self.slots[*slot as usize].position.is_none())
            .collect();
        // A hash map's order differs from run to run; nothing else may.
        open.sort_by_key(|(_, slot)| *slot);
        for (_, slot) in open {
            let token = self.slots[slot as usize].token;
            let outer = self.label_slot(token);
            self.slots[slot as usize].outer = Some(outer);
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
