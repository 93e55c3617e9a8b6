//! Records of launches that are made one: in memory, where the blocks of each end, its grid and its arguments.
//!
//! What is absent: who writes them, and the kernels that read them ([`super::gather`], [`super::queue`],
//! [`super::sequence`]).

use super::argument::{Argument, size};
use super::emit::Text;

/// Where the records begin: behind their number and, for each lane, where its blocks end.
pub(super) const RECORDS: u64 = 144;

/// Where things lie in a lane's record.
pub(super) struct Record {
    /// Offsets of the arguments.
    pub arguments: Vec<u64>,
    /// Where these begin, and their bytes: they lie as in a parameter buffer.
    pub first: u64,
    pub size: u64,
    pub bytes: u64,
}

/// Where things lie; with all of the grid's dimensions, or with x alone.
pub(super) fn record(deep: bool, arguments: &[Argument]) -> Record {
    let grid: u64 = if deep { 12 } else { 4 };
    let most = arguments.iter().map(|argument| size(argument).1).max().unwrap_or(1);
    let first = grid.next_multiple_of(most);
    let mut at = first;
    let mut offsets = Vec::new();
    for argument in arguments {
        let (bytes, align) = size(argument);
        at = u64::next_multiple_of(at, align);
        offsets.push(at);
        at += bytes;
    }
    let bytes = at.next_multiple_of(most.max(8));
    Record { arguments: offsets, first, size: at - first, bytes }
}

/// Records in memory: where the blocks of each end, and the records themselves.
pub(super) struct Records {
    pub ends: String,
    /// Whether these lie from there down.
    pub down: bool,
    pub records: String,
    pub layout: Record,
}

impl Records {
    /// Those of a warp, in a parameter buffer.
    pub fn in_buffer(buffer: &str, deep: bool, arguments: &[Argument], text: &mut Text) -> Records {
        Records {
            ends: text.behind(buffer, 4),
            down: false,
            records: text.behind(buffer, RECORDS),
            layout: record(deep, arguments),
        }
    }

    /// Where it stands at which block a record's end.
    pub fn end(&self, index: &str, text: &mut Text) -> String {
        let mut index = text.set(&format!("zext i32 {index} to i64"));
        if self.down {
            index = text.set(&format!("sub i64 -1, {index}"));
        }
        text.set(&format!("getelementptr i32, ptr {}, i64 {index}", self.ends))
    }

    pub fn record(&self, index: &str, text: &mut Text) -> String {
        let index = text.set(&format!("zext i32 {index} to i64"));
        let at = text.set(&format!("mul i64 {index}, {}", self.layout.bytes));
        text.behind(&self.records, at)
    }

    /// A lane's record, whose blocks end at `end`.
    pub fn fill(
        &self,
        deep: bool,
        arguments: &[Argument],
        index: &str,
        end: &str,
        text: &mut Text,
    ) {
        let at = self.end(index, text);
        text.line(&format!("store i32 {end}, ptr {at}, align 4"));
        let own = self.record(index, text);
        let axes = if deep { 3 } else { 1 };
        for (index, name) in ["gx", "gy", "gz"].iter().enumerate().take(axes) {
            let at = text.behind(&own, 4 * index);
            text.line(&format!("store i32 %{name}, ptr {at}, align 4"));
        }
        self.put(arguments, &own, text);
    }

    /// The arguments of the record at `own`.
    pub fn put(&self, arguments: &[Argument], own: &str, text: &mut Text) {
        for (index, (argument, offset)) in arguments.iter().zip(&self.layout.arguments).enumerate()
        {
            let at = text.behind(own, offset);
            let (bytes, align) = size(argument);
            match argument.by_value {
                Some(_) => text.line(&copy(&at, &format!("%a{index}"), bytes, align)),
                None if argument.ty == "i1" => {
                    let byte = text.set(&format!("zext i1 %a{index} to i8"));
                    text.line(&format!("store i8 {byte}, ptr {at}, align 1"));
                }
                None => {
                    text.line(&format!("store {} %a{index}, ptr {at}, align {align}", argument.ty))
                }
            }
        }
    }

