//! What device code must look like for the sake of its speed, part two: loops over small arrays and over tiles,
//! conditions one after another, sequences of numbers, records that are written back. Each is a shape that was measured on a GPU
//! (`compiler/docs/device-speed.md`); widths of copies and what nvcc's exactness asks for are `code.rs`.

use libtest_mimic::Trial;

use crate::linking::Bench;
use crate::ptx_text::{Instruction, instructions, stretch_with_most};
use crate::support::{Outcome, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 35] = [
        ("arrays_that_long_loops_go_around_are_registers", rounds),
        ("arrays_by_places_of_a_table_are_registers", table_rounds),
        ("columns_of_alignments_are_registers", columns),
        ("arrays_are_aligned_for_wide_accesses", aligned),
        ("loads_of_tiles_are_unrolled", tiles),
        ("places_of_copies_to_tiles_are_computed_once", copied),
        ("what_is_left_of_a_short_loop_is_no_loop", rest),
        ("loops_that_store_are_unrolled_by_four", storing),
        ("loops_in_loops_are_unrolled_by_four", taps),
        ("sums_of_many_loads_are_unrolled_by_four", requests),
        ("loops_that_leave_out_a_turn_are_two", but_one),
        ("pointers_go_on_where_unrolled_turns_left_them", going_on),
        ("steps_of_pointers_are_wide_products", steps),
        ("steps_of_64_bits_are_added_to_pointers", planes),
        ("parts_of_vectors_are_loaded_together", together_with),
        ("loops_end_in_one_branch", one_branch),
        ("products_of_libdevice_fuse_with_sums", fused),
        ("weights_of_taps_under_a_condition_lie_side_by_side", weights),
        ("loops_that_ask_for_edges_are_unrolled_once", asking),
        ("loops_deep_in_others_are_unrolled_once", deep),
        ("conditions_have_exchanges_of_their_own", exchanges),
        ("loops_of_few_turns_are_unrolled_once", few),
        ("loops_that_call_are_not_unrolled", calling),
        ("loops_with_barriers_are_unrolled_where_a_block_turns_as_one", together),
        ("large_functions_are_inlined_while_their_copies_are_few", copies),
        ("conditions_of_one_value_stay_in_order", edges),
        ("sequences_keep_their_factor", sequence),
        ("unchanged_fields_are_not_stored", fields),
        ("bits_are_asked_for_where_they_are", bits),
        ("words_side_by_side_in_shared_memory_are_seen", side_by_side),
        ("what_lies_around_a_pointer_that_moves_is_addressed_from_it", around),
        ("lanes_find_their_way_by_comparisons", ways),
        ("few_constants_are_selected", constants),
        ("last_elements_of_groups_are_neighbours", groups),
        ("what_parameters_lead_to_is_apart_from_shared_memory", apart),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("code_shapes::{name}"), test)).collect()
}

/// The PTX of a kernel `k` with these parameters and this body.
pub fn ptx(parameters: &str, body: &str) -> Result<String, libtest_mimic::Failed> {
    ptx_of(&format!("__global__ void k({parameters})\n{{\n{body}\n}}\n"))
}

/// The PTX of a source.
pub fn ptx_of(source: &str) -> Result<String, libtest_mimic::Failed> {
    ptx_with(source, "safe")
}

/// The same at a level of the launch optimiser.
fn ptx_with(source: &str, launch_opt: &str) -> Result<String, libtest_mimic::Failed> {
    let bench = Bench::new()?;
    bench.write("k.cdp", source)?;
    let level = ["--flaunch-opt", launch_opt];
    let rest = ["build", "k.cdp", "--emit", "ptx", "--arch", "sm_90", "-o", "-"];
    Ok(bench.cdpc(&[&rest[..], &level].concat(), 0)?.0)
}

/// That a text is in PTX so many times.
pub fn expect(ptx: &str, counts: &[(&str, usize)]) -> Outcome {
    for (text, wanted) in counts {
        let found = ptx.matches(text).count();
        if found != *wanted {
            return Err(format!("{text:?} is there {found} times, not {wanted}:\n{ptx}").into());
        }
    }
    Ok(())
}

