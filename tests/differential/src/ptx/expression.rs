//! Expressions of a few instructions, each of which takes what the one before it gave, and constants: what an assembler puts
//! together, takes apart or knows beforehand.

use super::operations::{KINDS, Kind, Operation};
use crate::random::Random;

/// Threads of a kernel; each computes all expressions of its own inputs.
pub const THREADS: usize = 128;
/// Bytes of a thread's inputs.
const INPUT: usize = 32;

/// One expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its instructions; the last one stores the result to `%out`.
    pub lines: Vec<String>,
    /// How many registers of each of [`KINDS`] it has.
    registers: [usize; KINDS.len()],
}

/// The numbers that integers are, cut to their width.
const NUMBERS: [u64; 36] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    256,
    1000,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x1_0001,
    0x5_0007,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_0000,
    0x8000_8000,
    0x7fff_7fff,
    0x1234_5678,
    0xff_00ff,
];
/// The numbers that floats are.
const FLOATS: [f64; 14] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -2.0,
    3.5,
    255.0,
    65536.0,
    1.5,
    -0.5,
    1e10,
    4294967296.0,
    f64::INFINITY,
];

/// An expression, by what `random` says.
pub fn expression(operations: &[Operation], random: &mut Random) -> Expression {
    let mut made = Maker {
        random,
        lines: Vec::new(),
        registers: [0; KINDS.len()],
        known: [["%ha"].as_slice(), &["%ra", "%rb"], &["%da"], &["%fa"], &["%ga"], &["%pa"]]
            .map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
    };
    let mut last = made.step(operations, None);
    for _ in 0..1 + made.random.below(5) {
        last = made.step(operations, Some(last));
    }
    let result = made.known[last as usize].last().cloned().unwrap_or_default();
    let store = match last {
        Kind::Short => "st.global.b16 [%out],$;",
        Kind::Word if made.random.below(4) == 0 => "st.global.b16 [%out],$;",
        Kind::Word => "st.global.b32 [%out],$;",
        Kind::Long => "st.global.b64 [%out],$;",
        Kind::Single => {
            "setp.nan.f32 %pz,$,$; mov.b32 %rz,$; selp.b32 %rz,0x7fc00000,%rz,%pz; st.global.b32 [%out],%rz;"
        }
        Kind::Double => {
            "setp.nan.f64 %pz,$,$; mov.b64 %dz,$; selp.b64 %dz,0x7ff8000000000000,%dz,%pz; st.global.b64 [%out],%dz;"
        }
        Kind::Predicate => "selp.u32 %rz,1,2,$; st.global.b32 [%out],%rz;",
    };
    made.lines.push(store.replace('$', &result));
    Expression { lines: made.lines, registers: made.registers }
}

struct Maker<'a> {
    random: &'a mut Random,
    lines: Vec<String>,
    registers: [usize; KINDS.len()],
    /// The registers that have values, by kind, the youngest last.
    known: [Vec<String>; KINDS.len()],
}

impl Maker<'_> {
    fn register(&mut self, kind: Kind) -> String {
        let number = &mut self.registers[kind as usize];
        *number += 1;
        format!("{}x{}", kind.names().0, *number - 1)
    }

    /// Adds an operation that takes what `last` is the kind of.
    fn step(&mut self, operations: &[Operation], last: Option<Kind>) -> Kind {
        let suits =
            |operation: &&Operation| last.is_none_or(|kind| operation.operands.contains(&kind));
        let all: Vec<&Operation> = operations.iter().filter(suits).collect();
        let mut at = self.random.below(all.iter().map(|operation| operation.weight).sum());
        let chosen = all.iter().find(|operation| match at.checked_sub(operation.weight) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        });
        let operation = chosen.copied().unwrap_or(all[0]);
        let must = operation.operands.iter().position(|kind| Some(*kind) == last);
        let mut constants = 0;
        let mut text = operation.text.clone();
        for (place, kind) in operation.operands.iter().enumerate() {
            let constant = Some(place) != must
                && *kind != Kind::Predicate
                && constants + 1 < operation.operands.len()
                && self.random.below(2) == 0;
            constants += usize::from(constant);
            let taken = if constant {
                self.constant(*kind, is_count(operation, place))
            } else {
                let known = &self.known[*kind as usize];
                let youngest = Some(place) == must;
                known[if youngest { known.len() - 1 } else { self.random.below(known.len()) }]
                    .clone()
            };
            text = text.replace(&format!("${place}"), &taken);
        }
        let result = self.register(operation.result);
        self.lines.push(text.replace("$o", &result));
        self.known[operation.result as usize].push(result);
        operation.result
    }

    /// A register with a constant. A count is below 16, which every width allows.
    fn constant(&mut self, kind: Kind, count: bool) -> String {
        let number = if count { self.random.below(16) as u64 } else { *self.random.of(&NUMBERS) };
        let float = *self.random.of(&FLOATS);
        let text = match kind {
            Kind::Short => format!("mov.b16 $,{};", number as u16 as i16),
            Kind::Word => format!("mov.b32 $,{};", number as u32 as i32),
            Kind::Long if self.random.below(2) == 0 => format!("mov.b64 $,{};", !number as i64),
            Kind::Long => format!("mov.b64 $,{};", number as i64),
            Kind::Single => format!("mov.f32 $,0f{:08X};", (float as f32).to_bits()),
            Kind::Double | Kind::Predicate => format!("mov.f64 $,0d{:016X};", float.to_bits()),
        };
        let register = self.register(kind);
        self.lines.push(text.replace('$', &register));
        register
    }
}

