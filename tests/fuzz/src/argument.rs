//! What users write behind `--arg`, `--grid` and `--block`, and the files of arrays that they name.

use cdp_run::{Arg, format_array, parse_dimensions, read_npy, write_npy};

/// Reads text as arguments and dimensions, and bytes as a NumPy file, which is written as it was read.
pub fn argument(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        for line in text.lines() {
            let _ = parse_dimensions(line);
            match line.parse::<Arg>() {
                Ok(Arg::Scalar(element, bytes)) => {
                    assert_eq!(bytes.len(), element.bytes(), "{line}");
                    let shown = element.format_value(&bytes);
                    let again = element.parse_value(&shown);
                    assert_eq!(again.as_ref(), Ok(&bytes), "{line}: `{shown}`");
                }
                Ok(argument) => drop(argument.relative_to("folder".as_ref())),
                Err(error) => assert!(!error.to_string().is_empty(), "{line}"),
            }
        }
    }
    if let Ok(array) = read_npy(data) {
        let count: usize = array.shape.iter().product();
        assert_eq!(array.bytes.len(), count * array.element.bytes());
        let _ = format_array(&array);
        assert_eq!(read_npy(&write_npy(&array)), Ok(array));
    }
}
