//! `cudaMemcpyAsync`, `cudaMemsetAsync` and their kin in device code.
//!
//! Only global memory, and only within the device: a local or shared address is an error value,
//! not a fault (guide 4.18.3.3; FACTS.md). Sets write the value that is passed; that the vendor's
//! library writes zeros is a defect that this device does not share.

use super::{Caller, Outcome, errors};
use crate::exec::Step;
use crate::memory::space::{self, Window};
use crate::sched::{Action, Core};

/// `cudaErrorInvalidPitchValue`
const INVALID_PITCH: u32 = 12;
/// `cudaErrorUnknown`, for a stream that is none (H200).
const UNKNOWN: u32 = 999;
/// `cudaErrorInvalidMemcpyDirection`
const INVALID_DIRECTION: u32 = 21;
/// `cudaMemcpyDeviceToDevice`
const DEVICE_TO_DEVICE: u32 = 3;
/// `cudaMemcpyDefault`
const DEFAULT_DIRECTION: u32 = 4;

/// Rows of bytes in device memory.
#[derive(Clone, Copy)]
struct Rows {
    address: u64,
    pitch: u64,
    width: u64,
    rows: u64,
}

impl Rows {
    /// Nothing is to be done: success whatever else is asked for (H200).
    fn is_nothing(&self) -> bool {
        self.width == 0 || self.rows == 0
    }

    /// More than one row, which overlap.
    fn overlaps(&self) -> bool {
        self.rows > 1 && self.width > self.pitch
    }
}

impl Core {
    /// All rows lie in one live allocation that kernels may read (or write).
    fn rows_are_valid(&self, rows: Rows, write: bool) -> bool {
        let span = rows.pitch.checked_mul(rows.rows - 1).and_then(|n| n.checked_add(rows.width));
        let Some(span) = span else { return false };
        let global = space::window(rows.address) == Window::Global;
        global
            && self
                .machine
                .memory
                .find(rows.address)
                .is_some_and(|e| span <= e.hi - rows.address && (e.writable || !write))
    }

    fn queue_copy(
        &mut self,
        caller: &mut Caller<'_>,
        stream: u64,
        kind: u32,
        to: Rows,
        from: Rows,
    ) -> Outcome {
        if to.is_nothing() {
            return Outcome::Error(0);
        }
        if kind != DEVICE_TO_DEVICE && kind != DEFAULT_DIRECTION {
            return Outcome::Error(INVALID_DIRECTION);
        }
        if !(self.rows_are_valid(to, true) && self.rows_are_valid(from, false)) {
            return Outcome::Error(errors::INVALID_VALUE);
        }
        if !self.stream_is_valid(caller, stream) {
            return Outcome::Error(UNKNOWN);
        }
        let action = Action::Copy {
            dst: to.address,
            dst_pitch: to.pitch,
            src: from.address,
            src_pitch: from.pitch,
            width: to.width,
            rows: to.rows,
        };
        self.enqueue_device(caller, stream, action);
        Outcome::Error(0)
    }

    fn queue_set(&mut self, caller: &mut Caller<'_>, stream: u64, to: Rows, value: u8) -> Outcome {
        if to.is_nothing() {
            return Outcome::Error(0);
        }
        if !self.rows_are_valid(to, true) {
            return Outcome::Error(errors::INVALID_VALUE);
        }
        if !self.stream_is_valid(caller, stream) {
            return Outcome::Error(UNKNOWN);
        }
        let action = Action::Set {
            dst: to.address,
            pitch: to.pitch,
            pattern: [value; 4],
            pattern_bytes: 1,
            width: to.width,
            rows: to.rows,
        };
        self.enqueue_device(caller, stream, action);
        Outcome::Error(0)
    }

    /// `(dst, src, count, kind, stream)`
    pub(super) fn memcpy(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let width = caller.arg(2);
        let to = Rows { address: caller.arg(0), pitch: width, width, rows: 1 };
        let from = Rows { address: caller.arg(1), ..to };
        let (kind, stream) = (caller.arg(3) as u32, caller.arg(4));
        self.queue_copy(caller, stream, kind, to, from)
    }

    /// `(dst, dpitch, src, spitch, width, height, kind, stream)`
    pub(super) fn memcpy_2d(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let (width, rows) = (caller.arg(4), caller.arg(5));
        let to = Rows { address: caller.arg(0), pitch: caller.arg(1), width, rows };
        let from = Rows { address: caller.arg(2), pitch: caller.arg(3), width, rows };
        if !to.is_nothing() && (to.overlaps() || from.overlaps()) {
            return Outcome::Error(INVALID_PITCH);
        }
        let (kind, stream) = (caller.arg(6) as u32, caller.arg(7));
        self.queue_copy(caller, stream, kind, to, from)
    }

