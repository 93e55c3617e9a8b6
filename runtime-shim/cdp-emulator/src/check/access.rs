//! An access as the race checker is told of it. What becomes of it: `race`.

use super::Origin;
use crate::code::{Async, Order, Sem};

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
    /// Others can hear of its thread, or wait for it, from there on.
    pub tells: bool,
    /// The byte that a lane writes, by its number from the lane's address.
    pub value: Option<&'a dyn Fn(usize, u64) -> u8>,
    /// What is there before a strong access of 8 bytes at most, by lane.
    pub was: Option<&'a [u64; 32]>,
}

/// What an access sees of writes that come before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// All.
    Usual,
    /// Those that a fence came behind: it goes through the asynchronous proxy.
    Proxy,
    /// Those of other grids: it is a texture's, or of what does not change.
    Fixed,
}

impl Access<'_> {
    /// What it sees.
    #[inline(always)]
    pub fn way(&self) -> Way {
        match self.kind {
            Manner::Later(of) if of.by_proxy() => Way::Proxy,
            _ if self.order.sem == Sem::Fixed => Way::Fixed,
            _ => Way::Usual,
        }
    }
}

impl Manner {
    /// An update that leaves what is there. Nobody sees whether it has come, so that it releases nothing.
    pub fn keeps(self) -> bool {
        matches!(self, Manner::Swap { keeps: true } | Manner::Kept | Manner::Probe)
    }

    /// A strong read that may as well see an older value ([`super::older`]).
    pub fn looks(self) -> bool {
        matches!(self, Manner::Look | Manner::Probe)
    }
}

/// How an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By the thread, in its order.
    Own,
    /// The same, as a strong read that may as well see an older value ([`super::older`]).
    Look,
    /// By the thread, as a compare-and-swap, which may keep what is there, as one that fails does.
    Swap { keeps: bool },
    /// By the thread, as another update that keeps what is there.
    Kept,
    /// The same as one that keeps whatever is there (`or` with 0): a strong read by other means.
    Probe,
    /// Asynchronously: not before what its thread does next.
    Later(Async),
    /// By the thread: the memory goes away.
    Release,
}
