//! Distributes children over the launching warp: what is small enough is run where it would be launched, by
//! the lanes that are there, without any launch. The rest is launched.
//!
//! Each site becomes a call of a small function that is always inlined, written here as LLVM IR. Its
//! parts, in order: is the configuration one that a launch would accept, and how many threads have work
//! ([`Site::head`]); the children, lane by lane, each by all lanes that are there ([`Site::rounds`]); the
//! launch of what was too large.
//!
//! Legality. A child may start at any time after its launch, so running it there is one of its schedules,
//! given that it waits for nobody (`child.rs`). What remains is the order of a block's NULL stream:
//!
//! - [`Mode::InOrder`]: one child of the block at a time, under a lock in shared memory, and none after
//!   one that was really launched, since that one may still be running: then all others are launched
//!   too. Children of one thread run in its order because each is complete when its site is left.
//! - [`Mode::Independent`]: children of different threads may overlap; one thread's run in its order, which a
//!   flag of the thread sees to in the same way.
//!
//! What the launching lane wrote is seen by the lanes that work for it, and theirs by it and by what it
//! launches later: they meet at warp barriers before and after.

use super::child::{Child, EXTRAS};
pub(super) use super::emit::Argument;
use super::emit::{FLAG, Text, launch, lock, moved, product, quoted, unlock, within};
use super::gather::{self, Calls, Gather};
use super::guard::Guard;
use super::queue::Queue;
use super::sums::DONE;
use super::tuning::Tuning;
use crate::raw::view::View;

/// Which promises are kept how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    InOrder,
    /// `tracked`: the stream orders the children of one thread.
    Independent {
        tracked: bool,
    },
}

/// Makes it ready, at the beginning of a kernel.
pub(super) const ORDER_BEGIN: &str = "__cdp_order_begin";

/// Most blocks of a grid that is looked at.
const MOST_BLOCKS: u32 = 1 << 20;
/// What part of a warp's pace a launch has that is not made because its child runs in order: launches of a
/// thread each, and a few, since blocks that launch much tend to have children that are large too.
const IN_ORDER: u32 = 32 * 4;
/// Threads of which a large device has room for at a time.
const RESIDENT_THREADS: u32 = 1 << 18;
/// Shared memory that every device gives without being asked, in bytes.
const MOST_SHARED: u32 = 48 << 10;

