//! Random elements of matrices, as the programs made them whose results on an H200 are kept.

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
