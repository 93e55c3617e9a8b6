//! The test suite: every file under `cases/` and `samples/` is one or more tests.
//!
//! The same binary is also the command `cdpc` when `CDP_TESTS_AS_CDPC` is set, so that tests of the
//! command line run exactly the code that they were built with.
//!
//! Plain runs never write; `CDP_BLESS=1` (set by `cargo xtask bless`) rewrites expectations.

mod browser;
mod build_systems;
mod capi;
mod cases;
mod cli;
mod cli_limits;
mod cli_long;
mod cli_options;
mod cli_signals;
mod cli_streams;
mod code;
mod code_access;
mod code_ptxas;
mod code_shapes;
mod code_waits;
mod compile;
mod coverage;
mod cuda;
mod cuda_objects;
mod cuda_precompiled;
mod cuda_toolkit_12;
mod debugging;
mod diagnostics;
mod embed;
mod foreign_objects;
mod hostile;
mod internals;
mod interop;
mod launch_choices;
mod launch_sizes;
mod launches;
mod link_inputs;
mod linking;
mod llvm;
mod mutations;
mod normal_form;
mod oracle;
mod packages;
mod project;
mod ptx_table;
mod ptx_text;
mod races;
mod reference;
mod repeated;
mod reports;
mod run;
mod snapshots;
mod stale;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    if std::env::var_os("CDP_TESTS_AS_CDPC").is_some() {
        let code = cdpc::run(std::env::args_os());
        support::tell_peak();
        std::process::exit(code);
    }
    let update = if support::blessing() { "always" } else { "no" };
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("INSTA_UPDATE", update) };
    let args = Arguments::from_args();
    if !args.list {
        stale::require_runtime();
    }
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(compile::trials());
    trials.extend(code::trials());
    trials.extend(code_shapes::trials());
    trials.extend(code_access::trials());
    trials.extend(code_ptxas::trials());
    trials.extend(code_waits::trials());
    trials.extend(diagnostics::trials());
    trials.extend(snapshots::trials());
    trials.extend(run::trials());
    trials.extend(races::trials());
    trials.extend(launch_choices::trials());
    trials.extend(launch_sizes::trials());
    trials.extend(launches::trials());
    trials.extend(cuda::trials());
    trials.extend(repeated::trials());
    trials.extend(reports::trials());
    trials.extend(browser::trials());
    trials.extend(cli::trials());
    trials.extend(cli_limits::trials());
    trials.extend(cli_long::trials());
    trials.extend(cli_options::trials());
    trials.extend(cli_streams::trials());
    #[cfg(unix)]
    trials.extend(cli_signals::trials());
    trials.extend(hostile::trials());
    trials.extend(mutations::trials());
    trials.extend(llvm::trials());
    trials.extend(embed::trials());
    trials.extend(capi::trials());
    trials.extend(internals::trials());
    trials.extend(interop::trials());
    trials.extend(linking::trials());
    trials.extend(foreign_objects::trials());
    trials.extend(debugging::trials());
    trials.extend(build_systems::trials());
    trials.extend(coverage::trials());
    trials.extend(oracle::trials());
    trials.extend(normal_form::trials());
    trials.extend(packages::trials());
    trials.extend(project::trials());
    trials.extend(reference::trials());
    trials.extend(stale::trials());
    trials.extend(ptx_table::trials());
    libtest_mimic::run(&args, trials).exit();
}
