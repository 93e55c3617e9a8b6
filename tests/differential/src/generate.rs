//! Programs that cannot have undefined behaviour.
//!
//! Every thread has variables of every arithmetic type, a record with bit-fields, a union and an array, all
//! with values from the start; a statement changes some of them, and any statement can be left out. Integers
//! are added and multiplied without sign in at least 32 bits, shifts are masked, divisions look at their
//! operands, floating values are converted to integers in a range that all of them have. Operations are not
//! contracted (the judges ask for that), and NaNs are printed as one.

use std::fmt::Write as _;

use crate::random::Random;

/// A program in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// Functions that statements call, before them in the text.
    functions: Vec<String>,
    /// Statements of each thread, each of which can be left out.
    pub statements: Vec<String>,
    /// Nothing in it needs a GPU: the host's compiler can judge it.
    pub plain: bool,
}

/// Integer types: name, unsigned type for arithmetic, bits.
const INTEGERS: [(&str, &str, u32); 9] = [
    ("signed char", "unsigned", 8),
    ("unsigned char", "unsigned", 8),
    ("short", "unsigned", 16),
    ("unsigned short", "unsigned", 16),
    ("int", "unsigned", 32),
    ("unsigned", "unsigned", 32),
    ("long long", "unsigned long long", 64),
    ("unsigned long long", "unsigned long long", 64),
    ("bool", "unsigned", 1),
];

/// Names of the variables of each integer type begin with these letters.
const LETTERS: [&str; 9] = ["c", "b", "s", "h", "i", "u", "l", "w", "y"];

const EDGES: [&str; 12] = [
    "0",
    "1",
    "2",
    "7",
    "255",
    "32767",
    "65535",
    "2147483647",
    "4294967295u",
    "0x80000000u",
    "9223372036854775807ll",
    "0x123456789abcdefull",
];

const FLOATS: [&str; 8] = ["0.0", "1.0", "-1.5", "0.1", "3.0e7", "1.0e-20", "-2.0e30", "1024.0"];

/// The threads of a program.
const THREADS: u32 = 32;

const HEAD: &str = "#include <stdio.h>
#include <string.h>
#ifdef __CUDACC__
#define DEVICE __device__
#else
#define DEVICE
#endif
typedef unsigned long long word;
struct Bits { unsigned a : 5; int b : 11; unsigned c : 16; signed char d; unsigned short e; long long f; };
union Both { unsigned u; float f; unsigned char b[4]; short s[2]; };
struct Pair { int first; double second; unsigned char third; };
DEVICE static unsigned bits_of(float x) { unsigned r; memcpy(&r, &x, 4); return x != x ? 0x7fc00000u : r; }
DEVICE static word bits_of(double x) { word r; memcpy(&r, &x, 8); return x != x ? 0x7ff8ull << 48 : r; }
DEVICE static int to_int(double x) { return x > -100.0 && x < 100.0 ? (int)x : 13; }
DEVICE static unsigned deep(unsigned n, unsigned x) { return n == 0 ? x : deep(n - 1, x * 3u + n) ^ (x >> 1); }
DEVICE static struct Pair swapped(struct Pair p, int by) { p.first ^= by; p.second = -p.second; p.third += 3; return p; }
DEVICE static void bump(unsigned &x, unsigned by) { x = x * 5u + by; }
";

/// Makes the program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let plain = random.below(2) == 0;
    let mut maker = Maker { random, plain };
    let functions = (0..3).map(|index| maker.function(index)).collect();
    let count = 8 + maker.random.below(24);
    let statements = (0..count).map(|_| maker.statement(2, true)).collect();
    Program { seed, functions, statements, plain }
}

struct Maker {
    random: Random,
    plain: bool,
}

impl Maker {
    /// A pure function of an integer and a floating value.
    fn function(&mut self, index: usize) -> String {
        let (ty, unsigned, _) = *self.random.of(&INTEGERS[..8]);
        let add = self.random.of(&EDGES).to_string();
        let op = *self.random.of(&["+", "-", "*", "^", "|", "&"]);
        let (scale, offset) = (*self.random.of(&FLOATS), *self.random.of(&FLOATS));
        format!(
            "DEVICE static {ty} fun{index}({ty} x, float y) {{ float z = y * {scale}f + {offset}f; \
             return z > 1.0f ? ({ty})(({unsigned})x {op} ({unsigned}){add}) : ({ty})(({unsigned})x >> 1); }}\n"
        )
    }

