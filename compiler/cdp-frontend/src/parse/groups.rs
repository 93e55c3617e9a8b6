//! Brackets in the classifier: what each one opens, and where it leaves off.

use super::classify::{Classifier, Unit};
use super::context::{Context, ContextKind, Mode};
use super::token::Kind;
use super::words::Word;
use crate::diagnostics::{Code, Diagnostic};
use crate::lex::{Token, TokenKind};

impl Classifier<'_> {
    /// Pushes a context and emits the opening bracket.
    fn open(&mut self, context: ContextKind, mode: Mode, kind: Kind) {
        self.take(kind);
        let context = Context::new(context, mode, self.out.len());
        self.contexts.push(context);
    }

    /// True if an operand, and not an operator, is expected next.
    pub fn at_operand(&self) -> bool {
        !matches!(
            self.last_kind(),
            Some(
                Kind::Identifier
                    | Kind::TypeName
                    | Kind::ErrorType
                    | Kind::Number
                    | Kind::Char
                    | Kind::String
                    | Kind::Bool
                    | Kind::Nullptr
                    | Kind::RParen
                    | Kind::RBracket
                    | Kind::RBrace
                    | Kind::ErrorExpr
                    | Kind::TypeWord
                    | Kind::PlusPlus
                    | Kind::MinusMinus
            )
        )
    }

    pub fn open_paren(&mut self, token: Token) {
        match self.last_kind() {
            Some(Kind::If | Kind::IfConstexpr | Kind::While | Kind::For | Kind::Switch) => {
                let mark = self.scopes.mark();
                let range = self.last_kind() == Some(Kind::For) && self.is_range_for(self.at);
                self.open(ContextKind::Head, Mode::Start, Kind::LParen);
                let top = self.top();
                top.mark = Some(mark);
                top.range = range;
                return;
            }
            Some(Kind::AttributeCall | Kind::Alignas | Kind::Typeof | Kind::StaticAssert) => {
                return self.open(ContextKind::Expr, Mode::Expr, Kind::LParen);
            }
            _ => {}
        }
        let mut words =
            self.out.iter().rev().skip_while(|t| matches!(t.kind, Kind::Qualifier | Kind::Storage));
        if words.next().is_some_and(|token| token.kind == Kind::Asm) {
            return self.open(ContextKind::Asm, Mode::Expr, Kind::LParen);
        }
        match self.top().mode {
            Mode::Start | Mode::Expr => {
                if self.kind_at(self.at + 1) == Some(TokenKind::LBrace)
                    && self.at_operand()
                    && self.last_kind() != Some(Kind::LaunchClose)
                {
                    return self.refuse_statement_expression(token);
                }
                self.enter_expr();
                self.open(ContextKind::Expr, Mode::Expr, Kind::LParen);
            }
            Mode::Specs => self.paren_in_specs(),
            Mode::Named => self.paren_after_name(),
        }
    }

    /// Before a declarator's name: `(*name)`, or the parameters of an unnamed function.
    fn paren_in_specs(&mut self) {
        let next = self.at + 1;
        let params = self.kind_at(next) == Some(TokenKind::RParen)
            || self.kind_at(next) == Some(TokenKind::Ellipsis)
            || self.starts_decl(next);
        if params && self.top().typed {
            return self.open_params();
        }
        self.open(ContextKind::DeclaratorGroup, Mode::Specs, Kind::LParen);
        self.top().typed = true;
    }

    fn open_params(&mut self) {
        let mark = self.scopes.mark();
        self.open(ContextKind::Params, Mode::Start, Kind::LParen);
        self.top().mark = Some(mark);
    }

    fn paren_after_name(&mut self) {
        let last = self.out.last().copied();
        let named_directly = last.is_some_and(|last| last.kind == Kind::Identifier);
        if self.top().kind == ContextKind::Record && named_directly {
            return self.refuse_member_function();
        }
        let is_params = !named_directly
            || self.top().kind == ContextKind::DeclaratorGroup
            || self.paren_is_params();
        if is_params {
            self.top().function = true;
            self.open_params();
        } else if !self.refuse_old_parameters() {
            self.top().mode = Mode::Expr;
            self.open(ContextKind::Expr, Mode::Expr, Kind::LParenInit);
        }
    }

    /// `T x(` at the current token: parameters if they can be, else constructor arguments.
    fn paren_is_params(&mut self) -> bool {
        let open = self.at;
        let close = self.group_end(open) - 1;
        let function_like = self.top().function_like;
        if close == open + 1 || self.kind_at(open + 1) == Some(TokenKind::Ellipsis) {
            return true;
        }
        let mut at = open + 1;
        while at < close {
            if self.kind_at(at) == Some(TokenKind::Ellipsis) {
                return true;
            }
            if !self.could_be_param(at, function_like) {
                return false;
            }
            while at < close && self.kind_at(at) != Some(TokenKind::Comma) {
                at = self.group_end(at);
            }
            at += 1;
        }
        true
    }

    fn could_be_param(&self, at: usize, function_like: bool) -> bool {
        // `[[maybe_unused]] int x`
        if self.kind_at(at) == Some(TokenKind::LBracket) {
            return self.kind_at(at + 1) == Some(TokenKind::LBracket);
        }
        if !self.starts_decl(at) {
            // An unknown type's name, most likely, in what must be a function.
            let two_names = self.is_name_at(at) && self.is_name_at(at + 1);
            return two_names || (function_like && self.is_name_at(at));
        }
        let Some(end) = self.type_end(at) else { return true };
        match self.kind_at(end) {
            Some(TokenKind::LBrace) => false,
            Some(TokenKind::LParen) => match self.kind_at(end + 1) {
                Some(TokenKind::Star | TokenKind::Amp | TokenKind::AndAnd | TokenKind::RParen) => {
                    true
                }
                Some(TokenKind::Ident) => {
                    self.starts_decl(end + 1) || self.kind_at(end + 2) == Some(TokenKind::RParen)
                }
                _ => false,
            },
            _ => true,
        }
    }

    pub fn open_bracket(&mut self, token: Token) {
        let inner = self.at + 1;
        let mode = self.top().mode;
        let attribute = self.kind_at(inner) == Some(TokenKind::LBracket)
            && self.group_end(inner) + 1 == self.group_end(self.at)
            && (mode != Mode::Expr || self.top().kind == ContextKind::Params);
        if attribute {
            return self.std_attribute(token);
        }
        if mode == Mode::Specs && self.top().auto {
            return self.refuse_bindings(token);
        }
        let after = self.group_end(self.at);
        let body_follows = matches!(
            self.kind_at(after),
            Some(TokenKind::LParen | TokenKind::LBrace | TokenKind::Arrow | TokenKind::Lt)
        ) || self.word_at(after) == Word::Attribute
            || self.is_text(after, "mutable");
        let in_declarator = matches!(mode, Mode::Named | Mode::Specs);
        if !in_declarator
            && self.at_operand()
            && body_follows
            && self.last_kind() != Some(Kind::Delete)
        {
            return self.refuse_lambda(token);
        }
        if mode == Mode::Start {
            self.enter_expr();
        }
        self.open(ContextKind::Expr, Mode::Expr, Kind::LBracket);
        if mode == Mode::Named {
            self.refuse_bracket_words();
        }
    }

    /// `[[...]]` as one token.
    fn std_attribute(&mut self, token: Token) {
        let end = self.group_end(self.at);
        let mut text = String::new();
        for index in self.at + 2..end - 2 {
            let part = self.input[index];
            match part.kind {
                TokenKind::Ident | TokenKind::ColonColon => {
                    text.push_str(&self.session.names[part.symbol])
                }
                _ => break,
            }
        }
        if self.is_statement_attribute(end) {
            self.at = end;
            return;
        }
        let symbol = self.session.names.intern(&text);
        let span = self.session.sources.join(token.span, self.input[end - 1].span);
        self.emit(Kind::StdAttribute, Token { symbol, span, ..token });
        self.at = end;
        self.enter_specs();
    }

    /// An attribute that ends at `end` belongs to a statement (`[[fallthrough]];`, `[[likely]]`),
    /// where none changes what a program does.
    pub fn is_statement_attribute(&mut self, end: usize) -> bool {
        let top = self.top();
        let at_start = top.kind == ContextKind::Block && top.mode == Mode::Start;
        let another = self.kind_at(end) == Some(TokenKind::LBracket)
            && self.kind_at(end + 1) == Some(TokenKind::LBracket);
        at_start && !another && !self.starts_decl(end)
    }

    pub fn open_brace(&mut self) {
        let tag = self.top().tag.take();
        let mode = self.top().mode;
        if let Some(tag) = tag.filter(|_| mode == Mode::Specs) {
            let kind = if tag.is_enum { ContextKind::Enumerators } else { ContextKind::Record };
            let mark = self.scopes.mark();
            self.open(kind, Mode::Start, Kind::LBrace);
            let scope = tag.name.and_then(|name| match self.scopes.get(name) {
                Some(super::scopes::Meaning::Type(scope)) => Some(scope),
                _ => None,
            });
            let top = self.top();
            top.mark = Some(mark);
            top.name = tag.name;
            if let Some(scope) = scope {
                top.scope = scope;
            }
            return;
        }
        if self.top().kind == ContextKind::Block && mode == Mode::Named && self.top().function {
            return self.refuse_nested_function();
        }
        let block = match (self.top().kind, mode) {
            (ContextKind::Block, Mode::Start) => true,
            (
                ContextKind::Expr
                | ContextKind::Init
                | ContextKind::Asm
                | ContextKind::Params
                | ContextKind::Head,
                _,
            ) => false,
            (_, Mode::Named) => self.top().function,
            (_, Mode::Start) => true,
            // After an operand, as in `if x {`, a body was meant; after an operator, a list.
            (ContextKind::Block, Mode::Expr) => {
                let typed = self.last_kind_is_type();
                !self.at_operand() && !typed
            }
            _ => false,
        };
        if !block {
            if mode == Mode::Start {
                self.enter_expr();
            }
            return self.open(ContextKind::Init, Mode::Expr, Kind::LBraceInit);
        }
        let pending = self.top().pending.take();
        let mark = pending.unwrap_or_else(|| self.scopes.mark());
        self.open(ContextKind::Block, Mode::Start, Kind::LBrace);
        self.top().mark = Some(mark);
    }

    /// The last token ends a type that a marker announced: `T{...}`, or a cast's `)`.
    fn last_kind_is_type(&self) -> bool {
        match self.last_kind() {
            Some(Kind::TypeName | Kind::TypeWord) => true,
            // `new T[n]{...}`
            Some(Kind::RBracket) => {
                let mut depth = 0;
                let mut before = self.out.iter().rev().skip_while(|token| {
                    match token.kind {
                        Kind::RBracket => depth += 1,
                        Kind::LBracket => depth -= 1,
                        _ => return depth > 0,
                    }
                    true
                });
                let last = before.next().map(|token| token.kind);
                matches!(last, Some(Kind::TypeName | Kind::TypeWord | Kind::NewStar))
            }
            // `(T){...}`
            Some(Kind::RParen) => {
                let mut depth = 0;
                for token in self.out.iter().rev().take(64) {
                    match token.kind {
                        Kind::RParen => depth += 1,
                        Kind::LParen => depth -= 1,
                        Kind::Identifier | Kind::Number | Kind::Functional => return false,
                        _ => {}
                    }
                    if depth == 0 {
                        return true;
                    }
                }
                false
            }
            _ => false,
        }
    }

    pub fn close_group(&mut self, token: Token) {
        let kind = if token.kind == TokenKind::RParen { Kind::RParen } else { Kind::RBracket };
        if self.contexts.len() <= 1 {
            return self.take(kind);
        }
        let Some(closed) = self.contexts.pop() else { return };
        self.take(kind);
        let next_opens_body = self.kind_at(self.at) == Some(TokenKind::LBrace);
        match closed.kind {
            ContextKind::Params => {
                let body = next_opens_body
                    || matches!(
                        self.word_at(self.at),
                        Word::Plain(Kind::Noexcept)
                            | Word::Attribute
                            | Word::AttributeCall
                            | Word::GnuAttribute
                    )
                    || self.kind_at(self.at) == Some(TokenKind::Arrow);
                self.keep_or_restore(closed.mark, body);
                self.top().mode = Mode::Named;
                if self.kind_at(self.at) == Some(TokenKind::Arrow) {
                    self.trailing_return();
                }
            }
            ContextKind::DeclaratorGroup => self.top().mode = Mode::Named,
            ContextKind::Head => {
                self.keep_or_restore(closed.mark, true);
                let top = self.top();
                top.mode = Mode::Start;
                top.decl = false;
            }
            _ => {}
        }
    }

    /// `-> type` after parameters: its words are emitted as they are.
    fn trailing_return(&mut self) {
        self.take(Kind::Arrow);
        while let Some(token) = self.peek(0) {
            match token.kind {
                TokenKind::Star => self.take(Kind::Star),
                TokenKind::Amp => self.take(Kind::Amp),
                TokenKind::Ident => match self.words.get(token.symbol) {
                    Word::Type => self.take(Kind::TypeWord),
                    Word::Qualifier => self.take(Kind::Qualifier),
                    Word::Auto => self.take(Kind::Auto),
                    Word::Name => self.take(Kind::TypeName),
                    _ => return,
                },
                TokenKind::LParen | TokenKind::LBracket => {
                    return self.refuse_trailing_brackets(token);
                }
                _ => return,
            }
        }
    }

    /// Scopes of parameters last as long as the body that follows.
    fn keep_or_restore(&mut self, mark: Option<super::scopes::Mark>, keep: bool) {
        let Some(mark) = mark else { return };
        if keep {
            let top = self.top();
            top.pending = top.pending.or(Some(mark));
        } else {
            self.scopes.restore(mark);
        }
    }

    pub fn close_brace(&mut self, token: Token) {
        if self.contexts.len() <= 1 {
            return self.take(Kind::RBrace);
        }
        let Some(closed) = self.contexts.pop() else { return };
        match closed.kind {
            ContextKind::Namespace | ContextKind::Linkage => {
                self.contexts.push(closed);
                self.end_unit();
                let closed = self.contexts.pop();
                for (mark, scope) in closed.into_iter().flat_map(|closed| closed.outer).rev() {
                    self.scopes.save(mark, scope);
                    self.scopes.restore(mark);
                }
                self.units.push(Unit::Close { span: token.span });
                self.at += 1;
                self.next_item();
            }
            ContextKind::Record | ContextKind::Enumerators => {
                self.take(Kind::RBrace);
                if let Some(mark) = closed.mark {
                    if closed.scope != super::scopes::NO_SCOPE {
                        self.scopes.save(mark, closed.scope);
                    }
                    self.scopes.restore(mark);
                }
                let top = self.top();
                top.mode = Mode::Specs;
                top.typed = true;
                top.after_body = true;
            }
            ContextKind::Block => {
                self.take(Kind::RBrace);
                if let Some(mark) = closed.mark {
                    self.scopes.restore(mark);
                }
                self.next_item();
            }
            _ => self.take(Kind::RBrace),
        }
    }

    /// `: public Base` after a record's tag; false if this colon is something else.
    pub fn base_clause(&mut self, token: Token) -> bool {
        let mut at = self.at;
        while let Some(kind) = self.kind_at(at) {
            match kind {
                TokenKind::LBrace => {
                    let message = "inheritance is outside the `.cdp` subset";
                    let found = Diagnostic::new(Code::E0225, token.span, message);
                    self.diagnostics.push(found.help("make the base a member"));
                    self.at = at;
                    return true;
                }
                TokenKind::Semi | TokenKind::RBrace => return false,
                _ => at = self.group_end(at),
            }
        }
        false
    }
}
