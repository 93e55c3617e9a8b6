//! Which unit gets what. Nothing is changed here but, in [`promote`], names and visibility.

use std::collections::{HashMap, HashSet};

use inkwell::module::{Linkage, Module};

use crate::raw::{self, GlobalRef};

/// More would cost more in cutting than they bring on any machine.
const MAX_UNITS: usize = 32;

/// How much of a unit's usual size another thread must take over, so that both are done sooner than one would be.
const LEAST_PERCENT: usize = 15;

/// Functions up to this size are copied to units that call them; unoptimised code shrinks to a third.
const IMPORT_INSTRUCTIONS: usize = 400;

/// The same of all copies together of a larger function, which is inlined where it is called seldom (`inline.cpp`).
const COPIES_INSTRUCTIONS: usize = 8000;

/// What a unit has of a symbol that the module defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The definition.
    Own,
    /// A copy that is only read: a body to inline, a constant to fold.
    Import,
    /// A declaration, or nothing if it is not mentioned.
    Declare,
}

/// A function or variable that the module defines.
pub(crate) struct Symbol {
    pub name: String,
    pub is_function: bool,
    /// Internal before, and after too: one unit alone knows it.
    pub stays_internal: bool,
}

/// A cut module.
pub(crate) struct Plan {
    pub name: String,
    pub symbols: Vec<Symbol>,
    /// For each unit the roles of all symbols, in the order of `symbols`.
    pub units: Vec<Vec<Role>>,
    /// The unit with the most instructions.
    pub largest: usize,
    /// What was internal, or could go, and is neither while it is in units; whether it may go after
    /// all if nobody mentions it.
    pub promoted: HashMap<String, bool>,
}

/// A symbol while it is examined.
struct Fact {
    value: GlobalRef,
    internal: bool,
    constant: bool,
    /// Instructions of a function; 0 for a variable.
    instructions: usize,
    importable: bool,
    /// Symbols that the body or the initialiser mentions.
    mentions: Vec<usize>,
}

/// Decides how a module is cut; `None` when it should not be.
pub(super) fn plan(module: &Module<'_>, unit_instructions: u32) -> Option<Plan> {
    let unit = unit_instructions.max(1) as usize;
    let spared = (unit * LEAST_PERCENT / 100).max(1);
    if !raw::has_instructions(module, 2 * spared as u64) || !raw::is_plain(module) {
        return None;
    }
    let (mut facts, kept) = examine(module);
    drop_imports(&mut facts);
    let sizes: Vec<usize> = facts.iter().map(|fact| fact.instructions).collect();
    let total: usize = sizes.iter().sum();
    let count = (total / unit).clamp(2, MAX_UNITS);
    let mut owners = function_owners(&sizes, count);
    let largest = (0..count).rev().max_by_key(|&unit| size_of(&sizes, &owners, unit))?;
    if total < size_of(&sizes, &owners, largest) + spared {
        return None;
    }
    let in_initialisers: HashSet<usize> = facts
        .iter()
        .filter(|fact| fact.instructions == 0)
        .flat_map(|fact| fact.mentions.iter().copied())
        .collect();
    let reaches: Vec<Reach> = (0..count).map(|unit| reach(&facts, &owners, unit)).collect();
    own_variables(&facts, &in_initialisers, &reaches, &mut owners);
    let promoted: HashSet<usize> = (0..facts.len())
        .filter(|&index| facts[index].internal)
        .filter(|&index| {
            let foreign = |(unit, reach): (usize, &Reach)| {
                unit != owners[index] && reach.mentioned.contains(&index)
            };
            kept.contains(&index)
                || in_initialisers.contains(&index)
                || reaches.iter().enumerate().any(foreign)
        })
        .collect();
    let role = |unit: usize, index: usize| {
        if owners[index] == unit {
            Role::Own
        } else if reaches[unit].imported.contains(&index) {
            Role::Import
        } else {
            Role::Declare
        }
    };
    let units =
        (0..count).map(|unit| (0..facts.len()).map(|index| role(unit, index)).collect()).collect();
    let mut names: HashSet<String> =
        facts.iter().enumerate().map(|(index, fact)| fact.value.name_or(index)).collect();
    let mut symbol = |(index, fact): (usize, &Fact)| {
        let name = fact.value.name_or(index);
        let visible = promoted.contains(&index);
        Symbol {
            name: if visible { name_of_ptx(name, index, &mut names) } else { name },
            is_function: fact.instructions > 0,
            stays_internal: fact.internal && !visible,
        }
    };
    let symbols: Vec<Symbol> = facts.iter().enumerate().map(&mut symbol).collect();
    let discardable = (0..facts.len()).filter(|&index| facts[index].value.is_discardable());
    let names = promoted
        .iter()
        .copied()
        .chain(discardable)
        .map(|index| (symbols[index].name.clone(), !kept.contains(&index)))
        .collect();
    Some(Plan {
        name: module.get_name().to_string_lossy().into_owned(),
        symbols,
        units,
        largest,
        promoted: names,
    })
}

