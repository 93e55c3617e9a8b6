//! Several devices: peers, copies between devices, and devices by their place on the bus.

use std::ffi::{CStr, c_char, c_void};

use super::copies::{Memcpy3DParms, PitchedPtr, Pos};
use super::memory::copy_3d;
use super::{Extent, call, given, put};
use crate::device::{CopyKind, Device, StreamHandle};
use crate::error::{CudaError, Result};
use crate::process;
use crate::properties::DeviceProp;

fn check_ordinals(ordinals: &[i32]) -> Result<()> {
    let count = process::runtime()?.count();
    let known = ordinals.iter().all(|ordinal| (0..count).contains(ordinal));
    if known { Ok(()) } else { Err(CudaError::INVALID_DEVICE.into()) }
}

/// `cudaDeviceCanAccessPeer`: no device of this library reads another's memory from its kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) -> u32 {
    call(|| {
        check_ordinals(&[device, peer])?;
        unsafe { put(can, 0) }
    })
}

/// `cudaDeviceEnablePeerAccess`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) -> u32 {
    call(|| {
        check_ordinals(&[peer])?;
        // A device is no peer of itself either (seen on an H200).
        match flags {
            0 => Err(CudaError::PEER_ACCESS_UNSUPPORTED.into()),
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    })
}

/// `cudaDeviceDisablePeerAccess`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceDisablePeerAccess(peer: i32) -> u32 {
    call(|| {
        check_ordinals(&[peer])?;
        Err(CudaError::PEER_ACCESS_NOT_ENABLED.into())
    })
}

/// `cudaDeviceGetP2PAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetP2PAttribute(
    value: *mut i32,
    attribute: u32,
    src: i32,
    dst: i32,
) -> u32 {
    call(|| {
        given(value)?;
        check_ordinals(&[src, dst])?;
        if src == dst {
            return Err(CudaError::INVALID_DEVICE.into());
        }
        // Performance rank, access supported, native atomics, array access.
        match attribute {
            1..=5 => unsafe { put(value, 0) },
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    })
}

unsafe fn copy_peer(
    dst: *mut c_void,
    dst_device: i32,
    src: *const c_void,
    src_device: i32,
    bytes: usize,
    stream: Option<StreamHandle>,
) -> Result<()> {
    check_ordinals(&[dst_device, src_device])?;
    if bytes == 0 {
        return Ok(());
    }
    // Addresses tell the device: they are unified.
    let kind = if dst_device == src_device { CopyKind::DeviceToDevice } else { CopyKind::Default };
    // SAFETY: the addresses are the devices'; they check them.
    unsafe { process::current()?.device.copy(dst as u64, src as u64, bytes as u64, kind, stream) }
}

/// `cudaMemcpyPeer`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyPeer(
    dst: *mut c_void,
    dst_device: i32,
    src: *const c_void,
    src_device: i32,
    bytes: usize,
) -> u32 {
    call(|| unsafe { copy_peer(dst, dst_device, src, src_device, bytes, None) })
}

/// `cudaMemcpyPeerAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyPeerAsync(
    dst: *mut c_void,
    dst_device: i32,
    src: *const c_void,
    src_device: i32,
    bytes: usize,
    stream: *mut c_void,
) -> u32 {
    let stream = Some(StreamHandle(stream as u64));
    call(|| unsafe { copy_peer(dst, dst_device, src, src_device, bytes, stream) })
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
#[allow(missing_docs)]
pub struct Memcpy3DPeerParms {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub src_device: i32,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub dst_device: i32,
    pub extent: Extent,
}

unsafe fn copy_3d_peer(
    parameters: *const Memcpy3DPeerParms,
    stream: Option<StreamHandle>,
) -> Result<()> {
    let given = unsafe { parameters.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    check_ordinals(&[given.src_device, given.dst_device])?;
    const DEFAULT: u32 = 4;
    let plain = Memcpy3DParms {
        src_array: given.src_array,
        src_pos: given.src_pos,
        src_ptr: given.src_ptr,
        dst_array: given.dst_array,
        dst_pos: given.dst_pos,
        dst_ptr: given.dst_ptr,
        extent: given.extent,
        kind: DEFAULT,
    };
    unsafe { copy_3d(&plain, stream) }
}

/// `cudaMemcpy3DPeer`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy3DPeer(parameters: *const Memcpy3DPeerParms) -> u32 {
    call(|| unsafe { copy_3d_peer(parameters, None) })
}

/// `cudaMemcpy3DPeerAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy3DPeerAsync(
    parameters: *const Memcpy3DPeerParms,
    stream: *mut c_void,
) -> u32 {
    call(|| unsafe { copy_3d_peer(parameters, Some(StreamHandle(stream as u64))) })
}

