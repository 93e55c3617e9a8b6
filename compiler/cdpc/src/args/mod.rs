//! The command line, as data. nvcc's spellings are turned into ours first, by [`normalise`], so that
//! a build line can be carried over; clap knows one spelling of each option. Help, completions, manual
//! pages and `compiler/docs/command-line.md` are made of what stands here.

mod language;
pub mod nvcc;
#[cfg(test)]
mod tests;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use cdp_runtime::cpu::CheckSet;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use language::Language;
pub use nvcc::normalise;

/// Compiles `.cdp` programs, in which GPU kernels launch GPU kernels.
#[derive(Debug, Parser)]
#[command(name = "cdpc", bin_name = "cdpc", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// A line that begins with an option or a file, as nvcc's and gcc's do, is one of `cdpc build`, and where it names
    /// no output a program is `a.out`. `args` has the program's name first.
    pub fn with_verb(mut args: Vec<OsString>) -> Vec<OsString> {
        let lacks_it = args.get(1).is_some_and(|first| {
            let first = first.to_string_lossy();
            let known = ["-h", "--help", "-V", "--version"].contains(&first.as_ref());
            !known && (first.starts_with('-') || first.contains('.'))
        });
        if lacks_it {
            args.splice(1..1, ["build", "--as-nvcc"].map(OsString::from));
        }
        args
    }
}

