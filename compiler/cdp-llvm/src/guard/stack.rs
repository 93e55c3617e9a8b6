//! Guarded work on the caller's thread, on a stack of its own: no other thread has to wake up and to be
//! waited for. LLVM's fatal error leaves the stack behind and goes on in the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::{ABANDON, Ending, STACK_BYTES, Stopped, panic_text};

/// Stacks that nobody uses.
static WAITING: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

/// The most stacks kept.
const MAX_WAITING: usize = 16;

/// What a stack keeps of its memory while it waits. The rest, which a deep program needed, goes back.
const KEPT_BYTES: usize = 1 << 20;

/// Runs `work` on a stack.
pub(super) fn run(work: Box<dyn FnOnce() + Send>) -> Result<Ending, Stopped> {
    let stack = take().map_err(|error| Stopped::NoThread(error.to_string()))?;
    let body = move |yielder: &Yielder<(), Ending>, ()| {
        let yielder: *const Yielder<(), Ending> = yielder;
        let abandon = Box::new(move |message| {
            // SAFETY: the yielder lives on the stack that this is called from.
            unsafe { &*yielder }.suspend(Ending::Fatal(message));
        });
        ABANDON.set(Some(abandon));
        let ending = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(()) => Ending::Done,
            Err(panic) => Ending::Panic(panic_text(panic.as_ref())),
        };
        ABANDON.set(None);
        ending
    };
    let mut coroutine = Coroutine::with_stack(stack, body);
    match coroutine.resume(()) {
        CoroutineResult::Return(ending) => {
            give_back(coroutine.into_stack());
            Ok(ending)
        }
        CoroutineResult::Yield(ending) => {
            // LLVM's frames can be neither left nor unwound: they stay, with their stack.
            std::mem::forget(coroutine);
            Ok(ending)
        }
    }
}

fn take() -> std::io::Result<DefaultStack> {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner).pop();
    waiting.map_or_else(|| DefaultStack::new(STACK_BYTES), Ok)
}

fn give_back(stack: DefaultStack) {
    #[cfg(unix)]
    {
        let unused = stack.base().get() - stack.limit().get() - KEPT_BYTES;
        // SAFETY: pages of the stack, on which nothing runs; what stands on them may be forgotten.
        unsafe { libc::madvise(stack.limit().get() as *mut _, unused, libc::MADV_DONTNEED) };
    }
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.len() < MAX_WAITING {
        waiting.push(stack);
    }
}
