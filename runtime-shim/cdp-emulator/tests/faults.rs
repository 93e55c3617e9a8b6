//! Programs that do something wrong, and what the reports say. The program is `ptx/faults.cu`,
//! compiled by nvcc with `-lineinfo`.

mod common;

use std::sync::Arc;
use std::time::Duration;

use cdp_emulator::{CheckAction, Checks, Config, Error, Report, ReportKind};
use common::{HEADER, config, load, load_with};

const FAULTS: &str = include_str!("ptx/faults.ptx");

fn fault(kernel: &str, block: u32) -> Arc<Report> {
    load(FAULTS).unwrap().run(kernel, 1, block).unwrap_err()
}

/// The line of `faults.cu` that a report names.
fn line(report: &Report) -> u32 {
    let source = report.site.as_ref().unwrap().source.as_ref().unwrap();
    assert!(source.file.ends_with("faults.cu"), "{}", source.file);
    source.line
}

#[test]
fn out_of_bounds_names_thread_line_and_variable() {
    let report = fault("_Z13out_of_boundsi", 32);
    assert_eq!((report.kind, line(&report)), (ReportKind::OutOfBounds, 6));
    let site = report.site.as_ref().unwrap();
    assert_eq!((site.block, site.thread), ([0, 0, 0], [5, 0, 0]));
    let allocation = report.allocation.as_ref().unwrap();
    assert_eq!((allocation.size_bytes, allocation.what.as_str()), (40, "variable `table`"));
    assert_eq!(report.address, Some(allocation.base + 40));
    assert_eq!(report.cuda_code(), 700);
    assert!(site.ptx_line > 0 && site.ptx_file == "test.ptx");
}

#[test]
fn null_and_misaligned() {
    assert_eq!(fault("_Z10null_storePi", 32).kind, ReportKind::NullAccess);
    let report = fault("_Z10misalignedPc", 1);
    assert_eq!((report.kind, report.cuda_code()), (ReportKind::Misaligned, 716));
}

#[test]
fn released_memory_names_who_allocated_and_released_it() {
    for (kernel, kind) in [
        ("_Z10after_freev", ReportKind::UseAfterFree),
        ("_Z11double_freev", ReportKind::DoubleFree),
    ] {
        let report = fault(kernel, 1);
        assert_eq!(report.kind, kind);
        let allocation = report.allocation.as_ref().unwrap();
        let (allocated, freed) =
            (allocation.allocated_at.as_ref().unwrap(), allocation.freed_at.as_ref().unwrap());
        assert!(
            allocated.ptx_line < freed.ptx_line
                && freed.ptx_line < report.site.as_ref().unwrap().ptx_line
        );
        assert_eq!((allocation.freed, allocation.size_bytes), (true, 40));
    }
    let report = fault("_Z8bad_freev", 1);
    assert_eq!((report.kind, report.cuda_code()), (ReportKind::InvalidFree, 700));
    assert_eq!(fault("_Z11double_freev", 1).cuda_code(), 719);
}

#[test]
fn uninitialized_shared_memory() {
    let report = fault("_Z13uninitializedv", 32);
    assert_eq!((report.kind, line(&report)), (ReportKind::UninitializedShared, 16));
    assert_eq!(report.site.as_ref().unwrap().thread, [10, 0, 0]);
    let checks = Checks { uninitialized_shared: CheckAction::Off, ..Checks::default() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], Config { checks, ..config() }).unwrap();
    assert_eq!(bench.run("_Z13uninitializedv", 1, 32).unwrap(), "");
    let checks = Checks { uninitialized_shared: CheckAction::Warn, ..Checks::default() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], Config { checks, ..config() }).unwrap();
    assert_eq!(bench.run("_Z13uninitializedv", 1, 32).unwrap(), "");
    let reports = bench.device.take_reports();
    assert!(reports.iter().all(|r| r.warning && r.kind == ReportKind::UninitializedShared));
    assert_eq!(reports.len(), 1);
}

