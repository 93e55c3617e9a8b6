//! Which launches a twin may run: those whose dimensions say that their threads can be counted.

use inkwell::context::Context;

use super::super::testing::{module, sites};
use super::knows_no_runtime;
use crate::raw;
use crate::raw::view::{self, View};

/// What the grid's dimension along x is at most, in a kernel with this body that launches `%g` blocks.
fn most(body: &str) -> u64 {
    let context = Context::create();
    let launch = "call i32 (...) @cdp.launch(ptr @child, i32 %g, i32 1, i32 1, i32 64, i32 1, i32 1, i32 0, ptr null)";
    let body = body.replace("LAUNCH", launch);
    let text = format!(
        "define ptx_kernel void @child() {{ ret void }}
         define ptx_kernel void @p(i32 %n, i32 %a, i32 %b) {{
         {body}
         }}"
    );
    let module = module(&context, &text);
    let site = sites(module.get_function("p").expect("a kernel")).remove(0);
    view::most_of_operand(View::instruction(raw::instruction(site.call)), 1)
}

#[test]
fn quotients_are_known() {
    assert_eq!(most("%m = add i32 %n, 63\n%g = sdiv i32 %m, 64\nLAUNCH\nret void"), (1 << 25) - 1);
    assert_eq!(most("%g = lshr i32 %n, 6\nLAUNCH\nret void"), (1 << 26) - 1);
    assert_eq!(most("%g = and i32 %n, 255\nLAUNCH\nret void"), 255);
    assert_eq!(most("%g = add i32 %n, 0\nLAUNCH\nret void"), (1 << 31) - 1);
}

#[test]
fn a_difference_above_zero_is_known_where_that_was_asked() {
    let difference = |asked: &str| {
        most(&format!(
            "e:\n%c = icmp {asked} i32 %a, %b\nbr i1 %c, label %s, label %x
             s:\n%d = sub nsw i32 %b, %a\n%u = add nuw nsw i32 %d, 63\n%g = lshr i32 %u, 6\nLAUNCH\nbr label %x
             x:\nret void"
        ))
    };
    assert_eq!(difference("slt"), (1 << 25) - 1);
    assert_eq!(difference("sle"), (1 << 25) - 1);
    // What is asked here says nothing of the sign of the difference.
    assert_eq!(difference("ult"), (1 << 26) - 1);
    assert_eq!(difference("sgt"), (1 << 26) - 1);
}

/// Whether a kernel with these instructions behind its launch may have a twin, as far as it knows of the device runtime.
fn is_free(rest: &str) -> bool {
    let context = Context::create();
    let text = format!(
        "define ptx_kernel void @child() {{ ret void }}
         define void @asks() {{ call i32 @cudaGetLastError()\nret void }}
         define void @launches() {{
         call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)\nret void }}
         define ptx_kernel void @p(ptr %f) {{
         call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
         {rest}
         ret void }}"
    );
    let module = module(&context, &text);
    knows_no_runtime(View::function(module.get_function("p").expect("a kernel")))
}

#[test]
fn nothing_leads_to_the_device_runtime() {
    assert!(is_free("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"));
    for other in ["@cudaGetLastError", "@asks", "@launches", "@unknown", "%f"] {
        assert!(!is_free(&format!("call void {other}()")), "{other}");
    }
}
