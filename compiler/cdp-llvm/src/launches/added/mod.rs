//! Blocks whose threads add up: where each thread of a block puts what it has into shared memory, and all together put these
//! together, by halves or otherwise, until one thread adds the sum to memory by an atomic operation, each thread may as well
//! add its own there. Such a child has neither barriers nor shared memory, so that it can be run by other threads, which add up
//! in registers ([`super::sums`]).
//!
//! Legality. The block is run here, thread by thread, with values that are numbers or sums of what threads have put there
//! (`added.cpp`), and it must be seen that each such sum is of all threads, each once, and goes to one place that is the same
//! for all of them; that no word is touched by two threads without a barrier between, of which one writes; and that threads do
//! nothing else once they have begun. So nothing rests on how a program adds up, and what is not understood is left. It holds
//! for blocks of the size that was tried alone. Integers only: sums of others depend on their order.
//! Another grid that looks at the sum while the child runs may see a part of a block's; when the child is complete, all is there.
//!
//! What is absent: what else a child may not do ([`super::child`]).

use inkwell::values::FunctionValue;

use super::child::{self, Child};
use crate::raw::view;

/// Threads of a block that is tried.
const MOST_THREADS: u32 = 256;

/// The child that a kernel is in blocks of one size, if these add up.
pub(super) fn child<'ctx>(
    kernel: FunctionValue<'ctx>,
    block: [Option<u32>; 3],
) -> Option<Child<'ctx>> {
    let [x, y, z] = [block[0]?, block[1]?, block[2]?];
    let threads = x.checked_mul(y)?.checked_mul(z)?;
    if !(1..=MOST_THREADS).contains(&threads) {
        return None;
    }
    let copy = view::added_up(kernel, [x, y, z])?;
    let child = child::child(copy);
    // SAFETY: the copy was made here, and nothing calls or launches it.
    unsafe { copy.delete() };
    child.ok().map(|child| Child { added: true, ..child })
}

#[cfg(test)]
mod tests;