/// A launch site on its way into a function.
pub(super) struct Site<'a, 'ctx> {
    /// The function's name.
    pub name: String,
    pub kernel: String,
    pub arguments: Vec<Argument>,
    /// Which of the grid's and the block's dimensions are the same in every lane.
    pub uniform: [bool; 6],
    pub mode: Mode,
    pub tuning: Tuning,
    /// The parent may have learnt what other blocks wrote, which its children must see.
    pub listens: bool,
    /// What is launched goes into the fire-and-forget stream ([`super::relax`]).
    pub relaxed: bool,
    /// That children may overlap is known of blocks of one dimension only; in others all is launched as written.
    pub flat: bool,
    /// All lanes of the warp come here, those too that do not launch ([`super::late`]).
    pub late: bool,
    /// How the launches of a warp become one, where they may.
    pub gather: Option<(&'a Gather<'ctx>, &'a Calls)>,
    /// Where launches of the whole grid are gathered, when nothing orders them.
    pub queue: Option<Queue>,
    /// `None` for a site whose child cannot be run: it only takes part in the order.
    pub child: Option<&'a Child<'ctx>>,
}

/// The module that the sites' functions are linked from, up to them.
pub(super) fn prologue(definitions: &str, declarations: &str) -> String {
    format!("declare i32 @cdp.launch(...)\n{declarations}{INTRINSICS}\n{definitions}\n")
}

const INTRINSICS: &str = "\
declare i32 @llvm.nvvm.activemask()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @__cdp_sums_done(i32)
";

/// What sites share: the block's lock, and what makes it ready.
pub(super) const DEFINITIONS: &str = "\
@__cdp_order = internal addrspace(3) global [2 x i32] poison, align 4
define internal void @__cdp_order_begin() alwaysinline nounwind {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %xy = or i32 %x, %y
  %xyz = or i32 %xy, %z
  %first = icmp eq i32 %xyz, 0
  br i1 %first, label %clear, label %done
clear:
  store volatile i32 0, ptr addrspace(3) @__cdp_order, align 4
  store volatile i32 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  br label %done
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}";

impl Site<'_, '_> {
    /// The function that the site's call becomes.
    pub fn function(&self) -> String {
        let mut text = Text::default();
        let moved = self.arguments.iter().enumerate().filter(|(_, argument)| !argument.uniform);
        text.room_for_copies(moved);
        if self.flat {
            let [y, z] = ["y", "z"].map(|axis| {
                let size = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.ntid.{axis}()"));
                text.set(&format!("icmp eq i32 {size}, 1"))
            });
            text.line(&format!("%flat = and i1 {y}, {z}"));
            if self.relaxed {
                let forget = forget();
                text.line(&format!("%to = select i1 %flat, {forget}, ptr %stream"));
            }
        }
        if self.late && self.child.is_none() {
            text.line("br i1 %wanted, label %here, label %elsewhere");
            text.label("elsewhere");
            text.line("ret i32 0");
            text.label("here");
        }
        if self.listens && self.child.is_some() {
            // A launch passes on what its thread knows. What runs here must look behind its own cache.
            text.line("fence syncscope(\"device\") acq_rel");
        }
        match (self.child, self.mode) {
            (Some(child), Mode::InOrder) => self.in_order(child, &mut text),
            (Some(child), Mode::Independent { .. }) => self.independent(child, &mut text),
            (None, Mode::InOrder) => {
                text.line("%mask = call i32 @llvm.nvvm.activemask()");
                lock(&mut text);
                unlock(&mut text, "true");
                text.line("br label %launch");
            }
            (None, Mode::Independent { .. }) if self.gather.is_some() => {
                self.valid(None, &mut text);
                text.line("%mask = call i32 @llvm.nvvm.activemask()");
                self.gathered("%valid", &mut text);
            }
            (None, Mode::Independent { .. }) => text.line("br label %launch"),
        }
        text.label("launch");
        if (self.mode == Mode::Independent { tracked: true }) {
            text.line("store i1 true, ptr %launched");
        }
        let result = self.launch(&mut text);
        text.line(&format!("ret i32 {result}"));
        let mut params: Vec<String> = ["gx", "gy", "gz", "bx", "by", "bz", "shared"]
            .iter()
            .map(|name| format!("i32 %{name}"))
            .collect();
        params.extend(["ptr %stream".into(), "ptr %launched".into()]);
        let arguments = self.arguments.iter().enumerate();
        params.extend(arguments.map(|(index, argument)| format!("{} %a{index}", argument.ty)));
        if self.late {
            params.push("i1 %wanted".into());
        }
        format!(
            "define internal i32 {}({}) alwaysinline nounwind {{\nentry:\n{}}}\n",
            quoted(&self.name),
            params.join(", "),
            text.out
        )
    }

    fn stream(&self) -> String {
        match (self.relaxed, self.flat) {
            (true, true) => "ptr %to".into(),
            (true, false) => forget(),
            (false, _) => "ptr %stream".into(),
        }
    }

    fn launch(&self, text: &mut Text) -> String {
        let words = ["%gx", "%gy", "%gz", "%bx", "%by", "%bz", "%shared"];
        let own: Vec<String> = (0..self.arguments.len()).map(|i| format!("%a{i}")).collect();
        launch(&self.kernel, words, &self.stream(), &self.arguments, &own, text)
    }

    /// The launches of the lanes of `%mask` where `wants` holds: as one where that saves some, otherwise from
    /// label `launch` on.
    fn gathered(&self, wants: &str, text: &mut Text) {
        let Some((gather, calls)) = self.gather else {
            text.line("br label %launch");
            return;
        };
        text.line(&format!("%wants = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 {wants})"));
        let count = text.set("call i32 @llvm.ctpop.i32(i32 %wants)");
        // In a queue a launch meets those of other warps.
        let least = if self.queue.is_some() { 1 } else { self.tuning.gather.max(1) };
        let many = text.set(&format!("icmp uge i32 {count}, {least}"));
        let join = text.all(&[wants.to_string(), many]);
        text.line(&format!("br i1 {join}, label %gather, label %alone"));
        text.label("gather");
        if self.mode == (Mode::Independent { tracked: true }) {
            text.line("store i1 true, ptr %launched");
        }
        let queue = self.queue.as_ref();
        let least = self.tuning.gather;
        gather::site(gather, &self.arguments, calls, &self.stream(), queue, least, text);
        text.label("alone");
        // A lane that does not launch has nothing left to do.
        match self.child {
            Some(_) => text.line("br i1 %run, label %out, label %launch"),
            None => text.line("br label %launch"),
        }
    }

