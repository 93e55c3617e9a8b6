//! What is wrong with an access that failed its check: the fault, with its kind and its sentence.
//!
//! Nothing here is reached by accesses that are right, except the checks of single lanes for
//! atomics.

use super::fault::Fault;
use super::{Block, Machine, Step, Warp, action};
use crate::config::CheckAction;
use crate::lanes::lanes_of;
use crate::memory::space::{self, Window};
use crate::memory::{AllocKind, Extent, SiteRef};
use crate::report::{Bytes, ReportKind};

/// Addresses of the lanes of a warp; inactive lanes repeat an active one.
pub type Addresses = [u64; 32];

/// The cure of addresses that reach a thread which cannot use them.
const FOREIGN_HELP: &str = "only global memory is common to parents, children and blocks; pass memory from \
    cudaMalloc, malloc or a __device__ variable";
/// The cure of memory that is released while somebody uses it.
pub const RELEASE_HELP: &str = "memory is released when all who use it are done: by the last of them, behind a \
    barrier, or in a kernel launched into cudaStreamTailLaunch, which comes after all children";

/// Names the lane of a fault.
pub trait OnLane {
    /// The fault, of this lane.
    fn on(self, lane: usize) -> Self;
}

impl OnLane for Box<Fault> {
    fn on(mut self, lane: usize) -> Box<Fault> {
        self.lane = Some(lane as u32);
        self
    }
}

/// What an access does, in words.
pub fn verb(write: bool) -> &'static str {
    if write { "store" } else { "load" }
}

/// An address that is not a multiple of the access size.
pub fn misaligned(address: u64, bytes: u64, write: bool) -> Box<Fault> {
    let message = format!(
        "{} of {bytes} bytes at {address:#x}, which is not a multiple of {bytes}",
        verb(write)
    );
    Fault::new(ReportKind::Misaligned, None, message).at(address)
}

/// Why an access to global memory is wrong.
#[cold]
pub fn bad_global(machine: &Machine, address: u64, bytes: u64, write: bool) -> Box<Fault> {
    let amount = Bytes(bytes);
    let what = verb(write);
    let elsewhere = match space::window(address) {
        Window::Global => None,
        Window::Shared => Some("the shared memory of a block"),
        Window::Local => Some("the local memory of a thread"),
        Window::Param => Some("the kernel parameters"),
        Window::Function => Some("a function"),
        Window::Invalid => Some("no memory at all"),
    };
    if let Some(elsewhere) = elsewhere {
        let message = format!(
            "{what} of {amount} at {address:#x}, which is {elsewhere} and not global memory"
        );
        let kind = match space::window(address) {
            Window::Shared | Window::Local => ReportKind::ForeignAddress,
            _ => ReportKind::OutOfBounds,
        };
        return Fault::new(kind, None, message).at(address).help(FOREIGN_HELP);
    }
    if address < 1 << 16 {
        let message = format!("{what} of {amount} through a null pointer (address {address:#x})");
        return Fault::new(ReportKind::NullAccess, None, message).at(address);
    }
    let record = machine.memory.record_at(address);
    let (kind, message) = match record {
        Some(record) if !record.live && address - record.base < record.size_bytes => (
            ReportKind::UseAfterFree,
            format!("{what} of {amount} at {address:#x}, in memory that was released"),
        ),
        Some(record)
            if record.live
                && address - record.base < record.size_bytes
                && write
                && !record.writable =>
        {
            (
                ReportKind::ReadOnlyWrite,
                format!("store of {amount} at {address:#x}, in {}", what_is_constant(&record.kind)),
            )
        }
        _ => (ReportKind::OutOfBounds, out_of_bounds_text(machine, address, bytes, what)),
    };
    let fault = Fault::new(kind, None, message).at(address);
    match kind {
        ReportKind::UseAfterFree => fault.help(RELEASE_HELP),
        _ => fault,
    }
}

