//! Rounds: in each, the lanes of a warp run threads of a child, their own tiny one or together those of another lane's.
//!
//! What is absent: which children are run, and in which order ([`super::distribute`]).

use super::argument::{Argument, words};
use super::child::{Child, DIMS, EXTRAS, is_flat, uses_dim};
use super::emit::{Text, moved, quoted};
use super::once;
use super::pool::{Taken, Taker};
use super::site::{Mode, Site};
use super::sums::DONE;

/// Values with which the first round begins.
pub(super) struct Round<'a> {
    pub from: &'a str,
    pub index: &'a str,
    pub step: &'a str,
    pub end: &'a str,
    pub waiting: &'a str,
    /// Whether lanes that wait run the first threads of their own child in it ([`Site::own_first`]).
    pub own_first: bool,
    /// Small children whose threads are dealt to all lanes alike: where this lane's begin among all of them, where they end,
    /// and how many there are.
    pub dealt: [&'a str; 3],
}

impl Site<'_, '_> {
    /// The rounds: in each, every lane runs some threads of a child. In the first, if there is one, a
    /// lane's own; then, for each lane of `%waiting`, all lanes those of that one; then parts of what is in the
    /// pool. Then control goes to `done`.
    pub(super) fn rounds(&self, child: &Child<'_>, first: Option<&Round<'_>>, text: &mut Text) {
        let in_order = self.mode == Mode::InOrder;
        text.label("next");
        let waiting = match first {
            Some(_) => "%left".to_string(),
            None => {
                text.line("%now = phi i32 [ %waiting, %check ], [ %left, %turn ]");
                "%now".to_string()
            }
        };
        // What the lane wrote before its launch is to be seen by those that work for it.
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        let less = text.set(&format!("sub i32 {waiting}, 1"));
        let one = text.set(&format!("call i32 @llvm.cttz.i32(i32 {waiting}, i1 true)"));
        let rest = text.set(&format!("and i32 {waiting}, {less}"));
        let end = match first {
            Some(Round { dealt, own_first, .. }) => {
                let rank = if *own_first { "%once.rank" } else { "%rank" };
                deal(dealt, &waiting, [&one, &rest, rank], text)
            }
            None => {
                text.line(&format!("%from = add i32 {one}, 0"));
                text.line(&format!("%rest = add i32 {rest}, 0"));
                text.shuffle("%mask", "%work", "%from")
            }
        };
        let dims: Vec<String> = DIMS
            .iter()
            .enumerate()
            .map(|(index, name)| match uses_dim(child, index) && !self.uniform[index] {
                true => text.shuffle("%mask", &format!("%{name}"), "%from"),
                false => format!("%{name}"),
            })
            .collect();
        let moved: Vec<String> = self
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| moved(argument, index, text))
            .collect();
        text.line("br label %round");
        let taken = match (&self.pool, first) {
            (Some(pool), Some(_)) => {
                let taker = Taker { arguments: &self.arguments, uniform: self.uniform };
                Some(pool.take(child, &taker, text))
            }
            _ => None,
        };
        let pooled = |of: fn(&Taken) -> &str| taken.as_ref().map_or("", of);
        text.label("round");
        let phi = |text: &mut Text, name: &str, ty: &str, [own, other, pooled]: [&str; 3]| {
            let mut from = match first {
                Some(Round { from, .. }) => format!("[ {own}, %{from} ], [ {other}, %pick ]"),
                None => format!("[ {other}, %next ]"),
            };
            if taken.is_some() {
                from += &format!(", [ {pooled}, %p.go ]");
            }
            text.line(&format!("%r.{name} = phi {ty} {from}"));
        };
        let begin = first.map_or(["", "", "", ""], |r| [r.index, r.step, r.end, r.waiting]);
        if let Some(Round { dealt: [_, _, total], .. }) = first {
            phi(text, "base", "i32", ["0", "%base", total]);
        }
        let index = if first.is_some() { "%deal.index" } else { "%rank" };
        phi(text, "index", "i32", [begin[0], index, pooled(|taken| &taken.first)]);
        phi(text, "step", "i32", [begin[1], "%lanes", "%lanes"]);
        phi(text, "end", "i32", [begin[2], &end, pooled(|taken| &taken.end)]);
        phi(text, "left", "i32", [begin[3], "%rest", "0"]);
        let own_first = first.is_some_and(|first| first.own_first);
        if own_first {
            phi(text, "first", "i1", ["true", "false", "false"]);
        }
        for (index, (dim, name)) in dims.iter().zip(DIMS).enumerate() {
            let pooled = taken.as_ref().map_or("", |taken| &taken.dims[index]);
            phi(text, name, "i32", [&format!("%{name}"), dim, pooled]);
        }
        for (index, (argument, moved)) in self.arguments.iter().zip(&moved).enumerate() {
            let pooled = taken.as_ref().map_or("", |taken| &taken.values[index]);
            let name = format!("a{index}");
            phi(text, &name, &argument.ty, [&format!("%a{index}"), moved, pooled]);
        }
        match self.sequence.and_then(|(_, sequence)| sequence.threads.as_deref()) {
            Some(threads) => {
                let given = Given {
                    mask: "%mask",
                    values: (0..self.arguments.len()).map(|index| format!("%r.a{index}")).collect(),
                    dims: DIMS.map(|name| format!("%r.{name}")),
                    range: ["%r.index", "%r.step", "%r.end"].map(String::from),
                };
                call_threads(threads, child, &self.arguments, &given, text);
                text.line("br label %turn");
            }
            None => {
                if child.once {
                    once::begin(text);
                }
                text.line("br label %loop");
                each_index(child, &self.arguments, ["round", "turn"], text);
            }
        }
        text.label("turn");
        if in_order {
            if self.sequence.is_none_or(|(_, sequence)| sequence.threads.is_none()) {
                summed(child, text);
            }
            // The next child sees all that this one did.
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        }
        let left = if own_first { once::undone(text) } else { "%r.left".into() };
        text.line(&format!("%left = or i32 {left}, 0"));
        let mut again = text.set("icmp ne i32 %left, 0");
        if let Some(Round { dealt: [_, _, total], .. }) = first {
            let more = text.set(&format!("icmp ult i32 %r.base, {total}"));
            again = text.set(&format!("or i1 {again}, {more}"));
        }
        if in_order && self.is_timed(child) {
            let slow = self.late_in_order(text);
            // All lanes go on together, or none.
            let votes = text.ballot(&slow);
            let in_time = text.set(&format!("icmp eq i32 {votes}, 0"));
            again = text.set(&format!("and i1 {again}, {in_time}"));
        }
        let behind = if taken.is_some() { "pool" } else { "done" };
        text.line(&format!("br i1 {again}, label %next, label %{behind}"));
    }
}

