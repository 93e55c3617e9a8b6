//! Exchanges between the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `elect`,
//! `bar.warp.sync`.
//!
//! An exchange with a member mask waits until every live lane of the mask has come, perhaps along
//! another path, with the same mask and to the same operation; then values are gathered from all of them, the
//! results computed, and handed out. Lanes of which others name more, or less, never meet, as on a GPU.

use cdp_ptx::{MatchMode, ReduxOp, ScalarType, ShflMode, VoteMode};

use super::fault::Fault;
use super::path::{Next, Running, keep_active};
use super::rows::{read_row, set_pred, write_row};
use super::{Block, Machine, Path, PathState, Step, Warp, absent, door};
use crate::alu::float::min_max;
use crate::check::findings::Lapse;
use crate::code::{Collective, CollectiveKind, Inst, NONE, Op};
use crate::lanes::{lanes_of, mask_of};
use crate::report::ReportKind;

/// What masks of lanes are.
pub const NAMES_ITSELF: &str = "the mask of __syncwarp, votes, shuffles and their like names the lanes that come, the caller among them";

/// The operands of the taking part lanes.
struct Gathered {
    a: [u64; 32],
    b: [u32; 32],
    c: [u32; 32],
    members: [u32; 32],
    /// Lanes whose source has contents, as far as that is followed.
    given: u32,
}

impl Gathered {
    fn of(members: [u32; 32]) -> Gathered {
        Gathered { a: [0; 32], b: [0; 32], c: [0; 32], members, given: u32::MAX }
    }
}

/// Results by lane.
struct Results {
    value: [u32; 32],
    pred: u32,
    /// Lanes whose result has contents.
    given: u32,
    /// Of shuffles, the lane whose value it is.
    source: [u8; 32],
    /// Lanes whose source does not take part.
    absent: u32,
}

/// What lanes that come to an exchange do which PTX leaves open, and which of them do it.
pub fn lapses(warp: &Warp, run: &Running<'_>, inst: &Inst, active: u32) -> [(Lapse, u32); 3] {
    let (row, kind) = match inst.op {
        Op::Collective => {
            let collective = &run.function.collectives[inst.imm as usize];
            (collective.mask, Some(collective.kind))
        }
        _ => (inst.a, None),
    };
    if row == NONE {
        return [(Lapse::Unnamed, 0); 3];
    }
    let masks = given_masks(run.regs, row, active);
    let unnamed = mask_of(lanes_of(active).filter(|&lane| masks[lane] >> lane & 1 == 0));
    let [mut unlike, mut incomplete] = [0; 2];
    // Those of several paths are looked at when they meet.
    if all_here(warp, &masks, active) {
        let first = masks[active.trailing_zeros() as usize & 31];
        unlike = mask_of(lanes_of(active).filter(|&lane| masks[lane] != first));
        incomplete = if is_incomplete(kind, warp) { active } else { 0 };
    }
    [(Lapse::Unnamed, unnamed), (Lapse::Unlike, unlike), (Lapse::Incomplete, incomplete)]
}

fn is_incomplete(kind: Option<CollectiveKind>, warp: &Warp) -> bool {
    kind == Some(CollectiveKind::Matrix) && warp.live != u32::MAX
}

