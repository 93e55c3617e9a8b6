//! Values of further types: 128 bits, records of records, vectors, half precision, bytes, functions.

use super::Maker;

/// Operations of half precision that round to nearest: names without the rounding, and their arguments.
const HALVES: [(&str, usize); 4] =
    [("__hadd_rn", 2), ("__hsub_rn", 2), ("__hmul_rn", 2), ("__hfma", 3)];

/// The same on two lanes at once.
const PAIRS: [(&str, usize); 4] =
    [("__hadd2_rn", 2), ("__hsub2_rn", 2), ("__hmul2_rn", 2), ("__hfma2", 3)];

impl Maker {
    /// Integers of 128 bits.
    pub(super) fn wide(&mut self, which: usize) -> String {
        let (signed, unsigned) = (self.integer(6, 1), self.integer(7, 1));
        match self.random.below(7) {
            0 => format!(
                "{{ unsigned __int128 q = (unsigned __int128)({unsigned}) * w{which} + w1; w0 ^= (word)q; w1 += (word)(q >> 64); }}"
            ),
            1 => format!(
                "{{ __int128 q = (__int128)((unsigned __int128)({unsigned}) << 64 | w1); q >>= u{which} & 127; \
                 l{which} ^= (long long)q ^ (long long)(q >> 64); }}"
            ),
            2 => format!(
                "{{ unsigned __int128 q = (unsigned __int128)w0 << 64 | w1, by = (unsigned __int128)({unsigned}) + 1; \
                 w0 = (word)(q / by); w1 ^= (word)(q % by); }}"
            ),
            3 => format!(
                "{{ __int128 q = (__int128)l0 * l1, by = ({signed}) | 1; l{which} ^= (long long)(q / by) ^ (long long)(q % by); }}"
            ),
            4 => format!("y{which} = (__int128)l0 * l1 < (__int128)l1 - (__int128)({signed});"),
            5 => format!(
                "{{ unsigned __int128 q = (unsigned __int128)w0 * ({unsigned}); f{which} = (float)(q >> 1); \
                 d{which} += (double)(__int128)(q << (u1 & 31)); }}"
            ),
            _ => format!(
                "{{ unsigned __int128 q = ({unsigned}); q = (q << (u0 & 127)) - (q << 3) + ~q; \
                 u{which} ^= (unsigned)(q >> 90) + (unsigned)q; }}"
            ),
        }
    }

    /// Records in records, as values, by address and by reference.
    pub(super) fn record(&mut self, which: usize) -> String {
        let value = self.integer(4, 1);
        let outer =
            "struct Outer o = {{{{1, 2, (short)i0}, b0}, {{(short)s1, 6, 7}, 8}}, {u1}, d0}";
        match self.random.below(6) {
            0 => format!(
                "{{ {outer}; struct Outer z = turned(o, {value}); u{which} += sum_of(&z) ^ sum_of(&o); }}"
            ),
            1 => format!(
                "{{ {outer}, z; z = o; z.in[u0 & 1].a[u1 % 3] ^= 55; stir(o, i{which}); z.both.b[2] = o.in[1].b; \
                 u{which} ^= sum_of(&o) + sum_of(&z); d1 = z.d; }}"
            ),
            2 => format!(
                "{{ struct Inner m[3] = {{{{{{1, 2, 3}}, 4}}, {{{{(short)({value}), 5, 6}}, 7}}}}; m[u0 % 3] = m[1]; \
                 const struct Inner *q = m + 2; i{which} ^= q->a[0] + q->a[i1 & 1] * 3 + m[0].b; }}"
            ),
            3 => format!(
                "{{ unsigned char m[16]; memset(m, (int)(u0 & 255), sizeof m); memcpy(m + 1, &w{which}, 8); memcpy(m + 9, &f0, 4); \
                 if (f0 == f0) for (int n = 0; n < 16; n++) u{which} = u{which} * 31u + m[n]; }}"
            ),
            4 => format!(
                "{{ const char *q = (unsigned)({value}) & 1 ? \"launch\" : \"a grid\"; while (*q) u{which} = u{which} * 33u + (unsigned char)*q++; }}"
            ),
            _ => format!(
                "{{ struct Pair m[2] = {{p, {{{value}, d1, 9}}}}, *q = u0 & 1 ? m : m + 1; p = *q; q->third ^= b{which}; u1 += m[0].third; }}"
            ),
        }
    }

    /// Calls: through pointers, of functions that call each other, with many arguments.
    pub(super) fn calls(&mut self, which: usize) -> String {
        let value = self.integer(5, 1);
        match self.random.below(4) {
            0 => format!(
                "{{ unsigned (*pick[3])(unsigned, unsigned) = {{deep, odd, even}}; u{which} ^= pick[u1 % 3](u0 & 7, {value}); }}"
            ),
            1 => format!("u{which} += even({value} & 15, u1);"),
            2 => format!(
                "w{which} ^= many(c0, b1, s0, h1, i0, {value}, l1, w0, y0, (int)(u0 & 1), p, v);"
            ),
            _ => format!(
                "{{ unsigned q = {value}; bump(q, u1); bump(a[q & 15], q); swap_two(&u0, &a[u1 & 15]); u{which} ^= q; }}"
            ),
        }
    }

