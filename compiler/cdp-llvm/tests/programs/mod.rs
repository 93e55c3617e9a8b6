//! Random programs for the CPU device, whose straight-line code becomes native code.

use std::fmt::Write;

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Arithmetic, by the registers that `d`, `a`, `b`, `c` stand for: `r` 32 bits, `x` 64, `f` and `g` floating
/// point, `p` predicates.
pub const ARITHMETIC: &[&str] = &[
    "add.u32 r, r, r",
    "sub.s32 r, r, r",
    "mul.lo.u32 r, r, r",
    "mul.hi.u32 r, r, r",
    "mul.hi.s32 r, r, r",
    "mul.wide.u32 x, r, r",
    "mul.wide.s32 x, r, r",
    "mad.lo.s32 r, r, r, r",
    "mad.wide.s32 x, r, r, x",
    "mad.wide.u32 x, r, r, x",
    "mad.hi.u32 r, r, r, r",
    "mad.hi.s32 r, r, r, r",
    "add.s64 x, x, x",
    "sub.s64 x, x, x",
    "mul.lo.s64 x, x, x",
    "mad.lo.s64 x, x, x, x",
    "and.b32 r, r, r",
    "or.b32 r, r, r",
    "xor.b32 r, r, r",
    "not.b32 r, r",
    "and.b64 x, x, x",
    "or.b64 x, x, x",
    "xor.b64 x, x, x",
    "not.b64 x, x",
    "shl.b32 r, r, r",
    "shr.u32 r, r, r",
    "shr.s32 r, r, r",
    "shl.b32 r, r, 5",
    "shr.u32 r, r, 33",
    "shl.b64 x, x, r",
    "shr.u64 x, x, r",
    "shr.s64 x, x, r",
    "shl.b64 x, x, 7",
    "shr.s64 x, x, 70",
    "min.u32 r, r, r",
    "max.u32 r, r, r",
    "min.s32 r, r, r",
    "max.s32 r, r, r",
    "min.s64 x, x, x",
    "max.u64 x, x, x",
    "abs.s32 r, r",
    "neg.s32 r, r",
    "abs.s64 x, x",
    "neg.s64 x, x",
    "popc.b32 r, r",
    "brev.b32 r, r",
    "clz.b32 r, r",
    "bfe.u32 r, r, 3, 9",
    "bfi.b32 r, r, r, 4, 11",
    "prmt.b32 r, r, r, 0x3715",
    "lop3.b32 r, r, r, r, 0x96",
    "lop3.b32 r, r, r, r, 0xe8",
    "shf.l.wrap.b32 r, r, r, r",
    "shf.r.wrap.b32 r, r, r, r",
    "shf.r.clamp.b32 r, r, r, 9",
    "div.u32 r, r, r",
    "rem.s32 r, r, r",
    "cvt.u64.u32 x, r",
    "cvt.s64.s32 x, r",
    "cvt.u32.u64 r, x",
    "mov.b64 x, {r, r}",
    "mov.b64 {r, r}, x",
    "setp.lt.s32 p, r, r",
    "setp.ge.u32 p, r, r",
    "setp.eq.s32 p, r, r",
    "setp.ne.s64 p, x, x",
    "setp.gt.u64 p, x, x",
    "selp.b32 r, r, r, p",
    "selp.b64 x, x, x, p",
    "selp.f32 f, f, f, p",
    "add.f32 f, f, f",
    "sub.f32 f, f, f",
    "mul.f32 f, f, f",
    "fma.rn.f32 f, f, f, f",
    "add.ftz.f32 f, f, f",
    "mul.ftz.f32 f, f, f",
    "fma.rn.ftz.f32 f, f, f, f",
    "add.sat.f32 f, f, f",
    "mul.ftz.sat.f32 f, f, f",
    "fma.rn.sat.f32 f, f, f, f",
    "div.rn.f32 f, f, f",
    "sqrt.rn.f32 f, f",
    "rcp.rn.f32 f, f",
    "rcp.rn.ftz.f32 f, f",
    "min.f32 f, f, f",
    "max.f32 f, f, f",
    "min.ftz.f32 f, f, f",
    "max.NaN.f32 f, f, f",
    "abs.f32 f, f",
    "neg.f32 f, f",
    "neg.ftz.f32 f, f",
    "add.rz.f32 f, f, f",
    "ex2.approx.f32 f, f",
    "setp.lt.f32 p, f, f",
    "setp.geu.f32 p, f, f",
    "setp.ne.ftz.f32 p, f, f",
    "setp.nan.f32 p, f, f",
    "setp.num.f64 p, g, g",
    "setp.leu.f64 p, g, g",
    "setp.gt.f64 p, g, g",
    "add.f64 g, g, g",
    "sub.f64 g, g, g",
    "mul.f64 g, g, g",
    "fma.rn.f64 g, g, g, g",
    "div.rn.f64 g, g, g",
    "sqrt.rn.f64 g, g",
    "min.f64 g, g, g",
    "max.f64 g, g, g",
    "abs.f64 g, g",
    "neg.f64 g, g",
    "add.rp.f64 g, g, g",
    "cvt.rn.f32.s32 f, r",
    "cvt.rn.f32.u32 f, r",
    "cvt.rn.f64.s32 g, r",
    "cvt.rn.f64.u32 g, r",
    "cvt.rzi.s32.f32 r, f",
    "cvt.rzi.u32.f32 r, f",
    "cvt.rzi.s32.f64 r, g",
    "cvt.rzi.u32.f64 r, g",
    "cvt.f64.f32 g, f",
    "cvt.rn.f32.f64 f, g",
    "cvt.rn.ftz.f32.f64 f, g",
    "mov.b32 r, f",
    "mov.b32 f, r",
    "mov.b64 x, g",
    "mov.b64 g, x",
    "mov.u32 r, r",
    "mov.f32 f, 0f3F800000",
    "mov.f64 g, 0d7FF0000000000001",
    "mul.f64 g, g, 0d3FF0000000000000",
    "add.f32 f, f, 0fFF800000",
    "add.u32 r, r, 77",
];

