//! Statements, each of which can be left out.

use super::{INTEGERS, LETTERS, Maker};

impl Maker {
    /// A statement; `uniform` where all threads of the block come.
    pub(super) fn statement(&mut self, depth: u32, uniform: bool) -> String {
        let ty = self.random.below(9);
        let which = self.random.below(2);
        let value = self.integer(ty, 2);
        match self.random.below(if depth == 0 { 22 } else { 36 }) {
            0 | 1 => format!("{}{which} = {value};", LETTERS[ty]),
            2 => format!("f{which} = {};", self.float(false, 2)),
            3 => format!("d{which} = {};", self.float(true, 2)),
            4 => format!("a[(unsigned)({value}) & 15] ^= u{which};"),
            5 => self.field(),
            6 => match self.random.below(4) {
                0 => format!("v.u = {};", self.integer(5, 2)),
                1 => format!("v.s[u{which} & 1] = (short)({value});"),
                2 => format!("p = swapped(p, i{which});"),
                _ => format!("bump(u{which}, (unsigned)({value}));"),
            },
            7 => self.compound(&value, which),
            8 => self.pointer(&value, which),
            9 => self.wide(which),
            10 => self.record(which),
            11 => self.calls(which),
            12 if !self.plain => self.half(which),
            13 if !self.plain => self.vector(which),
            16 | 18 | 19 if !self.plain => self.device(which, uniform),
            12 | 13 => format!("u{which} = u{which} * 9u + (unsigned)({value});"),
            14..=16 => self.kinds(which),
            17 | 18 => self.of_records(which),
            19..=21 => self.mixed(which),
            22 => self.cases(which, depth),
            23 | 24 => {
                let (then, other) =
                    (self.statement(depth - 1, false), self.statement(depth - 1, false));
                format!("if ({value}) {{ {then} }} else {{ {other} }}")
            }
            25..=27 => self.repeated(depth, uniform, &value),
            28 => self.over_array(which),
            29 => {
                let (one, two) =
                    (self.statement(depth - 1, false), self.statement(depth - 1, false));
                format!(
                    "switch ((int)({value}) & 3) {{ case 0: {one} break; case 2: {two} default: u0 ^= 5u; }}"
                )
            }
            30 => self.jump(depth, &value),
            31 | 32 => self.work(which),
            33 | 34 => self.loops(which),
            _ if self.plain || !uniform => format!("u{which} ^= deep(u0 & 5, u1);"),
            _ => self.together(which),
        }
    }

    fn field(&mut self) -> String {
        let field = *self.random.of(&["a", "b", "c", "d", "e", "f"]);
        let bits = self.integer(5, 2);
        let mask = if field == "b" { "1023" } else { "0xffffffffu" };
        match self.random.below(4) {
            0 => format!("r.{field} ^= ({bits}) & 15;"),
            1 if field != "b" && field != "f" => format!("r.{field}++;"),
            _ => format!("r.{field} = ({bits}) & {mask};"),
        }
    }

    /// An assignment that converts by itself, of types where it cannot overflow.
    fn compound(&mut self, value: &str, which: usize) -> String {
        let ty = *self.random.of(&[0usize, 1, 2, 3, 5, 7]);
        let place = format!("{}{which}", LETTERS[ty]);
        let op = *self.random.of(&["+=", "-=", "^=", "|=", "&="]);
        let cast = INTEGERS[ty].0;
        match self.random.below(4) {
            0 => format!("{place}{};", self.random.of(&["++", "--"])),
            1 => format!("u{} {op} {}{place};", 1 - which, self.random.of(&["++", "--"])),
            _ => format!("{place} {op} ({cast})({value});"),
        }
    }

    /// Places that are reached through addresses.
    fn pointer(&mut self, value: &str, which: usize) -> String {
        match self.random.below(6) {
            0 => format!(
                "{{ unsigned *q = {value} ? &a[u{which} & 15] : &u0; *q = *q * 3u + u1; a[3] += u0; }}"
            ),
            1 => "{ struct Pair *q = &p; q->first ^= (int)u0; q->third++; w0 += q->third; }".into(),
            2 => format!(
                "{{ const unsigned char *q = (const unsigned char *)&w{which}; u{which} += q[u1 & 7]; }}"
            ),
            3 => format!("g[(unsigned)({value}) & 3] += w{which};"),
            4 => format!(
                "{{ word *q = g + (u{which} & 1); q[2] = q[0] ^ (word)({value}); w1 += g[2]; }}"
            ),
            _ => format!(
                "{{ int m[3][2] = {{{{1, 2}}, {{i0, 4}}}}; m[u{which} % 3][i1 & 1] ^= 9; \
                 for (int n = 0; n < 6; n++) u0 = u0 * 7u + (unsigned)m[n / 2][n % 2]; }}"
            ),
        }
    }

