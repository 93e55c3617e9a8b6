//! Writes the generated signature programs and their expected output into a folder:
//! `signatures OUT_DIR FILES SIGNATURES_EACH MAX_ALIGN`.

use std::path::PathBuf;
use std::process::ExitCode;

use cdp_tests::signatures::{expected_output, program};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = args.iter().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (Some(dir), [files, each, max_align]) = (args.first().map(PathBuf::from), &numbers[..])
    else {
        eprintln!("usage: signatures OUT_DIR FILES SIGNATURES_EACH MAX_ALIGN");
        return ExitCode::from(2);
    };
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(&dir)?;
        for seed in 0..*files {
            let text = program(seed, *each as u32, *max_align);
            std::fs::write(dir.join(format!("signatures_{seed:03}.out")), expected_output(&text))?;
            std::fs::write(dir.join(format!("signatures_{seed:03}.cdp")), text)?;
        }
        Ok(())
    };
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", dir.display());
            ExitCode::FAILURE
        }
    }
}