/// What a record that kernels cannot write is.
fn what_is_constant(kind: &AllocKind) -> &'static str {
    match kind {
        AllocKind::Symbol(name) if crate::symbol::is_literal(name) => "a string literal",
        _ => "constant memory",
    }
}

/// Where an address lies relative to the nearest allocation.
pub fn out_of_bounds_text(machine: &Machine, address: u64, bytes: u64, what: &str) -> String {
    let amount = Bytes(bytes);
    let Some(near) = machine.memory.nearest(address) else {
        return format!("{what} of {amount} at {address:#x}, where nothing is allocated");
    };
    let end = near.base + near.size_bytes;
    if address < near.base {
        let distance = near.base - address;
        format!("{what} of {amount} at {address:#x}, {} before an allocation", Bytes(distance))
    } else if address < end {
        let beyond = address + bytes - end;
        format!(
            "{what} of {amount} at {address:#x} runs {} past the end of an allocation",
            Bytes(beyond)
        )
    } else {
        let distance = address - end;
        if distance == 0 {
            return format!(
                "{what} of {amount} at {address:#x}, right behind the end of an allocation"
            );
        }
        format!(
            "{what} of {amount} at {address:#x}, {} past the end of an allocation",
            Bytes(distance)
        )
    }
}

/// A read of shared memory that was never written, by the thread at `site`.
#[cold]
pub fn uninitialized(
    machine: &Machine,
    block: &mut Block,
    site: SiteRef,
    offset: u64,
    bytes: u64,
) -> Step<()> {
    let kind = ReportKind::UninitializedShared;
    let action = action(&machine.checks, kind);
    let is_here = |known: &Fault| {
        let place = known.site.map(|at| (at.function, at.instruction));
        known.kind == kind && place == Some((site.function, site.instruction))
    };
    // Programs that read ahead do so in a loop.
    let is_known = action != CheckAction::Stop && block.warnings.iter().any(is_here);
    if action == CheckAction::Off || is_known {
        return Ok(());
    }
    let message = format!(
        "load of {} at {}, which this block never wrote",
        Bytes(bytes),
        machine.shared_text(block.grid.kernel, offset)
    );
    let mut fault = Fault::new(kind, Some(site.thread & 31), message).help(
        "shared memory has no initial contents; write it, and __syncthreads(), before reading",
    );
    fault.site = Some(site);
    if action == CheckAction::Stop {
        return Err(fault);
    }
    block.warnings.push(*fault);
    Ok(())
}

/// Why an access to shared memory is wrong.
#[cold]
pub fn bad_shared(block: &Block, at: &Addresses, mask: u32, bytes: u64, write: bool) -> Box<Fault> {
    let amount = Bytes(bytes);
    let size = block.shared.len() as u64;
    for lane in lanes_of(mask) {
        let offset = at[lane];
        if offset >= space::WINDOW_BYTES || offset + bytes > size {
            let message = format!(
                "{} of {amount} at offset {offset} of shared memory; the block has {}",
                verb(write),
                Bytes(size)
            );
            let fault = Fault::new(ReportKind::OutOfBounds, None, message).on(lane);
            return if block.grid.dynamic_bytes == 0 && size == 0 {
                fault.help(
                    "give the size of `extern __shared__` memory as the launch's third argument",
                )
            } else {
                fault
            };
        }
        if offset & (bytes - 1) != 0 {
            return misaligned(offset, bytes, write).on(lane);
        }
    }
    misaligned(at[0], bytes, write)
}

/// Why an access to local memory is wrong.
#[cold]
pub fn bad_local(at: &Addresses, mask: u32, bytes: u64, end: u64, write: bool) -> Box<Fault> {
    let amount = Bytes(bytes);
    for lane in lanes_of(mask) {
        if at[lane] & (bytes - 1) != 0 {
            return misaligned(at[lane], bytes, write).on(lane);
        }
        if at[lane] >= space::WINDOW_BYTES || at[lane] + bytes > end {
            let message = format!(
                "{} of {amount} at offset {} of local memory; the thread's stack ends at {end}",
                verb(write),
                at[lane] as i64
            );
            return Fault::new(ReportKind::OutOfBounds, None, message).on(lane);
        }
    }
    misaligned(at[0], bytes, write)
}

