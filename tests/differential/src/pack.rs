//! The text of programs: many in one translation unit, so that a compiler's start is paid once.
//!
//! A program of seed N has a kernel `parent_N(word *out)`, launched with one block of [`THREADS`] threads,
//! which launches the others. `out` has [`WORDS`] zeros at first; what is there at the end is what compilers
//! must agree on. Without a GPU, `main` writes the rows of plain programs to standard output.

use std::fmt::Write as _;

use crate::Program;
use crate::generate::{INTEGERS, LETTERS, SLOT_WORDS, SLOTS};

/// The threads of the kernel that runs the statements, and of its parent.
pub const THREADS: usize = 32;

/// Words that each of these threads writes, the last sixteen of which it also reads.
pub const ROW: usize = 32;

/// Words that a program writes.
pub const WORDS: usize = THREADS * ROW + SLOTS * SLOT_WORDS + 2;

/// Where the words of launches begin.
pub(crate) const FIRST_SLOT: usize = THREADS * ROW;

const HEAD: &str = "#include <stdio.h>
#include <string.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define DEVICE __device__
#define TABLE __constant__
#else
#define DEVICE
#define TABLE static
#endif
typedef unsigned long long word;
struct Bits { unsigned a : 5; int b : 11; unsigned c : 16; signed char d; unsigned short e; long long f; };
union Both { unsigned u; float f; unsigned char b[4]; short s[2]; };
struct Pair { int first; double second; unsigned char third; };
struct Three { unsigned char bytes[3]; };
TABLE unsigned table[16] = {3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u, 0u, 4294967295u, 65536u, 255u, 7u, 2147483648u, 12u, 99u};
DEVICE static unsigned bits_of(float x) { unsigned r; memcpy(&r, &x, 4); return x != x ? 0x7fc00000u : r; }
DEVICE static word bits_of(double x) { word r; memcpy(&r, &x, 8); return x != x ? 0x7ff8ull << 48 : r; }
DEVICE static int to_int(double x) { return x > -100.0 && x < 100.0 ? (int)x : 13; }
DEVICE static unsigned deep(unsigned n, unsigned x) { return n == 0 ? x : deep(n - 1, x * 3u + n) ^ (x >> 1); }
DEVICE static struct Pair swapped(struct Pair p, int by) { p.first ^= by; p.second = -p.second; p.third += 3; return p; }
DEVICE static void bump(unsigned &x, unsigned by) { x = x * 5u + by; }
DEVICE static void swap_two(unsigned *x, unsigned *y) { unsigned z = *x; *x = *y; *y = z; }
DEVICE static unsigned spread(unsigned *__restrict__ to, const unsigned *__restrict__ from, int n, unsigned x)
{
    for (int k = 0; k < n; k++) { to[k] += from[k] * x; x ^= to[k]; to[7 - k] -= from[(k + 1) & 7]; }
    return x + to[n];
}
DEVICE static unsigned odd(unsigned n, unsigned x);
DEVICE static unsigned even(unsigned n, unsigned x) { return n == 0 ? x : odd(n - 1, x + n) * 3u; }
DEVICE static unsigned odd(unsigned n, unsigned x) { return n == 0 ? ~x : even(n - 1, x ^ n) + 1u; }
struct Inner { short a[3]; unsigned char b; };
struct Outer { struct Inner in[2]; union Both both; double d; };
DEVICE static struct Outer turned(struct Outer o, int by)
{
    struct Inner first = o.in[0];
    o.in[0] = o.in[1]; o.in[1] = first;
    o.both.u += (unsigned)by; o.in[by & 1].a[2] = 17; o.d = -o.d;
    return o;
}
DEVICE static unsigned sum_of(const struct Outer *o)
{
    unsigned sum = o->both.u + (unsigned)bits_of(o->d);
    for (int n = 0; n < 2; n++) for (int m = 0; m < 3; m++) sum = sum * 31u + (unsigned)o->in[n].a[m] + o->in[n].b;
    return sum;
}
DEVICE static void stir(struct Outer &o, int by) { o.in[by & 1].b ^= 5; o.both.s[0] = o.in[0].a[1]; o.d += 0.5; }
DEVICE static word many(signed char c, unsigned char b, short s, unsigned short h, int i, unsigned u, long long l, word w,
                        bool y, int n, struct Pair p, union Both v)
{
    word sum = (word)c * 3u + b * 5u + (word)s * 7u + h * 11u + (word)i * 13u + u * 17ull + (word)l * 19u + w * 23u + y;
    return n == 0 ? sum : many((signed char)(c ^ n), b, h & 1, h, i ^ 3, u + 1, l, sum, !y, n - 1, p, v) + p.third + v.b[1];
}
#ifdef __CUDACC__
DEVICE static double2 crossed(double2 q, int by) { double2 o; o.x = q.y * by; o.y = q.x + by; return o; }
#endif
";

/// The source, in CUDA C++ and, as far as programs are plain, in C++.
pub fn source(programs: &[Program]) -> String {
    let mut text = HEAD.to_owned();
    for program in programs {
        if !program.plain {
            text += "#ifdef __CUDACC__\n";
        }
        work(&mut text, program);
        if program.plain {
            text += "#ifdef __CUDACC__\n";
        }
        kernels(&mut text, program);
        text += "#endif\n";
    }
    main(&mut text, programs);
    text
}

