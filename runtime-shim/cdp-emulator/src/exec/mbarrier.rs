//! Barriers that are objects in shared memory: `mbarrier`.
//!
//! An object is 64 bits that programs do not look into: from the lowest bit the arrivals that a phase
//! expects, those still pending, the bytes that are missing, the number of the phase (as far as two
//! bits tell it), and a mark that tells it from other memory.
//! Waiting is a loop of the program, which the interpreter knows by the tests in it.

use super::fault::Fault;
use super::path::Running;
use super::rows::{read_row, set_pred, write_row};
use super::{Block, Machine, Step, Warp, checks, cluster, door, memory};
use crate::check::block::End;
use crate::code::{Async, BarrierObject, Inst, NONE, ObjectOp, Order, Owners, Sem, StateSpace};
use crate::lanes::lanes_of;
use crate::memory::space;
use crate::report::ReportKind;

/// Bits of a count of arrivals (PTX ISA: at most 2^20 - 1).
pub const COUNT_BITS: u32 = 20;
/// Where the pending arrivals begin.
pub const PENDING_SHIFT: u32 = COUNT_BITS;
const BYTES_SHIFT: u32 = 2 * COUNT_BITS;
/// Missing bytes: a signed number, since copies may be done before anybody expects them.
const BYTES_BITS: u32 = 21;
const PHASE_SHIFT: u32 = BYTES_SHIFT + BYTES_BITS;
/// Most bytes that may be missing.
const MOST_BYTES: i64 = (1 << (BYTES_BITS - 1)) - 1;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const PHASE_MASK: u64 = (1 << (63 - PHASE_SHIFT)) - 1;
const MARK: u64 = 1 << 63;
const BYTES: u64 = 8;

/// An object taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    expected: u64,
    pending: u64,
    missing: i64,
    phase: u64,
}

impl Object {
    fn new(expected: u64) -> Object {
        Object { expected, pending: expected, missing: 0, phase: 0 }
    }

    fn read(word: u64) -> Option<Object> {
        (word & MARK != 0).then_some(Object {
            expected: word & COUNT_MASK,
            pending: word >> PENDING_SHIFT & COUNT_MASK,
            missing: (word << (64 - PHASE_SHIFT)) as i64 >> (64 - BYTES_BITS),
            phase: word >> PHASE_SHIFT & PHASE_MASK,
        })
    }

    fn word(self) -> u64 {
        MARK | (self.phase & PHASE_MASK) << PHASE_SHIFT
            | (self.missing as u64 & ((1 << BYTES_BITS) - 1)) << BYTES_SHIFT
            | self.pending << PENDING_SHIFT
            | self.expected
    }

    /// The object after `count` arrivals; `None` if the phase does not expect as many.
    fn arrive(mut self, count: u64, drop: bool) -> Option<Object> {
        self.pending = self.pending.checked_sub(count)?;
        if drop {
            self.expected = self.expected.checked_sub(count)?;
        }
        self.end_phase();
        Some(self)
    }

    /// The object when `bytes` more are missing (fewer if negative); `None` if it cannot count so far.
    fn miss(mut self, bytes: i64) -> Option<Object> {
        self.missing += bytes;
        if self.missing.abs() > MOST_BYTES {
            return None;
        }
        self.end_phase();
        Some(self)
    }

    /// A phase ends when all have arrived and all bytes have come.
    fn end_phase(&mut self) {
        if self.pending == 0 && self.missing == 0 {
            self.phase = (self.phase + 1) & PHASE_MASK;
            self.pending = self.expected;
        }
    }
}

/// Executes an instruction on a barrier object in the active lanes, in the order of lanes.
pub fn execute(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let object = run.function.objects[inst.imm as usize];
    let at = memory::atomic_addresses(run, inst.a, object.wide, object.offset, active);
    let mut done = 0u32;
    let mut first: Option<(u64, u64)> = None;
    let mut looked = None;
    for lane in lanes_of(active) {
        if object.space == StateSpace::Generic && space::window(at[lane]) != space::Window::Shared {
            let message = format!("a barrier object at {:#x}, outside of shared memory", at[lane]);
            let fault = Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message);
            return Err(fault.at(at[lane]));
        }
        let (owner, offset) =
            cluster::locate(block, warp, object.space, at[lane], lane, BYTES, true)?;
        let tests = matches!(object.op, ObjectOp::TestState | ObjectOp::TestParity);
        let word = cluster::in_memory_of(block, owner, lane, |block| {
            let older = tests && sees_older(machine, block, warp, (offset, lane), &mut looked);
            one(machine, block, warp, run, &object, (offset, lane, older), &mut done)
        })?;
        if arrives(object.op) && object.dst != NONE {
            // Lanes that arrive together all get the state before the first of them (seen on an
            // H200), as long as it is a state of the phase that they arrive in.
            let (place, before) = *first.get_or_insert((at[lane], word));
            let phase = |word| Object::read(word).map(|object| object.phase);
            let together = place == at[lane] && phase(before) == phase(word);
            let state = if together { before } else { word };
            // SAFETY: decoded row.
            unsafe { write_row(run.regs, object.dst, true, lane, state) };
        }
    }
    if matches!(object.op, ObjectOp::TestState | ObjectOp::TestParity) {
        set_pred(run.regs, object.dst, done, active);
    }
    Ok(())
}

