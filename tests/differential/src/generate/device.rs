//! What device code has and host code has not: atomics of all types, inline PTX, masks of a part of a warp, tiles and records in
//! shared memory, memory of the device's heap, variables that keep their values, cache hints, reinterpreted bits, CUDA's mathematics.
//!
//! What threads write is their own, or separated by barriers, so that the order in which they run shows nowhere.

use super::Maker;

/// Mathematical functions of one argument and of two, as CUDA's library computes them.
const ONE: [&str; 34] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt", "rcbrt", "erf",
    "erfc", "erfinv", "erfcx", "normcdf", "lgamma", "tgamma", "sinpi", "cospi", "j0", "rsqrt",
    "logb",
];
const TWO: [&str; 9] =
    ["pow", "atan2", "hypot", "fmod", "remainder", "fdim", "copysign", "nextafter", "rhypot"];

/// Approximations of single precision.
const FAST: [&str; 9] = [
    "__sinf",
    "__cosf",
    "__tanf",
    "__expf",
    "__exp10f",
    "__logf",
    "__log2f",
    "__log10f",
    "__saturatef",
];

/// Whether a statement calls mathematics, most of which begins with an approximation.
pub(super) fn approximates(statement: &str) -> bool {
    let calls = |name: &str| {
        statement.contains(&format!("= {name}(")) || statement.contains(&format!("= {name}f("))
    };
    FAST.iter().chain(&ONE).chain(&TWO).any(|name| calls(name))
}

impl Maker {
    /// Variables and functions of a program that device code alone has.
    pub(super) fn declare_device(&mut self) -> String {
        let (some, other) = (1 + self.random.below(99), 1 + self.random.below(99));
        let inlined = *self.random.of(&["__noinline__", "__forceinline__", ""]);
        let name = &self.records[1].name;
        format!(
            "__device__ unsigned state_{seed}[32] = {{{some}u, {other}u}};
__device__ {name} kept_{seed}[32];
__device__ const unsigned given_{seed}[8] = {{{some}u, 7u, {other}u, 1u}};
__device__ unsigned *const where_{seed} = &state_{seed}[{at}];
__constant__ unsigned (*const ways_{seed}[3])(unsigned, unsigned) = {{deep, odd, even}};
__device__ {inlined} word away_{seed}({name} s, unsigned char b, double d, word *to, const {name} &other, short h)
{{
    *to += sum(s) + b;
    if (d < 0.0) return sum(other);
    {name} z = turned(other, (unsigned)h);
    return *to * 3u + sum(z) + bits_of(d);
}}
",
            seed = self.seed,
            at = self.random.below(32),
        )
    }

