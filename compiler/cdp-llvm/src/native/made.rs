//! The values of a stretch as code: each is written once, where it is first wanted, for one lane or for those of a
//! vector.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::arith;
use super::context::*;
use super::graph::{Id, Source, Stretch};
use super::read::{Alu, Shape};
use super::steps::Steps;
use super::write::{Writer, vector};

/// What must hold for the branches of a stretch to be passed.
pub struct Passed {
    /// Conditions.
    pub holds: Vec<String>,
    /// A sum over the loop, negative in a lane where it may not be.
    pub leave: Option<String>,
}

/// Whether a number's NaNs are canonical, as the registers of the device have them, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nans {
    Any,
    Canonical,
}

/// Values that have been written.
pub struct Made<'a> {
    stretch: &'a Stretch,
    /// Lanes of a vector of 32-bit values.
    lanes: usize,
    /// By how many lanes.
    known: BTreeMap<(Id, usize, Nans), String>,
    /// Constants of which LLVM must not know that they are.
    hidden: BTreeMap<Id, String>,
    /// Which values are wanted, by kind.
    wanted: [Vec<bool>; 2],
    /// Code for one lane, and for several.
    pub code: [String; 2],
    /// Name of the loop, when it has begun.
    name: String,
}

impl<'a> Made<'a> {
    /// Nothing was written yet.
    pub fn new(stretch: &'a Stretch, lanes: usize) -> Made<'a> {
        Made {
            stretch,
            lanes,
            known: BTreeMap::new(),
            hidden: BTreeMap::new(),
            wanted: wanted(stretch),
            code: Default::default(),
            name: String::new(),
        }
    }

    /// The values that the loop makes for rows and stores, operands first.
    pub fn needed_by_the_loop(&self) -> Vec<Id> {
        let wanted = |id: &Id| self.is_wanted(*id) && !self.stretch.values[*id].uniform;
        (0..self.stretch.values.len()).filter(wanted).collect()
    }

    fn is_wanted(&self, id: Id) -> bool {
        self.wanted.iter().any(|wanted| wanted[id])
    }

    /// Makes what rows and stores need of values that are the same in all lanes.
    pub fn begin(&mut self, names: &mut u32) {
        for id in 0..self.stretch.values.len() {
            if self.is_wanted(id) && self.stretch.values[id].uniform {
                self.of_kinds(id, 1, names);
            }
        }
    }

    /// Makes a value for a vector's lanes.
    pub fn make(&mut self, id: Id, names: &mut u32) {
        self.of_kinds(id, self.lanes, names);
    }

    /// What a load brought, for a vector's lanes.
    pub fn loaded(&mut self, id: Id, value: String) {
        self.known.insert((id, self.lanes, Nans::Canonical), value);
    }

    fn of_kinds(&mut self, id: Id, lanes: usize, names: &mut u32) {
        for nans in [Nans::Any, Nans::Canonical] {
            if self.wanted[nans as usize][id] {
                self.of_kind(id, lanes, nans, names);
            }
        }
    }

    fn writer<'w>(&'w mut self, lanes: usize, names: &'w mut u32) -> Writer<'w> {
        Writer::new(&mut self.code[usize::from(lanes != 1)], names, lanes)
    }

    /// The code for several lanes is the body of this loop.
    pub fn begin_loop(&mut self, name: &str) {
        self.name = name.to_string();
        let bits = self.lanes.ilog2();
        let code = &mut self.code[1];
        let _ = write!(
            code,
            "  %{name}c32 = shl i64 %{name}c, {}\n  %{name}c64 = shl i64 %{name}c, {}\n  \
             %{name}c1 = shl i64 %{name}c, {}\n  \
             %{name}n = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c32\n  \
             %{name}w = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c64\n  \
             %{name}p = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c1\n",
            bits + 2,
            bits + 3,
            bits - 3,
        );
    }

    /// The address of a row's part for the lanes at hand.
    fn row_at(&mut self, row: u32, shape: Shape, lanes: usize, names: &mut u32) -> String {
        let base = match (lanes, shape) {
            (1, _) => format!("%field{REGISTERS}"),
            (_, Shape::Narrow) => format!("%{}n", self.name),
            (_, Shape::Wide) => format!("%{}w", self.name),
            (_, Shape::Pred) => format!("%{}p", self.name),
        };
        let bytes = u64::from(row) * 4;
        self.writer(lanes, names).set(format_args!("getelementptr i8, ptr {base}, i64 {bytes}"))
    }

    /// A value for so many lanes, written where it is not yet; that of the first lane for one.
    pub fn value(&mut self, id: Id, lanes: usize, names: &mut u32) -> String {
        self.of_kind(id, lanes, Nans::Canonical, names)
    }

    fn of_kind(&mut self, id: Id, lanes: usize, nans: Nans, names: &mut u32) -> String {
        let value = &self.stretch.values[id];
        let nans = match &value.source {
            Source::Alu(alu, _) if arith::makes_nans(alu) => nans,
            _ => Nans::Canonical,
        };
        if let Some(name) = self.known.get(&(id, lanes, nans)) {
            return name.clone();
        }
        let name = if value.uniform && lanes != 1 {
            self.spread(id, lanes, nans, names)
        } else {
            self.compute(id, lanes, nans, names)
        };
        self.known.insert((id, lanes, nans), name.clone());
        name
    }

    /// A value that is the same in all lanes, for several.
    fn spread(&mut self, id: Id, lanes: usize, nans: Nans, names: &mut u32) -> String {
        let value = &self.stretch.values[id];
        if let Source::Constant(number) = value.source {
            return format!("splat ({} {})", value.shape.ty(), text_of(number, value.shape));
        }
        let one = self.of_kind(id, 1, nans, names);
        self.writer(lanes, names).broadcast(value.shape.ty(), &one)
    }

    fn compute(&mut self, id: Id, lanes: usize, nans: Nans, names: &mut u32) -> String {
        let value = &self.stretch.values[id];
        let shape = value.shape;
        match &value.source {
            Source::Constant(number) => text_of(*number, shape),
            Source::Row(row) | Source::SameRow(row) => self.load_row(*row, shape, lanes, names),
            Source::Tid(axis) => {
                let bytes = axis * 128;
                let name = self.name.clone();
                let mut w = self.writer(lanes, names);
                let at = w.set(format_args!("getelementptr i8, ptr %field{TID}, i64 {bytes}"));
                let at = match lanes {
                    1 => at,
                    _ => w.set(format_args!("getelementptr i8, ptr {at}, i64 %{name}c32")),
                };
                let ty = w.ty("i32");
                w.set(format_args!("load {ty}, ptr {at}, align 4"))
            }
            Source::Uniform(field, axis) => {
                let mut w = self.writer(1, names);
                let at =
                    w.set(format_args!("getelementptr i8, ptr %field{field}, i64 {}", axis * 4));
                w.set(format_args!("load i32, ptr {at}, align 4"))
            }
            Source::Parameter(offset) => {
                let mut w = self.writer(1, names);
                let at =
                    w.set(format_args!("getelementptr i8, ptr %field{PARAMETERS}, i64 {offset}"));
                w.set(format_args!("load {}, ptr {at}, align 1", shape.ty()))
            }
            Source::Alu(alu, args) => {
                let args = self.operands(alu, args, lanes, names);
                let mut w = self.writer(lanes, names);
                w.any_nan = nans == Nans::Any;
                // It was tried when the run was cut.
                arith::operation(&mut w, alu, &args).unwrap_or_else(|| "poison".to_string())
            }
            // The loop makes them before it makes others.
            Source::Load(_) => "poison".to_string(),
        }
    }

    fn operands(&mut self, alu: &Alu, args: &[Id], lanes: usize, names: &mut u32) -> Vec<String> {
        let opaque = arith::is_float(alu);
        let nans = if arith::sees_one_nan(alu) { Nans::Any } else { Nans::Canonical };
        let mut operand = |&arg: &Id| match opaque && self.is_number(arg) {
            true => self.opaque(arg, lanes, names),
            false => self.of_kind(arg, lanes, nans, names),
        };
        args.iter().map(&mut operand).collect()
    }

    /// A constant that is no predicate.
    fn is_number(&self, id: Id) -> bool {
        let value = &self.stretch.values[id];
        value.constant && value.shape != Shape::Pred
    }

    /// A constant of which LLVM must not know that it is one.
    fn opaque(&mut self, id: Id, lanes: usize, names: &mut u32) -> String {
        let value = &self.stretch.values[id];
        let ty = value.shape.ty();
        let hidden = match self.hidden.get(&id) {
            Some(name) => name.clone(),
            None => {
                let one = self.value(id, 1, names);
                let mut w = self.writer(1, names);
                w.set(format_args!("call {ty} asm \"\", \"=r,0\"({ty} {one})"))
            }
        };
        self.hidden.insert(id, hidden.clone());
        if lanes == 1 { hidden } else { self.writer(lanes, names).broadcast(ty, &hidden) }
    }

    /// Looks at the predicates of the branches; the sum over the loop of this name begins in `begin`.
    pub fn passed(
        &mut self,
        name: &str,
        steps: Option<&Steps>,
        begin: &mut String,
        names: &mut u32,
    ) -> Passed {
        let (mut holds, mut leave) = (Vec::new(), None);
        let lanes = self.lanes;
        for &(id, not) in &self.stretch.branches {
            let value = &self.stretch.values[id];
            if let Source::Row(row) = value.source {
                let at = self.row_at(row, Shape::Pred, 1, names);
                let mut w = self.writer(1, names);
                let bits = w.set(format_args!("load i32, ptr {at}, align 4"));
                holds.push(w.with("icmp eq", "i32", &bits, if not { -1 } else { 0 }));
                continue;
            }
            let ends = steps.and_then(|steps| steps.ends(id, self, names));
            if ends.is_some() || value.uniform {
                let bits = ends.unwrap_or_else(|| vec![self.value(id, 1, names)]);
                for bit in bits {
                    holds.push(self.writer(1, names).with("icmp eq", "i1", &bit, not.into()));
                }
                continue;
            }
            let bits = self.value(id, lanes, names);
            let mut w = self.writer(lanes, names);
            let bits = w.with("xor", "i1", &bits, i128::from(not));
            let words = w.cast("sext", "i1", &bits, "i32");
            let before = leave.unwrap_or_else(|| format!("%{name}leave"));
            leave = Some(w.two("or", "i32", &before, &words));
        }
        if let Some(sum) = &leave {
            let _ = writeln!(
                begin,
                "  %{name}leave = phi <{lanes} x i32> [ zeroinitializer, %{name}before ], [ {sum}, %{name}end ]"
            );
        }
        Passed { holds, leave }
    }

    /// Writes code for one lane, before the loop.
    pub fn scalar<T>(&mut self, names: &mut u32, write: impl FnOnce(&mut Writer<'_>) -> T) -> T {
        write(&mut self.writer(1, names))
    }

    /// Of what these are values.
    pub fn stretch(&self) -> &'a Stretch {
        self.stretch
    }

    fn load_row(&mut self, row: u32, shape: Shape, lanes: usize, names: &mut u32) -> String {
        let at = self.row_at(row, shape, lanes, names);
        let mut w = self.writer(lanes, names);
        if shape == Shape::Pred && lanes != 1 {
            let bits = w.set(format_args!("load i{lanes}, ptr {at}, align 1"));
            return w.set(format_args!("bitcast i{lanes} {bits} to <{lanes} x i1>"));
        }
        if shape == Shape::Pred {
            let bits = w.set(format_args!("load i32, ptr {at}, align 4"));
            return w.cast("trunc", "i32", &bits, "i1");
        }
        let ty = w.ty(shape.ty());
        w.set(format_args!("load {ty}, ptr {at}, align 4"))
    }

    /// Adds a vector's bits of a predicate to its word, which is stored behind the loop: who reads a word of which
    /// the parts were stored one by one waits until they have all left the processor.
    pub fn gather_bits(&mut self, row: u32, id: Id, begin: &mut String, names: &mut u32) {
        let lanes = self.lanes;
        let value = self.value(id, lanes, names);
        let name = self.name.clone();
        let sum = format!("%{name}b{row}");
        let _ = writeln!(begin, "  {sum} = phi i32 [ 0, %{name}before ], [ {sum}n, %{name}end ]");
        let mut w = self.writer(lanes, names);
        let bits = w.set(format_args!("bitcast <{lanes} x i1> {value} to i{lanes}"));
        let bits = w.set(format_args!("zext i{lanes} {bits} to i32"));
        let lane = w.set(format_args!("trunc i64 %{name}c to i32"));
        let lane = w.set(format_args!("shl i32 {lane}, {}", lanes.ilog2()));
        let moved = w.set(format_args!("shl i32 {bits}, {lane}"));
        let _ = writeln!(w.out, "  {sum}n = or i32 {sum}, {moved}");
    }

    /// Writes a row's part.
    pub fn write_row(&mut self, row: u32, id: Id, names: &mut u32) {
        let shape = self.stretch.values[id].shape;
        let value = self.value(id, self.lanes, names);
        let at = self.row_at(row, shape, self.lanes, names);
        let ty = vector(self.lanes, shape.ty());
        let _ = writeln!(self.code[1], "  store {ty} {value}, ptr {at}, align 4");
    }

    /// Puts a part of what is stored aside.
    pub fn keep(&mut self, id: Id, space: &str, name: &str, names: &mut u32) {
        let shape = self.stretch.values[id].shape;
        let value = self.value(id, self.lanes, names);
        let offset = if shape == Shape::Wide { "c64" } else { "c32" };
        let ty = vector(self.lanes, shape.ty());
        let mut w = self.writer(self.lanes, names);
        let at = w.set(format_args!("getelementptr i8, ptr {space}, i64 %{name}{offset}"));
        let _ = writeln!(w.out, "  store {ty} {value}, ptr {at}, align 32");
    }
}

/// The values that rows and stores need: with NaNs of any kind, and with canonical ones.
fn wanted(stretch: &Stretch) -> [Vec<bool>; 2] {
    let mut wanted = [(); 2].map(|()| vec![false; stretch.values.len()]);
    let stored = stretch.accesses.iter().filter_map(|placed| placed.stored);
    for id in stretch.results.iter().map(|(_, id)| *id).chain(stored) {
        wanted[Nans::Canonical as usize][id] = true;
    }
    // Operands come before what is made of them.
    for id in (0..stretch.values.len()).rev() {
        let Source::Alu(alu, args) = &stretch.values[id].source else { continue };
        if wanted.iter().any(|wanted| wanted[id]) {
            let any = arith::sees_one_nan(alu);
            for &arg in args {
                let made = matches!(&stretch.values[arg].source, Source::Alu(alu, _) if arith::makes_nans(alu));
                let nans = if any && made { Nans::Any } else { Nans::Canonical };
                wanted[nans as usize][arg] = true;
            }
        }
    }
    wanted
}

fn text_of(number: u64, shape: Shape) -> String {
    match shape {
        Shape::Pred => (number & 1 != 0).to_string(),
        Shape::Narrow => (number as u32).to_string(),
        Shape::Wide => number.to_string(),
    }
}
