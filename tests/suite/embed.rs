//! The Rust door: the example language of `samples/embed`, compiled through crate `cdp` alone.
//!
//! A program `NAME.calc` runs on the CPU device, and the first number of its array is `NAME.out`; with
//! CUDA's tools it becomes a cubin, too.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, compiler, files, read, root, same, stem, trial};

/// Numbers of the array that every program gets.
const COUNT: usize = 1024;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = files(&programs(), "calc")
        .into_iter()
        .map(|path| trial(format!("embed::{}", stem(&path)), move || program(&path)))
        .collect();
    trials.push(trial("embed::errors".into(), errors));
    trials
}

fn programs() -> PathBuf {
    root().join("samples/embed/programs")
}

fn program(path: &Path) -> Outcome {
    let text = read(path)?;
    let failed = |error: Box<dyn std::error::Error>| Failed::from(error.to_string());
    let numbers = cdp_sample_embed::run(compiler()?, &text, COUNT).map_err(failed)?;
    let first = numbers.first().map(f64::to_string).unwrap_or_default();
    same("the first number", &format!("{first}\n"), &read(&path.with_extension("out"))?)?;
    let cubin = cdp_sample_embed::to_cubin(compiler()?, &text).map_err(failed)?;
    if cubin.starts_with(b"\x7fELF") { Ok(()) } else { Err("the cubin is no ELF file".into()) }
}

/// What the language's own compiler says, and no launch that cdp would refuse comes through it.
fn errors() -> Outcome {
    let main = "kernel main(a[]) {\n    let x = a[0];\n";
    for (body, wanted) in [
        ("spawn main[1](x);\n}", "line 3: these are not the parameters of `main`"),
        ("spawn main[1](a, a);\n}", "line 3: these are not the parameters of `main`"),
        ("spawn other[1](a);\n}", "line 3: there is no kernel `other`"),
        ("x[1] = 2;\n}", "line 3: `x` is no array"),
        ("a[a] = 2;\n}", "line 3: a number is expected before this, not an array"),
        ("if y { }\n}", "line 3: `y` is not defined"),
        ("if x { let z = 1; } a[0] = z;\n}", "line 3: `z` is not defined"),
        ("a[0] = 1\n}", "line 4: `;` is expected, not `}`"),
        ("}\nkernel main() { }", "line 4: kernel `main` is there already"),
        ("", "line 2: a name is expected, not `the end`"),
    ] {
        let text = format!("{main}{body}");
        match cdp_sample_embed::to_ptx(compiler()?, &text) {
            Ok(ptx) => return Err(format!("accepted:\n{text}\n{ptx}").into()),
            Err(error) => same(&text, &error.to_string(), wanted)?,
        }
    }
    Ok(())
}
