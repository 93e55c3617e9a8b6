//! The launch optimiser: every run case, sample and nested program prints the same at every level, with
//! thresholds from none to all; and the cases of `cases/launches` say what becomes of each launch.
//!
//! A line of such a case with a launch ends in `//~ OUTCOME` or `//~ kept: PART OF THE REASON`, for the level
//! that `// flags: fast` names (`safe` without). The case is run too, when it has a `.out` beside it, also with lanes
//! that meet again only where an instruction says so.

use std::path::Path;

use cdp::{
    Arch, BuildRequest, CompileOptions, DebugInfo, Goal, Input, InputKind, LaunchOpt,
    LaunchOutcome, LaunchRemark, LaunchTuning, OptLevel, SourceInput,
};
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::oracle;
use crate::run::{
    execute, execute_apart, execute_in_orders, execute_with, foreign_program, runtime_library,
};
use crate::support::{
    Outcome, cases, cdpc, compiler, explain, files, job, read, root, stem, trial,
};

/// What a program of `samples/nested` takes as its first argument.
pub const VARIANTS: [&str; 3] = ["naive", "flat", "tuned"];

/// Programs whose device code is also handed over as bitcode: children of one site, of two sites, of two dimensions.
const FOREIGN: [&str; 3] = ["bfs", "join", "triangles"];
/// Cases of which the same must be found where clang reads them, through CUDA's headers.
const AS_CUDA: [&str; 5] = ["proved", "relaxed", "streams", "sums", "unrecorded"];
/// Orders of execution beside the usual one.
const SEEDS: [&str; 3] = ["1", "2", "3"];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in files(&cases("run"), "cdp").into_iter().chain(files(&root().join("samples"), "cdp"))
    {
        trials.push(trial(format!("launches::run::{}", stem(&path)), move || same_output(&path)));
    }
    for path in files(&root().join("samples/nested"), "cdp") {
        let name = format!("launches::nested::{}", stem(&path));
        let by_nvcc = path.clone();
        trials.push(trial(name.clone(), move || nested(&path)));
        trials.push(
            trial(format!("{name}::nvcc"), move || nested_by_nvcc(&by_nvcc))
                .with_ignored_flag(!oracle::has_nvcc()),
        );
    }
    for name in FOREIGN {
        let path = root().join("samples/nested").join(name).with_extension("cdp");
        trials.push(
            trial(format!("launches::bitcode::{name}"), move || bitcode(&path))
                .with_ignored_flag(!oracle::has_clang()),
        );
    }
    trials.push(trial("launches::functions_are_kept".into(), functions_are_kept));
    trials.push(trial("launches::registers".into(), registers));
    trials.push(trial("launches::large_children_of_few".into(), large_children_of_few));
    trials.push(trial("launches::middle_children_of_few".into(), middle_children_of_few));
    trials.push(trial("launches::shapes_by_turns".into(), shapes_by_turns));
    let long = long_children_of_several_blocks;
    trials.push(trial("launches::long_children_of_several_blocks".into(), long));
    trials.push(trial("launches::default".into(), default_level));
    trials.push(
        trial("launches::default_of_cuda".into(), default_of_cuda)
            .with_ignored_flag(!oracle::has_clang()),
    );
    for path in files(&cases("launches"), "cdp") {
        let name = format!("launches::remarks::{}", stem(&path));
        if AS_CUDA.contains(&stem(&path).as_str()) {
            let path = path.clone();
            trials.push(
                trial(format!("{name}::cuda"), move || remarks_of_cuda(&path))
                    .with_ignored_flag(!oracle::has_clang()),
            );
        }
        trials.push(trial(name, move || remarks(&path)));
    }
    trials
}