    /// Would the launch succeed, of a grid that is not too large to look at (`%valid`)? Yields the number of
    /// threads.
    fn valid(&self, child: Option<&Child<'_>>, text: &mut Text) -> String {
        let flat = child.is_some_and(is_flat);
        let shallow = flat || (child.is_none() && self.gather.is_some_and(|(g, _)| !g.deep));
        let most_threads = match (child, self.gather) {
            (Some(child), _) => child.most_threads,
            (None, gather) => gather.map_or(1024, |(gather, _)| gather.most_threads),
        };
        let mut fits = Vec::new();
        for (name, most) in [("gx", MOST_BLOCKS), ("gy", 65_535), ("gz", 65_535)] {
            fits.push(within(text, name, if shallow && name != "gx" { 1 } else { most }));
        }
        for (name, most) in [("bx", 1024), ("by", 1024), ("bz", 64)] {
            fits.push(within(text, name, if flat && name != "bx" { 1 } else { most }));
        }
        fits.push(text.set(&format!("icmp ule i32 %shared, {MOST_SHARED}")));
        let blocks = product(text, ["gx", "gy", "gz"]);
        let threads = product(text, ["bx", "by", "bz"]);
        fits.push(text.set(&format!("icmp ule i64 {blocks}, {MOST_BLOCKS}")));
        fits.push(text.set(&format!("icmp ule i64 {threads}, {most_threads}")));
        if self.flat {
            fits.push("%flat".into());
        }
        let fits = text.all(&fits);
        text.line(&format!("%valid = or i1 {fits}, false"));
        text.set(&format!("mul i64 {blocks}, {threads}"))
    }