    /// An integer expression of a type of [`INTEGERS`].
    fn integer(&mut self, ty: usize, depth: u32) -> String {
        let (name, unsigned, bits) = INTEGERS[ty];
        if depth == 0 {
            return match self.random.below(4) {
                0 => format!("({name}){}", self.random.of(&EDGES)),
                1 => format!("({name})a[(unsigned)t & 7]"),
                2 => format!("({name}){}", self.variable()),
                _ => format!("{}{}", LETTERS[ty], self.random.below(2)),
            };
        }
        let mask = bits.max(32) - 1;
        let left = self.integer(ty, depth - 1);
        match self.random.below(13) {
            0..=3 => {
                let op = *self.random.of(&["+", "-", "*", "&", "|", "^"]);
                let right = self.integer(ty, depth - 1);
                format!("({name})(({unsigned})({left}) {op} ({unsigned})({right}))")
            }
            4 => {
                let count = self.integer(4, depth - 1);
                format!("({name})(({unsigned})({left}) << (({count}) & {mask}))")
            }
            5 => format!("({name})(({left}) >> (u{} & {}))", self.random.below(2), bits.max(8) - 1),
            6 | 7 => {
                let op = *self.random.of(&["/", "%"]);
                let right = self.integer(ty, depth - 1);
                let one = format!("((word)({right}) & 0xff) + 1");
                format!("({name})(({left}) {op} ({name})1 + (word)({left}) {op} ({one}))")
            }
            8 => {
                let op = *self.random.of(&["<", "<=", "==", "!=", ">", ">="]);
                let (other, right) = (self.random.below(9), self.random.below(9));
                let (a, b) = (self.integer(other, depth - 1), self.integer(right, depth - 1));
                format!("({name})(({a}) {op} ({b}) ? ({left}) : ({name})({b}))")
            }
            9 => format!("({name})to_int({})", self.float(true, depth - 1)),
            10 => {
                let other = self.random.below(9);
                format!("({name})({})", self.integer(other, depth - 1))
            }
            11 => {
                let index = self.random.below(3);
                format!("({name})fun{index}({left}, {})", self.float(false, depth - 1))
            }
            _ if self.plain => format!("({name})deep((unsigned)({left}) & 7, u0)"),
            _ => self.intrinsic(name, &left),
        }
    }

    fn variable(&mut self) -> String {
        match self.random.below(8) {
            0 => "r.a".into(),
            1 => "r.b".into(),
            2 => "r.c".into(),
            3 => "r.d".into(),
            4 => "r.e".into(),
            5 => "p.third".into(),
            6 => "v.s[1]".into(),
            _ => "v.b[2]".into(),
        }
    }

    /// What only GPUs have; it says the same in every thread of a warp, wherever it stands.
    fn intrinsic(&mut self, name: &str, left: &str) -> String {
        let one = *self.random.of(&["__popc", "__clz", "__brev", "__ffs"]);
        let two = *self.random.of(&[
            "__vadd4",
            "__vsub2",
            "__vmaxs2",
            "__vabsdiffu4",
            "__vcmpgtu4",
            "__umulhi",
            "__vavgu4",
            "__vaddus4",
            "__vminu2",
            "__uhadd",
        ]);
        let three =
            *self.random.of(&["__byte_perm", "__funnelshift_l", "__usad", "__funnelshift_rc"]);
        match self.random.below(3) {
            0 => format!("({name}){one}((unsigned)({left}))"),
            1 => format!("({name}){two}((unsigned)({left}), u{})", self.random.below(2)),
            _ => format!("({name}){three}((unsigned)({left}), u0, u1)"),
        }
    }

