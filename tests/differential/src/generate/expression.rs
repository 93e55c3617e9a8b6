//! Expressions: integers of any type, floating values, calls.

use super::functions::{self, ArgType};
use super::{EDGES, FLOATS, INTEGERS, LETTERS, Maker};

impl Maker {
    /// A pure function of an integer and a floating value.
    pub(super) fn function(&mut self, index: usize) -> String {
        let (ty, unsigned, _) = *self.random.of(&INTEGERS[..8]);
        let add = self.random.of(&EDGES).to_string();
        let op = *self.random.of(&["+", "-", "*", "^", "|", "&"]);
        let (scale, offset) = (*self.random.of(&FLOATS), *self.random.of(&FLOATS));
        format!(
            "DEVICE static {ty} fun{index}_{}({ty} x, float y) {{ float z = y * {scale}f + {offset}f; \
             return z > 1.0f ? ({ty})(({unsigned})x {op} ({unsigned}){add}) : ({ty})(({unsigned})x >> 1); }}\n",
            self.seed
        )
    }

    /// An integer expression of a type of [`INTEGERS`].
    pub(super) fn integer(&mut self, ty: usize, depth: u32) -> String {
        let (name, unsigned, bits) = INTEGERS[ty];
        if depth == 0 {
            return self.leaf(ty);
        }
        let mask = bits.max(32) - 1;
        let left = self.integer(ty, depth - 1);
        match self.random.below(15) {
            0..=3 => {
                let op = *self.random.of(&["+", "-", "*", "&", "|", "^"]);
                let right = self.integer(ty, depth - 1);
                format!("({name})(({unsigned})({left}) {op} ({unsigned})({right}))")
            }
            4 => {
                let count = self.integer(4, depth - 1);
                format!("({name})(({unsigned})({left}) << (({count}) & {mask}))")
            }
            5 => format!("({name})(({left}) >> (u{} & {}))", self.random.below(2), bits.max(8) - 1),
            6 | 7 => self.division(ty, &left, depth),
            8 => {
                let op = *self.random.of(&["<", "<=", "==", "!=", ">", ">="]);
                let (other, right) = (self.random.below(9), self.random.below(9));
                let (a, b) = (self.integer(other, depth - 1), self.integer(right, depth - 1));
                format!("({name})(({a}) {op} ({b}) ? ({left}) : ({name})({b}))")
            }
            9 => format!("({name})to_int({})", self.float(true, depth - 1)),
            10 => {
                let other = self.random.below(9);
                format!("({name})({})", self.integer(other, depth - 1))
            }
            11 => {
                let index = self.random.below(3);
                let seed = self.seed;
                format!("({name})fun{index}_{seed}({left}, {})", self.float(false, depth - 1))
            }
            12 => {
                let op = *self.random.of(&["&&", "||"]);
                let right = self.integer(4, depth - 1);
                format!("({name})((({left}) {op} ({right})) + !({left}))")
            }
            _ if self.plain => format!("({name})deep((unsigned)({left}) & 7, u0)"),
            _ => format!("({name}){}", self.call(functions::integer, depth)),
        }
    }

    fn leaf(&mut self, ty: usize) -> String {
        let name = INTEGERS[ty].0;
        match self.random.below(6) {
            0 => format!("({name}){}", self.random.of(&EDGES)),
            1 => format!("({name})a[(unsigned)t & 7]"),
            2 => format!("({name}){}", self.variable()),
            3 => format!("({name})table[(unsigned){}0 & 15]", LETTERS[ty]),
            _ => format!("{}{}", LETTERS[ty], self.random.below(2)),
        }
    }

    /// By a constant or by what is never zero; the least number is not divided by -1.
    fn division(&mut self, ty: usize, left: &str, depth: u32) -> String {
        let name = INTEGERS[ty].0;
        let op = *self.random.of(&["/", "%"]);
        match self.random.below(3) {
            0 => {
                let by = *self.random.of(&[3, 5, 7, 9, 10, 25, 60, 100, 127, 1]);
                format!("({name})(({left}) {op} ({name}){by})")
            }
            1 if matches!(ty, 0 | 2 | 4 | 6) => {
                let by = *self.random.of(&[-2, -3, -7, -10, -128, 64]);
                format!("({name})(({left}) {op} ({name}){by})")
            }
            1 => {
                let right = self.integer(ty, depth - 1);
                format!("({name})(({left}) {op} (({name})(({right}) & 63) + 2))")
            }
            _ => {
                let right = self.integer(ty, depth - 1);
                let one = format!("((word)({right}) & 0xff) + 1");
                format!("({name})(({left}) {op} ({name})1 + (word)({left}) {op} ({one}))")
            }
        }
    }

    fn variable(&mut self) -> String {
        let all =
            ["r.a", "r.b", "r.c", "r.d", "r.e", "p.third", "v.s[1]", "v.b[2]", "g[1]", "g[3]"];
        (*self.random.of(&all)).to_owned()
    }

    /// A call of one of CUDA's functions; it says the same in every thread, wherever it stands.
    fn call(
        &mut self,
        choose: impl Fn(&mut crate::random::Random) -> (String, Vec<ArgType>),
        depth: u32,
    ) -> String {
        let (name, kinds) = choose(&mut self.random);
        let arguments: Vec<String> =
            kinds.into_iter().map(|kind| self.argument(kind, depth - 1)).collect();
        format!("({name}({}))", arguments.join(", "))
    }

    fn argument(&mut self, kind: ArgType, depth: u32) -> String {
        match kind {
            ArgType::Int => self.integer(4, depth),
            ArgType::Unsigned => self.integer(5, depth),
            ArgType::Long => self.integer(6, depth),
            ArgType::UnsignedLong => self.integer(7, depth),
            ArgType::Float => self.float(false, depth),
            ArgType::Double => self.float(true, depth),
        }
    }

    /// A floating expression, of double precision or single.
    pub(super) fn float(&mut self, double: bool, depth: u32) -> String {
        let (name, suffix) = if double { ("double", "") } else { ("float", "f") };
        let variable = if double { "d" } else { "f" };
        if depth == 0 {
            return match self.random.below(3) {
                0 => format!("{}{suffix}", self.random.of(&FLOATS)),
                _ => format!("{variable}{}", self.random.below(2)),
            };
        }
        let left = self.float(double, depth - 1);
        match self.random.below(9) {
            0..=3 => {
                let op = *self.random.of(&["+", "-", "*", "/"]);
                format!("(({left}) {op} ({}))", self.float(double, depth - 1))
            }
            4 => {
                let ty = self.random.below(9);
                format!("({name})({})", self.integer(ty, depth - 1))
            }
            5 => format!("({name})({})", self.float(!double, depth - 1)),
            6 if self.plain => self.call(|random| functions::host(random, double), depth),
            6 | 7 if !self.plain => self.call(|random| functions::floating(random, double), depth),
            _ => format!("(({left}) < 1.0{suffix} ? ({left}) : -({left}))"),
        }
    }
}
