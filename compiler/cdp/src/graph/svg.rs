//! The drawing of a launch graph: functions in columns by their distance from the roots, launches as
//! arrows.
//!
//! Every launch has a line of its own in front of the box it leads to, and its label stands on that line,
//! so that labels cover neither boxes nor each other however many there are. Launches that pass a column
//! have a line there too; those that go back run below everything. Text is as wide as it is said to be
//! (`textLength`), whatever font the reader has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{LaunchEdge, LaunchGraph};

const MARGIN: usize = 24;
/// Width of a letter.
const LETTER: usize = 7;
const BOX_HEIGHT: usize = 30;
/// Height of a launch's line in front of a box.
const SLOT: usize = 22;
const LABEL_HEIGHT: usize = 16;
/// Between boxes of one column.
const BETWEEN: usize = 14;
/// Where lines bend, before the labels begin.
const BEND: usize = 64;
/// From a label to the box.
const ARROW: usize = 22;
/// Between the lines below everything.
const CHANNEL: usize = 12;
const MAX_NAME: usize = 48;
const MAX_LABEL: usize = 72;

/// What a function is, which its box shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Host,
    Kernel,
    Device,
}

/// How a launch's line is drawn: by its stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    Stream0,
    OtherStream,
    Tail,
    FireAndForget,
    Call,
}

impl Style {
    const ALL: [Style; 5] =
        [Style::Stream0, Style::OtherStream, Style::Tail, Style::FireAndForget, Style::Call];

    fn of(edge: &LaunchEdge) -> Style {
        match edge.stream.as_str() {
            "" | "0" | "NULL" | "nullptr" => Style::Stream0,
            stream if stream.contains("TailLaunch") => Style::Tail,
            stream if stream.contains("FireAndForget") => Style::FireAndForget,
            _ => Style::OtherStream,
        }
    }

    /// Class and what the legend says.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Style::Stream0 => ("null", "launch in the default stream"),
            Style::OtherStream => ("named", "launch in a stream of its own"),
            Style::Tail => ("tail", "tail launch"),
            Style::FireAndForget => ("forget", "fire and forget"),
            Style::Call => ("call", "call"),
        }
    }
}

struct Edge {
    from: usize,
    to: usize,
    label: String,
    /// The whole configuration and the place.
    title: String,
    style: Style,
    /// Middle of its line in front of `to`.
    y: usize,
    /// Middle of its line in each column that it passes.
    passes: Vec<(usize, usize)>,
    /// Its line below everything, if it goes back.
    channel: Option<usize>,
}

struct Node<'g> {
    name: &'g str,
    kind: Kind,
    column: usize,
    width: usize,
    y: usize,
    /// With the lines in front of it.
    height: usize,
}

/// What stands in a column, from top to bottom.
#[derive(Clone, Copy)]
enum Item {
    Node(usize),
    Pass(usize),
}

struct Drawing<'g> {
    nodes: Vec<Node<'g>>,
    edges: Vec<Edge>,
    columns: Vec<Vec<Item>>,
    /// Left edges of each column's boxes, and where the labels in front of them begin.
    boxes_x: Vec<usize>,
    labels_x: Vec<usize>,
    width: usize,
    height: usize,
}

pub(super) fn draw(graph: &LaunchGraph) -> String {
    let mut drawing = Drawing::new(graph);
    drawing.order();
    drawing.place_columns();
    drawing.place_rows();
    drawing.write()
}