/// Levels and thresholds: by the model, tiny (both the launch and its replacement run), none launched, all
/// launched with the smallest memory for those of a grid or a block, and with enough for a block's, and by a model in which every child was too slow to be
/// run. That memory is small in all of them, so that launches find it full too, and blocks do the work of several.
fn settings() -> Vec<(LaunchOpt, LaunchTuning)> {
    let small = LaunchTuning {
        queue: 2,
        queue_large: 32,
        waves: 1,
        sequence: 3,
        stack: 2,
        stack_warp: 3,
        stack_in_order: 2,
        ..LaunchTuning::default()
    };
    let tuning = |own, threshold| LaunchTuning { own, threshold, ..small };
    let slow = LaunchTuning {
        pace: 0,
        stack_cycles: 0,
        stack_warp: 256,
        stack_warp_cycles: 0,
        stack_in_order: 64,
        ..small
    };
    let tunings = [
        small,
        tuning(2, Some(5)),
        LaunchTuning { inside: 2, ..tuning(0, Some(1 << 20)) },
        LaunchTuning {
            queue: 1,
            queue_records: 1,
            queue_large: 0,
            sequence: 1,
            stack: 0,
            stack_warp: 0,
            stack_in_order: 0,
            ..tuning(0, Some(0))
        },
        // All are recorded, and those of one block are run in their turn.
        LaunchTuning { sequence: 256, turn_blocks: 1, ..tuning(0, Some(0)) },
        LaunchTuning { sequence: 256, ..slow },
    ];
    let levels = [LaunchOpt::Safe, LaunchOpt::Fast];
    levels.into_iter().flat_map(|level| tunings.map(|tuning| (level, tuning))).collect()
}

fn options(path: &Path, level: LaunchOpt, tuning: LaunchTuning) -> Result<CompileOptions, Failed> {
    let directives = Directives::of(path)?;
    let arch = directives.archs()?.first().copied().unwrap_or(Arch::SM_90);
    Ok(directives.options(arch).with(|options| {
        options.launch_opt = level;
        options.launch_tuning = tuning;
    }))
}

/// A program and what became of its launches.
fn build(
    path: &Path,
    options: &CompileOptions,
    goal: Goal,
) -> Result<(Vec<u8>, Vec<LaunchRemark>), Failed> {
    let inputs = [Input::Source(SourceInput::File(path.to_owned()))];
    let job = job()?;
    let built = compiler()?
        .build(
            &BuildRequest::new(&inputs, goal, options, &job)
                .with(|request| request.runtime_library = runtime_library()),
        )
        .map_err(explain)?;
    Ok((built.bytes, built.remarks))
}

fn same_output(path: &Path) -> Outcome {
    let expected = read(&path.with_extension("out"))?;
    for level in [LaunchOpt::Safe, LaunchOpt::Fast] {
        let (_, remarks) = build(path, &options(path, level, LaunchTuning::default())?, Goal::Ptx)?;
        let changed = remarks.iter().any(|remark| remark.outcome != LaunchOutcome::Kept);
        let lines = options(path, level, LaunchTuning::default())?;
        build(path, &lines.with(|options| options.debug = DebugInfo::Lines), Goal::Ptx)?;
        // Some programs print what the order of execution decides, whoever compiles them.
        let any_order = changed && {
            let off = options(path, LaunchOpt::Off, LaunchTuning::default())?;
            let (program, _) = build(path, &off, Goal::Executable)?;
            execute_in_orders(&program, &[], &SEEDS, "output without the optimiser", &expected)
                .is_ok()
        };
        for (level, tuning) in
            settings().into_iter().filter(|(found, _)| changed && *found == level)
        {
            let (program, _) = build(path, &options(path, level, tuning)?, Goal::Executable)?;
            let what = format!("output at {level:?}, {tuning:?}");
            // With the race checker too, to which the lock must look like one.
            execute(&program, &what, &expected)?;
            if any_order {
                execute_in_orders(&program, &[], &SEEDS, &what, &expected)?;
            }
        }
    }
    Ok(())
}

/// What ptxas makes of the functions of recorded launches is kept, and changes nothing.
fn functions_are_kept() -> Outcome {
    let path = root().join("samples/nested/spmv.cdp");
    let plain = options(&path, LaunchOpt::Safe, LaunchTuning::default())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let cached = plain.clone();
    let cached = cached.with(|options| options.cache_dir = Some(folder.path().to_owned()));
    let (wanted, _) = build(&path, &plain, Goal::Cubin)?;
    for round in ["made", "kept"] {
        if build(&path, &cached, Goal::Cubin)?.0 != wanted {
            return Err(format!("another cubin with functions that are {round}").into());
        }
    }
    let kept = files(&folder.path().join("recorded"), "o");
    let [kept] = &kept[..] else { return Err(format!("not one object: {kept:?}").into()) };
    let object = std::fs::read(kept).map_err(|error| error.to_string())?;
    let name = b"__cdp_sequence_record";
    if !object.windows(name.len()).any(|part| part == name) {
        return Err("the object has not the functions".into());
    }
    std::fs::write(kept, "damaged").map_err(|error| error.to_string())?;
    let mut again = cdpc();
    again.env("CDP_CACHE_DIR", folder.path()).arg("build").arg(&path).args(["-O3", "-o"]);
    again.arg(folder.path().join("again.cubin")).arg("-flaunch-opt=safe");
    let made = again.output().map_err(|error| error.to_string())?;
    if !made.status.success() || std::fs::read(kept).is_ok_and(|bytes| bytes == b"damaged") {
        return Err("a damaged object is not made anew".into());
    }
    Ok(())
}

