//! Brings a module into the form that the analyses read: variables in registers, and the functions that
//! launch, or ask which thread they are, inlined into the kernels that call them, with those that are hardly
//! longer than a call: headers of CUDA wrap atomic operations and calls of the device runtime in such.

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;

use super::calls::{Callee, callee, is_index};
use super::child::is_kernel;
use super::handed::hand_on;
use crate::error::{Result, bug};
use crate::raw::view::View;

/// What our pipeline begins with, and one round of folding. Conditions become one here as they do there: later, their
/// folded forms would stay two, and a loop with two ways out is unrolled.
const PASSES: &str = "always-inline,function(simplifycfg<bonus-inst-threshold=8>,sroa<modify-cfg>,early-cse,\
                      instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg),globaldce";

pub(super) fn prepare<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
) -> Result<()> {
    let others = others(module);
    for (function, name) in others.iter().flat_map(|f| LEFT_ALONE.map(|n| (*f, n))) {
        flag(context, function, name);
    }
    for function in to_inline(module, &others) {
        let_optimize(function);
        flag(context, function, "alwaysinline");
    }
    // The last of the passes takes away what nobody uses any more.
    let others: Vec<String> = others.iter().map(|f| View::function(*f).name()).collect();
    run(module, machine, PASSES)?;
    for function in others.iter().filter_map(|name| module.get_function(name)) {
        let_optimize(function);
    }
    let data = machine.get_target_data();
    module.get_functions().filter(|f| is_kernel(*f)).for_each(|kernel| hand_on(kernel, &data));
    Ok(())
}

/// What keeps passes away from a function.
const LEFT_ALONE: [&str; 2] = ["noinline", "optnone"];

/// Lets passes take part of a function away, or put it elsewhere.
pub(super) fn let_optimize(function: FunctionValue<'_>) {
    for name in LEFT_ALONE {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.remove_enum_attribute(AttributeLoc::Function, kind);
    }
}

/// Gives a function an attribute that is a word.
pub(super) fn flag<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, name: &str) {
    let kind = Attribute::get_named_enum_kind_id(name);
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
}

/// Functions that have nothing to do with launches, and are left as they are: which none calls that launches, and
/// none that is launched, and which may be told so.
fn others<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let all: Vec<FunctionValue<'ctx>> = module
        .get_functions()
        .filter(|function| !View::function(*function).blocks().is_empty())
        .collect();
    let mut callers: HashMap<View<'ctx>, Vec<View<'ctx>>> = HashMap::new();
    let mut callees: HashMap<View<'ctx>, Vec<View<'ctx>>> = HashMap::new();
    let (mut launching, mut taking_part) = (Vec::new(), Vec::new());
    for view in all.iter().map(|function| View::function(*function)) {
        for call in view.instructions() {
            let Some(called) = call.callee() else { continue };
            match callee(called) {
                Callee::Launch => {
                    launching.push(view);
                    taking_part
                        .extend(call.operand(0).filter(|child| child.as_function().is_some()));
                }
                Callee::Defined(next) => {
                    callers.entry(next).or_default().push(view);
                    callees.entry(view).or_default().push(next);
                }
                _ => {}
            }
        }
    }
    taking_part.extend(closure(launching, &callers));
    let taking_part = closure(taking_part, &callees);
    let fixed = ["noinline", "optnone", "alwaysinline", "optsize", "minsize"];
    all.into_iter()
        .filter(|function| {
            let view = View::function(*function);
            !taking_part.contains(&view)
                && !fixed.iter().any(|name| view.has_function_attribute(name))
        })
        .collect()
}

/// These and all that the map leads to from them.
fn closure<'ctx>(
    from: Vec<View<'ctx>>,
    map: &HashMap<View<'ctx>, Vec<View<'ctx>>>,
) -> HashSet<View<'ctx>> {
    let mut seen: HashSet<View<'ctx>> = from.iter().copied().collect();
    let mut work = from;
    while let Some(next) = work.pop() {
        let further = map.get(&next).into_iter().flatten();
        work.extend(further.copied().filter(|view| seen.insert(*view)));
    }
    seen
}

/// Runs passes; those of the target take part.
pub(super) fn run(module: &Module<'_>, machine: &TargetMachine, passes: &str) -> Result<()> {
    module
        .run_passes(passes, machine, PassBuilderOptions::create())
        .map_err(|message| bug("optimise launches", message.to_string()))
}

/// Instructions of a function without branches that is hardly longer than a call, variables in memory and all.
const BRIEF: usize = 24;

/// Whether a function is so short that LLVM inlines it in any case, later.
fn is_brief(function: FunctionValue<'_>) -> bool {
    let view = View::function(function);
    // Others may be something else when the program is linked.
    let own = matches!(
        function.get_linkage(),
        Linkage::Internal | Linkage::Private | Linkage::External | Linkage::LinkOnceODR
    );
    let kept = LEFT_ALONE.iter().any(|name| view.has_function_attribute(name));
    own && !kept && view.blocks().len() == 1 && view.instructions().len() <= BRIEF
}

/// Instructions of a function that adds up by atomic operations, which is inlined where children are looked at for that.
const SUMMING: usize = 100;

/// Whether a function of kernels that launch, or are launched, adds up what may wait in registers ([`super::sums`]).
fn sums_up(view: View<'_>) -> bool {
    let all = view.instructions();
    all.len() <= SUMMING && all.into_iter().any(|at| at.reduction().is_some())
}

/// Device functions that launch or read indices, themselves or in what they call, and brief ones, and those that add up, but
/// for `others`; not those that call themselves.
fn to_inline<'ctx>(
    module: &Module<'ctx>,
    others: &[FunctionValue<'ctx>],
) -> Vec<FunctionValue<'ctx>> {
    let mut calls: HashMap<View<'ctx>, Vec<View<'ctx>>> = HashMap::new();
    let mut wanted: HashSet<View<'ctx>> = HashSet::new();
    let mut all = Vec::new();
    for function in module.get_functions() {
        let view = View::function(function);
        if view.blocks().is_empty() {
            continue;
        }
        all.push(function);
        if sums_up(view) && !others.contains(&function) {
            wanted.insert(view);
        }
        for called in view.instructions().into_iter().filter_map(View::callee) {
            match callee(called) {
                Callee::Launch => drop(wanted.insert(view)),
                Callee::Register(name) if is_index(&name) => drop(wanted.insert(view)),
                Callee::Defined(next) => calls.entry(view).or_default().push(next),
                _ => {}
            }
        }
    }
    let reach = |from: View<'ctx>| closure(calls.get(&from).cloned().unwrap_or_default(), &calls);
    all.into_iter()
        .filter(|function| !is_kernel(*function))
        .filter(|function| {
            let view = View::function(*function);
            let below = reach(view);
            !below.contains(&view)
                && (is_brief(*function)
                    || wanted.contains(&view)
                    || below.iter().any(|callee| wanted.contains(callee)))
        })
        .collect()
}
