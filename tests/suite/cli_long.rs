//! Programs as generators of code write them: functions of thousands of like statements, of which each must take its share of
//! time and memory and no more. The limits are of the processor's time, several times what a debug build takes.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::cli::{folder, path, text, write};
use crate::cli_limits::peak_kilobytes;
use crate::support::{Outcome, cdpc, run_limited, trial};

pub fn trials() -> Vec<Trial> {
    let mut tests: Vec<(&str, fn() -> Outcome)> = Vec::new();
    if cfg!(unix) {
        tests.push(("sums", sums));
        tests.push(("chains_of_sums", chains));
        tests.push(("copies_of_structs", copies));
        tests.push(("loops", loops));
        tests.push(("branches_of_host_code", host_branches));
        tests.push(("sums_of_host_code", host_sums));
    }
    if cfg!(target_os = "linux") {
        tests.push(("memory_of_branches", branches));
    }
    tests.into_iter().map(|(name, test)| trial(format!("cli::long_{name}"), test)).collect()
}

/// The lines of a program that differ in a number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Builds a program, which the system ends after `seconds` of the processor.
fn within(seconds: u32, goal: &str, program: &str) -> Outcome {
    let folder = folder()?;
    let file = write(&folder, "long.cdp", program)?;
    let output = path(&folder, "long.out");
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let script = format!(
        "ulimit -t {seconds}; exec {} build {goal} {file} -o {output}",
        executable.display()
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).env("CDP_TESTS_AS_CDPC", "1");
    let done = run_limited(&mut command, Duration::from_secs(300))?;
    if !done.status.success() {
        return Err(format!("{}\n{}", done.status, text(&done.stderr)).into());
    }
    Ok(())
}

/// Sums of up to 500 parts: with each sum compared with each before it, it was half a minute.
fn sums() -> Outcome {
    let body = lines(500, |n| format!("  s += atomicAdd(&a[{n}], s); atomicMax(a + s, {n});\n"));
    let program = format!("__global__ void k(int *a) {{\n  int s = 0;\n{body}  a[0] = s;\n}}\n");
    within(12, "-O3 --emit ptx", &program)
}

/// One sum of what 2,000 functions return: each two parts of each sum were looked at, which took minutes.
fn chains() -> Outcome {
    let functions =
        lines(2000, |n| format!("__device__ int f{n}(int a) {{ return a * {n} + 1; }}\n"));
    let body = lines(2000, |n| format!("  s += f{n}(b);\n"));
    let program = format!(
        "{functions}__global__ void k(int *a) {{\n  int s = a[0], b = a[1];\n{body}  a[0] = s;\n}}\n"
    );
    within(15, "-O3 --emit ptx", &program)
}

/// 800 copies of structs, word by word: each word was compared with all others, which took half a minute.
fn copies() -> Outcome {
    let body = lines(800, |n| format!("  {{ s x = q[{n}]; x.v[3] = a; q[{}] = x; }}\n", n + 1));
    let program =
        format!("struct s {{ int v[16]; }};\n__global__ void k(s *q, int a) {{\n{body}}}\n");
    within(20, "-O3 --emit ptx", &program)
}

/// 2,000 loops: with the tree of blocks brought up to date, and what was known of values forgotten, for each that was turned, they took
/// twice as long.
fn loops() -> Outcome {
    let body = lines(2000, |n| {
        format!("  for (int j = 0; j < n + {n}; j++) x = x * 3 + a[j * {}];\n", n % 17 + 1)
    });
    let program =
        format!("__global__ void k(int *a, int n) {{\n  int x = n;\n{body}  a[0] = x;\n}}\n");
    within(13, "-O3 --emit ptx --threads 1", &program)
}

/// A `main` of 5,000 branches took more than a minute.
fn host_branches() -> Outcome {
    let body = lines(5000, |n| format!("  if (a > {n}) b += p[{}]; else c ^= {n};\n", n % 64));
    let program = format!(
        "int main(int argc, char **argv) {{\n  int a = argc, b = 2, c = 3, p[64] = {{}};\n{body}  \
         return a + b + c;\n}}\n"
    );
    within(10, "--emit host-obj", &program)?;
    within(20, "-O2 --emit host-obj -Xcompiler -O2", &program)
}

/// One sum of 5,000 results took more than a minute.
fn host_sums() -> Outcome {
    let body = lines(5000, |n| format!("  a += abs(a - {n}); p[{}] = a;\n", n % 64));
    let program = format!(
        "#include <stdlib.h>\nint main(int argc, char **argv) {{\n  int a = argc, p[64] = {{}};\n{body}  \
         return p[a & 63];\n}}\n"
    );
    within(12, "--emit host-obj", &program)
}

/// What callers might learn of a kernel with thousands of branches is not collected: it grew with the square of their number,
/// to 730 times the text for these 20,000 statements and 3,000 for 100,000.
fn branches() -> Outcome {
    let folder = folder()?;
    let body = lines(20_000, |n| match n % 7 {
        0 => format!("    a = a * {n} + b;\n"),
        1 => format!("    p[{n}] = a ^ c;\n"),
        2 => format!("    b += p[{}] & {n};\n", n % 1000),
        3 => format!("    c = (a >> {}) + b;\n", n % 31),
        4 => format!("    if (c > {n}) p[{n}] = b;\n"),
        5 => "    b = b - c * 3;\n".to_string(),
        _ => format!("    c ^= a + {n};\n"),
    });
    let program = format!(
        "__global__ void k(int *p) {{\n    int a = p[0], b = p[1], c = p[2];\n{body}    \
         p[0] = a + b + c;\n}}\n"
    );
    let file = write(&folder, "long.cdp", &program)?;
    let mut command = cdpc();
    command.args(["build", &file, "-O3", "--emit", "ptx", "--threads", "1"]);
    command.args(["-o", &path(&folder, "long.ptx")]);
    let (peak, text) = (peak_kilobytes(command)?, program.len() as u64 >> 10);
    if peak / text >= 300 {
        return Err(format!("{peak} KB for {text} KB of text: {} times", peak / text).into());
    }
    Ok(())
}
