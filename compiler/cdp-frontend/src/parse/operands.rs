//! Operands: names, literals, parentheses, constructions, and what is written behind them.

use super::*;

impl Parser<'_> {
    /// Whether an expression can begin here.
    pub fn begins_expression(&self) -> bool {
        match self.kind() {
            Some(T::Ident) => !self.word().begins_statement(),
            Some(T::Number | T::Char | T::String | T::RawString) => true,
            Some(T::LParen | T::LBracket | T::ColonColon | T::AndAnd) => true,
            Some(kind) => UnaryOp::of(kind).is_some(),
            None => false,
        }
    }

    // postfix = operand { suffix }
    pub fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let operand = self.operand()?;
        self.suffixes(operand, start)
    }

    // suffix = "[" expression "]" | "(" [ clauses ] ")" | "." name | "->" name | "++" | "--"
    //        | launch
    pub fn suffixes(&mut self, mut base: Expr, start: usize) -> Parsed<Expr> {
        loop {
            let at = self.at;
            let op_span = self.span_at(at);
            let kind = match self.kind() {
                Some(T::LBracket) => {
                    let index = self.expression_inside("`,` or `]`");
                    ExprKind::Index(Box::new([base, index]))
                }
                Some(T::LParen) => {
                    let args = self.arguments();
                    CallExpr { callee: base, args, args_span: self.since(at) }.into()
                }
                Some(T::Dot | T::Arrow) => {
                    self.at += 1;
                    let arrow = self.kind_at(at) == Some(T::Arrow);
                    MemberExpr { base, arrow, op_span, member: self.member_name()? }.into()
                }
                Some(kind @ (T::PlusPlus | T::MinusMinus)) => {
                    self.at += 1;
                    let op = if kind == T::PlusPlus { PostfixOp::Inc } else { PostfixOp::Dec };
                    PostfixExpr { op, op_span, operand: base }.into()
                }
                Some(T::LaunchOpen) => self.launch(base)?,
                _ => return Ok(base),
            };
            base = self.expr(kind, start);
        }
    }

    /// A member's name, which may be any word.
    pub fn member_name(&mut self) -> Parsed<Ident> {
        if !self.is(T::Ident) {
            return Err(self.expected("a name"));
        }
        self.at += 1;
        Ok(self.ident_at(self.at - 1))
    }

    // launch = "<<<" [ clauses ] ">>>" "(" [ clauses ] ")"
    fn launch(&mut self, kernel: Expr) -> Parsed<ExprKind> {
        let open = self.at;
        self.at += 1;
        if let Some(shift) = self.shift_in_place_of_close() {
            let (span, found) = (self.span_at(shift), self.span_at(open));
            self.error(Code::E0201, span, "expected `>>>`, found `>>`")
                .secondary(found, "the `<<<` that it ends")
                .suggest("write", span, ">>>");
            return Err(Fault::Syntax);
        }
        self.launches.push(open);
        let config = self
            .list_before(T::LaunchClose, Self::initialiser_clause)
            .and_then(|config| self.expect(T::LaunchClose, "`,` or `>>>`").map(|()| config));
        self.launches.pop();
        let (config, config_span) = (config?, self.since(open));
        if !self.is(T::LParen) {
            let found = self.found();
            let message =
                format!("expected `(` and the kernel's arguments after `>>>`, found {found}");
            self.error(Code::E0201, self.behind(), message).help("a kernel without parameters is launched with empty parentheses: `kernel<<<grid, block>>>()`");
            return Err(Fault::Syntax);
        }
        let (at, args) = (self.at, self.arguments());
        Ok(LaunchExpr { kernel, config, config_span, args, args_span: self.since(at) }.into())
    }

    /// The `>>` before a `(` that stands where the `>>>` of the open launch is missing.
    fn shift_in_place_of_close(&self) -> Option<usize> {
        let end = self.find(self.at, |kind| matches!(kind, T::LaunchClose | T::Semi));
        let is_one = |at: &usize| {
            [*at, at + 1].map(|at| self.kind_at(at)) == [Some(T::Shr), Some(T::LParen)]
        };
        (self.at..end).rev().find(is_one).filter(|_| self.kind_at(end) != Some(T::LaunchClose))
    }

    /// `"(" [ clauses ] ")"`, `clauses = initialiser-clause { "," initialiser-clause }`; one error in the place of all if
    /// one is wrong.
    pub fn arguments(&mut self) -> Vec<Expr> {
        let start = self.at;
        let clauses = |p: &mut Self| p.list_before(T::RParen, Self::initialiser_clause);
        let result = self.group("`,` or `)`", clauses);
        result.unwrap_or_else(|_| vec![self.error_expr(start)])
    }

    // operand = path | template "<" type-name { "," type-name } ">" | literal | "(" expression ")"
    //         | construction | named-cast | offset-of | va-arg
    fn operand(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            Some(T::Ident) => self.word_operand(start)?,
            Some(T::ColonColon) if self.is_name_at(start + 1) => self.name_operand()?,
            Some(T::Number) => return Ok(self.number()),
            Some(T::Char) => return Ok(self.character()),
            Some(T::String | T::RawString) => self.string().into(),
            Some(T::LParen) => ExprKind::Paren(Box::new(self.expression_inside("`,` or `)`"))),
            Some(T::LBracket) if self.is_lambda() => {
                let cure = "write a `__device__` function, and pass what it captures as arguments";
                return Err(self.refuse(Code::E0221, "lambda expressions are", cure));
            }
            _ => return Err(self.unexpected(Code::E0207, "an expression")),
        };
        Ok(self.expr(kind, start))
    }

    fn word_operand(&mut self, start: usize) -> Parsed<ExprKind> {
        use Word::{Bool, NamedCast, Nullptr, Offsetof, VaArg};
        let word = self.word();
        let passed = matches!(word, Bool | NamedCast | Nullptr | Offsetof | VaArg);
        self.at += usize::from(passed);
        match word {
            Bool => Ok(ExprKind::Bool(self.is_text(start, "true"))),
            Nullptr => Ok(ExprKind::Nullptr),
            NamedCast => self.named_cast(start),
            Offsetof => self.offset_of(),
            VaArg => self.va_arg(),
            Word::Name => self.name_operand(),
            Word::Type | Word::Typeof => self.construction(),
            _ => Err(self.unexpected(Code::E0207, "an expression")),
        }
    }

    fn name_operand(&mut self) -> Parsed<ExprKind> {
        let path = self.path(self.at);
        match path.meaning {
            Some(Meaning::Type(_)) => return self.construction(),
            Some(Meaning::CudaTemplate) if self.kind_at(path.end) == Some(T::Lt) => {
                let name = self.qual_name(&path)?;
                self.at += 1;
                let types = self.list(Self::type_name)?;
                self.expect(T::Gt, "`,` or `>`")?;
                return Ok(TemplateName { name, types }.into());
            }
            _ => {}
        }
        if let Some(end) = self.template_arguments(&path) {
            self.refuse_template_use(&path, end);
            return Ok(ExprKind::Error);
        }
        let name = self.qual_name(&path)?;
        Ok(match name.as_plain() {
            Some(plain) if name.operator.is_none() => ExprKind::Name(plain),
            _ => name.into(),
        })
    }

    // construction = simple-type ( "(" [ clauses ] ")" | braces )
    fn construction(&mut self) -> Parsed<ExprKind> {
        let start = self.at;
        let next = self.simple_type_end(start).and_then(|end| self.kind_at(end));
        if !matches!(next, Some(T::LParen | T::LBrace)) {
            return Err(self.unexpected(Code::E0207, "an expression"));
        }
        let ty = self.bare_type()?;
        let (at, braces) = (self.at, self.is(T::LBrace));
        let args = if braces { vec![self.initialiser_clause()?] } else { self.arguments() };
        Ok(ConstructExpr { ty, args, braces, args_span: self.since(at) }.into())
    }

    // named-cast = word "<" type-name ">" "(" expression ")"
    fn named_cast(&mut self, word: usize) -> Parsed<ExprKind> {
        let style = match self.text_at(word) {
            "static_cast" => CastStyle::Static,
            "const_cast" => CastStyle::Const,
            _ => CastStyle::Reinterpret,
        };
        self.expect(T::Lt, "`<`")?;
        let ty = self.type_name()?;
        self.expect(T::Gt, "`>`")?;
        if !self.is(T::LParen) {
            return Err(self.expected("`(`"));
        }
        Ok(CastExpr { style, ty, operand: self.expression_inside("`,` or `)`") }.into())
    }

    // offset-of = "__builtin_offsetof" "(" type-name "," name { designator } ")"
    fn offset_of(&mut self) -> Parsed<ExprKind> {
        self.parenthesised("`)`", |p| {
            let ty = p.type_name()?;
            p.expect(T::Comma, "`,`")?;
            let mut path = vec![Designator::Field(p.member_name()?)];
            while let Some(designator) = p.designator()? {
                path.push(designator);
            }
            Ok(OffsetofExpr { ty, path }.into())
        })
    }

    // va-arg = "__builtin_va_arg" "(" assignment "," type-name ")"
    fn va_arg(&mut self) -> Parsed<ExprKind> {
        self.parenthesised("`)`", |p| {
            let list = p.assignment()?;
            p.expect(T::Comma, "`,`")?;
            Ok(VaArgExpr { list, ty: p.type_name()? }.into())
        })
    }
}
