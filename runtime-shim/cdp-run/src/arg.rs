//! A kernel argument as a user writes it.
//!
//! ```text
//! 42   -1   0x10   2.5            a scalar; its type is the parameter's
//! i32 42   f64 1e-3   bool true   a scalar of a type
//! hex 0100000002000000            a parameter's bytes, for structs
//! zeros i32[1024]                 a buffer; the kernel gets its address
//! fill f32[16][16] 1.5            ... every element the same
//! iota u32[256]                   ... 0, 1, 2, ...
//! i32[4] 3,1,4,1                  ... these elements
//! file a.npy                      ... a NumPy file's elements
//! file a.bin f32                  ... a raw file's bytes, as elements of a type (u8)
//! zeros i32[1024] -> out.npy      ... written to a file afterwards: .npy, else raw
//! zeros i32[1024] -> -            ... printed afterwards, as changed buffers are anyway
//! ```

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::element::{Element, parse_integer};

/// What a buffer holds before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferInit {
    /// Zero bytes.
    Zeros,
    /// Every element has these bytes.
    Fill(Vec<u8>),
    /// Element `i` is `i`, converted to the type.
    Iota,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A file: NPY if its name ends so, else raw.
    File(PathBuf),
}

/// Where a buffer goes after the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Not said: shown if the kernel changed it.
    Unsaid,
    /// Shown.
    Print,
    /// Nowhere.
    Nowhere,
    /// A file: NPY if its name ends so, else raw.
    File(PathBuf),
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A number whose type is found from the parameter.
    Untyped(String),
    /// A number of a type, as its bytes.
    Scalar(Element, Vec<u8>),
    /// The bytes of a parameter.
    Raw(Vec<u8>),
    /// Device memory, passed by address.
    Buffer {
        /// Type of the elements. `None` for a file that says it itself.
        element: Option<Element>,
        /// Elements in each dimension, outermost first. Empty for a file.
        shape: Vec<usize>,
        /// Contents before.
        init: BufferInit,
        /// What becomes of it.
        destination: Destination,
    },
}

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    /// The argument as written.
    pub arg: String,
    /// What was found and what is expected.
    pub message: String,
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument `{}`: {}", self.arg, self.message)
    }
}

impl std::error::Error for ArgError {}

/// The largest buffer that may be asked for: more than any device has.
const MAX_BUFFER_BYTES: u128 = 1 << 40;

impl FromStr for Arg {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Arg, ArgError> {
        parse(text.trim()).map_err(|message| ArgError { arg: text.to_owned(), message })
    }
}

impl Arg {
    /// The same with its files, read and written, relative to `folder`.
    pub fn relative_to(mut self, folder: &Path) -> Arg {
        if let Arg::Buffer { init, destination, .. } = &mut self {
            if let BufferInit::File(path) = init {
                *path = folder.join(&*path);
            }
            if let Destination::File(path) = destination {
                *path = folder.join(&*path);
            }
        }
        self
    }
}

fn parse(text: &str) -> Result<Arg, String> {
    let (value, destination) = match text.split_once("->") {
        None => (text, Destination::Unsaid),
        Some((value, target)) => (value.trim_end(), destination(target.trim())?),
    };
    let (word, rest) = match value.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (value, ""),
    };
    let arg = match word {
        "" => return Err("nothing is given".to_owned()),
        "zeros" => buffer(rest, BufferInit::Zeros, destination.clone())?,
        "iota" => buffer(rest, BufferInit::Iota, destination.clone())?,
        "fill" => {
            let (ty, value) = rest
                .rsplit_once(char::is_whitespace)
                .ok_or("a type with its size and a value are expected: `fill f32[16] 1.5`")?;
            let (element, shape) = typed_shape(ty.trim())?;
            let init = BufferInit::Fill(element.parse_value(value)?);
            let destination = destination.clone();
            Arg::Buffer { element: Some(element), shape, init, destination }
        }
        "file" => file(rest, destination.clone())?,
        "hex" => Arg::Raw(hex(rest)?),
        _ if word.contains('[') => list(value, destination.clone())?,
        _ if rest.is_empty() => untyped(word)?,
        _ => {
            let element: Element = word.parse()?;
            Arg::Scalar(element, element.parse_value(rest)?)
        }
    };
    match (&arg, destination) {
        (Arg::Buffer { .. }, _) | (_, Destination::Unsaid) => Ok(arg),
        _ => Err("only a buffer can be written somewhere with `->`".to_owned()),
    }
}

