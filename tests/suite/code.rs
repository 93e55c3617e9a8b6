//! What device code must look like for the sake of its speed: widths of copies, loads that are not repeated,
//! loops that are unrolled, programs that no link takes optimisations from; and as exact as nvcc's. How fast it is,
//! only a GPU tells (`cargo xtask bench device`).

use std::collections::BTreeSet;

use cdp_llvm::outline::ItemKind;
use libtest_mimic::Trial;

use crate::cuda::has_clang;
use crate::linking::Bench;
use crate::ptx_text::{Statement, function, instructions, items, statements};
use crate::support::{Outcome, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, bool, fn() -> Outcome); 17] = [
        ("whole_programs_are_not_linked", true, whole_programs),
        ("functions_that_no_kernel_reaches_are_not_assembled", true, unreachable_functions),
        ("copies_are_as_wide_as_both_alignments", true, copies),
        ("copies_load_before_they_store", true, order_of_copies),
        ("words_that_were_loaded_are_not_read_again", true, words),
        ("long_copies_stay_loops", true, long_copies),
        ("choices_by_two_conditions_are_one", true, choices),
        ("many_queues_are_called", true, many_queues),
        ("swaps_of_16_bits_are_instructions", true, short_swaps),
        ("square_roots_are_rounded", true, || square_roots("roots.cdp")),
        ("square_roots_of_cuda_files_are_rounded", has_clang(), || square_roots("roots.cu")),
        ("atomics_of_cuda_files_have_no_fences", has_clang(), atomics_of_clang),
        ("large_parameters_are_copied_in_words", has_clang(), large_parameters),
        ("loops_of_cuda_files_go_back_from_one_place", has_clang(), continued_loop),
        ("loops_of_cuda_files_are_unrolled", has_clang(), loops_of_clang),
        ("products_of_matrices_are_unrolled", has_clang(), matrices),
        ("accumulators_of_halves_stay_in_their_registers", has_clang(), accumulators),
    ];
    tests
        .into_iter()
        .map(|(name, possible, test)| {
            trial(format!("code::{name}"), test).with_ignored_flag(!possible)
        })
        .collect()
}

/// The memory instructions of a program's PTX, parameters left out: `ld.global.v4.b32`.
fn accesses(source: &str, name: &str) -> Result<Vec<String>, libtest_mimic::Failed> {
    let bench = Bench::new()?;
    bench.write(name, source)?;
    let (ptx, _) =
        bench.cdpc(&["build", name, "--emit", "ptx", "--arch", "sm_90", "-o", "-"], 0)?;
    let mut operations: Vec<String> =
        instructions(&ptx)?.iter().map(|instruction| instruction.operation.to_owned()).collect();
    let accesses = ["ld.global", "st.global", "ld.local", "st.local"];
    operations.retain(|operation| accesses.iter().any(|begin| operation.starts_with(begin)));
    Ok(operations)
}

fn expect(found: &[String], wanted: &[&str]) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{found:?}, not {wanted:?}").into()) }
}

/// In `fast` two queues have their code where they are used, in each of the kernels that a kernel becomes; more call it.
fn many_queues() -> Outcome {
    let waits = |levels: usize| -> Result<usize, libtest_mimic::Failed> {
        let last = "__global__ void level0(int *p, int n) { atomicAdd(p, n); }\n".to_string();
        let source = (1..levels).fold(last, |text, level| {
            text + &format!(
                "__global__ void level{level}(int *p, int n) {{\n  atomicAdd(p, 1);\n  \
                 if (n > threadIdx.x) level{}<<<n, 64, 0, cudaStreamFireAndForget>>>(p, n - 1);\n}}\n",
                level - 1
            )
        });
        let bench = Bench::new()?;
        bench.write("chain.cdp", &source)?;
        let fast = "-flaunch-opt=fast";
        let args = ["build", "chain.cdp", fast, "--emit", "ptx", "--arch", "sm_90", "-o", "-"];
        Ok(bench.cdpc(&args, 0)?.0.matches("nanosleep").count())
    };
    let (few, many) = (waits(3)?, waits(14)?);
    // Three are the queues', one is the pools', which is called anyway.
    match (few, many) {
        (8.., 4) => Ok(()),
        _ => Err(format!("{few} waits in 2 queues, {many} in 13").into()),
    }
}