/// `bar.warp.sync`
pub fn warp_sync(
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<Next> {
    keep_active(warp, run, active);
    let masks = masks_of(run.regs, inst.a, active)?;
    if all_here(warp, &masks, active) {
        door::warp_met(block, warp, &with_own(masks, active), active);
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    wait(warp, run);
    Ok(Next::Switch)
}

/// An exchange by the lanes of the running path.
pub fn exchange(warp: &mut Warp, run: &mut Running<'_>, inst: &Inst, active: u32) -> Step<Next> {
    let collective = &run.function.collectives[inst.imm as usize];
    if collective.mask != NONE {
        keep_active(warp, run, active);
        let masks = masks_of(run.regs, collective.mask, active)?;
        if !all_here(warp, &masks, active) {
            wait(warp, run);
            return Ok(Next::Switch);
        }
    }
    // Those of one mask at one place take part, whether it names them or not.
    let mut gathered = Gathered::of([active; 32]);
    gather(run.regs, collective, active, &mut gathered);
    let results = compute(collective, &gathered, active, active);
    note_absent(warp, &run.path, collective, active, &results);
    scatter(run.regs, collective, active, &results);
    run.path.pc += 1;
    Ok(Next::Continue)
}

fn wait(warp: &mut Warp, run: &mut Running<'_>) {
    run.path.state = PathState::Collective;
    warp.paths.push(run.path);
}

/// The masks with which lanes come to an exchange, as they give them.
fn given_masks(regs: *const u32, row: u32, active: u32) -> [u32; 32] {
    let mut masks = [0; 32];
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        masks[lane] = unsafe { read_row(regs, row, false, lane) } as u32;
    }
    masks
}

/// The lanes that these masks name, each with the lane itself.
fn with_own(mut masks: [u32; 32], active: u32) -> [u32; 32] {
    for lane in lanes_of(active) {
        masks[lane] |= 1 << lane;
    }
    masks
}

/// The same masks as they are given, where one names its lane: an H200 ends a program whose lanes all name others.
fn masks_of(regs: *const u32, row: u32, active: u32) -> Step<[u32; 32]> {
    let masks = given_masks(regs, row, active);
    if active == 0 || lanes_of(active).any(|lane| masks[lane] >> lane & 1 != 0) {
        return Ok(masks);
    }
    let lane = active.trailing_zeros();
    let message = format!(
        "a mask of lanes, {:#010x}, that does not name lane {lane}, which comes with it",
        masks[lane as usize]
    );
    Err(Fault::new(ReportKind::InvalidInstruction, Some(lane), message).help(NAMES_ITSELF))
}

/// True if the lanes come with one mask, and every live lane that it names is among them.
fn all_here(warp: &Warp, masks: &[u32; 32], lanes: u32) -> bool {
    let named = masks[lanes.trailing_zeros() as usize & 31] & warp.live;
    named & !lanes == 0 && lanes_of(lanes).all(|lane| masks[lane] & warp.live == named)
}

/// What a path waits at.
struct Waiting {
    /// `None` for `bar.warp.sync`.
    kind: Option<CollectiveKind>,
    members: [u32; 32],
}

impl Waiting {
    fn of(machine: &super::Machine, warp: &Warp, path: &Path) -> Waiting {
        let frame = warp.frame(path);
        let function = &machine.functions[frame.function as usize];
        let inst = &function.code[path.pc as usize];
        let (row, kind) = match inst.op {
            crate::code::Op::Collective => {
                let collective = &function.collectives[inst.imm as usize];
                (collective.mask, Some(collective.kind))
            }
            _ => (inst.a, None),
        };
        // SAFETY: the frame's words lie in `regs`.
        let regs = unsafe { warp.regs.as_ptr().add(frame.base as usize) };
        Waiting { kind, members: with_own(given_masks(regs, row, path.mask), path.mask) }
    }

    /// As PTX has it.
    fn name(&self) -> String {
        let name = match self.kind {
            None => return "__syncwarp".to_string(),
            Some(CollectiveKind::Shfl(mode)) => format!("shfl.{mode:?}"),
            Some(CollectiveKind::Vote(mode)) => format!("vote.{mode:?}"),
            Some(CollectiveKind::Match(mode)) => format!("match.{mode:?}"),
            Some(CollectiveKind::Redux { op, ty, .. }) => format!("redux.{op:?}.{ty:?}"),
            Some(CollectiveKind::Elect) => "elect".to_string(),
            Some(CollectiveKind::Matrix) => return "an instruction on matrices".to_string(),
        };
        name.to_lowercase()
    }
}

/// The cure of lanes that wait for each other.
pub const HELP: &str = "lanes meet when all that a mask names have come with that same mask, to the same \
    operation: give each __syncwarp, vote and shuffle the mask of exactly the lanes that come to it";

/// What the lanes of a path wait for, by what they name.
pub fn waiters(machine: &super::Machine, warp: &Warp, path: &Path) -> Vec<(u32, String)> {
    let waiting = Waiting::of(machine, warp, path);
    let groups = door::groups(&waiting.members, path.mask);
    let text = |named| format!("at {} of the lanes {named:#010x}", waiting.name());
    groups.map(|(lanes, named)| (lanes, text(named))).collect()
}

/// Completes the exchanges of a block's warps whose members have all come along different paths. True if there were
/// any. To be called when no lane of these warps can run.
pub fn complete_all(machine: &Machine, block: &mut Block) -> bool {
    let mut any = false;
    for index in 0..block.warps.len() {
        if block.warps[index].paths.iter().all(|path| path.state != PathState::Collective) {
            continue;
        }
        let mut warp = block.take_warp(index);
        any |= complete(machine, block, &mut warp);
        block.put_warp(index, warp);
    }
    any
}

fn complete(machine: &Machine, block: &mut Block, warp: &mut Warp) -> bool {
    let waiting: Vec<usize> =
        (0..warp.paths.len()).filter(|&i| warp.paths[i].state == PathState::Collective).collect();
    let mut members = [0u32; 32];
    // By lane; the inner `None` is `bar.warp.sync`.
    let mut kinds: [Option<Option<CollectiveKind>>; 32] = [None; 32];
    for &index in &waiting {
        let path = warp.paths[index];
        let here = Waiting::of(machine, warp, &path);
        for lane in lanes_of(path.mask) {
            members[lane] = here.members[lane];
            kinds[lane] = Some(here.kind);
        }
    }
    let ready = met_by(&members, &kinds, warp.live);
    if ready == 0 {
        return false;
    }
    for &index in &waiting {
        let path = warp.paths[index];
        door::met(machine, block, warp, &path, || {
            lapses_of(&members, &kinds, warp, path.mask & ready)
        });
    }
    if let Some(state) = block.state.as_deref_mut() {
        let synced = mask_of(lanes_of(ready).filter(|&lane| kinds[lane] == Some(None)));
        // Exchanges order no memory (CUDA C++ Programming Guide, "Warp Shuffle Functions").
        for (group, named) in door::groups(&members, synced) {
            state.meet_in_warp(warp.index, group, warp.live, named);
        }
    }
    finish(machine, warp, &waiting, ready, members);
    true
}

/// What lanes that meet at last do which PTX leaves open.
fn lapses_of(
    members: &[u32; 32],
    kinds: &[Option<Option<CollectiveKind>>; 32],
    warp: &Warp,
    lanes: u32,
) -> [(Lapse, u32); 2] {
    let others = |lane: usize| lanes_of(members[lane] & warp.live);
    let unlike = |&lane: &usize| others(lane).any(|other| members[other] != members[lane]);
    let incomplete = |&lane: &usize| is_incomplete(kinds[lane].flatten(), warp);
    [
        (Lapse::Unlike, mask_of(lanes_of(lanes).filter(unlike))),
        (Lapse::Incomplete, mask_of(lanes_of(lanes).filter(incomplete))),
    ]
}

/// The lanes of which all that they name wait with the same members at the same.
fn met_by(members: &[u32; 32], kinds: &[Option<Option<CollectiveKind>>; 32], live: u32) -> u32 {
    let named = |lane: usize| members[lane] & live;
    let meets =
        |lane: usize, other: usize| kinds[lane] == kinds[other] && named(other) == named(lane);
    let all_came = |&lane: &usize| {
        kinds[lane].is_some() && lanes_of(named(lane)).all(|other| meets(lane, other))
    };
    mask_of((0..32).filter(all_came))
}

/// Computes and hands out the results of the lanes in `ready`, and lets them go on.
fn finish(
    machine: &super::Machine,
    warp: &mut Warp,
    waiting: &[usize],
    ready: u32,
    members: [u32; 32],
) {
    let mut gathered = Gathered::of(members);
    let collective_of = |warp: &Warp, path: &Path| {
        let function = &machine.functions[warp.frame(path).function as usize];
        let inst = &function.code[path.pc as usize];
        match inst.op {
            crate::code::Op::Collective => Some(function.collectives[inst.imm as usize]),
            _ => None,
        }
    };
    for &index in waiting {
        let path = warp.paths[index];
        if let Some(collective) = collective_of(warp, &path) {
            let base = warp.frame(&path).base as usize;
            // SAFETY: the frame's words lie in `regs`.
            let regs = unsafe { warp.regs.as_ptr().add(base) };
            gather(regs, &collective, path.mask & ready, &mut gathered);
        }
    }
    // While all are where they wait.
    for &index in waiting {
        let path = warp.paths[index];
        let lanes = path.mask & ready;
        if let Some(collective) = collective_of(warp, &path).filter(|c| c.given != NONE) {
            let results = compute(&collective, &gathered, ready, lanes);
            note_absent(warp, &path, &collective, lanes, &results);
        }
    }
    for &index in waiting {
        let path = warp.paths[index];
        let lanes = path.mask & ready;
        if lanes == 0 {
            continue;
        }
        if let Some(collective) = collective_of(warp, &path) {
            let results = compute(&collective, &gathered, ready, lanes);
            let base = warp.frame(&path).base as usize;
            // SAFETY: the frame's words lie in `regs`.
            let regs = unsafe { warp.regs.as_mut_ptr().add(base) };
            scatter(regs, &collective, lanes, &results);
        }
        let rest = path.mask & !ready;
        let entry = &mut warp.paths[index];
        entry.mask = lanes;
        entry.pc += 1;
        entry.state = PathState::Ready;
        if rest != 0 {
            warp.add_path(Path { mask: rest, ..path });
        }
    }
    merge(warp);
}

/// Joins ready paths that are at the same place with the same history.
fn merge(warp: &mut Warp) {
    let mut index = 0;
    while index < warp.paths.len() {
        let path = warp.paths[index];
        let twin = warp.paths[index + 1..].iter().position(|other| {
            path.state == PathState::Ready
                && other.state == PathState::Ready
                && (other.pc, other.frame, other.group) == (path.pc, path.frame, path.group)
        });
        match twin {
            Some(at) => {
                let other = warp.paths.remove(index + 1 + at);
                warp.paths[index].mask |= other.mask;
                warp.release_frame(other.frame);
            }
            None => index += 1,
        }
    }
}

/// Keeps what is to be told if something comes of values without contents.
fn note_absent(warp: &mut Warp, path: &Path, collective: &Collective, lanes: u32, of: &Results) {
    if collective.given == NONE {
        return;
    }
    for lane in lanes_of(lanes & !of.given) {
        let source = u32::from(of.source[lane]);
        match of.absent >> lane & 1 {
            0 => absent::inherit(warp, lane as u32, source),
            _ => absent::take(warp, path, lane as u32, source),
        }
    }
}

fn gather(regs: *const u32, collective: &Collective, lanes: u32, out: &mut Gathered) {
    for lane in lanes_of(lanes) {
        // SAFETY: decoded rows and predicates.
        unsafe {
            match collective.kind {
                CollectiveKind::Vote(_) => {
                    let pred = *regs.add(collective.a as usize) ^ collective.negate;
                    out.a[lane] = u64::from(pred >> lane & 1);
                }
                CollectiveKind::Elect | CollectiveKind::Matrix => {}
                CollectiveKind::Shfl(_) => {
                    if collective.given != NONE {
                        let given = *regs.add(collective.given as usize) >> lane & 1;
                        out.given = out.given & !(1 << lane) | given << lane;
                    }
                    out.a[lane] = read_row(regs, collective.a, false, lane);
                    out.b[lane] = read_row(regs, collective.b, false, lane) as u32;
                    out.c[lane] = read_row(regs, collective.c, false, lane) as u32;
                }
                CollectiveKind::Match(_) | CollectiveKind::Redux { .. } => {
                    out.a[lane] = read_row(regs, collective.a, collective.wide, lane);
                }
            }
        }
    }
}

fn scatter(regs: *mut u32, collective: &Collective, lanes: u32, results: &Results) {
    if collective.d != NONE {
        for lane in lanes_of(lanes) {
            // SAFETY: decoded row.
            unsafe { write_row(regs, collective.d, false, lane, u64::from(results.value[lane])) };
        }
    }
    if collective.p != NONE {
        set_pred(regs, collective.p, results.pred, lanes);
    }
    if collective.given != NONE {
        set_pred(regs, collective.given, results.given, lanes);
    }
}

/// Results of an exchange among `lanes`, for those of them that are `here`, at one place.
fn compute(collective: &Collective, g: &Gathered, lanes: u32, here: u32) -> Results {
    let mut results =
        Results { value: [0; 32], pred: 0, given: u32::MAX, source: [0; 32], absent: 0 };
    for lane in lanes_of(here) {
        let group = g.members[lane] & lanes;
        match collective.kind {
            CollectiveKind::Shfl(mode) => {
                let (source, valid) = shuffle_source(mode, lane as u32, g.b[lane], g.c[lane]);
                let from = if valid { source } else { lane as u32 };
                // CUDA leaves open what a lane gives that does not take part; an H200's give 0.
                let gives = (group | here) >> from & 1 != 0;
                let value = if gives { g.a[from as usize] } else { 0 };
                if collective.given != NONE {
                    results.source[lane] = from as u8;
                    results.absent |= u32::from(!gives) << lane;
                    let given = gives && g.given >> from & 1 != 0;
                    results.given &= !(u32::from(!given) << lane);
                }
                results.value[lane] = value as u32;
                results.pred |= u32::from(valid) << lane;
            }
            CollectiveKind::Vote(mode) => {
                let ballot = lanes_of(group).fold(0u32, |mask, l| mask | (g.a[l] as u32) << l);
                let yes = match mode {
                    VoteMode::All => ballot == group,
                    VoteMode::Any => ballot != 0,
                    VoteMode::Uni => ballot == 0 || ballot == group,
                    VoteMode::Ballot => false,
                };
                results.value[lane] = ballot;
                results.pred |= u32::from(yes) << lane;
            }
            CollectiveKind::Match(mode) => {
                let same = lanes_of(group)
                    .filter(|&l| g.a[l] == g.a[lane])
                    .fold(0u32, |mask, l| mask | 1 << l);
                let agree = same == group;
                results.value[lane] = match mode {
                    MatchMode::Any => same,
                    MatchMode::All => {
                        if agree {
                            group
                        } else {
                            0
                        }
                    }
                };
                results.pred |= u32::from(agree) << lane;
            }
            CollectiveKind::Redux { op, ty, abs, nan } => {
                results.value[lane] = reduce(op, ty, abs, nan, group, &g.a);
            }
            CollectiveKind::Elect => {
                let leader = group.trailing_zeros();
                results.value[lane] = leader;
                results.pred |= u32::from(leader == lane as u32) << lane;
            }
            CollectiveKind::Matrix => {}
        }
    }
    results
}

/// The lane that `shfl` reads, and whether it is in range. PTX ISA, "shfl.sync".
fn shuffle_source(mode: ShflMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let bval = b & 0x1f;
    let cval = c & 0x1f;
    let segment = c >> 8 & 0x1f;
    let max_lane = (lane & segment) | (cval & !segment);
    let min_lane = lane & segment;
    match mode {
        // Signed: lane 0 minus something is below every minimum.
        ShflMode::Up => {
            let source = lane as i32 - bval as i32;
            if source >= max_lane as i32 { (source as u32, true) } else { (lane, false) }
        }
        ShflMode::Down => {
            let source = lane + bval;
            (source & 31, source <= max_lane)
        }
        ShflMode::Bfly => {
            let source = lane ^ bval;
            (source, source <= max_lane)
        }
        ShflMode::Idx => {
            let source = min_lane | (bval & !segment);
            (source & 31, source <= max_lane)
        }
    }
}

fn reduce(
    op: ReduxOp,
    ty: ScalarType,
    abs: bool,
    nan: bool,
    group: u32,
    values: &[u64; 32],
) -> u32 {
    let mut lanes = lanes_of(group).map(|lane| values[lane] as u32);
    let first = lanes.next().unwrap_or(0);
    if ty == ScalarType::F32 {
        let clean = |v: u32| if abs { v & 0x7fff_ffff } else { v };
        let flags = crate::alu::float::min_max_flags(false, nan, false);
        return lanes.fold(min_max(clean(first), clean(first), flags, false), |acc, v| {
            min_max(acc, clean(v), flags, op == ReduxOp::Max)
        });
    }
    lanes.fold(first, |acc, v| match op {
        ReduxOp::Add => acc.wrapping_add(v),
        ReduxOp::And => acc & v,
        ReduxOp::Or => acc | v,
        ReduxOp::Xor => acc ^ v,
        ReduxOp::Min if ty.is_signed() => (acc as i32).min(v as i32) as u32,
        ReduxOp::Max if ty.is_signed() => (acc as i32).max(v as i32) as u32,
        ReduxOp::Min => acc.min(v),
        ReduxOp::Max => acc.max(v),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_of_whole_and_half_warps() {
        // The c operand that CUDA's intrinsics pass for width w: (32 - w) << 8 | 31 (up: 0).
        assert_eq!(shuffle_source(ShflMode::Down, 3, 4, 31), (7, true));
        assert!(!shuffle_source(ShflMode::Down, 30, 4, 31).1);
        assert_eq!(shuffle_source(ShflMode::Up, 3, 2, 0), (1, true));
        assert!(!shuffle_source(ShflMode::Up, 1, 2, 0).1);
        assert_eq!(shuffle_source(ShflMode::Idx, 20, 3, 16 << 8 | 31), (19, true));
        assert_eq!(shuffle_source(ShflMode::Bfly, 5, 1, 31), (4, true));
        assert!(!shuffle_source(ShflMode::Down, 14, 4, 16 << 8 | 31).1);
        assert!(!shuffle_source(ShflMode::Up, 17, 2, 16 << 8).1);
    }
}
