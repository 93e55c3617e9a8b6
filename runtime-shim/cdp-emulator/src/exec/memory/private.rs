//! Memory of one thread and kernel parameters: local variables, frames of functions, `.param`.

use super::super::checks::{Addresses, OnLane, bad_local, bad_param, misaligned};
use super::super::path::Running;
use super::super::rows::{read_row, write_row};
use super::super::{Block, Machine, Step, Warp, door, rows};
use super::{bounds, broadcast, extend, registers};
use crate::code::{Access, Inst, NONE, StateSpace};
use crate::lanes::lanes_of;
use crate::memory::space;

#[allow(clippy::too_many_arguments)]
pub fn local<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &Block,
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
    door::local(machine, block, warp, &run.path, WRITE, at, mask, bytes);
    let registers = registers(run, inst, access);
    let wide = access.wide_register;
    // SAFETY: offsets end below the frame's end, to which `local` reaches.
    unsafe {
        for lane in lanes_of(mask) {
            for (i, &row) in registers.iter().enumerate() {
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

pub fn params<const S: usize, const WRITE: bool>(
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
        if !WRITE && offset & (bytes - 1) != 0 {
            return Err(misaligned(offset, bytes, false).on(lane));
        }
        if WRITE || offset >= space::WINDOW_BYTES || offset + bytes > params.len() as u64 {
            return Err(bad_param(block, offset as i64, bytes, WRITE).on(lane));
        }
        for (i, &row) in registers(run, inst, access).iter().enumerate() {
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
pub fn fixed_place<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    if access.space == StateSpace::Param {
        let offset = i64::from(inst.imm as i32);
        let size = block.grid.params.len() as i64;
        if WRITE || offset < 0 || offset + bytes as i64 > size {
            let lane = mask.trailing_zeros() as usize;
            return Err(bad_param(block, offset, bytes, WRITE).on(lane));
        }
        for (i, &row) in registers(run, inst, access).iter().enumerate() {
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
    door::local(machine, block, warp, &run.path, WRITE, &[offset as u64; 32], mask, bytes);
    // SAFETY: the offset was checked against the frame's end, to which `local` reaches.
    unsafe {
        for (i, &row) in registers(run, inst, access).iter().enumerate() {
            let offset = offset as usize + i * S;
            if row == NONE {
                continue;
            }
            if S >= 4 && access.wide_register == (S == 8) {
                let memory = warp.local.as_mut_ptr().add((offset >> 2) * 32);
                let row = run.regs.add(row as usize);
                match (S == 8, WRITE) {
                    (false, true) => rows::copy(memory, row, mask),
                    (false, false) => rows::copy(row, memory, mask),
                    (true, true) => rows::split(memory, row, mask),
                    (true, false) => rows::join(row, memory, mask),
                }
                continue;
            }
            for lane in lanes_of(mask) {
                if WRITE {
                    let value = read_row(run.regs, row, access.wide_register, lane);
                    poke_local::<S>(warp, offset, lane, value);
                } else {
                    let value = extend::<S>(peek_local::<S>(warp, offset, lane), access.signed);
                    write_row(run.regs, row, access.wide_register, lane, value);
                }
            }
        }
    }
    Ok(())
}
