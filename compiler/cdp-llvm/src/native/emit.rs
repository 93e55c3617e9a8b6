//! LLVM IR of a run: a function that does its parts one after another, and gives how many instructions it did.
//!
//! Of a stretch first all addresses are looked at; where they are not as they should be, or
//! shared memory is not for native code, the function ends with what it has done so far. Then a loop computes
//! the values eight lanes at a time and writes rows, and stores follow in their order, each for all lanes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::arith;
use super::context::*;
use super::graph::{Id, Part, Source, Stretch};
use super::memory::Group;
use super::read::{Run, Shape};
use super::write::{Writer, vector};

/// Name of the function.
pub const ENTRY: &str = "cdp_native_run";
/// The text of a module with the run's function. `None` where the interpreter would do most of it.
pub fn module(run: &Run, parts: &[Part]) -> Option<String> {
    let interpreted = parts.iter().filter(|part| matches!(part, Part::Interpreted(_))).count();
    if interpreted * 2 > run.lines.len() {
        return None;
    }
    let mut f = Function::default();
    let _ = writeln!(f.body, "begin:");
    for (number, part) in parts.iter().enumerate() {
        f.part(number, part);
    }
    let _ = writeln!(f.body, "  ret i32 {}", run.lines.len());
    // The entry comes first: that is where code is called.
    let mut text = format!(
        "define i32 @{ENTRY}(ptr noalias %context) nounwind {{\nfields:\n{}{}  br label %begin\n{}}}\n\n",
        fields(),
        f.top,
        f.body
    );
    text += include_str!("prelude.ll");
    text += &super::memory::helpers();
    Some(text)
}

/// The fields of the context, as values.
fn fields() -> String {
    let mut text = String::new();
    let all = [
        (REGISTERS, "ptr"),
        (ALLOCATIONS, "ptr"),
        (SHARED, "i64"),
        (SHARED_BYTES, "i64"),
        (PARAMETERS, "ptr"),
        (PARAMETER_BYTES, "i64"),
        (TID, "ptr"),
        (CTAID, "ptr"),
        (NTID, "ptr"),
        (NCTAID, "ptr"),
        (INTERPRET, "ptr"),
        (FIND, "ptr"),
    ];
    for (field, ty) in all {
        let _ = writeln!(text, "  %at{field} = getelementptr i8, ptr %context, i64 {}", field * 8);
        let _ = writeln!(text, "  %field{field} = load {ty}, ptr %at{field}");
    }
    text
}

/// The function as far as it is written.
#[derive(Default)]
pub struct Function {
    /// Space on the stack.
    pub top: String,
    /// Everything else.
    pub body: String,
    names: u32,
}

