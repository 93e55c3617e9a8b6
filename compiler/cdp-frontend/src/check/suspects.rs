//! Lints of what is written but hardly meant: values that nothing uses, operators that bind otherwise than they look,
//! empty bodies, variables read before they have a value. What a value tells is in `lints`.

use cdp_ir::{Expr, ExprKind};

use super::ctype::QualType;
use super::operators::compare_op;
use super::state::{Checker, SwitchState};
use super::value::{Kind, Value};
use crate::ast::{self, BinaryOp as Op, ExprKind as Ast, StmtKind, UnaryOp};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// An expression whose value is thrown away and that does nothing else.
    pub fn warn_unused_value(&mut self, expr: &ast::Expr, value: &Value<'a>) {
        let volatile = value.ty.is_volatile();
        if self.f.builtin_body || self.types.is_void(value.ty) || volatile || self.is_error(value) {
            return;
        }
        if let Ast::Assign(assign) = &bare(expr).kind {
            if assign.op.is_none() && same_place(&assign.lhs, &assign.rhs) {
                let message = "this assignment changes nothing: both sides are the same";
                self.error(Code::W0729, assign.op_span, message);
            }
            return;
        }
        let called = |kind: &ExprKind| matches!(kind, ExprKind::Call { .. });
        let called = match &value.kind {
            Kind::RValue(expr) | Kind::LValue(expr) => called(&expr.kind),
            _ => false,
        };
        // The value of an overloaded operator is that of a call.
        let Some(guilty) = idle(expr).filter(|_| !called) else { return };
        let found = self.error(Code::W0729, guilty, "the value of this expression is not used");
        if matches!(&bare(expr).kind, Ast::Binary(binary) if binary.op == Op::Eq) {
            found.suggest("to assign, write", guilty, "=");
        } else if matches!(value.kind, Kind::Fns(_)) {
            found.help("to call the function, write its arguments in parentheses behind it");
        } else {
            found.help("if that is meant, cast it to `void`");
        }
    }

    /// Operators whose operands are not those that the words suggest, and comparisons of a thing with itself.
    pub fn warn_grouping(&mut self, binary: &ast::BinaryExpr, types: [QualType; 2]) {
        let ast::BinaryExpr { op, op_span, lhs, rhs } = binary;
        let bits = matches!(op, Op::BitAnd | Op::BitOr | Op::BitXor);
        let compares = compare_op(*op).is_some();
        if self.f.builtin_body || !bits && !compares && !op.shifts() && *op != Op::Div {
            return;
        }
        let inner = |side: &ast::Expr| match &side.kind {
            Ast::Binary(inner) => Some(inner.op),
            _ => None,
        };
        let ordering = |op: Op| matches!(op, Op::Lt | Op::Gt | Op::Le | Op::Ge);
        let sides = [inner(lhs), inner(rhs)];
        let compared = sides.map(|side| side.filter(|op| compare_op(*op).is_some()));
        let added = sides.into_iter().flatten().find(|op| matches!(op, Op::Add | Op::Sub));
        if let Ast::Unary(not) = &lhs.kind
            && (bits || compares)
            && not.op == UnaryOp::Not
            && !types.iter().all(|ty| self.types.is_bool(*ty))
        {
            let message = format!("`!` is applied to the left side of `{}` alone", op.text());
            self.error(Code::W0726, not.op_span, message)
                .help("put what is negated into parentheses");
        } else if let (true, [Some(left), _]) = (ordering(*op), compared)
            && ordering(left)
        {
            let message = "this compares the result of the first comparison, which is 0 or 1";
            self.error(Code::W0726, *op_span, message)
                .help("write two comparisons with `&&` between them");
        } else if let (true, [Some(tight), None] | [None, Some(tight)]) = (bits, compared) {
            self.warn_tight(*op, tight, *op_span);
        } else if let (true, Some(tight)) = (op.shifts(), added) {
            self.warn_tight(*op, tight, *op_span);
        }
        if compares && !self.types.is_floating(types[0]) && same_place(lhs, rhs) {
            let answer = matches!(op, Op::Eq | Op::Le | Op::Ge);
            let message = format!("this comparison is always {answer}: both sides are the same");
            self.error(Code::W0727, *op_span, message);
        }
        let string = |side: &ast::Expr| matches!(bare(side).kind, Ast::String(_));
        if compares && (string(lhs) || string(rhs)) {
            self.error(Code::W0734, *op_span, "this compares addresses, not strings")
                .help("compare the characters, with `strcmp` in host code");
        }
        if *op == Op::Div {
            self.warn_sizeof_pointer(lhs, rhs, *op_span);
        }
    }

    fn warn_tight(&mut self, op: Op, tight: Op, span: Span) {
        let message = format!("`{}` binds more tightly than `{}`", tight.text(), op.text());
        self.error(Code::W0726, span, message).help("write the parentheses that are meant");
    }

    /// `sizeof(p) / sizeof(p[0])` of a pointer.
    fn warn_sizeof_pointer(&mut self, lhs: &ast::Expr, rhs: &ast::Expr, span: Span) {
        let (Ast::SizeofExpr(whole), Ast::SizeofExpr(part)) = (&bare(lhs).kind, &bare(rhs).kind)
        else {
            return;
        };
        let of = match &bare(part).kind {
            Ast::Index(parts) => &parts[0],
            Ast::Unary(unary) if unary.op == UnaryOp::Deref => &unary.operand,
            _ => return,
        };
        let Some(name) = bare(whole).as_name().filter(|_| same_place(whole, of)) else { return };
        let (found, _) = self.walk(&name, |_| true);
        let Some(super::scope::Entity::Var(id)) = found.first().and_then(|slot| slot.other) else {
            return;
        };
        if self.types.is_pointer(self.names.var(id).ty) {
            let at = self.names.var(id).span;
            let message = "the size of a pointer, not that of the array it points to, is divided";
            self.error(Code::W0735, span, message).secondary(at, "a pointer");
        }
    }

    /// `if (a) if (b) ...; else ...`, `if (a);`
    pub fn warn_branches(&mut self, stmt: &ast::IfStmt) {
        if stmt.otherwise.is_some() {
            return;
        }
        if let StmtKind::If(inner) = &stmt.then.kind
            && inner.otherwise.is_some()
        {
            self.error(Code::W0726, inner.keyword_span, "the `else` belongs to this `if`")
                .help("put braces around the statement that is meant");
        }
        let ast::Condition::Expr(condition) = &stmt.condition else { return };
        if self.stands_alone(condition.span, &stmt.then) {
            let semicolon = stmt.then.span;
            self.error(Code::W0733, semicolon, "this `;` is all that the `if` decides about");
        }
    }

    /// `while (a);` with a block behind it that looks like the body.
    pub fn warn_empty_loop(&mut self, stmts: &[ast::Stmt]) {
        let [stmt, ast::Stmt { kind: StmtKind::Block(_), .. }, ..] = stmts else { return };
        let (body, head) = match &stmt.kind {
            StmtKind::For(stmt) => {
                let step = stmt.step.as_ref().map_or(stmt.init.span, |step| step.span);
                (&stmt.body, step)
            }
            StmtKind::While { body, condition, .. } => match &**condition {
                ast::Condition::Expr(condition) => (&**body, condition.span),
                ast::Condition::Decl(_) => return,
            },
            _ => return,
        };
        if self.stands_alone(head, body) {
            self.error(Code::W0733, body.span, "this `;` is the whole body of the loop");
        }
    }

    /// Whether a body is a `;` right behind the head whose last part is `head`: none that a macro left over.
    fn stands_alone(&self, head: Span, body: &ast::Stmt) -> bool {
        let empty = matches!(body.kind, StmtKind::Empty) && body.front.is_none();
        if !empty || self.f.builtin_body || head.expansion != body.span.expansion {
            return false;
        }
        let between = Span { lo: head.hi, hi: body.span.lo.max(head.hi), ..head };
        self.session.sources.text(between).chars().all(|c| matches!(c, ')' | ' ' | ';'))
    }

    /// An automatic variable that is read where nothing has set it or taken its address: nothing but this reading has
    /// named it. In a loop that it outlives, or behind a label, what follows may have set it, but not where each turn
    /// updates it.
    pub fn warn_unset(&mut self, value: &Value<'a>, update: bool) {
        let Kind::LValue(Expr { kind: ExprKind::LocalAddr(local), .. }) = value.kind else {
            return;
        };
        let facts = self.f.facts.get(local.0 as usize);
        let Some(id) = facts.and_then(|facts| facts.var) else { return };
        let var = self.names.var(id);
        let set = var.is_param || var.initialised || var.ty.is_volatile();
        if set || var.uses != 1 || !self.types.is_scalar(var.ty) || self.around.unevaluated > 0 {
            return;
        }
        let (loops, branches) = var.around;
        let first = loops == self.f.loop_depth || update && branches == self.f.branch_depth;
        if !first || self.f.builtin_body || self.f.gaps || self.diags.has_errors() {
            return;
        }
        if self.f.labels.values().any(|to| to.placed.is_some()) {
            return;
        }
        let (at, name) = (var.span, self.text(var.name).to_owned());
        self.names.var_mut(id).uses += 1;
        let message = format!("`{name}` is read before it has a value");
        self.error(Code::W0730, value.span, message).secondary(at, "declared here without one");
    }

    /// A `switch` on an enumeration that leaves out enumerators and has no `default`.
    pub fn warn_left_out(&mut self, declared: QualType, state: &SwitchState, span: Span) {
        let Some(id) = self.types.enum_id(declared) else { return };
        if state.default.is_some() || state.cases.is_empty() {
            return;
        }
        let all = &self.types.enumeration(id).enumerators;
        let known = |value: i128| state.spans.contains_key(&(value as i64));
        let names: Vec<String> = all
            .iter()
            .filter(|one| !known(one.value))
            .map(|one| format!("`{}`", one.name))
            .collect();
        let message = match names.len() {
            0 => return,
            1..=3 => format!("{} has no `case` here", names.join(", ")),
            more => format!("{} and {} more have no `case` here", names[..2].join(", "), more - 2),
        };
        self.error(Code::W0731, span, message).help("write `default:` if the others need nothing");
    }
}

