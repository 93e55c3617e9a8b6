//! Warps and blocks: divergence, exchanges, barriers, calls, heap, printf. The program is
//! `ptx/warp.cu`, compiled by nvcc.

mod common;

use cdp_emulator::{Config, ReportKind, WarpScheduling};
use common::{Bench, config, load, load_with};

const WARP: &str = include_str!("ptx/warp.ptx");

fn bench() -> Bench {
    load(WARP).unwrap()
}

#[test]
fn exchanges() {
    let expected = "9 16 100 9 49249249 1 3e0 496 ffffffff e00000000\n";
    assert_eq!(bench().run("_Z8shufflesPi", 1, 32).unwrap(), expected);
}

#[test]
fn a_lock_between_lanes_of_a_warp() {
    let mut bench = bench();
    bench.run("_Z9spin_lockv", 4, 64).unwrap();
    assert_eq!(bench.run("_Z10show_totalv", 1, 1).unwrap(), "total 256\n");
}

#[test]
fn lanes_that_wait_for_each_other() {
    assert_eq!(bench().run("_Z12two_branchesv", 1, 2).unwrap(), "seen\n");
}

#[test]
fn in_lockstep_the_lock_is_a_deadlock() {
    let lockstep = Config { warp_scheduling: WarpScheduling::Lockstep, ..config() };
    let mut bench = load_with(&[("warp.ptx", WARP)], lockstep).unwrap();
    let report = bench.run("_Z9spin_lockv", 1, 32).unwrap_err();
    assert_eq!(report.kind, ReportKind::Deadlock);
    assert!(report.waiters.len() >= 2, "{report}");
    // One thread alone is no problem.
    let lockstep = Config { warp_scheduling: WarpScheduling::Lockstep, ..config() };
    let mut bench = load_with(&[("warp.ptx", WARP)], lockstep).unwrap();
    bench.run("_Z9spin_lockv", 4, 1).unwrap();
    assert_eq!(bench.run("_Z10show_totalv", 1, 1).unwrap(), "total 4\n");
}

#[test]
fn lanes_that_stay_apart() {
    let apart = Config { warp_scheduling: WarpScheduling::Apart, ..config() };
    let mut bench = load_with(&[("warp.ptx", WARP)], apart).unwrap();
    bench.run("_Z9spin_lockv", 4, 64).unwrap();
    assert_eq!(bench.run("_Z10show_totalv", 1, 1).unwrap(), "total 256\n");
    assert_eq!(bench.run("_Z12two_branchesv", 1, 2).unwrap(), "seen\n");
    assert_eq!(bench.run("_Z5votesv", 1, 128).unwrap(), "32 0 1\n");
    assert_eq!(bench.run("_Z6reducev", 2, 256).unwrap(), "block 0 sum 32640\nblock 1 sum 32896\n");
}

/// After a branch that lanes take differently, those that are there are those of one side, or all.
#[test]
fn who_meets_behind_a_branch() {
    const CODE: &str = "\
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 said[4] = {37, 120, 32, 0};
.visible .entry meets()
{
 .local .align 8 .b8 room[8];
 .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<4>;
 mov.u32 %r1, %tid.x;
 setp.lt.u32 %p, %r1, 3;
 @%p bra SECOND;
 add.u32 %r2, %r1, 1;
SECOND:
 activemask.b32 %r3;
 setp.eq.u32 %p, %r1, 0;
 @!%p bra DONE;
 mov.u64 %d1, room;
 cvta.local.u64 %d2, %d1;
 st.local.u32 [%d1], %r3;
 mov.u64 %d3, said;
 cvta.global.u64 %d3, %d3;
 {
  .param .b64 f; st.param.b64 [f], %d3;
  .param .b64 v; st.param.b64 [v], %d2;
  .param .b32 r;
  call.uni (r), vprintf, (f, v);
 }
DONE:
 ret;
}
";
    let meets = |warp_scheduling| {
        let config = Config { warp_scheduling, ..config() };
        load_with(&[("meets.ptx", CODE)], config).unwrap().run("meets", 1, 32).unwrap()
    };
    assert_eq!(meets(WarpScheduling::Independent), "ffffffff ");
    assert_eq!(meets(WarpScheduling::Lockstep), "ffffffff ");
    assert_eq!(meets(WarpScheduling::Apart), "7 ");
}

