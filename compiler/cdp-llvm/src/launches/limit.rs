//! How large a child may be that is not launched: threads that have work, the most that are run, and when running children
//! has taken longer than launching them would have.
//!
//! What is absent: the constants ([`super::tuning`]), and what a child's first test is ([`super::guard`]).

use super::child::Child;
use super::emit::Text;
use super::guard::Guard;
use super::site::{Mode, Site};
use super::tuning::{Steps, Tuning};
use crate::raw::view::View;

/// What part of a warp's pace a launch has that is not made because its child runs in order: launches of a
/// thread each, and a few, since blocks that launch much tend to have children that are large too.
const IN_ORDER: u32 = 32 * 4;
/// More turns than any limit.
const MOST_TURNS: u32 = 1 << 30;
/// Threads of which a large device has room for at a time.
const RESIDENT_THREADS: u32 = 1 << 18;

impl Site<'_, '_> {
    /// Whether what the children took is compared with what their launches would have: when nothing is
    /// known of how long their threads run.
    pub(super) fn is_timed(&self, child: &Child<'_>) -> bool {
        child.loops && self.tuning.threshold.is_none()
    }

    /// Whether the children that ran took longer than launching them would have; then no more are run. At
    /// most twice the time of the better choice is lost like this, whatever the children do.
    pub(super) fn slow(&self, text: &mut Text) -> String {
        let at_once = text.set("lshr i64 %parents, 5");
        let budget = text.set(&format!("add i64 {at_once}, 1"));
        let budget = text.set(&format!("mul i64 {budget}, {}", self.tuning.pace));
        self.exceeds(&budget, text)
    }

    /// The same of a block's children that run in order, with what launching those of this warp would have taken in
    /// `%budget`: the launches of the whole device wait for each other, so those of each block that is there count.
    pub(super) fn budget(&self, launching: &str, text: &mut Text) {
        let most = text.set(&format!("udiv i64 {RESIDENT_THREADS}, %size"));
        let at_once = text.set(&format!("call i64 @llvm.umin.i64(i64 %blocks, i64 {most})"));
        let at_once = text.set(&format!("add i64 {at_once}, 1"));
        let launching = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {launching})"));
        let launching = text.set(&format!("zext i32 {launching} to i64"));
        let launches = text.set(&format!("mul i64 {at_once}, {launching}"));
        text.line(&format!("%budget = mul i64 {launches}, {}", self.launch_cycles()));
        text.line("%began = call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
    }

    /// Cycles for a launch that is not made because its child runs in order.
    pub(super) fn launch_cycles(&self) -> u32 {
        self.tuning.pace / IN_ORDER
    }

    /// Whether children that run in order have run for too long.
    pub(super) fn late_in_order(&self, text: &mut Text) -> String {
        match self.sequence {
            None => self.exceeds("%budget", text),
            Some(_) => {
                let now = text.set("call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
                text.set(&format!("icmp ugt i64 {now}, %deadline"))
            }
        }
    }

    pub(super) fn exceeds(&self, budget: &str, text: &mut Text) -> String {
        let ended = text.set("call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
        let took = text.set(&format!("sub i64 {ended}, %began"));
        text.set(&format!("icmp ugt i64 {took}, {budget}"))
    }

    /// Threads that have work: those before the guard's bound, of `all`. And how many turns of loops they have, or
    /// threads, where these take the turns of others.
    pub(super) fn guarded(&self, guard: &Guard<'_>, all: &str, text: &mut Text) -> [String; 2] {
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
        let turns = text.set(&format!("call i64 @llvm.smin.i64(i64 {bound}, i64 {MOST_TURNS})"));
        let mut threads = text.set(&format!("call i64 @llvm.smin.i64(i64 {bound}, i64 {all})"));
        threads = text.set(&format!("select i1 {exact}, i64 {threads}, i64 {all}"));
        if !guard.of_block {
            return [threads, turns];
        }
        // Several blocks have as many each.
        let blocks = text.set("zext i32 %gx to i64");
        let one = text.set("icmp eq i32 %gx, 1");
        threads = text.set(&format!("select i1 {one}, i64 {threads}, i64 {all}"));
        let turns = text.set(&format!("mul i64 {turns}, {blocks}"));
        [threads, text.set(&format!("call i64 @llvm.umin.i64(i64 {turns}, i64 {MOST_TURNS})"))]
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

    /// Whether few lanes have a child that all run together, of those where `other` holds.
    pub(super) fn few(&self, child: &Child<'_>, other: &str, text: &mut Text) -> String {
        // Where a grid's launches are one, so many children in a row take longer than theirs.
        let steps = if child.loops || child.strides { 0 } else { self.tuning.crowd_steps };
        let short = text.set(&format!("mul i32 %lanes, {steps}"));
        let long = text.set(&format!("icmp ugt i32 %turns, {short}"));
        let long = text.set(&format!("and i1 {other}, {long}"));
        let long = text.ballot(&long);
        let count = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {long})"));
        let mut few = text.set(&format!("icmp ule i32 {count}, {}", self.tuning.crowd));
        if child.added && self.tuning.threshold.is_none() {
            // As blocks these are at work everywhere on the device, which the warps of a small grid are not.
            let many = self.fills_device(text);
            few = text.all(&[few, many]);
        }
        few
    }

    /// Whether the parent's grid keeps much of a device busy.
    pub(super) fn fills_device(&self, text: &mut Text) -> String {
        text.set(&format!("icmp uge i64 %parents, {}", self.tuning.large_parents))
    }

    /// The most threads of a child that the lanes do.
    pub(super) fn limit(&self, child: &Child<'_>, text: &mut Text) -> String {
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
            let shifted = text.set(&format!("lshr i64 {launching}, {}", steps.shift_in_order + 5));
            let most = text.set(&format!("mul i64 {lanes}, {}", steps.most_in_order));
            let most = text.set(&format!("lshr i64 {most}, 5"));
            let other = text.set(&format!("call i64 @llvm.umin.i64(i64 {shifted}, i64 {most})"));
            limit = text.set(&format!("call i64 @llvm.umax.i64(i64 {limit}, i64 {other})"));
        }
        let limit = text.set(&format!("trunc i64 {limit} to i32"));
        let ordered = self.queue.is_none() && self.mode != Mode::InOrder;
        let least = if ordered { least_ordered(&steps, text) } else { steps.least.to_string() };
        let limit = text.set(&format!("call i32 @llvm.umax.i32(i32 {limit}, i32 {least})"));
        text.set(&format!("mul i32 {limit}, %lanes"))
    }
}

/// Steps that are always worth it where a stream orders launches. Those of different blocks wait for each other, so the
/// more threads launch, the longer each launch takes; one of few takes no longer than few steps.
fn least_ordered(steps: &Steps, text: &mut Text) -> String {
    let lanes = text.set("zext i32 %lanes to i64");
    let launching = text.set(&format!("mul i64 %blocks, {lanes}"));
    let waiting = text.set(&format!("lshr i64 {launching}, {}", steps.shift_ordered));
    let worth = text.set(&format!("mul i64 {waiting}, {}", steps.each_ordered));
    let worth =
        text.set(&format!("call i64 @llvm.umin.i64(i64 {worth}, i64 {})", steps.least_ordered));
    let worth = text.set(&format!("trunc i64 {worth} to i32"));
    text.set(&format!("call i32 @llvm.umax.i32(i32 {worth}, i32 {})", steps.few_ordered))
}

/// The blocks and threads of the parent's grid.
pub(super) fn parents(text: &mut Text) {
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
