//! Functions of device code whose definition lacks the mark of its declaration (`__device__ int f(int); int f(int x) { ... }`):
//! nvcc has both for one function, clang takes the second for another one, of the host, and says nothing. Seen in a file's
//! text before clang reads it, and the mark written behind the declarator. The declaration may stand in a file that is included
//! by a name in quotes before.
//!
//! Only what is certain: declaration and definition stand in one scope outside of all conditions (but that which guards a file
//! from being included twice), and their parameters are the same words but for names. What else clang says something of is [`super::unmarked`]'s. This is no parser of C++.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::again::edited;
use super::functors;
use super::spelling::{is_word, skipped};
use super::unmarked::Marks;

/// A function as it is declared: its scope, and how it is told from others.
type Function = (String, String, Vec<String>);

/// Files that may be open one in another.
const MOST_OPEN: usize = 64;

const OF_DEVICE: &str = "__device__";

/// Finds a file and its text by the name by which another one includes it, or the source if none is named.
pub(super) type Find<'f> = &'f dyn Fn(Option<&Path>, &str) -> Option<(PathBuf, String)>;

/// As [`marked`], by what stands in the text alone.
pub(super) fn marked_alone(text: &str) -> Option<String> {
    if text.contains(OF_DEVICE) { marked(text, &|_, _| None) } else { None }
}

/// The text with such definitions marked; `None` if there are none.
pub(super) fn marked(text: &str, find: Find<'_>) -> Option<String> {
    let mut scan = Scan {
        find,
        declared: HashSet::new(),
        edits: BTreeMap::new(),
        files: HashSet::new(),
        open: Vec::new(),
        head: String::new(),
    };
    scan.file(text);
    edited(text, scan.edits)
}

/// What a directive does.
enum Words<'t> {
    /// A condition begins.
    Opens,
    /// One that guards its file from being included twice.
    Guards,
    Closes,
    /// A file is included by a name in quotes.
    Includes(&'t str),
    Other,
}

/// The directive that a text begins with, and its length with the lines that continue it.
fn directive(text: &str) -> (Words<'_>, usize) {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    let words = text[1..].trim_start();
    let words = match words {
        _ if words.starts_with("ifndef") && guards(words, &text[length..]) => Words::Guards,
        _ if words.starts_with("if") => Words::Opens,
        _ if words.starts_with("endif") => Words::Closes,
        _ => functors::included(text).map_or(Words::Other, Words::Includes),
    };
    (words, length)
}

/// Whether a condition is the usual one of a header: what it asks for is defined in the next line.
fn guards(condition: &str, behind: &str) -> bool {
    let asked = condition.split_whitespace().nth(1);
    let line = behind.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let defined = line.trim_start().strip_prefix('#').map(str::trim_start);
    let mut words = defined.unwrap_or_default().split_whitespace();
    words.next() == Some("define")
        && asked.is_some()
        && words.next() == asked
        && words.next().is_none()
}

/// What has been seen.
struct Scan<'f> {
    find: Find<'f>,
    declared: HashSet<Function>,
    edits: BTreeMap<usize, (usize, String)>,
    /// Files that have been included.
    files: HashSet<PathBuf>,
    /// Those that are open, the one at hand last; none for the source.
    open: Vec<PathBuf>,
    /// The text of the declaration at hand so far.
    head: String,
}