/// Domain, bus and device number of a device.
fn bus_id(device: &dyn Device) -> Result<String> {
    const DOMAIN: u32 = 50;
    const BUS: u32 = 33;
    const DEVICE: u32 = 34;
    let number = |attribute| device.attribute(attribute).unwrap_or(0);
    Ok(format!("{:04X}:{:02X}:{:02X}.0", number(DOMAIN), number(BUS), number(DEVICE)))
}

/// `cudaDeviceGetPCIBusId`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetPCIBusId(text: *mut c_char, bytes: i32, ordinal: i32) -> u32 {
    call(|| {
        given(text)?;
        let id = bus_id(&*process::runtime()?.device(ordinal)?.device)?;
        let room = usize::try_from(bytes).unwrap_or(0);
        if room <= id.len() {
            return Err(CudaError::INVALID_VALUE.into());
        }
        // SAFETY: the caller's buffer of `bytes` bytes, which are enough.
        unsafe {
            std::ptr::copy_nonoverlapping(id.as_ptr(), text.cast(), id.len());
            text.add(id.len()).write(0);
        }
        Ok(())
    })
}

/// `cudaDeviceGetByPCIBusId`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetByPCIBusId(ordinal: *mut i32, text: *const c_char) -> u32 {
    call(|| {
        given(ordinal)?;
        given(text.cast_mut())?;
        // SAFETY: a string, as CUDA demands of the caller.
        let wanted = unsafe { CStr::from_ptr(text) }.to_string_lossy().to_uppercase();
        let runtime = process::runtime()?;
        for number in 0..runtime.count() {
            let id = bus_id(&*runtime.device(number)?.device)?;
            // Domain and function may be left out.
            let short = id.split_once(':').map_or("", |parts| parts.1);
            let same = [id.as_str(), short].iter().any(|id| {
                wanted == *id || id.strip_suffix(".0").is_some_and(|bare| bare == wanted)
            });
            if same {
                return unsafe { put(ordinal, number) };
            }
        }
        Err(CudaError::INVALID_DEVICE.into())
    })
}

/// `cudaChooseDevice`: the first device, as good as any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaChooseDevice(ordinal: *mut i32, wanted: *const DeviceProp) -> u32 {
    call(|| {
        given(wanted.cast_mut())?;
        process::runtime()?.device(0)?;
        unsafe { put(ordinal, 0) }
    })
}

/// `cudaSetValidDevices`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaSetValidDevices(ordinals: *mut i32, count: i32) -> u32 {
    call(|| {
        let runtime = process::runtime()?;
        if count < 0 || count > runtime.count() {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if count == 0 {
            return Ok(());
        }
        given(ordinals)?;
        // SAFETY: an array of `count` elements, as CUDA demands of the caller.
        let all = unsafe { std::slice::from_raw_parts(ordinals, count as usize) };
        check_ordinals(all)?;
        process::set_current(all[0])
    })
}

/// `cudaInitDevice`
#[unsafe(no_mangle)]
pub extern "C" fn cudaInitDevice(ordinal: i32, _device_flags: u32, flags: u32) -> u32 {
    const FLAGS_ARE_VALID: u32 = 1;
    call(|| {
        if flags & !FLAGS_ARE_VALID != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        process::runtime()?.device(ordinal).map(|_| ())
    })
}

/// `cudaSetDeviceFlags`: how host threads wait and whether host memory can be mapped, which it always can.
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDeviceFlags(flags: u32) -> u32 {
    call(|| {
        // One way of scheduling at most, and the known bits.
        const SCHEDULE: u32 = 7;
        const KNOWN: u32 = 0xff;
        if flags & !KNOWN != 0 || (flags & SCHEDULE).count_ones() > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        process::set_device_flags(flags);
        Ok(())
    })
}

/// `cudaGetDeviceFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceFlags(flags: *mut u32) -> u32 {
    const MAP_HOST: u32 = 8;
    call(|| {
        process::current()?;
        unsafe { put(flags, process::device_flags() | MAP_HOST) }
    })
}
