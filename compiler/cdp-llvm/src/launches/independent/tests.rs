//! Each rule of independence, with what it must not be taken for.

use inkwell::context::Context;
use inkwell::values::{CallSiteValue, InstructionOpcode};

use super::{Independent, independent};
use crate::foreign::{LAUNCH, parse_own};
use crate::launches::parent::LaunchSite;
use crate::raw::view::View;

const INTRINSICS: &str = "\
declare i32 @cdp.launch(...)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y() memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() memory(none)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.membar.gl()
declare ptr @malloc(i64)
@one = addrspace(1) global i32 0
@other = addrspace(1) global i32 0
@table = addrspace(4) constant [4 x i32] zeroinitializer
";

/// What is found of a kernel `@parent` and all that it launches into the NULL stream.
fn found(text: &str) -> Result<Independent, String> {
    let context = Context::create();
    let text = format!("target triple = \"nvptx64-nvidia-cuda\"\n{INTRINSICS}{text}");
    let module = parse_own(&context, "test", text.as_bytes()).expect("IR");
    module.verify().expect("good IR");
    let parent = module.get_function("parent").expect("a parent");
    let mut sites = Vec::new();
    for instruction in parent.get_basic_block_iter().flat_map(|block| block.get_instructions()) {
        let launches = instruction.get_opcode() == InstructionOpcode::Call
            && View::instruction(instruction).callee().is_some_and(|f| f.name() == LAUNCH);
        if launches {
            sites.push(LaunchSite::new(CallSiteValue::try_from(instruction).expect("a call")));
        }
    }
    let sites: Vec<_> = sites.iter().filter(|site| site.in_null_stream()).collect();
    assert!(!sites.is_empty());
    independent(parent, &sites).map_err(|dependence| dependence.reason)
}

/// A child that takes `p`, `q` and `row` and does this; its parent takes `p` and `q` with these attributes, and gives
/// its thread's number in the grid for the row.
fn child(attributes: [&str; 2], body: &str) -> Result<Independent, String> {
    let [p, q] = attributes;
    found(&format!(
        "define ptx_kernel void @child(ptr %p, ptr %q, i32 %row) {{
         entry:
           {body}
           ret void
         }}
         {}",
        parent(p, q, "%row")
    ))
}

fn parent(p: &str, q: &str, row: &str) -> String {
    format!(
        "define ptx_kernel void @parent(ptr {p} %p, ptr {q} %q, i32 %n) {{
         entry:
           %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
           %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
           %s = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
           %first = mul i32 %b, %s
           %row = add i32 %first, %t
           %narrow = and i32 %row, 15
           %twice = shl i32 %row, 1
           %least = load i32, ptr %p
           %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0,
                                           ptr null, ptr %p, ptr %q, i32 {row})
           ret void
         }}"
    )
}

const NONE: [&str; 2] = ["", ""];
const BOTH: [&str; 2] = ["noalias", "noalias"];
const FLAT: Result<Independent, String> = Ok(Independent { single: false, flat: true });
const ANY: Result<Independent, String> = Ok(Independent { single: false, flat: false });

#[track_caller]
fn refused(found: Result<Independent, String>, why: &str) {
    match found {
        Ok(found) => panic!("{found:?}, though {why}"),
        Err(reason) => assert!(reason.contains(why), "{reason}"),
    }
}