    /// Is the launch one that would succeed, how many threads are there (`%total`), how many have work
    /// (`%work`), is that little enough to do here (`%small`)?
    fn head(&self, child: &Child<'_>, text: &mut Text) {
        let flat = is_flat(child);
        let all = self.valid(Some(child), text);
        let mut fits = vec!["%valid".to_string()];
        if self.late {
            fits.push("%wanted".into());
        }
        let timed = self.is_timed(child);
        if self.mode == (Mode::Independent { tracked: true })
            || (timed && self.mode != Mode::InOrder)
        {
            let launched = text.set("load i1, ptr %launched");
            fits.push(text.set(&format!("xor i1 {launched}, true")));
        }
        let fits = text.all(&fits);
        let all = text.set(&format!("select i1 {fits}, i64 {all}, i64 0"));
        let work = match &child.guard {
            Some(guard) if flat => self.guarded(guard, &all, text),
            _ => all,
        };
        let work = text.set(&format!("trunc i64 {work} to i32"));
        text.line(&format!("%work = add i32 {work}, 0"));
        text.line("%mask = call i32 @llvm.nvvm.activemask()");
        text.line("%lanes = call i32 @llvm.ctpop.i32(i32 %mask)");
        text.rank("%rank", "%mask");
        if timed || self.tuning.threshold.is_none() {
            parents(text);
        }
        let limit = self.limit(child, text);
        let little = text.set(&format!("icmp ule i32 %work, {limit}"));
        let small = text.set(&format!("and i1 {fits}, {little}"));
        match self.late {
            // A lane without a launch has a child of no threads.
            true => text.line(&format!("%small = select i1 %wanted, i1 {small}, i1 true")),
            false => text.line(&format!("%small = and i1 {small}, true")),
        }
        if timed && self.mode != Mode::InOrder {
            text.line("%began = call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
        }
    }

    /// Whether what the children took is compared with what their launches would have: when nothing is
    /// known of how long their threads run.
    fn is_timed(&self, child: &Child<'_>) -> bool {
        child.loops && self.tuning.threshold.is_none()
    }

    /// Whether the children that ran took longer than launching them would have; then no more are run. At
    /// most twice the time of the better choice is lost like this, whatever the children do.
    fn slow(&self, text: &mut Text) -> String {
        let at_once = text.set("lshr i64 %parents, 5");
        let budget = text.set(&format!("add i64 {at_once}, 1"));
        let budget = text.set(&format!("mul i64 {budget}, {}", self.tuning.pace));
        self.exceeds(&budget, text)
    }

    /// The same of a block's children that run in order, with what launching those of this warp would have taken in
    /// `%budget`: the launches of the whole device wait for each other, so those of each block that is there count.
    fn budget(&self, launching: &str, text: &mut Text) {
        let most = text.set(&format!("udiv i64 {RESIDENT_THREADS}, %size"));
        let at_once = text.set(&format!("call i64 @llvm.umin.i64(i64 %blocks, i64 {most})"));
        let at_once = text.set(&format!("add i64 {at_once}, 1"));
        let launching = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {launching})"));
        let launching = text.set(&format!("zext i32 {launching} to i64"));
        let launches = text.set(&format!("mul i64 {at_once}, {launching}"));
        text.line(&format!("%budget = mul i64 {launches}, {}", self.tuning.pace / IN_ORDER));
        text.line("%began = call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
    }

    fn exceeds(&self, budget: &str, text: &mut Text) -> String {
        let ended = text.set("call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
        let took = text.set(&format!("sub i64 {ended}, %began"));
        text.set(&format!("icmp ugt i64 {took}, {budget}"))
    }

    /// Threads that have work: those before the guard's bound, of `all`.
    fn guarded(&self, guard: &Guard<'_>, all: &str, text: &mut Text) -> String {
        let wide = |text: &mut Text, value: View<'_>| {
            let (name, bits) = self.expression(value, text);
            let extend = if guard.signed { "sext" } else { "zext" };
            match bits {
                64 => name,
                bits => text.set(&format!("{extend} i{bits} {name} to i64")),
            }
        };
        let bound = wide(text, guard.bound);
        // Far from where 64 bits end; a bound that is negative as a signed number is a large one here.
        let far = 1_i64 << 61;
        let bound = if guard.signed {
            let bound = text.set(&format!("call i64 @llvm.smin.i64(i64 {bound}, i64 {far})"));
            text.set(&format!("call i64 @llvm.smax.i64(i64 {bound}, i64 {})", -far))
        } else {
            text.set(&format!("call i64 @llvm.umin.i64(i64 {bound}, i64 {far})"))
        };
        let mut bound = bound;
        if guard.inclusive {
            bound = text.set(&format!("add i64 {bound}, 1"));
        }
        let mut exact = "true".to_string();
        if let Some(offset) = guard.offset {
            let offset = wide(text, offset);
            let last = text.set(&format!("add i64 {offset}, {all}"));
            let most = match (guard.bits, guard.signed) {
                (64, _) => far,
                (bits, true) => (1_i64 << (bits - 1)) - 1,
                (bits, false) => (1_i64 << bits) - 1,
            };
            // The sum must not wrap for any thread, or the bound means something else.
            let high = text.set(&format!("icmp sle i64 {last}, {most}"));
            let least = if guard.signed { -far } else { 0 };
            let low = text.set(&format!("icmp sge i64 {offset}, {least}"));
            exact = text.all(&[high, low]);
            bound = text.set(&format!("sub i64 {bound}, {offset}"));
        }
        let bound = text.set(&format!("call i64 @llvm.smax.i64(i64 {bound}, i64 0)"));
        let bound = text.set(&format!("call i64 @llvm.smin.i64(i64 {bound}, i64 {all})"));
        text.set(&format!("select i1 {exact}, i64 {bound}, i64 {all}"))
    }

    /// An expression of the kernel's parameters, of the site's arguments: its name and bits.
    fn expression(&self, value: View<'_>, text: &mut Text) -> (String, u32) {
        let bits = value.bits().unwrap_or(32);
        if let Some(number) = value.constant_int() {
            return (number.to_string(), bits);
        }
        if let Some(index) = value.parameter_index() {
            return (format!("%a{index}"), bits);
        }
        let operands: Vec<_> =
            value.operands().into_iter().map(|operand| self.expression(operand, text)).collect();
        use inkwell::llvm_sys::LLVMOpcode::{LLVMAdd, LLVMMul, LLVMSExt, LLVMSub, LLVMTrunc};
        let name = match (value.opcode(), &operands[..]) {
            (Some(LLVMAdd), [(a, _), (b, _)]) => text.set(&format!("add i{bits} {a}, {b}")),
            (Some(LLVMSub), [(a, _), (b, _)]) => text.set(&format!("sub i{bits} {a}, {b}")),
            (Some(LLVMMul), [(a, _), (b, _)]) => text.set(&format!("mul i{bits} {a}, {b}")),
            (Some(LLVMSExt), [(a, from), ..]) => text.set(&format!("sext i{from} {a} to i{bits}")),
            (Some(LLVMTrunc), [(a, from), ..]) => {
                text.set(&format!("trunc i{from} {a} to i{bits}"))
            }
            (_, [(a, from), ..]) => text.set(&format!("zext i{from} {a} to i{bits}")),
            _ => "0".to_string(),
        };
        (name, bits)
    }

    /// The most threads of a child that the lanes do.
    fn limit(&self, child: &Child<'_>, text: &mut Text) -> String {
        let Tuning { threshold, .. } = self.tuning;
        if let Some(threshold) = threshold {
            return threshold.to_string();
        }
        let steps = self.tuning.steps(child.loops);
        let most = |text: &mut Text, value: &str, shift: u32, most: u32| {
            let value = text.set(&format!("lshr i64 {value}, {shift}"));
            text.set(&format!("call i64 @llvm.umin.i64(i64 {value}, i64 {most})"))
        };
        let mut limit = most(text, "%parents", steps.shift, steps.most);
        if self.mode == Mode::InOrder {
            // A real launch has all later ones of the block launched: how many that are, the lanes that
            // are here tell.
            let lanes = text.set("zext i32 %lanes to i64");
            let launching = text.set(&format!("mul i64 %parents, {lanes}"));
            let other = most(text, &launching, steps.shift_in_order + 5, steps.most_in_order);
            limit = text.set(&format!("call i64 @llvm.umax.i64(i64 {limit}, i64 {other})"));
        }
        let limit = text.set(&format!("trunc i64 {limit} to i32"));
        let ordered = self.queue.is_none() && self.mode != Mode::InOrder;
        let least = if ordered { steps.least_ordered } else { steps.least };
        let limit = text.set(&format!("call i32 @llvm.umax.i32(i32 {limit}, i32 {least})"));
        text.set(&format!("mul i32 {limit}, %lanes"))
    }

    /// Children of different lanes at the same time where they are tiny, then the others one by one.
    fn independent(&self, child: &Child<'_>, text: &mut Text) {
        self.head(child, text);
        let own = self.tuning.own;
        let tiny = text.set(&format!("icmp ule i32 %work, {own}"));
        let tiny = text.set(&format!("and i1 %small, {tiny}"));
        text.line(&format!("%own = select i1 {tiny}, i32 %work, i32 0"));
        let other = text.set(&format!("xor i1 {tiny}, true"));
        let other = text.set(&format!("and i1 %small, {other}"));
        let waiting = text.ballot(&other);
        if self.queue.is_some() {
            // Where a grid's launches are one, so many children in a row take longer than theirs.
            let count = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {waiting})"));
            let few = text.set(&format!("icmp ule i32 {count}, {}", self.tuning.crowd));
            text.line(&format!("%waiting = select i1 {few}, i32 {waiting}, i32 0"));
            let here = text.set(&format!("or i1 {tiny}, {few}"));
            text.line(&format!("%run = and i1 %small, {here}"));
        } else {
            text.line(&format!("%waiting = or i32 {waiting}, 0"));
            text.line("%run = or i1 %small, false");
        }
        text.line("br label %round");
        let first =
            Round { from: "entry", index: "0", step: "1", end: "%own", waiting: "%waiting" };
        self.rounds(child, Some(&first), text);
        text.label("done");
        summed(child, text);
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        if self.is_timed(child) {
            let slow = self.slow(text);
            let launched = text.set("load i1, ptr %launched");
            let launched = text.set(&format!("or i1 {launched}, {slow}"));
            text.line(&format!("store i1 {launched}, ptr %launched"));
        }
        match self.gather {
            None => text.line("br i1 %run, label %out, label %launch"),
            Some(_) => {
                let large = text.set("xor i1 %run, true");
                let wants = text.set(&format!("and i1 {large}, %valid"));
                self.gathered(&wants, text);
            }
        }
        text.label("out");
        text.line("ret i32 0");
    }

