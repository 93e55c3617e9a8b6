//! Streams and events of device code.
//!
//! The NULL stream belongs to the block, created streams to the grid. A tail stream's work runs
//! one after another once everything else of the grid is done; fire-and-forget work waits for
//! nothing. Source: CUDA Programming Guide 4.18.2.4 and FACTS.md.

use super::launch::{STREAM_FIRE_AND_FORGET, STREAM_TAIL};
use super::{Caller, Outcome, errors};
use crate::exec::Step;
use crate::sched::{Action, Core};
use crate::work::{DeviceStream, NodeId};

/// `cudaStreamLegacy`
const STREAM_LEGACY: u64 = 1;
/// `cudaStreamPerThread`
const STREAM_PER_THREAD: u64 = 2;
/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;
/// `cudaEventDisableTiming`
const DISABLE_TIMING: u32 = 2;
/// `cudaEventInterprocess`
const INTERPROCESS: u32 = 4;

/// Which stream a handle means.
enum Which {
    Null,
    PerThread,
    Tail,
    FireAndForget,
    Created(u64),
}

fn which(caller: &Caller<'_>, handle: u64) -> Which {
    match handle {
        0 if caller.per_thread => Which::PerThread,
        0 | STREAM_LEGACY => Which::Null,
        STREAM_PER_THREAD => Which::PerThread,
        STREAM_TAIL => Which::Tail,
        STREAM_FIRE_AND_FORGET => Which::FireAndForget,
        other => Which::Created(other),
    }
}

