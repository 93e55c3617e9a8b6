//! Runs of instructions, their machine code, and what it meets when it is called. Who makes it is not known here
//! ([`crate::native`]).

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Inst;
use super::map::Mapped;

/// What machine code of a run finds at the address that it is given. All fields have 8 bytes; who writes
/// code names them by their index.
#[derive(Debug)]
#[repr(C)]
pub struct Context {
    /// 0: the frame's words. Rows of 32 words (of 64 for 64-bit registers), in which lanes follow each other;
    /// predicates are a word with a bit a lane.
    pub registers: *mut u32,
    /// 1: eight allocations: first address, end, end for writing (3 words of 8 bytes each).
    pub allocations: *const u64,
    /// 2: shared memory.
    pub shared: *mut u8,
    /// 3: its bytes; 0 if code must not touch it.
    pub shared_bytes: u64,
    /// 4: the kernel's parameters.
    pub parameters: *const u8,
    /// 5: their bytes.
    pub parameter_bytes: u64,
    /// 6: `%tid`: three rows of 32 words.
    pub tid: *const [u32; 32],
    /// 7: `%ctaid`
    pub ctaid: *const u32,
    /// 8: `%ntid`
    pub ntid: *const u32,
    /// 9: `%nctaid`
    pub nctaid: *const u32,
    /// 10: grows by the segments of 128 bytes of global memory that were read.
    pub loads: u64,
    /// 11: those that were written.
    pub stores: u64,
    /// 12: grows by the accesses to shared memory.
    pub shared_accesses: u64,
    /// 13: has the interpreter do the arithmetic instruction of this number, counted from the run's first.
    pub interpret: unsafe extern "C" fn(*mut Context, u32),
    /// 14: whether one allocation has all bytes from the first address to before the second, for reading, or
    /// for writing if the last number is not 0; asked when the eight do not have them. It becomes the one of
    /// the number before that.
    pub find: unsafe extern "C" fn(*mut Context, u64, u64, u32, u32) -> u32,
    /// 15: grows by the branches that were passed, which no lane took.
    pub branches: u64,
    /// 16: not 0 if the lanes count the threads one by one along x: each has the `%tid.x` after that of the lane
    /// before, and all have the same `%tid.y` and `%tid.z`.
    pub in_step: u64,
    /// The run's first instruction; this and what follows is not for native code.
    pub code: *const Inst,
    /// Whom [`Context::find`] asks.
    pub machine: *const c_void,
    /// Who remembers allocations.
    pub warp: *mut c_void,
}

/// A run's entry.
pub type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// A run of instructions of a function, with its code if there is any.
#[derive(Debug)]
pub struct Run {
    /// Its first instruction.
    pub first: u32,
    /// How many it has.
    pub count: u32,
    /// How often it was executed without code.
    pub executed: AtomicU32,
    /// How often its code has lately done nothing, less how often it has done something; from [`VAIN`] on, how
    /// often it was not asked since.
    vain: AtomicU32,
    code: OnceLock<Option<Mapped>>,
}

/// Code that so often gave up at once is left alone for a while.
const VAIN: u32 = 256;
/// For so many executions.
const REST: u32 = 1 << 14;

impl Run {
    /// A run without code.
    pub fn new(first: u32, count: u32) -> Run {
        let (executed, vain) = (AtomicU32::new(0), AtomicU32::new(0));
        Run { first, count, executed, vain, code: OnceLock::new() }
    }

    /// Whether its code is worth asking: it has not given up at once most of the time. Threads may lose a step
    /// to each other.
    #[inline(always)]
    pub fn is_of_use(&self) -> bool {
        let vain = self.vain.load(Ordering::Relaxed);
        if vain < VAIN {
            return true;
        }
        self.vain.store(if vain < VAIN + REST { vain + 1 } else { 0 }, Ordering::Relaxed);
        false
    }

    /// Its code did so many instructions.
    #[inline(always)]
    pub fn did(&self, done: u32) {
        let vain = self.vain.load(Ordering::Relaxed);
        if done == 0 {
            self.vain.store(vain + 1, Ordering::Relaxed);
        } else if vain != 0 {
            self.vain.store(vain - 1, Ordering::Relaxed);
        }
    }

    /// The code, if there is some.
    #[inline(always)]
    pub fn entry(&self) -> Option<Entry> {
        self.code.get()?.as_ref().map(Mapped::entry)
    }

    /// Has its code made, once.
    pub fn make(&self, make: impl FnOnce() -> Option<Vec<u8>>) {
        self.code.get_or_init(|| Mapped::new(&make()?));
    }
}
