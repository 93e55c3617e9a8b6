//! Expressions with operators, by precedence climbing.

use super::*;

impl Parser<'_> {
    /// A node, or an error node where the tree would become too deep to walk.
    pub fn expr_at(&mut self, kind: impl Into<ExprKind>, span: Span) -> Expr {
        let kind = kind.into();
        let depth = 1 + kind.depth();
        if depth > MAX_DEPTH {
            self.too_deep("an expression is", span);
            return Expr { kind: ExprKind::Error, span, depth: 1 };
        }
        Expr { kind, span, depth }
    }

    /// A node from `start` to the last token that was passed.
    pub fn expr(&mut self, kind: impl Into<ExprKind>, start: usize) -> Expr {
        let span = self.since(start);
        self.expr_at(kind, span)
    }

    /// The expression between the brackets that begin here; an error in its place if it is wrong.
    pub fn expression_inside(&mut self, wanted: &str) -> Expr {
        let start = self.at;
        let inner = self.group(wanted, Self::expression);
        inner.unwrap_or_else(|_| self.error_expr(start))
    }

    /// What stands for something that was reported.
    pub fn error_expr(&self, start: usize) -> Expr {
        Expr { kind: ExprKind::Error, span: self.since(start), depth: 1 }
    }

    // expression = assignment { "," assignment }
    pub fn expression(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let mut lhs = self.assignment()?;
        while self.is(T::Comma) {
            self.at += 1;
            let rhs = self.assignment()?;
            lhs = self.expr(ExprKind::Comma(Box::new([lhs, rhs])), start);
        }
        Ok(lhs)
    }

    // assignment = binary [ "?" [ expression ] ":" assignment ]
    //            | binary assignment-operator initialiser-clause
    pub fn assignment(&mut self) -> Parsed<Expr> {
        self.nested("an expression is", |p| {
            let start = p.at;
            let lhs = p.binary(1)?;
            let Some(kind) = p.kind() else { return Ok(lhs) };
            if kind == T::Question {
                return p.conditional(lhs, start);
            }
            let op = BinaryOp::assigned_by(kind);
            if op.is_none() && kind != T::Eq {
                return Ok(lhs);
            }
            let (op_span, rhs) = (p.pass(), p.initialiser_clause()?);
            Ok(p.expr(AssignExpr { op, op_span, lhs, rhs }, start))
        })
    }

    fn conditional(&mut self, condition: Expr, start: usize) -> Parsed<Expr> {
        let question_span = self.pass();
        let then = self.unless(T::Colon, Self::expression)?;
        self.expect(T::Colon, "`:` or `,`")?;
        let otherwise = self.assignment()?;
        Ok(self.expr(ConditionalExpr { condition, question_span, then, otherwise }, start))
    }

    /// `binary = cast { binary-operator cast }`, with operators that bind at least as tightly as
    /// `level`.
    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        let mut lhs = self.cast()?;
        while let Some((op, own)) = self.kind().and_then(BinaryOp::of)
            && own >= level
        {
            let (op_span, rhs) = (self.pass(), self.binary(own + 1)?);
            let span = self.session.sources.join(lhs.span, rhs.span);
            lhs = self.expr_at(BinaryExpr { op, op_span, lhs, rhs }, span);
        }
        Ok(lhs)
    }

    // cast = "(" type-name ")" cast | prefix-operator cast | size | [ "::" ] ( new | delete ) | postfix
    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            // The type of `(unknown)x` is reported where it is read.
            Some(T::LParen) if self.is_type_name_at(start + 1) || self.is_unknown_cast(start) => {
                return self.c_cast();
            }
            // A record has no `new` of its own that `::` would pass by.
            Some(T::ColonColon) if matches!(self.word_at(start + 1), Word::New | Word::Delete) => {
                self.at += 1;
                return self.cast();
            }
            Some(T::Ident) => match self.word() {
                Word::Sizeof | Word::Alignof => self.size_of()?,
                Word::New => self.new_expression()?,
                Word::Delete => self.delete_expression()?,
                _ => return self.postfix(),
            },
            kind => {
                let Some((op, _)) = kind.and_then(UnaryOp::of) else { return self.postfix() };
                let (op_span, operand) = (self.pass(), self.operand_of()?);
                UnaryExpr { op, op_span, operand }.into()
            }
        };
        Ok(self.expr(kind, start))
    }

    /// What a prefix operator or a cast is applied to.
    fn operand_of(&mut self) -> Parsed<Expr> {
        self.nested("an expression is", Self::cast)
    }

    // "(" type-name ")" ( cast | braces )
    fn c_cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let ty = self.group("`)`", Self::type_name)?;
        if self.is(T::LBrace) {
            let init = self.braces();
            let literal = self.expr(CompoundLiteral { ty, init }, start);
            return self.suffixes(literal, start);
        }
        let operand = self.operand_of()?;
        Ok(self.expr(CastExpr { style: CastStyle::C, ty, operand }, start))
    }

    // size = ( "sizeof" | "alignof" ) ( "(" type-name ")" | cast )
    fn size_of(&mut self) -> Parsed<ExprKind> {
        let size = self.word() == Word::Sizeof;
        self.at += 1;
        let is_type = self.is(T::LParen)
            && (self.is_type_name_at(self.at + 1) || self.is_unknown_cast(self.at));
        // `sizeof (T){...}` is that of a compound literal.
        Ok(if is_type && self.kind_at(self.group_end(self.at)) != Some(T::LBrace) {
            let ty = Box::new(self.group("`)`", Self::type_name)?);
            if size { ExprKind::SizeofType(ty) } else { ExprKind::AlignofType(ty) }
        } else {
            let operand = Box::new(self.operand_of()?);
            if size { ExprKind::SizeofExpr(operand) } else { ExprKind::AlignofExpr(operand) }
        })
    }

    // delete = "delete" [ "[" "]" ] cast
    fn delete_expression(&mut self) -> Parsed<ExprKind> {
        self.at += 1;
        let array = self.is(T::LBracket) && self.kind_at(self.at + 1) == Some(T::RBracket);
        self.at += 2 * usize::from(array);
        let operand = Box::new(self.operand_of()?);
        Ok(ExprKind::Delete { array, operand })
    }

    // new      = "new" [ "(" clauses ")" ] new-type [ "(" [ clauses ] ")" | braces ]
    // new-type = { qualifier | type-word | name | "struct" name } { pointer } { "[" expression "]" }
    //          | "(" type-name ")"
    fn new_expression(&mut self) -> Parsed<ExprKind> {
        self.at += 1;
        let mut placement = Vec::new();
        if self.is(T::LParen) && !self.is_type_name_at(self.at + 1) {
            placement = self.arguments();
        }
        let ty = match self.is(T::LParen) {
            true => self.group("`)`", Self::type_name)?,
            false => self.new_type()?,
        };
        let at = self.at;
        let kind = match self.kind() {
            Some(T::LParen) => Some(InitializerKind::Paren(self.arguments())),
            Some(T::LBrace) => Some(InitializerKind::Brace(self.braces())),
            _ => None,
        };
        let init = kind.map(|kind| Initializer { kind, span: self.since(at) });
        Ok(NewExpr { placement, ty, init }.into())
    }

    fn new_type(&mut self) -> Parsed<TypeName> {
        let start = self.at;
        let mut ty = self.bare_type()?;
        let (middle, (pointers, attrs)) = (self.at, self.pointers()?);
        let mut parts = Vec::new();
        while self.is(T::LBracket) {
            let at = self.at;
            let size = Some(self.group("`]`", Self::expression)?);
            parts.push(DeclaratorPart::Array { size, span: self.since(at) });
        }
        parts.extend(pointers);
        ty.declarator = Declarator { name: None, parts, attrs, span: self.since(middle) };
        Ok(TypeName { span: self.since(start), ..ty })
    }
}
