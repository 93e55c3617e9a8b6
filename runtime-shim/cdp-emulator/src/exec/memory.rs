//! Loads and stores of a warp, with their checks.
//!
//! The common cases (all lanes in one allocation that was hit before) take one range comparison
//! for the warp; everything else is looked at lane by lane. No access reaches memory before its
//! check has passed.

use super::checks::{
    Addresses, OnLane, bad_global, bad_local, bad_shared, misaligned, own, uninitialized, verb,
};
use super::fault::Fault;
use super::run::{Running, lanes_of, read_row, write_row};
use super::{Block, CachedExtent, Machine, Step, Warp};
use crate::code::{Access, Inst, NONE, Place};
use crate::memory::space::{self, Window};
use crate::report::ReportKind;

/// Computes the addresses of an access.
#[inline(always)]
fn addresses(regs: *const u32, row: u32, wide: bool, offset: i32, mask: u32, out: &mut Addresses) {
    let added = i64::from(offset) as u64;
    // SAFETY: `row` is a decoded row of this width.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            let values = base.cast::<[u64; 32]>().read_unaligned();
            for lane in 0..32 {
                out[lane] = values[lane].wrapping_add(added);
            }
        } else {
            let values = base.cast::<[u32; 32]>().read_unaligned();
            for lane in 0..32 {
                out[lane] = u64::from(values[lane].wrapping_add(offset as u32));
            }
        }
    }
    if mask != u32::MAX {
        let first = out[mask.trailing_zeros() as usize];
        for (lane, address) in out.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                *address = first;
            }
        }
    }
}

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

/// How the lanes' addresses lie to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Consecutive,
    Same,
    Other,
}

#[inline(always)]
fn pattern(addresses: &Addresses, mask: u32, bytes: u64) -> Pattern {
    let first = addresses[0];
    let (mut consecutive, mut same) = (true, true);
    for (lane, &address) in addresses.iter().enumerate() {
        consecutive &= address == first.wrapping_add(lane as u64 * bytes);
        same &= address == first;
    }
    if same {
        Pattern::Same
    } else if consecutive && mask == u32::MAX {
        Pattern::Consecutive
    } else {
        Pattern::Other
    }
}

/// Makes sure that `bytes` at every address lie in a live allocation.
#[inline(always)]
fn check_global(
    machine: &Machine,
    warp: &mut Warp,
    slot: u32,
    addresses: &Addresses,
    mask: u32,
    bytes: u64,
    write: bool,
) -> Step<()> {
    let (lo, hi, bits) = bounds(addresses);
    let cached = &warp.cache[(slot & 7) as usize];
    let limit = if write { cached.write_hi } else { cached.hi };
    if bits & (bytes - 1) == 0 && lo >= cached.lo && limit >= bytes && hi <= limit - bytes {
        return Ok(());
    }
    check_global_slow(machine, warp, slot, addresses, mask, bytes, write)
}

