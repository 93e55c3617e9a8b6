//! Memory pools. Memory of a pool is the device's like any other: a pool is its attributes and the
//! account of what was taken from it.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::graph_memory::is_of_graph;
use super::{call, given, put};
use crate::device::{Location, StreamHandle};
use crate::error::{CudaError, Result};
use crate::graph::{Op, capture};
use crate::process;

/// `cudaMemPoolProps`
#[repr(C)]
#[allow(missing_docs)]
pub struct PoolProps {
    pub allocation_type: u32,
    pub handle_types: u32,
    pub location: Location,
    pub security_attributes: *mut c_void,
    pub max_bytes: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}

/// `cudaMemAccessDesc`
#[repr(C)]
#[allow(missing_docs)]
pub struct AccessDesc {
    pub location: Location,
    pub flags: u32,
}

/// `cudaMemAccessFlagsProtReadWrite`
const READ_WRITE: u32 = 3;
/// `cudaMemPoolAttr`: up to 3 are switches of 32 bits, the others are byte counts of 64.
const LAST_SWITCH: u32 = 3;
const RELEASE_THRESHOLD: u32 = 4;
const RESERVED_HIGH: u32 = 6;
const USED_HIGH: u32 = 8;

struct Pool {
    device: i32,
    switches: [u32; LAST_SWITCH as usize],
    release_threshold: u64,
    max_bytes: u64,
    used_bytes: u64,
    used_high_bytes: u64,
    is_default: bool,
}

impl Pool {
    fn new(device: i32, max_bytes: u64, is_default: bool) -> Pool {
        let switches = [1; LAST_SWITCH as usize];
        let (release_threshold, used_bytes, used_high_bytes) = (0, 0, 0);
        Pool {
            device,
            switches,
            release_threshold,
            max_bytes,
            used_bytes,
            used_high_bytes,
            is_default,
        }
    }
}

/// Pools by handle; what was taken from them: pool and bytes by address; the chosen pools of devices.
#[derive(Default)]
struct Pools {
    all: HashMap<u64, Pool>,
    taken: HashMap<u64, (u64, u64)>,
    current: HashMap<i32, u64>,
    made: u64,
}

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<Pools>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(work: impl FnOnce(&mut Pools) -> Result<T>) -> Result<T> {
    work(locked().get_or_insert_with(Pools::default))
}

impl Pools {
    /// Handles of default pools are small and fixed, those of others go on from here.
    const FIRST_MADE: u64 = 0x10_0000;

    fn pool(&mut self, handle: *mut c_void) -> Result<&mut Pool> {
        self.all.get_mut(&(handle as u64)).ok_or_else(|| CudaError::INVALID_VALUE.into())
    }

    fn default_of(&mut self, device: i32) -> u64 {
        let handle = 0x1000 + 16 * (device as u64 + 1);
        self.all.entry(handle).or_insert_with(|| Pool::new(device, 0, true));
        handle
    }

    fn current_of(&mut self, device: i32) -> u64 {
        match self.current.get(&device) {
            Some(handle) => *handle,
            None => self.default_of(device),
        }
    }
}

fn device_ordinal(ordinal: i32) -> Result<i32> {
    let exists = ordinal >= 0 && ordinal < process::runtime()?.count();
    if exists { Ok(ordinal) } else { Err(CudaError::INVALID_DEVICE.into()) }
}

/// Takes memory from a pool, or from the calling thread's device's own if there is none named. It is there
/// at once, which is no later than the stream gets to it.
pub(super) fn allocate(bytes: u64, pool: Option<*mut c_void>, stream: StreamHandle) -> Result<u64> {
    let state = process::current()?;
    state.device.stream_flags(stream)?;
    let ordinal = process::current_ordinal();
    let handle = with(|pools| {
        let handle = pool.map_or_else(|| pools.current_of(ordinal), |handle| handle as u64);
        let pool = pools.pool(handle as *mut c_void)?;
        let all = pool.used_bytes.saturating_add(bytes);
        if pool.max_bytes != 0 && all > pool.max_bytes {
            return Err(CudaError::MEMORY_ALLOCATION.into());
        }
        Ok(handle)
    })?;
    let address = state.device.allocate(bytes)?;
    if !capture::recorded(Some(stream), || Ok(Op::Allocate { address, bytes }))? {
        state.device.allocated_in_stream(address, stream)?;
    }
    with(|pools| {
        let pool = pools.pool(handle as *mut c_void)?;
        pool.used_bytes += bytes;
        pool.used_high_bytes = pool.used_high_bytes.max(pool.used_bytes);
        pools.taken.insert(address, (handle, bytes));
        Ok(address)
    })
}