/// The expression inside parentheses.
fn bare(mut expr: &ast::Expr) -> &ast::Expr {
    while let Ast::Paren(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

/// The part of an expression whose value is made for nothing, if it has no effects.
fn idle(expr: &ast::Expr) -> Option<Span> {
    match &expr.kind {
        Ast::Paren(inner) => idle(inner),
        Ast::Comma(sides) => idle(&sides[1]),
        Ast::Cast(cast) => idle(&cast.operand),
        Ast::Conditional(parts) => {
            parts.then.as_ref().map_or(Some(expr.span), idle).and(idle(&parts.otherwise))
        }
        Ast::Binary(binary) => match binary.op {
            Op::LogAnd | Op::LogOr => idle(&binary.rhs),
            _ => Some(binary.op_span),
        },
        Ast::Unary(unary) => {
            (!matches!(unary.op, UnaryOp::PreInc | UnaryOp::PreDec)).then_some(unary.op_span)
        }
        Ast::Int(_)
        | Ast::Float(_)
        | Ast::Char(_)
        | Ast::String(_)
        | Ast::Bool(_)
        | Ast::Nullptr
        | Ast::Name(_)
        | Ast::Qualified(_)
        | Ast::Index(_)
        | Ast::Member(_)
        | Ast::SizeofExpr(_)
        | Ast::SizeofType(_) => Some(expr.span),
        _ => None,
    }
}

/// Whether two expressions are the same variable, member or element, by their words.
fn same_place(a: &ast::Expr, b: &ast::Expr) -> bool {
    match (&bare(a).kind, &bare(b).kind) {
        (Ast::Name(a), Ast::Name(b)) => a == b,
        (Ast::Member(a), Ast::Member(b)) => {
            a.member.name == b.member.name && same_place(&a.base, &b.base)
        }
        (Ast::Index(a), Ast::Index(b)) => {
            let same = match (&bare(&a[1]).kind, &bare(&b[1]).kind) {
                (Ast::Int(a), Ast::Int(b)) => a.value == b.value,
                _ => same_place(&a[1], &b[1]),
            };
            same && same_place(&a[0], &b[0])
        }
        _ => false,
    }
}
