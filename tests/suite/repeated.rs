//! Many modules in one process: what is kept from one to the next (threads, target machines, their
//! passes, the headers that every program has) must not show in any of them.

use std::collections::HashMap;

use cdp::{CompileOptions, DebugInfo, Goal, Input, OptLevel};
use libtest_mimic::{Failed, Trial};

use crate::cli;
use crate::support::{Outcome, compiler, explain, files, read, root, same, stem, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("repeated::modules_leave_no_trace".into(), modules_leave_no_trace),
        trial("repeated::errors_leave_no_trace".into(), errors_leave_no_trace),
        trial("repeated::shared_memory_leaves_no_trace".into(), shared_memory_leaves_no_trace),
        trial("repeated::variables_are_in_order".into(), variables_are_in_order),
        trial("repeated::halves_on_any_threads".into(), halves_on_any_threads),
    ]
}

/// Which options share a target machine: those of one optimisation level.
const SETTINGS: [(OptLevel, DebugInfo); 5] = [
    (OptLevel::O0, DebugInfo::None),
    (OptLevel::O0, DebugInfo::Full),
    (OptLevel::O0, DebugInfo::Lines),
    (OptLevel::O3, DebugInfo::None),
    (OptLevel::O3, DebugInfo::Lines),
];

fn ptx(name: &str, text: &str, setting: usize) -> Result<String, Failed> {
    let (opt_level, debug) = SETTINGS[setting];
    let options = CompileOptions::default().with(|options| {
        options.opt_level = opt_level;
        options.debug = debug;
    });
    let input = [Input::source(name, text)];
    let made = compiler()?.compile(&input, Goal::Ptx, &options).map_err(explain)?;
    String::from_utf8(made.bytes).map_err(|error| error.to_string().into())
}