/// A level of optimisation. Above the highest there is none, as for gcc and nvcc.
fn level(word: &str) -> Result<u32, String> {
    match word {
        // gcc's and clang's: nothing here makes code smaller than level 2 does.
        "s" | "z" => Ok(2),
        "g" => Ok(1),
        "fast" => Err("it is two requests here: write `-O3 --use-fast-math`".into()),
        _ => match word.parse::<u32>() {
            Ok(level) => Ok(level.min(3)),
            Err(_) => Err("levels are 0 to 3, and gcc's s and z (2) and g (1)".into()),
        },
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile and link: PTX, objects, cubins, fat binaries, executables
    Build(Build),
    /// Report what is wrong with a program, and make nothing
    Check(Check),
    /// Explain a diagnostic code, with an example and its cure
    Explain {
        /// E0412, or any other; without it all are listed
        code: Option<String>,
    },
    /// Show who launches whom
    Graph(Graph),
    /// Show every kernel's parameter buffer
    Layout(Layout),
    /// Compile a program and run it, on a GPU or on the CPU device
    Run(Run),
    /// Link device objects of any compiler into a cubin
    Link(Build),
    /// Lower `@cdp.launch` in LLVM IR and stop there
    Lower(Lower),
    /// Say what was found on this machine and what works as a result
    Doctor(Doctor),
    /// Print a script that completes commands in a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write a manual page for each command into a folder
    Man {
        /// The folder, which is made if absent
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Shells that can complete our commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Elvish,
    Fish,
    Zsh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The syntax tree
    Ast,
    /// cdp's own intermediate representation
    Ir,
    /// LLVM IR as text
    LlvmIr,
    /// PTX text
    Ptx,
    /// What `nvcc -dc` makes: a host object with relocatable device code inside, of a source; of
    /// anything else a device object
    Obj,
    /// A relocatable device object
    DeviceObj,
    /// A linked cubin
    Cubin,
    /// Cubins of all architectures in one file
    Fatbin,
    /// The host pass's object, with registrations and without device code
    HostObj,
    /// An executable
    Exe,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With the source lines
    #[default]
    Human,
    /// A line each, `file:line:column: error[E0412]: text`
    Short,
    /// A JSON object a line
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

/// Options of every command that reads sources. Of an option with one value that is given more than once
/// the last counts, as in the lines that build systems put together.
#[derive(Clone, Debug, Args)]
#[command(args_override_self = true)]
pub struct Source {
    /// Read inputs as this kind, whatever their names
    #[arg(short = 'x', value_enum, value_name = "KIND", hide_possible_values = true)]
    pub language: Option<Language>,
    /// Architectures to compile for: sm_90 (without this option; sm_75 with --cdp 1), a list with commas,
    /// `all`, or `native` for this machine's GPU
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    pub arch: Vec<String>,
    /// Address size of device code, in bits
    #[arg(long, value_name = "BITS", default_value_t = 64)]
    pub address_size: u32,
    /// PTX ISA version, 6.3 to 9.0; without it what the target and the features used need
    #[arg(long, value_name = "VERSION")]
    pub ptx_version: Option<String>,
    /// Threads that compile one module; 0 for as many as there are
    #[arg(short = 't', long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Device runtime version: 2, or 1 for `cudaDeviceSynchronize` below sm_90
    #[arg(long, value_name = "1|2")]
    pub cdp: Option<u32>,
    /// Link the device runtime: auto, always, never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub cudadevrt: String,
    /// Whether files see each other's device variables and functions (-rdc), and of an object (-c): leave its device code
    /// to a device link, where it could run by itself
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub relocatable_device_code: Option<bool>,
    /// Entry points for device-side launches: auto, documented, documented-v2, cdp2, cdp2-v2
    #[arg(long, value_name = "ABI", default_value = "auto")]
    pub launch_abi: String,
    /// Optimisation level, 0 to 3, or gcc's s, z, g; without it 3 for device code, and what is made soonest for host code
    #[arg(short = 'O', value_name = "LEVEL", value_parser = level)]
    pub opt_level: Option<u32>,
    /// What the launch optimiser may do, at -O2 and up: off, safe (the default, but with `cdpc run` on the CPU device), fast
    #[arg(long = "flaunch-opt", value_name = "LEVEL")]
    pub launch_opt: Option<String>,
    /// Host code tells checks (CDP_CHECK) what it reads and writes of managed and pinned memory; cdpc run --check has it do so
    #[arg(long = "watch-host")]
    pub watch_host: bool,
    /// Constants of the launch optimiser, for measurements
    #[arg(long, value_name = "NAME=NUMBER", hide = true)]
    pub launch_tuning: Option<String>,
    /// Add a folder to the search for #include
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Add a folder to the search for #include, after those of -I (-isystem)
    #[arg(long = "isystem", value_name = "DIR")]
    pub system_dirs: Vec<PathBuf>,
    /// Define a macro: NAME or NAME=TEXT
    #[arg(short = 'D', value_name = "MACRO")]
    pub defines: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefines: Vec<String>,
    /// Read a file before the source
    #[arg(long, value_name = "FILE")]
    pub include: Vec<PathBuf>,
    /// Turn a warning on or off, or into an error: NAME, no-NAME, all, extra, error, error=NAME
    #[arg(short = 'W', value_name = "WARNING")]
    pub warnings: Vec<String>,
    /// Turn warnings off, by code, name or nvcc's number
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub diag_suppress: Vec<String>,
    /// Turn warnings into errors, by code, name or nvcc's number
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub diag_error: Vec<String>,
    /// Turn warnings on, by code, name or nvcc's number
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub diag_warn: Vec<String>,
    /// Allow a lint: say nothing about it
    #[arg(short = 'A', long = "allow", value_name = "LINT")]
    pub allow: Vec<String>,
    /// Deny a lint: make it an error (also -D LINT, for a name with a hyphen)
    #[arg(long = "deny", value_name = "LINT")]
    pub deny: Vec<String>,
    /// No warnings
    #[arg(short = 'w')]
    pub no_warnings: bool,
    /// Fast, less accurate floating point
    #[arg(long)]
    pub use_fast_math: bool,
    /// Contract a * b + c
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub fmad: Option<bool>,
    /// Flush single-precision denormals to zero
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub ftz: Option<bool>,
    /// IEEE single-precision division
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub prec_div: Option<bool>,
    /// IEEE single-precision square root
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub prec_sqrt: Option<bool>,
    /// Use per-thread default streams
    #[arg(long, value_name = "KIND")]
    pub default_stream: Option<String>,
    /// How messages are printed
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    pub message_format: MessageFormat,
    /// Whether messages have colours; `auto` looks at the terminal, NO_COLOR and CLICOLOR_FORCE
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,
    /// The name that standard input goes by, in messages and as to what it holds
    #[arg(long, value_name = "NAME")]
    pub stdin_filename: Option<PathBuf>,
    /// Use this CUDA toolkit
    #[arg(long, value_name = "DIR")]
    pub cuda_path: Option<PathBuf>,
    /// Read `.cu` files with this clang
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
    /// The C++ standard of `.cu` files: gnu++17 unless given
    #[arg(long, value_name = "STANDARD")]
    pub std: Option<String>,
}

/// How programs are linked.
#[derive(Clone, Debug, Args)]
pub struct HostLink {
    /// Arguments for the host's C compiler, which links programs, and for the host half of
    /// `.cu` files, with commas between
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, value_delimiter = ',')]
    pub xcompiler: Vec<String>,
    /// Arguments for the host's linker, with commas between
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, value_delimiter = ',')]
    pub xlinker: Vec<String>,
    /// The host's C compiler, or a folder with one
    #[arg(long, value_name = "PATH")]
    pub ccbin: Option<PathBuf>,
    /// Libraries for the host link
    #[arg(short = 'l', value_name = "LIB")]
    pub libraries: Vec<String>,
    /// Folders with libraries for the host link
    #[arg(short = 'L', value_name = "DIR")]
    pub library_dirs: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