/// Whether an operand says by how many bits something is moved, or how many they are: beyond the width ptxas goes by another rule
/// than the PTX ISA, and no compiler asks for it.
fn is_count(operation: &Operation, place: usize) -> bool {
    let starts = |begin: &str| operation.text.starts_with(begin);
    match place {
        1 => starts("sh") || starts("bfe"),
        2 => starts("shf") || starts("bfe") || starts("bfi"),
        3 => starts("bfi"),
        _ => false,
    }
}

/// A kernel named `expressions` that computes them one after another: thread `t`'s result of the `n`-th is the `n * THREADS + t`-th word.
pub fn kernel(expressions: &[Expression], arch: &str) -> String {
    let mut text = format!(
        ".version 8.6\n.target {arch}\n.address_size 64\n.visible .entry expressions(.param .u64 input, .param .u64 output)\n{{\n\
         .reg .b16 %ha; .reg .b32 %t, %ra, %rb, %rz; .reg .b64 %in, %out, %da, %dz; .reg .f32 %fa; .reg .f64 %ga; .reg .pred %pa, %pz;\n\
         mov.u32 %t, %tid.x;\nld.param.u64 %in, [input];\nld.param.u64 %out, [output];\ncvta.to.global.u64 %in, %in;\n\
         cvta.to.global.u64 %out, %out;\nmad.wide.u32 %in, %t, {INPUT}, %in;\nmad.wide.u32 %out, %t, 8, %out;\n"
    );
    for expression in expressions {
        text += "{\n";
        for (kind, count) in KINDS.iter().zip(expression.registers).filter(|(_, count)| *count > 0)
        {
            let (name, declared) = kind.names();
            text += &format!(".reg .{declared} {name}x<{count}>;\n");
        }
        text += "ld.global.u32 %ra, [%in];\nld.global.u32 %rb, [%in+4];\nld.global.u64 %da, [%in+8];\nld.global.u16 %ha, [%in+16];\n\
                 ld.global.f32 %fa, [%in+20];\nld.global.f64 %ga, [%in+24];\nsetp.lt.s32 %pa, %ra, %rb;\n";
        for line in &expression.lines {
            text += line;
            text.push('\n');
        }
        text += &format!("}}\nadd.u64 %out, %out, {};\n", THREADS * 8);
    }
    text + "ret;\n}\n"
}

/// The inputs of all threads: the same in every run, numbers at the ends of their ranges and others.
pub fn inputs() -> Vec<u8> {
    let mut random = Random::new(1);
    let mut bytes = Vec::with_capacity(THREADS * INPUT);
    for _ in 0..THREADS {
        let mut number = || if random.below(3) == 0 { random.bits() } else { *random.of(&NUMBERS) };
        let (a, b, wide, short) = (number(), number(), number(), number());
        let wide = [wide, wide << 32, !wide, a][random.below(4)];
        let mut float = |all: f64| match random.below(4) {
            0 => *random.of(&FLOATS),
            1 => -*random.of(&FLOATS),
            2 => [f64::NAN, f64::NEG_INFINITY, 1e-41, -0.0, 70000.0, -32768.5][random.below(6)],
            _ => (random.bits() as i64 as f64) / all,
        };
        let (single, double) = (float(1e16), float(1e7));
        bytes.extend((a as u32).to_le_bytes());
        bytes.extend((b as u32).to_le_bytes());
        bytes.extend(wide.to_le_bytes());
        bytes.extend((short as u16 as u32).to_le_bytes());
        bytes.extend((single as f32).to_le_bytes());
        bytes.extend(double.to_le_bytes());
    }
    bytes
}
