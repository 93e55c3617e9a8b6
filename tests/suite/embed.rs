//! The Rust door: the example language of `samples/embed`, compiled through crate `cdp` alone, and the
//! examples of `cdp-launch` (PTX as text) and `cdp-llvm` (an inkwell builder).
//!
//! A program `NAME.calc` runs on the CPU device, and the first number of its array is `NAME.out`. Everything
//! is also linked to a cubin.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cdp::{CompileOptions, Goal, Input, LaunchAbi};
use libtest_mimic::{Failed, Trial};

use crate::support::{
    Outcome, cdpc, compiler, explain, files, read, root, run_limited, same, stem, trial,
};

#[path = "../../compiler/cdp-llvm/examples/builder.rs"]
#[expect(dead_code, reason = "an example has a main")]
mod builder;
#[path = "../../compiler/cdp-launch/examples/ptx_text.rs"]
#[expect(dead_code, reason = "an example has a main")]
mod ptx_text;

/// Numbers of the array that every program gets.
const COUNT: usize = 1024;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = files(&programs(), "calc")
        .into_iter()
        .map(|path| trial(format!("embed::{}", stem(&path)), move || program(&path)))
        .collect();
    trials.push(trial("embed::errors".into(), errors));
    for abi in LaunchAbi::ALL {
        let builder = move || runs(&builder::ptx(abi).map_err(|error| error.to_string())?);
        trials.push(trial(format!("embed::builder::{abi}"), builder));
        let ptx_text = move || runs(&ptx_text::module(abi).map_err(|error| error.to_string())?);
        trials.push(trial(format!("embed::ptx_text::{abi}"), ptx_text));
    }
    trials
}

/// What the examples' `parent` computes on the CPU device, and that CUDA's tools take the PTX.
fn runs(ptx: &str) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("example.ptx");
    std::fs::write(&path, ptx).map_err(|error| error.to_string())?;
    let mut command = cdpc();
    command.arg("run").arg(&path).args(["--device", "cpu", "--kernel", "parent"]);
    command.args(["--arg", "zeros i32[8]"]);
    let output = run_limited(&mut command, Duration::from_secs(60))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    same("standard error", &text(&output.stderr), "")?;
    same("output", &text(&output.stdout), "argument 0: 0 5 10 15 20 25 30 35\n")?;
    let options = CompileOptions::default();
    let inputs = [Input::ptx("example.ptx", ptx)];
    compiler()?.compile(&inputs, Goal::Cubin, &options).map(|_| ()).map_err(explain)
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
