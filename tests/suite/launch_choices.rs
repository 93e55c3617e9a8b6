//! Which children the launch optimiser runs where they would be launched, and which are launched, as the CPU device's
//! profile tells.

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, cdpc, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("launches::strided_children".into(), strided_children),
        trial("launches::dealt_children".into(), dealt_children),
        trial("launches::children_done_at_once".into(), children_done_at_once),
        trial("launches::pooled_children".into(), pooled_children),
        trial("launches::launches_that_fail".into(), launches_that_fail),
        trial("launches::blocks_that_add_up".into(), blocks_that_add_up),
        trial("launches::twins_that_launch_nothing".into(), twins_that_launch_nothing),
    ]
}

/// A child whose threads take further threads' turns is as large as the bound of these, at both levels: many with few
/// turns are run, and one with many is not.
fn strided_children() -> Outcome {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        __global__ void block(int *to, int n) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] += i;
        }
        __global__ void grid(int *to, int begin, int end) {
            for (int i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += blockDim.x * gridDim.x)
                to[i] += i;
        }
        __global__ void parent(int *to, int n) {
            block<<<1, 64>>>(to + threadIdx.x * n, n);
            grid<<<2, 64>>>(to, threadIdx.x * n, threadIdx.x * n + n);
        }
        int main(int argc, char **argv) {
            int n = argc > 1 ? 20000 : 12, sum = 0, *to, *on_host;
            on_host = (int *)malloc(32 * n * sizeof(int));
            cudaMalloc(&to, 32 * n * sizeof(int));
            cudaMemset(to, 0, 32 * n * sizeof(int));
            parent<<<1, 32>>>(to, n);
            cudaMemcpy(on_host, to, 32 * n * sizeof(int), cudaMemcpyDeviceToHost);
            for (int i = 0; i < 32 * n; i++) sum += on_host[i] - i % n - i != 0;
            printf("%d\n", sum);
            return 0;
        }"#;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("strided.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let cases: [(&[&str], bool); 2] = [(&[], false), (&["--", "many"], true)];
    for level in ["-flaunch-opt=safe", "-flaunch-opt=fast"] {
        for (arguments, launched) in cases {
            let mut command = cdpc();
            command.args(["run", "--device", "cpu", "--profile", level]).arg(&path);
            let output = command.args(arguments).output().map_err(|error| error.to_string())?;
            let profile = String::from_utf8_lossy(&output.stderr);
            let none = profile.contains("pending launches: at most 0 of");
            if output.stdout != b"0\n" || none == launched {
                return Err(format!("{level}, {arguments:?}: {output:?}").into());
            }
        }
    }
    Ok(())
}

/// The threads of small children are dealt to all lanes of a warp: where one in four launches a child of many threads, that
/// takes less than half as long as where all do.
fn dealt_children() -> Outcome {
    let source = r#"
        #include <stdio.h>
        __global__ void work(int *to, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {
                int x = i;
                for (int turn = 0; turn < 200 + to[i]; turn++) x = x * 5 + turn;
                to[i] = x;
            }
        }
        __global__ void parent(int *to, int every) {
            work<<<1, 32>>>(to + 32 * threadIdx.x, threadIdx.x % every == 0 ? 16 : 1);
        }
        int main(int argc, char **argv) {
            int every = argc > 1 ? 4 : 1, found[1024], *to, wrong = 0;
            cudaMalloc(&to, sizeof found);
            cudaMemset(to, 0, sizeof found);
            parent<<<1, 32>>>(to, every);
            cudaMemcpy(found, to, sizeof found, cudaMemcpyDeviceToHost);
            for (int at = 0; at < 1024; at++) {
                int x = at % 32, many = at / 32 % every == 0 ? 16 : 1;
                for (int turn = 0; turn < 200; turn++) x = x * 5 + turn;
                wrong += found[at] != (at % 32 < many ? x : 0);
            }
            printf("%d\n", wrong);
            return 0;
        }"#;
    let (few, all) = (
        cycles(source, "-flaunch-opt=fast", &["--", "few"])?,
        cycles(source, "-flaunch-opt=fast", &[])?,
    );
    match few * 2 < all {
        true => Ok(()),
        false => Err(format!("{few} cycles of few, {all} of all").into()),
    }
}

