//! The report of a run as one HTML page: findings, launch tree, timeline, kernels, calls of the host.
//!
//! The page needs nothing else: no scripts, fonts or pictures. Everything from the program is escaped. What
//! is long is cut, and says so.

use std::fmt::Write;

use cdp_emulator::{KernelProfile, TraceEvent, TraceGrid};

use super::tree::LaunchTree;
use crate::names::kernel_base_name;

/// Pixels of the timeline: labels to the left, boxes to the right.
const LABELS: u64 = 80;
const WIDTH: u64 = 1100;
const ROW: u64 = 18;
const BOX: u64 = 15;
/// Smallest box, and the gap to the next one in its row.
const NARROWEST: u64 = 3;
const GAP: u64 = 1;
/// Rows of a nesting depth, and depths.
const MOST_ROWS: usize = 12;
const MOST_DEPTHS: u32 = 64;
/// Calls of the host that are listed.
const MOST_EVENTS: usize = 200;
/// Pixels of a letter, at most.
const LETTER: u64 = 7;

/// All that a page shows.
pub struct Page<'a> {
    pub trace: &'a [TraceGrid],
    pub events: &'a [TraceEvent],
    pub profile: &'a [KernelProfile],
    pub tree: &'a LaunchTree,
    /// What the device reported, as text.
    pub reports: &'a [String],
}

/// A grid in the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    /// Which of the trace.
    grid: usize,
    x: u64,
    y: u64,
    width: u64,
}

/// Where a depth's rows are, and how many grids had no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Band {
    depth: u32,
    y: u64,
    rows: u64,
    left_out: u64,
}

/// Text as HTML, in elements and attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// When the first grid began and the last one ended.
fn span(trace: &[TraceGrid]) -> (u64, u64) {
    let begin = trace.iter().map(|g| g.start_clock).min().unwrap_or(0);
    (begin, trace.iter().map(|g| g.end_clock).max().unwrap_or(0).max(begin))
}

/// Places for all grids: rows of a depth under each other, no two boxes on each other.
fn layout(trace: &[TraceGrid]) -> (Vec<Drawn>, Vec<Band>) {
    let (begin, end) = span(trace);
    let pixel = |clock: u64| {
        let share = u128::from(clock - begin) * u128::from(WIDTH - NARROWEST);
        LABELS + (share / u128::from((end - begin).max(1))) as u64
    };
    let (mut drawn, mut bands) = (Vec::new(), Vec::new());
    let mut y = 0;
    let deepest = trace.iter().map(|g| g.depth).max().unwrap_or(0);
    for depth in 0..=deepest.min(MOST_DEPTHS - 1) {
        let mut order: Vec<usize> = (0..trace.len()).filter(|&i| trace[i].depth == depth).collect();
        order.sort_by_key(|&i| (trace[i].start_clock, trace[i].grid));
        let mut rows: Vec<u64> = Vec::new();
        let mut left_out = 0;
        for grid in order {
            let x = pixel(trace[grid].start_clock);
            let width =
                (pixel(trace[grid].end_clock.max(trace[grid].start_clock)) - x).max(NARROWEST);
            let row = match rows.iter().position(|&free| free <= x) {
                Some(row) => row,
                None if rows.len() < MOST_ROWS => {
                    rows.push(0);
                    rows.len() - 1
                }
                None => {
                    left_out += 1;
                    continue;
                }
            };
            rows[row] = x + width + GAP;
            drawn.push(Drawn { grid, x, y: y + row as u64 * ROW, width });
        }
        bands.push(Band { depth, y, rows: rows.len() as u64, left_out });
        y += rows.len() as u64 * ROW + ROW / 2;
    }
    (drawn, bands)
}

/// Cycles as a time that people read: a cycle is a nanosecond.
fn time(cycles: u64) -> String {
    match cycles {
        0..10_000 => format!("{cycles} ns"),
        10_000..10_000_000 => format!("{:.1} µs", cycles as f64 / 1e3),
        _ => format!("{:.1} ms", cycles as f64 / 1e6),
    }
}

