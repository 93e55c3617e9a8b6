//! An access as the race checker is told of it. What becomes of it: `race`.

use super::Origin;
use crate::code::{Async, Order};

/// An access of some lanes of a warp by one instruction.
pub struct Access<'a> {
    /// The instruction.
    pub origin: Origin,
    /// First thread of the warp.
    pub first_thread: u32,
    /// Addresses (or offsets in shared memory) by lane.
    pub at: &'a [u64; 32],
    /// Lanes.
    pub lanes: u32,
    /// Bytes by each.
    pub bytes: u64,
    /// In shared memory.
    pub shared: bool,
    /// Where the memory begins that the addresses count from: 0 but for shared memory.
    pub base: u64,
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// How it is done.
    pub kind: Manner,
    /// Order and scope.
    pub order: Order,
    /// The byte that a lane writes, by its number from the lane's address.
    pub value: Option<&'a dyn Fn(usize, u64) -> u8>,
}

/// How an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By the thread, in its order.
    Own,
    /// By the thread, as a compare-and-swap. One that fails writes nothing, and so releases nothing.
    Swap { fails: bool },
    /// Asynchronously: not before what its thread does next.
    Later(Async),
    /// By the thread, as a texture's: what its own grid writes it need not see, whatever comes between.
    Fetch,
    /// By the thread: the memory goes away.
    Release,
}
