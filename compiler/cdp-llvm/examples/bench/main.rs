//! Measures the CPU device: thread-instructions a second of compute-bound kernels and grids a
//! second of a launch tree, with the default checks on. Arguments: names of benchmarks; none for
//! all. `HOST_THREADS` sets the number of host threads (default 1), `CHECK_RACES=1` turns the race
//! checker on. `NATIVE=often` has machine code made as `cdpc run` does, beside the kernel that is measured;
//! `NATIVE=ready` runs each kernel once before it is measured, in which all of its code is made.
//!
//! The kernels are in `bench.cu`; `bench.ptx` is made by `nvcc -ptx -rdc=true -arch=sm_90 bench.cu`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cdp_emulator::native::{Maker, Native};
use cdp_emulator::{
    Checks, Completion, Config, Emulator, Launch, Limits, ModuleId, Source, StreamId,
};

/// A kernel is launched again and again for so long, so that what the first launch pays once hardly counts.
const LEAST: Duration = Duration::from_millis(100);

struct Bench {
    device: Emulator,
    module: ModuleId,
    /// A kernel runs before it is measured.
    twice: bool,
}

/// Makes code in this process.
#[derive(Debug)]
struct Llvm;

/// Held while code is made: the end of the process takes away what LLVM works with.
static MAKING: Mutex<()> = Mutex::new(());

impl Maker for Llvm {
    fn make(&self, run: &str) -> Option<Vec<u8>> {
        let _one = MAKING.lock().expect("code of the run before");
        let worth = cdp_llvm::native::is_worth_it(run);
        worth.then(|| cdp_llvm::native::make(run).expect("code of a run")).flatten()
    }
}

