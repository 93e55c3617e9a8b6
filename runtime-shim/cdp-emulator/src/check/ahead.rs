//! What lies ahead of an instruction in its function, as far as it matters to others and to what a look is good for.

use crate::code::{Function, Inst, Op};

/// What lies ahead, by instruction.
#[derive(Debug)]
pub struct Ahead {
    tells: Vec<bool>,
    bare: Vec<bool>,
}

impl Ahead {
    /// Of a function.
    pub fn of(function: &Function) -> Ahead {
        let code = &function.code;
        let tells = reaches(function, |inst| match inst.op {
            Op::Store(access) => Some(!access.is_private() && access.order.is_strong()),
            ref op => Some(meets(op)),
        });
        let bare = reaches(function, |inst| match inst.op {
            Op::Fence(_) => None,
            Op::Load(access) if !access.is_private() && access.order.acquires() => None,
            Op::Load(access) | Op::Store(access) => {
                Some(!access.is_private() && !access.order.is_strong())
            }
            ref op => {
                if meets(op) {
                    None
                } else {
                    Some(false)
                }
            }
        });
        debug_assert_eq!(tells.len(), code.len());
        Ahead { tells, bare }
    }

    /// Others can be told something from an instruction on, or wait for its thread.
    pub fn tells(&self, at: u32) -> bool {
        self.tells.get(at as usize).is_none_or(|tells| *tells)
    }

    /// A plain access may come behind a look that no fence comes before.
    pub fn is_bare_behind(&self, at: u32) -> bool {
        self.bare.get(at as usize + 1).is_some_and(|bare| *bare)
    }
}

/// What others may wait for or hear of, loads and stores left out.
fn meets(op: &Op) -> bool {
    matches!(
        op,
        Op::Atomic
            | Op::Barrier
            | Op::BarrierObject
            | Op::Call
            | Op::ClusterArrive { .. }
            | Op::ClusterWait
            | Op::Remote
            | Op::WarpSync
            | Op::Collective
            | Op::BulkCopy
            | Op::TensorCopy
            | Op::AsyncCopy
            | Op::GroupProduct
            | Op::Mma
            | Op::Brx { .. }
    )
}

/// From which instructions one can be reached that is it; `None` ends the way.
fn reaches(function: &Function, is_it: impl Fn(&Inst) -> Option<bool>) -> Vec<bool> {
    let code = &function.code;
    let always = |inst: &Inst| inst.guard == function.true_pred && inst.guard_not == 0;
    let mut reached = vec![false; code.len()];
    loop {
        let mut changed = false;
        for at in (0..code.len()).rev() {
            if reached[at] {
                continue;
            }
            let next = || reached.get(at + 1).copied().unwrap_or(false);
            let now = match is_it(&code[at]) {
                None => false,
                Some(true) => true,
                Some(false) => match code[at].op {
                    Op::Bra { target, .. } if always(&code[at]) => reached[target as usize],
                    Op::Bra { target, .. } => reached[target as usize] || next(),
                    Op::Exit | Op::Ret { .. } | Op::Trap => !always(&code[at]) && next(),
                    _ => next(),
                },
            };
            reached[at] = now;
            changed |= now;
        }
        if !changed {
            return reached;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ahead;
    use crate::code::Op;

    /// At the first strong load of a body: whether others hear of what follows, and whether a plain access follows bare.
    fn at_the_look(body: &str) -> (bool, bool) {
        let text = format!(
            ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .b64 %a;\n.reg .b32 %r<4>;\n.reg .pred %p;\nld.param.u64 %a, [a];\n\
             ld.relaxed.gpu.global.u32 %r1, [%a];\nsetp.eq.u32 %p, %r1, 0;\n{body}\nret;\n}}\n"
        );
        let module = cdp_ptx::parse(&text).expect("text of the test");
        let id = cdp_ptx::FunctionId(0);
        let function = crate::decode::decode(&module, id, 0, &Default::default()).expect("decodes");
        let is_look = |op: &Op| matches!(op, Op::Load(access) if access.order.is_strong());
        let look = function.code.iter().position(|inst| is_look(&inst.op)).expect("a look") as u32;
        let ahead = Ahead::of(&function);
        (ahead.tells(look), ahead.is_bare_behind(look))
    }

    #[test]
    fn what_follows_a_look_is_known() {
        let plain = "ld.global.u32 %r2, [%a+4];";
        let fence = "fence.acq_rel.gpu;";
        let tell = "st.relaxed.gpu.global.u32 [%a], 1;";
        assert_eq!(at_the_look(""), (false, false));
        assert_eq!(at_the_look(plain), (false, true));
        assert_eq!(at_the_look(&format!("{fence}{plain}")), (false, false));
        assert_eq!(at_the_look(&format!("{plain}{tell}")), (true, true));
        assert_eq!(at_the_look("bar.sync 0;"), (true, false));
        // One way has no fence.
        let either = format!("@%p bra L;\n{fence}\nL: {plain}");
        assert_eq!(at_the_look(&either), (false, true));
        // What lies behind the end is not ahead.
        let ended = format!("bra L;\n{tell}\nL: ret;");
        assert_eq!(at_the_look(&ended), (false, false));
    }
}
