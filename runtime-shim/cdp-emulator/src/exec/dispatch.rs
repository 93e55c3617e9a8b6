//! Which part of the interpreter does an instruction that the loop ([`super::run`]) does not do itself.

use super::fault::Fault;
use super::path::{Next, Running, exit};
use super::rows::{fill_with, read_row, set_pred, write_row};
use super::{Block, Machine, Step, Warp};
use super::{
    address, atomics, barrier, bulk, bulk_tensor, calls, cluster, collective, diverge, door,
    mbarrier, memory, special, surface, tensor, warpgroup,
};
use crate::alu::video;
use crate::code::{Inst, Op, PredLogic, VideoInst};
use crate::lanes::{lanes_of, mask_of};
use crate::report::ReportKind;

/// Instructions that are neither arithmetic nor memory accesses nor branches.
pub fn execute<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    inst: &'m Inst,
    active: u32,
) -> Step<Next> {
    let regs = run.regs;
    match inst.op {
        // Handled by the loop.
        Op::Alu | Op::Load(_) | Op::Store(_) | Op::Bra { .. } | Op::Join => {}
        Op::Brx { table, join } => return indexed_branch(warp, run, inst, table, join, active),
        Op::Call => return calls::call(machine, block, warp, run, inst, active),
        Op::Ret { join } => return calls::ret(machine, warp, run, active, join),
        Op::Exit => return Ok(exit(warp, run, active)),
        Op::Trap if active != 0 => {
            let message = "the program executed a trap";
            return Err(Fault::new(ReportKind::Trap, Some(active.trailing_zeros()), message));
        }
        Op::Brkpt if active != 0 => {
            let message = "the program executed a breakpoint";
            return Err(Fault::new(ReportKind::Breakpoint, Some(active.trailing_zeros()), message));
        }
        Op::Barrier if active != 0 => {
            return barrier::arrive(machine, block, warp, run, inst, active);
        }
        Op::WarpSync | Op::Collective if active != 0 => {
            let lapses = || collective::lapses(warp, run, inst, active);
            door::met(machine, block, warp, &run.path, lapses);
            return match inst.op {
                Op::WarpSync => collective::warp_sync(block, warp, run, inst, active),
                _ => collective::exchange(warp, run, inst, active),
            };
        }
        Op::ClusterWait if active != 0 => return cluster::wait(block, warp, run, active),
        Op::Trap | Op::Brkpt | Op::Barrier | Op::WarpSync | Op::Collective | Op::ClusterWait => {}
        Op::ClusterArrive { releases } => cluster::arrive(block, warp, active, releases)?,
        Op::Mapa(space) => cluster::map(block, regs, inst, space, active)?,
        Op::ClusterRank(space) => cluster::rank(block, regs, inst, space, active)?,
        Op::Remote => bulk::remote(machine, block, warp, run, inst, active)?,
        Op::Atomic => {
            if active != 0 {
                atomics::execute(machine, block, warp, run, inst, active)?;
            }
        }
        Op::BarrierObject => {
            if active != 0 {
                mbarrier::execute(machine, block, warp, run, inst, active)?;
            }
        }
        Op::BulkCopy => bulk::copy(machine, block, warp, run, inst, active)?,
        Op::TensorCopy => bulk_tensor::copy(machine, block, warp, run, inst, active)?,
        Op::AsyncCopy => memory::async_copy(machine, block, warp, run, inst, active)?,
        Op::Texture => surface::fetch(machine, block, warp, run, inst, active)?,
        Op::Surface => surface::access(machine, block, warp, run, inst, active)?,
        Op::TextureQuery => surface::query(machine, run, inst, active)?,
        Op::Sleep => {
            let mut longest = 0;
            for lane in lanes_of(active) {
                // SAFETY: decoded row.
                longest = longest.max(unsafe { read_row(regs, inst.a, false, lane) });
            }
            warp.clock += longest;
        }
        Op::Alloca { wide } => {
            calls::alloca(block.grid.stack_bytes, warp, run, inst, wide, active)?;
        }
        Op::StackSave { wide } => {
            let end = u64::from(warp.frame(&run.path).local_end) * 4;
            // SAFETY: decoded row.
            unsafe { fill_with(regs, inst.d, wide, active, |_| end) };
        }
        Op::StackRestore { wide } => calls::stack_restore(warp, run, inst, wide, active),
        Op::ActiveMask => {
            let mask = u64::from(run.path.mask);
            // SAFETY: decoded row.
            unsafe { fill_with(regs, inst.d, false, active, |_| mask) };
        }
        Op::Special(which) if which.is_time() => {
            special::read_clock(machine, block, warp, regs, inst, which, active);
        }
        Op::Special(which) => special::read(block, warp, regs, inst, which, active),
        Op::FrameAddress { wide } => {
            let at = u64::from(warp.frame(&run.path).local) * 4 + u64::from(inst.imm);
            // SAFETY: decoded row.
            unsafe { fill_with(regs, inst.d, wide, active, |_| at) };
        }
        Op::SharedAddress { wide } => {
            let at =
                u64::from(machine.shared[block.grid.kernel as usize].offsets[inst.imm as usize]);
            // SAFETY: decoded rows.
            unsafe {
                fill_with(regs, inst.d, wide, active, |lane| {
                    at.wrapping_add(read_row(regs, inst.a, wide, lane))
                })
            };
        }
        Op::ToGeneric(space) => address::to_generic(block, warp, regs, inst, space, active),
        Op::FromGeneric(space) => address::from_generic(block, regs, inst, space, active),
        Op::IsSpace(space) => address::is_space(machine, block, regs, inst, space, active),
        Op::PredLogic(op) => pred_logic(regs, inst, op, active),
        Op::RowFromPred => {
            // SAFETY: decoded row and predicate.
            unsafe {
                let pred = *regs.add(inst.a as usize);
                let value = u64::from(inst.imm);
                fill_with(regs, inst.d, false, active, |lane| {
                    if pred >> lane & 1 != 0 { value } else { 0 }
                });
            }
        }
        Op::PredNonzero => {
            let mut bits = 0;
            for lane in lanes_of(active) {
                // SAFETY: decoded row.
                bits |= u32::from(unsafe { read_row(regs, inst.a, false, lane) } != 0) << lane;
            }
            set_pred(regs, inst.d, bits, active);
        }
        Op::Video => video_lanes(regs, inst, &run.function.videos[inst.imm as usize], active),
        Op::Divisor { wide } => {
            let mask = u64::MAX >> (64 - inst.imm.clamp(1, 64));
            // SAFETY: decoded row.
            let is_zero = |&lane: &usize| unsafe { read_row(regs, inst.a, wide, lane) } & mask == 0;
            let zero = mask_of(lanes_of(active).filter(is_zero));
            door::divided(machine, block, warp, run, zero);
        }
        Op::Fence(order) => door::fence(machine, block, warp, active, order),
        Op::Copies(order) => door::copies(machine, block, warp, active, order),
        Op::Mma if active != 0 => {
            tensor::mma(regs, &run.function.tensors[inst.imm as usize], active);
        }
        Op::GroupProduct if active != 0 => {
            warpgroup::product(machine, block, warp, run, inst, active)?;
        }
        Op::Movmatrix => tensor::movmatrix(regs, inst, active),
        Op::MatrixAddress => {
            let of = &run.function.matrix_addresses[inst.imm as usize];
            tensor::addresses(regs, inst, of, active);
        }
        Op::Mma | Op::GroupProduct | Op::Nop => {}
        Op::Refused if active != 0 => return Err(refused(run, active)),
        Op::Refused => {}
    }
    run.path.pc += 1;
    Ok(Next::Continue)
}

