//! Expressions and literals, for the grammar's actions; the rest of the builder is in `build`.

use super::build::{Builder, Chain};
use super::token::Kind;
use crate::ast::*;
use crate::diagnostics::{Code, Diagnostic};
use crate::literal;
use crate::source::Span;

impl Builder<'_> {
    pub fn expr(&self, kind: ExprKind, l: usize, r: usize) -> Expr {
        let span = self.span(l, r);
        self.expr_at(kind, span)
    }

    /// A node, or an error node where the tree would become too deep to walk.
    pub fn expr_at(&self, kind: ExprKind, span: Span) -> Expr {
        let depth = 1 + expr_depth(&kind);
        if depth > MAX_DEPTH {
            let message = format!("an expression is nested more than {MAX_DEPTH} deep");
            let found = Diagnostic::new(Code::E0205, span.before(), message)
                .help("compute parts of it into variables");
            self.diagnostics.borrow_mut().push(found);
            return Expr { kind: ExprKind::Error, span, depth: 1 };
        }
        Expr { kind, span, depth }
    }

    /// Folds a flat list by precedence; all binary operators associate to the left.
    pub fn fold(&self, chain: Chain) -> Expr {
        let (first, rest) = chain.into_parts();
        if rest.is_empty() {
            return first;
        }
        let mut operands = vec![first];
        let mut operators: Vec<(BinaryOp, usize)> = Vec::new();
        for (at, operand) in rest {
            let op = self.binary_op(at);
            while operators.last().is_some_and(|(before, _)| precedence(*before) >= precedence(op))
            {
                self.reduce(&mut operands, &mut operators);
            }
            operators.push((op, at));
            operands.push(operand);
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators);
        }
        operands.swap_remove(0)
    }

    fn reduce(&self, operands: &mut Vec<Expr>, operators: &mut Vec<(BinaryOp, usize)>) {
        if let (Some((op, at)), Some(rhs), Some(lhs)) =
            (operators.pop(), operands.pop(), operands.pop())
        {
            let span = self.session.sources.join(lhs.span, rhs.span);
            let (lhs, rhs) = (Box::new(lhs), Box::new(rhs));
            operands
                .push(self.expr_at(ExprKind::Binary { op, op_span: self.at(at), lhs, rhs }, span));
        }
    }

    fn binary_op(&self, at: usize) -> BinaryOp {
        match self.text(at) {
            "*" => BinaryOp::Mul,
            "/" => BinaryOp::Div,
            "%" => BinaryOp::Rem,
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "<<" => BinaryOp::Shl,
            ">>" => BinaryOp::Shr,
            "<" | "<=>" => BinaryOp::Lt,
            ">" => BinaryOp::Gt,
            "<=" => BinaryOp::Le,
            ">=" => BinaryOp::Ge,
            "==" => BinaryOp::Eq,
            "!=" | "not_eq" => BinaryOp::Ne,
            "&" | "bitand" => BinaryOp::BitAnd,
            "^" | "xor" => BinaryOp::BitXor,
            "|" | "bitor" => BinaryOp::BitOr,
            "||" | "or" => BinaryOp::LogOr,
            "&&" | "and" => BinaryOp::LogAnd,
            _ => BinaryOp::Mul,
        }
    }

    pub fn assign(&self, lhs: Chain, at: usize, rhs: Expr, l: usize, r: usize) -> Expr {
        let lhs = self.fold(lhs);
        let op = match self.text(at) {
            "=" => None,
            "*=" => Some(BinaryOp::Mul),
            "/=" => Some(BinaryOp::Div),
            "%=" => Some(BinaryOp::Rem),
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Sub),
            "<<=" => Some(BinaryOp::Shl),
            ">>=" => Some(BinaryOp::Shr),
            "&=" | "and_eq" => Some(BinaryOp::BitAnd),
            "^=" | "xor_eq" => Some(BinaryOp::BitXor),
            _ => Some(BinaryOp::BitOr),
        };
        let (lhs, rhs) = (Box::new(lhs), Box::new(rhs));
        self.expr(ExprKind::Assign { op, op_span: self.at(at), lhs, rhs }, l, r)
    }

    #[allow(clippy::too_many_arguments)]
    pub fn conditional(
        &self,
        condition: Chain,
        question: usize,
        then: Expr,
        colon: usize,
        otherwise: Expr,
        l: usize,
        r: usize,
    ) -> Expr {
        let kind = ExprKind::Conditional {
            condition: Box::new(self.fold(condition)),
            question_span: self.at(question),
            then: Box::new(then),
            colon_span: self.at(colon),
            otherwise: Box::new(otherwise),
        };
        self.expr(kind, l, r)
    }

    pub fn comma(&self, lhs: Expr, at: usize, rhs: Expr, l: usize, r: usize) -> Expr {
        let kind = ExprKind::Comma { op_span: self.at(at), lhs: Box::new(lhs), rhs: Box::new(rhs) };
        self.expr(kind, l, r)
    }

    pub fn cast(&self, style: CastStyle, ty: TypeName, operand: Expr, l: usize, r: usize) -> Expr {
        self.expr(ExprKind::Cast { style, ty: Box::new(ty), operand: Box::new(operand) }, l, r)
    }

    pub fn named_cast(&self, ty: TypeName, operand: Expr, l: usize, r: usize) -> Expr {
        let style = match self.text(l) {
            "static_cast" => CastStyle::Static,
            "const_cast" => CastStyle::Const,
            _ => CastStyle::Reinterpret,
        };
        self.cast(style, ty, operand, l, r)
    }

    /// The operator is the token at `l`.
    pub fn unary(&self, operand: Expr, l: usize, r: usize) -> Expr {
        let op = match self.tokens[l].kind {
            Kind::Star => UnaryOp::Deref,
            Kind::Amp => UnaryOp::AddrOf,
            Kind::Plus => UnaryOp::Plus,
            Kind::Minus => UnaryOp::Minus,
            Kind::Bang => UnaryOp::Not,
            Kind::Tilde => UnaryOp::BitNot,
            Kind::PlusPlus => UnaryOp::PreInc,
            _ => UnaryOp::PreDec,
        };
        self.expr(ExprKind::Unary { op, op_span: self.at(l), operand: Box::new(operand) }, l, r)
    }

    pub fn postfix(&self, op: PostfixOp, operand: Expr, at: usize, l: usize, r: usize) -> Expr {
        self.expr(ExprKind::Postfix { op, op_span: self.at(at), operand: Box::new(operand) }, l, r)
    }

    pub fn call(
        &self,
        callee: Expr,
        args: Option<Vec<Expr>>,
        l: usize,
        m: usize,
        r: usize,
    ) -> Expr {
        let kind = ExprKind::Call {
            callee: Box::new(callee),
            args: args.unwrap_or_default(),
            args_span: self.span(m, r),
        };
        self.expr(kind, l, r)
    }

    #[allow(clippy::too_many_arguments)]
    pub fn launch(
        &self,
        kernel: Expr,
        config: Option<Vec<Expr>>,
        args: Option<Vec<Expr>>,
        l: usize,
        m: usize,
        n: usize,
        r: usize,
    ) -> Expr {
        let launch = LaunchExpr {
            kernel,
            config: config.unwrap_or_default(),
            config_span: self.span(m, n),
            args: args.unwrap_or_default(),
            args_span: self.span(n, r),
        };
        self.expr(ExprKind::Launch(Box::new(launch)), l, r)
    }

    pub fn member(
        &self,
        base: Expr,
        arrow: bool,
        at: usize,
        member: Ident,
        l: usize,
        r: usize,
    ) -> Expr {
        self.expr(
            ExprKind::Member { base: Box::new(base), arrow, op_span: self.at(at), member },
            l,
            r,
        )
    }

    pub fn construct(&self, ty: TypeName, args: Vec<Expr>, l: usize, m: usize, r: usize) -> Expr {
        let args_span = self.span(m, r);
        self.expr(
            ExprKind::Construct { ty: Box::new(ty), args, braces: false, args_span },
            l + 1,
            r,
        )
    }

    /// `T{...}`: the list is the one argument.
    pub fn construct_braces(
        &self,
        ty: TypeName,
        list: InitList,
        l: usize,
        m: usize,
        r: usize,
    ) -> Expr {
        let args_span = self.span(m, r);
        let args = vec![self.brace_expr(list)];
        self.expr(ExprKind::Construct { ty: Box::new(ty), args, braces: true, args_span }, l + 1, r)
    }

    pub fn new_expr(
        &self,
        global: bool,
        placement: Option<Vec<Expr>>,
        ty: TypeName,
        init: Option<Initializer>,
        l: usize,
        r: usize,
    ) -> Expr {
        let parts = NewExpr { global, placement: placement.unwrap_or_default(), ty, init };
        self.expr(ExprKind::New(Box::new(parts)), l, r)
    }

    pub fn offsetof(
        &self,
        ty: TypeName,
        first: Ident,
        rest: Vec<Designator>,
        l: usize,
        r: usize,
    ) -> Expr {
        let mut path = vec![Designator::Field(first)];
        path.extend(rest);
        self.expr(ExprKind::Offsetof { ty: Box::new(ty), path }, l, r)
    }

    // ---- Literals ------------------------------------------------------------------------------------

    fn literal_error(&self, l: usize, error: literal::LiteralError, code: Code) -> Expr {
        let whole = self.at(l);
        let same_text = whole.hi.saturating_sub(whole.lo) as usize == self.text(l).len();
        let span = if same_text {
            Span {
                lo: whole.lo + error.range.start as u32,
                hi: whole.lo + error.range.end as u32,
                ..whole
            }
        } else {
            whole
        };
        let found = if error.user_suffix {
            let text = &self.text(l)[error.range.clone()];
            let message = format!("user-defined literals (`{text}`) are outside the `.cdp` subset");
            Diagnostic::new(Code::E0233, span, message)
        } else {
            Diagnostic::new(code, span, error.message)
        };
        self.diagnostics.borrow_mut().push(found);
        self.expr(ExprKind::Error, l, l + 1)
    }

    pub fn number(&self, l: usize) -> Expr {
        match literal::number(self.text(l)) {
            Ok(literal::Number::Int(value)) => self.expr(ExprKind::Int(value), l, l + 1),
            Ok(literal::Number::Float(value)) => self.expr(ExprKind::Float(value), l, l + 1),
            Err(error) => self.literal_error(l, error, Code::E0104),
        }
    }

    pub fn character(&self, l: usize) -> Expr {
        match literal::character(self.text(l)) {
            Ok(value) => {
                if value.multi {
                    let message = "a character constant with several characters has an implementation-defined value";
                    let found = Diagnostic::new(Code::W0153, self.at(l), message);
                    self.diagnostics.borrow_mut().push(found);
                }
                self.expr(ExprKind::Char(value), l, l + 1)
            }
            Err(error) => self.literal_error(l, error, Code::E0105),
        }
    }

    pub fn boolean(&self, l: usize) -> Expr {
        self.expr(ExprKind::Bool(self.text(l) == "true"), l, l + 1)
    }

    /// Adjacent string literals, joined.
    pub fn string(&self, l: usize, r: usize) -> StringLit {
        let mut units = Vec::new();
        let prefix = |at: usize| literal::encoding(self.text(at)).0;
        let mut encoding = Encoding::Plain;
        let mut decided = l;
        for at in l..r {
            let own = prefix(at);
            if own != Encoding::Plain && encoding != Encoding::Plain && own != encoding {
                let message = "strings with different prefixes cannot stand side by side";
                let found = Diagnostic::new(Code::E0208, self.at(at), message)
                    .secondary(self.at(decided), "the other prefix");
                self.diagnostics.borrow_mut().push(found);
            } else if own != Encoding::Plain {
                encoding = own;
                decided = at;
            }
        }
        for at in l..r {
            // An unprefixed piece takes the prefix of its neighbours.
            let text = self.text(at);
            let result = if encoding != Encoding::Plain && prefix(at) == Encoding::Plain {
                literal::string_as(text, encoding, &mut units)
            } else {
                literal::string(text, &mut units).map(|_| ())
            };
            if let Err(error) = result {
                self.literal_error(at, error, Code::E0105);
            }
        }
        StringLit { encoding, units, span: self.span(l, r) }
    }
}

