//! What device code must look like for the sake of its speed, part four: what other work waits for. Roots behind questions, local arrays whose
//! loops end with them, searches with a stack, reads of what nobody writes, tiles, registers of loops in which threads wait for each other, ways back
//! of loops, numbers of a few bytes, polynomials, pairs of halves, a block's size and place, numbers brought into a range,
//! strides of the grid, taps that lie apart, switches of few short ways. Each
//! is a shape that was measured on a GPU (`compiler/docs/device-speed.md`).

use libtest_mimic::Trial;

use crate::code_shapes::{expect, ptx, ptx_of};
use crate::cuda::has_clang;
use crate::linking::Bench;
use crate::support::{Outcome, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 17] = [
        ("roots_are_made_behind_questions", roots),
        ("loops_over_local_arrays_end_with_them", arrays),
        ("threads_with_all_turns_fill_tiles_at_once", tiles),
        ("searches_with_a_stack_are_one_loop", stacks),
        ("what_nobody_writes_is_read_so_everywhere", reads),
        ("loops_that_wait_and_work_have_registers", waiting),
        ("rows_that_are_read_side_by_side_have_warps", rows),
        ("loops_go_back_where_their_condition_holds", back),
        ("words_of_tiles_are_read_before_their_products", products),
        ("turns_that_ask_what_they_load_follow_each_other", asked),
        ("polynomials_are_not_sums", polynomials),
        ("pairs_of_halves_go_from_turn_to_turn_as_words", pairs),
        ("sizes_of_blocks_are_read_before_their_places", sizes),
        ("numbers_are_brought_into_a_range_as_written", clamped),
        ("strides_of_the_grid_are_unrolled", strides),
        ("taps_that_lie_apart_are_four_at_a_time", taps),
        ("few_short_ways_are_asked_for_in_turn", ways),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("code_waits::{name}"), test)).collect()
}

/// Behind the question for large angles, which the product with the cosine comes after; not in a loop.
fn roots() -> Outcome {
    let text = ptx("float *p", "    float x = p[0];\n    p[1] = sqrtf(x) * cosf(x * 6.2831853f);")?;
    let root = text.find("sqrt.rn").ok_or("no root")?;
    if text.rfind("ld.local").is_none_or(|angle| angle > root) {
        return Err(text.into());
    }
    let text = ptx(
        "float *p, int n",
        "    float x = 1 / p[0];\n#pragma unroll 1\n    for (int i = 1; i < n; i++) p[i] *= x;",
    )?;
    let (root, turn) = (text.find("rn.f32"), text.find("st.global"));
    let back = text.find("$L__BB0_2:");
    if root < back && back < turn { Ok(()) } else { Err(text.into()) }
}

/// A place behind the end is none, so that there are four turns; not where places repeat, or a turn may end before it.
fn arrays() -> Outcome {
    let body = |place: &str, first: &str| {
        format!(
            "    float v[4], sum = 0;\n    int k = 0;\n    for (int i = threadIdx.x; i < n; i += blockDim.x, k++) {{ {first} v[{place}] = p[i]; sum += p[i]; }}\n    \
             sum = __reduce_max_sync(~0u, (unsigned)sum);\n    k = 0;\n    for (int i = threadIdx.x; i < n; i += blockDim.x, k++) q[i] = v[{place}] / sum;"
        )
    };
    let parameters = "const float *__restrict__ p, float *__restrict__ q, int n";
    let known = [("local", 0), ("ld.global.nc", 4), ("st.global", 4)];
    expect(&ptx(parameters, &body("k", ""))?, &known)?;
    for (place, first) in [("k & 3", ""), ("k", "if (p[i] < 0) __trap();")] {
        let text = ptx(parameters, &body(place, first))?;
        if !text.contains("st.local") {
            return Err(format!("{place} {first}:\n{text}").into());
        }
    }
    Ok(())
}

/// Four loads without a question between them, and those of threads that have fewer turns.
fn tiles() -> Outcome {
    let body = "    __shared__ float s[1024];\n    float sum = 0;\n    for (int k = 0; k < n; k++) {\n        \
                for (int i = threadIdx.x; i < 1024; i += 256) s[i] = p[k * 1024 + i];\n        __syncthreads();\n        \
                sum += s[threadIdx.x ^ 1];\n        __syncthreads();\n    }\n    q[threadIdx.x] = sum;";
    let text = ptx("const float *__restrict__ p, float *__restrict__ q, int n", body)?;
    let turns: Vec<&str> = text.split("ld.global").collect();
    let together = turns.windows(3).any(|of| of.iter().all(|turn| !turn.contains("bra")));
    if together && turns.len() > 5 { Ok(()) } else { Err(text.into()) }
}

