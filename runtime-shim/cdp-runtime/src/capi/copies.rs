//! How copies are described to the CUDA runtime.

use std::ffi::c_void;

use crate::device::{Copy2D, CopyKind};
use crate::error::{CudaError, Result};
use crate::graph::Op;

/// The kind of a copy.
pub(crate) fn copy_kind(kind: u32) -> Result<CopyKind> {
    CopyKind::from_raw(kind).ok_or_else(|| CudaError::INVALID_MEMCPY_DIRECTION.into())
}

/// `cudaExtent`: bytes in x for linear memory, rows, slices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

/// `cudaPos`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Pos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPtr {
    /// First byte.
    pub ptr: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes of a row.
    pub xsize: usize,
    /// Rows of a slice.
    pub ysize: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Memcpy3DParms {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub extent: Extent,
    pub kind: u32,
}

impl Memcpy3DParms {
    /// A rectangle in memory, described as a box.
    pub(super) fn of_rectangle(copy: &Copy2D, kind: CopyKind) -> Memcpy3DParms {
        let side = |address: u64, pitch: usize| PitchedPtr {
            ptr: address as *mut c_void,
            pitch,
            xsize: copy.width_bytes,
            ysize: copy.height,
        };
        let origin = Pos { x: 0, y: 0, z: 0 };
        let (width, height) = (copy.width_bytes, copy.height);
        Memcpy3DParms {
            src_array: std::ptr::null_mut(),
            src_pos: origin,
            src_ptr: side(copy.src, copy.src_pitch_bytes),
            dst_array: std::ptr::null_mut(),
            dst_pos: origin,
            dst_ptr: side(copy.dst, copy.dst_pitch_bytes),
            extent: Extent { width, height, depth: 1 },
            kind: kind as u32,
        }
    }
}

impl PitchedPtr {
    /// Address of a position.
    pub(super) fn at(&self, pos: Pos) -> u64 {
        let row = pos.z.wrapping_mul(self.ysize).wrapping_add(pos.y);
        (self.ptr as u64).wrapping_add(row.wrapping_mul(self.pitch).wrapping_add(pos.x) as u64)
    }
}

/// The slices of a box in memory; `None` if a side lies in an array.
pub(crate) fn rectangles(p: &Memcpy3DParms) -> Option<impl Iterator<Item = Copy2D> + '_> {
    if !p.src_array.is_null() || !p.dst_array.is_null() {
        return None;
    }
    Some((0..p.extent.depth).map(|slice| Copy2D {
        dst: p.dst_ptr.at(Pos { z: p.dst_pos.z.wrapping_add(slice), ..p.dst_pos }),
        dst_pitch_bytes: p.dst_ptr.pitch,
        src: p.src_ptr.at(Pos { z: p.src_pos.z.wrapping_add(slice), ..p.src_pos }),
        src_pitch_bytes: p.src_ptr.pitch,
        width_bytes: p.extent.width,
        height: p.extent.height,
    }))
}

/// A copy of bytes one after another.
pub(super) fn line(dst: u64, src: u64, bytes: usize, kind: CopyKind) -> Op {
    let (dst_pitch_bytes, src_pitch_bytes, width_bytes) = (bytes, bytes, bytes);
    let copy = Copy2D { dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, height: 1 };
    Op::Rectangle(copy, kind)
}
