//! What ptxas takes wrongly: random expressions of PTX, assembled without optimisation and with it, must give the same on a GPU,
//! and what the CPU device gives.
//!
//! Faults that are known ([`known`]) are counted, the others shown. Compilers are not asked: an expression may be one that no
//! compiler writes. What `cdpc` writes otherwise since, and what it does not write, is in `compiler/docs/facts.md`.

mod expression;
mod known;
mod operations;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cdp_runtime::gpu::GpuDevice;
use cdp_runtime::{CopyKind, Device, ModuleImage};

use self::expression::{Expression, THREADS, expression, inputs, kernel};
use self::operations::{Operation, operations};
use crate::judge::output;
use crate::random::Random;
use crate::run::{cpu_device, one_block};

/// What to look for, and how long.
#[derive(Clone, Debug)]
pub struct Search {
    /// ptxas.
    pub ptxas: PathBuf,
    /// The GPU's architecture, as `sm_90`.
    pub arch: String,
    /// The first kernel's number.
    pub seed: u64,
    /// How long.
    pub time: Duration,
    /// Where files are written.
    pub work: PathBuf,
}

/// Expressions of one kernel.
const EXPRESSIONS: usize = 150;

/// Looks for expressions that ptxas takes wrongly, and says whether there was none that is not known.
///
/// # Errors
/// When there is no GPU, or ptxas does not start or refuses a kernel.
pub fn search(search: &Search) -> Result<bool, String> {
    std::fs::create_dir_all(&search.work)
        .map_err(|error| format!("{}: {error}", search.work.display()))?;
    let gpu = GpuDevice::open(0).map_err(|error| error.to_string())?;
    let cpu = cpu_device()?;
    let operations = operations();
    let begun = Instant::now();
    let (mut seed, mut found) = (search.seed, Found::default());
    while begun.elapsed() < search.time {
        let all = expressions(&operations, seed);
        let ptx = kernel(&all, &search.arch);
        let on_gpu = |level| {
            on(&gpu, &ModuleImage { cubin: &assemble(search, &ptx, level)?, ptx: &[] }, all.len())
        };
        let (plain, optimised) = (on_gpu("-O0")?, on_gpu("-O3")?);
        let emulated = emulate(&cpu, &ptx, all.len())?;
        for (at, expression) in all.iter().enumerate() {
            let part = |words: &[u64]| words[at * THREADS..(at + 1) * THREADS].to_vec();
            let wanted = part(&plain);
            let known = known::kind(&expression.lines);
            let name = format!("{seed}.{at}");
            found.compare(&name, expression, &wanted, ("ptxas -O3", &part(&optimised)), known);
            found.compare(&name, expression, &wanted, ("the CPU device", &part(&emulated)), None);
        }
        seed += 1;
    }
    for (kind, count) in &found.known {
        println!("known, {kind}: {count}");
    }
    let count = (seed - search.seed) as usize * EXPRESSIONS;
    let (first, others) = (search.seed, found.others);
    println!("{count} expressions from kernel {first}, {others} that are not known");
    Ok(others == 0)
}

/// The expressions of which two ways gave something else.
#[derive(Default)]
struct Found {
    /// How often each known fault may be why.
    known: BTreeMap<&'static str, usize>,
    /// How many others.
    others: usize,
}

impl Found {
    /// Compares what an expression gave with what it gives without optimisation, and shows it if no known fault may be why.
    fn compare(
        &mut self,
        name: &str,
        expression: &Expression,
        wanted: &[u64],
        (way, words): (&str, &[u64]),
        known: Option<&'static str>,
    ) {
        let Some(thread) = (0..THREADS).find(|thread| wanted[*thread] != words[*thread]) else {
            return;
        };
        if let Some(kind) = known {
            *self.known.entry(kind).or_default() += 1;
            return;
        }
        self.others += 1;
        let (wanted, word) = (wanted[thread], words[thread]);
        let text = expression.lines.join(" ");
        println!("{name}, thread {thread}: ptxas -O0 {wanted:#x}, {way} {word:#x}: {text}");
    }
}

