//! What device code must look like for the sake of its speed, part three: parts of vectors, arrays of library functions, questions for
//! ranges, values that two conditions choose, copies to tiles, exact powers, short numbers,
//! distances, pairs in shared memory, loops that end early or go over bits, registers for loops. Each is a shape that was measured on a GPU
//! (`compiler/docs/device-speed.md`); loops over arrays and tiles themselves are `code_shapes.rs`.

use libtest_mimic::Trial;

use crate::code_shapes::{expect, ptx, ptx_of};
use crate::launches::built;
use crate::linking::Bench;
use crate::ptx_text::stretch_with_most;
use crate::support::{Outcome, root, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 23] = [
        ("parts_of_vectors_lie_apart", parts),
        ("what_is_no_vector_stays_in_order", elements),
        ("arrays_for_large_angles_stay_in_memory", angles),
        ("coefficients_are_read_two_at_a_time", coefficients),
        ("both_ends_of_a_range_are_one_question", ends),
        ("the_last_of_two_conditions_chooses", chosen),
        ("what_was_loaded_is_chosen_before_the_branch", loaded),
        ("columns_of_two_turns_share_what_they_read", windows),
        ("copies_of_few_turns_load_together", copies),
        ("what_turns_of_a_loop_that_is_gone_share_is_computed_once", shared),
        ("powers_and_logarithms_that_are_exact_are_known", powers),
        ("sums_of_short_numbers_fill_registers", sums),
        ("distances_are_one_instruction", distances),
        ("distances_of_bytes_are_one_instruction", bytes),
        ("pairs_in_shared_memory_are_read_at_once", pairs),
        ("loops_that_may_end_early_are_unrolled", early),
        ("loops_over_bits_are_unrolled_in_full", bits),
        ("lanes_that_locked_come_to_barriers_apart", apart),
        ("lanes_that_called_come_to_exchanges_apart", behind_calls),
        ("lanes_that_called_come_to_barriers_apart", barriers_behind_calls),
        ("products_without_lower_halves_are_of_32_bits", halves),
        ("loops_that_load_and_add_up_have_registers", registers),
        ("loops_of_lanes_over_a_row_are_left_to_ptxas", lanes),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("code_access::{name}"), test)).collect()
}

/// Of vectors whose pointers may lead to the same memory, also bytes and those of two different widths.
fn parts() -> Outcome {
    let body = "    int i = threadIdx.x;\n    a[i].x += b[i].x;\n    a[i].y += b[i].y;\n    a[i].z += b[i].z;\n    \
                a[i].w += b[i].w;";
    expect(&ptx("float4 *a, float4 *b", body)?, &[("ld.global.v4", 2), ("st.global.v4", 1)])?;
    expect(&ptx("uchar4 *a, uchar4 *b", body)?, &[("ld.global", 2), ("st.global", 1)])?;
    let pairs = "    int i = threadIdx.x;\n    a[i].x = b[i].x * 2;\n    a[i].y = b[i].y * 3;";
    expect(&ptx("double2 *a, double2 *b", pairs)?, &[("ld.global.v2", 1), ("st.global.v2", 1)])?;
    expect(&ptx("float2 *a, float4 *b", pairs)?, &[("ld.global.v2", 1), ("st.global.v2", 1)])
}

/// The second part is what was stored to the first one, if both pointers are the same; and records that are aligned as their
/// words are may overlap in any way.
fn elements() -> Outcome {
    let swapped = "    int i = threadIdx.x;\n    a[i].x = b[i].y;\n    a[i].y = b[i].x;";
    expect(&ptx("float2 *a, float2 *b", swapped)?, &[("ld.global.b32", 2), ("st.global.b32", 2)])?;
    let words = "    int i = threadIdx.x * 2;\n    a[i] = b[i] * 2;\n    a[i + 1] = b[i + 1] * 3;";
    expect(&ptx("float *a, float *b", words)?, &[("ld.global.b32", 2), ("st.global.b32", 2)])
}

