//! Loads and stores of one word or doubleword by a whole warp, where nothing is to be looked at lane by
//! lane: the addresses of all lanes pass one check, and eight lanes that follow each other are one move.
//!
//! [`next`] either does all of an access or nothing, and then says so; everything else about accesses
//! (some lanes, vectors, bytes, the checks that a run may ask for, what is wrong) is `global`'s, `shared`'s
//! and `private`'s. For processors with AVX2, whose instructions it names: what compilers make of loops
//! over addresses took four times as long.

mod global;
mod shared;

use self::global::global;
pub use self::shared::Known;
use self::shared::{again, learn, shared};
use super::super::path::Running;
use super::super::{Block, Warp, rows};
use crate::alu::{W32, W64, Word};
use crate::code::{Access, Base, Inst, NONE, StateSpace};

/// Where eight neighbouring lanes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Eight {
    /// To elements that follow each other.
    Row,
    /// To the same element.
    Same,
    /// Anywhere.
    Other,
}

/// As [`access`], with what is known of rows of addresses.
///
/// # Safety
/// As [`access`], and `known` has seen what ran before in this run of instructions.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub unsafe fn next<const WRITE: bool>(
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    known: &mut Known,
) -> bool {
    // SAFETY: forwarded.
    unsafe {
        let is_shared = access.space == StateSpace::Shared;
        if access.base != Base::Alone && is_shared && block.all_written {
            let offsets = &mut known.rows[(inst.a >> 5 & 3) as usize];
            if access.base == Base::First || offsets.row != inst.a {
                *offsets = learn(run, inst, access);
            }
            let done = match access.size_log2 {
                2 => again::<W32, WRITE>(block, run, inst, offsets),
                _ => again::<W64, WRITE>(block, run, inst, offsets),
            };
            if done {
                return true;
            }
        }
        self::access::<WRITE>(block, warp, run, inst, access)
    }
}

/// Does an access of all 32 lanes for a run without checks. False: nothing was done.
///
/// # Safety
/// `inst` was decoded for the frame at `run.regs`.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn access<const WRITE: bool>(
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
) -> bool {
    if access.count != 1 || access.wide_register != (access.size_log2 == 3) {
        return false;
    }
    // SAFETY: forwarded.
    unsafe {
        match (access.space, access.size_log2) {
            (StateSpace::Param, 2 | 3) if inst.a == NONE && !WRITE => {
                param(block, run, inst, access)
            }
            _ if inst.a == NONE => false,
            (StateSpace::Shared, 2) => shared::<W32, WRITE>(block, run, inst, access.wide_address),
            (StateSpace::Shared, 3) => shared::<W64, WRITE>(block, run, inst, access.wide_address),
            (StateSpace::Global | StateSpace::Const | StateSpace::Generic, _)
                if !access.wide_address =>
            {
                false
            }
            // What lies in an allocation is global memory.
            (StateSpace::Global | StateSpace::Const | StateSpace::Generic, 2) => {
                global::<W32, WRITE>(block, warp, run, inst)
            }
            (StateSpace::Global | StateSpace::Const | StateSpace::Generic, 3) => {
                global::<W64, WRITE>(block, warp, run, inst)
            }
            _ => false,
        }
    }
}

/// A kernel parameter.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn param(block: &Block, run: &Running<'_>, inst: &Inst, access: Access) -> bool {
    let rest = block.grid.params.get(inst.imm as usize..).unwrap_or(&[]);
    let value = match access.size_log2 {
        2 => rest.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes))),
        _ => rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
    };
    let Some(value) = value else { return false };
    // SAFETY: a decoded row of this width.
    unsafe { rows::fill(run.regs.add(inst.d as usize), value, access.wide_register, u32::MAX) };
    true
}

/// Eight elements between memory and the row at `row`, those of the lanes from `8 * chunk`.
///
/// # Safety
/// The elements at `memory` plus all `at` may be read, and written if `WRITE`; `row` is a row of this
/// width.
#[inline(always)]
unsafe fn eight<W: Word, A: Copy + Into<u64>, const WRITE: bool>(
    row: *mut u32,
    chunk: usize,
    shape: Eight,
    memory: u64,
    at: &[A; 8],
) {
    // SAFETY: by the contract.
    unsafe {
        let first = memory.wrapping_add(at[0].into());
        match (shape, WRITE) {
            (Eight::Row, true) => {
                (first as *mut [W::T; 8]).write_unaligned(W::read8(row, chunk));
            }
            (Eight::Row, false) => {
                W::write8(row, chunk, (first as *const [W::T; 8]).read_unaligned());
            }
            (Eight::Same, false) => {
                W::write8(row, chunk, [(first as *const W::T).read_unaligned(); 8]);
            }
            // In the order of the lanes: of those that write one element the last one stays.
            (_, true) => {
                let values = W::read8(row, chunk);
                for lane in 0..8 {
                    let place = memory.wrapping_add(at[lane].into()) as *mut W::T;
                    place.write_unaligned(values[lane]);
                }
            }
            (_, false) => {
                let mut values = [W::T::default(); 8];
                for lane in 0..8 {
                    let place = memory.wrapping_add(at[lane].into()) as *const W::T;
                    values[lane] = place.read_unaligned();
                }
                W::write8(row, chunk, values);
            }
        }
    }
}

/// Eight of 32 addresses.
#[inline(always)]
fn part<A>(at: &[A; 32], chunk: usize) -> &[A; 8] {
    // SAFETY: there are four such parts.
    unsafe { &*at.as_ptr().add(8 * (chunk & 3)).cast::<[A; 8]>() }
}
