//! The instructions of PTX that expressions are made of, with what they take and give.
//!
//! Results are the same whatever the rounding of others, and NaN has one form: where bits of a float are looked at, it is the
//! canonical one. Left out are approximations, and what only moves or orders memory.

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 16 bits, an integer or a half.
    Short,
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
    /// A float.
    Single,
    /// A double.
    Double,
    /// A condition.
    Predicate,
}

/// All of them.
pub const KINDS: [Kind; 6] =
    [Kind::Short, Kind::Word, Kind::Long, Kind::Single, Kind::Double, Kind::Predicate];

impl Kind {
    /// How registers of the kind begin, and their type in a declaration.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Kind::Short => ("%rs", "b16"),
            Kind::Word => ("%r", "b32"),
            Kind::Long => ("%rd", "b64"),
            Kind::Single => ("%f", "f32"),
            Kind::Double => ("%g", "f64"),
            Kind::Predicate => ("%p", "pred"),
        }
    }

    fn of(letter: u8) -> Kind {
        match letter {
            b'h' => Kind::Short,
            b'r' => Kind::Word,
            b'd' => Kind::Long,
            b'f' => Kind::Single,
            b'g' => Kind::Double,
            _ => Kind::Predicate,
        }
    }
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it gives.
    pub result: Kind,
    /// What it takes.
    pub operands: Vec<Kind>,
    /// The text, with `$o` for the result and `$0` and so on for the operands.
    pub text: String,
    /// How often it is taken, among those with its result.
    pub weight: usize,
}

/// Integers of 16, 32 and 64 bits: `W` is the width, `T` the kind, `N` the next wider kind and `V` its width.
const INTEGERS: &str = "
T TT 4 add.sW $o,$0,$1;
T TT 4 sub.sW $o,$0,$1;
T TT 3 mul.lo.sW $o,$0,$1;
T TTT 2 mad.lo.sW $o,$0,$1,$2;
T TT 1 and.bW $o,$0,$1;
T TT 1 or.bW $o,$0,$1;
T TT 1 xor.bW $o,$0,$1;
T T 1 not.bW $o,$0;
T Tr 2 shl.bW $o,$0,$1;
T TTp 3 selp.bW $o,$0,$1,$2;
p TT 2 setp.eq.sW $o,$0,$1;
p TT 2 setp.ne.sW $o,$0,$1;
";

/// The same with a sign and without one: `S` is `s` or `u`.
const SIGNED: &str = "
T TT 2 min.SW $o,$0,$1;
T TT 2 max.SW $o,$0,$1;
T Tr 2 shr.SW $o,$0,$1;
T TT 1 mul.hi.SW $o,$0,$1;
T TT 1 {.reg .bW t; or.bW t,$1,1; div.SW $o,$0,t;}
T TT 1 {.reg .bW t; or.bW t,$1,1; rem.SW $o,$0,t;}
p TT 2 setp.lt.SW $o,$0,$1;
p TT 1 setp.ge.SW $o,$0,$1;
";

/// Only of 32 and 64 bits.
const LARGER: &str = "
T T 2 neg.sW $o,$0;
T T 2 abs.sW $o,$0;
r T 1 clz.bW $o,$0;
r T 1 popc.bW $o,$0;
T T 1 brev.bW $o,$0;
r T 1 bfind.uW $o,$0;
r T 1 bfind.sW $o,$0;
T Trr 1 bfe.uW $o,$0,$1,$2;
T Trr 1 bfe.sW $o,$0,$1,$2;
T T 1 bfe.sW $o,$0,8,8;
T T 1 bfe.sW $o,$0,4,16;
T TTrr 1 bfi.bW $o,$0,$1,$2,$3;
";

/// Only of 16 and 32 bits.
const WIDENED: &str = "
N TT 2 mul.wide.SW $o,$0,$1;
N TTN 1 mad.wide.SW $o,$0,$1,$2;
";