#[cold]
#[inline(never)]
fn check_global_slow(
    machine: &Machine,
    warp: &mut Warp,
    slot: u32,
    addresses: &Addresses,
    mask: u32,
    bytes: u64,
    write: bool,
) -> Step<()> {
    let mut known = CachedExtent::default();
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        let limit = if write { known.write_hi } else { known.hi };
        let inside = address >= known.lo && limit >= bytes && address <= limit - bytes;
        if !inside {
            match machine.memory.find(address) {
                Some(extent) if bytes <= extent.hi - address && (extent.writable || !write) => {
                    known = extent.into();
                }
                _ => return Err(bad_global(machine, address, bytes, write).on(lane)),
            }
        }
        if address & (bytes - 1) != 0 {
            return Err(misaligned(address, bytes, write).on(lane));
        }
    }
    warp.cache[(slot & 7) as usize] = known;
    Ok(())
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
fn rows<'a>(run: &'a Running<'_>, inst: &'a Inst, access: Access) -> &'a [u32] {
    if access.count == 1 {
        std::slice::from_ref(&inst.d)
    } else {
        &run.function.vectors[inst.d as usize][..access.count as usize]
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
        return fixed_place::<S, WRITE>(block, warp, run, inst, access, mask);
    }
    let mut at = [0u64; 32];
    addresses(run.regs, inst.a, access.wide_address, inst.imm as i32, mask, &mut at);
    match access.place {
        Place::Global | Place::Const => {
            global::<S, WRITE>(machine, block, warp, run, inst, access, mask, &at)
        }
        Place::Shared => shared::<S, WRITE>(machine, block, run, inst, access, mask, &at),
        Place::Local | Place::Frame => local::<S, WRITE>(warp, run, inst, access, mask, &at),
        Place::Param => params::<S, WRITE>(block, run, inst, access, mask, &at),
        Place::Generic => {
            generic::<S, WRITE>(machine, block, warp, run, inst, access, mask, &mut at)
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn global<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    check_global(machine, warp, run.path.pc, at, mask, bytes, WRITE)?;
    let rows = rows(run, inst, access);
    let wide = access.wide_register;
    let mut transactions = 1;
    // SAFETY: all active addresses were checked; rows are decoded rows of this width.
    unsafe {
        let shape = pattern(at, mask, bytes);
        if shape == Pattern::Consecutive && rows.len() == 1 && S == 4 && !wide {
            let row = run.regs.add(rows[0] as usize).cast::<[u32; 32]>();
            let memory = at[0] as *mut [u32; 32];
            if WRITE {
                memory.write_unaligned(row.read_unaligned());
            } else {
                row.write_unaligned(memory.read_unaligned());
            }
            transactions = ((at[31] + 3) >> 7) - (at[0] >> 7) + 1;
        } else if shape == Pattern::Same && !WRITE {
            for (i, &row) in rows.iter().enumerate() {
                if row != NONE {
                    let value = extend::<S>(peek::<S>(at[0] + (i * S) as u64), access.signed);
                    broadcast(run, row, wide, mask, value);
                }
            }
        } else if mask == u32::MAX && rows.len() == 1 && S == 4 && !wide && rows[0] != NONE {
            transactions = 0;
            let mut segment = u64::MAX;
            let row = run.regs.add(rows[0] as usize);
            for (lane, &address) in at.iter().enumerate() {
                if WRITE {
                    poke::<S>(address, u64::from(*row.add(lane)));
                } else {
                    *row.add(lane) = peek::<S>(address) as u32;
                }
                transactions += u64::from(address >> 7 != segment);
                segment = address >> 7;
            }
        } else {
            transactions = 0;
            let mut segment = u64::MAX;
            for lane in lanes_of(mask) {
                for (i, &row) in rows.iter().enumerate() {
                    let address = at[lane] + (i * S) as u64;
                    if WRITE {
                        poke::<S>(address, read_row(run.regs, row, wide, lane));
                    } else if row != NONE {
                        let value = extend::<S>(peek::<S>(address), access.signed);
                        write_row(run.regs, row, wide, lane, value);
                    }
                }
                transactions += u64::from(at[lane] >> 7 != segment);
                segment = at[lane] >> 7;
            }
        }
    }
    if WRITE {
        block.counters.store_transactions += transactions;
    } else {
        block.counters.load_transactions += transactions;
    }
    Ok(())
}

#[inline(always)]
fn shared<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    let (_, hi, bits) = bounds(at);
    let size = block.shared.len() as u64;
    if bits & (bytes - 1) != 0 || hi >= space::WINDOW_BYTES || hi + bytes > size {
        return Err(bad_shared(block, at, mask, bytes, WRITE));
    }
    block.counters.shared_accesses += 1;
    let rows = rows(run, inst, access);
    let wide = access.wide_register;
    let base = block.shared.as_mut_ptr() as u64;
    let shadow = block.written.as_mut_ptr() as u64;
    let tracked = !block.all_written;
    // SAFETY: all active offsets were checked against the size, which `written` shares; rows are
    // decoded rows of this width.
    unsafe {
        if !WRITE && tracked {
            let mut clean = 0u32;
            for lane in lanes_of(mask) {
                let mut known = 0;
                for i in 0..rows.len() {
                    known |= peek::<S>(shadow + at[lane] + (i * S) as u64);
                }
                clean |= u32::from(known == 0) << lane;
            }
            if clean != 0 {
                uninitialized(machine, block, at, clean, bytes)?;
            }
            block.look_for_all_written();
        }
        if mask == u32::MAX && S == 4 && rows.len() == 1 && !wide && (!WRITE || !tracked) {
            let row = run.regs.add(rows[0] as usize);
            for (lane, &offset) in at.iter().enumerate() {
                if WRITE {
                    poke::<S>(base + offset, u64::from(*row.add(lane)));
                } else {
                    *row.add(lane) = peek::<S>(base + offset) as u32;
                }
            }
            return Ok(());
        }
        for lane in lanes_of(mask) {
            for (i, &row) in rows.iter().enumerate() {
                let offset = at[lane] + (i * S) as u64;
                if WRITE {
                    poke::<S>(base + offset, read_row(run.regs, row, wide, lane));
                    if tracked {
                        poke::<S>(shadow + offset, u64::MAX);
                    }
                } else if row != NONE {
                    let value = extend::<S>(peek::<S>(base + offset), access.signed);
                    write_row(run.regs, row, wide, lane, value);
                }
            }
        }
    }
    Ok(())
}

