//! Compiling from memory, many times in one process: how long a call takes, whether threads scale, and
//! whether memory stays flat. `cargo xtask bench memory` runs it and shows its numbers.
//!
//! ```text
//! compile_many [COUNT [MAX_THREADS]]
//!     case NAME MEDIAN MEAN WORST CPU RESIDENT_EARLY RESIDENT_LATE
//!     stage NAME MEDIAN
//!     threads NUMBER PER_SECOND
//! ```
//!
//! Times in nanoseconds, memory in bytes. A line a case (COUNT calls on one thread; CPU is the processor
//! time of a call; memory after a tenth of them and after all), a line for each stage of a call from
//! source, a line for each number of threads.

use std::fmt;
use std::time::Instant;

use cdp::{Arch, CompileOptions, Compiler, Failure, Goal, Input, Pass, SourceInput, analyse};
use cdp_llvm::LowerOptions;

/// The small module: two kernels, a launch, a struct.
const SMALL: &str = "
struct Range { float *data; int begin; int end; };

__global__ void scale(Range range, float factor)
{
    int i = range.begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < range.end) {
        range.data[i] *= factor;
    }
}

__global__ void split(Range range, float factor)
{
    if (threadIdx.x == 0) {
        Range half = range;
        half.end = range.begin + (range.end - range.begin) / 2;
        int blocks = (half.end - half.begin + 127) / 128;
        scale<<<blocks, 128>>>(half, factor);
    }
}
";

struct Case {
    name: &'static str,
    input: Input,
}

/// What a case took. In nanoseconds and bytes.
#[derive(Default)]
struct Measured {
    calls: Vec<u64>,
    cpu: u64,
    resident_early: u64,
    resident_late: u64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut calls = self.calls.clone();
        calls.sort_unstable();
        let count = calls.len().max(1) as u64;
        let median = median(&calls);
        let (mean, worst) = (calls.iter().sum::<u64>() / count, calls.last().unwrap_or(&0));
        let Measured { cpu, resident_early, resident_late, .. } = self;
        write!(f, "{median} {mean} {worst} {} {resident_early} {resident_late}", cpu / count)
    }
}

/// Of sorted numbers.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (count, max_threads) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(8));
    let compiler = Compiler::without_tools();
    for case in cases(&compiler)? {
        println!("case {} {}", case.name, measure(&compiler, &case.input, count)?);
    }
    // Guarded once, as in a call: the stages would do it one by one.
    let stages = cdp_llvm::guarded(|| stages(count));
    let stages = stages.map_err(|stopped| bug(&stopped))??;
    for (name, nanoseconds) in stages {
        println!("stage {name} {nanoseconds}");
    }
    let input = Input::source("small.cdp", SMALL);
    for threads in 1..=max_threads {
        println!("threads {threads} {}", throughput(&compiler, &input, count, threads)?);
    }
    Ok(())
}

/// The same module by each door: source, LLVM IR as text, bitcode.
fn cases(compiler: &Compiler) -> Result<Vec<Case>, Failure> {
    use cdp_llvm::inkwell::{context::Context, memory_buffer::MemoryBuffer};
    let source = Input::source("small.cdp", SMALL);
    // `-O0` keeps what a front end would hand over.
    let mut options = CompileOptions::default();
    let _ = options.set("opt-level", "0");
    let made = compiler.compile(std::slice::from_ref(&source), Goal::LlvmIr, &options)?;
    let context = Context::create();
    let text = MemoryBuffer::create_from_memory_range_copy(&made.bytes, "small");
    let bitcode = match context.create_module_from_ir(text) {
        Ok(module) => module.write_bitcode_to_memory().as_slice().to_vec(),
        Err(_) => Vec::new(),
    };
    let ir = Input::llvm("small.ll", made.bytes);
    let bitcode = Input::llvm("small.bc", bitcode);
    Ok(vec![
        Case { name: "source", input: source },
        Case { name: "LLVM-IR", input: ir },
        Case { name: "bitcode", input: bitcode },
    ])
}

fn measure(compiler: &Compiler, input: &Input, count: usize) -> Result<Measured, Failure> {
    let options = CompileOptions::default();
    let mut measured = Measured::default();
    let cpu_before = cpu_nanoseconds();
    for call in 1..=count {
        let begun = Instant::now();
        compiler.compile(std::slice::from_ref(input), Goal::Ptx, &options)?;
        measured.calls.push(begun.elapsed().as_nanos() as u64);
        if call == count.div_ceil(10) {
            measured.resident_early = resident_bytes();
        }
    }
    measured.cpu = cpu_nanoseconds() - cpu_before;
    measured.resident_late = resident_bytes();
    Ok(measured)
}

fn bug(error: &dyn std::error::Error) -> Failure {
    let (place, message) = ("small.cdp".into(), error.to_string());
    cdp::Error::Bug { stage: "measure", place, message }.into()
}

/// Median time of each stage of a call from source.
fn stages(count: usize) -> Result<[(&'static str, u64); 5], Failure> {
    const STAGES: [&str; 5] = ["check", "lower", "optimize", "emit", "free"];
    let mut stages: [Vec<u64>; 5] = Default::default();
    let options = CompileOptions::default();
    for _ in 0..count {
        let mut last = Instant::now();
        let mut mark = |index: usize| {
            let now = Instant::now();
            stages[index].push(now.duration_since(last).as_nanos() as u64);
            last = now;
        };
        let source = SourceInput::text("small.cdp", SMALL);
        let analysis = analyse(&source, Pass::Device(Arch::SM_90), &options)?;
        let Some(module) = &analysis.module else {
            return Err(Failure::Program(vec![analysis.report]));
        };
        mark(0);
        let lower = LowerOptions::new("sm_90", 90, analysis.launch_abi);
        let lowered = cdp_llvm::lower(module, &lower).map_err(|error| bug(&error))?;
        mark(1);
        lowered.optimize().map_err(|error| bug(&error))?;
        mark(2);
        lowered.emit_ptx().map_err(|error| bug(&error))?;
        mark(3);
        drop((lowered, analysis));
        mark(4);
    }
    let mut rows = STAGES.map(|name| (name, 0));
    for (row, times) in rows.iter_mut().zip(&mut stages) {
        times.sort_unstable();
        row.1 = median(times);
    }
    Ok(rows)
}

/// Calls a second, by threads that share the compiler.
fn throughput(
    compiler: &Compiler,
    input: &Input,
    count: usize,
    threads: usize,
) -> Result<f64, Failure> {
    let each = count.div_ceil(threads);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let run = || -> Result<(), Failure> {
            for _ in 0..each {
                let inputs = std::slice::from_ref(input);
                compiler.compile(inputs, Goal::Ptx, &CompileOptions::default())?;
            }
            Ok(())
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        running.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok((each * threads) as f64 / begun.elapsed().as_secs_f64())
}

/// Processor time of this process so far, in Linux's steps of 10 ms; 0 where it cannot be known.
fn cpu_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in parentheses; user and system time are the 14th and 15th.
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 10_000_000
}

/// Resident memory of this process; 0 where it cannot be known.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| {
        let field = text.split_whitespace().nth(1)?;
        field.parse::<u64>().ok()
    });
    // Linux counts in pages of 4 KiB on the machines that CUDA has.
    pages.unwrap_or(0) * 4096
}
