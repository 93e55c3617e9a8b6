//! What the driver's calls keep of a process on the CPU device: whether it has been initialised, contexts, and which
//! of them are current on a thread. There is one device, so that all contexts see the same memory.
//!
//! On a GPU nothing of this is used but [`is_mixed`]: the driver keeps its own.

use std::sync::atomic::{AtomicBool, Ordering};

static INITIALISED: AtomicBool = AtomicBool::new(false);
static MIXED: AtomicBool = AtomicBool::new(false);

/// `cuInit`
pub fn initialise() {
    INITIALISED.store(true, Ordering::Relaxed);
}

/// Whether `cuInit` has been called, or a call of the runtime that does it.
pub fn is_initialised() -> bool {
    INITIALISED.load(Ordering::Relaxed)
}

/// The program calls the driver of its GPU itself from now on.
pub fn mixed() {
    MIXED.store(true, Ordering::Relaxed);
}

/// Whether the program calls the driver of its GPU itself, so that contexts, streams and events may be its own.
pub fn is_mixed() -> bool {
    MIXED.load(Ordering::Relaxed)
}

/// Contexts of the CPU device.
pub mod context {
    use std::cell::{Cell, RefCell};
    use std::collections::HashMap;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The device's primary context. Handles are addresses that nothing else has.
    pub fn primary() -> u64 {
        static PLACE: u8 = 0;
        &raw const PLACE as u64
    }

    /// What is known of a context.
    #[derive(Clone, Copy, Default)]
    pub struct Context {
        /// The flags of `cuCtxCreate`.
        pub flags: u32,
        /// Its number, as `cuCtxGetId` has it.
        pub id: u64,
    }

    /// The contexts of the process.
    #[derive(Default)]
    pub struct Contexts {
        /// Those that `cuCtxCreate` made, by handle.
        pub made: HashMap<u64, Context>,
        /// How often the primary one is held.
        pub held: u32,
        /// Flags of the primary one.
        pub flags: u32,
        count: u64,
    }

    impl Contexts {
        /// Makes a context; its handle.
        pub fn make(&mut self, flags: u32) -> u64 {
            self.count += 1;
            let handle = Box::leak(Box::new(0u8)) as *const u8 as u64;
            self.made.insert(handle, Context { flags, id: self.count + 1 });
            handle
        }

        /// What is known of a context, `None` if there is none of that handle.
        pub fn get(&self, handle: u64) -> Option<Context> {
            if handle == primary() {
                return Some(Context { flags: self.flags, id: 1 });
            }
            self.made.get(&handle).copied()
        }
    }

    static CONTEXTS: Mutex<Option<Contexts>> = Mutex::new(None);

    thread_local! {
        static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        static EMPTY: Cell<bool> = const { Cell::new(true) };
    }

    /// Works on the process's contexts.
    pub fn with<T>(work: impl FnOnce(&mut Contexts) -> T) -> T {
        let mut all: MutexGuard<'_, Option<Contexts>> =
            CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        work(all.get_or_insert_with(Contexts::default))
    }

    fn on_stack<T>(work: impl FnOnce(&mut Vec<u64>) -> T) -> T {
        STACK.with_borrow_mut(|stack| {
            let result = work(stack);
            EMPTY.set(stack.is_empty());
            result
        })
    }

    /// The calling thread's context, 0 if it has none.
    pub fn current() -> u64 {
        STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
    }

    /// Makes a context current; what was current lies below it.
    pub fn push(handle: u64) {
        on_stack(|stack| stack.push(handle));
    }

    /// The context that was current, now no longer.
    pub fn pop() -> Option<u64> {
        on_stack(Vec::pop)
    }

    /// Puts a context in the place of the current one; 0 leaves none there.
    pub fn set(handle: u64) {
        on_stack(|stack| {
            stack.pop();
            if handle != 0 {
                stack.push(handle);
            }
        });
    }

    /// A call of the runtime makes the primary context current where none is.
    pub fn used_by_the_runtime() {
        // It is called by every call: a plain flag first.
        if EMPTY.get() {
            super::initialise();
            push(primary());
        }
    }
}
