//! Opening brackets that are missing: the `{` of a body and the `(` of a statement's head, found by words and
//! indentation when a closing one has nothing to close. Closing brackets that are missing are `brackets`' matter.

use super::brackets::{Balancer, FAR, MOST_SEARCHES, NONE};
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind};
use crate::source::Span;

impl Balancer<'_> {
    /// For a `)` or `}` with nothing to close: puts in the `(` or `{` that is missing before it, where the words and
    /// the indentation say which one that is.
    pub(super) fn opens_before(&mut self, closing: Token) -> bool {
        if self.searches == MOST_SEARCHES {
            return false;
        }
        self.searches += 1;
        let from = self.open.last().map_or(0, |open| *open as usize + 1);
        match closing.kind {
            TokenKind::RParen => {
                let Some(word) = self.head_without_parenthesis(from) else { return false };
                let place = self.done[word].span.after();
                let text = self.session.names[self.done[word].symbol].to_owned();
                self.report_opener(TokenKind::LParen, closing, place, &text);
                self.put_in(word + 1, TokenKind::LParen);
                self.open.push(word as u32 + 1);
            }
            TokenKind::RBrace => {
                let Some((head, close)) = self.head_without_brace(from, &closing) else {
                    return false;
                };
                let text = self.session.names[self.done[head].symbol].to_owned();
                self.report_opener(TokenKind::LBrace, close, self.done[head].span.after(), &text);
                self.put_in(head + 1, TokenKind::LBrace);
                self.match_again(head + 1);
            }
            _ => return false,
        }
        self.pair(closing);
        true
    }

    fn report_opener(&mut self, kind: TokenKind, closing: Token, place: Span, after: &str) {
        let (closer, opener) = (self.text(closing.kind).to_owned(), self.text(kind).to_owned());
        self.out
            .add(Code::E0202, place, format!("expected `{opener}` after `{after}`"))
            .secondary(closing.span, format!("this `{closer}` closes it"))
            .suggest("add", place, format!(" {opener}"));
    }

    /// `if x > 0)`: the word, when the statement at hand begins with it.
    fn head_without_parenthesis(&self, from: usize) -> Option<usize> {
        use TokenKind as T;
        let ends =
            |token: &Token| matches!(token.kind, T::Semi | T::LBrace | T::RBrace | T::RParen);
        let word = self.done[from..].iter().rposition(ends).map_or(from, |end| from + end + 1);
        let head = self.done.get(word).filter(|token| token.kind == T::Ident)?;
        let text = &self.session.names[head.symbol];
        matches!(text, "for" | "if" | "switch" | "while").then_some(word)
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
            let open = self.partner[at] as usize;
            let begins = self.column(&self.done[self.line_start(open)?]);
            (open >= from && self.column(token) > begins).then_some(())?;
            Some((self.head_in(open + 1, at, token)?, *token))
        })
    }

    /// Matches the brackets behind a place again after a `{` was put in there.
    fn match_again(&mut self, place: usize) {
        let around = |open: &usize| {
            self.done[*open].kind.closer().is_some() && self.partner[*open] > place as u32
        };
        self.open = (0..place).filter(around).map(|open| open as u32).collect();
        for at in place..self.done.len() {
            let kind = self.done[at].kind;
            if kind.closer().is_some() {
                self.partner[at] = NONE;
                self.open.push(at as u32);
            } else if kind.is_closer()
                && let Some(open) = self.open.pop()
            {
                self.partner[open as usize] = at as u32;
                self.partner[at] = open;
            }
        }
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
            let start = match kind.is_closer() {
                true => self.partner[at] as usize,
                false => at,
            };
            if start < from || start > at {
                return None;
            }
            let ends_line = at + 1 < end && self.done[at + 1].flags.has(Flags::LINE_START);
            if kind == T::RBrace || ends_line && self.ends_head(start, at) {
                let line = self.line_start(start).filter(|line| *line >= from)?;
                let begins = self.column(&self.done[line]);
                let inside = ends_line && {
                    let first = &self.done[at + 1];
                    let is_case = matches!(&self.session.names[first.symbol], "case" | "default");
                    self.column(first) > Some(column.saturating_sub(u32::from(is_case)))
                };
                if kind != T::RBrace && begins == Some(column) && inside {
                    return Some(at);
                }
                // What is complete and begins as far left ends the search.
                if kind == T::RBrace && begins <= Some(column) && !self.goes_on(at) {
                    return None;
                }
            }
            at = start;
        }
        None
    }

    /// `} else` and `} while` go on with what begins further left.
    fn goes_on(&self, brace: usize) -> bool {
        let next = self.done.get(brace + 1).filter(|next| next.kind == TokenKind::Ident);
        next.is_some_and(|next| &self.session.names[next.symbol] == "else")
    }

    /// Tokens after which the `{` of a body can stand: `name (...)`, `else`, `do`, `struct S`.
    fn ends_head(&self, start: usize, end: usize) -> bool {
        let word = |at: Option<usize>| {
            let token =
                at.map(|at| &self.done[at]).filter(|token| token.kind == TokenKind::Ident)?;
            Some(&self.session.names[token.symbol])
        };
        match self.done[end].kind {
            TokenKind::RParen => word(start.checked_sub(1)).is_some(),
            TokenKind::Ident => {
                matches!(word(Some(end)), Some("else" | "do"))
                    || matches!(word(end.checked_sub(1)), Some("struct" | "union" | "enum"))
            }
            _ => false,
        }
    }
}