/// Memory has been freed, whichever call did it.
pub(super) fn returned(address: u64) {
    if let Some(pools) = locked().as_mut()
        && let Some((handle, bytes)) = pools.taken.remove(&address)
        && let Some(pool) = pools.all.get_mut(&handle)
    {
        pool.used_bytes = pool.used_bytes.saturating_sub(bytes);
    }
}

/// `cudaMemPoolCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolCreate(pool: *mut *mut c_void, props: *const PoolProps) -> u32 {
    const PINNED: u32 = 1;
    call(|| {
        given(pool)?;
        let props = unsafe { props.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        if props.allocation_type != PINNED || props.location.kind != Location::DEVICE {
            return Err(CudaError::INVALID_VALUE.into());
        }
        if props.handle_types != 0 {
            // Memory that other processes map.
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        let device = device_ordinal(props.location.id)?;
        let handle = with(|pools| {
            pools.made += 16;
            let handle = Pools::FIRST_MADE + pools.made;
            pools.all.insert(handle, Pool::new(device, props.max_bytes as u64, false));
            Ok(handle)
        })?;
        unsafe { put(pool, handle as *mut c_void) }
    })
}

/// `cudaMemPoolDestroy`: what was taken from it lives on.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolDestroy(pool: *mut c_void) -> u32 {
    call(|| {
        with(|pools| {
            if pools.pool(pool)?.is_default {
                return Err(CudaError::INVALID_VALUE.into());
            }
            pools.all.remove(&(pool as u64));
            pools.current.retain(|_, handle| *handle != pool as u64);
            Ok(())
        })
    })
}

/// `cudaMemPoolSetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolSetAttribute(
    pool: *mut c_void,
    attribute: u32,
    value: *mut c_void,
) -> u32 {
    call(|| {
        given(value)?;
        with(|pools| {
            let pool = pools.pool(pool)?;
            // SAFETY: a value of the attribute's type, as CUDA demands of the caller; here and below.
            match attribute {
                1..=LAST_SWITCH => {
                    pool.switches[attribute as usize - 1] = unsafe { value.cast::<u32>().read() };
                }
                RELEASE_THRESHOLD => pool.release_threshold = unsafe { value.cast::<u64>().read() },
                // High-water marks can be set back, to zero only.
                RESERVED_HIGH | USED_HIGH if unsafe { value.cast::<u64>().read() } == 0 => {
                    pool.used_high_bytes = pool.used_bytes;
                }
                _ => return Err(CudaError::INVALID_VALUE.into()),
            }
            Ok(())
        })
    })
}

/// `cudaMemPoolGetAttribute`. What a pool holds in reserve is what is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolGetAttribute(
    pool: *mut c_void,
    attribute: u32,
    value: *mut c_void,
) -> u32 {
    call(|| {
        given(value)?;
        with(|pools| {
            let pool = pools.pool(pool)?;
            let found = match attribute {
                1..=LAST_SWITCH => {
                    let switch = pool.switches[attribute as usize - 1];
                    return unsafe { put(value.cast(), switch) };
                }
                RELEASE_THRESHOLD => pool.release_threshold,
                5 | 7 => pool.used_bytes,
                RESERVED_HIGH | USED_HIGH => pool.used_high_bytes,
                _ => return Err(CudaError::INVALID_VALUE.into()),
            };
            unsafe { put(value.cast(), found) }
        })
    })
}

/// `cudaMemPoolTrimTo`: nothing is held in reserve.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolTrimTo(pool: *mut c_void, _keep_bytes: usize) -> u32 {
    call(|| with(|pools| pools.pool(pool).map(|_| ())))
}

