//! The number of host threads cannot be seen: output, launch tree, counters, errors and reports of programs
//! whose grids run on several. The programs are `ptx/share.cu`, compiled by nvcc.

mod common;

use std::sync::{Mutex, PoisonError};

use cdp_emulator::{Config, KernelProfile, Limits, StreamId, TraceGrid};
use common::{config, load_with};

const SHARE: &str = include_str!("ptx/share.ptx");

/// All that can be seen of a run.
#[derive(PartialEq)]
struct Seen {
    output: String,
    report: Option<String>,
    trace: Vec<TraceGrid>,
    profile: Vec<KernelProfile>,
    cells: Vec<u8>,
    /// Time of the device that it took, in milliseconds.
    took: Option<f64>,
}

/// Devices of one process have different addresses, which reports name.
static ONE_DEVICE: Mutex<()> = Mutex::new(());

fn see(threads: usize, kernel: &str, grid: u32, params: &[i32], limits: Limits) -> Seen {
    let _alone = ONE_DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let config = Config { host_threads: threads, trace: true, limits, ..config() };
    let mut bench = load_with(&[("share.ptx", SHARE)], config).unwrap();
    let params: Vec<u8> = params.iter().flat_map(|n| n.to_le_bytes()).collect();
    let (begin, end) = (bench.device.create_event(), bench.device.create_event());
    bench.device.record_event(begin, StreamId::NULL).unwrap();
    let result = bench.run_with(kernel, grid, 32, &params);
    if result.is_ok() {
        bench.device.record_event(end, StreamId::NULL).unwrap();
        let _ = bench.device.synchronize().unwrap();
    }
    let took = bench.device.elapsed_ms(begin, end).ok();
    let cells = bench.device.variable(bench.module, "cells").unwrap();
    Seen {
        took,
        report: result.as_ref().err().map(|report| report.to_string()),
        output: match result {
            Ok(output) => output,
            Err(_) => String::from_utf8(bench.device.take_output()).unwrap(),
        },
        trace: bench.device.trace().to_vec(),
        profile: bench.device.profile(),
        cells: match bench.device.fault() {
            None => bench.read(cells.address, 1 << 18),
            Some(_) => Vec::new(),
        },
    }
}

/// Runs with several numbers of threads and compares.
fn same(kernel: &str, grid: u32, params: &[i32], limits: Limits) -> Seen {
    let one = see(1, kernel, grid, params, limits);
    for threads in [2, 8, 3] {
        let many = see(threads, kernel, grid, params, limits);
        assert_eq!(one.output, many.output, "{threads} threads");
        assert_eq!(one.report, many.report, "{threads} threads");
        if one.report.is_none() {
            let differs = one.trace.iter().zip(&many.trace).find(|(a, b)| a != b);
            assert!(differs.is_none(), "{threads} threads: {differs:#?}");
            assert_eq!(one.took, many.took, "{threads} threads");
            assert_eq!(one.profile, many.profile, "{threads} threads");
            assert!(one == many, "{threads} threads: trace or memory");
        }
    }
    one
}

#[test]
fn a_forest_of_launches() {
    let seen = same("_Z6forestii", 3, &[0, 4], Limits::default());
    assert!(seen.trace.len() > 2000, "{}", seen.trace.len());
    assert!(seen.report.is_none() && seen.took.is_some_and(|took| took > 1.0));
    // Grids are numbered in the order of their launches, each behind the one that launched it.
    assert!(seen.trace.iter().zip(1..).all(|(grid, n)| grid.grid == n && grid.parent < n));
}

#[test]
fn a_pool_of_pending_launches_that_is_too_small() {
    let limits = Limits { pending_launches: 40, ..Limits::default() };
    let seen = same("_Z5bursti", 48, &[12], limits);
    // A warp's launches fit, since children run before it goes on.
    assert_eq!(seen.output.matches(": 0 failed").count(), 48 * 32);
}

#[test]
fn launches_that_fail_are_the_same() {
    let limits = Limits { pending_launches: 12, ..Limits::default() };
    let seen = same("_Z5bursti", 48, &[12], limits);
    // Twelve lanes have a slot each time, the others never.
    assert_eq!(seen.output.matches(": 12 failed").count(), 48 * 20);
}

#[test]
fn the_first_fault_in_order_is_reported() {
    let seen = same("_Z8branchesii", 40, &[20, 371], Limits::default());
    let report = seen.report.expect("a report");
    assert!(report.contains("leaf") && report.contains("block (18,0,0), thread"), "{report}");
    assert!(seen.output.ends_with("leaf 370\n"), "{}", seen.output);
}

#[test]
fn children_of_a_kernel_that_watches() {
    let seen = same("_Z7watcheri", 4, &[600], Limits::default());
    assert_eq!(seen.output.matches("ticket").count(), 128);
}