/// The greatest so far, or what was loaded, beside a sum: not a load into the register of the greatest. What a side computes is not
/// known before.
fn loaded() -> Outcome {
    let greatest = "    float most = -1e30f, sum = 0;\n    for (int i = threadIdx.x; i < n; i += 32) {\n        float v = x[i];\n        \
                    if (v > most) { sum = sum * expf(most - v) + 1; most = v; } else sum += expf(v - most);\n    }\n    \
                    *o = most + sum;";
    expect(
        &ptx("const float *x, float *o, int n", greatest)?,
        &[("selp.f32", 5), ("ld.global", 5)],
    )?;
    let computed = greatest.replace("most = v;", "most = v * 2;");
    expect(
        &ptx("const float *x, float *o, int n", &computed)?,
        &[("selp.f32", 0), ("ld.global", 5)],
    )
}

/// Of 17 rows each turn reads 9 are the next turn's too; a loop of three turns stays one.
fn windows() -> Outcome {
    let column = "    __shared__ float s[32][33];\n    s[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];\n    \
                  s[threadIdx.y + 16][threadIdx.x] = in[threadIdx.y * 32 + 512 + threadIdx.x];\n    __syncthreads();\n    \
                  for (int r = threadIdx.y; r < 16; r += 8) {\n        float sum = 0;\n        \
                  for (int k = 0; k < 17; k++) sum += k * s[r + k][threadIdx.x];\n        o[r * 32 + threadIdx.x] = sum;\n    }";
    let parameters = "const float *__restrict__ in, float *__restrict__ o";
    expect(&ptx(parameters, column)?, &[("ld.shared", 25), ("st.global", 2)])?;
    expect(&ptx(parameters, &column.replace("r < 16", "r < 24"))?, &[("st.global", 1)])
}

/// ptxas would make registers of 28 bytes, which are chosen by comparisons.
fn angles() -> Outcome {
    expect(&ptx("float *o", "    *o = sinf(*o);")?, &[("__local_depot0[104]", 1)])
}

/// Of `sin` and `cos` of `double`: their table begins at 16 bytes, and what is read of it at a multiple of 64.
fn coefficients() -> Outcome {
    expect(
        &ptx("double *o", "    *o = sin(*o);")?,
        &[("ld.global.nc.v2.b64", 3), ("ld.global.nc.b64", 1)],
    )
}

/// Of each coordinate, inside or outside, but not of a loop's own question.
fn ends() -> Outcome {
    let inside = "    int x = o[0], y = o[1];\n    if (x >= 0 && x < w && y >= 0 && y < h) o[2] = in[y * w + x];";
    let parameters = "const float *in, float *o, int w, int h";
    expect(&ptx(parameters, inside)?, &[("setp", 2), ("max.s32", 2)])?;
    let outside = "    int x = o[0], y = o[1];\n    if (x < 0 || y < 0 || x >= w || y >= h) return;\n    o[2] = in[y * w + x];";
    expect(&ptx(parameters, outside)?, &[("setp", 2), ("max.s32", 2)])?;
    let turns = "    float s = 0;\n    for (int x = o[0]; x >= 0 && x < w; x += h) s += in[x];\n    o[2] = s;";
    expect(&ptx(parameters, turns)?, &[("max.s32", 0)])
}

/// Where a load comes before it.
fn chosen() -> Outcome {
    let body = "    int best = -1;\n#pragma unroll 1\n    for (int i = 0; i < n; i++) {\n        \
                if (!done[i] && (best < 0 || far[i] < far[best])) best = i;\n    }\n    *o = best;";
    let text = ptx("const int *far, const int *done, int *o, int n", body)?;
    expect(&text, &[("selp.b32", 1)])
}

/// Four rows of a tile with its rim: a turn asks for itself only where some are left over.
fn copies() -> Outcome {
    let body = "    __shared__ float s[32][33];\n    int x = threadIdx.x, first = blockIdx.x * 16 - 8;\n    \
                for (int r = threadIdx.y; r < 32; r += 8) {\n        int y = first + r;\n        \
                s[r][x] = y >= 0 && y < h ? in[y * w + x] : 0.0f;\n    }\n    __syncthreads();\n    \
                o[x] = s[x][threadIdx.y];";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o, int w, int h", body)?;
    // Between the questions of two turns there is none for the tile's end, which is a number.
    let turns: Vec<&str> = text.split("ld.global").collect();
    let asks = |turn: &&str| turn.contains("setp.gt.u32");
    if turns.len() == 6 && !turns[1..4].iter().any(asks) { Ok(()) } else { Err(text.into()) }
}

