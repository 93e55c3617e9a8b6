//! The registers that an instruction names.

use cdp_ptx as ptx;

/// The registers that an instruction names, but for its guard.
pub struct Named {
    /// As operands.
    pub operands: Vec<ptx::Reg>,
    /// As results; one that is read and written in the same place as well.
    pub results: Vec<ptx::Reg>,
}

impl Named {
    /// Reads them off an instruction.
    pub fn of(inst: &ptx::Inst) -> Named {
        // Of the data that instructions consist of, operands alone wrap their register.
        const WRAPPED: &str = "Reg(";
        let text = format!("{inst:?}");
        let mut named = Named { operands: Vec::new(), results: Vec::new() };
        let mut from = 0;
        while let Some(at) = text[from..].find(WRAPPED).map(|at| from + at) {
            from = at + WRAPPED.len();
            let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(number) = text[from..from + digits].parse() {
                let is_operand = text[..at].ends_with(WRAPPED);
                let list = if is_operand { &mut named.operands } else { &mut named.results };
                list.push(ptx::Reg(number));
            }
        }
        named
    }
}

/// Registers that an instruction reads or writes, but for its guard.
pub fn registers_of(inst: &ptx::Inst) -> Vec<ptx::Reg> {
    let Named { mut operands, results } = Named::of(inst);
    operands.extend(results);
    operands
}

/// Marks the registers that an instruction reads, as far as it matters for finding unused results
/// of atomics: everything but the destination of `atom` counts as a read.
pub fn mark_read(instruction: &ptx::Instruction, unread: &mut [bool]) {
    let named = match &instruction.inst {
        ptx::Inst::Atom(atom) => {
            let mut copy = (**atom).clone();
            copy.dst = None;
            registers_of(&ptx::Inst::Atom(Box::new(copy)))
        }
        other => registers_of(other),
    };
    for reg in named.into_iter().chain(instruction.guard.map(|guard| guard.reg)) {
        if let Some(flag) = unread.get_mut(reg.index()) {
            *flag = false;
        }
    }
}
