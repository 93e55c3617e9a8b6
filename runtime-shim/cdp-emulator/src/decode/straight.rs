//! Marks what `exec::straight` runs: instructions that follow each other, and their accesses to memory that threads
//! share through one row of addresses.

use crate::code::{Base, Function, Inst, NONE, Op, StateSpace};

/// Sets [`Inst::ahead`] and [`Access::base`].
pub fn mark(function: &mut Function) {
    let mut ahead = 0;
    for inst in function.code.iter_mut().rev() {
        let always = inst.guard == function.true_pred && inst.guard_not == 0;
        ahead = if always && inst.is_straight() { ahead + 1 } else { 0 };
        inst.ahead = ahead;
    }
    // Rows of addresses that nothing has written since, with the first access through each.
    let mut bases: Vec<(u32, usize)> = Vec::new();
    for index in 0..function.code.len() {
        let inst = function.code[index].clone();
        if inst.ahead == 0 {
            bases.clear();
            continue;
        }
        if goes_by_row(&inst) {
            match bases.iter().find(|(row, _)| *row == inst.a) {
                Some(&(_, first)) => {
                    set_base(&mut function.code[index], Base::Again);
                    set_base(&mut function.code[first], Base::First);
                }
                None => {
                    // Of long runs of instructions the last ones are enough.
                    if bases.len() == MOST_ROWS {
                        bases.remove(0);
                    }
                    bases.push((inst.a, index));
                }
            }
        }
        match inst.op {
            Op::Store(_) => {}
            Op::Load(access) if access.count > 1 => {
                let rows = &function.vectors[inst.d as usize];
                bases.retain(|(base, _)| !rows.contains(base));
            }
            _ => bases.retain(|(base, _)| *base != inst.d),
        }
    }
}

/// Rows of addresses that are followed at once.
const MOST_ROWS: usize = 32;

/// A word or doubleword of memory that threads share.
fn goes_by_row(inst: &Inst) -> bool {
    use StateSpace::{Const, Generic, Global, Shared};
    let (Op::Load(access) | Op::Store(access)) = inst.op else { return false };
    let word = access.size_log2 == if access.wide_register { 3 } else { 2 };
    let common = matches!(access.space, Shared | Global | Const | Generic);
    common && access.count == 1 && word && inst.a != NONE
}

fn set_base(inst: &mut Inst, base: Base) {
    if let Op::Load(access) | Op::Store(access) = &mut inst.op {
        access.base = base;
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Base, Op};

    /// How many instructions run from each one on, and what is said of the rows of addresses.
    fn marks(body: &str) -> (Vec<u32>, Vec<Base>) {
        let text = format!(
            ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .b32 %r<9>;\n.reg .b16 %h;\n.reg .pred %p;\n{body}\nret;\n}}\n"
        );
        let module = cdp_ptx::parse(&text).expect("text of the test");
        let id = cdp_ptx::FunctionId(0);
        let function = super::super::decode(&module, id, 0, &Default::default()).expect("decodes");
        let base = |inst: &crate::code::Inst| match inst.op {
            Op::Load(access) | Op::Store(access) => Some(access.base),
            _ => None,
        };
        let ahead = function.code.iter().map(|inst| inst.ahead).collect();
        (ahead, function.code.iter().filter_map(base).collect())
    }

    #[test]
    fn what_looks_at_more_ends_a_run() {
        let (ahead, _) = marks(
            "mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\n@%p add.u32 %r3, %r2, 1;\nadd.u32 %r4, %r2, 1;\nbar.sync 0;",
        );
        assert_eq!(ahead, [2, 1, 0, 1, 0, 0, 0]);
        let (ahead, _) = marks("ld.shared.u32 %r1, [%r2];\nld.volatile.shared.u32 %r3, [%r2];");
        assert_eq!(ahead[..2], [1, 0]);
    }

    #[test]
    fn accesses_through_a_row_that_is_written_know_nothing_of_it() {
        let two = |between: &str| {
            marks(&format!("ld.shared.u32 %r1, [%r2];\n{between}\nst.shared.u32 [%r2+4], %r1;")).1
        };
        assert_eq!(two(""), [Base::First, Base::Again]);
        assert_eq!(two("add.u32 %r3, %r2, 1;"), [Base::First, Base::Again]);
        assert_eq!(two("add.u32 %r2, %r2, 1;"), [Base::Alone; 2]);
        assert_eq!(two("bar.sync 0;"), [Base::Alone; 2]);
        assert_eq!(two("ld.shared.u32 %r2, [%r2];"), [Base::First, Base::Again, Base::Alone]);
        assert_eq!(two("ld.shared.v2.u32 {%r3, %r2}, [%r5];"), [Base::Alone; 3]);
        assert_eq!(
            marks("ld.shared.u16 %h, [%r2];\nld.shared.u16 %h, [%r2+2];").1,
            [Base::Alone; 2]
        );
    }
}
