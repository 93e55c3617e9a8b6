//! Streams and events of the CPU device.

use std::cell::{Cell, RefCell};

use cdp_emulator::{Emulator, HostView, ReplayRun};

use super::CpuDevice;
use super::state::Work;
use crate::device::{EventHandle, Events, HostWork, StreamHandle, Streams};
use crate::error::{CudaError, Result};

thread_local! {
    /// What host code knew when this thread began to replay a graph, if a check asks for that.
    static REPLAYS: RefCell<Option<HostView>> = const { RefCell::new(None) };
    /// The run of the graph that this thread replays, if its kernels may launch graphs.
    static RUN: Cell<Option<ReplayRun>> = const { Cell::new(None) };
}

/// Tells the emulator who is at it.
pub fn arrive(emulator: &mut Emulator) {
    // A thread whose variables are gone, as at the end of the process, replays nothing.
    if REPLAYS.try_with(|view| emulator.replay_as_of(view.borrow().as_ref())).is_err() {
        emulator.replay_as_of(None);
    }
    emulator.launch_in(RUN.try_with(Cell::get).unwrap_or_default());
}

/// The kernels that this thread launches from now on belong to a run; the one that they belonged to before.
pub fn set_run(run: Option<ReplayRun>) -> Option<ReplayRun> {
    RUN.replace(run)
}

impl Streams for CpuDevice {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let (least, greatest) = self.stream_priority_range()?;
        Ok(self.state().create_stream(flags, priority.clamp(greatest, least)))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        self.state().destroy_stream(stream)
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()> {
        let mut state = self.state();
        let id = state.stream(stream)?;
        state.wait_for(Work::Stream(id))
    }

    fn query_stream(&self, stream: StreamHandle) -> Result<()> {
        if self.host_functions.are_due() {
            return Err(CudaError::NOT_READY.into());
        }
        let mut state = self.state();
        let id = state.stream(stream)?;
        state.ask(|emulator| emulator.query_stream(id))
    }

    fn stream_wait_event(
        &self,
        stream: StreamHandle,
        event: EventHandle,
        flags: u32,
    ) -> Result<()> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().stream_wait_event(stream, event)
    }

    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()> {
        let id = self.state_now().stream(stream)?;
        self.host_functions.queue(&self.state, id, work);
        Ok(())
    }

    fn replays(&self, on: bool) {
        let view = if on { self.state().emulator.host_view() } else { None };
        REPLAYS.set(view);
    }

    fn stream_flags(&self, stream: StreamHandle) -> Result<u32> {
        Ok(self.state().stream_info(stream)?.0)
    }

    fn stream_priority(&self, stream: StreamHandle) -> Result<i32> {
        Ok(self.state().stream_info(stream)?.1)
    }

    fn stream_priority_range(&self) -> Result<(i32, i32)> {
        // As GPUs have it. Priorities are hints; this device does not follow them.
        Ok((0, -5))
    }
}

impl Events for CpuDevice {
    fn create_event(&self, flags: u32) -> Result<EventHandle> {
        const DISABLE_TIMING: u32 = 2;
        const INTERPROCESS: u32 = 4;
        if flags > 7 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        Ok(self.state().create_event(flags))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.state().destroy_event(event)
    }

    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()> {
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().record_event(event, stream)
    }

    fn synchronize_event(&self, event: EventHandle) -> Result<()> {
        self.state().wait_event(event, true)
    }

    fn query_event(&self, event: EventHandle) -> Result<()> {
        if self.host_functions.are_due() {
            return Err(CudaError::NOT_READY.into());
        }
        self.state().wait_event(event, false)
    }

    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        self.state().elapsed_ms(start, end)
    }
}
