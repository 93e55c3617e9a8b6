//! What runs are found to do wrong: checks by name, findings as messages and as JSON.

use serde_json::Value;

use super::*;

const RACY: &str = "__global__ void child(int *p) { p[0] = 7; }
__global__ void parent(int *p) {
  child<<<1, 1>>>(p);
  p[1] = p[0];
}
__global__ void wild(int *p) { p[1 << 20] = 1; }
";

/// The program on the CPU device with checks by name, and 16 bytes of its memory.
fn opened(checks: &CStr) -> (*mut cdp_program, u64) {
    let compiler = cdp_compiler_new();
    // SAFETY: all pointers are good.
    unsafe {
        assert_eq!(cdp_compiler_set(compiler, c"debug".as_ptr(), c"lines".as_ptr()), CDP_OK);
        assert_eq!(cdp_compiler_set(compiler, c"launch-opt".as_ptr(), c"off".as_ptr()), CDP_OK);
        let (source, name) = (RACY.as_bytes(), c"racy.cdp".as_ptr());
        let data = source.as_ptr().cast();
        let made = cdp_compile(compiler, CDP_KIND_SOURCE, name, data, source.len(), CDP_GOAL_PTX);
        let ptx = bytes(made);
        let program = cdp_program_open_checked(ptx.as_ptr().cast(), ptx.len(), checks.as_ptr());
        assert!(!program.is_null(), "{}", text(cdp_last_error()));
        cdp_result_free(made);
        cdp_compiler_free(compiler);
        let mut address = 0u64;
        assert_eq!(cdp_program_allocate(program, 16, &mut address), CDP_OK);
        let zeros = [0u8; 16];
        assert_eq!(cdp_program_write(program, address, zeros.as_ptr().cast(), 16), CDP_OK);
        (program, address)
    }
}

fn launch(program: *const cdp_program, kernel: &CStr, address: u64) {
    let (one, params) = ([1u32; 3], [(&raw const address).cast::<c_void>()]);
    // SAFETY: all pointers are good.
    let status = unsafe {
        let one = one.as_ptr();
        cdp_program_launch(program, kernel.as_ptr(), one, one, 0, params.as_ptr(), 1)
    };
    assert_eq!(status, CDP_OK);
}

/// Code, file and line of each finding since the last time, and all as JSON.
fn found(program: *const cdp_program) -> (Vec<(String, String, u32)>, Vec<Value>) {
    // SAFETY: a live program.
    unsafe {
        let result = cdp_program_findings(program);
        assert_eq!(cdp_result_status(result), CDP_OK, "{}", text(cdp_last_error()));
        let messages = (0..)
            .map_while(|index| cdp_result_message(result, index).as_ref())
            .map(|message| {
                assert!(message.is_error && text(message.rendered).contains(&text(message.text)));
                (text(message.code), text(message.file), message.line)
            })
            .collect();
        let json = text(cdp_result_messages_json(result));
        cdp_result_free(result);
        (messages, json.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

#[test]
fn races_are_told_with_both_places_once() {
    let (program, address) = opened(c"race");
    assert_eq!(found(program).0, []);
    launch(program, c"parent", address);
    let (messages, json) = found(program);
    let [(code, file, line)] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!((code.as_str(), file.as_str()), ("race", "racy.cdp"));
    let other = json[0]["related"][0]["site"]["source"]["line"].as_u64().unwrap();
    let mut lines = [u64::from(*line), other];
    lines.sort_unstable();
    assert_eq!(lines, [1, 4], "the child's store and the parent's load");
    assert_eq!(json[0]["count"], 1);
    assert_eq!(found(program).0, [], "told already");
    // SAFETY: a live program.
    unsafe { cdp_program_close(program) };
}

#[test]
fn without_a_check_races_pass_and_what_ends_a_program_is_a_finding() {
    let (program, address) = opened(c"");
    launch(program, c"parent", address);
    assert_eq!(found(program).0, []);
    launch(program, c"wild", address);
    let (messages, _) = found(program);
    assert_eq!(messages, [("out-of-bounds".to_string(), "racy.cdp".to_string(), 6)]);
    // SAFETY: a live program.
    unsafe { cdp_program_close(program) };
}

#[test]
fn memory_that_is_allocated_is_told_while_it_is() {
    let (program, address) = opened(c"leak");
    let kinds = || found(program).0.into_iter().map(|found| found.0).collect::<Vec<_>>();
    assert_eq!(kinds(), ["leak"]);
    // SAFETY: a live program.
    unsafe {
        assert_eq!(cdp_program_release(program, address), CDP_OK);
        assert!(kinds().is_empty());
        cdp_program_close(program);
    }
}

#[test]
fn wrong_checks_are_refused() {
    // SAFETY: good pointers and NULL.
    unsafe {
        let open = |checks: *const c_char| cdp_program_open_checked(null(), 0, checks);
        assert!(open(c"race,speed".as_ptr()).is_null());
        assert!(text(cdp_last_error()).contains("`speed`"));
        assert!(open(null()).is_null());
        assert!(cdp_program_findings(null()).is_null());
    }
}
