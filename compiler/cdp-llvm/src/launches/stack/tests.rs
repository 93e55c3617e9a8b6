//! Which launches a thread runs itself.

use inkwell::context::Context;
use inkwell::values::FunctionValue;

use super::{keep, warp};
use crate::launches::parent::LaunchSite;
use crate::launches::testing::{module, sites};
use crate::launches::tuning::Tuning;
use crate::raw::view::View;

/// A launch of the kernel itself, of so many threads.
const OWN: &str = "call i32 (...) @cdp.launch(ptr @k, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, \
     ptr inttoptr (i64 4 to ptr), ptr %p, i32 %n)";

/// How many launches of a kernel with this body are kept; `OWN` in it is one.
fn kept(blocks: &str) -> usize {
    let context = Context::create();
    let text =
        format!("define ptx_kernel void @k(ptr %p, i32 %n) {{\n{}\n}}", blocks.replace("OWN", OWN));
    let module = module(&context, &text);
    let kernel = module.get_function("k").expect("a kernel");
    let found = keep(kernel, &sites(kernel), &Tuning::default()).0.len();
    module.verify().expect("good IR");
    // They stay, for those that are long.
    assert_eq!(sites(kernel).len(), blocks.matches("OWN").count() + blocks.matches("@cdp").count());
    found
}

#[test]
fn what_a_thread_launches_of_its_own_kernel_it_may_run() {
    assert_eq!(kept("e: OWN\n OWN\n ret void"), 2);
    let reads = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n store i32 %t, ptr %p";
    assert_eq!(kept(&format!("e: {reads}\n br label %l\n l: OWN\n ret void")), 1);
    let looped = "e: br label %l
         l: %i = phi i32 [ 0, %e ], [ %j, %l ]
         OWN
         %j = add i32 %i, 1
         %c = icmp ult i32 %j, %n
         br i1 %c, label %l, label %x
         x: ret void";
    assert_eq!(kept(looped), 1);
}

#[test]
fn what_its_thread_cannot_run_is_launched() {
    assert_eq!(kept("e: %x = OWN\n store i32 %x, ptr %p\n ret void"), 0, "its error is used");
    let barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
    assert_eq!(kept(&format!("e: {barrier}\n OWN\n ret void")), 0, "a barrier");
    assert_eq!(kept("e: OWN\n call void @llvm.nvvm.exit()\n ret void"), 0, "it ends early");
    assert_eq!(kept("e: %x = call i32 @cudaGetLastError()\n OWN\n ret void"), 0, "it asks");
    assert_eq!(kept("e: call void @unknown()\n OWN\n ret void"), 0, "it calls what is not known");
    let waits = "e: br label %l
         l: %v = load volatile i32, ptr %p
         %c = icmp eq i32 %v, 0
         br i1 %c, label %l, label %x
         x: OWN\n ret void";
    assert_eq!(kept(waits), 0, "it waits");
    let ordered = OWN.replace("inttoptr (i64 4 to ptr)", "null");
    assert_eq!(kept(&format!("e: OWN\n {ordered}\n ret void")), 0, "one is ordered");
    let tail = OWN.replace("i64 4", "i64 3");
    assert_eq!(kept(&format!("e: OWN\n {tail}\n ret void")), 0, "one is a tail launch");
    let wide = OWN.replacen("i32 1", "i32 2", 1);
    assert_eq!(kept(&format!("e: {wide}\n ret void")), 0, "its grid has more threads");
}

/// What the sites of a kernel launch, and in blocks of how many threads.
fn launched(kernel: FunctionValue<'_>) -> Vec<(String, i64)> {
    let found = |site: &LaunchSite<'_>| {
        let name = site.kernel().map(|kernel| kernel.get_name().to_string_lossy().into_owned());
        let threads = View::value(site.operands[4]).constant_int();
        (name.unwrap_or_default(), threads.unwrap_or_default())
    };
    sites(kernel).iter().map(found).collect()
}

#[test]
fn grids_of_one_thread_are_warps() {
    let null = OWN.replace("inttoptr (i64 4 to ptr)", "null");
    let parent = format!(
        "define ptx_kernel void @p(ptr %p, i32 %n) {{ {null}\n {}\n {}\n ret void }}",
        null.replacen("i32 1", "i32 %n", 1),
        null.replace("i32 1, i32 0,", "i32 2, i32 0,"),
    );
    for (attributes, tuning, made) in [
        ("", Tuning::default(), true),
        ("", Tuning { stack_warp: 0, ..Tuning::default() }, false),
        ("\"nvvm.maxntid\"=\"1\"", Tuning::default(), false),
    ] {
        let context = Context::create();
        let text = format!(
            "{parent}\ndefine ptx_kernel void @k(ptr %p, i32 %n) {attributes} {{ {OWN}\n ret void }}"
        );
        let module = module(&context, &text);
        let [kernel, parent] = ["k", "p"].map(|name| module.get_function(name).expect("a kernel"));
        let (kept, found) = keep(kernel, &sites(kernel), &tuning);
        assert_eq!((kept.len(), found.is_some()), (1, made), "{attributes}");
        let warps: Vec<_> = found.into_iter().map(|warp| (warp, kernel)).collect();
        let mut parents = vec![(kernel, sites(kernel)), (parent, sites(parent))];
        warp::launch_warps(&mut parents, &warps);
        module.verify().expect("good IR");
        let one = match made {
            true => ("__cdp_warp_of_k".to_string(), 32),
            false => ("k".to_string(), 1),
        };
        let others = ("k".to_string(), 1);
        let all = |found: Vec<(String, i64)>| found.len() == 1 && found[0] == one;
        assert!(all(launched(kernel)));
        assert_eq!(launched(parent), [one.clone(), others.clone(), others]);
        assert_eq!(parents.len(), 2 + warps.len());
        assert!(warps.iter().all(|(warp, _)| all(launched(*warp))));
        assert!(parents.iter().all(|(kernel, found)| found.len() == sites(*kernel).len()));
    }
}