/// `cudaMemPoolSetAccess`: a pool's own device always has access.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolSetAccess(
    pool: *mut c_void,
    descriptions: *const AccessDesc,
    count: usize,
) -> u32 {
    call(|| {
        given(descriptions.cast_mut())?;
        // SAFETY: an array of `count` elements, as CUDA demands of the caller.
        let all = unsafe { std::slice::from_raw_parts(descriptions, count) };
        with(|pools| {
            let own = pools.pool(pool)?.device;
            for description in all {
                if description.location.kind != Location::DEVICE {
                    return Err(CudaError::INVALID_VALUE.into());
                }
                match device_ordinal(description.location.id)? == own {
                    true if description.flags == READ_WRITE => {}
                    true => return Err(CudaError::INVALID_VALUE.into()),
                    false => return Err(CudaError::NOT_SUPPORTED.into()),
                }
            }
            Ok(())
        })
    })
}

/// `cudaMemPoolGetAccess`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolGetAccess(
    flags: *mut u32,
    pool: *mut c_void,
    location: *const Location,
) -> u32 {
    call(|| {
        let location = unsafe { location.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        with(|pools| {
            let own = pools.pool(pool)?.device;
            let same = location.kind == Location::DEVICE && location.id == own;
            unsafe { put(flags, if same { READ_WRITE } else { 0 }) }
        })
    })
}

/// `cudaDeviceGetDefaultMemPool`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, ordinal: i32) -> u32 {
    call(|| {
        let device = device_ordinal(ordinal)?;
        let handle = with(|pools| Ok(pools.default_of(device)))?;
        unsafe { put(pool, handle as *mut c_void) }
    })
}

/// `cudaMemGetDefaultMemPool`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemGetDefaultMemPool(
    pool: *mut *mut c_void,
    location: *const Location,
    _allocation_type: u32,
) -> u32 {
    let Some(location) = (unsafe { location.as_ref() }) else {
        return call(|| Err(CudaError::INVALID_VALUE.into()));
    };
    match location.kind {
        Location::DEVICE => unsafe { cudaDeviceGetDefaultMemPool(pool, location.id) },
        _ => call(|| Err(CudaError::NOT_SUPPORTED.into())),
    }
}

/// `cudaDeviceGetMemPool`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetMemPool(pool: *mut *mut c_void, ordinal: i32) -> u32 {
    call(|| {
        let device = device_ordinal(ordinal)?;
        let handle = with(|pools| Ok(pools.current_of(device)))?;
        unsafe { put(pool, handle as *mut c_void) }
    })
}

/// `cudaDeviceSetMemPool`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetMemPool(ordinal: i32, pool: *mut c_void) -> u32 {
    call(|| {
        let device = device_ordinal(ordinal)?;
        with(|pools| {
            if pools.pool(pool)?.device != device {
                return Err(CudaError::INVALID_VALUE.into());
            }
            pools.current.insert(device, pool as u64);
            Ok(())
        })
    })
}

/// `cudaMallocAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocAsync(
    address: *mut *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        given(address)?;
        let allocated = allocate(bytes as u64, None, StreamHandle(stream as u64))?;
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaMallocFromPoolAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocFromPoolAsync(
    address: *mut *mut c_void,
    bytes: usize,
    pool: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        given(address)?;
        let allocated = allocate(bytes as u64, Some(pool), StreamHandle(stream as u64))?;
        unsafe { put(address, allocated as *mut c_void) }
    })
}

/// `cudaFreeAsync`: waits for the work of the stream, after which nothing may use the memory.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeAsync(address: *mut c_void, stream: *mut c_void) -> u32 {
    call(|| {
        let device = process::current()?;
        let stream = StreamHandle(stream as u64);
        // The graph uses it at every launch.
        if capture::recorded(Some(stream), || Ok(Op::Free { address: address as u64 }))? {
            return Ok(());
        }
        if is_of_graph(address as u64) {
            return device.device.synchronize_stream(stream);
        }
        device.device.free_in_stream(address as u64, stream)?;
        returned(address as u64);
        Ok(())
    })
}