#[test]
fn memory_of_the_parent_in_a_child() {
    for kernel in ["_Z14local_to_childv", "_Z15shared_to_childv"] {
        let report = fault(kernel, 1);
        assert_eq!((report.kind, line(&report)), (ReportKind::ForeignAddress, 18));
        let path: Vec<&str> = report.grid_path.iter().map(|step| step.kernel.as_str()).collect();
        assert_eq!(path, [kernel, "_Z5childPi"]);
        assert_eq!(report.grid_path[0].launched_by, None);
        assert_eq!(report.grid_path[1].launched_by, Some(([0; 3], [0; 3])));
        let launch = report.grid_path[1].launched_at.as_ref().unwrap();
        assert!(launch.file.ends_with("faults.cu") && (21..=28).contains(&launch.line), "{launch}");
    }
}

#[test]
fn divergence_at_barriers() {
    let report = fault("_Z17divergent_barrierv", 32);
    assert_eq!((report.kind, line(&report)), (ReportKind::BarrierDivergence, 31));
    // Warps that wait at two of them go on, as on the hardware, unless what PTX leaves open is looked for.
    let run = |exchanges: bool| {
        let checks = Checks { exchanges, ..Checks::default() };
        let mut bench =
            load_with(&[("faults.ptx", FAULTS)], Config { checks, ..config() }).unwrap();
        let is_done = bench.run("_Z12two_barriersv", 1, 64).is_ok();
        let reports = bench.device.take_reports();
        assert_eq!((reports.len(), reports[0].kind), (1, ReportKind::BarrierDivergence));
        assert_eq!((reports[0].waiters.len(), reports[0].warning), (2, is_done));
        is_done
    };
    assert_eq!([false, true].map(run), [true, false]);
    // Switched off, the first is what the hardware does: the others do not take part.
    let checks = Checks { barrier_divergence: CheckAction::Off, ..Checks::default() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], Config { checks, ..config() }).unwrap();
    bench.run("_Z17divergent_barrierv", 1, 32).unwrap();
    bench.run("_Z12two_barriersv", 1, 64).unwrap();
}

#[test]
fn a_deadlock_says_who_waits_where() {
    let report = fault("_Z8deadlockv", 64);
    assert_eq!(report.kind, ReportKind::Deadlock);
    let places: Vec<_> =
        report.waiters.iter().map(|w| (w.what.as_str(), w.site.thread[0])).collect();
    assert_eq!(
        places,
        [("at barrier 1, 32 of 64 threads there", 0), ("at barrier 2, 32 of 64 threads there", 32)]
    );
}

#[test]
fn assertions_and_traps() {
    let mut bench = load(FAULTS).unwrap();
    let report = bench.run("_Z13failed_asserti", 1, 8).unwrap_err();
    assert_eq!((report.kind, report.cuda_code()), (ReportKind::AssertFailed, 710));
    assert_eq!(bench.device.take_output(), b"");
    assert_eq!(report.said.lines().count(), 5);
    assert!(report.said.contains("thread: [3,0,0] Assertion `threadIdx.x < 3` failed."));
    let report = fault("_Z7trappedv", 32);
    assert_eq!((report.kind, report.site.as_ref().unwrap().thread[0]), (ReportKind::Trap, 5));
}

#[test]
fn after_a_fault_nothing_runs_until_the_reset() {
    let mut bench = load(FAULTS).unwrap();
    bench.run("_Z7trappedv", 1, 32).unwrap_err();
    assert_eq!(bench.launch("_Z7trappedv", 1, 1, &[]), Err(Error::Faulted));
    bench.device.reset().unwrap();
    assert!(bench.device.fault().is_none());
}

#[test]
fn stacks_end() {
    let depth = 3000u32.to_le_bytes();
    let report = load(FAULTS).unwrap().run_with("_Z8overflowi", 1, 1, &depth).unwrap_err();
    assert_eq!(report.kind, ReportKind::StackOverflow);
    assert!(report.help.as_ref().unwrap().contains("cudaLimitStackSize"));
    let mut large = config();
    large.limits.stack_bytes = 512 << 10;
    let mut bench = load_with(&[("faults.ptx", FAULTS)], large).unwrap();
    bench.run_with("_Z8overflowi", 1, 1, &depth).unwrap();
}

