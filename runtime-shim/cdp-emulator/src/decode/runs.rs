//! Finds the runs of instructions that may become machine code ([`crate::native`]): what follows each other
//! without a guard, a jump or an access that needs a look at each lane. Branches forwards may be passed in a run,
//! where no lane takes them: most kernels begin with one around threads that have nothing to do.

use std::sync::Arc;

use crate::code::{Access, Function, Inst, NONE, Op, Run, StateSpace};

/// Runs of fewer instructions are not worth a call.
const FEWEST: u32 = 3;
/// Longer ones are cut, so that making code of one takes a bounded time.
pub const MOST: u32 = 256;

/// Sets [`Function::runs`] and [`Inst::run`].
pub fn mark(function: &mut Function) {
    let mut begins = vec![false; function.code.len()];
    for inst in &function.code {
        if let Op::Bra { target, .. } = inst.op {
            begins[target as usize] = true;
        }
    }
    for &target in function.branch_tables.iter().flatten() {
        begins[target as usize] = true;
    }
    let passed: Vec<bool> =
        (0..function.code.len()).map(|pc| may_be_passed(function, pc)).collect();
    let fits: Vec<bool> = std::iter::zip(&function.code, &passed)
        .map(|(inst, passed)| *passed || inst.ahead > 0 && may_be_native(inst))
        .collect();
    let mut first = 0;
    while first < fits.len() {
        if !fits[first] {
            first += 1;
            continue;
        }
        let end = (first..fits.len()).find(|&at| !fits[at]).unwrap_or(fits.len());
        let mut at = first;
        for (entry, &begins) in begins.iter().enumerate().take(end).skip(first) {
            if entry > at && !begins && (entry - at) as u32 != MOST {
                continue;
            }
            at = entry;
            // Nothing begins or ends with a branch.
            let mut count = ((end - entry) as u32).min(MOST);
            while count > 0 && passed[entry + count as usize - 1] {
                count -= 1;
            }
            if count >= FEWEST && !passed[entry] {
                function.runs.push(Arc::new(Run::new(entry as u32, count)));
                function.code[entry].run = function.runs.len() as u32;
            }
        }
        first = end;
    }
}

/// A branch forwards that not all lanes take whatever they hold.
fn may_be_passed(function: &Function, pc: usize) -> bool {
    let inst = &function.code[pc];
    let Op::Bra { target, .. } = inst.op else { return false };
    target as usize > pc && inst.guard != function.true_pred
}

/// What [`crate::native::text`] can say.
fn may_be_native(inst: &Inst) -> bool {
    match inst.op {
        Op::Alu | Op::Special(_) => true,
        Op::Load(access) => is_whole(inst, access) || is_parameter(inst, access),
        Op::Store(access) => is_whole(inst, access),
        _ => false,
    }
}

/// A word or doubleword of memory of which a register has the same width.
fn is_whole(inst: &Inst, access: Access) -> bool {
    let placed = match access.space {
        StateSpace::Shared => true,
        StateSpace::Global | StateSpace::Const | StateSpace::Generic => access.wide_address,
        StateSpace::Cluster | StateSpace::Local | StateSpace::Param | StateSpace::Frame => false,
    };
    placed && inst.a != NONE && is_word(access)
}

/// A parameter of a kernel.
fn is_parameter(inst: &Inst, access: Access) -> bool {
    access.space == StateSpace::Param && inst.a == NONE && is_word(access)
}

fn is_word(access: Access) -> bool {
    access.count == 1 && access.size_log2 == if access.wide_register { 3 } else { 2 }
}