impl<'g> Drawing<'g> {
    fn new(graph: &'g LaunchGraph) -> Drawing<'g> {
        let names = graph.nodes();
        let columns = columns(graph, &names);
        let kinds = kinds(graph);
        let index: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(index, name)| (*name, index)).collect();
        let nodes: Vec<_> = names
            .iter()
            .map(|name| Node {
                name,
                kind: kinds.get(name).copied().unwrap_or(Kind::Device),
                column: columns[name],
                width: cut(name, MAX_NAME).chars().count() * LETTER + 24,
                y: 0,
                height: BOX_HEIGHT,
            })
            .collect();
        let launches = graph.launches.iter().map(|edge| {
            let title = format!("{} ({}:{})", edge.config(), edge.file, edge.line);
            (&edge.parent, &edge.child, cut(&edge.config(), MAX_LABEL), title, Style::of(edge))
        });
        let calls = graph.calls.iter().collect::<BTreeSet<_>>().into_iter().map(|(from, to)| {
            (from, to, "calls".to_owned(), format!("{from} calls {to}"), Style::Call)
        });
        let edges = launches.chain(calls).map(|(from, to, label, title, style)| Edge {
            from: index[from.as_str()],
            to: index[to.as_str()],
            label,
            title,
            style,
            y: 0,
            passes: Vec::new(),
            channel: None,
        });
        let count = nodes.iter().map(|node| node.column + 1).max().unwrap_or(0);
        Drawing {
            edges: edges.collect(),
            nodes,
            columns: vec![Vec::new(); count],
            boxes_x: vec![0; count],
            labels_x: vec![0; count],
            width: 0,
            height: 0,
        }
    }

    /// What stands in each column: near what leads to it.
    fn order(&mut self) {
        for (index, node) in self.nodes.iter().enumerate() {
            self.columns[node.column].push(Item::Node(index));
        }
        let mut channels = 0;
        for (index, edge) in self.edges.iter_mut().enumerate() {
            let (from, to) = (self.nodes[edge.from].column, self.nodes[edge.to].column);
            if to <= from {
                edge.channel = Some(channels);
                channels += 1;
            }
            for column in from + 1..to {
                edge.passes.push((column, 0));
                self.columns[column].push(Item::Pass(index));
            }
        }
        // Ranks in the column before decide; those without a line from there keep their order.
        let mut rank: BTreeMap<usize, usize> = BTreeMap::new();
        let mut passed: BTreeMap<usize, usize> = BTreeMap::new();
        for column in 0..self.columns.len() {
            let mut items = std::mem::take(&mut self.columns[column]);
            let key = |item: &Item| {
                let into: Vec<usize> = match item {
                    Item::Pass(edge) => vec![*edge],
                    Item::Node(node) => {
                        let leads = |(_, edge): &(usize, &Edge)| edge.to == *node;
                        let edges = self.edges.iter().enumerate().filter(leads);
                        edges.map(|(index, _)| index).collect()
                    }
                };
                let ranks = into.iter().filter_map(|edge| {
                    let from = self.edges[*edge].from;
                    passed.get(edge).or_else(|| rank.get(&from)).copied()
                });
                let ranks: Vec<usize> = ranks.collect();
                ranks.iter().sum::<usize>() * 100 / ranks.len().max(1)
            };
            let keys: Vec<usize> = items.iter().map(key).collect();
            let mut order: Vec<usize> = (0..items.len()).collect();
            order.sort_by_key(|index| keys[*index]);
            items = order.into_iter().map(|index| items[index]).collect();
            for (place, item) in items.iter().enumerate() {
                match item {
                    Item::Node(node) => drop(rank.insert(*node, place)),
                    Item::Pass(edge) => drop(passed.insert(*edge, place)),
                }
            }
            self.columns[column] = items;
        }
    }

    fn place_columns(&mut self) {
        let mut x = MARGIN;
        for column in 0..self.columns.len() {
            let into = |edge: &&Edge| self.nodes[edge.to].column == column;
            let widest = self.edges.iter().filter(into).map(label_width).max();
            if let Some(widest) = widest {
                x += BEND;
                self.labels_x[column] = x;
                x += widest + ARROW;
            } else {
                self.labels_x[column] = x;
            }
            self.boxes_x[column] = x;
            let nodes = self.nodes.iter().filter(|node| node.column == column);
            x += nodes.map(|node| node.width).max().unwrap_or(0);
        }
        // Lines that go back turn behind the last column.
        self.width = x + BEND;
    }

