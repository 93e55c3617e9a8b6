//! The command line of cdp: arguments in, text and files out. Everything worth embedding is in the
//! crate `cdp`; here is what a person at a terminal needs.
//!
//! Exit codes: 0; 1 for errors in the program; 2 for misuse of the command line; 3 for a missing or
//! failing tool, or anything else that is wrong with the machine. A program that `cdpc run` ran
//! passes its own code on.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod args;
mod build;
mod common;
mod doctor;
mod explain;
mod inspect;
pub mod manual;
mod memory;
#[cfg(unix)]
mod native;
mod nvcc_lines;
mod output;
mod progress;
mod run;
mod run_kernel;
mod schedules;
mod signals;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use args::{Cli, Command, normalise};
use cdp::Arch;
use cdp::CompileOptions;

/// The program has errors.
pub const EXIT_PROGRAM: i32 = 1;
/// The command line makes no sense.
pub const EXIT_USAGE: i32 = 2;
/// A tool is missing or failed, a file cannot be read or written, or cdp itself made a mistake.
pub const EXIT_TOOL: i32 = 3;

#[cfg(unix)]
pub use native::leave;
#[cfg(not(unix))]
pub use std::process::exit as leave;

/// Stack of the compiling thread: programs may nest as deep as the front end's limits allow.
const STACK_BYTES: usize = 256 << 20;

/// Runs the command with its arguments, the program's name first, and returns the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> i32 {
    let args = Cli::with_verb(args.into_iter().collect());
    let _preparation = prepare(&args);
    signals::watch();
    let words = match normalise(args) {
        Ok(words) => words,
        Err(message) => {
            eprintln!("error: {message}");
            return EXIT_USAGE;
        }
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return explain_parse(&error),
    };
    if !matches!(cli.command, Command::Run(_)) {
        memory::map_large();
    }
    let thread = std::thread::Builder::new().name("cdpc".into()).stack_size(STACK_BYTES);
    match thread.spawn(move || dispatch(cli.command)).map(|handle| handle.join()) {
        Ok(Ok(code)) => {
            // Whoever is being stopped says nothing more.
            cdp_toolchain::go_on();
            code
        }
        Ok(Err(_)) => {
            eprintln!(
                "error: cdp made a mistake and stopped; please report this, with the message \
                 above and the source"
            );
            EXIT_TOOL
        }
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            EXIT_TOOL
        }
    }
}

/// Has LLVM made ready while the arguments are read, where they look as if they asked for code. A guess that is
/// wrong costs its work alone.
fn prepare(args: &[OsString]) -> Option<cdp_llvm::Preparation> {
    let mut words = args.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
    if words.next() != Some("build") || memory::is_limited() {
        return None;
    }
    let mut options = CompileOptions::default();
    while let Some(word) = words.next() {
        let named = match word.trim_start_matches('-') {
            "arch" => words.next(),
            other => other.strip_prefix("arch="),
        };
        options.archs.extend(named.and_then(|name| Arch::parse(name).ok()));
    }
    cdp::prepare(&options)
}

/// Help and versions are output, everything else is a wrong request.
fn explain_parse(error: &clap::Error) -> i32 {
    match (error.print().and_then(|()| std::io::stdout().flush()), error.use_stderr()) {
        (_, true) => EXIT_USAGE,
        (Err(source), false) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write `standard output`: {source}");
            EXIT_TOOL
        }
        _ => 0,
    }
}

fn dispatch(command: Command) -> i32 {
    match command {
        Command::Build(args) => build::build(&args, false),
        Command::Link(args) => build::build(&args, true),
        Command::Check(args) => inspect::check(&args),
        Command::Explain { code } => explain::explain(code.as_deref()),
        Command::Graph(args) => inspect::graph(&args),
        Command::Layout(args) => inspect::layout(&args),
        Command::Lower(args) => build::lower(&args),
        Command::Run(args) => run::run(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::pages(&folder),
    }
}