const STYLE: &str = "body{font:14px/1.4 sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#222}\
    table{border-collapse:collapse;margin:.5em 0}td,th{padding:.15em .7em;text-align:right;\
    border-bottom:1px solid #ddd}td:first-child,th:first-child,.t{text-align:left}\
    svg{display:block}svg text{font:11px sans-serif}pre{background:#f4f4f4;padding:.7em;overflow:auto}\
    .scroll{overflow-x:auto}tr:target,li:target{background:#ffe9a8}nav a{margin-right:1em}\
    .note{color:#666}";

impl Page<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let mut out = String::from(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Run on the CPU \
             device</title>\n<style>",
        );
        out.push_str(STYLE);
        out.push_str("</style>\n</head>\n<body>\n<h1>Run on the CPU device</h1>\n");
        let launches = self.tree.device_launches();
        let _ = writeln!(
            out,
            "<p>{} grids, {launches} of them launched by kernels; nesting depth {}; pending launches at most {} \
             of {}.{}</p>",
            self.trace.len(),
            self.tree.depths.keys().last().unwrap_or(&0),
            self.tree.pending.0,
            self.tree.pending.1,
            self.tree.waiting_share().map_or_else(String::new, |share| format!(
                " Children wait to start for {:.1} % of the time from their launch to their completion.",
                100.0 * share
            ))
        );
        out.push_str(
            "<nav><a href=\"#findings\">Findings</a><a href=\"#tree\">Launch tree</a><a \
             href=\"#timeline\">Timeline</a><a href=\"#kernels\">Kernels</a><a \
             href=\"#host\">Host</a></nav>\n",
        );
        self.findings(&mut out);
        self.launch_tree(&mut out);
        self.timeline(&mut out);
        self.kernels(&mut out);
        self.host(&mut out);
        out.push_str("</body>\n</html>\n");
        out
    }

    fn findings(&self, out: &mut String) {
        out.push_str("<h2 id=\"findings\">Findings</h2>\n");
        let found = self.tree.findings();
        if found.is_empty() && self.reports.is_empty() {
            out.push_str("<p>None.</p>\n");
            return;
        }
        for report in self.reports {
            let _ = writeln!(out, "<pre>{}</pre>", escaped(report));
        }
        out.push_str("<ul>\n");
        for (site, sentence) in found {
            let sentence = escaped(&sentence);
            let _ = match site {
                Some(site) => {
                    writeln!(out, "<li>{sentence} <a href=\"#site-{site}\">Site</a></li>")
                }
                None => writeln!(out, "<li>{sentence}</li>"),
            };
        }
        out.push_str("</ul>\n");
    }

    fn launch_tree(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"tree\">Launch tree</h2>\n<p class=\"note\">One row a launch site; a kernel that launches \
             itself at the same line is one. Cycles are those of a warp, in the mean.</p>\n<div \
             class=\"scroll\"><table>\n<tr><th>kernel</th><th class=\"t\">launched \
             at</th><th>grids</th><th>threads</th><th>instructions</th><th>cycles a \
             grid</th><th>waiting</th><th>depth</th><th class=\"t\">streams</th></tr>\n",
        );
        for number in self.tree.in_order() {
            let site = &self.tree.sites[number];
            let depth = match site.depths {
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            };
            let _ = writeln!(
                out,
                "<tr id=\"site-{number}\"><td style=\"padding-left:{}em\">{}</td><td \
                 class=\"t\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{depth}</td><td \
                 class=\"t\">{}</td></tr>",
                site.level as f64 * 1.2 + 0.7,
                escaped(&site.kernel),
                escaped(&site.place),
                site.grids,
                site.threads,
                site.instructions,
                site.busy_cycles / site.grids.max(1),
                time(site.waiting_cycles / site.grids.max(1)),
                escaped(&site.streams.join(", ")),
            );
        }
        out.push_str("</table></div>\n<p>Grids by depth:");
        for (depth, count) in &self.tree.depths {
            let _ = write!(out, " <b>{depth}</b>: {count}");
        }
        out.push_str("</p>\n");
    }

    fn timeline(&self, out: &mut String) {
        out.push_str("<h2 id=\"timeline\">Timeline</h2>\n");
        if self.trace.is_empty() {
            out.push_str("<p>No grids.</p>\n");
            return;
        }
        let (drawn, bands) = layout(self.trace);
        let height = bands.last().map_or(0, |band| band.y + band.rows * ROW) + ROW;
        let (begin, end) = span(self.trace);
        let _ = writeln!(
            out,
            "<p class=\"note\">{} of virtual time from the left to the right; a band a nesting depth; each box is \
             a grid until all that it launched is done.</p>\n<div class=\"scroll\"><svg width=\"{}\" \
             height=\"{height}\" role=\"img\" aria-label=\"timeline of the grids\">",
            time(end - begin),
            LABELS + WIDTH
        );
        for band in &bands {
            let _ =
                writeln!(out, "<text x=\"0\" y=\"{}\">depth {}</text>", band.y + 12, band.depth);
        }
        for one in &drawn {
            let (grid, site) = (&self.trace[one.grid], self.tree.site_of[one.grid]);
            let name = kernel_base_name(&grid.kernel);
            // Neighbours of one kernel have one colour, of different ones most often not.
            let hue = site * 67 % 360;
            let _ = write!(
                out,
                "<a href=\"#site-{site}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BOX}\" \
                 fill=\"hsl({hue},60%,75%)\"><title>grid {}: {} ({}), started at {}, took {}</title></rect>",
                one.x,
                one.y,
                one.width,
                grid.grid,
                escaped(&name),
                escaped(&grid.stream),
                time(grid.start_clock - begin),
                time(grid.end_clock.saturating_sub(grid.start_clock)),
            );
            if name.chars().count() as u64 * LETTER + 6 <= one.width {
                let (x, y) = (one.x + 3, one.y + 12);
                let _ = write!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&name));
            }
            out.push_str("</a>\n");
        }
        out.push_str("</svg></div>\n");
        for band in bands.iter().filter(|band| band.left_out > 0) {
            let _ = writeln!(
                out,
                "<p class=\"note\">{} more grids of depth {} have no room.</p>",
                band.left_out, band.depth
            );
        }
        let deeper = self.trace.iter().filter(|grid| grid.depth >= MOST_DEPTHS).count();
        if deeper > 0 {
            let _ = writeln!(out, "<p class=\"note\">{deeper} deeper grids are not drawn.</p>");
        }
    }

    fn kernels(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"kernels\">Kernels</h2>\n<p class=\"note\">Loads and stores are transactions of 128 bytes of \
             global memory.</p>\n<div \
             class=\"scroll\"><table>\n<tr><th>kernel</th><th>launches</th><th>blocks</th><th>threads</th>\
             <th>instructions</th><th>loads</th><th>stores</th><th>shared</th><th>atomics</th>\
             <th>diverged</th><th>barriers</th><th>children</th></tr>\n",
        );
        for entry in self.profile {
            let c = &entry.counters;
            let diverged = match c.branches {
                0 => "-".to_owned(),
                all => format!("{:.1} %", 100.0 * c.divergent_branches as f64 / all as f64),
            };
            let _ = write!(out, "<tr><td>{}</td>", escaped(&kernel_base_name(&entry.kernel)));
            let counts = [entry.launches, entry.blocks, entry.threads, c.thread_instructions];
            let more = [c.load_transactions, c.store_transactions, c.shared_accesses, c.atomics];
            for count in counts.into_iter().chain(more) {
                let _ = write!(out, "<td>{count}</td>");
            }
            let _ = writeln!(
                out,
                "<td>{diverged}</td><td>{}</td><td>{}</td></tr>",
                c.barriers, entry.child_launches
            );
        }
        out.push_str("</table></div>\n");
    }

    fn host(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"host\">Calls of the host, copies and sets</h2>\n<table>\n<tr><th>what</th><th \
             class=\"t\">stream</th><th>bytes</th><th>at</th></tr>\n",
        );
        for event in self.events.iter().take(MOST_EVENTS) {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td></tr>",
                escaped(event.what),
                escaped(&event.stream),
                event.bytes,
                time(event.clock)
            );
        }
        out.push_str("</table>\n");
        let more = self.events.len().saturating_sub(MOST_EVENTS);
        if more > 0 {
            let _ = writeln!(out, "<p class=\"note\">And {more} more.</p>");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::tree::tests::grid;
    use super::*;

    /// The values of an attribute, in order.
    fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
        let start = format!(" {attribute}=\"");
        html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    fn page(trace: &[TraceGrid]) -> String {
        let tree = LaunchTree::new(trace, (1500, 2048));
        let event = TraceEvent { what: "launch", stream: "stream 0".into(), bytes: 0, clock: 3 };
        let events = vec![event; 300];
        let reports = ["out-of-bounds: <script>alert(1)</script>".to_owned()];
        Page { trace, events: &events, profile: &[], tree: &tree, reports: &reports }.html()
    }

    /// Many grids, of all lengths, that overlap in time.
    fn forest(count: u64) -> Vec<TraceGrid> {
        let one = |n: u64| {
            let (parent, depth) = if n == 1 { (0, 0) } else { (n / 3 + 1, 1 + n.ilog2() / 3) };
            let start = n * 37 % 5000;
            grid(n, parent.min(n - 1), depth, "_Z3a<bv", start, start + n * 91 % 700)
        };
        (1..=count).map(one).collect()
    }

    #[test]
    fn no_box_lies_on_another_and_all_are_inside() {
        for count in [1, 2, 50, 4000] {
            let html = page(&forest(count));
            let svg = &html[html.find("<svg").unwrap()..html.find("</svg>").unwrap()];
            let number = |text: &str| text.parse::<u64>().unwrap();
            let (width, height) =
                (number(values(svg, "width")[0]), number(values(svg, "height")[0]));
            let mut boxes = Vec::new();
            for rect in svg.split("<rect").skip(1) {
                let rect = format!(" {}", rect.split('>').next().unwrap());
                let at = |name: &str| number(values(&rect, name)[0]);
                boxes.push((at("y"), at("x"), at("x") + at("width"), at("y") + at("height")));
            }
            assert!(!boxes.is_empty());
            boxes.sort_unstable();
            for pair in boxes.windows(2) {
                let (one, other) = (pair[0], pair[1]);
                assert!(one.0 != other.0 || one.2 <= other.1, "{one:?} {other:?}");
                assert!(one.0 == other.0 || one.3 <= other.0, "{one:?} {other:?}");
            }
            assert!(boxes.iter().all(|b| b.1 >= LABELS && b.2 <= width && b.3 <= height));
            assert!(html.len() < 3 << 20, "{} bytes", html.len());
        }
    }

    #[test]
    fn links_lead_somewhere_and_nothing_comes_from_outside() {
        let html = page(&forest(600));
        let ids: HashSet<&str> = values(&html, "id").into_iter().collect();
        let links = values(&html, "href");
        assert!(links.len() > 50);
        for link in links {
            assert!(link.strip_prefix('#').is_some_and(|id| ids.contains(id)), "{link}");
        }
        assert_eq!(ids.len(), values(&html, "id").len(), "no name twice");
        for foreign in ["http", "src=", "<script", "@import", "url("] {
            assert!(!html.contains(foreign), "{foreign}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("a&lt;b&gt;.cdp:7"));
        assert!(html.contains("1500 launches were pending at once, of 2048"));
        assert!(html.contains("And 100 more."));
    }

    #[test]
    fn elements_are_closed() {
        let html = page(&forest(200));
        for name in
            ["table", "tr", "td", "th", "a", "svg", "text", "rect", "title", "div", "p", "ul", "li"]
        {
            let opened = html.matches(&format!("<{name}>")).count()
                + html.matches(&format!("<{name} ")).count();
            assert_eq!(opened, html.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
