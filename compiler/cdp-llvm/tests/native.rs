//! Native code of runs against the interpreter: random programs give the same memory, the same counts and the
//! same report, bit for bit.

#![cfg(target_arch = "x86_64")]

mod programs;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cdp_emulator::native::{Maker, Native};
use cdp_emulator::{Completion, Config, Counters, Emulator, Launch, Source, StreamId};
use cdp_llvm::native::Vectors;
use programs::*;

/// Makes code, and counts how often.
#[derive(Debug)]
struct Llvm {
    /// For these vectors.
    vectors: Vectors,
    made: AtomicUsize,
    /// Those that pass a branch.
    passing: AtomicUsize,
    /// Those that know of some addresses that they are a row.
    stepping: AtomicUsize,
}

impl Llvm {
    /// One for each kind of vectors that this processor has.
    fn all() -> Vec<Arc<Llvm>> {
        let mut all = vec![Vectors::Avx2];
        all.extend(Some(Vectors::of_this()).filter(|vectors| *vectors != Vectors::Avx2));
        let one = |vectors| Llvm {
            vectors,
            made: Default::default(),
            passing: Default::default(),
            stepping: Default::default(),
        };
        all.into_iter().map(|vectors| Arc::new(one(vectors))).collect()
    }
}

impl Maker for Llvm {
    fn make(&self, run: &str) -> Option<Vec<u8>> {
        let made = cdp_llvm::native::make_for(run, self.vectors);
        let ir = || cdp_llvm::native::ir(run, self.vectors).unwrap_or_default();
        let code = made.unwrap_or_else(|error| panic!("{error}\n{run}\n{}", ir()))?;
        self.made.fetch_add(1, Ordering::Relaxed);
        self.stepping.fetch_add(
            usize::from(ir().lines().any(|line| line.starts_with('t') && line.ends_with("in:"))),
            Ordering::Relaxed,
        );
        self.passing.fetch_add(usize::from(run.contains("\nbranch ")), Ordering::Relaxed);
        Some(code)
    }
}

/// What there is after a run.
#[derive(Debug, PartialEq)]
struct Outcome {
    completion: String,
    buffer: Vec<u8>,
    results: Vec<u8>,
    counters: Vec<Counters>,
}

fn run(text: &str, input: &[u8], block: [u32; 3], native: Option<Native>) -> Outcome {
    let config = Config { host_threads: 1, native, ..Config::default() };
    let mut device = Emulator::new(config).unwrap();
    let module = device.load(&[Source { name: "random.ptx", text }]);
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = device.kernel(module, "k").unwrap();
    let sizes = [input.len() as u64, BLOCKS * WORDS * 4, BLOCKS * THREADS * RESULTS * 4];
    let places = sizes.map(|size| device.alloc(size).unwrap());
    let stream = StreamId::NULL;
    let zeros = [vec![0; sizes[1] as usize], vec![0; sizes[2] as usize]];
    for (at, bytes) in places.iter().zip([input, &zeros[0], &zeros[1]]) {
        assert!(matches!(device.copy_to_device(*at, bytes, stream).unwrap(), Completion::Done));
    }
    let params: Vec<u8> = places.iter().flat_map(|at| at.to_le_bytes()).collect();
    let launch = Launch {
        kernel,
        grid: [BLOCKS as u32, 1, 1],
        block,
        shared_bytes: 0,
        stream,
        params: &params,
        cooperative: false,
        programmatic: false,
        cluster: None,
    };
    device.launch(&launch).unwrap();
    let completion = relative(&format!("{:?}", device.synchronize().unwrap()), places[0]);
    let read = |device: &mut Emulator, n: usize| {
        let mut bytes = vec![0; sizes[n] as usize];
        let _ = device.copy_from_device(&mut bytes, places[n], stream);
        bytes
    };
    let (buffer, results) = (read(&mut device, 1), read(&mut device, 2));
    let counters = device.profile().iter().map(|kernel| kernel.counters).collect();
    Outcome { completion, buffer, results, counters }
}

