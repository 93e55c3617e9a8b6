//! Memory of the GPU device: allocation, copies, fills, pointer queries.

use std::ffi::c_void;

use cudarc::driver::sys;

use super::GpuDevice;
use super::driver::{Handle, check};
use crate::device::{
    Copy2D, CopyKind, Location, Memory, MemoryType, PointerInfo, StreamHandle, Streams,
};
use crate::error::{CudaError, Result};

/// Element size that gives rows the alignment every access needs (driver manual,
/// `cuMemAllocPitch`: 4, 8 or 16).
const PITCH_ELEMENT_BYTES: u32 = 16;

/// `CUpointer_attribute`, driver manual.
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const IS_MANAGED: u32 = 8;

impl Memory for GpuDevice {
    fn allocate(&self, bytes: u64) -> Result<u64> {
        let driver = self.bind()?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: target valid.
            check(unsafe { (driver.cuMemAlloc_v2)(&mut address, bytes as usize) })?;
        }
        Ok(address)
    }

    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)> {
        let driver = self.bind()?;
        if width_bytes == 0 || height == 0 {
            return Ok((0, 0));
        }
        let (mut address, mut pitch) = (0, 0usize);
        // SAFETY: targets valid.
        check(unsafe {
            (driver.cuMemAllocPitch_v2)(
                &mut address,
                &mut pitch,
                width_bytes as usize,
                height as usize,
                PITCH_ELEMENT_BYTES,
            )
        })?;
        Ok((address, pitch as u64))
    }

    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64> {
        let driver = self.bind()?;
        let mut address = 0;
        // SAFETY: target valid; the driver checks size and flags.
        check(unsafe { (driver.cuMemAllocManaged)(&mut address, bytes as usize, flags) })?;
        Ok(address)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64> {
        let driver = self.bind()?;
        let mut address: *mut c_void = std::ptr::null_mut();
        if bytes > 0 {
            // SAFETY: target valid; the driver checks the flags.
            check(unsafe { (driver.cuMemHostAlloc)(&mut address, bytes as usize, flags) })?;
        }
        Ok(address as u64)
    }

    fn host_flags(&self, address: u64) -> Result<u32> {
        let driver = self.bind()?;
        let mut flags = 0;
        // SAFETY: the target is valid; the driver looks the address up in its own tables.
        check(unsafe { (driver.cuMemHostGetFlags)(&mut flags, address as *mut c_void) })?;
        Ok(flags)
    }

    fn free(&self, address: u64) -> Result<()> {
        let driver = self.bind()?;
        if address == 0 {
            return Ok(());
        }
        // SAFETY: the driver looks the address up in its own tables.
        check(unsafe { (driver.cuMemFree_v2)(address) })
    }

    fn free_in_stream(&self, address: u64, stream: StreamHandle) -> Result<()> {
        self.synchronize_stream(stream)?;
        self.free(address)
    }

    fn free_host(&self, address: u64) -> Result<()> {
        let driver = self.bind()?;
        if address == 0 {
            return Ok(());
        }
        // SAFETY: the driver looks the address up in its own tables.
        check(unsafe { (driver.cuMemFreeHost)(address as *mut c_void) })
    }

    fn pointer_info(&self, address: u64) -> Result<PointerInfo> {
        let driver = self.bind()?;
        // Every attribute asked for here is at most 8 bytes (an address).
        let get = |attribute| -> Option<u64> {
            let mut value = 0u64;
            // SAFETY: the attribute's size is at most that of the target; the address is only looked up.
            let status = unsafe {
                (driver.cuPointerGetAttribute)((&raw mut value).cast(), attribute, address)
            };
            (status == 0).then_some(value)
        };
        let memory = match (get(MEMORY_TYPE), get(IS_MANAGED)) {
            (Some(_), Some(managed)) if managed != 0 => MemoryType::Managed,
            (Some(1), _) => MemoryType::Host,
            (Some(_), _) => MemoryType::Device,
            (None, _) => {
                let unregistered = MemoryType::Unregistered;
                return Ok(PointerInfo {
                    memory: unregistered,
                    device_address: 0,
                    host_address: address,
                });
            }
        };
        Ok(PointerInfo {
            memory,
            device_address: get(DEVICE_POINTER).unwrap_or(0),
            host_address: get(HOST_POINTER).unwrap_or(0),
        })
    }

    fn register_host(&self, address: u64, bytes: u64, flags: u32) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver checks that the memory is there.
        check(unsafe {
            (driver.cuMemHostRegister_v2)(address as *mut c_void, bytes as usize, flags)
        })
    }

    fn unregister_host(&self, address: u64) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: the driver knows what is registered.
        check(unsafe { (driver.cuMemHostUnregister)(address as *mut c_void) })
    }

    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: numbers only, which the driver checks.
        check(unsafe { (driver.cuMemAdvise_v2)(address, bytes as usize, advice, location) })
    }

    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()> {
        let stream = self.stream(stream)?;
        let driver = self.bind()?;
        // SAFETY: the stream is alive; the driver checks the numbers.
        check(unsafe {
            (driver.cuMemPrefetchAsync_v2)(address, bytes as usize, location, 0, stream)
        })
    }

    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()> {
        let driver = self.bind()?;
        // SAFETY: as many bytes as are told.
        check(unsafe {
            (driver.cuMemRangeGetAttribute)(
                data.as_mut_ptr().cast(),
                data.len(),
                attribute,
                address,
                bytes as usize,
            )
        })
    }

    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let stream = stream.map(|stream| self.stream(stream)).transpose()?;
        let driver = self.bind()?;
        let count = bytes as usize;
        let (to_host, from_host) = (dst as *mut c_void, src as *const c_void);
        // SAFETY: host sides are valid by the caller's promise; the driver checks device sides.
        check(unsafe {
            match (kind, stream) {
                (CopyKind::HostToDevice, None) => (driver.cuMemcpyHtoD_v2)(dst, from_host, count),
                (CopyKind::HostToDevice, Some(s)) => {
                    (driver.cuMemcpyHtoDAsync_v2)(dst, from_host, count, s)
                }
                (CopyKind::DeviceToHost, None) => (driver.cuMemcpyDtoH_v2)(to_host, src, count),
                (CopyKind::DeviceToHost, Some(s)) => {
                    (driver.cuMemcpyDtoHAsync_v2)(to_host, src, count, s)
                }
                (CopyKind::DeviceToDevice, None) => (driver.cuMemcpyDtoD_v2)(dst, src, count),
                (CopyKind::DeviceToDevice, Some(s)) => {
                    (driver.cuMemcpyDtoDAsync_v2)(dst, src, count, s)
                }
                (CopyKind::HostToHost | CopyKind::Default, None) => {
                    (driver.cuMemcpy)(dst, src, count)
                }
                (CopyKind::HostToHost | CopyKind::Default, Some(s)) => {
                    (driver.cuMemcpyAsync)(dst, src, count, s)
                }
            }
        })?;
        if stream.is_none() && kind != CopyKind::HostToDevice && kind != CopyKind::DeviceToDevice {
            self.waited();
        }
        Ok(())
    }

    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        use sys::CUmemorytype::{
            CU_MEMORYTYPE_DEVICE as DEVICE, CU_MEMORYTYPE_HOST as HOST,
            CU_MEMORYTYPE_UNIFIED as UNIFIED,
        };
        if copy.width_bytes > copy.dst_pitch_bytes || copy.width_bytes > copy.src_pitch_bytes {
            return Err(CudaError::INVALID_PITCH_VALUE.into());
        }
        let stream = stream.map(|stream| self.stream(stream)).transpose()?;
        let driver = self.bind()?;
        if copy.width_bytes == 0 || copy.height == 0 {
            return Ok(());
        }
        let (src_type, dst_type) = match kind {
            CopyKind::HostToHost => (HOST, HOST),
            CopyKind::HostToDevice => (HOST, DEVICE),
            CopyKind::DeviceToHost => (DEVICE, HOST),
            CopyKind::DeviceToDevice => (DEVICE, DEVICE),
            CopyKind::Default => (UNIFIED, UNIFIED),
        };
        let description = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: src_type,
            srcHost: copy.src as *const c_void,
            srcDevice: copy.src,
            srcArray: std::ptr::null_mut(),
            srcPitch: copy.src_pitch_bytes,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: dst_type,
            dstHost: copy.dst as *mut c_void,
            dstDevice: copy.dst,
            dstArray: std::ptr::null_mut(),
            dstPitch: copy.dst_pitch_bytes,
            WidthInBytes: copy.width_bytes,
            Height: copy.height,
        };
        // SAFETY: host sides are valid by the caller's promise; the driver checks device sides.
        check(unsafe {
            match stream {
                None => (driver.cuMemcpy2DUnaligned_v2)(&description),
                Some(stream) => (driver.cuMemcpy2DAsync_v2)(&description, stream),
            }
        })?;
        if stream.is_none() && kind == CopyKind::DeviceToHost {
            self.waited();
        }
        Ok(())
    }

    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let stream: Option<Handle> = stream.map(|stream| self.stream(stream)).transpose()?;
        let driver = self.bind()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the driver checks device addresses; others are the caller's promise.
        check(unsafe {
            match stream {
                None => (driver.cuMemsetD8_v2)(dst, value, bytes as usize),
                Some(stream) => (driver.cuMemsetD8Async)(dst, value, bytes as usize, stream),
            }
        })
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
        let stream: Option<Handle> = stream.map(|stream| self.stream(stream)).transpose()?;
        let driver = self.bind()?;
        if width_bytes == 0 || height == 0 {
            return Ok(());
        }
        let (pitch, width, rows) = (pitch_bytes as usize, width_bytes as usize, height as usize);
        // SAFETY: the driver checks device addresses; others are the caller's promise.
        check(unsafe {
            match stream {
                None => (driver.cuMemsetD2D8_v2)(dst, pitch, value, width, rows),
                Some(stream) => (driver.cuMemsetD2D8Async)(dst, pitch, value, width, rows, stream),
            }
        })
    }
}
