//! Copies, of bytes, rectangles and boxes.

use std::ffi::c_void;

use super::*;
use crate::array::{ArrayHandle, Copy3D, CopySide};
use crate::device::{CopyKind, StreamHandle};
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

/// One side of `CUDA_MEMCPY3D`; `CUDA_MEMCPY3D_PEER` has a context where the other has nothing.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side3D {
    x_bytes: usize,
    y: usize,
    z: usize,
    lod: usize,
    memory: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch_bytes: usize,
    rows: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cuboid {
    src: Side3D,
    dst: Side3D,
    width_bytes: usize,
    height: usize,
    depth: usize,
}

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

impl From<Side2D> for Side3D {
    fn from(side: Side2D) -> Side3D {
        let Side2D { x_bytes, y, memory, host, device, array, pitch_bytes } = side;
        Side3D {
            x_bytes,
            y,
            z: 0,
            lod: 0,
            memory,
            host,
            device,
            array,
            reserved: 0,
            pitch_bytes,
            rows: 0,
        }
    }
}

impl From<Rectangle> for Cuboid {
    fn from(given: Rectangle) -> Cuboid {
        let Rectangle { src, dst, width_bytes, height } = given;
        Cuboid { src: src.into(), dst: dst.into(), width_bytes, height, depth: 1 }
    }
}

impl Side3D {
    /// The description of a side, in such memory if it is no array.
    fn of(side: CopySide, memory: u32) -> Side3D {
        let nowhere = Side3D {
            x_bytes: 0,
            y: 0,
            z: 0,
            lod: 0,
            memory,
            host: 0,
            device: 0,
            array: 0,
            reserved: 0,
            pitch_bytes: 0,
            rows: 0,
        };
        match side {
            CopySide::Array { array, x_bytes, y, z } => Side3D {
                x_bytes: x_bytes as usize,
                y: y as usize,
                z: z as usize,
                memory: ARRAY,
                array: array.0,
                ..nowhere
            },
            CopySide::Linear { address, pitch_bytes, rows } => {
                let (pitch_bytes, rows) = (pitch_bytes as usize, rows as usize);
                match memory {
                    HOST => Side3D { host: address, pitch_bytes, rows, ..nowhere },
                    _ => Side3D { device: address, pitch_bytes, rows, ..nowhere },
                }
            }
        }
    }

    fn place(&self, width_bytes: usize) -> Result<CopySide> {
        let first = match self.memory {
            HOST => self.host,
            DEVICE | UNIFIED => self.device,
            ARRAY => {
                let (x_bytes, y, z) = (self.x_bytes as u64, self.y as u64, self.z as u64);
                return Ok(CopySide::Array { array: ArrayHandle(self.array), x_bytes, y, z });
            }
            _ => return Err(CudaError::INVALID_VALUE.into()),
        };
        let pitch = if self.pitch_bytes == 0 { width_bytes } else { self.pitch_bytes };
        let row = self.z.wrapping_mul(self.rows).wrapping_add(self.y);
        let offset = row.wrapping_mul(pitch).wrapping_add(self.x_bytes);
        let address = first.wrapping_add(offset as u64);
        Ok(CopySide::Linear { address, pitch_bytes: pitch as u64, rows: self.rows as u64 })
    }
}

impl Cuboid {
    fn kind(&self) -> CopyKind {
        match (self.src.memory, self.dst.memory) {
            (UNIFIED, _) | (_, UNIFIED) => CopyKind::Default,
            (HOST, HOST) => CopyKind::HostToHost,
            (HOST, _) => CopyKind::HostToDevice,
            (_, HOST) => CopyKind::DeviceToHost,
            _ => CopyKind::DeviceToDevice,
        }
    }

    fn copy(&self) -> Result<Copy3D> {
        Ok(Copy3D {
            dst: self.dst.place(self.width_bytes)?,
            src: self.src.place(self.width_bytes)?,
            width_bytes: self.width_bytes as u64,
            height: self.height as u64,
            depth: self.depth as u64,
        })
    }

    /// What a node of a graph does that copies this.
    pub(super) fn op(&self) -> Result<Op> {
        Ok(Op::Box(self.copy()?, self.kind()))
    }

    /// The description of what a node copies; `None` if it does something else.
    pub(super) fn of(op: &Op) -> Option<Cuboid> {
        let memory = |of_host: bool, kind: CopyKind| match kind {
            CopyKind::Default => UNIFIED,
            _ if of_host => HOST,
            _ => DEVICE,
        };
        let cuboid = |copy: &Copy3D, kind: CopyKind| Cuboid {
            src: Side3D::of(
                copy.src,
                memory(matches!(kind, CopyKind::HostToDevice | CopyKind::HostToHost), kind),
            ),
            dst: Side3D::of(
                copy.dst,
                memory(matches!(kind, CopyKind::DeviceToHost | CopyKind::HostToHost), kind),
            ),
            width_bytes: copy.width_bytes as usize,
            height: copy.height as usize,
            depth: copy.depth as usize,
        };
        match op {
            Op::Box(copy, kind) => Some(cuboid(copy, *kind)),
            Op::Rectangle(copy, kind) => {
                let side = |address: u64, pitch: usize| CopySide::Linear {
                    address,
                    pitch_bytes: pitch as u64,
                    rows: copy.height as u64,
                };
                let copy = Copy3D {
                    dst: side(copy.dst, copy.dst_pitch_bytes),
                    src: side(copy.src, copy.src_pitch_bytes),
                    width_bytes: copy.width_bytes as u64,
                    height: copy.height as u64,
                    depth: 1,
                };
                Some(cuboid(&copy, *kind))
            }
            _ => None,
        }
    }

    /// # Safety
    /// Host sides are valid, as CUDA demands of the caller.
    unsafe fn run(&self, stream: Option<StreamHandle>) -> Result<()> {
        let copy = self.copy()?;
        if capture::recorded(stream, || Ok(Op::Box(copy, self.kind())))? {
            return Ok(());
        }
        unsafe { process::current()?.device.copy_3d(&copy, self.kind(), stream) }
    }
}

/// # Safety
/// The description is null or valid, and so are its host sides.
unsafe fn described<T: Copy + Into<Cuboid>>(given: *const T, stream: Option<Stream>) -> u32 {
    call(|| {
        let given: Cuboid = (*unsafe { given.as_ref() }.ok_or(CudaError::INVALID_VALUE)?).into();
        unsafe { given.run(stream.map(|stream| StreamHandle(stream as u64))) }
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