/// 64 and 80 rounds over the last 16 words, as hashes do; not where the place comes from memory.
fn rounds() -> Outcome {
    let body = |turns: u32, place: &str| {
        format!(
            "    unsigned w[16], a = 1;\n    for (int i = 0; i < 16; i++) w[i] = in[i];\n    \
             for (int i = 0; i < {turns}; i++) {{\n        if (i >= 16)\n            \
             w[i & 15] += (w[(i - 15) & 15] >> 3) ^ w[{place} & 15];\n        \
             a = a * 33 + w[i & 15];\n    }}\n    *o = a;"
        )
    };
    let parameters = "const unsigned *__restrict__ in, unsigned *__restrict__ o";
    for turns in [64, 80] {
        expect(&ptx(parameters, &body(turns, "(i - 2)"))?, &[(".local", 0)])?;
    }
    let looked_up = ptx(parameters, &body(64, "in[i]"))?;
    if looked_up.contains("st.local") { Ok(()) } else { Err(looked_up.into()) }
}

/// Eight rounds that take words in the order of a table, which becomes places; not of one that a program may change.
fn table_rounds() -> Outcome {
    let source = |table: &str| {
        let round = "a = (a + w[q[0]] ^ b) * 33; b = (b + w[q[1]] ^ c) * 5; c = (c ^ w[q[2]]) + a; d = d * 3 + w[q[3]];";
        format!(
            "{table} unsigned char order[4][4] = {{{{0, 1, 2, 3}}, {{14, 10, 4, 8}}, {{11, 8, 12, 0}}, {{7, 9, 3, 1}}}};\n\
             __global__ void k(const unsigned *__restrict__ in, unsigned *__restrict__ o)\n{{\n    \
             unsigned w[16], a = 1, b = 2, c = 3, d = 4;\n    for (int i = 0; i < 16; i++) w[i] = in[i];\n    \
             for (int i = 0; i < 8; i++) {{\n        const unsigned char *q = order[i & 3];\n        {}\n    }}\n    \
             *o = a ^ b ^ c ^ d;\n}}\n",
            round.repeat(16)
        )
    };
    expect(&ptx_of(&source("__device__ static const"))?, &[(".local", 0)])?;
    let changed = ptx_of(&source("__device__"))?;
    if changed.contains("st.local") { Ok(()) } else { Err(changed.into()) }
}

/// The column of a local alignment against 64 letters, which are kept as bytes; not of 128, which no thread has registers for.
fn columns() -> Outcome {
    let body = |letters: u32| {
        format!(
            "    int column[{letters} + 1], top = 0;\n    unsigned char q[{letters}];\n    \
             for (int i = 0; i < {letters}; i++) q[i] = a[i] & 3, column[i + 1] = 0;\n    \
             column[0] = 0;\n    for (int j = 0; j < n; j++) {{\n        int diagonal = 0;\n        \
             for (int i = 1; i <= {letters}; i++) {{\n            \
             int score = max(diagonal + (q[i - 1] == b[j] ? 2 : -1), max(column[i], column[i - 1]) - 1);\n            \
             diagonal = column[i];\n            column[i] = max(score, 0);\n            \
             top = max(top, score);\n        }}\n    }}\n    *o = top;"
        )
    };
    let parameters = "const unsigned char *__restrict__ a, const unsigned char *__restrict__ b, \
                      int *__restrict__ o, int n";
    expect(&ptx(parameters, &body(64))?, &[(".local", 0)])?;
    let long = ptx(parameters, &body(128))?;
    if long.contains("st.local") { Ok(()) } else { Err(long.into()) }
}

/// ptxas joins what is stored side by side.
fn aligned() -> Outcome {
    let body = "    int far[16];\n    for (int i = 0; i < 16; i++) far[i] = i ? 1 << 20 : 0;\n    \
                far[in[1] & 15] = 3;\n    *o = far[*in & 15];";
    expect(
        &ptx("const int *__restrict__ in, int *__restrict__ o", body)?,
        &[(".local .align 16 .b8", 1)],
    )
}

