//! The door of a warp to the device runtime: of the lanes of a warp one group at a time is behind it.
//!
//! Measured on an H100 (driver 580, CUDA 13.0; `launch-optimiser-measured.md`): where lanes of a warp that have parted call `cudaGetParameterBuffer` and `cudaLaunchDevice` at the same time, some of them never
//! come back, and their grid never ends. Code as it is written hardly ever does so, since lanes that have parted run one
//! after the other unless one waits; lanes that wait for a queue's records let others run, which come to their launches
//! meanwhile. So launches beside a queue go through a door: a word in memory for each warp that can be resident.
//!
//! What is absent: who launches what ([`super::distribute`], [`super::gather`], [`super::queue`]).

use super::emit::Text;

/// The door, for the module that the sites' functions are linked from; how lanes enter is made beforehand
/// ([`super::code`]).
pub(super) const DEFINITIONS: &str =
    concat!("declare ptr addrspace(1) @__cdp_door_enter() nounwind\n", include_str!("door.ll"));

/// A lane goes through the door; names what [`leave`] wants.
pub(super) fn enter(door: &str, text: &mut Text) {
    text.line(&format!("{door} = call ptr addrspace(1) @__cdp_door_enter()"));
}

/// It comes back.
pub(super) fn leave(door: &str, text: &mut Text) {
    text.line(&format!("call void @__cdp_door_leave(ptr addrspace(1) {door})"));
}

/// The lanes that are here go through the door together, to do what `launch` writes, and come back together. One of
/// them opens it for all, unless they are all that the warp has, as in a block of one thread: an H100 takes half a
/// microsecond for the door, of seven for a launch. Yields what `launch` does.
pub(super) fn together<T>(text: &mut Text, launch: impl FnOnce(&mut Text) -> T) -> T {
    text.line("%d.mask = call i32 @llvm.nvvm.activemask()");
    text.line("%d.lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    text.line("%d.first = call i32 @llvm.cttz.i32(i32 %d.mask, i1 true)");
    text.line("%d.is-first = icmp eq i32 %d.lane, %d.first");
    text.line("%d.whole = call i1 @__cdp_door_whole(i32 %d.mask)");
    text.line("%d.opens = select i1 %d.whole, i1 false, i1 %d.is-first");
    text.line("br label %d.before");
    text.label("d.before");
    text.line("br i1 %d.opens, label %d.open, label %d.opened");
    text.label("d.open");
    enter("%d.own", text);
    text.line("br label %d.opened");
    text.label("d.opened");
    text.line("%d.door = phi ptr addrspace(1) [ null, %d.before ], [ %d.own, %d.open ]");
    meet(text);
    let result = launch(text);
    meet(text);
    text.line("br i1 %d.opens, label %d.close, label %d.closed");
    text.label("d.close");
    leave("%d.door", text);
    text.line("br label %d.closed");
    text.label("d.closed");
    result
}

fn meet(text: &mut Text) {
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %d.mask)");
}
