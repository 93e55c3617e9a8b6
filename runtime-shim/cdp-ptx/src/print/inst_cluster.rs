//! Instructions of clusters of thread blocks as text.

use super::Printer;
use super::operand::Arg::*;
use crate::cluster::{ClusterBarrier, RemoteAccess};
use crate::inst::Inst;
use crate::types::*;

use ScalarType::U32;

impl Printer<'_> {
    /// `barrier.cluster`, `mapa`, `getctarank`, `st.async`, `red.async`, `setmaxnreg`
    pub fn cluster(&mut self, inst: &Inst) {
        match inst {
            Inst::BarrierCluster { op, aligned } => {
                self.mnemonic("barrier.cluster");
                match op {
                    ClusterBarrier::Arrive { releases } => {
                        self.word("arrive");
                        self.flag(!releases, "relaxed");
                    }
                    ClusterBarrier::Wait => self.word("wait"),
                }
                self.flag(*aligned, "aligned");
                self.args(&[]);
            }
            Inst::Mapa(mapa) => {
                self.mnemonic("mapa");
                self.flag(mapa.space != Space::Generic, mapa.space.as_str());
                self.word(mapa.ty.as_str());
                self.args(&[D(mapa.dst), S(&mapa.src, mapa.ty), S(&mapa.rank, U32)]);
            }
            Inst::Getctarank { space, ty, dst, src } => {
                self.mnemonic("getctarank");
                self.flag(*space != Space::Generic, space.as_str());
                self.word(ty.as_str());
                self.args(&[D(*dst), S(src, *ty)]);
            }
            Inst::RemoteAccess(access) => self.remote_access(access),
            Inst::Setmaxnreg { increases, registers } => {
                self.mnemonic("setmaxnreg");
                self.word(if *increases { "inc" } else { "dec" });
                self.words(&["sync", "aligned", "u32"]);
                self.args(&[N(i64::from(*registers))]);
            }
            _ => unreachable!("`control` sends only these here"),
        }
    }

    fn remote_access(&mut self, access: &RemoteAccess) {
        let RemoteAccess { reduce, ty, addr, srcs, object } = access;
        match reduce {
            Some(_) => self.mnemonic("red.async.relaxed.cluster"),
            None => self.mnemonic("st.async"),
        }
        self.words(&["shared::cluster", "mbarrier::complete_tx::bytes"]);
        if let Some(op) = reduce {
            self.word(op.as_str());
        }
        self.flag(srcs.len() == 2, "v2");
        self.flag(srcs.len() == 4, "v4");
        self.word(ty.as_str());
        self.args(&[A(addr), Ss(srcs, *ty), A(object)]);
    }
}
