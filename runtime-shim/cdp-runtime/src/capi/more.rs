//! What is asked about kernels and streams beyond the everyday, and copies in batches.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::memory::copy;
use super::{call, given, put};
use crate::device::{DeviceKind, StreamHandle};
use crate::error::{CudaError, Result};
use crate::{process, registry};

/// `cudaGetFuncBySymbol`: what `cuLaunchKernel` takes. On the CPU device a function is known by its host function, like
/// a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetFuncBySymbol(
    function: *mut *mut c_void,
    symbol: *const c_void,
) -> u32 {
    call(|| {
        given(function)?;
        let state = process::current()?;
        let kernel = state.kernel(symbol as usize)?.kernel;
        let found = match state.device.kind() {
            DeviceKind::Gpu => state.device.driver_kernel(kernel)?,
            DeviceKind::Cpu => symbol as u64,
        };
        unsafe { put(function, found as *mut c_void) }
    })
}

/// `cudaFuncGetName`: the symbol.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncGetName(name: *mut *const c_char, function: *const c_void) -> u32 {
    static NAMES: Mutex<Option<HashMap<usize, CString>>> = Mutex::new(None);
    call(|| {
        given(name)?;
        let known = registry::with(|all| all.kernels.get(&(function as usize)).copied());
        let symbol = known.ok_or(CudaError::INVALID_DEVICE_FUNCTION)?.symbol;
        let mut names = locked(&NAMES);
        let kept = names.get_or_insert_with(HashMap::new).entry(function as usize);
        let kept = kept.or_insert_with(|| CString::new(symbol).unwrap_or_default());
        // The bytes of a kept name do not move.
        unsafe { put(name, kept.as_ptr()) }
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `cudaFuncGetParamInfo`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncGetParamInfo(
    function: *const c_void,
    index: usize,
    offset: *mut usize,
    bytes: *mut usize,
) -> u32 {
    call(|| {
        given(offset)?;
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        let params = state.device.kernel_params(entry.kernel)?;
        let param = params.get(index).ok_or(CudaError::INVALID_VALUE)?;
        unsafe { put(offset, param.0 as usize)? };
        match bytes.is_null() {
            true => Ok(()),
            false => unsafe { put(bytes, param.1 as usize) },
        }
    })
}

/// `cudaKernelSetAttributeForDevice`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaKernelSetAttributeForDevice(
    kernel: *mut c_void,
    attribute: u32,
    value: i32,
    ordinal: i32,
) -> u32 {
    call(|| {
        let state = process::runtime()?.device(ordinal)?;
        let entry = state.kernel(kernel as usize)?;
        state.device.set_kernel_attribute(entry.kernel, attribute, value)
    })
}

/// `cudaFuncSetSharedMemConfig`: a preference that no device of today has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncSetSharedMemConfig(function: *const c_void, config: u32) -> u32 {
    call(|| {
        process::current()?.kernel(function as usize)?;
        bank_size(config)
    })
}

/// `cudaDeviceSetSharedMemConfig`: as [`cudaFuncSetSharedMemConfig`].
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetSharedMemConfig(config: u32) -> u32 {
    call(|| {
        process::current()?;
        bank_size(config)
    })
}

fn bank_size(config: u32) -> Result<()> {
    if config > 2 { Err(CudaError::INVALID_VALUE.into()) } else { Ok(()) }
}

/// `cudaCtxResetPersistingL2Cache`: nothing persists.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCtxResetPersistingL2Cache() -> u32 {
    call(|| process::current().map(|_| ()))
}