const ADD: &str = "%v = load i32, ptr %q
    %was = atomicrmw add ptr %p, i32 %v syncscope(\"device\") monotonic";

#[test]
fn sums_by_atomics() {
    assert_eq!(child(BOTH, ADD), ANY);
    // One that nobody else leads to is enough.
    assert_eq!(child(["", "noalias"], ADD), ANY);
    assert_eq!(child(["noalias", ""], ADD), ANY);
    // What is added may be what another child added.
    refused(child(NONE, ADD), "may read by parameter 2 of the parent what another writes");
    assert_eq!(
        child(NONE, "%w = atomicrmw umax ptr %p, i32 7 syncscope(\"device\") monotonic"),
        ANY
    );
}

#[test]
fn atomics_that_do_not_commute() {
    let two = |one: &str, other: &str| {
        child(NONE, &format!("%a = atomicrmw {one} monotonic\n%b = atomicrmw {other} monotonic"))
    };
    let add = "add ptr %p, i32 1 syncscope(\"device\")";
    assert_eq!(two(add, "add ptr %q, i32 2 syncscope(\"device\")"), ANY);
    refused(two(add, "max ptr %q, i32 2 syncscope(\"device\")"), "may write the same place");
    // A carry goes into the upper half or not.
    refused(two(add, "add ptr %q, i64 2 syncscope(\"device\")"), "may write the same place");
    refused(two(add, "fadd ptr %q, float 2.0 syncscope(\"device\")"), "may write the same place");
    let float =
        child(NONE, "%a = atomicrmw fadd ptr %p, float 1.0 syncscope(\"device\") monotonic");
    refused(float, "floating-point");
}

/// An exchange whose result nobody looks at is a store.
#[test]
fn exchanges() {
    let swap = |value: &str, rest: &str| {
        let text =
            format!("%a = atomicrmw xchg ptr %p, {value} syncscope(\"device\") monotonic\n{rest}");
        child(BOTH, &text)
    };
    assert_eq!(swap("i32 0", ""), ANY);
    assert_eq!(swap("i32 0", "store i32 0, ptr %p"), ANY);
    refused(swap("i32 0", "store i32 1, ptr %p"), "may write the same place");
    refused(swap("i32 0", "store i8 0, ptr %p"), "may write the same place");
    refused(swap("i32 %row", ""), "may write the same place");
    let and = "%b = atomicrmw and ptr %p, i32 3 syncscope(\"device\") monotonic";
    refused(swap("i32 0", and), "may write the same place");
    refused(swap("i32 0", "%b = add i32 %a, 1"), "looks at what its atomic operations find");
    let block = "%a = atomicrmw xchg ptr %p, i32 0 syncscope(\"block\") monotonic";
    refused(child(BOTH, block), "not the whole device's");
}

#[test]
fn atomics_that_tell_or_order() {
    refused(
        child(
            BOTH,
            "%a = atomicrmw add ptr %p, i32 1 syncscope(\"device\") monotonic\n%b = add i32 %a, 1",
        ),
        "looks at what its atomic operations find",
    );
    let other = |text: &str| child(BOTH, &format!("%a = atomicrmw add ptr %p, i32 1 {text}"));
    refused(other("syncscope(\"block\") monotonic"), "not the whole device's");
    refused(other("syncscope(\"device\") release"), "not the whole device's");
    refused(child(BOTH, "%a = load volatile i32, ptr %p"), "volatile");
    refused(child(BOTH, "store volatile i32 1, ptr %p"), "volatile");
    refused(child(BOTH, "store atomic i32 1, ptr %p monotonic, align 4"), "volatile");
    refused(child(BOTH, "fence syncscope(\"device\") acq_rel"), "a fence");
    refused(child(BOTH, "call void @llvm.nvvm.membar.gl()"), "calls `llvm.nvvm.membar.gl`");
    refused(child(BOTH, "%a = call ptr @malloc(i64 8)"), "calls `malloc`");
    refused(
        child(BOTH, "%a = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic"),
        "atomic operations",
    );
}

/// `p[row] = q[0]`, with the row made of `%row` by this code, which leaves `%i`.
fn stores(attributes: [&str; 2], index: &str) -> Result<Independent, String> {
    child(
        attributes,
        &format!(
            "{index}
             %wide = sext i32 %i to i64
             %to = getelementptr i32, ptr %p, i64 %wide
             %v = load i32, ptr %q
             store i32 %v, ptr %to, align 4"
        ),
    )
}

#[test]
fn rows_of_their_own() {
    assert_eq!(stores(BOTH, "%i = add i32 %row, 0"), FLAT);
    assert_eq!(stores(BOTH, "%i = mul i32 %row, 12"), FLAT);
    assert_eq!(stores(BOTH, "%x = shl i32 %row, 4\n%i = sub i32 7, %x"), FLAT);
    refused(stores(NONE, "%i = add i32 %row, 0"), "may read by parameter 2");
    let same = "may write the same place by parameter 1";
    refused(stores(BOTH, "%i = add i32 0, 5"), same);
    refused(stores(BOTH, "%i = and i32 %row, 7"), same);
    refused(stores(BOTH, "%i = udiv i32 %row, 2"), same);
    refused(stores(BOTH, "%i = mul i32 %row, %row"), same);
    // A multiple of 2 to the 32nd for the thread that is 1,024 / 2 further.
    refused(stores(BOTH, "%i = shl i32 %row, 23"), same);
}

#[test]
fn ranges_within_rows() {
    let part = |row: &str, part: &str| {
        stores(
            BOTH,
            &format!(
                "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
                 %part = {part}
                 %x = mul i32 %row, {row}
                 %i = add i32 %x, %part"
            ),
        )
    };
    assert_eq!(part("8", "and i32 %t, 7"), FLAT);
    assert_eq!(part("1024", "add i32 %t, 0"), FLAT);
    let same = "may write the same place";
    refused(part("8", "and i32 %t, 15"), same);
    refused(part("7", "and i32 %t, 7"), same);
    refused(part("512", "add i32 %t, 0"), same);
}

#[test]
fn neighbours_that_overlap() {
    let wide = |index: &str| {
        child(
            BOTH,
            &format!(
                "%i = {index}
                 %to = getelementptr i32, ptr %p, i32 %i
                 store i64 0, ptr %to, align 4"
            ),
        )
    };
    refused(wide("add i32 %row, 0"), "may write the same place");
    assert_eq!(wide("shl i32 %row, 1"), FLAT);
}

#[test]
fn reads_of_what_a_neighbour_writes() {
    let shifted = |by: &str| {
        child(
            BOTH,
            &format!(
                "%to = getelementptr i32, ptr %p, i32 %row
                 %next = add i32 %row, {by}
                 %from = getelementptr i32, ptr %p, i32 %next
                 %v = load i32, ptr %from
                 store i32 %v, ptr %to, align 4"
            ),
        )
    };
    assert_eq!(shifted("0"), FLAT);
    refused(shifted("1"), "what another writes by parameter 1");
    refused(shifted("1000"), "what another writes by parameter 1");
}

#[test]
fn rows_that_threads_share() {
    let body = "define ptx_kernel void @child(ptr %p, ptr %q, i32 %row) {
        %to = getelementptr i32, ptr %p, i32 %row
        %v = load i32, ptr %q
        store i32 %v, ptr %to, align 4
        ret void
      }";
    let of = |row: &str| found(&format!("{body}\n{}", parent("noalias", "noalias", row)));
    assert_eq!(of("%row"), FLAT);
    assert_eq!(of("%twice"), FLAT);
    assert_eq!(of("%t"), FLAT);
    for row in ["%narrow", "%b", "%n", "3", "%least"] {
        refused(of(row), "may write the same place");
    }
}