/// Kernels that are limited to few registers are linked with the functions of recorded launches, for each architecture.
fn registers() -> Outcome {
    let limits = [
        "",
        "__launch_bounds__(64)",
        "__launch_bounds__(1024)",
        "__launch_bounds__(1024, 2)",
        "__launch_bounds__(256, 8)",
        "__maxnreg__(32)",
        "__maxnreg__(96)",
    ];
    // One that is only recorded, one that sites run too and that takes many registers, and one that launches itself.
    let children = [
        "__syncthreads(); p[p[r]] = r;",
        "int own[48], sum = 0;
         for (int i = 0; i < 48; i++) own[i] = p[r + i * 64];
         for (int i = 0; i < 48; i++) { p[r + i * 65] = own[47 - i]; sum = sum * 3 + own[i] * own[i * 7 % 48]; }
         p[r] = sum;",
        "__syncthreads(); int own[48];
         for (int i = 0; i < 48; i++) own[i] = p[r + i * 64];
         for (int i = 0; i < 48; i++) p[r + i * 65] = own[47 - i] * own[i * 7 % 48];
         if (threadIdx.x == 0 && r > 0) child<<<1, 64>>>(p, r / 2);",
    ];
    let cases = limits.iter().flat_map(|limit| children.map(|child| (limit, child)));
    for name in ["sm_75", "sm_80", "sm_90"] {
        let arch = Arch::parse(name).map_err(|error| error.to_string())?;
        for (limit, child) in cases.clone() {
            let own = if child.contains("<<<") { limit } else { "" };
            let source = format!(
                "__global__ void {own} child(int *p, int r) {{ {child} }}
                 __global__ void {limit} parent(int *p) {{ child<<<1, 64>>>(p, threadIdx.x); }}"
            );
            let level = LaunchOpt::Safe;
            let options = CompileOptions::default().with(|options| {
                options.archs = vec![arch];
                options.launch_opt = level;
            });
            let inputs = [Input::source("limits.cdp", source)];
            let built = compiler()?.compile(&inputs, Goal::Cubin, &options);
            let built = built.map_err(|error| format!("{arch} {limit}: {error}"))?;
            let one = |remark: &LaunchRemark| remark.outcome != LaunchOutcome::Kept;
            if !built.remarks.iter().all(one) || built.remarks.is_empty() {
                return Err(format!("{arch} {limit}: {:?}", built.remarks).into());
            }
        }
    }
    Ok(())
}

/// Large children that few threads launch, and nothing else, are launched by them; where some of the children are small,
/// the others are recorded. The sum is the same.
fn large_children_of_few() -> Outcome {
    let source = r#"
        #include <stdio.h>
        __device__ unsigned total;
        __global__ void add(const int *places, int n, int t) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n && places[t] == t) atomicAdd(&total, 1u + i % 3);
        }
        __global__ void parent(int *places, const int *sizes) {
            int t = threadIdx.x;
            places[t] = t;
            add<<<(sizes[t] + 255) / 256, 256>>>(places, sizes[t], t);
            add<<<(sizes[t] + 255) / 256, 256>>>(places, sizes[t], t);
        }
        int main(int argc, char **argv) {
            int sizes[32], *on_device, *places;
            for (int t = 0; t < 32; t++) sizes[t] = argc > 1 && t % 4 == 0 ? 100 : 1000 + t;
            cudaMalloc(&on_device, sizeof(sizes));
            cudaMalloc(&places, sizeof(sizes));
            cudaMemcpy(on_device, sizes, sizeof(sizes), cudaMemcpyHostToDevice);
            parent<<<1, 32>>>(places, on_device);
            unsigned sum;
            cudaDeviceSynchronize();
            cudaMemcpyFromSymbol(&sum, total, sizeof(sum));
            printf("%u\n", sum);
            return 0;
        }"#;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("large.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let cases: [(&[&str], &str, bool); 2] =
        [(&[], "129940\n", false), (&["--", "some"], "100688\n", true)];
    for (arguments, sum, recorded) in cases {
        let mut command = cdpc();
        command.args(["run", "--device", "cpu", "--profile", "-flaunch-opt=safe"]).arg(&path);
        let output = command.args(arguments).output().map_err(|error| error.to_string())?;
        let profile = String::from_utf8_lossy(&output.stderr);
        if output.stdout != sum.as_bytes() || profile.contains("__cdp_sequence_of_") != recorded {
            return Err(format!("{arguments:?}: {output:?}").into());
        }
    }
    Ok(())
}

