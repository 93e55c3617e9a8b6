//! How much code the launch optimiser makes: what stands once, what is not there because nobody would run it, and how many
//! registers it takes.

use cdp::{CompileOptions, Goal, Input, LaunchOpt};
use libtest_mimic::{Failed, Trial};

use crate::launches::built;
use crate::ptx_text::function;
use crate::support::{Outcome, cases, compiler, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 11] = [
        ("recorded_children_stand_once", recorded_children_stand_once),
        ("recursions_stand_once", recursions_stand_once),
        ("loops_are_the_same_at_all_levels", loops_are_the_same),
        ("one_child_is_not_dealt", one_child_is_not_dealt),
        ("what_nobody_runs_is_not_there", what_nobody_runs),
        ("one_group_behind_the_door", one_group_behind_the_door),
        ("known_sizes_of_blocks_are_not_asked", known_sizes_of_blocks),
        ("structs_are_handed_on", structs_handed_on),
        ("sums_of_functions_are_sums", sums_of_functions),
        ("functions_may_take_many_registers", many_registers),
        ("small_blocks_stand_beside_each_other", small_blocks),
    ];
    tests.map(|(name, test)| trial(format!("launches::{name}"), test)).into()
}

/// The body of a child whose launches are recorded stands in its kernel and in one function that its sites and its runner
/// call, however many sites there are.
fn recorded_children_stand_once() -> Outcome {
    let source = "
        __global__ void child(float *p, int begin, int end) {
            int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
            if (i < end) p[i] = sqrtf(p[i]);
        }
        __global__ void parent(float *p, const int *row) {
            int r = threadIdx.x;
            child<<<(row[r + 1] - row[r] + 31) / 32, 32>>>(p, row[r], row[r + 1]);
            child<<<1, 32>>>(p, row[r], row[r] + 7);
        }";
    let ptx = ptx_of(source)?;
    match (ptx.matches("sqrt.rn.f32").count(), ptx.contains("__cdp_sequence_of_")) {
        (2, true) => Ok(()),
        found => Err(format!("{found:?}\n{ptx}").into()),
    }
}

fn ptx_of(source: &str) -> Result<String, Failed> {
    ptx_at("-flaunch-opt=safe", source)
}

fn ptx_at(level: &str, source: &str) -> Result<String, Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("kernels.cdp");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    built(&path, &["-O3", level])
}

/// The body of a kernel that launches itself stands in one function, which it and the kernel that runs its records call.
fn recursions_stand_once() -> Outcome {
    let ptx = ptx_of(
        "__global__ void walk(float *p, int n) {
            p[n + threadIdx.x] = sqrtf(p[threadIdx.x]);
            if (n > 1 && threadIdx.x == 0) {
                walk<<<1, 32>>>(p, n / 2);
                walk<<<1, 32>>>(p + n, n / 3);
            }
        }",
    )?;
    match (ptx.matches("sqrt.rn.f32").count(), ptx.contains("__cdp_sequence_of_")) {
        (1, true) => Ok(()),
        found => Err(format!("{found:?}\n{ptx}").into()),
    }
}

