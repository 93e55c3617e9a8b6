//! A launch site whose launches keep their order: small children are run under the block's lock, one after another, by the
//! lanes that come there, and others recorded. What is the same at every site is in functions that were made beforehand
//! (`sequence.ll`), so that little is left to compile.
//!
//! What is absent: how children are run ([`rounds`](super::super::rounds)), and what becomes of the records ([`super`]).

use super::super::argument::{Argument, size};
use super::super::child::Child;
use super::super::emit::{Text, quoted};
use super::super::gather::Gather;
use super::super::site::Site;
use super::{
    FACT_DEEP, FACT_LONE, FACT_LOOPS, FACT_NESTS, HEAD, MODE_WRITTEN, RECORD_HEAD, STATE, Sequence,
};

/// Goes on at `recorded` unless the block launches as written and recorded nothing before, which needs no other's help:
/// `__cdp_sequence_record` does it.
pub(in super::super) fn unless_written(text: &mut Text) {
    let place = text.set(&format!("getelementptr i8, {STATE}, i64 4"));
    let mode = text.set(&format!(
        "load atomic i32, ptr addrspace(3) {place} syncscope(\"block\") monotonic, align 4"
    ));
    let written = text.set(&format!("icmp eq i32 {mode}, {MODE_WRITTEN}"));
    text.line(&format!("br i1 {written}, label %launch, label %recorded"));
    text.label("recorded");
}

impl Site<'_, '_> {
    /// From the beginning of a site: its small children. Lanes whose launches are to be recorded come to `launch`.
    pub(in super::super) fn run_recorded(&self, child: &Child<'_>, text: &mut Text) {
        let threads = self.valid(Some(child), text);
        self.work(child, &threads, "%valid", text);
        text.line("%asked = select i1 %valid, i32 %turns, i32 -1");
        text.line(match self.lone {
            true => "%mask = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()",
            false => "%mask = call i32 @llvm.nvvm.activemask()",
        });
        text.line("br label %ask");
        text.label("ask");
        let (model, limits) = self.model(child);
        let entered = text.set(&format!(
            "call {{ i32, i32, i64 }} @__cdp_sequence_enter({STATE}, i32 %mask, i32 %asked, i64 {model}, i64 {limits})"
        ));
        for (index, name) in ["waiting", "state", "deadline"].iter().enumerate() {
            text.line(&format!("%{name} = extractvalue {{ i32, i32, i64 }} {entered}, {index}"));
        }
        let some = text.set("icmp ne i32 %waiting, 0");
        text.line(&format!("br i1 {some}, label %check, label %done"));
        text.label("check");
        text.line("%lanes = call i32 @llvm.ctpop.i32(i32 %mask)");
        text.rank("%rank", "%mask");
        text.line("br label %next");
        self.rounds(child, None, text);
        text.label("done");
        text.line("%unserved = phi i32 [ 0, %ask ], [ %left, %turn ]");
        text.line(&format!(
            "%really = call i32 @__cdp_sequence_leave({STATE}, i32 %mask, i32 %state, i32 %unserved, i64 %deadline)"
        ));
        let launches = text.set("icmp ne i32 %really, 0");
        text.line(&format!("br i1 {launches}, label %launch, label %out"));
        text.label("out");
        text.line("ret i32 0");
    }

    /// What `__cdp_sequence_enter` wants to know of how large a child may be: the model's shifts and bounds, and what was
    /// said instead with the cycles for a launch and 1.
    fn model(&self, child: &Child<'_>) -> (i64, i64) {
        let steps = self.tuning.steps(child.loops);
        let short = |number: u32| u64::from(number.min(0xffff));
        let shift = |number: u32| u64::from(number.min(63));
        let model = shift(steps.shift)
            | shift(steps.shift_in_order + 5) << 8
            | short(steps.least) << 16
            | short(steps.most) << 32
            | short(steps.most_in_order) << 48;
        let stated = self.tuning.threshold.map_or(u32::MAX, |stated| stated.min(u32::MAX - 1));
        let pace = if self.is_timed(child) { self.launch_cycles() + 1 } else { 0 };
        (model as i64, (u64::from(stated) | u64::from(pace) << 32) as i64)
    }
}

impl Sequence {
    /// The launches of the lanes that come here, each for itself alone if `lone`, in the site's variable `%site`.
    pub fn site(&self, gather: &Gather<'_>, arguments: &[Argument], lone: bool, text: &mut Text) {
        let facts = gather.most_threads
            | if self.loops { FACT_LOOPS } else { 0 }
            | if gather.deep { FACT_DEEP } else { 0 }
            | if self.nests { FACT_NESTS } else { 0 }
            | if lone { FACT_LONE } else { 0 };
        let kernel = quoted(&gather.kernel.get_name().to_string_lossy());
        let mut words = vec![format!("ptr {kernel}"), format!("ptr {}", quoted(&self.runner))];
        words.extend(
            ["gx", "gy", "gz", "bx", "by", "bz", "shared"].map(|name| format!("i32 %{name}")),
        );
        let number = match &self.unordered {
            Some(shape) => {
                let kept = shape.is_kept(text);
                let marked = self.number | i32::MIN;
                text.set(&format!("select i1 {kept}, i32 {marked}, i32 {}", self.number))
            }
            None => self.number.to_string(),
        };
        words.extend(
            [number, self.bytes.to_string(), facts.to_string()].map(|word| format!("i32 {word}")),
        );
        let mut at = 0;
        for word in words {
            let place = text.behind("%site", at);
            let bytes = if word.starts_with("ptr") { 8 } else { 4 };
            text.line(&format!("store {word}, ptr {place}, align {bytes}"));
            at += bytes;
        }
        for (begin, bytes) in self.unwritten(arguments) {
            let place = text.behind("%site", RECORD_HEAD + begin);
            text.line(&format!(
                "call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {bytes}, i1 false)"
            ));
        }
        let records = self.arguments("%site", text);
        records.put(arguments, &records.records, text);
        text.line(&format!("call void @__cdp_sequence_record({HEAD}, {STATE}, ptr %site)"));
    }

    /// Begin and size of what no argument writes, up to whole pieces of 16 bytes, which is copied all the same. Structs
    /// have such places too.
    fn unwritten(&self, arguments: &[Argument]) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        let mut end = 0;
        for (argument, offset) in arguments.iter().zip(&self.offsets) {
            if argument.by_value.is_none() {
                found.push((end, offset - end));
                end = offset + size(argument).0;
            }
        }
        found.push((end, self.bytes.next_multiple_of(16) - end));
        found.retain(|(_, bytes)| *bytes > 0);
        found
    }

    /// The variable that [`Sequence::site`] fills.
    pub fn room(&self, text: &mut Text) {
        let bytes = RECORD_HEAD + self.bytes.next_multiple_of(16);
        text.line(&format!("%site = alloca [{bytes} x i8], align 16"));
    }
}