/// A text with addresses near this one as distances from it: where a device's memory lies depends on what else the
/// process does.
fn relative(text: &str, base: u64) -> String {
    let is_part = |c: char| !c.is_ascii_alphanumeric();
    let distance = |word: &str| {
        let address = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => word.parse().ok()?,
        };
        let distance = address.wrapping_sub(base) as i64;
        (distance.abs() < 1 << 32).then(|| format!("BASE{distance:+}"))
    };
    let words = text.split_inclusive(is_part).map(|word| {
        let bare = word.trim_end_matches(is_part);
        distance(bare).map_or_else(|| word.to_string(), |text| text + &word[bare.len()..])
    });
    words.collect()
}

/// Compares a program with and without native code.
fn compare(makers: &[Arc<Llvm>], name: &str, text: &str, input: &[u8], block: [u32; 3]) {
    let wanted = run(text, input, block, None);
    for maker in makers {
        let native = Native { maker: maker.clone(), at_once: true };
        let found = run(text, input, block, Some(native));
        let name = format!("{name}, {:?}", maker.vectors);
        is_same(&wanted, &found, &name, text, block);
    }
}

fn is_same(wanted: &Outcome, found: &Outcome, name: &str, text: &str, block: [u32; 3]) {
    assert_eq!(wanted.completion, found.completion, "{name}, block {block:?}\n{text}");
    assert_eq!(wanted.counters, found.counters, "{name}, block {block:?}\n{text}");
    let both =
        [("buffer", &wanted.buffer, &found.buffer), ("result", &wanted.results, &found.results)];
    for (what, wanted, found) in both {
        for (at, (wanted, found)) in wanted.chunks(4).zip(found.chunks(4)).enumerate() {
            let (word, thread) = (at as u64 % RESULTS, at as u64 / RESULTS);
            assert_eq!(
                wanted, found,
                "{what} {at}, of thread {thread} {word}, {name}, block {block:?}\n{text}"
            );
        }
    }
}

/// Compares random programs; gives how many runs became native code.
fn compare_mixed(seeds: std::ops::Range<u64>, astray: bool) -> usize {
    made(&compare_all(seeds, |random, length| mixed(random, length, astray)))
}

/// How many runs became native code.
fn made(makers: &[Arc<Llvm>]) -> usize {
    makers.iter().map(|maker| maker.made.load(Ordering::Relaxed)).sum()
}

fn compare_all(
    seeds: std::ops::Range<u64>,
    write: impl Fn(&mut Random, usize) -> String,
) -> Vec<Arc<Llvm>> {
    let makers = Llvm::all();
    for (seed, maker) in seeds.zip(makers.iter().cycle()) {
        let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
        let length = 10 + random.below(60) as usize;
        let text = program(&write(&mut random, length));
        let input = input(&mut random);
        let blocks = [[32, 1, 1], [16, 8, 1], [8, 8, 2], [128, 1, 1], [40, 1, 1]];
        let block = blocks[random.below(5) as usize];
        let maker = std::slice::from_ref(maker);
        compare(maker, &format!("seed {seed}"), &text, &input, block);
    }
    makers
}

#[test]
fn each_operation_gives_the_same_as_in_the_interpreter() {
    let makers = Llvm::all();
    let mut random = Random(1);
    for (number, operations) in ARITHMETIC.chunks((KEPT - REGISTERS) as usize).enumerate() {
        let text = program(&one_by_one(&mut random, operations));
        let input = input(&mut random);
        compare(&makers, &format!("operations {number}"), &text, &input, [128, 1, 1]);
    }
    assert!(made(&makers) > 2 * ARITHMETIC.len() / KEPT as usize);
}

/// Operations one after another of which LLVM could make one that gives another NaN, or a NaN as it was.
const CHAINS: &[&str] = &[
    "cvt.f64.f32 %g11, %f0;\ncvt.rn.f32.f64 %f4, %g11;\n",
    "cvt.f64.f32 %g11, %f1;\ncvt.rn.ftz.f32.f64 %f5, %g11;\n",
    "neg.f64 %g10, %g0;\nneg.f64 %g11, %g1;\nmul.f64 %g4, %g10, %g11;\n",
    "neg.f64 %g11, %g1;\nadd.f64 %g5, %g0, %g11;\nsub.f64 %g6, %g0, %g11;\n",
    "neg.f64 %g10, %g0;\nneg.f64 %g11, %g1;\ndiv.rn.f64 %g7, %g10, %g11;\n",
    "selp.f64 %g11, 0d7FF0000000000001, 0dBFF0000000000000, %p0;\nmul.f64 %g8, %g11, %g0;\nsqrt.rn.f64 %g9, %g11;\n",
    "selp.f32 %f11, 0f7F800001, 0f3F800000, %p1;\ncvt.f64.f32 %g10, %f11;\nmul.f32 %f6, %f11, %f0;\n",
    "sub.f64 %g9, %g2, %g2;\ndiv.rn.f64 %g8, %g3, %g3;\nabs.f64 %g11, %g3;\nneg.f64 %g7, %g11;\n",
    "mov.f64 %g11, 0d3FF0000000000000;\nmul.f64 %g4, %g0, %g11;\ndiv.rn.f64 %g5, %g0, %g11;\nfma.rn.f64 %g6, %g11, %g0, %g1;\n",
];