#[test]
fn one_value_from_all() {
    let flag = "store i32 1, ptr %p, align 4";
    assert_eq!(child(NONE, flag), ANY);
    refused(child(NONE, &format!("{flag}\n store i32 2, ptr %q, align 4")), "the same place");
    refused(child(NONE, "store i32 %row, ptr %p, align 4"), "the same place");
    refused(child(NONE, "store i32 1, ptr %p, align 1"), "the same place");
    refused(child(NONE, &format!("{flag}\n %v = load i32, ptr %q")), "may read by parameter 2");
    let given = "define ptx_kernel void @child(ptr %p, ptr %q, i32 %value) {
        store i32 %value, ptr %p, align 4
        ret void
      }";
    let of = |value: &str| found(&format!("{given}\n{}", parent("", "", value)));
    assert_eq!(of("%n"), ANY);
    assert_eq!(of("%b"), ANY);
    refused(of("%row"), "the same place");
    // Read again, it may be another.
    refused(of("%least"), "the same place");
}

#[test]
fn variables() {
    let add = |from: &str| {
        format!(
            "%v = load i32, ptr {from}
             %a = atomicrmw add ptr addrspace(1) @one, i32 %v syncscope(\"device\") monotonic"
        )
    };
    assert_eq!(child(NONE, &add("addrspace(1) @other")), ANY);
    assert_eq!(child(NONE, &add("addrspace(4) @table")), ANY);
    refused(child(NONE, &add("addrspace(1) @one")), "`one`");
    // A pointer may lead to a variable.
    refused(child(NONE, &add("%p")), "`one`");
    assert_eq!(child(["noalias", ""], &add("%p")), ANY);
}

#[test]
fn pointers_from_memory() {
    let text = "%r = load ptr, ptr %q
        %a = atomicrmw add ptr %r, i32 1 syncscope(\"device\") monotonic";
    refused(child(BOTH, text), "an address that is not known here");
    let number = "%x = sext i32 %row to i64\n%r = inttoptr i64 %x to ptr\nstore i32 %row, ptr %r";
    refused(child(BOTH, number), "an address that is not known here");
}

#[test]
fn pointers_that_move_or_are_chosen() {
    let moving = "br label %loop
      loop:
        %at = phi ptr [ %p, %entry ], [ %next, %loop ]
        %i = phi i32 [ 0, %entry ], [ %j, %loop ]
        %next = getelementptr i32, ptr %at, i32 1
        %v = load i32, ptr %q
        store i32 %v, ptr %at, align 4
        %j = add i32 %i, 1
        %more = icmp slt i32 %j, %row
        br i1 %more, label %loop, label %end
      end:";
    refused(child(BOTH, moving), "may write the same place by parameter 1");
    let chosen = "%c = icmp eq i32 %row, 0
        %r = select i1 %c, ptr %p, ptr %q
        %a = atomicrmw add ptr %r, i32 1 syncscope(\"device\") monotonic";
    assert_eq!(child(BOTH, chosen), ANY);
    let read = format!("{chosen}\n%v = load i32, ptr %q");
    refused(child(BOTH, &read), "by parameter 2 of the parent what another writes");
}

#[test]
fn what_functions_do_counts() {
    let helper = "define void @helper(ptr %to, ptr %from) noinline {
        %v = load i32, ptr %from
        %a = atomicrmw add ptr %to, i32 %v syncscope(\"device\") monotonic
        ret void
      }
      define ptx_kernel void @child(ptr %p, ptr %q, i32 %row) {
        call void @helper(ptr %p, ptr %q)
        ret void
      }";
    assert_eq!(found(&format!("{helper}\n{}", parent("noalias", "", "%row"))), ANY);
    refused(found(&format!("{helper}\n{}", parent("", "", "%row"))), "may read by parameter 2");
    // The places of a function's own parameters are not those of the kernel's of the same number.
    let placed = "define void @put(ptr %to, i32 %at) noinline {
        %here = getelementptr i32, ptr %to, i32 %at
        store i32 %at, ptr %here, align 4
        ret void
      }
      define ptx_kernel void @child(ptr %p, ptr %q, i32 %row) {
        call void @put(ptr %p, i32 0)
        ret void
      }";
    let of = format!("{placed}\n{}", parent("noalias", "noalias", "%row"));
    refused(found(&of), "may write the same place");
}

#[test]
fn pointers_in_structs() {
    let of = |change: &str, attributes: &str| {
        found(&format!(
            "%S = type {{ ptr, ptr }}
             define ptx_kernel void @child(ptr byval(%S) align 8 %s, ptr %q, i32 %row) {{
               %at = getelementptr i8, ptr %s, i64 8
               %to = load ptr, ptr %at
               %v = load i32, ptr %q
               %a = atomicrmw add ptr %to, i32 %v syncscope(\"device\") monotonic
               ret void
             }}
             define ptx_kernel void @parent(ptr byval(%S) align 8 %s, ptr {attributes} %q, i32 %n) {{
               {change}
               %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1,
                   i32 0, ptr null, ptr byval(%S) align 8 %s, ptr %q, i32 0)
               ret void
             }}"
        ))
    };
    assert_eq!(of("", "noalias"), ANY);
    refused(of("", ""), "the pointer at byte 8 of parameter 1");
    // The parent may have put the other pointer there.
    let changed = "%at = getelementptr i8, ptr %s, i64 8\n store ptr %q, ptr %at";
    refused(of(changed, "noalias"), "an address that is not known here");
}

#[test]
fn several_sites() {
    let two = |other: &str| {
        found(&format!(
            "define ptx_kernel void @child(ptr %p, ptr %q) {{
               %v = load i32, ptr %q
               %a = atomicrmw add ptr %p, i32 %v syncscope(\"device\") monotonic
               ret void
             }}
             define ptx_kernel void @second(ptr %p, ptr %q) {{
               {other}
               ret void
             }}
             define ptx_kernel void @parent(ptr noalias %p, ptr noalias %q, i1 %c) {{
             entry:
               br i1 %c, label %then, label %else
             then:
               %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1,
                   i32 0, ptr null, ptr %p, ptr %q)
               ret void
             else:
               %f = call i32 (...) @cdp.launch(ptr @second, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1,
                   i32 0, ptr null, ptr %p, ptr %q)
               ret void
             }}"
        ))
    };
    assert_eq!(two("%v = load i32, ptr %q"), ANY);
    refused(two("%v = load i32, ptr %p"), "may read by parameter 1");
    refused(two("store i32 3, ptr %q, align 4"), "by parameter 2");
}