    /// `(const cudaMemcpy3DParms *, stream)`: two arrays, positions and pitched pointers for source
    /// and destination, an extent, a direction.
    pub(super) fn memcpy_3d(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        // Words: 0 srcArray, 1..4 srcPos, 4..8 srcPtr (ptr, pitch, xsize, ysize), 8 dstArray,
        // 9..12 dstPos, 12..16 dstPtr, 16..19 extent (width, height, depth), 19 kind.
        // The widths of the pitched pointers are not looked at.
        let mut words = [0; 20];
        for (at, word) in words.iter_mut().enumerate().filter(|(at, _)| ![6, 14].contains(at)) {
            *word = caller.load(self, caller.arg(0).wrapping_add(8 * at as u64))?;
        }
        let word = |index: usize| words[index];
        if word(0) != 0 || word(8) != 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        let place = |pos: usize, ptr: usize| {
            let plane = word(ptr + 1).wrapping_mul(word(ptr + 3));
            let offset = word(pos)
                .wrapping_add(word(pos + 1).wrapping_mul(word(ptr + 1)))
                .wrapping_add(word(pos + 2).wrapping_mul(plane));
            (word(ptr).wrapping_add(offset), word(ptr + 1), plane)
        };
        let ((src, src_pitch, src_plane), (dst, dst_pitch, dst_plane)) =
            (place(1, 4), place(9, 12));
        let (width, height, depth) = (word(16), word(17), word(18));
        if width > src_pitch || width > dst_pitch {
            return Ok(Outcome::Error(INVALID_PITCH));
        }
        let (kind, stream) = (word(19) as u32, caller.arg(1));
        for z in 0..depth.min(1 << 16) {
            let to = Rows {
                address: dst.wrapping_add(z.wrapping_mul(dst_plane)),
                pitch: dst_pitch,
                width,
                rows: height,
            };
            let from = Rows {
                address: src.wrapping_add(z.wrapping_mul(src_plane)),
                pitch: src_pitch,
                width,
                rows: height,
            };
            match self.queue_copy(caller, stream, kind, to, from) {
                Outcome::Error(0) => {}
                refused => return Ok(refused),
            }
        }
        Ok(Outcome::Error(0))
    }

    /// `(dst, value, count, stream)`
    pub(super) fn memset(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let width = caller.arg(2);
        let to = Rows { address: caller.arg(0), pitch: width, width, rows: 1 };
        let (value, stream) = (caller.arg(1) as u8, caller.arg(3));
        self.queue_set(caller, stream, to, value)
    }

    /// `(dst, pitch, value, width, height, stream)`
    pub(super) fn memset_2d(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let to = Rows {
            address: caller.arg(0),
            pitch: caller.arg(1),
            width: caller.arg(3),
            rows: caller.arg(4),
        };
        if !to.is_nothing() && to.overlaps() {
            // Not as copies have it (H200).
            return Outcome::Error(errors::INVALID_VALUE);
        }
        let (value, stream) = (caller.arg(2) as u8, caller.arg(5));
        self.queue_set(caller, stream, to, value)
    }

    /// `(cudaPitchedPtr, value, cudaExtent, stream)`
    pub(super) fn memset_3d(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let (address, pitch, ysize) = (caller.field(0, 0), caller.field(0, 8), caller.field(0, 24));
        let (width, height, depth) = (caller.field(2, 0), caller.field(2, 8), caller.field(2, 16));
        let (value, stream) = (caller.arg(1) as u8, caller.arg(3));
        let all = Rows { address, pitch, width, rows: height.saturating_mul(depth) };
        if all.is_nothing() {
            return Outcome::Error(0);
        }
        if all.overlaps() || depth > 1 && height > ysize {
            return Outcome::Error(errors::INVALID_VALUE);
        }
        for z in 0..depth.min(1 << 16) {
            let offset = z.wrapping_mul(pitch).wrapping_mul(ysize);
            let to = Rows { address: address.wrapping_add(offset), pitch, width, rows: height };
            match self.queue_set(caller, stream, to, value) {
                Outcome::Error(0) => {}
                refused => return refused,
            }
        }
        Outcome::Error(0)
    }
}
