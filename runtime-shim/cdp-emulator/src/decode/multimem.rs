//! `multimem`: accesses to the same place in the memories of several devices, of which the CPU device is one: what
//! an operation makes of all copies is the copy. So they are the accesses of their kinds.

use cdp_ptx::inst::{Atom, AtomVector, Multimem};
use cdp_ptx::{MultimemAccess, ScalarType, Scope, Space};

use super::{Decoded, Decoder};
use crate::code::Order;

impl Decoder<'_> {
    pub(super) fn multimem(&mut self, access: &Multimem) -> Decoded {
        let scope = access.scope.unwrap_or(Scope::Sys);
        let order =
            if access.weak { Order::WEAK } else { Order::of_atomic(access.order, Some(scope)) };
        match access.access {
            MultimemAccess::LoadReduce => {
                self.load(Space::Global, order, access.ty, &access.dsts, &access.addr)
            }
            MultimemAccess::Store => {
                self.store(Space::Global, order, access.ty, &access.addr, &access.srcs)
            }
            MultimemAccess::Reduce => self.multimem_reduction(access, scope),
        }
    }

    fn multimem_reduction(&mut self, access: &Multimem, scope: Scope) -> Decoded {
        use ScalarType::{BF16, BF16x2, F16, F16x2};
        let Multimem { ty, order, addr, ref srcs, .. } = *access;
        let op = access.op.ok_or("a reduction without an operation")?;
        let (space, scope) = (Space::Global, Some(scope));
        let noftz = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        match **srcs {
            [b] => {
                let (dst, c, policy) = (None, None, None);
                self.atomic(&Atom { op, ty, space, order, scope, noftz, dst, addr, b, c, policy })
            }
            _ => {
                let (dsts, srcs, policy) = (Default::default(), srcs.clone(), None);
                let atom =
                    AtomVector { op, ty, space, order, scope, noftz, dsts, addr, srcs, policy };
                self.atomic_vector(&atom)
            }
        }
    }
}