/// What a lane does in a round (`%from`, `%deal.index`, and the end, which it yields), in the block `pick`: a thread of a
/// child that is dealt, as long as there are such, else its part of the child of the first lane that waits.
fn deal(
    [begin, end, total]: &[&str; 3],
    waiting: &str,
    [one, rest, rank]: [&str; 3],
    text: &mut Text,
) -> String {
    let deals = text.set(&format!("icmp ult i32 %r.base, {total}"));
    text.line(&format!("br i1 {deals}, label %deal, label %whole"));
    text.label("whole");
    let work = text.shuffle("%mask", "%work", one);
    text.line("br label %pick");
    text.label("deal");
    let index = text.set("add i32 %r.base, %rank");
    let last = text.set("sub i32 %lanes, 1");
    // The lanes are the first of their warp. How many have ends up to there?
    let mut before = "0".to_string();
    for step in [16, 8, 4, 2, 1] {
        let probe = text.set(&format!("add i32 {before}, {}", step - 1));
        let there = text.set(&format!("icmp ult i32 {probe}, %lanes"));
        let probe = text.set(&format!("call i32 @llvm.umin.i32(i32 {probe}, i32 {last})"));
        let theirs = text.shuffle("%mask", end, &probe);
        let passed = text.set(&format!("icmp ule i32 {theirs}, {index}"));
        let passed = text.set(&format!("and i1 {passed}, {there}"));
        let further = text.set(&format!("add i32 {before}, {step}"));
        before = text.set(&format!("select i1 {passed}, i32 {further}, i32 {before}"));
    }
    let from = text.set(&format!("call i32 @llvm.umin.i32(i32 {before}, i32 {last})"));
    let first = text.shuffle("%mask", begin, &from);
    let number = text.set(&format!("sub i32 {index}, {first}"));
    let some = text.set(&format!("icmp ult i32 {index}, {total}"));
    let behind = text.set(&format!("add i32 {number}, 1"));
    let behind = text.set(&format!("select i1 {some}, i32 {behind}, i32 0"));
    let base = text.set("add i32 %r.base, %lanes");
    text.line("br label %pick");
    text.label("pick");
    let words = [
        ("from", &from[..], one),
        ("rest", waiting, rest),
        ("base", &base, "%r.base"),
        ("deal.index", &number, rank),
        ("deal.end", &behind, &work),
    ];
    for (name, dealt, whole) in words {
        text.line(&format!("%{name} = phi i32 [ {dealt}, %deal ], [ {whole}, %whole ]"));
    }
    "%deal.end".into()
}

