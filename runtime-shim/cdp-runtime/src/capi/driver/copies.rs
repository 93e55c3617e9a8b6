//! Copies, of bytes, rectangles and boxes.

use std::ffi::c_void;

use super::*;
use crate::device::StreamHandle;
use crate::driver_copy::{Cuboid, Side};
use crate::graph::{Op, capture};

type Stream = *mut c_void;
type Host = *mut c_void;

const TO_DEVICE: u32 = 1;
const TO_HOST: u32 = 2;
const ON_DEVICE: u32 = 3;
const ANY: u32 = 4;

/// One side of `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
struct Side2D {
    x_bytes: usize,
    y: usize,
    memory: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch_bytes: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rectangle {
    src: Side2D,
    dst: Side2D,
    width_bytes: usize,
    height: usize,
}

impl From<Side2D> for Side {
    fn from(side: Side2D) -> Side {
        let Side2D { x_bytes, y, memory, host, device, array, pitch_bytes } = side;
        Side { x_bytes, y, memory, host, device, array, pitch_bytes, ..Side::default() }
    }
}

impl From<Rectangle> for Cuboid {
    fn from(given: Rectangle) -> Cuboid {
        let Rectangle { src, dst, width_bytes, height } = given;
        Cuboid { src: src.into(), dst: dst.into(), width_bytes, height, depth: 1 }
    }
}

/// # Safety
/// Host sides are valid, as CUDA demands of the caller.
unsafe fn run(given: &Cuboid, stream: Option<StreamHandle>) -> Result<()> {
    let copy = given.copy()?;
    if capture::recorded(stream, || Ok(Op::Box(copy, given.kind())))? {
        return Ok(());
    }
    unsafe { process::current()?.device.copy_3d(&copy, given.kind(), stream) }
}

/// # Safety
/// The description is null or valid, and so are its host sides.
unsafe fn described<T: Copy + Into<Cuboid>>(given: *const T, stream: Option<Stream>) -> u32 {
    call(|| {
        let given: Cuboid = (*unsafe { given.as_ref() }.ok_or(CudaError::INVALID_VALUE)?).into();
        unsafe { run(&given, stream.map(|stream| StreamHandle(stream as u64))) }
    })
}

driver_functions! {
    Context fn cuMemcpy(dst: u64, src: u64, bytes: usize) { cudaMemcpy(dst as Host, src as Host, bytes, ANY) }
    Context fn cuMemcpyPeer(dst: u64, _to: *mut c_void, src: u64, _from: *mut c_void, bytes: usize) {
        cudaMemcpy(dst as Host, src as Host, bytes, ON_DEVICE)
    }
    Context fn cuMemcpyHtoD_v2(dst: u64, src: *const c_void, bytes: usize) {
        cudaMemcpy(dst as Host, src, bytes, TO_DEVICE)
    }
    Context fn cuMemcpyDtoH_v2(dst: Host, src: u64, bytes: usize) { cudaMemcpy(dst, src as Host, bytes, TO_HOST) }
    Context fn cuMemcpyDtoD_v2(dst: u64, src: u64, bytes: usize) {
        cudaMemcpy(dst as Host, src as Host, bytes, ON_DEVICE)
    }
    Context fn cuMemcpy2D_v2(copy: *const Rectangle) { described(copy, None) }
    Context fn cuMemcpy2DUnaligned_v2(copy: *const Rectangle) { described(copy, None) }
    Context fn cuMemcpy3D_v2(copy: *const Cuboid) { described(copy, None) }
    Context fn cuMemcpyAsync(dst: u64, src: u64, bytes: usize, stream: Stream) {
        cudaMemcpyAsync(dst as Host, src as Host, bytes, ANY, stream)
    }
    Context fn cuMemcpyPeerAsync(dst: u64, _to: *mut c_void, src: u64, _from: *mut c_void, bytes: usize, stream: Stream) {
        cudaMemcpyAsync(dst as Host, src as Host, bytes, ON_DEVICE, stream)
    }
    Context fn cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, bytes: usize, stream: Stream) {
        cudaMemcpyAsync(dst as Host, src, bytes, TO_DEVICE, stream)
    }
    Context fn cuMemcpyDtoHAsync_v2(dst: Host, src: u64, bytes: usize, stream: Stream) {
        cudaMemcpyAsync(dst, src as Host, bytes, TO_HOST, stream)
    }
    Context fn cuMemcpyDtoDAsync_v2(dst: u64, src: u64, bytes: usize, stream: Stream) {
        cudaMemcpyAsync(dst as Host, src as Host, bytes, ON_DEVICE, stream)
    }
    Context fn cuMemcpy2DAsync_v2(copy: *const Rectangle, stream: Stream) { described(copy, Some(stream)) }
    Context fn cuMemcpy3DPeer(copy: *const Cuboid) { described(copy, None) }
    Context fn cuMemcpy3DPeerAsync(copy: *const Cuboid, stream: Stream) { described(copy, Some(stream)) }
    Context fn cuMemcpy3DAsync_v2(copy: *const Cuboid, stream: Stream) { described(copy, Some(stream)) }
}

per_thread_variants! {
    cuMemcpyAsync_ptsz = cuMemcpyAsync(dst: u64, src: u64, bytes: usize, stream: Stream) in stream;
    cuMemcpyHtoDAsync_v2_ptsz = cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, bytes: usize, stream: Stream) in stream;
    cuMemcpyDtoHAsync_v2_ptsz = cuMemcpyDtoHAsync_v2(dst: Host, src: u64, bytes: usize, stream: Stream) in stream;
    cuMemcpyDtoDAsync_v2_ptsz = cuMemcpyDtoDAsync_v2(dst: u64, src: u64, bytes: usize, stream: Stream) in stream;
    cuMemcpy2DAsync_v2_ptsz = cuMemcpy2DAsync_v2(copy: *const Rectangle, stream: Stream) in stream;
    cuMemcpy3DPeerAsync_ptsz = cuMemcpy3DPeerAsync(copy: *const Cuboid, stream: Stream) in stream;
    cuMemcpy3DAsync_v2_ptsz = cuMemcpy3DAsync_v2(copy: *const Cuboid, stream: Stream) in stream;
}

waiting_variants! {
    cuMemcpy_ptds = cuMemcpy(dst: u64, src: u64, bytes: usize);
    cuMemcpyHtoD_v2_ptds = cuMemcpyHtoD_v2(dst: u64, src: *const c_void, bytes: usize);
    cuMemcpyDtoH_v2_ptds = cuMemcpyDtoH_v2(dst: Host, src: u64, bytes: usize);
    cuMemcpyDtoD_v2_ptds = cuMemcpyDtoD_v2(dst: u64, src: u64, bytes: usize);
    cuMemcpy2D_v2_ptds = cuMemcpy2D_v2(copy: *const Rectangle);
    cuMemcpy2DUnaligned_v2_ptds = cuMemcpy2DUnaligned_v2(copy: *const Rectangle);
    cuMemcpy3DPeer_ptds = cuMemcpy3DPeer(copy: *const Cuboid);
    cuMemcpy3D_v2_ptds = cuMemcpy3D_v2(copy: *const Cuboid);
}
