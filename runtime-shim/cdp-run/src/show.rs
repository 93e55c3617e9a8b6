//! What becomes of buffers after a launch: shown as text, or written to the files that were asked for.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use super::arg::Destination;
use super::npy::{Array, write_npy};
use super::run::{BufferResult, RunError};

/// Elements of a row that are shown; the middle of a longer one is left out.
const ROW_SHOWN: usize = 16;
/// Rows that are shown.
const ROWS_SHOWN: usize = 32;

/// An array as text: a line for each row of the innermost dimension, columns aligned, long rows and
/// many rows cut in the middle. Ends with a line break.
pub fn format_array(array: &Array) -> String {
    let row = array.shape.last().copied().unwrap_or(1).max(1);
    let bytes = array.element.bytes();
    let rows: Vec<&[u8]> = array.bytes.chunks(row * bytes).collect();
    let lines: Vec<Option<Vec<Option<String>>>> = cut(rows.len(), ROWS_SHOWN)
        .map(|index| {
            let row = rows[index?];
            let cells: Vec<&[u8]> = row.chunks(bytes).collect();
            let shown = cut(cells.len(), ROW_SHOWN);
            Some(shown.map(|at| Some(array.element.format_value(cells[at?]))).collect())
        })
        .collect();
    let cells = lines.iter().flatten().flatten().flatten();
    let width = cells.map(|cell| cell.len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        match line {
            None => text.push_str("...\n"),
            Some(cells) => {
                let cells = cells.into_iter().map(|cell| match cell {
                    Some(cell) => format!("{cell:>width$}"),
                    None => "...".to_owned(),
                });
                // Writing to a string does not fail.
                let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join(" "));
            }
        }
    }
    text
}

/// The numbers from 0 to `count`, or the first and last of them with `None` for those between.
fn cut(count: usize, most: usize) -> impl Iterator<Item = Option<usize>> {
    let (head, tail) = if count <= most { (count, 0) } else { (most / 2, most - most / 2) };
    let gap = (count > most).then_some(None);
    (0..head).map(Some).chain(gap).chain((count - tail..count).map(Some))
}

/// Does with each buffer what its argument asks: those printed go to `out` under a heading.
///
/// # Errors
/// A file that cannot be written, or `out`.
pub fn deliver(results: &[BufferResult], out: &mut dyn Write) -> Result<(), RunError> {
    for result in results {
        match &result.destination {
            Destination::File(path) => save(path, &result.array)?,
            Destination::Nowhere => {}
            Destination::Unsaid if !result.changed => {}
            Destination::Unsaid | Destination::Print => {
                let shape = result.array.shape.iter().map(|n| format!("[{n}]"));
                let heading = format!(
                    "argument {}: {}{}",
                    result.arg + 1,
                    result.array.element,
                    shape.collect::<String>()
                );
                let text = format!("{heading}\n{}", format_array(&result.array));
                out.write_all(text.as_bytes()).map_err(|error| RunError::File {
                    path: "standard output".into(),
                    message: error.to_string(),
                })?;
            }
        }
    }
    Ok(())
}

/// Writes an array: as NPY if the name ends so, else its bytes.
fn save(path: &Path, array: &Array) -> Result<(), RunError> {
    let is_npy = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let contents = if is_npy { write_npy(array) } else { array.bytes.clone() };
    std::fs::write(path, contents)
        .map_err(|error| RunError::File { path: path.to_owned(), message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    fn numbers(shape: &[usize]) -> Array {
        let count: usize = shape.iter().product();
        let bytes = (0..count as i32).flat_map(|n| (n * 5 - 5).to_le_bytes()).collect();
        Array { element: Element::I32, shape: shape.to_vec(), bytes }
    }

    #[test]
    fn rows_are_aligned_and_long_ones_cut() {
        assert_eq!(format_array(&numbers(&[2, 3])), "-5  0  5\n10 15 20\n");
        let text = format_array(&numbers(&[100]));
        assert!(
            text.starts_with(" -5   0   5")
                && text.ends_with("... 455 460 465 470 475 480 485 490\n")
        );
        let text = format_array(&numbers(&[100, 1]));
        assert_eq!(text.lines().count(), 33);
        assert_eq!(text.lines().nth(16), Some("..."));
    }

    #[test]
    fn buffers_go_where_they_were_asked_to_go() {
        let folder = std::env::temp_dir().join(format!("cdp-show-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let result = |arg, changed, destination| BufferResult {
            arg,
            array: numbers(&[2]),
            changed,
            destination,
        };
        let results = [
            result(0, true, Destination::Unsaid),
            result(1, false, Destination::Unsaid),
            result(2, false, Destination::Print),
            result(3, true, Destination::Nowhere),
            result(4, true, Destination::File(folder.join("a.bin"))),
            result(5, true, Destination::File(folder.join("a.npy"))),
        ];
        let mut out = Vec::new();
        deliver(&results, &mut out).unwrap();
        let expected = "argument 1: i32[2]\n-5  0\nargument 3: i32[2]\n-5  0\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(std::fs::read(folder.join("a.bin")).unwrap(), numbers(&[2]).bytes);
        let npy = std::fs::read(folder.join("a.npy")).unwrap();
        assert_eq!(crate::read_npy(&npy).unwrap(), numbers(&[2]));
        let lost = result(0, true, Destination::File(folder.join("no/such/folder")));
        assert!(deliver(&[lost], &mut Vec::new()).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
