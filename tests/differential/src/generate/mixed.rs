//! What users write between the lines: conversions on the way through several assignments, operands of different types, effects in
//! conditions, signed arithmetic that stays in its range, pointers of pointers and of rows, tables, and the loops by which they
//! count bits, divide, search and check.
//!
//! Each is a statement of plain C++. [`Maker::within`] makes signed expressions, whose largest value is known.

use super::{INTEGERS, LETTERS, Maker};

impl Maker {
    pub(super) fn mixed(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(31), 1 + self.random.below(15));
        match self.random.below(17) {
            0 => self.chain(which),
            1 => {
                let (to, left, right) = (self.letter(), self.letter(), self.number());
                format!(
                    "{to}{which} = (u1 & {some}u) ? {left}0 : {left}1; d{which} = y0 ? {right} : {left}1; w{} ^= y1 ? {left}0 : {to}1;",
                    1 - which
                )
            }
            2 => {
                let (one, two, three) = (self.number(), self.number(), self.number());
                let (op, than) = (
                    *self.random.of(&["<", ">=", "==", "!="]),
                    *self.random.of(&["<=", ">", "=="]),
                );
                format!(
                    "y{which} = ({one} {op} {two}) {than} ({two} {than} {three}); u{which} += ({three} {op} {one}) + !{two};"
                )
            }
            3 => format!(
                "if (((u0 += {some}u) & {other}u && (u1 ^= u0 << 3) & 1u) || (++b{which} & 3 && !(i0 ^= {some}))) w0 += u0; else {{ u1--; y0 = !y1 && a[u0 & 15]++ > 9u; }} \
                 u{which} ^= (a[3] += u0, a[u1 & 15]) ? (u0--, u1) : u0++;"
            ),
            4 => format!(
                "for (unsigned n = 0, m = (u{which} & 15u) + 1u; n < m; n++, m -= n & 1u, u1 += m) {{ if (n == {other}u) continue; if ((a[n & 15] & 31u) == {some}u) break; a[n & 15] += m; }}"
            ),
            5 => self.signed_arithmetic(which),
            6 => self.wide_switch(which),
            7 | 8 => self.addresses(which),
            9 => self.compounds(which),
            10 => self.shifts(which),
            11 => format!(
                "{{ volatile unsigned q = u0, m[3] = {{u1, {some}u}}; volatile unsigned *e = &m[u0 % 3u]; *e += q; q = q * 3u + m[1]; for (volatile int n = 0; n < {other}; n++) m[2] ^= q >> n; \
                 volatile struct Pair o; o.third = b0; o.first = i{which}; u{which} += q + m[0] + m[2] + o.third + (unsigned)o.first; }}"
            ),
            12 | 13 => self.idiom(which),
            14 => format!(
                "{{ static const short rows[3][4] = {{{{1, -{some}, 3}}, {{{other}, 5}}, {{-7, 8, 9, 10}}}}; static const char *const names[] = {{\"grid\", \"block\", \"\", \"a\\x7f\\n\"}}; \
                 const short (*row)[4] = rows + u0 % 3u; i{which} ^= (*row)[u1 & 3u] + rows[u1 % 3u][{}]; for (const char *c = names[u{which} & 3u]; *c != '\\0'; c++) u1 = u1 * 31u + (unsigned)(*c - 'a'); \
                 u0 += (unsigned)(sizeof rows / sizeof *rows * sizeof names[0] + sizeof \"four\"); }}",
                other & 3
            ),
            // A loop that is entered in its middle.
            15 => format!(
                "{{ unsigned n = (u0 & 15u) + 1u, turns = (n + 3u) / 4u, x = u1; switch (n & 3u) {{ case 0: do {{ x = x * 3u + n; case 3: x ^= {some}u; case 2: x += a[turns & 15]; case 1: x = x << 1 | x >> 31; }} while (--turns > 0); }} u{which} ^= x; }}"
            ),
            _ => format!(
                "{{ enum {{ low = {some}, mid, high = low * 3 }}; typedef struct {{ int x; union {{ unsigned z[2]; word w; }}; }} Local; Local q = {{(int)(u0 & 63u), {{{{u1, {other}u}}}}}}, *r = &q, rows[2] = {{q}}; \
                 {{ int u0 = r->x + high; r->z[u0 & 1] += mid; }} rows[1] = *r; r->w ^= rows[0].w << {other}; u{which} += r->z[0] + rows[1].z[1] + (unsigned)(q.x > low ? mid : q.x); }}"
            ),
        }
    }

    /// A letter of an integer type.
    fn letter(&mut self) -> &'static str {
        LETTERS[self.random.below(9)]
    }

    /// A variable of any arithmetic type.
    fn number(&mut self) -> String {
        let letter = *self.random.of(&["c", "b", "s", "h", "i", "u", "l", "w", "y", "f", "d"]);
        format!("{letter}{}", self.random.below(2))
    }

    /// One value through several types.
    fn chain(&mut self, which: usize) -> String {
        let value = self.integer(7, 1);
        let (last, middle, first) = (self.letter(), self.letter(), self.letter());
        let op = *self.random.of(&["+=", "^=", "|=", "-="]);
        match self.random.below(3) {
            0 => format!("{first}{which} = {middle}0 = {last}1 = {value};"),
            1 => format!("f{which} = d0 = {last}1 = {value};"),
            _ => format!(
                "w{which} {op} {middle}0 = b1 {op} h{which} = (unsigned short)({value}); u{which} += y0 = {last}1;"
            ),
        }
    }

    /// A signed expression, and a bound that its value does not exceed.
    fn within(&mut self, limit: u64, depth: u32) -> (String, u64) {
        if depth == 0 {
            let bits = 3 + self.random.below(9);
            let (mask, half) = ((1u64 << bits) - 1, 1u64 << (bits - 1));
            let letter = *self.random.of(&["u", "i", "w", "l"]);
            let variable = format!("{letter}{}", self.random.below(2));
            return match self.random.below(4) {
                0 => (format!("({})", self.random.below(19) as i64 - 9), 9),
                1 => (format!("c{}", self.random.below(2)), 128),
                2 => (format!("(int)({variable} & {mask})"), mask),
                _ => (format!("((int)({variable} & {mask}) - {half})"), half),
            };
        }
        let (left, most) = self.within(limit, depth - 1);
        let (right, by) = self.within(limit, depth - 1);
        match self.random.below(9) {
            0 | 1 if most + by < limit => {
                let op = *self.random.of(&["+", "-"]);
                (format!("({left} {op} {right})"), most + by)
            }
            2 | 3 if most.saturating_mul(by) < limit => (format!("({left} * {right})"), most * by),
            4 => {
                let by = *self.random.of(&["3", "7", "-5", "16", "10", "-1", "1000"]);
                let op = *self.random.of(&["/", "%"]);
                (format!("({left} {op} {by})"), most)
            }
            5 => (format!("({left} / (({right} & 7) + 1))"), most),
            6 => (format!("({left} >> {})", self.random.below(7)), most),
            7 => (format!("({left} < {right} ? {left} : {right})"), most.max(by)),
            8 => (format!("(-{left})"), most),
            _ => (format!("({left} > {right})"), 1),
        }
    }

    /// Sums, products, distances and remainders of numbers with a sign, also of counters.
    fn signed_arithmetic(&mut self, which: usize) -> String {
        let (int, _) = self.within(0x7fff_0000, 3);
        let (long, _) = self.within(0x7fff_0000, 3);
        let step = 1 + self.random.below(9);
        format!(
            "{{ int x = {int}; long long z = (long long)x * 3 - {long}; for (int n = x & 15; n > -{step}; n -= {step}) z += n * (n + 1) / 2 - (x < n ? n - 3 : n % 3); \
             if (x + 1 > (int)z % 5 && x - 5 < 90) u1 += 3u; i{which} = x > 0 ? -x / 3 : x >> 2; l{which} = z; }}"
        )
    }

    /// Cases that are negative, far apart, and of other types than `int`.
    fn wide_switch(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(100), 1 + self.random.below(100));
        match self.random.below(3) {
            0 => format!(
                "switch ((l{which} & 3) * 0x100000001ll - {some}) {{ case -{some}ll: u0 += 5u; break; case 0x100000001ll - {some}: u1 ^= u0; case 9223372036854775807ll: w0++; break; default: u{which} -= {other}u; }}"
            ),
            1 => format!(
                "switch ((signed char)(u{which} & 0x83u)) {{ case -128: u0 ^= {some}u; break; case -127: case -126: u1 += {other}u; break; case 'b' - 'a': {{ unsigned q = u0; u0 = u1; u1 = q; }} break; case -1: u0++; default: w1 ^= u0; break; case 2: if (u0 & 1u) break; u1 = 7u; }}"
            ),
            _ => format!(
                "switch (u{which} % 300u) {{ case 0: case 17: u0 += 1u; break; case 150: case 151: case 152: case 153: u1 *= 3u; break; case 299: w0 ^= 5u; break; case {}: u0 = ~u0; break; default: if (u{which} % 300u > {other}u) u1 ^= {other}u; }}",
                300 + some
            ),
        }
    }

    /// Pointers to rows and to pointers, differences, comparisons, and addresses as numbers.
    fn addresses(&mut self, which: usize) -> String {
        let (some, other) = (self.random.below(16), 1 + self.random.below(15));
        match self.random.below(5) {
            0 => format!(
                "{{ unsigned (*rows)[4] = (unsigned (*)[4])a, *end = &a[16], *q = a + {some}; rows[u0 & 3u][u1 & 3u] ^= 9u; for (q = end - 1; q >= a + {other}; --q) u{which} += *q * (unsigned)(end - q); \
                 (*(rows + 1))[2] = (unsigned)(&rows[3][1] - a); }}"
            ),
            1 => format!(
                "{{ unsigned m[2][3][2] = {{{{{{u0, 1}}, {{2}}}}, {{{{{some}, u1}}}}}}, (*q)[3][2] = m + (u0 & 1u), (*z)[2] = *q; z[1][u1 & 1u] += {other}u; q = m; for (unsigned n = 0; n < 12u; n++) u{which} = u{which} * 3u + q[n / 6u][n / 2u % 3u][n & 1u]; }}"
            ),
            2 => format!(
                "{{ void *q = u0 & 1u ? (void *)&w{which} : (void *)&w{}; *(word *)q += {some}u; const void *z = &w0; unsigned long long where = (unsigned long long)q; \
                 y{which} = q == z && where % 8u == {}u; u1 ^= (unsigned)((char *)(where + (u0 & 7u)) - (char *)q); }}",
                1 - which,
                other & 1
            ),
            3 => format!(
                "{{ unsigned *list[4] = {{a, a + {some}, &u{which}, 0}}, **q = list; while (*q) **q++ += {other}u; u1 += (unsigned)(q - list) + (list[3] == nullptr) + (unsigned)(list[1] >= list[0]); \
                 const unsigned *const *z = list + 1; u0 ^= z[-1][{some}] + (*z)[0]; }}"
            ),
            _ => format!(
                "{{ struct Outer m[2] = {{}}; struct Inner *q = m[u0 & 1u].in + 1; short *z = &q->a[u1 % 3u]; *z = (short){some}; z = m[1].in[0].a; *(z + 2) -= 3; m[0].both.b[u1 & 3u] |= {other}; \
                 u{which} += sum_of(m) * 5u + sum_of(&m[1]); }}"
            ),
        }
    }

    /// Assignments that compute in another type than that of their place.
    fn compounds(&mut self, which: usize) -> String {
        let mut text = String::new();
        for _ in 0..2 + self.random.below(3) {
            text += *self.random.of(&[
                "f0 *= i0; ",
                "d0 += u1; ",
                "f1 -= b0; ",
                "d1 /= (int)b1 - 7; ",
                "h0 <<= 3; ",
                "b0 >>= 1; ",
                "w0 *= c0; ",
                "u0 *= s0; ",
                "w0 /= b0 | 1u; ",
                "h1 %= b0 | 1; ",
                "y0 |= u0 > 3; ",
                "y1 += 5; ",
                "l0 ^= i0; ",
                "u0 <<= b0 & 31; ",
                "b1 *= h0; ",
                "s0 *= c1; ",
                "c0 -= h0; ",
                "u1 -= c0; ",
                "w1 += s1; ",
                "h0 ^= l0; ",
                "s1 >>= u0 & 15; ",
                "i1 >>= w0 & 31; ",
                "l1 >>= b1 & 63; ",
                "u1 |= c1; ",
                "w0 &= i1; ",
                "u0 += u1 += b0 += h1; ",
                "c1 = -c1; ",
                "s0 = ~s0; ",
                "i0 = !i1 + ~c0; ",
                "h0 = -h0 * 3; ",
                "d0 = 1u - 2u + (s0 - h0); ",
                "f0 = (float)u0 + l0; ",
                "y0 = f0; ",
            ]);
        }
        let (ty, unsigned, _) = INTEGERS[self.random.below(8)];
        text + &format!("u{which} ^= (unsigned)({ty})({unsigned})(c0 + h0 * 3);")
    }

    /// Rotations, words of halves, and signs by shifts.
    fn shifts(&mut self, which: usize) -> String {
        let by = 1 + self.random.below(31);
        match self.random.below(6) {
            0 => format!("{{ unsigned n = u1 & 63u; w{which} = w{which} << n | w{which} >> (-n & 63u); w0 = w0 >> {by} | w0 << {}; }}", 64 - by),
            1 => format!("{{ unsigned n = u1 & 31u; u{which} = u{which} >> n | u{which} << ((32u - n) & 31u); h0 = h0 << {} | h0 >> {}; b0 = b0 << 3 | b0 >> 5; }}", by & 7, 16 - (by & 7)),
            2 => format!("i{which} = (int)(u0 << {by}) >> {by}; l{which} = (long long)(w1 << {by}) >> {}; s0 = (short)((int)(u1 << 20) >> 20);", by + 7),
            3 => "u0 = (u0 & 0xffu) << 24 | (u0 & 0xff00u) << 8 | (u0 >> 8 & 0xff00u) | u0 >> 24; w1 = (w1 & 0x00ff00ff00ff00ffull) << 8 | (w1 >> 8 & 0x00ff00ff00ff00ffull);".into(),
            4 => format!("{{ word x = (word)u0 << 32 | u1; unsigned char m[8]; for (int n = 0; n < 8; n++) m[n] = (unsigned char)(x >> (8 * n)); w{which} ^= m[7] | m[6] << 8 | m[5] << 16 | (word)m[0] << {by} | (word)m[1] << 40; }}"),
            _ => format!("{{ word x = ((word)u0 * u1 >> {by}) + ((word)(unsigned)i0 << {by}); u{which} += (unsigned)(x >> 32) ^ (unsigned)x; l0 = (long long)i0 * i1 >> {by}; w1 = (x & ~(1ull << {by})) | (word)(u0 >> 31) << {by}; }}"),
        }
    }

    /// Loops of few lines that compilers know.
    fn idiom(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(31), 2 + self.random.below(15));
        let body = *self.random.of(&[
            "while (x) { x &= x - 1u; z++; }",
            "while (x >>= 1) z++;",
            "for (int n = 0; n < 32; n++) { z = z << 1 | (x & 1u); x >>= 1; }",
            "while (y) { unsigned r = x % y; x = y; y = r; } z = x;",
            "for (int n = 15; n >= 0; n--) { unsigned c = z | 1u << n; if ((word)c * c <= x) z = c; }",
            "for (int n = 0; n < 32; n++) z = (z >> 1) ^ ((z ^ x >> n) & 1u ? 0xedb88320u : 0u);",
            "{ unsigned b = x; z = 1u; for (unsigned e = y & 31u; e; e >>= 1) { if (e & 1u) z *= b; b *= b; } }",
            "{ unsigned lo = 0, hi = 16; while (lo < hi) { unsigned m = (lo + hi) / 2u; if (a[m] < x) lo = m + 1u; else hi = m; } z = lo; }",
            "z = x + y < x ? ~0u : x + y; x = x < y ? 0u : x - y;",
            "{ int n = (int)x; z = (unsigned)((n > 0) - (n < 0)); x = n < 0 ? 0u - (unsigned)n : (unsigned)n; }",
            "{ unsigned u = 0, v = 1; for (unsigned n = y & 31u; n > 0; n--) { unsigned t = u + v; u = v; v = t; } z = u; }",
            "{ char text[12]; int n = 12; do text[--n] = (char)('0' + x % 10u); while (x /= 10u); while (n < 12) z = z * 37u + (unsigned)text[n++]; }",
            "for (int n = 0; n < 16; n++) { if (a[n] > z) z = a[n]; if (a[n] < x) x = a[n]; }",
            "{ unsigned best = 0; for (unsigned n = 1; n < 16u; n++) if (a[n] > a[best]) best = n; z = best; x = a[best]; }",
            "for (int n = 0, m = 15; n < m; n++, m--) { unsigned t = a[n]; a[n] = a[m]; a[m] = t; }",
            "{ unsigned n = 0; for (unsigned m = 0; m < 16u; m++) if (a[m] & 1u) a[n++] = a[m]; z = n; }",
            "for (int n = 1; n < 16; n++) a[n] = a[n - 1] * 2u + a[n] - (n > 1 ? a[n - 2] : 0u);",
            "do { z += x & 7u; if (z > 100u) break; x = x % 2u ? x * 3u + 1u : x / 2u; } while (x > 1u && z < 90u);",
            "{ word p = (word)x * y; z = (unsigned)(p % 1000003u) + (unsigned)(p / 641u); }",
            "{ unsigned d = y | 1u, q = 0, r = 0; for (int n = 31; n >= 0; n--) { r = r << 1 | (x >> n & 1u); if (r >= d) { r -= d; q |= 1u << n; } } z = q ^ r; }",
            "{ unsigned short lo = (unsigned short)x, hi = (unsigned short)(x >> 16); z = (unsigned)lo * hi; lo += hi; x = lo; }",
        ]);
        format!(
            "{{ unsigned x = u{which} + {some}u, y = u1 & 0x{other}ffu, z = 0; {body} u{which} ^= x * 3u + z; }}"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::{each_occurs, statements};

    #[test]
    fn each_kind_occurs() {
        let statements = statements((0..600).map(generate));
        let pieces = [
            " ? (u0--, u1) : u0++;",
            "volatile struct Pair o",
            "const short (*row)[4]",
            "case 3: x ^=",
            "typedef struct {",
            "case 9223372036854775807ll:",
            "(signed char)(u",
            "unsigned (*rows)[4]",
            "(*q)[3][2]",
            "unsigned *list[4]",
            "0xedb88320u",
            "u0 += u1 += b0 += h1;",
            "int n = x & 15; n > -",
        ];
        each_occurs(&statements, &pieces);
    }
}