/// From label `loop` on: the threads from `%r.index` up to `%r.end`, each `%r.step`th.
fn each_index(
    child: &Child<'_>,
    arguments: &[Argument],
    [before, behind]: [&str; 2],
    text: &mut Text,
) {
    text.label("loop");
    let step = if child.once { "step" } else { "body" };
    text.line(&format!("%index = phi i32 [ %r.index, %{before} ], [ %index.next, %{step} ]"));
    text.line("%more = icmp ult i32 %index, %r.end");
    text.line(&format!("br i1 %more, label %body, label %{behind}"));
    text.label("body");
    call_body(child, arguments, text);
    if child.once {
        once::go_on("%mask", behind, text);
    }
    text.line("%index.next = add nuw i32 %index, %r.step");
    text.line("br label %loop");
}

/// Whether such a function is told which lanes run a child together.
fn takes_mask(child: &Child<'_>) -> bool {
    child.sums || child.once
}

/// What a call of a [`threads`] function gives.
struct Given<'a> {
    /// The lanes that run a child together.
    mask: &'a str,
    values: Vec<String>,
    dims: [String; 6],
    /// The first thread, how far it is to the next, and the end.
    range: [String; 3],
}

/// The function `name` that runs threads of a child, all that one thread runs of a grid. It stands alone, so that several
/// places may run them.
pub(super) fn threads(name: &str, child: &Child<'_>, arguments: &[Argument]) -> String {
    let mut params: Vec<String> =
        takes_mask(child).then(|| "i32 %mask".into()).into_iter().collect();
    let mut text = Text::default();
    for (index, Argument { ty, by_value, .. }) in arguments.iter().enumerate() {
        match (by_value, ty.as_str()) {
            (Some((bytes, align)), _) => {
                text.line(&format!("%r.a{index} = alloca [{bytes} x i8], align {align}"));
                for (at, bits) in words(*bytes, *align) {
                    params.push(format!("i{bits} %w{index}.{at}"));
                    let place = text.behind(&format!("%r.a{index}"), at);
                    let align = bits / 8;
                    text.line(&format!("store i{bits} %w{index}.{at}, ptr {place}, align {align}"));
                }
            }
            // As all pointers among kernels' arguments do, it leads to global memory.
            (None, "ptr") => {
                params.push(format!("ptr addrspace(1) %global{index}"));
                text.line(&format!(
                    "%r.a{index} = addrspacecast ptr addrspace(1) %global{index} to ptr"
                ));
            }
            (None, ty) => params.push(format!("{ty} %r.a{index}")),
        }
    }
    for (index, name) in DIMS.iter().enumerate() {
        match uses_dim(child, index) {
            true => params.push(format!("i32 %r.{name}")),
            false => text.line(&format!("%r.{name} = add i32 0, 0")),
        }
    }
    params.extend(["index", "step", "end"].map(|name| format!("i32 %r.{name}")));
    text.line("br label %loop");
    each_index(child, arguments, ["entry", "done"], &mut text);
    text.label("done");
    summed(child, &mut text);
    text.line("ret void");
    let together = if takes_mask(child) { "convergent " } else { "" };
    format!(
        "define internal void {}({}) {together}noinline nounwind {{\nentry:\n{}}}\n",
        quoted(name),
        params.join(", "),
        text.out
    )
}

fn call_threads(
    name: &str,
    child: &Child<'_>,
    arguments: &[Argument],
    given: &Given<'_>,
    text: &mut Text,
) {
    let mask = takes_mask(child).then(|| format!("i32 {}", given.mask));
    let mut operands: Vec<String> = mask.into_iter().collect();
    for (argument, value) in arguments.iter().zip(&given.values) {
        match (argument.by_value, argument.ty.as_str()) {
            (Some((bytes, align)), _) => {
                for (at, bits) in words(bytes, align) {
                    let place = text.behind(value, at);
                    let word = text.set(&format!("load i{bits}, ptr {place}, align {}", bits / 8));
                    operands.push(format!("i{bits} {word}"));
                }
            }
            (None, "ptr") => {
                let global = text.set(&format!("addrspacecast ptr {value} to ptr addrspace(1)"));
                operands.push(format!("ptr addrspace(1) {global}"));
            }
            (None, ty) => operands.push(format!("{ty} {value}")),
        }
    }
    let dims = given.dims.iter().enumerate().filter(|(index, _)| uses_dim(child, *index));
    operands.extend(dims.map(|(_, dim)| dim).chain(&given.range).map(|word| format!("i32 {word}")));
    text.line(&format!("call void {}({})", quoted(name), operands.join(", ")));
}

