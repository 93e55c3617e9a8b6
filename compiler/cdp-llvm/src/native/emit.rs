//! LLVM IR of a run: a function that does its parts one after another, and gives how many instructions it did.
//!
//! Of a stretch first all addresses are looked at; where they are not as they should be, or
//! shared memory is not for native code, the function ends with what it has done so far. Then a loop computes
//! the values some lanes at a time, as many as a vector has, and writes rows, and stores follow in their order,
//! each for all lanes. Where lanes that count the threads one by one are known to go to elements that follow each
//! other ([`Steps`]), a stretch is there twice: with and without looking at all addresses.

use std::fmt::Write;

use super::context::*;
use super::graph::{Part, Source, Stretch};
use super::made::Made;
use super::memory::{Found, Group};
use super::read::{Run, Shape};
use super::steps::Steps;
use super::write::Writer;

/// Name of the function.
pub const ENTRY: &str = "cdp_native_run";
/// The text of a module with the run's function, for vectors of so many lanes of 32 bits. `None` where the
/// interpreter would do most of it.
pub fn module(run: &Run, parts: &[Part], lanes: usize) -> Option<String> {
    let interpreted = parts.iter().filter(|part| matches!(part, Part::Interpreted(_))).count();
    if interpreted * 2 > run.lines.len() {
        return None;
    }
    let mut f = Function { lanes, top: String::new(), body: String::new(), names: 0 };
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
    text += &super::memory::helpers(lanes);
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
        (IN_STEP, "i64"),
    ];
    for (field, ty) in all {
        let _ = writeln!(text, "  %at{field} = getelementptr i8, ptr %context, i64 {}", field * 8);
        let _ = writeln!(text, "  %field{field} = load {ty}, ptr %at{field}");
    }
    text
}