    /// The dimensions of the grid that a record at `own` was launched as.
    pub fn grid(&self, deep: bool, own: &str, text: &mut Text) -> [String; 3] {
        [0, 1, 2].map(|axis| match axis == 0 || deep {
            true => {
                let at = text.behind(own, 4 * axis);
                text.set(&format!("load i32, ptr {at}, align 4"))
            }
            false => "1".into(),
        })
    }

    /// The arguments of the record at `own`: those that go by address lie in it.
    pub fn load(&self, arguments: &[Argument], own: &str, text: &mut Text) -> Vec<String> {
        let load = |(argument, offset): (&Argument, &u64)| {
            let at = text.behind(own, offset);
            let (_, align) = size(argument);
            match argument.by_value {
                Some(_) => at,
                None if argument.ty == "i1" => {
                    let byte = text.set(&format!("load i8, ptr {at}, align 1"));
                    text.set(&format!("trunc i8 {byte} to i1"))
                }
                None if argument.ty == "ptr" => {
                    let global =
                        text.set(&format!("load ptr addrspace(1), ptr {at}, align {align}"));
                    text.generic(&global)
                }
                None => text.set(&format!("load {}, ptr {at}, align {align}", argument.ty)),
            }
        };
        arguments.iter().zip(&self.layout.arguments).map(load).collect()
    }

    /// The record of block `%block` among `%count`, `%low`, and where its blocks begin, `%begin`; from the block
    /// `entry` on, until label `run`. The lanes that are here look at as many places at a time.
    pub fn search(&self, text: &mut Text) {
        text.line("%s.mask = call i32 @llvm.nvvm.activemask()");
        text.line("%s.lanes = call i32 @llvm.ctpop.i32(i32 %s.mask)");
        text.line("%s.parts = add i32 %s.lanes, 1");
        text.rank("%s.rank", "%s.mask");
        text.line("%s.part = add i32 %s.rank, 1");
        text.line("%s.last = sub i32 %count, 1");
        text.line("br label %search");
        text.label("search");
        text.line("%low = phi i32 [ 0, %entry ], [ %low.next, %look ]");
        text.line("%high = phi i32 [ %s.last, %entry ], [ %high.next, %look ]");
        text.line("%s.length = sub i32 %high, %low");
        let open = text.set("icmp ne i32 %s.length, 0");
        text.line(&format!("br i1 {open}, label %look, label %found"));
        text.label("look");
        let probe = |text: &mut Text, part: &str| {
            let at = text.set(&format!("mul i32 %s.length, {part}"));
            let at = text.set(&format!("udiv i32 {at}, %s.parts"));
            text.set(&format!("add i32 %low, {at}"))
        };
        let own = probe(text, "%s.part");
        let at = self.end(&own, text);
        let end = text.set(&format!("load i32, ptr {at}, align 4"));
        let behind = text.set(&format!("icmp ule i32 {end}, %block"));
        let votes = text.ballot_of("%s.mask", &behind);
        let passed = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {votes})"));
        let none = text.set(&format!("icmp eq i32 {passed}, 0"));
        let all = text.set(&format!("icmp eq i32 {passed}, %s.lanes"));
        let last = probe(text, &passed);
        let above = text.set(&format!("add i32 {last}, 1"));
        let next = text.set(&format!("add i32 {passed}, 1"));
        let first = probe(text, &next);
        text.line(&format!("%low.next = select i1 {none}, i32 %low, i32 {above}"));
        text.line(&format!("%high.next = select i1 {all}, i32 %high, i32 {first}"));
        text.line("br label %search");
        text.label("found");
        let first = text.set("icmp eq i32 %low, 0");
        text.line(&format!("br i1 {first}, label %run, label %behind"));
        text.label("behind");
        let before = text.set("sub i32 %low, 1");
        let at = self.end(&before, text);
        let begin = text.set(&format!("load i32, ptr {at}, align 4"));
        text.line("br label %run");
        text.label("run");
        text.line(&format!("%begin = phi i32 [ 0, %found ], [ {begin}, %behind ]"));
    }
}

/// A struct's bytes.
pub(super) fn copy(to: &str, from: &str, bytes: u64, align: u64) -> String {
    format!(
        "call void @llvm.memcpy.p0.p0.i64(ptr align {align} {to}, ptr align {align} {from}, i64 {bytes}, i1 false)"
    )
}