/// The name of an internal symbol that becomes visible. LLVM's back end makes names of internal symbols
/// (`.str`) into such of PTX, each unit's for itself, and leaves visible ones as they are.
fn name_of_ptx(name: String, index: usize, taken: &mut HashSet<String>) -> String {
    let is_ptx = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    if name.chars().all(is_ptx) {
        return name;
    }
    let mut made: String =
        name.chars().map(|c| if is_ptx(c) { c.to_string() } else { "_$_".into() }).collect();
    while !taken.insert(made.clone()) {
        made.push_str(&format!("_{index}"));
    }
    made
}

/// Makes the module fit for the plan: everything that two units know has a name and is visible.
pub(super) fn promote(module: &Module<'_>, plan: &Plan) {
    for (index, value) in raw::definitions(module).into_iter().enumerate() {
        let symbol = &plan.symbols[index];
        value.set_name(&symbol.name);
        if value.is_discardable() {
            // The unit that owns it must not drop what another one mentions.
            value.set_linkage(Linkage::WeakODR);
        } else if plan.promoted.contains_key(&symbol.name) {
            value.set_linkage(Linkage::External);
        }
    }
    raw::forget_kept(module);
}

/// All definitions, and which of them `llvm.used` and its kin keep.
fn examine(module: &Module<'_>) -> (Vec<Fact>, HashSet<usize>) {
    let values = raw::definitions(module);
    let index: HashMap<GlobalRef, usize> =
        values.iter().enumerate().map(|(at, value)| (*value, at)).collect();
    let known = |found: Vec<GlobalRef>| -> Vec<usize> {
        found.iter().filter_map(|value| index.get(value).copied()).collect()
    };
    let facts = values
        .iter()
        .map(|value| {
            let (instructions, mentions) = value.content();
            Fact {
                value: *value,
                internal: value.is_internal(),
                constant: value.is_constant(),
                instructions,
                importable: value.is_importable(),
                mentions: known(mentions),
            }
        })
        .collect();
    (facts, known(raw::kept(module)).into_iter().collect())
}

/// Neighbours stay together: helpers stand next to what uses them in most programs. A function belongs where its
/// middle lies.
fn function_owners(sizes: &[usize], count: usize) -> Vec<usize> {
    let (mut before, total) = (0, sizes.iter().sum::<usize>().max(1));
    let owner = |size: &usize| {
        let unit = (before + size / 2) * count / total;
        before += size;
        unit.min(count - 1)
    };
    sizes.iter().map(owner).collect()
}

/// Instructions of a unit's own functions.
fn size_of(sizes: &[usize], owners: &[usize], unit: usize) -> usize {
    sizes.iter().zip(owners).filter(|(_, owner)| **owner == unit).map(|(size, _)| size).sum()
}