fn local<const S: usize, const WRITE: bool>(
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    let end = u64::from(warp.frame(&run.path).local_end) * 4;
    let (_, hi, bits) = bounds(at);
    if bits & (bytes - 1) != 0 || hi >= space::WINDOW_BYTES || hi + bytes > end {
        return Err(bad_local(at, mask, bytes, end, WRITE));
    }
    let rows = rows(run, inst, access);
    let wide = access.wide_register;
    // SAFETY: offsets end below the frame's end, to which `local` reaches.
    unsafe {
        for lane in lanes_of(mask) {
            for (i, &row) in rows.iter().enumerate() {
                let offset = at[lane] as usize + i * S;
                if WRITE {
                    poke_local::<S>(warp, offset, lane, read_row(run.regs, row, wide, lane));
                } else if row != NONE {
                    let value = extend::<S>(peek_local::<S>(warp, offset, lane), access.signed);
                    write_row(run.regs, row, wide, lane, value);
                }
            }
        }
    }
    Ok(())
}

/// Reads an aligned value of a lane's local memory.
///
/// # Safety
/// The offset lies in the warp's local memory.
#[inline(always)]
pub unsafe fn peek_local<const S: usize>(warp: &Warp, offset: usize, lane: usize) -> u64 {
    // SAFETY: by the contract; the words of a lane are 32 words apart.
    unsafe {
        let word = warp.local.as_ptr().add((offset >> 2) * 32 + lane);
        match S {
            8 => u64::from(*word) | u64::from(*word.add(32)) << 32,
            4 => u64::from(*word),
            _ => {
                let shifted = *word >> (8 * (offset & 3));
                u64::from(if S == 2 { shifted & 0xffff } else { shifted & 0xff })
            }
        }
    }
}

/// Writes an aligned value of a lane's local memory.
///
/// # Safety
/// The offset lies in the warp's local memory.
#[inline(always)]
pub unsafe fn poke_local<const S: usize>(warp: &mut Warp, offset: usize, lane: usize, value: u64) {
    // SAFETY: as in `peek_local`.
    unsafe {
        let word = warp.local.as_mut_ptr().add((offset >> 2) * 32 + lane);
        match S {
            8 => {
                *word = value as u32;
                *word.add(32) = (value >> 32) as u32;
            }
            4 => *word = value as u32,
            _ => {
                let shift = 8 * (offset & 3);
                let field: u32 = if S == 2 { 0xffff } else { 0xff };
                *word = (*word & !(field << shift)) | ((value as u32 & field) << shift);
            }
        }
    }
}

fn params<const S: usize, const WRITE: bool>(
    block: &Block,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    let params = &block.grid.params;
    for lane in lanes_of(mask) {
        let offset = at[lane];
        if WRITE {
            let message = "store to kernel parameters, which are read-only";
            return Err(Fault::new(ReportKind::ReadOnlyWrite, None, message).on(lane));
        }
        if offset & (bytes - 1) != 0 {
            return Err(misaligned(offset, bytes, false).on(lane));
        }
        if offset >= space::WINDOW_BYTES || offset + bytes > params.len() as u64 {
            let message = format!(
                "load of {bytes} bytes at offset {offset} of the kernel parameters, which have {} bytes",
                params.len()
            );
            return Err(Fault::new(ReportKind::OutOfBounds, None, message).on(lane));
        }
        for (i, &row) in rows(run, inst, access).iter().enumerate() {
            if row != NONE {
                let value =
                    extend::<S>(param_value::<S>(params, offset as usize + i * S), access.signed);
                // SAFETY: decoded row.
                unsafe { write_row(run.regs, row, access.wide_register, lane, value) };
            }
        }
    }
    Ok(())
}

