//! Loads and stores of a warp, with their checks.
//!
//! The common cases (all lanes in one allocation that was hit before) take one range comparison
//! for the warp; everything else is looked at lane by lane. No access reaches memory before its
//! check has passed.

mod bytes;
mod global;
pub mod places;
mod private;
mod shared;
#[cfg(target_arch = "x86_64")]
pub mod whole;

pub use self::bytes::{async_copy, pass, read_bytes, write_bytes};
use self::global::global;
use self::places::addresses;
use self::private::{fixed_place, local, params};
use self::shared::shared;
use super::checks::{Addresses, own};
use super::door::Manner;
use super::path::Running;
use super::rows::write_row;
use super::{Block, Machine, Step, Warp, cluster, rows};
use crate::code::{Access, Inst, NONE, Order, StateSpace};
use crate::lanes::lanes_of;
use crate::memory::place_text;
use crate::memory::space::{self, Window};

/// Lowest and highest address, and all bits that are set in any.
#[inline(always)]
fn bounds(addresses: &Addresses) -> (u64, u64, u64) {
    let (mut lo, mut hi, mut bits) = (u64::MAX, 0, 0);
    for &address in addresses {
        lo = lo.min(address);
        hi = hi.max(address);
        bits |= address;
    }
    (lo, hi, bits)
}

/// Reads `S` bytes of checked memory.
///
/// # Safety
/// The bytes lie in a live allocation or in the block's shared memory.
#[inline(always)]
unsafe fn peek<const S: usize>(address: u64) -> u64 {
    // SAFETY: by the contract; reads need no alignment here.
    unsafe {
        match S {
            1 => u64::from((address as *const u8).read()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// Writes `S` bytes of checked memory.
///
/// # Safety
/// As [`peek`], and the allocation is writable.
#[inline(always)]
unsafe fn poke<const S: usize>(address: u64, value: u64) {
    // SAFETY: by the contract.
    unsafe {
        match S {
            1 => (address as *mut u8).write(value as u8),
            2 => (address as *mut u16).write_unaligned(value as u16),
            4 => (address as *mut u32).write_unaligned(value as u32),
            _ => (address as *mut u64).write_unaligned(value),
        }
    }
}

#[inline(always)]
fn extend<const S: usize>(value: u64, signed: bool) -> u64 {
    if !signed {
        return value;
    }
    match S {
        1 => value as u8 as i8 as i64 as u64,
        2 => value as u16 as i16 as i64 as u64,
        4 => value as u32 as i32 as i64 as u64,
        _ => value,
    }
}

/// The rows of an access: one, or those of a vector.
#[inline(always)]
fn registers<'a>(run: &'a Running<'_>, inst: &'a Inst, access: Access) -> &'a [u32] {
    if access.count == 1 {
        std::slice::from_ref(&inst.d)
    } else {
        &run.function.vectors[inst.d as usize][..access.count as usize]
    }
}

/// How an access is done: strong loads may see an older value.
#[inline(always)]
fn manner(order: Order, write: bool) -> Manner {
    if !write && order.is_strong() { Manner::Look } else { Manner::Own }
}

/// A lane's load finds an older value.
///
/// # Safety
/// The rows are decoded rows of elements of `S` bytes.
#[cold]
unsafe fn put_older<const S: usize>(
    run: &Running<'_>,
    access: Access,
    rows: &[u32],
    lane: usize,
    value: u64,
) {
    for (i, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
        let element = value >> (i * S * 8) & (u64::MAX >> (64 - S * 8));
        let element = extend::<S>(element, access.signed);
        // SAFETY: by the contract.
        unsafe { write_row(run.regs, row, access.wide_register, lane, element) };
    }
}

/// Executes a load in the active lanes.
#[inline(always)]
pub fn load(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    match access.size_log2 {
        0 => access_lanes::<1, false>(machine, block, warp, run, inst, access, mask),
        1 => access_lanes::<2, false>(machine, block, warp, run, inst, access, mask),
        2 => access_lanes::<4, false>(machine, block, warp, run, inst, access, mask),
        _ => access_lanes::<8, false>(machine, block, warp, run, inst, access, mask),
    }
}

/// Remembers what lanes look at that may wait for it to change.
#[cold]
pub fn note_look(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) {
    let Access { space, wide_address, .. } = access;
    let at = match inst.a {
        NONE => [u64::from(inst.imm); 32],
        row => atomic_addresses(run, row, wide_address, inst.imm as i32, mask),
    };
    look_at(machine, block, warp, run, space, &at, mask);
}

/// As [`note_look`], at these addresses.
#[cold]
pub fn look_at(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    run: &Running<'_>,
    space: StateSpace,
    at: &Addresses,
    mask: u32,
) {
    for lane in lanes_of(mask) {
        let by = (block.serial, warp.index, run.path.pc);
        machine.clocks.ask(by, lane, || {
            let shared = match space {
                StateSpace::Shared | StateSpace::Cluster => true,
                StateSpace::Generic => space::window(at[lane]) == Window::Shared,
                _ => false,
            };
            let place = match shared {
                true => machine.shared_text(block.grid.kernel, space::offset(at[lane])),
                false => place_text(&machine.memory, at[lane]),
            };
            format!("for another value of {place}")
        });
    }
}

/// Executes a store in the active lanes.
#[inline(always)]
pub fn store(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    match access.size_log2 {
        0 => access_lanes::<1, true>(machine, block, warp, run, inst, access, mask),
        1 => access_lanes::<2, true>(machine, block, warp, run, inst, access, mask),
        2 => access_lanes::<4, true>(machine, block, warp, run, inst, access, mask),
        _ => access_lanes::<8, true>(machine, block, warp, run, inst, access, mask),
    }
}

/// Executes an access, with the code for this processor.
#[inline(always)]
fn access_lanes<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        // SAFETY: the processor has these features.
        return unsafe { access_avx2::<S, WRITE>(machine, block, warp, run, inst, access, mask) };
    }
    access_base::<S, WRITE>(machine, block, warp, run, inst, access, mask)
}

