//! Which launches are recorded.

use inkwell::context::Context;

use super::{Sequence, runs_in_turn, why_not};
use crate::launches::argument::Argument;
use crate::launches::calls::launches;
use crate::launches::gather::gather;
use crate::launches::testing::{WAITS, launch, module, sites};

/// Why the launches of a kernel with this body are not recorded; `LAUNCH` in it is one.
fn reason(stream: &str, blocks: &str) -> Result<(), String> {
    let context = Context::create();
    let module = module(
        &context,
        &format!(
            "define ptx_kernel void @child() {{ ret void }}
             define ptx_kernel void @parent(ptr %p, i32 %n, ptr %s) {{\n{}\n}}",
            blocks.replace("LAUNCH", &launch(stream))
        ),
    );
    let parent = module.get_function("parent").expect("a parent");
    let sites = sites(parent);
    why_not(parent, &sites.iter().collect::<Vec<_>>())
}

fn refused(stream: &str, blocks: &str, why: &str) {
    let reason = reason(stream, blocks).expect_err("it is recorded");
    assert!(reason.contains(why), "{reason}");
}

#[test]
fn a_launch_in_a_loop_is_recorded() {
    let blocks = "e: br label %l
         l: LAUNCH
         %c = icmp ult i32 %n, 7
         br i1 %c, label %l, label %x
         x: ret void";
    reason("ptr null", blocks).expect("it is recorded");
}

#[test]
fn what_may_not_start_later_is_not_recorded() {
    let barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
    reason("ptr null", &format!("e: {barrier}\n br label %x\n x: LAUNCH\n ret void"))
        .expect("it is recorded");
    refused("ptr null", &format!("e: LAUNCH\n br label %x\n x: {barrier}\n ret void"), "barrier");
    refused("ptr null", "e: %x = LAUNCH\n store i32 %x, ptr %p\n ret void", "error");
    refused("ptr null", "e: call void @llvm.nvvm.exit()\n LAUNCH\n ret void", "end early");
    refused("ptr null", "e: call void @unknown()\n LAUNCH\n ret void", "not known");
    refused("ptr %s", "e: LAUNCH\n ret void", "another than the NULL stream");
    refused("ptr null", WAITS, "may wait for another thread");
}

#[test]
fn a_child_that_asks_the_device_runtime_has_no_turn() {
    let context = Context::create();
    let one = launch("ptr null");
    let module = module(
        &context,
        &format!(
            "declare i32 @cudaStreamDestroy(ptr)
             define ptx_kernel void @child() {{ ret void }}
             define ptx_kernel void @nests() {{ {one}\n ret void }}
             define ptx_kernel void @asks(ptr %s) {{
                 call i32 @cudaStreamDestroy(ptr %s)\n ret void
             }}
             define ptx_kernel void @meets() {{
                 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n ret void
             }}"
        ),
    );
    let kernel = |name: &str| module.get_function(name).expect("a kernel");
    let turn =
        |name: &str| runs_in_turn(&gather(kernel(name), None).expect("it can be aggregated"));
    assert!(turn("child") && turn("meets") && turn("nests"));
    assert!(!turn("asks"));
    assert!(launches(kernel("nests")) && !launches(kernel("meets")));
}

#[test]
fn a_loop_of_a_function_that_is_called_is_the_kernels() {
    let context = Context::create();
    let module = module(
        &context,
        "define internal void @turns(i32 %n) noinline {
         e: br label %l
         l: %c = icmp ult i32 %n, 7
         br i1 %c, label %l, label %x
         x: ret void }
         define ptx_kernel void @child(i32 %n) { call void @turns(i32 %n)\n ret void }
         define ptx_kernel void @straight(i32 %n) { ret void }",
    );
    let loops = |name: &str| {
        let kernel = module.get_function(name).expect("a kernel");
        let child = gather(kernel, None).expect("it can be aggregated");
        Sequence::new(&child, 0, &[], None).expect("small enough").loops
    };
    assert!(loops("child"));
    assert!(!loops("straight"));
}

#[test]
fn arguments_lie_as_in_a_parameter_buffer() {
    let context = Context::create();
    let module = module(&context, "define ptx_kernel void @child(i8 %a, ptr %b) { ret void }");
    let child = gather(module.get_function("child").expect("a kernel"), None).expect("a kernel");
    let scalar = |ty: &str| Argument { ty: ty.into(), by_value: None, uniform: false };
    let by_value =
        |bytes| Argument { ty: "ptr".into(), by_value: Some((bytes, 4)), uniform: false };
    let found = Sequence::new(&child, 0, &[scalar("i8"), by_value(12), scalar("ptr")], None);
    let found = found.expect("small enough");
    assert_eq!((found.offsets, found.bytes), (vec![0, 4, 16], 24));
    assert!(Sequence::new(&child, 0, &[by_value(1024)], None).is_none());
}
