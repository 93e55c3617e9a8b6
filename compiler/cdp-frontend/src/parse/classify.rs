//! From balanced preprocessing tokens to the tokens of the grammar, one pass over the program.
//!
//! The classifier follows declarations just closely enough to know, for each name, whether it is a
//! type there, and for each bracket what it opens. It also cuts the program into external
//! declarations, and replaces what the subset leaves out by error tokens (`refuse`), so that the
//! grammar stays small. It builds no tree and checks no meaning.
//!
//! Reading order: `context` (where we are), `step` (one token) and what it calls; `names` holds
//! names, types and declarators, `groups` brackets, `namespaces` what introduces scopes.

use super::brackets::Balanced;
use super::context::{Context, ContextKind, Mode, TagState};
use super::scopes::{Meaning, NO_SCOPE, Scopes};
use super::token::{Kind, Tok};
use super::words::{Word, Words};
use crate::ast::Ident;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::intern::Symbol;
use crate::lex::{Flags, Token, TokenKind};
use crate::session::Session;
use crate::source::Span;

/// A piece of the program at file or namespace level.
#[derive(Debug)]
pub enum Unit {
    /// Tokens `start..end` are one external declaration.
    Decl { start: usize, end: usize },
    /// `namespace a::b {`
    OpenNamespace { inline: bool, names: Vec<Ident>, span: Span },
    /// `extern "C"`; without braces the next declaration alone is inside.
    OpenLinkage { language: Tok, braces: bool, span: Span },
    /// The `}` of either.
    Close { span: Span },
}

/// The classified program.
pub struct Classified {
    pub tokens: Vec<Tok>,
    pub units: Vec<Unit>,
}

/// The state of the pass.
pub(super) struct Classifier<'a> {
    pub session: &'a mut Session,
    pub diagnostics: &'a mut Diagnostics,
    pub words: &'a Words,
    pub scopes: Scopes,
    pub input: &'a [Token],
    pub partner: &'a [u32],
    pub at: usize,
    pub out: Vec<Tok>,
    pub units: Vec<Unit>,
    pub contexts: Vec<Context>,
    pub unknown_types: Vec<Symbol>,
    pub std: Symbol,
}

/// Classifies a program.
pub fn classify(
    balanced: &Balanced,
    session: &mut Session,
    diagnostics: &mut Diagnostics,
) -> Classified {
    let vocabulary = session.vocabulary();
    let mut classifier = Classifier {
        session,
        diagnostics,
        words: &vocabulary.words,
        scopes: vocabulary.scopes.clone(),
        input: &balanced.tokens,
        partner: &balanced.partner,
        at: 0,
        out: Vec::with_capacity(balanced.tokens.len() + 64),
        units: Vec::new(),
        contexts: vec![Context::new(ContextKind::File, Mode::Start, 0)],
        unknown_types: Vec::new(),
        std: vocabulary.std,
    };
    while classifier.at < classifier.input.len() {
        let before = classifier.at;
        classifier.step();
        debug_assert!(classifier.at > before, "the classifier stands still");
        classifier.at = classifier.at.max(before + 1);
    }
    classifier.end_unit();
    Classified { tokens: classifier.out, units: classifier.units }
}

