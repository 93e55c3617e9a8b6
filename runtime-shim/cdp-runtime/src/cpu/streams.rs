//! Streams and events of the CPU device.

use super::CpuDevice;
use super::state::Work;
use crate::device::{EventHandle, Events, HostWork, StreamHandle, Streams};
use crate::error::{CudaError, Result};

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
        state.wait(|emulator| emulator.query_stream(id))
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