    fn place_rows(&mut self) {
        for index in 0..self.nodes.len() {
            let lines = self.edges.iter().filter(|edge| edge.to == index).count();
            self.nodes[index].height = BOX_HEIGHT.max(lines * SLOT);
        }
        let height = |item: &Item, nodes: &[Node]| match item {
            Item::Node(node) => nodes[*node].height,
            Item::Pass(_) => SLOT,
        };
        let heights: Vec<usize> = self
            .columns
            .iter()
            .map(|items| items.iter().map(|item| height(item, &self.nodes) + BETWEEN).sum())
            .collect();
        let tallest = heights.iter().copied().max().unwrap_or(0);
        for (column, height_of_all) in heights.into_iter().enumerate() {
            let mut y = MARGIN + (tallest - height_of_all) / 2;
            for item in self.columns[column].clone() {
                let own = height(&item, &self.nodes);
                match item {
                    Item::Node(node) => self.place_node(node, y),
                    Item::Pass(edge) => {
                        let passes = self.edges[edge].passes.iter_mut();
                        passes
                            .filter(|(at, _)| *at == column)
                            .for_each(|pass| pass.1 = y + own / 2);
                    }
                }
                y += own + BETWEEN;
            }
        }
        let channels = self.edges.iter().filter(|edge| edge.channel.is_some()).count();
        self.height = MARGIN + tallest + channels * CHANNEL;
    }

    /// A box, and the lines in front of it in the order in which they come.
    fn place_node(&mut self, node: usize, y: usize) {
        self.nodes[node].y = y;
        let mut into: Vec<usize> =
            (0..self.edges.len()).filter(|edge| self.edges[*edge].to == node).collect();
        let from = |edge: &usize| {
            let edge = &self.edges[*edge];
            match (edge.channel, edge.passes.last()) {
                (Some(_), _) => usize::MAX,
                (None, Some((_, y))) => *y,
                (None, None) => self.nodes[edge.from].y,
            }
        };
        into.sort_by_key(from);
        let first = y + (self.nodes[node].height - into.len() * SLOT) / 2;
        for (place, edge) in into.into_iter().enumerate() {
            self.edges[edge].y = first + place * SLOT + SLOT / 2;
        }
    }

    fn write(&self) -> String {
        let styles: BTreeSet<Style> = self.edges.iter().map(|edge| edge.style).collect();
        let kinds: BTreeSet<Kind> = self.nodes.iter().map(|node| node.kind).collect();
        let legend = legend(&kinds, &styles, self.height + MARGIN);
        let (width, height) = (self.width.max(legend.1), self.height + legend.2 + 2 * MARGIN);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n{HEAD}"
        );
        for edge in &self.edges {
            self.write_line(&mut out, edge);
        }
        for node in &self.nodes {
            self.write_box(&mut out, node);
        }
        for edge in &self.edges {
            self.write_label(&mut out, edge);
        }
        out.push_str(&legend.0);
        out.push_str("</svg>\n");
        out
    }

    fn write_line(&self, out: &mut String, edge: &Edge) {
        let (from, to) = (&self.nodes[edge.from], &self.nodes[edge.to]);
        let (mut x, mut y) = (self.boxes_x[from.column] + from.width, from.y + from.height / 2);
        let mut path = format!("M{x} {y}");
        let (labels, end) = (self.labels_x[to.column], self.boxes_x[to.column]);
        if let Some(channel) = edge.channel {
            // Down behind its own column, back below everything, up before the other's labels.
            let below = self.height - channel * CHANNEL;
            let behind = self
                .boxes_x
                .get(from.column + 1)
                .map_or(self.width, |_| self.labels_x[from.column + 1]);
            let (right, left) =
                (behind - BEND / 2 - channel % 4 * 5, labels - BEND / 2 + channel % 4 * 5);
            let _ = write!(path, " H{right} V{below} H{left} V{} H{end}", edge.y);
        } else {
            for (column, middle) in &edge.passes {
                let (start, stop) = (self.labels_x[*column], self.after(*column));
                bend(&mut path, (x, y), (start, *middle));
                let _ = write!(path, " H{stop}");
                (x, y) = (stop, *middle);
            }
            bend(&mut path, (x, y), (labels, edge.y));
            let _ = write!(path, " H{end}");
        }
        let class = edge.style.words().0;
        let _ = writeln!(
            out,
            "<path class=\"line {class}\" d=\"{path}\" marker-end=\"url(#{class})\"/>"
        );
    }

    /// Where the widest box of a column ends.
    fn after(&self, column: usize) -> usize {
        let nodes = self.nodes.iter().filter(|node| node.column == column);
        self.boxes_x[column] + nodes.map(|node| node.width).max().unwrap_or(0)
    }

    fn write_box(&self, out: &mut String, node: &Node) {
        let (x, y) = (self.boxes_x[node.column], node.y + (node.height - BOX_HEIGHT) / 2);
        // As high as its lines, so that every one of them ends at it.
        let (y, height) = match node.height > BOX_HEIGHT {
            true => (node.y, node.height),
            false => (y, BOX_HEIGHT),
        };
        let (class, radius, what) = match node.kind {
            Kind::Host => ("host", 0, "host function"),
            Kind::Kernel => ("kernel", 8, "kernel"),
            Kind::Device => ("device", 8, "device function"),
        };
        let name = cut(node.name, MAX_NAME);
        let text = name.chars().count() * LETTER;
        let _ = writeln!(
            out,
            "<g><title>{what} {}</title><rect class=\"box {class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" \
             height=\"{height}\" rx=\"{radius}\"/><text class=\"name\" x=\"{}\" y=\"{}\" \
             textLength=\"{text}\">{}</text></g>",
            escape(node.name),
            node.width,
            x + (node.width - text) / 2,
            y + height / 2 + 4,
            escape(&name)
        );
    }

    fn write_label(&self, out: &mut String, edge: &Edge) {
        let (x, width) = (self.labels_x[self.nodes[edge.to].column], label_width(edge));
        let (class, text) = (edge.style.words().0, edge.label.chars().count() * LETTER);
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect class=\"label\" x=\"{x}\" y=\"{}\" width=\"{width}\" \
             height=\"{LABEL_HEIGHT}\" rx=\"3\"/><text class=\"config {class}\" x=\"{}\" y=\"{}\" \
             textLength=\"{text}\">{}</text></g>",
            escape(&edge.title),
            edge.y - LABEL_HEIGHT / 2,
            x + (width - text) / 2,
            edge.y + 4,
            escape(&edge.label)
        );
    }
}

