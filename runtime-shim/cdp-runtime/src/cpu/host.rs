//! What host code adds to the CPU device: functions that run in the order of a stream, memory that it
//! registers, and advice about managed memory.
//!
//! A host function runs on a thread of its own, as in CUDA. The emulator's work is done when somebody waits
//! for it, so that this thread waits for the work before the function, and whoever comes to the device while
//! a function is due waits for that first.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cdp_emulator::{OwnThread, StreamId};

use super::state::{State, Work};
use crate::device::{HostWork, Location, MemoryType};
use crate::error::{CudaError, DeviceError, Result};

/// A host function and the stream in which it waits.
type Due = (StreamId, HostWork);

thread_local! {
    /// This is the thread that calls host functions.
    static CALLS_BACK: Cell<bool> = const { Cell::new(false) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this is a host function, not the host code that launches.
pub fn is_in_a_function() -> bool {
    CALLS_BACK.try_with(Cell::get).unwrap_or(false)
}

/// The host functions of a device.
#[derive(Default)]
pub struct HostFunctions {
    due: Arc<(Mutex<usize>, Condvar)>,
    sender: Mutex<Option<Sender<Due>>>,
}

impl HostFunctions {
    /// Whether a function has yet to run. The functions themselves are not asked to wait for each other.
    pub fn are_due(&self) -> bool {
        !CALLS_BACK.get() && *lock(&self.due.0) > 0
    }

    /// Waits until no function is due.
    pub fn settle(&self) {
        if CALLS_BACK.get() {
            return;
        }
        let mut due = lock(&self.due.0);
        while *due > 0 {
            due = self.due.1.wait(due).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Queues a function; begins the thread if this is the first.
    pub fn queue(&self, state: &Arc<Mutex<State>>, stream: StreamId, work: HostWork) {
        let mut sender = lock(&self.sender);
        let sender = sender.get_or_insert_with(|| begin(state.clone(), self.due.clone()));
        *lock(&self.due.0) += 1;
        if sender.send((stream, work)).is_err() {
            // The thread has ended, which only a panic of a function makes it do.
            *lock(&self.due.0) -= 1;
        }
    }
}

fn begin(state: Arc<Mutex<State>>, due: Arc<(Mutex<usize>, Condvar)>) -> Sender<Due> {
    let (sender, receiver) = channel::<Due>();
    std::thread::spawn(move || {
        let _own = OwnThread::new();
        CALLS_BACK.set(true);
        for (stream, work) in receiver {
            let done = {
                let mut state = lock(&state);
                super::streams::arrive(&mut state.emulator);
                state.emulator.hear_host_code();
                state.emulator.set_function_waits(true);
                let done = state.wait_for(Work::Turn(stream));
                state.emulator.set_function_waits(false);
                done
            };
            work(done.err().map_or(CudaError::SUCCESS, |error| error.code));
            let mut state = lock(&state);
            state.emulator.set_function_waits(true);
            // A stream that is gone has nothing behind the function.
            let _ = state.emulator.function_did(stream);
            state.emulator.set_function_waits(false);
            drop(state);
            *lock(&due.0) -= 1;
            due.1.notify_all();
        }
    });
    sender
}

/// Memory of the host that kernels may use.
#[derive(Default)]
pub struct HostMemory {
    /// First addresses of what the program registered.
    pub registered: BTreeSet<u64>,
    /// Flags of what `cudaHostAlloc` gave, by address.
    pub flags: HashMap<u64, u32>,
}

/// `cudaInvalidDeviceId`
const NO_DEVICE: i32 = -2;
/// `cudaCpuDeviceId`
const HOST_DEVICE: i32 = -1;

/// What was said of one allocation of managed memory. It has no consequence but that it can be asked for.
#[derive(Default)]
struct Hint {
    read_mostly: bool,
    preferred: Option<Location>,
    accessed_by: BTreeSet<i32>,
    prefetched: Option<Location>,
}

/// Advice by allocation.
#[derive(Default)]
pub struct Hints(HashMap<u64, Hint>);

fn id(location: Location) -> i32 {
    if location.kind == Location::DEVICE { location.id } else { HOST_DEVICE }
}

/// A location that there is: device 0 or the host.
fn check(location: Location) -> Result<()> {
    match (location.kind, location.id) {
        (Location::DEVICE, 0) | (Location::HOST..=4, _) => Ok(()),
        (Location::DEVICE, _) => Err(CudaError::INVALID_DEVICE.into()),
        _ => Err(CudaError::INVALID_VALUE.into()),
    }
}

impl Hints {
    /// The hint for the allocation that holds a range of managed memory.
    fn of(&mut self, state: &State, address: u64, bytes: u64) -> Result<&mut Hint> {
        let invalid = || DeviceError::from(CudaError::INVALID_VALUE);
        let info = state.emulator.pointer_info(address).ok_or_else(invalid)?;
        let managed = state.pointer_info(address).memory == MemoryType::Managed;
        let inside = address - info.base + bytes <= info.size_bytes;
        if !managed || bytes == 0 || !inside {
            return Err(invalid());
        }
        Ok(self.0.entry(info.base).or_default())
    }

    /// `cudaMemAdvise`
    pub fn advise(
        &mut self,
        state: &State,
        range: (u64, u64),
        advice: u32,
        location: Location,
    ) -> Result<()> {
        if matches!(advice, 3 | 5 | 6) {
            check(location)?;
        }
        let hint = self.of(state, range.0, range.1)?;
        match advice {
            1 => hint.read_mostly = true,
            2 => hint.read_mostly = false,
            3 => hint.preferred = Some(location),
            4 => hint.preferred = None,
            5 => drop(hint.accessed_by.insert(id(location))),
            6 => drop(hint.accessed_by.remove(&id(location))),
            _ => return Err(CudaError::INVALID_VALUE.into()),
        }
        Ok(())
    }

    /// `cudaMemPrefetchAsync`
    pub fn prefetch(&mut self, state: &State, range: (u64, u64), location: Location) -> Result<()> {
        check(location)?;
        self.of(state, range.0, range.1)?.prefetched = Some(location);
        Ok(())
    }

    /// `cudaMemRangeGetAttribute`
    pub fn attribute(
        &mut self,
        state: &State,
        range: (u64, u64),
        attribute: u32,
        data: &mut [u8],
    ) -> Result<()> {
        let hint = self.of(state, range.0, range.1)?;
        let device = |location: Option<Location>| location.map_or(NO_DEVICE, id);
        let kind = |location: Option<Location>| location.map_or(0, |found| found.kind as i32);
        let numbers = match attribute {
            1 => vec![i32::from(hint.read_mostly)],
            2 | 6 => vec![device(hint.preferred)],
            3 => {
                let room = data.len() / 4;
                let known = hint.accessed_by.iter().copied();
                known.chain(std::iter::repeat(NO_DEVICE)).take(room).collect()
            }
            4 | 8 => vec![device(hint.prefetched)],
            5 => vec![kind(hint.preferred)],
            7 => vec![kind(hint.prefetched)],
            _ => return Err(CudaError::INVALID_VALUE.into()),
        };
        if data.len() != numbers.len() * 4 || data.is_empty() {
            return Err(CudaError::INVALID_VALUE.into());
        }
        for (slot, number) in data.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    }
}
