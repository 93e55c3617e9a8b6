//! The command line at its limits: tools that do not work, too little memory, inputs that are too large.

use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::cli::{HELLO, contains, expect, folder, path, text, write};
use crate::support::{Outcome, PEAK_FILE, cdpc, run_limited, trial};

pub fn trials() -> Vec<Trial> {
    let mut tests: Vec<(&str, fn() -> Outcome)> = vec![("sources_that_are_too_large", too_large)];
    if cfg!(unix) {
        tests.push(("broken_tools_are_not_replaced", broken_tools));
        tests.push(("out_of_memory_is_exit_3", memory));
    }
    if cfg!(target_os = "linux") {
        tests.push(("memory_of_a_long_kernel", long_kernel));
        tests.push(("memory_of_a_large_variable", large_variable));
    }
    tests.into_iter().map(|(name, test)| trial(format!("cli::{name}"), test)).collect()
}

/// A toolkit that the user names and that does not work.
#[cfg(unix)]
fn broken_tools() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder()?;
    let out = path(&folder, "a.cubin");
    for (script, what) in [("sleep 100", "hangs"), ("exit 1", "fails"), ("echo nothing", "lies")] {
        let kit = folder.path().join(what);
        std::fs::create_dir_all(kit.join("bin")).map_err(|error| error.to_string())?;
        let ptxas = kit.join("bin/ptxas");
        std::fs::write(&ptxas, format!("#!/bin/sh\n{script}\n"))
            .map_err(|error| error.to_string())?;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&ptxas, mode).map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let kit = kit.display().to_string();
        let (_, said) = expect(&["build", HELLO, "-o", &out, "--cuda-path", &kit], 3)?;
        contains(&said, &[&kit, "does not work", "--version"])?;
        if begun.elapsed() > Duration::from_secs(15) {
            return Err(format!("it took {:?}", begun.elapsed()).into());
        }
    }
    let nowhere = path(&folder, "nowhere");
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        let mut command = cdpc();
        command.env_remove("CUDA_HOME").env_remove("CUDA_PATH").env(variable, &nowhere);
        let args = ["build", HELLO, "-o", &out];
        let done = run_limited(command.args(args), Duration::from_secs(60))?;
        if done.status.code() != Some(3) {
            return Err(format!("{variable}: {}", done.status).into());
        }
        contains(&text(&done.stderr), &[variable, &nowhere])?;
        // Where no tool is needed, nothing is wrong.
        let mut command = cdpc();
        command.env_remove("CUDA_HOME").env_remove("CUDA_PATH").env(variable, &nowhere);
        let args = ["build", HELLO, "--emit", "ptx", "-o", "-"];
        let done = run_limited(command.args(args), Duration::from_secs(60))?;
        if done.status.code() != Some(0) {
            return Err(format!("{variable}: {}\n{}", done.status, text(&done.stderr)).into());
        }
    }
    let compiler = path(&folder, "no-such-gcc");
    let exe = path(&folder, "a.exe");
    contains(&expect(&["build", HELLO, "-o", &exe, "-ccbin", &compiler], 3)?.1, &["no-such-gcc"])
}

#[cfg(not(unix))]
fn broken_tools() -> Outcome {
    Ok(())
}

