//! What may run in any order with all that is below it, and what may not.

use inkwell::context::Context;

use super::nested;
use crate::launches::testing::{module, sites};

/// Whether what `@parent` launches may, when each thread of a child does this and then launches itself.
fn of(attributes: [&str; 2], body: &str) -> bool {
    let [p, q] = attributes;
    let launch = |p: &str, q: &str| {
        format!(
            "%e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 4, i32 1, i32 1, i32 0, ptr null,
                                             ptr {p}, ptr {q}, i32 %n)
             ret void"
        )
    };
    let context = Context::create();
    let text = format!(
        "define ptx_kernel void @child(ptr %p, ptr %q, i32 %n) {{
         entry:
           {body}
           {}
         }}
         define ptx_kernel void @parent(ptr {p} %p, ptr {q} %q, i32 %n) {{
         entry:
           {}
         }}",
        launch("%q", "%p"),
        launch("%p", "%q")
    );
    let module = module(&context, &text);
    let parent = module.get_function("parent").expect("a parent");
    nested(parent, &sites(parent)).is_ok()
}

const NONE: [&str; 2] = ["", ""];
const BOTH: [&str; 2] = ["noalias", "noalias"];

#[test]
fn sums_and_flags_may_run_in_any_order() {
    assert!(of(NONE, ""));
    assert!(of(NONE, "%v = load i32, ptr %p"));
    assert!(of(NONE, "%v = atomicrmw add ptr %p, i32 %n syncscope(\"device\") monotonic"));
    assert!(of(NONE, "store i32 1, ptr %p"));
}

#[test]
fn pointers_may_change_places_on_the_way_down() {
    let reads_what_is_added = "%v = load i32, ptr %q
        %s = atomicrmw add ptr %p, i32 %v syncscope(\"device\") monotonic";
    assert!(!of(BOTH, reads_what_is_added));
    let adds_elsewhere = "%v = load i32, ptr %q
        %s = atomicrmw add ptr addrspace(1) @one, i32 %v syncscope(\"device\") monotonic";
    assert!(!of(NONE, adds_elsewhere));
    assert!(of(BOTH, adds_elsewhere));
}

#[test]
fn what_depends_on_the_order_may_not() {
    // Known to be apart for each of the threads that launch, but not further down.
    let own = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %a = getelementptr i32, ptr %p, i32 %t
        store i32 %t, ptr %a";
    assert!(!of(BOTH, own));
    assert!(!of(NONE, "store i32 %n, ptr %p"));
    assert!(!of(NONE, "%v = load volatile i32, ptr %p"));
    let two = "%a = atomicrmw add ptr %p, i32 %n syncscope(\"device\") monotonic
        %b = atomicrmw max ptr %q, i32 %n syncscope(\"device\") monotonic";
    assert!(!of(NONE, two) && !of(BOTH, two));
    let found = "%a = atomicrmw add ptr %p, i32 1 syncscope(\"device\") monotonic
        store i32 %a, ptr addrspace(1) @one";
    assert!(!of(NONE, found));
}

#[test]
fn all_below_counts() {
    let context = Context::create();
    let launch = |kernel: &str| {
        format!(
            "call i32 (...) @cdp.launch(ptr @{kernel}, i32 1, i32 1, i32 1, i32 4, i32 1, i32 1, i32 0, ptr null, ptr %p)"
        )
    };
    let text = format!(
        "define ptx_kernel void @leaf(ptr %p) {{ store i32 1, ptr %p\n ret void }}
         define ptx_kernel void @other(ptr %p) {{ store i32 2, ptr %p\n ret void }}
         define ptx_kernel void @both(ptr %p) {{ {}\n {}\n ret void }}
         define ptx_kernel void @one_kind(ptr %p) {{ {}\n ret void }}
         define ptx_kernel void @two_kinds(ptr %p) {{ {}\n ret void }}
         declare ptx_kernel void @far(ptr)
         define ptx_kernel void @elsewhere(ptr %p) {{ {}\n ret void }}",
        launch("leaf"),
        launch("other"),
        launch("leaf"),
        launch("both"),
        launch("far")
    );
    let module = module(&context, &text);
    let asked = |name: &str| {
        let parent = module.get_function(name).expect("a kernel");
        nested(parent, &sites(parent)).is_ok()
    };
    assert!(asked("one_kind"));
    assert!(!asked("two_kinds") && !asked("both") && !asked("elsewhere"));
}