/// The function as far as it is written.
pub struct Function {
    /// Lanes of a vector of 32-bit values.
    pub lanes: usize,
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
        write(&mut Writer::new(&mut self.body, &mut self.names, 1))
    }

    /// A block of this name begins; the code before it goes there.
    pub fn block(&mut self, name: &str) {
        let _ = write!(self.body, "  br label %{name}\n{name}:\n");
    }

    /// Space on the stack.
    pub fn space(&mut self, bytes: u32) -> String {
        Writer::new(&mut self.top, &mut self.names, 1)
            .set(format_args!("alloca [{bytes} x i8], align 64"))
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
        if stretch.parameter_bytes > 0 {
            let bytes = stretch.parameter_bytes;
            let there = self.set(format_args!("icmp uge i64 %field{PARAMETER_BYTES}, {bytes}"));
            self.go_on_if(&there, stretch.first);
        }
        let (name, quick) = (format!("s{number}"), format!("t{number}"));
        let Some((known, steps)) = Steps::of(stretch) else {
            return self.version(&name, stretch, Made::new(stretch, self.lanes), None);
        };
        let mut made = Made::new(&known, self.lanes);
        let hold = steps.hold(&mut made, &mut self.names);
        self.body += &std::mem::take(&mut made.code[0]);
        self.line(format_args!("br i1 {hold}, label %{quick}in, label %{quick}other, !prof !0"));
        let _ = writeln!(self.body, "{quick}in:");
        self.version(&quick, &known, made, Some(&steps));
        let _ = write!(self.body, "  br label %{quick}done\n{quick}other:\n");
        self.version(&name, stretch, Made::new(stretch, self.lanes), None);
        self.block(&format!("{quick}done"));
    }

    /// The code of a stretch, whose labels begin with this name. `steps`: what is known where this code is
    /// reached.
    fn version(
        &mut self,
        name: &str,
        stretch: &Stretch,
        mut made: Made<'_>,
        steps: Option<&Steps>,
    ) {
        let groups = Group::of(stretch);
        // What the loop needs of values that are the same in all lanes.
        made.begin(&mut self.names);
        self.body += &std::mem::take(&mut made.code[0]);
        let addresses = self.addresses(name, stretch, &groups, steps);
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
        self.values(name, stretch, &groups, &places, made, &spaces);
        for (index, placed) in stretch.accesses.iter().enumerate() {
            if let (Some(space), Some(at)) = (&spaces[index], Group::find(&groups, index)) {
                let label = format!("{name}x{index}");
                groups[at].store(self, &places[at], &placed.access, space, &label);
            }
        }
    }

    /// Computes addresses: one for all lanes or the first of a row as a value, others in memory, with two values
    /// that are zeros if the lanes of each vector follow each other and go to one place. The function goes on if no
    /// lane takes a branch.
    fn addresses(
        &mut self,
        name: &str,
        stretch: &Stretch,
        groups: &[Group],
        steps: Option<&Steps>,
    ) -> Vec<Addresses> {
        let (name, lanes) = (format!("{name}a"), self.lanes);
        let mut made = Made::new(stretch, lanes);
        made.begin_loop(&name);
        let mut found = Vec::new();
        let mut begin = String::new();
        for (number, group) in groups.iter().enumerate() {
            if stretch.values[group.address].uniform {
                found.push(Addresses::Same(made.value(group.address, 1, &mut self.names)));
                continue;
            }
            if steps.is_some_and(|steps| steps.is_row(group)) {
                found.push(Addresses::Row(made.value(group.address, 1, &mut self.names)));
                continue;
            }
            let address = made.value(group.address, lanes, &mut self.names);
            let space = self.space(256);
            let mut w = Writer::new(&mut made.code[1], &mut self.names, lanes);
            let (row, same) = (format!("{name}{number}r"), format!("{name}{number}s"));
            group.follow(&mut w, &address, &space, &name, [&row, &same]);
            for sum in [&row, &same] {
                let _ = writeln!(
                    begin,
                    "  %{sum} = phi <{lanes} x i64> [ zeroinitializer, %{name}before ], [ %{sum}n, %{name}end ]"
                );
            }
            found.push(Addresses::Each {
                space,
                row: format!("%{row}n"),
                same: format!("%{same}n"),
            });
        }
        let passed = made.passed(&name, steps, &mut begin, &mut self.names);
        self.body += &made.code[0];
        if !begin.is_empty() {
            self.around(&name, &begin, &made.code[1]);
        }
        for holds in &passed.holds {
            self.go_on_if(holds, stretch.first);
        }
        if let Some(leave) = passed.leave {
            let any = self.set(format_args!("icmp slt <{lanes} x i32> {leave}, zeroinitializer"));
            let bits = self.set(format_args!("bitcast <{lanes} x i1> {any} to i{lanes}"));
            let none = self.set(format_args!("icmp eq i{lanes} {bits}, 0"));
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

    /// A loop over the lanes, a vector at a time. `begin` is what stands at its head.
    fn around(&mut self, name: &str, begin: &str, body: &str) {
        let _ = write!(
            self.body,
            "  br label %{name}before\n{name}before:\n  br label %{name}\n{name}:\n  \
             %{name}c = phi i64 [ 0, %{name}before ], [ %{name}next, %{name}end ]\n{begin}{body}  \
             br label %{name}end\n{name}end:\n  %{name}next = add i64 %{name}c, 1\n  \
             %{name}more = icmp ult i64 %{name}next, {}\n  \
             br i1 %{name}more, label %{name}, label %{name}after\n{name}after:\n",
            32 / self.lanes
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
        name: &str,
        stretch: &Stretch,
        groups: &[Group],
        places: &[Found],
        mut made: Made<'_>,
        spaces: &[Option<String>],
    ) {
        made.begin_loop(name);
        for id in made.needed_by_the_loop() {
            let load = match stretch.values[id].source {
                Source::Load(index) => Group::find(groups, index).map(|at| (index, at)),
                _ => None,
            };
            if let Some((index, at)) = load {
                let access = &stretch.accesses[index].access;
                let mut writer = Writer::new(&mut made.code[1], &mut self.names, self.lanes);
                let label = format!("{name}x{index}");
                let value = groups[at].load(&mut writer, &places[at], access, &label, name);
                made.loaded(id, value);
            } else {
                made.make(id, &mut self.names);
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
                made.keep(id, space, name, &mut self.names);
            }
        }
        self.body += &made.code[0];
        if !made.code[1].is_empty() {
            self.around(name, &begin, &made.code[1]);
        }
        self.body += &after;
    }
}

/// Addresses of a group of accesses.
pub enum Addresses {
    /// One for all lanes.
    Same(String),
    /// That of the first lane; the others follow.
    Row(String),
    /// 32 in memory, and what is zero if the lanes of each vector follow each other, or go to one place.
    Each {
        /// Where.
        space: String,
        /// Follow.
        row: String,
        /// To one place.
        same: String,
    },
}