/// Under a limit of memory, a sentence and no abort.
fn memory() -> Outcome {
    let folder = folder()?;
    let temp = path(&folder, "temp");
    std::fs::create_dir(&temp).map_err(|error| error.to_string())?;
    let kernel = write(&folder, "a.cdp", "__global__ void k(int *p) { *p = 1; }\n")?;
    let big = path(&folder, "big.cdp");
    let declarations: String = (0..400_000).map(|n| format!("int name_{n} = {n};\n")).collect();
    std::fs::write(&big, declarations).map_err(|error| error.to_string())?;
    let foreign = path(&folder, "big.ll");
    let globals: String = (0..1_500_000).map(|n| format!("@g{n} = global i32 {n}\n")).collect();
    std::fs::write(&foreign, globals).map_err(|error| error.to_string())?;
    // A program is looked at before it is compiled; LLVM IR is not.
    let cases: [(&str, u64, i32, &str); 4] = [
        (
            "run --device cpu --kernel k --arg 'zeros i32[20000000000]' KERNEL",
            4_000_000,
            3,
            "memory",
        ),
        ("build --emit ptx -o /dev/null FOREIGN", 1_300_000, 3, "memory"),
        ("check BIG", 1_200_000, 1, "error[E0116]"),
        ("build --emit ptx -o /dev/null BIG", 1_200_000, 1, "error[E0116]"),
    ];
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    for (line, kilobytes, code, wanted) in cases {
        let line =
            line.replace("KERNEL", &kernel).replace("BIG", &big).replace("FOREIGN", &foreign);
        let script = format!("ulimit -v {kilobytes}; exec {} {line}", executable.display());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).env("CDP_TESTS_AS_CDPC", "1").env("TMPDIR", &temp);
        let done = run_limited(&mut command, Duration::from_secs(120))?;
        let said = text(&done.stderr);
        let told = said.contains(wanted) && !said.contains("report this");
        if done.status.code() != Some(code) || !told {
            return Err(format!("{line}: {}\n{said}", done.status).into());
        }
        let left = std::fs::read_dir(&temp).map_err(|error| error.to_string())?.count();
        if left > 0 {
            return Err(format!("{line}: {left} folders stayed").into());
        }
    }
    Ok(())
}

/// The most memory of a process in kilobytes, as it says itself at its end: who looks from outside misses the most of one
/// that is soon done.
pub(crate) fn peak_kilobytes(mut command: std::process::Command) -> Result<u64, Failed> {
    let folder = folder()?;
    let file = folder.path().join("peak");
    let done = run_limited(command.env(PEAK_FILE, &file), Duration::from_secs(300))?;
    if !done.status.success() {
        return Err(format!("{}\n{}", done.status, text(&done.stderr)).into());
    }
    let said = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    said.parse().map_err(|_| format!("no number of kilobytes: {said}").into())
}

/// The object of a variable with an initialiser is made once, where it is written from.
fn large_variable() -> Outcome {
    let folder = folder()?;
    let peak = |name: &str, elements: usize| -> Result<u64, Failed> {
        let text =
            format!("int a[{elements}] = {{1}};\nint main() {{ return a[{}]; }}\n", elements - 1);
        let file = write(&folder, name, &text)?;
        let mut command = cdpc();
        let output = folder.path().join("a.o").to_string_lossy().into_owned();
        command.args(["build", &file, "--emit", "host-obj", "-o", &output]);
        peak_kilobytes(command)
    };
    let (before, after) = (peak("one.cdp", 1)?, peak("many.cdp", 16 << 20)?);
    let size = 64 << 10;
    if after - before >= size * 3 / 2 {
        return Err(format!("{after} KB, {before} KB with one element, for {size} KB").into());
    }
    Ok(())
}

/// Checking a program takes less than 30 times the memory of its text.
fn long_kernel() -> Outcome {
    let folder = folder()?;
    let peak = |name: &str, statements: usize| -> Result<(u64, u64), Failed> {
        let mut text =
            String::from("__global__ void k(int *p, int n) { int a = 1, b = 2, c = 3;\n");
        for number in 0..statements {
            text += &format!("    a = b * {number} + p[(c + {}) % n]; b ^= a;\n", number % 97);
        }
        text += "    p[0] = a + b + c;\n}\nint main() { return 0; }\n";
        let file = write(&folder, name, &text)?;
        let mut command = cdpc();
        command.args(["check", &file]);
        Ok((peak_kilobytes(command)?, text.len() as u64 >> 10))
    };
    let (before, _) = peak("small.cdp", 1)?;
    let (after, text) = peak("long.cdp", 50_000)?;
    let times = (after - before) / text;
    if times >= 30 {
        return Err(format!(
            "{after} KB, {before} KB without it, for {text} KB of text: {times} times"
        )
        .into());
    }
    long_build(before)?;
    long_chain(before)
}

