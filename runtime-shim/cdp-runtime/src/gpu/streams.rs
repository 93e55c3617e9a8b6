//! Streams and events of the GPU device.

use std::ffi::c_void;

use super::GpuDevice;
use super::driver::{self, Handle, check};
use crate::device::{EventHandle, Events, HostWork, StreamHandle, Streams};
use crate::error::{CudaError, Result};

impl Streams for GpuDevice {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle> {
        let driver = self.bind()?;
        let mut stream: Handle = std::ptr::null_mut();
        // SAFETY: the target is valid for the write.
        check(unsafe { (driver.cuStreamCreateWithPriority)(&mut stream, flags, priority) })?;
        self.handles().streams.insert(stream as u64);
        Ok(StreamHandle(stream as u64))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        let driver = self.bind()?;
        if !self.handles().streams.remove(&stream.0) {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        // SAFETY: it was alive and is forgotten.
        check(unsafe { (driver.cuStreamDestroy_v2)(stream.0 as Handle) })
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuStreamSynchronize)(handle) })?;
        self.waited();
        Ok(())
    }

    fn query_stream(&self, stream: StreamHandle) -> Result<()> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuStreamQuery)(handle) })?;
        self.waited();
        Ok(())
    }

    fn stream_wait_event(
        &self,
        stream: StreamHandle,
        event: EventHandle,
        flags: u32,
    ) -> Result<()> {
        let (stream, event) = (self.stream(stream)?, self.event(event)?);
        let driver = self.bind()?;
        // SAFETY: both alive.
        check(unsafe { (driver.cuStreamWaitEvent)(stream, event, flags) })
    }

    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()> {
        unsafe extern "C" fn run(_stream: Handle, status: driver::CUresult, data: *mut c_void) {
            // SAFETY: the box below, once.
            let work = unsafe { Box::from_raw(data.cast::<HostWork>()) };
            work(driver::runtime_error(status));
        }
        let stream = self.stream(stream)?;
        let driver = self.bind()?;
        let data = Box::into_raw(Box::new(work));
        // SAFETY: the driver calls `run` once with the box, on a thread of its own.
        let status = unsafe { (driver.cuStreamAddCallback)(stream, run, data.cast(), 0) };
        if status != 0 {
            // SAFETY: the driver has not taken it.
            drop(unsafe { Box::from_raw(data) });
        }
        check(status)
    }

    fn stream_flags(&self, stream: StreamHandle) -> Result<u32> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        let mut flags = 0;
        // SAFETY: alive, target valid.
        check(unsafe { (driver.cuStreamGetFlags)(handle, &mut flags) })?;
        Ok(flags)
    }

    fn stream_priority(&self, stream: StreamHandle) -> Result<i32> {
        let handle = self.stream(stream)?;
        let driver = self.bind()?;
        let mut priority = 0;
        // SAFETY: alive, target valid.
        check(unsafe { (driver.cuStreamGetPriority)(handle, &mut priority) })?;
        Ok(priority)
    }

    fn stream_priority_range(&self) -> Result<(i32, i32)> {
        let driver = self.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: targets valid.
        check(unsafe { (driver.cuCtxGetStreamPriorityRange)(&mut least, &mut greatest) })?;
        Ok((least, greatest))
    }
}

impl Events for GpuDevice {
    fn create_event(&self, flags: u32) -> Result<EventHandle> {
        let driver = self.bind()?;
        let mut event: Handle = std::ptr::null_mut();
        // SAFETY: target valid.
        check(unsafe { (driver.cuEventCreate)(&mut event, flags) })?;
        self.handles().events.insert(event as u64);
        Ok(EventHandle(event as u64))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        let driver = self.bind()?;
        if !self.handles().events.remove(&event.0) {
            return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
        }
        // SAFETY: it was alive and is forgotten.
        check(unsafe { (driver.cuEventDestroy_v2)(event.0 as Handle) })
    }

    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()> {
        let (event, stream) = (self.event(event)?, self.stream(stream)?);
        let driver = self.bind()?;
        // SAFETY: both alive.
        check(unsafe { (driver.cuEventRecordWithFlags)(event, stream, flags) })
    }

    fn synchronize_event(&self, event: EventHandle) -> Result<()> {
        let event = self.event(event)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuEventSynchronize)(event) })?;
        self.waited();
        Ok(())
    }

    fn query_event(&self, event: EventHandle) -> Result<()> {
        let event = self.event(event)?;
        let driver = self.bind()?;
        // SAFETY: alive.
        check(unsafe { (driver.cuEventQuery)(event) })?;
        self.waited();
        Ok(())
    }

    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        let driver = self.bind()?;
        let mut elapsed_ms = 0.0;
        // SAFETY: both alive, target valid.
        check(unsafe { (driver.cuEventElapsedTime_v2)(&mut elapsed_ms, start, end) })?;
        Ok(elapsed_ms)
    }
}
