//! What a parser need not see is left out: `__extension__`, stray `#`, and pragmas that begin no statement. Operators
//! spelled as words become operators, words of C those of C++, and `operator+` is one name.

use super::Raw;
use crate::diagnostics::Code;
use crate::lex::{Flags, Token, TokenKind as T};
use crate::words::Word;

impl Raw<'_> {
    /// Makes tokens ready, in place.
    pub fn make_readable(&mut self) {
        let (mut kept, mut at) = (0_usize, 0);
        while let Some(&token) = self.tokens.get(at) {
            at += 1;
            let last = kept.checked_sub(1).map(|last| self.tokens[last]);
            let read = match token.kind {
                T::Ident => self.read_word(token, &mut at),
                T::Hash | T::HashHash => {
                    self.out.add(Code::E0201, token.span, "a stray `#` in the program");
                    None
                }
                T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp
                    if last.is_some_and(|last| !self.ends_statement(last)) =>
                {
                    let is_rest = |token: &&Token| token.kind != T::PragmaEnd;
                    if token.kind == T::PragmaUnroll {
                        at += self.tokens[at..].iter().take_while(is_rest).count() + 1;
                    }
                    None
                }
                // `<< <` and `>> >` as nvcc takes them, when both are on one line: no other meaning is possible.
                T::Lt | T::Gt if !token.flags.has(Flags::LINE_START) => {
                    let joined = match (last.map(|last| last.kind), token.kind) {
                        (Some(T::Shl), T::Lt) => Some(T::LaunchOpen),
                        (Some(T::Shr), T::Gt) => Some(T::LaunchClose),
                        _ => None,
                    };
                    kept -= usize::from(joined.is_some());
                    Some(match joined.zip(last) {
                        Some((kind, first)) => {
                            let symbol = self.spellings.of(kind);
                            Token { kind, symbol, ..self.join(first, token) }
                        }
                        None => token,
                    })
                }
                _ => Some(token),
            };
            if let Some(token) = read {
                self.tokens[kept] = token;
                kept += 1;
            }
        }
        self.tokens.truncate(kept);
    }

    /// A word as the parser has it; what is read with it stands at `next`.
    fn read_word(&mut self, word: Token, next: &mut usize) -> Option<Token> {
        match self.words.get(word.symbol) {
            Word::Skip => None,
            Word::Spelled(kind) => Some(Token { kind, ..word }),
            Word::OnlyC(right) => self.only_c(word, right),
            Word::Operator => Some(self.operator_name(word, next)),
            // C's qualifier before a name or another one; elsewhere it is a name like others.
            Word::Name
                if self.kind(*next) == Some(T::Ident)
                    && &self.session.names[word.symbol] == "restrict" =>
            {
                self.only_c(word, "__restrict__")
            }
            _ => Some(word),
        }
    }

    /// A word of C, read as C++'s `right`; an attribute in its place means nothing and is left out.
    fn only_c(&mut self, word: Token, right: &str) -> Option<Token> {
        let message = format!("`{}` is C, not C++", &self.session.names[word.symbol]);
        self.out.add(Code::E0239, word.span, message).suggest("write", word.span, right);
        let symbol = self.session.names.intern(right);
        (!right.starts_with('[')).then_some(Token { symbol, ..word })
    }

    /// `operator` and the operator at `next` as one name: `operator+`, `operator()`, `operator new[]`, `operator""_k`;
    /// the word alone if none follows.
    fn operator_name(&mut self, word: Token, next: &mut usize) -> Token {
        let count = match [self.kind(*next), self.kind(*next + 1), self.kind(*next + 2)] {
            [Some(T::LParen), Some(T::RParen), _] | [Some(T::LBracket), Some(T::RBracket), _] => 2,
            [Some(T::String), Some(T::Ident), _] => 2,
            [Some(T::Ident), ..] if !matches!(self.word(*next), Word::New | Word::Delete) => 0,
            [Some(T::Ident), Some(T::LBracket), Some(T::RBracket)] => 3,
            [Some(kind), ..] if kind.nesting() != 0 || kind == T::Semi => 0,
            [kind, ..] => usize::from(kind.is_some()),
        };
        let (mut name, mut whole) = (String::from("operator"), word);
        for token in self.tokens[*next..*next + count].iter().copied() {
            name.push_str(if token.kind == T::Ident { " " } else { "" });
            name.push_str(&self.session.names[token.symbol]);
            whole = self.join(whole, token);
        }
        *next += count;
        Token { symbol: self.session.names.intern(&name), ..whole }
    }

    /// Two tokens as one, which is what the first is.
    fn join(&self, first: Token, last: Token) -> Token {
        Token { span: self.session.sources.join(first.span, last.span), ..first }
    }

    /// Whether a statement or declaration may begin behind a token.
    fn ends_statement(&self, last: Token) -> bool {
        match last.kind {
            T::Ident => matches!(self.words.get(last.symbol), Word::Do | Word::Else),
            T::Semi | T::LBrace | T::RBrace | T::RParen | T::Colon => true,
            kind => matches!(kind, T::PragmaNoUnroll | T::PragmaCdp | T::PragmaEnd),
        }
    }
}