/// Children that a stream orders are run by one lane only while its launches take longer: those of one thread take less
/// time than those of many threads do.
fn middle_children_of_few() -> Outcome {
    let source = r#"
        #include <stdio.h>
        __global__ void add(int *sums, int s) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            sums[i * 4 + s % 4] += s;
        }
        __global__ void parent(int *sums, int n) {
            if (threadIdx.x == 0)
                for (int s = 1; s <= n; ++s)
                    add<<<2, 128>>>(sums + blockIdx.x * 1024, s);
        }
        int main(int argc, char **argv) {
            int blocks = argc > 1 ? 40 : 1;
            int *sums, on_host[1024];
            cudaMalloc(&sums, blocks * 4096);
            cudaMemset(sums, 0, blocks * 4096);
            parent<<<blocks, 32>>>(sums, 8);
            cudaMemcpy(on_host, sums + (blocks - 1) * 1024, 4096, cudaMemcpyDeviceToHost);
            int sum = 0;
            for (int i = 0; i < 1024; i++) sum += on_host[i];
            printf("%d\n", sum);
            return 0;
        }"#;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("middle.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let cases: [(&[&str], bool); 2] = [(&[], true), (&["--", "many"], false)];
    for (arguments, launched) in cases {
        let mut command = cdpc();
        command.args(["run", "--device", "cpu", "--profile", "-flaunch-opt=safe"]).arg(&path);
        let output = command.args(arguments).output().map_err(|error| error.to_string())?;
        let profile = String::from_utf8_lossy(&output.stderr);
        if output.stdout != b"9216\n" || profile.contains("\nadd ") != launched {
            return Err(format!("{arguments:?}: {output:?}").into());
        }
    }
    Ok(())
}

/// Recorded children go on in a block of their own where several of one shape follow each other, and are launched as they
/// are where each wants a block of another shape.
fn shapes_by_turns() -> Outcome {
    let source = r#"
        #include <stdio.h>
        __global__ void sum(const int *from, int *to, int n) {
            extern __shared__ int all[];
            all[threadIdx.x] = threadIdx.x < n ? from[threadIdx.x] : 0;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) *to += all[0];
        }
        __global__ void parent(const int *from, int *to, int kinds) {
            int size = 32 << threadIdx.x % kinds;
            sum<<<1, size, size * sizeof(int)>>>(from, to + threadIdx.x, 8 + threadIdx.x % 8);
        }
        int main(int argc, char **argv) {
            int from[64], to[64], *on_device, total = 0;
            for (int i = 0; i < 64; i++) from[i] = i;
            cudaMalloc(&on_device, 512);
            cudaMemset(on_device, 0, 512);
            cudaMemcpy(on_device, from, 256, cudaMemcpyHostToDevice);
            parent<<<1, 64>>>(on_device, on_device + 64, argc > 1 ? 2 : 1);
            cudaMemcpy(to, on_device + 64, 256, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 64; i++) total += to[i];
            printf("%d\n", total);
            return 0;
        }"#;
    few_runners(source, &[(&[], "4032\n", 1..=1), (&["--", "two"], "4032\n", 0..=8)])
}

