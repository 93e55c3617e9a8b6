//! What is known of values where the lanes of a warp count the threads of a block one by one along x, as they do
//! in most blocks: many step evenly from lane to lane, and addresses that step by the size of an element are a row,
//! whatever the first of them is. Code looks at the first lane alone then, and at the last where a sum of 32 bits
//! might have gone round before it was widened.

use std::collections::BTreeSet;

use super::arith;
use super::context::IN_STEP;
use super::graph::{Id, Source, Stretch, Value};
use super::made::Made;
use super::memory::Group;
use super::read::{Alu, Shape};

/// Steps of values larger than this are not of interest.
const LARGEST: i64 = 1 << 20;

/// How values of a stretch step.
pub struct Steps {
    /// From lane to lane, where it is known.
    steps: Vec<Option<i64>>,
    /// Values of 32 bits that must not go round from the first lane to the last; true: with a sign.
    straight: BTreeSet<(Id, bool)>,
}

impl Steps {
    /// The stretch with what is the same in all lanes where lanes count the threads. `None` if that makes no
    /// difference to its accesses.
    pub fn of(stretch: &Stretch) -> Option<(Stretch, Steps)> {
        let mut steps = Steps { steps: Vec::new(), straight: BTreeSet::new() };
        for value in &stretch.values {
            let step = steps.step(stretch, value).filter(|step| step.abs() <= LARGEST);
            steps.steps.push(step);
        }
        let groups = Group::of(stretch);
        let is_known = |group: &&Group| {
            let step = steps.steps[group.address];
            step == Some(0) || steps.is_row(group)
        };
        let unknown = |group: &&Group| !stretch.values[group.address].uniform;
        let known: Vec<Id> =
            groups.iter().filter(unknown).filter(is_known).map(|group| group.address).collect();
        if known.is_empty() {
            return None;
        }
        let mut better = stretch.clone();
        for (value, step) in better.values.iter_mut().zip(&steps.steps) {
            value.uniform |= *step == Some(0);
        }
        for id in 0..stretch.values.len() {
            if known.contains(&id) || better.values[id].uniform != stretch.values[id].uniform {
                steps.want(stretch, id);
            }
        }
        for &(id, _) in &stretch.branches {
            if let Some((_, signed, stepping, _)) = steps.comparison(stretch, id) {
                steps.straight.insert((stepping, signed));
                steps.want(stretch, stepping);
            }
        }
        Some((better, steps))
    }

    /// The accesses of the group go to elements that follow each other.
    pub fn is_row(&self, group: &Group) -> bool {
        self.steps[group.address] == Some(i64::from(group.bytes))
    }

    /// Writes whether all of this holds, which is about the first lane's values.
    pub fn hold(&self, made: &mut Made<'_>, names: &mut u32) -> String {
        let mut hold =
            made.scalar(names, |w| w.with("icmp ne", "i64", &format!("%field{IN_STEP}"), 0));
        for &(id, signed) in &self.straight {
            let first = made.value(id, 1, names);
            let rest = 31 * self.steps[id].unwrap_or(0);
            let extend = if signed { "sext" } else { "zext" };
            hold = made.scalar(names, |w| {
                let first = w.cast(extend, "i32", &first, "i64");
                let last = w.with("add", "i64", &first, rest.into());
                let narrow = w.cast("trunc", "i64", &last, "i32");
                let again = w.cast(extend, "i32", &narrow, "i64");
                let same = w.two("icmp eq", "i64", &last, &again);
                w.two("and", "i1", &hold, &same)
            });
        }
        hold
    }

    /// A predicate in the first lane and in the last, if those between hold no other: the order of a value that
    /// steps and of one that does not.
    pub fn ends(&self, id: Id, made: &mut Made<'_>, names: &mut u32) -> Option<Vec<String>> {
        let stretch = made.stretch();
        let (alu, _, stepping, args) = self.comparison(stretch, id)?;
        let first: Vec<String> = args.iter().map(|&arg| made.value(arg, 1, names)).collect();
        let mut last = first.clone();
        let at = args.iter().position(|arg| *arg == stepping)?;
        let rest = 31 * self.steps[stepping]?;
        last[at] = made.scalar(names, |w| w.with("add", "i32", &first[at], rest.into()));
        [first, last]
            .iter()
            .map(|args| made.scalar(names, |w| arith::operation(w, alu, args)))
            .collect()
    }

