//! Tensor maps, which kernels copy boxes of tensors by (`cp.async.bulk.tensor`). What a map of the CPU device
//! says, and which ones it does not have, is `cdp_emulator::TensorMap`'s matter.

use std::ffi::c_void;

use cdp_emulator::{PixelColumns, TENSOR_MAP_BYTES, TensorMap};

use super::*;

/// `CUtensorMap`
type Map = *mut c_void;

/// What maps are aligned to.
const MAP_ALIGN: usize = 64;
/// Most dimensions of a tensor.
const MOST_DIMS: u32 = 5;

/// Numbers of a list of the caller's.
///
/// # Safety
/// `list` has `count` numbers, or is null.
unsafe fn numbers<T: Copy>(list: *const T, count: u32) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    given(list.cast_mut())?;
    // SAFETY: the caller's.
    Ok(unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec())
}

/// # Safety
/// `map` is null or 128 bytes that may be written.
unsafe fn write(map: Map, tensor: &TensorMap) -> Result<()> {
    let bytes = tensor.encode().map_err(|_| CudaError::INVALID_VALUE)?;
    place(map)?;
    // SAFETY: the caller's.
    unsafe { put(map.cast::<[u8; TENSOR_MAP_BYTES]>(), bytes) }
}

/// Maps lie at multiples of 64.
fn place(map: Map) -> Result<()> {
    given(map)?;
    match map.addr().is_multiple_of(MAP_ALIGN) {
        true => Ok(()),
        false => Err(CudaError::INVALID_VALUE.into()),
    }
}

driver_functions! {
    Start fn cuTensorMapEncodeTiled(
        map: Map, element: u32, rank: u32, address: *mut c_void, size: *const u64, stride_bytes: *const u64,
        reach: *const u32, step: *const u32, interleave: u32, swizzle: u32, promotion: u32, fill: u32
    ) {
        call(|| {
            let known = (1..=MOST_DIMS).contains(&rank) && interleave <= 2 && promotion <= 3 && fill <= 1;
            if !known || (interleave != 0 && rank < 3) {
                return Err(CudaError::INVALID_VALUE.into());
            }
            let tensor = TensorMap {
                element,
                address: address as u64,
                size: numbers(size, rank)?,
                stride_bytes: numbers(stride_bytes, rank - 1)?,
                reach: numbers(reach, rank)?,
                step: numbers(step, rank)?,
                swizzle,
                fill_nan: fill == 1,
                interleave,
                columns: None,
            };
            write(map, &tensor)
        })
    }
    Start fn cuTensorMapEncodeIm2col(
        map: Map, element: u32, rank: u32, address: *mut c_void, size: *const u64, stride_bytes: *const u64,
        lower: *const i32, upper: *const i32, channels: u32, pixels: u32, step: *const u32, interleave: u32,
        swizzle: u32, promotion: u32, fill: u32
    ) {
        call(|| {
            let known = (3..=MOST_DIMS).contains(&rank) && interleave <= 2 && promotion <= 3 && fill <= 1;
            if !known {
                return Err(CudaError::INVALID_VALUE.into());
            }
            let (lower, upper) = (numbers(lower, rank - 2)?, numbers(upper, rank - 2)?);
            let mut reach = vec![1; rank as usize];
            reach[0] = channels;
            let tensor = TensorMap {
                element,
                address: address as u64,
                size: numbers(size, rank)?,
                stride_bytes: numbers(stride_bytes, rank - 1)?,
                reach,
                step: numbers(step, rank)?,
                swizzle,
                fill_nan: fill == 1,
                interleave,
                columns: Some(PixelColumns { lower, upper, pixels }),
            };
            write(map, &tensor)
        })
    }
    Start fn cuTensorMapReplaceAddress(map: Map, address: *mut c_void) {
        call(|| {
            place(map)?;
            let bytes = map.cast::<[u8; TENSOR_MAP_BYTES]>().read();
            let tensor = TensorMap::decode(&bytes).ok_or(CudaError::INVALID_VALUE)?;
            write(map, &TensorMap { address: address as u64, ..tensor })
        })
    }
}