fn whole_programs() -> Outcome {
    let bench = Bench::new()?;
    let kernel = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\n";
    bench.write("alone.cdp", kernel)?;
    bench.write(
        "parent.cdp",
        "__global__ void k(int *p) { *p = 1; }\n__global__ void q(int *p) { k<<<1, 1>>>(p); }\n",
    )?;
    bench.write("other.cdp", "__global__ void other(int *p) { *p = 2; }\n")?;
    let cases: [(&[&str], bool); 4] = [
        (&["alone.cdp", "--emit", "cubin"], false),
        (&["parent.cdp", "--emit", "cubin"], true),
        (&["alone.cdp", "other.cdp", "--emit", "cubin"], true),
        // What is to be linked later is relocatable, and linked by nobody now.
        (&["alone.cdp", "--emit", "device-obj"], true),
    ];
    for (words, relocatable) in cases {
        let output = if words.contains(&"device-obj") { "out.o" } else { "out.cubin" };
        let line = [&["build", "--dry-run", "-o", output], words].concat();
        let (commands, _) = bench.cdpc(&line, 0)?;
        let ptxas: Vec<&str> = commands.lines().filter(|line| line.contains("/ptxas ")).collect();
        let links = commands.contains("/nvlink ");
        let as_wanted = ptxas.iter().all(|line| line.contains(" -c ") == relocatable);
        if ptxas.is_empty() || !as_wanted || links != (relocatable && output == "out.cubin") {
            return Err(format!("{words:?}:\n{commands}").into());
        }
    }
    // The code that was not linked is code that a driver loads.
    bench.cdpc(&["build", "alone.cdp", "--arch", "sm_90", "-o", "out.cubin"], 0)?;
    let kernels = bench.kernels("out.cubin")?;
    if kernels == ["_Z1kPi"] { Ok(()) } else { Err(format!("{kernels:?}").into()) }
}

/// What ptxas is given, and that what it makes of that still works.
fn unreachable_functions() -> Outcome {
    let bench = Bench::new()?;
    bench.write(
        "a.cdp",
        "__device__ int twice(int x) { return 2 * x; }\n\
         __device__ __noinline__ int called(int x) { return x * x; }\n\
         __device__ int pointed(int x) { return x + 1; }\n\
         __device__ int (*table[1])(int) = {pointed};\n\
         __global__ void k(int *p) { *p = called(twice(*p)); }\n",
    )?;
    bench.write("b.cdp", "__global__ void other(int *p) { *p = 2; }\n")?;
    bench.write(
        "c.ll",
        "target triple = \"nvptx64-nvidia-cuda\"\n\
         define i32 @twice(i32 %x) {\n  %y = shl i32 %x, 1\n  ret i32 %y\n}\n\
         define ptx_kernel void @k(ptr %p) {\n  store i32 1, ptr %p\n  ret void\n}\n",
    )?;
    let all: &[&str] = &["_Z5twicei", "_Z6calledi", "_Z7pointedi"];
    let cases: [(&[&str], &str, &[&str]); 6] = [
        (&["a.cdp", "-o", "a.cubin"], "a", &all[1..]),
        (&["a.cdp", "-o", "a.fatbin"], "a", &all[1..]),
        (&["c.ll", "-o", "c.cubin"], "c", &[]),
        // Others may call it, a debugger may ask for it.
        (&["a.cdp", "b.cdp", "-o", "a.cubin"], "a", all),
        (&["a.cdp", "--emit", "device-obj", "-o", "a.o"], "a", all),
        (&["a.cdp", "-G", "-o", "a.cubin"], "a", all),
    ];
    for (words, stem, wanted) in cases {
        let keep = bench.path("kept");
        let keep = keep.to_string_lossy();
        bench.cdpc(&[&["build", "--arch", "sm_90", "--keep", &keep], words].concat(), 0)?;
        let ptx = std::fs::read_to_string(bench.path(&format!("kept/{stem}.sm_90.ptx")))?;
        let found = items(&ptx)?;
        let found = found.iter().filter(|item| item.kind == ItemKind::Function && item.has_body);
        let named: BTreeSet<&str> = found.map(|item| item.name).collect();
        if !named.iter().eq(wanted) {
            return Err(format!("{words:?}: {named:?}, not {wanted:?}").into());
        }
    }
    Ok(())
}