/// Both conditions of a loop are one, also in a child that was looked at: two would have it unrolled.
fn loops_are_the_same() -> Outcome {
    let source = "
        __global__ void child(int *p, int begin, int end) {
            int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= end) return;
            int x = p[i], n = 0;
            while (n < 128 && (x ^ x >> 3) < end) { x += __brev(x); n++; }
            p[i] = n;
        }
        __global__ void parent(int *p, const int *row) {
            int r = threadIdx.x;
            child<<<(row[r + 1] - row[r] + 31) / 32, 32>>>(p, row[r], row[r + 1]);
        }";
    // Elsewhere the site's function has the body once more.
    let count = |level| -> Result<usize, Failed> {
        Ok(function(&ptx_at(level, source)?, "_Z5child")?.matches("brev.b32").count())
    };
    match (count("-flaunch-opt=off")?, count("-flaunch-opt=safe")?) {
        (1, 1) => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// Where one thread of a block launches, its warp runs the child together, and no lane looks for a part of others' children.
fn one_child_is_not_dealt() -> Outcome {
    let shuffles = |guard: &str| -> Result<usize, Failed> {
        let ptx = ptx_of(&format!(
            "__global__ void child(int *p, int n) {{
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) atomicAdd(p, i);
            }}
            __global__ void parent(int *__restrict__ p, const int *n) {{
                if ({guard}) child<<<(n[blockIdx.x] + 31) / 32, 32>>>(p, n[blockIdx.x]);
            }}"
        ))?;
        Ok(ptx.matches("shfl.sync").count())
    };
    match (shuffles("threadIdx.x == 0")?, shuffles("threadIdx.x < 7")?) {
        (one, seven) if one + 10 < seven => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// Where one thread of a block launches, no lanes of a warp do so together; where one of the whole grid does, no others do.
/// What many sites do to find a place for a launch stands once.
fn what_nobody_runs() -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let child = "__shared__ float t[64]; t[threadIdx.x] = p[threadIdx.x]; __syncthreads();
                 p[threadIdx.x] += t[(threadIdx.x + 1) % 64];";
    let count = |guard: &str, kernels: usize, names: [&str; 3]| -> Result<[usize; 3], Failed> {
        let mut source = String::new();
        for n in 0..kernels {
            source += &format!(
                "__global__ void child{n}(float *p) {{ {child} }}
                 __global__ void parent{n}(float *p) {{
                     p += blockIdx.x * 64;
                     if ({guard}) child{n}<<<1, 64>>>(p);
                 }}"
            );
        }
        let path = folder.path().join("one.cdp");
        std::fs::write(&path, source).map_err(|error| error.to_string())?;
        let ptx = built(&path, &["-O3", "-flaunch-opt=safe"])?;
        Ok(names.map(|name| ptx.matches(name).count()))
    };
    // A kernel is declared before it is defined.
    let entries =
        [".entry __cdp_queue_of_", ".entry __cdp_gather_", "atom.relaxed.gpu.global.cas.b64"];
    let found = [
        count("threadIdx.x == 0", 1, entries)?,
        count("threadIdx.x == 0", 5, entries)?,
        count("threadIdx.x == 0 && blockIdx.x == 3", 1, entries)?,
    ];
    match found {
        [[2, 0, 1], [10, 0, 1], [0, 0, 0]] => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// Lanes of a warp that have parted are in the device runtime one group after the other: beside a queue every launch goes
/// through the warp's door, that of a bucket and its records, that of a warp's buffer, and as it is written.
fn one_group_behind_the_door() -> Outcome {
    let source = cases("run").join("launch_parted.cdp");
    let ptx = built(&source, &["-O3", "-flaunch-opt=safe"])?;
    let sites = ptx.matches("call.uni (retval0), __cdp_queue_reserve").count();
    let doors = ptx.matches("call.uni (retval0), __cdp_door_enter").count();
    let zeros = ptx.matches("st.relaxed.gpu.global.b32").count();
    match (sites, doors, zeros >= doors) {
        // Two at each site, and one where a queue is launched, which is made beforehand.
        (3, 7, true) => Ok(()),
        found => Err(format!("{found:?}\n{ptx}").into()),
    }
}

/// Where all sites launch blocks of the same size, which they say by constants, the kernels that run many children know it:
/// a sum over a block's threads is unrolled there.
fn known_sizes_of_blocks() -> Outcome {
    let asks = |others: &str| -> Result<bool, Failed> {
        let ptx = ptx_at(
            "-flaunch-opt=fast",
            &format!(
                "__global__ void child(float *p) {{
                    __shared__ float t[1024];
                    t[threadIdx.x] = p[threadIdx.x];
                    __syncthreads();
                    for (int step = blockDim.x / 2; step > 0; step /= 2) {{
                        if (threadIdx.x < step) t[threadIdx.x] += t[threadIdx.x + step];
                        __syncthreads();
                    }}
                    if (threadIdx.x == 0) p[0] = t[0];
                }}
                __global__ void parent(float *p, const int *n) {{
                    child<<<n[threadIdx.x], 64>>>(p + 1024 * threadIdx.x);
                }}
                __global__ void other(float *p, const int *n) {{
                    child<<<n[threadIdx.x], {others}>>>(p + 1024 * threadIdx.x);
                }}"
            ),
        )?;
        Ok(function(&ptx, "__cdp_queue_of_")?.contains("%ntid"))
    };
    match [asks("64")?, asks("128")?, asks("n[0]")?] {
        [false, true, true] => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// A struct that a kernel takes and hands on to its children as it is does not go from lane to lane; one that a thread changed
/// does, and one that is made of it.
fn structs_handed_on() -> Outcome {
    let shuffles = |made: &str, handed: &str| -> Result<usize, Failed> {
        let ptx = ptx_at(
            "-flaunch-opt=fast",
            &format!(
                "struct Graph {{ const int *row, *col; int *to; int more[6]; }};
                __global__ void child(Graph g, int begin, int end) {{
                    int e = begin + blockIdx.x * blockDim.x + threadIdx.x;
                    if (e < end) atomicAdd(&g.to[g.col[e]], g.more[e % 6]);
                }}
                __global__ void parent(Graph g) {{
                    int v = blockIdx.x * blockDim.x + threadIdx.x, begin = g.row[v], end = g.row[v + 1];
                    {made}
                    child<<<(end - begin + 31) / 32, 32>>>({handed}, begin, end);
                }}"
            ),
        )?;
        Ok(ptx.matches("shfl.sync").count())
    };
    let own = shuffles("", "g")?;
    let others =
        [shuffles("Graph h = g; h.more[1] = v;", "h")?, shuffles("g.more[v % 6] = v;", "g")?];
    match others.iter().all(|other| own + 10 < *other) {
        true => Ok(()),
        false => Err(format!("{own} {others:?}").into()),
    }
}

/// What a child adds up in a function that it calls is added up in registers, as what it adds up itself.
fn sums_of_functions() -> Outcome {
    let shuffles = |function: &str, call: &str| -> Result<usize, Failed> {
        let ptx = ptx_at(
            "-flaunch-opt=fast",
            &format!(
                "struct Totals {{ unsigned long long *sum; int *count; }};
                __device__ int heavy(int x) {{ while (x % 7) x = x * 3 + (x >> 5); return x; }}
                {function}
                __global__ void child(Totals to, const int *from, int n) {{
                    int i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i < n && from[i] > 3) {{ {call} }}
                }}
                __global__ void parent(Totals to, const int *from, const int *n) {{
                    child<<<(n[threadIdx.x] + 31) / 32, 32>>>(to, from, n[threadIdx.x]);
                }}"
            ),
        )?;
        Ok(ptx.matches("shfl.sync").count())
    };
    let adds =
        "unsigned long long x = heavy(from[i]); atomicAdd(to.sum, x); atomicAdd(to.count, 1);";
    let function =
        "__device__ void add(Totals to, const int *from, int i) { ".to_string() + adds + " }";
    let looked_at = function
        .replace("atomicAdd(to.count, 1);", "if (atomicAdd(to.count, 1) == 5) *to.sum = 0;");
    let [in_function, in_child, seen] = [
        shuffles(&function, "add(to, from, i);")?,
        shuffles("", adds)?,
        shuffles(&looked_at, "add(to, from, i);")?,
    ];
    match in_function == in_child && seen < in_child {
        true => Ok(()),
        false => Err(format!("{in_function} {in_child} {seen}").into()),
    }
}

/// Kernels that got their children's code are assembled where they call functions of more registers than leave room for the
/// largest block.
fn many_registers() -> Outcome {
    let source = "
        __device__ __noinline__ double large(double *p, int n) {
            double own[80], sum = 0;
            for (int i = 0; i < 80; i++) own[i] = p[i * n];
            for (int i = 0; i < 80; i++) sum += own[79 - i] * own[i * 7 % 80], p[i * n + 1] = sum * own[i];
            return n > 1 ? large(p, n / 2) + sum : sum;
        }
        __global__ void child(double *p, int n, int end) {
            int i = threadIdx.x;
            if (i < end) p[i] = large(p + i, n);
        }
        __global__ void parent(double *p, int n) {
            child<<<1, 64>>>(p, n, threadIdx.x);
            p[threadIdx.x] = large(p, n);
        }";
    for (level, by) in
        [(LaunchOpt::Safe, "-flaunch-opt=safe"), (LaunchOpt::Fast, "-flaunch-opt=fast")]
    {
        if !ptx_at(by, source)?.contains(".maxnreg 64") {
            return Err(format!("{by}: no kernel has its child's code").into());
        }
        let options = CompileOptions::default().with(|options| options.launch_opt = level);
        let inputs = [Input::source("large.cdp", source)];
        let built = compiler()?.compile(&inputs, Goal::Cubin, &options);
        built.map_err(|error| format!("{by}: {error}"))?;
    }
    Ok(())
}

/// Blocks of a recursion stand beside each other in one where their threads have nothing to do with each other and cannot
/// tell.
fn small_blocks() -> Outcome {
    let source = |bounds: &str, before: &str, when: &str| {
        format!(
            "__global__ void leaf(int *p, int n) {{ p[n + threadIdx.x] = n; }}
            __global__ void {bounds} walk(int *p, int n) {{
                {before}
                atomicAdd(&p[n], (int)threadIdx.x);
                if ({when}) walk<<<1, 4>>>(p, 4 * n + (int)threadIdx.x);
            }}
            __global__ void parent(int *p) {{
                walk<<<1, 4>>>(p, (int)(blockIdx.x * blockDim.x + threadIdx.x));
            }}"
        )
    };
    let cases = [
        (source("", "", "n < 100"), true),
        (source("", "__syncthreads();", "n < 100"), false),
        (source("", "n += __shfl_xor_sync(0xf, n, 1);", "n < 100"), false),
        (source("", "if (n == 7) asm volatile(\"exit;\");", "n < 100"), false),
        (source("", "__shared__ int all; all = n; n = all;", "n < 100"), false),
        (source("__launch_bounds__(4)", "", "n < 100"), false),
        // Others of its warp may launch beside a block's one thread.
        (source("", "", "threadIdx.x == 0 && n < 100"), true),
        // Lanes run such children together, with what their block has in common.
        (source("", "leaf<<<1, 4>>>(p, n);", "n < 100"), false),
    ];
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("walks.cdp");
    for (source, wanted) in cases {
        std::fs::write(&path, &source).map_err(|error| error.to_string())?;
        let fast = ["-O3", "-flaunch-opt=fast"];
        let alone = built(&path, &[&fast[..], &["--launch-tuning", "pack=0"]].concat())?;
        if (built(&path, &fast)? != alone) != wanted {
            return Err(format!("{wanted}: {source}").into());
        }
    }
    Ok(())
}
