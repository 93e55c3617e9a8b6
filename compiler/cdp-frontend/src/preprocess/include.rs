//! Finding and opening included files: `FileLoader`, the search order, `#pragma once`, include
//! guards, and the headers that are part of the compiler.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{MAX_INCLUDE_DEPTH, OpenFile, Preprocessor};
use crate::diagnostics::Code;
use crate::headers;
use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind};
use crate::source::{FileId, FileOrigin, Span};

/// How files are read, so that an embedder can compile from memory.
pub trait FileLoader {
    /// The bytes of a file; `None` if there is none.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
}

/// Reads from the file system.
#[derive(Clone, Copy, Default, Debug)]
pub struct DiskLoader;

impl FileLoader for DiskLoader {
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => Ok(None),
            Ok(about) if about.len() > MAX_FILE_BYTES => Err(too_large()),
            Ok(_) => read_limited(path, MAX_FILE_BYTES).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A file's bytes if there are at most `limit_bytes`. What a device or a pipe holds is not known before
/// it is read, and may have no end.
fn read_limited(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the file is larger than 64 MB")
}

/// Files held in memory, by path.
#[derive(Clone, Default, Debug)]
pub struct MemoryLoader {
    /// Content by path, as the path is spelled after `a/./b` and `a/../b` are simplified.
    pub files: HashMap<PathBuf, Vec<u8>>,
}

impl MemoryLoader {
    /// A loader with one file.
    pub fn single(path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        MemoryLoader { files: HashMap::from([(path.into(), text.into())]) }
    }

    /// Adds a file.
    pub fn with(mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }
}

impl FileLoader for MemoryLoader {
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.files.get(path).cloned())
    }
}

/// A source file may not be larger: checking it takes up to 100 times its size in memory.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What is known of files already seen.
#[derive(Clone, Default)]
pub struct FileCache {
    known: HashMap<PathBuf, KnownFile>,
    once: HashSet<FileId>,
    /// Files read, for dependency output.
    pub dependencies: Vec<PathBuf>,
    /// `#pragma push_macro`.
    pub pushed_macros: Vec<(Symbol, Option<u32>)>,
}

#[derive(Clone)]
struct KnownFile {
    id: FileId,
    tokens: Arc<Vec<Token>>,
    /// The macro of an include guard around the whole file.
    guard: Option<Symbol>,
}

/// The name in an `#include`.
struct Wanted {
    name: String,
    angled: bool,
    span: Span,
}

/// Where a file was found.
enum FoundFile {
    Disk { path: PathBuf, bytes: Vec<u8>, place: usize },
    Known { path: PathBuf, place: usize },
    Embedded { name: &'static str, text: &'static str },
}

/// The folders of `-I` around the compiler's own headers, which they are searched before or behind.
pub(super) struct Folders {
    before: Vec<PathBuf>,
    behind: Vec<PathBuf>,
}

impl Folders {
    /// The folders in the order in which they are named. One with a whole C library's headers (`-isystem /usr/include`)
    /// is searched last, as gcc does with the folders that it searches anyway: what a program means by `<limits.h>` is ours.
    pub(super) fn new(named: &[PathBuf], loader: &dyn FileLoader) -> Folders {
        let holds =
            |dir: &PathBuf, name| matches!(loader.load(&clean(&dir.join(name))), Ok(Some(_)));
        let (behind, before) = named
            .iter()
            .cloned()
            .partition(|dir| ["features.h", "stdio.h"].iter().all(|name| holds(dir, name)));
        Folders { before, behind }
    }

    /// Where files of the compiler's own are found; what is found relative to another file is at 0.
    fn own_place(&self) -> usize {
        self.before.len() + 1
    }
}