    /// Loops with known and unknown numbers of turns.
    fn repeated(&mut self, depth: u32, uniform: bool, value: &str) -> String {
        let turns = 1 + self.random.below(6);
        match self.random.below(5) {
            0 | 1 => {
                let body = self.statement(depth - 1, uniform);
                let leave = if uniform { "" } else { " if (u1 & 1) break;" };
                format!("for (int n = 0; n < {turns}; n++) {{ {body} u1 += n;{leave} }}")
            }
            2 => {
                let body = self.statement(depth - 1, false);
                let step = 1 + self.random.below(3);
                format!(
                    "for (int n = i0 & 3, last = (int)(u1 & 15); n < last; n += {step}) {{ {body} w1 += (word)n * n; }}"
                )
            }
            3 => {
                let body = self.statement(depth - 1, false);
                format!(
                    "{{ int n = 0; while (n < {turns} && ({value})) {{ n++; if (u0 & 8) continue; {body} }} }}"
                )
            }
            _ => {
                let body = self.statement(depth - 1, false);
                format!("{{ int n = (int)(u1 & 3); do {{ {body} u0 += 3u; }} while (n-- > 0); }}")
            }
        }
    }

    /// A loop whose turns follow from each other through the array.
    fn over_array(&mut self, which: usize) -> String {
        let (shift, step) = (self.random.below(8), 1 + self.random.below(4));
        let limit = *self.random.of(&["8", "(int)(u1 & 7) + 1", "(i0 & 7)", "5"]);
        match self.random.below(4) {
            0 => format!(
                "for (int n = 0; n < {limit}; n++) a[n + {shift}] = a[n + (i{which} & 7)] * 5u + (unsigned)n;"
            ),
            1 => format!(
                "for (int n = {limit} - 1; n >= 0; n -= {step}) {{ u{which} += a[n + {shift}] >> n; if (a[n] & 1) w0++; }}"
            ),
            2 => format!(
                "for (int n = 0; n < {limit}; n += {step}) f{which} = f{which} * 0.5f + (float)(int)(a[n] & 0xffff);"
            ),
            _ => format!(
                "for (unsigned n = 0; n < 4u; n++) for (int m = 0; m < {limit}; m++) a[n * 2 + m] ^= table[m + {shift}] + n;"
            ),
        }
    }

    /// A jump back or ahead.
    fn jump(&mut self, depth: u32, value: &str) -> String {
        self.labels += 1;
        let label = self.labels;
        let body = self.statement(depth - 1, false);
        match self.random.below(2) {
            0 => format!(
                "{{ int turn = 0; again{label}: {body} if (++turn < 4 && ({value})) goto again{label}; }}"
            ),
            _ => format!("{{ if ({value}) goto over{label}; {body} over{label}: u1 ^= 1u; }}"),
        }
    }

    /// What threads do together.
    fn together(&mut self, which: usize) -> String {
        let near = 1 + self.random.below(31);
        match self.random.below(14) {
            12 => format!(
                "{{ int all = 0; u{which} ^= __match_all_sync(~0u, u1 & {}, &all); i0 ^= all; __syncwarp(); }}",
                self.random.below(2)
            ),
            13 => format!(
                "f{which} = __shfl_xor_sync(~0u, f0, {near}, 8); l{which} = __shfl_up_sync(~0u, l1, {near}); s0 = (short)__shfl_sync(~0u, (int)s1, {near});"
            ),
            0 => format!("u{which} ^= __shfl_xor_sync(~0u, u0, {near});"),
            1 => format!("i{which} = __shfl_down_sync(~0u, i1, {near});"),
            2 => format!("u{which} += __ballot_sync(~0u, u1 & 1);"),
            3 => format!(
                "shared[t] = u{which}; __syncthreads(); u0 += shared[(t * 7 + {near}) & 31]; __syncthreads();"
            ),
            4 => format!("w{which} = __shfl_sync(~0u, w0, (int)(u0 & 31));"),
            5 => format!("d{which} = __shfl_up_sync(~0u, d0, {near}, 16);"),
            6 => format!(
                "y{which} = {}(~0u, u0 & 2);",
                self.random.of(&["__any_sync", "__all_sync"])
            ),
            7 => format!("u{which} += __match_any_sync(~0u, u1 & 3);"),
            8 => {
                let op = *self.random.of(&["add", "min", "max", "and", "or", "xor"]);
                format!("u{which} ^= __reduce_{op}_sync(~0u, u0);")
            }
            9 => {
                let op = *self.random.of(&[
                    "__syncthreads_count",
                    "__syncthreads_or",
                    "__syncthreads_and",
                ]);
                format!("i{which} += {op}(u1 & 1);")
            }
            10 => {
                let op = *self.random.of(&["Add", "Min", "Max", "And", "Or", "Xor"]);
                let (ty, cast) = *self.random.of(&[("u", "unsigned"), ("i", "int")]);
                format!(
                    "__syncthreads(); if (t == 0) shared[5] = 77; __syncthreads(); \
                     atomic{op}(({cast} *)&shared[5], {ty}{which}); __syncthreads(); w0 += shared[5]; __syncthreads();"
                )
            }
            _ => format!(
                "__syncthreads(); if (t == 0) shared[0] = 3; __syncthreads(); \
                 atomicAdd(&shared[0], u{which}); __syncthreads(); w0 += shared[0]; __syncthreads();"
            ),
        }
    }
}