/// PTX of a kernel of 30,000 statements: what variables hold is not read from memory again and again, and what the front
/// end had is given back. It took 129 times the text, 250 without optimisation.
fn long_build(before: u64) -> Outcome {
    let folder = folder()?;
    let mut text = String::from("__global__ void k(int *p, int n) { int a = 1, b = 2, c = 3;\n");
    for number in 0..30_000 {
        text += &format!("    a = b * {number} + p[(c + {}) % n]; b ^= a;\n", number % 97);
    }
    text += "    p[0] = a + b + c;\n}\n";
    let file = write(&folder, "long.cdp", &text)?;
    for level in ["-O0", "-O3"] {
        let mut command = cdpc();
        command.args(["build", &file, level, "--emit", "ptx", "-o", &path(&folder, "long.ptx")]);
        let (after, text) = (peak_kilobytes(command)?, text.len() as u64 >> 10);
        let times = (after - before) / text;
        if times >= 90 {
            return Err(format!("{level}: {after} KB for {text} KB of text: {times} times").into());
        }
    }
    Ok(())
}

/// PTX of a kernel in which each computation goes on from all before it takes what LLVM needs for every instruction, and
/// no more: nvcc takes as much.
fn long_chain(before: u64) -> Outcome {
    let folder = folder()?;
    let mut text = String::from("__global__ void k(int *p, int x) {\n");
    for number in 0..6000 {
        text += &format!("    x = x * {} + p[{}];\n", number % 97 + 3, number % 1000);
    }
    text += "    p[0] = x;\n}\n";
    let file = write(&folder, "chain.cdp", &text)?;
    for level in ["-O1", "-O3"] {
        let mut command = cdpc();
        command.args(["build", &file, level, "--emit", "ptx", "-o", &path(&folder, "chain.ptx")]);
        let (after, text) = (peak_kilobytes(command)?, text.len() as u64 >> 10);
        let times = (after - before) / text;
        if times >= 800 {
            return Err(format!("{level}: {after} KB for {text} KB of text: {times} times").into());
        }
    }
    many_kernels()
}

/// Tree and IR of the front end are gone while LLVM works, the IR of a function when LLVM has it: with both, 3,000 kernels took
/// 105 times their text. Where only findings are wanted there is no IR of what is finished: it was 42 times.
fn many_kernels() -> Outcome {
    let folder = folder()?;
    let peak = |name: &str, kernels: usize, checked: bool| -> Result<(u64, u64), Failed> {
        let mut text = String::new();
        for number in 0..kernels {
            text += &format!(
                "__global__ void kernel_{number}(float *out, const float *in, int n)\n{{\n    \
                 int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {{\n        \
                 float v = in[i];\n        v = v * {number}.5f + 1.0f;\n        \
                 out[i] = v > 0 ? v : -v;\n    }}\n}}\n\n"
            );
        }
        let file = write(&folder, name, &text)?;
        let mut command = cdpc();
        if checked {
            command.args(["check", &file]);
        } else {
            command.args(["build", &file, "--emit", "ptx", "--threads", "1"]);
            command.args(["-o", &path(&folder, "kernels.ptx")]);
        }
        Ok((peak_kilobytes(command)?, text.len() as u64 >> 10))
    };
    for (checked, most) in [(true, 38), (false, 66)] {
        let (before, _) = peak("one.cdp", 1, checked)?;
        let (after, text) = peak("many.cdp", 3000, checked)?;
        let times = (after - before) / text;
        if times >= most {
            return Err(format!(
                "{after} KB, {before} KB without it, for {text} KB of text: {times} times"
            )
            .into());
        }
    }
    Ok(())
}

/// Said before anything is read.
fn too_large() -> Outcome {
    let folder = folder()?;
    let file = path(&folder, "a.cdp");
    let made = std::fs::File::create(&file).and_then(|file| file.set_len((64 << 20) + 1));
    made.map_err(|error| error.to_string())?;
    contains(&expect(&["check", &file], 3)?.1, &["a.cdp", "larger than 64 MB"])?;
    let includes = write(&folder, "b.cdp", "#include \"a.cdp\"\n")?;
    contains(&expect(&["check", &includes], 1)?.1, &["a.cdp"])
}