    /// A comparison by size of a value that steps: with a sign or not, the value, both operands.
    fn comparison<'s>(
        &self,
        stretch: &'s Stretch,
        id: Id,
    ) -> Option<(&'s Alu, bool, Id, &'s [Id])> {
        let Source::Alu(alu, args) = &stretch.values[id].source else { return None };
        let signed = match alu.name.as_str() {
            "CmpS32" => true,
            "CmpU32" => false,
            _ => return None,
        };
        let is_order = (2..=5).contains(&alu.flags);
        let steps: Vec<i64> = args.iter().map(|&arg| self.steps[arg]).collect::<Option<_>>()?;
        match steps.as_slice() {
            [a, 0] if is_order && *a != 0 => Some((alu, signed, args[0], args)),
            [0, b] if is_order && *b != 0 => Some((alu, signed, args[1], args)),
            _ => None,
        }
    }

    /// How a value steps, if what it is made of is known, and does not go round.
    fn step(&self, stretch: &Stretch, value: &Value) -> Option<i64> {
        let (alu, args) = match &value.source {
            Source::Tid(axis) => return Some(i64::from(*axis == 0)),
            Source::Alu(alu, args) => (alu, args),
            _ => return value.uniform.then_some(0),
        };
        let steps: Vec<i64> = args.iter().map(|&arg| self.steps[arg]).collect::<Option<_>>()?;
        if steps.iter().all(|step| *step == 0) {
            return Some(0);
        }
        let number = |at: usize| constant(&stretch.values[args[at]]);
        let product = || match (steps[0], steps[1]) {
            (0, 0) => Some(0),
            (0, b) => number(0)?.checked_mul(b),
            (a, 0) => number(1)?.checked_mul(a),
            _ => None,
        };
        match alu.name.as_str() {
            "Add32" | "Add64" => Some(steps[0] + steps[1]),
            "Sub32" | "Sub64" => Some(steps[0] - steps[1]),
            "Neg32" | "Neg64" | "Not32" | "Not64" => Some(-steps[0]),
            "MulLo32" | "MulLo64" | "MulWideS32" => product(),
            "MulWideU32" => is_small(args, stretch).then(product)?,
            "MadLo32" | "MadLo64" | "MadWideS32" => Some(product()? + steps[2]),
            "MadWideU32" => Some(is_small(args, stretch).then(product)?? + steps[2]),
            "Shl32" | "Shl64" if steps[1] == 0 => {
                let by = number(1).filter(|by| (0..=20).contains(by))?;
                Some(steps[0] << by)
            }
            "U32To64" | "S32To64" | "Lo64" => Some(steps[0]),
            _ => None,
        }
    }

    /// Collects what a value's step depends on.
    fn want(&mut self, stretch: &Stretch, id: Id) {
        let Source::Alu(alu, args) = &stretch.values[id].source else { return };
        if self.steps[id].is_none() {
            return;
        }
        let widens = ["MulWide", "MadWide"].iter().any(|name| alu.name.starts_with(name));
        if widens || ["U32To64", "S32To64"].contains(&alu.name.as_str()) {
            let signed = alu.name.contains("S32");
            for &arg in args.iter().take(2) {
                let narrow = stretch.values[arg].shape == Shape::Narrow;
                if narrow && self.steps[arg].is_some_and(|step| step != 0) {
                    self.straight.insert((arg, signed));
                }
            }
        }
        for &arg in args {
            self.want(stretch, arg);
        }
    }
}

/// A product without signs is that of the number as it is read here.
fn is_small(args: &[Id], stretch: &Stretch) -> bool {
    args.iter().take(2).filter_map(|&arg| constant(&stretch.values[arg])).all(|number| number >= 0)
}

/// A constant, with its sign.
fn constant(value: &Value) -> Option<i64> {
    match (&value.source, value.shape) {
        (Source::Constant(number), Shape::Narrow) => Some(i64::from(*number as u32 as i32)),
        (Source::Constant(number), Shape::Wide) => Some(*number as i64),
        _ => None,
    }
}