fn copies() -> Outcome {
    let copy = |fields: &str| {
        format!(
            "struct S {{ {fields} }};\n\
             __global__ void k(S *to, const S *from) {{ to[threadIdx.x] = from[threadIdx.x]; }}\n"
        )
    };
    let quad = copy("int4 v;");
    expect(&accesses(&quad, "quad.cdp")?, &["ld.global.v4.b32", "st.global.v4.b32"])?;
    let three = copy("int2 v[3];");
    let (load, store) = ("ld.global.b64", "st.global.b64");
    expect(&accesses(&three, "three.cdp")?, &[load, load, load, store, store, store])?;
    // Alignment of a word: nothing wider, and of a word each.
    let words = copy("int v[3];");
    let (load, store) = ("ld.global.b32", "st.global.b32");
    expect(&accesses(&words, "words.cdp")?, &[load, load, load, store, store, store])
}

/// Those of the language and those inside libdevice's functions.
fn square_roots(name: &str) -> Outcome {
    let bench = Bench::new()?;
    bench.write(
        name,
        "__global__ void k(float *p) { p[0] = sqrtf(p[1]) + hypotf(p[2], p[3]); }\n",
    )?;
    for (switch, wanted, other) in [
        ("-prec-sqrt=true", "\tsqrt.rn.f32", "\tsqrt.approx"),
        ("-prec-sqrt=false", "\tsqrt.approx.f32", "\tsqrt.rn"),
    ] {
        let words = ["build", name, "--emit", "ptx", "--arch", "sm_90", switch, "-o", "-"];
        let (ptx, _) = bench.cdpc(&words, 0)?;
        if ptx.matches(wanted).count() != 2 || ptx.contains(other) {
            return Err(format!("{switch}:\n{ptx}").into());
        }
    }
    Ok(())
}

/// CUDA's functions order nothing; those of C++ do what they say.
fn atomics_of_clang() -> Outcome {
    let bench = Bench::new()?;
    bench.write(
        "atomics.cu",
        "__global__ void k(int *p, unsigned long long *q) {\n\
           p[0] = atomicCAS(p + 1, 1, 2) + atomicExch(p + 3, 4);\n\
           q[0] = atomicCAS(q + 1, 1ull, 2ull);\n}\n\
         __global__ void ordered(int *p) { __atomic_exchange_n(p, 1, __ATOMIC_SEQ_CST); int e = 1;\n\
           __atomic_compare_exchange_n(p, &e, 5, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }\n",
    )?;
    let (ptx, _) =
        bench.cdpc(&["build", "atomics.cu", "--emit", "ptx", "--arch", "sm_90", "-o", "-"], 0)?;
    let (k, ordered) = (function(&ptx, "_Z1k")?, function(&ptx, "_Z7ordered")?);
    let relaxed = ["atom.relaxed.gpu.global.cas.b32", "atom.relaxed.gpu.global.cas.b64"];
    if k.contains("fence") || !relaxed.iter().all(|wanted| k.contains(wanted)) {
        return Err(k.into());
    }
    if ordered.contains("fence.sc.sys") { Ok(()) } else { Err(ordered.into()) }
}