/// Children of several blocks that take long have these at the same time, since they are launched, once a block has found
/// out.
fn long_children_of_several_blocks() -> Outcome {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        __global__ void work(int *to, int turns) {
            __shared__ int some[32];
            int x = blockIdx.x * 32 + threadIdx.x;
            for (int i = 0; i < turns; ++i) {
                some[threadIdx.x] = x;
                __syncthreads();
                x = some[threadIdx.x ^ 1] * 5 + i;
                __syncthreads();
            }
            to[blockIdx.x * 32 + threadIdx.x] += x;
        }
        __global__ void parent(int *to, int turns) {
            for (int i = 0; i < 4; ++i)
                if (threadIdx.x == i) work<<<3, 32>>>(to + blockIdx.x * 96, turns);
        }
        int main(int argc, char **argv) {
            int *to; unsigned on_host[64 * 96], total = 0;
            cudaMalloc(&to, sizeof on_host);
            cudaMemset(to, 0, sizeof on_host);
            for (int round = 0; round < 2; ++round)
                parent<<<64, 32>>>(to, argc > 1 ? atoi(argv[1]) : 2);
            cudaMemcpy(on_host, to, sizeof on_host, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 64 * 96; i++) total += on_host[i];
            printf("%u\n", total);
            return 0;
        }"#;
    let short: (&[&str], _, _) = (&["--", "2"], "58417152\n", 128..=128);
    few_runners(source, &[short, (&["--", "5000"], "4209287168\n", 0..=32)])
}

/// That a program prints what it should in `safe` for each of these arguments, and how many grids ran recorded ones.
fn few_runners(source: &str, cases: &[(&[&str], &str, std::ops::RangeInclusive<u32>)]) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("recorded.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    for (arguments, printed, runners) in cases {
        let mut command = cdpc();
        command.args(["run", "--device", "cpu", "--profile", "-flaunch-opt=safe"]).arg(&path);
        let output = command.args(*arguments).output().map_err(|error| error.to_string())?;
        let profile = String::from_utf8_lossy(&output.stderr);
        let row = profile.lines().find(|line| line.starts_with("__cdp_sequence_of_"));
        let grids = row.and_then(|row| row.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0);
        if output.stdout != printed.as_bytes() || !runners.contains(&grids) {
            return Err(format!("{arguments:?}: {grids} grids, {output:?}").into());
        }
    }
    Ok(())
}

/// PTX by `cdpc build`, with more arguments.
pub fn built(path: &Path, arguments: &[&str]) -> Result<String, Failed> {
    let mut command = cdpc();
    command.arg("build").arg(path).args(["--emit", "ptx", "-o", "-"]).args(arguments);
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// Without a level `safe` is meant, from `-O2` on, and nothing below it, for a debugger, or before sm_70.
fn default_of(path: &Path) -> Outcome {
    for level in [&[] as &[&str], &["-O2"], &["-O3"], &["-O3", "-lineinfo"]] {
        let by = |opt: &str| built(path, &[level, &[opt]].concat());
        let (found, safe, off) =
            (built(path, level)?, by("-flaunch-opt=safe")?, by("-flaunch-opt=off")?);
        if found != safe || found == off {
            return Err(format!("{level:?}: not what `safe` makes").into());
        }
    }
    for level in [&["-O0"] as &[&str], &["-O1"], &["-G"], &["-O3", "--arch", "sm_60"]] {
        let by = |opt: &str| built(path, &[level, &[opt]].concat());
        let (found, safe) = (built(path, level)?, by("-flaunch-opt=safe")?);
        if found != safe || found != by("-flaunch-opt=off")? {
            return Err(format!("{level:?}: launches were changed").into());
        }
    }
    Ok(())
}

fn default_level() -> Outcome {
    let path = root().join("samples/nested/bfs.cdp");
    default_of(&path)?;
    // The library has the same, and programs that do not launch from the device are the same at every level.
    let options = CompileOptions::default();
    let (by_library, _) = build(&path, &options, Goal::Ptx)?;
    if String::from_utf8_lossy(&by_library) != built(&path, &[])? {
        return Err("the library has another default than the command".into());
    }
    let plain = cases("run").join("c_algorithms.cdp");
    let [off, safe, fast] = ["off", "safe", "fast"].map(|level| format!("-flaunch-opt={level}"));
    let without = built(&plain, &[&off])?;
    match built(&plain, &[&safe])? == without && built(&plain, &[&fast])? == without {
        true => Ok(()),
        false => Err("the optimiser changes a program without launches".into()),
    }
}

fn default_of_cuda() -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("rows.cu");
    let source = read(&cases("launches").join("rows.cdp"))?;
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    default_of(&path)
}

