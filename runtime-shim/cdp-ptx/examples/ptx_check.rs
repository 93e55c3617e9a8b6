//! Parses PTX files, prints them, parses the print, and says where they differ.
//!
//! `cargo run --release -p cdp-ptx --example ptx_check -- [--out DIR] FILE...`: with `--out` the
//! prints are kept, for an assembler to judge.

use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut out: Option<PathBuf> = None;
    let mut failures = 0;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--out" {
            out = args.next().map(PathBuf::from);
            continue;
        }
        if let Err(message) = check(&arg, out.as_deref()) {
            println!("{arg}: {message}");
            failures += 1;
        }
    }
    std::process::exit(i32::from(failures > 0));
}

fn check(path: &str, out: Option<&std::path::Path>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let module = cdp_ptx::parse(&text).map_err(|error| error.to_string())?;
    let elapsed = start.elapsed();
    let printed = cdp_ptx::print(&module);
    if let Some(dir) = out {
        let name = std::path::Path::new(path).file_name().ok_or("the path has no file name")?;
        std::fs::write(dir.join(name), &printed).map_err(|error| error.to_string())?;
    }
    let again = cdp_ptx::parse(&printed).map_err(|error| format!("the print: {error}"))?;
    if again != module {
        return Err("the print parses to another module".to_string());
    }
    if cdp_ptx::print(&again) != printed {
        return Err("the print of the print differs".to_string());
    }
    println!("{path}: {} bytes in {:.2} ms", text.len(), elapsed.as_secs_f64() * 1e3);
    Ok(())
}
