//! `wgmma` on random shared memory, against what an H200 made of it: types, sizes, swizzles, strides, turned
//! factors, options.

mod common;

use common::HEADER;
use common::fragments::{Case, assert_results, checksum, element, format, mix};

/// Bytes of shared memory: A in the first half, B in the second.
const SHARED: usize = 32 << 10;
const THREADS: u32 = 128;

/// A line of `data/warpgroup.txt`.
struct Row {
    sum: u64,
    name: &'static str,
    trials: u32,
    /// Registers of D.
    registers: u32,
    instruction: &'static str,
    /// Descriptors; A may be in registers.
    a: Option<u64>,
    b: u64,
    adds: bool,
    /// The numbers behind it.
    tail: &'static str,
    /// The selector of a sparse A.
    selector: Option<&'static str>,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("data/warpgroup.txt").lines().filter(|line| !line.starts_with('#'));
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            Row {
                sum: hex(words[0]).unwrap(),
                name: words[1],
                trials: words[2].parse().unwrap(),
                registers: words[3].parse().unwrap(),
                instruction: words[4],
                a: hex(words[5]),
                b: hex(words[6]).unwrap(),
                adds: words[7] == "1",
                tail: if words[8] == "-" { "" } else { words[8] },
                selector: words.get(9).copied(),
            }
        })
        .collect()
}

/// `size` bytes of elements: of A, of B, of D before, or of A in registers.
fn elements(ty: &str, which: u64, trial: u32, size: usize, out: &mut Vec<u8>) {
    let (e, m) = format(ty);
    let width = if e == 0 { 32 } else { 1 + e + m };
    let mask = u64::MAX >> (64 - width);
    let base = checksum(ty.as_bytes());
    for low in 0..(size * 8) as u64 / u64::from(width) {
        let seed = mix(base ^ mix(u64::from(trial) << 32 | which << 24 | low));
        let value = element((e, m), trial & 3, seed) & mask;
        out.extend_from_slice(&value.to_le_bytes()[..width as usize / 8]);
    }
}

/// Places of the elements of a sparse A, of all threads: two of four, in order, or one of two.
fn metadata(ty: &str, trial: u32, out: &mut Vec<u8>) {
    const PAIRS: [u64; 6] = [0x4, 0x8, 0xc, 0x9, 0xd, 0xe];
    for thread in 0..u64::from(THREADS) {
        let value = (0..8).fold(0, |value, i| {
            let at = u64::from(trial) << 32 | 4 << 24 | thread << 8 | i;
            let seed = mix(checksum(ty.as_bytes()) ^ mix(at));
            let one = if seed & 1 != 0 { 0x4 } else { 0xe };
            let place = if ty == "tf32" { one } else { PAIRS[(seed % 6) as usize] };
            value | place << (4 * i)
        });
        out.extend_from_slice(&(value as u32).to_le_bytes());
    }
}

impl Row {
    /// Types of D, A and B.
    fn types(&self) -> [&'static str; 3] {
        let mut words = self.instruction.rsplit('.');
        let (b, a, d) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        [d, a, b]
    }

    fn input(&self) -> Vec<u8> {
        let [d, a, b] = self.types();
        let mut bytes = Vec::new();
        for trial in 0..self.trials {
            elements(a, 0, trial, SHARED / 2, &mut bytes);
            elements(b, 1, trial, SHARED / 2, &mut bytes);
            elements(d, 2, trial, self.registers as usize * 512, &mut bytes);
            if self.a.is_none() {
                elements(a, 3, trial, 2048, &mut bytes);
            }
            if self.selector.is_some() {
                metadata(a, trial, &mut bytes);
            }
        }
        bytes
    }

    /// The kernel that was run on the H200.
    fn kernel(&self, index: usize) -> String {
        let ty = if self.types()[0] == "f32" { "f32" } else { "b32" };
        let of_a = if self.a.is_none() { 4 } else { 0 };
        let places = u32::from(self.selector.is_some());
        let list = |prefix: &str, count: u32| {
            let names: Vec<String> = (0..count).map(|n| format!("%{prefix}{n}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let mut text = format!(
            ".visible .entry k{index}(.param .u64 i, .param .u64 o) {{
  .reg .pred %p<4>; .reg .{ty} %d<128>; .reg .b32 %a<4>; .reg .b32 %r<8>; .reg .b64 %rd<12>;
  .shared .align 1024 .b8 s[{SHARED}];
  ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, {}; add.u64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd3, %r2, {}; add.u64 %rd2, %rd2, %rd3;
  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4; mov.u32 %r4, 0;
more:
  ld.global.b32 %r5, [%rd1]; st.shared.b32 [%r3], %r5;
  add.u64 %rd1, %rd1, 512; add.u32 %r3, %r3, 512; add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, {}; @%p1 bra more;
  bar.sync 0; fence.proxy.async;\n",
            SHARED as u32 + (self.registers + of_a + places) * 512,
            self.registers * 512,
            SHARED / 512,
        );
        for register in 0..self.registers {
            text += &format!("  ld.global.b32 %d{register}, [%rd1+{}];\n", register * 512);
        }
        for register in 0..of_a {
            let at = (self.registers + register) * 512;
            text += &format!("  ld.global.b32 %a{register}, [%rd1+{at}];\n");
        }
        let sparsity = match self.selector {
            Some(selector) => {
                let at = (self.registers + of_a) * 512;
                text += &format!("  ld.global.b32 %r7, [%rd1+{at}];\n");
                format!("%r7, {selector}, ")
            }
            None => String::new(),
        };
        text += "  mov.u32 %r6, s; shr.u32 %r6, %r6, 4; cvt.u64.u32 %rd6, %r6;\n";
        let a = match self.a {
            Some(a) => {
                text += &format!("  mov.b64 %rd7, {a:#x}; add.u64 %rd7, %rd7, %rd6;\n");
                "%rd7".to_string()
            }
            None => list("a", 4),
        };
        let tail = match self.tail {
            "" => String::new(),
            tail => format!(", {tail}"),
        };
        let (d, adds) = (list("d", self.registers), u32::from(self.adds));
        text += &format!(
            "  mov.b64 %rd8, {:#x}; add.u64 %rd8, %rd8, %rd6;
  setp.ne.b32 %p2, {adds}, 0;
  wgmma.fence.sync.aligned;
  {} {d}, {a}, %rd8, {sparsity}%p2{tail};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;\n",
            self.b, self.instruction
        );
        for register in 0..self.registers {
            text += &format!("  st.global.b32 [%rd2+{}], %d{register};\n", register * 512);
        }
        text + "  ret;\n}\n"
    }
}

#[test]
fn results_are_those_of_the_hardware() {
    let rows = rows();
    assert!(rows.len() > 50, "{}", rows.len());
    let cases: Vec<Case> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| Case {
            name: row.name,
            kernel: row.kernel(index),
            input: row.input(),
            trials: row.trials,
            output_bytes: row.trials as usize * row.registers as usize * 512,
            sum: row.sum,
        })
        .collect();
    assert_results(HEADER, THREADS, &cases);
}