impl Function {
    /// A line of the body.
    pub fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "  {text}");
    }

    /// A value in the body.
    pub fn set(&mut self, text: std::fmt::Arguments<'_>) -> String {
        self.with_writer(|w| w.set(text))
    }

    /// Writes into the body.
    pub fn with_writer<T>(&mut self, write: impl FnOnce(&mut Writer<'_>) -> T) -> T {
        write(&mut Writer { out: &mut self.body, names: &mut self.names, lanes: 1 })
    }

    /// A block of this name begins; the code before it goes there.
    pub fn block(&mut self, name: &str) {
        let _ = write!(self.body, "  br label %{name}\n{name}:\n");
    }

    /// Space on the stack.
    pub fn space(&mut self, bytes: u32) -> String {
        Writer { out: &mut self.top, names: &mut self.names, lanes: 1 }
            .set(format_args!("alloca [{bytes} x i8], align 32"))
    }

    fn part(&mut self, number: usize, part: &Part) {
        match part {
            Part::Interpreted(index) => {
                self.line(format_args!("call void %field{INTERPRET}(ptr %context, i32 {index})"));
            }
            Part::Native(stretch) => self.stretch(number, stretch),
        }
    }

    fn stretch(&mut self, number: usize, stretch: &Stretch) {
        let mut made = Made::new(stretch);
        let groups = Group::of(stretch);
        if stretch.parameter_bytes > 0 {
            let bytes = stretch.parameter_bytes;
            let there = self.set(format_args!("icmp uge i64 %field{PARAMETER_BYTES}, {bytes}"));
            self.go_on_if(&there, stretch.first);
        }
        // What the loop needs of values that are the same in all lanes.
        for id in made.needed_by_the_loop() {
            made.value(id, 1, &mut self.names);
        }
        self.body += &made.code[0];
        let addresses = self.addresses(number, stretch, &groups);
        let mut places = Vec::new();
        for (group, address) in groups.iter().zip(&addresses) {
            places.push(group.look(self, stretch, address));
        }
        if !stretch.branches.is_empty() {
            self.add_to(BRANCHES, &stretch.branches.len().to_string());
        }
        for (group, place) in groups.iter().zip(&places) {
            group.count(self, stretch, place);
            group.touch(self, stretch, place);
        }
        let spaces: Vec<Option<String>> = stretch
            .accesses
            .iter()
            .map(|access| access.stored.map(|_| self.space(access.access.bytes * 32)))
            .collect();
        self.values(number, stretch, &groups, &places, made, &spaces);
        for (index, placed) in stretch.accesses.iter().enumerate() {
            if let (Some(space), Some(at)) = (&spaces[index], Group::find(&groups, index)) {
                let label = format!("s{number}x{index}");
                groups[at].store(self, &places[at], &placed.access, space, &label);
            }
        }
    }

    /// Computes addresses: one for all lanes as a value, others in memory, with two values that are zeros if eight
    /// lanes follow each other and go to one place, in each eight. The function goes on if no lane takes a branch.
    fn addresses(&mut self, number: usize, stretch: &Stretch, groups: &[Group]) -> Vec<Addresses> {
        let name = format!("s{number}a");
        let mut made = Made::new(stretch);
        made.begin_loop(&name);
        let mut found = Vec::new();
        let mut begin = String::new();
        for (number, group) in groups.iter().enumerate() {
            if stretch.values[group.address].uniform {
                found.push(Addresses::Same(made.value(group.address, 1, &mut self.names)));
                continue;
            }
            let address = made.value(group.address, 8, &mut self.names);
            let space = self.space(256);
            let mut w = Writer { out: &mut made.code[1], names: &mut self.names, lanes: 8 };
            let (row, same) = (format!("{name}{number}r"), format!("{name}{number}s"));
            group.follow(&mut w, &address, &space, &name, [&row, &same]);
            for sum in [&row, &same] {
                let _ = writeln!(
                    begin,
                    "  %{sum} = phi <8 x i64> [ zeroinitializer, %{name}before ], [ %{sum}n, %{name}end ]"
                );
            }
            found.push(Addresses::Each {
                space,
                row: format!("%{row}n"),
                same: format!("%{same}n"),
            });
        }
        let passed = made.passed(&name, &mut begin, &mut self.names);
        self.body += &made.code[0];
        if !begin.is_empty() {
            self.around(&name, &begin, &made.code[1]);
        }
        for holds in &passed.holds {
            self.go_on_if(holds, stretch.first);
        }
        if let Some(lanes) = passed.leave {
            let any = self.set(format_args!("icmp slt <8 x i32> {lanes}, zeroinitializer"));
            let bits = self.set(format_args!("bitcast <8 x i1> {any} to i8"));
            let none = self.set(format_args!("icmp eq i8 {bits}, 0"));
            self.go_on_if(&none, stretch.first);
        }
        found
    }

    /// Adds to a number of the context.
    pub fn add_to(&mut self, field: u32, sum: &str) {
        let at = self.set(format_args!("getelementptr i8, ptr %context, i64 {}", field * 8));
        let before = self.set(format_args!("load i64, ptr {at}"));
        let after = self.set(format_args!("add i64 {before}, {sum}"));
        self.line(format_args!("store i64 {after}, ptr {at}"));
    }

    /// A loop over the lanes, eight at a time. `begin` is what stands at its head.
    fn around(&mut self, name: &str, begin: &str, body: &str) {
        let _ = write!(
            self.body,
            "  br label %{name}before\n{name}before:\n  br label %{name}\n{name}:\n  \
             %{name}c = phi i64 [ 0, %{name}before ], [ %{name}next, %{name}end ]\n{begin}{body}  \
             br label %{name}end\n{name}end:\n  %{name}next = add i64 %{name}c, 1\n  \
             %{name}more = icmp ult i64 %{name}next, 4\n  \
             br i1 %{name}more, label %{name}, label %{name}after\n{name}after:\n"
        );
    }

    /// The rest is done only if this holds; else this many instructions were done.
    pub fn go_on_if(&mut self, holds: &str, done: usize) {
        self.names += 1;
        let name = self.names;
        self.line(format_args!("br i1 {holds}, label %good{name}, label %bad{name}, !prof !0"));
        let _ = write!(self.body, "bad{name}:\n  ret i32 {done}\ngood{name}:\n");
    }

    /// The loop that computes values and writes rows.
    fn values(
        &mut self,
        number: usize,
        stretch: &Stretch,
        groups: &[Group],
        places: &[super::memory::Found],
        mut made: Made<'_>,
        spaces: &[Option<String>],
    ) {
        let name = format!("s{number}");
        made.begin_loop(&name);
        let needed = made.needed_by_the_loop();
        for id in needed {
            let load = match stretch.values[id].source {
                Source::Load(index) => Group::find(groups, index).map(|at| (index, at)),
                _ => None,
            };
            if let Some((index, at)) = load {
                let access = &stretch.accesses[index].access;
                let code = &mut made.code[1];
                let mut writer = Writer { out: code, names: &mut self.names, lanes: 8 };
                let label = format!("{name}x{index}");
                let value = groups[at].load(&mut writer, &places[at], access, &label, &name);
                made.known.insert((id, 8), value);
            } else {
                made.value(id, 8, &mut self.names);
            }
        }
        let (mut begin, mut after) = (String::new(), String::new());
        for &(row, id) in &stretch.results {
            if stretch.values[id].shape == Shape::Pred {
                made.gather_bits(row, id, &mut begin, &mut self.names);
                let at = row * 4;
                let _ = write!(
                    after,
                    "  %{name}b{row}at = getelementptr i8, ptr %field{REGISTERS}, i64 {at}\n  \
                     store i32 %{name}b{row}n, ptr %{name}b{row}at, align 4\n"
                );
            } else {
                made.write_row(row, id, &mut self.names);
            }
        }
        for (placed, space) in stretch.accesses.iter().zip(spaces) {
            if let (Some(id), Some(space)) = (placed.stored, space) {
                made.keep(id, space, &name, &mut self.names);
            }
        }
        self.around(&name, &begin, &made.code[1]);
        self.body += &after;
    }
}

