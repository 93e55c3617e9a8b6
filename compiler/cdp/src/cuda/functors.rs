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

fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(name)
}

/// What marks the call operators of a text that have the mark of device code alone: where, and the word that comes there.
pub(super) fn marks(text: &str) -> BTreeMap<usize, (usize, String)> {
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
        let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        match &text[at..at + length] {
            OF_DEVICE => of_device = Some(at),
            OF_HOST => of_host = true,
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
        super::super::again::edited(text, marks(text)).unwrap_or_default()
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
            assert_eq!(marks(text), BTreeMap::new(), "{text}");
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