#[test]
fn children_that_launch() {
    refused(
        child(
            BOTH,
            "%e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0,
                 ptr null, ptr %p, ptr %q, i32 0)",
        ),
        "launches kernels itself",
    );
}

#[test]
fn parents_that_look() {
    let of = |look: &str, attributes: &str| {
        found(&format!(
            "define ptx_kernel void @child(ptr %p) {{
               %a = atomicrmw add ptr %p, i32 1 syncscope(\"device\") monotonic
               ret void
             }}
             define ptx_kernel void @parent(ptr {attributes} %p, ptr %q) {{
               %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1,
                   i32 0, ptr null, ptr %p)
               {look}
               ret void
             }}"
        ))
    };
    let atomic = "%a = atomicrmw add ptr %q, i32 1 monotonic\n%b = add i32 %a, 1";
    refused(of(atomic, ""), "the parent may look");
    assert_eq!(of(atomic, "noalias"), ANY);
    refused(of("%v = load volatile i32, ptr %p", "noalias"), "the parent may look");
    assert_eq!(of("%v = load volatile i32, ptr %q", "noalias"), ANY);
    refused(
        of("call void asm sideeffect \"nop;\", \"~{memory}\"()", "noalias"),
        "the parent may look",
    );
    assert_eq!(of("fence syncscope(\"device\") acq_rel", ""), ANY);
}