/// The report of an instruction that the device does not run, reached through a pointer.
fn refused(run: &Running<'_>, active: u32) -> Box<Fault> {
    let why = run.function.refusal.as_ref().map_or("", |(_, why)| why);
    let lane = Some(active.trailing_zeros());
    Fault::new(ReportKind::InvalidInstruction, lane, format!("not supported: {why}"))
}

fn pred_logic(regs: *mut u32, inst: &Inst, op: PredLogic, active: u32) {
    // SAFETY: decoded predicates.
    let (mut a, mut b) = unsafe { (*regs.add(inst.a as usize), *regs.add(inst.b as usize)) };
    if inst.imm & 1 != 0 {
        a = !a;
    }
    if inst.imm & 2 != 0 {
        b = !b;
    }
    let bits = match op {
        PredLogic::And => a & b,
        PredLogic::Or => a | b,
        PredLogic::Xor => a ^ b,
        PredLogic::Copy => a,
    };
    set_pred(regs, inst.d, bits, active);
}

fn video_lanes(regs: *mut u32, inst: &Inst, video: &VideoInst, active: u32) {
    for lane in lanes_of(active) {
        // SAFETY: decoded rows.
        unsafe {
            let (a, b) = (
                read_row(regs, inst.a, false, lane) as u32,
                read_row(regs, inst.b, false, lane) as u32,
            );
            let c = read_row(regs, inst.c, false, lane) as u32;
            let value = match video {
                VideoInst::Scalar(v) => video::scalar(v, a, b, c),
                VideoInst::Mad(v) => video::mad(v, a, b, c),
                VideoInst::Simd(v) => video::simd(v, a, b, c),
            };
            write_row(regs, inst.d, false, lane, u64::from(value));
        }
    }
}

fn indexed_branch(
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    table: u32,
    join: u32,
    active: u32,
) -> Step<Next> {
    let targets = &run.function.branch_tables[table as usize];
    if active == 0 {
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    let mut rest = active;
    let mut parts: Vec<(u32, u32)> = Vec::new();
    while rest != 0 {
        let lane = rest.trailing_zeros();
        // SAFETY: decoded row.
        let index = unsafe { read_row(run.regs, inst.a, false, lane as usize) };
        let Some(&target) = targets.get(index as usize) else {
            let message = format!("branch table index {index} of {}", targets.len());
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane), message));
        };
        let same = lanes_of(rest)
            // SAFETY: decoded row.
            .filter(|&l| unsafe { read_row(run.regs, inst.a, false, l) } == index)
            .fold(0u32, |mask, l| mask | 1 << l);
        rest &= !same;
        match parts.iter_mut().find(|part| part.0 == target) {
            Some(part) => part.1 |= same,
            None => parts.push((target, same)),
        }
    }
    let stay = run.path.mask & !active;
    if stay != 0 {
        parts.push((run.path.pc + 1, stay));
    }
    // The first part runs on; the others are set aside.
    for &(target, lanes) in parts.iter().skip(1) {
        diverge::split(warp, &mut run.path, lanes, target, join);
    }
    run.path.pc = parts[0].0;
    Ok(Next::Continue)
}
