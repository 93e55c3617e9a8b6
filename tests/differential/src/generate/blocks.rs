//! Kernels whose blocks have several warps: rounds between barriers, as scans, sums, histograms, sorts, locks, lists, flags
//! and tiles have them, in loops and branches that all threads of a block take, and with warps that part and meet.
//!
//! A round leaves shared memory to the next one behind a barrier, and reads of it only what it wrote itself or another
//! thread before a barrier; what depends on the order of threads are sums and extremes alone, of which the order shows
//! nowhere. A block may have a warp that is not whole: masks name the lanes that there are.

use super::Maker;
use super::launch::{Kernel, SLOT_WORDS};

/// Threads of a block; all can be divided by eight.
const SIZES: [u32; 9] = [32, 48, 64, 64, 96, 104, 128, 128, 160];

/// What a block is like, for its rounds.
#[derive(Clone, Copy)]
struct Block {
    size: u32,
    /// Names the global array that the grid's blocks have, and a counter.
    seed: u64,
    slot: usize,
}

impl Block {
    fn is_whole(self) -> bool {
        self.size.is_multiple_of(32)
    }

    /// The lanes of a thread's warp.
    fn all(self) -> &'static str {
        if self.is_whole() { "~0u" } else { "all" }
    }
}

impl Maker {
    /// The block of a kernel, its grid, and its text.
    pub(super) fn block_kernel(&mut self, slot: usize) -> ([u32; 3], u32, Kernel) {
        let size = *self.random.of(&SIZES);
        let block = Block { size, seed: self.seed, slot };
        let shape = match self.random.below(4) {
            0 => [size / 2, 2, 1],
            1 => [8, size / 8, 1],
            _ => [size, 1, 1],
        };
        let grid = 1 + self.random.below(3) as u32;
        let count = 3 + self.random.below(6);
        let parts = (0..count).map(|_| self.round(block, 2)).collect();
        let last = if self.random.below(3) == 0 { self.last_block(block) } else { String::new() };
        (
            shape,
            grid,
            Kernel {
                head: self.block_head(block),
                parts,
                tail: format!(
                    "{last}    atomicAdd(&out[t & {}u], (word)x * 31u + y + ((word)h << 40) + w * 3u + bits_of(f));\n}}\n",
                    SLOT_WORDS - 1
                ),
            },
        )
    }