/// Where threads work on the elements of an array that shrinks: their places are the same in every turn.
fn shared() -> Outcome {
    let body = "    __shared__ float s[1024];\n    int t = threadIdx.x;\n    for (int i = t; i < 1024; i += blockDim.x) s[i] = in[i];\n    \
                __syncthreads();\n#pragma unroll 1\n    for (int n = steps; n > 0; n--) {\n        float m[4];\n        int k = 0;\n        \
                for (int i = t; i < n && k < 4; i += blockDim.x) m[k++] = s[i] + s[i + 1];\n        __syncthreads();\n        k = 0;\n        \
                for (int i = t; i < n && k < 4; i += blockDim.x) s[i] = m[k++];\n        __syncthreads();\n    }\n    o[t] = s[t];";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o, int steps", body)?;
    expect(&stretch_with_most(&text, "ld.shared")?, &[("mul.wide", 0)])
}

/// A sum by halves as text books write it: four steps, without divisions. What is not exact is left to the GPU.
fn powers() -> Outcome {
    let body = "    __shared__ float s[16][16];\n    int x = threadIdx.x, y = threadIdx.y;\n    s[y][x] = o[y * 16 + x];\n    \
                __syncthreads();\n    for (int i = 1; i <= __log2f(16); i++) {\n        int power = __powf(2, i);\n        \
                if (y % power == 0) s[y][x] += s[y + power / 2][x];\n        __syncthreads();\n    }\n    o[y * 16 + x] = s[y][x];";
    expect(
        &ptx("float *o", body)?,
        &[("ex2", 0), ("lg2", 0), ("rem", 0), ("div", 0), ("bar.sync", 5)],
    )?;
    expect(
        &ptx("float *o", "    *o = __log2f(3.0f) + __powf(2, 0.5f) + __powf(2, 1000);")?,
        &[("ex2", 2), ("lg2", 1)],
    )
}

/// Of bytes, in a `short`: neither in 16 bits nor by the larger and the smaller one; and cut where it ends.
fn sums() -> Outcome {
    let body = "    unsigned short sum = 0;\n    for (int i = 0; i < 4; i++) sum += abs((int)a[i] - b[i]);\n    o[0] = sum / 3;";
    let parameters = "const unsigned char *__restrict__ a, const unsigned char *__restrict__ b, int *__restrict__ o";
    expect(&ptx(parameters, body)?, &[("sad.s32", 4), ("min.", 0), ("add.s16", 0)])?;
    let turns = "    unsigned short sum = 0;\n    for (int i = 0; i < o[0]; i++) sum += (o[i] >> 3) * 5;\n    o[0] = sum;";
    expect(&ptx("int *o", turns)?, &[("add.s16", 0), ("mul.lo.s16", 0)])
}

/// In C's ways of saying it, with what they are added to; not where a difference may have wrapped.
fn distances() -> Outcome {
    let parameters =
        "const int *__restrict__ a, const unsigned *__restrict__ u, int *__restrict__ o";
    expect(
        &ptx(parameters, "    o[0] = abs(a[0] - a[1]) + a[2];")?,
        &[("sad.s32", 1), ("add.s32", 0)],
    )?;
    expect(
        &ptx(parameters, "    o[0] = u[0] > u[1] ? u[0] - u[1] : u[1] - u[0];")?,
        &[("sad.u32", 1), ("setp", 0)],
    )?;
    expect(
        &ptx(parameters, "    o[0] = a[0] < a[1] ? a[1] - a[0] : a[0] - a[1];")?,
        &[("sad.s32", 1), ("setp", 0)],
    )?;
    expect(&ptx(parameters, "    o[0] = max(u[0], u[1]) - min(u[0], u[1]);")?, &[("sad.u32", 1)])?;
    expect(&ptx(parameters, "    o[0] = abs((int)(u[0] - u[1]));")?, &[("sad", 0), ("abs.s32", 1)])
}

fn bytes() -> Outcome {
    let parameters = "unsigned *o";
    for function in ["__vsadu4", "__vabsdiffu4", "__vsads4", "__vabsdiffs4"] {
        expect(
            &ptx(parameters, &format!("    o[0] = {function}(o[1], o[2]);"))?,
            &[("vabsdiff4.u32", 1), ("prmt", 0)],
        )?;
    }
    Ok(())
}

