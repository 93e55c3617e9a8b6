//! Instructions that follow each other without a branch, a guard or anything else to look at: arithmetic,
//! places of threads, and the accesses to memory that [`super::memory::whole`] does.
//!
//! Decoding counts them ([`crate::code::Inst::ahead`]). What they do is what the loop of [`super::run`] does with each; here
//! it costs less than half, and what one access finds out about its addresses serves the next ones through
//! the same row.

use super::door::Checks;
use super::path::Running;
use super::{Block, Warp, memory, special};
use crate::code::Op;

/// Runs the instructions from the path's on, of which `count` may be run here, up to one that needs more.
/// Gives how many it ran; the path goes on behind them. `memory`: the lanes are all 32, and no check but `checks`
/// looks at accesses.
///
/// # Safety
/// The instructions were decoded for the frame at `run.regs`, `count` of them from `run.path.pc` on; if
/// `AVX2`, the processor has it.
#[inline(always)]
pub unsafe fn run<const AVX2: bool>(
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    count: u32,
    memory: bool,
    checks: &mut impl Checks,
) -> u32 {
    let function = run.function;
    let (first, mask) = (run.path.pc as usize, run.path.mask);
    // SAFETY: by the contract.
    let code = unsafe { function.code.get_unchecked(first..first + count as usize) };
    #[cfg(target_arch = "x86_64")]
    let mut known = memory::whole::Known::none();
    for inst in code {
        match inst.op {
            // SAFETY: by the contract.
            Op::Alu => unsafe { (inst.alu)(run.regs, inst, mask) },
            Op::Special(which) => special::place(block, warp, run.regs, inst, which, mask),
            Op::Load(access) | Op::Store(access) if AVX2 && memory => {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: by the contract.
                let done = unsafe {
                    use memory::whole::next;
                    let writes = matches!(inst.op, Op::Store(_));
                    checks.pass(block, warp, run, inst, access, writes)
                        && match writes {
                            false => next::<false>(block, warp, run, inst, access, &mut known),
                            true => next::<true>(block, warp, run, inst, access, &mut known),
                        }
                };
                #[cfg(not(target_arch = "x86_64"))]
                let done = false;
                if !done {
                    break;
                }
            }
            _ => break,
        }
        run.path.pc += 1;
    }
    run.path.pc - first as u32
}
