//! Accesses that are done for a whole warp at once are those that are looked at lane by lane, which a run with
//! the race checker does: random programs, whose lanes lie in rows, at one place, in halves, backwards, or
//! anyhow, give the same results and the same counters both ways.

mod common;

use std::fmt::Write;

use cdp_emulator::{Checks, Completion, Config};
use common::{HEADER, config, load_with};

/// Programs.
const PROGRAMS: u64 = 200;
/// Bytes of shared memory and of global memory that a program works in.
const BYTES: u32 = 4096;
/// Rounds of each program's loop: after some it is known that all shared memory was written.
const ROUNDS: u32 = 40;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u32) as usize]
    }
}

/// Offsets of 32 lanes, multiples of `unit`, below 2048.
fn pattern(random: &mut Random, unit: u32) -> Vec<u32> {
    let start = random.below(128) * 8;
    let kind = random.below(8);
    let place = |lane: u32, random: &mut Random| match kind {
        0 => lane * unit,
        1 => 0,
        2 => lane % 16 * unit,
        3 => lane / 16 * 64,
        4 => (31 - lane) * unit,
        5 => lane / 8 * 128 + lane % 8 * unit,
        6 => lane * 16,
        _ => random.below(1024 / unit) * unit,
    };
    (0..32).map(|lane| start + place(lane, random)).collect()
}

/// One instruction of the loop.
fn instruction(random: &mut Random) -> String {
    let (narrow, wide) = (format!("%r{}", random.below(5)), format!("%d{}", random.below(3)));
    let imm = random.below(128) * 8;
    // Words through rows of words or doublewords, doublewords through those of doublewords.
    let (ty, register, suffix) = match random.below(3) {
        0 => ("b64", wide.as_str(), "8"),
        1 => ("b32", narrow.as_str(), "8"),
        _ => ("b32", narrow.as_str(), "4"),
    };
    let space = random.pick(&["shared", "shared", "global"]);
    let base = match space {
        "shared" => random.pick(&["%s", "%sw"]),
        _ => random.pick(&["%g"]),
    };
    let store = random.below(3) == 0;
    let at = format!("[{base}{suffix}+{imm}]");
    match random.below(12) {
        0 => format!("add.u32 %r{}, %r{}, {narrow};", random.below(5), random.below(5)),
        1 => format!("xor.b64 %d{}, %d{}, {wide};", random.below(3), random.below(3)),
        2 => format!("@%p add.u32 {narrow}, {narrow}, 3;"),
        // Another row of addresses from here on.
        3 => "xor.b32 %s8, %s8, 64;".to_string(),
        4 => "xor.b64 %sw4, %sw4, 128;".to_string(),
        5 => format!("@%p ld.shared.b32 {narrow}, [%s4+{imm}];"),
        6 => "bar.sync 0;".to_string(),
        _ if store => format!("st.{space}.{ty} {at}, {register};"),
        _ => format!("ld.{space}.{ty} {register}, {at};"),
    }
}

fn program(random: &mut Random) -> String {
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 data, .param .u64 out)\n{{\n\
         .reg .b32 %r<8>, %s4, %s8, %lane, %n, %at;\n.reg .b64 %d<8>, %sw4, %sw8, %g4, %g8, %data, %out, %w;\n\
         .reg .pred %p, %q;\n.shared .align 16 .b8 memory[{BYTES}];\n\
         ld.param.u64 %data, [data];\nld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\n\
         mul.wide.u32 %w, %lane, 4;\nadd.u64 %g4, %data, %w;\n\
         ld.global.u32 %s4, [%g4+{BYTES}];\nld.global.u32 %s8, [%g4+{}];\n\
         cvt.u64.u32 %sw4, %s4;\ncvt.u64.u32 %sw8, %s8;\n\
         add.u64 %g4, %data, %sw4;\nadd.u64 %g8, %data, %sw8;\n\
         and.b32 %at, %lane, 5;\nsetp.eq.u32 %p, %at, 1;\nmov.u32 %n, memory;\nmad.lo.u32 %at, %lane, 4, %n;\n",
        BYTES + 128
    );
    for step in 0..BYTES / 128 {
        writeln!(text, "st.shared.u32 [%at+{}], %at;", step * 128).unwrap();
    }
    for register in 0..5 {
        writeln!(text, "mad.lo.u32 %r{register}, %lane, {}, 7;", register * 77 + 1).unwrap();
        writeln!(text, "cvt.u64.u32 %d{register}, %r{register};").unwrap();
    }
    text.push_str("mov.u32 %n, 0;\nL:\n");
    for _ in 0..12 + random.below(24) {
        text.push_str(&instruction(random));
        text.push('\n');
    }
    writeln!(text, "add.u32 %n, %n, 1;\nsetp.lt.u32 %q, %n, {ROUNDS};\n@%q bra L;").unwrap();
    text.push_str("mul.wide.u32 %w, %lane, 64;\nadd.u64 %out, %out, %w;\n");
    for register in 0..5 {
        writeln!(text, "st.global.u32 [%out+{}], %r{register};", register * 4).unwrap();
        writeln!(text, "st.global.u64 [%out+{}], %d{register};", 24 + register * 8).unwrap();
    }
    text.push_str("ret;\n}\n");
    text
}

