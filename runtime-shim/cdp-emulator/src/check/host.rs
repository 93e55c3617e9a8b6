//! What host code itself reads and writes (`crate::host_code`), and what it learns by that.
//!
//! All threads of host code are one: what one of them waited for, all know. What functions in streams waited for host code
//! knows once it has met their thread.

use std::sync::Arc;

use super::access::{Access, Manner};
use super::block::BlockState;
use super::sync::{self, Strong};
use super::{Origin, Watch};
use crate::code::{Order, Reach, Sem};
use crate::host_code::{HostAccess, HostDeed, HostLog, HostOrder};
use crate::memory::{AllocKind, Table};
use crate::report::{Bytes, ReportKind};

/// An access of host code to what is no memory of its.
#[derive(Clone, Debug)]
pub struct Trespass {
    /// What it is.
    pub kind: ReportKind,
    /// In words.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// Where in host code.
    pub place: u32,
    /// First byte.
    pub address: u64,
    /// How often.
    pub count: u64,
}

impl HostAccess {
    fn order(&self) -> Order {
        let sem = match (self.order, self.deed) {
            (HostOrder::Weak, _) => Sem::Weak,
            (HostOrder::Relaxed, _) => Sem::Relaxed,
            (HostOrder::Acquire, _) | (HostOrder::Volatile, HostDeed::Read) => Sem::Acquire,
            (HostOrder::Release, _) | (HostOrder::Volatile, HostDeed::Write) => Sem::Release,
            (HostOrder::Both | HostOrder::Volatile, _) => Sem::AcqRel,
        };
        Order { sem, reach: Reach::Device }
    }

    fn origin(&self) -> Origin {
        Origin { function: Origin::HOST_CODE, instruction: self.place }
    }

    fn writes(&self) -> bool {
        matches!(self.deed, HostDeed::Write | HostDeed::Update)
    }
}

impl Watch {
    /// Hears what host code did since it was heard last.
    pub fn hear(&mut self, log: &HostLog, memory: &Table) {
        self.host_tells |= log.tells();
        if !log.waits() {
            return;
        }
        let accesses = log.take();
        self.contents_of_host(&accesses, memory);
        if !self.follows_order() {
            return;
        }
        let mut state = std::mem::take(&mut self.host_state);
        state.base = Some(Arc::new(self.host.clone()));
        state.ordered = Default::default();
        for access in &accesses {
            self.host_does(&mut state, access);
            let learned = state.thread(0).learned.take();
            let told = if access.deed == HostDeed::Meet { self.told.take() } else { None };
            for view in [learned, told].into_iter().flatten() {
                self.host.join(&view);
                state.base = Some(Arc::new(self.host.clone()));
            }
        }
        self.host_state = state;
    }

    /// A function in a stream did this, for which `state` stands.
    pub fn function_does(&mut self, state: &mut BlockState, accesses: &[HostAccess]) {
        for access in accesses {
            self.host_does(state, access);
        }
    }

    fn host_does(&mut self, state: &mut BlockState, access: &HostAccess) {
        let (address, bytes, order) = (access.address, access.bytes, access.order());
        match access.deed {
            HostDeed::Meet | HostDeed::Escape => {}
            HostDeed::Fence => sync::fence(state, 0, order, self.now()),
            _ if access.order == HostOrder::Weak || bytes > 16 => {
                self.touch_range(state, access.origin(), address, bytes, access.writes());
            }
            deed => {
                let reads = deed != HostDeed::Write;
                let strong = Access {
                    origin: access.origin(),
                    first_thread: 0,
                    at: &[address; 32],
                    lanes: 1,
                    bytes,
                    shared: false,
                    base: 0,
                    reads,
                    writes: access.writes(),
                    kind: Manner::Own,
                    was: None,
                    order,
                    tells: true,
                    value: None,
                };
                self.access(state, &strong);
            }
        }
    }

    /// Looks whether host code may touch what it touches, and notes what it writes.
    pub fn contents_of_host(&mut self, accesses: &[HostAccess], memory: &Table) {
        for access in accesses {
            if matches!(access.deed, HostDeed::Meet | HostDeed::Fence) {
                continue;
            }
            if let Some(found) = trespass(access, memory) {
                self.findings.add_trespass(found);
            }
            if !self.checks.uninitialized {
                continue;
            }
            match access.deed {
                HostDeed::Escape => {
                    if let Some(record) = memory.record_at(access.address) {
                        self.fresh.write(record.base, record.size_bytes);
                    }
                }
                _ if access.writes() => self.fresh.write(access.address, access.bytes),
                _ => {}
            }
        }
    }

    /// A thread has read strongly what host code may have released since it passed the door: it has seen that.
    pub fn polled(&mut self, state: &mut BlockState, thread: u32, address: u64, order: Order) {
        let strong = Strong { reads: true, writes: false, keeps: false, order };
        self.strong_global(state, thread, address, strong);
    }
}

/// What is wrong with an access of host code, if it is none to memory that is the host's too.
fn trespass(access: &HostAccess, memory: &Table) -> Option<Trespass> {
    if access.deed == HostDeed::Escape {
        return None;
    }
    let (address, bytes) = (access.address, access.bytes);
    let verb = if access.writes() { "writes" } else { "reads" };
    let what = format!("host code {verb} {}", Bytes(bytes));
    let found = |kind, message, help| {
        Some(Trespass { kind, message, help, place: access.place, address, count: 1 })
    };
    const OUTSIDE: &str = "managed and pinned memory has as many bytes as were asked for";
    let Some(record) = memory.record_at(address) else {
        return match memory.nearest(address) {
            Some(near) => found(
                ReportKind::OutOfBounds,
                format!(
                    "{what} at {address:#x}, outside of the allocation of {} at {:#x}",
                    Bytes(near.size_bytes),
                    near.base
                ),
                OUTSIDE,
            ),
            None => found(
                ReportKind::OutOfBounds,
                format!("{what} at {address:#x}, where nothing is allocated"),
                OUTSIDE,
            ),
        };
    };
    let offset = address - record.base;
    let of = format!("offset {offset} of an allocation of {}", Bytes(record.size_bytes));
    match record.kind {
        AllocKind::Host | AllocKind::DeviceHeap | AllocKind::ParameterBuffer => found(
            ReportKind::ForeignAddress,
            format!("{what} at {of}, which is the device's"),
            "host code cannot touch memory of cudaMalloc or of device code: copy it with cudaMemcpy, or allocate it with \
             cudaMallocManaged",
        ),
        _ if !record.live => found(
            ReportKind::UseAfterFree,
            format!("{what} at {of}, which was released"),
            "no access may come after cudaFree or cudaFreeHost",
        ),
        _ if offset + bytes > record.size_bytes => {
            let behind = offset + bytes - record.size_bytes;
            let size = Bytes(record.size_bytes);
            let message =
                format!("host code {verb} {} behind an allocation of {size}", Bytes(behind));
            found(ReportKind::OutOfBounds, message, OUTSIDE)
        }
        _ => None,
    }
}