impl Preprocessor<'_> {
    /// Reads the main file to its end; the empty span there.
    pub(super) fn main_file(&mut self, path: &Path, bytes: Vec<u8>) -> Span {
        self.cache.dependencies.insert(0, path.to_owned());
        let Some(id) =
            self.add_file(path.display().to_string(), bytes, FileOrigin::Main, Span::NONE)
        else {
            return Span::NONE;
        };
        let tokens = self.lex_file(id);
        // Most become tokens of the program as they are.
        self.out.reserve(tokens.len());
        let known = KnownFile { id, tokens: Arc::clone(&tokens), guard: None };
        self.cache.known.insert(clean(path), known);
        let directory = Some(path.parent().unwrap_or(Path::new("")).to_owned());
        self.files.push(OpenFile::new(id, tokens, directory, 0));
        if !self.stopped {
            self.run();
        }
        let file = self.session.sources.file(id);
        let end = file.base + file.text.trim_end().len() as u32;
        Span::new(end, end)
    }

    /// `-include`.
    pub(super) fn forced_include(&mut self, file: &Path) {
        let text = format!("#include \"{}\"\n", file.display());
        let id = self.session.sources.add_file("<command line>", text, FileOrigin::Synthetic);
        let tokens = self.lex_file(id);
        let directory = Some(PathBuf::new());
        self.files.push(OpenFile::new(id, tokens, directory, 0));
        self.run();
    }

    /// `#include` and `#include_next`; `line` is what follows.
    pub(super) fn include(&mut self, directive: Token, line: &[Token], next: bool) {
        let Some((wanted, _)) = self.wanted_file(line, true) else {
            let span = line.first().map_or(directive.span.after(), |token| token.span);
            self.error(Code::E0108, span, "expected a file name: `\"file\"` or `<file>`");
            return;
        };
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            return self.too_deep(&wanted);
        }
        match self.find(&wanted, next) {
            Ok(Some(found)) => self.open(found, &wanted),
            Ok(None) => self.not_found(&wanted),
            Err((path, error)) => {
                let message = format!("`{}` cannot be read: {error}", path.display());
                self.error(Code::E0106, wanted.span, message);
            }
        }
    }

    /// `(<file>)` after `__has_include`: whether it is there, and the number of tokens.
    pub(super) fn has_include(&mut self, line: &[Token], next: bool) -> Option<(bool, usize)> {
        line.first().filter(|open| open.kind == TokenKind::LParen)?;
        let (wanted, length) = self.wanted_file(&line[1..], false)?;
        line.get(1 + length).filter(|close| close.kind == TokenKind::RParen)?;
        let found = matches!(self.find(&wanted, next), Ok(Some(_)));
        Some((found, length + 2))
    }

    /// The file name at the start of a directive's tokens, and how many tokens it takes.
    fn wanted_file(&mut self, line: &[Token], expand: bool) -> Option<(Wanted, usize)> {
        let first = *line.first()?;
        match first.kind {
            TokenKind::String | TokenKind::BadString => {
                let name = self.text(&first).trim_matches('"').to_owned();
                Some((Wanted { name, angled: false, span: first.span }, 1))
            }
            TokenKind::Lt | TokenKind::Le | TokenKind::Shl | TokenKind::LaunchOpen => {
                // What stands between `<` and `>` is no sequence of tokens: take the text.
                let end = line.iter().position(|token| {
                    token.span.expansion == first.span.expansion && self.text(token).contains('>')
                });
                let from_file = first.span.expansion == Default::default();
                if from_file {
                    let last = line.last()?;
                    let text =
                        self.session.sources.text(self.session.sources.join(first.span, last.span));
                    let close = text.find('>')?;
                    let name = text[1..close].to_owned();
                    let span = Span { hi: first.span.lo + close as u32 + 1, ..first.span };
                    let length = line.iter().take_while(|token| token.span.lo < span.hi).count();
                    return Some((Wanted { name, angled: true, span }, length));
                }
                let end = end?;
                let mut name = String::new();
                for token in &line[1..end] {
                    if token.spaced() && !name.is_empty() {
                        name.push(' ');
                    }
                    name.push_str(self.text(token));
                }
                Some((Wanted { name, angled: true, span: first.span }, end + 1))
            }
            TokenKind::Ident if expand => {
                let expanded = self.expand_list(line.to_vec());
                let (mut wanted, length) = self.wanted_file(&expanded, false)?;
                wanted.span = first.span;
                Some((wanted, length))
            }
            _ => None,
        }
    }

    /// The places to look, in order: the including file's folder for the quoted form, `-I`, the
    /// compiler's own headers, folders of a C library.
    fn find(&self, wanted: &Wanted, next: bool) -> Result<Option<FoundFile>, (PathBuf, io::Error)> {
        let name = Path::new(&wanted.name);
        let current = self.files.last();
        let first_place =
            if next { current.map_or(0, |file| file.found_in.saturating_add(1)) } else { 0 };
        let mut candidates = Vec::new();
        if name.is_absolute() {
            candidates.push((name.to_owned(), 0));
        } else if !wanted.angled && !next {
            let directory = current.and_then(|file| file.directory.as_ref());
            candidates.extend(directory.map(|directory| (directory.join(name), 0)));
        }
        let in_folders = |folders: &[PathBuf], first: usize| {
            let at = folders.iter().zip(first..).filter(|(_, place)| *place >= first_place);
            let files = at.map(|(dir, place)| (dir.join(name), place));
            if name.is_absolute() { Vec::new() } else { files.collect() }
        };
        candidates.extend(in_folders(&self.folders.before, 1));
        if let Some(found) = self.first_of(candidates)? {
            return Ok(Some(found));
        }
        let own = self.folders.own_place();
        if first_place <= own
            && let Some((name, text)) = headers::find(&wanted.name)
        {
            return Ok(Some(FoundFile::Embedded { name, text }));
        }
        // What `.cdp` files leave out is refused by name.
        if headers::outside(&wanted.name).is_some() {
            return Ok(None);
        }
        self.first_of(in_folders(&self.folders.behind, own + 1))
    }

    /// The first of some files that is there.
    fn first_of(
        &self,
        candidates: Vec<(PathBuf, usize)>,
    ) -> Result<Option<FoundFile>, (PathBuf, io::Error)> {
        for (path, place) in candidates {
            let path = clean(&path);
            if self.cache.known.contains_key(&path) {
                return Ok(Some(FoundFile::Known { path, place }));
            }
            match self.loader.load(&path) {
                Ok(Some(bytes)) => return Ok(Some(FoundFile::Disk { path, bytes, place })),
                Ok(None) => {}
                Err(error) => return Err((path, error)),
            }
        }
        Ok(None)
    }

    fn open(&mut self, found: FoundFile, wanted: &Wanted) {
        let (key, place, directory) = match &found {
            FoundFile::Disk { path, place, .. } | FoundFile::Known { path, place } => {
                (path.clone(), *place, Some(path.parent().unwrap_or(Path::new("")).to_owned()))
            }
            FoundFile::Embedded { name, .. } => {
                (embedded_key(name), self.folders.own_place(), None)
            }
        };
        let known = match self.cache.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let Some(known) = self.read_new(&key, found, wanted.span) else { return };
                known
            }
        };
        let guarded = known.guard.is_some_and(|guard| self.macros.get(guard).is_some());
        if guarded || self.cache.once.contains(&known.id) {
            return;
        }
        if !self.spend(known.tokens.len() / 4, wanted.span) {
            return;
        }
        let (id, tokens) = (known.id, known.tokens);
        self.files.push(OpenFile::new(id, tokens, directory, place));
    }

    fn read_new(&mut self, key: &Path, found: FoundFile, from: Span) -> Option<KnownFile> {
        let (name, bytes, embedded) = match found {
            FoundFile::Embedded { name, text } => {
                (format!("<{name}>"), text.as_bytes().to_vec(), true)
            }
            FoundFile::Disk { path, bytes, .. } => {
                self.cache.dependencies.push(path.clone());
                (path.display().to_string(), bytes, false)
            }
            FoundFile::Known { .. } => return None,
        };
        let id = self.add_file(name, bytes, FileOrigin::Included(from), from)?;
        if embedded {
            self.session.sources.set_system(id);
        }
        let tokens = self.lex_file(id);
        let guard = self.include_guard(&tokens);
        let known = KnownFile { id, tokens, guard };
        self.cache.known.insert(key.to_owned(), known.clone());
        Some(known)
    }

    /// Adds a file's text to the source map.
    fn add_file(
        &mut self,
        name: String,
        bytes: Vec<u8>,
        origin: FileOrigin,
        from: Span,
    ) -> Option<FileId> {
        if bytes.len() as u64 > MAX_FILE_BYTES || !self.session.sources.has_room(bytes.len()) {
            let message =
                format!("`{name}` makes the program larger than the compiler can address");
            self.error(Code::E0116, from, message);
            self.stopped = true;
            return None;
        }
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => rest.to_vec(),
            None => bytes,
        };
        Some(self.session.sources.add_file(name, crate::source::raw::text(bytes), origin))
    }

    /// `#ifndef X` as the first and its `#endif` as the last line: X.
    fn include_guard(&self, tokens: &[Token]) -> Option<Symbol> {
        let is =
            |token: Option<&Token>, text: &str| token.is_some_and(|token| self.text(token) == text);
        let hash = tokens.first().filter(|token| token.kind == TokenKind::Hash)?;
        debug_assert!(hash.flags.has(Flags::LINE_START));
        if !is(tokens.get(1), "ifndef") {
            return None;
        }
        let guard = tokens.get(2).filter(|token| token.kind == TokenKind::Ident)?.symbol;
        let mut depth = 0;
        for (at, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Hash || !token.flags.has(Flags::LINE_START) {
                continue;
            }
            match tokens.get(at + 1).map(|word| self.text(word)) {
                Some("if" | "ifdef" | "ifndef") => depth += 1,
                Some("else" | "elif" | "elifdef" | "elifndef") if depth == 1 => return None,
                Some("endif") => {
                    depth -= 1;
                    if depth == 0 {
                        return (at + 2 == tokens.len()).then_some(guard);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// `#pragma once`
    pub(super) fn pragma_once(&mut self) {
        if let Some(file) = self.files.last() {
            self.cache.once.insert(file.id);
        }
    }

    fn not_found(&mut self, wanted: &Wanted) {
        let name = &wanted.name;
        if let Some(what) = headers::outside(name) {
            let message = format!("`<{name}>` is outside the `.cdp` subset: {what}");
            self.error(Code::E0243, wanted.span, message)
                .help("a `.cdp` file can use most of the C library's headers, and CUDA's own");
            return;
        }
        let folder = self.files.last().and_then(|file| file.directory.clone());
        let mut places: Vec<String> = Vec::new();
        if let Some(folder) = folder.filter(|_| !wanted.angled) {
            let folder =
                if folder.as_os_str().is_empty() { Path::new(".").to_owned() } else { folder };
            places.push(format!("`{}`", folder.display()));
        }
        let named = |dir: &PathBuf| format!("`{}`", dir.display());
        places.extend(self.folders.before.iter().map(named));
        places.push("the compiler's own headers".to_owned());
        places.extend(self.folders.behind.iter().map(named));
        let close = headers::NAMES.iter().find(|known| crate::near::is_near(known, name));
        self.error(Code::E0106, wanted.span, format!("`{name}` is not found"))
            .note(format!("looked in {}", places.join(", ")))
            .help(match close {
                Some(close) => format!("a header with a similar name exists: `<{close}>`"),
                None => "name the folder it is in with `-I`".to_owned(),
            });
    }

    /// Reports the chain of files, and stops: the same would follow without end.
    fn too_deep(&mut self, wanted: &Wanted) {
        let names: Vec<String> =
            self.files.iter().map(|file| self.session.sources.file(file.id).name.clone()).collect();
        let mut chain: Vec<String> = names.iter().take(3).cloned().collect();
        chain.push("...".to_owned());
        chain.extend(names[names.len().saturating_sub(3)..].iter().cloned());
        chain.push(wanted.name.clone());
        let message = format!("files include each other more than {MAX_INCLUDE_DEPTH} deep");
        self.error(Code::E0107, wanted.span, message)
            .note(format!("the chain is {}", chain.join(" -> ")))
            .help("begin each header with `#pragma once`");
        self.stopped = true;
    }
}

/// The cache key of a header of the compiler: no path of the file system looks like it.
fn embedded_key(name: &str) -> PathBuf {
    PathBuf::from(format!("<embedded>/{name}"))
}

/// A path without `.` and, where that is safe, without `..`.
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_too_large() {
        let error = read_limited(Path::new("/dev/zero"), 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // The system says that this one has no bytes.
        let path = Path::new("/proc/self/status");
        assert_eq!(std::fs::metadata(path).unwrap().len(), 0);
        assert!(!DiskLoader.load(path).unwrap().unwrap().is_empty());
        assert!(read_limited(path, 10).is_err());
        assert_eq!(DiskLoader.load(Path::new("/dev/null")).unwrap(), Some(Vec::new()));
        assert_eq!(DiskLoader.load(Path::new("/dev")).unwrap(), None);
        assert_eq!(DiskLoader.load(Path::new("/dev/no such file")).unwrap(), None);
    }
}
