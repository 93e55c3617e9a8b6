//! What the subset leaves out, where several productions meet it. Each construct is named and passed as
//! a whole; what only one production meets is refused there.

use super::*;

impl Parser<'_> {
    /// The error of a construct outside the subset: `what` it is, with its verb, and what to write instead,
    /// unless that is empty.
    pub fn outside(&mut self, code: Code, span: Span, what: &str, cure: &str) -> Fault {
        let valid = matches!(code, Code::E0239 | Code::E0240);
        self.error(code, span, format!("{what} outside the `.cdp` subset"))
            .help(cure)
            .help(if valid { NAME_IT_CU } else { "" });
        Fault::Refused
    }

    /// The same of a construct that begins here.
    pub fn refuse(&mut self, code: Code, what: &str, cure: &str) -> Fault {
        self.outside(code, self.span_at(self.at), what, cure)
    }

    /// A word of C++ outside the subset, and what its kind says is passed with it.
    pub fn refuse_word(&mut self, refusal: Refusal) -> Parsed<()> {
        if refusal == Refusal::Template {
            self.refuse_template();
            return Ok(());
        }
        let (code, what, cure, passed) = refusal.report();
        let what = what.replace("WORD", &format!("`{}`", self.text_at(self.at)));
        let fault = self.refuse(code, &what, cure);
        match passed {
            Passed::Alone => self.at += 1,
            Passed::Operand => {
                self.at += 1;
                self.skip_angles();
                self.skip_parentheses();
            }
            Passed::Expression => {
                let ends = |kind| matches!(kind, T::Semi | T::Comma | T::Colon);
                self.at = self.find(self.at, ends);
            }
            Passed::Item => return Err(fault),
        }
        if refusal == Refusal::Access {
            self.eat(T::Colon);
        }
        Ok(())
    }

    fn skip_angles(&mut self) {
        if self.is(T::Lt) {
            self.at = self.angles_end(self.at).unwrap_or(self.at + 1);
        }
    }

    /// A template declaration, passed as a whole. Its name is remembered, so that uses with `<...>`
    /// are refused by name too.
    pub fn refuse_template(&mut self) -> DeclKind {
        let (code, what, cure, _) = Refusal::Template.report();
        self.refuse(code, what, cure);
        self.at += 1;
        self.skip_angles();
        let head = self.at;
        self.skip_item();
        if let Some(name) = self.name_declared_in(head, self.at) {
            self.symbols.set(self.symbol_at(name), Meaning::Template);
            self.lost.insert(self.symbol_at(name));
        }
        DeclKind::Error
    }

    /// `name "<" arguments ">"` of a template that is none of CUDA's, passed.
    pub fn refuse_template_use(&mut self, path: &Path, end: usize) {
        let (name, span) = (self.text_at(path.last), self.span(path.start, end));
        if path.in_std {
            self.refuse_std(path, span);
        } else {
            self.outside(Code::E0220, span, &format!("templates (`{name}<...>`) are"), "");
        }
        self.at = end;
    }

    /// A type of the C++ standard library.
    pub fn refuse_std(&mut self, path: &Path, span: Span) {
        let name = self.text_at(path.last);
        let what = format!("`std::{name}` is part of the C++ standard library, which is");
        let cure = declaring_type(name)
            .map(|header| format!("include `<{header}>` and leave out `std::`"));
        self.outside(Code::E0243, span, &what, &cure.unwrap_or_default());
    }

    /// Notes the name of the declaration that began at `start`, has been passed and is not in the tree.
    pub fn lose(&mut self, start: usize) {
        let name = self.name_declared_in(start, self.at);
        self.lost.extend(name.map(|name| self.symbol_at(name)));
    }

    /// The name that the declaration in `start..end` declares: after `struct`, or before the first
    /// parenthesis, `=` or `;`.
    fn name_declared_in(&self, start: usize, end: usize) -> Option<usize> {
        let (mut last_name, mut at) = (None, start);
        while at < end {
            match (self.kind_at(at)?, self.word_at(at)) {
                (T::Ident, Word::Record) => return self.is_name_at(at + 1).then_some(at + 1),
                // The parentheses of `__launch_bounds__(...)` are not the parameters.
                (T::Ident, Word::AttributeCall | Word::GnuAttribute | Word::Alignas) => at += 1,
                (T::Ident, Word::Name) => last_name = Some(at),
                (T::LParen | T::Eq | T::Semi | T::LBrace, _) => return last_name,
                _ => {}
            }
            at = self.group_end(at);
        }
        last_name
    }

    /// `[captures](parameters) { }`, passed.
    pub fn refuse_lambda(&mut self) -> Expr {
        let start = self.at;
        let captures = self.group_end(start);
        let span = self.span(start, captures);
        let cure = "write a `__device__` function, and pass what it captures as arguments";
        self.outside(Code::E0221, span, "lambda expressions are", cure);
        self.at = self.find(captures, |kind| matches!(kind, T::LBrace | T::Semi));
        if self.is(T::LBrace) {
            self.at = self.group_end(self.at);
        }
        Expr { kind: ExprKind::Error, span, depth: 1 }
    }

    /// `.*`, `->*` and `<=>`, which are read as the operators most like them.
    pub fn refuse_operator(&mut self) {
        let (code, what) = match self.kind() {
            Some(T::DotStar | T::ArrowStar) => (Code::E0237, "pointers to members are"),
            Some(T::Spaceship) => (Code::E0240, "the three-way comparison `<=>` is"),
            _ => return,
        };
        self.refuse(code, what, "");
    }

    /// `T::*` and `T::~T`; passed up to the `*` or `~`.
    pub fn refuse_odd_scope(&mut self, path: &Path) {
        let span = self.span_at(path.last);
        self.at = path.end + 1;
        match self.kind() {
            Some(T::Star) => _ = self.outside(Code::E0237, span, "pointers to members are", ""),
            Some(T::Tilde) => _ = self.outside(Code::E0223, span, "destructors are", ""),
            _ => _ = self.error(Code::E0201, span, "expected a name after `::`"),
        }
    }

    /// `S(` in the record `S`.
    pub fn refuse_constructor(&mut self, path: &Path) -> Parsed<()> {
        let own = self.record == Some(self.symbol_at(path.start));
        if !own || self.kind_at(path.end) != Some(T::LParen) {
            return Ok(());
        }
        let name = self.text_at(path.start);
        let cure = format!(
            "fill the members with an initialiser, `{name} x = {{ ... }};`, or write a function that returns one"
        );
        let what = format!("constructors (of `{name}`) are");
        Err(self.outside(Code::E0223, self.span_at(path.start), &what, &cure))
    }

    /// `= delete;` and `= default;` after parameters.
    pub fn refuse_special_function(&mut self) -> Parsed<()> {
        let next = self.at + 1;
        let word = ["delete", "default"].into_iter().find(|word| self.is_text(next, word));
        let Some(word) = word.filter(|_| self.is(T::Eq)) else { return Ok(()) };
        let what = format!("functions with `= {word}` are");
        let span = self.span(self.at, next + 1);
        Err(self.outside(Code::E0239, span, &what, "leave the declaration out"))
    }

    /// `auto [a, b] = ...`, after the specifiers. The names are lost.
    pub fn refuse_bindings(&mut self) -> Parsed<()> {
        let reference = matches!(self.kind(), Some(T::Amp | T::AndAnd));
        let open = self.at + usize::from(reference);
        if self.kind_at(open) != Some(T::LBracket) || self.kind_at(open + 1) == Some(T::LBracket) {
            return Ok(());
        }
        for at in open..self.group_end(open) {
            self.lost.extend(self.is_name_at(at).then(|| self.symbol_at(at)));
        }
        let cure = "give the object a name, and use its members";
        Err(self.outside(Code::E0232, self.span_at(open), "structured bindings are", cure))
    }

    /// `using enum E;`, and `using Base::member;` in a record.
    pub fn refuse_using(&mut self, context: Context) -> Parsed<()> {
        let (what, cure) = if self.word() == Word::Enum {
            ("`using enum` is", "write the enumerators with the enumeration's name before `::`")
        } else if context == Context::Member {
            ("using-declarations of members are", "declare the member here")
        } else {
            return Ok(());
        };
        Err(self.outside(Code::E0239, self.span_at(self.at - 1), what, cure))
    }
}