/// With races looked for: a lane that tests the object finds it as it was before its last phase ended, as other lanes may that look
/// at the same time. `looked`: at which object, and what ended its phase.
fn sees_older(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    (offset, lane): (u64, usize),
    looked: &mut Option<((u64, u64), Option<End>)>,
) -> bool {
    if machine.watch.is_none() {
        return false;
    }
    let place = (block.memory_serial, offset);
    let Some(state) = block.state.as_deref_mut() else { return false };
    let end = match looked {
        Some((at, end)) if *at == place => *end,
        _ => state.first_look(offset),
    };
    *looked = Some((place, end));
    end.is_some_and(|end| state.may_miss(warp.index * 32 + lane as u32, &end))
}

/// One lane's turn at the object at an offset of the memory that is the block's for now, which a test may find as it was before
/// its last phase ended. The word that was there.
fn one(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    object: &BarrierObject,
    (offset, lane, older): (u64, usize, bool),
    done: &mut u32,
) -> Step<u64> {
    checks::check_shared(block, offset, BYTES, lane)?;
    let operand = |wide| match object.operand {
        NONE => 0,
        // SAFETY: decoded rows.
        row => unsafe { read_row(run.regs, row, wide, lane) },
    };
    let range = offset as usize..(offset + BYTES) as usize;
    let mut bytes = [0; BYTES as usize];
    bytes.copy_from_slice(&block.shared[range.clone()]);
    let word = u64::from_le_bytes(bytes);
    let known = || Object::read(word).ok_or_else(|| no_object(lane, offset));
    let new = match object.op {
        ObjectOp::Init => match operand(false) {
            count @ 1..=COUNT_MASK => Object::new(count).word(),
            count => return Err(bad_count(lane, count)),
        },
        ObjectOp::Invalidate => {
            known()?;
            0
        }
        ObjectOp::CopiesArrive => {
            known()?;
            word
        }
        ObjectOp::Arrive | ObjectOp::ArriveAndDrop | ObjectOp::CopiesArriveCounted => {
            let (now, count) = (known()?, operand(false));
            let drop = object.op == ObjectOp::ArriveAndDrop;
            now.arrive(count, drop).ok_or_else(|| too_many(lane, now, count))?.word()
        }
        ObjectOp::ArriveExpecting | ObjectOp::ArriveExpectingAndDrop => {
            let (now, bytes) = (known()?, operand(false));
            let drop = object.op == ObjectOp::ArriveExpectingAndDrop;
            let more = miss(lane, now, bytes as i64)?;
            more.arrive(1, drop).ok_or_else(|| too_many(lane, now, 1))?.word()
        }
        ObjectOp::Expect => miss(lane, known()?, operand(false) as i64)?.word(),
        ObjectOp::Complete => miss(lane, known()?, -(operand(false) as i64))?.word(),
        ObjectOp::TestState | ObjectOp::TestParity => {
            let mut now = known()?;
            now.phase = now.phase.wrapping_sub(older.into()) & PHASE_MASK;
            let ended = if object.op == ObjectOp::TestState {
                Object::read(operand(true)).is_none_or(|then| then.phase != now.phase)
            } else {
                now.phase & 1 != operand(false) & 1
            };
            *done |= u32::from(ended) << lane;
            if !ended {
                let by = (block.serial, warp.index, run.path.pc);
                machine.clocks.ask(by, lane, || awaited(machine, block, offset, now));
            }
            word
        }
    };
    if machine.watch.is_some() {
        pass(machine, block, warp, run, object, (offset, lane, older), (word, new), *done);
    }
    if new != word {
        block.shared[range.clone()].copy_from_slice(&new.to_le_bytes());
        block.written[range].fill(0xff);
    }
    Ok(word)
}

