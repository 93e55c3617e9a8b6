//! Expressions with operators, by precedence climbing.

use super::lookahead::Path;
use super::parser::{Parsed, Parser};
use super::specifiers::Context;
use crate::ast::*;
use crate::diagnostics::Code;
use crate::lex::TokenKind as T;
use crate::source::Span;
use crate::words::Word;

/// The binary operators and how tightly each binds; all associate to the left.
pub(super) fn binary(kind: T) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        T::OrOr => (BinaryOp::LogOr, 1),
        T::AndAnd => (BinaryOp::LogAnd, 2),
        T::Pipe => (BinaryOp::BitOr, 3),
        T::Caret => (BinaryOp::BitXor, 4),
        T::Amp => (BinaryOp::BitAnd, 5),
        T::EqEq => (BinaryOp::Eq, 6),
        T::Ne => (BinaryOp::Ne, 6),
        // `<=>` is refused and read as `<`, and `.*` and `->*` as `*`.
        T::Lt | T::Spaceship => (BinaryOp::Lt, 7),
        T::Gt => (BinaryOp::Gt, 7),
        T::Le => (BinaryOp::Le, 7),
        T::Ge => (BinaryOp::Ge, 7),
        T::Shl => (BinaryOp::Shl, 8),
        T::Shr => (BinaryOp::Shr, 8),
        T::Plus => (BinaryOp::Add, 9),
        T::Minus => (BinaryOp::Sub, 9),
        T::Star | T::DotStar | T::ArrowStar => (BinaryOp::Mul, 10),
        T::Slash => (BinaryOp::Div, 10),
        T::Percent => (BinaryOp::Rem, 10),
        _ => return None,
    })
}

