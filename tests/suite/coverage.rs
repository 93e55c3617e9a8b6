//! Nothing is claimed that no case shows: every diagnostic code has a page, every page belongs to a
//! code, every builtin function and every function of the device runtime is called by some case that
//! is compiled, and every operation of the IR comes out of one. What a case then does is for the
//! families that run it.

use std::collections::BTreeSet;

use cdp::{Pass, SourceInput, analyse};
use cdp_diagnostics::codes::ALL;
use cdp_frontend::check::builtins::{BuiltinFn, Lower, all_functions};
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
    /// Where an operation stands in a module, and which: `Binary.op Add`.
    operations: BTreeSet<String>,
}

fn builtins_and_operations() -> Outcome {
    let used = used()?;
    let mut missing: Vec<String> = all_functions()
        .filter(|row| is_for_programs(row) && !used.rows.contains(&address(row)))
        .map(|row| format!("{} {}", row.name, row.signature))
        .collect();
    for (file, enumerations) in OPERATIONS {
        let text = read(&root().join("compiler/cdp-ir/src").join(file))?;
        for (enumeration, places) in *enumerations {
            let variants = variants(&text, enumeration)?;
            let operations = places
                .iter()
                .flat_map(|place| variants.iter().map(move |name| format!("{place} {name}")))
                .filter(|operation| !WITHOUT_A_SPELLING.contains(&operation.as_str()));
            missing.extend(operations.filter(|operation| !used.operations.contains(operation)));
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
    !(row.flags.internal || refused(row.device) && refused(row.host))
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
                record_operations(&format!("{:?}", **module), &mut used.operations);
            }
        }
    }
    Ok(used)
}

/// Notes each variant in a value's debug text with the struct or variant and the field that hold it; lists,
/// options and boxes are seen through.
fn record_operations(text: &str, operations: &mut BTreeSet<String>) {
    // The open brackets: the name before each and the field that is being read.
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut rest = text;
    let mut word = "";
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let end = rest[1..].match_indices('"').find(|(at, _)| !is_escaped(&rest[1..], *at));
                end.map_or(rest.len(), |(at, _)| at + 2)
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                word = &rest[..end.unwrap_or(rest.len())];
                if word.starts_with(|c: char| c.is_ascii_uppercase())
                    && let Some((owner, field)) =
                        open.iter().rev().find(|(owner, _)| !matches!(*owner, "" | "Some"))
                {
                    operations.insert(format!("{owner}.{field} {word}"));
                }
                rest = &rest[word.len()..];
                continue;
            }
            '{' | '(' => {
                open.push((word, "0"));
                1
            }
            '[' => {
                open.push(("", "0"));
                1
            }
            '}' | ')' | ']' => {
                open.pop();
                1
            }
            ':' => {
                if let Some(last) = open.last_mut() {
                    last.1 = word;
                }
                1
            }
            c => c.len_utf8(),
        };
        if first != ' ' {
            word = "";
        }
        rest = &rest[length..];
    }
}

/// Whether an odd number of backslashes stands before a place.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// The enumerations of operations by file, each with the places where every variant must have stood.
type Places = &'static [&'static str];
const OPERATIONS: &[(&str, &[(&str, Places)])] = &[
    (
        "expr.rs",
        &[
            ("UnaryOp", &["Unary.op"]),
            ("BinaryOp", &["Binary.op", "Update.op"]),
            ("CompareOp", &["Compare.op"]),
            ("CastKind", &["Cast.kind"]),
            ("Callee", &["Call.callee", "Launch.kernel"]),
            ("Dim", &["Launch.grid", "Launch.block"]),
            ("UpdateYield", &["Update.yields"]),
            ("ExprKind", &["Expr.kind"]),
        ],
    ),
    ("stmt.rs", &[("Unroll", &["Loop.unroll"]), ("StmtKind", &["Stmt.kind"])]),
    (
        "intrinsic.rs",
        &[
            ("BuiltinVar", &["Builtin.0"]),
            ("Scope", &["Fence.0", "Atomic.scope"]),
            ("AtomicOp", &["Atomic.op"]),
            ("ShuffleMode", &["Shuffle.0"]),
            ("VoteMode", &["Vote.0"]),
            ("CacheOp", &["CacheLoad.0", "CacheStore.0"]),
            ("Intrinsic", &["Intrinsic.op"]),
        ],
    ),
    ("runtime.rs", &[("RuntimeFn", &["RuntimeCall.func"])]),
];

/// What no construct of the language makes. Special registers: a program reads them by inline PTX, and
/// the back end's own tests lower them.
const WITHOUT_A_SPELLING: &[&str] = &[
    "Builtin.0 LaneId",
    "Builtin.0 WarpId",
    "Builtin.0 SmId",
    "Builtin.0 GridId",
    "Builtin.0 DynamicSharedBytes",
    "Builtin.0 TotalSharedBytes",
    "Builtin.0 Clock",
    "Builtin.0 GlobalTimer",
    // CUDA has no such function: what caches do on a load and on a store differs.
    "Atomic.scope Cluster",
    "CacheLoad.0 WriteBack",
    "CacheLoad.0 WriteThrough",
    "CacheStore.0 NonCoherent",
    "CacheStore.0 All",
    "CacheStore.0 LastUse",
    "CacheStore.0 Volatile",
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
