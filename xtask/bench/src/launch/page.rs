//! The tables, in the terminal and in `compiler/docs/launch-optimiser.md` between its marks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, markdown};

use super::results::{Results, Times};
use super::{CONTENDERS, Row};
use crate::today;

const BEGIN: &str = "<!-- written by `cargo xtask bench launch --write` -->\n";
const END: &str = "<!-- end of what it writes -->\n";

/// A table: how its columns are filled up, and its rows, the heading first.
type Table = (Vec<Align>, Vec<Vec<String>>);

/// Columns of the table of times, and what they are called.
const TIMES: [(&str, &str); 6] = [
    ("nvcc", "naive, nvcc"),
    ("off", "naive, `off`"),
    ("safe", "`safe`"),
    ("fast", "`fast`"),
    ("flat", "flat"),
    ("tuned", "tuned"),
];

/// Quotients of the table of speedups.
const SPEEDUPS: [(&str, &str, &str); 6] = [
    ("nvcc", "off", "`off`"),
    ("nvcc", "safe", "`safe`"),
    ("nvcc", "fast", "`fast`"),
    ("flat", "safe", "`safe` over flat"),
    ("flat", "fast", "`fast` over flat"),
    ("tuned", "fast", "`fast` over tuned"),
];

/// Times, speedups, the ablation, sizes.
pub fn tables(results: &Results) -> Vec<Table> {
    vec![times(results), speedups(results), ablation(results), sizes(results)]
}

fn heading<'a>(columns: impl Iterator<Item = &'a str>) -> Table {
    let mut row = vec!["program, input".to_owned()];
    row.extend(columns.map(str::to_owned));
    let mut aligns = vec![Align::Right; row.len()];
    aligns[0] = Align::Left;
    (aligns, vec![row])
}

fn label(row: &Row) -> String {
    match row.input {
        "" => format!("{} {}", row.program, row.scale),
        input => format!("{} {}, {input}", row.program, row.scale),
    }
}

