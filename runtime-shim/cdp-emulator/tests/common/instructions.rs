//! The instruction families under test: a kernel for each line of `data/instructions.txt`, and
//! operands that reach the corners of every type.

/// Operand triples a kernel is run on.
pub const COUNT: usize = 4096;

/// The lines; those that begin with `~` are approximations.
pub fn lines() -> Vec<&'static str> {
    include_str!("../data/instructions.txt").lines().collect()
}

/// A module with kernel `k<i>` for line i: reads three 64-bit operands a thread, runs the line,
/// writes its 64-bit result.
pub fn module(lines: &[&str]) -> String {
    let mut text = String::from(".version 8.5\n.target sm_90\n.address_size 64\n");
    for (index, line) in lines.iter().enumerate() {
        let body = line.trim_start_matches('~');
        let result = if body.contains("%ld") {
            "mov.b64 %lr, %ld;"
        } else if body.contains("%hd") {
            "cvt.u64.u16 %lr, %hd;"
        } else {
            "cvt.u64.u32 %lr, %d;"
        };
        text += &format!(
            ".visible .entry k{index}(.param .u64 in, .param .u64 out)
{{
    .reg .b16 %ha, %hb, %hc, %hd;
    .reg .b32 %a, %b, %c, %d, %e, %t, %n, %se, %sf, %sg, %sh;
    .reg .b64 %la, %lb, %lc, %ld, %lr, %i, %o, %x;
    .reg .pred %p, %q;
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %i, %i;
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mul.lo.u32 %n, %t, %n;
    mov.u32 %t, %tid.x;
    add.u32 %t, %t, %n;
    mul.wide.u32 %x, %t, 24;
    add.u64 %i, %i, %x;
    mul.wide.u32 %x, %t, 8;
    add.u64 %o, %o, %x;
    ld.global.u64 %la, [%i];
    ld.global.u64 %lb, [%i+8];
    ld.global.u64 %lc, [%i+16];
    cvt.u32.u64 %a, %la;
    cvt.u32.u64 %b, %lb;
    cvt.u32.u64 %c, %lc;
    cvt.u16.u64 %ha, %la;
    cvt.u16.u64 %hb, %lb;
    cvt.u16.u64 %hc, %lc;
    shr.u64 %x, %lb, 40;
    cvt.u32.u64 %se, %x;
    and.b32 %se, %se, 127;
    shr.u64 %x, %lc, 40;
    cvt.u32.u64 %sf, %x;
    and.b32 %sf, %sf, 127;
    and.b32 %sg, %se, 31;
    and.b32 %sh, %sf, 31;
    sub.u32 %sh, %sh, 16;
    mov.u32 %d, 0;
    mov.u64 %ld, 0;
    mov.b16 %hd, 0;
    {body}
    {result}
    st.global.u64 [%o], %lr;
    ret;
}}
"
        );
    }
    text
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A 64-bit word whose low 16, low 32 and all 64 bits are each interesting as integer and float of
/// that width.
fn operand(state: &mut u64) -> u64 {
    const SMALL: [u64; 8] = [0, 1, 2, 31, 32, 33, 64, 127];
    const F32: [u32; 14] = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x3f00_0000,
        0x4f00_0000,
    ];
    const F64: [u64; 12] = [
        0,
        1 << 63,
        0x3ff0_0000_0000_0000,
        0xbff8_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x41e0_0000_0000_0000,
    ];
    const F16: [u64; 10] = [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x03ff, 0x7bff];
    let (kind, random) = (next(state) % 12, next(state));
    let pick = |n: usize| (random >> 8) as usize % n;
    match kind {
        0 => SMALL[pick(8)],
        1 => (SMALL[pick(8)] as i64).wrapping_neg() as u64,
        2 => u64::from(F32[pick(14)]) | random << 40,
        3 => F64[pick(12)],
        4 => F16[pick(10)] | random << 32 & 0xffff_0000_0000_0000,
        // Floats of moderate size, so that sums cancel and conversions stay in range.
        5 => u64::from((random as u32 & 0x81ff_ffff) | 0x3e00_0000) | random << 32,
        6 => u64::from((random as u32 & 0x87ff_ffff) | 0x4000_0000) | random << 32,
        7 => (random & 0x800f_ffff_ffff_ffff) | 0x3fe0_0000_0000_0000 | (random & 3) << 52,
        8 => (random & 0x801f_ffff_ffff_ffff) | 0x4080_0000_0000_0000,
        _ => random,
    }
}

/// The operands, as bytes: three words a thread.
pub fn operands() -> Vec<u8> {
    let mut state = 12345;
    (0..COUNT * 3).flat_map(|_| operand(&mut state).to_le_bytes()).collect()
}