#[test]
fn reductions_in_shared_memory() {
    assert_eq!(
        bench().run("_Z6reducev", 2, 256).unwrap(),
        "block 0 sum 32640\nblock 1 sum 32896\n"
    );
}

#[test]
fn barriers_with_votes() {
    assert_eq!(bench().run("_Z5votesv", 1, 128).unwrap(), "32 0 1\n");
}

#[test]
fn recursion_of_diverged_lanes() {
    let output = bench().run("_Z9recursionv", 1, 16).unwrap();
    let fib = |n: u32| (0..n).fold((0u64, 1u64), |(a, b), _| (b, a + b)).0;
    let expected: String = (0..16).map(|t| format!("fib {}\n", fib(5 + t) as i32)).collect();
    let mut lines: Vec<&str> = output.lines().collect();
    let mut wanted: Vec<&str> = expected.lines().collect();
    lines.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
}

#[test]
fn function_pointers_that_differ_by_lane() {
    assert_eq!(bench().run("_Z8pointersv", 1, 4).unwrap().lines().count(), 4);
    let mut numbers: Vec<u32> =
        bench().run("_Z8pointersv", 1, 4).unwrap().lines().map(|l| l.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [6, 10, 16, 36]);
}

#[test]
fn exchanges_among_parts_of_a_warp() {
    assert_eq!(bench().run("_Z7partialv", 1, 32).unwrap(), "0:28 8:31 16:31 24:31 \n");
}

#[test]
fn threads_that_returned_do_not_count_at_barriers() {
    assert_eq!(bench().run("_Z5earlyi", 1, 64).unwrap(), "early ok\n");
}

#[test]
fn local_arrays() {
    assert_eq!(bench().run("_Z11local_arrayi", 1, 32).unwrap(), "local 7776\n");
}

#[test]
fn device_heap() {
    assert_eq!(bench().run("_Z4heapv", 1, 1).unwrap(), "heap 250959 1\n");
}

#[test]
fn formatted_output() {
    let expected = "   42|42   |00042|ff|FF|10|z|str|%|(nil)\n\
        1.500000 1.234568e+04 0.0001 2.718       3.14 -5000000000 18446744073709551615 4000000000\n\
        a1b2\n2\n";
    assert_eq!(bench().run("_Z7formatsv", 1, 1).unwrap(), expected);
}

#[test]
fn switches() {
    let value = |t: u32| [5, 17, 31, 2, 99, 44, -1][t as usize % 7];
    let sum: i32 = (0..32).map(value).sum();
    assert_eq!(bench().run("_Z8switchesv", 1, 32).unwrap(), format!("switch {sum}\n"));
}

#[test]
fn every_number_of_host_threads_gives_the_same_output() {
    let run = |host_threads| {
        let mut bench =
            load_with(&[("warp.ptx", WARP)], Config { host_threads, ..config() }).unwrap();
        let output = bench.run("_Z6reducev", 600, 256).unwrap();
        (output, bench.device.profile())
    };
    let one = run(1);
    assert_eq!(one.0.lines().count(), 600);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn other_schedules_give_the_same_results() {
    for seed in 0..10 {
        let seeded = Config { schedule_seed: Some(seed), ..config() };
        let mut bench = load_with(&[("warp.ptx", WARP)], seeded).unwrap();
        bench.run("_Z9spin_lockv", 3, 64).unwrap();
        assert_eq!(bench.run("_Z10show_totalv", 1, 1).unwrap(), "total 192\n");
        assert_eq!(bench.run("_Z5votesv", 1, 128).unwrap(), "32 0 1\n");
        assert_eq!(bench.run("_Z7partialv", 1, 32).unwrap().split_whitespace().count(), 4);
    }
}

#[test]
fn the_printf_buffer_keeps_the_newest() {
    let mut config = config();
    config.limits.printf_fifo_bytes = 400;
    let mut bench = load_with(&[("warp.ptx", WARP)], config).unwrap();
    let output = bench.run("_Z6reducev", 100, 256).unwrap();
    assert_eq!(output.lines().last(), Some("block 99 sum 57984"));
    assert_eq!(output.lines().count() as u64 + bench.device.lost_output(), 100);
    assert!(bench.device.lost_output() > 80);
}
