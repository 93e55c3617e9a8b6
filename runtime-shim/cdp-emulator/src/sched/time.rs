//! Time on the device, in nanoseconds, of which one is a cycle: a model, the same on every machine and with
//! any number of host threads, in the proportions of an H200. Events, `%globaltimer`, traces and profiles
//! have it.
//!
//! - A warp takes a cycle for an instruction. A grid takes as long as its longest block, and at least as
//!   long as its instructions take all of the device's schedulers.
//! - A grid of the host begins some time after what it waited for, a grid of a kernel some time after its
//!   launch. Copies and sets take some time each, and more the more bytes they have.
//!
//! What is absent: the cost of memory within kernels, and waiting for each other by grids that run side by
//! side.

use super::Core;
use crate::hardware::MULTIPROCESSORS;

/// Between the end of what a grid of the host waits for and its beginning.
pub const HOST_LAUNCH: u64 = 2_000;
/// Between a launch in device code and the start of the child.
pub const DEVICE_LAUNCH: u64 = 4_000;
/// Instructions of warps that a multiprocessor begins in a cycle.
const SCHEDULERS: u64 = 4;
/// A copy or set within the device, whatever its size, and its bytes in a nanosecond.
const COPY: (u64, u64) = (2_000, 2_000);
/// A copy between host and device.
const HOST_COPY: (u64, u64) = (5_000, 50);

/// The least time that so many instructions of warps take.
pub fn of_work(warp_instructions: u64) -> u64 {
    warp_instructions / (u64::from(MULTIPROCESSORS) * SCHEDULERS)
}

impl Core {
    /// A copy or set within the device passes.
    pub(super) fn pass_copy(&mut self, bytes: u64) {
        let took = COPY.0 + bytes / COPY.1;
        self.clock += took;
        self.copied += took;
    }

    /// A copy between host and device passes.
    pub fn pass_host_copy(&mut self, bytes: u64) {
        self.clock += HOST_COPY.0 + bytes / HOST_COPY.1;
    }
}
