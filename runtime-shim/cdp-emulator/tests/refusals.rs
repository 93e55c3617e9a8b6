//! What the device does not run: only the kernels that could come to it are refused, with the line.

mod common;

use cdp_emulator::{Error, ReportKind};
use common::{HEADER, load};

const KERNELS: &str = "
.func (.reg .b32 r) strange(.reg .b32 x) {
  nosuch.u32 r, x;
  ret;
}
.func (.reg .b32 r) plain(.reg .b32 x) {
  add.u32 r, x, 1;
  ret;
}
.global .u32 answer;
.global .u64 table[2] = {plain, strange};
.visible .entry fine() {
  .reg .b32 %r<3>;
  call (%r1), plain, (41);
  st.global.u32 [answer], %r1;
  ret;
}
.visible .entry direct() {
  .reg .b32 %r<3>; .reg .pred %p<2>;
  setp.eq.u32 %p1, 1, 2;
  @%p1 tcgen05.wait::ld.sync.aligned;
  ret;
}
.visible .entry through_a_call() {
  .reg .b32 %r<3>;
  call (%r1), strange, (41);
  ret;
}
.visible .entry pointer(.param .u32 which) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
  ld.param.u32 %r2, [which];
  mov.u64 %rd1, table;
  mad.wide.u32 %rd2, %r2, 8, %rd1;
  ld.global.u64 %rd3, [%rd2];
  call (%r1), %rd3, (9), proto;
  st.global.u32 [answer], %r1;
  ret;
}";

#[test]
fn only_kernels_that_could_come_to_it_are_refused() {
    let mut bench = load(&format!("{HEADER}{KERNELS}")).unwrap();
    for kernel in ["direct", "through_a_call"] {
        match bench.launch(kernel, 1, 1, &[]) {
            Err(Error::Unsupported { place, message }) => {
                assert_eq!(place.line, if kernel == "direct" { 24 } else { 6 });
                assert!(message.contains("nosuch") || message.contains("tcgen05"), "{message}");
            }
            other => panic!("{kernel}: {other:?}"),
        }
    }
    // Nothing was queued, and the device works on.
    bench.run("fine", 1, 1).unwrap();
    let answer = bench.device.variable(bench.module, "answer").unwrap().address;
    assert_eq!(bench.read_u32(answer, 1), [42]);
    bench.run_with("pointer", 1, 1, &0u32.to_le_bytes()).unwrap();
    assert_eq!(bench.read_u32(answer, 1), [10]);
    let report = bench.run_with("pointer", 1, 1, &1u32.to_le_bytes()).unwrap_err();
    assert_eq!(report.kind, ReportKind::InvalidInstruction);
    assert!(report.message.contains("nosuch"), "{}", report.message);
}

#[test]
fn a_module_of_which_nothing_runs_is_refused_when_it_is_loaded() {
    let only = format!("{HEADER}.visible .entry k() {{\n  nosuch.u32;\n  ret;\n}}");
    match load(&only) {
        Err(Error::Unsupported { place, .. }) => assert_eq!(place.line, 5),
        other => panic!("{:?}", other.err()),
    }
}

/// Conditions are the host's to make: what is none is reported where it is set.
#[test]
fn a_condition_that_nobody_made_is_reported() {
    let text = format!(
        "{HEADER}.global .u32 answer;
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry fine() {{
  st.global.u32 [answer], 1;
  ret;
}}
.visible .entry sets() {{
  .param .b64 p0; .param .b32 p1;
  st.param.b64 [p0], 0;
  st.param.b32 [p1], 1;
  call.uni cudaGraphSetConditional, (p0, p1);
  ret;
}}"
    );
    let mut bench = load(&text).unwrap();
    bench.run("fine", 1, 1).unwrap();
    let report = bench.run("sets", 1, 1).unwrap_err();
    assert!(report.to_string().contains("0x0, which is no conditional handle"), "{report}");
}
