//! Compiling from memory, many times in one process: how long a call takes, whether threads scale, and
//! whether memory stays flat. `cargo xtask bench memory` runs it and shows its numbers.
//!
//! ```text
//! compile_many [COUNT [MAX_THREADS]]
//!     case NAME MEDIAN MEAN WORST FRONTEND LLVM RESIDENT_EARLY RESIDENT_LATE
//!     threads NUMBER PER_SECOND
//! ```
//!
//! Times in nanoseconds, memory in bytes; a line a case (COUNT calls on one thread; memory after a tenth
//! of them and after all) and a line for each number of threads.

use std::fmt;
use std::time::Instant;

use cdp::{CompileOptions, Compiler, Failure, Goal, Input};

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
struct Measured {
    calls: Vec<u64>,
    frontend: u64,
    llvm: u64,
    resident_early: u64,
    resident_late: u64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut calls = self.calls.clone();
        calls.sort_unstable();
        let count = calls.len().max(1) as u64;
        let median = calls.get(calls.len() / 2).copied().unwrap_or_default();
        let (mean, worst) = (calls.iter().sum::<u64>() / count, calls.last().unwrap_or(&0));
        let (frontend, llvm) = (self.frontend / count, self.llvm / count);
        let Measured { resident_early, resident_late, .. } = self;
        write!(f, "{median} {mean} {worst} {frontend} {llvm} {resident_early} {resident_late}")
    }
}

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (count, max_threads) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(8));
    let compiler = Compiler::without_tools();
    for case in cases(&compiler)? {
        println!("case {} {}", case.name, measure(&compiler, &case.input, count)?);
    }
    let input = Input::source("small.cdp", SMALL);
    for threads in 1..=max_threads {
        println!("threads {threads} {}", throughput(&compiler, &input, count, threads)?);
    }
    Ok(())
}

/// The same module by each door: source, LLVM IR as text, bitcode.
fn cases(compiler: &Compiler) -> Result<Vec<Case>, Failure> {
    use cdp::llvm::inkwell::{context::Context, memory_buffer::MemoryBuffer};
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
    let mut measured =
        Measured { calls: Vec::new(), frontend: 0, llvm: 0, resident_early: 0, resident_late: 0 };
    for call in 1..=count {
        let begun = Instant::now();
        let made = compiler.compile(std::slice::from_ref(input), Goal::Ptx, &options)?;
        measured.calls.push(begun.elapsed().as_nanos() as u64);
        measured.frontend += (made.timings.frontend * 1e9) as u64;
        measured.llvm += (made.timings.llvm * 1e9) as u64;
        if call == count.div_ceil(10) {
            measured.resident_early = resident_bytes();
        }
    }
    measured.resident_late = resident_bytes();
    Ok(measured)
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

/// Resident memory of this process; 0 where it cannot be known.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| {
        let field = text.split_whitespace().nth(1)?;
        field.parse::<u64>().ok()
    });
    // Linux counts in pages of 4 KiB on the machines that CUDA has.
    pages.unwrap_or(0) * 4096
}
