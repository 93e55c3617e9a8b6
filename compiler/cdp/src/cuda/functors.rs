//! Function objects of device code that functions of the host ask about (`requires std::invocable<F, int>`, `decltype(f(0))`):
//! for nvcc a call that nobody makes may be one of device code, for clang it is none. Their call operators get the mark of the
//! host too; no host code calls them, so that none is made of them.
//!
//! clang does not say where the operators are. They are looked for in the source and in the files of the program that it
//! includes, by their spelling: this is no parser of C++.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cdp_toolchain::ClangRequest;

use super::messages::Line;
use super::spelling::{is_word, skipped};

/// Parts of what clang says where a question has another answer than nvcc's.
const SAID: &[&str] = &[
    "because '",
    "constraints not satisfied",
    "requirement '",
    "invoke_result",
    "static assertion failed",
    "matching function for call to object of type",
];

const OPERATOR: &str = "operator";
const OF_DEVICE: &str = "__device__";
const OF_HOST: &str = "__host__";

/// Whether clang's messages may come from such a question.
pub(super) fn are_asked_about(messages: &str) -> bool {
    let mut lines = messages.lines().filter_map(Line::read);
    lines.any(|line| SAID.iter().any(|said| line.text.contains(said)))
}

/// The source, and files that it includes by a name in quotes, those of these too; by the names that clang has for them.
pub(super) fn files(source: &Path, request: &ClangRequest) -> BTreeSet<PathBuf> {
    let words: Vec<_> = request.args.iter().collect();
    let folders: Vec<&Path> = words
        .windows(2)
        .filter(|pair| pair[0].as_os_str() == "-I")
        .map(|pair| Path::new(pair[1]))
        .collect();
    let (mut found, mut open) = (BTreeSet::new(), vec![source.to_owned()]);
    while let Some(file) = open.pop() {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if !found.insert(file.clone()) {
            continue;
        }
        let own = file.parent().unwrap_or(Path::new(""));
        for name in text.lines().filter_map(included) {
            let places = std::iter::once(own).chain(folders.iter().copied());
            open.extend(places.map(|folder| folder.join(name)).find(|path| path.is_file()));
        }
    }
    found
}

/// The name in quotes that a line includes.
pub(super) fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(name)
}

/// Words that mark a declaration: CUDA's own, and a program's macros that are some of these.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    of_device: BTreeSet<String>,
    of_host: BTreeSet<String>,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { of_device: [OF_DEVICE.into()].into(), of_host: [OF_HOST.into()].into() }
    }
}

impl Marks {
    /// Those of files of a program.
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Marks {
        let texts: Vec<_> = files.into_iter().flat_map(std::fs::read_to_string).collect();
        Marks::in_texts(texts.iter().map(String::as_str))
    }

    fn in_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Marks {
        let mut marks = Marks::default();
        let macros: Vec<_> = texts.into_iter().flat_map(macros).collect();
        loop {
            let before = marks.of_device.len() + marks.of_host.len();
            for (name, body) in &macros {
                let mut words =
                    body.split(|letter: char| !letter.is_ascii() || !is_word(letter as u8));
                if words.clone().any(|word| marks.of_device.contains(word)) {
                    marks.of_device.insert((*name).to_owned());
                }
                if words.any(|word| marks.of_host.contains(word)) {
                    marks.of_host.insert((*name).to_owned());
                }
            }
            if before == marks.of_device.len() + marks.of_host.len() {
                return marks;
            }
        }
    }

    /// Whether a word is one of device code and none of the host.
    pub(super) fn is_of_device_alone(&self, word: &str) -> bool {
        self.of_device.contains(word) && !self.is_of_host(word)
    }

    pub(super) fn is_of_host(&self, word: &str) -> bool {
        self.of_host.contains(word)
    }
}

/// Macros without parameters that are defined on one line, and what they are.
fn macros(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let line = line.strip_prefix([' ', '\t'])?.trim_start();
        let length = line.bytes().take_while(|byte| is_word(*byte)).count();
        let (name, body) = line.split_at(length);
        (length > 0 && !body.starts_with('(')).then_some((name, body))
    });
    lines.collect()
}

