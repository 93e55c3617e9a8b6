//! The pages of `compiler/docs/internals/`: what they show of one launch on its way is what the stages
//! really make. A block behind `<!-- made: NAME -->` is made here.

use std::time::Duration;

use cdp::{CompileOptions, Goal, Input, LaunchOpt};
use cdp_toolchain::Cubin;
use libtest_mimic::{Failed, Trial};

use crate::ptx_text;
use crate::support::{
    blessing, cdpc, compiler, explain, files, read, root, run_limited, same, stem, trial,
};

pub fn trials() -> Vec<Trial> {
    let pages = files(&root().join("compiler/docs/internals"), "md");
    let page = |path: std::path::PathBuf| {
        trial(format!("internals::{}", stem(&path)), move || {
            let text = read(&path)?;
            let made = with_blocks(&text)?;
            if blessing() {
                std::fs::write(&path, made).map_err(|error| error.to_string())?;
                return Ok(());
            }
            same(&path.display().to_string(), &text, &made)
        })
    };
    pages.into_iter().map(page).collect()
}

/// The program of all pages.
const SOURCE: &str = "\
__global__ void child(int *out, int n) { out[threadIdx.x] = n; }

__global__ void parent(int *out) {
    child<<<1, 8>>>(out, 7);
}
";

/// A page with its blocks made again.
fn with_blocks(text: &str) -> Result<String, Failed> {
    const MARK: &str = "<!-- made: ";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (name, after) = rest[at + MARK.len()..].split_once(" -->\n").ok_or("an open mark")?;
        let (opening, after) = after.split_once('\n').ok_or("no block behind a mark")?;
        let end = after.find("```").ok_or("a block without an end")?;
        out += &rest[..at];
        out += &format!("{MARK}{name} -->\n{opening}\n{}\n", made(name)?.trim_end());
        rest = &after[end..];
    }
    if out.is_empty() {
        return Err("no block is made".into());
    }
    Ok(out + rest)
}

/// What a stage makes of the program.
fn made(name: &str) -> Result<String, Failed> {
    Ok(match name {
        "source" => SOURCE.to_owned(),
        "tree" => text(Goal::Ast)?,
        "ir" => from(&text(Goal::Ir)?, "kernel void @_Z5childPii"),
        "llvm" => function(&text(Goal::LlvmIr)?, "define ptx_kernel void @_Z6parentPi"),
        "ptx" => ptx_text::function(&text(Goal::Ptx)?, "_Z6parentPi")?.to_owned() + "\n",
        "cubin" => cubin()?,
        "run" => run()?,
        other => return Err(format!("nobody makes `{other}`").into()),
    })
}

fn build(goal: Goal) -> Result<Vec<u8>, Failed> {
    let inputs = [Input::source("trip.cdp", SOURCE)];
    // The pages follow a launch that stays one.
    let options = CompileOptions::default().with(|options| options.launch_opt = LaunchOpt::Off);
    let built = compiler()?.compile(&inputs, goal, &options).map_err(explain)?;
    Ok(built.bytes)
}

fn text(goal: Goal) -> Result<String, Failed> {
    String::from_utf8(build(goal)?).map_err(|error| error.to_string().into())
}

fn from(text: &str, begins: &str) -> String {
    text.find(begins).map_or_else(String::new, |at| text[at..].to_owned())
}

/// From there to the end of the function.
fn function(text: &str, begins: &str) -> String {
    let found = from(text, begins);
    let end = found.find("\n}\n").map_or(found.len(), |at| at + 3);
    found[..end].to_owned()
}

/// What the linked machine code says of its kernels.
fn cubin() -> Result<String, Failed> {
    let cubin = Cubin::read(&build(Goal::Cubin)?).map_err(|error| error.to_string())?;
    let mut lines = String::new();
    for kernel in cubin.kernels.iter().filter(|kernel| kernel.name.starts_with("_Z")) {
        lines += &format!("{}\n", kernel.name);
        for (index, param) in kernel.params.iter().enumerate() {
            let (offset, size) = (param.offset_bytes, param.size_bytes);
            lines += &format!("  parameter {index} at {offset}, {size} bytes\n");
        }
    }
    Ok(lines)
}

/// What the CPU device makes of the PTX.
fn run() -> Result<String, Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("trip.ptx");
    std::fs::write(&path, text(Goal::Ptx)?).map_err(|error| error.to_string())?;
    let mut command = cdpc();
    command.arg("run").arg(&path).args(["--device", "cpu", "--kernel", "parent"]);
    command.args(["--arg", "zeros i32[8]"]);
    let output = run_limited(&mut command, Duration::from_secs(60))?;
    let all = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&all).replace(&*path.to_string_lossy(), "trip.ptx");
    Ok(shown)
}