/// A `continue` behind what is pushed goes back to where what is popped does.
fn stacks() -> Outcome {
    let body = "    float r = rays[threadIdx.x];\n    int stack[32], top = 0, hits = 0, at = 0;\n    while (true) {\n        \
                float2 node = nodes[at];\n        if (node.x <= r && r <= node.y) {\n            int child = 2 * at + 1;\n            \
                if (child < last) {\n                stack[top++] = child + 1;\n                at = child;\n                \
                continue;\n            }\n            hits++;\n        }\n        if (top == 0) break;\n        \
                at = stack[--top];\n    }\n    o[threadIdx.x] = hits;";
    let text = ptx("const float2 *nodes, const float *rays, int *o, int last", body)?;
    let mut back: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices("bra") {
        let label = text[at..].split_once('$').and_then(|(_, name)| name.split_once(';'));
        let name = label.ok_or("a branch to nowhere")?.0;
        if text[..at].contains(&format!("${name}:")) && !back.contains(&name) {
            back.push(name);
        }
    }
    if back.len() == 1 { Ok(()) } else { Err(format!("loops of {back:?}:\n{text}").into()) }
}

/// A parameter that is read by `__ldg` and plainly, words and vectors.
fn reads() -> Outcome {
    for kind in ["float", "float4", "uchar4", "double2", "unsigned char", "long long"] {
        let parameters = format!("const {kind} *__restrict__ p, {kind} *__restrict__ q, int n");
        let text = ptx(
            &parameters,
            "    int i = threadIdx.x;\n    q[i] = __ldg(p + i);\n    q[i + n] = p[i + n];",
        )?;
        expect(&text, &[("ld.global", 2), ("ld.global.nc", 2), ("inline asm", 0)])?;
    }
    Ok(())
}

/// With eight sums a thread, or from plane to plane of a volume; not with one sum of a tile.
fn waiting() -> Outcome {
    let kernel = |before: &str, turn: &str, after: &str| {
        let head = "__global__ void k(const float *__restrict__ p, float *__restrict__ q, int n)\n{\n    __shared__ float s[512];\n    int t = threadIdx.x;\n";
        format!(
            "{head}    {before}\n#pragma unroll 1\n    for (int i = 0; i < n; i++) {{ s[t] = p[i * 512 + t]; __syncthreads(); {turn} __syncthreads(); }}\n    {after}\n}}\n"
        )
    };
    let sums = |count: u32| {
        kernel(
            &format!("float a[{count}] = {{}};"),
            &format!("for (int j = 0; j < {count}; j++) a[j] += s[j] * s[t ^ 1];"),
            &format!("for (int j = 0; j < {count}; j++) q[j * n + t] = a[j];"),
        )
    };
    let march =
        kernel("", "if (t > 0 && t < 511) q[i * 512 + t] = s[t - 1] + s[t + 1] - 2 * s[t];", "");
    for (source, limits) in [(sums(16), 1), (sums(1), 0), (march, 1)] {
        expect(&ptx_of(&source)?, &[(".maxnreg 64", limits)])?;
    }
    Ok(())
}

/// A row of a sparse matrix for all lanes of a warp, each with a column of a dense one; not where each lane has a row of its own.
fn rows() -> Outcome {
    let body = |row: &str, column: &str| {
        format!(
            "    int row = {row}, column = {column};\n    float sum = 0;\n    \
             for (int k = start[row]; k < start[row + 1]; k++) sum += v[k] * x[c[k] * 64 + column];\n    y[row * 64 + column] = sum;"
        )
    };
    let parameters = "const int *start, const int *c, const float *v, const float *x, float *y";
    expect(&ptx(parameters, &body("threadIdx.y", "threadIdx.x"))?, &[(".maxnreg", 0)])?;
    expect(&ptx(parameters, &body("threadIdx.x", "threadIdx.y"))?, &[(".maxnreg", 1)])
}

/// Also where what follows the loop stands elsewhere: no branch out of it with one back behind.
fn back() -> Outcome {
    let body = "    unsigned c = threadIdx.x;\n    if (c >= columns) return;\n    float sum = 0;\n    \
                for (unsigned r = 0; r < rows; ++r) sum += __ldg(&in[r * columns + c]);\n    \
                for (unsigned r = 0; r < rows; ++r) o[r * columns + c] = (in[r * columns + c] - sum) * 2;";
    let parameters =
        "const float *__restrict__ in, float *__restrict__ o, unsigned rows, unsigned columns";
    let text = ptx(parameters, body)?;
    for (at, _) in text.match_indices("bra.uni") {
        let label = text[at..].split_once('$').and_then(|(_, name)| name.split_once(';'));
        let name = label.ok_or("a branch to nowhere")?.0;
        if text[..at].contains(&format!("${name}:")) {
            return Err(format!("back without a condition to {name}:\n{text}").into());
        }
    }
    Ok(())
}

