//! Launches that keep the order of their block's NULL stream, as few: they are recorded, and when the block ends its
//! last thread launches one grid of one block, which runs the children in their order.
//!
//! That grid belongs to the kernel of the first record, and runs records while they are of this kernel, have blocks of
//! one size and few of them. What else is there is launched by it, into its tail stream, which orders too: children
//! that are too large, and behind them a grid that goes on. One goes on where two more records of its kind follow, or
//! nothing else does, since it waits for all that was launched before it; other records are launched as they are. So are
//! those of several blocks whose kernel's blocks took long where they were run one after another: how long is known of
//! the last that were. Records lie in chunks of memory that the module brings along. When there is none left, or a launch is one that may fail, what was recorded is launched and the block launches
//! as written from there on: behind that in the same stream, so nothing is lost and nothing is out of order however
//! small the memory is.
//!
//! A block has few launches then, of one thread. The device now and then loses one of a few launches into an ordered stream
//! that several threads make, as the page says; this is how such launches are not made.
//!
//! Legality. A child may start at any time after its launch, and nobody waits for it but who waits for its parent's
//! grid, which is not complete before what its blocks launch. So it may start when its block ends, given that this comes
//! ([`why_not`]). A record is made under the block's lock, behind those of launches that happened before. Children of a
//! block do not overlap, whoever runs them, and barriers of the block that runs them are between.
//!
//! A child that launches is complete only after its children. Where all that it launches is recorded too, the block that
//! runs it runs that behind it, before the next record: a list of records knows what goes on behind it. What is really
//! launched by such a child, for lack of memory, runs before the tail stream of the grid that runs it, and so does the
//! rest.
//!
//! Where nobody can tell in which order the grids of a kernel and all below them run ([`super::independent::nested`]),
//! records of one chunk may be handed over to one grid, each block of which has one. The first ones are, and those
//! that such a block records while no more launches wait than in order: all of the lists that a record is in wait
//! then, of which each counts as its records, and here as one. What a block keeps it runs behind its own record, without a
//! launch, since all grids below have its shape ([`shape`]). For lack of memory launches are made as written, so nothing is
//! handed over when half of it has been in use.

pub(super) mod nested;
mod shape;
mod site;

pub(super) use shape::{Shape, inherited};
pub(super) use site::unless_written;

use std::collections::HashSet;

use cdp_launch::{ParamSize, buffer_layout};
use inkwell::values::FunctionValue;

use super::argument::{Argument, size};
use super::calls::{Callee, callee, calls, leaves};
use super::child::{Child, has_loops, reachable};
use super::emit::{Text, quoted};
use super::gather::{Gather, run};
use super::parent::LaunchSite;
use super::records::{Record, Records, copy};
use super::rounds;
use super::sums::DONE;
use super::tuning::Tuning;
use super::waiting::check_waiting;
use crate::raw;
use crate::raw::view::View;

/// What says of a function that its code is as it is to be (`optimizer.cpp`).
const PLAIN: &str = "\"cdp-plain\"";
/// What a kernel calls at its beginning, and where its threads return.
pub(crate) const BEGIN: &str = "__cdp_sequence_begin";
pub(super) const END: &str = "__cdp_sequence_end";
/// What the names of kernels that run recorded ones begin with.
pub(super) const OF: &str = "__cdp_sequence_of_";
/// What the names of functions begin with that run threads of a child at its sites and in its turn.
pub(super) const THREADS: &str = "__cdp_threads_of_";
/// What the names of bodies begin with whose launches are recorded for the block that runs them.
pub(super) const NESTED: &str = "__cdp_nested_";
/// What the functions take: the module's memory, and the block's state.
pub(super) const HEAD_NAME: &str = "__cdp_sequence_head";
/// Where records lie.
pub(super) const MEMORY_NAME: &str = "__cdp_sequence_memory";
const HEAD: &str = "ptr addrspace(1) @__cdp_sequence_head";
const STATE: &str = "ptr addrspace(3) @__cdp_order";
const STEP: &str = "@__cdp_sequence_step";
const STEP_APART: &str = "@__cdp_sequence_step_apart";
const DECLARATIONS: &str = "\
declare { i32, i32, i64 } @__cdp_sequence_enter(ptr addrspace(3), i32, i32, i64, i64) convergent nounwind
declare i32 @__cdp_sequence_leave(ptr addrspace(3), i32, i32, i32, i64) convergent nounwind
declare void @__cdp_sequence_record(ptr addrspace(1), ptr addrspace(3), ptr) convergent nounwind
declare { ptr, i32 } @__cdp_sequence_step(ptr addrspace(1), ptr addrspace(3), ptr, i32, i32, i32) convergent nounwind
declare { ptr, i32 } @__cdp_sequence_step_apart(ptr addrspace(1), ptr addrspace(3), ptr, i32, i32, i32) convergent nounwind
";
/// What `__cdp_sequence_record` is told of a kernel, beside its most threads.
const FACT_LOOPS: u32 = 1 << 16;
const FACT_DEEP: u32 = 1 << 17;
const FACT_NESTS: u32 = 1 << 18;
const FACT_LONE: u32 = 1 << 19;
/// What `__cdp_sequence_step` is told behind a record.
const MOVES: u32 = 1;
const MOVES_NESTED: u32 = 3;
/// What a block's state says where it launches as written, and recorded nothing.
const MODE_WRITTEN: u32 = 3;
/// Records of a chunk, and bytes before them; bytes of a record before its arguments.
const RECORDS: u64 = 32;
const CHUNK_HEAD: u64 = 32;
const RECORD_HEAD: u64 = 64;
/// Arguments of more bytes are not recorded.
const MOST_BYTES: u64 = 256;

