//! A run cut into stretches, each a graph of values.
//!
//! A stretch is what may be computed a few lanes at a time: its loads come before its stores to the same memory, and no address in
//! it depends on what it loads, so that all addresses can be looked at before anything is written. What
//! only the interpreter does is a stretch by itself. Branches are looked at before anything is written too; one
//! that cannot be, and one that comes late, begins the next stretch: where lanes take it, what precedes it
//! is done.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arith;
use super::read::{Access, Alu, Line, Run, Shape};
use super::write::Writer;

/// Number of a value in its stretch.
pub type Id = usize;

/// Where a value comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// What was in the row when the stretch began.
    Row(u32),
    /// The same in all lanes.
    SameRow(u32),
    /// A number.
    Constant(u64),
    /// `%tid` on an axis.
    Tid(u32),
    /// Field of the context and axis.
    Uniform(u32, u32),
    /// A parameter at an offset.
    Parameter(u32),
    /// Arithmetic.
    Alu(Alu, Vec<Id>),
    /// What this access loads, by its place in [`Stretch::accesses`].
    Load(usize),
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where it comes from.
    pub source: Source,
    /// What it is.
    pub shape: Shape,
    /// One for all lanes.
    pub uniform: bool,
    /// Known before the program runs.
    pub constant: bool,
}

/// An access of a stretch.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The access.
    pub access: Access,
    /// Its addresses.
    pub address: Id,
    /// What a store stores.
    pub stored: Option<Id>,
}

/// Instructions that are computed together.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// How many instructions of the run precede it.
    pub first: usize,
    /// All values, operands before what is made of them.
    pub values: Vec<Value>,
    /// Its accesses, in order: loads first.
    pub accesses: Vec<Placed>,
    /// What is in rows afterwards, as far as somebody reads it.
    pub results: Vec<(u32, Id)>,
    /// Bytes of parameters that it wants to be there.
    pub parameter_bytes: u64,
    /// Predicates that must be this in all lanes.
    pub branches: Vec<(Id, bool)>,
}

/// A part of a run.
#[derive(Clone, Debug)]
pub enum Part {
    /// Native code.
    Native(Stretch),
    /// One instruction for the interpreter.
    Interpreted(usize),
}

/// Cuts a run into its parts.
pub fn parts(run: &Run) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open = Open::new(run, 0);
    for (index, line) in run.lines.iter().enumerate() {
        let known = match line {
            Line::Alu(alu) => is_known(alu),
            _ => true,
        };
        if !known || open.must_end_before(line, index) {
            parts.extend(open.close(index));
            open = Open::new(run, index);
        }
        if known {
            open.add(line);
        } else {
            parts.push(Part::Interpreted(index));
            open = Open::new(run, index + 1);
        }
    }
    parts.extend(open.close(run.lines.len()));
    parts
}

fn is_known(alu: &Alu) -> bool {
    let args = vec!["poison".to_string(); alu.args.len()];
    let (mut out, mut names) = (String::new(), 0);
    let mut writer = Writer::new(&mut out, &mut names, 1);
    arith::operation(&mut writer, alu, &args).is_some()
}

/// As many instructions may be left to the interpreter because a lane takes a branch behind them.
const LOST: usize = 16;

struct Open<'a> {
    run: &'a Run,
    stretch: Stretch,
    rows: BTreeMap<u32, Id>,
    /// Values that do not come from what is in this row now, but were there.
    made: HashMap<(u32, Shape), Id>,
    loaded: BTreeSet<Id>,
    /// It stores to global memory, to shared memory: nothing lies in both.
    stores: [bool; 2],
    empty: bool,
}

