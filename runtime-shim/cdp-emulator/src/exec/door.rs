//! The doors: every access to memory that threads share passes [`memory`], and everything that orders
//! threads of a block passes one of the functions named after what happens. Behind the doors are the
//! checks that a run asked for ([`crate::check`]); with none, a door is a comparison with nothing.
//!
//! What orders grids, copies and the host goes by the work graph: `sched::edges`.

use std::sync::{MutexGuard, PoisonError};

use super::path::{self, Running};
use super::stray;
use super::{Block, Machine, Path, Warp};
use crate::check::access::Access;
pub use crate::check::access::Manner;
use crate::check::bounds::Stray;
use crate::check::findings::{Home, Lapse, Unwritten};
use crate::check::init;
use crate::check::{Origin, Watch, sync};
use crate::code::{self, CopyOrder, Inst, Op, Order, Owners};
use crate::lanes::{lanes_of, mask_of};
use crate::memory::{SiteRef, space};
use crate::services::Unset;

/// An access as its instruction has it.
#[derive(Clone, Copy)]
pub struct Touch {
    /// Whose it is.
    pub owners: Owners,
    /// In shared memory, by offset.
    pub shared: bool,
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// How it is done.
    pub kind: Manner,
    /// Order and scope.
    pub order: Order,
}

impl Touch {
    /// Whether it may be of a word around what is updated ([`space::WORD_BYTES`]).
    fn may_be_around(self, bytes: u64) -> bool {
        self.order.is_strong() && bytes == space::WORD_BYTES
    }
}

/// What lanes of a warp touch: `bytes` each, at their places in `at`.
#[derive(Clone, Copy)]
struct Touched<'a> {
    at: &'a [u64; 32],
    lanes: u32,
    bytes: u64,
}

/// The byte that a lane writes, by its number from the lane's address.
pub type Value<'a> = Option<&'a dyn Fn(usize, u64) -> u8>;