fn param_value<const S: usize>(params: &[u8], offset: usize) -> u64 {
    let mut bytes = [0; 8];
    if let Some(source) = params.get(offset..offset + S) {
        bytes[..S].copy_from_slice(source);
    }
    u64::from_le_bytes(bytes)
}

/// Parameters and frame variables at a fixed offset: the same in all lanes.
#[inline(always)]
fn fixed_place<const S: usize, const WRITE: bool>(
    block: &Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    if access.place == Place::Param {
        let offset = i64::from(inst.imm as i32);
        let size = block.grid.params.len() as i64;
        if WRITE || offset < 0 || offset + bytes as i64 > size {
            let message = format!(
                "{} of {bytes} bytes at offset {offset} of the kernel parameters, which have {size} bytes",
                verb(WRITE)
            );
            return Err(Fault::new(ReportKind::OutOfBounds, Some(mask.trailing_zeros()), message));
        }
        for (i, &row) in rows(run, inst, access).iter().enumerate() {
            let value = param_value::<S>(&block.grid.params, offset as usize + i * S);
            if row != NONE {
                broadcast(run, row, access.wide_register, mask, extend::<S>(value, access.signed));
            }
        }
        return Ok(());
    }
    let frame = warp.frame(&run.path);
    let offset = i64::from(frame.local) * 4 + i64::from(inst.imm as i32);
    let end = i64::from(frame.local_end) * 4;
    if offset < 0 || offset + bytes as i64 > end || offset & (S as i64 - 1) != 0 {
        let at = [offset as u64; 32];
        return Err(bad_local(&at, mask, bytes, end as u64, WRITE));
    }
    // SAFETY: the offset was checked against the frame's end, to which `local` reaches.
    unsafe {
        for (i, &row) in rows(run, inst, access).iter().enumerate() {
            let offset = offset as usize + i * S;
            if S == 4 && !access.wide_register && mask == u32::MAX && row != NONE {
                let memory = warp.local.as_mut_ptr().add((offset >> 2) * 32).cast::<[u32; 32]>();
                let row = run.regs.add(row as usize).cast::<[u32; 32]>();
                if WRITE {
                    memory.write_unaligned(row.read_unaligned());
                } else {
                    row.write_unaligned(memory.read_unaligned());
                }
                continue;
            }
            for lane in lanes_of(mask) {
                if WRITE {
                    let value = read_row(run.regs, row, access.wide_register, lane);
                    poke_local::<S>(warp, offset, lane, value);
                } else if row != NONE {
                    let value = extend::<S>(peek_local::<S>(warp, offset, lane), access.signed);
                    write_row(run.regs, row, access.wide_register, lane, value);
                }
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn broadcast(run: &Running<'_>, row: u32, wide: bool, mask: u32, value: u64) {
    // SAFETY: decoded row of this width.
    unsafe {
        if mask == u32::MAX {
            let row = run.regs.add(row as usize);
            if wide {
                row.cast::<[u64; 32]>().write_unaligned([value; 32]);
            } else {
                row.cast::<[u32; 32]>().write_unaligned([value as u32; 32]);
            }
            return;
        }
        for lane in lanes_of(mask) {
            write_row(run.regs, row, wide, lane, value);
        }
    }
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
            Window::Shared => shared::<S, WRITE>(machine, block, run, inst, access, part, &sorted)?,
            Window::Local => local::<S, WRITE>(warp, run, inst, access, part, &sorted)?,
            Window::Param => params::<S, WRITE>(block, run, inst, access, part, &sorted)?,
            Window::Global | Window::Function | Window::Invalid => {}
        }
    }
    Ok(())
}

/// A byte that a lane can read through a generic address; for the device runtime and `printf`.
pub fn read_byte(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    address: u64,
    lane: usize,
) -> Step<u8> {
    own(block, warp, address, lane, 1, false)?;
    let offset = space::offset(address) as usize;
    let found = match space::window(address) {
        Window::Global => {
            if !machine.memory.contains(address, 1) {
                return Err(bad_global(machine, address, 1, false).on(lane));
            }
            // SAFETY: checked.
            Some(unsafe { peek::<1>(address) } as u8)
        }
        Window::Shared => block.shared.get(offset).copied(),
        Window::Local => {
            warp.local.get((offset >> 2) * 32 + lane).map(|w| w.to_le_bytes()[offset & 3])
        }
        Window::Param => block.grid.params.get(offset).copied(),
        Window::Function | Window::Invalid => None,
    };
    found.ok_or_else(|| {
        let message = format!("load of 1 byte at {address:#x}, past the end of its memory");
        Fault::new(ReportKind::OutOfBounds, Some(lane as u32), message).at(address)
    })
}

/// Writes a byte through a generic address; for the device runtime.
pub fn write_byte(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    address: u64,
    lane: usize,
    value: u8,
) -> Step<()> {
    own(block, warp, address, lane, 1, true)?;
    let offset = space::offset(address) as usize;
    match space::window(address) {
        Window::Global => {
            if !machine.memory.find(address).is_some_and(|extent| extent.writable) {
                return Err(bad_global(machine, address, 1, true).on(lane));
            }
            // SAFETY: checked.
            unsafe { poke::<1>(address, u64::from(value)) };
            return Ok(());
        }
        Window::Shared => {
            if let (Some(byte), Some(flag)) =
                (block.shared.get_mut(offset), block.written.get_mut(offset))
            {
                *byte = value;
                *flag = 0xff;
                return Ok(());
            }
        }
        Window::Local => {
            if let Some(word) = warp.local.get_mut((offset >> 2) * 32 + lane) {
                let shift = 8 * (offset as u32 & 3);
                *word = (*word & !(0xff << shift)) | u32::from(value) << shift;
                return Ok(());
            }
        }
        Window::Param | Window::Function | Window::Invalid => {}
    }
    let message = format!("store of 1 byte at {address:#x}, past the end of its memory");
    Err(Fault::new(ReportKind::OutOfBounds, Some(lane as u32), message).at(address))
}

/// `cp.async`: done at once.
pub fn async_copy(
    machine: &Machine,
    block: &mut Block,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    if active == 0 {
        return Ok(());
    }
    let copy = run.function.async_copies[inst.imm as usize];
    let (mut from, mut to) = ([0u64; 32], [0u64; 32]);
    addresses(run.regs, copy.src.0, copy.src.1, copy.src_offset, active, &mut from);
    addresses(run.regs, copy.dst.0, copy.dst.1, copy.dst_offset, active, &mut to);
    let bytes = u64::from(copy.size_bytes);
    let size = block.shared.len() as u64;
    let (_, hi, bits) = bounds(&to);
    if bits & (bytes - 1) != 0 || hi >= space::WINDOW_BYTES || hi + bytes > size {
        return Err(bad_shared(block, &to, active, bytes, true));
    }
    for lane in lanes_of(active) {
        let mut count = bytes;
        if copy.src_size != NONE {
            // SAFETY: decoded row.
            count = count.min(unsafe { read_row(run.regs, copy.src_size, false, lane) });
        }
        if copy.ignore.0 != NONE {
            // SAFETY: decoded predicate.
            let ignored = unsafe { *run.regs.add(copy.ignore.0 as usize) } ^ copy.ignore.1;
            if ignored >> lane & 1 != 0 {
                count = 0;
            }
        }
        if from[lane] & (bytes - 1) != 0 {
            return Err(misaligned(from[lane], bytes, false).on(lane));
        }
        if count > 0 && !machine.memory.contains(from[lane], count) {
            return Err(bad_global(machine, from[lane], count, false).on(lane));
        }
        let start = to[lane] as usize;
        for i in 0..bytes as usize {
            // SAFETY: the source was checked for `count` bytes.
            let value = if (i as u64) < count {
                unsafe { peek::<1>(from[lane] + i as u64) as u8 }
            } else {
                0
            };
            block.shared[start + i] = value;
            block.written[start + i] = 0xff;
        }
    }
    block.counters.load_transactions += 1;
    Ok(())
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