/// Why an access to kernel parameters is wrong.
#[cold]
pub fn bad_param(block: &Block, offset: i64, bytes: u64, write: bool) -> Box<Fault> {
    if write {
        let message = "store to kernel parameters, which are read-only";
        return Fault::new(ReportKind::ReadOnlyWrite, None, message);
    }
    let message = format!(
        "load of {} at offset {offset} of the kernel parameters, which have {}",
        Bytes(bytes),
        Bytes(block.grid.params.len() as u64)
    );
    Fault::new(ReportKind::OutOfBounds, None, message)
}

/// Checks that a generic address outside of global memory belongs to the thread that uses it.
pub fn own(
    block: &Block,
    warp: &Warp,
    address: u64,
    lane: usize,
    bytes: u64,
    write: bool,
) -> Step<()> {
    let amount = Bytes(bytes);
    let what = verb(write);
    let foreign = |message: String| {
        Err(Fault::new(ReportKind::ForeignAddress, None, message)
            .at(address)
            .on(lane)
            .help(FOREIGN_HELP))
    };
    let here = space::truncated_serial(block.serial);
    match space::window(address) {
        Window::Global | Window::Param => Ok(()),
        Window::Shared if space::owner_serial(address) == here => Ok(()),
        Window::Shared => foreign(format!(
            "{what} of {amount} at {address:#x}, in the shared memory of another block"
        )),
        Window::Local if space::owner_serial(address) != here => foreign(format!(
            "{what} of {amount} at {address:#x}, in the local memory of a thread of another block or grid"
        )),
        Window::Local if space::local_thread(address) != warp.index * 32 + lane as u32 => {
            foreign(format!(
                "{what} of {amount} at {address:#x}, in the local memory of thread {} of the block",
                space::local_thread(address)
            ))
        }
        Window::Local => Ok(()),
        Window::Function => {
            let message = format!("{what} of {amount} at {address:#x}, which is a function");
            Err(Fault::new(ReportKind::OutOfBounds, None, message).at(address).on(lane))
        }
        Window::Invalid => {
            let message = format!("{what} of {amount} at {address:#x}, which is no address");
            Err(Fault::new(ReportKind::OutOfBounds, None, message).at(address).on(lane))
        }
    }
}

/// Whether an access is of the word that an allocation ends in ([`space::WORD_BYTES`]).
pub fn is_last_word(extent: &Extent, address: u64, bytes: u64) -> bool {
    bytes == space::WORD_BYTES
        && address.is_multiple_of(bytes)
        && extent.hi.next_multiple_of(bytes) == address + bytes
}

/// Checks one lane's atomic on global memory.
pub fn check_one(machine: &Machine, address: u64, bytes: u64, lane: usize) -> Step<()> {
    match machine.memory.find(address) {
        Some(extent)
            if extent.writable
                && (bytes <= extent.hi - address || is_last_word(&extent, address, bytes)) => {}
        _ => return Err(bad_global(machine, address, bytes, true).on(lane)),
    }
    if address & (bytes - 1) != 0 {
        return Err(misaligned(address, bytes, true).on(lane));
    }
    Ok(())
}

/// Checks one lane's atomic on shared memory.
pub fn check_shared(block: &Block, offset: u64, bytes: u64, lane: usize) -> Step<()> {
    let at = [offset; 32];
    let size = block.shared.len() as u64;
    if offset & (bytes - 1) != 0 || offset >= space::WINDOW_BYTES || offset + bytes > size {
        return Err(bad_shared(block, &at, 1 << lane, bytes, true));
    }
    Ok(())
}
