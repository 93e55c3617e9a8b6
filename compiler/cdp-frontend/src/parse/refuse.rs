//! What the subset leaves out: each construct refused by its name, passed as a whole, and replaced
//! by an error token, so that the rest of the program is still read.

use super::classify::Classifier;
use super::context::{ContextKind, Mode};
use super::scopes::Meaning;
use super::token::Kind;
use super::words::{Refusal, Word};
use crate::diagnostics::{Code, Diagnostic};
use crate::lex::{Token, TokenKind};
use crate::source::Span;

impl Classifier<'_> {
    pub fn refuse(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, span, message));
    }

    /// Takes back what was emitted of the current item, passes the rest of it, and puts an error
    /// item in its place.
    pub fn drop_item(&mut self) {
        let start = self.top().item_start;
        let token = self.input[self.at];
        self.out.truncate(start);
        self.skip_declaration();
        self.emit(Kind::ErrorItem, token);
        self.next_item();
    }

    /// Passes a declaration: to its `;`, or past a function's body.
    pub fn skip_declaration(&mut self) {
        while let Some(token) = self.peek(0) {
            match token.kind {
                TokenKind::Semi => {
                    self.at += 1;
                    return;
                }
                TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket => return,
                TokenKind::LBrace => {
                    self.skip_group();
                    // `struct S { } x;` and `T x{};` go on to their `;`, a function's body does not.
                    match self.peek(0).map(|next| next.kind) {
                        Some(TokenKind::Semi) => self.at += 1,
                        Some(TokenKind::Comma | TokenKind::LBrace) => continue,
                        _ => {}
                    }
                    return;
                }
                _ => self.at = self.group_end(self.at),
            }
        }
    }

    /// Passes an expression, up to where it must end.
    fn skip_expression(&mut self) {
        while let Some(token) = self.peek(0) {
            match token.kind {
                TokenKind::Semi
                | TokenKind::Comma
                | TokenKind::RParen
                | TokenKind::RBrace
                | TokenKind::RBracket
                | TokenKind::Colon => return,
                _ => self.at = self.group_end(self.at),
            }
        }
    }

    /// An expression that was refused, in place of the tokens since `token`.
    fn error_expression(&mut self, token: Token) {
        self.enter_expr();
        self.emit(Kind::ErrorExpr, token);
    }

    pub fn refused_word(&mut self, refusal: Refusal, token: Token) {
        let word = self.text(token.symbol).to_owned();
        let code = refusal.code();
        match refusal {
            Refusal::Template => self.refuse_template(token),
            Refusal::Typename => {
                self.refuse(
                    code,
                    token.span,
                    "templates (`typename`) are outside the `.cdp` subset",
                );
                self.at += 1;
            }
            Refusal::Try => {
                let found = Diagnostic::new(
                    code,
                    token.span,
                    "exceptions (`try`) are outside the `.cdp` subset",
                );
                self.diagnostics.push(found.help("return an error code instead"));
                self.at += 1;
            }
            Refusal::Catch => {
                self.at = self.group_end(self.at + 1);
                self.skip_statement();
                self.next_item();
            }
            Refusal::Throw if self.top().mode == Mode::Named => {
                // The empty exception specification of old C++.
                self.take(Kind::Noexcept);
                if self.kind_at(self.at) == Some(TokenKind::LParen) {
                    self.skip_group();
                }
            }
            Refusal::Throw => {
                let found = Diagnostic::new(
                    code,
                    token.span,
                    "exceptions (`throw`) are outside the `.cdp` subset",
                );
                self.diagnostics
                    .push(found.help("return an error code, or end the kernel with `__trap()`"));
                self.skip_expression();
                self.error_expression(token);
            }
            Refusal::Goto => {
                let message = format!("labels of a block (`{word}`) are outside the `.cdp` subset");
                self.refuse(code, token.span, message);
                self.drop_item();
            }
            Refusal::Coroutine => {
                let message = format!("coroutines (`{word}`) are outside the `.cdp` subset");
                self.refuse(code, token.span, message);
                self.skip_expression();
                self.error_expression(token);
            }
            Refusal::DynamicCast => {
                let message = "`dynamic_cast` is outside the `.cdp` subset, as inheritance is";
                self.refuse(code, token.span, message);
                self.at += 1;
                while let Some(next) = self.peek(0) {
                    match next.kind {
                        TokenKind::LParen => {
                            self.skip_group();
                            break;
                        }
                        TokenKind::Semi | TokenKind::RBrace => break,
                        _ => self.at += 1,
                    }
                }
                self.error_expression(token);
            }
            // `va_list list;`
            Refusal::VaArg if self.kind_at(self.at + 1) != Some(TokenKind::LParen) => {
                let message =
                    format!("variable arguments (`{word}`) are outside the `.cdp` subset");
                let found = Diagnostic::new(code, token.span, message);
                self.diagnostics
                    .push(found.help("write a variadic macro, or pass an array and its length"));
                self.at += 1;
                self.set_typed();
                self.emit(Kind::ErrorType, token);
            }
            Refusal::Typeid | Refusal::VaArg => {
                let message = match refusal {
                    Refusal::Typeid => "`typeid` is outside the `.cdp` subset",
                    _ => "reading variable arguments is outside the `.cdp` subset",
                };
                self.refuse(code, token.span, message);
                self.at += 1;
                if self.kind_at(self.at) == Some(TokenKind::LParen) {
                    self.skip_group();
                }
                self.error_expression(token);
            }
            Refusal::This => {
                let message = "`this` is outside the `.cdp` subset, as member functions are";
                self.refuse(code, token.span, message);
                self.at += 1;
                self.error_expression(token);
            }
            Refusal::Virtual => {
                let message = "virtual functions are outside the `.cdp` subset";
                let found = Diagnostic::new(code, token.span, message);
                self.diagnostics
                    .push(found.help("use a function pointer, or a `switch` on a kind"));
                self.drop_item();
            }
            Refusal::Friend => {
                self.refuse(
                    code,
                    token.span,
                    "`friend` is outside the `.cdp` subset: all members are public",
                );
                self.drop_item();
            }
            Refusal::Explicit => {
                self.refuse(
                    code,
                    token.span,
                    "constructors (`explicit`) are outside the `.cdp` subset",
                );
                self.drop_item();
            }
            Refusal::Concept | Refusal::Requires => {
                let message =
                    format!("concepts and constraints (`{word}`) are outside the `.cdp` subset");
                self.refuse(code, token.span, message);
                self.drop_item();
            }
            Refusal::Export => {
                self.refuse(code, token.span, "modules (`export`) are outside the `.cdp` subset");
                self.drop_item();
            }
            Refusal::Access => self.refuse_access(token, &word),
            Refusal::Consteval => {
                let found = Diagnostic::new(
                    code,
                    token.span,
                    format!("`{word}` is outside the `.cdp` subset"),
                );
                self.diagnostics.push(found.help("write `constexpr` for a variable"));
                self.at += 1;
            }
            Refusal::COnly(right) => self.refuse_c_word(token, &word, right),
            Refusal::TypeWord => {
                self.refuse(
                    code,
                    token.span,
                    format!("the type `{word}` is outside the `.cdp` subset"),
                );
                self.set_typed();
                self.take(Kind::ErrorType);
            }
        }
    }

    fn refuse_access(&mut self, token: Token, word: &str) {
        let has_colon = self.kind_at(self.at + 1) == Some(TokenKind::Colon);
        let message = format!("access control (`{word}`) is outside the `.cdp` subset");
        let found = Diagnostic::new(Code::E0224, token.span, message);
        self.diagnostics.push(found.help("leave it out: all members are public in a `struct`"));
        self.at += if has_colon { 2 } else { 1 };
        self.next_item();
    }

    /// A keyword of C that C++ does not know; it is read as what the user meant where that exists.
    fn refuse_c_word(&mut self, token: Token, word: &str, right: &'static str) {
        let found = Diagnostic::new(Code::E0239, token.span, format!("`{word}` is C, not C++"));
        let found = match right.chars().all(|c| c.is_ascii_alphabetic() || c == '_') {
            true => found.suggest("write", token.span, right),
            false => found.help(format!("use {right} instead")),
        };
        self.diagnostics.push(found);
        match word {
            "_Bool" => {
                let symbol = self.session.names.intern("bool");
                if self.top().mode != Mode::Expr {
                    self.set_typed();
                }
                self.emit(Kind::TypeWord, Token { symbol, ..token });
                self.at += 1;
            }
            "__auto_type" => {
                let symbol = self.session.names.intern("auto");
                self.set_typed();
                self.top().auto = true;
                self.emit(Kind::Auto, Token { symbol, ..token });
                self.at += 1;
            }
            "_Static_assert" => {
                self.enter_expr();
                self.take(Kind::StaticAssert);
            }
            "_Alignof" => {
                self.enter_expr();
                self.take(Kind::Alignof);
            }
            "_Alignas" => {
                self.enter_specs();
                self.take(Kind::Alignas);
            }
            "_Generic" => {
                self.at += 1;
                if self.kind_at(self.at) == Some(TokenKind::LParen) {
                    self.skip_group();
                }
                self.error_expression(token);
            }
            _ => self.at += 1,
        }
    }

    /// A template declaration, passed as a whole. Its name is remembered, so that uses with `<...>`
    /// are refused by name too.
    fn refuse_template(&mut self, token: Token) {
        let found =
            Diagnostic::new(Code::E0220, token.span, "templates are outside the `.cdp` subset");
        self.diagnostics
            .push(found.help("write one function or type for each set of types that you use"));
        let start = self.at;
        self.at += 1;
        if self.kind_at(self.at) == Some(TokenKind::Lt) {
            self.skip_angles();
        }
        let head = self.at;
        self.skip_declaration();
        let end = self.at;
        if let Some(name) = self.declared_name(head, end) {
            let mark = self.input[name].symbol;
            self.scopes.declare(mark, Meaning::Template);
        }
        self.at = end.max(start + 1);
        let item = self.top().item_start;
        self.out.truncate(item);
        self.emit(Kind::ErrorItem, token);
        self.next_item();
    }

    /// Passes `<...>`.
    fn skip_angles(&mut self) {
        let mut depth = 0i32;
        while let Some(token) = self.peek(0) {
            match token.kind {
                TokenKind::Lt => depth += 1,
                TokenKind::Gt => depth -= 1,
                TokenKind::Shr => depth -= 2,
                TokenKind::LaunchClose => depth -= 3,
                TokenKind::Semi | TokenKind::LBrace | TokenKind::RBrace => return,
                _ => {}
            }
            self.at = self.group_end(self.at);
            if depth <= 0 {
                return;
            }
        }
    }

    /// The name that the declaration in `start..end` declares: after `struct`, or before the first
    /// parenthesis, `=` or `;`.
    fn declared_name(&self, start: usize, end: usize) -> Option<usize> {
        let mut last_name = None;
        let mut at = start;
        while at < end {
            match self.kind_at(at)? {
                TokenKind::Ident if self.word_at(at) == Word::Record => {
                    return self.is_name_at(at + 1).then_some(at + 1);
                }
                // The parentheses of `__launch_bounds__(...)` are not the parameters.
                TokenKind::Ident
                    if matches!(
                        self.word_at(at),
                        Word::AttributeCall | Word::GnuAttribute | Word::Alignas
                    ) =>
                {
                    at = self.group_end(at + 1);
                    continue;
                }
                TokenKind::Ident if self.is_name_at(at) => last_name = Some(at),
                TokenKind::LParen | TokenKind::Eq | TokenKind::Semi | TokenKind::LBrace => {
                    return last_name;
                }
                _ => {}
            }
            at += 1;
        }
        last_name
    }

    pub fn refuse_lambda(&mut self, token: Token) {
        let mut at = self.group_end(self.at);
        let capture = self.session.sources.join(token.span, self.input[at - 1].span);
        let found = Diagnostic::new(
            Code::E0221,
            capture,
            "lambda expressions are outside the `.cdp` subset",
        );
        self.diagnostics.push(
            found.help("write a `__device__` function, and pass what it captures as arguments"),
        );
        while let Some(kind) = self.kind_at(at) {
            match kind {
                TokenKind::LBrace => {
                    at = self.group_end(at);
                    break;
                }
                TokenKind::Semi | TokenKind::RBrace | TokenKind::RParen => break,
                _ => at = self.group_end(at),
            }
        }
        self.at = at;
        self.error_expression(Token { span: capture, ..token });
    }

    /// `({ ... })`
    pub fn refuse_statement_expression(&mut self, token: Token) {
        let message = "GNU statement expressions are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0238, token.span, message);
        self.diagnostics.push(found.help("write a function"));
        self.skip_group();
        self.error_expression(token);
    }

    /// `a ?: b`, after its `?`.
    pub fn refuse_short_conditional(&mut self, token: Token) {
        let message =
            "the conditional without a middle operand (`?:`) is outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0238, token.span, message);
        self.diagnostics.push(found.help("write the condition's value between `?` and `:`"));
        self.error_expression(token);
    }

    /// `&&label`
    pub fn refuse_label_address(&mut self, token: Token) {
        let message = "addresses of labels are outside the `.cdp` subset";
        self.refuse(Code::E0238, token.span, message);
        self.at += 2;
        self.error_expression(token);
    }

    pub fn refuse_destructor(&mut self, token: Token) {
        self.refuse(Code::E0223, token.span, "destructors are outside the `.cdp` subset");
        self.drop_item();
    }

    /// `name(` in a record.
    pub fn refuse_member_function(&mut self) {
        let Some(name) = self.out.last().copied() else { return };
        let text = self.text(name.symbol).to_owned();
        let record = self.contexts.iter().rev().find(|context| context.kind == ContextKind::Record);
        let tag = record.and_then(|context| context.name).map(|tag| self.text(tag).to_owned());
        let owner = tag.clone().unwrap_or_else(|| "the record".to_owned());
        let found = if text.starts_with("operator") {
            let message = format!("member operators (`{text}`) are outside the `.cdp` subset");
            Diagnostic::new(Code::E0236, name.span, message)
                .help("write the operator as a free function")
        } else {
            let message = format!("member functions (`{text}`) are outside the `.cdp` subset");
            let cure = format!(
                "write a free function that takes the object: `{text}({owner} &object, ...)`"
            );
            Diagnostic::new(Code::E0222, name.span, message).help(cure)
        };
        self.diagnostics.push(found);
        self.drop_item();
    }
}
