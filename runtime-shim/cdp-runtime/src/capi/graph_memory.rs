//! Nodes that allocate and free memory. The memory is allocated when the node is made and stays at its address as
//! long as the process, so that every launch of the graph and what runs between launches finds it there.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::graph::add;
use super::pool::{AccessDesc, PoolProps};
use super::{call, given, put};
use crate::error::{CudaError, Result};
use crate::graph::{self, NodeId, Op};
use crate::process;

/// `cudaMemAllocNodeParams`
#[repr(C)]
#[allow(missing_docs)]
pub struct AllocNodeParams {
    pub pool: PoolProps,
    pub access: *const AccessDesc,
    pub access_count: usize,
    pub bytes: usize,
    /// Written: the memory.
    pub address: *mut c_void,
}

/// Memory of graphs: bytes by address, and the most there ever was since that was last set to 0.
#[derive(Default)]
struct Account {
    bytes: HashMap<u64, u64>,
    high_bytes: u64,
}

static ACCOUNT: Mutex<Option<Account>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<Account>> {
    ACCOUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(work: impl FnOnce(&mut Account) -> T) -> T {
    work(locked().get_or_insert_with(Account::default))
}

/// Allocates what a node gives.
///
/// # Safety
/// `params` is null or valid.
pub(super) unsafe fn alloc_op(params: *mut AllocNodeParams) -> Result<Op> {
    // SAFETY: the caller's promise.
    let params = unsafe { params.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
    // `cudaMemAllocationTypePinned`, no sharing with other processes.
    if params.bytes == 0 || params.pool.allocation_type != 1 || params.pool.handle_types != 0 {
        return Err(CudaError::INVALID_VALUE.into());
    }
    let bytes = params.bytes as u64;
    let address = process::current()?.device.allocate(bytes)?;
    with(|account| {
        account.bytes.insert(address, bytes);
        account.high_bytes = account.high_bytes.max(account.bytes.values().sum());
    });
    params.address = address as *mut c_void;
    Ok(Op::Allocate { address, bytes })
}

/// The memory is one that a node gives.
pub(super) fn free_op(address: *mut c_void) -> Result<Op> {
    let address = address as u64;
    match with(|account| account.bytes.contains_key(&address)) {
        true => Ok(Op::Free { address }),
        false => Err(CudaError::INVALID_VALUE.into()),
    }
}

/// `cudaFree` and `cudaFreeAsync` of memory that a graph gave: it stays, for the graph's next launch.
pub(super) fn is_of_graph(address: u64) -> bool {
    locked().as_ref().is_some_and(|account| account.bytes.contains_key(&address))
}

/// `cudaGraphAddMemAllocNode`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphAddMemAllocNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    params: *mut AllocNodeParams,
) -> u32 {
    unsafe { add(node, graph, after, count, || alloc_op(params)) }
}

/// `cudaGraphAddMemFreeNode`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphAddMemFreeNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    address: *mut c_void,
) -> u32 {
    unsafe { add(node, graph, after, count, || free_op(address)) }
}

/// `cudaGraphMemAllocNodeGetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphMemAllocNodeGetParams(
    node: *mut c_void,
    params: *mut AllocNodeParams,
) -> u32 {
    call(|| {
        given(params)?;
        let found = graph::with(|graphs| match graphs.node(node as NodeId)?.op {
            Op::Allocate { address, bytes } => Ok((address, bytes)),
            _ => Err(CudaError::INVALID_VALUE.into()),
        })?;
        // SAFETY: valid, as CUDA demands of the caller; all zeros are a value of the structure.
        unsafe {
            let mut value: AllocNodeParams = std::mem::zeroed();
            value.pool.allocation_type = 1;
            value.pool.location.kind = 1;
            value.pool.location.id = process::current_ordinal();
            (value.bytes, value.address) = (found.1 as usize, found.0 as *mut c_void);
            put(params, value)
        }
    })
}

/// `cudaGraphMemFreeNodeGetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphMemFreeNodeGetParams(
    node: *mut c_void,
    address: *mut *mut c_void,
) -> u32 {
    call(|| {
        let found = graph::with(|graphs| match graphs.node(node as NodeId)?.op {
            Op::Free { address } => Ok(address),
            _ => Err(CudaError::INVALID_VALUE.into()),
        })?;
        unsafe { put(address, found as *mut c_void) }
    })
}

/// `cudaDeviceGraphMemTrim`: nothing is kept beyond what graphs use.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGraphMemTrim(ordinal: i32) -> u32 {
    call(|| process::runtime()?.device(ordinal).map(drop))
}

/// `cudaDeviceGetGraphMemAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetGraphMemAttribute(
    ordinal: i32,
    attribute: u32,
    value: *mut c_void,
) -> u32 {
    call(|| {
        process::runtime()?.device(ordinal)?;
        let found = with(|account| match attribute {
            0 | 2 => Ok(account.bytes.values().sum()),
            1 | 3 => Ok(account.high_bytes),
            _ => Err(CudaError::INVALID_VALUE),
        })?;
        unsafe { put(value.cast::<u64>(), found) }
    })
}

/// `cudaDeviceSetGraphMemAttribute`: the high marks, to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceSetGraphMemAttribute(
    ordinal: i32,
    attribute: u32,
    value: *mut c_void,
) -> u32 {
    call(|| {
        process::runtime()?.device(ordinal)?;
        given(value)?;
        // SAFETY: not null, and valid as CUDA demands of the caller.
        if !matches!(attribute, 1 | 3) || unsafe { value.cast::<u64>().read() } != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        with(|account| account.high_bytes = account.bytes.values().sum());
        Ok(())
    })
}