const HEAD: &str = "<style>\n\
    text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24 }\n\
    .box { stroke-width: 1.5 } .kernel { fill: #e3f0ff; stroke: #1f5fa8 }\n\
    .host { fill: #f4f1ea; stroke: #6b6250; stroke-dasharray: 6 3 }\n\
    .device { fill: #eef7ea; stroke: #4c7a34 } .label { fill: #ffffff }\n\
    .line { fill: none; stroke: #1f5fa8; stroke-width: 1.4 } .line.named { stroke: #7a3fa0; stroke-width: 2.4 }\n\
    .line.tail { stroke: #b4570b; stroke-dasharray: 8 4 } .line.forget { stroke: #0a7d6c; stroke-dasharray: 2 4 }\n\
    .line.call { stroke: #8a8f98; stroke-dasharray: 4 4 } .config { font-size: 11px }\n\
    text.named { fill: #7a3fa0 } text.tail { fill: #b4570b } text.forget { fill: #0a7d6c } text.call { fill: #6b7078 }\n\
    </style>\n<defs>\n\
    <marker id=\"null\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#1f5fa8\"/></marker>\n\
    <marker id=\"named\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#7a3fa0\"/></marker>\n\
    <marker id=\"tail\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#b4570b\"/></marker>\n\
    <marker id=\"forget\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#0a7d6c\"/></marker>\n\
    <marker id=\"call\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#8a8f98\"/></marker>\n\
    </defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";

fn bend(path: &mut String, from: (usize, usize), to: (usize, usize)) {
    let middle = (from.0 + to.0) / 2;
    let _ = write!(path, " C{middle} {} {middle} {} {} {}", from.1, to.1, to.0, to.1);
}

