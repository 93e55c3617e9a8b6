//! Calls and returns: register and local frames, arguments, recursion, function pointers, `alloca`.

use super::diverge::{self, Arrival};
use super::fault::Fault;
use super::path::{self, Next, Running, keep_active};
use super::rows::{read_row, write_row};
use super::{Block, Frame, Machine, Path, PathState, Step, Warp, absent, door, print, rows};
use crate::code::{Call, Callee, Function, Inst, JOIN_RETURN, NONE, Slot};
use crate::lanes::lanes_of;
use crate::memory::space;
use crate::report::ReportKind;
use crate::services::{Lack, Service};

/// Bytes of stack that a call takes besides the callee's local variables.
pub const CALL_BYTES: u32 = 16;
/// Words of registers a warp may use: stops runaway recursion that needs no stack.
const MAX_REGISTER_WORDS: usize = 1 << 26;

/// Executes a call, with the code for this processor.
pub fn call<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    inst: &'m Inst,
    active: u32,
) -> Step<Next> {
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        // SAFETY: the processor has these features.
        return unsafe { call_avx2(machine, block, warp, run, inst, active) };
    }
    call_any(machine, block, warp, run, inst, active)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn call_avx2<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    inst: &'m Inst,
    active: u32,
) -> Step<Next> {
    call_any(machine, block, warp, run, inst, active)
}