    /// A statement; `uniform` where all threads of the block come.
    pub(super) fn device(&mut self, which: usize, uniform: bool) -> String {
        let (seed, value) = (self.seed, self.integer(5, 1));
        let (some, near) = (1 + self.random.below(31), 1 + self.random.below(31));
        let name = self.records[self.random.below(2)].name.clone();
        match self.random.below(if uniform { 19 } else { 14 }) {
            0..=2 => self.atomics(which),
            3 | 4 => self.inline_ptx(which),
            5 | 6 => self.mathematics(which),
            7 => format!(
                "{{ unsigned *q = (unsigned *)malloc((u0 & 7u) * 4u + 8u), n = (u0 & 7u) + 2u; if (q) {{ for (unsigned k = 0; k < n; k++) q[k] = k ? q[k - 1] * 5u + u1 : {value}; u{which} ^= q[n - 1]; free(q); }} }}"
            ),
            8 => format!(
                "state_{seed}[t] = state_{seed}[t] * 3u + {value}; u{which} += state_{seed}[t] + (unsigned)(where_{seed} - state_{seed}) + __ldg(&given_{seed}[u0 & 7u]); \
                 fill(kept_{seed}[t], w0); kept_{seed}[t] = turned(kept_{seed}[t], u1); u0 ^= sum(kept_{seed}[t]) + ways_{seed}[u1 % 3u](u0 & 7u, {some}u);"
            ),
            9 => format!(
                "{{ {record} s = kept_{seed}[t], z{{}}; fill(s, w0); w{which} += away_{seed}(s, b0, d0, &g[3], z, s1); w1 ^= away_{seed}(kept_{seed}[t], 3, f0, &w0, s, (short){some}); }}",
                record = self.records[1].name
            ),
            10 => {
                let (store, load) = (
                    *self.random.of(&["__stcg", "__stcs", "__stwb", "__stwt"]),
                    *self.random.of(&["__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv"]),
                );
                format!(
                    "{store}(&g[1], w0 + {some}u); __threadfence(); w{which} ^= {load}(&g[1]); __nanosleep(0);"
                )
            }
            11 => format!(
                "{{ alignas(16) unsigned m[8] = {{u0, u1, {some}u}}; uint4 q = *(const uint4 *)(m + 4u * (u1 & 1u)); q.y ^= {value}; *(uint4 *)m = q; *(uint2 *)&m[6] = make_uint2(q.w, u0); \
                 for (unsigned x : m) u{which} = u{which} * 31u + x; }}"
            ),
            12 => format!(
                "i{which} ^= __float_as_int(f0 == f0 ? f0 : 1.0f) ^ __double2hiint(d0 == d0 ? d0 : 2.0); f1 = __int_as_float((i0 & 0x7fffff) | 0x3f000000); d1 = __hiloint2double((int)({value} & 0x3fefffffu), i1); \
                 l0 ^= __double_as_longlong(d1 == d1 ? d1 : 0.0); u1 += __float_as_uint(__uint_as_float({value} & 0x7f7fffffu));"
            ),
            13 => format!(
                "{{ static unsigned turns[32], last[32] = {{{some}u}}; turns[t] += {value}; last[t] ^= turns[t]; u{which} += last[t] + (__builtin_expect(u0 & 1u, 1) ? {near}u : blockDim.x) + warpSize; }}"
            ),
            14 => format!(
                "if (t & 1) {{ u0 ^= __shfl_xor_sync(0xaaaaaaaau, u1, 2); u1 += __ballot_sync(0xaaaaaaaau, u0 & {some}u); __syncwarp(0xaaaaaaaau); }} else if (t & 2) {{ i{which} ^= __shfl_sync(0x44444444u, i0, 2); \
                 w0 += __reduce_add_sync(0x44444444u, u0); }} else {{ u{which} ^= __match_any_sync(0x11111111u, u1 & 1u); y0 = __all_sync(0x11111111u, u0 & {near}u); }} __syncwarp();"
            ),
            15 => format!(
                "{{ __shared__ unsigned tile[8][9]; tile[t & 7][t >> 3] = u0; tile[t & 7][(t >> 3) + 4] = u1; __syncthreads(); u{which} = tile[t >> 2][t & 3] * 3u + tile[(t + {near}) & 7][({some} + t / 8) & 7]; __syncthreads(); }}"
            ),
            16 => format!(
                "{{ __shared__ {name} rows[32]; {name} s = known_{name}; fill(s, w{which}); rows[t] = s; __syncthreads(); s = rows[(t + {near}) & 31]; u{which} ^= sum(s) + sum(rows[t ^ {some}]); __syncthreads(); }}"
            ),
            17 => format!(
                "{{ __shared__ unsigned counts[8]; if (t < 8) counts[t] = 0u; __syncthreads(); atomicAdd(&counts[{value} & 7u], 1u); if (u1 & 1u) atomicMax(&counts[u0 & 7u], 0u); __syncthreads(); u{which} ^= counts[(t + {near}) & 7]; __syncthreads(); }}"
            ),
            _ => format!(
                "{{ volatile __shared__ unsigned turn[32]; turn[t] = u0; __syncwarp(); for (int d = 16; d > 0; d /= 2) {{ if (t < d) turn[t] = turn[t] + turn[t + d]; __syncwarp(); }} u{which} += turn[0] + (unsigned)__popc(__ballot_sync(~0u, u1 & 1u)); __syncwarp(); \
                 f{which} = __shfl_down_sync(~0u, f0, {near}, 16); l0 = __shfl_xor_sync(~0u, l1, {}); }}",
                some & 15
            ),
        }
    }