/// Words by the sign `S`.
const WORDS: &str = "
r rrr 1 mad.hi.S32 $o,$0,$1,$2;
r rr 1 mul24.lo.S32 $o,$0,$1;
r rrr 1 sad.S32 $o,$0,$1,$2;
r rr 3 add.S16x2 $o,$0,$1;
r rr 2 min.S16x2 $o,$0,$1;
r rr 2 max.S16x2 $o,$0,$1;
r rrr 1 dp4a.S32.S32 $o,$0,$1,$2;
r rrr 1 dp2a.lo.S32.S32 $o,$0,$1,$2;
r r 3 cvt.S32.S16 $o,$0;
r r 2 cvt.S32.S8 $o,$0;
r h 3 cvt.S32.S16 $o,$0;
r h 1 cvt.S32.S8 $o,$0;
h h 1 cvt.S16.S8 $o,$0;
d d 1 cvt.S64.S16 $o,$0;
d d 1 cvt.S64.S32 $o,$0;
d r 3 cvt.S64.S32 $o,$0;
d h 1 cvt.S64.S16 $o,$0;
";

/// Parts of registers, and what is left.
const PARTS: &str = "
h r 4 cvt.u16.u32 $o,$0;
h r 3 {.reg .b16 t; mov.b32 {$o,t},$0;}
h r 3 {.reg .b16 t; mov.b32 {t,$o},$0;}
r hh 3 mov.b32 $o,{$0,$1};
r d 3 cvt.u32.u64 $o,$0;
r d 3 {.reg .b32 t; mov.b64 {t,$o},$0;}
d rr 3 mov.b64 $o,{$0,$1};
h d 1 cvt.u16.u64 $o,$0;
r rrr 1 slct.b32.s32 $o,$0,$1,$2;
r rrr 1 shf.l.wrap.b32 $o,$0,$1,$2;
r rrr 1 shf.r.clamp.b32 $o,$0,$1,$2;
r rrr 1 prmt.b32 $o,$0,$1,$2;
r rr 1 prmt.b32 $o,$0,$1,0x5410;
r rr 1 prmt.b32 $o,$0,$1,0x7632;
r rr 1 prmt.b32 $o,$0,$1,0x9910;
r rr 1 prmt.b32 $o,$0,$1,0x4440;
d rr 1 {.reg .b32 a,b; add.cc.u32 a,$0,$1; addc.u32 b,$1,0; mov.b64 $o,{a,b};}
r rrr 1 {.reg .b32 a; sub.cc.u32 a,$0,$1; subc.u32 $o,$2,a;}
r rrr 1 {.reg .b32 a; mad.lo.cc.u32 a,$0,$1,$2; madc.hi.u32 $o,$0,$1,a;}
p pp 1 and.pred $o,$0,$1;
p pp 1 or.pred $o,$0,$1;
p pp 1 xor.pred $o,$0,$1;
p p 1 not.pred $o,$0;
r p 2 selp.u32 $o,1,0,$0;
r p 1 selp.s32 $o,-1,0,$0;
h p 1 selp.u16 $o,1,0,$0;
g f 1 cvt.f64.f32 $o,$0;
f g 1 cvt.rn.f32.f64 $o,$0;
h hh 1 add.rn.f16 $o,$0,$1;CANON16
h hh 1 mul.rn.f16 $o,$0,$1;CANON16
h hhh 1 fma.rn.f16 $o,$0,$1,$2;CANON16
f h 1 cvt.f32.f16 $o,$0;
h f 1 cvt.rn.f16.f32 $o,$0;CANON16
p hh 1 setp.lt.f16 $o,$0,$1;
r rr 1 add.rn.f16x2 $o,$0,$1;CANON32
r rr 1 mul.rn.f16x2 $o,$0,$1;CANON32
r rrr 1 fma.rn.f16x2 $o,$0,$1,$2;CANON32
";

