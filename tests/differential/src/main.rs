//! The command behind `cargo xtask fuzz`: makes packs, lets the judges see them, and says what they said.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use cdp_differential::{Disagreement, Judge, Program, generate, gpu, pack, ptx, reduce};
use clap::Parser;

/// Random programs, compiled in several ways, whose outputs must be the same
#[derive(Parser)]
enum Command {
    /// Lets all judges see programs on the CPU device
    Differential(Options),
    /// Writes cubins of cdpc and nvcc, what the CPU device makes of the programs, and a script for a GPU's machine
    GpuBundle {
        #[command(flatten)]
        options: Options,
        /// The folder
        #[arg(long)]
        out: PathBuf,
    },
    /// Has ptxas assemble random expressions of PTX without optimisation and with it, and runs them on this machine's GPU
    Ptx {
        /// ptxas
        #[arg(long, value_name = "FILE", default_value = "ptxas", overrides_with = "ptxas")]
        ptxas: PathBuf,
        /// The GPU's architecture
        #[arg(long, default_value = "sm_90")]
        arch: String,
        /// The first kernel's number; each has 150 expressions
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// How long
        #[arg(long, value_name = "N", default_value_t = 60)]
        seconds: u64,
        /// Where files are written
        #[arg(long, value_name = "DIR")]
        work: PathBuf,
    },
    /// Prints the source of programs
    Source {
        /// The first program's number
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// How many programs
        #[arg(long, default_value_t = 1)]
        count: u64,
    },
    /// Runs the programs of a bundle's cubins on this machine's GPU
    GpuRun {
        /// Cubins, with `NAME.txt` for `NAME-COMPILER.cubin` beside them
        cubins: Vec<PathBuf>,
    },
    /// Writes what programs write, 64 bits a word: of a cubin on this machine's GPU, of PTX on the CPU device
    #[command(hide = true)]
    Words {
        code: PathBuf,
        /// The programs' numbers
        seeds: Vec<u64>,
    },
}

#[derive(clap::Args)]
struct Options {
    /// The first program's number
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// How many programs are one source
    #[arg(long, value_name = "N", default_value_t = 40)]
    pack: u64,
    /// Make programs on which compilers disagree as small as they can be
    #[arg(long)]
    reduce: bool,
    /// The command under test
    #[arg(long, value_name = "FILE", overrides_with = "cdpc")]
    cdpc: PathBuf,
    /// nvcc
    #[arg(long, value_name = "FILE")]
    nvcc: Option<PathBuf>,
    /// clang
    #[arg(long, value_name = "FILE")]
    clang: Option<PathBuf>,
    /// The host's C++ compiler
    #[arg(long, value_name = "FILE")]
    cxx: Option<PathBuf>,
    /// Let this machine's GPU judge as well
    #[arg(long)]
    gpu: bool,
    /// Where files are written: programs that compilers disagree on, and in a folder for each run the rest
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Differential(options) => differential(&options),
        Command::GpuBundle { options, out } => {
            gpu::bundle(&judge(&options), &packs(&options), &out).map(|()| true)
        }
        Command::Ptx { ptxas, arch, seed, seconds, work } => {
            let time = Duration::from_secs(seconds);
            ptx::search(&ptx::Search {
                ptxas,
                arch,
                seed,
                time,
                work: work.join(format!("ptx-{seed}")),
            })
        }
        Command::Source { seed, count } => {
            let programs: Vec<Program> = (seed..seed + count).map(generate).collect();
            print!("{}", pack::source(&programs));
            Ok(true)
        }
        Command::GpuRun { cubins } => gpu::run(&cubins),
        Command::Words { code, seeds } => gpu::words(&code, &seeds).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(3)
        }
    }
}

fn judge(options: &Options) -> Judge {
    Judge {
        cdpc: options.cdpc.clone(),
        nvcc: options.nvcc.clone(),
        clang: options.clang.clone(),
        cxx: options.cxx.clone(),
        gpu: options.gpu,
        work: options.work.join(options.seed.to_string()),
    }
}

fn packs(options: &Options) -> Vec<Vec<u64>> {
    let seeds: Vec<u64> = (options.seed..options.seed + options.count).collect();
    seeds.chunks(options.pack.max(1) as usize).map(<[u64]>::to_vec).collect()
}

fn differential(options: &Options) -> Result<bool, String> {
    let judge = judge(options);
    std::fs::create_dir_all(&judge.work)
        .map_err(|error| format!("{}: {error}", judge.work.display()))?;
    let mut found = 0;
    for seeds in packs(options) {
        let programs: Vec<Program> = seeds.iter().copied().map(generate).collect();
        let ways = judge.ways(seeds[0] / options.pack.max(1));
        for disagreement in judge.judge(&programs, &ways)? {
            found += 1;
            show(&judge, disagreement, options.reduce)?;
        }
        let last = ways.iter().map(|way| way.name()).collect::<Vec<_>>().join(", ");
        println!("{} to {} ({last}): {found} so far", seeds[0], seeds[seeds.len() - 1]);
    }
    println!("{} programs from seed {}, {found} with disagreements", options.count, options.seed);
    Ok(found == 0)
}

/// Says who disagrees about what, and writes the program beside the judges' folder.
fn show(judge: &Judge, disagreement: Disagreement, small: bool) -> Result<(), String> {
    let Disagreement { program, ways, said } = disagreement;
    let seed = program.seed;
    println!("seed {seed}: {}: {}; {}: {}", ways[0].name(), said[0], ways[1].name(), said[1]);
    let alone = judge.differ(&program, ways);
    let shown = match (small, alone) {
        (true, true) => reduce(&program, |smaller| judge.differ(smaller, ways)),
        _ => program,
    };
    let path = judge.work.parent().unwrap_or(Path::new(".")).join(format!("{seed}.cdp"));
    std::fs::write(&path, pack::source(&[shown]))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let among = if alone { "" } else { ", only among the others of its pack" };
    println!("  {}{among}", path.display());
    Ok(())
}
