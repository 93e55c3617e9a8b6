use super::super::testing::module;
use super::*;

use inkwell::context::Context;

/// Whether a thread of this body waits. It has `%p` and `%n`, and what `FIND` stands for is `%old`, what an atomic
/// operation finds.
fn waits(body: &str) -> bool {
    let context = Context::create();
    let find = "%old = atomicrmw xchg ptr %p, i32 1 monotonic";
    let text =
        format!("define void @f(ptr %p, ptr %q, i32 %n) {{\n{}\n}}", body.replace("FIND", find));
    let module = module(&context, &text);
    let function = module.get_function("f").expect("a function");
    check_waiting(View::function(function)).is_err()
}

/// A loop over `%i` from 0 that goes on while `more` says so, with a turn that ends at `%next`.
fn counted(more: &str, turn: &str, step: &str) -> String {
    format!(
        "e: br label %head
         head: %i = phi i32 [ 0, %e ], [ %j, %next ]
         {more}
         br i1 %c, label %turn, label %x
         turn: {turn}
         next: %j = {step}
         br label %head
         x: ret void"
    )
}

const LESS: &str = "%c = icmp slt i32 %i, %n";
const ONE: &str = "add i32 %i, 1";
/// What is found decides what a turn does.
const VISIT: &str = "FIND
         %new = icmp eq i32 %old, 0
         br i1 %new, label %a, label %next
         a: store i32 1, ptr %q
         br label %next";

#[test]
fn a_count_ends_whatever_is_found() {
    assert!(!waits(&counted(LESS, VISIT, ONE)));
    // The bound may lie in memory, and the step be the block's size.
    let bound = "%end = load i32, ptr %q\n %c = icmp slt i32 %i, %end";
    assert!(!waits(&counted(bound, VISIT, ONE)));
    let size = "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n %j = add i32 %i, %s";
    assert!(!waits(&counted(LESS, VISIT, size).replace("%j = call", "%s = call")));
    // One of two ends is a count.
    let both = "%c.0 = icmp slt i32 %i, %n
         %v = load i32, ptr %q
         %c.1 = icmp eq i32 %v, 0
         %c = select i1 %c.0, i1 %c.1, i1 false";
    assert!(!waits(&counted(both, VISIT, ONE)));
    // The end may come behind the turn.
    assert!(!waits(
        "e: br label %head
         head: %i = phi i32 [ 0, %e ], [ %j, %next ]
         FIND
         %new = icmp eq i32 %old, 0
         br i1 %new, label %a, label %next
         a: store i32 1, ptr %q
         br label %next
         next: %j = add i32 %i, 1
         %c = icmp slt i32 %j, %n
         br i1 %c, label %head, label %x
         x: ret void"
    ));
    // What is found behind a loop, or decides behind one, is no matter of it.
    assert!(!waits(
        "e: FIND
         br label %l
         l: %i = phi i32 [ 0, %e ], [ %j, %l ]
         %j = add i32 %i, 1
         %c = icmp slt i32 %j, %n
         br i1 %c, label %l, label %x
         x: %new = icmp eq i32 %old, 0
         br i1 %new, label %a, label %b
         a: ret void
         b: ret void"
    ));
}

#[test]
fn what_is_found_may_not_decide_an_end() {
    let ends = "FIND
         %new = icmp eq i32 %old, 0
         br i1 %new, label %next, label %x";
    assert!(waits(&counted(LESS, ends, ONE)));
    let flag = "%v = load volatile i32, ptr %p\n %c = icmp slt i32 %i, %v";
    assert!(waits(&counted(flag, "br label %next", ONE)));
}

#[test]
fn a_count_may_not_depend_on_what_is_found() {
    // A lock: a turn counts when it was had.
    let had = "zext i1 %new to i32\n %j = add i32 %i, %s";
    assert!(waits(&counted(LESS, VISIT, had).replace("%j = zext", "%s = zext")));
    let chosen = "select i1 %new, i32 %i.1, i32 %i";
    assert!(waits(
        &counted(LESS, VISIT, chosen)
            .replace("a: store", "a: store i32 2, ptr %q\n store")
            .replace(
                "head: %i = phi i32 [ 0, %e ], [ %j, %next ]",
                "head: %i = phi i32 [ 0, %e ], [ %j, %next ]\n %i.1 = add i32 %i, 1"
            )
    ));
    // A turn that does not come by the count.
    assert!(waits(
        "e: br label %head
         head: %i = phi i32 [ 0, %e ], [ %j, %next ], [ %i, %turn ]
         br label %turn
         turn: FIND
         %new = icmp eq i32 %old, 0
         br i1 %new, label %test, label %head
         test: %c = icmp slt i32 %i, %n
         br i1 %c, label %next, label %x
         next: %j = add i32 %i, 1
         br label %head
         x: ret void"
    ));
    let nothing = "add i32 %i, 0";
    assert!(waits(&counted(LESS, VISIT, nothing)));
}

