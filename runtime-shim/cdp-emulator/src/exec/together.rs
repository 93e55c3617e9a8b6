//! Turns of warps that are all together: every lane is there, active and in the kernel itself, as in most warps
//! most of the time. What follows from parted lanes, calls and checks is not looked at, and the path stays where it
//! is: what the turn costs but for its instructions is a third of what it costs in the loop of [`super::run`], which
//! goes on where something else turns up.

use super::door::NoChecks;
use super::path::{Running, WarpStop};
use super::{Block, Machine, PathState, Warp, barrier, native, straight};
use crate::code::{JOIN_RETURN, NONE, Op};

/// Runs a warp that is together, until its turn ends. `None`: the loop goes on from where the path is now.
#[inline(always)]
pub fn turn(machine: &Machine, block: &mut Block, warp: &mut Warp) -> Option<WarpStop> {
    let [path] = warp.paths.as_slice() else { return None };
    let together = path.mask & warp.live == u32::MAX
        && path.group == NONE
        && path.state == PathState::Ready
        && path.pc != JOIN_RETURN
        && warp.frames[path.frame as usize].parent == NONE;
    // Seeded schedules interrupt warps anywhere; checks look at every access.
    if !together || !machine.avx2 || machine.watch.is_some() || machine.schedule_seed.is_some() {
        return None;
    }
    // SAFETY: the processor has these features.
    unsafe { run(machine, block, warp) }
}

#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run(machine: &Machine, block: &mut Block, warp: &mut Warp) -> Option<WarpStop> {
    let path = warp.paths[0];
    let frame = &warp.frames[path.frame as usize];
    let (number, base) = (frame.function as usize, frame.base as usize);
    // SAFETY: the frame's words lie in `regs`.
    let regs = unsafe { warp.regs.as_mut_ptr().add(base) };
    let mut run = Running { path, function: &machine.functions[number], regs };
    let mut caller = native::Caller::new();
    let (mut instructions, mut branches) = (0u64, 0);
    let stop = loop {
        // SAFETY: program counters come from decoding, which ends every function with an
        // instruction that does not fall through.
        let inst = unsafe { run.function.code.get_unchecked(run.path.pc as usize) };
        if inst.ahead > 0 {
            let mut ran = 0;
            if inst.run != 0 {
                ran = caller.run(machine, block, warp, &mut run, inst.run);
            }
            if ran == 0 {
                // SAFETY: decoding counted them.
                ran = unsafe {
                    straight::run::<true>(block, warp, &mut run, inst.ahead, true, &mut NoChecks)
                };
            }
            if ran == 0 {
                break None;
            }
            instructions += u64::from(ran);
            continue;
        }
        // SAFETY: the guard's word lies in the frame.
        let active = unsafe { *run.regs.add(inst.guard as usize) } ^ inst.guard_not;
        match inst.op {
            Op::Alu => {
                if active != 0 {
                    // SAFETY: `inst` was decoded for this frame.
                    unsafe { (inst.alu)(run.regs, inst, active) };
                }
                run.path.pc += 1;
            }
            Op::Bra { target, .. } if active == 0 || active == u32::MAX => {
                branches += 1;
                let back = active != 0 && target <= run.path.pc;
                run.path.pc = if active != 0 { target } else { run.path.pc + 1 };
                if back && (instructions + 1) as i64 > block.budget {
                    instructions += 1;
                    break Some(WarpStop::Slice);
                }
            }
            // Nobody parted.
            Op::Join => run.path.pc += 1,
            Op::Barrier if active == u32::MAX => {
                // SAFETY: the instruction's frame.
                let Some(id) = (unsafe { barrier::plain(run.function, run.regs, inst) }) else {
                    break None;
                };
                instructions += 1;
                block.counters.barriers += 1;
                block.barriers[id as usize].arrived += 32;
                warp.paths[0].state = PathState::Barrier(id);
                break Some(WarpStop::Idle);
            }
            Op::Ret { .. } | Op::Exit if active == u32::MAX => {
                instructions += 1;
                warp.live = 0;
                break Some(WarpStop::Done);
            }
            _ => break None,
        }
        instructions += 1;
    };
    caller.count(block);
    block.counters.branches += branches;
    warp.clock += instructions;
    block.budget -= instructions as i64;
    block.counters.warp_instructions += instructions;
    block.counters.thread_instructions += instructions * 32;
    warp.paths[0].pc = run.path.pc;
    if warp.live == 0 {
        let frame = run.path.frame;
        warp.paths.clear();
        warp.release_frame(frame);
    }
    stop
}
