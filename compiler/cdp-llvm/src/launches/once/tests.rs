//! Of which bodies one thread that did something is enough.

use inkwell::context::Context;

use super::found;
use crate::launches::testing::module;

/// Whether it is, of a body that takes `p`, `n` and a struct `s`, then its thread's number.
fn once(body: &str) -> bool {
    let context = Context::create();
    let text = format!(
        "declare double @sees_no_memory(double) memory(none)\n
         declare void @sees_memory()\n
         define i32 @looks(ptr %x) {{ %v = load i32, ptr %x\n ret i32 %v }}\n
         define void @changes(ptr %x) {{ store i32 3, ptr %x\n ret void }}\n
         define void @body(ptr %p, i32 %n, ptr byval([16 x i8]) %s, i32 %t) {{\n{body}\n}}"
    );
    let module = module(&context, &text);
    found(module.get_function("body").expect("a body"), 3).is_some()
}

/// A body that does this where its thread finds an odd number.
fn odd(does: &str) -> String {
    format!(
        "e: %q = getelementptr i32, ptr %p, i32 %t
          %v = load i32, ptr %q
          %odd = trunc i32 %v to i1
          br i1 %odd, label %do, label %out
        do:
          {does}
          br label %out
        out: ret void"
    )
}

#[test]
fn a_flag_is_set_once() {
    for does in [
        "store i32 1, ptr %p",
        "store i32 %n, ptr %p",
        "%r = getelementptr i32, ptr %p, i32 %n\n store i32 %n, ptr %r",
        "%x = atomicrmw xchg ptr %p, i32 1 monotonic",
        "%x = atomicrmw or ptr %p, i32 %n monotonic",
        "%x = atomicrmw max ptr %p, i32 %n monotonic",
    ] {
        assert!(once(&odd(does)), "{does}");
    }
}

#[test]
fn the_place_and_the_value_are_the_same_for_all() {
    for does in [
        "store i32 %t, ptr %p",
        "store i32 %v, ptr %p",
        "store i32 1, ptr %q",
        "%w = load i32, ptr %p\n store i32 %w, ptr %p",
        "%w = load ptr, ptr %p\n store i32 1, ptr %w",
        "%x = atomicrmw max ptr %p, i32 %v monotonic",
    ] {
        assert!(!once(&odd(does)), "{does}");
    }
}

#[test]
fn what_counts_or_is_looked_at_is_not_done_once() {
    for does in [
        "%x = atomicrmw add ptr %p, i32 1 monotonic",
        "%x = atomicrmw xor ptr %p, i32 1 monotonic",
        "%x = atomicrmw or ptr %p, i32 1 monotonic\n store i32 %x, ptr %p",
        "%x = atomicrmw or ptr %p, i32 1 acq_rel",
        "store volatile i32 1, ptr %p",
        "store atomic i32 1, ptr %p release, align 4",
    ] {
        assert!(!once(&odd(does)), "{does}");
    }
}

#[test]
fn a_thread_does_nothing_else() {
    for does in [
        "store i32 1, ptr %p\n %r = getelementptr i32, ptr %p, i32 %n\n store i32 1, ptr %r",
        "store i32 1, ptr %p\n fence acq_rel",
        "store i32 1, ptr %p\n call void @sees_memory()",
        "store i32 1, ptr %p\n %w = load volatile i32, ptr %q",
    ] {
        assert!(!once(&odd(does)), "{does}");
    }
    assert!(once(&odd("%d = call double @sees_no_memory(double 1.0)\n store i32 1, ptr %p")));
    assert!(once(&odd("%w = call i32 @looks(ptr %q)\n store i32 1, ptr %p")));
    assert!(!once(&odd("call void @changes(ptr %q)\n store i32 1, ptr %p")));
    assert!(!once(&odd("call void @changes(ptr %p)")), "it is not known what it does");
    assert!(!once(&odd("")), "there is nothing to be done");
}

#[test]
fn structs_are_the_same_unless_the_thread_changes_its_copy() {
    let body = |changes: &str| {
        format!(
            "e: %c = alloca [16 x i8]
              call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %s, i64 16, i1 false)
              {changes}
              %q = load ptr, ptr %c
              store i32 1, ptr %q
              ret void"
        )
    };
    assert!(once(&body("")));
    assert!(!once(&body("%i = getelementptr i32, ptr %c, i32 %t\n store i32 %t, ptr %i")));
    assert!(!once(&body("store ptr %p, ptr %c")));
}