/// The expressions of a kernel.
fn expressions(operations: &[Operation], seed: u64) -> Vec<Expression> {
    let mut random = Random::new(seed);
    (0..EXPRESSIONS).map(|_| expression(operations, &mut random)).collect()
}

fn assemble(search: &Search, ptx: &str, level: &str) -> Result<Vec<u8>, String> {
    let file = |name: &str| search.work.join(name);
    let failed = |path: &Path, error| format!("{}: {error}", path.display());
    let (source, cubin) = (file("expressions.ptx"), file("expressions.cubin"));
    std::fs::write(&source, ptx).map_err(|error| failed(&source, error))?;
    let mut command = Command::new(&search.ptxas);
    command.arg(format!("-arch={}", search.arch)).arg(level).arg(&source).arg("-o").arg(&cubin);
    output(&mut command)??;
    std::fs::read(&cubin).map_err(|error| failed(&cubin, error))
}

fn emulate(device: &dyn Device, ptx: &str, count: usize) -> Result<Vec<u64>, String> {
    on(device, &ModuleImage { cubin: &[], ptx: &[("expressions", ptx.as_bytes())] }, count)
}

/// What a kernel of so many expressions gives on a device.
fn on(device: &dyn Device, image: &ModuleImage<'_>, count: usize) -> Result<Vec<u64>, String> {
    let say = |doing: &'static str| move |error| format!("{doing}: {error}");
    let given = inputs();
    let mut words = vec![0u64; count * THREADS];
    let bytes = words.len() as u64 * 8;
    let module = device.load_module(image).map_err(say("loading"))?;
    let kernel = device.kernel(module, "expressions").map_err(say("looking up"))?;
    let input = device.allocate(given.len() as u64).map_err(say("allocating"))?;
    let out = device.allocate(bytes).map_err(say("allocating"))?;
    let config = one_block(THREADS);
    // SAFETY: memory of the device and of the host is as long as what is copied and set, copies are made before the calls return,
    // and the kernel reads and writes what it is given, `THREADS` inputs and as many words for each expression.
    unsafe {
        device
            .copy(input, given.as_ptr() as u64, given.len() as u64, CopyKind::HostToDevice, None)
            .map_err(say("copying"))?;
        device.fill(out, 0, bytes, None).map_err(say("filling"))?;
        device
            .launch(kernel, &config, &[&input.to_ne_bytes(), &out.to_ne_bytes()])
            .map_err(say("launching"))?;
        device.synchronize().map_err(say("running"))?;
        device
            .copy(words.as_mut_ptr() as u64, out, bytes, CopyKind::DeviceToHost, None)
            .map_err(say("copying"))?;
    }
    for memory in [input, out] {
        device.free(memory).map_err(say("freeing"))?;
    }
    device.unload_module(module).map_err(say("unloading"))?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_run_on_the_cpu_device() {
        let (operations, device) = (operations(), cpu_device().unwrap());
        for seed in 0..4 {
            let all = expressions(&operations, seed);
            let words = emulate(&device, &kernel(&all, "sm_90"), all.len()).unwrap();
            let differing = words
                .chunks(THREADS)
                .filter(|part| part.iter().any(|word| *word != part[0]))
                .count();
            assert!(differing > all.len() / 2, "{differing} of {} depend on inputs", all.len());
        }
    }

    #[test]
    fn every_operation_comes_up() {
        let operations = operations();
        let text: String = (0..60)
            .flat_map(|seed| expressions(&operations, seed))
            .map(|all| all.lines.join("\n") + "\n")
            .collect();
        for operation in &operations {
            let begin = operation
                .text
                .split(['$', ';'])
                .next()
                .unwrap_or_default()
                .trim_start_matches('{')
                .trim_end();
            assert!(text.contains(begin), "{begin} never comes up");
        }
    }
}
