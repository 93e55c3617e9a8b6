//! Whether one thread of a block, always the same, does all launches of a kernel: `if (threadIdx.x == 0)`. Its
//! launches are ordered by itself, and there is nobody else to be ordered with. Whether that is one thread of the whole
//! grid. And whether a kernel's grids have one thread at all. An analysis.
//!
//! Legality. Every way to a launch goes through one edge of the control flow, which is taken only where two values
//! are equal that differ by a multiple of the thread's index along x and by what is the same for the whole block all
//! the time. No two threads of a block with one dimension can find them equal. That it is one thread of the grid decides
//! what is worth it alone, so grids are taken to have one dimension where the kernel asks for no other index.

use std::collections::HashSet;

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use inkwell::values::FunctionValue;

use super::access::Function;
use super::calls::register_of;
use super::dominators::Dominators;
use super::form::Symbol;
use super::parent::LaunchSite;
use crate::raw;
use crate::raw::view::{Block, View};

/// Threads along x.
const MOST_THREADS: i128 = 1024;

/// Whether one thread of each block, if the block has one dimension, comes to all of these sites.
pub(super) fn one_thread<'ctx>(kernel: FunctionValue<'ctx>, sites: &[&LaunchSite<'ctx>]) -> bool {
    let function = Function::parent(View::function(kernel));
    Gates::new(kernel, sites).say(&|left, right| names_one(&function, left, right))
}

/// Whether one thread of a grid comes to a site, as far as one can see: its launches have none of other threads beside
/// them that they could be made one with.
pub(super) fn one_of_grid<'ctx>(kernel: FunctionValue<'ctx>, site: &LaunchSite<'ctx>) -> bool {
    let function = Function::parent(View::function(kernel));
    let in_grid = |left, right| reach(&function, left, right) == Some(Reach::Grid);
    let of_block = |left, right| reach(&function, left, right) == Some(Reach::Block);
    let in_block = |left, right| names_one(&function, left, right);
    let gates = Gates::new(kernel, &[site]);
    let guarded = gates.say(&in_grid) || gates.say(&of_block) && gates.say(&in_block);
    guarded && !asks_for_more_than_x(View::function(kernel))
}

/// Conditions that every way to some sites goes through, each with what it was there.
struct Gates<'ctx>(Vec<(View<'ctx>, bool)>);

impl<'ctx> Gates<'ctx> {
    fn new(kernel: FunctionValue<'ctx>, sites: &[&LaunchSite<'ctx>]) -> Self {
        let targets: Option<HashSet<Block<'ctx>>> =
            sites.iter().map(|s| View::instruction(raw::instruction(s.call)).block()).collect();
        let flow = Dominators::new(View::function(kernel));
        let edges = |target| flow.gates(target).into_iter().collect::<HashSet<_>>();
        let common = targets
            .and_then(|targets| targets.into_iter().map(edges).reduce(|one, other| &one & &other));
        let condition = |(from, to): (Block<'ctx>, Block<'ctx>)| {
            let end = from.terminator()?;
            let [then, otherwise] = end.successors()[..] else { return None };
            (then != otherwise).then_some((end.condition()?, to == then))
        };
        Gates(common.into_iter().flatten().filter_map(condition).collect())
    }

    /// Whether one of them says that two values are equal for which `names` holds.
    fn say(&self, names: Names<'_, 'ctx>) -> bool {
        self.0.iter().any(|(condition, truth)| chooses(names, *condition, *truth, 0))
    }
}

/// Whether a kernel launches itself, and these grids are of one thread. Most of its grids are such then, which have no
/// other launches to make theirs one with, while the code for that is several times the kernel's own.
pub(super) fn calls_itself_alone<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
) -> bool {
    calls_itself(kernel, sites, 6)
}

/// Whether a kernel launches itself, and these grids are of one block, whose one thread does all launches: the same of
/// blocks.
pub(super) fn block_calls_itself_alone<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
) -> bool {
    calls_itself(kernel, sites, 3) && one_thread(kernel, &sites.iter().collect::<Vec<_>>())
}

