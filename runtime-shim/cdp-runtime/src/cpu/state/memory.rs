//! Memory, copies and fills, inside the lock.

use cdp_emulator::StreamId;

use super::super::convert;
use super::{State, Work};
use crate::device::{Copy2D, CopyKind, MemoryType, PointerInfo, StreamHandle};
use crate::error::{CudaError, Result};

impl State {
    pub fn allocate(&mut self, bytes: u64) -> Result<u64> {
        self.alive()?;
        self.emulator.alloc(bytes).map_err(convert)
    }

    pub fn allocate_shared(&mut self, bytes: u64, memory: MemoryType) -> Result<u64> {
        self.alive()?;
        let address = self.emulator.alloc_managed(bytes).map_err(convert)?;
        self.shared.insert(address, memory);
        Ok(address)
    }

    /// Lets kernels use memory of the host.
    ///
    /// # Safety
    /// The memory stays until [`State::unregister`].
    pub unsafe fn register(&mut self, address: u64, bytes: u64) -> Result<()> {
        self.alive()?;
        // SAFETY: the caller's promise.
        let known = unsafe { self.emulator.register(address, bytes) };
        known.map_err(|_| CudaError::HOST_MEMORY_ALREADY_REGISTERED)?;
        self.shared.insert(address, MemoryType::Host);
        Ok(())
    }

    /// Forgets memory of [`State::register`] after all work.
    pub fn unregister(&mut self, address: u64) -> Result<()> {
        self.wait_for(Work::All)?;
        self.emulator.unregister(address);
        self.shared.remove(&address);
        Ok(())
    }

    /// Frees after all work, as `cudaFree` waits too.
    pub fn free(&mut self, address: u64, from_host: bool) -> Result<()> {
        self.alive()?;
        if address == 0 {
            return Ok(());
        }
        let begins = self.emulator.pointer_info(address).is_some_and(|info| info.base == address);
        let is_host = self.shared.get(&address) == Some(&MemoryType::Host);
        if !begins || is_host != from_host {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.wait_for(Work::All)?;
        self.emulator.free(address).map_err(convert)?;
        self.shared.remove(&address);
        Ok(())
    }

    /// Destroys a texture or surface object after all work: kernels that were launched with it still read by it, as on
    /// a GPU, where they have begun by then.
    pub fn destroy_object(&mut self, object: u64) -> Result<()> {
        self.alive()?;
        self.wait_for(Work::All)?;
        self.emulator.destroy_texture(object).map_err(convert)
    }

    /// Tells the checks that memory is there for what follows in a stream.
    pub fn allocated_in_stream(&mut self, address: u64, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream)?;
        let told = self.emulator.allocated_in_stream(address, id);
        told.map_err(|error| self.or_fault(error))
    }