/// Three digits.
fn digits(number: f64) -> String {
    match number {
        _ if number >= 99.95 => format!("{number:.0}"),
        _ if number >= 9.995 => format!("{number:.1}"),
        _ if number >= 0.0995 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

fn times(results: &Results) -> Table {
    let (aligns, mut rows) = heading(TIMES.iter().map(|(_, title)| *title));
    let cell = |times: Option<&Times>| {
        times.map_or(String::new(), |times| {
            format!("{} ({})", digits(times.best_ms), digits(times.median_ms()))
        })
    };
    for row in results.rows() {
        let mut cells = vec![label(&row)];
        cells.extend(TIMES.iter().map(|(column, _)| cell(results.times(&row, column))));
        rows.push(cells);
    }
    (aligns, rows)
}

fn speedups(results: &Results) -> Table {
    let (aligns, mut rows) = heading(SPEEDUPS.iter().map(|(.., title)| *title));
    let cell = |number: Option<f64>| number.map_or(String::new(), digits);
    for row in results.rows() {
        let mut cells = vec![label(&row)];
        cells.extend(SPEEDUPS.iter().map(|(from, to, _)| cell(results.speedup(&row, from, to))));
        rows.push(cells);
    }
    let mut cells = vec!["**geometric mean**".to_owned()];
    cells.extend(SPEEDUPS.iter().map(|(from, to, _)| cell(results.mean(from, to))));
    rows.push(cells);
    (aligns, rows)
}

/// How many times as long `fast` takes without each transformation.
fn ablation(results: &Results) -> Table {
    let of =
        || CONTENDERS.iter().filter_map(|contender| Some((contender.name, contender.without?)));
    let (aligns, mut rows) = heading(of().map(|(_, without)| without));
    let cell = |number: Option<f64>| number.map_or(String::new(), digits);
    for row in results.rows() {
        let mut cells = vec![label(&row)];
        cells.extend(of().map(|(name, _)| cell(results.speedup(&row, name, "fast"))));
        rows.push(cells);
    }
    let mut cells = vec!["**geometric mean**".to_owned()];
    cells.extend(of().map(|(name, _)| cell(results.mean(name, "fast"))));
    rows.push(cells);
    (aligns, rows)
}

/// What is known of the executables without running them on a GPU.
fn sizes(results: &Results) -> Table {
    let columns = [
        ("nvcc", "cubin", "cubin: nvcc"),
        ("off", "cubin", "`off`"),
        ("safe", "cubin", "`safe`"),
        ("fast", "cubin", "`fast`"),
        ("off", "launches", "launches: `off`"),
        ("safe", "launches", "`safe`"),
        ("fast", "launches", "`fast`"),
        ("off", "pending", "most pending: `off`"),
        ("safe", "pending", "`safe`"),
        ("fast", "pending", "`fast`"),
    ];
    let (aligns, mut rows) = heading(columns.iter().map(|(.., title)| *title));
    let mut programs: Vec<&str> = results.rows().iter().map(|row| row.program).collect();
    programs.dedup();
    for program in programs {
        let mut cells = vec![program.to_owned()];
        cells.extend(columns.iter().map(|(contender, name, _)| {
            results
                .fact(program, contender, name)
                .map_or(String::new(), |number| number.to_string())
        }));
        rows.push(cells);
    }
    (aligns, rows)
}

/// Puts the tables between the marks of the page.
///
/// # Errors
/// When the page cannot be read or written, or has no marks.
pub fn write(path: &Path, results: &Results) -> Outcome<()> {
    let old = fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
    let parts = old.split_once(BEGIN).and_then(|(above, rest)| {
        let (_, below) = rest.split_once(END)?;
        Some((above, below))
    });
    let (above, below) = parts
        .ok_or_else(|| Failure::new(format!("{} lacks the lines\n{BEGIN}{END}", path.display())))?;
    let text = format!("{above}{BEGIN}{}{END}{below}", section(results, &today()?));
    fs::write(path, text).map_err(|error| Failure::io("write", path, &error))
}

fn section(results: &Results, date: &str) -> String {
    let mean = |from, to| results.mean(from, to).map_or("?".to_owned(), digits);
    let mut text = format!("\n{date}, {}, CUDA 13.0, `-O3`, sm_90.\n\n", results.machine);
    let _ = writeln!(
        text,
        "Geometric means over the programs, of which each is the mean of its inputs: `safe` is {} and `fast` {} \
         times as fast as naive code by nvcc; `fast` is {} times as fast as flat code, and takes {} times as \
         long as code tuned by hand.\n",
        mean("nvcc", "safe"),
        mean("nvcc", "fast"),
        mean("flat", "fast"),
        mean("fast", "tuned"),
    );
    text += "![Speedups over naive code by nvcc](launch-optimiser.svg)\n\n";
    let titles = [
        "Milliseconds, the best and in parentheses the median of several runs by events; flat and tuned by the \
         faster of nvcc and `off`.",
        "How many times as fast as naive code by nvcc, as flat and as tuned code.",
        "Ablation: how many times as long `fast` takes without a transformation.",
        "Bytes of the linked cubin; launches from the device and the most that were pending at a time, as the \
         CPU device counts them with the small input of the tests.",
    ];
    for (title, (aligns, rows)) in titles.iter().zip(tables(results)) {
        let _ = writeln!(text, "{title}\n\n{}", markdown(&aligns, &rows));
    }
    if !results.problems.is_empty() {
        let _ = writeln!(text, "Did not run: {}.\n", results.problems.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_keeps_what_is_around_the_marks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.md");
        fs::write(&path, format!("above\n{BEGIN}old\n{END}below\n")).unwrap();
        let text = "machine H200\nrun bfs-16-rmat nvcc\ntime bfs naive 7 30.0 31.0\n\
            run bfs-16-rmat fast\ntime bfs naive 7 0.5 0.6\n";
        write(&path, &Results::read(&[text.to_owned()]).unwrap()).unwrap();
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.starts_with("above\n") && page.ends_with("below\n") && !page.contains("old"));
        assert!(page.contains("| bfs 16, rmat | 30.0 (31.0) |  |  | 0.50 (0.60) |"));
        assert!(page.contains("| **geometric mean** |  |  | 60.0 |"));
    }
}
