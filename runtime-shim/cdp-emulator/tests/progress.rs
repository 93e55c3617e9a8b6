//! Lanes of a warp in different functions at once, forward progress, the size of stacks, 128-bit
//! integers. The program is `ptx/progress.cu`, compiled by nvcc with and without optimisation.

mod common;

use cdp_emulator::{Config, ReportKind, StreamId, WarpScheduling};
use common::{Bench, config, load, load_with};

const OPTIMISED: &str = include_str!("ptx/progress.ptx");
const PLAIN: &str = include_str!("ptx/progress_o1.ptx");

/// Both builds, in the default order and in others.
fn benches() -> impl Iterator<Item = (Bench, String)> {
    let seeds = [None, Some(1), Some(2), Some(3)];
    [("-O3", OPTIMISED), ("-O1", PLAIN)].into_iter().flat_map(move |(level, text)| {
        seeds.map(|schedule_seed| {
            let bench = load_with(&[("progress.ptx", text)], Config { schedule_seed, ..config() });
            (bench.unwrap(), format!("{level}, schedule {schedule_seed:?}"))
        })
    })
}

fn sorted(text: &str) -> Vec<(u32, &str)> {
    let parts = text.lines().map(|line| line.split_once(": ").unwrap());
    let mut lines: Vec<_> = parts.map(|(lane, rest)| (lane.parse().unwrap(), rest)).collect();
    lines.sort_unstable();
    lines
}

fn series(x: f64, terms: i32) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    for i in 1..=terms {
        sum += term;
        term = term * x / f64::from(i);
    }
    sum
}

fn numbers(line: &str) -> (i64, f64) {
    let (n, d) = line.split_once(' ').unwrap();
    (n.parse().unwrap(), d.parse().unwrap())
}

#[test]
fn half_a_warp_spins_in_one_function_while_the_other_computes_in_another() {
    for (mut bench, what) in benches() {
        let terms = 20_000i32;
        let output = bench.run_with("_Z6halvesi", 1, 32, &terms.to_le_bytes()).unwrap();
        for (lane, line) in sorted(&output) {
            let (n, d) = numbers(line);
            let (spun, computed) = if lane & 16 != 0 {
                (i64::from(lane) * 1_000_003 + i64::from(lane) * 231 + 1, 0.0)
            } else {
                (0, series(f64::from(lane) * 0.125, terms))
            };
            assert_eq!((n, d), (spun, computed), "lane {lane}, {what}");
        }
        assert_eq!(output.lines().count(), 32, "{what}");
    }
}

fn tree(n: i32, seed: i64) -> i64 {
    if n < 2 {
        return seed + i64::from(n);
    }
    tree(n - 1, seed.wrapping_mul(3).wrapping_add(1))
        .wrapping_add(tree(n - 2, seed ^ 0x5555_5555_5555_5555))
}

#[test]
fn three_ways_with_recursion_and_pointers() {
    for (mut bench, what) in benches() {
        bench.device.set_limits(cdp_emulator::Limits {
            stack_bytes: 8192,
            ..cdp_emulator::Limits::default()
        });
        let n = 12i32;
        let output = bench.run_with("_Z10three_waysi", 1, 32, &n.to_le_bytes()).unwrap();
        for (lane, line) in sorted(&output) {
            let (t, d) = numbers(line);
            let wanted = match lane % 3 {
                0 => (tree(n, i64::from(lane)), 0.0),
                1 if lane & 1 == 0 => {
                    (0, (0..n).fold(f64::from(lane), |x, i| (x + f64::from(i)).sqrt()))
                }
                1 => (0, f64::from((0..n).fold(0f32, |y, i| (i as f32).mul_add(lane as f32, y)))),
                _ => (0, series(1.0 / f64::from(lane), n * 4)),
            };
            assert_eq!((t, d), wanted, "lane {lane}, {what}");
        }
        assert_eq!(output.lines().count(), 32, "{what}");
    }
}