    /// One child of the block after another.
    fn in_order(&self, child: &Child<'_>, text: &mut Text) {
        self.head(child, text);
        let some = text.set("icmp ne i32 %work, 0");
        let large = text.set("xor i1 %small, true");
        text.line(&format!("%child = and i1 %small, {some}"));
        text.line(&format!("%large = or i1 {large}, false"));
        let any = text.set("or i1 %child, %large");
        let launching = text.ballot(&any);
        let any = text.set(&format!("icmp ne i32 {launching}, 0"));
        text.line(&format!("br i1 {any}, label %enter, label %out"));
        text.label("enter");
        lock(text);
        if self.is_timed(child) {
            self.budget(&launching, text);
        }
        let flag = text.set(&format!("load volatile i32, {FLAG}, align 4"));
        text.line(&format!("%late = icmp ne i32 {flag}, 0"));
        let early = text.set("xor i1 %late, true");
        let run = text.set(&format!("and i1 %child, {early}"));
        text.line(&format!("%waiting = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 {run})"));
        text.line("br label %check");
        text.label("check");
        text.line("%ready = icmp ne i32 %waiting, 0");
        text.line("br i1 %ready, label %next, label %done");
        self.rounds(child, None, text);
        text.label("done");
        text.line("%unserved = phi i32 [ 0, %check ], [ %left, %turn ]");
        let large = text.ballot("%large");
        let mut launched = text.set(&format!("or i32 {large}, %unserved"));
        launched = text.set(&format!("icmp ne i32 {launched}, 0"));
        if self.is_timed(child) {
            let slow = self.exceeds("%budget", text);
            launched = text.set(&format!("or i1 {launched}, {slow}"));
        }
        unlock(text, &launched);
        let missed = text.set("and i1 %child, %late");
        let own = text.set("call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
        let own = text.set(&format!("lshr i32 %unserved, {own}"));
        let own = text.set(&format!("trunc i32 {own} to i1"));
        let missed = text.set(&format!("or i1 {missed}, {own}"));
        let really = text.set(&format!("or i1 %large, {missed}"));
        text.line(&format!("br i1 {really}, label %launch, label %out"));
        text.label("out");
        text.line("ret i32 0");
    }
}

/// Values with which the first round begins.
struct Round<'a> {
    from: &'a str,
    index: &'a str,
    step: &'a str,
    end: &'a str,
    waiting: &'a str,
}

impl Site<'_, '_> {
    /// The rounds: in each, every lane runs some threads of a child. In the first, if there is one, a
    /// lane's own; then, for each lane of `%waiting`, all lanes those of that one. Then control goes to
    /// `done`.
    fn rounds(&self, child: &Child<'_>, first: Option<&Round<'_>>, text: &mut Text) {
        let in_order = first.is_none();
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
        text.line(&format!("%from = call i32 @llvm.cttz.i32(i32 {waiting}, i1 true)"));
        let less = text.set(&format!("sub i32 {waiting}, 1"));
        text.line(&format!("%rest = and i32 {waiting}, {less}"));
        let end = text.shuffle("%mask", "%work", "%from");
        let dims: Vec<String> = ["gx", "gy", "gz", "bx", "by", "bz"]
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
        text.label("round");
        let phi = |text: &mut Text, name: &str, ty: &str, own: &str, other: &str| match first {
            Some(Round { from, .. }) => {
                text.line(&format!("%r.{name} = phi {ty} [ {own}, %{from} ], [ {other}, %next ]"))
            }
            None => text.line(&format!("%r.{name} = phi {ty} [ {other}, %next ]")),
        };
        let begin = first.map_or(["", "", "", ""], |r| [r.index, r.step, r.end, r.waiting]);
        phi(text, "index", "i32", begin[0], "%rank");
        phi(text, "step", "i32", begin[1], "%lanes");
        phi(text, "end", "i32", begin[2], &end);
        phi(text, "left", "i32", begin[3], "%rest");
        for (dim, name) in dims.iter().zip(["gx", "gy", "gz", "bx", "by", "bz"]) {
            phi(text, name, "i32", &format!("%{name}"), dim);
        }
        for (index, (argument, moved)) in self.arguments.iter().zip(&moved).enumerate() {
            phi(text, &format!("a{index}"), &argument.ty, &format!("%a{index}"), moved);
        }
        text.line("br label %loop");
        text.label("loop");
        text.line("%index = phi i32 [ %r.index, %round ], [ %index.next, %body ]");
        text.line("%more = icmp ult i32 %index, %r.end");
        text.line("br i1 %more, label %body, label %turn");
        text.label("body");
        self.call(child, text);
        text.line("%index.next = add nuw i32 %index, %r.step");
        text.line("br label %loop");
        text.label("turn");
        if in_order {
            summed(child, text);
            // The next child sees all that this one did.
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        }
        text.line("%left = or i32 %r.left, 0");
        let mut again = text.set("icmp ne i32 %left, 0");
        if in_order && self.is_timed(child) {
            let slow = self.exceeds("%budget", text);
            // All lanes go on together, or none.
            let votes = text.ballot(&slow);
            let in_time = text.set(&format!("icmp eq i32 {votes}, 0"));
            again = text.set(&format!("and i1 {again}, {in_time}"));
        }
        text.line(&format!("br i1 {again}, label %next, label %done"));
    }