/// The deepest expression directly inside.
fn expr_depth(kind: &ExprKind) -> u32 {
    let list = |exprs: &[Expr]| exprs.iter().map(|expr| expr.depth).max().unwrap_or(0);
    match kind {
        ExprKind::Paren(inner) | ExprKind::SizeofExpr(inner) | ExprKind::AlignofExpr(inner) => {
            inner.depth
        }
        ExprKind::Unary { operand, .. }
        | ExprKind::Postfix { operand, .. }
        | ExprKind::Cast { operand, .. }
        | ExprKind::Delete { operand, .. } => operand.depth,
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Assign { lhs, rhs, .. }
        | ExprKind::Comma { lhs, rhs, .. } => lhs.depth.max(rhs.depth),
        ExprKind::Conditional { condition, then, otherwise, .. } => {
            condition.depth.max(then.depth).max(otherwise.depth)
        }
        ExprKind::Call { callee, args, .. } => callee.depth.max(list(args)),
        ExprKind::Launch(launch) => {
            launch.kernel.depth.max(list(&launch.config)).max(list(&launch.args))
        }
        ExprKind::Index { base, index } => base.depth.max(index.depth),
        ExprKind::Member { base, .. } => base.depth,
        ExprKind::Construct { args, .. } => list(args),
        ExprKind::New(parts) => list(&parts.placement),
        ExprKind::InitList(init) | ExprKind::CompoundLiteral { init, .. } => {
            init.items.iter().map(|item| item.value.depth).max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn precedence(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::LogOr => 1,
        BinaryOp::LogAnd => 2,
        BinaryOp::BitOr => 3,
        BinaryOp::BitXor => 4,
        BinaryOp::BitAnd => 5,
        BinaryOp::Eq | BinaryOp::Ne => 6,
        BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => 7,
        BinaryOp::Shl | BinaryOp::Shr => 8,
        BinaryOp::Add | BinaryOp::Sub => 9,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 10,
    }
}
