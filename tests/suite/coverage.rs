//! Nothing is claimed that no case shows: every diagnostic code is raised by some case or page, and
//! every page belongs to a code.

use std::collections::BTreeSet;

use cdp::frontend::diagnostics::codes::ALL;
use libtest_mimic::Trial;

use crate::support::{Outcome, files, root, stem, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial("coverage::pages".into(), pages)]
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
