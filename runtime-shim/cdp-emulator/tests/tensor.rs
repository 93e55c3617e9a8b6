//! Every tensor instruction of sm_90 on random fragments, against what an H200 made of them.

mod common;

use common::HEADER;
use common::fragments::{Case, assert_results, checksum, element, format, mix};

/// A line of `data/tensor.txt`.
struct Row {
    sum: u64,
    name: &'static str,
    /// Registers of A, B, C, D; -1 for shared memory.
    counts: [i32; 4],
    bits: u32,
    trials: u32,
    formats: [&'static str; 3],
    sparse: u32,
    stride: u32,
    instruction: &'static str,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("data/tensor.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let w: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| w[at].parse::<i32>().unwrap();
            Row {
                sum: u64::from_str_radix(w[0], 16).unwrap(),
                name: w[1],
                counts: [number(2), number(3), number(4), number(5)],
                bits: number(6) as u32,
                trials: number(7) as u32,
                formats: [w[8], w[9], w[10]],
                sparse: number(11) as u32,
                stride: number(12) as u32,
                instruction: w[13],
            }
        })
        .collect()
}

impl Row {
    fn seed(&self, trial: u32, which: u32, low: u32) -> u64 {
        let at = u64::from(trial) << 32 | u64::from(which) << 24 | u64::from(low);
        mix(checksum(self.name.as_bytes()) ^ mix(at))
    }

    fn register(&self, which: u32, trial: u32, register: u32, lane: u32) -> u64 {
        let (e, m) = format(self.formats[which as usize]);
        let width = if e == 0 { self.bits } else { 1 + e + m };
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        (0..self.bits / width).fold(0, |value, i| {
            let seed = self.seed(trial, which, register << 16 | lane << 8 | i);
            value | (element((e, m), trial & 3, seed) & mask) << (i * width % 64)
        })
    }

    /// Places of elements in a sparse matrix: two of four, in order.
    fn metadata(&self, trial: u32, lane: u32) -> u64 {
        const PAIRS: [u64; 6] = [0x4, 0x8, 0xc, 0x9, 0xd, 0xe];
        (0..8).fold(0, |value, i| {
            let seed = self.seed(trial, 3, lane << 8 | i);
            let one = if seed & 1 != 0 { 0x4 } else { 0xe };
            let pair = if self.name.contains("tf32") { one } else { PAIRS[(seed % 6) as usize] };
            value | pair << (4 * i)
        })
    }

    fn input(&self) -> Vec<u8> {
        let [a, b, c, _] = self.counts;
        let a = if a < 0 { 8 } else { a as u32 };
        let (b, c) = (b as u32, c as u32);
        let mut bytes = Vec::new();
        for trial in 0..self.trials {
            for register in 0..a + b + c + u32::from(self.sparse != 0) {
                for lane in 0..32 {
                    let value = match register {
                        r if r < a => self.register(0, trial, r, lane),
                        r if r < a + b => self.register(1, trial, r - a, lane),
                        r if r < a + b + c => self.register(2, trial, r - a - b, lane),
                        _ => self.metadata(trial, lane),
                    };
                    bytes.extend_from_slice(&value.to_le_bytes()[..self.bits as usize / 8]);
                }
            }
        }
        bytes
    }

    fn is(&self, start: &str) -> bool {
        self.name.starts_with(start)
    }

    /// The kernel that was run on the H200.
    fn kernel(&self, index: usize) -> String {
        let [a, b, c, d] = self.counts;
        let (inputs, outputs) = (a.abs() + b + c + i32::from(self.sparse != 0), d.abs());
        let step = self.bits / 8;
        let ty = format!("b{}", self.bits);
        let stored = if d < 0 { 4 } else { outputs };
        let block_in = if a < 0 { 8 } else { inputs } as u32 * 32 * step;
        let mut text = format!(
            ".visible .entry k{index}(.param .u64 i, .param .u64 o) {{
  .reg .{ty} %x<64>; .reg .{ty} %y<64>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 128 .b8 s[1024];
  ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mul.lo.u32 %r3, %r2, {block_in}; cvt.u64.u32 %rd3, %r3; add.u64 %rd1, %rd1, %rd3;
  mul.lo.u32 %r3, %r2, {}; cvt.u64.u32 %rd3, %r3; add.u64 %rd2, %rd2, %rd3;
  mul.lo.u32 %r3, %r1, {step}; cvt.u64.u32 %rd3, %r3; add.u64 %rd4, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.u32 %r5, %r4, %r5;
  mul.lo.u32 %r6, %r1, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %r4;\n",
            stored as u32 * 32 * step,
        );
        let list = |prefix: &str, from: i32, count: i32| {
            let names: Vec<String> =
                (from..from + count).map(|n| format!("%{prefix}{n}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let at = |register: i32| register as u32 * 32 * step;
        if self.is("wload") {
            let (i, d) = (self.instruction, list("y", 0, outputs));
            text += &format!("  {i} {d}, [%rd1], {};\n", self.stride);
        } else if self.is("ldmatrix") || self.is("stmatrix") {
            for register in 0..8 {
                let offset = at(register);
                let source =
                    if d < 0 { "0xabad1dea".to_string() } else { format!("[%rd4+{offset}]") };
                let op = if d < 0 { "mov.b32" } else { "ld.global.b32" };
                text += &format!("  {op} %x63, {source}; st.shared.b32 [%r5+{offset}], %x63;\n");
            }
            text += "  bar.sync 0;\n";
            for register in 0..a.max(0) {
                text += &format!("  ld.global.b32 %x{register}, [%rd4+{}];\n", at(register));
            }
            let i = self.instruction;
            text += &match d < 0 {
                false => format!("  {i} {}, [%r6];\n", list("y", 0, d)),
                true => format!("  {i} [%r6], {};\n  bar.sync 0;\n", list("x", 0, a)),
            };
            for register in 0..if d < 0 { 4 } else { 0 } {
                text += &format!("  ld.shared.b32 %y{register}, [%r5+{}];\n", at(register));
            }
        } else {
            for register in 0..inputs {
                text += &format!("  ld.global.{ty} %x{register}, [%rd4+{}];\n", at(register));
            }
            let i = self.instruction;
            text += &if self.is("movmatrix") {
                format!("  {i} %y0, %x0;\n")
            } else {
                let (da, ab) = (list("y", 0, outputs), list("x", 0, a));
                let (bb, cc) = (list("x", a, b), list("x", a + b, c));
                let places = match self.sparse {
                    0 => String::new(),
                    selector => format!(", %x{}, {}", a + b + c, selector - 1),
                };
                format!("  {i} {da}, {ab}, {bb}, {cc}{places};\n")
            };
        }
        for register in 0..stored {
            text += &format!("  st.global.{ty} [%rd2+{}], %y{register};\n", at(register));
        }
        text + "  ret;\n}\n"
    }
}

#[test]
fn results_are_those_of_the_hardware() {
    let rows = rows();
    assert!(rows.len() > 225, "{}", rows.len());
    let cases: Vec<Case> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let stored = if row.counts[3] < 0 { 4 } else { row.counts[3] } as usize;
            Case {
                name: row.name,
                kernel: row.kernel(index),
                input: row.input(),
                trials: row.trials,
                output_bytes: row.trials as usize * stored * 32 * row.bits as usize / 8,
                sum: row.sum,
            }
        })
        .collect();
    assert_results(&HEADER.replace("8.5", "8.6"), 32, &cases);
}
