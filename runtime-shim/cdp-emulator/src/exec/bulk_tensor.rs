//! Copies of boxes of tensors between global and shared memory, by tensor maps ([`crate::tensor_map`]). One
//! thread copies at a time, and all is done at once; `bulk` has what copies of plain bytes share with these.

use cdp_ptx::{AtomOp, ScalarType};

use super::bulk::{Side, apart, in_bounds, in_shared, place, ranks, reduce, touch};
use super::checks::{OnLane, bad_global, misaligned};
use super::fault::Fault;
use super::path::Running;
use super::rows::read_row;
use super::{Block, Machine, Path, Step, Warp, cluster, mbarrier, memory};
use crate::code::{Async, Inst, TensorCopy};
use crate::lanes::lanes_of;
use crate::memory::space::{self, Window};
use crate::report::ReportKind;
use crate::tensor_map::{BoxRow, CHUNK, MAP_BYTES, TensorMap};

/// What a box in shared memory is aligned to (PTX ISA, `cp.async.bulk.tensor`).
const BOX_ALIGN: u64 = 128;

/// Executes `cp.async.bulk.tensor` or `cp.reduce.async.bulk.tensor` in the active lanes, one after another.
pub fn copy(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let copy = &run.function.tensor_copies[inst.imm as usize];
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let address = unsafe { read_row(run.regs, copy.map, true, lane) };
        let map = map_at(machine, block, warp, &run.path, lane, address)?;
        if map.size.len() != copy.coords.len() {
            let message = format!(
                "a copy in {} dimensions by a tensor map of {}",
                copy.coords.len(),
                map.size.len()
            );
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message));
        }
        if map.columns.is_some() != copy.columns {
            let (of, by) = if copy.columns { ("column", "boxes") } else { ("box", "columns") };
            let message = format!("a copy of a {of} by a tensor map of {by}");
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
                .help("`.im2col` goes with a map of cuTensorMapEncodeIm2col, `.tile` with one of cuTensorMapEncodeTiled"));
        }
        // SAFETY: decoded rows.
        let coord = |&row: &u32| unsafe { read_row(run.regs, row, false, lane) } as i32;
        let first: Vec<i32> = copy.coords.iter().map(coord).collect();
        let mask = map.offset_mask();
        let offsets: Vec<u32> = copy.offsets.iter().map(|row| coord(row) as u32 & mask).collect();
        let one =
            One { machine, run, warp, lane, copy, map: &map, first: &first, offsets: &offsets };
        one.illegal()?;
        match copy.load {
            true => one.load(block)?,
            false => one.store(block)?,
        }
    }
    Ok(())
}

/// The map at a generic address.
fn map_at(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    path: &Path,
    lane: usize,
    address: u64,
) -> Step<TensorMap> {
    const CURE: &str = "cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make it; pass it to the kernel as a `const __grid_constant__ CUtensorMap`";
    if space::window(address) == Window::Local {
        let message = format!("a tensor map at {address:#x}, which is local memory");
        return Err(Fault::new(ReportKind::ForeignAddress, Some(lane as u32), message).help(CURE));
    }
    let mut bytes = [0; MAP_BYTES];
    memory::read_bytes(machine, block, warp, path, lane, address, &mut bytes)?;
    TensorMap::decode(&bytes).ok_or_else(|| {
        let message = format!("no tensor map is at {address:#x}");
        Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message).help(CURE)
    })
}

/// One lane's copy.
struct One<'a> {
    machine: &'a Machine,
    run: &'a Running<'a>,
    warp: &'a Warp,
    lane: usize,
    copy: &'a TensorCopy,
    map: &'a TensorMap,
    first: &'a [i32],
    offsets: &'a [u32],
}

