#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cdp_fuzz::run("source", data));