/// Whether a kernel launches itself, always with 1 for so many of the grid's and the block's dimensions.
fn calls_itself<'ctx>(
    kernel: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
    dimensions: usize,
) -> bool {
    let is_own = |site: &&LaunchSite<'ctx>| site.kernel() == Some(kernel);
    let is_one = |site: &LaunchSite<'ctx>| {
        let shape = site.operands.get(1..=dimensions);
        shape.is_some_and(|shape| {
            shape.iter().all(|count| View::value(*count).constant_int() == Some(1))
        })
    };
    let mut own = sites.iter().filter(is_own).peekable();
    own.peek().is_some() && own.all(is_one)
}

/// Whether two values are equal for those only that are looked for.
type Names<'a, 'ctx> = &'a dyn Fn(View<'ctx>, View<'ctx>) -> bool;

/// Whether a condition, when it is `truth`, says that two values are equal for which `names` holds.
fn chooses<'ctx>(names: Names<'_, 'ctx>, condition: View<'ctx>, truth: bool, depth: u32) -> bool {
    let operands = condition.operands();
    if let Some(predicate) = condition.comparison() {
        let wanted = match truth {
            true => LLVMIntPredicate::LLVMIntEQ,
            false => LLVMIntPredicate::LLVMIntNE,
        };
        let [left, right] = operands[..] else { return false };
        if predicate != wanted {
            return false;
        }
        // `a == 0 && b == 0` is `(a | b) == 0` by now.
        let both = left.opcode() == Some(LLVMOpcode::LLVMOr) && right.constant_int() == Some(0);
        return names(left, right)
            || (both && left.operands().iter().any(|part| names(*part, right)));
    }
    if depth == 4 {
        return false;
    }
    let is = |value: &View<'ctx>, number: i64| {
        value.constant_int().is_some_and(|constant| (constant != 0) == (number != 0))
    };
    let either = match (condition.opcode(), &operands[..], truth) {
        (Some(LLVMOpcode::LLVMAnd), [_, _], true) | (Some(LLVMOpcode::LLVMOr), [_, _], false) => {
            &operands[..]
        }
        // `a && b` and `a || b` that look at the second only where they must.
        (Some(LLVMOpcode::LLVMSelect), [_, _, last], true) if is(last, 0) => &operands[..2],
        (Some(LLVMOpcode::LLVMSelect), [first, middle, last], false) if is(middle, 1) => {
            return [first, last].iter().any(|part| chooses(names, **part, truth, depth + 1));
        }
        (Some(LLVMOpcode::LLVMXor), [inner, last], _) if is(last, 1) => {
            return chooses(names, *inner, !truth, depth + 1);
        }
        _ => return false,
    };
    either.iter().any(|part| chooses(names, *part, truth, depth + 1))
}

/// Whether two values are equal for one thread of a block at most.
fn names_one<'ctx>(function: &Function<'ctx>, left: View<'ctx>, right: View<'ctx>) -> bool {
    let difference = || function.form(left)?.plus(&function.form(right)?, -1);
    let Some(sum) = difference() else { return false };
    let bits = sum.bits.min(left.bits().unwrap_or(0));
    let factor = i128::from(sum.terms.get(&Symbol::Thread).copied().unwrap_or(0)).abs();
    let known = sum.low == sum.high
        && sum.terms.keys().all(|symbol| !matches!(symbol, Symbol::Parameter(_)));
    known && factor != 0 && factor * (MOST_THREADS - 1) < 1_i128 << bits
}

/// How far it reaches that two values are equal for one at most.
#[derive(PartialEq)]
enum Reach {
    /// For one block of a grid.
    Block,
    /// For one thread of a grid.
    Grid,
}

/// For whom alone two values are equal, in a grid of one dimension, as far as one can see.
fn reach<'ctx>(function: &Function<'ctx>, left: View<'ctx>, right: View<'ctx>) -> Option<Reach> {
    let sum = function.form(left)?.plus(&function.form(right)?, -1)?;
    let (mut thread, mut block, mut row) = (0, 0, 0);
    for (symbol, factor) in &sum.terms {
        match symbol {
            Symbol::Thread => thread = *factor,
            Symbol::Parameter(_) => return None,
            Symbol::Uniform(value) if is_register(*value, "ctaid.x") => block = *factor,
            Symbol::Uniform(value) if is_row(*value) => row = *factor,
            // What may be another number in each block.
            Symbol::Uniform(value) if asks_for_block(*value) => return None,
            Symbol::Uniform(_) => {}
        }
    }
    match (thread, block, row, sum.low == sum.high) {
        (0, 1 | -1, 0, true) => Some(Reach::Block),
        (1, 0, 1, true) | (-1, 0, -1, true) => Some(Reach::Grid),
        _ => None,
    }
}