/// Functions that are too large to be copied to all that mention them are not.
fn drop_imports(facts: &mut [Fact]) {
    let mut mentions = vec![0; facts.len()];
    for &to in facts.iter().flat_map(|fact| &fact.mentions) {
        mentions[to] += 1;
    }
    for (fact, mentions) in facts.iter_mut().zip(mentions) {
        let most = COPIES_INSTRUCTIONS / mentions.max(1);
        fact.importable &= fact.instructions <= most.max(IMPORT_INSTRUCTIONS);
    }
}

/// What the functions of a unit lead to.
struct Reach {
    imported: HashSet<usize>,
    mentioned: HashSet<usize>,
}

fn reach(facts: &[Fact], owners: &[usize], unit: usize) -> Reach {
    let mut reach = Reach { imported: HashSet::new(), mentioned: HashSet::new() };
    let is_function = |index: usize| facts[index].instructions > 0;
    let mut work: Vec<usize> =
        (0..facts.len()).filter(|&index| is_function(index) && owners[index] == unit).collect();
    while let Some(index) = work.pop() {
        for &to in &facts[index].mentions {
            if !reach.mentioned.insert(to) {
                continue;
            }
            let fact = &facts[to];
            let import = if is_function(to) {
                owners[to] != unit && fact.importable
            } else {
                fact.constant && fact.mentions.is_empty()
            };
            if import {
                reach.imported.insert(to);
                if is_function(to) {
                    work.push(to);
                }
            }
        }
    }
    reach
}

/// A variable that one unit alone mentions belongs to it, if it was internal; all others stand in
/// the first unit, before everything that could mention them.
fn own_variables(
    facts: &[Fact],
    in_initialisers: &HashSet<usize>,
    reaches: &[Reach],
    owners: &mut [usize],
) {
    for (index, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.instructions == 0) {
        let mut users = reaches
            .iter()
            .enumerate()
            .filter(|(_, reach)| reach.mentioned.contains(&index))
            .map(|(unit, _)| unit);
        owners[index] = match (users.next(), users.next()) {
            (Some(only), None) if fact.internal && !in_initialisers.contains(&index) => only,
            _ => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_where_its_middle_lies() {
        // The first is a variable.
        let owners = |sizes: &[usize]| function_owners(sizes, 2);
        assert_eq!(owners(&[0, 40, 60]), [0, 0, 1]);
        assert_eq!(owners(&[0, 10, 10, 40, 90]), [0, 0, 0, 0, 1]);
        assert_eq!(owners(&[0, 90, 40, 10, 10]), [0, 0, 1, 1, 1]);
        let uneven = [0, 10, 300];
        assert_eq!([0, 1].map(|unit| size_of(&uneven, &owners(&uneven), unit)), [10, 300]);
    }

    #[test]
    fn a_module_is_cut_where_another_thread_takes_over_enough() {
        let context = inkwell::context::Context::create();
        let largest = |sizes: &[usize]| {
            let function = |(name, size): (usize, &usize)| {
                let steps: String =
                    (1..*size).map(|at| format!("%v{at} = add i32 %v{}, 1\n", at - 1)).collect();
                format!("define void @f{name}(i32 %v0) {{\n{steps}ret void\n}}\n")
            };
            let text: String = sizes.iter().enumerate().map(function).collect();
            let module = raw::parse_ir(&context, "test", text.as_bytes()).expect("it is IR");
            plan(&module, 200).filter(|plan| plan.units.len() == 2).map(|plan| plan.largest)
        };
        let is_cut = |sizes: &[usize]| largest(sizes).is_some();
        assert!(is_cut(&[40, 40]) && is_cut(&[20, 15, 30, 10]) && is_cut(&[250, 240]));
        assert!(!is_cut(&[100, 20]) && !is_cut(&[500]) && !is_cut(&[25, 25]));
        // The first of units that are alike is on its way soonest.
        assert_eq!(
            [[90, 40], [40, 90], [40, 40]].map(|sizes| largest(&sizes)),
            [Some(0), Some(1), Some(0)]
        );
    }
}
