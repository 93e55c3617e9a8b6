//! What the subset leaves out of declarations, beside the words that `refuse` knows: each is named,
//! and its names stay declared so that their uses raise nothing more.

use super::classify::Classifier;
use super::context::{ContextKind, Mode};
use super::token::Kind;
use super::words::Word;
use crate::diagnostics::{Code, Diagnostic};
use crate::lex::{Token, TokenKind};

impl Classifier<'_> {
    /// `= delete;` and `= default;` after parameters.
    pub fn refuse_special_function(&mut self) -> bool {
        let function = self.top().mode == Mode::Named && self.top().function;
        let word = ["delete", "default"].into_iter().find(|word| self.is_text(self.at + 1, word));
        let Some(word) = word.filter(|_| function) else { return false };
        let span =
            self.session.sources.join(self.input[self.at].span, self.input[self.at + 1].span);
        let message = format!("functions with `= {word}` are outside the `.cdp` subset");
        let cure = match word {
            "delete" => "leave the declaration out: what is not declared cannot be called",
            _ => "leave the declaration out: records are made and copied member by member",
        };
        self.diagnostics.push(Diagnostic::new(Code::E0239, span, message).help(cure));
        self.drop_item();
        true
    }

    /// `[2 ... 5] =`
    pub fn refuse_designator_range(&mut self, token: Token) -> bool {
        let top = self.top();
        if top.kind != ContextKind::Expr || self.contexts.len() < 2 {
            return false;
        }
        let outer = self.contexts[self.contexts.len() - 2].kind;
        if outer != ContextKind::Init || self.at_operand() {
            return false;
        }
        let message = "ranges of designators (`[a ... b]`) are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0238, token.span, message);
        self.diagnostics
            .push(found.help("write a designator for each element, or assign in a loop"));
        let symbol = self.session.names.intern("+");
        self.emit(Kind::Plus, Token { symbol, ..token });
        self.at += 1;
        true
    }

    /// `{ a: 1 }`, at the colon: read as `{ .a = 1 }`.
    pub fn refuse_old_designator(&mut self, token: Token) -> bool {
        let top = self.top();
        if top.kind != ContextKind::Init || top.questions > 0 {
            return false;
        }
        let Some(name) = self.out.last().copied().filter(|tok| tok.kind == Kind::Identifier) else {
            return false;
        };
        let text = self.text(name.symbol).to_owned();
        let message = format!("GNU's designator `{text}:` is outside the `.cdp` subset");
        let found = Diagnostic::new(Code::E0238, name.span, message);
        self.diagnostics.push(found.help(format!("write `.{text} =`")));
        self.out.pop();
        let (dot, equals) = (self.session.names.intern("."), self.session.names.intern("="));
        self.emit(Kind::Dot, Token { symbol: dot, ..token });
        self.out.push(name);
        self.emit(Kind::Assign, Token { symbol: equals, ..token });
        self.at += 1;
        true
    }

    /// `noexcept(expression)` as an operand.
    pub fn refuse_noexcept_operator(&mut self) -> bool {
        let token = self.input[self.at];
        let mode = self.top().mode;
        if mode != Mode::Expr || !self.at_operand() {
            return false;
        }
        let message = "the operator `noexcept` is outside the `.cdp` subset, as exceptions are";
        self.refuse(Code::E0240, token.span, message);
        self.at += 1;
        if self.kind_at(self.at) == Some(TokenKind::LParen) {
            self.skip_group();
        }
        self.emit(Kind::ErrorExpr, token);
        true
    }

    /// `int f(a, b) int a; float b; { }`, at the parenthesis.
    pub fn refuse_old_parameters(&mut self) -> bool {
        if !self.top().is_file_like() {
            return false;
        }
        let close = self.group_end(self.at);
        let names = (self.at + 1..close - 1)
            .all(|at| self.is_name_at(at) || self.kind_at(at) == Some(TokenKind::Comma));
        let mut body = close;
        while names && self.is_in_old_list(body) {
            body += 1;
        }
        let ended = body == close || self.kind_at(body - 1) == Some(TokenKind::Semi);
        if !names || !ended || self.kind_at(body) != Some(TokenKind::LBrace) {
            return false;
        }
        let span = self.session.sources.join(self.input[self.at].span, self.input[close - 1].span);
        let found =
            Diagnostic::new(Code::E0239, span, "parameters named without types are C, not C++");
        self.diagnostics.push(found.help("write each parameter's type before its name"));
        self.at = self.group_end(body);
        let item = self.top().item_start;
        let token = self.input[body];
        self.out.truncate(item);
        self.emit(Kind::ErrorItem, token);
        self.next_item();
        true
    }

    /// A token of the declarations between an old parameter list and the body.
    fn is_in_old_list(&self, at: usize) -> bool {
        match self.kind_at(at) {
            Some(TokenKind::Ident) => {
                self.is_name_at(at)
                    || matches!(self.word_at(at), Word::Type | Word::Qualifier | Word::Record)
            }
            Some(TokenKind::Star | TokenKind::Comma | TokenKind::Semi) => true,
            Some(TokenKind::LBracket | TokenKind::RBracket | TokenKind::Number) => true,
            _ => false,
        }
    }

    /// `auto [a, b] = ...;`, at the bracket.
    pub fn refuse_bindings(&mut self, token: Token) {
        let message = "structured bindings are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0232, token.span, message);
        self.diagnostics.push(found.help("give the object a name, and use its members"));
        let end = self.group_end(self.at);
        let names: Vec<Token> =
            (self.at + 1..end).filter(|&at| self.is_name_at(at)).map(|at| self.input[at]).collect();
        let plain = self.top().kind == ContextKind::Block || self.top().is_file_like();
        if names.is_empty() || !plain {
            return self.drop_item();
        }
        let item = self.top().item_start;
        self.out.truncate(item);
        self.emit(Kind::ErrorType, token);
        for (index, name) in names.into_iter().enumerate() {
            if index > 0 {
                let symbol = self.session.names.intern(",");
                self.emit(Kind::Comma, Token { symbol, ..name });
            }
            self.emit(Kind::Identifier, name);
            self.scopes.declare_value(name.symbol);
        }
        let symbol = self.session.names.intern(";");
        self.emit(Kind::Semi, Token { symbol, ..token });
        self.skip_declaration();
        self.next_item();
    }

    /// `static`, `const` and `restrict` in the brackets of an array parameter, after the bracket.
    pub fn refuse_bracket_words(&mut self) {
        let mut reported = false;
        while let Some(token) = self.peek(0) {
            let word = self.word_at(self.at);
            let next_ends = self.kind_at(self.at + 1) == Some(TokenKind::RBracket);
            let restrict = self.is_text(self.at, "restrict")
                && (next_ends || self.is_name_at(self.at + 1) || self.is_number_at(self.at + 1));
            if !matches!(word, Word::Storage | Word::Qualifier) && !restrict {
                return;
            }
            if !std::mem::replace(&mut reported, true) {
                let message = format!(
                    "`{}` in the brackets of a parameter is C, not C++",
                    self.text(token.symbol)
                );
                let found = Diagnostic::new(Code::E0239, token.span, message);
                self.diagnostics
                    .push(found.help("leave it out, or write the parameter as a pointer"));
            }
            self.at += 1;
        }
    }

    fn is_number_at(&self, at: usize) -> bool {
        self.kind_at(at) == Some(TokenKind::Number)
    }

    /// `int *restrict p`: C's word, which C++ takes for a name.
    pub fn refuse_restrict(&mut self) -> bool {
        let among_specifiers = self.top().mode == Mode::Specs && self.top().typed;
        if !among_specifiers
            || !self.is_text(self.at, "restrict")
            || !(self.is_name_at(self.at + 1) || self.word_at(self.at + 1) == Word::Qualifier)
        {
            return false;
        }
        let token = self.input[self.at];
        let found = Diagnostic::new(Code::E0239, token.span, "`restrict` is C, not C++");
        self.diagnostics.push(found.suggest("write", token.span, "__restrict__"));
        self.at += 1;
        true
    }

    /// A function's body in a block; what was read of it becomes a prototype.
    pub fn refuse_nested_function(&mut self) {
        let item = self.top().item_start;
        let name = self.out[item..].iter().find(|tok| tok.kind == Kind::Identifier).copied();
        let brace = self.input[self.at];
        let span = name.map_or(brace.span, |name| name.span);
        let message = "functions inside functions are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0238, span, message);
        self.diagnostics.push(found.help("define it at file scope, before this function"));
        self.skip_group();
        let symbol = self.session.names.intern(";");
        self.emit(Kind::Semi, Token { symbol, ..brace });
        self.next_item();
    }

    /// `auto f() -> int (*)(int)`, at the first bracket of the type.
    pub fn refuse_trailing_brackets(&mut self, token: Token) {
        let message = "a result type in brackets after `->` is outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0240, token.span, message);
        self.diagnostics.push(found.help("give the type a name: `using Result = ...;`"));
        while matches!(self.kind_at(self.at), Some(TokenKind::LParen | TokenKind::LBracket)) {
            self.skip_group();
        }
    }

    /// `using enum E;`, and `using Base::member;` in a record.
    pub fn refuse_using(&mut self) -> bool {
        let token = self.input[self.at - 1];
        let (what, cure) = if self.word_at(self.at) == Word::Enum {
            ("`using enum` is", "write the enumerators with the enumeration's name before `::`")
        } else if self.top().kind == ContextKind::Record {
            ("using-declarations of members are", "declare the member here")
        } else {
            return false;
        };
        let message = format!("{what} outside the `.cdp` subset");
        self.diagnostics.push(Diagnostic::new(Code::E0239, token.span, message).help(cure));
        self.drop_item();
        true
    }
}
