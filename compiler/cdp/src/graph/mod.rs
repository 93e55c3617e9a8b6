//! The launch graph: who launches whom, as text, DOT or SVG.

mod svg;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use cdp_frontend::check::{CallFact, LaunchFact};
use serde::Serialize;

/// One launch site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LaunchEdge {
    /// The launching function as in the source.
    pub parent: String,
    /// Whether the launch happens on the device.
    pub from_device: bool,
    /// The kernel.
    pub child: String,
    /// Source text of the configuration; empty when left out.
    pub grid: String,
    /// Threads of a block, likewise.
    pub block: String,
    /// Dynamic shared memory, likewise.
    pub shared: String,
    /// The stream, likewise.
    pub stream: String,
    /// The file of the launch; empty when it is not known.
    pub file: String,
    /// From 1; 0 when it is not known.
    pub line: u32,
    /// Likewise, in bytes: which of a line's launches it is.
    #[serde(skip)]
    pub(crate) column: u32,
}

/// Launch sites and the calls between functions that connect them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LaunchGraph {
    /// In the order of the source, device code first.
    pub launches: Vec<LaunchEdge>,
    /// (caller, callee), for functions from which a launch can be reached.
    pub calls: Vec<(String, String)>,
}

impl LaunchGraph {
    pub(crate) fn new(
        session: &cdp_frontend::Session,
        launches: &[LaunchFact],
        calls: &[CallFact],
    ) -> Self {
        let launches: Vec<_> = launches
            .iter()
            .map(|fact| {
                let location = session.sources.location(fact.span);
                LaunchEdge {
                    parent: fact.parent.clone(),
                    from_device: fact.from_device,
                    child: fact.child.clone(),
                    grid: one_line(&fact.grid),
                    block: one_line(&fact.block),
                    shared: one_line(&fact.shared_bytes),
                    stream: one_line(&fact.stream),
                    file: location.as_ref().map_or(String::new(), |at| at.name.to_string()),
                    line: location.as_ref().map_or(0, |at| at.line),
                    column: 0,
                }
            })
            .collect();
        let calls = calls.iter().map(|call| (call.caller.clone(), call.callee.clone()));
        LaunchGraph::of(launches, calls)
    }

    /// Launches, and of the calls those from which a launch can be reached.
    pub(crate) fn of(
        launches: Vec<LaunchEdge>,
        calls: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let calls: Vec<_> = calls.into_iter().collect();
        let mut launching: BTreeSet<&str> = launches.iter().map(|edge| &*edge.parent).collect();
        loop {
            let before = launching.len();
            for (caller, callee) in &calls {
                if launching.contains(&**callee) {
                    launching.insert(caller);
                }
            }
            if launching.len() == before {
                break;
            }
        }
        let reaches = |call: &&(String, String)| launching.contains(&*call.1);
        let calls = calls.iter().filter(reaches).cloned().collect();
        LaunchGraph { launches, calls }
    }

    /// An indented listing, one launching function a paragraph.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut order: Vec<&str> = Vec::new();
        let mut by_parent: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let launches = self.launches.iter().map(|edge| {
            let line = format!("launches {} {}  (line {})", edge.child, edge.config(), edge.line);
            (&*edge.parent, line)
        });
        let calls =
            self.calls.iter().map(|(caller, callee)| (&**caller, format!("calls {callee}")));
        for (parent, line) in launches.chain(calls) {
            if !order.contains(&parent) {
                order.push(parent);
            }
            by_parent.entry(parent).or_default().push(line);
        }
        for parent in order {
            let side = match self.launches.iter().find(|edge| edge.parent == parent) {
                Some(edge) if !edge.from_device => " (host)",
                _ => "",
            };
            let _ = writeln!(out, "{parent}{side}");
            for line in &by_parent[parent] {
                let _ = writeln!(out, "  {line}");
            }
        }
        if out.is_empty() {
            out.push_str("no launches\n");
        }
        out
    }

    /// Graphviz's language.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph launches {\n  rankdir=LR;\n  node [shape=box];\n");
        for name in self.nodes() {
            let host = self.launches.iter().any(|edge| edge.parent == name && !edge.from_device);
            let style = if host { " [style=dashed]" } else { "" };
            let _ = writeln!(out, "  {}{style};", quote(name));
        }
        for edge in &self.launches {
            let _ = writeln!(
                out,
                "  {} -> {} [label={}];",
                quote(&edge.parent),
                quote(&edge.child),
                quote(&edge.config())
            );
        }
        for (caller, callee) in &self.calls {
            let _ = writeln!(out, "  {} -> {} [style=dotted];", quote(caller), quote(callee));
        }
        out.push_str("}\n");
        out
    }

    fn nodes(&self) -> Vec<&str> {
        let launches = self.launches.iter().flat_map(|edge| [&*edge.parent, &*edge.child]);
        let calls = self.calls.iter().flat_map(|(caller, callee)| [&**caller, &**callee]);
        let mut seen = BTreeSet::new();
        launches.chain(calls).filter(|name| seen.insert(*name)).collect()
    }

    /// A drawing that needs no other tool: functions in columns by their distance from the roots,
    /// launches as arrows with their configuration.
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }
}

impl LaunchEdge {
    /// `<<<grid, block, shared, stream>>>` as written.
    pub fn config(&self) -> String {
        let mut parts = vec![self.grid.as_str(), &self.block];
        if !self.shared.is_empty() || !self.stream.is_empty() {
            parts.push(if self.shared.is_empty() { "0" } else { &self.shared });
        }
        if !self.stream.is_empty() {
            parts.push(&self.stream);
        }
        format!("<<<{}>>>", parts.join(", "))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
