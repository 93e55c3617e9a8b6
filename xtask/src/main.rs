//! `cargo xtask`; all of it is the library's, which the benchmarks share.

fn main() -> std::process::ExitCode {
    xtask::main()
}