impl Scan<'_> {
    /// Goes through a file.
    fn file(&mut self, text: &str) {
        // Whether a condition that is open counts as one.
        let (mut scopes, mut conditions) = (vec![String::new()], Vec::<bool>::new());
        let (mut at, mut depth, mut is_new_line) = (0, 0_usize, true);
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let over = skipped(bytes, at);
            if over > 0 {
                self.head.push(' ');
                at += over;
                continue;
            }
            let is_certain = !conditions.contains(&true);
            let byte = bytes[at];
            if byte == b'#' && is_new_line {
                let (words, length) = directive(&text[at..]);
                match words {
                    Words::Opens => conditions.push(true),
                    Words::Guards => conditions.push(false),
                    Words::Closes => drop(conditions.pop()),
                    Words::Includes(name) if is_certain && scopes.len() == 1 => self.include(name),
                    Words::Includes(_) | Words::Other => {}
                }
                at += length;
                continue;
            }
            is_new_line = byte == b'\n' || is_new_line && byte.is_ascii_whitespace();
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                b';' | b'{' | b'}' if depth == 0 => {
                    let scope = scopes.last().map_or("", String::as_str);
                    if is_certain {
                        self.declaration(scope, byte, at);
                    }
                    match byte {
                        b'{' => scopes.push(self.opened(scope, at)),
                        b'}' if scopes.len() > 1 => drop(scopes.pop()),
                        _ => {}
                    }
                    self.head.clear();
                    at += 1;
                    continue;
                }
                _ => {}
            }
            self.head.push_str(text.get(at..at + 1).unwrap_or("?"));
            at += 1;
        }
    }

    /// A file of the program's that another one includes: what it declares counts.
    fn include(&mut self, name: &str) {
        let from = self.open.last().map(PathBuf::as_path);
        let Some((path, text)) = (self.find)(from, name) else { return };
        let may_say = text.contains(OF_DEVICE) || text.contains("include");
        if may_say && self.open.len() < MOST_OPEN && self.files.insert(path.clone()) {
            let head = std::mem::take(&mut self.head);
            self.open.push(path);
            self.file(&text);
            self.open.pop();
            self.head = head;
        }
    }

    /// The scope that opens at a place: a namespace, which may open again, or one of its own.
    fn opened(&self, scope: &str, at: usize) -> String {
        let mut head = words(&self.head);
        match (head.next(), head.next(), head.next()) {
            (Some("namespace"), Some(name), None) => format!("{scope}{name}::"),
            _ => format!("{scope}{}:{at}::", self.files.len()),
        }
    }

    /// A declaration has ended by a byte at a place.
    fn declaration(&mut self, scope: &str, end: u8, at: usize) {
        let Some((before, name, parameters)) = split(&self.head) else { return };
        let has = |mark: &str| words(before).any(|word| word == mark);
        let function = || (scope.to_owned(), name.to_owned(), types(parameters));
        let is_friend = has("friend");
        let on_host = ["__host__", "__global__"].into_iter().any(has);
        match (end, has(OF_DEVICE)) {
            (b';', true) if !on_host && !is_friend => drop(self.declared.insert(function())),
            (b'{', false)
                if self.open.is_empty() && !on_host && self.declared.contains(&function()) =>
            {
                self.edits.insert(at, (at, Marks::Device.written().to_owned()));
            }
            _ => {}
        }
    }
}

/// What stands before a function's name, the name, and its parameters, which are the last of a declaration.
fn split(head: &str) -> Option<(&str, &str, &str)> {
    let inner = head.trim_end().strip_suffix(')')?;
    let mut depth = 1_usize;
    let open = inner.bytes().rposition(|byte| {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let named = inner[..open].trim_end();
    let start = named.bytes().rposition(|byte| !is_word(byte))? + 1;
    let (before, name) = named.split_at(start);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_plain = !before.trim_end().ends_with(['~', ':', '=', '.', ')']);
    let has_type = words(before).next().is_some();
    (is_name && is_plain && has_type).then_some((before, name, &inner[open + 1..]))
}

/// Names and numbers, one after another.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Words that are no name of a parameter.
const OF_TYPES: &[&str] = &[
    "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "unsigned",
    "void", "volatile",
];

/// The types of parameters, each as its words without spaces: what is the same is written the same.
fn types(parameters: &str) -> Vec<String> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, byte) in parameters.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'<' | b'{' => depth += 1,
            b')' | b']' | b'>' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&parameters[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&parameters[start..]);
    let mut made: Vec<String> = parts.into_iter().map(of_parameter).collect();
    if made == ["void"] {
        made[0].clear();
    }
    made
}