/// By the threads of a block in strides: at most four turns, whose loads do not wait for each other's stores.
fn tiles() -> Outcome {
    let body = "    __shared__ float tile[1024];\n    int t = threadIdx.y * 16 + threadIdx.x;\n    \
                for (int i = t; i < 1024; i += 256) tile[i] = in[i * n];\n    __syncthreads();\n    \
                o[t] = tile[t ^ 5];";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o, int n", body)?;
    let loads = text.matches("ld.global").count();
    if loads >= 4 { Ok(()) } else { Err(format!("{loads} loads:\n{text}").into()) }
}

/// Before the loop over the tiles, though a loop over what each thread copies, which is none any more, stood in it.
fn copied() -> Outcome {
    let body = "    __shared__ float tile[8][64];\n    float s = 0;\n    int t = threadIdx.x;\n    \
                for (int k = 0; k < n; k += 8) {\n        for (int l = 0; l < 2; l++) {\n            \
                int e = t + l * 256;\n            tile[e % 8][e / 8] = in[(e / 8) * n + k + e % 8];\n        }\n        \
                __syncthreads();\n        for (int i = 0; i < 8; i++) s += tile[i][t & 63];\n        \
                __syncthreads();\n    }\n    o[t] = s;";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o, int n", body)?;
    let turn = text.split("bar.sync").next().and_then(|before| before.rsplit("$L__").next());
    let computes = |turn: &str| turn.contains("shr.") || turn.contains("mul.wide.u32");
    match turn {
        Some(turn) if turn.matches("st.shared").count() == 2 && !computes(turn) => Ok(()),
        _ => Err(text.into()),
    }
}

/// Three turns at most, of which each is under the question whether there is one more.
fn rest() -> Outcome {
    let body = "    int s = 0;\n    for (int i = 0; i < n; i++) s += in[i];\n    *o = s;";
    let text = ptx("const int *__restrict__ in, int *__restrict__ o, int n", body)?;
    expect(&text, &[("ld.global", 7), ("nounroll", 0)])
}

/// Not by eight: each load waits for the store before it, and up to seven turns would be left over.
fn storing() -> Outcome {
    let body = "    for (int i = threadIdx.x; i < n; i += 32) o[i] = in[i] * 2.5f + 1.0f;";
    expect(
        &ptx("const float *in, float *o, int n", body)?,
        &[("st.global", 4 + 3), ("nounroll", 0)],
    )
}

/// A sum of products by eight, with a loop for what is left over; in another loop by four, with what is left over behind.
fn taps() -> Outcome {
    let parameters = "const float *__restrict__ in, const float *__restrict__ by, float *__restrict__ o, \
                      int n, int width";
    let (sum, inner) = (
        "float s = 0;\n    ",
        "for (int i = 0; i < n; i++) s += in[i + at] * by[i];\n    o[threadIdx.x] = s;",
    );
    let alone = format!("    int at = threadIdx.x;\n    {sum}{inner}");
    expect(&ptx(parameters, &alone)?, &[("ld.global", 2 * (8 + 1))])?;
    let rows = "for (int at = threadIdx.x; at < n * width; at += width)\n        ";
    let asking = inner.replace("s +=", "if (i != width) s +=");
    for turn in [inner, asking.as_str()] {
        expect(
            &ptx(parameters, &format!("    {sum}{rows}{turn}"))?,
            &[("ld.global", 2 * (4 + 3))],
        )?;
    }
    Ok(())
}

/// Three loads of a turn, eight turns of which do not get under way together; a vector's parts are one.
fn requests() -> Outcome {
    let kernel = |kind: &str, terms: &str| {
        let body = format!(
            "    float s = 0;\n    for (int i = 0; i < n; i++) s += {terms};\n    o[threadIdx.x] = s;"
        );
        ptx(&format!("const {kind} *__restrict__ in, float *__restrict__ o, int n"), &body)
    };
    let far = kernel("float", "in[6 * i] * in[6 * i + 1] * in[6 * i + 2]")?;
    expect(&far, &[("ld.global", 3 * (4 + 1))])?;
    // Nor where elements are found by others, also by `__ldg`.
    let rows = "    float s = 0;\n    for (int i = threadIdx.x; i < n; i++) s += by[i] * __ldg(&in[at[i]]);\n    o[threadIdx.x] = s;";
    let parameters = "const float *__restrict__ in, const float *__restrict__ by, const int *__restrict__ at, float *o, int n";
    expect(&ptx(parameters, rows)?, &[("ld.global", 3 * (4 + 1))])?;
    let vector = kernel("float4", "in[i].x * in[i].y * in[i].z * in[i].w")?;
    expect(&vector, &[("ld.global", 8 + 1)])
}

