//! Nothing is claimed that no case shows: every diagnostic code has a page, every page belongs to a
//! code, every builtin function and every function of the device runtime is called by some case that
//! is compiled, and every operation of the IR comes out of one. What a case then does is for the
//! families that run it.

use std::collections::BTreeSet;

use cdp::frontend::check::builtins::{BuiltinFn, Lower, all_functions};
use cdp::frontend::diagnostics::codes::ALL;
use cdp::{Pass, SourceInput, analyse};
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::support::{Outcome, cases, files, read, root, stem, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("coverage::pages".into(), pages),
        trial("coverage::builtins_and_operations".into(), builtins_and_operations),
    ]
}

fn pages() -> Outcome {
    let codes: BTreeSet<String> = ALL.iter().map(ToString::to_string).collect();
    let pages: BTreeSet<String> =
        files(&root().join("compiler/docs/codes"), "md").iter().map(|path| stem(path)).collect();
    let missing: Vec<_> = codes.difference(&pages).collect();
    let orphans: Vec<_> = pages.difference(&codes).collect();
    if missing.is_empty() && orphans.is_empty() {
        return Ok(());
    }
    Err(format!("codes without a page: {missing:?}; pages without a code: {orphans:?}").into())
}

/// What the cases use between them.
#[derive(Default)]
struct Used {
    /// Addresses of rows.
    rows: BTreeSet<usize>,
    /// Words of the modules' debug text: the names of their operations among them.
    words: BTreeSet<String>,
}

fn builtins_and_operations() -> Outcome {
    let used = used()?;
    let mut missing: Vec<String> = all_functions()
        .filter(|row| is_for_programs(row) && !used.rows.contains(&address(row)))
        .map(|row| format!("{} {}", row.name, row.signature))
        .collect();
    for (file, enumerations) in OPERATIONS {
        let text = read(&root().join("compiler/cdp-ir/src").join(file))?;
        for enumeration in *enumerations {
            let variants = variants(&text, enumeration)?;
            let unused = variants.into_iter().filter(|name| {
                !used.words.contains(name) && !WITHOUT_A_SPELLING.contains(&name.as_str())
            });
            missing.extend(unused.map(|name| format!("{enumeration}::{name}")));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("{} without a case:\n{}", missing.len(), missing.join("\n")).into())
}

fn address(row: &'static BuiltinFn) -> usize {
    std::ptr::from_ref(row) as usize
}

/// A row that a program can name, and that has code on some side.
fn is_for_programs(row: &BuiltinFn) -> bool {
    let refused = |lower| matches!(lower, Lower::Refuse(_));
    !row.flags.internal && !(refused(row.device) && refused(row.host))
}

/// Both passes of every case that is compiled, for each architecture it names.
fn used() -> Result<Used, Failed> {
    let folders = ["documents", "intrinsics", "run", "ptx"].map(cases);
    let programs = folders.iter().flat_map(|folder| files(folder, "cdp"));
    let mut used = Used::default();
    for path in programs.chain(files(&root().join("samples"), "cdp")) {
        let directives = Directives::of(&path)?;
        let source = SourceInput::File(path.clone());
        for arch in directives.archs()? {
            for pass in [Pass::Device(arch), Pass::Host] {
                let analysis = analyse(&source, pass, &directives.options(arch))
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                used.rows.extend(analysis.builtins.iter().map(|row| address(row)));
                let Some(module) = &analysis.module else { continue };
                // Names of the program itself are in quotes.
                let text = format!("{:?}", **module);
                let plain = text
                    .split('"')
                    .step_by(2)
                    .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
                for word in plain {
                    if !word.is_empty() && !used.words.contains(word) {
                        used.words.insert(word.to_owned());
                    }
                }
            }
        }
    }
    Ok(used)
}

/// The enumerations of operations, by file.
const OPERATIONS: &[(&str, &[&str])] = &[
    (
        "expr.rs",
        &[
            "UnaryOp",
            "BinaryOp",
            "CompareOp",
            "CastKind",
            "Callee",
            "Dim",
            "UpdateYield",
            "ExprKind",
        ],
    ),
    ("stmt.rs", &["Unroll", "StmtKind"]),
    (
        "intrinsic.rs",
        &["BuiltinVar", "Scope", "AtomicOp", "ShuffleMode", "VoteMode", "CacheOp", "Intrinsic"],
    ),
    ("runtime.rs", &["RuntimeFn"]),
];

/// Special registers that no construct of the language reads (a program reads them by inline PTX); the
/// back end's own tests lower them.
const WITHOUT_A_SPELLING: &[&str] = &[
    "LaneId",
    "WarpId",
    "SmId",
    "GridId",
    "DynamicSharedBytes",
    "TotalSharedBytes",
    "Clock",
    "GlobalTimer",
];

/// The variants of an enumeration, from the text that declares it, so that none is forgotten.
fn variants(text: &str, enumeration: &str) -> Result<Vec<String>, Failed> {
    let head = format!("pub enum {enumeration} {{\n");
    let (_, body) = text.split_once(&head).ok_or(format!("no `{enumeration}`"))?;
    let (body, _) = body.split_once("\n}").ok_or(format!("`{enumeration}` does not end"))?;
    let names = body.lines().filter_map(|line| {
        let word = line.strip_prefix("    ")?;
        let name: String = word.chars().take_while(char::is_ascii_alphanumeric).collect();
        name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
    });
    Ok(names.collect())
}