/// What each thread does.
fn work(text: &mut String, program: &Program) {
    text.extend(program.functions.iter().map(String::as_str));
    let shared = if program.plain { "" } else { "    __shared__ unsigned shared[32];\n" };
    let _ = write!(
        text,
        "DEVICE static void work_{}(int t, word *out)\n{{\n{shared}    word *g = out + {};\n",
        program.seed,
        ROW - 16
    );
    for (letter, (ty, _, _)) in LETTERS.iter().zip(INTEGERS) {
        let _ = writeln!(text, "    {ty} {letter}0 = ({ty})(t * 37), {letter}1 = ({ty})(t - 11);");
    }
    *text +=
        "    float f0 = t * 0.5f, f1 = 3.0f - t;\n    double d0 = t * 0.25, d1 = 1.0 / (t + 1);\n";
    *text += "    struct Bits r;\n    r.a = t & 31; r.b = t; r.c = 9u; r.d = (signed char)t; r.e = t; r.f = t;\n";
    *text += "    union Both v;\n    v.u = t * 2654435761u;\n    struct Pair p = {t, 2.5, 1};\n";
    *text += "    unsigned a[16];\n    for (int n = 0; n < 16; n++) a[n] = n * 7u + 1u;\n    a[7] = (unsigned)t;\n";
    for statement in &program.statements {
        let _ = writeln!(text, "    {statement}");
    }
    *text += "    word sum = 0;\n    for (int n = 0; n < 16; n++) sum = sum * 31u + a[n];\n    out[0] = sum;\n";
    for (next, letter) in (1..).zip(LETTERS) {
        let _ = writeln!(text, "    out[{next}] = (word){letter}0 * 31u + (word){letter}1;");
    }
    *text += "    out[10] = bits_of(f0) * 31ull + bits_of(f1);\n    out[11] = bits_of(d0) * 31ull + bits_of(d1);\n";
    *text += "    out[12] = r.a + r.b * 32ull + r.c * 65536ull + (word)r.d * 3u + r.e * 7ull + (word)r.f;\n";
    *text +=
        "    out[13] = v.u;\n    out[14] = (word)p.first * 3u + p.third + bits_of(p.second);\n}\n";
}

/// The child that does it, the other kernels and the parent.
fn kernels(text: &mut String, program: &Program) {
    let seed = program.seed;
    let _ = write!(
        text,
        "__global__ void child_{seed}(word *out, signed char bias, double scale, struct Pair p)
{{
    work_{seed}(threadIdx.x, out + threadIdx.x * {ROW});
    out[{FIRST_SLOT} + threadIdx.x] = bias + (word)(scale * p.third) + p.first;
}}
"
    );
    text.extend(program.launches.iter().filter_map(|launch| Some(launch.kernel.as_ref()?.text())));
    let _ = write!(
        text,
        "extern \"C\" __global__ void parent_{seed}(word *out)
{{
    struct Pair pair = {{1, 2.0, 4}};
    struct Bits bits;
    bits.a = threadIdx.x & 31; bits.b = -9; bits.c = 77u; bits.d = -3; bits.e = 65535; bits.f = -1;
    struct Three three = {{{{1, 2, 250}}}};
"
    );
    for launch in &program.launches {
        *text += &launch.text(seed, FIRST_SLOT);
    }
    let _ = write!(text, "    atomicAdd(&out[{}], (word)cudaGetLastError());\n}}\n", WORDS - 2);
}

/// Runs each: on a GPU with a line for each kernel, on the host with rows as bytes.
fn main(text: &mut String, programs: &[Program]) {
    let _ = write!(
        text,
        "#ifdef __CUDACC__
static void show(word seed, const word *host)
{{
    word sum = 0;
    for (int n = 0; n < {WORDS}; n++) sum = sum * 1099511628211ull + host[n];
    printf(\"%llu: %llx, errors %llu\\n\", seed, sum, host[{}]);
    for (int n = 0; n < {ROW}; n++) printf(\" %llx\", host[5 * {ROW} + n]);
    printf(\"\\n\");
}}
#endif
int main()
{{
    static word host[{WORDS}];
#ifdef __CUDACC__
    word *out;
    cudaMalloc((void **)&out, sizeof host);
",
        WORDS - 2
    );
    for seed in programs.iter().map(|program| program.seed) {
        let _ = write!(
            text,
            "    cudaMemset(out, 0, sizeof host);\n    parent_{seed}<<<1, {THREADS}>>>(out);\n    \
             cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);\n    show({seed}ull, host);\n"
        );
    }
    *text += "    printf(\"%s\\n\", cudaGetErrorString(cudaGetLastError()));\n#else\n";
    for program in programs.iter().filter(|program| program.plain) {
        let _ = write!(
            text,
            "    memset(host, 0, sizeof host);\n    for (int t = 0; t < {THREADS}; t++) work_{}(t, host + t * {ROW});\n    \
             fwrite(host, 8, {FIRST_SLOT}, stdout);\n",
            program.seed
        );
    }
    *text += "#endif\n    return 0;\n}\n";
}