#[test]
fn endless_programs_are_stopped() {
    let limited = Config { max_instructions: Some(10_000_000), ..config() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], limited).unwrap();
    let report = bench.run("_Z7endlessv", 1, 1).unwrap_err();
    assert_eq!(report.kind, ReportKind::InstructionLimit);
    assert!(report.site.is_some());
    // The loop is short, so the bound is met closely.
    let counted: u64 = report.message.split(' ').next().unwrap().parse().unwrap();
    assert!((10_000_000..10_001_000).contains(&counted), "{counted}");
    let limited = Config { timeout: Some(Duration::from_millis(200)), ..config() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], limited).unwrap();
    assert_eq!(bench.run("_Z7endlessv", 1, 1).unwrap_err().kind, ReportKind::Timeout);
    // The bounds hold on several host threads too.
    let limited = Config { timeout: Some(Duration::from_millis(200)), host_threads: 4, ..config() };
    let mut bench = load_with(&[("faults.ptx", FAULTS)], limited).unwrap();
    assert_eq!(bench.run("_Z7endlessv", 64, 32).unwrap_err().kind, ReportKind::Timeout);
}

#[test]
fn calls_of_things_that_are_no_functions() {
    for target in [0u64, 64, 0x0200_0000_0000, u64::MAX] {
        let mut bench = load(FAULTS).unwrap();
        let report = bench.run_with("_Z8bad_callx", 1, 1, &target.to_le_bytes()).unwrap_err();
        assert_eq!((report.kind, report.cuda_code()), (ReportKind::InvalidCall, 700));
    }
}

#[test]
fn constant_memory_is_read_only() {
    let text = format!(
        "{HEADER}.const .align 4 .u32 fixed = 7;
.visible .entry k() {{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, fixed;
    cvta.const.u64 %rd2, %rd1;
    st.u32 [%rd2], 1;
    ret;
}}"
    );
    let report = load(&text).unwrap().run("k", 1, 1).unwrap_err();
    assert_eq!((report.kind, report.cuda_code()), (ReportKind::ReadOnlyWrite, 719));
}

#[test]
fn modules_that_cannot_be_loaded() {
    let undefined = format!(
        "{HEADER}.extern .func nowhere();
.visible .entry k()
{{
    call.uni nowhere, ();
    ret;
}}"
    );
    match load(&undefined) {
        Err(Error::UndefinedSymbol { place, name }) => {
            assert_eq!(
                (place.file.as_str(), place.line, name.as_str()),
                ("test.ptx", 7, "nowhere")
            );
        }
        other => panic!("{:?}", other.err()),
    }
    let twice = format!("{HEADER}.visible .entry k() {{ ret; }}");
    match load_with(&[("a.ptx", &twice), ("b.ptx", &twice)], config()) {
        Err(Error::DuplicateSymbol { place, other, .. }) => {
            assert_eq!((place.file.as_str(), other.file.as_str()), ("b.ptx", "a.ptx"));
        }
        other => panic!("{:?}", other.err()),
    }
    let broken = format!("{HEADER}.visible .entry k() {{\n  frobnicate.u32 1;\n  ret;\n}}");
    match load(&broken) {
        Err(Error::Unsupported { place, .. }) => assert_eq!(place.line, 5),
        other => panic!("{:?}", other.err()),
    }
    let narrow = ".version 7.8\n.target sm_75\n.address_size 32\n.visible .entry k() { ret; }";
    match load(narrow) {
        Err(error @ Error::Incompatible { .. }) => {
            assert!(error.to_string().contains("--address-size 64"), "{error}");
        }
        other => panic!("{:?}", other.err()),
    }
}

/// The results are a device's own affair, so that only who divided by what is looked at.
#[test]
fn integer_divisions_by_zero_are_told_of_when_asked() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 data) {{
    .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    div.u32 %r3, 12, %r2;
    rem.s32 %r4, %r1, 5;
    cvt.u64.u32 %rd2, %r2;
    rem.s64 %rd3, 77, %rd2;
    cvt.u16.u32 %h1, %r2;
    div.s16 %h2, 100, %h1;
    ret;
}}"
    );
    for divisions in [false, true] {
        let checks = Checks { divisions, ..Checks::default() };
        let mut bench = load_with(&[("test.ptx", &text)], Config { checks, ..config() }).unwrap();
        bench.run_with("k", 2, 32, &[0; 8]).unwrap();
        let found = bench.device.take_findings();
        assert_eq!(found.len(), if divisions { 3 } else { 0 });
        for report in found {
            assert_eq!(report.kind, ReportKind::DivisionByZero);
            assert_eq!(report.count, 16, "{}", report.message);
        }
    }
}
