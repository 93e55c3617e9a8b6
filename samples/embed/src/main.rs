//! `cargo run -p cdp-sample-embed -- samples/embed/programs/sum.calc 64`: runs a program of the calculator
//! language with an array of 64 numbers, and prints the first of them.

use std::error::Error;

use cdp::{Compiler, SearchOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, count] = &args[..] else {
        return Err("usage: cdp-sample-embed PROGRAM COUNT".into());
    };
    let compiler = Compiler::new(&SearchOptions::from_process())?;
    let text = std::fs::read_to_string(path)?;
    let numbers = cdp_sample_embed::run(&compiler, &text, count.parse()?)?;
    println!("{}", numbers.first().ok_or("an array of no numbers")?);
    Ok(())
}
