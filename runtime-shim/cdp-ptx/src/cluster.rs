//! Clusters of thread blocks: their barrier, the addresses of each other's shared memory, and stores
//! and reductions there that a barrier object is told of (PTX ISA, "barrier.cluster", "mapa",
//! "getctarank", "st.async", "red.async"). Not here: loads, stores and atomics of `.shared::cluster`,
//! which are those of any memory.

use crate::inst::{Address, Operand, Srcs};
use crate::module::Reg;
use crate::types::{AtomOp, ScalarType, Space};

/// What a thread does at the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterBarrier {
    /// `.arrive`: counts, and goes on.
    Arrive {
        /// Not `.relaxed`: what came before is visible to those who wait.
        releases: bool,
    },
    /// `.wait`: until all threads of the cluster that have not ended have arrived.
    Wait,
}

/// `mapa`: the address of the same variable in another block of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapa {
    /// `SharedCluster`, or `Generic` for generic addresses.
    pub space: Space,
    /// `.u32` or `.u64`, of both addresses.
    pub ty: ScalarType,
    /// Destination.
    pub dst: Reg,
    /// An address in shared memory.
    pub src: Operand,
    /// `%cluster_ctarank` of the block.
    pub rank: Operand,
}

/// `st.async` and `red.async`: one access to the shared memory of a block of the cluster, of whose bytes
/// a barrier object of that block is told.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteAccess {
    /// `red.async`: the operation.
    pub reduce: Option<AtomOp>,
    /// Type of an element.
    pub ty: ScalarType,
    /// Where to.
    pub addr: Address,
    /// What: 1, 2 or 4 elements.
    pub srcs: Srcs,
    /// The barrier object.
    pub object: Address,
}