/// Each variant of a nested program prints the same, as does the naive one at every level.
fn nested(path: &Path) -> Outcome {
    let off = options(path, LaunchOpt::Off, LaunchTuning::default())?;
    let (program, remarks) = build(path, &off, Goal::Executable)?;
    if !remarks.is_empty() {
        return Err("remarks without the optimiser".into());
    }
    let expected = read(&path.with_extension("out"))?;
    for variant in VARIANTS {
        execute_with(&program, &[variant], &[""], variant, &expected)?;
    }
    for (level, tuning) in settings() {
        let (program, remarks) = build(path, &options(path, level, tuning)?, Goal::Executable)?;
        let what = format!("output at {level:?}, {tuning:?}, of {remarks:?}");
        execute_in_orders(&program, &["naive"], &SEEDS, &what, &expected)?;
    }
    Ok(())
}

/// The program's device code by clang, as bitcode of the device runtime's calls: its launches are raised and
/// changed as our own are, and it prints the same.
fn bitcode(path: &Path) -> Outcome {
    let expected = read(&path.with_extension("out"))?;
    let bytes =
        oracle::clang_bitcode(path, &options(path, LaunchOpt::Off, LaunchTuning::default())?)?;
    for (level, tuning) in settings() {
        let options = options(path, level, tuning)?;
        let inputs = [Input::Bytes(InputKind::Llvm, "clang.bc".into(), bytes.clone())];
        let job = job()?;
        let request = BuildRequest::new(&inputs, Goal::Ptx, &options, &job);
        let built = compiler()?.build(&request).map_err(explain)?;
        if built.remarks.is_empty()
            || built.remarks.iter().any(|remark| remark.outcome == LaunchOutcome::Kept)
        {
            return Err(format!("launches were kept at {level:?}: {:?}", built.remarks).into());
        }
        let ptx = String::from_utf8(built.bytes).map_err(|error| error.to_string())?;
        let program = foreign_program(path, |_, _| Ok(ptx))?;
        let what = format!("output of bitcode at {level:?}, {tuning:?}");
        execute_in_orders(&program, &["naive"], &SEEDS, &what, &expected)?;
    }
    Ok(())
}

/// nvcc takes the program, and its device code prints the same.
fn nested_by_nvcc(path: &Path) -> Outcome {
    let program = foreign_program(path, oracle::nvcc_ptx)?;
    let expected = read(&path.with_extension("out"))?;
    for variant in VARIANTS {
        execute_with(&program, &[variant], &[""], &format!("{variant} by nvcc"), &expected)?;
    }
    Ok(())
}

fn remarks_of_cuda(path: &Path) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let copy = folder.path().join("case.cu");
    std::fs::write(&copy, read(path)?).map_err(|error| error.to_string())?;
    let expected = path.with_extension("out");
    if expected.is_file() {
        let text = read(&expected)?;
        std::fs::write(copy.with_extension("out"), text).map_err(|error| error.to_string())?;
    }
    remarks(&copy)
}

fn remarks(path: &Path) -> Outcome {
    let text = read(path)?;
    let directives = Directives::of(path)?;
    let level = match directives.words("flags").contains(&"fast") {
        true => LaunchOpt::Fast,
        false => LaunchOpt::Safe,
    };
    let options = options(path, level, LaunchTuning::default())?;
    let options = options.with(|options| options.opt_level = OptLevel::O2);
    let (program, found) = build(path, &options, Goal::Executable)?;
    let mut wanted = 0;
    for (index, line) in text.lines().enumerate() {
        let Some((_, says)) = line.split_once("//~ ") else { continue };
        wanted += 1;
        let (outcome, reason) = says.trim().split_once(": ").unwrap_or((says.trim(), ""));
        let here = |remark: &&LaunchRemark| {
            remark.place.as_ref().is_some_and(|place| place.line as usize == index + 1)
        };
        let Some(remark) = found.iter().find(here) else {
            return Err(format!("no remark for line {}: {found:?}", index + 1).into());
        };
        if remark.outcome.name() != outcome || !remark.message.contains(reason) {
            return Err(format!("line {}, `{says}` wanted: {remark}", index + 1).into());
        }
    }
    if wanted != found.len() || wanted == 0 {
        return Err(format!("{wanted} remarks wanted, {} found: {found:?}", found.len()).into());
    }
    let expected = path.with_extension("out");
    match expected.is_file() {
        true => {
            let expected = read(&expected)?;
            execute(&program, "output", &expected)?;
            execute_apart(&program, &SEEDS, "output", &expected)
        }
        false => Ok(()),
    }
}