/// What the one turn is asked for is not asked in the turns before it and after it.
fn but_one() -> Outcome {
    let body = |skips: &str| {
        format!(
            "    int i = threadIdx.x;\n    float s = 0;\n    for (int j = 0; j < n; j++) {{\n        \
             if ({skips}) continue;\n        s += a[j] * a[i];\n    }}\n    o[i] = s;"
        )
    };
    let parameters = "const float *a, float *o, int n";
    // Eight turns and one in each of two loops, and before each what does not change.
    expect(&ptx(parameters, &body("j == i"))?, &[("ld.global", 2 * (8 + 1 + 1))])?;
    // A counter that comes to the number several times.
    expect(&ptx(parameters, &body("(signed char)j == i"))?, &[("ld.global", 2 * (8 + 1))])
}

/// The turns that are left over of a loop in a loop need no places of their own.
fn going_on() -> Outcome {
    let body = "    float s = 0;\n    for (int y = 0; y < h; y++)\n        \
                for (int x = 0; x < w; x++) s += a[y * w + x] * b[x];\n    *o = s;";
    // The first place of a row; four turns of two pointers.
    let parameters = "const float *a, const float *b, float *o, int h, int w";
    expect(&ptx(parameters, body)?, &[("mul.wide", 1), ("add.s64", 1 + 2)])
}

/// A pointer that goes on by rows, there and back.
fn steps() -> Outcome {
    let body = |first: &str| {
        format!(
            "    double s = 0;\n    int t = threadIdx.x;\n    for (int i = {first}) {{\n        \
             s = a[i * width + t] - s / 3;\n        b[i * width + t] = s;\n    }}"
        )
    };
    let parameters = "const double *__restrict__ a, double *__restrict__ b, int n, int width";
    for (first, factor) in [("1; i < n; i++", 8), ("n - 2; i >= 0; i--", -8)] {
        let text = ptx(parameters, &body(first))?;
        let found = instructions(&text)?;
        let is_step = |step: &&Instruction<'_>| {
            step.operation == "mul.wide.s32" && step.text.ends_with(&format!(", {factor}"))
        };
        let steps = found.iter().filter(is_step);
        let added = |step: &Instruction<'_>| {
            found.iter().filter(|other| other.operands.last() == step.operands.first()).count()
        };
        // Both pointers go on at least four times.
        if steps.map(added).max().unwrap_or_default() < 2 * 4 {
            return Err(text.into());
        }
    }
    Ok(())
}

/// A pointer for each of three places of an image that do not lie a known distance apart, and for the one that is written.
fn planes() -> Outcome {
    let body = "    int i = threadIdx.x, below = i + (i < h - 1) * w;\n    \
                for (int c = 0; c < n; c++) {\n        const float *p = in + (size_t)c * h * w;\n        \
                o[((size_t)c * h + 1) * w + i] = p[i] + p[i + 1] * 2 + p[below] * 3 + p[below + w];\n    }";
    let text = ptx("const float *in, float *o, int n, int h, int w", body)?;
    let turn = stretch_with_most(&text, "ld.global")?;
    // Four turns of four pointers.
    expect(&turn, &[("ld.global", 4 * 4), ("add.s64", 4 * 4), ("shl", 0)])
}

/// A particle's mass, which counts where it is near, comes with its place.
fn together_with() -> Outcome {
    let body = "    float s = 0, x = *o;\n    for (int i = 0; i < n; i++) {\n        float4 q = in[i];\n        \
                float r = (q.x - x) * (q.x - x) + q.y * q.y + q.z * q.z;\n        \
                if (r < 0.5f) s += q.w * r;\n    }\n    *o = s;";
    let text = ptx("const float4 *in, float *o, int n", body)?;
    let narrow = text.matches("ld.global.b32").count();
    let wide = text.matches("ld.global.v4").count();
    // `x` alone.
    if narrow == 1 && wide >= 4 { Ok(()) } else { Err(text.into()) }
}

