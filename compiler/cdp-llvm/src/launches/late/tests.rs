//! What keeps launches where they stand, and the order in which they move.

use inkwell::context::Context;

use super::{in_order, why_not};
use crate::launches::testing::{WAITS, launch, module, sites};

/// Why the launches of a kernel of these blocks stay; `LAUNCH` in them is one.
fn reason(blocks: &str) -> Result<(), String> {
    let context = Context::create();
    let module = module(
        &context,
        &format!(
            "define ptx_kernel void @child() {{ ret void }}
             define ptx_kernel void @parent(ptr %p, i32 %n) {{\n{}\n}}",
            blocks.replace("LAUNCH", &launch("ptr null"))
        ),
    );
    let parent = module.get_function("parent").expect("a parent");
    let sites = sites(parent);
    why_not(parent, &sites.iter().collect::<Vec<_>>())
}

fn refused(blocks: &str, why: &str) {
    let reason = reason(blocks).expect_err("it moves");
    assert!(reason.contains(why), "{reason}");
}

#[test]
fn a_launch_before_the_end_moves() {
    reason("e: LAUNCH\n ret void").expect("it moves");
    // What stands before it does not matter.
    reason(
        "e: br label %l
         l: %i = phi i32 [ 0, %e ], [ %j, %l ]
         %j = add i32 %i, 1
         %c = icmp ult i32 %j, %n
         br i1 %c, label %l, label %x
         x: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
         br label %y
         y: LAUNCH\n ret void",
    )
    .expect("it moves");
}

#[test]
fn what_follows_keeps_a_launch() {
    refused("e: %x = LAUNCH\n store i32 %x, ptr %p\n ret void", "its error is looked at");
    refused(
        "e: br label %l
         l: LAUNCH
         %c = icmp ult i32 %n, 7
         br i1 %c, label %l, label %x
         x: ret void",
        "in a loop",
    );
    refused(
        "e: LAUNCH
         br label %l
         l: %i = phi i32 [ 0, %e ], [ %j, %l ]
         %j = add i32 %i, 1
         %c = icmp ult i32 %j, %n
         br i1 %c, label %l, label %x
         x: ret void",
        "before one",
    );
    refused(
        "e: LAUNCH
         br label %x
         x: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
         ret void",
        "a barrier follows",
    );
}

#[test]
fn what_the_parent_does_elsewhere_keeps_a_launch() {
    refused("e: call void @llvm.nvvm.exit()\n LAUNCH\n ret void", "end early");
    refused("e: call i32 @cudaGetLastError()\n LAUNCH\n ret void", "cudaGetLastError");
    refused("e: call void @unknown()\n LAUNCH\n ret void", "what is not known");
    refused(WAITS, "wait for another thread");
}

#[test]
fn launches_keep_their_order() {
    let context = Context::create();
    let one = launch("ptr null");
    // The text has the last first.
    let module = module(
        &context,
        &format!(
            "define ptx_kernel void @child() {{ ret void }}
             define ptx_kernel void @parent(i1 %c) {{
             e: br i1 %c, label %b, label %c2
             a: {one}\n {one}\n ret void
             c2: {one}\n br label %a
             b: {one}\n br label %a
             }}"
        ),
    );
    let sites = sites(module.get_function("parent").expect("a parent"));
    let order = in_order(&sites.iter().collect::<Vec<_>>());
    let place = |site| order.iter().position(|found| *found == site);
    assert_eq!(order.len(), 4);
    assert!(place(2) < place(0) && place(3) < place(0) && place(0) < place(1), "{order:?}");
}
