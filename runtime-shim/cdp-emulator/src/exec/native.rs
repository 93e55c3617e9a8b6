//! Calls the machine code of a run, where there is some.

use super::path::Running;
use super::{Block, CachedExtent, Machine, Warp};
use crate::code::{Context, Entry};
use crate::memory::space;

/// Executes as much of the run of this number, from 1, as its machine code does, and gives the number of
/// instructions, which may be 0; the path goes on behind them. All lanes are active, and no check looks at
/// accesses.
#[inline(always)]
pub fn run(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    number: u32,
) -> u32 {
    let Some(workshop) = &machine.native else { return 0 };
    let function = run.function;
    let native = &function.runs[number as usize - 1];
    let entry = match native.entry() {
        Some(entry) => entry,
        None => match workshop.executed(function, native) {
            Some(entry) => entry,
            None => return 0,
        },
    };
    if !native.is_of_use() {
        return 0;
    }
    let done = call(machine, block, warp, run, entry);
    native.did(done);
    debug_assert!(done <= native.count, "machine code did {done} instructions");
    run.path.pc += done;
    done
}

/// Eight allocations are 24 numbers.
const _: () = assert!(size_of::<CachedExtent>() == 24);

fn call(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    entry: Entry,
) -> u32 {
    let tid = warp.tid.as_ptr();
    let warp: *mut Warp = warp;
    let shared_bytes = (block.shared.len() as u64).min(space::WINDOW_BYTES);
    let mut context = Context {
        registers: run.regs,
        // SAFETY: the warp is borrowed; code reads this field of it only.
        allocations: unsafe { (&raw const (*warp).cache).cast() },
        shared: block.shared.as_mut_ptr(),
        shared_bytes: if block.all_written { shared_bytes } else { 0 },
        parameters: block.grid.params.as_ptr(),
        parameter_bytes: block.grid.params.len() as u64,
        tid,
        ctaid: block.index.as_ptr(),
        ntid: block.grid.block.as_ptr(),
        nctaid: block.grid.grid.as_ptr(),
        loads: 0,
        stores: 0,
        shared_accesses: 0,
        interpret,
        find,
        branches: 0,
        code: &raw const run.function.code[run.path.pc as usize],
        machine: (&raw const *machine).cast(),
        warp: warp.cast(),
    };
    // SAFETY: code of this run, which keeps to its rows and looks at addresses before it uses them.
    let done = unsafe { entry(&raw mut context) };
    block.counters.load_transactions += context.loads;
    block.counters.store_transactions += context.stores;
    block.counters.shared_accesses += context.shared_accesses;
    block.counters.branches += context.branches;
    done
}

/// [`Context::find`].
#[cold]
unsafe extern "C" fn find(
    context: *mut Context,
    first: u64,
    end: u64,
    slot: u32,
    write: u32,
) -> u32 {
    // SAFETY: the context of a call, whose machine and warp nobody else uses now.
    let (machine, cache) = unsafe {
        let warp = (*context).warp.cast::<Warp>();
        (&*(*context).machine.cast::<Machine>(), &mut (*warp).cache)
    };
    let write = write != 0;
    let has = |cached: &CachedExtent| {
        first >= cached.lo && end <= if write { cached.write_hi } else { cached.hi }
    };
    let slot = (slot & 7) as usize;
    if let Some(&found) = cache.iter().find(|cached| has(cached)) {
        cache[slot] = found;
        return 1;
    }
    let Some(extent) = machine.memory.find(first) else { return 0 };
    let found = CachedExtent::from(extent);
    if !has(&found) {
        return 0;
    }
    if extent.lasting {
        cache[slot] = found;
    }
    1
}

/// [`Context::interpret`].
unsafe extern "C" fn interpret(context: *mut Context, number: u32) {
    // SAFETY: the context of a call, and an arithmetic instruction of its run.
    unsafe {
        let inst = &*(*context).code.add(number as usize);
        (inst.alu)((*context).registers, inst, u32::MAX);
    }
}
