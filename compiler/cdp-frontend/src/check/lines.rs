//! Where spans are in the IR's terms: file, line and column of the place outside all macros, after `#line`.

use cdp_ir as ir;

use crate::intern::FastMap;
use crate::source::{SourceMap, Span};

/// The files that places name, and the line of the last one, since most are on the same.
pub struct Lines<'a> {
    sources: &'a SourceMap,
    /// Compiling a body from the builtin tables, which has no place in the program.
    pub silent: bool,
    /// The module's files.
    pub files: Vec<ir::SourceFile>,
    index: FastMap<String, u32>,
    /// The bytes of the line, which is this one of a file.
    lo: u32,
    hi: u32,
    file: u32,
    line: u32,
}

impl<'a> Lines<'a> {
    pub fn new(sources: &'a SourceMap) -> Self {
        let (files, index) = (Vec::new(), FastMap::default());
        Lines { sources, silent: false, files, index, lo: 0, hi: 0, file: 0, line: 0 }
    }

    /// The same, of sources that live longer.
    pub fn of<'b>(self, sources: &'b SourceMap) -> Lines<'b> {
        let Lines { sources: _, silent, files, index, lo, hi, file, line } = self;
        Lines { sources, silent, files, index, lo, hi, file, line }
    }

    pub fn at(&mut self, span: Span) -> ir::Loc {
        if span.is_none() || self.silent {
            return ir::Loc::default();
        }
        let span = self.sources.call_site(span);
        if span.lo < self.lo || span.lo >= self.hi {
            self.go_to(span.lo);
        }
        let column = span.lo.saturating_sub(self.lo) + 1;
        ir::Loc { file: self.file, line: self.line, column }
    }

    fn go_to(&mut self, position: u32) {
        let Some(id) = self.sources.file_of(position) else {
            (self.lo, self.hi, self.file, self.line) = (position, position + 1, 0, 0);
            return;
        };
        let file = self.sources.file(id);
        let line = file.line_index(position - file.base);
        let range = file.line_range(line).unwrap_or(0..0);
        let (number, name) = file.presumed(line);
        self.line = number;
        self.file = match self.index.get(name) {
            Some(&index) => index,
            None => {
                let index = self.files.len() as u32;
                self.files.push(ir::SourceFile { path: name.to_owned() });
                self.index.insert(name.to_owned(), index);
                index
            }
        };
        let end = (range.end as u32).max(range.start as u32 + 1);
        self.lo = file.base + range.start as u32;
        self.hi = (file.base + end).max(position + 1);
    }
}