/// Also where a pointer moves; not where a word lies between.
fn pairs() -> Outcome {
    let body = |place: &str| {
        format!(
            "    __shared__ float s[2048];\n    for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = o[i];\n    \
             __syncthreads();\n    for (int p = threadIdx.x; p < 1000; p += blockDim.x) {{\n        int i = {place};\n        \
             float a = s[i], b = s[i + 1];\n        s[i] = a + b;\n        s[i + 1] = a - b;\n    }}\n    \
             __syncthreads();\n    o[threadIdx.x] = s[threadIdx.x];"
        )
    };
    expect(&ptx("float *o", &body("2 * p"))?, &[("ld.shared.v2", 1), ("st.shared.v2", 1)])?;
    expect(&ptx("float *o", &body("2 * p + 1"))?, &[("ld.shared.v2", 0), ("st.shared.v2", 0)])
}

/// Where the last turn is known: eight turns ask once how many there were. Not where a turn only computes, as of the Mandelbrot set, nor
/// where products of products would come of it.
fn early() -> Outcome {
    let parameters =
        "const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ o, int n";
    let body = |end: &str| {
        format!("    int i = 0;\n    while (i < {end} && a[i] == b[i]) i++;\n    *o = i;")
    };
    expect(&ptx(parameters, &body("64"))?, &[("ld.global", 16)])?;
    let powers = "    int i = 0, r = n;\n    while (i < 64 && a[i] != r) { r = r * r + b[i]; i++; }\n    *o = i;";
    expect(&ptx(parameters, powers)?, &[("ld.global", 2)])?;
    expect(&ptx(parameters, &body("n"))?, &[("ld.global", 2)])?;
    let sample = root().join("samples/nested/mandelbrot.cdp");
    expect(&built(&sample, &["-O3", "-flaunch-opt=safe"])?, &[("mul.lo.s64", 30)])
}

/// Shifts are by constants then; not where a turn asks memory.
fn bits() -> Outcome {
    let body = |read: &str| {
        format!(
            "    unsigned long long x = *o, moved = 0;\n    for (int i = 0; i < 64; i++)\n        \
             moved |= (x >> {read} & 1) << (i == 63 ? 63 : i * 16 % 63);\n    *o = moved;"
        )
    };
    let parameters = "const unsigned char *__restrict__ in, unsigned long long *__restrict__ o";
    expect(&ptx(parameters, &body("i"))?, &[("bra", 0)])?;
    expect(&ptx(parameters, &body("(in[i] & 63)"))?, &[("ld.global.nc.b8", 8)])
}

/// ptxas has lanes that were in a loop with an atomic operation meet at such barriers; the next barrier has them together.
fn apart() -> Outcome {
    let body = |before: &str, barriers: &str| {
        format!(
            "    __shared__ int s[64];\n    int t = threadIdx.x, x = a[t];\n    s[t] = 0;\n    {before}\n    {barriers}\n    \
             o[t] = s[63 - t] + x;"
        )
    };
    let (turns, once) =
        ("while (atomicCAS(&s[x & 7], 0, x) != 0) x >>= 1;", "if (x > 5) atomicAdd(&s[x & 7], 1);");
    let system = "for (int i = 0; i < x; i++) atomicAdd_system(&s[(x ^ i) & 63], i * x);";
    let (two, parameters) =
        ("__syncthreads();\n    s[t] += x;\n    __syncthreads();", "int *o, const int *a");
    let count = "x += __syncthreads_count(x > 3);";
    for (before, barriers, apart, together) in [
        (turns, two, 1, 1),
        (system, two, 1, 1),
        (once, two, 0, 2),
        (turns, count, 1, 0),
        (once, count, 0, 1),
    ] {
        let text = ptx(parameters, &body(before, barriers))?;
        expect(&text, &[("\tbarrier.", apart), ("\tbar.", together)])?;
    }
    Ok(())
}

