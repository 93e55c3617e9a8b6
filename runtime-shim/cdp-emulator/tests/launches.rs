//! Launches from device code: order, errors, streams, parameters, limits, depth. The programs are
//! `ptx/launch.cu` and `ptx/sync.cu`, compiled by nvcc.

mod common;

use cdp_emulator::{Config, Limits, StreamId, chrome_json};
use common::{HEADER, config, load, load_with};

const LAUNCH: &str = include_str!("ptx/launch.ptx");
const SYNC: &str = include_str!("ptx/sync.ptx");
const HELLO: &str = include_str!("ptx/hello.ptx");

fn run(kernel: &str) -> String {
    load(LAUNCH).unwrap().run(kernel, 1, 1).unwrap()
}

#[test]
fn hello_world_of_the_guide() {
    assert_eq!(load(HELLO).unwrap().run("_Z12parentKernelv", 1, 1).unwrap(), "Hello World!\n");
}

#[test]
fn the_null_stream_keeps_order() {
    assert_eq!(run("_Z5orderv"), "child 0\nchild 1\nchild 2\nchild 3\nchild 4\n");
}

#[test]
fn tail_launches_run_after_everything_else() {
    assert_eq!(run("_Z5tailsv"), "child 1\nchild 2\nchild 10\nchild 11\n");
}

#[test]
fn structs_arrive_whole() {
    assert_eq!(run("_Z12pass_structsv"), "x 2.5 -7 1 4\n");
}

#[test]
fn errors_are_those_of_the_device_runtime() {
    let expected = "threads 9\ncleared 0\ngrid 9\npeek 9\n\
        zero 9 cudaErrorInvalidConfiguration invalid configuration argument\n\
        shared 9\nstream 1\nevent 1\n";
    assert_eq!(run("_Z6errorsv"), expected);
}

#[test]
fn the_pool_of_pending_launches_has_2048_slots() {
    assert_eq!(run("_Z7pendingv"), "bad 2100\npending 52\n");
    let limits = Limits { pending_launches: 100, ..Limits::default() };
    let mut bench = load_with(&[("launch.ptx", LAUNCH)], Config { limits, ..config() }).unwrap();
    assert_eq!(bench.run("_Z7pendingv", 1, 1).unwrap(), "bad 2100\npending 2000\n");
}

#[test]
fn events_order_streams() {
    let mut bench = load(LAUNCH).unwrap();
    assert_eq!(bench.run("_Z7streamsv", 1, 1).unwrap(), "rc 0\n");
    assert_eq!(bench.run("_Z9show_cellv", 1, 1).unwrap(), "cell 123\n");
}

#[test]
fn copies_and_sets_take_their_turn_in_the_stream() {
    assert_eq!(run("_Z6copiesv"), "sum 6048\nsum 269493832\nsum 202121706\nrc 0 0 0 1 3\n");
}

#[test]
fn queries() {
    assert_eq!(run("_Z5infosv"), "warp 32\nheap 8388608\ncount 1\nmax 1024\noccupancy 8\n");
}

#[test]
fn a_tree_of_a_quarter_of_a_million_grids() {
    let limits = Limits { pending_launches: 2048, ..Limits::default() };
    let mut bench = load_with(&[("launch.ptx", LAUNCH)], Config { limits, ..config() }).unwrap();
    bench.run_with("_Z10count_treei", 1, 1, &17u32.to_le_bytes()).unwrap();
    assert_eq!(bench.run("_Z12show_counterv", 1, 1).unwrap(), format!("count {}\n", (1 << 18) - 1));
    let profile = bench.device.profile();
    let tree = profile.iter().find(|k| k.kernel.starts_with("_Z4tree")).unwrap();
    assert_eq!(tree.launches, (1 << 18) - 1);
    // The first is launched by another kernel.
    assert_eq!(tree.child_launches, (1 << 18) - 2);
    // Finished grids leave nothing behind.
    assert!(
        bench.device.memory_info().total_bytes - bench.device.memory_info().free_bytes < 1 << 16
    );
}

