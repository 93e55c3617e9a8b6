//! A kernel once more that launches nothing: its grids run all their children themselves, and nothing of it knows the device
//! runtime. A grid of a kernel that may call the device runtime takes its host up to two microseconds longer, launch or not,
//! so where a program's grids have small children alone, as those of a search over a road map, the host takes this version,
//! its *twin*, instead. The kernel itself stays as it is.
//!
//! Who chooses is the runtime that the program is linked with (`cdp-runtime`, `gpu/inside.rs`): it finds the twin by its name
//! ([`TWIN`] behind the kernel's), and gives both of them a word of the host's memory, by a variable of the module ([`WORD`]
//! behind it), in which a grid tells that it met a child larger than those that lanes run anyway. By that word it takes the
//! twin after some grids without such children, and the kernel after one with. Another host knows nothing of all this,
//! launches the kernel, and the variable stays null: then nothing is told.
//!
//! Legality. Each of the two versions does what the source says for every input, so that it does not matter which one a grid
//! is of, or how old what the host knows is. The twin runs all children as small ones are run ([`super::distribute`]), of
//! which that is right whatever their size, if
//!
//! - all launches of the kernel are of children that lanes run, which may overlap, and whose errors nobody looks at: a launch
//!   that fails does nothing;
//! - a child's threads can be counted in 31 bits, as its body counts them: that is known from the dimensions that the launch
//!   gives ([`view::most_of_operand`]), not tested, since there is nobody who could launch it;
//! - a dimension that the child's body does not ask for is 1;
//! - nothing else in the kernel, or in what it calls, calls the device runtime, leads to functions that are not known, or
//!   launches.
//!
//! A large child takes long in a twin, once for each change of the host's mind.
//!
//! What is absent: `safe`, where children keep their order and a kernel is compiled in less time without; which one is
//! launched from the device: always the kernel.

use std::collections::HashSet;

use inkwell::module::Linkage;
use inkwell::values::FunctionValue;

use super::calls::{Callee, callee};
use super::child::{Child, is_flat};
use super::distribute::MOST_SHARED;
use super::emit::{Text, quoted};
use super::parent::sites_of;
use super::site::{Mode, Site};
use super::{Pass, Plan, Plans};
use crate::error::{Result, bug};
use crate::options::LaunchOpt;
use crate::raw;
use crate::raw::view::{self, View};

/// What the name of a kernel's twin has behind that of the kernel. The runtime knows it too.
pub(super) const TWIN: &str = "__cdp_inside";
/// The same of the variable in which both find the host's word.
pub(super) const WORD: &str = "__cdp_met";

/// Threads of a child, as its body counts them.
const MOST_THREADS: u64 = 1 << 31;

/// Tells the host that a grid met a large child, once for each grid. Behind the host's word stands the last grid that did.
pub(super) const DEFINITIONS: &str = "\
define internal void @__cdp_tell(ptr %at, i1 %met) alwaysinline nounwind {
entry:
  br i1 %met, label %ask, label %done
ask:
  %word = load volatile ptr, ptr %at, align 8
  %heard = icmp ne ptr %word, null
  br i1 %heard, label %look, label %done
look:
  %place = getelementptr i8, ptr %at, i64 8
  %last = load volatile i64, ptr %place, align 8
  %grid = call i64 asm \"mov.u64 $0, %gridid;\", \"=l\"()
  %again = icmp eq i64 %last, %grid
  br i1 %again, label %done, label %tell
tell:
  store volatile i64 %grid, ptr %place, align 8
  store volatile i32 1, ptr %word, align 4
  br label %done
done:
  ret void
}
";