    /// A floating expression, of double precision or single.
    fn float(&mut self, double: bool, depth: u32) -> String {
        let (name, suffix) = if double { ("double", "") } else { ("float", "f") };
        let variable = if double { "d" } else { "f" };
        if depth == 0 {
            return match self.random.below(3) {
                0 => format!("{}{suffix}", self.random.of(&FLOATS)),
                _ => format!("{variable}{}", self.random.below(2)),
            };
        }
        let left = self.float(double, depth - 1);
        match self.random.below(7) {
            0..=3 => {
                let op = *self.random.of(&["+", "-", "*", "/"]);
                format!("(({left}) {op} ({}))", self.float(double, depth - 1))
            }
            4 => {
                let ty = self.random.below(9);
                format!("({name})({})", self.integer(ty, depth - 1))
            }
            5 => format!("({name})({})", self.float(!double, depth - 1)),
            _ => format!("(({left}) < 1.0{suffix} ? ({left}) : -({left}))"),
        }
    }

    /// A statement; `uniform` where all threads of the block come.
    fn statement(&mut self, depth: u32, uniform: bool) -> String {
        let ty = self.random.below(9);
        let which = self.random.below(2);
        let value = self.integer(ty, 2);
        match self.random.below(if depth == 0 { 7 } else { 11 }) {
            0 | 1 => format!("{}{which} = {value};", LETTERS[ty]),
            2 => format!("f{which} = {};", self.float(false, 2)),
            3 => format!("d{which} = {};", self.float(true, 2)),
            4 => format!("a[(unsigned)({value}) & 7] ^= u{which};"),
            5 => {
                let field = *self.random.of(&["a", "b", "c", "d", "e", "f"]);
                let bits = self.integer(5, 2);
                let mask = if field == "b" { "1023" } else { "0xffffffffu" };
                format!("r.{field} = ({bits}) & {mask};")
            }
            6 => match self.random.below(4) {
                0 => format!("v.u = {};", self.integer(5, 2)),
                1 => format!("v.s[u{which} & 1] = (short)({value});"),
                2 => format!("p = swapped(p, i{which});"),
                _ => format!("bump(u{which}, (unsigned)({value}));"),
            },
            7 => {
                let (then, other) =
                    (self.statement(depth - 1, false), self.statement(depth - 1, false));
                format!("if ({value}) {{ {then} }} else {{ {other} }}")
            }
            8 => {
                let body = self.statement(depth - 1, uniform);
                let turns = 1 + self.random.below(6);
                let leave = if uniform { String::new() } else { " if (u1 & 1) break;".into() };
                format!("for (int n = 0; n < {turns}; n++) {{ {body} u1 += n;{leave} }}")
            }
            9 => {
                let (one, two) =
                    (self.statement(depth - 1, false), self.statement(depth - 1, false));
                format!(
                    "switch ((int)({value}) & 3) {{ case 0: {one} break; case 2: {two} default: u0 ^= 5u; }}"
                )
            }
            _ if self.plain || !uniform => format!("u{which} ^= deep(u0 & 5, u1);"),
            _ => self.warp(which),
        }
    }

    /// What threads do together.
    fn warp(&mut self, which: usize) -> String {
        match self.random.below(5) {
            0 => format!("u{which} ^= __shfl_xor_sync(~0u, u0, {});", 1 + self.random.below(31)),
            1 => format!("i{which} = __shfl_down_sync(~0u, i1, {});", 1 + self.random.below(31)),
            2 => format!("u{which} += __ballot_sync(~0u, u1 & 1);"),
            3 => format!(
                "shared[t] = u{which}; __syncthreads(); u0 += shared[(t * 7 + {}) & 31]; __syncthreads();",
                self.random.below(32)
            ),
            _ => format!(
                "__syncthreads(); if (t == 0) shared[0] = 3; __syncthreads(); \
                 atomicAdd(&shared[0], u{which}); __syncthreads(); w0 += shared[0]; __syncthreads();"
            ),
        }
    }
}

