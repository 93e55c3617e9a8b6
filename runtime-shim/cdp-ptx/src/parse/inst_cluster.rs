//! Clusters of thread blocks: `barrier.cluster`, `mapa`, `getctarank`, `st.async`, `red.async`; and
//! `setmaxnreg`, which asks for registers.

use super::body::FunctionState;
use super::inst_data::space_word;
use super::inst_memory::vector_len;
use super::mods::Mods;
use super::operand::Width;
use super::{Parser, Result};
use crate::cluster::{ClusterBarrier, Mapa, RemoteAccess};
use crate::error::ErrorKind;
use crate::inst::*;
use crate::types::*;

use ScalarType::*;

impl<'a> Parser<'a> {
    /// `barrier.cluster`
    pub fn cluster_barrier(&mut self, mut mods: Mods<'a>) -> Result<Inst> {
        mods.flag("cluster");
        let arrives = mods.need("`.arrive` or `.wait`", |word| match word {
            "arrive" => Some(true),
            "wait" => Some(false),
            _ => None,
        })?;
        let op = if arrives {
            let relaxed = mods.flag("relaxed");
            if !relaxed {
                mods.flag("release");
            }
            ClusterBarrier::Arrive { releases: !relaxed }
        } else {
            mods.flag("acquire");
            ClusterBarrier::Wait
        };
        let aligned = mods.flag("aligned");
        mods.finish()?;
        Ok(Inst::BarrierCluster { op, aligned })
    }

    /// The state space of an address of a cluster's shared memory: `.shared::cluster`, or generic.
    fn cluster_space(&mut self, mods: &mut Mods<'a>) -> Result<Space> {
        let space = mods.take(space_word).unwrap_or(Space::Generic);
        let known = matches!(space, Space::Generic | Space::SharedCluster);
        mods.require(known, "the address is generic or of `.shared::cluster`")?;
        Ok(space)
    }

    /// `mapa`
    pub fn mapa(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let space = self.cluster_space(&mut mods)?;
        let ty = mods.ty(&[U32, U64])?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, ty, ty)?;
        let rank = self.next_operand(st, U32)?;
        Ok(Inst::Mapa(Box::new(Mapa { space, ty, dst, src, rank })))
    }

    /// `getctarank`
    pub fn getctarank(&mut self, st: &mut FunctionState<'a>, mut mods: Mods<'a>) -> Result<Inst> {
        let space = self.cluster_space(&mut mods)?;
        let ty = mods.ty(&[U32, U64])?;
        mods.finish()?;
        let (dst, src) = self.d_a(st, U32, ty)?;
        Ok(Inst::Getctarank { space, ty, dst, src })
    }

    /// `st.async`, `red.async`
    pub fn remote_access(
        &mut self,
        st: &mut FunctionState<'a>,
        mut mods: Mods<'a>,
    ) -> Result<Inst> {
        mods.flag("async");
        let reduces = mods.opcode.text == "red";
        if reduces {
            mods.need("`.relaxed`", |word| (word == "relaxed").then_some(()))?;
            mods.need("`.cluster`", |word| (word == "cluster").then_some(()))?;
        } else if mods.has("mmio") || mods.has("release") {
            return self.unknown_instruction(&mods);
        } else {
            mods.flag("weak");
        }
        self.cluster_space(&mut mods)?;
        mods.need("`.mbarrier::complete_tx::bytes`", |word| {
            (word == "mbarrier::complete_tx::bytes").then_some(())
        })?;
        let mut reduce = None;
        let mut count = 1;
        let ty = if reduces {
            let op = mods.need("an operation such as `.add`", AtomOp::from_str)?;
            reduce = Some(op);
            mods.ty(match op {
                AtomOp::And | AtomOp::Or | AtomOp::Xor => &[B32],
                AtomOp::Add => &[U32, S32, U64],
                AtomOp::Min | AtomOp::Max => &[U32, S32],
                AtomOp::Inc | AtomOp::Dec => &[U32],
                AtomOp::Cas | AtomOp::Exch => &[],
            })?
        } else {
            count = vector_len(&mut mods);
            mods.require(count <= 4, "a vector has 2 or 4 elements")?;
            mods.ty(&[B32, B64, U32, U64, S32, S64, F32, F64])?
        };
        mods.finish()?;
        let addr = self.space_address(st, Space::SharedCluster)?;
        self.comma()?;
        let srcs = self.srcs(st, ty, count, Width::Exact)?;
        self.comma()?;
        let object = self.space_address(st, Space::SharedCluster)?;
        Ok(Inst::RemoteAccess(Box::new(RemoteAccess { reduce, ty, addr, srcs, object })))
    }

    /// `setmaxnreg`
    pub fn setmaxnreg(&mut self, mut mods: Mods<'a>) -> Result<Inst> {
        let increases = mods.need("`.inc` or `.dec`", |word| match word {
            "inc" => Some(true),
            "dec" => Some(false),
            _ => None,
        })?;
        mods.need("`.sync`", |word| (word == "sync").then_some(()))?;
        mods.need("`.aligned`", |word| (word == "aligned").then_some(()))?;
        mods.ty(&[U32])?;
        mods.finish()?;
        let token = self.peek;
        let registers = self.number_u32("the number of registers")?;
        if !(24..=256).contains(&registers) || registers % 8 != 0 {
            let message =
                format!("{registers} registers; 24 to 256 are possible, in multiples of 8");
            return Err(self.error_at(&token, ErrorKind::Limit, message));
        }
        Ok(Inst::Setmaxnreg { increases, registers })
    }
}
