//! Where the normal form has blanks and ends of lines. Knows tokens, not what they mean.

use super::Written;
use cdp_ptx::lexer::Tok;

/// The lines of an item.
pub(super) fn lines(words: &[Written<'_>], is_function: bool) -> String {
    let mut lines = Lines { text: String::new(), line: String::new(), depth: 0, last: None };
    let mut at = 0;
    if is_function {
        at = words.iter().position(|word| is(word, b'{')).unwrap_or(words.len());
        lines.head(&words[..at]);
    }
    let mut is_vector = false;
    for word in &words[at..] {
        match word.token.tok {
            Tok::Punct(b'{') if is_function && lines.line.is_empty() => {
                lines.add(word);
                lines.end();
                lines.depth += 1;
            }
            Tok::Punct(b'{') => {
                is_vector = true;
                lines.add(word);
            }
            Tok::Punct(b'}') if is_vector || !is_function => {
                is_vector = false;
                lines.add(word);
            }
            Tok::Punct(b'}') => {
                lines.end();
                lines.depth = lines.depth.saturating_sub(1);
                lines.add(word);
                lines.end();
            }
            Tok::Punct(b';') => {
                lines.add(word);
                lines.end();
            }
            Tok::Punct(b':') if is_function => {
                lines.add(word);
                lines.end_label();
            }
            _ => lines.add(word),
        }
    }
    lines.end();
    lines.text
}

fn is(word: &Written<'_>, punct: u8) -> bool {
    word.token.tok == Tok::Punct(punct)
}

struct Lines {
    text: String,
    line: String,
    depth: usize,
    /// The last token of the line and where it ended in the source.
    last: Option<(Tok, u32)>,
}

impl Lines {
    /// A function's head: a parameter a line, a directive a line.
    fn head(&mut self, words: &[Written<'_>]) {
        let list = words.iter().rposition(|word| is(word, b'('));
        let has_params =
            list.is_some_and(|at| words.get(at + 1).is_some_and(|word| !is(word, b')')));
        let mut is_after = false;
        for (at, word) in words.iter().enumerate() {
            let in_list = list.is_some_and(|list| at > list) && !is_after;
            if in_list && is(word, b')') {
                is_after = true;
                if has_params {
                    self.end();
                    self.depth = 0;
                }
                self.add(word);
                continue;
            }
            if is_after && word.token.tok == Tok::Dot {
                self.end();
            }
            self.add(word);
            if has_params && (list == Some(at) || in_list && is(word, b',')) {
                self.end();
                self.depth = 1;
            }
        }
        self.end();
    }

    fn add(&mut self, word: &Written<'_>) {
        if !self.line.is_empty() && self.wants_blank(word) {
            self.line.push(' ');
        }
        self.line += &word.text;
        self.last = Some((word.token.tok, word.token.end));
    }

    fn wants_blank(&self, word: &Written<'_>) -> bool {
        let Some((last, end)) = self.last else { return false };
        let adjacent = end == word.token.start;
        match (last, word.token.tok) {
            (_, Tok::Punct(b',' | b';' | b']' | b')' | b':' | b'}' | b'>' | b'<' | b'+')) => false,
            (Tok::Punct(b'[' | b'(' | b'{' | b'<' | b'+' | b'-' | b'@' | b'!' | b'~'), _) => false,
            (Tok::Punct(b','), _) => true,
            (_, Tok::Punct(b'=')) | (Tok::Punct(b'='), _) => true,
            (Tok::Ident, Tok::Punct(b'(' | b'[')) => false,
            (_, Tok::Punct(b'(')) => true,
            _ => !adjacent,
        }
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            for _ in 0..self.depth {
                self.text.push('\t');
            }
            self.text += &self.line;
            self.text.push('\n');
            self.line.clear();
        }
        self.last = None;
    }

    /// A label stands in the first column.
    fn end_label(&mut self) {
        let depth = std::mem::take(&mut self.depth);
        self.end();
        self.depth = depth;
    }
}
