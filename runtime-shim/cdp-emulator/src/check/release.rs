//! Memory that goes away: whoever used it must have been done before. Freed memory is, for the race checker, written
//! by who frees it, where somebody touched it; so is the shared memory of a block of a cluster, when the block ends.
//! Memory that comes in a stream is written by the stream, all of it.
//!
//! Not here: accesses that come later than the end. They are faults of every run, but in memory of a graph, which
//! stays: what comes later there must know of the end.

use super::access::{Access, Manner};
use super::block::BlockState;
use super::record::{Record, Strength};
use super::view::learn;
use super::{Origin, Watch};
use crate::code::Order;

/// Bytes that are looked at as one.
const WORD_BYTES: u64 = 4;

impl Watch {
    /// A thread releases memory in which an allocation lies, whole words of it.
    pub fn release(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        thread: u32,
        address: u64,
        size_bytes: u64,
    ) {
        let end = address + size_bytes;
        let mut at = address;
        while at < end {
            // Of a page that nobody touched nothing is remembered.
            let Some(page_end) = self.shadow.page_end(at) else {
                at = crate::check::shadow::next_page(at);
                continue;
            };
            while at < end.min(page_end) {
                let bytes = WORD_BYTES.min(end - at);
                self.release_word(state, origin, thread, at, bytes);
                at += WORD_BYTES;
            }
        }
    }

    /// A stream has come to where it allocates memory: whole words of it, which `state` writes. What was touched
    /// already was touched too early; what is touched later must know of this.
    pub fn allocated(&mut self, state: &mut BlockState, address: u64, size_bytes: u64) {
        self.written(state, Origin::ALLOCATION, address, size_bytes);
    }

    /// A stream has come to where memory ends, whole words of it, which `state` writes.
    pub fn ended(&mut self, state: &mut BlockState, address: u64, size_bytes: u64) {
        self.written(state, Origin::RELEASE, address, size_bytes);
    }

    fn written(&mut self, state: &mut BlockState, origin: Origin, address: u64, size_bytes: u64) {
        self.release(state, origin, 0, address, size_bytes);
        let stamp = self.stamp_now(state, origin);
        let write = Record::new(stamp, 0, 15, Strength::Weak, false);
        self.shadow.begin(address, size_bytes, write);
    }

    /// A block of a cluster has ended, and its shared memory, which lies at `window`, with it. What any of its
    /// threads knew of, or knew to be done at a barrier of the cluster, was done before that.
    pub fn release_shared(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        window: u64,
        size_bytes: u64,
    ) {
        state.meet();
        if let Some(done) = state.done_by_others.take() {
            learn(&mut state.shared_view, &done);
        }
        self.release(state, origin, 0, window, size_bytes);
    }

    fn release_word(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        thread: u32,
        address: u64,
        bytes: u64,
    ) {
        let access = Access {
            origin,
            first_thread: thread & !31,
            at: &[address; 32],
            lanes: 1 << (thread & 31),
            bytes,
            shared: false,
            base: 0,
            reads: false,
            writes: true,
            kind: Manner::Release,
            was: None,
            order: Order::WEAK,
            tells: true,
            value: None,
        };
        self.access(state, &access);
    }
}