/// A kernel whose launches are recorded.
pub(super) struct Sequence {
    /// The kernel that runs them in their turn.
    pub runner: String,
    /// What tells it from others of the module; above 0.
    number: i32,
    /// Whether its threads have loops, whose length nobody knows.
    loops: bool,
    /// Whether it launches, which the block that runs it records for itself.
    pub nests: bool,
    /// Where nobody can tell in which order its grids and all below them run: the shape of those below.
    unordered: Option<Shape>,
    offsets: Vec<u64>,
    bytes: u64,
    /// The function in which its threads are run, where a site runs small grids too: both call it, and its body stands in
    /// it alone.
    pub threads: Option<String>,
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

/// Whether a kernel's grids can be run by one block, one after another, given that what they launch is recorded.
pub(super) fn runs_in_turn(gather: &Gather<'_>) -> bool {
    !calls(gather.kernel, |called| matches!(called, Callee::Runtime(_))) && gather.repeatable
}

impl Sequence {
    /// `None` for arguments that are too large.
    pub fn new(
        gather: &Gather<'_>,
        number: usize,
        arguments: &[Argument],
        unordered: Option<Shape>,
    ) -> Option<Sequence> {
        let sizes: Vec<ParamSize> = arguments
            .iter()
            .map(|argument| {
                let (size_bytes, align_bytes) = size(argument);
                ParamSize { size_bytes, align_bytes }
            })
            .collect();
        let layout = buffer_layout(&sizes).ok()?;
        let name = gather.kernel.get_name().to_string_lossy().into_owned();
        let number = i32::try_from(number).ok()?.checked_add(1)?;
        (layout.size_bytes <= MOST_BYTES).then(|| Sequence {
            runner: format!("{OF}{name}"),
            number,
            loops: has_loops(View::function(gather.kernel)),
            nests: gather.launches,
            unordered,
            offsets: layout.slots.iter().map(|slot| slot.offset_bytes).collect(),
            bytes: layout.size_bytes,
            threads: None,
        })
    }

    /// That the kernel's grids are run by one function, here and at the sites.
    pub fn share(&mut self, child: &Child<'_>) {
        self.threads = Some(format!("{THREADS}{}", View::function(child.body).name()));
    }

    /// The kernel that runs records, for those who launch it.
    pub fn declaration(&self) -> String {
        format!("declare ptx_kernel void {}(ptr, i32)\n", quoted(&self.runner))
    }

    fn arguments(&self, record: &str, text: &mut Text) -> Records {
        Records {
            down: false,
            ends: String::new(),
            records: text.behind(record, RECORD_HEAD),
            layout: Record {
                arguments: self.offsets.clone(),
                first: 0,
                size: self.bytes,
                bytes: self.bytes,
            },
        }
    }