/// Whether a value is the number of a block's first thread in its grid.
fn is_row(value: View<'_>) -> bool {
    let is = |operand: View<'_>, name: &str| is_register(operand, name);
    value.opcode() == Some(LLVMOpcode::LLVMMul)
        && matches!(value.operands()[..], [one, other]
            if is(one, "ctaid.x") && is(other, "ntid.x") || is(other, "ctaid.x") && is(one, "ntid.x"))
}

fn asks_for_block(value: View<'_>) -> bool {
    match value.opcode() {
        Some(LLVMOpcode::LLVMCall) => {
            ["ctaid.x", "ctaid.y", "ctaid.z"].iter().any(|name| is_register(value, name))
        }
        // Of a parameter.
        None | Some(LLVMOpcode::LLVMLoad) => false,
        Some(_) => value.operands().into_iter().any(asks_for_block),
    }
}

/// Whether a kernel asks for an index along y or z, so that its grids have several dimensions.
fn asks_for_more_than_x(kernel: View<'_>) -> bool {
    let others = ["tid.y", "tid.z", "ctaid.y", "ctaid.z"];
    kernel.instructions().into_iter().any(|call| others.iter().any(|name| is_register(call, name)))
}

/// Whether a value is this special register.
fn is_register(value: View<'_>, name: &str) -> bool {
    register_of(value).is_some_and(|found| found == name)
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;

    use super::super::testing::{launch, module, sites};
    use super::one_of_grid;

    /// Whether it is one thread of the grid that launches where these conditions hold, one after the other.
    fn of_grid(conditions: &[&str]) -> bool {
        let context = Context::create();
        let mut code = String::new();
        for (index, condition) in conditions.iter().enumerate() {
            code +=
                &format!("{condition}\nbr i1 %c{index}, label %l{index}, label %x\nl{index}:\n");
        }
        let launch = launch("ptr null");
        let module = module(
            &context,
            &format!(
                "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() memory(none)
                 declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() memory(none)
                 define ptx_kernel void @child() {{ ret void }}
                 define ptx_kernel void @p(ptr %p, i32 %n) {{
                 e:
                   %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
                   %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
                   %s = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
                   %row = mul i32 %b, %s
                   %i = add i32 %row, %t
                   %twice = mul i32 %b, 2
                   {code}
                   {launch}
                   br label %x
                 x:
                   ret void
                 }}"
            ),
        );
        let kernel = module.get_function("p").expect("a kernel");
        one_of_grid(kernel, &sites(kernel)[0])
    }

    #[test]
    fn one_thread_of_a_grid() {
        for one in [
            &["%c0 = icmp eq i32 %i, 0"][..],
            &["%c0 = icmp eq i32 %i, %n"],
            &["%o = or i32 %t, %b\n%c0 = icmp eq i32 %o, 0"],
            &["%c0 = icmp eq i32 %b, 3", "%c1 = icmp eq i32 %t, 0"],
            &["%l = sub i32 %n, 1\n%c0 = icmp eq i32 %b, %l", "%c1 = icmp eq i32 %t, 0"],
        ] {
            assert!(of_grid(one), "{one:?}");
        }
        for several in [
            &["%c0 = icmp eq i32 %t, 0"][..],
            &["%c0 = icmp eq i32 %b, 0"],
            &["%c0 = icmp ne i32 %i, 0"],
            // Each block has a thread of such a number, or some thread of it finds the two equal.
            &["%c0 = icmp eq i32 %t, %b"],
            &["%c0 = icmp eq i32 %b, %twice", "%c1 = icmp eq i32 %t, 0"],
            // Of a grid of two dimensions each row has one.
            &[
                "%c0 = icmp eq i32 %i, 0",
                "%y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n%c1 = icmp slt i32 %y, %n",
            ],
            &["%m = load i32, ptr %p\n%c0 = icmp eq i32 %b, %m", "%c1 = icmp eq i32 %t, 0"],
        ] {
            assert!(!of_grid(several), "{several:?}");
        }
    }
}