/// What boxes and lines mean, as far as they occur; with its width and height.
fn legend(kinds: &BTreeSet<Kind>, styles: &BTreeSet<Style>, y: usize) -> (String, usize, usize) {
    let mut out = String::new();
    let (mut x, middle) = (MARGIN, y + 8);
    for kind in kinds {
        let (class, radius, what) = match kind {
            Kind::Host => ("host", 0, "host function"),
            Kind::Kernel => ("kernel", 6, "kernel"),
            Kind::Device => ("device", 6, "device function"),
        };
        let text = what.len() * LETTER;
        let _ = writeln!(
            out,
            "<rect class=\"key {class}\" x=\"{x}\" y=\"{y}\" width=\"26\" height=\"16\" rx=\"{radius}\"/>\
             <text x=\"{}\" y=\"{}\" textLength=\"{text}\">{what}</text>",
            x + 32,
            middle + 4
        );
        x += 32 + text + 24;
    }
    for style in Style::ALL.into_iter().filter(|style| styles.contains(style)) {
        let (class, what) = style.words();
        let text = what.len() * LETTER;
        let _ = writeln!(
            out,
            "<path class=\"line {class}\" d=\"M{x} {middle} h40\" marker-end=\"url(#{class})\"/>\
             <text x=\"{}\" y=\"{}\" textLength=\"{text}\">{what}</text>",
            x + 48,
            middle + 4
        );
        x += 48 + text + 24;
    }
    if kinds.is_empty() {
        let what = "no launches";
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{}\">{what}</text>", middle + 4);
        x += what.len() * LETTER + MARGIN;
    }
    (out, x, 16)
}

fn label_width(edge: &Edge) -> usize {
    edge.label.chars().count() * LETTER + 12
}

/// Long names end in dots; the whole stands in the title.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Kernels are what is launched; a function of the host launches from there, or calls one that does.
fn kinds(graph: &LaunchGraph) -> BTreeMap<&str, Kind> {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for edge in graph.launches.iter().filter(|edge| !edge.from_device) {
        kinds.insert(&edge.parent, Kind::Host);
    }
    for _ in 0..graph.calls.len() {
        let before = kinds.len();
        for (caller, callee) in &graph.calls {
            if kinds.get(callee.as_str()) == Some(&Kind::Host) {
                kinds.insert(caller, Kind::Host);
            }
        }
        if kinds.len() == before {
            break;
        }
    }
    for edge in &graph.launches {
        kinds.insert(&edge.child, Kind::Kernel);
    }
    // A kernel that only launches is launched by somebody that this graph does not know.
    for edge in graph.launches.iter().filter(|edge| edge.from_device) {
        let is_called = graph.calls.iter().any(|(_, callee)| *callee == edge.parent);
        kinds.entry(&edge.parent).or_insert(if is_called { Kind::Device } else { Kind::Kernel });
    }
    kinds
}