/// A kernel's own copy of a parameter above 128 bytes is made in words, where LLVM makes it of bytes; none is made of one that is only
/// read, and of one that is changed at a known place neither. The pointers in it lead to global memory, as without a copy.
fn large_parameters() -> Outcome {
    let bench = Bench::new()?;
    bench.write(
        "parameters.cu",
        "struct P { float *out; float w[40]; };\n\
         __device__ __noinline__ float use(P *p, int k) { p->w[k] += 1; return p->w[k + 1]; }\n\
         __device__ __noinline__ float look(const P *p, int k) { return p->w[k]; }\n\
         __global__ void escapes(P p, int k) { *p.out = use(&p, k); }\n\
         __global__ void changes(P p, int k) { p.w[k] = 3; *p.out = p.w[k + threadIdx.x]; }\n\
         __global__ void known(P p) { p.out += blockIdx.x; *p.out = p.w[threadIdx.x]; }\n\
         __global__ void reads(P p, int k) { *p.out = p.w[k]; }\n\
         __global__ void hands(P p, int k) { *p.out = look(&p, k); }\n",
    )?;
    let build = ["build", "parameters.cu", "--emit", "ptx", "--arch", "sm_90", "-O3", "-o", "-"];
    let (ptx, _) = bench.cdpc(&build, 0)?;
    for (kernel, copied) in
        [("escapes", true), ("changes", true), ("known", false), ("reads", false), ("hands", false)]
    {
        let body = function(&ptx, &format!("_Z{}{kernel}", kernel.len()))?;
        let wide = body.contains("st.local.v2.b64") && body.contains("ld.param.b64");
        if body.contains("ld.param.b8") || wide != copied || !body.contains("st.global.b32") {
            return Err(body.into());
        }
    }
    Ok(())
}

/// `continue` does not make an inner loop, in which the lanes of a warp would wait for each other: of a loop's two
/// backward branches one would be it.
fn continued_loop() -> Outcome {
    let source = "__global__ void walk(const int *node, int *out, int nodes) {\n\
          int stack[32], top = 1, found = 0;\n\
          stack[0] = threadIdx.x;\n\
          while (top > 0) {\n\
            int at = stack[--top];\n\
            if (at >= nodes) { continue; }\n\
            found += node[at];\n\
            if (node[at] > 3 && top < 31) { stack[top++] = 2 * at + 1; }\n\
            if (node[at] < 9 && top < 31) { stack[top++] = 2 * at + 2; }\n\
          }\n\
          out[threadIdx.x] = found;\n}\n";
    let bench = Bench::new()?;
    let backward = |name: &str| -> Result<usize, libtest_mimic::Failed> {
        bench.write(name, source)?;
        let words = ["build", name, "--emit", "ptx", "--arch", "sm_90", "-o", "-"];
        let (ptx, _) = bench.cdpc(&words, 0)?;
        let mut seen = BTreeSet::new();
        let mut count = 0;
        for statement in statements(&ptx)? {
            match statement {
                Statement::Label(label) => drop(seen.insert(label)),
                Statement::Instruction(branch) if branch.operation.starts_with("bra") => {
                    count += usize::from(branch.operands.iter().any(|to| seen.contains(to)));
                }
                Statement::Instruction(_) => {}
            }
        }
        Ok(count)
    };
    let (ours, clangs) = (backward("walk.cdp")?, backward("walk.cu")?);
    if (ours, clangs) == (1, 1) { Ok(()) } else { Err(format!("{ours} and {clangs}").into()) }
}