#[command(args_override_self = true)]
pub struct Build {
    /// .cdp, .cu, .ll, .bc, .ptx, .o, .a, .cubin, .fatbin, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Where to put the result; its extension chooses what is made unless --emit does
    #[arg(short = 'o', value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to make
    #[arg(long, value_enum)]
    pub emit: Option<Emit>,
    /// Without -o, make the program a.out where nvcc does
    #[arg(long, hide = true)]
    pub as_nvcc: bool,
    /// Stop at the object, as --emit obj
    #[arg(short = 'c')]
    pub compile_only: bool,
    /// Link the device code of objects into one object for the host's linker (-dlink)
    #[arg(long)]
    pub device_link: bool,
    #[command(flatten)]
    pub source: Source,
    /// Most registers a thread may use (-maxrregcount)
    #[arg(long, value_name = "N")]
    pub maxrregcount: Option<u32>,
    /// Arguments for ptxas, with commas between
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, value_delimiter = ',')]
    pub xptxas: Vec<String>,
    /// Arguments for nvlink, with commas between
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, value_delimiter = ',')]
    pub xnvlink: Vec<String>,
    #[command(flatten)]
    pub host: HostLink,
    /// Make a shared library instead of a program
    #[arg(long)]
    pub shared: bool,
    /// Print the preprocessed device pass, or write it to OUT
    #[arg(short = 'E', long)]
    pub preprocess: bool,
    /// Print what ptxas says of each function's registers, stack and memory
    #[arg(long)]
    pub resource_usage: bool,
    /// Where outputs go that -o does not name
    #[arg(long, value_name = "DIR")]
    pub output_directory: Option<PathBuf>,
    /// Source lines in the device code
    #[arg(long)]
    pub lineinfo: bool,
    /// Debug information for device code; turns optimisation off
    #[arg(short = 'G')]
    pub device_debug: bool,
    /// Debug information for host code: host code has none so far, and device code none without -G
    #[arg(short = 'g')]
    pub host_debug: bool,
    /// Keep intermediate files in a folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Print the commands that would run, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Print the commands that run
    #[arg(short = 'v')]
    pub verbose: bool,
    /// Say what became of each launch, and why
    #[arg(long)]
    pub remarks: bool,
    /// Print the LLVM IR after a pass of the launch optimiser: prepare, streams, sites, inline
    #[arg(long, value_name = "PASS")]
    pub print_after: Option<String>,
    /// Print one JSON object with kernels, launches, sizes and times
    #[arg(long, value_name = "json")]
    pub report: Option<String>,
    /// Write a dependency file beside the output (-MD, -MMD)
    #[arg(long)]
    pub md: bool,
    /// Write the dependency file here (-MF)
    #[arg(long, value_name = "FILE")]
    pub mf: Option<PathBuf>,
    /// Name this in the dependency rule, instead of the output (-MT)
    #[arg(long, value_name = "NAME")]
    pub mt: Option<PathBuf>,
    /// Print the dependencies, or write them to the file of -MF, and make nothing else (-M, -MM)
    #[arg(long)]
    pub m: bool,
    /// Add a rule without commands for every file but the first, so that make does not miss headers that
    /// are gone (-MP)
    #[arg(long)]
    pub mp: bool,
    /// Print a key for build caches instead of building: the same for the same inputs, options and
    /// tools, wherever they lie
    #[arg(long)]
    pub cache_key: bool,
    /// Mend PTX and objects that declare kernels of other files as functions, as clang does
    #[arg(long)]
    pub fix: bool,
    /// With --emit ptx: the normal form, for snapshots: registers and labels numbered anew, no comments
    #[arg(long)]
    pub normalize: bool,
    /// With --normalize: this function alone, by its name or symbol; each adds one
    #[arg(long, value_name = "NAME", requires = "normalize")]
    pub function: Vec<String>,
    /// With --normalize: .version, .target and .address_size too
    #[arg(long, requires = "normalize")]
    pub header: bool,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Sources, LLVM IR or PTX, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    #[default]
    Text,
    Dot,
    Svg,
    Json,
}

