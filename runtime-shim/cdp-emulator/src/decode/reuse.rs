//! Registers that share a row of the frame, so that frames stay in the processor's first cache.
//!
//! A compiler names a register for each value, and most values live for a few instructions. A register that
//! is named within one basic block only, and there first as what an instruction without a guard
//! writes, is of no use to a thread before that and after its last naming: another may have its row then. This
//! holds for each thread by itself, since an instruction leaves the lanes alone that are not active, so
//! divergence needs no thought. No instruction gets the row of one of its operands for its result: many write
//! before they have read everything.
//!
//! No colouring of whole functions: what lives across branches keeps a row of its own. Of that it is known from
//! where to where it is named, and loops that overlap with it count as a whole: outside of them nobody reads it.

use cdp_ptx as ptx;
use cdp_ptx::{Inst, Operand, Reg};

use super::meeting::MeetingPoints;
use super::named::registers_of;

/// How long a register is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// From the beginning of the function, as far as is known.
    FromStart,
    /// From the function's first basic block, which writes it first, for long.
    Written,
    /// From the first of these instructions to the last.
    Within(u32, u32),
}

/// A register's use.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// How long.
    pub life: Life,
    /// No thread reads it before this instruction, as it is written, nor behind the next one.
    pub first: u32,
    /// See `first`.
    pub last: u32,
}

/// What is known of a register while the instructions are walked.
#[derive(Clone, Copy)]
enum Seen {
    Never,
    /// In this basic block only, from the first to the last instruction.
    Within {
        block: u32,
        first: u32,
        last: u32,
    },
    Elsewhere {
        /// The function's first basic block writes it first.
        written: bool,
        first: u32,
        last: u32,
    },
}

/// Finds how long each register is of use.
pub fn uses(source: &ptx::Function, body: &ptx::Body, meeting: &MeetingPoints) -> Vec<Use> {
    let mut seen = vec![Seen::Never; body.registers.len()];
    for param in source.params.iter().chain(&source.returns) {
        if let ptx::ParamStorage::Register(Some(reg)) = param.storage {
            // The caller's as well.
            seen[reg.index()] = Seen::Elsewhere { written: false, first: 0, last: u32::MAX };
        }
    }
    for (index, instruction) in body.instructions.iter().enumerate() {
        let (index, block) = (index as u32, meeting.block_of[index]);
        let (defined, used) = named(&instruction.inst);
        for reg in used.into_iter().chain(instruction.guard.map(|guard| guard.reg)) {
            name(&mut seen[reg.index()], index, block, false);
        }
        for reg in defined {
            name(&mut seen[reg.index()], index, block, instruction.guard.is_none());
        }
    }
    seen.into_iter().map(|seen| use_of(seen, &meeting.loops)).collect()
}

fn use_of(seen: Seen, loops: &[(u32, u32)]) -> Use {
    let (life, first, last) = match seen {
        Seen::Within { first, last, .. } => {
            return Use { life: Life::Within(first, last), first, last };
        }
        Seen::Never => return Use { life: Life::FromStart, first: 0, last: 0 },
        Seen::Elsewhere { written: true, first, last } => (Life::Written, first, last),
        Seen::Elsewhere { written: false, first, last } => (Life::FromStart, first, last),
    };
    let from = loops.partition_point(|round| round.1 < first);
    let to = loops.partition_point(|round| round.0 <= last);
    let around = loops.get(from..to).unwrap_or(&[]);
    Use {
        life,
        first: around.first().map_or(first, |round| first.min(round.0)),
        last: around.last().map_or(last, |round| last.max(round.1)),
    }
}

fn name(seen: &mut Seen, index: u32, block: u32, begins: bool) {
    *seen = match *seen {
        Seen::Never if begins => Seen::Within { block, first: index, last: index },
        Seen::Never => Seen::Elsewhere { written: false, first: index, last: index },
        Seen::Within { block: same, first, .. } if same == block => {
            Seen::Within { block, first, last: index }
        }
        // Every thread runs the first block from its beginning before it comes to another one.
        Seen::Within { block: first_block, first, .. } => {
            Seen::Elsewhere { written: first_block == 0, first, last: index }
        }
        Seen::Elsewhere { written, first, last } => {
            Seen::Elsewhere { written, first, last: last.max(index) }
        }
    };
}

/// The registers that an instruction is known to write as a whole, and the others that it names.
fn named(inst: &Inst) -> (Vec<Reg>, Vec<Reg>) {
    let (dst, sources) = match inst {
        Inst::Mov { dst, src, .. }
        | Inst::Cvt { dst, src, .. }
        | Inst::CvtaToGeneric { dst, src, .. }
        | Inst::CvtaFromGeneric { dst, src, .. }
        | Inst::Abs { dst, src, .. }
        | Inst::Neg { dst, src, .. }
        | Inst::Sqrt { dst, src, .. }
        | Inst::Rcp { dst, src, .. }
        | Inst::Rsqrt { dst, src, .. }
        | Inst::Ex2 { dst, src, .. }
        | Inst::Lg2 { dst, src, .. }
        | Inst::Not { dst, src, .. } => (*dst, vec![*src]),
        Inst::Add { dst, a, b, .. }
        | Inst::Sub { dst, a, b, .. }
        | Inst::Mul { dst, a, b, .. }
        | Inst::MulInt { dst, a, b, .. }
        | Inst::Div { dst, a, b, .. }
        | Inst::DivInt { dst, a, b, .. }
        | Inst::Rem { dst, a, b, .. }
        | Inst::And { dst, a, b, .. }
        | Inst::Or { dst, a, b, .. }
        | Inst::Xor { dst, a, b, .. }
        | Inst::Shl { dst, a, amount: b, .. }
        | Inst::Shr { dst, a, amount: b, .. } => (*dst, vec![*a, *b]),
        Inst::Fma { dst, a, b, c, .. }
        | Inst::MadInt { dst, a, b, c, .. }
        | Inst::Prmt { dst, a, b, c, .. }
        | Inst::Shf { dst, lo: a, hi: b, amount: c, .. } => (*dst, vec![*a, *b, *c]),
        Inst::Selp { dst, a, b, pred, .. } => (*dst, vec![*a, *b, pred.value]),
        Inst::Ld { dsts, .. } => {
            let mut others = registers_of(inst);
            let written: Vec<Reg> = dsts.iter().flatten().copied().collect();
            // An address is named beside what is loaded.
            for reg in &written {
                let at = others.iter().position(|other| other == reg);
                at.map(|at| others.swap_remove(at));
            }
            return (written, others);
        }
        other => return (Vec::new(), registers_of(other)),
    };
    let used = sources.into_iter().filter_map(|source| match source {
        Operand::Reg(reg) => Some(reg),
        Operand::Imm(_) | Operand::Special(_) | Operand::Address { .. } => None,
    });
    (vec![dst], used.collect())
}

