//! Host memory that is registered, and functions of the host that run in the order of a stream.

use std::ffi::c_void;

use super::{call, driver, given, offer, put};
use crate::device::{DeviceKind, StreamHandle};
use crate::driver_state;
use crate::error::{CudaError, Result};
use crate::graph::{Op, capture};
use crate::process;

/// `cudaHostRegister`
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostRegister(address: *mut c_void, bytes: usize, flags: u32) -> u32 {
    // Portable, mapped, I/O memory, read only.
    const KNOWN: u32 = 15;
    call(|| {
        given(address)?;
        if bytes == 0 || flags & !KNOWN != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        process::current()?.device.register_host(address as u64, bytes as u64, flags)
    })
}

/// `cudaHostUnregister`
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostUnregister(address: *mut c_void) -> u32 {
    call(|| {
        given(address)?;
        process::current()?.device.unregister_host(address as u64)
    })
}

/// A pointer that travels to the thread that calls back.
struct Data(*mut c_void);

// SAFETY: what lies behind it is the program's affair, as in CUDA.
unsafe impl Send for Data {}

impl Data {
    fn take(self) -> *mut c_void {
        self.0
    }
}

/// `cudaHostFn_t`
pub type HostFunction = unsafe extern "C" fn(*mut c_void);
/// `cudaStreamCallback_t`
pub type StreamCallback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

/// `cudaLaunchHostFunc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchHostFunc(
    stream: *mut c_void,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> u32 {
    call(|| {
        let function = function.ok_or(CudaError::INVALID_VALUE)?;
        let stream = StreamHandle(stream as u64);
        if capture::recorded(Some(stream), || Ok(Op::Host(Some(function), data)))? {
            return Ok(());
        }
        unsafe { call_in_order(Some(function), data, stream) }
    })
}

/// Calls a function of the host when the work now in a stream is done.
///
/// # Safety
/// The function may be called with the data then.
pub(crate) unsafe fn call_in_order(
    function: Option<HostFunction>,
    data: *mut c_void,
    stream: StreamHandle,
) -> Result<()> {
    let Some(function) = function else { return Err(CudaError::INVALID_VALUE.into()) };
    let data = Data(data);
    let work = Box::new(move |status: CudaError| {
        // After a fault, host functions are not called.
        if status == CudaError::SUCCESS {
            // SAFETY: the program's own function, with what it asked for.
            unsafe { function(data.take()) };
        }
    });
    process::current()?.device.call_host(stream, work)
}

/// `cudaStreamAddCallback`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamAddCallback(
    stream: *mut c_void,
    callback: Option<StreamCallback>,
    data: *mut c_void,
    flags: u32,
) -> u32 {
    call(|| {
        let callback = callback.filter(|_| flags == 0).ok_or(CudaError::INVALID_VALUE)?;
        capture::refuse(StreamHandle(stream as u64))?;
        let (handle, data) = (Data(stream), Data(data));
        let work = Box::new(move |status: CudaError| {
            // SAFETY: the program's own function, with what it asked for.
            unsafe { callback(handle.take(), status.0, data.take()) };
        });
        process::current()?.device.call_host(StreamHandle(stream as u64), work)
    })
}

/// `cudaStreamAttachMemAsync`: every device here lets the host use managed memory while kernels run, so
/// that nothing depends on the stream it is attached to.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamAttachMemAsync(
    stream: *mut c_void,
    address: *mut c_void,
    _bytes: usize,
    flags: u32,
) -> u32 {
    call(|| {
        given(address)?;
        let device = process::current()?;
        device.device.stream_flags(StreamHandle(stream as u64))?;
        let managed = device.device.pointer_info(address as u64)?.memory;
        match (managed, flags) {
            (crate::device::MemoryType::Managed, 1 | 2 | 4) => Ok(()),
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    })
}

/// `cudaGetDriverEntryPoint`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPoint(
    symbol: *const std::ffi::c_char,
    function: *mut *mut c_void,
    flags: u64,
    status: *mut u32,
) -> u32 {
    let version = crate::RUNTIME_VERSION as u32;
    unsafe { cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status) }
}

/// `cudaGetDriverEntryPointByVersion`: on the CPU device the functions of [`super::driver`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPointByVersion(
    symbol: *const std::ffi::c_char,
    function: *mut *mut c_void,
    version: u32,
    flags: u64,
    status: *mut u32,
) -> u32 {
    const FOUND: u32 = 0;
    const NOT_FOUND: u32 = 1;
    call(|| {
        given(function)?;
        given(symbol.cast_mut())?;
        // SAFETY: a string, as CUDA demands of the caller.
        let symbol = unsafe { std::ffi::CStr::from_ptr(symbol) };
        let device = process::current()?;
        let address = match device.device.kind() {
            DeviceKind::Gpu => {
                // The program has calls of the driver from now on.
                driver_state::mixed();
                device.device.driver_function(symbol, version as i32, flags).unwrap_or(0)
            }
            DeviceKind::Cpu => {
                let per_thread = flags & driver::PER_THREAD_FLAG != 0;
                let found = driver::by_name(&symbol.to_string_lossy(), version, per_thread);
                found.map_or(0, |found| found as u64)
            }
        };
        unsafe { put(function, address as *mut c_void)? };
        unsafe { offer(status, if address == 0 { NOT_FOUND } else { FOUND }) };
        match (address, status.is_null()) {
            (0, true) => Err(CudaError::SYMBOL_NOT_FOUND.into()),
            _ => Ok(()),
        }
    })
}

/// `cudaProfilerStart`
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStart() -> u32 {
    call(|| process::current().map(|_| ()))
}

/// `cudaProfilerStop`
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStop() -> u32 {
    call(|| process::current().map(|_| ()))
}