#[test]
fn chains_of_operations_give_the_same_as_in_the_interpreter() {
    let makers = Llvm::all();
    let mut random = Random(7);
    for chain in CHAINS {
        let text = program(&(inputs() + chain));
        for _ in 0..2 {
            compare(&makers, chain, &text, &input(&mut random), [128, 1, 1]);
        }
    }
    assert!(made(&makers) >= CHAINS.len());
}

/// Addresses of the lanes, by the number of the lane in `%t`, of which the first are where they may be.
const ASTRAY: &[&str] = &[
    // The last eight follow each other, across the end of all addresses.
    "setp.lt.u32 %p1, %t, 24;\nsub.u64 %a, %s, 104;\nselp.b64 %a, %x5, %a, %p1;\n",
    // One of them alone is anywhere.
    "setp.ne.u32 %p1, %t, 17;\nmov.u64 %a, -1024;\nselp.b64 %a, %x5, %a, %p1;\n",
    "setp.ne.u32 %p1, %t, 31;\nmov.u64 %a, 0x7fffffffffffff00;\nselp.b64 %a, %x5, %a, %p1;\n",
    "setp.ne.u32 %p1, %t, 0;\nadd.u64 %a, %x5, 2;\nselp.b64 %a, %x5, %a, %p1;\n",
    // None of them is wrong.
    "mov.u64 %a, %x5;\n",
];

#[test]
fn one_lane_astray_is_enough_for_the_interpreter() {
    let makers = Llvm::all();
    let mut random = Random(9);
    for astray in ASTRAY {
        for (space, base) in [("global", "%buffer"), ("shared", "%x4")] {
            for access in ["ld.SPACE.u32 %r4, [%a];", "st.SPACE.u32 [%a], %r0;"] {
                let access = access.replace("SPACE", space);
                // Where memory lies is no result: two devices have it at different addresses.
                let body = format!(
                    "mov.u64 %x4, near;\nand.b32 %t, %lane, 31;\nmul.wide.u32 %s, %t, 4;\nadd.u64 %x5, {base}, %s;\n\
                     {astray}{access}\nsub.u64 %x5, %x5, {base};\n"
                );
                let text = program(&(inputs() + &body));
                compare(&makers, &body, &text, &input(&mut random), [32, 1, 1]);
            }
        }
    }
    assert!(made(&makers) >= ASTRAY.len() * 4);
}

/// More with `CDP_NATIVE_PROGRAMS`.
#[test]
fn random_programs_give_the_same_as_in_the_interpreter() {
    let count = std::env::var("CDP_NATIVE_PROGRAMS").ok().and_then(|n| n.parse().ok());
    let count = count.unwrap_or(30);
    assert!(compare_mixed(0..count, false) as u64 > 3 * count);
}

#[test]
fn branches_are_passed_where_no_lane_takes_them() {
    let count = std::env::var("CDP_NATIVE_PROGRAMS").ok().and_then(|n| n.parse().ok());
    let count = count.unwrap_or(12);
    let makers = compare_all(2000..2000 + count, branching);
    let sum = |of: fn(&Llvm) -> &AtomicUsize| {
        makers.iter().map(|maker| of(maker).load(Ordering::Relaxed) as u64).sum::<u64>()
    };
    let (passing, stepping) = (sum(|maker| &maker.passing), sum(|maker| &maker.stepping));
    assert!(stepping > count / 4, "{stepping} runs know rows");
    assert!(passing > count, "{passing} runs pass a branch");
}

#[test]
fn accesses_that_go_astray_are_reported_the_same() {
    assert!(compare_mixed(1000..1030, true) > 60);
}