#[test]
fn device_synchronize_waits_for_the_children_of_the_block() {
    let mut bench = load(SYNC).unwrap();
    assert_eq!(bench.run("_Z13parent_launchv", 1, 256).unwrap(), "1 101 201 \n");
}

#[test]
fn synchronisation_depth() {
    let mut bench = load(SYNC).unwrap();
    let expected =
        "enter 1\nenter 2\nleave 2: 68\nenter 3\nleave 3: 68\nenter 4\nleave 4: 68\nleave 1: 0\n";
    assert_eq!(bench.run("_Z12start_nestedv", 1, 1).unwrap(), expected);
    let limits = Limits { sync_depth: 8, ..Limits::default() };
    let mut bench = load_with(&[("sync.ptx", SYNC)], Config { limits, ..config() }).unwrap();
    let expected =
        "enter 1\nenter 2\nenter 3\nenter 4\nleave 4: 0\nleave 3: 0\nleave 2: 0\nleave 1: 0\n";
    assert_eq!(bench.run("_Z12start_nestedv", 1, 1).unwrap(), expected);
    assert_eq!(bench.run("_Z6deeperi", 1, 1).unwrap(), "depth 23: 65\n");
}

#[test]
fn the_trace_is_the_launch_tree() {
    let mut bench =
        load_with(&[("launch.ptx", LAUNCH)], Config { trace: true, ..config() }).unwrap();
    bench.run("_Z5tailsv", 1, 1).unwrap();
    let trace = bench.device.trace();
    let parents: Vec<u64> = trace.iter().map(|grid| grid.parent).collect();
    assert_eq!(parents, [0, 1, 1, 1, 1]);
    assert!(
        trace[1..].iter().all(|grid| grid.start_clock >= grid.launched_clock && grid.depth == 1)
    );
    assert!(trace[0].end_clock >= trace.iter().map(|grid| grid.end_clock).max().unwrap());
    assert_eq!(chrome_json(trace, bench.device.trace_events()).matches("\"ph\":\"X\"").count(), 5);
}

#[test]
fn seeds_give_other_legal_orders_and_each_the_same_every_time() {
    let output = |seed| {
        let config = Config { schedule_seed: seed, ..config() };
        load_with(&[("launch.ptx", LAUNCH)], config).unwrap().run("_Z5tailsv", 1, 1).unwrap()
    };
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let text = output(Some(seed));
        assert_eq!(text, output(Some(seed)));
        assert!(text.ends_with("child 10\nchild 11\n"), "{text}");
        seen.insert(text);
    }
    assert_eq!(seen.len(), 2, "the fire-and-forget child may come before or after the other");
}

/// The model of `sched::time`: monotonic, and every launch takes some time.
#[test]
fn events_tell_a_plausible_time() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u32 rounds) {{
    .reg .pred %p; .reg .b32 %r<3>;
    ld.param.u32 %r1, [rounds];
LOOP:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    ret;
}}"
    );
    let mut bench = load(&text).unwrap();
    let mut time = |launches: u32, blocks: u32, rounds: u32| {
        let events = [(); 2].map(|()| bench.device.create_event());
        bench.device.record_event(events[0], StreamId::NULL).unwrap();
        for _ in 0..launches {
            bench.launch("k", blocks, 32, &rounds.to_le_bytes()).unwrap();
        }
        bench.device.record_event(events[1], StreamId::NULL).unwrap();
        bench.finish().unwrap();
        bench.device.elapsed_ms(events[0], events[1]).unwrap()
    };
    assert_eq!(time(0, 0, 0), 0.0);
    let one = time(1, 1, 1);
    assert!((0.001..0.01).contains(&one), "{one}");
    let many = time(512, 1, 1);
    assert!((many - 512.0 * one).abs() < 1e-9, "{many}");
    // Three instructions a round, and a cycle each.
    let long = time(1, 1, 100_000);
    assert!((0.3..0.31).contains(&long), "{long}");
    // More blocks than the device can run at once take longer.
    let wide = time(1, 132 * 8, 10_000);
    assert!((0.06..0.063).contains(&wide), "{wide}");
}
