//! The text of a run, read. Its language is the CPU device's (`cdp_emulator::native::text`, which explains the
//! words); here it is taken from a process that may be anybody's, so nothing in it is believed but what a run
//! can say: a wrong row number harms that process alone, and everything else is bounded.

use std::collections::{BTreeMap, BTreeSet};

/// The version of the text that is understood.
pub const VERSION: u32 = 3;
/// Instructions of the longest run.
const MOST: usize = 256;

/// What an operand is in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A word with a bit a lane.
    Pred,
    /// 32 words.
    Narrow,
    /// 64 words.
    Wide,
}

impl Shape {
    /// LLVM's type of a lane.
    pub fn ty(self) -> &'static str {
        match self {
            Shape::Pred => "i1",
            Shape::Narrow => "i32",
            Shape::Wide => "i64",
        }
    }

    fn of_bytes(bytes: u32) -> Shape {
        if bytes == 8 { Shape::Wide } else { Shape::Narrow }
    }
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Global or constant, or generic addresses that turn out to be such; addresses have 64 bits.
    Global,
    /// Shared; addresses are 32-bit offsets.
    Shared,
    /// Shared; 64-bit offsets.
    Shared64,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// It writes.
    pub store: bool,
    /// Which memory.
    pub memory: Memory,
    /// 4 or 8.
    pub bytes: u32,
    /// The row that is loaded or stored.
    pub d: u32,
    /// The row of addresses.
    pub a: u32,
    /// Added to each.
    pub added: i32,
    /// The allocation to try first.
    pub slot: u32,
}

impl Access {
    /// Shape of the row of addresses.
    pub fn address(&self) -> Shape {
        if self.memory == Memory::Shared { Shape::Narrow } else { Shape::Wide }
    }

    /// To memory that no address of global memory names.
    pub fn is_shared(&self) -> bool {
        self.memory != Memory::Global
    }

    /// Shape of what is loaded or stored.
    pub fn value(&self) -> Shape {
        Shape::of_bytes(self.bytes)
    }
}

/// Arithmetic.
#[derive(Clone, Debug)]
pub struct Alu {
    /// The operation; empty for one that only the interpreter knows.
    pub name: String,
    /// What it was told at compile time.
    pub flags: u32,
    /// Shape of the result, if it has one.
    pub result: Option<Shape>,
    /// Its row.
    pub d: u32,
    /// Rows of operands, with their shapes.
    pub args: Vec<(u32, Shape)>,
    /// A number that it needs.
    pub imm: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub enum Line {
    /// Arithmetic.
    Alu(Alu),
    /// `%tid` on an axis, to a row.
    Tid(u32, u32),
    /// A number that all threads of a block have: index of the field of the context that points to it, axis,
    /// row.
    Uniform(u32, u32, u32),
    /// A parameter: bytes, row, offset.
    Parameter(u32, u32, u32),
    /// Memory.
    Access(Access),
    /// A branch, which is passed if all lanes have this in this row.
    Branch(u32, bool),
}

impl Line {
    /// The rows that it reads.
    pub fn reads(&self) -> Vec<u32> {
        match self {
            Line::Alu(alu) => alu.args.iter().map(|arg| arg.0).collect(),
            Line::Access(access) if access.store => vec![access.d, access.a],
            Line::Access(access) => vec![access.a],
            Line::Branch(row, _) => vec![*row],
            Line::Tid(..) | Line::Uniform(..) | Line::Parameter(..) => Vec::new(),
        }
    }

