//! Calls the machine code of a run, where there is some.

use super::path::Running;
use super::{Block, CachedExtent, Machine, Warp};
use crate::code::{Context, Entry};
use crate::memory::space;

/// Calls the code of runs for one warp in one turn: most of what code is told is the same for all of them.
pub struct Caller {
    context: Option<Context>,
}

/// Eight allocations are 24 numbers.
const _: () = assert!(size_of::<CachedExtent>() == 24);

impl Caller {
    /// Nothing was called yet.
    #[inline(always)]
    pub fn new() -> Caller {
        Caller { context: None }
    }

    /// Executes as much of the run of this number, from 1, as its machine code does, and gives the number of
    /// instructions, which may be 0; the path goes on behind them. All lanes are active, and no check looks at
    /// accesses. What the code counted is added by [`Caller::count`].
    #[inline(always)]
    pub fn run(
        &mut self,
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
        let done = self.call(machine, block, warp, run, entry);
        native.did(done);
        debug_assert!(done <= native.count, "machine code did {done} instructions");
        run.path.pc += done;
        done
    }

    #[inline(always)]
    fn call(
        &mut self,
        machine: &Machine,
        block: &mut Block,
        warp: &mut Warp,
        run: &Running<'_>,
        entry: Entry,
    ) -> u32 {
        let context = self.context.get_or_insert_with(|| first(machine, block, warp));
        let shared_bytes = (block.shared.len() as u64).min(space::WINDOW_BYTES);
        let warp: *mut Warp = warp;
        context.registers = run.regs;
        // SAFETY: the warp is borrowed; code reads this field of it only.
        context.allocations = unsafe { (&raw const (*warp).cache).cast() };
        context.warp = warp.cast();
        context.shared = block.shared.as_mut_ptr();
        context.shared_bytes = if block.all_written { shared_bytes } else { 0 };
        context.code = &raw const run.function.code[run.path.pc as usize];
        // SAFETY: code of this run, which keeps to its rows and looks at addresses before it uses them.
        unsafe { entry(context) }
    }

    /// Adds what code counted since this was last called.
    #[inline(always)]
    pub fn count(&mut self, block: &mut Block) {
        let Some(context) = &mut self.context else { return };
        block.counters.load_transactions += std::mem::take(&mut context.loads);
        block.counters.store_transactions += std::mem::take(&mut context.stores);
        block.counters.shared_accesses += std::mem::take(&mut context.shared_accesses);
        block.counters.branches += std::mem::take(&mut context.branches);
    }
}

/// What code is told; the rest is set at each call.
fn first(machine: &Machine, block: &Block, warp: &Warp) -> Context {
    Context {
        registers: std::ptr::null_mut(),
        allocations: std::ptr::null(),
        shared: std::ptr::null_mut(),
        shared_bytes: 0,
        parameters: block.grid.params.as_ptr(),
        parameter_bytes: block.grid.params.len() as u64,
        tid: warp.tid.as_ptr(),
        ctaid: block.index.as_ptr(),
        ntid: block.grid.block.as_ptr(),
        nctaid: block.grid.grid.as_ptr(),
        loads: 0,
        stores: 0,
        shared_accesses: 0,
        interpret,
        find,
        branches: 0,
        in_step: warp.in_step.into(),
        code: std::ptr::null(),
        machine: (&raw const *machine).cast(),
        warp: std::ptr::null_mut(),
    }
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