    /// The kernel that runs records in their turn, by the `body` of its blocks; `child` is what it is at sites. Where the
    /// body stands elsewhere little is left to optimise.
    pub fn kernel(
        &self,
        gather: &Gather<'_>,
        body: &str,
        child: Option<&Child<'_>>,
        arguments: &[Argument],
        elsewhere: bool,
    ) -> String {
        let mut text = Text::default();
        text.room_for_copies(arguments.iter().enumerate());
        if self.nests {
            text.line(&format!("call void @{BEGIN}({STATE}, i32 1)"));
        }
        text.line("br label %turn");
        text.label("turn");
        text.line("%before = phi ptr [ %record, %entry ], [ %r, %ran ]");
        text.line("%l = phi i32 [ %left, %entry ], [ %l.next, %ran ]");
        let moves = if self.nests { MOVES_NESTED } else { MOVES };
        text.line(&format!("%moves = phi i32 [ 0, %entry ], [ {moves}, %ran ]"));
        let number = self.number;
        let step = if self.unordered.is_some() { STEP_APART } else { STEP };
        let next = text.set(&format!(
            "call {{ ptr, i32 }} {step}({HEAD}, {STATE}, ptr %before, i32 %l, i32 {number}, i32 %moves)"
        ));
        text.line(&format!("%r = extractvalue {{ ptr, i32 }} {next}, 0"));
        text.line(&format!("%l.next = extractvalue {{ ptr, i32 }} {next}, 1"));
        text.line("%none = icmp eq ptr %r, null");
        text.line("br i1 %none, label %out, label %mine");
        text.label("mine");
        let (values, grid) = self.load(arguments, "%r", &mut text);
        match child.zip(self.threads.as_deref()) {
            Some((child, threads)) => {
                rounds::run_all(threads, child, arguments, &values, &grid, &mut text);
                text.line("br label %ran");
                text.label("ran");
            }
            None => self.run(gather, body, arguments, &values, &grid, &mut text),
        }
        text.line("br label %turn");
        text.label("out");
        text.line("ret void");
        let plain = if elsewhere { PLAIN } else { "" };
        format!(
            "define ptx_kernel void {}(ptr %record, i32 %left) nounwind {plain} {{\nentry:\n{}}}\n",
            quoted(&self.runner),
            text.out
        )
    }

    /// The arguments and the grid of the record at `own`.
    fn load(
        &self,
        arguments: &[Argument],
        own: &str,
        text: &mut Text,
    ) -> (Vec<String>, [String; 3]) {
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
        (values, grid)
    }

    /// All blocks of a grid, one after another; then all threads come to `ran`.
    fn run(
        &self,
        gather: &Gather<'_>,
        body: &str,
        arguments: &[Argument],
        values: &[String],
        grid: &[String; 3],
        text: &mut Text,
    ) {
        let plane = text.set(&format!("mul i32 {}, {}", grid[0], grid[1]));
        text.line(&format!("%blocks = mul i32 {plane}, {}", grid[2]));
        text.line("br label %block");
        text.label("block");
        text.line("%b = phi i32 [ 0, %mine ], [ %b.next, %more ]");
        run(gather, body, arguments, values, grid, ["%b", "0"], text);
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
        if gather.sums && !self.nests {
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)");
            text.line(&format!("call void @{DONE}(i32 -1)"));
        }
    }
}

/// Bytes of a record of any of these kernels.
pub(super) fn record_bytes<'a>(sequences: impl Iterator<Item = &'a Sequence>) -> u64 {
    let most = sequences.map(|sequence| sequence.bytes).max().unwrap_or(0);
    RECORD_HEAD + most.next_multiple_of(16)
}

/// What the functions work with, for records of so many bytes, and the functions as declarations.
pub(super) fn definitions(record_bytes: u64, tuning: &Tuning) -> String {
    let chunk = CHUNK_HEAD + RECORDS * record_bytes;
    let chunks = u64::from(tuning.sequence.clamp(1, 1 << 16));
    let turns = tuning.turn_blocks;
    let bytes = chunks * chunk;
    format!(
        "@__cdp_sequence_memory = internal addrspace(1) global [{bytes} x i8] zeroinitializer, align 16
@__cdp_sequence_head = internal addrspace(1) global {{ i64, i32, i32, i32, i32, ptr addrspace(1), [64 x i32], i32 }} {{ i64 0, \
         i32 0, i32 {chunks}, i32 {record_bytes}, i32 {turns}, ptr addrspace(1) @__cdp_sequence_memory, \
         [64 x i32] zeroinitializer, i32 0 }}, align 8
{DECLARATIONS}"
    )
}

/// What [`definitions`] defines, and the functions, for a module that is linked in later.
pub(super) fn declarations() -> String {
    format!(
        "@__cdp_order = external addrspace(3) global [12 x i32], align 8
@{HEAD_NAME} = external addrspace(1) global {{ i64, i32, i32, i32, i32, ptr addrspace(1), [64 x i32], i32 }}, align 8
declare void @{BEGIN}(ptr addrspace(3), i32) convergent nounwind
declare void @{END}(ptr addrspace(1), ptr addrspace(3)) convergent nounwind
{DECLARATIONS}"
    )
}

const BARRIER: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

#[cfg(test)]
mod tests;
