//! Programs that cannot have undefined behaviour.
//!
//! Every thread has variables of every arithmetic type, a record with bit-fields, a union, arrays and a few
//! words of global memory, all with values from the start; a statement changes some of them, and any statement
//! can be left out. Integers are added and multiplied without sign in at least 32 bits, shifts are masked,
//! divisions look at their operands, floating values are converted to integers in a range that all of them
//! have, or by CUDA's functions, which answer for all. Operations are not contracted (the judges ask for that),
//! and NaNs are all the same in what is compared. The kernel that does this is launched by a parent among
//! others, in all streams that device code has ([`launch`]); some of those have blocks of several warps (`blocks`) or go through
//! arrays (`arrays`).
//!
//! What is absent: the text around it all, which is in [`mod@crate::pack`].

mod arrays;
mod blocks;
mod device;
mod expression;
mod functions;
mod kinds;
mod launch;
mod loops;
mod mixed;
mod records;
mod statement;
mod values;
mod work;

pub use launch::{Kernel, Launch, SLOT_WORDS, SLOTS, Stream};

use crate::random::Random;

/// A program in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it was made from; its functions and kernels have it in their names.
    pub seed: u64,
    /// Functions that statements call, before them in the text.
    pub(crate) functions: Vec<String>,
    /// Statements of each thread, each of which can be left out.
    pub statements: Vec<String>,
    /// What the parent launches; the first is the kernel that runs the statements and always stays.
    pub launches: Vec<Launch>,
    /// Statements have nothing that needs a GPU: the host's compiler can judge them.
    pub plain: bool,
}

impl Program {
    /// Whether launches without streams of CUDA 12 suffice, which older entry points have not.
    pub fn has_old_streams_only(&self) -> bool {
        self.launches.iter().all(Launch::has_old_streams_only)
    }

    /// Whether a GPU writes the same as the CPU device. It does not where many threads launch into one ordered stream, of which
    /// its device runtime now and then loses a launch (`compiler/docs/launch-optimiser.md`), nor where instructions
    /// approximate, whose last bits are the GPU's own.
    pub fn suits_a_gpu(&self) -> bool {
        self.launches.iter().all(|launch| launch.stream != Stream::EachInOrder)
            && !self.statements.iter().any(|statement| device::approximates(statement))
    }
}

/// Integer types: name, unsigned type for arithmetic, bits.
pub(crate) const INTEGERS: [(&str, &str, u32); 9] = [
    ("signed char", "unsigned", 8),
    ("unsigned char", "unsigned", 8),
    ("short", "unsigned", 16),
    ("unsigned short", "unsigned", 16),
    ("int", "unsigned", 32),
    ("unsigned", "unsigned", 32),
    ("long long", "unsigned long long", 64),
    ("unsigned long long", "unsigned long long", 64),
    ("bool", "unsigned", 1),
];

/// Names of the variables of each integer type begin with these letters.
pub(crate) const LETTERS: [&str; 9] = ["c", "b", "s", "h", "i", "u", "l", "w", "y"];

const EDGES: [&str; 14] = [
    "0",
    "1",
    "2",
    "7",
    "255",
    "-128",
    "32767",
    "65535",
    "2147483647",
    "4294967295u",
    "0x80000000u",
    "9223372036854775807ll",
    "0x8000000000000000ull",
    "0x123456789abcdefull",
];

const FLOATS: [&str; 11] = [
    "0.0",
    "1.0",
    "-1.5",
    "0.1",
    "3.0e7",
    "1.0e-20",
    "-2.0e30",
    "1024.0",
    "-0.0",
    "2147483648.0",
    "0.5",
];

/// Makes the program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let plain = random.below(2) == 0;
    let mut maker = Maker { random, plain, seed, labels: 0, records: Vec::new() };
    let mut functions: Vec<String> = (0..3).map(|index| maker.function(index)).collect();
    functions.push(maker.namespace());
    functions.push(maker.declare_records());
    if !plain {
        functions.push(maker.declare_device());
    }
    let count = 8 + maker.random.below(24);
    let statements = (0..count).map(|_| maker.statement(2, true)).collect();
    let launches = maker.launches();
    Program { seed, functions, statements, launches, plain }
}

struct Maker {
    random: Random,
    plain: bool,
    seed: u64,
    labels: u32,
    records: Vec<records::Record>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;

    /// The statements of programs, a line each.
    pub fn statements(programs: impl Iterator<Item = Program>) -> String {
        programs.flat_map(|program| program.statements).collect::<Vec<_>>().join("\n")
    }

    /// That every piece stands in a text.
    pub fn each_occurs(text: &str, pieces: &[&str]) {
        let absent: Vec<_> = pieces.iter().filter(|piece| !text.contains(**piece)).collect();
        assert!(absent.is_empty(), "{absent:?}");
    }

    #[test]
    fn a_seed_makes_the_same_program_again() {
        for seed in 0..50 {
            assert_eq!(generate(seed), generate(seed));
        }
        assert_ne!(pack::source(&[generate(1)]), pack::source(&[generate(2)]));
    }

    #[test]
    fn plain_programs_have_nothing_of_a_gpu() {
        let plain: Vec<Program> = (0..50).map(generate).filter(|program| program.plain).collect();
        assert!(plain.len() > 10);
        let statements = plain.iter().flat_map(|program| &program.statements);
        let of_gpu = |text: &String| {
            let text = text.replace("__int128", "");
            text.contains("_sync") || text.contains("__") || text.contains("make_")
        };
        assert!(!statements.into_iter().any(of_gpu));
    }

    #[test]
    fn all_streams_occur() {
        let mut found: Vec<Stream> = Vec::new();
        for launch in (0..200).flat_map(|seed| generate(seed).launches) {
            if !found.contains(&launch.stream) {
                found.push(launch.stream);
            }
        }
        assert_eq!(found.len(), Stream::ALL.len());
        assert!((0..100).any(|seed| generate(seed).has_old_streams_only()));
    }
}
