//! The drawing of a launch graph: functions in columns by their distance from the roots, launches as
//! arrows.
//!
//! Every launch has a line of its own in front of the box it leads to, and its label stands on that line,
//! so that labels cover neither boxes nor each other however many there are. Launches that pass a column
//! have a line there too; those that go back run below everything. Text is as wide as it is said to be
//! (`textLength`), whatever font the reader has.

mod write;

use std::collections::{BTreeMap, BTreeSet};

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
enum BoxKind {
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
    kind: BoxKind,
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
                kind: kinds.get(name).copied().unwrap_or(BoxKind::Device),
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
fn kinds(graph: &LaunchGraph) -> BTreeMap<&str, BoxKind> {
    let mut kinds: BTreeMap<&str, BoxKind> = BTreeMap::new();
    for edge in graph.launches.iter().filter(|edge| !edge.from_device) {
        kinds.insert(&edge.parent, BoxKind::Host);
    }
    for _ in 0..graph.calls.len() {
        let before = kinds.len();
        for (caller, callee) in &graph.calls {
            if kinds.get(callee.as_str()) == Some(&BoxKind::Host) {
                kinds.insert(caller, BoxKind::Host);
            }
        }
        if kinds.len() == before {
            break;
        }
    }
    for edge in &graph.launches {
        kinds.insert(&edge.child, BoxKind::Kernel);
    }
    // A kernel that only launches is launched by somebody that this graph does not know.
    for edge in graph.launches.iter().filter(|edge| edge.from_device) {
        let is_called = graph.calls.iter().any(|(_, callee)| *callee == edge.parent);
        kinds.entry(&edge.parent).or_insert(if is_called {
            BoxKind::Device
        } else {
            BoxKind::Kernel
        });
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
            column: 1,
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
