//! Random elements of matrices, as the programs made them whose results on an H200 are kept, and the run of
//! what was run there.

use cdp_emulator::StreamId;

/// A well mixed number from another one.
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Of all bytes.
pub fn checksum(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Bits of exponent and fraction; none for plain bits.
pub fn format(name: &str) -> (u32, u32) {
    match name {
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "tf32" | "f32" => (8, 23),
        "f64" => (11, 52),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        _ => (0, 0),
    }
}

/// One element, as the program on the H200 made it: near one, with wide exponents, any bits, or a small
/// integer.
pub fn element((e, m): (u32, u32), mode: u32, r: u64) -> u64 {
    if e == 0 || mode == 2 {
        return r;
    }
    let (mut fraction, mut sign) = (r >> 8 & ((1 << m) - 1), r >> 7 & 1);
    let (bias, top, q) = ((1i64 << (e - 1)) - 1, (1i64 << e) - 1, (r >> 57) as i64);
    let exponent = match mode {
        0 => bias - 2 + q % 5,
        1 => (bias - 12 + q % 25).clamp(0, top - 1),
        _ => {
            let n = q % 17 - 8;
            sign = u64::from(n < 0);
            let magnitude = n.unsigned_abs();
            match magnitude {
                0 => {
                    fraction = 0;
                    0
                }
                _ => {
                    let p = magnitude.ilog2();
                    fraction = (magnitude - (1 << p)) << m >> p;
                    bias + i64::from(p)
                }
            }
        }
    };
    sign << (e + m) | (exponent as u64) << m | fraction
}

/// A kernel that was run on the H200.
pub struct Case {
    pub name: &'static str,
    /// Its text; it is called `k` and its number.
    pub kernel: String,
    pub input: Vec<u8>,
    /// Blocks, each on its own part of the input and the output.
    pub trials: u32,
    pub output_bytes: usize,
    /// Checksum of the output on the H200.
    pub sum: u64,
}

/// Runs each case on the CPU device. `CDP_TENSOR_DUMP` names a case (or `all`) whose output is shown.
pub fn assert_results(header: &str, threads: u32, cases: &[Case]) {
    let kernels = cases.iter().map(|case| case.kernel.as_str());
    let mut bench = super::load(&(header.to_string() + &kernels.collect::<String>())).unwrap();
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let input = bench.device.alloc(case.input.len() as u64).unwrap();
        let output = bench.device.alloc(case.output_bytes as u64).unwrap();
        let _ = bench.device.copy_to_device(input, &case.input, StreamId::NULL).unwrap();
        let params = [input.to_le_bytes(), output.to_le_bytes()].concat();
        let run = bench.run_with(&format!("k{index}"), case.trials, threads, &params);
        run.unwrap_or_else(|report| panic!("{}: {report}", case.name));
        let found = bench.read(output, case.output_bytes);
        if std::env::var("CDP_TENSOR_DUMP").is_ok_and(|name| name == case.name || name == "all") {
            let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{} {:016x} {hex}", case.name, checksum(&found));
        }
        if checksum(&found) != case.sum {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
