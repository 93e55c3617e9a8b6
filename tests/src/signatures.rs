//! A generated family of programs: kernels with random signatures whose child writes back every
//! field it received.
//!
//! Each program is complete and judges itself: `main` launches one parent per signature, compares
//! what the children wrote with what the parents passed, and prints one line. The programs are
//! plain CUDA C++, so nvcc compiles them too.
//!
//! The generator is deterministic: one seed is one text, on every machine.

use std::fmt::Write;

/// A SplitMix64 stream: small, seedable, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// How a leaf value is made and compared.
#[derive(Clone, Copy, PartialEq)]
enum Leaf {
    Signed(u32),
    Unsigned(u32),
    Float,
    Bool,
    Pointer,
}

const SCALARS: &[(&str, Leaf)] = &[
    ("char", Leaf::Signed(8)),
    ("signed char", Leaf::Signed(8)),
    ("unsigned char", Leaf::Unsigned(8)),
    ("short", Leaf::Signed(16)),
    ("unsigned short", Leaf::Unsigned(16)),
    ("int", Leaf::Signed(32)),
    ("unsigned int", Leaf::Unsigned(32)),
    ("long", Leaf::Signed(64)),
    ("long long", Leaf::Signed(64)),
    ("unsigned long long", Leaf::Unsigned(64)),
    ("float", Leaf::Float),
    ("double", Leaf::Float),
    ("bool", Leaf::Bool),
    ("int *", Leaf::Pointer),
];

const VECTORS: &[(&str, u32, Leaf)] = &[
    ("char", 8, Leaf::Signed(8)),
    ("uchar", 8, Leaf::Unsigned(8)),
    ("short", 16, Leaf::Signed(16)),
    ("ushort", 16, Leaf::Unsigned(16)),
    ("int", 32, Leaf::Signed(32)),
    ("uint", 32, Leaf::Unsigned(32)),
    ("float", 32, Leaf::Float),
];

/// A type as C text, with the paths of its scalar leaves.
#[derive(Clone)]
struct GeneratedType {
    name: String,
    leaves: Vec<(String, Leaf)>,
}

struct Generator {
    random: Random,
    structs: String,
    struct_count: u32,
    /// The largest alignment attribute; nvcc is right up to 16 only (FACTS.md).
    max_align: u64,
}

impl Generator {
    fn scalar(&mut self) -> GeneratedType {
        let (name, leaf) = *self.random.pick(SCALARS);
        GeneratedType { name: name.into(), leaves: vec![(String::new(), leaf)] }
    }

    fn vector(&mut self) -> GeneratedType {
        if self.random.chance(15) {
            let leaves = ["x", "y"].map(|f| (format!(".{f}"), Leaf::Float)).to_vec();
            return GeneratedType { name: "double2".into(), leaves };
        }
        let (base, _, leaf) = *self.random.pick(VECTORS);
        let lanes = 1 + self.random.below(4) as usize;
        let fields = &["x", "y", "z", "w"][..lanes];
        let leaves = fields.iter().map(|f| (format!(".{f}"), leaf)).collect();
        GeneratedType { name: format!("{base}{lanes}"), leaves }
    }

    fn structure(&mut self, depth: u32) -> GeneratedType {
        let index = self.struct_count;
        self.struct_count += 1;
        let mut leaves = Vec::new();
        let mut body = String::new();
        for field in 0..1 + self.random.below(4) {
            let shape = self.shape(depth + 1);
            let len = if self.random.chance(25) { 1 + self.random.below(4) } else { 0 };
            if len == 0 {
                let _ = writeln!(body, "    {} f{field};", shape.name);
                leaves.extend(shape.leaves.iter().map(|(p, l)| (format!(".f{field}{p}"), *l)));
            } else {
                let _ = writeln!(body, "    {} f{field}[{len}];", shape.name);
                for i in 0..len {
                    let path = |p: &String| format!(".f{field}[{i}]{p}");
                    leaves.extend(shape.leaves.iter().map(|(p, l)| (path(p), *l)));
                }
            }
        }
        let align = if self.random.chance(40) {
            let steps = u64::from(self.max_align.ilog2()) + 1;
            format!(" __align__({})", 1u64 << self.random.below(steps))
        } else {
            String::new()
        };
        let _ = writeln!(self.structs, "struct{align} S{index} {{\n{body}}};\n");
        GeneratedType { name: format!("S{index}"), leaves }
    }

    fn shape(&mut self, depth: u32) -> GeneratedType {
        match self.random.below(10) {
            0..=3 => self.scalar(),
            4..=5 => self.vector(),
            _ if depth < 3 => self.structure(depth),
            _ => self.scalar(),
        }
    }

    /// The value a parent stores, as C text, and the 64 bits the child reports for it.
    fn value(&mut self, leaf: Leaf) -> (String, u64) {
        let raw = self.random.next();
        match leaf {
            Leaf::Signed(bits) => {
                let value = (raw as i64) >> (64 - bits.min(62));
                (format!("{value}ll + seed"), value as u64)
            }
            Leaf::Unsigned(bits) => {
                let value = raw >> (64 - bits.min(62));
                (format!("{value}ull + seed"), value)
            }
            Leaf::Float => {
                let quarters = (raw % 60_000) as i64 - 30_000;
                (format!("{quarters} * 0.25 + seed"), quarters as u64)
            }
            Leaf::Bool => {
                let value = raw & 1;
                (format!("{value} + seed != 0"), value)
            }
            Leaf::Pointer => {
                let value = raw >> 16 << 2;
                (format!("(int *)({value}ull + seed)"), value)
            }
        }
    }
}

