//! Groups of threads beyond a block's barrier: cooperative grids, tiles wider than a warp, bulk copies
//! that tell a barrier. The program is `ptx/groups.cu`, compiled by nvcc.

mod common;

use cdp_emulator::{Config, Launch, ReportKind, StreamId};
use common::{Bench, config, load_with};

const GROUPS: &str = include_str!("ptx/groups.ptx");

fn benches() -> impl Iterator<Item = Bench> {
    [None, Some(1), Some(2)].into_iter().map(|schedule_seed| {
        load_with(&[("groups.ptx", GROUPS)], Config { schedule_seed, ..config() }).unwrap()
    })
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn blocks_of_a_cooperative_grid_meet() {
    // More blocks than are in execution at once by default, too.
    for (blocks, threads) in [(1, 32), (7, 96), (512, 32)] {
        for mut bench in benches() {
            let sum = bench.device.alloc(4).unwrap();
            bench.write(sum, &[0; 4]);
            let kernel = bench.device.kernel(bench.module, "meet").unwrap();
            let params = [sum.to_le_bytes().as_slice(), &3u32.to_le_bytes()].concat();
            let launch = Launch {
                kernel,
                grid: [blocks, 1, 1],
                block: [threads, 1, 1],
                shared_bytes: 0,
                stream: StreamId::NULL,
                params: &params,
                cooperative: true,
                programmatic: false,
                cluster: None,
            };
            // Two grids in a row: the second finds its barrier as the first did.
            for _ in 0..2 {
                bench.device.launch(&launch).unwrap();
            }
            bench.finish().unwrap();
            let size = blocks * threads;
            let once = (0..size).sum::<u32>() + 3 * size;
            assert_eq!(bench.read_u32(sum, 1), [once * 2]);
        }
    }
}

#[test]
fn without_a_cooperative_launch_the_grid_cannot_meet() {
    let mut bench = load_with(&[("groups.ptx", GROUPS)], config()).unwrap();
    let sum = bench.device.alloc(4).unwrap();
    let params = [sum.to_le_bytes().as_slice(), &3u32.to_le_bytes()].concat();
    let report = bench.run_with("meet", 4, 32, &params).unwrap_err();
    assert_eq!(report.kind, ReportKind::Trap);
}

#[test]
fn tiles_wider_than_a_warp() {
    for mut bench in benches() {
        let out = bench.device.alloc(1024).unwrap();
        bench.run_with("tiles", 1, 256, &out.to_le_bytes()).unwrap();
        let expected: Vec<u32> = (0..256)
            .map(|thread: u32| {
                let tile = thread / 64;
                (tile * 64..tile * 64 + 64).sum::<u32>() * 100 + tile
            })
            .collect();
        assert_eq!(bench.read_u32(out, 256), expected);
    }
}

#[test]
fn copies_that_tell_a_barrier() {
    for mut bench in benches() {
        let blocks = 5u32;
        let input: Vec<u32> = (0..256 * blocks).map(|i| i * 7 + 1).collect();
        let (source, out) = (bench.device.alloc(5120).unwrap(), bench.device.alloc(5120).unwrap());
        let sums = bench.device.alloc(1024).unwrap();
        bench.write(source, &words(&input));
        bench.write(sums, &words(&[10; 256]));
        let mut params =
            [source, out, sums].iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>();
        params.extend(blocks.to_le_bytes());
        bench.run_with("stream", 1, 64, &params).unwrap();
        let value = |at: usize| input[at] * 3 + at as u32 / 256;
        let expected: Vec<u32> = (0..input.len()).map(value).collect();
        assert_eq!(bench.read_u32(out, input.len()), expected);
        let total: Vec<u32> =
            (0..256).map(|j| 10 + (0..5).map(|i| value(i * 256 + j)).sum::<u32>()).collect();
        assert_eq!(bench.read_u32(sums, 256), total);
        // Past the end of what was copied from.
        params.truncate(24);
        params.extend(6u32.to_le_bytes());
        let report = bench.run_with("stream", 1, 64, &params).unwrap_err();
        assert_eq!(report.kind, ReportKind::OutOfBounds);
    }
}