    /// A switch with many cases, of which some go on to the next.
    pub(super) fn cases(&mut self, which: usize, depth: u32) -> String {
        let value = self.integer(*[4usize, 5, 6, 1].get(which * 2).unwrap_or(&4), 1);
        let other = self.statement(depth.saturating_sub(1), false);
        let mut text = format!("switch (({value}) & 15) {{ ");
        for case in 0..12 {
            let number = case * (1 + self.random.below(2)) % 16;
            if text.contains(&format!("case {number}:")) {
                continue;
            }
            let step = self.random.below(1000);
            let end = *self.random.of(&["break;", "break;", ""]);
            text += &match self.random.below(3) {
                0 => format!("case {number}: u{which} += {step}u; {end} "),
                1 => format!("case {number}: i0 ^= {step}; w0 = w0 * 3u; {end} "),
                _ => format!("case {number}: f{which} = f0 * 0.5f + {step}.0f; {end} "),
            };
            if case == 5 {
                text += &format!("default: {other} break; ");
            }
        }
        text + "}"
    }

    /// Vector types, of which only CUDA has functions.
    pub(super) fn vector(&mut self, which: usize) -> String {
        let value = self.integer(4, 1);
        match self.random.below(7) {
            0 => format!(
                "{{ float4 q = make_float4(f0, f1, 2.0f, (float)({value})), o = q; o.x = q.w * f1; o.z += q.y; f{which} = o.x + o.z - q.z; }}"
            ),
            1 => format!(
                "{{ uchar4 q = make_uchar4(b0, b1, (unsigned char)({value}), 7); q.y += q.z; q.w = q.x >> 1; \
                 u{which} ^= q.x | q.y << 8 | q.z << 16 | (unsigned)q.w << 24; }}"
            ),
            2 => format!(
                "{{ int2 m[3] = {{{{i0, 1}}, {{{value}, 2}}, {{3, (int)u1}}}}; m[u0 % 3].y ^= i1; i{which} ^= m[u1 % 3].x ^ m[2].y; }}"
            ),
            3 => format!(
                "{{ double2 q = crossed(make_double2(d0, d1), {value}); d{which} = q.x - q.y; }}"
            ),
            4 => format!(
                "{{ longlong2 q; q.x = l0; q.y = {value}; longlong2 *z = &q; z->y ^= z->x; l{which} = q.y; }}"
            ),
            5 => format!(
                "{{ short3 q = make_short3(s0, s1, (short)({value})), *z = &q; (&z->x)[0] ^= 77; h{which} = (unsigned short)(q.x + q.y * 3 + q.z); }}"
            ),
            _ => format!(
                "shared[t] = u{which}; u1 ^= atomic{}(&shared[t], (unsigned)({value}) | 1u) + shared[t];",
                self.random.of(&["Add", "Sub", "Exch", "Inc", "Dec", "Max", "Xor"])
            ),
        }
    }

    /// Half precision and bfloat16, one value or two; the result is a float, whose NaNs are all the same.
    pub(super) fn half(&mut self, which: usize) -> String {
        let (from, to, ty) = *self.random.of(&[
            ("__float2half_rn", "__half2float", "__half"),
            ("__float2bfloat16_rn", "__bfloat162float", "__nv_bfloat16"),
        ]);
        let value = self.float(false, 1);
        let last = format!("{from}((float)(i1 & 4095))");
        match self.random.below(5) {
            0 | 1 => {
                let (name, count) = *self.random.of(&HALVES);
                let third = if count == 3 { ", o" } else { "" };
                format!(
                    "{{ {ty} q = {from}({value}), o = {last}; q = {name}(q, o{third}); f{which} = {to}(q); y0 = __hlt(q, o); }}"
                )
            }
            2 => {
                let (name, count) = *self.random.of(&PAIRS);
                let third = if count == 3 { ", o" } else { "" };
                let (two, make) = match ty {
                    "__half" => ("__half2", "__halves2half2"),
                    _ => ("__nv_bfloat162", "__halves2bfloat162"),
                };
                format!(
                    "{{ {two} q = {make}({from}({value}), {last}), o = {make}({last}, {from}(f1)); q = {name}(q, o{third}); \
                     f{which} = {to}(q.x); f0 += {to}(q.y); }}"
                )
            }
            3 => {
                let mode = *self.random.of(&["rn", "rz", "ru", "rd"]);
                format!(
                    "{{ __half q = __float2half_{mode}({value}); i{which} ^= __half2int_{mode}(q); f{which} = __half2float(q); }}"
                )
            }
            _ => format!(
                "{{ __half q = __ushort_as_half((unsigned short)(h{which} & 0x7bff)); f{which} = __half2float(__hneg(q)); \
                 h{which} = __half_as_ushort(__int2half_rn(i0 & 0xffff)); }}"
            ),
        }
    }
}
