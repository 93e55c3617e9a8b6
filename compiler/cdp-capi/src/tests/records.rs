//! What is told beside the product: messages as JSON, records of a run; and compilations that are given up.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::*;

fn json_lines(result: *const cdp_result) -> Vec<Value> {
    // SAFETY: a live result.
    let text = unsafe { text(cdp_result_messages_json(result)) };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn messages_are_json_too() {
    let source = b"__global__ void k(int *p) {\n  int unused;\n  *p = missing;\n}\n";
    let result = compile(CDP_KIND_SOURCE, source, CDP_GOAL_PTX);
    let objects = json_lines(result);
    assert!(!objects.is_empty());
    for (index, object) in objects.iter().enumerate() {
        // SAFETY: a live result, and as many messages as lines.
        let message = unsafe { cdp_result_message(result, index).as_ref().unwrap() };
        assert_eq!(object["code"], text(message.code));
        assert_eq!(object["message"], text(message.text));
        let severity = if message.is_error { "error" } else { "warning" };
        assert_eq!(object["severity"], severity);
    }
    // SAFETY: as above.
    unsafe {
        assert!(cdp_result_message(result, objects.len()).is_null());
        cdp_result_free(result);
        assert!(cdp_result_messages_json(null()).is_null());
    }
    let result = compile(CDP_KIND_SOURCE, b"__global__ void k() {}\n", CDP_GOAL_PTX);
    assert!(json_lines(result).is_empty());
    // SAFETY: a live result.
    unsafe { cdp_result_free(result) };
}

/// A program on the CPU device, and a launch of its kernel `parent`.
fn opened() -> (*mut cdp_program, impl Fn()) {
    let result = compile(CDP_KIND_SOURCE, PROGRAM.as_bytes(), CDP_GOAL_PTX);
    let ptx = bytes(result);
    let mut address = 0u64;
    // SAFETY: all pointers are good.
    let program = unsafe {
        cdp_result_free(result);
        let program = cdp_program_open(CDP_DEVICE_CPU, ptx.as_ptr().cast(), ptx.len(), null(), 0);
        assert!(!program.is_null(), "{}", text(cdp_last_error()));
        assert_eq!(cdp_program_allocate(program, 16, &mut address), CDP_OK);
        program
    };
    let launch = move || {
        let (one, params) = ([1u32; 3], [(&raw const address).cast::<c_void>()]);
        // SAFETY: as above.
        let status = unsafe {
            let (name, one) = (c"parent".as_ptr(), one.as_ptr());
            cdp_program_launch(program, name, one, one, 0, params.as_ptr(), 1)
        };
        assert_eq!(status, CDP_OK);
    };
    (program, launch)
}

fn told(result: *mut cdp_result) -> Value {
    // SAFETY: a live result.
    unsafe {
        assert_eq!(cdp_result_status(result), CDP_OK, "{}", text(cdp_last_error()));
        let value = serde_json::from_slice(&bytes(result)).unwrap();
        cdp_result_free(result);
        value
    }
}

#[test]
fn a_run_is_recorded() {
    let (program, launch) = opened();
    let grids = || {
        // SAFETY: a live program.
        let trace = told(unsafe { cdp_program_trace(program) });
        let events = trace.as_array().or_else(|| trace["traceEvents"].as_array()).unwrap().clone();
        let named = |event: &Value| event["name"].as_str().map(str::to_owned);
        let names: Vec<String> = events.iter().filter_map(named).collect();
        ["parent", "child"].map(|kernel| names.iter().any(|name| name.contains(kernel)))
    };
    // SAFETY: as above.
    unsafe {
        launch();
        assert_eq!(grids(), [false, false], "nothing was asked for");
        assert_eq!(cdp_program_set_trace(program, true), CDP_OK);
        launch();
        assert_eq!(grids(), [true, true]);
        let profile = told(cdp_program_profile(program));
        let kernels = profile["kernels"].as_array().unwrap();
        let of = |name: &str| {
            kernels.iter().find(|kernel| kernel["kernel"].as_str().unwrap().contains(name)).unwrap()
        };
        assert_eq!((&of("parent")["launches"], &of("child")["threads"]), (&2.into(), &8.into()));
        // A summary is no program.
        let compiler = cdp_compiler_new();
        let trace = cdp_program_trace(program);
        assert!(cdp_program_load(compiler, trace, CDP_DEVICE_CPU).is_null());
        cdp_result_free(trace);
        cdp_compiler_free(compiler);
        cdp_program_close(program);
        assert!(cdp_program_trace(null()).is_null() && cdp_program_profile(null()).is_null());
        assert_eq!(cdp_program_set_trace(null(), true), CDP_ERROR_REQUEST);
    }
}

#[test]
fn a_compilation_is_given_up_by_another_thread() {
    let kernel =
        |n: usize| format!("__global__ void k{n}(int *p) {{ p[{n}] = p[{n} + 1] / 7; }}\n");
    let large: String = (0..3000).map(kernel).collect();
    let compiler = cdp_compiler_new() as usize;
    let run = |source: &str| {
        let (data, size) = (source.as_ptr().cast(), source.len());
        let compiler = compiler as *const cdp_compiler;
        // SAFETY: a live compiler, which is not changed.
        unsafe {
            let name = c"large.cdp".as_ptr();
            let made = cdp_compile(compiler, CDP_KIND_SOURCE, name, data, size, CDP_GOAL_PTX);
            let status = cdp_result_status(made);
            cdp_result_free(made);
            status
        }
    };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let status = run(&large);
            ended.store(true, Ordering::Relaxed);
            status
        });
        while !ended.load(Ordering::Relaxed) {
            // SAFETY: as above.
            unsafe { cdp_compiler_cancel(compiler as *const cdp_compiler) };
            std::thread::yield_now();
        }
        assert_eq!(work.join().unwrap(), CDP_ERROR_CANCELLED);
    });
    assert_eq!(run(PROGRAM), CDP_OK, "later ones are not affected");
    // SAFETY: a live compiler, and none.
    unsafe {
        cdp_compiler_free(compiler as *mut cdp_compiler);
        cdp_compiler_cancel(null());
    }
}
