//! Parameters of a kernel in one buffer, which the driver's `extra` and that of a graph's node lead to.

use std::ffi::c_void;

use crate::error::{CudaError, Result};
use crate::process;

type Args = *mut *mut c_void;

/// The buffer and its size.
///
/// # Safety
/// A list that ends with `CU_LAUNCH_PARAM_END`, as CUDA demands of the caller.
unsafe fn buffer(mut extra: Args) -> Result<(*mut u8, usize)> {
    const END: usize = 0;
    const POINTER: usize = 1;
    const BYTES: usize = 2;
    let (mut place, mut bytes) = (std::ptr::null_mut(), 0);
    loop {
        let (key, value) = unsafe { (*extra as usize, *extra.add(1)) };
        match key {
            END => break,
            POINTER => place = value.cast(),
            BYTES => bytes = unsafe { *value.cast::<usize>() },
            _ => return Err(CudaError::INVALID_VALUE.into()),
        }
        extra = unsafe { extra.add(2) };
    }
    Ok((place, bytes))
}

/// Where each parameter of a kernel stands in the buffer.
///
/// # Safety
/// `extra` is as CUDA demands of the caller.
pub(super) unsafe fn in_buffer(
    function: *const c_void,
    params: Args,
    extra: Args,
) -> Result<Vec<*mut c_void>> {
    let (place, bytes) = unsafe { buffer(extra)? };
    if !params.is_null() {
        return Err(CudaError::INVALID_VALUE.into());
    }
    let state = process::current()?;
    let kernel = state.kernel(function as usize)?.kernel;
    let (mut pointers, mut end) = (Vec::new(), 0);
    for (offset, size) in state.device.kernel_params(kernel)? {
        end = end.max(offset + size);
        if place.is_null() || offset + size > bytes as u64 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        pointers.push(unsafe { place.add(offset as usize) }.cast::<c_void>());
    }
    // So an H200 answers where the size has the padding behind a struct as well.
    if bytes as u64 > end {
        return Err(CudaError::LAUNCH_OUT_OF_RESOURCES.into());
    }
    Ok(pointers)
}