    fn block_head(&mut self, block: Block) -> String {
        let Block { size, seed, slot } = block;
        let inlined = *self.random.of(&["__noinline__", "__forceinline__", ""]);
        let number = format!("{size}u");
        let known = *self.random.of(&["blockDim.x * blockDim.y * blockDim.z", &number]);
        let last = size % 32;
        let all = if last == 0 {
            String::new()
        } else {
            format!(
                "    const unsigned all = t < {}u ? ~0u : {}u;\n",
                size - last,
                (1u32 << last) - 1
            )
        };
        format!(
            "__device__ unsigned stage_{seed}_{slot}[3 * {size}], seen_{seed}_{slot};
__device__ {inlined} static unsigned passed_{seed}_{slot}(unsigned *tile, unsigned t, unsigned size, unsigned x)
{{
    tile[t] = x;
    __syncthreads();
    x = tile[t + 1u < size ? t + 1u : 0u] - x;
    __syncthreads();
    return x;
}}
__global__ void step_{seed}_{slot}(word *out, unsigned salt, int turns)
{{
    __shared__ unsigned tile[{size}], counts[16], sums[8], total, other, lock;
    __shared__ unsigned short shorts[{size}];
    __shared__ uint4 quads[{size}];
    __shared__ word wide;
    __shared__ long long extreme;
    __shared__ bool is_last;
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, lane = t & 31u, size = {known};
{all}    unsigned x = t * 37u + salt, y = (t ^ blockIdx.x * 5u) + 3u;
    unsigned short h = (unsigned short)(t * 11u);
    word w = salt;
    float f = 0.5f;
    (void)lane;
"
        )
    }

    /// A number without a sign, without effects.
    fn plain_value(&mut self) -> String {
        let k = 1 + self.random.below(31);
        match self.random.below(14) {
            0 => "x".into(),
            1 => "y".into(),
            2 => "(x ^ y)".into(),
            3 => format!("(x * {k}u + t)"),
            4 => "(x / (y % 7u + 1u))".into(),
            5 => format!("(y % {}u)", k + 1),
            6 => "table[x & 15u]".into(),
            7 => "(x >> (t & 7u))".into(),
            8 => "(unsigned)__popc(x)".into(),
            9 => "(unsigned)(w >> 7)".into(),
            10 => "(unsigned)h".into(),
            11 => "((unsigned)(f * 8.0f) + x)".into(),
            12 => "deep(y & 3u, x)".into(),
            _ => format!("(y + blockIdx.x * {k}u)"),
        }
    }

    /// What some threads do and others do not.
    fn some_threads(&mut self) -> String {
        let k = 1 + self.random.below(15);
        match self.random.below(7) {
            0 => format!("(x & {k}u) != 0u"),
            1 => format!("y % {}u == 0u", k + 1),
            2 => "t & 1u".into(),
            3 => "lane < (x & 31u)".into(),
            4 => format!("t % {}u != 1u", k + 1),
            5 => "(t / 32u) & 1u".into(),
            _ => "x > y".into(),
        }
    }

    /// What a warp's lanes give each other.
    fn among_lanes(&mut self, block: Block) -> String {
        let (value, all) = (self.plain_value(), block.all());
        let k = 1 + self.random.below(15);
        let some = self.some_threads();
        match self.random.below(if block.is_whole() { 9 } else { 5 }) {
            0 => format!("__ballot_sync({all}, {some})"),
            1 => {
                let op = *self.random.of(&["add", "min", "max", "and", "or", "xor"]);
                format!("__reduce_{op}_sync({all}, {value})")
            }
            2 => format!("__match_any_sync({all}, {value} & 3u)"),
            3 => format!("(unsigned)__any_sync({all}, {some}) * {k}u"),
            4 => format!("__shfl_sync({all}, {value}, {})", k & 7),
            5 => format!("__shfl_xor_sync(~0u, {value}, {k})"),
            6 => format!("__shfl_up_sync(~0u, {value}, {k})"),
            7 => format!("__shfl_down_sync(~0u, {value}, {}, 16)", k & 7),
            _ => format!("__shfl_sync(~0u, {value}, (int)(lane + {k}u) & 31)"),
        }
    }

    /// A statement of one thread.
    fn alone(&mut self) -> String {
        let (value, k) = (self.plain_value(), 1 + self.random.below(15));
        match self.random.below(8) {
            0 => format!("x = x * 5u + {value};"),
            1 => format!("for (unsigned n = 0; n < (y & 7u); n++) x = x * 3u + (n ^ {value});"),
            2 => format!("w = w * 31u + {value}; h += (unsigned short)(w >> {k});"),
            3 => format!("f = (float)({value} & 1023u) * 0.25f; y ^= (unsigned)f;"),
            4 => format!(
                "{{ unsigned (*pick[3])(unsigned, unsigned) = {{deep, odd, even}}; x ^= pick[y % 3u](t & 7u, {value}); }}"
            ),
            5 => format!("while (y & {k}u) {{ y >>= 1; x += y; }}"),
            6 => format!("x = y > {value} ? x / {}u : y % {k}u;", k + 1),
            _ => format!(
                "{{ unsigned m[8]; for (unsigned n = 0; n < 8u; n++) m[n] = x + n * {k}u; m[y & 7u] ^= {value}; for (unsigned n = 0; n < 8u; n++) y = y * 7u + m[n]; }}"
            ),
        }
    }

    /// What all threads of a block do, from one barrier to another.
    fn round(&mut self, block: Block, depth: u32) -> String {
        match self.random.below(if depth == 0 { 24 } else { 31 }) {
            0..=3 => self.exchange(block),
            4..=6 => self.summed(block),
            7..=10 => self.counted(block),
            11..=14 => self.waiting(block),
            15..=19 => self.parted(block),
            20 => self.sorted(block),
            21 | 22 => {
                let lanes = self.among_lanes(block);
                format!("{} y ^= {lanes};", self.alone())
            }
            23 => format!(
                "y += passed_{}_{}(tile, t, size, {});",
                block.seed,
                block.slot,
                self.plain_value()
            ),
            _ => self.repeated_rounds(block, depth),
        }
    }

    /// What another thread wrote before the barrier.
    fn exchange(&mut self, block: Block) -> String {
        let (value, k) = (self.plain_value(), 1 + self.random.below(31));
        let Block { seed, slot, size } = block;
        match self.random.below(6) {
            0 => format!(
                "tile[t] = {value}; __syncthreads(); x ^= tile[(t + {k}u) % size] * 3u; y += tile[size - 1u - t]; __syncthreads();"
            ),
            1 => format!(
                "shorts[t] = (unsigned short){value}; __syncthreads(); if (!(t & 1u)) {{ unsigned short q = shorts[t]; shorts[t] = shorts[t + 1u]; shorts[t + 1u] = q; }} __syncthreads(); h ^= shorts[(t + {k}u) % size]; __syncthreads();"
            ),
            2 => format!(
                "{{ uint4 q = make_uint4(x, {value}, t, {k}u); quads[t] = q; __syncthreads(); q = quads[(t * {}u + {k}u) % size]; x += q.x ^ q.w; y ^= q.y + q.z; __syncthreads(); }}",
                2 * k + 1
            ),
            3 => format!(
                "{{ __shared__ unsigned plane[{}][9]; plane[t / 8u][t & 7u] = {value}; __syncthreads(); y += plane[(t + {k}u) % {}u][(t / {}u) & 7u]; __syncthreads(); }}",
                size / 8,
                size / 8,
                size / 8
            ),
            4 => format!(
                "stage_{seed}_{slot}[blockIdx.x * size + t] = {value}; __syncthreads(); y += stage_{seed}_{slot}[blockIdx.x * size + (t + {k}u) % size]; x ^= stage_{seed}_{slot}[blockIdx.x * size]; __syncthreads();"
            ),
            _ => format!(
                "((unsigned char *)tile)[t] = (unsigned char){value}; __syncthreads(); for (unsigned n = 0; n < {}u; n++) x = x * 3u + ((const unsigned char *)tile)[(t + n) % size]; __syncthreads();",
                1 + (k & 7)
            ),
        }
    }

    /// Sums over the block, of what came before or of all.
    fn summed(&mut self, block: Block) -> String {
        let value = self.plain_value();
        match self.random.below(if block.is_whole() { 4 } else { 2 }) {
            0 => format!(
                "tile[t] = {value}; __syncthreads(); for (unsigned d = 1; d < size; d *= 2) {{ unsigned q = t >= d ? tile[t - d] : 0u; __syncthreads(); tile[t] += q; __syncthreads(); }} x += tile[t]; y ^= tile[size - 1u]; __syncthreads();"
            ),
            1 => {
                let add = *self.random.of(&[
                    "tile[t] + tile[t + s]",
                    "tile[t] ^ tile[t + s]",
                    "max(tile[t], tile[t + s])",
                ]);
                format!(
                    "tile[t] = {value}; __syncthreads(); for (unsigned n = size, s = (size + 1u) / 2u; n > 1u; n = s, s = (s + 1u) / 2u) {{ if (t + s < n) tile[t] = {add}; __syncthreads(); }} y ^= tile[0]; __syncthreads();"
                )
            }
            2 => format!(
                "{{ unsigned q = {value}; for (int d = 16; d > 0; d /= 2) q += __shfl_down_sync(~0u, q, d); if (lane == 0u) sums[t / 32u] = q; __syncthreads(); for (unsigned n = 0; n < size / 32u; n++) x += sums[n] * (n + 1u); __syncthreads(); }}"
            ),
            _ => format!(
                "{{ unsigned q = {value}; for (int d = 1; d < 32; d *= 2) {{ unsigned z = __shfl_up_sync(~0u, q, d); if (lane >= (unsigned)d) q += z; }} if (lane == 31u) sums[t / 32u] = q; __syncthreads(); \
                 if (t < 32u) {{ unsigned z = t < size / 32u ? sums[t] : 0u; for (int d = 4; d > 0; d /= 2) z += __shfl_xor_sync(~0u, z, d); if (t == 0u) total = z; }} __syncthreads(); y += q ^ total; __syncthreads(); }}"
            ),
        }
    }

    /// Counters, extremes and lists in shared memory.
    fn counted(&mut self, block: Block) -> String {
        let (value, some, k, all) =
            (self.plain_value(), self.some_threads(), self.random.below(16), block.all());
        match self.random.below(5) {
            0 => format!(
                "if (t < 16u) counts[t] = t; __syncthreads(); if ({some}) atomicAdd(&counts[{value} & 15u], {k}u); __syncthreads(); y ^= counts[(x + {k}u) & 15u]; __syncthreads();"
            ),
            1 => format!(
                "if (t < 16u) counts[t] = 0u; __syncthreads(); {{ unsigned v = {value} & 7u, q = __match_any_sync({all}, v), z = __reduce_add_sync(q, y & 1023u); if (lane == (unsigned)__ffs((int)q) - 1u) atomicAdd(&counts[v], (unsigned)__popc(q) + z); }} __syncthreads(); x += counts[t & 7u]; __syncthreads();"
            ),
            2 => format!(
                "{{ unsigned q = __ballot_sync({all}, {some}), at = (unsigned)__popc(q & ((1u << lane) - 1u)); tile[t] = 0u; __syncwarp({all}); if (q >> lane & 1u) tile[(t & ~31u) + at] = {value}; __syncwarp({all}); y += tile[t] * 3u + (unsigned)__popc(q); __syncthreads(); }}"
            ),
            3 => {
                let op = *self.random.of(&["Max", "Min"]);
                format!(
                    "if (t == 0u) {{ wide = {k}u; extreme = 0; }} __syncthreads(); if ({some}) atomicAdd(&wide, (word){value}); atomic{op}(&extreme, (long long)x - (long long)y); __syncthreads(); w ^= wide + (word)extreme; __syncthreads();"
                )
            }
            _ => format!(
                "if (t == 0u) total = other = 0u; __syncthreads(); atomicOr(&total, {value} & 0xff00u); if ({some}) atomicXor(&other, x); if (t % {}u == 0u) atomicMax(&total, y & 255u); __syncthreads(); y += other; __syncthreads();",
                k + 2
            ),
        }
    }

    /// Threads that try again until it succeeds, and what all do behind it.
    fn waiting(&mut self, block: Block) -> String {
        let (value, some, k) = (self.plain_value(), self.some_threads(), 1 + self.random.below(9));
        let between = if self.random.below(2) == 0 { self.alone() } else { String::new() };
        match self.random.below(if block.size >= 64 { 4 } else { 3 }) {
            0 => format!(
                "if (t == 0u) {{ total = {k}u; other = 0u; }} __syncthreads(); if ({some}) {{ unsigned old = {k}u, seen; do {{ seen = old; old = atomicCAS(&total, seen, seen + ({value} & 255u)); }} while (old != seen); }} \
                 __syncthreads(); {between} atomicAdd(&other, x & 1023u); __syncthreads(); y += total + other * 3u; __syncthreads();"
            ),
            1 => format!(
                "if (t == 0u) {{ lock = 0u; total = {k}u; }} __syncthreads(); if ({some}) {{ bool done = false; while (!done) {{ if (atomicCAS(&lock, 0u, 1u) == 0u) {{ __threadfence_block(); *(volatile unsigned *)&total += {value} & 63u; \
                 __threadfence_block(); atomicExch(&lock, 0u); done = true; }} }} }} {between} __syncthreads(); x += total; __syncthreads();"
            ),
            2 => format!(
                "if (t < 16u) counts[t] = 0u; __syncthreads(); {{ unsigned n = 0u; while (atomicAdd(&counts[t & 15u], 1u) % {}u != {}u && n < 40u) n++; }} {between} __syncthreads(); x += {value}; __syncthreads();",
                k + 1,
                k / 2
            ),
            _ => format!(
                "if (t == 0u) lock = 0u; __syncthreads(); if (t < 32u) {{ tile[t] = {value}; __syncwarp(); if (t == 0u) {{ __threadfence_block(); *(volatile unsigned *)&lock = {k}u; }} }} else {{ while (*(volatile unsigned *)&lock == 0u) ; \
                 __threadfence_block(); y += *(volatile unsigned *)&tile[(t + {k}u) & 31u]; {between} }} __syncthreads();"
            ),
        }
    }

    /// Lanes and warps that go ways of their own, and meet.
    fn parted(&mut self, block: Block) -> String {
        let (value, some, k, all) =
            (self.plain_value(), self.some_threads(), 1 + self.random.below(15), block.all());
        let (one, two, lanes) = (self.alone(), self.alone(), self.among_lanes(block));
        match self.random.below(if block.is_whole() { 6 } else { 3 }) {
            0 => format!(
                "tile[t] = {value}; __syncthreads(); for (unsigned n = 0; n < (x & 7u); n++) {{ y = y * 3u + tile[(t + n) % size]; if (y & {k}u) continue; {one} if (x % {}u == 0u) break; }} __syncthreads();",
                k + 5
            ),
            1 => format!(
                "tile[t] = {k}u; switch ({value} & 3u) {{ case 0: {{ unsigned old = 5u, seen; do {{ seen = old; old = atomicCAS(&tile[t], seen, seen + x); }} while (old != seen); x ^= old; }} break; case 1: {one} break; case 2: {two} default: y -= {k}u; }} __syncwarp({all}); y ^= {lanes}; __syncthreads();"
            ),
            2 => format!("if ({some}) {{ {one} }} else {{ {two} }} x ^= {lanes};"),
            3 => {
                let (first, second) = (self.among_lanes(block), self.among_lanes(block));
                format!(
                    "if ((t / 32u) & 1u) {{ x += {first}; {one} }} else {{ {two} y ^= {second}; x += {lanes}; }} __syncthreads();"
                )
            }
            4 => format!(
                "if (t & 1u) {{ x += __shfl_xor_sync(0xaaaaaaaau, {value}, 2); {one} y ^= __ballot_sync(0xaaaaaaaau, {some}); }} else {{ {two} y += __reduce_add_sync(0x55555555u, x & 255u); }} __syncwarp(); x ^= {lanes};"
            ),
            _ => format!(
                "for (unsigned left = ~0u; left;) {{ unsigned q = __shfl_sync(left, {value} & {}u, __ffs((int)left) - 1), same = __ballot_sync(left, ({value} & {}u) == q); if (same >> lane & 1u) {{ y += q + (unsigned)__popc(same); break; }} left &= ~same; }} __syncwarp(); {one}",
                k & 7,
                k & 7
            ),
        }
    }

    /// A sort by exchanges, of blocks that are a power of two.
    fn sorted(&mut self, block: Block) -> String {
        if !block.size.is_power_of_two() {
            return self.exchange(block);
        }
        let value = self.plain_value();
        format!(
            "tile[t] = {value}; __syncthreads(); for (unsigned k = 2; k <= size; k *= 2) for (unsigned d = k / 2u; d > 0u; d /= 2) {{ unsigned o = t ^ d; if (o > t) {{ unsigned p = tile[t], q = tile[o]; if ((p > q) == ((t & k) == 0u)) {{ tile[t] = q; tile[o] = p; }} }} __syncthreads(); }} x ^= tile[t]; __syncthreads();"
        )
    }

    /// Rounds in loops and branches that all threads take together.
    fn repeated_rounds(&mut self, block: Block, depth: u32) -> String {
        let (one, two) = (self.round(block, depth - 1), self.round(block, depth - 1));
        let k = 1 + self.random.below(15);
        match self.random.below(6) {
            0 => format!("for (int n = 0; n < turns; n++) {{ {one} {two} x += (unsigned)n; }}"),
            1 => format!(
                "for (unsigned n = 0; n < {}u; n++) {{ {one} if ((salt + n) & 1u) continue; {two} }}",
                1 + k % 5
            ),
            2 => format!("if (__syncthreads_or((int)(x & {k}u))) {{ {one} }} else {{ {two} }}"),
            3 => format!("if (__syncthreads_count((int)(y & 1u)) > {}) {{ {one} }} {two}", k * 4),
            4 => format!(
                "for (unsigned n = 0; ; n++) {{ {one} if (__syncthreads_and((int)(y % 16u > n)) || n >= {}u) break; x ^= n; {two} }}",
                k % 4
            ),
            _ => format!(
                "switch ((salt + blockIdx.x) % 3u) {{ case 0: {one} break; case 1: x++; default: {two} }}"
            ),
        }
    }

    /// The block that is ready last adds up what all wrote.
    fn last_block(&mut self, block: Block) -> String {
        let (value, name) = (self.plain_value(), format!("{}_{}", block.seed, block.slot));
        format!(
            "    stage_{name}[blockIdx.x * size + t] = {value}; __threadfence(); __syncthreads();
    if (t == 0u) is_last = atomicInc(&seen_{name}, gridDim.x - 1u) == gridDim.x - 1u;
    __syncthreads();
    if (is_last) {{ __threadfence(); word q = 0; for (unsigned b = 0; b < gridDim.x; b++) q = q * 31u + *(volatile unsigned *)&stage_{name}[b * size + t]; atomicAdd(&out[t & {}u], q); }}\n",
            SLOT_WORDS - 1
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::each_occurs;

    #[test]
    fn each_kind_of_round_occurs() {
        let kernels: Vec<String> = (0..600)
            .map(generate)
            .flat_map(|program| program.launches)
            .filter_map(|launch| launch.kernel.map(|kernel| kernel.text()))
            .collect();
        let pieces = [
            "tile[size - 1u - t]",
            "unsigned short q = shorts",
            "uint4 q = make_uint4",
            "plane[t / 8u]",
            "= stage_",
            "((const unsigned char *)tile)",
            "d < size; d *= 2",
            "max(tile[t], tile[t + s])",
            "sums[n] * (n + 1u)",
            "if (lane == 31u)",
            "__match_any_sync(all",
            "tile[(t & ~31u) + at]",
            "atomicMin(&extreme",
            "atomicCAS(&total",
            "atomicCAS(&lock",
            "while (atomicAdd(",
            "while (*(volatile",
            "case 2: ",
            "0xaaaaaaaau",
            "left &= ~same",
            "k <= size; k *= 2",
            "n < turns",
            "__syncthreads_or",
            "__syncthreads_count",
            "__syncthreads_and",
            "(salt + blockIdx.x) % 3u",
            "is_last = ",
            "passed_",
            "const unsigned all",
        ];
        each_occurs(&kernels.join("\n"), &pieces);
    }
}