/// What the child writes for a leaf: always 64 bits.
fn report(expr: &str, leaf: Leaf) -> String {
    match leaf {
        Leaf::Float => format!("(unsigned long long)(long long)({expr} * 4)"),
        Leaf::Signed(_) => format!("(unsigned long long)(long long){expr}"),
        _ => format!("(unsigned long long){expr}"),
    }
}

/// One program with `count` signatures and alignment attributes up to `max_align` bytes.
pub fn program(seed: u64, count: u32, max_align: u64) -> String {
    let mut gen_ =
        Generator { random: Random(seed), structs: String::new(), struct_count: 0, max_align };
    let mut kernels = String::new();
    let mut expected = String::new();
    let mut launches = String::new();
    let mut offset = 0;
    for index in 0..count {
        let params: Vec<GeneratedType> = random_params(&mut gen_);
        let mut child = String::new();
        let mut parent = String::new();
        let mut leaf_count = 0;
        for (p, shape) in params.iter().enumerate() {
            let _ = writeln!(parent, "    {} a{p};", shape.name);
            for (path, leaf) in &shape.leaves {
                let (text, bits) = gen_.value(*leaf);
                let _ = writeln!(parent, "    a{p}{path} = {text};");
                let value = report(&format!("a{p}{path}"), *leaf);
                let _ = writeln!(child, "    out[{leaf_count}] = {value};");
                let _ = writeln!(expected, "    {bits}ull,");
                leaf_count += 1;
            }
        }
        let place = gen_.random.below(params.len() as u64 + 1) as usize;
        let list = |parts: Vec<String>, out: String| {
            let mut parts = parts;
            parts.insert(place, out);
            parts.join(", ")
        };
        let declared = params.iter().enumerate().map(|(p, s)| format!("{} a{p}", s.name)).collect();
        let passed = (0..params.len()).map(|p| format!("a{p}")).collect();
        let _ = write!(
            kernels,
            "__global__ void child{index}({})\n{{\n{child}}}\n\n\
             __global__ void parent{index}(unsigned long long *out, int seed)\n{{\n{parent}    \
             child{index}<<<1, 1>>>({});\n}}\n\n",
            list(declared, "unsigned long long *out".into()),
            list(passed, "out".into()),
        );
        let _ = writeln!(launches, "    parent{index}<<<1, 1>>>(out + {offset}, seed);");
        let _ = writeln!(launches, "    ends[{index}] = {};", offset + leaf_count);
        offset += leaf_count;
    }
    assemble(seed, count, offset, &gen_.structs, &kernels, &expected, &launches)
}

fn random_params(generator: &mut Generator) -> Vec<GeneratedType> {
    let count = match generator.random.below(20) {
        0 => 0,
        1 => 20 + generator.random.below(44),
        _ => 1 + generator.random.below(7),
    };
    let mut params: Vec<GeneratedType> = Vec::new();
    let mut leaves = 0;
    for _ in 0..count {
        let shape = if count > 7 { generator.scalar() } else { generator.shape(0) };
        // 4,096 bytes hold 256 leaves even when each is alone in 16 bytes.
        leaves += shape.leaves.len();
        if leaves > 120 {
            break;
        }
        params.push(shape);
    }
    params
}

fn assemble(
    seed: u64,
    count: u32,
    total: u32,
    structs: &str,
    kernels: &str,
    expected: &str,
    launches: &str,
) -> String {
    format!(
        "// {count} random kernel signatures, seed {seed}: every field must arrive in the child.\n\
         #include <stdio.h>\n#include <stdlib.h>\n\n{structs}\n{kernels}\
         static const unsigned long long expected[{total} + 1] = {{\n{expected}    0ull,\n}};\n\n\
         int main(int argc, char **argv)\n{{\n    int seed = argc - 1;\n    \
         static int ends[{count}];\n    \
         static unsigned long long result[{total} + 1];\n    unsigned long long *out;\n    \
         cudaMalloc(&out, sizeof(result));\n    cudaMemset(out, 0xee, sizeof(result));\n\
         {launches}\n    if (cudaDeviceSynchronize() != cudaSuccess) {{\n        \
         printf(\"failed: %s\\n\", cudaGetErrorString(cudaGetLastError()));\n        \
         return 1;\n    }}\n    \
         cudaMemcpy(result, out, sizeof(result), cudaMemcpyDeviceToHost);\n    \
         int wrong = 0, index = 0;\n    \
         for (int signature = 0; signature < {count}; signature++) {{\n        \
         bool good = true;\n        \
         for (; index < ends[signature]; index++) {{\n            \
         if (result[index] != expected[index]) {{\n                \
         if (good)\n                    \
         printf(\"child%d: value %d is %llx, not %llx\\n\", signature, index, result[index], \
         expected[index]);\n                good = false;\n            }}\n        }}\n        \
         wrong += !good;\n    }}\n    \
         printf(\"{count} signatures, {total} fields, %d wrong\\n\", wrong);\n    \
         return wrong != 0;\n}}\n"
    )
}

/// The line a right run of [`program`] prints.
pub fn expected_output(text: &str) -> String {
    let line = text.lines().rev().find(|line| line.contains("signatures,")).unwrap_or_default();
    let line = line.split('"').nth(1).unwrap_or_default();
    line.replace("%d", "0").replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_text() {
        assert_eq!(program(7, 5, 16), program(7, 5, 16));
        assert_ne!(program(7, 5, 16), program(8, 5, 16));
        assert!(expected_output(&program(7, 5, 16)).starts_with("5 signatures, "));
    }
}