fn destination(target: &str) -> Result<Destination, String> {
    Ok(match target {
        "" => return Err("a file name, `-` or `none` is expected after `->`".to_owned()),
        "-" => Destination::Print,
        "none" => Destination::Nowhere,
        path => Destination::File(path.into()),
    })
}

fn untyped(word: &str) -> Result<Arg, String> {
    let is_number = parse_integer(word).is_some() || word.parse::<f64>().is_ok();
    if is_number || matches!(word, "true" | "false") {
        return Ok(Arg::Untyped(word.to_owned()));
    }
    Err("a number, `zeros TYPE[N]`, `fill TYPE[N] VALUE`, `iota TYPE[N]`, `TYPE[N] A,B,...`, \
         `file PATH`, `TYPE VALUE` or `hex BYTES` is expected"
        .to_owned())
}

fn buffer(ty: &str, init: BufferInit, destination: Destination) -> Result<Arg, String> {
    let (element, shape) = typed_shape(ty)?;
    Ok(Arg::Buffer { element: Some(element), shape, init, destination })
}

/// `f32[16][16]` or `f32[16,16]`.
fn typed_shape(text: &str) -> Result<(Element, Vec<usize>), String> {
    let expected = "a type with its size is expected: `i32[1024]`, `f32[16][16]`";
    let (name, dimensions) = text.split_once('[').ok_or(expected)?;
    let element: Element = name.trim().parse()?;
    let dimensions = dimensions.trim_end().strip_suffix(']').ok_or(expected)?;
    let mut shape = Vec::new();
    for dimension in dimensions.split("][").flat_map(|part| part.split(',')) {
        let count = parse_integer(dimension.trim()).filter(|&count| count > 0);
        let count = count.ok_or_else(|| format!("`{dimension}` is not a number of elements"))?;
        shape.push(usize::try_from(count).map_err(|error| error.to_string())?);
    }
    let total = shape.iter().try_fold(element.bytes() as u128, |product, &count| {
        product.checked_mul(count as u128).filter(|&bytes| bytes <= MAX_BUFFER_BYTES)
    });
    if total.is_none() {
        return Err(format!("the buffer is larger than {MAX_BUFFER_BYTES} bytes"));
    }
    Ok((element, shape))
}

/// `i32[4] 3,1,4,1`
fn list(text: &str, destination: Destination) -> Result<Arg, String> {
    let end = text.rfind(']').ok_or("a `]` is missing after the number of elements")?;
    let (element, shape) = typed_shape(&text[..=end])?;
    let values = text[end + 1..].trim();
    if values.is_empty() {
        return Err(format!(
            "values are expected, or `zeros` before the type: `zeros {}`",
            &text[..=end]
        ));
    }
    let mut bytes = Vec::new();
    let mut count = 0usize;
    let separators = |c: char| c == ',' || c.is_whitespace();
    for value in values.split(separators).filter(|value| !value.is_empty()) {
        bytes.extend(element.parse_value(value)?);
        count += 1;
    }
    let wanted: usize = shape.iter().product();
    if count != wanted {
        return Err(format!("{count} values for {wanted} elements"));
    }
    Ok(Arg::Buffer { element: Some(element), shape, init: BufferInit::Bytes(bytes), destination })
}

