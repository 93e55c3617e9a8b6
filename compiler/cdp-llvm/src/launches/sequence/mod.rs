//! Launches that keep the order of their block's NULL stream, as few: they are recorded, and when the block ends its
//! last thread launches one grid of one block, which runs the children in their order.
//!
//! That grid belongs to the kernel of the first record, and runs records while they are of this kernel, have blocks of
//! one size and few of them. What else is there is launched by it, into its tail stream, which orders too: children
//! that are too large, and behind them a grid that goes on. Records lie in chunks of memory that the module brings
//! along. When there is none left, or a launch is one that may fail, what was recorded is launched and the block launches
//! as written from there on: behind that in the same stream, so nothing is lost and nothing is out of order however
//! small the memory is.
//!
//! A block has one launch then, of one thread. The device now and then loses one of a few launches into an ordered stream
//! that several threads make, as the page says; this is how such launches are not made.
//!
//! Legality. A child may start at any time after its launch, and nobody waits for it but who waits for its parent's
//! grid, which is not complete before what its blocks launch. So it may start when its block ends, given that this comes
//! ([`why_not`]). A record is made under the block's lock, behind those of launches that happened before. Children of a
//! block do not overlap, whoever runs them, and barriers of the block that runs them are between. A child that launches
//! is complete only after its children, so such kernels are left alone.

use std::collections::HashSet;

use cdp_launch::{EntryPoint, LaunchAbi, ParamSize, StreamConst, buffer_layout};
use inkwell::values::FunctionValue;

use super::argument::{Argument, size};
use super::calls::{Callee, callee, leaves};
use super::child::{check_waiting, reachable};
use super::emit::{Text, product, quoted};
use super::gather::{Gather, run};
use super::parent::LaunchSite;
use super::records::{Record, Records, copy};
use super::sums::DONE;
use super::tuning::Tuning;
use crate::raw;
use crate::raw::view::View;

/// What a kernel calls at its beginning, and where its threads return.
pub(super) const BEGIN: &str = "__cdp_sequence_begin";
pub(super) const END: &str = "__cdp_sequence_end";
/// The functions that all sites share.
const FUNCTIONS: &str = include_str!("sequence.ll");
/// Records of a chunk, and bytes before them; bytes of a record before its arguments.
const RECORDS: u64 = 32;
const CHUNK_HEAD: u64 = 16;
const RECORD_HEAD: u64 = 64;
/// Arguments of more bytes are not recorded.
const MOST_BYTES: u64 = 256;

/// A kernel whose launches are recorded.
pub(super) struct Sequence {
    /// The kernel that runs them in their turn.
    pub runner: String,
    /// What tells it from others of the module; not 0.
    number: usize,
    /// Whether its threads have loops, whose length nobody knows.
    loops: bool,
    offsets: Vec<u64>,
    bytes: u64,
}