/// Eight by eight products of words of two tiles: the second word of a row is read behind the first product; with three by three not.
fn products() -> Outcome {
    let body = |size: u32| {
        format!(
            "    __shared__ float s[1024], u[1024];\n    int t = threadIdx.x;\n    s[t] = a[t]; u[t] = b[t];\n    __syncthreads();\n    \
             float x[{size}], y[{size}], sum[{size}][{size}] = {{}};\n    for (int i = 0; i < {size}; i++) {{ x[i] = s[t / 16 + 16 * i]; y[i] = u[t % 16 + 16 * i]; }}\n    \
             for (int i = 0; i < {size}; i++) for (int j = 0; j < {size}; j++) sum[i][j] = x[i] * y[j] + a[i];\n    \
             for (int i = 0; i < {size}; i++) for (int j = 0; j < {size}; j++) o[(t * {size} + i) * {size} + j] = sum[i][j];"
        )
    };
    for (size, late) in [(8, true), (3, false)] {
        let text = ptx(
            "const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ o",
            &body(size),
        )?;
        let (first, last) = (text.find("fma.rn"), text.rfind("ld.shared"));
        if (first < last) != late {
            return Err(format!("{size}:\n{text}").into());
        }
    }
    Ok(())
}

/// Bytes of a number one after another, five at most: each has a place of its own. Not where twelve may follow.
fn asked() -> Outcome {
    let body = |last: u32| {
        format!(
            "    const unsigned char *p = in + threadIdx.x * n, *end = p + n;\n    unsigned sum = 0;\n    while (p < end) {{\n        \
             unsigned value = 0;\n        int shift = 0;\n        while (p < end) {{\n            unsigned char b = *p++;\n            \
             value |= (unsigned)(b & 0x7f) << (shift & 31);\n            if (!(b & 0x80)) break;\n            shift += 7;\n            \
             if (shift > {last}) break;\n        }}\n        sum += value;\n    }}\n    o[threadIdx.x] = sum;"
        )
    };
    let parameters = "const unsigned char *in, unsigned *o, int n";
    expect(&ptx(parameters, &body(28))?, &[("ld.global", 5)])?;
    expect(&ptx(parameters, &body(80))?, &[("ld.global", 1)])
}

/// Each turn multiplies what the one before made: four together as nvcc's, and as many registers as ptxas likes; eight, and 64 registers, of a sum.
fn polynomials() -> Outcome {
    let body = |turn: &str| {
        format!(
            "    float v = 0, x = o[threadIdx.x];\n    for (int k = 0; k < n; k++) v = {turn};\n    o[threadIdx.x] = v;"
        )
    };
    let parameters = "const float *__restrict__ c, float *o, int n";
    let known = [("ld.global.nc", 7), (".maxnreg", 0)];
    expect(&ptx(parameters, &body("v * x + c[k]"))?, &known)?;
    expect(&ptx(parameters, &body("v + c[k] * x"))?, &[("ld.global.nc", 9), (".maxnreg", 1)])
}

/// Sums of two halves that begin half by half, and are asked for so; not where a turn adds to one of them alone.
fn pairs() -> Outcome {
    let text = |turn: &str| {
        let body = format!(
            "    half2 v;\n    v.x = first[0]; v.y = first[1];\n    for (int i = 0; i < n; i++) {{ v = __hfma2(a[i], b[i], v);{turn} }}\n    \
             o[0] = v.x + v.y;"
        );
        let parameters = "const half2 *a, const half2 *b, const half *first, half *o, int n";
        ptx_of(&format!(
            "#include <cuda_fp16.h>\n__global__ void k({parameters})\n{{\n{body}\n}}\n"
        ))
    };
    // What is put together once, in front of the loop, or of both loops.
    let (known, apart) = (text("")?, text(" v.y = v.y + first[i];")?);
    let puts = |text: &str| text.matches("shl.b32").count();
    let turns = |text: &str| text.matches("fma.rn.f16x2").count();
    if turns(&known) > puts(&known) && turns(&apart) <= puts(&apart) {
        Ok(())
    } else {
        Err(format!("{known}\n{apart}").into())
    }
}

/// Of each dimension.
fn sizes() -> Outcome {
    let text = ptx(
        "int *o",
        "    o[(blockIdx.y * blockDim.y + threadIdx.y) * 4096 + blockIdx.x * blockDim.x + threadIdx.x] = 1;",
    )?;
    for dimension in ["x", "y"] {
        if text.find(&format!("%ntid.{dimension}")) > text.find(&format!("%ctaid.{dimension}")) {
            return Err(text.into());
        }
    }
    Ok(())
}

