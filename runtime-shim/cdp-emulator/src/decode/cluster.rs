//! Decoding of what blocks of a cluster do with each other.

use cdp_ptx::inst::Address;
use cdp_ptx::inst::{Mapa, RemoteAccess};
use cdp_ptx::{Operand, Reg, ScalarType, Space};

use super::{Decoded, Decoder};
use crate::code::{NONE, Op, Remote, StateSpace};

impl Decoder<'_> {
    pub(super) fn cluster_barrier(&mut self, waits: bool, relaxed: bool) -> Decoded {
        self.simple(if waits { Op::ClusterWait } else { Op::ClusterArrive { releases: !relaxed } })
    }

    /// The state space that the one of an address of the cluster's shared memory is.
    fn cluster_space(space: Space) -> StateSpace {
        if space == Space::Generic { StateSpace::Generic } else { StateSpace::Cluster }
    }

    pub(super) fn mapa(&mut self, mapa: &Mapa) -> Decoded {
        let wide = mapa.ty.bits() == 64;
        let (d, a) = (self.dst(mapa.dst, wide)?, self.row(mapa.src, wide)?);
        let b = self.narrow(mapa.rank)?;
        let space = Self::cluster_space(mapa.space);
        let imm = u32::from(wide);
        let inst = crate::code::Inst { d, a, b, imm, ..self.blank(Op::Mapa(space)) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn getctarank(
        &mut self,
        space: Space,
        ty: ScalarType,
        dst: Reg,
        src: Operand,
    ) -> Decoded {
        let wide = ty.bits() == 64;
        let (d, a) = (self.narrow_dst(dst)?, self.row(src, wide)?);
        let space = Self::cluster_space(space);
        let inst =
            crate::code::Inst { d, a, imm: u32::from(wide), ..self.blank(Op::ClusterRank(space)) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn remote_access(&mut self, access: &RemoteAccess) -> Decoded {
        let mut part = |address: &Address| {
            let parts = self.address(Space::SharedCluster, address)?;
            match parts.row {
                NONE => Err("an asynchronous store to a parameter or local variable".to_string()),
                row => Ok((row, parts.wide, parts.offset)),
            }
        };
        let (addr, object) = (part(&access.addr)?, part(&access.object)?);
        let wide = access.ty.bits() == 64;
        let srcs = access.srcs.iter().map(|src| self.row(*src, wide)).collect::<Result<_, _>>()?;
        let imm = self.out.remotes.len() as u32;
        self.out.remotes.push(Remote { reduce: access.reduce, ty: access.ty, addr, object, srcs });
        let inst = crate::code::Inst { imm, ..self.blank(Op::Remote) };
        self.emit(inst);
        Ok(())
    }
}