/// `cudaOccupancyAvailableDynamicSMemPerBlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyAvailableDynamicSMemPerBlock(
    bytes: *mut usize,
    function: *const c_void,
    blocks: i32,
    block_threads: i32,
) -> u32 {
    const PER_MULTIPROCESSOR: u32 = 81;
    const PER_BLOCK: u32 = 97;
    const RESERVED: u32 = 111;
    call(|| {
        given(bytes)?;
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        let device = &state.device;
        if blocks <= 0 || block_threads <= 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if device.max_active_blocks(entry.kernel, block_threads, 0, 0)? < blocks {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let reserved = device.attribute(RESERVED)?;
        let fixed = device.kernel_attributes(entry.kernel)?.shared_bytes as i32;
        // Shared memory is given out in parts of 1 KiB or, on newer devices, 128 bytes.
        let share = device.attribute(PER_MULTIPROCESSOR)? / blocks / 128 * 128;
        let most = (share - reserved).min(device.attribute(PER_BLOCK)?) - fixed;
        unsafe { put(bytes, most.max(0) as usize) }
    })
}

/// Attributes that were set of streams, by stream and `cudaLaunchAttributeID`.
static STREAM_ATTRIBUTES: Mutex<Option<HashMap<(u64, u32), [u64; 8]>>> = Mutex::new(None);

const SYNCHRONIZATION_POLICY: u32 = 3;
const PRIORITY: u32 = 8;

/// `cudaStreamSetAttribute`: hints, which are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamSetAttribute(
    stream: *mut c_void,
    attribute: u32,
    value: *const [u64; 8],
) -> u32 {
    call(|| {
        given(value.cast_mut())?;
        process::current()?.device.stream_flags(StreamHandle(stream as u64))?;
        if !matches!(attribute, 1 | SYNCHRONIZATION_POLICY | PRIORITY..=10) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let mut all = locked(&STREAM_ATTRIBUTES);
        // SAFETY: a `cudaLaunchAttributeValue`, as CUDA demands of the caller.
        all.get_or_insert_with(HashMap::new).insert((stream as u64, attribute), unsafe { *value });
        Ok(())
    })
}

/// `cudaStreamGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetAttribute(
    stream: *mut c_void,
    attribute: u32,
    value: *mut [u64; 8],
) -> u32 {
    call(|| {
        let state = process::current()?;
        let handle = StreamHandle(stream as u64);
        let priority = state.device.stream_priority(handle)?;
        let kept = locked(&STREAM_ATTRIBUTES);
        let kept = kept.as_ref().and_then(|all| all.get(&(handle.0, attribute)));
        let found = match (kept, attribute) {
            (Some(kept), _) => *kept,
            (None, PRIORITY) => [u64::from(priority as u32), 0, 0, 0, 0, 0, 0, 0],
            (None, SYNCHRONIZATION_POLICY) => [1, 0, 0, 0, 0, 0, 0, 0],
            (None, 1 | 9 | 10) => [0; 8],
            _ => return Err(CudaError::INVALID_VALUE.into()),
        };
        unsafe { put(value, found) }
    })
}

/// `cudaStreamCopyAttributes`
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCopyAttributes(dst: *mut c_void, src: *mut c_void) -> u32 {
    call(|| {
        let state = process::current()?;
        state.device.stream_flags(StreamHandle(dst as u64))?;
        state.device.stream_flags(StreamHandle(src as u64))?;
        let mut all = locked(&STREAM_ATTRIBUTES);
        let all = all.get_or_insert_with(HashMap::new);
        let of_src = all.iter().filter(|((stream, _), _)| *stream == src as u64);
        let copied: Vec<_> = of_src.map(|((_, id), value)| ((dst as u64, *id), *value)).collect();
        all.extend(copied);
        Ok(())
    })
}

/// `cudaStreamGetId`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetId(stream: *mut c_void, id: *mut u64) -> u32 {
    call(|| {
        let handle = StreamHandle(stream as u64);
        process::current()?.device.stream_flags(handle)?;
        unsafe { put(id, handle.0.max(StreamHandle::LEGACY.0)) }
    })
}

/// `cudaStreamGetDevice`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetDevice(stream: *mut c_void, ordinal: *mut i32) -> u32 {
    call(|| {
        process::current()?.device.stream_flags(StreamHandle(stream as u64))?;
        unsafe { put(ordinal, process::current_ordinal()) }
    })
}

/// `cudaMemcpyBatchAsync`: one copy after the other. Where each side lies is found from its address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyBatchAsync(
    dsts: *const *mut c_void,
    srcs: *const *const c_void,
    sizes: *const usize,
    count: usize,
    attributes: *const c_void,
    attribute_indices: *const usize,
    attribute_count: usize,
    stream: *mut c_void,
) -> u32 {
    const DEFAULT: u32 = 4;
    call(|| {
        given(dsts.cast_mut())?;
        given(srcs.cast_mut())?;
        given(sizes.cast_mut())?;
        given(attributes.cast_mut())?;
        given(attribute_indices.cast_mut())?;
        let named = stream as u64 > StreamHandle::LEGACY.0;
        if count == 0 || attribute_count == 0 || attribute_count > count || !named {
            return Err(CudaError::INVALID_VALUE.into());
        }
        for index in 0..count {
            // SAFETY: arrays of `count` elements, as CUDA demands of the caller.
            unsafe {
                let (dst, src) = (*dsts.add(index), *srcs.add(index));
                let stream = Some(StreamHandle(stream as u64));
                copy(dst, src, *sizes.add(index), DEFAULT, stream)?;
            }
        }
        Ok(())
    })
}