#[inline(always)]
fn call_any<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    inst: &'m Inst,
    active: u32,
) -> Step<Next> {
    if active == 0 {
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    let call = &run.function.calls[inst.imm as usize];
    if let Callee::Service(Service::Unset(lack, unset)) = call.callee {
        match lack {
            Lack::Variable => door::unset(machine, block, warp, run, active, unset),
            Lack::Lane => absent::tell(machine, block, warp, &run.path, active, unset),
        }
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    keep_active(warp, run, active);
    let number = match call.callee {
        Callee::Function(number) => number,
        Callee::Indirect { row, wide } => indirect(machine, warp, run, row, wide)?,
        Callee::Service(Service::Printf) => {
            print::vprintf(machine, block, warp, run, call)?;
            run.path.pc += 1;
            return Ok(Next::Continue);
        }
        Callee::Service(Service::AssertFail) => {
            return Err(print::assert_failed(machine, block, warp, run, call));
        }
        // Everything else changes the device, which the scheduler does.
        Callee::Service(_) => return Ok(Next::Service(run.path.mask)),
    };
    enter(machine, block.grid.stack_bytes, warp, run, call, number)?;
    Ok(Next::Continue)
}

/// The callee of the first lane; lanes with another one are set aside to make their own call.
fn indirect(
    machine: &Machine,
    warp: &mut Warp,
    run: &mut Running<'_>,
    row: u32,
    wide: bool,
) -> Step<u32> {
    let first = run.path.mask.trailing_zeros() as usize;
    // SAFETY: decoded row.
    let target = unsafe { read_row(run.regs, row, wide, first) };
    let same = lanes_of(run.path.mask)
        // SAFETY: decoded row.
        .filter(|&lane| unsafe { read_row(run.regs, row, wide, lane) } == target)
        .fold(0u32, |mask, lane| mask | 1 << lane);
    let others = run.path.mask & !same;
    if others != 0 {
        let here = run.path.pc;
        diverge::split(warp, &mut run.path, others, here, here + 1);
    }
    let number = space::function_number(target).filter(|&n| (n as usize) < machine.functions.len());
    let callable = number.filter(|&n| !machine.functions[n as usize].is_kernel);
    callable.ok_or_else(|| {
        let message = match number {
            Some(n) => {
                format!("call of `{}`, which is a kernel", machine.functions[n as usize].name)
            }
            None => {
                format!("call through {target:#x}, which is not the address of a device function")
            }
        };
        Fault::new(ReportKind::InvalidCall, Some(first as u32), message)
            .help("take function addresses in device code; host addresses mean nothing here")
    })
}

/// Makes the frame of a callee and goes to its first instruction.
#[inline(always)]
fn enter<'m>(
    machine: &'m Machine,
    stack_limit: u64,
    warp: &mut Warp,
    run: &mut Running<'m>,
    call: &'m Call,
    number: u32,
) -> Step<()> {
    let callee: &Function = &machine.functions[number as usize];
    let caller = *warp.frame(&run.path);
    let base = warp.free_registers(&caller, callee.frame_words);
    let local = caller.local_end;
    let stack_bytes = caller.stack_bytes + callee.stack_bytes + CALL_BYTES;
    if u64::from(stack_bytes) > stack_limit {
        let message = format!(
            "the call of `{}` needs {stack_bytes} bytes of stack; a thread has {stack_limit}",
            callee.name
        );
        return Err(Fault::new(ReportKind::StackOverflow, None, message)
            .help("raise cudaLimitStackSize with cudaDeviceSetLimit, or end the recursion"));
    }
    if call.args.len() != callee.params.len() || call.returns.len() > callee.returns.len() {
        let message = format!(
            "call of `{}` with {} arguments; it takes {}",
            callee.name,
            call.args.len(),
            callee.params.len()
        );
        return Err(Fault::new(ReportKind::InvalidCall, None, message));
    }
    let words = (base + callee.frame_words) as usize;
    if words > MAX_REGISTER_WORDS {
        let message = format!("the call of `{}` is too deep", callee.name);
        return Err(Fault::new(ReportKind::StackOverflow, None, message));
    }
    let end = base + callee.frame_words;
    let frame = Frame {
        function: number,
        base,
        end,
        local,
        local_end: local + callee.local_words,
        parent: run.path.frame,
        call_pc: run.path.pc,
        stack_bytes,
        depth: caller.depth + 1,
        top: caller.top.max(end),
        // The running path refers to it; its hold on the caller's frame passes to this frame.
        refs: 1,
    };
    if warp.regs.len() < words {
        warp.regs.resize(words.next_power_of_two(), 0);
    }
    let local_words = frame.local_end as usize * 32;
    if warp.local.len() < local_words {
        warp.local.resize(local_words.next_power_of_two(), 0);
    }
    if machine.checks.uninitialized {
        locals_begin(warp, callee, local, run.path.mask);
    }
    // SAFETY: the frame lies in `regs`.
    let regs = unsafe { warp.regs.as_mut_ptr().add(base as usize) };
    fill_constants(regs, callee, run.path.mask);
    for (from, to) in call.args.iter().zip(&callee.params) {
        copy_slot(warp, (caller.base, caller.local, *from), (base, local, *to), run.path.mask);
    }
    run.path.frame = warp.add_frame(frame);
    run.path.pc = 0;
    run.refresh(machine, warp);
    Ok(())
}

/// For the check of contents: the local variables of a frame that begins at word `local` were never
/// written, its parameters were.
pub fn locals_begin(warp: &mut Warp, function: &Function, local: u32, mask: u32) {
    if warp.fresh.len() < warp.local.len() {
        warp.fresh.resize(warp.local.len(), 0);
    }
    locals_written(warp, local..local + function.local_words, mask);
    for &(offset, size) in &function.unwritten_locals {
        for byte in offset..offset + size {
            let word = (local + byte / 4) as usize * 32;
            for lane in lanes_of(mask) {
                warp.fresh[word + lane] |= 1 << (byte & 3);
            }
        }
    }
}

/// For the check of contents: words of local memory count as written.
fn locals_written(warp: &mut Warp, words: std::ops::Range<u32>, mask: u32) {
    for word in words {
        for lane in lanes_of(mask) {
            if let Some(fresh) = warp.fresh.get_mut(word as usize * 32 + lane) {
                *fresh = 0;
            }
        }
    }
}

/// Fills the constant rows of a frame for the lanes of `mask`.
#[inline(always)]
pub fn fill_constants(regs: *mut u32, function: &Function, mask: u32) {
    // SAFETY: decoded offsets lie in the frame at `regs`.
    unsafe {
        for constant in &function.consts {
            rows::fill(regs.add(constant.row as usize), constant.value, constant.wide, mask);
        }
        let word = regs.add(function.true_pred as usize);
        *word |= mask;
    }
}

/// A place of an argument: register frame, local frame, slot.
type Located = (u32, u32, Slot);

/// Copies an argument between frames.
#[inline(always)]
fn copy_slot(warp: &mut Warp, from: Located, to: Located, mask: u32) {
    let size = match (from.2, to.2) {
        (Slot::Memory { size_bytes: a, .. }, Slot::Memory { size_bytes: b, .. }) => a.min(b),
        (Slot::Memory { size_bytes, .. }, _) | (_, Slot::Memory { size_bytes, .. }) => {
            size_bytes.min(8)
        }
        _ => 8,
    };
    if let (Slot::Memory { offset_bytes: a, .. }, Slot::Memory { offset_bytes: b, .. }) =
        (from.2, to.2)
    {
        // Slots begin at words and are padded to words.
        let (source, target) = (from.1 + a / 4, to.1 + b / 4);
        for word in 0..size.div_ceil(4) {
            let (source, target) = ((source + word) as usize * 32, (target + word) as usize * 32);
            // SAFETY: both words lie in the frames, to which `local` reaches.
            unsafe {
                let local = warp.local.as_mut_ptr();
                rows::copy(local.add(target), local.add(source), mask);
            }
        }
        return;
    }
    if let (Slot::Row { row: a, wide: from_wide }, Slot::Row { row: b, wide }) = (from.2, to.2)
        && wide == from_wide
    {
        // SAFETY: decoded rows lie in the frames.
        unsafe {
            let regs = warp.regs.as_mut_ptr();
            let (source, target) = (regs.add((from.0 + a) as usize), regs.add((to.0 + b) as usize));
            if wide {
                rows::copy_wide(target, source, mask);
            } else {
                rows::copy(target, source, mask);
            }
        }
        return;
    }
    for lane in lanes_of(mask) {
        let value = read_slot(warp, from, lane);
        write_slot(warp, to, lane, value, size);
    }
}

/// The first (up to eight) bytes of an argument of a lane.
pub fn read_slot(warp: &Warp, from: Located, lane: usize) -> u64 {
    let (base, local, slot) = from;
    match slot {
        Slot::Memory { offset_bytes, size_bytes } => {
            if size_bytes == 0 {
                return 0;
            }
            let at = (local + offset_bytes / 4) as usize * 32 + lane;
            let low = u64::from(warp.local[at]);
            match size_bytes {
                1..=4 => low & (u64::MAX >> (64 - 8 * size_bytes)),
                _ => low | u64::from(warp.local[at + 32]) << 32,
            }
        }
        // SAFETY: decoded rows and predicates lie in the frame.
        Slot::Row { row, wide } => unsafe {
            read_row(warp.regs.as_ptr().add(base as usize), row, wide, lane)
        },
        Slot::Pred { word } => u64::from(warp.regs[(base + word) as usize] >> lane & 1),
        Slot::Sink => 0,
    }
}

/// Writes up to eight bytes of an argument of a lane.
pub fn write_slot(warp: &mut Warp, to: Located, lane: usize, value: u64, size: u32) {
    let (base, local, slot) = to;
    match slot {
        Slot::Memory { size_bytes: 0, .. } => {}
        Slot::Memory { offset_bytes, size_bytes } => {
            let at = (local + offset_bytes / 4) as usize * 32 + lane;
            warp.local[at] = value as u32;
            if size_bytes.min(size) > 4 {
                warp.local[at + 32] = (value >> 32) as u32;
            }
        }
        // SAFETY: decoded rows lie in the frame.
        Slot::Row { row, wide } => unsafe {
            write_row(warp.regs.as_mut_ptr().add(base as usize), row, wide, lane, value);
        },
        Slot::Pred { word } => {
            let word = &mut warp.regs[(base + word) as usize];
            *word = (*word & !(1 << lane)) | ((value & 1) as u32) << lane;
        }
        Slot::Sink => {}
    }
}

/// Argument `index` of a call site for a lane, if it has at most eight bytes.
pub fn argument(warp: &Warp, path: &Path, call: &Call, index: usize, lane: usize) -> u64 {
    let frame = warp.frame(path);
    call.args.get(index).map_or(0, |&slot| read_slot(warp, (frame.base, frame.local, slot), lane))
}

/// 32-bit word `word` of argument `index` of a call site for a lane.
pub fn argument_word(
    warp: &Warp,
    path: &Path,
    call: &Call,
    index: usize,
    word: u32,
    lane: usize,
) -> u32 {
    let frame = warp.frame(path);
    match call.args.get(index) {
        Some(&Slot::Memory { offset_bytes, size_bytes }) if word * 4 < size_bytes => {
            warp.local[(frame.local + offset_bytes / 4 + word) as usize * 32 + lane]
        }
        Some(&slot) if word < 2 => {
            (read_slot(warp, (frame.base, frame.local, slot), lane) >> (32 * word)) as u32
        }
        _ => 0,
    }
}

/// Sets the result of a call site for a lane.
pub fn set_result(warp: &mut Warp, path: &Path, call: &Call, lane: usize, value: u64) {
    let frame = *warp.frame(path);
    if let Some(&slot) = call.returns.first() {
        write_slot(warp, (frame.base, frame.local, slot), lane, value, 8);
    }
}

/// Executes a return in the active lanes. `join` is where the lanes of a guarded return meet.
pub fn ret<'m>(
    machine: &'m Machine,
    warp: &mut Warp,
    run: &mut Running<'m>,
    active: u32,
    join: u32,
) -> Step<Next> {
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        // SAFETY: the processor has these features.
        return unsafe { ret_avx2(machine, warp, run, active, join) };
    }
    ret_any(machine, warp, run, active, join)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn ret_avx2<'m>(
    machine: &'m Machine,
    warp: &mut Warp,
    run: &mut Running<'m>,
    active: u32,
    join: u32,
) -> Step<Next> {
    ret_any(machine, warp, run, active, join)
}