/// Every sample with every setting, in one order, and then the other way round on several threads.
fn modules_leave_no_trace() -> Outcome {
    let mut jobs = Vec::new();
    for path in files(&root().join("samples"), "cdp") {
        let text = read(&path)?;
        jobs.extend((0..SETTINGS.len()).map(|setting| (stem(&path), text.clone(), setting)));
    }
    let mut first = HashMap::new();
    for (name, text, setting) in &jobs {
        first.insert((name.clone(), *setting), ptx(name, text, *setting)?);
    }
    let again = |start: usize| -> Outcome {
        for (name, text, setting) in jobs.iter().rev().skip(start).step_by(2) {
            let what = format!("{name} with {:?}", SETTINGS[*setting]);
            same(&what, &ptx(name, text, *setting)?, &first[&(name.clone(), *setting)])?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|start| scope.spawn(move || again(start)));
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// The host side is made beside the device side unless one thread is asked for: the program is the same, and so is
/// what is said of a program with errors in either half. Where files are kept its device code is linked in, and it does
/// the same.
fn halves_on_any_threads() -> Outcome {
    let folder = cli::folder()?;
    let sample = root().join("samples/nested/spmv.cdp").to_string_lossy().into_owned();
    let host_error = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return host; }\n";
    let both = "__global__ void k() { device = 1; }\nint main() { return host; }\n";
    let broken = [("host.cdp", host_error), ("both.cdp", both)];
    let broken = broken.map(|(name, text)| cli::write(&folder, name, text));
    for source in std::iter::once(Ok(sample)).chain(broken) {
        let (source, out) = (source?, cli::path(&folder, "program"));
        let build = |threads: &str| {
            let made = cli::run(&["build", &source, "-O1", "-t", threads, "-o", &out])?;
            let program = std::fs::read(&out).ok();
            drop(std::fs::remove_file(&out));
            Ok::<_, Failed>((made.status.code(), cli::text(&made.stderr), program))
        };
        let (beside, after) = (build("2")?, build("1")?);
        same(&source, &beside.1, &after.1)?;
        if (beside.0, &beside.2) != (after.0, &after.2)
            || beside.2.is_some() != (beside.0 == Some(0))
        {
            return Err(format!("{source}: {:?} and {:?}", beside.0, after.0).into());
        }
    }
    code_is_linked_or_put()
}

fn code_is_linked_or_put() -> Outcome {
    let folder = cli::folder()?;
    let text = "#include <stdio.h>\n__global__ void k() { printf(\"%d\", threadIdx.x); }\n\
                int main() { k<<<1, 3>>>(); return cudaDeviceSynchronize(); }\n";
    let source = cli::write(&folder, "k.cdp", text)?;
    let (put, linked, kept) =
        (cli::path(&folder, "put"), cli::path(&folder, "linked"), cli::path(&folder, "kept"));
    cli::run(&["build", &source, "-o", &put])?;
    cli::run(&["build", &source, "--keep", &kept, "-o", &linked])?;
    for program in [&put, &linked, &format!("{kept}/k.exe")] {
        let out = std::process::Command::new(program).env("CDP_DEVICE", "cpu").output();
        let out = out.map_err(|error| format!("{program}: {error}"))?;
        same(program, &cli::text(&out.stdout), "012")?;
    }
    if std::fs::read(&put).ok() == std::fs::read(&linked).ok() {
        return Err("the code was not put into the program, but linked in".into());
    }
    Ok(())
}

/// LLVM writes a shared variable into the body of its one kernel, and finds it by the kernel's address,
/// which a kernel of the next module soon has.
fn shared_memory_leaves_no_trace() -> Outcome {
    for round in 0..50 {
        let shared = format!(
            "__global__ void k{round}(int *p) {{ __shared__ int s[{}]; s[threadIdx.x] = *p; \
             __syncthreads(); p[threadIdx.x] = s[31 - threadIdx.x]; }}\n",
            32 + round
        );
        let plain =
            "__global__ void k(int *p) { *p = 1; }\n__global__ void l(int *p) { *p = 2; }\n";
        for (name, text, wanted) in [("shared.cdp", shared.as_str(), 1), ("plain.cdp", plain, 0)] {
            let made = ptx(name, text, 3)?;
            if made.matches(".shared .align").count() != wanted {
                return Err(format!("round {round}:\n{made}").into());
            }
        }
    }
    Ok(())
}

/// A module that LLVM gives up on, and programs with errors, between two that are fine.
fn errors_leave_no_trace() -> Outcome {
    let fine = "__global__ void k(int *p) { *p = 1; }\n";
    let before = ptx("fine.cdp", fine, 3)?;
    let gives_up = "target triple = \"nvptx64-nvidia-cuda\"\n\
        declare <2 x double> @llvm.x86.sse2.min.pd(<2 x double>, <2 x double>)\n\
        define ptx_kernel void @k(ptr %p) {\n  %v = load <2 x double>, ptr %p\n  \
        %m = call <2 x double> @llvm.x86.sse2.min.pd(<2 x double> %v, <2 x double> %v)\n  \
        store <2 x double> %m, ptr %p\n  ret void\n}\n";
    let options = CompileOptions::default();
    for input in [
        Input::llvm("up.ll", gives_up),
        Input::source("macro.cdp", "#undef INT_MAX\n#define INT_MAX 1\n#define int oops\nint x;"),
        Input::source("type.cdp", "typedef float size_t; __global__ void k() { y = 1; }"),
        Input::source("cut.cdp", "__global__ void k(int *p) { if (p"),
    ] {
        let name = input.name();
        if compiler()?.compile(&[input], Goal::Ptx, &options).is_ok() {
            return Err(format!("{name} was accepted").into());
        }
        same(&format!("after {name}"), &ptx("fine.cdp", fine, 3)?, &before)?;
    }
    let limit = "__device__ unsigned long x = INT_MAX + sizeof(size_t);\n";
    let text = ptx("limit.cdp", limit, 3)?;
    if text.contains("2147483655") { Ok(()) } else { Err(text.into()) }
}

/// Variables that an initialiser mentions come first and in the order in which it mentions them, not in
/// that of their addresses.
fn variables_are_in_order() -> Outcome {
    const COUNT: usize = 48;
    let texts: Vec<String> = (0..COUNT).map(|n| format!("\"text {n:02}\"")).collect();
    let names: Vec<String> = (0..COUNT).rev().map(|n| format!("&v{n}")).collect();
    let variables: String = (0..COUNT).map(|n| format!("extern __device__ int v{n};\n")).collect();
    let definitions: String =
        (0..COUNT).map(|n| format!("__device__ int v{n} = {};\n", n + 1)).collect();
    let source = format!(
        "{variables}__device__ const char *const texts[] = {{ {} }};\n\
         __device__ int *const names[] = {{ {} }};\n{definitions}\
         __global__ void k(const char **p, int **q, int i) {{ *p = texts[i]; *q = names[i]; }}\n",
        texts.join(", "),
        names.join(", "),
    );
    let text = ptx("order.cdp", &source, 3)?;
    let at = |what: &str| {
        text.find(&format!("{what}["))
            .or_else(|| text.find(&format!("{what} = ")))
            .ok_or_else(|| Failed::from(format!("`{what}` is not defined in\n{text}")))
    };
    let mut places = (0..COUNT).map(|n| at(&format!("$str{n}"))).collect::<Result<Vec<_>, _>>()?;
    places.push(at("texts")?);
    let numbers = (0..COUNT).rev().map(|n| at(&format!(" v{n}"))).collect::<Result<Vec<_>, _>>()?;
    if !places.is_sorted() || !numbers.is_sorted() {
        return Err(format!("the variables are not in order:\n{text}").into());
    }
    same("a second time", &ptx("order.cdp", &source, 3)?, &text)
}
