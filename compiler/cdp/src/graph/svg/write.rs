//! The drawing as text, once everything has its place.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::*;

impl Drawing<'_> {
    pub(super) fn write(&self) -> String {
        let styles: BTreeSet<Style> = self.edges.iter().map(|edge| edge.style).collect();
        let kinds: BTreeSet<BoxKind> = self.nodes.iter().map(|node| node.kind).collect();
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
            BoxKind::Host => ("host", 0, "host function"),
            BoxKind::Kernel => ("kernel", 8, "kernel"),
            BoxKind::Device => ("device", 8, "device function"),
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
fn legend(kinds: &BTreeSet<BoxKind>, styles: &BTreeSet<Style>, y: usize) -> (String, usize, usize) {
    let mut out = String::new();
    let (mut x, middle) = (MARGIN, y + 8);
    for kind in kinds {
        let (class, radius, what) = match kind {
            BoxKind::Host => ("host", 0, "host function"),
            BoxKind::Kernel => ("kernel", 6, "kernel"),
            BoxKind::Device => ("device", 6, "device function"),
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