/// In each space, from sm_70 on.
fn short_swaps() -> Outcome {
    let source = "__device__ unsigned short any(unsigned short *p, int n) { return atomicCAS(p, n, n + 1); }\n\
        __global__ void k(unsigned short *p, int n) {\n  __shared__ unsigned short own[32];\n  \
          own[threadIdx.x] = 0;\n  p[1] = atomicCAS(&own[n], n, 3) + atomicCAS(p, n, 5);\n  \
          p[2] = any(n ? p : own, n);\n}\n";
    let bench = Bench::new()?;
    bench.write("swaps.cdp", source)?;
    let words = ["build", "swaps.cdp", "--emit", "ptx", "--arch", "sm_70", "-o", "-"];
    let (ptx, _) = bench.cdpc(&words, 0)?;
    for instruction in ["atom.shared.gpu.cas.b16", "atom.global.gpu.cas.b16", "atom.gpu.cas.b16"] {
        if !ptx.contains(instruction) {
            return Err(format!("no {instruction}:\n{ptx}").into());
        }
    }
    Ok(())
}

/// The last one does not wait for a store.
fn order_of_copies() -> Outcome {
    let source = "struct S { int4 v[4]; };\n\
        __global__ void k(S *to, const S *from) { to[threadIdx.x] = from[threadIdx.x]; }\n";
    let found = accesses(source, "order.cdp")?;
    let last_load = found.iter().rposition(|access| access.starts_with("ld."));
    let first_store = found.iter().position(|access| access.starts_with("st."));
    if found.len() == 8 && last_load < first_store {
        Ok(())
    } else {
        Err(format!("{found:?}").into())
    }
}

fn words() -> Outcome {
    let source = "__global__ void k(const uint4 *in, unsigned long long *o)\n{\n\
        uint4 w = in[threadIdx.x];\n\
        unsigned long long low = (unsigned long long)w.y << 32 | w.x;\n\
        unsigned long long high = (unsigned long long)w.w << 32 | w.z;\n\
        o[threadIdx.x] = low * 31 + (high ^ (w.x + w.w));\n}\n";
    expect(&accesses(source, "words.cdp")?, &["ld.global.v4.b32", "st.global.b64"])
}

/// Registers for all of it would be too many.
fn long_copies() -> Outcome {
    let source = "struct S { int4 v[64]; };\n\
        __global__ void k(S *to, const S *from) { *to = *from; }\n";
    let found = accesses(source, "long.cdp")?;
    if found.len() < 64 { Ok(()) } else { Err(format!("{} accesses", found.len()).into()) }
}

/// Fragments are loaded from global and from shared memory by their own instructions; four turns and what is left over.
fn matrices() -> Outcome {
    let bench = Bench::new()?;
    let source = "#include <mma.h>\n#include <cuda_fp16.h>\nusing namespace nvcuda::wmma;\n\
                  __global__ void k(const __half *a, float *c, int n)\n{\n    \
                  __shared__ __half tile[256];\n    tile[threadIdx.x] = a[threadIdx.x];\n    \
                  __syncthreads();\n    fragment<accumulator, 16, 16, 16, float> sum;\n    \
                  fragment<matrix_a, 16, 16, 16, __half, row_major> x;\n    \
                  fragment<matrix_b, 16, 16, 16, __half, row_major> y;\n    \
                  fill_fragment(sum, 0.0f);\n    load_matrix_sync(y, tile, 16);\n    \
                  for (int i = 0; i < n; i += 16) {\n        load_matrix_sync(x, a + i, n);\n        \
                  mma_sync(sum, x, y, sum);\n    }\n    \
                  store_matrix_sync(c, sum, 16, mem_row_major);\n}\n";
    bench.write("k.cu", source)?;
    let (ptx, _) =
        bench.cdpc(&["build", "k.cu", "--emit", "ptx", "--arch", "sm_90", "-o", "-"], 0)?;
    let count = |word: &str| ptx.matches(word).count();
    let products = count("wmma.mma.sync");
    let places = [
        count("wmma.load.a.sync.aligned.row.m16n16k16.global"),
        count("wmma.load.b.sync.aligned.row.m16n16k16.shared"),
        count("wmma.store.d.sync.aligned.row.m16n16k16.global"),
    ];
    if products >= 5 && places == [products, 1, 1] { Ok(()) } else { Err(ptx.into()) }
}

