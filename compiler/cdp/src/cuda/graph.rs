//! The launch graph of a `.cu` file: device launches from the module, host launches from the host
//! half's, and the configurations as the source has them.

use std::collections::{BTreeMap, BTreeSet};

use cdp_llvm::{ClangFacts, LaunchFact, source_name};

use crate::analysis::SourceInput;
use crate::error::Error;
use crate::graph::{LaunchEdge, LaunchGraph};

/// The launches of device code, and the calls that lead to them.
pub(super) fn of_device(facts: &ClangFacts) -> LaunchGraph {
    let launches: Vec<_> = facts.launches.iter().map(|fact| edge(fact, true)).collect();
    let calls = leading(&launches, &facts.calls);
    LaunchGraph { launches, calls }
}

/// Adds the launches of host code, given as bitcode that was not optimised.
pub(super) fn add_host(graph: &mut LaunchGraph, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let found = crate::error::guard_input(name, || {
        cdp_llvm::host_launches(name, bytes)
            .map_err(|error| Error::Input { name: name.into(), message: error.to_string() })
    })?;
    let (launches, calls) = found;
    let launches: Vec<_> = launches.iter().map(|fact| edge(fact, false)).collect();
    graph.calls.extend(leading(&launches, &calls));
    graph.launches.extend(launches);
    Ok(())
}

fn edge(fact: &LaunchFact, from_device: bool) -> LaunchEdge {
    let dims = |dims: [Option<u64>; 3]| match dims {
        [Some(x), Some(1), Some(1)] => x.to_string(),
        [Some(x), Some(y), Some(z)] => format!("dim3({x}, {y}, {z})"),
        _ => "...".into(),
    };
    let place = fact.place.as_ref();
    LaunchEdge {
        parent: source_name(&fact.parent),
        from_device,
        child: source_name(&fact.child),
        grid: dims(fact.grid),
        block: dims(fact.block),
        shared: String::new(),
        stream: String::new(),
        file: place.map_or(String::new(), |place| place.file.clone()),
        line: place.map_or(0, |place| place.line),
        column: place.map_or(0, |place| place.column),
    }
}

/// The calls between functions from which a launch can be reached.
fn leading(launches: &[LaunchEdge], calls: &[(String, String)]) -> Vec<(String, String)> {
    let named: Vec<_> =
        calls.iter().map(|(from, to)| (source_name(from), source_name(to))).collect();
    let mut launching: BTreeSet<&str> = launches.iter().map(|edge| &*edge.parent).collect();
    loop {
        let before = launching.len();
        for (from, to) in &named {
            if launching.contains(&**to) {
                launching.insert(from);
            }
        }
        if launching.len() == before {
            break;
        }
    }
    let mut out: Vec<(String, String)> = Vec::new();
    for call in named.iter().filter(|(_, to)| launching.contains(&**to)) {
        if !out.contains(call) {
            out.push(call.clone());
        }
    }
    out
}

/// Puts the configurations as written in the place of what the module says, where the launch's line has
/// one that is the kernel's.
pub(super) fn add_texts(graph: &mut LaunchGraph, source: &SourceInput) {
    let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
    for edge in &mut graph.launches {
        let text = texts.entry(edge.file.clone()).or_insert_with(|| source.text_of(&edge.file));
        let Some(text) = text else { continue };
        let from = text.split_inclusive('\n').take(edge.line.saturating_sub(1) as usize);
        let start: usize = from.map(str::len).sum();
        // Where a macro makes the launch, its kernel's name may stand before the place that is given.
        let here = text.get(start + edge.column.saturating_sub(1) as usize..);
        let parts = here.and_then(|rest| configuration(rest, &edge.child));
        let Some(parts) = parts.or_else(|| configuration(&text[start..], &edge.child)) else {
            continue;
        };
        let part = |index: usize| parts.get(index).cloned().unwrap_or_default();
        (edge.grid, edge.block) = (part(0), part(1));
        (edge.shared, edge.stream) = (part(2), part(3));
        if edge.stream.is_empty() && edge.shared == "0" {
            edge.shared = String::new();
        }
    }
}

/// The parts of the first `<<<...>>>` of a text, which has to begin within a few lines, behind the
/// kernel's name.
fn configuration(text: &str, kernel: &str) -> Option<Vec<String>> {
    const LINES: usize = 4;
    let base = kernel.split('<').next().unwrap_or(kernel).rsplit("::").next()?;
    let near: usize = text.split_inclusive('\n').take(LINES).map(str::len).sum();
    let mut from = 0;
    let inside = loop {
        let open = from + text[from..near].find("<<<")?;
        let words = text[from..open].trim_end();
        let named = words
            .rsplit_once(base)
            .is_some_and(|(_, rest)| rest.is_empty() || rest.trim_start().starts_with('<'));
        if named {
            break &text[open + 3..];
        }
        from = open + 3;
    };
    let (mut parts, mut depth, mut part) = (Vec::new(), 0usize, String::new());
    for (at, c) in inside.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '>' if depth == 0 && inside[at..].starts_with(">>>") => {
                parts.push(part);
                let one_line =
                    |part: &String| part.split_whitespace().collect::<Vec<_>>().join(" ");
                return Some(parts.iter().map(one_line).collect());
            }
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            ';' if depth == 0 => return None,
            _ => {}
        }
        part.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::configuration;

    #[test]
    fn configurations_are_found_in_the_text() {
        let parts = |text: &str, kernel: &str| configuration(text, kernel).map(|p| p.join("|"));
        let text = "  if (n) child<int> <<<dim3(n, 2),\n   f(a, b), 0, s>>>(x);";
        assert_eq!(parts(text, "child<int>").unwrap(), "dim3(n, 2)|f(a, b)|0|s");
        assert_eq!(parts("a<<<1, 2>>>(); ns::b<<<3, 4>>>();", "ns::b").unwrap(), "3|4");
        assert_eq!(parts("LAUNCH(child, 1);", "child"), None);
    }
}