    /// The row that it writes, in all lanes.
    pub fn writes(&self) -> Option<u32> {
        match self {
            Line::Alu(alu) => alu.result.map(|_| alu.d),
            Line::Access(access) => (!access.store).then_some(access.d),
            Line::Tid(_, row) | Line::Uniform(_, _, row) | Line::Parameter(_, row, _) => Some(*row),
            Line::Branch(..) => None,
        }
    }
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Its instructions.
    pub lines: Vec<Line>,
    /// Rows with a value that is known.
    pub constants: BTreeMap<u32, u64>,
    /// Rows with one value in all lanes.
    pub same: BTreeSet<u32>,
    /// Rows that nobody reads after the run.
    pub dead: BTreeSet<u32>,
    /// The same after a branch, by its index and the row.
    pub gone: BTreeSet<(usize, u32)>,
}

/// Reads a run. `None` for what is no run of this version.
pub fn read(text: &str) -> Option<Run> {
    let mut lines = text.lines();
    let mut head = Fields::of(lines.next()?);
    let (word, version, count) = (head.word()?, head.number::<u32>()?, head.number::<usize>()?);
    if word != "run" || version != VERSION || count > MOST {
        return None;
    }
    let mut run = Run::default();
    for text in lines {
        let mut words = Fields::of(text);
        match words.word()? {
            "const" => {
                words.shape()?;
                run.constants.insert(words.row()?, words.number()?);
            }
            "same" => {
                words.shape()?;
                run.same.insert(words.row()?);
            }
            "dead" => {
                words.shape()?;
                run.dead.insert(words.row()?);
            }
            "gone" => {
                run.gone.insert((words.number()?, words.row()?));
            }
            word => run.lines.push(line(word, &mut words)?),
        }
        words.end()?;
    }
    (run.lines.len() == count && count > 0).then_some(run)
}

fn line(word: &str, words: &mut Fields<'_>) -> Option<Line> {
    let uniform =
        |field, words: &mut Fields<'_>| Some(Line::Uniform(field, words.axis()?, words.row()?));
    match word {
        "alu" => words.alu().map(Line::Alu),
        "tid" => Some(Line::Tid(words.axis()?, words.row()?)),
        "ctaid" => uniform(super::context::CTAID, words),
        "ntid" => uniform(super::context::NTID, words),
        "nctaid" => uniform(super::context::NCTAID, words),
        "parameter" => {
            let (bytes, row, offset) = (words.bytes()?, words.row()?, words.number()?);
            Some(Line::Parameter(bytes, row, offset))
        }
        "load" => words.access(false).map(Line::Access),
        "store" => words.access(true).map(Line::Access),
        "branch" => {
            let (row, not) = (words.row()?, words.number().filter(|not: &u32| *not < 2)?);
            Some(Line::Branch(row, not != 0))
        }
        _ => None,
    }
}

struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Fields<'a> {
        Fields(text.split(' '))
    }

    fn word(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn end(&mut self) -> Option<()> {
        self.0.next().is_none().then_some(())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }

    /// An offset in a frame, of which there are none as large as this.
    fn row(&mut self) -> Option<u32> {
        self.number().filter(|row| *row < 1 << 27)
    }

    fn axis(&mut self) -> Option<u32> {
        self.number().filter(|axis| *axis < 3)
    }

    fn bytes(&mut self) -> Option<u32> {
        self.number().filter(|bytes| [4, 8].contains(bytes))
    }

    fn shape(&mut self) -> Option<Shape> {
        let word = self.word()?;
        let mut letters = word.chars();
        let shape = shape(letters.next()?)?;
        letters.next().is_none().then_some(shape).flatten()
    }

    fn alu(&mut self) -> Option<Alu> {
        let name = self.word()?;
        let name = if name == "?" { String::new() } else { name.to_string() };
        let flags = self.number()?;
        let shapes: Vec<Option<Shape>> = self.word()?.chars().map(shape).collect::<Option<_>>()?;
        let &[result, a, b, c] = shapes.as_slice() else { return None };
        let rows: [u32; 4] = [self.row()?, self.row()?, self.row()?, self.row()?];
        let args = [a, b, c].into_iter().zip(&rows[1..]);
        let args = args.filter_map(|(shape, row)| Some((*row, shape?))).collect();
        Some(Alu { name, flags, result, d: rows[0], args, imm: self.number()? })
    }

    fn access(&mut self, store: bool) -> Option<Access> {
        let memory = match self.word()? {
            "global" => Memory::Global,
            "shared" => Memory::Shared,
            "shared64" => Memory::Shared64,
            _ => return None,
        };
        let (bytes, d, a) = (self.bytes()?, self.row()?, self.row()?);
        let (added, slot) = (self.number()?, self.number::<u32>().filter(|slot| *slot < 8)?);
        Some(Access { store, memory, bytes, d, a, added, slot })
    }
}

/// `Some(None)` for no operand.
fn shape(letter: char) -> Option<Option<Shape>> {
    match letter {
        '-' => Some(None),
        'p' => Some(Some(Shape::Pred)),
        'n' => Some(Some(Shape::Narrow)),
        'w' => Some(Some(Shape::Wide)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_run_is_none() {
        let good = "run 3 3\nalu Add32 0 nnn- 0 32 64 0 0\nbranch 160 1\nload global 4 96 128 -4 3\nconst n 32 7\ngone 1 0\ndead n 0\n";
        let run = read(good).expect("a run");
        assert_eq!((run.lines.len(), run.constants[&32], run.dead.len()), (3, 7, 1));
        for (from, to) in [
            ("run 3", "run 1"),
            ("run 3 3", "run 3 2"),
            ("160 1", "160 2"),
            ("160 1", "160"),
            ("gone 1 0", "gone 1"),
            ("nnn-", "nnn"),
            ("nnn-", "nnx-"),
            ("global", "somewhere"),
            ("global 4", "global 3"),
            ("-4 3", "-4 8"),
            ("-4 3", "-4 3 1"),
            ("96 128", "96 999999999"),
            ("const n", "const nn"),
            ("dead", "alive"),
        ] {
            assert!(read(&good.replace(from, to)).is_none(), "{from} as {to}");
        }
        assert!(read("").is_none());
    }
}