fn of_parameter(parameter: &str) -> String {
    let declared = parameter.split('=').next().unwrap_or_default().trim();
    let bounds = declared.find('[').unwrap_or(declared.len());
    let (named, bounds) = declared.split_at(bounds);
    let named = named.trim_end();
    let start = named.bytes().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
    let (before, name) = named.split_at(start);
    // A name stands behind a type, which is more than its qualifiers.
    let mut of_type = words(before).filter(|word| !["const", "volatile"].contains(word));
    let is_name =
        !OF_TYPES.contains(&name) && of_type.next().is_some() && !before.trim_end().ends_with(':');
    let kept = if is_name { before } else { named };
    let mut made = String::new();
    for c in kept.chars().chain(bounds.chars()) {
        let is_end = made.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        match c {
            _ if !c.is_whitespace() => made.push(c),
            _ if is_end => made.push(' '),
            _ => {}
        }
    }
    // `int * a` and `int *a`, `f (x)` and `f(x)`.
    [" *", " &", " [", " <", " >", " ,"]
        .iter()
        .fold(made, |made, pair| made.replace(pair, &pair[1..]))
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text behind the marks that are written.
    fn found(text: &str) -> Vec<String> {
        let headers = [
            (
                "plain.h",
                "#pragma once\n__device__ int f(int);\nnamespace n { __device__ int g(int); }\n",
            ),
            ("guarded.h", "// why\n#ifndef H_\n#define H_\n#include \"plain.h\"\n#endif\n"),
            ("itself.h", "#include \"itself.h\"\n__device__ int f(int);\n"),
            ("perhaps.h", "#ifdef __CUDACC__\n__device__ int f(int);\n#endif\n"),
            ("defines.h", "__device__ int f(int);\nint f(int x) { one }\n"),
        ];
        let find = |_: Option<&Path>, name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name)?;
            Some((PathBuf::from(name), found.1.to_owned()))
        };
        let made = marked(text, &find).unwrap_or_default();
        let parts = made.split(Marks::Device.written()).skip(1);
        parts.map(|part| part.chars().take(12).collect()).collect()
    }

    #[test]
    fn definitions_get_the_mark_of_their_declaration() {
        for text in [
            "__device__ int f(int);\nint f(int x) { one }",
            "__device__ float f ( float * a, const int n = 3 ) ; // why\nfloat f(float *p, const int) /* x */ { one }",
            "static __device__ void f(void);\nstatic void f()\n{ one }",
            "namespace n { __device__ V<int, 2> f(const V<int, 2> &); V<int, 2> f(const V<int, 2> &v) { one } }",
            "template <class T> __device__ T f(T a[4]);\ntemplate <class T> T f(T b[4]) { one }",
            "#define X 1\n__device__ unsigned f(unsigned long);\nunsigned f(unsigned long x) { one }",
            "#include \"plain.h\"\nint f(int x) { one }",
            "#include \"guarded.h\"\nnamespace n { int g(int x) { one } }",
            "#include \"itself.h\"\nint f(int x) { one }",
            "namespace n { __device__ int f(int); }\nnamespace n { int f(int x) { one } }",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
            assert!(found(text)[0].starts_with("{ one }"), "{text}");
        }
    }

    #[test]
    fn others_are_left() {
        for text in [
            "__device__ int f(int);\nint f(double x) { one }",
            "__device__ int f(int);\nint f(int x, int y) { one }",
            "__device__ int f(int);\n__device__ int f(int x) { one }",
            "__host__ __device__ int f(int);\nint f(int x) { one }",
            "__device__ int f(int);\n__host__ int f(int x) { one }",
            "#ifdef X\n__device__ int f(int);\n#endif\nint f(int x) { one }",
            "__device__ int f(int);\n#if X\nint f(int x) { one }\n#endif",
            "namespace n { __device__ int f(int); }\nint f(int x) { one }",
            "struct S { __device__ int f(int); };\nint S::f(int x) { one }",
            "struct S { friend __device__ int f(int); int f(int x) { one } };",
            "// __device__ int f(int);\nint f(int x) { one }",
            "int f(int x) { one }\n__device__ int f(int);",
            "int f(int x) { one }\n#include \"plain.h\"",
            "#include \"perhaps.h\"\nint f(int x) { one }",
            "#include \"plain.h\"\nint g(int x) { one }",
            "#include <plain.h>\nint f(int x) { one }",
            "#include \"absent.h\"\nint f(int x) { one }",
            "#include \"defines.h\"\nint main() {}",
            "#if X\n#include \"plain.h\"\n#endif\nint f(int x) { one }",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn parameters_are_the_same_without_their_names() {
        for (one, other) in [
            ("int a , float*b", "int,float *"),
            ("const  unsigned int x", "const unsigned int"),
            ("Foo", "Foo f"),
            ("const Foo &", "const Foo& f"),
            ("n::Foo", "n::Foo f = {}"),
        ] {
            assert_eq!(types(one), types(other), "{one}");
        }
        assert_ne!(types("int, float"), types("float, int"));
        assert_ne!(types("int *"), types("int"));
    }
}