/// A kernel with a pointer to a function, and functions that lanes come back from together and apart.
fn calling(rest: &str) -> String {
    let nested: String = (0..8).map(|n| format!("if (o[{n}] > n) {{ o[{n}] ^= n; ")).collect();
    format!(
        "__device__ __noinline__ static int leaf(int n) {{ for (int i = 0; i < n; i++) n ^= n / 3; return n; }}\n\
         __device__ __noinline__ static int deep(int n) {{ return n < 1 ? 7 : (deep(n / 3) ^ n) * 5; }}\n\
         __device__ __noinline__ static int inside(int n) {{ return leaf(__shfl_xor_sync(~0u, n, 1)); }}\n\
         __device__ __noinline__ static int divides(float n) {{ return (int)(3.0f / n); }}\n\
         __device__ __noinline__ static int nested(int *o, int n) {{ {nested} {ends} return n; }}\n\
         __global__ void k(int *o, int (*f)(int), unsigned mask)\n{{\n    int x = o[threadIdx.x];\n    {rest}\n    o[threadIdx.x] = x;\n}}\n",
        ends = "}".repeat(8)
    )
}

/// ptxas asks whether lanes are apart where it does not know the mask: behind calls of functions that call others, and where a function
/// begins; not behind the next exchange, nor behind calls of others.
fn behind_calls() -> Outcome {
    let two = "x += __shfl_xor_sync(~0u, x, 1);\n    x ^= __ballot_sync(~0u, x & 1);";
    for (rest, asked) in [
        (two.to_string(), 0),
        (format!("x = leaf(x);\n    {two}"), 0),
        (format!("if (x & 1) x = deep(x);\n    {two}"), 1),
        (format!("x = f(x);\n    __syncwarp();\n    {two}"), 1),
        (format!("for (int i = 0; i < o[99]; i++) {{\n    {two}\n    x = deep(x); }}"), 1),
        (format!("x = f(x);\n    __syncthreads();\n    {two}"), 1),
        ("x = f(x) + __shfl_xor_sync(0xffu, x, 1);".to_string(), 0),
        ("x = inside(x);".to_string(), 1),
        (format!("x = divides(x);\n    {two}"), 1),
        (format!("x = nested(o, x);\n    {two}"), 1),
    ] {
        expect(&ptx_of(&calling(&rest))?, &[("%lanemask_ge", asked)])?;
    }
    let case = root().join("tests/cases/run/exchanges_behind_calls.cdp");
    expect(&built(&case, &["-O0"])?, &[("%lanemask_ge", 3)])
}

/// In front of barriers and of all that has no mask, also in text, stands a `bar.warp.sync` of a mask that ptxas does not know; not of
/// what has a mask of its own, nor behind the first.
fn barriers_behind_calls() -> Outcome {
    let all = "asm volatile(\"shfl.sync.bfly.b32 %0, %1, 1, 31, %2;\" : \"=r\"(x) : \"r\"(x), \"r\"(~0u));";
    let some = all.replace("~0u", "mask");
    let literal = all.replace("%2", "0xffffffff").replace(", \"r\"(~0u)", "");
    let rows = "asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(x) : \"r\"(x));";
    let apart = "while (atomicCAS(&o[x & 7], 0, x) != 0) x >>= 1;\n    ";
    for (before, rest, meets, asked) in [
        ("x = leaf(x);", "__syncthreads();", 0, 0),
        ("x = f(x);", "__syncthreads();\n    x += o[x];\n    __syncthreads();", 1, 1),
        ("if (x & 1) x = deep(x);", "x += __syncthreads_count(x > 3);", 1, 1),
        ("x = f(x);", all, 0, 1),
        ("x = f(x);", &some, 0, 0),
        ("x = f(x);", &literal, 1, 1),
        ("x = f(x);", rows, 1, 1),
        ("x = f(x);", "asm volatile(\"bar.sync 1, 64;\");", 1, 1),
        ("x = f(x);", &format!("{apart}__syncthreads();"), 1, 1),
        ("", rows, 0, 0),
    ] {
        expect(
            &ptx_of(&calling(&format!("{before}\n    {rest}")))?,
            &[("bar.warp.sync", meets), ("%lanemask_ge", asked), ("barrier.sync", 0)],
        )?;
    }
    let case = root().join("tests/cases/run/barriers_behind_calls.cdp");
    expect(&built(&case, &["-O0"])?, &[("%lanemask_ge", 3)])
}