impl Program {
    /// The source, in CUDA C++ and, when it is plain, in C++.
    pub fn source(&self) -> String {
        let mut text = format!("// seed {}\n{HEAD}", self.seed);
        text.extend(self.functions.iter().map(String::as_str));
        let shared = if self.plain { "" } else { "    __shared__ unsigned shared[32];\n" };
        let _ = write!(text, "DEVICE static void work(int t, word *out)\n{{\n{shared}");
        for (letter, (ty, _, _)) in LETTERS.iter().zip(INTEGERS) {
            let _ =
                writeln!(text, "    {ty} {letter}0 = ({ty})(t * 37), {letter}1 = ({ty})(t - 11);");
        }
        text += "    float f0 = t * 0.5f, f1 = 3.0f - t;\n    double d0 = t * 0.25, d1 = 1.0 / (t + 1);\n";
        text += "    struct Bits r;\n    r.a = t & 31; r.b = t; r.c = 9u; r.d = (signed char)t; r.e = t; r.f = t;\n";
        text += "    union Both v;\n    v.u = t * 2654435761u;\n    struct Pair p = {t, 2.5, 1};\n";
        text += "    unsigned a[8] = {1u, 2u, 3u, 4u, 5u, 6u, 7u, (unsigned)t};\n";
        for statement in &self.statements {
            let _ = writeln!(text, "    {statement}");
        }
        text += "    word sum = 0;\n    for (int n = 0; n < 8; n++) sum = sum * 31u + a[n];\n    out[0] = sum;\n";
        for (next, letter) in (1..).zip(LETTERS) {
            let _ = writeln!(text, "    out[{next}] = (word){letter}0 * 31u + (word){letter}1;");
        }
        text += "    out[10] = bits_of(f0) * 31ull + bits_of(f1);\n    out[11] = bits_of(d0) * 31ull + bits_of(d1);\n";
        text += "    out[12] = r.a + r.b * 32ull + r.c * 65536ull + (word)r.d * 3u + r.e * 7ull + (word)r.f;\n";
        text += "    out[13] = v.u;\n    out[14] = (word)p.first * 3u + p.third + bits_of(p.second);\n}\n";
        let _ = write!(
            text,
            "#ifdef __CUDACC__
__global__ void child(word *out, char bias, double scale, struct Pair p)
{{
    word mine[15];
    work(threadIdx.x, mine);
    for (int n = 0; n < 15; n++) out[threadIdx.x * 15 + n] = mine[n] + bias + (word)(scale * p.third);
}}
#ifndef HOST_LAUNCH
__global__ void parent(word *out)
{{
    struct Pair p = {{1, 2.0, 4}};
    if (threadIdx.x == 0) child<<<1, {THREADS}>>>(out, -3, 2.5, p);
}}
#endif
#endif
int main()
{{
    static word host[{THREADS} * 15];
#ifdef __CUDACC__
    word *out;
    cudaMalloc((void **)&out, sizeof host);
#ifdef HOST_LAUNCH
    struct Pair p = {{1, 2.0, 4}};
    child<<<1, {THREADS}>>>(out, -3, 2.5, p);
#else
    parent<<<1, 32>>>(out);
#endif
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf(\"%s\\n\", cudaGetErrorString(cudaGetLastError()));
#else
    for (int t = 0; t < {THREADS}; t++) {{
        work(t, host + t * 15);
        for (int n = 0; n < 15; n++) host[t * 15 + n] += -3 + (word)(2.5 * 4);
    }}
    printf(\"no error\\n\");
#endif
    for (int n = 0; n < 15; n++) {{
        word sum = 0;
        for (int t = 0; t < {THREADS}; t++) sum = sum * 1099511628211ull + host[t * 15 + n];
        printf(\"%d: %llx %llx %llx\\n\", n, sum, host[n], host[5 * 15 + n]);
    }}
    return 0;
}}
"
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_program_again() {
        for seed in 0..50 {
            assert_eq!(generate(seed), generate(seed));
        }
        assert_ne!(generate(1).source(), generate(2).source());
    }

    #[test]
    fn plain_programs_have_nothing_of_a_gpu() {
        let plain: Vec<Program> = (0..50).map(generate).filter(|program| program.plain).collect();
        assert!(plain.len() > 10);
        assert!(plain.iter().all(|program| !program.source().contains("_sync(")));
    }
}