/// Registers of each kind that operations take.
pub const REGISTERS: u64 = 4;
/// With those for results.
pub const KEPT: u64 = 12;
/// Threads of a block, at most.
pub const THREADS: u64 = 128;
pub const BLOCKS: u64 = 3;
/// Words of the buffer that loads and stores go to.
pub const WORDS: u64 = 1024;
/// Words that a thread leaves behind.
pub const RESULTS: u64 = 9 * KEPT;

/// Loads of the registers that operations take.
pub fn inputs() -> String {
    let mut text = String::new();
    for n in 0..REGISTERS {
        let (low, high) = (n * 8, n * 8 + 4);
        let _ = write!(
            text,
            "ld.global.u32 %r{n}, [%in+{low}];\nld.global.u64 %x{n}, [%in+{low}];\n\
             ld.global.f32 %f{n}, [%in+{high}];\nld.global.f64 %g{n}, [%in+{low}];\n\
             setp.lt.s32 %p{n}, %r{n}, 0;\n"
        );
    }
    text
}

/// Operations and accesses at random, as many as this. `astray`: some lane may leave the buffer, or miss an
/// element.
pub fn mixed(random: &mut Random, length: usize, astray: bool) -> String {
    let mut body = inputs();
    for _ in 0..length {
        if random.below(4) == 0 {
            access(random, &mut body, astray);
            continue;
        }
        let _ = writeln!(body, "{};", random.pick(ARITHMETIC));
    }
    with_registers(random, &body, None)
}

/// Conditions, in `%q`, of branches that no lane takes, all of a warp, all of a block, some or one.
pub const TAKEN: &[&str] = &[
    "setp.gt.u32 %q, %lane, 4000;",
    "setp.gt.u32 %q, %block, 4000;",
    "setp.le.s32 %q, %width, 0;",
    "setp.lt.u32 %q, %lane, 32;",
    "setp.eq.u32 %q, %block, 1;",
    "setp.eq.u32 %q, %lane, 40;",
    "mov.u32 %t, %tid.x;\nsetp.lt.u32 %q, %t, 3000;",
    "mov.u32 %t, %tid.x;\nadd.u32 %t, %t, 0x7ffffff0;\nsetp.ge.s32 %q, %t, 9;",
    "mov.u32 %t, %tid.x;\nsetp.le.s32 %q, %t, 40;",
    "setp.lt.s32 %q, r, 0;",
    "setp.gt.f32 %q, f, f;",
];