impl Machine {
    /// The checks that this run asked for.
    pub fn watch(&self) -> Option<MutexGuard<'_, Watch>> {
        // What a panic left behind is looked at by nobody: the panic is told instead.
        self.watch.as_ref().map(|watch| watch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The instruction that a path is at.
pub fn origin(warp: &Warp, path: &Path) -> Origin {
    Origin { function: warp.frame(path).function, instruction: path.pc }
}

/// Lanes of a warp touch `bytes` each at `at`, which was found to be theirs to touch.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn memory(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    path: &Path,
    touch: Touch,
    at: &[u64; 32],
    lanes: u32,
    bytes: u64,
    value: Value<'_>,
) {
    if machine.watch.is_none() {
        return;
    }
    let origin = origin(warp, path);
    let touched = Touched { at, lanes, bytes };
    match touch.owners {
        Owners::OWN => watched(machine, block, warp, origin, touch, touched, value),
        _ => by_owners(machine, block, warp, origin, touch, touched, value),
    }
}

/// Lanes touch what is others': each of these does it, one part after the other.
#[cold]
fn by_owners(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    origin: Origin,
    touch: Touch,
    touched: Touched<'_>,
    value: Value<'_>,
) {
    let Touched { at, lanes: mut rest, bytes } = touched;
    while rest != 0 {
        let (mut places, mut owners, mut lane_of) = ([0; 32], 0u32, [0; 32]);
        for lane in lanes_of(rest) {
            let owner = touch.owners.of_lane(lane).unwrap_or(lane);
            if owners >> owner & 1 == 0 {
                owners |= 1 << owner;
                (places[owner], lane_of[owner]) = (at[lane], lane);
                rest &= !(1 << lane);
            }
        }
        let moved = |owner: usize, byte: u64| value.map_or(0, |value| value(lane_of[owner], byte));
        let moved = value.map(|_| &moved as &dyn Fn(usize, u64) -> u8);
        let touched = Touched { at: &places, lanes: owners, bytes };
        watched(machine, block, warp, origin, touch, touched, moved);
    }
}

#[cold]
#[inline(never)]
fn watched(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    origin: Origin,
    touch: Touch,
    touched: Touched<'_>,
    value: Value<'_>,
) {
    let Some(mut watch) = machine.watch() else { return };
    hear_host(machine, &mut watch, touch);
    let Touched { at, lanes, bytes } = touched;
    if watch.checks.uninitialized {
        written(machine, &mut watch, block, warp, origin, touch, touched);
    }
    if block.state.is_some() && watch.checks.bounds && touch.shared {
        let places = machine.shared_places(block.grid.kernel);
        let around = |at| touch.may_be_around(bytes) && stray::of_variables(places, at, bytes) != 0;
        let found = |at| if around(at) { None } else { stray::astray_in_shared(places, at, bytes) };
        strays(&mut watch, block, warp, origin, touch.writes, touched, found);
    }
    let lanes = lanes & !in_system_part(block, touch, at);
    if lanes == 0 {
        return;
    }
    if !watch.follows_order() {
        return;
    }
    // Blocks of a cluster see each other's shared memory: it is remembered as global memory is.
    let of_cluster = touch.shared && block.cluster.as_ref().is_some_and(|c| !c.peers.is_empty());
    if of_cluster && block.memory_serial != block.serial && watch.checks.races {
        too_early(&mut watch, block, warp, origin, touch.writes, lanes);
    }
    let Some(state) = block.state.as_deref_mut() else { return };
    let base = if touch.shared { block.shared.as_ptr() as u64 } else { 0 };
    let window = space::shared_base(block.memory_serial);
    let moved = if of_cluster { at.map(|at| window | at) } else { *at };
    let mut tells = true;
    let kind = match touch.kind {
        // Who looks for what no fence orders may as well see the newest.
        Manner::Look if watch.checks.races => {
            let function = &machine.functions[origin.function as usize];
            let ahead = watch.holds.ahead(origin.function, function);
            tells = ahead.tells(origin.instruction);
            if !touch.order.acquires() && ahead.is_bare_behind(origin.instruction) {
                Manner::Own
            } else {
                touch.kind
            }
        }
        kind => kind,
    };
    let scalar = bytes <= 8 && touch.order.is_strong() && touch.owners == Owners::OWN;
    let was = (scalar && !of_cluster).then(|| there(base, Touched { at, lanes, bytes }));
    let access = Access {
        origin,
        first_thread: warp.index * 32,
        at: &moved,
        lanes,
        bytes,
        shared: touch.shared && !of_cluster,
        base: if of_cluster { base.wrapping_sub(window) } else { base },
        reads: touch.reads,
        writes: touch.writes,
        kind,
        order: touch.order,
        tells,
        value,
        was: was.as_ref(),
    };
    watch.access(state, &access);
}

/// What is there before lanes touch it, of 8 bytes each at most, from where their addresses count.
#[cold]
fn there(base: u64, touched: Touched<'_>) -> [u64; 32] {
    let mut there = [0; 32];
    for lane in lanes_of(touched.lanes) {
        let from = (base + touched.at[lane]) as *const u8;
        let to = there[lane..].as_mut_ptr().cast::<u8>();
        // SAFETY: the access was found to be theirs to make, and with checks nobody else runs; 8 bytes have room.
        unsafe { from.copy_to_nonoverlapping(to, touched.bytes.min(8) as usize) };
    }
    there
}

/// Lanes have looked: some of them see an older value instead, which is put there.
#[inline(always)]
pub fn older(machine: &Machine, kind: Manner, mut put: impl FnMut(usize, u64)) {
    if kind.looks()
        && let Some(mut watch) = machine.watch()
    {
        for (lane, value) in watch.older.take() {
            put(lane, value);
        }
    }
}

/// Host code goes on while kernels run: what they see of it through a strong access, the checks must have heard of.
fn hear_host(machine: &Machine, watch: &mut Watch, touch: Touch) {
    if let Some(log) = &machine.host
        && touch.order.is_strong()
        && !touch.shared
    {
        watch.hear(log, &machine.memory);
    }
}

/// Lanes have read global memory strongly. Host code may have released what they saw after they passed the door.
#[inline(always)]
pub fn seen(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    order: Order,
    at: &[u64; 32],
    lanes: u32,
) {
    let Some(log) = &machine.host else { return };
    if !log.waits() || !order.is_strong() {
        return;
    }
    let Some(state) = block.state.as_deref_mut() else { return };
    let Some(mut watch) = machine.watch() else { return };
    watch.hear(log, &machine.memory);
    for lane in lanes_of(lanes) {
        watch.polled(state, warp.index * 32 + lane as u32, at[lane], order);
    }
}

/// Lanes touch the shared memory of another block of the cluster, which they must know to have begun.
fn too_early(
    watch: &mut Watch,
    block: &Block,
    warp: &Warp,
    origin: Origin,
    writes: bool,
    lanes: u32,
) {
    let Some(state) = block.state.as_deref() else { return };
    let owner = block.members().find(|member| member.serial == block.memory_serial);
    let owner = owner.and_then(|owner| owner.state.as_deref()).map(|state| state.id);
    let early = |lane: &usize| !state.knows_begun(warp.index * 32 + *lane as u32, owner);
    if let Some(first) = lanes_of(lanes).find(early) {
        let count = lanes_of(lanes).filter(early).count();
        let site = site_of(block, warp, origin, first);
        watch.findings.add_lapse(Lapse::NotBegun { writes }, site, count as u32);
    }
}

/// What looks at accesses of whole warps before they are made.
pub trait Checks {
    /// True if nothing is wrong with an access of all lanes by an instruction of the path. False if that must be looked
    /// at by [`memory`]: it may be so too if nothing is wrong.
    fn pass(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        run: &Running<'_>,
        inst: &Inst,
        access: code::Access,
        writes: bool,
    ) -> bool;
}

/// Nothing does.
pub struct NoChecks;

impl Checks for NoChecks {
    #[inline(always)]
    fn pass(
        &mut self,
        _: &mut Block,
        _: &Warp,
        _: &Running<'_>,
        _: &Inst,
        _: code::Access,
        _: bool,
    ) -> bool {
        true
    }
}

/// Lanes whose plain accesses are to the system's part of shared memory. That is CUDA's own headers' (tiles of several warps):
/// their flags there are followed, but what they move beside them is passed on by shuffles, which PTX does not call an order.
fn in_system_part(block: &Block, touch: Touch, at: &[u64; 32]) -> u32 {
    let part = &block.grid.reserved_shared;
    if !touch.shared || part.is_empty() || touch.order.is_strong() {
        return 0;
    }
    let part = u64::from(part.start)..u64::from(part.end);
    mask_of((0..32).filter(|&lane| part.contains(&at[lane])))
}

/// Lanes touch local memory, which nobody else sees.
#[allow(clippy::too_many_arguments)]
pub fn local(
    machine: &Machine,
    block: &Block,
    warp: &mut Warp,
    path: &Path,
    writes: bool,
    at: &[u64; 32],
    lanes: u32,
    bytes: u64,
) {
    let touched = Touched { at, lanes, bytes };
    if machine.checks.uninitialized {
        local_contents(machine, block, warp, path, writes, touched);
    }
    if !machine.checks.bounds {
        return;
    }
    let Some(mut watch) = machine.watch() else { return };
    let frame = path.frame;
    let found = |at: u64| stray::astray_in_local(&machine.functions, warp, frame, at, bytes);
    let origin = origin(warp, path);
    strays(&mut watch, block, warp, origin, writes, touched, found);
}

/// Notes lanes whose access is between variables.
fn strays(
    watch: &mut Watch,
    block: &Block,
    warp: &Warp,
    origin: Origin,
    writes: bool,
    Touched { at, lanes, bytes }: Touched<'_>,
    found: impl Fn(u64) -> Option<String>,
) {
    let mut last = None;
    for lane in lanes_of(lanes) {
        if last == Some(at[lane]) {
            continue;
        }
        last = Some(at[lane]);
        let Some(text) = found(at[lane]) else { continue };
        let site = site_of(block, warp, origin, lane);
        watch.findings.add_stray(Stray { site, place: text, bytes, writes, count: 1 });
    }
}

/// A lane at an instruction.
fn site_of(block: &Block, warp: &Warp, origin: Origin, lane: usize) -> SiteRef {
    SiteRef {
        grid: block.grid.serial,
        kernel: block.grid.kernel,
        block: block.linear,
        thread: warp.index * 32 + lane as u32,
        function: origin.function,
        instruction: origin.instruction,
    }
}

/// Looks whether what lanes read was ever written, and notes what they write.
fn written(
    machine: &Machine,
    watch: &mut Watch,
    block: &Block,
    warp: &Warp,
    origin: Origin,
    touch: Touch,
    Touched { at, lanes, bytes }: Touched<'_>,
) {
    let demand = demand(machine, origin);
    let home = if touch.shared { Home::Shared } else { Home::Global };
    for lane in lanes_of(lanes) {
        let address = at[lane];
        if touch.reads {
            let fresh = match home {
                Home::Shared => fresh_in_shared(machine, block, touch, address, bytes),
                _ => watch.fresh.fresh_of(address, bytes),
            };
            let missing = init::missing(fresh, bytes, demand, touch.writes);
            if missing != 0 {
                let site = site_of(block, warp, origin, lane);
                let read = Unwritten { site, home, address, bytes, missing, count: 1 };
                watch.findings.add_unwritten(read);
            }
        }
        if touch.writes && !touch.shared {
            watch.fresh.write(address, bytes);
        }
    }
}

/// What becomes of what a load brings: the bytes that are computed with, and whether the others are copied.
fn demand(machine: &Machine, origin: Origin) -> Option<(u64, bool)> {
    let function = machine.functions.get(origin.function as usize)?;
    let demand = function.demands.get(&origin.instruction)?;
    let Op::Load(access) = function.code.get(origin.instruction as usize)?.op else { return None };
    Some((demand.bytes(1 << access.size_log2, u64::from(access.count)), demand.copied))
}

/// Which bytes of shared memory were never written, if some were: reads of nothing else are found in
/// every run.
fn fresh_in_shared(machine: &Machine, block: &Block, touch: Touch, offset: u64, bytes: u64) -> u64 {
    let flags = block.written.iter().skip(offset as usize).take(bytes.min(64) as usize);
    let fresh =
        flags.zip(0..).filter(|(flag, _)| **flag == 0).fold(0, |bits, (_, at)| bits | 1 << at);
    if u64::from(u64::count_ones(fresh)) == bytes {
        return 0;
    }
    match touch.may_be_around(bytes) {
        true => {
            let places = machine.shared_places(block.grid.kernel);
            fresh & stray::of_variables(places, offset, bytes)
        }
        false => fresh,
    }
}

/// Lanes read or write local memory: looks whether what they read was ever written, and notes what they
/// write.
fn local_contents(
    machine: &Machine,
    block: &Block,
    warp: &mut Warp,
    path: &Path,
    writes: bool,
    Touched { at, lanes, bytes }: Touched<'_>,
) {
    let origin = origin(warp, path);
    let demand = demand(machine, origin);
    for lane in lanes_of(lanes) {
        let mut fresh = 0;
        for byte in 0..bytes {
            let offset = (at[lane] + byte) as usize;
            let Some(word) = warp.fresh.get_mut((offset >> 2) * 32 + lane) else { continue };
            let bit = 1 << (offset & 3);
            if writes {
                *word &= !bit;
            } else if *word & bit != 0 && byte < 64 {
                fresh |= 1 << byte;
            }
        }
        let missing = init::missing(fresh, bytes, demand, false);
        if missing != 0
            && let Some(mut watch) = machine.watch()
        {
            let site = site_of(block, warp, origin, lane);
            let (home, address) = (Home::Local, at[lane]);
            watch.findings.add_unwritten(Unwritten {
                site,
                home,
                address,
                bytes,
                missing,
                count: 1,
            });
        }
    }
}

/// Something without contents takes effect in lanes.
pub fn unset(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    run: &Running<'_>,
    lanes: u32,
    unset: Unset,
) {
    if let Some(mut watch) = machine.watch() {
        let site = path::site(block, warp, &run.path, lanes.trailing_zeros());
        let home = Home::Register(unset);
        let count = u64::from(lanes.count_ones());
        let (address, bytes, missing) = (0, 0, 0);
        watch.findings.add_unwritten(Unwritten { site, home, address, bytes, missing, count });
    }
}

/// Lanes divide by zero.
pub fn divided(machine: &Machine, block: &Block, warp: &Warp, run: &Running<'_>, lanes: u32) {
    if lanes == 0 {
        return;
    }
    let site = path::site(block, warp, &run.path, lanes.trailing_zeros());
    if let Some(mut watch) = machine.watch() {
        watch.findings.add_division(site, u64::from(lanes.count_ones()));
    }
}

/// Notes what lanes of a path that come to an exchange, or meet at it, do which PTX leaves open.
pub fn met<const N: usize>(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    path: &Path,
    lapses: impl FnOnce() -> [(Lapse, u32); N],
) {
    let watch = machine.watch().filter(|watch| watch.checks.exchanges || watch.checks.races);
    let Some(mut watch) = watch else { return };
    for (lapse, lanes) in lapses() {
        let asked = watch.checks.exchanges || lapse == Lapse::Unnamed;
        if lanes != 0 && asked {
            let site = path::site(block, warp, path, lanes.trailing_zeros());
            watch.findings.add_lapse(lapse, site, lanes.count_ones());
        }
    }
}

/// The first stamp that the checks have not yet made.
pub fn now(machine: &Machine) -> u32 {
    machine.watch().map_or(0, |watch| watch.now())
}

/// Lanes execute a fence.
#[inline(always)]
pub fn fence(machine: &Machine, block: &mut Block, warp: &Warp, lanes: u32, order: Order) {
    if let Some(state) = block.state.as_deref_mut() {
        let now = now(machine);
        for lane in lanes_of(lanes) {
            sync::fence(state, warp.index * 32 + lane as u32, order, now);
        }
    }
}

/// Lanes commit what they do asynchronously, wait for it, or have it see what they know.
#[inline(always)]
pub fn copies(machine: &Machine, block: &mut Block, warp: &Warp, lanes: u32, order: CopyOrder) {
    let Some(state) = block.state.as_deref_mut() else { return };
    match order {
        CopyOrder::Proxy => state.fence_proxy(warp.index, lanes),
        CopyOrder::Dependencies => {
            if let Some(watch) = machine.watch() {
                let threads = lanes_of(lanes).map(|lane| warp.index * 32 + lane as u32);
                watch.waited_for_dependencies(state, threads);
            }
        }
        _ => state.order_copies(order, warp.index, lanes),
    }
}

/// A block of a cluster has ended; its shared memory, which others reach, with it.
pub fn shared_ends(machine: &Machine, block: &mut Block) {
    let Some(state) = block.state.as_deref_mut() else { return };
    let Some(mut watch) = machine.watch().filter(|watch| watch.follows_order()) else { return };
    let function = block.grid.function;
    let code = machine.functions.get(function as usize).map_or(0, |f| f.code.len() as u32);
    let origin = Origin { function, instruction: code.saturating_sub(1) };
    let window = space::shared_base(block.serial);
    watch.release_shared(state, origin, window, block.shared.len() as u64);
}

/// Lanes of a warp met at `bar.warp.sync`, by their member masks.
#[inline(always)]
pub fn warp_met(block: &mut Block, warp: &Warp, members: &[u32; 32], lanes: u32) {
    let Some(state) = block.state.as_deref_mut() else { return };
    for (group, named) in groups(members, lanes) {
        state.meet_in_warp(warp.index, group, warp.live, named);
    }
}

/// The sets of `lanes` that name the same members, with these.
pub fn groups(members: &[u32; 32], lanes: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let named = members[rest.trailing_zeros() as usize];
            let group = mask_of(lanes_of(rest).filter(|&lane| members[lane] == named));
            rest &= !group;
            (group, named)
        })
    })
}