#[inline(always)]
fn ret_any<'m>(
    machine: &'m Machine,
    warp: &mut Warp,
    run: &mut Running<'m>,
    active: u32,
    join: u32,
) -> Step<Next> {
    let frame = *warp.frame(&run.path);
    if active == 0 {
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    if frame.parent == NONE {
        return Ok(path::exit(warp, run, active));
    }
    if active != run.path.mask {
        let next = run.path.pc + 1;
        let stay = run.path.mask & !active;
        diverge::split(
            warp,
            &mut run.path,
            stay,
            next,
            if join == NONE { JOIN_RETURN } else { join },
        );
    }
    // Groups of this frame that are not complete: wait at the return, or leave those that the
    // lanes can no longer reach.
    while run.path.group != NONE {
        let group = warp.groups[run.path.group as usize];
        if group.frame != run.path.frame {
            break;
        }
        if group.join == JOIN_RETURN {
            if diverge::arrive(warp, &mut run.path, JOIN_RETURN) == Arrival::Parked {
                warp.release_frame(run.path.frame);
                return Ok(Next::Switch);
            }
            continue;
        }
        let (index, parent) = (run.path.group, group.parent);
        run.path.group = parent;
        leave_one(warp, index, run.path.mask);
    }
    let callee = run.function;
    let caller = warp.frames[frame.parent as usize];
    let site = &machine.functions[caller.function as usize].code[frame.call_pc as usize];
    let call = &machine.functions[caller.function as usize].calls[site.imm as usize];
    for (to, from) in call.returns.iter().zip(&callee.returns) {
        copy_slot(
            warp,
            (frame.base, frame.local, *from),
            (caller.base, caller.local, *to),
            run.path.mask,
        );
    }
    let returned = run.path.frame;
    warp.hold_frame(frame.parent);
    run.path.frame = frame.parent;
    run.path.pc = frame.call_pc + 1;
    warp.release_frame(returned);
    run.refresh(machine, warp);
    Ok(Next::Continue)
}

/// Takes lanes out of one group only.
fn leave_one(warp: &mut Warp, index: u32, lanes: u32) {
    let parent = warp.groups[index as usize].parent;
    warp.groups[index as usize].parent = NONE;
    // `leave` walks to the parent; cutting the link for a moment keeps it to this one.
    let group = &mut warp.groups[index as usize];
    group.expected &= !lanes;
    let (expected, arrived, join, frame) = (group.expected, group.arrived, group.join, group.frame);
    if expected == 0 {
        warp.drop_group(index);
    } else if arrived == expected {
        warp.add_path(Path {
            pc: join,
            mask: arrived,
            frame,
            group: parent,
            state: PathState::Ready,
        });
        warp.drop_group(index);
    } else {
        warp.groups[index as usize].parent = parent;
    }
}

/// `alloca`: takes local memory until the function returns or restores the stack.
pub fn alloca(
    stack_limit: u64,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    wide: bool,
    active: u32,
) -> Step<()> {
    if active == 0 {
        return Ok(());
    }
    let frame = *warp.frame(&run.path);
    let mut longest = 0u64;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        longest = longest.max(unsafe { read_row(run.regs, inst.a, wide, lane) });
    }
    let start = (u64::from(frame.local_end) * 4)
        .next_multiple_of(u64::from(inst.imm.max(16)).next_power_of_two());
    let end = start.saturating_add(longest).next_multiple_of(16);
    let used = u64::from(frame.stack_bytes) + (end - u64::from(frame.local_end) * 4);
    if used > stack_limit || end >= space::WINDOW_BYTES {
        let message = format!(
            "{longest} bytes of variable-length stack; a thread has {stack_limit} bytes in all"
        );
        return Err(Fault::new(ReportKind::StackOverflow, None, message)
            .help("raise cudaLimitStackSize with cudaDeviceSetLimit"));
    }
    let words = end as usize / 4 * 32;
    if warp.local.len() < words {
        warp.local.resize(words.next_power_of_two(), 0);
    }
    if !warp.fresh.is_empty() {
        // What earlier frames left there; the memory itself is not followed.
        warp.fresh.resize(warp.local.len(), 0);
        locals_written(warp, frame.local_end..(end / 4) as u32, active);
    }
    let entry = &mut warp.frames[run.path.frame as usize];
    entry.local_end = (end / 4) as u32;
    entry.stack_bytes = used as u32;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        unsafe { write_row(run.regs, inst.d, wide, lane, start) };
    }
    Ok(())
}

/// `stackrestore`: only ever gives memory back. Diverged lanes share the frame, so the memory is
/// kept while several of them use it.
pub fn stack_restore(warp: &mut Warp, run: &mut Running<'_>, inst: &Inst, wide: bool, active: u32) {
    let mut highest = 0u64;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        highest = highest.max(unsafe { read_row(run.regs, inst.a, wide, lane) });
    }
    let others = warp.frames[run.path.frame as usize].refs > 1;
    let entry = &mut warp.frames[run.path.frame as usize];
    let own_end = u64::from(entry.local_end) * 4;
    let floor = u64::from(entry.local + run.function.local_words) * 4;
    let highest = highest.max(floor);
    if !others && highest <= own_end && active != 0 {
        entry.stack_bytes = entry.stack_bytes.saturating_sub((own_end - highest) as u32);
        entry.local_end = highest.div_ceil(4) as u32;
    }
}
