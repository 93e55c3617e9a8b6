//! `cdp-gpu-runner`: runs the cases of a bundle on this machine's GPU, compares, and writes a report.
//! Needs the NVIDIA driver and nothing else. What a bundle is: [`cdp_run::bundle`].

use std::process::ExitCode;

fn main() -> ExitCode {
    cdp_run::runner::main(std::env::args_os().skip(1).collect())
}
