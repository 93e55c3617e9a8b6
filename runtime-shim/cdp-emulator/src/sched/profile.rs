//! Counters by kernel.

use crate::exec::Counters;

/// What one kernel did, over all its grids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelProfile {
    /// Mangled name.
    pub kernel: String,
    /// Grids.
    pub launches: u64,
    /// Blocks.
    pub blocks: u64,
    /// Threads.
    pub threads: u64,
    /// Grids that its threads launched.
    pub child_launches: u64,
    /// Everything counted while it ran.
    pub counters: Counters,
}

impl KernelProfile {
    /// Adds what other blocks of the kernel did.
    pub fn add(&mut self, other: &KernelProfile) {
        self.launches += other.launches;
        self.blocks += other.blocks;
        self.threads += other.threads;
        self.child_launches += other.child_launches;
        self.counters.add(&other.counters);
    }
}