    /// Atomics on words of a thread's own, of all types.
    fn atomics(&mut self, which: usize) -> String {
        let value = self.integer(7, 1);
        let scope = *self.random.of(&["", "", "_block", "_system"]);
        let all = *self.random.of(&["Add", "Exch", "Max", "Min", "And", "Or", "Xor"]);
        match self.random.below(8) {
            0 => format!("w{which} ^= atomic{all}{scope}(&g[1], (word)({value})) + g[1];"),
            1 => {
                let op = *self.random.of(&["Max", "Min"]);
                format!(
                    "{{ __shared__ long long own[32]; own[t] = l0; l{which} ^= atomic{op}{scope}(&own[t], (long long)({value})) ^ own[t]; }}"
                )
            }
            2 => format!(
                "{{ __shared__ int own[32]; own[t] = i0; i{which} ^= atomic{all}{scope}(&own[t], (int)({value})) ^ own[t]; }}"
            ),
            3 => {
                let (ty, letter) = *self.random.of(&[("float", "f"), ("double", "d")]);
                let op = if letter == "f" { *self.random.of(&["Add", "Exch"]) } else { "Add" };
                format!(
                    "{{ __shared__ {ty} own[32]; own[t] = {letter}0; {letter}{which} = atomic{op}{scope}(&own[t], {letter}1); {letter}0 = own[t]; }}"
                )
            }
            4 => format!(
                "{{ __shared__ unsigned short own[32]; own[t] = h0; h{which} ^= atomicCAS(&own[t], (unsigned short)(u1 & 1u ? h0 : h1), (unsigned short)({value})); h0 += own[t]; }}"
            ),
            5 => format!(
                "g[2] = w0; w{which} += atomicCAS{scope}(&g[2], u0 & 1u ? w0 : w1, (word)({value})); w1 ^= g[2];"
            ),
            6 => format!(
                "{{ shared[t] = u0; unsigned old = shared[t], seen; do {{ seen = old; old = atomicCAS{scope}(&shared[t], seen, seen * 3u + (unsigned)({value})); }} while (old != seen); u{which} ^= shared[t] + old; }}"
            ),
            _ => format!(
                "{{ __shared__ __half2 own[32]; own[t] = __floats2half2_rn((float)(u0 & 255u), 0.5f); __half2 old = atomicAdd(&own[t], __float2half2_rn((float)(u1 & 63u))); f{which} = __low2float(own[t]) + __high2float(old); }}"
            ),
        }
    }