/// The same with branches over some of it.
pub fn branching(random: &mut Random, length: usize) -> String {
    let mut body = inputs();
    // Branches whose targets are to come, and how many lines are before that.
    let mut open: Vec<(u64, u64)> = Vec::new();
    for number in 0..length as u64 {
        match random.below(6) {
            0 => access(random, &mut body, false),
            1 | 2 => {
                // Half of them are taken by nobody.
                let half = if random.below(2) == 0 { &TAKEN[..3] } else { TAKEN };
                let (condition, not) = (random.pick(half), ["", "!"][random.below(2) as usize]);
                let (turn, taken) = match not {
                    "" => ("", "%q"),
                    _ => ("not.pred %q, %q;\n", "!%q"),
                };
                let _ = write!(body, "{condition}\n{turn}@{taken} bra L{number};\n");
                open.push((number, 1 + random.below(12)));
            }
            _ => {
                let _ = writeln!(body, "{};", random.pick(ARITHMETIC));
            }
        }
        for (label, lines) in &mut open {
            *lines -= 1;
            if *lines == 0 {
                let _ = writeln!(body, "L{label}:");
            }
        }
        open.retain(|(_, lines)| *lines > 0);
    }
    for (label, _) in open {
        let _ = writeln!(body, "L{label}:");
    }
    with_registers(random, &body, None)
}

/// These operations, each of inputs and with a result of its own.
pub fn one_by_one(random: &mut Random, operations: &[&str]) -> String {
    let mut body = inputs();
    for (number, operation) in operations.iter().enumerate() {
        let line = format!("{operation};\n");
        body += &with_registers(random, &line, Some(REGISTERS + number as u64));
    }
    body
}

/// A kernel with this in the middle, that leaves behind what is in the registers in the end.
pub fn program(body: &str) -> String {
    let mut ends = String::new();
    for n in 0..KEPT {
        let at = n * 32;
        let _ = write!(
            ends,
            "st.global.u32 [%out+{at}], %r{n};\nst.global.f32 [%out+{}], %f{n};\n\
             st.global.u64 [%out+{}], %x{n};\nst.global.f64 [%out+{}], %g{n};\n\
             selp.u32 %t, 1, 0, %p{n};\nst.global.u32 [%out+{}], %t;\n",
            at + 4,
            at + 8,
            at + 16,
            8 * KEPT * 4 + n * 4,
        );
    }
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 buffer, .param .u64 out)\n{{\n\
         .reg .b32 %r<12>, %t, %u, %lane, %block, %width;\n.reg .b64 %x<12>, %in, %buffer, %out, %a, %s;\n\
         .reg .f32 %f<12>;\n.reg .f64 %g<12>;\n.reg .pred %p<12>, %q;\n.shared .align 8 .b8 near[{}];\n\
         ld.param.u64 %in, [in];\nld.param.u64 %buffer, [buffer];\nld.param.u64 %out, [out];\n\
         mov.u32 %lane, %tid.x;\nmov.u32 %width, %ntid.x;\nmov.u32 %t, %tid.y;\n\
         mad.lo.u32 %lane, %t, %width, %lane;\nmov.u32 %block, %ctaid.x;\n\
         mad.lo.u32 %t, %block, {THREADS}, %lane;\nmul.wide.u32 %a, %t, 32;\nadd.u64 %in, %in, %a;\n\
         mul.wide.u32 %a, %t, {};\nadd.u64 %out, %out, %a;\n\
         mul.wide.u32 %a, %block, {};\nadd.u64 %buffer, %buffer, %a;\n\
         {}bar.sync 0;\n{body}bar.sync 0;\n{ends}ret;\n}}\n",
        WORDS * 4,
        RESULTS * 4,
        WORDS * 4,
        written()
    )
}