/// A loop to whose end a kernel's first question goes too.
fn one_branch() -> Outcome {
    let body = "    int t = threadIdx.x;\n    if (t >= n) return;\n#pragma unroll 1\n    \
                for (int i = 0; i < n; i++) {\n        atomicAdd(o + i * n + t, i);\n        \
                __threadfence();\n    }";
    expect(&ptx("int *o, int n", body)?, &[("bra.uni", 0)])
}

/// As nvcc has it, where `-fmad` lets them.
fn fused() -> Outcome {
    let bench = Bench::new()?;
    let source = "__global__ void k(float *o) { *o = o[1] + expf(*o); }\n";
    bench.write("k.cdp", source)?;
    let text = |fmad: &str| -> Result<String, libtest_mimic::Failed> {
        let rest = ["build", "k.cdp", "--emit", "ptx", "--arch", "sm_90", "-o", "-", fmad];
        Ok(bench.cdpc(&rest, 0)?.0)
    };
    // The last product and the sum.
    expect(&text("-fmad=true")?, &[("mul.rn", 0), ("mul.f32", 0)])?;
    expect(&text("-fmad=false")?, &[("mul.rn", 1)])
}

/// The addresses of eight turns differ by constants in both arrays, also where no turn surely reads.
fn weights() -> Outcome {
    let body = "    float s = 0;\n    int x = threadIdx.x;\n    for (int i = -r; i <= r; i++)\n        \
                if (x + i >= 0 && x + i < width)\n            \
                s += in[width + x + i] * by[2 * r + 1 + (i + r)];\n    o[x] = s;";
    let parameters = "const float *__restrict__ in, const float *__restrict__ by, float *__restrict__ o, \
                      int width, int r";
    expect(&ptx(parameters, body)?, &[("+4]", 2), ("+8]", 2), ("+12]", 2)])
}

/// By four here, and then not by ptxas once more, where the loop is in another one.
fn asking() -> Outcome {
    let body = "    float s = 0;\n    for (int j = 0; j < n; j++)\n        for (int i = 0; i < n; i++)\n            \
                if (i != width) s += in[j * n + i];\n    o[threadIdx.x] = s;";
    let parameters = "const float *__restrict__ in, float *__restrict__ o, int n, int width";
    expect(&ptx(parameters, body)?, &[("ld.global", 4 + 3), (".pragma \"nounroll\"", 1)])
}

/// Taps of a filter, over rows and channels, are few, so that ptxas's sixteen at a time cost more than they bring; a loop in
/// one other may have many turns.
fn deep() -> Outcome {
    let taps = "for (int q = 0; q < k; q++) s += a[(c * h + p) * w + q] * b[(c * k + p) * k + q];";
    let rows = format!("for (int p = 0; p < k; p++) {taps}");
    let kernel = |loops: &str| {
        let body = format!("int c = 0, p = 0; float s = 0;\n{loops}\no[threadIdx.x] = s;");
        ptx("const float *a, const float *b, float *o, int n, int w, int h, int k", &body)
    };
    expect(&kernel(&format!("for (; c < n; c++) {rows}"))?, &[(".pragma \"nounroll\"", 1)])?;
    expect(&kernel(&rows)?, &[(".pragma \"nounroll\"", 0)])
}

/// Of a sorting network; what both sides do is done after them.
fn exchanges() -> Outcome {
    let body = |both: &str| {
        format!(
            "    __shared__ int s[256];\n    int t = threadIdx.x, other = t ^ by, a, b;\n    s[t] = in[t];\n    \
             __syncthreads();\n    a = s[t], b = s[other];\n    if (t & n) {{\n        \
             if (a > b) {{ s[t] = b; s[other] = a; }}\n    }} else {{\n        \
             if ({both}) {{ s[t] = b; s[other] = a; }}\n    }}\n    __syncthreads();\n    o[t] = s[t ^ 1];"
        )
    };
    let parameters = "const int *__restrict__ in, int *__restrict__ o, int by, int n";
    expect(&ptx(parameters, &body("a < b"))?, &[("st.shared", 1 + 2 * 2)])?;
    expect(&ptx(parameters, &body("a > b"))?, &[("st.shared", 1 + 2)])
}