/// An accumulator of two halves a register stays in its registers from product to product.
fn accumulators() -> Outcome {
    let bench = Bench::new()?;
    let source = "#include <cuda_fp16.h>\n\
                  __device__ void product(unsigned long long a, unsigned long long b, unsigned &x, unsigned &y)\n{\n    \
                  asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, %2, %3, 1, 1, 1, 0, 0;\\n\" \
                  : \"+r\"(x), \"+r\"(y) : \"l\"(a), \"l\"(b));\n}\n\
                  __global__ void multiply(__half *o, unsigned long long a, unsigned long long b, int n, __half scale)\n{\n    \
                  __half sums[4];\n    for (int i = 0; i < 4; i++) sums[i] = __ushort_as_half(0);\n    \
                  unsigned *words = reinterpret_cast<unsigned *>(sums);\n    \
                  for (int k = 0; k < n; k++) product(a + k, b + k, words[0], words[1]);\n    \
                  for (int i = 0; i < 4; i++) o[i] = __hmul(sums[i], scale);\n}\n";
    bench.write("k.cu", source)?;
    let (ptx, _) =
        bench.cdpc(&["build", "k.cu", "--emit", "ptx", "--arch", "sm_90a", "-o", "-"], 0)?;
    let count = |word: &str| ptx.matches(word).count();
    if count("wgmma.mma_async") > 4 && count("shl.b32") == 0 { Ok(()) } else { Err(ptx.into()) }
}

/// By four, and up to three that are left over: clang marks loops as not to be unrolled when it is asked for little. Not where the
/// counter could go round for ever, which clang says that no loop does.
fn loops_of_clang() -> Outcome {
    let source = |counter: &str, step: &str| {
        format!(
            "extern \"C\" __global__ void sum(const int *in, int *o, unsigned n)\n{{\n\
             int s = 0;\n    for ({counter}; i < n; i += {step}) s += in[i] ^ i;\n    *o = s;\n}}\n"
        )
    };
    let loops = [("unsigned i = 0", "1", 7), ("unsigned i = threadIdx.x", "32", 1)];
    for (name, (counter, step, wanted)) in
        ["sum.cu", "sum.cdp"].into_iter().flat_map(|name| loops.map(|turns| (name, turns)))
    {
        let found = accesses(&source(counter, step), name)?;
        let loads = found.iter().filter(|access| access.starts_with("ld.")).count();
        if loads != wanted {
            return Err(format!("{name}, by {step}: {loads} loads, not {wanted}").into());
        }
    }
    Ok(())
}

/// One choice by both conditions of a range, not two that wait for each other.
fn choices() -> Outcome {
    let bench = Bench::new()?;
    let cases = [
        ("beyond", "x > 1.0f || x < 0.0f", "or.pred"),
        ("within", "x < 1.0f && x > 0.0f", "and.pred"),
    ];
    for (name, condition, word) in cases {
        let file = format!("{name}.cdp");
        let source = format!(
            "__global__ void k(float *p, float y)\n{{\n    float x = p[threadIdx.x];\n    \
             p[threadIdx.x] = {condition} ? y : x;\n}}\n"
        );
        bench.write(&file, &source)?;
        let (ptx, _) = bench.cdpc(&["build", &file, "--emit", "ptx", "-o", "-"], 0)?;
        let found = instructions(&ptx)?;
        let count = |word: &str| found.iter().filter(|i| i.operation.starts_with(word)).count();
        if (count("selp.f32"), count(word)) != (1, 1) {
            return Err(format!("{name}:\n{ptx}").into());
        }
    }
    Ok(())
}
