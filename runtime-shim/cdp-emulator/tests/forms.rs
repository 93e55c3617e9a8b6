//! Single instructions by hand: what each leaves in a register, as measured on an H200 or as the PTX
//! ISA says. One kernel a row.

mod common;

use common::{HEADER, load};

/// Runs `body`, which leaves its result in `%r1`, in one thread.
fn result(body: &str) -> u32 {
    let text = format!(
        "{HEADER}
.global .u32 answer;
.shared .align 8 .b8 tile[64];
.const .u32 fixed[2] = {{5, 6}};
.func (.reg .b32 r) minus(.reg .v2 .b32 v, .reg .b32 twice) {{
  .reg .b32 %r<3>;
  sub.u32 %r1, v.x, v.y;
  mul.lo.u32 r, %r1, twice;
  ret;
}}
.visible .entry k() {{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .pred %p<5>; .reg .f32 %f<5>; .reg .f64 %d<5>;
  .local .align 8 .b8 spot[32];
  {body}
  st.global.u32 [answer], %r1;
  ret;
}}"
    );
    let mut bench = load(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
    bench.run("k", 1, 1).unwrap_or_else(|report| panic!("{body}: {report}"));
    let answer = bench.device.variable(bench.module, "answer").unwrap();
    bench.read_u32(answer.address, 1)[0]
}

fn check(rows: &[(&str, u32)]) {
    for (body, expected) in rows {
        let found = result(body);
        assert_eq!(found, *expected, "{found:#x} instead of {expected:#x} by {body}");
    }
}

#[test]
fn carries() {
    let zero = "mov.u32 %r0, 0; ";
    let with = |first: &str, then: &str| format!("{zero}{first} {then}");
    let carry = "addc.u32 %r1, %r0, 0;";
    let rows = [
        (with("sub.cc.u32 %r2, 5, 7;", carry), 0),
        (with("sub.cc.u32 %r2, 7, 5;", carry), 1),
        (with("sub.cc.u32 %r2, 7, 7;", carry), 1),
        (with("add.cc.u32 %r2, 0xffffffff, 1;", "subc.u32 %r1, 10, 3;"), 7),
        (with("add.cc.u32 %r2, 0xfffffffe, 1;", "subc.u32 %r1, 10, 3;"), 6),
        (with("sub.cc.u64 %rd1, 5, 7;", carry), 0),
        (with("sub.cc.u64 %rd1, 7, 5;", carry), 1),
        (with("sub.cc.u32 %r2, 0, 1;", "subc.cc.u32 %r3, 0, 0; addc.u32 %r1, %r0, 0;"), 0),
        (with("sub.cc.u32 %r2, 1, 1;", "subc.cc.u32 %r3, 0, 0; addc.u32 %r1, %r0, 0;"), 1),
        (with("sub.cc.u32 %r2, 0, 1;", "subc.u64 %rd1, 9, 4; cvt.u32.u64 %r1, %rd1;"), 4),
        (
            with(
                "mad.lo.cc.u32 %r2, 0x10000, 0xffff, 0x10000;",
                "madc.hi.u32 %r1, 0x10000, 0x20000, 5;",
            ),
            8,
        ),
        (with("mad.hi.cc.u32 %r2, 0xffffffff, 0xffffffff, 2;", "subc.u32 %r1, 3, 1;"), 2),
        // What does not end in .cc leaves the carry alone.
        (
            with(
                "sub.cc.u32 %r2, 7, 5; add.u32 %r2, %r2, 0xffffffff; addc.u32 %r3, %r0, 0;",
                carry,
            ),
            1,
        ),
    ];
    let rows: Vec<_> = rows.iter().map(|(body, value)| (body.as_str(), *value)).collect();
    check(&rows);
}

#[test]
fn narrow_results_in_wide_registers() {
    check(&[
        ("mov.u32 %r2, 0xc2; cvt.s16.s8 %r1, %r2;", 0xffff_ffc2),
        ("mov.u32 %r2, 0xc2; cvt.u16.u8 %r1, %r2;", 0xc2),
        ("mov.u32 %r2, 0x18000; cvt.s16.s32 %r1, %r2;", 0xffff_8000),
        ("mov.u32 %r2, 0x18000; cvt.u16.s32 %r1, %r2;", 0x8000),
        ("mov.u32 %r2, 0x1f0; cvt.s8.s32 %r1, %r2;", 0xffff_fff0),
        ("mov.u32 %r2, 0x1f0; cvt.u8.s32 %r1, %r2;", 0xf0),
        ("mov.f32 %f1, 0fC0600000; cvt.rzi.s16.f32 %r1, %f1;", 0xffff_fffd),
        ("mov.f64 %d1, 0dC00C000000000000; cvt.rzi.s16.f64 %r1, %d1;", 0xffff_fffd),
        ("mov.f32 %f1, 0fC7C35000; cvt.rzi.s16.f32 %r1, %f1;", 0xffff_8000),
        ("mov.u64 %rd1, 0x1ffff; cvt.s16.s64 %r1, %rd1;", 0xffff_ffff),
        ("mov.u32 %r2, 70000; cvt.sat.s16.s32 %r1, %r2;", 0x7fff),
        ("mov.u32 %r2, -70000; cvt.sat.s16.s32 %r1, %r2;", 0xffff_8000),
        // A 16-bit register holds 16 bits, whatever follows.
        ("mov.u32 %r2, 0xc2; cvt.s16.s8 %h1, %r2; cvt.u32.u16 %r1, %h1;", 0xffc2),
        ("mov.u32 %r2, 0xc2; cvt.s16.s8 %h1, %r2; mov.b32 %r1, {%h1, %h1};", 0xffc2_ffc2),
    ]);
}

#[test]
fn vectors_of_registers() {
    check(&[
        (
            "mov.u32 %r2, 1; mov.u32 %r3, 2; mov.v2.u32 {%r2, %r3}, {%r3, %r2}; mad.lo.u32 %r1, %r2, 16, %r3;",
            0x21,
        ),
        (
            ".reg .v2 .b32 v; mov.u64 %rd1, 0x500000003; mov.b64 v, %rd1; mad.lo.u32 %r1, v.y, 16, v.x;",
            0x53,
        ),
        (
            ".reg .v4 .f32 x, y; mov.f32 x.x, 0f3F800000; mov.f32 x.y, 0f40000000; mov.f32 x.z, 0f40400000; mov.f32 x.w, 0f40800000; mov.v4.f32 y, x; mov.b32 %r1, y.w;",
            0x4080_0000,
        ),
        ("mov.v4.u32 {%r2, %r3, %r4, %r5}, %ntid; mad.lo.u32 %r1, %r2, 10, %r3;", 11),
        (
            ".reg .v2 .b32 v; mov.u32 v.x, 7; mov.u32 v.y, 9; call (%r1), minus, (v, 2);",
            0xffff_fffc,
        ),
        ("mov.u64 %rd1, spot+8; st.local.u32 [spot+8], 81; ld.local.u32 %r1, [%rd1];", 81),
        (
            "mov.u64 %rd1, spot+4; cvta.local.u64 %rd1, %rd1; st.u32 [%rd1+4], 82; ld.local.u32 %r1, [spot+8];",
            82,
        ),
    ]);
}

#[test]
fn the_systems_part_of_shared_memory() {
    check(&[
        ("mov.u32 %r2, %reserved_smem_offset_1; ld.shared.u32 %r1, [%r2];", 0),
        (
            "mov.u32 %r2, %reserved_smem_offset_1; st.shared.u32 [%r2+280], 5; ld.shared.u32 %r1, [%r2+280];",
            5,
        ),
        (
            "mov.u32 %r2, %reserved_smem_offset_begin; mov.u32 %r3, %reserved_smem_offset_end; sub.u32 %r1, %r3, %r2; st.shared.u32 [tile], 9;",
            1024,
        ),
    ]);
}

#[test]
fn variables_by_name_without_a_space() {
    check(&[
        ("st.u32 [tile+4], 77; ld.shared.u32 %r1, [tile+4];", 77),
        ("st.shared.u32 [tile+8], 78; ld.u32 %r1, [tile+8];", 78),
        ("st.shared.u32 [tile], 5; atom.add.u32 %r2, [tile], 7; ld.shared.u32 %r1, [tile];", 12),
        ("st.shared.u32 [tile], 5; red.or.b32 [tile], 8; ld.volatile.u32 %r1, [tile];", 13),
        ("st.shared.u64 [tile+16], 99; ld.v2.u32 {%r1, %r2}, [tile+16];", 99),
        ("st.u32 [spot+4], 79; ld.local.u32 %r1, [spot+4];", 79),
        ("ld.u32 %r1, [fixed+4];", 6),
        ("st.u32 [answer], 3; ld.u32 %r1, [answer];", 3),
        ("cvta.shared.u64 %rd1, tile; st.u32 [%rd1+12], 80; ld.u32 %r1, [tile+12];", 80),
    ]);
}