/// By four here, and then not by ptxas once more.
fn few() -> Outcome {
    let body = "    unsigned end = in[threadIdx.x] & 15u, s = 0;\n    \
                for (unsigned i = 0; i < end; i++) s += table[i];\n    o[threadIdx.x] = s;";
    let parameters = "const unsigned *__restrict__ in, const unsigned *__restrict__ table, \
                      unsigned *__restrict__ o";
    expect(&ptx(parameters, body)?, &[(".pragma \"nounroll\"", 1)])
}

/// Neither a program's, nor those of a queue of launches: what follows a call is on its way only after it, and the code of
/// a launch is long. Short ones of known length are none any more.
fn calling() -> Outcome {
    const LAUNCH: &str = "call.uni (retval0), __cudaCDP2LaunchDeviceV2";
    let source = |turns: &str, stream: &str| {
        format!(
            "__global__ void child(int *p, int n)\n{{\n    if (threadIdx.x < n) atomicAdd(&p[threadIdx.x], n);\n}}\n\
             __global__ void k(int *p, int n)\n{{\n    for (int i = 0; i < {turns}; i++)\n        \
             child<<<1, 64, 0, {stream}>>>(p, p[n + i]);\n}}\n"
        )
    };
    expect(&ptx_with(&source("n", "0"), "off")?, &[(LAUNCH, 1)])?;
    expect(&ptx_with(&source("3", "0"), "off")?, &[(LAUNCH, 3)])?;
    // A bucket, each of its records, a warp's launches and one alone; waiting for a bucket to open, to be full, and at the door.
    let queue = ptx_with(&source("n", "cudaStreamFireAndForget"), "safe")?;
    expect(&queue, &[(LAUNCH, 4), ("nanosleep", 3)])?;
    let print = "__global__ void k(const int *in, int n)\n{\n    \
                 for (int i = 0; i < n; i++) printf(\"%d\", in[i]);\n}\n";
    expect(&ptx_of(&format!("#include <stdio.h>\n{print}"))?, &[("call.uni (retval0), vprintf", 1)])
}

/// By four, and what is left over after them, in a loop where a turn has a few instructions more, where all threads have as
/// many turns; else as it stands.
fn together() -> Outcome {
    let body = |turns: &str| {
        format!(
            "    __shared__ int tile[256];\n    int sum = 0;\n    \
             for (int i = 0; i < {turns}; i++) {{\n        tile[threadIdx.x] = in[i * 256 + threadIdx.x];\n        \
             __syncthreads();\n        sum += tile[threadIdx.x ^ 1];\n        __syncthreads();\n    }}\n    \
             o[threadIdx.x] = sum;"
        )
    };
    let parameters = "const int *in, int *o, int n";
    for (turns, left_over) in [("n", 3), ("n - blockIdx.x * gridDim.y", 1)] {
        expect(&ptx(parameters, &body(turns))?, &[("bar.sync", 2 * (4 + left_over))])?;
    }
    for turns in ["n - threadIdx.y", "o[256]"] {
        expect(&ptx(parameters, &body(turns))?, &[("bar.sync", 2)])?;
    }
    Ok(())
}

/// Of a function that other files may call too: twice, but not twenty times, and not where it calls itself.
fn copies() -> Outcome {
    let source = |calls: usize, last: &str| {
        let lines: String =
            (0..300).map(|i| format!("    x = x * {i}.5f + p[{}];\n", i * 7 % 300)).collect();
        let uses: String = (0..calls).map(|i| format!("    o[{i}] = f(o, {i});\n")).collect();
        format!(
            "__device__ float f(const float *p, float x)\n{{\n{lines}    return {last};\n}}\n\
             __global__ void k(float *o)\n{{\n{uses}}}\n"
        )
    };
    for (calls, last, left) in [(2, "x", 0), (20, "x", 20), (1, "x > 0 ? f(p, x - 1) * x : x", 2)] {
        expect(&ptx_of(&source(calls, last))?, &[("call.uni", left)])?;
    }
    Ok(())
}

