//! The path of a warp that runs, and how instructions end or part it.

use super::fault::WaitingLanes;
use super::{Block, Group, Machine, Path, PathState, Warp, diverge};
use crate::code::{Function, JOIN_RETURN, NONE};
use crate::memory::SiteRef;

/// Why a warp stopped running.
#[derive(Debug)]
pub enum WarpStop {
    /// All its lanes have ended.
    Done,
    /// No lane can run now.
    Idle,
    /// The slice is used up.
    Slice,
    /// A seeded schedule interrupts it here.
    Yield,
    /// Its lanes only go round waiting loops.
    Spin,
    /// The last path of `paths` calls the device, in these lanes.
    Service(u32),
}

/// What the loop does after an instruction that is not plain.
pub enum Next {
    /// The next instruction.
    Continue,
    /// The path was parked, ended or waits: choose another.
    Switch,
    /// Hand the path to the device.
    Service(u32),
}

/// The running path with what the loop keeps at hand.
pub struct Running<'m> {
    /// The path; its `pc` is that of the current instruction.
    pub path: Path,
    /// Its function.
    pub function: &'m Function,
    /// Its register frame.
    pub regs: *mut u32,
}

impl<'m> Running<'m> {
    /// Sets `function` and `regs` after the frame changed or the registers moved.
    pub fn refresh(&mut self, machine: &'m Machine, warp: &mut Warp) {
        let frame = warp.frames[self.path.frame as usize];
        self.function = &machine.functions[frame.function as usize];
        // SAFETY: the frame's words lie in `regs` (`calls::enter` made room).
        self.regs = unsafe { warp.regs.as_mut_ptr().add(frame.base as usize) };
    }
}

/// Where a lane of a path is.
pub fn site(block: &Block, warp: &Warp, path: &Path, lane: u32) -> SiteRef {
    let frame = warp.frames.get(path.frame as usize);
    SiteRef {
        grid: block.grid.serial,
        kernel: block.grid.kernel,
        block: block.linear,
        thread: warp.index * 32 + lane,
        function: frame.map_or(block.grid.function, |f| f.function),
        instruction: path.pc,
    }
}

/// If only some lanes of the path are active in an instruction at which lanes wait, parks the
/// others at the meeting point right behind it.
pub fn keep_active(warp: &mut Warp, run: &mut Running<'_>, active: u32) {
    let away = run.path.mask & !active;
    if away == 0 {
        return;
    }
    // Decoding put a meeting point behind every guarded waiting instruction.
    let next = run.path.pc + 1;
    diverge::split(warp, &mut run.path, away, next, next);
}

/// Ends lanes.
pub fn exit(warp: &mut Warp, run: &mut Running<'_>, active: u32) -> Next {
    if active == 0 {
        run.path.pc += 1;
        return Next::Continue;
    }
    warp.live &= !active;
    run.path.mask &= !active;
    diverge::leave(warp, run.path.group, active);
    if run.path.mask == 0 {
        warp.release_frame(run.path.frame);
        return Next::Switch;
    }
    // The lanes that stay may have been the last ones that parked lanes waited for; they find out
    // at their next meeting point. But a group may have been freed under the path.
    run.path.pc += 1;
    Next::Continue
}

/// Lanes that wait where diverged lanes of their warp meet.
pub fn parked_lanes(machine: &Machine, block: &Block, warp: &Warp) -> Vec<WaitingLanes> {
    let parked = warp.groups.iter().filter(|g| g.expected != 0 && g.arrived != 0);
    let waiting = |group: &Group| {
        let function = &machine.functions[warp.frames[group.frame as usize].function as usize];
        let end = function.code.len() as u32 - 1;
        let path = Path {
            pc: if group.join == JOIN_RETURN { end } else { group.join },
            mask: group.arrived,
            frame: group.frame,
            group: NONE,
            state: PathState::Ready,
        };
        let others = (group.expected & !group.arrived).count_ones();
        WaitingLanes {
            site: site(block, warp, &path, group.arrived.trailing_zeros()),
            lanes: group.arrived,
            what: format!("to meet {others} diverged lanes"),
        }
    };
    parked.map(waiting).collect()
}