/// A child that nothing is proved of, launched where this condition `%c` holds.
fn gated(condition: &str, before: &str) -> Result<Independent, String> {
    found(&format!(
        "define ptx_kernel void @child(ptr %p) {{
           %v = load volatile i32, ptr %p
           ret void
         }}
         define ptx_kernel void @parent(ptr %p, i32 %n) {{
         entry:
           %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
           %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
           %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
           %s = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
           %first = mul i32 %b, %s
           %row = add i32 %first, %t
           %m = load i32, ptr %p
           {condition}
           br i1 %c, label %then, label %else
         then:
           %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0,
               ptr null, ptr %p)
           ret void
         else:
           {before}
           ret void
         }}"
    ))
}

#[test]
fn one_thread_of_a_block() {
    let single = Ok(Independent { single: true, flat: true });
    let several = "volatile";
    assert_eq!(gated("%c = icmp eq i32 %t, 0", ""), single);
    assert_eq!(gated("%c = icmp eq i32 %n, %t", ""), single);
    assert_eq!(gated("%c = icmp eq i32 %row, %n", ""), single);
    assert_eq!(
        gated("%a = icmp eq i32 %row, 0\n%d = icmp sgt i32 %m, 0\n%c = and i1 %a, %d", ""),
        single
    );
    assert_eq!(
        gated(
            "%a = icmp eq i32 %row, 0\n%d = icmp sgt i32 %m, 0\n%c = select i1 %d, i1 %a, i1 false",
            ""
        ),
        single
    );
    assert_eq!(gated("%a = icmp ne i32 %t, 0\n%c = xor i1 %a, true", ""), single);
    assert_eq!(gated("%x = or i32 %b, %t\n%c = icmp eq i32 %x, 0", ""), single);
    for condition in [
        "%x = or i32 %b, %t\n%c = icmp eq i32 %x, 1",
        "%x = or i32 %b, %y\n%c = icmp eq i32 %x, 0",
        "%c = icmp ne i32 %t, 0",
        "%c = icmp ult i32 %t, 1",
        "%c = icmp eq i32 %y, 0",
        "%c = icmp eq i32 %n, 0",
        // Each thread may read another number.
        "%c = icmp eq i32 %t, %m",
        "%x = and i32 %t, 31\n%c = icmp eq i32 %x, 0",
        "%x = shl i32 %t, 23\n%c = icmp eq i32 %x, 0",
        "%a = icmp eq i32 %t, 0\n%d = icmp sgt i32 %m, 0\n%c = or i1 %a, %d",
        "%a = icmp eq i32 %t, 0\n%d = icmp sgt i32 %m, 0\n%c = select i1 %d, i1 true, i1 %a",
        "%x = trunc i32 %t to i8\n%c = icmp eq i8 %x, 0",
    ] {
        refused(gated(condition, ""), several);
    }
    // Another way to a launch.
    let launch = "%f = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0,
        ptr null, ptr %p)";
    refused(gated("%c = icmp eq i32 %t, 0", launch), several);
}
