//! Barriers that are objects in shared memory, by the PTX manual's definition of their phases.

mod common;

use cdp_emulator::{ReportKind, StreamId};
use common::{Bench, HEADER, load};

/// Runs a kernel of one block on `words` words of zeros, which it is given.
fn run(bench: &mut Bench, block: u32, words: usize) -> Vec<u32> {
    let data = bench.device.alloc(words as u64 * 4).unwrap();
    bench.run_with("k", 1, block, &data.to_le_bytes()).unwrap();
    let mut bytes = vec![0; words * 4];
    let _ = bench.device.copy_from_device(&mut bytes, data, StreamId::NULL).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn warps_wait_for_each_other_in_every_phase() {
    let text = format!(
        "{HEADER}.shared .align 8 .b64 bar;
.shared .align 4 .u32 seen[96];
.visible .entry k(.param .u64 data)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, bar;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r2], 96;
READY:
    bar.sync 0;
    mov.u32 %r3, 0;
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, seen;
    add.u32 %r6, %r5, %r4;
    add.u32 %r7, %r1, 32;
    rem.u32 %r7, %r7, 96;
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r5, %r7;
    st.shared.u32 [%r6], %r1;
ROUND:
    mbarrier.arrive.release.cta.shared.b64 %rd1, [%r2];
WAIT:
    mbarrier.try_wait.shared.b64 %p2, [%r2], %rd1, 100;
    @!%p2 bra WAIT;
    ld.shared.u32 %r8, [%r7];
    mbarrier.arrive.shared.b64 _, [%r2];
WAITODD:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 1;
    @!%p2 bra WAITODD;
    st.shared.u32 [%r6], %r8;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, 2;
    @%p3 bra ROUND;
    ld.param.u64 %rd2, [data];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r8;
    ret;
}}"
    );
    let found = run(&mut load(&text).unwrap(), 96, 96);
    // Each round takes the value of the next warp.
    let expected: Vec<u32> = (0..96).map(|thread| (thread + 64) % 96).collect();
    assert_eq!(found, expected);
}

#[test]
fn counts_drops_and_parities() {
    let text = format!(
        "{HEADER}.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 data)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, bar;
    cvt.u64.u32 %rd6, %r1;
    cvta.shared.u64 %rd2, %rd6;
    mbarrier.init.b64 [%rd2], 3;
    mbarrier.test_wait.parity.b64 %p1, [%rd2], 1;
    selp.u32 %r2, 1, 0, %p1;
    st.global.u32 [%rd1], %r2;
    mbarrier.arrive.noComplete.shared.b64 %rd3, [%r1], 2;
    mbarrier.pending_count.b64 %r3, %rd3;
    st.global.u32 [%rd1+4], %r3;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3;
    selp.u32 %r2, 1, 0, %p1;
    st.global.u32 [%rd1+8], %r2;
    mbarrier.arrive_drop.shared.b64 %rd4, [%r1];
    mbarrier.pending_count.b64 %r3, %rd4;
    st.global.u32 [%rd1+12], %r3;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3;
    selp.u32 %r2, 1, 0, %p1;
    st.global.u32 [%rd1+16], %r2;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
    cp.async.mbarrier.arrive.shared.b64 [%r1];
    mbarrier.arrive.shared.b64 %rd5, [%r1], 1;
    mbarrier.pending_count.b64 %r3, %rd5;
    st.global.u32 [%rd1+20], %r3;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;
    selp.u32 %r2, 1, 0, %p1;
    st.global.u32 [%rd1+24], %r2;
    mbarrier.inval.shared.b64 [%r1];
    ret;
}}"
    );
    // The phase before the first counts as ended; two of three arrivals leave one; the drop ends the
    // phase, and the next expects two.
    assert_eq!(run(&mut load(&text).unwrap(), 1, 7), [1, 3, 0, 1, 1, 1, 1]);
}

#[test]
fn lanes_that_arrive_together_get_one_state() {
    let text = format!(
        "{HEADER}.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 data)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, bar;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared.b64 [%r2], 48;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [%r2];
    mbarrier.pending_count.b64 %r3, %rd1;
    ld.param.u64 %rd2, [data];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r3;
    ret;
}}"
    );
    assert_eq!(run(&mut load(&text).unwrap(), 32, 32), [48; 32]);
}

#[test]
fn misuse_is_reported() {
    let body = |code: &str| {
        format!(
            "{HEADER}.shared .align 8 .b64 bar[2];
.visible .entry k()
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, bar;
    {code}
    ret;
}}"
        )
    };
    for (code, part) in [
        ("mbarrier.arrive.shared.b64 _, [%r1];", "no barrier object"),
        ("mbarrier.init.shared.b64 [%r1], 0;", "for 0 arrivals"),
        (
            "mbarrier.init.shared.b64 [%r1], 2; mbarrier.arrive.shared.b64 _, [%r1], 3;",
            "3 arrivals at a barrier object whose phase awaits 2",
        ),
        (
            "mbarrier.init.shared.b64 [%r1], 2; mbarrier.inval.shared.b64 [%r1]; \
             mbarrier.inval.shared.b64 [%r1];",
            "no barrier object",
        ),
    ] {
        let report = load(&body(code)).unwrap().run("k", 1, 1).unwrap_err();
        assert_eq!(report.kind, ReportKind::InvalidInstruction, "{code}");
        assert!(report.message.contains(part), "{}", report.message);
    }
    let code = "mbarrier.init.shared.b64 [%r1+4], 2;";
    let report = load(&body(code)).unwrap().run("k", 1, 1).unwrap_err();
    assert_eq!(report.kind, ReportKind::Misaligned);
}
