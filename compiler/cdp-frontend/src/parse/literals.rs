//! Literals. Their text is evaluated by `crate::literal`.

use super::*;

impl Parser<'_> {
    fn literal_error(&mut self, at: usize, error: literal::LiteralError, code: Code) -> Expr {
        let (whole, text) = (self.span_at(at), self.text_at(at));
        let mut span = whole;
        // A token that was spliced or pasted has no place for a part of it.
        if whole.hi.saturating_sub(whole.lo) as usize == text.len() {
            span.lo = whole.lo + error.range.start as u32;
            span.hi = whole.lo + error.range.end as u32;
        }
        if error.user_suffix {
            let what = format!("user-defined literals (`{}`) are", &text[error.range]);
            self.outside(Code::E0233, span, &what, "");
        } else {
            self.error(code, span, error.message);
        }
        Expr { kind: ExprKind::Error, span: whole, depth: 1 }
    }

    pub fn number(&mut self) -> Expr {
        let at = self.at;
        self.at += 1;
        match literal::number(self.text_at(at)) {
            Ok(literal::Number::Int(value)) => self.expr(ExprKind::Int(value), at),
            Ok(literal::Number::Float(value)) => self.expr(ExprKind::Float(value), at),
            Err(error) => self.literal_error(at, error, Code::E0104),
        }
    }

    pub fn character(&mut self) -> Expr {
        let at = self.at;
        self.at += 1;
        let result = literal::character(self.text_at(at));
        self.refuse_suffix();
        match result {
            Ok(value) => {
                if value.multi {
                    let message = "a character constant with several characters has an implementation-defined value";
                    self.error(Code::W0153, self.span_at(at), message);
                }
                let span = self.span_at(at);
                self.expr_at(ExprKind::Char(value), span)
            }
            Err(error) => self.literal_error(at, error, Code::E0105),
        }
    }

    pub fn is_string(&self) -> bool {
        matches!(self.kind(), Some(T::String | T::RawString))
    }

    /// A string that must be here.
    pub fn required_string(&mut self) -> Parsed<StringLit> {
        if self.is_string() { Ok(self.string()) } else { Err(self.expected("a string")) }
    }

    /// `string = literal { literal }`, joined. A piece without a prefix takes that of its neighbours.
    pub fn string(&mut self) -> StringLit {
        let start = self.at;
        let (mut encoding, mut decided) = (Encoding::Plain, start);
        while self.is_string() {
            let (own, _) = literal::encoding(self.text_at(self.at));
            if own != Encoding::Plain && encoding != Encoding::Plain && own != encoding {
                let message = "strings with different prefixes cannot stand side by side";
                let other = self.span_at(decided);
                self.error(Code::E0208, self.span_at(self.at), message)
                    .secondary(other, "the other prefix");
            } else if own != Encoding::Plain {
                (encoding, decided) = (own, self.at);
            }
            self.at += 1;
        }
        let mut units = Vec::new();
        for at in start..self.at {
            if let Err(error) = literal::string(self.text_at(at), encoding, &mut units) {
                self.literal_error(at, error, Code::E0105);
            }
        }
        let span = self.since(start);
        self.refuse_suffix();
        StringLit { encoding, units, span }
    }

    /// `"text"_suffix`, after the literal.
    fn refuse_suffix(&mut self) {
        let span = self.span_at(self.at);
        let joined = self.is(T::Ident)
            && !self.tokens.flags(self.at).spaced()
            && span.lo == self.span_at(self.at - 1).hi
            && self.text_at(self.at).starts_with('_');
        if joined {
            let text = self.text_at(self.at);
            self.outside(Code::E0233, span, &format!("user-defined literals (`{text}`) are"), "");
            self.at += 1;
        }
    }
}
