//! Compares the arithmetic of the CPU device with that of a GPU.
//!
//! `crosscheck emit DIR` writes `DIR/arith.ptx` and `DIR/operands.bin`. On the machine with the
//! GPU, run every kernel of the assembled module and concatenate the results to one file.
//! `crosscheck compare DIR RESULTS` runs the same here, prints what differs, and writes
//! `DIR/expected.txt`: a line of checksum and instruction for `tests/data/expected.txt`.

use std::fmt::Write as _;

use cdp_emulator::{Completion, Config, Emulator, Launch, Source, StreamId};

#[path = "../../tests/common/instructions.rs"]
mod instructions;

use instructions::{COUNT, lines, module, operands};

type Anyhow<T> = Result<T, Box<dyn std::error::Error>>;

/// Results of every kernel on the CPU device.
fn run_here() -> Anyhow<Vec<Vec<u64>>> {
    let lines = lines();
    let text = module(&lines);
    let mut device = Emulator::new(Config { host_threads: 1, ..Config::default() })?;
    let module = device.load(&[Source { name: "arith.ptx", text: &text }])?;
    let input = device.alloc(COUNT as u64 * 24)?;
    let output = device.alloc(COUNT as u64 * 8)?;
    let _ = device.copy_to_device(input, &operands(), StreamId::NULL)?;
    let params: Vec<u8> = [input, output].iter().flat_map(|p| p.to_le_bytes()).collect();
    let mut all = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let kernel = device.kernel(module, &format!("k{index}"))?;
        let launch = Launch {
            kernel,
            grid: [COUNT as u32 / 128, 1, 1],
            block: [128, 1, 1],
            shared_bytes: 0,
            stream: StreamId::NULL,
            params: &params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        };
        device.launch(&launch)?;
        let mut bytes = vec![0; COUNT * 8];
        match device.copy_from_device(&mut bytes, output, StreamId::NULL)? {
            Completion::Done => {}
            other => return Err(format!("{line}: {other:?}").into()),
        }
        all.push(words(&bytes));
    }
    Ok(all)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect()
}

/// Units in the last place between two results; NaNs are all equal.
fn distance(line: &str, a: u64, b: u64) -> u64 {
    let width = if line.contains("%ld") {
        64
    } else if line.contains("%hd") {
        16
    } else {
        32
    };
    let (man, exp) = match width {
        64 => (52, 11),
        16 => (10, 5),
        _ => (23, 8),
    };
    let magnitude = |v: u64| v & ((1u64 << (man + exp)) - 1);
    let infinity = ((1u64 << exp) - 1) << man;
    if magnitude(a) > infinity && magnitude(b) > infinity {
        return 0;
    }
    let order = |v: u64| if v == magnitude(v) { v as i64 } else { -(magnitude(v) as i64) };
    order(a).abs_diff(order(b))
}

/// FNV-1a.
fn checksum(values: &[u64]) -> u64 {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn main() -> Anyhow<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["emit", dir] => {
            std::fs::create_dir_all(dir)?;
            std::fs::write(format!("{dir}/arith.ptx"), module(&lines()))?;
            std::fs::write(format!("{dir}/operands.bin"), operands())?;
        }
        ["compare", dir, results] => {
            let (here, there) = (run_here()?, words(&std::fs::read(results)?));
            let input = words(&operands());
            let mut expected = String::new();
            for ((line, ours), theirs) in lines().iter().zip(&here).zip(there.chunks(COUNT)) {
                writeln!(expected, "{:016x} {line}", checksum(theirs))?;
                let different: Vec<usize> = (0..COUNT).filter(|&i| ours[i] != theirs[i]).collect();
                if different.is_empty() {
                    continue;
                }
                if line.starts_with('~') {
                    let worst = different.iter().map(|&i| distance(line, ours[i], theirs[i])).max();
                    println!("{line}  at most {} units in the last place", worst.unwrap_or(0));
                    continue;
                }
                println!("{line}  {} differ", different.len());
                for &i in different.iter().take(3) {
                    let [a, b, c] = [input[3 * i], input[3 * i + 1], input[3 * i + 2]];
                    println!(
                        "    a={a:x} b={b:x} c={c:x}: here {:x}, there {:x}",
                        ours[i], theirs[i]
                    );
                }
            }
            std::fs::write(format!("{dir}/expected.txt"), expected)?;
        }
        _ => return Err("usage: crosscheck emit DIR | compare DIR RESULTS".into()),
    }
    Ok(())
}