    /// One thread of the child.
    fn call(&self, child: &Child<'_>, text: &mut Text) {
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
            for (number, first, x, y) in
                [(block, 0, "%r.gx", "%r.gy"), (thread, 3, "%r.bx", "%r.by")]
            {
                extras[first] = text.set(&format!("urem i32 {number}, {x}"));
                let above = text.set(&format!("udiv i32 {number}, {x}"));
                extras[first + 1] = text.set(&format!("urem i32 {above}, {y}"));
                extras[first + 2] = text.set(&format!("udiv i32 {above}, {y}"));
            }
            let rows = text.set(&format!("mul i32 {}, %r.bx", extras[0]));
            extras[12] = text.set(&format!("add i32 {rows}, {}", extras[3]));
        }
        let mut operands: Vec<String> = self
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| format!("{} %r.a{index}", argument.ty))
            .collect();
        operands.extend(extras.iter().map(|value| format!("i32 {value}")));
        let body = quoted(&child.body.get_name().to_string_lossy());
        text.line(&format!("call void {body}({})", operands.join(", ")));
    }
}

/// What the lanes of `%mask` added up in registers goes to memory.
fn summed(child: &Child<'_>, text: &mut Text) {
    if child.sums {
        text.line(&format!("call void @{DONE}(i32 %mask)"));
    }
}

