//! The launch graph: who launches whom, as text, DOT or SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use cdp_frontend::check::{CallFact, LaunchFact};
use serde::Serialize;

/// One launch site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchEdge {
    /// The launching function as in the source.
    pub parent: String,
    /// Whether the launch happens on the device.
    pub from_device: bool,
    /// The kernel.
    pub child: String,
    /// Source text of the configuration; empty when left out.
    pub grid: String,
    pub block: String,
    pub shared: String,
    pub stream: String,
    pub file: String,
    pub line: u32,
}

/// Launch sites and the calls between functions that connect them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaunchGraph {
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
                }
            })
            .collect();
        let mut launching: BTreeSet<&str> = launches.iter().map(|edge| &*edge.parent).collect();
        loop {
            let before = launching.len();
            for call in calls {
                if launching.contains(&*call.callee) {
                    launching.insert(&call.caller);
                }
            }
            if launching.len() == before {
                break;
            }
        }
        let reaches = |call: &&CallFact| launching.contains(&*call.callee);
        let calls = calls
            .iter()
            .filter(reaches)
            .map(|call| (call.caller.clone(), call.callee.clone()))
            .collect();
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

mod svg {
    //! The drawing of a launch graph.

    use std::collections::BTreeMap;
    use std::fmt::Write;

    use super::LaunchGraph;

    const COLUMN: usize = 320;
    const ROW: usize = 80;
    const WIDTH: usize = 180;
    const HEIGHT: usize = 32;

    pub(super) fn draw(graph: &LaunchGraph) -> String {
        let nodes = graph.nodes();
        let columns = columns(graph, &nodes);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        let mut place: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for name in &nodes {
            let column = columns[name];
            let row = rows.entry(column).or_default();
            place.insert(name, (40 + column * COLUMN, 40 + *row * ROW));
            *row += 1;
        }
        let width = 80 + rows.len() * COLUMN;
        let height = 80 + rows.values().max().unwrap_or(&1) * ROW;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<defs><marker id=\"head\" \
             viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let mut between: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for edge in &graph.launches {
            let nth = between.entry((&edge.parent, &edge.child)).or_default();
            arrow(&mut out, place[&*edge.parent], place[&*edge.child], &edge.config(), "", *nth);
            *nth += 1;
        }
        for (caller, callee) in &graph.calls {
            let dashes = " stroke-dasharray=\"3 3\"";
            arrow(&mut out, place[&**caller], place[&**callee], "calls", dashes, 0);
        }
        for (name, (x, y)) in &place {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" \
                 fill=\"#eef4ff\" stroke=\"#335\"/><text x=\"{}\" y=\"{}\" \
                 text-anchor=\"middle\">{}</text>",
                x + WIDTH / 2,
                y + HEIGHT / 2 + 4,
                escape(name)
            );
        }
        out.push_str("</svg>\n");
        out
    }

    /// The longest path from a root, cycles cut.
    fn columns<'a>(graph: &'a LaunchGraph, nodes: &[&'a str]) -> BTreeMap<&'a str, usize> {
        let launches = graph.launches.iter().map(|edge| (&*edge.parent, &*edge.child));
        let calls = graph.calls.iter().map(|(caller, callee)| (&**caller, &**callee));
        let edges: Vec<_> = launches.chain(calls).filter(|(from, to)| from != to).collect();
        let mut columns: BTreeMap<&str, usize> = nodes.iter().map(|name| (*name, 0)).collect();
        for _ in 0..nodes.len() {
            let mut changed = false;
            for (from, to) in &edges {
                let least = columns[from] + 1;
                if columns[to] < least && least < nodes.len() {
                    columns.insert(to, least);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        columns
    }

    fn arrow(
        out: &mut String,
        from: (usize, usize),
        to: (usize, usize),
        label: &str,
        style: &str,
        nth: usize,
    ) {
        let (x1, y1) = (from.0 + WIDTH, from.1 + HEIGHT / 2);
        let (x2, y2) = (to.0, to.1 + HEIGHT / 2);
        let bend = 24 + 18 * nth;
        let path = if from == to {
            let (x, y) = (from.0 + WIDTH / 2, from.1);
            format!(
                "M{} {y} C{} {} {} {} {} {y}",
                x - 30,
                x - 40,
                y - bend,
                x + 40,
                y - bend,
                x + 30
            )
        } else {
            let middle = (x1 + x2) / 2;
            format!("M{x1} {y1} C{middle} {} {middle} {} {x2} {y2}", y1 + 18 * nth, y2 + 18 * nth)
        };
        let (label_x, label_y) = if from == to {
            (from.0 + WIDTH / 2, from.1.saturating_sub(bend * 3 / 4))
        } else {
            ((x1 + x2) / 2, (y1 + y2) / 2 + 14 * nth)
        };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#335\"{style} marker-end=\"url(#head)\"/>\
             <text x=\"{label_x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
            label_y.saturating_sub(4),
            escape(label)
        );
    }

    fn escape(text: &str) -> String {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    }
}
