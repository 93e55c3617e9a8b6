//! The race checker's look at what whole warps access in [`super::straight`], before they do. What it cannot tell there
//! is [`super::door`]'s to pass on, as every other access.

use std::mem::MaybeUninit;
use std::sync::MutexGuard;

use super::door::{Checks, origin};
use super::path::Running;
use super::{Block, Machine, Warp};
use crate::check::Watch;
use crate::check::access::{Access, Manner};
use crate::check::neighbours::Neighbours;
use crate::check::parts::{Lanes, Parts};
use crate::code::{self, Base, Inst, NONE, Owners, StateSpace};
use crate::memory::space;

/// What lies elsewhere, and what is in no memory, is found out later.
const END: u64 = 1 << 60;

/// The checks of order, and no other ones.
pub struct OrderChecks<'a> {
    watch: Option<MutexGuard<'a, Watch>>,
    /// Which rows of addresses accesses went through, of how many bytes each was, and whether it wrote; the last is for those
    /// that no other access goes through.
    rows: [(u32, u8, bool); ROWS],
    /// What these found out about them for others.
    lies: [MaybeUninit<Lie>; ROWS],
    /// Parts of accesses, of all but the last.
    parts: [MaybeUninit<Parts>; ROWS - 1],
}

/// How the addresses in a row lie, before an instruction adds its own number.
struct Lie {
    /// All bits that are set in any.
    bits: u64,
    neighbours: Neighbours,
    at: [u64; 32],
}

/// Rows that are remembered.
const ROWS: usize = 5;

impl OrderChecks<'_> {
    /// Those of a device, for instructions that follow each other. The processor has AVX2.
    #[inline(always)]
    pub fn of(machine: &Machine) -> OrderChecks<'_> {
        OrderChecks {
            watch: machine.watch(),
            rows: [(NONE, 0, false); ROWS],
            lies: [const { MaybeUninit::uninit() }; ROWS],
            parts: [const { MaybeUninit::uninit() }; ROWS - 1],
        }
    }
}

impl Checks for OrderChecks<'_> {
    #[inline(never)]
    fn pass(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        run: &Running<'_>,
        inst: &Inst,
        access: code::Access,
        writes: bool,
    ) -> bool {
        let Some(watch) = &mut self.watch else { return true };
        let shared = match access.space {
            // Nobody else sees it.
            StateSpace::Param => return true,
            StateSpace::Shared => true,
            StateSpace::Global | StateSpace::Const | StateSpace::Generic => false,
            StateSpace::Local | StateSpace::Frame | StateSpace::Cluster => return false,
        };
        let is_words = access.count == 1
            && access.owners == Owners::OWN
            && access.size_log2 >= 2
            && inst.a != NONE;
        // Of a cluster and of the system's part more is to be known.
        let is_own = block.cluster.is_none() && block.grid.reserved_shared.is_empty();
        if !is_words || access.order.is_strong() || shared && !is_own {
            return false;
        }
        let bytes = 1u64 << access.size_log2;
        let slot = match access.base {
            Base::Alone => ROWS - 1,
            _ => ((inst.a >> 5 ^ inst.a >> 7) & 3) as usize,
        };
        let row = (inst.a, access.size_log2, writes);
        let is_new = access.base != Base::Again || self.rows[slot] != row;
        if is_new {
            // SAFETY: the processor has AVX2; the instruction was decoded for this frame.
            unsafe { learn(&mut self.lies[slot], run, inst.a, bytes, access.wide_address) };
            self.rows[slot] = row;
        }
        // SAFETY: rows that are named are known.
        let lie = unsafe { self.lies[slot].assume_init_ref() };
        let lanes = lie.lanes(bytes, writes);
        let parts = self.parts.get_mut(slot).map(|parts| {
            if is_new {
                parts.write(Parts::of(&lanes));
            }
            // SAFETY: rows that are named are known.
            unsafe { parts.assume_init_ref() }
        });
        let added = i64::from(inst.imm as i32) as u64;
        if (lie.bits | added) & (bytes - 1) != 0 {
            return false;
        }
        let end = if shared { space::WINDOW_BYTES } else { END };
        if lie.bits >= end {
            return false;
        }
        let Some(state) = block.state.as_deref_mut() else { return true };
        let access = Access {
            origin: origin(warp, &run.path),
            first_thread: warp.index * 32,
            at: &lie.at,
            lanes: u32::MAX,
            bytes,
            shared,
            base: 0,
            reads: !writes,
            writes,
            kind: Manner::Own,
            was: None,
            order: access.order,
            tells: true,
            value: None,
        };
        // SAFETY: the processor has AVX2.
        unsafe { watch.plain_access(state, &access, &lanes, parts, (added, end)) }
    }
}

impl Lie {
    #[inline(always)]
    fn lanes(&self, bytes: u64, writes: bool) -> Lanes<'_> {
        let Lie { neighbours, ref at, .. } = *self;
        Lanes { at, lanes: u32::MAX, bytes, writes, neighbours }
    }
}

/// Finds out how the addresses in a row lie.
///
/// # Safety
/// A decoded row of this width; if it is such a processor, it has AVX2 and what comes with it.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt"))]
unsafe fn learn(to: &mut MaybeUninit<Lie>, run: &Running<'_>, row: u32, bytes: u64, wide: bool) {
    let to = to.as_mut_ptr();
    // SAFETY: by the contract; all parts are written.
    unsafe {
        let at = &raw mut (*to).at;
        #[cfg(target_arch = "x86_64")]
        let (bits, neighbours) =
            Neighbours::of_row(run.regs.add(row as usize), wide, bytes, at.cast());
        #[cfg(not(target_arch = "x86_64"))]
        let (bits, neighbours) = {
            at.write([0; 32]);
            super::memory::places::addresses(run.regs, row, wide, 0, u32::MAX, &mut *at);
            ((*at).iter().fold(0, |bits, at| bits | at), Neighbours::of(&*at, bytes, u32::MAX))
        };
        (&raw mut (*to).bits).write(bits);
        (&raw mut (*to).neighbours).write(neighbours);
    }
}