/// Where one thread of a child did all that any of them does, the others are not run: children of which the first thread
/// finds what it looks for take less than half as long as children that look in vain, at both levels.
fn children_done_at_once() -> Outcome {
    let source = r#"
        #include <stdio.h>
        __global__ void any(const int *from, int n, int wanted, int *flag) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {
                int x = from[i];
                x = x * 5 + (x >> 3 ^ 1);
                x = x * 5 + (x >> 3 ^ 2);
                x = x * 5 + (x >> 3 ^ 3);
                x = x * 5 + (x >> 3 ^ 4);
                if (x >= wanted) *flag = 1;
            }
        }
        __global__ void parent(const int *from, int wanted, int *flags) {
            any<<<4, 64>>>(from, 200 + threadIdx.x, wanted, flags + threadIdx.x);
            any<<<4, 64>>>(from, 200 + threadIdx.x, wanted, flags + 32 + threadIdx.x);
        }
        int main(int argc, char **argv) {
            int wanted = argc > 1 ? -2147483647 - 1 : 2147483647, found[64], *from, *flags, some = 0;
            cudaMalloc(&from, 256 * sizeof(int));
            cudaMalloc(&flags, sizeof found);
            cudaMemset(from, 0, 256 * sizeof(int));
            cudaMemset(flags, 0, sizeof found);
            parent<<<1, 32>>>(from, wanted, flags);
            cudaMemcpy(found, flags, sizeof found, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 64; i++) some += found[i];
            printf("%d\n", some == (argc > 1 ? 64 : 0) ? 0 : 1);
            return 0;
        }"#;
    for level in ["-flaunch-opt=safe", "-flaunch-opt=fast"] {
        let (done, vain) = (cycles(source, level, &["--", "all"])?, cycles(source, level, &[])?);
        if done * 2 >= vain {
            return Err(
                format!("{level}: {done} cycles where it is found, {vain} where not").into()
            );
        }
    }
    Ok(())
}

/// The cycles of a program that launches from the host once, prints 0 and launches nothing from the device.
fn cycles(source: &str, level: &str, arguments: &[&str]) -> Result<u64, Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("children.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let mut command = cdpc();
    command.args(["run", "--device", "cpu", "--profile", level]).arg(&path);
    let output = command.args(arguments).output().map_err(|error| error.to_string())?;
    let profile = String::from_utf8_lossy(&output.stderr).into_owned();
    let row = profile.lines().find(|line| line.contains("the host"));
    let cycles = row.and_then(|row| row.split_whitespace().nth(6)?.parse().ok());
    match (cycles, output.stdout == b"0\n", profile.matches("the host").count()) {
        (Some(cycles), true, 1) => Ok(cycles),
        _ => Err(format!("{level}, {arguments:?}: {output:?}").into()),
    }
}

/// A program with what `head` says in front, whose kernel `parent` in 128 blocks of 256 threads launches `child` for some of its
/// threads: each of 1,100 threads of those adds to its parent's sum what the parent wrote before.
fn parents_of_large_children(head: &str) -> String {
    head.to_string()
        + r#"
        #include <stdio.h>
        __global__ void parent(const int *ones, int *seen, int *sums, int every) {
            int v = blockIdx.x * blockDim.x + threadIdx.x;
            seen[v] = v;
            if (v % every == 0) child<<<(1100 + 63) / 64, 64>>>(ones, seen + v, sums + v, 1100);
        }
        int main() {
            static int found[32768];
            int many[1100], *ones, *seen, *sums, wrong = 0;
            for (int i = 0; i < 1100; i++) many[i] = 1;
            cudaMalloc(&ones, sizeof many);
            cudaMalloc(&seen, sizeof found);
            cudaMalloc(&sums, sizeof found);
            cudaMemcpy(ones, many, sizeof many, cudaMemcpyHostToDevice);
            for (int every = 700; every < 900; every += 90) {
                cudaMemset(seen, 0, sizeof found);
                cudaMemset(sums, 0, sizeof found);
                parent<<<128, 256>>>(ones, seen, sums, every);
                cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost);
                for (int v = 0; v < 32768; v++) wrong += found[v] != (v % every == 0 ? 1100 * v : 0);
            }
            printf("%d\n", wrong);
            return 0;
        }"#
}