#[inline(never)]
fn access_base<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    access_any::<S, WRITE>(machine, block, warp, run, inst, access, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn access_avx2<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    access_any::<S, WRITE>(machine, block, warp, run, inst, access, mask)
}

#[inline(always)]
fn access_any<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    if inst.a == NONE {
        return fixed_place::<S, WRITE>(machine, block, warp, run, inst, access, mask);
    }
    let mut at = [0u64; 32];
    addresses(run.regs, inst.a, access.wide_address, inst.imm as i32, mask, &mut at);
    match access.space {
        StateSpace::Global | StateSpace::Const => {
            global::<S, WRITE>(machine, block, warp, run, inst, access, mask, &at)
        }
        StateSpace::Shared => {
            shared::<S, WRITE>(machine, block, warp, run, inst, access, mask, &at)
        }
        StateSpace::Cluster => {
            cluster_shared::<S, WRITE>(machine, block, warp, run, inst, access, mask, &at)
        }
        StateSpace::Local | StateSpace::Frame => {
            local::<S, WRITE>(machine, block, warp, run, inst, access, mask, &at)
        }
        StateSpace::Param => params::<S, WRITE>(block, run, inst, access, mask, &at),
        StateSpace::Generic => {
            generic::<S, WRITE>(machine, block, warp, run, inst, access, mask, &mut at)
        }
    }
}

#[inline(always)]
fn broadcast(run: &Running<'_>, row: u32, wide: bool, mask: u32, value: u64) {
    // SAFETY: decoded row of this width.
    unsafe { rows::fill(run.regs.add(row as usize), value, wide, mask) }
}

/// Sorts the lanes by window, and hands each sort to its own routine.
#[allow(clippy::too_many_arguments)]
fn generic<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &mut Addresses,
) -> Step<()> {
    let (_, hi, _) = bounds(at);
    if hi >> 60 == 0 {
        return global::<S, WRITE>(machine, block, warp, run, inst, access, mask, at);
    }
    let mut rest = mask;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let window = space::window(at[first]);
        let mut part = 0u32;
        for lane in lanes_of(rest) {
            if space::window(at[lane]) == window {
                part |= 1 << lane;
            }
        }
        if window == Window::Shared && block.has_peers() {
            rest &= !part;
            cluster_shared::<S, WRITE>(machine, block, warp, run, inst, access, part, at)?;
            continue;
        }
        rest &= !part;
        let mut sorted = [at[first]; 32];
        for lane in lanes_of(part) {
            sorted[lane] = at[lane];
        }
        if window == Window::Global {
            global::<S, WRITE>(machine, block, warp, run, inst, access, part, &sorted)?;
            continue;
        }
        for lane in lanes_of(part) {
            own(block, warp, sorted[lane], lane, S as u64 * u64::from(access.count), WRITE)?;
        }
        for address in &mut sorted {
            *address = space::offset(*address);
        }
        match window {
            Window::Shared => {
                shared::<S, WRITE>(machine, block, warp, run, inst, access, part, &sorted)?
            }
            Window::Local => {
                local::<S, WRITE>(machine, block, warp, run, inst, access, part, &sorted)?
            }
            Window::Param => params::<S, WRITE>(block, run, inst, access, part, &sorted)?,
            Window::Global | Window::Function | Window::Invalid => {}
        }
    }
    Ok(())
}

/// Sorts the lanes by the block of the cluster whose shared memory they access.
#[allow(clippy::too_many_arguments)]
fn cluster_shared<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let space =
        if access.space == StateSpace::Generic { StateSpace::Generic } else { StateSpace::Cluster };
    let bytes = S as u64 * u64::from(access.count);
    let mut found = [(None, 0); 32];
    for lane in lanes_of(mask) {
        found[lane] = cluster::locate(block, warp, space, at[lane], lane, bytes, WRITE)?;
    }
    let mut rest = mask;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let (owner, mut offsets) = (found[first].0, [found[first].1; 32]);
        let mut part = 0u32;
        for lane in lanes_of(rest) {
            if found[lane].0 == owner {
                offsets[lane] = found[lane].1;
                part |= 1 << lane;
            }
        }
        rest &= !part;
        cluster::in_memory_of(block, owner, first, |block| {
            shared::<S, WRITE>(machine, block, warp, run, inst, access, part, &offsets)
        })?;
    }
    Ok(())
}

/// Byte number `byte` of what a lane stores from rows of elements of `S` bytes; for the checks.
fn stored<const S: usize>(
    run: &Running<'_>,
    rows: &[u32],
    wide: bool,
    lane: usize,
    byte: u64,
) -> u8 {
    let row = rows[byte as usize / S];
    if row == NONE {
        return 0;
    }
    // SAFETY: decoded row.
    let value = unsafe { super::rows::read_row(run.regs, row, wide, lane) };
    (value >> (8 * (byte as usize % S))) as u8
}

/// Addresses of an atomic; for [`super::atomics`].
pub fn atomic_addresses(
    run: &Running<'_>,
    row: u32,
    wide: bool,
    offset: i32,
    mask: u32,
) -> Addresses {
    let mut at = [0; 32];
    addresses(run.regs, row, wide, offset, mask, &mut at);
    at
}