/// The fire-and-forget stream.
fn forget() -> String {
    let value = cdp_launch::StreamConst::FireAndForget.value();
    format!("ptr inttoptr (i64 {value} to ptr)")
}

/// The blocks and threads of the parent's grid.
fn parents(text: &mut Text) {
    let mut all = "1".to_string();
    for (index, name) in
        ["nctaid.x", "nctaid.y", "nctaid.z", "ntid.x", "ntid.y", "ntid.z"].iter().enumerate()
    {
        let dim = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.{name}()"));
        let dim = text.set(&format!("zext i32 {dim} to i64"));
        all = text.set(&format!("mul i64 {all}, {dim}"));
        if index == 2 {
            text.line(&format!("%blocks = add i64 {all}, 0"));
            all = "1".to_string();
        }
    }
    text.line(&format!("%size = add i64 {all}, 0"));
    text.line("%parents = mul i64 %blocks, %size");
}

/// A kernel that knows of x alone: its other dimensions must be 1, and a thread's number is its place.
fn is_flat(child: &Child<'_>) -> bool {
    ![1, 2, 4, 5].iter().any(|index| child.used[*index])
}

/// Whether the lanes that work for another need that dimension (grid x, y, z, block x, y, z).
fn uses_dim(child: &Child<'_>, index: usize) -> bool {
    let asked = child.used[6 + index];
    match is_flat(child) {
        true => asked || (index == 3 && !child.is_linear()),
        false => true,
    }
}
