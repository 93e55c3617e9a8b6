//! Streams and events: the order of a device's work.

use crate::error::{CudaError, Result};

/// A `cudaStream_t` as host code holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamHandle(pub u64);

impl StreamHandle {
    /// The NULL stream, which means [`StreamHandle::LEGACY`].
    pub const NULL: StreamHandle = StreamHandle(0);
    /// `cudaStreamLegacy`
    pub const LEGACY: StreamHandle = StreamHandle(1);
    /// `cudaStreamPerThread`
    pub const PER_THREAD: StreamHandle = StreamHandle(2);
}

/// A `cudaEvent_t` as host code holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventHandle(pub u64);

/// A function of the host that waits in a stream; it is told whether the work before it went well.
pub type HostWork = Box<dyn FnOnce(CudaError) + Send>;

/// Streams of a device.
pub trait Streams {
    /// Makes a stream; `cudaStreamNonBlocking` is flag 1.
    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle>;
    /// Destroys a stream; its work still runs.
    fn destroy_stream(&self, stream: StreamHandle) -> Result<()>;
    /// Waits for the work of a stream.
    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()>;
    /// `cudaErrorNotReady` if the stream has work left.
    fn query_stream(&self, stream: StreamHandle) -> Result<()>;
    /// Later work of the stream waits for the event.
    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle, flags: u32)
    -> Result<()>;
    /// Calls a function of the host when the work now in the stream is done. What comes after it in the
    /// stream waits for it.
    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()>;
    /// Flags of the stream.
    fn stream_flags(&self, stream: StreamHandle) -> Result<u32>;
    /// Priority of the stream.
    fn stream_priority(&self, stream: StreamHandle) -> Result<i32>;
    /// Whether this thread replays a graph of host code from now on: a program that launches a graph waits for none
    /// of its nodes, whatever is waited for here meanwhile. For devices that follow what host code knows.
    fn replays(&self, _on: bool) {}
    /// Least (a number no smaller than the other) and greatest priority.
    fn stream_priority_range(&self) -> Result<(i32, i32)>;
}

/// Events of a device.
pub trait Events {
    /// Makes an event; the flags of `cudaEventCreateWithFlags`.
    fn create_event(&self, flags: u32) -> Result<EventHandle>;
    /// Destroys an event.
    fn destroy_event(&self, event: EventHandle) -> Result<()>;
    /// Records the event after the work now in the stream.
    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()>;
    /// Waits until the event has happened.
    fn synchronize_event(&self, event: EventHandle) -> Result<()>;
    /// `cudaErrorNotReady` if the event has not happened.
    fn query_event(&self, event: EventHandle) -> Result<()>;
    /// Milliseconds from one event to the other.
    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32>;
}