impl<'ctx> Pass<'_, 'ctx> {
    /// Adds the twins of the kernels that have one to what is to be done.
    pub(super) fn with_twins(&self, mut plans: Plans<'ctx>) -> Result<Plans<'ctx>> {
        let wanted = self.options.launch_tuning.inside;
        if wanted == 0 || self.options.launch_opt != LaunchOpt::Fast || !self.options.abi.is_v2() {
            return Ok(plans);
        }
        let mut twins = Vec::new();
        for (kernel, plans) in &mut plans {
            if !self.launches_small_ones(*kernel, plans) {
                continue;
            }
            if wanted > 1 {
                plans.iter_mut().for_each(Plan::run_inside);
                continue;
            }
            let name = kernel.get_name().to_string_lossy().into_owned();
            let twin = view::twin(*kernel, &format!("{name}{TWIN}"));
            let twin = twin.ok_or_else(|| bug("optimise launches", "a kernel without a body"))?;
            let copied = sites_of(twin).into_iter().zip(&*plans);
            let copied = copied.map(|(site, plan)| {
                let tells = Some(format!("{name}{WORD}"));
                let mut copy =
                    Plan { site, tells, told: None, left: None, unordered: None, ..*plan };
                copy.run_inside();
                copy
            });
            twins.push((twin, copied.collect()));
            plans.iter_mut().for_each(|plan| plan.tells = Some(format!("{name}{WORD}")));
        }
        plans.extend(twins);
        Ok(plans)
    }

    /// The variables of kernels with twins, as text.
    pub(super) fn words(&self, plans: &Plans<'ctx>) -> String {
        let mut seen = HashSet::new();
        let told = plans.iter().flat_map(|(kernel, plans)| plans.iter().map(move |p| (kernel, p)));
        let words = told.filter_map(|(kernel, plan)| Some((kernel, plan.tells.as_ref()?)));
        let mut text = String::new();
        for (kernel, word) in words.filter(|(_, word)| seen.insert(*word)) {
            let linkage = if kernel.get_linkage() == Linkage::External { "" } else { "weak " };
            let name = quoted(word);
            text += &format!(
                "{name} = {linkage}addrspace(1) global {{ ptr, i64 }} zeroinitializer, align 8\n"
            );
        }
        if !text.is_empty() { DEFINITIONS.to_string() + &text } else { text }
    }

    /// Whether all that a kernel launches may be run by its own threads, however large.
    fn launches_small_ones(&self, kernel: FunctionValue<'ctx>, plans: &[Plan<'ctx>]) -> bool {
        let visible = [Linkage::External, Linkage::WeakAny, Linkage::WeakODR];
        visible.contains(&kernel.get_linkage())
            && self.written(kernel) == kernel
            && plans.len() == sites_of(kernel).len()
            && plans.iter().all(|plan| self.may_run_inside(plan))
            && knows_no_runtime(View::function(kernel))
    }

    fn may_run_inside(&self, plan: &Plan<'ctx>) -> bool {
        let said = &plan.site.said;
        let hinted = said.keep || said.aggregate.is_some() || said.coarsen.is_some();
        let child = plan.child.and_then(|child| self.children[child].as_ref().ok());
        let as_is = !plan.parted && !plan.flat && plan.sequence.is_none();
        matches!(plan.mode, Mode::Independent { .. })
            && plan.unasked
            && as_is
            && !hinted
            && child.is_some_and(|child| is_countable(plan, child))
    }
}

impl Plan<'_> {
    /// All children are run where they would be launched.
    fn run_inside(&mut self) {
        self.inside = true;
        self.gather = None;
        self.queued = false;
        self.relaxed = false;
    }
}

/// Whether a launch's dimensions say that its threads are few enough to be counted, and how they are.
fn is_countable(plan: &Plan<'_>, child: &Child<'_>) -> bool {
    let call = View::instruction(raw::instruction(plan.site.call));
    let most: [u64; 7] = std::array::from_fn(|at| view::most_of_operand(call, 1 + at as u32));
    let [_, gy, gz, bx, by, bz, shared] = most;
    let one = |at: usize| call.operand(1 + at as u32).and_then(View::constant_int) == Some(1);
    let flat = !is_flat(child) || [1, 2, 4, 5].into_iter().all(one);
    let block = (bx.min(1024) * by.min(1024) * bz.min(64)).min(u64::from(child.most_threads));
    let blocks = most[0] * (gy.min(0xffff) * gz.min(0xffff));
    let threads = blocks.checked_mul(block);
    flat && shared <= u64::from(MOST_SHARED) && threads.is_some_and(|all| all <= MOST_THREADS)
}

/// Whether a kernel, but for its own launches, and what it calls can lead to no function of the device runtime.
fn knows_no_runtime(kernel: View<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for called in function.instructions().into_iter().filter_map(View::callee) {
            match callee(called) {
                Callee::Launch if function == kernel => {}
                Callee::Launch | Callee::Runtime(_) | Callee::Pointer | Callee::Unknown(_) => {
                    return false;
                }
                Callee::Defined(next) => work.push(next),
                _ => {}
            }
        }
    }
    true
}

impl Site<'_, '_> {
    /// Tells the host of a large child where `met` holds, if somebody is told.
    pub(super) fn tell(&self, met: &str, text: &mut Text) {
        if let Some(word) = &self.tells {
            let place = text.generic(&quoted(word));
            text.line(&format!("call void @__cdp_tell(ptr {place}, i1 {met})"));
        }
    }

    /// Tells the host of children that are in the pool.
    pub(super) fn tell_of_pooled(&self, text: &mut Text) {
        if self.tells.is_some() {
            // All lanes do the same, so that they stay together.
            let pooled = text.ballot("%pooled");
            let some = text.set(&format!("icmp ne i32 {pooled}, 0"));
            self.tell(&some, text);
        }
    }

    /// What stands behind the rounds where all children are run: what would have been launched is told.
    pub(super) fn told_inside(&self, child: &Child<'_>, text: &mut Text) {
        let mut met = "%large".to_string();
        if !self.one {
            let crowded = text.set("xor i1 %few, true");
            met = text.set(&format!("or i1 {met}, {crowded}"));
        }
        if self.is_timed(child) {
            let slow = self.slow(text);
            met = text.set(&format!("or i1 {met}, {slow}"));
        }
        self.tell(&met, text);
        text.line("ret i32 0");
    }
}

#[cfg(test)]
mod tests;
