//! Runs kernels of PTX files without parameters: `run_ptx FILE... KERNEL GRID BLOCK [THREADS]`.
//! A small tool for looking at what the CPU device does with a PTX text.

use std::process::ExitCode;

use cdp_emulator::{Completion, Config, Emulator, Launch, Source, StreamId};

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let files: Vec<&String> = args.iter().take_while(|a| a.ends_with(".ptx")).collect();
    let [kernel, grid, block, rest @ ..] = &args[files.len()..] else {
        return Err("usage: run_ptx FILE.ptx... KERNEL GRID BLOCK [HOST_THREADS]".into());
    };
    let texts: Vec<String> = files.iter().map(std::fs::read_to_string).collect::<Result<_, _>>()?;
    let sources: Vec<Source<'_>> =
        files.iter().zip(&texts).map(|(name, text)| Source { name, text }).collect();
    let host_threads = rest.first().map_or(Ok(1), |n| n.parse())?;
    let mut device = Emulator::new(Config { host_threads, ..Config::default() })?;
    let module = device.load(&sources)?;
    let kernel = device.kernel(module, kernel)?;
    let params = vec![0; device.kernel_info(kernel)?.param_bytes as usize];
    device.launch(&Launch {
        kernel,
        grid: [grid.parse()?, 1, 1],
        block: [block.parse()?, 1, 1],
        shared_bytes: 0,
        stream: StreamId::NULL,
        params: &params,
        cooperative: false,
        programmatic: false,
        cluster: None,
    })?;
    let completion = device.synchronize()?;
    print!("{}", String::from_utf8_lossy(&device.take_output()));
    for report in device.take_reports() {
        eprintln!("{report}");
    }
    match completion {
        Completion::Done => Ok(()),
        _ => Err("the program faulted".into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
