//! Which operations may wait in registers.

use inkwell::context::Context;

use super::found;
use crate::launches::testing::module;

/// How many of a body's operations wait; it takes `p` and `n`, then its thread's number.
fn waiting(body: &str) -> usize {
    let context = Context::create();
    let text = format!("define void @body(ptr %p, i32 %n, i32 %t) {{\n{body}\n}}");
    let module = module(&context, &text);
    found(module.get_function("body").expect("a body"), 2, 0).len()
}

#[test]
fn an_operation_at_the_end_waits() {
    for operation in ["add", "and", "or", "xor", "min", "max", "umin", "umax"] {
        let body = format!("e: %x = atomicrmw {operation} ptr %p, i32 %n monotonic\n ret void");
        assert_eq!(waiting(&body), 1, "{operation}");
    }
    // Several, and behind reads.
    let body = "e: %v = load i32, ptr %p
        %x = atomicrmw add ptr %p, i32 %v monotonic
        %q = getelementptr i32, ptr %p, i32 %n
        %y = atomicrmw add ptr %q, i32 1 monotonic
        ret void";
    assert_eq!(waiting(body), 2);
}

#[test]
fn what_a_thread_keeps_for_itself_tells_nothing() {
    let own = "e: %a = alloca [2 x ptr]
        store ptr %p, ptr %a
        %x = atomicrmw add ptr %p, i32 1 monotonic
        %f = getelementptr ptr, ptr %a, i64 1
        store ptr %p, ptr %f
        %q = load ptr, ptr %f
        ret void";
    assert_eq!(waiting(own), 1);
    let volatile = "e: %a = alloca i32
        %x = atomicrmw add ptr %p, i32 1 monotonic
        store volatile i32 1, ptr %a
        ret void";
    assert_eq!(waiting(volatile), 0);
}

#[test]
fn who_looks_does_not_wait() {
    let seen = "e: %x = atomicrmw add ptr %p, i32 1 monotonic\n store i32 %x, ptr %p\n ret void";
    assert_eq!(waiting(seen), 0);
    let later = "e: %x = atomicrmw add ptr %p, i32 1 monotonic\n %v = load i32, ptr %p\n ret void";
    assert_eq!(waiting(later), 0);
    let written = "e: %x = atomicrmw add ptr %p, i32 1 monotonic\n store i32 2, ptr %p\n ret void";
    assert_eq!(waiting(written), 0);
}

#[test]
fn floating_point_exchanges_and_order_do_not_wait() {
    let sum = "e: %x = atomicrmw fadd ptr %p, float 1.0 monotonic\n ret void";
    assert_eq!(waiting(sum), 0);
    let exchange = "e: %x = atomicrmw xchg ptr %p, i32 1 monotonic\n ret void";
    assert_eq!(waiting(exchange), 0);
    let ordering = "e: %x = atomicrmw add ptr %p, i32 1 acq_rel\n ret void";
    assert_eq!(waiting(ordering), 0);
}

#[test]
fn a_place_of_the_threads_own_does_not_wait() {
    let own = "e: %q = getelementptr i32, ptr %p, i32 %t
        %x = atomicrmw add ptr %q, i32 1 monotonic
        ret void";
    assert_eq!(waiting(own), 0);
}