    fn inline_ptx(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(31), 1 + self.random.below(99));
        match self.random.below(9) {
            0 => format!(
                "asm(\"mad.lo.u32 %0, %1, %2, {other};\" : \"=r\"(u{which}) : \"r\"(u0), \"r\"(u1));"
            ),
            1 => format!(
                "{{ unsigned q; asm(\"{{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, %1, {some}, p; }}\" : \"=r\"(q) : \"r\"(i0), \"r\"(i1)); u{which} ^= q; }}"
            ),
            2 => format!(
                "asm volatile(\"add.cc.u32 %0, %0, %2; addc.u32 %1, %1, {some};\" : \"+r\"(u0), \"+r\"(u1) : \"r\"({other}));"
            ),
            3 => format!(
                "asm(\"shf.l.wrap.b32 %0, %1, %2, %3;\" : \"=r\"(u{which}) : \"r\"(u0), \"r\"(u1), \"n\"({some}));"
            ),
            4 => format!(
                "asm(\"bfe.u64 %0, %1, {some}, {};\" : \"=l\"(w{which}) : \"l\"(w0 ^ w1));",
                other & 31
            ),
            5 => format!(
                "asm(\"fma.rn.f64 %0, %1, %2, %0;\" : \"+d\"(d{which}) : \"d\"(d0), \"d\"(1.5)); asm(\"mul.rz.f32 %0, %1, %1;\" : \"=f\"(f{which}) : \"f\"(f0));"
            ),
            6 => format!(
                "{{ unsigned q, x; asm(\"mov.b64 {{%0, %1}}, %2;\" : \"=r\"(q), \"=r\"(x) : \"l\"(w{which})); u0 += q; u1 ^= x; asm(\"mov.b64 %0, {{%1, %2}};\" : \"=l\"(w0) : \"r\"(x), \"r\"(q)); }}"
            ),
            7 => format!(
                "asm(\"lop3.b32 %0, %1, %2, %3, 0x{other:02x};\" : \"=r\"(u{which}) : \"r\"(u0), \"r\"(u1), \"r\"(i0)); asm(\"prmt.b32 %0, %0, %1, 0x{}420;\" : \"+r\"(u{which}) : \"r\"(u1));",
                some & 7
            ),
            _ => format!(
                "{{ unsigned short q; asm(\"cvt.u16.u32 %0, %1;\" : \"=h\"(q) : \"r\"(u0)); h{which} ^= q; asm volatile(\"st.global.u64 [%0], %1;\" :: \"l\"(&g[2]), \"l\"(w0) : \"memory\"); w{which} ^= g[2]; }}"
            ),
        }
    }

    fn mathematics(&mut self, which: usize) -> String {
        let double = self.random.below(2) == 0;
        let (letter, suffix) = if double { ("d", "") } else { ("f", "f") };
        let (value, second) = (self.float(double, 1), self.float(double, 1));
        let (one, two) = (*self.random.of(&ONE), *self.random.of(&TWO));
        match self.random.below(7) {
            0..=2 => format!("{letter}{which} = {one}{suffix}({value});"),
            3 => format!(
                "{letter}{which} = {two}{suffix}({value}, {second}); {letter}0 += {one}{suffix}({letter}1 * 0.125{suffix});"
            ),
            4 => format!(
                "f{which} = {}({}) + __fdividef(f1, 3.5f) + __powf(1.25f, f0 * 0.01f);",
                self.random.of(&FAST),
                self.float(false, 1)
            ),
            5 => format!(
                "{{ int e = 0; double m = frexp(d0 == d0 && d0 - d0 == 0.0 ? d0 : 0.75, &e), whole; d{which} = ldexp(m, e & 7) + modf({}, &whole); i{which} ^= e; d1 = whole + scalbn(m, 3); float s, c; sincosf(f0, &s, &c); f{which} = s - c; }}",
                self.float(true, 1)
            ),
            _ => format!(
                "y{which} = isnan({value}) || isinf({second}) || signbit({value}) || !isfinite({letter}1); l{which} ^= llrint({value}) ^ lroundf(f0) ^ ilogb({letter}0 == {letter}0 ? {letter}0 : {letter}0 - {letter}0 == 0 ? 1 : 2); {letter}1 = round{suffix}({second}) + fmax(1.0, (double){letter}0);"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::{each_occurs, statements};

    #[test]
    fn each_kind_occurs() {
        let programs = (0..1200).map(generate).filter(|program| !program.plain);
        let statements = statements(programs);
        let pieces = [
            "atomicCAS(&own[t]",
            "_block(&g[1]",
            "__half2 old",
            "addc.u32",
            "prmt.b32",
            "rhypot",
            "__powf",
            "frexp",
            "malloc",
            "where_",
            "away_",
            "__ldcv",
            "uint4 q",
            "__hiloint2double",
            "static unsigned turns",
            "0x44444444u",
            "tile[8][9]",
            " rows[32]; S",
            "counts[8]",
            "volatile __shared__",
        ];
        each_occurs(&statements, &pieces);
    }
}