/// What keeps a kernel's launches from being recorded, in words.
pub(super) fn why_not(kernel: FunctionValue<'_>, sites: &[&LaunchSite<'_>]) -> Result<(), String> {
    for site in sites {
        let call = View::instruction(raw::instruction(site.call));
        if !call.users().is_empty() {
            return Err("its error is looked at".into());
        }
        if site.stream.is_none_or(|stream| stream.value() != 0) {
            return Err("its stream may be another than the NULL stream".into());
        }
        if site.said.keep {
            return Err("a launch beside it is left alone, as `#pragma cdp keep` says".into());
        }
        let block = call.block().ok_or("it stands nowhere")?;
        let later = reachable(block).into_iter().chain([block]);
        let later = later.flat_map(|block| block.instructions());
        if later.filter_map(View::callee).any(|called| matches!(callee(called), Callee::Barrier)) {
            return Err("its block goes on behind a barrier".into());
        }
    }
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        check_waiting(function).map_err(|what| format!("its parent {what}"))?;
        for called in function.instructions().into_iter().filter_map(View::callee) {
            if leaves(called) {
                return Err("a thread of its block may end early".into());
            }
            match callee(called) {
                Callee::Defined(next) => work.push(next),
                Callee::Pointer | Callee::Unknown(_) => {
                    return Err("its parent calls what is not known".into());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether a kernel's grids can be run by one block, one after another.
pub(super) fn runs_in_turn(gather: &Gather<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(gather.kernel)]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for called in function.instructions().into_iter().filter_map(View::callee) {
            match callee(called) {
                Callee::Launch | Callee::Runtime(_) => return false,
                Callee::Defined(next) => work.push(next),
                _ => {}
            }
        }
    }
    gather.repeatable
}

impl Sequence {
    /// `None` for arguments that are too large.
    pub fn new(gather: &Gather<'_>, number: usize, arguments: &[Argument]) -> Option<Sequence> {
        let sizes: Vec<ParamSize> = arguments
            .iter()
            .map(|argument| {
                let (size_bytes, align_bytes) = size(argument);
                ParamSize { size_bytes, align_bytes }
            })
            .collect();
        let layout = buffer_layout(&sizes).ok()?;
        let name = gather.kernel.get_name().to_string_lossy().into_owned();
        (layout.size_bytes <= MOST_BYTES).then(|| Sequence {
            runner: format!("__cdp_sequence_of_{name}"),
            number: number + 1,
            loops: View::function(gather.kernel)
                .blocks()
                .iter()
                .any(|block| reachable(*block).contains(block)),
            offsets: layout.slots.iter().map(|slot| slot.offset_bytes).collect(),
            bytes: layout.size_bytes,
        })
    }

    fn arguments(&self, record: &str, text: &mut Text) -> Records {
        Records {
            ends: String::new(),
            records: text.behind(record, RECORD_HEAD),
            layout: Record { arguments: self.offsets.clone(), bytes: self.bytes },
        }
    }

    /// From label `launch` on: the launch of the lanes that come here, with `%valid`. Control goes to `direct` where it
    /// is to be made as written.
    pub fn site(
        &self,
        gather: &Gather<'_>,
        arguments: &[Argument],
        tuning: &Tuning,
        text: &mut Text,
    ) {
        text.line("br i1 %valid, label %s.ask, label %s.stop");
        text.label("s.stop");
        let odd = text.set("call i32 @llvm.nvvm.activemask()");
        text.line(&format!("call void @__cdp_sequence_stop(i32 {odd})"));
        text.line("br label %direct");
        text.label("s.ask");
        text.line("%s.mask = call i32 @llvm.nvvm.activemask()");
        text.line("%s.record = call ptr @__cdp_sequence_record(i32 %s.mask)");
        text.line("%s.none = icmp eq ptr %s.record, null");
        text.line("br i1 %s.none, label %direct, label %s.fill");
        text.label("s.fill");
        let kernel = quoted(&gather.kernel.get_name().to_string_lossy());
        let at = |text: &mut Text, bytes: u64| text.behind("%s.record", bytes);
        text.line(&format!("store ptr {kernel}, ptr %s.record, align 8"));
        let place = at(text, 8);
        text.line(&format!("store ptr {}, ptr {place}, align 8", quoted(&self.runner)));
        for (index, name) in ["gx", "gy", "gz", "bx", "by", "bz", "shared"].iter().enumerate() {
            let place = at(text, 16 + 4 * index as u64);
            text.line(&format!("store i32 %{name}, ptr {place}, align 4"));
        }
        let turn = self.turn(tuning, text);
        let place = at(text, 44);
        text.line(&format!("store i32 {turn}, ptr {place}, align 4"));
        let place = at(text, 48);
        text.line(&format!("store i32 {}, ptr {place}, align 4", self.bytes));
        let records = self.arguments("%s.record", text);
        records.put(arguments, &records.records, text);
        text.line("call void @__cdp_sequence_keep(i32 %s.mask)");
        text.line("ret i32 0");
        text.label("direct");
    }

    /// Whose turn the record is: the more blocks of the parent's there are, the longer their launches wait for each
    /// other, and the less is left of the device for the blocks of a child.
    fn turn(&self, tuning: &Tuning, text: &mut Text) -> String {
        let blocks = product(text, ["gx", "gy", "gz"]);
        let mut parents = "1".to_string();
        for axis in ["x", "y", "z"] {
            let dim = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.nctaid.{axis}()"));
            let dim = text.set(&format!("zext i32 {dim} to i64"));
            parents = text.set(&format!("mul i64 {parents}, {dim}"));
        }
        let shift = if self.loops { 4 } else { 2 };
        let most = text.set(&format!("lshr i64 {parents}, {shift}"));
        let most =
            text.set(&format!("call i64 @llvm.umin.i64(i64 {most}, i64 {})", tuning.turn_blocks));
        let most = text.set(&format!("call i64 @llvm.umax.i64(i64 {most}, i64 1)"));
        let few = text.set(&format!("icmp ule i64 {blocks}, {most}"));
        text.set(&format!("select i1 {few}, i32 {}, i32 0", self.number))
    }

    /// The kernel that runs records in their turn, by their `body`.
    pub fn kernel(
        &self,
        gather: &Gather<'_>,
        body: &str,
        arguments: &[Argument],
        record_bytes: u64,
    ) -> String {
        let mut text = Text::default();
        text.line(&format!("%record.bytes = add i64 {record_bytes}, 0"));
        text.room_for_copies(arguments.iter().enumerate());
        for axis in ["x", "y", "z"] {
            text.line(&format!("%b{axis} = call i32 @llvm.nvvm.read.ptx.sreg.ntid.{axis}()"));
            text.line(&format!("%t{axis} = call i32 @llvm.nvvm.read.ptx.sreg.tid.{axis}()"));
        }
        let id = text.set("or i32 %tx, %ty");
        let id = text.set(&format!("or i32 {id}, %tz"));
        text.line(&format!("%first = icmp eq i32 {id}, 0"));
        let own = record_at("%chunk", "%index", &mut text);
        let place = text.behind(&own, 40);
        text.line(&format!("%shared = load i32, ptr {place}, align 4"));
        text.line("br label %turn");
        text.label("turn");
        text.line("%c = phi ptr [ %chunk, %entry ], [ %c.next, %again ]");
        text.line("%i = phi i32 [ %index, %entry ], [ %i.next, %again ]");
        text.line("%l = phi i32 [ %left, %entry ], [ %l.next, %again ]");
        let own = record_at("%c", "%i", &mut text);
        self.is_mine(&own, &mut text);
        text.label("mine");
        self.run(gather, body, arguments, &own, &mut text);
        self.next(&mut text);
        format!(
            "define ptx_kernel void {}(ptr %chunk, i32 %index, i32 %left) nounwind {{\nentry:\n{}}}\n",
            quoted(&self.runner),
            text.out
        )
    }

    /// To `mine` where the record at `own` has its turn here, else to `hand`.
    fn is_mine(&self, own: &str, text: &mut Text) {
        let mut mine = Vec::new();
        let wanted = ["%bx", "%by", "%bz", "%shared", &self.number.to_string()].map(String::from);
        for (index, wanted) in wanted.iter().enumerate() {
            let place = text.behind(own, 28 + 4 * index);
            let found = text.set(&format!("load i32, ptr {place}, align 4"));
            mine.push(text.set(&format!("icmp eq i32 {found}, {wanted}")));
        }
        let mine = text.all(&mine);
        text.line(&format!("br i1 {mine}, label %mine, label %hand"));
    }

    /// All blocks of the record at `own`, one after another; then all threads meet at `ran`.
    fn run(
        &self,
        gather: &Gather<'_>,
        body: &str,
        arguments: &[Argument],
        own: &str,
        text: &mut Text,
    ) {
        let records = self.arguments(own, text);
        let mut values = records.load(arguments, &records.records, text);
        for (index, argument) in arguments.iter().enumerate() {
            if argument.by_value.is_some() {
                let (bytes, align) = size(argument);
                text.line(&copy(&format!("%copy{index}"), &values[index], bytes, align));
                values[index] = format!("%copy{index}");
            }
        }
        let grid = [16, 20, 24].map(|bytes| {
            let place = text.behind(own, bytes);
            text.set(&format!("load i32, ptr {place}, align 4"))
        });
        let plane = text.set(&format!("mul i32 {}, {}", grid[0], grid[1]));
        text.line(&format!("%blocks = mul i32 {plane}, {}", grid[2]));
        text.line("%further = load ptr, ptr %c, align 16");
        text.line("br label %block");
        text.label("block");
        text.line("%b = phi i32 [ 0, %mine ], [ %b.next, %more ]");
        run(gather, body, arguments, &values, &grid, ["%b", "0"], text);
        text.line("br label %ran.one");
        text.label("ran.one");
        text.line("%b.next = add i32 %b, 1");
        let more = text.set("icmp ult i32 %b.next, %blocks");
        text.line(&format!("br i1 {more}, label %more, label %ran"));
        text.label("more");
        if !gather.loose {
            // The next one's shared memory is this one's.
            text.line(BARRIER);
        }
        text.line("br label %block");
        text.label("ran");
        if gather.sums {
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)");
            text.line(&format!("call void @{DONE}(i32 -1)"));
        }
        // The next child sees all that this one did, and all threads have read its record.
        text.line(BARRIER);
    }

    /// To the next record, or to the end.
    fn next(&self, text: &mut Text) {
        text.line("%l.next = sub i32 %l, 1");
        text.line("%i.more = add i32 %i, 1");
        text.line("%last = icmp eq i32 %l.next, 0");
        text.line(&format!("%over = icmp eq i32 %i.more, {RECORDS}"));
        let leaves = text.set("or i1 %last, %over");
        let gives = text.set(&format!("and i1 {leaves}, %first"));
        text.line(&format!("br i1 {gives}, label %give, label %given"));
        text.label("give");
        text.line("call void @__cdp_sequence_give(ptr %c)");
        text.line("br label %given");
        text.label("given");
        text.line("br i1 %last, label %out, label %again");
        text.label("again");
        text.line("%c.next = select i1 %over, ptr %further, ptr %c");
        text.line("%i.next = select i1 %over, i32 0, i32 %i.more");
        text.line("br label %turn");
        text.label("hand");
        text.line("br i1 %first, label %go, label %out");
        text.label("go");
        let tail = StreamConst::TailLaunch.value();
        text.line(&format!(
            "call void @__cdp_sequence_go(ptr %c, i32 %i, i32 %l, ptr inttoptr (i64 {tail} to ptr))"
        ));
        text.line("br label %out");
        text.label("out");
        text.line("ret void");
    }
}

/// Bytes of a record of any of these kernels.
pub(super) fn record_bytes<'a>(sequences: impl Iterator<Item = &'a Sequence>) -> u64 {
    let most = sequences.map(|sequence| sequence.bytes).max().unwrap_or(0);
    RECORD_HEAD + most.next_multiple_of(16)
}

/// The functions, for records of so many bytes.
pub(super) fn definitions(record_bytes: u64, tuning: &Tuning, abi: LaunchAbi) -> String {
    let chunk = CHUNK_HEAD + RECORDS * record_bytes;
    let chunks = u64::from(tuning.sequence.clamp(1, 1 << 16));
    FUNCTIONS
        .replace("POOL", &(chunks * chunk).to_string())
        .replace("CHUNKS", &chunks.to_string())
        .replace("CHUNK", &chunk.to_string())
        .replace("RECORD", &record_bytes.to_string())
        .replace("GET", abi.symbol(EntryPoint::GetParameterBuffer, false))
        .replace("FIRE", abi.symbol(EntryPoint::LaunchDevice, false))
}

const BARRIER: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

fn record_at(chunk: &str, index: &str, text: &mut Text) -> String {
    let wide = text.set(&format!("zext i32 {index} to i64"));
    let at = text.set(&format!("mul i64 {wide}, %record.bytes"));
    let at = text.set(&format!("add i64 {at}, {CHUNK_HEAD}"));
    text.behind(chunk, at)
}

#[cfg(test)]
mod tests;
