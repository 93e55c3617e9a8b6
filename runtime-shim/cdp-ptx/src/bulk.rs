//! Bulk copies: `cp.async.bulk` and `cp.reduce.async.bulk` (PTX ISA, "Data Movement and Conversion
//! Instructions: Bulk copy"). Not here: those of tensor maps.

use crate::inst::{Address, Operand};
use crate::types::{AtomOp, ScalarType, Space};

/// A copy of many bytes by one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkCopy {
    /// `cp.reduce`: what is done with what is there, and the type of the elements.
    pub reduce: Option<(AtomOp, ScalarType)>,
    /// Where to.
    pub dst_space: Space,
    /// Where from.
    pub src_space: Space,
    /// Destination.
    pub dst: Address,
    /// Source.
    pub src: Address,
    /// Bytes: a multiple of 16.
    pub size: Operand,
    /// The barrier object that is told of the bytes; without one the copy belongs to a bulk group.
    pub object: Option<Address>,
    /// `.multicast::cluster`: blocks of the cluster that get the bytes.
    pub multicast: Option<Operand>,
    /// `.L2::cache_hint`
    pub policy: Option<Operand>,
}