/// Bodies of which only one is executed still follow each other, so that nothing is jumped over but a body.
fn edges() -> Outcome {
    let body = "    __shared__ float tile[34];\n    int x = threadIdx.x;\n    tile[x + 1] = in[x];\n    \
                if (x == 0) tile[0] = in[w];\n    if (x == 31) tile[33] = in[w + 1];\n    \
                __syncthreads();\n    o[x] = tile[x] + tile[x + 2];";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o, int w", body)?;
    expect(&text, &[("bra ", 2), ("bra.uni", 0), ("setp.ne", 2)])
}

/// Each number from the one before, by the same factor and summand.
fn sequence() -> Outcome {
    for (kind, suffix) in [("unsigned", "s32"), ("unsigned long long", "s64")] {
        let body = format!(
            "    {kind} s = *o;\n    float z = 0;\n    for (int i = 0; i < 6; i++) {{\n        \
             s = s * 1664525u + 1013904223u;\n        z += (float)s;\n    }}\n    *r = z;\n    *o = s;"
        );
        let text = ptx(&format!("{kind} *__restrict__ o, float *__restrict__ r"), &body)?;
        expect(&text, &[(&format!("mad.lo.{suffix}"), 6), ("1013904223", 6)])?;
    }
    Ok(())
}

/// One of three fields of the record that is read from a stack and written back; all where something may have been
/// written to them in between.
fn fields() -> Outcome {
    let body = |between: &str| {
        format!(
            "    struct R {{ int level, weight, worth; }} stack[8];\n    int top = 0, best = 0;\n    \
             stack[top++] = (R){{0, in[0], in[1]}};\n    while (top > 0) {{\n        \
             R e = stack[--top];\n        if (e.worth > best) best = e.worth;\n        \
             if (e.level == n) continue;\n        {between}\n        \
             stack[top++] = (R){{e.level + 1, e.weight, e.worth}};\n        \
             if (e.weight + in[e.level] < 90)\n            \
             stack[top++] = (R){{e.level + 1, e.weight + 5, e.worth + in[e.level]}};\n    }}\n    \
             *o = best;"
        )
    };
    let parameters = "const int *__restrict__ in, int *o, int n";
    // Those of the first record, the level, and those of the second.
    expect(&ptx(parameters, &body(""))?, &[("st.local", 3 + 1 + 3)])?;
    expect(&ptx(parameters, &body("stack[in[2]].weight = 3;"))?, &[("st.local", 3 + 1 + 2 + 3)])
}

/// A network that sorts, whose direction is a bit of the place.
const NETWORK: &str = "    __shared__ unsigned key[64];\n    int t = threadIdx.x;\n    key[t] = p[t];\n    \
    key[t + 32] = p[t + 32];\n    for (int size = 2; size <= 8; size <<= 1) {\n        \
    for (int d = size >> 1; d > 0; d >>= 1) {\n            __syncthreads();\n            \
    int i = 2 * t - (t & (d - 1)), j = i + d;\n            bool up = (i & size) == 0;\n            \
    if ((key[i] > key[j]) == up) {\n                unsigned k = key[i];\n                \
    key[i] = key[j];\n                key[j] = k;\n            }\n        }\n    }\n    \
    __syncthreads();\n    p[t] = key[t];\n    p[t + 32] = key[t + 32];";

fn bits() -> Outcome {
    expect(&ptx("unsigned *p", NETWORK)?, &[("shr", 0), ("xor.pred", 6)])
}

/// In shared memory an address is computed from a place, so that ptxas sees two words of an even place as one access; in
/// global memory from another address.
fn side_by_side() -> Outcome {
    expect(&ptx("unsigned *p", NETWORK)?, &[("mul.wide", 4)])?;
    let global = "    unsigned t = threadIdx.x;\n    unsigned a = p[t];\n    p[2 * t] = a + 1;";
    expect(&ptx("unsigned *p", global)?, &[("mul.wide", 1)])
}