#[test]
fn a_loop_in_a_turn_counts_for_itself() {
    let spin = "br label %spin
         spin: FIND
         %held = icmp ne i32 %old, 0
         br i1 %held, label %spin, label %next";
    assert!(waits(&counted(LESS, spin, ONE)));
    let inner = "br label %in
         in: %k = phi i32 [ 0, %turn ], [ %m, %in.next ]
         FIND
         %new = icmp eq i32 %old, 0
         br i1 %new, label %a, label %in.next
         a: store i32 1, ptr %q
         br label %in.next
         in.next: %m = add i32 %k, 1
         %again = icmp slt i32 %m, %n
         br i1 %again, label %in, label %next";
    assert!(!waits(&counted(LESS, inner, ONE)));
}

#[test]
fn who_swaps_again_with_what_was_found_makes_progress() {
    let swap = |expected: &str| {
        format!(
            "e: br label %l
             l: %was = phi i32 [ 0, %e ], [ {expected}, %l ]
             %pair = cmpxchg ptr %p, i32 %was, i32 7 monotonic monotonic
             %found = extractvalue {{ i32, i1 }} %pair, 0
             %won = extractvalue {{ i32, i1 }} %pair, 1
             br i1 %won, label %x, label %l
             x: ret void"
        )
    };
    assert!(!waits(&swap("%found")));
    assert!(waits(&swap("0")));
}

/// A table at `%p`: from one place to the next until the swap is successful, or the key is there.
const TABLE: &str = "e: br label %l
         l: %h = phi i32 [ 0, %e ], [ %g, %next ]
         %at = getelementptr i32, ptr %p, i32 %h
         %pair = cmpxchg ptr %at, i32 -1, i32 %n monotonic monotonic
         %found = extractvalue { i32, i1 } %pair, 0
         %won = icmp eq i32 %found, -1
         %same = icmp eq i32 %found, %n
         LEAVES
         next: %m = add i32 %h, 1
         %g = and i32 %m, 1023
         br label %l
         x: BEHIND
         br label %y
         y: ret void";

/// Whether a thread of it waits that leaves the loop so, and does this then.
fn inserted(leaves: &str, behind: &str) -> bool {
    waits(&TABLE.replace("LEAVES", leaves).replace("BEHIND", behind))
}

const EITHER: &str = "%done = or i1 %won, %same\n br i1 %done, label %x, label %next";
const WON: &str = "br i1 %won, label %x, label %rest\n rest: br i1 %same, label %y, label %next";

#[test]
fn who_looks_for_a_free_place_waits_for_nobody() {
    assert!(!inserted(EITHER, ""));
    assert!(!inserted(
        "%done = select i1 %won, i1 true, i1 %same\n br i1 %done, label %x, label %next",
        ""
    ));
    let goes_on = "%w = xor i1 %won, true\n %s = xor i1 %same, true\n %on = and i1 %w, %s\n br i1 %on, label %next, label %x";
    assert!(!inserted(goes_on, ""));
    assert!(!inserted(WON, ""));
    // Who got a place writes elsewhere.
    assert!(!inserted(WON, "store i32 3, ptr %q"));
    assert!(!inserted(WON, "%v = atomicrmw add ptr %q, i32 1 monotonic"));
}

#[test]
fn a_place_may_not_become_free() {
    // By who got it: a lock.
    assert!(inserted(WON, "store i32 -1, ptr %p"));
    assert!(inserted(WON, "%v = atomicrmw xchg ptr %p, i32 -1 monotonic"));
    // By anybody: it could be whose turn it is.
    assert!(inserted(EITHER, "store i32 3, ptr %q"));
    assert!(inserted(EITHER, "%v = cmpxchg ptr %q, i32 3, i32 -1 monotonic monotonic"));
    assert!(!inserted(EITHER, "%v = cmpxchg ptr %q, i32 -1, i32 3 monotonic monotonic"));
    // What is called may do so.
    assert!(inserted(WON, "call void @f(ptr %q, ptr %p, i32 0)"));
}

#[test]
fn who_gets_a_place_must_leave() {
    assert!(inserted("br i1 %same, label %x, label %next", ""));
    assert!(inserted("%both = and i1 %won, %same\n br i1 %both, label %x, label %next", ""));
    // What each thread wants is another number: its turn.
    let key = |free: &str| {
        let leaves = "br i1 %won, label %x, label %next";
        let text = TABLE.replace("LEAVES", leaves).replace("BEHIND", "");
        waits(
            &text
                .replace("i32 -1, i32 %n monotonic", &format!("i32 {free}, i32 %n monotonic"))
                .replace("%found, -1", &format!("%found, {free}")),
        )
    };
    assert!(key("%n"));
    assert!(!key("7"));
    // One that does not move on wants it to become free.
    let stays = TABLE.replace("LEAVES", WON).replace("BEHIND", "").replace("ptr %at,", "ptr %p,");
    assert!(waits(&stays));
    // Ways round that do not ask.
    assert!(waits(
        "e: br label %l
         l: %h = phi i32 [ 0, %e ], [ %g, %l ], [ %g, %ask ]
         %g = add i32 %h, 1
         %at = getelementptr i32, ptr %p, i32 %h
         %pair = cmpxchg ptr %at, i32 0, i32 7 monotonic monotonic
         %won = extractvalue { i32, i1 } %pair, 1
         %c = icmp eq i32 %n, 3
         br i1 %c, label %l, label %ask
         ask: br i1 %won, label %x, label %l
         x: ret void"
    ));
}
