//! Work beside other work, on threads of its own.

use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle};

/// Makes something of each item, on threads of their own but for the first; in the items' order.
pub(crate) fn all_beside<T: Sync, U: Send>(
    items: &[T],
    make: &(impl Fn(&T) -> U + Sync),
) -> Vec<U> {
    let [first, others @ ..] = items else { return Vec::new() };
    std::thread::scope(|scope| {
        let start = |item| Builder::new().spawn_scoped(scope, move || make(item)).map_err(|_| item);
        let threads: Vec<_> = others.iter().map(start).collect();
        let first = make(first);
        let others = threads.into_iter().map(|thread| thread.map_or_else(make, joined));
        [first].into_iter().chain(others).collect()
    })
}

/// What a thread made; its panic is this thread's.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
