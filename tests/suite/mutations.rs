//! The repository's own programs with tokens changed at random: whatever comes of them, the front
//! end ends, makes no mistake of its own, and its findings lie inside the files.
//!
//! The numbers are fixed, so that every run makes the same programs. By hand, for longer:
//! `CDP_MUTATION_SEED=7 CDP_MUTATION_CASES=20000 cargo test -p cdp-tests --test suite -- mutations::`.

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cdp::{Arch, CompileOptions, Pass, SourceInput, analyse};
use cdp_fuzz::spans_are_inside;
use libtest_mimic::Trial;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

use crate::support::{Outcome, cases, files, read, root, trial};

/// Programs of each trial when nothing else is asked for.
const CASES: u32 = 150;
/// Far above what any of them takes, far below what would be a hang.
const LIMIT: Duration = Duration::from_secs(30);

/// Tokens that change what the ones around them mean.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "(", ")", "{", "}", "[", "]", "<<<", ">>>", "<", ">", ";", ",", ":", "::", "?", "=", "*", "&",
    "&&", ".", "->", "...", "#", "\n#define X ", "\n#if 1\n", "\n#endif\n", "\n", "\\\n", "\"",
    "'", "/*", "//", "+", "++", "~", "!", "0", "1.5f", "0x", "1'0", "\"text\"", "'a'", "int",
    "void", "float", "auto", "const", "unsigned", "struct", "union", "enum", "class", "typedef",
    "using", "namespace", "template", "operator", "new", "delete", "sizeof", "alignof",
    "decltype", "static_cast<int>", "if", "else", "for", "while", "do", "switch", "case",
    "default", "break", "continue", "return", "goto", "try", "throw", "extern", "static",
    "constexpr", "inline", "\"C\"", "__global__", "__device__", "__host__", "__shared__",
    "__constant__", "__launch_bounds__(32)", "alignas(8)", "[[nodiscard]]", "__attribute__((",
    "asm", "static_assert", "nullptr", "true", "this", "threadIdx", "dim3", "float4", "__half",
    "printf", "cudaMalloc", "cudaStream_t", "kernel", "main", "x", "std", "restrict", "va_list",
    "[&](int a) { return a; }", "#pragma unroll\n",
];

/// One change of a list of tokens.
#[derive(Clone, Debug)]
enum Change {
    Remove(Index, usize),
    Double(Index),
    Swap(Index, Index),
    /// A token of [`WORDS`] in place of one.
    Replace(Index, Index),
    /// A token of [`WORDS`] before one.
    Insert(Index, Index),
    /// A token of the program in place of another.
    Copy(Index, Index),
    /// Tokens of another program before one.
    Splice(Index, Index, Index, usize),
    /// Nothing from here on.
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        (index(), 1usize..6).prop_map(|(at, count)| Change::Remove(at, count)),
        index().prop_map(Change::Double),
        (index(), index()).prop_map(|(a, b)| Change::Swap(a, b)),
        (index(), index()).prop_map(|(at, word)| Change::Replace(at, word)),
        (index(), index()).prop_map(|(at, word)| Change::Insert(at, word)),
        (index(), index()).prop_map(|(at, from)| Change::Copy(at, from)),
        (index(), index(), index(), 1usize..40)
            .prop_map(|(at, program, from, count)| Change::Splice(at, program, from, count)),
        index().prop_map(Change::Cut),
    ]
}

pub fn trials() -> Vec<Trial> {
    let families = ["errors", "documents", "ptx", "run", "reports", "intrinsics"];
    families
        .into_iter()
        .map(|family| trial(format!("mutations::{family}"), move || mutations(family)))
        .chain([trial("mutations::samples".into(), || mutations("samples"))])
        .collect()
}

fn mutations(family: &str) -> Outcome {
    let folder = if family == "samples" { root().join("samples") } else { cases(family) };
    let mut paths: Vec<PathBuf> = files(&folder, "cdp");
    paths.sort();
    let texts = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let programs: Vec<Vec<&str>> = texts.iter().map(|text| tokens(text)).collect();
    let number = |name: &str, default| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let seed = number("CDP_MUTATION_SEED", 1);
    let config = Config {
        cases: number("CDP_MUTATION_CASES", u64::from(CASES)) as u32,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    let strategy = (any::<Index>(), proptest::collection::vec(change(), 1..8));
    let outcome = TestRunner::new(config).run(&strategy, |(program, changes)| {
        survives(&mutated(&programs, program, &changes)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(TestError::Fail(reason, (program, changes))) => {
            let text = mutated(&programs, program, &changes);
            let path = &paths[program.index(paths.len())];
            let failure = format!("{reason}\nseed {seed}, {}, {changes:?}\n{text}", path.display());
            Err(failure.into())
        }
        Err(TestError::Abort(reason)) => Err(format!("seed {seed}: {reason}").into()),
    }
}

/// Words, numbers, strings, and other characters one by one; blanks belong to what is before them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let mut end = match first {
            '"' => rest[1..].find(['"', '\n']).map_or(rest.len(), |at| at + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            '<' if rest.starts_with("<<<") => 3,
            '>' if rest.starts_with(">>>") => 3,
            c => c.len_utf8(),
        };
        end += rest[end..].len() - rest[end..].trim_start_matches([' ', '\n']).len();
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

fn mutated(programs: &[Vec<&str>], program: Index, changes: &[Change]) -> String {
    let mut list: Vec<&str> = programs[program.index(programs.len())].clone();
    for change in changes {
        if list.is_empty() {
            break;
        }
        let len = list.len();
        let range = |at: &Index, count: usize, len: usize| -> Range<usize> {
            let at = at.index(len);
            at..(at + count).min(len)
        };
        match change {
            Change::Remove(at, count) => drop(list.drain(range(at, *count, len))),
            Change::Double(at) => list.insert(at.index(len), list[at.index(len)]),
            Change::Swap(a, b) => list.swap(a.index(len), b.index(len)),
            Change::Replace(at, word) => list[at.index(len)] = WORDS[word.index(WORDS.len())],
            Change::Insert(at, word) => list.insert(at.index(len), WORDS[word.index(WORDS.len())]),
            Change::Copy(at, from) => list[at.index(len)] = list[from.index(len)],
            Change::Splice(at, program, from, count) => {
                let other = &programs[program.index(programs.len())];
                let taken = other[range(from, *count, other.len())].to_vec();
                let at = at.index(len);
                list.splice(at..at, taken);
            }
            Change::Cut(at) => list.truncate(at.index(len)),
        }
    }
    list.iter()
        .flat_map(|token| [*token, if token.ends_with(['\n', ' ']) { "" } else { " " }])
        .collect()
}

fn survives(text: &str) -> Result<(), String> {
    let source = SourceInput::text("mutated.cdp", text.to_owned());
    let started = Instant::now();
    for pass in [Pass::Device(Arch::SM_90), Pass::Host] {
        let analysis = analyse(&source, pass, &CompileOptions::default())
            .map_err(|error| format!("{pass:?}: {error}"))?;
        // Rendering looks every span up.
        let _ = format!("{:?}", analysis.report);
        spans_are_inside(&analysis.report)?;
        let elapsed = started.elapsed();
        if elapsed > LIMIT {
            return Err(format!("{pass:?} took {elapsed:?}"));
        }
    }
    Ok(())
}
