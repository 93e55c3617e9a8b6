//! The registers that an instruction names, without regard to what it does with them.

use cdp_ptx as ptx;

/// Registers that an instruction reads or writes, but for its guard.
pub fn registers_of(inst: &ptx::Inst) -> Vec<ptx::Reg> {
    let text = format!("{inst:?}");
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Reg(") {
        rest = &rest[at + 4..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(number) = rest[..digits].parse() {
            found.push(ptx::Reg(number));
        }
    }
    found
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
