//! Source files, positions, and the record of macro expansions behind a position.
//!
//! All files share one address space of 32-bit byte positions, so a [`Span`] needs no file field.
//! Nothing here reads a file: the preprocessor does, through a `FileLoader`.

pub mod raw;

use std::sync::Arc;

use crate::intern::Symbol;

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// One macro expansion in a [`SourceMap`]; [`ExpansionId::NONE`] for text that stands in a file as
/// written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// Not inside any macro.
    pub const NONE: ExpansionId = ExpansionId(0);
}

/// A stretch of source text, `lo..hi` in bytes of the shared address space.
///
/// A token that a macro's body produced has the position of its spelling in the `#define`, and
/// `expansion` says which use of the macro put it here. A token of a macro argument keeps the
/// position the user wrote it at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
    /// The expansion that put the text here.
    pub expansion: ExpansionId,
}

impl Span {
    /// A place that belongs to no text (predefined macros, builtin declarations).
    pub const NONE: Span = Span { lo: 0, hi: 0, expansion: ExpansionId::NONE };

    /// A span in a file as written.
    pub fn new(lo: u32, hi: u32) -> Self {
        Span { lo, hi, expansion: ExpansionId::NONE }
    }

    /// True for [`Span::NONE`].
    #[inline]
    pub fn is_none(self) -> bool {
        self.hi == 0
    }

    /// The empty span just after this one, where a missing token belongs.
    pub fn after(self) -> Self {
        Span { lo: self.hi, ..self }
    }

    /// The empty span just before this one.
    pub fn before(self) -> Self {
        Span { hi: self.lo, ..self }
    }
}

/// One use of a macro.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// The macro's name.
    pub name: Symbol,
    /// The use: the name, with the parenthesised arguments of a function-like macro. Its own
    /// `expansion` is the enclosing macro use, if any.
    pub call: Span,
    /// The name in the `#define`.
    pub definition: Span,
    /// How many expansions enclose this one, itself included.
    pub depth: u32,
}

/// Where a file came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileOrigin {
    /// Named by the caller.
    Main,
    /// Included; the span is the `#include` line's file name.
    Included(Span),
    /// Text made by the compiler: command-line macros, predefined macros.
    Synthetic,
}

/// One file's text and line table.
#[derive(Clone)]
pub struct SourceFile {
    /// The name as diagnostics show it.
    pub name: String,
    /// The text; invalid UTF-8 was replaced when it was loaded.
    pub text: Arc<str>,
    /// Position of the first byte in the shared address space.
    pub base: u32,
    /// Who asked for it.
    pub origin: FileOrigin,
    /// True for a header that is part of the compiler.
    pub system: bool,
    /// Byte offset at which each line starts.
    line_starts: Arc<[u32]>,
    /// `#line` directives: from this line index on, (presumed first line number, presumed name).
    line_marks: Vec<(u32, u32, Option<String>)>,
}

impl SourceFile {
    /// Zero-based line index of a byte offset in this file.
    #[inline]
    pub fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Byte range of a line, its line end included; `None` past the last line.
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line)? as usize;
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |&next| next as usize);
        Some(start..end)
    }

    /// Number of lines.
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// Records `#line number "name"` standing on the line before `line` (zero-based).
    pub fn add_line_mark(&mut self, line: usize, number: u32, name: Option<String>) {
        self.line_marks.push((line as u32, number, name));
    }

    /// Line number from 1 and file name of a zero-based line, as `#line` directives redefine them.
    pub fn presumed(&self, line: usize) -> (u32, &str) {
        let mark = self.line_marks.iter().rposition(|mark| mark.0 as usize <= line);
        let number = match mark {
            Some(index) => {
                self.line_marks[index].1.saturating_add(line as u32 - self.line_marks[index].0)
            }
            None => line as u32 + 1,
        };
        let name = mark.and_then(|index| {
            self.line_marks[..=index].iter().rev().find_map(|mark| mark.2.as_deref())
        });
        (number, name.unwrap_or(&self.name))
    }
}

/// A position as people read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file it really is in.
    pub file: FileId,
    /// The file's name, after `#line`.
    pub name: String,
    /// Line from 1, after `#line`.
    pub line: u32,
    /// Column from 1, in Unicode scalar values.
    pub column: u32,
}

/// All files and macro expansions of a session.
#[derive(Clone)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

/// Expansions nested deeper than this are recorded as the outermost ones only, so that walking up
/// from a span is bounded.
const MAX_EXPANSION_DEPTH: u32 = 256;

impl SourceMap {
    /// An empty map. Position 0 belongs to no file, so that [`Span::NONE`] names nothing.
    pub fn new() -> Self {
        let none =
            Expansion { name: Symbol::EMPTY, call: Span::NONE, definition: Span::NONE, depth: 0 };
        SourceMap { files: Vec::new(), expansions: vec![none] }
    }