fn file(rest: &str, destination: Destination) -> Result<Arg, String> {
    if rest.is_empty() {
        return Err("a file name is expected: `file a.npy`, `file a.bin f32`".to_owned());
    }
    // The last word is a type only if it is one; a file name may hold spaces.
    let (path, element) = match rest.rsplit_once(char::is_whitespace) {
        Some((path, last)) => match last.parse::<Element>() {
            Ok(element) => (path.trim_end(), Some(element)),
            Err(_) => (rest, None),
        },
        None => (rest, None),
    };
    let is_npy = path.to_ascii_lowercase().ends_with(".npy");
    if is_npy && element.is_some() {
        return Err("an NPY file says its type itself".to_owned());
    }
    let element = if is_npy { None } else { Some(element.unwrap_or(Element::U8)) };
    let init = BufferInit::File(path.into());
    Ok(Arg::Buffer { element, shape: Vec::new(), init, destination })
}

/// Bytes from hexadecimal digits; blanks and `_` between them are skipped.
pub fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> =
        text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'_').collect();
    let pairs = digits.chunks(2).map(|pair| {
        let text = std::str::from_utf8(pair).ok().filter(|_| pair.len() == 2);
        text.filter(|text| !text.starts_with('+'))
            .and_then(|text| u8::from_str_radix(text, 16).ok())
    });
    pairs
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| "pairs of hexadecimal digits are expected after `hex`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> Arg {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn message(text: &str) -> String {
        text.parse::<Arg>().expect_err(text).message
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(ok(" 42 "), Arg::Untyped("42".to_owned()));
        assert_eq!(ok("f32 1"), Arg::Scalar(Element::F32, 1f32.to_le_bytes().to_vec()));
        assert_eq!(ok("hex 01 02_ff"), Arg::Raw(vec![1, 2, 255]));
        let Arg::Buffer { element, shape, init, destination } = ok("zeros f32[16][2] -> a b.npy")
        else {
            panic!()
        };
        assert_eq!((element, shape), (Some(Element::F32), vec![16, 2]));
        assert_eq!(init, BufferInit::Zeros);
        assert_eq!(destination, Destination::File("a b.npy".into()));
        let Arg::Buffer { init, .. } = ok("u8[3] 1, 2 3") else { panic!() };
        assert_eq!(init, BufferInit::Bytes(vec![1, 2, 3]));
        let Arg::Buffer { init, .. } = ok("fill i16[4,4] -2") else { panic!() };
        assert_eq!(init, BufferInit::Fill(vec![0xfe, 0xff]));
        let Arg::Buffer { element, init, .. } = ok("file my data.bin i64") else { panic!() };
        assert_eq!(element, Some(Element::I64));
        assert_eq!(init, BufferInit::File("my data.bin".into()));
        let Arg::Buffer { destination, .. } = ok("iota u32[8] -> -") else { panic!() };
        assert_eq!(destination, Destination::Print);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(message("lots").contains("a number"));
        assert!(message("zeros").contains("i32[1024]"));
        assert!(message("zeros i32").contains("i32[1024]"));
        assert!(message("zeros i32[0]").contains("number of elements"));
        assert!(message("zeros i32[x]").contains("`x`"));
        assert!(message("zeros quad[4]").contains("not an element type"));
        assert!(message("zeros u64[1099511627776]").contains("larger"));
        assert!(message("i32[4] 1,2").contains("2 values for 4"));
        assert!(message("i32[4]").contains("zeros i32[4]"));
        assert!(message("i32[4").contains("]"));
        assert!(message("u8 300").contains("does not fit"));
        assert!(message("5 -> x.npy").contains("only a buffer"));
        assert!(message("zeros u8[1] ->").contains("file name"));
        assert!(message("hex 123").contains("pairs"));
        assert!(message("hex +1").contains("pairs"));
        assert!(message("file a.npy f32").contains("itself"));
        assert!(message("").contains("nothing"));
    }
}
