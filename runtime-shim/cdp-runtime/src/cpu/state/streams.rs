//! Streams and events, inside the lock.

use cdp_emulator::StreamId;

use super::super::convert;
use super::{Event, State, Stream, Work};
use crate::device::{EventHandle, StreamHandle};
use crate::error::{CudaError, Result};

impl State {
    /// The emulator's stream for a handle.
    pub fn stream(&mut self, stream: StreamHandle) -> Result<StreamId> {
        match stream {
            StreamHandle::NULL | StreamHandle::LEGACY => Ok(StreamId::NULL),
            StreamHandle::PER_THREAD => {
                let thread = std::thread::current().id();
                if let Some(&id) = self.per_thread.get(&thread) {
                    return Ok(id);
                }
                let id = self.emulator.create_stream(false);
                self.per_thread.insert(thread, id);
                Ok(id)
            }
            StreamHandle(handle) => match self.streams.get(&handle) {
                Some(stream) => Ok(stream.id),
                None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
            },
        }
    }

    pub fn create_stream(&mut self, flags: u32, priority: i32) -> StreamHandle {
        let id = self.emulator.create_stream(flags & 1 != 0);
        let handle = self.handle();
        self.streams.insert(handle, Stream { id, flags, priority });
        StreamHandle(handle)
    }

    pub fn destroy_stream(&mut self, stream: StreamHandle) -> Result<()> {
        match self.streams.remove(&stream.0) {
            Some(stream) => self.emulator.destroy_stream(stream.id).map_err(convert),
            None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
        }
    }

    /// Flags and priority.
    pub fn stream_info(&self, stream: StreamHandle) -> Result<(u32, i32)> {
        if stream.0 <= StreamHandle::PER_THREAD.0 {
            return Ok((0, 0));
        }
        match self.streams.get(&stream.0) {
            Some(stream) => Ok((stream.flags, stream.priority)),
            None => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
        }
    }

    pub fn create_event(&mut self, flags: u32) -> EventHandle {
        const DISABLE_TIMING: u32 = 2;
        let id = self.emulator.create_event();
        let handle = self.handle();
        let timing = flags & DISABLE_TIMING == 0;
        self.events.insert(handle, Event { id, timing, recorded: false });
        EventHandle(handle)
    }

    fn event(&self, event: EventHandle) -> Result<&Event> {
        let known = self.events.get(&event.0);
        known.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    pub fn destroy_event(&mut self, event: EventHandle) -> Result<()> {
        let id = self.event(event)?.id;
        self.events.remove(&event.0);
        self.emulator.destroy_event(id).map_err(convert)
    }

    pub fn record_event(&mut self, event: EventHandle, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let stream = self.stream(stream)?;
        let id = self.event(event)?.id;
        self.emulator.record_event(id, stream).map_err(convert)?;
        if let Some(event) = self.events.get_mut(&event.0) {
            event.recorded = true;
        }
        Ok(())
    }

    pub fn stream_wait_event(&mut self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.alive()?;
        let stream = self.stream(stream)?;
        let event = self.event(event)?;
        if !event.recorded {
            return Ok(());
        }
        self.emulator.wait_event(stream, event.id).map_err(convert)
    }

    /// Waits for an event or asks after it. One that was never recorded has happened.
    pub fn wait_event(&mut self, event: EventHandle, wait: bool) -> Result<()> {
        self.alive()?;
        let event = self.event(event)?;
        let id = event.id;
        match (event.recorded, wait) {
            (false, _) => Ok(()),
            (true, true) => self.wait_for(Work::Event(id)),
            (true, false) => self.ask(|emulator| emulator.query_event(id)),
        }
    }

    pub fn elapsed_ms(&mut self, start: EventHandle, end: EventHandle) -> Result<f32> {
        for event in [start, end] {
            let event = self.event(event)?;
            if !event.timing || !event.recorded {
                return Err(CudaError::INVALID_RESOURCE_HANDLE.into());
            }
        }
        self.wait_event(start, false)?;
        self.wait_event(end, false)?;
        let (start, end) = (self.event(start)?.id, self.event(end)?.id);
        Ok(self.emulator.elapsed_ms(start, end).map_err(convert)? as f32)
    }
}
