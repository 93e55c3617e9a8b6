//! Work that begins although the host waits for nothing.
//!
//! The emulator works while a call waits. A host may watch memory that kernels write (managed, pinned,
//! registered) without any call of CUDA's; for such a host a thread does the work, turn by turn, as soon as the
//! host has been silent for a while. It is begun by the first launch while there is such memory, and holds the
//! device's lock for a turn at a time, so that a call waits for one turn at most. What kernels print is handed
//! out by the host's calls, as before.
//!
//! Not here: functions of the host in streams (`host.rs`), whose thread waits as any host thread does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

use cdp_emulator::OwnThread;

use super::state::State;

/// Time between two looks at what the host does.
const TICK: Duration = Duration::from_millis(25);
/// Looks that find the host silent before work begins. Much longer than a host is between two launches, so that
/// what they do does not depend on how fast it is.
const SILENT_TICKS: u32 = 4;
/// The same where a seed promises one order: longer than hosts compute between two calls that queue and wait, so that
/// only one that would watch for ever finds work done.
const SILENT_TICKS_OF_A_SEED: u32 = 60;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread waits for.
#[derive(Default)]
struct Asked {
    /// Work may be queued.
    armed: bool,
    /// Nobody needs the thread any more.
    ended: bool,
}

#[derive(Default)]
struct Signal {
    asked: Mutex<Asked>,
    change: Condvar,
    calls: Calls,
}

/// Counts the calls that hosts make to a device, before they wait for its lock.
#[derive(Clone, Default)]
pub struct Calls(Arc<AtomicU64>);

impl Calls {
    /// One more.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The thread of a device, or that there is none yet.
pub struct Unasked {
    device: Weak<Mutex<State>>,
    signal: Arc<Signal>,
    begun: bool,
    /// Looks that find the host silent before work begins.
    ticks: u32,
}

impl Unasked {
    /// For a device whose hosts' calls are counted, perhaps with a schedule's seed; without a thread.
    pub fn new(device: Weak<Mutex<State>>, calls: Calls, seeded: bool) -> Unasked {
        let signal = Arc::new(Signal { calls, ..Signal::default() });
        let ticks = if seeded { SILENT_TICKS_OF_A_SEED } else { SILENT_TICKS };
        Unasked { device, signal, begun: false, ticks }
    }

    /// Work has been queued that a silent host may watch. The caller holds the device's lock.
    pub fn arm(&mut self) {
        let mut asked = lock(&self.signal.asked);
        if std::mem::replace(&mut asked.armed, true) {
            return;
        }
        self.signal.change.notify_one();
        if !std::mem::replace(&mut self.begun, true) {
            let (device, signal, ticks) = (self.device.clone(), self.signal.clone(), self.ticks);
            // Without a thread a host that watches waits for ever, as it did before; others need none.
            let _ = std::thread::Builder::new().spawn(move || watch(&device, &signal, ticks));
        }
    }

    /// Ends the thread after the turn that it is in.
    pub fn end(&self) {
        lock(&self.signal.asked).ended = true;
        self.signal.calls.count();
        self.signal.change.notify_one();
    }
}

impl Drop for Unasked {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread.
fn watch(device: &Weak<Mutex<State>>, signal: &Signal, ticks: u32) {
    let _own = OwnThread::new();
    while signal.wait_until_armed() {
        let seen = signal.calls.so_far();
        let silent = (0..ticks).all(|_| {
            std::thread::sleep(TICK);
            signal.calls.so_far() == seen
                && device.upgrade().is_some_and(|device| !is_locked(&device))
        });
        if let Some(device) = device.upgrade()
            && silent
        {
            work(&device, signal, seen);
        }
    }
}

impl Signal {
    /// False if the thread is to end.
    fn wait_until_armed(&self) -> bool {
        let mut asked = lock(&self.asked);
        while !asked.armed && !asked.ended {
            asked = self.change.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        !asked.ended
    }
}

fn is_locked(device: &Mutex<State>) -> bool {
    matches!(device.try_lock(), Err(TryLockError::WouldBlock))
}

/// Does what is queued until the host makes a call.
fn work(device: &Mutex<State>, signal: &Signal, seen: u64) {
    while signal.calls.so_far() == seen {
        let mut state = match device.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if !state.turn_unasked() {
            // Nothing can be queued meanwhile: that takes the device's lock.
            lock(&signal.asked).armed = false;
            return;
        }
    }
}