/// The stream in words, for traces.
pub(super) fn name(caller: &Caller<'_>, handle: u64) -> &'static str {
    match which(caller, handle) {
        Which::Null => "NULL",
        Which::PerThread => "per thread",
        Which::Tail => "tail",
        Which::FireAndForget => "fire and forget",
        Which::Created(_) => "created",
    }
}

impl Core {
    /// True if work may be put into the stream by this thread.
    pub(super) fn stream_is_valid(&self, caller: &Caller<'_>, handle: u64) -> bool {
        match which(caller, handle) {
            Which::Null | Which::PerThread | Which::Tail | Which::FireAndForget => true,
            Which::Created(handle) => {
                self.grid(caller.grid).is_some_and(|grid| grid.streams.contains_key(&handle))
            }
        }
    }

    fn ordered_stream<'a>(
        &'a mut self,
        caller: &'a mut Caller<'_>,
        handle: u64,
    ) -> Option<&'a mut DeviceStream> {
        let thread = caller.thread();
        match which(caller, handle) {
            Which::Null => Some(&mut caller.block.runtime.null_stream),
            Which::PerThread => {
                Some(caller.block.runtime.thread_streams.entry(thread).or_default())
            }
            Which::Created(handle) => self.grid_state(caller.grid)?.streams.get_mut(&handle),
            Which::Tail | Which::FireAndForget => None,
        }
    }

    /// Puts work into a stream that was found valid.
    pub(super) fn enqueue_device(&mut self, caller: &mut Caller<'_>, handle: u64, action: Action) {
        let (grid, key) = (caller.grid, caller.key);
        self.note_actor(caller, handle);
        match which(caller, handle) {
            Which::Tail => self.add_tail(grid, action),
            Which::FireAndForget => {
                self.add_node(&[], action, Some(grid), Some(key), false);
            }
            Which::Null | Which::PerThread | Which::Created(_) => {
                let mut waits: Vec<NodeId> = Vec::new();
                if let Some(stream) = self.ordered_stream(caller, handle) {
                    waits = std::mem::take(&mut stream.waits);
                    waits.extend(stream.last);
                }
                let node = self.add_node(&waits, action, Some(grid), Some(key), false);
                if let Some(stream) = self.ordered_stream(caller, handle) {
                    stream.last = Some(node);
                }
            }
        }
    }

    /// Tells the checks who queues work, into which stream.
    pub(super) fn note_actor(&mut self, caller: &mut Caller<'_>, handle: u64) {
        // A grid's tail begins with what the whole grid did.
        if self.machine.watch.is_none() || matches!(which(caller, handle), Which::Tail) {
            return;
        }
        let last = self.ordered_stream(caller, handle).and_then(|stream| stream.last);
        // One number a stream of the block; a block's own streams are told apart by its serial.
        let block = caller.block.serial << 12;
        let stream = match which(caller, handle) {
            Which::Null => block | 1,
            Which::PerThread => block | 1 << 11 | u64::from(caller.thread()),
            Which::Tail | Which::FireAndForget => 0,
            Which::Created(handle) => 1 << 63 | caller.block.serial << 32 | handle,
        };
        let (site, lane) = (caller.site(), caller.lane);
        let warp = std::mem::take(caller.warp);
        self.acts(caller.block, &warp, lane, site, stream, last);
        *caller.warp = warp;
    }

    fn new_handle(&mut self) -> u64 {
        self.next_handle += 0x10;
        self.next_handle
    }

    /// `cudaStreamCreateWithFlags(stream, flags)`. Without `cudaStreamNonBlocking` it succeeds on
    /// the device although the guide demands the flag (FACTS.md).
    pub(super) fn stream_create(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let (pointer, flags) = (caller.arg(0), caller.arg(1) as u32);
        if pointer == 0 || flags & !NON_BLOCKING != 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        let handle = self.new_handle();
        if let Some(grid) = self.grid_state(caller.grid) {
            grid.streams.insert(handle, DeviceStream::default());
        }
        caller.store(self, pointer, &handle.to_le_bytes())?;
        Ok(Outcome::Error(0))
    }

    /// `cudaStreamDestroy(stream)`: what is queued still runs. The handle stays good until the grid ends: on an
    /// H200 it can be launched into, and destroyed again.
    pub(super) fn stream_destroy(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let handle = caller.arg(0);
        let found = self.grid(caller.grid).is_some_and(|grid| grid.streams.contains_key(&handle));
        Outcome::Error(if found { 0 } else { errors::INVALID_VALUE })
    }

    /// `cudaStreamWaitEvent(stream, event, flags)`
    pub(super) fn stream_wait_event(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let (stream, event) = (caller.arg(0), caller.arg(1));
        let recorded = self.grid(caller.grid).and_then(|grid| grid.events.get(&event).copied());
        let Some(recorded) = recorded else { return Outcome::Error(errors::INVALID_VALUE) };
        if !self.stream_is_valid(caller, stream) {
            return Outcome::Error(errors::INVALID_VALUE);
        }
        if let Some(node) = recorded {
            match self.ordered_stream(caller, stream) {
                Some(stream) => stream.waits.push(node),
                // The tail waits for everything anyway; fire-and-forget work waits for nothing.
                None => return Outcome::Error(errors::INVALID_VALUE),
            }
        }
        Outcome::Error(0)
    }

    /// `cudaEventCreateWithFlags(event, flags)`: only without timing and for one process; flags that mean nothing
    /// are taken (H200).
    pub(super) fn event_create(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let (pointer, flags) = (caller.arg(0), caller.arg(1) as u32);
        if pointer == 0 || flags & (DISABLE_TIMING | INTERPROCESS) != DISABLE_TIMING {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        let handle = self.new_handle();
        if let Some(grid) = self.grid_state(caller.grid) {
            grid.events.insert(handle, None);
        }
        caller.store(self, pointer, &handle.to_le_bytes())?;
        Ok(Outcome::Error(0))
    }

    /// `cudaEventRecord(event, stream)`
    pub(super) fn event_record(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let (event, stream) = (caller.arg(0), caller.arg(1));
        let known = self.grid(caller.grid).is_some_and(|grid| grid.events.contains_key(&event));
        if !known || !self.stream_is_valid(caller, stream) {
            return Outcome::Error(errors::INVALID_VALUE);
        }
        let Some(ordered) = self.ordered_stream(caller, stream) else {
            return Outcome::Error(errors::INVALID_VALUE);
        };
        // Nothing queued in the stream: the event is complete at once.
        let (last, waits) = (ordered.last, !ordered.waits.is_empty());
        let node = if waits {
            // The stream waits for another; the record does too.
            let nothing =
                Action::Copy { dst: 0, dst_pitch: 0, src: 0, src_pitch: 0, width: 0, rows: 0 };
            self.enqueue_device(caller, stream, nothing);
            self.ordered_stream(caller, stream).and_then(|s| s.last)
        } else {
            last
        };
        if let Some(grid) = self.grid_state(caller.grid) {
            grid.events.insert(event, node);
        }
        Outcome::Error(0)
    }

    /// `cudaEventDestroy(event)`: as with a stream.
    pub(super) fn event_destroy(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let handle = caller.arg(0);
        let found = self.grid(caller.grid).is_some_and(|grid| grid.events.contains_key(&handle));
        Outcome::Error(if found { 0 } else { errors::INVALID_VALUE })
    }
}