/// Whether a program makes no launch from the device, with what the optimiser is told.
fn launches_nothing(source: &str, arguments: &[&str], seed: &str) -> Result<bool, Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("parents.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let mut command = cdpc();
    command.args(["run", "--device", "cpu", "--profile", "-O3"]).args(arguments).arg(&path);
    command.env("CDP_SCHEDULE_SEED", seed);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.stdout != b"0\n" {
        return Err(format!("{arguments:?}: {output:?}").into());
    }
    Ok(String::from_utf8_lossy(&output.stderr).contains("pending launches: at most 0 of"))
}

/// Children that are too large for a warp, and too few for a launch, are run by all warps of the grid.
fn pooled_children() -> Outcome {
    let source = parents_of_large_children(
        "__global__ void child(const int *ones, const int *seen, int *sum, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) atomicAdd(sum, ones[i] * *seen);
        }",
    );
    let fast = "-flaunch-opt=fast";
    let cases: [(&[&str], bool); 5] = [
        (&[fast], true),
        (&[fast, "--launch-tuning", "pool=0"], false),
        // So little room that some are launched.
        (&[fast, "--launch-tuning", "pool=1"], false),
        (&[fast, "--launch-tuning", "pool-steps=0,own=0,dealt-steps=0,pool-part=7"], true),
        (&["-flaunch-opt=off"], false),
    ];
    for (arguments, none) in cases {
        for seed in ["1", "2", "3"] {
            if launches_nothing(&source, arguments, seed)? != none {
                return Err(format!("{arguments:?}, seed {seed}").into());
            }
        }
    }
    Ok(())
}

