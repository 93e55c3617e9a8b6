//! Starting, devices, contexts and errors.

use std::ffi::{CString, c_char, c_void};

use super::*;

type Int = *mut i32;
type Word = *mut u32;
type Context = *mut *mut c_void;

/// The one device is number 0.
fn known_device(device: i32) -> Result<()> {
    if device < 0 || device >= process::runtime()?.count() {
        return Err(CudaError::INVALID_DEVICE.into());
    }
    Ok(())
}

/// `CUDA_ERROR_INVALID_CONTEXT` unless there is such a context.
fn known_context(handle: *mut c_void) -> Result<context::Context> {
    const INVALID_CONTEXT: CudaError = CudaError(201);
    context::with(|all| all.get(handle as u64)).ok_or_else(|| INVALID_CONTEXT.into())
}

/// Makes a context and puts it on the thread's stack.
///
/// # Safety
/// `target` is null or valid.
unsafe fn create(target: Context, flags: u32, device: i32) -> u32 {
    call(|| {
        given(target)?;
        known_device(device)?;
        let made = context::with(|all| all.make(flags));
        context::push(made);
        unsafe { put(target, made as *mut c_void) }
    })
}

/// Two bytes of the device's attributes.
fn capability(device: i32) -> Result<(i32, i32)> {
    const MAJOR: u32 = 75;
    const MINOR: u32 = 76;
    let state = process::runtime()?.device(device)?;
    Ok((state.device.attribute(MAJOR)?, state.device.attribute(MINOR)?))
}

/// `CUdevprop`
#[repr(C)]
pub struct DeviceProperties([i32; 14]);

fn properties(device: i32) -> Result<DeviceProperties> {
    // In the struct's order: threads of a block, block, grid, shared and constant memory, warp, pitch, registers,
    // clock rate, texture alignment.
    const ATTRIBUTES: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
    let state = process::runtime()?.device(device)?;
    let mut values = [0; 14];
    for (value, attribute) in values.iter_mut().zip(ATTRIBUTES) {
        *value = state.device.attribute(attribute)?;
    }
    Ok(DeviceProperties(values))
}

