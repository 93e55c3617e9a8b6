//! The host threads of a device and the pieces of work that they take from each other.
//!
//! A piece lies in a queue until a thread takes it or its owner wants it back. Idle threads look for a short
//! while, then sleep. What a piece is, and what comes of it, is in [`super::share`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicIsize, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::share::{Lent, Outcome};
use crate::own_threads::OwnThread;

/// Looks at the queue before a thread sleeps.
const LOOKS: u32 = 4000;
/// Pieces that a waiting thread may be in at once.
const MOST_NESTED: u32 = 16;

const QUEUED: u8 = 0;
const TAKEN: u8 = 1;
const DONE: u8 = 2;
const BACK: u8 = 3;

/// A piece of work.
#[derive(Debug)]
pub struct Task {
    state: AtomicU8,
    work: Mutex<Option<Box<Lent>>>,
    result: Mutex<Option<Box<Outcome>>>,
}

#[derive(Debug, Default)]
struct Queue {
    tasks: VecDeque<Arc<Task>>,
    sleeping: usize,
    waiting: usize,
    stop: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Something lies in the queue, or the pool ends.
    wake: Condvar,
    /// A piece is done.
    done: Condvar,
    /// Pieces in the queue.
    queued: AtomicUsize,
    /// Threads without work less pieces in the queue.
    hungry: AtomicIsize,
}

/// The threads. They end when the last owner of the pool goes.
#[derive(Debug)]
pub struct Pool(Arc<Shared>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// A pool of so many threads besides the caller's. Fewer if the system gives no more.
    pub fn new(threads: usize) -> Pool {
        let shared = Arc::new(Shared::default());
        // They are hungry from the start, so that work is there when they come.
        shared.hungry.store(threads as isize, Ordering::Relaxed);
        Shared::spawn(&shared, 0, threads);
        Pool(shared)
    }

    /// Threads wait for work that nobody has offered yet.
    #[inline]
    pub fn is_hungry(&self) -> bool {
        self.0.hungry.load(Ordering::Relaxed) > 0
    }

    /// How many.
    pub fn hungry(&self) -> u64 {
        self.0.hungry.load(Ordering::Relaxed).max(0) as u64
    }

    /// Offers a piece of work.
    pub fn give(&self, lent: Box<Lent>) -> Arc<Task> {
        let task = Arc::new(Task {
            state: AtomicU8::new(QUEUED),
            work: Mutex::new(Some(lent)),
            result: Mutex::new(None),
        });
        self.0.hungry.fetch_sub(1, Ordering::Relaxed);
        let mut queue = lock(&self.0.queue);
        queue.tasks.push_back(task.clone());
        self.0.queued.fetch_add(1, Ordering::Release);
        if queue.sleeping > 0 {
            self.0.wake.notify_one();
        }
        task
    }

    /// Takes a piece back that no thread has begun. False if one has.
    pub fn take_back(&self, task: &Task) -> bool {
        let back = task.claim(BACK);
        if back {
            lock(&task.work).take();
        }
        back
    }

    /// Waits until a piece is done, meanwhile at work on others. `None` if its thread failed.
    pub fn wait(&self, task: &Task, nested: u32) -> Option<Box<Outcome>> {
        self.finish(task, nested);
        lock(&task.result).take()
    }

    /// Waits until a piece that a thread has begun is done.
    pub fn finish(&self, task: &Task, nested: u32) {
        let mut looks = 0;
        while task.state.load(Ordering::Acquire) != DONE {
            if nested < MOST_NESTED && self.0.queued.load(Ordering::Acquire) > 0 {
                let other = lock(&self.0.queue).tasks.pop_front();
                if let Some(other) = other {
                    self.0.queued.fetch_sub(1, Ordering::Relaxed);
                    // The thread that it was meant for is still without work.
                    self.0.hungry.fetch_add(1, Ordering::Relaxed);
                    self.0.run(&other, nested + 1);
                    continue;
                }
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
                continue;
            }
            let mut queue = lock(&self.0.queue);
            queue.waiting += 1;
            while task.state.load(Ordering::Acquire) != DONE && queue.tasks.is_empty() {
                queue = self.0.done.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            queue.waiting -= 1;
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.0.queue).stop = true;
        self.0.wake.notify_all();
    }
}

impl Task {
    fn claim(&self, state: u8) -> bool {
        self.state.compare_exchange(QUEUED, state, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Shared {
    /// Begins the threads from `first` to `end`: one, which begins the others, each half of them another one. To begin a
    /// thread takes longer than a small grid.
    fn spawn(shared: &Arc<Shared>, first: usize, end: usize) {
        if first == end {
            return;
        }
        let of_thread = shared.clone();
        let life = move || {
            let _own = OwnThread::new();
            let middle = first + 1 + (end - first - 1) / 2;
            Shared::spawn(&of_thread, first + 1, middle);
            Shared::spawn(&of_thread, middle, end);
            of_thread.work();
        };
        let spawned = std::thread::Builder::new().name("cdp device".to_string()).spawn(life);
        if spawned.is_err() {
            shared.hungry.fetch_sub((end - first) as isize, Ordering::Relaxed);
        }
    }

    /// The life of a thread.
    fn work(&self) {
        let mut looks = 0;
        loop {
            if self.queued.load(Ordering::Acquire) == 0 && looks < LOOKS {
                looks += 1;
                std::hint::spin_loop();
                continue;
            }
            let mut queue = lock(&self.queue);
            let Some(task) = queue.tasks.pop_front() else {
                if queue.stop {
                    return;
                }
                if looks >= LOOKS {
                    queue.sleeping += 1;
                    queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    queue.sleeping -= 1;
                }
                looks = 0;
                continue;
            };
            drop(queue);
            self.queued.fetch_sub(1, Ordering::Relaxed);
            self.run(&task, 0);
            self.hungry.fetch_add(1, Ordering::Relaxed);
            looks = 0;
        }
    }

    /// Runs a piece, unless its owner took it back.
    fn run(&self, task: &Task, nested: u32) {
        if !task.claim(TAKEN) {
            return;
        }
        let Some(lent) = lock(&task.work).take() else { return };
        let outcome = catch_unwind(AssertUnwindSafe(|| lent.run(nested))).ok();
        *lock(&task.result) = outcome;
        task.state.store(DONE, Ordering::Release);
        let queue = lock(&self.queue);
        if queue.waiting > 0 {
            self.done.notify_all();
        }
    }
}