/// Addresses of a group of accesses.
pub enum Addresses {
    /// One for all lanes.
    Same(String),
    /// 32 in memory, and what is zero if eight lanes follow each other, or go to one place.
    Each {
        /// Where.
        space: String,
        /// Follow.
        row: String,
        /// To one place.
        same: String,
    },
}

/// What must hold for the branches of a stretch to be passed.
struct Passed {
    /// Conditions.
    holds: Vec<String>,
    /// A sum over the loop, negative in a lane where it may not be.
    leave: Option<String>,
}

/// Values that have been written, by how many lanes.
struct Made<'a> {
    stretch: &'a Stretch,
    known: BTreeMap<(Id, usize), String>,
    /// Code for one lane, and for eight.
    code: [String; 2],
    /// Name of the loop, when it has begun.
    name: String,
}

impl Made<'_> {
    fn new(stretch: &Stretch) -> Made<'_> {
        Made { stretch, known: BTreeMap::new(), code: Default::default(), name: String::new() }
    }

    /// The values that rows and stores need, operands first.
    fn needed_by_the_loop(&self) -> Vec<Id> {
        let stretch = self.stretch;
        let mut needed = vec![false; stretch.values.len()];
        let stored = stretch.accesses.iter().filter_map(|placed| placed.stored);
        for id in stretch.results.iter().map(|(_, id)| *id).chain(stored) {
            needed[id] = true;
        }
        for id in (0..needed.len()).rev().filter(|id| needed[*id]).collect::<Vec<_>>() {
            self.mark(id, &mut needed);
        }
        let in_loop = !self.name.is_empty();
        let wanted = |id: &Id| needed[*id] && (in_loop != stretch.values[*id].uniform);
        (0..needed.len()).filter(wanted).collect()
    }

    fn mark(&self, id: Id, needed: &mut [bool]) {
        if let Source::Alu(_, args) = &self.stretch.values[id].source {
            for &arg in args {
                if !needed[arg] {
                    needed[arg] = true;
                    self.mark(arg, needed);
                }
            }
        }
    }

    fn writer<'w>(&'w mut self, lanes: usize, names: &'w mut u32) -> Writer<'w> {
        Writer { out: &mut self.code[usize::from(lanes != 1)], names, lanes }
    }

    fn begin_loop(&mut self, name: &str) {
        self.name = name.to_string();
        let code = &mut self.code[1];
        let _ = write!(
            code,
            "  %{name}c32 = shl i64 %{name}c, 5\n  %{name}c64 = shl i64 %{name}c, 6\n  \
             %{name}n = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c32\n  \
             %{name}w = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c64\n  \
             %{name}p = getelementptr i8, ptr %field{REGISTERS}, i64 %{name}c\n"
        );
    }

    /// The address of a row's part for the lanes at hand.
    fn row_at(&mut self, row: u32, shape: Shape, lanes: usize, names: &mut u32) -> String {
        let base = match (lanes, shape) {
            (8, Shape::Narrow) => format!("%{}n", self.name),
            (8, Shape::Wide) => format!("%{}w", self.name),
            (8, Shape::Pred) => format!("%{}p", self.name),
            _ => format!("%field{REGISTERS}"),
        };
        let bytes = u64::from(row) * 4;
        self.writer(lanes, names).set(format_args!("getelementptr i8, ptr {base}, i64 {bytes}"))
    }

    /// A value for so many lanes, written where it is not yet.
    fn value(&mut self, id: Id, lanes: usize, names: &mut u32) -> String {
        if let Some(name) = self.known.get(&(id, lanes)) {
            return name.clone();
        }
        let value = &self.stretch.values[id];
        let name = if value.uniform && lanes != 1 {
            self.spread(id, lanes, names)
        } else {
            self.compute(id, lanes, names)
        };
        self.known.insert((id, lanes), name.clone());
        name
    }

    /// A value that is the same in all lanes, for several.
    fn spread(&mut self, id: Id, lanes: usize, names: &mut u32) -> String {
        let value = &self.stretch.values[id];
        if let Source::Constant(number) = value.source {
            return format!("splat ({} {})", value.shape.ty(), text_of(number, value.shape));
        }
        let one = self.value(id, 1, names);
        self.writer(lanes, names).broadcast(value.shape.ty(), &one)
    }

    fn compute(&mut self, id: Id, lanes: usize, names: &mut u32) -> String {
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
                    8 => w.set(format_args!("getelementptr i8, ptr {at}, i64 %{name}c32")),
                    _ => at,
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
                let opaque = arith::is_float(alu);
                let args: Vec<String> = args
                    .iter()
                    .map(|&arg| match opaque && self.is_number(arg) {
                        true => self.opaque(arg, lanes, names),
                        false => self.value(arg, lanes, names),
                    })
                    .collect();
                // It was tried when the run was cut.
                arith::operation(&mut self.writer(lanes, names), alu, &args)
                    .unwrap_or_else(|| "poison".to_string())
            }
            // The loop makes them before it makes others.
            Source::Load(_) => "poison".to_string(),
        }
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
        let one = self.value(id, 1, names);
        let mut w = self.writer(lanes, names);
        let hidden = w.set(format_args!("call {ty} asm \"\", \"=r,0\"({ty} {one})"));
        if lanes == 1 { hidden } else { w.broadcast(ty, &hidden) }
    }

    /// Looks at the predicates of the branches; the sum over the loop of this name begins in `begin`.
    fn passed(&mut self, name: &str, begin: &mut String, names: &mut u32) -> Passed {
        let (mut holds, mut leave) = (Vec::new(), None);
        for &(id, not) in &self.stretch.branches {
            let value = &self.stretch.values[id];
            if let Source::Row(row) = value.source {
                let at = self.row_at(row, Shape::Pred, 1, names);
                let mut w = self.writer(1, names);
                let bits = w.set(format_args!("load i32, ptr {at}, align 4"));
                holds.push(w.with("icmp eq", "i32", &bits, if not { -1 } else { 0 }));
                continue;
            }
            if value.uniform {
                let bit = self.value(id, 1, names);
                holds.push(self.writer(1, names).with("icmp eq", "i1", &bit, i128::from(not)));
                continue;
            }
            let bits = self.value(id, 8, names);
            let mut w = self.writer(8, names);
            let bits = w.with("xor", "i1", &bits, i128::from(not));
            let lanes = w.cast("sext", "i1", &bits, "i32");
            let before = leave.unwrap_or_else(|| format!("%{name}leave"));
            leave = Some(w.two("or", "i32", &before, &lanes));
        }
        if let Some(sum) = &leave {
            let _ = writeln!(
                begin,
                "  %{name}leave = phi <8 x i32> [ zeroinitializer, %{name}before ], [ {sum}, %{name}end ]"
            );
        }
        Passed { holds, leave }
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

    /// Adds eight bits of a predicate to its word, which is stored behind the loop: who reads a word of which
    /// the parts were stored one by one waits until they have all left the processor.
    fn gather_bits(&mut self, row: u32, id: Id, begin: &mut String, names: &mut u32) {
        let value = self.value(id, 8, names);
        let name = self.name.clone();
        let sum = format!("%{name}b{row}");
        let _ = writeln!(begin, "  {sum} = phi i32 [ 0, %{name}before ], [ {sum}n, %{name}end ]");
        let mut w = self.writer(8, names);
        let bits = w.set(format_args!("bitcast <8 x i1> {value} to i8"));
        let bits = w.set(format_args!("zext i8 {bits} to i32"));
        let lane = w.set(format_args!("trunc i64 %{name}c to i32"));
        let lane = w.set(format_args!("shl i32 {lane}, 3"));
        let moved = w.set(format_args!("shl i32 {bits}, {lane}"));
        let _ = writeln!(w.out, "  {sum}n = or i32 {sum}, {moved}");
    }

    /// Writes a row's part.
    fn write_row(&mut self, row: u32, id: Id, names: &mut u32) {
        let shape = self.stretch.values[id].shape;
        let value = self.value(id, 8, names);
        let at = self.row_at(row, shape, 8, names);
        let w = self.writer(8, names);
        let _ = writeln!(w.out, "  store {} {value}, ptr {at}, align 4", vector(8, shape.ty()));
    }

    /// Puts a part of what is stored aside.
    fn keep(&mut self, id: Id, space: &str, name: &str, names: &mut u32) {
        let shape = self.stretch.values[id].shape;
        let value = self.value(id, 8, names);
        let offset = if shape == Shape::Wide { "c64" } else { "c32" };
        let mut w = self.writer(8, names);
        let at = w.set(format_args!("getelementptr i8, ptr {space}, i64 %{name}{offset}"));
        let _ = writeln!(w.out, "  store {} {value}, ptr {at}, align 32", vector(8, shape.ty()));
    }
}

fn text_of(number: u64, shape: Shape) -> String {
    match shape {
        Shape::Pred => (number & 1 != 0).to_string(),
        Shape::Narrow => (number as u32).to_string(),
        Shape::Wide => number.to_string(),
    }
}