/// Children whose blocks add up by barriers and shared memory are run like others; not those whose sum is stored.
fn blocks_that_add_up() -> Outcome {
    let child = |end: &str| {
        parents_of_large_children(&format!(
            "__global__ void child(const int *ones, const int *seen, int *sum, int n) {{
                __shared__ int part[64];
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                part[threadIdx.x] = i < n ? ones[i] * *seen : 0;
                __syncthreads();
                for (int step = blockDim.x / 2; step > 0; step /= 2) {{
                    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
                    __syncthreads();
                }}
                if (threadIdx.x == 0) {end}
            }}"
        ))
    };
    let fast = ["-flaunch-opt=fast"];
    let adds = launches_nothing(&child("atomicAdd(sum, part[0]);"), &fast, "1")?;
    let other = "{ atomicAdd(sum, part[0] + 1); atomicAdd(sum, -1); }";
    let others = launches_nothing(&child(other), &fast, "1")?;
    match (adds, others) {
        (true, false) => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// A launch without blocks does nothing where children may overlap, unless the parent looks at errors.
fn launches_that_fail() -> Outcome {
    let of = |child: &str, looks: &str| {
        format!(
            "#include <stdio.h>
            __global__ void child(int *sum, int n) {{ {child} if (threadIdx.x < n) atomicAdd(sum, 1); }}
            __global__ void parent(int *sum) {{
                int n = threadIdx.x % 3 ? 0 : threadIdx.x;
                child<<<(n + 63) / 64, 64>>>(sum, n);
                {looks}
            }}
            int main() {{
                int found, *sum;
                cudaMalloc(&sum, sizeof found);
                cudaMemset(sum, 0, sizeof found);
                parent<<<1, 64>>>(sum);
                cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost);
                printf(\"%d\\n\", found);
                return 0;
            }}"
        )
    };
    let barrier = "__syncthreads();";
    let asks = "if (cudaGetLastError() == cudaErrorInvalidConfiguration) atomicAdd(sum, 1000);";
    let cases = [
        ("fast", of("", ""), 693, false),
        ("fast", of(barrier, ""), 693, false),
        ("off", of("", ""), 693, true),
        ("off", of("", asks), 43_693, false),
        ("fast", of("", asks), 43_693, false),
    ];
    for (level, source, sum, fails) in cases {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("parents.cdp");
        std::fs::write(&path, source).map_err(|error| error.to_string())?;
        let mut command = cdpc();
        command.args(["run", "--device", "cpu", "-O3", "--flaunch-opt", level]);
        let output = command.arg(&path).output();
        let output = output.map_err(|error| error.to_string())?;
        let said =
            String::from_utf8_lossy(&output.stderr).contains("cudaErrorInvalidConfiguration");
        if output.stdout != format!("{sum}\n").as_bytes() || said != fails {
            return Err(format!("{level}, {fails}: {output:?}").into());
        }
    }
    Ok(())
}

/// In `fast` a kernel whose children lanes can run has a twin that knows no device runtime, and that is told of by names which
/// the runtime knows; not where somebody could tell the twin from it.
fn twins_that_launch_nothing() -> Outcome {
    let kernels = |parent: &str| {
        format!(
            "__global__ void child(int *sum, int n) {{
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) atomicAdd(sum, i);
            }}
            __global__ void waits(int *sum, int n) {{
                __syncthreads();
                if (threadIdx.x < n) atomicAdd(sum, (int)threadIdx.x);
            }}
            __global__ void parent(int *sum, int n) {{ {parent} }}"
        )
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let ptx = |source: &str, level: &str| -> Result<String, Failed> {
        let (path, made) = (folder.path().join("parent.cdp"), folder.path().join("parent.ptx"));
        std::fs::write(&path, source).map_err(|error| error.to_string())?;
        let mut command = cdpc();
        command.args(["build", "-O3", "--emit", "ptx", level]).arg(&path).arg("-o").arg(&made);
        let output = command.output().map_err(|error| error.to_string())?;
        let text = std::fs::read_to_string(&made);
        text.map_err(|error| format!("{error}: {output:?}").into())
    };
    let fast = "-flaunch-opt=fast";
    let good = "child<<<(n + 31) / 32, 32>>>(sum, n);";
    let text = ptx(&kernels(good), fast)?;
    let twin = text.split(".entry ").find(|entry| entry.starts_with("_Z6parentPii__cdp_inside("));
    let twin = twin.ok_or("no twin")?;
    let twin = &twin[..twin.find("\n}").ok_or("a twin without an end")?];
    if twin.contains("call") || !twin.contains("_Z6parentPii__cdp_met") {
        return Err(format!("a twin that calls, or tells nobody: {twin}").into());
    }
    let others = [
        // More threads than are counted; a dimension that the child asks nothing of.
        "child<<<n, 64>>>(sum, n);",
        "child<<<dim3(1, n % 3), 32>>>(sum, n);",
        // A look at the error, a device runtime that is asked else, a child that lanes cannot run.
        "child<<<(n + 31) / 32, 32>>>(sum, n); if (cudaGetLastError()) *sum = 0;",
        "cudaGetDevice(sum); child<<<(n + 31) / 32, 32>>>(sum, n);",
        "if (n > 9) child<<<(n + 31) / 32, 32>>>(sum, n); else waits<<<1, 32>>>(sum, n);",
        "child<<<(n + 31) / 32, 32, 0, cudaStreamTailLaunch>>>(sum, n);",
        "\n#pragma cdp keep\nchild<<<(n + 31) / 32, 32>>>(sum, n);",
    ];
    for parent in others {
        if ptx(&kernels(parent), fast)?.contains("__cdp_inside") {
            return Err(format!("a twin of {parent}").into());
        }
    }
    match ptx(&kernels(good), "-flaunch-opt=safe")?.contains("__cdp_inside") {
        true => Err("a twin in safe".into()),
        false => Ok(()),
    }
}
