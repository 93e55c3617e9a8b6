//! Loops and choices in the shapes that passes for device code rewrite: strides, left-out turns, narrow counters and
//! pointers that move, nested switches, exchanges at the ends of branches, copies in words, sequences of numbers.
//!
//! Each is a statement of plain C++. Loops may have no turn at all; indices are masked or bounded by their parts, counters
//! wrap in types without sign alone.

use super::Maker;

/// Counters: the type, and what it is masked with.
const COUNTERS: [(&str, &str); 6] = [
    ("int", "127"),
    ("unsigned", "127"),
    ("unsigned char", "255"),
    ("short", "127"),
    ("unsigned short", "127"),
    ("long long", "127"),
];

/// What pointers move over.
const ELEMENTS: [&str; 6] =
    ["unsigned char", "signed char", "short", "unsigned short", "unsigned", "word"];

impl Maker {
    pub(super) fn loops(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(15), 1 + self.random.below(15));
        match self.random.below(13) {
            0 | 1 => self.strides(which),
            2 | 3 => self.left_out(which),
            4 | 5 => self.moving(which),
            6 => self.nested_cases(which),
            7 => self.constants(which),
            // Groups of a number, and the last elements of them.
            8 => {
                let (by, times) = *self.random.of(&[(16, 8), (8, 4), (4, 2), (32, 8), (2, 16)]);
                format!(
                    "{{ unsigned x = u{which} & {}u, first = x / {by}u * {times}u, last = x / {by}u * {times}u + {}u; \
                     a[last & 15] ^= first; a[first & 15] += last | {some}u; u{which} += (x & ~{}u) + ((x & ~{}u) | {other}u); }}",
                    *self.random.of(&[1023u32, 65535, 4_294_967_295]),
                    times - 1,
                    by - 1,
                    times - 1
                )
            }
            // Exchanges, up or down.
            9 => format!(
                "for (int d = {}; d > 0; d /= 2) for (int n = 0; n < 16 - d; n++) {{ if ((n ^ (int)u0) & {}) {{ \
                 if (a[n] > a[n + d]) swap_two(a + n, a + n + d); }} else {{ if (a[n] < a[n + d]) {{ unsigned z = a[n]; \
                 a[n] = a[n + d]; a[n + d] = z; }} }} }}",
                *self.random.of(&[8, 4, 1]),
                *self.random.of(&[1, 2, 4])
            ),
            // Copies and settings of many bytes, words of halves, what moves up in its own array.
            10 => {
                let bytes = *self.random.of(&[16, 61, 128, 200, 255]);
                format!(
                    "{{ unsigned m[80], z[64]; memset(m, (int)(u0 & 255), sizeof m); for (int n = 0; n < 16; n++) m[n * 5] ^= a[n]; \
                     memset(z, {other}, sizeof z); memcpy(z, m + {some}, {bytes}); for (int n = 79; n >= {some}; n--) m[n] = m[n - {some}] + 1u; \
                     for (int n = 0; n < 64; n += 2) w{which} = w{which} * 3u + ((word)z[n] | (word)z[n + 1] << 32) + m[n + 1]; }}"
                )
            }
            // Numbers that come from each other, digits, and sums of floats whose order is theirs.
            11 => format!(
                "{{ unsigned x = u{which}; for (int n = 0; n < {some}; n++) {{ a[n & 15] ^= x; x = x * 1664525u + 1013904223u; \
                 u1 += x >> 9; x = x * 1664525u + 1013904223u; }} for (word z = w0; z; z /= {}u) u0 = u0 * 7u + (unsigned)(z % {}u); }}",
                other + 2,
                other + 2
            ),
            _ => format!(
                "{{ float m[32]; for (int n = 0; n < 32; n++) m[n] = (float)(a[n & 15] & 1023u) * 0.37f; float sum = 0.0f; \
                 for (int n = (int)(u0 & 7); n < (int)(u1 & 31); n++) sum += m[n]; f{which} = sum; \
                 unsigned z[16]; for (int n = 0; n < 16; n++) z[n] = a[n]; i{which} ^= (int)spread(z, z + 8, (int)(u0 & 7), u1); \
                 for (int n = 0; n < 16; n++) a[n] ^= z[n] << 1; }}"
            ),
        }
    }

    /// Elements of global memory at a step that nobody knows, with some around them.
    fn strides(&mut self, which: usize) -> String {
        let around = *self.random.of(&["+ n", "+ 1", "- r", "+ n - r", "+ 0"]);
        let (under, last) = (
            *self.random.of(&["", "if (u0 & 1) ", "if (j != r) "]),
            *self.random.of(&["(int)(u1 & 3)", "3", "2"]),
        );
        let count = *self.random.of(&["int", "short", "long long"]);
        let place = match count {
            "long long" => "(int)j * n + r",
            _ => *self.random.of(&["j * n + r", "r + n * j", "(j + 1) * n - n + r"]),
        };
        format!(
            "{{ int n = (int)(u0 & 3) + 1, r = i{which} & 3; for ({count} j = 0; j < {last}; j++) {{ \
             g[{place}] += w{which} + (word)j; {under}w{which} ^= g[{place} {around}]; g[{place} {around}]++; }} }}"
        )
    }

    /// A turn that is left out, if it comes at all.
    fn left_out(&mut self, which: usize) -> String {
        let (ty, mask) = *self.random.of(&COUNTERS);
        let begin = *self.random.of(&["0", "1", "(u1 & 31)", "7"]);
        let out = *self.random.of(&["(i0 & 127)", "(int)(u0 & 31)", "0", "i0", "t"]);
        let step = match self.random.below(3) {
            0 => format!(
                "if (j == ({ty}){out}) continue; u{which} = u{which} * 3u + a[(unsigned)j & 15];"
            ),
            1 => format!(
                "if (j != ({ty}){out}) {{ a[(unsigned)j & 15] ^= u{which} + (unsigned)j; w0 += a[3]; }}"
            ),
            _ => format!(
                "if ((int)j != {out}) {{ f1 = f1 * 0.5f + (float)(int)j; if (u0 & 1) i{which} ^= (int)j; }}"
            ),
        };
        match self.random.below(3) {
            0 => format!(
                "for ({ty} j = ({ty}){begin}; j < ({ty})(u1 & {mask}u); j++) {{ {step} }} f1 = f1 == f1 ? f1 : 1.0f;"
            ),
            1 => format!(
                "{{ {ty} j = ({ty}){begin}, last = ({ty})(({begin}) + (u1 & 63)); while (j != last) {{ {ty} k = j; j++; \
                 {{ {ty} j = k; do {{ {step} }} while (0); }} }} }}"
            ),
            _ => format!(
                "for (unsigned n = 0, last = 70u + (u1 & 63); n < last; n++) {{ {ty} j = ({ty})(n & {mask}u); {step} }}"
            ),
        }
    }

    /// Pointers of narrow elements that move, forth and back.
    fn moving(&mut self, which: usize) -> String {
        let (ty, other) = (*self.random.of(&ELEMENTS), *self.random.of(&ELEMENTS));
        let (step, turns) = (1 + self.random.below(2), *self.random.of(&["9", "(int)(u1 & 15)"]));
        let quiet = *self.random.of(&["", "volatile "]);
        format!(
            "{{ {ty} m[64]; {other} z[64]; for (int n = 0; n < 64; n++) {{ m[n] = ({ty})(a[n & 15] * (unsigned)n); z[n] = ({other})(n * 5); }} \
             {quiet}{ty} *q = m + (u0 & 7); const {other} *e = z + 63 - (u1 & 7); \
             for (int n = 0; n < {turns}; n++) {{ *q = ({ty})(*q + (unsigned)*e); q += {step}; e -= {step}; \
             if (*e & 1) w{which} += (word)*q++; }} \
             for ({ty} *x = m; x < m + (u0 & 63); x++) u{which} = u{which} * 5u + (unsigned)*x; i{which} ^= (int)(e - z); }}"
        )
    }

    /// A switch in a case of another in a loop, with ways on to the next case, out of it, and to the next turn.
    fn nested_cases(&mut self, which: usize) -> String {
        let mut end = || *self.random.of(&["break;", "", "continue;", "break;"]);
        let (first, second, third, fourth) = (end(), end(), end(), end());
        let turns = *self.random.of(&["16", "5", "(int)(u1 & 15)"]);
        let value = *self.random.of(&["a[n] & 7", "(a[n] ^ u0) % 7u", "(unsigned)t + a[n]"]);
        format!(
            "for (int n = 0; n < {turns}; n++) {{ u1 += 3u; switch ({value}) {{ case 0: u{which} ^= 5u; {first} \
             case 1: switch ((a[(n + 1) & 15] >> 3) & 3) {{ case 0: u0 += 7u; {second} case 1: u0 *= 3u; default: i0 ^= n; {third} \
             case 3: w0 += u0; }} a[n & 15] += 9u; {fourth} case 2: u{which} -= a[(n * 3) & 15]; break; \
             case 4: if (u0 & 4) continue; a[2] ^= u1; default: w1 = w1 * 3u + (word)n; }} u0 ^= u{which} >> 3; }}"
        )
    }

    /// Constants that a switch chooses, one or two at a time.
    fn constants(&mut self, which: usize) -> String {
        let ty = *self.random.of(&[1usize, 4, 5, 6]);
        let value = self.integer(ty, 1);
        let mut number = || self.random.below(2000) as i64 - 1000;
        let numbers: Vec<i64> = (0..6).map(|_| number()).collect();
        let last = *self.random.of(&["default: ", "case 3: "]);
        format!(
            "{{ int x = {}; unsigned char z = 7; switch ((int)({value}) & 3) {{ case 0: x = {}; break; case 2: x = {}; z = {}; break; \
             {last}x = {}; z = {}; }} i{which} ^= x * 3; b{which} = (unsigned char)(b{which} + z); }}",
            numbers[0],
            numbers[1],
            numbers[2],
            numbers[3] & 255,
            numbers[4],
            numbers[5] & 255
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::{each_occurs, statements};

    #[test]
    fn each_shape_occurs() {
        let statements = statements((0..600).map(generate));
        let pieces = [
            "j * n + r",
            "continue; u",
            "while (0); }",
            "const short *e",
            "volatile unsigned char *q",
            "default: i0 ^= n;",
            "unsigned char z = 7;",
            "last = x /",
            "swap_two(a + n",
            "memcpy(z, m + ",
            "1664525u",
            "spread(z, z + 8",
        ];
        each_occurs(&statements, &pieces);
    }
}