/// Floats of the width `W`; `T` is their kind and `B` that of their bits.
const FLOATS: &str = "
T TT 3 add.rn.fW $o,$0,$1;
T TT 3 sub.rn.fW $o,$0,$1;
T TT 3 mul.rn.fW $o,$0,$1;
T TTT 3 fma.rn.fW $o,$0,$1,$2;
T TT 2 min.fW $o,$0,$1;
T TT 2 max.fW $o,$0,$1;
T T 2 neg.fW $o,$0;
T T 2 abs.fW $o,$0;
T TTp 2 selp.fW $o,$0,$1,$2;
T T 1 cvt.rni.fW.fW $o,$0;
T T 1 cvt.rzi.fW.fW $o,$0;
p TT 1 setp.lt.fW $o,$0,$1;
p TT 1 setp.ge.fW $o,$0,$1;
p TT 1 setp.eq.fW $o,$0,$1;
p TT 1 setp.neu.fW $o,$0,$1;
p TT 1 setp.ltu.fW $o,$0,$1;
T r 1 cvt.rn.fW.s32 $o,$0;
T r 1 cvt.rn.fW.u32 $o,$0;
T d 1 cvt.rn.fW.s64 $o,$0;
T d 1 cvt.rn.fW.u64 $o,$0;
T h 1 cvt.rn.fW.s16 $o,$0;
T h 1 cvt.rn.fW.u16 $o,$0;
T r 1 cvt.rn.fW.u8 $o,$0;
r T 1 cvt.rzi.s32.fW $o,$0;
r T 1 cvt.rzi.u32.fW $o,$0;
d T 1 cvt.rzi.s64.fW $o,$0;
B T 3 {.reg .pred q; setp.nan.fW q,$0,$0; mov.bW $o,$0; selp.bW $o,NAN,$o,q;}
T B 2 mov.bW $o,$0;
";

/// Makes the half in `$o` canonical.
const CANON16: &str = "{.reg .pred q; setp.nan.f16 q,$o,$o; selp.b16 $o,0x7fff,$o,q;}";
/// The same of two.
const CANON32: &str = "{.reg .b16 a,b; .reg .pred q; mov.b32 {a,b},$o; setp.nan.f16 q,a,a; selp.b16 a,0x7fff,a,q; \
                       setp.nan.f16 q,b,b; selp.b16 b,0x7fff,b,q; mov.b32 $o,{a,b};}";

/// Reads a table, with letters of kinds and words of texts put in.
fn read(table: &str, letters: &[(&str, &str)], words: &[(&str, &str)], all: &mut Vec<Operation>) {
    for line in table.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.splitn(4, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let kinds = |text: &str| {
            let text =
                letters.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
            text.bytes().map(Kind::of).collect::<Vec<Kind>>()
        };
        let (result, operands) = (kinds(part()), kinds(part()));
        let weight = part().parse().unwrap_or(1);
        let text = words.iter().fold(part().to_owned(), |text, (from, to)| text.replace(from, to));
        all.push(Operation { result: result[0], operands, text, weight });
    }
}

/// All operations.
pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    for (width, kind, wider) in [("16", "h", "r"), ("32", "r", "d"), ("64", "d", "d")] {
        let letters = [("T", kind), ("N", wider)];
        read(INTEGERS, &letters, &[("W", width)], &mut all);
        if width != "16" {
            read(LARGER, &letters, &[("W", width)], &mut all);
        }
        for sign in ["s", "u"] {
            let words = [("SW", format!("{sign}{width}")), ("W", width.to_owned())];
            let words: Vec<(&str, &str)> = words.iter().map(|(a, b)| (*a, b.as_str())).collect();
            read(SIGNED, &letters, &words, &mut all);
            if width != "64" {
                read(WIDENED, &letters, &words, &mut all);
            }
        }
    }
    for sign in ["s", "u"] {
        read(WORDS, &[], &[("S", sign)], &mut all);
    }
    read(PARTS, &[], &[("CANON16", CANON16), ("CANON32", CANON32)], &mut all);
    for (width, kind, bits, nan) in
        [("32", "f", "r", "0x7fc00000"), ("64", "g", "d", "0x7ff8000000000000")]
    {
        read(FLOATS, &[("T", kind), ("B", bits)], &[("W", width), ("NAN", nan)], &mut all);
    }
    all
}
