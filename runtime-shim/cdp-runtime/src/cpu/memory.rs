//! Memory of the CPU device.

use super::{CpuDevice, locked};
use crate::device::{
    Copy2D, CopyKind, Location, Memory, MemoryType, PointerInfo, StreamHandle, Streams,
};
use crate::error::{CudaError, DeviceError, Result};

impl CpuDevice {
    /// # Safety
    /// As for [`Memory::copy_2d`].
    unsafe fn copy_rows(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // CUDA does not wait for a copy within the device: what is waited for here the host does not know of.
        let inside = |address| {
            let info = self.state_now().pointer_info(address);
            info.memory == MemoryType::Device
        };
        let unseen = stream.is_none() && inside(copy.src) && inside(copy.dst);
        if unseen {
            self.replays(true);
        }
        // SAFETY: the caller's promise.
        let copied = unsafe { self.state().copy(copy, kind, stream) };
        if unseen {
            self.replays(false);
        }
        copied
    }
}

impl Memory for CpuDevice {
    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.state().allocate(bytes)
    }

    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)> {
        const PITCH_ALIGN_BYTES: u64 = 512;
        if width_bytes == 0 || height == 0 {
            return Ok((0, 0));
        }
        let out_of_memory = DeviceError::from(CudaError::MEMORY_ALLOCATION);
        let pitch = width_bytes.checked_next_multiple_of(PITCH_ALIGN_BYTES);
        let total = pitch.and_then(|pitch| pitch.checked_mul(height));
        let (Some(pitch), Some(total)) = (pitch, total) else { return Err(out_of_memory) };
        Ok((self.state().allocate(total)?, pitch))
    }

    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64> {
        // cudaMemAttachGlobal or cudaMemAttachHost.
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().allocate_shared(bytes, MemoryType::Managed)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64> {
        // cudaHostAllocPortable, Mapped, WriteCombined.
        if flags > 7 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if bytes == 0 {
            return Ok(0);
        }
        let address = self.state().allocate_shared(bytes, MemoryType::Host)?;
        locked(&self.host_memory).flags.insert(address, flags);
        Ok(address)
    }

    fn host_flags(&self, address: u64) -> Result<u32> {
        let info = self.state_now().emulator.pointer_info(address);
        let known = info.and_then(|info| locked(&self.host_memory).flags.get(&info.base).copied());
        known.ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    fn free(&self, address: u64) -> Result<()> {
        self.state().free(address, false)
    }

    fn allocated_in_stream(&self, address: u64, stream: StreamHandle) -> Result<()> {
        self.state().allocated_in_stream(address, stream)
    }

    fn unused_in_stream(&self, address: u64, stream: StreamHandle) -> Result<()> {
        self.state().unused_in_stream(address, stream)
    }

    fn free_in_stream(&self, address: u64, stream: StreamHandle) -> Result<()> {
        // The memory is free when the stream gets there: what is waited for here the host does not know of.
        self.replays(true);
        let freed = self.state().free_in_stream(address, stream);
        self.replays(false);
        freed
    }

    fn free_host(&self, address: u64) -> Result<()> {
        self.state().free(address, true)?;
        locked(&self.host_memory).flags.remove(&address);
        Ok(())
    }

    fn pointer_info(&self, address: u64) -> Result<PointerInfo> {
        Ok(self.state_now().pointer_info(address))
    }

    fn register_host(&self, address: u64, bytes: u64, _flags: u32) -> Result<()> {
        // SAFETY: the memory is there until it is unregistered, as CUDA demands of the caller.
        unsafe { self.state().register(address, bytes)? };
        locked(&self.host_memory).registered.insert(address);
        super::host_code::register(address, bytes);
        Ok(())
    }

    fn unregister_host(&self, address: u64) -> Result<()> {
        if !locked(&self.host_memory).registered.remove(&address) {
            return Err(CudaError::HOST_MEMORY_NOT_REGISTERED.into());
        }
        let done = self.state().unregister(address);
        super::host_code::unregister(address);
        done
    }

    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()> {
        let mut hints = locked(&self.hints);
        hints.advise(&self.state_now(), (address, bytes), advice, location)
    }

    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()> {
        let mut hints = locked(&self.hints);
        let mut state = self.state_now();
        state.stream(stream)?;
        hints.prefetch(&state, (address, bytes), location)
    }

    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()> {
        let mut hints = locked(&self.hints);
        hints.attribute(&self.state_now(), (address, bytes), attribute, data)
    }

    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let copy = Copy2D {
            dst,
            dst_pitch_bytes: bytes as usize,
            src,
            src_pitch_bytes: bytes as usize,
            width_bytes: bytes as usize,
            height: 1,
        };
        // SAFETY: one row of what the caller promises.
        unsafe { self.copy_rows(&copy, kind, stream) }
    }

    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        if copy.width_bytes > copy.dst_pitch_bytes || copy.width_bytes > copy.src_pitch_bytes {
            return Err(CudaError::INVALID_PITCH_VALUE.into());
        }
        // SAFETY: the caller's promise.
        unsafe { self.copy_rows(copy, kind, stream) }
    }

    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        self.state().fill(dst, bytes, value, bytes, 1, stream)
    }

    unsafe fn fill_2d(
        &self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        if width_bytes > pitch_bytes {
            return Err(CudaError::INVALID_VALUE.into());
        }
        self.state().fill(dst, pitch_bytes, value, width_bytes, height, stream)
    }
}