/// Calls such a function in a block that runs a whole grid of blocks of its own size.
pub(super) fn run_all(
    name: &str,
    child: &Child<'_>,
    arguments: &[Argument],
    values: &[String],
    grid: &[String; 3],
    text: &mut Text,
) {
    let mut read = |name: &str| text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.{name}()"));
    let [x, y, z] = ["tid.x", "tid.y", "tid.z"].map(&mut read);
    let [bx, by, bz] = ["ntid.x", "ntid.y", "ntid.z"].map(&mut read);
    // Of a kernel that knows of x alone each thread with the same x does the same.
    let (first, size) = match is_flat(child) {
        true => (x, bx.clone()),
        false => {
            let above = text.set(&format!("mul i32 {z}, {by}"));
            let above = text.set(&format!("add i32 {above}, {y}"));
            let above = text.set(&format!("mul i32 {above}, {bx}"));
            let plane = text.set(&format!("mul i32 {bx}, {by}"));
            (
                text.set(&format!("add i32 {above}, {x}")),
                text.set(&format!("mul i32 {plane}, {bz}")),
            )
        }
    };
    let blocks = text.set(&format!("mul i32 {}, {}", grid[0], grid[1]));
    let blocks = text.set(&format!("mul i32 {blocks}, {}", grid[2]));
    let end = text.set(&format!("mul i32 {blocks}, {size}"));
    if child.sums {
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)");
    }
    let [gx, gy, gz] = grid.clone();
    let given = Given {
        mask: "-1",
        values: values.to_vec(),
        dims: [gx, gy, gz, bx, by, bz],
        range: [first, size, end],
    };
    call_threads(name, child, arguments, &given, text);
}

/// One thread of the child.
fn call_body(child: &Child<'_>, arguments: &[Argument], text: &mut Text) {
    let mut extras: Vec<String> = vec!["0".into(); EXTRAS.len()];
    for axis in 0..3 {
        let name = ["x", "y", "z"][axis];
        extras[6 + axis] = format!("%r.g{name}");
        extras[9 + axis] = format!("%r.b{name}");
    }
    extras[12] = "%index".into();
    if is_flat(child) {
        if child.used[0] {
            extras[0] = text.set("udiv i32 %index, %r.bx");
        }
        if child.used[3] {
            extras[3] = text.set("urem i32 %index, %r.bx");
        }
    } else {
        let plane = text.set("mul i32 %r.bx, %r.by");
        let size = text.set(&format!("mul i32 {plane}, %r.bz"));
        let thread = text.set(&format!("urem i32 %index, {size}"));
        let block = text.set(&format!("udiv i32 %index, {size}"));
        for (number, first, x, y) in [(block, 0, "%r.gx", "%r.gy"), (thread, 3, "%r.bx", "%r.by")] {
            extras[first] = text.set(&format!("urem i32 {number}, {x}"));
            let above = text.set(&format!("udiv i32 {number}, {x}"));
            extras[first + 1] = text.set(&format!("urem i32 {above}, {y}"));
            extras[first + 2] = text.set(&format!("udiv i32 {above}, {y}"));
        }
        let rows = text.set(&format!("mul i32 {}, %r.bx", extras[0]));
        extras[12] = text.set(&format!("add i32 {rows}, {}", extras[3]));
    }
    let mut operands: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| format!("{} %r.a{index}", argument.ty))
        .collect();
    operands.extend(extras.iter().map(|value| format!("i32 {value}")));
    let body = quoted(&child.body.get_name().to_string_lossy());
    text.line(&format!("call void {body}({})", operands.join(", ")));
}

/// What the lanes of `%mask` added up in registers goes to memory.
pub(super) fn summed(child: &Child<'_>, text: &mut Text) {
    if child.sums {
        text.line(&format!("call void @{DONE}(i32 %mask)"));
    }
}
