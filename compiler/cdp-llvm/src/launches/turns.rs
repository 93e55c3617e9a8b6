//! The turns of a block that runs records of a bucket: which record each is of, and what the block knows of it. It is read
//! once for all blocks of a record that follow each other.
//!
//! What is absent: what is done in a turn ([`super::queue`]).

use super::argument::{Argument, size};
use super::emit::Text;
use super::gather::{Gather, place_of};
use super::records::{Records, copy};

/// What a block holds in a turn: the values of its record, the grid that this was launched as, and its own place in it.
pub(super) struct Held {
    pub values: Vec<String>,
    pub grid: [String; 3],
    pub place: [String; 3],
}

impl Held {
    /// By names that begin alike; structs lie in the block's copies.
    fn new(gather: &Gather<'_>, arguments: &[Argument], start: &str) -> Held {
        let value = |(index, argument): (usize, &Argument)| match argument.by_value {
            Some(_) => format!("%copy{index}"),
            None => format!("%{start}.a{index}"),
        };
        let axis = |name: &'static str, beyond: &'static str| {
            [0, 1, 2].map(|axis| match axis == 0 || gather.deep {
                true => format!("%{start}.{name}{axis}"),
                false => beyond.to_string(),
            })
        };
        Held {
            values: arguments.iter().enumerate().map(value).collect(),
            grid: axis("grid", "1"),
            place: axis("place", "0"),
        }
    }

    /// What changes from turn to turn: types and values, in an order that is always the same.
    fn all<'a>(&'a self, arguments: &'a [Argument]) -> Vec<(&'a str, &'a str)> {
        let values =
            arguments.iter().zip(&self.values).filter(|(argument, _)| argument.by_value.is_none());
        let mut all: Vec<_> =
            values.map(|(argument, value)| (argument.ty.as_str(), value.as_str())).collect();
        let words = self.grid.iter().chain(&self.place).filter(|word| word.starts_with('%'));
        all.extend(words.map(|word| ("i32", word.as_str())));
        all
    }

    /// The place of the next block.
    fn next_place(&self, gather: &Gather<'_>, text: &mut Text) -> [String; 3] {
        let [x, y, z] = &self.place;
        let right = text.set(&format!("add i32 {x}, 1"));
        if !gather.deep {
            return [right, y.clone(), z.clone()];
        }
        let up = |at: &str, end: &str, text: &mut Text| {
            let over = text.set(&format!("icmp eq i32 {at}, {end}"));
            let carry = text.set(&format!("zext i1 {over} to i32"));
            (text.set(&format!("select i1 {over}, i32 0, i32 {at}")), carry)
        };
        let (x, carry) = up(&right, &self.grid[0], text);
        let above = text.set(&format!("add i32 {y}, {carry}"));
        let (y, carry) = up(&above, &self.grid[1], text);
        [x, y, text.set(&format!("add i32 {z}, {carry}"))]
    }
}

/// A turn, from label `turn` to what it holds: of the record of the last turn, or, when all its blocks are done, of the next
/// one that has some. The first is that of block `first`.
pub(super) fn turn(
    gather: &Gather<'_>,
    arguments: &[Argument],
    records: &Records,
    first: &str,
    text: &mut Text,
) -> Held {
    let held = Held::new(gather, arguments, "h");
    let last = Held::new(gather, arguments, "t");
    text.line("br label %turn");
    text.label("turn");
    text.line(&format!("%t.block = phi i32 [ {first}, %run ], [ %t.block.next, %again ]"));
    for (name, first) in [("low", "%low"), ("begin", "%begin"), ("stay", "0")] {
        text.line(&format!("%t.{name} = phi i32 [ {first}, %run ], [ %h.{name}, %again ]"));
    }
    for ((ty, now), before) in last.all(arguments).into_iter().zip(held.all(arguments)) {
        text.line(&format!("{now} = phi {ty} [ poison, %run ], [ {}, %again ]", before.1));
    }
    text.line("%t.block.next = add i32 %t.block, 1");
    let stays = text.set("icmp ult i32 %t.block, %t.stay");
    text.line(&format!("br i1 {stays}, label %stay, label %advance"));
    text.label("stay");
    let next = last.next_place(gather, text);
    text.line("br label %have");

    text.label("advance");
    text.line("%t.record = phi i32 [ %t.low, %turn ], [ %t.record.next, %step ]");
    text.line("%t.first = phi i32 [ %t.begin, %turn ], [ %t.end, %step ]");
    let at = records.end("%t.record", text);
    text.line(&format!("%t.end = load i32, ptr {at}, align 4"));
    text.line("%t.record.next = add i32 %t.record, 1");
    let here = text.set("icmp ult i32 %t.block, %t.end");
    text.line(&format!("br i1 {here}, label %load, label %step"));
    text.label("step");
    text.line("br label %advance");
    text.label("load");
    let own = records.record("%t.record", text);
    let grid = records.grid(gather.deep, &own, text);
    let values = records.load(arguments, &own, text);
    for (index, argument) in arguments.iter().enumerate() {
        if argument.by_value.is_some() {
            let (bytes, align) = size(argument);
            text.line(&copy(&format!("%copy{index}"), &values[index], bytes, align));
        }
    }
    // Only of the first can it be another than the first block.
    text.line("%t.number = sub i32 %t.block, %t.first");
    let inside = text.set("icmp ne i32 %t.number, 0");
    text.line(&format!("br i1 {inside}, label %inside, label %loaded"));
    text.label("inside");
    // That of a void record has no blocks.
    let some =
        grid.each_ref().map(|dim| text.set(&format!("call i32 @llvm.umax.i32(i32 {dim}, i32 1)")));
    let mut place = place_of(gather, "%t.number", &some, text);
    text.line("br label %loaded");
    text.label("loaded");
    for at in place.iter_mut().filter(|at| at.starts_with('%')) {
        *at = text.set(&format!("phi i32 [ 0, %load ], [ {at}, %inside ]"));
    }
    text.line("br label %have");

    text.label("have");
    for (name, stays, loaded) in [
        ("low", "%t.low", "%t.record"),
        ("begin", "%t.begin", "%t.first"),
        ("stay", "%t.stay", "%t.end"),
    ] {
        text.line(&format!("%h.{name} = phi i32 [ {stays}, %stay ], [ {loaded}, %loaded ]"));
    }
    let loaded = Held { values, grid, place };
    let stays = Held { place: next, ..last };
    let from = stays.all(arguments).into_iter().zip(loaded.all(arguments));
    for ((ty, now), (stays, loaded)) in held.all(arguments).into_iter().zip(from) {
        let (stays, loaded) = (stays.1, loaded.1);
        text.line(&format!("{now} = phi {ty} [ {stays}, %stay ], [ {loaded}, %loaded ]"));
    }
    held
}
