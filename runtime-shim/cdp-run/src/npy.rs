//! NumPy's NPY files, format versions 1 to 3 (NumPy manual, `numpy.lib.format`): arrays of the element
//! types that kernels take. Big-endian files are converted; Fortran order, records and objects are
//! refused.

use std::fmt;

use super::element::Element;

/// An array as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type of the elements.
    pub element: Element,
    /// Elements in each dimension, outermost first; empty for a single number.
    pub shape: Vec<usize>,
    /// Little-endian elements in C order.
    pub bytes: Vec<u8>,
}

/// Why a file is not an array that kernels can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyError(pub String);

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NpyError {}

const MAGIC: &[u8] = b"\x93NUMPY";

fn fail<T>(message: impl Into<String>) -> Result<T, NpyError> {
    Err(NpyError(message.into()))
}

/// Reads a file's contents.
pub fn read_npy(file: &[u8]) -> Result<Array, NpyError> {
    let Some(rest) = file.strip_prefix(MAGIC) else {
        return fail("not an NPY file: it does not begin with \\x93NUMPY");
    };
    let (header_bytes, start) = match (rest.first(), rest.get(2..4), rest.get(2..6)) {
        (Some(1), Some(&[a, b]), _) => (usize::from(u16::from_le_bytes([a, b])), 4),
        (Some(2 | 3), _, Some(&[a, b, c, d])) => (u32::from_le_bytes([a, b, c, d]) as usize, 6),
        (Some(version), ..) if !(1..=3).contains(version) => {
            return fail(format!("version {version} of the NPY format is not known"));
        }
        _ => return fail("the NPY file is cut off in its header"),
    };
    let end = start + header_bytes;
    let (Some(header), Some(data)) = (rest.get(start..end), rest.get(end..)) else {
        return fail("the NPY file is cut off in its header");
    };
    let Ok(header) = std::str::from_utf8(header) else {
        return fail("the NPY file's header is not text");
    };
    let (element, swap, shape) = parse_header(header)?;
    let count = shape.iter().try_fold(element.bytes(), |product, &n| product.checked_mul(n));
    let bytes = match count.and_then(|bytes| data.get(..bytes)) {
        Some(bytes) => bytes,
        None => {
            return fail(format!(
                "the NPY file has {} bytes of data, too few for its shape {shape:?}",
                data.len()
            ));
        }
    };
    let mut bytes = bytes.to_vec();
    if swap {
        bytes.chunks_exact_mut(element.bytes()).for_each(<[u8]>::reverse);
    }
    Ok(Array { element, shape, bytes })
}

/// Element type, whether bytes are swapped, shape.
fn parse_header(header: &str) -> Result<(Element, bool, Vec<usize>), NpyError> {
    let descr = value(header, "descr")?;
    let order = value(header, "fortran_order")?;
    let shape = value(header, "shape")?;
    if !order.starts_with("False") {
        return fail("the array is in Fortran order: store it with numpy.ascontiguousarray");
    }
    let quoted = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next());
    let Some(code) = quoted else {
        return fail("the array has records for elements; kernels take arrays of plain numbers");
    };
    let (swap, name) = match code.as_bytes().first() {
        Some(b'<' | b'|' | b'=') => (false, &code[1..]),
        Some(b'>') => (true, &code[1..]),
        _ => (false, code),
    };
    let Some(element) = Element::from_numpy(name) else {
        return fail(format!("elements of NumPy type `{code}` are not supported"));
    };
    let inside = shape.strip_prefix('(').and_then(|rest| rest.split(')').next());
    let numbers = inside.map(|list| {
        let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| part.parse().ok()).collect::<Option<Vec<usize>>>()
    });
    match numbers {
        Some(Some(shape)) => Ok((element, swap, shape)),
        _ => fail("the NPY file's shape is not a tuple of numbers"),
    }
}

/// The text after `'key':` in the header's dictionary.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, NpyError> {
    for quote in ['\'', '"'] {
        let name = format!("{quote}{key}{quote}");
        if let Some(at) = header.find(&name) {
            let rest = header[at + name.len()..].trim_start();
            if let Some(rest) = rest.strip_prefix(':') {
                return Ok(rest.trim_start());
            }
        }
    }
    fail(format!("the NPY file's header has no `{key}`"))
}

/// Writes an array as a file of version 1 (2 if the header is too long for it).
pub fn write_npy(array: &Array) -> Vec<u8> {
    let dimensions: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    let tuple = match dimensions.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': {tuple}, }}",
        array.element.numpy()
    );
    let long = header.len() + 80 > usize::from(u16::MAX);
    let prefix = MAGIC.len() + if long { 6 } else { 4 };
    // Blanks and a line break up to a multiple of 64, so that the data is aligned.
    let padded = (prefix + header.len() + 1).next_multiple_of(64) - prefix;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    let mut file = MAGIC.to_vec();
    if long {
        file.extend([2, 0]);
        file.extend((header.len() as u32).to_le_bytes());
    } else {
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
    }
    file.extend(header.as_bytes());
    file.extend(&array.bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Array {
        let bytes = (0..6i16).flat_map(i16::to_le_bytes).collect();
        Array { element: Element::I16, shape: vec![2, 3], bytes }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for shape in [vec![2, 3], vec![6], vec![1; 40]] {
            let bytes = sample().bytes[..shape.iter().product::<usize>() * 2].to_vec();
            let array = Array { shape, bytes, ..sample() };
            let file = write_npy(&array);
            assert_eq!(read_npy(&file), Ok(array.clone()));
            assert_eq!((file.len() - array.bytes.len()) % 64, 0);
        }
    }

    #[test]
    fn numpys_own_files_are_read() {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        let header = b"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }     \n";
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header);
        file.extend(1.5f32.to_be_bytes());
        file.extend((-2f32).to_be_bytes());
        let array = read_npy(&file).unwrap();
        assert_eq!((array.element, array.shape), (Element::F32, vec![2]));
        assert_eq!(array.bytes, [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat());
    }

    #[test]
    fn bad_files_are_refused() {
        let file = write_npy(&sample());
        for end in 0..file.len() {
            assert!(read_npy(&file[..end]).is_err(), "{end}");
        }
        let text = String::from_utf8_lossy(&file).into_owned();
        for (from, to, says) in [
            ("'<i2'", "'<c8'", "`<c8`"),
            ("'<i2'", "[('a', '<i2')]", "records"),
            ("False", "True ", "Fortran"),
            ("(2, 3)", "(2, x)", "shape"),
            ("(2, 3)", "(2, 99999999999999999999)", "shape"),
            ("(2, 3)", "(9, 9)", "too few"),
            ("'descr'", "'dtype'", "descr"),
        ] {
            // The header's length stays: what follows it moves, which is not reached.
            let position = text.find(from).unwrap() - '\u{fffd}'.len_utf8() + 1;
            let mut changed = file.clone();
            changed.splice(position..position + from.len(), to.bytes());
            let grown = to.len() as i32 - from.len() as i32;
            let length = (i32::from(file[8]) + i32::from(file[9]) * 256 + grown) as u16;
            changed[8..10].copy_from_slice(&length.to_le_bytes());
            let error = read_npy(&changed).unwrap_err().0;
            assert!(error.contains(says), "{to}: {error}");
        }
    }
}