impl<'a> Open<'a> {
    fn new(run: &'a Run, first: usize) -> Open<'a> {
        let stretch = Stretch { first, ..Stretch::default() };
        let (rows, made, loaded) = Default::default();
        Open { run, stretch, rows, made, loaded, stores: [false; 2], empty: true }
    }

    fn must_end_before(&self, line: &Line, index: usize) -> bool {
        let is_loaded = |row: &u32| self.rows.get(row).is_some_and(|id| self.loaded.contains(id));
        match line {
            Line::Access(access) => {
                is_loaded(&access.a)
                    || !access.store && self.stores[usize::from(access.is_shared())]
            }
            Line::Branch(row, _) => {
                let late = index - self.stretch.first > LOST;
                is_loaded(row) || self.stores.contains(&true) || late
            }
            _ => false,
        }
    }

    fn put(&mut self, source: Source, shape: Shape, uniform: bool, constant: bool) -> Id {
        self.stretch.values.push(Value { source, shape, uniform, constant });
        self.stretch.values.len() - 1
    }

    /// What is in a row.
    fn row(&mut self, row: u32, shape: Shape) -> Id {
        if let Some(id) = self.rows.get(&row).or_else(|| self.made.get(&(row, shape))) {
            return *id;
        }
        let id = match self.run.constants.get(&row) {
            Some(&value) => self.put(Source::Constant(value), shape, true, true),
            None if self.run.same.contains(&row) => {
                self.put(Source::SameRow(row), shape, true, false)
            }
            None => self.put(Source::Row(row), shape, false, false),
        };
        self.made.insert((row, shape), id);
        id
    }

    fn add(&mut self, line: &Line) {
        self.empty = false;
        let (row, id) = match line {
            Line::Tid(axis, row) => {
                (*row, self.put(Source::Tid(*axis), Shape::Narrow, false, false))
            }
            Line::Uniform(field, axis, row) => {
                (*row, self.put(Source::Uniform(*field, *axis), Shape::Narrow, true, false))
            }
            Line::Parameter(bytes, row, offset) => {
                let end = u64::from(*offset) + u64::from(*bytes);
                self.stretch.parameter_bytes = self.stretch.parameter_bytes.max(end);
                let shape = if *bytes == 8 { Shape::Wide } else { Shape::Narrow };
                (*row, self.put(Source::Parameter(*offset), shape, true, false))
            }
            Line::Alu(alu) => {
                let args: Vec<Id> =
                    alu.args.iter().map(|&(row, shape)| self.row(row, shape)).collect();
                let Some(shape) = alu.result else { return };
                let all = |test: fn(&Value) -> bool| {
                    args.iter().all(|&id| test(&self.stretch.values[id]))
                };
                let (uniform, constant) = (all(|v| v.uniform), all(|v| v.constant));
                let depends = args.iter().any(|id| self.loaded.contains(id));
                let id = match alu.name.as_str() {
                    "Mov32" | "Mov64" => args[0],
                    _ => self.put(Source::Alu(alu.clone(), args), shape, uniform, constant),
                };
                if depends {
                    self.loaded.insert(id);
                }
                (alu.d, id)
            }
            Line::Branch(row, not) => {
                let id = self.row(*row, Shape::Pred);
                self.stretch.branches.push((id, *not));
                return;
            }
            Line::Access(access) => {
                let address = self.row(access.a, access.address());
                let stored = access.store.then(|| self.row(access.d, access.value()));
                self.stretch.accesses.push(Placed { access: *access, address, stored });
                self.stores[usize::from(access.is_shared())] |= access.store;
                if access.store {
                    return;
                }
                let source = Source::Load(self.stretch.accesses.len() - 1);
                let id = self.put(source, access.value(), false, false);
                self.loaded.insert(id);
                (access.d, id)
            }
        };
        self.rows.insert(row, id);
    }

    /// Ends the stretch before this instruction of the run.
    fn close(mut self, end: usize) -> Option<Part> {
        if self.empty {
            return None;
        }
        let kept = self.rows.iter().filter(|(row, _)| is_read(self.run, **row, end));
        self.stretch.results = kept.map(|(row, id)| (*row, *id)).collect();
        Some(Part::Native(self.stretch))
    }
}

/// Whether what is in a row before this instruction is of use.
fn is_read(run: &Run, row: u32, from: usize) -> bool {
    for (index, line) in run.lines.iter().enumerate().skip(from) {
        if line.reads().contains(&row) {
            return true;
        }
        if matches!(line, Line::Branch(..)) && !run.gone.contains(&(index, row)) {
            return true;
        }
        if line.writes() == Some(row) {
            return false;
        }
    }
    !run.dead.contains(&row)
}