impl Classifier<'_> {
    pub fn top(&mut self) -> &mut Context {
        if self.contexts.is_empty() {
            self.contexts.push(Context::new(ContextKind::File, Mode::Start, self.out.len()));
        }
        self.contexts.last_mut().expect("one was just pushed")
    }

    pub fn peek(&self, ahead: usize) -> Option<Token> {
        self.input.get(self.at + ahead).copied()
    }

    pub fn kind_at(&self, index: usize) -> Option<TokenKind> {
        self.input.get(index).map(|token| token.kind)
    }

    /// The word at an index; `Word::Name` also for what is no word.
    pub fn word_at(&self, index: usize) -> Word {
        match self.input.get(index) {
            Some(token) if token.kind == TokenKind::Ident => self.words.get(token.symbol),
            _ => Word::Name,
        }
    }

    /// True for an identifier that is no keyword.
    pub fn is_name_at(&self, index: usize) -> bool {
        self.kind_at(index) == Some(TokenKind::Ident) && self.word_at(index) == Word::Name
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        &self.session.names[symbol]
    }

    pub fn last_kind(&self) -> Option<Kind> {
        self.out.last().map(|token| token.kind)
    }

    pub fn emit(&mut self, kind: Kind, token: Token) {
        let line_start = token.flags.has(Flags::LINE_START);
        self.out.push(Tok { kind, line_start, symbol: token.symbol, span: token.span });
    }

    /// Emits the current token and passes it.
    pub fn take(&mut self, kind: Kind) {
        let token = self.input[self.at];
        self.emit(kind, token);
        self.at += 1;
    }

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, span, message));
    }

    /// Leaves `Start` for an expression.
    pub fn enter_expr(&mut self) {
        let top = self.top();
        if top.mode == Mode::Start {
            top.mode = Mode::Expr;
        }
    }

    /// Leaves `Start` for declaration specifiers.
    pub fn enter_specs(&mut self) {
        let top = self.top();
        if top.mode == Mode::Start {
            top.mode = Mode::Specs;
            top.decl = true;
        }
    }

    /// A type was seen among specifiers.
    pub fn set_typed(&mut self) {
        self.enter_specs();
        let top = self.top();
        if top.mode == Mode::Specs {
            top.typed = true;
        }
    }

    /// Ready for the next statement, declaration or member.
    pub fn next_item(&mut self) {
        if let Some(mark) = self.top().pending.take() {
            self.scopes.restore(mark);
        }
        if let Some(name) = self.top().alias.take() {
            self.scopes.declare(name, Meaning::Type(NO_SCOPE));
        }
        let start = self.out.len();
        let top = self.top();
        top.mode = Mode::Start;
        top.item_start = start;
        top.typed = false;
        top.decl = false;
        top.typedef = false;
        top.function_like = false;
        top.auto = false;
        top.function = false;
        top.tag = None;
        top.after_body = false;
        top.questions = 0;
        top.label = false;
        top.new_type = false;
        if self.top().is_file_like() {
            self.end_unit();
        }
    }

    /// Cuts an external declaration off, if there is anything of one.
    pub fn end_unit(&mut self) {
        let end = self.out.len();
        let start = self.units.iter().rev().find_map(|unit| match unit {
            Unit::Decl { end, .. } => Some(*end),
            _ => None,
        });
        let start = start.unwrap_or(0);
        if end > start {
            self.units.push(Unit::Decl { start, end });
        }
    }

    /// One token, or a few that belong together.
    fn step(&mut self) {
        let token = self.input[self.at];
        if token.flags.has(Flags::LINE_START) {
            self.missing_semicolon(token);
        }
        self.top().after_body = false;
        use TokenKind as T;
        match token.kind {
            T::Ident => self.word(token),
            T::Number | T::Char | T::String | T::RawString => self.literal(token),
            T::LParen => self.open_paren(token),
            T::LBracket => self.open_bracket(token),
            T::LBrace => self.open_brace(),
            T::RParen | T::RBracket => self.close_group(token),
            T::RBrace => self.close_brace(token),
            T::Semi => self.semicolon(),
            T::Comma => self.comma(),
            T::Colon if self.refuse_old_designator(token) => {}
            T::Colon => self.colon(token),
            T::ColonColon => self.colon_colon(token),
            T::Question => {
                self.top().questions += 1;
                self.enter_expr();
                self.take(Kind::Question);
                if self.kind_at(self.at) == Some(T::Colon) {
                    self.refuse_short_conditional(token);
                }
            }
            T::Eq if self.refuse_special_function() => {}
            T::Eq => {
                let top = self.top();
                if top.mode != Mode::Start {
                    top.mode = Mode::Expr;
                }
                self.take(Kind::Assign);
            }
            T::Tilde if self.top().kind == ContextKind::Record => self.refuse_destructor(token),
            T::Hash | T::HashHash => {
                self.error(Code::E0201, token.span, "a stray `#` in the program");
                self.at += 1;
            }
            T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp | T::PragmaEnd => self.pragma(token),
            T::DotStar | T::ArrowStar => {
                self.refuse(
                    Code::E0237,
                    token.span,
                    "pointers to members are outside the `.cdp` subset",
                );
                self.take(Kind::Star);
            }
            T::Spaceship => {
                let message = "the three-way comparison `<=>` is outside the `.cdp` subset";
                self.refuse(Code::E0240, token.span, message);
                self.take(Kind::Lt);
            }
            // Among specifiers and declarators these are pointers and references.
            T::Star | T::Amp | T::AndAnd if self.top().mode == Mode::Specs => {
                let kind = operator_kind(token.kind);
                self.take(kind);
            }
            T::AndAnd
                if self.at_operand()
                    && self.is_name_at(self.at + 1)
                    && self.top().mode == Mode::Expr =>
            {
                self.refuse_label_address(token);
            }
            T::Ellipsis if self.refuse_designator_range(token) => {}
            T::Ellipsis => self.take(Kind::Ellipsis),
            T::Dot => {
                self.enter_expr();
                self.take(Kind::Dot);
            }
            kind => {
                self.enter_expr();
                self.take(operator_kind(kind));
            }
        }
    }

    /// A declaration on a new line where the one before has not ended: its `;` is missing. Inside
    /// functions, what follows an expression is left to the grammar.
    fn missing_semicolon(&mut self, token: Token) {
        let top = self.top();
        let after_body = top.after_body && top.mode == Mode::Specs;
        let holds_declarations = top.is_file_like() || top.kind == ContextKind::Record;
        let after_declarator =
            holds_declarations && top.decl && matches!(top.mode, Mode::Named | Mode::Expr);
        let function = top.function;
        if !after_body && !after_declarator {
            return;
        }
        let begins = match self.word_at(self.at) {
            Word::Type | Word::Auto | Word::Storage | Word::Typedef | Word::Record | Word::Enum => {
                true
            }
            Word::Attribute => !function,
            Word::Name => {
                let end = self.type_end(self.at);
                end.is_some_and(|end| {
                    self.is_name_at(end) || self.kind_at(end) == Some(TokenKind::Star)
                })
            }
            _ => false,
        };
        let Some(last) = self.out.last().copied().filter(|_| begins) else { return };
        // An expression that has not ended goes on here, and so may a cast.
        let goes_on = self.at_operand()
            || self.top().questions > 0
            || (last.kind == Kind::RParen && self.kind_at(self.at + 1) == Some(TokenKind::LParen));
        if after_declarator && goes_on {
            return;
        }
        let place = last.span.after();
        let what = if after_body {
            "the definition of the type".to_owned()
        } else {
            let start = self.top().item_start;
            let name = self.out[start..].iter().rev().find(|tok| tok.kind == Kind::Identifier);
            match name {
                Some(tok) => format!("the declaration of `{}`", self.text(tok.symbol)),
                None => "this declaration".to_owned(),
            }
        };
        let found = Diagnostic::new(Code::E0203, place, format!("expected `;` after {what}"))
            .secondary(token.span, "the next declaration begins here");
        self.diagnostics.push(found.suggest("add", place, ";"));
        let symbol = self.session.names.intern(";");
        self.out.push(Tok { kind: Kind::Semi, line_start: false, symbol, span: place });
        self.next_item();
    }

    fn literal(&mut self, token: Token) {
        self.enter_expr();
        let kind = match token.kind {
            TokenKind::Number => Kind::Number,
            TokenKind::Char => Kind::Char,
            _ => Kind::String,
        };
        self.take(kind);
        if let Some(suffix) =
            self.peek(0).filter(|next| next.kind == TokenKind::Ident && !next.spaced())
            && kind != Kind::Number
            && self.text(suffix.symbol).starts_with('_')
            && suffix.span.lo == token.span.hi
        {
            let message = format!(
                "user-defined literals (`{}`) are outside the `.cdp` subset",
                self.text(suffix.symbol)
            );
            self.refuse(Code::E0233, suffix.span, message);
            self.at += 1;
        }
    }

    fn semicolon(&mut self) {
        self.take(Kind::Semi);
        match self.top().kind {
            ContextKind::Expr | ContextKind::Init | ContextKind::Asm | ContextKind::Params => {}
            _ => self.next_item(),
        }
    }

    fn comma(&mut self) {
        self.take(Kind::Comma);
        let top = self.top();
        match top.kind {
            ContextKind::Params | ContextKind::Enumerators => self.next_item(),
            ContextKind::Expr
            | ContextKind::Init
            | ContextKind::Asm
            | ContextKind::DeclaratorGroup => {}
            _ if top.decl => {
                top.mode = Mode::Specs;
                top.function = false;
                if let Some(mark) = top.pending.take() {
                    self.scopes.restore(mark);
                }
            }
            _ => {}
        }
    }

    fn colon(&mut self, token: Token) {
        let top = self.top();
        if let Some(tag) =
            top.tag.filter(|tag| top.mode == Mode::Specs && (tag.is_enum || tag.name.is_some()))
        {
            if tag.is_enum && self.starts_decl(self.at + 1) {
                self.take(Kind::EnumColon);
                // A name here is the underlying type, not what is declared.
                if self.is_name_at(self.at) || self.kind_at(self.at) == Some(TokenKind::ColonColon)
                {
                    let chain = self.chain(self.at);
                    self.emit_name(self.at, chain.end, Kind::TypeName);
                }
                return;
            }
            if !tag.is_enum && self.base_clause(token) {
                return;
            }
        }
        let top = self.top();
        if top.range && top.questions == 0 {
            top.range = false;
            top.mode = Mode::Expr;
            return self.take(Kind::RangeColon);
        }
        if top.questions > 0 {
            top.questions -= 1;
        } else if top.label {
            top.label = false;
            top.mode = Mode::Start;
        } else if top.mode == Mode::Named || top.mode == Mode::Specs {
            // A bit-field's width.
            top.mode = Mode::Expr;
        }
        self.take(Kind::Colon);
    }

    fn colon_colon(&mut self, token: Token) {
        if self.contexts.last().is_some_and(|top| top.kind == ContextKind::Asm) {
            let middle = token.span.lo + 1;
            let first = Token { span: Span { hi: middle, ..token.span }, ..token };
            let second = Token { span: Span { lo: middle, ..token.span }, ..token };
            self.emit(Kind::Colon, first);
            self.emit(Kind::Colon, second);
            self.at += 1;
            return;
        }
        let next = self.word_at(self.at + 1);
        if self.is_name_at(self.at + 1) || next == Word::Operator {
            return self.name();
        }
        // `::new`, `::delete`
        self.enter_expr();
        self.take(Kind::ColonColon);
    }

    fn pragma(&mut self, token: Token) {
        let in_block = self.top().kind == ContextKind::Block;
        let at_start = self.top().mode == Mode::Start;
        let here = match token.kind {
            TokenKind::PragmaEnd => in_block,
            TokenKind::PragmaCdp => at_start && (in_block || self.top().is_file_like()),
            _ => at_start && in_block,
        };
        let end = match token.kind {
            TokenKind::PragmaUnroll => {
                let rest = &self.input[self.at..];
                rest.iter()
                    .position(|token| token.kind == TokenKind::PragmaEnd)
                    .map_or(0, |end| self.at + end)
            }
            _ => self.at,
        };
        let dangling = matches!(self.kind_at(end + 1), Some(TokenKind::RBrace) | None);
        if !here || end < self.at || (in_block && dangling) {
            self.at = end.max(self.at) + 1;
            return;
        }
        match token.kind {
            TokenKind::PragmaUnroll => {
                self.take(Kind::Unroll);
                self.top().mode = Mode::Expr;
            }
            TokenKind::PragmaNoUnroll => self.take(Kind::NoUnroll),
            TokenKind::PragmaCdp => {
                self.take(Kind::PragmaCdp);
                if self.top().is_file_like() {
                    self.next_item();
                }
            }
            _ => {
                self.take(Kind::PragmaEnd);
                self.top().mode = Mode::Start;
            }
        }
    }

    fn word(&mut self, token: Token) {
        if matches!(self.last_kind(), Some(Kind::Dot | Kind::Arrow)) {
            return self.member_name();
        }
        match self.words.get(token.symbol) {
            Word::Name => self.name(),
            Word::Plain(kind) => self.plain(kind),
            Word::Spelled(kind) => {
                self.enter_expr();
                self.take(kind);
            }
            Word::Type => self.type_word(token),
            Word::Auto => {
                self.set_typed();
                self.top().auto = true;
                self.take(Kind::Auto);
            }
            Word::Storage => self.storage(token),
            Word::Typedef => {
                self.enter_specs();
                self.top().typedef = true;
                self.take(Kind::Storage);
            }
            Word::Qualifier => {
                self.enter_specs();
                self.take(Kind::Qualifier);
            }
            Word::Attribute => {
                self.enter_specs();
                let text = self.text(token.symbol);
                if matches!(
                    text,
                    "__global__" | "__device__" | "__host__" | "__forceinline__" | "__noinline__"
                ) {
                    self.top().function_like = true;
                }
                self.take(Kind::Attribute);
            }
            Word::AttributeCall => {
                self.enter_specs();
                self.take(Kind::AttributeCall);
            }
            Word::Alignas => {
                self.enter_specs();
                self.take(Kind::Alignas);
            }
            Word::GnuAttribute => self.gnu_attribute(),
            Word::Record => self.record_word(token),
            Word::Enum => {
                self.set_typed();
                self.top().tag = Some(TagState { is_enum: true, name: None });
                self.take(Kind::Enum);
                if self.word_at(self.at) == Word::Record {
                    self.take(Kind::Record);
                }
            }
            Word::Typeof => {
                let start = self.top().mode != Mode::Expr;
                if start {
                    self.set_typed();
                }
                self.take(Kind::Typeof);
            }
            Word::Using => self.using_word(),
            Word::Namespace => self.namespace_word(false),
            Word::StaticAssert => {
                self.enter_expr();
                self.take(Kind::StaticAssert);
            }
            Word::Head(kind) => {
                self.take(kind);
                if kind == Kind::If && self.is_text(self.at, "constexpr") {
                    self.take(Kind::IfConstexpr);
                }
            }
            Word::For => self.take(Kind::For),
            Word::Before(kind) => {
                self.take(kind);
                self.top().mode = Mode::Start;
            }
            Word::Return => {
                self.take(Kind::Return);
                self.top().mode = Mode::Expr;
            }
            Word::Goto => self.goto_word(token),
            Word::Case | Word::Default => {
                let kind =
                    if self.word_at(self.at) == Word::Case { Kind::Case } else { Kind::Default };
                if kind == Kind::Default && self.top().mode != Mode::Start {
                    // `= default` of a special member function ends up refused with it.
                    self.take(kind);
                    return;
                }
                self.take(kind);
                let top = self.top();
                top.mode = Mode::Expr;
                top.label = true;
            }
            Word::Asm => self.asm_word(token),
            Word::Operator => self.name(),
            Word::New => {
                self.enter_expr();
                self.take(Kind::New);
                self.top().new_type = true;
            }
            Word::NamedCast => {
                self.enter_expr();
                self.take(Kind::NamedCast);
            }
            Word::Skip => self.at += 1,
            Word::Refused(refusal) => self.refused_word(refusal, token),
        }
    }

    /// `goto name;`
    fn goto_word(&mut self, token: Token) {
        if self.kind_at(self.at + 1) == Some(TokenKind::Star) {
            let found = Diagnostic::new(
                Code::E0228,
                token.span,
                "a computed `goto` is outside the `.cdp` subset",
            );
            self.diagnostics.push(found.help("use a `switch` in a loop"));
            return self.drop_item();
        }
        self.take(Kind::Goto);
        self.top().mode = Mode::Expr;
        if self.is_name_at(self.at) {
            self.take(Kind::Identifier);
        }
    }

    pub fn is_text(&self, index: usize, text: &str) -> bool {
        self.input.get(index).is_some_and(|token| self.text(token.symbol) == text)
    }

    fn plain(&mut self, kind: Kind) {
        match kind {
            Kind::Noexcept if self.refuse_noexcept_operator() => {}
            Kind::Noexcept => {
                self.take(kind);
                if self.kind_at(self.at) == Some(TokenKind::LParen) {
                    self.skip_group();
                }
            }
            Kind::Break | Kind::Continue => {
                self.take(kind);
                self.top().mode = Mode::Expr;
            }
            _ => {
                self.enter_expr();
                self.take(kind);
            }
        }
    }

    /// Passes the group that begins at the current token.
    pub fn skip_group(&mut self) {
        let end = self.partner.get(self.at).copied().unwrap_or(u32::MAX);
        self.at = if end == u32::MAX { self.at + 1 } else { end as usize + 1 };
    }

    /// The index after the group that begins at `index`, or after the token there.
    pub fn group_end(&self, index: usize) -> usize {
        match self.partner.get(index).copied() {
            Some(end) if end != u32::MAX && end as usize > index => end as usize + 1,
            _ => index + 1,
        }
    }

    fn storage(&mut self, token: Token) {
        let next = self.peek(1);
        let is_extern = self.is_text(self.at, "extern");
        let file_like = self.top().is_file_like();
        let at_start = self.top().mode == Mode::Start;
        if is_extern
            && at_start
            && file_like
            && let Some(language) = next.filter(|next| next.kind == TokenKind::String)
        {
            return self.linkage(token, language);
        }
        if at_start && file_like && self.word_at(self.at + 1) == Word::Namespace {
            self.at += 1;
            return self.namespace_word(true);
        }
        if self.top().kind == ContextKind::Record && self.is_text(self.at, "static") {
            let message = "static members are outside the `.cdp` subset";
            self.refuse(Code::E0239, token.span, message);
            return self.drop_item();
        }
        self.enter_specs();
        self.take(Kind::Storage);
    }

    /// `extern "C"`
    fn linkage(&mut self, token: Token, language: Token) {
        let tok = Tok {
            kind: Kind::String,
            line_start: false,
            symbol: language.symbol,
            span: language.span,
        };
        self.at += 2;
        let braces = self.kind_at(self.at) == Some(TokenKind::LBrace);
        self.end_unit();
        self.units.push(Unit::OpenLinkage { language: tok, braces, span: token.span });
        if braces {
            self.at += 1;
            let context = Context::new(ContextKind::Linkage, Mode::Start, self.out.len());
            self.contexts.push(context);
        }
    }

    fn asm_word(&mut self, token: Token) {
        let top = self.top();
        if top.kind == ContextKind::Block && top.mode == Mode::Start {
            self.take(Kind::Asm);
            self.top().mode = Mode::Expr;
        } else if top.mode == Mode::Start && top.is_file_like() {
            self.refuse(Code::E0241, token.span, "file-scope `asm` is outside the `.cdp` subset");
            self.drop_item();
        } else {
            let message = "naming a symbol with `asm` is outside the `.cdp` subset";
            self.refuse(Code::E0241, token.span, message);
            self.at += 1;
            if self.kind_at(self.at) == Some(TokenKind::LParen) {
                self.skip_group();
            }
        }
    }

    /// Whether the parentheses of a `for` hold `declaration : range`, perhaps after `init;`.
    pub fn is_range_for(&self, open: usize) -> bool {
        let mut at = open + 1;
        let end = self.group_end(open) - 1;
        let (mut questions, mut semicolons) = (0, 0);
        while at < end {
            match self.input[at].kind {
                TokenKind::Semi => semicolons += 1,
                TokenKind::Question => questions += 1,
                TokenKind::Colon if questions == 0 => return semicolons < 2,
                TokenKind::Colon => questions -= 1,
                _ => {}
            }
            at = self.group_end(at);
        }
        false
    }

    /// Passes one statement of any kind.
    pub fn skip_statement(&mut self) {
        while let Some(token) = self.peek(0) {
            match token.kind {
                TokenKind::Semi => {
                    self.at += 1;
                    return;
                }
                TokenKind::LBrace => {
                    self.skip_group();
                    return;
                }
                TokenKind::RBrace => return,
                _ => self.at = self.group_end(self.at),
            }
        }
    }
}

/// The terminal for an operator or punctuator.
pub(super) fn operator_kind(kind: TokenKind) -> Kind {
    use TokenKind as T;
    match kind {
        T::Arrow => Kind::Arrow,
        T::Tilde => Kind::Tilde,
        T::Bang => Kind::Bang,
        T::Plus => Kind::Plus,
        T::Minus => Kind::Minus,
        T::Star => Kind::Star,
        T::Amp => Kind::Amp,
        T::AndAnd => Kind::AndAnd,
        T::PlusPlus => Kind::PlusPlus,
        T::MinusMinus => Kind::MinusMinus,
        T::Lt => Kind::Lt,
        T::Gt => Kind::Gt,
        T::Eq => Kind::Assign,
        T::LaunchOpen => Kind::LaunchOpen,
        T::LaunchClose => Kind::LaunchClose,
        T::PlusEq
        | T::MinusEq
        | T::StarEq
        | T::SlashEq
        | T::PercentEq
        | T::CaretEq
        | T::AmpEq
        | T::PipeEq
        | T::ShlEq
        | T::ShrEq => Kind::OpAssign,
        _ => Kind::Binary,
    }
}
