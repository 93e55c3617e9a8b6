//! How the driver describes copies of boxes, and both ways between that and ours. No device is asked anything here.

use crate::array::{ArrayHandle, Copy3D, CopySide};
use crate::device::{Copy2D, CopyKind};
use crate::error::{CudaError, Result};

/// One side of `CUDA_MEMCPY3D`; `CUDA_MEMCPY3D_PEER` has a context where the other has nothing.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Side {
    pub x_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    /// `CUmemorytype`
    pub memory: u32,
    pub host: u64,
    pub device: u64,
    pub array: u64,
    pub reserved: u64,
    pub pitch_bytes: usize,
    pub rows: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cuboid {
    pub src: Side,
    pub dst: Side,
    pub width_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUmemorytype`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

impl Side {
    /// The driver's description of a side, in such memory if it is no array.
    fn new(side: CopySide, memory: u32) -> Side {
        match side {
            CopySide::Array { array, x_bytes, y, z } => Side {
                x_bytes: x_bytes as usize,
                y: y as usize,
                z: z as usize,
                memory: ARRAY,
                array: array.0,
                ..Side::default()
            },
            CopySide::Linear { address, pitch_bytes, rows } => {
                let (host, device) = if memory == HOST { (address, 0) } else { (0, address) };
                let (pitch_bytes, rows) = (pitch_bytes as usize, rows as usize);
                Side { memory, host, device, pitch_bytes, rows, ..Side::default() }
            }
        }
    }

    /// Ours, of rows of so many bytes.
    fn side(&self, width_bytes: usize) -> Result<CopySide> {
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
    /// The driver's description of a copy.
    pub fn new(copy: &Copy3D, kind: CopyKind) -> Cuboid {
        let (src, dst) = match kind {
            CopyKind::HostToHost => (HOST, HOST),
            CopyKind::HostToDevice => (HOST, DEVICE),
            CopyKind::DeviceToHost => (DEVICE, HOST),
            CopyKind::DeviceToDevice => (DEVICE, DEVICE),
            CopyKind::Default => (UNIFIED, UNIFIED),
        };
        Cuboid {
            src: Side::new(copy.src, src),
            dst: Side::new(copy.dst, dst),
            width_bytes: copy.width_bytes as usize,
            height: copy.height as usize,
            depth: copy.depth as usize,
        }
    }

    /// The same of a rectangle.
    pub fn rectangle(copy: &Copy2D, kind: CopyKind) -> Cuboid {
        let side = |address: u64, pitch_bytes: usize| CopySide::Linear {
            address,
            pitch_bytes: pitch_bytes as u64,
            rows: copy.height as u64,
        };
        let copy = Copy3D {
            dst: side(copy.dst, copy.dst_pitch_bytes),
            src: side(copy.src, copy.src_pitch_bytes),
            width_bytes: copy.width_bytes as u64,
            height: copy.height as u64,
            depth: 1,
        };
        Cuboid::new(&copy, kind)
    }

    /// From which memory to which.
    pub fn kind(&self) -> CopyKind {
        match (self.src.memory, self.dst.memory) {
            (UNIFIED, _) | (_, UNIFIED) => CopyKind::Default,
            (HOST, HOST) => CopyKind::HostToHost,
            (HOST, _) => CopyKind::HostToDevice,
            (_, HOST) => CopyKind::DeviceToHost,
            _ => CopyKind::DeviceToDevice,
        }
    }

    /// The copy described.
    pub fn copy(&self) -> Result<Copy3D> {
        Ok(Copy3D {
            dst: self.dst.side(self.width_bytes)?,
            src: self.src.side(self.width_bytes)?,
            width_bytes: self.width_bytes as u64,
            height: self.height as u64,
            depth: self.depth as u64,
        })
    }
}