/// The object's word passes the door of memory, and its arrivals and waits that of order.
#[allow(clippy::too_many_arguments)]
fn pass(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    object: &BarrierObject,
    (offset, lane, older): (u64, usize, bool),
    (before, after): (u64, u64),
    ended: u32,
) {
    // Made by a plain write, as its memory is used again; else the object looks after itself.
    let made = object.op == ObjectOp::Init;
    let order = if made { Order::WEAK } else { Order { sem: Sem::Relaxed, ..object.order } };
    let writes = matches!(object.op, ObjectOp::Init | ObjectOp::Invalidate);
    let touch = door::Touch {
        owners: Owners::OWN,
        shared: true,
        reads: !writes,
        writes,
        kind: door::Manner::Own,
        order,
    };
    door::memory(machine, block, warp, &run.path, touch, &[offset; 32], 1 << lane, BYTES, None);
    let now = door::now(machine);
    let Some(state) = block.state.as_deref_mut() else { return };
    let thread = warp.index * 32 + lane as u32;
    match object.op {
        ObjectOp::Init | ObjectOp::Invalidate => drop(state.objects.remove(&offset)),
        ObjectOp::CopiesArrive => state.copies_arrive(Async::Copies, offset, thread),
        ObjectOp::CopiesArriveCounted => {
            state.copies_arrive(Async::Copies, offset, thread);
            let phase = |word| Object::read(word).map(|object| object.phase);
            state.arrive_at_object(offset, thread, phase(before) != phase(after), now);
        }
        ObjectOp::Arrive
        | ObjectOp::ArriveAndDrop
        | ObjectOp::ArriveExpecting
        | ObjectOp::ArriveExpectingAndDrop
        | ObjectOp::Expect
        | ObjectOp::Complete => {
            let phase = |word| Object::read(word).map(|object| object.phase);
            state.arrive_at_object(offset, thread, phase(before) != phase(after), now);
        }
        ObjectOp::TestState | ObjectOp::TestParity if ended >> lane & 1 != 0 => {
            state.leave_object(offset, thread, older);
        }
        ObjectOp::TestState | ObjectOp::TestParity => {}
    }
}

/// What is waited for, in words.
pub const PHASE: &str = "for a phase of the barrier object";

/// What an object's phase waits for, in words.
fn awaited(machine: &Machine, block: &Block, offset: u64, now: Object) -> String {
    let Object { expected, pending, missing, .. } = now;
    let place = machine.shared_text(block.grid.kernel, offset);
    let bytes = match missing {
        0 => String::new(),
        bytes => format!(" and {bytes} bytes"),
    };
    let threads = block.grid.threads();
    let more = match expected > u64::from(threads) {
        true => format!(" (the block has {threads} threads)"),
        false => String::new(),
    };
    format!("{PHASE} at {place}, which awaits {pending} of {expected} arrivals{bytes}{more}")
}

fn arrives(op: ObjectOp) -> bool {
    use ObjectOp as O;
    matches!(op, O::Arrive | O::ArriveAndDrop | O::ArriveExpecting | O::ArriveExpectingAndDrop)
}

/// Tells the object at `offset` of the memory that is the block's for now that a copy of a lane has
/// brought bytes.
pub fn complete(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    lane: usize,
    offset: u64,
    bytes: u64,
) -> Step<()> {
    checks::check_shared(block, offset, BYTES, lane)?;
    let range = offset as usize..(offset + BYTES) as usize;
    let mut word = [0; BYTES as usize];
    word.copy_from_slice(&block.shared[range.clone()]);
    let now = Object::read(u64::from_le_bytes(word)).ok_or_else(|| no_object(lane, offset))?;
    let new = miss(lane, now, -(bytes as i64))?;
    block.shared[range].copy_from_slice(&new.word().to_le_bytes());
    if let Some(state) = block.state.as_deref_mut() {
        let (ends, thread) = (new.phase != now.phase, warp.index * 32 + lane as u32);
        state.copies_arrive(Async::Object(offset), offset, thread);
        state.arrive_at_object(offset, thread, ends, door::now(machine));
    }
    Ok(())
}

fn miss(lane: usize, now: Object, bytes: i64) -> Step<Object> {
    now.miss(bytes).ok_or_else(|| {
        let message = format!(
            "a barrier object that misses {} bytes and is told of {bytes} more; it counts to {MOST_BYTES}",
            now.missing
        );
        Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
    })
}

fn no_object(lane: usize, offset: u64) -> Box<Fault> {
    let message = format!("no barrier object is at offset {offset} of shared memory");
    Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message).help(
        "one thread makes it with mbarrier.init, and __syncthreads() follows, before it is used",
    )
}

fn bad_count(lane: usize, count: u64) -> Box<Fault> {
    let message = format!("a barrier object for {count} arrivals; 1 to {COUNT_MASK} are possible");
    Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
}

fn too_many(lane: usize, now: Object, count: u64) -> Box<Fault> {
    let message =
        format!("{count} arrivals at a barrier object whose phase awaits {}", now.pending);
    Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_end_with_the_last_arrival() {
        let first = Object::new(3).arrive(1, false).unwrap();
        let object =
            |expected, pending, missing, phase| Object { expected, pending, missing, phase };
        assert_eq!(first, object(3, 2, 0, 0));
        assert_eq!(first.arrive(2, false), Some(object(3, 3, 0, 1)));
        assert_eq!(first.arrive(2, true), Some(object(1, 1, 0, 1)));
        // Bytes that are missing, or came early, keep the phase from ending.
        let early = first.miss(-48).unwrap().arrive(2, false).unwrap();
        assert_eq!(early, object(3, 0, -48, 0));
        assert_eq!(Object::read(early.word()), Some(early));
        assert_eq!(early.miss(48), Some(object(3, 3, 0, 1)));
        assert_eq!(early.miss(-MOST_BYTES), None);
        assert_eq!(first.arrive(3, false), None);
        assert_eq!(Object::read(first.word()), Some(first));
        assert_eq!(Object::read(first.word() & !MARK), None);
    }
}
