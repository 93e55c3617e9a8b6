//! Opening brackets that are missing: the `{` of a body and the `(` of a statement's head, found by words and
//! indentation when a closing one has nothing to close. Closing brackets that are missing are `brackets`' matter.

use super::brackets::{Balancer, FAR, MOST_SEARCHES};
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind};
use crate::words::Word;

impl Balancer<'_> {
    /// For a `)` or `}` with nothing to close: puts in the `(` or `{` that is missing before it, where the words and
    /// the indentation say which one that is.
    pub(super) fn opens_before(&mut self, closing: Token) -> bool {
        if self.searches == MOST_SEARCHES {
            return false;
        }
        self.searches += 1;
        let from = self.open.last().map_or(0, |open| *open as usize + 1);
        let (kind, found) = match closing.kind {
            TokenKind::RParen => {
                (TokenKind::LParen, self.head_without_parenthesis(from).map(|word| (word, closing)))
            }
            TokenKind::RBrace => (TokenKind::LBrace, self.head_without_brace(from, &closing)),
            _ => return false,
        };
        let Some((head, close)) = found else { return false };
        let Token { symbol, span, .. } = self.done[head];
        let (closer, opener) = (self.text(close.kind).to_owned(), self.text(kind).to_owned());
        let message = format!("expected `{opener}` after `{}`", &self.session.names[symbol]);
        let place = span.after();
        self.out
            .add(Code::E0202, place, message)
            .secondary(close.span, format!("this `{closer}` closes it"))
            .suggest("add", place, format!(" {opener}"));
        self.done.insert(head + 1, self.added(kind, place));
        self.match_again();
        self.pair(closing);
        true
    }

    /// `if x > 0)`: the word, when the statement at hand begins with it.
    fn head_without_parenthesis(&self, from: usize) -> Option<usize> {
        use TokenKind as T;
        let ends =
            |token: &Token| matches!(token.kind, T::Semi | T::LBrace | T::RBrace | T::RParen);
        let word = self.done[from..].iter().rposition(ends).map_or(from, |end| from + end + 1);
        let head = self.done.get(word)?;
        self.words.get(head.symbol).has_head().then_some(word)
    }

    /// The end of a head whose body lacks its `{`: the head begins in the column of the `}` that ends the body, which
    /// is further right. That `}` is `closing`, or an earlier one, which is given too: it was taken for the end of what
    /// is around the head.
    fn head_without_brace(&self, from: usize, closing: &Token) -> Option<(usize, Token)> {
        if let Some(head) = self.head_in(from, self.done.len(), closing) {
            return Some((head, *closing));
        }
        let first = self.done.len().saturating_sub(FAR).max(from);
        let braces = (first..self.done.len()).rev().map(|at| (at, &self.done[at]));
        let mut early = braces.filter(|(_, token)| token.kind == TokenKind::RBrace);
        early.find_map(|(at, token)| {
            let open = self.opener(at)?;
            let begins = self.column(&self.done[self.line_start(open)?]);
            (open >= from && self.column(token) > begins).then_some(())?;
            Some((self.head_in(open + 1, at, token)?, *token))
        })
    }

    /// Where the group begins that ends at a place; this place itself, if none does.
    fn opener(&self, end: usize) -> Option<usize> {
        let mut depth = 0;
        (0..=end).rev().find(|at| {
            depth -= self.done[*at].kind.nesting();
            depth == 0
        })
    }

    /// The end of the last head in `from..end` as [`Self::head_without_brace`] wants it.
    fn head_in(&self, from: usize, end: usize, closing: &Token) -> Option<usize> {
        use TokenKind as T;
        let column = self.column(closing).filter(|_| closing.flags.has(Flags::LINE_START))?;
        let first = end.saturating_sub(FAR).max(from);
        let mut at = end;
        while at > first {
            at -= 1;
            let kind = self.done[at].kind;
            let start = self.opener(at).filter(|start| *start >= from)?;
            let ends_line = at + 1 < end && self.done[at + 1].flags.has(Flags::LINE_START);
            if kind == T::RBrace || ends_line && self.ends_head(start, at) {
                let line = self.line_start(start).filter(|line| *line >= from)?;
                let begins = self.column(&self.done[line]);
                let inside = ends_line && {
                    let first = &self.done[at + 1];
                    let is_case = matches!(self.word(at + 1), Word::Case | Word::Default);
                    self.column(first) > Some(column.saturating_sub(u32::from(is_case)))
                };
                if kind != T::RBrace && begins == Some(column) && inside {
                    return Some(at);
                }
                // What is complete and begins as far left ends the search.
                if kind == T::RBrace
                    && begins <= Some(column)
                    && self.done.get(at + 1).is_none_or(|_| self.word(at + 1) != Word::Else)
                {
                    return None;
                }
            }
            at = start;
        }
        None
    }

    /// Tokens after which the `{` of a body can stand: `name (...)`, `else`, `do`, `struct S`.
    fn ends_head(&self, start: usize, end: usize) -> bool {
        match self.done[end].kind {
            TokenKind::RParen => {
                start.checked_sub(1).is_some_and(|at| self.done[at].kind == TokenKind::Ident)
            }
            TokenKind::Ident => {
                let before = end.checked_sub(1).map_or(Word::Name, |at| self.word(at));
                matches!(self.word(end), Word::Else | Word::Do)
                    || matches!(before, Word::Record | Word::Enum)
            }
            _ => false,
        }
    }

    fn word(&self, at: usize) -> Word {
        self.words.get(self.done[at].symbol)
    }
}
