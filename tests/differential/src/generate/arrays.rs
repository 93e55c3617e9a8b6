//! Kernels that go through arrays in global memory: maps, neighbours, products, running values, searches, gathered and
//! scattered elements, vectors of elements, rows that overlap, in elements of all types.
//!
//! One block fills three arrays, and goes on in parts between barriers; in a part each element of the result belongs to
//! one thread. Floating elements are small and added in one order.

use super::Maker;
use super::launch::{Kernel, SLOT_WORDS};

/// Elements of each array.
const ELEMENTS: u32 = 256;

/// Types of elements.
const TYPES: [&str; 10] = [
    "unsigned char",
    "signed char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long long",
    "word",
    "float",
    "double",
];

fn is_floating(ty: &str) -> bool {
    matches!(ty, "float" | "double")
}

/// An element of a type as a number of the type that computes; one below zero has no value in types without a sign.
fn element(sum: &str, ty: &str, place: &str) -> String {
    let by_way_of = if is_floating(ty) && !is_floating(sum) { "(int)" } else { "" };
    format!("({sum}){by_way_of}{place}")
}

/// The arrays of a kernel: types of what is read, of what is read beside, and of the result.
struct Arrays {
    name: String,
    read: &'static str,
    beside: &'static str,
    result: &'static str,
    /// The type that computes.
    sum: &'static str,
}

