//! `multimem` on a device whose memory is the only one behind an address.

mod common;

use common::{HEADER, load};

/// 32 bytes of words, then of halves and singles.
fn input() -> Vec<u8> {
    let words = [7u32, 0xffff_fff0, 3, 40, 50, 60, 70, 80];
    let halves = [0x3c00u16, 0x4000, 0xc200, 0x7e01, 0x8000, 0x0001, 0x7c00, 0x3800];
    let singles = [1.5f32, -2.0, 0.25, 1e30];
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    let halves = halves.iter().flat_map(|half| half.to_le_bytes());
    words.chain(halves).chain(singles.iter().flat_map(|single| single.to_le_bytes())).collect()
}

fn run(body: &str) -> (Vec<u8>, Vec<u8>) {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 i, .param .u64 o) {{
  .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o];
{body}
  ret;
}}\n"
    );
    let mut bench = load(&text).unwrap();
    let (i, o) = (bench.device.alloc(64).unwrap(), bench.device.alloc(64).unwrap());
    bench.write(i, &input());
    bench.write(o, &[0; 64]);
    bench.run_with("k", 1, 2, &[i.to_le_bytes(), o.to_le_bytes()].concat()).unwrap();
    (bench.read(i, 64), bench.read(o, 64))
}

#[test]
fn what_is_made_of_one_memory_is_its_contents() {
    let (kept, out) = run("
  multimem.ld_reduce.add.u32 %r1, [%rd1];
  multimem.ld_reduce.acquire.sys.global.min.s32 %r2, [%rd1+4];
  multimem.ld_reduce.weak.global.xor.b64 %rd3, [%rd1+8];
  multimem.ld_reduce.global.add.acc::f32.v8.f16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%rd1+32];
  multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1+48];
  st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u64 [%rd2+8], %rd3;
  st.global.v4.b16 [%rd2+32], {%h0, %h1, %h2, %h3}; st.global.v4.b16 [%rd2+40], {%h4, %h5, %h6, %h7};
  st.global.v4.f32 [%rd2+48], {%f0, %f1, %f2, %f3};");
    assert_eq!(kept, input());
    assert_eq!((&out[..16], &out[32..]), (&kept[..16], &kept[32..]));
}

#[test]
fn stores_and_reductions_reach_it() {
    // Two threads.
    let (out, _) = run("
  multimem.red.add.u32 [%rd1], 5;
  multimem.red.release.sys.global.max.s32 [%rd1+4], 9;
  multimem.red.global.add.v2.f32 [%rd1+48], {0f3F000000, 0f3F800000};
  mov.b32 %r1, 0x40003c00;
  multimem.red.global.add.f16x2 [%rd1+32], %r1;
  mov.b64 %rd3, 77;
  multimem.st.release.gpu.global.u64 [%rd1+16], %rd3;
  multimem.st.global.v4.f16x2 [%rd2], {%r1, %r1, %r1, %r1};");
    let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().unwrap());
    assert_eq!([word(0), word(4), word(16), word(20)], [17, 9, 77, 0]);
    assert_eq!([f32::from_bits(word(48)), f32::from_bits(word(52))], [2.5, 0.0]);
    assert_eq!(word(32), 0x4600_4200);
}
