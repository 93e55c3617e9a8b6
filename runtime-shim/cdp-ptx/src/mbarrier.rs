//! The `mbarrier` family: barriers that are objects in shared memory (PTX ISA, "Parallel
//! Synchronization and Communication Instructions: mbarrier").
//!
//! An object also counts transactions, bytes that copies bring: a phase ends when all have arrived and
//! no bytes are missing.

use crate::inst::{Address, Dst, Operand};
use crate::module::Reg;
use crate::types::{AtomOrder, Scope, Space};

/// An instruction on a barrier object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// What it does.
    pub op: MbarrierOp,
    /// `.shared` (of the block or of the cluster), or generic where none is written.
    pub space: Space,
    /// The object.
    pub addr: Address,
    /// Memory order and scope of arrivals and waits, where written.
    pub order: Option<(AtomOrder, Scope)>,
}

/// What is done with the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// `mbarrier.init`: a new object whose phases take `count` arrivals.
    Init {
        /// Arrivals of a phase.
        count: Operand,
    },
    /// `mbarrier.inval`: the memory is no barrier any more.
    Inval,
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`
    Arrive {
        /// The state before the arrival.
        dst: Dst,
        /// Arrivals; one if absent. With `expect_tx` bytes, and there is one arrival.
        count: Option<Operand>,
        /// `.expect_tx`: more bytes are expected first.
        expect_tx: bool,
        /// Later phases expect as many fewer.
        drop: bool,
        /// `.noComplete`: the arrival does not end the phase.
        no_complete: bool,
    },
    /// `mbarrier.expect_tx`: as many more bytes are expected.
    ExpectTx {
        /// Bytes.
        bytes: Operand,
    },
    /// `mbarrier.complete_tx`: as many bytes have come.
    CompleteTx {
        /// Bytes.
        bytes: Operand,
    },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Wait {
        /// Whether the phase has ended.
        pred: Reg,
        /// The phase.
        phase: MbarrierPhase,
        /// `try_wait`: may wait for some time.
        waits: bool,
        /// How long, in nanoseconds.
        limit: Option<Operand>,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the thread's copies so far are done.
    CpAsyncArrive {
        /// `.noinc`: the arrival was counted in the object's `count`.
        noinc: bool,
    },
}

/// The phase that a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierPhase {
    /// That of a state from an arrival.
    State(Operand),
    /// The one with this parity: the current one or the one before.
    Parity(Operand),
}