#[test]
fn lock_holders_run_while_others_wait_for_two_things() {
    for threads in [1, 2, 3, 31, 64] {
        for (mut bench, what) in benches() {
            let locked = bench.run("_Z16lock_and_counterv", 1, threads).unwrap();
            assert_eq!(locked, format!("count {threads}\n"), "{what}");
        }
        let mut bench = load(OPTIMISED).unwrap();
        let latched = bench.run("_Z19semaphore_and_latchv", 1, threads).unwrap();
        assert_eq!(latched, format!("latched {threads}\n"));
    }
}

#[test]
fn in_lockstep_reading_often_is_no_deadlock() {
    for reads in [64, 100_000i32] {
        let lockstep = Config { warp_scheduling: WarpScheduling::Lockstep, ..config() };
        let mut bench = load_with(&[("progress.ptx", OPTIMISED)], lockstep).unwrap();
        let output = bench.run_with("_Z10many_readsi", 1, 32, &reads.to_le_bytes()).unwrap();
        let sum = (0..reads).fold(0i32, |sum, i| sum.wrapping_add(i)).wrapping_mul(16);
        assert_eq!(output, format!("sum {sum}\n"));
    }
    let lockstep = Config { warp_scheduling: WarpScheduling::Lockstep, ..config() };
    let mut bench = load_with(&[("progress.ptx", OPTIMISED)], lockstep).unwrap();
    let report = bench.run("_Z16lock_and_counterv", 1, 3).unwrap_err();
    assert_eq!(report.kind, ReportKind::Deadlock);
}

#[test]
fn without_recursion_the_stack_always_suffices() {
    fn deep(n: i32, x: i32) -> i32 {
        if n == 0 {
            return x;
        }
        let a = |i: i32| x.wrapping_mul(i & 63).wrapping_add(n);
        deep(n - 1, a(x)).wrapping_add(a(x.wrapping_add(n)))
    }
    for (mut bench, what) in benches() {
        let expected = format!("deep {}\n", deep(12, 1));
        assert_eq!(bench.run("_Z5stackv", 1, 1).unwrap(), expected, "{what}");
        // Recursion has what the limit says.
        let report = bench.run_with("_Z10three_waysi", 1, 1, &400i32.to_le_bytes()).unwrap_err();
        assert_eq!(report.kind, ReportKind::StackOverflow, "{what}");
    }
}

#[test]
fn integers_of_128_bits() {
    let mut state = 7u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u128::from(state >> 8)
    };
    let mut values = Vec::new();
    for i in 0..256 {
        let a = random() << 72 ^ random() << 30 ^ random();
        let b = random() << 72 ^ random() << 30 ^ random();
        let b = (b >> (i / 2 % 127)).max(1);
        values.push((if i % 3 == 0 { a >> (i % 100) } else { a }, b));
    }
    for text in [OPTIMISED, PLAIN] {
        let mut bench = load(text).unwrap();
        let input = bench.device.alloc(256 * 32).unwrap();
        let output = bench.device.alloc(256 * 128).unwrap();
        let bytes: Vec<u8> =
            values.iter().flat_map(|(a, b)| [*a, *b]).flat_map(u128::to_le_bytes).collect();
        bench.write(input, &bytes);
        let params: Vec<u8> = [input, output].iter().flat_map(|p| p.to_le_bytes()).collect();
        bench.run_with("_Z9quotientsPKoPo", 4, 64, &params).unwrap();
        let bytes = bench.read(output, 256 * 128);
        let results: Vec<u128> =
            bytes.chunks(16).map(|c| u128::from_le_bytes(c.try_into().unwrap())).collect();
        for (i, &(a, b)) in values.iter().enumerate() {
            let (sa, sb) = (a as i128, b as i128);
            let wanted = [
                a / b,
                a % b,
                sa.wrapping_div(sb) as u128,
                sa.wrapping_rem(sb) as u128,
                a.wrapping_sub(b),
                a.wrapping_mul(b).wrapping_add(a.wrapping_sub(b)),
                if a < b { b.wrapping_sub(a) } else { a.wrapping_neg() },
                a << (b & 127) ^ a >> (b & 63),
            ];
            assert_eq!(results[8 * i..8 * i + 8], wanted, "{a:#x}, {b:#x}");
        }
    }
    let _ = StreamId::NULL;
}
