//! Memory: allocating, copying and setting it, and the texture and surface objects that show it.

use super::Emulator;
use crate::api::*;
use crate::error::Error;
use crate::memory::{AllocKind, FreeError};
use crate::report::Bytes;
use crate::sched::Action;
use crate::texture::TextureDescriptor;

impl Emulator {
    /// Allocates `size_bytes` of zeroed device memory, aligned to 256 at least (`cudaMalloc`).
    /// Returns 0 for no bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]
    pub fn alloc(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Host)
    }

    /// As [`Emulator::alloc`], for memory that host code uses through the same address
    /// (`cudaMallocManaged`, `cudaMallocHost`). The address is one of this process.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]
    pub fn alloc_managed(&mut self, size_bytes: u64) -> Result<u64, Error> {
        self.allocate(size_bytes, AllocKind::Managed)
    }

    pub(super) fn allocate(&mut self, size_bytes: u64, kind: AllocKind) -> Result<u64, Error> {
        if size_bytes == 0 {
            return Ok(0);
        }
        // Without host code that tells what it writes there, shared memory is taken for written.
        let host = &self.core.machine.host;
        let told = kind == AllocKind::Managed && host.as_ref().is_some_and(|log| log.tells_all());
        let fresh = kind == AllocKind::Host || told;
        let memory = &mut self.core.machine_mut().memory;
        let address = memory.allocate(size_bytes, 256, kind, true, None).ok_or_else(|| {
            let free_bytes = memory.limit_bytes() - memory.live_bytes();
            Error::OutOfMemory { asked_bytes: size_bytes, free_bytes }
        })?;
        self.core.memory_begins(address, size_bytes, fresh);
        self.core.trace_event("allocate", String::new, size_bytes);
        Ok(address)
    }

    /// Releases what [`Emulator::alloc`] or [`Emulator::alloc_managed`] returned, after everything
    /// queued is done; 0 is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the host allocated nothing there.
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        if address == 0 {
            return Ok(());
        }
        // As cudaFree does: what is queued may still use the memory.
        self.core.run_all();
        let host = |kind: &AllocKind| matches!(kind, AllocKind::Host | AllocKind::Managed);
        self.core.machine_mut().memory.free(address, None, host).map_err(|error| {
            Error::InvalidAddress {
                address,
                size_bytes: 0,
                message: match error {
                    FreeError::NotAllocated => "no allocation begins there".to_string(),
                    FreeError::AlreadyFree => "already released".to_string(),
                    FreeError::WrongKind => "not allocated by the host".to_string(),
                },
            }
        })
    }

    /// Tells the checks that memory of [`Emulator::alloc`] is there for what comes behind the work in `stream`
    /// (`cudaMallocAsync`).
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn allocated_in_stream(&mut self, address: u64, stream: StreamId) -> Result<(), Error> {
        let size = self.pointer_info(address).map_or(0, |info| info.size_bytes);
        self.core.allocated_in_stream(stream, address, size)
    }

    /// Tells the checks that memory of [`Emulator::alloc`] is released behind what is in `stream`
    /// (`cudaFreeAsync`). All work is done, and what follows is [`Emulator::free`].
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn released_in_stream(&mut self, address: u64, stream: StreamId) -> Result<(), Error> {
        let size = self.pointer_info(address).map_or(0, |info| info.size_bytes);
        self.core.released_in_stream(stream, address, size)
    }

    /// Tells the checks that memory that stays, that of a graph's node, is of no use behind the work in `stream`
    /// until it is allocated there again.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn unused_in_stream(&mut self, address: u64, stream: StreamId) -> Result<(), Error> {
        let size = self.pointer_info(address).map_or(0, |info| info.size_bytes);
        self.core.unused_in_stream(stream, address, size)
    }

    /// Lets kernels use memory of the host (`cudaHostRegister`), by its own address.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if it lies in memory that is known already.
    ///
    /// # Safety
    /// The memory stays until [`Emulator::unregister`].
    pub unsafe fn register(&mut self, address: u64, size_bytes: u64) -> Result<(), Error> {
        self.add_outside(address, size_bytes, AllocKind::Managed, true)
    }

    /// Lets kernels use memory that was mapped to a range of addresses (`cuMemMap`, `cuMemSetAccess`), to read it or
    /// to write it too. Ranges that touch each other and are used alike are to be one.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if it lies in memory that is known already.
    ///
    /// # Safety
    /// The memory stays until [`Emulator::unregister`].
    pub unsafe fn lend(
        &mut self,
        address: u64,
        size_bytes: u64,
        writable: bool,
    ) -> Result<(), Error> {
        self.add_outside(address, size_bytes, AllocKind::Host, writable)
    }

    /// Other memory is at these addresses from now on: what the checks know of the old one is forgotten.
    pub fn remapped(&mut self, address: u64, size_bytes: u64) {
        self.core.memory_begins(address, size_bytes, false);
    }

    fn add_outside(
        &mut self,
        address: u64,
        size_bytes: u64,
        kind: AllocKind,
        writable: bool,
    ) -> Result<(), Error> {
        if self.core.machine_mut().memory.add_foreign(address, size_bytes, kind, writable) {
            return Ok(());
        }
        let message = "the device has memory there already".to_string();
        Err(Error::InvalidAddress { address, size_bytes, message })
    }

    /// Forgets memory of [`Emulator::register`] or [`Emulator::lend`] after everything queued is done.
    pub fn unregister(&mut self, address: u64) {
        self.core.run_all();
        self.core.machine_mut().memory.remove_foreign(address);
    }

    /// Device memory in use.
    pub fn memory_info(&self) -> MemoryInfo {
        let memory = &self.core.machine.memory;
        let total_bytes = memory.limit_bytes();
        MemoryInfo { free_bytes: total_bytes - memory.live_bytes(), total_bytes }
    }

    /// What lies at a device address; `None` if nothing is allocated there.
    pub fn pointer_info(&self, address: u64) -> Option<PointerInfo> {
        let record = self
            .core
            .machine
            .memory
            .record_at(address)
            .filter(|record| record.live && address - record.base < record.size_bytes)?;
        Some(PointerInfo {
            base: record.base,
            size_bytes: record.size_bytes,
            managed: record.kind == AllocKind::Managed,
            variable: match &record.kind {
                AllocKind::Symbol(name) => Some(name.clone()),
                _ => None,
            },
        })
    }

    /// Whether a range lies within one allocation; an empty one always does. The error says what
    /// lies there.
    pub fn check_range(&self, address: u64, size_bytes: u64) -> Result<(), Error> {
        if size_bytes == 0 || self.core.machine.memory.contains(address, size_bytes) {
            return Ok(());
        }
        let message = match self.core.machine.memory.record_at(address) {
            Some(record) if !record.live => "the memory was released".to_string(),
            Some(record) => {
                format!("the allocation at {:#x} has {}", record.base, Bytes(record.size_bytes))
            }
            None => "nothing is allocated there".to_string(),
        };
        Err(Error::InvalidAddress { address, size_bytes, message })
    }

    pub(super) fn check_rows(
        &self,
        address: u64,
        pitch: u64,
        width: u64,
        rows: u64,
    ) -> Result<(), Error> {
        if rows == 0 || width == 0 {
            return Ok(());
        }
        if rows > 1 && pitch < width {
            return Err(Error::InvalidValue {
                message: format!("pitch {pitch} below the width {width}"),
            });
        }
        let span = pitch.checked_mul(rows - 1).and_then(|n| n.checked_add(width));
        self.check_range(address, span.unwrap_or(u64::MAX))
    }

    /// Copies host bytes to the device after everything already in `stream`; waits for it.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the range is not allocated.
    pub fn copy_to_device(
        &mut self,
        dst: u64,
        src: &[u8],
        stream: StreamId,
    ) -> Result<Completion, Error> {
        self.check_range(dst, src.len() as u64)?;
        let completion = self.await_turn(stream)?;
        if matches!(completion, Completion::Done) {
            self.core.host_touches(stream, dst, src.len() as u64, true)?;
            let name = || format!("stream {}", stream.0);
            self.core.trace_event("copy to the device", name, src.len() as u64);
            // SAFETY: the range lies in a live allocation, and nothing runs.
            unsafe { (dst as *mut u8).copy_from(src.as_ptr(), src.len()) };
            self.core.pass_host_copy(src.len() as u64);
        }
        Ok(completion)
    }

    /// Copies device bytes to the host after everything already in `stream`; waits for it.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if the range is not allocated.
    pub fn copy_from_device(
        &mut self,
        dst: &mut [u8],
        src: u64,
        stream: StreamId,
    ) -> Result<Completion, Error> {
        self.check_range(src, dst.len() as u64)?;
        let completion = self.await_turn(stream)?;
        if matches!(completion, Completion::Done) {
            self.core.host_touches(stream, src, dst.len() as u64, false)?;
            let name = || format!("stream {}", stream.0);
            self.core.trace_event("copy to the host", name, dst.len() as u64);
            // SAFETY: the range lies in a live allocation, and nothing runs.
            unsafe { dst.as_mut_ptr().copy_from(src as *const u8, dst.len()) };
            self.core.pass_host_copy(dst.len() as u64);
        }
        Ok(completion)
    }

    /// Queues a copy of `rows` rows of `width_bytes` within device memory (`rows` 1 for a plain
    /// copy). Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if a row is not allocated.
    #[allow(clippy::too_many_arguments)]
    pub fn copy_in_device(
        &mut self,
        dst: u64,
        dst_pitch_bytes: u64,
        src: u64,
        src_pitch_bytes: u64,
        width_bytes: u64,
        rows: u64,
        stream: StreamId,
    ) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.check_rows(dst, dst_pitch_bytes, width_bytes, rows)?;
        self.check_rows(src, src_pitch_bytes, width_bytes, rows)?;
        let action = Action::Copy {
            dst,
            dst_pitch: dst_pitch_bytes,
            src,
            src_pitch: src_pitch_bytes,
            width: width_bytes,
            rows,
        };
        self.core.enqueue_host(stream, action).map(|_| ())
    }

    /// Queues setting `rows` rows of `width_bytes` to the repeated `pattern` (1, 2 or 4 bytes).
    /// Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if a row is not allocated.
    pub fn set_memory(
        &mut self,
        dst: u64,
        pitch_bytes: u64,
        pattern: &[u8],
        width_bytes: u64,
        rows: u64,
        stream: StreamId,
    ) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.check_rows(dst, pitch_bytes, width_bytes, rows)?;
        if !matches!(pattern.len(), 1 | 2 | 4) {
            let message = format!("a pattern of {} bytes; it has 1, 2 or 4", pattern.len());
            return Err(Error::InvalidValue { message });
        }
        let mut bytes = [0; 4];
        bytes[..pattern.len()].copy_from_slice(pattern);
        let action = Action::Set {
            dst,
            pitch: pitch_bytes,
            pattern: bytes,
            pattern_bytes: pattern.len() as u8,
            width: width_bytes,
            rows,
        };
        self.core.enqueue_host(stream, action).map(|_| ())
    }

    /// A texture or surface object; the handle is what device code gets.
    ///
    /// # Errors
    /// [`Error::InvalidAddress`] if its memory is not allocated, [`Error::InvalidValue`] for
    /// descriptors that make no sense.
    pub fn create_texture(&mut self, descriptor: TextureDescriptor) -> Result<u64, Error> {
        let sane = matches!(descriptor.channels, 1 | 2 | 4)
            && matches!(descriptor.channel_bits, 8 | 16 | 32)
            && descriptor.size[0] > 0
            && descriptor.size.iter().all(|&n| n <= 1 << 27)
            && (descriptor.size[2] == 0 || (descriptor.size[1] > 0 && descriptor.layers == 0))
            && descriptor.layers <= 1 << 20
            && descriptor.pitch_bytes < 1 << 32;
        if !sane {
            return Err(Error::InvalidValue {
                message: "a texture descriptor that is not valid".to_string(),
            });
        }
        for (address, bytes) in descriptor.pieces() {
            self.check_range(address, bytes)?;
        }
        self.core.machine_mut().textures.push(Some(descriptor));
        Ok(self.core.machine.textures.len() as u64)
    }

    /// Forgets a texture or surface object.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_texture(&mut self, handle: u64) -> Result<(), Error> {
        let entry = handle
            .checked_sub(1)
            .and_then(|n| self.core.machine_mut().textures.get_mut(n as usize));
        let taken = entry.and_then(Option::take);
        taken.map(|_| ()).ok_or(Error::InvalidHandle { what: "texture object" })
    }
}