#[derive(Debug, Args)]
pub struct Graph {
    /// A source, LLVM IR or PTX, or - for standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// The form of the drawing; else by the extension of OUT, else text
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Where to put it; else standard output
    #[arg(short = 'o', value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Debug, Args)]
pub struct Layout {
    /// A source, LLVM IR or PTX, or - for standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Debug, Args)]
pub struct Lower {
    /// .ll or .bc, or - for standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// Where to put it, as bitcode if the name ends in .bc; else standard output
    #[arg(short = 'o', value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The GPU if there is one, else the CPU device; the CPU device for what it alone does
    #[default]
    Auto,
    /// The CPU device, which checks every access
    Cpu,
    /// The GPU, or an error without one
    Gpu,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Sources, LLVM IR or PTX, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Where to run
    #[arg(long, value_enum, default_value_t)]
    pub device: Device,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub host: HostLink,
    /// Launch this kernel instead of running `main`
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Grid dimensions for --kernel: X, or X,Y, or X,Y,Z; else 1
    #[arg(long, value_name = "DIMS")]
    pub grid: Option<String>,
    /// Block dimensions for --kernel: X, or X,Y, or X,Y,Z; else 1
    #[arg(long, value_name = "DIMS")]
    pub block: Option<String>,
    /// Dynamic shared memory for --kernel, in bytes
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u64>,
    /// Stack of each thread for --kernel, in bytes (cudaLimitStackSize); the driver sizes it for code without
    /// recursion
    #[arg(long, value_name = "BYTES")]
    pub stack: Option<u64>,
    /// A kernel argument: `7`, `2.5`, `zeros i32[1024]`, `file A.npy`, `file A.raw i32`, each with
    /// `-> OUT` to write the buffer to a file afterwards
    #[arg(long = "arg", value_name = "VALUE", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// Explore another legal order of execution (CPU device)
    #[arg(long, value_name = "N")]
    pub schedule_seed: Option<u64>,
    /// Run under this many schedules and print how many outcomes there were (CPU device)
    #[arg(long, value_name = "N", conflicts_with_all = ["schedule_seed", "kernel", "trace", "profile", "report"])]
    pub schedules: Option<u64>,
    /// Look for mistakes that no plain run shows: race, init, bounds, leak, divide, sync, all of
    /// these, or siblings; several with commas (CPU device)
    #[arg(long, value_name = "CHECKS", value_parser = parse_checks)]
    pub check: Option<CheckSet>,
    /// Stop after this many thread instructions (CPU device)
    #[arg(long, value_name = "N")]
    pub max_instructions: Option<u64>,
    /// Stop after this many seconds (CPU device)
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Write the launch tree as Chrome trace JSON (CPU device)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write one page with findings, launch tree, timeline and counters (CPU device)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print counters per kernel and the launch tree (CPU device)
    #[arg(long)]
    pub profile: bool,
    /// Run warps in lockstep, as before Volta (CPU device)
    #[arg(long)]
    pub lockstep: bool,
    /// Let lanes of a warp that part at a branch meet again only where an instruction says so (CPU device)
    #[arg(long, conflicts_with = "lockstep")]
    pub apart: bool,
    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    pub program_args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Use this CUDA toolkit
    #[arg(long, value_name = "DIR")]
    pub cuda_path: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_checks(list: &str) -> Result<CheckSet, String> {
    CheckSet::parse(list)
        .map_err(|name| format!("`{name}` is no check; there are {}", CheckSet::NAMES))
}

fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("use true or false".to_string()),
    }
}