/// The assignment operators, with the operation of a compound one.
pub(super) fn assignment(kind: T) -> Option<Option<BinaryOp>> {
    Some(match kind {
        T::Eq => None,
        T::StarEq => Some(BinaryOp::Mul),
        T::SlashEq => Some(BinaryOp::Div),
        T::PercentEq => Some(BinaryOp::Rem),
        T::PlusEq => Some(BinaryOp::Add),
        T::MinusEq => Some(BinaryOp::Sub),
        T::ShlEq => Some(BinaryOp::Shl),
        T::ShrEq => Some(BinaryOp::Shr),
        T::AmpEq => Some(BinaryOp::BitAnd),
        T::CaretEq => Some(BinaryOp::BitXor),
        T::PipeEq => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

pub(super) fn prefix(kind: T) -> Option<UnaryOp> {
    Some(match kind {
        T::Star => UnaryOp::Deref,
        T::Amp => UnaryOp::AddrOf,
        T::Plus => UnaryOp::Plus,
        T::Minus => UnaryOp::Minus,
        T::Bang => UnaryOp::Not,
        T::Tilde => UnaryOp::BitNot,
        T::PlusPlus => UnaryOp::PreInc,
        T::MinusMinus => UnaryOp::PreDec,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A node, or an error node where the tree would become too deep to walk.
    pub fn expr_at(&mut self, kind: ExprKind, span: Span) -> Expr {
        let depth = 1 + kind.depth();
        if depth > MAX_DEPTH {
            self.too_deep("an expression is", span);
            return Expr { kind: ExprKind::Error, span, depth: 1 };
        }
        Expr { kind, span, depth }
    }

    /// A node from `start` to the last token that was passed.
    pub fn expr(&mut self, kind: ExprKind, start: usize) -> Expr {
        let span = self.since(start);
        self.expr_at(kind, span)
    }

    /// The expression between the brackets that begin here; an error in its place if it is wrong.
    pub fn expression_inside(&mut self, wanted: &str) -> Expr {
        let start = self.at;
        let inner = self.closed_group(wanted, Self::expression);
        inner.unwrap_or_else(|_| self.error_expr(start))
    }

    /// What stands for something that was reported.
    pub fn error_expr(&self, start: usize) -> Expr {
        Expr { kind: ExprKind::Error, span: self.since(start), depth: 1 }
    }

    /// `expression = assignment { "," assignment }`
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

    /// ```text
    /// assignment = binary [ "?" [ expression ] ":" assignment ]
    ///            | binary assignment-operator initialiser-clause
    /// ```
    pub fn assignment(&mut self) -> Parsed<Expr> {
        self.nested("an expression is", |p| {
            let start = p.at;
            let lhs = p.binary(1)?;
            let Some(kind) = p.kind() else { return Ok(lhs) };
            if kind == T::Question {
                return p.conditional(lhs, start);
            }
            let Some(op) = assignment(kind) else { return Ok(lhs) };
            let op_span = p.pass();
            let rhs = p.initialiser_clause()?;
            let parts = AssignExpr { op, op_span, lhs, rhs };
            Ok(p.expr(ExprKind::Assign(Box::new(parts)), start))
        })
    }

    fn conditional(&mut self, condition: Expr, start: usize) -> Parsed<Expr> {
        let question_span = self.pass();
        let then = self.unless(T::Colon, Self::expression)?;
        self.expect(T::Colon, "`:` or `,`")?;
        let otherwise = self.assignment()?;
        let parts = ConditionalExpr { condition, question_span, then, otherwise };
        Ok(self.expr(ExprKind::Conditional(Box::new(parts)), start))
    }

    /// `binary = cast { binary-operator cast }`, with operators that bind at least as tightly as
    /// `level`.
    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        let mut lhs = self.cast()?;
        while let Some((op, own)) = self.kind().and_then(binary)
            && own >= level
        {
            self.refuse_operator();
            let op_span = self.pass();
            let rhs = self.binary(own + 1)?;
            let span = self.session.sources.join(lhs.span, rhs.span);
            let parts = BinaryExpr { op, op_span, lhs, rhs };
            lhs = self.expr_at(ExprKind::Binary(Box::new(parts)), span);
        }
        Ok(lhs)
    }

    /// ```text
    /// cast = "(" type-name ")" cast | prefix-operator cast | "sizeof" ... | "alignof" ...
    ///      | [ "::" ] ( new | delete ) | postfix
    /// ```
    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let Some(kind) = self.kind() else { return self.postfix() };
        let kind = match kind {
            // The type of `(unknown)x` is reported where it is read.
            T::LParen if self.is_type_name_at(start + 1) || self.is_unknown_cast(start) => {
                return self.c_cast();
            }
            T::AndAnd if self.is_name_at(start + 1) => {
                self.refuse(Code::E0238, "addresses of labels are", "");
                self.at += 2;
                ExprKind::Error
            }
            // A record has no `new` of its own that `::` would pass by.
            T::ColonColon if matches!(self.word_at(start + 1), Word::New | Word::Delete) => {
                self.at += 1;
                return self.cast();
            }
            T::Ident => match self.word() {
                Word::Sizeof | Word::Alignof => self.size_of()?,
                Word::New => self.new_expression()?,
                Word::Delete => self.delete_expression()?,
                _ => return self.postfix(),
            },
            _ => {
                let Some(op) = prefix(kind) else { return self.postfix() };
                let op_span = self.pass();
                let operand = self.nested("an expression is", Self::cast)?;
                ExprKind::Unary(Box::new(UnaryExpr { op, op_span, operand }))
            }
        };
        Ok(self.expr(kind, start))
    }

    /// `"(" type-name ")" ( cast | braces )`
    fn c_cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let ty = self.group("`)`", Self::type_name)?;
        if self.is(T::LBrace) {
            let literal = CompoundLiteral { ty, init: self.braces()? };
            let literal = self.expr(ExprKind::CompoundLiteral(Box::new(literal)), start);
            return self.suffixes(literal, start);
        }
        let operand = self.nested("an expression is", Self::cast)?;
        let cast = CastExpr { style: CastStyle::C, ty, operand };
        Ok(self.expr(ExprKind::Cast(Box::new(cast)), start))
    }

    /// `( "sizeof" | "alignof" ) ( "(" type-name ")" | cast )`
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
            let operand = Box::new(self.nested("an expression is", Self::cast)?);
            if size { ExprKind::SizeofExpr(operand) } else { ExprKind::AlignofExpr(operand) }
        })
    }

    /// `delete = "delete" [ "[" "]" ] cast`
    fn delete_expression(&mut self) -> Parsed<ExprKind> {
        self.at += 1;
        let array = self.is(T::LBracket) && self.kind_at(self.at + 1) == Some(T::RBracket);
        if array {
            self.at += 2;
        }
        let operand = Box::new(self.nested("an expression is", Self::cast)?);
        Ok(ExprKind::Delete { array, operand })
    }

    /// ```text
    /// new      = "new" [ "(" clauses ")" ] new-type [ "(" [ clauses ] ")" | braces ]
    /// new-type = { qualifier | type-word | name | "struct" name } { pointer } { "[" expression "]" }
    ///          | "(" type-name ")"
    /// ```
    fn new_expression(&mut self) -> Parsed<ExprKind> {
        self.at += 1;
        let mut placement = Vec::new();
        if self.is(T::LParen) && !self.is_type_name_at(self.at + 1) {
            placement = self.arguments().0;
        }
        let ty = match self.is(T::LParen) {
            true => self.group("`)`", Self::type_name)?,
            false => self.new_type()?,
        };
        let at = self.at;
        let kind = match self.kind() {
            Some(T::LParen) => Some(InitializerKind::Paren(self.arguments().0)),
            Some(T::LBrace) => Some(InitializerKind::Brace(self.braces()?)),
            _ => None,
        };
        let init = kind.map(|kind| Initializer { kind, span: self.since(at) });
        Ok(ExprKind::New(Box::new(NewExpr { placement, ty, init })))
    }

    fn new_type(&mut self) -> Parsed<TypeName> {
        let start = self.at;
        let specs = self.specifiers(Context::TypeName)?;
        let middle = self.at;
        let (pointers, attrs) = self.pointers()?;
        let mut parts = Vec::new();
        while self.is(T::LBracket) {
            let at = self.at;
            let size = Some(self.group("`]`", Self::expression)?);
            parts.push(DeclaratorPart::Array { size, span: self.since(at) });
        }
        parts.extend(pointers);
        let declarator = Declarator { name: None, parts, attrs, span: self.since(middle) };
        Ok(TypeName { specs: specs.specs, declarator, span: self.since(start) })
    }

    /// `name "<" arguments ">"` of a template that is none of CUDA's, refused by name; passed.
    pub fn refuse_template_use(&mut self, path: &Path, end: usize) {
        let (name, span) = (self.text_at(path.last), self.span(path.start, end));
        if path.in_std {
            let what = format!("`std::{name}` is part of the C++ standard library, which is");
            self.outside(Code::E0243, span, &what, "");
        } else {
            self.outside(Code::E0220, span, &format!("templates (`{name}<...>`) are"), "");
        }
        self.at = end;
    }
}