    /// True when a file of `len` bytes still fits the 32-bit address space.
    pub fn has_room(&self, len: usize) -> bool {
        (self.next_base() as u64) + (len as u64) + 1 < u64::from(u32::MAX)
    }

    fn next_base(&self) -> u32 {
        self.files.last().map_or(1, |file| file.base + file.text.len() as u32 + 1)
    }

    /// Adds a file. The caller checks [`has_room`](Self::has_room) first.
    pub fn add_file(
        &mut self,
        name: impl Into<String>,
        text: impl Into<Arc<str>>,
        origin: FileOrigin,
    ) -> FileId {
        let text: Arc<str> = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at as u32 + 1),
        );
        let base = self.next_base();
        let id = FileId(self.files.len() as u32);
        let name = name.into();
        self.files.push(SourceFile {
            name,
            text,
            base,
            origin,
            system: false,
            line_starts: line_starts.into(),
            line_marks: Vec::new(),
        });
        id
    }

    /// Marks a file as part of the compiler.
    pub fn set_system(&mut self, file: FileId) {
        self.files[file.0 as usize].system = true;
    }

    /// A file.
    pub fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    /// A file, to record `#line` directives.
    pub fn file_mut(&mut self, file: FileId) -> &mut SourceFile {
        &mut self.files[file.0 as usize]
    }

    /// All files in the order they were read.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// The file that holds a position; `None` for [`Span::NONE`].
    #[inline]
    pub fn file_of(&self, position: u32) -> Option<FileId> {
        let index = self.files.partition_point(|file| file.base <= position).checked_sub(1)?;
        Some(FileId(index as u32))
    }

    /// The text of a span as it stands in its file.
    pub fn text(&self, span: Span) -> &str {
        let Some(file) = self.file_of(span.lo).filter(|_| !span.is_none()) else { return "" };
        let file = self.file(file);
        let range = (span.lo - file.base) as usize..(span.hi.max(span.lo) - file.base) as usize;
        file.text.get(range).unwrap_or("")
    }

    /// Where a span starts, as people read it; inside a macro's body, the place in the `#define`.
    pub fn location(&self, span: Span) -> Option<Location> {
        if span.is_none() {
            return None;
        }
        let id = self.file_of(span.lo)?;
        let file = self.file(id);
        let offset = span.lo - file.base;
        let line = file.line_index(offset);
        let line_start = file.line_starts[line] as usize;
        let column = file
            .text
            .get(line_start..offset as usize)
            .map_or(1, |before| before.chars().count() as u32 + 1);
        let (number, name) = file.presumed(line);
        Some(Location { file: id, name: name.to_owned(), line: number, column })
    }

    /// Records a use of a macro. Very deep nesting gives the enclosing expansion back.
    pub fn add_expansion(&mut self, name: Symbol, call: Span, definition: Span) -> ExpansionId {
        let depth = self.expansions[call.expansion.0 as usize].depth + 1;
        if depth > MAX_EXPANSION_DEPTH {
            return call.expansion;
        }
        let id = ExpansionId(self.expansions.len() as u32);
        self.expansions.push(Expansion { name, call, definition, depth });
        id
    }

    /// The record behind an id other than [`ExpansionId::NONE`].
    #[inline]
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        if id == ExpansionId::NONE { None } else { self.expansions.get(id.0 as usize) }
    }

    /// The place the user wrote that led to this span: outside every macro body.
    #[inline]
    pub fn call_site(&self, mut span: Span) -> Span {
        while let Some(expansion) = self.expansion(span.expansion) {
            span = expansion.call;
        }
        span
    }

    /// The expansions around a span, innermost first.
    pub fn expansions_of(&self, span: Span) -> Vec<Expansion> {
        let mut found = Vec::new();
        let mut id = span.expansion;
        while let Some(expansion) = self.expansion(id) {
            found.push(*expansion);
            id = expansion.call.expansion;
        }
        found
    }

    /// The smallest span from the start of `first` to the end of `last`. When the two come from
    /// different macro uses, the uses stand in for them.
    pub fn join(&self, mut first: Span, mut last: Span) -> Span {
        if first.is_none() {
            return last;
        }
        if last.is_none() {
            return first;
        }
        while first.expansion != last.expansion {
            let first_depth = self.expansions[first.expansion.0 as usize].depth;
            let last_depth = self.expansions[last.expansion.0 as usize].depth;
            if first_depth >= last_depth {
                first = self.expansions[first.expansion.0 as usize].call;
            }
            if last_depth >= first_depth {
                last = self.expansions[last.expansion.0 as usize].call;
            }
        }
        let whole = Span {
            lo: first.lo.min(last.lo),
            hi: first.hi.max(last.hi),
            expansion: first.expansion,
        };
        if self.same_file(whole.lo, whole.hi) { whole } else { first }
    }

    fn same_file(&self, lo: u32, hi: u32) -> bool {
        let next = self.files.partition_point(|file| file.base <= lo);
        self.files.get(next).is_none_or(|file| hi < file.base)
    }
}
