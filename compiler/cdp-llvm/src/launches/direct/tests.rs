use super::module::{Passing, with_passing};
use super::*;

fn direct(functions: &[&str]) -> Option<Direct> {
    let mut direct = Direct::default();
    functions.iter().try_for_each(|function| direct.add(function, "", LaunchAbi::Cdp2V2))?;
    Some(direct)
}

/// Instructions alone, one a line.
fn instructions(ptx: &str) -> Vec<String> {
    let lines = ptx.lines().filter(|line| line.starts_with('\t') && !line.contains(".param ."));
    let plain = |line: &str| line.trim().replace(" \t", " ");
    lines.map(plain).filter(|line| !line.starts_with('.') && line.ends_with(';')).collect()
}

/// A site as sites are written: its configuration is looked at, then a function is called.
const SITE: &str = "\
define internal i32 @\"__cdp_site_0\"(i32 %gx, i32 %gy, ptr %stream, float %a0) alwaysinline nounwind {
entry:
  %v0 = sub i32 %gx, 1
  %v1 = icmp ult i32 %v0, 1024
  %v2 = sub i32 %gy, 1
  %v3 = icmp ult i32 %v2, 1
  %valid = and i1 %v1, %v3
  br i1 %valid, label %run, label %out
run:
  call void @\"threads\"(float %a0, i32 %gx)
  br label %out
out:
  ret i32 0
}
";

const PASSING: [Passing; 4] =
    [Passing::Value, Passing::Number(1), Passing::Number(0), Passing::Value];

#[test]
fn what_a_site_says_of_itself_costs_nothing() {
    let (function, taken) = with_passing(SITE, &PASSING).expect("a site");
    assert_eq!(taken, [Taken::Value, Taken::Not, Taken::Not, Taken::Value]);
    let direct = direct(&[&function]).expect("it is understood");
    let wanted = [
        "ld.param.b32 %r1, [__cdp_site_0_param_0];",
        "ld.param.b32 %r2, [__cdp_site_0_param_1];",
        "sub.s32 %r3, %r1, 1;",
        "setp.lt.u32 %p1, %r3, 1024;",
        "@%p1 bra $L_run;",
        "bra $L_out;",
        "st.param.b32 [param0], %r2;",
        "st.param.b32 [param1], %r1;",
        "call.uni threads, (param0, param1);",
        "st.param.b32 [func_retval0], 0;",
        "ret;",
    ];
    assert_eq!(instructions(&direct.ptx), wanted);
    assert_eq!(direct.declarations.keys().collect::<Vec<_>>(), ["__cdp_site_0", "threads"]);
}

#[test]
fn values_that_change_places_are_read_first() {
    let text = "define internal void @\"f\"(i1 %c) {
entry:
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  br i1 %c, label %loop, label %out
out:
  ret void
}
";
    let ptx = direct(&[text]).expect("it is understood").ptx;
    let wanted = [
        "mov.b32 %r1, 1;",
        "mov.b32 %r2, 2;",
        "@!%p1 bra $L_edge_1;",
        "mov.b32 %r3, %r2;",
        "mov.b32 %r4, %r1;",
        "mov.b32 %r1, %r3;",
        "mov.b32 %r2, %r4;",
        "bra $L_loop;",
        "ret;",
    ];
    let all = instructions(&ptx);
    let from = all.iter().position(|line| line == wanted[0]).expect("the loop begins");
    assert_eq!(all[from..], wanted);
}

#[test]
fn what_is_not_understood_is_left_to_llvm() {
    for line in [
        "%x = frem float %a, %a",
        "call void @llvm.trap()",
        "%x = add i8 %b, %b",
        "switch i32 1, label %out []",
    ] {
        let text = format!(
            "define internal void @\"f\"(float %a, i8 %b) {{\nentry:\n  {line}\n  br label %out\nout:\n  ret void\n}}\n"
        );
        let mut made = Direct::default();
        assert!(made.add(&text, "", LaunchAbi::Cdp2V2).is_none(), "{line}");
        assert!(made.is_empty() && made.declarations.is_empty() && made.ir.is_empty(), "{line}");
    }
}

#[test]
fn who_goes_on_with_llvm_ir_gets_the_same() {
    let context = Context::create();
    let text = "target triple = \"nvptx64-nvidia-cuda\"
@__cdp_order = addrspace(3) global [12 x i32] poison
declare i32 @__cdp_site_0(i32, float)
define ptx_kernel void @child() { ret void }
define void @threads(float %a, i32 %b) { ret void }
define ptx_kernel void @parent(i32 %n) {
  %e = call i32 @__cdp_site_0(i32 %n, float 1.0)
  ret void
}
";
    let module = raw::parse_ir(&context, "test", text.as_bytes()).expect("IR");
    let (function, _) = with_passing(SITE, &PASSING).expect("a site");
    let runs = "define ptx_kernel void @\"runs\"(ptr %record) nounwind {
entry:
  %v0 = load volatile i32, ptr addrspace(3) @__cdp_order, align 4
  store ptr @\"child\", ptr %record, align 8
  ret void
}
";
    let made = direct(&[&function, runs]).expect("it is understood");
    made.link(&context, &module).expect("it links");
    module.verify().expect("good IR");
    let site = module.get_function("__cdp_site_0").expect("it is there");
    assert!(site.count_basic_blocks() > 0 && site.get_linkage() == Linkage::Internal);
}

#[test]
fn structs_are_passed_as_their_words() {
    let text = "define internal void @\"f\"(ptr %a0, ptr %stream) nounwind {
entry:
  %v0 = getelementptr i8, ptr %a0, i64 8
  %v1 = load i32, ptr %v0, align 4
  call void @\"threads\"(i32 %v1)
  ret void
}
";
    let passing = [Passing::Struct(12, 8), Passing::Value];
    let (function, taken) = with_passing(text, &passing).expect("a function");
    assert_eq!(taken, [Taken::Words(12, 8), Taken::Not]);
    let ptx = direct(&[&function]).expect("it is understood").ptx;
    let wanted = [
        "ld.param.b64 %rd1, [f_param_0];",
        "ld.param.b32 %r1, [f_param_1];",
        "st.local.b64 [__local_depot0], %rd1;",
        "st.local.b32 [__local_depot0+8], %r1;",
        "ld.local.b32 %r2, [__local_depot0+8];",
        "st.param.b32 [param0], %r2;",
        "call.uni threads, (param0);",
        "ret;",
    ];
    assert_eq!(instructions(&ptx), wanted);
}