/// The rows and planes around a point that goes through a volume: each is a product of 32 by 32 bits away, which is computed once,
/// and so is the way to the next point. Not where the sums may wrap.
fn around() -> Outcome {
    let body = |kind: &str| {
        format!(
            "    {kind} x = threadIdx.x, y = threadIdx.y;\n    for (int z = 1; z < nz - 1; z++) {{\n        \
             {kind} i = (z * ny + y) * nx + x;\n        \
             o[i] = in[i] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];\n    }}"
        )
    };
    let parameters = "const float *in, float *o, int nx, int ny, int nz";
    let text = ptx(parameters, &body("int"))?;
    let turns = text.split(".pragma").nth(1).and_then(|rest| rest.split("bra ").next());
    match turns {
        Some(turns) if turns.matches("ld.global").count() == 10 && !turns.contains("cvt.") => {
            expect(turns, &[("mad.lo", 0), ("add.s32", 1)])?;
        }
        _ => return Err(text.into()),
    }
    expect(&text, &[(", -4;", 2)])?;
    expect(&ptx(parameters, &body("unsigned"))?, &[(", -4;", 0)])
}

/// A walk whose lanes choose among eight ways, and a machine whose program all of them run.
fn ways() -> Outcome {
    let cases = |many: u32| -> String {
        (0..many)
            .map(|n| {
                format!("        case {n}: x = x * {} ^ y; y += x >> {n}; break;\n", n * 2 + 3)
            })
            .collect()
    };
    let body = |many: u32, way: &str| {
        format!(
            "    unsigned x = threadIdx.x, y = 1;\n    for (int k = 0; k < n; k++) {{\n        \
             switch ({way}) {{\n{}        }}\n    }}\n    o[x] = y;",
            cases(many)
        )
    };
    let parameters = "const unsigned *__restrict__ in, unsigned *__restrict__ o, int n";
    let tables = |many, way| -> Result<usize, libtest_mimic::Failed> {
        Ok(ptx(parameters, &body(many, way))?.matches("brx.idx").count())
    };
    let found = [
        tables(8, "y & 7")?,
        tables(16, "in[k + threadIdx.x]")?,
        tables(16, "in[k + blockIdx.x] & 15")?,
        tables(6, "in[k]")?,
    ];
    if found == [0, 0, 1, 0] { Ok(()) } else { Err(format!("{found:?} tables").into()) }
}

/// Three of them are not read from a table, nine are.
fn constants() -> Outcome {
    let body = |many: u32| {
        let cases: String =
            (0..many).map(|n| format!("case {n}: c = {}; break; ", n * n * 7 + 5)).collect();
        format!(
            "    int c = 1;\n    switch (in[threadIdx.x]) {{ {cases}}}\n    o[threadIdx.x] = c;"
        )
    };
    let parameters = "const int *__restrict__ in, int *__restrict__ o";
    expect(&ptx(parameters, &body(3))?, &[("selp", 3), ("bra", 0), ("ld.global", 1)])?;
    expect(&ptx(parameters, &body(9))?, &[("ld.global", 2)])
}

/// Eight words by one address, also the last one, whose index has all bits set that the first one's has cleared.
fn groups() -> Outcome {
    let body = "    __shared__ float s[256];\n    int t = threadIdx.x, g = t / 16 * 8;\n    s[t] = in[t];\n    \
                __syncthreads();\n    float sum = 0;\n    for (int i = 0; i < 8; i++) sum = sum * 3 + s[g + i];\n    \
                o[t] = sum;";
    let text = ptx("const float *__restrict__ in, float *__restrict__ o", body)?;
    expect(&text, &[("or.b32", 0), ("ld.shared.v4", 2)])
}

/// What a parameter leads to is read in front of a loop that counts in shared memory, as it is not where the loop counts in
/// global memory.
fn apart() -> Outcome {
    let counts = |updated: &str| {
        format!(
            "    __shared__ unsigned h[64];\n    unsigned t = threadIdx.x;\n    h[t] = t;\n    \
             for (int i = 0; i < n; i++) {{\n        atomicAdd(&{updated}[(p[t] * i) & 63], 1u);\n    }}\n    \
             q[t] = h[t ^ 1];"
        )
    };
    let parameters = "const unsigned *p, unsigned *q, unsigned *o, int n";
    expect(&ptx(parameters, &counts("h"))?, &[("ld.global", 1)])?;
    expect(&ptx(parameters, &counts("o"))?, &[("ld.global", 7)])
}
