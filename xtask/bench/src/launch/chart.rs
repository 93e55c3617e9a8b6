//! The chart: of each program, how many times as fast as naive code by nvcc the others are, on a logarithmic
//! scale, a dot each.

use std::fmt::Write as _;

use super::results::Results;

/// What is drawn: the column, what it is called, its colour.
const SERIES: [(&str, &str, &str); 4] = [
    ("flat", "flat", "#8a8a8a"),
    ("tuned", "tuned by hand", "#2a9d5c"),
    ("safe", "safe", "#2f6fb7"),
    ("fast", "fast", "#d1462f"),
];

const LEFT: f64 = 150.0;
const WIDTH: f64 = 560.0;
const TOP: f64 = 46.0;
const ROW: f64 = 22.0;

/// The chart as SVG.
pub fn svg(results: &Results) -> String {
    let mut rows: Vec<(String, Vec<Option<f64>>)> = results
        .rows()
        .iter()
        .map(|row| {
            let of = |column: &str| results.speedup(row, "nvcc", column);
            let name = match row.input {
                "" => row.program.to_owned(),
                input => format!("{}, {input}", row.program),
            };
            (name, SERIES.map(|(column, ..)| of(column)).to_vec())
        })
        .collect();
    let of = |column: &str| results.mean("nvcc", column);
    rows.push(("geometric mean".into(), SERIES.map(|(column, ..)| of(column)).to_vec()));
    let all = || rows.iter().flat_map(|(_, speedups)| speedups.iter().flatten());
    // Whole decades around everything.
    let low = all().copied().fold(1.0, f64::min).log10().floor();
    let high = all().copied().fold(10.0, f64::max).log10().ceil();
    let x = |speedup: f64| LEFT + (speedup.log10() - low) / (high - low) * WIDTH;
    let bottom = TOP + rows.len() as f64 * ROW;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"740\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        bottom + 40.0
    );
    for (index, (_, title, colour)) in SERIES.iter().enumerate() {
        let at = LEFT + index as f64 * 120.0;
        let _ = writeln!(
            text,
            "<circle cx=\"{at:.0}\" cy=\"16\" r=\"5\" fill=\"{colour}\"/><text x=\"{:.0}\" y=\"20\">{title}</text>",
            at + 10.0
        );
    }
    for decade in low as i32..=high as i32 {
        let at = x(10f64.powi(decade));
        let colour = if decade == 0 { "#444444" } else { "#d0d0d0" };
        let name = if decade < 0 {
            format!("1/{}", 10i64.pow(-decade as u32))
        } else {
            10i64.pow(decade as u32).to_string()
        };
        let _ = writeln!(
            text,
            "<line x1=\"{at:.1}\" y1=\"{:.0}\" x2=\"{at:.1}\" y2=\"{bottom:.0}\" stroke=\"{colour}\"/>\
             <text x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{name}</text>",
            TOP - 8.0,
            bottom + 16.0
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">times as fast as naive code by nvcc</text>",
        LEFT + WIDTH / 2.0,
        bottom + 34.0
    );
    for (index, (name, speedups)) in rows.iter().enumerate() {
        let y = TOP + index as f64 * ROW + ROW / 2.0;
        draw_row(&mut text, name, speedups, y, &x);
    }
    text + "</svg>\n"
}

/// A row's name, a line from its least to its greatest, and its dots.
fn draw_row(
    text: &mut String,
    name: &str,
    speedups: &[Option<f64>],
    y: f64,
    x: &impl Fn(f64) -> f64,
) {
    let weight = if name == "geometric mean" { " font-weight=\"bold\"" } else { "" };
    let _ = writeln!(
        text,
        "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\"{weight}>{name}</text>",
        LEFT - 12.0,
        y + 4.0
    );
    let all = || speedups.iter().flatten().copied();
    if let (Some(low), Some(high)) = (all().reduce(f64::min), all().reduce(f64::max)) {
        let _ = writeln!(
            text,
            "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#c8c8c8\" stroke-width=\"2\"/>",
            x(low),
            x(high)
        );
    }
    for (speedup, (.., colour)) in speedups.iter().zip(SERIES) {
        if let Some(speedup) = speedup {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\" stroke=\"#ffffff\"/>",
                x(*speedup)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_lie_on_a_logarithmic_scale() {
        let text = "machine H200\nrun bfs-16-rmat nvcc\ntime bfs naive 7 100 100\ntime bfs flat 7 10 10\n\
            run bfs-16-rmat fast\ntime bfs naive 7 1 1\n";
        let chart = svg(&Results::read(&[text.to_owned()]).unwrap());
        // Of two decades, 10 is in the middle and 100 at the right end.
        assert!(chart.contains("<circle cx=\"430.0\" cy=\"57.0\" r=\"5\" fill=\"#8a8a8a\""));
        assert!(chart.contains("<circle cx=\"710.0\" cy=\"57.0\" r=\"5\" fill=\"#d1462f\""));
    }
}