/// The word that a text begins with.
pub(super) fn first_word(text: &str) -> &str {
    &text[..text.bytes().take_while(|byte| is_word(*byte)).count()]
}

/// What marks the call operators of a text that have the mark of device code alone: where, and the word that comes there.
pub(super) fn marks(text: &str, known: &Marks) -> BTreeMap<usize, (usize, String)> {
    let mut marks = BTreeMap::new();
    // Where the declaration begins, and its mark of device code; `None` behind one of the host.
    let (mut of_device, mut of_host) = (None, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let over = skipped(bytes, at);
        if over > 0 {
            at += over;
            continue;
        }
        if bytes[at] == b'#' {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let word = first_word(&text[at..]);
        let length = word.len();
        match word {
            word if known.is_of_host(word) => of_host = true,
            word if known.is_of_device_alone(word) => of_device = Some(at),
            OPERATOR if !of_host && is_call(&text[at + length..]) => {
                if let Some(place) = of_device.take() {
                    marks.insert(place, (place, format!("{OF_HOST} ")));
                }
            }
            "" if matches!(bytes[at], b';' | b'{' | b'}') => (of_device, of_host) = (None, false),
            _ => {}
        }
        at += length.max(1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    marks
}

/// Whether what comes behind the word `operator` makes it that of a call.
fn is_call(behind: &str) -> bool {
    let inner = behind.trim_start().strip_prefix('(').map(str::trim_start);
    inner
        .and_then(|inner| inner.strip_prefix(')'))
        .is_some_and(|rest| rest.trim_start().starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        let known = Marks::in_texts([text]);
        super::super::again::edited(text, marks(text, &known)).unwrap_or_default()
    }

    #[test]
    fn marks_may_be_macros() {
        let text = "#define DEV __device__\n#\tdefine FN DEV inline\n#define BOTH __host__ FN\n\
                    #define LAMBDA(x) [=] __device__ (x)\nstruct A { FN int operator()() const; };\n\
                    struct B { BOTH int operator()() const; };\n";
        let known = Marks::in_texts([text]);
        for (word, of_device) in
            [("DEV", true), ("FN", true), ("BOTH", false), ("LAMBDA", false), ("__device__", true)]
        {
            assert_eq!(known.is_of_device_alone(word), of_device, "{word}");
        }
        let made = marked(text);
        assert!(made.contains("struct A { __host__ FN int operator()() const; };"), "{made}");
        assert!(made.contains("struct B { BOTH int"), "{made}");
    }

    #[test]
    fn call_operators_of_device_code_alone_are_marked() {
        let made = marked("struct A { int v; __device__ int operator()(int i) const; };\n");
        assert_eq!(made, "struct A { int v; __host__ __device__ int operator()(int i) const; };\n");
        let made = marked(
            "template <class T> __forceinline__ __device__ auto\noperator () (T t) { return t; }",
        );
        assert!(made.contains("__forceinline__ __host__ __device__ auto"), "{made}");
    }

    #[test]
    fn others_are_left() {
        for text in [
            "struct A { __host__ __device__ void operator()(int); };",
            "struct A { __device__ __host__ void operator()(int); };",
            "struct A { __device__ A operator+(A) const; void operator()(int); };",
            "__device__ int f(); struct A { void operator()(); };",
            "// __device__ void operator()(int);\nchar c = '\u{e9}';",
        ] {
            assert_eq!(marks(text, &Marks::default()), BTreeMap::new(), "{text}");
        }
    }

    #[test]
    fn files_are_those_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("sub")).unwrap();
        std::fs::write(path("a.cu"), "#include <cstdio>\n# include \"sub/b.h\" // b\n").unwrap();
        std::fs::write(path("sub/b.h"), "#pragma once\n#include \"c.h\"\n#include \"b.h\"\n")
            .unwrap();
        std::fs::write(path("c.h"), "#include \"missing.h\"\n").unwrap();
        let args = ["-I".into(), folder.path().into()].to_vec();
        let request = ClangRequest {
            args,
            source: path("a.cu"),
            stem: String::new(),
            extension: "",
            output: None,
        };
        let found = files(&path("a.cu"), &request);
        assert_eq!(found, BTreeSet::from([path("a.cu"), path("c.h"), path("sub/b.h")]));
    }
}