    /// Tells the checks that memory is of no use to what follows in a stream.
    pub fn unused_in_stream(&mut self, address: u64, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream)?;
        let told = self.emulator.unused_in_stream(address, id);
        told.map_err(|error| self.or_fault(error))
    }

    /// Frees behind the work of a stream. All work is done by then, so that the checks know who used the memory.
    pub fn free_in_stream(&mut self, address: u64, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream)?;
        self.wait_for(Work::All)?;
        let told = self.emulator.released_in_stream(address, id);
        told.map_err(|error| self.or_fault(error))?;
        self.free(address, false)
    }

    pub fn pointer_info(&self, address: u64) -> PointerInfo {
        let Some(info) = self.emulator.pointer_info(address) else {
            return PointerInfo {
                memory: MemoryType::Unregistered,
                device_address: 0,
                host_address: address,
            };
        };
        let memory = self.shared.get(&info.base).copied().unwrap_or(MemoryType::Device);
        let host_address = if memory == MemoryType::Device { 0 } else { address };
        PointerInfo { memory, device_address: address, host_address }
    }

    fn is_device(&self, address: u64) -> bool {
        self.emulator.pointer_info(address).is_some()
    }

    /// # Safety
    /// Host sides of the copy must be valid.
    pub unsafe fn copy(
        &mut self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream.unwrap_or(StreamHandle::NULL))?;
        if copy.width_bytes == 0 || copy.height == 0 {
            return Ok(());
        }
        if copy.dst == 0 || copy.src == 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        // An address that the kind calls the host's may be the device's all the same (unified
        // addressing); the reverse is an error, which the emulator finds.
        let (src_claimed, dst_claimed) = match kind {
            CopyKind::HostToHost | CopyKind::Default => (false, false),
            CopyKind::HostToDevice => (false, true),
            CopyKind::DeviceToHost => (true, false),
            CopyKind::DeviceToDevice => (true, true),
        };
        let from_device = src_claimed || self.is_device(copy.src);
        let to_device = dst_claimed || self.is_device(copy.dst);
        match (from_device, to_device) {
            (true, true) => self.copy_in_device(copy, id, stream.is_none()),
            // SAFETY: the caller's promise.
            _ => unsafe { self.copy_with_host(copy, from_device, to_device, id) },
        }
    }

    fn copy_in_device(&mut self, copy: &Copy2D, stream: StreamId, wait: bool) -> Result<()> {
        let queued = self.emulator.copy_in_device(
            copy.dst,
            copy.dst_pitch_bytes as u64,
            copy.src,
            copy.src_pitch_bytes as u64,
            copy.width_bytes as u64,
            copy.height as u64,
            stream,
        );
        queued.map_err(|error| self.or_fault(error))?;
        if wait { self.wait_for(Work::Stream(stream)) } else { self.enqueued() }
    }

    /// # Safety
    /// Host sides of the copy must be valid.
    unsafe fn copy_with_host(
        &mut self,
        copy: &Copy2D,
        from_device: bool,
        to_device: bool,
        stream: StreamId,
    ) -> Result<()> {
        if !from_device && !to_device {
            self.wait_for(Work::Turn(stream))?;
        }
        // One copy if the rows touch each other.
        let dense =
            copy.width_bytes == copy.dst_pitch_bytes && copy.width_bytes == copy.src_pitch_bytes;
        let (rows, bytes) = match (dense, copy.width_bytes.checked_mul(copy.height)) {
            (true, Some(total)) => (1, total),
            _ => (copy.height, copy.width_bytes),
        };
        for row in 0..rows {
            let dst = copy.dst.wrapping_add(row.wrapping_mul(copy.dst_pitch_bytes) as u64);
            let src = copy.src.wrapping_add(row.wrapping_mul(copy.src_pitch_bytes) as u64);
            // Only as much host memory is looked at as the device has: a wrong size is an error.
            for (on_device, address) in [(from_device, src), (to_device, dst)] {
                if on_device {
                    let checked = self.emulator.check_range(address, bytes as u64);
                    checked.map_err(|error| self.or_fault(error))?;
                }
            }
            match (from_device, to_device) {
                (false, true) => {
                    // SAFETY: host memory valid by the caller's promise.
                    let host = unsafe { std::slice::from_raw_parts(src as *const u8, bytes) };
                    self.wait(|emulator| emulator.copy_to_device(dst, host, stream))?;
                }
                (true, false) => {
                    // SAFETY: host memory valid by the caller's promise.
                    let host = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes) };
                    self.wait(|emulator| emulator.copy_from_device(host, src, stream))?;
                }
                // SAFETY: both sides valid by the caller's promise; they may overlap.
                _ => unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes) },
            }
        }
        Ok(())
    }

    pub fn fill(
        &mut self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.alive()?;
        let id = self.stream(stream.unwrap_or(StreamHandle::NULL))?;
        if width_bytes == 0 || height == 0 {
            return Ok(());
        }
        let queued = self.emulator.set_memory(dst, pitch_bytes, &[value], width_bytes, height, id);
        queued.map_err(|error| self.or_fault(error))?;
        match stream {
            // Host code may look at managed memory right after a cudaMemset.
            None => self.wait_for(Work::Stream(id)),
            Some(_) => self.enqueued(),
        }
    }
}