impl Bench {
    fn new() -> Bench {
        let host_threads =
            std::env::var("HOST_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
        let limits = Limits { pending_launches: 1 << 20, ..Limits::default() };
        let races = std::env::var_os("CHECK_RACES").is_some();
        let checks = Checks { races, ..Checks::default() };
        let wanted = std::env::var("NATIVE").ok();
        let twice = wanted.as_deref() == Some("ready");
        let native = wanted.map(|_| Native { maker: Arc::new(Llvm), at_once: twice });
        let config = Config { host_threads, limits, checks, native, ..Config::default() };
        let mut device = Emulator::new(config).expect("address space for the device");
        let source = Source { name: "bench.ptx", text: include_str!("bench.ptx") };
        let module = device.load(&[source]).expect("bench.ptx");
        Bench { device, module, twice }
    }

    /// Runs one kernel, for [`LEAST`] at least, and prints the speed of a launch.
    fn run(&mut self, kernel: &str, grid: [u32; 3], block: [u32; 3], params: &[u8]) {
        if self.twice {
            self.launch(kernel, grid, block, params);
        }
        let (before, grids) = self.counted();
        let (start, cpu_before) = (Instant::now(), processor_seconds());
        let mut launches = 0.0;
        while launches == 0.0 || start.elapsed() < LEAST {
            self.launch(kernel, grid, block, params);
            launches += 1.0;
        }
        let seconds = start.elapsed().as_secs_f64() / launches;
        let processor = (processor_seconds() - cpu_before) / launches;
        let (after, grids_after) = self.counted();
        let millions = (after - before) as f64 / 1e6 / launches;
        println!(
            "{kernel:14} {:8.1} ms  {millions:8.1} M thread-instructions  {:8.1} M/s  {:9.0} grids/s  {:8.2} cpu-ms",
            seconds * 1e3,
            millions / seconds,
            (grids_after - grids) as f64 / launches / seconds,
            processor * 1e3,
        );
    }

    fn launch(&mut self, kernel: &str, grid: [u32; 3], block: [u32; 3], params: &[u8]) {
        let id = self.device.kernel(self.module, kernel).expect("kernel");
        let launch = Launch {
            kernel: id,
            grid,
            block,
            shared_bytes: 0,
            stream: StreamId::NULL,
            params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        };
        self.device.launch(&launch).expect("launch");
        match self.device.synchronize().expect("synchronize") {
            Completion::Done => {}
            other => panic!("{kernel}: {other:?}"),
        }
    }

    fn counted(&self) -> (u64, u64) {
        let profile = self.device.profile();
        let instructions = profile.iter().map(|k| k.counters.thread_instructions).sum();
        (instructions, profile.iter().map(|k| k.launches).sum())
    }
}

/// Seconds of processor time of this thread, which alone works if there is one host thread; 0 where the system
/// does not say. (`/proc/self/schedstat` may lag by a tick of the scheduler, which is a fifth of what some kernels take.)
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time` alone.
    match unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } {
        0 => time.tv_sec as f64 + time.tv_nsec as f64 / 1e9,
        _ => 0.0,
    }
}

fn bytes(values: &[u64], ints: &[u32]) -> Vec<u8> {
    let mut out: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    out.extend(ints.iter().flat_map(|v| v.to_le_bytes()));
    out
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let all = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let mut bench = Bench::new();
    let buffer = |bench: &mut Bench, size| bench.device.alloc(size).expect("device memory");
    let n = 256u32;
    let size = u64::from(n * n * 4);
    let (a, b, c) = (buffer(&mut bench, size), buffer(&mut bench, size), buffer(&mut bench, size));
    if all("matmul") {
        bench.run("matmul", [n / 32, n / 8, 1], [32, 8, 1], &bytes(&[a, b, c], &[n]));
    }
    if all("matmul_tiled") {
        bench.run("matmul_tiled", [n / 16, n / 16, 1], [16, 16, 1], &bytes(&[a, b, c], &[n]));
    }
    if all("mandelbrot") {
        let out = buffer(&mut bench, 512 * 512 * 4);
        bench.run("mandelbrot", [16, 64, 1], [32, 8, 1], &bytes(&[out], &[512, 512, 256]));
    }
    if all("saxpy") {
        let n = 1 << 22;
        let (x, y) = (buffer(&mut bench, 4 * n), buffer(&mut bench, 4 * n));
        let mut params = bytes(&[], &[n as u32, 2f32.to_bits()]);
        params.extend(bytes(&[x, y], &[]));
        // Once before, so that the memory is there.
        bench.launch("saxpy", [(n / 256) as u32, 1, 1], [256, 1, 1], &params);
        bench.run("saxpy", [(n / 256) as u32, 1, 1], [256, 1, 1], &params);
    }
    if all("reduce") {
        let (input, out) = (buffer(&mut bench, 16 << 20), buffer(&mut bench, 8));
        bench.run("reduce", [64, 1, 1], [256, 1, 1], &bytes(&[input, out], &[4 << 20]));
    }
    if all("tree") {
        let count = buffer(&mut bench, 4);
        let mut params = 16u32.to_le_bytes().to_vec();
        params.extend([0; 4]);
        params.extend(count.to_le_bytes());
        bench.run("tree", [1, 1, 1], [2, 1, 1], &params);
    }
    if all("forked_tree") {
        let count = buffer(&mut bench, 4);
        let mut params = 16u32.to_le_bytes().to_vec();
        params.extend([0; 4]);
        params.extend(count.to_le_bytes());
        bench.run("forked_tree", [1, 1, 1], [2, 1, 1], &params);
    }
    if all("working_tree") {
        let (out, count) = (buffer(&mut bench, 1 << 10), buffer(&mut bench, 4));
        let mut params = 10u32.to_le_bytes().to_vec();
        params.extend([0; 4]);
        params.extend(out.to_le_bytes());
        params.extend(count.to_le_bytes());
        bench.run("working_tree", [2, 1, 1], [128, 1, 1], &params);
    }
    let out = buffer(&mut bench, 1 << 16);
    if all("calls") {
        bench.run("calls", [64, 1, 1], [128, 1, 1], &bytes(&[out], &[500]));
    }
    if all("recursion") {
        bench.run("recursion", [16, 1, 1], [128, 1, 1], &bytes(&[out], &[14]));
    }
    std::mem::forget(MAKING.lock());
}
