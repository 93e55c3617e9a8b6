//! Programs for a GPU's machine, which has no compilers: cubins made here, run and compared there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::judge::{Judge, Way};
use crate::pack::{FIRST_SLOT, ROW, THREADS, WORDS};
use crate::run::{Words, on_cpu, on_gpu};
use crate::{Program, generate};

/// On the machine with the GPU: a process for each cubin, so that a fault ends one only.
const RUN_SH: &str = "#!/usr/bin/env bash
# Runs the programs of every cubin on this machine's GPU and compares with what the CPU device made of them.
cd \"$(dirname \"${BASH_SOURCE[0]}\")\"
exec > \"${1:-/dev/stdout}\" 2>&1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
ls *.cubin | xargs -P 8 -n 4 timeout 50 ./cdp-differential gpu-run
echo \"done: $(ls *.cubin | wc -l) cubins\"
";

/// Compiles packs by `cdpc` and nvcc, and writes what the CPU device makes of them beside. Programs that do not suit a GPU
/// are left out.
///
/// # Errors
/// When files cannot be written, or a pack does not compile.
pub fn bundle(judge: &Judge, packs: &[Vec<u64>], out: &Path) -> Result<(), String> {
    for folder in [out, &judge.work] {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let write = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    };
    for seeds in packs {
        let mut programs: Vec<Program> = seeds.iter().copied().map(generate).collect();
        programs.retain(Program::suits_a_gpu);
        let Some(first) = programs.first().map(|program| program.seed) else { continue };
        let words = judge.output(&programs, Way::Cdpc(&["-O3"]))??;
        let mut text = String::new();
        for (program, words) in programs.iter().zip(&words) {
            let _ = writeln!(text, "{} {}", program.seed, digest(words));
        }
        write(&format!("{first}.txt"), text.as_bytes())?;
        for (name, cubin) in judge.cubins(&programs)? {
            write(&format!("{first}-{name}.cubin"), &cubin)?;
        }
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    std::fs::copy(this, out.join("cdp-differential")).map_err(|error| error.to_string())?;
    write("run.sh", RUN_SH.as_bytes())
}

/// Writes what programs write to standard output: those of a cubin on the GPU, those of PTX on the CPU device.
///
/// # Errors
/// When the file cannot be read, the output not be written, or what the device says.
pub fn words(code: &Path, seeds: &[u64]) -> Result<(), String> {
    let bytes = std::fs::read(code).map_err(|error| format!("{}: {error}", code.display()))?;
    let words = match std::str::from_utf8(&bytes) {
        Ok(ptx) => on_cpu(ptx, seeds)?,
        Err(_) => on_gpu(&bytes, seeds)?,
    };
    let bytes: Vec<u8> = words.concat().iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::io::stdout().write_all(&bytes).map_err(|error| error.to_string())
}

/// Runs cubins and says which programs wrote something else than on the CPU device.
///
/// # Errors
/// When a file cannot be read.
pub fn run(cubins: &[PathBuf]) -> Result<bool, String> {
    let mut all_same = true;
    for cubin in cubins {
        let name = cubin.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let pack = name.split('-').next().unwrap_or_default();
        let expected = cubin.with_file_name(format!("{pack}.txt"));
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let expected = String::from_utf8_lossy(&read(&expected)?).into_owned();
        let expected: BTreeMap<u64, &str> = expected
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(seed, digest)| Some((seed.parse().ok()?, digest)))
            .collect();
        let seeds: Vec<u64> = expected.keys().copied().collect();
        let bytes = read(cubin)?;
        match on_gpu(&bytes, &seeds) {
            Ok(words) => {
                let wrong = compare(&name, &expected, &words);
                all_same &= wrong == 0;
                println!("{name}: {} programs, {wrong} differ", seeds.len());
            }
            Err(message) => {
                println!("{name}: {message}");
                return Ok(false);
            }
        }
    }
    Ok(all_same)
}

fn compare(name: &str, expected: &BTreeMap<u64, &str>, words: &[Words]) -> usize {
    let mut wrong = 0;
    for ((seed, wanted), words) in expected.iter().zip(words) {
        let found = digest(words);
        if found == *wanted {
            continue;
        }
        wrong += 1;
        let mut parts = wanted.split(' ').zip(found.split(' ')).enumerate();
        let part = parts.find(|(_, (a, b))| a != b).map_or(0, |(index, _)| index);
        println!("{name}: seed {seed} differs in part {part}: {wanted} here {found}");
    }
    wrong
}

/// A sum of each column of the threads' words, of each slot and of the rest: tells where a difference is.
fn digest(words: &[u64]) -> String {
    let sum = |indices: &mut dyn Iterator<Item = usize>| {
        let mix = |sum: u64, index| {
            (sum ^ words.get(index).copied().unwrap_or(0))
                .wrapping_mul(0x100_0000_01b3)
                .rotate_left(5)
        };
        indices.fold(0xcbf2_9ce4_8422_2325u64, mix) as u32
    };
    let columns = (0..ROW).map(|column| sum(&mut (0..THREADS).map(|t| t * ROW + column)));
    let slots = (FIRST_SLOT..WORDS)
        .step_by(crate::generate::SLOT_WORDS)
        .map(|from| sum(&mut (from..(from + crate::generate::SLOT_WORDS).min(WORDS))));
    let parts: Vec<String> = columns.chain(slots).map(|part| format!("{part:x}")).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_where_words_differ() {
        let mut words = vec![0; WORDS];
        let before = digest(&words);
        words[3 * ROW + 2] = 1;
        words[FIRST_SLOT + 5] = 1;
        let after = digest(&words);
        let differing = before.split(' ').zip(after.split(' ')).enumerate();
        let differing: Vec<usize> =
            differing.filter(|(_, (a, b))| a != b).map(|(index, _)| index).collect();
        assert_eq!(differing, [2, ROW]);
    }
}