#[cfg(test)]
mod tests {
    use super::super::{UnitLinks, decode_unproved};
    use crate::code::{Function, Op};

    fn decoded(body: &str) -> Function {
        let text = format!(
            ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .b64 %a;\n.reg .b32 %r<9>;\n.reg .pred %p;\nld.param.u64 %a, [a];\n{body}\nret;\n}}\n"
        );
        let module = cdp_ptx::parse(&text).expect("text of the test");
        decode_unproved(&module, cdp_ptx::FunctionId(0), 0, &UnitLinks::default())
            .expect("decodes")
            .0
    }

    /// The rows that the arithmetic of a body writes.
    fn rows(body: &str) -> Vec<u32> {
        let function = decoded(body);
        let writes = function.code.iter().filter(|inst| matches!(inst.op, Op::Alu));
        writes.map(|inst| inst.d).collect()
    }

    #[test]
    fn values_that_are_gone_leave_their_row_to_others() {
        let rows = rows(
            "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r4, %r3, %r3;",
        );
        // Never the row of an operand, but that of the value before.
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(rows[2], rows[0]);
    }

    #[test]
    fn values_that_may_live_on_keep_theirs() {
        // The row of %r1, which is the one of this number, is no other's.
        let alone = |number: usize, body: &str| {
            let rows = rows(body);
            rows.iter().filter(|row| **row == rows[number]).count() == 1
        };
        let tail = "add.u32 %r5, 5, 1;\nadd.u32 %r6, 5, 2;\nadd.u32 %r7, 5, 3;";
        let store = "st.global.u32 [%a], %r1;";
        assert!(!alone(0, &format!("add.u32 %r1, 1, 2;\n{store}\n{tail}")));
        // Used in another block, in the next round of the loop, or written under a guard.
        assert!(alone(0, &format!("add.u32 %r1, 1, 2;\n@%p bra L;\n{tail}\nL: {store}")));
        assert!(alone(3, &format!("L: {store}\n{tail}\nadd.u32 %r1, 3, 4;\n@%p bra L;")));
        assert!(alone(0, &format!("@%p add.u32 %r1, 1, 2;\n{store}\n{tail}")));
        // A result that is an operand too begins nothing.
        assert!(alone(0, &format!("add.u32 %r1, %r1, 2;\n{store}\n{tail}")));
    }

    /// Whether somebody may read what is in the row of this number, counted by the arithmetic that writes it, at
    /// each instruction of the body.
    fn read_at(number: usize, body: &str) -> Vec<bool> {
        let (row, function) = (rows(body)[number], decoded(body));
        let (_, first, last) = function.tenants.iter().copied().find(|t| t.0 == row).unwrap();
        // Before the body stands a load, behind it a return.
        let count = function.lines.len() as u32 - 1;
        (1..count).map(|at| (first..=last).contains(&at)).collect()
    }

    #[test]
    fn what_is_named_across_branches_is_of_use_up_to_its_last_loop() {
        let store = "st.global.u32 [%a], %r1;";
        let straight = format!("add.u32 %r1, 1, 2;\n@%p bra L;\n{store}\nL: add.u32 %r2, 1, 1;");
        assert_eq!(read_at(0, &straight), [true, true, true, false]);
        let before = format!("add.u32 %r1, 1, 2;\n{store}\nL: add.u32 %r2, 1, 1;\n@%p bra L;");
        assert_eq!(read_at(0, &before), [true, true, false, false]);
        let within =
            format!("add.u32 %r1, 1, 2;\nL: {store}\nadd.u32 %r2, 1, 1;\n@%p bra L;\nbar.sync 0;");
        assert_eq!(read_at(0, &within), [true, true, true, true, false]);
        // What a loop writes last it may read first in its next round.
        let round = format!(
            "bar.sync 0;\nL: {store}\n@%p bra M;\nM: add.u32 %r1, 3, 4;\n@%p bra L;\nbar.sync 0;"
        );
        assert_eq!(read_at(0, &round), [false, true, true, true, true, false]);
    }

    #[test]
    fn the_second_of_two_loads_may_have_the_row_of_the_first() {
        let function = decoded(
            "ld.global.u32 %r1, [%a];\nst.global.u32 [%a+4], %r1;\nld.global.u32 %r2, [%a+8];\nst.global.u32 [%a], %r2;",
        );
        let loads = function.code.iter().filter(|inst| matches!(inst.op, Op::Load(_)));
        let rows: Vec<u32> = loads.map(|inst| inst.d).collect();
        assert_eq!(rows[1], rows[2]);
    }
}