/// The longest path from a root, cycles cut.
fn columns<'a>(graph: &'a LaunchGraph, nodes: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let launches = graph.launches.iter().map(|edge| (&*edge.parent, &*edge.child));
    let calls = graph.calls.iter().map(|(caller, callee)| (&**caller, &**callee));
    let edges: BTreeSet<_> = launches.chain(calls).filter(|(from, to)| from != to).collect();
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in &edges {
        next.entry(from).or_default().push(to);
    }
    // Depth first, with edges back to what is open left out.
    let mut forward: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut open, mut done, mut order) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    // What nothing leads to comes first, so that cycles are cut where they come back.
    let entered: BTreeSet<&str> = edges.iter().map(|(_, to)| *to).collect();
    let roots = nodes.iter().filter(|name| !entered.contains(*name));
    for root in roots.chain(nodes.iter().filter(|name| entered.contains(*name))) {
        let mut stack = vec![(*root, 0)];
        while let Some((name, at)) = stack.pop() {
            if at == 0 && (done.contains(name) || !open.insert(name)) {
                continue;
            }
            match next.get(name).and_then(|list| list.get(at)) {
                Some(to) => {
                    stack.push((name, at + 1));
                    if !open.contains(to) {
                        forward.entry(name).or_default().push(to);
                        stack.push((to, 0));
                    }
                }
                None => {
                    open.remove(name);
                    done.insert(name);
                    order.push(name);
                }
            }
        }
    }
    let mut columns: BTreeMap<&str, usize> = nodes.iter().map(|name| (*name, 0)).collect();
    for from in order.into_iter().rev() {
        let least = columns[from] + 1;
        for to in forward.get(from).into_iter().flatten() {
            if columns[to] < least {
                columns.insert(to, least);
            }
        }
    }
    columns
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(parent: &str, child: &str, from_device: bool, stream: &str) -> LaunchEdge {
        LaunchEdge {
            parent: parent.into(),
            from_device,
            child: child.into(),
            grid: "(n + 255) / 256".into(),
            block: "256".into(),
            shared: String::new(),
            stream: stream.into(),
            file: "a.cdp".into(),
            line: 1,
        }
    }

    fn number(text: &str, name: &str) -> usize {
        let at = text.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        text[at..].split('"').next().unwrap().parse().unwrap()
    }

    /// x, y, right, bottom of all rectangles of a class.
    fn rectangles(svg: &str, class: &str) -> Vec<[usize; 4]> {
        let parts = svg.split("<rect").filter(|part| part.contains(&format!("class=\"{class}")));
        let rectangle = |part: &str| {
            let (x, y) = (number(part, "x"), number(part, "y"));
            [x, y, x + number(part, "width"), y + number(part, "height")]
        };
        parts.map(|part| rectangle(part.split("/>").next().unwrap())).collect()
    }

    fn overlap(a: [usize; 4], b: [usize; 4]) -> bool {
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }

    /// Boxes and labels stand apart and inside the picture, and hold their text.
    fn check(graph: &LaunchGraph) {
        let svg = draw(graph);
        let all = [rectangles(&svg, "box"), rectangles(&svg, "label")].concat();
        assert_eq!(all.len(), graph.nodes().len() + graph.launches.len() + graph.calls.len());
        let (width, height) = (number(&svg, "width"), number(&svg, "height"));
        for (index, a) in all.iter().enumerate() {
            assert!(a[2] <= width && a[3] <= height, "{a:?} of {width} x {height}");
            assert!(all[..index].iter().all(|b| !overlap(*a, *b)), "{a:?}\n{svg}");
        }
        for part in svg.split("<rect").filter(|part| part.contains("textLength")) {
            if part.contains("class=\"box") || part.contains("class=\"label") {
                assert!(number(part, "width") >= number(part, "textLength") + 8, "{part}");
            }
        }
        assert!(!svg.contains("class=\"box\""));
    }

    #[test]
    fn nothing_overlaps() {
        let tail = "cudaStreamTailLaunch";
        let hub: Vec<_> =
            (0..60).map(|n| edge("hub", &format!("kernel_number_{n}"), true, "")).collect();
        check(&LaunchGraph { launches: hub, calls: Vec::new() });
        let into: Vec<_> = (0..60).map(|n| edge(&format!("p{n}"), "sink", true, tail)).collect();
        check(&LaunchGraph { launches: into, calls: Vec::new() });
        let long = "a".repeat(90);
        let launches = vec![
            edge("main", "a", false, ""),
            edge("main", "a", false, "s"),
            edge("a", "a", true, tail),
            edge("a", "b", true, ""),
            edge("b", "c", true, "cudaStreamFireAndForget"),
            edge("c", "a", true, ""),
            edge("a", "d", true, ""),
            edge("main", "d", false, ""),
            edge("c", "d", true, ""),
            edge("d", &long, true, ""),
        ];
        let calls = vec![("start".into(), "main".into()), ("helper".into(), "b".into())];
        check(&LaunchGraph { launches, calls });
        check(&LaunchGraph::default());
    }

    #[test]
    fn kinds_and_streams_are_told_apart() {
        let launches =
            vec![edge("main", "a", false, ""), edge("a", "b", true, "cudaStreamTailLaunch")];
        let svg = draw(&LaunchGraph { launches, calls: vec![("x".into(), "main".into())] });
        let boxes = |class: &str| svg.matches(&format!("class=\"box {class}\"")).count();
        assert_eq!((boxes("host"), boxes("kernel"), boxes("device")), (2, 2, 0));
        assert!(svg.contains("class=\"line tail\"") && svg.contains("tail launch"));
    }
}