impl One<'_> {
    /// What an H200 calls an illegal instruction (facts.md, "Run time").
    fn illegal(&self) -> Step<()> {
        let fault = |message: String, help: &str| {
            Err(Fault::new(ReportKind::InvalidInstruction, Some(self.lane as u32), message)
                .help(help))
        };
        let begin = self.map.begin_bytes(self.first[0]);
        if begin % CHUNK as i64 != 0 {
            let message = format!(
                "a box begins at element {} of the first dimension, {begin} bytes from its begin",
                self.first[0]
            );
            return fault(message, "these are to be a multiple of 16");
        }
        if let Some(dim) = self.map.begins_outside(self.first) {
            let begin = self.first[dim];
            let message =
                format!("a column begins at {begin} of dimension {dim}, outside of its box");
            return fault(message, "the map's corners say which pixels are in the box");
        }
        if self.copy.load {
            return Ok(());
        }
        if !self.map.box_is_inside() {
            let message = "a column is written by a map whose box reaches out of the tensor";
            return fault(message.to_string(), "only columns that are read have pixels outside");
        }
        if let Some(dim) = self.first.iter().position(|&first| first < 0) {
            let message =
                format!("a box that is written begins at {} of dimension {dim}", self.first[dim]);
            return fault(message, "only boxes that are read begin before their tensor");
        }
        let element = self.map.element_type();
        match self.copy.reduce {
            Some(op) if !combines(op, element) => {
                let message = format!("elements of {} have no {}", element.as_str(), op.as_str());
                fault(message, "the type is the map's")
            }
            _ => Ok(()),
        }
    }

    /// Global to shared memory; what is outside of the tensor is filled, and counts.
    fn load(&self, block: &mut Block) -> Step<()> {
        let (lane, warp, reach) = (self.lane, self.warp, self.copy.to_cluster);
        let bytes = self.map.shared_bytes();
        let place = |side| place(self.run, side, lane);
        let (to, object) = (place(self.copy.shared), place(self.copy.object));
        let (owner, to) = in_shared(block, warp, lane, to, (bytes, BOX_ALIGN), true, reach)?;
        let (keeper, at) = in_shared(block, warp, lane, object, (8, 8), true, reach)?;
        if keeper != owner {
            return Err(apart(lane));
        }
        let of = Async::Object(at);
        let outside = self.map.outside();
        let mut rows = Vec::new();
        for row in self.map.rows(self.first, self.offsets) {
            let mut data = outside.clone();
            if row.bytes > 0 {
                self.check(&row, false)?;
                self.touch_global(block, &row, Side::Source, of);
                let inside = &mut data[row.skipped as usize..(row.skipped + row.bytes) as usize];
                // SAFETY: checked to be allocated.
                unsafe { read_global(row.address, inside) };
                self.map.narrow(inside);
                block.counters.load_transactions += row.bytes.div_ceil(128);
            }
            rows.push((to + row.offset, data));
        }
        let own = owner.unwrap_or(block.rank);
        for owner in ranks(self.run, self.copy.multicast, lane, own, block.rank) {
            cluster::in_memory_of(block, owner, lane, |block| {
                in_bounds(block, lane, to, bytes)?;
                for (to, data) in &rows {
                    self.place_row(block, *to, data, of)?;
                }
                let count = self.map.box_bytes();
                mbarrier::complete(self.machine, block, warp, lane, at, count)
            })?;
        }
        Ok(())
    }

    /// A row of the box in the shared memory that is the block's for now.
    fn place_row(&self, block: &mut Block, to: u64, data: &[u8], of: Async) -> Step<()> {
        for (number, chunk) in data.chunks_exact(CHUNK as usize).enumerate() {
            let place = self.map.swizzled(to + number as u64 * CHUNK);
            in_bounds(block, self.lane, place, CHUNK)?;
            self.touch(block, (true, place), CHUNK, Side::Target, of);
            let range = place as usize..(place + CHUNK) as usize;
            block.shared[range.clone()].copy_from_slice(chunk);
            block.written[range].fill(0xff);
        }
        Ok(())
    }

    /// Shared to global memory; chunks that are outside of the tensor are left out.
    fn store(&self, block: &mut Block) -> Step<()> {
        let from = place(self.run, self.copy.shared, self.lane);
        let aligned = (self.map.shared_bytes(), BOX_ALIGN);
        let (_, from) = in_shared(block, self.warp, self.lane, from, aligned, false, false)?;
        for mut row in self.map.rows(self.first, self.offsets).filter(|row| row.bytes > 0) {
            self.check(&row, true)?;
            row.bytes = self.whole_chunks(&row);
            let mut data = self.gather(block, from + row.offset)?;
            let data = &mut data[row.skipped as usize..(row.skipped + row.bytes) as usize];
            let side = if self.copy.reduce.is_some() { Side::Sum } else { Side::Target };
            self.touch_global(block, &row, side, Async::Bulk);
            if let Some(op) = self.copy.reduce {
                let mut old = vec![0; data.len()];
                // SAFETY: checked to be allocated.
                unsafe { read_global(row.address, &mut old) };
                self.combine(op, &mut old, data);
            }
            // SAFETY: checked to be writable.
            unsafe { (row.address as *mut u8).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
            block.counters.store_transactions += row.bytes.div_ceil(128);
        }
        Ok(())
    }

    /// What is written of a row: whole chunks, so that elements past the tensor's end are written as well. What
    /// is past the allocation's is nobody's.
    fn whole_chunks(&self, row: &BoxRow) -> u64 {
        let width = u64::from(self.map.element_type().bytes());
        let room =
            self.machine.memory.find(row.address).map_or(0, |extent| extent.hi - row.address);
        row.bytes.next_multiple_of(CHUNK).min(room / width * width).max(row.bytes)
    }

    /// Leaves in `new` what the elements of both give.
    fn combine(&self, op: AtomOp, old: &mut [u8], new: &mut [u8]) {
        if self.map.flushes() {
            flush(old);
            flush(new);
        }
        reduce((op, self.map.element_type()), old, new);
        if self.map.flushes() {
            flush(new);
        }
    }

    /// A row of the box as it stands in shared memory.
    fn gather(&self, block: &mut Block, from: u64) -> Step<Vec<u8>> {
        let mut data = Vec::with_capacity(self.map.row_bytes() as usize);
        for at in (0..self.map.row_bytes()).step_by(CHUNK as usize) {
            let place = self.map.swizzled(from + at);
            in_bounds(block, self.lane, place, CHUNK)?;
            self.touch(block, (true, place), CHUNK, Side::Source, Async::Bulk);
            data.extend_from_slice(&block.shared[place as usize..(place + CHUNK) as usize]);
        }
        Ok(data)
    }

    fn check(&self, row: &BoxRow, write: bool) -> Step<()> {
        let (machine, at) = (self.machine, row.address);
        let width = u64::from(self.map.element_type().bytes());
        if !at.is_multiple_of(width) {
            return Err(misaligned(at, width, write).on(self.lane));
        }
        let writable = || machine.memory.find(at).is_some_and(|extent| extent.writable);
        if !machine.memory.contains(at, row.bytes) || write && !writable() {
            return Err(bad_global(machine, at, row.bytes, write).on(self.lane));
        }
        Ok(())
    }

    /// The elements of a row pass the door of memory: they need not be aligned to more than themselves.
    fn touch_global(&self, block: &mut Block, row: &BoxRow, side: Side, of: Async) {
        if self.machine.watch.is_none() {
            return;
        }
        let width = u64::from(self.map.element_type().bytes());
        for at in (0..row.bytes).step_by(width as usize) {
            self.touch(block, (false, row.address + at), width, side, of);
        }
    }

    fn touch(&self, block: &mut Block, at: (bool, u64), bytes: u64, side: Side, of: Async) {
        touch(self.machine, block, self.warp, self.run, at, self.lane, bytes, (side, of));
    }
}

/// Whether boxes of such elements are combined so.
fn combines(op: AtomOp, element: ScalarType) -> bool {
    use ScalarType::{BF16, F16, F32, F64, S32, S64, U32, U64};
    match op {
        AtomOp::Add => matches!(element, U32 | S32 | U64 | F16 | BF16 | F32 | F64),
        AtomOp::Min | AtomOp::Max => matches!(element, U32 | S32 | U64 | S64 | F16 | BF16),
        AtomOp::Inc | AtomOp::Dec => element == U32,
        _ => matches!(element, U32 | S32 | U64),
    }
}

/// Subnormal values of `float` become zeros of their sign.
fn flush(data: &mut [u8]) {
    for element in data.as_chunks_mut().0 {
        let value = f32::from_le_bytes(*element);
        if value.is_subnormal() {
            *element = 0f32.copysign(value).to_le_bytes();
        }
    }
}

/// # Safety
/// The bytes are allocated.
unsafe fn read_global(from: u64, to: &mut [u8]) {
    // SAFETY: the caller's.
    unsafe { to.as_mut_ptr().copy_from_nonoverlapping(from as *const u8, to.len()) };
}
