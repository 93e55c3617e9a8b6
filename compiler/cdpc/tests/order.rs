//! Where LLVM's functions lie in the program: those that every compilation calls side by side (`build.rs`).
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;
use std::process::Command;

/// Functions that the smallest program calls, of the list's.
const FIRST: usize = 6000;
/// They have 5 MB; 40 MB of code lie between the first and the last as the linker has them by itself.
const MOST_BYTES: u64 = 8 << 20;

#[test]
fn what_every_compilation_calls_lies_together() {
    let symbols = Command::new("nm").arg(env!("CARGO_BIN_EXE_cdpc")).output().unwrap();
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    let places: HashMap<&str, u64> = symbols
        .lines()
        .filter_map(|line| {
            let (address, rest) = line.split_once(' ')?;
            Some((rest.split_once(' ')?.1, u64::from_str_radix(address, 16).ok()?))
        })
        .collect();
    let names = include_str!("../functions.order").lines().take(FIRST);
    let found: Vec<u64> = names.filter_map(|name| places.get(name).copied()).collect();
    assert!(
        found.len() > FIRST * 9 / 10,
        "{} of {FIRST} are there: `cargo xtask order`",
        found.len()
    );
    let span = found.iter().max().unwrap() - found.iter().min().unwrap();
    assert!(span < MOST_BYTES, "{span} bytes lie between the first and the last");
}
