//! Plain-text tables.

/// How a column is filled up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Lays out rows in columns two spaces apart; the last column is not filled up.
pub fn table(aligns: &[Align], rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let lay_out = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = widths.get(column).copied().unwrap_or(0);
            match aligns.get(column) {
                Some(Align::Right) => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(lay_out).collect()
}

/// The same as a Markdown table whose first row is the heading.
pub fn markdown(aligns: &[Align], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
        if index == 0 {
            let rules =
                aligns.iter().map(|align| if *align == Align::Right { "---:" } else { "---" });
            text.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
        }
    }
    text
}

/// A number of bytes for people: `812 B`, `13.2 KiB`.
pub fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}

/// A time for people, in milliseconds.
pub fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1000.0;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        [["name", "n"], ["a", "10"]].map(|row| row.map(str::to_owned).to_vec()).to_vec()
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(table(&[Align::Left, Align::Right], &rows()), ["name   n", "a     10"]);
    }

    #[test]
    fn markdown_has_a_rule_after_the_heading() {
        let text = markdown(&[Align::Left, Align::Right], &rows());
        assert_eq!(text, "| name | n |\n| --- | ---: |\n| a | 10 |\n");
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(
            (bytes(812), bytes(13_517), bytes(3 << 20)),
            ("812 B".into(), "13.2 KiB".into(), "3.0 MiB".into())
        );
        assert_eq!((milliseconds(0.0042), milliseconds(0.334)), ("4.2 ms".into(), "334 ms".into()));
    }
}