/// Writes all of shared memory, so that every read of it is one of something.
pub fn written() -> String {
    let mut text = "mov.u32 %t, 0;\nFILL:\nmad.lo.u32 %r0, %t, %width, %lane;\n".to_string();
    let _ = write!(
        text,
        "and.b32 %r0, %r0, {};\nmul.wide.u32 %s, %r0, 4;\nmov.u64 %a, near;\nadd.u64 %a, %a, %s;\n\
         st.shared.u32 [%a], %r0;\nadd.u32 %t, %t, 1;\nsetp.lt.u32 %p0, %t, {};\n@%p0 bra FILL;\n",
        WORDS - 1,
        WORDS
    );
    text
}

/// A load or store of a row, of one place, or of places anywhere.
pub fn access(random: &mut Random, out: &mut String, astray: bool) {
    let (ty, register, bytes) =
        [("u32", "r", 4), ("u64", "x", 8), ("f32", "f", 4)][random.below(3) as usize];
    let (space, base) =
        [("global", "%buffer"), ("shared", "%s"), ("global", "%buffer")][random.below(3) as usize];
    if space == "shared" {
        out.push_str("mov.u64 %s, near;\n");
    }
    let (mut wide, mut ahead) = ("u32", 0);
    let index = match random.below(9) {
        0 => "mov.u32 %t, %lane;\n".to_string(),
        1 => format!("mov.u32 %t, {};\n", random.below(100)),
        2 => "shr.u32 %t, %lane, 3;\n".to_string(),
        3 => "and.b32 %t, r, 127;\n".to_string(),
        4 => "mov.u32 %t, %tid.x;\nadd.u32 %t, %t, 7;\n".to_string(),
        5 => "mov.u32 %t, %ctaid.x;\nmul.lo.u32 %t, %t, 9;\nmov.u32 %u, %tid.x;\nadd.u32 %t, %u, %t;\n".to_string(),
        6 => "mov.u32 %t, %tid.y;\n".to_string(),
        7 => {
            // Below zero in some lanes.
            (wide, ahead) = (if astray && random.below(2) == 0 { "u32" } else { "s32" }, 128);
            "mov.u32 %t, %tid.x;\nsub.u32 %t, %t, 11;\n".to_string()
        }
        _ => "xor.b32 %t, %lane, 5;\n".to_string(),
    };
    out.push_str(&index);
    let _ = write!(out, "mul.wide.{wide} %a, %t, {bytes};\nadd.u64 %a, %a, {base};\n");
    let wrong = astray && random.below(8) == 0;
    let added = if wrong {
        [2, -40000, 1 << 20][random.below(3) as usize]
    } else {
        8 * random.below(8) as i64 + ahead
    };
    if random.below(2) == 0 {
        let _ = writeln!(out, "ld.{space}.{ty} {register}, [%a+{added}];");
    } else {
        let _ = writeln!(out, "st.{space}.{ty} [%a+{added}], {register};");
    }
}

/// Letters that stand alone become registers; the first one the register of this number, if there is one.
pub fn with_registers(random: &mut Random, text: &str, first: Option<u64>) -> String {
    let mut first = first;
    let mut out = String::new();
    let letters: Vec<char> = text.chars().collect();
    for (at, &c) in letters.iter().enumerate() {
        let before = if at == 0 { ' ' } else { letters[at - 1] };
        let after = letters.get(at + 1).copied().unwrap_or(' ');
        let alone = [' ', '{'].contains(&before) && [',', ';', '}'].contains(&after);
        if alone && ['r', 'x', 'f', 'g', 'p'].contains(&c) {
            let number = first.take().unwrap_or_else(|| random.below(REGISTERS));
            let _ = write!(out, "%{c}{number}");
        } else {
            out.push(c);
        }
    }
    out
}

/// Bits that are special as numbers of some type, or just bits.
pub fn input(random: &mut Random) -> Vec<u8> {
    const SPECIAL: [u32; 16] = [
        0,
        0x8000_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xffa0_0003,
        0x7f80_0001,
        1,
        0x807f_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x4f00_0000,
        0x7fff_ffff,
        0xffff_ffff,
        0x7ff0_0000,
        0xfff8_0001,
    ];
    let words = BLOCKS * THREADS * 8;
    let word = |random: &mut Random| match random.below(3) {
        0 => SPECIAL[random.below(16) as usize],
        1 => (random.below(2000) as f32 - 900.5).to_bits(),
        _ => random.next() as u32,
    };
    (0..words).flat_map(|_| word(random).to_le_bytes()).collect()
}
