//! Which operations take ranges together.

use inkwell::context::Context;

use super::found;
use crate::launches::testing::module;

/// How many operations of a kernel do; it takes `p` and `n`, and `%t` is its thread's number.
fn together(body: &str) -> usize {
    let context = Context::create();
    let text = format!(
        "define ptx_kernel void @k(ptr %p, i32 %n) {{
        e: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        {body}
        ret void\n}}"
    );
    let module = module(&context, &text);
    found(module.get_function("k").expect("a kernel")).len()
}

#[test]
fn a_range_of_a_counter_is_taken_together() {
    for scope in ["", "syncscope(\"device\")"] {
        let body = format!(
            "%x = atomicrmw add ptr %p, i32 %t {scope} monotonic
            %q = getelementptr i32, ptr %p, i32 %x
            store i32 0, ptr %q"
        );
        assert_eq!(together(&body), 1, "{scope}");
    }
    let fixed = "%q = getelementptr i32, ptr %p, i32 4
        %x = atomicrmw add ptr %q, i32 %t monotonic\n store i32 %x, ptr %p";
    assert_eq!(together(fixed), 1);
}

#[test]
fn others_are_left() {
    let alike = "%x = atomicrmw add ptr %p, i32 1 monotonic\n store i32 %x, ptr %p";
    let of_all = "%x = atomicrmw add ptr %p, i32 %n monotonic\n store i32 %x, ptr %p";
    let unseen = "%x = atomicrmw add ptr %p, i32 %t monotonic";
    let ordering = "%x = atomicrmw add ptr %p, i32 %t acq_rel\n store i32 %x, ptr %p";
    let own = "%q = getelementptr i32, ptr %p, i32 %t
        %x = atomicrmw add ptr %q, i32 %t monotonic\n store i32 %x, ptr %p";
    let block = "%x = atomicrmw add ptr %p, i32 %t syncscope(\"block\") monotonic
        store i32 %x, ptr %p";
    let kind = "%x = atomicrmw max ptr %p, i32 %t monotonic\n store i32 %x, ptr %p";
    for body in [alike, of_all, unseen, ordering, own, block, kind] {
        assert_eq!(together(body), 0, "{body}");
    }
}