/// Of two products of 64 bits with other constants to add in the upper half ptxas may compute one sum.
fn halves() -> Outcome {
    let body = |factor: &str| {
        format!(
            "    unsigned long long x = u[0];\n    o[0] = (long long)(x * {factor} + 11646849647640576000ull) >> 56;"
        )
    };
    let parameters = "const unsigned long long *__restrict__ u, long long *__restrict__ o";
    expect(
        &ptx(parameters, &body("2503707763083837440ull"))?,
        &[("mad.lo.s64", 0), ("mul.lo.s64", 0), ("mad.lo.s32", 1)],
    )?;
    expect(&ptx(parameters, &body("6364136223846793005ull"))?, &[("mad.lo.s64", 1), ("lo.s32", 0)])
}

/// A limit that the largest block may have, for loops of floats that load, and add up or store; not where threads wait for each other, where
/// more might be needed, or where somebody said how many there are.
fn registers() -> Outcome {
    let kernel = |before: &str, turn: &str, after: &str| {
        format!(
            "__device__ __noinline__ void keep(float *q) {{ q[7] += 1; }}\n\
             __global__ void {before} k(const float *p, const int *c, float *q, int n)\n{{\n    \
             float sum = 0, a[90];\n    int whole = 0;\n    \
             for (int i = 0; i < 90; i++) a[i] = p[i * n + threadIdx.x];\n    \
             for (int i = 0; i < n; i++) {{ {turn} }}\n    q[threadIdx.x] = sum + whole;\n    {after}\n}}\n"
        )
    };
    let sum = "sum += p[i] * 3;";
    let kept = "for (int i = 0; i < 90; i++) q[i * n + threadIdx.x] = a[i] * a[(i + 7) % 90];";
    for (before, turn, after, limits) in [
        ("", sum, "", ".maxnreg 64"),
        ("", "sum += p[c[i]];", "", ".maxnreg 64"),
        ("", "q[i] = p[i] * 3;", "", ".maxnreg 64"),
        ("__launch_bounds__(256)", sum, "", ".maxnreg 64"),
        ("", "sum += p[i]; __syncthreads();", "", ""),
        ("", "sum += 1.0f / i;", "", ""),
        ("", "whole += c[i];", "", ""),
        ("", sum, kept, ""),
        ("", sum, "keep(q);", ""),
        ("__launch_bounds__(256, 2)", sum, "", ""),
        ("__maxnreg__(40)", sum, "", ".maxnreg 40"),
    ] {
        let text = ptx_of(&kernel(before, turn, after))?;
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with(".maxnreg")).collect();
        if found.join(" ") != limits {
            return Err(format!("{before} {turn} {after}: {found:?}\n{text}").into());
        }
    }
    let bench = Bench::new()?;
    bench.write("k.cdp", &kernel("", sum, ""))?;
    let build = ["build", "k.cdp", "--emit", "ptx", "-o", "-", "--arch"];
    for (arch, given, times) in [
        ("sm_90", &["-O0"][..], 0),
        ("sm_90", &["--maxrregcount", "48"], 0),
        ("sm_90", &["-Xptxas", "-maxrregcount=48"], 0),
        ("sm_80", &[], 1),
    ] {
        let text = bench.cdpc(&[&build[..], &[arch], given].concat(), 0)?.0;
        expect(&text, &[(".maxnreg", times)])?;
    }
    Ok(())
}

/// Three loads where eight lanes share a row of a sparse matrix; where a thread has a row, or each turn knows what to load, those of
/// several turns.
fn lanes() -> Outcome {
    let body = |first: &str, step: &str, what: &str| {
        format!(
            "    int row = threadIdx.x / 8, lane = threadIdx.x % 8;\n    float sum = 0;\n    \
             for (int k = {first}; k < row * 50 + n; k += {step}) sum += v[k] * x[{what}];\n    y[threadIdx.x] = sum;"
        )
    };
    let parameters = "const int *c, const float *v, const float *x, float *y, int n";
    let loads = |first: &str, step: &str, what: &str| -> Result<usize, libtest_mimic::Failed> {
        Ok(ptx(parameters, &body(first, step, what))?.matches("ld.global").count())
    };
    let found = [
        loads("row + lane", "8", "c[k]")?,
        loads("row", "1", "c[k]")?,
        loads("row + lane", "8", "k * 3")?,
    ];
    if found[0] == 3 && found[1] > 12 && found[2] > 8 {
        return Ok(());
    }
    Err(format!("{found:?} loads").into())
}