driver_functions! {
    Nothing fn cuInit(flags: u32) {
        call(|| {
            if flags != 0 {
                return Err(CudaError::INVALID_VALUE.into());
            }
            process::runtime()?;
            crate::driver_state::initialise();
            Ok(())
        })
    }
    Nothing fn cuDriverGetVersion(version: Int) {
        call(|| put(version, crate::RUNTIME_VERSION))
    }
    Nothing fn cuGetErrorName(code: u32, name: *mut *const c_char) {
        call(|| {
            let found = names::name_of(code);
            put(name, found.map_or(std::ptr::null(), |found| found.as_ptr()))?;
            if found.is_some() { Ok(()) } else { Err(CudaError::INVALID_VALUE.into()) }
        })
    }
    Nothing fn cuGetErrorString(code: u32, text: *mut *const c_char) {
        call(|| {
            let known = names::name_of(code).is_some();
            put(text, if known { CudaError(code).text().as_ptr() } else { std::ptr::null() })?;
            if known { Ok(()) } else { Err(CudaError::INVALID_VALUE.into()) }
        })
    }
    Start fn cuDeviceGet(device: Int, ordinal: i32) {
        call(|| {
            known_device(ordinal)?;
            put(device, ordinal)
        })
    }
    Start fn cuDeviceGetCount(count: Int) {
        call(|| put(count, process::runtime()?.count()))
    }
    Start fn cuDeviceGetName(name: *mut c_char, bytes: i32, device: i32) {
        call(|| {
            given(name)?;
            let text = process::runtime()?.device(device)?.device.name();
            let Some(room) = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_sub(1)) else {
                return Err(CudaError::INVALID_VALUE.into());
            };
            let shown = &text.as_bytes()[..text.len().min(room)];
            // SAFETY: `bytes` bytes are the caller's promise.
            unsafe {
                std::ptr::copy_nonoverlapping(shown.as_ptr(), name.cast(), shown.len());
                name.add(shown.len()).write(0);
            }
            Ok(())
        })
    }
    Start fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32) {
        call(|| put(uuid, process::runtime()?.device(device)?.device.uuid()))
    }
    Start fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32) {
        call(|| put(uuid, process::runtime()?.device(device)?.device.uuid()))
    }
    Start fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) {
        call(|| put(bytes, process::runtime()?.device(device)?.device.memory_bytes()?.1 as usize))
    }
    Start fn cuDeviceGetAttribute(value: Int, attribute: u32, device: i32) {
        cudaDeviceGetAttribute(value, attribute, device)
    }
    Start fn cuDeviceComputeCapability(major: Int, minor: Int, device: i32) {
        call(|| {
            let found = capability(device)?;
            put(major, found.0)?;
            put(minor, found.1)
        })
    }
    Start fn cuDeviceGetProperties(target: *mut DeviceProperties, device: i32) {
        call(|| put(target, properties(device)?))
    }
    Start fn cuDeviceGetPCIBusId(text: *mut c_char, bytes: i32, device: i32) {
        cudaDeviceGetPCIBusId(text, bytes, device)
    }
    Start fn cuDeviceGetByPCIBusId(device: Int, text: *const c_char) {
        cudaDeviceGetByPCIBusId(device, text)
    }
    Start fn cuDeviceCanAccessPeer(answer: Int, device: i32, peer: i32) {
        cudaDeviceCanAccessPeer(answer, device, peer)
    }
    Start fn cuDeviceGetP2PAttribute(value: Int, attribute: u32, from: i32, to: i32) {
        cudaDeviceGetP2PAttribute(value, attribute, from, to)
    }
    Start fn cuDevicePrimaryCtxRetain(target: Context, device: i32) {
        call(|| {
            known_device(device)?;
            put(target, context::primary() as *mut c_void)?;
            context::with(|all| all.held += 1);
            Ok(())
        })
    }
    Start fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        call(|| {
            known_device(device)?;
            context::with(|all| match all.held {
                0 => Err(CudaError(201).into()),
                _ => {
                    all.held -= 1;
                    Ok(())
                }
            })
        })
    }
    Start fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        call(|| {
            known_device(device)?;
            context::with(|all| all.flags = flags);
            Ok(())
        })
    }
    Start fn cuDevicePrimaryCtxGetState(device: i32, flags: Word, active: Int) {
        call(|| {
            known_device(device)?;
            let used = context::current() == context::primary();
            let (kept, held) = context::with(|all| (all.flags, all.held));
            put(flags, kept)?;
            put(active, i32::from(used || held > 0))
        })
    }
    Start fn cuDevicePrimaryCtxReset_v2(device: i32) {
        match call(|| known_device(device)) {
            0 => cudaDeviceReset(),
            failed => failed,
        }
    }
    Start fn cuCtxCreate_v2(target: Context, flags: u32, device: i32) {
        create(target, flags, device)
    }
    Start fn cuCtxCreate_v3(target: Context, _affinity: *mut c_void, _count: i32, flags: u32, device: i32) {
        create(target, flags, device)
    }
    Start fn cuCtxCreate_v4(target: Context, _params: *mut c_void, flags: u32, device: i32) {
        create(target, flags, device)
    }
    Start fn cuCtxDestroy_v2(handle: *mut c_void) {
        call(|| {
            known_context(handle)?;
            if handle as u64 == context::primary() {
                return Err(CudaError(201).into());
            }
            process::current()?.device.synchronize()?;
            context::with(|all| all.made.remove(&(handle as u64)));
            if context::current() == handle as u64 {
                context::pop();
            }
            Ok(())
        })
    }
    Start fn cuCtxPushCurrent_v2(handle: *mut c_void) {
        call(|| {
            known_context(handle)?;
            context::push(handle as u64);
            Ok(())
        })
    }
    Start fn cuCtxPopCurrent_v2(target: Context) {
        call(|| {
            let popped = context::pop().ok_or(CudaError(201))?;
            offer(target, popped as *mut c_void);
            Ok(())
        })
    }
    Start fn cuCtxSetCurrent(handle: *mut c_void) {
        call(|| {
            if !handle.is_null() {
                known_context(handle)?;
            }
            context::set(handle as u64);
            Ok(())
        })
    }
    Start fn cuCtxGetCurrent(target: Context) {
        call(|| put(target, context::current() as *mut c_void))
    }
    Context fn cuCtxGetDevice(device: Int) {
        call(|| put(device, process::current_ordinal()))
    }
    Start fn cuCtxGetDevice_v2(device: Int, handle: *mut c_void) {
        call(|| {
            known_context(handle)?;
            put(device, process::current_ordinal())
        })
    }
    Context fn cuCtxGetFlags(flags: Word) {
        call(|| put(flags, known_context(context::current() as *mut c_void)?.flags))
    }
    Context fn cuCtxGetId(handle: *mut c_void, id: *mut u64) {
        call(|| {
            let asked = if handle.is_null() { context::current() as *mut c_void } else { handle };
            put(id, known_context(asked)?.id)
        })
    }
    Start fn cuCtxGetApiVersion(handle: *mut c_void, version: Word) {
        // Of the context's interface, which no newer driver has changed.
        const INTERFACE: u32 = 3020;
        call(|| {
            let asked = if handle.is_null() { context::current() as *mut c_void } else { handle };
            known_context(asked)?;
            put(version, INTERFACE)
        })
    }
    Context fn cuCtxEnablePeerAccess(handle: *mut c_void, flags: u32) {
        call(|| {
            known_context(handle)?;
            // All contexts are of one device, which is no peer of itself.
            let code = if flags == 0 { CudaError::PEER_ACCESS_UNSUPPORTED } else { CudaError::INVALID_VALUE };
            Err(code.into())
        })
    }
    Context fn cuCtxDisablePeerAccess(handle: *mut c_void) {
        call(|| {
            known_context(handle)?;
            Err(CudaError::PEER_ACCESS_NOT_ENABLED.into())
        })
    }
    Context fn cuCtxSynchronize() {
        cudaDeviceSynchronize()
    }
    Start fn cuCtxSynchronize_v2(handle: *mut c_void) {
        match call(|| known_context(handle).map(|_| ())) {
            0 => cudaDeviceSynchronize(),
            failed => failed,
        }
    }
    Context fn cuCtxSetLimit(limit: u32, value: usize) {
        cudaDeviceSetLimit(limit, value)
    }
    Context fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        cudaDeviceGetLimit(value, limit)
    }
    Context fn cuCtxGetCacheConfig(config: Word) {
        cudaDeviceGetCacheConfig(config)
    }
    Context fn cuCtxSetCacheConfig(config: u32) {
        cudaDeviceSetCacheConfig(config)
    }
    Context fn cuCtxGetSharedMemConfig(config: Word) {
        cudaDeviceGetSharedMemConfig(config)
    }
    Context fn cuCtxSetSharedMemConfig(config: u32) {
        cudaDeviceSetSharedMemConfig(config)
    }
    Context fn cuCtxGetStreamPriorityRange(least: Int, greatest: Int) {
        cudaDeviceGetStreamPriorityRange(least, greatest)
    }
    Context fn cuCtxResetPersistingL2Cache() {
        cudaCtxResetPersistingL2Cache()
    }
    Nothing fn cuGetProcAddress_v2(
        symbol: *const c_char, function: Context, version: i32, flags: u64, status: Word,
    ) {
        call(|| proc_address(symbol, function, version, flags, status))
    }
    Nothing fn cuGetProcAddress(symbol: *const c_char, function: Context, version: i32, flags: u64) {
        call(|| proc_address(symbol, function, version, flags, std::ptr::null_mut()))
    }
    Start fn cuProfilerStart() { cudaProfilerStart() }
    Start fn cuProfilerStop() { cudaProfilerStop() }
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
pub(crate) const PER_THREAD_FLAG: u64 = 2;

/// Finds a function by the name that `cuda.h` has for it.
///
/// # Safety
/// As CUDA demands of the caller: a string, and places that are null or valid.
unsafe fn proc_address(
    symbol: *const c_char,
    function: Context,
    version: i32,
    flags: u64,
    status: Word,
) -> Result<()> {
    const NOT_FOUND: u32 = 1;
    given(function)?;
    given(symbol.cast_mut())?;
    let name: CString = unsafe { CStr::from_ptr(symbol) }.to_owned();
    let version = u32::try_from(version).unwrap_or(0);
    let per_thread = flags & PER_THREAD_FLAG != 0;
    let found = by_name(&name.to_string_lossy(), version, per_thread);
    unsafe { put(function, found.unwrap_or(std::ptr::null()).cast_mut().cast())? };
    unsafe { offer(status, if found.is_some() { 0 } else { NOT_FOUND }) };
    if found.is_some() { Ok(()) } else { Err(CudaError::SYMBOL_NOT_FOUND.into()) }
}