/// The sum first, then its larger, in both spellings; the width of the picture is in the last instruction.
fn clamped() -> Outcome {
    for limits in
        ["min(max(x + k, 0), width - 1)", "x + k < 0 ? 0 : x + k >= width ? width - 1 : x + k"]
    {
        let text = ptx(
            "const float *a, float *o, int width",
            &format!(
                "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0;\n    for (int k = -2; k <= 2; k++) sum += a[{limits}];\n    o[x] = sum;"
            ),
        )?;
        let larger = text.lines().filter(|line| line.contains("max.s32") || line.contains("selp"));
        if larger.clone().count() < 5
            || !larger.clone().all(|line| line.ends_with(", 0;") || line.contains("selp"))
        {
            return Err(format!("{limits}:\n{text}").into());
        }
    }
    Ok(())
}

/// Sums along strides of the grid in 64 bits have four loads on their way; those in 32 bits, which may wrap, those of a block, and turns that store, one.
fn strides() -> Outcome {
    let body = |number: &str, step: &str, turn: &str| {
        format!(
            "    float sum = 0;\n    {number} step = ({number}){step};\n    for ({number} i = ({number})blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {turn};\n    \
             atomicAdd(o, sum);"
        )
    };
    let (grid, sums) = ("blockDim.x * gridDim.x", "sum += a[i] * 2");
    for (number, step, turn, loads) in [
        ("long", grid, sums, 7),
        ("int", grid, sums, 1),
        ("long", "blockDim.x", sums, 1),
        ("long", grid, "o[i] = a[i]", 1),
    ] {
        let parameters = format!("const float *__restrict__ a, float *__restrict__ o, {number} n");
        expect(&ptx(&parameters, &body(number, step, turn))?, &[("ld.global", loads)])?;
    }
    Ok(())
}

/// Four turns, and a loop for what is left over, where a turn asks about a product with a number that is not known; eight where the taps lie side by side.
fn taps() -> Outcome {
    for (apart, sums) in [(" * apart", 5), ("", 9)] {
        let body = format!(
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0;\n    \
             for (int k = 0; k < taps; k++) {{ int j = i + (k - taps / 2){apart}; if (j >= 0 && j < n) sum += w[k] * a[j]; }}\n    o[i] = sum;"
        );
        let text =
            ptx("const float *a, const float *w, float *o, int n, int taps, int apart", &body)?;
        let found = text.matches("fma.rn").count();
        if found != sums {
            return Err(format!("{found} sums, not {sums}:\n{text}").into());
        }
    }
    Ok(())
}

/// Of a switch and of conditions one after another, in both kinds of files: each body is behind its own question. Not where all other cases
/// have a way of their own, or a way is long.
fn ways() -> Outcome {
    let source = |ways: &str| {
        format!(
            "__global__ void k(const float *__restrict__ in, float *o, int w)\n{{\n    __shared__ float tile[34];\n    int x = threadIdx.x + w;\n    \
             tile[threadIdx.x + 1] = in[x];\n    {ways}\n    __syncthreads();\n    o[x] = tile[threadIdx.x] + tile[threadIdx.x + 2];\n}}\n"
        )
    };
    let cases = |rest: &str| {
        format!(
            "switch (x) {{ case 0: tile[0] = in[w]; break; case 31: tile[33] = in[w + 1]; break; {rest} }}"
        )
    };
    let two = "if (x == 0) tile[0] = in[w];\n    if (x == 31) tile[33] = in[w + 1];";
    let either = "if (x == 1 || x == 17 || x == 31) tile[33] = in[w + 1];";
    let sums: String = (0..8).map(|i| format!("tile[1] += in[w + {}];", i * 3)).collect();
    let long = cases(&format!("case 7: {sums}"));
    let in_turn = [("bra ", 2), ("bra.uni", 0), ("setp.ne", 2), ("setp.lt", 0)];
    let one = [("bra ", 1), ("bra.uni", 0), ("setp.ne", 3), ("setp.lt", 0)];
    let tree = [("setp.lt.s32", 1)];
    let other = cases("default: tile[w] = in[w + 2];");
    let bench = Bench::new()?;
    let files: &[&str] = if has_clang() { &["k.cdp", "k.cu"] } else { &["k.cdp"] };
    for (ways, wanted) in [
        (cases("").as_str(), &in_turn[..]),
        (two, &in_turn),
        (either, &one),
        (&other, &tree),
        (&long, &[("setp.lt.s32", 2)]),
    ] {
        for file in files {
            bench.write(file, &source(ways))?;
            let words = ["build", file, "--emit", "ptx", "--arch", "sm_90", "-o", "-"];
            expect(&bench.cdpc(&words, 0)?.0, wanted)?;
        }
    }
    Ok(())
}
