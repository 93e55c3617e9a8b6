//! Volatile loads that look again and again, until another thread has written: they are meant to meet
//! writes that nothing orders with them, and count as relaxed accesses from here on. A volatile load
//! anywhere else expects what it finds to be there.

use crate::code::{Inst, Op, Sem};

/// A loop with more instructions does more than to wait.
const LONGEST: usize = 64;

/// Makes the loads of waiting loops relaxed: loops that store nothing and meet nobody.
pub fn mark(code: &mut [Inst]) {
    for end in 0..code.len() {
        let Op::Bra { target, .. } = code[end].op else { continue };
        let start = target as usize;
        if start > end || end - start > LONGEST {
            continue;
        }
        let waits = |inst: &Inst| match inst.op {
            Op::Store(access) => access.is_private(),
            Op::Barrier | Op::WarpSync => false,
            _ => true,
        };
        if !code[start..end].iter().all(waits) {
            continue;
        }
        for inst in &mut code[start..end] {
            if let Op::Load(access) = &mut inst.op
                && access.order.sem == Sem::Volatile
            {
                access.order.sem = Sem::Relaxed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Op, Sem};

    fn sems(body: &str) -> Vec<Sem> {
        let text = format!(
            ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .b64 %a;\n.reg .b32 %r<4>;\n.reg .pred %p;\nld.param.u64 %a, [a];\n{body}\nret;\n}}\n"
        );
        let module = cdp_ptx::parse(&text).expect("text of the test");
        let id = cdp_ptx::FunctionId(0);
        let function = super::super::decode(&module, id, 0, &Default::default()).expect("decodes");
        let sem = |inst: &crate::code::Inst| match inst.op {
            Op::Load(access) if !access.is_private() => Some(access.order.sem),
            _ => None,
        };
        function.code.iter().filter_map(sem).collect()
    }

    #[test]
    fn loops_that_wait_poll_and_others_do_not() {
        let waits = "L: ld.volatile.global.u32 %r1, [%a];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra L;";
        assert_eq!(sems(waits), [Sem::Relaxed]);
        let works = "L: ld.volatile.global.u32 %r1, [%a];\nst.global.u32 [%a+4], %r1;\n\
                     setp.eq.u32 %p, %r1, 0;\n@%p bra L;";
        assert_eq!(sems(works), [Sem::Volatile]);
        assert_eq!(sems("ld.volatile.global.u32 %r1, [%a];"), [Sem::Volatile]);
    }
}