/// What a program leaves behind, and what was counted.
fn outcome(text: &str, patterns: &[u32], races: bool) -> (Vec<u8>, Vec<u8>, String) {
    let config = Config { checks: Checks { races, ..Checks::default() }, ..config() };
    let mut bench = load_with(&[("whole.ptx", text)], config).unwrap();
    let (data, out) = (bench.device.alloc(8192).unwrap(), bench.device.alloc(4096).unwrap());
    let words = (0..BYTES / 4).map(|word| word.wrapping_mul(0x0101_0101));
    let bytes: Vec<u8> =
        words.chain(patterns.iter().copied()).flat_map(|word| word.to_le_bytes()).collect();
    bench.write(data, &bytes);
    let params: Vec<u8> = [data, out].iter().flat_map(|address| address.to_le_bytes()).collect();
    bench.launch("k", 1, 32, &params).unwrap();
    let completion = bench.device.synchronize().unwrap();
    assert!(matches!(completion, Completion::Done), "{completion:?}\n{text}");
    let counters = format!("{:?}", bench.device.profile()[0].counters);
    (bench.read(data, BYTES as usize), bench.read(out, 2048), counters)
}

#[test]
fn whole_warps_do_what_single_lanes_do() {
    for seed in 0..PROGRAMS {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234);
        let mut patterns = pattern(&mut random, 4);
        patterns.extend(pattern(&mut random, 8));
        let text = program(&mut random);
        let (plain, checked) = (outcome(&text, &patterns, false), outcome(&text, &patterns, true));
        assert_eq!(plain.2, checked.2, "counters of program {seed}\n{text}");
        assert!(plain.0 == checked.0 && plain.1 == checked.1, "program {seed}\n{text}");
    }
}

/// A lane outside of its memory is found and named, whatever the others do.
#[test]
fn one_lane_outside_is_found() {
    for (space, first) in [("shared", "memory"), ("global", "%data")] {
        let mov = if space == "shared" { "mov.u64 %a, memory;" } else { "mov.u64 %a, %data;" };
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 data)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %a, %w, %data;\n\
             .reg .pred %p;\n.shared .align 16 .b8 memory[256];\nld.param.u64 %data, [data];\n\
             mov.u32 %r1, %tid.x;\nmul.wide.u32 %w, %r1, 4;\n{mov}\nadd.u64 %a, %a, %w;\n\
             setp.eq.u32 %p, %r1, 19;\n@%p add.u64 %a, %a, 4096;\nst.{space}.u32 [%a], %r1;\nret;\n}}\n"
        );
        let mut bench = load_with(&[("outside.ptx", text.as_str())], config()).unwrap();
        let data = bench.device.alloc(256).unwrap();
        bench.launch("k", 1, 32, &data.to_le_bytes()).unwrap();
        let report = bench.finish().expect_err(first);
        let site = report.site.as_ref().expect("a place");
        assert_eq!(site.thread, [19, 0, 0], "{report}");
    }
}

/// Warps whose lanes are together have turns of their own kind, which a run that looks at siblings has not: what
/// they do in which order, and what is counted, is the same, whether all of a block come to a barrier or some have
/// ended, lanes part on the way or not, and where the barrier is not the first one.
#[test]
fn turns_of_whole_warps_come_in_the_order_of_others() {
    let kernel = |barrier: &str, between: &str| {
        format!(
            "{HEADER}.visible .entry k(.param .u64 data)\n{{\n.reg .b32 %r<9>, %n, %at, %warp, %lane;\n\
             .reg .b64 %data, %w, %a;\n.reg .pred %p, %q, %one;\nld.param.u64 %data, [data];\n\
             mov.u32 %r0, %tid.x;\nshr.u32 %warp, %r0, 5;\nand.b32 %lane, %r0, 31;\n\
             setp.eq.u32 %one, %lane, 0;\nmov.u32 %n, 0;\nL:\n@!%one bra OVER;\n\
             atom.global.add.u32 %at, [%data], 1;\nmul.wide.u32 %w, %at, 4;\nadd.u64 %a, %data, %w;\n\
             st.global.u32 [%a+4], %warp;\nOVER:\n{between}\n{barrier}\nadd.u32 %n, %n, 1;\n\
             @%one add.u32 %n, %n, 0;\nsetp.lt.u32 %q, %n, 7;\n@%q bra L;\nret;\n}}\n"
        )
    };
    let ends = "setp.eq.u32 %p, %warp, 2;\n@%p bra THERE;\nbra ON;\nTHERE:\nret;\nON:";
    let parts = "setp.lt.u32 %p, %lane, 7;\n@%p bra THERE;\nadd.u32 %r1, %lane, 1;\nTHERE:";
    for between in ["", ends, parts] {
        for barrier in ["bar.sync 0;", "bar.sync 3;", "bar.sync 1;\nbar.sync 1;", ""] {
            let text = kernel(barrier, between);
            let outcome = |siblings| {
                let config =
                    Config { checks: Checks { siblings, ..Checks::default() }, ..config() };
                let mut bench = load_with(&[("turns.ptx", text.as_str())], config).unwrap();
                let data = bench.device.alloc(1024).unwrap();
                bench.write(data, &[0; 1024]);
                bench.launch("k", 2, 160, &data.to_le_bytes()).unwrap();
                bench.finish().unwrap();
                let counters = format!("{:?}", bench.device.profile()[0].counters);
                (bench.read(data, 1024), counters)
            };
            assert_eq!(outcome(false), outcome(true), "{text}");
        }
    }
}