impl Maker {
    /// The threads of the kernel's block, and its text.
    pub(super) fn array_kernel(&mut self, slot: usize) -> (u32, Kernel) {
        let mut ty = || *self.random.of(&TYPES);
        let (read, beside, result) = (ty(), ty(), ty());
        let sum = match result {
            "float" | "double" => *self.random.of(&["float", "double", "unsigned"]),
            _ => *self.random.of(&["unsigned", "unsigned", "word"]),
        };
        let arrays = Arrays { name: format!("{}_{slot}", self.seed), read, beside, result, sum };
        let threads = *self.random.of(&[32, 40, 64, 96, 128]);
        let mut head = format!(
            "__device__ {read} read_{name}[{ELEMENTS}];\n__device__ {beside} beside_{name}[{ELEMENTS}];\n__device__ {result} result_{name}[{ELEMENTS}];\n",
            name = arrays.name
        );
        let count = 1 + self.random.below(4);
        let mut parts = Vec::new();
        for part in 0..count {
            let (function, call) = self.part(&arrays, part);
            head += &function;
            parts.push(call);
        }
        let (number, shift) = (1 + self.random.below(99), self.random.below(24));
        let filled = |ty: &str, array: &str, by: &str| {
            let cast = if is_floating(ty) {
                format!("(({ty})({by} & 63u) - 20)")
            } else {
                format!("({ty})({by})")
            };
            format!("{array}_{}[k] = {cast};", arrays.name)
        };
        head += &format!(
            "__global__ void step_{name}(word *out, unsigned salt, int n)
{{
    const unsigned t = threadIdx.x, size = blockDim.x;
    for (unsigned k = t; k < {ELEMENTS}u; k += size) {{ {} {} {} }}
    __syncthreads();
",
            filled(read, "read", &format!("(k * 2654435761u ^ salt) >> {shift}")),
            filled(beside, "beside", &format!("k * {number}u + salt")),
            filled(result, "result", "k"),
            name = arrays.name
        );
        let shown =
            if is_floating(result) { "bits_of(result_NAME[k])" } else { "(word)result_NAME[k]" };
        let tail = format!(
            "    word mix = 0;\n    for (unsigned k = t; k < {ELEMENTS}u; k += size) mix = mix * 31u + {};\n    atomicAdd(&out[t & {}u], mix);\n}}\n",
            shown.replace("NAME", &arrays.name),
            SLOT_WORDS - 1
        );
        (threads, Kernel { head, parts, tail })
    }

    /// A function of a part, and the lines that call it.
    fn part(&mut self, arrays: &Arrays, part: usize) -> (String, String) {
        let Arrays { name, read, beside, result, .. } = arrays;
        let inlined = *self.random.of(&["__noinline__ ", "", "", "__forceinline__ "]);
        let body = self.body(arrays);
        // Where a thread's rows overlap nothing may be promised.
        let apart = if body.contains("to + ") {
            ""
        } else {
            *self.random.of(&["__restrict__ ", "__restrict__ ", ""])
        };
        let function = format!(
            "__device__ {inlined}static void part_{name}_{part}(const {read} *{apart}in, const {beside} *{apart}by, {result} *{apart}to, int n, unsigned t, unsigned size)\n{{\n    {body}\n}}\n"
        );
        let n = *self.random.of(&["256", "n", "n", "n - 7", "255", "(int)(salt & 127u)"]);
        (
            function,
            format!(
                "    part_{name}_{part}(read_{name}, beside_{name}, result_{name}, {n}, t, size); __syncthreads();\n"
            ),
        )
    }

    /// An index that stays inside.
    fn index(&mut self) -> String {
        let k = 1 + self.random.below(15);
        match self.random.below(9) {
            0 | 1 => "k".into(),
            2 => format!("(k + {k}) & 255"),
            3 => format!("k * {k} & 255"),
            4 => "255 - k".into(),
            5 => format!("k / {}", k + 1),
            6 => format!("k % {}", k + 1),
            7 => "k ^ 1".into(),
            _ => "k > 0 ? k - 1 : 0".into(),
        }
    }

    /// A number made of two elements.
    fn combined(&mut self, arrays: &Arrays) -> String {
        let (one, two) = (self.index(), self.index());
        let (left, right) = (
            element(arrays.sum, arrays.read, &format!("in[{one}]")),
            element(arrays.sum, arrays.beside, &format!("by[{two}]")),
        );
        let k = 1 + self.random.below(15);
        if is_floating(arrays.sum) {
            return match self.random.below(4) {
                0 => format!("{left} * {right}"),
                1 => format!("({left} - {right}) * 0.5f"),
                2 => format!("({left} < {right} ? {left} : {k}.0f + {right})"),
                _ => format!("{left} + (k & 1 ? {right} : 0)"),
            };
        }
        match self.random.below(8) {
            0 => format!("{left} * {right}"),
            1 => format!("({left} ^ {right}) + {k}u"),
            2 => format!("{left} / ({right} % 11u + 1u)"),
            3 => format!("({left} > {right} ? {left} - {right} : {k}u)"),
            4 => format!("({left} << ({right} & 7u) | {left} >> {k})"),
            5 => format!("{left} % {}u * {right}", k + 1),
            6 => format!("({left} & 1u ? {right} : {left})"),
            _ => format!("{left} / {}u + {right}", k + 1),
        }
    }

    /// What a thread does with its elements.
    fn body(&mut self, arrays: &Arrays) -> String {
        let Arrays { read, beside, result, sum, .. } = arrays;
        let element_in = |index: &str| element(sum, read, &format!("in[{index}]"));
        let element_by = |index: &str| element(sum, beside, &format!("by[{index}]"));
        let add = |to: &str, what: &str| match is_floating(result) {
            true => format!("{to} += ({result})({what});"),
            false => format!("{to} = ({result})((word){to} + (word)({what}));"),
        };
        let each = match self.random.below(3) {
            0 => "for (int k = (int)t; k < n; k += (int)size)".to_owned(),
            1 => "for (unsigned k = t; k < (unsigned)(n < 0 ? 0 : n); k += size)".to_owned(),
            _ => "for (int k = (int)t * 8; k < (int)t * 8 + 8 && k < n; k++)".to_owned(),
        };
        let unrolled = *self.random.of(&[
            "",
            "",
            "",
            "\n    #pragma unroll 4\n    ",
            "\n    #pragma unroll 1\n    ",
            "\n    #pragma unroll\n    ",
        ]);
        let (value, k, turns) =
            (self.combined(arrays), 1 + self.random.below(15), 2 + self.random.below(9));
        let limit =
            self.random.of(&[turns.to_string().as_str(), "(n & 15)", "(int)(t & 7u)"]).to_string();
        let (moving, still) = (element_in("m + k & 255"), element_by("m"));
        match self.random.below(13) {
            0 => format!("{unrolled}{each} to[k] = ({result})({value});"),
            1 => format!("{each} {{ if (k % {} == 1) continue; {} }}", k + 1, add("to[k]", &value)),
            2 => format!(
                "{each} {{ {sum} q = 0; {unrolled}for (int m = 0; m < {limit}; m++) q += {moving} * {still}; to[k] = ({result})q; }}"
            ),
            3 => format!(
                "{each} {{ int r = (int)k / 16, c = (int)k % 16; {sum} q = 0; {unrolled}for (int m = 0; m < 16; m++) q += {} * {}; to[k] = ({result})q; }}",
                element_in("r * 16 + m"),
                element_by("m * 16 + c")
            ),
            4 => format!(
                "{each} {{ {sum} q = {}; if (k > 0 && k < 255) q = q * {k} - {} - {}; to[k] = ({result})(q + {}); }}",
                element_in("k"),
                element_in("k - 1"),
                element_in("k + 1"),
                element_by("k")
            ),
            5 => format!("{{ {sum} q = 0; {each} {{ q += {value}; to[k] = ({result})q; }} }}"),
            6 => format!(
                "{each} {{ {beside} best = by[k]; int at = (int)k; for (int m = (int)k; m < {ELEMENTS}; m++) {{ if (by[m] > best) {{ best = by[m]; at = m; }} if (m - (int)k > {limit}) break; }} to[k] = ({result})({} + ({sum})at); }}",
                element(sum, beside, "best")
            ),
            7 => format!(
                "{each} {{ int m = (int)in[k] & 255; to[k] = ({result})({} + {}); }}",
                element_by("m"),
                element_in(&format!("(m + {k}) & 255"))
            ),
            8 => format!("{each} to[(unsigned)k * {}u & 255u] = ({result})({value});", 2 * k + 1),
            9 => format!(
                "{{ {result} *row = to + t % 32u * 8u; const {result} *from = row; if (t < 32u) {{ {unrolled}for (int m = 0; m < 7; m++) {{ {} if (in[m] == ({read})0) {} }} }} }}",
                add("row[m + 1]", "from[m]"),
                add("row[m]", "1")
            ),
            10 => format!(
                "{each} {{ unsigned lo = 0, hi = (unsigned)(n & 127) + 1u; while (lo < hi) {{ unsigned m = (lo + hi) / 2u; if (by[m] < by[k]) lo = m + 1u; else hi = m; }} to[k] = ({result})lo; }}"
            ),
            11 => format!(
                "for (unsigned k = t; k < 64u; k += size) {{ unsigned q; memcpy(&q, (const unsigned char *)by + k * 4u, 4); q += {k}u; unsigned z[4] = {{q & 255u, q >> 8 & 255u, q >> 16 & 255u, q >> 24}}; for (unsigned m = 0; m < 4u; m++) to[k * 4u + m] = ({result})(z[m] + (unsigned)(long long)in[m]); }}"
            ),
            _ => format!(
                "{each} {{ {sum} q[4] = {{}}; {unrolled}for (int m = 0; m < {turns}; m++) q[m & 3] += {moving} + ({sum})m; for (int m = 0; m < 4; m++) q[0] += q[m] * {k}; to[k] = ({result})(q[0]); }}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::each_occurs;

    #[test]
    fn each_kind_of_part_occurs() {
        let kernels: Vec<String> = (0..800)
            .map(generate)
            .flat_map(|program| program.launches)
            .filter_map(|launch| launch.kernel.map(|kernel| kernel.text()))
            .collect();
        let pieces = [
            "to[k] += (",
            "(word)to[k] +",
            "* (unsigned)by[m]",
            "by[m * 16 + c]",
            "in[k - 1]",
            "to[k] = (double)q;",
            "best = by[m]",
            "int m = (int)in[k] & 255",
            "& 255u] = (",
            "*from = row",
            "lo = m + 1u",
            "(const unsigned char *)by + k",
            "q[m & 3] +=",
            "__restrict__ to",
            "#pragma unroll 4",
            "k < (int)t * 8 + 8",
        ];
        each_occurs(&kernels.join("\n"), &pieces);
    }
}
